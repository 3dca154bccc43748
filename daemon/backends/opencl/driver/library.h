/* The OpenCL ICD loader, opened at run time: one build serves machines with and without OpenCL. The
 * headers give the types and the prototypes of the functions. No program links against the library.
 * */
#ifndef SYCL_BACKENDS_OPENCL_LIBRARY_H
#define SYCL_BACKENDS_OPENCL_LIBRARY_H

#include "backend.h"

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>

/* Every function that this backend calls. All are in OpenCL 1.2, except the marked ones. */
#define OPENCL_FUNCTIONS(X)                                                                        \
	X(GetPlatformIDs)                                                                          \
	X(GetPlatformInfo)                                                                         \
	X(GetDeviceIDs)                                                                            \
	X(GetDeviceInfo)                                                                           \
	X(CreateContext)                                                                           \
	X(ReleaseContext)                                                                          \
	X(ReleaseCommandQueue)                                                                     \
	X(Flush)                                                                                   \
	X(Finish)                                                                                  \
	X(CreateBuffer)                                                                            \
	X(CreateImage)                                                                             \
	X(GetSupportedImageFormats)                                                                \
	X(ReleaseSampler)                                                                          \
	X(CreateSubBuffer)                                                                         \
	X(RetainMemObject)                                                                         \
	X(ReleaseMemObject)                                                                        \
	X(CreateProgramWithSource)                                                                 \
	X(CreateProgramWithBinary)                                                                 \
	X(CreateProgramWithBuiltInKernels)                                                         \
	X(BuildProgram)                                                                            \
	X(CompileProgram)                                                                          \
	X(LinkProgram)                                                                             \
	X(GetProgramInfo)                                                                          \
	X(GetProgramBuildInfo)                                                                     \
	X(ReleaseProgram)                                                                          \
	X(CreateKernel)                                                                            \
	X(CreateKernelsInProgram)                                                                  \
	X(GetKernelInfo)                                                                           \
	X(GetKernelArgInfo)                                                                        \
	X(GetKernelWorkGroupInfo)                                                                  \
	X(SetKernelArg)                                                                            \
	X(ReleaseKernel)                                                                           \
	X(EnqueueNDRangeKernel)                                                                    \
	X(EnqueueCopyBuffer)                                                                       \
	X(EnqueueCopyBufferRect)                                                                   \
	X(EnqueueWriteBuffer)                                                                      \
	X(EnqueueWriteBufferRect)                                                                  \
	X(EnqueueReadBuffer)                                                                       \
	X(EnqueueReadBufferRect)                                                                   \
	X(EnqueueFillBuffer)                                                                       \
	X(EnqueueCopyImage)                                                                        \
	X(EnqueueFillImage)                                                                        \
	X(EnqueueCopyImageToBuffer)                                                                \
	X(EnqueueCopyBufferToImage)                                                                \
	X(EnqueueWriteImage)                                                                       \
	X(EnqueueReadImage)                                                                        \
	X(EnqueueMarkerWithWaitList)                                                               \
	X(EnqueueBarrierWithWaitList)                                                              \
	X(CreateSubDevices)                                                                        \
	X(RetainDevice)                                                                            \
	X(ReleaseDevice)                                                                           \
	X(RetainContext)                                                                           \
	X(RetainCommandQueue)                                                                      \
	X(RetainProgram)                                                                           \
	X(RetainKernel)                                                                            \
	X(RetainEvent)                                                                             \
	X(GetContextInfo)                                                                          \
	X(GetCommandQueueInfo)                                                                     \
	X(GetMemObjectInfo)                                                                        \
	X(GetImageInfo)                                                                            \
	X(GetExtensionFunctionAddressForPlatform)                                                  \
	X(GetEventInfo)                                                                            \
	X(GetEventProfilingInfo)                                                                   \
	X(SetEventCallback)                                                                        \
	X(ReleaseEvent)

/* Functions since 2.0. They are NULL in a loader without them, and then there is no USM. */
#define OPENCL_SVM_FUNCTIONS(X)                                                                    \
	X(SVMAlloc)                                                                                \
	X(SVMFree)                                                                                 \
	X(SetKernelArgSVMPointer)                                                                  \
	X(SetKernelExecInfo)                                                                       \
	X(EnqueueSVMMemcpy)

struct opencl_library {
	void *handle;
#define OPENCL_MEMBER(name) __typeof__(&cl##name) name; /* NOLINT(bugprone-macro-parentheses) */
	OPENCL_FUNCTIONS(OPENCL_MEMBER)
	OPENCL_SVM_FUNCTIONS(OPENCL_MEMBER)
#undef OPENCL_MEMBER
	__typeof__(&clCreateProgramWithIL)
		CreateProgramWithIL; /* since 2.1; NULL in an older loader, as the next */
	__typeof__(&clCloneKernel) CloneKernel;
	/* A loader may have only one of the two: OpenCL 2.0 replaced the second by the first. */
	__typeof__(&clCreateCommandQueueWithProperties) CreateCommandQueueWithProperties;
	cl_command_queue(CL_API_CALL *CreateCommandQueue)(cl_context context, cl_device_id device,
							  cl_command_queue_properties properties,
							  cl_int *error);
	/* Deprecated since OpenCL 1.x, and still in every loader. */
	cl_sampler(CL_API_CALL *CreateSampler)(cl_context context, cl_bool normalised,
					       cl_addressing_mode addressing, cl_filter_mode filter,
					       cl_int *error);
};

/* Sets the variables of the environment that are not right already. */
void opencl_library_prepare(const char *cache_directory);
/* Opens the loader and looks up every function. `cache_directory`: where vendors may keep compiled
 * code; NULL: nowhere. -ENODEV and a fault: there is no loader, or it lacks functions. */
int opencl_library_open(const char *cache_directory, struct opencl_library *library_out,
			struct backend_fault *fault_out);

#endif
