/* Command groups that are submitted again and again: a handler that cannot be changed any more
 * (B15). */
#include "submit/submit.h"

static void group_destroy(struct object *object)
{
	struct command_group *group = (struct command_group *)object;
	object_unref(&group->handler->object);
	object_delete(object);
}

static sycl_result handler_freeze(struct handler *handler, sycl_command_group *group_out)
{
	REQUIRE_OUTPUT(group_out);
	sycl_result result = handler_validate(handler, false);
	if (result)
		return result;
	struct command_group *group = object_new(sizeof(*group), handler->object.connection);
	if (!group)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	if (handle_create(&group->object, HANDLE_COMMAND_GROUP, group_destroy) < 0) {
		object_delete(&group->object);
		return error_no_memory();
	}
	group->handler = handler;
	object_ref(&handler->object);
	*group_out = handle_of(&group->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_freeze(sycl_handler handle, sycl_command_group *group_out)
{
	PIN(handler, handler, handle);
	sycl_result result = handler_freeze(handler, group_out);
	struct failure why;
	error_get(&why);
	sycl_result taken = object_take(&handler->object);
	connection_handle_released(handler->object.connection);
	return result ? error_set_failure(&why) : taken;
}

SYCL_API sycl_result sycl_queue_submit_group(sycl_queue queue_handle,
					     sycl_command_group group_handle, sycl_event *event_out)
{
	PIN(queue, queue, queue_handle);
	PIN(command_group, group, group_handle);
	if (queue->context != group->handler->queue->context)
		return error_set(SYCL_ERROR_INVALID,
				 "the command group was built for queues of another context");
	return handler_submit(group->handler, queue, event_out);
}

SYCL_API sycl_result sycl_command_group_retain(sycl_command_group group)
{
	return handle_retain(group, HANDLE_COMMAND_GROUP);
}

SYCL_API sycl_result sycl_command_group_release(sycl_command_group group)
{
	return handle_release(group, HANDLE_COMMAND_GROUP);
}

SYCL_API sycl_result sycl_command_group_get_reference_count(sycl_command_group group,
							    uint32_t *count_out)
{
	return handle_get_reference_count(group, HANDLE_COMMAND_GROUP, count_out);
}
