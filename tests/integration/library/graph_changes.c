/*
 * Executable graphs that run as one command and are changed. They are made anew beside running
 * launches, or launched node by node if that is impossible. Some launches need lost contents in a
 * part of the graph. The fake devices count the calls.
 */
#include "library/graph.h"

#include "clock.h"
#include "fake_control.h"
#include "status.h"

#include <sched.h>

enum { MANY = 1000, SLICE = 64, OFTEN = 1000 };

TestSuite(graph_changes, .timeout = 60, .init = portable_begin, .fini = portable_end);

static void begin_polled(void)
{
	portable_fake_features(BACKEND_FEATURE_POLLED);
	portable_begin();
}

TestSuite(graph_slices, .timeout = 60, .init = begin_polled, .fini = portable_end);

/* The first node fills `filled`; all others increment `other`, one after the other. */
struct scene {
	sycl_kernel fill, increment;
	sycl_buffer filled, other;
	sycl_graph graph;
	sycl_graph_node first, last;
	sycl_executable_graph executable;
};

static void begin_with(struct scene *scene, int nodes)
{
	scene->fill = portable_kernel(queue, "fill_u32");
	scene->increment = portable_kernel(queue, "increment_u32");
	scene->filled = words_buffer(platform, 0);
	scene->other = words_buffer(platform, 0);
	scene->graph = graph_for(queue);
	MUST(sycl_graph_add(scene->graph, fill_handler(queue, scene->fill, scene->filled, 40), 0,
			    NULL, &scene->first));
	for (int i = 1; i < nodes; i++)
		MUST(sycl_graph_add(scene->graph,
				    increment_handler(queue, scene->increment, scene->other), 0,
				    NULL, &scene->last));
	scene->executable = finalized(scene->graph, SYCL_GRAPH_UPDATABLE);
}

/* The last node uses the buffer that the first one fills: the order differs from before. */
static void change_order(struct scene *scene)
{
	MUST(sycl_graph_node_set_accessor(scene->graph, scene->last, 0, scene->filled,
					  SYCL_ACCESS_READ_WRITE));
	MUST(sycl_executable_graph_update(scene->executable, scene->graph, 1, &scene->last));
}

/* Makes all of its words 3. */
static void heal(sycl_kernel fill, sycl_buffer lost)
{
	const uint32_t value = 3;
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, lost, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, NULL));
}

static void graph_changes_end_scene(struct scene *scene)
{
	MUST(sycl_graph_release(scene->graph));
	MUST(sycl_executable_graph_release(scene->executable));
	MUST(sycl_buffer_release(scene->filled));
	MUST(sycl_buffer_release(scene->other));
	MUST(sycl_kernel_release(scene->fill));
	MUST(sycl_kernel_release(scene->increment));
}

Test(graph_changes,
     L13_a_change_that_needs_another_graph_which_the_driver_refuses_is_launched_node_by_node)
{
	struct scene scene;
	begin_with(&scene, 2);
	launch_and_wait(queue, scene.executable);
	cr_assert(zero(int, fake_fail(FAKE_GRAPH_FINISH, FAKE_ANY_DEVICE, 0, OFTEN,
				      STATUS_MEMORY_ALLOCATION, false, "no more graphs")));
	change_order(&scene);
	for (int i = 0; i < 3; i++) {
		launch_and_wait(queue, scene.executable);
		cr_assert(words_copied_are(queue, scene.filled, 41));
	}
	cr_assert(words_copied_are(queue, scene.other, 1));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 1));
	cr_assert(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).graphs, 0));
	graph_changes_end_scene(&scene);
}

/* A launch meets an error that only the driver detects. Only that launch fails. */
Test(graph_changes, L13_M9_a_change_that_can_be_made_in_no_way_fails_one_launch)
{
	struct scene scene;
	sycl_event failed = NULL;
	const uint32_t value = 50;
	begin_with(&scene, 2);
	launch_and_wait(queue, scene.executable);
	cr_assert(zero(int, fake_fail(FAKE_GRAPH_UPDATE, FAKE_ANY_DEVICE, 0, OFTEN, STATUS_INVALID,
				      false, "not this")));
	cr_assert(zero(int, fake_fail(FAKE_GRAPH_FINISH, FAKE_ANY_DEVICE, 0, OFTEN,
				      STATUS_MEMORY_ALLOCATION, false, "no more graphs")));
	MUST(sycl_graph_node_set_value(scene.graph, scene.first, 1, sizeof(value), &value));
	MUST(sycl_executable_graph_update(scene.executable, scene.graph, 1, &scene.first));
	MUST(sycl_queue_graph(queue, scene.executable, 0, NULL, &failed));
	REFUSED(sycl_event_wait_for(failed, LONG_NS), SYCL_ERROR_MEMORY_ALLOCATION);
	MUST(sycl_event_release(failed));
	/* The contents that the launch was to write are lost. */
	heal(scene.fill, scene.filled);
	heal(scene.fill, scene.other);
	for (uint32_t i = 0; i < 3; i++) {
		launch_and_wait(queue, scene.executable);
		cr_assert(words_copied_are(queue, scene.filled, 50));
		cr_assert(words_copied_are(queue, scene.other, 4 + i));
	}
	graph_changes_end_scene(&scene);
}

/* The driver refuses an update for a reason of its own. The graph is then made anew, with the same
 * results. */
Test(graph_changes, L13_an_update_that_fails_has_the_graph_made_anew)
{
	struct scene scene;
	const uint32_t value = 50;
	begin_with(&scene, 2);
	launch_and_wait(queue, scene.executable);
	cr_assert(zero(int, fake_fail(FAKE_GRAPH_UPDATE, FAKE_ANY_DEVICE, 0, 1, STATUS_INVALID,
				      false, "not this")));
	MUST(sycl_graph_node_set_value(scene.graph, scene.first, 1, sizeof(value), &value));
	MUST(sycl_executable_graph_update(scene.executable, scene.graph, 1, &scene.first));
	launch_and_wait(queue, scene.executable);
	cr_assert(words_copied_are(queue, scene.filled, 50));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 2));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE], 2));
	graph_changes_end_scene(&scene);
}

/* Returns true once that many graphs were made, within a time. */
static bool is_made(uint64_t graphs)
{
	uint64_t deadline = clock_deadline_ns(LONG_NS / 4);
	while (fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_FINISH] < graphs &&
	       clock_now_ns() < deadline)
		(void)sched_yield();
	return fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_FINISH] >= graphs;
}

/* While the graph is made anew, the device's thread continues all other work. */
Test(graph_slices, L13_F8_a_large_graph_is_made_anew_in_slices_beside_its_launches)
{
	struct scene scene;
	sycl_event before = NULL, behind = NULL;
	begin_with(&scene, MANY);
	portable_engine_hold(true);
	/* Groups are in flight and are requested all the time. */
	send_fill(queue, scene.fill, scene.filled, 1, NULL);
	MUST(sycl_queue_graph(queue, scene.executable, 0, NULL, NULL));
	MUST(sycl_queue_graph(queue, scene.executable, 0, NULL, &before));
	change_order(&scene);
	MUST(sycl_queue_graph(queue, scene.executable, 0, NULL, &behind));
	cr_assert(is_made(2), "it is made when nothing runs any more");
	portable_engine_hold(false);
	MUST(sycl_event_wait_for(before, LONG_NS));
	MUST(sycl_event_wait_for(behind, LONG_NS));
	MUST(sycl_event_release(before));
	MUST(sycl_event_release(behind));
	cr_assert(words_copied_are(queue, scene.filled, 41));
	cr_assert(words_copied_are(queue, scene.other, 3 * MANY - 4));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 3));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_misuses, 0));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_ADD], 2 * MANY));
	cr_assert(le(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_adds_at_once, 2 * SLICE),
		  "%llu nodes were added at once",
		  (unsigned long long)fake_counters_of(FAKE_ANY_DEVICE).graph_adds_at_once);
	graph_changes_end_scene(&scene);
}

/* The kernel is changed and changed back. The old graph only waits for its launches, so no third
 * graph is made. */
Test(graph_changes, L13_changes_to_and_fro_while_launches_are_held_keep_two_graphs_at_most)
{
	struct scene scene;
	sycl_event events[8] = {NULL};
	begin_with(&scene, 3);
	launch_and_wait(queue, scene.executable);
	portable_engine_hold(true);
	for (uint32_t i = 0; i < 8; i++) {
		MUST(sycl_graph_node_set_accessor(scene.graph, scene.last, 0,
						  i % 2 ? scene.other : scene.filled,
						  SYCL_ACCESS_READ_WRITE));
		MUST(sycl_executable_graph_update(scene.executable, scene.graph, 1, &scene.last));
		MUST(sycl_queue_graph(queue, scene.executable, 0, NULL, &events[i]));
	}
	portable_engine_hold(false);
	for (uint32_t i = 0; i < 8; i++) {
		MUST(sycl_event_wait_for(events[i], LONG_NS));
		MUST(sycl_event_release(events[i]));
	}
	/* There are two increments and then twelve. Those of the other buffer go where the change
	 * directs them. */
	cr_assert(words_copied_are(queue, scene.other, 2 + 4 + 8));
	cr_assert(words_copied_are(queue, scene.filled, 40));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_misuses, 0));
	graph_changes_end_scene(&scene);
	MUST(sycl_queue_wait(queue));
}

static void fail_on(sycl_buffer buffer)
{
	sycl_kernel fail = portable_kernel(queue, "fail");
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_require(handler, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, fail, sycl_range1(1)));
	MUST(sycl_handler_submit(handler, &event));
	REFUSED(sycl_event_wait_for(event, LONG_NS), SYCL_ERROR_KERNEL);
	MUST(sycl_event_release(event));
	MUST(sycl_kernel_release(fail));
}

Test(graph_changes, M9_of_a_graph_only_what_needs_lost_contents_fails)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32"),
		    increment = portable_kernel(queue, "increment_u32");
	sycl_buffer lost = words_buffer(platform, 0), sound = words_buffer(platform, 0);
	sycl_graph graph = graph_for(queue);
	for (int i = 0; i < 3; i++) {
		MUST(sycl_graph_add(graph, increment_handler(queue, increment, lost), 0, NULL,
				    NULL));
		MUST(sycl_graph_add(graph, increment_handler(queue, increment, sound), 0, NULL,
				    NULL));
	}
	sycl_executable_graph executable = finalized(graph, 0);
	MUST(sycl_graph_release(graph));
	launch_and_wait(queue, executable);
	fail_on(lost);
	for (uint32_t i = 0; i < 2; i++) {
		sycl_event event = NULL;
		MUST(sycl_queue_graph(queue, executable, 0, NULL, &event));
		REFUSED(sycl_event_wait_for(event, LONG_NS), SYCL_ERROR_DEPENDENCY_FAILED);
		MUST(sycl_event_release(event));
		cr_assert(words_copied_are(queue, sound, 6 + 3 * i));
	}
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 1));
	heal(fill, lost);
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, sound, 12));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(lost));
	MUST(sycl_buffer_release(sound));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(increment));
}

/* If the backend can skip nodes, the launch names the disabled nodes, and no graph is made anew. */
Test(graph_changes, R3_a_node_is_disabled_in_the_graph_that_is_there)
{
	struct scene scene;
	begin_with(&scene, 3);
	launch_and_wait(queue, scene.executable);
	for (uint32_t i = 0; i < 4; i++) {
		MUST(sycl_executable_graph_set_node_enabled(scene.executable, scene.graph,
							    scene.last, i % 2));
		launch_and_wait(queue, scene.executable);
	}
	cr_assert(words_copied_are(queue, scene.other, 2 + 1 + 2 + 1 + 2));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 5));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE], 1));
	cr_assert(zero(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_misuses));
	graph_changes_end_scene(&scene);
}

/* The node was disabled when the graph was made. So it cannot be enabled in that graph. */
Test(graph_changes, R3_a_node_that_the_graph_never_had_has_it_made_anew)
{
	struct scene scene;
	begin_with(&scene, 3);
	MUST(sycl_executable_graph_set_node_enabled(scene.executable, scene.graph, scene.last, 0));
	launch_and_wait(queue, scene.executable);
	MUST(sycl_executable_graph_set_node_enabled(scene.executable, scene.graph, scene.last, 1));
	launch_and_wait(queue, scene.executable);
	cr_assert(words_copied_are(queue, scene.other, 1 + 2));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 2));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE], 2));
	graph_changes_end_scene(&scene);
}

/* A disabled node would have written contents. They are kept, also if the whole graph is one
 * command. */
Test(graph_changes, R3_what_a_disabled_node_would_write_anew_is_kept)
{
	struct scene scene;
	sycl_handler handler = NULL;
	const uint32_t value = 8;
	begin_with(&scene, 2);
	sycl_graph graph = graph_for(queue);
	sycl_graph_node node = 0;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, scene.filled, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, scene.fill, sycl_range1(WORDS)));
	MUST(sycl_graph_add(graph, handler, 0, NULL, &node));
	MUST(sycl_graph_add(graph, increment_handler(queue, scene.increment, scene.other), 0, NULL,
			    NULL));
	sycl_executable_graph executable = finalized(graph, SYCL_GRAPH_UPDATABLE);
	send_fill(queue, scene.fill, scene.filled, 77, NULL);
	MUST(sycl_executable_graph_set_node_enabled(executable, graph, node, 0));
	launch_and_wait(queue, executable);
	cr_assert(words_copied_are(queue, scene.filled, 77));
	cr_assert(words_copied_are(queue, scene.other, 1));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 1));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	graph_changes_end_scene(&scene);
}
