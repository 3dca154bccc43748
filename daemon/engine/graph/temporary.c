#include "graph/temporary.h"

#include "protocol_limits.h"
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4u
/* Charged for each temporary to the session's graphs; more than the engine's memory for one. */
#define TEMPORARY_BYTES 1024u

static int temporary_no_memory(struct backend_fault *fault)
{
	return fault_set(fault, STATUS_MEMORY_ALLOCATION,
			 "the engine has no memory for a temporary of a graph");
}

static int temporary_make_room(struct graph *graph, struct backend_fault *fault)
{
	if (graph->temporary_count < graph->temporary_capacity)
		return 0;
	if (graph->temporary_count == GRAPH_TEMPORARIES_MAX)
		return fault_set(fault, STATUS_QUOTA, "the nodes of a graph may use %u temporaries",
				 GRAPH_TEMPORARIES_MAX);
	uint32_t capacity =
		graph->temporary_capacity ? graph->temporary_capacity * 2 : FIRST_CAPACITY;
	struct graph_temporary *temporaries =
		reallocarray(graph->temporaries, capacity, sizeof(*temporaries));
	if (!temporaries)
		return temporary_no_memory(fault);
	graph->temporaries = temporaries;
	graph->temporary_capacity = capacity;
	return 0;
}

static int charge_temporary(struct graph *graph, struct backend_fault *fault)
{
	struct session *session = graph->object.session;
	if (session->graph_bytes > GRAPH_BYTES_MAX - TEMPORARY_BYTES)
		return fault_set(fault, STATUS_QUOTA,
				 "a session's graphs may have at most %llu MiB together",
				 GRAPH_BYTES_MAX >> 20);
	session->graph_bytes += TEMPORARY_BYTES;
	graph->charged_bytes += TEMPORARY_BYTES;
	return 0;
}

/* The place of this number, which may be a new one. The list is in order, since numbers grow. */
static uint32_t temporary_place_of(const struct graph *graph, uint64_t number)
{
	uint32_t low = 0, high = graph->temporary_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (graph->temporaries[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int create_temporary(struct graph *graph, const struct buffer *buffer, uint32_t place,
			    struct backend_fault *fault)
{
	struct session *session = graph->object.session;
	if (temporary_make_room(graph, fault) || charge_temporary(graph, fault))
		return 1;
	struct graph_temporary made = {.number = buffer->temporary};
	if (sched_buffer_create_temporary(session->engine->scratch.graph_device, buffer->size_bytes,
					  &made.sched) < 0)
		return temporary_no_memory(fault);
	sched_buffer_charge(made.sched, session->work);
	struct graph_temporary *at = &graph->temporaries[place];
	memmove(at + 1, at, (graph->temporary_count - place) * sizeof(*at));
	*at = made;
	graph->temporary_count++;
	return 0;
}

static int temporary_find(struct graph *graph, const struct buffer *buffer,
			  struct sched_buffer **sched_out, struct backend_fault *fault)
{
	uint32_t place = temporary_place_of(graph, buffer->temporary);
	bool made = place < graph->temporary_count &&
		    graph->temporaries[place].number == buffer->temporary;
	if (!made && create_temporary(graph, buffer, place, fault))
		return 1;
	*sched_out = graph->temporaries[place].sched;
	return 0;
}

/* The command uses its buffers in the host's memory, where temporaries have none, or opens them in
 * another process. */
static bool temporary_is_for_host(const Sycl__V1__CommandGroup *group)
{
	return group->action_case == SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK ||
	       group->action_case == SYCL__V1__COMMAND_GROUP__ACTION_HOST_UPDATE;
}

int graph_check_requirements(struct graph *graph, const Sycl__V1__CommandGroup *group,
			     struct task_request *request, struct backend_fault *fault)
{
	struct session *session = graph->object.session;
	struct group_scratch *scratch = &session->engine->scratch;
	scratch->graph = temporary_is_for_host(group) ? NULL : graph;
	scratch->graph_device = request->device;
	scratch->find_temporary = temporary_find;
	int r = group_check_requirements(session, group, request, fault);
	scratch->graph = NULL;
	return r;
}

void graph_temporaries_end(struct graph *graph)
{
	for (uint32_t i = 0; i < graph->temporary_count; i++)
		sched_buffer_release(graph->temporaries[i].sched);
	free(graph->temporaries);
	graph->temporaries = NULL;
	graph->temporary_count = graph->temporary_capacity = 0;
}
