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

/* With the read behind the launches. False: the backend takes no such row. */
static bool row_make_with_read(struct scheduler_device *device, struct task_burst *burst)
{
	if (device->ops->row_make(device->handle, burst->count + 1, &burst->row) < 0) {
		burst->row = NULL;
		return false;
	}
	burst->row_has_read =
		device->ops->row_set(burst->row, burst->count, &burst->read->command) == 0;
	if (!burst->row_has_read)
		row_drop(device, burst);
	return burst->row_has_read;
}

static void row_make(struct scheduler_device *device, struct task_burst *burst)
{
	burst->row_tries++;
	burst->changed = (1u << burst->count) - 1;
	burst->row_has_read = false;
	if (burst->read && row_make_with_read(device, burst))
		return;
	if (device->ops->row_make(device->handle, burst->count, &burst->row) < 0)
		burst->row = NULL;
}

static bool row_prepare(struct scheduler_device *device, struct task_burst *burst)
{
	const uint32_t read = burst->read ? burst->read->number : 0;
	if (read != burst->row_read) {
		row_drop(device, burst);
		burst->row_read = read;
		burst->row_tries = 0;
	}
	if (!burst->row && burst->row_tries < TRIES_MOST)
		row_make(device, burst);
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
	burst->sends_read = burst->row_has_read;
	command->is_refused = false;
	STAGE_MARK_ALL(command->flight_group, burst->count, STAGE_LAUNCHED);
	return true;
}

void worker_row_end(struct scheduler_device *device, const struct task_command *command)
{
	if (command->burst)
		row_drop(device, command->burst);
}
