/* A device is lost: whose commands may have been running, and the end of them all (device thread).
 */
#include "worker/command/loss.h"

#include "base/cause.h"
#include "base/lane_limits.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/command/command.h"
#include "worker/task/failed.h"
#include "worker/device/flight.h"
#include "worker/spill/spill.h"
#include "worker/state/worker.h"

#include <errno.h>

static bool command_predecessors_are_over(const struct worker *worker,
					  const struct task_predecessor *predecessor)
{
	const struct task *first = worker->lanes[predecessor->lane].first;
	return !first || first->command.sequence > predecessor->sequence;
}

/* The first of a lane may have been running, if nothing on another lane held it back. */
static void mark_suspects(struct worker *worker)
{
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++) {
		struct task *task = worker->lanes[i].first;
		if (!task)
			continue;
		bool held_back = false;
		for (uint32_t k = 0; k < task->command.predecessor_count; k++)
			held_back |= !command_predecessors_are_over(worker,
								    &task->command.predecessors[k]);
		task->command.suspect = !held_back;
	}
}

void worker_disable(struct scheduler_device *device, const struct backend_fault *fault,
		    int negative_errno)
{
	const uint32_t gone = device->handle ? SCHED_GONE_LOST : SCHED_GONE_NOT_OPENED;
	device->gone_faults[gone] = *fault;
	sched_fault_complete(&device->gone_faults[gone], negative_errno);
	device->worker.unusable = true;
	atomic_store(&device->gone, gone);
}

/* Nothing more comes from this device: everything on it ends now, and whatever is sent to it fails
 * at once. */
void worker_lose(struct scheduler_device *device, const struct backend_fault *fault)
{
	struct worker *worker = &device->worker;
	worker->open_again_ns = 0;
	if (worker->unusable)
		return;
	worker_disable(device, fault, -EIO);
	worker->in_flight = 0;
	if (fault->process_lost && !worker->suspects_are_known)
		mark_suspects(worker);
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++) {
		struct worker_lane *lane = &worker->lanes[i];
		while (lane->first) {
			struct task *task = lane->first;
			lane->first = task->command.lane_next;
			worker_flight_leave(&device->scheduler->flight, &task->command);
			worker_failed_return(device, task, sched_gone_fault(device));
		}
		lane->last = NULL;
	}
	worker_spill_lose(device);
}

void worker_loss_note(struct worker *worker, const struct worker_lane *lane,
		      const struct backend_completion *completion)
{
	if (!worker->is_losing)
		worker->loss = completion->fault;
	worker->is_losing = true;
	if (!completion->fault.process_lost)
		return;
	worker->suspects_are_known = true; /* the backend's list is better than a guess */
	if (completion->fault.native_code == 0 || completion->fault.not_begun)
		return;
	struct task *task = lane->first;
	while (task && task->command.sequence < completion->sequence)
		task = task->command.lane_next;
	if (task && command_covers(&task->command, completion->sequence))
		task->command.suspect = true;
}
