/* Events that the program signals. */
#include "handler/handler.h"
#include "host_task/host_tasks.h"

#include <stdlib.h>

SYCL_API sycl_result sycl_event_create_host(sycl_queue handle, sycl_event *event_out)
{
	PIN(queue, queue, handle);
	REQUIRE_OUTPUT(event_out);
	if (queue->line->in_order)
		return error_set_object(SYCL_ERROR_INVALID, queue->line->remote.id,
					"the queue is in order: later groups would wait for the "
					"event");
	_Atomic int32_t *gate = malloc(sizeof(*gate));
	if (!gate)
		return error_no_memory();
	atomic_init(gate, HOST_EVENT_OPEN);
	sycl_handler handler = NULL;
	sycl_result result = sycl_handler_begin(handle, &handler);
	if (!result)
		result = sycl_handler_host_task(handler, host_event_outcome, (void *)gate, free);
	if (result) {
		struct failure why;
		error_get(&why);
		if (handler)
			(void)sycl_handler_discard(handler);
		free((void *)gate);
		return error_set_failure(&why);
	}
	sycl_event event = NULL;
	result = sycl_handler_submit(handler, &event);
	if (result)
		return result;
	PIN(event, made, event);
	made->is_host = true;
	*event_out = event;
	return SYCL_SUCCESS;
}
