/* Host accesses and host tasks: HELD from their turn until their owner ends them. */
#include "base/cause.h"
#include "base/interval_map.h"
#include "scheduler/admission/account.h"
#include "scheduler/state/buffer.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/memory/moves.h"
#include "scheduler/memory/residency.h"
#include "scheduler/run/kept.h"
#include "scheduler/state/notice.h"
#include "scheduler/task/pool.h"
#include "scheduler/public/task.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include "access_mode.h"
#include "clock.h"

#include <errno.h>
#include <string.h>

static int reserve_host_access(struct task *task, struct sched_access *access,
			       const struct sched_account *account)
{
	struct sched_cost cost = {.edges = 0};
	int result = sched_accesses_prepare(access, 1);
	if (result < 0)
		return result;
	result = sched_access_cost(task, access, &cost);
	if (result == 0)
		result = sched_cost_reserve(task->scheduler, &cost, account);
	if (result < 0)
		sched_access_join(access);
	return result;
}

/* Puts the task into the order, with the moves that it needs. */
static void enter_host_access(struct task *task, const struct sched_access *access)
{
	struct sched_cause *poison = sched_access_poison(access);
	if (poison)
		task_doom(task, poison, false);
	sched_access_bring(task, access);
	sched_access_wait(task, access);
	sched_access_enter(task, access);
	task_open(task);
	sched_access_finish(task, access);
}

/* ------------------------------- contents that come back -------------------------------- */

#define READ_PIECES_MOST 5u

/* True if the contents are at the host, or their author brings them there itself. */
static bool piece_needs_no_move(const struct sched_access *access, const struct sched_piece *piece)
{
	if (piece->author)
		return sched_kept_reads(piece->author, access->buffer, &piece->interval);
	return (sched_piece_places(access->buffer, piece) & sched_place_bit(SCHED_HOST_PLACE)) != 0;
}

/*
 * A program that reads a few bytes after each of its steps has the same piece each time. Its
 * contents are on one device, and nothing but their author's end is to be waited for. Returns the
 * piece, or NULL: the usual steps are for all else.
 */
static struct sched_piece *piece_to_read(const struct sched_access *access)
{
	struct sched_contents *contents = access->buffer->contents;
	const struct sched_span *span = &contents->first_span;
	if (access->writes || contents->home || contents->image.dimensions > 0 ||
	    contents->size_bytes == 0 || contents->spans.count != 1 || access->order.begin != 0 ||
	    access->order.end != contents->size_bytes ||
	    contents->pieces.count > READ_PIECES_MOST || access->buffer->scheduler->trace)
		return NULL;
	for (uint32_t i = 0; i < contents->pieces.count; i++) {
		struct sched_piece *piece = sched_piece_of(interval_map_get(&contents->pieces, i));
		if (piece->interval.begin != access->bytes.begin ||
		    piece->interval.end != access->bytes.end)
			continue;
		const uint64_t places = sched_piece_places(access->buffer, piece);
		const bool comes_alone = !piece->poison && !piece->moves.first && places != 0 &&
					 (!(places & sched_place_bit(SCHED_HOST_PLACE)) ||
					  piece_needs_no_move(access, piece)) &&
					 (!span->writer || span->writer == piece->author);
		return comes_alone ? piece : NULL;
	}
	return NULL;
}

/* The move, and its memory. Negative: a limit, or no memory. */
static int reserve_read(const struct task *task, const struct sched_access *access,
			const struct sched_piece *piece, const struct sched_account *account)
{
	struct sched_buffer *buffer = access->buffer;
	const struct sched_cost cost = {.edges = 2, .tasks = 1, .visits = 2};
	if (piece_needs_no_move(access, piece))
		return sched_cost_reserve(task->scheduler, &cost, account);
	const uint32_t from = sched_move_source(buffer, piece);
	if (!sched_memory_of(buffer, task->scheduler->devices[from - 1]))
		return -ENOMEM;
	return sched_cost_reserve(task->scheduler, &cost, account);
}

/* The access waits for the move, and that for the author. So there are two edges, no more. */
static void enter_read(struct task *task, const struct sched_access *access,
		       struct sched_piece *piece)
{
	struct sched_buffer *buffer = access->buffer;
	if (piece_needs_no_move(access, piece)) {
		task->awaits_read = piece->author != NULL;
		if (piece->author)
			task_edge_add_author(piece->author, task, buffer->contents);
	} else {
		struct task *move = sched_moves_make(
			task, buffer, piece, sched_move_source(buffer, piece), SCHED_HOST_PLACE);
		task_edge_add(move, task, true);
		if (move->is_small_move && piece->author && piece->author->kept)
			sched_kept_note_read(piece->author, buffer, &piece->interval);
	}
	struct task_use *use = sched_use_add(task, buffer, TASK_USE_HOST_READ, SCHED_HOST_PLACE,
					     &access->order, &access->bytes);
	sched_link(use, &use->link, &buffer->contents->first_span.host_readers);
}

int host_access_submit(struct scheduler *scheduler, const struct task_requirement *requirement,
		       struct sched_account *account, void *owner, struct task **task_out)
{
	/* Formatted text would take as long as the rest. */
	static const char write_name[] = "host write access",
			  read_name[sizeof(write_name)] = "host read access";
	uint32_t mode = requirement->mode;
	uint64_t before = scheduler->pool_bytes;
	struct sched_access access = {
		.buffer = requirement->buffer,
		.place = SCHED_HOST_PLACE,
		.writes = access_mode_writes(mode),
		.needs = !access_mode_writes(mode) || access_mode_needs_contents(mode),
		.moves = true,
		.host = true,
	};
	sched_access_ranges(&access, requirement->order_offset_bytes, requirement->order_size_bytes,
			    requirement->offset_bytes, requirement->size_bytes);
	struct task *task = sched_take_task(scheduler, sizeof(struct task_use));
	if (!task)
		return -ENOMEM;
	struct sched_piece *piece = piece_to_read(&access);
	if (!access.writes)
		access.buffer->host_reads++;
	int result = piece ? reserve_read(task, &access, piece, account)
			   : reserve_host_access(task, &access, account);
	if (result < 0) {
		sched_give_task(scheduler, task);
		sched_pool_trim(scheduler);
		return result;
	}
	task->role = TASK_ROLE_HOST_ACCESS;
	task->owner = owner;
	task->front_only = true;
	task->submit_ns = clock_now_ns();
	memcpy(task->command.what, access.writes ? write_name : read_name, sizeof(write_name));
	if (piece) {
		enter_read(task, &access, piece);
		task_open(task);
	} else {
		enter_host_access(task, &access);
	}
	sched_account_charge(account, task,
			     scheduler->pool_bytes > before ? scheduler->pool_bytes - before : 0);
	sched_pool_trim(scheduler);
	task_consider(task);
	*task_out = task;
	scheduler_run(scheduler);
	return 0;
}

void host_access_release(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	task->released = true;
	if (task->state == TASK_HELD) {
		task_finish(task);
		scheduler_run(scheduler);
	} else if (task->state == TASK_PENDING) {
		/* The owner is notified now; the task keeps its place in the order until its
		 * predecessors are done. */
		sched_notice_queue(scheduler, &task->notice, SCHED_NOTICE_TASK, task);
	}
}

bool task_held(const struct task *task)
{
	return task->state == TASK_HELD;
}

void host_task_end(struct task *task, const struct backend_fault *fault)
{
	struct scheduler *scheduler = task->scheduler;
	if (fault && fault->status) {
		struct sched_cause *cause = sched_cause_create(fault);
		task_doom(task, cause, true);
		sched_cause_drop(cause);
	}
	task->notified = false; /* the owner was notified only that the task's turn had come */
	/* The device thread owns the task's times until the task is back. */
	if (task->state != TASK_HELD) {
		task->ended_early = true;
		return;
	}
	task->command.end_ns = clock_now_ns();
	task_finish(task);
	scheduler_run(scheduler);
}
