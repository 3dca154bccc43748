/* SPDX-License-Identifier: Apache-2.0 */
/** @file queue.h Queues and their shortcuts. */
#ifndef SYCLCLIENT_QUEUE_H
#define SYCLCLIENT_QUEUE_H

#include "buffer.h"
#include "context.h"
#include "event.h"

SYCL_BEGIN_DECLS

/** Bits of sycl_queue_options.properties. */
#define SYCL_QUEUE_IN_ORDER 1u
#define SYCL_QUEUE_ENABLE_PROFILING 2u

struct sycl_queue_options {
	uint32_t struct_bytes;
	uint32_t properties;
};
#define SYCL_QUEUE_OPTIONS_INIT { sizeof(struct sycl_queue_options), 0 }

/** `context` NULL: a context of this device alone. `options` NULL: out of order. Never waits. */
SYCL_API sycl_result sycl_queue_create(sycl_context context, sycl_device device, const struct sycl_queue_options *options,
				       sycl_queue *queue_out);
/** The default selector over all devices of the connection; out of order. */
SYCL_API sycl_result sycl_queue_create_default(sycl_platform platform, sycl_queue *queue_out);
SYCL_API sycl_result sycl_queue_retain(sycl_queue queue);
SYCL_API sycl_result sycl_queue_release(sycl_queue queue);
SYCL_API sycl_result sycl_queue_get_context(sycl_queue queue, sycl_context *context_out);
SYCL_API sycl_result sycl_queue_get_device(sycl_queue queue, sycl_device *device_out);
SYCL_API sycl_result sycl_queue_is_in_order(sycl_queue queue, uint32_t *in_order_out);

/** Wait for every command group submitted to the queue so far (B21). Errors of failed groups: the first one not yet reported (M4). */
SYCL_API sycl_result sycl_queue_wait(sycl_queue queue);
SYCL_API sycl_result sycl_queue_wait_for(sycl_queue queue, uint64_t timeout_ns);

/** An error of a command group, found after its submission. */
struct sycl_async_error {
	sycl_result result;
	int32_t native_code;
	uint32_t backend;
	uint32_t reserved;
	uint64_t group;     /**< number within its queue, from 1 */
	const char *text;   /**< good during the callback */
};
typedef void sycl_async_handler(uint32_t count, const struct sycl_async_error *errors, void *user_data);
/** All errors of the queue not yet reported, in one call of the handler; none: no call (M2, M3). */
SYCL_API sycl_result sycl_queue_throw_asynchronous(sycl_queue queue, sycl_async_handler *handler, void *user_data);

/** Shortcuts: one command group each. `event_out` may be NULL. */
SYCL_API sycl_result sycl_queue_fill(sycl_queue queue, sycl_buffer buffer, uint64_t offset_bytes, uint64_t size_bytes,
				     const void *pattern, size_t pattern_bytes, sycl_event *event_out);
SYCL_API sycl_result sycl_queue_copy(sycl_queue queue, sycl_buffer source, uint64_t source_offset_bytes,
				     sycl_buffer destination, uint64_t destination_offset_bytes, uint64_t size_bytes,
				     sycl_event *event_out);
SYCL_API sycl_result sycl_queue_update_host(sycl_queue queue, sycl_buffer buffer, sycl_event *event_out);
/** An empty command group: its event is complete when all groups submitted to the queue before are. */
SYCL_API sycl_result sycl_queue_barrier(sycl_queue queue, sycl_event *event_out);

SYCL_END_DECLS
#endif
