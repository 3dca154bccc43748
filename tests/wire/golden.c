#include "golden.h"

#include "protocol_limits.h"
#include "packet.h"

#include <criterion/new/assert.h>

void assert_golden(const ProtobufCMessage *message, const void *bytes, size_t count)
{
	static uint8_t packed[PACKET_BYTES_MAX];
	struct cr_mem expected = { bytes, count };
	size_t size = protobuf_c_message_get_packed_size(message);
	cr_assert(le(sz, size, sizeof(packed)));
	cr_assert(eq(sz, protobuf_c_message_pack(message, packed), size));
	struct cr_mem sent = { packed, size };
	cr_assert(eq(mem, sent, expected), "%s is sent in other bytes", message->descriptor->name);

	struct decode_arena arena;
	cr_assert(eq(int, decode_arena_init(&arena, DECODE_BYTES_MAX), 0));
	ProtobufCMessage *received = NULL;
	cr_assert(eq(int, message_unpack(message->descriptor, &arena, bytes, count, &received), 0));
	cr_assert(eq(uint, received->n_unknown_fields, 0));
	size = protobuf_c_message_get_packed_size(received);
	cr_assert(eq(sz, protobuf_c_message_pack(received, packed), size));
	struct cr_mem again = { packed, size };
	cr_assert(eq(mem, again, expected), "%s is read as something else", message->descriptor->name);
	decode_arena_fini(&arena);
}
