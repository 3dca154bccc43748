#include "graph/whole.h"

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
				     *made = &graph->whole->forms[index];
	if (made->is_disabled || form.is_disabled)
		return form.is_disabled &&
		       (made->is_disabled || features & BACKEND_FEATURE_GRAPH_SWITCH);
	return form.kernel == made->kernel && form.cooperative == made->cooperative &&
	       form.is_empty == made->is_empty &&
	       memcmp(form.cluster, made->cluster, sizeof(form.cluster)) == 0;
}

/* Its release is to be noticed. */
static void note(struct session *session, enum object_type type, uint64_t id)
{
	struct object *object =
		object_id_type(id) == type ? object_table_find(&session->objects, id) : NULL;
	if (object)
		object->in_graph = true;
}

static void note_usm(struct session *session, uint64_t address)
{
	struct usm *usm = address ? usm_table_find(&session->usm, address, 0) : NULL;
	if (usm)
		usm->object.in_graph = true;
}

static void note_launch(struct session *session, const Sycl__V1__Launch *launch)
{
	note(session, OBJECT_KERNEL, launch->kernel);
	for (size_t i = 0; i < launch->n_arguments; i++) {
		if (launch->arguments[i]->value_case == SYCL__V1__ARGUMENT__VALUE_USM_ADDRESS)
			note_usm(session, launch->arguments[i]->usm_address);
	}
}

static void note_objects(struct session *session, const Sycl__V1__CommandGroup *group)
{
	const struct group_scratch *scratch = &session->engine->scratch;
	for (size_t i = 0; i < group->n_requirements; i++)
		scratch->buffers[i]->object.in_graph = true;
	switch (group->action_case) {
	case SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH:
		note_launch(session, group->launch);
		break;
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_COPY:
		note_usm(session, group->usm_copy->destination);
		note_usm(session, group->usm_copy->source);
		break;
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_FILL:
		note_usm(session, group->usm_fill->address);
		break;
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_PREFETCH:
		note_usm(session, group->usm_prefetch->address);
		break;
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_ADVISE:
		note_usm(session, group->usm_advise->address);
		break;
	case SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION:
		note_usm(session, group->graph_condition->usm_address);
		break;
	default:
		break;
	}
}

/* As for a launch of its own. 0; 1 with a fault; negative: a violation. */
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
		r = group_check_native_command(session, queue, group->native,
					       BACKEND_FEATURE_GRAPH_NATIVE, request_out, fault);
	else if (r == 0 && graph->nodes[index].body_end > 0)
		r = group_check_condition(session, queue, group->graph_condition, request_out,
					  fault);
	else if (r == 0)
		r = group_check_action(session, queue, group, request_out, fault);
	if (r == 0)
		note_objects(session, group);
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

/* A condition stands for its body: it comes behind all that its nodes come behind. 0; 1 with a
 * fault; 2: too much; negative: a violation. */
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
			return 2;
	}
	session->record_cost += graph->nodes[index].body_end - index;
	return 0;
}

/* check_node, and its place in the order; 2: too much. `order`: or NULL. */
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
		r = 2;
	return r;
}

/* ---------------------------------------- making ---------------------------------------- */

static void drop_arenas(struct graph_arenas *arenas)
{
	if (arenas && --arenas->references == 0)
		free(arenas);
}

/* Launches that are open keep theirs. */
static void let_go_of_arenas(struct graph_whole *whole)
{
	for (uint32_t i = 0; whole->arenas && i < whole->arenas->count; i++)
		list_remove(&whole->arenas->list[i].link);
	drop_arenas(whole->arenas);
	whole->arenas = NULL;
	whole->arena_is_gone = false;
}

static void give_back(struct graph *graph)
{
	struct graph_whole *whole = graph->whole;
	graph->object.session->graph_bytes -= whole->bytes;
	whole->bytes = 0;
	if (whole->sched)
		sched_graph_release(whole->sched);
	whole->sched = NULL;
	graph_order_fini(&whole->order);
	free(whole->changed);
	whole->changed = NULL;
	free(whole->forms);
	whole->forms = NULL;
	whole->changed_count = 0;
	let_go_of_arenas(whole);
	whole->order_stale = false;
}

static int replay(struct graph *graph, enum graph_replay_reason reason)
{
	graph->whole->state = GRAPH_WHOLE_REPLAYED;
	graph->whole->reason = reason;
	graph->whole->replays = 0;
	give_back(graph);
	return 1;
}

/* Held until the backend's graph is gone, which may have objects over it. */
static int note_arena(struct graph *graph, struct arena *arena)
{
	struct graph_whole *whole = graph->whole;
	if (!whole->arenas)
		whole->arenas = calloc(1, sizeof(*whole->arenas));
	struct graph_arenas *arenas = whole->arenas;
	if (!arenas)
		return -ENOMEM;
	arenas->references += arenas->references == 0;
	for (uint32_t i = 0; i < arenas->count; i++) {
		if (arenas->list[i].arena == arena)
			return 0;
	}
	if (arenas->count == GRAPH_WHOLE_ARENAS_MAX)
		return -E2BIG;
	int r = session_arena_register(arena);
	if (r == 0)
		r = sched_graph_hold(whole->sched, arena->host);
	if (r < 0)
		return r;
	struct graph_arena *noted = &arenas->list[arenas->count++];
	*noted = (struct graph_arena){.arena = arena, .graph = graph};
	list_init(&noted->link);
	list_push_back(&arena->graphs, &noted->link);
	return 0;
}

static bool charge(struct graph *graph)
{
	struct session *session = graph->object.session;
	uint64_t bytes = sched_graph_bytes(graph->whole->sched) +
			 graph->whole->order.need_count * sizeof(struct graph_need) +
			 ((uint64_t)graph->whole->order.edge_count + 2ull * graph->node_count) *
				 sizeof(uint32_t) +
			 graph->node_count * sizeof(struct graph_node_form);
	uint64_t others = session->graph_bytes - graph->whole->bytes;
	if (others > GRAPH_BYTES_MAX || bytes > GRAPH_BYTES_MAX - others)
		return false;
	session->graph_bytes = others + bytes;
	graph->whole->bytes = bytes;
	return true;
}

static enum graph_replay_reason reason_of(int error)
{
	return error == -EOPNOTSUPP ? GRAPH_REPLAY_HOST : GRAPH_REPLAY_SIZE;
}

/* 0; 1: it will not be. */
static int add_node(struct session *session, const struct queue *queue, struct graph *graph,
		    uint32_t index)
{
	struct graph_whole *whole = graph->whole;
	struct task_request request;
	uint32_t count;
	int r = check_in_order(session, queue, graph, index, &whole->order, &request,
			       &whole->fault);
	if (r != 0)
		return replay(graph, r == 2 ? GRAPH_REPLAY_SIZE : GRAPH_REPLAY_NODE);
	const uint32_t *after = graph_order_after(&whole->order, index, &count);
	forget_requirements(&graph->nodes[index], &request);
	r = sched_graph_add(whole->sched, &request, after, count);
	graph->nodes[index].is_taken = r == 0;
	whole->forms[index] = form_of(&graph->nodes[index]);
	if (r == 0 && session->engine->scratch.arena)
		r = note_arena(graph, session->engine->scratch.arena);
	if (r < 0)
		return replay(graph, reason_of(r));
	return charge(graph) ? 0 : replay(graph, GRAPH_REPLAY_SIZE);
}

static enum graph_replay_reason why_not(const struct session *session, const struct queue *queue,
					const struct graph *graph)
{
	if (session->engine->never_whole && !graph_is_only_whole(graph))
		return GRAPH_REPLAY_SWITCH;
	if (!(queue->facts->features & BACKEND_FEATURE_GRAPH))
		return GRAPH_REPLAY_DEVICE;
	if (graph->host_count > 0)
		return GRAPH_REPLAY_HOST;
	if (graph->node_count == 0 || graph->node_count > GRAPH_WHOLE_NODES_MAX)
		return GRAPH_REPLAY_SIZE;
	return GRAPH_REPLAY_NOT;
}

static int begin(struct session *session, const struct queue *queue, struct graph *graph)
{
	struct graph_whole *whole = graph->whole;
	enum graph_replay_reason reason = why_not(session, queue, graph);
	if (reason)
		return replay(graph, reason);
	whole->changed = calloc(graph->node_count, sizeof(*whole->changed));
	whole->forms = calloc(graph->node_count, sizeof(*whole->forms));
	if (!whole->changed || !whole->forms ||
	    graph_order_init(&whole->order, graph->node_count, ++session->engine->order_stamp) <
		    0 ||
	    sched_graph_create(queue->device, graph->node_count, graph->updatable, graph,
			       &whole->sched) < 0)
		return replay(graph, GRAPH_REPLAY_SIZE);
	whole->releases = session->graph_releases;
	whole->making++;
	whole->former_open = whole->open;
	for (uint32_t i = 0; i < graph->node_count; i++)
		graph->nodes[i].changed = false;
	return 0;
}

/* Then it is being built, or will be replayed. */
static void try(struct session *session, const struct queue *queue, struct graph *graph)
{
	struct graph_whole *whole = graph->whole;
	whole->tries++;
	int r = begin(session, queue, graph);
	for (uint32_t i = 0; r == 0 && i < graph->node_count; i++) {
		r = add_node(session, queue, graph, i);
		session->record_cost += 1 + (uint32_t)graph->nodes[i].group->n_requirements / 16;
	}
	if (r != 0)
		return;
	graph_order_seal(&whole->order);
	session->record_cost += graph->node_count + whole->order.need_count;
	session->engine->graphs_built++;
	whole->state = GRAPH_WHOLE_BUILDING;
	sched_graph_build(whole->sched);
}

/* A graph with native commands is made, or never will be. */
static void made(struct graph *graph)
{
	struct graph_whole *whole = graph->whole;
	uint64_t number = whole->number;
	whole->number = 0;
	if (whole->state != GRAPH_WHOLE_READY)
		object_fail(&graph->object, number, &whole->fault);
	else if (number)
		reply_done(graph->object.session, number);
}

int graph_whole_make(struct graph *graph, uint64_t number)
{
	struct session *session = graph->object.session;
	struct context_device found;
	struct backend_fault fault;
	int r = context_device(session, graph->context->object.id, graph->device_index, &found,
			       &fault);
	if (r < 0)
		return r;
	graph->whole = calloc(1, sizeof(*graph->whole));
	if (r == 0 && !graph->whole)
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
	graph->whole->number = number;
	(void)fault_set(
		&graph->whole->fault, STATUS_FEATURE_NOT_SUPPORTED,
		"a graph with a native command is launched as a graph of the device's driver, and this one cannot be");
	try(session, &queue, graph);
	if (graph->whole->state != GRAPH_WHOLE_BUILDING)
		made(graph);
	return 0;
}

void graph_natives_end(struct graph *graph)
{
	for (uint32_t i = 0; i < graph->node_count; i++) {
		if (graph->nodes[i].is_native && !graph->nodes[i].is_taken)
			group_native_command_refused(graph->object.session, graph->nodes[i].group);
	}
}

struct session *graph_whole_built(struct graph *graph, const struct backend_fault *fault)
{
	struct session *session = graph->object.session;
	struct graph_whole *whole = graph->whole;
	whole->state = GRAPH_WHOLE_READY;
	if (fault->status) {
		whole->fault = *fault;
		(void)replay(graph, GRAPH_REPLAY_BACKEND);
	}
	if (graph->native_count > 0)
		made(graph);
	if (session->awaited == graph) {
		session->awaited = NULL;
		session_make_hot(session);
	}
	return session;
}

/* A node that was refused may have what it lacks by now; host memory may have been registered. */
static bool is_worth_another_try(const struct graph_whole *whole)
{
	bool node = whole->reason == GRAPH_REPLAY_NODE;
	bool backend = whole->reason == GRAPH_REPLAY_BACKEND &&
		       whole->fault.status == STATUS_FEATURE_NOT_SUPPORTED &&
		       whole->tries < TRIES_MAX;
	/* Seldom: a try is as much work as thousands of records, and one that fails is paid for by
	 * nobody. */
	uint32_t shift = 2 * (whole->tries < TRIES_MAX ? whole->tries : TRIES_MAX);
	return (node || backend) && whole->replays >= 1u << shift;
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

static void put_changed(struct graph *graph, uint32_t index)
{
	struct graph_whole *whole = graph->whole;
	graph->nodes[index].carried = 0;
	if (graph->nodes[index].changed)
		return;
	graph->nodes[index].changed = true;
	whole->changed[whole->changed_count++] = index;
}

void graph_whole_changed(struct graph *graph, uint32_t index, const Sycl__V1__CommandGroup *before)
{
	struct graph_whole *whole = graph->whole;
	if (!whole || (whole->state != GRAPH_WHOLE_BUILDING && whole->state != GRAPH_WHOLE_READY))
		return;
	put_changed(graph, index);
	whole->order_stale |= !requires_the_same(before, graph->nodes[index].group);
}

void graph_whole_switched(struct graph *graph, uint32_t index)
{
	struct graph_whole *whole = graph->whole;
	if (!whole || (whole->state != GRAPH_WHOLE_BUILDING && whole->state != GRAPH_WHOLE_READY))
		return;
	put_changed(graph, index);
	whole->order_stale = true; /* what it would write is not written */
}

/* All nodes are what they were, or others are there for them. 0; 1 with a fault; 2: too much for
 * one; negative: a violation. */
static int check_all(struct session *session, const struct queue *queue, struct graph *graph,
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

/* What is required, and the edges that follow from it, once more. As check_all; 3: nodes wait for
 * others than those of the backend's. */
static int order_anew(struct session *session, const struct queue *queue, struct graph *graph,
		      struct backend_fault *fault)
{
	struct graph_whole *whole = graph->whole;
	struct graph_order order;
	if (graph_order_init(&order, graph->node_count, ++session->engine->order_stamp) < 0)
		return 2;
	int r = check_all(session, queue, graph, &order, fault);
	graph_order_seal(&order);
	for (uint32_t i = 0; i < graph->node_count && r == 0; i++)
		r = graph_order_alike(&order, &whole->order, i) ? 0 : 3;
	if (r == 0) {
		struct graph_order before = whole->order;
		whole->order = order;
		order = before;
		if (charge(graph)) {
			whole->order_stale = false;
		} else {
			order = whole->order;
			whole->order = before;
			r = 2;
		}
	}
	graph_order_fini(&order);
	return r;
}

/* Not these changes, in the graph that is there. */
static bool is_unfit(const struct queue *queue, const struct graph *graph)
{
	const struct graph_whole *whole = graph->whole;
	bool unfit = whole->changed_count > 0 &&
		     !(queue->facts->features & BACKEND_FEATURE_GRAPH_UPDATE);
	for (uint32_t i = 0; i < whole->changed_count && !unfit; i++)
		unfit = !has_its_form(graph, whole->changed[i], queue->facts->features);
	return unfit;
}

static bool must_be_made_anew(struct session *session, const struct queue *queue,
			      struct graph *graph)
{
	const struct graph_whole *whole = graph->whole;
	struct backend_fault fault;
	if (whole->arena_is_gone || sched_graph_is_broken(whole->sched) || is_unfit(queue, graph))
		return true;
	return whole->order_stale && order_anew(session, queue, graph, &fault) == 3;
}

/* What the backend's graph does not know of, as far as is known here, goes with the next launch. As
 * check_all. */
static int put_changes(struct session *session, const struct queue *queue, struct graph *graph,
		       struct sched_graph_node **changes, struct backend_fault *fault)
{
	struct graph_whole *whole = graph->whole;
	uint64_t ran = sched_graph_ran(whole->sched),
		 number = sched_graph_launches(whole->sched) + 1;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < whole->changed_count; i++) {
		struct graph_node *node = &graph->nodes[whole->changed[i]];
		node->changed = node->carried == 0 || node->carried > ran;
		if (node->changed)
			whole->changed[kept++] = whole->changed[i];
	}
	whole->changed_count = kept;
	session->record_cost += kept;
	for (uint32_t i = 0; i < kept; i++) {
		struct task_request request;
		uint32_t count, index = whole->changed[i];
		int r = check_node(session, queue, graph, index, &request, fault);
		if (r != 0)
			return r;
		const uint32_t *after = graph_order_after(&whole->order, index, &count);
		forget_requirements(&graph->nodes[index], &request);
		if (sched_graph_change(whole->sched, index, &request, after, count, changes) < 0)
			return 2;
		graph->nodes[index].carried = number;
	}
	return 0;
}

/* The next launch has it made anew. */
static void unmake(struct graph *graph)
{
	give_back(graph);
	graph->whole->state = GRAPH_WHOLE_UNTRIED;
	graph->whole->tries = 0;
}

static struct graph *launched(struct session *session, const Sycl__V1__CommandGroup *message,
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

bool graph_whole_awaits(struct session *session, const Sycl__V1__CommandGroup *message)
{
	struct queue *queue;
	if (message->action_case != SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH)
		return false;
	struct graph *graph = launched(session, message, &queue);
	if (!graph || graph->context != queue->context ||
	    graph->device_index != queue->device_index ||
	    (graph->native_count > 0 &&
	     (!graph->whole || graph->whole->state != GRAPH_WHOLE_BUILDING)))
		return false;
	if (!graph->whole)
		graph->whole = calloc(1, sizeof(*graph->whole));
	struct graph_whole *whole = graph->whole;
	if (!whole)
		return false;
	if (whole->state == GRAPH_WHOLE_READY && graph->native_count == 0 &&
	    whole->former_open == 0 && must_be_made_anew(session, queue, graph))
		unmake(graph);
	if (whole->state == GRAPH_WHOLE_UNTRIED ||
	    (whole->state == GRAPH_WHOLE_REPLAYED && is_worth_another_try(whole)))
		try(session, queue, graph);
	if (whole->state != GRAPH_WHOLE_BUILDING)
		return false;
	session->awaited = graph;
	return true;
}

/* --------------------------------------- launches --------------------------------------- */

/* Launches that are in flight are on one lane. */
static bool choose_lane(struct graph_whole *whole, const struct queue *queue)
{
	if (whole->open > 0)
		return queue->has_native_lane || queue->lane_is_known
			       ? whole->home_lane == queue->home_lane
			       : !whole->lane_is_native;
	bool keeps = whole->home_lane > 0 && !whole->lane_is_native && !queue->has_native_lane &&
		     !queue->in_order;
	if (!keeps)
		whole->home_lane =
			queue->home_lane ? queue->home_lane : scheduler_home_lane(queue->device);
	whole->lane_is_native = queue->has_native_lane;
	return true;
}

/* 0; 1 with a fault; 2: two of them are one memory; negative: a violation. */
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
			return 2;
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

/* A launch as one is over. The graph may be gone afterwards. */
static void end_launch(struct group *group)
{
	struct graph *graph = group->graph;
	if (graph->last == group)
		graph->last = NULL;
	graph->whole->open--;
	graph->whole->former_open -= group->graph_making != graph->whole->making;
	for (uint32_t i = 0; group->graph_arenas && i < group->graph_arenas->count; i++)
		group->graph_arenas->list[i].arena->users--;
	drop_arenas(group->graph_arenas);
	object_unref(&graph->object);
}

static const struct group_graph_ops instance_ops = {.done = end_launch};

static void open_group(const struct graph_whole_launch *launch, struct group *group)
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
	session->record_cost += graph->whole->order.need_count;
	group->session_number = ++session->group_count;
	list_push_back(&session->open_groups, &group->session_link);
	group->graph_making = graph->whole->making;
	group->graph_arenas = graph->whole->arenas;
	for (uint32_t i = 0; group->graph_arenas && i < group->graph_arenas->count; i++)
		group->graph_arenas->list[i].arena->users++;
	if (group->graph_arenas)
		group->graph_arenas->references++;
	if (session->engine->scratch.waits_for_all)
		queue->barrier = &group->entry;
	graph->last = group;
	graph->whole->open++;
	session->engine->graph_launches++;
}

static int submit(const struct graph_whole_launch *launch, struct task_request *request,
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

static int launch_ready(const struct graph_whole_launch *launch, struct sched_graph_node **changes,
			enum graph_replay_reason *reason_out, struct backend_fault *fault)
{
	struct session *session = launch->session;
	struct queue *queue = launch->queue;
	struct graph *graph = launch->graph;
	struct graph_whole *whole = graph->whole;
	/* Its nodes would run on all of the device, also on what is set apart for the latency
	 * class. */
	*reason_out = GRAPH_REPLAY_DEVICE;
	if (!graph_is_only_whole(graph) && scheduler_latency_units(queue->device) > 0)
		return 2;
	*reason_out = GRAPH_REPLAY_QUEUE;
	if (!choose_lane(whole, queue))
		return 2;
	*reason_out = GRAPH_REPLAY_CHANGE;
	if (whole->arena_is_gone || sched_graph_is_broken(whole->sched) || is_unfit(queue, graph))
		return 2;
	*reason_out = GRAPH_REPLAY_NODE;
	int r = 0;
	if (whole->order_stale)
		r = order_anew(session, queue, graph, fault);
	else if (whole->releases != session->graph_releases)
		r = check_all(session, queue, graph, NULL, fault);
	if (r == 0)
		whole->releases = session->graph_releases;
	else if (r == 3)
		*reason_out = GRAPH_REPLAY_CHANGE;
	struct task_request request = {.device = NULL};
	if (r == 0 && whole->changed_count > 0)
		r = put_changes(session, queue, graph, changes, fault);
	if (r == 0)
		r = put_requirements(session, &whole->order, &request, fault);
	if (r != 0)
		return r < 0 ? r : 2; /* replay says which node it is */
	*reason_out = GRAPH_REPLAY_CONTENTS;
	if (!graph_is_only_whole(graph) && !launch->failed_dependency &&
	    needs_what_is_lost(&request))
		return 2;
	char what[32];
	(void)snprintf(what, sizeof(what), "graph of %u nodes", graph->node_count);
	request.device = queue->device;
	request.home_lane = whole->home_lane;
	request.action = TASK_GRAPH;
	request.what = what;
	request.timed = queue->profiling && graph->profiling;
	request.account = session->work;
	request.flight_session = session->peer.session;
	request.flight_queue = launch->message->queue;
	request.flight_group = launch->message->group;
	request.failed_dependency = launch->failed_dependency;
	request.graph.graph = whole->sched;
	request.graph.changes = *changes;
	return submit(launch, &request, fault);
}

int graph_whole_launch(const struct graph_whole_launch *launch,
		       enum graph_replay_reason *reason_out, struct backend_fault *fault)
{
	struct graph_whole *whole = launch->graph->whole;
	struct sched_graph_node *changes = NULL;
	if (!whole || whole->state != GRAPH_WHOLE_READY) {
		*reason_out = whole ? whole->reason : GRAPH_REPLAY_SIZE;
		if (whole &&
		    (whole->reason == GRAPH_REPLAY_BACKEND || whole->reason == GRAPH_REPLAY_NODE))
			*fault = whole->fault;
		if (whole)
			whole->replays++;
		return 2;
	}
	int r = launch_ready(launch, &changes, reason_out, fault);
	if (r != 0)
		sched_graph_changes_free(changes);
	return r;
}

void graph_whole_arena_gone(struct arena *arena)
{
	while (!list_empty(&arena->graphs)) {
		struct graph_arena *noted =
			list_entry(arena->graphs.next, struct graph_arena, link);
		struct graph *graph = noted->graph;
		list_remove(&noted->link);
		if (graph->native_count > 0 || graph->whole->state == GRAPH_WHOLE_BUILDING)
			graph->whole->arena_is_gone = true;
		else
			unmake(graph);
	}
}

void graph_whole_free(struct graph *graph)
{
	if (graph->object.session->awaited == graph)
		graph->object.session->awaited = NULL;
	if (graph->whole)
		give_back(graph);
	free(graph->whole);
	graph->whole = NULL;
}
