/*
 * Grids of the CUDA backend. For every work-item of a grid, the test makes the computation of the
 * prologue and the prelude. Each id of the range must occur once.
 */
#include "cuda/program/geometry.h"
#include "status.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(cuda_geometry, .timeout = 30);

static struct cuda_shape usual_shape(void)
{
	return (struct cuda_shape){
		.max_threads = 1024,
		.basic_threads = 256,
		.max_block = {1024, 1024, 64},
		.max_grid = {2147483647, 65535, 65535},
		.multiprocessors = 132,
	};
}

/* A device whose grids have very little room: everything is folded. */
static struct cuda_shape small_shape(void)
{
	struct cuda_shape shape = usual_shape();

	shape.max_grid[0] = 200;
	shape.max_grid[1] = 3;
	shape.max_grid[2] = 2;
	shape.basic_threads = 8;
	shape.multiprocessors = 1;
	return shape;
}

static const uint64_t none[3] = {0, 0, 0};

static int plan(const struct cuda_shape *shape, unsigned dimensions, const uint64_t *global,
		const uint64_t *local, struct cuda_geometry *geometry, struct backend_fault *fault)
{
	const struct cuda_range range = {dimensions, global, local ? local : none,
					 none,       NULL,   NULL};
	return cuda_geometry_plan(shape, &range, geometry, fault);
}

/* Computes the group of a block as the prelude does. */
static void group_of(const struct cuda_geometry *g, unsigned dimensions, const unsigned block[3],
		     uint64_t group[3])
{
	for (int d = 0; d < 3; d++)
		group[d] = block[d];
	if (dimensions == 1) {
		group[0] = block[0] + (uint64_t)g->grid[0] * block[1];
		group[1] = 0;
	} else if (dimensions == 2) {
		group[1] = block[1] + (uint64_t)g->grid[1] * block[2];
		group[2] = 0;
	}
	if (!(g->record.flags & CUDA_RECORD_FOLDED))
		group[dimensions - 1] += g->record.first_group;
	if (dimensions == 3 && g->record.flags & CUDA_RECORD_FOLDED) {
		uint32_t columns = (uint32_t)g->record.groups[0], fold = block[0] / columns;
		group[0] = block[0] % columns;
		group[1] = block[1] + (uint64_t)g->grid[1] * (fold % g->record.folds);
		group[2] = block[2] + (uint64_t)g->grid[2] * (fold / g->record.folds);
	}
}

/* Visits the work-items of one block and counts them. */
static void visit(const struct cuda_geometry *g, unsigned dimensions, const unsigned block[3],
		  unsigned char *seen, uint64_t *count)
{
	const uint64_t *range = g->record.range;
	uint64_t group[3], id[3];

	group_of(g, dimensions, block, group);
	for (unsigned z = 0; z < g->block[2]; z++)
		for (unsigned y = 0; y < g->block[1]; y++)
			for (unsigned x = 0; x < g->block[0]; x++) {
				const unsigned thread[3] = {x, y, z};
				bool beyond = false;
				for (int d = 0; d < 3; d++) {
					id[d] = group[d] * g->block[d] + thread[d];
					beyond = beyond || id[d] >= range[d];
				}
				if (beyond && g->record.flags & CUDA_RECORD_CHECK)
					continue;
				cr_assert(!beyond, "an id beyond the range, and nobody checks");
				uint64_t place = (id[2] * range[1] + id[1]) * range[0] + id[0];
				cr_assert_eq(seen[place], 0, "an id twice");
				seen[place] = 1;
				(*count)++;
			}
}

static void visit_all(const struct cuda_geometry *g, unsigned dimensions, unsigned char *seen,
		      uint64_t *count)
{
	for (unsigned z = 0; z < g->grid[2]; z++)
		for (unsigned y = 0; y < g->grid[1]; y++)
			for (unsigned x = 0; x < g->grid[0]; x++)
				visit(g, dimensions, (const unsigned[]){x, y, z}, seen, count);
}

/* Each id is in one of the parts; the last two parts are sent as one. */
static void check_parts(const struct cuda_shape *shape, unsigned dimensions, const uint64_t *global,
			const uint64_t *local, uint32_t of)
{
	struct backend_fault fault = {0};
	struct cuda_geometry whole, g;
	uint64_t items = 1, count = 0;

	for (unsigned d = 0; d < dimensions; d++)
		items *= global[d];
	unsigned char *seen = calloc(1, items);
	cr_assert_not_null(seen);
	cr_assert_eq(plan(shape, dimensions, global, local, &whole, &fault), 0);
	for (uint32_t first = 0, end; first < of; first = end) {
		end = first + 2 >= of ? of : first + 1;
		const struct backend_part part = {first, end, of};
		const struct cuda_range range = {dimensions, global, local ? local : none,
						 none,       NULL,   &part};
		cr_assert_eq(cuda_geometry_plan(shape, &range, &g, &fault), 0, "%s", fault.text);
		cr_assert(memcmp(g.record.groups, whole.record.groups, sizeof(g.record.groups)) ==
			  0);
		cr_assert(memcmp(g.block, whole.block, sizeof(g.block)) == 0);
		visit_all(&g, dimensions, seen, &count);
	}
	cr_assert_eq(count, items);
	free(seen);
}

static void check_all(const struct cuda_shape *shape, unsigned dimensions, const uint64_t *global,
		      const uint64_t *local)
{
	struct cuda_geometry g;
	struct backend_fault fault = {0};
	uint64_t items = 1, count = 0;

	for (unsigned d = 0; d < dimensions; d++)
		items *= global[d];
	cr_assert_eq(plan(shape, dimensions, global, local, &g, &fault), 0, "%s", fault.text);
	for (int d = 0; d < 3; d++)
		cr_assert(g.grid[d] >= 1 && g.grid[d] <= shape->max_grid[d], "grid %d is %u", d,
			  g.grid[d]);
	cr_assert_leq(g.block[0] * g.block[1] * g.block[2], shape->max_threads);
	unsigned char *seen = calloc(1, items);
	cr_assert_not_null(seen);
	visit_all(&g, dimensions, seen, &count);
	cr_assert_eq(count, items);
	free(seen);
	for (uint32_t of = 1; of < 8; of += 3)
		check_parts(shape, dimensions, global, local, of);
}

Test(cuda_geometry, E1_E10_every_id_of_a_basic_range_comes_once)
{
	static const uint64_t sizes[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 129, 257, 1009};
	const struct cuda_shape shape = usual_shape();

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		check_all(&shape, 1, (const uint64_t[]){sizes[i]}, NULL);
		check_all(&shape, 1, (const uint64_t[]){sizes[i] * 97}, NULL);
		for (size_t k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
			check_all(&shape, 2, (const uint64_t[]){sizes[i], sizes[k]}, NULL);
			check_all(&shape, 3, (const uint64_t[]){sizes[i], 5, sizes[k]}, NULL);
			check_all(&shape, 3, (const uint64_t[]){3, sizes[i], sizes[k]}, NULL);
		}
	}
}

Test(cuda_geometry, E9_every_id_of_a_folded_grid_comes_once)
{
	const struct cuda_shape shape = small_shape();

	for (uint64_t i = 1; i < 600; i += 37)
		check_all(&shape, 1, (const uint64_t[]){i}, (const uint64_t[]){1});
	for (uint64_t y = 1; y <= 6; y++)
		for (uint64_t x = 1; x < 30; x += 4)
			check_all(&shape, 2, (const uint64_t[]){y, x}, (const uint64_t[]){1, 1});
	for (uint64_t z = 1; z < 12; z++)
		for (uint64_t y = 1; y < 12; y++)
			for (uint64_t x = 1; x < 7; x++) {
				check_all(&shape, 3, (const uint64_t[]){z, y, x},
					  (const uint64_t[]){1, 1, 1});
				check_all(&shape, 3, (const uint64_t[]){z, y, x}, NULL);
			}
}

Test(cuda_geometry, E6_a_local_range_is_kept_in_reversed_order)
{
	const struct cuda_shape shape = usual_shape();
	struct cuda_geometry g;
	struct backend_fault fault = {0};
	const uint64_t global[] = {6, 40, 64}, local[] = {2, 4, 32};

	cr_assert_eq(plan(&shape, 3, global, local, &g, &fault), 0, "%s", fault.text);
	cr_assert_eq(g.block[0], 32);
	cr_assert_eq(g.block[1], 4);
	cr_assert_eq(g.block[2], 2);
	cr_assert_eq(g.grid[0], 2);
	cr_assert_eq(g.grid[1], 10);
	cr_assert_eq(g.grid[2], 3);
	cr_assert_eq(g.record.flags, 0, "nothing lies beyond an nd_range");
	check_all(&shape, 3, global, local);
}

/* A grid has no room for 70,000 planes in z. A prime above 2^31 has no divisors. */
Test(cuda_geometry, E9_E10_large_ranges_fit)
{
	const struct cuda_shape shape = usual_shape();
	struct cuda_geometry g;
	struct backend_fault fault = {0};
	const uint64_t planes[] = {70000, 1, 1}, prime[] = {2147483659}, many[] = {1ull << 32},
		       one[] = {1, 1, 1};

	cr_assert_eq(plan(&shape, 3, planes, one, &g, &fault), 0, "%s", fault.text);
	cr_assert_eq(g.grid[0], 2);
	cr_assert_eq(g.grid[2], 35000);
	cr_assert_eq(g.record.flags, CUDA_RECORD_FOLDED);
	cr_assert_eq(plan(&shape, 1, prime, NULL, &g, &fault), 0, "%s", fault.text);
	cr_assert_eq(g.record.groups[0], (prime[0] + g.block[0] - 1) / g.block[0]);
	cr_assert_eq((uint64_t)g.grid[0] * g.grid[1], g.record.groups[0]);
	cr_assert_eq(g.record.flags, CUDA_RECORD_CHECK);
	/* There are so many groups of one work-item that they do not fit into x. */
	cr_assert_eq(plan(&shape, 1, many, one, &g, &fault), 0, "%s", fault.text);
	cr_assert_geq((uint64_t)g.grid[0] * g.grid[1], many[0]);
	cr_assert_eq(g.record.flags & CUDA_RECORD_CHECK,
		     (uint64_t)g.grid[0] * g.grid[1] == many[0] ? 0 : 1);
}

Test(cuda_geometry, E9_what_cannot_be_folded_is_refused_in_words)
{
	const struct cuda_shape shape = usual_shape();
	struct cuda_geometry g = {.grid = {7}};
	struct backend_fault fault = {0};
	const uint64_t one[] = {1, 1, 1};
	const uint64_t deep[] = {1ull << 40, 1ull << 30, 1}, wide[] = {2, 1ull << 33},
		       huge[] = {UINT64_MAX};

	cr_assert_lt(plan(&shape, 3, deep, one, &g, &fault), 0);
	cr_assert_eq(fault.status, STATUS_ND_RANGE);
	cr_assert_neq(fault.text[0], '\0');
	cr_assert_lt(plan(&shape, 2, wide, one, &g, &fault), 0);
	cr_assert_lt(plan(&shape, 1, huge, one, &g, &fault), 0);
	cr_assert_eq(g.grid[0], 7, "the output was touched");
}

Test(cuda_geometry, E4_E8_ranges_that_do_not_fit_are_refused)
{
	struct cuda_shape shape = usual_shape();
	struct cuda_geometry g;
	struct backend_fault fault = {0};

	cr_assert_lt(plan(&shape, 1, (const uint64_t[]){10}, (const uint64_t[]){3}, &g, &fault), 0);
	cr_assert_eq(fault.status, STATUS_ND_RANGE);
	cr_assert_lt(
		plan(&shape, 1, (const uint64_t[]){2048}, (const uint64_t[]){2048}, &g, &fault), 0);
	/* z has at most 64, though the product would fit. */
	cr_assert_lt(plan(&shape, 3, (const uint64_t[]){128, 1, 1}, (const uint64_t[]){128, 1, 1},
			  &g, &fault),
		     0);
	shape.max_threads = 256;
	cr_assert_lt(
		plan(&shape, 2, (const uint64_t[]){32, 32}, (const uint64_t[]){32, 32}, &g, &fault),
		0);
	cr_assert_eq(fault.status, STATUS_ND_RANGE);
	cr_assert_eq(
		plan(&shape, 2, (const uint64_t[]){32, 32}, (const uint64_t[]){8, 32}, &g, &fault),
		0);
}

Test(cuda_geometry, a_required_size_is_taken_and_no_other)
{
	struct cuda_shape shape = usual_shape();
	struct cuda_geometry g;
	struct backend_fault fault = {0};
	const uint64_t global[] = {2, 8, 16};

	shape.required[0] = 8;
	shape.required[1] = 4;
	shape.required[2] = 1;
	cr_assert_eq(plan(&shape, 3, global, NULL, &g, &fault), 0, "%s", fault.text);
	cr_assert_eq(g.block[0], 8);
	cr_assert_eq(g.block[1], 4);
	cr_assert_eq(g.block[2], 1);
	cr_assert_lt(plan(&shape, 3, global, (const uint64_t[]){1, 8, 8}, &g, &fault), 0);
	cr_assert_eq(fault.status, STATUS_ND_RANGE);
	cr_assert_lt(plan(&shape, 3, (const uint64_t[]){2, 8, 12}, NULL, &g, &fault), 0,
		     "12 is no multiple of 8");
}

/* The choice: whole warps along x if rows are long, all of a short row, and small ranges
 * distributed over the device. */
Test(cuda_geometry, E1_basic_groups_lie_along_the_last_dimension)
{
	const struct cuda_shape shape = usual_shape();
	struct cuda_geometry g;
	struct backend_fault fault = {0};

	cr_assert_eq(plan(&shape, 2, (const uint64_t[]){1024, 1024}, NULL, &g, &fault), 0);
	cr_assert_eq(g.block[0] % 32, 0);
	cr_assert_eq(g.block[0] * g.block[1], 256);
	cr_assert_eq(plan(&shape, 1, (const uint64_t[]){1u << 20}, NULL, &g, &fault), 0);
	cr_assert_eq(g.block[0], 256);
	/* 12,000 work-items should give each of 132 compute units some work. */
	cr_assert_eq(plan(&shape, 1, (const uint64_t[]){12000}, NULL, &g, &fault), 0);
	cr_assert_geq(g.grid[0], 132);
	/* Rows of three: a group takes many of them. */
	cr_assert_eq(plan(&shape, 2, (const uint64_t[]){100000, 3}, NULL, &g, &fault), 0);
	cr_assert_eq(g.block[0], 3);
	cr_assert_geq(g.block[1], 64);
	/* There are few long rows: the work-items that the columns do not need are added to the
	 * row. */
	cr_assert_eq(plan(&shape, 2, (const uint64_t[]){2, 1u << 20}, NULL, &g, &fault), 0);
	cr_assert_eq(g.block[0], 128);
	cr_assert_eq(g.block[1], 2);
}

/* In every case at least half of the work-items of the groups have work. */
Test(cuda_geometry, basic_groups_waste_little)
{
	const struct cuda_shape shape = usual_shape();
	struct backend_fault fault = {0};

	for (uint64_t y = 1; y < 300; y += 7)
		for (uint64_t x = 1; x < 700; x += 3) {
			struct cuda_geometry g;
			cr_assert_eq(plan(&shape, 2, (const uint64_t[]){y, x}, NULL, &g, &fault),
				     0);
			uint64_t taken = (uint64_t)g.grid[0] * g.block[0] * g.grid[1] * g.block[1];
			cr_assert_leq(taken, 2 * x * y + 31, "%llu for %llu x %llu",
				      (unsigned long long)taken, (unsigned long long)y,
				      (unsigned long long)x);
		}
}

Test(cuda_geometry, native_kernels_get_groups_that_divide_a_basic_range)
{
	struct cuda_shape shape = usual_shape();
	struct backend_fault fault = {0};

	shape.native = true;
	for (uint64_t x = 1; x < 3000; x++) {
		struct cuda_geometry g;
		cr_assert_eq(plan(&shape, 1, (const uint64_t[]){x}, NULL, &g, &fault), 0);
		cr_assert_eq((uint64_t)g.grid[0] * g.block[0], x);
		cr_assert_eq(g.record.flags, 0);
		if (x % 256 == 0 && x / 256 >= 132)
			cr_assert_eq(g.block[0], 256);
	}
	for (uint64_t y = 1; y < 60; y++)
		for (uint64_t x = 1; x < 60; x++) {
			struct cuda_geometry g;
			cr_assert_eq(plan(&shape, 3, (const uint64_t[]){3, y, x}, NULL, &g, &fault),
				     0);
			cr_assert_eq((uint64_t)g.grid[0] * g.block[0], x);
			cr_assert_eq((uint64_t)g.grid[1] * g.block[1], y);
			cr_assert_eq((uint64_t)g.grid[2] * g.block[2], 3);
		}
}

Test(cuda_geometry, E9_E13_native_kernels_are_not_folded_and_take_no_offset)
{
	struct cuda_shape shape = usual_shape();
	struct cuda_geometry g;
	struct backend_fault fault = {0};
	const uint64_t global[] = {70000, 1, 1}, one[] = {1, 1, 1}, offset[] = {0, 0, 1};
	const struct cuda_range shifted = {3, one, one, offset, NULL, NULL};

	cr_assert_eq(cuda_geometry_plan(&shape, &shifted, &g, &fault), 0);
	cr_assert_eq(g.record.offset[0], 1);
	shape.native = true;
	cr_assert_lt(plan(&shape, 3, global, one, &g, &fault), 0);
	cr_assert_eq(fault.status, STATUS_ND_RANGE);
	cr_assert_lt(cuda_geometry_plan(&shape, &shifted, &g, &fault), 0);
	cr_assert_eq(fault.status, STATUS_FEATURE_NOT_SUPPORTED);
}

Test(cuda_geometry, clusters_divide_the_groups)
{
	const struct cuda_shape shape = usual_shape();
	struct cuda_geometry g;
	struct backend_fault fault = {0};
	const uint64_t global[] = {8, 12}, local[] = {1, 1}, odd[] = {8, 13}, many[] = {70000, 2};
	const uint32_t cluster[] = {2, 4}, half[] = {0, 4};
	struct cuda_range range = {2, global, local, none, cluster, NULL};

	cr_assert_eq(cuda_geometry_plan(&shape, &range, &g, &fault), 0, "%s", fault.text);
	cr_assert_eq(g.cluster[0], 4);
	cr_assert_eq(g.cluster[1], 2);
	cr_assert_eq(g.cluster[2], 1);
	range.global = odd;
	cr_assert_lt(cuda_geometry_plan(&shape, &range, &g, &fault), 0);
	cr_assert_eq(fault.status, STATUS_ND_RANGE);
	/* A basic range gets more groups than it needs; the last ones have no work. */
	range.local = none;
	cr_assert_eq(cuda_geometry_plan(&shape, &range, &g, &fault), 0, "%s", fault.text);
	cr_assert_eq(g.grid[0] % 4, 0);
	cr_assert_eq(g.grid[1] % 2, 0);
	range.local = local;
	range.global = many;
	cr_assert_lt(cuda_geometry_plan(&shape, &range, &g, &fault), 0,
		     "a folded grid would tear clusters apart");
	range.global = global;
	range.cluster = half;
	cr_assert_lt(cuda_geometry_plan(&shape, &range, &g, &fault), 0);
}

Test(cuda_geometry, parts_that_make_no_sense_are_refused)
{
	static const struct backend_part bad[] = {{1, 1, 2}, {2, 1, 2}, {0, 3, 2}};
	const struct cuda_shape shape = usual_shape();
	const uint64_t global[] = {64, 64}, local[] = {8, 8};
	const uint32_t cluster[] = {2, 2};
	const struct backend_part good = {0, 1, 2};
	struct backend_fault fault = {0};
	struct cuda_geometry g;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const struct cuda_range range = {2, global, local, none, NULL, &bad[i]};
		cr_assert_lt(cuda_geometry_plan(&shape, &range, &g, &fault), 0);
	}
	const struct cuda_range clusters = {2, global, local, none, cluster, &good};
	cr_assert_lt(cuda_geometry_plan(&shape, &clusters, &g, &fault), 0);
}
