/*
 * Shared memory as a sealed memfd. Only the engine makes it, because a peer that could shrink the
 * file could kill the engine with SIGBUS. The other side checks size and seals and then maps it.
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

/* A zeroed region, sealed against shrinking, growing and further sealing. 0 or a negative errno. */
int memory_region_create(const char *name, size_t size_bytes, struct memory_region **region_out);

/*
 * As above, but a receiver of the descriptor can only read: the memory is sealed against future
 * writes and writable mappings. The returned region keeps its own writable mapping. Send `fd`
 * itself.
 */
int memory_region_create_published(const char *name, size_t size_bytes,
				   struct memory_region **region_out);

/*
 * As memory_region_create, mapped at exactly this address (a multiple of the page's size). -EEXIST:
 * something is there already; it stays as it is.
 */
int memory_region_create_at(const char *name, size_t size_bytes, void *address,
			    struct memory_region **region_out);

/*
 * Map what a peer sent; takes the descriptor, also on failure. -EPROTO: not a memfd of that size
 * with SHRINK and GROW seals. `writable` 0: a read-only mapping.
 */
int memory_region_map(int fd, size_t size_bytes, int writable, struct memory_region **region_out);

/*
 * As above, writable, in place of the caller's own mapping at this address, which it takes as well:
 * on failure nothing is mapped there. A forked child does not have it.
 */
int memory_region_map_over(int fd, size_t size_bytes, void *address,
			   struct memory_region **region_out);

/*
 * Give its memory back to the system, even if others have the descriptor or a mapping: they read
 * zeros. For a region that is not published and that this process uses no more. Memory that cannot
 * be given back stays.
 */
void memory_region_empty(struct memory_region *region);

struct memory_region *memory_region_free(struct memory_region *region);
DEFINE_CLEANUP(memory_region)

#endif
