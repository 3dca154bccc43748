/*
 * A client without the library. It sends requests until both rings are full, and reads nothing.
 * When a line comes, it reads everything. Every request must have been answered, in order.
 */
#include "processes/programs/worker.h"

#include "command.pb-c.h"
#include "memory_region.h"
#include "packet.h"
#include "ring.h"
#include "session.pb-c.h"
#include "wake.h"

#include <poll.h>
#include <string.h>

enum { PING_BYTES = 64, STILL_POLLS = 200 };

struct undrained {
	int socket, bell;
	struct memory_region *ring;
	struct ring_header *header;
	struct ring_writer commands;
	struct ring_reader replies;
	struct decode_arena arena;
	uint64_t asked, answered;
};

static void receive_welcome(struct undrained *u)
{
	ProtobufCMessage *message;
	struct packet_fds fds = PACKET_FDS_INIT;
	worker_check(message_receive(u->socket, &sycl__v1__packet__descriptor, &u->arena, &message,
				     &fds, 0) == 1,
		     "no answer to Hello");
	const Sycl__V1__Packet *packet = (const Sycl__V1__Packet *)message;
	worker_check(packet->body_case == SYCL__V1__PACKET__BODY_WELCOME && fds.count == 3,
		     "no Welcome");
	worker_say("session %llu", (unsigned long long)packet->welcome->session);
	u->bell = packet_fds_take(&fds, 1);
	worker_check(memory_region_map(packet_fds_take(&fds, 0), packet->welcome->ring_bytes, 1,
				       &u->ring) == 0,
		     "the ring memory cannot be mapped");
	packet_fds_close(&fds);
}

static void shake_hands(struct undrained *u, const char *endpoint)
{
	worker_check(endpoint && strncmp(endpoint, "unix:", 5) == 0, "wants --endpoint unix:PATH");
	worker_check(packet_socket_connect(endpoint + 5, &u->socket) == 0, "cannot connect");
	worker_check(decode_arena_init(&u->arena, DECODE_BYTES_MAX) == 0, "no memory");
	Sycl__V1__Hello hello = SYCL__V1__HELLO__INIT;
	hello.protocol_min = hello.protocol_max = PROTOCOL_VERSION;
	hello.command = (char *)(uintptr_t) "undrained";
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_HELLO;
	packet.hello = &hello;
	worker_check(message_send(u->socket, &packet.base, NULL, 0, 0) == 0, "cannot send Hello");
	receive_welcome(u);
	u->header = u->ring->address;
	uint8_t *base = u->ring->address;
	ring_writer_init(&u->commands, base + u->header->submit_offset, u->header->submit_bytes,
			 &u->header->submit_head, &u->header->submit_tail);
	ring_reader_init(&u->replies, base + u->header->reply_offset, u->header->reply_bytes,
			 &u->header->reply_head, &u->header->reply_tail);
}

static void ring_bell(struct undrained *u)
{
	if (wake_claim(&u->header->engine_sleeps))
		wake_ring_bell(u->bell);
}

static bool send_ping(struct undrained *u)
{
	Sycl__V1__Ping ping = SYCL__V1__PING__INIT;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_PING;
	command.ping = &ping;
	uint8_t packed[PING_BYTES];
	size_t size = sycl__v1__command__pack(&command, packed);
	void *payload;
	if (ring_writer_reserve(&u->commands, RING_RECORD_MESSAGE, (uint32_t)size, &payload) != 0)
		return false;
	memcpy(payload, packed, size);
	ring_writer_commit(&u->commands);
	u->asked++;
	return true;
}

/* Waits until the engine has read nothing more for many polls, with both rings full. */
static void fill_both(struct undrained *u)
{
	for (int still = 0; still < STILL_POLLS;) {
		bool room = false;
		while (send_ping(u))
			room = true;
		ring_bell(u);
		(void)poll(NULL, 0, 1);
		still = room ? 0 : still + 1;
	}
	uint64_t unread = atomic_load(&u->header->reply_head) - atomic_load(&u->header->reply_tail);
	worker_check(unread > u->header->reply_bytes / 2,
		     "the engine stopped reading though the reply ring has room");
}

static void read_answers(struct undrained *u)
{
	static _Alignas(16) uint8_t buffer[PACKET_BYTES_MAX];
	uint16_t kind;
	uint32_t size;
	int r;
	while ((r = ring_reader_next(&u->replies, buffer, &kind, &size)) == 1) {
		ProtobufCMessage *message;
		worker_check(message_unpack(&sycl__v1__reply__descriptor, &u->arena, buffer, size,
					    &message) == 0,
			     "an answer is malformed");
		const Sycl__V1__Reply *reply = (const Sycl__V1__Reply *)message;
		worker_check(reply->body_case == SYCL__V1__REPLY__BODY_PONG &&
				     reply->number == ++u->answered,
			     "an answer is missing");
	}
	worker_check(r == 0, "the reply ring is broken");
	ring_reader_publish(&u->replies);
	if (wake_claim(&u->header->engine_wants_room))
		wake_ring_bell(u->bell);
	ring_bell(u);
}

int worker_undrained(struct worker *worker)
{
	static struct undrained u = {.socket = -1, .bell = -1};
	shake_hands(&u, worker->endpoint);
	fill_both(&u);
	worker_say("full");
	worker_check(worker_next_line(), "no line came");
	while (u.answered < u.asked) {
		read_answers(&u);
		struct pollfd gone = {.fd = u.socket};
		worker_check(poll(&gone, 1, 1) == 0, "the session was closed");
	}
	decode_arena_fini(&u.arena);
	u.ring = memory_region_free(u.ring);
	worker_say("ok");
	return 0;
}
