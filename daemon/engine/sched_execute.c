/* The device thread's part of a task: objects made at first use, waits, submission, completion, failure. */
#include "sched_internal.h"

#include "status.h"

#include <errno.h>

/*
 * Failures that the front may not know yet. What it sent before it knew is checked against them; what it sends after
 * the FORGET cannot name them.
 */
static void remember(struct sched_worker *worker, struct task *task)
{
	if (worker->unusable)
		return;
	task->send.remembered = true;
	task->send.failed_next = worker->failed;
	worker->failed = task;
}

void sched_execute_forget(struct scheduler_device *device, struct task *task)
{
	struct task **at = &device->worker.failed;
	while (*at && *at != task)
		at = &(*at)->send.failed_next;
	if (*at)
		*at = task->send.failed_next;
}

static bool has_failed(const struct sched_worker *worker, const struct task_predecessor *predecessor)
{
	for (const struct task *task = worker->failed; task; task = task->send.failed_next)
		if (task->send.lane == predecessor->lane && task->send.sequence == predecessor->sequence)
			return true;
	return false;
}

void sched_execute_failed(struct scheduler_device *device, struct task *task, const struct backend_fault *fault)
{
	task->send.cause = sched_cause_create(fault);
	remember(&device->worker, task);
	sched_worker_return(device, &task->message);
	if (fault->device_lost && !device->worker.unusable)
		sched_worker_lose(device, fault);
}

/* Nothing more comes from this device: everything on it ends now, and whatever is sent to it fails at once. */
void sched_worker_lose(struct scheduler_device *device, const struct backend_fault *fault)
{
	struct sched_worker *worker = &device->worker;
	worker->unusable = true;
	worker->fault = *fault;
	sched_fault_complete(&worker->fault, -EIO);
	for (uint32_t i = 0; i < SCHED_LANES_MAX; i++) {
		struct sched_worker_lane *lane = &worker->lanes[i];
		while (lane->first) {
			struct task *task = lane->first;
			lane->first = task->send.lane_next;
			sched_flight_leave(&device->scheduler->flight, &task->send);
			sched_execute_failed(device, task, &worker->fault);
		}
		lane->last = NULL;
	}
}

static int need_memory(struct scheduler_device *device, struct sched_memory *memory, struct backend_fault *fault)
{
	if (!memory || memory->handle)
		return 0;
	int result = device->ops->memory_create(device->worker.handle, memory->size_bytes, memory->host,
						&memory->handle, fault);
	if (result < 0) {
		memory->handle = NULL;
		if (fault->status == STATUS_SUCCESS)
			fault->status = STATUS_MEMORY_ALLOCATION;
	}
	return result;
}

static int need_lane(struct scheduler_device *device, uint32_t index, struct backend_fault *fault)
{
	struct sched_worker_lane *lane = &device->worker.lanes[index];
	if (lane->handle)
		return 0;
	int result = device->ops->lane_create(device->worker.handle, &lane->handle, fault);
	if (result < 0)
		lane->handle = NULL;
	return result;
}

static int fill_launch(struct scheduler_device *device, struct task_send *send, struct backend_fault *fault)
{
	if (!send->kernel->handle) {
		*fault = send->kernel->fault;
		return -EINVAL;
	}
	send->command.launch.kernel = send->kernel->handle;
	send->command.launch.arguments = send->arguments;
	for (uint32_t i = 0; i < send->command.launch.argument_count; i++) {
		struct sched_memory *memory = send->argument_memories[i];
		int result = need_memory(device, memory, fault);
		if (result < 0)
			return result;
		if (memory)
			send->arguments[i].global.memory = memory->handle;
	}
	return 0;
}

/* Objects into the command. */
static int fill_command(struct scheduler_device *device, struct task_send *send, struct backend_fault *fault)
{
	struct backend_command *command = &send->command;
	if (command->kind == BACKEND_COMMAND_LAUNCH)
		return fill_launch(device, send, fault);
	int result = need_memory(device, send->source, fault);
	if (result == 0)
		result = need_memory(device, send->destination, fault);
	if (result < 0)
		return result;
	if (command->kind == BACKEND_COMMAND_COPY) {
		command->copy.source = send->source->handle;
		command->copy.destination = send->destination->handle;
	} else if (command->kind == BACKEND_COMMAND_FILL) {
		command->fill.memory = send->destination->handle;
	} else if (command->kind == BACKEND_COMMAND_WRITE || command->kind == BACKEND_COMMAND_READ) {
		command->transfer.memory = send->source->handle;
	}
	return 0;
}

/* One wait per foreign lane; none for what has failed, which is over or never began. */
static uint32_t fill_waits(const struct sched_worker *worker, const struct task_send *send, struct backend_wait *waits)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < send->predecessor_count; i++) {
		const struct task_predecessor *predecessor = &send->predecessors[i];
		if (predecessor->lane == send->lane || (worker->failed && has_failed(worker, predecessor)))
			continue;
		struct backend_lane *lane = worker->lanes[predecessor->lane].handle;
		uint32_t at = 0;
		while (at < count && waits[at].lane != lane)
			at++;
		if (at == count)
			waits[count++] = (struct backend_wait){.lane = lane, .sequence = predecessor->sequence};
		else if (waits[at].sequence < predecessor->sequence)
			waits[at].sequence = predecessor->sequence;
	}
	return count;
}

static bool must_skip(const struct sched_worker *worker, const struct task_send *send)
{
	if (!worker->failed)
		return false;
	for (uint32_t i = 0; i < send->predecessor_count; i++)
		if (send->predecessors[i].data && has_failed(worker, &send->predecessors[i]))
			return true;
	return false;
}

static int submit(struct scheduler_device *device, struct task *task, struct backend_fault *fault)
{
	struct sched_worker *worker = &device->worker;
	struct task_send *send = &task->send;
	int result = need_lane(device, send->lane, fault);
	if (result == 0)
		result = fill_command(device, send, fault);
	if (result < 0)
		return result;
	struct backend_wait waits[SCHED_PREDECESSORS_MAX];
	uint32_t wait_count = fill_waits(worker, send, waits);
	struct sched_worker_lane *lane = &worker->lanes[send->lane];
	sched_flight_enter(&device->scheduler->flight, send);
	result = device->ops->submit(lane->handle, &send->command, waits, wait_count, send->sequence, fault);
	if (result < 0) {
		sched_flight_leave(&device->scheduler->flight, send);
		return result;
	}
	worker->unflushed = true;
	send->lane_next = NULL;
	if (lane->last)
		lane->last->send.lane_next = task;
	else
		lane->first = task;
	lane->last = task;
	return 0;
}

void sched_execute(struct scheduler_device *device, struct task *task)
{
	struct sched_worker *worker = &device->worker;
	if (worker->unusable) {
		sched_execute_failed(device, task, &worker->fault);
		return;
	}
	if (must_skip(worker, &task->send)) {
		task->send.skipped = true;
		remember(worker, task);
		sched_worker_return(device, &task->message);
		return;
	}
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	int result = submit(device, task, &fault);
	if (result < 0) {
		sched_fault_complete(&fault, result);
		sched_execute_failed(device, task, &fault);
	}
}

void sched_execute_completion(struct scheduler_device *device, const struct backend_completion *completion)
{
	struct sched_worker *worker = &device->worker;
	struct sched_worker_lane *lane = NULL;
	for (uint32_t i = 0; i < SCHED_LANES_MAX && !lane; i++)
		if (worker->lanes[i].handle == completion->lane)
			lane = &worker->lanes[i];
	/* A device that was lost may still report what has been failed already. */
	if (!lane || !lane->first || lane->first->send.sequence != completion->sequence)
		return;
	struct task *task = lane->first;
	lane->first = task->send.lane_next;
	if (!lane->first)
		lane->last = NULL;
	task->send.start_ns = completion->start_ns;
	task->send.end_ns = completion->end_ns;
	sched_flight_leave(&device->scheduler->flight, &task->send);
	if (completion->fault.status == STATUS_SUCCESS && !completion->fault.device_lost) {
		sched_worker_return(device, &task->message);
		return;
	}
	struct backend_fault fault = completion->fault;
	sched_fault_complete(&fault, -EIO);
	sched_execute_failed(device, task, &fault);
}
