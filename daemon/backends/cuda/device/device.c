/* A device is opened and closed: its context, then its parts, from the lowest room up. */
#include "cuda/clock/device_clock.h"
#include "cuda/device/ahead.h"
#include "cuda/device/device.h"
#include "cuda/graph/graph.h"
#include "cuda/lane/lane.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

static int retain_primary(struct backend_device *device, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	const char *what = "";

	CUresult result = cuda_context_retain(cu, device->facts->device, &device->context, &what);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "%s", what);
	cuda_ahead_take(device->index, device->context, &device->ahead);
	return 0;
}

/* Sets the stack of each work-item. A change waits for all work, so it is made once, when there is
 * none. */
static int set_stack_limit(struct backend_device *device, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	const uint64_t bytes = device->backend->settings.stack_bytes;

	if (bytes == 0 || device->is_foreign)
		return 0;
	CUresult result = cu->cuCtxSetLimit(CU_LIMIT_STACK_SIZE, bytes);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out,
				  "cannot give work-items a stack of %llu bytes",
				  (unsigned long long)bytes);
	return 0;
}

/* Closes all parts of the device that are open, in reverse order. */
static void device_end(struct backend_device *device)
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
		cuda_conditions_close(device);
		cuda_lanes_close(device);
		cuda_ahead_drop(cu, &device->ahead);
		cuda_leave(device);
		if (!device->is_foreign)
			(void)cu->cuDevicePrimaryCtxRelease(device->facts->device);
	}
	free(device);
}

static int cuda_device_open_parts(struct backend_device *device, struct backend_fault *fault_out)
{
	int error = device->is_foreign ? 0 : retain_primary(device, fault_out);

	if (error == 0) {
		device->opening = cuda_opening_next();
		error = cuda_enter(device, fault_out);
	}
	if (error == 0)
		error = set_stack_limit(device, fault_out);
	if (error == 0)
		error = cuda_lanes_open(device, fault_out);
	if (error == 0) {
		device->lanes->launch_graph = cuda_graph_launch;
		device->lanes->count_nodes = cuda_graph_node_count;
		device->lanes->find_series = cuda_graph_find_series;
		error = cuda_memory_open(device, fault_out);
	}
	if (error == 0)
		error = cuda_kernels_open(device, fault_out);
	if (error == 0)
		cuda_conditions_open(device);
	if (error == 0)
		error = cuda_clock_open(device, fault_out);
	return error;
}

/* -EBUSY: the device is open already. It may be open in contexts that the application names as
 * well. Other devices find such an opening only while there is no other one. */
static int claim_device_index(struct backend_device *device, struct backend_fault *fault_out)
{
	struct backend *backend = device->backend;
	bool is_claimed = false;

	(void)pthread_mutex_lock(&backend->lock);
	const struct backend_device *open = backend->open_devices[device->index];
	if (!open || (open->is_native && !device->is_native)) {
		backend->open_devices[device->index] = device;
		is_claimed = true;
	}
	(void)pthread_mutex_unlock(&backend->lock);
	return is_claimed || device->is_native
		       ? 0
		       : cuda_fault_words(fault_out, -EBUSY, STATUS_INVALID,
					  "CUDA device %u is open already", device->index);
}

static void unclaim_device_index(struct backend_device *device)
{
	struct backend *backend = device->backend;

	(void)pthread_mutex_lock(&backend->lock);
	if (backend->open_devices[device->index] == device)
		backend->open_devices[device->index] = NULL;
	(void)pthread_mutex_unlock(&backend->lock);
}

static int check_index(const struct backend *backend, uint32_t index,
		       struct backend_fault *fault_out)
{
	if (!backend->devices || index >= backend->topology.device_count)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "CUDA has no device %u",
					index);
	if (!backend->topology.devices[index].available) {
		const char *reason = backend->topology.devices[index].unavailable_reason;
		return cuda_fault_words(fault_out, -ENODEV, STATUS_PLATFORM, "%s",
					reason ? reason : "the device is not available");
	}
	return 0;
}

/* `context`: the application's own, or NULL for the primary one. `is_native`: the application has
 * named it. */
static int cuda_open_device_in(struct backend *backend, uint32_t index, CUcontext context,
			       bool is_native, backend_wake *wake, void *token,
			       struct backend_device **device_out, struct backend_fault *fault_out)
{
	struct backend_device *device = calloc(1, sizeof(*device));

	if (!device)
		return cuda_no_memory(fault_out, "a device");
	device->backend = backend;
	device->index = index;
	device->facts = &backend->devices[index];
	device->context = context;
	device->is_native = is_native;
	device->is_foreign = context != NULL;
	device->wake = wake;
	device->token = token;
	int error = cuda_device_open_parts(device, fault_out);
	/* Other devices find this one (peers) only when it is complete. */
	if (error == 0)
		error = claim_device_index(device, fault_out);
	if (error < 0) {
		device_end(device);
		return error;
	}
	*device_out = device;
	return 0;
}

int cuda_device_open(struct backend *backend, uint32_t index, backend_wake *wake, void *token,
		     struct backend_device **device_out, struct backend_fault *fault_out)
{
	int error = check_index(backend, index, fault_out);

	return error < 0 ? error
			 : cuda_open_device_in(backend, index, NULL, false, wake, token, device_out,
					       fault_out);
}

/* True if the context is the device's primary one. The question does not create that context. */
static bool is_primary(const struct cuda_library *cu, CUdevice device, CUcontext context)
{
	CUcontext primary = NULL;
	unsigned flags = 0;
	int is_active = 0;

	if (cu->cuDevicePrimaryCtxGetState(device, &flags, &is_active) != CUDA_SUCCESS ||
	    !is_active || cu->cuDevicePrimaryCtxRetain(&primary, device) != CUDA_SUCCESS)
		return false;
	(void)cu->cuDevicePrimaryCtxRelease(device);
	return primary == context;
}

int cuda_device_open_native(struct backend *backend, uint32_t index, uint64_t native_context,
			    backend_wake *wake, void *token, struct backend_device **device_out,
			    struct backend_fault *fault_out)
{
	CUcontext context = cuda_native_context(native_context);
	CUdevice device = 0;

	int error = check_index(backend, index, fault_out);
	if (error == 0)
		error = cuda_native_device_of(&backend->library, context, &device, fault_out);
	if (error < 0)
		return error;
	if (device != backend->devices[index].device)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the context is not one of CUDA device %u", index);
	if (is_primary(&backend->library, device, context))
		context = NULL;
	return cuda_open_device_in(backend, index, context, true, wake, token, device_out,
				   fault_out);
}

void cuda_device_close(struct backend_device *device)
{
	if (!device)
		return;
	unclaim_device_index(device);
	device_end(device);
}
