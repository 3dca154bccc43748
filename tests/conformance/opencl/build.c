/* The build service with the real compiler. */
#include "build/support.h"
#include "sanitized.h"
#include "status.h"
#include "vendor_role.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(opencl_build, .timeout = 180);

static const char good[] = "SYCL_KERNEL void twice(SYCL_GLOBAL(int) data, int times)\n"
			   "{ data[sycl_global_id(0)] *= times; }\n";

/* Each name expands to two of the one before: four billion additions in the end. */
static const char bomb[] =
	"#define A0 (x + 1)\n#define A1 A0 + A0\n#define A2 A1 + A1\n#define A3 A2 + A2\n#define A4 A3 + A3\n"
	"#define A5 A4 + A4\n#define A6 A5 + A5\n#define A7 A6 + A6\n#define A8 A7 + A7\n#define A9 A8 + A8\n"
	"#define B0 A9 + A9\n#define B1 B0 + B0\n#define B2 B1 + B1\n#define B3 B2 + B2\n#define B4 B3 + B3\n"
	"#define B5 B4 + B4\n#define B6 B5 + B5\n#define B7 B6 + B6\n#define B8 B7 + B7\n#define B9 B8 + B8\n"
	"#define C0 B9 + B9\n#define C1 C0 + C0\n#define C2 C1 + C1\n#define C3 C2 + C2\n#define C4 C3 + C3\n"
	"#define C5 C4 + C4\n#define C6 C5 + C5\n#define C7 C6 + C6\n#define C8 C7 + C7\n#define C9 C8 + C8\n"
	"__kernel void bomb(__global int *out, int x) { out[0] = C9 + C9 + C9 + C9; }\n";

static void load_and_check(const struct built *built)
{
	const struct backend_ops *ops = &backend_opencl_ops;
	const struct backend_settings settings = {.cache_directory = NULL};
	struct backend *backend = NULL;
	struct backend_topology topology;
	struct backend_fault fault = {0};
	struct backend_device *device = NULL;
	struct backend_program *program = NULL;
	struct backend_kernel *kernel = NULL;
	struct backend_kernel_facts facts;

	cr_assert_eq(ops->open(&settings, &backend, &fault), 0);
	cr_assert_eq(ops->enumerate(backend, &topology, &fault), 0);
	cr_assert_eq(ops->device_open(backend, 0, NULL, NULL, &device, &fault), 0);
	cr_assert_eq(
		ops->program_load(device, built->binary, built->binary_bytes, &program, &fault), 0,
		"%s", fault.text);
	cr_assert_eq(ops->kernel_create(program, "twice", &kernel, &fault), 0, "%s", fault.text);
	ops->kernel_facts(kernel, &facts);
	cr_assert_eq(facts.argument_count, 2);
	cr_assert_str_eq(facts.arguments[1].name, "times");
	ops->kernel_free(kernel);
	ops->program_free(program);
	ops->device_close(device);
	ops->close(backend);
}

/* Builds in a fork of a process whose backend is warm. */
static int build_in_fork(struct backend *backend)
{
	void *binary = NULL;
	size_t bytes = 0;
	char *log = NULL;
	struct backend_fault fault = {0};
	int status = 0;

	pid_t child = fork();
	if (child == 0)
		_exit(backend_opencl_ops.build(backend, 0, BACKEND_SOURCE_PORTABLE, good,
					       sizeof(good) - 1, "", &binary, &bytes, &log,
					       &fault) < 0 ||
		      bytes == 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	return status;
}

Test(opencl_build, a_fork_of_a_warm_process_builds)
{
	const struct backend_settings settings = {.cache_directory = NULL};
	struct backend *backend = NULL;
	struct backend_topology topology;
	struct backend_fault fault = {0};

	vendor_role_set(&(struct vendor_role){.only_builds = true});
	cr_assert_eq(backend_opencl_ops.open(&settings, &backend, &fault), 0);
	cr_assert_eq(backend_opencl_ops.enumerate(backend, &topology, &fault), 0);
	cr_assert_eq(backend_opencl_ops.warm(backend, 0, &fault), 0, "%s", fault.text);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(build_in_fork(backend), 0);
}

Test(opencl_build, J19_a_portable_source_is_built_in_the_helper_and_loads_here)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	for (int i = 0; i < 2; i++) {
		bench_submit_to(&bench, &backend_opencl_ops, BACKEND_SOURCE_PORTABLE, good, 0, 0,
				&built);
		bench_wait(&bench, &built);
		cr_assert_eq(built.status, 0, "%s\n%s", built.text, built.log);
		cr_assert_eq(built.from_cache, i == 1);
		load_and_check(&built);
		built_free(&built);
	}
	bench_close(&bench);
}

Test(opencl_build, M6_a_compiler_error_comes_back_with_its_line)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	bench_submit_to(&bench, &backend_opencl_ops, BACKEND_SOURCE_PORTABLE,
			"SYCL_KERNEL void f(SYCL_GLOBAL(int) x)\n{ y = 1; }\n", 0, 0, &built);
	bench_wait(&bench, &built);
	cr_assert_eq(built.status, STATUS_BUILD);
	cr_assert_not_null(strstr(built.log, "kernel:2:"), "%s", built.log);
	built_free(&built);
	bench_close(&bench);
}

Test(opencl_build, a_source_that_never_ends_to_compile_is_stopped)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	bench_submit_to(&bench, &backend_opencl_ops, BACKEND_SOURCE_OPENCL_C, bomb, 2000000000, 0,
			&built);
	bench_wait(&bench, &built);
	cr_assert_eq(built.status, STATUS_BUILD);
	cr_assert_not_null(strstr(built.text, "longer than 2000 ms"), "%s", built.text);
	built_free(&built);
	bench_close(&bench);
}

#if !SANITIZED
/* An instrumented process has terabytes of shadow memory. There the limit does not exist, and so
 * this test does not either. */
Test(opencl_build, a_source_that_eats_memory_is_stopped)
{
	struct build_bench bench;
	struct built built;

	bench_open(&bench);
	bench_submit_to(&bench, &backend_opencl_ops, BACKEND_SOURCE_OPENCL_C, bomb, 0, 256u << 20,
			&built);
	bench_wait(&bench, &built);
	cr_assert_eq(built.status, STATUS_BUILD);
	cr_assert_not_null(strstr(built.text, "256 MiB"), "%s\n%s", built.text, built.log);
	built_free(&built);
	bench_close(&bench);
}
#endif
