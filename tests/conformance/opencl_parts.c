/* Basic ranges that no work-group of a good size divides: launched in parts, and no kernel can tell. */
#include "cuda_kernels_run.h"
#include "opencl_parts.h"

TestSuite(opencl_parts, .timeout = 180);

#define MARK        ((size_t)1 << OPENCL_PART_MARK)
#define BEFORE_MASK (((size_t)1 << OPENCL_PART_LEFT) - 1)

/* How far into the range a part of one dimension begins, and the range as that part tells it. */
static size_t part_before(const struct opencl_part *part, uint32_t d)
{
	return part->offset[d] & MARK ? part->offset[d] & BEFORE_MASK : 0;
}

static size_t part_range(const struct opencl_part *part, uint32_t d)
{
	const size_t left = part->offset[d] & MARK ? part->offset[d] >> OPENCL_PART_LEFT & 1023 : 0;
	return part_before(part, d) + part->global[d] + left;
}

/* Each part is one that the driver takes, tells the range, and together they have each item once. */
static uint32_t check_parts(uint32_t dimensions, const size_t *global, const size_t *offset, uint64_t most)
{
	struct opencl_part parts[OPENCL_PARTS_MAX];
	const uint32_t count = opencl_parts(dimensions, global, offset, most, true, parts);
	size_t items = 0, all = 1;

	cr_assert(count >= 1 && count <= OPENCL_PARTS_MAX);
	for (uint32_t d = 0; d < dimensions; d++)
		all *= global[d];
	for (uint32_t i = 0; i < count; i++) {
		size_t product = 1, group = 1;
		for (uint32_t d = 0; d < dimensions; d++) {
			cr_assert_gt(parts[i].local[d], 0);
			cr_assert_eq(parts[i].global[d] % parts[i].local[d], 0);
			cr_assert_eq(part_range(&parts[i], d), global[d]);
			if (!(parts[i].offset[d] & MARK))
				cr_assert_eq(parts[i].offset[d], offset[d]);
			else
				cr_assert_eq(offset[d], 0);
			product *= parts[i].global[d];
			group *= parts[i].local[d];
		}
		cr_assert_leq(group, most < 256 ? most : 256);
		items += product;
		for (uint32_t j = 0; j < i; j++) { /* no two overlap */
			bool apart = false;
			for (uint32_t d = 0; d < dimensions; d++) {
				size_t a = part_before(&parts[i], d), b = part_before(&parts[j], d);
				apart |= a >= b + parts[j].global[d] || b >= a + parts[i].global[d];
			}
			cr_assert(apart, "parts %u and %u of %zu %zu %zu overlap", i, j, global[0], global[1],
				  global[2]);
		}
	}
	cr_assert_eq(items, all);
	return count;
}

Test(opencl_parts, E10_parts_have_each_item_once)
{
	static const uint64_t most[] = {1, 3, 64, 256, 4096};
	static const size_t sizes[] = {1,     2,      13,     127,     251,        256,
				       1000,  1021,   4093,   65537,   131101,     1000003,
				       46337, 262144, 999983, 2097143, 2147483659, (size_t)1 << 31};
	const size_t kinds = sizeof(sizes) / sizeof(*sizes), none[3] = {0}, some[3] = {0, 7, 0};
	size_t counts[OPENCL_PARTS_MAX + 1] = {0};

	for (size_t m = 0; m < sizeof(most) / sizeof(*most); m++)
		for (size_t i = 0; i < kinds * kinds * kinds; i++) {
			const size_t global[] = {sizes[i % kinds], sizes[i / kinds % kinds] % 100003,
						 sizes[i / kinds / kinds] % 1009};
			if (global[1] == 0 || global[2] == 0)
				continue;
			counts[check_parts(3, global, none, most[m])]++;
			(void)check_parts(3, global, some, most[m]);
			(void)check_parts(2, global, some, most[m]);
		}
	cr_assert_gt(counts[1], 0);
	cr_assert_gt(counts[2], 0);
	cr_assert_gt(counts[3], 0);
	cr_assert_gt(counts[4] + counts[5] + counts[6] + counts[7] + counts[8], 0);
}

Test(opencl_parts, E10_a_range_of_prime_size_has_whole_groups)
{
	struct opencl_part parts[OPENCL_PARTS_MAX];
	const size_t prime = 2147483659, even = (size_t)1 << 31, none = 0, offset = 3;

	cr_assert_eq(opencl_parts(1, &prime, &none, 4096, true, parts), 2);
	cr_assert_eq(parts[0].global[0], even);
	cr_assert_eq(parts[0].local[0], 256);
	cr_assert_eq(parts[1].global[0], 11);
	cr_assert_eq(opencl_parts(1, &even, &none, 4096, true, parts), 1, "it divides");
	cr_assert_eq(opencl_parts(1, &prime, &none, 4096, false, parts), 1, "the kernel could tell");
	cr_assert_eq(opencl_parts(1, &prime, &offset, 4096, true, parts), 1, "it has an offset of its own");
	cr_assert_eq(parts[0].offset[0], offset);
	cr_assert_eq(opencl_parts(1, (const size_t[]){251}, &none, 4096, true, parts), 1, "not worth it");
}

static bool possible(const char *source, const char *options)
{
	return opencl_parts_possible(source, strlen(source), options);
}

Test(opencl_parts, E2_E6_what_asks_for_groups_is_launched_whole)
{
	cr_assert(possible("o[sycl_global_id(0)] = sycl_global_range(0) + sycl_global_offset(0);", "-DN=4"));
	cr_assert(possible("o[sycl_global_linear_id()] = sycl_get(v, 1);", NULL));
	cr_assert_not(possible("o[sycl_group_id(0)] = 1;", NULL));
	cr_assert_not(possible("o[sycl_local_linear_id()] = 1;", NULL));
	cr_assert_not(possible("SYCL_LOCAL_ARRAY(int, a, 4);", NULL));
	cr_assert_not(possible("o[get_global_id(0)] = 1;", NULL));
	cr_assert_not(possible("o[sycl_global_id(0)] = get_num_groups(0);", NULL));
	cr_assert_not(possible("#define ID(w) sycl_##w##_id(0)", NULL));
	cr_assert_not(possible("# include \"more.h\"", NULL));
	cr_assert_not(possible("o[W(0)] = 1;", "-DW=sycl_local_id"));
}

/* Adds 1 to the item's own place where everything is as it should be, and something else where it is not. */
static const char asking[] =
	"#if SYCL_DIMENSIONS == 1\n"
	"#define ITEM ((ulong)(sycl_global_id(0) - o0))\n"
	"#define RIGHT sycl_global_range(0) == r0 && sycl_global_offset(0) == o0\n"
	"#elif SYCL_DIMENSIONS == 2\n"
	"#define ITEM ((sycl_global_id(0) - o0) * r1 + sycl_global_id(1) - o1)\n"
	"#define RIGHT sycl_global_range(0) == r0 && sycl_global_offset(0) == o0 && sycl_global_range(1) == r1 && \\\n"
	"	sycl_global_offset(1) == o1\n"
	"#else\n"
	"#define ITEM (((sycl_global_id(0) - o0) * r1 + sycl_global_id(1) - o1) * r2 + sycl_global_id(2) - o2)\n"
	"#define RIGHT sycl_global_range(0) == r0 && sycl_global_offset(0) == o0 && sycl_global_range(1) == r1 && \\\n"
	"	sycl_global_offset(1) == o1 && sycl_global_range(2) == r2 && sycl_global_offset(2) == o2\n"
	"#endif\n"
	"int told(ulong r0, ulong r1, ulong r2, ulong o0, ulong o1, ulong o2) { return RIGHT; }\n"
	"SYCL_KERNEL void count(SYCL_GLOBAL(uint) o, ulong r0, ulong r1, ulong r2, ulong o0, ulong o1, ulong o2)\n"
	"{\n"
	"	ulong i = ITEM;\n"
	"	o[i] += i != sycl_global_linear_id() ? 10u : !told(r0, r1, r2, o0, o1, o2) ? 100u : 1u;\n"
	"}\n";

static void check_launch(struct run *run, uint32_t dimensions, const uint64_t *global, const uint64_t *offset,
			 uint32_t parts_least)
{
	struct opencl_part parts[OPENCL_PARTS_MAX];
	struct backend_kernel_facts facts;
	size_t reversed[3], shift[3], count = 1;

	for (uint32_t d = 0; d < dimensions; d++) {
		reversed[d] = global[dimensions - 1 - d];
		shift[d] = offset[dimensions - 1 - d];
		count *= global[d];
	}
	run->fixture.ops->kernel_facts(run->kernel, &facts);
	cr_assert_geq(opencl_parts(dimensions, reversed, shift, facts.max_work_group_size, true, parts), parts_least);
	struct backend_memory *memory = run_memory(run, NULL, count * sizeof(uint32_t));
	const struct backend_argument arguments[] = {
		global_argument(memory),       value_argument(&global[0], 8), value_argument(&global[1], 8),
		value_argument(&global[2], 8), value_argument(&offset[0], 8), value_argument(&offset[1], 8),
		value_argument(&offset[2], 8)};
	struct backend_command command = launch_command(run->kernel, dimensions, global, arguments, 7);
	memcpy(command.launch.offset, offset, sizeof(command.launch.offset));
	run_command(run, &command);
	uint32_t *got = calloc(count, sizeof(*got));
	cr_assert(got);
	fixture_read(&run->fixture, memory, 0, got, count * sizeof(*got));
	for (size_t i = 0; i < count; i++)
		cr_assert_eq(got[i], 1, "%u dimensions, item %zu of %zu: %u", dimensions, i, count, got[i]);
	free(got);
	run->fixture.ops->memory_free(memory);
}

Test(opencl_parts, E2_E10_E13_primes_in_each_number_of_dimensions)
{
	static const uint64_t none[3] = {0};
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, asking, "", "count");
	check_launch(&run, 1, (const uint64_t[]){131101, 1, 1}, none, 2);
	check_launch(&run, 1, (const uint64_t[]){131101, 1, 1}, (const uint64_t[]){1000003, 0, 0}, 1);
	check_launch(&run, 1, (const uint64_t[]){131072, 1, 1}, none, 1);
	check_launch(&run, 2, (const uint64_t[]){523, 521, 1}, none, 2);
	check_launch(&run, 2, (const uint64_t[]){1021, 251, 1}, (const uint64_t[]){17, 0, 0}, 2);
	check_launch(&run, 2, (const uint64_t[]){523, 521, 1}, (const uint64_t[]){17, 5, 0}, 1);
	check_launch(&run, 3, (const uint64_t[]){101, 103, 107}, none, 4);
	check_launch(&run, 3, (const uint64_t[]){101, 103, 107}, (const uint64_t[]){3, 0, 0}, 2);
	run_close(&run);
}

/* What could tell the parts apart is launched as one: groups are numbered through, and of one size. */
Test(opencl_parts, E6_groups_of_a_prime_range_are_of_one_size)
{
	static const char source[] =
		"SYCL_KERNEL void groups(SYCL_GLOBAL(uint) o) {\n"
		"  ulong i = sycl_group_id(0) * sycl_local_range(0) + sycl_local_id(0);\n"
		"  o[i] += sycl_group_range(0) * sycl_local_range(0) == sycl_global_range(0) ? 1u : 10u;\n"
		"}\n";
	enum { COUNT = 131101 };
	static uint32_t got[COUNT];
	const uint64_t global = COUNT;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "groups");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {global_argument(memory)};
	const struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 1);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (size_t i = 0; i < COUNT; i++)
		cr_assert_eq(got[i], 1, "item %zu: %u", i, got[i]);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* One with a source's words, one without: linked, no launch of theirs is in parts. */
static void link_and_count(struct run *run, const char *helper)
{
	static const char kernel[] = "int add(int x);\n"
				     "SYCL_KERNEL void count(SYCL_GLOBAL(uint) o) {\n"
				     "  o[sycl_global_id(0)] += add((int)(sycl_global_range(0) == 131101)); }\n";
	enum { COUNT = 131101 };
	static uint32_t got[COUNT];
	const struct backend_ops *ops = run->fixture.ops;
	const char *sources[] = {kernel, helper};
	const uint64_t global = COUNT;
	void *objects[2], *binary = NULL;
	size_t sizes[2], bytes = 0;
	char *log = NULL;
	struct backend_fault fault = {0};

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(ops->compile(run->fixture.backend, run->fixture.index, BACKEND_SOURCE_PORTABLE, sources[i],
					  strlen(sources[i]), "", &objects[i], &sizes[i], &log, &fault),
			     0, "%s\n%s", fault.text, log ? log : "");
		free(log);
	}
	cr_assert_eq(ops->link(run->fixture.backend, run->fixture.index, 2, (const void *const *)objects, sizes, "",
			       &binary, &bytes, &log, &fault),
		     0, "%s", fault.text);
	cr_assert_eq(ops->program_load(run->fixture.device, binary, bytes, &run->program, &fault), 0, "%s", fault.text);
	run->kernel = run_kernel(run, "count");
	struct backend_memory *memory = run_memory(run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {global_argument(memory)};
	const struct backend_command command = launch_command(run->kernel, 1, &global, arguments, 1);
	run_command(run, &command);
	fixture_read(&run->fixture, memory, 0, got, sizeof(got));
	for (size_t i = 0; i < COUNT; i++)
		cr_assert_eq(got[i], 1, "item %zu: %u", i, got[i]);
	ops->memory_free(memory);
	free(log);
	free(binary);
	free(objects[0]);
	free(objects[1]);
}

Test(opencl_parts, E2_E10_M6_linked_objects_in_parts)
{
	struct run run = {.fixture = {.wake_fd = -1}};

	fixture_open(&run.fixture, 0);
	link_and_count(&run, "int add(int x) { return sycl_global_range(0) == 131101 ? x : 50; }\n");
	run_close(&run);
}

Test(opencl_parts, E2_E6_M6_linked_objects_of_which_one_asks_for_groups)
{
	struct run run = {.fixture = {.wake_fd = -1}};

	fixture_open(&run.fixture, 0);
	link_and_count(&run, "int add(int x) {\n"
			     "  ulong i = sycl_group_id(0) * sycl_local_range(0) + sycl_local_id(0);\n"
			     "  return i == sycl_global_id(0) ? x : 50; }\n");
	run_close(&run);
}
