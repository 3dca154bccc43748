/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file host_task.h Host tasks: a function of this program as the action of a command group. The rules for
 * all functions are at the top of result.h.
 *
 * The function is called when everything that its group depends on is complete and the data of its host accessors is on
 * the host; the group is complete when it returns. Who calls it:
 *
 * - A connection that was opened with helper threads (struct sycl_open_options): one of those, and nobody else.
 * - Otherwise any thread of the program that waits on the connection: for an event, a queue, a host accessor, the
 *   release of a buffer, an export, or in sycl_platform_dispatch. Nothing is called while nobody waits. A wait with a
 *   time-out begins one whose turn has come in any case, and no other after its end; what it has begun may take longer.
 *   A time-out of 0 begins none.
 *
 * A function that waits itself runs other host tasks meanwhile, so one thread is enough for any number of them that
 * depend on each other. It may call everything in this library; no lock is held. It must not wait for its own
 * group, nor for one that its thread is in the middle of: that is refused with SYCL_ERROR_INVALID. It must not throw
 * C++ exceptions nor leave by longjmp.
 *
 * What happens to a function: it is called exactly once for each submission, or never, if its group fails before its
 * turn or the connection ends. The user data's destroy function is called exactly once in any case, when the library
 * has no more use of it, on any thread that uses or used the connection.
 *
 * Host tasks that have not begun keep what they need, but not the connection: when the last handle of a connection
 * without helper threads is released, they are dropped. With helper threads they still run.
 */
#ifndef SYCLCLIENT_HOST_TASK_H
#define SYCLCLIENT_HOST_TASK_H

#include "handler.h"

SYCL_BEGIN_DECLS

/**
 * A host task's function.
 *
 * @param task       What runs, good during the call, on this thread.
 * @param user_data  As given.
 * @return 0, or a failure: the group fails with it then, and what depends on it with
 * SYCL_ERROR_DEPENDENCY_FAILED. If it is the code of this thread's last failure, its sentence goes with it.
 */
typedef sycl_result sycl_host_task_function(sycl_host_task task, void *user_data);

/** Called when the library has no more use of the user data. May call any function of this library. */
typedef void sycl_user_data_destroy(void *user_data);

/**
 * The action: a function of this program. Never blocks.
 *
 * @param user_data  Handed to the function, and at the end to `destroy`.
 * @param destroy    NULL: nothing is done. Not called if this call fails.
 * @retval SYCL_ERROR_INVALID  There is an action already; function is NULL.
 * @return sycl_handler_submit also has SYCL_ERROR_QUOTA: 1024 host tasks of the connection are not over.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_host_task(sycl_handler handler, sycl_host_task_function *function, void *user_data,
					    sycl_user_data_destroy *destroy);

/**
 * Require the buffer on the host, as accessor `index` of the group's host task. Several accessors on one buffer are one
 * requirement with the union of their modes; on the host and on the device together at most one side may write.
 * Never blocks.
 *
 * @param index  Any number below 1024; for sycl_host_task_get_pointer.
 * @retval SYCL_ERROR_INVALID  As sycl_handler_set_accessor; also: both the host and the device would write.
 * @return Also what sycl_handler_set_accessor returns. sycl_handler_submit refuses host accessors without a host task.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_host_accessor(sycl_handler handler, uint32_t index, sycl_buffer buffer,
						    sycl_access_mode mode);

/**
 * As sycl_handler_set_host_accessor for a part, as sycl_handler_set_ranged_accessor.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_ranged_host_accessor(sycl_handler handler, uint32_t index, sycl_buffer buffer,
							   sycl_access_mode mode, uint64_t offset_bytes,
							   uint64_t size_bytes);

/**
 * The first byte of a host accessor of the host task that runs. Only on the thread that runs it. Never blocks.
 *
 * @param[out] pointer_out  Good until the function returns; to be written only with a mode that writes. For an empty
 *                          buffer not NULL, but nothing may be touched.
 * @retval SYCL_ERROR_INVALID_HANDLE  No host task that this thread runs.
 * @retval SYCL_ERROR_INVALID         It has no host accessor of that index.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_task_get_pointer(sycl_host_task task, uint32_t index, void **pointer_out);

SYCL_END_DECLS
#endif
