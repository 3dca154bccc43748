#include "packet.h"

#include "cleanup.h"

#include <errno.h>
#include <string.h>

enum {
	ARENA_ALIGNMENT = _Alignof(max_align_t),
	SMALL_MESSAGE_BYTES = 1024,
};

static void *unpack_arena_alloc(void *allocator_data, size_t size)
{
	struct decode_arena *arena = allocator_data;
	size_t start = (arena->used + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
	if (start > arena->capacity || size > arena->capacity - start) {
		arena->overflowed = true;
		return NULL;
	}
	arena->used = start + size;
	return arena->block + start;
}

static void unpack_arena_free(void *allocator_data, void *pointer)
{
	(void)allocator_data;
	(void)pointer;
}

int decode_arena_init(struct decode_arena *arena, size_t capacity_bytes)
{
	if (capacity_bytes > SIZE_MAX - PACKET_BYTES_MAX)
		return -EINVAL;
	uint8_t *block = malloc(capacity_bytes + PACKET_BYTES_MAX);
	if (!block)
		return -ENOMEM;
	*arena = (struct decode_arena){
		.block = block,
		.capacity = capacity_bytes,
		.allocator = {.alloc = unpack_arena_alloc,
			      .free = unpack_arena_free,
			      .allocator_data = arena},
	};
	return 0;
}

void decode_arena_fini(struct decode_arena *arena)
{
	free(arena->block);
	*arena = (struct decode_arena){.block = NULL};
}

int message_unpack(const ProtobufCMessageDescriptor *descriptor, struct decode_arena *arena,
		   const void *bytes, size_t count, ProtobufCMessage **message_out)
{
	if (count > PACKET_BYTES_MAX)
		return -EBADMSG;
	arena->used = 0;
	arena->overflowed = false;
	ProtobufCMessage *message =
		protobuf_c_message_unpack(descriptor, &arena->allocator, count, bytes);
	if (!message)
		return arena->overflowed ? -ENOMEM : -EBADMSG;
	*message_out = message;
	return 0;
}

int message_send(int socket, const ProtobufCMessage *message, const int *fds, unsigned fd_count,
		 int flags)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	if (size > PACKET_BYTES_MAX)
		return -EMSGSIZE;
	/* Callers' threads may have small stacks, and most messages are small. */
	uint8_t small[SMALL_MESSAGE_BYTES];
	CLEANUP(free_pointer) uint8_t *large = NULL;
	uint8_t *bytes = small;
	if (size > sizeof(small)) {
		large = malloc(size);
		if (!large)
			return -ENOMEM;
		bytes = large;
	}
	(void)protobuf_c_message_pack(message, bytes);
	return packet_socket_send(socket, bytes, size, fds, fd_count, flags);
}

/* The field `uint32 descriptor_count = 1` of the message; NULL when its type has no such field. */
static const uint32_t *descriptor_count_of(const ProtobufCMessageDescriptor *descriptor,
					   const ProtobufCMessage *message)
{
	if (descriptor->n_fields == 0)
		return NULL;
	const ProtobufCFieldDescriptor *field = &descriptor->fields[0];
	if (field->id != 1 || field->type != PROTOBUF_C_TYPE_UINT32 ||
	    field->label != PROTOBUF_C_LABEL_NONE)
		return NULL;
	return (const uint32_t *)(const void *)((const uint8_t *)message + field->offset);
}

int message_receive(int socket, const ProtobufCMessageDescriptor *descriptor,
		    struct decode_arena *arena, ProtobufCMessage **message_out,
		    struct packet_fds *fds_out, int flags)
{
	CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
	uint8_t *datagram = arena->block + arena->capacity;
	ssize_t size = packet_socket_receive(socket, datagram, PACKET_BYTES_MAX,
					     fds_out ? &fds : NULL, flags);
	if (size <= 0)
		return (int)size;

	ProtobufCMessage *message;
	int r = message_unpack(descriptor, arena, datagram, (size_t)size, &message);
	if (r < 0)
		return r;
	const uint32_t *stated = descriptor_count_of(descriptor, message);
	if (!stated)
		return -EINVAL;
	if (*stated != fds.count)
		return -EPROTO;
	*message_out = message;
	if (fds_out)
		*fds_out = fds;
	fds.count = 0;
	return 1;
}
