#include "worker/task/row.h"

#include "scheduler/state/device.h"

#include "stage_clock.h"

#define TRIES_MOST 4u /* such as while new memory is being zeroed */

static void row_drop(struct scheduler_device *device, struct task_burst *burst)
{
	if (burst->row)
		device->ops->row_free(burst->row);
	burst->row = NULL;
}

/* Gives the backend the launches that have new values. */
static bool row_set_changed(const struct scheduler_device *device, struct task_burst *burst)
{
	for (; burst->changed; burst->changed &= burst->changed - 1) {
		const uint32_t index = (uint32_t)__builtin_ctz(burst->changed);
		if (device->ops->row_set(burst->row, index, &burst->members[index].backend) < 0)
			return false;
	}
	return true;
}

static bool row_prepare(struct scheduler_device *device, struct task_burst *burst)
{
	if (!burst->row && burst->row_tries < TRIES_MOST) {
		burst->row_tries++;
		burst->changed = (1u << burst->count) - 1;
		if (device->ops->row_make(device->handle, burst->count, &burst->row) < 0)
			burst->row = NULL;
	}
	if (burst->row && !row_set_changed(device, burst))
		row_drop(device, burst);
	return burst->row != NULL;
}

bool worker_row_submit(struct scheduler_device *device, struct task_command *command)
{
	struct task_burst *burst = command->burst;
	struct backend_fault fault; /* reported launch by launch instead */
	if (!device->ops->row_make || !burst->members || command->backend.timed ||
	    !row_prepare(device, burst) ||
	    device->ops->row_submit(device->worker.lanes[command->lane].handle, burst->row,
				    &burst->members[burst->count - 1].backend, command->sequence,
				    &fault) < 0)
		return false;
	burst->out = 1;
	burst->is_whole = true;
	command->is_refused = false;
	STAGE_MARK_ALL(command->flight_group, burst->count, STAGE_LAUNCHED);
	return true;
}

void worker_row_end(struct scheduler_device *device, const struct task_command *command)
{
	if (command->burst)
		row_drop(device, command->burst);
}
