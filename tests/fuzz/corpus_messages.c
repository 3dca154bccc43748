/* Seeds of packet_unpack: every body of every message that arrives from outside, filled in, and
 * malformed ones. */
#include "corpus.h"

#include "protocol_limits.h"
#include "message_types.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a message is filled. */
enum shape { SMALL, LARGE_NUMBERS, MANY };

enum { INPUT_BYTES_MAX = 2 + PACKET_BYTES_MAX };
enum { PACKET, COMMAND, REPLY }; /* of message_types.h */

static _Alignas(16) uint8_t heap[4 << 20];
static size_t heap_used;

static void *take_heap(size_t bytes)
{
	void *taken = heap + heap_used;
	heap_used += (bytes + 15) & ~(size_t)15;
	if (heap_used > sizeof(heap))
		abort();
	memset(taken, 0, bytes);
	return taken;
}

static ProtobufCMessage *filled(const ProtobufCMessageDescriptor *type, enum shape shape,
				unsigned depth);

static size_t element_bytes(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_FIXED64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_DOUBLE:
		return sizeof(uint64_t);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	default:
		return sizeof(uint32_t);
	}
}

static void fill_value(void *place, const ProtobufCFieldDescriptor *field, enum shape shape,
		       unsigned depth)
{
	static uint8_t few_bytes[] = {0, 1, 0xfe, 0xff};
	static char text[] = "saxpy";
	uint64_t number = shape == LARGE_NUMBERS ? UINT64_MAX : field->id;
	uint32_t number32 = (uint32_t)number;
	switch (field->type) {
	case PROTOBUF_C_TYPE_STRING:
		*(char **)place = text;
		break;
	case PROTOBUF_C_TYPE_BYTES:
		*(ProtobufCBinaryData *)place = (ProtobufCBinaryData){sizeof(few_bytes), few_bytes};
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		*(ProtobufCMessage **)place = filled(field->descriptor, shape, depth + 1);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		*(protobuf_c_boolean *)place = 1;
		break;
	default:
		if (element_bytes(field->type) == sizeof(number))
			memcpy(place, &number, sizeof(number));
		else
			memcpy(place, &number32, sizeof(number32));
	}
}

static void fill_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
		       enum shape shape, unsigned depth)
{
	uint8_t *base = (uint8_t *)message;
	if (field->label != PROTOBUF_C_LABEL_REPEATED) {
		if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
			memcpy(base + field->quantifier_offset, &field->id, sizeof(field->id));
		fill_value(base + field->offset, field, shape, depth);
		return;
	}
	size_t count = shape == MANY ? 5 : 1;
	uint8_t *elements = take_heap(count * element_bytes(field->type));
	for (size_t i = 0; i < count; i++)
		fill_value(elements + i * element_bytes(field->type), field, shape, depth);
	memcpy(base + field->offset, &elements, sizeof(elements));
	memcpy(base + field->quantifier_offset, &count, sizeof(count));
}

/* The fields that oneofs of inner messages have, ended by NULL. Any other oneof has its last one.
 */
static const ProtobufCFieldDescriptor *chosen[3];

/* Another field of the oneof of a chosen one. Fields of one descriptor lie in one array. */
static bool is_displaced(const ProtobufCMessageDescriptor *type,
			 const ProtobufCFieldDescriptor *field)
{
	for (unsigned i = 0; chosen[i]; i++)
		if (field != chosen[i] && (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) &&
		    chosen[i] >= type->fields && chosen[i] < type->fields + type->n_fields &&
		    field->quantifier_offset == chosen[i]->quantifier_offset)
			return true;
	return false;
}

/* In each oneof only the last field stays; `seed_bodies` and `seed_choices` choose the others. */
static ProtobufCMessage *filled(const ProtobufCMessageDescriptor *type, enum shape shape,
				unsigned depth)
{
	ProtobufCMessage *message = take_heap(type->sizeof_message);
	type->message_init(message);
	for (unsigned i = 0; depth < 8 && i < type->n_fields; i++)
		if (!is_displaced(type, &type->fields[i]))
			fill_field(message, &type->fields[i], shape, depth);
	return message;
}

static void seed_message(unsigned type, uint8_t arena, const char *name,
			 const ProtobufCMessage *message)
{
	static uint8_t input[INPUT_BYTES_MAX];
	size_t size = protobuf_c_message_get_packed_size(message);
	if (size > PACKET_BYTES_MAX)
		abort();
	input[0] = (uint8_t)type;
	input[1] = arena;
	(void)protobuf_c_message_pack(message, input + 2);
	seed("packet_unpack", name, input, size + 2);
}

/* Without repeated fields a message is the same in both of these shapes; without numbers it is in
 * all. */
static bool worth_a_seed(const ProtobufCMessageDescriptor *type,
			 const ProtobufCFieldDescriptor *body, enum shape shape,
			 const ProtobufCMessage *message)
{
	if (shape == SMALL)
		return true;
	ProtobufCMessage *small = filled(type, SMALL, 0);
	if (body)
		fill_field(small, body, SMALL, 0);
	return protobuf_c_message_get_packed_size(small) !=
	       protobuf_c_message_get_packed_size(message);
}

static void seed_bodies(unsigned type, enum shape shape, const char *shape_name)
{
	const ProtobufCMessageDescriptor *descriptor = message_types[type];
	bool has_bodies = false;
	for (unsigned i = 0; i < descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
		if (!(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
			continue;
		has_bodies = true;
		heap_used = 0;
		ProtobufCMessage *message = filled(descriptor, shape, 0);
		fill_field(message, field, shape, 0);
		char name[128];
		(void)snprintf(name, sizeof(name), "%s_%s_%s", descriptor->short_name, field->name,
			       shape_name);
		if (worth_a_seed(descriptor, field, shape, message))
			seed_message(type, 0, name, message);
	}
	if (!has_bodies) {
		heap_used = 0;
		ProtobufCMessage *message = filled(descriptor, shape, 0);
		char name[128];
		(void)snprintf(name, sizeof(name), "%s_%s", descriptor->short_name, shape_name);
		if (worth_a_seed(descriptor, NULL, shape, message))
			seed_message(type, 0, name, message);
	}
}

static void seed_chosen(const char *body, const char *name)
{
	static const char *const shapes[] = {"small", "large"};
	const ProtobufCMessageDescriptor *descriptor = message_types[COMMAND];
	const ProtobufCFieldDescriptor *field =
		protobuf_c_message_descriptor_get_field_by_name(descriptor, body);
	for (enum shape shape = SMALL; shape <= LARGE_NUMBERS; shape++) {
		char whole[160];
		heap_used = 0;
		ProtobufCMessage *message = take_heap(descriptor->sizeof_message);
		descriptor->message_init(message);
		fill_field(message, field, shape, 0);
		(void)snprintf(whole, sizeof(whole), "Command_%s_%s_%s", body, name, shapes[shape]);
		seed_message(COMMAND, 0, whole, message);
	}
}

/* The command `body`, for each field of each oneof of `inner`, which lies in it. `outer`: the field
 * that has `inner` in it, if that is one of a oneof, too. */
static void seed_choices(const char *body, const ProtobufCFieldDescriptor *outer,
			 const ProtobufCMessageDescriptor *inner)
{
	for (unsigned i = 0; i < inner->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &inner->fields[i];
		char name[96];
		if (!(field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
			continue;
		chosen[0] = field;
		chosen[1] = outer;
		(void)snprintf(name, sizeof(name), "%s_%s", inner->short_name, field->name);
		seed_chosen(body, name);
	}
	chosen[0] = NULL;
}

static const ProtobufCFieldDescriptor *action(const char *name)
{
	return protobuf_c_message_descriptor_get_field_by_name(&sycl__v1__command_group__descriptor,
							       name);
}

#define RAW(name, ...)                                                                             \
	do {                                                                                       \
		static const uint8_t raw_[] = {__VA_ARGS__};                                       \
		seed("packet_unpack", name, raw_, sizeof(raw_));                                   \
	} while (0)

static void seed_malformed(void)
{
	RAW("bad_varint_without_end", COMMAND, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0xff, 0xff);
	RAW("bad_field_zero", COMMAND, 0, 0x02, 0x00);
	RAW("bad_length_beyond_end", COMMAND, 0, 0x0a, 0x7f, 0x08);
	RAW("bad_length_of_four_gigabytes", COMMAND, 0, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x08,
	    0x01);
	RAW("bad_length_negative", PACKET, 0, 0x22, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 0x01);
	RAW("bad_group_wire_types", COMMAND, 0, 0x0b, 0x08, 0x01, 0x0c);
	RAW("bad_wire_type_of_body", COMMAND, 0, 0x08, 0x01);
	RAW("bad_inner_message", COMMAND, 0, 0x0a, 0x02, 0x08, 0x80);
	RAW("empty", COMMAND, 0);
	RAW("two_bodies", COMMAND, 0, 0x72, 0x00, 0x0a, 0x02, 0x08, 0x05);
	RAW("one_body_twice", COMMAND, 0, 0x0a, 0x02, 0x08, 0x05, 0x0a, 0x02, 0x08, 0x06);
	RAW("unknown_body", COMMAND, 0, 0xca, 0x02, 0x02, 0x08, 0x01);
	RAW("unknown_fields_of_every_wire_type", REPLY, 0, 0xf8, 0x07, 0x01, 0xf9, 0x07, 1, 2, 3, 4,
	    5, 6, 7, 8, 0xfa, 0x07, 0x01, 'x', 0xfd, 0x07, 1, 2, 3, 4, 0x08, 0x2a);
	RAW("unknown_enum_value", REPLY, 0, 0x1a, 0x06, 0x0a, 0x04, 0x10, 0xff, 0xff, 0x03);
	RAW("string_with_zero_bytes", PACKET, 0, 0x22, 0x06, 0x12, 0x04, 'a', 0, 'b', 0);
	RAW("string_not_utf8", PACKET, 0, 0x22, 0x04, 0x12, 0x02, 0xc3, 0x28);
	RAW("overlong_varint", REPLY, 0, 0x08, 0x81, 0x80, 0x80, 0x80, 0x00);
	RAW("descriptor_count_too_large", PACKET, 0, 0x08, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x2a,
	    0x00);
	RAW("packed_and_unpacked_repeated", COMMAND, 0, 0x52, 0x0c, 0x42, 0x0a, 0x12, 0x04, 0x01,
	    0x02, 0x03, 0x04, 0x10, 0x05, 0x10, 0x06);
	RAW("packed_repeated_cut_off", COMMAND, 0, 0x52, 0x05, 0x42, 0x03, 0x12, 0x01, 0x80);
}

/* Messages that request far more memory than their own size. */
static void seed_bombs(void)
{
	static uint8_t input[INPUT_BYTES_MAX];
	size_t inner = PACKET_BYTES_MAX - 4;
	input[0] = COMMAND;
	input[2] = 10 << 3 | 2; /* command_group */
	input[3] = (uint8_t)((inner & 0x7f) | 0x80);
	input[4] = (uint8_t)((inner >> 7 & 0x7f) | 0x80);
	input[5] = (uint8_t)(inner >> 14);
	for (size_t i = 6; i + 1 < sizeof(input); i += 2)
		input[i] = 6 << 3 | 2; /* an empty requirement */
	seed("packet_unpack", "bomb_requirements", input, sizeof(input));
	for (size_t i = 2; i + 1 < sizeof(input); i += 2) {
		input[i] = 14 << 3 | 2; /* ping, again and again */
		input[i + 1] = 0;
	}
	seed("packet_unpack", "bomb_bodies", input, 2 + 4096);
	for (size_t i = 2; i + 1 < sizeof(input); i += 2)
		input[i] = 15 << 3 | 2; /* an unknown field */
	seed("packet_unpack", "bomb_unknown_fields", input, 2 + 4096);
}

void make_message_seeds(void)
{
	for (unsigned type = 0; type < MESSAGE_TYPES; type++) {
		seed_bodies(type, SMALL, "small");
		seed_bodies(type, LARGE_NUMBERS, "large");
		seed_bodies(type, MANY, "many");
	}
	seed_choices("command_group", NULL, &sycl__v1__command_group__descriptor);
	seed_choices("command_group", action("launch"), &sycl__v1__argument__descriptor);
	seed_choices("command_group", action("copy"), &sycl__v1__memory_end__descriptor);
	seed_choices("bundle_build", NULL, &sycl__v1__bundle_build__descriptor);
	uint8_t input[2 + 256] = {COMMAND};
	uint8_t group[256];
	size_t size = pack_example_group(group);
	input[2] = 10 << 3 | 2;
	input[3] = (uint8_t)(size & 0x7f);
	memcpy(input + 4, group, size);
	for (uint8_t arena = 1; arena < 64; arena = (uint8_t)(arena * 2)) {
		char name[64];
		(void)snprintf(name, sizeof(name), "group_in_an_arena_of_%u", arena * 32u);
		input[1] = arena;
		seed("packet_unpack", name, input, size + 4);
	}
	input[1] = 0;
	for (size_t cut = 10; cut < size; cut += 30) {
		char name[64];
		(void)snprintf(name, sizeof(name), "group_cut_off_after_%zu", cut);
		seed("packet_unpack", name, input, cut);
	}
	seed_malformed();
	seed_bombs();
}
