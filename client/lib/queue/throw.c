/* Calls that pass the failures of command groups to asynchronous handlers (M2 - M5). */
#include "queue/queue.h"

SYCL_API sycl_result sycl_queue_throw_asynchronous(sycl_queue handle, sycl_async_handler *handler,
						   void *user_data)
{
	PIN(queue, queue, handle);
	return queue_line_throw(queue->object.connection, queue->line, handler, user_data);
}

SYCL_API sycl_result sycl_queue_wait_and_throw(sycl_queue handle)
{
	PIN(queue, queue, handle);
	sycl_result result = queue_wait_until(queue, UINT64_MAX);
	if (result || !queue->line->handler)
		return result;
	return queue_line_throw(queue->object.connection, queue->line, NULL, NULL);
}

SYCL_API sycl_result sycl_event_wait_and_throw(sycl_event handle)
{
	PIN(event, event, handle);
	sycl_result result = event_finish(event, UINT64_MAX);
	struct connection *c = event->object.connection;
	if (!event->line->handler || connection_check(c))
		return result;
	return queue_line_throw(c, event->line, NULL, NULL);
}
