/*
 * Plain OpenCL in this process, as a user would use it without the service. The library is opened
 * at run time, as in the service, so that syclbench starts without it. On an error the functions
 * print a message and return NULL or false.
 */
#ifndef SYCL_BENCH_DIRECT_H
#define SYCL_BENCH_DIRECT_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>

#define DIRECT_FUNCTIONS(X)                                                                        \
	X(clGetPlatformIDs)                                                                        \
	X(clGetDeviceIDs)                                                                          \
	X(clCreateContext)                                                                         \
	X(clReleaseContext)                                                                        \
	X(clCreateCommandQueue)                                                                    \
	X(clReleaseCommandQueue)                                                                   \
	X(clCreateProgramWithSource)                                                               \
	X(clBuildProgram)                                                                          \
	X(clReleaseProgram)                                                                        \
	X(clCreateKernel)                                                                          \
	X(clReleaseKernel)                                                                         \
	X(clSetKernelArg)                                                                          \
	X(clCreateBuffer)                                                                          \
	X(clCreateSubBuffer)                                                                       \
	X(clReleaseMemObject)                                                                      \
	X(clEnqueueReadBuffer)                                                                     \
	X(clEnqueueWriteBuffer)                                                                    \
	X(clEnqueueNDRangeKernel)                                                                  \
	X(clReleaseEvent)                                                                          \
	X(clFlush)                                                                                 \
	X(clFinish)

#define DIRECT_FIELD(name) __typeof__(&(name)) name;

struct direct {
	void *library;
	struct {
		DIRECT_FUNCTIONS(DIRECT_FIELD)
	} cl;
	cl_device_id device; /* the first processor that any platform has */
	cl_context context;
	cl_command_queue queue; /* in order */
	cl_program program;
	cl_kernel kernel;
};

/* Opens the library and the device, makes the queue, builds the source and takes one kernel of it.
 */
bool direct_open(struct direct *direct, const char *source, const char *kernel);
void direct_close(struct direct *direct);
/* Uses this folder for compiled kernels instead of the user's own. Call it before direct_open. */
void direct_use_cache(const char *folder);

/* Enqueues one work-item of the kernel. Returns false after a message. */
bool direct_enqueue(struct direct *direct);
bool direct_finish(struct direct *direct);

#endif
