/*
 * The bytes of a datagram or of a record. The first byte is the type of message, the second the
 * size of the arena. 0 is the real budget, otherwise it is that many times 32 bytes, so that memory
 * ends at every possible place.
 */
#include "fuzz.h"

#include "flat_message.h"
#include "protocol_limits.h"
#include "message_types.h"
#include "packet.h"

#include <errno.h>
#include <string.h>

static bool has_unknown_fields(const ProtobufCMessage *message);

static bool field_has_unknown_fields(const ProtobufCMessage *message,
				     const ProtobufCFieldDescriptor *field)
{
	const uint8_t *base = (const uint8_t *)message;
	if (field->type != PROTOBUF_C_TYPE_MESSAGE)
		return false;
	if (field->label == PROTOBUF_C_LABEL_REPEATED) {
		size_t count = *(const size_t *)(const void *)(base + field->quantifier_offset);
		ProtobufCMessage *const *elements;
		memcpy(&elements, base + field->offset, sizeof(elements));
		for (size_t i = 0; i < count; i++) {
			if (has_unknown_fields(elements[i]))
				return true;
		}
		return false;
	}
	if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) &&
	    *(const uint32_t *)(const void *)(base + field->quantifier_offset) != field->id)
		return false;
	const ProtobufCMessage *inner =
		*(const ProtobufCMessage *const *)(const void *)(base + field->offset);
	return inner && has_unknown_fields(inner);
}

static bool has_unknown_fields(const ProtobufCMessage *message)
{
	if (message->n_unknown_fields)
		return true;
	for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
		if (field_has_unknown_fields(message, &message->descriptor->fields[i]))
			return true;
	}
	return false;
}

/*
 * An unpacked message can be packed, and unpacked again to the same: no pointer in it is wrong.
 * This is not so with unknown fields: the codec accepts a field number of zero in two bytes, writes
 * it in one, and does not accept that.
 */
static void check_round_trip(const ProtobufCMessageDescriptor *type,
			     const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);
	uint8_t *packed = malloc(size ? size : 1);
	FUZZ_CHECK(packed != NULL);
	FUZZ_CHECK(protobuf_c_message_pack(message, packed) == size);
	FUZZ_CHECK(protobuf_c_message_check(message));

	static struct decode_arena arena; /* it is large, so it is made once */
	if (!arena.block)
		FUZZ_CHECK(decode_arena_init(&arena, 64u << 20) == 0);
	ProtobufCMessage *again = NULL;
	int r = message_unpack(type, &arena, packed, size, &again);
	/* A packed number may be longer than it was; only then is it too large. */
	FUZZ_CHECK(r == 0 || (size > PACKET_BYTES_MAX && r == -EBADMSG) ||
		   has_unknown_fields(message));
	if (r == 0 && !has_unknown_fields(message)) {
		uint8_t *repacked = malloc(size ? size : 1);
		FUZZ_CHECK(repacked != NULL);
		FUZZ_CHECK(protobuf_c_message_get_packed_size(again) == size);
		FUZZ_CHECK(protobuf_c_message_pack(again, repacked) == size);
		FUZZ_CHECK(memcmp(packed, repacked, size) == 0);
		free(repacked);
	}
	free(packed);
}

static void check_flat_launch(struct decode_arena *arena, const uint8_t *bytes, size_t count,
			      const struct flat_graph_launch *flat)
{
	ProtobufCMessage *message = NULL;
	FUZZ_CHECK(message_unpack(&sycl__v1__command__descriptor, arena, bytes, count, &message) ==
		   0);
	const Sycl__V1__Command *command = (const Sycl__V1__Command *)message;
	FUZZ_CHECK(command->body_case == SYCL__V1__COMMAND__BODY_COMMAND_GROUP);
	const Sycl__V1__CommandGroup *group = command->command_group;
	FUZZ_CHECK(group->action_case == SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH);
	FUZZ_CHECK(!has_unknown_fields(message) && group->graph_launch->n_host_tasks == 0);
	FUZZ_CHECK(group->queue == flat->queue && group->graph_launch->graph == flat->graph);
}

/* If the quick way accepts a message, protobuf-c must accept it with the same numbers. */
static void check_flat(const uint8_t *bytes, size_t count)
{
	static struct decode_arena arena;
	struct flat_message flat;
	struct flat_graph_launch launch;
	if (!arena.block)
		FUZZ_CHECK(decode_arena_init(&arena, DECODE_BYTES_MAX) == 0);
	if (flat_graph_launch_unpack(bytes, count, &launch))
		check_flat_launch(&arena, bytes, count, &launch);
	if (!flat_message_unpack(bytes, count, &flat) ||
	    flat.body != SYCL__V1__COMMAND__BODY_RELEASE || flat.fields > 1)
		return;
	ProtobufCMessage *message = NULL;
	FUZZ_CHECK(message_unpack(&sycl__v1__command__descriptor, &arena, bytes, count, &message) ==
		   0);
	const Sycl__V1__Command *command = (const Sycl__V1__Command *)message;
	FUZZ_CHECK(command->body_case == SYCL__V1__COMMAND__BODY_RELEASE);
	FUZZ_CHECK(command->release->object == flat.values[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	if (count < 2)
		return 0;
	const ProtobufCMessageDescriptor *type = message_types[bytes[0] % MESSAGE_TYPES];
	static struct decode_arena arena;
	if (!arena.block)
		FUZZ_CHECK(decode_arena_init(&arena, DECODE_BYTES_MAX) == 0);
	arena.capacity = bytes[1] ? bytes[1] * 32u : DECODE_BYTES_MAX;

	check_flat(bytes + 2, count - 2);
	ProtobufCMessage *message = NULL;
	int r = message_unpack(type, &arena, bytes + 2, count - 2, &message);
	FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -ENOMEM);
	FUZZ_CHECK((r == 0) == (message != NULL));
	FUZZ_CHECK(arena.used <= arena.capacity);
	if (r == 0)
		check_round_trip(type, message);
	return 0;
}
