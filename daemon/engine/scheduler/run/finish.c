/* The end of a task. */
#include "scheduler/state/task.h"

#include "base/cause.h"
#include "base/kernel_output.h"
#include "base/mailbox.h"
#include "scheduler/admission/account.h"
#include "scheduler/task/burst.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/state/device.h"
#include "scheduler/object/early.h"
#include "scheduler/state/event.h"
#include "scheduler/state/graph.h"
#include "scheduler/state/notice.h"
#include "scheduler/task/pool.h"
#include "scheduler/run/kept.h"
#include "scheduler/state/program.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/request/stretch.h"
#include "worker/task/native_command.h"
#include "worker/spill/spill.h"

static bool needs_no_notice(const struct task *task)
{
	if (task->role == TASK_ROLE_PREPARE)
		return !task->memory->imported;
	return task->role == TASK_ROLE_MOVE || task->notified;
}

/* A move that brought contents of `writer` home is done. */
static void note_writer_move_done(struct task *writer, const struct task *move)
{
	if (move->cause && !writer->cause) {
		writer->cause = sched_cause_hold(move->cause);
		writer->direct = move->direct;
	}
	writer->returns--;
	if (writer->state == TASK_RETURNING)
		task_finish(writer);
}

void task_finish(struct task *task)
{
	if (task->returns > 0) {
		task->state = TASK_RETURNING;
		task_edges_release(task, true);
		return;
	}
	if (task->command.burst && task->command.burst->read)
		sched_kept_end_read(task);
	task->state = TASK_DONE;
	/* The owner is notified before those of accesses that are refused with this task. */
	const bool is_silent = needs_no_notice(task);
	if (!is_silent)
		sched_notice_queue(task->scheduler, &task->notice, SCHED_NOTICE_TASK, task);
	task_edges_release(task, false);
	/* A move between two devices. */
	if (task->role == TASK_ROLE_MOVE && task->command.destination)
		worker_spill_unhold(task->command.source);
	sched_uses_finish(task);
	if (task->command.kernel)
		sched_kernel_unuse(task);
	if (task_is_stretch(task))
		sched_stretch_unuse(task);
	sched_early_end(task);
	if (task->command.event)
		sched_event_drop(task->command.event);
	if (task->command.native_command)
		worker_native_command_end(&task->command);
	if (task->command.graph)
		sched_graph_end(task);
	task_close(task);
	struct task *writer = task->returning;
	if (writer)
		note_writer_move_done(writer, task);
	if (is_silent)
		task_release(task);
}

void task_release(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	const bool has_failed = task->cause != NULL;
	sched_cause_drop(task->cause);
	task->cause = NULL;
	kernel_output_fini(&task->output);
	if (task->command.burst)
		sched_burst_end(task->command.burst);
	sched_account_settle(task);
	if (sched_kept_take_back(task, has_failed))
		return;
	if (task->command.remembered || sched_kept_has_row(task)) {
		task->message.kind = SCHED_MESSAGE_FORGET;
		sched_device_post(task->device, &task->message);
	} else {
		sched_give_task(scheduler, task);
	}
}
