/* The session's socket: grants, wakes, and the reason of the session's end. */
#include "connection/connection.h"

#include "base/flight.h"
#include "poll_now.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* Ends the connection after the engine's death. The flight page names the commands that were in
 * flight. */
static void lose_to_death(struct connection *c)
{
	struct failure why = {.code = SYCL_SUCCESS};
	(void)flight_blame(c->flight->address, c->session, &why);
	if (why.code)
		connection_lose_with(c, &why);
}

static void lose_to_hang_up(struct connection *c)
{
	lose_to_death(c);
	connection_lose(c, SYCL_ERROR_CONNECTION_LOST,
			"the service closed the session, or its engine ended");
}

static void take_grant(struct connection *c, const Sycl__V1__ArenaGrant *grant,
		       struct packet_fds *fds)
{
	if (!c->arenas.grant.awaited || c->arenas.grant.arrived)
		return;
	c->arenas.grant.arrived = true;
	c->arenas.grant.fd = packet_fds_take(fds, 0);
	c->arenas.grant.arena = grant->arena;
	c->arenas.grant.size_bytes = grant->size_bytes;
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	status.code = grant->code;
	status.text = grant->text;
	failure_from_status(&status, &c->arenas.grant.failure);
}

/* A descriptor that no thread waits for is closed with the datagram. */
static void take_buffer_grant(struct connection *c, uint64_t buffer, struct packet_fds *fds)
{
	for (struct pending_grant *grant = c->grants; grant; grant = grant->next) {
		if (grant->buffer != buffer || grant->descriptor >= 0)
			continue;
		grant->descriptor = packet_fds_take(fds, 0);
		return;
	}
}

static void take_packet(struct connection *c, const Sycl__V1__Packet *packet,
			struct packet_fds *fds)
{
	if (packet->body_case == SYCL__V1__PACKET__BODY_ARENA_GRANT) {
		take_grant(c, packet->arena_grant, fds);
	} else if (packet->body_case == SYCL__V1__PACKET__BODY_BUFFER_GRANT) {
		take_buffer_grant(c, packet->buffer_grant->buffer, fds);
	} else if (packet->body_case == SYCL__V1__PACKET__BODY_ERROR) {
		Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
		status.code =
			packet->error->code ? packet->error->code : SYCL_ERROR_CONNECTION_LOST;
		status.text = packet->error->text;
		struct failure failure;
		failure_from_status(&status, &failure);
		/* The flight page names the offender. */
		if (failure.code == SYCL_ERROR_DEVICE_LOST)
			lose_to_death(c);
		connection_lose_with(c, &failure); /* keeps an earlier reason */
	}
	/* Other messages are of a later minor version. */
}

enum found { FOUND_NOTHING, FOUND_WAKE, FOUND_OTHER };

/* 1: received a packet; 0: the peer hung up; else a negative errno. *packet_out is NULL for a Wake
 * in its usual form. Wakes are frequent, so they are read without protobuf-c. */
static int receive_packet(struct connection *c, const Sycl__V1__Packet **packet_out,
			  struct packet_fds *fds)
{
	static const uint8_t packed_wake[] = {0x2a, 0x00}; /* field 5, no bytes */
	uint8_t *datagram = c->packet_arena.block + c->packet_arena.capacity;
	ssize_t size =
		packet_socket_receive(c->socket, datagram, PACKET_BYTES_MAX, fds, MSG_DONTWAIT);
	*packet_out = NULL;
	if (size <= 0)
		return (int)size;
	if (size == sizeof(packed_wake) && fds->count == 0 &&
	    memcmp(datagram, packed_wake, sizeof(packed_wake)) == 0)
		return 1;
	ProtobufCMessage *message = NULL;
	int r = message_unpack(&sycl__v1__packet__descriptor, &c->packet_arena, datagram,
			       (size_t)size, &message);
	if (r < 0)
		return r;
	*packet_out = (const Sycl__V1__Packet *)message;
	return (*packet_out)->descriptor_count == fds->count ? 1 : -EPROTO;
}

static enum found read_datagram(struct connection *c)
{
	const Sycl__V1__Packet *packet = NULL;
	struct packet_fds fds = PACKET_FDS_INIT;
	enum found found = FOUND_OTHER;
	int r = receive_packet(c, &packet, &fds);
	if (r == -EAGAIN || r == -EINTR)
		return FOUND_NOTHING;
	if (r == 1) {
		if (!packet || packet->body_case == SYCL__V1__PACKET__BODY_WAKE)
			found = FOUND_WAKE;
		else
			take_packet(c, packet, &fds);
	} else if (r == 0 || r == -ECONNRESET || r == -EPIPE) {
		lose_to_hang_up(c);
	} else {
		connection_lose(c, SYCL_ERROR_CONNECTION_LOST,
				"the service sent a malformed datagram");
	}
	packet_fds_close(&fds);
	return found;
}

void connection_read_socket(struct connection *c)
{
	while (!atomic_load_explicit(&c->lost, memory_order_relaxed) &&
	       read_datagram(c) != FOUND_NOTHING) {
	}
}

/*
 * Called after a sleep. Reads up to the first Wake, which is usually the last message, so one
 * system call is saved. A further message keeps the socket readable: the next thread that polls
 * reads it at once.
 */
void connection_read_until_wake(struct connection *c)
{
	while (!atomic_load_explicit(&c->lost, memory_order_relaxed) &&
	       read_datagram(c) == FOUND_OTHER) {
	}
}

void connection_probe(struct connection *c)
{
	struct pollfd socket = {.fd = c->socket, .events = 0};
	if (poll_now(&socket, 1) != 1 || (socket.revents & (POLLHUP | POLLERR)) == 0)
		return;
	(void)pthread_mutex_lock(&c->state_lock);
	if (!c->polling) /* otherwise the polling thread reads the message */
		connection_read_socket(c);
	(void)pthread_cond_broadcast(&c->changed);
	(void)pthread_mutex_unlock(&c->state_lock);
}
