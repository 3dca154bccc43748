/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction: one sum of many numbers, in local memory, then over the groups' sums. histogram: the
 * frequency of each byte, counted in local memory first. In global memory, thousands of work-items
 * would contend for 256 words.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define GROUP  64u
#define GROUPS 32u
#define BINS   256u

static const char source[] =
	"/* Each group sums its stride of the numbers. */\n"
	"SYCL_KERNEL void reduce(SYCL_GLOBAL(const uint) in, SYCL_GLOBAL(ulong) sums, SYCL_LOCAL(ulong) t, uint count)\n"
	"{\n"
	"	uint l = (uint)sycl_local_id(0), stride = (uint)sycl_global_range(0);\n"
	"	ulong sum = 0;\n"
	"	for (uint i = (uint)sycl_global_id(0); i < count; i += stride)\n"
	"		sum += in[i];\n"
	"	t[l] = sum;\n"
	"	sycl_group_barrier();\n"
	"	for (uint step = (uint)sycl_local_range(0) / 2u; step > 0u; step /= 2u) {\n"
	"		if (l < step)\n"
	"			t[l] += t[l + step];\n"
	"		sycl_group_barrier();\n"
	"	}\n"
	"	if (l == 0u)\n"
	"		sums[sycl_group_id(0)] = t[0];\n"
	"}\n"
	"SYCL_KERNEL void add(SYCL_GLOBAL(const ulong) sums, SYCL_GLOBAL(ulong) total, uint groups)\n"
	"{\n"
	"	ulong sum = 0;\n"
	"	for (uint i = 0; i < groups; i++)\n"
	"		sum += sums[i];\n"
	"	total[0] = sum;\n"
	"}\n"
	"/* Four bytes of each word. */\n"
	"SYCL_KERNEL void histogram(SYCL_GLOBAL(const uint) in, SYCL_GLOBAL(uint) bins, SYCL_LOCAL(uint) t, uint count)\n"
	"{\n"
	"	uint l = (uint)sycl_local_id(0), size = (uint)sycl_local_range(0), stride = (uint)sycl_global_range(0);\n"
	"	for (uint b = l; b < 256u; b += size)\n"
	"		t[b] = 0u;\n"
	"	sycl_group_barrier();\n"
	"	for (uint i = (uint)sycl_global_id(0); i < count; i += stride)\n"
	"		for (uint shift = 0u; shift < 32u; shift += 8u)\n"
	"			sycl_atomic_add(&t[(in[i] >> shift) & 255u], 1u);\n"
	"	sycl_group_barrier();\n"
	"	for (uint b = l; b < 256u; b += size)\n"
	"		sycl_atomic_add(&bins[b], t[b]);\n"
	"}\n";

/* Four bytes, in which small values are more frequent. */
static uint32_t small_byte_word(struct program_run *run)
{
	const uint32_t bits = program_random(run);
	return bits & program_random(run);
}

static uint32_t *make_numbers(struct program_run *run)
{
	uint32_t *numbers = program_allocate(run, run->edge, sizeof(*numbers));
	for (uint32_t i = 0; i < run->edge; i++)
		numbers[i] = small_byte_word(run);
	return numbers;
}

static bool run_reduction(struct program_run *run)
{
	const uint32_t count = run->edge, groups = GROUPS;
	uint32_t *numbers = make_numbers(run);
	uint64_t got = 0, expected = 0;
	sycl_kernel reduce = program_kernel(run, source, "reduce"),
		    add = program_kernel(run, source, "add");
	sycl_buffer in = program_buffer(run, numbers, count * sizeof(*numbers), SYCL_HOST_CONST);
	sycl_buffer sums = program_scratch(run, GROUPS * sizeof(uint64_t)),
		    total = program_scratch(run, sizeof(uint64_t));
	program_launch_groups(run, reduce, sycl_range1((uint64_t)GROUPS * GROUP),
			      sycl_range1(GROUP), READS(in), WRITES(sums),
			      LOCAL(GROUP * sizeof(uint64_t)), VALUE(count));
	program_launch(run, add, sycl_range1(1), READS(sums), WRITES(total), VALUE(groups));
	program_read(run, total, &got, sizeof(got));
	program_on_cpu(run);
	for (uint32_t i = 0; i < count; i++)
		expected += numbers[i];
	bool right = program_same(run, "the sum", (const uint32_t *)&got,
				  (const uint32_t *)&expected, 2);
	program_finish(run, in);
	program_finish(run, sums);
	program_finish(run, total);
	(void)sycl_kernel_release(reduce);
	(void)sycl_kernel_release(add);
	free(numbers);
	return right;
}

static bool run_histogram(struct program_run *run)
{
	const uint32_t count = run->edge;
	uint32_t *numbers = make_numbers(run), bins[BINS] = {0}, expected[BINS] = {0};
	sycl_kernel histogram = program_kernel(run, source, "histogram");
	sycl_buffer in = program_buffer(run, numbers, count * sizeof(*numbers), SYCL_HOST_CONST);
	sycl_buffer result = program_buffer(run, bins, sizeof(bins), SYCL_HOST_BORROWED);
	program_launch_groups(run, histogram, sycl_range1((uint64_t)GROUPS * GROUP),
			      sycl_range1(GROUP), READS(in), UPDATES(result),
			      LOCAL(BINS * sizeof(uint32_t)), VALUE(count));
	program_finish(run, result);
	program_on_cpu(run);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t shift = 0; shift < 32; shift += 8)
			expected[numbers[i] >> shift & 255]++;
	bool right = program_same(run, "bins", bins, expected, BINS);
	program_finish(run, in);
	(void)sycl_kernel_release(histogram);
	free(numbers);
	return right;
}

const struct program programs_reduce[] = {
	{"reduction", "one sum of many numbers", {3000, 1000000, 64000000}, run_reduction},
	{"histogram", "how often each byte occurs", {1000, 1000000, 64000000}, run_histogram},
	{NULL, NULL, {0}, NULL},
};
