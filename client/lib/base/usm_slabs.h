/* Divides larger pieces of memory into small ones. Sizes are powers of two from 64 to 2048 bytes,
 * and a piece is aligned to its size. It handles addresses only, no memory. Not thread-safe. */
#ifndef SYCL_CLIENT_USM_SLABS_H
#define SYCL_CLIENT_USM_SLABS_H

#include "base/arena_ranges.h"

#include <stdbool.h>

#define USM_SLAB_BYTES    65536u
#define USM_PIECE_LEAST   64u
#define USM_PIECE_MOST    2048u
#define USM_PIECE_CLASSES 6u

struct usm_slab {
	struct usm_slab *next, *previous; /* list of slabs of its class with room */
	struct arena_range range;         /* USM_SLAB_BYTES long */
	char *begin;                      /* aligned to USM_PIECE_MOST */
	uint32_t class_index, taken;
	uint64_t free[USM_SLAB_BYTES / USM_PIECE_LEAST / 64]; /* one bit for each piece */
};

struct usm_slabs {
	struct usm_slab *with_room[USM_PIECE_CLASSES];
};

/* True if the size is small; class_out is its class. The alignment is 0 or a power of two. */
bool usm_slabs_class(uint64_t size_bytes, uint64_t alignment_bytes, uint32_t *class_out);
/* Takes a piece. NULL: no slab of this class has room. */
void *usm_slabs_take(struct usm_slabs *slabs, uint32_t class_index, struct usm_slab **slab_out);
/* Adds a slab of memory that the caller has; NULL without memory. */
struct usm_slab *usm_slabs_add(struct usm_slabs *slabs, uint32_t class_index,
			       const struct arena_range *range, void *begin);
/* Gives a piece back. True: the slab is empty and no longer in `slabs`. The caller gives its memory
 * back and frees it. */
bool usm_slabs_give(struct usm_slabs *slabs, struct usm_slab *slab, void *piece);

#endif
