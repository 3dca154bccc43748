/* SPDX-License-Identifier: Apache-2.0 */
/** @file event.h Events: waiting, status, times. */
#ifndef SYCLCLIENT_EVENT_H
#define SYCLCLIENT_EVENT_H

#include "result.h"

SYCL_BEGIN_DECLS

SYCL_API sycl_result sycl_event_retain(sycl_event event);
SYCL_API sycl_result sycl_event_release(sycl_event event);

/** Wait until the command group is complete (B18). Its error, if it failed. */
SYCL_API sycl_result sycl_event_wait(sycl_event event);
/** @retval SYCL_ERROR_TIMEOUT not complete yet; 0 ns asks without waiting. */
SYCL_API sycl_result sycl_event_wait_for(sycl_event event, uint64_t timeout_ns);
/** Wait for all, at most timeout_ns together; the first error found. */
SYCL_API sycl_result sycl_event_wait_all(uint32_t count, const sycl_event *events, uint64_t timeout_ns);

typedef enum sycl_command_status {
	SYCL_COMMAND_SUBMITTED = 0,
	SYCL_COMMAND_RUNNING = 1,
	SYCL_COMMAND_COMPLETE = 2
} sycl_command_status;
/** A round trip unless complete (H9). */
SYCL_API sycl_result sycl_event_get_status(sycl_event event, sycl_command_status *status_out);

typedef enum sycl_profiling {
	SYCL_PROFILING_SUBMIT = 0,
	SYCL_PROFILING_START = 1,
	SYCL_PROFILING_END = 2
} sycl_profiling;
/** ns since the connection was made (H1). Start and end block until known (H5). @retval SYCL_ERROR_INVALID the queue has no profiling (H6). */
SYCL_API sycl_result sycl_event_get_profiling(sycl_event event, sycl_profiling what, uint64_t *ns_out);

SYCL_END_DECLS
#endif
