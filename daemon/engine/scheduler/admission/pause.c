/*
 * Sessions that an operator has paused. Each command of a session passes sched_lane_dispatch, also
 * one that was kept, is a part of a launch or a node of a graph. So that is where they are held
 * back: all that comes later, such as fair queueing, sees no task of a paused session.
 *
 * A move is made for one task, but others may need its contents. It goes on if one of those belongs
 * to another session that is not paused. A move home is never held: the command whose results it
 * takes there has run, and other processes may wait for them.
 */
#include "scheduler/admission/pause.h"

#include "scheduler/admission/account.h"
#include "scheduler/admission/admission.h"
#include "scheduler/admission/flow.h"
#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

static struct sched_pause *pause_of(const struct task *task)
{
	const struct task *payer = task->beneficiary ? task->beneficiary : task;
	return payer->account ? sched_account_pause(payer->account) : NULL;
}

static bool is_paused(const struct task *task)
{
	const struct sched_pause *pause = pause_of(task);
	return pause && pause->is_on;
}

/* True if the contents are for a session that is not paused. Moves may follow each other. */
static bool is_needed_elsewhere(const struct task *move)
{
	if (move->returning)
		return true;
	for (const struct task_edge *edge = move->out; edge; edge = edge->next_out)
		if (edge->data && (!is_paused(edge->to) || (edge->to->role == TASK_ROLE_MOVE &&
							    is_needed_elsewhere(edge->to))))
			return true;
	return false;
}

static void wait_for_resume(struct sched_pause *pause, struct task *task)
{
	task->state = TASK_PARKED;
	task->awaits_resume = true;
	task->lane_previous = pause->last;
	task->lane_next = NULL;
	if (pause->last)
		pause->last->lane_next = task;
	else
		pause->first = task;
	pause->last = task;
}

static void wait_no_more(struct sched_pause *pause, struct task *task)
{
	if (task->lane_previous)
		task->lane_previous->lane_next = task->lane_next;
	else
		pause->first = task->lane_next;
	if (task->lane_next)
		task->lane_next->lane_previous = task->lane_previous;
	else
		pause->last = task->lane_previous;
	task->awaits_resume = false;
	task->state = TASK_PENDING;
	task->due_ns = task->scheduler->now_ns; /* until now it did not wait for its device */
}

bool sched_pause_holds(struct task *task)
{
	struct sched_pause *pause = pause_of(task);
	if (!pause || !pause->is_on || (task->role == TASK_ROLE_MOVE && is_needed_elsewhere(task)))
		return false;
	sched_admission_refuse(task);
	wait_for_resume(pause, task);
	return true;
}

/* The task waits for its session, for room or for its turn no more. It ends if it has failed
 * meanwhile. */
static void consider_again(struct task *task)
{
	sched_admission_refuse(task);
	task->front_only |= task->cause != NULL;
	task_consider(task);
}

void sched_pause_needed(struct task *task)
{
	if (task->role != TASK_ROLE_MOVE)
		return;
	if (task->awaits_resume) {
		wait_no_more(pause_of(task), task);
		consider_again(task);
	} else if (task->state == TASK_PENDING) {
		for (const struct task_edge *edge = task->in; edge; edge = edge->next_in)
			sched_pause_needed(edge->from);
	}
}

void sched_pause_consider_all(struct sched_account *account)
{
	struct sched_pause *pause = sched_account_pause(account);
	while (pause->first) {
		struct task *task = pause->first;
		wait_no_more(pause, task);
		consider_again(task);
	}
}

/* The task was counted as one that is sent, and is counted again when it is. */
static void count_as_not_sent(const struct task *task)
{
	struct scheduler_counters *counters = &task->scheduler->counters;
	const uint32_t launches =
		task->role == TASK_ROLE_GROUP ? command_launch_count(&task->command) : 0;
	if (task->queue_group.in_flight)
		counters->fair_queue_admitted -= launches;
	else
		counters->fair_queue_bypassed -= launches;
}

void sched_flow_consider_parked(struct sched_flow *flow)
{
	struct task *task;
	while (flow->waiting) {
		task = sched_flow_unpark(flow, (uint32_t)__builtin_ctzll(flow->waiting));
		count_as_not_sent(task);
		consider_again(task);
	}
	while ((task = sched_admission_withdraw(flow)))
		consider_again(task);
}

void sched_pause_lost(struct scheduler_device *device)
{
	if (device->scheduler->paused_count == 0)
		return;
	for (struct list *link = device->flows.next; link != &device->flows; link = link->next)
		sched_pause_consider_all(list_entry(link, struct sched_flow, link)->account);
}
