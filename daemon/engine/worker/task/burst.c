/* The device thread's half of a burst: its launches are submitted, and come back. */
#include "worker/task/burst.h"
#include "worker/task/row.h"

#include "base/cause.h"
#include "scheduler/state/device.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/state/task.h"

#include "stage_clock.h"
#include "status.h"

#include <errno.h>

/* -------------------------------- on the device's thread -------------------------------- */

static void fail_launch(struct task_burst *burst, uint32_t index, const struct backend_fault *fault)
{
	burst->causes[index] = sched_cause_create(fault);
	burst->failed |= 1u << index;
}

static void advance_values(struct task_command *command)
{
	for (uint32_t i = 0; i < command->backend.launch.argument_count; i++)
		if (command->arguments[i].kind == BACKEND_ARGUMENT_VALUE)
			command->arguments[i].value.bytes =
				(const uint8_t *)command->arguments[i].value.bytes +
				command->burst->value_stride;
}

/* Other commands may wait for the last launch: an empty command stands for it. */
static void submit_end_marker(struct scheduler_device *device, const struct task_command *command)
{
	const struct backend_command nothing = {.kind = BACKEND_COMMAND_NOP};
	struct backend_fault fault;
	if (device->ops->submit(device->worker.lanes[command->lane].handle, &nothing, NULL, 0,
				command->sequence, NULL, &fault) == 0)
		command->burst->out++;
}

/* As one command, where the backend takes bursts. */
static bool submit_as_one(struct scheduler_device *device, struct task_command *command,
			  const struct backend_wait *waits, uint32_t wait_count)
{
	struct task_burst *burst = command->burst;
	struct backend_fault fault; /* reported launch by launch instead */
	if (!device->ops->submit_burst || burst->members ||
	    device->ops->submit_burst(device->worker.lanes[command->lane].handle, &command->backend,
				      burst->count, burst->value_stride, waits, wait_count,
				      command->sequence, &fault) < 0)
		return false;
	burst->out = 1;
	burst->is_whole = true;
	command->is_refused = false;
	STAGE_MARK_ALL(command->flight_group, burst->count, STAGE_LAUNCHED);
	return true;
}

/* The command of the next launch. */
static const struct backend_command *burst_next_command(struct task_command *command,
							uint32_t index)
{
	if (command->burst->members)
		return &command->burst->members[index].backend;
	if (index > 0)
		advance_values(command);
	return &command->backend;
}

/* Tasks that need the launch must not run, from now on and not only when the failure is reported.
 * In a burst that is no chain only the last launch is needed. */
static void burst_note_refused(struct task_command *command, uint32_t index)
{
	struct task_burst *burst = command->burst;
	if (!burst->is_chained && index != burst->count - 1)
		return;
	command->is_refused = true;
	burst->refused = index;
}

int worker_burst_submit(struct scheduler_device *device, struct task *task,
			const struct backend_wait *waits, uint32_t wait_count,
			struct backend_fault *fault_out)
{
	struct task_command *command = &task->command;
	struct task_burst *burst = command->burst;
	struct backend_lane *lane = device->worker.lanes[command->lane].handle;
	if (submit_as_one(device, command, waits, wait_count) ||
	    (burst->is_kept && wait_count == 0 && worker_row_submit(device, command)))
		return 0;
	uint64_t first = command->sequence - burst->count + 1;
	const bool is_awaited = command->backend.is_awaited;
	bool has_last = false;
	command->is_refused = false;
	for (uint32_t i = 0; i < burst->count; i++) {
		struct backend_fault fault = {.status = STATUS_SUCCESS};
		command->backend.is_awaited = is_awaited && i + 1 == burst->count;
		const struct backend_command *backend = burst_next_command(command, i);
		/* The lane is in order: those behind the first that is sent need not wait by
		 * themselves. */
		int result = device->ops->submit(lane, backend, waits, burst->out ? 0 : wait_count,
						 first + i, NULL, &fault);
		has_last = result == 0;
		if (!fault.device_lost && (result < 0 || fault.status != STATUS_SUCCESS))
			burst_note_refused(command, i);
		burst->out += has_last;
		STAGE_MARK(command->flight_group + i, STAGE_LAUNCHED);
		/* It was taken and will fail: those behind it would run on old contents. */
		if (result == 0 && fault.status != STATUS_SUCCESS && burst->is_chained) {
			has_last = i == burst->count - 1;
			break;
		}
		if (result == 0)
			continue;
		sched_fault_complete(&fault, result);
		if (fault.device_lost) {
			*fault_out = fault;
			return burst->out ? 0 : result;
		}
		fail_launch(burst, i, &fault);
		if (burst->is_chained)
			break;
	}
	if (burst->out == 0)
		return -EINVAL;
	if (!has_last)
		submit_end_marker(device, command);
	return 0;
}

void worker_stretch_resolve(struct task_command *command)
{
	const struct task_burst *burst = command->burst;
	for (uint32_t i = 0; i < burst->count; i++)
		burst->members[i].backend.launch.kernel = burst->members[i].kernel->handle;
}

/* A later launch fails with an earlier one. */
static uint32_t last_launch_bit(uint32_t launches)
{
	return 31u - (uint32_t)__builtin_clz(launches);
}

bool worker_stretch_has_failed(const struct task_command *command, uint32_t launches)
{
	const bool is_none_good = command->skipped || command->cause;
	return is_none_good || burst_first_failed(command->burst) <= last_launch_bit(launches);
}

bool worker_stretch_will_fail(const struct task_command *command, uint32_t launches)
{
	return command->burst->refused <= last_launch_bit(launches);
}

bool worker_burst_completed(struct task *task, const struct backend_completion *completion)
{
	struct task_command *command = &task->command;
	struct task_burst *burst = command->burst;
	uint32_t index = burst->count - 1 - (uint32_t)(command->sequence - completion->sequence);
	const uint32_t over = burst_over(burst);
	STAGE_MARK_ALL(command->flight_group + over, index + 1 - over, STAGE_COMPLETED);
	/* The read is behind all launches. If it alone has failed, a move does it. */
	const bool has_failed = completion->fault.status != STATUS_SUCCESS;
	const bool is_read_alone =
		burst->sends_read && completion->failed_launches == 1u << burst->count;
	if (has_failed && !is_read_alone) {
		struct backend_fault fault = completion->fault;
		uint32_t failed = burst->is_whole
					  ? completion->failed_launches & ((1u << burst->count) - 1)
					  : 0;
		sched_fault_complete(&fault, -EIO);
		for (failed = failed ? failed : 1u << index; failed; failed &= failed - 1)
			fail_launch(burst, (uint32_t)__builtin_ctz(failed), &fault);
	} else {
		burst->has_read = burst->sends_read && !has_failed;
	}
	if (over == 0) {
		command->start_ns = completion->start_ns;
		command->late_ns = 0;
	}
	command->late_ns += completion->late_ns;
	command->end_ns = completion->end_ns;
	command->estimated = completion->estimated;
	burst->out--;
	burst_set_over(burst, burst->out ? index + 1 : burst->count);
	return burst->out == 0;
}

struct sched_cause *worker_burst_cause(const struct task_burst *burst)
{
	uint32_t at = burst->is_chained ? burst_first_failed(burst) : burst->count - 1;
	return at < burst->count && burst->failed & 1u << at ? burst->causes[at] : NULL;
}
