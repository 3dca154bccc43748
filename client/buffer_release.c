/* The end of a buffer: whether to wait, whether to write back, and where to (D9 - D14, S14). */
#include "client_objects.h"

#include "access_mode.h"
#include "clock.h"

#include <stdlib.h>
#include <string.h>

struct ending {
	void *target; /* where the contents go; NULL: nowhere */
	bool waits;   /* for all its groups */
};

static struct ending plan(const struct buffer *buffer)
{
	struct ending ending = {NULL, false};
	bool final_data = atomic_load_explicit(&buffer->final_data_set, memory_order_acquire) != 0;
	if (buffer->size_bytes == 0 || !atomic_load_explicit(&buffer->write_back, memory_order_relaxed))
		return ending;
	if (final_data)
		ending.target = atomic_load_explicit(&buffer->final_data, memory_order_relaxed);
	else if (buffer->kind == SYCL_HOST_BORROWED && atomic_load_explicit(&buffer->modified, memory_order_relaxed))
		ending.target = buffer->host;
	/*
	 * Borrowed memory is the caller's again after this, so nothing of it may be in use; read-only use also ends
	 * first. What is shared may have been used by others.
	 */
	ending.waits = (ending.target || (buffer->kind == SYCL_HOST_BORROWED && !final_data)) &&
		       (buffer->share != SYCL_SHARE_NONE || atomic_load_explicit(&buffer->used, memory_order_relaxed));
	return ending;
}

/* *kept_out: nothing was done, the buffer is still the caller's. */
static sycl_result write_back(struct buffer *buffer, uint64_t deadline_ns, bool *kept_out)
{
	struct ending ending = plan(buffer);
	if (!ending.target && !ending.waits)
		return SYCL_SUCCESS;
	if (atomic_load_explicit(&buffer->host_accessors, memory_order_relaxed) > 0) {
		*kept_out = true;
		return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
					"the buffer has host accessors: release them first");
	}
	if (!ending.waits) { /* only the host has touched it */
		memcpy(ending.target, buffer->address, (size_t)buffer->size_bytes);
		return SYCL_SUCCESS;
	}
	/* A no-init write waits for readers and writers alike and moves nothing. */
	uint32_t mode = ending.target ? ACCESS_MODE_READ : ACCESS_MODE_WRITE_NO_INIT;
	struct remote accessor = {.id = 0};
	sycl_result result = host_access_begin(buffer, mode, deadline_ns, &accessor);
	if (!result && ending.target)
		memcpy(ending.target, buffer->address, (size_t)buffer->size_bytes);
	if (!result)
		remote_release(buffer->object.connection, &accessor);
	free(accessor.why);
	*kept_out = result == SYCL_ERROR_TIMEOUT;
	return result;
}

static sycl_result release(sycl_buffer handle, uint64_t deadline_ns)
{
	PIN(buffer, buffer, handle);
	if (object_take_unless_last(&buffer->object))
		return SYCL_SUCCESS;
	bool kept = false;
	sycl_result result = write_back(buffer, deadline_ns, &kept);
	if (kept)
		return result;
	struct failure why = {.code = result};
	if (result)
		error_get(&why);
	sycl_result taken = object_take(&buffer->object);
	return result ? error_set_failure(&why) : taken;
}

SYCL_API sycl_result sycl_buffer_release(sycl_buffer buffer)
{
	return release(buffer, UINT64_MAX);
}

SYCL_API sycl_result sycl_buffer_release_for(sycl_buffer buffer, uint64_t timeout_ns)
{
	return release(buffer, clock_deadline_ns(timeout_ns));
}
