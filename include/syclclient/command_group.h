/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file command_group.h Command groups that are submitted again and again. The rules for all functions are at the
 * top of result.h.
 *
 * A frozen group never changes: values were copied when they were set, accessors name their buffers, dependencies their
 * events. Each submission is a command group of its own, ordered by its requisites like any other: two submissions of a
 * group that writes a buffer run one after the other, on whichever queues.
 */
#ifndef SYCLCLIENT_COMMAND_GROUP_H
#define SYCLCLIENT_COMMAND_GROUP_H

#include "handler.h"

SYCL_BEGIN_DECLS

/**
 * Make a group of what was built so far, and end the handler, also on failure. Nothing is sent. Never blocks.
 *
 * @param[out] group_out  The caller's: sycl_command_group_release. It keeps everything that it names alive, and the
 *                        queue that it was begun on.
 * @return What sycl_handler_submit returns for arguments that are wrong.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_freeze(sycl_handler handler, sycl_command_group *group_out);

/**
 * Submit the group. From any thread, also the same group from several at a time. Blocks as sycl_handler_submit.
 *
 * @param queue           Of the context of the queue that the group was begun on; the group must fit its device.
 * @param[out] event_out  The caller's to release; NULL: no event is made.
 * @retval SYCL_ERROR_INVALID               A queue of another context.
 * @retval SYCL_ERROR_KERNEL_NOT_SUPPORTED  The kernel's bundle has it not for this device.
 * @return Otherwise as sycl_handler_submit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_submit_group(sycl_queue queue, sycl_command_group group, sycl_event *event_out);

/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_command_group_retain(sycl_command_group group);
/** End one reference; what was submitted goes on. Never waits for a device. @since 0.1 */
SYCL_API sycl_result sycl_command_group_release(sycl_command_group group);
/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_command_group_get_reference_count(sycl_command_group group, uint32_t *count_out);

SYCL_END_DECLS
#endif
