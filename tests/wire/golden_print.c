/*
 * Prints bytes as a golden text. They are decoded here, not by protobuf-c, so that a mistake would
 * have to be made in both. The descriptors have the fields' names and types.
 */
#include "golden.h"

#include "listing.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2, WIRE_FIXED32 = 5 };

struct reader {
	const uint8_t *at, *end;
};

static bool read_varint(struct reader *reader, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
		uint8_t byte = *reader->at++;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Reads numbers of fixed size, with the low byte first. */
static bool read_fixed(struct reader *reader, unsigned bytes, uint64_t *value)
{
	*value = 0;
	if ((size_t)(reader->end - reader->at) < bytes)
		return false;
	for (unsigned i = 0; i < bytes; i++)
		*value |= (uint64_t)*reader->at++ << (8 * i);
	return true;
}

static enum wire_type wire_type_of(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_FIXED64:
		return WIRE_FIXED64;
	case PROTOBUF_C_TYPE_FLOAT:
		return WIRE_FIXED32;
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_BYTES:
	case PROTOBUF_C_TYPE_MESSAGE:
		return WIRE_LENGTH;
	default:
		return WIRE_VARINT;
	}
}

static bool golden_print_read_number(struct reader *reader, enum wire_type type, uint64_t *value)
{
	if (type == WIRE_VARINT)
		return read_varint(reader, value);
	return read_fixed(reader, type == WIRE_FIXED64 ? 8 : 4, value);
}

static void print_bytes(FILE *out, const uint8_t *from, const uint8_t *to)
{
	for (const uint8_t *at = from; at < to; at++)
		(void)fprintf(out, "%s%02x", at == from ? "" : " ", *at);
}

static const char *print_number(FILE *out, const ProtobufCFieldDescriptor *field, uint64_t value)
{
	const ProtobufCEnumValue *name;
	uint32_t bits = (uint32_t)value;
	float real;
	switch (field->type) {
	case PROTOBUF_C_TYPE_BOOL:
		(void)fputs(value ? "true" : "false", out);
		return NULL;
	case PROTOBUF_C_TYPE_ENUM:
		name = protobuf_c_enum_descriptor_get_value(field->descriptor, (int)value);
		if (name)
			(void)fputs(name->name, out);
		else
			(void)fprintf(out, "%d", (int)value);
		return NULL;
	case PROTOBUF_C_TYPE_INT32:
		(void)fprintf(out, "%" PRId64, (int64_t)value);
		return NULL;
	case PROTOBUF_C_TYPE_FLOAT:
		memcpy(&real, &bits, sizeof(real));
		(void)fprintf(out, "%.9g", (double)real);
		return NULL;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		(void)fprintf(out, value >> 32 ? "0x%" PRIx64 : "%" PRIu64, value);
		return NULL;
	default:
		return "a field's type is none of those that the protocol has";
	}
}

static const char *print_text(FILE *out, struct reader text)
{
	(void)fputc('"', out);
	for (; text.at < text.end; text.at++) {
		if (!isprint(*text.at) || *text.at == '"')
			return "a text has characters that are not printed";
		(void)fputc(*text.at, out);
	}
	(void)fputc('"', out);
	return NULL;
}

static const char *print_packed(FILE *out, const ProtobufCFieldDescriptor *field,
				struct reader values)
{
	const char *complaint = NULL;
	for (const char *between = ""; !complaint && values.at < values.end; between = ", ") {
		uint64_t value;
		if (!golden_print_read_number(&values, wire_type_of(field->type), &value))
			return "a packed field ends within a value";
		(void)fputs(between, out);
		complaint = print_number(out, field, value);
	}
	return complaint;
}

static const char *print_fields(FILE *out, const ProtobufCMessageDescriptor *type,
				struct reader reader, unsigned depth);

/* A field with a length and that many bytes behind its key at `start`. */
static const char *print_long(FILE *out, const ProtobufCFieldDescriptor *field,
			      const uint8_t *start, struct reader inner, unsigned depth)
{
	bool message = field->type == PROTOBUF_C_TYPE_MESSAGE;
	print_bytes(out, start, message ? inner.at : inner.end);
	(void)fprintf(out, message ? " | %s:\n" : " | %s = ", field->name);
	if (message)
		return print_fields(out, field->descriptor, inner, depth + 1);
	const char *complaint = NULL;
	if (field->type == PROTOBUF_C_TYPE_STRING)
		complaint = print_text(out, inner);
	else if (field->type == PROTOBUF_C_TYPE_BYTES)
		print_bytes(out, inner.at, inner.end);
	else
		complaint = print_packed(out, field, inner);
	(void)fputc('\n', out);
	return complaint;
}

static const char *print_field(FILE *out, const ProtobufCMessageDescriptor *type,
			       struct reader *reader, unsigned depth)
{
	const uint8_t *start = reader->at;
	uint64_t key, value;
	if (!read_varint(reader, &key) || key >> 3 > UINT32_MAX)
		return "no key of a field";
	const ProtobufCFieldDescriptor *field =
		protobuf_c_message_descriptor_get_field(type, (unsigned)(key >> 3));
	if (!field)
		return "the message has no field of this number";
	enum wire_type wire = wire_type_of(field->type);
	bool packed = field->label == PROTOBUF_C_LABEL_REPEATED && wire != WIRE_LENGTH;
	if ((key & 7) != (packed ? WIRE_LENGTH : wire))
		return "a field is sent as another type";
	for (unsigned i = 0; i < depth; i++)
		(void)fputc('\t', out);
	if ((key & 7) == WIRE_LENGTH) {
		if (!read_varint(reader, &value) || value > (uint64_t)(reader->end - reader->at))
			return "a field is longer than its message";
		struct reader inner = {reader->at, reader->at + value};
		reader->at += value;
		return print_long(out, field, start, inner, depth);
	}
	if (!golden_print_read_number(reader, wire, &value))
		return "the message ends within a number";
	print_bytes(out, start, reader->at);
	(void)fprintf(out, " | %s = ", field->name);
	const char *complaint = print_number(out, field, value);
	(void)fputc('\n', out);
	return complaint;
}

static const char *print_fields(FILE *out, const ProtobufCMessageDescriptor *type,
				struct reader reader, unsigned depth)
{
	const char *complaint =
		depth < GOLDEN_DEPTH_MAX ? NULL : "messages within messages are too many";
	while (!complaint && reader.at < reader.end)
		complaint = print_field(out, type, &reader, depth);
	return complaint;
}

const char *golden_print(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t count,
			 char text[GOLDEN_TEXT_MAX])
{
	FILE *out = fmemopen(text, GOLDEN_TEXT_MAX, "w");
	if (!out)
		return "no memory";
	(void)fprintf(out, "%s\n", listing_short_name(type->name));
	const char *complaint = print_fields(out, type, (struct reader){bytes, bytes + count}, 0);
	bool whole = ftell(out) < GOLDEN_TEXT_MAX;
	return fclose(out) == 0 && whole ? complaint : "the text is too long";
}
