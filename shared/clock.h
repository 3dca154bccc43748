/* Monotonic time only: wall-clock time must not time anything. */
#ifndef SYCL_SHARED_CLOCK_H
#define SYCL_SHARED_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Returns now + timeout. Returns UINT64_MAX, which means no deadline, if that overflows or if the
 * timeout is UINT64_MAX. Returns 0, which is over already, if the timeout is 0. */
static inline uint64_t clock_deadline_ns(uint64_t timeout_ns)
{
	uint64_t now = timeout_ns ? clock_now_ns() : 0;
	return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

#endif
