/*
 * Commands that run for too long. Sending and completion cost nothing for this. Each call reads the
 * first command of each lane, and notes since when it has been the first. So a long command is
 * found late by the time between two calls.
 */
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/program.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/device/quiesce.h"

/*
 * The first task of the lane that is on the device, waits for no other command and has its memory.
 */
static const struct task *first_running_task(const struct scheduler_device *device, uint32_t lane)
{
	const struct task *first = device->lanes[lane].first;
	bool runs = first && first->open_in == 0 && first->command.flight_session != 0 &&
		    !atomic_load(&first->is_aside);
	return runs ? first : NULL;
}

static bool is_task_overdue(struct scheduler_device *device, uint32_t lane, uint64_t now_ns,
			    scheduler_deadline *deadline, void *context)
{
	const struct task *task = first_running_task(device, lane);
	struct worker_lane_head *head = &device->deadline_heads[lane];
	uint64_t sequence = task ? task->command.sequence : 0;
	if (head->sequence != sequence)
		*head = (struct worker_lane_head){.sequence = sequence, .since_ns = now_ns};
	uint64_t most_ns = task ? deadline(context, task->command.flight_session) : 0;
	/* The time of its earlier parts alone; the time between them belongs to other tasks. */
	uint64_t before_ns = task ? task->split.took_ns : 0;
	return most_ns > 0 && now_ns - head->since_ns + before_ns > most_ns;
}

/* Names the launch of a burst that runs, as far as the device's thread has reported. */
static void overdue_fill_names(const struct task *task, struct scheduler_overdue *overdue_out)
{
	const struct task_command *command = &task->command;
	const struct task_burst *burst = command->burst;
	*overdue_out = (struct scheduler_overdue){
		.session = command->flight_session,
		.queue = command->flight_queue,
		.group = command->flight_group,
		.what = command->what,
		.backend = task->device->ops->kind,
	};
	if (!burst)
		return;
	const uint32_t over = burst_over(burst);
	const uint32_t at = over < burst->count ? over : burst->count - 1;
	overdue_out->group += at;
	if (burst->members && at > 0)
		overdue_out->what = burst->members[at].kernel->name;
}

bool scheduler_overdue(struct scheduler *scheduler, uint64_t now_ns, scheduler_deadline *deadline,
		       void *context, struct scheduler_overdue *overdue_out)
{
	const struct task *late = NULL;
	for (uint32_t i = 0; i < scheduler->device_count; i++) {
		struct scheduler_device *device = scheduler->devices[i];
		for (uint32_t lane = 0; device && lane < device->lane_end; lane++)
			if (is_task_overdue(device, lane, now_ns, deadline, context))
				late = device->lanes[lane].first;
	}
	if (!late)
		return false;
	overdue_fill_names(late, overdue_out);
	return true;
}
