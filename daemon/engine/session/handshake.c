/* The datagrams that a client may send: one hello, then descriptors of buffers. */
#include "fair_queue/fair_queue.h"
#include "session/session.h"

#include "session.pb-c.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* Features of this engine. A bit is offered as soon as the feature exists. */
#define ENGINE_FEATURES                                                                            \
	(FEATURE_RESUBMIT | FEATURE_GRAPHS | FEATURE_NATIVE | FEATURE_TEMPORARIES |                \
	 FEATURE_NATIVE_EARLY | FEATURE_NATIVE_NODES | FEATURE_GRAPH_SWITCH |                      \
	 FEATURE_GRAPH_CONDITION | FEATURE_USM_ENDS | FEATURE_OUTPUT | FEATURE_EVENTS)

static int handshake_violation(struct session *session, int error)
{
	switch (error) {
	case -EBADMSG:
		return session_violation(session, "a datagram cannot be decoded");
	case -EMSGSIZE:
		return session_violation(session, "a datagram is larger than %u bytes",
					 PACKET_BYTES_MAX);
	case -EPROTO:
		return session_violation(
			session, "a datagram states another number of descriptors than it carries");
	case -ENOMEM:
		return session_violation(session, "a datagram unpacks to more than is allowed");
	default:
		session_fail(session, STATUS_CONNECTION_LOST, "the session's socket failed: %s",
			     strerror(-error));
		return error;
	}
}

/*
 * Replaces characters that are not printable ASCII by question marks, because people read the text.
 */
static void keep_command(struct session *session, const char *command)
{
	(void)snprintf(session->command, sizeof(session->command), "%s", command);
	for (char *c = session->command; *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
}

static void welcome_fill_limits(const struct session_limits *limits, Sycl__V1__Limits *out)
{
	sycl__v1__limits__init(out);
	out->objects = (uint32_t)limits->objects;
	out->arenas = (uint32_t)limits->arenas;
	out->arena_bytes = limits->arena_bytes;
	out->buffer_bytes = limits->buffer_bytes;
	out->groups_in_flight = (uint32_t)limits->groups_in_flight;
	out->builds = (uint32_t)limits->builds;
	out->source_bytes = limits->source_bytes;
}

/* Unset fields mean the normal class and weight. 1: the class or weight does not exist, and the
 * session closes. */
static int session_take_rank(struct session *session, const Sycl__V1__Hello *message)
{
	uint32_t class = (uint32_t)message->session_class, weight = message->weight;
	if (class > SYCL__V1__SESSION_CLASS__SESSION_CLASS_BEST_EFFORT ||
	    weight > FAIR_QUEUE_WEIGHT_MOST) {
		session_fail(
			session, STATUS_INVALID,
			"the hello requests class %u and weight %u; there are classes 1 to %u and weights up to %u",
			class, weight, SYCL__V1__SESSION_CLASS__SESSION_CLASS_BEST_EFFORT,
			FAIR_QUEUE_WEIGHT_MOST);
		return 1;
	}
	if (class != SYCL__V1__SESSION_CLASS__SESSION_CLASS_UNSPECIFIED)
		session->requested_class = class;
	if (weight > 0)
		session->requested_weight = weight;
	session_apply_rank(session);
	return 0;
}

static int send_welcome(struct session *session, uint64_t features)
{
	Sycl__V1__Limits limits;
	welcome_fill_limits(&session->limits, &limits);
	Sycl__V1__Welcome welcome = SYCL__V1__WELCOME__INIT;
	welcome.protocol = PROTOCOL_VERSION;
	welcome.features = features;
	welcome.session = session->peer.session;
	welcome.service_version = (char *)(uintptr_t)SYCLD_VERSION;
	welcome.ring_bytes = session->ring->size_bytes;
	welcome.limits = &limits;
	welcome.in_process = session_in_process(session);
	uint32_t class;
	session_rank(session, &class, &welcome.weight);
	welcome.session_class = (Sycl__V1__SessionClass) class;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_WELCOME;
	packet.welcome = &welcome;
	int fds[3] = {session->ring->fd, session->bell, session->engine->flight->fd};
	packet.descriptor_count = 3;
	return message_send(session->socket, &packet.base, fds, 3, MSG_DONTWAIT);
}

static void answer_hello(struct session *session, const Sycl__V1__Hello *message)
{
	if (message->protocol_min > PROTOCOL_VERSION || message->protocol_max < PROTOCOL_VERSION) {
		session_fail(session, STATUS_VERSION,
			     "the service speaks protocol %u.%u, the library %u.%u to %u.%u",
			     PROTOCOL_MAJOR, PROTOCOL_MINOR, message->protocol_min >> 16,
			     message->protocol_min & 0xffffu, message->protocol_max >> 16,
			     message->protocol_max & 0xffffu);
		return;
	}
	keep_command(session, message->command);
	if (session_take_rank(session, message))
		return;
	uint64_t features = message->features & ENGINE_FEATURES;
	int r = session_memory_create(session, features);
	if (r == 0)
		r = send_welcome(session, features);
	if (r < 0) {
		session_fail(session,
			     r == -EPIPE || r == -ECONNRESET ? STATUS_CONNECTION_LOST
							     : STATUS_QUOTA,
			     "the session could not be opened: %s", strerror(-r));
		return;
	}
	/* The mapping stays valid without the descriptor. */
	close_fd(&session->ring->fd);
	(void)uv_timer_stop(&session->hello_timer);
	session->features = features;
	session->state = SESSION_OPEN;
	session_make_hot(session);
	const struct engine_observer *observer = &session->engine->observer;
	if (observer->session_open)
		observer->session_open(observer->context, session->peer.session, session->command);
}

static void take_datagram(struct session *session, const Sycl__V1__Packet *packet,
			  struct packet_fds *fds)
{
	bool open = session->state == SESSION_OPEN;
	if (open && packet->body_case == SYCL__V1__PACKET__BODY_BUFFER_GRANT) {
		if (fds->count == 1)
			(void)session_grant_put(session, packet->buffer_grant->buffer,
						packet_fds_take(fds, 0));
		else
			(void)session_violation(session, "a buffer's grant carries one descriptor");
	} else if (packet->body_case != SYCL__V1__PACKET__BODY_HELLO) {
		(void)session_violation(session, open ? "a datagram came that no client may send"
						      : "the first datagram is not a hello");
	} else if (open) {
		(void)session_violation(session, "a second hello came");
	} else if (fds->count != 0) {
		(void)session_violation(session, "a hello carries no descriptors");
	} else {
		answer_hello(session, packet->hello);
	}
}

bool session_receive(struct session *session)
{
	if (session->state == SESSION_CLOSING || !list_empty(&session->doomed_link))
		return false;
	CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
	ProtobufCMessage *message;
	int r = message_receive(session->socket, &sycl__v1__packet__descriptor,
				&session->engine->decode, &message, &fds, MSG_DONTWAIT);
	if (r == -EAGAIN)
		return false;
	if (r == 0)
		session_fail(session, STATUS_CONNECTION_LOST, "the peer hung up");
	else if (r < 0)
		(void)handshake_violation(session, r);
	else
		take_datagram(session, (const Sycl__V1__Packet *)message, &fds);
	return true;
}
