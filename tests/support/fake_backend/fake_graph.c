/*
 * Graphs of fake devices: copies of commands that run when the graph's command does. Among the
 * nodes that may run, the one that was added last runs first, so a forgotten edge shows. The first
 * node that fails ends the graph. Nodes are counted and logged as if they had been submitted.
 */
#include "fake_internal.h"

#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The calls that a native command's function has added. They run one after the other. */
struct native_call {
	struct native_call *next;
	fake_native_call *call;
	void *argument;
};

struct fake_native_graph {
	struct native_call *first, *last;
	bool failed; /* no memory */
};

#define TOP UINT32_MAX /* the place of nodes outside of all bodies */

struct node {
	struct fake_command *command;     /* NULL: a native command, a graph, or a condition */
	struct fake_native_graph *native; /* owned; NULL: none */
	struct backend_graph *child;      /* owned: a copy; NULL: none */
	enum backend_command_kind kind;
	struct backend_kernel
		*kernel; /* of a launch; while the node is skipped its command is a NOP */
	struct backend_command condition; /* of such a node */
	uint32_t *after, after_count;
	uint32_t place, end; /* the condition in whose body it is; of a condition: the index behind
				its body */
	bool has_run;
};

struct backend_graph {
	struct backend_device *device;
	struct backend_graph *next; /* of the device */
	struct node *nodes;
	uint32_t count;
	uint32_t place; /* where the next node lies */
	bool has_conditions;
	bool is_finished, is_updatable;
	uint32_t in_flight;
	const struct backend_lane *lane; /* the lane on which it is in flight */
};

static int no_memory(struct backend_fault *fault_out)
{
	fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for a graph");
	return -ENOMEM;
}

static int graph_invalid(struct backend_fault *fault_out, const char *what)
{
	fake_fault(fault_out, STATUS_INVALID, "%s", what);
	return -EINVAL;
}

static int no_node(struct backend_fault *fault_out, const char *what)
{
	fake_fault(fault_out, STATUS_FEATURE_NOT_SUPPORTED, "%s", what);
	return -EOPNOTSUPP;
}

/* ----------------------------------- native commands ------------------------------------ */

int fake_native_add(uint64_t graph, fake_native_call *call, void *argument)
{
	struct fake_native_graph *native = (struct fake_native_graph *)(uintptr_t)graph;
	struct native_call *made = calloc(1, sizeof(*made));
	if (!made) {
		native->failed = true;
		return -ENOMEM;
	}
	*made = (struct native_call){.call = call, .argument = argument};
	if (native->last)
		native->last->next = made;
	else
		native->first = made;
	native->last = made;
	return 0;
}

static void native_free(struct fake_native_graph *native)
{
	while (native && native->first) {
		struct native_call *call = native->first;
		native->first = call->next;
		free(call);
	}
	free(native);
}

static struct fake_native_graph *native_copy(const struct fake_native_graph *native)
{
	struct fake_native_graph *copy = calloc(1, sizeof(*copy));
	for (const struct native_call *call = native->first; copy && call; call = call->next)
		(void)fake_native_add((uintptr_t)copy, call->call, call->argument);
	if (!copy || !copy->failed)
		return copy;
	native_free(copy);
	return NULL;
}

static int call_native(const struct backend_device *device, const struct backend_command *command,
		       struct fake_native_graph *native, struct backend_fault *fault_out)
{
	uint32_t count = command->native.memory_count;
	uint64_t *memories = calloc(count ? count : 1, sizeof(*memories));
	if (!memories)
		return no_memory(fault_out);
	for (uint32_t i = 0; i < count; i++)
		if (command->native.memories[i]) /* a buffer of no bytes has no memory */
			memories[i] = (uintptr_t)command->native.memories[i]->data;
	const struct backend_native_scope scope = {
		.device = device->index + 1,
		.context = FAKE_NATIVE_CONTEXT,
		.queue = FAKE_NATIVE_CAPTURE_QUEUE,
		.graph = (uintptr_t)native,
		.memories = memories,
		.memory_count = count,
	};
	int result = command->native.function(command->native.context, &scope);
	free(memories);
	if (native->failed)
		return no_memory(fault_out);
	return result == 0 ? 0 : graph_invalid(fault_out, "a native command failed");
}

/* ---------------------------------------- nodes ----------------------------------------- */

static void graph_node_clear(struct node *node)
{
	free(node->command);
	native_free(node->native);
	if (node->child)
		fake_graph_drop(node->child);
	free(node->after);
	*node = (struct node){.command = NULL};
}

void fake_graph_drop(struct backend_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++)
		graph_node_clear(&graph->nodes[i]);
	free(graph->nodes);
	free(graph);
}

static bool keep_edges(struct node *node, const uint32_t *after, uint32_t count)
{
	node->after = calloc(count ? count : 1, sizeof(*node->after));
	if (!node->after)
		return false;
	if (count > 0)
		memcpy(node->after, after, count * sizeof(*after));
	node->after_count = count;
	return true;
}

static struct backend_graph *graph_copy(const struct backend_graph *graph);

static bool graph_node_copy(const struct node *from, struct node *to)
{
	*to = (struct node){.kind = from->kind, .place = from->place};
	if (from->command)
		to->command = fake_command_copy(NULL, &from->command->command, NULL, 0, 0);
	if (from->native)
		to->native = native_copy(from->native);
	if (from->child)
		to->child = graph_copy(from->child);
	return !from->command == !to->command && !from->native == !to->native &&
	       !from->child == !to->child && keep_edges(to, from->after, from->after_count);
}

static struct backend_graph *graph_copy(const struct backend_graph *graph)
{
	struct backend_graph *copy = calloc(1, sizeof(*copy));
	struct node *nodes = calloc(graph->count ? graph->count : 1, sizeof(*nodes));
	if (!copy || !nodes) {
		free(copy);
		free(nodes);
		return NULL;
	}
	*copy = (struct backend_graph){
		.device = graph->device, .nodes = nodes, .place = TOP, .is_finished = true};
	bool whole = true;
	while (whole && copy->count < graph->count) {
		whole = graph_node_copy(&graph->nodes[copy->count], &nodes[copy->count]);
		copy->count++;
	}
	if (whole)
		return copy;
	fake_graph_drop(copy);
	return NULL;
}

bool fake_graph_names_locked(const struct backend_device *device, const struct backend_host *host)
{
	for (const struct backend_graph *graph = device->graphs; graph; graph = graph->next)
		for (uint32_t i = 0; i < graph->count; i++) {
			const struct node *node = &graph->nodes[i];
			if (!node->command || (node->kind != BACKEND_COMMAND_WRITE &&
					       node->kind != BACKEND_COMMAND_READ))
				continue;
			const uint8_t *named = node->command->command.transfer.host;
			if (named >= (const uint8_t *)host->host &&
			    (uint64_t)(named - (const uint8_t *)host->host) < host->size_bytes)
				return true;
		}
	return false;
}

/* -------------------------------------- conditions -------------------------------------- */

static int condition_check(const struct backend_graph *graph, const struct backend_command *command,
			   struct backend_fault *fault_out)
{
	const struct backend_memory *memory = command->condition.memory;
	const uint64_t offset = command->condition.offset_bytes;
	bool good = memory ? memory->device == graph->device && offset % 4 == 0 &&
				     memory->size_bytes >= 4 && offset <= memory->size_bytes - 4
			   : command->condition.usm && (uintptr_t)command->condition.usm % 4 == 0;
	if (!fake_has(graph->device, BACKEND_FEATURE_GRAPH_CONDITION))
		return no_node(fault_out, "conditions cannot be nodes here");
	if (!good || command->condition.body_nodes == 0)
		return graph_invalid(fault_out,
				     "a condition's word lies in memory, and it has a body");
	if (graph->place != TOP &&
	    command->condition.body_nodes >= graph->nodes[graph->place].end - graph->count)
		return graph_invalid(fault_out, "a body reaches beyond the one that it lies in");
	return 0;
}

/* Leaves the bodies that end before the next node. */
static void leave_bodies(struct backend_graph *graph)
{
	while (graph->place != TOP && graph->nodes[graph->place].end == graph->count)
		graph->place = graph->nodes[graph->place].place;
}

static bool is_true_locked(const struct node *node, struct fake_command *whole)
{
	const struct backend_command *c = &node->condition;
	const void *at = c->condition.memory ? c->condition.memory->data + c->condition.offset_bytes
					     : c->condition.usm;
	uint32_t word = 0;
	if (!c->condition.memory &&
	    !fake_usm_reaches_locked(whole->lane->device, at, sizeof(word))) {
		fake_fault(&whole->fault, STATUS_KERNEL, "a condition's word is not there");
		return false;
	}
	memcpy(&word, at, sizeof(word));
	return word != 0;
}

/* Refuses commands that no driver of a real device would take as a node. */
static int check_node(struct backend_graph *graph, const struct backend_command *command,
		      struct backend_fault *fault_out)
{
	struct backend_lane lane = {.device = graph->device, .kind = BACKEND_LANE_COMPUTE};
	bool moves =
		command->kind == BACKEND_COMMAND_WRITE || command->kind == BACKEND_COMMAND_READ;
	if (command->kind == BACKEND_COMMAND_EVENT_RECORD ||
	    command->kind == BACKEND_COMMAND_EVENT_WAIT)
		return no_node(fault_out, "shared events cannot be nodes");
	int result = fake_command_check(&lane, command, fault_out);
	if (result < 0 || !moves || !fake_has(graph->device, BACKEND_FEATURE_HOST_REGISTER))
		return result;
	fake_lock();
	bool registered = fake_is_registered_locked(graph->device, command);
	fake_unlock();
	return registered ? 0
			  : no_node(fault_out,
				    "host memory that is not registered cannot be a node's");
}

static int node_make(struct backend_graph *graph, const struct backend_command *command,
		     struct node *node, struct backend_fault *fault_out)
{
	node->kind = command->kind;
	node->place = graph->place;
	if (command->kind == BACKEND_COMMAND_LAUNCH)
		node->kernel = command->launch.kernel;
	if (command->kind == BACKEND_COMMAND_CONDITION) {
		node->condition = *command;
		node->end = graph->count + 1 + command->condition.body_nodes;
		return condition_check(graph, command, fault_out);
	}
	if (graph->place != TOP &&
	    (command->kind == BACKEND_COMMAND_NATIVE || command->kind == BACKEND_COMMAND_GRAPH))
		return no_node(fault_out, "a body has neither native commands nor graphs");
	if (command->kind == BACKEND_COMMAND_NATIVE) {
		if (!fake_has(graph->device, BACKEND_FEATURE_GRAPH_NATIVE))
			return no_node(fault_out, "native commands cannot be nodes here");
		node->native = calloc(1, sizeof(*node->native));
		return node->native ? call_native(graph->device, command, node->native, fault_out)
				    : no_memory(fault_out);
	}
	if (command->kind == BACKEND_COMMAND_GRAPH) {
		const struct backend_graph *child = command->graph;
		if (child == graph || child->device != graph->device || !child->is_finished)
			return graph_invalid(
				fault_out,
				"a graph that becomes a node must be finished, and belong to the same device");
		if (child->has_conditions)
			return no_node(fault_out, "a graph with conditions cannot be a node");
		node->child = graph_copy(child);
		return node->child ? 0 : no_memory(fault_out);
	}
	int result = check_node(graph, command, fault_out);
	if (result < 0)
		return result;
	node->command = fake_command_copy(NULL, command, NULL, 0, 0);
	return node->command ? 0 : no_memory(fault_out);
}

/* --------------------------------------- entries ---------------------------------------- */

int fake_graph_create(struct backend_device *device, struct backend_graph **graph_out,
		      struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_GRAPH_CREATE, device, fault_out))
		return -EIO;
	if (!fake_has(device, BACKEND_FEATURE_GRAPH))
		return fake_refuse(device, "make graphs", fault_out);
	struct backend_graph *graph = calloc(1, sizeof(*graph));
	if (!graph)
		return no_memory(fault_out);
	graph->device = device;
	graph->place = TOP;
	fake_lock();
	graph->next = device->graphs;
	device->graphs = graph;
	device->slot->counters.graphs++;
	fake_unlock();
	*graph_out = graph;
	return 0;
}

int fake_graph_add(struct backend_graph *graph, const struct backend_command *command,
		   const uint32_t *after, uint32_t after_count, uint32_t *node_out,
		   struct backend_fault *fault_out)
{
	struct node node = {.command = NULL};
	if (fake_entry_fails(FAKE_GRAPH_ADD, graph->device, fault_out))
		return -EIO;
	if (graph->is_finished)
		return graph_invalid(fault_out, "a finished graph takes no more nodes");
	for (uint32_t i = 0; i < after_count; i++)
		if (after[i] >= graph->count || graph->nodes[after[i]].place != graph->place)
			return graph_invalid(fault_out,
					     "a node waits for a node that does not exist");
	struct node *nodes = reallocarray(graph->nodes, graph->count + 1u, sizeof(*nodes));
	if (!nodes)
		return no_memory(fault_out);
	graph->nodes = nodes;
	int result = node_make(graph, command, &node, fault_out);
	if (result == 0 && !keep_edges(&node, after, after_count))
		result = no_memory(fault_out);
	if (result < 0) {
		graph_node_clear(&node);
		return result;
	}
	fake_lock();
	struct fake_counters *counters = &graph->device->slot->counters;
	if (++graph->device->graph_adds > counters->graph_adds_at_once)
		counters->graph_adds_at_once = graph->device->graph_adds;
	nodes[graph->count] = node;
	*node_out = graph->count++;
	if (node.end > 0) {
		graph->place = *node_out;
		graph->has_conditions = true;
	}
	leave_bodies(graph);
	fake_unlock();
	return 0;
}

int fake_graph_finish(struct backend_graph *graph, bool updatable, struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_GRAPH_FINISH, graph->device, fault_out))
		return -EIO;
	if (graph->is_finished)
		return graph_invalid(fault_out, "the graph is finished already");
	if (graph->place != TOP || (graph->has_conditions && updatable))
		return graph_invalid(
			fault_out,
			"nodes of a body are missing, or a graph with conditions is to be updatable");
	graph->is_finished = true;
	graph->is_updatable = updatable;
	return 0;
}

int fake_graph_update(struct backend_graph *graph, uint32_t index,
		      const struct backend_command *command, struct backend_fault *fault_out)
{
	struct node node = {.command = NULL};
	if (fake_entry_fails(FAKE_GRAPH_UPDATE, graph->device, fault_out))
		return -EIO;
	if (!fake_has(graph->device, BACKEND_FEATURE_GRAPH_UPDATE))
		return fake_refuse(graph->device, "update graphs", fault_out);
	fake_lock();
	bool busy = graph->in_flight > 0;
	graph->device->slot->counters.graph_misuses += busy;
	fake_unlock();
	if (busy || !graph->is_finished || !graph->is_updatable || index >= graph->count)
		return graph_invalid(fault_out, "there is no such node that can be changed now");
	struct node *old = &graph->nodes[index];
	bool skips = command->kind == BACKEND_COMMAND_NOP &&
		     fake_has(graph->device, BACKEND_FEATURE_GRAPH_SWITCH);
	if (!old->command || (command->kind != old->kind && !skips) ||
	    (command->kind == BACKEND_COMMAND_LAUNCH && command->launch.kernel != old->kernel))
		return no_node(fault_out, "a node keeps its kind and its kernel");
	int result = node_make(graph, command, &node, fault_out);
	if (result < 0) {
		graph_node_clear(&node);
		return result;
	}
	free(old->command);
	old->command = node.command;
	return 0;
}

void fake_graph_free(struct backend_graph *graph)
{
	if (!graph)
		return;
	fake_lock();
	struct fake_slot *slot = graph->device->slot;
	struct backend_graph **at = &graph->device->graphs;
	while (*at != graph)
		at = &(*at)->next;
	*at = graph->next;
	slot->counters.graphs--;
	slot->counters.graph_misuses += graph->in_flight > 0 && !slot->lost;
	fake_unlock();
	fake_graph_drop(graph);
}

/* --------------------------------------- running ---------------------------------------- */

int fake_graph_check(const struct backend_lane *lane, const struct backend_command *command,
		     struct backend_fault *fault_out)
{
	struct backend_graph *graph = command->graph;
	if (!backend_lane_computes(lane->kind) || !graph || !graph->is_finished ||
	    graph->device != lane->device)
		return graph_invalid(
			fault_out, "a finished graph of this device runs on a lane for computing");
	fake_lock();
	bool elsewhere = graph->in_flight > 0 && graph->lane != lane;
	lane->device->slot->counters.graph_misuses += elsewhere;
	fake_unlock();
	return elsewhere ? graph_invalid(fault_out, "the graph is in flight on another lane") : 0;
}

void fake_graph_sent_locked(const struct fake_command *command)
{
	if (command->command.kind != BACKEND_COMMAND_GRAPH)
		return;
	command->command.graph->in_flight++;
	command->command.graph->lane = command->lane;
}

void fake_graph_ended_locked(const struct fake_command *command)
{
	if (command->command.kind == BACKEND_COMMAND_GRAPH)
		command->command.graph->in_flight--;
}

bool fake_graph_is_held_locked(const struct backend_graph *graph)
{
	bool held = false;
	for (uint32_t i = 0; !held && i < graph->count; i++) {
		const struct node *node = &graph->nodes[i];
		held = node->child
			       ? fake_graph_is_held_locked(node->child)
			       : node->command && fake_gate_holds_locked(&node->command->command);
	}
	return held;
}

/* Chooses one of the nodes that are ready. */
static struct node *graph_next_node(struct backend_graph *graph, uint32_t place)
{
	for (uint32_t i = graph->count; i > 0; i--) {
		struct node *node = &graph->nodes[i - 1];
		bool ready = !node->has_run && node->place == place;
		for (uint32_t j = 0; ready && j < node->after_count; j++)
			ready = graph->nodes[node->after[j]].has_run;
		if (ready)
			return node;
	}
	return NULL;
}

static void run_place(struct backend_graph *graph, uint32_t place, struct fake_command *whole);

/* A loop without an end would delay every lane here, so its turns are counted. */
static void run_condition(struct backend_graph *graph, const struct node *node,
			  struct fake_command *whole)
{
	uint32_t turns = 0;
	while (whole->fault.status == STATUS_SUCCESS && is_true_locked(node, whole)) {
		if (turns++ == FAKE_TURNS_MAX)
			fake_fault(&whole->fault, STATUS_KERNEL,
				   "a body has run %u times, and would again", FAKE_TURNS_MAX);
		else
			run_place(graph, (uint32_t)(node - graph->nodes), whole);
		if (!node->condition.condition.repeats)
			break;
	}
}

static void run_node(struct backend_graph *graph, struct node *node, struct fake_command *whole)
{
	struct backend_device *device = whole->lane->device;
	if (node->end > 0) {
		run_condition(graph, node, whole);
		return;
	}
	if (node->child) {
		fake_graph_run_locked(node->child, whole);
		return;
	}
	for (struct native_call *call = node->native ? node->native->first : NULL; call;
	     call = call->next)
		call->call(call->argument);
	if (!node->command)
		return;
	node->command->lane = whole->lane;
	node->command->sequence = whole->sequence;
	node->command->start_order = fake_state.order++;
	node->command->started = true;
	node->command->fault = (struct backend_fault){.status = STATUS_SUCCESS};
	fake_command_run_locked(node->command);
	if (node->command->fault.status == STATUS_SUCCESS)
		fake_command_count_locked(device, &node->command->command);
	else
		whole->fault = node->command->fault;
	fake_log_locked(node->command);
}

static void run_place(struct backend_graph *graph, uint32_t place, struct fake_command *whole)
{
	for (uint32_t i = 0; i < graph->count; i++)
		graph->nodes[i].has_run &= graph->nodes[i].place != place;
	for (struct node *node = graph_next_node(graph, place);
	     node && whole->fault.status == STATUS_SUCCESS; node = graph_next_node(graph, place)) {
		run_node(graph, node, whole);
		node->has_run = true;
	}
}

void fake_graph_run_locked(struct backend_graph *graph, struct fake_command *whole)
{
	run_place(graph, TOP, whole);
}
