/* Which lane of its device a task goes to, and what happens around its way there and back. */
#include "sched_internal.h"

static void list_append(struct task_list *list, struct task *task)
{
	task->list_next = NULL;
	if (list->last)
		list->last->list_next = task;
	else
		list->first = task;
	list->last = task;
}

static struct task *list_take(struct task_list *list)
{
	struct task *task = list->first;
	list->first = task->list_next;
	if (!list->first)
		list->last = NULL;
	return task;
}

/* The lane of the latest dependency that is its lane's last command: then the lane's own order is the dependency. */
static struct sched_lane *lane_behind(const struct task *task)
{
	struct sched_lane *lane = NULL;
	uint64_t latest = 0;
	for (const struct task_edge *edge = task->in; edge; edge = edge->next_in) {
		const struct task *from = edge->from;
		if (from->state != TASK_SENT || from->number < latest)
			continue;
		struct sched_lane *candidate = &task->device->lanes[from->send.lane];
		if (candidate->last != from)
			continue;
		lane = candidate;
		latest = from->number;
	}
	return lane;
}

static struct sched_lane *lane_most_idle(struct scheduler_device *device)
{
	struct sched_lane *best = &device->lanes[0];
	for (uint32_t i = 1; i < device->lane_count && best->count > 0; i++)
		if (device->lanes[i].count < best->count)
			best = &device->lanes[i];
	return best;
}

static void note_predecessors(struct task *task, uint32_t lane)
{
	struct task_send *send = &task->send;
	for (const struct task_edge *edge = task->in; edge; edge = edge->next_in) {
		const struct task_send *from = &edge->from->send;
		if (from->lane == lane && !edge->data)
			continue;
		send->predecessors[send->predecessor_count++] =
			(struct task_predecessor){.lane = from->lane, .sequence = from->sequence, .data = edge->data};
	}
}

/* Those that only waited for this one to be on its way can go after it, if they are of the same device. */
static void let_followers_go(struct task *task)
{
	for (struct task_edge *edge = task->out; edge; edge = edge->next_out) {
		struct task *to = edge->to;
		if (edge->sent || to->front_only || to->device != task->device || to->state != TASK_PENDING)
			continue;
		edge->sent = true;
		to->unmet--;
		task_consider(to);
	}
}

void sched_lane_dispatch(struct task *task)
{
	struct scheduler_device *device = task->device;
	if (device->lost) {
		task_doom(task, device->lost, true);
		task_consider(task);
		return;
	}
	struct sched_lane *behind = lane_behind(task);
	struct sched_lane *lane = behind ? behind : lane_most_idle(device);
	if (lane->count >= SCHED_LANE_DEPTH) {
		task->state = TASK_PARKED;
		list_append(behind ? &lane->parked : &device->parked, task);
		return;
	}
	task->send.lane = (uint32_t)(lane - device->lanes);
	task->send.sequence = ++lane->sequence;
	note_predecessors(task, task->send.lane);
	if (task->send.flight_session != 0)
		task->send.flight = sched_flight_take(&task->scheduler->flight);
	task->lane_previous = lane->last;
	if (lane->last)
		lane->last->lane_next = task;
	else
		lane->first = task;
	lane->last = task;
	lane->count++;
	device->sent++;
	task->state = TASK_SENT;
	sched_device_post(device, &task->message);
	let_followers_go(task);
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
	lane->count--;
	task->device->sent--;
}

static void unpark(struct task_list *list, uint32_t room)
{
	while (list->first && room > 0) {
		struct task *task = list_take(list);
		task->state = TASK_PENDING;
		if (task->cause)
			task->front_only = true;
		else
			room--;
		task_consider(task);
	}
}

void sched_lane_unpark(struct scheduler_device *device)
{
	uint32_t room = 0;
	for (uint32_t i = 0; i < device->lane_count; i++) {
		struct sched_lane *lane = &device->lanes[i];
		if (lane->parked.first)
			unpark(&lane->parked, SCHED_LANE_DEPTH - lane->count);
		else
			room += SCHED_LANE_DEPTH - lane->count;
	}
	unpark(&device->parked, room);
}

bool sched_lane_stalled(const struct scheduler_device *device)
{
	if (device->sent > 0)
		return false;
	for (uint32_t i = 0; i < device->lane_count; i++)
		if (device->lanes[i].parked.first)
			return true;
	return device->parked.first != NULL;
}

static void account(struct task *task)
{
	const struct task_send *send = &task->send;
	struct task *payer = task->beneficiary ? task->beneficiary : task;
	struct scheduler_counters *counters = &task->scheduler->counters;
	/* An instant in which several commands ran counts once: for the one that came back first. */
	uint64_t start = send->start_ns > task->device->accounted_ns ? send->start_ns : task->device->accounted_ns;
	if (send->end_ns > start) {
		payer->device_ns += send->end_ns - start;
		task->device->accounted_ns = send->end_ns;
	}
	if (send->cause || send->skipped)
		return;
	uint64_t bytes = send->command.transfer.size_bytes;
	if (send->command.kind == BACKEND_COMMAND_WRITE) {
		payer->bytes_to_device += bytes;
		counters->moved_bytes_to_device += bytes;
	} else if (send->command.kind == BACKEND_COMMAND_READ) {
		payer->bytes_to_host += bytes;
		counters->moved_bytes_to_host += bytes;
	}
}

void sched_lane_return(struct task *task)
{
	struct scheduler_device *device = task->device;
	struct sched_lane *lane = &device->lanes[task->send.lane];
	leave_lane(lane, task);
	if (task->send.flight != SCHED_NO_FLIGHT)
		sched_flight_give(&task->scheduler->flight, task->send.flight);
	account(task);
	struct sched_cause *cause = task->send.cause;
	if (cause) {
		if (cause->fault.device_lost && !device->lost)
			device->lost = sched_cause_hold(cause);
		task_doom(task, cause, true);
		sched_cause_drop(cause);
		task->send.cause = NULL;
	}
	task->state = TASK_PENDING;
	task->front_only = true;
	task_consider(task);
}
