#include "opencl/lane/native.h"

#include "opencl/driver/fault.h"
#include "opencl/memory/image.h"
#include "opencl/program/kernel.h"
#include "opencl/program/program.h"
#include "opencl/lane/lane.h"
#include "opencl/driver/aside.h"
#include "opencl/driver/watch.h"
#include "status.h"

static void *opencl_native_to_handle(uint64_t native)
{
	return (void *)(uintptr_t)native;
}

/* Retains the object that an entry returns, because the caller owns it. */
static cl_int retain_native(const struct backend_device *device, enum backend_native_kind kind,
			    void *object, void **native)
{
	const struct opencl_library *cl = device->cl;
	switch (kind) {
	case BACKEND_NATIVE_DEVICE:
		*native = device->id;
		return cl->RetainDevice(device->id);
	case BACKEND_NATIVE_CONTEXT:
		*native = device->context;
		return cl->RetainContext(device->context);
	case BACKEND_NATIVE_QUEUE:
		*native = ((struct backend_lane *)object)->queue;
		return cl->RetainCommandQueue(*native);
	case BACKEND_NATIVE_MEMORY:
		*native = ((struct backend_memory *)object)->buffer;
		return cl->RetainMemObject(*native);
	case BACKEND_NATIVE_PROGRAM:
		*native = opencl_program_any(object);
		return cl->RetainProgram(*native);
	case BACKEND_NATIVE_KERNEL:
		*native = opencl_kernel_any(object);
		return cl->RetainKernel(*native);
	case BACKEND_NATIVE_EVENT:
		*native = ((struct backend_event *)object)->event;
		return cl->RetainEvent(*native);
	default: /* a platform has no reference count */
		return cl->GetDeviceInfo(device->id, CL_DEVICE_PLATFORM, sizeof(cl_platform_id),
					 native, NULL);
	}
}

int opencl_native_get(struct backend_device *device, enum backend_native_kind kind, void *object,
		      uint64_t *native_out, struct backend_fault *fault_out)
{
	void *native = NULL;
	cl_int code = retain_native(device, kind, object, &native);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "give a reference");
	*native_out = (uint64_t)(uintptr_t)native;
	return 0;
}

static int native_refuse_context(struct backend_fault *fault_out)
{
	opencl_fault_words(fault_out, STATUS_INVALID,
			   "the native object belongs to another OpenCL context");
	return -EINVAL;
}

static int opencl_lane_from_native(struct backend_device *device, cl_command_queue queue,
				   struct backend_lane **lane_out, struct backend_fault *fault_out)
{
	const struct opencl_library *cl = device->cl;
	cl_context context = NULL;
	cl_device_id id = NULL;
	cl_command_queue_properties properties = 0;

	cl_int code = cl->GetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context,
					      NULL);
	if (code == CL_SUCCESS)
		code = cl->GetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id), &id,
					       NULL);
	if (code == CL_SUCCESS)
		code = cl->GetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties),
					       &properties, NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "query a command queue");
	if (context != device->context)
		return native_refuse_context(fault_out);
	if (id != device->id) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "the queue is another device's, or that of a part of this one");
		return -EINVAL;
	}
	struct backend_lane *lane = calloc(1, sizeof(*lane));
	if (!lane)
		return opencl_no_memory(fault_out, "a native object");
	(void)cl->RetainCommandQueue(queue);
	lane->device = device;
	lane->queue = queue;
	lane->is_native = true;
	lane->profiling = device->profiling && (properties & CL_QUEUE_PROFILING_ENABLE);
	lane->is_out_of_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
	lane->next = device->lanes;
	device->lanes = lane;
	*lane_out = lane;
	return 0;
}

static int fill_image(const struct backend_device *device, cl_mem native, cl_mem_object_type type,
		      struct backend_image *image_out, struct backend_fault *fault_out)
{
	static const cl_image_info parts[] = {CL_IMAGE_WIDTH, CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH};
	cl_image_format format;
	size_t size[3] = {0};

	cl_int code =
		device->cl->GetImageInfo(native, CL_IMAGE_FORMAT, sizeof(format), &format, NULL);
	for (int i = 0; code == CL_SUCCESS && i < 3; i++)
		code = device->cl->GetImageInfo(native, parts[i], sizeof(size[i]), &size[i], NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "query an image");
	if (opencl_image_describe(type, &format, size, image_out))
		return 0;
	opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
			   "SYCL has no image of this type or format");
	return -EOPNOTSUPP;
}

static int memory_from_native(struct backend_device *device, cl_mem native,
			      struct backend_memory **memory_out, uint64_t *size_out,
			      struct backend_fault *fault_out)
{
	const struct opencl_library *cl = device->cl;
	cl_context context = NULL;
	cl_mem_object_type type = 0;
	size_t bytes = 0;

	cl_int code =
		cl->GetMemObjectInfo(native, CL_MEM_CONTEXT, sizeof(cl_context), &context, NULL);
	if (code == CL_SUCCESS)
		code = cl->GetMemObjectInfo(native, CL_MEM_TYPE, sizeof(type), &type, NULL);
	if (code == CL_SUCCESS)
		code = cl->GetMemObjectInfo(native, CL_MEM_SIZE, sizeof(bytes), &bytes, NULL);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "query a memory object");
	if (context != device->context)
		return native_refuse_context(fault_out);
	CLEANUP(free_pointer) struct backend_memory *memory = calloc(1, sizeof(*memory));
	if (!memory)
		return opencl_no_memory(fault_out, "a native object");
	memory->size_bytes = bytes;
	if (type != CL_MEM_OBJECT_BUFFER) {
		int error = fill_image(device, native, type, &memory->image, fault_out);
		if (error == 0)
			error = opencl_image_size(&memory->image, &memory->size_bytes, fault_out);
		if (error < 0)
			return error;
	} else {
		(void)opencl_settle(device,
				    /* A buffer that the host may not read is left unchanged. */
				    native);
	}
	(void)cl->RetainMemObject(native);
	memory->device = device;
	memory->buffer = native;
	*size_out = memory->size_bytes;
	*memory_out = TAKE(memory);
	return 0;
}

int opencl_native_make(struct backend_device *device, enum backend_native_kind kind,
		       uint64_t native, void **object_out, uint64_t *size_out,
		       struct backend_fault *fault_out)
{
	struct backend_lane *lane = NULL;
	struct backend_memory *memory = NULL;
	struct backend_kernel *kernel = NULL;
	struct backend_event *event = NULL;
	uint64_t bytes = 0;
	int error;
	switch (kind) {
	case BACKEND_NATIVE_QUEUE:
		error = opencl_lane_from_native(device, opencl_native_to_handle(native), &lane,
						fault_out);
		break;
	case BACKEND_NATIVE_MEMORY:
		error = memory_from_native(device, opencl_native_to_handle(native), &memory, &bytes,
					   fault_out);
		break;
	case BACKEND_NATIVE_KERNEL:
		error = opencl_kernel_make_native(device, opencl_native_to_handle(native), &kernel,
						  fault_out);
		break;
	case BACKEND_NATIVE_EVENT:
		error = opencl_event_make_native(device, opencl_native_to_handle(native), &event,
						 fault_out);
		break;
	default:
		opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
				   "nothing is made of kind %d", (int)kind);
		error = -EOPNOTSUPP;
	}
	if (error < 0)
		return error;
	*object_out = lane     ? (void *)lane
		      : memory ? (void *)memory
		      : kernel ? (void *)kernel
			       : (void *)event;
	*size_out = bytes;
	return 0;
}
