/* SPDX-License-Identifier: Apache-2.0 */
/* The connection to the service, and the OpenCL platforms behind it. */
#include "device/device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLATFORMS_MAX = 16, DEVICES_MAX = 64 };

/* Guards what follows, which is written once and stays. */
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_open;
static cl_uint platform_count;
static struct _cl_platform_id platforms[PLATFORMS_MAX];
static cl_platform_id platforms_listed[PLATFORMS_MAX];

static void platform_add(sycl_platform sycl)
{
	cl_platform_id platform = &platforms[platform_count];
	sycl_device devices[DEVICES_MAX];
	uint32_t backend = 0, count = 0;
	if (sycl_platform_get_info(sycl, SYCL_PLATFORM_INFO_BACKEND, sizeof(backend), &backend,
				   NULL) != SYCL_SUCCESS ||
	    (backend != SYCL_BACKEND_KIND_OPENCL && backend != SYCL_BACKEND_KIND_CUDA &&
	     backend != SYCL_BACKEND_KIND_FAKE) ||
	    sycl_platform_get_devices(sycl, SYCL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &count) !=
		    SYCL_SUCCESS ||
	    count == 0) {
		(void)sycl_platform_release(sycl);
		return;
	}
	count = count < DEVICES_MAX ? count : DEVICES_MAX;
	platform->devices = calloc(count, sizeof(cl_device_id));
	platform->sycl = sycl;
	platform->is_cuda = backend == SYCL_BACKEND_KIND_CUDA;
	for (uint32_t i = 0; i < count; i++) {
		cl_device_id device = platform->devices ? device_make(platform, devices[i]) : NULL;
		if (device)
			platform->devices[platform->device_count++] = device;
		else
			(void)sycl_device_release(devices[i]);
	}
	object_publish(&platform->head, OBJECT_PLATFORM, NULL);
	platform_count++;
}

static bool platform_takes_il(cl_platform_id platform)
{
	for (uint32_t i = 0; i < platform->device_count; i++) {
		if (device_takes_il(platform->devices[i]))
			return true;
	}
	return false;
}

/* Platforms that take SPIR-V are listed first. Runtimes of SYCL take the first of two alike by
 * default, and can use no other. Otherwise the order is the service's. */
static void platforms_order(void)
{
	cl_uint listed = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (cl_uint i = 0; i < platform_count; i++) {
			if (platform_takes_il(&platforms[i]) == (pass == 0))
				platforms_listed[listed++] = &platforms[i];
		}
	}
}

/* An engine that loads this driver must not ask for an engine. The service marks its engines;
 * inside of a program the engine is a library. */
static bool in_engine(void)
{
	const char *endpoint = secure_getenv("SYCLD_ENDPOINT");
	if (secure_getenv("SYCLD_ENGINE") || (endpoint && strcmp(endpoint, "embedded:") == 0))
		return true;
	void *engine = dlopen("libsyclengine.so", RTLD_LAZY | RTLD_NOLOAD);
	if (engine)
		(void)dlclose(engine);
	return engine != NULL;
}

static void platforms_open_locked(void)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform connection = NULL, list[PLATFORMS_MAX];
	uint32_t count = 0;
	options.copy_threads = SYCL_COPY_THREADS_NONE;
	if (in_engine() || sycl_platform_open_with(NULL, &options, &connection) != SYCL_SUCCESS)
		return;
	if (sycl_platform_get_platforms(connection, PLATFORMS_MAX, list, &count) == SYCL_SUCCESS)
		for (uint32_t i = 0; i < count && i < PLATFORMS_MAX; i++)
			platform_add(list[i]);
	platforms_order();
	(void)sycl_platform_release(connection); /* its platforms keep it */
}

static void platforms_open(void)
{
	pthread_mutex_lock(&open_lock);
	if (!is_open) {
		(void)pthread_atfork(NULL, NULL, object_forget_all);
		platforms_open_locked();
	}
	is_open = true;
	pthread_mutex_unlock(&open_lock);
}

__attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL
clIcdGetPlatformIDsKHR(cl_uint capacity, cl_platform_id *list, cl_uint *count_out)
{
	if ((list && capacity == 0) || (!list && !count_out))
		return CL_INVALID_VALUE;
	if (object_is_child()) {
		if (count_out)
			*count_out = 0;
		return CL_PLATFORM_NOT_FOUND_KHR;
	}
	platforms_open();
	if (count_out)
		*count_out = platform_count;
	for (cl_uint i = 0; list && i < capacity && i < platform_count; i++)
		list[i] = platforms_listed[i];
	return platform_count > 0 ? CL_SUCCESS : CL_PLATFORM_NOT_FOUND_KHR;
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint capacity, cl_platform_id *list,
						 cl_uint *count_out)
{
	return clIcdGetPlatformIDsKHR(capacity, list, count_out);
}

static const cl_name_version platform_extensions[] = {
	{CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd"},
	{CL_MAKE_VERSION(1, 0, 0), "cl_khr_create_command_queue"},
	{CL_MAKE_VERSION(1, 0, 0), "cl_khr_extended_versioning"},
};

static cl_int answer_extensions(struct answer answer)
{
	char text[sizeof(platform_extensions)] = "";
	for (size_t i = 0; i < sizeof(platform_extensions) / sizeof(*platform_extensions); i++)
		text_append(text, sizeof(text), " ", platform_extensions[i].name);
	return answer_text(answer, text);
}

static cl_int answer_native_text(cl_platform_id platform, sycl_platform_info info,
				 const char *prefix, struct answer answer)
{
	char text[256] = "", whole[320];
	(void)sycl_platform_get_info(platform->sycl, info, sizeof(text), text, NULL);
	(void)snprintf(whole, sizeof(whole), "%s%s", prefix, text);
	return answer_text(answer, whole);
}

__attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(
	cl_platform_id handle, cl_platform_info what, size_t size, void *value, size_t *bytes_out)
{
	cl_platform_id platform = FIND_PLATFORM(handle);
	if (!platform)
		return CL_INVALID_PLATFORM;
	switch (what) {
	case CL_PLATFORM_PROFILE:
		return answer_text(ANSWER, "FULL_PROFILE");
	case CL_PLATFORM_VERSION:
		return answer_text(ANSWER, "OpenCL 3.0 sycld");
	case CL_PLATFORM_NUMERIC_VERSION:
		return answer_uint(ANSWER, CL_MAKE_VERSION(3, 0, 0));
	case CL_PLATFORM_NAME:
		if (platform->is_cuda)
			return answer_text(ANSWER, "sycld: CUDA");
		return answer_native_text(platform, SYCL_PLATFORM_INFO_NAME, "sycld: ", ANSWER);
	case CL_PLATFORM_VENDOR:
		return answer_text(ANSWER, "sycld");
	case CL_PLATFORM_EXTENSIONS:
		return answer_extensions(ANSWER);
	case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
		return answer_bytes(ANSWER, platform_extensions, sizeof(platform_extensions));
	case CL_PLATFORM_ICD_SUFFIX_KHR:
		return answer_text(ANSWER, "SYCLD");
	case CL_PLATFORM_HOST_TIMER_RESOLUTION:
		return answer_ulong(ANSWER, 0);
	default:
		return CL_INVALID_VALUE;
	}
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id handle, cl_device_type type,
					       cl_uint capacity, cl_device_id *list,
					       cl_uint *count_out)
{
	const cl_device_type all = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU |
				   CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
				   CL_DEVICE_TYPE_CUSTOM;
	cl_platform_id platform = FIND_PLATFORM(handle);
	cl_uint count = 0;
	if (!platform)
		return CL_INVALID_PLATFORM;
	if (type != CL_DEVICE_TYPE_ALL && (type == 0 || (type & ~all)))
		return CL_INVALID_DEVICE_TYPE;
	if ((list && capacity == 0) || (!list && !count_out))
		return CL_INVALID_VALUE;
	for (uint32_t i = 0; i < platform->device_count; i++) {
		cl_device_id device = platform->devices[i];
		bool is_default = i == 0 && (type & CL_DEVICE_TYPE_DEFAULT);
		if (!is_default && !(device->type & type))
			continue;
		if (type == CL_DEVICE_TYPE_ALL && device->type == CL_DEVICE_TYPE_CUSTOM)
			continue;
		if (list && count < capacity)
			list[count] = device;
		count++;
	}
	if (count == 0)
		return CL_DEVICE_NOT_FOUND;
	if (count_out)
		*count_out = count;
	return CL_SUCCESS;
}
