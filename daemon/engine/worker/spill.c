/* See spill.h. */
#include "worker/spill.h"

#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "base/quiet.h"
#include "base/spill_order.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/graph.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/command.h"
#include "worker/make_memory.h"
#include "worker/native_command.h"
#include "worker/spill_host.h"
#include "worker/spill_internal.h"
#include "worker/worker.h"

#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static_assert(SCHED_LANES_ALL <= SPILL_LANES, "each has its place");

static struct worker_spill *spill_of(struct scheduler_device *device)
{
	return &device->worker.spill;
}

/* --------------- device memory that has become free, for what comes next ---------------- */

/* A spare memory of that size, without a call of the driver. NULL: there is none. */
static struct backend_memory *take_spare(struct worker_spill *spill, uint64_t size_bytes)
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

/* A command waits for room: it takes a spare without a call of the driver. */
void worker_spill_add_spare(struct scheduler_device *device, struct backend_memory *handle,
			    uint64_t size_bytes)
{
	struct worker_spill *spill = spill_of(device);
	if (!spill->aside.first || spill->spare_count == SPILL_SPARES) {
		device->ops->memory_free(handle);
		spill->may_have_room = true;
		return;
	}
	spill->spares[spill->spare_count++] = (struct spill_spare){handle, size_bytes};
	spill->spare_bytes += size_bytes;
}

bool worker_spill_free_spares(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	bool were = spill->spare_count > 0;
	while (spill->spare_count > 0)
		device->ops->memory_free(spill->spares[--spill->spare_count].handle);
	spill->spare_bytes = 0;
	spill->may_have_room |= were;
	return were;
}

/* --------------------------------- what may be spilled ---------------------------------- */

static bool may_leave(const struct sched_memory *memory)
{
	const struct scheduler *scheduler = memory->device->scheduler;
	return scheduler->spills && memory->size_bytes >= scheduler->spill_least_bytes &&
	       !memory->host && !memory->imported && !memory->native &&
	       memory->export_kind == BACKEND_EXPORT_NONE && memory->spill.pins == 0;
}

void worker_spill_be_present(struct scheduler_device *device, struct sched_memory *memory,
			     struct backend_memory *handle)
{
	memory->spill.state = SPILL_PRESENT;
	atomic_store(&memory->spill.away, 0);
	atomic_store_explicit(&memory->handle, handle, memory_order_release);
	if (may_leave(memory))
		spill_order_enter(&spill_of(device)->order, &memory->spill.entry,
				  memory->spill.owner, memory->size_bytes);
}

void worker_spill_pin(struct scheduler_device *device, struct sched_memory *memory)
{
	memory->spill.pins++;
	spill_order_leave(&spill_of(device)->order, &memory->spill.entry);
}

void worker_spill_unpin(struct scheduler_device *device, struct sched_memory *memory)
{
	memory->spill.pins--;
	if (memory->spill.state == SPILL_PRESENT && may_leave(memory))
		spill_order_enter(&spill_of(device)->order, &memory->spill.entry,
				  memory->spill.owner, memory->size_bytes);
}

static void mark_memory(struct scheduler_device *device, struct sched_memory *memory,
			spill_mark_function *mark)
{
	if (memory && memory->device == device)
		mark(&spill_of(device)->order, &memory->spill.entry);
}

void worker_spill_mark(struct scheduler_device *device, const struct task_command *command,
		       spill_mark_function *mark)
{
	struct sched_memory *memory;
	mark_memory(device, command->source, mark);
	mark_memory(device, command->destination, mark);
	if (command->backend.kind == BACKEND_COMMAND_LAUNCH)
		for (uint32_t i = 0; i < command->backend.launch.argument_count; i++)
			mark_memory(device, command->argument_memories[i], mark);
	for (uint32_t i = 0; command->native_command &&
			     worker_native_command_has(command->native_command, i, &memory);
	     i++)
		mark_memory(device, memory, mark);
}

static void mark_sending(struct scheduler_device *device, const struct task_command *command)
{
	if (!command)
		return;
	worker_spill_mark(device, command, spill_order_mark_kept);
	if (!command->graph)
		return;
	const struct sched_graph *graph = command->graph->graph;
	for (uint32_t i = 0; i < graph->node_count; i++)
		worker_spill_mark(device, &graph->nodes[i]->command, spill_order_mark_kept);
	for (const struct sched_graph_node *node = command->graph->changes; node; node = node->next)
		worker_spill_mark(device, &node->command, spill_order_mark_kept);
}

void worker_spill_mark_all(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	spill_order_unmark(&spill->order);
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		for (const struct task *task = device->worker.lanes[i].first; task;
		     task = task->command.lane_next)
			worker_spill_mark(device, &task->command, spill_order_mark_in_use);
	mark_sending(device, spill->sending);
}

/* ----------------------------------------- room ----------------------------------------- */

static uint64_t larger_bytes(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

bool worker_spill_defers(struct scheduler_device *device, uint64_t bytes)
{
	struct worker_spill *spill = spill_of(device);
	uint64_t until_ns = spill->waits_since_ns,
		 copy_ns = (bytes >> 10) * spill->ways[SPILL_OUT].ns_per_mib >> 10;
	if (spill->order.is_better_soon)
		until_ns += larger_bytes(SPILL_DEFER_NS, copy_ns);
	else if (spill->order.is_later_soon)
		until_ns += larger_bytes(bytes / SPILL_DEFER_BYTES_PER_NS, copy_ns / 2);
	if (device->scheduler->clock_ns() >= until_ns)
		return false;
	spill->defers = true;
	spill->defers_until_ns = until_ns;
	return true;
}

/* Sends memories away until there is room. 0, or a result of worker_spill_begin_to_leave. */
static int send_away(struct scheduler_device *device, const struct sched_memory *memory,
		     bool *waits, struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	int result = 0;
	worker_spill_mark_all(device);
	while (result >= 0 && worker_spill_room_to_come(spill) < memory->size_bytes) {
		struct spill_entry *entry =
			spill_order_choose(&spill->order, memory->spill.owner, waits);
		if (!entry)
			return 0;
		if (worker_spill_defers(device, entry->bytes)) {
			*waits = true;
			return 0;
		}
		struct backend_fault own = {.status = STATUS_SUCCESS};
		result = worker_spill_begin_to_leave(device, worker_spill_memory_of(entry), memory,
						     &own);
		if (result > 0)
			spill_order_mark_kept(&spill->order, entry);
		if (result < 0 && result != -ENOMEM)
			*fault = own;
	}
	return result < 0 ? result : 0;
}

static bool is_copying(const struct worker_spill *spill)
{
	return spill->ways[SPILL_OUT].first || spill->ways[SPILL_IN].first;
}

/* `result` and `fault`: as there was no room. */
static int make_room(struct scheduler_device *device, struct sched_memory *memory, int result,
		     struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	bool waits = false;
	/* Other waiting commands are known when all messages of this turn have been read. */
	if (!spill->is_stepping) {
		spill->due = true;
		return WORKER_SPILL_WAIT;
	}
	int sent = send_away(device, memory, &waits, fault);
	if (sent < 0 && fault->device_lost)
		return sent;
	/* Memory in use would find no room in the host either. */
	waits &= sent == 0;
	if ((is_copying(spill) || waits) && !spill->is_last_try) {
		struct sched_memory *before = worker_spill_find_before(spill, memory);
		if (before)
			return worker_spill_begin_to_follow(device, memory, before, fault);
		spill->wants_room = true;
		return WORKER_SPILL_WAIT;
	}
	size_t length = strnlen(fault->text, sizeof(fault->text));
	if (sent == -ENOMEM)
		(void)snprintf(fault->text + length, sizeof(fault->text) - length,
			       "%sand the host has no room to spill to", length > 0 ? "; " : "");
	return result;
}

/* The memory is being copied, or others come first. */
static int wait_for_room(const struct worker_spill *spill, struct backend_fault *fault)
{
	if (!spill->is_last_try)
		return WORKER_SPILL_WAIT;
	*fault = (struct backend_fault){.status = STATUS_MEMORY_ALLOCATION,
					.text = "a copy of spilled memory takes too long"};
	return -ENOMEM;
}

/* The driver has refused as much, or less, and since then no memory is known to have been freed. */
static bool is_known_full(const struct scheduler_device *device, const struct sched_memory *memory)
{
	const struct worker_spill *spill = &device->worker.spill;
	return !spill->may_have_room && spill->spare_count == 0 && !spill->is_last_try &&
	       !memory->imported && memory->size_bytes >= spill->full_bytes &&
	       device->scheduler->clock_ns() - spill->full_ns < SPILL_LOOK_NS;
}

/* `is_full_out`: not, as there is no room. */
static int request_memory(struct scheduler_device *device, struct sched_memory *memory,
			  struct backend_memory **made_out, bool *is_full_out,
			  struct backend_fault *fault)
{
	int result = worker_make_memory(device, memory, made_out, fault);
	if (result < 0 && fault->status == STATUS_SUCCESS)
		fault->status = STATUS_MEMORY_ALLOCATION;
	*is_full_out = result < 0 && fault->status == STATUS_MEMORY_ALLOCATION &&
		       !fault->device_lost && !memory->imported;
	return result;
}

int worker_spill_make_memory(struct scheduler_device *device, struct sched_memory *memory,
			     struct backend_memory **made_out, bool *is_full_out,
			     struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	*is_full_out = false;
	/* The copy from the host overwrites all of it. */
	*made_out = memory->spill.state == SPILL_AWAY && !worker_spill_is_image(memory)
			    ? take_spare(spill, memory->size_bytes)
			    : NULL;
	if (*made_out)
		return 0;
	spill->full_is_old = is_known_full(device, memory);
	if (spill->full_is_old) {
		*is_full_out = true;
		*fault = spill->full;
		return -ENOMEM;
	}
	int result = request_memory(device, memory, made_out, is_full_out, fault);
	if (*is_full_out && worker_spill_free_spares(device)) {
		fault->status = STATUS_SUCCESS;
		result = request_memory(device, memory, made_out, is_full_out, fault);
	}
	if (*is_full_out && result != -EAGAIN) {
		spill->may_have_room = false;
		spill->full_bytes = memory->size_bytes;
		spill->full_ns = device->scheduler->clock_ns();
		spill->full = *fault;
	}
	return result;
}

bool worker_spill_await_quiet(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	if (spill->is_last_try)
		return false;
	spill->awaits_quiet = true;
	return true;
}

void worker_spill_have_room(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	spill->awaits_quiet = false;
	spill->may_have_room = true;
	spill->due |= spill->aside.first != NULL;
}

static int bring_memory(struct scheduler_device *device, struct sched_memory *memory,
			struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	struct backend_memory *made = NULL;
	bool is_full = false;
	if (memory->spill.state == SPILL_AWAY && !worker_spill_may_come(spill))
		return wait_for_room(spill, fault);
	struct sched_memory *before = worker_spill_find_before(spill, memory);
	if (before)
		return worker_spill_begin_to_follow(device, memory, before, fault);
	int result = worker_spill_make_memory(device, memory, &made, &is_full, fault);
	if (result == 0 && memory->spill.state == SPILL_AWAY)
		return worker_spill_begin_to_come(device, memory, made, fault);
	if (result == 0) {
		worker_spill_be_present(device, memory, made);
		return 0;
	}
	if (is_full && result == -EAGAIN)
		return worker_spill_await_quiet(device) ? WORKER_SPILL_WAIT : -ENOMEM;
	/* No memory is spilled for a request that can never fit. */
	is_full &= memory->size_bytes <= device->memory_bytes;
	return is_full && device->scheduler->spills ? make_room(device, memory, result, fault)
						    : result;
}

int worker_spill_need(struct scheduler_device *device, struct sched_memory *memory,
		      struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	bool is_first = !spill->aside.first;
	if (memory->spill.state == SPILL_LEAVING)
		memory->spill.wanted |= is_first; /* the others wait for the room that this makes */
	if (memory->spill.state == SPILL_LEAVING || memory->spill.state == SPILL_COMING ||
	    !is_first)
		return wait_for_room(spill, fault);
	if (memory->spill.has_failed) {
		memory->spill.has_failed = false;
		*fault = spill->fault;
		return -EIO;
	}
	int result = bring_memory(device, memory, fault);
	/* Nothing can go. Is there really no room? */
	if (result < 0 && result != WORKER_SPILL_WAIT && !spill->may_have_room &&
	    spill->full_is_old) {
		spill->may_have_room = true;
		result = bring_memory(device, memory, fault);
	}
	return result;
}

bool worker_spill_free(struct scheduler_device *device, struct sched_memory *memory)
{
	struct worker_spill *spill = spill_of(device);
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
	worker_spill_free_host(memory);
	return true;
}

/* --------------------------------- commands set aside ----------------------------------- */

void worker_spill_set_aside(struct scheduler_device *device, struct sched_message *message)
{
	struct worker_spill *spill = spill_of(device);
	sched_message_append(&spill->aside, message);
	if (spill->aside.first == message && spill->waiting != message) {
		spill->waiting = message;
		spill->waiting_count = spill->order.now;
		spill->waits_since_ns = device->scheduler->clock_ns();
	}
	if (message->kind != SCHED_MESSAGE_COMMAND)
		return;
	struct task *task = (struct task *)(void *)message;
	const struct task_command *command = &task->command;
	atomic_store(&task->is_aside, true);
	if (spill->aside_from[command->lane] == 0)
		spill->aside_from[command->lane] =
			command->sequence - worker_launch_count(command) + 1;
}

bool worker_spill_is_aside(struct scheduler_device *device, uint32_t lane, uint64_t sequence)
{
	const struct worker_spill *spill = spill_of(device);
	return spill->aside_from[lane] != 0 && sequence >= spill->aside_from[lane];
}

static bool is_behind(const struct worker_spill *spill, const struct task_command *command)
{
	if (spill->aside_from[command->lane] != 0)
		return true;
	for (uint32_t i = 0; i < command->predecessor_count; i++) {
		const struct task_predecessor *predecessor = &command->predecessors[i];
		uint64_t from = spill->aside_from[predecessor->lane];
		if (from != 0 && predecessor->sequence >= from)
			return true;
	}
	return false;
}

bool worker_spill_holds(struct scheduler_device *device, struct sched_message *message)
{
	struct worker_spill *spill = spill_of(device);
	bool is_send = message->kind == SCHED_MESSAGE_COMMAND;
	/* A command that was set aside may depend on the failed one. */
	if (!spill->aside.first || device->worker.unusable ||
	    (!is_send && message->kind != SCHED_MESSAGE_FORGET) ||
	    (is_send && !is_behind(spill, &((struct task *)(void *)message)->command)))
		return false;
	worker_spill_set_aside(device, message);
	return true;
}

static bool is_wait_over(const struct scheduler_device *device)
{
	const struct worker_spill *spill = &device->worker.spill;
	if (!spill->aside.first)
		return false;
	uint64_t most_ns =
		SPILL_WAIT_MOST_NS +
		(spill->ways[SPILL_OUT].bytes + spill->ways[SPILL_IN].bytes) * SPILL_NS_PER_BYTE +
		(spill->awaits_quiet ? SCHED_QUIET_STARVED_NS : 0);
	return device->scheduler->clock_ns() - spill->waits_since_ns > most_ns;
}

uint64_t worker_spill_wait_ns(const struct scheduler_device *device, uint64_t ns)
{
	const struct worker_spill *spill = &device->worker.spill;
	if (!spill->aside.first)
		return ns;
	uint64_t now_ns = device->scheduler->clock_ns(), most_ns = SPILL_LOOK_NS;
	if (spill->defers)
		most_ns = spill->defers_until_ns > now_ns ? spill->defers_until_ns - now_ns : 0;
	return ns > most_ns ? most_ns : ns;
}

/* The first, and if that goes on, the others. */
static void retry_set_aside(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	uint64_t from[SPILL_LANES];
	struct sched_message_list list = spill->aside;
	memcpy(from, spill->aside_from, sizeof(from));
	memset(spill->aside_from, 0, sizeof(from));
	spill->aside = (struct sched_message_list){.first = NULL};
	spill->due = false;
	struct sched_message *first = sched_message_take(&list);
	spill->again = first == spill->waiting ? spill->waiting_count : 0;
	worker_handle(device, first);
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
			worker_handle(device, message);
	}
}

bool worker_spill_step(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	bool is_last_try = is_wait_over(device);
	spill->awaits_quiet &= spill->aside.first != NULL;
	spill->due |= is_last_try ||
		      (spill->defers && device->scheduler->clock_ns() >= spill->defers_until_ns);
	if (!spill->due || !spill->aside.first) {
		if (!spill->aside.first && spill->spare_count > 0)
			(void)worker_spill_free_spares(device);
		spill->due = false;
		return false;
	}
	worker_spill_mark_needs(device);
	spill->is_last_try = is_last_try;
	spill->is_stepping = true;
	spill->wants_room = spill->defers = false;
	retry_set_aside(device);
	worker_spill_look_ahead(device);
	spill->is_stepping = false;
	worker_flush(device);
	return true;
}

/* ---------------------------------- beginning and end ----------------------------------- */

void worker_spill_open(struct scheduler_device *device)
{
	spill_order_init(&spill_of(device)->order);
	spill_of(device)->may_have_room = true;
	spill_host_open(&spill_of(device)->host, device);
}

void worker_spill_close(struct scheduler_device *device)
{
	(void)worker_spill_free_spares(device);
	for (uint32_t i = 0; i < SPILL_WAYS; i++)
		if (spill_of(device)->ways[i].lane)
			device->ops->lane_free(spill_of(device)->ways[i].lane);
	spill_host_close(&spill_of(device)->host);
}

bool worker_spill_hold(struct sched_memory *memory)
{
	/* Where room is scarce such copies, which wait for their turn, would keep it. */
	if (atomic_load_explicit(&memory->device->spill_counts.away_bytes, memory_order_relaxed) >
	    0)
		return false;
	atomic_fetch_add(&memory->spill.peers, 1);
	if (atomic_load(&memory->spill.away) == 0)
		return true;
	atomic_fetch_sub(&memory->spill.peers, 1);
	return false;
}

void worker_spill_unhold(struct sched_memory *memory)
{
	atomic_fetch_sub(&memory->spill.peers, 1);
}
