/*
 * Lists every driver function that this backend calls, once, with the version of its binary
 * interface. The driver is queried for that version and never for "the newest", because 13.0 gave
 * several names a new interface. The versions are the v numbers of cudaTypedefs.h. NEEDED: the
 * backend cannot work without it; all of these are in driver 550 (CUDA 12.4). OPTIONAL: NULL if the
 * driver lacks it. Check it before a call; features that need it are off. The list has no function
 * of the per-thread default stream. It has none that synchronises the whole device, except for
 * opening and closing it.
 */
#ifndef SYCL_BACKENDS_CUDA_FUNCTIONS_H
#define SYCL_BACKENDS_CUDA_FUNCTIONS_H

#define CUDA_OLDEST_DRIVER 12040

/* Start, devices, contexts. */
#define CUDA_FUNCTIONS_DEVICE(NEEDED, OPTIONAL)                                                    \
	NEEDED(cuInit, 2000)                                                                       \
	NEEDED(cuDriverGetVersion, 2020)                                                           \
	NEEDED(cuGetErrorName, 6000)                                                               \
	NEEDED(cuGetErrorString, 6000)                                                             \
	NEEDED(cuDeviceGet, 2000)                                                                  \
	NEEDED(cuDeviceGetCount, 2000)                                                             \
	NEEDED(cuDeviceGetName, 2000)                                                              \
	NEEDED(cuDeviceGetUuid, 11040)                                                             \
	NEEDED(cuDeviceGetAttribute, 2000)                                                         \
	NEEDED(cuDeviceTotalMem, 3020)                                                             \
	NEEDED(cuDeviceGetPCIBusId, 4010)                                                          \
	NEEDED(cuDevicePrimaryCtxRetain, 7000)                                                     \
	NEEDED(cuDevicePrimaryCtxRelease, 11000)                                                   \
	NEEDED(cuDevicePrimaryCtxSetFlags, 11000)                                                  \
	NEEDED(cuDevicePrimaryCtxGetState, 7000)                                                   \
	NEEDED(cuCtxSetCurrent, 4000)                                                              \
	NEEDED(cuCtxGetStreamPriorityRange, 5050)                                                  \
	NEEDED(cuCtxPushCurrent, 4000)                                                             \
	NEEDED(cuCtxPopCurrent, 4000)                                                              \
	NEEDED(cuCtxGetDevice, 2000)                                                               \
	NEEDED(cuCtxSetLimit, 3010)                                                                \
	OPTIONAL(cuCtxResetPersistingL2Cache, 11000)                                               \
	OPTIONAL(cuDeviceCanAccessPeer, 4000)                                                      \
	OPTIONAL(cuCtxEnablePeerAccess, 4000)

/* Streams and events. */
#define CUDA_FUNCTIONS_STREAM(NEEDED, OPTIONAL)                                                    \
	NEEDED(cuStreamCreateWithPriority, 5050)                                                   \
	NEEDED(cuStreamDestroy, 4000)                                                              \
	NEEDED(cuStreamQuery, 2000)                                                                \
	NEEDED(cuStreamSynchronize, 2000)                                                          \
	NEEDED(cuLaunchHostFunc, 10000)                                                            \
	NEEDED(cuStreamWaitEvent, 3020)                                                            \
	NEEDED(cuStreamWriteValue32, 11070)                                                        \
	NEEDED(cuStreamGetCtx, 9020)                                                               \
	NEEDED(cuStreamIsCapturing, 10000)                                                         \
	NEEDED(cuStreamEndCapture, 10000)                                                          \
	NEEDED(cuStreamCopyAttributes, 11000)                                                      \
	NEEDED(cuEventCreate, 2000)                                                                \
	NEEDED(cuEventDestroy, 4000)                                                               \
	NEEDED(cuEventRecord, 2000)                                                                \
	NEEDED(cuEventQuery, 2000)                                                                 \
	NEEDED(cuEventSynchronize, 2000)                                                           \
	NEEDED(cuEventElapsedTime, 2000)                                                           \
	OPTIONAL(cuIpcGetEventHandle, 4010)                                                        \
	OPTIONAL(cuIpcOpenEventHandle, 4010)

/* Memory and transfers. */
#define CUDA_FUNCTIONS_MEMORY(NEEDED, OPTIONAL)                                                    \
	NEEDED(cuMemAlloc, 3020)                                                                   \
	NEEDED(cuMemFree, 3020)                                                                    \
	NEEDED(cuMemGetInfo, 3020)                                                                 \
	OPTIONAL(cuMemFreeAsync, 11020)                                                            \
	OPTIONAL(cuMemAllocFromPoolAsync, 11020)                                                   \
	OPTIONAL(cuMemPoolCreate, 11020)                                                           \
	OPTIONAL(cuMemPoolDestroy, 11020)                                                          \
	OPTIONAL(cuMemPoolSetAttribute, 11020)                                                     \
	OPTIONAL(cuMemPoolGetAttribute, 11020)                                                     \
	OPTIONAL(cuMemPoolSetAccess, 11020)                                                        \
	OPTIONAL(cuMemPoolTrimTo, 11020)                                                           \
	NEEDED(cuMemHostAlloc, 2020)                                                               \
	NEEDED(cuMemFreeHost, 2000)                                                                \
	NEEDED(cuMemHostRegister, 6050)                                                            \
	NEEDED(cuMemHostUnregister, 4000)                                                          \
	NEEDED(cuMemHostGetDevicePointer, 3020)                                                    \
	NEEDED(cuMemcpyAsync, 4000)                                                                \
	NEEDED(cuMemcpyHtoDAsync, 3020)                                                            \
	NEEDED(cuMemcpyDtoHAsync, 3020)                                                            \
	NEEDED(cuMemcpyDtoDAsync, 3020)                                                            \
	NEEDED(cuMemcpyPeerAsync, 4000)                                                            \
	NEEDED(cuMemcpy3DAsync, 3020)                                                              \
	NEEDED(cuMemsetD8Async, 3020)                                                              \
	NEEDED(cuMemsetD16Async, 3020)                                                             \
	NEEDED(cuMemsetD32Async, 3020)                                                             \
	NEEDED(cuMemsetD2D8Async, 3020)                                                            \
	NEEDED(cuMemsetD2D16Async, 3020)                                                           \
	NEEDED(cuMemsetD2D32Async, 3020)                                                           \
	OPTIONAL(cuMemAllocManaged, 6000)                                                          \
	OPTIONAL(cuMemPrefetchAsync, 12020)                                                        \
	OPTIONAL(cuMemAdvise, 12020)                                                               \
	OPTIONAL(cuMemRangeGetAttribute, 8000)                                                     \
	NEEDED(cuMemGetAddressRange, 3020)

/* Images. If one function is missing, the device has no images. */
#define CUDA_FUNCTIONS_IMAGE(NEEDED, OPTIONAL)                                                     \
	OPTIONAL(cuArray3DCreate, 3020)                                                            \
	OPTIONAL(cuArrayDestroy, 2000)                                                             \
	OPTIONAL(cuTexObjectCreate, 5000)                                                          \
	OPTIONAL(cuTexObjectDestroy, 5000)                                                         \
	OPTIONAL(cuSurfObjectCreate, 5000)                                                         \
	OPTIONAL(cuSurfObjectDestroy, 5000)

/* Memory that is shared with other processes. */
#define CUDA_FUNCTIONS_SHARE(NEEDED, OPTIONAL)                                                     \
	OPTIONAL(cuMemAddressReserve, 10020)                                                       \
	OPTIONAL(cuMemAddressFree, 10020)                                                          \
	OPTIONAL(cuMemCreate, 10020)                                                               \
	OPTIONAL(cuMemRelease, 10020)                                                              \
	OPTIONAL(cuMemMap, 10020)                                                                  \
	OPTIONAL(cuMemUnmap, 10020)                                                                \
	OPTIONAL(cuMemSetAccess, 10020)                                                            \
	OPTIONAL(cuMemGetAllocationGranularity, 10020)                                             \
	OPTIONAL(cuMemExportToShareableHandle, 10020)                                              \
	OPTIONAL(cuMemImportFromShareableHandle, 10020)                                            \
	OPTIONAL(cuMemGetAllocationPropertiesFromHandle, 10020)                                    \
	OPTIONAL(cuIpcGetMemHandle, 4010)                                                          \
	OPTIONAL(cuIpcOpenMemHandle, 11000)                                                        \
	OPTIONAL(cuIpcCloseMemHandle, 4010)

/* Modules, functions, launches. */
#define CUDA_FUNCTIONS_KERNEL(NEEDED, OPTIONAL)                                                    \
	NEEDED(cuModuleLoadDataEx, 2010)                                                           \
	OPTIONAL(cuLinkCreate, 6050)                                                               \
	OPTIONAL(cuLinkAddData, 6050)                                                              \
	OPTIONAL(cuLinkComplete, 5050)                                                             \
	OPTIONAL(cuLinkDestroy, 5050)                                                              \
	NEEDED(cuModuleUnload, 2000)                                                               \
	NEEDED(cuModuleGetGlobal, 3020)                                                            \
	NEEDED(cuModuleGetFunction, 2000)                                                          \
	NEEDED(cuModuleGetFunctionCount, 12040)                                                    \
	NEEDED(cuModuleEnumerateFunctions, 12040)                                                  \
	NEEDED(cuFuncGetName, 12030)                                                               \
	NEEDED(cuFuncGetAttribute, 2020)                                                           \
	NEEDED(cuFuncSetAttribute, 9000)                                                           \
	NEEDED(cuFuncGetParamInfo, 12040)                                                          \
	NEEDED(cuFuncLoad, 12040)                                                                  \
	NEEDED(cuLaunchKernel, 4000)                                                               \
	NEEDED(cuLaunchKernelEx, 11060)                                                            \
	OPTIONAL(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050)                                \
	OPTIONAL(cuOccupancyMaxActiveClusters, 11070)                                              \
	OPTIONAL(cuOccupancyMaxPotentialClusterSize, 11070)

/* Chains. If one function is missing, every launch is sent singly. */
#define CUDA_FUNCTIONS_GRAPH(NEEDED, OPTIONAL)                                                     \
	OPTIONAL(cuGraphCreate, 10000)                                                             \
	OPTIONAL(cuGraphDestroy, 10000)                                                            \
	OPTIONAL(cuGraphAddKernelNode, 12000)                                                      \
	OPTIONAL(cuGraphAddMemsetNode, 10000)                                                      \
	OPTIONAL(cuGraphInstantiateWithFlags, 11040)                                               \
	OPTIONAL(cuGraphExecKernelNodeSetParams, 12000)                                            \
	OPTIONAL(cuGraphExecMemsetNodeSetParams, 10020)                                            \
	OPTIONAL(cuGraphUpload, 11010)                                                             \
	OPTIONAL(cuGraphLaunch, 10000)                                                             \
	OPTIONAL(cuGraphExecDestroy, 10000)

/*
 * Graphs of the application. If one function is missing, the engine sends their nodes one by one.
 */
#define CUDA_FUNCTIONS_NODES(NEEDED, OPTIONAL)                                                     \
	OPTIONAL(cuGraphNodeSetEnabled, 11060)                                                     \
	OPTIONAL(cuGraphAddDependencies, 12030)                                                    \
	OPTIONAL(cuGraphAddNode, 12030)                                                            \
	OPTIONAL(cuGraphConditionalHandleCreate, 12030)                                            \
	OPTIONAL(cuGraphAddEmptyNode, 10000)                                                       \
	OPTIONAL(cuGraphAddMemcpyNode, 10000)                                                      \
	OPTIONAL(cuGraphAddChildGraphNode, 10000)                                                  \
	OPTIONAL(cuGraphDestroyNode, 10000)                                                        \
	OPTIONAL(cuGraphKernelNodeSetParams, 12000)                                                \
	OPTIONAL(cuGraphKernelNodeSetAttribute, 11000)                                             \
	OPTIONAL(cuGraphMemcpyNodeSetParams, 10000)                                                \
	OPTIONAL(cuGraphExecMemcpyNodeSetParams, 10020)                                            \
	OPTIONAL(cuThreadExchangeStreamCaptureMode, 10010)                                         \
	OPTIONAL(cuGraphAddMemAllocNode, 11040)                                                    \
	OPTIONAL(cuGraphAddMemFreeNode, 11040)                                                     \
	OPTIONAL(cuDeviceGraphMemTrim, 11040)                                                      \
	OPTIONAL(cuDeviceGetGraphMemAttribute, 11040)

/*
 * Partition of the multiprocessors. If one function is missing, the device cannot be partitioned.
 */
#define CUDA_FUNCTIONS_PARTITION(NEEDED, OPTIONAL)                                                 \
	OPTIONAL(cuDeviceGetDevResource, 12040)                                                    \
	OPTIONAL(cuDevSmResourceSplitByCount, 12040)                                               \
	OPTIONAL(cuDevResourceGenerateDesc, 12040)                                                 \
	OPTIONAL(cuGreenCtxCreate, 12040)                                                          \
	OPTIONAL(cuGreenCtxDestroy, 12040)                                                         \
	OPTIONAL(cuGreenCtxStreamCreate, 12050)

#define CUDA_FUNCTIONS(NEEDED, OPTIONAL)                                                           \
	CUDA_FUNCTIONS_DEVICE(NEEDED, OPTIONAL)                                                    \
	CUDA_FUNCTIONS_STREAM(NEEDED, OPTIONAL)                                                    \
	CUDA_FUNCTIONS_MEMORY(NEEDED, OPTIONAL)                                                    \
	CUDA_FUNCTIONS_IMAGE(NEEDED, OPTIONAL)                                                     \
	CUDA_FUNCTIONS_SHARE(NEEDED, OPTIONAL)                                                     \
	CUDA_FUNCTIONS_KERNEL(NEEDED, OPTIONAL)                                                    \
	CUDA_FUNCTIONS_GRAPH(NEEDED, OPTIONAL)                                                     \
	CUDA_FUNCTIONS_NODES(NEEDED, OPTIONAL)                                                     \
	CUDA_FUNCTIONS_PARTITION(NEEDED, OPTIONAL)

#endif
