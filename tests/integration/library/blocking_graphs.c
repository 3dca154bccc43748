/* Graphs behind a closed gate. The calls that record, make, update and launch them return; the
 * launches wait there. */
#include "library/blocking.h"

static void call_recording(const struct gated *gated, sycl_graph graph, sycl_graph_node *kernel_out)
{
	sycl_queue queues[1] = {gated->queue};
	sycl_queue_state state = SYCL_QUEUE_EXECUTING;
	sycl_event recorded = NULL;
	sycl_handler handler = NULL;
	uint32_t value = 7;
	CALL_MUST(sycl_graph_begin_recording, graph, 1, queues);
	CALL_MUST(sycl_queue_get_state, gated->queue, &state);
	MUST(sycl_handler_begin(gated->queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, gated->held, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, gated->fill, sycl_range1(WORDS)));
	CALL_MUST(sycl_handler_submit, handler, &recorded);
	CALL_MUST(sycl_graph_node_from_event, graph, recorded, kernel_out);
	CALL_MUST(sycl_graph_end_recording, graph, 1, queues);
	MUST(sycl_event_release(recorded));
}

static void call_nodes(const struct gated *gated, sycl_graph graph, sycl_graph_node kernel)
{
	sycl_handler handler = NULL;
	sycl_graph_node added = 0, empty = 0;
	sycl_graph_node_type type = SYCL_GRAPH_NODE_EMPTY;
	uint32_t count = 0, value = 8;
	sycl_range range = sycl_range1(WORDS);
	MUST(sycl_handler_begin(gated->queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, gated->held, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, gated->increment, range));
	CALL_MUST(sycl_graph_add, graph, handler, 1, &kernel, &added);
	CALL_MUST(sycl_graph_add_empty, graph, 1, &added, &empty);
	CALL_MUST(sycl_graph_make_edge, graph, kernel, empty);
	CALL_MUST(sycl_graph_get_node_count, graph, &count);
	CALL_MUST(sycl_graph_node_get_type, graph, kernel, &type);
	CALL_MUST(sycl_graph_node_get_predecessors, graph, empty, 0, NULL, &count);
	CALL_MUST(sycl_graph_node_get_successors, graph, kernel, 0, NULL, &count);
	CALL_MUST(sycl_graph_node_set_value, graph, kernel, 1, sizeof(value), &value);
	CALL_MUST(sycl_graph_node_set_accessor, graph, kernel, 0, gated->held, SYCL_ACCESS_WRITE);
	(void)CALL(sycl_graph_node_set_usm, graph, kernel, 5, NULL);
	CALL_MUST(sycl_graph_node_update_range, graph, kernel, &range, NULL);
}

static void call_launches(const struct gated *gated, sycl_graph graph, sycl_graph_node kernel)
{
	struct sycl_graph_finalize_properties properties = SYCL_GRAPH_FINALIZE_PROPERTIES_INIT;
	sycl_executable_graph executable = NULL;
	sycl_handler handler = NULL;
	uint32_t count = 0;
	properties.flags = SYCL_GRAPH_UPDATABLE;
	CALL_MUST(sycl_graph_finalize, graph, &properties, &executable);
	CALL_MUST(sycl_executable_graph_retain, executable);
	CALL_MUST(sycl_executable_graph_get_reference_count, executable, &count);
	CALL_MUST(sycl_executable_graph_is_updatable, executable, &count);
	CALL_MUST(sycl_queue_graph, gated->queue, executable, 1, &gated->event, NULL);
	CALL_MUST(sycl_executable_graph_update, executable, graph, 1, &kernel);
	CALL_MUST(sycl_executable_graph_update_whole, executable, graph);
	CALL_MUST(sycl_executable_graph_set_node_enabled, executable, graph, kernel, 0);
	CALL_MUST(sycl_executable_graph_is_node_enabled, executable, graph, kernel, &count);
	CALL_MUST(sycl_executable_graph_set_node_enabled, executable, graph, kernel, 1);
	MUST(sycl_handler_begin(gated->queue, &handler));
	CALL_MUST(sycl_handler_graph, handler, executable);
	MUST(sycl_handler_submit(handler, NULL));
	CALL_MUST(sycl_executable_graph_release, executable);
	MUST(sycl_executable_graph_release(executable));
}

/* A device without conditions refuses them at once. */
static void call_conditions(const struct gated *gated, sycl_graph graph)
{
	sycl_executable_graph executable = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	MUST(sycl_handler_begin(gated->queue, &handler));
	(void)CALL(sycl_handler_graph_conditional_usm, handler, SYCL_GRAPH_CONDITION_WHILE, NULL,
		   executable);
	(void)CALL(sycl_handler_graph_conditional, handler, SYCL_GRAPH_CONDITION_IF, gated->held, 0,
		   executable);
	MUST(sycl_handler_discard(handler));
	MUST(sycl_executable_graph_release(executable));
}

void call_graphs(const struct gated *gated)
{
	sycl_graph graph = NULL;
	sycl_graph_node kernel = 0;
	sycl_context context = NULL;
	sycl_device device = NULL;
	uint32_t count = 0;
	CALL_MUST(sycl_graph_create, gated->context, gated->device, NULL, &graph);
	CALL_MUST(sycl_graph_retain, graph);
	CALL_MUST(sycl_graph_get_reference_count, graph, &count);
	CALL_MUST(sycl_graph_get_context, graph, &context);
	CALL_MUST(sycl_graph_get_device, graph, &device);
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
	call_recording(gated, graph, &kernel);
	call_nodes(gated, graph, kernel);
	call_launches(gated, graph, kernel);
	call_conditions(gated, graph);
	CALL_MUST(sycl_graph_release, graph);
	MUST(sycl_graph_release(graph));
}
