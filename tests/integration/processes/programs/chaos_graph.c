/* The part of `worker chaos` that makes, changes and launches executable graphs. */
#include "processes/programs/chaos.h"

enum { GRAPH_BYTES = 64 << 10, LAUNCHES_MAX = 6, TASK_ADDS = 7 };

/* Runs on whichever thread waits; there is only one. */
static sycl_result add_in_host(sycl_host_task task, void *user_data)
{
	struct chaos_graph *graph = user_data;
	void *pointer = NULL;
	sycl_result r = sycl_host_task_get_pointer(task, 0, &pointer);
	if (r)
		return r;
	uint32_t *words = pointer;
	/* The kernel before it has changed one word and no other. */
	graph->task_found_wrong |=
		words[1] != graph->fill || words[GRAPH_BYTES / 4 - 1] != graph->fill;
	graph->tasks++;
	words[0] += TASK_ADDS;
	return 0;
}

static sycl_result record_task(struct chaos *chaos)
{
	sycl_handler handler = NULL;
	sycl_result r = sycl_handler_begin(chaos->queue, &handler);
	if (r)
		return r;
	worker_must(sycl_handler_set_host_accessor(handler, 0, chaos->graph.from,
						   SYCL_ACCESS_READ_WRITE),
		    "host accessor");
	worker_must(sycl_handler_host_task(handler, add_in_host, &chaos->graph, NULL), "host_task");
	return sycl_handler_submit(handler, NULL);
}

static sycl_result record_kernel(struct chaos *chaos)
{
	struct chaos_graph *graph = &chaos->graph;
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	sycl_result r = chaos_add(chaos, graph->from, 0, &handler);
	if (r == 0)
		r = sycl_handler_submit(handler, &event);
	if (r == 0)
		r = sycl_graph_node_from_event(graph->graph, event, &graph->kernel_node);
	if (event)
		(void)sycl_event_release(event);
	return r;
}

static sycl_result record_graph(struct chaos *chaos)
{
	struct chaos_graph *graph = &chaos->graph;
	sycl_buffer first = graph->temporary ? graph->temporary : graph->from;
	sycl_result r = sycl_graph_begin_recording(graph->graph, 1, &chaos->queue);
	if (r == 0)
		r = sycl_queue_fill(chaos->queue, first, 0, GRAPH_BYTES, &graph->fill,
				    sizeof(graph->fill), NULL);
	if (r == 0 && graph->temporary)
		r = sycl_queue_copy(chaos->queue, first, 0, graph->from, 0, GRAPH_BYTES, NULL);
	if (r == 0)
		r = record_kernel(chaos);
	if (r == 0 && graph->has_task)
		r = record_task(chaos);
	if (r == 0)
		r = sycl_queue_copy(chaos->queue, graph->from, 0, graph->to, 0, GRAPH_BYTES, NULL);
	if (r == 0)
		r = sycl_graph_end_recording(graph->graph, 1, &chaos->queue);
	return r;
}

static sycl_result make_graph(struct chaos *chaos)
{
	struct chaos_graph *graph = &chaos->graph;
	struct sycl_graph_finalize_properties properties = SYCL_GRAPH_FINALIZE_PROPERTIES_INIT;
	properties.flags = SYCL_GRAPH_UPDATABLE;
	graph->has_task = worker_random(chaos->worker, 3) == 0;
	graph->fill = worker_random(chaos->worker, 1u << 30);
	sycl_result r = sycl_buffer_create(chaos->platform, NULL, GRAPH_BYTES, SYCL_HOST_NONE,
					   &graph->from);
	if (r == 0)
		r = sycl_buffer_create(chaos->platform, NULL, GRAPH_BYTES, SYCL_HOST_NONE,
				       &graph->to);
	if (r == 0 && worker_random(chaos->worker, 2))
		r = sycl_buffer_create_temporary(chaos->platform, GRAPH_BYTES, &graph->temporary);
	if (r == 0)
		r = sycl_graph_create(chaos->context, chaos->device, NULL, &graph->graph);
	if (r == 0)
		r = record_graph(chaos);
	if (r == 0)
		r = sycl_graph_finalize(graph->graph, &properties, &graph->executable);
	chaos->did.graphs += r == 0;
	return r;
}

void chaos_graph_end(struct chaos *chaos)
{
	struct chaos_graph *graph = &chaos->graph;
	if (graph->executable)
		(void)sycl_executable_graph_release(graph->executable);
	if (graph->graph)
		(void)sycl_graph_release(graph->graph);
	if (graph->from)
		(void)sycl_buffer_release(graph->from);
	if (graph->temporary)
		(void)sycl_buffer_release(graph->temporary);
	if (graph->to)
		(void)sycl_buffer_release(graph->to);
	worker_check(!graph->task_found_wrong,
		     "a host task of a graph found what the graph has not written");
	*graph = (struct chaos_graph){.graph = NULL};
}

static sycl_result chaos_graph_change_node(struct chaos *chaos)
{
	struct chaos_graph *graph = &chaos->graph;
	uint32_t n = worker_random(chaos->worker, 1000);
	sycl_result r =
		sycl_graph_node_set_value(graph->graph, graph->kernel_node, 1, sizeof(n), &n);
	if (r == 0)
		r = sycl_executable_graph_update(graph->executable, graph->graph, 1,
						 &graph->kernel_node);
	/* Each launch begins with the fill. */
	graph->contents.first = graph->fill + n + (graph->has_task ? TASK_ADDS : 0);
	graph->contents.rest = graph->fill;
	chaos->did.updates += r == 0;
	return r;
}

/* It does not use an accessor, which is refused while the graph can still be changed. */
static sycl_result check_graph_result(struct chaos *chaos)
{
	static uint32_t words[GRAPH_BYTES / 4];
	sycl_event event = NULL;
	sycl_result r = sycl_queue_copy_to_host(chaos->queue, chaos->graph.to, 0, words,
						GRAPH_BYTES, &event);
	if (r == 0)
		r = sycl_event_wait(event);
	if (event)
		(void)sycl_event_release(event);
	if (r == 0)
		chaos_compare(words, GRAPH_BYTES, chaos->graph.contents, "a graph's");
	return r;
}

/* Sometimes its handle is released before it has run. */
static sycl_result launch_graph_times(struct chaos *chaos, uint32_t count,
				      sycl_event events[LAUNCHES_MAX])
{
	sycl_result r = 0;
	for (uint32_t i = 0; i < count && r == 0; i++) {
		if (i == 0 || worker_random(chaos->worker, 2))
			r = chaos_graph_change_node(chaos);
		if (r == 0)
			r = sycl_queue_graph(chaos->queue, chaos->graph.executable, 0, NULL,
					     &events[i]);
		chaos->did.launches += r == 0;
		if (r == 0 && worker_random(chaos->worker, 4) == 0)
			r = check_graph_result(chaos);
	}
	if (r == 0 && worker_random(chaos->worker, 8) == 0) {
		r = sycl_executable_graph_release(chaos->graph.executable);
		chaos->graph.executable = NULL;
	}
	return r;
}

/* An error that only one of several launches has met is in its event. The next launch writes
 * everything anew. */
static sycl_result wait_for_all(sycl_event events[LAUNCHES_MAX], sycl_result so_far)
{
	for (uint32_t i = 0; i < LAUNCHES_MAX; i++) {
		if (so_far == 0 && events[i])
			so_far = sycl_event_wait(events[i]);
		if (events[i])
			(void)sycl_event_release(events[i]);
	}
	return so_far;
}

/* Half of the times it uses the existing graph. */
sycl_result chaos_graph_round(struct chaos *chaos)
{
	sycl_event events[LAUNCHES_MAX] = {NULL};
	uint32_t launches = 1 + worker_random(chaos->worker, LAUNCHES_MAX), tasks = 0;
	sycl_result r = 0;
	if (chaos->graph.executable && worker_random(chaos->worker, 2))
		chaos_graph_end(chaos);
	if (!chaos->graph.executable)
		r = make_graph(chaos);
	tasks = chaos->graph.tasks;
	if (r == 0)
		r = launch_graph_times(chaos, launches, events);
	if (r == 0)
		r = check_graph_result(chaos);
	r = wait_for_all(events, r);
	if (r == 0 && chaos->graph.has_task)
		worker_check(chaos->graph.tasks - tasks == launches,
			     "a graph's host task has not run once in each launch");
	if (r == 0 && !chaos->graph.executable)
		chaos_graph_end(chaos);
	return r;
}
