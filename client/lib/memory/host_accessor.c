/* Host accessors: objects of the program for host accesses. */
#include "memory/own_pages.h"
#include "memory/buffer.h"

#include "access_mode.h"
#include "clock.h"

#include <inttypes.h>

static void host_accessor_destroy(struct object *object)
{
	struct host_accessor *accessor = (struct host_accessor *)object;
	host_access_end(object->connection, &accessor->access);
	atomic_fetch_sub_explicit(&buffer_root(accessor->buffer)->host_accessors, 1,
				  memory_order_relaxed);
	object_unref(&accessor->buffer->object);
	object_delete(object);
}

struct wanted {
	sycl_access_mode mode;
	uint64_t offset_bytes, size_bytes;
	bool may_give_up; /* the accessor may be released before it is granted */
};

static sycl_result host_accessor_check_wanted(const struct buffer *buffer, struct wanted *wanted)
{
	if (!access_mode_valid((uint32_t)wanted->mode))
		return error_set(SYCL_ERROR_INVALID, "%d is no access mode", (int)wanted->mode);
	if (buffer->root ? buffer->root->is_temporary : buffer->is_temporary)
		return error_set_object(
			SYCL_ERROR_INVALID, buffer->remote.id,
			"a temporary of graphs has no contents outside of launches");
	if (wanted->size_bytes == SYCL_REST_BYTES && wanted->offset_bytes <= buffer->size_bytes)
		wanted->size_bytes = buffer->size_bytes - wanted->offset_bytes;
	if (wanted->offset_bytes > buffer->size_bytes ||
	    wanted->size_bytes > buffer->size_bytes - wanted->offset_bytes)
		return error_set_object(
			SYCL_ERROR_INVALID, buffer->remote.id,
			"bytes %" PRIu64 " + %" PRIu64 " lie outside of a buffer of %" PRIu64,
			wanted->offset_bytes, wanted->size_bytes, buffer->size_bytes);
	return SYCL_SUCCESS;
}

/* A reference of the caller, with a place in the order. */
static sycl_result host_accessor_make(struct buffer *buffer, struct wanted wanted,
				      struct host_accessor **accessor_out)
{
	static _Alignas(64) uint8_t nothing[64]; /* the pointer of an accessor to an empty buffer */
	sycl_result result = host_accessor_check_wanted(buffer, &wanted);
	if (!result)
		result = buffer_check_graphs(buffer);
	if (result)
		return result;
	struct host_accessor *accessor = object_new(sizeof(*accessor), buffer->object.connection);
	if (!accessor)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	/* When the access is requested, the engine drops contents that are not needed. It does not
	 * wait for the grant. So an access that may be given up keeps the contents. */
	uint32_t mode = (uint32_t)wanted.mode | (wanted.may_give_up ? ACCESS_KEEP_BIT : 0);
	if (handle_create(&accessor->object, HANDLE_HOST_ACCESSOR, host_accessor_destroy) < 0) {
		object_delete(&accessor->object);
		return error_no_memory();
	}
	accessor->buffer = buffer;
	accessor->pointer =
		buffer->address ? (uint8_t *)buffer->address + wanted.offset_bytes : nothing;
	object_ref(&buffer->object);
	struct buffer *root = buffer_root(buffer);
	atomic_fetch_add_explicit(&root->host_accessors, 1, memory_order_relaxed);
	result = own_pages_request_host_access(buffer, mode, wanted.offset_bytes, wanted.size_bytes,
					       &accessor->access);
	if (result) {
		struct failure why;
		error_get(&why);
		object_unref(&accessor->object);
		return error_set_failure(&why);
	}
	if (access_mode_writes((uint32_t)wanted.mode))
		atomic_store_explicit(&root->modified, 1, memory_order_relaxed);
	*accessor_out = accessor;
	return SYCL_SUCCESS;
}

static sycl_result host_accessor_create(sycl_buffer handle, struct wanted wanted,
					uint64_t deadline_ns, sycl_host_accessor *accessor_out)
{
	PIN(buffer, buffer, handle);
	REQUIRE_OUTPUT(accessor_out);
	wanted.may_give_up = deadline_ns != UINT64_MAX;
	struct host_accessor *accessor = NULL;
	sycl_result result = host_accessor_make(buffer, wanted, &accessor);
	if (result)
		return result;
	result = host_access_wait(buffer, &accessor->access, deadline_ns);
	if (result) { /* withdrawn: groups must not wait for an access that is not held */
		struct failure why;
		error_get(&why);
		object_unref(&accessor->object);
		return error_set_failure(&why);
	}
	*accessor_out = handle_of(&accessor->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_host_accessor_create(sycl_buffer buffer, sycl_access_mode mode,
					       sycl_host_accessor *accessor_out)
{
	return host_accessor_create(buffer,
				    (struct wanted){.mode = mode, .size_bytes = SYCL_REST_BYTES},
				    UINT64_MAX, accessor_out);
}

SYCL_API sycl_result sycl_host_accessor_create_for(sycl_buffer buffer, sycl_access_mode mode,
						   uint64_t timeout_ns,
						   sycl_host_accessor *accessor_out)
{
	return host_accessor_create(buffer,
				    (struct wanted){.mode = mode, .size_bytes = SYCL_REST_BYTES},
				    clock_deadline_ns(timeout_ns), accessor_out);
}

SYCL_API sycl_result sycl_host_accessor_create_ranged(sycl_buffer buffer, sycl_access_mode mode,
						      uint64_t offset_bytes, uint64_t size_bytes,
						      uint64_t timeout_ns,
						      sycl_host_accessor *accessor_out)
{
	struct wanted wanted = {
		.mode = mode, .offset_bytes = offset_bytes, .size_bytes = size_bytes};
	return host_accessor_create(buffer, wanted, clock_deadline_ns(timeout_ns), accessor_out);
}

SYCL_API sycl_result sycl_host_accessor_create_async(sycl_buffer handle, sycl_access_mode mode,
						     uint64_t offset_bytes, uint64_t size_bytes,
						     sycl_host_accessor *accessor_out)
{
	PIN(buffer, buffer, handle);
	REQUIRE_OUTPUT(accessor_out);
	struct wanted wanted = {.mode = mode,
				.offset_bytes = offset_bytes,
				.size_bytes = size_bytes,
				.may_give_up = true};
	struct host_accessor *accessor = NULL;
	sycl_result result = host_accessor_make(buffer, wanted, &accessor);
	if (!result)
		*accessor_out = handle_of(&accessor->object);
	return result;
}

SYCL_API sycl_result sycl_host_accessor_wait(sycl_host_accessor handle)
{
	PIN(host_accessor, accessor, handle);
	return host_access_wait(accessor->buffer, &accessor->access, UINT64_MAX);
}

SYCL_API sycl_result sycl_host_accessor_wait_for(sycl_host_accessor handle, uint64_t timeout_ns)
{
	PIN(host_accessor, accessor, handle);
	return host_access_wait(accessor->buffer, &accessor->access, clock_deadline_ns(timeout_ns));
}

SYCL_API sycl_result sycl_host_accessor_is_ready(sycl_host_accessor handle, uint32_t *ready_out)
{
	PIN(host_accessor, accessor, handle);
	REQUIRE_OUTPUT(ready_out);
	struct connection *c = accessor->object.connection;
	if (!host_access_settled(accessor->buffer, &accessor->access)) {
		(void)pthread_mutex_lock(&c->state_lock);
		(void)replies_drain(c);
		(void)pthread_mutex_unlock(&c->state_lock);
	}
	bool lost = atomic_load_explicit(&c->lost, memory_order_acquire) != 0;
	*ready_out = lost || host_access_settled(accessor->buffer, &accessor->access);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_host_accessor_get_pointer(sycl_host_accessor handle, void **pointer_out)
{
	PIN(host_accessor, accessor, handle);
	REQUIRE_OUTPUT(pointer_out);
	if (!host_access_settled(accessor->buffer, &accessor->access))
		return error_set_object(SYCL_ERROR_INVALID, accessor->access.remote.id,
					"the accessor is not ready: wait for it first");
	sycl_result result = host_access_wait(accessor->buffer, &accessor->access, 0);
	if (!result)
		*pointer_out = accessor->pointer;
	return result;
}

SYCL_API sycl_result sycl_host_accessor_retain(sycl_host_accessor accessor)
{
	return handle_retain(accessor, HANDLE_HOST_ACCESSOR);
}

SYCL_API sycl_result sycl_host_accessor_release(sycl_host_accessor accessor)
{
	return handle_release(accessor, HANDLE_HOST_ACCESSOR);
}

SYCL_API sycl_result sycl_host_accessor_get_reference_count(sycl_host_accessor accessor,
							    uint32_t *count_out)
{
	return handle_get_reference_count(accessor, HANDLE_HOST_ACCESSOR, count_out);
}
