/* Launches that need more of the device than a grid, and programs that nvcc made, through the
 * client. */
#include "order/fixture.h"

enum {
	/* CUdevice_attribute */
	COMPUTE_MAJOR = 75,
	COOPERATIVE_LAUNCH = 95,
	CLUSTER_LAUNCH = 120,
	LAUNCH_TOO_LARGE = 720, /* CUresult */
	THREADS = 256,
	CLUSTERS = 8,    /* of each size */
	CROWD = 12 * 32, /* items */
	FATBIN_VALUE = 7
};

/*
 * meet_all (words, groups, looks): a hand-written barrier of the whole grid. Each group increments
 * the count, waits until all have, and adds the value that it read.
 */
static const char barrier_ptx[] =
	".version 7.8\n.target sm_75\n.address_size 64\n"
	".visible .entry meet_all(.param .u64 words, .param .u32 groups, .param .u32 looks)\n{\n"
	"\t.reg .b32 %r<6>;\n\t.reg .b64 %p<2>;\n\t.reg .pred %q;\n"
	"\tld.param.u64 %p1, [words]; cvta.to.global.u64 %p1, %p1;\n"
	"\tld.param.u32 %r1, [groups]; ld.param.u32 %r2, [looks];\n"
	"\tmov.u32 %r3, %tid.x; setp.ne.u32 %q, %r3, 0; @%q bra done;\n"
	"\tatom.global.add.u32 %r4, [%p1], 1;\n"
	"look:\n\tld.volatile.global.u32 %r5, [%p1]; setp.ge.u32 %q, %r5, %r1; @%q bra leave;\n"
	"\tsub.u32 %r2, %r2, 1; setp.ne.u32 %q, %r2, 0; @%q bra look;\n"
	"leave:\n\tatom.global.add.u32 %r4, [%p1+4], %r5;\n"
	"done:\n\tret;\n}\n";

/*
 * neighbours (out): each group writes its number into its own shared memory. out[group] = 256 *
 * groups of the cluster + the number in the next group of the cluster; for the last one in the
 * first.
 */
static const char cluster_ptx[] =
	".version 7.8\n.target sm_90\n.address_size 64\n"
	".visible .entry neighbours(.param .u64 out)\n{\n"
	"\t.reg .b32 %r<10>;\n\t.reg .b64 %p<3>;\n\t.reg .pred %q;\n\t.shared .align 4 .b32 number;\n"
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank; mov.u32 %r4, %tid.x;\n"
	"\tmov.u32 %r5, number; st.shared.u32 [%r5], %r1;\n"
	"\tbarrier.cluster.arrive; barrier.cluster.wait;\n"
	"\tadd.u32 %r6, %r2, 1; rem.u32 %r6, %r6, %r3; mapa.shared::cluster.u32 %r7, %r5, %r6;\n"
	"\tld.shared::cluster.u32 %r8, [%r7]; mad.lo.u32 %r8, %r3, 256, %r8;\n"
	"\tbarrier.cluster.arrive; barrier.cluster.wait;\n"
	"\tsetp.ne.u32 %q, %r4, 0; @%q bra done;\n"
	"\tld.param.u64 %p1, [out]; cvta.to.global.u64 %p1, %p1; mul.wide.u32 %p2, %r1, 4; add.u64 %p1, %p1, %p2;\n"
	"\tst.global.u32 [%p1], %r8;\n"
	"done:\n\tret;\n}\n";

static sycl_kernel gpu_order_launches_make_kernel(sycl_queue queue, const char *source,
						  const char *name)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, source, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, name, &kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	return kernel;
}

static sycl_event submit_meet_all(sycl_queue queue, sycl_kernel meet_all, uint32_t *words,
				  uint32_t groups)
{
	const uint32_t looks = ORDER_LOOKS;
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_cooperative(handler));
	MUST(sycl_handler_set_usm(handler, 0, words));
	MUST(sycl_handler_set_value(handler, 1, sizeof(groups), &groups));
	MUST(sycl_handler_set_value(handler, 2, sizeof(looks), &looks));
	MUST(sycl_handler_parallel_for_nd(
		handler, meet_all, sycl_range1((uint64_t)groups * THREADS), sycl_range1(THREADS)));
	MUST(sycl_handler_submit(handler, &event));
	return event;
}

static void expect_all_met(sycl_queue queue, sycl_kernel meet_all, uint32_t groups)
{
	uint32_t got[2] = {0};
	uint32_t *words = order_memory(queue, sizeof(got));
	sycl_event event = submit_meet_all(queue, meet_all, words, groups);
	MUST(sycl_event_wait(event));
	order_fetch(queue, got, words, sizeof(got));
	cr_assert_eq(got[0], groups);
	cr_assert_eq(got[1], groups * groups, "a group went on before all %u had come", groups);
	MUST(sycl_event_release(event));
	MUST(sycl_free(queue, words));
}

/* If the device supports it, it may be requested. */
static void gpu_order_launches_expect_answer(sycl_queue queue,
					     sycl_result (*ask)(sycl_handler handler), bool has)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	cr_assert_eq(ask(handler), has ? SYCL_SUCCESS : SYCL_ERROR_FEATURE_NOT_SUPPORTED, "%s",
		     sycl_get_last_error_text());
	MUST(sycl_handler_discard(handler));
}

/* As many groups as the device runs at once wait for each other; one more is refused, with the
 * driver's code. */
static void expect_all_that_fit(sycl_queue queue)
{
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	sycl_occupancy occupancy = SYCL_OCCUPANCY_INIT;
	sycl_kernel meet_all = gpu_order_launches_make_kernel(queue, barrier_ptx, "meet_all");
	uint32_t *words = order_memory(queue, 2 * sizeof(*words));
	MUST(sycl_kernel_get_occupancy(meet_all, sycl_range1(THREADS), 0, &occupancy));
	cr_assert_gt(occupancy.max_cooperative_groups, 1u);
	expect_all_met(queue, meet_all, 2);
	expect_all_met(queue, meet_all, occupancy.max_cooperative_groups);
	sycl_event event =
		submit_meet_all(queue, meet_all, words, occupancy.max_cooperative_groups + 1);
	cr_assert_eq(sycl_event_wait(event), SYCL_ERROR_ND_RANGE, "%s", sycl_get_last_error_text());
	MUST(sycl_get_last_error(&detail));
	cr_assert_eq(detail.native_code, LAUNCH_TOO_LARGE, "%d: %s", detail.native_code,
		     detail.text);
	MUST(sycl_event_release(event));
	MUST(sycl_free(queue, words));
	MUST(sycl_kernel_release(meet_all));
}

Test(gpu_order, E8_I11_a_cooperative_launch_is_on_the_device_at_one_time)
{
	struct order order;
	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	bool has = order_attribute(COOPERATIVE_LAUNCH) != 0;
	gpu_order_launches_expect_answer(queue, sycl_handler_set_cooperative, has);
	if (has)
		expect_all_that_fit(queue);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

static sycl_result set_cluster(sycl_handler handler)
{
	return sycl_handler_set_cluster_size(handler, sycl_range1(2));
}

static sycl_result submit_clusters(sycl_queue queue, sycl_kernel kernel, sycl_buffer out,
				   uint32_t groups, uint32_t size)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_cluster_size(handler, sycl_range1(size)));
	MUST(sycl_handler_set_accessor(handler, 0, out, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_parallel_for_nd(handler, kernel, sycl_range1((uint64_t)groups * 32),
					  sycl_range1(32)));
	return sycl_handler_submit(handler, NULL);
}

static void expect_neighbours(sycl_buffer out, uint32_t size)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(out, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	const uint32_t *words = pointer;
	for (uint32_t i = 0; i < size * CLUSTERS; i++) {
		uint32_t next = i / size * size + (i + 1) % size;
		cr_assert_eq(words[i], size * 256 + next, "clusters of %u: group %u has read %u",
			     size, i, words[i]);
	}
	MUST(sycl_host_accessor_release(accessor));
}

/* 12 groups of 32 in clusters of `size`; each item counts itself. */
static sycl_result gpu_order_launches_submit_crowd(sycl_queue queue, sycl_kernel crowd,
						   const uint32_t *words, uint32_t size)
{
	const uint32_t looks = 1;
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_cluster_size(handler, sycl_range1(size)));
	MUST(sycl_handler_set_usm(handler, 0, words));
	MUST(sycl_handler_set_value(handler, 1, sizeof(looks), &looks));
	MUST(sycl_handler_parallel_for_nd(handler, crowd, sycl_range1(CROWD), sycl_range1(32)));
	return sycl_handler_submit(handler, NULL);
}

/* A kernel that does not use clusters can run in them as well. */
static void expect_clusters(sycl_queue queue)
{
	sycl_kernel crowd = order_kernel(queue, "crowd");
	uint32_t got[3] = {0};
	uint32_t *words = order_memory(queue, sizeof(got));
	sycl_handler handler = NULL;
	MUST(gpu_order_launches_submit_crowd(queue, crowd, words, 4));
	cr_assert_eq(gpu_order_launches_submit_crowd(queue, crowd, words, 5), SYCL_ERROR_ND_RANGE,
		     "%s", sycl_get_last_error_text());
	order_fetch(queue, got, words, sizeof(got));
	cr_assert_eq(got[2], (uint32_t)CROWD);
	MUST(sycl_handler_begin(queue, &handler));
	cr_assert_eq(sycl_handler_set_cluster_size(handler, sycl_range1(9)), SYCL_ERROR_ND_RANGE);
	cr_assert_eq(sycl_handler_set_cluster_size(handler, sycl_range1(0)), SYCL_ERROR_ND_RANGE);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_free(queue, words));
	MUST(sycl_kernel_release(crowd));
}

Test(gpu_order, E8_clusters_are_refused_where_they_do_not_fit)
{
	struct order order;
	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	bool has = order_attribute(CLUSTER_LAUNCH) != 0;
	gpu_order_launches_expect_answer(queue, set_cluster, has);
	if (has)
		expect_clusters(queue);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

Test(gpu_order, E8_the_groups_of_a_cluster_reach_each_others_local_memory)
{
	struct order order;
	sycl_buffer out = NULL;
	if (order_library())
		cr_skip_test("the double of the driver has no shared memory of clusters");
	order_begin(&order, "", 1);
	if (order_attribute(CLUSTER_LAUNCH) == 0) {
		order_end(&order);
		cr_skip_test("the device has no clusters");
	}
	sycl_queue queue = order_queue(&order, 0, true);
	sycl_kernel neighbours = gpu_order_launches_make_kernel(queue, cluster_ptx, "neighbours");
	MUST(sycl_buffer_create(order.connection, NULL, sizeof(uint32_t) * 8 * CLUSTERS,
				SYCL_HOST_NONE, &out));
	for (uint32_t size = 1; size <= 8; size *= 2) {
		MUST(submit_clusters(queue, neighbours, out, size * CLUSTERS, size));
		expect_neighbours(out, size);
	}
	cr_assert_eq(submit_clusters(queue, neighbours, out, 6, 4), SYCL_ERROR_ND_RANGE);
	MUST(sycl_buffer_release(out));
	MUST(sycl_kernel_release(neighbours));
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

#ifdef ORDER_FATBIN
/* The fatbin that nvcc made of fatbin.cu. */
extern const unsigned char order_fatbin_begin[], order_fatbin_end[];
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	".global order_fatbin_begin, order_fatbin_end\n"
	"order_fatbin_begin:\n"
	".incbin \"" ORDER_FATBIN "\"\n"
	"order_fatbin_end:\n"
	".popsection\n");
#endif

static size_t fatbin(const unsigned char **bytes_out)
{
#ifdef ORDER_FATBIN
	*bytes_out = order_fatbin_begin;
	return (size_t)(order_fatbin_end - order_fatbin_begin);
#else
	*bytes_out = NULL;
	return 0;
#endif
}

/* The fatbin has machine code for some devices, and PTX for all. A driver prefers the machine code
 * if it fits. */
static void expect_made_for(uint32_t architecture)
{
	if (order_library())
		cr_assert_eq(architecture, 80u, "the double takes the PTX");
	else if (order_attribute(COMPUTE_MAJOR) == 9)
		cr_assert_eq(architecture, 90u, "there is code for this device in it");
	else
		cr_assert_geq(architecture, 80u);
}

static void run_fatbin_kernel(sycl_queue queue, sycl_kernel_bundle bundle, const char *name,
			      uint32_t *out, uint32_t items)
{
	const uint32_t value = FATBIN_VALUE;
	sycl_handler handler = NULL;
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_create(bundle, name, &kernel));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_usm(handler, 0, out));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(items)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_kernel_release(kernel));
}

Test(gpu_order, E15_a_fatbin_is_a_program)
{
	struct order order;
	const unsigned char *bytes = NULL;
	sycl_kernel_bundle bundle = NULL, broken = NULL;
	uint32_t got[THREADS + 1] = {0};
	const size_t count = fatbin(&bytes);
	if (count == 0)
		cr_skip_test("there was no nvcc where this was built");
	order_begin(&order, "", 1);
	if (order_attribute(COMPUTE_MAJOR) < 8) {
		order_end(&order);
		cr_skip_test("the device is older than what was compiled for");
	}
	sycl_queue queue = order_queue(&order, 0, true);
	uint32_t *words = order_memory(queue, sizeof(got));
	MUST(sycl_kernel_bundle_from_binary(queue, bytes, count, &bundle));
	run_fatbin_kernel(queue, bundle, "number", words, THREADS);
	run_fatbin_kernel(queue, bundle, "made_for", words + THREADS, 1);
	order_fetch(queue, got, words, sizeof(got));
	for (uint32_t i = 0; i < THREADS; i++)
		cr_assert_eq(got[i], i * i + FATBIN_VALUE, "word %u is %u", i, got[i]);
	expect_made_for(got[THREADS] - FATBIN_VALUE);
	/* Half of it is no fatbin. */
	cr_assert_eq(sycl_kernel_bundle_from_binary(queue, bytes, count / 2, &broken),
		     SYCL_ERROR_BUILD);
	MUST(sycl_free(queue, words));
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

/* Each call has 64 words of its own, which the compiler cannot remove: 200 calls need more than the
 * usual kilobyte. */
static const char deep_source[] =
	"__device__ __noinline__ unsigned deeper(unsigned depth, volatile unsigned *out)\n{\n"
	"\tvolatile unsigned words[64];\n\tfor (unsigned i = 0; i < 64; i++) words[i] = depth + i;\n"
	"\tunsigned below = depth > out[1] ? deeper(depth - 1, out) : 0;\n"
	"\treturn below + words[depth % 64] - depth % 64;\n}\n"
	"extern \"C\" __global__ void deep(unsigned *out, unsigned depth) { out[0] = deeper(depth, out); }\n";

/* The stack size of a kernel's threads is configured (stack_bytes). F12 tests the effect of a stack
 * that is too small. */
Test(gpu_order, F12_a_larger_stack_takes_a_deeper_recursion)
{
	const uint32_t depth = 200;
	struct order order;
	sycl_kernel kernel = NULL;
	sycl_kernel_bundle bundle = NULL;
	sycl_handler handler = NULL;
	uint32_t got = 0;
	if (order_library())
		cr_skip_test("the double runs no machine code");
	order_begin(&order, "cuda:stack_bytes=131072", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_CUDA_CPP, deep_source, NULL,
					    &bundle));
	MUST(sycl_kernel_create(bundle, "deep", &kernel));
	uint32_t *out = order_memory(queue, ORDER_ITEMS * sizeof(uint32_t));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_usm(handler, 0, out));
	MUST(sycl_handler_set_value(handler, 1, sizeof(depth), &depth));
	MUST(sycl_handler_single_task(handler, kernel));
	MUST(sycl_handler_submit(handler, NULL));
	order_fetch(queue, &got, out, sizeof(got));
	cr_assert_eq(got, depth * (depth + 1) / 2);
	MUST(sycl_free(queue, out));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_queue_release(queue));
	order_end(&order);
}
