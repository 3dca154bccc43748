/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file queue.h Queues: making one, waiting for it, and command groups in one call.
 * sycl_queue_submit is in handler.h, sycl_queue_launch in launch.h. The rules for all functions are
 * at the top of result.h.
 */
#ifndef SYCLCLIENT_QUEUE_H
#define SYCLCLIENT_QUEUE_H

#include "async.h"
#include "buffer.h"
#include "context.h"
#include "event.h"

SYCL_BEGIN_DECLS

#define SYCL_QUEUE_IN_ORDER         1u /**< groups run one by one, in the order of submission */
#define SYCL_QUEUE_ENABLE_PROFILING 2u /**< events have times: sycl_event_get_profiling */
#define SYCL_QUEUE_CHECK_NATIVE     4u /**< check native queues: sycl_queue_return_native */

/** Options of sycl_queue_create. Start from SYCL_QUEUE_OPTIONS_INIT. */
struct sycl_queue_options {
	uint32_t struct_bytes; /**< sizeof(struct sycl_queue_options) */
	uint32_t properties;   /**< bits above */
	/** gets errors (async.h); NULL: the context's, if any */
	sycl_async_handler *async_handler;
	/** passed to it; must stay valid until the queue, its events and groups end */
	void *async_user_data;
};
#define SYCL_QUEUE_OPTIONS_INIT                                                                    \
	{                                                                                          \
		sizeof(struct sycl_queue_options), 0, 0, 0                                         \
	}

/**
 * Make a queue. It keeps its context, device and connection alive. One-way: never waits. Later
 * calls that use the queue report what the service finds wrong.
 *
 * @param context         NULL: a context of this device alone. All queues that are made with NULL
 *                        share it.
 * @param device          One of the context's devices.
 * @param options         NULL: out of order, no profiling. Read during the call.
 * @param[out] queue_out  The caller releases it with sycl_queue_release.
 * @retval SYCL_ERROR_INVALID                The device is not one of the context's; wrong
 *                                           struct_bytes; an unknown property.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  Profiling on a device that keeps no times.
 * @retval SYCL_ERROR_RUNTIME                The device is not available.
 * @retval SYCL_ERROR_QUOTA                  The session has as many objects or completion slots as
 *                                           it may have.
 * @since 0.1
 *
 * @example
 *	sycl_queue fast = NULL;
 *	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
 *	options.properties = SYCL_QUEUE_IN_ORDER;
 *	result = sycl_queue_create(NULL, device, &options, &fast);
 */
SYCL_API sycl_result sycl_queue_create(sycl_context context, sycl_device device,
				       const struct sycl_queue_options *options,
				       sycl_queue *queue_out);
/**
 * Make a queue on the default device: the one that the default selector chooses of all devices of
 * the connection. The queue is out of order. A round trip the first time.
 *
 * @param platform        Any platform of the connection.
 * @param[out] queue_out  The caller releases it with sycl_queue_release.
 * @retval SYCL_ERROR_RUNTIME  There is no device.
 * @since 0.1
 *
 * @example
 *	sycl_queue made = NULL;
 *	result = sycl_queue_create_default(platform, &made);
 */
SYCL_API sycl_result sycl_queue_create_default(sycl_platform platform, sycl_queue *queue_out);
/**
 * Make a queue on the default device, with properties: in order, or with profiling. A round trip
 * the first time.
 *
 * @param platform        Any platform of the connection.
 * @param properties      Bits SYCL_QUEUE_IN_ORDER and others. 0: as sycl_queue_create_default.
 * @param[out] queue_out  The caller releases it with sycl_queue_release.
 * @retval SYCL_ERROR_RUNTIME                There is no device.
 * @retval SYCL_ERROR_INVALID                An unknown property.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  Profiling on a device that keeps no times.
 * @since 0.1
 *
 * @example
 *	sycl_queue timed = NULL;
 *	result = sycl_queue_create_default_with(platform, SYCL_QUEUE_ENABLE_PROFILING, &timed);
 */
SYCL_API sycl_result sycl_queue_create_default_with(sycl_platform platform, uint32_t properties,
						    sycl_queue *queue_out);
/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_queue_retain(sycl_queue queue);
/**
 * Release one reference. Never waits for a device: submitted work runs, and its events stay valid.
 * @since 0.1
 *
 * @example
 *	sycl_queue made = NULL;
 *	result = sycl_queue_create_default(platform, &made);
 *	if (result == SYCL_SUCCESS) {
 *		result = sycl_queue_copy_to_host(made, buffer, 0, pointer, bytes, NULL);
 *		if (result == SYCL_SUCCESS)
 *			result = sycl_queue_wait(made); // the release does not wait
 *		(void)sycl_queue_release(made);
 *	}
 */
SYCL_API sycl_result sycl_queue_release(sycl_queue queue);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_get_reference_count(sycl_queue queue, uint32_t *count_out);
/**
 * Get the queue's context, also an implicit one. Never blocks.
 *
 * @param[out] context_out  The caller releases it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_get_context(sycl_queue queue, sycl_context *context_out);
/**
 * Get the queue's device. Never blocks.
 *
 * @param[out] device_out  The caller releases it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_get_device(sycl_queue queue, sycl_device *device_out);
/**
 * Query whether a queue runs its groups in order. Never blocks.
 *
 * @param[out] in_order_out  1 or 0.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_is_in_order(sycl_queue queue, uint32_t *in_order_out);
/** As sycl_device_get_backend_info: always an error. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_queue_get_backend_info(sycl_queue queue, uint32_t info, size_t bytes,
						 void *value, size_t *bytes_out);

/** How the second-level cache treats memory. */
typedef enum sycl_l2_use {
	SYCL_L2_NORMAL = 0,    /**< as all other memory, also if it persisted before */
	SYCL_L2_STREAMING = 1, /**< dropped sooner than other memory */
	SYCL_L2_PERSISTING = 2 /**< kept longer than other memory */
} sycl_l2_use;

/**
 * A range of memory that the second-level cache treats differently from the rest. Start from
 * SYCL_L2_WINDOW_INIT.
 */
struct sycl_l2_window {
	uint32_t struct_bytes; /**< sizeof(struct sycl_l2_window) */
	/**
	 * 0 to 1: this part of the window is treated as `hit`, the rest as `miss`; the device
	 * chooses the part.
	 */
	float hit_ratio;
	const void *pointer; /**< device USM of the queue's device and context (usm.h) */
	uint64_t size_bytes; /**< inside one allocation; 1 to SYCL_DEVICE_INFO_L2_WINDOW_BYTES */
	sycl_l2_use hit;
	sycl_l2_use miss;  /**< not SYCL_L2_PERSISTING */
	uint64_t reserved; /**< 0 */
};
#define SYCL_L2_WINDOW_INIT                                                                        \
	{                                                                                          \
		sizeof(struct sycl_l2_window), 1.0f, 0, 0, SYCL_L2_PERSISTING, SYCL_L2_STREAMING,  \
			0                                                                          \
	}

/**
 * Set the queue's window: a range of memory that the device's second-level cache keeps longer, or
 * drops sooner, while kernels of this queue run. It affects kernels that are submitted to the queue
 * from now on, also those of a graph that is replayed node by node. It does not affect graphs that
 * are launched as one, nor other queues. It is a hint: results do not change. Blocks for a round
 * trip.
 *
 * While any queue has a persisting window, the device sets aside a part of its cache, up to half of
 * what it allows. The engine does that when the device is next idle. When no queue has such a
 * window any more, persisting lines are dropped. When the memory of a window is freed, the queue
 * has no window. A buffer cannot be a window, as the service may move it: use device USM. Kernels
 * with a window are not sent to the device in chains, so each takes longer to launch.
 *
 * @param window  Copied; the memory stays the caller's. NULL: the queue has no window from now on.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no such windows:
 *                                           SYCL_DEVICE_INFO_L2_WINDOW_BYTES is 0, as on all OpenCL
 *                                           devices.
 * @retval SYCL_ERROR_INVALID                The range is not inside one allocation of device USM of
 *                                           the queue's device and context; it has 0 bytes or too
 *                                           many; hit_ratio is not 0 to 1; `hit` or `miss` has a
 *                                           value that is not allowed; wrong struct_bytes. The
 *                                           queue keeps its former window.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_set_l2_window(sycl_queue queue,
					      const struct sycl_l2_window *window);

/**
 * Wait for every command group that was submitted to the queue before this call. Blocks until then.
 *
 * With an asynchronous handler (async.h) it only waits. Without one, if groups failed, it returns
 * the code of the first unreported failure, which then counts as reported. A wait for the group's
 * event and sycl_queue_throw_asynchronous report failures too.
 *
 * @retval SYCL_ERROR_DEPENDENCY_FAILED  A group did not run, because one that it depends on failed.
 * @retval SYCL_ERROR_INVALID            This thread runs a host task of this queue, which would
 *                                       wait for itself.
 * @since 0.1
 *
 * @example
 *	if (sycl_queue_wait(queue) != SYCL_SUCCESS)
 *		fprintf(stderr, "%s\n", sycl_get_last_error_text());
 */
SYCL_API sycl_result sycl_queue_wait(sycl_queue queue);

/**
 * Wait as sycl_queue_wait does, with a limit.
 *
 * @param timeout_ns  Longest wait, ns of CLOCK_MONOTONIC. 0: do not wait. SYCL_FOREVER_NS: no
 *                    limit.
 * @retval SYCL_ERROR_TIMEOUT  Not all groups are complete.
 * @since 0.1
 *
 * @example
 *	result = sycl_queue_wait_for(queue, 5 * UINT64_C(1000000000));
 *	if (result == SYCL_ERROR_TIMEOUT)
 *		fprintf(stderr, "not complete after 5 s\n");
 */
SYCL_API sycl_result sycl_queue_wait_for(sycl_queue queue, uint64_t timeout_ns);

/**
 * Wait as sycl_queue_wait does, then report errors as sycl_queue_throw_asynchronous does, with the
 * queue's own handler. Blocks as both do.
 *
 * @return 0 if a handler was called; without a handler what sycl_queue_wait returns.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_wait_and_throw(sycl_queue queue);

/**
 * Pass all unreported errors of the queue to a handler, in one call. Without errors the handler is
 * not called. Does not wait for groups: it reports failures that have occurred by now. Blocks as
 * long as the handler does.
 *
 * @param handler    NULL: the queue's own, or its context's. Without either the first error is
 *                   returned.
 * @param user_data  Passed to `handler`. The queue's own handler gets its own user data.
 * @return 0 if a handler was called, or there is no error.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_throw_asynchronous(sycl_queue queue, sycl_async_handler *handler,
						   void *user_data);

/**
 * Submit a command group that fills a part of a buffer. Errors and blocking are those of
 * sycl_handler_fill and sycl_queue_submit.
 *
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @since 0.1
 *
 * @example
 *	const uint32_t zero = 0;
 *	result = sycl_queue_fill(queue, buffer, 0, bytes, &zero, sizeof(zero), NULL);
 */
SYCL_API sycl_result sycl_queue_fill(sycl_queue queue, sycl_buffer buffer, uint64_t offset_bytes,
				     uint64_t size_bytes, const void *pattern, size_t pattern_bytes,
				     sycl_event *event_out);
/**
 * Submit a command group that copies bytes between buffers. Errors and blocking are those of
 * sycl_handler_copy and sycl_queue_submit.
 *
 * @param source          The buffer to read.
 * @param destination     The buffer to write.
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_copy(sycl_queue queue, sycl_buffer source,
				     uint64_t source_offset_bytes, sycl_buffer destination,
				     uint64_t destination_offset_bytes, uint64_t size_bytes,
				     sycl_event *event_out);
/**
 * Submit a command group that makes a buffer's contents current on the host. Errors and blocking
 * are those of sycl_handler_update_host and sycl_queue_submit.
 *
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_update_host(sycl_queue queue, sycl_buffer buffer,
					    sycl_event *event_out);
/**
 * Submit an empty command group whose event is complete when all earlier groups of the queue are.
 * It does not fail when they do. Later groups do not wait for it, unless they depend on its event
 * or the queue is in order. Never waits.
 *
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_barrier(sycl_queue queue, sycl_event *event_out);

SYCL_END_DECLS
#endif
