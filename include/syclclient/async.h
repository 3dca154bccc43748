/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file async.h Errors that are found after a submission. The rules for all functions are at the top of
 * result.h.
 *
 * A command group that fails leaves an error with its queue, whether anybody listens or not. Each is told once:
 *
 * - With an asynchronous handler, of the queue or else of its context, the errors are collected until
 *   sycl_queue_wait_and_throw, sycl_queue_throw_asynchronous or sycl_event_wait_and_throw hands all that are there to
 *   the handler, in one call. sycl_queue_wait does not tell of them. A wait for an event returns its group's error each
 *   time, and leaves it for the handler. What nobody asked for is handed over when the queue is destroyed; what fails
 *   only after that, by a later wait or dispatch, or when the connection is closed.
 * - Without a handler an error stays until the next wait: sycl_queue_wait, a wait for its event, or one of the
 *   functions above returns its code, and it counts as told then. Nothing is printed, nothing aborts.
 */
#ifndef SYCLCLIENT_ASYNC_H
#define SYCLCLIENT_ASYNC_H

#include "result.h"

SYCL_BEGIN_DECLS

/** An error of a command group, found after its submission. */
struct sycl_async_error {
	sycl_result result;
	int32_t native_code; /**< the vendor's, 0 if none */
	uint32_t backend;    /**< enum sycl_backend, 0 if none */
	uint32_t reserved;
	uint64_t group;   /**< number within its queue, from 1; 0: of no queue */
	const char *text; /**< good during the callback */
};

/**
 * Told of errors, all in one call, on the thread that asked for them or that destroyed what they belong to. May call
 * any function of this library. The errors and their texts are the library's, good during the call.
 */
typedef void sycl_async_handler(uint32_t count, const struct sycl_async_error *errors, void *user_data);

/**
 * Hand all errors that belong to no queue and were not handed over yet to a handler, in one call; without any, it is
 * not called. So far these are the failures of last releases of buffers, which the release itself has returned as well. Blocks as long as the handler does.
 *
 * @param platform   Any platform of the connection, whose errors these are. At most 1024 are kept, the first ones.
 * @param handler    Not NULL.
 * @param user_data  Handed to it.
 * @retval SYCL_ERROR_INVALID  handler is NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_throw_asynchronous(sycl_platform platform, sycl_async_handler *handler,
						      void *user_data);

SYCL_END_DECLS
#endif
