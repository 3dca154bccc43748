/* A command group that is refused has failed: what it would have written is no good any more (M9). */
#include "access_mode.h"
#include "graph.h"
#include "group_check.h"
#include "session.h"

static void poison(struct session *session, const Sycl__V1__Requirement *message, const struct backend_fault *fault)
{
	struct task_requirement requirement = {.mode = message->mode,
					       .offset_bytes = message->offset_bytes,
					       .size_bytes = message->size_bytes,
					       .order_offset_bytes = message->order_offset_bytes,
					       .order_size_bytes = message->order_size_bytes};
	struct backend_fault unused;
	if (object_id_type(message->buffer) != OBJECT_BUFFER || !access_mode_valid(message->mode) ||
	    !access_mode_writes(message->mode))
		return;
	const struct object *object = object_table_find(&session->objects, message->buffer);
	const struct buffer *buffer = (const struct buffer *)object;
	if (!buffer || buffer->object.failed)
		return;
	/* What lies outside of it may be why the group was refused. */
	if (group_check_ranges(&requirement, buffer->size_bytes, &unused) != 0)
		return;
	sched_buffer_poison(buffer->sched, requirement.offset_bytes, requirement.size_bytes, fault);
}

static void poison_group(struct session *session, const Sycl__V1__CommandGroup *message, const struct backend_fault *fault)
{
	for (size_t i = 0; i < message->n_requirements && i < REQUIREMENTS_MAX; i++)
		poison(session, message->requirements[i], fault);
}

void group_poison(struct session *session, const Sycl__V1__CommandGroup *message, const struct backend_fault *fault)
{
	poison_group(session, message, fault);
	if (message->action_case != SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH)
		return;
	uint64_t id = message->graph_launch->graph;
	const struct object *object =
		object_id_type(id) == OBJECT_GRAPH ? object_table_find(&session->objects, id) : NULL;
	const struct graph *graph = (const struct graph *)object;
	for (uint32_t i = 0; graph && i < graph->node_count; i++)
		poison_group(session, graph->nodes[i].group, fault);
}
