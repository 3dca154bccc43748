/* Records into the submit ring. */
#include "connection/connection.h"

#include "wake.h"

#include <string.h>

/* Number of records between two checks of the socket. A ring shows no error when the engine has
 * died. */
#define RECORDS_BETWEEN_PROBES 64

struct room_wait {
	uint16_t kind;
	uint32_t bytes;
	void *payload;
	int r;
};

/* The waiting thread holds the submit lock. */
static bool ring_has_room(struct connection *c, void *context)
{
	struct room_wait *wait = context;
	wake_prepare_sleep(&c->header->client_wants_room);
	wait->r = ring_writer_reserve(&c->writer, wait->kind, wait->bytes, &wait->payload);
	if (wait->r == -EAGAIN)
		return false;
	wake_cancel_sleep(&c->header->client_wants_room);
	return true;
}

/* Waits for room that the writer could not give at once. `why`: the writer's error. */
static sycl_result ring_await_room(struct connection *c, uint16_t kind, uint32_t bytes, int why,
				   void **payload_out)
{
	struct room_wait wait = {.kind = kind, .bytes = bytes, .r = why};
	if (wait.r == -EAGAIN) {
		sycl_result result = connection_wait(c, ring_has_room, &wait, 0, UINT64_MAX);
		if (result)
			return result;
	}
	if (wait.r == -EMSGSIZE)
		return error_set(SYCL_ERROR_QUOTA,
				 "this request needs %u bytes, more than the %u of one record",
				 bytes, PACKET_BYTES_MAX);
	if (wait.r < 0) {
		(void)pthread_mutex_lock(&c->state_lock);
		/* The ring of an ended session is empty, and the socket has the reason. */
		connection_read_socket(c);
		connection_lose(c, SYCL_ERROR_CONNECTION_LOST,
				"the service wrote an invalid position into the submit ring");
		(void)pthread_mutex_unlock(&c->state_lock);
		return connection_check(c);
	}
	*payload_out = wait.payload;
	return SYCL_SUCCESS;
}

static inline sycl_result ring_reserve(struct connection *c, uint16_t kind, uint32_t bytes,
				       void **payload_out)
{
	int r = ring_writer_reserve(&c->writer, kind, bytes, payload_out);
	return __builtin_expect(r < 0, 0) ? ring_await_room(c, kind, bytes, r, payload_out)
					  : SYCL_SUCCESS;
}

void connection_commit(struct connection *c)
{
	ring_writer_commit(&c->writer);
	atomic_store_explicit(&c->next_record, ring_writer_next(&c->writer), memory_order_relaxed);
	c->records++;
	bool rings = wake_claim(&c->header->engine_sleeps);
	if (rings)
		wake_ring_bell(c->bell);
	if (rings || ++c->records_unchecked >= RECORDS_BETWEEN_PROBES) {
		c->records_unchecked = 0;
		connection_probe(c);
	}
}

void connection_await_writer(struct connection *c)
{
	(void)pthread_mutex_lock(&c->submit_lock);
	(void)pthread_mutex_unlock(&c->submit_lock);
}

sycl_result connection_write(struct connection *c, const Sycl__V1__Command *command)
{
	sycl_result result = connection_check(c);
	if (result)
		return result;
	size_t bytes = sycl__v1__command__get_packed_size(command);
	if (bytes > PACKET_BYTES_MAX)
		return error_set(SYCL_ERROR_QUOTA,
				 "this request needs %zu bytes, more than the %u of one record",
				 bytes, PACKET_BYTES_MAX);
	void *payload = NULL;
	result = ring_reserve(c, RING_RECORD_MESSAGE, (uint32_t)bytes, &payload);
	if (result)
		return result;
	(void)sycl__v1__command__pack(command, payload);
	connection_commit(c);
	return SYCL_SUCCESS;
}

sycl_result connection_reserve_resubmit(struct connection *c, uint32_t bytes, void **payload_out)
{
	sycl_result result = connection_check(c);
	return result ? result : ring_reserve(c, RING_RECORD_RESUBMIT, bytes, payload_out);
}

sycl_result connection_send(struct connection *c, const Sycl__V1__Command *command)
{
	(void)pthread_mutex_lock(&c->submit_lock);
	sycl_result result = connection_write(c, command);
	(void)pthread_mutex_unlock(&c->submit_lock);
	return result;
}

sycl_result connection_send_flat(struct connection *c, const struct flat_message *command)
{
	uint8_t packed[FLAT_MESSAGE_BYTES];
	const size_t bytes = flat_message_pack(command, packed);
	void *payload = NULL;
	(void)pthread_mutex_lock(&c->submit_lock);
	sycl_result result = connection_check(c);
	if (!result)
		result = ring_reserve(c, RING_RECORD_MESSAGE, (uint32_t)bytes, &payload);
	if (!result) {
		memcpy(payload, packed, bytes);
		connection_commit(c);
	}
	(void)pthread_mutex_unlock(&c->submit_lock);
	return result;
}

static bool pending_is_answered(struct connection *c, void *context)
{
	(void)c;
	return ((struct pending *)context)->done;
}

static void pending_withdraw(struct connection *c, struct pending *pending)
{
	(void)pthread_mutex_lock(&c->state_lock);
	for (struct pending **link = &c->pending; *link; link = &(*link)->next) {
		if (*link == pending) {
			*link = pending->next;
			break;
		}
	}
	(void)pthread_mutex_unlock(&c->state_lock);
}

sycl_result connection_send_request(struct connection *c, const Sycl__V1__Command *command,
				    struct pending *pending)
{
	pending->done = false;
	pending->status = (struct failure){.code = SYCL_SUCCESS};
	(void)pthread_mutex_lock(&c->submit_lock);
	/* The number is set before the record is visible, because the answer may arrive before this
	 * thread continues. */
	pending->number = c->records + 1;
	(void)pthread_mutex_lock(&c->state_lock);
	pending->next = c->pending;
	c->pending = pending;
	(void)pthread_mutex_unlock(&c->state_lock);
	sycl_result result = connection_write(c, command);
	(void)pthread_mutex_unlock(&c->submit_lock);
	if (result)
		pending_withdraw(c, pending);
	return result;
}

sycl_result connection_request(struct connection *c, const Sycl__V1__Command *command,
			       struct pending *pending, uint64_t deadline_ns)
{
	sycl_result result = connection_send_request(c, command, pending);
	if (result)
		return result;
	result = connection_wait(c, pending_is_answered, pending, pending->runs ? WAIT_RUNS : 0,
				 deadline_ns);
	if (result) {
		pending_withdraw(c, pending);
		return result;
	}
	return pending->status.code ? error_set_failure(&pending->status) : SYCL_SUCCESS;
}
