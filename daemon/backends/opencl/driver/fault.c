#include "opencl/driver/fault.h"

#include "opencl/driver/library.h"
#include "status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

/* NVIDIA's driver returns this code for a kernel's illegal access. No standard names the code. */
#define OPENCL_NVIDIA_ILLEGAL_ACCESS (-9999)

struct code_entry {
	int32_t code;
	enum sycl_status status;
	int error;
	const char *name;
};

static const struct code_entry codes[] = {
#define CODE(code, status, error)                                                                  \
	{                                                                                          \
		code, STATUS_##status, error, #code                                                \
	}
	CODE(CL_DEVICE_NOT_FOUND, PLATFORM, ENODEV),
	CODE(CL_DEVICE_NOT_AVAILABLE, DEVICE_LOST, ENODEV),
	CODE(CL_COMPILER_NOT_AVAILABLE, FEATURE_NOT_SUPPORTED, EOPNOTSUPP),
	CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE, MEMORY_ALLOCATION, ENOMEM),
	CODE(CL_OUT_OF_RESOURCES, MEMORY_ALLOCATION, ENOMEM),
	CODE(CL_OUT_OF_HOST_MEMORY, MEMORY_ALLOCATION, ENOMEM),
	CODE(CL_PROFILING_INFO_NOT_AVAILABLE, PROFILING, EINVAL),
	CODE(CL_MEM_COPY_OVERLAP, INVALID, EINVAL),
	CODE(CL_IMAGE_FORMAT_MISMATCH, INVALID, EINVAL),
	CODE(CL_IMAGE_FORMAT_NOT_SUPPORTED, FEATURE_NOT_SUPPORTED, EOPNOTSUPP),
	CODE(CL_BUILD_PROGRAM_FAILURE, BUILD, EINVAL),
	CODE(CL_MAP_FAILURE, RUNTIME, EIO),
	CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET, INVALID, EINVAL),
	CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, DEPENDENCY_FAILED, EIO),
	CODE(CL_COMPILE_PROGRAM_FAILURE, BUILD, EINVAL),
	CODE(CL_LINKER_NOT_AVAILABLE, FEATURE_NOT_SUPPORTED, EOPNOTSUPP),
	CODE(CL_LINK_PROGRAM_FAILURE, BUILD, EINVAL),
	CODE(CL_DEVICE_PARTITION_FAILED, RUNTIME, EIO),
	CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, KERNEL, ENOENT),
	CODE(CL_INVALID_VALUE, INVALID, EINVAL),
	CODE(CL_INVALID_DEVICE_TYPE, INVALID, EINVAL),
	CODE(CL_INVALID_PLATFORM, PLATFORM, EINVAL),
	CODE(CL_INVALID_DEVICE, PLATFORM, EINVAL),
	CODE(CL_INVALID_CONTEXT, INVALID, EINVAL),
	CODE(CL_INVALID_QUEUE_PROPERTIES, FEATURE_NOT_SUPPORTED, EOPNOTSUPP),
	CODE(CL_INVALID_COMMAND_QUEUE, INVALID, EINVAL),
	CODE(CL_INVALID_HOST_PTR, INVALID, EINVAL),
	CODE(CL_INVALID_MEM_OBJECT, INVALID, EINVAL),
	CODE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, INVALID, EINVAL),
	CODE(CL_INVALID_IMAGE_SIZE, INVALID, EINVAL),
	CODE(CL_INVALID_SAMPLER, INVALID, EINVAL),
	CODE(CL_INVALID_BINARY, BUILD, EINVAL),
	CODE(CL_INVALID_BUILD_OPTIONS, BUILD, EINVAL),
	CODE(CL_INVALID_PROGRAM, INVALID, EINVAL),
	CODE(CL_INVALID_PROGRAM_EXECUTABLE, BUILD, EINVAL),
	CODE(CL_INVALID_KERNEL_NAME, KERNEL, ENOENT),
	CODE(CL_INVALID_KERNEL_DEFINITION, KERNEL, EINVAL),
	CODE(CL_INVALID_KERNEL, KERNEL, EINVAL),
	CODE(CL_INVALID_ARG_INDEX, KERNEL_ARGUMENT, EINVAL),
	CODE(CL_INVALID_ARG_VALUE, KERNEL_ARGUMENT, EINVAL),
	CODE(CL_INVALID_ARG_SIZE, KERNEL_ARGUMENT, EINVAL),
	CODE(CL_INVALID_KERNEL_ARGS, KERNEL_ARGUMENT, EINVAL),
	CODE(CL_INVALID_WORK_DIMENSION, ND_RANGE, EINVAL),
	CODE(CL_INVALID_WORK_GROUP_SIZE, ND_RANGE, EINVAL),
	CODE(CL_INVALID_WORK_ITEM_SIZE, ND_RANGE, EINVAL),
	CODE(CL_INVALID_GLOBAL_OFFSET, ND_RANGE, EINVAL),
	CODE(CL_INVALID_EVENT_WAIT_LIST, EVENT, EINVAL),
	CODE(CL_INVALID_EVENT, EVENT, EINVAL),
	CODE(CL_INVALID_OPERATION, INVALID, EINVAL),
	CODE(CL_INVALID_BUFFER_SIZE, MEMORY_ALLOCATION, ENOMEM),
	CODE(CL_INVALID_GLOBAL_WORK_SIZE, ND_RANGE, EINVAL),
	CODE(CL_INVALID_PROPERTY, INVALID, EINVAL),
	CODE(CL_INVALID_COMPILER_OPTIONS, BUILD, EINVAL),
	CODE(CL_INVALID_LINKER_OPTIONS, BUILD, EINVAL),
	CODE(CL_PLATFORM_NOT_FOUND_KHR, PLATFORM, ENODEV),
#undef CODE
	{OPENCL_NVIDIA_ILLEGAL_ACCESS, STATUS_DEVICE_LOST, EIO, "an illegal access"},
};

static const struct code_entry *opencl_find_meaning(int32_t code)
{
	static const struct code_entry unknown = {0, STATUS_RUNTIME, EIO, "an unknown error"};

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i].code == code)
			return &codes[i];
	return &unknown;
}

int opencl_fault_code(struct backend_fault *fault_out, int32_t code, const char *what)
{
	const struct code_entry *entry = opencl_find_meaning(code);

	*fault_out = (struct backend_fault){.status = entry->status, .native_code = code};
	fault_out->device_lost = entry->status == STATUS_DEVICE_LOST;
	(void)snprintf(fault_out->text, sizeof(fault_out->text), "OpenCL could not %s: %s (%d)",
		       what, entry->name, code);
	return -entry->error;
}

void opencl_fault_words(struct backend_fault *fault_out, int32_t status, const char *format, ...)
{
	va_list arguments;

	*fault_out = (struct backend_fault){.status = status};
	va_start(arguments, format);
	/* clang-tidy 14 takes va_start for no initialisation on this target.
	 * NOLINTNEXTLINE(clang-analyzer-valist.*) */
	(void)vsnprintf(fault_out->text, sizeof(fault_out->text), format, arguments);
	va_end(arguments);
}

int opencl_no_memory(struct backend_fault *fault_out, const char *what)
{
	opencl_fault_words(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for %s", what);
	return -ENOMEM;
}
