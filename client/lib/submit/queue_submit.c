/* The calls that submit a command group. */
#include "submit/submit.h"

#include "base/lone_thread.h"

/*
 * Releases the application's handle, even if the submission fails later. The object stays pinned
 * for this call. The connection would close with its last handle, which this may be. So the handle
 * stays counted until end_submission.
 */
static sycl_result end_handle(sycl_handler handle, struct handler **handler_out)
{
	struct object *object = NULL;
	bool counted = false;
	sycl_result result = handle_pin_taken(handle, HANDLE_HANDLER, &object, &counted);
	if (result)
		return result;
	if (!counted)
		(void)count_add(&object->connection->handles, 1, memory_order_relaxed);
	*handler_out = (struct handler *)object;
	return SYCL_SUCCESS;
}

static void end_submission(struct handler *handler)
{
	struct connection *c = handler->object.connection;
	(void)count_add(&c->handles, -1u, memory_order_acq_rel);
	connection_handle_released(c);
}

SYCL_API sycl_result sycl_handler_submit(sycl_handler handle, sycl_event *event_out)
{
	CLEANUP(handler_unpin) struct handler *handler = NULL;
	sycl_result result = end_handle(handle, &handler);
	if (result)
		return result;
	result = handler_submit(handler, handler->queue, event_out);
	end_submission(handler);
	return result;
}

SYCL_API sycl_result sycl_queue_submit(sycl_queue queue_handle, sycl_handler handle,
				       sycl_event *event_out)
{
	CLEANUP(handler_unpin) struct handler *handler = NULL;
	CLEANUP(queue_unpin) struct queue *queue = NULL;
	sycl_result result = end_handle(handle, &handler);
	if (result)
		return result;
	result = queue_pin(queue_handle, &queue);
	if (!result && queue->context != handler->queue->context)
		result = error_set(SYCL_ERROR_INVALID,
				   "the handler was begun on a queue of another context");
	if (!result)
		result = handler_submit(handler, queue, event_out);
	end_submission(handler);
	return result;
}

SYCL_API sycl_result sycl_handler_submit_with_secondary(sycl_handler handle,
							sycl_queue secondary_handle,
							sycl_event *event_out)
{
	CLEANUP(handler_unpin) struct handler *handler = NULL;
	CLEANUP(queue_unpin) struct queue *secondary = NULL;
	sycl_result result = end_handle(handle, &handler);
	if (result)
		return result;
	sycl_result pinned = queue_pin(secondary_handle, &secondary);
	struct failure no_secondary;
	error_get(&no_secondary);
	if (!pinned)
		result = handler_submit(handler, handler->queue, event_out);
	if (!pinned && result)
		result = handler_submit(handler, secondary, event_out);
	end_submission(handler);
	return pinned ? error_set_failure(&no_secondary) : result;
}
