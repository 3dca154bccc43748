/* Functions of a whole group in the portable form: reductions, scans, broadcasts; sub-groups. */
#include "cuda/kernels_run.h"
#include "portable/number.h"
#include "targets/target.h"
#include <stdio.h>
#include <stdlib.h>

TestSuite(portable_groups, .timeout = 240);

enum { RESULTS = 12 };

/*
 * Three kernels, because PoCL's compile time grows faster than a kernel's barriers. EXTREMES: only
 * the last one, which tests the identities of the operations. LAUNCHED: the number of dimensions of
 * the launch. The source is compiled for the others, too, but there each kernel ends at once, so
 * that PoCL makes no code that never runs.
 */
static const char functions_source[] =
	"#if SYCL_DIMENSIONS == 1\n"
	"#define AT sycl_group_linear_id() * sycl_local_range(0) + sycl_local_linear_id()\n"
	"#elif SYCL_DIMENSIONS == 2\n"
	"#define AT sycl_group_linear_id() * sycl_local_range(0) * sycl_local_range(1) + sycl_local_linear_id()\n"
	"#else\n"
	"#define AT sycl_group_linear_id() * sycl_local_range(0) * sycl_local_range(1) * sycl_local_range(2)"
	" + sycl_local_linear_id()\n"
	"#endif\n"
	"#define BEGIN if (SYCL_DIMENSIONS != LAUNCHED) return; SYCL_GROUP_SCRATCH; ulong i = AT; T x = in[i]; SYCL_GLOBAL(T) o = out + i * 12\n"
	"#ifndef EXTREMES\n"
	"SYCL_KERNEL void reduce(SYCL_GLOBAL(T) out, SYCL_GLOBAL(const T) in, uint last) {\n"
	"  BEGIN;\n"
	"  o[0] = sycl_group_reduce_add(x); o[1] = sycl_group_reduce_min(x); o[2] = sycl_group_reduce_max(x);\n"
	"  o[9] = sycl_group_broadcast(x, last);\n"
	"}\n"
	"SYCL_KERNEL void scan(SYCL_GLOBAL(T) out, SYCL_GLOBAL(const T) in, uint last) {\n"
	"  BEGIN;\n"
	"  o[3] = sycl_group_inclusive_scan_add(x); o[4] = sycl_group_inclusive_scan_min(x);\n"
	"  o[5] = sycl_group_inclusive_scan_max(x); o[6] = sycl_group_exclusive_scan_add(x);\n"
	"}\n"
	"#endif\n"
	"SYCL_KERNEL void extremes(SYCL_GLOBAL(T) out, SYCL_GLOBAL(const T) in, uint last) {\n"
	"  BEGIN;\n"
	"  T least = sycl_group_exclusive_scan_max(x), most = sycl_group_exclusive_scan_min(x);\n"
	"  o[7] = sycl_local_linear_id() == 0 ? (T)(least <= x) : least;\n"
	"  o[8] = sycl_local_linear_id() == 0 ? (T)(most >= x) : most;\n"
	"  o[10] = (T)(sycl_group_any(x == (T)7) * 2 + sycl_group_any(x > (T)1000));\n"
	"  o[11] = (T)(sycl_group_all(x < (T)1000) * 2 + sycl_group_all(x == (T)7));\n"
	"}\n";

static void put_number(const char *type, void *bytes, size_t at, int value)
{
	if (strcmp(type, "float") == 0)
		((float *)bytes)[at] = (float)value;
	else if (strcmp(type, "double") == 0)
		((double *)bytes)[at] = value;
	else if (strcmp(type, "int") == 0 || strcmp(type, "uint") == 0)
		((int32_t *)bytes)[at] = value;
	else
		((int64_t *)bytes)[at] = value;
}

/* The expected value of item `at` of a group that begins at `first`. */
static void expected_results(const int *values, size_t first, size_t items, size_t at,
			     double *expected)
{
	double all = 0, least = 1e9, most = -1e9, before = 0, least_before = 1e9,
	       most_before = -1e9;
	bool seven = false, sevens = true;

	for (size_t i = 0; i < items; i++) {
		double x = values[first + i];
		if (i < at) {
			before += x;
			least_before = x < least_before ? x : least_before;
			most_before = x > most_before ? x : most_before;
		}
		all += x;
		least = x < least ? x : least;
		most = x > most ? x : most;
		seven = seven || x == 7;
		sevens = sevens && x == 7;
	}
	double own = values[first + at];
	const double results[RESULTS] = {all,
					 least,
					 most,
					 before + own,
					 own < least_before ? own : least_before,
					 own > most_before ? own : most_before,
					 before,
					 at == 0 ? 1 : most_before,
					 at == 0 ? 1 : least_before,
					 values[first + items - 1],
					 seven ? 2 : 0,
					 sevens ? 3 : 2};
	memcpy(expected, results, sizeof(results));
}

static void check_functions(struct run *run, const char *type, size_t size, uint32_t dimensions,
			    const uint64_t *local, bool extremes, const char *more_options)
{
	uint64_t global[3];
	size_t items = 1;
	char options[96];

	for (uint32_t d = 0; d < dimensions; d++) {
		items *= local[d];
		global[d] = local[d] * (d == dimensions - 1 ? 3 : 1);
	}
	const size_t count = items * 3;
	int *values = calloc(count, sizeof(int));
	unsigned char *in = calloc(count, 8), *out = calloc(count * RESULTS, 8);
	for (size_t i = 0; i < count; i++) { /* the second group: sevens */
		values[i] = i / items == 1 ? 7 : (int)(i * 37 % 91) + (type[0] == 'u' ? 0 : -40);
		put_number(type, in, i, values[i]);
	}
	(void)snprintf(options, sizeof(options), "-DT=%s -DLAUNCHED=%u%s%s", type, dimensions,
		       extremes ? " -DEXTREMES" : "", more_options);
	run_program(run, BACKEND_SOURCE_PORTABLE, functions_source, options, "extremes");
	struct backend_kernel *kernels[] = {run->kernel,
					    extremes ? NULL : run_kernel(run, "reduce"),
					    extremes ? NULL : run_kernel(run, "scan")};
	const uint32_t last = (uint32_t)items - 1;
	struct backend_memory *from = run_memory(run, in, count * size);
	struct backend_memory *to = run_memory(run, NULL, count * RESULTS * size);
	const struct backend_argument arguments[] = {global_argument(to), global_argument(from),
						     value_argument(&last, 4)};
	struct backend_command command =
		launch_command(run->kernel, dimensions, global, arguments, 3);
	memcpy(command.launch.local, local, dimensions * sizeof(*local));
	for (int k = 0; k < (extremes ? 1 : 3); k++) {
		command.launch.kernel = kernels[k];
		run_command(run, &command);
	}
	fixture_read(&run->fixture, to, 0, out, count * RESULTS * size);
	for (size_t i = 0; i < count; i++) {
		double expected[RESULTS];
		expected_results(values, i / items * items, items, i % items, expected);
		for (int k = 0; k < RESULTS; k++) {
			if (extremes && (k < 7 || k == 9))
				continue;
			double got = portable_number_at(type, out, i * RESULTS + (size_t)k);
			cr_assert_eq(got, expected[k], "%s, %zu items, item %zu, %d: %g, not %g",
				     type, items, i, k, got, expected[k]);
		}
	}
	run->fixture.ops->memory_free(from);
	run->fixture.ops->memory_free(to);
	run->fixture.ops->kernel_free(kernels[1]);
	run->fixture.ops->kernel_free(kernels[2]);
	free(values);
	free(in);
	free(out);
}

Test(portable_groups, E12_ints_of_groups_smaller_and_larger_than_a_sub_group)
{
	const uint64_t sizes[] = {1, 7, 100};
	struct run run;

	run_open_device(&run);
	for (int i = 0; i < 3; i++)
		check_functions(&run, "int", 4, 1, &sizes[i], false, "");
	run_close(&run);
}

Test(portable_groups, E1_E12_longs_of_three_dimensions)
{
	const uint64_t local[] = {2, 3, 11};
	struct run run;

	run_open_device(&run);
	check_functions(&run, "long", 8, 3, local, true, "");
	run_close(&run);
}

/* Most of the time of these tests is PoCL's optimiser. The tests above use it. */
static const char *unoptimised(const struct run *run)
{
	return conformance_target.source_kind == BACKEND_SOURCE_OPENCL_C &&
			       run->fixture.facts->host_unified_memory
		       ? " -cl-opt-disable"
		       : "";
}

Test(portable_groups, E12_floats_of_two_dimensions)
{
	const uint64_t local[] = {5, 8};
	struct run run;

	run_open_device(&run);
	check_functions(&run, "float", 4, 2, local, false, unoptimised(&run));
	run_close(&run);
}

Test(portable_groups, E12_unsigned)
{
	const uint64_t local = 33;
	struct run run;

	run_open_device(&run);
	check_functions(&run, "uint", 4, 1, &local, true, unoptimised(&run));
	check_functions(&run, "ulong", 8, 1, &local, true, unoptimised(&run));
	run_close(&run);
}

Test(portable_groups, E12_doubles_of_exactly_two_sub_groups)
{
	const uint64_t local = 64;
	struct run run;

	run_open_device(&run);
	check_functions(&run, "double", 8, 1, &local, false, unoptimised(&run));
	run_close(&run);
}

/* Values that any word of a sub-group returns, for a group of 40: the last sub-group has fewer. */
static const char sub_groups_source[] =
	"SYCL_REQUIRES_SUB_GROUPS;\n"
	"SYCL_KERNEL void sub_groups(SYCL_GLOBAL(long) out) {\n"
	"  uint k = (uint)sycl_local_linear_id(), lane = sycl_sub_group_local_id(), size = sycl_sub_group_size();\n"
	"  SYCL_GLOBAL(long) o = out + sycl_global_linear_id() * 16;\n"
	"  o[0] = lane; o[1] = size; o[2] = sycl_sub_group_id(); o[3] = sycl_sub_group_count();\n"
	"  o[4] = sycl_sub_group_max_size();\n"
	"  o[5] = sycl_sub_group_broadcast((int)k, 1); o[6] = sycl_sub_group_reduce_add(k);\n"
	"  o[7] = (long)sycl_sub_group_reduce_max((float)k); o[8] = sycl_sub_group_reduce_min((long)k);\n"
	"  o[9] = (long)sycl_sub_group_inclusive_scan_add((double)k);\n"
	"  o[10] = (long)sycl_sub_group_exclusive_scan_add((ulong)k);\n"
	"  o[11] = sycl_sub_group_any(k == 33) + 2 * sycl_sub_group_all(k < 32);\n"
	"#ifdef SYCL_HAS_SUB_GROUP_SHUFFLE\n"
	"  o[12] = sycl_sub_group_shuffle(k, size - 1 - lane);\n"
	"  o[13] = (long)sycl_sub_group_shuffle_xor((double)k, 1);\n"
	"  long up = sycl_sub_group_shuffle_up((long)k, 1); o[14] = lane > 0 ? up : -1;\n"
	"  float down = sycl_sub_group_shuffle_down((float)k, 1); o[15] = lane + 1 < size ? (long)down : -1;\n"
	"#endif\n"
	"  sycl_sub_group_barrier(); sycl_sub_group_barrier_scope(SYCL_MEMORY_SCOPE_DEVICE);\n"
	"}\n";

static void check_sub_groups(struct run *run, uint32_t dimensions, const uint64_t *local,
			     bool shuffles)
{
	enum { ITEMS = 40 };
	int64_t got[ITEMS][16];
	struct backend_memory *memory = run_memory(run, NULL, sizeof(got));
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command =
		launch_command(run->kernel, dimensions, local, &argument, 1);

	memcpy(command.launch.local, local, dimensions * sizeof(*local));
	run_command(run, &command);
	fixture_read(&run->fixture, memory, 0, got, sizeof(got));
	const int64_t full = got[0][1]; /* of the first one */
	cr_assert_gt(full, 1);
	cr_assert_leq(full, ITEMS);
	for (int64_t k = 0; k < ITEMS; k++) {
		int64_t lane = k % full, first = k - lane,
			size = first + full > ITEMS ? ITEMS - first : full;
		int64_t last = first + size - 1, before = (first + k - 1) * lane / 2;
		const int64_t expected[16] = {lane,
					      size,
					      k / full,
					      (ITEMS + full - 1) / full,
					      full,
					      first + 1,
					      (first + last) * size / 2,
					      last,
					      first,
					      before + k,
					      before,
					      (first <= 33 && last >= 33) + 2 * (last < 32),
					      last - lane,
					      k ^ 1,
					      lane > 0 ? k - 1 : -1,
					      lane + 1 < size ? k + 1 : -1};
		for (int i = 0; i < (shuffles ? 16 : 12); i++)
			cr_assert_eq(got[k][i], expected[i], "item %d, %d: %d, not %d", (int)k, i,
				     (int)got[k][i], (int)expected[i]);
	}
	run->fixture.ops->memory_free(memory);
}

/* Opens a device with sub-groups, or one without; skipped, not passed, with the other kind. */
static void open_with_sub_groups(struct run *run, bool wanted)
{
	*run = (struct run){.fixture = {.wake_fd = -1}};
	fixture_open(&run->fixture, 0);
	if ((run->fixture.facts->sub_group_size_count > 0) == wanted)
		return;
	fixture_close(&run->fixture);
	cr_skip_test("a device %s sub-groups", wanted ? "without" : "with");
}

Test(portable_groups, E25_without_sub_groups_a_kernel_with_them_is_refused)
{
	struct run run;

	open_with_sub_groups(&run, false);
	char *log = run_build_fails(&run.fixture, BACKEND_SOURCE_PORTABLE, sub_groups_source,
				    strlen(sub_groups_source), "", -13 /* KERNEL_NOT_SUPPORTED */);
	free(log);
	fixture_close(&run.fixture);
}

Test(portable_groups, E17_E25_sub_groups_do_what_their_size_says)
{
	const uint64_t one[] = {40}, two[] = {4, 10}, three[] = {2, 4, 5};
	struct run run;

	open_with_sub_groups(&run, true);
	run.program = fixture_build(&run.fixture, BACKEND_SOURCE_PORTABLE, sub_groups_source, "");
	run.kernel = run_kernel(&run, "sub_groups");
	bool shuffles = run.fixture.ops == &backend_cuda_ops;
	check_sub_groups(&run, 1, one, shuffles);
	check_sub_groups(&run, 2, two, shuffles);
	check_sub_groups(&run, 3, three, shuffles);
	run_close(&run);
}

/* In turn, each item comes last, by far. The others wait at the barrier already, and none of them
 * prevents it from arriving. */
static const char late_source[] =
	"SYCL_KERNEL void late(SYCL_GLOBAL(uint) out, SYCL_LOCAL(uint) seen) {\n"
	"  if (SYCL_DIMENSIONS != 1) return;\n"
	"  uint k = (uint)sycl_local_linear_id(), n = (uint)sycl_local_range(0), sum = 0;\n"
	"  for (uint turn = 0; turn < n; turn++) {\n"
	"    if (k == turn) {\n"
	"      uint x = turn + (uint)sycl_group_linear_id();\n"
	"      for (uint i = 0; i < 500; i++) x = x * 1664525u + 1013904223u;\n"
	"      seen[turn] = x;\n"
	"    }\n"
	"    sycl_group_barrier();\n"
	"    sum += seen[turn] * (turn + 1);\n"
	"  }\n"
	"  out[sycl_global_linear_id()] = sum;\n"
	"}\n";

static uint32_t late_sum(uint32_t group, uint32_t items)
{
	uint32_t sum = 0;

	for (uint32_t turn = 0; turn < items; turn++) {
		uint32_t x = turn + group;
		for (int i = 0; i < 500; i++)
			x = x * 1664525u + 1013904223u;
		sum += x * (turn + 1);
	}
	return sum;
}

Test(portable_groups, E12_who_stands_at_a_barrier_stops_nobody)
{
	enum { GROUPS = 5, ITEMS = 48 };
	const uint64_t global = GROUPS * ITEMS;
	uint32_t got[GROUPS * ITEMS];
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, late_source, "", "late");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {
		global_argument(memory),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = ITEMS * sizeof(uint32_t)}};
	struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 2);
	command.launch.local[0] = ITEMS;
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (uint32_t i = 0; i < GROUPS * ITEMS; i++)
		cr_assert_eq(got[i], late_sum(i / ITEMS, ITEMS), "item %u", i);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}
