/*
 * Bursts: several launches of one kernel as one task. They are ordered, sent and reported together.
 * To the backend, and when one fails, each launch is a command with its own sequence on the lane.
 * The task has the sequence of the last.
 */
#include "scheduler/task/burst.h"

#include "base/cause.h"
#include "scheduler/state/access.h"
#include "scheduler/state/device.h"
#include "scheduler/state/program.h"
#include "scheduler/public/program.h"
#include "scheduler/public/task.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include "stage_clock.h"
#include "status.h"

#include <errno.h>
#include <string.h>

#define VALUE_ALIGNMENT 16u
#define KEPT_MEASURES   8u /* of so many times of a kept stretch one counts */

static size_t align_values(uint64_t bytes)
{
	return (size_t)(bytes + VALUE_ALIGNMENT - 1) & ~(size_t)(VALUE_ALIGNMENT - 1);
}

/* ----------------------------------------- made ----------------------------------------- */

static uint32_t value_stride_of(const struct task_request *request)
{
	size_t bytes = 0;
	for (uint32_t i = 0; i < request->launch.argument_count; i++)
		if (request->launch.arguments[i].kind == BACKEND_ARGUMENT_VALUE)
			bytes += align_values(request->launch.arguments[i].size_bytes);
	return (uint32_t)bytes;
}

size_t sched_burst_storage(const struct task_request *request)
{
	if (request->launch.count < 2)
		return 0;
	return (request->launch.count - 1) * (size_t)value_stride_of(request) +
	       align_values(sizeof(struct task_burst));
}

static void copy_values(const struct task_request *request, const uint8_t *from, uint8_t *to)
{
	for (uint32_t i = 0; i < request->launch.argument_count; i++) {
		const struct task_argument *argument = &request->launch.arguments[i];
		if (argument->kind != BACKEND_ARGUMENT_VALUE)
			continue;
		memcpy(to, from, argument->size_bytes);
		from += argument->size_bytes;
		to += align_values(argument->size_bytes);
	}
}

static bool launches_are_chained(const struct task_request *request)
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
	uint32_t stride = value_stride_of(request), count = request->launch.count;
	struct scheduler_counters *counters = &request->device->scheduler->counters;
	for (uint32_t i = 1; i < count; i++)
		copy_values(request,
			    request->launch.values + (size_t)(i - 1) * request->launch.value_bytes,
			    values + (size_t)i * stride);
	struct task_burst *burst = (struct task_burst *)(void *)(values + (size_t)count * stride);
	burst->members = NULL;
	burst->count = count;
	burst->value_stride = stride;
	burst->is_chained = launches_are_chained(request);
	burst->is_whole = burst->is_kept = false;
	burst->row = NULL;
	burst->row_tries = burst->changed = burst->row_read = 0;
	burst->read = NULL;
	burst->row_has_read = burst->sends_read = burst->has_read = false;
	burst->out = burst->failed = 0;
	burst_set_over(burst, 0);
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

/* True if the task failed because of another task that it needed. */
static bool task_failed_by_another(const struct task *task)
{
	return task->cause && !task->direct;
}

/* The cause of the launch's own failure, or of the launch that it needed. NULL: it succeeded. */
static struct sched_cause *launch_cause(const struct task *task, uint32_t index)
{
	const struct task_burst *burst = task->command.burst;
	if (task_failed_by_another(task) || index >= burst_over(burst))
		return task->cause;
	uint32_t at = burst->is_chained && burst_first_failed(burst) < index
			      ? burst_first_failed(burst)
			      : index;
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
		cause = launch_cause(task, (uint32_t)__builtin_ctz(launches));
	return cause;
}

uint32_t task_launch_bit(const struct task *task, uint32_t index)
{
	const struct task_burst *burst = task->command.burst;
	/* In a chained burst, a task that depends on the last launch depends on all. */
	if (!burst || index >= burst->count || (burst->is_chained && index == burst->count - 1))
		return 0;
	return 1u << index;
}

void task_launch_fault(const struct task *task, uint32_t index, struct backend_fault *fault_out)
{
	const struct task_burst *burst = task->command.burst;
	struct sched_cause *cause = burst ? launch_cause(task, index) : NULL;
	fault_out->status = STATUS_SUCCESS;
	if (!burst || task_failed_by_another(task)) {
		task_outcome_fault(task, fault_out);
		return;
	}
	if (!cause)
		return;
	const uint32_t over = burst_over(burst);
	uint32_t first = index >= over ? over : burst_first_failed(burst);
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

uint64_t sched_kernel_stretch_ns(const struct sched_kernel *kernel)
{
	if (kernel->scheduler->always_stretches)
		return 1;
	return kernel->period_ns == 0 || surprise_lasts(&kernel->surprise) ? UINT64_MAX
									   : kernel->period_ns;
}

/*
 * The mean rises by half of the difference to the least time that the launch took, so that a long
 * launch counts at once. It falls by three quarters of that to the most. Between them it falls by
 * an eighth to the least: an end that was found late says no more. Otherwise an engine with many
 * clients would take fewer launches as one the later it finds their ends, and so find them still
 * later.
 */
static void burst_update_period(struct sched_kernel *kernel, uint64_t least_ns, uint64_t most_ns)
{
	uint64_t *period_ns = &kernel->period_ns;
	if (*period_ns == 0)
		*period_ns = most_ns;
	else if (most_ns < *period_ns)
		*period_ns = (*period_ns + 3 * most_ns) / 4;
	else if (least_ns > *period_ns)
		*period_ns = (*period_ns + least_ns) / 2;
	else
		*period_ns -= (*period_ns - least_ns) / 8;
	if (*period_ns == 0)
		*period_ns = 1;
}

static uint64_t at_most_ns(uint64_t ns)
{
	return ns < SCHED_STRETCH_TOOK_NS ? ns : SCHED_STRETCH_TOOK_NS;
}

/*
 * The launches took some time together. Each is given a part of it in proportion to its expected
 * time. A kept stretch takes as long as before, so only every eighth time counts, unless it was
 * longer: the parts are divisions.
 */
static void update_stretch(struct task_burst *burst, uint64_t least_ns, uint64_t most_ns)
{
	const bool is_long = least_ns > SCHED_BURST_SURPRISE_NS;
	uint64_t periods[SCHED_BURST_MAX], expected_ns = 0;
	for (uint32_t i = 0; i < burst->count; i++)
		expected_ns += periods[i] = burst->members[i].kernel->period_ns;
	if (burst->is_kept && !is_long && least_ns <= expected_ns &&
	    ++burst->measured % KEPT_MEASURES != 0)
		return;
	/* No overflow: the periods of a stretch are SCHED_STRETCH_NS when it is made. */
	for (uint32_t i = 0; i < burst->count && expected_ns > 0; i++) {
		struct sched_kernel *kernel = burst->members[i].kernel;
		const uint64_t period_ns = at_most_ns(periods[i]);
		burst_update_period(kernel, period_ns * at_most_ns(least_ns) / expected_ns,
				    period_ns * at_most_ns(most_ns) / expected_ns);
		if (is_long)
			surprise_note(&kernel->surprise);
	}
}

void sched_burst_update(const struct task *task)
{
	const struct task_command *command = &task->command;
	if (command->backend.kind != BACKEND_COMMAND_LAUNCH ||
	    command->backend.launch.part.of > 0 || command->end_ns <= command->start_ns)
		return;
	const uint64_t most_ns = command->end_ns - command->start_ns;
	const uint64_t least_ns = command->late_ns < most_ns ? most_ns - command->late_ns : 0;
	const uint32_t launches = command_launch_count(command);
	if (task_is_stretch(task)) {
		update_stretch(command->burst, least_ns, most_ns);
		return;
	}
	burst_update_period(command->kernel, least_ns / launches, most_ns / launches);
	if (!command->burst)
		surprise_pass(&command->kernel->surprise);
	else if (least_ns > SCHED_BURST_SURPRISE_NS)
		surprise_note(&command->kernel->surprise);
}
