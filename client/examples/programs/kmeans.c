/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-means, ten times: points find the nearest of k centres, and centres move to the mean of their
 * points. Coordinates are whole numbers and sums have 64 bits. So the order in which atomics add
 * does not matter, and the result is exact.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define CENTRES 8u
#define AXES    2u
#define ROUNDS  10u

static const char source[] =
	"SYCL_KERNEL void assign(SYCL_GLOBAL(const int) points, SYCL_GLOBAL(const int) centres, SYCL_GLOBAL(uint) nearest,\n"
	"                        SYCL_GLOBAL(int) sums, SYCL_GLOBAL(uint) counts)\n"
	"{\n"
	"	uint p = (uint)sycl_global_id(0), best = 0;\n"
	"	long least = 0;\n"
	"	for (uint c = 0; c < 8u; c++) {\n"
	"		long dx = (long)points[2u * p] - centres[2u * c], dy = (long)points[2u * p + 1u] - centres[2u * c + 1u];\n"
	"		long distance = dx * dx + dy * dy;\n"
	"		if (c == 0u || distance < least) {\n"
	"			least = distance;\n"
	"			best = c;\n"
	"		}\n"
	"	}\n"
	"	nearest[p] = best;\n"
	"	sycl_atomic_add(&sums[2u * best], points[2u * p]);\n"
	"	sycl_atomic_add(&sums[2u * best + 1u], points[2u * p + 1u]);\n"
	"	sycl_atomic_add(&counts[best], 1u);\n"
	"}\n"
	"/* Towards zero; a centre without points stays. Sums begin at 0 again. */\n"
	"SYCL_KERNEL void move(SYCL_GLOBAL(int) centres, SYCL_GLOBAL(int) sums, SYCL_GLOBAL(uint) counts)\n"
	"{\n"
	"	uint c = (uint)sycl_global_id(0);\n"
	"	if (counts[c] > 0u) {\n"
	"		centres[2u * c] = sums[2u * c] / (int)counts[c];\n"
	"		centres[2u * c + 1u] = sums[2u * c + 1u] / (int)counts[c];\n"
	"	}\n"
	"	sums[2u * c] = 0;\n"
	"	sums[2u * c + 1u] = 0;\n"
	"	counts[c] = 0u;\n"
	"}\n";

static uint32_t nearest_on_cpu(const int32_t *point, const int32_t *centres)
{
	uint32_t best = 0;
	int64_t least = INT64_MAX;
	for (uint32_t c = 0; c < CENTRES; c++) {
		const int32_t *centre = centres + (size_t)AXES * c;
		int64_t dx = (int64_t)point[0] - centre[0], dy = (int64_t)point[1] - centre[1];
		if (dx * dx + dy * dy < least) {
			least = dx * dx + dy * dy;
			best = c;
		}
	}
	return best;
}

static void rounds_on_cpu(uint32_t count, const int32_t *points, int32_t *centres,
			  uint32_t *nearest)
{
	for (uint32_t round = 0; round < ROUNDS; round++) {
		int32_t sums[AXES * CENTRES] = {0};
		int32_t counts[CENTRES] = {0};
		for (uint32_t p = 0; p < count; p++) {
			const size_t c = nearest[p] =
				nearest_on_cpu(points + (size_t)AXES * p, centres);
			sums[AXES * c] += points[(size_t)AXES * p];
			sums[AXES * c + 1] += points[(size_t)AXES * p + 1];
			counts[c]++;
		}
		for (uint32_t i = 0; i < AXES * CENTRES; i++)
			if (counts[i / AXES] > 0)
				centres[i] = sums[i] / counts[i / AXES];
	}
}

/* Points around a few places; their sums stay far inside 32 bits. */
static int32_t *make_points(struct program_run *run, uint32_t count)
{
	int32_t *points = program_allocate(run, (size_t)AXES * count, sizeof(*points));
	const int32_t spread = (int32_t)(1000000000u / count < 2000u ? 1000000000u / count : 2000u);
	for (uint32_t p = 0; p < count; p++)
		for (uint32_t axis = 0; axis < AXES; axis++) {
			int32_t place = (int32_t)((p + axis * 3) % CENTRES) - (int32_t)CENTRES / 2;
			points[AXES * p + axis] =
				place * (spread / 8) +
				(int32_t)(program_random(run) % (uint32_t)(spread / 4 + 1));
		}
	return points;
}

static bool run_kmeans(struct program_run *run)
{
	const uint32_t count = run->edge;
	int32_t *points = make_points(run, count), centres[AXES * CENTRES],
		expected[AXES * CENTRES];
	int32_t zero[AXES * CENTRES] = {0};
	memcpy(centres, points, sizeof(centres));
	memcpy(expected, points, sizeof(expected));
	uint32_t *got = program_allocate(run, count, sizeof(*got)),
		 *nearest = program_allocate(run, count, sizeof(*nearest));

	sycl_kernel assign = program_kernel(run, source, "assign"),
		    move = program_kernel(run, source, "move");
	sycl_buffer all = program_buffer(run, points, (uint64_t)count * AXES * sizeof(*points),
					 SYCL_HOST_CONST);
	sycl_buffer middle = program_buffer(run, centres, sizeof(centres), SYCL_HOST_BORROWED);
	sycl_buffer sums = program_buffer(run, zero, sizeof(zero), SYCL_HOST_CONST);
	sycl_buffer counts = program_buffer(run, zero, CENTRES * sizeof(uint32_t), SYCL_HOST_CONST);
	sycl_buffer labels = program_buffer(run, got, count * sizeof(*got), SYCL_HOST_BORROWED);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		program_launch(run, assign, sycl_range1(count), READS(all), READS(middle),
			       WRITES(labels), UPDATES(sums), UPDATES(counts));
		program_launch(run, move, sycl_range1(CENTRES), UPDATES(middle), UPDATES(sums),
			       UPDATES(counts));
	}
	program_finish(run, middle);
	program_finish(run, labels);
	program_on_cpu(run);
	rounds_on_cpu(count, points, expected, nearest);
	bool right = program_same(run, "centres", (const uint32_t *)centres,
				  (const uint32_t *)expected, (size_t)AXES * CENTRES);
	right = program_same(run, "nearest centres", got, nearest, count) && right;
	program_finish(run, all);
	program_finish(run, sums);
	program_finish(run, counts);
	(void)sycl_kernel_release(assign);
	(void)sycl_kernel_release(move);
	free(points);
	free(got);
	free(nearest);
	return right;
}

const struct program programs_kmeans[] = {
	{"k-means", "points and their nearest centres", {300, 200000, 4000000}, run_kmeans},
	{NULL, NULL, {0}, NULL},
};
