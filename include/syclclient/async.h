/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file async.h Errors that occur after a submission. The rules for all functions are at the
 * top of result.h.
 *
 * A command group that fails records an error in its queue. The library reports each error once:
 *
 * - With an asynchronous handler, of the queue or else of its context, the queue collects its
 *   errors. sycl_queue_wait_and_throw, sycl_queue_throw_asynchronous and sycl_event_wait_and_throw
 *   pass all of them to the handler in one call. sycl_queue_wait does not report them. A wait for
 *   an event returns its group's error each time, and leaves it for the handler. When the queue is
 *   destroyed, the handler gets the errors that are left. Later errors reach it by a later wait or
 *   dispatch, or when the connection is closed.
 * - Without a handler an error stays until the next wait. sycl_queue_wait, a wait for its event, or
 *   one of the functions above returns its code, and the error counts as reported. The library
 *   prints nothing and does not abort.
 */
#ifndef SYCLCLIENT_ASYNC_H
#define SYCLCLIENT_ASYNC_H

#include "result.h"

SYCL_BEGIN_DECLS

/** An error of a command group that occurred after its submission. */
struct sycl_async_error {
	sycl_result result;
	int32_t native_code; /**< the vendor's, 0 if none */
	uint32_t backend;    /**< enum sycl_backend, 0 if none */
	uint32_t reserved;
	uint64_t group;   /**< number within its queue, from 1; 0: of no queue */
	const char *text; /**< valid during the callback */
};

/**
 * An asynchronous handler. It gets all errors in one call, on the thread that requested them or
 * that destroyed their queue. It may call any function of this library. The errors and their texts
 * belong to the library and are valid during the call.
 */
typedef void sycl_async_handler(uint32_t count, const struct sycl_async_error *errors,
				void *user_data);

/**
 * Pass all unreported errors that belong to no queue to a handler, in one call. Without such errors
 * the handler is not called. At present these are failures of the last release of a buffer, which
 * the release has returned as well. Blocks as long as the handler does.
 *
 * @param platform   Any platform of the connection. The connection keeps its first 1024 errors.
 * @param handler    Not NULL.
 * @param user_data  Passed to the handler.
 * @retval SYCL_ERROR_INVALID  handler is NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_throw_asynchronous(sycl_platform platform,
						      sycl_async_handler *handler, void *user_data);

SYCL_END_DECLS
#endif
