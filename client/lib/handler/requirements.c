/* The requirements of a command group. Each buffer or part is listed once, with the union of the
 * accesses (C1 - C4). */
#include "handler/handler.h"

#include "access_mode.h"

#include <inttypes.h>

/* True if both are the same bytes. A sub-buffer of all bytes counts as its buffer. */
static bool requirements_are_of_one_place(struct buffer *a, struct buffer *b)
{
	return a == b || (buffer_root(a) == buffer_root(b) && a->origin_bytes == b->origin_bytes &&
			  a->size_bytes == b->size_bytes);
}

/* True if both share bytes of one root. */
static bool buffers_overlap(struct buffer *a, struct buffer *b)
{
	return buffer_root(a) == buffer_root(b) &&
	       a->origin_bytes < b->origin_bytes + b->size_bytes &&
	       b->origin_bytes < a->origin_bytes + a->size_bytes;
}

/* C4: several targets may name a byte, by the buffer or by any of its parts. Only one of these
 * targets may write it. */
static sycl_result check_writers(const struct handler *handler, const struct handler_demand *demand)
{
	if (!access_mode_writes(demand->mode))
		return SYCL_SUCCESS;
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		const struct handler_requirement *present = handler_requirement_at(handler, i);
		bool is_met = present->buffer == demand->buffer ||
			      buffers_overlap(present->buffer, demand->buffer);
		for (uint32_t t = 0; is_met && t < HANDLER_TARGETS; t++)
			if (t != (uint32_t)demand->target && access_mode_writes(present->modes[t]))
				return error_set_object(
					SYCL_ERROR_INVALID, demand->buffer->remote.id,
					"two targets would write one buffer in one command group: at most one may");
	}
	return SYCL_SUCCESS;
}

static void requirement_unite(struct handler_requirement *requirement, uint32_t mode,
			      sycl_target target)
{
	requirement->modes[target] = access_mode_union(requirement->modes[target], mode);
	requirement->mode = access_mode_union(requirement->mode, mode);
}

/* No accessor names the bytes between two parts. These bytes keep their contents, even if the
 * accessors discard the rest (C7). */
static void requirement_widen(struct handler_requirement *requirement, uint64_t begin, uint64_t end)
{
	if (begin == end)
		return;
	if (requirement->begin == requirement->end) {
		requirement->begin = begin;
		requirement->end = end;
		return;
	}
	if (begin > requirement->end || end < requirement->begin)
		requirement->mode |= ACCESS_KEEP_BIT;
	requirement->begin = begin < requirement->begin ? begin : requirement->begin;
	requirement->end = end > requirement->end ? end : requirement->end;
}

sycl_result handler_check_demand(const struct handler *handler, const struct handler_demand *demand)
{
	struct buffer *buffer = demand->buffer;
	uint64_t offset_bytes = demand->offset_bytes, size_bytes = demand->size_bytes;
	if (buffer->object.connection != handler->object.connection)
		return error_set(SYCL_ERROR_INVALID,
				 "the buffer and the queue belong to different connections");
	if (offset_bytes > buffer->size_bytes || size_bytes > buffer->size_bytes - offset_bytes)
		return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
					"bytes %" PRIu64 " + %" PRIu64
					" lie outside of a buffer of %" PRIu64,
					offset_bytes, size_bytes, buffer->size_bytes);
	sycl_result result = remote_check(&buffer_root(buffer)->remote);
	return result ? result : buffer_check_origin(buffer, handler->queue->device);
}

sycl_result handler_require(struct handler *handler, const struct handler_demand *demand,
			    uint32_t *index_out)
{
	struct buffer *buffer = demand->buffer;
	uint64_t begin = demand->offset_bytes, end = begin + demand->size_bytes;
	sycl_result result = handler_check_demand(handler, demand);
	if (!result)
		result = check_writers(handler, demand);
	if (result)
		return result;
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		struct handler_requirement *present = handler_requirement_at(handler, i);
		if (!requirements_are_of_one_place(present->buffer, buffer))
			continue;
		requirement_unite(present, demand->mode, demand->target);
		requirement_widen(present, begin, end);
		*index_out = i;
		return SYCL_SUCCESS;
	}
	if (handler->requirements.count == REQUIREMENTS_MAX)
		return error_set(SYCL_ERROR_QUOTA, "a command group has at most %u buffers",
				 REQUIREMENTS_MAX);
	result = handler_list_room(&handler->requirements, handler->inline_requirements,
				   sizeof(struct handler_requirement), 1);
	if (result)
		return result;
	*index_out = handler->requirements.count++;
	if (demand->pinned)
		*demand->pinned = NULL;
	else
		object_ref(&buffer->object);
	struct handler_requirement *made = handler_requirement_at(handler, *index_out);
	*made = (struct handler_requirement){
		.buffer = buffer, .mode = demand->mode, .begin = begin, .end = end};
	made->modes[demand->target] = demand->mode;
	return SYCL_SUCCESS;
}

sycl_result handler_add_requirement(struct handler *handler, struct buffer *buffer, uint32_t mode,
				    uint64_t offset_bytes, uint64_t size_bytes, uint32_t *index_out)
{
	const struct handler_demand demand = {.buffer = buffer,
					      .mode = mode,
					      .target = SYCL_TARGET_DEVICE,
					      .offset_bytes = offset_bytes,
					      .size_bytes = size_bytes};
	return handler_require(handler, &demand, index_out);
}

sycl_result handler_check_origins(const struct handler *handler, const struct device *device)
{
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < handler->requirements.count && !result; i++)
		result = buffer_check_origin(handler_requirement_at(handler, i)->buffer, device);
	return result;
}

SYCL_API sycl_result sycl_handler_require(sycl_handler handle, sycl_buffer buffer_handle,
					  sycl_access_mode mode)
{
	return sycl_handler_require_target(handle, buffer_handle, mode, SYCL_TARGET_DEVICE);
}

SYCL_API sycl_result sycl_handler_require_target(sycl_handler handle, sycl_buffer buffer_handle,
						 sycl_access_mode mode, sycl_target target)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	uint32_t index = 0;
	if (!access_mode_valid((uint32_t)mode))
		return error_set(SYCL_ERROR_INVALID, "%d is no access mode", (int)mode);
	if ((uint32_t)target >= HANDLER_TARGETS)
		return error_set(SYCL_ERROR_INVALID, "%d is no target", (int)target);
	const struct handler_demand demand = {.buffer = buffer,
					      .mode = (uint32_t)mode,
					      .target = target,
					      .size_bytes = buffer->size_bytes};
	return handler_require(handler, &demand, &index);
}

SYCL_API sycl_result sycl_handler_set_constant_accessor(sycl_handler handle, uint32_t index,
							sycl_buffer buffer_handle,
							uint64_t offset_bytes, uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	uint64_t limit = handler->queue->device->facts->max_constant_buffer_bytes;
	if (size_bytes == SYCL_REST_BYTES && offset_bytes <= buffer->size_bytes)
		size_bytes = buffer->size_bytes - offset_bytes;
	if (index >= KERNEL_ARGUMENTS_MAX)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u: a kernel has at most %u arguments", index,
				 KERNEL_ARGUMENTS_MAX);
	if (limit && size_bytes > limit)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u: %" PRIu64
				 " bytes of constant memory; the device takes %" PRIu64,
				 index, size_bytes, limit);
	const struct handler_demand demand = {.buffer = buffer,
					      .mode = ACCESS_MODE_READ,
					      .target = SYCL_TARGET_CONSTANT_BUFFER,
					      .offset_bytes = offset_bytes,
					      .size_bytes = size_bytes};
	uint32_t requirement = 0;
	sycl_result result = handler_require(handler, &demand, &requirement);
	if (result)
		return result;
	return handler_set_argument(handler, index,
				    (struct handler_argument){.kind = HANDLER_ARGUMENT_ACCESSOR,
							      .requirement = requirement,
							      .offset_bytes = offset_bytes});
}
