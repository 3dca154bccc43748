/* Graphs of the backend, the device thread's half: building, changing and rebuilding them. */
#include "worker/command/graph.h"

#include "base/cause.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/graph.h"
#include "scheduler/public/device.h"
#include "scheduler/state/task.h"
#include "worker/command/command.h"
#include "worker/command/graph_memory.h"
#include "worker/command/loss.h"
#include "worker/command/memory.h"
#include "worker/device/wake.h"
#include "worker/task/native_command.h"
#include "worker/spill/spill.h"

#include "clock.h"
#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_CAPACITY 8u
/* A graph that was not made by then is refused, and its nodes are sent one by one. */
#define QUIET_WAIT_NS 100000000u

static int refuse_graph(struct backend_fault *fault, int32_t status, const char *text, int error)
{
	*fault = (struct backend_fault){.status = status};
	(void)snprintf(fault->text, sizeof(fault->text), "%s", text);
	return error;
}

static int fail_without_memory(struct backend_fault *fault)
{
	return refuse_graph(fault, STATUS_MEMORY_ALLOCATION, "the engine has no memory for a graph",
			    -ENOMEM);
}

static int resolve_graph_node(struct sched_graph *graph, struct sched_graph_node *node,
			      struct backend_fault *fault)
{
	graph->device->worker.making = graph;
	int result = worker_command_resolve(graph->device, &node->command, fault);
	graph->device->worker.making = NULL;
	return result;
}

/* ---------------------------------------- making ---------------------------------------- */

static int gather_memory(struct sched_graph *graph, struct sched_memory *memory,
			 struct backend_fault *fault)
{
	if (!memory || memory->gathered == graph->stamp ||
	    (memory->is_temporary && worker_graph_find_memory(graph, memory)))
		return 0;
	if (graph->memory_count == graph->memory_capacity) {
		uint32_t capacity =
			graph->memory_capacity ? graph->memory_capacity * 2 : FIRST_CAPACITY;
		struct worker_graph_memory *memories =
			reallocarray(graph->memories, capacity, sizeof(*memories));
		if (!memories)
			return fail_without_memory(fault);
		graph->memories = memories;
		graph->memory_capacity = capacity;
	}
	memory->gathered = graph->stamp;
	worker_spill_pin(graph->device, memory);
	graph->memories[graph->memory_count++] = (struct worker_graph_memory){
		memory, atomic_load_explicit(&memory->handle, memory_order_relaxed)};
	return 0;
}

static int gather_node_memories(struct sched_graph *graph, const struct task_command *command,
				struct backend_fault *fault)
{
	struct sched_memory *memory;
	uint32_t arguments = command->backend.kind == BACKEND_COMMAND_LAUNCH
				     ? command->backend.launch.argument_count
				     : 0;
	int result = gather_memory(graph, command->source, fault);
	if (result == 0)
		result = gather_memory(graph, command->destination, fault);
	for (uint32_t i = 0; result == 0 && i < arguments; i++)
		result = gather_memory(graph, command->argument_memories[i], fault);
	for (uint32_t i = 0; result == 0 && command->native_command &&
			     worker_native_command_has(command->native_command, i, &memory);
	     i++)
		result = gather_memory(graph, memory, fault);
	return result;
}

static int add_graph_node(struct sched_graph *graph, struct backend_fault *fault)
{
	const struct scheduler_device *device = graph->device;
	struct sched_graph_node *node = graph->nodes[graph->next];
	uint32_t place = 0;
	int result = resolve_graph_node(graph, node, fault);
	if (result == 0)
		result = gather_node_memories(graph, &node->command, fault);
	if (result == 0)
		result = device->ops->graph_add(graph->handle, &node->command.backend, node->after,
						node->after_count, &place, fault);
	if (result < 0)
		return result;
	if (place != graph->next)
		return refuse_graph(fault, STATUS_RUNTIME,
				    "the backend counts the nodes of a graph in another way",
				    -EINVAL);
	graph->next++;
	return 0;
}

static void unpin_memories(struct scheduler_device *device,
			   const struct worker_graph_memory *memories, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		worker_spill_unpin(device, memories[i].memory);
}

/*
 * Memories of launches in flight with an older handle are in no list and stay. On a lost device
 * nothing is spilled, and memories of nodes that were changed last may be freed.
 */
static void release_memories(struct sched_graph *graph)
{
	if (!graph->device->worker.unusable)
		unpin_memories(graph->device, graph->memories, graph->memory_count);
	graph->memory_count = 0;
}

static void graph_free_handle(struct sched_graph *graph)
{
	release_memories(graph);
	if (graph->handle)
		graph->device->ops->graph_free(graph->handle);
	graph->handle = NULL;
	graph->temporary_count = 0;
}

static int begin_graph(struct sched_graph *graph, struct backend_fault *fault)
{
	struct scheduler_device *device = graph->device;
	graph->stamp = ++device->worker.graph_stamp;
	graph->memory_count = 0;
	graph->temporary_count = 0; /* memories of a former handle belong to that handle */
	graph->next = 0;
	graph->waits_since_ns = 0;
	graph->is_stale = true;
	if (!device->ops->graph_create)
		return refuse_graph(fault, STATUS_FEATURE_NOT_SUPPORTED,
				    "this device has no graphs", -EOPNOTSUPP);
	return device->ops->graph_create(device->handle, &graph->handle, fault);
}

/*
 * Finishing a graph may wait for whatever runs on the device (QUIET_LOAD), and hold up all
 * sessions. So a graph needs a moment in which nothing runs, and may wait for one (quiesce.c).
 * -EAGAIN: not yet. Without one, this launch sends its nodes one by one, and a later one tries
 * again. Graphs with native nodes or conditions cannot be sent so, and are made at once.
 */
static int check_device_quiet(struct sched_graph *graph, struct backend_fault *fault)
{
	const struct scheduler_device *device = graph->device;
	if (!(device->features & BACKEND_FEATURE_QUIET_LOAD) || device->worker.in_flight == 0 ||
	    graph->has_native || graph->has_condition)
		return 0;
	const uint64_t now_ns = clock_now_ns();
	if (graph->waits_since_ns == 0)
		graph->waits_since_ns = now_ns;
	if (graph->awaits_quiet && now_ns - graph->waits_since_ns < QUIET_WAIT_NS)
		return -EAGAIN;
	return refuse_graph(fault, STATUS_FEATURE_NOT_SUPPORTED,
			    "a graph is made when nothing runs on the device", -EOPNOTSUPP);
}

/* Adds up to `most` nodes; finishing the graph is a step of its own. 1: there is more to do. */
static int continue_graph(struct sched_graph *graph, uint32_t most, struct backend_fault *fault)
{
	int result = 0;
	if (graph->next == graph->node_count) {
		result = graph->device->ops->graph_finish(graph->handle, graph->updatable, fault);
		graph->is_stale = result < 0;
		return result;
	}
	for (uint32_t i = 0; result == 0 && i < most && graph->next < graph->node_count; i++)
		result = add_graph_node(graph, fault);
	return result < 0 ? result : 1;
}

static int build_graph_step(struct sched_graph *graph, struct backend_fault *fault)
{
	struct scheduler_device *device = graph->device;
	if (device->worker.unusable) {
		*fault = *sched_gone_fault(device);
		return -EIO;
	}
	int result = graph->handle ? 0 : begin_graph(graph, fault);
	if (result == 0 && graph->next == graph->node_count)
		result = check_device_quiet(graph, fault);
	if (result == 0)
		result = continue_graph(graph, SCHED_GRAPH_SLICE, fault);
	if (result < 0 && result != WORKER_SPILL_WAIT && result != -EAGAIN)
		graph_free_handle(graph);
	return result;
}

static void free_driver_graphs(struct sched_graph *graph)
{
	graph_free_handle(graph);
	for (uint32_t i = 0; i < graph->retired_count; i++)
		graph->device->ops->graph_free(graph->retired[i]);
	graph->retired_count = 0;
}

bool worker_graph_handle(struct scheduler_device *device, void *object)
{
	struct sched_graph *graph = object;
	if (graph->way == SCHED_GRAPH_FREE) {
		free_driver_graphs(graph);
		return true;
	}
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	int result = build_graph_step(graph, &fault);
	if (result == WORKER_SPILL_WAIT)
		worker_spill_set_aside(device, &graph->message);
	if (result == -EAGAIN)
		sched_message_append(&device->worker.waiting_graphs, &graph->message);
	if (result > 0 || result == WORKER_SPILL_WAIT || result == -EAGAIN)
		return result > 0;
	graph->way = SCHED_GRAPH_BUILD_OVER;
	graph->fault = (struct backend_fault){.status = STATUS_SUCCESS};
	if (result == 0)
		return true;
	sched_fault_complete(&fault, result);
	graph->fault = fault;
	if (fault.device_lost)
		worker_lose(device, &fault);
	return true;
}

void worker_graph_step(struct scheduler_device *device)
{
	struct sched_message_list waiting = device->worker.waiting_graphs;
	struct sched_message *message;
	device->worker.waiting_graphs = (struct sched_message_list){.first = NULL};
	while ((message = sched_message_take(&waiting)))
		if (worker_graph_handle(device, message))
			worker_return(device, message);
}

/* --------------------------------------- changes ---------------------------------------- */

/* Launches of the graph may be in flight. Then its handle is freed when a launch goes alone. */
static int retire_handle(struct sched_graph *graph, bool alone, struct backend_fault *fault)
{
	if (alone || !graph->handle) {
		free_driver_graphs(graph);
		return 0;
	}
	if (graph->retired_count == graph->retired_capacity) {
		uint32_t capacity =
			graph->retired_capacity ? graph->retired_capacity * 2 : FIRST_CAPACITY;
		struct backend_graph **retired = reallocarray((void *)graph->retired, capacity,
							      sizeof(struct backend_graph *));
		if (!retired)
			return fail_without_memory(fault);
		graph->retired = retired;
		graph->retired_capacity = capacity;
	}
	graph->retired[graph->retired_count++] = graph->handle;
	graph->handle = NULL;
	return 0;
}

static int remake_graph(struct sched_graph *graph, bool alone, struct backend_fault *fault)
{
	if (graph->has_native)
		return refuse_graph(
			fault, STATUS_FEATURE_NOT_SUPPORTED,
			"this change would rebuild the graph, and the work of its native commands "
			"is done once",
			-EOPNOTSUPP);
	int result = retire_handle(graph, alone, fault);
	if (result == 0)
		result = begin_graph(graph, fault);
	if (result == 0)
		do
			result = continue_graph(graph, UINT32_MAX, fault);
		while (result > 0);
	if (result < 0)
		graph_free_handle(graph);
	return result;
}

static bool have_memories_moved(const struct sched_graph *graph)
{
	for (uint32_t i = 0; i < graph->memory_count; i++)
		if (atomic_load_explicit(&graph->memories[i].memory->handle,
					 memory_order_relaxed) != graph->memories[i].handle)
			return true;
	return false;
}

static bool has_same_edges(const struct sched_graph_node *a, const struct sched_graph_node *b)
{
	if (a->after_count != b->after_count)
		return false;
	for (uint32_t i = 0; i < a->after_count; i++)
		if (a->after[i] != b->after[i])
			return false;
	return true;
}

/* From now on the launch owns the nodes that its changes have replaced. */
static void take_changes(struct sched_graph *graph, struct sched_graph_launch *launch)
{
	struct sched_graph_node **at = &launch->changes;
	launch->ran = true;
	for (; *at; at = &(*at)->next) {
		struct sched_graph_node *change = *at, *old = graph->nodes[change->index];
		graph->is_stale |= !has_same_edges(change, old);
		old->next = change->next;
		change->next = NULL;
		graph->nodes[old->index] = change;
		*at = old;
	}
}

/* A graph with native nodes stays valid without these changes. Changes that were applied all the
 * same come again with the next launch, since this launch does not count as having applied them. */
static void undo_changes(struct sched_graph *graph, struct sched_graph_launch *launch)
{
	take_changes(graph, launch);
	launch->ran = false;
	graph->is_stale = false;
}

/*
 * Makes the graph's list of memories anew, because those that no node names any more may be freed
 * soon. If that fails, a graph with native nodes keeps its old list, and its old nodes come back
 * (undo_changes). Other graphs lose their list and are rebuilt at the next launch.
 */
static int gather_memories_again(struct sched_graph *graph, struct backend_fault *fault)
{
	int result = 0;
	struct worker_graph_memory *old = graph->memories;
	uint32_t old_count = graph->memory_count, old_capacity = graph->memory_capacity;
	graph->stamp = ++graph->device->worker.graph_stamp;
	graph->memories = NULL;
	graph->memory_count = graph->memory_capacity = 0;
	for (uint32_t i = 0; result == 0 && i < graph->node_count; i++)
		result = gather_node_memories(graph, &graph->nodes[i]->command, fault);
	if (result == 0) {
		unpin_memories(graph->device, old, old_count);
		free(old);
		return 0;
	}
	unpin_memories(graph->device, graph->memories, graph->memory_count);
	free(graph->memories);
	graph->memories = old;
	graph->memory_count = old_count;
	graph->memory_capacity = old_capacity;
	graph->is_stale = true;
	if (!graph->has_native)
		release_memories(graph);
	return result;
}

/* Returns 1 if the graph must be rebuilt. */
static int update_graph(struct sched_graph *graph, const struct sched_graph_node *changed,
			struct backend_fault *fault)
{
	struct scheduler_device *device = graph->device;
	bool possible =
		(device->features & BACKEND_FEATURE_GRAPH_UPDATE) && device->ops->graph_update;
	for (const struct sched_graph_node *old = changed; old; old = old->next) {
		struct sched_graph_node *node = graph->nodes[old->index];
		int result = possible ? resolve_graph_node(graph, node, fault) : 1;
		if (result == 0)
			result = device->ops->graph_update(graph->handle, old->index,
							   &node->command.backend, fault);
		if (result == 0)
			continue;
		graph->is_stale = true;
		if (fault->device_lost)
			return result;
		*fault = (struct backend_fault){.status = STATUS_SUCCESS};
		return 1;
	}
	return changed ? gather_memories_again(graph, fault) : 0;
}

/* Brings the graph into the state that this launch needs, and fills it into the command. */
static int prepare_graph(struct task_command *command, struct backend_fault *fault)
{
	struct sched_graph *graph = command->graph->graph;
	bool alone = command->graph->changes != NULL;
	take_changes(graph, command->graph);
	int result = !graph->handle || graph->is_stale || have_memories_moved(graph);
	if (result == 0)
		result = update_graph(graph, command->graph->changes, fault);
	if (result > 0)
		result = remake_graph(graph, alone, fault);
	if (result == 0)
		command->backend.graph = graph->handle;
	/* The same launch is tried again when there is room. It must find its changes in their
	 * place. */
	if (result == WORKER_SPILL_WAIT || (result < 0 && graph->has_native && graph->handle))
		undo_changes(graph, command->graph);
	else
		command->graph->broke = result < 0 && !fault->device_lost;
	return result;
}

int worker_graph_resolve(struct scheduler_device *device, struct task_command *command,
			 struct backend_fault *fault)
{
	const struct task_command *before = worker_command_begin(device, command);
	int result = worker_memory_need_graph(command->graph, fault);
	if (result == 0)
		result = prepare_graph(command, fault);
	worker_command_end(device, before);
	return result;
}
