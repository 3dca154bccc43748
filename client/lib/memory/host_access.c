/* Requests bytes of a buffer from the engine, which grants them in the shared memory. */
#include "memory/host_access.h"

#include "memory/buffer.h"

#include "access_mode.h"

#include <stdlib.h>

struct access_wait {
	struct buffer *buffer; /* a root */
	const struct host_access *access;
};

/* Sets the ranges as HostAccess has them: the accessor's place in the order, and its bytes. */
static void host_access_put_ranges(const struct buffer *buffer, uint64_t offset_bytes,
				   uint64_t size_bytes, uint64_t values[HOST_ACCESS_FIELDS])
{
	bool whole = !buffer->is_part && size_bytes == buffer->size_bytes;
	if (buffer->is_part && buffer->root) {
		values[HOST_ACCESS_ORDER_OFFSET_BYTES] = buffer->origin_bytes;
		values[HOST_ACCESS_ORDER_SIZE_BYTES] = buffer->size_bytes;
	}
	/* 0 and 0 would say "the whole buffer", so a part without bytes lies at the end. */
	bool nothing = size_bytes == 0 && !whole;
	values[HOST_ACCESS_OFFSET_BYTES] =
		whole ? 0 : buffer->origin_bytes + (nothing ? buffer->size_bytes : offset_bytes);
	values[HOST_ACCESS_SIZE_BYTES] = whole ? 0 : size_bytes;
}

static sycl_result host_access_send(struct buffer *buffer, uint32_t mode,
				    const struct arena_range *bytes, bool alone,
				    const struct host_access *access)
{
	struct flat_message message = {.body = SYCL__V1__COMMAND__BODY_HOST_ACCESS,
				       .fields = HOST_ACCESS_FIELDS,
				       .values = {[HOST_ACCESS_ACCESSOR] = access->remote.id,
						  [HOST_ACCESS_BUFFER] = buffer->remote.id,
						  [HOST_ACCESS_MODE] = mode,
						  [HOST_ACCESS_SLOT] = access->slot,
						  [HOST_ACCESS_SLOT_VALUE] = access->value}};
	host_access_put_ranges(buffer, bytes->offset_bytes, bytes->size_bytes, message.values);
	if (alone) {
		message.values[HOST_ACCESS_ORDER_OFFSET_BYTES] = bytes->offset_bytes;
		message.values[HOST_ACCESS_ORDER_SIZE_BYTES] = bytes->size_bytes;
	}
	return connection_send_flat(buffer->object.connection, &message);
}

static sycl_result send_access_request(struct buffer *buffer, uint32_t mode,
				       const struct arena_range *bytes, bool alone,
				       struct host_access *access)
{
	struct connection *c = buffer->object.connection;
	sycl_result result = remote_check(&buffer_root(buffer)->remote);
	if (!result)
		result = remote_name(c, OBJECT_HOST_ACCESSOR, &access->remote);
	if (result)
		return result;
	(void)pthread_mutex_lock(&c->state_lock);
	int r = slots_take(&c->slots, &access->slot, &access->value);
	if (r == 0)
		object_ids_find(&c->ids, access->remote.id)->slot = access->slot;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (r < 0)
		result = error_set(SYCL_ERROR_QUOTA,
				   "all %u completion slots of the session are in use",
				   c->slots.count);
	else
		result = host_access_send(buffer, mode, bytes, alone, access);
	if (result)
		remote_forget(c, &access->remote);
	return result;
}

sycl_result host_access_request(struct buffer *buffer, uint32_t mode, uint64_t offset_bytes,
				uint64_t size_bytes, struct host_access *access)
{
	const struct arena_range bytes = {.offset_bytes = offset_bytes, .size_bytes = size_bytes};
	return send_access_request(buffer, mode, &bytes, false, access);
}

sycl_result host_access_request_part(struct buffer *buffer, uint32_t mode,
				     const struct arena_range *bytes, struct host_access *access)
{
	return send_access_request(buffer, mode, bytes, true, access);
}

bool host_access_settled(struct buffer *buffer, const struct host_access *access)
{
	const struct completion_slot *slot = &buffer->object.connection->slot_memory[access->slot];
	return sequence_reached(atomic_load_explicit(&slot->sequence, memory_order_acquire),
				access->value) ||
	       atomic_load_explicit(&access->remote.failed, memory_order_acquire) ||
	       atomic_load_explicit(&buffer_root(buffer)->remote.failed, memory_order_acquire);
}

bool host_access_granted(struct buffer *buffer, const struct host_access *access)
{
	const struct completion_slot *slot = &buffer->object.connection->slot_memory[access->slot];
	return sequence_reached(atomic_load_explicit(&slot->sequence, memory_order_acquire),
				access->value) &&
	       atomic_load_explicit(&slot->status, memory_order_acquire) == 0 &&
	       atomic_load_explicit(&access->remote.failed, memory_order_acquire) == 0 &&
	       atomic_load_explicit(&buffer_root(buffer)->remote.failed, memory_order_acquire) == 0;
}

static bool host_access_is_ready(struct connection *c, void *context)
{
	(void)c;
	const struct access_wait *wait = context;
	return host_access_settled(wait->buffer, wait->access);
}

/* The slot was reached, or one of the two has failed. */
static sycl_result host_access_outcome(struct buffer *buffer, struct host_access *access)
{
	struct connection *c = buffer->object.connection;
	bool refused = atomic_load_explicit(&c->slot_memory[access->slot].status,
					    memory_order_acquire) != 0;
	if (refused) { /* the reason was sent before the slot was written */
		(void)pthread_mutex_lock(&c->state_lock);
		(void)replies_drain(c);
		(void)pthread_mutex_unlock(&c->state_lock);
	}
	sycl_result result = remote_check(&access->remote);
	if (!result)
		result = remote_check(&buffer_root(buffer)->remote);
	if (!result && refused)
		result = error_set_object(SYCL_ERROR_RUNTIME, access->remote.id,
					  "the host's access failed");
	return result;
}

/*
 * Makes two round trips: the engine takes the requests with the first, and answers by the second.
 */
sycl_result host_access_answered(struct connection *c)
{
	sycl_result result = SYCL_SUCCESS;
	for (int i = 0; i < 2 && !result; i++) {
		Sycl__V1__Ping ping = SYCL__V1__PING__INIT;
		Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
		command.body_case = SYCL__V1__COMMAND__BODY_PING;
		command.ping = &ping;
		struct pending pending = {.take = NULL};
		result = connection_request(c, &command, &pending, UINT64_MAX);
	}
	return result;
}

/* Called after the time-out. The service may have answered meanwhile, if the time was too short for
 * any answer. */
static sycl_result host_access_granted_late(struct buffer *buffer, const struct host_access *access)
{
	sycl_result result = host_access_answered(buffer->object.connection);
	if (result)
		return result;
	if (host_access_settled(buffer, access))
		return SYCL_SUCCESS;
	return error_set(SYCL_ERROR_TIMEOUT, "the buffer was not free for the host in time");
}

sycl_result host_access_wait(struct buffer *buffer, struct host_access *access,
			     uint64_t deadline_ns)
{
	struct access_wait wait = {.buffer = buffer, .access = access};
	sycl_result result = SYCL_SUCCESS;
	if (!host_access_settled(buffer, access))
		result = connection_wait_slot(buffer->object.connection, host_access_is_ready,
					      &wait, access->slot, access->value, deadline_ns);
	if (result == SYCL_ERROR_TIMEOUT)
		result = host_access_granted_late(buffer, access);
	connection_observe(buffer->object.connection);
	return result ? result : host_access_outcome(buffer, access);
}

void host_access_end(struct connection *c, struct host_access *access)
{
	connection_publish(c);
	remote_release(c, &access->remote);
	free(access->remote.why);
	access->remote.why = NULL;
}
