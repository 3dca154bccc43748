/*
 * Converts SYCL's ranges to CUDA's grid. Dimensions are reversed (E1), a missing size of a
 * work-group is chosen, and grids that are too large are folded into other dimensions (E9, E10). A
 * record describes the result to a portable kernel. Pure: no driver, any thread, never blocks.
 *
 * Folding. With one dimension the group is x + grid.x * y. With two it is (x, y + grid.y * z). With
 * three, and only if CUDA_RECORD_FOLDED is set, grid.x holds columns * folds of y * folds of z.
 * Then x % columns is the group's x, and x / columns counts the folds, those of y fastest. Surplus
 * groups have no work-item inside the range.
 *
 * Parts (struct backend_part) divide CUDA's last dimension, and their groups count from the
 * record's first_group. A folded grid is not divided: its first part is the whole grid, and the
 * other parts are empty.
 */
#ifndef SYCL_BACKENDS_CUDA_GEOMETRY_H
#define SYCL_BACKENDS_CUDA_GEOMETRY_H

#include "backend.h"

#define CUDA_RECORD_BYTES 80u
/* The room for a portable kernel's own parameters, for any place of the record that its alignment
 * requires. */
#define CUDA_PORTABLE_PARAMETER_BYTES_MAX (32760u - CUDA_RECORD_BYTES)

#define CUDA_RECORD_CHECK  1u /* work-items may lie beyond the range, and end at once */
#define CUDA_RECORD_FOLDED 2u /* three dimensions, folded into x */
/* Of a kernel of OpenCL's languages: how many dimensions the range had. */
#define CUDA_RECORD_DIMENSIONS_SHIFT 8

/*
 * The last parameter of every portable kernel, called sycl_launch in its PTX. Dimensions are in
 * CUDA's order; absent ones have range 1 and 1 group. The prelude (portable_cuda.cu) and
 * program/ptx_complete.c use these offsets.
 */
struct cuda_launch_record {
	uint32_t flags;
	union {
		uint32_t folds;       /* folds of y, with CUDA_RECORD_FOLDED */
		uint32_t first_group; /* otherwise: first group of a part, in the last dimension */
	};
	uint64_t range[3]; /* work-items */
	uint64_t offset[3];
	uint64_t groups[3]; /* as SYCL counts them */
};
_Static_assert(sizeof(struct cuda_launch_record) == CUDA_RECORD_BYTES,
	       "the prelude reads it by offsets");

/* Limits of the kernel and the device; CUDA's order. */
struct cuda_shape {
	bool native; /* the kernel computes its ids itself: no record, no fold, no remainder */
	/* A kernel of OpenCL's languages: each range has three dimensions, and groups divide it. */
	bool uniform;
	unsigned required[3];   /* 0: none */
	unsigned max_threads;   /* limit for a work-group of this kernel */
	unsigned basic_threads; /* default for a work-group of a basic range */
	unsigned max_block[3], max_grid[3];
	unsigned multiprocessors;
};

/* A launch in SYCL's terms and order. */
struct cuda_range {
	unsigned dimensions;
	const uint64_t *global, *local, *offset; /* local all 0: a basic range */
	const uint32_t *cluster;                 /* work-groups; NULL or all 0: none */
	/* NULL: the whole range. A part is neither native nor in clusters. */
	const struct backend_part *part;
};

struct cuda_geometry {
	/* CUDA's order; cluster 0: none. A grid of 0: the part has no work-groups. */
	unsigned grid[3], block[3], cluster[3];
	struct cuda_launch_record record;
};

/* Plan a launch. No size of `global` is 0. -EINVAL and ND_RANGE or FEATURE_NOT_SUPPORTED with a
 * sentence. */
int cuda_geometry_plan(const struct cuda_shape *shape, const struct cuda_range *range,
		       struct cuda_geometry *geometry_out, struct backend_fault *fault_out);

#endif
