/* OpenCL C on the CUDA backend: translated by clang, run by the double or a GPU. Without clang and
 * libclc these tests are skipped. */
#include "cuda/kernels_run.h"
#include "cuda/opencl_support.h"
#include "cuda/translate/translate.h"
#include "private_folder.h"
#include "status.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(cuda_opencl, .timeout = 120);

#define QUERIES 10u

static const char queries_source[] =
	"kernel void queries(global ulong *out) {\n"
	"  size_t item = get_global_linear_id();\n"
	"  for (uint d = 0; d < 3; d++) {\n"
	"    global ulong *o = out + (item * 3 + d) * 10;\n"
	"    o[0] = get_global_id(d); o[1] = get_global_size(d); o[2] = get_local_id(d);\n"
	"    o[3] = get_local_size(d); o[4] = get_group_id(d); o[5] = get_num_groups(d);\n"
	"    o[6] = get_global_offset(d); o[7] = get_work_dim(); o[8] = get_local_linear_id();\n"
	"    o[9] = get_global_id(3) + get_local_size(4) * 10 + get_num_groups(7) * 100;\n"
	"  }\n"
	"}\n";

/* Checks all queries of one work-item, in OpenCL's order of dimensions. */
static void check_item(const uint64_t *got, const uint64_t id[3], const uint64_t global[3],
		       const uint64_t local[3], const uint64_t offset[3], uint32_t dimensions)
{
	uint64_t linear =
		(id[2] % local[2] * local[1] + id[1] % local[1]) * local[0] + id[0] % local[0];

	for (unsigned d = 0; d < 3; d++) {
		const uint64_t expected[QUERIES] = {
			id[d] + offset[d],
			global[d],
			id[d] % local[d],
			local[d],
			id[d] / local[d],
			global[d] / local[d],
			offset[d],
			dimensions,
			linear,
			110,
		};
		for (unsigned q = 0; q < QUERIES; q++)
			cr_assert_eq(
				got[d * QUERIES + q], expected[q],
				"%u dimensions, item %lu %lu %lu, dimension %u, query %u: %lu, not %lu",
				dimensions, id[0], id[1], id[2], d, q, got[d * QUERIES + q],
				expected[q]);
	}
}

/* Ranges are in the backend's order, the slowest dimension first. */
static void check_queries(struct run *run, uint32_t dimensions, const uint64_t *global,
			  const uint64_t *local, const uint64_t *offset)
{
	uint64_t g[3] = {1, 1, 1}, l[3] = {1, 1, 1}, o[3] = {0}, items = 1;

	for (uint32_t d = 0; d < dimensions; d++) {
		g[d] = global[dimensions - 1 - d];
		l[d] = local[dimensions - 1 - d];
		o[d] = offset[dimensions - 1 - d];
		items *= g[d];
	}
	const size_t bytes = items * 3 * QUERIES * sizeof(uint64_t);
	uint64_t *got = malloc(bytes);
	struct backend_memory *memory = run_memory(run, NULL, bytes);
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command =
		launch_command(run->kernel, dimensions, global, &argument, 1);
	memcpy(command.launch.local, local, dimensions * sizeof(uint64_t));
	memcpy(command.launch.offset, offset, dimensions * sizeof(uint64_t));
	run_command(run, &command);
	fixture_read(&run->fixture, memory, 0, got, bytes);
	for (uint64_t item = 0; item < items; item++) {
		const uint64_t id[3] = {item % g[0], item / g[0] % g[1], item / g[0] / g[1]};
		check_item(got + item * 3 * QUERIES, id, g, l, o, dimensions);
	}
	free(got);
	run->fixture.ops->memory_free(memory);
}

Test(cuda_opencl, E1_E13_ids_ranges_and_offsets_are_opencls)
{
	const uint64_t global[][3] = {{48}, {6, 10}, {4, 6, 10}},
		       local[][3] = {{16}, {3, 5}, {2, 3, 5}};
	const uint64_t offset[][3] = {{1000}, {7, 9}, {1, 1ull << 33, 3}}, none[3] = {0};
	struct run run;

	opencl_open(&run, queries_source, "-cl-std=CL3.0", "queries");
	for (uint32_t dimensions = 1; dimensions <= 3; dimensions++) {
		check_queries(&run, dimensions, global[dimensions - 1], local[dimensions - 1],
			      none);
		check_queries(&run, dimensions, global[dimensions - 1], local[dimensions - 1],
			      offset[dimensions - 1]);
	}
	run_close(&run);
}

/* Where the program gives no size of groups, all of them have the same size, which divides the
 * range. */
Test(cuda_opencl, E8_groups_divide_the_range)
{
	static const char source[] =
		"kernel void sizes(global uint *out) {\n"
		"  local uint count; if (get_local_id(0) == 0) count = 0;\n"
		"  barrier(CLK_LOCAL_MEM_FENCE); atomic_inc(&count); barrier(CLK_LOCAL_MEM_FENCE);\n"
		"  out[get_global_id(0)] = count == get_local_size(0) ? count : 0;\n"
		"}\n";
	const uint64_t global = 300;
	uint32_t got[300];
	struct run run;

	opencl_open(&run, source, "", "sizes");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command = launch_command(run.kernel, 1, &global, &argument, 1);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (unsigned i = 0; i < 300; i++)
		cr_assert(got[i] > 0 && got[i] == got[0] && 300 % got[i] == 0, "item %u: %u", i,
			  got[i]);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* More groups than a grid has in its last dimension. */
Test(cuda_opencl, E9_a_folded_grid_has_all_groups)
{
	static const char source[] = "kernel void mark(global uchar *out) {\n"
				     "  out[get_group_id(1)] += (uchar)(get_local_size(1) + "
				     "(get_num_groups(1) == 70000));\n"
				     "}\n";
	enum { GROUPS = 70000 };
	const uint64_t global[2] = {GROUPS, 1}, local[2] = {1, 1};
	static uint8_t got[GROUPS];
	struct run run;

	opencl_open(&run, source, "", "mark");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command = launch_command(run.kernel, 2, global, &argument, 1);
	memcpy(command.launch.local, local, sizeof(local));
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (unsigned i = 0; i < GROUPS; i++)
		cr_assert_eq(got[i], 2, "group %u: %u", i, got[i]);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

static const char arguments_source[] =
	"typedef struct { int a; float b; char c[5]; } parts;\n"
	"constant uint table[4] = {10, 20, 30, 40};\n"
	"uint from(constant uint *c, uint i) { return c[i]; }\n"
	"kernel void give(global const uint *restrict in, local uint *first, constant uint *fixed,\n"
	"                 parts p, local ulong *second, uchar small, double d, global uint *out) {\n"
	"  uint i = get_local_id(0), n = get_local_size(0);\n"
	"  local uint own[64];\n"
	"  first[i] = in[get_global_id(0)]; second[i] = from(fixed, i & 3); own[i] = from(table, i & 3);\n"
	"  barrier(CLK_LOCAL_MEM_FENCE);\n"
	"  out[get_global_id(0)] = first[n - 1 - i] + (uint)second[n - 1 - i] + own[n - 1 - i] +\n"
	"    (uint)(p.a + (int)p.b + p.c[4]) + small + (uint)d;\n"
	"}\n";

struct parts {
	int32_t a;
	float b;
	int8_t c[5];
};

Test(cuda_opencl, E14_E15_arguments_of_all_address_spaces)
{
	enum { ITEMS = 128, GROUP = 32 };
	const struct parts p = {1000, 3.5f, {0, 0, 0, 0, 7}};
	const uint64_t global = ITEMS;
	const uint32_t fixed[4] = {100000, 200000, 300000, 400000}, table[4] = {10, 20, 30, 40};
	const uint8_t small = 200;
	const double d = 1e6;
	uint32_t in[ITEMS], got[ITEMS];
	struct run run;

	for (uint32_t i = 0; i < ITEMS; i++)
		in[i] = i * 7;
	opencl_open(&run, arguments_source, "", "give");
	struct backend_memory *from = run_memory(&run, in, sizeof(in));
	struct backend_memory *constant = run_memory(&run, fixed, sizeof(fixed));
	struct backend_memory *to = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument arguments[] = {
		global_argument(from),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = GROUP * 4},
		global_argument(constant),
		value_argument(&p, sizeof(p)),
		{.kind = BACKEND_ARGUMENT_LOCAL, .local_bytes = GROUP * 8},
		value_argument(&small, 1),
		value_argument(&d, 8),
		global_argument(to),
	};
	struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 8);
	command.launch.local[0] = GROUP;
	run_command(&run, &command);
	fixture_read(&run.fixture, to, 0, got, sizeof(got));
	for (uint32_t i = 0; i < ITEMS; i++) {
		uint32_t other = i / GROUP * GROUP + GROUP - 1 - i % GROUP;
		uint32_t expected = in[other] + fixed[other & 3] + table[other & 3] + 1000 + 3 + 7 +
				    200 + 1000000;
		cr_assert_eq(got[i], expected, "item %u: %u, not %u", i, got[i], expected);
	}
	run.fixture.ops->memory_free(from);
	run.fixture.ops->memory_free(constant);
	run.fixture.ops->memory_free(to);
	run_close(&run);
}

Test(cuda_opencl, facts_of_kernels_are_the_sources)
{
	static const struct {
		const char *name, *type;
		enum backend_argument_kind kind;
		enum backend_address_space address;
		uint8_t qualifiers;
		uint32_t bytes;
	} expected[] = {
		{"in", "uint*", BACKEND_ARGUMENT_GLOBAL, BACKEND_ADDRESS_GLOBAL,
		 BACKEND_QUALIFIER_CONST | BACKEND_QUALIFIER_RESTRICT, 8},
		{"first", "uint*", BACKEND_ARGUMENT_LOCAL, BACKEND_ADDRESS_LOCAL, 0, 8},
		{"fixed", "uint*", BACKEND_ARGUMENT_GLOBAL, BACKEND_ADDRESS_CONSTANT,
		 BACKEND_QUALIFIER_CONST, 8},
		{"p", "parts", BACKEND_ARGUMENT_VALUE, BACKEND_ADDRESS_PRIVATE, 0, 16},
		{"second", "ulong*", BACKEND_ARGUMENT_LOCAL, BACKEND_ADDRESS_LOCAL, 0, 8},
		{"small", "uchar", BACKEND_ARGUMENT_VALUE, BACKEND_ADDRESS_PRIVATE, 0, 1},
		{"d", "double", BACKEND_ARGUMENT_VALUE, BACKEND_ADDRESS_PRIVATE, 0, 8},
		{"out", "uint*", BACKEND_ARGUMENT_GLOBAL, BACKEND_ADDRESS_GLOBAL, 0, 8},
	};
	struct backend_kernel_facts facts;
	struct run run;

	opencl_open(&run, arguments_source, "", "give");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_assert_eq(facts.argument_count, 8);
	cr_expect_not(facts.native);
	cr_expect_eq(facts.sub_group_size, 32);
	for (unsigned i = 0; i < 8; i++) {
		const struct backend_argument_facts *got = &facts.arguments[i];
		cr_expect_str_eq(got->name, expected[i].name);
		cr_expect_str_eq(got->type_name, expected[i].type);
		cr_expect_eq(got->kind, expected[i].kind, "argument %u", i);
		cr_expect_eq(got->address, expected[i].address, "argument %u", i);
		cr_expect_eq(got->qualifiers, expected[i].qualifiers, "argument %u: %u", i,
			     got->qualifiers);
		cr_expect_eq(got->size_bytes, expected[i].bytes, "argument %u: %u", i,
			     got->size_bytes);
	}
	run_close(&run);
}

Test(cuda_opencl, E6_a_required_group_is_kept)
{
	static const char source[] =
		"kernel __attribute__((reqd_work_group_size(8, 4, 2))) void shaped(global uint *out) {\n"
		"  out[get_global_linear_id()] = (uint)(get_local_size(0) * 100 + get_local_size(1) * 10 + "
		"get_local_size(2));\n"
		"}\n";
	const uint64_t global[3] = {4, 8, 16}, wrong[3] = {2, 8, 4};
	uint32_t got[4 * 8 * 16];
	struct backend_kernel_facts facts;
	struct run run;

	opencl_open(&run, source, "-cl-std=CL2.0", "shaped");
	run.fixture.ops->kernel_facts(run.kernel, &facts);
	cr_expect_eq(facts.required_work_group_size[0], 2);
	cr_expect_eq(facts.required_work_group_size[1], 4);
	cr_expect_eq(facts.required_work_group_size[2], 8);
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument argument = global_argument(memory);
	struct backend_command command = launch_command(run.kernel, 3, global, &argument, 1);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	for (unsigned i = 0; i < 4 * 8 * 16; i++)
		cr_assert_eq(got[i], 842, "item %u: %u", i, got[i]);
	memcpy(command.launch.local, wrong, sizeof(wrong));
	cr_expect_eq(fixture_submit_fails(&run.fixture, 0, &command).status, STATUS_ND_RANGE);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

Test(cuda_opencl, M6_the_compilers_words_have_the_sources_lines)
{
	static const char wrong[] =
		"kernel void k(global int *o) {\n\n  o[0] = undeclared_name;\n}\n";
	static const char missing[] =
		"int elsewhere(int);\nkernel void k(global int *o) { o[0] = elsewhere(o[1]); }\n";
	static const char image[] =
		"kernel void k(read_only image2d_t i, global int *o) { o[0] = get_image_width(i); }\n";
	struct fixture fixture = {.wake_fd = -1};

	opencl_skip_without_clang();
	fixture_open(&fixture, 0);
	char *log = run_build_fails(&fixture, BACKEND_SOURCE_OPENCL_C, wrong, strlen(wrong), "",
				    STATUS_BUILD);
	cr_assert(log && strstr(log, "kernel:3:10: error") && strstr(log, "undeclared_name"), "%s",
		  log ? log : "no log");
	free(log);
	log = run_build_fails(&fixture, BACKEND_SOURCE_OPENCL_C, missing, strlen(missing), "",
			      STATUS_BUILD);
	cr_assert(log && strstr(log, "the function elsewhere is not there"), "%s", log ? log : "");
	free(log);
	log = run_build_fails(&fixture, BACKEND_SOURCE_OPENCL_C, image, strlen(image), "",
			      STATUS_BUILD);
	free(log);
	log = run_build_fails(&fixture, BACKEND_SOURCE_OPENCL_C, "int a;", 6, "-Xclang -load",
			      STATUS_BUILD);
	cr_assert(log && strstr(log, "'-Xclang' is no option of OpenCL C"), "%s", log ? log : "");
	free(log);
	fixture_close(&fixture);
}

Test(cuda_opencl, without_clang_builds_fail_with_a_sentence)
{
	static const char source[] = "kernel void k(void) {}\n";
	static const char *options[8] = {"clang=/nowhere/clang-19"};
	struct fixture fixture;
	struct backend_fault fault = {0};
	void *binary = NULL;
	size_t bytes = 0;
	char *log = NULL;

	conformance_target.prepare();
	for (int i = 0; conformance_target.options[i] && i < 6; i++)
		options[i + 1] = conformance_target.options[i];
	const struct backend_settings settings = {.options = options};
	fixture_open_backend_with(&fixture, &settings);
	cr_assert_lt(fixture.ops->build(fixture.backend, 0, BACKEND_SOURCE_OPENCL_C, source,
					strlen(source), "", &binary, &bytes, &log, &fault),
		     0);
	cr_expect_eq(fault.status, STATUS_FEATURE_NOT_SUPPORTED);
	cr_expect(strstr(fault.text, "/nowhere/clang-19 is not installed"), "%s", fault.text);
	free(log);
	fixture.ops->close(fixture.backend);
}

Test(cuda_opencl, M2_options_reach_the_compiler)
{
	static const char source[] =
		"#if __OPENCL_C_VERSION__ < 200\n#error version\n#endif\n"
		"kernel void k(global int *o) { o[0] = VALUE + OTHER; o[1] = sizeof(WORDS); }\n";
	const uint64_t global = 1;
	int32_t got[2];
	struct run run;

	opencl_open(
		&run, source,
		"-cl-std=CL2.0 -DVALUE=40 -D OTHER=2 -D'WORDS=\"a b\"' -cl-fast-relaxed-math -w "
		"-cl-kernel-arg-info -cl-nv-verbose",
		"k");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command = launch_command(run.kernel, 1, &global, &argument, 1);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	cr_expect_eq(got[0], 42);
	cr_expect_eq(got[1], 4);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* Functions in one object, the kernel in another. */
Test(cuda_opencl, M8_objects_are_linked)
{
	static const char first[] = "int twice(int x) { return 2 * x; }\n"
				    "kernel void other(global int *o) { o[0] = 5; }\n";
	static const char second[] =
		"int twice(int);\nkernel void k(global int *o) { o[get_global_id(0)] = twice(21); }\n";
	const char *const sources[] = {first, second};
	void *objects[2] = {NULL, NULL}, *binary = NULL;
	size_t bytes[2] = {0}, binary_bytes = 0;
	char *log = NULL, *names = NULL;
	struct backend_fault fault = {0};
	const uint64_t global = 4;
	int32_t got[4];
	struct run run;

	opencl_skip_without_clang();
	run_open_device(&run);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(run.fixture.ops->compile(
				     run.fixture.backend, 0, BACKEND_SOURCE_OPENCL_C, sources[i],
				     strlen(sources[i]), "", &objects[i], &bytes[i], &log, &fault),
			     0, "%s", fault.text);
		free(log);
	}
	cr_assert_eq(run.fixture.ops->link(run.fixture.backend, 0, 2,
					   (const void *const *)(uintptr_t)objects, bytes, "",
					   &binary, &binary_bytes, &log, &fault),
		     0, "%s %s", fault.text, log ? log : "");
	free(log);
	cr_assert_eq(run.fixture.ops->program_load(run.fixture.device, binary, binary_bytes,
						   &run.program, &fault),
		     0, "%s", fault.text);
	cr_assert_eq(run.fixture.ops->program_kernels(run.program, &names, &fault), 0);
	free(names);
	run.kernel = run_kernel(&run, "k");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command = launch_command(run.kernel, 1, &global, &argument, 1);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	cr_expect_eq(got[3], 42);
	run.fixture.ops->memory_free(memory);
	for (int i = 0; i < 2; i++)
		free(objects[i]);
	free(binary);
	run_close(&run);
}

/* The compiler would take options of every kind from it. */
Test(cuda_opencl, a_file_of_options_is_refused)
{
	static const char source[] = "kernel void k(global int *o) { o[0] = 1; }\n";
	struct run run;

	opencl_skip_without_clang();
	run_open_device(&run);
	free(run_build_fails(&run.fixture, BACKEND_SOURCE_OPENCL_C, source, sizeof(source) - 1,
			     "-I @file", STATUS_BUILD));
	free(run_build_fails(&run.fixture, BACKEND_SOURCE_OPENCL_C, source, sizeof(source) - 1,
			     "-D @file", STATUS_BUILD));
	run_close(&run);
}

/* What looks like the compiler's words in a program's text stays. */
Test(cuda_opencl, texts_of_a_program_stay_as_they_are)
{
	static const char text[] = "a addrspace(4) b addrspacecast PU3AS4 c \" addrspace(2)";
	static const char source[] =
		"constant char text[] = \"a addrspace(4) b addrspacecast PU3AS4 c \\\" addrspace(2)\";\n"
		"kernel void k(global char *out) {\n"
		"  out[get_global_id(0)] = text[get_global_id(0)];\n"
		"}\n";
	const uint64_t global = sizeof(text);
	char got[sizeof(text)];
	struct run run;

	opencl_open(&run, source, "", "k");
	struct backend_memory *memory = run_memory(&run, NULL, sizeof(got));
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command = launch_command(run.kernel, 1, &global, &argument, 1);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, got, sizeof(got));
	cr_expect_arr_eq(got, text, sizeof(text));
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* Translates in this process, and never returns. */
static _Noreturn void translate_file(const char *path, const char *folder)
{
	char source[128];
	const struct cuda_translate_source sources = {
		source, (size_t)snprintf(source, sizeof(source), "#include \"%s\"\n", path)};
	const struct cuda_translate_request request = {.folder = folder,
						       .architecture = 80,
						       .kind = CUDA_TRANSLATE_OPENCL_C,
						       .sources = &sources,
						       .source_count = 1,
						       .options = ""};
	struct cuda_translation translation = {0};
	struct backend_fault fault = {0};
	char *log = NULL;

	(void)cuda_translate(&request, &translation, &log, &fault);
	_exit(0);
}

/* The process may be killed while the compiler waits for a file. */
Test(cuda_opencl, the_compiler_ends_with_the_process_that_waits_for_it)
{
	char folder[] = "/tmp/sycld-fifo-XXXXXX", path[64];

	opencl_skip_without_clang();
	cr_assert(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/fifo", folder);
	cr_assert_eq(mkfifo(path, 0600), 0);
	pid_t pid = fork();
	cr_assert(pid >= 0);
	if (pid == 0)
		translate_file(path, folder);
	int fifo = open(path, O_WRONLY | O_CLOEXEC); /* until the compiler opens it */
	cr_assert(fifo >= 0);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	struct pollfd reader = {.fd = fifo};
	cr_expect_eq(poll(&reader, 1, -1), 1);
	cr_expect(reader.revents & POLLERR, "nobody reads it any more");
	(void)close(fifo);
	/* The next one removes what a killed one has left. */
	struct private_folder next = PRIVATE_FOLDER_NONE;
	cr_expect_eq(private_folder_make(folder, "sycld-translate", &next), 0);
	private_folder_remove(&next);
	(void)unlink(path);
	cr_expect_eq(rmdir(folder), 0);
}
