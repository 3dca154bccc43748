/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cuda.h CUDA's own types for native handles and native commands. It needs the CUDA
 * toolkit's cuda.h. The library itself needs nothing of it. These functions are inline and call
 * nothing of CUDA's.
 *
 * The rules are in native.h and native_command.h. In short, for CUDA:
 *
 * - They work with "embedded:", whose engine is in this process; otherwise
 *   SYCL_ERROR_FEATURE_NOT_SUPPORTED. Exceptions are devices, native commands and native host
 *   tasks. Through a service these get handles of this program's own context (native_command.h).
 * - Devices, contexts, queues and events go both ways. Platforms, buffers, kernels, bundles and
 *   images have no native form. Native commands and native host tasks can get the memory of a
 *   buffer.
 * - Nothing changes its owner. A handle that a call returns is this library's and valid while its
 *   object lives. A handle that a call takes is the program's. The program keeps it until the
 *   objects made from it have ended, and destroys it.
 * - The types are the driver's. Those of the CUDA runtime are the same or can be cast: cudaStream_t
 *   is CUstream.
 */
#ifndef SYCLCLIENT_CUDA_H
#define SYCLCLIENT_CUDA_H

#include "native.h"
#include "native_command.h"

#include <cuda.h>

SYCL_BEGIN_DECLS

/** The largest number of devices of a context. */
#define SYCL_CUDA_DEVICES_MAX 64

/*
 * CUDA's handles are pointers, except devices and addresses of memory. They are passed as numbers.
 * C++ warns of old casts.
 */
#ifdef __cplusplus
#define SYCL_CUDA_NUMBER_OF(handle)       reinterpret_cast<uintptr_t>(handle)
#define SYCL_CUDA_HANDLE_OF(type, number) reinterpret_cast<type>(static_cast<uintptr_t>(number))
#define SYCL_CUDA_CAST(type, value)       static_cast<type>(value)
#else
#define SYCL_CUDA_NUMBER_OF(handle)       ((uintptr_t)(handle))
#define SYCL_CUDA_HANDLE_OF(type, number) ((type)(uintptr_t)(number))
#define SYCL_CUDA_CAST(type, value)       ((type)(value))
#endif

/* --- errors ----------------------------------------------------------------------------------- */

/**
 * Get the driver's code of this thread's last failed call; CUDA_SUCCESS if there is none.
 * @since 0.1
 */
static inline CUresult sycl_cuda_get_error_code(void)
{
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	if (sycl_get_last_error(&detail) != SYCL_SUCCESS ||
	    detail.backend != SYCL_BACKEND_KIND_CUDA)
		return CUDA_SUCCESS;
	return SYCL_CUDA_CAST(CUresult, detail.native_code);
}

/* --- this library's objects of CUDA's --------------------------------------------------------- */

/** As sycl_device_make_native: the existing device. @since 0.1 */
static inline sycl_result sycl_cuda_make_device(sycl_platform connection, CUdevice native,
						sycl_device *device_out)
{
	if (native < 0)
		return sycl_device_make_native(connection, SYCL_BACKEND_KIND_CUDA, UINT64_MAX,
					       device_out);
	return sycl_device_make_native(connection, SYCL_BACKEND_KIND_CUDA,
				       SYCL_CUDA_CAST(uint64_t, native), device_out);
}

/**
 * As sycl_context_make_native; `options` may be NULL. A primary context works as any other.
 * @since 0.1
 */
static inline sycl_result sycl_cuda_make_context(sycl_platform connection, CUcontext native,
						 const struct sycl_context_options *options,
						 sycl_context *context_out)
{
	return sycl_context_make_native(connection, SYCL_BACKEND_KIND_CUDA,
					SYCL_CUDA_NUMBER_OF(native), options, context_out);
}

/**
 * As sycl_queue_make_native: in order. Not for a default stream. `options` may be NULL.
 * @since 0.1
 */
static inline sycl_result sycl_cuda_make_queue(sycl_context context, CUstream native,
					       const struct sycl_queue_options *options,
					       sycl_queue *queue_out)
{
	return sycl_queue_make_native(context, SYCL_BACKEND_KIND_CUDA, SYCL_CUDA_NUMBER_OF(native),
				      options, queue_out);
}

/** As sycl_event_make_native: the record that the event has at this call. @since 0.1 */
static inline sycl_result sycl_cuda_make_event(sycl_context context, CUevent native,
					       sycl_event *event_out)
{
	uint64_t number = SYCL_CUDA_NUMBER_OF(native);
	return sycl_event_make_native(context, SYCL_BACKEND_KIND_CUDA, 1, &number, event_out);
}

/* --- CUDA's objects of this library's --------------------------------------------------------- */

/** As sycl_device_get_native. @since 0.1 */
static inline sycl_result sycl_cuda_get_native_device(sycl_device device, CUdevice *native_out)
{
	uint64_t number = 0;
	sycl_result result =
		sycl_device_get_native(device, SYCL_BACKEND_KIND_CUDA, native_out ? &number : NULL);
	if (!result)
		*native_out = SYCL_CUDA_CAST(CUdevice, number);
	return result;
}

/**
 * As sycl_context_get_native: one for each device, in their order.
 *
 * @param capacity  Room in natives_out. At most SYCL_CUDA_DEVICES_MAX are filled.
 */
static inline sycl_result sycl_cuda_get_native_context(sycl_context context, uint32_t capacity,
						       CUcontext *natives_out, uint32_t *count_out)
{
	uint64_t numbers[SYCL_CUDA_DEVICES_MAX];
	uint32_t count = 0,
		 room = capacity < SYCL_CUDA_DEVICES_MAX ? capacity : SYCL_CUDA_DEVICES_MAX;
	if ((capacity > 0 && !natives_out) ||
	    (!natives_out && !count_out)) /* as the call itself says */
		return sycl_context_get_native(context, SYCL_BACKEND_KIND_CUDA, capacity, NULL,
					       NULL);
	sycl_result result = sycl_context_get_native(context, SYCL_BACKEND_KIND_CUDA, room,
						     natives_out ? numbers : NULL, &count);
	if (result)
		return result;
	for (uint32_t i = 0; i < room && i < count; i++)
		natives_out[i] = SYCL_CUDA_HANDLE_OF(CUcontext, numbers[i]);
	if (count_out)
		*count_out = count;
	return result;
}

/**
 * As sycl_queue_get_native: blocks until everything that was submitted to the queue is complete.
 * Synchronise with your work on the stream before you submit more to the queue;
 * sycl_queue_return_native can check that.
 */
static inline sycl_result sycl_cuda_get_native_queue(sycl_queue queue, CUstream *native_out)
{
	uint64_t number = 0;
	sycl_result result =
		sycl_queue_get_native(queue, SYCL_BACKEND_KIND_CUDA, native_out ? &number : NULL);
	if (!result)
		*native_out = SYCL_CUDA_HANDLE_OF(CUstream, number);
	return result;
}

/**
 * As sycl_event_get_natives: the event that this one was made from, or that of its command; NULL if
 * there is none.
 * @since 0.1
 */
static inline sycl_result sycl_cuda_get_native_event(sycl_event event, CUevent *native_out)
{
	uint64_t number = 0;
	uint32_t count = 0;
	sycl_result result =
		sycl_event_get_natives(event, SYCL_BACKEND_KIND_CUDA, native_out ? 1 : 0,
				       native_out ? &number : NULL, native_out ? &count : NULL);
	if (!result)
		*native_out = count > 0 ? SYCL_CUDA_HANDLE_OF(CUevent, number) : NULL;
	return result;
}

/** As sycl_event_has_native_event. @since 0.1 */
static inline sycl_result sycl_cuda_has_native_event(sycl_event event, uint32_t *has_out)
{
	return sycl_event_has_native_event(event, has_out);
}

/* --- inside of host tasks of sycl_handler_host_task_native ------------------------------------ */

/** As sycl_host_task_get_native_device. @since 0.1 */
static inline sycl_result sycl_cuda_host_task_get_native_device(sycl_host_task task,
								CUdevice *native_out)
{
	uint64_t number = 0;
	sycl_result result = sycl_host_task_get_native_device(task, SYCL_BACKEND_KIND_CUDA,
							      native_out ? &number : NULL);
	if (!result)
		*native_out = SYCL_CUDA_CAST(CUdevice, number);
	return result;
}

/**
 * As sycl_host_task_get_native_context: make it current (cuCtxSetCurrent) before you call the
 * driver.
 * @since 0.1
 */
static inline sycl_result sycl_cuda_host_task_get_native_context(sycl_host_task task,
								 CUcontext *native_out)
{
	uint64_t number = 0;
	sycl_result result = sycl_host_task_get_native_context(task, SYCL_BACKEND_KIND_CUDA,
							       native_out ? &number : NULL);
	if (!result)
		*native_out = SYCL_CUDA_HANDLE_OF(CUcontext, number);
	return result;
}

/**
 * As sycl_host_task_get_native_queue: work sent there must be complete when the function returns.
 * @since 0.1
 */
static inline sycl_result sycl_cuda_host_task_get_native_queue(sycl_host_task task,
							       CUstream *native_out)
{
	uint64_t number = 0;
	sycl_result result = sycl_host_task_get_native_queue(task, SYCL_BACKEND_KIND_CUDA,
							     native_out ? &number : NULL);
	if (!result)
		*native_out = SYCL_CUDA_HANDLE_OF(CUstream, number);
	return result;
}

/** As sycl_host_task_get_native_memory: where the whole buffer begins on the device. @since 0.1 */
static inline sycl_result sycl_cuda_host_task_get_native_memory(sycl_host_task task, uint32_t index,
								CUdeviceptr *native_out)
{
	uint64_t number = 0;
	sycl_result result = sycl_host_task_get_native_memory(task, SYCL_BACKEND_KIND_CUDA, index,
							      native_out ? &number : NULL);
	if (!result)
		*native_out = SYCL_CUDA_CAST(CUdeviceptr, number);
	return result;
}

/* --- inside of native commands ---------------------------------------------------------------- */

/** SYCL_ERROR_BACKEND_MISMATCH if the command is for a device of another backend. */
static inline sycl_result sycl_cuda_interop_check(sycl_interop_handle interop)
{
	sycl_backend backend = SYCL_BACKEND_KIND_CUDA;
	sycl_result result = sycl_interop_get_backend(interop, &backend);
	return !result && backend != SYCL_BACKEND_KIND_CUDA ? SYCL_ERROR_BACKEND_MISMATCH : result;
}

/** As sycl_interop_get_native_device. @since 0.1 */
static inline sycl_result sycl_cuda_interop_get_native_device(sycl_interop_handle interop,
							      CUdevice *native_out)
{
	uint64_t number = 0;
	sycl_result result = sycl_cuda_interop_check(interop);
	if (!result)
		result = sycl_interop_get_native_device(interop, native_out ? &number : NULL);
	if (!result)
		*native_out = SYCL_CUDA_CAST(CUdevice, number);
	return result;
}

/** As sycl_interop_get_native_context: it is current already. @since 0.1 */
static inline sycl_result sycl_cuda_interop_get_native_context(sycl_interop_handle interop,
							       CUcontext *native_out)
{
	uint64_t number = 0;
	sycl_result result = sycl_cuda_interop_check(interop);
	if (!result)
		result = sycl_interop_get_native_context(interop, native_out ? &number : NULL);
	if (!result)
		*native_out = SYCL_CUDA_HANDLE_OF(CUcontext, number);
	return result;
}

/** As sycl_interop_get_native_queue. @since 0.1 */
static inline sycl_result sycl_cuda_interop_get_native_queue(sycl_interop_handle interop,
							     CUstream *native_out)
{
	uint64_t number = 0;
	sycl_result result = sycl_cuda_interop_check(interop);
	if (!result)
		result = sycl_interop_get_native_queue(interop, native_out ? &number : NULL);
	if (!result)
		*native_out = SYCL_CUDA_HANDLE_OF(CUstream, number);
	return result;
}

/** As sycl_interop_get_native_memory, the offset included: the accessor's first byte. @since 0.1 */
static inline sycl_result sycl_cuda_interop_get_native_memory(sycl_interop_handle interop,
							      uint32_t index,
							      CUdeviceptr *native_out)
{
	uint64_t number = 0, offset_bytes = 0;
	sycl_result result = sycl_cuda_interop_check(interop);
	if (!result)
		result = sycl_interop_get_native_memory(interop, index, native_out ? &number : NULL,
							&offset_bytes);
	if (!result)
		*native_out = SYCL_CUDA_CAST(CUdeviceptr, number + offset_bytes);
	return result;
}

/** As sycl_interop_get_native_graph. @since 0.1 */
static inline sycl_result sycl_cuda_interop_get_native_graph(sycl_interop_handle interop,
							     CUgraph *native_out)
{
	uint64_t number = 0;
	sycl_result result = sycl_cuda_interop_check(interop);
	if (!result)
		result = sycl_interop_get_native_graph(interop, native_out ? &number : NULL);
	if (!result)
		*native_out = SYCL_CUDA_HANDLE_OF(CUgraph, number);
	return result;
}

SYCL_END_DECLS
#endif
