/*
 * Plain OpenCL in this process: what a user would do without the service. The library is opened at
 * run time, as the service does, so that syclbench starts without it. Functions print what is wrong
 * and return NULL or false.
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
/* Use this folder for compiled kernels, instead of the user's own. Before direct_open. */
void direct_use_cache(const char *folder);

/* One work-item of the kernel. False: it says why. */
bool direct_enqueue(struct direct *direct);
bool direct_finish(struct direct *direct);

#endif
