/* The checks that every golden message must pass. */
#include "golden.h"

#include "packet.h"
#include "protocol_limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* Field 18000, which no message has, is 1. */
static const uint8_t later_field[] = {0x80, 0xe5, 0x08, 0x01};

static bool packs_to(const ProtobufCMessage *message, const uint8_t *bytes, size_t count)
{
	static uint8_t packed[GOLDEN_BYTES_MAX + sizeof(later_field)];
	size_t size = protobuf_c_message_get_packed_size(message);
	return size == count && protobuf_c_message_pack(message, packed) == count &&
	       memcmp(packed, bytes, count) == 0;
}

/* Bytes that end too early are refused, or they are those of a sender with fewer fields. */
static const char *check_ends(const struct golden *golden, struct decode_arena *arena)
{
	for (size_t count = 0; count < golden->count; count++) {
		ProtobufCMessage *received;
		int r = message_unpack(golden->message->descriptor, arena, golden->bytes, count,
				       &received);
		if (r != -EBADMSG && (r != 0 || !packs_to(received, golden->bytes, count)))
			return "bytes that end too early are read as something else";
	}
	return NULL;
}

static const char *check_unpacked(const struct golden *golden, struct decode_arena *arena)
{
	const ProtobufCMessageDescriptor *type = golden->message->descriptor;
	ProtobufCMessage *received;
	if (message_unpack(type, arena, golden->bytes, golden->count, &received) != 0)
		return "the bytes are refused";
	if (received->n_unknown_fields != 0 || !packs_to(received, golden->bytes, golden->count))
		return "the bytes are read as something else";
	uint8_t later[GOLDEN_BYTES_MAX + sizeof(later_field)];
	size_t count = golden->count + sizeof(later_field);
	memcpy(later, golden->bytes, golden->count);
	memcpy(later + golden->count, later_field, sizeof(later_field));
	if (message_unpack(type, arena, later, count, &received) != 0)
		return "a field of a later version is refused";
	if (received->n_unknown_fields != 1 || !packs_to(received, later, count))
		return "a field of a later version changes the others";
	return check_ends(golden, arena);
}

const char *golden_complaint(const char *text)
{
	static struct golden golden;
	static char printed[GOLDEN_TEXT_MAX];
	const char *complaint = golden_read(text, &golden);
	if (complaint)
		return complaint;
	if (!packs_to(golden.message, golden.bytes, golden.count))
		return "the fields are sent in other bytes";
	complaint = golden_print(golden.message->descriptor, golden.bytes, golden.count, printed);
	if (complaint)
		return complaint;
	if (strcmp(text, printed) != 0)
		return "the bytes of a line are not those of its field";
	struct decode_arena arena;
	if (decode_arena_init(&arena, DECODE_BYTES_MAX) != 0)
		return "no memory";
	complaint = check_unpacked(&golden, &arena);
	decode_arena_fini(&arena);
	return complaint;
}

bool golden_load(const char *path, char text[GOLDEN_TEXT_MAX])
{
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t size = fread(text, 1, GOLDEN_TEXT_MAX, file);
	(void)fclose(file);
	if (size == GOLDEN_TEXT_MAX)
		return false;
	text[size] = '\0';
	return strlen(text) == size;
}

void golden(void)
{
	static char text[GOLDEN_TEXT_MAX];
	char path[512], suite[64];
	cr_assert(eq(int, sscanf(criterion_current_test->category, "golden_%63s", suite), 1));
	const char *test = criterion_current_test->name;
	size_t length = strlen(test), behind = strlen("_bytes_never_change");
	cr_assert(length > behind && length < 256);
	(void)snprintf(path, sizeof(path), "%s/%s/%.*s.txt", GOLDEN_FOLDER, suite,
		       (int)(length - behind), test);
	cr_assert(golden_load(path, text), "%s cannot be read", path);
	const char *complaint = golden_complaint(text);
	cr_assert(eq(ptr, complaint, NULL), "%s: %s", path, complaint);
}
