/* Recording queues into graphs, and what is refused meanwhile (L1 - L6, L8, L11, L15, L16). */
#include "library/graph.h"

TestSuite(graph_record, .timeout = 120, .init = portable_begin, .fini = portable_end);

Test(graph_record, L2_what_is_recorded_runs_when_it_is_launched_and_not_before)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	send_fill(queue, fill, buffer, 100, NULL);
	cr_assert(eq(int, (int)state_of(queue), SYCL_QUEUE_EXECUTING));
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	cr_assert(eq(int, (int)state_of(queue), SYCL_QUEUE_RECORDING));
	run_increment(queue, increment, buffer, NULL);
	run_increment(queue, increment, buffer, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	cr_assert(eq(int, (int)state_of(queue), SYCL_QUEUE_EXECUTING));
	cr_assert(words_copied_are(queue, buffer, 100), "something ran while it was recorded");
	sycl_executable_graph executable = finalized(graph, 0);
	cr_assert(words_copied_are(queue, buffer, 100));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, buffer, 102));
	for (int i = 0; i < 50; i++)
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	cr_assert(words_copied_are(queue, buffer, 202));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}

Test(graph_record, L1_an_executable_graph_does_not_change_when_the_graph_does)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	send_fill(queue, fill, buffer, 0, NULL);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	run_increment(queue, increment, buffer, NULL);
	MUST(sycl_graph_end_recording(graph, 1, &queue));
	sycl_executable_graph one = finalized(graph, 0);
	MUST(sycl_graph_add(graph, increment_handler(queue, increment, buffer), 0, NULL, NULL));
	sycl_executable_graph two = finalized(graph, 0);
	launch_and_wait(queue, one);
	cr_assert(words_copied_are(queue, buffer, 1));
	launch_and_wait(queue, two);
	cr_assert(words_copied_are(queue, buffer, 3));
	/* The executable graph has everything that it needs without the graph (L16). */
	MUST(sycl_graph_release(graph));
	launch_and_wait(queue, one);
	launch_and_wait(queue, two);
	cr_assert(words_are(buffer, 6));
	MUST(sycl_executable_graph_release(one));
	MUST(sycl_executable_graph_release(two));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}

Test(graph_record, L3_a_queue_of_another_graph_device_or_context_is_not_recorded)
{
	sycl_queue second = portable_beside(queue, 0);
	sycl_queue elsewhere = portable_queue(platform, 1, 0);
	sycl_device device = NULL;
	sycl_context own = NULL;
	sycl_queue other_context = NULL;
	MUST(sycl_queue_get_device(queue, &device));
	MUST(sycl_context_create(1, &device, &own));
	MUST(sycl_queue_create(own, device, NULL, &other_context));
	sycl_graph graph = graph_for(queue), other = graph_for(queue);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	MUST(sycl_graph_begin_recording(graph, 1, &queue)); /* it does already */
	REFUSED(sycl_graph_begin_recording(other, 1, &queue), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_end_recording(other, 1, &queue), SYCL_ERROR_INVALID);
	sycl_queue both[2] = {second, queue};
	REFUSED(sycl_graph_begin_recording(other, 2, both), SYCL_ERROR_INVALID);
	cr_assert(eq(int, (int)state_of(second), SYCL_QUEUE_EXECUTING),
		  "one of a list that was refused is recorded");
	REFUSED(sycl_graph_begin_recording(graph, 1, &other_context), SYCL_ERROR_INVALID);
	sycl_device there = NULL;
	MUST(sycl_queue_get_device(elsewhere, &there));
	if (there != device) /* there may be only one */
		REFUSED(sycl_graph_begin_recording(graph, 1, &elsewhere), SYCL_ERROR_INVALID);
	MUST(sycl_device_release(there));
	REFUSED(sycl_graph_begin_recording(graph, 0, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_graph_end_recording(graph, 1, &queue));
	MUST(sycl_graph_end_recording(graph, 1, &queue)); /* it is not recorded any more */
	MUST(sycl_graph_begin_recording(other, 2, both));
	MUST(sycl_graph_end_recording(other, 2, both));
	MUST(sycl_graph_release(graph));
	MUST(sycl_graph_release(other));
	MUST(sycl_queue_release(other_context));
	MUST(sycl_queue_release(elsewhere));
	MUST(sycl_queue_release(second));
	MUST(sycl_context_release(own));
	MUST(sycl_device_release(device));
}

Test(graph_record, L4_nothing_waits_for_what_is_recorded)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	sycl_event recorded = NULL;
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	uint64_t ns = 0;
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	send_fill(queue, fill, buffer, 1, &recorded);
	REFUSED(sycl_queue_wait(queue), SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_wait_for(queue, 0), SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_wait_and_throw(queue), SYCL_ERROR_INVALID);
	for (int ended = 0; ended < 2; ended++) {
		REFUSED(sycl_event_wait(recorded), SYCL_ERROR_INVALID);
		REFUSED(sycl_event_wait_for(recorded, 0), SYCL_ERROR_INVALID);
		REFUSED(sycl_event_wait_and_throw(recorded), SYCL_ERROR_INVALID);
		REFUSED(sycl_event_wait_all(1, &recorded, LONG_NS), SYCL_ERROR_INVALID);
		REFUSED(sycl_event_get_status(recorded, &status), SYCL_ERROR_INVALID);
		REFUSED(sycl_event_get_profiling(recorded, SYCL_PROFILING_SUBMIT, &ns),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_event_get_profiling(recorded, SYCL_PROFILING_END, &ns),
			SYCL_ERROR_INVALID);
		MUST(sycl_graph_end_recording(graph, 0, NULL));
	}
	MUST(sycl_queue_wait(queue));
	MUST(sycl_event_release(recorded));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

/* `on` fills, behind an event. */
static sycl_result fill_behind(sycl_queue on, sycl_kernel fill, sycl_buffer buffer, uint32_t value,
			       sycl_event behind, sycl_event *event_out)
{
	sycl_handler handler = fill_handler(on, fill, buffer, value);
	MUST(sycl_handler_depends_on(handler, behind));
	return sycl_handler_submit(handler, event_out);
}

Test(graph_record, L5_a_queue_that_depends_on_a_recorded_event_is_recorded_too)
{
	sycl_queue second = portable_beside(queue, 0),
		   third = portable_beside(queue, SYCL_QUEUE_IN_ORDER);
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffers[3] = {plain_buffer(platform), plain_buffer(platform),
				  plain_buffer(platform)};
	sycl_graph graph = graph_for(queue);
	sycl_event events[2] = {NULL, NULL};
	for (int i = 0; i < 3; i++)
		send_fill(queue, fill, buffers[i], 5, NULL);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	send_fill(queue, fill, buffers[0], 1, &events[0]);
	cr_assert(eq(int, (int)state_of(second), SYCL_QUEUE_EXECUTING));
	MUST(fill_behind(second, fill, buffers[1], 2, events[0], &events[1]));
	cr_assert(eq(int, (int)state_of(second), SYCL_QUEUE_RECORDING));
	MUST(fill_behind(third, fill, buffers[2], 3, events[1], NULL));
	cr_assert(eq(int, (int)state_of(third), SYCL_QUEUE_RECORDING));
	cr_assert(comes_behind(graph, 2, 1));
	cr_assert(comes_behind(graph, 3, 2));
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	cr_assert(eq(int, (int)state_of(second), SYCL_QUEUE_EXECUTING));
	cr_assert(eq(int, (int)state_of(third), SYCL_QUEUE_EXECUTING));
	for (int i = 0; i < 3; i++)
		cr_assert(words_copied_are(queue, buffers[i], 5));
	sycl_executable_graph executable = finalized(graph, 0);
	launch_and_wait(third, executable);
	for (int i = 0; i < 3; i++)
		cr_assert(words_copied_are(queue, buffers[i], (uint32_t)i + 1));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	for (int i = 0; i < 3; i++)
		MUST(sycl_buffer_release(buffers[i]));
	MUST(sycl_event_release(events[0]));
	MUST(sycl_event_release(events[1]));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(second));
	MUST(sycl_queue_release(third));
}

Test(graph_record, L6_only_events_of_the_same_graph_can_be_depended_on)
{
	sycl_queue second = portable_beside(queue, 0), third = portable_beside(queue, 0);
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue), other = graph_for(queue);
	sycl_event executed = NULL, mine = NULL, theirs = NULL;
	send_fill(queue, fill, buffer, 1, &executed);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	MUST(sycl_graph_begin_recording(other, 1, &second));
	send_fill(queue, fill, buffer, 2, &mine);
	send_fill(second, fill, buffer, 3, &theirs);
	REFUSED(fill_behind(queue, fill, buffer, 4, executed, NULL), SYCL_ERROR_INVALID);
	REFUSED(fill_behind(queue, fill, buffer, 4, theirs, NULL), SYCL_ERROR_INVALID);
	REFUSED(fill_behind(second, fill, buffer, 4, mine, NULL), SYCL_ERROR_INVALID);
	MUST(fill_behind(queue, fill, buffer, 4, mine, NULL));
	sycl_handler handler = fill_handler(queue, fill, buffer, 5);
	MUST(sycl_handler_depends_on(handler, theirs));
	REFUSED(sycl_graph_add(graph, handler, 0, NULL, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_discard(handler), SYCL_ERROR_INVALID_HANDLE); /* ended all the same */
	cr_assert(eq(u32, count_nodes(graph), 2));
	cr_assert(eq(u32, count_nodes(other), 1));
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	/* No queue records any more, so nothing could take it. */
	REFUSED(fill_behind(third, fill, buffer, 4, mine, NULL), SYCL_ERROR_INVALID);
	REFUSED(fill_behind(queue, fill, buffer, 4, mine, NULL), SYCL_ERROR_INVALID);
	cr_assert(eq(int, (int)state_of(third), SYCL_QUEUE_EXECUTING));
	sycl_graph_node node = 0;
	MUST(sycl_graph_node_from_event(graph, mine, &node));
	cr_assert(eq(u32, node, 1));
	REFUSED(sycl_graph_node_from_event(graph, theirs, &node), SYCL_ERROR_INVALID);
	REFUSED(sycl_graph_node_from_event(graph, executed, &node), SYCL_ERROR_INVALID);
	MUST(sycl_graph_release(other));
	MUST(sycl_graph_release(graph));
	cr_assert(words_are(buffer, 1));
	MUST(sycl_event_release(executed));
	MUST(sycl_event_release(mine));
	MUST(sycl_event_release(theirs));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(second));
	MUST(sycl_queue_release(third));
}

Test(graph_record, L8_what_is_recorded_from_an_in_order_queue_is_a_chain)
{
	sycl_queue in_order = portable_beside(queue, SYCL_QUEUE_IN_ORDER);
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_graph graph = graph_for(queue);
	enum { CHAIN = 12 };
	sycl_buffer buffers[CHAIN];
	sycl_queue both[2] = {in_order, queue};
	MUST(sycl_graph_begin_recording(graph, 2, both));
	for (int i = 0; i < CHAIN; i++) {
		buffers[i] = plain_buffer(platform);
		send_fill(in_order, fill, buffers[i], (uint32_t)i,
			  NULL); /* they share only the queue */
	}
	send_fill(queue, fill, buffers[0], 77, NULL);
	send_fill(queue, fill, buffers[1], 78, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	cr_assert(eq(u32, count_predecessors(graph, 1), 0));
	for (sycl_graph_node node = 2; node <= CHAIN; node++) {
		cr_assert(eq(u32, count_predecessors(graph, node), 1));
		cr_assert(comes_behind(graph, node, node - 1));
	}
	/* The other queue is out of order: only accessors make edges. */
	cr_assert(eq(u32, count_predecessors(graph, CHAIN + 1), 1));
	cr_assert(comes_behind(graph, CHAIN + 1, 1));
	cr_assert(eq(u32, count_predecessors(graph, CHAIN + 2), 1));
	cr_assert(comes_behind(graph, CHAIN + 2, 2));
	MUST(sycl_graph_release(graph));
	for (int i = 0; i < CHAIN; i++)
		MUST(sycl_buffer_release(buffers[i]));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(in_order));
}

Test(graph_record, L8_a_recorded_barrier_comes_behind_all_that_its_queue_recorded)
{
	sycl_queue second = portable_beside(queue, 0);
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffers[3] = {plain_buffer(platform), plain_buffer(platform),
				  plain_buffer(platform)};
	sycl_graph graph = graph_for(queue);
	sycl_queue both[2] = {queue, second};
	sycl_graph_node_type type = SYCL_GRAPH_NODE_EMPTY;
	sycl_event barrier = NULL;
	MUST(sycl_graph_begin_recording(graph, 2, both));
	send_fill(queue, fill, buffers[0], 1, NULL);
	send_fill(second, fill, buffers[1], 2, NULL);
	send_fill(queue, fill, buffers[2], 3, NULL);
	MUST(sycl_queue_barrier(queue, &barrier));
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	cr_assert(eq(u32, count_predecessors(graph, 4), 2));
	cr_assert(comes_behind(graph, 4, 1));
	cr_assert(comes_behind(graph, 4, 3));
	MUST(sycl_graph_node_get_type(graph, 4, &type));
	cr_assert(eq(int, (int)type, SYCL_GRAPH_NODE_BARRIER));
	sycl_executable_graph executable = finalized(graph, 0);
	launch_and_wait(queue, executable);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	for (int i = 0; i < 3; i++) {
		cr_assert(words_are(buffers[i], (uint32_t)i + 1));
		MUST(sycl_buffer_release(buffers[i]));
	}
	MUST(sycl_event_release(barrier));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(second));
}

Test(graph_record, L11_buffers_that_are_written_back_are_refused)
{
	static uint32_t memory[WORDS];
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer borrowed = NULL, plain = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	MUST(sycl_buffer_create(platform, memory, sizeof(memory), SYCL_HOST_BORROWED, &borrowed));
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	REFUSED(sycl_handler_submit(fill_handler(queue, fill, borrowed, 1), NULL),
		SYCL_ERROR_INVALID);
	MUST(sycl_buffer_set_final_data(plain, memory));
	REFUSED(sycl_handler_submit(fill_handler(queue, fill, plain, 1), NULL), SYCL_ERROR_INVALID);
	MUST(sycl_buffer_set_final_data(plain, NULL));
	MUST(sycl_handler_submit(fill_handler(queue, fill, plain, 1), NULL));
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	REFUSED(sycl_graph_add(graph, fill_handler(queue, fill, borrowed, 1), 0, NULL, NULL),
		SYCL_ERROR_INVALID);
	MUST(sycl_buffer_set_write_back(borrowed, 0));
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, borrowed, 4), 0, NULL, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, borrowed, 4));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(borrowed));
	MUST(sycl_buffer_release(plain));
	MUST(sycl_kernel_release(fill));
}

Test(graph_record, L11_the_host_does_not_look_at_what_a_graph_uses)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = plain_buffer(platform), free_one = words_buffer(platform, 3),
		    part = NULL;
	sycl_graph graph = graph_for(queue);
	sycl_host_accessor accessor = NULL;
	MUST(sycl_buffer_create_sub(buffer, 0, WORDS_BYTES / 2, &part));
	send_fill(queue, fill, buffer, 8, NULL);
	cr_assert(words_are(buffer, 8));
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	send_fill(queue, fill, buffer, 9, NULL);
	for (int ended = 0; ended < 2; ended++) {
		REFUSED(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor),
			SYCL_ERROR_INVALID);
		REFUSED(sycl_host_accessor_create(part, SYCL_ACCESS_READ, &accessor),
			SYCL_ERROR_INVALID);
		cr_assert(words_are(free_one, 3));
		MUST(sycl_graph_end_recording(graph, 0, NULL));
	}
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	/* Every group that could be recorded now would wait for it. */
	cr_assert(words_are(buffer, 8));
	launch_and_wait(queue, executable);
	cr_assert(words_are(buffer, 9));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(free_one));
	MUST(sycl_kernel_release(fill));
}

Test(graph_record, L11_L16_a_graph_keeps_its_buffers_and_kernels)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    copy = portable_kernel(queue, "copy_u32");
	sycl_buffer inner = plain_buffer(platform), outer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	sycl_handler handler = NULL;
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	send_fill(queue, fill, inner, 21, NULL);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, outer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_accessor(handler, 1, inner, SYCL_ACCESS_READ));
	MUST(sycl_handler_parallel_for(handler, copy, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(inner));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(copy));
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	launch_and_wait(queue, executable);
	cr_assert(words_are(outer, 21));
	/* Launches continue without the graph. */
	send_fill(queue, (fill = portable_kernel(queue, "fill_u32")), outer, 1, NULL);
	MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	MUST(sycl_executable_graph_release(executable));
	cr_assert(words_are(outer, 21));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_buffer_release(outer));
}

static sycl_result graph_record_count_unwanted_task(sycl_host_task task, void *user_data)
{
	(void)task;
	(*(int *)user_data)++;
	return SYCL_SUCCESS;
}

Test(graph_record, L15_E21_what_was_set_is_of_the_time_when_it_was_recorded)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	sycl_handler handler = NULL;
	uint32_t value = 50;
	int calls = 0;
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
	run_task(queue, graph_record_count_unwanted_task, &calls, NULL, SYCL_ACCESS_READ, NULL,
		 NULL);
	value = 51;
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	cr_assert(eq(int, calls, 0));
	sycl_executable_graph executable = finalized(graph, 0);
	cr_assert(eq(int, calls, 0));
	for (int i = 1; i <= 3; i++) {
		launch_and_wait(queue, executable);
		cr_assert(words_copied_are(queue, buffer, 50));
		cr_assert(eq(int, calls, i));
	}
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

Test(graph_record, L16_N1_the_last_release_ends_the_recording)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	uint32_t count = 0;
	send_fill(queue, fill, buffer, 1, NULL);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	send_fill(queue, fill, buffer, 2, NULL);
	MUST(sycl_graph_retain(graph));
	MUST(sycl_graph_get_reference_count(graph, &count));
	cr_assert(eq(u32, count, 2));
	MUST(sycl_graph_release(graph));
	cr_assert(eq(int, (int)state_of(queue), SYCL_QUEUE_RECORDING));
	MUST(sycl_graph_release(graph));
	cr_assert(eq(int, (int)state_of(queue), SYCL_QUEUE_EXECUTING));
	REFUSED(sycl_graph_begin_recording(graph, 1, &queue), SYCL_ERROR_INVALID_HANDLE);
	cr_assert(words_are(buffer, 1));
	send_fill(queue, fill, buffer, 3, NULL);
	cr_assert(words_are(buffer, 3));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}
