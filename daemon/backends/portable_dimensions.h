/*
 * With how many dimensions a portable source will be launched, as far as its text shows that. A
 * source is compiled for each number of dimensions, and a launch that nobody asks for needs no
 * program. Pure; any thread. A source may be any text.
 */
#ifndef SYCL_BACKENDS_PORTABLE_DIMENSIONS_H
#define SYCL_BACKENDS_PORTABLE_DIMENSIONS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bit d - 1 for d dimensions: for each kernel one more than the largest number in words as
 * sycl_global_id(1). A wrong guess costs a build later, and changes no result.
 *
 * 0: the source must be built for all numbers at once. It may be another source for each, because
 * it names their number; then it may have an error for one of them, or other kernels. Or it depends
 * on no number.
 */
uint32_t portable_dimensions_guess(const char *source, size_t bytes);

#endif
