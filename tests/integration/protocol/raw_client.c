#include "protocol/raw_client.h"
#include "cleanup.h"
#include "clock.h"
#include "wake.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* The format is always a literal in this file. */
#define FAIL(...)                                                                                  \
	do {                                                                                       \
		(void)fprintf(stderr, "raw client: " __VA_ARGS__);                                 \
		(void)fputc('\n', stderr);                                                         \
		abort();                                                                           \
	} while (0)

void raw_init(struct raw_client *client, int socket)
{
	*client = (struct raw_client){.socket = socket, .bell = -1, .flight_fd = -1, .granted = -1};
	client->record = malloc(PACKET_BYTES_MAX);
	if (!client->record || decode_arena_init(&client->decode, DECODE_BYTES_MAX) < 0 ||
	    decode_arena_init(&client->packets, DECODE_BYTES_MAX) < 0)
		FAIL("no memory");
}

void raw_fini(struct raw_client *client)
{
	close_fd(&client->socket);
	close_fd(&client->bell);
	close_fd(&client->flight_fd);
	close_fd(&client->granted);
	for (int i = 0; i < RAW_ARENAS; i++)
		client->arenas[i] = memory_region_free(client->arenas[i]);
	client->ring = memory_region_free(client->ring);
	decode_arena_fini(&client->decode);
	decode_arena_fini(&client->packets);
	free(client->record);
}

void raw_send_hello(struct raw_client *client, uint32_t protocol_min, uint32_t protocol_max)
{
	Sycl__V1__Hello hello = SYCL__V1__HELLO__INIT;
	hello.protocol_min = protocol_min;
	hello.protocol_max = protocol_max;
	hello.command = (char *)(uintptr_t) "raw client";
	hello.features = client->features;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_HELLO;
	packet.hello = &hello;
	(void)message_send(client->socket, &packet.base, NULL, 0, 0);
}

static void take_welcome(struct raw_client *client, const Sycl__V1__Welcome *welcome,
			 struct packet_fds *fds)
{
	if (memory_region_map(packet_fds_take(fds, 0), welcome->ring_bytes, 1, &client->ring) < 0)
		FAIL("the ring memory cannot be mapped");
	client->bell = packet_fds_take(fds, 1);
	client->flight_fd = packet_fds_take(fds, 2);
	client->session = welcome->session;
	struct ring_header *header = client->ring->address;
	if (header->magic != RING_MAGIC || header->layout != RING_LAYOUT || client->bell < 0 ||
	    client->flight_fd < 0)
		FAIL("the ring memory is not laid out as agreed");
	uint8_t *base = client->ring->address;
	client->header = header;
	ring_writer_init(&client->submit, base + header->submit_offset, header->submit_bytes,
			 &header->submit_head, &header->submit_tail);
	ring_reader_init(&client->replies, base + header->reply_offset, header->reply_bytes,
			 &header->reply_head, &header->reply_tail);
	client->slots = (struct completion_slot *)(void *)(base + header->slots_offset);
}

static void take_grant(struct raw_client *client, const Sycl__V1__ArenaGrant *grant,
		       struct packet_fds *fds)
{
	client->grant_code = grant->code;
	client->grants++;
	if (grant->code != 0 || grant->arena >= RAW_ARENAS)
		return;
	struct memory_region **arena = &client->arenas[grant->arena];
	*arena = memory_region_free(
		*arena); /* the engine may have destroyed an earlier one of this number */
	if (memory_region_map(packet_fds_take(fds, 0), grant->size_bytes, 1, arena) < 0)
		FAIL("an arena cannot be mapped");
}

/* Takes one datagram if there is one, otherwise returns false. */
static bool take_packet(struct raw_client *client)
{
	CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
	ProtobufCMessage *message;
	int r = client->closed ? 0
			       : message_receive(client->socket, &sycl__v1__packet__descriptor,
						 &client->packets, &message, &fds, MSG_DONTWAIT);
	if (r == -EAGAIN)
		return false;
	if (r <= 0) {
		client->closed = true;
		return false;
	}
	const Sycl__V1__Packet *packet = (const Sycl__V1__Packet *)message;
	switch (packet->body_case) {
	case SYCL__V1__PACKET__BODY_WELCOME:
		take_welcome(client, packet->welcome, &fds);
		break;
	case SYCL__V1__PACKET__BODY_ERROR:
		client->error_code = packet->error->code;
		(void)snprintf(client->error_text, sizeof(client->error_text), "%s",
			       packet->error->text);
		break;
	case SYCL__V1__PACKET__BODY_ARENA_GRANT:
		take_grant(client, packet->arena_grant, &fds);
		break;
	case SYCL__V1__PACKET__BODY_BUFFER_GRANT:
		close_fd(&client->granted);
		client->granted = packet_fds_take(&fds, 0);
		client->granted_buffer = packet->buffer_grant->buffer;
		break;
	case SYCL__V1__PACKET__BODY_WAKE:
		break;
	default:
		FAIL("an unexpected datagram came");
	}
	return true;
}

/* Sleeps until a datagram comes; `what` is for the error message if none does. */
static void wait_packet(struct raw_client *client, const char *what)
{
	struct pollfd poll_fd = {.fd = client->socket, .events = POLLIN};
	if (client->closed)
		return;
	if (poll(&poll_fd, 1, RAW_WAIT_MS) <= 0)
		FAIL("waited too long for %s", what);
	while (take_packet(client))
		;
}

void raw_open(struct raw_client *client)
{
	raw_open_between(client, PROTOCOL_VERSION, PROTOCOL_VERSION);
}

void raw_open_between(struct raw_client *client, uint32_t protocol_min, uint32_t protocol_max)
{
	raw_send_hello(client, protocol_min, protocol_max);
	while (!client->header && !client->closed)
		wait_packet(client, "the welcome");
	if (!client->header)
		FAIL("no welcome came: %s", client->error_text);
}

void raw_ring_bell(struct raw_client *client)
{
	wake_ring_bell(client->bell);
}

uint64_t raw_send_bytes(struct raw_client *client, uint16_t kind, const void *bytes, uint32_t count)
{
	uint64_t deadline = clock_deadline_ns(RAW_WAIT_MS * 1000000ull);
	void *payload;
	int r;
	while ((r = ring_writer_reserve(&client->submit, kind, count, &payload)) == -EAGAIN &&
	       !client->closed) {
		if (clock_now_ns() > deadline)
			FAIL("waited too long for room in the submit ring");
		wake_prepare_sleep(&client->header->client_wants_room);
		struct pollfd poll_fd = {.fd = client->socket, .events = POLLIN};
		if (ring_writer_reserve(&client->submit, kind, count, &payload) == -EAGAIN)
			(void)poll(&poll_fd, 1, 100);
		wake_cancel_sleep(&client->header->client_wants_room);
		while (take_packet(client))
			;
	}
	/* An engine that ends a session empties its ring: the end of the session will arrive. */
	if (r == -EPROTO)
		raw_wait_closed(client);
	if (client->closed)
		return 0;
	if (r < 0)
		FAIL("cannot reserve %u bytes: %s", count, strerror(-r));
	if (count)
		memcpy(payload, bytes, count);
	ring_writer_commit(&client->submit);
	client->records++;
	if (!client->silent && wake_claim(&client->header->engine_sleeps))
		raw_ring_bell(client);
	return client->records;
}

uint64_t raw_send(struct raw_client *client, const Sycl__V1__Command *command)
{
	size_t bytes = sycl__v1__command__get_packed_size(command);
	CLEANUP(free_pointer) uint8_t *packed = malloc(bytes + 1);
	if (!packed)
		FAIL("no memory");
	(void)sycl__v1__command__pack(command, packed);
	return raw_send_bytes(client, RING_RECORD_MESSAGE, packed, (uint32_t)bytes);
}

const Sycl__V1__Reply *raw_try_reply(struct raw_client *client)
{
	uint16_t kind;
	uint32_t bytes;
	int r = ring_reader_next(&client->replies, client->record, &kind, &bytes);
	if (r == 0)
		return NULL;
	ProtobufCMessage *message;
	if (r < 0 || kind != RING_RECORD_MESSAGE ||
	    message_unpack(&sycl__v1__reply__descriptor, &client->decode, client->record, bytes,
			   &message) < 0)
		FAIL("a reply cannot be read");
	ring_reader_publish(&client->replies);
	if (wake_claim(&client->header->engine_wants_room))
		raw_ring_bell(client);
	return (const Sycl__V1__Reply *)message;
}

const Sycl__V1__Reply *raw_next_reply(struct raw_client *client)
{
	for (;;) {
		const Sycl__V1__Reply *reply = raw_try_reply(client);
		if (reply || client->closed)
			return reply;
		wake_prepare_sleep(&client->header->client_sleeps);
		if (!ring_reader_has_more(&client->replies))
			wait_packet(client, "a reply");
		wake_cancel_sleep(&client->header->client_sleeps);
	}
}

const Sycl__V1__Reply *raw_reply_to(struct raw_client *client, uint64_t number)
{
	const Sycl__V1__Reply *reply;
	do {
		reply = raw_next_reply(client);
	} while (reply && reply->number != number);
	return reply;
}

void raw_wait_granted(struct raw_client *client, uint64_t buffer)
{
	while (client->granted_buffer != buffer && !client->closed)
		wait_packet(client, "a buffer's descriptor");
}

uint32_t raw_wait_slot(struct raw_client *client, uint32_t slot, uint32_t value)
{
	struct completion_slot *place = &client->slots[slot];
	for (;;) {
		if (sequence_reached(atomic_load_explicit(&place->sequence, memory_order_acquire),
				     value))
			return atomic_load_explicit(&place->status, memory_order_relaxed);
		if (client->closed)
			FAIL("the engine hung up while slot %u was waited for: %s", slot,
			     client->error_text);
		wake_prepare_sleep(&client->header->client_sleeps);
		if (!sequence_reached(atomic_load_explicit(&place->sequence, memory_order_acquire),
				      value))
			wait_packet(client, "a completion slot");
		wake_cancel_sleep(&client->header->client_sleeps);
	}
}

void raw_wait_closed(struct raw_client *client)
{
	while (!client->closed)
		wait_packet(client, "the end of the session");
}

uint64_t raw_ping(struct raw_client *client)
{
	Sycl__V1__Ping ping = SYCL__V1__PING__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_PING;
	command.ping = &ping;
	return raw_send(client, &command);
}

void raw_round_trip(struct raw_client *client)
{
	uint64_t number = raw_ping(client);
	const Sycl__V1__Reply *reply = raw_reply_to(client, number);
	if (!reply || reply->body_case != SYCL__V1__REPLY__BODY_PONG)
		FAIL("no pong came: %s", client->error_text);
}

uint64_t raw_release(struct raw_client *client, uint64_t object)
{
	Sycl__V1__Release release = SYCL__V1__RELEASE__INIT;
	release.object = object;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_RELEASE;
	command.release = &release;
	return raw_send(client, &command);
}

void raw_arena(struct raw_client *client, uint32_t arena, uint64_t size_bytes)
{
	raw_arena_at(client, arena, size_bytes, 0);
}

void raw_arena_at(struct raw_client *client, uint32_t arena, uint64_t size_bytes, uint64_t address)
{
	Sycl__V1__ArenaCreate create = SYCL__V1__ARENA_CREATE__INIT;
	create.arena = arena;
	create.size_bytes = size_bytes;
	create.address = address;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_ARENA_CREATE;
	command.arena_create = &create;
	uint32_t before = client->grants;
	(void)raw_send(client, &command);
	while (client->grants == before && !client->closed)
		wait_packet(client, "an arena");
}

uint64_t raw_context(struct raw_client *client, uint64_t context, uint32_t device)
{
	Sycl__V1__ContextCreate create = SYCL__V1__CONTEXT_CREATE__INIT;
	create.context = context;
	create.n_devices = 1;
	create.devices = &device;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_CONTEXT_CREATE;
	command.context_create = &create;
	return raw_send(client, &command);
}

uint64_t raw_queue(struct raw_client *client, uint64_t queue, uint64_t context, uint32_t device,
		   uint32_t slot, bool in_order)
{
	Sycl__V1__QueueCreate create = SYCL__V1__QUEUE_CREATE__INIT;
	create.queue = queue;
	create.context = context;
	create.device = device;
	create.slot = slot;
	create.in_order = in_order;
	create.enable_profiling = !client->untimed;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_QUEUE_CREATE;
	command.queue_create = &create;
	return raw_send(client, &command);
}

static uint64_t graph_create(struct raw_client *client, const Sycl__V1__GraphCreate *facts)
{
	Sycl__V1__GraphCreate message = *facts;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_CREATE;
	command.graph_create = &message;
	return raw_send(client, &command);
}

static Sycl__V1__GraphCreate graph_create_message(uint64_t graph, uint64_t context, uint32_t device,
						  uint32_t nodes)
{
	Sycl__V1__GraphCreate message = SYCL__V1__GRAPH_CREATE__INIT;
	message.graph = graph;
	message.context = context;
	message.device = device;
	message.nodes = nodes;
	return message;
}

uint64_t raw_graph(struct raw_client *client, uint64_t graph, uint64_t context, uint32_t device,
		   uint32_t nodes)
{
	const Sycl__V1__GraphCreate message = graph_create_message(graph, context, device, nodes);
	return graph_create(client, &message);
}

uint64_t raw_graph_updatable(struct raw_client *client, uint64_t graph, uint64_t context,
			     uint32_t device, uint32_t nodes)
{
	Sycl__V1__GraphCreate message = graph_create_message(graph, context, device, nodes);
	message.updatable = true;
	return graph_create(client, &message);
}

uint64_t raw_graph_update(struct raw_client *client, uint64_t graph, Sycl__V1__CommandGroup *group)
{
	Sycl__V1__GraphUpdate message = SYCL__V1__GRAPH_UPDATE__INIT;
	message.graph = graph;
	message.group = group;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_UPDATE;
	command.graph_update = &message;
	return raw_send(client, &command);
}

uint64_t raw_graph_node(struct raw_client *client, uint64_t graph, Sycl__V1__CommandGroup *group,
			uint32_t *after, size_t count)
{
	Sycl__V1__GraphNode message = SYCL__V1__GRAPH_NODE__INIT;
	message.graph = graph;
	message.group = group;
	message.n_after = count;
	message.after = after;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_NODE;
	command.graph_node = &message;
	return raw_send(client, &command);
}

uint64_t raw_graph_finish(struct raw_client *client, uint64_t graph)
{
	Sycl__V1__GraphFinish message = SYCL__V1__GRAPH_FINISH__INIT;
	message.graph = graph;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_FINISH;
	command.graph_finish = &message;
	return raw_send(client, &command);
}

uint64_t raw_buffer(struct raw_client *client, uint64_t buffer, uint32_t arena,
		    uint64_t offset_bytes, uint64_t size_bytes)
{
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	range.arena = arena;
	range.offset_bytes = offset_bytes;
	range.size_bytes = size_bytes;
	Sycl__V1__BufferCreate create = SYCL__V1__BUFFER_CREATE__INIT;
	create.buffer = buffer;
	create.size_bytes = size_bytes;
	create.range = size_bytes ? &range : NULL;
	create.initialised = true;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_CREATE;
	command.buffer_create = &create;
	return raw_send(client, &command);
}

void raw_grant(struct raw_client *client, uint64_t buffer, const int *fds, unsigned count)
{
	Sycl__V1__BufferGrant grant = SYCL__V1__BUFFER_GRANT__INIT;
	grant.buffer = buffer;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.descriptor_count = count;
	packet.body_case = SYCL__V1__PACKET__BODY_BUFFER_GRANT;
	packet.buffer_grant = &grant;
	(void)message_send(client->socket, &packet.base, fds, count, 0);
}

uint32_t raw_fake_device(struct raw_client *client)
{
	Sycl__V1__Discover discover = SYCL__V1__DISCOVER__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_DISCOVER;
	command.discover = &discover;
	const Sycl__V1__Reply *reply = raw_reply_to(client, raw_send(client, &command));
	if (!reply || reply->body_case != SYCL__V1__REPLY__BODY_TOPOLOGY)
		FAIL("no topology came: %s", client->error_text);
	const Sycl__V1__Topology *topology = reply->topology;
	for (size_t i = 0; i < topology->n_devices; i++) {
		const Sycl__V1__DeviceFacts *device = topology->devices[i];
		if (topology->platforms[device->platform]->backend ==
		    SYCL__V1__BACKEND__BACKEND_FAKE)
			return device->device;
	}
	FAIL("there is no fake device");
}
