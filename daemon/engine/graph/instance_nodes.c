/* Nodes of an instance: checks them, and finds their forms and their order. */
#include "graph/instance_internal.h"

#include "graph/graph.h"
#include "graph/order.h"
#include "graph/temporary.h"
#include "group/check.h"
#include "session/session.h"

#include <string.h>

bool graph_launch_is_empty(const Sycl__V1__Launch *launch)
{
	for (size_t i = 0; i < launch->n_global; i++) {
		if (launch->global[i] == 0)
			return true;
	}
	return false;
}

struct graph_node_form graph_node_form_of(const struct graph_node *node)
{
	const Sycl__V1__CommandGroup *group = node->group;
	struct graph_node_form form = {.kernel = 0, .is_disabled = node->is_disabled};
	if (group->action_case != SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH)
		return form;
	form.kernel = group->launch->kernel;
	form.cooperative = group->launch->cooperative;
	form.is_empty = graph_launch_is_empty(group->launch);
	for (size_t i = 0; i < group->launch->n_cluster && i < 3; i++)
		form.cluster[i] = group->launch->cluster[i];
	return form;
}

bool graph_node_has_form(const struct graph *graph, uint32_t index, uint32_t features)
{
	const struct graph_node_form form = graph_node_form_of(&graph->nodes[index]),
				     *made = &graph->instance->forms[index];
	if (made->is_disabled || form.is_disabled)
		return form.is_disabled &&
		       (made->is_disabled || features & BACKEND_FEATURE_GRAPH_SWITCH);
	return form.kernel == made->kernel && form.cooperative == made->cooperative &&
	       form.is_empty == made->is_empty &&
	       memcmp(form.cluster, made->cluster, sizeof(form.cluster)) == 0;
}

/* The instance names the object, so the object's release is counted (object_release). */
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

static void mark_end_referenced(struct session *session, const Sycl__V1__MemoryEnd *end)
{
	if (end && end->place_case == SYCL__V1__MEMORY_END__PLACE_USM_ADDRESS)
		mark_usm_referenced(session, end->usm_address);
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
	case SYCL__V1__COMMAND_GROUP__ACTION_COPY:
		mark_end_referenced(session, group->copy->source);
		mark_end_referenced(session, group->copy->destination);
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

int graph_node_check(struct session *session, const struct queue *queue, struct graph *graph,
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

void graph_node_forget_requirements(const struct graph_node *node, struct task_request *request)
{
	if (node->is_disabled)
		request->requirement_count = 0;
}

/* The place as graph_order counts it: from 1. */
static uint32_t instance_nodes_place_of(const struct graph *graph, uint32_t index)
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
		.place = instance_nodes_place_of(graph, index),
		.after = graph_after(graph, index),
		.after_count = graph->nodes[index].edge_count,
	};
	return graph_order_add(order, &node);
}

/*
 * A condition stands for its body: it comes behind all nodes that a node of the body comes behind.
 */
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
			.place = instance_nodes_place_of(graph, index),
		};
		if (graph_order_foresee(order, &node) < 0)
			return NODES_TOO_LARGE;
	}
	session->record_cost += graph->nodes[index].body_end - index;
	return 0;
}

int graph_node_check_in_order(struct session *session, const struct queue *queue,
			      struct graph *graph, uint32_t index, struct graph_order *order,
			      struct task_request *request_out, struct backend_fault *fault)
{
	int r = order && graph->nodes[index].body_end > 0
			? order_body(session, queue, graph, index, order, fault)
			: 0;
	if (r == 0)
		r = graph_node_check(session, queue, graph, index, request_out, fault);
	if (r == 0 && order && order_node(session, graph, index, request_out, order) < 0)
		r = NODES_TOO_LARGE;
	return r;
}

int graph_nodes_check(struct session *session, const struct queue *queue, struct graph *graph,
		      struct graph_order *order, struct backend_fault *fault)
{
	struct task_request request;
	session->record_cost += graph->node_count;
	for (uint32_t i = 0; i < graph->node_count; i++) {
		int r = graph_node_check_in_order(session, queue, graph, i, order, &request, fault);
		if (r != 0)
			return r;
	}
	return 0;
}
