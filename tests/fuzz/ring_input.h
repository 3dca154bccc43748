/* The beginning of an input of ring_consume; the ring's memory follows. */
#ifndef SYCL_FUZZ_RING_INPUT_H
#define SYCL_FUZZ_RING_INPUT_H

#include <assert.h>
#include <stdint.h>

enum {
	RING_INPUT_WRITER = 1,
	RING_INPUT_CONCURRENT = 2,
	RING_INPUT_BITS_MIN = 6,
	RING_INPUT_BITS_COUNT = 8, /* rings of 64 bytes to 8 KiB */
};

struct ring_input {
	uint64_t position; /* of both sides at the beginning; rounded down to a multiple of 8 */
	uint64_t word;     /* the word that the hostile side published */
	uint8_t mode;
	uint8_t ring_bits; /* log2 of the ring's size, minus RING_INPUT_BITS_MIN */
	uint8_t unused[6];
};

static_assert(sizeof(struct ring_input) == 24, "the corpus counts on it");

#endif
