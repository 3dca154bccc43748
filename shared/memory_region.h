/*
 * Shared memory as a sealed memfd. Only the engine makes it, because a peer that could shrink the
 * file could kill the engine with SIGBUS. The other side checks size and seals and then maps the
 * memory.
 */
#ifndef SYCL_SHARED_MEMORY_REGION_H
#define SYCL_SHARED_MEMORY_REGION_H

#include "cleanup.h"

#include <stddef.h>

struct memory_region {
	int fd;
	size_t size_bytes;
	void *address;
};

/* Makes a zeroed region, sealed against shrinking, growing and further sealing. 0 or a negative
 * errno. */
int memory_region_create(const char *name, size_t size_bytes, struct memory_region **region_out);

/*
 * Makes a region of which a receiver of the descriptor can only read: the memory is sealed against
 * future writes and writable mappings. The returned region keeps its own writable mapping. Send
 * `fd` itself.
 */
int memory_region_create_published(const char *name, size_t size_bytes,
				   struct memory_region **region_out);

/* Makes a region as memory_region_create, mapped at exactly this address (a multiple of the page's
 * size). -EEXIST: another mapping is there, and is kept. */
int memory_region_create_at(const char *name, size_t size_bytes, void *address,
			    struct memory_region **region_out);

/* Maps a region that a peer sent; takes the descriptor, also on failure. -EPROTO: not a memfd of
 * that size with SHRINK and GROW seals. `writable` 0: a read-only mapping. */
int memory_region_map(int fd, size_t size_bytes, int writable, struct memory_region **region_out);

/*
 * Maps a region as memory_region_map, writable, and replaces the caller's own mapping at this
 * address. It takes that mapping, too: on failure no mapping is left there. A forked child does not
 * have it.
 */
int memory_region_map_over(int fd, size_t size_bytes, void *address,
			   struct memory_region **region_out);

/*
 * Returns the region's memory to the system, even if other processes have the descriptor or a
 * mapping: they read zeros. The region must not be published, and this process must not use it any
 * more. Memory that cannot be returned stays.
 */
void memory_region_empty(struct memory_region *region);

struct memory_region *memory_region_free(struct memory_region *region);
DEFINE_CLEANUP(memory_region)

#endif
