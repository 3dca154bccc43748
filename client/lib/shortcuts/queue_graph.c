/* A launch of an executable graph in one call. */
#include "base/error.h"
#include "shortcuts/shortcuts.h"

#include "syclclient.h"
#include "syclclient/graph.h"

static sycl_result graph_launch_build(sycl_handler handler, sycl_executable_graph graph,
				      uint32_t count, const sycl_event *depends_on)
{
	sycl_result result = sycl_handler_graph(handler, graph);
	for (uint32_t i = 0; i < count && !result; i++)
		result = sycl_handler_depends_on(handler, depends_on[i]);
	return result;
}

SYCL_API sycl_result sycl_queue_graph(sycl_queue queue, sycl_executable_graph graph, uint32_t count,
				      const sycl_event *depends_on, sycl_event *event_out)
{
	if (count > 0 && !depends_on)
		return error_set(SYCL_ERROR_INVALID, "a list of %u events is NULL", count);
	sycl_handler handler = NULL;
	sycl_result result = sycl_handler_begin(queue, &handler);
	if (result)
		return result;
	result = graph_launch_build(handler, graph, count, depends_on);
	return shortcut_submit_or_discard(handler, result, event_out);
}
