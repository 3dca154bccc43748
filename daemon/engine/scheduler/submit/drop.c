/*
 * The tasks of a session that has ended. Commands on a device end there, because no device gives a
 * command back. The other tasks fail here, each in its turn: other tasks rely on their places in
 * the order, and get a failed predecessor as always.
 *
 * Commands on their way to a device, or set aside because there is no room, belong to its thread.
 * It skips those that are marked before they begin; the others come back as always.
 *
 * A move was made for one task, but another session may need its contents by now. So a move is
 * dropped only if no remaining task needs it. A move that brings a dropped task's writes home fails
 * with it.
 */
#include "base/cause.h"
#include "base/mailbox.h"
#include "scheduler/admission/account.h"
#include "scheduler/admission/admission.h"
#include "scheduler/state/buffer.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/state/device.h"
#include "scheduler/admission/flow.h"
#include "scheduler/admission/pause.h"
#include "scheduler/public/account.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

struct dropping {
	struct sched_account *account;
	enum scheduler_drop what;
	struct sched_cause *cause;
};

static struct sched_account *task_paying_account(const struct task *task)
{
	return task->beneficiary ? task->beneficiary->account : task->account;
}

/* ---------------------------------------- which ----------------------------------------- */

/* True for a task that may be dropped. False if it has run and waits for predecessors, or waits for
 * its callback. */
static bool task_has_not_run(const struct task *task)
{
	if (task->state == TASK_PENDING)
		return !task->front_only || !task->flow;
	return task->state == TASK_PARKED ||
	       (task->state == TASK_SENT && task->role == TASK_ROLE_GROUP);
}

/* True if another session or process can observe whether the task has run. */
static bool task_is_observable(const struct task *task)
{
	if (task->command.backend.kind == BACKEND_COMMAND_EVENT_RECORD)
		return true;
	for (uint32_t i = 0; i < task->use_count; i++)
		if (task->uses[i].kind == TASK_USE_WRITE && task->uses[i].buffer->contents->home)
			return true;
	return false;
}

/*
 * True if a remaining task comes behind this one. Of other sessions only tasks that need its
 * contents count. Of its own session all count: USM orders nothing, so the scheduler does not know
 * what one task leaves there for the next.
 */
static bool task_is_awaited_by_others(const struct task *task, const struct dropping *dropping)
{
	for (const struct task_edge *edge = task->out; edge; edge = edge->next_out) {
		const struct task *to = edge->to;
		bool is_own = task_paying_account(to) == dropping->account &&
			      to->role != TASK_ROLE_HOST_ACCESS;
		if (!task_is_dropped(to) && (edge->data || is_own))
			return true;
	}
	return false;
}

static bool task_is_needed_by_others(const struct task *task)
{
	for (const struct task_edge *edge = task->out; edge; edge = edge->next_out)
		if (edge->data && !task_is_dropped(edge->to))
			return true;
	return false;
}

static bool task_is_to_be_dropped(const struct task *task, const struct dropping *dropping)
{
	if (task_paying_account(task) != dropping->account || task_is_dropped(task) ||
	    !task_has_not_run(task))
		return false;
	if (task->role == TASK_ROLE_MOVE)
		return task_is_dropped(task->beneficiary) && !task->returning &&
		       !task_is_needed_by_others(task);
	if (task->role != TASK_ROLE_GROUP)
		return false;
	return dropping->what == SCHEDULER_DROP_ALL ||
	       !(task_is_observable(task) || task_is_awaited_by_others(task, dropping));
}

/* ----------------------------------------- how ------------------------------------------ */

static void drop_task(struct task *task, struct sched_cause *cause)
{
	atomic_store_explicit(&task->is_dropped, true, memory_order_relaxed);
	if (task->state == TASK_SENT)
		return;
	if (task->role == TASK_ROLE_MOVE)
		sched_move_forget(&task->uses[0], cause);
	task_doom(task, cause, true);
	task_consider(task);
}

/* Begins with the last task, so that a task's followers were decided on before the task. */
static uint32_t drop_tasks(struct scheduler *scheduler, const struct dropping *dropping)
{
	uint32_t count = 0;
	for (struct task *task = scheduler->open_last; task; task = task->open_previous) {
		if (!task_is_to_be_dropped(task, dropping))
			continue;
		drop_task(task, dropping->cause);
		count++;
	}
	return count;
}

static void flow_requeue_all(struct sched_flow *flow)
{
	sched_flow_consider_parked(flow);
	if (flow->sent == 0)
		return;
	/* Some may be set aside, and would only be checked after another event. */
	atomic_store(&flow->device->has_dropped, 1);
	(void)sched_sleeper_wake(&flow->device->port.sleeper);
}

uint32_t scheduler_drop(struct scheduler *scheduler, struct sched_account *account,
			enum scheduler_drop what, const struct backend_fault *fault)
{
	struct sched_cause **ended = sched_account_ended(account);
	if (!*ended)
		*ended = sched_cause_create(fault);
	const struct dropping dropping = {account, what, *ended};
	uint32_t count = drop_tasks(scheduler, &dropping);
	if (count > 0)
		sched_pause_consider_all(account);
	for (struct sched_flow *flow = count > 0 ? *sched_account_flows(account) : NULL; flow;
	     flow = flow->next)
		if (flow->device)
			flow_requeue_all(flow);
	scheduler_run(scheduler);
	return count;
}
