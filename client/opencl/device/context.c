/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts. */
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

static void call_destructors(cl_context context)
{
	void(CL_CALLBACK * call)(cl_context, void *);
	void *user_data = NULL;
	while (destructor_take(&context->destructors, &call, &user_data))
		call(context, user_data);
}

static void context_destroy(struct object *object)
{
	cl_context context = (cl_context)object;
	call_destructors(context);
	if (context->gates)
		(void)sycl_queue_release(context->gates);
	if (context->sycl)
		(void)sycl_context_release(context->sycl);
	for (cl_uint i = 0; i < context->device_count; i++)
		device_unuse(context->devices[i]);
	pthread_mutex_destroy(&context->lock);
	free(context->devices);
	free(context->properties);
	free(context);
}

bool context_has_device(cl_context context, cl_device_id device)
{
	for (cl_uint i = 0; i < context->device_count; i++)
		if (context->devices[i] == device)
			return true;
	return false;
}

bool context_is_unified(cl_context context)
{
	for (cl_uint i = 0; i < context->device_count; i++) {
		uint32_t is_unified = 0;
		(void)sycl_device_get_info(context->devices[i]->sycl,
					   SYCL_DEVICE_INFO_HOST_UNIFIED_MEMORY, sizeof(is_unified),
					   &is_unified, NULL);
		if (!is_unified)
			return false;
	}
	return true;
}

/* Checks the list of properties. Returns its size, with its final 0. */
static cl_int check_properties(const cl_context_properties *list, cl_platform_id *platform_out,
			       size_t *bytes_out)
{
	size_t at = 0;
	bool seen_platform = false, seen_sync = false;
	for (; list && list[at]; at += 2) {
		if (list[at] == CL_CONTEXT_PLATFORM && !seen_platform) {
			*platform_out = FIND_PLATFORM((cl_platform_id)list[at + 1]);
			if (!*platform_out)
				return CL_INVALID_PLATFORM;
			seen_platform = true;
		} else if (list[at] == CL_CONTEXT_INTEROP_USER_SYNC && !seen_sync &&
			   (list[at + 1] == CL_TRUE || list[at + 1] == CL_FALSE)) {
			seen_sync = true;
		} else {
			return CL_INVALID_PROPERTY;
		}
	}
	*bytes_out = list ? (at + 1) * sizeof(*list) : 0;
	return CL_SUCCESS;
}

/* Copies the devices, each once. */
static cl_int copy_devices(cl_context context, cl_uint count, const cl_device_id *devices)
{
	context->devices = calloc(count, sizeof(cl_device_id));
	if (!context->devices)
		return CL_OUT_OF_HOST_MEMORY;
	for (cl_uint i = 0; i < count; i++) {
		cl_device_id device = FIND_DEVICE(devices[i]);
		if (!device || (context->platform && device->platform != context->platform))
			return CL_INVALID_DEVICE;
		context->platform = device->platform;
		if (context_has_device(context, device))
			continue;
		device_use(device);
		context->devices[context->device_count++] = device;
	}
	return CL_SUCCESS;
}

static cl_int open_context(cl_context context)
{
	sycl_device devices[64];
	if (context->device_count > 64)
		return CL_INVALID_VALUE;
	uint32_t count = device_list(context->device_count, context->devices, devices);
	return code_of(sycl_context_create(count, devices, &context->sycl));
}

CL_API_ENTRY cl_context CL_API_CALL
clCreateContext(const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
		void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
		void *user_data, cl_int *code_out)
{
	cl_platform_id platform = NULL;
	size_t bytes = 0;
	if (count == 0 || !devices || (!notify && user_data))
		return made(NULL, CL_INVALID_VALUE, code_out);
	cl_int code = check_properties(properties, &platform, &bytes);
	if (code != CL_SUCCESS)
		return made(NULL, code, code_out);
	cl_context context = calloc(1, sizeof(*context));
	if (!context)
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	context->platform = platform;
	pthread_mutex_init(&context->lock, NULL);
	code = copy_devices(context, count, devices);
	if (code == CL_SUCCESS && bytes > 0) {
		context->properties = malloc(bytes);
		if (context->properties)
			memcpy(context->properties, properties, bytes);
		context->properties_bytes = bytes;
		code = context->properties ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
	}
	if (code == CL_SUCCESS)
		code = open_context(context);
	if (code != CL_SUCCESS) {
		context_destroy(&context->head);
		return made(NULL, code, code_out);
	}
	object_publish(&context->head, OBJECT_CONTEXT, context_destroy);
	return made(context, CL_SUCCESS, code_out);
}

CL_API_ENTRY cl_context CL_API_CALL
clCreateContextFromType(const cl_context_properties *properties, cl_device_type type,
			void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
			void *user_data, cl_int *code_out)
{
	cl_platform_id platform = NULL;
	cl_device_id devices[64];
	cl_uint count = 0;
	size_t bytes = 0;
	cl_int code = check_properties(properties, &platform, &bytes);
	if (code == CL_SUCCESS && !platform)
		code = clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS ? CL_SUCCESS
									  : CL_INVALID_PLATFORM;
	if (code == CL_SUCCESS)
		code = clGetDeviceIDs(platform, type, 64, devices, &count);
	if (code != CL_SUCCESS)
		return made(NULL, code, code_out);
	return clCreateContext(properties, count < 64 ? count : 64, devices, notify, user_data,
			       code_out);
}

CL_API_ENTRY cl_int CL_API_CALL clRetainContext(cl_context context)
{
	return object_retain(context, OBJECT_CONTEXT) ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseContext(cl_context context)
{
	return object_release(context, OBJECT_CONTEXT) ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

CL_API_ENTRY cl_int CL_API_CALL clGetContextInfo(cl_context handle, cl_context_info what,
						 size_t size, void *value, size_t *bytes_out)
{
	cl_context context = FIND_CONTEXT(handle);
	if (!context)
		return CL_INVALID_CONTEXT;
	switch (what) {
	case CL_CONTEXT_REFERENCE_COUNT:
		return answer_uint(ANSWER, object_references(&context->head));
	case CL_CONTEXT_NUM_DEVICES:
		return answer_uint(ANSWER, context->device_count);
	case CL_CONTEXT_DEVICES:
		return answer_bytes(ANSWER, context->devices,
				    context->device_count * sizeof(cl_device_id));
	case CL_CONTEXT_PROPERTIES:
		return answer_bytes(ANSWER, context->properties, context->properties_bytes);
	default:
		return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL clSetContextDestructorCallback(
	cl_context handle, void(CL_CALLBACK *notify)(cl_context, void *), void *user_data)
{
	cl_context context = FIND_CONTEXT(handle);
	if (!context)
		return CL_INVALID_CONTEXT;
	if (!notify)
		return CL_INVALID_VALUE;
	return destructor_add(&context->lock, &context->destructors, &notify, user_data);
}
