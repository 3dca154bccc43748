/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file event.h Events: waiting, status, times. The rules for all functions are at the top of
 * result.h.
 */
#ifndef SYCLCLIENT_EVENT_H
#define SYCLCLIENT_EVENT_H

#include "result.h"

SYCL_BEGIN_DECLS

/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_event_retain(sycl_event event);
/**
 * Release one reference. Never waits: the command group still runs.
 * @since 0.1
 *
 * @example
 *	sycl_event written = NULL;
 *	const uint32_t zero = 0;
 *	result = sycl_queue_fill(queue, buffer, 0, bytes, &zero, sizeof(zero), &written);
 *	if (result == SYCL_SUCCESS) {
 *		result = sycl_event_wait(written);
 *		(void)sycl_event_release(written);
 *	}
 */
SYCL_API sycl_result sycl_event_release(sycl_event event);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_get_reference_count(sycl_event event, uint32_t *count_out);

/**
 * Wait until the command group is complete or has failed. Blocks until then. Works after the queue
 * has been released. What the group did happens before this returns.
 *
 * @return 0, or the code with which the group failed, on every call. sycl_get_last_error has the
 *         detail.
 * @retval SYCL_ERROR_DEPENDENCY_FAILED  The group did not run, because a group that it depends on
 *                                       failed.
 * @retval SYCL_ERROR_INVALID            This thread runs the host task of the event, which would
 *                                       wait for itself.
 * @since 0.1
 *
 * @example
 *	sycl_event done = NULL;
 *	result = sycl_queue_submit(queue, handler, &done);
 *	if (result == SYCL_SUCCESS) {
 *		result = sycl_event_wait(done);
 *		(void)sycl_event_release(done);
 *	}
 */
SYCL_API sycl_result sycl_event_wait(sycl_event event);

/**
 * Wait as sycl_event_wait does, then pass all unreported errors of the event's queue to its
 * asynchronous handler, or to its context's (async.h). Works after the queue has been released.
 *
 * @return 0 if there is a handler; otherwise what sycl_event_wait returns.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_wait_and_throw(sycl_event event);

/**
 * Wait as sycl_event_wait does, with a limit.
 *
 * @param timeout_ns  Longest wait, ns of CLOCK_MONOTONIC. 0: do not wait. SYCL_FOREVER_NS: no
 *                    limit.
 * @retval SYCL_ERROR_TIMEOUT  Not complete.
 * @since 0.1
 *
 * @example
 *	result = sycl_event_wait_for(event, 5 * UINT64_C(1000000000));
 *	if (result == SYCL_ERROR_TIMEOUT)
 *		fprintf(stderr, "not complete after 5 s\n");
 */
SYCL_API sycl_result sycl_event_wait_for(sycl_event event, uint64_t timeout_ns);

/**
 * Wait for all of several events. Blocks until then. They may belong to different connections.
 *
 * @param count       How many events.
 * @param events      The handles; NULL if count is 0.
 * @param timeout_ns  Longest wait for all together, as sycl_event_wait_for.
 * @return 0, or the error of the first event in the list that failed; all are complete then.
 * @retval SYCL_ERROR_TIMEOUT  Not all are complete.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_wait_all(uint32_t count, const sycl_event *events,
					 uint64_t timeout_ns);

/**
 * List the events that the command group depends on (sycl_handler_depends_on), without those that
 * are complete. Never blocks.
 *
 * @param capacity         Room in events_out; 0: only count.
 * @param[out] events_out  Up to `capacity` handles, each to be released by the caller. NULL if
 *                         capacity is 0.
 * @param[out] count_out   How many events there are, also beyond `capacity`. May be NULL if
 *                         events_out is given.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_get_wait_list(sycl_event event, uint32_t capacity,
					      sycl_event *events_out, uint32_t *count_out);

/** The state of a command group. */
typedef enum sycl_command_status {
	SYCL_COMMAND_SUBMITTED = 0,
	SYCL_COMMAND_RUNNING = 1,
	SYCL_COMMAND_COMPLETE = 2 /**< also if it failed; sycl_event_wait returns the failure */
} sycl_command_status;

/**
 * Get the state of the command group. The state never goes back. A round trip unless the group is
 * complete.
 *
 * A command on an OpenCL device is running when its driver reports that it has begun. PoCL reports
 * that at once; others may report it later. On a CUDA device a command counts as running when it
 * has been sent and everything before it is complete. That is its dependencies, and earlier
 * commands on its stream. A host task is running when its function is about to be called.
 *
 * @param[out] status_out  The state.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_get_status(sycl_event event, sycl_command_status *status_out);

/** The times of a command group. */
typedef enum sycl_profiling {
	SYCL_PROFILING_SUBMIT = 0, /**< when the program submitted it */
	SYCL_PROFILING_START = 1,  /**< when its device began */
	SYCL_PROFILING_END = 2     /**< when its device ended */
} sycl_profiling;

/**
 * Get a time of the command group, in ns since the connection was made. A round trip. Start and end
 * block until they are known, at the latest until the group is complete. For a host task they are
 * the times before and after the call of its function.
 *
 * Where possible, the start is answered while the command runs, and stays the same:
 *
 * - For a command on an OpenCL device it is the time at which the driver reported its begin. PoCL
 *   reports that at once. Where a driver reports it late, the start is late, or known only with the
 *   end.
 * - For a command on a CUDA device it is the time at which the device had done everything before
 *   the command on its stream. It is known within a millisecond or two. The command itself may
 *   begin later, if the device is full of other work.
 * - For a host task it is the time at which its function was about to be called.
 * - For the launch of a graph that the engine sends node by node it is known only with the end.
 *
 * While the library waits for a start, it queries the service repeatedly, at most every 10 ms.
 *
 * @param what         Which time.
 * @param[out] ns_out  The time.
 * @retval SYCL_ERROR_INVALID    The queue was made without profiling.
 * @retval SYCL_ERROR_PROFILING  The times are no longer kept: a queue keeps those of its latest
 *                               65536 groups.
 * @return The group's own error, if it failed and the time is not known.
 * @since 0.1
 *
 * @example
 *	uint64_t start_ns = 0, end_ns = 0;
 *	result = sycl_event_get_profiling(event, SYCL_PROFILING_START, &start_ns);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_event_get_profiling(event, SYCL_PROFILING_END, &end_ns);
 */
SYCL_API sycl_result sycl_event_get_profiling(sycl_event event, sycl_profiling what,
					      uint64_t *ns_out);

/**
 * Query whether an event has a native event, such as a CUevent, for sycl_event_get_native. A wait
 * for the SYCL event works in either case.
 *
 * - An event that was made from native events (native.h) has them.
 * - An event of a command on a CUDA device can have a CUevent if the engine is in this process
 *   ("embedded:"). The engine records it in the command's stream on the first request. It completes
 *   when everything that the stream held at that moment has ended, so never before the command. For
 *   a command that has already ended it is complete. There is none while the command is not yet on
 *   the device. There is none if it uses several streams, or is a launch of a graph. There is none
 *   either while 1024 events of the connection have one. The answer may change later.
 * - No other event has one.
 *
 * The native event of a command lives as long as the SYCL event. For a command on a CUDA device
 * with the engine in this process, the question blocks for a round trip. In all other cases it
 * never blocks.
 *
 * @param[out] has_out  1 or 0.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_has_native_event(sycl_event event, uint32_t *has_out);

/**
 * Get the vendor's event behind this one, a CUevent or a cl_event, where there is exactly one. For
 * several, use sycl_event_get_natives (native.h), which has the same rules of ownership. A round
 * trip where there is one.
 *
 * @param[out] native_out  NULL if there is none. A CUevent must not be destroyed; a cl_event must
 *                         be released.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  There is not exactly one, and the backend is OpenCL,
 *                                           which has no event that is NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_get_native(sycl_event event, void **native_out);

/** As sycl_device_get_backend_info (device.h): always an error. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_event_get_backend_info(sycl_event event, uint32_t info, size_t bytes,
						 void *value, size_t *bytes_out);

/**
 * Wait until at least one of several events is complete. Blocks, and runs host tasks meanwhile, as
 * sycl_event_wait. An event whose group has failed is complete, too: a wait for that event alone
 * returns why.
 *
 * @param count           How many events, at least 1.
 * @param events          The events, all of one connection.
 * @param timeout_ns      Longest wait, ns of CLOCK_MONOTONIC. 0: only look.
 * @param[out] index_out  The first of the list that is complete.
 * @retval SYCL_ERROR_INVALID  An empty list; events of several connections; a recorded event.
 * @retval SYCL_ERROR_TIMEOUT  None is complete in time.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_wait_any(uint32_t count, const sycl_event *events,
					 uint64_t timeout_ns, uint32_t *index_out);

/**
 * Make an event that the program itself signals. Groups of any queue of the connection may depend
 * on it, and waits take it like any other event. Never blocks for a device.
 *
 * @param queue           Out of order. Its waits wait for the event, too.
 * @param[out] event_out  The caller signals it with sycl_event_signal, and releases it. Released
 * for the last time without a signal, it fails with SYCL_ERROR_EVENT.
 * @retval SYCL_ERROR_INVALID  The queue is in order.
 * @retval SYCL_ERROR_QUOTA    1024 host tasks and such events of the connection have not ended.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_create_host(sycl_queue queue, sycl_event *event_out);

/**
 * Signal an event of sycl_event_create_host. Blocks until the service has read the event's
 * creation, and never for a device.
 *
 * @param outcome  SYCL_SUCCESS: groups that depend on the event run. An error, below 0: they fail
 *                 with it as their cause.
 * @retval SYCL_ERROR_INVALID  Another event; it was signalled before; outcome is above 0.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_signal(sycl_event event, sycl_result outcome);

SYCL_END_DECLS
#endif
