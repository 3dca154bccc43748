#include "opencl/device/device.h"

#include "opencl/driver/aspects.h"
#include "opencl/driver/fault.h"
#include "opencl/driver/leaving.h"
#include "opencl/lane/graph.h"
#include "opencl/lane/native.h"
#include "opencl/memory/sampler.h"
#include "opencl/driver/aside.h"
#include "opencl/device/sub_device.h"
#include "opencl/memory/usm.h"
#include "status.h"

#include <string.h>

/* Variables at program scope live as long as their program. A device of OpenCL 1.x has neither this
 * query nor such variables. */
static bool programs_have_variables(const struct backend_device *device)
{
	size_t bytes = 0;
	return device->cl->GetDeviceInfo(device->id, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE,
					 sizeof(bytes), &bytes, NULL) == CL_SUCCESS &&
	       bytes > 0;
}

/* Takes the device's context: a new one, or the application's, retained. */
static int take_context(struct backend_device *device, cl_context native,
			struct backend_fault *fault_out)
{
	cl_int code = CL_SUCCESS;

	if (native) {
		code = device->cl->RetainContext(native);
		if (code != CL_SUCCESS)
			return opencl_fault_code(fault_out, code, "retain the context");
		device->context = native;
		return 0;
	}
	device->context = device->cl->CreateContext(NULL, 1, &device->id, NULL, NULL, &code);
	return device->context ? 0 : opencl_fault_code(fault_out, code, "open the device");
}

static int opencl_open_device_in(struct backend *backend, uint32_t index, cl_context native,
				 backend_wake *wake, void *token,
				 struct backend_device **device_out,
				 struct backend_fault *fault_out)
{
	cl_device_id id = NULL;
	const struct backend_device_facts *facts = NULL;
	if (!backend->enumerated || !opencl_device_find(backend, index, &id, &facts)) {
		opencl_fault_words(fault_out, STATUS_INVALID, "OpenCL has no device %u", index);
		return -EINVAL;
	}
	struct backend_device *device = calloc(1, sizeof(*device));
	if (!device)
		return opencl_no_memory(fault_out, "a device");
	device->cl = &backend->cl;
	device->facts = facts;
	device->id = id;
	device->wake = wake;
	device->token = token;
	device->profiling = (device->facts->aspects & 1ull << OPENCL_ASPECT_QUEUE_PROFILING) != 0;
	device->compiles_each_size = strcmp(backend->platforms[device->facts->platform].name,
					    "Portable Computing Language") == 0;
	device->scales_layers =
		device->compiles_each_size && opencl_pocl_scales_layers(facts->driver_version);
	int error = take_context(device, native, fault_out);
	if (error < 0) {
		free(device);
		return error;
	}
	device->shares_programs = !programs_have_variables(device);
	(void)pthread_mutex_init(&device->lock, NULL);
	(void)pthread_cond_init(&device->callback_ended, NULL);
	if (device->profiling)
		opencl_clock_open(&device->clock, device->cl, device->context, device->id,
				  device->facts->profiling_timer_resolution_ns);
	error = opencl_graphs_open(device, fault_out);
	if (error < 0) {
		opencl_device_close(device);
		return error;
	}
	*device_out = device;
	return 0;
}

int opencl_device_open(struct backend *backend, uint32_t index, backend_wake *wake, void *token,
		       struct backend_device **device_out, struct backend_fault *fault_out)
{
	return opencl_open_device_in(backend, index, NULL, wake, token, device_out, fault_out);
}

void opencl_device_close(struct backend_device *device)
{
	if (!device)
		return;
	/* A driver's thread may still be inside a callback of a command that was already reported.
	 */
	(void)pthread_mutex_lock(&device->lock);
	while (device->callbacks > 0)
		(void)pthread_cond_wait(&device->callback_ended, &device->lock);
	(void)pthread_mutex_unlock(&device->lock);

	opencl_quiet(device); /* the device's lanes are freed */
	opencl_graphs_close(device);
	opencl_samplers_close(device);
	opencl_aside_close(device);
	opencl_usm_close(device);
	(void)device->cl->ReleaseContext(device->context);
	(void)pthread_cond_destroy(&device->callback_ended);
	(void)pthread_mutex_destroy(&device->lock);
	free(device);
}

static int opencl_device_make_buffer(struct backend_device *device, uint64_t size_bytes, void *host,
				     struct backend_memory **memory_out,
				     struct backend_fault *fault_out)
{
	cl_int code = CL_SUCCESS;
	cl_mem_flags flags = CL_MEM_READ_WRITE;

	struct backend_memory *memory = calloc(1, sizeof(*memory));
	if (!memory)
		return opencl_no_memory(fault_out, "a memory");
	memory->device = device;
	memory->size_bytes = size_bytes;
	if (host && device->facts->host_unified_memory) {
		memory->host = host;
		flags |= CL_MEM_USE_HOST_PTR;
	}
	memory->buffer =
		device->cl->CreateBuffer(device->context, flags, size_bytes, memory->host, &code);
	if (memory->buffer)
		code = opencl_settle(device, memory->buffer);
	if (!memory->buffer || code != CL_SUCCESS) {
		memory->size_bytes = 0; /* the memory was not allocated, so it returns no bytes */
		opencl_leave(memory);
		return opencl_fault_code(fault_out, code, "allocate memory");
	}
	*memory_out = memory;
	return 0;
}

int opencl_memory_create(struct backend_device *device, uint64_t size_bytes, void *host,
			 enum backend_export_kind export_kind, struct backend_memory **memory_out,
			 struct backend_fault *fault_out)
{
	if (export_kind != BACKEND_EXPORT_NONE) {
		opencl_fault_words(
			fault_out, STATUS_FEATURE_NOT_SUPPORTED,
			"memory of an OpenCL device cannot be shared with other processes");
		return -ENOTSUP;
	}
	if (size_bytes == 0 || size_bytes > device->facts->max_mem_alloc_bytes) {
		opencl_fault_words(
			fault_out, STATUS_MEMORY_ALLOCATION,
			"%llu bytes requested, the device allows 1 to %llu in one allocation",
			(unsigned long long)size_bytes,
			(unsigned long long)device->facts->max_mem_alloc_bytes);
		return -ENOMEM;
	}
	int error = opencl_leaving_check(device, fault_out);
	if (error < 0)
		return error;
	do
		error = opencl_device_make_buffer(device, size_bytes, host, memory_out, fault_out);
	while (error < 0 && (error = opencl_leaving_make_room(device, error, fault_out)) == 0);
	return error;
}

void opencl_memory_free(struct backend_memory *memory)
{
	opencl_leave(memory);
}

int opencl_native_device_open(struct backend *backend, uint32_t index, uint64_t native_context,
			      backend_wake *wake, void *token, struct backend_device **device_out,
			      struct backend_fault *fault_out)
{
	uint64_t devices = 0;
	int error = opencl_native_devices(backend, BACKEND_NATIVE_CONTEXT, native_context, &devices,
					  fault_out);
	if (error < 0)
		return error;
	if (index >= 64 || !(devices >> index & 1)) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "the device is not one of the OpenCL context's");
		return -EINVAL;
	}
	return opencl_open_device_in(backend, index, (void *)(uintptr_t)native_context, wake, token,
				     device_out, fault_out);
}
