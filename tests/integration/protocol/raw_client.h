/*
 * A client of the bare protocol, for tests that send what no library would send. Every wait has a
 * deadline. Reaching it, or getting anything unexpected, ends the program with a sentence on
 * stderr.
 */
#ifndef SYCL_TESTS_RAW_CLIENT_H
#define SYCL_TESTS_RAW_CLIENT_H

#include "protocol_limits.h"
#include "memory_region.h"
#include "object_id.h"
#include "packet.h"
#include "ring.h"

#include "command.pb-c.h"
#include "session.pb-c.h"

#include <stdbool.h>
#include <stdint.h>

#define RAW_WAIT_MS 100000
#define RAW_ARENAS  4

struct raw_client {
	int socket, bell, flight_fd;
	struct memory_region *ring, *arenas[RAW_ARENAS];
	struct ring_header *header;
	struct ring_writer submit;
	struct ring_reader replies;
	struct completion_slot *slots;
	uint64_t records; /* sent */
	uint64_t session;
	uint64_t features; /* requested in the hello; set before */
	bool silent;       /* do not ring the bell */
	bool untimed;      /* queues are made without profiling */
	bool closed;       /* the engine hung up, after this: */
	int32_t error_code;
	char error_text[512];
	int32_t grant_code; /* of the latest ArenaGrant, and how many there were */
	uint32_t grants;
	int granted; /* descriptor of the latest BufferGrant, or -1 */
	uint64_t granted_buffer;
	struct decode_arena decode; /* holds the latest reply */
	struct decode_arena packets;
	uint8_t *record;
};

/* Makes a client of this end of a socketpair and takes it. Nothing is sent yet. */
void raw_init(struct raw_client *client, int socket);
void raw_fini(struct raw_client *client);

void raw_send_hello(struct raw_client *client, uint32_t protocol_min, uint32_t protocol_max);
/* Sends the hello, waits for the welcome and maps the rings. */
void raw_open(struct raw_client *client);
/* The same with another range of versions. */
void raw_open_between(struct raw_client *client, uint32_t protocol_min, uint32_t protocol_max);

/* Writes a command into the ring and rings the bell. Returns its number. Waits for room. */
uint64_t raw_send(struct raw_client *client, const Sycl__V1__Command *command);
/* The same for any bytes. */
uint64_t raw_send_bytes(struct raw_client *client, uint16_t kind, const void *bytes,
			uint32_t count);
void raw_ring_bell(struct raw_client *client);

/* Waits for the descriptor of the exported buffer. The reply may be read before it. */
void raw_wait_granted(struct raw_client *client, uint64_t buffer);

/* Returns the next reply of any kind; it is valid until the next call. NULL: the engine hung up. */
const Sycl__V1__Reply *raw_next_reply(struct raw_client *client);
/* As above, without waiting: NULL also when there is none. */
const Sycl__V1__Reply *raw_try_reply(struct raw_client *client);
/* Returns the next reply with that number (0: the next unasked one); others are dropped. */
const Sycl__V1__Reply *raw_reply_to(struct raw_client *client, uint64_t number);
/* Waits until the slot has reached the value; replies stay in the ring. Returns its status. */
uint32_t raw_wait_slot(struct raw_client *client, uint32_t slot, uint32_t value);
/* Waits until the engine has hung up; replies are dropped. */
void raw_wait_closed(struct raw_client *client);

/* Shorthands. Each sends one command and does not wait, unless stated. */
uint64_t raw_ping(struct raw_client *client);
/* Waits for the pong. */
void raw_round_trip(struct raw_client *client);
uint64_t raw_release(struct raw_client *client, uint64_t object);
/* Waits for the grant and maps it; its code is in grant_code. */
void raw_arena(struct raw_client *client, uint32_t arena, uint64_t size_bytes);
/* The same for USM: the engine has it at this address; here it is mapped anywhere. */
void raw_arena_at(struct raw_client *client, uint32_t arena, uint64_t size_bytes, uint64_t address);
uint64_t raw_context(struct raw_client *client, uint64_t context, uint32_t device);
uint64_t raw_queue(struct raw_client *client, uint64_t queue, uint64_t context, uint32_t device,
		   uint32_t slot, bool in_order);
uint64_t raw_buffer(struct raw_client *client, uint64_t buffer, uint32_t arena,
		    uint64_t offset_bytes, uint64_t size_bytes);
/* An executable graph: its begin, new contents of a node, a node that follows those in `after`, its
 * end. */
uint64_t raw_graph(struct raw_client *client, uint64_t graph, uint64_t context, uint32_t device,
		   uint32_t nodes);
uint64_t raw_graph_updatable(struct raw_client *client, uint64_t graph, uint64_t context,
			     uint32_t device, uint32_t nodes);
uint64_t raw_graph_update(struct raw_client *client, uint64_t graph, Sycl__V1__CommandGroup *group);
uint64_t raw_graph_node(struct raw_client *client, uint64_t graph, Sycl__V1__CommandGroup *group,
			uint32_t *after, size_t count);
uint64_t raw_graph_finish(struct raw_client *client, uint64_t graph);
/* Sends a BufferGrant with these descriptors. */
void raw_grant(struct raw_client *client, uint64_t buffer, const int *fds, unsigned count);
/* Sends Discover. Returns the index of the first device of the fake backend. Waits. */
uint32_t raw_fake_device(struct raw_client *client);

static inline uint64_t raw_id(enum object_type type, uint32_t index)
{
	return object_id_make(type, 1, index);
}

#endif
