/* Command groups that are submitted again and again (B15), and to a second queue (M7). */
#include "library/graph.h"

TestSuite(frozen, .timeout = 120, .init = portable_begin, .fini = portable_end);

static sycl_command_group frozen_increment(sycl_queue on, sycl_kernel increment, sycl_buffer buffer)
{
	sycl_handler handler = NULL;
	sycl_command_group group = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	MUST(sycl_handler_freeze(handler, &group));
	REFUSED(sycl_handler_discard(handler), SYCL_ERROR_INVALID_HANDLE); /* ended */
	return group;
}

Test(frozen, B15_B13_one_group_many_times_on_two_queues_in_the_order_of_its_own_accesses)
{
	sycl_queue second = portable_beside(queue, SYCL_QUEUE_IN_ORDER);
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_command_group group = frozen_increment(queue, increment, buffer);
	sycl_event events[2] = {NULL, NULL};
	for (int i = 0; i < 100; i++) {
		MUST(sycl_queue_submit_group(queue, group, i == 99 ? &events[0] : NULL));
		MUST(sycl_queue_submit_group(second, group, i == 99 ? &events[1] : NULL));
	}
	MUST(sycl_event_wait_all(2, events, LONG_NS));
	cr_assert(words_are(buffer, 200), "they did not run one after the other");
	MUST(sycl_event_release(events[0]));
	MUST(sycl_event_release(events[1]));
	MUST(sycl_command_group_release(group));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(second));
}

Test(frozen, a_handler_goes_to_the_queue_that_the_call_names)
{
	sycl_queue second = portable_beside(queue, SYCL_QUEUE_IN_ORDER);
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_event event = NULL;
	sycl_handler handler = increment_handler(queue, increment, buffer);
	MUST(sycl_queue_submit(queue, handler, &event));
	REFUSED(sycl_handler_discard(handler), SYCL_ERROR_INVALID_HANDLE); /* ended */
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
	MUST(sycl_queue_submit(second, increment_handler(queue, increment, buffer), NULL));
	MUST(sycl_queue_wait_for(second, LONG_NS));
	cr_assert(words_are(buffer, 2), "a wait for the second queue must include the group");
	MUST(sycl_kernel_release(increment));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(second));
}

/* A queue with a context of its own, on the device of another one. */
static sycl_queue queue_of_other_context(sycl_queue beside)
{
	sycl_device device = NULL;
	sycl_context context = NULL;
	sycl_queue made = NULL;
	MUST(sycl_queue_get_device(beside, &device));
	MUST(sycl_context_create(1, &device, &context));
	MUST(sycl_queue_create(context, device, NULL, &made));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
	return made;
}

Test(frozen, a_handler_ends_also_where_its_queue_is_refused)
{
	sycl_queue other = queue_of_other_context(queue), gone = portable_beside(queue, 0);
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 5);
	sycl_event event = NULL;
	sycl_handler handler = increment_handler(queue, increment, buffer);
	REFUSED(sycl_queue_submit(other, handler, &event), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_discard(handler), SYCL_ERROR_INVALID_HANDLE);
	MUST(sycl_queue_release(gone));
	handler = increment_handler(queue, increment, buffer);
	REFUSED(sycl_queue_submit(gone, handler, &event), SYCL_ERROR_INVALID_HANDLE);
	REFUSED(sycl_queue_submit(queue, handler, &event), SYCL_ERROR_INVALID_HANDLE);
	REFUSED(sycl_queue_submit(queue, NULL, &event), SYCL_ERROR_INVALID_HANDLE);
	cr_assert(eq(ptr, event, NULL));
	cr_assert(words_are(buffer, 5), "a group that was refused has run");
	MUST(sycl_kernel_release(increment));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(other));
}

Test(frozen, B15_N1_D16_it_keeps_what_it_needs_and_counts_references)
{
	sycl_queue brief = portable_beside(queue, 0);
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 7);
	sycl_command_group group = frozen_increment(brief, increment, buffer);
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(brief));
	uint32_t count = 0;
	MUST(sycl_command_group_retain(group));
	MUST(sycl_command_group_get_reference_count(group, &count));
	cr_assert(eq(u32, count, 2));
	MUST(sycl_command_group_release(group));
	MUST(sycl_queue_submit_group(queue, group, NULL));
	MUST(sycl_queue_submit_group(queue, group, NULL));
	MUST(sycl_command_group_release(group));
	REFUSED(sycl_queue_submit_group(queue, group, NULL), SYCL_ERROR_INVALID_HANDLE);
	cr_assert(words_are(buffer, 9));
	MUST(sycl_buffer_release(buffer));
}

Test(frozen, B15_E21_values_are_of_the_time_when_they_were_set)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_handler handler = NULL;
	sycl_command_group group = NULL;
	uint32_t value = 11;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(WORDS)));
	MUST(sycl_handler_freeze(handler, &group));
	value = 12;
	MUST(sycl_queue_submit_group(queue, group, NULL));
	cr_assert(words_are(buffer, 11));
	run_fill(queue, fill, buffer, 13, NULL);
	MUST(sycl_queue_submit_group(queue, group, NULL));
	cr_assert(words_are(buffer, 11));
	MUST(sycl_command_group_release(group));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

static void frozen_count_end(void *user_data)
{
	*(uint32_t *)user_data += 1000;
}

static sycl_result frozen_count_call(sycl_host_task task, void *user_data)
{
	(void)task;
	*(uint32_t *)user_data += 1;
	return SYCL_SUCCESS;
}

Test(frozen, B15_K1_a_host_task_is_called_for_each_submission_and_its_data_ends_once)
{
	sycl_queue in_order = portable_beside(queue, SYCL_QUEUE_IN_ORDER);
	uint32_t count = 0;
	sycl_handler handler = NULL;
	sycl_command_group group = NULL;
	MUST(sycl_handler_begin(in_order, &handler));
	MUST(sycl_handler_host_task(handler, frozen_count_call, &count, frozen_count_end));
	MUST(sycl_handler_freeze(handler, &group));
	for (int i = 0; i < 25; i++)
		MUST(sycl_queue_submit_group(in_order, group, NULL));
	MUST(sycl_queue_wait(in_order));
	cr_assert(eq(u32, count, 25));
	MUST(sycl_queue_submit_group(in_order, group, NULL));
	MUST(sycl_command_group_release(
		group)); /* one launch has not ended: it has everything that it needs */
	cr_assert(eq(u32, count, 25));
	MUST(sycl_queue_wait(in_order));
	cr_assert(eq(u32, count, 1026));
	MUST(sycl_queue_release(in_order));
}

Test(frozen, B15_what_does_not_fit_is_refused)
{
	sycl_queue elsewhere = portable_queue(platform, 1, 0);
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_command_group group = frozen_increment(queue, increment, buffer);
	sycl_context contexts[2] = {NULL, NULL};
	MUST(sycl_queue_get_context(queue, &contexts[0]));
	MUST(sycl_queue_get_context(elsewhere, &contexts[1]));
	if (contexts[0] != contexts[1])
		REFUSED(sycl_queue_submit_group(elsewhere, group, NULL), SYCL_ERROR_INVALID);
	/* A group whose arguments are wrong is not frozen at all. */
	sycl_handler handler = NULL;
	sycl_command_group none = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	REFUSED(sycl_handler_freeze(handler, &none), SYCL_ERROR_KERNEL_ARGUMENT);
	REFUSED(sycl_handler_discard(handler), SYCL_ERROR_INVALID_HANDLE);
	cr_assert(eq(ptr, none, NULL));
	MUST(sycl_queue_submit_group(queue, group, NULL));
	cr_assert(words_are(buffer, 1));
	MUST(sycl_context_release(contexts[0]));
	MUST(sycl_context_release(contexts[1]));
	MUST(sycl_command_group_release(group));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(elsewhere));
}

/* Where there are two devices, a context has both. The frozen group, which has no kernel, is sent
 * to both. */
Test(frozen, B15_one_group_on_the_devices_of_its_context)
{
	sycl_device devices[2] = {portable_device(platform, 0), portable_device(platform, 1)};
	uint32_t count = devices[0] == devices[1] ? 1 : 2;
	sycl_context context = NULL;
	sycl_queue queues[2] = {NULL, NULL};
	MUST(sycl_context_create(count, devices, &context));
	for (int i = 0; i < 2; i++)
		MUST(sycl_queue_create(context, devices[i], NULL, &queues[i]));
	uint32_t words[WORDS] = {5, 6};
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_CONST, &buffer));
	sycl_handler handler = NULL;
	sycl_command_group group = NULL;
	MUST(sycl_handler_begin(queues[0], &handler));
	MUST(sycl_handler_copy(handler, buffer, 0, buffer, 8, 8));
	MUST(sycl_handler_freeze(handler, &group));
	MUST(sycl_queue_submit_group(queues[0], group, NULL));
	MUST(sycl_queue_fill(queues[1], buffer, 0, 4, "\7\0\0", 4, NULL));
	MUST(sycl_queue_submit_group(queues[1], group, NULL));
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	const uint32_t *there = pointer;
	cr_assert(eq(u32, there[0], 7));
	cr_assert(eq(u32, there[1], 6));
	cr_assert(eq(u32, there[2], 7));
	cr_assert(eq(u32, there[3], 6));
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_command_group_release(group));
	MUST(sycl_buffer_release(buffer));
	for (int i = 0; i < 2; i++) {
		MUST(sycl_queue_release(queues[i]));
		MUST(sycl_device_release(devices[i]));
	}
	MUST(sycl_context_release(context));
}

/* A bundle for both devices of a context, where there are two. */
static sycl_kernel kernel_for_all(sycl_context context, uint32_t count, const sycl_device *devices,
				  const char *name)
{
	const char *source = portable_engine_source();
	sycl_kernel_bundle input = NULL, bundle = NULL;
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_bundle_create_input(context, count, devices, SYCL_SOURCE_PORTABLE, source,
					     0, &input));
	MUST(sycl_kernel_bundle_build(input, NULL, &bundle));
	MUST(sycl_kernel_create(bundle, name, &kernel));
	MUST(sycl_kernel_bundle_release(input));
	MUST(sycl_kernel_bundle_release(bundle));
	return kernel;
}

Test(frozen, B15_a_kernel_goes_to_each_device_that_its_bundle_was_built_for)
{
	sycl_device devices[2] = {portable_device(platform, 0), portable_device(platform, 1)};
	uint32_t count = devices[0] == devices[1] ? 1 : 2;
	sycl_context context = NULL;
	sycl_queue queues[2] = {NULL, NULL};
	MUST(sycl_context_create(count, devices, &context));
	for (int i = 0; i < 2; i++)
		MUST(sycl_queue_create(context, devices[i], NULL, &queues[i]));
	sycl_kernel increment = kernel_for_all(context, count, devices, "increment_u32");
	sycl_kernel narrow = kernel_for_all(context, 1, devices, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_command_group group = frozen_increment(queues[0], increment, buffer);
	MUST(sycl_kernel_release(increment));
	for (int i = 0; i < 10; i++)
		MUST(sycl_queue_submit_group(queues[i % 2], group, NULL));
	cr_assert(words_are(buffer, 10));
	MUST(sycl_command_group_release(group));
	group = frozen_increment(queues[0], narrow, buffer);
	if (count == 2)
		REFUSED(sycl_queue_submit_group(queues[1], group, NULL),
			SYCL_ERROR_KERNEL_NOT_SUPPORTED);
	MUST(sycl_queue_submit_group(queues[0], group, NULL));
	cr_assert(words_are(buffer, 11));
	MUST(sycl_command_group_release(group));
	MUST(sycl_kernel_release(narrow));
	MUST(sycl_buffer_release(buffer));
	for (int i = 0; i < 2; i++) {
		MUST(sycl_queue_release(queues[i]));
		MUST(sycl_device_release(devices[i]));
	}
	MUST(sycl_context_release(context));
}

static void *frozen_submit_many(void *context)
{
	for (int i = 0; i < 200; i++)
		MUST(sycl_queue_submit_group(queue, context, NULL));
	return NULL;
}

Test(frozen, B15_from_several_threads_at_a_time)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_command_group group = frozen_increment(queue, increment, buffer);
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		cr_assert(eq(int, pthread_create(&threads[i], NULL, frozen_submit_many, group), 0));
	for (int i = 0; i < 3; i++)
		(void)pthread_join(threads[i], NULL);
	cr_assert(words_are(buffer, 600));
	MUST(sycl_command_group_release(group));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_buffer_release(buffer));
}

/*
 * The first queue is out of order and cannot make an event when all completion slots are in use.
 * The second one is in order and needs no slot of its own.
 */
Test(frozen, M7_what_the_first_queue_does_not_take_goes_to_the_second)
{
	enum { SLOTS = 65536 };
	static sycl_event events[SLOTS];
	sycl_queue secondary =
		portable_beside(queue, SYCL_QUEUE_IN_ORDER | SYCL_QUEUE_ENABLE_PROFILING);
	sycl_queue primary = portable_beside(queue, 0);
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_event event = NULL;
	uint64_t times[2] = {0, 0};
	sycl_handler handler = NULL;
	uint32_t used = 0;
	/* While there is room the first queue takes the group: this queue keeps no times. */
	MUST(sycl_handler_begin(primary, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	MUST(sycl_handler_submit_with_secondary(handler, secondary, &event));
	REFUSED(sycl_event_get_profiling(event, SYCL_PROFILING_END, &times[0]), SYCL_ERROR_INVALID);
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
	while (used < SLOTS && sycl_queue_barrier(primary, &events[used]) == SYCL_SUCCESS)
		used++;
	cr_assert(lt(u32, used, SLOTS));
	MUST(sycl_handler_begin(primary, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	MUST(sycl_handler_submit_with_secondary(handler, secondary, &event));
	MUST(sycl_event_get_profiling(event, SYCL_PROFILING_START,
				      &times[0])); /* it belongs to the second queue */
	MUST(sycl_event_get_profiling(event, SYCL_PROFILING_END, &times[1]));
	cr_assert(le(u64, times[0], times[1]));
	MUST(sycl_event_release(event));
	/* Neither queue takes it: this call reports the error. */
	MUST(sycl_handler_begin(secondary, &handler));
	REFUSED(sycl_handler_submit_with_secondary(handler, NULL, &event),
		SYCL_ERROR_INVALID_HANDLE);
	REFUSED(sycl_handler_discard(handler), SYCL_ERROR_INVALID_HANDLE);
	MUST(sycl_handler_begin(primary, &handler));
	REFUSED(sycl_handler_submit_with_secondary(handler, queue, &event), SYCL_ERROR_QUOTA);
	REFUSED(sycl_handler_discard(handler), SYCL_ERROR_INVALID_HANDLE);
	for (uint32_t i = 0; i < used; i++)
		MUST(sycl_event_release(events[i]));
	cr_assert(words_are(buffer, 2));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(primary));
	MUST(sycl_queue_release(secondary));
}
