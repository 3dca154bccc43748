/* Naming and releasing objects of the engine. */
#include "connection/connection.h"
#include "connection/limits.h"

#include <stdlib.h>

sycl_result remote_name(struct connection *c, enum object_type type, struct remote *remote)
{
	struct id_entry *entry = NULL;
	(void)pthread_mutex_lock(&c->state_lock);
	int r = object_ids_take(&c->ids, type, remote, &entry);
	if (r < 0) { /* some may have come back */
		(void)replies_drain(c);
		r = object_ids_take(&c->ids, type, remote, &entry);
	}
	if (r < 0 && object_ids_grow(&c->ids, connection_most_objects(c)) == 0)
		r = object_ids_take(&c->ids, type, remote, &entry);
	(void)pthread_mutex_unlock(&c->state_lock);
	if (r < 0)
		return error_set(SYCL_ERROR_QUOTA,
				 "this session has all %u objects that it may have",
				 connection_most_objects(c));
	return SYCL_SUCCESS;
}

void remote_forget(struct connection *c, struct remote *remote)
{
	(void)pthread_mutex_lock(&c->state_lock);
	struct id_entry *entry = object_ids_find(&c->ids, remote->id);
	if (entry) {
		if (entry->slot != NO_SLOT)
			slots_give_settled(&c->slots, entry->slot);
		if (entry->range.size_bytes)
			arenas_give(&c->arenas, &entry->range);
		object_ids_give(&c->ids, entry);
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	remote->id = 0;
}

void remote_release(struct connection *c, struct remote *remote)
{
	uint64_t id = remote->id;
	if (id == 0)
		return;
	(void)pthread_mutex_lock(&c->state_lock);
	struct id_entry *entry = object_ids_find(&c->ids, id);
	if (entry)
		entry->owner = NULL;
	(void)pthread_mutex_unlock(&c->state_lock);
	const struct flat_message release = {
		.body = SYCL__V1__COMMAND__BODY_RELEASE, .fields = 1, .values = {id}};
	/* If the session has ended, there is nothing to release, and a release never fails for that
	 * reason. */
	if (!atomic_load_explicit(&c->lost, memory_order_acquire))
		(void)connection_send_flat(c, &release);
}

sycl_result remote_failure(struct remote *remote)
{
	sycl_result failed = atomic_load_explicit(&remote->failed, memory_order_acquire);
	return remote->why ? error_set_failure(remote->why)
			   : error_set_object(failed, remote->id,
					      "the service could not make this object");
}

void remote_receive_released(struct connection *c, const Sycl__V1__Reply *reply)
{
	struct id_entry *entry = object_ids_find(&c->ids, reply->released->object);
	if (!entry || entry->owner)
		return; /* the library has not released the object and still uses it */
	if (entry->slot != NO_SLOT)
		slots_give_settled(&c->slots, entry->slot);
	if (entry->range.size_bytes)
		arenas_give(&c->arenas, &entry->range);
	if (entry->released)
		entry->released(c, entry);
	object_ids_give(&c->ids, entry);
}

void remote_receive_failed(struct connection *c, const Sycl__V1__Reply *reply)
{
	uint64_t id = reply->object_failed->object;
	struct id_entry *entry = object_ids_find(&c->ids, id);
	if (!entry || !entry->owner ||
	    atomic_load_explicit(&entry->owner->failed, memory_order_relaxed))
		return;
	struct failure failure;
	failure_from_failed(reply->status, &failure);
	if (failure.object == 0)
		failure.object = id;
	struct failure *why = malloc(sizeof(*why));
	if (why)
		*why = failure;
	entry->owner->why = why;
	atomic_store_explicit(&entry->owner->failed, failure.code, memory_order_release);
}
