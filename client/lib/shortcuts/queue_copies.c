/* Copies as command groups of their own. */
#include "handler/handler.h"
#include "shortcuts/shortcuts.h"

SYCL_API sycl_result sycl_queue_copy_rect(sycl_queue queue, sycl_buffer source,
					  sycl_buffer destination,
					  const struct sycl_copy_rect *rect, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = sycl_handler_begin(queue, &handler);
	if (result)
		return result;
	return shortcut_submit_or_discard(
		handler, sycl_handler_copy_rect(handler, source, destination, rect), event_out);
}

SYCL_API sycl_result sycl_queue_copy_from_host(sycl_queue queue, const void *source,
					       sycl_buffer destination,
					       uint64_t destination_offset_bytes,
					       uint64_t size_bytes, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = sycl_handler_begin(queue, &handler);
	if (result)
		return result;
	return shortcut_submit_or_discard(handler,
					  sycl_handler_copy_from_host(handler, source, destination,
								      destination_offset_bytes,
								      size_bytes),
					  event_out);
}

SYCL_API sycl_result sycl_queue_copy_to_host(sycl_queue queue, sycl_buffer source,
					     uint64_t source_offset_bytes, void *destination,
					     uint64_t size_bytes, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = sycl_handler_begin(queue, &handler);
	if (result)
		return result;
	return shortcut_submit_or_discard(handler,
					  sycl_handler_copy_to_host(handler, source,
								    source_offset_bytes,
								    destination, size_bytes),
					  event_out);
}

SYCL_API sycl_result sycl_queue_copy_rect_from_host(sycl_queue queue, const void *source,
						    sycl_buffer destination,
						    const struct sycl_copy_rect *rect,
						    sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = sycl_handler_begin(queue, &handler);
	if (result)
		return result;
	return shortcut_submit_or_discard(
		handler, sycl_handler_copy_rect_from_host(handler, source, destination, rect),
		event_out);
}

SYCL_API sycl_result sycl_queue_copy_rect_to_host(sycl_queue queue, sycl_buffer source,
						  void *destination,
						  const struct sycl_copy_rect *rect,
						  sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = sycl_handler_begin(queue, &handler);
	if (result)
		return result;
	return shortcut_submit_or_discard(
		handler, sycl_handler_copy_rect_to_host(handler, source, destination, rect),
		event_out);
}
