/* Reads a message from a golden text. protobuf-c's descriptors say where each field is in the
 * message's struct. */
#include "golden.h"

#include "listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *reserve(struct golden *golden, size_t bytes)
{
	size_t rounded =
		(bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
	if (rounded > sizeof(golden->memory) - golden->used)
		abort();
	void *memory = golden->memory + golden->used;
	golden->used += rounded;
	return memory;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads "08 ac 02" up to `end`. Returns the number of bytes, or -1. */
static int read_hex(const char *text, const char *end, uint8_t *bytes, size_t room)
{
	size_t count = 0;
	for (; text < end; text += 3) {
		int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);
		if (low < 0 || count == room || (text + 2 < end && text[2] != ' '))
			return -1;
		bytes[count++] = (uint8_t)(high << 4 | low);
	}
	return (int)count;
}

static size_t size_of(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_ENUM:
		return sizeof(int);
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FLOAT:
		return sizeof(uint32_t);
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		return sizeof(uint64_t);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	default:
		return sizeof(void *);
	}
}

/* Returns where the field's next value goes, counted and marked as present. */
static void *place_of(struct golden *golden, ProtobufCMessage *message,
		      const ProtobufCFieldDescriptor *field)
{
	uint8_t *start = (uint8_t *)message;
	void *place = start + field->offset;
	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
		*(uint32_t *)(void *)(start + field->quantifier_offset) = field->id;
	if (field->label != PROTOBUF_C_LABEL_REPEATED)
		return place;
	size_t *count = (size_t *)(void *)(start + field->quantifier_offset),
	       size = size_of(field->type);
	uint8_t **array = place, *larger = reserve(golden, (*count + 1) * size);
	if (*count)
		memcpy(larger, *array, *count * size);
	*array = larger;
	return larger + (*count)++ * size;
}

static bool is_word(const char *text, const char *end, const char *word)
{
	return strlen(word) == (size_t)(end - text) &&
	       memcmp(text, word, (size_t)(end - text)) == 0;
}

static bool read_enum(const ProtobufCEnumDescriptor *type, const char *text, const char *end,
		      int *value)
{
	for (unsigned i = 0; i < type->n_values; i++) {
		if (is_word(text, end, type->values[i].name)) {
			*value = type->values[i].value;
			return true;
		}
	}
	char *rest;
	*value = (int)strtol(text, &rest, 10);
	return rest == end;
}

static bool golden_read_number(const ProtobufCFieldDescriptor *field, const char *text,
			       const char *end, void *place)
{
	char *rest = NULL;
	errno = 0;
	if (text == end)
		return false;
	if (field->type == PROTOBUF_C_TYPE_ENUM)
		return read_enum(field->descriptor, text, end, place);
	if (field->type == PROTOBUF_C_TYPE_BOOL) {
		*(protobuf_c_boolean *)place = is_word(text, end, "true");
		return is_word(text, end, "true") || is_word(text, end, "false");
	}
	if (field->type == PROTOBUF_C_TYPE_FLOAT)
		*(float *)place = strtof(text, &rest);
	else if (field->type == PROTOBUF_C_TYPE_INT32)
		*(int32_t *)place = (int32_t)strtol(text, &rest, 10);
	else if (size_of(field->type) == sizeof(uint64_t))
		*(uint64_t *)place = strtoull(text, &rest, 0);
	else
		*(uint32_t *)place = (uint32_t)strtoul(text, &rest, 0);
	return rest == end && errno == 0;
}

static bool read_value(struct golden *golden, const ProtobufCFieldDescriptor *field,
		       const char *text, const char *end, void *place)
{
	if (field->type == PROTOBUF_C_TYPE_STRING) {
		if (end - text < 2 || text[0] != '"' || end[-1] != '"')
			return false;
		size_t bytes = (size_t)(end - text) - 2;
		*(char **)place = memcpy(reserve(golden, bytes + 1), text + 1, bytes);
		return true;
	}
	if (field->type == PROTOBUF_C_TYPE_BYTES) {
		ProtobufCBinaryData *data = place;
		data->data = reserve(golden, GOLDEN_BYTES_MAX);
		int count = read_hex(text, end, data->data, GOLDEN_BYTES_MAX);
		data->len = count < 0 ? 0 : (size_t)count;
		return count >= 0;
	}
	return golden_read_number(field, text, end, place);
}

/* Reads the values behind " = ", which are each of a packed field. */
static bool read_values(struct golden *golden, ProtobufCMessage *message,
			const ProtobufCFieldDescriptor *field, const char *text, const char *end)
{
	bool packed =
		field->label == PROTOBUF_C_LABEL_REPEATED && field->type != PROTOBUF_C_TYPE_STRING;
	for (;;) {
		const char *comma = packed ? memchr(text, ',', (size_t)(end - text)) : NULL;
		if (!read_value(golden, field, text, comma ? comma : end,
				place_of(golden, message, field)))
			return false;
		if (!comma)
			return true;
		if (comma[1] != ' ')
			return false;
		text = comma + 2;
	}
}

static ProtobufCMessage *new_message(struct golden *golden, const ProtobufCMessageDescriptor *type)
{
	ProtobufCMessage *message = reserve(golden, type->sizeof_message);
	protobuf_c_message_init(type, message);
	return message;
}

/* Reads "name = value" or "name:", whose inner message is returned in *inner. */
static const char *read_field(struct golden *golden, ProtobufCMessage *message, const char *text,
			      const char *end, ProtobufCMessage **inner)
{
	char name[64];
	size_t length = strcspn(text, " :\n");
	if (length >= sizeof(name))
		return "a field's name is too long";
	memcpy(name, text, length);
	name[length] = '\0';
	text += length;
	const ProtobufCFieldDescriptor *field =
		protobuf_c_message_descriptor_get_field_by_name(message->descriptor, name);
	if (!field)
		return "the message has no field of this name";
	if (golden->field_count == GOLDEN_FIELDS_MAX)
		return "more lines than a message has";
	golden->fields[golden->field_count++] = field;
	if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
		*inner = new_message(golden, field->descriptor);
		*(ProtobufCMessage **)place_of(golden, message, field) = *inner;
		return is_word(text, end, ":") ? NULL : "no ':' behind a message's name";
	}
	if (end - text < 3 || memcmp(text, " = ", 3) != 0)
		return "no ' = ' behind a field's name";
	return read_values(golden, message, field, text + 3, end)
		       ? NULL
		       : "the value is none of the field's type";
}

/* Returns the type in the first line; `text_out` is behind it. */
static const ProtobufCMessageDescriptor *read_type(const char *text, const char **text_out)
{
	char name[64];
	size_t length = strcspn(text, "\n");
	if (length >= sizeof(name) || text[length] == '\0')
		return NULL;
	memcpy(name, text, length);
	name[length] = '\0';
	*text_out = text + length + 1;
	return listing_type(name);
}

const char *golden_read(const char *text, struct golden *golden)
{
	*golden = (struct golden){0};
	const ProtobufCMessageDescriptor *type = read_type(text, &text);
	if (!type)
		return "the first line names no message";
	ProtobufCMessage *open[GOLDEN_DEPTH_MAX + 1] = {new_message(golden, type)};
	golden->message = open[0];
	for (const char *end; *text; text = end + 1) {
		end = strchr(text, '\n');
		if (!end)
			return "the last line does not end";
		size_t depth = strspn(text, "\t");
		if (depth >= GOLDEN_DEPTH_MAX || !open[depth])
			return "a line is indented too far";
		text += depth;
		const char *bar = strstr(text, " | ");
		if (!bar || bar > end)
			return "no ' | ' between bytes and field";
		int count = read_hex(text, bar, golden->bytes + golden->count,
				     GOLDEN_BYTES_MAX - golden->count);
		if (count < 0)
			return "the bytes are not written as two hexadecimal digits each";
		golden->count += (size_t)count;
		open[depth + 1] = NULL;
		const char *complaint =
			read_field(golden, open[depth], bar + 3, end, &open[depth + 1]);
		if (complaint)
			return complaint;
	}
	return NULL;
}
