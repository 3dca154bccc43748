/* Hello, Welcome, and the ring memory: looked at once, copied, checked. */
#include "connection/connection.h"

#include "clock.h"
#include "processors.h"
#include "base/session_rank.h"
#include "spin_pace.h"
#include "switches.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static sycl_result protocol_error(const char *what)
{
	return error_set(SYCL_ERROR_CONNECTION_LOST, "the service's first message is invalid: %s",
			 what);
}

/* SYCLD_RESUBMIT=0 sends every group as a message. SYCLD_USM_ENDS=0 copies host USM as other memory
 * of the program. Both are for tests, and for finding the cause of a fault. */
static uint64_t features_wanted(void)
{
	uint64_t features = FEATURE_GRAPHS | FEATURE_NATIVE | FEATURE_TEMPORARIES |
			    FEATURE_NATIVE_EARLY | FEATURE_NATIVE_NODES | FEATURE_GRAPH_SWITCH |
			    FEATURE_GRAPH_CONDITION | FEATURE_OUTPUT | FEATURE_EVENTS;

	if (!switch_is_off("SYCLD_RESUBMIT"))
		features |= FEATURE_RESUBMIT;
	if (!switch_is_off("SYCLD_USM_ENDS"))
		features |= FEATURE_USM_ENDS;
	return features;
}

static int say_hello(struct connection *c, const struct open_request *request, uint64_t features)
{
	char command[NAME_BYTES_MAX + 1];
	(void)snprintf(command, sizeof(command), "%s",
		       request->name ? request->name : program_invocation_short_name);
	Sycl__V1__Hello hello = SYCL__V1__HELLO__INIT;
	hello.protocol_min = PROTOCOL_VERSION;
	hello.protocol_max = PROTOCOL_VERSION;
	hello.features = features;
	hello.command = command;
	hello.library_version = (char *)SYCLD_VERSION;
	hello.session_class = (Sycl__V1__SessionClass)request->session_class;
	hello.weight = request->weight;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_HELLO;
	packet.hello = &hello;
	return message_send(c->socket, &packet.base, NULL, 0, 0);
}

/* 1: a message was received; else as message_receive, or -ETIMEDOUT. */
static int receive_greeting(struct connection *c, uint64_t deadline_ns,
			    ProtobufCMessage **message_out, struct packet_fds *fds)
{
	for (;;) {
		int r = message_receive(c->socket, &sycl__v1__packet__descriptor, &c->packet_arena,
					message_out, fds, MSG_DONTWAIT);
		if (r != -EAGAIN && r != -EINTR)
			return r;
		uint64_t now = clock_now_ns();
		if (now >= deadline_ns)
			return -ETIMEDOUT;
		struct pollfd socket = {.fd = c->socket, .events = POLLIN};
		uint64_t rest = deadline_ns - now;
		struct timespec time = {.tv_sec = (time_t)(rest / 1000000000ull),
					.tv_nsec = (long)(rest % 1000000000ull)};
		(void)ppoll(&socket, 1, deadline_ns == UINT64_MAX ? NULL : &time, NULL);
	}
}

static bool area_fits(uint64_t offset, uint64_t bytes, uint64_t header_bytes, uint64_t total)
{
	return offset >= header_bytes && offset % 64 == 0 && offset <= total &&
	       bytes <= total - offset;
}

static bool power_of_two(uint64_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

static sycl_result map_ring(struct connection *c, int fd, uint64_t bytes)
{
	if (bytes < sizeof(struct ring_header) || bytes > (1ull << 30)) {
		close_fd(&fd);
		return protocol_error("the size of the ring memory");
	}
	int r = memory_region_map(fd, (size_t)bytes, 1, &c->ring);
	if (r < 0)
		return r == -EPROTO
			       ? protocol_error("the ring memory is not sealed, or of another size")
			       : error_set_errno(r, "the ring memory cannot be mapped");
	close_fd(&c->ring->fd);
	struct ring_header *header = c->ring->address;
	/* The fixed part is copied once, so that the checked values are the used ones. */
	uint64_t magic = header->magic, total = header->total_bytes;
	uint64_t submit_offset = header->submit_offset, submit_bytes = header->submit_bytes;
	uint64_t reply_offset = header->reply_offset, reply_bytes = header->reply_bytes;
	uint64_t slots_offset = header->slots_offset, slot_count = header->slot_count;
	uint32_t layout = header->layout, header_bytes = header->header_bytes;
	if (magic != RING_MAGIC)
		return protocol_error("the ring memory's magic");
	if (layout != RING_LAYOUT)
		return error_set(SYCL_ERROR_VERSION,
				 "the service's rings have layout %u, this library's %u", layout,
				 RING_LAYOUT);
	if (total != bytes || header_bytes < sizeof(*header) || !power_of_two(submit_bytes) ||
	    submit_bytes < 4096 || !power_of_two(reply_bytes) || reply_bytes < 4096 ||
	    slot_count == 0 || slot_count > (1u << 24) ||
	    !area_fits(submit_offset, submit_bytes, header_bytes, total) ||
	    !area_fits(reply_offset, reply_bytes, header_bytes, total) ||
	    !area_fits(slots_offset, slot_count * sizeof(struct completion_slot), header_bytes,
		       total))
		return protocol_error("an area lies outside of the ring memory");

	uint8_t *base = c->ring->address;
	c->header = header;
	c->slot_memory = (struct completion_slot *)(void *)(base + slots_offset);
	ring_writer_init(&c->writer, base + submit_offset, submit_bytes, &header->submit_head,
			 &header->submit_tail);
	ring_reader_init(&c->reader, base + reply_offset, reply_bytes, &header->reply_head,
			 &header->reply_tail);
	r = slots_init(&c->slots, c->slot_memory, (uint32_t)slot_count);
	return r < 0 ? error_set_errno(r, "the completion slots cannot be set up") : SYCL_SUCCESS;
}

static sycl_result take_limits(struct connection *c, const Sycl__V1__Limits *limits)
{
	if (!limits || limits->objects == 0 || limits->objects > OBJECTS_MOST ||
	    limits->arenas == 0)
		return protocol_error("it states no limits");
	c->limits = (struct connection_limits){
		.objects = limits->objects,
		.arenas = limits->arenas,
		.groups_in_flight = limits->groups_in_flight,
		.arena_bytes = limits->arena_bytes,
		.buffer_bytes = limits->buffer_bytes,
		.source_bytes = limits->source_bytes,
	};
	int r = object_ids_init(&c->ids, limits->objects);
	if (r == 0)
		r = arenas_init(&c->arenas);
	return r < 0 ? error_set_errno(r, "the tables of the session cannot be set up")
		     : SYCL_SUCCESS;
}

/* A service that sends neither class nor weight treats all sessions alike. */
static sycl_result take_rank(struct connection *c, const Sycl__V1__Welcome *welcome)
{
	uint32_t class = (uint32_t)welcome->session_class;
	if (class > SYCL_SESSION_CLASS_BEST_EFFORT || welcome->weight > SESSION_WEIGHT_MAX)
		return protocol_error("the session's class or weight");
	c->session_class = class ? class : SYCL_SESSION_CLASS_NORMAL;
	c->weight = welcome->weight ? welcome->weight : SESSION_WEIGHT_DEFAULT;
	c->spin_most_ns = spin_pace_most(c->session_class == SYCL_SESSION_CLASS_LATENCY,
					 processors_here(), UINT32_MAX);
	return SYCL_SUCCESS;
}

static sycl_result take_welcome(struct connection *c, const Sycl__V1__Welcome *welcome,
				uint64_t features, struct packet_fds *fds)
{
	if (welcome->protocol >> 16 != PROTOCOL_MAJOR || welcome->protocol > PROTOCOL_VERSION)
		return error_set(SYCL_ERROR_VERSION,
				 "the service has protocol %u.%u, this library %u.%u",
				 welcome->protocol >> 16, welcome->protocol & 0xffff,
				 PROTOCOL_MAJOR, PROTOCOL_MINOR);
	sycl_result result = take_rank(c, welcome);
	if (result)
		return result;
	if (fds->count != 3)
		return protocol_error("it carries another number of descriptors");
	if (welcome->features & ~features)
		return protocol_error("it names features that were not requested");
	c->shapes.agreed_on = welcome->features & FEATURE_RESUBMIT;
	c->takes_events = welcome->features & FEATURE_EVENTS;
	c->takes_repeats = c->shapes.agreed_on && !switch_is_off(SWITCH_REPEAT);
	c->has_graphs = welcome->features & FEATURE_GRAPHS;
	c->has_natives = welcome->features & FEATURE_NATIVE;
	c->has_temporaries = welcome->features & FEATURE_TEMPORARIES;
	c->has_early = welcome->features & FEATURE_NATIVE_EARLY;
	c->has_native_nodes = welcome->features & FEATURE_NATIVE_NODES;
	c->has_graph_switch = welcome->features & FEATURE_GRAPH_SWITCH;
	c->has_graph_condition = welcome->features & FEATURE_GRAPH_CONDITION;
	c->has_usm_ends = welcome->features & FEATURE_USM_ENDS;
	c->session = welcome->session;
	c->in_process = c->in_process && welcome->in_process;
	c->bell = packet_fds_take(fds, 1);
	result = map_ring(c, packet_fds_take(fds, 0), welcome->ring_bytes);
	if (result)
		return result;
	int r = memory_region_map(packet_fds_take(fds, 2), sizeof(struct flight_page), 0,
				  &c->flight);
	if (r < 0)
		return error_set(SYCL_ERROR_CONNECTION_LOST,
				 "the service's flight page cannot be mapped: error %d", -r);
	close_fd(&c->flight->fd);
	return take_limits(c, welcome->limits);
}

static sycl_result session_refused(const Sycl__V1__SessionError *error)
{
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	status.code = error->code ? error->code : SYCL_ERROR_CONNECTION_LOST;
	status.text = error->text;
	struct failure failure;
	failure_from_status(&status, &failure);
	return error_set_failure(&failure);
}

sycl_result connection_handshake(struct connection *c, const struct open_request *request,
				 bool *is_gone_out)
{
	const uint64_t features = features_wanted();
	int r = say_hello(c, request, features);
	ProtobufCMessage *message = NULL;
	struct packet_fds fds = PACKET_FDS_INIT;
	/* A service that refuses the session at once may hang up before the hello is sent. Its
	 * reason can still be read. */
	if (r >= 0 || r == -EPIPE)
		r = receive_greeting(c, request->deadline_ns, &message, &fds);
	if (r == 0 || r == -EPIPE || r == -ECONNRESET) {
		*is_gone_out = true;
		return error_set(SYCL_ERROR_CONNECTION_LOST,
				 "the service closed the connection before it answered");
	}
	if (r == -ETIMEDOUT)
		return error_set(SYCL_ERROR_TIMEOUT, "the service at %s did not answer in time",
				 c->endpoint);
	if (r < 0)
		return error_set_errno(r, "the handshake with the service failed");
	const Sycl__V1__Packet *packet = (const Sycl__V1__Packet *)message;
	sycl_result result = SYCL_SUCCESS;
	if (packet->body_case == SYCL__V1__PACKET__BODY_WELCOME)
		result = take_welcome(c, packet->welcome, features, &fds);
	else if (packet->body_case == SYCL__V1__PACKET__BODY_ERROR)
		result = session_refused(packet->error);
	else
		result = protocol_error("it is no greeting");
	packet_fds_close(&fds);
	return result;
}
