/*
 * The flows of a device: the commands that each session has in flight there, how many more it may
 * send, and its parked tasks. A session that is alone fills its lanes. Under contention it may have
 * SCHED_FLOW_WINDOW commands in flight. So the next command of another session has no more than one
 * window of each neighbour in front. The rest is parked here, and sessions that wait for room in
 * one lane get it in turn. A device whose lanes run side by side has no windows, and deeper lanes.
 *
 * On each lane a flow may have SCHED_FLOW_LANE_LEAST commands in any case. A lane that stands
 * still, with a long kernel or a wait for an event, must not keep its session from its other lanes.
 */
#include "scheduler/admission/flow.h"

#include "base/intrusive_list.h"
#include "base/lane_limits.h"
#include "base/contention.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/admission/account.h"
#include "scheduler/admission/admission.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "scheduler/admission/use.h"

#include <stdlib.h>

static_assert(SCHED_FLOW_LISTS <= 64, "a bit each");

void sched_flow_init(struct scheduler_device *device)
{
	list_init(&device->flows);
	list_init(&device->line);
	list_init(&device->unowned_flow.turn);
	device->unowned_flow.device = device;
	device->unowned_flow.class = FAIR_QUEUE_NORMAL;
}

/* Accounts may outlive the device. */
void sched_flow_fini(struct scheduler_device *device)
{
	while (!list_empty(&device->flows)) {
		struct sched_flow *flow = list_entry(device->flows.next, struct sched_flow, link);
		sched_admission_flow_gone(flow);
		list_remove(&flow->link);
		flow->device = NULL;
	}
}

struct sched_flow *sched_flow_free_all(struct sched_flow *flow)
{
	while (flow) {
		struct sched_flow *next = flow->next;
		if (flow->device)
			sched_admission_flow_gone(flow);
		list_remove(&flow->link);
		free(flow);
		flow = next;
	}
	return NULL;
}

static struct sched_flow *make_flow(struct scheduler_device *device, struct sched_account *account,
				    struct sched_flow **list)
{
	struct sched_flow *flow = *list;
	/* Reuses the flow of a device that was closed, if there is one. */
	while (flow && flow->device)
		flow = flow->next;
	struct sched_flow *next = flow ? flow->next : *list;
	if (!flow) {
		flow = malloc(sizeof(*flow));
		if (!flow)
			return NULL;
		*list = flow;
	}
	*flow = (struct sched_flow){.next = next, .device = device, .account = account};
	list_init(&flow->turn);
	list_push_back(&device->flows, &flow->link);
	sched_admission_flow_made(flow);
	return flow;
}

/* Tasks without an account, or without memory for a flow, use the unowned flow, which is not
 * limited. */
struct sched_flow *sched_flow_of(struct scheduler_device *device, struct sched_account *account)
{
	struct sched_flow **list = account ? sched_account_flows(account) : NULL;
	struct sched_flow *flow = list ? *list : NULL;
	while (flow && flow->device != device)
		flow = flow->next;
	if (!flow && list)
		flow = make_flow(device, account, list);
	return flow ? flow : &device->unowned_flow;
}

void sched_flow_enter(struct task *task)
{
	/* A move counts for the flow of its beneficiary, which stays open as long as the move. */
	const struct task *payer = task->beneficiary ? task->beneficiary : task;
	if (!task->flow) {
		task->flow = sched_flow_of(task->device, payer->account);
		task->due_ns = task->scheduler->now_ns;
	}
	contention_note(&task->device->contention, task->flow, task->scheduler->now_ns);
}

/* True if another flow has commands on the device, waits for room there, or has used it lately. */
static bool has_contention(const struct sched_flow *flow)
{
	const struct scheduler_device *device = flow->device;
	if (!device->scheduler->has_windows || (device->features & BACKEND_FEATURE_SIDE_BY_SIDE))
		return false;
	const struct list *line = &device->line;
	bool others_wait =
		!list_empty(line) && (line->next != &flow->turn || line->previous != &flow->turn);
	return device->sent != flow->sent || others_wait ||
	       contention_has_others(&device->contention, flow, device->scheduler->now_ns);
}

bool sched_flow_allows(const struct task *task, uint32_t lane)
{
	const struct sched_flow *flow = task->flow;
	if (sched_lane_is_full(&flow->device->lanes[lane]))
		return false;
	return flow->sent < SCHED_FLOW_WINDOW || flow->lanes[lane].sent < SCHED_FLOW_LANE_LEAST ||
	       task->queue_group.in_flight || flow == &flow->device->unowned_flow ||
	       !has_contention(flow);
}

void sched_flow_sent(struct task *task)
{
	struct sched_flow *flow = task->flow;
	uint32_t launches = command_launch_count(&task->command);
	flow->sent += launches;
	flow->lanes[task->command.lane].sent += launches;
	sched_use_sent(task);
	task->sent_ns = task->scheduler->now_ns;
	sched_account_sent_more(flow->account);
}

/*
 * On a device whose lanes run side by side, a full lane becomes deeper while its commands come back
 * soon: SCHED_LANE_DEPTH of them would not keep the device busy. The depth changes by one for each
 * command that comes back. So it needs about the time of a full lane to double, or to halve.
 */
static void adapt_lane_depth(struct scheduler_device *device, struct sched_lane *lane,
			     uint32_t launches, uint64_t took_ns)
{
	uint32_t most = device->features & BACKEND_FEATURE_SIDE_BY_SIDE
				? SCHED_LANE_DEPTH_MOST - SCHED_LANE_DEPTH
				: 0;
	if (took_ns > SCHED_LANE_DELAY_NS) {
		uint32_t less = lane->deeper < launches ? lane->deeper : launches;
		lane->deeper -= less;
		device->deeper -= less;
	} else if (lane->count + launches >= SCHED_LANE_DEPTH + lane->deeper &&
		   lane->deeper < most) {
		uint32_t more = most - lane->deeper < launches ? most - lane->deeper : launches;
		if (more > SCHED_DEEPER_MOST - device->deeper)
			more = SCHED_DEEPER_MOST - device->deeper;
		lane->deeper += more;
		device->deeper += more;
	}
}

/* The mean moves by an eighth. */
static void update_command_time(struct sched_flow *flow, const struct task_command *command,
				uint32_t launches)
{
	if (command->end_ns <= command->start_ns)
		return;
	uint64_t took_ns = command->end_ns - command->start_ns;
	if (launches > 1)
		took_ns /= launches;
	flow->each_ns =
		flow->each_ns == 0 ? took_ns : flow->each_ns - flow->each_ns / 8 + took_ns / 8;
}

void sched_flow_back(struct task *task)
{
	struct sched_flow *flow = task->flow;
	uint32_t launches = command_launch_count(&task->command);
	update_command_time(flow, &task->command, launches);
	flow->sent -= launches;
	flow->lanes[task->command.lane].sent -= launches;
	adapt_lane_depth(task->device, &task->device->lanes[task->command.lane], launches,
			 task->scheduler->now_ns - task->sent_ns);
	sched_account_sent_less(flow->account);
}

void sched_flow_park(struct task *task, uint32_t lane)
{
	struct sched_flow *flow = task->flow;
	struct task_list *list = &flow->lanes[lane].parked;
	task->state = TASK_PARKED;
	task->list_next = NULL;
	if (list->last)
		list->last->list_next = task;
	else
		list->first = task;
	list->last = task;
	flow->waiting |= 1ull << lane;
	if (list_empty(&flow->turn))
		list_push_back(&flow->device->line, &flow->turn);
}

struct task *sched_flow_unpark(struct sched_flow *flow, uint32_t lane)
{
	struct task_list *list = &flow->lanes[lane].parked;
	struct task *task = list->first;
	list->first = task->list_next;
	if (!list->first) {
		list->last = NULL;
		flow->waiting &= ~(1ull << lane);
	}
	if (flow->waiting == 0)
		list_remove(&flow->turn);
	task->state = TASK_PENDING;
	return task;
}
