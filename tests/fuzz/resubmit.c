/*
 * A list of pieces, each after its length in two bytes. The first one is a packed CommandGroup that
 * defines a shape; the others are payloads of RESUBMIT records for it. Whatever they contain,
 * nothing outside of the piece is read, and the group keeps its shape.
 */
#include "fuzz.h"

#include "packet.h"
#include "protocol_limits.h"
#include "resubmit.h"
#include "base/shape.h"

#include <errno.h>
#include <string.h>

struct piece {
	const uint8_t *bytes;
	size_t count;
};

/* Returns false if there is none left. */
static bool next_piece(const uint8_t **at, size_t *left, struct piece *piece_out)
{
	if (*left < 2)
		return false;
	size_t count = (size_t)((*at)[0] | (*at)[1] << 8);
	*at += 2;
	*left -= 2;
	if (count > *left)
		count = *left;
	*piece_out = (struct piece){*at, count};
	*at += count;
	*left -= count;
	return true;
}

static size_t changing_bytes(const Sycl__V1__CommandGroup *group)
{
	size_t bytes = group->n_depends_on * sizeof(struct resubmit_event);
	for (size_t i = 0; i < group->launch->n_arguments; i++) {
		const Sycl__V1__Argument *argument = group->launch->arguments[i];
		if (argument->value_case == SYCL__V1__ARGUMENT__VALUE_BYTES)
			bytes += argument->bytes.len;
		else if (argument->value_case == SYCL__V1__ARGUMENT__VALUE_USM_ADDRESS)
			bytes += sizeof(uint64_t);
	}
	return bytes;
}

/* A separate heap block for each record, so that a sanitizer detects a read beyond it. */
static void apply(struct shape *shape, const struct piece *piece, size_t rest_bytes)
{
	uint8_t *record = malloc(piece->count ? piece->count : 1);
	FUZZ_CHECK(record != NULL);
	memcpy(record, piece->bytes, piece->count);
	const Sycl__V1__CommandGroup *group = NULL;
	int r = shape_apply(shape, record, piece->count, &group);
	free(record);
	FUZZ_CHECK(r == 0 || r == -EPROTO);
	FUZZ_CHECK((r == 0) == (group != NULL));
	if (r < 0)
		return;
	FUZZ_CHECK(piece->count == sizeof(struct resubmit_record) + rest_bytes);
	FUZZ_CHECK(group->shape == 0 && group->n_requirements <= SHAPE_REQUIREMENTS_MAX);
	FUZZ_CHECK(changing_bytes(group) == rest_bytes);
	/* Packing it reads everything to which it points. */
	static uint8_t packed[PACKET_BYTES_MAX];
	FUZZ_CHECK(sycl__v1__command_group__get_packed_size(group) <= sizeof(packed));
	FUZZ_CHECK(sycl__v1__command_group__pack(group, packed) <= sizeof(packed));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static struct decode_arena arena;
	if (!arena.block)
		FUZZ_CHECK(decode_arena_init(&arena, DECODE_BYTES_MAX) == 0);
	struct piece piece;
	ProtobufCMessage *message = NULL;
	struct shape *shape = NULL;
	if (!next_piece(&bytes, &count, &piece) ||
	    message_unpack(&sycl__v1__command_group__descriptor, &arena, piece.bytes, piece.count,
			   &message) < 0)
		return 0;
	const Sycl__V1__CommandGroup *group = (const Sycl__V1__CommandGroup *)message;
	int r = shape_create(group, &shape);
	FUZZ_CHECK(r == 0 || r == -EPROTO);
	FUZZ_CHECK((r == 0) == (shape != NULL));
	size_t rest_bytes = r == 0 ? changing_bytes(group) : 0;
	memset(arena.block, 0xdd, arena.used); /* the shape has copied all of it */
	while (shape && next_piece(&bytes, &count, &piece))
		apply(shape, &piece, rest_bytes);
	(void)shape_free(shape);
	return 0;
}
