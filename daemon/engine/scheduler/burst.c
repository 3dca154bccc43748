/*
 * Bursts: several launches of one kernel as one task. They were ordered, placed and handed over
 * together, and are told together; to the backend, and when one fails, each is a command of its
 * own, with a sequence of its own on the lane: the task's is the last.
 */
#include "scheduler/burst.h"

#include "base/cause.h"
#include "scheduler/dependencies.h"
#include "scheduler/device.h"
#include "scheduler/program.h"
#include "scheduler/public/device.h"
#include "scheduler/public/program.h"
#include "scheduler/public/task.h"
#include "scheduler/scheduler.h"
#include "scheduler/state.h"
#include "scheduler/task.h"
#include "worker/burst.h"

#include "stage_clock.h"
#include "status.h"

#include <errno.h>
#include <string.h>

#define VALUE_ALIGNMENT 16u

static size_t aligned(uint64_t bytes)
{
	return (size_t)(bytes + VALUE_ALIGNMENT - 1) & ~(size_t)(VALUE_ALIGNMENT - 1);
}

/* ----------------------------------------- made ----------------------------------------- */

static uint32_t stride_of(const struct task_request *request)
{
	size_t bytes = 0;
	for (uint32_t i = 0; i < request->launch.argument_count; i++)
		if (request->launch.arguments[i].kind == BACKEND_ARGUMENT_VALUE)
			bytes += aligned(request->launch.arguments[i].size_bytes);
	return (uint32_t)bytes;
}

size_t sched_burst_storage(const struct task_request *request)
{
	if (request->launch.count < 2)
		return 0;
	return (request->launch.count - 1) * (size_t)stride_of(request) +
	       aligned(sizeof(struct task_burst));
}

static void copy_values(const struct task_request *request, const uint8_t *from, uint8_t *to)
{
	for (uint32_t i = 0; i < request->launch.argument_count; i++) {
		const struct task_argument *argument = &request->launch.arguments[i];
		if (argument->kind != BACKEND_ARGUMENT_VALUE)
			continue;
		memcpy(to, from, argument->size_bytes);
		from += argument->size_bytes;
		to += aligned(argument->size_bytes);
	}
}

static bool is_chained(const struct task_request *request)
{
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		const struct sched_access *access = &request->device->scheduler->accesses[i];
		if (access->writes && access->needs)
			return true;
	}
	return false;
}

void sched_burst_fill(struct task_command *command, const struct task_request *request,
		      uint8_t *values)
{
	uint32_t stride = stride_of(request), count = request->launch.count;
	struct scheduler_counters *counters = &request->device->scheduler->counters;
	for (uint32_t i = 1; i < count; i++)
		copy_values(request,
			    request->launch.values + (size_t)(i - 1) * request->launch.value_bytes,
			    values + (size_t)i * stride);
	struct task_burst *burst = (struct task_burst *)(void *)(values + (size_t)count * stride);
	burst->count = count;
	burst->value_stride = stride;
	burst->is_chained = is_chained(request);
	burst->is_whole = false;
	burst->out = burst->over = burst->failed = 0;
	command->burst = burst;
	counters->bursts++;
	counters->burst_launches += count;
}

void sched_burst_end(struct task_burst *burst)
{
	for (uint32_t failed = burst->failed; failed; failed &= failed - 1)
		sched_cause_drop(burst->causes[__builtin_ctz(failed)]);
	burst->failed = 0;
}

/* -------------------------------- on the device's thread -------------------------------- */

static void fail(struct task_burst *burst, uint32_t index, const struct backend_fault *fault)
{
	burst->causes[index] = sched_cause_create(fault);
	burst->failed |= 1u << index;
}

static void next_values(struct task_command *command)
{
	for (uint32_t i = 0; i < command->backend.launch.argument_count; i++)
		if (command->arguments[i].kind == BACKEND_ARGUMENT_VALUE)
			command->arguments[i].value.bytes =
				(const uint8_t *)command->arguments[i].value.bytes +
				command->burst->value_stride;
}

/* Others may wait for the last one: something must stand for it. */
static void submit_end(struct scheduler_device *device, const struct task_command *command)
{
	const struct backend_command nothing = {.kind = BACKEND_COMMAND_NOP};
	struct backend_fault fault;
	if (device->ops->submit(device->worker.lanes[command->lane].handle, &nothing, NULL, 0,
				command->sequence, NULL, &fault) == 0)
		command->burst->out++;
}

/* Where the backend takes it so. */
static bool submit_whole(struct scheduler_device *device, struct task_command *command,
			 const struct backend_wait *waits, uint32_t wait_count)
{
	struct task_burst *burst = command->burst;
	struct backend_fault fault; /* told by the launches, one by one */
	if (!device->ops->submit_burst ||
	    device->ops->submit_burst(device->worker.lanes[command->lane].handle, &command->backend,
				      burst->count, burst->value_stride, waits, wait_count,
				      command->sequence, &fault) < 0)
		return false;
	burst->out = 1;
	burst->is_whole = true;
	STAGE_MARK_ALL(command->flight_group, burst->count, STAGE_LAUNCHED);
	return true;
}

int sched_burst_submit(struct scheduler_device *device, struct task *task,
		       const struct backend_wait *waits, uint32_t wait_count,
		       struct backend_fault *fault_out)
{
	struct task_command *command = &task->command;
	struct task_burst *burst = command->burst;
	struct backend_lane *lane = device->worker.lanes[command->lane].handle;
	if (submit_whole(device, command, waits, wait_count))
		return 0;
	uint64_t first = command->sequence - burst->count + 1;
	bool has_last = false;
	for (uint32_t i = 0; i < burst->count; i++) {
		struct backend_fault fault = {.status = STATUS_SUCCESS};
		if (i > 0)
			next_values(command);
		/* The lane is in order: those behind the first that is sent need not wait by
		 * themselves. */
		int result =
			device->ops->submit(lane, &command->backend, waits,
					    burst->out ? 0 : wait_count, first + i, NULL, &fault);
		has_last = result == 0;
		burst->out += has_last;
		STAGE_MARK(command->flight_group + i, STAGE_LAUNCHED);
		if (result == 0)
			continue;
		sched_fault_complete(&fault, result);
		if (fault.device_lost) {
			*fault_out = fault;
			return burst->out ? 0 : result;
		}
		fail(burst, i, &fault);
		if (burst->is_chained)
			break;
	}
	if (burst->out == 0)
		return -EINVAL;
	if (!has_last)
		submit_end(device, command);
	return 0;
}

bool sched_burst_completed(struct task *task, const struct backend_completion *completion)
{
	struct task_command *command = &task->command;
	struct task_burst *burst = command->burst;
	uint32_t index = burst->count - 1 - (uint32_t)(command->sequence - completion->sequence);
	STAGE_MARK_ALL(command->flight_group + burst->over, index + 1 - burst->over,
		       STAGE_COMPLETED);
	if (completion->fault.status != STATUS_SUCCESS) {
		struct backend_fault fault = completion->fault;
		uint32_t failed = burst->is_whole
					  ? completion->failed_launches & ((1u << burst->count) - 1)
					  : 0;
		sched_fault_complete(&fault, -EIO);
		for (failed = failed ? failed : 1u << index; failed; failed &= failed - 1)
			fail(burst, (uint32_t)__builtin_ctz(failed), &fault);
	}
	if (burst->over == 0)
		command->start_ns = completion->start_ns;
	command->end_ns = completion->end_ns;
	command->estimated = completion->estimated;
	burst->out--;
	burst->over = burst->out ? index + 1 : burst->count;
	return burst->out == 0;
}

/* ---------------------------------- what became of it ----------------------------------- */

static uint32_t first_failed(const struct task_burst *burst)
{
	return burst->failed ? (uint32_t)__builtin_ctz(burst->failed) : burst->count;
}

struct sched_cause *sched_burst_cause(const struct task_burst *burst)
{
	uint32_t at = burst->is_chained ? first_failed(burst) : burst->count - 1;
	return at < burst->count && burst->failed & 1u << at ? burst->causes[at] : NULL;
}

/* Is the whole task's failure that of something else, which it needed? */
static bool is_doomed(const struct task *task)
{
	return task->cause && !task->direct;
}

/* Its own, or that of the one which it needed. NULL: it succeeded. */
static struct sched_cause *cause_of(const struct task *task, uint32_t index)
{
	const struct task_burst *burst = task->command.burst;
	if (is_doomed(task) || index >= burst->over)
		return task->cause;
	uint32_t at =
		burst->is_chained && first_failed(burst) < index ? first_failed(burst) : index;
	return burst->failed & 1u << at ? burst->causes[at] : NULL;
}

struct sched_cause *sched_launches_cause(const struct task *task, uint32_t launches)
{
	struct sched_cause *cause = task->cause;
	if (!task->command.burst || launches & SCHED_LAUNCHES_ALL)
		launches &= ~SCHED_LAUNCHES_ALL;
	else
		cause = NULL;
	for (; task->command.burst && launches && !cause; launches &= launches - 1)
		cause = cause_of(task, (uint32_t)__builtin_ctz(launches));
	return cause;
}

uint32_t task_launch_bit(const struct task *task, uint32_t index)
{
	const struct task_burst *burst = task->command.burst;
	/* Where each needs the one before it, what depends on the last is what depends on all. */
	if (!burst || index >= burst->count || (burst->is_chained && index == burst->count - 1))
		return 0;
	return 1u << index;
}

void task_launch_fault(const struct task *task, uint32_t index, struct backend_fault *fault_out)
{
	const struct task_burst *burst = task->command.burst;
	struct sched_cause *cause = burst ? cause_of(task, index) : NULL;
	fault_out->status = STATUS_SUCCESS;
	if (!burst || is_doomed(task)) {
		task_outcome_fault(task, fault_out);
		return;
	}
	if (!cause)
		return;
	uint32_t first = index >= burst->over ? burst->over : first_failed(burst);
	if (burst->is_chained && first < index && !cause->fault.device_lost)
		sched_cause_derive(cause, fault_out);
	else
		*fault_out = cause->fault;
}

/* ------------------------------- how many may go together ------------------------------- */

uint32_t sched_kernel_burst(const struct sched_kernel *kernel)
{
	uint64_t period_ns = kernel->period_ns;
	if (period_ns == 0 || surprise_lasts(&kernel->surprise))
		return 1;
	uint64_t most = SCHED_BURST_NS / period_ns;
	return most < 1 ? 1 : most < SCHED_BURST_MAX ? (uint32_t)most : SCHED_BURST_MAX;
}

/* Up by half of what is new, so that a long one is known at once; down by three quarters: one that
 * was seen late does not count for long. */
void sched_burst_learn(const struct task *task)
{
	const struct task_command *command = &task->command;
	if (command->backend.kind != BACKEND_COMMAND_LAUNCH ||
	    command->backend.launch.part.of > 0 || command->end_ns <= command->start_ns)
		return;
	uint64_t took_ns = (command->end_ns - command->start_ns) / sched_launches(command);
	uint64_t *period_ns = &command->kernel->period_ns;
	if (*period_ns == 0 || took_ns == 0)
		*period_ns = took_ns;
	else
		*period_ns = took_ns > *period_ns ? (*period_ns + took_ns) / 2
						  : (*period_ns + 3 * took_ns) / 4;
	if (*period_ns == 0)
		*period_ns = 1;
	if (!command->burst)
		surprise_pass(&command->kernel->surprise);
	else if (command->end_ns - command->start_ns > SCHED_BURST_SURPRISE_NS)
		surprise_note(&command->kernel->surprise);
}
