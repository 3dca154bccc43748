/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan: the sum of all elements before each element, within work-groups and then over the groups.
 * radix-sort: sorts by four bits at a time, with that scan. Each group counts its digits, the scan
 * returns the place of each group's digits, and items keep their order.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define GROUP  64u
#define DIGITS 16u

static const char source[] =
	"/* In each group: out[i] = the sum of what comes before i in the group; the group's sum to totals. */\n"
	"SYCL_KERNEL void scan_groups(SYCL_GLOBAL(const uint) in, SYCL_GLOBAL(uint) out, SYCL_GLOBAL(uint) totals,\n"
	"                             SYCL_LOCAL(uint) t, uint count)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), l = (uint)sycl_local_id(0), size = (uint)sycl_local_range(0);\n"
	"	uint mine = i < count ? in[i] : 0u;\n"
	"	t[l] = mine;\n"
	"	sycl_group_barrier();\n"
	"	for (uint step = 1u; step < size; step *= 2u) {\n"
	"		uint before = l >= step ? t[l - step] : 0u;\n"
	"		sycl_group_barrier();\n"
	"		t[l] += before;\n"
	"		sycl_group_barrier();\n"
	"	}\n"
	"	if (i < count)\n"
	"		out[i] = t[l] - mine;\n"
	"	if (l == size - 1u)\n"
	"		totals[sycl_group_id(0)] = t[l];\n"
	"}\n"
	"SYCL_KERNEL void add_totals(SYCL_GLOBAL(uint) out, SYCL_GLOBAL(const uint) totals, uint size)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	out[i] += totals[i / size];\n"
	"}\n"
	"/* histogram[digit][group] */\n"
	"SYCL_KERNEL void count_digits(SYCL_GLOBAL(const uint) keys, SYCL_GLOBAL(uint) histogram, SYCL_LOCAL(uint) counts,\n"
	"                              uint count, uint shift)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), l = (uint)sycl_local_id(0);\n"
	"	if (l < 16u)\n"
	"		counts[l] = 0u;\n"
	"	sycl_group_barrier();\n"
	"	if (i < count)\n"
	"		sycl_atomic_add(&counts[(keys[i] >> shift) & 15u], 1u);\n"
	"	sycl_group_barrier();\n"
	"	if (l < 16u)\n"
	"		histogram[l * (uint)sycl_group_range(0) + (uint)sycl_group_id(0)] = counts[l];\n"
	"}\n"
	"/* Behind those of the same digit that come before it in the group: equal keys keep their order. */\n"
	"SYCL_KERNEL void scatter(SYCL_GLOBAL(const uint) keys, SYCL_GLOBAL(const uint) places, SYCL_GLOBAL(uint) to,\n"
	"                         SYCL_LOCAL(uint) digits, uint count, uint shift)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), l = (uint)sycl_local_id(0);\n"
	"	uint key = i < count ? keys[i] : 0u, digit = i < count ? (key >> shift) & 15u : 16u, before = 0u;\n"
	"	digits[l] = digit;\n"
	"	sycl_group_barrier();\n"
	"	for (uint k = 0u; k < l; k++)\n"
	"		before += digits[k] == digit ? 1u : 0u;\n"
	"	if (i < count)\n"
	"		to[places[digit * (uint)sycl_group_range(0) + (uint)sycl_group_id(0)] + before] = key;\n"
	"}\n";

struct kernels {
	sycl_kernel scan, add, count, scatter;
};

static void kernels_begin(const struct program_run *run, struct kernels *kernels)
{
	kernels->scan = program_kernel(run, source, "scan_groups");
	kernels->add = program_kernel(run, source, "add_totals");
	kernels->count = program_kernel(run, source, "count_digits");
	kernels->scatter = program_kernel(run, source, "scatter");
}

static void kernels_end(const struct kernels *kernels)
{
	(void)sycl_kernel_release(kernels->scan);
	(void)sycl_kernel_release(kernels->add);
	(void)sycl_kernel_release(kernels->count);
	(void)sycl_kernel_release(kernels->scatter);
}

static uint32_t groups_of(uint32_t count)
{
	return (count + GROUP - 1) / GROUP;
}

/* out[i] = the sum of in[0] .. in[i - 1]. The groups' totals are scanned in the same way, until one
 * group suffices. */
static void scan(const struct program_run *run, const struct kernels *kernels, sycl_buffer in,
		 sycl_buffer out, uint32_t count)
{
	const uint32_t groups = groups_of(count), size = GROUP;
	sycl_buffer totals = program_scratch(run, groups * sizeof(uint32_t));
	program_launch_groups(run, kernels->scan, sycl_range1((uint64_t)groups * GROUP),
			      sycl_range1(GROUP), READS(in), UPDATES(out), WRITES(totals),
			      LOCAL(GROUP * sizeof(uint32_t)), VALUE(count));
	if (groups > 1) {
		sycl_buffer before = program_scratch(run, groups * sizeof(uint32_t));
		scan(run, kernels, totals, before, groups);
		program_launch(run, kernels->add, sycl_range1(count), UPDATES(out), READS(before),
			       VALUE(size));
		program_finish(run, before);
	}
	program_finish(run, totals);
}

static bool run_scan(struct program_run *run)
{
	const uint32_t count = run->edge;
	const uint64_t bytes = count * sizeof(uint32_t);
	uint32_t *values = program_allocate(run, count, sizeof(*values)),
		 *got = program_allocate(run, count, sizeof(*got));
	uint32_t *expected = program_allocate(run, count, sizeof(*expected)), sum = 0;
	for (uint32_t i = 0; i < count; i++)
		values[i] = program_random(run) % 1000;
	struct kernels kernels;
	kernels_begin(run, &kernels);
	sycl_buffer in = program_buffer(run, values, bytes, SYCL_HOST_CONST),
		    out = program_scratch(run, bytes);
	scan(run, &kernels, in, out, count);
	program_read(run, out, got, bytes);
	program_on_cpu(run);
	for (uint32_t i = 0; i < count; i++) {
		expected[i] = sum;
		sum += values[i];
	}
	bool right = program_same(run, "sums", got, expected, count);
	program_finish(run, in);
	program_finish(run, out);
	kernels_end(&kernels);
	free(values);
	free(got);
	free(expected);
	return right;
}

static int compare(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	return (a > b) - (a < b);
}

static bool run_radix_sort(struct program_run *run)
{
	const uint32_t count = run->edge, groups = groups_of(count), cells = DIGITS * groups;
	const uint64_t bytes = count * sizeof(uint32_t);
	uint32_t *values = program_allocate(run, count, sizeof(*values)),
		 *got = program_allocate(run, count, sizeof(*got));
	for (uint32_t i = 0; i < count; i++)
		values[i] = program_random(run);
	struct kernels kernels;
	kernels_begin(run, &kernels);
	sycl_buffer from = program_buffer(run, values, bytes, SYCL_HOST_CONST),
		    to = program_scratch(run, bytes);
	sycl_buffer histogram = program_scratch(run, cells * sizeof(uint32_t));
	sycl_buffer places = program_scratch(run, cells * sizeof(uint32_t));
	const sycl_range global = sycl_range1((uint64_t)groups * GROUP), local = sycl_range1(GROUP);
	for (uint32_t shift = 0; shift < 32; shift += 4) {
		program_launch_groups(run, kernels.count, global, local, READS(from),
				      WRITES(histogram), LOCAL(DIGITS * sizeof(uint32_t)),
				      VALUE(count), VALUE(shift));
		scan(run, &kernels, histogram, places, cells);
		program_launch_groups(run, kernels.scatter, global, local, READS(from),
				      READS(places), UPDATES(to), LOCAL(GROUP * sizeof(uint32_t)),
				      VALUE(count), VALUE(shift));
		sycl_buffer other = from;
		from = to;
		to = other;
	}
	program_read(run, from, got, bytes);
	program_on_cpu(run);
	qsort(values, count, sizeof(*values), compare);
	bool right = program_same(run, "keys", got, values, count);
	program_finish(run, from);
	program_finish(run, to);
	program_finish(run, histogram);
	program_finish(run, places);
	kernels_end(&kernels);
	free(values);
	free(got);
	return right;
}

const struct program programs_sort[] = {
	{"scan", "sums of all that comes before", {200, 300000, 16000000}, run_scan},
	{"radix-sort", "sorting, four bits at a time", {150, 60000, 8000000}, run_radix_sort},
	{NULL, NULL, {0}, NULL},
};
