/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file handler.h Command groups: a handler collects requisites and one action, and
 * sycl_queue_submit sends them.
 *
 * Functions that build a group send nothing and never block. One thread at a time uses a handler. A
 * call that fails changes nothing, and the handler can still be used. The rules for all functions
 * are at the top of result.h.
 */
#ifndef SYCLCLIENT_HANDLER_H
#define SYCLCLIENT_HANDLER_H

#include "kernel.h"

SYCL_BEGIN_DECLS

/**
 * Begin a command group for this queue. Never blocks.
 *
 * @param queue             The queue that the group is for. The handler keeps it alive.
 * @param[out] handler_out  sycl_queue_submit or sycl_handler_discard ends it.
 * @since 0.1
 *
 * @example
 *	sycl_handler group = NULL;
 *	result = sycl_handler_begin(queue, &group);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_handler_set_accessor(group, 0, buffer, SYCL_ACCESS_READ_WRITE);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_handler_parallel_for(group, kernel, sycl_range1(1000));
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_queue_submit(queue, group, NULL);
 */
SYCL_API sycl_result sycl_handler_begin(sycl_queue queue, sycl_handler *handler_out);
/**
 * Discard a handler: nothing is sent. Never blocks.
 *
 * @param handler  NULL does nothing.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_discard(sycl_handler handler);

/**
 * Require the buffer, and give it to the kernel as argument `index`: a pointer to its first byte.
 * Several accessors on one buffer are one requirement with the union of their modes. Their order
 * means nothing. They count also if the kernel does not use them. Setting an argument again
 * replaces it. Never blocks.
 *
 * @param index   The argument's number, from 0.
 * @param buffer  A buffer, a sub-buffer or a view.
 * @param mode    With a no-init mode, what the kernel does not write is undefined afterwards, and
 *                nothing is moved.
 * @retval SYCL_ERROR_INVALID          No such mode; a buffer of another connection; a sub-buffer
 *                                     whose offset does not fit the queue's device; a host task of
 *                                     the group writes the buffer too.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT  No kernel has that many arguments.
 * @return The buffer's own error, if the service could not make it.
 * @since 0.1
 *
 * @example
 *	result = sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ);
 */
SYCL_API sycl_result sycl_handler_set_accessor(sycl_handler handler, uint32_t index,
					       sycl_buffer buffer, sycl_access_mode mode);

/**
 * Require a part of the buffer, and give it to the kernel as argument `index`: a pointer to the
 * part's first byte. It orders groups as the whole buffer does. Bytes outside of the part stay,
 * also with a no-init mode. Never blocks. Otherwise as sycl_handler_set_accessor.
 *
 * @param offset_bytes  Where the part begins in the buffer.
 * @param size_bytes    Its size.
 * @retval SYCL_ERROR_INVALID  Also: the part lies outside of the buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_ranged_accessor(sycl_handler handler, uint32_t index,
						      sycl_buffer buffer, sycl_access_mode mode,
						      uint64_t offset_bytes, uint64_t size_bytes);

/**
 * Require the buffer without giving it to the kernel. Never blocks. Otherwise as
 * sycl_handler_set_accessor.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_require(sycl_handler handler, sycl_buffer buffer,
					  sycl_access_mode mode);

/** Where the program uses an accessor. */
typedef enum sycl_target {
	SYCL_TARGET_DEVICE = 0,
	/** constant memory: sycl_handler_set_constant_accessor */
	SYCL_TARGET_CONSTANT_BUFFER = 1,
	SYCL_TARGET_HOST_TASK = 2 /**< the host: sycl_handler_set_host_accessor of host_task.h */
} sycl_target;

/**
 * Require the buffer for a target. Requirements of one buffer for one target are united. Of all
 * targets together at most one may write the buffer. Never blocks. Otherwise as
 * sycl_handler_require.
 *
 * @param target  Where the buffer is used.
 * @retval SYCL_ERROR_INVALID  Also: no such target; two targets would write the buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_require_target(sycl_handler handler, sycl_buffer buffer,
						 sycl_access_mode mode, sycl_target target);

/**
 * Require a part of the buffer for reading, and give it to the kernel as argument `index`: a
 * pointer to constant memory. That is SYCL_CONSTANT of portable sources, `__constant` of OpenCL C.
 * Never blocks.
 *
 * @param offset_bytes  Where the part begins in the buffer.
 * @param size_bytes    SYCL_REST_BYTES: everything from the offset on.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT  More than the device's constant memory; no kernel has that
 *                                     many arguments.
 * @return Otherwise as sycl_handler_set_ranged_accessor.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_constant_accessor(sycl_handler handler, uint32_t index,
							sycl_buffer buffer, uint64_t offset_bytes,
							uint64_t size_bytes);

/**
 * Give argument `index` by value. Never blocks.
 *
 * @param index       The argument's number, from 0.
 * @param size_bytes  The size of the value.
 * @param value       Copied now.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT  No bytes, or more than the device takes.
 * @since 0.1
 *
 * @example
 *	const float factor = 0.5f;
 *	result = sycl_handler_set_value(handler, 2, sizeof(factor), &factor);
 */
SYCL_API sycl_result sycl_handler_set_value(sycl_handler handler, uint32_t index, size_t size_bytes,
					    const void *value);

/**
 * Give each work-group local memory, as argument `index`. Only for sycl_handler_parallel_for_nd.
 * Never blocks.
 *
 * @param index       The argument's number, from 0.
 * @param size_bytes  Bytes for each work-group.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT    0 bytes.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION  More than the device has.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_local(sycl_handler handler, uint32_t index,
					    uint64_t size_bytes);

/**
 * Run the group only after the event's command group, of any queue and backend of the connection.
 * If that group fails, this one does not run and fails with SYCL_ERROR_DEPENDENCY_FAILED. Never
 * blocks.
 *
 * @param event  May be released at once.
 * @retval SYCL_ERROR_INVALID  An event of another connection.
 * @retval SYCL_ERROR_QUOTA    More than 1024 events.
 * @since 0.1
 *
 * @example
 *	result = sycl_handler_depends_on(handler, event);
 */
SYCL_API sycl_result sycl_handler_depends_on(sycl_handler handler, sycl_event event);

/**
 * Run the launch only with all its work-groups resident at one time, so that they may wait for each
 * other. Only for sycl_handler_parallel_for_nd. The kernel itself must contain the barrier. Never
 * blocks.
 *
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no such launches.
 * @return If there are more groups than the device can hold at one time, the group's event fails.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_cooperative(sycl_handler handler);

/**
 * Allow the service to run the launch's work-groups in parts, one part after the other. Call this
 * only if no work-group waits for another one. Results must not depend on which groups run at one
 * time, nor on the order of atomic operations among them. Never blocks.
 *
 * Long launches of a best-effort session that is not alone on its device then let others' launches
 * in between. A launch counts as long if similar ones took longer than slice_us of sycld.conf(5).
 * Everything else stays the same for the program: ids, ranges and numbers of groups are those of
 * the whole launch. There is one event, which fails if a part fails. Its times go from the first
 * part's start to the last part's end. Groups that depend on it run after its last part.
 *
 * The service decides whether it splits a launch. It needs a portable kernel (kernel.h), a device
 * of the CUDA backend, and several work-groups in dimension 0, where it cuts the range. Of a basic
 * range it needs several work-items there. It does not split launches in clusters, nor graphs that
 * are launched as one. Without this call it splits no launch.
 *
 * @return sycl_queue_submit also has SYCL_ERROR_INVALID: the group is no launch, or a cooperative
 *         one.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_splittable(sycl_handler handler);

/**
 * Allow this launch to begin while its predecessor still runs (programmatic dependent launch). The
 * predecessor is the launch that was sent just before it and on which it depends. Never blocks.
 *
 * The kernel says where it waits for the predecessor's end: sycl_previous_launch_wait() in a
 * portable source, griddepcontrol.wait in PTX or as inline PTX in CUDA C++. Before that it must not
 * touch what the predecessor writes. Every path that a work-group can take must contain the wait.
 * The predecessor may say from where on its successor may begin: sycl_next_launch_allow(),
 * griddepcontrol.launch_dependents. Otherwise the successor may begin when the predecessor's
 * work-groups end.
 *
 * The call is a permission. It has an effect on devices of the CUDA backend with compute capability
 * 9.0 or later. The predecessor must be on the same stream, as a rule of the same queue, and sent
 * together with this launch. Launches are sent together if they are submitted while the device has
 * work. Successive launches in a graph that is launched as one are always sent together. Elsewhere
 * the launch begins when its predecessor has ended, and the wait does nothing. That is so on OpenCL
 * devices, and for launches that are cooperative, timed or in clusters. Everything other than the
 * predecessor has always ended, other queues' work included. The predecessor's end may be reported
 * together with this launch's.
 *
 * @return sycl_queue_submit also has SYCL_ERROR_INVALID: the group is no launch. On devices where
 *         the permission counts, the group's event fails with SYCL_ERROR_INVALID if the kernel is
 *         not known to wait, as for kernels of binaries.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_early_start(sycl_handler handler);

/**
 * Run work-groups in clusters. The groups of a cluster run at one time and can reach each other's
 * local memory. Only for sycl_handler_parallel_for_nd. Never blocks.
 *
 * @param cluster  Work-groups of a cluster, at most 8, with as many dimensions as the global range.
 *                 Each number divides the number of work-groups in its dimension; sycl_queue_submit
 *                 checks that.
 * @retval SYCL_ERROR_ND_RANGE               Not 1 to 3 dimensions, a 0, or more than 8 work-groups.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no clusters.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_cluster_size(sycl_handler handler, sycl_range cluster);

/**
 * Count the launch's global ids from an offset instead of from 0: in each dimension from `offset`
 * to `offset` + range - 1. The range itself, group ids and local ids stay as they are. For any
 * launch; may be set again. Never blocks.
 *
 * @param offset  As many dimensions as the global range; sycl_queue_submit checks that. Each number
 *                may be 0.
 * @retval SYCL_ERROR_ND_RANGE  Not 1 to 3 dimensions.
 * @retval SYCL_ERROR_INVALID   The reserved member is not 0.
 * @return sycl_queue_submit also has SYCL_ERROR_ND_RANGE: no launch, other dimensions, or ids that
 *         64 bits cannot count. It has SYCL_ERROR_FEATURE_NOT_SUPPORTED for a kernel that computes
 *         its ids itself (kernel.h, "Native kernels"), unless all numbers are 0.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_offset(sycl_handler handler, sycl_range offset);

/**
 * Set the action: run the kernel as one work-item. A group has one action or none; without one it
 * only orders. Never blocks.
 *
 * @param kernel  Built for the queue's device and context. It may be released at once.
 * @retval SYCL_ERROR_INVALID               The group has an action already; a kernel of another
 *                                          context or connection.
 * @retval SYCL_ERROR_KERNEL_NOT_SUPPORTED  The kernel was built for another device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_single_task(sycl_handler handler, sycl_kernel kernel);

/**
 * Set the action: run the kernel once for each item of a range, without work-groups. With a 0 in
 * any dimension nothing runs, but the group's requisites and its event are as usual. Never blocks.
 * Otherwise as sycl_handler_single_task.
 *
 * @param range  The work-items.
 * @retval SYCL_ERROR_ND_RANGE  Not 1 to 3 dimensions, or more items than 64 bits count.
 * @since 0.1
 *
 * @example
 *	result = sycl_handler_parallel_for(handler, kernel, sycl_range2(480, 640));
 */
SYCL_API sycl_result sycl_handler_parallel_for(sycl_handler handler, sycl_kernel kernel,
					       sycl_range range);

/**
 * Set the action: run the kernel in work-groups of `local` items. With a 0 in any dimension of
 * `global` nothing runs, and `local` is ignored. Never blocks. Otherwise as
 * sycl_handler_parallel_for.
 *
 * @param global  All work-items.
 * @param local   The work-items of one work-group.
 * @retval SYCL_ERROR_ND_RANGE  Also: a local size is 0, does not divide the global one, or is
 *                              larger than the device or the kernel allows.
 * @since 0.1
 *
 * @example
 *	result = sycl_handler_parallel_for_nd(handler, kernel, sycl_range1(4096), sycl_range1(128));
 */
SYCL_API sycl_result sycl_handler_parallel_for_nd(sycl_handler handler, sycl_kernel kernel,
						  sycl_range global, sycl_range local);

/**
 * Set the action: copy bytes between buffers. The group requires both of them; 0 bytes move
 * nothing. More kinds of copies are in copy.h. Never blocks.
 *
 * @param source                    The buffer to read.
 * @param source_offset_bytes       Where to read.
 * @param destination               The buffer to write.
 * @param destination_offset_bytes  Where to write.
 * @param size_bytes                How many bytes.
 * @retval SYCL_ERROR_INVALID  The group has an action already; outside of a buffer; overlapping
 *                             parts of one buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy(sycl_handler handler, sycl_buffer source,
				       uint64_t source_offset_bytes, sycl_buffer destination,
				       uint64_t destination_offset_bytes, uint64_t size_bytes);

/**
 * Set the action: fill a part of a buffer with a pattern. Never blocks.
 *
 * @param buffer         The buffer to write.
 * @param offset_bytes   Where the part begins.
 * @param size_bytes     A multiple of pattern_bytes; 0 moves nothing.
 * @param pattern        Copied now.
 * @param pattern_bytes  1 to 128.
 * @retval SYCL_ERROR_INVALID  The group has an action already; outside of the buffer; a pattern or
 *                             a size that does not fit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_fill(sycl_handler handler, sycl_buffer buffer,
				       uint64_t offset_bytes, uint64_t size_bytes,
				       const void *pattern, size_t pattern_bytes);

/**
 * Set the action: make the buffer's contents current on the host, so that a host accessor for
 * reading moves nothing. Borrowed memory itself is written only when the buffer is released. Never
 * blocks.
 *
 * @param buffer  The buffer to bring.
 * @retval SYCL_ERROR_INVALID  The group has an action already.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_update_host(sycl_handler handler, sycl_buffer buffer);
/**
 * Set the action: make a part of the buffer current on the host. Never blocks. Otherwise as
 * sycl_handler_update_host.
 *
 * @param offset_bytes  Where the part begins.
 * @param size_bytes    SYCL_REST_BYTES: everything from the offset on.
 * @retval SYCL_ERROR_INVALID  Also: the part lies outside of the buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_update_host_part(sycl_handler handler, sycl_buffer buffer,
						   uint64_t offset_bytes, uint64_t size_bytes);

/**
 * Set the action: record a shared event. The event occurs when the group's requisites are met. A
 * process that has waited for it reads what they wrote. Recording it again replaces the earlier
 * record. Never blocks.
 *
 * @param event  Of the queue's device (share.h). It may be released at once.
 * @retval SYCL_ERROR_INVALID  The group has an action already; an event of another device or
 *                             connection.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_record_event(sycl_handler handler, sycl_shared_event event);

/**
 * Set the action: wait for a shared event. The group is complete when the event has occurred. What
 * counts is the latest record, by any process, when the service sends this group to the device. An
 * event without a record is not waited for. So the other process must first confirm its record, by
 * a pipe for example. Never blocks. Errors as sycl_handler_record_event.
 *
 * A record of another connection of the service occurs even if that connection ends. A record of
 * another program may never occur if that program dies, because its driver decides. Then this group
 * ends only with the engine, so wait for it with sycl_event_wait_for.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_wait_event(sycl_handler handler, sycl_shared_event event);

/**
 * Send the command group to the queue, and end the handler, also on failure. Never waits for a
 * device; at most it waits until the service has read and answered earlier requests.
 *
 * The first group that uses a buffer over 8 MiB or more of SYCL_HOST_BORROWED memory takes as long
 * as the copy of that memory (sycl_buffer_create). This call reports wrong arguments. The event,
 * sycl_queue_wait and sycl_queue_throw_asynchronous report later failures.
 *
 * @param queue           The queue that the handler was begun on, or another one of its context.
 *                        The group must fit its device.
 * @param handler         Must not be used after this call.
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @retval SYCL_ERROR_INVALID            A queue of another context.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT    Too few or too many arguments, or one of another kind or
 *                                       size than the kernel's; local memory without work-groups;
 *                                       more bytes than the device takes.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION  More local memory than the device has; buffers of a kernel,
 *                                       a fill or a native command that are together larger than
 *                                       the device's memory.
 * @retval SYCL_ERROR_ND_RANGE           A cooperative launch or one in clusters without
 *                                       work-groups; clusters that do not divide the work-groups.
 * @retval SYCL_ERROR_QUOTA              The group is longer than 64 KiB, the session has as many
 *                                       groups in flight as it may have, or events use all
 *                                       completion slots.
 * @return The queue's or a buffer's own error, if the service could not make it.
 * @since 0.1
 *
 * @example
 *	sycl_event done = NULL;
 *	result = sycl_queue_submit(queue, handler, &done);
 */
SYCL_API sycl_result sycl_queue_submit(sycl_queue queue, sycl_handler handler,
				       sycl_event *event_out);

/**
 * Send the command group to the queue that the handler was begun on. Otherwise as
 * sycl_queue_submit.
 *
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @since 0.1
 *
 * @example
 *	sycl_handler group = NULL;
 *	result = sycl_handler_begin(queue, &group);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_handler_parallel_for(group, kernel, sycl_range1(1000));
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_handler_submit(group, NULL);
 */
SYCL_API sycl_result sycl_handler_submit(sycl_handler handler, sycl_event *event_out);

/**
 * Send the command group as sycl_handler_submit does; if the queue does not take it, send it to a
 * second queue. Any failure that sycl_queue_submit would return leads there. A failure after the
 * submission stays with the queue that took the group. Never waits for a device. A group
 * whose buffers are larger than the device's memory fails so. Memory that others hold at that time
 * does not count: the group waits for it after the submission.
 *
 * @param secondary       Another queue of the connection. The group must fit it as it must fit the
 *                        first one.
 * @param[out] event_out  Of the queue that took the group.
 * @return 0, or why the second queue did not take the group either.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_submit_with_secondary(sycl_handler handler, sycl_queue secondary,
							sycl_event *event_out);

SYCL_END_DECLS
#endif
