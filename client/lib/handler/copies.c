/* The actions that move bytes: all kinds of copies, fills, and updates of the host (D20). */
#include "handler/handler.h"
#include "host_task/host_tasks.h"
#include "usm/usm.h"

#include "access_mode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A box, and the offset of its first byte on both sides. */
struct copy_plan {
	struct copy_box box;
	uint64_t source_offset, destination_offset;
	uint64_t source_span, destination_span;
};

static sycl_result plan_spans(struct copy_plan *plan)
{
	uint64_t bytes = 0;
	if (!copy_box_bytes(&plan->box, &bytes) ||
	    !copy_box_span(&plan->box, &plan->box.source, &plan->source_span) ||
	    !copy_box_span(&plan->box, &plan->box.destination, &plan->destination_span))
		return error_set(SYCL_ERROR_INVALID,
				 "rows or slices of the box overlap, or exceed 64 bits");
	return SYCL_SUCCESS;
}

/* Missing pitches follow from the given ones. An overflow makes a pitch too small, and plan_spans
 * refuses it. */
static struct box_pitch pitch_of(const struct sycl_copy_rect *rect, uint64_t row_bytes,
				 uint64_t slice_bytes)
{
	struct box_pitch pitch = {row_bytes ? row_bytes : rect->width_bytes, slice_bytes};
	if (slice_bytes == 0 &&
	    __builtin_mul_overflow(pitch.row_bytes, rect->rows, &pitch.slice_bytes))
		pitch.slice_bytes = 0;
	return pitch;
}

static sycl_result plan_rect(const struct sycl_copy_rect *rect, struct copy_plan *plan)
{
	if (!rect || rect->struct_bytes != sizeof(*rect) || rect->reserved != 0)
		return error_set(SYCL_ERROR_INVALID,
				 "rect: NULL, or struct_bytes or reserved is wrong; start from "
				 "SYCL_COPY_RECT_INIT");
	*plan = (struct copy_plan){
		.box = {.width_bytes = rect->width_bytes,
			.rows = rect->rows,
			.slices = rect->slices,
			.source = pitch_of(rect, rect->source_row_pitch_bytes,
					   rect->source_slice_pitch_bytes),
			.destination = pitch_of(rect, rect->destination_row_pitch_bytes,
						rect->destination_slice_pitch_bytes)},
		.source_offset = rect->source_offset_bytes,
		.destination_offset = rect->destination_offset_bytes,
	};
	return plan_spans(plan);
}

static struct copy_plan plan_bytes(uint64_t source_offset, uint64_t destination_offset,
				   uint64_t size_bytes)
{
	struct copy_box box = {.width_bytes = size_bytes, .rows = 1, .slices = 1};
	box.source = box.destination = copy_box_tight(&box);
	return (struct copy_plan){box, source_offset, destination_offset, size_bytes, size_bytes};
}

/* If bytes are written without a gap, their former contents are not needed (C6). */
static uint32_t write_mode(const struct copy_plan *plan)
{
	bool gapless =
		plan->box.width_bytes * plan->box.rows * plan->box.slices == plan->destination_span;
	return gapless ? ACCESS_MODE_WRITE_NO_INIT : ACCESS_MODE_WRITE;
}

static void set_copy(struct handler *handler, const struct copy_plan *plan)
{
	handler->action = HANDLER_ACTION_COPY;
	handler->is_empty = copy_box_empty(&plan->box);
	handler->box = handler->is_empty ? plan->box : copy_box_simplify(&plan->box);
	handler->source_offset_bytes = plan->source_offset;
	handler->destination_offset_bytes = plan->destination_offset;
}

static sycl_result copy_between(struct handler *handler, struct buffer *source,
				struct buffer *destination, const struct copy_plan *plan)
{
	struct handler_demand from = {.buffer = source,
				      .mode = ACCESS_MODE_READ,
				      .offset_bytes = plan->source_offset,
				      .size_bytes = plan->source_span};
	struct handler_demand to = {.buffer = destination,
				    .mode = write_mode(plan),
				    .offset_bytes = plan->destination_offset,
				    .size_bytes = plan->destination_span};
	sycl_result result = handler_check_no_action(handler);
	if (!result)
		result = handler_check_demand(handler, &from);
	if (!result)
		result = handler_check_demand(handler, &to);
	if (result)
		return result;
	if (buffer_root(source) == buffer_root(destination) &&
	    copy_box_overlaps(&plan->box, source->origin_bytes + plan->source_offset,
			      destination->origin_bytes + plan->destination_offset))
		return error_set_object(SYCL_ERROR_INVALID, source->remote.id,
					"the copy's source and destination overlap in one buffer");
	uint32_t first = 0, second = 0;
	result = handler_require(handler, &from, &first);
	if (!result)
		result = handler_require(handler, &to, &second);
	if (result)
		return result;
	set_copy(handler, plan);
	handler->source = first;
	handler->destination = second;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_copy(sycl_handler handle, sycl_buffer source_handle,
				       uint64_t source_offset_bytes, sycl_buffer destination_handle,
				       uint64_t destination_offset_bytes, uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, source, source_handle);
	PIN(buffer, destination, destination_handle);
	struct copy_plan plan =
		plan_bytes(source_offset_bytes, destination_offset_bytes, size_bytes);
	return copy_between(handler, source, destination, &plan);
}

SYCL_API sycl_result sycl_handler_copy_rect(sycl_handler handle, sycl_buffer source_handle,
					    sycl_buffer destination_handle,
					    const struct sycl_copy_rect *rect)
{
	PIN(handler, handler, handle);
	PIN(buffer, source, source_handle);
	PIN(buffer, destination, destination_handle);
	struct copy_plan plan;
	sycl_result result = plan_rect(rect, &plan);
	return result ? result : copy_between(handler, source, destination, &plan);
}

/* One side of a copy of elements in three dimensions. Unused dimensions come first and have size 1
 * (C18). */
static sycl_result shape_side(const struct buffer *buffer, const uint64_t *id,
			      const sycl_range *count, struct box_pitch *pitch_out,
			      uint64_t *offset_out)
{
	uint64_t size[3] = {1, 1, 1}, at[3] = {0, 0, 0};
	uint32_t skip = 3 - count->dimensions;
	for (uint32_t i = 0; i < count->dimensions; i++) {
		size[skip + i] = buffer->range.size[i];
		at[skip + i] = id ? id[i] : 0;
		if (at[skip + i] > size[skip + i] || count->size[i] > size[skip + i] - at[skip + i])
			return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
						"dimension %u: %" PRIu64 " elements from %" PRIu64
						" lie outside of a shape of %" PRIu64,
						i, count->size[i], at[skip + i], size[skip + i]);
	}
	pitch_out->row_bytes = size[2] * buffer->element_bytes;
	pitch_out->slice_bytes = size[1] * pitch_out->row_bytes;
	*offset_out = buffer->size_bytes == 0
			      ? 0
			      : at[0] * pitch_out->slice_bytes + at[1] * pitch_out->row_bytes +
					at[2] * buffer->element_bytes;
	return SYCL_SUCCESS;
}

static sycl_result check_shapes(const struct buffer *source, const struct buffer *destination,
				const sycl_range *count)
{
	if (count->dimensions < 1 || count->dimensions > 3 || count->reserved != 0)
		return error_set(SYCL_ERROR_INVALID,
				 "count has 1 to 3 dimensions, and its reserved member is 0");
	if (source->range.dimensions != count->dimensions ||
	    destination->range.dimensions != count->dimensions)
		return error_set(SYCL_ERROR_INVALID,
				 "the shapes and the count have different numbers of dimensions");
	if (source->element_bytes != destination->element_bytes)
		return error_set(SYCL_ERROR_INVALID,
				 "elements of %" PRIu64
				 " bytes cannot be copied to elements of %" PRIu64,
				 source->element_bytes, destination->element_bytes);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_copy_elements(sycl_handler handle, sycl_buffer source_handle,
						const uint64_t *source_id,
						sycl_buffer destination_handle,
						const uint64_t *destination_id, sycl_range count)
{
	PIN(handler, handler, handle);
	PIN(buffer, source, source_handle);
	PIN(buffer, destination, destination_handle);
	struct copy_plan plan = {.source_offset = 0};
	sycl_result result = check_shapes(source, destination, &count);
	if (!result)
		result = shape_side(source, source_id, &count, &plan.box.source,
				    &plan.source_offset);
	if (!result)
		result = shape_side(destination, destination_id, &count, &plan.box.destination,
				    &plan.destination_offset);
	if (result)
		return result;
	uint32_t last = count.dimensions - 1;
	plan.box.width_bytes = count.size[last] * source->element_bytes;
	plan.box.rows = last >= 1 ? count.size[last - 1] : 1;
	plan.box.slices = last >= 2 ? count.size[0] : 1;
	result = plan_spans(&plan);
	return result ? result : copy_between(handler, source, destination, &plan);
}

/* Checks whether the engine can use the program's end of a copy at its own address. `what`: its
 * name in errors. */
static sycl_result find_host_end(const struct handler *handler, const void *memory,
				 uint64_t offset_bytes, uint64_t span_bytes, const char *what,
				 bool *is_usm_out)
{
	const void *first = (const void *)((uintptr_t)memory + offset_bytes);
	enum usm_host_end end = usm_find_host_end(
		handler->object.connection, handler->queue->context->remote.id, first, span_bytes);
	if (end == USM_HOST_WRONG)
		return error_set(SYCL_ERROR_INVALID,
				 "the %s: %" PRIu64 " bytes at %p are not inside USM of the host",
				 what, span_bytes, first);
	*is_usm_out = end == USM_HOST_DIRECT;
	return SYCL_SUCCESS;
}

static sycl_result copy_from_host(struct handler *handler, const void *source,
				  struct buffer *destination, const struct copy_plan *plan)
{
	struct handler_demand to = {.buffer = destination,
				    .mode = write_mode(plan),
				    .offset_bytes = plan->destination_offset,
				    .size_bytes = plan->destination_span};
	sycl_result result = handler_check_no_action(handler);
	bool is_usm = false;
	if (!result && !source && !copy_box_empty(&plan->box))
		result = error_set(SYCL_ERROR_INVALID, "the source is NULL");
	if (!result && !copy_box_empty(&plan->box))
		result = find_host_end(handler, source, plan->source_offset, plan->source_span,
				       "source", &is_usm);
	uint32_t index = 0;
	if (!result)
		result = handler_require(handler, &to, &index);
	if (result)
		return result;
	set_copy(handler, plan);
	handler->destination = index;
	handler->host_source = source;
	handler->host_is_usm = is_usm;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_copy_from_host(sycl_handler handle, const void *source,
						 sycl_buffer destination_handle,
						 uint64_t destination_offset_bytes,
						 uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, destination, destination_handle);
	struct copy_plan plan = plan_bytes(0, destination_offset_bytes, size_bytes);
	return copy_from_host(handler, source, destination, &plan);
}

SYCL_API sycl_result sycl_handler_copy_rect_from_host(sycl_handler handle, const void *source,
						      sycl_buffer destination_handle,
						      const struct sycl_copy_rect *rect)
{
	PIN(handler, handler, handle);
	PIN(buffer, destination, destination_handle);
	struct copy_plan plan;
	sycl_result result = plan_rect(rect, &plan);
	return result ? result : copy_from_host(handler, source, destination, &plan);
}

/* A copy that a host task of the library makes, in either direction. The handler holds the buffer,
 * so its shared memory stays. */
struct copy_out {
	struct copy_box box;
	const void *source;
	void *destination;
};

static sycl_result copy_out_run(sycl_host_task task, void *user_data)
{
	const struct copy_out *copy = user_data;
	(void)task;
	copy_box_move(&copy->box, copy->destination, copy->source);
	return SYCL_SUCCESS;
}

sycl_result handler_copy_as_task(const struct handler *handler, struct handler **task_out)
{
	const struct buffer *destination =
		handler_requirement_at(handler, handler->destination)->buffer;
	struct copy_out *copy = malloc(sizeof(*copy));
	if (!copy)
		return error_no_memory();
	struct handler *task = NULL;
	sycl_result result = handler_clone(handler, &task);
	if (result) {
		free(copy);
		return result;
	}
	*copy = (struct copy_out){
		.box = handler->box,
		.source = (const uint8_t *)handler->host_source + handler->source_offset_bytes,
		.destination = (uint8_t *)destination->address + handler->destination_offset_bytes,
	};
	task->action = HANDLER_ACTION_HOST_TASK;
	task->host_source = NULL;
	task->host_function = copy_out_run;
	task->user_data = copy;
	task->destroy_user_data = free;
	*task_out = task;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_read_late(sycl_handler handle)
{
	PIN(handler, handler, handle);
	if (handler->action != HANDLER_ACTION_COPY || !handler->host_source)
		return error_set(SYCL_ERROR_INVALID,
				 "the group's action is no copy from memory of the program");
	if (handler->host_is_usm || handler->is_empty)
		return SYCL_SUCCESS; /* the device itself reads USM when the group runs */
	const struct buffer *destination =
		handler_requirement_at(handler, handler->destination)->buffer;
	sycl_result result = handler_set_copy_out(
		handler, (const uint8_t *)handler->host_source + handler->source_offset_bytes,
		(uint8_t *)destination->address + handler->destination_offset_bytes, &handler->box);
	if (!result) {
		handler->host_source = NULL;
		handler->image_part = false;
	}
	return result;
}

sycl_result handler_set_copy_out(struct handler *handler, const void *source, void *destination,
				 const struct copy_box *box)
{
	struct copy_out *copy = malloc(sizeof(*copy));
	if (!copy)
		return error_no_memory();
	*copy = (struct copy_out){
		.box = copy_box_simplify(box), .source = source, .destination = destination};
	handler->action = HANDLER_ACTION_HOST_TASK;
	handler->host_function = copy_out_run;
	handler->user_data = copy;
	handler->destroy_user_data = free;
	return SYCL_SUCCESS;
}

static sycl_result copy_to_host(struct handler *handler, struct buffer *source, void *destination,
				const struct copy_plan *plan)
{
	bool is_empty = copy_box_empty(&plan->box), is_usm = false;
	sycl_result result = handler_check_no_action(handler);
	if (!result && !destination && !is_empty)
		result = error_set(SYCL_ERROR_INVALID, "the destination is NULL");
	if (!result && !is_empty)
		result = find_host_end(handler, destination, plan->destination_offset,
				       plan->destination_span, "destination", &is_usm);
	uint32_t index = 0;
	const struct handler_demand demand = {.buffer = source,
					      .mode = ACCESS_MODE_READ,
					      .target = is_usm ? SYCL_TARGET_DEVICE
							       : SYCL_TARGET_HOST_TASK,
					      .offset_bytes = plan->source_offset,
					      .size_bytes = plan->source_span};
	if (!result)
		result = handler_require(handler, &demand, &index);
	if (result)
		return result;
	if (!is_empty && !is_usm)
		return handler_set_copy_out(
			handler, (const uint8_t *)source->address + plan->source_offset,
			(uint8_t *)destination + plan->destination_offset, &plan->box);
	set_copy(handler, plan); /* a copy of no bytes is ordered like any copy */
	handler->source = index;
	handler->host_destination = is_usm ? destination : NULL;
	handler->host_is_usm = is_usm;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_copy_to_host(sycl_handler handle, sycl_buffer source_handle,
					       uint64_t source_offset_bytes, void *destination,
					       uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, source, source_handle);
	struct copy_plan plan = plan_bytes(source_offset_bytes, 0, size_bytes);
	return copy_to_host(handler, source, destination, &plan);
}

SYCL_API sycl_result sycl_handler_copy_rect_to_host(sycl_handler handle, sycl_buffer source_handle,
						    void *destination,
						    const struct sycl_copy_rect *rect)
{
	PIN(handler, handler, handle);
	PIN(buffer, source, source_handle);
	struct copy_plan plan;
	sycl_result result = plan_rect(rect, &plan);
	return result ? result : copy_to_host(handler, source, destination, &plan);
}

SYCL_API sycl_result sycl_handler_fill(sycl_handler handle, sycl_buffer buffer_handle,
				       uint64_t offset_bytes, uint64_t size_bytes,
				       const void *pattern, size_t pattern_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	sycl_result result = handler_check_no_action(handler);
	if (result)
		return result;
	if (!pattern || pattern_bytes == 0 || pattern_bytes > FILL_PATTERN_BYTES_MAX)
		return error_set(SYCL_ERROR_INVALID, "a pattern has 1 to %u bytes, not %zu",
				 FILL_PATTERN_BYTES_MAX, pattern_bytes);
	if (size_bytes % pattern_bytes != 0)
		return error_set(SYCL_ERROR_INVALID,
				 "%" PRIu64 " bytes are no multiple of the pattern's %zu",
				 size_bytes, pattern_bytes);
	uint32_t index = 0;
	result = handler_add_requirement(handler, buffer, ACCESS_MODE_WRITE_NO_INIT, offset_bytes,
					 size_bytes, &index);
	if (result)
		return result;
	handler->action = HANDLER_ACTION_FILL;
	handler->destination = index;
	handler->destination_offset_bytes = offset_bytes;
	handler->size_bytes = size_bytes;
	memcpy(handler->pattern, pattern, pattern_bytes);
	handler->pattern_bytes = (uint32_t)pattern_bytes;
	handler->is_empty = size_bytes == 0;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_update_host(sycl_handler handle, sycl_buffer buffer_handle)
{
	return sycl_handler_update_host_part(handle, buffer_handle, 0, SYCL_REST_BYTES);
}

SYCL_API sycl_result sycl_handler_update_host_part(sycl_handler handle, sycl_buffer buffer_handle,
						   uint64_t offset_bytes, uint64_t size_bytes)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	sycl_result result = handler_check_no_action(handler);
	if (result)
		return result;
	if (size_bytes == SYCL_REST_BYTES && offset_bytes <= buffer->size_bytes)
		size_bytes = buffer->size_bytes - offset_bytes;
	uint32_t index = 0;
	result = handler_add_requirement(handler, buffer, ACCESS_MODE_READ, offset_bytes,
					 size_bytes, &index);
	if (result)
		return result;
	handler->action = HANDLER_ACTION_UPDATE;
	handler->source = index;
	handler->is_empty = size_bytes == 0;
	return SYCL_SUCCESS;
}
