#include "cuda/program/geometry.h"

#include "cuda/program/launch.h"
#include "status.h"

#include <errno.h>
#include <string.h>

#define WARP         32u
#define SMALL_GROUP  64u  /* smaller groups do not spread a small range better */
#define NARROW_ROW   128u /* if there are several rows, a row up to this is not split */
#define SHARED_Z_MAX 64u

static uint64_t lesser_size(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* No size here is 0, but a compiler cannot prove that. */
static uint64_t one_at_least(uint64_t a)
{
	return a ? a : 1;
}

static uint64_t round_up_divide(uint64_t a, uint64_t b)
{
	return a / one_at_least(b) + (a % one_at_least(b) != 0);
}

/* Divides into as many parts as `most` would give, with sizes as equal as possible. */
static unsigned even_group_size(uint64_t count, uint64_t most)
{
	return (unsigned)one_at_least(round_up_divide(count, round_up_divide(count, most)));
}

/* The number of work-items in a group of a basic range. The number is the one that fills a compute
 * unit best, but a small range is spread over all units. */
static unsigned target_threads(const struct cuda_shape *shape, const uint64_t n[3])
{
	unsigned threads = shape->basic_threads < shape->max_threads ? shape->basic_threads
								     : shape->max_threads;
	uint64_t items;

	if (threads >= WARP)
		threads -= threads % WARP;
	if (__builtin_mul_overflow(n[0], n[1], &items) ||
	    __builtin_mul_overflow(items, n[2], &items))
		return threads;
	while (threads >= 2 * SMALL_GROUP && threads % (2 * WARP) == 0 &&
	       items / threads < shape->multiprocessors)
		threads /= 2;
	return threads ? threads : 1;
}

/*
 * Neighbours along x are neighbours in memory. So a group has whole warps along x if the row is
 * long, and whole rows if the row is short. The rest of the group goes to y, then z. The part that
 * y and z do not need goes back to x.
 */
static void choose_block(const struct cuda_shape *shape, const uint64_t n[3], unsigned block[3])
{
	unsigned threads = target_threads(shape, n);
	bool several_rows = n[1] > 1 || n[2] > 1;
	uint64_t row_most = lesser_size(several_rows ? NARROW_ROW : WARP, threads);

	block[0] = (unsigned)one_at_least(n[0] <= row_most ? n[0] : lesser_size(WARP, threads));
	block[1] = even_group_size(
		n[1], lesser_size(one_at_least(threads / block[0]), shape->max_block[1]));
	block[2] =
		even_group_size(n[2], lesser_size(one_at_least(threads / (block[0] * block[1])),
						  lesser_size(SHARED_Z_MAX, shape->max_block[2])));
	unsigned room = threads / (block[1] * block[2]);
	if (n[0] > block[0] && room >= 2 * WARP) {
		uint64_t row = round_up_divide(n[0], WARP) * (uint64_t)WARP;
		block[0] = (unsigned)lesser_size(lesser_size(row, room - room % WARP),
						 shape->max_block[0]);
	}
}

/* The best size up to `most` that divides n: a number of whole warps, if possible. */
static unsigned cuda_largest_divisor(uint64_t n, uint64_t most)
{
	unsigned size = (unsigned)lesser_size(n, most);

	for (unsigned warps = n % WARP == 0 ? size / WARP : 0; warps > 0; warps--)
		if (n % ((uint64_t)warps * WARP) == 0)
			return warps * WARP;
	while (size > 1 && n % size != 0)
		size--;
	return (unsigned)one_at_least(size);
}

/* A native kernel cannot skip work-items beyond the range, so groups must divide the range. In
 * OpenCL's languages all groups are of one size, and each has all its work-items. */
static void choose_dividing_block(const struct cuda_shape *shape, const uint64_t n[3],
				  unsigned block[3])
{
	unsigned threads = target_threads(shape, n);
	bool several_rows = n[1] > 1 || n[2] > 1;

	block[0] = cuda_largest_divisor(
		n[0], lesser_size(several_rows ? WARP : threads, shape->max_block[0]));
	block[1] = cuda_largest_divisor(n[1], lesser_size(threads / block[0], shape->max_block[1]));
	block[2] = cuda_largest_divisor(
		n[2], lesser_size(threads / (block[0] * block[1]), shape->max_block[2]));
	unsigned room = threads / (block[1] * block[2]);
	if (room > block[0])
		block[0] = cuda_largest_divisor(n[0], lesser_size(room, shape->max_block[0]));
}

static int check_block(const struct cuda_shape *shape, const uint64_t n[3], const uint64_t local[3],
		       unsigned block[3], struct backend_fault *fault_out)
{
	uint64_t threads = 1;

	for (unsigned d = 0; d < 3; d++) {
		if (local[d] == 0 || n[d] % local[d] != 0)
			return cuda_fault_words(
				fault_out, -EINVAL, STATUS_ND_RANGE,
				"a range of %llu is not divisible by work-groups of %llu",
				(unsigned long long)n[d], (unsigned long long)local[d]);
		if (local[d] > shape->max_block[d])
			return cuda_fault_words(
				fault_out, -EINVAL, STATUS_ND_RANGE,
				"a work-group may have %u work-items in this dimension, not %llu",
				shape->max_block[d], (unsigned long long)local[d]);
		threads *= local[d];
		block[d] = (unsigned)local[d];
	}
	if (threads > shape->max_threads)
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_ND_RANGE,
			"a work-group of this kernel may have %u work-items, not %llu",
			shape->max_threads, (unsigned long long)threads);
	for (unsigned d = 0; d < 3; d++)
		if (shape->required[0] && block[d] != shape->required[d])
			return cuda_fault_words(fault_out, -EINVAL, STATUS_ND_RANGE,
						"the kernel requires work-groups of %u x %u x %u",
						shape->required[2], shape->required[1],
						shape->required[0]);
	return 0;
}

static int plan_block(const struct cuda_shape *shape, const uint64_t n[3], const uint64_t local[3],
		      unsigned block[3], struct backend_fault *fault_out)
{
	uint64_t asked[3] = {local[0], local[1], local[2]};

	if (asked[0] == 0 && shape->required[0])
		for (unsigned d = 0; d < 3; d++)
			asked[d] = shape->required[d];
	if (asked[0] != 0)
		return check_block(shape, n, asked, block, fault_out);
	if (shape->native || shape->uniform)
		choose_dividing_block(shape, n, block);
	else
		choose_block(shape, n, block);
	return 0;
}

/* Spread `count` over two dimensions of a grid. */
static bool fold_dimensions(uint64_t count, unsigned most, unsigned *size_out, uint64_t *folds_out)
{
	*folds_out = round_up_divide(count, most);
	uint64_t size = round_up_divide(count, *folds_out);
	*size_out = (unsigned)size;
	return size * *folds_out == count;
}

static int geometry_refuse_groups(struct backend_fault *fault_out, uint64_t groups, unsigned most)
{
	return cuda_fault_words(
		fault_out, -EINVAL, STATUS_ND_RANGE,
		"%llu work-groups are more than the device takes in this dimension (%u)",
		(unsigned long long)groups, most);
}

/* With one or two dimensions, groups that do not fit into the last dimension are folded into the
 * next one. */
static int geometry_plan_few_dimensions(const struct cuda_shape *shape, unsigned last,
					struct cuda_geometry *g, struct backend_fault *fault_out)
{
	uint64_t folds = 1;

	for (unsigned d = 0; d < last; d++) {
		if (g->record.groups[d] > shape->max_grid[d])
			return geometry_refuse_groups(fault_out, g->record.groups[d],
						      shape->max_grid[d]);
		g->grid[d] = (unsigned)g->record.groups[d];
	}
	if (!fold_dimensions(g->record.groups[last], shape->max_grid[last], &g->grid[last], &folds))
		g->record.flags |= CUDA_RECORD_CHECK;
	if (folds > shape->max_grid[last + 1])
		return geometry_refuse_groups(fault_out, g->record.groups[last],
					      shape->max_grid[last]);
	g->grid[last + 1] = (unsigned)folds;
	if (last == 0)
		g->grid[2] = 1;
	return 0;
}

static int geometry_plan_three_dimensions(const struct cuda_shape *shape, struct cuda_geometry *g,
					  struct backend_fault *fault_out)
{
	uint64_t columns = g->record.groups[0], folds_y = 1, folds_z = 1;
	bool even_y =
		fold_dimensions(g->record.groups[1], shape->max_grid[1], &g->grid[1], &folds_y);
	bool even_z =
		fold_dimensions(g->record.groups[2], shape->max_grid[2], &g->grid[2], &folds_z);
	uint64_t folds = 1, width = columns;

	/* Each factor below 2^32 keeps the products inside 64 bits. */
	if (columns <= shape->max_grid[0] && folds_y <= shape->max_grid[0] &&
	    folds_z <= shape->max_grid[0])
		folds = folds_y * folds_z;
	if (columns > shape->max_grid[0] || folds_y > shape->max_grid[0] ||
	    folds_z > shape->max_grid[0] || __builtin_mul_overflow(columns, folds, &width) ||
	    width > shape->max_grid[0])
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_ND_RANGE,
			"%llu x %llu x %llu work-groups are more than the device takes",
			(unsigned long long)g->record.groups[2],
			(unsigned long long)g->record.groups[1], (unsigned long long)columns);
	g->grid[0] = (unsigned)width;
	if (folds > 1) {
		g->record.flags |= CUDA_RECORD_FOLDED;
		g->record.folds = (uint32_t)folds_y;
	}
	if (!even_y || !even_z)
		g->record.flags |= CUDA_RECORD_CHECK;
	return 0;
}

/* Plans a grid without a fold, for a native kernel or for work-groups in clusters, which must stay
 * neighbours. */
static int geometry_plan_unfolded(const struct cuda_shape *shape, struct cuda_geometry *g,
				  struct backend_fault *fault_out)
{
	for (unsigned d = 0; d < 3; d++) {
		if (g->record.groups[d] > shape->max_grid[d])
			return geometry_refuse_groups(fault_out, g->record.groups[d],
						      shape->max_grid[d]);
		g->grid[d] = (unsigned)g->record.groups[d];
	}
	return 0;
}

static int plan_cluster(const struct cuda_shape *shape, bool basic, struct cuda_geometry *g,
			struct backend_fault *fault_out)
{
	if (geometry_plan_unfolded(shape, g, fault_out) < 0)
		return -EINVAL;
	for (unsigned d = 0; d < 3; d++) {
		unsigned over = g->grid[d] % (unsigned)one_at_least(g->cluster[d]);
		if (over == 0)
			continue;
		/* Groups are added to fill the clusters. They lie beyond the range and have no
		 * work-items, so the kernel must be able to test for that. */
		if (!basic || shape->native ||
		    g->grid[d] > shape->max_grid[d] - (g->cluster[d] - over))
			return cuda_fault_words(
				fault_out, -EINVAL, STATUS_ND_RANGE,
				"%u work-groups are not divisible by clusters of %u", g->grid[d],
				g->cluster[d]);
		g->grid[d] += g->cluster[d] - over;
		g->record.flags |= CUDA_RECORD_CHECK;
	}
	return 0;
}

/*
 * Converts SYCL's order to CUDA's. `absent` is the size in dimensions that the range does not have.
 */
static void cuda_reverse_range(unsigned dimensions, const uint64_t *from, uint64_t absent,
			       uint64_t to[3])
{
	for (unsigned d = 0; d < 3; d++)
		to[d] = d < dimensions ? from[dimensions - 1 - d] : absent;
}

static int take_cluster(const struct cuda_range *range, struct cuda_geometry *g,
			struct backend_fault *fault_out)
{
	bool any = false;

	for (unsigned d = 0; range->cluster && d < range->dimensions; d++)
		any = any || range->cluster[d] != 0;
	for (unsigned d = 0; any && d < 3; d++) {
		g->cluster[d] =
			d < range->dimensions ? range->cluster[range->dimensions - 1 - d] : 1;
		if (g->cluster[d] == 0 || g->cluster[d] > 65535)
			return cuda_fault_words(
				fault_out, -EINVAL, STATUS_ND_RANGE,
				"a cluster of %u work-groups in one dimension is not possible",
				g->cluster[d]);
	}
	return 0;
}

static int plan_grid(const struct cuda_shape *shape, const struct cuda_range *range, bool basic,
		     struct cuda_geometry *g, struct backend_fault *fault_out)
{
	if (g->cluster[0] != 0)
		return plan_cluster(shape, basic, g, fault_out);
	if (shape->native)
		return geometry_plan_unfolded(shape, g, fault_out);
	if (range->dimensions < 3 && !shape->uniform)
		return geometry_plan_few_dimensions(shape, range->dimensions - 1, g, fault_out);
	return geometry_plan_three_dimensions(shape, g, fault_out);
}

/* Called after the whole grid was planned. */
static int geometry_cut_part(const struct cuda_range *range, struct cuda_geometry *g,
			     struct backend_fault *fault_out)
{
	const struct backend_part *part = range->part;
	unsigned last = range->dimensions - 1;

	if (!part || part->of == 0)
		return 0;
	if (g->cluster[0] != 0 || part->first >= part->end || part->end > part->of)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"a launch cannot be divided in this way");
	uint64_t groups = g->record.groups[last];
	if (g->grid[last] != groups || (g->record.flags & CUDA_RECORD_FOLDED)) {
		if (part->first > 0)
			memset(g->grid, 0, sizeof(g->grid));
		return 0;
	}
	uint64_t first = backend_part_at(groups, part->first, part->of);
	g->grid[last] = (unsigned)(backend_part_at(groups, part->end, part->of) - first);
	g->record.first_group = (uint32_t)first;
	if (g->grid[last] == 0)
		memset(g->grid, 0, sizeof(g->grid));
	return 0;
}

int cuda_geometry_plan(const struct cuda_shape *shape, const struct cuda_range *range,
		       struct cuda_geometry *geometry_out, struct backend_fault *fault_out)
{
	struct cuda_geometry g = {0};
	uint64_t local[3];

	cuda_reverse_range(range->dimensions, range->global, 1, g.record.range);
	cuda_reverse_range(range->dimensions, range->offset, 0, g.record.offset);
	cuda_reverse_range(range->dimensions, range->local, 1, local);
	if (shape->uniform)
		g.record.flags |= range->dimensions << CUDA_RECORD_DIMENSIONS_SHIFT;
	bool basic = local[0] == 0;
	if (basic)
		memset(local, 0, sizeof(local));
	if (shape->native && (g.record.offset[0] | g.record.offset[1] | g.record.offset[2]) != 0)
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_FEATURE_NOT_SUPPORTED,
			"a kernel in PTX or CUDA C++ computes its ids itself: it takes no offset");
	int error = plan_block(shape, g.record.range, local, g.block, fault_out);
	if (error < 0)
		return error;
	for (unsigned d = 0; d < 3; d++) {
		g.record.groups[d] = round_up_divide(g.record.range[d], g.block[d]);
		if (g.record.range[d] % one_at_least(g.block[d]) != 0)
			g.record.flags |= CUDA_RECORD_CHECK;
	}
	error = take_cluster(range, &g, fault_out);
	if (error == 0)
		error = plan_grid(shape, range, basic, &g, fault_out);
	if (error == 0)
		error = geometry_cut_part(range, &g, fault_out);
	if (error == 0)
		*geometry_out = g;
	return error;
}
