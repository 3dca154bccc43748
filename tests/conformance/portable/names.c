/*
 * Kernels, functions, parameters and macros of a portable source that have names of functions of
 * OpenCL C and CUDA C++. They belong to the source, and the prelude's words keep their meaning.
 */
#include "cleanup.h"
#include "cuda/kernels_run.h"
#include "portable_names.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(portable_names, .timeout = 300);

/* The built-in functions of the OpenCL C specification, and CUDA's and the C library's. */
static const char *const names[] = {
	/* work-items, work-groups, memory */
	"get_work_dim",
	"get_global_size",
	"get_global_id",
	"get_local_size",
	"get_local_id",
	"get_num_groups",
	"get_group_id",
	"get_global_offset",
	"get_enqueued_local_size",
	"get_global_linear_id",
	"get_local_linear_id",
	"barrier",
	"work_group_barrier",
	"mem_fence",
	"read_mem_fence",
	"write_mem_fence",
	"async_work_group_copy",
	"async_work_group_strided_copy",
	"wait_group_events",
	"prefetch",
	"vload4",
	"vstore4",
	"vload_half",
	"vstore_half",
	"vloada_half4",
	"vstorea_half4_rte",
	"atomic_add",
	"atomic_sub",
	"atomic_xchg",
	"atomic_inc",
	"atomic_dec",
	"atomic_cmpxchg",
	"atomic_min",
	"atomic_max",
	"atomic_and",
	"atomic_or",
	"atomic_xor",
	"atom_add",
	"atomic_load",
	"atomic_store",
	"atomic_exchange",
	"atomic_fetch_add",
	"atomic_work_item_fence",
	"work_group_all",
	"work_group_any",
	"work_group_broadcast",
	"work_group_reduce_add",
	"work_group_scan_inclusive_add",
	"sub_group_barrier",
	"get_sub_group_size",
	"read_imagef",
	"read_imagei",
	"write_imagef",
	"get_image_width",
	"shuffle",
	"shuffle2",
	"printf",
	"vec_step",
	"convert_int",
	"convert_float4",
	"convert_uchar_sat",
	"as_int",
	"as_float4",
	"to_global",
	/* mathematics */
	"acos",
	"acosh",
	"acospi",
	"asin",
	"asinh",
	"asinpi",
	"atan",
	"atan2",
	"atanh",
	"atanpi",
	"atan2pi",
	"cbrt",
	"ceil",
	"copysign",
	"cos",
	"cosh",
	"cospi",
	"erfc",
	"erf",
	"exp",
	"exp2",
	"exp10",
	"expm1",
	"fabs",
	"fdim",
	"floor",
	"fma",
	"fmax",
	"fmin",
	"fmod",
	"fract",
	"frexp",
	"hypot",
	"ilogb",
	"ldexp",
	"lgamma",
	"lgamma_r",
	"log",
	"log2",
	"log10",
	"log1p",
	"logb",
	"mad",
	"maxmag",
	"minmag",
	"modf",
	"nan",
	"nextafter",
	"pow",
	"pown",
	"powr",
	"remainder",
	"remquo",
	"rint",
	"rootn",
	"round",
	"rsqrt",
	"sin",
	"sincos",
	"sinh",
	"sinpi",
	"sqrt",
	"tan",
	"tanh",
	"tanpi",
	"tgamma",
	"trunc",
	"half_cos",
	"half_divide",
	"half_sqrt",
	"native_cos",
	"native_exp",
	"native_recip",
	/* integers, common, geometric, relational */
	"abs",
	"abs_diff",
	"add_sat",
	"hadd",
	"rhadd",
	"clamp",
	"clz",
	"ctz",
	"mad_hi",
	"mad_sat",
	"max",
	"min",
	"mul_hi",
	"rotate",
	"sub_sat",
	"upsample",
	"popcount",
	"mad24",
	"mul24",
	"degrees",
	"mix",
	"radians",
	"step",
	"smoothstep",
	"sign",
	"cross",
	"dot",
	"distance",
	"length",
	"normalize",
	"fast_distance",
	"fast_length",
	"fast_normalize",
	"isequal",
	"isnotequal",
	"isgreater",
	"isgreaterequal",
	"isless",
	"islessequal",
	"islessgreater",
	"isfinite",
	"isinf",
	"isnan",
	"isnormal",
	"isordered",
	"isunordered",
	"signbit",
	"any",
	"all",
	"bitselect",
	"select",
	/* CUDA's and the C library's */
	"sinf",
	"powf",
	"expf",
	"fabsf",
	"fmaxf",
	"sqrtf",
	"erfinv",
	"j0",
	"rhypot",
	"norm",
	"sincospi",
	"scalbn",
	"lround",
	"nearbyint",
	"umin",
	"llmax",
	"labs",
	"memcpy",
	"memset",
	"malloc",
	"free",
	"clock",
	"assert",
	"atomicAdd",
	"atomicCAS",
	"saturate",
};
enum { NAMES = sizeof(names) / sizeof(*names) };

/* Appends to a text that is long enough. */
static char *append_formatted(char *to, const char *format, const char *name)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return to + sprintf(to, format, name, name, name);
#pragma GCC diagnostic pop
}

static uint32_t result_of(struct run *run, const char *name)
{
	struct backend_kernel *kernel = run_kernel(run, name);
	struct backend_memory *memory = run_memory(run, NULL, 4);
	const struct backend_argument argument = global_argument(memory);
	const uint64_t global = 1;
	const struct backend_command command = launch_command(kernel, 1, &global, &argument, 1);
	uint32_t got = 0;

	run_command(run, &command);
	fixture_read(&run->fixture, memory, 0, &got, 4);
	run->fixture.ops->memory_free(memory);
	run->fixture.ops->kernel_free(kernel);
	return got;
}

/* Every step-th name is that of a kernel with its own result. */
static char *kernels_of_names(uint32_t step)
{
	char *source = calloc(NAMES + 1, 200), *to = source;

	cr_assert_not_null(source);
	for (uint32_t i = 0; i < NAMES; i += step)
		to += sprintf(to, "SYCL_KERNEL void %s(SYCL_GLOBAL(uint) o) { o[0] = %uu; }\n",
			      names[i], i);
	return source;
}

static void check_object(struct fixture *fixture, const char *source)
{
	struct backend_fault fault = {0};
	CLEANUP(free_pointer) void *object = NULL;
	CLEANUP(free_pointer) char *log = NULL;
	size_t bytes = 0;

	cr_assert_eq(fixture->ops->compile(fixture->backend, fixture->index,
					   BACKEND_SOURCE_PORTABLE, source, strlen(source), "",
					   &object, &bytes, &log, &fault),
		     0, "%s\n%s", fault.text, log ? log : "");
}

/*
 * All are in one source. It requests no dimensions, so it is compiled once. It is an object,
 * because a compiler accepts or refuses a name then. For a binary PoCL would make code of one
 * kernel after the other, a fifth of a second for each. Some of them, or all on a GPU and with
 * SYCLD_LONG, are a program, found by name and launched.
 */
Test(portable_names, a_kernel_may_have_the_name_of_any_built_in_function)
{
	const uint32_t step = run_is_real() || getenv("SYCLD_LONG") ? 1 : 25;
	CLEANUP(free_pointer) char *all = kernels_of_names(1);
	CLEANUP(free_pointer) char *some = kernels_of_names(step);
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, some, "", names[0]);
	check_object(&run.fixture, all);
	for (uint32_t i = 0; i < NAMES; i += step)
		cr_assert_eq(result_of(&run, names[i]), i, "%s", names[i]);
	/* The rest is found in the same way, if the backends know that it is renamed. */
	for (uint32_t i = 0; i < NAMES; i++)
		cr_expect(portable_name_is_builtin(names[i], strlen(names[i])), "%s", names[i]);
	run_close(&run);
}

/* And each by itself: a compiler must not take it for the built-in function. */
Test(portable_names, a_source_of_one_kernel_may_have_such_a_name)
{
	static const char *const some[] = {"mix",     "step",          "pow",    "abs",
					   "barrier", "get_global_id", "printf", "length"};
	char source[200];
	struct run run;

	run_open_device(&run);
	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		(void)snprintf(source, sizeof(source),
			       "SYCL_KERNEL void %s(SYCL_GLOBAL(uint) o) { o[0] = 9; }\n", some[i]);
		run_program(&run, BACKEND_SOURCE_PORTABLE, source, "", some[i]);
		cr_assert_eq(result_of(&run, some[i]), 9, "%s", some[i]);
	}
	run_close(&run);
}

/* With the built-in's own parameters, as far as they are float, and other results. */
Test(portable_names, a_function_may_have_the_name_of_any_built_in_function)
{
	CLEANUP(free_pointer) char *source = calloc(NAMES + 1, 400);
	char *to = source;
	struct run run;

	cr_assert_not_null(source);
	for (uint32_t i = 0; i < NAMES; i++)
		to += sprintf(to, "static inline float %s(%s) { return %u.0f; }\n", names[i],
			      i % 3 == 0   ? "float a"
			      : i % 3 == 1 ? "float a, float b"
					   : "float a, float b, float c",
			      i);
	to = append_formatted(
		to,
		"SYCL_KERNEL void all_of_them(SYCL_GLOBAL(uint) o)\n{\n\tfloat sum = sycl_max(1.0f, 2.0f) - 2.0f;\n",
		"");
	for (uint32_t i = 0; i < NAMES; i++)
		to += sprintf(to, "\tsum += %s(%s);\n", names[i],
			      i % 3 == 0   ? "1.0f"
			      : i % 3 == 1 ? "1.0f, 2.0f"
					   : "1.0f, 2.0f, 3.0f");
	to = append_formatted(to, "\to[sycl_global_id(0)] = (uint)sum;\n}\n", "");
	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "all_of_them");
	cr_assert_eq(result_of(&run, "all_of_them"), NAMES * (NAMES - 1) / 2);
	run_close(&run);
}

Test(portable_names, a_function_with_the_built_ins_own_type_is_the_sources)
{
	static const char source[] =
		"/* mix( is said in a comment */\n"
		"static float mix(float a, float b, float t) { return a + b + t; }\n"
		"float clamp(float x, float low, float high);\n"
		"float clamp(float x, float low, float high) { return x * low * high; }\n"
		"static float pow(float x, float y) { return x - y; }\n"
		"#define BLEND(a, b) mix((a), (b), 1.0f)\n"
		"SYCL_KERNEL void own(SYCL_GLOBAL(uint) o) {\n"
		"  o[0] = (uint)(BLEND(10.0f, 20.0f) + clamp(2.0f, 3.0f, 4.0f) * 100.0f + pow(7.0f, 2.0f) * 10000.0f"
		" + sycl_pow(2.0f, 3.0f) * 100000.0f);\n"
		"}\n";
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "own");
	cr_assert_eq(result_of(&run, "own"), 31 + 2400 + 50000 + 800000);
	run_close(&run);
}

/* The words are macros: their expansions must not refer to the parameter. */
Test(portable_names, parameters_and_variables_hide_no_word_of_the_prelude)
{
	static const char source[] =
		"SYCL_KERNEL void limited(SYCL_GLOBAL(uint) o, uint min, uint max) {\n"
		"  uint step = 3u, abs = 40u, length;\n"
		"  length = sycl_max(min, sycl_min(max, step + abs));\n"
		"  o[0] = length;\n"
		"}\n"
		"SYCL_KERNEL void other(SYCL_GLOBAL(uint) o) { o[0] = sycl_max(4u, sycl_abs(-9)); }\n";
	const uint64_t global = 1;
	const uint32_t low = 5, high = 41;
	uint32_t got = 0;
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "limited");
	struct backend_memory *memory = run_memory(&run, NULL, 4);
	const struct backend_argument arguments[] = {
		global_argument(memory), value_argument(&low, 4), value_argument(&high, 4)};
	const struct backend_command command = launch_command(run.kernel, 1, &global, arguments, 3);
	run_command(&run, &command);
	fixture_read(&run.fixture, memory, 0, &got, 4);
	cr_assert_eq(got, 41);
	cr_assert_eq(result_of(&run, "other"), 9);
	run.fixture.ops->memory_free(memory);
	run_close(&run);
}

/* A source defines a function for one language, and uses the other's own: it is unchanged. */
Test(portable_names, a_function_for_one_language_leaves_the_other_its_own)
{
	static const char source[] =
		"#ifdef SYCL_DEVICE_CUDA\n"
		"static float mix(float a, float b, float t) { return a + (b - a) * t; }\n"
		"#endif\n"
		"SYCL_KERNEL void half_way(SYCL_GLOBAL(uint) o) { o[0] = (uint)mix(10.0f, 20.0f, 0.5f); }\n";
	struct run run;

	run_open(&run, BACKEND_SOURCE_PORTABLE, source, "", "half_way");
	cr_assert_eq(result_of(&run, "half_way"), 15);
	run_close(&run);
}

/* If a source is wrong in any case, the compiler's messages are about the unchanged source. */
Test(portable_names, M6_a_mistake_is_told_in_the_sources_own_names)
{
	static const char source[] =
		"static float mix(float a, float b, float t) { return a; }\n"
		"SYCL_KERNEL void wrong(SYCL_GLOBAL(float) o) { o[0] = mix(undeclared_name, 1.0f, 2.0f); }\n";
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	CLEANUP(free_pointer)
	char *log = run_build_fails(&fixture, BACKEND_SOURCE_PORTABLE, source, strlen(source), "",
				    STATUS_BUILD);
	cr_assert_not_null(log);
	cr_assert_not_null(strstr(log, "undeclared_name"), "%s", log);
	cr_assert_null(strstr(log, "sycl_own_"), "%s", log);
	fixture_close(&fixture);
}
