#include "graph/instance.h"

#include "clock.h"
#include "graph/temporary.h"
#include "group/check.h"
#include "group/group.h"
#include "session/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TRIES_MAX                                                                                  \
	8u /* what is refused may have been so for the moment: host memory is not registered yet,  \
	      something runs */

/* Results of a check of nodes. Negative instead: a violation. */
enum node_check {
	NODES_PASS = 0,
	NODES_REFUSED,     /* with a fault */
	NODES_TOO_LARGE,   /* together they need more than one backend's graph may */
	NODES_REORDERED,   /* some come behind others than in the backend's graph */
	NODES_SAME_MEMORY, /* two buffers that they require are one memory */
};

/* ---------------------------------------- nodes ----------------------------------------- */

static bool is_empty(const Sycl__V1__Launch *launch)
{
	for (size_t i = 0; i < launch->n_global; i++) {
		if (launch->global[i] == 0)
			return true;
	}
	return false;
}

static struct graph_node_form form_of(const struct graph_node *node)
{
	const Sycl__V1__CommandGroup *group = node->group;
	struct graph_node_form form = {.kernel = 0, .is_disabled = node->is_disabled};
	if (group->action_case != SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH)
		return form;
	form.kernel = group->launch->kernel;
	form.cooperative = group->launch->cooperative;
	form.is_empty = is_empty(group->launch);
	for (size_t i = 0; i < group->launch->n_cluster && i < 3; i++)
		form.cluster[i] = group->launch->cluster[i];
	return form;
}

/* `features`: of the device. */
static bool has_its_form(const struct graph *graph, uint32_t index, uint32_t features)
{
	const struct graph_node_form form = form_of(&graph->nodes[index]),
				     *made = &graph->instance->forms[index];
	if (made->is_disabled || form.is_disabled)
		return form.is_disabled &&
		       (made->is_disabled || features & BACKEND_FEATURE_GRAPH_SWITCH);
	return form.kernel == made->kernel && form.cooperative == made->cooperative &&
	       form.is_empty == made->is_empty &&
	       memcmp(form.cluster, made->cluster, sizeof(form.cluster)) == 0;
}

/* Its release must be noted. */
static void mark_referenced(struct session *session, enum object_type type, uint64_t id)
{
	struct object *object =
		object_id_type(id) == type ? object_table_find(&session->objects, id) : NULL;
	if (object)
		object->in_graph = true;
}

static void mark_usm_referenced(struct session *session, uint64_t address)
{
	struct usm *usm = address ? usm_table_find(&session->usm, address, 0) : NULL;
	if (usm)
		usm->object.in_graph = true;
}

static void mark_launch_referenced(struct session *session, const Sycl__V1__Launch *launch)
{
	mark_referenced(session, OBJECT_KERNEL, launch->kernel);
	for (size_t i = 0; i < launch->n_arguments; i++) {
		if (launch->arguments[i]->value_case == SYCL__V1__ARGUMENT__VALUE_USM_ADDRESS)
			mark_usm_referenced(session, launch->arguments[i]->usm_address);
	}
}

static void mark_objects_referenced(struct session *session, const Sycl__V1__CommandGroup *group)
{
	const struct group_scratch *scratch = &session->engine->scratch;
	for (size_t i = 0; i < group->n_requirements; i++)
		scratch->buffers[i]->object.in_graph = true;
	switch (group->action_case) {
	case SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH:
		mark_launch_referenced(session, group->launch);
		break;
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_COPY:
		mark_usm_referenced(session, group->usm_copy->destination);
		mark_usm_referenced(session, group->usm_copy->source);
		break;
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_FILL:
		mark_usm_referenced(session, group->usm_fill->address);
		break;
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_PREFETCH:
		mark_usm_referenced(session, group->usm_prefetch->address);
		break;
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_ADVISE:
		mark_usm_referenced(session, group->usm_advise->address);
		break;
	case SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION:
		mark_usm_referenced(session, group->graph_condition->usm_address);
		break;
	default:
		break;
	}
}

/* As for a launch of its own. Returns PASS or REFUSED. */
static int check_node(struct session *session, const struct queue *queue, struct graph *graph,
		      uint32_t index, struct task_request *request_out, struct backend_fault *fault)
{
	const Sycl__V1__CommandGroup *group = graph->nodes[index].group;
	session->engine->scratch.arena = NULL;
	*request_out = (struct task_request){.device = queue->device, .account = session->work};
	int r = graph_check_requirements(graph, group, request_out, fault);
	if (r == 0 && graph->nodes[index].is_disabled) {
		request_out->action = TASK_BARRIER;
		request_out->what = "disabled node";
	} else if (r == 0 && graph->nodes[index].is_native)
		r = group_check_native_node(session, queue, group, request_out, fault);
	else if (r == 0 && graph->nodes[index].body_end > 0)
		r = group_check_condition(session, queue, group, request_out, fault);
	else if (r == 0)
		r = group_check_action(session, queue, group, request_out, fault);
	if (r == 0)
		mark_objects_referenced(session, group);
	return r;
}

/* Its requirements are for the graph's order; the node itself uses nothing. */
static void forget_requirements(const struct graph_node *node, struct task_request *request)
{
	if (node->is_disabled)
		request->requirement_count = 0;
}

/* As graph_order counts: from 1. */
static uint32_t place_of(const struct graph *graph, uint32_t index)
{
	return graph->nodes[index].place == GRAPH_TOP ? 0 : graph->nodes[index].place + 1;
}

static int order_node(struct session *session, const struct graph *graph, uint32_t index,
		      const struct task_request *request, struct graph_order *order)
{
	const struct graph_order_node node = {
		.requirements = request->requirements,
		.buffers = session->engine->scratch.buffers,
		.count = request->requirement_count,
		.may_do_nothing = graph->nodes[index].place != GRAPH_TOP ||
				  sched_request_is_front_only(request),
		.place = place_of(graph, index),
		.after = graph_after(graph, index),
		.after_count = graph->nodes[index].edge_count,
	};
	return graph_order_add(order, &node);
}

/* A condition stands for its body: it comes behind all that its nodes come behind. */
static int order_body(struct session *session, const struct queue *queue, struct graph *graph,
		      uint32_t index, struct graph_order *order, struct backend_fault *fault)
{
	struct task_request request = {.device = queue->device};
	for (uint32_t i = index + 1; i < graph->nodes[index].body_end; i++) {
		int r = graph_check_requirements(graph, graph->nodes[i].group, &request, fault);
		if (r != 0)
			return r;
		const struct graph_order_node node = {
			.requirements = request.requirements,
			.buffers = session->engine->scratch.buffers,
			.count = request.requirement_count,
			.place = place_of(graph, index),
		};
		if (graph_order_foresee(order, &node) < 0)
			return NODES_TOO_LARGE;
	}
	session->record_cost += graph->nodes[index].body_end - index;
	return 0;
}

/* check_node, and its place in the order. `order`: or NULL. */
static int check_in_order(struct session *session, const struct queue *queue, struct graph *graph,
			  uint32_t index, struct graph_order *order,
			  struct task_request *request_out, struct backend_fault *fault)
{
	int r = order && graph->nodes[index].body_end > 0
			? order_body(session, queue, graph, index, order, fault)
			: 0;
	if (r == 0)
		r = check_node(session, queue, graph, index, request_out, fault);
	if (r == 0 && order && order_node(session, graph, index, request_out, order) < 0)
		r = NODES_TOO_LARGE;
	return r;
}

/* ---------------------------------------- making ---------------------------------------- */

static void drop_arenas(struct graph_arenas *arenas)
{
	if (arenas && --arenas->references == 0)
		free(arenas);
}

/* Launches that are open keep theirs. */
static void release_arenas(struct graph_instance *instance)
{
	for (uint32_t i = 0; instance->arenas && i < instance->arenas->count; i++)
		list_remove(&instance->arenas->list[i].link);
	drop_arenas(instance->arenas);
	instance->arenas = NULL;
	instance->arena_is_freed = false;
}

static void free_backend_graph(struct graph *graph)
{
	struct graph_instance *instance = graph->instance;
	graph->object.session->graph_bytes -= instance->bytes;
	instance->bytes = 0;
	if (instance->sched)
		sched_graph_release(instance->sched);
	instance->sched = NULL;
	graph_order_fini(&instance->order);
	free(instance->changed);
	instance->changed = NULL;
	free(instance->forms);
	instance->forms = NULL;
	instance->changed_count = 0;
	release_arenas(instance);
	instance->order_stale = false;
}

static int set_replayed(struct graph *graph, enum graph_replay_reason reason)
{
	graph->instance->state = GRAPH_INSTANCE_REPLAYED;
	graph->instance->reason = reason;
	graph->instance->replays = 0;
	free_backend_graph(graph);
	return 1;
}

/* Held until the backend's graph is freed, which may have objects over it. */
static int hold_arena(struct graph *graph, struct arena *arena)
{
	struct graph_instance *instance = graph->instance;
	if (!instance->arenas)
		instance->arenas = calloc(1, sizeof(*instance->arenas));
	struct graph_arenas *arenas = instance->arenas;
	if (!arenas)
		return -ENOMEM;
	arenas->references += arenas->references == 0;
	for (uint32_t i = 0; i < arenas->count; i++) {
		if (arenas->list[i].arena == arena)
			return 0;
	}
	if (arenas->count == GRAPH_INSTANCE_ARENAS_MAX)
		return -E2BIG;
	int r = session_arena_register(arena);
	if (r == 0)
		r = sched_graph_hold(instance->sched, arena->host);
	if (r < 0)
		return r;
	struct graph_arena *noted = &arenas->list[arenas->count++];
	*noted = (struct graph_arena){.arena = arena, .graph = graph};
	list_init(&noted->link);
	list_push_back(&arena->graphs, &noted->link);
	return 0;
}

static bool charge_instance(struct graph *graph)
{
	struct session *session = graph->object.session;
	uint64_t bytes = sched_graph_bytes(graph->instance->sched) +
			 graph->instance->order.need_count * sizeof(struct graph_need) +
			 ((uint64_t)graph->instance->order.edge_count + 2ull * graph->node_count) *
				 sizeof(uint32_t) +
			 graph->node_count * sizeof(struct graph_node_form);
	uint64_t others = session->graph_bytes - graph->instance->bytes;
	if (others > GRAPH_BYTES_MAX || bytes > GRAPH_BYTES_MAX - others)
		return false;
	session->graph_bytes = others + bytes;
	graph->instance->bytes = bytes;
	return true;
}

static enum graph_replay_reason reason_of_error(int error)
{
	return error == -EOPNOTSUPP ? GRAPH_REPLAY_HOST : GRAPH_REPLAY_SIZE;
}

/* 0; 1: it will not be. */
static int add_node(struct session *session, const struct queue *queue, struct graph *graph,
		    uint32_t index)
{
	struct graph_instance *instance = graph->instance;
	struct task_request request;
	uint32_t count;
	int r = check_in_order(session, queue, graph, index, &instance->order, &request,
			       &instance->fault);
	if (r != 0)
		return set_replayed(graph,
				    r == NODES_TOO_LARGE ? GRAPH_REPLAY_SIZE : GRAPH_REPLAY_NODE);
	const uint32_t *after = graph_order_after(&instance->order, index, &count);
	forget_requirements(&graph->nodes[index], &request);
	r = sched_graph_add(instance->sched, &request, after, count);
	graph->nodes[index].is_taken = r == 0;
	instance->forms[index] = form_of(&graph->nodes[index]);
	if (r == 0 && session->engine->scratch.arena)
		r = hold_arena(graph, session->engine->scratch.arena);
	if (r < 0)
		return set_replayed(graph, reason_of_error(r));
	return charge_instance(graph) ? 0 : set_replayed(graph, GRAPH_REPLAY_SIZE);
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
		r = add_node(session, queue, graph, i);
		session->record_cost += 1 + (uint32_t)graph->nodes[i].group->n_requirements / 16;
	}
	if (r != 0)
		return;
	graph_order_seal(&instance->order);
	session->record_cost += graph->node_count + instance->order.need_count;
	session->engine->graphs_built++;
	instance->state = GRAPH_INSTANCE_BUILDING;
	sched_graph_build(instance->sched);
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
		"a graph with a native command is launched as a graph of the device's driver, and this one cannot be");
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

/* A node that was refused may have what it lacks by now; host memory may have been registered. */
static bool is_worth_another_try(const struct graph_instance *instance)
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

/* --------------------------------------- changes ---------------------------------------- */

static bool is_same_requirement(const Sycl__V1__Requirement *a, const Sycl__V1__Requirement *b)
{
	return a->buffer == b->buffer && a->mode == b->mode && a->offset_bytes == b->offset_bytes &&
	       a->size_bytes == b->size_bytes && a->order_offset_bytes == b->order_offset_bytes &&
	       a->order_size_bytes == b->order_size_bytes;
}

static bool requires_the_same(const Sycl__V1__CommandGroup *a, const Sycl__V1__CommandGroup *b)
{
	bool same = a->n_requirements == b->n_requirements &&
		    is_empty(a->launch) == is_empty(b->launch);
	for (size_t i = 0; same && i < a->n_requirements; i++)
		same = is_same_requirement(a->requirements[i], b->requirements[i]);
	return same;
}

static void add_changed(struct graph *graph, uint32_t index)
{
	struct graph_instance *instance = graph->instance;
	graph->nodes[index].carried = 0;
	if (graph->nodes[index].changed)
		return;
	graph->nodes[index].changed = true;
	instance->changed[instance->changed_count++] = index;
}

void graph_instance_node_changed(struct graph *graph, uint32_t index,
				 const Sycl__V1__CommandGroup *before)
{
	struct graph_instance *instance = graph->instance;
	if (!instance ||
	    (instance->state != GRAPH_INSTANCE_BUILDING && instance->state != GRAPH_INSTANCE_READY))
		return;
	add_changed(graph, index);
	instance->order_stale |= !requires_the_same(before, graph->nodes[index].group);
}

void graph_instance_node_switched(struct graph *graph, uint32_t index)
{
	struct graph_instance *instance = graph->instance;
	if (!instance ||
	    (instance->state != GRAPH_INSTANCE_BUILDING && instance->state != GRAPH_INSTANCE_READY))
		return;
	add_changed(graph, index);
	instance->order_stale = true; /* what it would write is not written */
}

/* Are all objects that the nodes name still there, or others in their place? */
static int check_all_nodes(struct session *session, const struct queue *queue, struct graph *graph,
			   struct graph_order *order, struct backend_fault *fault)
{
	struct task_request request;
	session->record_cost += graph->node_count;
	for (uint32_t i = 0; i < graph->node_count; i++) {
		int r = check_in_order(session, queue, graph, i, order, &request, fault);
		if (r != 0)
			return r;
	}
	return 0;
}

/* Computes the nodes' requirements and the edges that follow from them again. */
static int recompute_order(struct session *session, const struct queue *queue, struct graph *graph,
			   struct backend_fault *fault)
{
	struct graph_instance *instance = graph->instance;
	struct graph_order order;
	if (graph_order_init(&order, graph->node_count, ++session->engine->order_stamp) < 0)
		return NODES_TOO_LARGE;
	int r = check_all_nodes(session, queue, graph, &order, fault);
	graph_order_seal(&order);
	for (uint32_t i = 0; i < graph->node_count && r == 0; i++)
		r = graph_order_alike(&order, &instance->order, i) ? NODES_PASS : NODES_REORDERED;
	if (r == 0) {
		struct graph_order before = instance->order;
		instance->order = order;
		order = before;
		if (charge_instance(graph)) {
			instance->order_stale = false;
		} else {
			order = instance->order;
			instance->order = before;
			r = NODES_TOO_LARGE;
		}
	}
	graph_order_fini(&order);
	return r;
}

/* Changes that this device cannot make in an instance. */
static bool has_unsupported_changes(const struct queue *queue, const struct graph *graph)
{
	const struct graph_instance *instance = graph->instance;
	bool unfit = instance->changed_count > 0 &&
		     !(queue->facts->features & BACKEND_FEATURE_GRAPH_UPDATE);
	for (uint32_t i = 0; i < instance->changed_count && !unfit; i++)
		unfit = !has_its_form(graph, instance->changed[i], queue->facts->features);
	return unfit;
}

static bool must_be_rebuilt(struct session *session, const struct queue *queue, struct graph *graph)
{
	const struct graph_instance *instance = graph->instance;
	struct backend_fault fault;
	if (instance->arena_is_freed || sched_graph_is_broken(instance->sched) ||
	    has_unsupported_changes(queue, graph))
		return true;
	return instance->order_stale &&
	       recompute_order(session, queue, graph, &fault) == NODES_REORDERED;
}

/* Changes that the backend's graph may not have yet go with the next launch. */
static int send_changes(struct session *session, const struct queue *queue, struct graph *graph,
			struct sched_graph_node **changes, struct backend_fault *fault)
{
	struct graph_instance *instance = graph->instance;
	uint64_t ran = sched_graph_ran(instance->sched),
		 number = sched_graph_launches(instance->sched) + 1;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < instance->changed_count; i++) {
		struct graph_node *node = &graph->nodes[instance->changed[i]];
		node->changed = node->carried == 0 || node->carried > ran;
		if (node->changed)
			instance->changed[kept++] = instance->changed[i];
	}
	instance->changed_count = kept;
	session->record_cost += kept;
	for (uint32_t i = 0; i < kept; i++) {
		struct task_request request;
		uint32_t count, index = instance->changed[i];
		int r = check_node(session, queue, graph, index, &request, fault);
		if (r != 0)
			return r;
		const uint32_t *after = graph_order_after(&instance->order, index, &count);
		forget_requirements(&graph->nodes[index], &request);
		if (sched_graph_change(instance->sched, index, &request, after, count, changes) < 0)
			return NODES_TOO_LARGE;
		graph->nodes[index].carried = number;
	}
	return 0;
}

/* The next launch rebuilds it. */
static void discard_instance(struct graph *graph)
{
	free_backend_graph(graph);
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
	    instance->former_open == 0 && must_be_rebuilt(session, queue, graph))
		discard_instance(graph);
	if (instance->state == GRAPH_INSTANCE_UNTRIED ||
	    (instance->state == GRAPH_INSTANCE_REPLAYED && is_worth_another_try(instance)))
		graph_instance_build(session, queue, graph);
	if (instance->state != GRAPH_INSTANCE_BUILDING)
		return false;
	session->awaited = graph;
	return true;
}

/* --------------------------------------- launches --------------------------------------- */

/* Launches that are in flight are on one lane. */
static bool choose_lane(struct graph_instance *instance, const struct queue *queue)
{
	if (instance->open > 0)
		return queue->has_native_lane || queue->lane_is_known
			       ? instance->home_lane == queue->home_lane
			       : !instance->lane_is_native;
	bool keeps = instance->home_lane > 0 && !instance->lane_is_native &&
		     !queue->has_native_lane && !queue->in_order;
	if (!keeps)
		instance->home_lane =
			queue->home_lane ? queue->home_lane : scheduler_home_lane(queue->device);
	instance->lane_is_native = queue->has_native_lane;
	return true;
}

/* The requirements of the whole graph become those of its task. */
static int put_requirements(struct session *session, const struct graph_order *order,
			    struct task_request *request, struct backend_fault *fault)
{
	struct group_scratch *scratch = &session->engine->scratch;
	uint64_t stamp = ++session->engine->stamp;
	for (uint32_t i = 0; i < order->need_count; i++) {
		struct buffer *buffer;
		int r = object_get(session, order->needs[i].buffer, OBJECT_BUFFER, &buffer, fault);
		if (r != 0)
			return r;
		if (group_names_twice(stamp, buffer))
			return NODES_SAME_MEMORY;
		scratch->requirements[i] = order->needs[i].requirement;
	}
	request->requirements = scratch->requirements;
	request->requirement_count = order->need_count;
	return 0;
}

/* As one, all of it would fail. */
static bool needs_what_is_lost(const struct task_request *request)
{
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		if (sched_requirement_is_lost(&request->requirements[i]))
			return true;
	}
	return false;
}

/* A launch as one is over. The graph may be freed afterwards. */
static void end_launch(struct group *group)
{
	struct graph *graph = group->graph;
	if (graph->last == group)
		graph->last = NULL;
	graph->instance->open--;
	graph->instance->former_open -= group->graph_making != graph->instance->making;
	for (uint32_t i = 0; group->graph_arenas && i < group->graph_arenas->count; i++)
		group->graph_arenas->list[i].arena->users--;
	drop_arenas(group->graph_arenas);
	object_unref(&graph->object);
}

static const struct group_graph_ops instance_ops = {.done = end_launch};

static void open_group(const struct graph_instance_launch *launch, struct group *group)
{
	struct session *session = launch->session;
	struct queue *queue = launch->queue;
	struct graph *graph = launch->graph;
	group->graph = graph;
	group->graph_ops = &instance_ops;
	group_window_open(&queue->window, &group->entry);
	(void)object_ref(&queue->object);
	(void)object_ref(&graph->object);
	session->groups_open++;
	session->record_cost += graph->instance->order.need_count;
	group->session_number = ++session->group_count;
	list_push_back(&session->open_groups, &group->session_link);
	group->graph_making = graph->instance->making;
	group->graph_arenas = graph->instance->arenas;
	for (uint32_t i = 0; group->graph_arenas && i < group->graph_arenas->count; i++)
		group->graph_arenas->list[i].arena->users++;
	if (group->graph_arenas)
		group->graph_arenas->references++;
	if (session->engine->scratch.waits_for_all)
		queue->barrier = &group->entry;
	graph->last = group;
	graph->instance->open++;
	session->engine->graph_launches++;
}

static int submit_launch(const struct graph_instance_launch *launch, struct task_request *request,
			 struct backend_fault *fault)
{
	struct session *session = launch->session;
	struct group_scratch *scratch = &session->engine->scratch;
	scratch->after_count = 0;
	if (group_scratch_put_before(scratch, &request->after_order_count) < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for dependencies");
	request->after = scratch->after;
	request->after_count = scratch->after_count;
	struct group *group = pool_take(&session->engine->groups);
	if (!group)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for a graph's launch");
	*group = *launch->slots;
	group->work.kind = WORK_GROUP;
	list_init(&group->held_link);
	group->queue = launch->queue;
	group->submit_ns = launch->queue->profiling ? clock_now_ns() : 0;
	request->owner = &group->work;
	int r = task_submit(session->engine->scheduler, request, &group->task);
	if (r < 0) {
		pool_give(&session->engine->groups, group);
		return group_submit_fault(r, "a graph's launch", fault);
	}
	open_group(launch, group);
	return 0;
}

static int launch_ready(const struct graph_instance_launch *launch,
			struct sched_graph_node **changes, enum graph_replay_reason *reason_out,
			struct backend_fault *fault)
{
	struct session *session = launch->session;
	struct queue *queue = launch->queue;
	struct graph *graph = launch->graph;
	struct graph_instance *instance = graph->instance;
	/* Its nodes would run on all of the device, also on what is set apart for the latency
	 * class. */
	*reason_out = GRAPH_REPLAY_DEVICE;
	if (!graph_needs_instance(graph) && scheduler_latency_units(queue->device) > 0)
		return GRAPH_LAUNCH_REPLAY;
	*reason_out = GRAPH_REPLAY_QUEUE;
	if (!choose_lane(instance, queue))
		return GRAPH_LAUNCH_REPLAY;
	*reason_out = GRAPH_REPLAY_CHANGE;
	if (instance->arena_is_freed || sched_graph_is_broken(instance->sched) ||
	    has_unsupported_changes(queue, graph))
		return GRAPH_LAUNCH_REPLAY;
	*reason_out = GRAPH_REPLAY_NODE;
	int r = 0;
	if (instance->order_stale)
		r = recompute_order(session, queue, graph, fault);
	else if (instance->releases != session->graph_releases)
		r = check_all_nodes(session, queue, graph, NULL, fault);
	if (r == 0)
		instance->releases = session->graph_releases;
	else if (r == NODES_REORDERED)
		*reason_out = GRAPH_REPLAY_CHANGE;
	struct task_request request = {.device = NULL};
	if (r == 0 && instance->changed_count > 0)
		r = send_changes(session, queue, graph, changes, fault);
	if (r == 0)
		r = put_requirements(session, &instance->order, &request, fault);
	if (r != 0)
		return r < 0 ? r : GRAPH_LAUNCH_REPLAY; /* the replay reports which node it is */
	*reason_out = GRAPH_REPLAY_CONTENTS;
	if (!graph_needs_instance(graph) && !launch->failed_dependency &&
	    needs_what_is_lost(&request))
		return GRAPH_LAUNCH_REPLAY;
	char what[32];
	(void)snprintf(what, sizeof(what), "graph of %u nodes", graph->node_count);
	request.device = queue->device;
	request.home_lane = instance->home_lane;
	request.action = TASK_GRAPH;
	request.what = what;
	request.timed = queue->profiling && graph->profiling;
	request.account = session->work;
	request.flight_session = session->peer.session;
	request.flight_queue = launch->message->queue;
	request.flight_group = launch->message->group;
	request.failed_dependency = launch->failed_dependency;
	request.graph.graph = instance->sched;
	request.graph.changes = *changes;
	return submit_launch(launch, &request, fault);
}

int graph_instance_launch(const struct graph_instance_launch *launch,
			  enum graph_replay_reason *reason_out, struct backend_fault *fault)
{
	struct graph_instance *instance = launch->graph->instance;
	struct sched_graph_node *changes = NULL;
	if (!instance || instance->state != GRAPH_INSTANCE_READY) {
		*reason_out = instance ? instance->reason : GRAPH_REPLAY_SIZE;
		if (instance && (instance->reason == GRAPH_REPLAY_BACKEND ||
				 instance->reason == GRAPH_REPLAY_NODE))
			*fault = instance->fault;
		if (instance)
			instance->replays++;
		return GRAPH_LAUNCH_REPLAY;
	}
	int r = launch_ready(launch, &changes, reason_out, fault);
	if (r != 0)
		sched_graph_changes_free(changes);
	return r;
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
		free_backend_graph(graph);
	free(graph->instance);
	graph->instance = NULL;
}
