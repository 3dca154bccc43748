/*
 * Access modes as three bits: read, write, keep (C1-C3). Held this way the union table of the
 * specification is bitwise OR, hence commutative and associative.
 */
#ifndef SYCL_SHARED_ACCESS_MODE_H
#define SYCL_SHARED_ACCESS_MODE_H

#include <stdbool.h>
#include <stdint.h>

enum access_mode {
	ACCESS_READ_BIT = 1,
	ACCESS_WRITE_BIT = 2,
	ACCESS_KEEP_BIT = 4,

	ACCESS_MODE_READ = ACCESS_READ_BIT | ACCESS_KEEP_BIT,
	ACCESS_MODE_WRITE = ACCESS_WRITE_BIT | ACCESS_KEEP_BIT,
	ACCESS_MODE_READ_WRITE = ACCESS_READ_BIT | ACCESS_WRITE_BIT | ACCESS_KEEP_BIT,
	ACCESS_MODE_WRITE_NO_INIT = ACCESS_WRITE_BIT,
	ACCESS_MODE_READ_WRITE_NO_INIT = ACCESS_READ_BIT | ACCESS_WRITE_BIT,
};

/* True for the five modes above and nothing else. */
static inline bool access_mode_valid(uint32_t mode)
{
	return mode == ACCESS_MODE_READ || mode == ACCESS_MODE_WRITE ||
	       mode == ACCESS_MODE_READ_WRITE || mode == ACCESS_MODE_WRITE_NO_INIT ||
	       mode == ACCESS_MODE_READ_WRITE_NO_INIT;
}

static inline uint32_t access_mode_union(uint32_t a, uint32_t b)
{
	return a | b;
}

static inline bool access_mode_writes(uint32_t mode)
{
	return (mode & ACCESS_WRITE_BIT) != 0;
}

/* Must the present contents be there first? A write that keeps needs them too: it may write a part
 * only. */
static inline bool access_mode_needs_contents(uint32_t mode)
{
	return (mode & ACCESS_KEEP_BIT) != 0;
}

#endif
