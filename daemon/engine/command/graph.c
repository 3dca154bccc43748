/* Executable graphs: sent once, node by node (L1). One-way; failures are reported as ObjectFailed.
 * Launches: graph/run.c. */
#include "graph/graph.h"
#include "graph/instance.h"
#include "command/command.h"

static int check_graphs_agreed(struct session *session)
{
	if (session->features & FEATURE_GRAPHS)
		return 0;
	return session_violation(
		session, "record %llu is about graphs, but the session did not agree on graphs",
		(unsigned long long)session->record);
}

/* 0; 1 with a fault. */
static int charge_graph(struct graph *graph, uint64_t bytes, struct backend_fault *fault)
{
	struct session *session = graph->object.session;
	if (bytes > GRAPH_BYTES_MAX - session->graph_bytes)
		return fault_set(fault, STATUS_QUOTA,
				 "a session's graphs may have at most %llu MiB together",
				 GRAPH_BYTES_MAX >> 20);
	session->graph_bytes += bytes;
	graph->charged_bytes += bytes;
	return 0;
}

static int graph_no_memory(struct backend_fault *fault)
{
	return fault_set(fault, STATUS_MEMORY_ALLOCATION, "the engine has no memory for a graph");
}

static int create_graph(struct session *session, struct graph *graph,
			const Sycl__V1__GraphCreate *message, struct backend_fault *fault)
{
	struct context_device found;
	int r = context_device(session, message->context, message->device, &found, fault);
	if (r == 0)
		r = charge_graph(graph, (uint64_t)message->nodes * sizeof(struct graph_node),
				 fault);
	if (r != 0)
		return r;
	if (graph_reserve(graph, message->nodes) < 0)
		return graph_no_memory(fault);
	graph->context = found.context;
	(void)object_ref(&found.context->object);
	graph->object.backend = (uint32_t)found.ops->kind;
	graph->device_index = message->device;
	graph->updatable = message->updatable;
	graph->profiling = message->profiling;
	return 0;
}

int command_graph_create(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__GraphCreate *message = command->graph_create;
	struct graph *graph;
	struct backend_fault fault;
	int r = check_graphs_agreed(session);
	if (r < 0)
		return r;
	if (message->nodes > GRAPH_NODES_MAX)
		return session_violation(session,
					 "a graph has %u nodes, but at most %u are allowed",
					 message->nodes, GRAPH_NODES_MAX);
	r = object_new(session, message->graph, OBJECT_GRAPH, 0, &graph);
	if (r != 0)
		return r < 0 ? r : 0;
	r = create_graph(session, graph, message, &fault);
	if (r > 0)
		object_fail(&graph->object, 0, &fault);
	return r < 0 ? r : 0;
}

/* 0: the graph; 1: a graph whose failure was reported already. */
static int graph_get(struct session *session, uint64_t id, struct graph **graph_out)
{
	struct backend_fault fault;
	int r = check_graphs_agreed(session);
	return r < 0 ? r : object_get(session, id, OBJECT_GRAPH, graph_out, &fault);
}

/* Each launch checks the task's requirements, as for a host task that is no node (group/host.c). An
 * early event belongs to one command at a time. */
static int check_host_task(struct session *session, const Sycl__V1__HostTask *task)
{
	if (task->on_device && !session_has_natives(session) &&
	    !(session->features & FEATURE_NATIVE_NODES))
		return session_violation(
			session,
			"a node of a graph is a native command, but the session did not agree on those");
	if (task->early_event)
		return session_violation(session, "a graph's node names an early event");
	return 0;
}

static int check_node_message(struct session *session, const Sycl__V1__CommandGroup *group)
{
	if (!group)
		return session_violation(session, "a graph's node has no command group");
	if (group->queue || group->group || group->wants_slot || group->slot || group->slot_value ||
	    group->n_depends_on || group->after_all || group->shape || group->shape_generation)
		return session_violation(
			session, "a graph's node names a queue, a slot, an event or a shape");
	if (group->action_case == SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH)
		return session_violation(session, "a graph's node is a graph");
	/* Addresses of another process. */
	if (group->action_case == SYCL__V1__COMMAND_GROUP__ACTION_NATIVE &&
	    (!session_has_natives(session) || !group->native->function))
		return session_violation(session, "a graph's node is a native command");
	return group->action_case == SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK
		       ? check_host_task(session, group->host_task)
		       : 0;
}

/* True if a driver can run the group in a body, as often as a word on its device decides. */
static bool can_be_in_body(const Sycl__V1__CommandGroup *group)
{
	switch (group->action_case) {
	case SYCL__V1__COMMAND_GROUP__ACTION__NOT_SET:
	case SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH:
	case SYCL__V1__COMMAND_GROUP__ACTION_COPY:
	case SYCL__V1__COMMAND_GROUP__ACTION_FILL:
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_COPY:
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_FILL:
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_PREFETCH:
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_ADVISE:
	case SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION:
		return true;
	default:
		return false;
	}
}

/* 0; 1: the graph has failed; negative: a violation. */
static int check_condition_message(struct session *session, struct graph *graph,
				   const Sycl__V1__GraphCondition *condition, uint32_t depth,
				   uint32_t end)
{
	struct context_device found;
	struct backend_fault fault;
	if (!(session->features & FEATURE_GRAPH_CONDITION))
		return session_violation(
			session,
			"a node of a graph is a condition, but the session did not agree on conditions");
	if (condition->kind != SYCL__V1__GRAPH_CONDITION_KIND__GRAPH_CONDITION_KIND_IF &&
	    condition->kind != SYCL__V1__GRAPH_CONDITION_KIND__GRAPH_CONDITION_KIND_WHILE)
		return session_violation(session, "%d is no kind of condition",
					 (int)condition->kind);
	if (condition->body_nodes == 0 || condition->body_nodes > end - graph->node_count - 1)
		return session_violation(
			session,
			"a body has %u nodes, but the graph or body that contains it has %u left",
			condition->body_nodes, end - graph->node_count - 1);
	if (depth >= GRAPH_DEPTH_MAX)
		return session_violation(session,
					 "bodies of conditions are nested more than %u deep",
					 GRAPH_DEPTH_MAX);
	if (graph->updatable)
		return session_violation(session, "a graph with conditions cannot be updatable");
	int r = context_device(session, graph->context->object.id, graph->device_index, &found,
			       &fault);
	if (r == 0 && !(found.facts->features & BACKEND_FEATURE_GRAPH_CONDITION))
		r = fault_set(&fault, STATUS_FEATURE_NOT_SUPPORTED,
			      "this device has no IF and WHILE nodes");
	if (r > 0)
		object_fail(&graph->object, 0, &fault);
	return r;
}

/* Checks that the node may be at the next place. Returns as check_condition_message. */
static int check_body_place(struct session *session, struct graph *graph,
			    const Sycl__V1__CommandGroup *group)
{
	uint32_t depth, end, place = graph_next_place(graph, &depth, &end);
	if (place != GRAPH_TOP && !can_be_in_body(group))
		return session_violation(session,
					 "node %u of a graph cannot be in the body of a condition",
					 graph->node_count);
	if (group->action_case != SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION)
		return 0;
	return check_condition_message(session, graph, group->graph_condition, depth, end);
}

/* `before`: the number of requirements that are replaced. 1: the graph has failed. */
static int count_requirements(struct graph *graph, const Sycl__V1__CommandGroup *group,
			      size_t before)
{
	struct backend_fault fault;
	uint64_t count = (uint64_t)graph->requirement_count - before + group->n_requirements;
	if (count > GRAPH_REQUIREMENTS_MAX) {
		(void)fault_set(&fault, STATUS_QUOTA,
				"the nodes of a graph may have at most %u requirements together",
				GRAPH_REQUIREMENTS_MAX);
		object_fail(&graph->object, 0, &fault);
		return 1;
	}
	graph->requirement_count = (uint32_t)count;
	return 0;
}

/* 0; 1 with a fault. */
static int copy_node_group(struct graph *graph, const Sycl__V1__CommandGroup *group,
			   Sycl__V1__CommandGroup **copy_out, uint64_t *bytes_out,
			   struct backend_fault *fault)
{
	int r = graph_group_copy(group, GRAPH_BYTES_MAX, copy_out, bytes_out);
	if (r < 0)
		return graph_no_memory(fault);
	r = charge_graph(graph, *bytes_out, fault);
	if (r > 0)
		graph_group_free(*copy_out);
	return r;
}

/* 0; 1: the graph has failed, which is reported; negative: a violation. */
static int connect_node(struct session *session, struct graph *graph, const uint32_t *after,
			size_t count)
{
	struct backend_fault fault;
	if (charge_graph(graph, count * sizeof(uint32_t) * 2, &fault)) {
		object_fail(&graph->object, 0, &fault);
		return 1;
	}
	int r = graph_connect(graph, after, count);
	if (r == -EPROTO)
		return session_violation(
			session,
			"node %u of a graph waits for one that does not come before it, or the graph "
			"has more than %u edges",
			graph->node_count - 1, GRAPH_EDGES_MAX);
	if (r < 0) {
		(void)graph_no_memory(&fault);
		object_fail(&graph->object, 0, &fault);
		return 1;
	}
	return 0;
}

/*
 * 0: the graph has the node. 1: the graph has not got it, which is reported. Negative: a violation.
 */
static int take_node(struct session *session, const Sycl__V1__GraphNode *message)
{
	struct graph *graph;
	struct backend_fault fault;
	Sycl__V1__CommandGroup *group;
	uint64_t bytes;
	int r = graph_get(session, message->graph, &graph);
	if (r != 0)
		return r;
	if (graph->node_count == graph->node_limit || graph->finished)
		return session_violation(
			session, "a node is added to a graph that has its %u nodes or is finished",
			graph->node_limit);
	r = check_node_message(session, message->group);
	if (r == 0)
		r = check_body_place(session, graph, message->group);
	if (r != 0)
		return r;
	if (count_requirements(graph, message->group, 0))
		return 1;
	if (copy_node_group(graph, message->group, &group, &bytes, &fault)) {
		object_fail(&graph->object, 0, &fault);
		return 1;
	}
	graph_add(graph, group, bytes);
	r = connect_node(session, graph, message->after, message->n_after);
	return r < 0 ? r : 0;
}

int command_graph_node(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__GraphNode *message = command->graph_node;
	int r = take_node(session, message);
	/* The function of a native command that is in no graph is never called. */
	if (r > 0 && message->group)
		group_native_command_refused(session, message->group);
	return r < 0 ? r : 0;
}

int command_graph_edges(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__GraphEdges *message = command->graph_edges;
	struct graph *graph;
	int r = graph_get(session, message->graph, &graph);
	if (r != 0)
		return r < 0 ? r : 0;
	if (graph->finished)
		return session_violation(session, "edges are added to a finished graph");
	r = connect_node(session, graph, message->after, message->n_after);
	return r < 0 ? r : 0;
}

int command_graph_finish(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__GraphFinish *message = command->graph_finish;
	struct graph *graph;
	struct backend_fault fault;
	int r = check_graphs_agreed(session);
	if (r == 0)
		r = object_get(session, message->graph, OBJECT_GRAPH, &graph, &fault);
	if (r > 0 && message->wants_answer)
		reply_status(session, session->record, message->graph, &fault);
	if (r != 0)
		return r < 0 ? r : 0;
	if (graph->finished || graph->node_count != graph->node_limit)
		return session_violation(session,
					 "a graph of %u nodes is finished again, or with %u nodes",
					 graph->node_limit, graph->node_count);
	graph_seal(graph);
	if (graph->native_count > 0)
		return graph_instance_make(graph, message->wants_answer ? session->record : 0);
	if (message->wants_answer)
		reply_done(session, session->record);
	return 0;
}

int command_graph_update(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__GraphUpdate *message = command->graph_update;
	struct graph *graph;
	struct backend_fault fault;
	Sycl__V1__CommandGroup *group;
	uint64_t bytes;
	int r = graph_get(session, message->graph, &graph);
	if (r != 0)
		return r < 0 ? r : 0;
	if (!graph->finished || !graph->updatable || message->node >= graph->node_count)
		return session_violation(session, "node %u of a graph cannot be updated",
					 message->node);
	r = check_node_message(session, message->group);
	if (r < 0)
		return r;
	struct graph_node *node = &graph->nodes[message->node];
	if (message->group->action_case != SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH ||
	    node->group->action_case != SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH)
		return session_violation(
			session, "node %u of a graph launches no kernel: it cannot be updated",
			message->node);
	if (count_requirements(graph, message->group, node->group->n_requirements))
		return 0;
	if (copy_node_group(graph, message->group, &group, &bytes, &fault)) {
		object_fail(&graph->object, 0, &fault);
		return 0;
	}
	Sycl__V1__CommandGroup *before = node->group;
	session->graph_bytes -= node->bytes;
	graph->charged_bytes -= node->bytes;
	node->group = group;
	node->bytes = bytes;
	graph_instance_node_changed(graph, message->node, before);
	graph_group_free(before);
	return 0;
}

/* True for nodes that a driver can skip in a graph (R3). */
static bool can_be_disabled(const Sycl__V1__CommandGroup *group)
{
	switch (group->action_case) {
	case SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH:
	case SYCL__V1__COMMAND_GROUP__ACTION_COPY:
	case SYCL__V1__COMMAND_GROUP__ACTION_FILL:
	case SYCL__V1__COMMAND_GROUP__ACTION_HOST_UPDATE:
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_COPY:
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_FILL:
		return true;
	default:
		return false;
	}
}

int command_graph_switch(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__GraphSwitch *message = command->graph_switch;
	struct graph *graph;
	if (!(session->features & FEATURE_GRAPH_SWITCH))
		return session_violation(
			session,
			"a node of a graph is switched, but the session did not agree on switches");
	int r = graph_get(session, message->graph, &graph);
	if (r != 0)
		return r < 0 ? r : 0;
	if (!graph->finished || !graph->updatable || message->node >= graph->node_count)
		return session_violation(session, "node %u of a graph cannot be switched",
					 message->node);
	struct graph_node *node = &graph->nodes[message->node];
	if (!can_be_disabled(node->group))
		return session_violation(
			session,
			"node %u of a graph launches, copies and fills nothing: it cannot be switched",
			message->node);
	if (node->is_disabled == (message->disabled != 0))
		return 0;
	node->is_disabled = message->disabled;
	graph_instance_node_switched(graph, message->node);
	return 0;
}
