/* SPDX-License-Identifier: Apache-2.0 */
/** @file queue.h Queues and their shortcuts. The rules for all functions are at the top of result.h. */
#ifndef SYCLCLIENT_QUEUE_H
#define SYCLCLIENT_QUEUE_H

#include "async.h"
#include "buffer.h"
#include "context.h"
#include "event.h"

SYCL_BEGIN_DECLS

/** Bits of sycl_queue_options.properties. */
#define SYCL_QUEUE_IN_ORDER 1u          /**< groups run one after the other, in the order of submission */
#define SYCL_QUEUE_ENABLE_PROFILING 2u  /**< events tell times */
#define SYCL_QUEUE_CHECK_NATIVE 4u      /**< for finding mistakes: see sycl_queue_return_native */

/** Options of sycl_queue_create. Start from SYCL_QUEUE_OPTIONS_INIT. */
struct sycl_queue_options {
	uint32_t struct_bytes; /**< sizeof(struct sycl_queue_options) */
	uint32_t properties;   /**< bits above */
	sycl_async_handler *async_handler; /**< told of errors (async.h); NULL: the context's, if it has one */
	void *async_user_data; /**< handed to it; stays good until the queue, its events and its groups are gone */
};
#define SYCL_QUEUE_OPTIONS_INIT { sizeof(struct sycl_queue_options), 0, 0, 0 }

/**
 * Make a queue. It keeps its context, device and connection alive. One-way: never waits; what the service
 * finds wrong later is told by the calls that use the queue.
 *
 * @param context         NULL: a context of this device alone, shared by all queues that are made like this.
 * @param device          One of the context's.
 * @param options         NULL: out of order, no profiling. Read during the call.
 * @param[out] queue_out  The caller's to release.
 * @retval SYCL_ERROR_INVALID                The device is not one of the context's; wrong struct_bytes; an unknown
 *                                           property.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  Profiling on a device that keeps no times.
 * @retval SYCL_ERROR_RUNTIME                The device is not available.
 * @retval SYCL_ERROR_QUOTA                  The session has as many objects or completion slots as it may.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_create(sycl_context context, sycl_device device,
				       const struct sycl_queue_options *options, sycl_queue *queue_out);
/**
 * A queue on the device that the default selector chooses of all devices of the connection; out of order. A
 * round trip the first time.
 *
 * @param[out] queue_out  The caller's to release.
 * @retval SYCL_ERROR_RUNTIME  There is no device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_create_default(sycl_platform platform, sycl_queue *queue_out);
/**
 * As sycl_queue_create_default, with properties: a queue that is in order, or has profiling, in one call. A round trip the first time.
 *
 * @param properties      Bits SYCL_QUEUE_...; 0: as sycl_queue_create_default.
 * @param[out] queue_out  The caller's to release.
 * @retval SYCL_ERROR_RUNTIME                There is no device.
 * @retval SYCL_ERROR_INVALID                An unknown property.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  Profiling on a device that keeps no times.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_create_default_with(sycl_platform platform, uint32_t properties, sycl_queue *queue_out);
/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_queue_retain(sycl_queue queue);
/**
 * End one reference. Never waits for a device: what was submitted runs, its events stay good.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_release(sycl_queue queue);
/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_queue_get_reference_count(sycl_queue queue, uint32_t *count_out);
/** The queue's context, also an implicit one; the caller's to release. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_queue_get_context(sycl_queue queue, sycl_context *context_out);
/** The queue's device; the caller's to release. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_queue_get_device(sycl_queue queue, sycl_device *device_out);
/** Does a queue run its groups in order? 1 or 0 in *in_order_out. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_queue_is_in_order(sycl_queue queue, uint32_t *in_order_out);
/** As sycl_device_get_backend_info: always an error. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_queue_get_backend_info(sycl_queue queue, uint32_t info, size_t bytes, void *value,
						 size_t *bytes_out);

/** How the second-level cache treats memory. */
typedef enum sycl_l2_use {
	SYCL_L2_NORMAL = 0,    /**< as all other memory, even if it persisted before */
	SYCL_L2_STREAMING = 1, /**< dropped sooner than other memory */
	SYCL_L2_PERSISTING = 2 /**< kept longer than other memory */
} sycl_l2_use;

/** A range of memory that the device's second-level cache treats differently from the rest. Start from SYCL_L2_WINDOW_INIT. */
struct sycl_l2_window {
	uint32_t struct_bytes; /**< sizeof(struct sycl_l2_window) */
	float hit_ratio;       /**< 0 to 1: this part of the window is treated as `hit`, the rest as `miss`; the device chooses which */
	const void *pointer;   /**< device USM of the queue's device and context (usm.h) */
	uint64_t size_bytes;   /**< from `pointer` on, inside one allocation; 1 to SYCL_DEVICE_INFO_L2_WINDOW_BYTES */
	sycl_l2_use hit;
	sycl_l2_use miss;      /**< not SYCL_L2_PERSISTING */
	uint64_t reserved;     /**< 0 */
};
#define SYCL_L2_WINDOW_INIT { sizeof(struct sycl_l2_window), 1.0f, 0, 0, SYCL_L2_PERSISTING, SYCL_L2_STREAMING, 0 }

/**
 * Set the queue's window: a range of memory that the device's second-level cache keeps longer, or drops sooner, while kernels of this queue
 * run. It counts for kernels that are submitted to the queue from now on, also for those of a graph that is replayed node by node; not for
 * graphs that are launched as one, and not for other queues. It is a hint: results do not change. Blocks for a round trip.
 *
 * While any queue has a window that persists, the device sets aside a part of its cache, up to half of what it allows. The engine does that
 * when nothing runs on the device next. When no queue has such a window any more, what persists is dropped. After the memory of a window is
 * freed, the queue has no window. A buffer cannot be a window, as the service may move it: use device USM. Kernels with a window are
 * not sent to the device in chains, so each costs more time to launch.
 *
 * @param window  Copied; the memory stays the caller's. NULL: the queue has no window from now on.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no such windows (SYCL_DEVICE_INFO_L2_WINDOW_BYTES is 0), such as all of OpenCL.
 * @retval SYCL_ERROR_INVALID  The range is not inside one allocation of device USM of the queue's device and context; it has 0
 *                             bytes or too many; hit_ratio is not 0 to 1; `hit` or `miss` has no allowed value; wrong struct_bytes.
 *                             The queue keeps the window that it had.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_set_l2_window(sycl_queue queue, const struct sycl_l2_window *window);

/**
 * Wait for every command group that was submitted to the queue before this call. Blocks until then.
 *
 * With an asynchronous handler (async.h) it only waits. Without one, if groups failed, the result is the code of the
 * first one that was not reported yet, by this function, by a wait for its event or by sycl_queue_throw_asynchronous;
 * it counts as reported then.
 *
 * @retval SYCL_ERROR_DEPENDENCY_FAILED  A group did not run because one that it depends on failed.
 * @retval SYCL_ERROR_INVALID            This thread runs a host task of this queue, which would wait for itself.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_wait(sycl_queue queue);

/**
 * As sycl_queue_wait, at most timeout_ns (CLOCK_MONOTONIC); 0 asks without waiting, SYCL_FOREVER_NS waits without end.
 *
 * @retval SYCL_ERROR_TIMEOUT  Not all are complete.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_wait_for(sycl_queue queue, uint64_t timeout_ns);

/**
 * As sycl_queue_wait, then as sycl_queue_throw_asynchronous with the queue's own handler. Blocks as both do.
 *
 * @return 0 when a handler was told; without a handler what sycl_queue_wait returns.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_wait_and_throw(sycl_queue queue);

/**
 * Hand all errors of the queue that were not reported yet to a handler, in one call; without any, it is not called. Does not wait for groups: what has failed by now is reported. Blocks as long as the handler does.
 *
 * @param handler    NULL: the queue's own, or its context's; without either the first error is returned.
 * @param user_data  Handed to `handler`; with the queue's own handler its own is.
 * @return 0 when a handler was told, or there is nothing to tell.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_throw_asynchronous(sycl_queue queue, sycl_async_handler *handler, void *user_data);

/**
 * sycl_handler_fill as a command group. `event_out` may be NULL. Errors and blocking: as there and as
 * sycl_handler_submit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_fill(sycl_queue queue, sycl_buffer buffer, uint64_t offset_bytes, uint64_t size_bytes,
				     const void *pattern, size_t pattern_bytes, sycl_event *event_out);
/**
 * sycl_handler_copy as a command group. `event_out` may be NULL. Errors and blocking: as there and as
 * sycl_handler_submit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_copy(sycl_queue queue, sycl_buffer source, uint64_t source_offset_bytes,
				     sycl_buffer destination, uint64_t destination_offset_bytes, uint64_t size_bytes,
				     sycl_event *event_out);
/**
 * sycl_handler_update_host as a command group. `event_out` may be NULL. Errors and blocking: as there and as
 * sycl_handler_submit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_update_host(sycl_queue queue, sycl_buffer buffer, sycl_event *event_out);
/**
 * An empty command group: its event is complete when all groups submitted to the queue before are; it does not fail
 * when they do. Groups that come later do not wait for it, unless they depend on its event or the queue is in order.
 * Never waits.
 *
 * @param[out] event_out  The caller's to release; may be NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_barrier(sycl_queue queue, sycl_event *event_out);

SYCL_END_DECLS
#endif
