/* A device's primary context: one per device and process, retained when the device is opened, current where it is used. */
#include "cuda_entries.h"
#include "cuda_lane.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

/* Which opening of a device this thread has entered last; a context's address may come again, this number does not. */
static _Thread_local uint64_t entered;
static _Atomic uint64_t openings;

/*
 * The application may capture a stream of its own in this process, in the mode that forbids all threads what could wait. Ours wait on
 * streams that it does not know, and must go on (K20).
 */
static void relax(const struct cuda_library *cu)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	if (cu->cuThreadExchangeStreamCaptureMode)
		(void)cu->cuThreadExchangeStreamCaptureMode(&mode);
}

int cuda_enter(struct backend_device *device, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;

	if (entered == device->opening)
		return 0;
	CUresult result = cu->cuCtxSetCurrent(device->context);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot make the context current");
	relax(cu);
	entered = device->opening;
	return 0;
}

/* A thread that waits for the device sleeps, and does not spin. Only before the context is active: else it has an owner. */
static CUresult set_flags(const struct cuda_library *cu, CUdevice device)
{
	unsigned flags = 0;
	int is_active = 0;

	CUresult result = cu->cuDevicePrimaryCtxGetState(device, &flags, &is_active);
	if (result == CUDA_SUCCESS && !is_active)
		result = cu->cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_BLOCKING_SYNC);
	return result;
}

CUresult cuda_context_retain(const struct cuda_library *cu, CUdevice device, CUcontext *context_out,
			     const char **what_out)
{
	const char *what = "cannot set up the context";
	CUcontext context = NULL;

	CUresult result = set_flags(cu, device);
	if (result == CUDA_SUCCESS) {
		what = "cannot open the device";
		result = cu->cuDevicePrimaryCtxRetain(&context, device);
	}
	if (result == CUDA_SUCCESS)
		*context_out = context;
	else
		*what_out = what;
	return result;
}

static int retain(struct backend_device *device, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	const char *what = "";

	CUresult result = cuda_context_retain(cu, device->facts->device, &device->context, &what);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "%s", what);
	device->opening = atomic_fetch_add(&openings, 1) + 1;
	return cuda_enter(device, fault_out);
}

/* Every work-item gets so much; changing it waits for all work, so it is done once, when there is none. */
static int set_stack(struct backend_device *device, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	const uint64_t bytes = device->backend->settings.stack_bytes;

	if (bytes == 0)
		return 0;
	CUresult result = cu->cuCtxSetLimit(CU_LIMIT_STACK_SIZE, bytes);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot give work-items a stack of %llu bytes",
				  (unsigned long long)bytes);
	return 0;
}

/* Whatever of the device is open, in the reverse order. */
static void end(struct backend_device *device)
{
	const struct cuda_library *cu = &device->backend->library;

	if (device->context) {
		(void)cuda_enter(device, NULL);
		if (device->clock)
			cuda_clock_close(device);
		if (device->kernels)
			cuda_kernels_close(device);
		if (device->memory)
			cuda_memory_close(device);
		cuda_lanes_close(device);
		(void)cu->cuCtxSetCurrent(NULL);
		entered = 0;
		(void)cu->cuDevicePrimaryCtxRelease(device->facts->device);
	}
	free(device);
}

static int open_parts(struct backend_device *device, struct backend_fault *fault_out)
{
	int error = retain(device, fault_out);

	if (error == 0)
		error = set_stack(device, fault_out);
	if (error == 0)
		error = cuda_lanes_open(device, fault_out);
	if (error == 0)
		error = cuda_memory_open(device, fault_out);
	if (error == 0)
		error = cuda_kernels_open(device, fault_out);
	if (error == 0)
		error = cuda_clock_open(device, fault_out);
	return error;
}

/* -EBUSY: it is open already. There is one context of it in a process. */
static int claim(struct backend_device *device, struct backend_fault *fault_out)
{
	struct backend *backend = device->backend;
	bool is_claimed = false;

	(void)pthread_mutex_lock(&backend->lock);
	if (!backend->open_devices[device->index]) {
		backend->open_devices[device->index] = device;
		is_claimed = true;
	}
	(void)pthread_mutex_unlock(&backend->lock);
	return is_claimed ? 0
			  : cuda_fault_words(fault_out, -EBUSY, STATUS_INVALID, "CUDA device %u is open already",
					     device->index);
}

static void unclaim(struct backend_device *device)
{
	struct backend *backend = device->backend;

	(void)pthread_mutex_lock(&backend->lock);
	if (backend->open_devices[device->index] == device)
		backend->open_devices[device->index] = NULL;
	(void)pthread_mutex_unlock(&backend->lock);
}

int cuda_device_open(struct backend *backend, uint32_t index, backend_wake *wake, void *token,
		     struct backend_device **device_out, struct backend_fault *fault_out)
{
	if (!backend->devices || index >= backend->topology.device_count)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "CUDA has no device %u", index);
	if (!backend->topology.devices[index].available) {
		const char *reason = backend->topology.devices[index].unavailable_reason;
		return cuda_fault_words(fault_out, -ENODEV, STATUS_PLATFORM, "%s",
					reason ? reason : "the device is not available");
	}
	struct backend_device *device = calloc(1, sizeof(*device));
	if (!device)
		return cuda_fault_words(fault_out, -ENOMEM, STATUS_MEMORY_ALLOCATION, "no memory for a device");
	device->backend = backend;
	device->index = index;
	device->facts = &backend->devices[index];
	device->wake = wake;
	device->token = token;
	int error = open_parts(device, fault_out);
	/* Other devices see it (peers) only when it is whole. */
	if (error == 0)
		error = claim(device, fault_out);
	if (error < 0) {
		end(device);
		return error;
	}
	*device_out = device;
	return 0;
}

void cuda_device_close(struct backend_device *device)
{
	if (!device)
		return;
	unclaim(device);
	end(device);
}
