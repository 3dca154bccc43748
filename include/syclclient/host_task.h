/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file host_task.h Host tasks: a function of this program as the action of a command group.
 * The rules for all functions are at the top of result.h.
 *
 * The library calls the function when everything that its group depends on is complete and the data
 * of its host accessors is on the host. The group is complete when the function returns. Which
 * thread calls it:
 *
 * - If the connection was opened with helper threads (struct sycl_open_options): one of these, and
 *   no other thread.
 * - Otherwise any thread of the program that waits on the connection. It waits for an event, a
 *   queue, a host accessor, the release of a buffer, an export, or in sycl_platform_dispatch.
 *   Without a wait no function is called. A wait with a time-out always begins one function whose
 *   turn has come, and none after its end. A function that it has begun may take longer. A wait
 *   with a time-out of 0 begins none.
 *
 * A function that waits runs other host tasks meanwhile. So one thread is enough for any number of
 * host tasks that depend on each other. The function may call everything in this library, and no
 * lock is held. It must not wait for its own group, nor for one that its thread is running:
 * SYCL_ERROR_INVALID. It must not throw C++ exceptions or leave by longjmp.
 *
 * For each submission the library calls the function exactly once; or never, if its group fails
 * before its turn or the connection ends. It calls the user data's destroy function exactly once in
 * any case, after the last use of the data. That may happen on any thread that uses or used the
 * connection.
 *
 * Host tasks that have not begun keep what they need, but not the connection. When the last handle
 * of a connection without helper threads is released, the library drops them. With helper threads
 * they still run.
 */
#ifndef SYCLCLIENT_HOST_TASK_H
#define SYCLCLIENT_HOST_TASK_H

#include "handler.h"

SYCL_BEGIN_DECLS

/**
 * The function of a host task.
 *
 * @param task       The running task, valid during the call and on this thread.
 * @param user_data  As given.
 * @return 0, or a failure. The group fails with it, and groups that depend on it fail with
 *         SYCL_ERROR_DEPENDENCY_FAILED. If it is the code of this thread's last failure, that
 *         failure's sentence is kept with it.
 */
typedef sycl_result sycl_host_task_function(sycl_host_task task, void *user_data);

/**
 * A function that the library calls after its last use of the user data. It may call any function
 * of this library.
 */
typedef void sycl_user_data_destroy(void *user_data);

/**
 * Set the action: a function of this program. Never blocks.
 *
 * @param function   Not NULL.
 * @param user_data  Passed to the function, and at the end to `destroy`.
 * @param destroy    NULL: nothing is done. Not called if this call fails.
 * @retval SYCL_ERROR_INVALID  The group has an action already; function is NULL.
 * @return sycl_queue_submit also has SYCL_ERROR_QUOTA: 1024 host tasks of the connection have not
 *         ended.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_host_task(sycl_handler handler, sycl_host_task_function *function,
					    void *user_data, sycl_user_data_destroy *destroy);

/**
 * Require the buffer on the host, as accessor `index` of the group's host task. Several accessors
 * on one buffer are one requirement with the union of their modes. Of host and device together at
 * most one may write it. Never blocks.
 *
 * @param index   Any number below 1024, for sycl_host_task_get_pointer.
 * @param buffer  A buffer, a sub-buffer or a view.
 * @param mode    How the function uses it.
 * @retval SYCL_ERROR_INVALID  As sycl_handler_set_accessor; also: both the host and the device
 *                             would write.
 * @return Also what sycl_handler_set_accessor returns. sycl_queue_submit refuses host accessors
 *         without a host task.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_host_accessor(sycl_handler handler, uint32_t index,
						    sycl_buffer buffer, sycl_access_mode mode);

/**
 * Require a part of the buffer on the host. As sycl_handler_set_host_accessor and
 * sycl_handler_set_ranged_accessor.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_ranged_host_accessor(sycl_handler handler, uint32_t index,
							   sycl_buffer buffer,
							   sycl_access_mode mode,
							   uint64_t offset_bytes,
							   uint64_t size_bytes);

/**
 * Get the first byte of a host accessor of the running host task. Only on the thread that runs it.
 * Never blocks.
 *
 * @param index             As given to sycl_handler_set_host_accessor.
 * @param[out] pointer_out  Valid until the function returns. Write there only with a mode that
 *                          writes. For an empty buffer it is not NULL, but nothing may be touched.
 * @retval SYCL_ERROR_INVALID_HANDLE  No host task that this thread runs.
 * @retval SYCL_ERROR_INVALID         It has no host accessor of that index.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_task_get_pointer(sycl_host_task task, uint32_t index,
						void **pointer_out);

SYCL_END_DECLS
#endif
