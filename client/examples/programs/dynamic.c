/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic programming (after the algorithms of the Rodinia suite). pathfinder: the cheapest way
 * down a grid, a row at a time. needleman-wunsch: the best alignment of two sequences, a diagonal
 * of tiles at a time.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define TILE 16u

static const char path_source[] =
	"SYCL_KERNEL void descend(SYCL_GLOBAL(const uint) wall, SYCL_GLOBAL(const uint) from, SYCL_GLOBAL(uint) to, uint row)\n"
	"{\n"
	"	uint x = (uint)sycl_global_id(0), n = (uint)sycl_global_range(0);\n"
	"	uint best = from[x];\n"
	"	if (x > 0)\n"
	"		best = sycl_min(best, from[x - 1]);\n"
	"	if (x < n - 1)\n"
	"		best = sycl_min(best, from[x + 1]);\n"
	"	to[x] = best + wall[row * n + x];\n"
	"}\n";

/* One work-group for each tile of a diagonal, one item for each of its rows. Inside a tile, the
 * diagonals follow each other in local memory. */
static const char align_source[] =
	"SYCL_KERNEL void align(SYCL_GLOBAL(const int) similar, SYCL_GLOBAL(int) score, SYCL_LOCAL(int) t, uint n,\n"
	"                       uint first_row, uint diagonal, int penalty)\n"
	"{\n"
	"	uint tile = 16u, side = 17u, width = n + 1u, r = (uint)sycl_local_id(0);\n"
	"	uint tile_row = first_row + (uint)sycl_group_id(0), tile_column = diagonal - tile_row;\n"
	"	uint top = tile_row * tile, left = tile_column * tile;\n"
	"	t[(r + 1u) * side] = score[(top + r + 1u) * width + left];\n"
	"	t[r + 1u] = score[top * width + left + r + 1u];\n"
	"	if (r == 0u)\n"
	"		t[0] = score[top * width + left];\n"
	"	sycl_group_barrier();\n"
	"	for (uint d = 0u; d < 2u * tile - 1u; d++) {\n"
	"		if (d >= r && d - r < tile) {\n"
	"			uint x = d - r + 1u, y = r + 1u;\n"
	"			int both = t[(y - 1u) * side + x - 1u] + similar[(top + y - 1u) * n + left + x - 1u];\n"
	"			int one = sycl_max(t[(y - 1u) * side + x], t[y * side + x - 1u]) - penalty;\n"
	"			t[y * side + x] = sycl_max(both, one);\n"
	"		}\n"
	"		sycl_group_barrier();\n"
	"	}\n"
	"	for (uint x = 1u; x <= tile; x++)\n"
	"		score[(top + r + 1u) * width + left + x] = t[(r + 1u) * side + x];\n"
	"}\n";

/* Writes the costs of the last row to `a`. */
static void descend_on_cpu(uint32_t n, uint32_t rows, const uint32_t *wall, uint32_t *a,
			   uint32_t *b)
{
	memcpy(a, wall, n * sizeof(*a));
	for (uint32_t row = 1; row < rows; row++) {
		for (uint32_t x = 0; x < n; x++) {
			uint32_t best = a[x];
			best = x > 0 && a[x - 1] < best ? a[x - 1] : best;
			best = x + 1 < n && a[x + 1] < best ? a[x + 1] : best;
			b[x] = best + wall[(size_t)row * n + x];
		}
		memcpy(a, b, n * sizeof(*a));
	}
}

static bool run_pathfinder(struct program_run *run)
{
	const uint32_t n = run->edge, rows = n / 4 + 2;
	const size_t bytes = n * sizeof(uint32_t);
	uint32_t *wall = program_allocate(run, (size_t)rows * n, sizeof(*wall));
	for (size_t i = 0; i < (size_t)rows * n; i++)
		wall[i] = program_random(run) % 10;
	sycl_kernel kernel = program_kernel(run, path_source, "descend");
	sycl_buffer grid = program_buffer(run, wall, (uint64_t)rows * bytes, SYCL_HOST_CONST);
	sycl_buffer from = program_buffer(run, wall, bytes, SYCL_HOST_CONST),
		    to = program_scratch(run, bytes);
	uint32_t *a = program_allocate(run, n, sizeof(*a)),
		 *b = program_allocate(run, n, sizeof(*b));
	for (uint32_t row = 1; row < rows; row++) {
		program_launch(run, kernel, sycl_range1(n), READS(grid), READS(from), WRITES(to),
			       VALUE(row));
		sycl_buffer other = from;
		from = to;
		to = other;
	}
	program_on_cpu(run);
	descend_on_cpu(n, rows, wall, a, b);
	program_read(run, from, b, bytes);
	bool right = program_same(run, "costs", b, a, n);
	program_finish(run, grid);
	program_finish(run, from);
	program_finish(run, to);
	(void)sycl_kernel_release(kernel);
	free(wall);
	free(a);
	free(b);
	return right;
}

static int32_t larger(int32_t a, int32_t b)
{
	return a > b ? a : b;
}

static void align_on_cpu(uint32_t n, const int32_t *similar, int32_t *score, int32_t penalty)
{
	const size_t width = n + 1u;
	for (uint32_t y = 1; y <= n; y++)
		for (uint32_t x = 1; x <= n; x++) {
			int32_t both = score[(y - 1) * width + x - 1] +
				       similar[(size_t)(y - 1) * n + x - 1];
			int32_t one = larger(score[(y - 1) * width + x], score[y * width + x - 1]) -
				      penalty;
			score[y * width + x] = larger(both, one);
		}
}

static bool run_needleman(struct program_run *run)
{
	const int32_t penalty = 10;
	const uint32_t tiles = run->edge / TILE, n = tiles * TILE;
	const size_t width = n + 1u, count = width * width;
	int32_t *similar = program_allocate(run, (size_t)n * n, sizeof(*similar));
	int32_t *got = program_allocate(run, count, sizeof(*got)),
		*expected = program_allocate(run, count, sizeof(*expected));
	for (size_t i = 0; i < (size_t)n * n; i++)
		similar[i] = (int32_t)(program_random(run) % 21) - 10;
	for (uint32_t i = 0; i <= n; i++)
		got[i] = got[i * width] = -penalty * (int32_t)i;
	memcpy(expected, got, count * sizeof(*got));

	sycl_kernel kernel = program_kernel(run, align_source, "align");
	sycl_buffer matrix =
		program_buffer(run, similar, (uint64_t)n * n * sizeof(*similar), SYCL_HOST_CONST);
	sycl_buffer score = program_buffer(run, got, count * sizeof(*got), SYCL_HOST_BORROWED);
	for (uint32_t diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
		const uint32_t first = diagonal < tiles ? 0 : diagonal - tiles + 1;
		const uint32_t groups = (diagonal < tiles ? diagonal : tiles - 1) - first + 1;
		program_launch_groups(run, kernel, sycl_range1((uint64_t)groups * TILE),
				      sycl_range1(TILE), READS(matrix), UPDATES(score),
				      LOCAL((size_t)(TILE + 1) * (TILE + 1) * sizeof(int32_t)),
				      VALUE(n), VALUE(first), VALUE(diagonal), VALUE(penalty));
	}
	program_finish(run, score);
	program_on_cpu(run);
	align_on_cpu(n, similar, expected, penalty);
	bool right = program_same(run, "scores", (const uint32_t *)got, (const uint32_t *)expected,
				  count);
	program_finish(run, matrix);
	(void)sycl_kernel_release(kernel);
	free(similar);
	free(got);
	free(expected);
	return right;
}

const struct program programs_dynamic[] = {
	{"pathfinder", "the cheapest way down a grid", {32, 2048, 16384}, run_pathfinder},
	{"needleman-wunsch", "the best alignment of two sequences", {32, 512, 4096}, run_needleman},
	{NULL, NULL, {0}, NULL},
};
