/* Reads that kept tasks do by themselves (run/kept.h). */
#include "base/cause.h"
#include "base/interval_map.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/memory/moves.h"
#include "scheduler/memory/residency.h"
#include "scheduler/run/kept.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/task/burst.h"

#include "status.h"

static bool intervals_are_equal(const struct interval *a, const struct interval *b)
{
	return a->begin == b->begin && a->end == b->end;
}

void sched_kept_note_read(struct task *task, const struct sched_buffer *buffer,
			  const struct interval *bytes)
{
	struct kept_read *read = &task->kept->read;
	if (!task->scheduler->keeps_reads || !task_is_stretch(task) ||
	    bytes->end - bytes->begin > KEPT_READ_BYTES)
		return;
	if (read->buffer == buffer && intervals_are_equal(&read->bytes, bytes)) {
		read->times += read->times < KEPT_READ_TIMES;
		return;
	}
	read->buffer = buffer;
	read->bytes = *bytes;
	read->times = 1;
	read->vain = read->undone = 0;
}

/* The task's use by which it writes the bytes that are read. NULL: there is none any more. */
static struct task_use *use_that_is_read(const struct task *task, const struct kept_read *read)
{
	for (uint32_t i = 0; i < task->use_count; i++) {
		struct task_use *use = &task->uses[i];
		if (use->buffer == read->buffer && use->kind == TASK_USE_WRITE &&
		    use->place != SCHED_HOST_PLACE)
			return use;
	}
	return NULL;
}

static struct sched_piece *piece_that_is_read(const struct sched_buffer *buffer,
					      const struct interval *bytes)
{
	const struct interval_map *pieces = &buffer->contents->pieces;
	for (uint32_t i = 0; i < pieces->count && i < KEPT_USES_MOST; i++) {
		struct sched_piece *piece = sched_piece_of(interval_map_get(pieces, i));
		if (intervals_are_equal(&piece->interval, bytes))
			return piece;
	}
	return NULL;
}

/* True if the latest one was wanted, or it is not known yet that none is. */
static bool read_is_wanted(struct kept_read *read, const struct sched_buffer *buffer)
{
	const bool was_wanted = buffer->host_reads != read->seen;
	read->seen = buffer->host_reads;
	read->vain = was_wanted ? 0 : read->vain + 1;
	if (read->vain > KEPT_READ_VAIN)
		read->times = 0;
	return read->times >= KEPT_READ_TIMES && read->undone < KEPT_READ_UNDONE;
}

static bool is_same_read(const struct backend_command *a, const struct backend_command *b)
{
	return a->transfer.memory == b->transfer.memory && a->transfer.host == b->transfer.host &&
	       a->transfer.offset_bytes == b->transfer.offset_bytes &&
	       a->transfer.size_bytes == b->transfer.size_bytes;
}

static void fill_read(struct kept_read *read, const struct sched_buffer *buffer,
		      struct backend_memory *memory)
{
	struct backend_command command = {.kind = BACKEND_COMMAND_READ};
	sched_move_fill_read(&command, buffer, &read->bytes);
	command.transfer.memory = memory;
	/* The row has the address by which the device reaches the host memory. */
	const uint64_t host_changes = buffer->scheduler->host_changes;
	if (read->task.number != 0 && read->host_changes == host_changes &&
	    is_same_read(&command, &read->task.command))
		return;
	read->task.command = command;
	read->host_changes = host_changes;
	read->task.number += read->task.number == UINT32_MAX ? 2 : 1;
}

void sched_kept_begin_read(struct sched_kept *kept, struct task *task)
{
	struct kept_read *read = &kept->read;
	struct task_burst *burst = task->command.burst;
	if (!task_is_stretch(task))
		return;
	burst->read = NULL;
	if (read->times < KEPT_READ_TIMES || !task->scheduler->keeps_reads ||
	    task->scheduler->trace)
		return;
	const struct task_use *use = use_that_is_read(task, read);
	if (!use || !read_is_wanted(read, use->buffer) ||
	    !sched_move_is_direct(use->buffer, task->device) ||
	    !piece_that_is_read(use->buffer, &read->bytes)) {
		read->times = use ? read->times : 0;
		return;
	}
	read->use = (uint32_t)(use - task->uses);
	read->reads = read->bytes;
	fill_read(read, use->buffer,
		  atomic_load_explicit(&kept->memories[read->use].memory->handle,
				       memory_order_acquire));
	burst->read = &read->task;
	burst->members[burst->count - 1].backend.is_awaited = true;
}

bool sched_kept_reads(const struct task *task, const struct sched_buffer *buffer,
		      const struct interval *bytes)
{
	const struct task_burst *burst = task->command.burst;
	if (!burst || !burst->read || !task->kept)
		return false;
	const struct kept_read *read = &task->kept->read;
	return task->uses[read->use].buffer == buffer && intervals_are_equal(&read->reads, bytes);
}

/* Whoever comes now finds the bytes at the host, unless they are to be written already. */
static void note_at_host(struct task *task, struct sched_buffer *buffer,
			 const struct interval *bytes)
{
	struct sched_piece *piece = piece_that_is_read(buffer, bytes);
	struct scheduler_counters *counters = &task->scheduler->counters;
	const uint64_t size_bytes = bytes->end - bytes->begin;
	if (piece && piece->author == task) {
		piece->valid |= sched_place_bit(SCHED_HOST_PLACE);
		piece->hosts |= buffer->host_bit;
	}
	task->bytes_to_host += size_bytes;
	counters->moved_bytes_to_host += size_bytes;
	counters->moves++;
	counters->kept_reads++;
}

/* The access gets a move after all. Without memory for it the access fails. */
static void bring_late(struct task *access, struct sched_buffer *buffer,
		       const struct interval *bytes, const struct scheduler_device *device)
{
	const struct sched_cost cost = {.edges = 1, .tasks = 1, .visits = 1};
	if (sched_cost_reserve(access->scheduler, &cost, access->account) == 0) {
		task_edge_add(sched_move_make_late(access, buffer, bytes, device), access, true);
		return;
	}
	struct backend_fault fault;
	backend_fault_none(&fault);
	fault.status = STATUS_MEMORY_ALLOCATION;
	struct sched_cause *cause = sched_cause_create(&fault);
	task_doom(access, cause, true);
	sched_cause_drop(cause);
}

void sched_kept_end_read(struct task *task)
{
	const struct task_burst *burst = task->command.burst;
	struct kept_read *read = &task->kept->read;
	struct sched_buffer *buffer = task->uses[read->use].buffer;
	if (!task->cause && !burst->failed && burst->has_read) {
		note_at_host(task, buffer, &read->reads);
		read->undone = 0;
		return;
	}
	read->undone++;
	for (const struct task_edge *edge = task->out; edge; edge = edge->next_out)
		if (edge->to->awaits_read && edge->data &&
		    !sched_launches_cause(task, edge->launches))
			bring_late(edge->to, buffer, &read->reads, task->device);
}
