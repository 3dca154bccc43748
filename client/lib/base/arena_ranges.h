/* Manages offsets within one arena, in granules of 4096 bytes. Takes the first piece that fits, and
 * joins neighbours that are given back. It handles numbers only, no memory. Not thread-safe. */
#ifndef SYCL_CLIENT_ARENA_RANGES_H
#define SYCL_CLIENT_ARENA_RANGES_H

#include <stddef.h>
#include <stdint.h>

/* A piece of an arena. size_bytes 0: no piece. */
struct arena_range {
	uint32_t arena;
	uint64_t offset_bytes, size_bytes;
};

struct arena_extent {
	uint64_t offset_bytes, size_bytes;
};

struct arena_ranges {
	struct arena_extent *free; /* sorted by offset, with gaps between them */
	size_t free_count, free_capacity;
	size_t taken; /* number of taken pieces */
	uint64_t size_bytes;
};

/* size_bytes: a multiple of 4096. 0 or -ENOMEM. */
int arena_ranges_init(struct arena_ranges *ranges, uint64_t size_bytes);
void arena_ranges_fini(struct arena_ranges *ranges);

/* Takes a piece; the size is rounded up to the granule; size_bytes > 0. -ENOSPC: no free piece is
 * long enough. */
int arena_ranges_take(struct arena_ranges *ranges, uint64_t size_bytes, uint64_t *offset_out);

/* Gives back exactly what was taken. Never fails. */
void arena_ranges_give(struct arena_ranges *ranges, uint64_t offset_bytes, uint64_t size_bytes);

#endif
