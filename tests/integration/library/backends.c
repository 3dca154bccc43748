/* Two backends in one service: the fake one, whose kernels wait at gates, and OpenCL's on the CPU.
 */
#include "library/service.h"

#include <stdlib.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_backends, .timeout = 120);

enum { ITEMS = 256 };

static struct client_service service;
static sycl_platform platform;
static sycl_queue fake, cpu;
static sycl_kernel hold, add, increment;

static void open_both(void)
{
	static const char source[] = "SYCL_KERNEL void add(SYCL_GLOBAL(uint) to, uint value)\n"
				     "{ to[sycl_global_id(0)] += value; }\n";
	sycl_device device = NULL;
	(void)setenv("XDG_CACHE_HOME", TEST_CACHE, 1);
	client_service_start_with_opencl(&service, NULL);
	MUST(sycl_platform_open(service.endpoint, &platform));
	MUST(sycl_device_select(platform, sycl_cpu_selector, NULL, &device));
	MUST(sycl_queue_create(NULL, device, NULL, &cpu));
	MUST(sycl_device_release(device));
	fake = fake_queue(platform, 0);
	hold = fake_kernel(fake, "hold");
	increment = fake_kernel(fake, "increment_u32");
	MUST(sycl_kernel_from_source(cpu, source, "add", &add));
}

static void close_both(void)
{
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_kernel_release(add));
	MUST(sycl_queue_release(fake));
	MUST(sycl_queue_release(cpu));
	MUST(sycl_platform_release(platform));
	client_service_stop(&service);
}

static void submit_add(sycl_buffer buffer, uint32_t value, sycl_event after, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(cpu, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	if (after)
		MUST(sycl_handler_depends_on(handler, after));
	MUST(sycl_handler_parallel_for(handler, add, sycl_range1(ITEMS)));
	MUST(sycl_handler_submit(handler, event_out));
}

static uint32_t backends_word_of(sycl_buffer buffer)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	uint32_t word = *(const uint32_t *)pointer;
	MUST(sycl_host_accessor_release(accessor));
	return word;
}

static sycl_buffer backends_zeros(void)
{
	static const uint32_t words[ITEMS];
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, (void *)(uintptr_t)words, sizeof(words), SYCL_HOST_CONST,
				&buffer));
	return buffer;
}

Test(client_backends, B20_an_event_of_one_backend_gates_the_kernel_of_the_other, .init = open_both,
     .fini = close_both)
{
	sycl_buffer buffer = backends_zeros();
	sycl_event gate = NULL, gated = NULL;
	submit_hold(fake, hold, 3, NULL, SYCL_ACCESS_READ, &gate);
	submit_add(buffer, 5, gate, &gated);
	cr_assert(eq(int, sycl_event_wait_for(gated, SHORT_NS), SYCL_ERROR_TIMEOUT));
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	MUST(sycl_event_get_status(gated, &status));
	cr_assert(eq(int, (int)status, SYCL_COMMAND_SUBMITTED));
	fake_gate_open(3);
	MUST(sycl_event_wait_for(gated, LONG_NS));
	MUST(sycl_event_wait_for(gate, 0));
	cr_assert(eq(u32, backends_word_of(buffer), 5));
	MUST(sycl_event_release(gate));
	MUST(sycl_event_release(gated));
	MUST(sycl_buffer_release(buffer));
}

/* The other way round: the fake kernel starts when the CPU's has ended. The CPU's waits for a
 * buffer of a fake one. */
Test(client_backends, B20_M9_and_the_reverse_also_with_its_failure, .init = open_both,
     .fini = close_both)
{
	sycl_buffer between = backends_zeros(), after = backends_zeros();
	sycl_event first = NULL, second = NULL;
	sycl_handler handler = NULL;
	struct fake_counters counters;
	submit_hold(fake, hold, 4, between, SYCL_ACCESS_READ_WRITE, NULL);
	submit_add(between, 7, NULL, &first);
	MUST(sycl_handler_begin(fake, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, after, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_depends_on(handler, first));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(ITEMS)));
	MUST(sycl_handler_submit(handler, &second));
	cr_assert(eq(int, sycl_event_wait_for(second, SHORT_NS), SYCL_ERROR_TIMEOUT));
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u64, counters.launches, 0));
	fake_gate_open(4);
	MUST(sycl_event_wait_for(second, LONG_NS));
	MUST(sycl_event_wait_for(first, 0));
	cr_assert(eq(u32, backends_word_of(after), 1));
	cr_assert(eq(u32, backends_word_of(between), 7));
	/* A failure on one backend is the cause on the other. */
	sycl_event failed = NULL, dependent = NULL;
	sycl_kernel fail = fake_kernel(fake, "fail");
	MUST(sycl_handler_begin(fake, &handler));
	MUST(sycl_handler_single_task(handler, fail));
	MUST(sycl_handler_submit(handler, &failed));
	submit_add(after, 1, failed, &dependent);
	cr_assert(eq(int, sycl_event_wait_for(dependent, LONG_NS), SYCL_ERROR_DEPENDENCY_FAILED));
	cr_assert(eq(int, sycl_event_wait_for(failed, 0), SYCL_ERROR_KERNEL));
	MUST(sycl_kernel_release(fail));
	MUST(sycl_event_release(first));
	MUST(sycl_event_release(second));
	MUST(sycl_event_release(failed));
	MUST(sycl_event_release(dependent));
	MUST(sycl_buffer_release(between));
	MUST(sycl_buffer_release(after));
}

Test(client_backends, A27_B9_a_buffer_goes_to_and_fro_in_the_order_of_submission, .init = open_both,
     .fini = close_both)
{
	sycl_buffer buffer = backends_zeros();
	for (uint32_t i = 0; i < 20; i++) {
		sycl_handler handler = NULL;
		submit_add(buffer, 10, NULL, NULL);
		MUST(sycl_handler_begin(fake, &handler));
		MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(ITEMS)));
		MUST(sycl_handler_submit(handler, NULL));
	}
	cr_assert(eq(u32, backends_word_of(buffer), 220));
	MUST(sycl_buffer_release(buffer));
}
