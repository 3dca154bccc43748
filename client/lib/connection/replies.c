#include "connection/replies.h"

#include "connection/connection.h"
#include "wake.h"

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
	/* No thread waits: the record needs no answer, or the wait has ended. */
}

static void handle_reply(struct connection *c, const Sycl__V1__Reply *reply)
{
	if (reply->number != 0) {
		handle_answer(c, reply);
		return;
	}
	/* A reply without a receiver is of a later minor version, and answers no request of this
	 * library. */
	uint32_t kind = (uint32_t)reply->body_case;
	if (kind < REPLY_KINDS && c->hooks->receivers[kind])
		c->hooks->receivers[kind](c, reply);
}

/* True if there are replies to read. Without locks, so a reply that arrives at this moment may be
 * missed. */
static bool replies_pending(const struct connection *c)
{
	return atomic_load_explicit(&c->header->reply_head, memory_order_relaxed) !=
	       atomic_load_explicit(&c->header->reply_tail, memory_order_relaxed);
}

void replies_take_in(struct connection *c)
{
	if (!replies_pending(c))
		return;
	(void)pthread_mutex_lock(&c->state_lock);
	(void)replies_drain(c);
	(void)pthread_mutex_unlock(&c->state_lock);
}

/* Handles the frequent reply without protobuf-c. False: the reply is of another kind. */
static bool replies_take_flat(struct connection *c, uint32_t bytes)
{
	struct flat_message message;
	if (!flat_message_unpack(c->record, bytes, &message) ||
	    message.body != SYCL__V1__REPLY__BODY_RELEASED || message.fields > 1)
		return false;
	Sycl__V1__Released released = SYCL__V1__RELEASED__INIT;
	released.object = message.values[0];
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.body_case = SYCL__V1__REPLY__BODY_RELEASED;
	reply.released = &released;
	handle_reply(c, &reply);
	return true;
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
		if (replies_take_flat(c, bytes))
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
		/* As for the submit ring: the socket has the reason if the session has ended. */
		connection_read_socket(c);
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
