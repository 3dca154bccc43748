/* Nodes that have changed since an instance was made: the instance takes the changes, or is
 * rebuilt. */
#include "graph/instance_internal.h"

#include "session/session.h"

static bool is_same_requirement(const Sycl__V1__Requirement *a, const Sycl__V1__Requirement *b)
{
	return a->buffer == b->buffer && a->mode == b->mode && a->offset_bytes == b->offset_bytes &&
	       a->size_bytes == b->size_bytes && a->order_offset_bytes == b->order_offset_bytes &&
	       a->order_size_bytes == b->order_size_bytes;
}

static bool requires_the_same(const Sycl__V1__CommandGroup *a, const Sycl__V1__CommandGroup *b)
{
	bool same = a->n_requirements == b->n_requirements &&
		    graph_launch_is_empty(a->launch) == graph_launch_is_empty(b->launch);
	for (size_t i = 0; same && i < a->n_requirements; i++)
		same = is_same_requirement(a->requirements[i], b->requirements[i]);
	return same;
}

static void changes_add_node(struct graph *graph, uint32_t index)
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
	changes_add_node(graph, index);
	instance->order_stale |= !requires_the_same(before, graph->nodes[index].group);
}

void graph_instance_node_switched(struct graph *graph, uint32_t index)
{
	struct graph_instance *instance = graph->instance;
	if (!instance ||
	    (instance->state != GRAPH_INSTANCE_BUILDING && instance->state != GRAPH_INSTANCE_READY))
		return;
	changes_add_node(graph, index);
	instance->order_stale = true; /* a disabled node writes nothing */
}

int graph_instance_recompute_order(struct session *session, const struct queue *queue,
				   struct graph *graph, struct backend_fault *fault)
{
	struct graph_instance *instance = graph->instance;
	struct graph_order order;
	graph_instance_forget_kept(graph);
	if (graph_order_init(&order, graph->node_count, ++session->engine->order_stamp) < 0)
		return NODES_TOO_LARGE;
	int r = graph_nodes_check(session, queue, graph, &order, fault);
	graph_order_seal(&order);
	for (uint32_t i = 0; i < graph->node_count && r == 0; i++)
		r = graph_order_alike(&order, &instance->order, i) ? NODES_PASS : NODES_REORDERED;
	if (r == 0) {
		struct graph_order before = instance->order;
		instance->order = order;
		order = before;
		if (graph_instance_charge(graph)) {
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

bool graph_instance_has_unsupported(const struct queue *queue, const struct graph *graph)
{
	const struct graph_instance *instance = graph->instance;
	bool unfit = instance->changed_count > 0 &&
		     !(queue->facts->features & BACKEND_FEATURE_GRAPH_UPDATE);
	for (uint32_t i = 0; i < instance->changed_count && !unfit; i++)
		unfit = !graph_node_has_form(graph, instance->changed[i], queue->facts->features);
	return unfit;
}

bool graph_instance_must_be_rebuilt(struct session *session, const struct queue *queue,
				    struct graph *graph)
{
	const struct graph_instance *instance = graph->instance;
	struct backend_fault fault;
	if (instance->arena_is_freed || sched_graph_is_broken(instance->sched) ||
	    graph_instance_has_unsupported(queue, graph))
		return true;
	return instance->order_stale &&
	       graph_instance_recompute_order(session, queue, graph, &fault) == NODES_REORDERED;
}

int graph_instance_send_changes(struct session *session, const struct queue *queue,
				struct graph *graph, struct sched_graph_node **changes,
				struct backend_fault *fault)
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
		int r = graph_node_check(session, queue, graph, index, &request, fault);
		if (r != 0)
			return r;
		const uint32_t *after = graph_order_after(&instance->order, index, &count);
		graph_node_forget_requirements(&graph->nodes[index], &request);
		if (sched_graph_change(instance->sched, index, &request, after, count, changes) < 0)
			return NODES_TOO_LARGE;
		graph->nodes[index].carried = number;
	}
	return 0;
}
