#include "flat_message.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

/* The lowest three bits of a field's tag; the other bits are the field's number. Up to number 15 a
 * tag is one byte. */
enum wire_type { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

#define TYPE_BITS  3
#define BYTE_ENDS  0x80u /* a byte below this is the last byte of a number */
#define NUMBER_MAX 10    /* bytes of a number */
#define LOOK       8     /* bytes of a number that are read at once */

static_assert(FLAT_MESSAGE_BYTES - 2 < BYTE_ENDS, "the length is one byte");
static_assert(FLAT_MESSAGE_FIELDS < BYTE_ENDS >> TYPE_BITS, "a tag is one byte");

size_t flat_message_pack(const struct flat_message *message, uint8_t bytes_out[FLAT_MESSAGE_BYTES])
{
	uint8_t *at = bytes_out + 2;
	for (uint32_t i = 0; i < message->fields; i++) {
		uint64_t value = message->values[i];
		if (value == 0)
			continue;
		*at++ = (uint8_t)((i + 1) << TYPE_BITS | WIRE_NUMBER);
		for (; value >= BYTE_ENDS; value >>= 7)
			*at++ = (uint8_t)(value | BYTE_ENDS);
		*at++ = (uint8_t)value;
	}
	bytes_out[0] = (uint8_t)(message->body << TYPE_BITS | WIRE_BYTES);
	bytes_out[1] = (uint8_t)(at - bytes_out - 2);
	return (size_t)(at - bytes_out);
}

/* The lowest seven bits of each byte, as one number. */
static uint64_t join_sevens(uint64_t word)
{
	word &= 0x7f7f7f7f7f7f7f7fu;
	word = (word & 0x007f007f007f007fu) | (word & 0x7f007f007f007f00u) >> 1;
	word = (word & 0x00003fff00003fffu) | (word & 0x3fff00003fff0000u) >> 2;
	return (word & 0x000000000fffffffu) | (word & 0x0fffffff00000000u) >> 4;
}

/* Returns the end of the number; NULL: it has no end, or does not fit 64 bits. */
static const uint8_t *unpack_number(const uint8_t *at, const uint8_t *end, uint64_t *value_out)
{
	uint64_t value = 0;
	uint32_t i = 0;
	if (at < end && *at < BYTE_ENDS) {
		*value_out = *at;
		return at + 1;
	}
	/* Ids have nine bytes or ten: eight of them at once. */
	if (end - at >= LOOK) {
		uint64_t word;
		memcpy(&word, at, LOOK);
		word = le64toh(word);
		const uint64_t ends = ~word & 0x8080808080808080u;
		if (ends) {
			const uint32_t last = (uint32_t)__builtin_ctzll(ends) / 8;
			*value_out = join_sevens(word & (UINT64_MAX >> (56 - 8 * last)));
			return at + last + 1;
		}
		value = join_sevens(word);
		i = LOOK;
		at += LOOK;
	}
	for (; i < NUMBER_MAX && at < end; i++) {
		const uint8_t byte = *at++;
		if (i == NUMBER_MAX - 1 && byte > 1)
			return NULL;
		value |= (uint64_t)(byte & (BYTE_ENDS - 1)) << (7 * i);
		if (byte < BYTE_ENDS) {
			*value_out = value;
			return at;
		}
	}
	return NULL;
}

bool flat_message_unpack(const void *bytes, size_t count, struct flat_message *message_out)
{
	const uint8_t *at = bytes, *end = at + count;
	if (count < 2 || count > FLAT_MESSAGE_BYTES)
		return false;
	const uint32_t outer = at[0];
	if (outer >= BYTE_ENDS || (outer & ((1u << TYPE_BITS) - 1)) != WIRE_BYTES ||
	    outer >> TYPE_BITS == 0 || at[1] != count - 2)
		return false;
	struct flat_message message = {.body = outer >> TYPE_BITS};
	at += 2;
	while (at < end) {
		const uint32_t tag = *at++, field = tag >> TYPE_BITS;
		if (tag >= BYTE_ENDS || (tag & ((1u << TYPE_BITS) - 1)) != WIRE_NUMBER ||
		    field <= message.fields || field > FLAT_MESSAGE_FIELDS)
			return false;
		at = unpack_number(at, end, &message.values[field - 1]);
		if (!at)
			return false;
		message.fields = field;
	}
	*message_out = message;
	return true;
}

/* ---------------------------------- launches of graphs ---------------------------------- */

enum {
	GROUP_TAG = 10 << TYPE_BITS | WIRE_BYTES,  /* Command.command_group */
	GRAPH_TAG = 1 << TYPE_BITS | WIRE_NUMBER,  /* GraphLaunch.graph */
	EVENT_TAG = 22 << TYPE_BITS | WIRE_NUMBER, /* CommandGroup.has_event, of two bytes */
	LAUNCH_TAG = 30 << TYPE_BITS | WIRE_BYTES, /* CommandGroup.graph_launch, of two bytes */
};

/* Fields of a CommandGroup. */
enum { GROUP_QUEUE = 1, GROUP_NUMBER, GROUP_WANTS_SLOT, GROUP_SLOT, GROUP_SLOT_VALUE };
enum { GROUP_AFTER_ALL = 12, GROUP_FIELDS = 12 };

static bool has_tag_of_two(const uint8_t *at, const uint8_t *end, uint32_t tag)
{
	return end - at >= 2 && at[0] == ((tag & (BYTE_ENDS - 1)) | BYTE_ENDS) && at[1] == tag >> 7;
}

/* The begin of a message that reaches up to `end`, behind its length of one byte; or NULL. */
static const uint8_t *enter_last_message(const uint8_t *at, const uint8_t *end)
{
	return at < end && *at < BYTE_ENDS && *at == end - at - 1 ? at + 1 : NULL;
}

/* The fields in front of has_event, by their numbers. NULL: others are among them. */
static const uint8_t *unpack_group_fields(const uint8_t *at, const uint8_t *end,
					  uint64_t values_out[GROUP_FIELDS + 1])
{
	uint32_t last = 0;
	while (at && at < end && *at < BYTE_ENDS) {
		const uint32_t tag = *at++, field = tag >> TYPE_BITS;
		if ((tag & ((1u << TYPE_BITS) - 1)) != WIRE_NUMBER || field <= last ||
		    (field > GROUP_SLOT_VALUE && field != GROUP_AFTER_ALL))
			return NULL;
		at = unpack_number(at, end, &values_out[field]);
		last = field;
	}
	return at;
}

/* Returns the graph launch in the group, behind its length, or NULL. */
static const uint8_t *unpack_group(const uint8_t *at, const uint8_t *end,
				   struct flat_graph_launch *launch)
{
	uint64_t values[GROUP_FIELDS + 1] = {0}, has_event = 0;
	at = unpack_group_fields(at, end, values);
	if (at && has_tag_of_two(at, end, EVENT_TAG))
		at = unpack_number(at + 2, end, &has_event);
	if (!at || !has_tag_of_two(at, end, LAUNCH_TAG) || values[GROUP_SLOT] > UINT32_MAX ||
	    values[GROUP_SLOT_VALUE] > UINT32_MAX)
		return NULL;
	launch->queue = values[GROUP_QUEUE];
	launch->group = values[GROUP_NUMBER];
	launch->wants_slot = values[GROUP_WANTS_SLOT] != 0;
	launch->slot = (uint32_t)values[GROUP_SLOT];
	launch->slot_value = (uint32_t)values[GROUP_SLOT_VALUE];
	launch->after_all = values[GROUP_AFTER_ALL] != 0;
	launch->has_event = has_event != 0;
	return enter_last_message(at + 2, end);
}

bool flat_graph_launch_unpack(const void *bytes, size_t count, struct flat_graph_launch *launch_out)
{
	const uint8_t *at = bytes, *end = at + count;
	struct flat_graph_launch launch;
	if (count < 2 || *at != GROUP_TAG)
		return false;
	at = enter_last_message(at + 1, end);
	if (at)
		at = unpack_group(at, end, &launch);
	if (!at || at == end || *at != GRAPH_TAG ||
	    unpack_number(at + 1, end, &launch.graph) != end)
		return false;
	*launch_out = launch;
	return true;
}
