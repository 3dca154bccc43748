/* Kernels of the CUDA backend through the public functions: the embedded engine on the double of
 * NVIDIA's driver. */
#include "syclclient.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_cuda_kernels, .timeout = 120);

static sycl_platform connection;
static sycl_device device;
static sycl_queue queue;

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert(eq(int, must_, 0), "%s: %s: %s\n%s", #call, sycl_result_name(must_),     \
			  sycl_get_last_error_text(), sycl_get_build_log());                       \
	} while (0)

static void open_cuda_kernels(void)
{
	char options[1024];
	uint32_t count = 0;
	(void)snprintf(options, sizeof(options), "cuda:library=%s", FAKE_CUDA_LIBRARY);
#ifdef NVRTC_LIBRARY
	(void)strcat(options, " cuda:nvrtc=" NVRTC_LIBRARY);
#endif
	cr_assert(eq(int, setenv("SYCLD_BACKEND_OPTIONS", options, 1), 0));
	cr_assert(eq(int, setenv("XDG_CACHE_HOME", TEST_CACHE, 1), 0));
	cr_assert(eq(int, setenv("OCL_ICD_VENDORS", "/nonexistent", 1), 0));
	MUST(sycl_platform_open("embedded:", &connection));
	MUST(sycl_device_get_devices(connection, SYCL_DEVICE_TYPE_GPU, 1, &device, &count));
	cr_assert(ge(u32, count, 1));
	MUST(sycl_queue_create(NULL, device, NULL, &queue));
}

static void close_cuda_kernels(void)
{
	MUST(sycl_queue_release(queue));
	MUST(sycl_device_release(device));
	MUST(sycl_platform_release(connection));
}

static const char ptx[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".visible .entry put(.param .u64 .ptr .global .align 4 out, .param .u32 value)\n.maxntid 128, 1, 1\n{\n"
	"\t.reg .b32 %r<6>;\n\t.reg .b64 %p<4>;\n"
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
	"\tld.param.u64 %p1, [out]; mul.wide.u32 %p2, %r4, 4; add.u64 %p1, %p1, %p2;\n"
	"\tld.param.u32 %r5, [value]; add.u32 %r5, %r5, %r4; st.global.u32 [%p1], %r5;\n\tret;\n}\n";

static void run_and_check(sycl_kernel kernel)
{
	enum { N = 1000 };
	uint32_t words[N] = {0}, value = 7;
	sycl_buffer buffer = NULL;
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_buffer_create(connection, words, sizeof(words), SYCL_HOST_BORROWED, &buffer));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(N)));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	for (uint32_t i = 0; i < N; i++)
		cr_assert(eq(u32, words[i], 7 + i));
}

static uint64_t kernel_number(sycl_kernel kernel, sycl_kernel_info info)
{
	uint64_t value = 0;
	MUST(sycl_kernel_get_info(kernel, info, sizeof(value), &value, NULL));
	return value;
}

Test(client_cuda_kernels, E15_ptx_runs_and_tells_what_it_is)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	open_cuda_kernels();
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, ptx, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, "put", &kernel));
	cr_assert(eq(u64, kernel_number(kernel, SYCL_KERNEL_INFO_IS_NATIVE), 1));
	cr_assert(eq(u64, kernel_number(kernel, SYCL_KERNEL_INFO_MAX_SUB_GROUP_SIZE), 32));
	cr_assert(eq(u64, kernel_number(kernel, SYCL_KERNEL_INFO_WORK_GROUP_SIZE), 128));
	cr_assert(gt(u64, kernel_number(kernel, SYCL_KERNEL_INFO_MAX_LOCAL_MEM_BYTES), 48 << 10));
	cr_assert(gt(u64, kernel_number(kernel, SYCL_KERNEL_INFO_REGISTERS), 0));
	run_and_check(kernel);
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	close_cuda_kernels();
}

Test(client_cuda_kernels, E14_wrong_arguments_of_ptx_are_told_at_once)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	sycl_handler handler = NULL;
	uint64_t eight = 8;
	open_cuda_kernels();
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, ptx, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, "put", &kernel));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_value(handler, 0, sizeof(eight), &eight));
	MUST(sycl_handler_set_value(handler, 1, sizeof(eight), &eight));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(1)));
	cr_assert(eq(int, sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	close_cuda_kernels();
}

Test(client_cuda_kernels, E13_a_kernel_that_computes_its_ids_itself_takes_no_offset)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	sycl_buffer buffer = NULL;
	uint32_t value = 1;
	const sycl_result expected[] = {SYCL_SUCCESS, SYCL_ERROR_FEATURE_NOT_SUPPORTED};
	open_cuda_kernels();
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, ptx, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, "put", &kernel));
	MUST(sycl_buffer_create(connection, NULL, 4096, SYCL_HOST_NONE, &buffer));
	for (uint64_t first = 0; first < 2; first++) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
		MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
		MUST(sycl_handler_set_offset(handler, sycl_range1(first)));
		MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(128)));
		cr_assert(eq(int, sycl_handler_submit(handler, NULL), expected[first]));
	}
	MUST(sycl_queue_wait(queue));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	close_cuda_kernels();
}

Test(client_cuda_kernels, E8_occupancy_is_answered)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	sycl_occupancy occupancy = SYCL_OCCUPANCY_INIT;
	const sycl_range any = {0, 0, {0, 0, 0}}, zero = {1, 0, {0, 1, 1}};
	open_cuda_kernels();
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, ptx, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, "put", &kernel));
	MUST(sycl_kernel_get_occupancy(kernel, any, 0, &occupancy));
	cr_assert(gt(u32, occupancy.suggested_group_size, 0));
	cr_assert(eq(u32, occupancy.groups_per_compute_unit, 0));
	MUST(sycl_kernel_get_occupancy(kernel, sycl_range2(2, 64), 0, &occupancy));
	cr_assert(gt(u32, occupancy.groups_per_compute_unit, 0));
	cr_assert(gt(u32, occupancy.max_cooperative_groups, occupancy.groups_per_compute_unit));
	sycl_occupancy before = occupancy;
	cr_assert(eq(int, sycl_kernel_get_occupancy(kernel, sycl_range1(129), 0, &occupancy),
		     SYCL_ERROR_ND_RANGE));
	cr_assert(eq(int, sycl_kernel_get_occupancy(kernel, zero, 0, &occupancy),
		     SYCL_ERROR_ND_RANGE));
	cr_assert(eq(int, sycl_kernel_get_occupancy(kernel, sycl_range1(64), 1u << 30, &occupancy),
		     SYCL_ERROR_MEMORY_ALLOCATION));
	cr_assert(eq(int, memcmp(&before, &occupancy, sizeof(before)), 0),
		  "the output was touched");
	occupancy.struct_bytes = 4;
	cr_assert(
		eq(int, sycl_kernel_get_occupancy(kernel, any, 0, &occupancy), SYCL_ERROR_INVALID));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	close_cuda_kernels();
}

Test(client_cuda_kernels, M6_the_drivers_words_about_ptx_are_the_log)
{
	static const char source[] =
		".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry a()\n{\n\tno.such %r1;\n}\n";
	sycl_kernel_bundle bundle = NULL;
	open_cuda_kernels();
	cr_assert(eq(int,
		     sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, source, NULL, &bundle),
		     SYCL_ERROR_BUILD));
	cr_assert(ne(ptr, (void *)strstr(sycl_get_build_log(), "6"), NULL), "%s",
		  sycl_get_build_log());
	cr_assert(eq(int,
		     sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, "\n\nno PTX\n", NULL,
						    &bundle),
		     SYCL_ERROR_BUILD));
	cr_assert(ne(ptr, (void *)strstr(sycl_get_build_log(), "line 3"), NULL), "%s",
		  sycl_get_build_log());
	cr_assert(eq(int,
		     sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, ptx, "-DA", &bundle),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(ptr, bundle, NULL));
	close_cuda_kernels();
}

Test(client_cuda_kernels, what_the_backend_does_not_take_is_refused)
{
	static const unsigned char bytes[64] = {1, 2, 3};
	sycl_kernel_bundle bundle = NULL;
	open_cuda_kernels();
	cr_assert(eq(int,
		     sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_BUILTIN, "a", NULL, &bundle),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	cr_assert(eq(int, sycl_kernel_bundle_from_binary(queue, bytes, sizeof(bytes), &bundle),
		     SYCL_ERROR_BUILD));
	cr_assert(eq(int, sycl_kernel_bundle_from_binary(queue, NULL, 5, &bundle),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_kernel_bundle_from_binary(queue, bytes, 0, &bundle),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(ptr, bundle, NULL));
	close_cuda_kernels();
}

#ifdef NVRTC_LIBRARY
/* The build helper compiles it, and the second time it comes from the cache. No work-group size
 * divides the basic range. */
Test(client_cuda_kernels, E10_portable_and_cuda_sources_run)
{
	static const char portable[] =
		"SYCL_KERNEL void put(SYCL_GLOBAL(uint) out, uint value) { ulong i = sycl_global_id(0); "
		"out[i] = (uint)i + value; }\n";
	static const char cuda[] =
		"__global__ void put(unsigned *out, unsigned value) { "
		"unsigned i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = i + value; }\n";
	sycl_kernel kernel = NULL;
	sycl_kernel_bundle bundle = NULL;
	open_cuda_kernels();
	for (int turn = 0; turn < 2; turn++) {
		MUST(sycl_kernel_from_source(queue, portable, "put", &kernel));
		cr_assert(eq(u64, kernel_number(kernel, SYCL_KERNEL_INFO_IS_NATIVE), 0));
		run_and_check(kernel);
		MUST(sycl_kernel_release(kernel));
		MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_CUDA_CPP, cuda,
						    "-arch=compute_80", &bundle));
		MUST(sycl_kernel_create(bundle, "put", &kernel));
		run_and_check(kernel);
		MUST(sycl_kernel_release(kernel));
		MUST(sycl_kernel_bundle_release(bundle));
	}
	close_cuda_kernels();
}
#endif
