/* Arithmetic on sizes that a client chose. None of it overflows. */
#ifndef SYCL_ENGINE_RANGE_CHECK_H
#define SYCL_ENGINE_RANGE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* True if [offset, offset + size) lies inside [0, whole). An empty range at the very end counts as
 * inside. */
static inline bool range_inside(uint64_t offset, uint64_t size, uint64_t whole)
{
	return offset <= whole && size <= whole - offset;
}

/* True if two ranges of one size share a byte. Both lie inside an object, so their ends do not
 * overflow. */
static inline bool ranges_overlap(uint64_t a, uint64_t b, uint64_t size)
{
	return size > 0 && (a < b ? b - a : a - b) < size;
}

/* `alignment` is a power of two. */
static inline bool range_aligned(uint64_t value, uint64_t alignment)
{
	return (value & (alignment - 1)) == 0;
}

/* The product of up to three numbers; false when it does not fit. */
static inline bool product_fits(const uint64_t *factors, uint32_t count, uint64_t *product_out)
{
	uint64_t product = 1;
	for (uint32_t i = 0; i < count; i++) {
		if (__builtin_mul_overflow(product, factors[i], &product))
			return false;
	}
	*product_out = product;
	return true;
}

#endif
