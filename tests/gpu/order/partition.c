/*
 * Multiprocessors that are set apart for the latency class (daemon/backends/cuda/lane/partition.h).
 * Kernels write on which they run. There are two sessions of one service, on a GPU or on the double
 * of its driver that SYCLD_TEST_CUDA_LIBRARY names.
 */
#include "private_service.h"

#include <criterion/criterion.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syclclient.h>

TestSuite(gpu_partition, .timeout = 200);

enum {
	MULTIPROCESSORS_MAX = 1024,
	BYTES = MULTIPROCESSORS_MAX * 4,
	THREADS = 32,
	GROUPS_EACH = 16,
	WANTED = 16,
	ROUNDS = 6
};

#define MUST(call)                                                                                 \
	cr_assert_eq((call), SYCL_SUCCESS, "%s: %s\n%s", #call, sycl_get_last_error_text(),        \
		     sycl_get_build_log())

/* where (seen, looks): seen[number of the multiprocessor] = 1. It then polls memory so many times,
 * so that a grid fills all multiprocessors that it may use. */
static const char where_ptx[] =
	".version 7.8\n.target sm_75\n.address_size 64\n"
	".visible .entry where(.param .u64 .ptr .global .align 4 seen, .param .u32 looks)\n{\n"
	"\t.reg .b32 %r<5>;\n\t.reg .b64 %p<3>;\n\t.reg .pred %q;\n"
	"\tld.param.u64 %p1, [seen]; cvta.to.global.u64 %p1, %p1; ld.param.u32 %r2, [looks];\n"
	"\tmov.u32 %r1, %smid; mul.wide.u32 %p2, %r1, 4; add.u64 %p2, %p1, %p2;\n"
	"\tmov.u32 %r3, 1; st.volatile.global.u32 [%p2], %r3;\n"
	"look:\n\tld.volatile.global.u32 %r4, [%p2]; sub.u32 %r2, %r2, 1; setp.ne.u32 %q, %r2, "
	"0; @%q bra look;\n\tret;\n}\n";

/* One session. */
struct side {
	sycl_platform connection;
	sycl_device device;
	sycl_context context;
	sycl_queue queue;
	sycl_kernel where;
	sycl_buffer seen;
	uint32_t all; /* multiprocessors of the device */
	uint32_t now[MULTIPROCESSORS_MAX];
};

static const char *library(void)
{
	return getenv("SYCLD_TEST_CUDA_LIBRARY");
}

static struct private_service *start_with_option(const char *option)
{
	char cache[PATH_MAX], configuration[PATH_MAX + 128];
	struct private_service *service = NULL;
	cr_assert_eq(build_path("tests", "cache", cache, sizeof(cache)), 0);
	const char *options[] = {"--cache-dir", cache, NULL};
	(void)snprintf(configuration, sizeof(configuration),
		       "[service]\nstandby = no\n[cuda]\n%s\n%s%s\n", option,
		       library() ? "library = " : "", library() ? library() : "");
	cr_assert_eq(private_service_start(configuration, options, &service), 0);
	return service;
}

/* Finds a device of the CUDA platform; NULL: there is none. */
static sycl_device gpu_order_partition_find_device(sycl_platform connection)
{
	sycl_platform platforms[32];
	sycl_device device = NULL;
	uint32_t count = 0, found = 0, backend = 0;
	MUST(sycl_platform_get_platforms(connection, 32, platforms, &count));
	for (uint32_t i = 0; i < count && i < 32; i++) {
		MUST(sycl_platform_get_info(platforms[i], SYCL_PLATFORM_INFO_BACKEND,
					    sizeof(backend), &backend, NULL));
		if (backend == SYCL_BACKEND_KIND_CUDA && !device)
			MUST(sycl_platform_get_devices(platforms[i], SYCL_DEVICE_TYPE_GPU, 1,
						       &device, &found));
		MUST(sycl_platform_release(platforms[i]));
	}
	return device;
}

static void side_open(struct side *side, const struct private_service *service,
		      sycl_session_class class)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	struct sycl_queue_options ordered = SYCL_QUEUE_OPTIONS_INIT;
	sycl_kernel_bundle bundle = NULL;
	options.session_class = class;
	ordered.properties = SYCL_QUEUE_IN_ORDER;
	*side = (struct side){.all = 0};
	MUST(sycl_platform_open_with(service->endpoint, &options, &side->connection));
	side->device = gpu_order_partition_find_device(side->connection);
	if (!side->device)
		cr_skip_test("no GPU with a CUDA driver");
	MUST(sycl_device_get_info(side->device, SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS,
				  sizeof(side->all), &side->all, NULL));
	MUST(sycl_context_create(1, &side->device, &side->context));
	MUST(sycl_queue_create(side->context, side->device, &ordered, &side->queue));
	MUST(sycl_kernel_bundle_from_source(side->queue, SYCL_SOURCE_PTX, where_ptx, NULL,
					    &bundle));
	MUST(sycl_kernel_create(bundle, "where", &side->where));
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_buffer_create(side->connection, NULL, BYTES, SYCL_HOST_NONE, &side->seen));
}

static void side_close(struct side *side)
{
	MUST(sycl_buffer_release(side->seen));
	MUST(sycl_kernel_release(side->where));
	MUST(sycl_queue_release(side->queue));
	MUST(sycl_context_release(side->context));
	MUST(sycl_device_release(side->device));
	MUST(sycl_platform_release(side->connection));
}

static void clear_seen(struct side *side)
{
	const uint32_t zero = 0;
	MUST(sycl_queue_fill(side->queue, side->seen, 0, BYTES, &zero, sizeof(zero), NULL));
}

/* Returns on how many multiprocessors groups have run since. */
static uint32_t count_multiprocessors(struct side *side)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	uint32_t count = 0;
	MUST(sycl_host_accessor_create(side->seen, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	memcpy(side->now, words, BYTES);
	MUST(sycl_host_accessor_release(accessor));
	for (size_t i = 0; i < MULTIPROCESSORS_MAX; i++)
		count += side->now[i] != 0;
	return count;
}

/* A grid with enough groups for all multiprocessors. */
static void launch_full_grid(struct side *side)
{
	const uint32_t looks = library() ? 1 : 4096;
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(side->queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, side->seen, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(looks), &looks));
	MUST(sycl_handler_parallel_for_nd(handler, side->where,
					  sycl_range1((uint64_t)side->all * GROUPS_EACH * THREADS),
					  sycl_range1(THREADS)));
	MUST(sycl_handler_submit(handler, NULL));
}

/* Launches `times` such grids in a row, as a chain if chains are sent. */
static uint32_t spread(struct side *side, int times)
{
	clear_seen(side);
	for (int i = 0; i < times; i++)
		launch_full_grid(side);
	return count_multiprocessors(side);
}

static sycl_executable_graph record_full_grid(struct side *side)
{
	sycl_graph graph = NULL;
	sycl_executable_graph executable = NULL;
	MUST(sycl_graph_create(side->context, side->device, NULL, &graph));
	MUST(sycl_graph_begin_recording(graph, 1, &side->queue));
	launch_full_grid(side);
	launch_full_grid(side);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	MUST(sycl_graph_release(graph));
	return executable;
}

static uint32_t spread_graph(struct side *side, sycl_executable_graph executable)
{
	clear_seen(side);
	MUST(sycl_queue_graph(side->queue, executable, 0, NULL, NULL));
	return count_multiprocessors(side);
}

/* Returns the number that syclctl shows. */
static json_int_t units_seen(const struct private_service *service)
{
	json_t *status = private_service_status(service);
	json_t *units = json_object_get(json_array_get(json_object_get(status, "tenants"), 0),
					"latency_units");
	cr_assert(json_is_integer(units));
	json_int_t number = json_integer_value(units);
	json_decref(status);
	return number;
}

/* The latency session's kernels run on few multiprocessors, and the others' on all except these:
 * single ones, rows of them, and graphs. */
Test(gpu_partition, TG9_the_latency_class_and_the_others_share_no_multiprocessor)
{
	struct private_service *service = start_with_option("latency_multiprocessors = 16");
	struct side quick, other;
	side_open(&other, service, SYCL_SESSION_CLASS_BEST_EFFORT);
	sycl_executable_graph graph = record_full_grid(&other);
	cr_assert_eq(spread(&other, 1), other.all,
		     "without a latency session a grid fills the device");
	cr_assert_eq(spread_graph(&other, graph), other.all);
	cr_assert_eq(units_seen(service), 0);
	side_open(&quick, service, SYCL_SESSION_CLASS_LATENCY);
	cr_assert_eq(quick.all, other.all, "the device's facts are as before");
	/* The reservation begins at the next moment in which nothing runs. */
	while (spread(&quick, 1) != WANTED)
		;
	cr_assert_eq(units_seen(service), WANTED);
	for (int round = 0; round < ROUNDS; round++) {
		cr_assert_eq(spread(&quick, 1 + round), WANTED);
		cr_assert_eq(spread(&other, 1 + round), other.all - WANTED);
		for (size_t i = 0; i < MULTIPROCESSORS_MAX; i++)
			cr_assert(!quick.now[i] || !other.now[i], "both on %zu", i);
	}
	cr_assert_eq(spread_graph(&other, graph), other.all - WANTED);
	MUST(sycl_executable_graph_release(graph));
	side_close(&quick);
	side_close(&other);
	(void)private_service_free(service);
}

Test(gpu_partition, without_the_option_all_multiprocessors_are_shared)
{
	struct private_service *service = start_with_option("");
	struct side quick;
	side_open(&quick, service, SYCL_SESSION_CLASS_LATENCY);
	for (int round = 0; round < ROUNDS; round++)
		cr_assert_eq(spread(&quick, 1 + round), quick.all);
	cr_assert_eq(units_seen(service), 0);
	side_close(&quick);
	(void)private_service_free(service);
}
