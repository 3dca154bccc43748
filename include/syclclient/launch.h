/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file launch.h A kernel launch as one call, for loops that launch often. The rules for all functions are at the top of
 * result.h.
 *
 * It is what sycl_handler_begin, the sycl_handler_set_... calls, sycl_handler_parallel_for or _nd and sycl_handler_submit
 * do together, without a handler. However a group is submitted: from the third time on that one of the same queue, kernel,
 * ranges and buffers comes, the service is told only what is new: values, addresses and events.
 */
#ifndef SYCLCLIENT_LAUNCH_H
#define SYCLCLIENT_LAUNCH_H

#include "handler.h"

SYCL_BEGIN_DECLS

/** What an argument is. */
typedef enum sycl_launch_argument_kind {
	SYCL_LAUNCH_VALUE = 1,    /**< `size_bytes` bytes at `pointer`: sycl_handler_set_value */
	SYCL_LAUNCH_ACCESSOR = 2, /**< bytes of `buffer` with `mode`: sycl_handler_set_ranged_accessor */
	SYCL_LAUNCH_LOCAL = 3,    /**< `size_bytes` of local memory: sycl_handler_set_local */
	SYCL_LAUNCH_USM = 4       /**< `pointer` itself: sycl_handler_set_usm (usm.h) */
} sycl_launch_argument_kind;

/** One argument of the kernel. What its kind does not name is not looked at. 48 bytes, no padding. */
struct sycl_launch_argument {
	int32_t kind;          /**< a sycl_launch_argument_kind */
	int32_t mode;          /**< a sycl_access_mode */
	sycl_buffer buffer;
	uint64_t offset_bytes; /**< of an accessor */
	uint64_t size_bytes;   /**< of an accessor: SYCL_REST_BYTES for all from `offset_bytes` on */
	const void *pointer;
	uint64_t reserved;     /**< must be 0 */
};

/** What to launch. Start from SYCL_LAUNCH_INIT. */
struct sycl_launch {
	uint32_t struct_bytes; /**< sizeof(struct sycl_launch) */
	uint32_t reserved;     /**< must be 0 */
	sycl_kernel kernel;
	sycl_range global;
	sycl_range local;      /**< dimensions 0: none, as sycl_handler_parallel_for; otherwise as _nd */
	const struct sycl_launch_argument *arguments; /**< the kernel's, in its order */
	const sycl_event *depends_on;                 /**< as sycl_handler_depends_on for each */
	uint32_t argument_count, depends_on_count;
};
#define SYCL_LAUNCH_INIT { sizeof(struct sycl_launch), 0, 0, { 0, 0, { 0, 0, 0 } }, { 0, 0, { 0, 0, 0 } }, 0, 0, 0, 0 }

/**
 * Launch a kernel. Any thread. Everything is read during the call; the structure can be used again. Blocks as
 * sycl_handler_submit does: never for a device.
 *
 * @param[out] event_out  The caller's to release; NULL: no event is made.
 * @retval SYCL_ERROR_INVALID          Wrong struct_bytes or reserved; a list that is NULL.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT  No such kind of argument; more than a kernel has.
 * @return Otherwise as the functions named above.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_launch(sycl_queue queue, const struct sycl_launch *launch, sycl_event *event_out);

SYCL_END_DECLS
#endif
