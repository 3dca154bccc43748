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

/* An allocator with a budget and without single frees: one per decoder, reset after each message.
 */
struct decode_arena {
	uint8_t *block; /* capacity bytes, then room for one received datagram; never grows */
	size_t capacity;
	size_t used;
	bool overflowed; /* the message needed more than there is */
	ProtobufCAllocator allocator;
};

int decode_arena_init(struct decode_arena *arena, size_t capacity_bytes);
void decode_arena_fini(struct decode_arena *arena);

/*
 * Unpack from private memory (never from shared memory: protobuf-c reads its input twice). The
 * result lives in the arena until the next call with it. -EBADMSG: malformed. -ENOMEM: unpacks to
 * more than the arena holds.
 */
int message_unpack(const ProtobufCMessageDescriptor *descriptor, struct decode_arena *arena,
		   const void *bytes, size_t count, ProtobufCMessage **message_out);

/* Pack and send a message that has `uint32 descriptor_count = 1` already set to fd_count. As
 * packet_socket_send. */
int message_send(int socket, const ProtobufCMessage *message, const int *fds, unsigned fd_count,
		 int flags);

/*
 * Receive and unpack one. 1: got one; 0: hang-up; else a negative errno of packet_socket_receive or
 * message_unpack. -EPROTO also when the message states another number of descriptors than came. The
 * message's descriptor must have `uint32 descriptor_count = 1` as its first field. `fds_out` may be
 * NULL, as there.
 */
int message_receive(int socket, const ProtobufCMessageDescriptor *descriptor,
		    struct decode_arena *arena, ProtobufCMessage **message_out,
		    struct packet_fds *fds_out, int flags);

#endif
