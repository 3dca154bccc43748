/* The environment of a kernel: ids and ranges in SYCL's order, the portable prelude, local memory,
 * constant memory. */
#include "protocol_limits.h"
#include "targets/target.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(opencl_kernels, .timeout = 120);

struct run {
	struct fixture fixture;
	struct backend_program *program;
	struct backend_kernel *kernel;
};

static void run_open(struct run *run, enum backend_source_kind kind, const char *source,
		     const char *name)
{
	struct backend_fault fault = {0};

	*run = (struct run){.fixture = {.wake_fd = -1}};
	fixture_open(&run->fixture, 0);
	run->program = fixture_build(&run->fixture, kind, source, "");
	cr_assert_eq(run->fixture.ops->kernel_create(run->program, name, &run->kernel, &fault), 0,
		     "%s", fault.text);
}

static void run_close(struct run *run)
{
	run->fixture.ops->kernel_free(run->kernel);
	run->fixture.ops->program_free(run->program);
	fixture_close(&run->fixture);
}

static void run_command(struct run *run, const struct backend_command *command)
{
	fixture_wait(&run->fixture, 0, fixture_submit(&run->fixture, 0, command));
}

#define QUERIES 6

/* The OpenCL names themselves, for each OpenCL dimension, as in a kernel in OpenCL C (table of
 * specification 002). */
static const char queries_source[] =
	"__kernel void queries(__global ulong *out) {\n"
	"  ulong item = (get_global_id(2) * get_global_size(1) + get_global_id(1)) * "
	"get_global_size(0) + get_global_id(0);\n"
	"  for (uint d = 0; d < 3; d++) {\n"
	"    __global ulong *o = out + (item * 3 + d) * 6;\n"
	"    o[0] = get_global_id(d); o[1] = get_global_size(d); o[2] = get_local_id(d);\n"
	"    o[3] = get_local_size(d); o[4] = get_group_id(d); o[5] = get_num_groups(d);\n"
	"  }\n"
	"}\n";

/* The same by the portable names, for each SYCL dimension. */
static const char portable_source[] =
	"SYCL_KERNEL void queries(SYCL_GLOBAL(ulong) out) {\n"
	"  for (uint d = 0; d < sycl_dimensions(); d++) {\n"
	"    SYCL_GLOBAL(ulong) o = out + (sycl_global_linear_id() * 3 + d) * 6;\n"
	"    o[0] = sycl_global_id(d); o[1] = sycl_global_range(d); o[2] = sycl_local_id(d);\n"
	"    o[3] = sycl_local_range(d); o[4] = sycl_group_id(d); o[5] = sycl_group_range(d);\n"
	"  }\n"
	"}\n";

/* Compares each item's queries with the definition; `reversed`: the kernel's dimension d is SYCL's
 * dimensions - 1 - d. */
static void check_queries(const char *source, enum backend_source_kind kind, bool reversed,
			  uint32_t dimensions, const uint64_t *global, const uint64_t *local)
{
	struct run run;
	uint64_t items = 1;

	run_open(&run, kind, source, "queries");
	for (uint32_t i = 0; i < dimensions; i++)
		items *= global[i];
	size_t bytes = items * 3 * QUERIES * sizeof(uint64_t);
	uint64_t *got = malloc(bytes);
	cr_assert_not_null(got);
	struct backend_memory *memory = fixture_memory(&run.fixture, bytes, NULL);
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command =
		launch_command(run.kernel, dimensions, global, &argument, 1);
	for (uint32_t i = 0; i < dimensions; i++)
		command.launch.local[i] = local[i];
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, bytes);
	for (uint64_t item = 0; item < items; item++) {
		uint64_t rest = item;
		for (uint32_t sycl = dimensions;
		     sycl-- > 0;) { /* the last dimension varies fastest */
			uint64_t id = rest % global[sycl];
			rest /= global[sycl];
			uint32_t d = reversed ? dimensions - 1 - sycl : sycl;
			const uint64_t *o = got + (item * 3 + d) * QUERIES;
			cr_assert_eq(o[0], id, "global id of item %llu, dimension %u",
				     (unsigned long long)item, sycl);
			cr_assert_eq(o[1], global[sycl]);
			cr_assert_eq(o[2], id % local[sycl]);
			cr_assert_eq(o[3], local[sycl]);
			cr_assert_eq(o[4], id / local[sycl]);
			cr_assert_eq(o[5], global[sycl] / local[sycl]);
		}
	}
	free(got);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

static const uint64_t global3[] = {4, 6, 10}, local3[] = {2, 3, 5};

Test(opencl_kernels, E2_E3_E6_OpenCL_sees_the_dimensions_reversed_in_3)
{
	check_queries(queries_source, BACKEND_SOURCE_OPENCL_C, true, 3, global3, local3);
}

Test(opencl_kernels, E2_OpenCL_sees_the_dimensions_reversed_in_2)
{
	check_queries(queries_source, BACKEND_SOURCE_OPENCL_C, true, 2, global3 + 1, local3 + 1);
}

Test(opencl_kernels, E2_OpenCL_sees_one_dimension_as_it_is)
{
	check_queries(queries_source, BACKEND_SOURCE_OPENCL_C, true, 1, global3 + 2, local3 + 2);
}

Test(opencl_kernels, E1_portable_names_count_dimensions_as_SYCL_does)
{
	check_queries(portable_source, BACKEND_SOURCE_PORTABLE, false, 3, global3, local3);
	check_queries(portable_source, BACKEND_SOURCE_PORTABLE, false, 2, global3 + 1, local3 + 1);
	check_queries(portable_source, BACKEND_SOURCE_PORTABLE, false, 1, global3 + 2, local3 + 2);
}

Test(opencl_kernels, E13_an_offset_shifts_global_ids)
{
	static const char source[] =
		"SYCL_KERNEL void ids(SYCL_GLOBAL(uint) out)\n"
		"{ out[sycl_global_linear_id()] = (uint)(sycl_global_id(0) * 1000 + sycl_global_id(1)); }\n";
	struct run run;
	const uint64_t global[] = {3, 5};
	uint32_t got[15];

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "ids");
	struct backend_memory *memory = fixture_memory(&run.fixture, sizeof(got), NULL);
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command = launch_command(run.kernel, 2, global, &argument, 1);
	command.launch.offset[0] = 7;
	command.launch.offset[1] = 11;
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (uint32_t i = 0; i < 15; i++)
		cr_assert_eq(got[i], (i / 5 + 7) * 1000 + i % 5 + 11);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

Test(opencl_kernels, E12_E14_local_memory_and_barriers)
{
	static const char source[] =
		"SYCL_KERNEL void turn(SYCL_GLOBAL(uint) data, SYCL_LOCAL(uint) tile, SYCL_LOCAL(ulong) sums) {\n"
		"  uint l = (uint)sycl_local_id(0), n = (uint)sycl_local_range(0);\n"
		"  tile[l] = data[sycl_global_id(0)];\n"
		"  if (l == 0) sums[0] = 0;\n"
		"  sycl_group_barrier();\n"
		"  data[sycl_global_id(0)] = tile[n - 1 - l];\n"
		"}\n";
	struct run run;
	enum { COUNT = 1024, GROUP = 64 };
	uint32_t words[COUNT];
	const uint64_t global = COUNT;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "turn");
	for (uint32_t i = 0; i < COUNT; i++)
		words[i] = i;
	struct backend_memory *memory = fixture_memory(&run.fixture, sizeof(words), NULL);
	fixture_write(&run.fixture, memory, 0, words, sizeof(words));
	const struct backend_argument arguments[] = {
		global_argument(memory),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = GROUP * sizeof(uint32_t)},
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = 8},
	};
	struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 3);
	command.launch.local[0] = GROUP;
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, words, sizeof(words));
	for (uint32_t i = 0; i < COUNT; i++)
		cr_assert_eq(words[i], i / GROUP * GROUP + GROUP - 1 - i % GROUP);

	/* More local memory than the device has. */
	struct backend_argument too_much[] = {arguments[0], arguments[1], arguments[2]};
	too_much[1].local_bytes = run.fixture.facts->local_mem_bytes;
	command.launch.arguments = too_much;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status, -9);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

Test(opencl_kernels, E16_G13_constant_memory_and_pointers_of_every_kind)
{
	static const char source[] =
		"SYCL_KERNEL void look(SYCL_CONSTANT(int) table, SYCL_GLOBAL(int) data)\n"
		"{ data[sycl_global_id(0)] = table[data[sycl_global_id(0)]]; }\n";
	struct run run;
	struct backend_kernel_facts facts;
	const int32_t table[] = {10, 20, 30, 40};
	int32_t data[] = {3, 2, 1, 0, 3};
	const int32_t expected[] = {40, 30, 20, 10, 40};
	const uint64_t global = 5;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "look");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert_eq(facts.arguments[0].kind, BACKEND_ARGUMENT_GLOBAL);
	cr_assert(facts.arguments[0].is_const);
	cr_assert_eq(facts.arguments[1].kind, BACKEND_ARGUMENT_GLOBAL);
	cr_assert(!facts.arguments[1].is_const);
	struct backend_memory *a = fixture_memory(&run.fixture, sizeof(table), NULL);
	struct backend_memory *b = fixture_memory(&run.fixture, sizeof(data), NULL);
	fixture_write(&run.fixture, a, 0, table, sizeof(table));
	fixture_write(&run.fixture, b, 0, data, sizeof(data));
	const struct backend_argument arguments[] = {global_argument(a), global_argument(b)};
	const struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 2);
	run_command(&run, &command);
	fixture_read(&run.fixture, b, 0, data, sizeof(data));
	cr_assert_arr_eq(data, expected, sizeof(data));
	run.fixture.ops->memory_free(a);
	run.fixture.ops->memory_free(b);
	run_close(&run);
}

/* Values of many sizes, including structures and vectors. A wrong size is refused if the type is
 * known. */
Test(opencl_kernels, E14_E24_values_of_every_size)
{
	static const char source[] =
		"struct pair { int first; char rest[13]; };\n"
		"SYCL_KERNEL void values(SYCL_GLOBAL(int) out, char c, short s, int i, long l, float f, float4 v, "
		"struct pair p)\n"
		"{ out[0] = c; out[1] = s; out[2] = i; out[3] = (int)(l >> 32); out[4] = (int)f; out[5] = (int)v.w;\n"
		"  out[6] = p.first; out[7] = p.rest[12]; }\n";
	struct {
		int32_t first;
		char rest[13];
	} pair = {70, "twelve bytes"};
	struct run run;
	struct backend_kernel_facts facts;
	const int8_t c = -1;
	const int16_t s = -2;
	const int32_t i = -3;
	const int64_t l = -4;
	const float f = 5.5f, v[4] = {0, 0, 0, 6};
	int32_t got[8];
	const uint64_t global = 1;

	pair.rest[12] = 71;
	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "values");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	const uint32_t sizes[] = {0, 1, 2, 4, 8, 4, 16, 0};
	for (int n = 1; n < 8; n++) {
		cr_assert_eq(facts.arguments[n].kind, BACKEND_ARGUMENT_VALUE);
		cr_assert_eq(facts.arguments[n].size_bytes, sizes[n], "argument %d", n);
	}
	struct backend_memory *memory = fixture_memory(&run.fixture, sizeof(got), NULL);
	struct backend_argument arguments[] = {
		global_argument(memory), value_argument(&c, 1),
		value_argument(&s, 2),   value_argument(&i, 4),
		value_argument(&l, 8),   value_argument(&f, 4),
		value_argument(v, 16),   value_argument(&pair, sizeof(pair)),
	};
	const struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 8);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	const int32_t expected[] = {-1, -2, -3, -1, 5, 6, 70, 71};
	cr_assert_arr_eq(got, expected, sizeof(got));
	arguments[4].value.size_bytes = 4;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status, -6);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

Test(opencl_kernels, E4_E8_ranges_that_do_not_fit_are_refused)
{
	static const char source[] =
		"SYCL_KERNEL void nothing(SYCL_GLOBAL(uint) out) { out[0] = 1; }\n";
	struct run run;
	uint64_t global = 10;
	uint32_t word = 0;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "nothing");
	struct backend_memory *memory = fixture_memory(&run.fixture, 4, NULL);
	fixture_write(&run.fixture, memory, 0, &word, 4);
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command = launch_command(run.kernel, 1, &global, &argument, 1);
	command.launch.local[0] = 3;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status, -4);
	command.launch.local[0] = run.fixture.facts->max_work_group_size * 2;
	command.launch.global[0] = run.fixture.facts->max_work_group_size * 2;
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status, -4);
	fixture_read(&run.fixture, memory, 0, &word, 4);
	cr_assert_eq(word, 0, "it ran");
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* A kernel that fixes its group's size gets that size, also for a basic range. */
Test(opencl_kernels, a_required_group_size_is_kept)
{
	static const char source[] =
		"SYCL_REQUIRED_GROUP(1, 4, 8) SYCL_KERNEL void fixed(SYCL_GLOBAL(ulong) out)\n"
		"{ if (sycl_global_linear_id() == 0) for (uint d = 0; d < 3; d++) out[d] = sycl_local_range(d); }\n";
	struct run run;
	struct backend_kernel_facts facts;
	const uint64_t global[] = {2, 8, 16};
	uint64_t got[3];

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "fixed");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert_eq(facts.required_work_group_size[0], 1);
	cr_assert_eq(facts.required_work_group_size[1], 4);
	cr_assert_eq(facts.required_work_group_size[2], 8);
	struct backend_memory *memory = fixture_memory(&run.fixture, sizeof(got), NULL);
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command = launch_command(run.kernel, 3, global, &argument, 1);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	cr_assert_eq(got[0], 1);
	cr_assert_eq(got[1], 4);
	cr_assert_eq(got[2], 8);
	command.launch.global[2] = 12; /* not a multiple of 8 */
	cr_assert_eq(fixture_submit_fails(&run.fixture, 0, &command).status, -4);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* Lines of a log are numbered as in the user's source, whatever the prelude's length is. */
#define LONG_WORD "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"

Test(opencl_kernels, a_log_counts_the_lines_of_the_source)
{
	static const char source[] =
		"SYCL_KERNEL void wrong(SYCL_GLOBAL(uint) out)\n{\n\tout[0] = undeclared_name;\n}\n";
	struct fixture fixture = {.wake_fd = -1};
	static const struct {
		enum backend_source_kind kind;
		const char *text;
	} cases[] = {
		{BACKEND_SOURCE_PORTABLE, source},
		{BACKEND_SOURCE_OPENCL_C,
		 "__kernel void wrong(__global uint *out)\n{\n\tout[0] = undeclared_name;\n}\n"},
		/* A long name has a line of its own before the source. */
		{BACKEND_SOURCE_OPENCL_C,
		 "__kernel void wrong_" LONG_WORD LONG_WORD
		 "(__global uint *out)\n{\n\tout[0] = undeclared_name;\n}\n"},
	};

	fixture_open(&fixture, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct backend_fault fault = {0};
		void *binary = NULL;
		size_t bytes = 0;
		char *log = NULL;
		const char *text = cases[i].text;
		int error = fixture.ops->build(fixture.backend, 0, cases[i].kind, text,
					       strlen(text), "", &binary, &bytes, &log, &fault);
		cr_assert_eq(error, -22);
		cr_assert_eq(fault.status, -7);
		cr_assert_not_null(log);
		/* "kernel:3:11: error" or "kernel(3): error", depending on the compiler. */
		cr_assert(strstr(log, "kernel:3:") || strstr(log, "kernel(3)"), "%s", log);
		cr_assert_not_null(strstr(log, "undeclared_name"), "%s", log);
		free(log);
	}
	fixture_close(&fixture);
}

Test(opencl_kernels, E19_J20_what_the_device_lacks_does_not_build)
{
	static const char source[] =
		"#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
		"__kernel void halves(__global half *out) { out[0] = out[1] * (half)2; }\n";
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	void *binary = NULL;
	size_t bytes = 0;
	char *log = NULL;

	fixture_open(&fixture, 0);
	int error = fixture.ops->build(fixture.backend, 0, BACKEND_SOURCE_OPENCL_C, source,
				       strlen(source), "", &binary, &bytes, &log, &fault);
	if (fixture.facts->aspects & 1ull << 6)
		cr_assert_eq(error, 0, "%s", log);
	else if (error < 0) /* a compiler may support more than its device */
		cr_assert_eq(fault.status, -7);
	free(binary);
	free(log);
	binary = NULL;
	log = NULL;
	/* A source that needs a feature of no device is never built, and the log reports it. */
	static const char nowhere[] =
		"__kernel void no(__global struct nowhere *out) { out->there = 1; }\n";
	error = fixture.ops->build(fixture.backend, 0, BACKEND_SOURCE_OPENCL_C, nowhere,
				   strlen(nowhere), "", &binary, &bytes, &log, &fault);
	cr_assert_eq(error, -22);
	cr_assert_eq(fault.status, -7);
	cr_assert_not_null(log);
	cr_assert_null(binary);
	free(log);
	fixture_close(&fixture);
}

static void run_add(struct run *run)
{
	struct backend_kernel_facts facts;
	enum { COUNT = 16 };
	const uint64_t global = COUNT;
	uint8_t a[COUNT], b[COUNT], c[COUNT] = {0};
	struct backend_memory *memories[3];
	struct backend_argument arguments[3];

	run->fixture.ops->kernel_facts(run->kernel, &facts);
	cr_assert_eq(facts.argument_count, 3);
	for (int i = 0; i < COUNT; i++) {
		a[i] = (uint8_t)i;
		b[i] = 100;
	}
	for (int i = 0; i < 3; i++) {
		memories[i] = fixture_memory(&run->fixture, COUNT, NULL);
		arguments[i] = global_argument(memories[i]);
	}
	fixture_write(&run->fixture, memories[0], 0, a, COUNT);
	fixture_write(&run->fixture, memories[1], 0, b, COUNT);
	const struct backend_command command =
		launch_command(run->kernel, 1, &global, arguments, 3);
	run_command(run, &command);
	fixture_read(&run->fixture, memories[2], 0, c, COUNT);
	for (int i = 0; i < COUNT; i++)
		cr_assert_eq(c[i], i + 100);
	for (int i = 0; i < 3; i++)
		run->fixture.ops->memory_free(memories[i]);
}

/*
 * PoCL as Debian 12 packages it lists the kernel and does not have its source. There a layer with
 * the source is put below (conformance_opencl_builtins). Without that the test is skipped, not
 * passed.
 */
/* PoCL lists them by other names. A built-in function stays one beside a kernel with its name. */
Test(opencl_kernels, a_kernel_of_OpenCL_C_may_have_a_built_in_functions_name)
{
	static const char source[] =
		"__kernel void mix(__global uint *out, uint min) { out[0] = max(min, 3u); }\n"
		"__kernel void length(__global uint *out) { out[0] = 5u; }\n";
	const uint64_t global = 1;
	const uint32_t low = 8;
	struct backend_fault fault = {0};
	char *names = NULL;
	uint32_t got = 0;
	struct run run;

	run_open(&run, BACKEND_SOURCE_OPENCL_C, source, "mix");
	struct backend_memory *memory = fixture_memory(&run.fixture, sizeof(got), NULL);
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&low, sizeof(low))};
	const struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 2);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, &got, sizeof(got));
	cr_assert_eq(got, 8);
	struct backend_kernel_facts facts;
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert_str_eq(facts.arguments[1].name, "min");
	cr_assert_eq(run.fixture.ops->program_kernels(run.program, &names, &fault), 0, "%s",
		     fault.text);
	for (const char *at = names; *at; at += strlen(at) + 1)
		cr_assert(strcmp(at, "mix") == 0 || strcmp(at, "length") == 0, "%s", at);
	free(names);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* "abc...abc..." of this many letters, and a 0. */
static void long_name(char *name, size_t letters)
{
	for (size_t i = 0; i < letters; i++)
		name[i] = (char)('a' + i % 26);
	name[letters] = '\0';
}

/* Builds the source, or compiles and links it. */
static struct backend_program *load_built(struct fixture *fixture, const char *source, bool links)
{
	struct backend_fault fault = {0};
	struct backend_program *program = NULL;
	void *object = NULL, *binary = NULL;
	size_t object_bytes = 0, bytes = 0;
	char *log = NULL;

	if (!links)
		return fixture_build(fixture, BACKEND_SOURCE_OPENCL_C, source, "");
	int error = fixture->ops->compile(fixture->backend, fixture->index, BACKEND_SOURCE_OPENCL_C,
					  source, strlen(source), "", &object, &object_bytes, &log,
					  &fault);
	cr_assert_eq(error, 0, "%s", log ? log : fault.text);
	free(log);
	const void *const objects[] = {object};
	error = fixture->ops->link(fixture->backend, fixture->index, 1, objects, &object_bytes, "",
				   &binary, &bytes, &log, &fault);
	cr_assert_eq(error, 0, "%s", log ? log : fault.text);
	free(log);
	cr_assert_eq(fixture->ops->program_load(fixture->device, binary, bytes, &program, &fault),
		     0, "%s", fault.text);
	free(object);
	free(binary);
	return program;
}

/* A kernel with a name of so many letters beside one with the same first letters. */
static void check_long_name(size_t letters, bool links)
{
	enum { ROOM = 2 * KERNEL_NAME_BYTES_MAX + 256 };
	char name[KERNEL_NAME_BYTES_MAX + 1], source[ROOM];
	const uint64_t global = 1;
	struct backend_fault fault = {0};
	uint32_t got = 0;
	char *names = NULL;
	struct run run = {.fixture = {.wake_fd = -1}};

	long_name(name, letters);
	(void)snprintf(source, sizeof(source),
		       "__kernel void %s(__global uint *out) { out[0] = 5u; }\n"
		       "__kernel void %.*s_(__global uint *out) { out[0] = 6u; }\n",
		       name, (int)letters - 1, name);
	fixture_open(&run.fixture, 0);
	run.program = load_built(&run.fixture, source, links);
	cr_assert_eq(run.fixture.ops->kernel_create(run.program, name, &run.kernel, &fault), 0,
		     "%s", fault.text);
	cr_assert_eq(run.fixture.ops->program_kernels(run.program, &names, &fault), 0);
	const char *second = names + strlen(names) + 1;
	cr_assert_eq(strlen(names), letters);
	cr_assert_eq(strlen(second), letters);
	cr_assert(strcmp(names, name) == 0 || strcmp(second, name) == 0);
	free(names);
	struct backend_memory *memory = fixture_memory(&run.fixture, sizeof(got), NULL);
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command = launch_command(run.kernel, 1, &global, &argument, 1);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, &got, sizeof(got));
	cr_assert_eq(got, 5);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* No driver that is known runs such a kernel by its whole name: long_name.h. */
Test(opencl_kernels, a_kernels_name_may_be_longer_than_a_files)
{
	check_long_name(200, false);
	check_long_name(256, false);
	check_long_name(KERNEL_NAME_BYTES_MAX, false);
	check_long_name(300, true);
}

Test(opencl_kernels, A28_a_listed_builtin_kernel_runs)
{
	static const char name[] = "pocl.add.i8";
	struct run run = {.fixture = {.wake_fd = -1}};
	struct backend_fault fault = {0};
	void *binary = NULL;
	size_t bytes = 0;
	char *log = NULL;

	fixture_open(&run.fixture, 0);
	if (!strstr(run.fixture.facts->builtin_kernels, name)) {
		fixture_close(&run.fixture);
		cr_skip_test("the device does not list %s", name);
	}
	int error = run.fixture.ops->build(run.fixture.backend, 0, BACKEND_SOURCE_BUILTIN, name,
					   strlen(name), "", &binary, &bytes, &log, &fault);
	free(log);
	if (error < 0 && !getenv("OPENCL_COUNTER_HAS_BUILTINS")) {
		cr_assert_eq(fault.status, -7);
		cr_assert_not_null(strstr(fault.text, "built-in"));
		fixture_close(&run.fixture);
		cr_skip_test("the driver lists %s and cannot make it", name);
	}
	cr_assert_eq(error, 0, "%s", fault.text);
	error = run.fixture.ops->program_load(run.fixture.device, binary, bytes, &run.program,
					      &fault);
	cr_assert_eq(error, 0, "%s", fault.text);
	free(binary);
	error = run.fixture.ops->kernel_create(run.program, name, &run.kernel, &fault);
	cr_assert_eq(error, 0, "%s", fault.text);
	run_add(&run);
	run_close(&run);
}

Test(opencl_kernels, A28_an_unknown_builtin_kernel_is_refused)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	void *binary = NULL;
	size_t bytes = 0;
	char *log = NULL;

	fixture_open(&fixture, 0);
	int error = fixture.ops->build(fixture.backend, 0, BACKEND_SOURCE_BUILTIN, "no.such.kernel",
				       14, "", &binary, &bytes, &log, &fault);
	cr_assert_lt(error, 0);
	cr_assert_eq(fault.status, -7);
	free(log);
	fixture_close(&fixture);
}
