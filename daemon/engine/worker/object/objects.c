/* Objects of a device that are made and freed on its own thread. */
#include "worker/object/objects.h"

#include "base/cause.h"
#include "base/mailbox.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/event.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/state/task.h"
#include "worker/command/loss.h"
#include "worker/command/memory.h"
#include "worker/spill/room.h"
#include "worker/spill/spill.h"
#include "worker/task/hold.h"
#include "worker/device/wake.h"

#include "status.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void fail_object_task(struct task *task, struct backend_fault *fault, int result)
{
	sched_fault_complete(fault, result);
	task->command.cause = sched_cause_create(fault);
}

/* Returns false if the memory has to wait for room. */
bool worker_prepare_memory(struct scheduler_device *device, void *object)
{
	struct task *task = object;
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	int result = worker_memory(device, task->memory, &fault);
	if (result == WORKER_SPILL_WAIT) {
		worker_spill_set_aside(device, &task->message);
		return false;
	}
	if (result < 0)
		fail_object_task(task, &fault, result);
	if (result < 0 && fault.device_lost)
		worker_lose(device, &fault);
	return true;
}

/* The same as above. */
bool worker_export_memory(struct scheduler_device *device, void *object)
{
	struct task *task = object;
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	int result = worker_memory(device, task->memory, &fault);
	task->shared->descriptor = -1;
	if (result == WORKER_SPILL_WAIT) {
		worker_spill_set_aside(device, &task->message);
		return false;
	}
	if (result == 0)
		result = device->worker.unusable ? -EIO
			 : device->ops->memory_export
				 ? device->ops->memory_export(atomic_load(&task->memory->handle),
							      task->shared, &fault)
				 : -ENOTSUP;
	if (result < 0 && device->worker.unusable)
		fault = *sched_gone_fault(device);
	if (result < 0)
		fail_object_task(task, &fault, result);
	if (result < 0 && fault.device_lost)
		worker_lose(device, &fault);
	return true;
}

static int make_native_event(struct scheduler_device *device, struct sched_event *event)
{
	const struct backend_ops *ops = device->ops;
	uint64_t nothing = 0;
	void *object = NULL;
	int result = ops->native_make(device->handle, BACKEND_NATIVE_EVENT, event->native, &object,
				      &nothing, &event->fault);
	if (result < 0)
		return result;
	event->handle = object;
	if (!event->is_watched)
		return 0;
	result = ops->event_watch(event->handle, worker_event_happened, event, &event->fault);
	if (result < 0)
		ops->event_free(event->handle);
	return result;
}

/* The event is right only if the command that it must follow is on the lane. */
static int event_record_behind(struct scheduler_device *device, struct sched_event *event)
{
	const struct backend_ops *ops = device->ops;
	int result = -EAGAIN;
	if (!worker_spill_is_aside(device, event->lane, event->sequence) &&
	    !worker_hold_has(device, event->lane, event->sequence) &&
	    device->worker.lanes[event->lane].handle)
		result = ops->event_record
				 ? ops->event_record(device->worker.lanes[event->lane].handle,
						     event->handle, &event->fault)
				 : -EOPNOTSUPP;
	if (result < 0)
		ops->event_free(event->handle);
	return result;
}

static void worker_objects_make_event(struct scheduler_device *device, struct sched_event *event)
{
	const struct backend_ops *ops = device->ops;
	if (device->worker.unusable) {
		event->fault = *sched_gone_fault(device);
		return;
	}
	int result = -ENOTSUP;
	if (event->native && ops->native_make)
		result = make_native_event(device, event);
	else if (event->native)
		result = -EOPNOTSUPP;
	else if (event->opened && ops->event_open)
		result = ops->event_open(device->handle, event->bytes, &event->handle,
					 &event->fault);
	else if (!event->opened && ops->event_create)
		result = ops->event_create(device->handle, &event->handle, event->bytes,
					   &event->fault);
	if (result == 0 && event->is_behind)
		result = event_record_behind(device, event);
	if (result == 0) {
		event->fault = (struct backend_fault){.status = STATUS_SUCCESS};
		return;
	}
	event->handle = NULL;
	sched_fault_complete(&event->fault, result);
	if (event->fault.device_lost)
		worker_lose(device, &event->fault);
}

/* Returns false if the memory is freed only when a copy that is under way is over. */
bool worker_free_memory(struct scheduler_device *device, void *object)
{
	struct sched_memory *memory = object;
	if (!worker_spill_free(device, memory))
		return false;
	struct backend_memory *handle = atomic_load(&memory->handle);
	if (handle) {
		worker_room_note_freed(device, memory);
		device->ops->memory_free(handle);
	}
	/* The memory of an import that was never made. */
	if (memory->shared.descriptor >= 0)
		(void)close(memory->shared.descriptor);
	return true;
}

bool worker_free_program(struct scheduler_device *device, void *object)
{
	const struct sched_program *program = object;
	if (program->handle)
		device->ops->program_free(program->handle);
	return true;
}

bool worker_free_kernel(struct scheduler_device *device, void *object)
{
	const struct sched_kernel *kernel = object;
	if (kernel->handle)
		device->ops->kernel_free(kernel->handle);
	return true;
}

bool worker_make_event(struct scheduler_device *device, void *object)
{
	worker_objects_make_event(device, object);
	return true;
}

bool worker_free_event(struct scheduler_device *device, void *object)
{
	const struct sched_event *event = object;
	if (event->handle)
		device->ops->event_free(event->handle);
	return true;
}
