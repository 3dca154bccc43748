/*
 * Long launches of the class best effort in parts, where the program allows it
 * (task_request.launch.splittable).
 *
 * A split task is sent once for each part. It comes back from its lane. Unless that was the last
 * part or it has failed, it is dispatched again: the fair queue decides again, and other sessions
 * get in between. For all other purposes it is one task. Its followers are not sent before its last
 * part is (task_is_on_lane), so edges, lanes and waits hold for its last part as for any task.
 *
 * Before each part the scheduler checks whether splitting helps. A session that is alone holds up
 * no other, and the rest goes in one part.
 */
#include "scheduler/admission/split.h"

#include "base/split_plan.h"
#include "fair_queue/estimate.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/admission/admission.h"
#include "scheduler/state/device.h"
#include "scheduler/admission/flow.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <stdlib.h>

/* Estimates for splittable launches, created with the first of them. */
struct sched_split_estimates {
	struct fair_queue_estimates shapes;
};

static struct fair_queue_estimates *estimates_of(struct scheduler_device *device)
{
	if (!device->split_estimates)
		device->split_estimates = calloc(1, sizeof(*device->split_estimates));
	return device->split_estimates ? &device->split_estimates->shapes : NULL;
}

void sched_split_free(struct scheduler_device *device)
{
	free(device->split_estimates);
	device->split_estimates = NULL;
}

/*
 * A launch is not split if the application sends to the same lane, because that lane keeps the
 * order in which commands are sent. Nor is it split before its kernel is made: without a loader,
 * launches reach the device's thread before their kernel is known.
 */
static bool may_be_split(const struct task *task)
{
	const struct task_command *command = &task->command;
	return task->split.declared && task->scheduler->slice_ns > 0 && !command->burst &&
	       !command->backend.launch.properties && !task->home_is_fixed &&
	       command->kernel->made && command->kernel->facts.splits;
}

/* Best effort, under contention. */
static bool would_split_help(const struct task *task)
{
	return task->flow->class == FAIR_QUEUE_BEST_EFFORT && !sched_flow_is_alone(task->flow);
}

/* Twice the largest work-group for each unit: as many work-items as a unit of a GPU has at one
 * time. */
static uint64_t least_part_items(const struct scheduler_device *device)
{
	const struct backend_device_facts *facts = device->scheduler->infos[device->index].facts;
	return 2 * facts->max_work_group_size * facts->max_compute_units;
}

/* The product cannot overflow: submission checked the range. */
static uint32_t plan_parts(const struct task *task, uint64_t predicted_ns)
{
	const struct backend_command *backend = &task->command.backend;
	const uint64_t *global = backend->launch.global, *local = backend->launch.local;
	struct split_facts facts = {
		.predicted_ns = predicted_ns,
		.slice_ns = task->scheduler->slice_ns,
		.groups = local[0] ? global[0] / local[0] : global[0],
		.items = global[0] * global[1] * global[2],
		.least_items = least_part_items(task->device),
	};
	return split_plan(&facts);
}

static void begin_split(struct task *task)
{
	struct fair_queue_estimates *estimates =
		task->flow->class == FAIR_QUEUE_BEST_EFFORT ? estimates_of(task->device) : NULL;
	if (!estimates)
		return;
	task->split.shape = sched_admission_shape(&task->command);
	if (task->split.shape == 0)
		return;
	if (fair_queue_estimate_samples(estimates, task->split.shape))
		task->command.backend.timed = true;
	if (!would_split_help(task))
		return;
	uint32_t parts = plan_parts(task, fair_queue_estimate_ns(estimates, task->split.shape));
	if (parts < 2)
		return;
	task->command.backend.launch.part =
		(struct backend_part){.first = 0, .end = 1, .of = parts};
	task->command.backend.timed =
		true; /* each part: a deadline is of all of them (deadline.c) */
	task->split.more = true;
	task->scheduler->counters.splits++;
}

void sched_split_next(struct task *task)
{
	if (!may_be_split(task))
		return;
	struct backend_part *part = &task->command.backend.launch.part;
	if (part->of == 0)
		begin_split(task);
	else
		part->end = would_split_help(task) ? part->first + 1 : part->of;
	task->split.more = part->end < part->of;
}

static void add_part_times(struct task *task)
{
	struct sched_split *split = &task->split;
	struct task_command *command = &task->command;
	if (command->end_ns > command->start_ns)
		split->took_ns += command->end_ns - command->start_ns;
	if (split->start_ns == 0)
		split->start_ns = command->start_ns;
	if (command->end_ns > 0)
		split->end_ns = command->end_ns;
	split->estimated |= command->estimated;
}

static void update_split_time(const struct task *task)
{
	struct fair_queue_estimates *estimates = estimates_of(task->device);
	if (estimates && task->split.took_ns > 0)
		fair_queue_estimate_update(estimates, task->split.shape, task->split.took_ns,
					   !task->split.estimated);
}

bool sched_split_goes_on(struct task *task)
{
	struct task_command *command = &task->command;
	if (task->split.shape == 0)
		return false;
	struct backend_part *part = &command->backend.launch.part;
	bool failed = task->cause || command->skipped;
	add_part_times(task);
	task->scheduler->counters.split_parts += part->of > 0;
	if (failed || !task->split.more) {
		if (!failed)
			update_split_time(task);
		command->start_ns = task->split.start_ns;
		command->end_ns = task->split.end_ns;
		command->estimated = task->split.estimated;
		return false;
	}
	part->first = part->end;
	task->split.begun = true;
	command->predecessor_count = 0;
	command->flight = SCHED_NO_FLIGHT;
	command->start_ns = command->end_ns = 0;
	return true;
}
