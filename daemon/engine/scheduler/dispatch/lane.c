/* A task's way to a lane and back: sent, parked until there is room, returned. */
#include "scheduler/dispatch/lane.h"

#include "base/cause.h"
#include "base/intrusive_list.h"
#include "base/lane_limits.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/admission/account.h"
#include "scheduler/admission/admission.h"
#include "scheduler/task/burst.h"
#include "scheduler/state/device.h"
#include "scheduler/object/early.h"
#include "scheduler/admission/flow.h"
#include "scheduler/admission/pause.h"
#include "scheduler/state/graph.h"
#include "scheduler/device/inline.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/admission/split.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "scheduler/dispatch/choose.h"
#include "scheduler/dispatch/print.h"
#include "scheduler/dispatch/trace.h"
#include "scheduler/admission/use.h"
#include "worker/task/burst.h"
#include "worker/device/flight.h"

#include "stage_clock.h"

#define PREFETCHED_USES 8u

/* The launches of a stretch that the follower needs; it may need only some. */
static uint16_t edge_needed_launches(const struct task_edge *edge)
{
	return task_is_stretch(edge->from) && !(edge->launches & SCHED_LAUNCHES_ALL)
		       ? (uint16_t)edge->launches
		       : 0;
}

static void note_predecessors(struct task *task, uint32_t lane)
{
	struct task_command *command = &task->command;
	for (const struct task_edge *edge = task->in; edge; edge = edge->next_in) {
		const struct task_command *from = &edge->from->command;
		if (from->lane == lane && !edge->data)
			continue;
		command->predecessors[command->predecessor_count++] =
			(struct task_predecessor){.lane = from->lane,
						  .sequence = from->sequence,
						  .data = edge->data,
						  .launches = edge_needed_launches(edge)};
	}
}

/*
 * Followers on the same device may be sent now, if this task is all that they waited for. Followers
 * of a host task may not.
 */
static void allow_followers(struct task *task)
{
	if (task->held_by_host)
		return;
	for (struct task_edge *edge = task->out; edge; edge = edge->next_out) {
		struct task *to = edge->to;
		bool awaits_some = edge->launches & ~SCHED_LAUNCHES_ALL && !task_is_stretch(task);
		if (edge->sent || awaits_some || to->front_only || to->device != task->device ||
		    to->state != TASK_PENDING || sched_lane_waits(to))
			continue;
		edge->sent = true;
		to->unmet--;
		task_consider(to);
	}
}

/* The device is lost: the task fails before it was sent. */
static bool task_fail_if_device_lost(struct task *task)
{
	struct sched_cause *lost = task->device->lost;
	if (!lost)
		return false;
	sched_admission_refuse(task);
	task_doom(task, lost, true);
	task->front_only =
		true; /* also if the task was doomed while it waited here or in the fair queue */
	task_consider(task);
	return true;
}

/*
 * The program may let a launch begin before the one in front of it has ended. That one must be on
 * this lane, be a predecessor and belong to the same session: no other session's kernel gets
 * unexpected company.
 */
static void settle_early_launch(struct task *task, const struct sched_lane *lane)
{
	if (task->command.backend.kind != BACKEND_COMMAND_LAUNCH ||
	    !task->command.backend.launch.properties)
		return;
	/* The properties are in the task's own storage. */
	struct backend_launch_properties *properties =
		(struct backend_launch_properties *)task->command.backend.launch.properties;
	const struct task *before = lane->last;
	properties->early_after = 0;
	if (!properties->early || !before || before->flow != task->flow ||
	    before->command.backend.kind != BACKEND_COMMAND_LAUNCH)
		return;
	for (const struct task_edge *edge = task->in; edge; edge = edge->next_in)
		if (edge->from == before)
			properties->early_after = before->command.sequence;
}

static void send_to_lane(struct task *task, struct sched_lane *lane)
{
	struct scheduler_device *device = task->device;
	task->command.lane = (uint32_t)(lane - device->lanes);
	uint32_t launches = command_launch_count(&task->command);
	lane->sequence += launches;
	task->command.sequence = lane->sequence;
	note_predecessors(task, task->command.lane);
	settle_early_launch(task, lane);
	sched_print_begin(task);
	if (task->command.flight_session != 0)
		task->command.flight = worker_flight_take(&task->scheduler->flight);
	task->lane_previous = lane->last;
	task->lane_next = NULL; /* the lane has moved on since the previous part */
	if (lane->last)
		lane->last->lane_next = task;
	else
		lane->first = task;
	lane->last = task;
	if (lane->count == 0)
		lane->moved = device->returned;
	lane->count += launches;
	device->sent += launches;
	sched_flow_sent(task);
	sched_admission_sent(task);
	if (__builtin_expect(task->scheduler->trace != NULL, 0))
		sched_trace_send(task);
	if (task->command.graph) {
		task->command.graph->graph->sent++;
		task->command.graph->graph->sent_lane = task->command.lane;
	}
	task->state = TASK_SENT;
	STAGE_MARK_ALL(task->command.flight_group, launches, STAGE_ORDERED);
	sched_send(task);
	if (task_is_on_lane(task))
		allow_followers(task);
}

static void send_or_park(struct task *task)
{
	bool fixed;
	struct sched_lane *lane = sched_lane_choose(task, &fixed);
	uint32_t index = (uint32_t)(lane - task->device->lanes);
	if (sched_flow_allows(task, index) && sched_print_allows(task))
		send_to_lane(task, lane);
	else if (fixed)
		sched_flow_park(task, index);
	else
		sched_flow_park(task, SCHED_FLOW_ANY_LANE +
					      sched_lanes_of(task->device, task->flow->class));
}

void sched_lane_dispatch(struct task *task)
{
	if (task_fail_if_device_lost(task))
		return;
	sched_flow_enter(task);
	if (__builtin_expect(task->scheduler->paused_count > 0, 0) && sched_pause_holds(task))
		return;
	if (!task->queue_group.in_flight)
		sched_split_next(task);
	if (!task->queue_group.in_flight && sched_flow_is_alone(task->flow) &&
	    !sched_flow_is_ahead(task->flow))
		task->scheduler->counters.fair_queue_bypassed +=
			task->role == TASK_ROLE_GROUP ? command_launch_count(&task->command) : 0;
	else if (!sched_admission_pass(task))
		return;
	send_or_park(task);
}

static void leave_lane(struct sched_lane *lane, struct task *task)
{
	if (task->lane_previous)
		task->lane_previous->lane_next = task->lane_next;
	else
		lane->first = task->lane_next;
	if (task->lane_next)
		task->lane_next->lane_previous = task->lane_previous;
	else
		lane->last = task->lane_previous;
	lane->count -= command_launch_count(&task->command);
	task->device->sent -= command_launch_count(&task->command);
	task->device->returned += command_launch_count(&task->command);
	lane->moved = task->device->returned;
	lane->moved_ns = task->scheduler->now_ns;
	sched_flow_back(task);
}

/* A bit for each list that may find room. So a thousand sessions that wait for full lanes are not
 * visited one by one. */
static uint64_t lists_with_room(const struct scheduler_device *device)
{
	uint64_t lists = 0;
	for (uint32_t i = 0; i < device->lane_end; i++)
		if (!sched_lane_is_full(&device->lanes[i]))
			lists |= 1ull << i;
	const uint64_t others = lists & ((1ull << device->lane_count) - 1),
		       latency = lists >> device->latency_first &
				 ((1ull << device->latency_count) - 1),
		       beside =
			       lists >> device->beside_first & ((1ull << device->beside_count) - 1);
	if (others)
		lists |= 1ull << (SCHED_FLOW_ANY_LANE + SCHED_LANES_OTHERS);
	if (latency)
		lists |= 1ull << (SCHED_FLOW_ANY_LANE + SCHED_LANES_OF_LATENCY);
	if (beside)
		lists |= 1ull << (SCHED_FLOW_ANY_LANE + SCHED_LANES_OF_BESIDE);
	return lists;
}

/* The task has failed before it was sent. */
static bool task_end_if_failed(struct task *task)
{
	if (task_fail_if_device_lost(task))
		return true;
	if (!task->cause)
		return false;
	sched_admission_refuse(task);
	task->front_only = true;
	task_consider(task);
	return true;
}

/* Sends or ends the first task of a list. False: there is no room for it. `room`: as above, of all
 * lists. */
static bool unpark_first(struct sched_flow *flow, uint32_t index, uint64_t *room)
{
	struct scheduler_device *device = flow->device;
	struct sched_lane *lane =
		index < SCHED_LANES_ALL
			? &device->lanes[index]
			: sched_lane_most_idle(device,
					       (enum sched_lanes)(index - SCHED_FLOW_ANY_LANE));
	const struct task *first = flow->lanes[index].parked.first;
	if (!sched_flow_allows(first, (uint32_t)(lane - device->lanes)) ||
	    !sched_print_allows(first))
		return false;
	struct task *task = sched_flow_unpark(flow, index);
	if (task_end_if_failed(task))
		return true;
	send_to_lane(task, lane);
	if (sched_lane_is_full(lane))
		*room = lists_with_room(device);
	return true;
}

/*
 * Parked tasks wait for nothing but room, so any order will do: a task that must come behind one is
 * not parked.
 */
void sched_flow_reassign_lanes(struct sched_flow *flow)
{
	struct task_list all = {NULL, NULL};
	while (flow->waiting) {
		struct task *task =
			sched_flow_unpark(flow, (uint32_t)__builtin_ctzll(flow->waiting));
		task->list_next = NULL;
		if (all.last)
			all.last->list_next = task;
		else
			all.first = task;
		all.last = task;
	}
	while (all.first) {
		struct task *task = all.first;
		all.first = task->list_next;
		if (!task_end_if_failed(task))
			send_or_park(task);
	}
}

/* Sends one task of each list of the flow. Then other flows have their turn. */
static bool serve_flow(struct sched_flow *flow, uint64_t *room)
{
	struct scheduler_device *device = flow->device;
	bool served = false;
	for (uint64_t lists = flow->waiting & *room; lists; lists &= lists - 1)
		served |= unpark_first(flow, (uint32_t)__builtin_ctzll(lists), room);
	if (served && flow->waiting) {
		list_remove(&flow->turn);
		list_push_back(&device->line, &flow->turn);
	}
	return served;
}

void sched_lane_unpark(struct scheduler_device *device)
{
	bool served = true;
	/* Usually nothing is parked; then the room of lanes does not matter. */
	if (list_empty(&device->line))
		return;
	uint64_t room = lists_with_room(device);
	while (served && room && !list_empty(&device->line)) {
		const struct list *last = device->line.previous;
		struct list *link, *next = device->line.next;
		served = false;
		do {
			link = next;
			next = link->next;
			served |= serve_flow(list_entry(link, struct sched_flow, turn), &room);
		} while (link != last && room);
	}
}

bool sched_lane_stalled(const struct scheduler_device *device)
{
	return device->sent == 0 && !list_empty(&device->line) && !device->scheduler->printer;
}

static void account_for_command(struct task *task)
{
	const struct task_command *command = &task->command;
	struct task *payer = task->beneficiary ? task->beneficiary : task;
	struct scheduler_counters *counters = &task->scheduler->counters;
	/*
	 * A moment in which several commands ran counts once, for the command that came back first.
	 */
	uint64_t start = command->start_ns > task->device->accounted_ns
				 ? command->start_ns
				 : task->device->accounted_ns;
	uint64_t device_ns = command->end_ns > start ? command->end_ns - start : 0;
	if (device_ns > 0) {
		payer->device_ns += device_ns;
		task->device->busy_ns += device_ns;
		task->device->accounted_ns = command->end_ns;
	}
	sched_use_back(task, device_ns);
	if (command->cause || command->skipped)
		return;
	if (command->backend.kind == BACKEND_COMMAND_WRITE) {
		payer->bytes_to_device += command->backend.transfer.size_bytes;
		counters->moved_bytes_to_device += command->backend.transfer.size_bytes;
	} else if (command->backend.kind == BACKEND_COMMAND_READ) {
		payer->bytes_to_host += command->backend.transfer.size_bytes;
		counters->moved_bytes_to_host += command->backend.transfer.size_bytes;
	} else if (command->backend.kind == BACKEND_COMMAND_COPY_PEER) {
		counters->moved_bytes_between_devices += command->backend.copy.size_bytes;
	}
}

/*
 * Loads the task's buffers into the cache. They are visited after all returned messages were taken.
 */
static void prefetch_uses(const struct task *task)
{
	for (uint32_t i = 0; i < task->use_count && i < PREFETCHED_USES; i++) {
		const char *at = (const char *)task->uses[i].buffer;
		for (size_t line = 0; line < 4; line++)
			__builtin_prefetch(at + line * 64, 1);
	}
}

/* The task is back from its lane. It fails if it was dropped and either was skipped or has more
 * parts. */
static void task_fail_if_dropped(struct task *task)
{
	if (task_is_dropped(task) && (task->command.skipped || task->split.more) && !task->cause)
		task_doom(task, *sched_account_ended(task->account), true);
}

void sched_lane_return(void *object)
{
	struct task *task = object;
	struct scheduler_device *device = task->device;
	struct sched_lane *lane = &device->lanes[task->command.lane];
	prefetch_uses(task);
	leave_lane(lane, task);
	sched_print_end(task);
	if (task->command.graph)
		task->command.graph->graph->sent--;
	if (task->command.flight != SCHED_NO_FLIGHT)
		worker_flight_give(&task->scheduler->flight, task->command.flight);
	account_for_command(task);
	sched_admission_back(task);
	struct sched_cause *cause = task->command.cause;
	if (!cause && task->command.burst && worker_burst_cause(task->command.burst))
		cause = task->command.cause =
			sched_cause_hold(worker_burst_cause(task->command.burst));
	if (cause) {
		sched_loss_found(device, &cause->fault);
		task_doom(task, cause, true);
		sched_cause_drop(cause);
		task->command.cause = NULL;
	} else if (!task->command.skipped) {
		sched_inline_update(task);
		sched_burst_update(task);
	}
	if (task->held_by_host)
		sched_early_returned(task);
	task_fail_if_dropped(task);
	if (sched_split_goes_on(task)) {
		task->state = TASK_PENDING;
	} else {
		task->state = TASK_RETURNED;
		task->front_only = true;
		if (__builtin_expect(task->scheduler->trace != NULL, 0))
			sched_trace_note(task);
	}
	task_consider(task);
}
