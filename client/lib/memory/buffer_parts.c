/* Sub-buffers, and views of other shapes (C8 - C15): the library's own; the service has whole
 * buffers and ranges. */
#include "memory/buffer.h"

#include <inttypes.h>
#include <stdlib.h>

static void part_destroy(struct object *object)
{
	struct buffer *part = (struct buffer *)object;
	connection_await_writer(object->connection);
	/* A part without bytes has an object of its own at the service. */
	if (part->root)
		object_unref(&part->root->object);
	else
		remote_release(object->connection, &part->remote);
	free(part->remote.why);
	object_unref(&part->family->object);
	object_delete(object);
}

/* A part holds its family before its handle is given out, so that the family cannot end
 * meanwhile. */
static sycl_result part_new(struct buffer *of, struct buffer **part_out)
{
	sycl_result result = remote_check(&buffer_root(of)->remote);
	if (result)
		return result;
	struct buffer *part = object_new(sizeof(*part), of->object.connection);
	if (!part)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	if (handle_create(&part->object, HANDLE_BUFFER, part_destroy) < 0) {
		object_delete(&part->object);
		return error_no_memory();
	}
	part->family = of->family ? of->family : of;
	object_ref(&part->family->object);
	atomic_fetch_add_explicit(&part->family->owners, 1, memory_order_relaxed);
	part->root = buffer_root(of);
	object_ref(&part->root->object);
	part->remote.id = part->root->remote.id;
	part->kind = SYCL_HOST_NONE;
	*part_out = part;
	return SYCL_SUCCESS;
}

static void *buffer_address_at(const struct buffer *buffer, uint64_t offset)
{
	return buffer->address ? (uint8_t *)buffer->address + offset : NULL;
}

/* A part without bytes shares nothing with its buffer, and is not ordered with it. So the service
 * gets a separate buffer for it. */
static sycl_result announce_empty(struct buffer *part)
{
	struct connection *c = part->object.connection;
	object_unref(&part->root->object);
	part->root = NULL;
	part->origin_bytes = 0;
	part->remote.id = 0;
	part->address = NULL;
	sycl_result result = remote_name(c, OBJECT_BUFFER, &part->remote);
	if (result)
		return result;
	Sycl__V1__BufferCreate create = SYCL__V1__BUFFER_CREATE__INIT;
	create.buffer = part->remote.id;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_CREATE;
	command.buffer_create = &create;
	result = connection_send(c, &command);
	if (result)
		remote_forget(c, &part->remote);
	return result;
}

SYCL_API sycl_result sycl_buffer_create_sub(sycl_buffer handle, uint64_t offset_bytes,
					    uint64_t size_bytes, sycl_buffer *sub_out)
{
	PIN(buffer, buffer, handle);
	REQUIRE_OUTPUT(sub_out);
	if (buffer->is_part)
		return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
					"a sub-buffer has no sub-buffers");
	if (offset_bytes > buffer->size_bytes || size_bytes > buffer->size_bytes - offset_bytes)
		return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
					"bytes %" PRIu64 " + %" PRIu64
					" lie outside of a buffer of %" PRIu64,
					offset_bytes, size_bytes, buffer->size_bytes);
	struct buffer *part = NULL;
	sycl_result result = part_new(buffer, &part);
	if (result)
		return result;
	part->is_part = true;
	part->origin_bytes = offset_bytes;
	part->size_bytes = size_bytes;
	part->element_bytes = 1;
	part->range = sycl_range1(size_bytes);
	part->address = buffer_address_at(part->root, offset_bytes);
	if (size_bytes == 0)
		result = announce_empty(part);
	if (result) {
		atomic_fetch_sub_explicit(&part->family->owners, 1, memory_order_relaxed);
		object_unref(&part->object);
		return result;
	}
	*sub_out = handle_of(&part->object);
	return SYCL_SUCCESS;
}

static sycl_result check_part_shape(const struct buffer *buffer, uint64_t element_bytes,
				    const sycl_range *range)
{
	uint64_t bytes = element_bytes;
	bool fits = true, empty = element_bytes == 0;
	if (range->dimensions < 1 || range->dimensions > 3 || range->reserved != 0)
		return error_set(
			SYCL_ERROR_INVALID,
			"a view must have 1 to 3 dimensions, and its reserved member must be 0");
	for (uint32_t i = 0; i < range->dimensions; i++) {
		fits = !__builtin_mul_overflow(bytes, range->size[i], &bytes) && fits;
		empty = empty || range->size[i] == 0;
	}
	if (element_bytes == 0)
		return error_set(SYCL_ERROR_INVALID, "an element has at least one byte");
	if (empty ? buffer->size_bytes != 0 : !fits || bytes != buffer->size_bytes)
		return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
					"the view's elements are not exactly the buffer's %" PRIu64
					" bytes",
					buffer->size_bytes);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_buffer_reinterpret(sycl_buffer handle, uint64_t element_bytes,
					     sycl_range range, sycl_buffer *view_out)
{
	PIN(buffer, buffer, handle);
	REQUIRE_OUTPUT(view_out);
	sycl_result result = check_part_shape(buffer, element_bytes, &range);
	struct buffer *view = NULL;
	if (!result)
		result = part_new(buffer, &view);
	if (result)
		return result;
	view->is_part = buffer->is_part;
	view->origin_bytes = buffer->origin_bytes;
	view->size_bytes = buffer->size_bytes;
	view->element_bytes = element_bytes;
	view->range = range;
	view->address = buffer->address;
	*view_out = handle_of(&view->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_buffer_get_shape(sycl_buffer handle, uint64_t *element_bytes_out,
					   sycl_range *range_out)
{
	PIN(buffer, buffer, handle);
	if (!element_bytes_out && !range_out)
		return error_set(SYCL_ERROR_INVALID,
				 "element_bytes_out and range_out are both NULL");
	if (element_bytes_out)
		*element_bytes_out = buffer->element_bytes;
	if (range_out)
		*range_out = buffer->range;
	return SYCL_SUCCESS;
}

sycl_result buffer_check_graphs(struct buffer *buffer)
{
	if (atomic_load_explicit(&buffer_root(buffer)->graphs, memory_order_relaxed) == 0)
		return SYCL_SUCCESS;
	return error_set_object(
		SYCL_ERROR_INVALID, buffer->remote.id,
		"a graph uses the buffer: release the graph before the host accesses it");
}

sycl_result buffer_check_origin(const struct buffer *buffer, const struct device *device)
{
	uint64_t alignment = device->facts->mem_base_addr_align_bits / 8;
	if (!buffer->is_part || alignment == 0 || buffer->origin_bytes % alignment == 0)
		return SYCL_SUCCESS;
	return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
				"the sub-buffer begins at byte %" PRIu64
				" of its buffer; %.64s needs a multiple of %" PRIu64
				" bytes (its mem_base_addr_align)",
				buffer->origin_bytes, device->facts->name, alignment);
}
