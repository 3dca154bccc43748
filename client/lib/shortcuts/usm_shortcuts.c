/* One command group each about USM, without a handler in the caller's hands. */
#include "handler/handler.h"
#include "shortcuts/shortcuts.h"

static sycl_result usm_begin_group(sycl_queue queue, uint32_t event_count, const sycl_event *events,
				   sycl_handler *handler_out)
{
	if (event_count > 0 && !events)
		return error_set(SYCL_ERROR_INVALID, "events is NULL");
	sycl_handler handler = NULL;
	sycl_result result = sycl_handler_begin(queue, &handler);
	for (uint32_t i = 0; !result && i < event_count; i++) {
		result = sycl_handler_depends_on(handler, events[i]);
		if (result) {
			struct failure why;
			error_get(&why);
			(void)sycl_handler_discard(handler);
			return error_set_failure(&why);
		}
	}
	*handler_out = handler;
	return result;
}

SYCL_API sycl_result sycl_queue_memcpy(sycl_queue queue, void *destination, const void *source,
				       uint64_t size_bytes, uint32_t event_count,
				       const sycl_event *events, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = usm_begin_group(queue, event_count, events, &handler);
	return result ? result
		      : shortcut_submit_or_discard(
				handler,
				sycl_handler_memcpy(handler, destination, source, size_bytes),
				event_out);
}

SYCL_API sycl_result sycl_queue_memset(sycl_queue queue, void *pointer, int value,
				       uint64_t size_bytes, uint32_t event_count,
				       const sycl_event *events, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = usm_begin_group(queue, event_count, events, &handler);
	return result ? result
		      : shortcut_submit_or_discard(
				handler, sycl_handler_memset(handler, pointer, value, size_bytes),
				event_out);
}

SYCL_API sycl_result sycl_queue_usm_fill(sycl_queue queue, void *pointer, uint64_t size_bytes,
					 const void *pattern, size_t pattern_bytes,
					 uint32_t event_count, const sycl_event *events,
					 sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = usm_begin_group(queue, event_count, events, &handler);
	return result ? result
		      : shortcut_submit_or_discard(handler,
						   sycl_handler_usm_fill(handler, pointer,
									 size_bytes, pattern,
									 pattern_bytes),
						   event_out);
}

SYCL_API sycl_result sycl_queue_prefetch(sycl_queue queue, const void *pointer, uint64_t size_bytes,
					 uint32_t event_count, const sycl_event *events,
					 sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = usm_begin_group(queue, event_count, events, &handler);
	return result ? result
		      : shortcut_submit_or_discard(
				handler, sycl_handler_prefetch(handler, pointer, size_bytes),
				event_out);
}

SYCL_API sycl_result sycl_queue_mem_advise(sycl_queue queue, const void *pointer,
					   uint64_t size_bytes, sycl_mem_advice advice,
					   uint32_t event_count, const sycl_event *events,
					   sycl_event *event_out)
{
	sycl_handler handler = NULL;
	sycl_result result = usm_begin_group(queue, event_count, events, &handler);
	return result ? result
		      : shortcut_submit_or_discard(
				handler,
				sycl_handler_mem_advise(handler, pointer, size_bytes, advice),
				event_out);
}
