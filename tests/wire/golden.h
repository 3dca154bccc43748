/*
 * A message as text: its type, then one line for each field with the field's bytes, its name and
 * its value. The fields of an inner message are indented below it:
 *
 *	HostAccess
 *	08 ac 02 | access = 300
 *	1a 02 | range:
 *		08 01 | arena = 1
 *
 * A number is decimal below 2^32, else hexadecimal; values of a packed field stand with ", "
 * between them; text is in double quotes; bytes are hexadecimal.
 */
#ifndef SYCL_WIRE_GOLDEN_H
#define SYCL_WIRE_GOLDEN_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GOLDEN_TEXT_MAX = 16384,
	GOLDEN_BYTES_MAX = 2048,
	GOLDEN_DEPTH_MAX = 8,
	GOLDEN_FIELDS_MAX = 256,
};

struct golden {
	uint8_t bytes[GOLDEN_BYTES_MAX]; /* as in the lines */
	size_t count;
	const ProtobufCFieldDescriptor *fields[GOLDEN_FIELDS_MAX]; /* the field of each line */
	unsigned field_count;
	ProtobufCMessage *message; /* the message of the fields' names and values */
	_Alignas(max_align_t) uint8_t memory[65536]; /* the memory of the message */
	size_t used;
};

/* Builds the message of a text. Returns the error in the text, or NULL. */
const char *golden_read(const char *text, struct golden *golden);

/* Prints bytes of this type as text, by a separate decoder. Returns the error, or NULL. */
const char *golden_print(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t count,
			 char text[GOLDEN_TEXT_MAX]);

/*
 * Returns the fault of a golden message, or NULL. Its fields must pack to its bytes, and its bytes
 * must unpack and print as its text. A field of a later version must be ignored, and bytes that end
 * too early refused.
 */
const char *golden_complaint(const char *text);

/* The running test is golden_SUITE::NAME_bytes_never_change. Checks golden/SUITE/NAME.txt. */
void golden(void);

/* Reads up to GOLDEN_TEXT_MAX - 1 bytes of a file; false if it cannot be read or is longer. */
bool golden_load(const char *path, char text[GOLDEN_TEXT_MAX]);

#endif
