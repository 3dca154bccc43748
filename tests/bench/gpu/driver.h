/*
 * CUDA's driver API in this process, as a user would use it without the service. The library is
 * opened at run time, and its few functions are declared here. So syclbench needs neither a toolkit
 * nor a driver to be built and started. On an error the functions print a message and return false.
 */
#ifndef SYCL_BENCH_GPU_DRIVER_H
#define SYCL_BENCH_GPU_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t gpu_address;
struct gpu_context;
struct gpu_module;
struct gpu_function;
struct gpu_stream;
struct gpu_graph;
struct gpu_graph_exec;
struct gpu_event;
/* The name of memory or of an event. */
struct gpu_ipc_name {
	uint8_t bytes[64];
};

/* The name here, the library's symbol, the parameters. All return a CUresult. */
#define GPU_DRIVER_FUNCTIONS(X)                                                                    \
	X(init, "cuInit", (unsigned flags))                                                        \
	X(device_count, "cuDeviceGetCount", (int *count_out))                                      \
	X(device_get, "cuDeviceGet", (int *device_out, int ordinal))                               \
	X(device_attribute, "cuDeviceGetAttribute", (int *value_out, int attribute, int device))   \
	X(context_retain, "cuDevicePrimaryCtxRetain",                                              \
	  (struct gpu_context * *context_out, int device))                                         \
	X(context_release, "cuDevicePrimaryCtxRelease_v2", (int device))                           \
	X(context_use, "cuCtxSetCurrent", (struct gpu_context * context))                          \
	X(module_load, "cuModuleLoadData", (struct gpu_module * *module_out, const void *image))   \
	X(module_unload, "cuModuleUnload", (struct gpu_module * module))                           \
	X(module_function, "cuModuleGetFunction",                                                  \
	  (struct gpu_function * *function_out, struct gpu_module * module, const char *name))     \
	X(stream_create, "cuStreamCreate", (struct gpu_stream * *stream_out, unsigned flags))      \
	X(stream_destroy, "cuStreamDestroy_v2", (struct gpu_stream * stream))                      \
	X(stream_synchronize, "cuStreamSynchronize", (struct gpu_stream * stream))                 \
	X(launch, "cuLaunchKernel",                                                                \
	  (struct gpu_function * function, unsigned grid_x, unsigned grid_y, unsigned grid_z,      \
	   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,            \
	   struct gpu_stream *stream, void **parameters, void **extra))                            \
	X(memory_allocate, "cuMemAlloc_v2", (gpu_address * address_out, size_t bytes))             \
	X(memory_free, "cuMemFree_v2", (gpu_address address))                                      \
	X(memory_fill, "cuMemsetD32Async",                                                         \
	  (gpu_address address, unsigned value, size_t count, struct gpu_stream *stream))          \
	X(memory_information, "cuMemGetInfo_v2", (size_t * free_out, size_t * total_out))          \
	X(host_allocate, "cuMemHostAlloc", (void **host_out, size_t bytes, unsigned flags))        \
	X(host_free, "cuMemFreeHost", (void *host))                                                \
	X(copy_in, "cuMemcpyHtoDAsync_v2",                                                         \
	  (gpu_address destination, const void *source, size_t bytes, struct gpu_stream *stream))  \
	X(copy_out, "cuMemcpyDtoHAsync_v2",                                                        \
	  (void *destination, gpu_address source, size_t bytes, struct gpu_stream *stream))        \
	X(capture_begin, "cuStreamBeginCapture_v2", (struct gpu_stream * stream, int mode))        \
	X(capture_end, "cuStreamEndCapture",                                                       \
	  (struct gpu_stream * stream, struct gpu_graph * *graph_out))                             \
	X(graph_instantiate, "cuGraphInstantiateWithFlags",                                        \
	  (struct gpu_graph_exec * *executable_out, struct gpu_graph * graph,                      \
	   unsigned long long flags))                                                              \
	X(graph_launch, "cuGraphLaunch",                                                           \
	  (struct gpu_graph_exec * executable, struct gpu_stream * stream))                        \
	X(graph_exec_destroy, "cuGraphExecDestroy", (struct gpu_graph_exec * executable))          \
	X(graph_destroy, "cuGraphDestroy", (struct gpu_graph * graph))                             \
	X(ipc_name, "cuIpcGetMemHandle", (struct gpu_ipc_name * name_out, gpu_address address))    \
	X(ipc_open, "cuIpcOpenMemHandle_v2",                                                       \
	  (gpu_address * address_out, struct gpu_ipc_name name, unsigned flags))                   \
	X(ipc_close, "cuIpcCloseMemHandle", (gpu_address address))                                 \
	X(ipc_event_name, "cuIpcGetEventHandle",                                                   \
	  (struct gpu_ipc_name * name_out, struct gpu_event * event))                              \
	X(ipc_event_open, "cuIpcOpenEventHandle",                                                  \
	  (struct gpu_event * *event_out, struct gpu_ipc_name name))                               \
	X(event_create, "cuEventCreate", (struct gpu_event * *event_out, unsigned flags))          \
	X(event_destroy, "cuEventDestroy_v2", (struct gpu_event * event))                          \
	X(event_record, "cuEventRecord", (struct gpu_event * event, struct gpu_stream * stream))   \
	X(event_wait, "cuStreamWaitEvent",                                                         \
	  (struct gpu_stream * stream, struct gpu_event * event, unsigned flags))                  \
	X(error_name, "cuGetErrorName", (int result, const char **name_out))

#define GPU_DRIVER_FIELD(name, symbol, parameters) int(*name) parameters;

struct gpu_driver {
	void *library;
	GPU_DRIVER_FUNCTIONS(GPU_DRIVER_FIELD)
};

/* Opens the library (`path` NULL: libcuda.so.1) and initialises it. Prints nothing if `tell` is
 * false. */
bool gpu_driver_open(struct gpu_driver *driver, const char *path, bool tell);
/* Returns false, and prints the driver's name of the error, unless `result` is 0. */
bool gpu_driver_good(const struct gpu_driver *driver, int result, const char *what);

#endif
