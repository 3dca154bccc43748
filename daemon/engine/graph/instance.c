/* An instance is made, or launches are replayed; it is made again, and ends. */
#include "graph/instance_internal.h"

#include "group/check.h"
#include "group/group.h"
#include "session/session.h"

#include <errno.h>
#include <stdlib.h>

#define TRIES_MAX                                                                                  \
	8u /* what is refused may have been so for the moment: host memory is not registered yet,  \
	      something runs */

static int set_replayed(struct graph *graph, enum graph_replay_reason reason)
{
	graph->instance->state = GRAPH_INSTANCE_REPLAYED;
	graph->instance->reason = reason;
	graph->instance->replays = 0;
	graph_instance_clear(graph);
	return 1;
}

static enum graph_replay_reason instance_error_reason(int error)
{
	return error == -EOPNOTSUPP ? GRAPH_REPLAY_HOST : GRAPH_REPLAY_SIZE;
}

/* 0; 1: there will be no instance. */
static int instance_add_node(struct session *session, const struct queue *queue,
			     struct graph *graph, uint32_t index)
{
	struct graph_instance *instance = graph->instance;
	struct task_request request;
	uint32_t count;
	int r = graph_node_check_in_order(session, queue, graph, index, &instance->order, &request,
					  &instance->fault);
	if (r != 0)
		return set_replayed(graph,
				    r == NODES_TOO_LARGE ? GRAPH_REPLAY_SIZE : GRAPH_REPLAY_NODE);
	const uint32_t *after = graph_order_after(&instance->order, index, &count);
	graph_node_forget_requirements(&graph->nodes[index], &request);
	r = sched_graph_add(instance->sched, &request, after, count);
	graph->nodes[index].is_taken = r == 0;
	instance->forms[index] = graph_node_form_of(&graph->nodes[index]);
	if (r == 0 && session->engine->scratch.arena)
		r = graph_instance_hold_arena(graph, session->engine->scratch.arena);
	if (r < 0)
		return set_replayed(graph, instance_error_reason(r));
	return graph_instance_charge(graph) ? 0 : set_replayed(graph, GRAPH_REPLAY_SIZE);
}

static enum graph_replay_reason replay_reason(const struct session *session,
					      const struct queue *queue, const struct graph *graph)
{
	if (session->engine->never_instance && !graph_needs_instance(graph))
		return GRAPH_REPLAY_SWITCH;
	if (!(queue->facts->features & BACKEND_FEATURE_GRAPH))
		return GRAPH_REPLAY_DEVICE;
	if (graph->host_count > 0)
		return GRAPH_REPLAY_HOST;
	if (graph->node_count == 0 || graph->node_count > GRAPH_INSTANCE_NODES_MAX)
		return GRAPH_REPLAY_SIZE;
	return GRAPH_REPLAY_NOT;
}

static int begin_instance(struct session *session, const struct queue *queue, struct graph *graph)
{
	struct graph_instance *instance = graph->instance;
	enum graph_replay_reason reason = replay_reason(session, queue, graph);
	if (reason)
		return set_replayed(graph, reason);
	instance->changed = calloc(graph->node_count, sizeof(*instance->changed));
	instance->forms = calloc(graph->node_count, sizeof(*instance->forms));
	if (!instance->changed || !instance->forms ||
	    graph_order_init(&instance->order, graph->node_count, ++session->engine->order_stamp) <
		    0 ||
	    sched_graph_create(queue->device, graph->node_count, graph->updatable, graph,
			       &instance->sched) < 0)
		return set_replayed(graph, GRAPH_REPLAY_SIZE);
	instance->releases = session->graph_releases;
	instance->making++;
	instance->former_open = instance->open;
	for (uint32_t i = 0; i < graph->node_count; i++)
		graph->nodes[i].changed = false;
	return 0;
}

/* Afterwards the instance is being built, or launches are replayed. */
static void graph_instance_build(struct session *session, const struct queue *queue,
				 struct graph *graph)
{
	struct graph_instance *instance = graph->instance;
	instance->tries++;
	int r = begin_instance(session, queue, graph);
	for (uint32_t i = 0; r == 0 && i < graph->node_count; i++) {
		r = instance_add_node(session, queue, graph, i);
		session->record_cost += 1 + (uint32_t)graph->nodes[i].group->n_requirements / 16;
	}
	if (r != 0)
		return;
	graph_order_seal(&instance->order);
	session->record_cost += graph->node_count + instance->order.need_count;
	session->engine->graphs_built++;
	instance->state = GRAPH_INSTANCE_BUILDING;
	/* A quiet moment holds up other sessions, and this one. A graph that was launched once may
	 * never be launched again. */
	sched_graph_build(instance->sched, instance->tries > 1);
}

/* A graph with native commands is made, or never will be. */
static void reply_build_result(struct graph *graph)
{
	struct graph_instance *instance = graph->instance;
	uint64_t number = instance->number;
	instance->number = 0;
	if (instance->state != GRAPH_INSTANCE_READY)
		object_fail(&graph->object, number, &instance->fault);
	else if (number)
		reply_done(graph->object.session, number);
}

int graph_instance_make(struct graph *graph, uint64_t number)
{
	struct session *session = graph->object.session;
	struct context_device found;
	struct backend_fault fault;
	int r = context_device(session, graph->context->object.id, graph->device_index, &found,
			       &fault);
	if (r < 0)
		return r;
	graph->instance = calloc(1, sizeof(*graph->instance));
	if (r == 0 && !graph->instance)
		r = fault_set(&fault, STATUS_MEMORY_ALLOCATION,
			      "the engine has no memory for a graph");
	if (r > 0) {
		object_fail(&graph->object, number, &fault);
		return 0;
	}
	const struct queue queue = {
		.context = found.context,
		.device = found.device,
		.facts = found.facts,
		.device_index = graph->device_index,
	};
	graph->instance->number = number;
	(void)fault_set(
		&graph->instance->fault, STATUS_FEATURE_NOT_SUPPORTED,
		"a graph with a native command can only be launched as a graph of the device's driver, and this one cannot be made");
	graph_instance_build(session, &queue, graph);
	if (graph->instance->state != GRAPH_INSTANCE_BUILDING)
		reply_build_result(graph);
	return 0;
}

void graph_natives_end(struct graph *graph)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		if (graph->nodes[i].is_native && !graph->nodes[i].is_taken)
			group_native_command_refused(graph->object.session, graph->nodes[i].group);
	}
}

struct session *graph_instance_built(struct graph *graph, const struct backend_fault *fault)
{
	struct session *session = graph->object.session;
	struct graph_instance *instance = graph->instance;
	instance->state = GRAPH_INSTANCE_READY;
	if (fault->status) {
		instance->fault = *fault;
		(void)set_replayed(graph, GRAPH_REPLAY_BACKEND);
	}
	if (graph->native_count > 0)
		reply_build_result(graph);
	if (session->awaited == graph) {
		session->awaited = NULL;
		session_make_hot(session);
	}
	return session;
}

/* True if a node that was refused may be accepted by now: for example, host memory may have been
 * registered. */
static bool instance_may_succeed_now(const struct graph_instance *instance)
{
	bool node = instance->reason == GRAPH_REPLAY_NODE;
	bool backend = instance->reason == GRAPH_REPLAY_BACKEND &&
		       instance->fault.status == STATUS_FEATURE_NOT_SUPPORTED &&
		       instance->tries < TRIES_MAX;
	/* Seldom: a try is as much work as thousands of records, and one that fails is charged to
	 * no session. */
	uint32_t shift = 2 * (instance->tries < TRIES_MAX ? instance->tries : TRIES_MAX);
	return (node || backend) && instance->replays >= 1u << shift;
}

/* Ends the instance. The next launch rebuilds it. */
static void discard_instance(struct graph *graph)
{
	graph_instance_clear(graph);
	graph->instance->state = GRAPH_INSTANCE_UNTRIED;
	graph->instance->tries = 0;
}

static struct graph *find_launched(struct session *session, const Sycl__V1__CommandGroup *message,
				   struct queue **queue_out)
{
	const Sycl__V1__GraphLaunch *launch = message->graph_launch;
	struct object *graph = object_id_type(launch->graph) == OBJECT_GRAPH
				       ? object_table_find(&session->objects, launch->graph)
				       : NULL;
	struct object *queue = object_id_type(message->queue) == OBJECT_QUEUE
				       ? object_table_find(&session->objects, message->queue)
				       : NULL;
	if (!graph || graph->failed || graph->released || !((struct graph *)graph)->finished ||
	    !queue || queue->failed || queue->released)
		return NULL;
	*queue_out = (struct queue *)queue;
	return (struct graph *)graph;
}

bool graph_instance_awaits(struct session *session, const Sycl__V1__CommandGroup *message)
{
	struct queue *queue;
	if (message->action_case != SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH)
		return false;
	struct graph *graph = find_launched(session, message, &queue);
	if (!graph || graph->context != queue->context ||
	    graph->device_index != queue->device_index ||
	    (graph->native_count > 0 &&
	     (!graph->instance || graph->instance->state != GRAPH_INSTANCE_BUILDING)))
		return false;
	if (!graph->instance)
		graph->instance = calloc(1, sizeof(*graph->instance));
	struct graph_instance *instance = graph->instance;
	if (!instance)
		return false;
	if (instance->state == GRAPH_INSTANCE_READY && graph->native_count == 0 &&
	    instance->former_open == 0 && graph_instance_must_be_rebuilt(session, queue, graph))
		discard_instance(graph);
	if (instance->state == GRAPH_INSTANCE_UNTRIED ||
	    (instance->state == GRAPH_INSTANCE_REPLAYED && instance_may_succeed_now(instance)))
		graph_instance_build(session, queue, graph);
	if (instance->state != GRAPH_INSTANCE_BUILDING)
		return false;
	session->awaited = graph;
	return true;
}

void graph_instance_arena_ended(struct arena *arena)
{
	while (!list_empty(&arena->graphs)) {
		struct graph_arena *noted =
			list_entry(arena->graphs.next, struct graph_arena, link);
		struct graph *graph = noted->graph;
		list_remove(&noted->link);
		if (graph->native_count > 0 || graph->instance->state == GRAPH_INSTANCE_BUILDING)
			graph->instance->arena_is_freed = true;
		else
			discard_instance(graph);
	}
}

void graph_instance_free(struct graph *graph)
{
	if (graph->object.session->awaited == graph)
		graph->object.session->awaited = NULL;
	if (graph->instance)
		graph_instance_clear(graph);
	free(graph->instance);
	graph->instance = NULL;
}
