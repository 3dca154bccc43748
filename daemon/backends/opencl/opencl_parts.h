/*
 * A basic range in parts. A driver whose work-groups must divide the range has only groups of one work-item for a range
 * of prime size, and each group costs. So such a range is cut where whole groups end; what is left over is launched
 * after it, in groups that are one work-item wide there. What the kernel is told stays true: a part says by its offset
 * which part of what it is, and the words of the portable form read that (portable_opencl.cl). Words about the
 * work-group cannot be told like this; a source that has them is launched as one. Pure: any thread, never blocks.
 *
 * An offset that says so, by its bits:
 *	63      62    61..52                51..0
 *	0       1     what is left over     where this part begins
 * The range is the part's own size, and both of these. A part of a dimension that has an offset of its own is whole.
 */
#ifndef SYCL_BACKENDS_OPENCL_PARTS_H
#define SYCL_BACKENDS_OPENCL_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In two for each dimension. */
#define OPENCL_PARTS_MAX 8u

/* The bits; portable_opencl.cl has the same. */
#define OPENCL_PART_MARK 62u
#define OPENCL_PART_LEFT 52u

/* Sizes in OpenCL's order: the first dimension varies fastest. */
struct opencl_part {
	size_t global[3], offset[3], local[3];
};

/* May the kernels of this portable source be launched in parts? `options`: the compiler's, or NULL. */
bool opencl_parts_possible(const char *source, size_t source_bytes, const char *options);

/*
 * Work-groups of at most `max_work_group_size` items (0: not known) for a range; how many parts there are. One, whole
 * and with its offset as it is, where `possible` is false or parts would not be faster. Ranges are not empty.
 */
uint32_t opencl_parts(uint32_t dimensions, const size_t *global, const size_t *offset, uint64_t max_work_group_size,
		      bool possible, struct opencl_part *parts_out);

#endif
