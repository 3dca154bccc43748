/* The nodes of a backend's graph: commands, made as those of a task are. */
#include "scheduler/state/graph.h"

#include "scheduler/state/buffer.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/request/fill.h"
#include "scheduler/public/graph.h"
#include "scheduler/public/task.h"
#include "scheduler/state/program.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_node_action(enum task_action action)
{
	switch (action) {
	case TASK_BARRIER:
	case TASK_LAUNCH:
	case TASK_COPY:
	case TASK_FILL:
	case TASK_USM_COPY:
	case TASK_USM_FILL:
	case TASK_USM_PREFETCH:
	case TASK_USM_ADVISE:
	case TASK_NATIVE:
	case TASK_CONDITION:
		return true;
	case TASK_HOST_UPDATE:
	case TASK_EVENT_RECORD:
	case TASK_EVENT_WAIT:
	case TASK_HOST:
	case TASK_GRAPH:
		break;
	}
	return false;
}

/* Puts the memories of the request's buffers where sched_command_fill expects them. */
static int find_memories(const struct task_request *request)
{
	struct scheduler *scheduler = request->device->scheduler;
	int result = sched_accesses_reserve(scheduler, request->requirement_count);
	for (uint32_t i = 0; result == 0 && i < request->requirement_count; i++) {
		struct sched_access *access = &scheduler->accesses[i];
		access->buffer = request->requirements[i].buffer;
		access->memory = NULL;
		if (access->buffer->contents->size_bytes == 0)
			continue;
		result = sched_memory_need(access->buffer, request->device, &access->memory);
	}
	return result;
}

static void fill_graph_node(struct sched_graph_node *node, const struct task_request *request,
			    const uint32_t *after)
{
	node->buffers = (struct sched_buffer **)(void *)(node->storage + node->storage_bytes);
	node->after = (uint32_t *)(void *)(node->buffers + node->buffer_count);
	if (node->after_count > 0)
		memcpy(node->after, after, node->after_count * sizeof(*after));
	for (uint32_t i = 0; i < node->buffer_count; i++) {
		node->buffers[i] = request->requirements[i].buffer;
		node->buffers[i]->references++;
	}
	if (sched_request_is_front_only(request)) {
		node->command.backend.kind = BACKEND_COMMAND_NOP;
		return;
	}
	sched_command_fill(&node->command, request, node->storage);
	node->command.backend.timed = false; /* the whole has times */
	if (request->action == TASK_LAUNCH) {
		node->command.kernel = request->launch.kernel;
		node->command.kernel->references++;
	}
}

static int make_graph_node(const struct task_request *request, const uint32_t *after,
			   uint32_t after_count, struct sched_graph_node **node_out)
{
	if (!is_node_action(request->action))
		return -EOPNOTSUPP;
	/* The driver takes a launch only with its program. Such graphs are launched node by node.
	 */
	if (request->action == TASK_LAUNCH && request->launch.kernel &&
	    !sched_variants_are_ready(request->launch.kernel->variants, request->launch.dimensions))
		return -EOPNOTSUPP;
	int result = find_memories(request);
	if (result < 0)
		return result;
	size_t storage_bytes =
		sched_request_is_front_only(request) ? 0 : sched_command_storage(request);
	const struct sched_graph_node sizes = {
		.storage_bytes = storage_bytes,
		.buffer_count = request->requirement_count,
		.after_count = after_count,
	};
	struct sched_graph_node *node = calloc(1, sched_graph_node_bytes(&sizes));
	if (!node)
		return -ENOMEM;
	*node = sizes;
	fill_graph_node(node, request, after);
	*node_out = node;
	return 0;
}

/* A kernel that is not made yet may print, as far as is known. */
static bool request_may_print(const struct task_request *request)
{
	const struct sched_kernel *kernel =
		request->action == TASK_LAUNCH ? request->launch.kernel : NULL;
	return kernel && (!kernel->made || kernel->facts.prints);
}

int sched_graph_add(struct sched_graph *graph, const struct task_request *request,
		    const uint32_t *after, uint32_t after_count)
{
	struct sched_graph_node *node;
	if (graph->node_count == graph->node_limit)
		return -ENOMEM;
	if (request->device != graph->device)
		return -EOPNOTSUPP;
	int result = make_graph_node(request, after, after_count, &node);
	if (result < 0)
		return result;
	node->index = graph->node_count;
	graph->nodes[graph->node_count++] = node;
	graph->bytes += sched_graph_node_bytes(node);
	graph->may_print |= request_may_print(request);
	graph->has_native |= request->action == TASK_NATIVE;
	graph->has_condition |= request->action == TASK_CONDITION;
	return 0;
}

int sched_graph_change(struct sched_graph *graph, uint32_t index,
		       const struct task_request *request, const uint32_t *after,
		       uint32_t after_count, struct sched_graph_node **changes)
{
	struct sched_graph_node *node;
	bool possible = index < graph->node_count && request->device == graph->device;
	int result = possible ? make_graph_node(request, after, after_count, &node) : -EOPNOTSUPP;
	if (result < 0)
		return result;
	graph->may_print |= request_may_print(request);
	node->index = index;
	node->next = *changes;
	*changes = node;
	return 0;
}
