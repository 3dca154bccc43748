/*
 * OpenCL: PoCL on a machine without a GPU. The kernels are in the portable form.
 * SYCLD_TEST_OPENCL_PLATFORM is the platform under test, so that no test passes with another one's
 * devices.
 */
#include "targets/target.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

static void check_platform_name(const struct backend_topology *topology)
{
	const char *wanted = getenv("SYCLD_TEST_OPENCL_PLATFORM");

	for (uint32_t i = 0; wanted && wanted[0] && i < topology->platform_count; i++)
		cr_assert(
			strcmp(topology->platforms[i].name, wanted) == 0,
			"the loader shows \"%s\", and only \"%s\" was asked for: does it obey OCL_ICD_VENDORS?",
			topology->platforms[i].name, wanted);
}

static const char source[] =
#include "portable/list.h"
	;

static void find_symbol(void *library, const char *name, void *function_out)
{
	void *found = dlsym(library, name);

	cr_assert_not_null(found, "%s", name);
	memcpy(function_out, &found, sizeof(found));
}

/* A fill as in an application, in the form of the extension's versions up to 0.9.4. */
static int native_set(const struct backend_native_scope *scope, uint32_t memory, uint32_t words,
		      uint32_t value)
{
	void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	cl_device_id device = (cl_device_id)(uintptr_t)scope->device;
	cl_platform_id platform = NULL;
	__typeof__(&clGetDeviceInfo) info;
	__typeof__(&clGetExtensionFunctionAddressForPlatform) address;

	cr_assert_not_null(library);
	find_symbol(library, "clGetDeviceInfo", &info);
	find_symbol(library, "clGetExtensionFunctionAddressForPlatform", &address);
	if (info(device, CL_DEVICE_PLATFORM, sizeof(platform), &platform, NULL) != CL_SUCCESS)
		return -1;
	void *found = address(platform, "clCommandFillBufferKHR");
	clCommandFillBufferKHR_fn fill;
	cr_assert_not_null(found);
	memcpy(&fill, &found, sizeof(found));
	return fill((cl_command_buffer_khr)(uintptr_t)scope->graph, NULL,
		    (cl_mem)(uintptr_t)scope->memories[memory], &value, sizeof(value), 0,
		    (size_t)words * sizeof(value), 0, NULL, NULL, NULL);
}

const struct conformance_target conformance_target = {
	.ops = &backend_opencl_ops,
	.source_kind = BACKEND_SOURCE_PORTABLE,
	.source = source,
	.has_offsets = true,
	.check = check_platform_name,
	.native_set = native_set,
};
