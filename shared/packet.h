/*
 * Packs and unpacks the messages of proto/ under limits: at most PACKET_BYTES_MAX on the wire and
 * DECODE_BYTES_MAX unpacked. As many descriptors must arrive as the message states.
 */
#ifndef SYCL_SHARED_PACKET_H
#define SYCL_SHARED_PACKET_H

#include "packet_socket.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

/* An allocator with a budget and without single frees. Each decoder has one, and resets it after
 * each message. */
struct decode_arena {
	uint8_t *block; /* capacity bytes, then room for one received datagram; never grows */
	size_t capacity;
	size_t used;
	bool overflowed; /* the message needed more than the block has */
	ProtobufCAllocator allocator;
};

int decode_arena_init(struct decode_arena *arena, size_t capacity_bytes);
void decode_arena_fini(struct decode_arena *arena);

/*
 * Unpacks from private memory (never from shared memory: protobuf-c reads its input twice). The
 * result lives in the arena until the next call with it. -EBADMSG: malformed. -ENOMEM: the message
 * unpacks to more bytes than the arena holds.
 */
int message_unpack(const ProtobufCMessageDescriptor *descriptor, struct decode_arena *arena,
		   const void *bytes, size_t count, ProtobufCMessage **message_out);

/* Packs and sends a message whose `uint32 descriptor_count = 1` is already fd_count. Otherwise as
 * packet_socket_send. */
int message_send(int socket, const ProtobufCMessage *message, const int *fds, unsigned fd_count,
		 int flags);

/*
 * Receives and unpacks one message. 1: there is a message; 0: hang-up; else a negative errno of
 * packet_socket_receive or message_unpack. -EPROTO also when the message states another number of
 * descriptors than arrived. The message's descriptor must have `uint32 descriptor_count = 1` as its
 * first field. `fds_out` may be NULL, as in packet_socket_receive.
 */
int message_receive(int socket, const ProtobufCMessageDescriptor *descriptor,
		    struct decode_arena *arena, ProtobufCMessage **message_out,
		    struct packet_fds *fds_out, int flags);

#endif
