/* Launches of executable graphs: an action of a command group (L9, L10, L12). */
#include "graph/executable_graph.h"
#include "host_task/host_tasks.h"
#include "interop/bridge.h"

#include <stdlib.h>

SYCL_API sycl_result sycl_handler_graph(sycl_handler handle, sycl_executable_graph graph_handle)
{
	PIN(handler, handler, handle);
	PIN(executable_graph, graph, graph_handle);
	sycl_result result = handler_check_no_action(handler);
	if (!result)
		result = graph_check_launchable(handler, graph);
	if (result)
		return result;
	handler->action = HANDLER_ACTION_GRAPH;
	handler->graph = graph;
	handler->graph_remote = &graph->remote;
	object_ref(&graph->object);
	return SYCL_SUCCESS;
}

static void graph_tasks_drop(struct graph_tasks *tasks)
{
	free((void *)tasks->tasks);
	*tasks = (struct graph_tasks){.tasks = NULL};
}

static sycl_result graph_tasks_make_each(const struct handler *handler, struct graph_tasks *tasks)
{
	const struct executable_graph *graph = handler->graph;
	for (uint32_t i = 0; i < graph->count; i++) {
		if (!graph->nodes[i].is_host_task)
			continue;
		struct host_task *task = NULL;
		sycl_result result =
			handler_host_task_new(graph->nodes[i].handler, handler->queue->line, &task);
		if (result)
			return result;
		task->node = i + 1;
		task->graph = bridge_graph_hold(graph->nodes[i].native_graph);
		tasks->tasks[tasks->count++] = task;
	}
	return SYCL_SUCCESS;
}

sycl_result graph_tasks_make(const struct handler *handler, struct graph_tasks *tasks)
{
	uint32_t count = handler->graph->host_count;
	*tasks = (struct graph_tasks){.tasks = NULL};
	if (count == 0)
		return SYCL_SUCCESS;
	/* One block holds the three lists. */
	tasks->tasks = calloc(count, 2 * sizeof(void *) + sizeof(*tasks->messages));
	if (!tasks->tasks)
		return error_no_memory();
	tasks->list = (void *)(tasks->tasks + count);
	tasks->messages = (void *)(tasks->list + count);
	sycl_result result = graph_tasks_make_each(handler, tasks);
	if (result) {
		struct failure why;
		error_get(&why);
		graph_tasks_settle(handler->object.connection, tasks, false);
		return error_set_failure(&why);
	}
	return SYCL_SUCCESS;
}

void graph_tasks_put(struct connection *c, struct graph_tasks *tasks, uint64_t group)
{
	for (uint32_t i = 0; i < tasks->count; i++) {
		sycl__v1__host_task__init(&tasks->messages[i]);
		tasks->messages[i].slot = tasks->tasks[i]->slot;
		tasks->messages[i].slot_value = tasks->tasks[i]->value;
		tasks->list[i] = &tasks->messages[i];
		host_task_list(c, tasks->tasks[i], group);
	}
	tasks->launch.n_host_tasks = tasks->count;
	tasks->launch.host_tasks = tasks->list;
}

void graph_tasks_settle(struct connection *c, struct graph_tasks *tasks, bool sent)
{
	for (uint32_t i = 0; i < tasks->count; i++)
		host_task_settle(c, tasks->tasks[i], sent);
	graph_tasks_drop(tasks);
}
