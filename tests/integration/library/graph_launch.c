/* Launches of graphs: order, events, times, host tasks, failures, and their results (L9, L10, L12,
 * L14, L17). */
#include "library/graph.h"

#include "sanitized.h"

#include <malloc.h>
#include <stdlib.h>

TestSuite(graph_launch, .timeout = 300, .init = portable_begin, .fini = portable_end);

/* Counts calls that overlap. */
struct alone {
	_Atomic uint32_t inside, overlaps, calls;
};

static sycl_result be_alone(sycl_host_task task, void *user_data)
{
	struct alone *alone = user_data;
	(void)task;
	if (atomic_fetch_add(&alone->inside, 1) != 0)
		atomic_fetch_add(&alone->overlaps, 1);
	atomic_fetch_add(&alone->calls, 1);
	atomic_fetch_sub(&alone->inside, 1);
	return SYCL_SUCCESS;
}

static void add_task(sycl_graph graph, sycl_queue of, sycl_host_task_function *function,
		     void *user_data, sycl_graph_node *node_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(of, &handler));
	MUST(sycl_handler_host_task(handler, function, user_data, NULL));
	MUST(sycl_graph_add(graph, handler, 0, NULL, node_out));
}

Test(graph_launch, L9_launches_of_one_graph_run_one_after_the_other)
{
	sycl_platform helped = portable_open(3);
	sycl_queue first = portable_queue(helped, 0, 0), second = portable_beside(first, 0);
	sycl_graph graph = graph_for(first);
	struct alone alone = {0};
	struct gate gate = GATE_INIT;
	sycl_graph_node door = 0, inside = 0;
	add_task(graph, first, gate_task, &gate, &door);
	add_task(graph, first, be_alone, &alone, &inside);
	MUST(sycl_graph_make_edge(graph, door, inside));
	sycl_executable_graph executable = finalized(graph, 0);
	sycl_event events[2] = {NULL, NULL};
	MUST(sycl_queue_graph(first, executable, 0, NULL, &events[0]));
	MUST(sycl_queue_graph(second, executable, 0, NULL, &events[1]));
	gate_await(&gate, 1);
	/* The second launch's first node would also be at the gate if it did not wait for the first
	 * launch. */
	REFUSED(sycl_event_wait_for(events[1], SHORT_NS), SYCL_ERROR_TIMEOUT);
	cr_assert(eq(u32, gate.entered, 1));
	gate_open(&gate);
	MUST(sycl_event_wait_for(events[1], LONG_NS));
	MUST(sycl_event_wait_for(events[0], 0));
	for (int i = 0; i < 20; i++)
		MUST(sycl_queue_graph(i % 2 ? first : second, executable, 0, NULL, NULL));
	MUST(sycl_queue_wait(first));
	MUST(sycl_queue_wait(second));
	cr_assert(eq(u32, alone.calls, 22));
	cr_assert(eq(u32, alone.overlaps, 0));
	MUST(sycl_event_release(events[0]));
	MUST(sycl_event_release(events[1]));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_queue_release(first));
	MUST(sycl_queue_release(second));
	MUST(sycl_platform_release(helped));
}

Test(graph_launch, L10_a_launch_waits_for_its_events_and_others_wait_for_its_own)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, 0);
	sycl_kernel fill = portable_kernel(on, "fill_u32");
	sycl_buffer inner = plain_buffer(helped), outer = plain_buffer(helped);
	sycl_graph graph = graph_for(on);
	struct gate gate = GATE_INIT;
	sycl_event before = NULL, launched = NULL, after = NULL;
	send_fill(on, fill, inner, 1, NULL);
	MUST(sycl_graph_add(graph, fill_handler(on, fill, inner, 2), 0, NULL, NULL));
	MUST(sycl_graph_add_empty(graph, 0, NULL, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	run_task(on, gate_task, &gate, NULL, SYCL_ACCESS_READ, NULL, &before);
	MUST(sycl_queue_graph(on, executable, 1, &before, &launched));
	sycl_handler handler = fill_handler(on, fill, outer, 3);
	MUST(sycl_handler_depends_on(handler, launched));
	MUST(sycl_handler_submit(handler, &after));
	gate_await(&gate, 1);
	REFUSED(sycl_event_wait_for(launched, SHORT_NS), SYCL_ERROR_TIMEOUT);
	REFUSED(sycl_event_wait_for(after, 0), SYCL_ERROR_TIMEOUT);
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	MUST(sycl_event_get_status(launched, &status));
	cr_assert(eq(int, (int)status, SYCL_COMMAND_SUBMITTED));
	gate_open(&gate);
	MUST(sycl_event_wait_for(after, LONG_NS));
	MUST(sycl_event_wait_for(launched, 0));
	MUST(sycl_event_get_status(launched, &status));
	cr_assert(eq(int, (int)status, SYCL_COMMAND_COMPLETE));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	cr_assert(words_are(inner, 2));
	cr_assert(words_are(outer, 3));
	MUST(sycl_event_release(before));
	MUST(sycl_event_release(launched));
	MUST(sycl_event_release(after));
	MUST(sycl_buffer_release(inner));
	MUST(sycl_buffer_release(outer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

Test(graph_launch, L10_an_in_order_queue_runs_launches_and_groups_in_turn)
{
	sycl_queue in_order = portable_beside(queue, SYCL_QUEUE_IN_ORDER);
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(in_order);
	MUST(sycl_graph_begin_recording(graph, 1, &in_order));
	for (int i = 0; i < 3; i++)
		run_increment(in_order, increment, buffer, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	for (uint32_t round = 0; round < 20; round++) {
		send_fill(in_order, fill, buffer, round * 10, NULL);
		MUST(sycl_queue_graph(in_order, executable, 0, NULL, NULL));
		run_increment(in_order, increment, buffer, NULL);
		MUST(sycl_queue_graph(in_order, executable, 0, NULL, NULL));
		MUST(sycl_queue_wait(in_order));
		cr_assert(words_are(buffer, round * 10 + 7));
	}
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(in_order));
}

Test(graph_launch, L10_times_are_the_first_start_and_the_last_end)
{
	sycl_queue timed = portable_beside(queue, SYCL_QUEUE_ENABLE_PROFILING);
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(timed);
	MUST(sycl_graph_begin_recording(graph, 1, &timed));
	send_fill(timed, fill, buffer, 0, NULL);
	for (int i = 0; i < 20; i++)
		run_increment(timed, increment, buffer, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	sycl_executable_graph with = finalized(graph, SYCL_GRAPH_ENABLE_PROFILING),
			      without = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	sycl_event first = NULL, second = NULL, untimed = NULL;
	uint64_t submit = 0, start = 0, end = 0, next = 0;
	MUST(sycl_queue_graph(timed, with, 0, NULL, &first));
	MUST(sycl_queue_graph(timed, with, 0, NULL, &second));
	MUST(sycl_queue_graph(timed, without, 0, NULL, &untimed));
	MUST(sycl_event_get_profiling(first, SYCL_PROFILING_SUBMIT, &submit));
	MUST(sycl_event_get_profiling(first, SYCL_PROFILING_END, &end));
	MUST(sycl_event_get_profiling(first, SYCL_PROFILING_START, &start));
	MUST(sycl_event_get_profiling(second, SYCL_PROFILING_START, &next));
	cr_assert(le(u64, submit, start));
	cr_assert(lt(u64, start, end)); /* 21 kernels, one after the other, take some time */
	cr_assert(le(u64, end, next));  /* L9 */
	REFUSED(sycl_event_get_profiling(untimed, SYCL_PROFILING_SUBMIT, &submit),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_event_get_profiling(untimed, SYCL_PROFILING_END, &end), SYCL_ERROR_INVALID);
	MUST(sycl_event_wait_for(untimed, LONG_NS));
	MUST(sycl_event_release(first));
	MUST(sycl_event_release(second));
	MUST(sycl_event_release(untimed));
	MUST(sycl_executable_graph_release(with));
	MUST(sycl_executable_graph_release(without));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(timed));
}

/* Checks that all words have the next expected value, and adds one to them. */
struct visit {
	uint32_t wanted, others, calls;
};

static sycl_result visit_words(sycl_host_task task, void *user_data)
{
	struct visit *visit = user_data;
	void *pointer = NULL;
	MUST(sycl_host_task_get_pointer(task, 0, &pointer));
	uint32_t *words = pointer;
	visit->calls++;
	for (int i = 0; i < WORDS; i++) {
		visit->others += words[i] != visit->wanted;
		words[i]++;
	}
	return SYCL_SUCCESS;
}

Test(graph_launch, L12_K1_host_tasks_run_at_each_launch_between_kernels)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	struct visit visits[2] = {{.wanted = 10}, {.wanted = 12}};
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	send_fill(queue, fill, buffer, 10, NULL);
	run_task(queue, visit_words, &visits[0], buffer, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	run_increment(queue, increment, buffer, NULL);
	run_task(queue, visit_words, &visits[1], buffer, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	for (uint32_t i = 1; i <= 10; i++) {
		launch_and_wait(queue, executable);
		cr_assert(eq(u32, visits[0].calls, i));
		cr_assert(eq(u32, visits[1].calls, i));
		cr_assert(words_are(buffer, 13));
	}
	for (int i = 0; i < 10; i++)
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	MUST(sycl_queue_wait(queue));
	cr_assert(eq(u32, visits[0].calls, 20));
	cr_assert(eq(u32, visits[0].others + visits[1].others, 0));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}

Test(graph_launch, L12_copies_from_and_to_the_program_are_of_each_launch)
{
	static uint32_t from[WORDS], to[WORDS];
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	MUST(sycl_queue_copy_from_host(queue, from, buffer, 0, WORDS_BYTES, NULL));
	run_increment(queue, increment, buffer, NULL);
	MUST(sycl_queue_copy_to_host(queue, buffer, 0, to, WORDS_BYTES, NULL));
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	for (uint32_t round = 1; round <= 5; round++) {
		for (uint32_t i = 0; i < WORDS; i++)
			from[i] = round * 1000 + i;
		launch_and_wait(queue, executable);
		for (uint32_t i = 0; i < WORDS; i++)
			cr_assert(eq(u32, to[i], round * 1000 + i + 1));
	}
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}

static sycl_result fail_on_demand(sycl_host_task task, void *user_data)
{
	(void)task;
	return *(int *)user_data ? SYCL_ERROR_ACCESSOR : SYCL_SUCCESS;
}

Test(graph_launch, L10_M9_a_node_that_fails_fails_the_launch_and_what_depends_on_it)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer behind = plain_buffer(platform), beside = plain_buffer(platform),
		    after = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	int fails = 1;
	sycl_graph_node task = 0, kernel = 0;
	for (int i = 0; i < 3; i++)
		send_fill(queue, fill, (sycl_buffer[]){behind, beside, after}[i], 1, NULL);
	add_task(graph, queue, fail_on_demand, &fails, &task);
	/* This writes all of it. So the next launch needs nothing that the failed one was to
	 * write. */
	sycl_handler whole = NULL;
	uint32_t word = 2;
	MUST(sycl_handler_begin(queue, &whole));
	MUST(sycl_handler_fill(whole, behind, 0, WORDS_BYTES, &word, sizeof(word)));
	MUST(sycl_graph_add(graph, whole, 1, &task, &kernel));
	MUST(sycl_graph_add(graph, fill_handler(queue, fill, beside, 3), 0, NULL, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	sycl_event failed = NULL, dependant = NULL, again = NULL;
	MUST(sycl_queue_graph(queue, executable, 0, NULL, &failed));
	sycl_handler handler = fill_handler(queue, fill, after, 4);
	MUST(sycl_handler_depends_on(handler, failed));
	MUST(sycl_handler_submit(handler, &dependant));
	REFUSED(sycl_event_wait_for(failed, LONG_NS),
		SYCL_ERROR_ACCESSOR); /* the node's own cause */
	REFUSED(sycl_event_wait_for(dependant, LONG_NS), SYCL_ERROR_DEPENDENCY_FAILED);
	cr_assert(words_are(beside, 3));
	/* The next launch comes behind it and does not fail with it. */
	fails = 0;
	MUST(sycl_queue_graph(queue, executable, 0, NULL, &again));
	MUST(sycl_event_wait_for(again, LONG_NS));
	cr_assert(words_are(behind, 2));
	MUST(sycl_event_release(failed));
	MUST(sycl_event_release(dependant));
	MUST(sycl_event_release(again));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(behind));
	MUST(sycl_buffer_release(beside));
	MUST(sycl_buffer_release(after));
	MUST(sycl_kernel_release(fill));
}

Test(graph_launch, L9_B12_groups_outside_wait_for_the_buffers_that_they_share_with_a_launch)
{
	sycl_queue second = portable_beside(queue, 0);
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffers[2] = {plain_buffer(platform), plain_buffer(platform)};
	sycl_graph graph = graph_for(queue);
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	for (int i = 0; i < 16; i++)
		run_increment(queue, increment, buffers[i % 2], NULL);
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	send_fill(second, fill, buffers[0], 0, NULL);
	send_fill(second, fill, buffers[1], 100, NULL);
	for (uint32_t round = 1; round <= 30; round++) {
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
		run_increment(second, increment, buffers[round % 2], NULL);
	}
	cr_assert(words_are(buffers[0], 30 * 8 + 15));
	cr_assert(words_are(buffers[1], 100 + 30 * 8 + 15));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(buffers[0]));
	MUST(sycl_buffer_release(buffers[1]));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(second));
}

Test(graph_launch, L14_a_graph_in_a_graph_runs_where_it_stands)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = plain_buffer(platform), other = plain_buffer(platform);
	sycl_graph inner = graph_for(queue), empty = graph_for(queue), outer = graph_for(queue);
	struct visit visit = {.wanted = 31};
	sycl_graph_node_type type = SYCL_GRAPH_NODE_EMPTY;
	MUST(sycl_graph_begin_recording(inner, 1, &queue));
	run_increment(queue, increment, buffer, NULL);
	run_task(queue, visit_words, &visit, buffer, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	run_increment(queue, increment, buffer, NULL);
	send_fill(queue, fill, other, 60, NULL);
	MUST(sycl_graph_end_recording(inner, 0, NULL));
	sycl_executable_graph part = finalized(inner, 0), nothing = finalized(empty, 0);
	MUST(sycl_graph_begin_recording(outer, 1, &queue));
	send_fill(queue, fill, buffer, 30, NULL);
	sycl_event recorded = NULL;
	MUST(sycl_queue_graph(queue, part, 0, NULL, &recorded));
	MUST(sycl_queue_graph(queue, nothing, 1, &recorded, NULL));
	run_increment(queue, increment, buffer, NULL);
	run_increment(queue, increment, other, NULL);
	MUST(sycl_graph_end_recording(outer, 0, NULL));
	MUST(sycl_graph_node_get_type(outer, 2, &type));
	cr_assert(eq(int, (int)type, SYCL_GRAPH_NODE_SUBGRAPH));
	cr_assert(comes_behind(outer, 2, 1));
	cr_assert(comes_behind(outer, 3, 2));
	cr_assert(comes_behind(outer, 4, 2));
	cr_assert(comes_behind(outer, 5, 2));
	sycl_executable_graph whole = finalized(outer, 0);
	cr_assert(eq(u32, visit.calls, 0));
	MUST(sycl_graph_release(inner));
	MUST(sycl_graph_release(empty));
	MUST(sycl_graph_release(outer));
	MUST(sycl_executable_graph_release(part));
	MUST(sycl_executable_graph_release(nothing));
	for (uint32_t i = 1; i <= 5; i++) {
		launch_and_wait(queue, whole);
		cr_assert(words_are(buffer, 34));
		cr_assert(words_are(other, 61));
		cr_assert(eq(u32, visit.calls, i));
	}
	cr_assert(eq(u32, visit.others, 0));
	MUST(sycl_event_release(recorded));
	MUST(sycl_executable_graph_release(whole));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(other));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}

Test(graph_launch, L10_L14_what_does_not_fit_is_refused)
{
	sycl_queue elsewhere = portable_queue(platform, 1, 0);
	sycl_platform apart = portable_open(0);
	sycl_queue far = portable_queue(apart, 0, 0);
	sycl_graph graph = graph_for(queue);
	sycl_buffer buffer = plain_buffer(platform);
	sycl_handler handler = NULL;
	struct sycl_graph_finalize_properties properties = SYCL_GRAPH_FINALIZE_PROPERTIES_INIT;
	sycl_executable_graph executable = finalized(graph, 0), none = NULL;
	properties.flags = 1u << 7;
	REFUSED(sycl_graph_finalize(graph, &properties, &none), SYCL_ERROR_INVALID);
	properties.flags = 0;
	properties.struct_bytes--;
	REFUSED(sycl_graph_finalize(graph, &properties, &none), SYCL_ERROR_INVALID);
	sycl_device here = NULL, there = NULL;
	MUST(sycl_queue_get_device(queue, &here));
	MUST(sycl_queue_get_device(elsewhere, &there));
	if (here != there) /* there may be only one device */
		REFUSED(sycl_queue_graph(elsewhere, executable, 0, NULL, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_graph(far, executable, 0, NULL, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_graph(queue, executable, 1, NULL, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_require(handler, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_graph(handler, executable));
	REFUSED(sycl_handler_graph(handler, executable), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_submit(handler, NULL), SYCL_ERROR_INVALID);
	launch_and_wait(queue, executable); /* the graph is empty, and the launch is complete */
	MUST(sycl_executable_graph_release(executable));
	REFUSED(sycl_queue_graph(queue, executable, 0, NULL, NULL), SYCL_ERROR_INVALID_HANDLE);
	MUST(sycl_graph_release(graph));
	MUST(sycl_device_release(here));
	MUST(sycl_device_release(there));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(elsewhere));
	MUST(sycl_queue_release(far));
	MUST(sycl_platform_release(apart));
}

/*
 * The engine is in this process, so this counts what both client and engine keep. 0 under a
 * sanitizer, which replaces the heap and finds the leaks of a few graphs by itself.
 */
static uint64_t heap_bytes(void)
{
	return mallinfo2().uordblks;
}

/* One graph in `each` is launched, and so is made for the device. */
static void make_and_end(sycl_graph graph, sycl_kernel increment, sycl_buffer buffer, int count,
			 int each)
{
	for (int i = 0; i < count; i++) {
		sycl_executable_graph executable = finalized(graph, 0);
		if (i % each == 0)
			launch_and_wait(queue, executable);
		MUST(sycl_executable_graph_release(executable));
		sycl_graph recorded = graph_for(queue);
		MUST(sycl_graph_begin_recording(recorded, 1, &queue));
		if (i % 10 == 0)
			run_increment(queue, increment, buffer, NULL);
		MUST(sycl_graph_release(recorded));
	}
	/* The engine has handled all of it. */
	sycl_executable_graph last = finalized(graph, 0);
	launch_and_wait(queue, last);
	MUST(sycl_executable_graph_release(last));
}

Test(graph_launch, L17_N1_ten_thousand_graphs_come_and_go)
{
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	sycl_buffer buffer = plain_buffer(platform);
	sycl_graph graph = graph_for(queue);
	for (int i = 0; i < 3; i++)
		MUST(sycl_graph_add(graph, increment_handler(queue, increment, buffer), 0, NULL,
				    NULL));
	/* The driver's double keeps the latest 8192 handles that were destroyed, to detect their
	 * use. */
	make_and_end(graph, increment, buffer,
		     SANITIZED                   ? 100
		     : getenv("PORTABLE_DOUBLE") ? 5000
						 : 500,
		     1);
	uint64_t before = heap_bytes();
	make_and_end(graph, increment, buffer, SANITIZED ? 500 : 10000, 10);
	uint64_t after = heap_bytes();
	cr_assert(lt(u64, after, before + 10000 * 16), "%llu bytes are left of 10,000 graphs",
		  (unsigned long long)(after - before));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
}
