/* The memory of an instance: arenas, and bytes that its session is charged. */
#include "graph/instance_internal.h"

#include "session/session.h"

#include <errno.h>
#include <stdlib.h>

void graph_arenas_drop(struct graph_arenas *arenas)
{
	if (arenas && --arenas->references == 0)
		free(arenas);
}

/* Open launches keep their references to the arenas. */
static void release_arenas(struct graph_instance *instance)
{
	for (uint32_t i = 0; instance->arenas && i < instance->arenas->count; i++)
		list_remove(&instance->arenas->list[i].link);
	graph_arenas_drop(instance->arenas);
	instance->arenas = NULL;
	instance->arena_is_freed = false;
}

void graph_instance_clear(struct graph *graph)
{
	struct graph_instance *instance = graph->instance;
	graph->object.session->graph_bytes -= instance->bytes;
	instance->bytes = 0;
	graph_instance_forget_kept(graph);
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

int graph_instance_hold_arena(struct graph *graph, struct arena *arena)
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

bool graph_instance_charge(struct graph *graph)
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
