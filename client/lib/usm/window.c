/* A queue's window of memory that the second-level cache keeps (R6). */
#include "memory/buffer.h"
#include "queue/queue.h"
#include "usm/usm.h"

#include <inttypes.h>
#include <math.h>

static sycl_result check_window(const struct queue *queue, const struct sycl_l2_window *window)
{
	const Sycl__V1__DeviceFacts *facts = queue->device->facts;
	struct usm_allocation allocation;
	if (window->struct_bytes != sizeof(*window))
		return error_set(SYCL_ERROR_INVALID, "window->struct_bytes is %u, not %zu",
				 window->struct_bytes, sizeof(*window));
	if (window->reserved != 0)
		return error_set(SYCL_ERROR_INVALID, "the window's reserved member is not 0");
	if (facts->l2_window_bytes == 0)
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "%s has no windows of memory for its cache", facts->name);
	if (window->size_bytes == 0 || window->size_bytes > facts->l2_window_bytes)
		return error_set(SYCL_ERROR_INVALID,
				 "a window of %" PRIu64 " bytes; %s has them from 1 to %" PRIu64,
				 window->size_bytes, facts->name, facts->l2_window_bytes);
	if (!isfinite(window->hit_ratio) || window->hit_ratio < 0 || window->hit_ratio > 1)
		return error_set(SYCL_ERROR_INVALID, "the window's hit_ratio is not 0 to 1");
	if ((uint32_t)window->hit > SYCL_L2_PERSISTING ||
	    (uint32_t)window->miss > SYCL_L2_STREAMING)
		return error_set(
			SYCL_ERROR_INVALID,
			"no such use of the cache, or one that a window's miss cannot have");
	if (!usm_find(queue->object.connection, queue->context->remote.id, window->pointer,
		      window->size_bytes, &allocation) ||
	    allocation.kind != SYCL_USM_DEVICE || allocation.device != facts->device)
		return error_set(
			SYCL_ERROR_INVALID,
			"the window's %" PRIu64
			" bytes at %p are not inside device USM of the queue's device and context",
			window->size_bytes, window->pointer);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_queue_set_l2_window(sycl_queue handle,
					      const struct sycl_l2_window *window)
{
	PIN(queue, queue, handle);
	sycl_result result = window ? check_window(queue, window) : SYCL_SUCCESS;
	if (!result)
		result = remote_check(&queue->line->remote);
	if (result || (!window && queue->device->facts->l2_window_bytes == 0))
		return result;
	Sycl__V1__QueueWindow message = SYCL__V1__QUEUE_WINDOW__INIT;
	message.queue = queue->line->remote.id;
	if (window) {
		message.usm_address = (uintptr_t)window->pointer;
		message.size_bytes = window->size_bytes;
		message.hit_ratio = window->hit_ratio;
		message.hit = (uint32_t)window->hit;
		message.miss = (uint32_t)window->miss;
	}
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_QUEUE_WINDOW;
	command.queue_window = &message;
	struct pending pending = {.take = NULL};
	return connection_request(queue->object.connection, &command, &pending, UINT64_MAX);
}
