#include "base/usm_place.h"

#include "usm_window.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

/* The window has room for millions of arenas. Two rarely collide, so eight collisions in a row mean
 * a fault. */
#define TRIES 8

/* The number need not be secret. It only has to differ between processes. */
static uint64_t usm_place_random(void)
{
	uint64_t number = 0;
	struct timespec now;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == (ssize_t)sizeof(number))
		return number;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15ull ^ (uint64_t)(uintptr_t)&number;
}

int usm_place_keep(uint64_t address, uint64_t size_bytes)
{
	void *wanted = (void *)(uintptr_t)
		address; // NOLINT(performance-no-int-to-ptr): the engine's address
	void *kept = mmap(wanted, size_bytes, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (kept == MAP_FAILED)
		return errno == EEXIST ? -EEXIST : -ENOMEM;
	/* Kernels before 4.17 take the address for a wish. */
	if (kept != wanted) {
		(void)munmap(kept, size_bytes);
		return -EEXIST;
	}
	return 0;
}

int usm_place_choose(uint64_t size_bytes, void **address_out)
{
	const uint64_t window = USM_WINDOW_END - USM_WINDOW_BEGIN;
	int r = -ENOMEM;
	if (size_bytes == 0 || size_bytes > window)
		return -ENOMEM;
	uint64_t places = (window - size_bytes) / USM_PLACE_BYTES + 1;
	for (int i = 0; i < TRIES && r < 0; i++) {
		uint64_t address = USM_WINDOW_BEGIN + usm_place_random() % places * USM_PLACE_BYTES;
		r = usm_place_keep(address, size_bytes);
		if (r == 0)
			*address_out = (void *)(uintptr_t)
				address; // NOLINT(performance-no-int-to-ptr): mapped above
	}
	return r < 0 ? -ENOMEM : 0;
}

void usm_place_give(void *address, uint64_t size_bytes)
{
	(void)munmap(address, size_bytes);
}
