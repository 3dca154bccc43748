/* Errors that are found after submission, and builds that fail. */
#include "library/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(client_errors_late, .timeout = 60, .init = with_service, .fini = without_service);

static sycl_event submit_fail(sycl_queue on, sycl_kernel fail, sycl_buffer buffer, bool with_event)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	if (buffer)
		MUST(sycl_handler_require(handler, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_single_task(handler, fail));
	MUST(sycl_handler_submit(handler, with_event ? &event : NULL));
	return event;
}

Test(client_errors_late, M1_M4_M5_a_fault_is_told_by_the_next_wait_and_by_nothing_else)
{
	sycl_kernel fail = fake_kernel(queue, "fail");
	sycl_event event = submit_fail(queue, fail, NULL, true);
	cr_assert(eq(int, sycl_event_wait(event), SYCL_ERROR_KERNEL));
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	MUST(sycl_get_last_error(&detail));
	cr_assert(eq(int, detail.result, SYCL_ERROR_KERNEL));
	cr_assert(ne(chr, detail.text[0], 0));
	cr_assert(ne(u64, detail.object, 0));
	cr_assert(eq(int, sycl_event_wait(event), SYCL_ERROR_KERNEL), "an event's error stays");
	MUST(sycl_queue_wait(queue)); /* it was reported */
	(void)submit_fail(queue, fail, NULL, false);
	/* Unrelated calls report nothing of it. */
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, NULL, 64, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(queue, buffer, 0, 64, "x", 1, NULL));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(int, sycl_queue_wait(queue), SYCL_ERROR_KERNEL));
	MUST(sycl_queue_wait(queue)); /* once */
	MUST(sycl_event_release(event));
	MUST(sycl_kernel_release(fail));
}

struct seen {
	uint32_t calls, errors;
	uint64_t groups[8];
};

static void errors_late_count_error(uint32_t count, const struct sycl_async_error *errors,
				    void *user_data)
{
	struct seen *seen = user_data;
	seen->calls++;
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(eq(int, errors[i].result, SYCL_ERROR_KERNEL));
		cr_assert(ne(chr, errors[i].text[0], 0));
		if (seen->errors < 8)
			seen->groups[seen->errors++] = errors[i].group;
	}
	MUST(sycl_platform_retain(platform)); /* the library may be called from here */
	MUST(sycl_platform_release(platform));
}

Test(client_errors_late, M2_M3_all_errors_in_one_call_and_once)
{
	sycl_kernel fail = fake_kernel(queue, "fail"), noop = fake_kernel(queue, "noop");
	sycl_queue in_order = fake_queue(platform, 0);
	struct seen seen = {0};
	MUST(sycl_queue_throw_asynchronous(in_order, errors_late_count_error, &seen));
	cr_assert(eq(u32, seen.calls, 0));
	sycl_event last = NULL;
	for (int i = 0; i < 3; i++) {
		(void)submit_fail(in_order, fail, NULL, false);
		(void)submit_fail(in_order, noop, NULL, false);
	}
	MUST(sycl_queue_barrier(in_order, &last));
	MUST(sycl_event_wait_for(last,
				 LONG_NS)); /* it only waits: their failures are not its own */
	MUST(sycl_queue_throw_asynchronous(in_order, errors_late_count_error, &seen));
	cr_assert(eq(u32, seen.calls, 1));
	cr_assert(eq(u32, seen.errors, 3));
	cr_assert(eq(u64, seen.groups[0], 1));
	cr_assert(eq(u64, seen.groups[1], 3));
	cr_assert(eq(u64, seen.groups[2], 5));
	MUST(sycl_queue_throw_asynchronous(in_order, errors_late_count_error, &seen));
	cr_assert(eq(u32, seen.calls, 1));
	MUST(sycl_queue_wait(in_order));
	MUST(sycl_queue_throw_asynchronous(in_order, NULL,
					   NULL)); /* without a handler: nothing is left */
	MUST(sycl_event_release(last));
	MUST(sycl_queue_release(in_order));
	MUST(sycl_kernel_release(fail));
	MUST(sycl_kernel_release(noop));
}

Test(client_errors_late, M9_what_depends_on_a_failure_fails_with_its_cause)
{
	static uint32_t host[N];
	sycl_kernel fail = fake_kernel(queue, "fail"), fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, host, BYTES, SYCL_HOST_BORROWED, &buffer));
	sycl_event first = submit_fail(queue, fail, buffer, true), second = NULL, third = NULL;
	submit_fill(queue, fill, buffer, 1, N, &second);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_depends_on(handler, second));
	MUST(sycl_handler_submit(handler, &third));
	cr_assert(eq(int, sycl_event_wait_for(third, LONG_NS), SYCL_ERROR_DEPENDENCY_FAILED));
	cr_assert(eq(int, sycl_event_wait_for(second, LONG_NS), SYCL_ERROR_DEPENDENCY_FAILED));
	cr_assert(eq(int, sycl_event_wait_for(first, LONG_NS), SYCL_ERROR_KERNEL));
	/* There are no contents to write back: the release reports that, and releases. */
	cr_assert(ne(int, sycl_buffer_release(buffer), SYCL_SUCCESS));
	cr_assert(all_are(host, 0));
	uint64_t size = 0;
	cr_assert(eq(int, sycl_buffer_get_size(buffer, &size), SYCL_ERROR_INVALID_HANDLE));
	MUST(sycl_event_release(first));
	MUST(sycl_event_release(second));
	MUST(sycl_event_release(third));
	MUST(sycl_kernel_release(fail));
	MUST(sycl_kernel_release(fill));
}

Test(client_errors_late, M9_in_order_queues_tell_failures_exactly)
{
	sycl_queue in_order = fake_queue(platform, SYCL_QUEUE_IN_ORDER);
	sycl_kernel fail = fake_kernel(queue, "fail"), noop = fake_kernel(queue, "noop");
	sycl_event before = submit_fail(in_order, noop, NULL, true),
		   failed = submit_fail(in_order, fail, NULL, true);
	cr_assert(eq(int, sycl_event_wait_for(failed, LONG_NS), SYCL_ERROR_KERNEL));
	cr_assert(eq(int, sycl_event_wait_for(before, LONG_NS), SYCL_SUCCESS),
		  "the queue's slot says only that something failed");
	MUST(sycl_event_release(before));
	MUST(sycl_event_release(failed));
	MUST(sycl_queue_release(in_order));
	MUST(sycl_kernel_release(fail));
	MUST(sycl_kernel_release(noop));
}

Test(client_errors_late, failed_builds_return_their_log)
{
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	cr_assert(eq(int,
		     sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE,
						    "noop\nno_such_thing", NULL, &bundle),
		     SYCL_ERROR_BUILD));
	cr_assert(ne(ptr, strstr(sycl_get_build_log(), "no_such_thing"), NULL));
	cr_assert(eq(ptr, bundle, NULL));
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, "noop", "-x", &bundle));
	cr_assert(eq(str, (char *)sycl_get_build_log(), ""), "the last build has no messages");
	const char *log = NULL;
	MUST(sycl_kernel_bundle_get_log(bundle, &log));
	cr_assert(ne(ptr, (void *)log, NULL));
	cr_assert(ne(int, sycl_kernel_create(bundle, "fill_u32", &kernel), SYCL_SUCCESS));
	cr_assert(eq(int, sycl_kernel_create(bundle, "", &kernel), SYCL_ERROR_INVALID));
	cr_assert(eq(int,
		     sycl_kernel_bundle_from_source(queue, (sycl_source_language)9, "noop", NULL,
						    &bundle),
		     SYCL_ERROR_INVALID));
	cr_assert(
		eq(int,
		   sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, NULL, NULL, &bundle),
		   SYCL_ERROR_INVALID));
	MUST(sycl_kernel_create(bundle, "noop", &kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	char name[16];
	MUST(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_NAME, sizeof(name), name, NULL));
	cr_assert(eq(str, name, "noop"));
	for (int info = SYCL_KERNEL_INFO_NUM_ARGS; info <= SYCL_KERNEL_INFO_COMPILE_WORK_GROUP_SIZE;
	     info++) {
		uint64_t value[3];
		cr_assert(eq(int,
			     sycl_kernel_get_info(kernel, (sycl_kernel_info)info, sizeof(value),
						  value, NULL),
			     0));
	}
	cr_assert(eq(int, sycl_kernel_get_info(kernel, (sycl_kernel_info)99, 0, NULL, NULL),
		     SYCL_ERROR_INVALID));
	MUST(sycl_kernel_release(kernel));
}

Test(client_errors_late, sources_beyond_a_record_travel_in_shared_memory)
{
	enum { LINES = 30000 };
	char *source = malloc(LINES * 5 + 16);
	size_t at = 0;
	for (int i = 0; i < LINES; i++)
		at += (size_t)sprintf(source + at, "noop\n");
	(void)sprintf(source + at, "fill_u32\n");
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, "fill_u32", &kernel));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	free(source);
}

TestSuite(client_limits, .timeout = 60);

Test(client_limits, B16_the_limit_of_groups_in_flight_is_an_error)
{
	struct session_limits limits;
	session_limits_init(&limits);
	limits.groups_in_flight = 16;
	struct client_service small;
	sycl_platform there = NULL;
	client_service_start(&small, &limits);
	MUST(sycl_platform_open(small.endpoint, &there));
	sycl_queue on = fake_queue(there, 0);
	sycl_kernel hold = fake_kernel(on, "hold"), noop = fake_kernel(on, "noop");
	submit_hold(on, hold, 5, NULL, SYCL_ACCESS_READ, NULL);
	sycl_result result = SYCL_SUCCESS;
	for (int i = 0; i < 100 && !result; i++) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(on, &handler));
		MUST(sycl_handler_single_task(handler, noop));
		result = sycl_handler_submit(handler, NULL);
	}
	cr_assert(eq(int, result, SYCL_ERROR_QUOTA));
	fake_gate_open(5);
	(void)sycl_queue_wait_for(on, LONG_NS);
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(noop));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(there));
	client_service_stop(&small);
}
