/* Chooses the lane of a task on its device. */
#include "scheduler/dispatch/choose.h"

#include "fair_queue/fair_queue.h"
#include "scheduler/state/device.h"
#include "scheduler/state/graph.h"
#include "scheduler/state/program.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

/* The longest that a small move may wait behind kernels of which it is independent. */
#define SHORT_REST_NS 20000u

/* Lanes for computing, which some classes have for themselves. */
struct lane_group {
	struct sched_lane *first;
	uint32_t count;
};

static struct lane_group lane_group_of(struct scheduler_device *device, enum sched_lanes lanes)
{
	switch (lanes) {
	case SCHED_LANES_OF_LATENCY:
		return (struct lane_group){&device->lanes[device->latency_first],
					   device->latency_count};
	case SCHED_LANES_OF_BESIDE:
		return (struct lane_group){&device->lanes[device->beside_first],
					   device->beside_count};
	default:
		return (struct lane_group){device->lanes, device->lane_count};
	}
}

static struct lane_group own_lane_group(const struct task *task)
{
	return lane_group_of(task->device, sched_lanes_of(task->device, task->flow->class));
}

static bool is_lane_of_group(const struct lane_group *group, const struct sched_lane *lane)
{
	return lane >= group->first && lane < group->first + group->count;
}

/* The lane of the latest dependency that is its lane's last command: then the lane's own order is
 * the dependency. */
static struct sched_lane *lane_of_predecessor(const struct task *task)
{
	const struct lane_group group = own_lane_group(task);
	struct sched_lane *lane = NULL;
	uint64_t latest = 0;
	for (const struct task_edge *edge = task->in; edge; edge = edge->next_in) {
		const struct task *from = edge->from;
		if (from->state != TASK_SENT || from->number < latest)
			continue;
		struct sched_lane *candidate = &task->device->lanes[from->command.lane];
		if (candidate->last != from || !is_lane_of_group(&group, candidate))
			continue;
		lane = candidate;
		latest = from->number;
	}
	return lane;
}

/* Estimates the wait in a lane by the commands in front. The more other commands have returned
 * meanwhile, the longer is the likely wait. */
static uint64_t lane_load(const struct scheduler_device *device, const struct sched_lane *lane)
{
	return lane->count == 0 ? 0 : lane->count + device->returned - lane->moved;
}

static struct sched_lane *lane_most_idle(const struct scheduler_device *device,
					 struct lane_group group)
{
	struct sched_lane *best = group.first;
	for (uint32_t i = 1; i < group.count && best->count > 0; i++)
		if (lane_load(device, &group.first[i]) < lane_load(device, best))
			best = &group.first[i];
	return best;
}

struct sched_lane *sched_lane_most_idle(struct scheduler_device *device, enum sched_lanes lanes)
{
	return lane_most_idle(device, lane_group_of(device, lanes));
}

static bool has_predecessor_at(const struct task *task, const struct sched_lane *lane)
{
	for (const struct task_edge *edge = task->in; edge; edge = edge->next_in)
		if (edge->from->state == TASK_SENT &&
		    &task->device->lanes[edge->from->command.lane] == lane)
			return true;
	return false;
}

/*
 * The home lane, if it is idle or holds a predecessor: then the lane keeps the queue's order. If
 * other queues' commands are there, which may never end (F8): the lane of the latest predecessor,
 * or the lane with the least in front. Each class has its own lanes; a lane that was given out as a
 * native handle is the only choice.
 */
static struct sched_lane *lane_at_home(const struct task *task)
{
	struct scheduler_device *device = task->device;
	const struct lane_group group = own_lane_group(task);
	if (task->home_is_fixed)
		return &device->lanes[task->home_lane - 1];
	struct sched_lane *home = &group.first[(task->home_lane - 1) % group.count];
	if (home->count == 0 || has_predecessor_at(task, home))
		return home;
	struct sched_lane *other = lane_of_predecessor(task);
	if (other)
		return other;
	other = lane_most_idle(device, group);
	return lane_load(device, other) < lane_load(device, home) ? other : home;
}

/* Transfers that no queue has a lane for run beside the kernels, each way on its own. NULL: there
 * is none. */
static struct sched_lane *lane_for_copies(const struct task *task)
{
	struct scheduler_device *device = task->device;
	if (device->latency_first == device->lane_count)
		return NULL;
	switch (task->command.backend.kind) {
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_COPY_PEER:
		return &device->lanes[device->lane_count];
	case BACKEND_COMMAND_READ:
		return &device->lanes[device->lane_count + 1];
	default:
		return NULL;
	}
}

/* The latest predecessor that was sent to a lane of the group, or NULL. */
static const struct task *predecessor_in_group(const struct task *task,
					       const struct lane_group *group)
{
	const struct task *found = NULL;
	for (const struct task_edge *edge = task->in; edge; edge = edge->next_in) {
		const struct task *from = edge->from;
		if (from->state == TASK_SENT && (!found || from->number > found->number) &&
		    is_lane_of_group(group, &task->device->lanes[from->command.lane]))
			found = from;
	}
	return found;
}

/* True if the command, which was sent, waits for another lane of its device. */
static bool command_waits_for_other_lane(const struct task *task)
{
	for (uint32_t i = 0; i < task->command.predecessor_count; i++) {
		const struct task_predecessor *from = &task->command.predecessors[i];
		const struct task *first = task->device->lanes[from->lane].first;
		if (from->lane != task->command.lane && first &&
		    first->command.sequence <= from->sequence)
			return true;
	}
	return false;
}

/*
 * True if the commands behind `from` on its lane take a short time, judged by their latest times.
 * They must belong to the session of `task`, since commands of other sessions may not hold it back
 * (F8). A command that waits for another lane may take any time, so it is not short. A kernel that
 * takes longer than usual holds the task back once, as in a burst (B18).
 */
static bool lane_rest_is_short(const struct task *task, const struct task *from)
{
	uint64_t rest_ns = 0;
	for (const struct task *next = from->lane_next; next; next = next->lane_next) {
		const struct task_command *command = &next->command;
		if (next->flow != task->flow || command->burst ||
		    command->backend.kind != BACKEND_COMMAND_LAUNCH ||
		    command->kernel->period_ns == 0 || command_waits_for_other_lane(next))
			return false;
		rest_ns += command->kernel->period_ns;
		if (rest_ns > SHORT_REST_NS)
			return false;
	}
	return true;
}

/*
 * Chooses the lane of a small move. It is the lane of the move's predecessor if little is behind
 * that, because a wait for another lane costs the device more. Otherwise it is the lane that the
 * move's task will have, or an idle lane. Without an idle lane the move goes to its predecessor's
 * lane all the same, as a launch would. A move without a predecessor is not put behind commands of
 * other sessions, which may never end (F8). A lane for copies waits for no kernel.
 */
static struct sched_lane *lane_for_small_move(const struct task *task)
{
	struct scheduler_device *device = task->device;
	const struct lane_group group = own_lane_group(task);
	const struct task *user = task->beneficiary, *from = predecessor_in_group(task, &group);
	struct sched_lane *lane = lane_of_predecessor(task);
	if (lane)
		return lane;
	if (from && lane_rest_is_short(task, from))
		return &device->lanes[from->command.lane];
	if (user && user->device == device && user->home_lane > 0 &&
	    user->home_lane <= device->lane_count)
		lane = &group.first[(user->home_lane - 1) % group.count];
	if (!lane || lane->count > 0)
		lane = lane_most_idle(device, group);
	if (lane->count == 0)
		return lane;
	return from ? &device->lanes[from->command.lane] : lane_for_copies(task);
}

/* The lane that a test requests. */
static struct sched_lane *lane_forced_by_test(struct scheduler_device *device)
{
	struct scheduler *scheduler = device->scheduler;
	if (scheduler->lane_choice == SCHEDULER_LANES_SAME)
		return &device->lanes[0];
	if (scheduler->lane_choice == SCHEDULER_LANES_DIFFERENT)
		return &device->lanes[device->next_home++ % device->lane_count];
	scheduler->lane_random ^= scheduler->lane_random << 13;
	scheduler->lane_random ^= scheduler->lane_random >> 7;
	scheduler->lane_random ^= scheduler->lane_random << 17;
	return &device->lanes[(scheduler->lane_random >> 33) % device->lane_count];
}

struct sched_lane *sched_lane_choose(struct task *task, bool *fixed_out)
{
	struct scheduler_device *device = task->device;
	*fixed_out = true;
	if (task->home_lane > device->all_lane_count && task->home_lane <= device->lane_end &&
	    device->lanes[task->home_lane - 1].is_native)
		return &device->lanes[task->home_lane - 1];
	/* All launches of one graph that are in flight are on one lane. */
	if (task->command.graph && task->command.graph->graph->sent > 0)
		return &device->lanes[task->command.graph->graph->sent_lane];
	if (device->scheduler->lane_choice != SCHEDULER_LANES_BEST)
		return task->forced_lane ? task->forced_lane
					 : (task->forced_lane = lane_forced_by_test(device));
	if (task->command.graph)
		task->home_lane = (task->home_lane - 1) % device->lane_count + 1;
	if (task->home_lane > 0 && task->home_lane <= device->lane_count)
		return lane_at_home(task);
	struct sched_lane *lane =
		task->is_small_move ? lane_for_small_move(task) : lane_for_copies(task);
	if (!lane)
		lane = lane_of_predecessor(task);
	if (lane)
		return lane;
	*fixed_out = false;
	return lane_most_idle(device, own_lane_group(task));
}

static bool task_goes_to_copy_lane(const struct task *task)
{
	return task->device->scheduler->lane_choice == SCHEDULER_LANES_BEST &&
	       task->home_lane == 0 && !task->is_small_move && lane_for_copies(task) != NULL;
}

bool sched_lane_waits(const struct task *task)
{
	return task->goes_alone || task_goes_to_copy_lane(task);
}
