/* The whole stack in one process: the embedded engine with the CPU device (PoCL). */
#include "syclclient.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_embedded, .timeout = 120);

enum { N = 4096 };

static sycl_platform platform;
static sycl_queue queue;

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert(eq(int, must_, 0), "%s: %s: %s\n%s", #call, sycl_result_name(must_),     \
			  sycl_get_last_error_text(), sycl_get_build_log());                       \
	} while (0)

static void open_embedded(void)
{
	sycl_device device = NULL;
	cr_assert(eq(int, setenv("XDG_CACHE_HOME", TEST_CACHE, 1), 0));
	MUST(sycl_platform_open("embedded:", &platform));
	MUST(sycl_device_select(platform, sycl_cpu_selector, NULL, &device));
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_ENABLE_PROFILING;
	MUST(sycl_queue_create(NULL, device, &options, &queue));
	MUST(sycl_device_release(device));
}

static void close_embedded(void)
{
	MUST(sycl_queue_release(queue));
	MUST(sycl_platform_release(platform));
}

TestSuite(client_embedded_cpu, .timeout = 120, .init = open_embedded, .fini = close_embedded);

static const char portable[] =
	"SYCL_KERNEL void linear(SYCL_GLOBAL(uint) out)\n"
	"{ out[(sycl_global_id(0) * sycl_global_range(1) + sycl_global_id(1)) * sycl_global_range(2) + "
	"sycl_global_id(2)]\n"
	"    = (uint)(sycl_global_id(0) * 10000 + sycl_global_id(1) * 100 + sycl_global_id(2)); }\n"
	"SYCL_KERNEL void saxpy(SYCL_GLOBAL(const float) x, SYCL_GLOBAL(float) y, float a)\n"
	"{ y[sycl_global_id(0)] += a * x[sycl_global_id(0)]; }\n"
	"SYCL_KERNEL void reverse(SYCL_GLOBAL(uint) data, SYCL_LOCAL(uint) tile)\n"
	"{ tile[sycl_local_id(0)] = data[sycl_global_id(0)]; sycl_group_barrier();\n"
	"  data[sycl_global_id(0)] = tile[sycl_local_range(0) - 1 - sycl_local_id(0)]; }\n"
	"SYCL_KERNEL void look_up(SYCL_GLOBAL(uint) out, SYCL_CONSTANT(uint) table, SYCL_GLOBAL(const uint) part)\n"
	"{ out[sycl_global_id(0)] = table[sycl_global_id(0) % 8] + part[0]; }\n";

static sycl_kernel embedded_kernel_of(const char *name)
{
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_from_source(queue, portable, name, &kernel));
	return kernel;
}

Test(client_embedded_cpu, E1_C18_the_last_dimension_varies_fastest)
{
	enum { A = 3, B = 4, C = 5 };
	static uint32_t out[A * B * C];
	sycl_kernel linear = embedded_kernel_of("linear");
	sycl_buffer buffer = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_buffer_create(platform, out, sizeof(out), SYCL_HOST_BORROWED, &buffer));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_parallel_for(handler, linear, sycl_range3(A, B, C)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(buffer));
	for (uint32_t i = 0; i < A * B * C; i++)
		cr_assert(eq(u32, out[i], i / (B * C) * 10000 + i / C % B * 100 + i % C));
	MUST(sycl_kernel_release(linear));
}

/* Adds bytes by the device's built-in kernel. */
static void run_builtin(const char *name, sycl_kernel_bundle bundle)
{
	enum { BYTES = 256 };
	uint8_t bytes[3][BYTES];
	sycl_kernel kernel = NULL;
	sycl_buffer buffers[3];
	sycl_handler handler = NULL;
	MUST(sycl_kernel_create(bundle, name, &kernel));
	MUST(sycl_handler_begin(queue, &handler));
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t k = 0; k < BYTES; k++)
			bytes[i][k] = (uint8_t)(k * (i + 3));
		MUST(sycl_buffer_create(platform, bytes[i], BYTES, SYCL_HOST_BORROWED,
					&buffers[i]));
		MUST(sycl_handler_set_accessor(handler, i, buffers[i],
					       i < 2 ? SYCL_ACCESS_READ : SYCL_ACCESS_WRITE));
	}
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(BYTES)));
	MUST(sycl_handler_submit(handler, NULL));
	for (uint32_t i = 0; i < 3; i++)
		MUST(sycl_buffer_release(buffers[i]));
	for (uint32_t k = 0; k < BYTES; k++)
		cr_assert(eq(u8, bytes[2][k], (uint8_t)(7 * k)));
	MUST(sycl_kernel_release(kernel));
}

/*
 * PoCL lists this kernel and makes it if its source is installed; in client_embedded_builtins a
 * layer makes it. The device reports whether it exists and can be made. If so, everything after
 * that must succeed.
 */
Test(client_embedded_cpu, A28_a_built_in_kernel_of_the_device_runs)
{
	static const char name[] = "pocl.add.i8";
	char listed[4096] = "";
	sycl_device device = NULL;
	sycl_kernel_bundle bundle = NULL;
	MUST(sycl_queue_get_device(queue, &device));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_BUILTIN_KERNELS, sizeof(listed), listed,
				  NULL));
	MUST(sycl_device_release(device));
	if (!strstr(listed, name))
		cr_skip_test("the device does not list %s", name);
	sycl_result made =
		sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_BUILTIN, name, NULL, &bundle);
	if (made == SYCL_ERROR_BUILD && !getenv("OPENCL_COUNTER_HAS_BUILTINS"))
		cr_skip_test("the driver lists %s and cannot make it", name);
	MUST(made);
	run_builtin(name, bundle);
	MUST(sycl_kernel_bundle_release(bundle));
}

static int32_t custom_selector(sycl_device device, void *unused)
{
	uint32_t type = 0;
	(void)unused;
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_TYPE, sizeof(type), &type, NULL));
	return type == SYCL_DEVICE_TYPE_CUSTOM ? 1 : -1;
}

static bool device_has(sycl_device device, sycl_aspect aspect)
{
	uint32_t it_has = 0;
	MUST(sycl_device_has(device, aspect, &it_has));
	return it_has != 0;
}

TestSuite(client_custom, .timeout = 120);

/* No driver here has such a device. For client_embedded_custom a layer makes PoCL's device a custom
 * one. */
Test(client_custom, R7_a_custom_device_is_listed_and_runs_its_built_in_kernel)
{
	char listed[4096] = "";
	uint64_t most[3] = {0};
	sycl_device device = NULL;
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	if (!getenv("OPENCL_COUNTER_IS_CUSTOM"))
		cr_skip_test("no custom device here");
	cr_assert(eq(int, setenv("XDG_CACHE_HOME", TEST_CACHE, 1), 0));
	MUST(sycl_platform_open("embedded:", &platform));
	MUST(sycl_device_select(platform, custom_selector, NULL, &device));
	MUST(sycl_queue_create(NULL, device, NULL, &queue));
	cr_assert(device_has(device, SYCL_ASPECT_CUSTOM));
	cr_assert(not(device_has(device, SYCL_ASPECT_CPU)));
	cr_assert(not(device_has(device, SYCL_ASPECT_ONLINE_COMPILER)));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_BUILTIN_KERNELS, sizeof(listed), listed,
				  NULL));
	cr_assert(eq(str, listed, "pocl.add.i8"));
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_BUILTIN, listed, NULL, &bundle));
	run_builtin(listed, bundle);
	MUST(sycl_kernel_create(bundle, listed, &kernel));
	MUST(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE, sizeof(most), most,
				  NULL));
	cr_assert(eq(u64, most[2], 1u << 20));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	/* This device supports nothing else: no source is built for it, and the error gives the
	 * reason. */
	cr_assert(ne(int,
		     sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, portable, NULL,
						    &bundle),
		     0));
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), "compiler"), NULL), "%s",
		  sycl_get_last_error_text());
	MUST(sycl_device_release(device));
	close_embedded();
}

Test(client_embedded_cpu, D11_results_come_back)
{
	static float x[N], y[N];
	float a = 3;
	for (int i = 0; i < N; i++) {
		x[i] = (float)i;
		y[i] = 1;
	}
	sycl_kernel saxpy = embedded_kernel_of("saxpy");
	sycl_buffer bx = NULL, by = NULL;
	MUST(sycl_buffer_create(platform, x, sizeof(x), SYCL_HOST_CONST, &bx));
	MUST(sycl_buffer_create(platform, y, sizeof(y), SYCL_HOST_BORROWED, &by));
	for (int i = 0; i < 10; i++) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_accessor(handler, 0, bx, SYCL_ACCESS_READ));
		MUST(sycl_handler_set_accessor(handler, 1, by, SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_set_value(handler, 2, sizeof(a), &a));
		MUST(sycl_handler_parallel_for(handler, saxpy, sycl_range1(N)));
		MUST(sycl_handler_submit(handler, NULL));
	}
	MUST(sycl_buffer_release(by));
	MUST(sycl_buffer_release(bx));
	for (int i = 0; i < N; i++)
		cr_assert(eq(flt, y[i], 1 + 30.0f * (float)i));
	MUST(sycl_kernel_release(saxpy));
}

Test(client_embedded_cpu, E7_E12_work_groups_share_local_memory)
{
	enum { GROUP = 64 };
	static uint32_t data[N];
	for (uint32_t i = 0; i < N; i++)
		data[i] = i;
	sycl_kernel reverse = embedded_kernel_of("reverse");
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, data, sizeof(data), SYCL_HOST_BORROWED, &buffer));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_local(handler, 1, GROUP * sizeof(uint32_t)));
	MUST(sycl_handler_parallel_for_nd(handler, reverse, sycl_range1(N), sycl_range1(GROUP)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(buffer));
	for (uint32_t i = 0; i < N; i++)
		cr_assert(eq(u32, data[i], i / GROUP * GROUP + GROUP - 1 - i % GROUP));
	MUST(sycl_kernel_release(reverse));
}

Test(client_embedded_cpu, J19_warnings_of_a_build_that_succeeds_can_be_read)
{
	static const char source[] = "SYCL_KERNEL void warned(SYCL_GLOBAL(int) p, int a)\n"
				     "{\n"
				     "\tif (a = 3)\n"
				     "\t\tp[0] = a;\n"
				     "}";
	sycl_kernel_bundle bundle = NULL;
	const char *log = NULL;

	/* The second one comes from the cache. */
	for (int i = 0; i < 2; i++) {
		MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL,
						    &bundle));
		MUST(sycl_kernel_bundle_get_log(bundle, &log));
		cr_assert(ne(ptr, strstr(log, "warning: kernel:3:8: "), NULL), "%s", log);
		cr_assert(ne(ptr, strstr(log, "  \tif (a = 3)\n  \t      ^\n"), NULL), "%s", log);
		MUST(sycl_kernel_bundle_release(bundle));
	}
}

Test(client_embedded_cpu, J19_kernel_from_source_leaves_its_warnings_in_the_build_log)
{
	static const char source[] = "SYCL_KERNEL void warned(SYCL_GLOBAL(int) p, int a)\n"
				     "{\n"
				     "\tif (a = 4)\n"
				     "\t\tp[0] = a;\n"
				     "}";
	sycl_kernel kernel = NULL;

	/* The second one comes from the cache. */
	for (int i = 0; i < 2; i++) {
		MUST(sycl_kernel_from_source(queue, source, "warned", &kernel));
		cr_assert(ne(ptr, strstr(sycl_get_build_log(), "warning: kernel:3:8: "), NULL),
			  "%s", sycl_get_build_log());
		MUST(sycl_kernel_release(kernel));
	}
	MUST(sycl_kernel_from_source(queue,
				     "SYCL_KERNEL void plain(SYCL_GLOBAL(int) p) { p[0] = 1; }",
				     "plain", &kernel));
	cr_assert(eq(str, (char *)sycl_get_build_log(), ""), "the last build has no messages");
	MUST(sycl_kernel_release(kernel));
}

Test(client_embedded_cpu, J19_a_source_that_does_not_compile_returns_the_compilers_words)
{
	sycl_kernel kernel = NULL;
	cr_assert(eq(int,
		     sycl_kernel_from_source(
			     queue,
			     "SYCL_KERNEL void broken(SYCL_GLOBAL(int) p) { p[0] = undeclared; }",
			     "broken", &kernel),
		     SYCL_ERROR_BUILD));
	cr_assert(ne(ptr, strstr(sycl_get_build_log(), "undeclared"), NULL), "%s",
		  sycl_get_build_log());
	cr_assert(ne(ptr,
		     strstr(sycl_get_build_log(),
			    "  SYCL_KERNEL void broken(SYCL_GLOBAL(int) p) { p[0] = undeclared; }\n"
			    "                                                       ^\n"),
		     NULL),
		  "%s", sycl_get_build_log());
	cr_assert(eq(ptr, kernel, NULL));
	/* The session still works. */
	kernel = embedded_kernel_of("saxpy");
	uint32_t arguments = 0;
	MUST(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_NUM_ARGS, sizeof(arguments), &arguments,
				  NULL));
	cr_assert(eq(u32, arguments, 3));
	MUST(sycl_kernel_release(kernel));
}

Test(client_embedded_cpu, E8_a_kernels_required_size_is_the_only_one)
{
	static const char source[] =
		"__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void fixed(__global uint *p)\n"
		"{ p[get_global_id(0)] = (uint)get_local_size(0); }\n";
	static uint32_t out[64];
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel fixed = NULL;
	sycl_buffer buffer = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_OPENCL_C, source, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, "fixed", &fixed));
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_buffer_create(platform, out, sizeof(out), SYCL_HOST_BORROWED, &buffer));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
	cr_assert(eq(int,
		     sycl_handler_parallel_for_nd(handler, fixed, sycl_range1(64), sycl_range1(16)),
		     SYCL_ERROR_ND_RANGE));
	MUST(sycl_handler_parallel_for_nd(handler, fixed, sycl_range1(64), sycl_range1(8)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(buffer));
	for (int i = 0; i < 64; i++)
		cr_assert(eq(u32, out[i], 8));
	MUST(sycl_kernel_release(fixed));
}

Test(client_embedded_cpu, A15_every_query_of_a_kernel_is_answered_and_no_other)
{
	static const char source[] =
		"SYCL_REQUIRED_GROUP(2, 4, 8)\nSYCL_KERNEL void fixed(SYCL_GLOBAL(uint) p) { p[0] = 1; }\n"
		"SYCL_KERNEL void free_one(SYCL_GLOBAL(uint) p) { p[0] = 1; }\n";
	const char *const names[] = {"fixed", "free_one"};
	const char *const attributes[] = {"reqd_work_group_size(2,4,8)", ""};
	sycl_kernel_bundle bundle = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL, &bundle));
	for (int i = 0; i < 2; i++) {
		sycl_kernel kernel = NULL;
		char text[256] = "x";
		size_t bytes = 0;
		MUST(sycl_kernel_create(bundle, names[i], &kernel));
		for (int info = SYCL_KERNEL_INFO_NAME; info <= SYCL_KERNEL_INFO_ATTRIBUTES;
		     info++) {
			MUST(sycl_kernel_get_info(kernel, (sycl_kernel_info)info, 0, NULL, &bytes));
			cr_assert(bytes > 0 && bytes <= sizeof(text), "info %d", info);
			MUST(sycl_kernel_get_info(kernel, (sycl_kernel_info)info, bytes, text,
						  NULL));
			cr_expect(eq(int,
				     sycl_kernel_get_info(kernel, (sycl_kernel_info)info, bytes - 1,
							  text, NULL),
				     SYCL_ERROR_INVALID),
				  "info %d", info);
		}
		cr_expect(eq(str, text, (char *)(uintptr_t)attributes[i]), "the last one");
		cr_expect(eq(int,
			     sycl_kernel_get_info(kernel, (sycl_kernel_info)0, 0, NULL, &bytes),
			     SYCL_ERROR_INVALID));
		cr_expect(eq(int,
			     sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE, 0,
						  NULL, &bytes),
			     SYCL_ERROR_INVALID),
			  "of built-in kernels only");
		cr_expect(eq(int,
			     sycl_kernel_get_info(
				     kernel,
				     (sycl_kernel_info)(SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE + 1), 0,
				     NULL, &bytes),
			     SYCL_ERROR_INVALID));
		MUST(sycl_kernel_release(kernel));
	}
	MUST(sycl_kernel_bundle_release(bundle));
}

Test(client_embedded_cpu, A15_what_floating_point_types_can_do)
{
	const uint32_t least = SYCL_FP_INF_NAN | SYCL_FP_ROUND_TO_NEAREST;
	sycl_device device = NULL;
	uint32_t can[3], has[2];
	MUST(sycl_queue_get_device(queue, &device));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_FP_CONFIG, sizeof(can), can, NULL));
	MUST(sycl_device_has(device, SYCL_ASPECT_FP16, &has[0]));
	MUST(sycl_device_has(device, SYCL_ASPECT_FP64, &has[1]));
	cr_assert(eq(u32, can[1] & least, least), "single precision has these everywhere");
	cr_assert(eq(u32, can[2] & (least | SYCL_FP_FMA | SYCL_FP_DENORM),
		     has[1] ? least | SYCL_FP_FMA | SYCL_FP_DENORM : 0));
	if (!has[0])
		cr_assert(eq(u32, can[0], 0));
	MUST(sycl_device_release(device));
}

Test(client_embedded_cpu, H4_times_are_ordered)
{
	sycl_event event = NULL;
	sycl_buffer buffer = NULL;
	uint64_t times[3];
	MUST(sycl_buffer_create(platform, NULL, N, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(queue, buffer, 0, N, "x", 1, &event));
	for (int what = 0; what < 3; what++)
		MUST(sycl_event_get_profiling(event, (sycl_profiling)what, &times[what]));
	cr_assert(le(u64, times[0], times[1]));
	cr_assert(le(u64, times[1], times[2]));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
}

/* A count of this process, which contains the engine. */
struct own {
	uint32_t descriptors, threads;
};

static uint32_t entries_of(const char *path)
{
	uint32_t count = 0;
	DIR *folder = opendir(path);
	cr_assert(ne(ptr, folder, NULL));
	while (readdir(folder))
		count++;
	(void)closedir(folder);
	return count;
}

static struct own own_now(void)
{
	return (struct own){.descriptors = entries_of("/proc/self/fd"),
			    .threads = entries_of("/proc/self/task")};
}

/* The session opens, works and closes. The drivers keep objects of their own, and their number does
 * not grow. */
Test(client_embedded, N6_opening_and_closing_many_times_leaves_nothing)
{
	enum { WARM_UP = 5, CYCLES = 30 };
	struct own base = {0}, end;
	for (int i = 0; i < CYCLES; i++) {
		const uint32_t value = 7;
		uint32_t got = 0;
		sycl_buffer buffer = NULL;
		sycl_event event = NULL;
		struct sycl_usage usage = SYCL_USAGE_INIT;
		open_embedded();
		MUST(sycl_platform_get_usage(platform, &usage));
		cr_assert(
			eq(u64, usage.arena_bytes + usage.buffer_bytes + usage.groups_submitted, 0),
			"of the one before");
		MUST(sycl_buffer_create(platform, NULL, 1 << 20, SYCL_HOST_NONE, &buffer));
		MUST(sycl_queue_fill(queue, buffer, 0, 1 << 20, &value, sizeof(value), NULL));
		MUST(sycl_queue_copy_to_host(queue, buffer, 4096, &got, sizeof(got), &event));
		MUST(sycl_event_wait(event));
		cr_assert(eq(u32, got, value));
		MUST(sycl_event_release(event));
		MUST(sycl_buffer_release(buffer));
		close_embedded();
		if (i == WARM_UP)
			base = own_now();
	}
	end = own_now();
	cr_assert(le(u32, end.descriptors, base.descriptors), "%u descriptors became %u",
		  base.descriptors, end.descriptors);
	cr_assert(le(u32, end.threads, base.threads), "%u threads became %u", base.threads,
		  end.threads);
}

/* Constant memory, and sub-buffers at the alignment of the device: one buffer is three
 * arguments. */
Test(client_embedded_cpu, C8_E16_G13_a_buffer_as_constant_memory_and_as_parts)
{
	enum { ALIGNED = 4096 };
	static uint32_t host[3 * ALIGNED / 4];
	sycl_kernel look_up = embedded_kernel_of("look_up");
	sycl_buffer buffer = NULL, out = NULL, part = NULL;
	sycl_handler handler = NULL;
	for (uint32_t i = 0; i < 8; i++)
		host[i] = 100 + i;
	host[2 * ALIGNED / 4] = 1000;
	MUST(sycl_buffer_create(platform, host, sizeof(host), SYCL_HOST_BORROWED, &buffer));
	MUST(sycl_buffer_create_sub(buffer, ALIGNED, ALIGNED, &out));
	MUST(sycl_buffer_create_sub(buffer, 2 * ALIGNED, ALIGNED, &part));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, out, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_constant_accessor(handler, 1, buffer, 0, 8 * sizeof(uint32_t)));
	MUST(sycl_handler_set_ranged_accessor(handler, 2, part, SYCL_ACCESS_READ, 0, 4));
	MUST(sycl_handler_parallel_for(handler, look_up, sycl_range1(ALIGNED / 4)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(out));
	MUST(sycl_buffer_release(buffer));
	for (uint32_t i = 0; i < ALIGNED / 4; i++)
		cr_assert(eq(u32, host[ALIGNED / 4 + i], 1100 + i % 8));
	MUST(sycl_kernel_release(look_up));
}

/* Returns the build helper of the engine, which is this process' only child. 0: there is none. */
static pid_t find_helper(void)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	pid_t found = 0;
	while (folder && (entry = readdir(folder))) {
		char path[288], line[256] = "";
		(void)snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		FILE *file = fopen(path, "re");
		if (!file)
			continue;
		const char *read = fgets(line, sizeof(line), file),
			   *after = read ? strrchr(line, ')') : NULL;
		int parent = 0;
		if (after && sscanf(after, ") %*c %d", &parent) == 1 && parent == (int)getpid())
			found = (pid_t)strtol(entry->d_name, NULL, 10);
		(void)fclose(file);
	}
	if (folder)
		(void)closedir(folder);
	return found;
}

enum { ENVIRONMENT_BYTES = 1 << 16 };

static size_t read_environment(pid_t pid, char bytes_out[ENVIRONMENT_BYTES])
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	FILE *file = fopen(path, "re");
	cr_assert(file != NULL, "%s", path);
	size_t count = fread(bytes_out, 1, ENVIRONMENT_BYTES, file);
	(void)fclose(file);
	cr_assert(count > 0 && count < ENVIRONMENT_BYTES, "%zu bytes of environment", count);
	return count;
}

/*
 * Backends and vendors' libraries change the environment of this process. A compiler in another
 * process that got it might find other devices, or none.
 */
Test(client_embedded, what_libraries_did_to_the_environment_reaches_no_compiler)
{
	static char first[ENVIRONMENT_BYTES], second[ENVIRONMENT_BYTES];
	size_t first_bytes = 0, second_bytes = 0;
	uint32_t count = 0;
	cr_assert(eq(int, setenv("XDG_CACHE_HOME", TEST_CACHE, 1), 0));
	cr_assert(eq(int, unsetenv("HWLOC_PLUGINS_PATH"), 0));
	cr_assert(eq(int, unsetenv("CUDA_MODULE_LOADING"), 0));
	for (int i = 0; i < 2; i++) {
		sycl_platform opened = NULL;
		MUST(sycl_platform_open("embedded:", &opened));
		pid_t helper = find_helper();
		cr_assert(helper > 0, "no process builds for the engine");
		*(i ? &second_bytes : &first_bytes) = read_environment(helper, i ? second : first);
		MUST(sycl_device_get_devices(opened, SYCL_DEVICE_TYPE_ALL, 0, NULL, &count));
		MUST(sycl_platform_release(opened));
		cr_assert(getenv("HWLOC_PLUGINS_PATH") || getenv("CUDA_MODULE_LOADING"),
			  "nothing was changed here");
	}
	cr_assert(eq(sz, first_bytes, second_bytes));
	cr_assert(eq(int, memcmp(first, second, first_bytes), 0));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

static void open_at_home(const char *home)
{
	sycl_platform opened = NULL;
	cr_assert(eq(int, setenv("HOME", home, 1), 0));
	MUST(sycl_platform_open("embedded:", &opened));
	MUST(sycl_platform_release(opened));
}

/* A new user's programs have a cache. Programs that root runs leave no files in another user's home
 * that the owner cannot use. */
Test(client_embedded, a_folder_for_caches_is_made_at_home_and_nowhere_else)
{
	enum { SOMEBODY = 65534 };
	char home[] = "/tmp/sycld-home-XXXXXX", cache[64], own[80];
	struct stat status;
	cr_assert(ne(ptr, mkdtemp(home), NULL));
	(void)snprintf(cache, sizeof(cache), "%s/.cache", home);
	(void)snprintf(own, sizeof(own), "%s/sycld", cache);
	cr_assert(eq(int, unsetenv("XDG_CACHE_HOME"), 0));
	if (geteuid() == 0) {
		cr_assert(eq(int, chown(home, SOMEBODY, SOMEBODY), 0));
		open_at_home(home);
		cr_assert(ne(int, stat(cache, &status), 0), "it would be root's");
		cr_assert(eq(int, chown(home, 0, 0), 0));
	}
	open_at_home(home);
	cr_assert(eq(int, stat(cache, &status), 0));
	cr_assert(eq(u32, status.st_mode & 07777, 0700));
	cr_assert(eq(int, stat(own, &status), 0));
	(void)nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
