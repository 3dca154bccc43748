/* SPDX-License-Identifier: Apache-2.0 */
/** @file event.h Events: waiting, status, times. The rules for all functions are at the top of result.h. */
#ifndef SYCLCLIENT_EVENT_H
#define SYCLCLIENT_EVENT_H

#include "result.h"

SYCL_BEGIN_DECLS

/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_event_retain(sycl_event event);
/** End one reference. Never waits: its command group runs all the same. @since 0.1 */
SYCL_API sycl_result sycl_event_release(sycl_event event);
/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_event_get_reference_count(sycl_event event, uint32_t *count_out);

/**
 * Wait until the command group is complete or has failed. Blocks until then. Works after the queue is gone.
 * What happened in the group happened before this returns.
 *
 * @return 0, or the code with which the group failed, each time it is asked; sycl_get_last_error has its detail.
 * @retval SYCL_ERROR_DEPENDENCY_FAILED  It did not run because a group that it depends on failed.
 * @retval SYCL_ERROR_INVALID            This thread runs that host task, which would wait for itself.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_wait(sycl_event event);

/**
 * As sycl_event_wait, then hand all errors of the event's queue that were not reported yet to the queue's asynchronous
 * handler, or its context's (async.h). Works after the queue is gone.
 *
 * @return 0 when there is a handler; without one what sycl_event_wait returns.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_wait_and_throw(sycl_event event);

/**
 * As sycl_event_wait, at most timeout_ns (CLOCK_MONOTONIC); 0 asks without waiting, SYCL_FOREVER_NS waits without end.
 *
 * @retval SYCL_ERROR_TIMEOUT  Not complete.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_wait_for(sycl_event event, uint64_t timeout_ns);

/**
 * Wait for all of them, at most timeout_ns together. Blocks until then. They may belong to different connections.
 *
 * @param events  `count` handles; NULL when that is 0.
 * @return 0, or the error of the first one in the list that failed; all are complete then.
 * @retval SYCL_ERROR_TIMEOUT  Not all are complete.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_wait_all(uint32_t count, const sycl_event *events, uint64_t timeout_ns);

/**
 * The events that its command group was told to depend on (sycl_handler_depends_on), but for those that are complete. Never blocks.
 *
 * @param capacity         How many handles events_out has room for; 0: only count.
 * @param[out] events_out  Up to `capacity` handles, each the caller's to release; NULL when capacity is 0.
 * @param[out] count_out   How many there are, also beyond `capacity`; NULL if events_out is given.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_get_wait_list(sycl_event event, uint32_t capacity, sycl_event *events_out,
					      uint32_t *count_out);

/** How far a command group is. */
typedef enum sycl_command_status {
	SYCL_COMMAND_SUBMITTED = 0,
	SYCL_COMMAND_RUNNING = 1,
	SYCL_COMMAND_COMPLETE = 2 /**< also when it failed: sycl_event_wait tells */
} sycl_command_status;

/**
 * How far the command group is; it never goes back. A round trip unless it is complete.
 *
 * Running is told of a command on an OpenCL device when its driver says that it has begun (PoCL says so at once, others perhaps later).
 * CUDA's driver is not asked for that: there a command counts as running when it has been sent, and neither what it waits for nor
 * anything before it on its lane is left to be told. A host task is running when its function is to be called.
 *
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_get_status(sycl_event event, sycl_command_status *status_out);

/** The times of a command group. */
typedef enum sycl_profiling {
	SYCL_PROFILING_SUBMIT = 0, /**< when it was submitted */
	SYCL_PROFILING_START = 1,  /**< when its device began */
	SYCL_PROFILING_END = 2     /**< when its device was done */
} sycl_profiling;

/**
 * A time of the command group, in ns since the connection was made. A round trip; start and end block until they
 * are known, at the latest until the group is complete. Of a host task they are when its function was and had been
 * called.
 *
 * The start is answered while the command runs, and stays the same then, where it can be known:
 * - of a command on an OpenCL device it is the time at which the driver said that it begins. PoCL says so at once. Where a driver
 *   says so late, or to nobody, the start is late, or known only with the end;
 * - of a command on a CUDA device it is the time at which the device had done all before the command on its lane, which is known within a
 *   millisecond or two. That the command itself has begun is not known: the device may be full of others' work;
 * - of a host task it is the time at which its function was to be called;
 * - of a graph's launch that goes to the device node by node it is known only with the end.
 *
 * While what has not begun is waited for, the service is asked again and again, at most 10 ms apart.
 *
 * @retval SYCL_ERROR_INVALID    The queue was made without profiling.
 * @retval SYCL_ERROR_PROFILING  The times are not kept any more: a queue keeps those of its latest 65536 groups.
 * @return The group's own error, if it failed and the time is not known.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_get_profiling(sycl_event event, sycl_profiling what, uint64_t *ns_out);

/**
 * Does sycl_event_get_native have a native event, such as a CUevent, for this one? Waiting for the SYCL event works in either case.
 *
 * - An event that was made from native events (native.h) has them.
 * - An event of a command on a CUDA device can have a CUevent if the engine is in this process ("embedded:"). The engine records
 *   it in the command's stream when it is first asked for. It completes when everything has ended that the stream held at that moment,
 *   so never before the command; for a command that has already ended it is complete. There is none while the command is not on the
 *   device yet, if it is spread over several streams, if it is a launch of a graph, or while 1024 events of the connection have one; the answer may
 *   change later.
 * - No other event has one.
 *
 * The native event of a command lives as long as the SYCL event. Asking about a command on a CUDA device with the engine in this process
 * blocks for a round trip, all else never blocks.
 *
 * @param[out] has_out  1 or 0.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_has_native_event(sycl_event event, uint32_t *has_out);

/**
 * The vendor's event behind this one, a CUevent or a cl_event, where there is exactly one; several: sycl_event_get_natives
 * (native.h), whose ownership is this one's, too. A round trip where there is one.
 *
 * @param[out] native_out  NULL if there is none; of CUDA not to be destroyed, of OpenCL to be released.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  There is not one, and the backend has no event that is NULL: OpenCL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_event_get_native(sycl_event event, void **native_out);

/** As sycl_device_get_backend_info (device.h): always an error. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_event_get_backend_info(sycl_event event, uint32_t info, size_t bytes, void *value,
						 size_t *bytes_out);

SYCL_END_DECLS
#endif
