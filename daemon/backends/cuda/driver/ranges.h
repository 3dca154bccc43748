/* Ranges of addresses that do not overlap, with an item for each. Any thread: the set has a lock of
 * its own. */
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
void cuda_ranges_close(struct cuda_ranges *ranges); /* the items stay the caller's */

/* -EEXIST: the range overlaps another one; -EINVAL: it is empty, or ends behind the last address;
 * -ENOMEM. */
int cuda_ranges_add(struct cuda_ranges *ranges, uint64_t address, uint64_t size_bytes, void *item);
/* Removes the range that begins there and returns its item; NULL: there is none. */
void *cuda_ranges_remove(struct cuda_ranges *ranges, uint64_t address);
/* The item of the range that holds all of these bytes; NULL: there is none. `size_bytes` 0: the
 * address alone. */
void *cuda_ranges_find(struct cuda_ranges *ranges, uint64_t address, uint64_t size_bytes);

#endif
