/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table that the loader calls through. Functions of extensions that the driver does not have
 * are NULL there. The names are hidden, because a program's own loader exports the same ones.
 */
#include "command_buffer/command_buffer.h"

#include <string.h>

static const cl_icd_dispatch functions = {
	.clGetPlatformIDs = clGetPlatformIDs,
	.clGetPlatformInfo = clGetPlatformInfo,
	.clGetDeviceIDs = clGetDeviceIDs,
	.clGetDeviceInfo = clGetDeviceInfo,
	.clCreateContext = clCreateContext,
	.clCreateContextFromType = clCreateContextFromType,
	.clRetainContext = clRetainContext,
	.clReleaseContext = clReleaseContext,
	.clGetContextInfo = clGetContextInfo,
	.clCreateCommandQueue = clCreateCommandQueue,
	.clRetainCommandQueue = clRetainCommandQueue,
	.clReleaseCommandQueue = clReleaseCommandQueue,
	.clGetCommandQueueInfo = clGetCommandQueueInfo,
	.clSetCommandQueueProperty = clSetCommandQueueProperty,
	.clCreateBuffer = clCreateBuffer,
	.clCreateImage2D = clCreateImage2D,
	.clCreateImage3D = clCreateImage3D,
	.clRetainMemObject = clRetainMemObject,
	.clReleaseMemObject = clReleaseMemObject,
	.clGetSupportedImageFormats = clGetSupportedImageFormats,
	.clGetMemObjectInfo = clGetMemObjectInfo,
	.clGetImageInfo = clGetImageInfo,
	.clCreateSampler = clCreateSampler,
	.clRetainSampler = clRetainSampler,
	.clReleaseSampler = clReleaseSampler,
	.clGetSamplerInfo = clGetSamplerInfo,
	.clCreateProgramWithSource = clCreateProgramWithSource,
	.clCreateProgramWithBinary = clCreateProgramWithBinary,
	.clRetainProgram = clRetainProgram,
	.clReleaseProgram = clReleaseProgram,
	.clBuildProgram = clBuildProgram,
	.clUnloadCompiler = clUnloadCompiler,
	.clGetProgramInfo = clGetProgramInfo,
	.clGetProgramBuildInfo = clGetProgramBuildInfo,
	.clCreateKernel = clCreateKernel,
	.clCreateKernelsInProgram = clCreateKernelsInProgram,
	.clRetainKernel = clRetainKernel,
	.clReleaseKernel = clReleaseKernel,
	.clSetKernelArg = clSetKernelArg,
	.clGetKernelInfo = clGetKernelInfo,
	.clGetKernelWorkGroupInfo = clGetKernelWorkGroupInfo,
	.clWaitForEvents = clWaitForEvents,
	.clGetEventInfo = clGetEventInfo,
	.clRetainEvent = clRetainEvent,
	.clReleaseEvent = clReleaseEvent,
	.clGetEventProfilingInfo = clGetEventProfilingInfo,
	.clFlush = clFlush,
	.clFinish = clFinish,
	.clEnqueueReadBuffer = clEnqueueReadBuffer,
	.clEnqueueWriteBuffer = clEnqueueWriteBuffer,
	.clEnqueueCopyBuffer = clEnqueueCopyBuffer,
	.clEnqueueReadImage = clEnqueueReadImage,
	.clEnqueueWriteImage = clEnqueueWriteImage,
	.clEnqueueCopyImage = clEnqueueCopyImage,
	.clEnqueueCopyImageToBuffer = clEnqueueCopyImageToBuffer,
	.clEnqueueCopyBufferToImage = clEnqueueCopyBufferToImage,
	.clEnqueueMapBuffer = clEnqueueMapBuffer,
	.clEnqueueMapImage = clEnqueueMapImage,
	.clEnqueueUnmapMemObject = clEnqueueUnmapMemObject,
	.clEnqueueNDRangeKernel = clEnqueueNDRangeKernel,
	.clEnqueueTask = clEnqueueTask,
	.clEnqueueNativeKernel = clEnqueueNativeKernel,
	.clEnqueueMarker = clEnqueueMarker,
	.clEnqueueWaitForEvents = clEnqueueWaitForEvents,
	.clEnqueueBarrier = clEnqueueBarrier,
	.clGetExtensionFunctionAddress = clGetExtensionFunctionAddress,
	.clSetEventCallback = clSetEventCallback,
	.clCreateSubBuffer = clCreateSubBuffer,
	.clSetMemObjectDestructorCallback = clSetMemObjectDestructorCallback,
	.clCreateUserEvent = clCreateUserEvent,
	.clSetUserEventStatus = clSetUserEventStatus,
	.clEnqueueReadBufferRect = clEnqueueReadBufferRect,
	.clEnqueueWriteBufferRect = clEnqueueWriteBufferRect,
	.clEnqueueCopyBufferRect = clEnqueueCopyBufferRect,
	.clCreateSubDevices = clCreateSubDevices,
	.clRetainDevice = clRetainDevice,
	.clReleaseDevice = clReleaseDevice,
	.clCreateImage = clCreateImage,
	.clCreateProgramWithBuiltInKernels = clCreateProgramWithBuiltInKernels,
	.clCompileProgram = clCompileProgram,
	.clLinkProgram = clLinkProgram,
	.clUnloadPlatformCompiler = clUnloadPlatformCompiler,
	.clGetKernelArgInfo = clGetKernelArgInfo,
	.clEnqueueFillBuffer = clEnqueueFillBuffer,
	.clEnqueueFillImage = clEnqueueFillImage,
	.clEnqueueMigrateMemObjects = clEnqueueMigrateMemObjects,
	.clEnqueueMarkerWithWaitList = clEnqueueMarkerWithWaitList,
	.clEnqueueBarrierWithWaitList = clEnqueueBarrierWithWaitList,
	.clGetExtensionFunctionAddressForPlatform = clGetExtensionFunctionAddressForPlatform,
	.clCreateCommandQueueWithProperties = clCreateCommandQueueWithProperties,
	.clCreatePipe = clCreatePipe,
	.clGetPipeInfo = clGetPipeInfo,
	.clSVMAlloc = clSVMAlloc,
	.clSVMFree = clSVMFree,
	.clEnqueueSVMFree = clEnqueueSVMFree,
	.clEnqueueSVMMemcpy = clEnqueueSVMMemcpy,
	.clEnqueueSVMMemFill = clEnqueueSVMMemFill,
	.clEnqueueSVMMap = clEnqueueSVMMap,
	.clEnqueueSVMUnmap = clEnqueueSVMUnmap,
	.clCreateSamplerWithProperties = clCreateSamplerWithProperties,
	.clSetKernelArgSVMPointer = clSetKernelArgSVMPointer,
	.clSetKernelExecInfo = clSetKernelExecInfo,
	.clCloneKernel = clCloneKernel,
	.clCreateProgramWithIL = clCreateProgramWithIL,
	.clEnqueueSVMMigrateMem = clEnqueueSVMMigrateMem,
	.clGetDeviceAndHostTimer = clGetDeviceAndHostTimer,
	.clGetHostTimer = clGetHostTimer,
	.clGetKernelSubGroupInfo = clGetKernelSubGroupInfo,
	.clSetDefaultDeviceCommandQueue = clSetDefaultDeviceCommandQueue,
	.clSetProgramReleaseCallback = clSetProgramReleaseCallback,
	.clSetProgramSpecializationConstant = clSetProgramSpecializationConstant,
	.clCreateBufferWithProperties = clCreateBufferWithProperties,
	.clCreateImageWithProperties = clCreateImageWithProperties,
	.clSetContextDestructorCallback = clSetContextDestructorCallback,
};

/* Objects are made in folders below this one, so that these do not know the table. */
__attribute__((constructor)) static void dispatch_install(void)
{
	object_set_dispatch(&functions);
}

#define NAMED(function)                                                                            \
	{                                                                                          \
#function, (void (*)(void))(function)                                              \
	}

/* The name of an extension's function that is one of OpenCL now. */
#define NAMED_KHR(function)                                                                        \
	{                                                                                          \
#function "KHR", (void (*)(void))(function)                                        \
	}

/* What clGetExtensionFunctionAddress finds: loaders ask for the first three. */
static const struct {
	const char *name;
	void (*function)(void);
} named[] = {
	NAMED(clIcdGetPlatformIDsKHR),
	NAMED(clGetPlatformInfo),
	NAMED(clGetExtensionFunctionAddress),
	NAMED_KHR(clCreateCommandQueueWithProperties),
	NAMED_KHR(clGetKernelSubGroupInfo),
	NAMED_KHR(clCreateProgramWithIL),
	NAMED(clSetProgramSpecializationConstant),
	NAMED(clHostMemAllocINTEL),
	NAMED(clDeviceMemAllocINTEL),
	NAMED(clSharedMemAllocINTEL),
	NAMED(clMemFreeINTEL),
	NAMED(clMemBlockingFreeINTEL),
	NAMED(clGetMemAllocInfoINTEL),
	NAMED(clSetKernelArgMemPointerINTEL),
	NAMED(clEnqueueMemFillINTEL),
	NAMED(clEnqueueMemcpyINTEL),
	NAMED(clEnqueueMigrateMemINTEL),
	NAMED(clEnqueueMemAdviseINTEL),
};

__attribute__((visibility("default"))) CL_API_ENTRY void *CL_API_CALL
clGetExtensionFunctionAddress(const char *name)
{
	void *address = NULL;
	for (size_t i = 0; name && i < sizeof(named) / sizeof(*named); i++)
		if (strcmp(named[i].name, name) == 0)
			memcpy(&address, &named[i].function, sizeof(address));
	return address || !name ? address : command_buffer_function(name);
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
									const char *name)
{
	return object_find(platform, OBJECT_PLATFORM) ? clGetExtensionFunctionAddress(name) : NULL;
}
