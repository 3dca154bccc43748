/*
 * The driver's own objects as numbers, given to the application and taken from it (I1 - I9).
 * Objects that are given stay this backend's. Objects that are taken stay the application's: this
 * backend never destroys them, nor keeps them alive.
 */
#include "cuda/memory/array.h"
#include "cuda/lane/lane.h"
#include "cuda/lane/partition.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

CUcontext cuda_native_context(uint64_t native)
{
	return (CUcontext)(uintptr_t)native; /* NOLINT(performance-no-int-to-ptr) */
}

static int native_refuse_kind(enum backend_native_kind kind, struct backend_fault *fault_out)
{
	static const char *const names[] = {
		[BACKEND_NATIVE_PLATFORM] = "platform", [BACKEND_NATIVE_DEVICE] = "device",
		[BACKEND_NATIVE_CONTEXT] = "context",   [BACKEND_NATIVE_QUEUE] = "queue",
		[BACKEND_NATIVE_MEMORY] = "memory",     [BACKEND_NATIVE_PROGRAM] = "kernel bundle",
		[BACKEND_NATIVE_KERNEL] = "kernel",     [BACKEND_NATIVE_EVENT] = "event",
	};
	const bool known = kind >= BACKEND_NATIVE_PLATFORM && kind <= BACKEND_NATIVE_EVENT;

	return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
				"CUDA has no native handle of a %s that could be exchanged",
				known ? names[kind] : "thing like this");
}

static int native_get_memory(const struct backend_memory *memory, uint64_t *native_out,
			     struct backend_fault *fault_out)
{
	if (memory->array)
		return cuda_fault_words(
			fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
			"CUDA has no native handle of an image that could be exchanged");
	*native_out = memory->address;
	return 0;
}

int cuda_native_get(struct backend_device *device, enum backend_native_kind kind, void *object,
		    uint64_t *native_out, struct backend_fault *fault_out)
{
	switch (kind) {
	case BACKEND_NATIVE_DEVICE:
		*native_out = (uint64_t)device->facts->device;
		return 0;
	case BACKEND_NATIVE_CONTEXT:
		*native_out = (uintptr_t)device->context;
		return 0;
	case BACKEND_NATIVE_QUEUE: {
		struct backend_lane *lane = object;
		int error = cuda_enter(device, fault_out);
		if (error < 0)
			return error;
		/* Submitted work is on the stream before any other work. */
		cuda_lane_send(lane->state);
		error = cuda_partition_leave(lane->state, fault_out);
		if (error == 0)
			*native_out = (uintptr_t)lane->stream;
		return error;
	}
	case BACKEND_NATIVE_MEMORY:
		return native_get_memory(object, native_out, fault_out);
	case BACKEND_NATIVE_EVENT:
		*native_out = (uintptr_t)((const struct backend_event *)object)->event;
		return 0;
	case BACKEND_NATIVE_PLATFORM:
	case BACKEND_NATIVE_PROGRAM:
	case BACKEND_NATIVE_KERNEL:
		break;
	}
	return native_refuse_kind(kind, fault_out);
}

int cuda_native_device_of(const struct cuda_library *cu, CUcontext context, CUdevice *device_out,
			  struct backend_fault *fault_out)
{
	CUcontext popped = NULL;
	CUdevice device = 0;
	CUresult result = context ? cu->cuCtxPushCurrent(context) : CUDA_ERROR_INVALID_CONTEXT;

	if (result == CUDA_SUCCESS) {
		result = cu->cuCtxGetDevice(&device);
		(void)cu->cuCtxPopCurrent(&popped);
	}
	if (result != CUDA_SUCCESS) {
		(void)cuda_fault(NULL, cu, result, fault_out, "this is no context of CUDA's");
		if (fault_out)
			fault_out->status = STATUS_INVALID;
		return -EINVAL;
	}
	*device_out = device;
	return 0;
}

int cuda_native_devices(struct backend *backend, enum backend_native_kind kind, uint64_t native,
			uint64_t *devices_out, struct backend_fault *fault_out)
{
	CUdevice device = (CUdevice)native;
	int error = 0;

	if (kind == BACKEND_NATIVE_CONTEXT)
		error = cuda_native_device_of(&backend->library, cuda_native_context(native),
					      &device, fault_out);
	else if (kind != BACKEND_NATIVE_DEVICE)
		error = native_refuse_kind(kind, fault_out);
	else if (native > INT32_MAX)
		device = -1;
	if (error < 0)
		return error;
	for (uint32_t i = 0; backend->devices && i < backend->topology.device_count && i < 64;
	     i++) {
		if (backend->devices[i].device == device) {
			*devices_out = UINT64_C(1) << i;
			return 0;
		}
	}
	return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
				"this is no device of the CUDA platform's");
}

static int cuda_lane_from_native(struct backend_device *device, CUstream stream, void **object_out,
				 struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
	struct backend_lane *lane = NULL;
	CUcontext context = NULL;

	if (!stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD)
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_INVALID,
			"a default stream cannot be a queue: make one by cuStreamCreate");
	CUresult result = cu->cuStreamGetCtx(stream, &context);
	if (result == CUDA_SUCCESS && context == device->context)
		result = cu->cuStreamIsCapturing(stream, &capture);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out,
				  "cannot use a stream of the application");
	if (context != device->context)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the stream belongs to another context");
	if (capture != CU_STREAM_CAPTURE_STATUS_NONE)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the stream is capturing");
	int error = cuda_lane_adopt(device, stream, &lane, fault_out);
	if (error == 0)
		*object_out = lane;
	return error;
}

static int cuda_native_make_event(struct backend_device *device, CUevent native, void **object_out,
				  struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;

	CUresult result = native ? cu->cuEventQuery(native) : CUDA_ERROR_INVALID_HANDLE;
	if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
		return cuda_fault(device, cu, result, fault_out,
				  "cannot use an event of the application");
	struct backend_event *event = calloc(1, sizeof(*event));
	if (!event)
		return cuda_no_memory(fault_out, "an event");
	*event = (struct backend_event){.device = device, .event = native, .is_foreign = true};
	*object_out = event;
	return 0;
}

int cuda_native_make(struct backend_device *device, enum backend_native_kind kind, uint64_t native,
		     void **object_out, uint64_t *size_out, struct backend_fault *fault_out)
{
	void *handle = (void *)(uintptr_t)native; /* NOLINT(performance-no-int-to-ptr) */
	int error = cuda_enter(device, fault_out);

	if (error < 0)
		return error;
	if (kind == BACKEND_NATIVE_QUEUE)
		error = cuda_lane_from_native(device, handle, object_out, fault_out);
	else if (kind == BACKEND_NATIVE_EVENT)
		error = cuda_native_make_event(device, handle, object_out, fault_out);
	else
		error = native_refuse_kind(kind, fault_out);
	if (error == 0)
		*size_out = 0;
	return error;
}
