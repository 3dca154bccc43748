/* Order: in-order queues, threads, several queues and devices; and the calls that never wait (B7 -
 * B21, B28, D15, D16). */
#include "library/portable.h"

#include <unistd.h>

TestSuite(model_order, .timeout = 120, .init = portable_begin, .fini = portable_end);

struct rounds {
	sycl_queue queue;
	sycl_kernel kernel;
	sycl_buffer buffer, results;
	int in, out;
	uint32_t count;
};

static void one_word(sycl_queue on, sycl_kernel kernel, sycl_buffer buffer, const uint32_t *value)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	if (value)
		MUST(sycl_handler_set_value(handler, 1, sizeof(*value), value));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(1)));
	MUST(sycl_handler_submit(handler, NULL));
}

/* Comes second: increments the words that the first thread has written, and keeps them. */
static void *second_thread(void *context)
{
	const struct rounds *rounds = context;
	for (uint32_t i = 0; i < rounds->count; i++) {
		char token;
		if (read(rounds->in, &token, 1) != 1)
			return NULL;
		one_word(rounds->queue, rounds->kernel, rounds->buffer, NULL);
		MUST(sycl_queue_copy(rounds->queue, rounds->buffer, 0, rounds->results, i * 4ull, 4,
				     NULL));
		if (write(rounds->out, &token, 1) != 1)
			return NULL;
	}
	return context;
}

/* Two threads with two queues notify each other of submissions by pipes. The order is that of the
 * calls. */
Test(model_order, B10_B7_the_order_of_submit_calls_of_two_threads_is_never_inverted)
{
	enum { ROUNDS = 10000 };
	int there[2], back[2];
	cr_assert(eq(int, pipe(there), 0));
	cr_assert(eq(int, pipe(back), 0));
	sycl_queue second = portable_beside(queue, 0);
	sycl_buffer buffer = words_buffer(platform, 0), results = NULL;
	MUST(sycl_buffer_create(platform, NULL, ROUNDS * 4, SYCL_HOST_NONE, &results));
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	struct rounds rounds = {second,   portable_kernel(second, "increment_u32"),
				buffer,   results,
				there[0], back[1],
				ROUNDS};
	pthread_t thread;
	cr_assert(eq(int, pthread_create(&thread, NULL, second_thread, &rounds), 0));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		char token = 0;
		uint32_t value = 2 * i;
		one_word(queue, fill, buffer, &value);
		cr_assert(eq(long, (long)write(there[1], &token, 1), 1));
		cr_assert(eq(long, (long)read(back[0], &token, 1), 1));
	}
	void *all = NULL;
	(void)pthread_join(thread, &all);
	cr_assert(eq(ptr, all, (void *)&rounds));
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(results, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	for (uint32_t i = 0; i < ROUNDS; i++)
		cr_assert(eq(u32, ((const uint32_t *)pointer)[i], 2 * i + 1), "round %u", i);
	MUST(sycl_host_accessor_release(accessor));
	for (int i = 0; i < 2; i++) {
		(void)close(there[i]);
		(void)close(back[i]);
	}
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(rounds.kernel));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(results));
	MUST(sycl_queue_release(second));
}

Test(model_order, B28_an_in_order_queue_is_first_in_first_out)
{
	sycl_platform helped = portable_open(1);
	sycl_queue ordered = portable_queue(helped, 0, SYCL_QUEUE_IN_ORDER),
		   free_one = portable_queue(helped, 0, 0);
	sycl_kernel fill = portable_kernel(ordered, "fill_u32"),
		    fill_free = portable_kernel(free_one, "fill_u32");
	sycl_buffer one = words_buffer(helped, 0), two = words_buffer(helped, 0);
	struct gate gate = GATE_INIT;
	uint32_t in_order = 0;
	MUST(sycl_queue_is_in_order(ordered, &in_order));
	cr_assert(eq(u32, in_order, 1));
	MUST(sycl_queue_is_in_order(free_one, &in_order));
	cr_assert(eq(u32, in_order, 0));
	sycl_event after = NULL, beside = NULL;
	run_task(ordered, gate_task, &gate, NULL, SYCL_ACCESS_READ, NULL, NULL);
	run_fill(ordered, fill, one, 1, &after); /* shares nothing with it */
	gate_await(&gate, 1);
	run_task(free_one, gate_task, &gate, NULL, SYCL_ACCESS_READ, NULL, NULL);
	run_fill(free_one, fill_free, two, 2, &beside);
	MUST(sycl_event_wait_for(beside, LONG_NS));
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	MUST(sycl_event_get_status(after, &status));
	cr_assert(eq(int, (int)status, SYCL_COMMAND_SUBMITTED));
	gate_open(&gate);
	MUST(sycl_event_wait_for(after, LONG_NS));
	MUST(sycl_queue_wait_for(free_one, LONG_NS));
	cr_assert(words_are(one, 1));
	cr_assert(words_are(two, 2));
	MUST(sycl_event_release(after));
	MUST(sycl_event_release(beside));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(fill_free));
	MUST(sycl_buffer_release(one));
	MUST(sycl_buffer_release(two));
	MUST(sycl_queue_release(ordered));
	MUST(sycl_queue_release(free_one));
	MUST(sycl_platform_release(helped));
}

Test(model_order, B21_B19_waiting_for_a_queue_waits_for_what_it_needs_elsewhere)
{
	sycl_platform helped = portable_open(1);
	sycl_queue first = portable_queue(helped, 0, 0), second = portable_queue(helped, 1, 0);
	sycl_kernel increment = portable_kernel(second, "increment_u32");
	sycl_buffer buffer = words_buffer(helped, 0);
	struct gate gate = GATE_INIT;
	sycl_event gate_event = NULL;
	run_task(first, gate_task, &gate, NULL, SYCL_ACCESS_READ, NULL, &gate_event);
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(second, &handler));
	MUST(sycl_handler_depends_on(handler, gate_event));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	gate_await(&gate, 1);
	REFUSED(sycl_queue_wait_for(second, SHORT_NS), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	MUST(sycl_queue_wait_for(second, LONG_NS));
	MUST(sycl_event_wait_for(gate_event, 0)); /* its dependency is over as well */
	cr_assert(words_are(buffer, 1));
	MUST(sycl_event_release(gate_event));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(first));
	MUST(sycl_queue_release(second));
	MUST(sycl_platform_release(helped));
}

Test(model_order, B7_B9_three_queues_and_devices_keep_the_order_of_submission)
{
	sycl_queue queues[3];
	sycl_kernel increments[3];
	for (uint32_t i = 0; i < 3; i++) {
		queues[i] = portable_queue(platform, i, i == 1 ? SYCL_QUEUE_IN_ORDER : 0);
		increments[i] = portable_kernel(queues[i], i == 1 ? "increment_u32" : "fill_u32");
	}
	sycl_buffer buffer = words_buffer(platform, 0);
	for (uint32_t round = 0; round < 30; round++) {
		run_fill(queues[0], increments[0], buffer, round, NULL);
		run_increment(queues[1], increments[1], buffer, NULL);
		if (round == 29)
			break;
		run_fill(queues[2], increments[2], buffer, 1000, NULL);
	}
	cr_assert(words_are(buffer, 30));
	for (uint32_t i = 0; i < 3; i++) {
		MUST(sycl_kernel_release(increments[i]));
		MUST(sycl_queue_release(queues[i]));
	}
	MUST(sycl_buffer_release(buffer));
}

Test(model_order, B16_B17_a_thousand_submissions_return_behind_a_gate)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, 0);
	sycl_kernel increment = portable_kernel(on, "increment_u32");
	sycl_buffer buffer = words_buffer(helped, 0);
	struct gate gate = GATE_INIT;
	run_task(on, gate_task, &gate, buffer, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	sycl_event last = NULL;
	for (int i = 0; i < 1000; i++)
		run_increment(on, increment, buffer, i == 999 ? &last : NULL);
	REFUSED(sycl_event_wait_for(last, 0), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	MUST(sycl_event_wait_for(last, LONG_NS));
	cr_assert(words_are(buffer, 1000));
	MUST(sycl_event_release(last));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

/* Everything is released while a gate holds the work. The releases return, and the work is done all
 * the same. */
Test(model_order, D15_D16_N2_B32_released_behind_a_gate_the_work_completes)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, SYCL_QUEUE_ENABLE_PROFILING);
	sycl_context context = NULL;
	MUST(sycl_queue_get_context(on, &context));
	sycl_kernel fill = portable_kernel(on, "fill_u32"), copy = portable_kernel(on, "copy_u32");
	sycl_buffer between = words_buffer(helped, 0), kept = words_buffer(helped, 0);
	struct gate gate = GATE_INIT;
	run_task(on, gate_task, &gate, between, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	run_fill(on, fill, between, 77, NULL);
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, kept, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_accessor(handler, 1, between, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, &event));
	gate_await(&gate, 1);
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(copy));
	MUST(sycl_buffer_release(between));
	MUST(sycl_context_release(context));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
	REFUSED(sycl_event_wait_for(event, 0), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	MUST(sycl_event_wait_for(event, LONG_NS));
	uint64_t end = 0;
	MUST(sycl_event_get_profiling(event, SYCL_PROFILING_END, &end));
	cr_assert(gt(u64, end, 0));
	cr_assert(words_are(kept, 77));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(kept));
}

/* This is the basis of host accessors and of D1 to D4: an access does not wait for unrelated
 * groups. */
Test(model_order, B8_D2_what_shares_nothing_is_not_waited_for)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, 0);
	sycl_kernel fill = portable_kernel(on, "fill_u32");
	sycl_buffer gated = words_buffer(helped, 0), other = words_buffer(helped, 0);
	struct gate gate = GATE_INIT;
	run_task(on, gate_task, &gate, gated, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	run_fill(on, fill, other, 3, NULL);
	cr_assert(words_are(other, 3));
	sycl_host_accessor accessor = NULL;
	REFUSED(sycl_host_accessor_create_for(gated, SYCL_ACCESS_READ, SHORT_NS, &accessor),
		SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	MUST(sycl_host_accessor_create(gated, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_buffer_release(gated));
	MUST(sycl_buffer_release(other));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}
