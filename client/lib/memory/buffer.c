/* Buffers: creation and attributes. Their parts are in buffer_parts.c, their end in
 * buffer_release.c. */
#include "memory/buffer.h"
#include "connection/limits.h"

#include "memory/host_memory.h"
#include "image_format.h"
#include "memory/own_pages.h"
#include "memory/page_copy.h"

#include <inttypes.h>
#include <stdlib.h>

static void buffer_destroy(struct object *object)
{
	struct buffer *buffer = (struct buffer *)object;
	struct connection *c = object->connection;
	connection_await_writer(c);
	/* Before the service releases the buffer, which ends the memory behind a handle. */
	if (buffer->close_imports)
		buffer->close_imports(buffer);
	/* Work that uses the buffer continues. The reply Released frees the buffer's shared memory
	 * (D10, D16). */
	remote_release(c, &buffer->remote);
	free(buffer->remote.why);
	if (buffer->block)
		object_unref(&buffer->block->object);
	arenas_trim(c);
	object_delete(object);
}

static sycl_result buffer_announce(const struct buffer *buffer, const Sycl__V1__ArenaRange *place,
				   const struct buffer_plan *plan, bool *announced_out)
{
	Sycl__V1__BufferCreate create = SYCL__V1__BUFFER_CREATE__INIT;
	create.buffer = buffer->remote.id;
	create.size_bytes = buffer->size_bytes;
	create.range = (Sycl__V1__ArenaRange *)(uintptr_t)place;
	create.initialised = buffer->kind != SYCL_HOST_NONE;
	create.export_kind = (Sycl__V1__ExportKind)plan->share;
	create.device = plan->device;
	create.graph_temporary = plan->is_temporary;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_CREATE;
	command.buffer_create = &create;
	sycl_result result = connection_send(buffer->object.connection, &command);
	*announced_out = result == SYCL_SUCCESS;
	return result;
}

static sycl_result buffer_check_new(const struct connection *c, const struct buffer_plan *plan)
{
	bool pointer = plan->kind != SYCL_HOST_NONE && plan->kind != SYCL_HOST_SHARED;
	if ((uint32_t)plan->kind > SYCL_HOST_OWNED)
		return error_set(SYCL_ERROR_INVALID, "%d is no kind of host memory",
				 (int)plan->kind);
	if (!pointer && plan->host)
		return error_set(SYCL_ERROR_INVALID,
				 "host memory is given, but the kind says that there is none");
	if (pointer && !plan->host && plan->size_bytes > 0)
		return error_set(SYCL_ERROR_INVALID, "the host memory is NULL");
	if (plan->block && plan->block->size_bytes < plan->size_bytes)
		return error_set(SYCL_ERROR_INVALID,
				 "%" PRIu64 " bytes do not fit into a block of %" PRIu64,
				 plan->size_bytes, plan->block->size_bytes);
	uint64_t most = connection_most_buffer_bytes(c);
	if (plan->size_bytes > most || plan->size_bytes > SIZE_MAX / 2)
		return error_set(SYCL_ERROR_QUOTA,
				 "%" PRIu64 " bytes are more than the %" PRIu64
				 " that this session may have",
				 plan->size_bytes, most);
	return SYCL_SUCCESS;
}

/* Names the buffer and gives it shared memory. remote_forget undoes both. */
static sycl_result buffer_equip(struct connection *c, struct buffer *buffer,
				const struct buffer_plan *plan, struct arena_range *range_out)
{
	struct arena_range range = {0, 0, 0};
	void *address = NULL;
	const void *host = plan->block ? plan->block->memory : plan->host;
	sycl_result result = SYCL_SUCCESS;
	if (buffer->size_bytes > 0 && !plan->is_temporary)
		result = arenas_take(c, buffer->size_bytes, &range, &address);
	if (result)
		return result;
	result = remote_name(c, OBJECT_BUFFER, &buffer->remote);
	(void)pthread_mutex_lock(&c->state_lock);
	if (result && range.size_bytes)
		arenas_give(&c->arenas, &range);
	else if (!result)
		object_ids_find(&c->ids, buffer->remote.id)->range = range;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (result)
		return result;
	buffer->address = address;
	if (own_pages_may_wait(buffer)) {
		atomic_store_explicit(&buffer->pages, OWN_PAGES_OUTSIDE, memory_order_relaxed);
	} else if (buffer->kind != SYCL_HOST_NONE && address) {
		result = host_mutex_lock(plan->use_mutex, UINT64_MAX);
		if (result) {
			remote_forget(c, &buffer->remote);
			return result;
		}
		page_copy_now(c, address, host, buffer->size_bytes);
		host_mutex_unlock(plan->use_mutex);
	}
	*range_out = range;
	return SYCL_SUCCESS;
}

static sycl_result buffer_create_remote(struct buffer *buffer, const struct buffer_plan *plan,
					const struct arena_range *range, bool *announced_out)
{
	Sycl__V1__ArenaRange place = SYCL__V1__ARENA_RANGE__INIT;
	place.arena = range->arena;
	place.offset_bytes = range->offset_bytes;
	place.size_bytes = range->size_bytes;
	return (plan->announce ? plan->announce : buffer_announce)(
		buffer, range->size_bytes ? &place : NULL, plan, announced_out);
}

static void buffer_fill_in(struct buffer *buffer, const struct buffer_plan *plan)
{
	buffer->size_bytes = plan->size_bytes;
	buffer->element_bytes = 1;
	buffer->range = sycl_range1(plan->size_bytes);
	buffer->image_format = plan->image_format;
	buffer->image_layered = plan->image_layered;
	if (plan->image_format) {
		buffer->range = plan->image_range;
		buffer->element_bytes = image_pixel_bytes(plan->image_format);
	}
	buffer->kind = plan->kind;
	buffer->share = plan->share;
	buffer->is_temporary = plan->is_temporary;
	buffer->share_device = plan->device;
	buffer->host = plan->kind == SYCL_HOST_BORROWED ? plan->host : NULL;
	buffer->use_mutex = plan->use_mutex;
	buffer->write_back = 1;
	buffer->owners = 1;
}

sycl_result buffer_make(struct connection *c, const struct buffer_plan *plan,
			sycl_buffer *buffer_out)
{
	sycl_result result = buffer_check_new(c, plan);
	if (!result)
		result = connection_check(c);
	if (result)
		return result;
	struct buffer *buffer = object_new(sizeof(*buffer), c);
	if (!buffer)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	buffer_fill_in(buffer, plan);
	struct arena_range range = {0};
	result = buffer_equip(c, buffer, plan, &range);
	enum handle_type type = plan->image_format ? HANDLE_IMAGE : HANDLE_BUFFER;
	if (!result && handle_create(&buffer->object, type, buffer_destroy) < 0) {
		remote_forget(c, &buffer->remote);
		result = error_no_memory();
	}
	if (result) {
		object_delete(&buffer->object);
		return result;
	}
	if (plan->block) {
		buffer->block = plan->block;
		buffer->host = plan->block->memory;
		object_ref(&plan->block->object);
	}
	bool announced = false;
	result = buffer_create_remote(buffer, plan, &range, &announced);
	if (result) {
		struct failure why;
		error_get(&why);
		if (!announced) /* otherwise the service gives the name back */
			remote_forget(c, &buffer->remote);
		object_unref(&buffer->object);
		return error_set_failure(&why);
	}
	*buffer_out = handle_of(&buffer->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_buffer_create(sycl_platform handle, void *host, uint64_t size_bytes,
					sycl_host_memory kind, sycl_buffer *buffer_out)
{
	PIN(platform, platform, handle);
	REQUIRE_OUTPUT(buffer_out);
	if (kind == SYCL_HOST_SHARED || kind == SYCL_HOST_OWNED)
		return error_set(SYCL_ERROR_INVALID,
				 "this kind of host memory needs sycl_buffer_create_with");
	struct buffer_plan plan = {.host = host, .size_bytes = size_bytes, .kind = kind};
	return buffer_make(platform->object.connection, &plan, buffer_out);
}

SYCL_API sycl_result sycl_buffer_create_temporary(sycl_platform handle, uint64_t size_bytes,
						  sycl_buffer *buffer_out)
{
	PIN(platform, platform, handle);
	REQUIRE_OUTPUT(buffer_out);
	struct connection *c = platform->object.connection;
	if (!c->has_temporaries)
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "the service is too old: its graphs have no temporaries");
	const struct buffer_plan plan = {
		.size_bytes = size_bytes, .kind = SYCL_HOST_NONE, .is_temporary = true};
	return buffer_make(c, &plan, buffer_out);
}

static sycl_result buffer_check_options(const struct sycl_buffer_options *options)
{
	if (!options || options->struct_bytes != sizeof(*options))
		return error_set(
			SYCL_ERROR_INVALID,
			"options: NULL, or struct_bytes is wrong; start from SYCL_BUFFER_OPTIONS_INIT");
	if (options->block && options->kind != SYCL_HOST_SHARED)
		return error_set(SYCL_ERROR_INVALID,
				 "a block is given, but the kind is not SYCL_HOST_SHARED");
	if ((options->free_host || options->free_context) && options->kind != SYCL_HOST_OWNED)
		return error_set(
			SYCL_ERROR_INVALID,
			"a function to free the memory is given, but the kind is not SYCL_HOST_OWNED");
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_buffer_create_with(sycl_platform handle,
					     const struct sycl_buffer_options *options,
					     sycl_buffer *buffer_out)
{
	PIN(platform, platform, handle);
	REQUIRE_OUTPUT(buffer_out);
	sycl_result result = buffer_check_options(options);
	if (result)
		return result;
	struct buffer_plan plan = {.host = options->host,
				   .size_bytes = options->size_bytes,
				   .kind = options->kind,
				   .use_mutex = options->use_mutex};
	CLEANUP(host_block_unpin) struct host_block *block = NULL;
	if (options->kind == SYCL_HOST_SHARED)
		result = host_block_pin(options->block, &block);
	plan.block = block;
	if (!result)
		result = buffer_make(platform->object.connection, &plan, buffer_out);
	if (result || options->kind != SYCL_HOST_OWNED || !options->host)
		return result;
	/* The buffer has copied the bytes, so the host memory is not needed any more (D13). */
	if (options->free_host)
		options->free_host(options->host, options->free_context);
	else
		free(options->host);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_buffer_retain(sycl_buffer buffer)
{
	return handle_retain(buffer, HANDLE_BUFFER);
}

SYCL_API sycl_result sycl_buffer_get_reference_count(sycl_buffer buffer, uint32_t *count_out)
{
	return handle_get_reference_count(buffer, HANDLE_BUFFER, count_out);
}

SYCL_API sycl_result sycl_buffer_get_size(sycl_buffer handle, uint64_t *size_bytes_out)
{
	PIN(buffer, buffer, handle);
	REQUIRE_OUTPUT(size_bytes_out);
	*size_bytes_out = buffer->size_bytes;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_buffer_set_write_back(sycl_buffer handle, uint32_t write_back)
{
	PIN(buffer, buffer, handle);
	if (write_back > 1)
		return error_set(SYCL_ERROR_INVALID, "write_back is 0 or 1");
	if (buffer->is_part)
		return error_set(SYCL_ERROR_INVALID,
				 "a sub-buffer cannot be written back by itself");
	atomic_store_explicit(&buffer_root(buffer)->write_back, write_back, memory_order_relaxed);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_buffer_set_final_data(sycl_buffer handle, void *final_data)
{
	PIN(buffer, buffer, handle);
	if (buffer->is_part)
		return error_set(SYCL_ERROR_INVALID,
				 "a sub-buffer cannot be written back by itself");
	if (final_data && buffer_root(buffer)->is_temporary)
		return error_set(SYCL_ERROR_INVALID, "a temporary of graphs is never written back");
	atomic_store_explicit(&buffer_root(buffer)->final_data, final_data, memory_order_relaxed);
	atomic_store_explicit(&buffer_root(buffer)->final_data_set, 1, memory_order_release);
	return SYCL_SUCCESS;
}
