/* Host tasks that use native handles (I13 - I16): their data stays on the queue's device. */
#include "interop/native.h"

#include "handler/handler.h"

#include "syclclient/native.h"
#include "host_task/host_tasks.h"
#include "interop/bridge.h"

SYCL_API sycl_result sycl_handler_host_task_native(sycl_handler handle,
						   sycl_host_task_function *function,
						   void *user_data, sycl_user_data_destroy *destroy)
{
	PIN(handler, handler, handle);
	const struct queue *queue = handler->queue;
	struct connection *c = handler->object.connection;
	struct bridge_context *context = NULL;
	if (!function)
		return error_set(SYCL_ERROR_INVALID, "a host task needs a function");
	sycl_result result = handler_check_no_action(handler);
	/* The check uses a kind that every backend with native objects has. */
	if (!result && c->engine)
		result = native_check(c, queue->line->backend, (sycl_backend)queue->line->backend,
				      SYCL__V1__NATIVE_KIND__NATIVE_KIND_QUEUE);
	else if (!result)
		result = bridge_context_find(c, queue->device, &context);
	if (result)
		return result;
	handler->action = HANDLER_ACTION_HOST_TASK;
	handler->host_function = function;
	handler->user_data = user_data;
	handler->destroy_user_data = destroy;
	handler->on_device = true;
	handler->bridge = context;
	handler->after_all = true; /* I14: no work of the queue runs when the task begins */
	return SYCL_SUCCESS;
}

/* Finds the task's handler, and checks that it was made for native handles of this backend. */
static sycl_result native_task_find_handler(sycl_host_task task, sycl_backend backend,
					    const struct handler **handler_out)
{
	const struct handler *handler = host_task_handler(task);
	if (!handler)
		return SYCL_ERROR_INVALID_HANDLE;
	if (!handler->on_device)
		return error_set(
			SYCL_ERROR_INVALID,
			"only a host task of sycl_handler_host_task_native has native handles");
	*handler_out = handler;
	if (handler->bridge && backend != SYCL_BACKEND_KIND_CUDA)
		return error_set(SYCL_ERROR_BACKEND_MISMATCH, "the host task's handles are CUDA's");
	return handler->bridge
		       ? SYCL_SUCCESS
		       : native_check(handler->object.connection, handler->queue->line->backend,
				      backend, SYCL__V1__NATIVE_KIND__NATIVE_KIND_QUEUE);
}

/* Through a service: gets a handle of this program's own driver. */
static sycl_result native_get_in_task(const struct handler *handler, Sycl__V1__NativeKind kind,
				      uint64_t *native_out)
{
	struct bridge_context *context = handler->bridge;
	cuda_stream stream = NULL;
	if (kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_QUEUE) {
		sycl_result result =
			bridge_stream_lend(handler->object.connection->bridge, context, &stream);
		if (!result)
			*native_out = (uintptr_t)stream;
		return result;
	}
	bool is_device = kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_DEVICE;
	*native_out = is_device ? (uint64_t)context->device : (uintptr_t)context->context;
	return SYCL_SUCCESS;
}

static sycl_result native_task_get(const struct handler *handler, Sycl__V1__NativeKind kind,
				   uint64_t object, uint64_t *native_out)
{
	if (handler->bridge)
		return native_get_in_task(handler, kind, native_out);
	Sycl__V1__NativeGet get = SYCL__V1__NATIVE_GET__INIT;
	get.kind = kind;
	get.object = object;
	get.device = handler->queue->device->facts->device;
	if (kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY)
		get.queue = handler->queue->line->remote.id;
	return native_get_one(handler->object.connection, &get, native_out);
}

SYCL_API sycl_result sycl_host_task_get_native_queue(sycl_host_task task, sycl_backend backend,
						     uint64_t *native_out)
{
	const struct handler *handler = NULL;
	REQUIRE_OUTPUT(native_out);
	sycl_result result = native_task_find_handler(task, backend, &handler);
	return result ? result
		      : native_task_get(handler, SYCL__V1__NATIVE_KIND__NATIVE_KIND_QUEUE,
					handler->queue->line->remote.id, native_out);
}

SYCL_API sycl_result sycl_host_task_get_native_context(sycl_host_task task, sycl_backend backend,
						       uint64_t *native_out)
{
	const struct handler *handler = NULL;
	REQUIRE_OUTPUT(native_out);
	sycl_result result = native_task_find_handler(task, backend, &handler);
	return result ? result
		      : native_task_get(handler, SYCL__V1__NATIVE_KIND__NATIVE_KIND_CONTEXT,
					handler->queue->context->remote.id, native_out);
}

SYCL_API sycl_result sycl_host_task_get_native_device(sycl_host_task task, sycl_backend backend,
						      uint64_t *native_out)
{
	const struct handler *handler = NULL;
	REQUIRE_OUTPUT(native_out);
	sycl_result result = native_task_find_handler(task, backend, &handler);
	return result ? result
		      : native_task_get(handler, SYCL__V1__NATIVE_KIND__NATIVE_KIND_DEVICE, 0,
					native_out);
}

SYCL_API sycl_result sycl_host_task_get_native_memory(sycl_host_task task, sycl_backend backend,
						      uint32_t index, uint64_t *native_out)
{
	const struct handler *handler = NULL;
	REQUIRE_OUTPUT(native_out);
	sycl_result result = native_task_find_handler(task, backend, &handler);
	if (result)
		return result;
	if (index >= handler->arguments.count ||
	    handler_argument_at(handler, index)->kind != HANDLER_ARGUMENT_HOST)
		return error_set(SYCL_ERROR_INVALID, "the host task has no host accessor %u",
				 index);
	const struct handler_argument *argument = handler_argument_at(handler, index);
	const struct buffer *buffer =
		handler_requirement_at(handler, argument->requirement)->buffer;
	if (buffer->image_format)
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "an image has no native memory here");
	if (buffer->size_bytes == 0)
		return error_set(SYCL_ERROR_INVALID, "a buffer of 0 bytes has no memory");
	struct buffer *root = buffer_root((struct buffer *)(uintptr_t)buffer);
	return handler->bridge ? bridge_memory_get(handler->bridge, root, native_out)
			       : native_task_get(handler, SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY,
						 root->remote.id, native_out);
}
