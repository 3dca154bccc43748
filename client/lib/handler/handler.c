/* Builds a command group: requisites, arguments, one action. */
#include "handler/handler.h"
#include "handler/native_action.h"

#include "access_mode.h"
#include "base/lone_thread.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HANDLERS_ARE_FREED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HANDLERS_ARE_FREED
#endif
#endif

void handler_init(struct handler *handler, struct queue *queue)
{
	/* Elements of the lists are written when the lists grow. */
	memset(handler, 0, offsetof(struct handler, inline_requirements));
	handler->requirements =
		(struct handler_list){handler->inline_requirements, 0, HANDLER_INLINE_REQUIREMENTS};
	handler->arguments =
		(struct handler_list){handler->inline_arguments, 0, HANDLER_INLINE_ARGUMENTS};
	handler->values = (struct handler_list){handler->inline_values, 0, HANDLER_INLINE_VALUES};
	handler->object.connection = queue->object.connection; /* the queue holds the connection */
	handler->queue = queue;
}

void handler_fini(struct handler *handler)
{
	for (uint32_t i = 0; i < handler->requirements.count; i++)
		object_unref(&handler_requirement_at(handler, i)->buffer->object);
	for (uint32_t i = 0; i < handler->depends_on.count; i++)
		object_unref(&handler_dependency_at(handler, i)->event->object);
	if (handler->requirements.items != handler->inline_requirements)
		free(handler->requirements.items);
	if (handler->arguments.items != handler->inline_arguments)
		free(handler->arguments.items);
	if (handler->values.items != handler->inline_values)
		free(handler->values.items);
	if (handler->depends_on.items)
		free(handler->depends_on.items);
	if (handler->kernel_given)
		object_unref(&handler->kernel_given->object);
	if (handler->event)
		object_unref(&handler->event->object);
	native_action_drop(handler->native);
	if (handler->graph)
		object_unref((struct object *)handler->graph);
}

#ifdef HANDLERS_ARE_FREED
/* Each handler gets a new block, so that AddressSanitizer finds uses of freed handlers. */
static struct handler *handler_memory_take(struct queue *queue)
{
	(void)queue;
	return malloc(sizeof(struct handler));
}

static void handler_memory_give(struct queue *queue, struct handler *handler)
{
	(void)queue;
	free(handler);
}
#else
/*
 * A queue keeps the memory of one handler. So a program that builds one group after the other
 * allocates no memory. Each exchange gives the memory to one thread. The handle differs each time,
 * because it does not depend on the memory.
 */
static struct handler *exchange_spare(struct queue *queue, struct handler *handler)
{
	if (!thread_is_alone())
		return atomic_exchange_explicit(&queue->spare, handler, memory_order_acq_rel);
	struct handler *before = atomic_load_explicit(&queue->spare, memory_order_acquire);
	atomic_store_explicit(&queue->spare, handler, memory_order_relaxed);
	return before;
}

static struct handler *handler_memory_take(struct queue *queue)
{
	struct handler *handler = NULL;
	if (atomic_load_explicit(&queue->spare, memory_order_relaxed))
		handler = exchange_spare(queue, NULL);
	return handler ? handler : malloc(sizeof(*handler));
}

static void handler_memory_give(struct queue *queue, struct handler *handler)
{
	if (atomic_load_explicit(&queue->spare,
				 /* Several handlers were open at the same time, and one is kept. */
				 memory_order_relaxed))
		free(handler);
	else
		free(exchange_spare(queue, handler));
}
#endif

static void handler_destroy(struct object *object)
{
	struct handler *handler = (struct handler *)object;
	struct queue *queue = handler->queue;
	handler_fini(handler);
	if (handler->destroy_user_data)
		handler->destroy_user_data(handler->user_data);
	handler_memory_give(queue, handler);
	object_unref(&queue->object); /* the connection may end with the queue */
}

sycl_result handler_new(struct queue *queue, struct handler **handler_out)
{
	sycl_result result = remote_check(&queue->line->remote);
	if (result)
		return result;
	struct handler *handler = handler_memory_take(queue);
	if (!handler)
		return error_no_memory();
	handler_init(handler, queue);
	if (handle_create(&handler->object, HANDLE_HANDLER, handler_destroy) < 0) {
		free(handler);
		return error_no_memory();
	}
	object_ref(&queue->object);
	*handler_out = handler;
	return SYCL_SUCCESS;
}

/* Copies the lists' elements, with a new reference for each. */
static sycl_result copy_lists(const struct handler *from, struct handler *to)
{
	sycl_result result =
		handler_list_grow(&to->requirements, to->inline_requirements,
				  sizeof(struct handler_requirement), from->requirements.count);
	if (!result)
		result = handler_list_grow(&to->arguments, to->inline_arguments,
					   sizeof(struct handler_argument), from->arguments.count);
	if (!result)
		result = handler_list_grow(&to->values, to->inline_values, 1, from->values.count);
	if (!result && from->depends_on.count)
		result = handler_list_grow(&to->depends_on, NULL, sizeof(struct handler_dependency),
					   from->depends_on.count);
	if (result)
		return result;
	for (uint32_t i = 0; i < from->requirements.count; i++) {
		*handler_requirement_at(to, i) = *handler_requirement_at(from, i);
		object_ref(&handler_requirement_at(to, i)->buffer->object);
	}
	for (uint32_t i = 0; i < from->depends_on.count; i++) {
		*handler_dependency_at(to, i) = *handler_dependency_at(from, i);
		object_ref(&handler_dependency_at(to, i)->event->object);
	}
	if (from->arguments.count)
		memcpy(to->arguments.items, from->arguments.items,
		       from->arguments.count * sizeof(struct handler_argument));
	if (from->values.count)
		memcpy(to->values.items, from->values.items, from->values.count);
	to->requirements.count = from->requirements.count;
	to->arguments.count = from->arguments.count;
	to->values.count = from->values.count;
	to->depends_on.count = from->depends_on.count;
	return SYCL_SUCCESS;
}

sycl_result handler_clone(const struct handler *from, struct handler **clone_out)
{
	struct handler *clone = NULL;
	sycl_result result = handler_new(from->queue, &clone);
	if (result)
		return result;
	object_keep(&clone->object);
	result = copy_lists(from, clone);
	if (result) {
		object_unref(&clone->object);
		return result;
	}
	const size_t begin = offsetof(struct handler, action),
		     end = offsetof(struct handler, inline_requirements);
	memcpy((uint8_t *)clone + begin, (const uint8_t *)from + begin, end - begin);
	clone->host_function = NULL;
	clone->destroy_user_data = NULL;
	clone->user_data = NULL;
	if (clone->kernel_given)
		object_ref(&clone->kernel_given->object);
	if (clone->event)
		object_ref(&clone->event->object);
	if (clone->graph)
		object_ref((struct object *)clone->graph);
	native_action_hold(clone->native);
	*clone_out = clone;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_begin(sycl_queue queue_handle, sycl_handler *handler_out)
{
	PIN(queue, queue, queue_handle);
	REQUIRE_OUTPUT(handler_out);
	struct handler *handler = NULL;
	sycl_result result = handler_new(queue, &handler);
	if (!result)
		*handler_out = handle_of(&handler->object);
	return result;
}

SYCL_API sycl_result sycl_handler_discard(sycl_handler handler)
{
	if (!handler)
		return SYCL_SUCCESS;
	return handle_release(handler, HANDLE_HANDLER);
}

sycl_result handler_list_grow(struct handler_list *list, const void *fixed, size_t item_bytes,
			      uint32_t more)
{
	if (list->count + more <= list->capacity)
		return SYCL_SUCCESS;
	uint32_t capacity = list->capacity ? list->capacity : 4;
	while (capacity < list->count + more)
		capacity *= 2;
	void *items = calloc(capacity, item_bytes);
	if (!items)
		return error_no_memory();
	if (list->count)
		memcpy(items, list->items, list->count * item_bytes);
	if (list->items != fixed)
		free(list->items);
	list->items = items;
	list->capacity = capacity;
	return SYCL_SUCCESS;
}

sycl_result handler_set_argument(struct handler *handler, uint32_t index,
				 struct handler_argument argument)
{
	if (index >= KERNEL_ARGUMENTS_MAX)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u: a kernel has at most %u arguments", index,
				 KERNEL_ARGUMENTS_MAX);
	if (index >= handler->arguments.count) {
		sycl_result result = handler_list_room(
			&handler->arguments, handler->inline_arguments,
			sizeof(struct handler_argument), index + 1 - handler->arguments.count);
		if (result)
			return result;
		/* Includes the indices that the program left out. */
		while (handler->arguments.count <= index)
			*handler_argument_at(handler, handler->arguments.count++) =
				(struct handler_argument){.kind = HANDLER_ARGUMENT_UNSET};
	}
	handler->arguments_given +=
		handler_argument_at(handler, index)->kind == HANDLER_ARGUMENT_UNSET;
	handler->argument_kinds |= 1u << argument.kind;
	*handler_argument_at(handler, index) = argument;
	return SYCL_SUCCESS;
}

/* Checks the index first, so that a failed call adds no requirement. */
static sycl_result check_accessor_index(enum handler_argument_kind kind, uint32_t index)
{
	if (index < KERNEL_ARGUMENTS_MAX)
		return SYCL_SUCCESS;
	if (kind == HANDLER_ARGUMENT_HOST)
		return error_set(SYCL_ERROR_INVALID, "host accessor %u: a host task has at most %u",
				 index, KERNEL_ARGUMENTS_MAX);
	return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
			 "argument %u: a kernel has at most %u arguments", index,
			 KERNEL_ARGUMENTS_MAX);
}

sycl_result handler_set_accessor(struct handler *handler, enum handler_argument_kind kind,
				 uint32_t index, struct buffer **pinned, sycl_access_mode mode,
				 uint64_t offset_bytes, uint64_t size_bytes)
{
	if (!access_mode_valid((uint32_t)mode))
		return error_set(SYCL_ERROR_INVALID, "%d is no access mode", (int)mode);
	sycl_result result = check_accessor_index(kind, index);
	uint32_t requirement = 0;
	if (result)
		return result;
	const struct handler_demand demand = {.buffer = *pinned,
					      .pinned = pinned,
					      .mode = (uint32_t)mode,
					      .target = kind == HANDLER_ARGUMENT_HOST
								? SYCL_TARGET_HOST_TASK
								: SYCL_TARGET_DEVICE,
					      .offset_bytes = offset_bytes,
					      .size_bytes = size_bytes};
	result = handler_require(handler, &demand, &requirement);
	if (result)
		return result;
	return handler_set_argument(handler, index,
				    (struct handler_argument){.kind = kind,
							      .requirement = requirement,
							      .offset_bytes = offset_bytes});
}

SYCL_API sycl_result sycl_handler_set_accessor(sycl_handler handle, uint32_t index,
					       sycl_buffer buffer_handle, sycl_access_mode mode)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	return handler_set_accessor(handler, HANDLER_ARGUMENT_ACCESSOR, index, &buffer, mode, 0,
				    buffer->size_bytes);
}

SYCL_API sycl_result sycl_handler_set_ranged_accessor(sycl_handler handle, uint32_t index,
						      sycl_buffer buffer_handle,
						      sycl_access_mode mode, uint64_t offset_bytes,
						      uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	return handler_set_accessor(handler, HANDLER_ARGUMENT_ACCESSOR, index, &buffer, mode,
				    offset_bytes, size_bytes);
}

sycl_result handler_set_value(struct handler *handler, uint32_t index, uint64_t size_bytes,
			      const void *value)
{
	uint64_t limit = handler->queue->device->facts->max_parameter_bytes;
	if (!value || size_bytes == 0)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u: a value has at least one byte", index);
	if ((limit && size_bytes > limit) || size_bytes > PACKET_BYTES_MAX)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u: %" PRIu64 " bytes; the device takes %" PRIu64, index,
				 size_bytes, limit);
	sycl_result result = handler_list_room(&handler->values, handler->inline_values, 1,
					       (uint32_t)size_bytes);
	if (result)
		return result;
	uint32_t offset = handler->values.count;
	result = handler_set_argument(handler, index,
				      (struct handler_argument){.kind = HANDLER_ARGUMENT_VALUE,
								.offset_bytes = offset,
								.size_bytes = size_bytes});
	if (result)
		return result;
	memcpy((uint8_t *)handler->values.items + offset, value, size_bytes);
	handler->values.count += (uint32_t)size_bytes;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_set_value(sycl_handler handle, uint32_t index, size_t size_bytes,
					    const void *value)
{
	PIN(handler, handler, handle);
	return handler_set_value(handler, index, size_bytes, value);
}

sycl_result handler_set_local(struct handler *handler, uint32_t index, uint64_t size_bytes)
{
	uint64_t limit = handler->queue->device->facts->local_mem_bytes;
	if (size_bytes == 0)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u: local memory has at least one byte", index);
	if (size_bytes > limit)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION,
				 "argument %u: %" PRIu64
				 " bytes of local memory; the device has %" PRIu64,
				 index, size_bytes, limit);
	return handler_set_argument(handler, index,
				    (struct handler_argument){.kind = HANDLER_ARGUMENT_LOCAL,
							      .size_bytes = size_bytes});
}

SYCL_API sycl_result sycl_handler_set_local(sycl_handler handle, uint32_t index,
					    uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	return handler_set_local(handler, index, size_bytes);
}

sycl_result handler_add_dependency(struct handler *handler, struct event *event)
{
	if (event->object.connection != handler->object.connection)
		return error_set(SYCL_ERROR_INVALID,
				 "the event and the queue belong to different connections");
	if (handler->depends_on.count == DEPENDENCIES_MAX)
		return error_set(SYCL_ERROR_QUOTA, "a command group depends on at most %u events",
				 DEPENDENCIES_MAX);
	sycl_result result =
		handler_list_grow(&handler->depends_on, NULL, sizeof(struct handler_dependency), 1);
	if (result)
		return result;
	object_ref(&event->object);
	*handler_dependency_at(handler, handler->depends_on.count++) =
		(struct handler_dependency){.event = event};
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_depends_on(sycl_handler handle, sycl_event event_handle)
{
	PIN(handler, handler, handle);
	PIN(event, event, event_handle);
	return handler_add_dependency(handler, event);
}

sycl_result handler_check_no_action(const struct handler *handler)
{
	if (handler->action == HANDLER_ACTION_NONE)
		return SYCL_SUCCESS;
	return error_set(SYCL_ERROR_INVALID, "this command group has an action already");
}
