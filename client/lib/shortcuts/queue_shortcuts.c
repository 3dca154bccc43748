/* One command group each, without a handler in the caller's hands. */
#include "handler/handler.h"
#include "shortcuts/shortcuts.h"

sycl_result shortcut_submit_or_discard(sycl_handler handler, sycl_result built,
				       sycl_event *event_out)
{
	if (!built)
		return sycl_handler_submit(handler, event_out);
	struct failure why;
	error_get(&why);
	(void)sycl_handler_discard(handler);
	return error_set_failure(&why);
}

SYCL_API sycl_result sycl_queue_fill(sycl_queue queue, sycl_buffer buffer, uint64_t offset_bytes,
				     uint64_t size_bytes, const void *pattern, size_t pattern_bytes,
				     sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = sycl_handler_begin(queue, &handler);
	if (result)
		return result;
	return shortcut_submit_or_discard(handler,
					  sycl_handler_fill(handler, buffer, offset_bytes,
							    size_bytes, pattern, pattern_bytes),
					  event_out);
}

SYCL_API sycl_result sycl_queue_copy(sycl_queue queue, sycl_buffer source,
				     uint64_t source_offset_bytes, sycl_buffer destination,
				     uint64_t destination_offset_bytes, uint64_t size_bytes,
				     sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = sycl_handler_begin(queue, &handler);
	if (result)
		return result;
	return shortcut_submit_or_discard(handler,
					  sycl_handler_copy(handler, source, source_offset_bytes,
							    destination, destination_offset_bytes,
							    size_bytes),
					  event_out);
}

SYCL_API sycl_result sycl_queue_update_host(sycl_queue queue, sycl_buffer buffer,
					    sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = sycl_handler_begin(queue, &handler);
	if (result)
		return result;
	return shortcut_submit_or_discard(handler, sycl_handler_update_host(handler, buffer),
					  event_out);
}

SYCL_API sycl_result sycl_queue_barrier(sycl_queue queue, sycl_event *event_out)
{
	sycl_handler handle = NULL;
	sycl_result result = sycl_handler_begin(queue, &handle);
	if (result)
		return result;
	PIN(handler, handler, handle);
	/* An in-order queue's groups follow each other in any case. */
	handler->after_all = !handler->queue->line->in_order;
	return sycl_handler_submit(handle, event_out);
}
