/* Access modes as three bits: read, write, keep (C1-C3). In this form the union of two modes, which
 * a table of the specification defines, is bitwise OR. So it is commutative and associative. */
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

/* True only for the five modes above. */
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

/* True if the present contents must be there first. A write that keeps contents needs them, too,
 * because it may write only a part. */
static inline bool access_mode_needs_contents(uint32_t mode)
{
	return (mode & ACCESS_KEEP_BIT) != 0;
}

#endif
