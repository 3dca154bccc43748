/* The client has run a host task: of a command group, or of a node of a graph. */
#include "command/command.h"
#include "graph/run.h"

#include <inttypes.h>

/* Finds groups of a released queue as well. */
static struct group *find_open_group(struct session *session, const Sycl__V1__HostTaskDone *message)
{
	if (object_id_type(message->queue) != OBJECT_QUEUE)
		return NULL;
	const struct object *object = object_table_find(&session->objects, message->queue);
	if (!object || object->failed)
		return NULL;
	const struct window_entry *entry =
		group_window_find(&((const struct queue *)object)->window, message->group);
	return entry ? list_entry(entry, struct group, entry) : NULL;
}

int command_host_task_done(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__HostTaskDone *message = command->host_task_done;
	struct group *group = find_open_group(session, message);
	/* The message must be about a host task that this session runs now. */
	struct graph_node_run *node =
		group && group->run ? graph_run_held(group->run, message->node) : NULL;
	if (!node && (!group || message->node || !group->held || list_empty(&group->held_link)))
		return session_violation(session,
					 "command group %" PRIu64 " of %016" PRIx64
					 " is no host task that runs now",
					 message->group, message->queue);
	if (message->status > 0)
		return session_violation(session, "the result of a host task cannot be %d",
					 message->status);
	struct backend_fault fault = {.status = 0};
	if (message->status < 0) {
		bool known = message->status >= STATUS_FORKED;
		(void)fault_set(&fault, known ? message->status : STATUS_RUNTIME, "%s",
				message->text && *message->text ? message->text
								: "a host task failed");
	}
	if (node)
		graph_node_end(node, message->status < 0 ? &fault : NULL);
	else
		host_task_finished(group, message->status < 0 ? &fault : NULL);
	return 0;
}

void command_abandon_host_tasks(struct session *session)
{
	host_tasks_abandon(session);
	graph_nodes_abandon(session);
}
