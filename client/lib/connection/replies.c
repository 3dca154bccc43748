#include "connection/replies.h"

#include "connection/connection.h"
#include "connection/queue_line.h"
#include "wake.h"

#include <stdio.h>
#include <stdlib.h>

void failure_from_status(const Sycl__V1__Status *status, struct failure *failure_out)
{
	*failure_out = (struct failure){.code = SYCL_SUCCESS};
	if (!status || status->code == 0)
		return;
	/* Only known codes come out of this library; a service that sends another one means a
	 * failure all the same. */
	bool known = status->code < 0 && status->code >= SYCL_ERROR_FORKED;
	failure_out->code = known ? status->code : SYCL_ERROR_RUNTIME;
	failure_out->native_code = status->native_code;
	failure_out->backend = status->backend;
	failure_out->object = status->object;
	(void)snprintf(failure_out->text, sizeof(failure_out->text), "%s",
		       status->text && *status->text ? status->text : "the service gave no reason");
}

static void handle_answer(struct connection *c, const Sycl__V1__Reply *reply)
{
	for (struct pending **link = &c->pending; *link; link = &(*link)->next) {
		struct pending *pending = *link;
		if (pending->number != reply->number)
			continue;
		*link = pending->next;
		failure_from_status(reply->status, &pending->status);
		if (pending->take)
			pending->take(pending, reply);
		pending->done = true;
		return;
	}
	/* Nobody waits: a record that wants no answer, or a wait that ended before. */
}

static void handle_released(struct connection *c, uint64_t id)
{
	struct id_entry *entry = object_ids_find(&c->ids, id);
	if (!entry || entry->owner)
		return; /* not asked for: the library still uses it */
	if (entry->slot != NO_SLOT)
		slots_give_settled(&c->slots, entry->slot);
	if (entry->range.size_bytes)
		arenas_give(&c->arenas, &entry->range);
	if (entry->line)
		queue_line_end(c, entry->line);
	entry->line = NULL;
	if (entry->usm)
		usm_released(c, entry->usm);
	object_ids_give(&c->ids, entry);
}

static void handle_object_failed(struct connection *c, uint64_t id, const Sycl__V1__Status *status)
{
	struct id_entry *entry = object_ids_find(&c->ids, id);
	if (!entry || !entry->owner ||
	    atomic_load_explicit(&entry->owner->failed, memory_order_relaxed))
		return;
	struct failure failure;
	failure_from_status(status, &failure);
	if (failure.code == SYCL_SUCCESS)
		failure = (struct failure){.code = SYCL_ERROR_RUNTIME,
					   .text = "the service gave no reason"};
	if (failure.object == 0)
		failure.object = id;
	struct failure *why = malloc(sizeof(*why));
	if (why)
		*why = failure;
	entry->owner->why = why;
	atomic_store_explicit(&entry->owner->failed, failure.code, memory_order_release);
}

static void handle_group_failed(struct connection *c, const Sycl__V1__GroupFailed *group,
				const Sycl__V1__Status *status)
{
	struct id_entry *entry = object_ids_find(&c->ids, group->queue);
	if (!entry || !entry->line)
		return;
	struct failure failure;
	failure_from_status(status, &failure);
	if (failure.code == SYCL_SUCCESS)
		failure = (struct failure){.code = SYCL_ERROR_RUNTIME,
					   .text = "the service gave no reason"};
	queue_line_add_failure(entry->line, group->group, &failure);
}

static void handle_reply(struct connection *c, const Sycl__V1__Reply *reply)
{
	if (reply->number != 0)
		handle_answer(c, reply);
	else if (reply->body_case == SYCL__V1__REPLY__BODY_RELEASED)
		handle_released(c, reply->released->object);
	else if (reply->body_case == SYCL__V1__REPLY__BODY_OBJECT_FAILED)
		handle_object_failed(c, reply->object_failed->object, reply->status);
	else if (reply->body_case == SYCL__V1__REPLY__BODY_GROUP_FAILED)
		handle_group_failed(c, reply->group_failed, reply->status);
	/* Something else is of a later minor version: nothing that this library has asked for. */
}

bool replies_wait(const struct connection *c)
{
	return atomic_load_explicit(&c->header->reply_head, memory_order_relaxed) !=
	       atomic_load_explicit(&c->header->reply_tail, memory_order_relaxed);
}

bool replies_drain(struct connection *c)
{
	uint16_t kind = 0;
	uint32_t bytes = 0;
	int got = 0;
	bool any = false;
	bool good = true;
	while (good && (got = ring_reader_next(&c->reader, c->record, &kind, &bytes)) > 0) {
		any = true;
		if (kind != RING_RECORD_MESSAGE)
			continue;
		ProtobufCMessage *message = NULL;
		good = message_unpack(&sycl__v1__reply__descriptor, &c->reply_arena, c->record,
				      bytes, &message) == 0;
		if (good)
			handle_reply(c, (const Sycl__V1__Reply *)message);
	}
	if (got < 0)
		good = false;
	if (!good) {
		connection_read_socket(
			c); /* as for the submit ring: the reason, if the session has ended */
		connection_lose(c, SYCL_ERROR_CONNECTION_LOST,
				"the service sent a malformed reply");
	}
	if (any) {
		ring_reader_publish(&c->reader);
		if (wake_claim(&c->header->engine_wants_room))
			wake_ring_bell(c->bell);
		(void)pthread_cond_broadcast(&c->changed);
	}
	return good;
}
