/* The double of the driver itself: its functions without the backend around them. */
#ifndef SYCL_TESTS_UNIT_CUDA_DOUBLE_H
#define SYCL_TESTS_UNIT_CUDA_DOUBLE_H

#include "fake_cuda.h"

#include <cuda.h>
#include <cudaTypedefs.h>

#include <criterion/criterion.h>

/* The functions that these tests call, each with the version of its interface. */
#define DOUBLE_FUNCTIONS(F)                                                                        \
	F(cuCtxSetCurrent, 4000)                                                                   \
	F(cuDevicePrimaryCtxRelease, 11000)                                                        \
	F(cuDevicePrimaryCtxRetain, 7000)                                                          \
	F(cuEventCreate, 2000)                                                                     \
	F(cuEventDestroy, 4000)                                                                    \
	F(cuEventElapsedTime, 2000)                                                                \
	F(cuEventQuery, 2000)                                                                      \
	F(cuEventRecord, 2000)                                                                     \
	F(cuEventSynchronize, 2000)                                                                \
	F(cuFuncLoad, 12040)                                                                       \
	F(cuGetErrorName, 6000)                                                                    \
	F(cuGraphAddKernelNode, 12000)                                                             \
	F(cuGraphAddMemcpyNode, 10000)                                                             \
	F(cuGraphAddChildGraphNode, 10000)                                                         \
	F(cuGraphAddMemsetNode, 10000)                                                             \
	F(cuGraphAddMemAllocNode, 11040)                                                           \
	F(cuGraphAddMemFreeNode, 11040)                                                            \
	F(cuDeviceGetGraphMemAttribute, 11040)                                                     \
	F(cuDeviceGraphMemTrim, 11040)                                                             \
	F(cuGraphCreate, 10000)                                                                    \
	F(cuGraphDestroy, 10000)                                                                   \
	F(cuGraphExecDestroy, 10000)                                                               \
	F(cuGraphExecKernelNodeSetParams, 12000)                                                   \
	F(cuGraphExecMemcpyNodeSetParams, 10020)                                                   \
	F(cuGraphInstantiateWithFlags, 11040)                                                      \
	F(cuGraphLaunch, 10000)                                                                    \
	F(cuInit, 2000)                                                                            \
	F(cuLaunchKernel, 4000)                                                                    \
	F(cuMemAlloc, 3020)                                                                        \
	F(cuMemAllocAsync, 11020)                                                                  \
	F(cuMemFree, 3020)                                                                         \
	F(cuMemFreeAsync, 11020)                                                                   \
	F(cuMemGetInfo, 3020)                                                                      \
	F(cuMemHostAlloc, 2020)                                                                    \
	F(cuMemHostUnregister, 4000)                                                               \
	F(cuMemcpyDtoHAsync, 3020)                                                                 \
	F(cuMemcpyHtoDAsync, 3020)                                                                 \
	F(cuMemsetD32Async, 3020)                                                                  \
	F(cuModuleGetFunction, 2000)                                                               \
	F(cuModuleLoadDataEx, 2010)                                                                \
	F(cuModuleUnload, 2000)                                                                    \
	F(cuDeviceGetDevResource, 12040)                                                           \
	F(cuDevSmResourceSplitByCount, 12040)                                                      \
	F(cuDevResourceGenerateDesc, 12040)                                                        \
	F(cuGreenCtxCreate, 12040)                                                                 \
	F(cuGreenCtxDestroy, 12040)                                                                \
	F(cuGreenCtxStreamCreate, 12050)                                                           \
	F(cuStreamCreateWithPriority, 5050)                                                        \
	F(cuStreamBeginCapture, 10010)                                                             \
	F(cuStreamBeginCaptureToGraph, 12030)                                                      \
	F(cuStreamEndCapture, 10000)                                                               \
	F(cuStreamIsCapturing, 10000)                                                              \
	F(cuThreadExchangeStreamCaptureMode, 10010)                                                \
	F(cuStreamDestroy, 4000)                                                                   \
	F(cuStreamQuery, 2000)                                                                     \
	F(cuStreamSynchronize, 2000)                                                               \
	F(cuStreamWaitEvent, 3020)                                                                 \
	F(cuStreamWaitValue32, 11070)                                                              \
	F(cuStreamWriteValue32, 11070)

struct functions {
#define DOUBLE_MEMBER(name, version) PFN_##name##_v##version name;
	DOUBLE_FUNCTIONS(DOUBLE_MEMBER)
#undef DOUBLE_MEMBER
};

typedef CUresult find_function(const char *name, void **function, int version, cuuint64_t flags,
			       CUdriverProcAddressQueryResult *status);

struct driver {
	struct functions cu;
	find_function *find; /* cuGetProcAddress */
	const struct fake_cuda_control *control;
	CUcontext context; /* of device 0, the current one */
	CUstream stream;
};

#define OK(call) cr_assert_eq((call), CUDA_SUCCESS)

void driver_command(struct driver *driver, const char *line);
/* Initialises it, makes the first device's context current, and makes one stream. */
void driver_open(struct driver *driver);
CUmodule driver_load(struct driver *driver, const char *ptx);
CUfunction driver_function(struct driver *driver, CUmodule module, const char *name);
CUdeviceptr driver_memory(struct driver *driver, size_t bytes);
/* Launches one block of so many threads on the stream, waits, and returns the result of the
 * wait. */
CUresult driver_run(struct driver *driver, CUfunction function, unsigned threads, unsigned shared,
		    void **parameters);
void driver_read(struct driver *driver, CUdeviceptr from, void *to, size_t bytes);
uint64_t driver_count(const struct driver *driver, const char *what);

#endif
