/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file opencl.h OpenCL's objects behind those of this library, and the reverse, with OpenCL's
 * types. It is not part of syclclient.h: it needs CL/cl.h, and a program that uses it links
 * OpenCL's library itself.
 *
 * An object that a call returns is retained, and the caller calls its clRelease.... An object
 * made from an OpenCL object retains it, and releases it at its end. Platforms have no reference
 * count, nor have devices that are not part of another device. From a part of a device
 * (clCreateSubDevices) a sub-device is made, as those of sycl_device_create_sub_devices. Contexts
 * of parts of devices are refused: make a context of the sub-device.
 *
 * All other rules are in native.h.
 */
#ifndef SYCLCLIENT_OPENCL_H
#define SYCLCLIENT_OPENCL_H

#include "native.h"
#include "result.h"

/* This needs OpenCL 1.2; a program that needs more defines the version before. */
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

SYCL_BEGIN_DECLS

/* From a handle to a number and back: both are as wide as a pointer. */
#ifdef __cplusplus
#define SYCL_OPENCL_NUMBER(handle)       static_cast<uint64_t>(reinterpret_cast<uintptr_t>(handle))
#define SYCL_OPENCL_HANDLE(type, number) reinterpret_cast<type>(static_cast<uintptr_t>(number))
#else
#define SYCL_OPENCL_NUMBER(handle)       ((uint64_t)(uintptr_t)(handle))
#define SYCL_OPENCL_HANDLE(type, number) ((type)(uintptr_t)(number))
#endif

/**
 * Get the OpenCL code of this thread's last failed call; CL_SUCCESS if OpenCL was not its cause.
 * @since 0.1
 */
static inline cl_int sycl_opencl_get_error_code(void)
{
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	if (sycl_get_last_error(&detail) != SYCL_SUCCESS ||
	    detail.backend != SYCL_BACKEND_KIND_OPENCL)
		return CL_SUCCESS;
	return detail.native_code;
}

/** Query whether a platform has an extension, by its whole name. @since 0.1 */
static inline sycl_result
sycl_opencl_platform_has_extension(sycl_platform platform, const char *extension, uint32_t *has_out)
{
	return sycl_platform_has_extension(platform, SYCL_BACKEND_KIND_OPENCL, extension, has_out);
}

/** Query whether a device has an extension, by its whole name. @since 0.1 */
static inline sycl_result sycl_opencl_device_has_extension(sycl_device device,
							   const char *extension, uint32_t *has_out)
{
	return sycl_device_has_extension(device, SYCL_BACKEND_KIND_OPENCL, extension, has_out);
}

/* Get the only native handle of an object: `sycl_opencl_get_native_NAME(sycl_NAME, TYPE *)`. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type in parentheses declares nothing */
#define SYCL_OPENCL_GET(name, type)                                                                \
	static inline sycl_result sycl_opencl_get_native_##name(sycl_##name object,                \
								type *native_out)                  \
	{                                                                                          \
		uint64_t number = 0;                                                               \
		sycl_result result = sycl_##name##_get_native(object, SYCL_BACKEND_KIND_OPENCL,    \
							      native_out ? &number : NULL);        \
		if (result == SYCL_SUCCESS)                                                        \
			*native_out = SYCL_OPENCL_HANDLE(type, number);                            \
		return result;                                                                     \
	}

SYCL_OPENCL_GET(platform, cl_platform_id)
SYCL_OPENCL_GET(device, cl_device_id)
SYCL_OPENCL_GET(queue, cl_command_queue)
SYCL_OPENCL_GET(kernel, cl_kernel)

/**
 * Get the context's cl_context. A context that was made here has one for each of its devices. It
 * must have a single device, else SYCL_ERROR_FEATURE_NOT_SUPPORTED; sycl_context_get_native returns
 * all.
 * @since 0.1
 */
static inline sycl_result sycl_opencl_get_native_context(sycl_context context,
							 cl_context *native_out)
{
	uint64_t number = 0;
	uint32_t count = 0;
	sycl_result result =
		sycl_context_get_native(context, SYCL_BACKEND_KIND_OPENCL, 0, NULL, &count);
	if (result == SYCL_SUCCESS && count != 1)
		return SYCL_ERROR_FEATURE_NOT_SUPPORTED;
	if (result == SYCL_SUCCESS)
		result = sycl_context_get_native(context, SYCL_BACKEND_KIND_OPENCL,
						 native_out ? 1 : 0, native_out ? &number : NULL,
						 NULL);
	if (result == SYCL_SUCCESS)
		*native_out = SYCL_OPENCL_HANDLE(cl_context, number);
	return result;
}

/*
 * Lists: `sycl_opencl_get_native_NAME(object, capacity, TYPE *, uint32_t *count_out)`, as those of
 * native.h: objects beyond the capacity are counted and not returned.
 */
#define SYCL_OPENCL_GET_LIST(name, function, type)                                                 \
	static inline sycl_result sycl_opencl_get_native_##name(                                   \
		sycl_##name object, uint32_t capacity, type *natives_out, uint32_t *count_out)     \
	{                                                                                          \
		uint64_t numbers[64];                                                              \
		uint32_t count = 0;                                                                \
		uint32_t room = capacity < 64 ? capacity : 64;                                     \
		sycl_result result =                                                               \
			function(object, SYCL_BACKEND_KIND_OPENCL, natives_out ? room : 0,         \
				 natives_out ? numbers : NULL, &count);                            \
		for (uint32_t i = 0;                                                               \
		     result == SYCL_SUCCESS && natives_out && i < room && i < count; i++)          \
			natives_out[i] = SYCL_OPENCL_HANDLE(type, numbers[i]);                     \
		if (result == SYCL_SUCCESS && count_out)                                           \
			*count_out = count;                                                        \
		return result;                                                                     \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

SYCL_OPENCL_GET_LIST(buffer, sycl_buffer_get_native, cl_mem)
SYCL_OPENCL_GET_LIST(image, sycl_image_get_native, cl_mem)
SYCL_OPENCL_GET_LIST(kernel_bundle, sycl_kernel_bundle_get_native, cl_program)
SYCL_OPENCL_GET_LIST(event, sycl_event_get_natives, cl_event)

/** As sycl_platform_make_native. @since 0.1 */
static inline sycl_result sycl_opencl_make_platform(sycl_platform connection, cl_platform_id native,
						    sycl_platform *platform_out)
{
	return sycl_platform_make_native(connection, SYCL_BACKEND_KIND_OPENCL,
					 SYCL_OPENCL_NUMBER(native), platform_out);
}

/** As sycl_device_make_native. @since 0.1 */
static inline sycl_result sycl_opencl_make_device(sycl_platform connection, cl_device_id native,
						  sycl_device *device_out)
{
	return sycl_device_make_native(connection, SYCL_BACKEND_KIND_OPENCL,
				       SYCL_OPENCL_NUMBER(native), device_out);
}

/** As sycl_context_make_native. @since 0.1 */
static inline sycl_result sycl_opencl_make_context(sycl_platform connection, cl_context native,
						   const struct sycl_context_options *options,
						   sycl_context *context_out)
{
	return sycl_context_make_native(connection, SYCL_BACKEND_KIND_OPENCL,
					SYCL_OPENCL_NUMBER(native), options, context_out);
}

/** As sycl_queue_make_native. @since 0.1 */
static inline sycl_result sycl_opencl_make_queue(sycl_context context, cl_command_queue native,
						 const struct sycl_queue_options *options,
						 sycl_queue *queue_out)
{
	return sycl_queue_make_native(context, SYCL_BACKEND_KIND_OPENCL, SYCL_OPENCL_NUMBER(native),
				      options, queue_out);
}

/** As sycl_buffer_make_native. @since 0.1 */
static inline sycl_result sycl_opencl_make_buffer(sycl_context context, cl_mem native,
						  sycl_event available, sycl_buffer *buffer_out)
{
	return sycl_buffer_make_native(context, SYCL_BACKEND_KIND_OPENCL,
				       SYCL_OPENCL_NUMBER(native), available, buffer_out);
}

/** As sycl_image_make_native. @since 0.1 */
static inline sycl_result sycl_opencl_make_image(sycl_context context, cl_mem native,
						 sycl_event available, sycl_image *image_out)
{
	return sycl_image_make_native(context, SYCL_BACKEND_KIND_OPENCL, SYCL_OPENCL_NUMBER(native),
				      available, image_out);
}

/** As sycl_event_make_native: complete when all of them are. @since 0.1 */
static inline sycl_result sycl_opencl_make_event(sycl_context context, uint32_t count,
						 const cl_event *natives, sycl_event *event_out)
{
	uint64_t numbers[64];
	for (uint32_t i = 0; natives && i < count && i < 64; i++)
		numbers[i] = SYCL_OPENCL_NUMBER(natives[i]);
	return sycl_event_make_native(context, SYCL_BACKEND_KIND_OPENCL, count,
				      natives ? numbers : NULL, event_out);
}

/** As sycl_kernel_make_native. @since 0.1 */
static inline sycl_result sycl_opencl_make_kernel(sycl_context context, cl_kernel native,
						  sycl_kernel *kernel_out)
{
	return sycl_kernel_make_native(context, SYCL_BACKEND_KIND_OPENCL,
				       SYCL_OPENCL_NUMBER(native), kernel_out);
}

/** As sycl_kernel_bundle_make_native. @since 0.1 */
static inline sycl_result sycl_opencl_make_kernel_bundle(sycl_context context,
							 sycl_bundle_state state, cl_program native,
							 sycl_kernel_bundle *bundle_out)
{
	return sycl_kernel_bundle_make_native(context, SYCL_BACKEND_KIND_OPENCL, state,
					      SYCL_OPENCL_NUMBER(native), bundle_out);
}

/** As sycl_kernel_bundle_make_natives. @since 0.1 */
static inline sycl_result sycl_opencl_create_bundle(sycl_context context, uint32_t device_count,
						    const sycl_device *devices,
						    sycl_bundle_state state, uint32_t count,
						    const cl_program *natives,
						    sycl_kernel_bundle *bundle_out)
{
	uint64_t numbers[64];
	for (uint32_t i = 0; natives && i < count && i < 64; i++)
		numbers[i] = SYCL_OPENCL_NUMBER(natives[i]);
	return sycl_kernel_bundle_make_natives(context, device_count, devices,
					       SYCL_BACKEND_KIND_OPENCL, state, count,
					       natives ? numbers : NULL, bundle_out);
}

/** As sycl_kernel_bundle_from_native_kernels. @since 0.1 */
static inline sycl_result
sycl_opencl_create_bundle_from_kernels(sycl_context context, uint32_t device_count,
				       const sycl_device *devices, uint32_t count,
				       const cl_kernel *natives, sycl_kernel_bundle *bundle_out)
{
	uint64_t numbers[64];
	for (uint32_t i = 0; natives && i < count && i < 64; i++)
		numbers[i] = SYCL_OPENCL_NUMBER(natives[i]);
	return sycl_kernel_bundle_from_native_kernels(context, device_count, devices,
						      SYCL_BACKEND_KIND_OPENCL, count,
						      natives ? numbers : NULL, bundle_out);
}

/**
 * Get the reference count of an OpenCL object, one function for each type; 0 if unknown.
 * @since 0.1
 */
#define SYCL_OPENCL_COUNT(name, type, query, parameter)                                            \
	static inline cl_uint sycl_opencl_get_reference_count_##name(type native)                  \
	{                                                                                          \
		cl_uint count = 0;                                                                 \
		if (query(native, parameter, sizeof(count), &count, NULL) != CL_SUCCESS)           \
			return 0;                                                                  \
		return count;                                                                      \
	}

SYCL_OPENCL_COUNT(device, cl_device_id, clGetDeviceInfo, CL_DEVICE_REFERENCE_COUNT)
SYCL_OPENCL_COUNT(context, cl_context, clGetContextInfo, CL_CONTEXT_REFERENCE_COUNT)
SYCL_OPENCL_COUNT(queue, cl_command_queue, clGetCommandQueueInfo, CL_QUEUE_REFERENCE_COUNT)
SYCL_OPENCL_COUNT(memory, cl_mem, clGetMemObjectInfo, CL_MEM_REFERENCE_COUNT)
SYCL_OPENCL_COUNT(program, cl_program, clGetProgramInfo, CL_PROGRAM_REFERENCE_COUNT)
SYCL_OPENCL_COUNT(kernel, cl_kernel, clGetKernelInfo, CL_KERNEL_REFERENCE_COUNT)
SYCL_OPENCL_COUNT(event, cl_event, clGetEventInfo, CL_EVENT_REFERENCE_COUNT)

#undef SYCL_OPENCL_GET
#undef SYCL_OPENCL_GET_LIST
#undef SYCL_OPENCL_COUNT

/** A check that OpenCL's scalar types have the sizes of SYCL's aliases. */
typedef char sycl_opencl_scalar_sizes
	[sizeof(cl_char) == 1 && sizeof(cl_uchar) == 1 && sizeof(cl_short) == 2 &&
			 sizeof(cl_ushort) == 2 && sizeof(cl_int) == 4 && sizeof(cl_uint) == 4 &&
			 sizeof(cl_long) == 8 && sizeof(cl_ulong) == 8 && sizeof(cl_float) == 4 &&
			 sizeof(cl_double) == 8 && sizeof(cl_half) == 2
		 ? 1
		 : -1];

SYCL_END_DECLS
#endif
