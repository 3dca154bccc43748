/* See sched_spill.h. */
#include "sched_spill.h"

#include "sched_graph.h"
#include "sched_internal.h"

#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static_assert(SCHED_LANES_ALL <= SPILL_LANES, "each has its place");

static struct sched_spill *spill_of(struct scheduler_device *device)
{
	return &device->worker.spill;
}

/* --- host memory --------------------------------------------------------------------------------------------------- */

/* As it counts. */
static uint64_t host_bytes(const struct sched_memory *memory)
{
	uint64_t page_bytes = memory->device->scheduler->page_bytes;
	return (memory->size_bytes + page_bytes - 1) / page_bytes * page_bytes;
}

/* NULL: there is none, or as much as may be has been taken. */
static void *take_host(const struct sched_memory *memory)
{
	struct scheduler *scheduler = memory->device->scheduler;
	uint64_t bytes = host_bytes(memory);
	if (atomic_fetch_add(&scheduler->spill_bytes, bytes) + bytes <= scheduler->spill_most_bytes) {
		void *host = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (host != MAP_FAILED)
			return host;
	}
	atomic_fetch_sub(&scheduler->spill_bytes, bytes);
	return NULL;
}

static void give_host(struct sched_memory *memory)
{
	if (!memory->spill.host)
		return;
	(void)munmap(memory->spill.host, host_bytes(memory));
	memory->spill.host = NULL;
	atomic_fetch_sub(&memory->device->scheduler->spill_bytes, host_bytes(memory));
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

typedef void mark_function(const struct spill_order *order, struct spill_entry *entry);

static void mark_memory(struct scheduler_device *device, struct sched_memory *memory, mark_function *mark)
{
	if (memory && memory->device == device)
		mark(&spill_of(device)->order, &memory->spill.entry);
}

/* What a graph names is pinned once it is made. */
static void mark_send(struct scheduler_device *device, const struct task_send *send, mark_function *mark)
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
	mark_send(device, send, spill_order_mark_kept);
	if (!send->graph)
		return;
	const struct sched_graph *graph = send->graph->graph;
	for (uint32_t i = 0; i < graph->node_count; i++)
		mark_send(device, &graph->nodes[i]->send, spill_order_mark_kept);
	for (const struct sched_graph_node *node = send->graph->changes; node; node = node->next)
		mark_send(device, &node->send, spill_order_mark_kept);
}

static void mark_all(struct scheduler_device *device)
{
	struct sched_spill *spill = spill_of(device);
	spill_order_unmark(&spill->order);
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		for (const struct task *task = device->worker.lanes[i].first; task; task = task->send.lane_next)
			mark_send(device, &task->send, spill_order_mark_in_use);
	mark_sending(device, spill->sending);
}

/* --- copies -------------------------------------------------------------------------------------------------------- */

int sched_spill_need_lane(struct scheduler_device *device, struct backend_fault *fault)
{
	struct sched_spill *spill = spill_of(device);
	if (spill->lane)
		return 0;
	int result = device->ops->lane_create(device->handle, BACKEND_LANE_COMPUTE, &spill->lane, fault);
	if (result < 0)
		spill->lane = NULL;
	return result;
}

/* Of all of it, between `handle` and the host. Nothing that is in flight uses it. */
static int send_copy(struct scheduler_device *device, struct sched_memory *memory, struct backend_memory *handle,
		     enum backend_command_kind kind, struct backend_fault *fault)
{
	struct sched_spill *spill = spill_of(device);
	struct backend_command command = {.kind = kind};
	command.transfer.memory = handle;
	command.transfer.host = memory->spill.host;
	command.transfer.size_bytes = memory->size_bytes;
	int result = sched_spill_need_lane(device, fault);
	if (result == 0)
		result = device->ops->submit(spill->lane, &command, NULL, 0, spill->sequence + 1, NULL, fault);
	if (result < 0)
		return result;
	spill->sequence++;
	device->worker.unflushed = true;
	device->worker.in_flight++;
	memory->spill.handle = handle;
	memory->spill.next = NULL;
	if (spill->last)
		spill->last->spill.next = memory;
	else
		spill->first = memory;
	spill->last = memory;
	spill->copied_bytes += memory->size_bytes;
	return 0;
}

/* 1: it stays. -ENOMEM: because there is no room in the host. Another error: the device is lost. */
static int begin_to_leave(struct scheduler_device *device, struct sched_memory *memory, struct backend_fault *fault)
{
	struct sched_spill *spill = spill_of(device);
	struct backend_memory *handle = atomic_load_explicit(&memory->handle, memory_order_relaxed);
	/* Sequentially consistent, as sched_spill_hold: one of the two sees the other. */
	atomic_store(&memory->spill.away, 1);
	int result = atomic_load(&memory->spill.peers) > 0 ? 1 : 0;
	if (result == 0) {
		memory->spill.host = take_host(memory);
		result = memory->spill.host ? 0 : -ENOMEM;
	}
	if (result == 0 && send_copy(device, memory, handle, BACKEND_COMMAND_READ, fault) < 0)
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
	spill->leaving_bytes += memory->size_bytes;
	return 0;
}

static void has_left(struct scheduler_device *device, struct sched_memory *memory, const struct backend_fault *fault)
{
	struct spill_counts *counts = &device->spill_counts;
	bool is_good = fault->status == STATUS_SUCCESS;
	if (is_good && !memory->spill.wanted) {
		device->ops->memory_free(memory->spill.handle);
		memory->spill.state = SPILL_AWAY;
		atomic_fetch_add(&counts->spills, 1);
		atomic_fetch_add(&counts->spilled_bytes, memory->size_bytes);
		atomic_fetch_add_explicit(&memory->spill.times, 1, memory_order_relaxed);
		atomic_fetch_add(&counts->away_bytes, memory->size_bytes);
		return;
	}
	give_host(memory);
	memory->spill.pins += !is_good; /* it would fail again, and again */
	be_present(device, memory, memory->spill.handle);
}

static void has_come(struct scheduler_device *device, struct sched_memory *memory, const struct backend_fault *fault)
{
	struct spill_counts *counts = &device->spill_counts;
	if (fault->status != STATUS_SUCCESS) {
		device->ops->memory_free(memory->spill.handle);
		memory->spill.state = SPILL_AWAY;
		memory->spill.has_failed = true;
		spill_of(device)->fault = *fault;
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
	give_host(memory);
	sched_worker_return(device, &memory->message);
}

bool sched_spill_completed(struct scheduler_device *device, const struct backend_completion *completion)
{
	struct sched_spill *spill = spill_of(device);
	struct sched_memory *memory = spill->first;
	if (!memory || completion->lane != spill->lane)
		return false;
	if (completion->fault.device_lost) {
		if (!device->worker.losing)
			device->worker.loss = completion->fault;
		device->worker.losing = true;
		return true;
	}
	spill->first = memory->spill.next;
	if (!spill->first)
		spill->last = NULL;
	device->worker.in_flight--;
	spill->copied_bytes -= memory->size_bytes;
	if (spill->aside.first)
		spill->waits_since_ns = device->scheduler->clock_ns();
	if (memory->spill.state == SPILL_LEAVING)
		spill->leaving_bytes -= memory->size_bytes;
	if (memory->spill.is_freed)
		free_now(device, memory);
	else if (memory->spill.state == SPILL_LEAVING)
		has_left(device, memory, &completion->fault);
	else
		has_come(device, memory, &completion->fault);
	return true;
}

/* --- room ---------------------------------------------------------------------------------------------------------- */

static struct sched_memory *memory_of(struct spill_entry *entry)
{
	return (struct sched_memory *)(void *)((char *)entry - offsetof(struct sched_memory, spill.entry));
}

/* As many as it takes. 0, or why it does not go on: as begin_to_leave. */
static int send_away(struct scheduler_device *device, const struct sched_memory *memory, bool *waits,
		     struct backend_fault *fault)
{
	struct sched_spill *spill = spill_of(device);
	int result = 0;
	mark_all(device);
	while (result >= 0 && spill->leaving_bytes < memory->size_bytes) {
		struct spill_entry *entry = spill_order_choose(&spill->order, memory->spill.owner, waits);
		if (!entry)
			return 0;
		struct backend_fault own = {.status = STATUS_SUCCESS};
		result = begin_to_leave(device, memory_of(entry), &own);
		if (result > 0)
			spill_order_mark_kept(&spill->order, entry);
		if (result < 0 && result != -ENOMEM)
			*fault = own;
	}
	return result < 0 ? result : 0;
}

/* `result` and `fault`: as there was no room. */
static int make_room(struct scheduler_device *device, const struct sched_memory *memory, int result,
		     struct backend_fault *fault)
{
	struct sched_spill *spill = spill_of(device);
	bool waits = false;
	int sent = send_away(device, memory, &waits, fault);
	if (sent < 0 && fault->device_lost)
		return sent;
	/* What is in use would have no room there either. */
	waits &= sent == 0;
	if ((spill->leaving_bytes > 0 || waits) && !spill->is_last_try)
		return SCHED_SPILL_WAIT;
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

static int begin_to_come(struct scheduler_device *device, struct sched_memory *memory, struct backend_memory *made,
			 struct backend_fault *fault)
{
	int result = send_copy(device, memory, made, BACKEND_COMMAND_WRITE, fault);
	if (result < 0) {
		device->ops->memory_free(made);
		return result;
	}
	memory->spill.state = SPILL_COMING;
	spill_of(device)->waits_since_ns = device->scheduler->clock_ns();
	return SCHED_SPILL_WAIT;
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
	struct backend_memory *made = NULL;
	int result = sched_worker_make_memory(device, memory, &made, fault);
	if (result == 0 && memory->spill.state == SPILL_AWAY)
		return begin_to_come(device, memory, made, fault);
	if (result == 0) {
		be_present(device, memory, made);
		return 0;
	}
	if (fault->status == STATUS_SUCCESS)
		fault->status = STATUS_MEMORY_ALLOCATION;
	bool is_full = fault->status == STATUS_MEMORY_ALLOCATION && !fault->device_lost && !memory->imported;
	/* Nobody's memory has to go for what can never be had. */
	is_full &= memory->size_bytes <= device->memory_bytes;
	return is_full && device->scheduler->spills ? make_room(device, memory, result, fault) : result;
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
	       SPILL_WAIT_MOST_NS + spill->copied_bytes * SPILL_NS_PER_BYTE;
}

uint64_t sched_spill_rest(const struct scheduler_device *device, uint64_t ns)
{
	return device->worker.spill.aside.first && ns > SPILL_LOOK_NS ? SPILL_LOOK_NS : ns;
}

bool sched_spill_step(struct scheduler_device *device)
{
	struct sched_spill *spill = spill_of(device);
	bool is_last_try = is_time_over(device);
	spill->due |= is_last_try;
	if (!spill->due || !spill->aside.first) {
		spill->due = false;
		return false;
	}
	uint64_t from[SPILL_LANES];
	struct sched_message_list list = spill->aside;
	memcpy(from, spill->aside_from, sizeof(from));
	memset(spill->aside_from, 0, sizeof(from));
	spill->aside = (struct sched_message_list){.first = NULL};
	spill->due = false;
	struct sched_message *first = sched_message_take(&list);
	spill->is_last_try = is_last_try;
	sched_worker_handle(device, first);
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
	sched_worker_flush(device);
	return true;
}

/* --- beginning and end --------------------------------------------------------------------------------------------- */

void sched_spill_lose(struct scheduler_device *device)
{
	struct sched_spill *spill = spill_of(device);
	while (spill->first) {
		struct sched_memory *memory = spill->first;
		spill->first = memory->spill.next;
		/* The copy may run on: its host memory stays mapped. It is nobody's, and nothing that is spilled. */
		memory->spill.host = NULL;
		atomic_fetch_sub(&device->scheduler->spill_bytes, host_bytes(memory));
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
	spill->last = NULL;
	spill->leaving_bytes = spill->copied_bytes = 0;
	spill->due = true;
}

void sched_spill_open(struct scheduler_device *device)
{
	spill_order_init(&spill_of(device)->order);
}

void sched_spill_close(struct scheduler_device *device)
{
	if (spill_of(device)->lane)
		device->ops->lane_free(spill_of(device)->lane);
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
