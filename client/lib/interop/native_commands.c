#include "interop/native_commands.h"

#include "handler/handler.h"
#include "interop/bridge.h"
#include "native_scope.h"

#include <stdlib.h>
#include <string.h>

struct native_accessor {
	bool is_set;
	uint32_t memory; /* index in the scope's memories */
	uint64_t offset_bytes;
};

struct native_call {
	struct native_calls *calls;
	struct native_call *previous, *next;
	struct native_action *action; /* a reference */
	uint32_t backend;
	uint32_t accessor_count;
	struct native_accessor accessors[];
};

/* The call that this thread is running. */
struct sycl_interop_handle_s {
	const struct native_call *call;
	const struct backend_native_scope *scope;
};
static _Thread_local struct sycl_interop_handle_s *running;

void native_calls_init(struct native_calls *calls)
{
	calls->first = NULL;
	(void)pthread_mutex_init(&calls->lock, NULL);
}

/* Out of the list, and over. */
static void native_call_end(struct native_call *call)
{
	struct native_calls *calls = call->calls;
	(void)pthread_mutex_lock(&calls->lock);
	if (call->previous)
		call->previous->next = call->next;
	else
		calls->first = call->next;
	if (call->next)
		call->next->previous = call->previous;
	(void)pthread_mutex_unlock(&calls->lock);
	native_action_drop(call->action);
	free(call);
}

void native_calls_fini(struct native_calls *calls)
{
	while (calls->first)
		native_call_end(calls->first);
	(void)pthread_mutex_destroy(&calls->lock);
}

static void copy_accessors(struct native_call *call, const struct handler *handler)
{
	for (uint32_t i = 0; i < call->accessor_count; i++) {
		const struct handler_argument *argument = handler_argument_at(handler, i);
		if (argument->kind != HANDLER_ARGUMENT_ACCESSOR)
			continue;
		const struct buffer *buffer =
			handler_requirement_at(handler, argument->requirement)->buffer;
		call->accessors[i] = (struct native_accessor){
			.is_set = true,
			.memory = argument->requirement,
			.offset_bytes =
				(buffer->root ? buffer->origin_bytes : 0) + argument->offset_bytes,
		};
	}
}

/* Makes a call that is in no list. */
static struct native_call *native_call_make(const struct handler *handler)
{
	uint32_t count = handler->arguments.count;
	struct native_call *call = calloc(1, sizeof(*call) + count * sizeof(call->accessors[0]));
	if (!call)
		return NULL;
	call->action = handler->native;
	call->backend = handler->queue->line->backend;
	call->accessor_count = count;
	copy_accessors(call, handler);
	return call;
}

sycl_result native_call_here(const struct handler *handler,
			     const struct backend_native_scope *scope)
{
	struct native_call *call = native_call_make(handler);
	if (!call)
		return error_no_memory();
	struct sycl_interop_handle_s handle = {.call = call, .scope = scope};
	running = &handle;
	sycl_result result = call->action->function(&handle, call->action->user_data);
	running = NULL;
	free(call);
	return result;
}

sycl_result native_call_new(struct connection *c, const struct handler *handler,
			    struct native_call **call_out)
{
	struct native_call *call = native_call_make(handler);
	if (!call)
		return error_no_memory();
	call->calls = c->native_calls;
	native_action_hold(call->action);
	(void)pthread_mutex_lock(&call->calls->lock);
	call->next = call->calls->first;
	if (call->next)
		call->next->previous = call;
	call->calls->first = call;
	(void)pthread_mutex_unlock(&call->calls->lock);
	*call_out = call;
	return SYCL_SUCCESS;
}

void native_call_discard(struct native_call *call)
{
	if (call)
		native_call_end(call);
}

/*
 * Called once for each call, on a thread of the engine. `scope` is NULL if the group failed before.
 */
static int native_call_run(void *context, const struct backend_native_scope *scope)
{
	struct native_call *call = context;
	struct sycl_interop_handle_s handle = {.call = call, .scope = scope};
	sycl_result result = SYCL_SUCCESS;
	if (scope) {
		running = &handle;
		result = call->action->function(&handle, call->action->user_data);
		running = NULL;
	}
	native_call_end(call);
	return result;
}

/* The address of `run`, for the engine. */
static uint64_t entry_address(void)
{
	backend_native_function *function = native_call_run;
	uintptr_t address = 0;
	memcpy(&address, &function, sizeof(address));
	return address;
}

uint64_t native_call_context(const struct native_call *call)
{
	return (uintptr_t)call;
}

SYCL_API sycl_result sycl_handler_native_command(sycl_handler handle,
						 sycl_native_command_function *function,
						 void *user_data, sycl_user_data_destroy *destroy)
{
	PIN(handler, handler, handle);
	if (!function)
		return error_set(SYCL_ERROR_INVALID, "a native command needs a function");
	sycl_result result = handler_check_no_action(handler);
	if (result)
		return result;
	struct connection *c = handler->object.connection;
	struct bridge_context *context = NULL;
	if (!c->engine)
		result = bridge_context_find(c, handler->queue->device, &context);
	if (result)
		return result;
	struct native_action *action = malloc(sizeof(*action));
	if (!action)
		return error_no_memory();
	*action = (struct native_action){
		.references = 1,
		.function = function,
		.user_data = user_data,
		.destroy = destroy,
		.entry = entry_address(),
	};
	handler->action = context ? HANDLER_ACTION_HOST_TASK : HANDLER_ACTION_NATIVE;
	handler->on_device = context != NULL;
	handler->bridge = context;
	handler->native = action;
	return SYCL_SUCCESS;
}

/* --------------------------- requests of a function that runs --------------------------- */

static sycl_result interop_handle_check(sycl_interop_handle handle, const void *output)
{
	if (!handle || handle != running)
		return error_set(SYCL_ERROR_INVALID_HANDLE,
				 "this thread runs no such native command");
	return output ? SYCL_SUCCESS : error_set(SYCL_ERROR_INVALID, "an output is NULL");
}

SYCL_API sycl_result sycl_interop_get_backend(sycl_interop_handle handle, sycl_backend *backend_out)
{
	sycl_result result = interop_handle_check(handle, backend_out);
	if (!result)
		*backend_out = (sycl_backend)handle->call->backend;
	return result;
}

SYCL_API sycl_result sycl_interop_get_native_device(sycl_interop_handle handle,
						    uint64_t *native_out)
{
	sycl_result result = interop_handle_check(handle, native_out);
	if (!result)
		*native_out = handle->scope->device;
	return result;
}

SYCL_API sycl_result sycl_interop_get_native_context(sycl_interop_handle handle,
						     uint64_t *native_out)
{
	sycl_result result = interop_handle_check(handle, native_out);
	if (!result)
		*native_out = handle->scope->context;
	return result;
}

SYCL_API sycl_result sycl_interop_get_native_queue(sycl_interop_handle handle, uint64_t *native_out)
{
	sycl_result result = interop_handle_check(handle, native_out);
	if (!result)
		*native_out = handle->scope->queue;
	return result;
}

SYCL_API sycl_result sycl_interop_get_native_memory(sycl_interop_handle handle, uint32_t index,
						    uint64_t *native_out,
						    uint64_t *offset_bytes_out)
{
	sycl_result result =
		interop_handle_check(handle, native_out && offset_bytes_out ? native_out : NULL);
	if (result)
		return result;
	const struct native_call *call = handle->call;
	if (index >= call->accessor_count || !call->accessors[index].is_set ||
	    call->accessors[index].memory >= handle->scope->memory_count)
		return error_set(SYCL_ERROR_INVALID, "the native command has no accessor %u",
				 index);
	*native_out = handle->scope->memories[call->accessors[index].memory];
	*offset_bytes_out = call->accessors[index].offset_bytes;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_interop_has_graph(sycl_interop_handle handle, uint32_t *has_out)
{
	sycl_result result = interop_handle_check(handle, has_out);
	if (!result)
		*has_out = handle->scope->graph != 0;
	return result;
}

SYCL_API sycl_result sycl_interop_get_native_graph(sycl_interop_handle handle, uint64_t *native_out)
{
	sycl_result result = interop_handle_check(handle, native_out);
	if (result)
		return result;
	if (!handle->scope->graph)
		return error_set(SYCL_ERROR_INVALID, "this native command is no node of a graph");
	*native_out = handle->scope->graph;
	return SYCL_SUCCESS;
}
