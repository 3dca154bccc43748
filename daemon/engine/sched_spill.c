/* See sched_spill.h. */
#include "sched_spill.h"

#include "sched_graph.h"
#include "sched_spill_internal.h"

#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static_assert(SCHED_LANES_ALL <= SPILL_LANES, "each has its place");

static struct sched_spill *spill_of(struct scheduler_device *device)
{
	return &device->worker.spill;
}

/* --- host memory --------------------------------------------------------------------------------------------------- */

static bool is_image(const struct sched_memory *memory)
{
	return memory->image.dimensions > 0;
}

static void give_host(struct sched_memory *memory)
{
	spill_host_give(&spill_of(memory->device)->host, memory->spill.pieces);
	memory->spill.pieces = NULL;
}

/* --- device memory that has become free, for what comes next ------------------------------------------------------- */

/* Of that size, and not to be had from the driver. NULL: there is none. */
static struct backend_memory *take_spare(struct sched_spill *spill, uint64_t size_bytes)
{
	for (uint32_t i = 0; i < spill->spare_count; i++) {
		struct spill_spare spare = spill->spares[i];
		if (spare.size_bytes != size_bytes)
			continue;
		spill->spares[i] = spill->spares[--spill->spare_count];
		spill->spare_bytes -= size_bytes;
		return spare.handle;
	}
	return NULL;
}

/* Nothing uses it. Somebody waits for room: who gets it has not to ask the driver for it. */
static void give_spare(struct scheduler_device *device, struct backend_memory *handle, uint64_t size_bytes)
{
	struct sched_spill *spill = spill_of(device);
	if (!spill->aside.first || spill->spare_count == SPILL_SPARES) {
		device->ops->memory_free(handle);
		spill->may_have_room = true;
		return;
	}
	spill->spares[spill->spare_count++] = (struct spill_spare){handle, size_bytes};
	spill->spare_bytes += size_bytes;
}

/* False: there were none. */
static bool free_spares(struct scheduler_device *device)
{
	struct sched_spill *spill = spill_of(device);
	bool were = spill->spare_count > 0;
	while (spill->spare_count > 0)
		device->ops->memory_free(spill->spares[--spill->spare_count].handle);
	spill->spare_bytes = 0;
	spill->may_have_room |= were;
	return were;
}

/* --- what may be spilled ------------------------------------------------------------------------------------------- */

static bool may_leave(const struct sched_memory *memory)
{
	const struct scheduler *scheduler = memory->device->scheduler;
	return scheduler->spills && memory->size_bytes >= scheduler->spill_least_bytes && !memory->host &&
	       !memory->imported && !memory->native && memory->export_kind == BACKEND_EXPORT_NONE &&
	       memory->spill.pins == 0;
}

static void be_present(struct scheduler_device *device, struct sched_memory *memory, struct backend_memory *handle)
{
	memory->spill.state = SPILL_PRESENT;
	atomic_store(&memory->spill.away, 0);
	atomic_store_explicit(&memory->handle, handle, memory_order_release);
	if (may_leave(memory))
		spill_order_enter(&spill_of(device)->order, &memory->spill.entry, memory->spill.owner,
				  memory->size_bytes);
}

void sched_spill_pin(struct scheduler_device *device, struct sched_memory *memory)
{
	memory->spill.pins++;
	spill_order_leave(&spill_of(device)->order, &memory->spill.entry);
}

void sched_spill_unpin(struct scheduler_device *device, struct sched_memory *memory)
{
	memory->spill.pins--;
	if (memory->spill.state == SPILL_PRESENT && may_leave(memory))
		spill_order_enter(&spill_of(device)->order, &memory->spill.entry, memory->spill.owner,
				  memory->size_bytes);
}

static void mark_memory(struct scheduler_device *device, struct sched_memory *memory, spill_mark_function *mark)
{
	if (memory && memory->device == device)
		mark(&spill_of(device)->order, &memory->spill.entry);
}

void sched_spill_mark(struct scheduler_device *device, const struct task_send *send, spill_mark_function *mark)
{
	struct sched_memory *memory;
	mark_memory(device, send->source, mark);
	mark_memory(device, send->destination, mark);
	if (send->command.kind == BACKEND_COMMAND_LAUNCH)
		for (uint32_t i = 0; i < send->command.launch.argument_count; i++)
			mark_memory(device, send->argument_memories[i], mark);
	for (uint32_t i = 0; send->native_command && sched_native_command_has(send->native_command, i, &memory); i++)
		mark_memory(device, memory, mark);
}

static void mark_sending(struct scheduler_device *device, const struct task_send *send)
{
	if (!send)
		return;
	sched_spill_mark(device, send, spill_order_mark_kept);
	if (!send->graph)
		return;
	const struct sched_graph *graph = send->graph->graph;
	for (uint32_t i = 0; i < graph->node_count; i++)
		sched_spill_mark(device, &graph->nodes[i]->send, spill_order_mark_kept);
	for (const struct sched_graph_node *node = send->graph->changes; node; node = node->next)
		sched_spill_mark(device, &node->send, spill_order_mark_kept);
}

void sched_spill_mark_all(struct scheduler_device *device)
{
	struct sched_spill *spill = spill_of(device);
	spill_order_unmark(&spill->order);
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		for (const struct task *task = device->worker.lanes[i].first; task; task = task->send.lane_next)
			sched_spill_mark(device, &task->send, spill_order_mark_in_use);
	mark_sending(device, spill->sending);
}

/* --- copies -------------------------------------------------------------------------------------------------------- */

int sched_spill_need_lanes(struct scheduler_device *device, struct backend_fault *fault)
{
	static const enum backend_lane_kind kinds[SPILL_WAYS] = {BACKEND_LANE_COPY_OUT, BACKEND_LANE_COPY_IN};
	const bool has_kinds = (device->features & BACKEND_FEATURE_COPY_LANES) != 0;
	for (uint32_t i = 0; i < SPILL_WAYS; i++) {
		struct spill_way *way = &spill_of(device)->ways[i];
		if (way->lane)
			continue;
		int result = device->ops->lane_create(device->handle, has_kinds ? kinds[i] : BACKEND_LANE_COMPUTE, &way->lane,
						      fault);
		if (result < 0) {
			way->lane = NULL;
			return result;
		}
	}
	return 0;
}

/* A part of it for each piece. How many are in flight; the others could not be sent. */
static uint32_t send_pieces(struct scheduler_device *device, struct spill_way *way, struct backend_command *command,
			    const struct sched_memory *memory, struct backend_fault *fault)
{
	uint64_t left = memory->size_bytes;
	uint32_t sent = 0;
	command->transfer.offset_bytes = 0;
	for (const struct spill_piece *piece = memory->spill.pieces; piece; piece = piece->next) {
		command->transfer.host = piece->host;
		command->transfer.size_bytes = left < piece->bytes ? left : piece->bytes;
		if (device->ops->submit(way->lane, command, NULL, 0, way->sequence + 1, NULL, fault) < 0)
			break;
		way->sequence++;
		sent++;
		command->transfer.offset_bytes += command->transfer.size_bytes;
		left -= command->transfer.size_bytes;
	}
	return sent;
}

/*
 * Of all of it, between `handle` and the host. Nothing that is in flight uses it. Negative: none of it is in flight, or the device is
 * lost. What could be sent in part only fails when that part is over.
 */
static int send_copy(struct scheduler_device *device, struct sched_memory *memory, struct backend_memory *handle,
		     enum spill_direction direction, struct backend_fault *fault)
{
	struct sched_spill *spill = spill_of(device);
	struct spill_way *way = &spill->ways[direction];
	struct backend_command command = {.kind = direction == SPILL_OUT ? BACKEND_COMMAND_READ : BACKEND_COMMAND_WRITE};
	command.transfer.memory = handle;
	int result = sched_spill_need_lanes(device, fault);
	if (result < 0)
		return result;
	struct backend_fault own = {.status = STATUS_SUCCESS};
	uint32_t sent = send_pieces(device, way, &command, memory, &own);
	memory->spill.is_bad = command.transfer.offset_bytes < memory->size_bytes;
	if (memory->spill.is_bad)
		*fault = own;
	if (memory->spill.is_bad && direction == SPILL_IN)
		spill->fault = own;
	if (own.device_lost && sent > 0) {
		spill_host_lose(&spill->host, memory->spill.pieces);
		memory->spill.pieces = NULL;
	}
	if (sent == 0 || own.device_lost)
		return -EIO;
	memory->spill.copies = sent;
	device->worker.unflushed = true;
	device->worker.in_flight += sent;
	memory->spill.handle = handle;
	memory->spill.next = NULL;
	if (way->last)
		way->last->spill.next = memory;
	else
		way->first = memory;
	way->last = memory;
	way->bytes += memory->size_bytes;
	return 0;
}

int sched_spill_begin_to_leave(struct scheduler_device *device, struct sched_memory *memory, struct backend_fault *fault)
{
	struct sched_spill *spill = spill_of(device);
	struct backend_memory *handle = atomic_load_explicit(&memory->handle, memory_order_relaxed);
	/* Sequentially consistent, as sched_spill_hold: one of the two sees the other. */
	atomic_store(&memory->spill.away, 1);
	int result = atomic_load(&memory->spill.peers) > 0 ? 1 : 0;
	if (result == 0) {
		memory->spill.pieces = spill_host_take(&spill->host, memory->size_bytes, is_image(memory));
		result = memory->spill.pieces ? 0 : -ENOMEM;
	}
	if (result == 0 && send_copy(device, memory, handle, SPILL_OUT, fault) < 0)
		result = fault->device_lost ? -EIO : 1;
	if (result != 0) {
		give_host(memory);
		atomic_store(&memory->spill.away, 0);
		return result;
	}
	atomic_store_explicit(&memory->handle, NULL, memory_order_relaxed);
	memory->spill.state = SPILL_LEAVING;
	memory->spill.wanted = false;
	spill_order_leave(&spill->order, &memory->spill.entry);
	return 0;
}

static void has_left(struct scheduler_device *device, struct sched_memory *memory)
{
	struct spill_counts *counts = &device->spill_counts;
	if (!memory->spill.is_bad && !memory->spill.wanted) {
		if (is_image(memory)) {
			device->ops->memory_free(memory->spill.handle);
			spill_of(device)->may_have_room = true;
		} else {
			give_spare(device, memory->spill.handle, memory->size_bytes);
		}
		memory->spill.state = SPILL_AWAY;
		atomic_fetch_add(&counts->spills, 1);
		atomic_fetch_add(&counts->spilled_bytes, memory->size_bytes);
		atomic_fetch_add_explicit(&memory->spill.times, 1, memory_order_relaxed);
		atomic_fetch_add(&counts->away_bytes, memory->size_bytes);
		return;
	}
	give_host(memory);
	memory->spill.pins += memory->spill.is_bad; /* it would fail again, and again */
	be_present(device, memory, memory->spill.handle);
}

static void has_come(struct scheduler_device *device, struct sched_memory *memory)
{
	struct spill_counts *counts = &device->spill_counts;
	if (memory->spill.is_bad) {
		device->ops->memory_free(memory->spill.handle);
		spill_of(device)->may_have_room = true;
		memory->spill.state = SPILL_AWAY;
		memory->spill.has_failed = true;
		return;
	}
	give_host(memory);
	atomic_fetch_add(&counts->returns, 1);
	atomic_fetch_add(&counts->returned_bytes, memory->size_bytes);
	atomic_fetch_sub(&counts->away_bytes, memory->size_bytes);
	be_present(device, memory, memory->spill.handle);
}

/* What was to be freed while it was copied. */
static void free_now(struct scheduler_device *device, struct sched_memory *memory)
{
	if (memory->spill.state == SPILL_COMING)
		atomic_fetch_sub(&device->spill_counts.away_bytes, memory->size_bytes);
	device->ops->memory_free(memory->spill.handle);
	spill_of(device)->may_have_room = true;
	give_host(memory);
	sched_worker_return(device, &memory->message);
}

static struct spill_way *way_of(struct sched_spill *spill, const struct backend_lane *lane)
{
	for (uint32_t i = 0; i < SPILL_WAYS; i++)
		if (spill->ways[i].lane == lane && spill->ways[i].first)
			return &spill->ways[i];
	return NULL;
}

/* All of it has come back, or will not. */
static void end_copy(struct scheduler_device *device, struct spill_way *way)
{
	struct sched_spill *spill = spill_of(device);
	struct sched_memory *memory = way->first;
	way->first = memory->spill.next;
	if (!way->first)
		way->last = NULL;
	way->bytes -= memory->size_bytes;
	if (spill->aside.first)
		spill->waits_since_ns = device->scheduler->clock_ns();
	if (memory->spill.is_freed)
		free_now(device, memory);
	else if (memory->spill.state == SPILL_LEAVING)
		has_left(device, memory);
	else
		has_come(device, memory);
}

bool sched_spill_completed(struct scheduler_device *device, const struct backend_completion *completion)
{
	struct sched_spill *spill = spill_of(device);
	struct spill_way *way = way_of(spill, completion->lane);
	if (!way)
		return false;
	if (completion->fault.device_lost) {
		if (!device->worker.losing)
			device->worker.loss = completion->fault;
		device->worker.losing = true;
		return true;
	}
	struct sched_memory *memory = way->first;
	device->worker.in_flight--;
	if (completion->fault.status != STATUS_SUCCESS) {
		memory->spill.is_bad = true;
		if (memory->spill.state == SPILL_COMING)
			spill->fault = completion->fault;
	}
	bool is_last = --memory->spill.copies == 0;
	spill->parts += !is_last;
	if (is_last)
		end_copy(device, way);
	return true;
}

bool sched_spill_is_news(struct scheduler_device *device, uint32_t completions)
{
	struct sched_spill *spill = spill_of(device);
	uint32_t parts = spill->parts;
	spill->parts = 0;
	return completions > parts;
}

/* --- room ---------------------------------------------------------------------------------------------------------- */

/* The first does not wait any longer for what would be better to go than what others need soon. */
static bool is_late(const struct scheduler_device *device)
{
	return device->scheduler->clock_ns() - device->worker.spill.waits_since_ns > SPILL_DEFER_NS;
}

/* As many as it takes. 0, or why it does not go on: as sched_spill_begin_to_leave. */
static int send_away(struct scheduler_device *device, const struct sched_memory *memory, bool *waits,
		     struct backend_fault *fault)
{
	struct sched_spill *spill = spill_of(device);
	int result = 0;
	sched_spill_mark_all(device);
	while (result >= 0 && spill->ways[SPILL_OUT].bytes < memory->size_bytes) {
		struct spill_entry *entry = spill_order_choose(&spill->order, memory->spill.owner, waits);
		if (!entry)
			return 0;
		if (spill->order.is_better_soon && !is_late(device)) {
			spill->defers = *waits = true;
			return 0;
		}
		struct backend_fault own = {.status = STATUS_SUCCESS};
		result = sched_spill_begin_to_leave(device, sched_spill_memory_of(entry), &own);
		if (result > 0)
			spill_order_mark_kept(&spill->order, entry);
		if (result < 0 && result != -ENOMEM)
			*fault = own;
	}
	return result < 0 ? result : 0;
}

static bool is_copying(const struct sched_spill *spill)
{
	return spill->ways[SPILL_OUT].first || spill->ways[SPILL_IN].first;
}

/* `result` and `fault`: as there was no room. */
static int make_room(struct scheduler_device *device, const struct sched_memory *memory, int result,
		     struct backend_fault *fault)
{
	struct sched_spill *spill = spill_of(device);
	bool waits = false;
	/* Who else waits is known when this turn's messages have all been read. */
	if (!spill->is_stepping) {
		spill->due = true;
		return SCHED_SPILL_WAIT;
	}
	int sent = send_away(device, memory, &waits, fault);
	if (sent < 0 && fault->device_lost)
		return sent;
	/* What is in use would have no room there either. */
	waits &= sent == 0;
	if ((is_copying(spill) || waits) && !spill->is_last_try) {
		spill->wants_room = true;
		return SCHED_SPILL_WAIT;
	}
	size_t length = strnlen(fault->text, sizeof(fault->text));
	if (sent == -ENOMEM)
		(void)snprintf(fault->text + length, sizeof(fault->text) - length,
			       "%sand the host has no room to spill to", length > 0 ? "; " : "");
	return result;
}

/* It is being copied, or others are before it. */
static int wait_on(const struct sched_spill *spill, struct backend_fault *fault)
{
	if (!spill->is_last_try)
		return SCHED_SPILL_WAIT;
	*fault = (struct backend_fault){.status = STATUS_MEMORY_ALLOCATION,
					.text = "a copy of spilled memory takes too long"};
	return -ENOMEM;
}

int sched_spill_begin_to_come(struct scheduler_device *device, struct sched_memory *memory, struct backend_memory *made,
			      struct backend_fault *fault)
{
	int result = send_copy(device, memory, made, SPILL_IN, fault);
	if (result < 0) {
		device->ops->memory_free(made);
		return result;
	}
	memory->spill.state = SPILL_COMING;
	spill_of(device)->waits_since_ns = device->scheduler->clock_ns();
	return SCHED_SPILL_WAIT;
}

/* The driver was asked for as much, or less, and since then nothing has become free as far as is known here. */
static bool is_known_full(const struct scheduler_device *device, const struct sched_memory *memory)
{
	const struct sched_spill *spill = &device->worker.spill;
	return !spill->may_have_room && spill->spare_count == 0 && !spill->is_last_try && !memory->imported &&
	       memory->size_bytes >= spill->full_bytes && device->scheduler->clock_ns() - spill->full_ns < SPILL_LOOK_NS;
}

/* `is_full_out`: not, as there is no room. */
static int ask_for_memory(struct scheduler_device *device, struct sched_memory *memory, struct backend_memory **made_out,
			  bool *is_full_out, struct backend_fault *fault)
{
	int result = sched_worker_make_memory(device, memory, made_out, fault);
	if (result < 0 && fault->status == STATUS_SUCCESS)
		fault->status = STATUS_MEMORY_ALLOCATION;
	*is_full_out = result < 0 && fault->status == STATUS_MEMORY_ALLOCATION && !fault->device_lost && !memory->imported;
	return result;
}

int sched_spill_make_memory(struct scheduler_device *device, struct sched_memory *memory, struct backend_memory **made_out,
			    bool *is_full_out, struct backend_fault *fault)
{
	struct sched_spill *spill = spill_of(device);
	*is_full_out = false;
	/* What comes back overwrites all that is there. */
	*made_out = memory->spill.state == SPILL_AWAY && !is_image(memory) ? take_spare(spill, memory->size_bytes) : NULL;
	if (*made_out)
		return 0;
	spill->full_is_old = is_known_full(device, memory);
	if (spill->full_is_old) {
		*is_full_out = true;
		*fault = spill->full;
		return -ENOMEM;
	}
	int result = ask_for_memory(device, memory, made_out, is_full_out, fault);
	if (*is_full_out && free_spares(device)) {
		fault->status = STATUS_SUCCESS;
		result = ask_for_memory(device, memory, made_out, is_full_out, fault);
	}
	if (*is_full_out) {
		spill->may_have_room = false;
		spill->full_bytes = memory->size_bytes;
		spill->full_ns = device->scheduler->clock_ns();
		spill->full = *fault;
	}
	return result;
}

static int bring(struct scheduler_device *device, struct sched_memory *memory, struct backend_fault *fault)
{
	struct backend_memory *made = NULL;
	bool is_full = false;
	int result = sched_spill_make_memory(device, memory, &made, &is_full, fault);
	if (result == 0 && memory->spill.state == SPILL_AWAY)
		return sched_spill_begin_to_come(device, memory, made, fault);
	if (result == 0) {
		be_present(device, memory, made);
		return 0;
	}
	/* Nobody's memory has to go for what can never be had. */
	is_full &= memory->size_bytes <= device->memory_bytes;
	return is_full && device->scheduler->spills ? make_room(device, memory, result, fault) : result;
}

int sched_spill_need(struct scheduler_device *device, struct sched_memory *memory, struct backend_fault *fault)
{
	struct sched_spill *spill = spill_of(device);
	bool is_first = !spill->aside.first;
	if (memory->spill.state == SPILL_LEAVING)
		memory->spill.wanted |= is_first; /* the others wait for the room that this makes */
	if (memory->spill.state == SPILL_LEAVING || memory->spill.state == SPILL_COMING || !is_first)
		return wait_on(spill, fault);
	if (memory->spill.has_failed) {
		memory->spill.has_failed = false;
		*fault = spill->fault;
		return -EIO;
	}
	int result = bring(device, memory, fault);
	/* Nothing can go. Is there really no room? */
	if (result < 0 && result != SCHED_SPILL_WAIT && !spill->may_have_room && spill->full_is_old) {
		spill->may_have_room = true;
		result = bring(device, memory, fault);
	}
	return result;
}

/* What the graph itself has needs no room now. */
static int need_one(const struct sched_graph *graph, struct sched_memory *memory, struct backend_fault *fault)
{
	bool has = memory && sched_graph_has_memory(graph, memory);
	return has ? 0 : sched_worker_memory(graph->device, memory, fault);
}

static int need_all(const struct sched_graph *graph, const struct task_send *send, struct backend_fault *fault)
{
	struct sched_memory *memory;
	int result = need_one(graph, send->source, fault);
	if (result == 0)
		result = need_one(graph, send->destination, fault);
	for (uint32_t i = 0;
	     result == 0 && send->command.kind == BACKEND_COMMAND_LAUNCH && i < send->command.launch.argument_count;
	     i++)
		result = need_one(graph, send->argument_memories[i], fault);
	for (uint32_t i = 0;
	     result == 0 && send->native_command && sched_native_command_has(send->native_command, i, &memory); i++)
		result = need_one(graph, memory, fault);
	return result;
}

int sched_spill_need_graph(struct scheduler_device *device, const struct task_send *send, struct backend_fault *fault)
{
	const struct sched_graph *graph = send->graph->graph;
	int result = 0;
	(void)device;
	if (graph->handle && !graph->is_stale && !send->graph->changes)
		return 0;
	for (uint32_t i = 0; result == 0 && i < graph->node_count; i++)
		result = need_all(graph, &graph->nodes[i]->send, fault);
	for (const struct sched_graph_node *node = send->graph->changes; result == 0 && node; node = node->next)
		result = need_all(graph, &node->send, fault);
	return result;
}

bool sched_spill_free(struct scheduler_device *device, struct sched_memory *memory)
{
	struct sched_spill *spill = spill_of(device);
	enum spill_state state = memory->spill.state;
	spill->due = spill->aside.first != NULL;
	spill->may_have_room = true;
	if ((state == SPILL_LEAVING || state == SPILL_COMING) && !device->worker.unusable) {
		memory->spill.is_freed = true;
		return false;
	}
	spill_order_leave(&spill->order, &memory->spill.entry);
	if (state == SPILL_AWAY)
		atomic_fetch_sub(&device->spill_counts.away_bytes, memory->size_bytes);
	give_host(memory);
	return true;
}

/* --- who waits ----------------------------------------------------------------------------------------------------- */

void sched_spill_set_aside(struct scheduler_device *device, struct sched_message *message)
{
	struct sched_spill *spill = spill_of(device);
	sched_message_append(&spill->aside, message);
	if (spill->aside.first == message && spill->waiting != message) {
		spill->waiting = message;
		spill->waiting_count = spill->order.now;
		spill->waits_since_ns = device->scheduler->clock_ns();
	}
	if (message->kind != SCHED_MESSAGE_SEND)
		return;
	struct task *task = (struct task *)(void *)message;
	const struct task_send *send = &task->send;
	atomic_store(&task->is_aside, true);
	if (spill->aside_from[send->lane] == 0)
		spill->aside_from[send->lane] = send->sequence - sched_launches(send) + 1;
}

static bool is_behind(const struct sched_spill *spill, const struct task_send *send)
{
	if (spill->aside_from[send->lane] != 0)
		return true;
	for (uint32_t i = 0; i < send->predecessor_count; i++) {
		const struct task_predecessor *predecessor = &send->predecessors[i];
		uint64_t from = spill->aside_from[predecessor->lane];
		if (from != 0 && predecessor->sequence >= from)
			return true;
	}
	return false;
}

bool sched_spill_holds(struct scheduler_device *device, struct sched_message *message)
{
	struct sched_spill *spill = spill_of(device);
	bool is_send = message->kind == SCHED_MESSAGE_SEND;
	/* Whoever was set aside may still have to know of the failure. */
	if (!spill->aside.first || device->worker.unusable || (!is_send && message->kind != SCHED_MESSAGE_FORGET) ||
	    (is_send && !is_behind(spill, &((struct task *)(void *)message)->send)))
		return false;
	sched_spill_set_aside(device, message);
	return true;
}

static bool is_time_over(const struct scheduler_device *device)
{
	const struct sched_spill *spill = &device->worker.spill;
	if (!spill->aside.first)
		return false;
	return device->scheduler->clock_ns() - spill->waits_since_ns >
	       SPILL_WAIT_MOST_NS + (spill->ways[SPILL_OUT].bytes + spill->ways[SPILL_IN].bytes) * SPILL_NS_PER_BYTE;
}

uint64_t sched_spill_rest(const struct scheduler_device *device, uint64_t ns)
{
	return device->worker.spill.aside.first && ns > SPILL_LOOK_NS ? SPILL_LOOK_NS : ns;
}

/* The first, and if that goes on, the others. */
static void try_again(struct scheduler_device *device)
{
	struct sched_spill *spill = spill_of(device);
	uint64_t from[SPILL_LANES];
	struct sched_message_list list = spill->aside;
	memcpy(from, spill->aside_from, sizeof(from));
	memset(spill->aside_from, 0, sizeof(from));
	spill->aside = (struct sched_message_list){.first = NULL};
	spill->due = false;
	struct sched_message *first = sched_message_take(&list);
	spill->again = first == spill->waiting ? spill->waiting_count : 0;
	sched_worker_handle(device, first);
	spill->again = 0;
	spill->is_last_try = false;
	if (!spill->aside.first)
		spill->waiting = NULL;
	if (spill->aside.first && list.first) {
		/* The others cannot go on before it does. */
		spill->aside.last->next = list.first;
		spill->aside.last = list.last;
		memcpy(spill->aside_from, from, sizeof(from));
	} else {
		struct sched_message *message;
		while ((message = sched_message_take(&list)))
			sched_worker_handle(device, message);
	}
}

bool sched_spill_step(struct scheduler_device *device)
{
	struct sched_spill *spill = spill_of(device);
	bool is_last_try = is_time_over(device);
	spill->due |= is_last_try || (spill->defers && is_late(device));
	if (!spill->due || !spill->aside.first) {
		if (!spill->aside.first && spill->spare_count > 0)
			(void)free_spares(device);
		spill->due = false;
		return false;
	}
	sched_spill_line_up(device);
	spill->is_last_try = is_last_try;
	spill->is_stepping = true;
	spill->wants_room = spill->defers = false;
	try_again(device);
	sched_spill_look_ahead(device);
	spill->is_stepping = false;
	sched_worker_flush(device);
	return true;
}

/* --- beginning and end --------------------------------------------------------------------------------------------- */

/* The copies may run on: what they use in the host stays. It is nobody's, and nothing that is spilled. */
static void lose_way(struct scheduler_device *device, struct spill_way *way)
{
	while (way->first) {
		struct sched_memory *memory = way->first;
		way->first = memory->spill.next;
		spill_host_lose(&spill_of(device)->host, memory->spill.pieces);
		memory->spill.pieces = NULL;
		if (memory->spill.is_freed) {
			free_now(device, memory);
			continue;
		}
		if (memory->spill.state == SPILL_COMING)
			atomic_fetch_sub(&device->spill_counts.away_bytes, memory->size_bytes);
		memory->spill.state = SPILL_PRESENT;
		memory->spill.pins++;
		atomic_store(&memory->handle, memory->spill.handle);
	}
	way->last = NULL;
	way->bytes = 0;
}

void sched_spill_lose(struct scheduler_device *device)
{
	struct sched_spill *spill = spill_of(device);
	for (uint32_t i = 0; i < SPILL_WAYS; i++)
		lose_way(device, &spill->ways[i]);
	(void)free_spares(device);
	spill->due = true;
}

void sched_spill_open(struct scheduler_device *device)
{
	spill_order_init(&spill_of(device)->order);
	spill_of(device)->may_have_room = true;
	spill_host_open(&spill_of(device)->host, device);
}

void sched_spill_close(struct scheduler_device *device)
{
	(void)free_spares(device);
	for (uint32_t i = 0; i < SPILL_WAYS; i++)
		if (spill_of(device)->ways[i].lane)
			device->ops->lane_free(spill_of(device)->ways[i].lane);
	spill_host_close(&spill_of(device)->host);
}

bool sched_spill_hold(struct sched_memory *memory)
{
	/* Where room is scarce such copies, which wait for their turn, would keep it. */
	if (atomic_load_explicit(&memory->device->spill_counts.away_bytes, memory_order_relaxed) > 0)
		return false;
	atomic_fetch_add(&memory->spill.peers, 1);
	if (atomic_load(&memory->spill.away) == 0)
		return true;
	atomic_fetch_sub(&memory->spill.peers, 1);
	return false;
}

void sched_spill_let_go(struct sched_memory *memory)
{
	atomic_fetch_sub(&memory->spill.peers, 1);
}
