/* Every field of every message as lines of text, and the comparison of two such lists. */
#ifndef SYCL_WIRE_LISTING_H
#define SYCL_WIRE_LISTING_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

/* Fits the whole protocol several times. */
enum { LISTING_BYTES_MAX = 256 * 1024 };

/* "sycl.v1.SessionState.State" to "SessionState.State". */
const char *listing_short_name(const char *name);

enum { LISTING_TYPES_MAX = 256 };

/* The protocol's messages; their number. */
unsigned listing_types(const ProtobufCMessageDescriptor *types[LISTING_TYPES_MAX]);

/* The message of this short name, or NULL. */
const ProtobufCMessageDescriptor *listing_type(const char *short_name);

/*
 * One line each: "Message number name type" and "enum Name number VALUE". Types of fields as in the
 * .proto files, with "repeated" in front and "oneof NAME" behind.
 */
void listing_of_this_build(char text[LISTING_BYTES_MAX]);

/*
 * How many rules `now` breaks against `kept`. These are a line of `kept` that is not in `now`, and
 * the other way round. So is a number or a name twice in one message of `kept`. A line "Message
 * number name reserved" in `kept` stands for a field that was removed: then `now` must not use the
 * number. What is wrong is written to `complaints`.
 */
unsigned listing_compare(const char *kept, const char *now, char *complaints,
			 size_t complaints_bytes);

#endif
