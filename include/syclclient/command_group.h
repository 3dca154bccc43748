/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file command_group.h Command groups that are submitted many times. The rules for all
 * functions are at the top of result.h.
 *
 * A frozen group never changes: its values were copied when they were set, its accessors name their
 * buffers, its dependencies their events. Each submission is a command group of its own, ordered by
 * its requisites like any other. Two submissions of a group that writes a buffer run one after the
 * other, on any queues.
 */
#ifndef SYCLCLIENT_COMMAND_GROUP_H
#define SYCLCLIENT_COMMAND_GROUP_H

#include "handler.h"

SYCL_BEGIN_DECLS

/**
 * Make a command group of what the handler holds, and end the handler, also on failure. Nothing is
 * sent. Never blocks.
 *
 * @param[out] group_out  The caller releases it with sycl_command_group_release. It keeps
 *                        everything that it names alive, and the queue that the handler was begun
 *                        on.
 * @return What sycl_queue_submit returns for wrong arguments.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_freeze(sycl_handler handler, sycl_command_group *group_out);

/**
 * Submit a frozen group. Several threads may submit the same group at a time. Blocks as
 * sycl_queue_submit.
 *
 * @param queue           Of the context of the queue that the handler was begun on. The group must
 *                        fit its device.
 * @param group           The frozen group; it stays as it is.
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @retval SYCL_ERROR_INVALID               A queue of another context.
 * @retval SYCL_ERROR_KERNEL_NOT_SUPPORTED  The bundle does not have the kernel for this device.
 * @return Otherwise as sycl_queue_submit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_submit_group(sycl_queue queue, sycl_command_group group,
					     sycl_event *event_out);

/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_command_group_retain(sycl_command_group group);
/** Release one reference. Submitted work continues. Never waits for a device. @since 0.1 */
SYCL_API sycl_result sycl_command_group_release(sycl_command_group group);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_command_group_get_reference_count(sycl_command_group group,
							    uint32_t *count_out);

SYCL_END_DECLS
#endif
