/*
 * Executable graphs that run as a graph of the device's driver: what that costs, and what it
 * supports. Also what happens when things change, fail or are released. The fake devices count the
 * calls.
 */
#include "library/graph.h"

#include "fake_control.h"
#include "status.h"

#include <stdlib.h>

TestSuite(graph_whole, .timeout = 60, .init = portable_begin, .fini = portable_end);

/* Returns the number of submissions since `before`. */
static uint64_t submits(const struct fake_counters *before)
{
	return fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_SUBMIT] - before->calls[FAKE_SUBMIT];
}

static void graph_whole_end_event(sycl_event event)
{
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
}

static sycl_executable_graph graph_whole_make_chain(sycl_kernel increment, sycl_buffer buffer,
						    int nodes, uint32_t flags)
{
	sycl_graph graph = graph_for(queue);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	for (int i = 0; i < nodes; i++)
		run_increment(queue, increment, buffer, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	sycl_executable_graph executable = finalized(graph, flags);
	MUST(sycl_graph_release(graph));
	return executable;
}

Test(graph_whole, TG13_L1_a_launch_is_one_command_whatever_the_number_of_nodes)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_executable_graph executable = graph_whole_make_chain(increment, buffer, 100, 0);
	launch_and_wait(queue, executable); /* the graph is made, and the data are moved */
	struct fake_counters before = fake_counters_of(FAKE_ANY_DEVICE);
	for (int i = 0; i < 10; i++)
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	MUST(sycl_queue_wait(queue));
	cr_assert(eq(u64, submits(&before), 10));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches - before.graph_launches,
		     10));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).launches - before.launches, 1000));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE], 1));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_ADD], 100));
	cr_assert(words_are(buffer, 1100));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}

Test(graph_whole, L9_launches_on_any_queues_are_never_at_one_time_on_two_lanes)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_queue queues[] = {queue, portable_beside(queue, SYCL_QUEUE_IN_ORDER),
			       portable_beside(queue, SYCL_QUEUE_IN_ORDER)};
	sycl_executable_graph executable = graph_whole_make_chain(increment, buffer, 3, 0);
	for (uint32_t i = 0; i < 300; i++)
		MUST(sycl_queue_graph(queues[i % 3], executable, 0, NULL, NULL));
	for (int i = 0; i < 3; i++)
		MUST(sycl_queue_wait(queues[i]));
	cr_assert(words_are(buffer, 900));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_misuses, 0));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 300));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_queue_release(queues[1]));
	MUST(sycl_queue_release(queues[2]));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}

Test(graph_whole, L7_C6_contents_that_the_graph_makes_itself_are_not_brought)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    copy = portable_kernel(queue, "copy_u32");
	sycl_buffer made = words_buffer(platform, 7), result = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	sycl_handler handler = NULL;
	uint32_t value = 5;
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, made, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, result, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_accessor(handler, 1, made, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	launch_and_wait(queue, executable);
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).writes, 0),
		  "what is written anew was brought to the device");
	cr_assert(words_are(result, 5));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(made));
	MUST(sycl_buffer_release(result));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(copy));
}

Test(graph_whole, L13_changes_wait_for_what_is_in_flight_and_need_no_other_graph)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_graph graph = graph_for(queue);
	sycl_graph_node nodes[3];
	for (uint32_t i = 0; i < 3; i++)
		MUST(sycl_graph_add(graph, fill_handler(queue, fill, buffer, 10 + i), 0, NULL,
				    &nodes[i]));
	sycl_executable_graph executable = finalized(graph, SYCL_GRAPH_UPDATABLE);
	launch_and_wait(queue, executable);
	sycl_event first = NULL, last = NULL;
	portable_engine_hold(true);
	MUST(sycl_queue_graph(queue, executable, 0, NULL, &first));
	for (uint32_t round = 0; round < 4; round++) {
		uint32_t value = 20 + round;
		MUST(sycl_graph_node_set_value(graph, nodes[2], 1, sizeof(value), &value));
		MUST(sycl_executable_graph_update(executable, graph, 1, &nodes[2]));
		MUST(sycl_queue_graph(queue, executable, 0, NULL, round == 3 ? &last : NULL));
	}
	portable_engine_hold(false);
	graph_whole_end_event(first);
	graph_whole_end_event(last);
	cr_assert(words_copied_are(queue, buffer, 23));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_misuses, 0),
		  "it was changed while it was in flight");
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE], 1));
	cr_assert(ge(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_UPDATE], 4));
	/* The engine has the result of the change by now and does not make it again. */
	uint64_t updates = fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_UPDATE];
	for (int i = 0; i < 3; i++)
		launch_and_wait(queue, executable);
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_UPDATE], updates));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 9));
	MUST(sycl_graph_release(graph));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

/* Two nodes are independent of each other until they use one buffer. */
Test(graph_whole, L13_B12_another_buffer_brings_the_order_that_it_needs)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer one = words_buffer(platform, 0), other = words_buffer(platform, 0);
	sycl_graph graph = graph_for(queue);
	sycl_graph_node first = 0, second = 0;
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, one, 40), 0, NULL, &first));
	MUST(sycl_graph_add(graph, increment_handler(queue, increment, other), 0, NULL, &second));
	sycl_executable_graph executable = finalized(graph, SYCL_GRAPH_UPDATABLE);
	launch_and_wait(queue, executable);
	MUST(sycl_graph_node_set_accessor(graph, second, 0, one, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_executable_graph_update(executable, graph, 1, &second));
	for (int i = 0; i < 5; i++) {
		launch_and_wait(queue, executable);
		cr_assert(words_copied_are(queue, one, 41)); /* of the nodes that may run, the fake
								device runs the last one first */
	}
	cr_assert(words_copied_are(queue, other, 1));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 6));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE], 2));
	MUST(sycl_graph_release(graph));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(one));
	MUST(sycl_buffer_release(other));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}

Test(graph_whole, what_the_driver_refuses_is_launched_node_by_node)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	cr_assert(zero(int, fake_fail(FAKE_GRAPH_ADD, FAKE_ANY_DEVICE, 4, 1,
				      STATUS_FEATURE_NOT_SUPPORTED, false, "not this one")));
	sycl_executable_graph refused = graph_whole_make_chain(increment, buffer, 10, 0),
			      taken = graph_whole_make_chain(increment, buffer, 10, 0);
	launch_and_wait(queue, refused);
	struct fake_counters before = fake_counters_of(FAKE_ANY_DEVICE);
	launch_and_wait(queue, refused);
	cr_assert(eq(u64, submits(&before), 10));
	launch_and_wait(queue, taken);
	cr_assert(eq(u64, submits(&before), 11));
	cr_assert(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).graphs, 1),
		  "what was half made is left");
	cr_assert(words_are(buffer, 30));
	MUST(sycl_executable_graph_release(refused));
	MUST(sycl_executable_graph_release(taken));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}

Test(graph_whole, L9_M9_a_node_that_fails_fails_the_launch_with_its_cause_and_what_needs_it)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32"),
		    fail = portable_kernel(queue, "fail"),
		    fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_graph graph = graph_for(queue);
	sycl_handler handler = NULL;
	MUST(sycl_graph_add(graph, increment_handler(queue, increment, buffer), 0, NULL, NULL));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_require(handler, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, fail, sycl_range1(1)));
	MUST(sycl_graph_add(graph, handler, 0, NULL, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	sycl_event failed = NULL, dependant = NULL, healed = NULL;
	MUST(sycl_queue_graph(queue, executable, 0, NULL, &failed));
	run_increment(queue, increment, buffer, &dependant);
	REFUSED(sycl_event_wait_for(failed, LONG_NS), SYCL_ERROR_KERNEL);
	REFUSED(sycl_event_wait_for(dependant, LONG_NS), SYCL_ERROR_DEPENDENCY_FAILED);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE_NO_INIT));
	uint32_t value = 3;
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, &healed));
	graph_whole_end_event(healed);
	cr_assert(words_are(buffer, 3));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_FINISH], 1),
		  "it was no graph of the driver's");
	MUST(sycl_event_release(failed));
	MUST(sycl_event_release(dependant));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_kernel_release(fail));
	MUST(sycl_kernel_release(fill));
}

Test(graph_whole, L16_D16_a_graph_that_is_released_ends_behind_its_launches)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0), outlived = words_buffer(platform, 0);
	sycl_event last = NULL;
	sycl_executable_graph executable = graph_whole_make_chain(increment, buffer, 5, 0),
			      brief = graph_whole_make_chain(increment, outlived, 2, 0);
	launch_and_wait(queue, executable);
	portable_engine_hold(true);
	for (int i = 0; i < 4; i++)
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	MUST(sycl_queue_graph(queue, executable, 0, NULL, &last));
	MUST(sycl_executable_graph_release(executable));
	/* This graph was launched, and is released before it can be made. */
	MUST(sycl_queue_graph(queue, brief, 0, NULL, NULL));
	MUST(sycl_executable_graph_release(brief));
	MUST(sycl_buffer_release(outlived));
	MUST(sycl_kernel_release(increment));
	portable_engine_hold(false);
	graph_whole_end_event(last);
	cr_assert(words_are(buffer, 30));
	MUST(sycl_queue_wait(queue));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_misuses, 0));
	MUST(sycl_buffer_release(buffer));
}

/* Between launches the contents are on the host, and on another device. */
Test(graph_whole, contents_come_from_wherever_they_are)
{
	sycl_device other = portable_device(platform, 1);
	sycl_queue beside = NULL;
	MUST(sycl_queue_create(NULL, other, NULL, &beside));
	sycl_kernel increment = portable_kernel(queue, "increment_u32"),
		    there = portable_kernel(beside, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_executable_graph executable = graph_whole_make_chain(increment, buffer, 4, 0);
	for (uint32_t i = 0; i < 20; i++) {
		sycl_host_accessor accessor = NULL;
		void *pointer = NULL;
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
		run_increment(beside, there, buffer, NULL);
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
		MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ_WRITE, &accessor));
		MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
		for (int k = 0; k < WORDS; k++)
			((uint32_t *)pointer)[k]++;
		MUST(sycl_host_accessor_release(accessor));
	}
	cr_assert(words_are(buffer, 200));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 40));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_kernel_release(there));
	MUST(sycl_queue_release(beside));
	MUST(sycl_device_release(other));
}

Test(graph_whole, L15_C12_memory_of_the_program_is_read_at_each_launch)
{
	static uint32_t words[WORDS];
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = plain_buffer(platform), apart = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	sycl_handler handler = NULL;
	sycl_graph_node copied = 0;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_copy_from_host(handler, words, buffer, 0, WORDS_BYTES));
	MUST(sycl_graph_add(graph, handler, 0, NULL, &copied));
	MUST(sycl_graph_add(graph, increment_handler(queue, increment, buffer), 0, NULL, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	for (uint32_t round = 0; round < 5; round++) {
		for (int i = 0; i < WORDS; i++)
			words[i] = round * 10;
		launch_and_wait(queue, executable);
		cr_assert(words_are(buffer, round * 10 + 1));
	}
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(apart));
	MUST(sycl_kernel_release(increment));
}

/* The objects of a graph are checked again when an object of that kind was freed. Objects that it
 * does not name do not matter. */
Test(graph_whole, releases_of_others_leave_it_as_it_is)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	sycl_executable_graph executable = graph_whole_make_chain(increment, buffer, 6, 0),
			      other = NULL;
	launch_and_wait(queue, executable);
	for (int i = 0; i < 20; i++) {
		sycl_buffer gone = words_buffer(platform, 1);
		sycl_kernel again = portable_kernel(queue, "increment_u32");
		other = graph_whole_make_chain(again, gone, 2, 0);
		launch_and_wait(queue, other);
		MUST(sycl_executable_graph_release(other));
		MUST(sycl_buffer_release(gone));
		MUST(sycl_kernel_release(again));
		struct fake_counters before = fake_counters_of(FAKE_ANY_DEVICE);
		launch_and_wait(queue, executable);
		cr_assert(eq(u64, submits(&before), 1));
	}
	cr_assert(words_are(buffer, 126));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE], 21));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}

Test(graph_whole, L12_a_graph_with_a_host_task_is_launched_node_by_node)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	_Atomic uint32_t calls = 0;
	sycl_graph graph = graph_for(queue);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	run_increment(queue, increment, buffer, NULL);
	run_task(queue, count_task, &calls, buffer, SYCL_ACCESS_READ, NULL, NULL);
	run_increment(queue, increment, buffer, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	for (int i = 0; i < 3; i++)
		launch_and_wait(queue, executable);
	cr_assert(words_are(buffer, 6));
	cr_assert(eq(u32, calls, 3));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE], 0));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}
