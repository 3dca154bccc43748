/* Graphs of the backend, on the front thread: the launches that hold them, and their end. */
#include "scheduler/state/graph.h"

#include "base/mailbox.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/host_memory.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/public/graph.h"
#include "scheduler/public/task.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/task/native_command.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_NODES 16u
#define FIRST_HOSTS 4u

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

static void free_graph_node(struct sched_graph_node *node)
{
	worker_native_command_end(&node->command);
	if (node->command.kernel)
		sched_kernel_drop(node->command.kernel);
	for (uint32_t i = 0; i < node->buffer_count; i++)
		sched_buffer_drop(node->buffers[i]);
	free(node);
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

void sched_graph_build(struct sched_graph *graph, bool awaits_quiet)
{
	graph->references++;
	graph->awaits_quiet = awaits_quiet;
	graph->way = SCHED_GRAPH_BUILD_ON;
	sched_device_post(graph->device, &graph->message);
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
		bytes += sched_graph_node_bytes(node);
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

static void graph_begin_launch(struct task_command *command, struct sched_graph_launch *launch,
			       struct sched_graph *graph, struct sched_graph_node *changes)
{
	*launch = (struct sched_graph_launch){
		.graph = graph,
		.changes = changes,
		.number = ++graph->launched,
	};
	graph->references++;
	command->graph = launch;
}

void sched_graph_fill(struct task_command *command, const struct task_request *request, uint8_t *at)
{
	graph_begin_launch(command, (struct sched_graph_launch *)(void *)at, request->graph.graph,
			   request->graph.changes);
	command->backend.kind = BACKEND_COMMAND_GRAPH;
}

void sched_graph_fill_again(struct task_command *command, struct sched_graph_launch *launch)
{
	graph_begin_launch(command, launch, launch->graph, NULL);
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
