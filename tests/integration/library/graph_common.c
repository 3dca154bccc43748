#include "library/graph.h"

sycl_graph graph_for(sycl_queue of)
{
	sycl_context context = NULL;
	sycl_device device = NULL;
	sycl_graph graph = NULL;
	MUST(sycl_queue_get_context(of, &context));
	MUST(sycl_queue_get_device(of, &device));
	MUST(sycl_graph_create(context, device, NULL, &graph));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
	return graph;
}

sycl_executable_graph finalized(sycl_graph graph, uint32_t flags)
{
	struct sycl_graph_finalize_properties properties = SYCL_GRAPH_FINALIZE_PROPERTIES_INIT;
	sycl_executable_graph executable = NULL;
	properties.flags = flags;
	MUST(sycl_graph_finalize(graph, flags ? &properties : NULL, &executable));
	return executable;
}

sycl_buffer plain_buffer(sycl_platform of)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(of, NULL, WORDS_BYTES, SYCL_HOST_NONE, &buffer));
	return buffer;
}

sycl_handler fill_handler(sycl_queue on, sycl_kernel fill, sycl_buffer buffer, uint32_t value)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(WORDS)));
	return handler;
}

sycl_handler increment_handler(sycl_queue on, sycl_kernel increment, sycl_buffer buffer)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	return handler;
}

void send_fill(sycl_queue on, sycl_kernel fill, sycl_buffer buffer, uint32_t value,
	       sycl_event *event_out)
{
	MUST(sycl_handler_submit(fill_handler(on, fill, buffer, value), event_out));
}

bool words_copied_are(sycl_queue on, sycl_buffer buffer, uint32_t value)
{
	static uint32_t words[WORDS];
	sycl_event event = NULL;
	MUST(sycl_queue_copy_to_host(on, buffer, 0, words, WORDS_BYTES, &event));
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
	for (int i = 0; i < WORDS; i++) {
		if (words[i] != value) {
			cr_log_warn("word %d is %u, not %u", i, words[i], value);
			return false;
		}
	}
	return true;
}

sycl_queue_state state_of(sycl_queue of)
{
	sycl_queue_state state = SYCL_QUEUE_EXECUTING;
	MUST(sycl_queue_get_state(of, &state));
	return state;
}

bool comes_behind(sycl_graph graph, sycl_graph_node node, sycl_graph_node before)
{
	sycl_graph_node nodes[64];
	uint32_t count = 0;
	bool found = false;
	MUST(sycl_graph_node_get_predecessors(graph, node, 64, nodes, &count));
	for (uint32_t i = 0; i < count && i < 64; i++)
		found = found || nodes[i] == before;
	return found;
}

uint32_t count_predecessors(sycl_graph graph, sycl_graph_node node)
{
	uint32_t count = 0;
	MUST(sycl_graph_node_get_predecessors(graph, node, 0, NULL, &count));
	return count;
}

uint32_t count_nodes(sycl_graph graph)
{
	uint32_t count = 0;
	MUST(sycl_graph_get_node_count(graph, &count));
	return count;
}

void launch_and_wait(sycl_queue on, sycl_executable_graph graph)
{
	sycl_event event = NULL;
	MUST(sycl_queue_graph(on, graph, 0, NULL, &event));
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
}
