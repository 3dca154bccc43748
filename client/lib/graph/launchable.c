/* Checks whether a graph may be launched by a handler, or be the body of its condition. */
#include "graph/executable_graph.h"

sycl_result graph_check_launchable(const struct handler *handler, struct executable_graph *graph)
{
	sycl_result result = remote_check(&graph->remote);
	if (result)
		return result;
	if (graph->object.connection != handler->object.connection)
		return error_set(SYCL_ERROR_INVALID,
				 "the graph and the queue belong to different connections");
	if (graph->context != handler->queue->context || graph->device != handler->queue->device)
		return error_set_object(
			SYCL_ERROR_INVALID, graph->remote.id,
			"the graph was made for another context or device than the queue's");
	return SYCL_SUCCESS;
}
