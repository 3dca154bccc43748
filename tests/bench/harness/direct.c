#include "harness/direct.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { PLATFORMS_MAX = 16 };

static bool good(cl_int code, const char *what)
{
	if (code == CL_SUCCESS)
		return true;
	(void)fprintf(stderr, "%s: OpenCL error %d\n", what, (int)code);
	return false;
}

void direct_use_cache(const char *folder)
{
	(void)setenv("POCL_CACHE_DIR", folder, 1);
}

static bool load_opencl(struct direct *direct)
{
	direct->library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!direct->library) {
		(void)fprintf(stderr, "OpenCL cannot be loaded: %s\n", dlerror());
		return false;
	}
#define DIRECT_LOAD(name)                                                                          \
	*(void **)&direct->cl.name = dlsym(direct->library, #name);                                \
	if (!direct->cl.name)                                                                      \
		return good(CL_INVALID_OPERATION, #name);
	DIRECT_FUNCTIONS(DIRECT_LOAD)
	return true;
}

static bool choose_device(struct direct *direct)
{
	cl_platform_id platforms[PLATFORMS_MAX];
	cl_uint count = 0;
	if (!good(direct->cl.clGetPlatformIDs(PLATFORMS_MAX, platforms, &count),
		  "clGetPlatformIDs"))
		return false;
	for (cl_uint i = 0; i < count && i < PLATFORMS_MAX; i++)
		if (direct->cl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &direct->device,
					      NULL) == CL_SUCCESS)
			return true;
	return good(CL_DEVICE_NOT_FOUND, "OpenCL has no CPU device");
}

static bool build_direct_kernel(struct direct *direct, const char *source, const char *kernel)
{
	cl_int code;
	direct->program =
		direct->cl.clCreateProgramWithSource(direct->context, 1, &source, NULL, &code);
	if (!good(code, "clCreateProgramWithSource"))
		return false;
	code = direct->cl.clBuildProgram(direct->program, 1, &direct->device, "", NULL, NULL);
	if (!good(code, "clBuildProgram"))
		return false;
	direct->kernel = direct->cl.clCreateKernel(direct->program, kernel, &code);
	return good(code, "clCreateKernel");
}

bool direct_open(struct direct *direct, const char *source, const char *kernel)
{
	cl_int code;
	*direct = (struct direct){.library = NULL};
	if (!load_opencl(direct) || !choose_device(direct))
		return false;
	direct->context = direct->cl.clCreateContext(NULL, 1, &direct->device, NULL, NULL, &code);
	if (!good(code, "clCreateContext"))
		return false;
	direct->queue = direct->cl.clCreateCommandQueue(direct->context, direct->device, 0, &code);
	return good(code, "clCreateCommandQueue") && build_direct_kernel(direct, source, kernel);
}

void direct_close(struct direct *direct)
{
	if (direct->kernel)
		(void)direct->cl.clReleaseKernel(direct->kernel);
	if (direct->program)
		(void)direct->cl.clReleaseProgram(direct->program);
	if (direct->queue)
		(void)direct->cl.clReleaseCommandQueue(direct->queue);
	if (direct->context)
		(void)direct->cl.clReleaseContext(direct->context);
	*direct = (struct direct){.library = NULL};
}

bool direct_enqueue(struct direct *direct)
{
	size_t one = 1;
	cl_int code = direct->cl.clEnqueueNDRangeKernel(direct->queue, direct->kernel, 1, NULL,
							&one, NULL, 0, NULL, NULL);
	return good(code, "clEnqueueNDRangeKernel");
}

bool direct_finish(struct direct *direct)
{
	return good(direct->cl.clFinish(direct->queue), "clFinish");
}
