/* The portable form on CUDA: ids, ranges that do not fit into a grid, local memory, and the
 * guarantees of the prelude. */
#include "cuda/double.h"
#include "cuda/kernels_run.h"
#include "status.h"

#include <stdio.h>

TestSuite(cuda_portable, .timeout = 240);

#define QUERIES 7

static const char queries_source[] =
	"SYCL_KERNEL void queries(SYCL_GLOBAL(ulong) out) {\n"
	"  for (uint d = 0; d < sycl_dimensions(); d++) {\n"
	"    SYCL_GLOBAL(ulong) o = out + (sycl_global_linear_id() * 3 + d) * 7;\n"
	"    o[0] = sycl_global_id(d); o[1] = sycl_global_range(d); o[2] = sycl_local_id(d);\n"
	"    o[3] = sycl_local_range(d); o[4] = sycl_group_id(d); o[5] = sycl_group_range(d);\n"
	"    o[6] = sycl_global_offset(d) * 1000000 + sycl_local_linear_id() * 1000 + sycl_group_linear_id();\n"
	"  }\n"
	"}\n";

/* The number of parts in which launches are sent; 0: whole. */
static uint32_t cut;

static void run_cut(struct run *run, struct backend_command *command)
{
	for (uint32_t i = 0; i < (cut ? cut : 1); i++) {
		command->launch.part =
			cut ? (struct backend_part){i, i + 1, cut} : (struct backend_part){0, 0, 0};
		command->timed = i % 2 == 1;
		run_command(run, command);
	}
}

/* All queries of all work-items of an nd_range with an offset. */
static void check_queries(struct run *run, uint32_t dimensions, const uint64_t *global,
			  const uint64_t *local, const uint64_t *offset)
{
	uint64_t items = 1, groups[3] = {0};

	for (uint32_t d = 0; d < dimensions; d++) {
		items *= global[d];
		groups[d] = global[d] / local[d];
	}
	size_t bytes = items * 3 * QUERIES * 8;
	uint64_t *got = malloc(bytes);
	struct backend_memory *memory = run_memory(run, NULL, bytes);
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command =
		launch_command(run->kernel, dimensions, global, &argument, 1);
	memcpy(command.launch.local, local, dimensions * 8);
	memcpy(command.launch.offset, offset, dimensions * 8);
	run_cut(run, &command);
	fixture_read(&run->fixture, memory, 0, got, bytes);
	for (uint64_t item = 0; item < items; item++) {
		uint64_t id[3] = {0}, rest = item, local_linear = 0, group_linear = 0;
		for (uint32_t d = dimensions; d-- > 0; rest /= global[d])
			id[d] = rest % global[d];
		for (uint32_t d = 0; d < dimensions; d++) {
			local_linear = local_linear * local[d] + id[d] % local[d];
			group_linear = group_linear * groups[d] + id[d] / local[d];
		}
		for (uint32_t d = 0; d < dimensions; d++) {
			const uint64_t expected[QUERIES] = {
				id[d] + offset[d],
				global[d],
				id[d] % local[d],
				local[d],
				id[d] / local[d],
				groups[d],
				offset[d] * 1000000 + local_linear * 1000 + group_linear,
			};
			for (int q = 0; q < QUERIES; q++)
				cr_assert_eq(
					got[(item * 3 + d) * QUERIES + (unsigned)q], expected[q],
					"%u dimensions, item %llu, dimension %u, query %d: %llu, not %llu",
					dimensions, (unsigned long long)item, d, q,
					(unsigned long long)
						got[(item * 3 + d) * QUERIES + (unsigned)q],
					(unsigned long long)expected[q]);
		}
	}
	run->fixture.ops->memory_free(memory);
	free(got);
}

Test(cuda_portable, E1_E6_E13_every_query_in_1_2_and_3_dimensions)
{
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, queries_source, "", "queries");
	check_queries(&run, 1, (const uint64_t[]){96}, (const uint64_t[]){32},
		      (const uint64_t[]){5});
	check_queries(&run, 2, (const uint64_t[]){6, 16}, (const uint64_t[]){3, 8},
		      (const uint64_t[]){1, 2});
	check_queries(&run, 3, (const uint64_t[]){4, 3, 10}, (const uint64_t[]){2, 1, 5},
		      (const uint64_t[]){7, 0, 9});
	run_close(&run);
}

/* Values that were computed for the former launch are not used for this one. */
Test(cuda_portable, E1_E6_E13_launches_that_differ_in_one_thing_from_the_one_before)
{
	static const struct {
		uint32_t dimensions;
		uint64_t global[3], local[3], offset[3];
	} launches[] = {
		{1, {96}, {32}, {5}},
		{1, {96}, {32}, {5}},
		{1, {96}, {32}, {6}},
		{1, {96}, {48}, {6}},
		{1, {48}, {48}, {6}},
		{2, {48, 4}, {48, 2}, {6, 1}},
		{2, {48, 4}, {48, 2}, {6, 0}},
		{2, {48, 4}, {48, 4}, {6, 0}},
		{2, {48, 8}, {48, 4}, {6, 0}},
		{3, {48, 8, 2}, {48, 4, 1}, {6, 0, 0}},
		{3, {48, 8, 2}, {48, 4, 1}, {6, 0, 3}},
		{1, {48}, {48}, {6}},
	};
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, queries_source, "", "queries");
	for (size_t i = 0; i < sizeof(launches) / sizeof(*launches); i++)
		check_queries(&run, launches[i].dimensions, launches[i].global, launches[i].local,
			      launches[i].offset);
	run_close(&run);
}

/* Counts how often each id occurs, in `words` words, of which only those of the range may
 * change. */
static const char count_source[] =
	"SYCL_KERNEL void count(SYCL_GLOBAL(uint) seen) { sycl_atomic_add(&seen[sycl_global_linear_id()], 1u); }\n";

static void check_count(struct run *run, uint32_t dimensions, const uint64_t *global,
			const uint64_t *local)
{
	enum { GUARD = 2048 };
	uint64_t items = 1;

	for (uint32_t d = 0; d < dimensions; d++)
		items *= global[d];
	size_t words = items + GUARD;
	uint32_t *got = malloc(4 * words);
	struct backend_memory *memory = run_memory(run, NULL, 4 * words);
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command =
		launch_command(run->kernel, dimensions, global, &argument, 1);
	for (uint32_t d = 0; local && d < dimensions; d++)
		command.launch.local[d] = local[d];
	run_cut(run, &command);
	fixture_read(&run->fixture, memory, 0, got, 4 * words);
	for (size_t i = 0; i < words; i++)
		cr_assert_eq(got[i], i < items ? 1 : 0,
			     "%u dimensions of %llu items: id %zu came %u times", dimensions,
			     (unsigned long long)items, i, got[i]);
	run->fixture.ops->memory_free(memory);
	free(got);
}

Test(cuda_portable, E10_a_basic_range_has_exactly_its_items)
{
	static const uint64_t sizes[][3] = {{1, 1, 1},  {1, 1, 31}, {1, 1, 1009}, {1, 7, 129},
					    {3, 5, 33}, {70, 1, 3}, {2, 1, 257},  {1, 300, 2}};
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, count_source, "", "count");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		check_count(&run, 3, sizes[i], NULL);
		check_count(&run, 2, sizes[i] + 1, NULL);
		check_count(&run, 1, sizes[i] + 2, NULL);
	}
	run_close(&run);
}

/* 70,000 in each dimension where CUDA has only 65,535, with groups of one work-item and without
 * any. */
Test(cuda_portable, E9_more_groups_than_a_grid_has_in_y_and_z)
{
	static const uint64_t ranges[][3] = {
		{70000, 1, 1}, {1, 70000, 1}, {70000, 1, 2}, {65537, 2, 1}};
	const uint64_t one[] = {1, 1, 1};
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, count_source, "", "count");
	for (size_t i = 0; i < (run_is_real() ? 4 : 1); i++) {
		check_count(&run, 3, ranges[i], NULL);
		check_count(&run, 3, ranges[i], one);
	}
	check_count(&run, 2, (const uint64_t[]){70000, 1}, one);
	run_close(&run);
}

/* On a device whose grids have very little room, which only the double can be, everything is
 * folded: all queries stay right. */
Test(cuda_portable, E9_folded_grids_of_every_shape)
{
	static const uint64_t one[] = {1, 1, 1}, two[] = {1, 2, 1}, zero[] = {0, 0, 0};
	struct run run;

	if (run_is_real())
		cr_skip_test("only the double has grids so small");
	double_command("attribute %d 200", 5); /* most groups of a grid in x, y, z */
	double_command("attribute %d 3", 6);
	double_command("attribute %d 2", 7);
	run_open(&run, BACKEND_SOURCE_PORTABLE, queries_source, "", "queries");
	for (uint64_t n = 1; n < 600; n += 149)
		check_queries(&run, 1, (const uint64_t[]){n}, one, zero);
	check_queries(&run, 2, (const uint64_t[]){6, 5}, one, zero);
	check_queries(&run, 2, (const uint64_t[]){4, 3}, one, (const uint64_t[]){10, 20});
	check_queries(&run, 3, (const uint64_t[]){5, 7, 3}, one, zero);
	check_queries(&run, 3, (const uint64_t[]){2, 8, 1}, two, (const uint64_t[]){1, 2, 3});
	run_program(&run, BACKEND_SOURCE_PORTABLE, count_source, "", "count");
	for (uint64_t z = 1; z < 8; z += 3)
		for (uint64_t y = 1; y < 9; y += 2) {
			check_count(&run, 3, (const uint64_t[]){z, y, 3}, one);
			check_count(&run, 3, (const uint64_t[]){40 * z, 9 * y, 5}, NULL);
		}
	run_close(&run);
}

/* Whatever part it is, its queries are about the whole: also parts without a work-group, of prime
 * sizes, and of folded grids. */
Test(cuda_portable, E1_E13_parts_of_a_launch_see_all_of_it)
{
	static const uint64_t one[] = {1, 1, 1}, zero[] = {0, 0, 0};
	struct backend_kernel_facts facts;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, queries_source, "", "queries");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert(facts.splits);
	for (cut = 1; cut < 9; cut += cut) {
		check_queries(&run, 1, (const uint64_t[]){96}, (const uint64_t[]){32},
			      (const uint64_t[]){5});
		check_queries(&run, 2, (const uint64_t[]){6, 16}, (const uint64_t[]){3, 8},
			      (const uint64_t[]){1, 2});
		check_queries(&run, 3, (const uint64_t[]){14, 3, 10}, (const uint64_t[]){2, 1, 5},
			      (const uint64_t[]){7, 0, 9});
	}
	run_program(&run, BACKEND_SOURCE_PORTABLE, count_source, "", "count");
	cut = 3;
	check_count(&run, 1, (const uint64_t[]){1009}, NULL);
	check_count(&run, 2, (const uint64_t[]){1009, 3}, NULL);
	check_count(&run, 3, (const uint64_t[]){127, 3, 7}, NULL);
	run_close(&run);
	if (run_is_real())
		return;
	double_command("attribute %d 200", 5);
	double_command("attribute %d 3", 6);
	double_command("attribute %d 2", 7);
	run_open(&run, BACKEND_SOURCE_PORTABLE, queries_source, "", "queries");
	check_queries(&run, 1, (const uint64_t[]){599}, one, zero);
	check_queries(&run, 2, (const uint64_t[]){6, 5}, one, zero);
	check_queries(&run, 3, (const uint64_t[]){5, 7, 3}, one, zero);
	check_queries(&run, 3, (const uint64_t[]){2, 3, 3}, one, zero);
	run_close(&run);
}

/* A prime above 2^31, one atomic addition each. Only on a GPU: an interpreter takes days. */
Test(cuda_portable, E10_more_than_two_to_the_31st_items)
{
	static const char source[] =
		"SYCL_KERNEL void all(SYCL_GLOBAL(uint) count, SYCL_GLOBAL(ulong) last, ulong n) {\n"
		"  ulong i = sycl_global_linear_id();\n"
		"  sycl_atomic_add(&count[0], 1u);\n"
		"  if (i >= n) count[1] = 1;\n"
		"  if (i == n - 1) last[0] = sycl_global_id(sycl_dimensions() - 1u);\n"
		"}\n";
	const uint64_t n = run_is_real() ? 2147483659u : 4099u;
	uint32_t count[2];
	uint64_t last = 0;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "all");
	struct backend_memory *counts = run_memory(&run, NULL, sizeof(count)),
			      *lasts = run_memory(&run, NULL, 8);
	const struct backend_argument arguments[] = {global_argument(counts),
						     global_argument(lasts), value_argument(&n, 8)};
	const struct backend_command command = launch_command(run.kernel, 1, &n, arguments, 3);
	run_command(&run, &command);
	fixture_read(&run.fixture, counts, 0, count, sizeof(count));
	fixture_read(&run.fixture, lasts, 0, &last, 8);
	cr_assert_eq(count[0], n);
	cr_assert_eq(count[1], 0, "an id beyond the range");
	cr_assert_eq(last, n - 1);
	run.fixture.ops->memory_free(counts);
	run.fixture.ops->memory_free(lasts);
	run_close(&run);
}

/* Tiles of local memory are reversed through two of them; as much as the device has. */
static const char turn_source[] =
	"SYCL_KERNEL void turn(SYCL_GLOBAL(uint) out, SYCL_LOCAL(uint) a, SYCL_LOCAL(uint) b, uint last) {\n"
	"  uint i = (uint)sycl_local_id(0), n = (uint)sycl_local_range(0);\n"
	"  SYCL_LOCAL(uint) end = a + last;\n"
	"  if (i == 0) *end = 9;\n"
	"  a[i] = (uint)sycl_global_id(0); b[n - 1 - i] = a[i] + 1;\n"
	"  sycl_group_barrier();\n"
	"  out[sycl_global_id(0)] = a[n - 1 - i] * 1000 + b[i] + *end;\n"
	"}\n";

static void check_local(struct run *run, uint64_t tile_bytes)
{
	enum { THREADS = 64, ITEMS = 192 };
	uint32_t got[ITEMS], last = (uint32_t)(tile_bytes / 4 - 1);
	const uint64_t global = ITEMS;

	struct backend_memory *memory = run_memory(run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {
		global_argument(memory),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = tile_bytes},
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 4 * THREADS},
		value_argument(&last, 4)};
	struct backend_command command = launch_command(run->kernel, 1, &global, arguments, 4);
	command.launch.local[0] = THREADS;
	run_command(run, &command);
	fixture_read(&run->fixture, memory, 0, got, sizeof(got));
	for (uint32_t i = 0; i < ITEMS; i++) {
		uint32_t first = i / THREADS * THREADS, other = first + THREADS - 1 - i % THREADS;
		cr_assert_eq(got[i], other * 1000 + other + 1 + 9, "item %u: %u", i, got[i]);
	}
	run->fixture.ops->memory_free(memory);
}

Test(cuda_portable, E15_local_memory_from_bytes_to_all_that_there_is)
{
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, turn_source, "", "turn");
	check_local(&run, 4 * 65);
	check_local(&run, 48 << 10);
	check_local(&run, (227 << 10) - 256);
	run_close(&run);
}

Test(cuda_portable, E15_local_memory_beyond_the_device_is_refused)
{
	static const char source[] = "SYCL_KERNEL void big(SYCL_LOCAL(uint) a) { a[0] = 1; }\n";
	struct backend_kernel_facts facts;
	const uint64_t global = 32;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "big");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert_eq(facts.max_local_mem_bytes + facts.local_mem_bytes,
		     run.fixture.facts->local_mem_bytes);
	struct backend_argument argument = {.kind = BACKEND_ARGUMENT_LOCAL,
					    .local_bytes = facts.max_local_mem_bytes};
	struct backend_command command = launch_command(run.kernel, 1, &global, &argument, 1);
	command.launch.local[0] = 32;
	run_command(&run, &command);
	argument.local_bytes++;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status,
		     STATUS_MEMORY_ALLOCATION);
	run_close(&run);
}

/* Pointers to local memory as the prelude makes them: passed on, cast, incremented, compared, to
 * structures. */
Test(cuda_portable, pointers_to_local_memory_behave_as_pointers)
{
	static const char source[] =
		"struct pair { int a, b; };\n"
		"int sum(SYCL_LOCAL(const int) p, uint n) { int s = 0; for (uint i = 0; i < n; i++) s += p[i]; return "
		"s; }\n"
		"void put(SYCL_LOCAL(int) p, int v) { *p = v; }\n"
		"SYCL_KERNEL void pointers(SYCL_GLOBAL(int) out, SYCL_LOCAL(int) a, SYCL_LOCAL(struct pair) b) {\n"
		"  SYCL_LOCAL(int) p = a; SYCL_LOCAL(int) end = a + 8;\n"
		"  for (int i = 1; p < end; i++) *p++ = i;\n"
		"  out[0] = sum(a, 8); p = end - 1; --p; out[1] = *p; p -= 2; out[2] = p[1]; p += 3; put(p, 70);\n"
		"  out[3] = a[7]; out[4] = (int)(p - a); out[5] = p == a + 7; out[6] = p ? 1 : 0;\n"
		"  b->a = 5; (b + 1)->b = 6; b[1].a = 7; out[7] = b[0].a * 100 + b[1].b * 10 + (*(b + 1)).a;\n"
		"  SYCL_LOCAL(uint) u = (SYCL_LOCAL(uint))a; u[0] = 0xffffffffu; out[8] = a[0];\n"
		"  sycl_atomic_add(a, 11); sycl_atomic_max(&u[1], 40u); out[9] = a[0] * 100 + a[1];\n"
		"}\n";
	static const int expected[] = {36, 7, 6, 70, 7, 1, 1, 567, -1, 1040};
	int got[10];
	const uint64_t global = 1;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "pointers");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {
		global_argument(memory),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 36},
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 16}};
	struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 3);
	command.launch.local[0] = 1;
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (int i = 0; i < 10; i++)
		cr_assert_eq(got[i], expected[i], "%d: %d, not %d", i, got[i], expected[i]);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* In functions that the compiler does not inline, ids come from a copy of the record. */
Test(cuda_portable, E1_ids_in_functions_that_are_not_inlined)
{
	static const char source[] =
		"__attribute__((noinline)) ulong place(uint d) { return sycl_global_id(0) * sycl_global_range(1) + "
		"sycl_global_id(1) + d; }\n"
		"SYCL_KERNEL void far(SYCL_GLOBAL(uint) out, uint d) { out[place(d)] = (uint)place(0); }\n";
	const uint64_t global[] = {13, 21};
	uint32_t got[13 * 21], zero = 0;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "far");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&zero, 4)};
	const struct backend_command command = launch_command(run.kernel, 2, global, arguments, 2);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (uint32_t i = 0; i < 13 * 21; i++)
		cr_assert_eq(got[i], i);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

Test(cuda_portable, kernels_tell_their_arguments)
{
	static const char source[] =
		"struct many { double d; int i[3]; };\n"
		"SYCL_KERNEL void kinds(SYCL_GLOBAL(const float) a, SYCL_CONSTANT(int) b, "
		"SYCL_LOCAL(float4) c, uchar d, ulong e,\n"
		"                       struct many f, SYCL_GLOBAL(struct many) g, float4 h) {}\n"
		"SYCL_REQUIRED_GROUP(2, 4, 8) SYCL_KERNEL void shaped(void) {}\n";
	static const struct {
		enum backend_argument_kind kind;
		uint32_t size;
		bool is_const;
	} expected[] = {
		{BACKEND_ARGUMENT_GLOBAL, 8, true},  {BACKEND_ARGUMENT_GLOBAL, 8, true},
		{BACKEND_ARGUMENT_LOCAL, 4, false},  {BACKEND_ARGUMENT_VALUE, 1, false},
		{BACKEND_ARGUMENT_VALUE, 8, false},  {BACKEND_ARGUMENT_VALUE, 24, false},
		{BACKEND_ARGUMENT_GLOBAL, 8, false}, {BACKEND_ARGUMENT_VALUE, 16, false},
	};
	struct backend_kernel_facts facts;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "kinds");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert_not(facts.native);
	cr_assert_eq(facts.argument_count, 8);
	for (int i = 0; i < 8; i++) {
		cr_assert_eq(facts.arguments[i].kind, expected[i].kind, "argument %d", i);
		cr_assert_eq(facts.arguments[i].size_bytes, expected[i].size, "argument %d", i);
		cr_assert_eq(facts.arguments[i].is_const, expected[i].is_const, "argument %d", i);
	}
	struct backend_kernel *shaped = run_kernel(&run, "shaped");
	run.fixture.ops->kernel_facts(shaped, &facts);
	cr_assert_eq(facts.argument_count, 0);
	for (int d = 0; d < 3; d++)
		cr_assert_eq(facts.required_work_group_size[d], 2u << d);
	run.fixture.ops->kernel_free(shaped);
	run_close(&run);
}

/* The largest value that still has the launch's record behind it. The build refuses one byte more,
 * with a message. */
Test(cuda_portable, E14_values_up_to_the_limit_of_a_portable_kernel)
{
	enum { MOST = 32760 - 80 - 8 };
	static const char format[] =
		"struct big { uchar b[%d]; };\n"
		"SYCL_KERNEL void copy(SYCL_GLOBAL(uchar) out, struct big v) { out[0] = v.b[0]; out[1] = v.b[%d]; }\n";
	unsigned char *value = malloc(MOST), got[2];
	char source[300];
	const uint64_t global = 1;
	struct run run;

	(void)snprintf(source, sizeof(source), format, MOST, MOST - 1);
	for (int i = 0; i < MOST; i++)
		value[i] = (unsigned char)(i % 251);
	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "copy");
	struct backend_memory *memory = run_memory(&run, NULL, 4);
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(value, MOST)};
	const struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 2);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, 2);
	cr_assert_eq(got[0], value[0]);
	cr_assert_eq(got[1], value[MOST - 1]);
	(void)snprintf(source, sizeof(source), format, MOST + 1, MOST);
	free(run_build_fails(&run.fixture, BACKEND_SOURCE_PORTABLE, source, strlen(source), "",
			     STATUS_BUILD));
	run.fixture.ops->memory_free(memory);
	run_close(&run);
	free(value);
}

Test(cuda_portable, what_the_page_does_not_allow_is_refused)
{
	static const char differs[] =
		"#if SYCL_DIMENSIONS == 2\nSYCL_KERNEL void other(int a) {}\n#else\n"
		"SYCL_KERNEL void other(float a, int b) {}\n#endif\n";
	static const char *const sources[] = {
		"SYCL_KERNEL void two(SYCL_GLOBAL(int) a) {}\nSYCL_KERNEL void two(SYCL_GLOBAL(float) a) {}\n",
		"SYCL_REQUIRED_GROUP(1, 64, 64) SYCL_KERNEL void large(void) {}\n",
		"SYCL_REQUIRED_GROUP(128, 1, 1) SYCL_KERNEL void deep(void) {}\n",
		differs,
	};
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		free(run_build_fails(&fixture, BACKEND_SOURCE_PORTABLE, sources[i],
				     strlen(sources[i]), "", STATUS_BUILD));
	fixture_close(&fixture);
}

/* Returns how many modules the double has; a real driver does not report it. */
static uint64_t modules(void)
{
	return run_is_real() ? 0 : double_count("modules");
}

Test(cuda_portable, a_program_with_the_same_bytes_is_loaded_once)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_program *programs[2] = {NULL};
	struct backend_fault fault = {0};
	struct backend_kernel *kernel = NULL;
	uint64_t before = 0;
	size_t bytes = 0;

	fixture_open(&fixture, 0);
	void *binary = run_build(&fixture, BACKEND_SOURCE_PORTABLE, count_source,
				 strlen(count_source), "", &bytes);
	for (int turn = 0; turn < 3; turn++) {
		for (int i = 0; i < 2; i++) {
			cr_assert_eq(fixture.ops->program_load(fixture.device, binary, bytes,
							       &programs[i], &fault),
				     0, "%s", fault.text);
			before = before ? before : modules();
			cr_assert_eq(modules(), before, "loaded again");
		}
		/* The second works when the first is freed, and the next round when both are. */
		fixture.ops->program_free(programs[0]);
		cr_assert_eq(fixture.ops->kernel_create(programs[1], "count", &kernel, &fault), 0,
			     "%s", fault.text);
		fixture.ops->program_free(programs[1]);
		struct run run = {.fixture = fixture, .kernel = kernel};
		check_count(&run, 1, (const uint64_t[]){77}, NULL);
		fixture = run.fixture;
		fixture.ops->kernel_free(kernel);
	}
	free(binary);
	fixture_close(&fixture);
}
