/* USM in a command group: pointers as arguments, and the actions. */
#include "handler/handler.h"
#include "usm/usm.h"

#include <inttypes.h>
#include <string.h>

static uint64_t usm_context_of(const struct handler *handler)
{
	return handler->queue->context->remote.id;
}

/* Finds the USM of the queue's context that holds the whole range and is accessible to its device.
 * `what`: the name in errors. */
static sycl_result usm_find_in_context(const struct handler *handler, const void *pointer,
				       uint64_t size_bytes, const char *what,
				       struct usm_allocation *found_out)
{
	struct connection *c = handler->object.connection;
	if (usm_find(c, usm_context_of(handler), pointer, size_bytes, found_out))
		return SYCL_SUCCESS;
	if (size_bytes == 0)
		return error_set(SYCL_ERROR_INVALID,
				 "%s: %p is not inside USM of the queue's context", what, pointer);
	return error_set(SYCL_ERROR_INVALID,
			 "%s: %" PRIu64 " bytes at %p are not inside USM of the queue's context",
			 what, size_bytes, pointer);
}

static sycl_result usm_find_on_device(const struct handler *handler, const void *pointer,
				      uint64_t size_bytes, const char *what,
				      struct usm_allocation *found_out)
{
	sycl_result result = usm_find_in_context(handler, pointer, size_bytes, what, found_out);
	if (!result && found_out->kind == SYCL_USM_DEVICE &&
	    found_out->device != handler->queue->device->facts->device)
		return error_set(SYCL_ERROR_INVALID,
				 "%s: %p is memory of another device than the queue's", what,
				 pointer);
	return result;
}

sycl_result usm_check_word(const struct handler *handler, const void *pointer, uint64_t size_bytes,
			   const char *what)
{
	struct usm_allocation found;
	return usm_find_on_device(handler, pointer, size_bytes, what, &found);
}

static sycl_result check_usm_argument(const struct handler *handler, const void *pointer)
{
	struct usm_allocation found;
	return pointer ? usm_find_on_device(handler, pointer, 0, "an argument", &found)
		       : SYCL_SUCCESS;
}

sycl_result handler_set_usm(struct handler *handler, uint32_t index, const void *pointer)
{
	sycl_result result = check_usm_argument(handler, pointer);
	if (result)
		return result;
	return handler_set_argument(handler, index,
				    (struct handler_argument){.kind = HANDLER_ARGUMENT_USM,
							      .offset_bytes = (uintptr_t)pointer});
}

SYCL_API sycl_result sycl_handler_set_usm(sycl_handler handle, uint32_t index, const void *pointer)
{
	PIN(handler, handler, handle);
	return handler_set_usm(handler, index, pointer);
}

/* Checks one end of a copy, which is USM or the program's own memory. */
static sycl_result usm_action_check_end(const struct handler *handler, const void *pointer,
					uint64_t size_bytes, const char *what, bool *is_program_out)
{
	struct connection *c = handler->object.connection;
	struct usm_allocation found;
	*is_program_out = false;
	if (!pointer)
		return error_set(SYCL_ERROR_INVALID, "the copy's %s is NULL", what);
	if (usm_is_near(c, pointer))
		return usm_find_in_context(handler, pointer, size_bytes, what, &found);
	*is_program_out = true;
	return SYCL_SUCCESS;
}

static sycl_result usm_check_copy_ends(const struct handler *handler, bool *program_destination_out,
				       bool *program_source_out)
{
	uintptr_t to = (uintptr_t)handler->usm.destination, from = (uintptr_t)handler->usm.source;
	if (handler->size_bytes == 0)
		return SYCL_SUCCESS;
	sycl_result result =
		usm_action_check_end(handler, handler->usm.destination, handler->size_bytes,
				     "destination", program_destination_out);
	if (!result)
		result = usm_action_check_end(handler, handler->usm.source, handler->size_bytes,
					      "source", program_source_out);
	if (!result && (to < from ? from - to : to - from) < handler->size_bytes)
		result = error_set(SYCL_ERROR_INVALID, "the copy's source and destination overlap");
	return result;
}

static sycl_result usm_check_hint(const struct handler *handler)
{
	struct usm_allocation found;
	sycl_result result =
		usm_find_in_context(handler, handler->usm.destination, handler->size_bytes,
				    "a hint about memory", &found);
	if (!result && found.kind != SYCL_USM_SHARED)
		return error_set(SYCL_ERROR_INVALID, "prefetch and advice are for shared USM only");
	return result;
}

/* Checks the program's end of a copy, which was USM of the host when it was set. */
static sycl_result usm_check_host_end(const struct handler *handler)
{
	const struct box_pitch *pitch =
		handler->host_source ? &handler->box.source : &handler->box.destination;
	const void *end = handler_host_end(handler);
	uint64_t span = 0;
	(void)copy_box_span(&handler->box, pitch, &span);
	if (usm_find_host_end(handler->object.connection, usm_context_of(handler), end, span) ==
	    USM_HOST_DIRECT)
		return SYCL_SUCCESS;
	return error_set(SYCL_ERROR_INVALID,
			 "a copy: %" PRIu64
			 " bytes at %p are not inside host memory of the queue's context",
			 span, end);
}

static sycl_result check_action(const struct handler *handler)
{
	struct usm_allocation found;
	bool to, from;
	switch (handler->action) {
	case HANDLER_ACTION_COPY:
		return handler->host_is_usm ? usm_check_host_end(handler) : SYCL_SUCCESS;
	case HANDLER_ACTION_USM_COPY:
		return usm_check_copy_ends(handler, &to, &from);
	case HANDLER_ACTION_USM_FILL:
		return handler->size_bytes
			       ? usm_find_on_device(handler, handler->usm.destination,
						    handler->size_bytes, "a fill", &found)
			       : SYCL_SUCCESS;
	case HANDLER_ACTION_USM_PREFETCH:
	case HANDLER_ACTION_USM_ADVISE:
		return usm_check_hint(handler);
	case HANDLER_ACTION_CONDITION:
		return handler->usm.source ? usm_check_word(handler, handler->usm.source,
							    sizeof(uint32_t), "a condition")
					   : SYCL_SUCCESS;
	default:
		return SYCL_SUCCESS;
	}
}

sycl_result usm_check(const struct handler *handler)
{
	sycl_result result = check_action(handler);
	if (!handler_may_have(handler, 1u << HANDLER_ARGUMENT_USM))
		return result;
	for (uint32_t i = 0; !result && i < handler->arguments.count; i++) {
		const struct handler_argument *argument = handler_argument_at(handler, i);
		if (argument->kind == HANDLER_ARGUMENT_USM)
			result = check_usm_argument(
				handler, (const void *)(uintptr_t)argument->offset_bytes);
	}
	return result;
}

/* Sets the handler's action, unless it is invalid or the handler has one already. */
static sycl_result set_action(struct handler *handler, enum handler_action action,
			      const void *destination, const void *source, uint64_t size_bytes)
{
	sycl_result result = handler_check_no_action(handler);
	if (result)
		return result;
	handler->action = action;
	handler->usm.destination = (void *)(uintptr_t)destination;
	handler->usm.source = source;
	handler->size_bytes = size_bytes;
	handler->is_empty = size_bytes == 0;
	result = action == HANDLER_ACTION_USM_COPY
			 ? usm_check_copy_ends(handler, &handler->usm.program_destination,
					       &handler->usm.program_source)
			 : check_action(handler);
	if (result) {
		handler->action = HANDLER_ACTION_NONE;
		handler->is_empty = false;
	}
	return result;
}

SYCL_API sycl_result sycl_handler_memcpy(sycl_handler handle, void *destination, const void *source,
					 uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	return set_action(handler, HANDLER_ACTION_USM_COPY, destination, source, size_bytes);
}

static sycl_result set_fill(struct handler *handler, void *pointer, uint64_t size_bytes,
			    const void *pattern, size_t pattern_bytes)
{
	if (!pattern || pattern_bytes == 0 || pattern_bytes > FILL_PATTERN_BYTES_MAX)
		return error_set(SYCL_ERROR_INVALID, "a pattern has 1 to %u bytes, not %zu",
				 FILL_PATTERN_BYTES_MAX, pattern_bytes);
	if (size_bytes % pattern_bytes != 0)
		return error_set(SYCL_ERROR_INVALID,
				 "%" PRIu64 " bytes are no multiple of the pattern's %zu",
				 size_bytes, pattern_bytes);
	sycl_result result =
		set_action(handler, HANDLER_ACTION_USM_FILL, pointer, NULL, size_bytes);
	if (result)
		return result;
	memcpy(handler->pattern, pattern, pattern_bytes);
	handler->pattern_bytes = (uint32_t)pattern_bytes;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_memset(sycl_handler handle, void *pointer, int value,
					 uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	const uint8_t byte = (uint8_t)value;
	return set_fill(handler, pointer, size_bytes, &byte, sizeof(byte));
}

SYCL_API sycl_result sycl_handler_usm_fill(sycl_handler handle, void *pointer, uint64_t size_bytes,
					   const void *pattern, size_t pattern_bytes)
{
	PIN(handler, handler, handle);
	return set_fill(handler, pointer, size_bytes, pattern, pattern_bytes);
}

SYCL_API sycl_result sycl_handler_prefetch(sycl_handler handle, const void *pointer,
					   uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	return set_action(handler, HANDLER_ACTION_USM_PREFETCH, pointer, NULL, size_bytes);
}

SYCL_API sycl_result sycl_handler_mem_advise(sycl_handler handle, const void *pointer,
					     uint64_t size_bytes, sycl_mem_advice advice)
{
	PIN(handler, handler, handle);
	if (advice < SYCL_MEM_ADVICE_SET_READ_MOSTLY ||
	    advice > SYCL_MEM_ADVICE_UNSET_ACCESSED_BY_HOST)
		return error_set(SYCL_ERROR_INVALID, "%d is no memory advice", (int)advice);
	sycl_result result =
		set_action(handler, HANDLER_ACTION_USM_ADVISE, pointer, NULL, size_bytes);
	if (!result)
		handler->usm.advice = (uint32_t)advice;
	return result;
}
