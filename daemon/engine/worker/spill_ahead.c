/*
 * Prefetching for commands that were set aside (device thread). Memories that they will use come
 * back while other commands run, and memories that are needed later leave meanwhile. So a device
 * copies both ways at once, and beside kernels. Only waiting commands count: while all commands
 * find their memory, nothing here does anything.
 *
 * The first in line is served first: while it waits for room, no other command gets that room. For
 * those behind it no memory is spilled that is needed within twice as many commands: there will be
 * room by then without a copy.
 */
#include "base/mailbox.h"
#include "base/spill_order.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/command/loss.h"
#include "worker/task/native_command.h"
#include "worker/spill/spill.h"
#include "worker/spill/internal.h"

#include "status.h"

#define COMMANDS  256u  /* commands that are considered at most */
#define ARGUMENTS 4096u /* arguments that these have together at most */
/* Bytes on their way in, and bytes on their way out, at most;. */
#define AHEAD_BYTES ((uint64_t)128 << 20)
#define AHEAD_PART                                                                                 \
	64u /* but no more than this part of what could leave, unless it is a single memory */

static const struct task_command *command_of_message(const struct sched_message *message)
{
	return message->kind == SCHED_MESSAGE_COMMAND
		       ? &((const struct task *)(const void *)message)->command
		       : NULL;
}

void worker_spill_mark_needs(struct scheduler_device *device)
{
	struct worker_spill *spill = &device->worker.spill;
	uint32_t arguments = 0;
	spill_order_line(&spill->order);
	for (const struct sched_message *message = spill->aside.first;
	     message && spill->order.length < COMMANDS && arguments < ARGUMENTS;
	     message = message->next) {
		const struct task_command *command = command_of_message(message);
		spill_order_next(&spill->order);
		if (!command)
			continue;
		worker_spill_mark(device, command, spill_order_expect);
		if (command->backend.kind == BACKEND_COMMAND_LAUNCH)
			arguments += command->backend.launch.argument_count;
	}
}

struct ahead {
	struct scheduler_device *device;
	uint64_t needed; /* bytes that commands without room need */
	bool is_marked;
	bool is_over;
	struct backend_fault fault;
};

/* True if so many more bytes may be on their way. */
static bool may_look_ahead(const struct worker_spill *spill, enum spill_direction direction,
			   uint64_t bytes)
{
	uint64_t under_way =
		spill->ways[direction].bytes + (direction == SPILL_OUT ? spill->spare_bytes : 0);
	return under_way == 0 ||
	       (under_way + bytes <= AHEAD_BYTES &&
		under_way + bytes <= (spill->order.bytes + under_way) / AHEAD_PART);
}

/* Begins to bring back a memory before it is needed. False: there is no room. */
static bool bring_ahead(struct ahead *ahead, struct sched_memory *memory)
{
	struct worker_spill *spill = &ahead->device->worker.spill;
	struct backend_memory *made = NULL;
	bool is_full = false;
	if (spill->wants_room || ahead->needed > 0 ||
	    !may_look_ahead(spill, SPILL_IN, memory->size_bytes) || !worker_spill_may_come(spill))
		return false;
	ahead->fault = (struct backend_fault){.status = STATUS_SUCCESS};
	struct sched_memory *before = worker_spill_find_before(spill, memory);
	if (before) {
		ahead->is_over = worker_spill_begin_to_follow(ahead->device, memory, before,
							      &ahead->fault) != WORKER_SPILL_WAIT;
		return true;
	}
	if (!spill->may_have_room && spill->spare_count == 0)
		return false;
	if (worker_spill_make_memory(ahead->device, memory, &made, &is_full, &ahead->fault) < 0) {
		ahead->is_over = ahead->fault.device_lost;
		return false;
	}
	ahead->is_over = worker_spill_begin_to_come(ahead->device, memory, made, &ahead->fault) !=
			 WORKER_SPILL_WAIT;
	return true;
}

/* Makes room beside that of memories which leave already. */
static void make_room_ahead(struct ahead *ahead, const struct sched_memory *memory,
			    uint64_t position)
{
	struct worker_spill *spill = &ahead->device->worker.spill;
	if (!ahead->is_marked)
		worker_spill_mark_all(ahead->device);
	ahead->is_marked = true;
	while (!ahead->is_over &&
	       worker_spill_room_to_come(spill) + spill->spare_bytes < ahead->needed) {
		struct spill_entry *entry =
			spill_order_choose_ahead(&spill->order, memory->spill.owner, 2 * position);
		if (!entry || spill->order.is_better_soon ||
		    !may_look_ahead(spill, SPILL_OUT, entry->bytes) ||
		    worker_spill_defers(ahead->device, entry->bytes)) {
			ahead->is_over = true;
			return;
		}
		int result = worker_spill_begin_to_leave(
			ahead->device, worker_spill_memory_of(entry), memory, &ahead->fault);
		if (result > 0)
			spill_order_mark_kept(&spill->order, entry);
		ahead->is_over = result < 0;
	}
}

/* In the order of the line: entries are new in it at their first place. */
static void consider_memory(struct ahead *ahead, struct sched_memory *memory, uint64_t position)
{
	if (ahead->is_over || !memory || memory->device != ahead->device ||
	    memory->spill.state != SPILL_AWAY || memory->spill.has_failed ||
	    memory->spill.entry.position != position)
		return;
	if (bring_ahead(ahead, memory) || ahead->is_over)
		return;
	uint64_t needed_before = ahead->needed;
	ahead->needed += memory->size_bytes;
	make_room_ahead(ahead, memory, position);
	if (needed_before > 0 || ahead->fault.device_lost ||
	    !worker_spill_find_before(&ahead->device->worker.spill, memory))
		return;
	/* The memory can take the place of one that leaves, before the copy ends. */
	ahead->needed = 0;
	if (!bring_ahead(ahead, memory))
		ahead->needed = memory->size_bytes;
}

static void consider_memories(struct ahead *ahead, const struct task_command *command,
			      uint64_t position)
{
	struct sched_memory *memory;
	consider_memory(ahead, command->source, position);
	consider_memory(ahead, command->destination, position);
	if (command->backend.kind == BACKEND_COMMAND_LAUNCH)
		for (uint32_t i = 0; i < command->backend.launch.argument_count; i++)
			consider_memory(ahead, command->argument_memories[i], position);
	for (uint32_t i = 0; command->native_command &&
			     worker_native_command_has(command->native_command, i, &memory);
	     i++)
		consider_memory(ahead, memory, position);
}

void worker_spill_look_ahead(struct scheduler_device *device)
{
	struct worker_spill *spill = &device->worker.spill;
	struct ahead ahead = {.device = device};
	uint64_t position = 0;
	if (!device->scheduler->spills || device->worker.unusable || !spill->aside.first)
		return;
	/* Some commands are no longer set aside. */
	worker_spill_mark_needs(device);
	for (const struct sched_message *message = spill->aside.first;
	     message && position < COMMANDS && !ahead.is_over; message = message->next) {
		const struct task_command *command = command_of_message(message);
		position++;
		if (command)
			consider_memories(&ahead, command, position);
	}
	if (ahead.fault.device_lost)
		worker_lose(device, &ahead.fault);
}
