/* Graphs of the backend's, the front's part: their nodes, the launches that hold them, their end.
 */
#include "scheduler/state/graph.h"

#include "base/mailbox.h"
#include "scheduler/state/buffer.h"
#include "scheduler/dependencies.h"
#include "scheduler/state/device.h"
#include "scheduler/fill.h"
#include "scheduler/state/host_memory.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/public/graph.h"
#include "scheduler/public/task.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/native_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_NODES 16u
#define FIRST_HOSTS 4u

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

int sched_graph_create(struct scheduler_device *device, uint32_t node_limit, bool updatable,
		       void *owner, struct sched_graph **graph_out)
{
	struct sched_graph *graph = calloc(1, sizeof(*graph));
	struct sched_graph_node **nodes =
		calloc(node_limit ? node_limit : FIRST_NODES, sizeof(struct sched_graph_node *));
	if (!graph || !nodes) {
		free(graph);
		free((void *)nodes);
		return -ENOMEM;
	}
	graph->message.kind = SCHED_MESSAGE_GRAPH;
	graph->device = device;
	graph->owner = owner;
	graph->updatable = updatable;
	graph->nodes = nodes;
	graph->node_limit = node_limit;
	graph->references = 1;
	device->memories++;
	*graph_out = graph;
	return 0;
}

/* The memories of the request's buffers, where sched_command_fill expects them. */
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

static size_t graph_node_bytes(const struct sched_graph_node *node)
{
	return sizeof(*node) + node->storage_bytes +
	       node->buffer_count * sizeof(struct sched_buffer *) +
	       node->after_count * sizeof(uint32_t);
}

static void free_graph_node(struct sched_graph_node *node)
{
	worker_native_command_end(&node->command);
	if (node->command.kernel)
		sched_kernel_drop(node->command.kernel);
	for (uint32_t i = 0; i < node->buffer_count; i++)
		sched_buffer_drop(node->buffers[i]);
	free(node);
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
	struct sched_graph_node *node = calloc(1, graph_node_bytes(&sizes));
	if (!node)
		return -ENOMEM;
	*node = sizes;
	fill_graph_node(node, request, after);
	*node_out = node;
	return 0;
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
	graph->bytes += graph_node_bytes(node);
	graph->has_native |= request->action == TASK_NATIVE;
	graph->has_condition |= request->action == TASK_CONDITION;
	return 0;
}

int sched_graph_hold(struct sched_graph *graph, struct sched_host *host)
{
	if (graph->host_count == graph->host_capacity) {
		uint32_t capacity = graph->host_capacity ? graph->host_capacity * 2 : FIRST_HOSTS;
		struct sched_host **hosts =
			reallocarray((void *)graph->hosts, capacity, sizeof(struct sched_host *));
		if (!hosts)
			return -ENOMEM;
		graph->hosts = hosts;
		graph->host_capacity = capacity;
	}
	graph->hosts[graph->host_count++] = host;
	sched_host_hold(host);
	return 0;
}

uint64_t sched_graph_bytes(const struct sched_graph *graph)
{
	return graph->bytes;
}

void sched_graph_build(struct sched_graph *graph)
{
	graph->references++;
	graph->way = SCHED_GRAPH_BUILD_ON;
	sched_device_post(graph->device, &graph->message);
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
	node->index = index;
	node->next = *changes;
	*changes = node;
	return 0;
}

void sched_graph_changes_free(struct sched_graph_node *changes)
{
	while (changes) {
		struct sched_graph_node *node = changes;
		changes = node->next;
		free_graph_node(node);
	}
}

uint64_t sched_graph_changes_bytes(const struct sched_graph_node *changes)
{
	uint64_t bytes = 0;
	for (const struct sched_graph_node *node = changes; node; node = node->next)
		bytes += graph_node_bytes(node);
	return bytes;
}

uint64_t sched_graph_launches(const struct sched_graph *graph)
{
	return graph->launched;
}

uint64_t sched_graph_ran(const struct sched_graph *graph)
{
	return graph->ran;
}

bool sched_graph_is_broken(const struct sched_graph *graph)
{
	return graph->is_broken;
}

static void drop_graph_reference(struct sched_graph *graph)
{
	if (--graph->references > 0)
		return;
	graph->way = SCHED_GRAPH_FREE;
	sched_device_post(graph->device, &graph->message);
}

void sched_graph_release(struct sched_graph *graph)
{
	graph->released = true;
	drop_graph_reference(graph);
}

/* --------------------------------------- launches --------------------------------------- */

size_t sched_graph_storage(void)
{
	return sizeof(struct sched_graph_launch);
}

void sched_graph_fill(struct task_command *command, const struct task_request *request, uint8_t *at)
{
	struct sched_graph_launch *launch = (struct sched_graph_launch *)(void *)at;
	struct sched_graph *graph = request->graph.graph;
	*launch = (struct sched_graph_launch){
		.graph = graph,
		.changes = request->graph.changes,
		.number = ++graph->launched,
	};
	graph->references++;
	command->graph = launch;
	command->backend.kind = BACKEND_COMMAND_GRAPH;
}

void sched_graph_end(struct task *task)
{
	struct sched_graph_launch *launch = task->command.graph;
	if (!launch)
		return;
	struct sched_graph *graph = launch->graph;
	if (launch->ran && launch->number > graph->ran)
		graph->ran = launch->number;
	graph->is_broken |= launch->broke;
	sched_graph_changes_free(launch->changes);
	task->command.graph = NULL;
	drop_graph_reference(graph);
}

/* ----------------------------------- what comes back ------------------------------------ */

static void destroy_graph(struct sched_graph *graph)
{
	for (uint32_t i = 0; i < graph->node_count; i++)
		free_graph_node(graph->nodes[i]);
	for (uint32_t i = 0; i < graph->host_count; i++)
		sched_host_drop(graph->hosts[i]);
	free((void *)graph->hosts);
	graph->device->memories--;
	free((void *)graph->nodes);
	free((void *)graph->retired);
	free(graph->memories);
	free(graph->temporaries);
	free(graph);
}

void sched_graph_returned(void *object)
{
	struct sched_graph *graph = object;
	if (graph->way == SCHED_GRAPH_FREE) {
		destroy_graph(graph);
		return;
	}
	if (graph->way == SCHED_GRAPH_BUILD_ON && !graph->released) {
		sched_device_post(graph->device, &graph->message);
		return;
	}
	sched_loss_found(graph->device, &graph->fault);
	sched_notice_queue(graph->device->scheduler, &graph->notice, SCHED_NOTICE_GRAPH_BUILT,
			   graph);
}

void sched_graph_notify(void *object)
{
	struct sched_graph *graph = object;
	struct scheduler *scheduler = graph->device->scheduler;
	if (!graph->released)
		scheduler->callbacks.on_graph_built(scheduler->context, graph->owner, graph,
						    &graph->fault);
	drop_graph_reference(graph);
}
