/*
 * NVIDIA's driver in this program, for the bridge only (bridge.h). It is loaded when it is first
 * needed, never linked, and never closed. Its types are declared again here, so that the library
 * can be built without NVIDIA's headers. They are the driver's binary interface, which does not
 * change.
 */
#ifndef SYCL_CLIENT_CUDA_DRIVER_H
#define SYCL_CLIENT_CUDA_DRIVER_H

#include "syclclient/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int cuda_result;
typedef int cuda_device;
typedef struct cuda_context_s *cuda_context;
typedef struct cuda_stream_s *cuda_stream;
typedef struct cuda_event_s *cuda_event;
typedef struct cuda_graph_s *cuda_graph;
typedef struct cuda_graph_exec_s *cuda_graph_exec;
typedef unsigned long long cuda_address, cuda_allocation;

enum {
	CUDA_OK = 0,
	CUDA_NOT_READY = 600,
	CUDA_STREAM_NON_BLOCKING = 1,
	CUDA_EVENT_DISABLE_TIMING = 2,
	CUDA_IPC_LAZY_PEER = 1,
	CUDA_HANDLE_DESCRIPTOR = 1,
	CUDA_LOCATION_DEVICE = 1,
	CUDA_ACCESS_READ_WRITE = 3,
	CUDA_CAPTURE_RELAXED = 2,
	CUDA_CAPTURING_NOT = 0,
	CUDA_GRAPH_VERSION =
		12030, /* first driver in which a stream can capture into an existing graph */
};

struct cuda_uuid {
	uint8_t bytes[16];
};
struct cuda_ipc_memory {
	uint8_t bytes[64];
};
struct cuda_ipc_event {
	uint8_t bytes[64];
};
struct cuda_access {
	int location_kind, location;
	int flags;
};

/* Member names are the driver's symbols, with the version that each has had for years. */
struct cuda_driver {
	cuda_result (*cuInit)(unsigned flags);
	cuda_result (*cuDeviceGetCount)(int *count_out);
	cuda_result (*cuDeviceGet)(cuda_device *device_out, int ordinal);
	cuda_result (*cuDeviceGetUuid_v2)(struct cuda_uuid *uuid_out, cuda_device device);
	cuda_result (*cuDevicePrimaryCtxRetain)(cuda_context *context_out, cuda_device device);
	cuda_result (*cuDevicePrimaryCtxRelease_v2)(cuda_device device);
	cuda_result (*cuDevicePrimaryCtxGetState)(cuda_device device, unsigned *flags_out,
						  int *active_out);
	cuda_result (*cuCtxGetCurrent)(cuda_context *context_out);
	cuda_result (*cuCtxGetDevice)(cuda_device *device_out);
	cuda_result (*cuCtxPushCurrent_v2)(cuda_context context);
	cuda_result (*cuCtxPopCurrent_v2)(cuda_context *context_out);
	cuda_result (*cuStreamCreate)(cuda_stream *stream_out, unsigned flags);
	cuda_result (*cuStreamDestroy_v2)(cuda_stream stream);
	cuda_result (*cuStreamSynchronize)(cuda_stream stream);
	cuda_result (*cuLaunchHostFunc)(cuda_stream stream, void (*function)(void *),
					void *user_data);
	cuda_result (*cuEventCreate)(cuda_event *event_out, unsigned flags);
	cuda_result (*cuEventRecord)(cuda_event event, cuda_stream stream);
	cuda_result (*cuEventQuery)(cuda_event event);
	cuda_result (*cuEventDestroy_v2)(cuda_event event);
	cuda_result (*cuStreamWaitEvent)(cuda_stream stream, cuda_event event, unsigned flags);
	cuda_result (*cuIpcOpenMemHandle_v2)(cuda_address *address_out,
					     struct cuda_ipc_memory handle, unsigned flags);
	cuda_result (*cuIpcCloseMemHandle)(cuda_address address);
	cuda_result (*cuMemImportFromShareableHandle)(cuda_allocation *allocation_out, void *handle,
						      int kind);
	cuda_result (*cuMemRelease)(cuda_allocation allocation);
	cuda_result (*cuMemAddressReserve)(cuda_address *address_out, size_t bytes,
					   size_t alignment, cuda_address wish,
					   unsigned long long flags);
	cuda_result (*cuMemAddressFree)(cuda_address address, size_t bytes);
	cuda_result (*cuMemMap)(cuda_address address, size_t bytes, size_t offset,
				cuda_allocation allocation, unsigned long long flags);
	cuda_result (*cuMemUnmap)(cuda_address address, size_t bytes);
	cuda_result (*cuMemSetAccess)(cuda_address address, size_t bytes,
				      const struct cuda_access *access, size_t count);
	/* NULL: this driver lacks the function. */
	cuda_result (*cuIpcOpenEventHandle)(cuda_event *event_out, struct cuda_ipc_event handle);
	cuda_result (*cuCtxGetId)(cuda_context context, unsigned long long *id_out);
	cuda_result (*cuThreadExchangeStreamCaptureMode)(int *mode);
	cuda_result (*cuDriverGetVersion)(int *version_out);
	/* If one of these is missing, cuda_driver_has_graphs returns false. */
	cuda_result (*cuGraphCreate)(cuda_graph *graph_out, unsigned flags);
	cuda_result (*cuGraphDestroy)(cuda_graph graph);
	cuda_result (*cuGraphGetNodes)(cuda_graph graph, void *nodes, size_t *count);
	cuda_result (*cuGraphInstantiateWithFlags)(cuda_graph_exec *exec_out, cuda_graph graph,
						   unsigned long long flags);
	cuda_result (*cuGraphExecDestroy)(cuda_graph_exec exec);
	cuda_result (*cuGraphLaunch)(cuda_graph_exec exec, cuda_stream stream);
	cuda_result (*cuStreamIsCapturing)(cuda_stream stream, int *status_out);
	cuda_result (*cuStreamEndCapture)(cuda_stream stream, cuda_graph *graph_out);
};

/*
 * Returns the initialised driver. The first call takes the driver's start-up time. NULL with the
 * detail set (SYCL_ERROR_FEATURE_NOT_SUPPORTED): there is no driver, it is too old, or its start
 * failed. Any thread.
 */
const struct cuda_driver *cuda_driver_get(void);
/* True if the driver has graphs and can capture into an existing graph (CUDA 12.3). */
bool cuda_driver_has_graphs(const struct cuda_driver *cuda);

/*
 * Exchanges *mode with the set of driver calls that this thread may make while streams of the
 * program capture. *mode is CUDA_CAPTURE_RELAXED at first. A capture forbids calls that could wait
 * to other threads, and such a call would break the capture. The library's own calls do not concern
 * the capture, so they are allowed. The program's functions are called in the mode that their
 * thread had.
 */
void cuda_driver_exchange_mode(const struct cuda_driver *cuda, int *mode);

/* Records the driver's code with the thread's last failure, and returns the result. */
sycl_result cuda_driver_error(cuda_result result, const char *what);

#endif
