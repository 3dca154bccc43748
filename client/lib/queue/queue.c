/* Queues: creation and waiting. Asynchronous errors are in queue_errors.c, shortcuts in
 * queue_shortcuts.c. */
#include "queue/queue.h"

#include "platform/topology.h"
#include "host_task/host_tasks.h"

#include "clock.h"

#include <stdlib.h>

static void queue_destroy(struct object *object)
{
	struct queue *queue = (struct queue *)object;
	/* Never waits: the engine keeps the queue until its groups are complete (D15). */
	if (queue->line)
		queue_line_throw_late(object->connection, queue->line);
	if (queue->line)
		queue_line_drop(object->connection, queue->line);
	if (queue->context)
		object_unref(&queue->context->object);
	if (queue->device)
		object_unref(&queue->device->object);
	free(atomic_load_explicit(&queue->spare, memory_order_acquire));
	for (uint32_t i = 0; i < QUEUE_REPEATS; i++)
		free(queue->repeats[i]);
	object_delete(object);
}

static sycl_result queue_announce_plain(const struct queue *queue, void *unused)
{
	(void)unused;
	Sycl__V1__QueueCreate create = SYCL__V1__QUEUE_CREATE__INIT;
	create.queue = queue->line->remote.id;
	create.context = queue->context->remote.id;
	create.device = queue->device->facts->device;
	create.in_order = queue->line->in_order;
	create.enable_profiling = queue->line->profiling;
	create.slot = queue->line->slot;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_QUEUE_CREATE;
	command.queue_create = &create;
	return connection_send(queue->object.connection, &command);
}

sycl_result queue_make(struct context *context, struct device *device,
		       const struct sycl_queue_options *options, queue_announce *announce,
		       void *what, sycl_queue *queue_out)
{
	uint32_t properties = options->properties;
	struct connection *c = device->object.connection;
	struct queue_line *line = NULL;
	struct queue *queue = object_new(sizeof(*queue), c);
	sycl_result result = queue ? queue_line_create(c, properties & SYCL_QUEUE_IN_ORDER,
						       properties & SYCL_QUEUE_ENABLE_PROFILING,
						       queue_line_released, &line)
				   : SYCL_ERROR_MEMORY_ALLOCATION;
	if (!result && handle_create(&queue->object, HANDLE_QUEUE, queue_destroy) < 0) {
		remote_forget(c, &line->remote);
		(void)queue_line_free(line);
		result = error_no_memory();
	}
	if (result) {
		if (queue)
			object_delete(&queue->object);
		object_unref(&context->object);
		return result;
	}
	line->backend = device_backend(device);
	line->handler = options->async_handler ? options->async_handler : context->async_handler;
	line->handler_data =
		options->async_handler ? options->async_user_data : context->async_user_data;
	queue->line = line;
	queue->checks_native = (properties & SYCL_QUEUE_CHECK_NATIVE) != 0;
	queue->context = context;
	queue->device = device;
	object_ref(&device->object);
	result = announce ? announce(queue, what) : queue_announce_plain(queue, NULL);
	if (result) {
		struct failure why;
		error_get(&why);
		/* With `announce` the id was sent, and the service keeps it. */
		if (!announce) {
			remote_forget(c, &line->remote);
			queue->line = queue_line_free(line);
		}
		object_unref(&queue->object);
		return error_set_failure(&why);
	}
	*queue_out = handle_of(&queue->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_queue_create(sycl_context context_handle, sycl_device device_handle,
				       const struct sycl_queue_options *options,
				       sycl_queue *queue_out)
{
	PIN(device, device, device_handle);
	REQUIRE_OUTPUT(queue_out);
	struct sycl_queue_options defaults = SYCL_QUEUE_OPTIONS_INIT;
	uint32_t properties = options ? options->properties : 0;
	if (options && options->struct_bytes != sizeof(*options))
		return error_set(
			SYCL_ERROR_INVALID,
			"options: struct_bytes is wrong; start from SYCL_QUEUE_OPTIONS_INIT");
	if (properties &
	    ~(SYCL_QUEUE_IN_ORDER | SYCL_QUEUE_ENABLE_PROFILING | SYCL_QUEUE_CHECK_NATIVE))
		return error_set(SYCL_ERROR_INVALID, "properties 0x%x has an unknown bit",
				 properties);
	if ((properties & SYCL_QUEUE_ENABLE_PROFILING) &&
	    !(device->facts->aspects >> SYCL_ASPECT_QUEUE_PROFILING & 1))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "%s does not measure the times of commands", device->facts->name);
	if (!device->facts->available)
		return error_set(SYCL_ERROR_RUNTIME, "%.80s is not available%s%.200s",
				 device->facts->name,
				 *device->facts->unavailable_reason ? ": " : "",
				 device->facts->unavailable_reason);
	struct context *context = NULL;
	sycl_result result = SYCL_SUCCESS;
	if (context_handle) {
		result = context_pin(context_handle, &context);
		if (!result && !context_has(context, device))
			result = error_set(SYCL_ERROR_INVALID,
					   "the device is not one of the context's");
		if (!result)
			result = remote_check(&context->remote);
		if (result) {
			context_unpin(&context);
			return result;
		}
	} else {
		result = context_implicit(device, &context);
		if (result)
			return result;
	}
	return queue_make(context, device, options ? options : &defaults, NULL, NULL, queue_out);
}

SYCL_API sycl_result sycl_queue_create_default_with(sycl_platform platform, uint32_t properties,
						    sycl_queue *queue_out)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = properties;
	REQUIRE_OUTPUT(queue_out);
	sycl_device device = NULL;
	sycl_result result = sycl_device_select(platform, sycl_default_selector, NULL, &device);
	if (result)
		return result;
	result = sycl_queue_create(NULL, device, &options, queue_out);
	(void)sycl_device_release(device);
	return result;
}

SYCL_API sycl_result sycl_queue_create_default(sycl_platform platform, sycl_queue *queue_out)
{
	return sycl_queue_create_default_with(platform, 0, queue_out);
}

SYCL_API sycl_result sycl_queue_retain(sycl_queue queue)
{
	return handle_retain(queue, HANDLE_QUEUE);
}

SYCL_API sycl_result sycl_queue_release(sycl_queue queue)
{
	return handle_release(queue, HANDLE_QUEUE);
}

SYCL_API sycl_result sycl_queue_get_reference_count(sycl_queue queue, uint32_t *count_out)
{
	return handle_get_reference_count(queue, HANDLE_QUEUE, count_out);
}

SYCL_API sycl_result sycl_queue_get_context(sycl_queue handle, sycl_context *context_out)
{
	PIN(queue, queue, handle);
	REQUIRE_OUTPUT(context_out);
	sycl_result result = object_give(&queue->context->object);
	if (!result)
		*context_out = handle_of(&queue->context->object);
	return result;
}

SYCL_API sycl_result sycl_queue_get_device(sycl_queue handle, sycl_device *device_out)
{
	PIN(queue, queue, handle);
	REQUIRE_OUTPUT(device_out);
	sycl_result result = object_give(&queue->device->object);
	if (!result)
		*device_out = handle_of(&queue->device->object);
	return result;
}

SYCL_API sycl_result sycl_queue_is_in_order(sycl_queue handle, uint32_t *in_order_out)
{
	PIN(queue, queue, handle);
	REQUIRE_OUTPUT(in_order_out);
	*in_order_out = queue->line->in_order ? 1 : 0;
	return SYCL_SUCCESS;
}

struct slot_wait {
	const struct completion_slot *slot;
	uint32_t value;
	struct queue_line *line;
};

static bool queue_slot_is_ready(struct connection *c, void *context)
{
	(void)c;
	const struct slot_wait *wait = context;
	uint32_t sequence = atomic_load_explicit(&wait->slot->sequence, memory_order_acquire);
	return sequence_reached(sequence, wait->value) ||
	       atomic_load_explicit(&wait->line->remote.failed, memory_order_acquire) != 0;
}

sycl_result queue_line_wait(struct connection *c, struct queue_line *line, uint32_t slot,
			    uint32_t value, uint64_t deadline_ns)
{
	struct slot_wait wait = {.slot = &c->slot_memory[slot], .value = value, .line = line};
	if (!queue_slot_is_ready(c, &wait)) {
		sycl_result result = connection_wait_slot(c, queue_slot_is_ready, &wait, slot,
							  value, deadline_ns);
		if (result)
			return result;
	}
	/* A complete group stays complete, even if its queue failed later. */
	uint32_t sequence = atomic_load_explicit(&wait.slot->sequence, memory_order_acquire);
	return sequence_reached(sequence, value) ? SYCL_SUCCESS : remote_check(&line->remote);
}

sycl_result queue_wait_until(struct queue *queue, uint64_t deadline_ns)
{
	struct connection *c = queue->object.connection;
	struct queue_line *line = queue->line;
	if (atomic_load_explicit(&queue->recording, memory_order_acquire))
		return error_set_object(SYCL_ERROR_INVALID, line->remote.id,
					"a graph records the queue: there is nothing to wait for");
	(void)pthread_mutex_lock(&c->submit_lock);
	uint64_t groups = line->groups;
	(void)pthread_mutex_unlock(&c->submit_lock);
	if (host_task_is_here(line, groups, true))
		return error_set_object(
			SYCL_ERROR_INVALID, line->remote.id,
			"this thread runs a host task of the queue that it would wait for");
	if (groups > 0) {
		sycl_result result =
			queue_line_wait(c, line, line->slot, (uint32_t)groups, deadline_ns);
		if (result)
			return result;
	}
	connection_observe(c);
	lent_ranges_settle(c, line);
	sycl_result result = remote_check(&line->remote);
	if (result || line->handler ||
	    atomic_load_explicit(&c->slot_memory[line->slot].status, memory_order_acquire) == 0)
		return result;
	return queue_line_first_unreported(c, line, groups);
}

SYCL_API sycl_result sycl_queue_wait(sycl_queue handle)
{
	PIN(queue, queue, handle);
	return queue_wait_until(queue, UINT64_MAX);
}

SYCL_API sycl_result sycl_queue_wait_for(sycl_queue handle, uint64_t timeout_ns)
{
	PIN(queue, queue, handle);
	return queue_wait_until(queue, clock_deadline_ns(timeout_ns));
}
