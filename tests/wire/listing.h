/* Prints every field of every message as lines of text, and compares two such lists. */
#ifndef SYCL_WIRE_LISTING_H
#define SYCL_WIRE_LISTING_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

/* Has room for the whole protocol several times. */
enum { LISTING_BYTES_MAX = 256 * 1024 };

/* Converts "sycl.v1.SessionState.State" to "SessionState.State". */
const char *listing_short_name(const char *name);

enum { LISTING_TYPES_MAX = 256 };

/* Returns the protocol's messages and their number. */
unsigned listing_types(const ProtobufCMessageDescriptor *types[LISTING_TYPES_MAX]);

/* The message of this short name, or NULL. */
const ProtobufCMessageDescriptor *listing_type(const char *short_name);

/*
 * Prints one line each: "Message number name type" and "enum Name number VALUE". Types of fields
 * are as in the .proto files, with "repeated" in front and "oneof NAME" behind.
 */
void listing_of_this_build(char text[LISTING_BYTES_MAX]);

/*
 * Returns how many rules `now` breaks against `kept`. Each line of `kept` must be in `now`, and
 * each line of `now` in `kept`. A number or a name may occur only once in a message of `kept`. A
 * line "Message number name reserved" in `kept` stands for a removed field: then `now` must not use
 * the number. Errors are written to `complaints`.
 */
unsigned listing_compare(const char *kept, const char *now, char *complaints,
			 size_t complaints_bytes);

#endif
