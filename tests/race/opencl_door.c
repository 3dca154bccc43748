#include "opencl_door.h"
#include "library/service.h"

#include <stdlib.h>

const cl_icd_dispatch *cl;
cl_platform_id cl_platform;
cl_device_id cl_device;
cl_context cl_context_made;
cl_command_queue cl_queue;

static struct client_service service;

/* What the driver exports, as any loader uses it. */
extern cl_int clIcdGetPlatformIDsKHR(cl_uint capacity, cl_platform_id *list, cl_uint *count_out);

void door_open(void)
{
	cl_int code = 0;
	client_service_start(&service, NULL);
	(void)setenv("SYCLD_ENDPOINT", service.endpoint, 1);
	CL(clIcdGetPlatformIDsKHR(1, &cl_platform, NULL));
	cl = *(const cl_icd_dispatch **)(void *)cl_platform;
	CL(cl->clGetDeviceIDs(cl_platform, CL_DEVICE_TYPE_CUSTOM, 1, &cl_device, NULL));
	cl_context_made = cl->clCreateContext(NULL, 1, &cl_device, NULL, NULL, &code);
	CL(code);
	cl_queue = cl->clCreateCommandQueueWithProperties(cl_context_made, cl_device, NULL, &code);
	CL(code);
}

void door_close(void)
{
	CL(cl->clReleaseCommandQueue(cl_queue));
	CL(cl->clReleaseContext(cl_context_made));
}

cl_kernel door_kernel(const char *name)
{
	cl_int code = 0;
	cl_program program = cl->clCreateProgramWithSource(cl_context_made, 1, &name, NULL, &code);
	CL(code);
	CL(cl->clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
	cl_kernel kernel = cl->clCreateKernel(program, name, &code);
	CL(code);
	CL(cl->clReleaseProgram(program));
	return kernel;
}

cl_mem door_buffer(void)
{
	cl_int code = 0;
	cl_mem buffer = cl->clCreateBuffer(cl_context_made, 0, WORD_BYTES, NULL, &code);
	CL(code);
	return buffer;
}

void door_check(cl_mem buffer, cl_uint value)
{
	cl_uint words[WORDS];
	CL(cl->clEnqueueReadBuffer(cl_queue, buffer, CL_TRUE, 0, WORD_BYTES, words, 0, NULL, NULL));
	for (int i = 0; i < WORDS; i++)
		CHECK(words[i] == value);
}

void door_fill(cl_kernel fill, cl_mem buffer, cl_uint value, cl_event *event_out)
{
	const size_t global = WORDS;
	CL(cl->clSetKernelArg(fill, 0, sizeof(cl_mem), &buffer));
	CL(cl->clSetKernelArg(fill, 1, sizeof(value), &value));
	CL(cl->clEnqueueNDRangeKernel(cl_queue, fill, 1, NULL, &global, NULL, 0, NULL, event_out));
}
