/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file handler.h Command groups: requisites and one action, built without I/O, sent by submit.
 *
 * Nothing here blocks. A handler is used by one thread at a time. A call that fails changes nothing: the handler goes
 * on. The rules for all functions are at the top of result.h.
 */
#ifndef SYCLCLIENT_HANDLER_H
#define SYCLCLIENT_HANDLER_H

#include "kernel.h"

SYCL_BEGIN_DECLS

/**
 * A builder for one command group on this queue.
 *
 * @param[out] handler_out  The caller's, ended by sycl_handler_submit or sycl_handler_discard. It keeps the queue
 *                          alive.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_begin(sycl_queue queue, sycl_handler *handler_out);
/** Throw a handler away: nothing is sent. Accepts NULL. @since 0.1 */
SYCL_API sycl_result sycl_handler_discard(sycl_handler handler);

/**
 * Require the buffer, and give it to the kernel as argument `index`: a pointer to its first byte. Several
 * accessors on one buffer are one requirement with the union of their modes; their order means nothing; they count also where the kernel does not use them. Setting an argument again replaces it.
 *
 * @param mode  With a no-init mode, what the kernel does not write is undefined afterwards, and nothing is moved.
 * @retval SYCL_ERROR_INVALID          No such mode; a buffer of another connection; a sub-buffer whose offset does not fit the
 *                                     queue's device; the host would write the buffer too.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT  No kernel has that many arguments.
 * @return The buffer's own error, if the service could not make it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_accessor(sycl_handler handler, uint32_t index, sycl_buffer buffer,
					       sycl_access_mode mode);

/**
 * As sycl_handler_set_accessor for a part; the pointer is to the part's first byte. Orders like the whole buffer, and what lies outside of the part stays, also with a no-init mode.
 *
 * @retval SYCL_ERROR_INVALID  Also: the part lies outside of the buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_ranged_accessor(sycl_handler handler, uint32_t index, sycl_buffer buffer,
						      sycl_access_mode mode, uint64_t offset_bytes,
						      uint64_t size_bytes);

/** Require the buffer without giving it to the kernel. Errors as sycl_handler_set_accessor. @since 0.1 */
SYCL_API sycl_result sycl_handler_require(sycl_handler handler, sycl_buffer buffer, sycl_access_mode mode);

/** Where an accessor is used. */
typedef enum sycl_target {
	SYCL_TARGET_DEVICE = 0,
	SYCL_TARGET_CONSTANT_BUFFER = 1, /**< constant memory: sycl_handler_set_constant_accessor */
	SYCL_TARGET_HOST_TASK = 2        /**< the host: sycl_handler_set_host_accessor of host_task.h */
} sycl_target;

/**
 * As sycl_handler_require, for a target. What is asked of one buffer for one target is united; over all targets together
 * at most one may write it.
 *
 * @retval SYCL_ERROR_INVALID  Also: no such target; two targets would write the buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_require_target(sycl_handler handler, sycl_buffer buffer, sycl_access_mode mode,
						 sycl_target target);

/**
 * Require a part of the buffer for reading, and give it to the kernel as argument `index`, a pointer to constant memory: SYCL_CONSTANT of portable sources, `__constant` of OpenCL C.
 *
 * @param size_bytes  SYCL_REST_BYTES: all from the offset on.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT  More than the device's constant memory; no kernel has that many arguments.
 * @return Otherwise as sycl_handler_set_ranged_accessor.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_constant_accessor(sycl_handler handler, uint32_t index, sycl_buffer buffer,
							uint64_t offset_bytes, uint64_t size_bytes);

/**
 * Give argument `index` by value.
 *
 * @param value  size_bytes bytes, copied now.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT  No bytes, or more than the device takes.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_value(sycl_handler handler, uint32_t index, size_t size_bytes, const void *value);

/**
 * Local memory of this size for each work-group as argument `index`; for sycl_handler_parallel_for_nd only.
 *
 * @retval SYCL_ERROR_KERNEL_ARGUMENT    0 bytes.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION  More than the device has.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_local(sycl_handler handler, uint32_t index, uint64_t size_bytes);

/**
 * Run only after the event's command group, of any queue and backend of the connection. If that fails,
 * this group does not run and fails with SYCL_ERROR_DEPENDENCY_FAILED.
 *
 * @param event  May be released at once.
 * @retval SYCL_ERROR_INVALID  An event of another connection.
 * @retval SYCL_ERROR_QUOTA    More than 1024 of them.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_depends_on(sycl_handler handler, sycl_event event);

/**
 * Run the launch only with all its work-groups resident at one time, so that they may wait for each other. For
 * sycl_handler_parallel_for_nd; the kernel itself must bring the barrier.
 *
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no such launches.
 * @return More groups than the device can hold at one time are refused by the group's event.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_cooperative(sycl_handler handler);

/**
 * Say that the launch's work-groups may run in parts, one part after the other: that none waits for another one, and that results do
 * not depend on which run at one time or on the order of atomic operations among them. So where a session of the class best effort
 * is not alone on its device, a launch that takes long lets others' in between (launches that take longer than slice_us of
 * sycld.conf(5), by what those like it took before). To the program nothing else is different: ids, ranges and numbers of groups are
 * the whole launch's; one event, which fails if a part fails; times of profiling from the first part's start to the last one's end;
 * what depends on the group comes after its last part. Whether it is done is the service's to decide: it needs a portable kernel
 * (kernel.h), a device of the CUDA backend, and several work-groups (of a basic range: work-items) in dimension 0, in which a range is
 * cut. Launches in clusters and graphs that are launched as one are not split. Without this call no launch is. Never blocks.
 *
 * @return sycl_handler_submit also has SYCL_ERROR_INVALID: the group is no launch; or it is a cooperative one.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_splittable(sycl_handler handler);

/**
 * Let this launch begin while its predecessor still runs (programmatic dependent launch). The predecessor is the launch that was sent
 * just before it, and on which it depends. The kernel says where it waits for the predecessor's end: sycl_previous_launch_wait() of a
 * portable source; griddepcontrol.wait of PTX, and as inline PTX of CUDA C++. Before that it must not touch what the predecessor writes,
 * and every path that a work-group can take must wait. The predecessor may say from where on its successor may begin:
 * sycl_next_launch_allow(), griddepcontrol.launch_dependents; without that it is when its work-groups end.
 *
 * It is a permission. It has an effect on devices of the CUDA backend from compute capability 9.0 on, where the predecessor is on the same
 * lane, one that this one depends on, of the same queue as a rule, and is sent together with it: what is submitted while the device has
 * work; always in graphs that are launched as one, in a row. Elsewhere, on devices of OpenCL, in clusters, in cooperative and timed
 * launches, the launch begins when what is before it is over, and waits for nothing. What is not the launch before, other queues' work
 * among it, is always over. The end of the launch before may be told with this one's. Never blocks.
 *
 * @return sycl_handler_submit also has SYCL_ERROR_INVALID: the group is no launch. A kernel that does not wait as far as is known, a
 *         binary's among them, is refused by the group's event: SYCL_ERROR_INVALID, on devices where the permission counts.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_early_start(sycl_handler handler);

/**
 * Run work-groups in clusters of this many, whose groups run at one time and reach each other's local memory. For
 * sycl_handler_parallel_for_nd.
 *
 * @param cluster  Work-groups, of as many dimensions as the global range; at most 8 of them. Each divides the number
 *                 of work-groups in its dimension: checked by sycl_handler_submit.
 * @retval SYCL_ERROR_ND_RANGE               Not 1 to 3 dimensions, a 0, or more than 8 work-groups.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no clusters.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_cluster_size(sycl_handler handler, sycl_range cluster);

/**
 * Count the launch's global ids from here on instead of from 0: in each dimension `offset` to `offset` + range - 1. The
 * range itself, group ids and local ids stay as they are. For any launch; may be set again.
 *
 * @param offset  Of as many dimensions as the global range: checked by sycl_handler_submit. Each may be 0.
 * @retval SYCL_ERROR_ND_RANGE  Not 1 to 3 dimensions.
 * @retval SYCL_ERROR_INVALID   The reserved member is not 0.
 * @return sycl_handler_submit also has SYCL_ERROR_ND_RANGE: no launch, other dimensions, ids that 64 bits cannot count; and
 * SYCL_ERROR_FEATURE_NOT_SUPPORTED: a kernel that computes its ids itself (kernel.h, "Native kernels"), but where all are 0.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_offset(sycl_handler handler, sycl_range offset);

/**
 * The action: the kernel as one work-item. A group has exactly one action, or none: then it only orders.
 *
 * @param kernel  Built for the queue's device and context; may be released at once.
 * @retval SYCL_ERROR_INVALID               There is an action already; a kernel of another context or connection.
 * @retval SYCL_ERROR_KERNEL_NOT_SUPPORTED  The kernel was built for another device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_single_task(sycl_handler handler, sycl_kernel kernel);

/**
 * The action: the kernel once for each item of a range, without work-groups. With a 0 in any dimension nothing runs,
 * but the group's requisites and its event are as always. Errors as sycl_handler_single_task.
 *
 * @retval SYCL_ERROR_ND_RANGE  Not 1 to 3 dimensions, or more items than 64 bits count.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_parallel_for(sycl_handler handler, sycl_kernel kernel, sycl_range range);

/**
 * The action: the kernel in work-groups of `local` items. With a 0 in any dimension of `global` nothing runs, and
 * `local` is not looked at. Errors as sycl_handler_parallel_for.
 *
 * @retval SYCL_ERROR_ND_RANGE  Also: a local size is 0, does not divide the global one, or is larger than the device
 *                              or the kernel allows.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_parallel_for_nd(sycl_handler handler, sycl_kernel kernel, sycl_range global,
						  sycl_range local);

/**
 * The action: copy bytes between buffers. Requires both of them; 0 bytes move nothing. More kinds of copies are in copy.h.
 *
 * @retval SYCL_ERROR_INVALID  There is an action already; outside of a buffer; overlapping parts of one buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_copy(sycl_handler handler, sycl_buffer source, uint64_t source_offset_bytes,
				       sycl_buffer destination, uint64_t destination_offset_bytes, uint64_t size_bytes);

/**
 * The action: fill a part of a buffer with a pattern.
 *
 * @param size_bytes  A multiple of pattern_bytes; 0 moves nothing.
 * @param pattern     1 to 128 bytes, copied now.
 * @retval SYCL_ERROR_INVALID  There is an action already; outside of the buffer; a pattern or a size that does not fit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_fill(sycl_handler handler, sycl_buffer buffer, uint64_t offset_bytes,
				       uint64_t size_bytes, const void *pattern, size_t pattern_bytes);

/**
 * The action: make the buffer's contents current on the host, so that a host accessor for reading moves nothing.
 * Borrowed memory itself is written at the buffer's release only.
 *
 * @retval SYCL_ERROR_INVALID  There is an action already.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_update_host(sycl_handler handler, sycl_buffer buffer);
/**
 * As sycl_handler_update_host, of a part of the buffer.
 *
 * @param size_bytes  SYCL_REST_BYTES: all from the offset on.
 * @retval SYCL_ERROR_INVALID  Also: the part lies outside of the buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_update_host_part(sycl_handler handler, sycl_buffer buffer, uint64_t offset_bytes,
						   uint64_t size_bytes);

/**
 * The action: record a shared event: it happens when the group's requisites are met, and what they wrote can be seen by
 * whoever has waited for it. Recording again replaces what was recorded before.
 *
 * @param event  Of the queue's device (share.h). May be released at once.
 * @retval SYCL_ERROR_INVALID  There is an action already; an event of another device or connection.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_record_event(sycl_handler handler, sycl_shared_event event);

/**
 * The action: the group is complete when the shared event has happened, as far as it was recorded by whomever when the
 * service sends this group to the device: an event that nobody has recorded yet is not waited for. So the other process
 * must have told that it has recorded, by a pipe for example, before this is submitted. What a connection of the service
 * has recorded happens also when that connection ends before. What another program has recorded may never happen once
 * that program is dead, because its driver decides; then this group ends only with the engine, so wait for it with
 * sycl_event_wait_for. Errors as sycl_handler_record_event.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_wait_event(sycl_handler handler, sycl_shared_event event);

/**
 * Send the command group to the queue, and end the handler, also on failure. Never waits for a device: at most for the service to
 * read and answer what was sent before. The first group that uses a buffer over 8 MiB and more of
 * SYCL_HOST_BORROWED memory takes as long as the copy of that memory (sycl_buffer_create). What is wrong with the
 * arguments is told here; what goes wrong later, by the event, by sycl_queue_wait and sycl_queue_throw_asynchronous.
 *
 * @param queue           The queue that the handler was begun on, or another one of its context. The group must fit its device.
 * @param[out] event_out  The caller's to release; NULL: no event is made.
 * @retval SYCL_ERROR_INVALID            A queue of another context.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT    Too few, too many, or one of another kind or size than the kernel's; local
 *                                       memory without work-groups; more bytes than the device takes.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION  More local memory than the device has; buffers of a kernel, a fill or a native
 *                                       command that have more bytes together than the device's own memory.
 * @retval SYCL_ERROR_ND_RANGE           A cooperative launch or one in clusters without work-groups; clusters that do
 *                                       not divide the work-groups.
 * @retval SYCL_ERROR_QUOTA              The group is longer than 64 KiB, as many groups are in flight as the session
 *                                       may have, or all completion slots are in use by events.
 * @return The queue's or a buffer's own error, if the service could not make it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_submit(sycl_queue queue, sycl_handler handler, sycl_event *event_out);

/**
 * As sycl_queue_submit, on the queue that the handler was begun on.
 *
 * @param[out] event_out  The caller's to release; NULL: no event is made.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_submit(sycl_handler handler, sycl_event *event_out);

/**
 * As sycl_handler_submit; but if the queue does not take the group, for whatever reason that sycl_handler_submit would
 * return, the same group goes to a second queue. What fails after it was taken stays with the queue that took it. Never waits for a device.
 *
 * @param secondary       Another queue of the connection. The group must fit it as it must fit the first one.
 * @param[out] event_out  Of the queue that took the group.
 * @return 0, or why the second queue did not take it either.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_submit_with_secondary(sycl_handler handler, sycl_queue secondary,
							sycl_event *event_out);

SYCL_END_DECLS
#endif
