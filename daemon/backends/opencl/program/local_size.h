/*
 * The work-group size of a basic range on a driver that compiles a kernel again for each new size.
 * By default PoCL derives the size from the global size. So a program with many range sizes
 * compiles as many times, each time inside the engine, and the engine keeps all results in memory.
 * With sizes from a short list, a kernel is compiled only a few times.
 */
#ifndef SYCL_BACKENDS_OPENCL_LOCAL_SIZE_H
#define SYCL_BACKENDS_OPENCL_LOCAL_SIZE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sizes are in OpenCL's order (the first dimension varies fastest). local_out: as many as there are
 * dimensions. Every size divides its range; the product is at most `max_work_group_size` (0: not
 * known). Ranges are not empty.
 */
void opencl_local_size(uint32_t dimensions, const size_t *global, uint64_t max_work_group_size,
		       size_t *local_out);

#endif
