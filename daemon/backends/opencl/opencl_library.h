/*
 * The OpenCL ICD loader, opened at run time: one build serves machines with and without OpenCL. The headers give the
 * types and the prototypes of the functions; nothing links against the library.
 */
#ifndef SYCL_BACKENDS_OPENCL_LIBRARY_H
#define SYCL_BACKENDS_OPENCL_LIBRARY_H

#include "backend.h"

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

/* Every function that this backend calls; all are in OpenCL 1.2, but the marked ones. */
#define OPENCL_FUNCTIONS(X)                                                                                            \
	X(GetPlatformIDs)                                                                                              \
	X(GetPlatformInfo)                                                                                             \
	X(GetDeviceIDs)                                                                                                \
	X(GetDeviceInfo)                                                                                               \
	X(CreateContext)                                                                                               \
	X(ReleaseContext)                                                                                              \
	X(ReleaseCommandQueue)                                                                                         \
	X(Flush)                                                                                                       \
	X(Finish)                                                                                                      \
	X(CreateBuffer)                                                                                                \
	X(CreateSubBuffer)                                                                                             \
	X(ReleaseMemObject)                                                                                            \
	X(CreateProgramWithSource)                                                                                     \
	X(CreateProgramWithBinary)                                                                                     \
	X(CreateProgramWithBuiltInKernels)                                                                             \
	X(BuildProgram)                                                                                                \
	X(GetProgramInfo)                                                                                              \
	X(GetProgramBuildInfo)                                                                                         \
	X(ReleaseProgram)                                                                                              \
	X(CreateKernel)                                                                                                \
	X(CreateKernelsInProgram)                                                                                      \
	X(GetKernelInfo)                                                                                               \
	X(GetKernelArgInfo)                                                                                            \
	X(GetKernelWorkGroupInfo)                                                                                      \
	X(SetKernelArg)                                                                                                \
	X(ReleaseKernel)                                                                                               \
	X(EnqueueNDRangeKernel)                                                                                        \
	X(EnqueueCopyBuffer)                                                                                           \
	X(EnqueueWriteBuffer)                                                                                          \
	X(EnqueueReadBuffer)                                                                                           \
	X(EnqueueFillBuffer)                                                                                           \
	X(EnqueueMarkerWithWaitList)                                                                                   \
	X(GetEventInfo)                                                                                                \
	X(GetEventProfilingInfo)                                                                                       \
	X(SetEventCallback)                                                                                            \
	X(ReleaseEvent)

struct opencl_library {
	void *handle;
#define OPENCL_MEMBER(name) __typeof__(&cl##name) name; /* NOLINT(bugprone-macro-parentheses) */
	OPENCL_FUNCTIONS(OPENCL_MEMBER)
#undef OPENCL_MEMBER
	/* One of the two: the first came with 2.0, the second went with it. */
	__typeof__(&clCreateCommandQueueWithProperties) CreateCommandQueueWithProperties;
	cl_command_queue(CL_API_CALL *CreateCommandQueue)(cl_context context, cl_device_id device,
							  cl_command_queue_properties properties, cl_int *error);
};

/* Set the environment, where it is not right already. */
void opencl_library_prepare(const char *cache_directory);
/*
 * Open the loader and look up every function. `cache_directory`: where vendors may keep what they compile; NULL:
 * nowhere. -ENODEV and a fault: no loader here, or not a whole one.
 */
int opencl_library_open(const char *cache_directory, struct opencl_library *library_out,
			struct backend_fault *fault_out);

#endif
