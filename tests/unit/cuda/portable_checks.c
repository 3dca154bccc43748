/* The checks of the checking mode in CUDA C++: a source with checks compiles for every
 * architecture, and the names of parameters come from the source. */
#include "../backends/portable_check.h"
#include "../backends/prelude/portable_prelude.h"
#include "cuda/program/compile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCHITECTURES_MAX 64

TestSuite(cuda_portable_checks, .timeout = 240);

/* Each kind of check and of barrier. */
static const char source[] =
	"SYCL_KERNEL void turn(SYCL_GLOBAL(int) x, SYCL_CONSTANT(int) t, SYCL_LOCAL(int) tile)\n"
	"{\n"
	"	int i = (int)sycl_local_id(0), n = (int)sycl_local_range(0);\n"
	"	tile[i] = x[sycl_global_id(0)] + t[0];\n"
	"	sycl_group_barrier();\n"
	"	x[sycl_global_id(0)] = tile[n - 1 - i];\n"
	"	sycl_group_barrier_scope(SYCL_MEMORY_SCOPE_DEVICE);\n"
	"}\n"
	"SYCL_KERNEL void sum(SYCL_GLOBAL(int) x)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(int, total, 1);\n"
	"	SYCL_GROUP_SCRATCH;\n"
	"	SYCL_GLOBAL(int) r = x + 1;\n"
	"	SYCL_LOCAL(int) q = total;\n"
	"	if (sycl_local_id(0) == 0)\n"
	"		total[0] = 0;\n"
	"	sycl_group_barrier();\n"
	"	sycl_atomic_add(&total[0], 1);\n"
	"	r[0] = sycl_group_reduce_add(x[0]);\n"
	"	if (sycl_group_any(q[0] == 3))\n"
	"		sycl_atomic_add(&x[0], sycl_group_broadcast(total[0], 0));\n"
	"}\n";

static void compiles(const struct cuda_nvrtc *nvrtc, const char *text, unsigned dimensions)
{
	struct cuda_options options = {0};
	struct cuda_compiled compiled = {0};
	struct backend_fault fault = {0};
	char *log = NULL;

	cr_assert_eq(cuda_options_parse("", true, &options), 0);
	const struct cuda_compile_request request = {.nvrtc = nvrtc,
						     .prelude = portable_prelude_cuda,
						     .source = text,
						     .options = &options,
						     .dimensions = dimensions,
						     .checks = true};
	int error = cuda_compile(&request, &compiled, &log, &fault);
	cr_assert_eq(error, 0, "%d, %u dimensions: %s\n%s", nvrtc->newest, dimensions, fault.text,
		     log ? log : "");
	cr_expect_not_null(strstr(compiled.ptx, "sycl_check_race_"));
	cuda_compiled_fini(&compiled);
	cuda_options_fini(&options);
	free(log);
}

Test(cuda_portable_checks, the_shared_checks_compile_for_every_architecture)
{
	struct cuda_nvrtc nvrtc;
	struct backend_fault fault = {0};
	int count = 0, architectures[ARCHITECTURES_MAX];
	size_t bytes = 0;

	cr_assert_eq(cuda_nvrtc_open(SYCLD_NVRTC_LIBRARY, 9, 0, &nvrtc, &fault), 0);
	cr_assert_eq(nvrtc.GetNumSupportedArchs(&count), 0);
	cr_assert(count > 0 && count <= ARCHITECTURES_MAX);
	cr_assert_eq(nvrtc.GetSupportedArchs(architectures), 0);
	char *text = portable_check_rewrite(source, strlen(source), NULL, &bytes);
	cr_assert_not_null(text);
	for (int i = 0; i < count; i++) {
		nvrtc.newest = architectures[i];
		compiles(&nvrtc, text, 1 + (unsigned)i % 3);
	}
	free(text);
}

static void add_name(void *context, const struct portable_check_parameter *parameter)
{
	char *names = context;

	(void)sprintf(names + strlen(names), "%.*s.%u=%.*s ", (int)parameter->kernel_bytes,
		      parameter->kernel, parameter->argument, (int)parameter->name_bytes,
		      parameter->name);
}

Test(cuda_portable_checks, the_names_of_pointers_come_from_the_source)
{
	static const char text[] =
		"SYCL_KERNEL void none(int n) { }\nSYCL_KERNEL void no_end(SYCL_GLOBAL(int) x);\n"
		"SYCL_KERNEL void two(int n, SYCL_GLOBAL(const int) restrict a, SYCL_LOCAL(int) b) "
		"{ SYCL_GLOBAL(const int) c = a; }\n";
	char names[128] = "";

	portable_check_parameters(text, strlen(text), add_name, names);
	cr_assert_str_eq(names, "two.1=a two.2=b ");
}
