/* The end of a buffer: whether to wait, whether to write back, and where to (D9 - D14, D17, D19,
 * S14). */
#include "memory/buffer.h"
#include "memory/host_memory.h"

#include "access_mode.h"
#include "connection/async_errors.h"
#include "clock.h"
#include "memory/own_pages.h"
#include "memory/page_copy.h"

struct ending {
	void *target; /* memory that gets the contents; NULL: none */
	bool waits;   /* waits for all groups of the buffer */
};

/* True if host memory that is written back is of use outside of buffers. A block is, while it has
 * other holders (D12). */
static bool is_release_awaited(const struct buffer *buffer)
{
	return buffer->kind == SYCL_HOST_BORROWED ||
	       (buffer->kind == SYCL_HOST_SHARED && object_users(&buffer->block->object) > 0);
}

static struct ending ending_plan(const struct buffer *buffer)
{
	struct ending ending = {NULL, false};
	bool final_data = atomic_load_explicit(&buffer->final_data_set, memory_order_acquire) != 0;
	if (buffer->size_bytes == 0 ||
	    !atomic_load_explicit(&buffer->write_back, memory_order_relaxed))
		return ending;
	bool awaited = !final_data && is_release_awaited(buffer);
	if (final_data)
		ending.target = atomic_load_explicit(&buffer->final_data, memory_order_relaxed);
	else if (awaited && atomic_load_explicit(&buffer->modified, memory_order_relaxed))
		ending.target = buffer->host;
	/*
	 * Borrowed memory is the caller's again after this, so nothing of it may be in use;
	 * read-only use also ends first. What is shared may have been used by others.
	 */
	ending.waits = (ending.target || awaited) &&
		       (buffer->share != SYCL_SHARE_NONE ||
			atomic_load_explicit(&buffer->used, memory_order_relaxed));
	return ending;
}

static sycl_result buffer_copy_back(const struct buffer *buffer, void *target, uint64_t deadline_ns)
{
	sycl_result result = host_mutex_lock(buffer->use_mutex, deadline_ns);
	if (result)
		return result;
	page_copy_now(buffer->object.connection, target, buffer->address, buffer->size_bytes);
	host_mutex_unlock(buffer->use_mutex);
	return SYCL_SUCCESS;
}

/*
 * True if the contents may be copied in parts, while the engine moves other parts. Not with a
 * mutex, which is locked only after all waits. Not with a deadline either: it also limits the
 * engine's moves, and nothing may be written once it has passed.
 */
static bool buffer_comes_in_parts(const struct buffer *buffer, uint64_t deadline_ns)
{
	return buffer->size_bytes >= PAGE_COPY_LARGE_BYTES && !buffer->use_mutex &&
	       !buffer->image_format && deadline_ns == UINT64_MAX;
}

static sycl_result buffer_wait_and_copy(struct buffer *buffer, void *target, uint64_t deadline_ns)
{
	if (target && buffer_comes_in_parts(buffer, deadline_ns))
		return own_pages_write_back(buffer, target);
	/* A write of no bytes waits for readers and writers alike, moves nothing and drops nothing.
	 */
	uint32_t mode = target ? ACCESS_MODE_READ : ACCESS_MODE_WRITE_NO_INIT;
	struct host_access access = {.slot = 0};
	sycl_result result = own_pages_request_host_access(
		buffer, mode, 0, target ? buffer->size_bytes : 0, &access);
	if (result)
		return result;
	result = host_access_wait(buffer, &access, deadline_ns);
	if (!result && target)
		result = buffer_copy_back(buffer, target, deadline_ns);
	struct failure why = {.code = result};
	if (result)
		error_get(&why);
	host_access_end(buffer->object.connection, &access);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}

/* Releases a root. *kept_out: nothing was done, the buffer is still the caller's. */
static sycl_result buffer_write_back(struct buffer *buffer, uint64_t deadline_ns, bool *kept_out)
{
	struct ending ending = ending_plan(buffer);
	if (!ending.target && !ending.waits)
		return SYCL_SUCCESS;
	if (atomic_load_explicit(&buffer->host_accessors, memory_order_relaxed) > 0) {
		*kept_out = true;
		return error_set_object(SYCL_ERROR_INVALID, buffer->remote.id,
					"the buffer has host accessors: release them first");
	}
	sycl_result result = ending.waits
				     ? buffer_wait_and_copy(buffer, ending.target, deadline_ns)
				     : buffer_copy_back(buffer, ending.target,
							/* Only the host has used the buffer. */
							deadline_ns);
	*kept_out = result == SYCL_ERROR_TIMEOUT;
	return result;
}

/* A family ends with the last of its handles. False: this is the last one. */
static bool buffer_leave_unless_last(struct buffer *family)
{
	uint32_t owners = atomic_load_explicit(&family->owners, memory_order_relaxed);
	do {
		if (owners <= 1)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&family->owners, &owners, owners - 1, memory_order_acq_rel, memory_order_relaxed));
	return true;
}

static sycl_result buffer_take_user(struct buffer *buffer)
{
	sycl_result result = object_take(&buffer->object);
	connection_handle_released(buffer->object.connection);
	return result;
}

sycl_result buffer_end(struct buffer *buffer, bool writes_back, uint64_t deadline_ns)
{
	if (object_take_unless_last(&buffer->object))
		return SYCL_SUCCESS;
	struct buffer *family = buffer->family ? buffer->family : buffer;
	if (buffer_leave_unless_last(family)) {
		sycl_result taken = buffer_take_user(buffer);
		if (taken) /* another thread has released the buffer meanwhile */
			atomic_fetch_add_explicit(&family->owners, 1, memory_order_relaxed);
		return taken;
	}
	bool kept = false;
	own_pages_end(family);
	sycl_result result =
		writes_back ? buffer_write_back(family, deadline_ns, &kept) : SYCL_SUCCESS;
	if (kept)
		return result;
	struct failure why = {.code = result};
	if (result) {
		error_get(&why);
		async_errors_add(buffer->object.connection, &why);
	}
	sycl_result taken = buffer_take_user(buffer);
	return result ? error_set_failure(&why) : taken;
}

static sycl_result buffer_release(sycl_buffer handle, bool writes_back, uint64_t deadline_ns)
{
	PIN(buffer, buffer, handle);
	return buffer_end(buffer, writes_back, deadline_ns);
}

SYCL_API sycl_result sycl_buffer_release(sycl_buffer buffer)
{
	return buffer_release(buffer, true, UINT64_MAX);
}

SYCL_API sycl_result sycl_buffer_release_for(sycl_buffer buffer, uint64_t timeout_ns)
{
	return buffer_release(buffer, true, clock_deadline_ns(timeout_ns));
}

SYCL_API sycl_result sycl_buffer_detach(sycl_buffer buffer)
{
	return buffer_release(buffer, false, 0);
}
