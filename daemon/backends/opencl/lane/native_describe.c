/*
 * Finds facts of the application's OpenCL objects by queries to the driver. No object is retained.
 */
#include "opencl/lane/native.h"

#include "image_format.h"
#include "opencl/driver/fault.h"
#include "opencl/memory/image.h"
#include "opencl/driver/device_root.h"
#include "status.h"

#include <stdio.h>

#define NATIVE_DEVICES_MAX 64u

/* Converts a number to a handle of any type. */
static void *opencl_described_handle(uint64_t native)
{
	return (void *)(uintptr_t)native;
}

static int native_refuse_handle(struct backend_fault *fault_out, const char *what)
{
	opencl_fault_words(fault_out, STATUS_INVALID, "there is no such OpenCL %s here", what);
	return -EINVAL;
}

static uint64_t native_device_bit(const struct backend *backend, cl_device_id id)
{
	for (uint32_t i = 0; i < backend->device_count && i < NATIVE_DEVICES_MAX; i++)
		if (backend->device_ids[i] == id)
			return 1ull << i;
	return 0;
}

static uint64_t native_platform_devices(const struct backend *backend, cl_platform_id id)
{
	uint64_t devices = 0;
	for (uint32_t i = 0; i < backend->device_count && i < NATIVE_DEVICES_MAX; i++) {
		cl_platform_id platform = NULL;
		if (backend->cl.GetDeviceInfo(backend->device_ids[i], CL_DEVICE_PLATFORM,
					      sizeof(cl_platform_id), &platform,
					      NULL) == CL_SUCCESS &&
		    platform == id)
			devices |= 1ull << i;
	}
	return devices;
}

/* The bit of a device; for a part of a device, the bit of the whole. A wrong handle has an
 * undefined result, as everywhere in OpenCL. */
static uint64_t native_device_root_bit(const struct backend *backend, cl_device_id id)
{
	uint32_t root = opencl_device_root(backend, id);
	return root < backend->device_count && root < NATIVE_DEVICES_MAX ? 1ull << root : 0;
}

/* All devices of a context must be known here; otherwise the context that SYCL has would be another
 * one. */
static int native_context_devices(const struct backend *backend, cl_context context,
				  uint64_t *devices_out, struct backend_fault *fault_out)
{
	cl_device_id ids[NATIVE_DEVICES_MAX];
	size_t bytes = 0;
	uint64_t devices = 0;

	cl_int code =
		backend->cl.GetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(ids), ids, &bytes);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "query a context's devices");
	for (size_t i = 0; i < bytes / sizeof(cl_device_id); i++) {
		uint64_t bit = native_device_bit(backend, ids[i]);
		if (!bit)
			return native_refuse_handle(
				fault_out,
				"device as one of the context's (a part of a device is none)");
		devices |= bit;
	}
	*devices_out = devices;
	return 0;
}

int opencl_native_devices(struct backend *backend, enum backend_native_kind kind, uint64_t native,
			  uint64_t *devices_out, struct backend_fault *fault_out)
{
	uint64_t devices;
	switch (kind) {
	case BACKEND_NATIVE_PLATFORM:
		devices = native_platform_devices(backend, opencl_described_handle(native));
		if (!devices)
			return native_refuse_handle(fault_out, "platform");
		*devices_out = devices;
		return 0;
	case BACKEND_NATIVE_DEVICE:
		devices = native_device_root_bit(backend, opencl_described_handle(native));
		if (!devices)
			return native_refuse_handle(fault_out, "device");
		*devices_out = devices;
		return 0;
	case BACKEND_NATIVE_CONTEXT:
		return native_context_devices(backend, opencl_described_handle(native), devices_out,
					      fault_out);
	default:
		opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
				   "kind %d has no devices", (int)kind);
		return -EOPNOTSUPP;
	}
}

static int native_describe_check_context(cl_context is, uint64_t wanted,
					 struct backend_fault *fault_out)
{
	if (!wanted || is == opencl_described_handle(wanted))
		return 0;
	opencl_fault_words(fault_out, STATUS_INVALID, "it belongs to another OpenCL context");
	return -EINVAL;
}

static int describe_queue(const struct backend *backend, cl_command_queue queue, uint64_t context,
			  struct backend_native_facts *facts, struct backend_fault *fault_out)
{
	cl_context of = NULL;
	cl_device_id device = NULL;
	cl_command_queue_properties properties = 0;

	cl_int code = backend->cl.GetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context),
						      &of, NULL);
	if (code == CL_SUCCESS)
		code = backend->cl.GetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id),
						       &device, NULL);
	if (code == CL_SUCCESS)
		code = backend->cl.GetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES,
						       sizeof(properties), &properties, NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "query a command queue");
	if (properties & CL_QUEUE_ON_DEVICE) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "a queue on the device takes no commands from the host");
		return -EINVAL;
	}
	facts->devices = native_device_root_bit(backend, device);
	facts->out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
	facts->profiling = (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
	return facts->devices ? native_describe_check_context(of, context, fault_out)
			      : native_refuse_handle(fault_out, "device as the queue's");
}

static int describe_image(const struct backend *backend, cl_mem memory, cl_mem_object_type type,
			  struct backend_native_facts *facts, struct backend_fault *fault_out)
{
	static const cl_image_info parts[] = {CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH};
	cl_image_format format;
	size_t size[3] = {0};

	cl_int code =
		backend->cl.GetImageInfo(memory, CL_IMAGE_FORMAT, sizeof(format), &format, NULL);
	for (int i = 0; code == CL_SUCCESS && i < 3; i++)
		code = backend->cl.GetImageInfo(memory, parts[i], sizeof(size[i]), &size[i], NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "query an image");
	if (!opencl_image_describe(type, &format, size, &facts->image) ||
	    image_bytes(facts->image.format, false, facts->image.dimensions, facts->image.size,
			&facts->size_bytes) < 0) {
		opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
				   "SYCL has no image of this type or format");
		return -EOPNOTSUPP;
	}
	return 0;
}

static int describe_memory(const struct backend *backend, cl_mem memory, uint64_t context,
			   struct backend_native_facts *facts, struct backend_fault *fault_out)
{
	cl_context of = NULL;
	cl_mem_object_type type = 0;
	size_t bytes = 0;

	cl_int code =
		backend->cl.GetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof(cl_context), &of, NULL);
	if (code == CL_SUCCESS)
		code = backend->cl.GetMemObjectInfo(memory, CL_MEM_TYPE, sizeof(type), &type, NULL);
	if (code == CL_SUCCESS)
		code = backend->cl.GetMemObjectInfo(memory, CL_MEM_SIZE, sizeof(bytes), &bytes,
						    NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "query a memory object");
	if (native_describe_check_context(of, context, fault_out) < 0)
		return -EINVAL;
	facts->size_bytes = bytes;
	return type == CL_MEM_OBJECT_BUFFER
		       ? 0
		       : describe_image(backend, memory, type, facts, fault_out);
}

static int native_describe_kernel(const struct backend *backend, cl_kernel kernel, uint64_t context,
				  struct backend_native_facts *facts,
				  struct backend_fault *fault_out)
{
	cl_context of = NULL;
	cl_program program = NULL;

	cl_int code =
		backend->cl.GetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof(cl_context), &of, NULL);
	if (code == CL_SUCCESS)
		code = backend->cl.GetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(cl_program),
						 &program, NULL);
	if (code == CL_SUCCESS)
		code = backend->cl.GetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME,
						 sizeof(facts->name) - 1, facts->name, NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "query a kernel");
	facts->program = (uint64_t)(uintptr_t)program;
	return native_describe_check_context(of, context, fault_out);
}

/* A program is executable if it is executable on any device, because that state is final. */
static int describe_program(const struct backend *backend, cl_program program, uint64_t context,
			    struct backend_native_facts *facts, struct backend_fault *fault_out)
{
	cl_context of = NULL;
	cl_device_id ids[NATIVE_DEVICES_MAX];
	size_t bytes = 0;

	cl_int code = backend->cl.GetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(cl_context),
						 &of, NULL);
	if (code == CL_SUCCESS)
		code = backend->cl.GetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof(ids), ids,
						  &bytes);
	for (size_t i = 0; code == CL_SUCCESS && i < bytes / sizeof(cl_device_id); i++) {
		cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
		code = backend->cl.GetProgramBuildInfo(program, ids[i], CL_PROGRAM_BINARY_TYPE,
						       sizeof(type), &type, NULL);
		enum backend_program_state state =
			type == CL_PROGRAM_BINARY_TYPE_NONE         ? BACKEND_PROGRAM_INPUT
			: type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE ? BACKEND_PROGRAM_EXECUTABLE
								    : BACKEND_PROGRAM_OBJECT;
		if (state > facts->state)
			facts->state = state;
		facts->devices |= native_device_bit(backend, ids[i]);
	}
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "query a program");
	return native_describe_check_context(of, context, fault_out);
}

int opencl_native_describe(struct backend *backend, enum backend_native_kind kind, uint64_t native,
			   uint64_t context, struct backend_native_facts *facts_out,
			   struct backend_fault *fault_out)
{
	struct backend_native_facts facts = {.devices = 0};
	int error;
	switch (kind) {
	case BACKEND_NATIVE_DEVICE:
		facts.devices = native_device_root_bit(backend, opencl_described_handle(native));
		facts.is_sub_device = facts.devices &&
				      !native_device_bit(backend, opencl_described_handle(native));
		error = facts.devices ? 0 : native_refuse_handle(fault_out, "device");
		break;
	case BACKEND_NATIVE_QUEUE:
		error = describe_queue(backend, opencl_described_handle(native), context, &facts,
				       fault_out);
		break;
	case BACKEND_NATIVE_MEMORY:
		error = describe_memory(backend, opencl_described_handle(native), context, &facts,
					fault_out);
		break;
	case BACKEND_NATIVE_KERNEL:
		error = native_describe_kernel(backend, opencl_described_handle(native), context,
					       &facts, fault_out);
		break;
	case BACKEND_NATIVE_PROGRAM:
		error = describe_program(backend, opencl_described_handle(native), context, &facts,
					 fault_out);
		break;
	default:
		opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
				   "kind %d is not described", (int)kind);
		error = -EOPNOTSUPP;
	}
	if (error == 0)
		*facts_out = facts;
	return error;
}
