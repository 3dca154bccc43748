/* CUDA devices through the public functions: the embedded engine on the double of NVIDIA's
 * driver. */
#include "syclclient.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_cuda, .timeout = 60);

#define CUDA_ERROR_OUT_OF_MEMORY 2

static sycl_platform connection, cuda;
static sycl_device device;

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert(eq(int, must_, 0), "%s: %s: %s", #call, sycl_result_name(must_),         \
			  sycl_get_last_error_text());                                             \
	} while (0)

static uint64_t now_ns(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static uint32_t platform_number(sycl_platform platform, sycl_platform_info info)
{
	uint32_t number = 0;
	MUST(sycl_platform_get_info(platform, info, sizeof(number), &number, NULL));
	return number;
}

static uint32_t library_cuda_device_number(sycl_device_info info)
{
	uint32_t value = 0;
	MUST(sycl_device_get_info(device, info, sizeof(value), &value, NULL));
	return value;
}

/* Finds the platform of CUDA; A5 requires exactly one. */
static void find_cuda(void)
{
	sycl_platform all[8];
	uint32_t count = 0, found = 0;
	MUST(sycl_platform_get_platforms(connection, 8, all, &count));
	for (uint32_t i = 0; i < count; i++) {
		if (platform_number(all[i], SYCL_PLATFORM_INFO_BACKEND) == SYCL_BACKEND_KIND_CUDA) {
			cuda = all[i];
			found++;
		} else {
			MUST(sycl_platform_release(all[i]));
		}
	}
	cr_assert(eq(u32, found, 1)); /* A5 */
}

/* `driver`: lines for the double, separated by semicolons. */
static void open_cuda_with(const char *driver, const char *library)
{
	char options[512];
	(void)snprintf(options, sizeof(options), "cuda:lanes=4 cuda:library=%s", library);
	cr_assert(eq(int, setenv("SYCLD_BACKEND_OPTIONS", options, 1), 0));
	cr_assert(eq(int, setenv("FAKE_CUDA", driver, 1), 0));
	cr_assert(eq(int, setenv("XDG_CACHE_HOME", TEST_CACHE, 1), 0));
	cr_assert(eq(int, setenv("OCL_ICD_VENDORS", "/nonexistent", 1), 0));
	MUST(sycl_platform_open("embedded:", &connection));
	find_cuda();
	uint32_t count = 0;
	MUST(sycl_platform_get_devices(cuda, SYCL_DEVICE_TYPE_ALL, 0, NULL, &count));
	if (count > 0)
		MUST(sycl_platform_get_devices(cuda, SYCL_DEVICE_TYPE_ALL, 1, &device, &count));
}

static void close_cuda(void)
{
	if (device)
		MUST(sycl_device_release(device));
	MUST(sycl_platform_release(cuda));
	MUST(sycl_platform_release(connection));
}

Test(client_cuda, A15_every_query_of_platform_device_context_and_queue_is_answered)
{
	static char answer[65536];
	open_cuda_with("", FAKE_CUDA_LIBRARY);
	for (int info = SYCL_PLATFORM_INFO_NAME; info <= SYCL_PLATFORM_INFO_WEIGHT; info++)
		MUST(sycl_platform_get_info(cuda, (sycl_platform_info)info, sizeof(answer), answer,
					    NULL));
	for (int info = SYCL_DEVICE_INFO_TYPE; info <= SYCL_DEVICE_INFO_USM_SHARED_MIGRATES; info++)
		MUST(sycl_device_get_info(device, (sycl_device_info)info, sizeof(answer), answer,
					  NULL));
	sycl_context context = NULL, back = NULL;
	sycl_queue queue = NULL;
	uint32_t in_order = 7;
	MUST(sycl_context_create(1, &device, &context));
	for (int info = SYCL_CONTEXT_INFO_ATOMIC_MEMORY_ORDERS;
	     info <= SYCL_CONTEXT_INFO_DEVICE_COUNT; info++)
		MUST(sycl_context_get_info(context, (sycl_context_info)info, sizeof(answer), answer,
					   NULL));
	MUST(sycl_queue_create(context, device, NULL, &queue));
	MUST(sycl_queue_get_context(queue, &back));
	cr_assert(eq(ptr, back, context));
	MUST(sycl_queue_is_in_order(queue, &in_order));
	cr_assert(eq(u32, in_order, 0));
	cr_assert(eq(u32, library_cuda_device_number(SYCL_DEVICE_INFO_TYPE), SYCL_DEVICE_TYPE_GPU));
	cr_assert(eq(u32, library_cuda_device_number(SYCL_DEVICE_INFO_IS_AVAILABLE), 1));
	MUST(sycl_context_release(back));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	close_cuda();
}

Test(client_cuda, A16_cuda_has_no_backend_info)
{
	uint32_t value = 0;
	size_t bytes = 0;
	open_cuda_with("", FAKE_CUDA_LIBRARY);
	for (uint32_t info = 0; info < 100; info++) {
		cr_assert(eq(
			int,
			sycl_platform_get_backend_info(cuda, info, sizeof(value), &value, &bytes),
			SYCL_ERROR_INVALID));
		cr_assert(eq(
			int,
			sycl_device_get_backend_info(device, info, sizeof(value), &value, &bytes),
			SYCL_ERROR_INVALID));
	}
	close_cuda();
}

Test(client_cuda, G7_G8_G9_orders_of_an_old_gpu)
{
	open_cuda_with("compute 6 1", FAKE_CUDA_LIBRARY);
	cr_assert(eq(u32, library_cuda_device_number(SYCL_DEVICE_INFO_ATOMIC_MEMORY_ORDERS),
		     SYCL_MEMORY_ORDER_RELAXED));
	cr_assert(eq(u32, library_cuda_device_number(SYCL_DEVICE_INFO_ATOMIC_MEMORY_SCOPES), 31));
	cr_assert(eq(u32, library_cuda_device_number(SYCL_DEVICE_INFO_ATOMIC_FENCE_ORDERS), 31));
	close_cuda();
}

Test(client_cuda, G7_G8_G9_orders_of_an_h200)
{
	open_cuda_with("", FAKE_CUDA_LIBRARY);
	cr_assert(eq(u32, library_cuda_device_number(SYCL_DEVICE_INFO_ATOMIC_MEMORY_ORDERS),
		     31 & ~(uint32_t)SYCL_MEMORY_ORDER_SEQ_CST));
	cr_assert(eq(u32, library_cuda_device_number(SYCL_DEVICE_INFO_ATOMIC_MEMORY_SCOPES), 31));
	cr_assert(eq(u32, library_cuda_device_number(SYCL_DEVICE_INFO_ATOMIC_FENCE_ORDERS), 31));
	cr_assert(eq(u32, library_cuda_device_number(SYCL_DEVICE_INFO_ATOMIC_FENCE_SCOPES), 31));
	close_cuda();
}

static void expect_unavailable(const char *words)
{
	char reason[512];
	cr_assert(eq(u32, platform_number(cuda, SYCL_PLATFORM_INFO_AVAILABLE), 0));
	MUST(sycl_platform_get_info(cuda, SYCL_PLATFORM_INFO_UNAVAILABLE_REASON, sizeof(reason),
				    reason, NULL));
	cr_assert(ne(ptr, strstr(reason, words), NULL), "%s", reason);
	cr_assert(eq(ptr, device, NULL));
}

Test(client_cuda, A4_without_a_driver_cuda_is_active_but_not_available)
{
	open_cuda_with("", "/nonexistent/libcuda.so.1");
	expect_unavailable("no NVIDIA driver");
	close_cuda();
}

Test(client_cuda, A4_an_old_driver_is_told)
{
	open_cuda_with("driver_version 11040", FAKE_CUDA_LIBRARY);
	expect_unavailable("too old");
	close_cuda();
}

Test(client_cuda, A4_no_device_is_told)
{
	open_cuda_with("devices 0", FAKE_CUDA_LIBRARY);
	expect_unavailable("no NVIDIA GPU");
	close_cuda();
}

Test(client_cuda, A4_a_gpu_in_exclusive_mode_is_listed_with_the_reason)
{
	char reason[512];
	sycl_queue queue = NULL;
	open_cuda_with("attribute 20 3", FAKE_CUDA_LIBRARY);
	cr_assert(eq(u32, library_cuda_device_number(SYCL_DEVICE_INFO_IS_AVAILABLE), 0));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_UNAVAILABLE_REASON, sizeof(reason),
				  reason, NULL));
	cr_assert(ne(ptr, strstr(reason, "exclusive"), NULL), "%s", reason);
	cr_assert(eq(int, sycl_queue_create(NULL, device, NULL, &queue), SYCL_ERROR_RUNTIME));
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), "exclusive"), NULL), "%s",
		  sycl_get_last_error_text());
	close_cuda();
}

static sycl_queue profiling_queue(void)
{
	sycl_queue queue = NULL;
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_ENABLE_PROFILING | SYCL_QUEUE_IN_ORDER;
	MUST(sycl_queue_create(NULL, device, &options, &queue));
	return queue;
}

static void times_of(sycl_event event, uint64_t times[3])
{
	MUST(sycl_event_wait(event));
	for (int i = 0; i < 3; i++)
		MUST(sycl_event_get_profiling(event, (sycl_profiling)i, &times[i]));
}

Test(client_cuda, H1_H3_H4_times_count_from_the_connection)
{
	uint64_t before = now_ns();
	open_cuda_with("", FAKE_CUDA_LIBRARY);
	sycl_queue queue = profiling_queue();
	sycl_buffer buffer = NULL;
	uint32_t pattern = 7;
	uint64_t last_end = 0;
	MUST(sycl_buffer_create(connection, NULL, 4096, SYCL_HOST_NONE, &buffer));
	for (int i = 0; i < 20; i++) {
		sycl_event event = NULL;
		uint64_t times[3] = {0};
		MUST(sycl_queue_fill(queue, buffer, 0, 4096, &pattern, sizeof(pattern), &event));
		times_of(event, times);
		cr_assert(lt(u64, times[2], now_ns() - before));
		cr_assert(le(u64, times[0], times[1]));
		cr_assert(le(u64, times[1], times[2]));
		cr_assert(ge(u64, times[1], last_end)); /* in order */
		last_end = times[2];
		MUST(sycl_event_release(event));
	}
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	close_cuda();
}

/* data[i] += value */
static const char add_ptx[] =
	".version 7.8\n.target sm_75\n.address_size 64\n"
	".visible .entry add(.param .u64 data, .param .u32 value)\n{\n"
	"\t.reg .b32 %r<6>;\n\t.reg .b64 %p<3>;\n"
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
	"\tld.param.u64 %p1, [data]; cvta.to.global.u64 %p1, %p1; ld.param.u32 %r4, [value];\n"
	"\tmul.wide.u32 %p2, %r1, 4; add.u64 %p1, %p1, %p2;\n"
	"\tld.global.u32 %r5, [%p1]; add.u32 %r5, %r5, %r4; st.global.u32 [%p1], %r5;\n\tret;\n}\n";

/* The build helper must get the options as well. Otherwise it would look for a driver that does not
 * exist here. */
Test(client_cuda, A15_a_kernel_is_built_by_the_helper_and_tells_of_itself)
{
	enum { ITEMS = 256 };
	static char answer[4096];
	uint32_t words[ITEMS];
	open_cuda_with("", FAKE_CUDA_LIBRARY);
	sycl_queue queue = profiling_queue();
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	sycl_buffer buffer = NULL;
	sycl_handler handler = NULL;
	const uint32_t value = 5;
	for (uint32_t i = 0; i < ITEMS; i++)
		words[i] = i;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, add_ptx, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, "add", &kernel));
	for (int info = SYCL_KERNEL_INFO_NAME; info < SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE; info++)
		MUST(sycl_kernel_get_info(kernel, (sycl_kernel_info)info, sizeof(answer), answer,
					  NULL));
	cr_assert(eq(int, sycl_kernel_get_backend_info(kernel, 1, sizeof(answer), answer, NULL),
		     SYCL_ERROR_INVALID));
	MUST(sycl_buffer_create(connection, words, sizeof(words), SYCL_HOST_BORROWED, &buffer));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for_nd(handler, kernel, sycl_range1(ITEMS), sycl_range1(64)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(buffer));
	for (uint32_t i = 0; i < ITEMS; i++)
		cr_assert(eq(u32, words[i], i + 5));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_queue_release(queue));
	close_cuda();
}

Test(client_cuda, H4_two_queues_have_one_base)
{
	enum { EVENTS = 500 };
	open_cuda_with("", FAKE_CUDA_LIBRARY);
	sycl_queue queues[2] = {profiling_queue(), profiling_queue()};
	sycl_buffer buffer = NULL;
	uint64_t last_end = 0;
	MUST(sycl_buffer_create(connection, NULL, 4096, SYCL_HOST_NONE, &buffer));
	/* Each group depends on the one before, in the other queue. So the times of both queues
	 * must be consistent. */
	for (uint32_t i = 0; i < EVENTS; i++) {
		sycl_event event = NULL;
		uint64_t times[3] = {0};
		MUST(sycl_queue_fill(queues[i % 2], buffer, 0, 4096, &i, sizeof(i), &event));
		times_of(event, times);
		cr_assert(le(u64, times[0], times[1]));
		cr_assert(le(u64, times[1], times[2]));
		cr_assert(ge(u64, times[1], last_end), "event %u", i);
		last_end = times[2];
		MUST(sycl_event_release(event));
	}
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queues[0]));
	MUST(sycl_queue_release(queues[1]));
	close_cuda();
}

Test(client_cuda, H10_H11_a_command_has_a_native_event_where_one_is_asked_for)
{
	open_cuda_with("", FAKE_CUDA_LIBRARY);
	sycl_queue queue = profiling_queue();
	sycl_buffer buffer = NULL;
	sycl_event event = NULL;
	uint32_t pattern = 7, has = 7;
	void *native = &pattern;
	MUST(sycl_buffer_create(connection, NULL, 4096, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(queue, buffer, 0, 4096, &pattern, sizeof(pattern), &event));
	/* While the buffer is not on its device there may be none. */
	MUST(sycl_event_has_native_event(event, &has));
	cr_assert(le(u32, has, 1));
	MUST(sycl_event_wait(event));
	MUST(sycl_event_has_native_event(event, &has));
	cr_assert(eq(u32, has, 1));
	MUST(sycl_event_get_native(event, &native));
	cr_assert(ne(ptr, native, NULL));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	close_cuda();
}

/* Buffers of three times the device's memory are used by groups that are all queued before any
 * wait. */
Test(client_cuda, TG15_a_working_set_larger_than_the_device)
{
	enum { BUFFERS = 24, ROUNDS = 3, MIB = 1 << 20, WORDS = MIB / 4 };
	static uint32_t words[WORDS];
	sycl_buffer buffers[BUFFERS];
	cr_assert(eq(int, setenv("SYCLD_SPILL", "1", 1), 0));
	/* The device has room for eight buffers beside the memory that is kept for kernels. */
	open_cuda_with("memory 276824064", FAKE_CUDA_LIBRARY);
	sycl_queue queue = profiling_queue();
	for (uint32_t i = 0; i < BUFFERS; i++)
		MUST(sycl_buffer_create(connection, NULL, MIB, SYCL_HOST_NONE, &buffers[i]));
	for (uint32_t i = 0; i < BUFFERS; i++) {
		uint32_t pattern = i;
		MUST(sycl_queue_fill(queue, buffers[i], 0, MIB, &pattern, sizeof(pattern), NULL));
	}
	for (uint32_t round = 1; round < ROUNDS; round++)
		for (uint32_t i = 0; i < BUFFERS; i++) {
			uint32_t pattern = i + 1000 * round;
			MUST(sycl_queue_fill(queue, buffers[i], round * 4096, 4096, &pattern,
					     sizeof(pattern), NULL));
		}
	for (uint32_t i = 0; i < BUFFERS; i++) {
		sycl_event event = NULL;
		MUST(sycl_queue_copy_to_host(queue, buffers[i], 0, words, MIB, &event));
		MUST(sycl_event_wait(event));
		MUST(sycl_event_release(event));
		for (uint32_t w = 0; w < WORDS; w++) {
			uint32_t part = w / 1024;
			cr_assert(
				eq(u32, words[w], part > 0 && part < ROUNDS ? i + 1000 * part : i));
		}
	}
	for (uint32_t i = 0; i < BUFFERS; i++)
		MUST(sycl_buffer_release(buffers[i]));
	MUST(sycl_queue_release(queue));
	close_cuda();
}

/* No spill is configured. */
Test(client_cuda, TG15_what_a_full_device_has_no_room_for_fails)
{
	enum { BUFFERS = 24, MIB = 1 << 20 };
	sycl_buffer buffers[BUFFERS];
	sycl_event events[BUFFERS];
	uint32_t failed = 0;
	cr_assert(eq(int, unsetenv("SYCLD_SPILL"), 0));
	open_cuda_with("memory 276824064", FAKE_CUDA_LIBRARY);
	sycl_queue queue = profiling_queue();
	for (uint32_t i = 0; i < BUFFERS; i++) {
		MUST(sycl_buffer_create(connection, NULL, MIB, SYCL_HOST_NONE, &buffers[i]));
		MUST(sycl_queue_fill(queue, buffers[i], 0, MIB, &i, sizeof(i), &events[i]));
	}
	for (uint32_t i = 0; i < BUFFERS; i++) {
		int result = sycl_event_wait(events[i]);
		cr_assert(result == 0 || result == SYCL_ERROR_MEMORY_ALLOCATION, "%d", result);
		failed += result != 0;
		MUST(sycl_event_release(events[i]));
	}
	cr_expect(gt(u32, failed, 0));
	for (uint32_t i = 0; i < BUFFERS; i++)
		MUST(sycl_buffer_release(buffers[i]));
	MUST(sycl_queue_release(queue));
	close_cuda();
}

Test(client_cuda, I11_M6_errors_carry_the_drivers_code_or_none)
{
	open_cuda_with("fail cuMemAllocFromPoolAsync 1 2 100000", FAKE_CUDA_LIBRARY);
	sycl_queue queue = profiling_queue();
	sycl_buffer buffer = NULL;
	sycl_event event = NULL;
	uint32_t pattern = 7;
	MUST(sycl_buffer_create(connection, NULL, 1 << 20, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(queue, buffer, 0, 1 << 20, &pattern, sizeof(pattern), &event));
	cr_assert(eq(int, sycl_event_wait(event), SYCL_ERROR_MEMORY_ALLOCATION), "%s",
		  sycl_get_last_error_text());
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	MUST(sycl_get_last_error(&detail));
	cr_assert(eq(int, detail.native_code, CUDA_ERROR_OUT_OF_MEMORY));
	cr_assert(eq(u32, detail.backend, SYCL_BACKEND_KIND_CUDA));
	/* An argument that the library refuses has none. */
	cr_assert(eq(int, sycl_queue_fill(queue, buffer, 0, 3, &pattern, 0, NULL),
		     SYCL_ERROR_INVALID));
	MUST(sycl_get_last_error(&detail));
	cr_assert(eq(int, detail.native_code, 0));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	close_cuda();
}
