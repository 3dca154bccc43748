/* What the golden files share. */
#ifndef SYCL_WIRE_GOLDEN_H
#define SYCL_WIRE_GOLDEN_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

#include <criterion/criterion.h>

/* The message packs to exactly these bytes, and these bytes unpack to a message that packs to them again. */
void assert_golden(const ProtobufCMessage *message, const void *bytes, size_t count);

#define BYTES_OF(array) (array), sizeof(array)
#define NO_BYTES "", 0

/* protobuf-c's structs hold pointers to what may be changed; nothing here is. */
#define TEXT(text) ((char *)(uintptr_t)(text))
#define BYTES(...) \
	((ProtobufCBinaryData){ sizeof((uint8_t[]){ __VA_ARGS__ }), (uint8_t[]){ __VA_ARGS__ } })

#endif
