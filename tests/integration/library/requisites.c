/*
 * The conditions for a group to run, on every kind of device: requisites, the order of accessors,
 * and which group waits for which (B1 - B14, C2, D5).
 */
#include "library/portable.h"

#include <string.h>

TestSuite(model_requisites, .timeout = 120, .init = portable_begin, .fini = portable_end);

static bool is_over(sycl_event event)
{
	sycl_command_status status = SYCL_COMMAND_SUBMITTED;
	MUST(sycl_event_get_status(event, &status));
	return status == SYCL_COMMAND_COMPLETE;
}

Test(model_requisites, B1_a_group_has_one_action)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 4);
	sycl_handler handler = NULL;
	const uint32_t value = 9;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_fill(handler, buffer, 0, WORDS_BYTES, &value, sizeof(value)));
	REFUSED(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_update_host(handler, buffer), SYCL_ERROR_INVALID);
	MUST(sycl_handler_submit(handler, NULL));
	cr_assert(words_are(buffer, value));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}

/* The arguments are exchanged, and one requirement is added, before or after. */
Test(model_requisites, B14_C2_the_order_of_accessors_means_nothing)
{
	sycl_kernel copy = portable_kernel(queue, "copy_u32");
	for (uint32_t way = 0; way < 4; way++) {
		sycl_buffer from = words_buffer(platform, 7 + way), to = words_buffer(platform, 1);
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		if (way & 2)
			MUST(sycl_handler_require(handler, to, SYCL_ACCESS_READ));
		for (uint32_t i = 0; i < 2; i++) {
			const uint32_t index = way & 1 ? 1 - i : i;
			MUST(sycl_handler_set_accessor(handler, index, index ? from : to,
						       index ? SYCL_ACCESS_READ
							     : SYCL_ACCESS_WRITE));
		}
		if (!(way & 2))
			MUST(sycl_handler_require(handler, to, SYCL_ACCESS_READ));
		MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
		MUST(sycl_handler_submit(handler, NULL));
		cr_assert(words_are(to, 7 + way));
		MUST(sycl_buffer_release(from));
		MUST(sycl_buffer_release(to));
	}
	MUST(sycl_kernel_release(copy));
}

/* A group waits behind two gates, which open in one order and the other. Queries change nothing. */
Test(model_requisites, B3_B4_requisites_are_met_in_any_order_and_asking_changes_nothing)
{
	sycl_platform helped = portable_open(3);
	sycl_queue own = portable_queue(helped, 0, 0);
	sycl_kernel increment = portable_kernel(own, "increment_u32");
	for (uint32_t first = 0; first < 2; first++) {
		struct gate gates[2] = {GATE_INIT, GATE_INIT};
		sycl_event doors[2] = {NULL, NULL}, behind = NULL;
		sycl_buffer buffer = words_buffer(helped, 5);
		sycl_handler handler = NULL;
		for (uint32_t i = 0; i < 2; i++)
			run_task(own, gate_task, &gates[i], NULL, SYCL_ACCESS_READ, NULL,
				 &doors[i]);
		MUST(sycl_handler_begin(own, &handler));
		for (uint32_t i = 0; i < 2; i++)
			MUST(sycl_handler_depends_on(handler, doors[i]));
		MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
		MUST(sycl_handler_submit(handler, &behind));
		gate_open(&gates[first]);
		MUST(sycl_event_wait_for(doors[first], LONG_NS));
		for (uint32_t i = 0; i < 1000; i++)
			cr_assert(eq(int, is_over(behind), false));
		REFUSED(sycl_event_wait_for(behind, SHORT_NS), SYCL_ERROR_TIMEOUT);
		gate_open(&gates[1 - first]);
		MUST(sycl_event_wait_for(behind, LONG_NS));
		cr_assert(words_are(buffer, 6));
		MUST(sycl_event_release(behind));
		MUST(sycl_event_release(doors[0]));
		MUST(sycl_event_release(doors[1]));
		MUST(sycl_buffer_release(buffer));
	}
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(own));
	MUST(sycl_platform_release(helped));
}

/*
 * A reader that waits for something else keeps its buffer. A writer that was submitted later, to
 * another queue, does not run before it, even if it is ready.
 */
Test(model_requisites, B5_B6_what_is_needed_stays_until_the_group_has_run)
{
	sycl_platform helped = portable_open(2);
	sycl_queue first = portable_queue(helped, 0, 0), second = portable_queue(helped, 1, 0);
	sycl_kernel copy = portable_kernel(first, "copy_u32"),
		    fill = portable_kernel(second, "fill_u32");
	sycl_buffer from = words_buffer(helped, 3), to = words_buffer(helped, 0);
	struct gate gate = GATE_INIT;
	sycl_event door = NULL, written = NULL;
	sycl_handler handler = NULL;
	run_task(first, gate_task, &gate, NULL, SYCL_ACCESS_READ, NULL, &door);
	MUST(sycl_handler_begin(first, &handler));
	MUST(sycl_handler_depends_on(handler, door));
	MUST(sycl_handler_set_accessor(handler, 0, to, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_accessor(handler, 1, from, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	run_fill(second, fill, from, 8, &written);
	gate_await(&gate, 1);
	REFUSED(sycl_event_wait_for(written, SHORT_NS), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	MUST(sycl_event_wait_for(written, LONG_NS));
	cr_assert(words_are(to, 3));
	cr_assert(words_are(from, 8));
	MUST(sycl_event_release(door));
	MUST(sycl_event_release(written));
	MUST(sycl_buffer_release(from));
	MUST(sycl_buffer_release(to));
	MUST(sycl_kernel_release(copy));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(first));
	MUST(sycl_queue_release(second));
	MUST(sycl_platform_release(helped));
}

/* Each waits until both have come. */
Test(model_requisites, B11_two_readers_run_at_one_time)
{
	sycl_platform helped = portable_open(2);
	sycl_queue own = portable_queue(helped, 0, 0);
	sycl_buffer buffer = words_buffer(helped, 3);
	struct gate gate = GATE_INIT;
	run_task(own, gate_task, &gate, buffer, SYCL_ACCESS_READ, NULL, NULL);
	run_task(own, gate_task, &gate, buffer, SYCL_ACCESS_READ, NULL, NULL);
	gate_await(&gate, 2);
	gate_open(&gate);
	MUST(sycl_queue_wait(own));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(own));
	MUST(sycl_platform_release(helped));
}

/* A host accessor's pointer is valid wherever it points. Data at the pointer are written when the
 * buffer ends. */
Test(model_requisites, D5_the_pointer_need_not_be_the_one_given_at_creation)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	uint32_t words[WORDS] = {0};
	sycl_buffer buffer = NULL;
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_BORROWED, &buffer));
	run_increment(queue, increment, buffer, NULL);
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ_WRITE, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	for (int i = 0; i < WORDS; i++)
		cr_assert(eq(u32, ((uint32_t *)pointer)[i], 1));
	memset(pointer, 0, sizeof(words));
	((uint32_t *)pointer)[WORDS - 1] = 40;
	MUST(sycl_host_accessor_release(accessor));
	run_increment(queue, increment, buffer, NULL);
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, words[0], 1));
	cr_assert(eq(u32, words[WORDS - 1], 41));
	MUST(sycl_kernel_release(increment));
}
