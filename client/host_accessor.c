/* Access to a buffer from the host: in its shared memory, when the engine says so. */
#include "client_objects.h"

#include "access_mode.h"
#include "clock.h"

#include <stdlib.h>

struct access_wait {
	const struct completion_slot *slot;
	uint32_t value;
	struct remote *accessor, *buffer;
};

static bool access_ready(struct connection *c, void *context)
{
	(void)c;
	const struct access_wait *wait = context;
	return sequence_reached(atomic_load_explicit(&wait->slot->sequence, memory_order_acquire), wait->value) ||
	       atomic_load_explicit(&wait->accessor->failed, memory_order_acquire) ||
	       atomic_load_explicit(&wait->buffer->failed, memory_order_acquire);
}

static sycl_result ask(struct buffer *buffer, uint32_t mode, struct remote *accessor, struct access_wait *wait_out)
{
	struct connection *c = buffer->object.connection;
	sycl_result result = remote_check(&buffer->remote);
	if (!result)
		result = remote_name(c, OBJECT_HOST_ACCESSOR, accessor);
	if (result)
		return result;
	uint32_t slot = 0, value = 0;
	(void)pthread_mutex_lock(&c->state_lock);
	int r = slots_take(&c->slots, &slot, &value);
	if (r == 0)
		object_ids_find(&c->ids, accessor->id)->slot = slot;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (r < 0) {
		remote_forget(c, accessor);
		return error_set(SYCL_ERROR_QUOTA, "all %u completion slots of the session are in use", c->slots.count);
	}
	Sycl__V1__HostAccess access = SYCL__V1__HOST_ACCESS__INIT;
	access.accessor = accessor->id;
	access.buffer = buffer->remote.id;
	access.mode = mode;
	access.slot = slot;
	access.slot_value = value;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_ACCESS;
	command.host_access = &access;
	result = connection_send(c, &command);
	if (result) {
		remote_forget(c, accessor);
		return result;
	}
	*wait_out = (struct access_wait){
		.slot = &c->slot_memory[slot], .value = value, .accessor = accessor, .buffer = &buffer->remote};
	return SYCL_SUCCESS;
}

/* The slot was reached, or one of the two has failed. */
static sycl_result outcome(struct connection *c, const struct access_wait *wait)
{
	bool refused = atomic_load_explicit(&wait->slot->status, memory_order_acquire) != 0;
	if (refused) { /* the reason was sent before the slot was written */
		(void)pthread_mutex_lock(&c->state_lock);
		(void)replies_drain(c);
		(void)pthread_mutex_unlock(&c->state_lock);
	}
	sycl_result result = remote_check(wait->accessor);
	if (!result)
		result = remote_check(wait->buffer);
	if (!result && refused)
		result = error_set_object(SYCL_ERROR_RUNTIME, wait->accessor->id, "the host's access failed");
	return result;
}

/*
 * The time is over. Was it too short for the service to answer at all? Two round trips are enough for it to grant
 * what it can grant without waiting for a device: one to take the request in, one to tell.
 */
static sycl_result granted_after_all(struct connection *c, struct access_wait *wait)
{
	for (int i = 0; i < 2; i++) {
		Sycl__V1__Ping ping = SYCL__V1__PING__INIT;
		Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
		command.body_case = SYCL__V1__COMMAND__BODY_PING;
		command.ping = &ping;
		struct pending pending = {.take = NULL};
		sycl_result result = connection_request(c, &command, &pending, UINT64_MAX);
		if (result)
			return result;
	}
	if (access_ready(c, wait))
		return SYCL_SUCCESS;
	return error_set(SYCL_ERROR_TIMEOUT, "the buffer was not free for the host in time");
}

sycl_result host_access_begin(struct buffer *buffer, uint32_t mode, uint64_t deadline_ns, struct remote *accessor)
{
	struct connection *c = buffer->object.connection;
	struct access_wait wait;
	sycl_result result = ask(buffer, mode, accessor, &wait);
	if (result)
		return result;
	if (!access_ready(c, &wait))
		result = connection_wait(c, access_ready, &wait, true, deadline_ns);
	if (result == SYCL_ERROR_TIMEOUT)
		result = granted_after_all(c, &wait);
	if (!result)
		result = outcome(c, &wait);
	if (result) { /* withdrawn: groups must not wait for an access that nobody has */
		struct failure why;
		error_get(&why);
		remote_release(c, accessor);
		(void)error_set_failure(&why);
	}
	return result;
}

static void host_accessor_destroy(struct object *object)
{
	struct host_accessor *accessor = (struct host_accessor *)object;
	remote_release(object->connection, &accessor->remote);
	free(accessor->remote.why);
	atomic_fetch_sub_explicit(&accessor->buffer->host_accessors, 1, memory_order_relaxed);
	object_unref(&accessor->buffer->object);
	object_delete(object);
}

static sycl_result create(sycl_buffer handle, sycl_access_mode mode, uint64_t deadline_ns,
			  sycl_host_accessor *accessor_out)
{
	PIN(buffer, buffer, handle);
	REQUIRE_OUTPUT(accessor_out);
	if (!access_mode_valid((uint32_t)mode))
		return error_set(SYCL_ERROR_INVALID, "%d is no access mode", (int)mode);
	struct connection *c = buffer->object.connection;
	struct host_accessor *accessor = object_new(sizeof(*accessor), c);
	if (!accessor)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	/*
	 * The engine drops contents that nobody wants when it is asked, not when it grants: who may give up keeps
	 * them.
	 */
	uint32_t asked = (uint32_t)mode | (deadline_ns == UINT64_MAX ? 0 : ACCESS_KEEP_BIT);
	sycl_result result = host_access_begin(buffer, asked, deadline_ns, &accessor->remote);
	if (!result && handle_create(&accessor->object, HANDLE_HOST_ACCESSOR, host_accessor_destroy) < 0) {
		remote_release(c, &accessor->remote);
		result = error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory in this process");
	}
	if (result) {
		free(accessor->remote.why);
		object_delete(&accessor->object);
		return result;
	}
	accessor->buffer = buffer;
	object_ref(&buffer->object);
	atomic_fetch_add_explicit(&buffer->host_accessors, 1, memory_order_relaxed);
	if (access_mode_writes((uint32_t)mode))
		atomic_store_explicit(&buffer->modified, 1, memory_order_relaxed);
	*accessor_out = handle_of(&accessor->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_host_accessor_create(sycl_buffer buffer, sycl_access_mode mode,
					       sycl_host_accessor *accessor_out)
{
	return create(buffer, mode, UINT64_MAX, accessor_out);
}

SYCL_API sycl_result sycl_host_accessor_create_for(sycl_buffer buffer, sycl_access_mode mode, uint64_t timeout_ns,
						   sycl_host_accessor *accessor_out)
{
	return create(buffer, mode, clock_deadline_ns(timeout_ns), accessor_out);
}

SYCL_API sycl_result sycl_host_accessor_get_pointer(sycl_host_accessor handle, void **pointer_out)
{
	static _Alignas(64) uint8_t nothing[64]; /* what an empty buffer's pointer points to */
	PIN(host_accessor, accessor, handle);
	REQUIRE_OUTPUT(pointer_out);
	*pointer_out = accessor->buffer->address ? accessor->buffer->address : nothing;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_host_accessor_retain(sycl_host_accessor accessor)
{
	return handle_retain(accessor, HANDLE_HOST_ACCESSOR);
}

SYCL_API sycl_result sycl_host_accessor_release(sycl_host_accessor accessor)
{
	return handle_release(accessor, HANDLE_HOST_ACCESSOR);
}

SYCL_API sycl_result sycl_host_accessor_get_reference_count(sycl_host_accessor accessor, uint32_t *count_out)
{
	return handle_get_reference_count(accessor, HANDLE_HOST_ACCESSOR, count_out);
}
