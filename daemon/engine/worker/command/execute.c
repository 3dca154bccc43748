/* The device thread's part of a task: submission and completion. */
#include "worker/command/execute.h"

#include "base/cause.h"
#include "base/lane_limits.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/task/burst.h"
#include "worker/command/command.h"
#include "worker/task/failed.h"
#include "worker/device/flight.h"
#include "worker/command/graph.h"
#include "worker/task/hold.h"
#include "worker/command/loss.h"
#include "worker/task/native_command.h"
#include "worker/spill/spill.h"
#include "worker/task/transfer.h"
#include "worker/task/waits.h"
#include "worker/device/wake.h"
#include "worker/state/worker.h"

#include "stage_clock.h"
#include "status.h"

#include <errno.h>

static bool command_must_be_skipped(const struct worker *worker, const struct task_command *command)
{
	if (!worker->failed && worker->failing == 0)
		return false;
	for (uint32_t i = 0; i < command->predecessor_count; i++)
		if (command->predecessors[i].data &&
		    (worker_failed_has(worker, &command->predecessors[i]) ||
		     worker_failed_is_failing(worker, &command->predecessors[i])))
			return true;
	return false;
}

/* If nothing is in flight on the lane, no completion would ever make room. */
static bool lane_has_room(const struct scheduler_device *device, const struct worker_lane *lane,
			  const struct worker_waits *waits)
{
	return device->worker.in_flight == 0 || !device->ops->has_room ||
	       device->ops->has_room(lane->handle, waits->all, waits->count);
}

static int submit_command(struct scheduler_device *device, struct task *task,
			  struct backend_fault *fault)
{
	struct worker *worker = &device->worker;
	struct task_command *command = &task->command;
	STAGE_MARK_ALL(command->flight_group, command_launch_count(command), STAGE_ARRIVED);
	int result = worker_command_need_lane(device, command->lane, fault);
	if (result < 0)
		return result;
	struct worker_waits waits;
	if (worker->has_inherited_waits && worker->in_flight == 0)
		worker_waits_clear(worker);
	worker_waits_fill(worker, command, &waits);
	struct worker_lane *lane = &worker->lanes[command->lane];
	if (!lane_has_room(device, lane, &waits))
		return WORKER_LANE_FULL;
	if (command->graph)
		result = worker_graph_resolve(device, command, fault);
	else if (!command->is_again || !command->was_resolved)
		result = worker_command_resolve(device, command, fault);
	if (result < 0)
		return result;
	command->was_resolved = !command->graph;
	worker_flight_enter(&device->scheduler->flight, command);
	backend_fault_none(fault); /* faults of earlier attempts are no fault of the command */
	result = command->burst ? worker_burst_submit(device, task, waits.all, waits.count, fault)
				: device->ops->submit(lane->handle, &command->backend, waits.all,
						      waits.count, command->sequence, NULL, fault);
	if (result < 0) {
		worker_flight_leave(&device->scheduler->flight, command);
		return result;
	}
	if (!command->burst)
		STAGE_MARK(command->flight_group, STAGE_LAUNCHED);
	if (atomic_load_explicit(&task->is_aside, memory_order_relaxed))
		atomic_store(&task->is_aside, false);
	if (task->held_by_host)
		worker_early_recorded(task);
	worker_waits_note(worker, command, device->all_lane_count, &waits);
	worker->unflushed = true;
	worker->in_flight += command->burst ? command->burst->out : 1;
	if (!command->burst)
		command->is_refused = fault->status != STATUS_SUCCESS && !fault->device_lost;
	worker->failing += worker_failed_is_certain(command);
	worker_transfer_expect(worker, lane, command);
	command->lane_next = NULL;
	if (lane->last)
		lane->last->command.lane_next = task;
	else
		lane->first = task;
	lane->last = task;
	return 0;
}

static void fail_task(struct scheduler_device *device, struct task *task,
		      const struct backend_fault *fault)
{
	worker_failed_return(device, task, fault);
	if (fault->device_lost)
		worker_lose(device, fault);
}

/* No launch of the burst is in flight. */
static void end_burst(struct scheduler_device *device, struct task *task)
{
	burst_set_over(task->command.burst, task->command.burst->count);
	if (worker_burst_cause(task->command.burst) && !task->command.remembered)
		worker_failed_add(&device->worker, task);
	worker_return(device, &task->message);
}

void worker_execute(struct scheduler_device *device, struct task *task)
{
	struct worker *worker = &device->worker;
	if (worker->unusable) {
		fail_task(device, task, sched_gone_fault(device));
		return;
	}
	if (atomic_load_explicit(&task->is_dropped, memory_order_relaxed) ||
	    command_must_be_skipped(worker, &task->command)) {
		task->command.skipped = true;
		worker_waits_pass_on(worker, &task->command);
		worker_failed_add(worker, task);
		worker_return(device, &task->message);
		return;
	}
	struct backend_fault fault;
	backend_fault_none(&fault);
	int result = submit_command(device, task, &fault);
	if (result == WORKER_LANE_FULL) {
		worker_hold_add(device, task);
	} else if (result == WORKER_SPILL_WAIT) {
		worker_spill_set_aside(device, &task->message);
	} else if (result < 0 && task->command.burst && task->command.burst->failed &&
		   !fault.device_lost) {
		worker_waits_pass_on(worker, &task->command);
		end_burst(device, task);
	} else if (result == 0 && fault.device_lost) {
		worker_lose(device, &fault);
	} else if (result < 0) {
		worker_waits_pass_on(worker, &task->command);
		sched_fault_complete(&fault, result);
		fail_task(device, task, &fault);
	}
}

static struct worker_lane *lane_by_handle(struct worker *worker, const struct backend_lane *handle)
{
	if (worker->last_lane && worker->last_lane->handle == handle)
		return worker->last_lane;
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		if (worker->lanes[i].handle == handle)
			return worker->last_lane = &worker->lanes[i];
	return NULL;
}

/* A launch of a burst. True: it was the last. */
static bool complete_burst_launch(struct scheduler_device *device, struct task *task,
				  const struct backend_completion *completion)
{
	bool is_last = worker_burst_completed(task, completion);
	/* Commands that need this one and come meanwhile must not run. */
	if (!is_last && worker_burst_cause(task->command.burst) && !task->command.remembered)
		worker_failed_add(&device->worker, task);
	if (!is_last)
		worker_flight_advance(&device->scheduler->flight, &task->command);
	return is_last;
}

void worker_execute_completion(struct scheduler_device *device,
			       const struct backend_completion *completion)
{
	struct worker *worker = &device->worker;
	struct worker_lane *lane = lane_by_handle(worker, completion->lane);
	/* A lost device may still report commands that were failed already. */
	if (!lane)
		(void)worker_spill_completed(device, completion);
	if (!lane || !lane->first)
		return;
	if (completion->fault.device_lost) {
		worker_loss_note(worker, lane, completion);
		return;
	}
	struct task *task = lane->first;
	if (!command_covers(&task->command, completion->sequence))
		return;
	worker->in_flight--;
	if (task->command.burst && !complete_burst_launch(device, task, completion))
		return;
	lane->first = task->command.lane_next;
	if (!lane->first)
		lane->last = NULL;
	worker->failing -= worker_failed_is_certain(&task->command);
	if (task->command.burst) {
		worker_flight_leave(&device->scheduler->flight, &task->command);
		end_burst(device, task);
		return;
	}
	STAGE_MARK(task->command.flight_group, STAGE_COMPLETED);
	worker_transfer_measure(worker, lane, &task->command);
	task->command.start_ns = completion->start_ns;
	task->command.end_ns = completion->end_ns;
	task->command.estimated = completion->estimated;
	task->command.late_ns = completion->late_ns;
	task->command.profile = device->ops->profile_times ? completion->profile : 0;
	worker_flight_leave(&device->scheduler->flight, &task->command);
	if (completion->fault.status == STATUS_SUCCESS) {
		worker_return(device, &task->message);
		return;
	}
	struct backend_fault fault = completion->fault;
	sched_fault_complete(&fault, -EIO);
	fail_task(device, task, &fault);
}
