/* A set of address ranges that do not overlap, each with an item. Any thread: the set has its own
 * lock. */
#ifndef SYCL_BACKENDS_CUDA_RANGES_H
#define SYCL_BACKENDS_CUDA_RANGES_H

#include <pthread.h>
#include <stdint.h>

struct cuda_range {
	uint64_t first, last; /* both inside */
	void *item;
};

struct cuda_ranges {
	pthread_mutex_t lock;
	struct cuda_range *ranges; /* sorted */
	size_t count, capacity;
};

void cuda_ranges_open(struct cuda_ranges *ranges);
void cuda_ranges_close(struct cuda_ranges *ranges); /* the caller keeps the items */

/* -EEXIST: the range overlaps another one; -EINVAL: it is empty, or ends behind the last address;
 * -ENOMEM. */
int cuda_ranges_add(struct cuda_ranges *ranges, uint64_t address, uint64_t size_bytes, void *item);
/* Removes the range that begins at the address and returns its item; NULL: there is none. */
void *cuda_ranges_remove(struct cuda_ranges *ranges, uint64_t address);
/* Returns the item of the range that contains all of these bytes; NULL: there is none. `size_bytes`
 * 0: only the address. */
void *cuda_ranges_find(struct cuda_ranges *ranges, uint64_t address, uint64_t size_bytes);

#endif
