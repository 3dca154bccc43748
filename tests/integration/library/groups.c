/* Command groups: order, events, ranges, arguments. */
#include "library/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

TestSuite(client_groups, .timeout = 60, .init = with_service, .fini = without_service);

static sycl_buffer plain_buffer(void)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &buffer));
	return buffer;
}

/* The first word, read on the host. */
static uint32_t library_groups_word_of(sycl_buffer buffer)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	uint32_t word = *(const uint32_t *)pointer;
	MUST(sycl_host_accessor_release(accessor));
	return word;
}

Test(client_groups, B16_B18_submitting_never_waits_and_waiting_does)
{
	sycl_kernel hold = fake_kernel(queue, "hold"), fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = plain_buffer();
	sycl_event first = NULL, last = NULL;
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, &first);
	for (uint32_t i = 0; i < 5000; i++)
		submit_fill(queue, fill, buffer, i, N, i == 4999 ? &last : NULL);
	cr_assert(eq(int, sycl_event_wait_for(last, 0), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(int, sycl_event_wait_for(first, SHORT_NS), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(int, sycl_queue_wait_for(queue, SHORT_NS), SYCL_ERROR_TIMEOUT));
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	MUST(sycl_event_get_status(last, &status));
	cr_assert(eq(int, (int)status, SYCL_COMMAND_SUBMITTED));
	fake_gate_open(0);
	MUST(sycl_event_wait_for(last, LONG_NS));
	MUST(sycl_event_get_status(last, &status));
	cr_assert(eq(int, (int)status, SYCL_COMMAND_COMPLETE));
	MUST(sycl_queue_wait(queue));
	cr_assert(eq(u32, library_groups_word_of(buffer), 4999));
	MUST(sycl_event_release(first));
	MUST(sycl_event_release(last));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(fill));
}

Test(client_groups, a_default_queue_has_the_properties_of_the_call)
{
	sycl_queue made = NULL;
	sycl_event event = NULL;
	uint32_t in_order = 2;
	uint64_t ns = 0;
	MUST(sycl_queue_create_default_with(
		platform, SYCL_QUEUE_IN_ORDER | SYCL_QUEUE_ENABLE_PROFILING, &made));
	MUST(sycl_queue_is_in_order(made, &in_order));
	cr_assert(eq(u32, in_order, 1));
	MUST(sycl_queue_barrier(made, &event));
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_get_profiling(event, SYCL_PROFILING_END, &ns));
	MUST(sycl_event_release(event));
	MUST(sycl_queue_release(made));
	MUST(sycl_queue_create_default_with(platform, 0, &made));
	MUST(sycl_queue_is_in_order(made, &in_order));
	cr_assert(eq(u32, in_order, 0));
	MUST(sycl_queue_barrier(made, &event));
	MUST(sycl_event_wait_for(event, LONG_NS));
	cr_assert(eq(int, sycl_event_get_profiling(event, SYCL_PROFILING_END, &ns),
		     SYCL_ERROR_INVALID));
	MUST(sycl_event_release(event));
	MUST(sycl_queue_release(made));
	made = NULL;
	cr_assert(eq(int, sycl_queue_create_default_with(platform, 1u << 31, &made),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_queue_create_default_with(platform, 0, NULL), SYCL_ERROR_INVALID));
	cr_assert(eq(ptr, made, NULL));
}

Test(client_groups, a_launch_is_one_line)
{
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = plain_buffer();
	uint32_t value = 31;
	sycl_event done = NULL;
	MUST(SYCL_LAUNCH(queue, fill, sycl_range1(N), &done, SYCL_WRITE(buffer),
			 SYCL_VALUE(value)));
	value = 0; /* the launch has copied it */
	MUST(sycl_event_wait_for(done, LONG_NS));
	MUST(sycl_event_release(done));
	cr_assert(eq(u32, library_groups_word_of(buffer), 31));
	value = 32;
	MUST(SYCL_LAUNCH_ND(queue, fill, sycl_range1(N), sycl_range1(10), NULL,
			    SYCL_READ_WRITE(buffer), SYCL_VALUE(value)));
	cr_assert(eq(u32, library_groups_word_of(buffer), 32));
	cr_assert(eq(int, SYCL_LAUNCH(queue, fill, sycl_range1(N), NULL, SYCL_WRITE(buffer)),
		     SYCL_ERROR_KERNEL_ARGUMENT));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

Test(client_groups, B28_in_order_and_out_of_order)
{
	sycl_queue in_order = fake_queue(platform, SYCL_QUEUE_IN_ORDER);
	sycl_kernel hold = fake_kernel(queue, "hold"), fill = fake_kernel(queue, "fill_u32");
	sycl_buffer one = plain_buffer(), two = plain_buffer();
	sycl_event after = NULL, beside = NULL;
	submit_hold(in_order, hold, 0, NULL, SYCL_ACCESS_READ, NULL);
	submit_fill(in_order, fill, one, 1, N, &after);
	submit_hold(queue, hold, 1, NULL, SYCL_ACCESS_READ, NULL);
	submit_fill(queue, fill, two, 2, N, &beside);
	MUST(sycl_event_wait_for(beside, LONG_NS));
	cr_assert(eq(int, sycl_event_wait_for(after, SHORT_NS), SYCL_ERROR_TIMEOUT));
	fake_gate_open(0);
	MUST(sycl_event_wait_for(after, LONG_NS));
	fake_gate_open(1);
	MUST(sycl_event_release(after));
	MUST(sycl_event_release(beside));
	MUST(sycl_buffer_release(one));
	MUST(sycl_buffer_release(two));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(in_order));
}

Test(client_groups, B19_B21_depends_on_orders_across_queues)
{
	sycl_queue other = fake_queue(platform, 0);
	sycl_kernel hold = fake_kernel(queue, "hold"), noop = fake_kernel(queue, "noop");
	sycl_event gate = NULL, after = NULL;
	submit_hold(other, hold, 0, NULL, SYCL_ACCESS_READ, &gate);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_depends_on(handler, gate));
	MUST(sycl_handler_depends_on(handler, gate));
	MUST(sycl_handler_single_task(handler, noop));
	MUST(sycl_event_release(gate)); /* the handler has everything that it needs */
	MUST(sycl_handler_submit(handler, &after));
	cr_assert(eq(int, sycl_queue_wait_for(queue, SHORT_NS), SYCL_ERROR_TIMEOUT));
	fake_gate_open(0);
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	MUST(sycl_event_wait_for(after, 0));
	MUST(sycl_event_release(after));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(noop));
	MUST(sycl_queue_release(other));
}

Test(client_groups, B21_a_barrier_waits_for_all_before_and_holds_nobody)
{
	sycl_kernel hold = fake_kernel(queue, "hold"), noop = fake_kernel(queue, "noop");
	sycl_event barrier = NULL, beside = NULL, after = NULL;
	submit_hold(queue, hold, 0, NULL, SYCL_ACCESS_READ, NULL);
	submit_hold(queue, hold, 1, NULL, SYCL_ACCESS_READ, NULL);
	MUST(sycl_queue_barrier(queue, &barrier));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_single_task(handler, noop));
	MUST(sycl_handler_submit(handler, &beside));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_depends_on(handler, barrier));
	MUST(sycl_handler_single_task(handler, noop));
	MUST(sycl_handler_submit(handler, &after));
	MUST(sycl_event_wait_for(beside, LONG_NS));
	fake_gate_open(1);
	cr_assert(eq(int, sycl_event_wait_for(barrier, SHORT_NS), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(int, sycl_event_wait_for(after, 0), SYCL_ERROR_TIMEOUT));
	fake_gate_open(0);
	MUST(sycl_event_wait_for(after, LONG_NS));
	MUST(sycl_event_wait_for(barrier, 0));
	MUST(sycl_event_release(barrier));
	MUST(sycl_event_release(beside));
	MUST(sycl_event_release(after));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(noop));
}

Test(client_groups, B32_D15_D16_events_outlive_the_queue)
{
	sycl_queue brief = fake_queue(platform, SYCL_QUEUE_ENABLE_PROFILING);
	sycl_kernel hold = fake_kernel(queue, "hold"), fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = plain_buffer();
	sycl_event held = NULL, filled = NULL, after = NULL;
	submit_hold(brief, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, &held);
	submit_fill(brief, fill, buffer, 7, N, &filled);
	/* Everything is released while the gate is closed; nothing waits. */
	MUST(sycl_queue_release(brief));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(int, sycl_event_wait_for(filled, SHORT_NS), SYCL_ERROR_TIMEOUT));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_depends_on(handler, filled));
	MUST(sycl_handler_submit(handler, &after));
	fake_gate_open(0);
	MUST(sycl_event_wait_for(after, LONG_NS));
	MUST(sycl_event_wait_for(filled, 0));
	uint64_t start = 0, end = 0;
	MUST(sycl_event_get_profiling(filled, SYCL_PROFILING_START, &start));
	MUST(sycl_event_get_profiling(filled, SYCL_PROFILING_END, &end));
	cr_assert(le(u64, start, end));
	MUST(sycl_event_release(held));
	MUST(sycl_event_release(filled));
	MUST(sycl_event_release(after));
}

Test(client_groups, E21_values_are_captured_when_they_are_set)
{
	sycl_kernel hold = fake_kernel(queue, "hold"), fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = plain_buffer();
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, NULL);
	sycl_handler handler = NULL;
	uint32_t value = 41;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	value = 42;
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(N)));
	MUST(sycl_handler_submit(handler, NULL));
	value = 43;
	fake_gate_open(0);
	cr_assert(eq(u32, library_groups_word_of(buffer), 41));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(fill));
}

Test(client_groups, B22_B23_E5_zero_sizes_run_nothing_and_order)
{
	const sycl_range empty[] = {sycl_range1(0), sycl_range2(4, 0), sycl_range2(0, 4),
				    sycl_range3(4, 4, 0), sycl_range3(8, 0, 8)};
	sycl_kernel hold = fake_kernel(queue, "hold"), fill = fake_kernel(queue, "fill_u32");
	uint32_t value = 9, zero = 0;
	for (uint32_t i = 0; i < 5; i++) {
		sycl_buffer buffer = plain_buffer();
		sycl_event done = NULL;
		MUST(sycl_queue_fill(queue, buffer, 0, BYTES, &zero, sizeof(zero), NULL));
		submit_hold(queue, hold, i, buffer, SYCL_ACCESS_READ_WRITE, NULL);
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
		sycl_range local = empty[i];
		for (int d = 0; d < 3; d++)
			local.size[d] = d; /* 0, and sizes that do not divide the range */
		MUST(i % 2 ? sycl_handler_parallel_for_nd(handler, fill, empty[i], local)
			   : sycl_handler_parallel_for(handler, fill, empty[i]));
		MUST(sycl_handler_submit(handler, &done));
		cr_assert(eq(int, sycl_event_wait_for(done, SHORT_NS), SYCL_ERROR_TIMEOUT),
			  "it waits for what is before it");
		fake_gate_open(i);
		MUST(sycl_event_wait_for(done, LONG_NS));
		cr_assert(eq(u32, library_groups_word_of(buffer), 0));
		uint64_t end = 0;
		MUST(sycl_event_get_profiling(done, SYCL_PROFILING_END, &end));
		MUST(sycl_event_release(done));
		/* Wrong arguments are refused all the same. */
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_parallel_for(handler, fill, empty[i]));
		cr_assert(eq(int, sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT));
		MUST(sycl_buffer_release(buffer));
	}
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(fill));
}

Test(client_groups, E4_E8_ranges_that_do_not_fit_are_refused_at_once)
{
	sycl_kernel noop = fake_kernel(queue, "noop");
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	const struct {
		sycl_range global, local;
	} wrong[] = {
		{sycl_range1(10), sycl_range1(3)},
		{sycl_range1(10), sycl_range1(0)},
		{sycl_range2(8, 9), sycl_range2(4, 2)},
		{sycl_range1(8), sycl_range2(4, 1)},
		{sycl_range1(4096), sycl_range1(2048)},
		{sycl_range2(64, 64), sycl_range2(64, 64)},
		{sycl_range3(1, 1, 8), sycl_range3(2, 1, 8)},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_expect(eq(int,
			     sycl_handler_parallel_for_nd(handler, noop, wrong[i].global,
							  wrong[i].local),
			     SYCL_ERROR_ND_RANGE),
			  "case %zu", i);
	cr_assert(ne(chr, *sycl_get_last_error_text(), 0));
	sycl_range odd = sycl_range1(1);
	odd.dimensions = 4;
	cr_assert(eq(int, sycl_handler_parallel_for(handler, noop, odd), SYCL_ERROR_ND_RANGE));
	odd = sycl_range3(UINT64_MAX / 2, 2, 2);
	cr_assert(eq(int, sycl_handler_parallel_for(handler, noop, odd), SYCL_ERROR_ND_RANGE));
	/* After all of these errors the handler still accepts a correct action. */
	MUST(sycl_handler_parallel_for_nd(handler, noop, sycl_range2(8, 9), sycl_range2(4, 3)));
	cr_assert(eq(int, sycl_handler_single_task(handler, noop), SYCL_ERROR_INVALID), "B1");
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait(queue));
	MUST(sycl_kernel_release(noop));
}

static sycl_result submit_with_offset(sycl_kernel kernel, sycl_buffer buffer, sycl_range global,
				      sycl_range offset)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, global));
	sycl_result result = sycl_handler_set_offset(handler, offset);
	if (result) {
		MUST(sycl_handler_discard(handler));
		return result;
	}
	return sycl_handler_submit(handler, NULL);
}

Test(client_groups, E13_an_offset_arrives_or_is_refused)
{
	sycl_kernel ids = fake_kernel(queue, "linear_id_u32");
	sycl_buffer buffer = plain_buffer();
	sycl_range odd = sycl_range1(1);
	MUST(submit_with_offset(ids, buffer, sycl_range1(4), sycl_range1(70)));
	cr_assert(eq(u32, library_groups_word_of(buffer), 70));
	MUST(submit_with_offset(ids, buffer, sycl_range3(2, 3, 5), sycl_range3(4, 2, 1)));
	cr_assert(eq(u32, library_groups_word_of(buffer), (4 * 3 + 2) * 5 + 1));
	MUST(submit_with_offset(ids, buffer, sycl_range1(4), sycl_range1(0)));
	cr_assert(eq(u32, library_groups_word_of(buffer), 0));
	/* These launches differ only in their values. However they are sent, each runs with its
	 * own. */
	for (uint32_t i = 0; i < 12; i++) {
		MUST(submit_with_offset(ids, buffer, sycl_range1(4), sycl_range1(10 + i / 3)));
		cr_assert(eq(u32, library_groups_word_of(buffer), 10 + i / 3));
	}
	MUST(submit_with_offset(ids, buffer, sycl_range2(4, 0), sycl_range2(UINT64_MAX, 1)));
	MUST(sycl_queue_wait(queue));
	cr_assert(eq(int, submit_with_offset(ids, buffer, sycl_range1(4), sycl_range2(1, 1)),
		     SYCL_ERROR_ND_RANGE));
	cr_assert(eq(int,
		     submit_with_offset(ids, buffer, sycl_range1(4), sycl_range1(UINT64_MAX - 3)),
		     SYCL_ERROR_ND_RANGE));
	odd.dimensions = 4;
	cr_assert(
		eq(int, submit_with_offset(ids, buffer, sycl_range1(4), odd), SYCL_ERROR_ND_RANGE));
	odd = sycl_range1(1);
	odd.reserved = 1;
	cr_assert(
		eq(int, submit_with_offset(ids, buffer, sycl_range1(4), odd), SYCL_ERROR_INVALID));
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_offset(handler, sycl_range1(1)));
	MUST(sycl_handler_update_host(handler, buffer));
	cr_assert(eq(int, sycl_handler_submit(handler, NULL), SYCL_ERROR_ND_RANGE),
		  "no launch at all");
	MUST(sycl_kernel_release(ids));
	MUST(sycl_buffer_release(buffer));
}

/* These properties are permissions. Whatever the service makes of them, the results are those of
 * launches in order. They are refused for groups that are no launch. */
Test(client_groups, R5_a_launch_may_be_said_to_be_splittable_or_to_begin_early)
{
	sycl_result (*const permissions[])(sycl_handler) = {sycl_handler_set_splittable,
							    sycl_handler_set_early_start};
	sycl_kernel ids = fake_kernel(queue, "linear_id_u32");
	sycl_handler handler = NULL;
	for (size_t p = 0; p < sizeof(permissions) / sizeof(*permissions); p++) {
		sycl_buffer buffer = plain_buffer();
		for (uint32_t i = 0; i < 6; i++) {
			MUST(sycl_handler_begin(queue, &handler));
			MUST(permissions[p](handler));
			MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
			MUST(sycl_handler_set_offset(handler, sycl_range1(i)));
			MUST(sycl_handler_parallel_for(handler, ids, sycl_range1(i == 5 ? 0 : 4)));
			MUST(sycl_handler_submit(handler, NULL));
			cr_assert(eq(u32, library_groups_word_of(buffer), i == 5 ? 4 : i));
		}
		MUST(sycl_handler_begin(queue, &handler));
		MUST(permissions[p](handler));
		MUST(sycl_handler_update_host(handler, buffer));
		cr_assert(eq(int, sycl_handler_submit(handler, NULL), SYCL_ERROR_INVALID),
			  "no launch at all");
		MUST(sycl_buffer_release(buffer));
	}
	MUST(sycl_kernel_release(ids));
}

Test(client_groups, B1_one_action_for_each_group)
{
	sycl_kernel noop = fake_kernel(queue, "noop");
	sycl_buffer buffer = plain_buffer();
	sycl_handler handler = NULL;
	uint32_t value = 1;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_fill(handler, buffer, 0, BYTES, &value, sizeof(value)));
	cr_assert(eq(int, sycl_handler_parallel_for(handler, noop, sycl_range1(1)),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_handler_copy(handler, buffer, 0, buffer, 8, 8), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_handler_fill(handler, buffer, 0, BYTES, &value, sizeof(value)),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_handler_update_host(handler, buffer), SYCL_ERROR_INVALID));
	MUST(sycl_handler_submit(handler, NULL));
	cr_assert(eq(int, sycl_handler_submit(handler, NULL), SYCL_ERROR_INVALID_HANDLE),
		  "it has ended");
	cr_assert(eq(u32, library_groups_word_of(buffer), 1));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(noop));
}

static sycl_result with_arguments(sycl_kernel kernel, sycl_buffer buffer, uint32_t accessors,
				  uint32_t values, size_t value_bytes)
{
	static const uint8_t zeros[2048];
	sycl_handler handler = NULL;
	sycl_result result = SYCL_SUCCESS;
	MUST(sycl_handler_begin(queue, &handler));
	uint32_t index = 0;
	for (uint32_t i = 0; i < accessors; i++)
		MUST(sycl_handler_set_accessor(handler, index++, buffer, SYCL_ACCESS_READ_WRITE));
	for (uint32_t i = 0; i < values && !result; i++)
		result = sycl_handler_set_value(handler, index++, value_bytes, zeros);
	if (result) {
		MUST(sycl_handler_discard(handler));
		return result;
	}
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(N)));
	return sycl_handler_submit(handler, NULL);
}

Test(client_groups, E14_E22_arguments_must_be_the_kernels)
{
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = plain_buffer();
	MUST(with_arguments(fill, buffer, 1, 1, 4));
	cr_assert(eq(int, with_arguments(fill, buffer, 1, 0, 4), SYCL_ERROR_KERNEL_ARGUMENT));
	cr_assert(eq(int, with_arguments(fill, buffer, 1, 2, 4), SYCL_ERROR_KERNEL_ARGUMENT));
	cr_assert(eq(int, with_arguments(fill, buffer, 2, 0, 4), SYCL_ERROR_KERNEL_ARGUMENT));
	cr_assert(eq(int, with_arguments(fill, buffer, 1, 1, 8), SYCL_ERROR_KERNEL_ARGUMENT));
	cr_assert(eq(int, with_arguments(fill, buffer, 1, 1, 1025), SYCL_ERROR_KERNEL_ARGUMENT),
		  "the device takes 1024");
	sycl_handler handler = NULL;
	uint32_t value = 0;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 2, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(N)));
	cr_assert(eq(int, sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT),
		  "argument 1 is missing");
	MUST(sycl_queue_wait(queue));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

Test(client_groups, E7_local_memory_needs_work_groups)
{
	sycl_kernel noop = fake_kernel(queue, "noop");
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	cr_assert(eq(int, sycl_handler_set_local(handler, 0, 0), SYCL_ERROR_KERNEL_ARGUMENT));
	cr_assert(eq(int, sycl_handler_set_local(handler, 0, 1ull << 40),
		     SYCL_ERROR_MEMORY_ALLOCATION));
	MUST(sycl_handler_set_local(handler, 0, 64));
	MUST(sycl_handler_parallel_for(handler, noop, sycl_range1(8)));
	cr_assert(eq(int, sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT));
	MUST(sycl_kernel_release(noop));
}

Test(client_groups, C1_B13_B14_modes_of_one_buffer_are_united)
{
	sycl_kernel hold = fake_kernel(queue, "hold"), copy = fake_kernel(queue, "copy_u32");
	sycl_buffer buffer = plain_buffer();
	uint32_t value = 5;
	MUST(sycl_queue_fill(queue, buffer, 0, BYTES, &value, sizeof(value), NULL));
	/* One argument reads, and another one writes: this is one requirement, read and write, in
	 * either order. */
	for (int order = 0; order < 2; order++) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		if (order == 0)
			MUST(sycl_handler_set_accessor(handler, 0, buffer,
						       SYCL_ACCESS_WRITE_NO_INIT));
		MUST(sycl_handler_set_accessor(handler, 1, buffer, SYCL_ACCESS_READ));
		if (order == 1)
			MUST(sycl_handler_set_accessor(handler, 0, buffer,
						       SYCL_ACCESS_WRITE_NO_INIT));
		MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(N)));
		MUST(sycl_handler_submit(handler, NULL));
		cr_assert(eq(u32, library_groups_word_of(buffer), 5),
			  "the contents were needed, so they were there");
	}
	/* A requirement that no argument uses orders as well. */
	sycl_event after = NULL;
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, NULL);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_require(handler, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_submit(handler, &after));
	cr_assert(eq(int, sycl_event_wait_for(after, SHORT_NS), SYCL_ERROR_TIMEOUT));
	fake_gate_open(0);
	MUST(sycl_event_wait_for(after, LONG_NS));
	MUST(sycl_event_release(after));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(copy));
}

Test(client_groups, copies_and_fills_are_checked_and_exact)
{
	sycl_buffer from = plain_buffer(), to = plain_buffer();
	uint32_t value = 0x01020304, other = 7;
	MUST(sycl_queue_fill(queue, from, 0, BYTES, &value, sizeof(value), NULL));
	MUST(sycl_queue_fill(queue, to, 0, BYTES, &other, sizeof(other), NULL));
	MUST(sycl_queue_copy(queue, from, 0, to, 4, 8, NULL));
	MUST(sycl_queue_copy(queue, to, 4, to, 400, 4, NULL));
	MUST(sycl_queue_copy(queue, from, 3, to, BYTES, 0, NULL));
	MUST(sycl_queue_fill(queue, to, 800, 6, "abc", 3, NULL));
	cr_assert(eq(int, sycl_queue_copy(queue, to, 0, to, 4, 8, NULL), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_queue_copy(queue, from, 1, to, 0, BYTES, NULL), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_queue_copy(queue, from, UINT64_MAX, to, 0, 2, NULL),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_queue_fill(queue, to, 0, 5, "abc", 3, NULL), SYCL_ERROR_INVALID));
	cr_assert(
		eq(int, sycl_queue_fill(queue, to, 0, 129, &value, 129, NULL), SYCL_ERROR_INVALID));
	cr_assert(
		eq(int, sycl_queue_fill(queue, to, BYTES, 4, &value, 4, NULL), SYCL_ERROR_INVALID));
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(to, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	const uint32_t *words = pointer;
	cr_assert(eq(u32, words[0], 7));
	cr_assert(eq(u32, words[1], value));
	cr_assert(eq(u32, words[2], value));
	cr_assert(eq(u32, words[3], 7));
	cr_assert(eq(u32, words[100], value));
	cr_assert(eq(int, memcmp((const char *)pointer + 800, "abcabc", 6), 0));
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_buffer_release(from));
	MUST(sycl_buffer_release(to));
}

Test(client_groups, B17_events_are_counted_and_can_be_declined)
{
	sycl_kernel noop = fake_kernel(queue, "noop");
	sycl_event kept[64];
	for (int round = 0; round < 2000; round++) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_single_task(handler, noop));
		MUST(sycl_handler_submit(handler, round % 3 ? &kept[round % 64] : NULL));
		if (round % 3)
			MUST(sycl_event_release(
				kept[round % 64])); /* before it is complete, usually */
	}
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	struct sycl_usage usage = SYCL_USAGE_INIT;
	MUST(sycl_platform_get_usage(platform, &usage));
	cr_assert(eq(u64, usage.groups_submitted, 2000));
	cr_assert(eq(u64, usage.groups_completed, 2000));
	MUST(sycl_kernel_release(noop));
}

struct waiter {
	pthread_t thread;
	sycl_event event;
	sycl_result result;
};

static void *wait_for_event(void *context)
{
	struct waiter *waiter = context;
	waiter->result = sycl_event_wait_for(waiter->event, LONG_NS);
	return NULL;
}

Test(client_groups, B18_many_threads_wait_for_different_events)
{
	enum { THREADS = 16, ROUNDS = 20 };
	sycl_kernel hold = fake_kernel(queue, "hold");
	for (int round = 0; round < ROUNDS; round++) {
		struct waiter waiters[THREADS];
		for (uint32_t i = 0; i < THREADS; i++) {
			fake_gate_close(i);
			submit_hold(queue, hold, i, NULL, SYCL_ACCESS_READ, &waiters[i].event);
			cr_assert(eq(int,
				     pthread_create(&waiters[i].thread, NULL, wait_for_event,
						    &waiters[i]),
				     0));
		}
		for (uint32_t i = 0; i < THREADS; i++)
			fake_gate_open((i * 7 + (uint32_t)round) % THREADS);
		for (int i = 0; i < THREADS; i++) {
			cr_assert(eq(int, pthread_join(waiters[i].thread, NULL), 0));
			cr_assert(eq(int, waiters[i].result, 0));
			MUST(sycl_event_release(waiters[i].event));
		}
	}
	MUST(sycl_kernel_release(hold));
}

Test(client_groups, wait_all_waits_for_all_together)
{
	sycl_kernel hold = fake_kernel(queue, "hold"), fail = fake_kernel(queue, "fail");
	sycl_event events[4];
	for (uint32_t i = 0; i < 3; i++)
		submit_hold(queue, hold, i, NULL, SYCL_ACCESS_READ, &events[i]);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_single_task(handler, fail));
	MUST(sycl_handler_submit(handler, &events[3]));
	fake_gate_open(0);
	fake_gate_open(2);
	cr_assert(eq(int, sycl_event_wait_all(3, events, SHORT_NS), SYCL_ERROR_TIMEOUT));
	fake_gate_open(1);
	MUST(sycl_event_wait_all(3, events, LONG_NS));
	cr_assert(eq(int, sycl_event_wait_all(4, events, SYCL_FOREVER_NS), SYCL_ERROR_KERNEL));
	cr_assert(eq(int, sycl_event_wait_all(0, NULL, 0), 0));
	cr_assert(eq(int, sycl_event_wait_all(1, NULL, 0), SYCL_ERROR_INVALID));
	for (int i = 0; i < 4; i++)
		MUST(sycl_event_release(events[i]));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(fail));
}

Test(client_groups, H1_H4_H6_times_of_groups)
{
	sycl_queue plain = fake_queue(platform, 0);
	sycl_kernel noop = fake_kernel(queue, "noop");
	sycl_event timed = NULL, untimed = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_single_task(handler, noop));
	MUST(sycl_handler_submit(handler, &timed));
	MUST(sycl_handler_begin(plain, &handler));
	MUST(sycl_handler_single_task(handler, noop));
	MUST(sycl_handler_submit(handler, &untimed));
	uint64_t submit = 0, start = 0, end = 0;
	MUST(sycl_event_get_profiling(timed, SYCL_PROFILING_END, &end));
	MUST(sycl_event_get_profiling(timed, SYCL_PROFILING_START, &start));
	MUST(sycl_event_get_profiling(timed, SYCL_PROFILING_SUBMIT, &submit));
	cr_assert(le(u64, submit, start));
	cr_assert(le(u64, start, end));
	cr_assert(lt(u64, end, 600000000000ull), "since the connection was made");
	cr_assert(eq(int, sycl_event_get_profiling(untimed, SYCL_PROFILING_START, &start),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_event_get_profiling(timed, (sycl_profiling)9, &start),
		     SYCL_ERROR_INVALID));
	MUST(sycl_event_release(timed));
	MUST(sycl_event_release(untimed));
	MUST(sycl_queue_release(plain));
	MUST(sycl_kernel_release(noop));
}

Test(client_groups, H9_status_goes_forward_only)
{
	sycl_kernel hold = fake_kernel(queue, "hold");
	sycl_event event = NULL;
	submit_hold(queue, hold, 0, NULL, SYCL_ACCESS_READ, &event);
	sycl_command_status before = SYCL_COMMAND_SUBMITTED, now = SYCL_COMMAND_SUBMITTED;
	while (now != SYCL_COMMAND_RUNNING) { /* the test's time limit ends it otherwise */
		MUST(sycl_event_get_status(event, &now));
		cr_assert(ge(int, (int)now, (int)before));
		cr_assert(ne(int, (int)now, SYCL_COMMAND_COMPLETE));
		before = now;
	}
	fake_gate_open(0);
	while (now != SYCL_COMMAND_COMPLETE) {
		MUST(sycl_event_get_status(event, &now));
		cr_assert(ge(int, (int)now, (int)before));
		before = now;
	}
	MUST(sycl_event_wait_for(event, 0));
	MUST(sycl_event_release(event));
	MUST(sycl_kernel_release(hold));
}
