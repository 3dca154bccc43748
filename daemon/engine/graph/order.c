#include "graph/order.h"

#include "access_mode.h"
#include "protocol_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EDGES_MAX (2u * GRAPH_EDGES_MAX)

/* A node's use of bytes that order. */
struct graph_use {
	uint64_t begin, end;
	uint32_t node;
	bool writes;
};

/* The uses of one buffer. */
struct graph_tracker {
	struct graph_use uses[GRAPH_ORDER_USES];
	uint32_t use_count, need_count;
	uint32_t needs; /* the latest, + 1; 0: none */
};

int graph_order_init(struct graph_order *order, uint32_t node_count, uint64_t stamp)
{
	*order = (struct graph_order){.node_count = 0, .stamp = stamp};
	order->first_edge = calloc((size_t)node_count + 1, sizeof(*order->first_edge));
	order->marks = calloc(node_count ? node_count : 1, sizeof(*order->marks));
	order->places = calloc(node_count ? node_count : 1, sizeof(*order->places));
	if (order->first_edge && order->marks && order->places)
		return 0;
	graph_order_fini(order);
	return -ENOMEM;
}

void graph_order_seal(struct graph_order *order)
{
	free(order->marks);
	free(order->places);
	free(order->trackers);
	order->marks = order->places = NULL;
	order->trackers = NULL;
	order->tracker_count = order->tracker_capacity = 0;
}

void graph_order_fini(struct graph_order *order)
{
	graph_order_seal(order);
	free(order->needs);
	free(order->edges);
	free(order->first_edge);
	*order = (struct graph_order){.node_count = 0};
}

/* Makes room for one more entry. */
static int reserve_entry(void *array_pointer, uint32_t *capacity, uint32_t count,
			 size_t entry_bytes)
{
	void *array = NULL;
	if (count < *capacity)
		return 0;
	uint32_t wanted = *capacity ? *capacity * 2 : 16;
	memcpy(&array, array_pointer, sizeof(array));
	void *grown = reallocarray(array, wanted, entry_bytes);
	if (!grown)
		return -ENOMEM;
	memcpy(array_pointer, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}

static int order_tracker(struct graph_order *order, struct buffer *buffer,
			 struct graph_tracker **tracker_out)
{
	if (buffer->order_stamp != order->stamp) {
		int r = reserve_entry(&order->trackers, &order->tracker_capacity,
				      order->tracker_count, sizeof(*order->trackers));
		if (r < 0)
			return r;
		buffer->order_stamp = order->stamp;
		buffer->order_place = order->tracker_count++;
		order->trackers[buffer->order_place].use_count = 0;
		order->trackers[buffer->order_place].need_count = 0;
		order->trackers[buffer->order_place].needs = 0;
	}
	*tracker_out = &order->trackers[buffer->order_place];
	return 0;
}

/* ---------------------------------------- edges ----------------------------------------- */

/* Adds an edge once for each pair of nodes. A condition stands for the nodes of its body. A node
 * outside of a body needs no edge to a node inside, as it comes before the condition. */
static int order_add_edge(struct graph_order *order, uint32_t from)
{
	uint32_t place = order->places[order->node_count];
	while (order->places[from] != place) {
		if (order->places[from] == 0)
			return 0;
		from = order->places[from] - 1;
	}
	if (order->marks[from] == order->node_count + 1)
		return 0;
	if (order->edge_count == EDGES_MAX)
		return -E2BIG;
	int r = reserve_entry(&order->edges, &order->edge_capacity, order->edge_count,
			      sizeof(*order->edges));
	if (r < 0)
		return r;
	order->marks[from] = order->node_count + 1;
	order->edges[order->edge_count++] = from;
	return 0;
}

static bool covers_range(uint64_t begin, uint64_t end, uint64_t inner_begin, uint64_t inner_end)
{
	return begin <= inner_begin && inner_end <= end;
}

/* The bytes that the requirement orders. A whole buffer of no bytes counts as one byte (C16). */
static struct graph_use requirement_use(const struct task_requirement *requirement,
					const struct buffer *buffer, uint32_t node)
{
	bool part = requirement->order_size_bytes > 0;
	return (struct graph_use){
		.begin = part ? requirement->order_offset_bytes : 0,
		.end = part ? requirement->order_offset_bytes + requirement->order_size_bytes
			    : (buffer->size_bytes ? buffer->size_bytes : 1),
		.node = node,
		.writes = access_mode_writes(requirement->mode),
	};
}

/* `all`: whatever lies where. */
static int add_edges(struct graph_order *order, const struct graph_tracker *tracker,
		     const struct graph_use *use, bool all)
{
	order->steps += tracker->use_count;
	for (uint32_t i = 0; i < tracker->use_count; i++) {
		const struct graph_use *other = &tracker->uses[i];
		bool apart = other->end <= use->begin || use->end <= other->begin ||
			     !(other->writes || use->writes);
		if (other->node == use->node || (apart && !all))
			continue;
		int r = order_add_edge(order, other->node);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A write stands for the uses before it. Later nodes need not wait for those uses. */
static int order_add_use(struct graph_order *order, struct graph_tracker *tracker,
			 const struct graph_use *use, const struct buffer *buffer)
{
	uint32_t kept = 0;
	order->steps += tracker->use_count;
	for (uint32_t i = 0; i < tracker->use_count; i++) {
		const struct graph_use other = tracker->uses[i];
		bool covered = covers_range(use->begin, use->end, other.begin, other.end);
		bool same = other.node == use->node && (use->writes || !other.writes);
		if (!covered || !(same || (use->writes && other.node != use->node)))
			tracker->uses[kept++] = other;
	}
	tracker->use_count = kept;
	if (kept < GRAPH_ORDER_USES) {
		tracker->uses[tracker->use_count++] = *use;
		return 0;
	}
	int r = add_edges(order, tracker, use, true);
	tracker->uses[0] =
		(struct graph_use){0, buffer->size_bytes ? buffer->size_bytes : 1, use->node, true};
	tracker->use_count = 1;
	return r;
}

/* ---------------------------------------- needs ----------------------------------------- */

static bool has_same_range(const struct task_requirement *a, const struct task_requirement *b)
{
	return a->offset_bytes == b->offset_bytes && a->size_bytes == b->size_bytes &&
	       a->order_offset_bytes == b->order_offset_bytes &&
	       a->order_size_bytes == b->order_size_bytes;
}

static bool order_range_covers(const struct task_requirement *outer,
			       const struct task_requirement *inner)
{
	if (outer->order_size_bytes == 0)
		return true;
	return inner->order_size_bytes > 0 &&
	       covers_range(outer->order_offset_bytes,
			    outer->order_offset_bytes + outer->order_size_bytes,
			    inner->order_offset_bytes,
			    inner->order_offset_bytes + inner->order_size_bytes);
}

static bool access_range_covers(const struct task_requirement *outer,
				const struct task_requirement *inner)
{
	return covers_range(outer->offset_bytes, outer->offset_bytes + outer->size_bytes,
			    inner->offset_bytes, inner->offset_bytes + inner->size_bytes);
}

/* True if the graph itself has overwritten all bytes that the later requirement accesses. */
static bool is_made_inside(const struct task_requirement *earlier,
			   const struct task_requirement *later)
{
	return access_mode_writes(earlier->mode) && !access_mode_needs_contents(earlier->mode) &&
	       access_range_covers(earlier, later) && order_range_covers(earlier, later);
}

static int order_add_need(struct graph_order *order, struct graph_tracker *tracker,
			  const struct task_requirement *requirement, const struct buffer *buffer,
			  bool may_do_nothing)
{
	struct task_requirement wanted = *requirement;
	order->steps += tracker->need_count;
	/* A temporary has no earlier contents: it only has to be unused by the launch before. */
	if (buffer->temporary) {
		if (tracker->need_count > 0)
			return 0;
		wanted.mode = ACCESS_MODE_WRITE_NO_INIT;
		wanted.offset_bytes = wanted.order_offset_bytes = wanted.order_size_bytes = 0;
		wanted.size_bytes = buffer->size_bytes;
	}
	/* A node that may do nothing may leave the contents as they are. */
	if (may_do_nothing && !buffer->temporary)
		wanted.mode |= ACCESS_KEEP_BIT;
	for (uint32_t i = tracker->needs; i > 0; i = order->needs[i - 1].next) {
		struct graph_need *other = &order->needs[i - 1];
		/* Within one node the modes are united instead. */
		if (other->node != order->node_count &&
		    is_made_inside(&other->requirement, &wanted))
			return 0;
		if (has_same_range(&other->requirement, &wanted)) {
			other->requirement.mode |= wanted.mode;
			return 0;
		}
		if (access_range_covers(&other->requirement, &wanted) &&
		    order_range_covers(&other->requirement, &wanted) &&
		    (other->requirement.mode | wanted.mode) == other->requirement.mode)
			return 0;
	}
	if (tracker->need_count == GRAPH_ORDER_PARTS || order->need_count == REQUIREMENTS_MAX)
		return -E2BIG;
	int r = reserve_entry(&order->needs, &order->need_capacity, order->need_count,
			      sizeof(*order->needs));
	if (r < 0)
		return r;
	order->needs[order->need_count++] = (struct graph_need){.buffer = buffer->object.id,
								.requirement = wanted,
								.node = order->node_count,
								.next = tracker->needs};
	tracker->needs = order->need_count;
	tracker->need_count++;
	return 0;
}

/* Adds the edges that follow from all requirements of the node. */
static int order_connect_node(struct graph_order *order, const struct graph_order_node *node)
{
	struct graph_tracker *tracker;
	int r = 0;
	order->places[order->node_count] = node->place;
	for (uint32_t i = 0; r == 0 && i < node->count; i++) {
		const struct graph_use use = requirement_use(&node->requirements[i],
							     node->buffers[i], order->node_count);
		r = order_tracker(order, node->buffers[i], &tracker);
		if (r == 0)
			r = add_edges(order, tracker, &use, false);
	}
	return r;
}

static int order_enter_requirements(struct graph_order *order, const struct graph_order_node *node,
				    bool needs)
{
	struct graph_tracker *tracker;
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < node->count; i++) {
		const struct graph_use use = requirement_use(&node->requirements[i],
							     node->buffers[i], order->node_count);
		r = order_tracker(order, node->buffers[i], &tracker);
		if (r == 0 && needs)
			r = order_add_need(order, tracker, &node->requirements[i], node->buffers[i],
					   node->may_do_nothing);
		if (r == 0)
			r = order_add_use(order, tracker, &use, node->buffers[i]);
	}
	return r == 0 && order->steps > GRAPH_ORDER_STEPS ? -E2BIG : r;
}

int graph_order_foresee(struct graph_order *order, const struct graph_order_node *node)
{
	int r = order_connect_node(order, node);
	return r == 0 ? order_enter_requirements(order, node, false) : r;
}

int graph_order_add(struct graph_order *order, const struct graph_order_node *node)
{
	order->places[order->node_count] = node->place;
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < node->after_count; i++)
		r = order_add_edge(order, node->after[i]);
	if (r == 0)
		r = order_connect_node(order, node);
	if (r == 0)
		r = order_enter_requirements(order, node, true);
	if (r == 0)
		order->first_edge[++order->node_count] = order->edge_count;
	return r;
}

bool graph_order_alike(const struct graph_order *a, const struct graph_order *b, uint32_t node)
{
	uint32_t count, other_count;
	const uint32_t *edges = graph_order_after(a, node, &count),
		       *others = graph_order_after(b, node, &other_count);
	return count == other_count &&
	       (count == 0 || memcmp(edges, others, count * sizeof(*edges)) == 0);
}
