/* Tasks that have failed on a device, until the front thread has processed that (device thread). */
#include "worker/task/failed.h"

#include "base/cause.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/task.h"
#include "worker/task/burst.h"
#include "worker/task/native_command.h"
#include "worker/device/wake.h"
#include "worker/state/worker.h"

void worker_failed_add(struct worker *worker, struct task *task)
{
	if (worker->unusable && worker->open_again_ns == 0)
		return;
	task->command.remembered = true;
	task->command.failed_next = worker->failed;
	worker->failed = task;
}

void worker_failed_remove(struct scheduler_device *device, struct task *task)
{
	struct task **at = &device->worker.failed;
	while (*at && *at != task)
		at = &(*at)->command.failed_next;
	if (*at)
		*at = task->command.failed_next;
}

static const struct task *find_failed(const struct worker *worker,
				      const struct task_predecessor *predecessor)
{
	for (const struct task *task = worker->failed; task; task = task->command.failed_next)
		if (task->command.lane == predecessor->lane &&
		    task->command.sequence == predecessor->sequence)
			return task;
	return NULL;
}

bool worker_failed_has(const struct worker *worker, const struct task_predecessor *predecessor)
{
	const struct task *task = worker->failed ? find_failed(worker, predecessor) : NULL;
	return task && (!predecessor->launches || !task_is_stretch(task) ||
			worker_stretch_has_failed(&task->command, predecessor->launches));
}

bool worker_failed_has_ended(const struct worker *worker,
			     const struct task_predecessor *predecessor)
{
	const struct task *task = worker->failed ? find_failed(worker, predecessor) : NULL;
	return task && !(task->command.burst && task->command.burst->out > 0);
}

void worker_failed_return(struct scheduler_device *device, struct task *task,
			  const struct backend_fault *fault)
{
	task->command.cause = sched_cause_create(fault);
	worker_failed_add(&device->worker, task);
	worker_return(device, &task->message);
}

bool worker_failed_is_certain(const struct task_command *command)
{
	return command->is_refused || worker_native_command_failed(command);
}

bool worker_failed_is_failing(const struct worker *worker,
			      const struct task_predecessor *predecessor)
{
	const struct task *task =
		worker->failing > 0 ? worker->lanes[predecessor->lane].first : NULL;
	while (task && task->command.sequence < predecessor->sequence)
		task = task->command.lane_next;
	return task && task->command.sequence == predecessor->sequence &&
	       worker_failed_is_certain(&task->command) &&
	       (!predecessor->launches || !task_is_stretch(task) ||
		worker_stretch_will_fail(&task->command, predecessor->launches));
}
