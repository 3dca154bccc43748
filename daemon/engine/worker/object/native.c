/* Native handles: the device thread handles requests about them. */
#include "worker/object/native.h"

#include "base/cause.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/event.h"
#include "scheduler/state/native.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "worker/command/loss.h"
#include "worker/command/memory.h"
#include "worker/spill/spill.h"
#include "worker/state/worker.h"

#include "status.h"

#include <errno.h>
#include <stdio.h>

int worker_native_refuse(struct backend_fault *fault, const char *text)
{
	*fault = (struct backend_fault){.status = STATUS_FEATURE_NOT_SUPPORTED};
	(void)snprintf(fault->text, sizeof(fault->text), "%s", text);
	return -EOPNOTSUPP;
}

/* The backend's object, created if need be. NULL without a fault: there is none. */
static void *native_make_object(struct scheduler_device *device, struct sched_native *question)
{
	switch (question->kind) {
	case BACKEND_NATIVE_QUEUE: {
		struct worker_lane *lane = &device->worker.lanes[question->lane];
		if (!lane->handle && question->lane < device->lane_count &&
		    device->ops->lane_create(device->handle, BACKEND_LANE_COMPUTE, &lane->handle,
					     &question->fault) < 0)
			lane->handle = NULL;
		return lane->handle;
	}
	case BACKEND_NATIVE_MEMORY: {
		struct sched_memory *memory = question->object;
		if (atomic_load_explicit(&memory->handle, memory_order_relaxed))
			worker_spill_pin(device, memory);
		return atomic_load_explicit(&memory->handle, memory_order_relaxed);
	}
	case BACKEND_NATIVE_PROGRAM:
		question->fault = ((struct sched_program *)question->object)->fault;
		return ((struct sched_program *)question->object)->handle;
	case BACKEND_NATIVE_KERNEL:
		question->fault = ((struct sched_kernel *)question->object)->fault;
		return ((struct sched_kernel *)question->object)->handle;
	case BACKEND_NATIVE_EVENT:
		question->fault = ((struct sched_event *)question->object)->fault;
		return ((struct sched_event *)question->object)->handle;
	default:
		return NULL;
	}
}

static int native_answer_question(struct scheduler_device *device, struct sched_native *question)
{
	const struct backend_ops *ops = device->ops;
	void *object = worker_native_is_of_devices(question->kind)
			       ? NULL
			       : native_make_object(device, question);
	if (!object && !worker_native_is_of_devices(question->kind)) {
		question->native = 0; /* there is no such object, or the fault has the reason */
		return question->fault.status ? -EINVAL : 0;
	}
	if (!(device->features & BACKEND_FEATURE_NATIVE) || !ops->native_get)
		return worker_native_refuse(&question->fault,
					    "this device's backend provides no native objects");
	return ops->native_get(device->handle, question->kind, object, &question->native,
			       &question->fault);
}

static int make_native_lane(struct scheduler_device *device, struct sched_native *question)
{
	uint64_t nothing = 0;
	void *object = NULL;
	if (!device->ops->native_make)
		return worker_native_refuse(&question->fault,
					    "this device's backend takes no native queues");
	int result =
		device->ops->native_make(device->handle, BACKEND_NATIVE_QUEUE, question->native,
					 &object, &nothing, &question->fault);
	if (result == 0)
		device->worker.lanes[question->lane].handle = object;
	return result;
}

static void free_native_lane(struct scheduler_device *device, uint32_t index)
{
	struct worker_lane *lane = &device->worker.lanes[index];
	if (device->worker.last_lane == lane)
		device->worker.last_lane = NULL;
	if (lane->handle)
		device->ops->lane_free(lane->handle);
	lane->handle = NULL;
}

/* The requested memory is made, or brought back. */
static int need_native_memory(struct scheduler_device *device, struct sched_native *question)
{
	struct sched_memory *memory = question->object;
	if (question->question != SCHED_NATIVE_GET || question->kind != BACKEND_NATIVE_MEMORY)
		return 0;
	return question->makes || atomic_load(&memory->spill.away)
		       ? worker_memory(device, memory, &question->fault)
		       : 0;
}

bool worker_native_handle(struct scheduler_device *device, void *object)
{
	struct sched_native *question = object;
	if (question->question == SCHED_NATIVE_LANE_FREE) {
		free_native_lane(device, question->lane);
		return true;
	}
	if (device->worker.unusable) {
		question->fault = *sched_gone_fault(device);
		return true;
	}
	int result = need_native_memory(device, question);
	if (result == WORKER_SPILL_WAIT) {
		worker_spill_set_aside(device, &question->message);
		return false;
	}
	if (result == 0 && question->question == SCHED_NATIVE_GET)
		result = native_answer_question(device, question);
	else if (result == 0 && question->question == SCHED_NATIVE_LANE_MAKE)
		result = make_native_lane(device, question);
	if (result == 0) {
		question->fault = (struct backend_fault){.status = STATUS_SUCCESS};
		return true;
	}
	if (question->fault.status == STATUS_SUCCESS && result == -EOPNOTSUPP)
		question->fault.status = STATUS_FEATURE_NOT_SUPPORTED;
	if (question->fault.status == STATUS_SUCCESS && result == -EINVAL)
		question->fault.status = STATUS_INVALID;
	sched_fault_complete(&question->fault, result);
	if (question->fault.device_lost)
		worker_lose(device, &question->fault);
	return true;
}
