/* A launch of an executable graph: checked, then launched as one or node by node. */
#include "graph/launch.h"

#include "graph/instance.h"
#include "group/check.h"
#include "group/group.h"

static int check_launch(struct session *session, const struct queue *queue,
			const struct graph *graph, const Sycl__V1__GraphLaunch *message,
			struct backend_fault *fault)
{
	if (!graph->finished)
		return session_violation(session, "a graph is launched that is not finished");
	if (message->n_host_tasks != graph->host_count)
		return session_violation(
			session,
			"a launch has slots for %zu host tasks, and its graph has %u of them",
			message->n_host_tasks, graph->host_count);
	if (graph->context != queue->context || graph->device_index != queue->device_index)
		return fault_set(
			fault, STATUS_INVALID,
			"the graph was made for another context or device than its queue's");
	return 0;
}

int graph_launch_check_slots(struct session *session, const Sycl__V1__GraphLaunch *message)
{
	for (size_t i = 0; i < message->n_host_tasks; i++) {
		if (session_check_slot(session, message->host_tasks[i]->slot) < 0)
			return -EPROTO;
	}
	return 0;
}

void graph_launch_refuse(struct session *session, const Sycl__V1__GraphLaunch *message,
			 const struct backend_fault *fault)
{
	for (size_t i = 0; i < message->n_host_tasks; i++)
		session_write_slot(session, message->host_tasks[i]->slot,
				   message->host_tasks[i]->slot_value, 1);
	const struct object *object = object_id_type(message->graph) == OBJECT_GRAPH
					      ? object_table_find(&session->objects, message->graph)
					      : NULL;
	if (object && !object->failed && !object->released)
		graph_poison_nodes(session, (const struct graph *)object, 0, fault);
}

static const char *replay_reason_text(enum graph_replay_reason reason)
{
	switch (reason) {
	case GRAPH_REPLAY_DEVICE:
		return "its device has no graphs";
	case GRAPH_REPLAY_HOST:
		return "it has nodes that are not for its device alone";
	case GRAPH_REPLAY_SIZE:
		return "it is too large";
	case GRAPH_REPLAY_QUEUE:
		return "launches of it are open on another native queue";
	case GRAPH_REPLAY_CHANGE:
		return "it must be rebuilt, and launches of it are open";
	case GRAPH_REPLAY_NODE:
		return "one of its nodes cannot be launched now";
	default:
		return "the device's driver refuses it";
	}
}

/* The graph cannot be launched node by node. `cause`: why it cannot be launched as one task, if
 * known. */
static int refuse_replay(const struct graph_launch *launch, enum graph_replay_reason reason,
			 const struct backend_fault *cause, struct backend_fault *fault)
{
	if (launch->graph->native_count > 0)
		return fault_set(
			fault, STATUS_FEATURE_NOT_SUPPORTED,
			"a graph with native commands cannot be launched node by node: launch it on one native queue "
			"at a time, with the objects that it was finalized with");
	if (cause->status) {
		*fault = *cause;
		return 1;
	}
	return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
			 "a graph with IF or WHILE nodes is launched as one, and %s",
			 replay_reason_text(reason));
}

/* Launches the graph as one task if possible, else node by node. */
static int launch_or_replay(struct graph_launch *launch, const struct group *slots,
			    struct backend_fault *fault)
{
	enum graph_replay_reason reason = GRAPH_REPLAY_NOT;
	const struct graph_instance_launch as_one = {
		.session = launch->session,
		.queue = launch->queue,
		.graph = launch->graph,
		.message = launch->message,
		.slots = slots,
		.failed_dependency = launch->failed_dependency,
	};
	struct backend_fault cause = {.status = STATUS_SUCCESS};
	int r = graph_instance_launch(&as_one, &reason, &cause);
	if (r != GRAPH_LAUNCH_REPLAY) {
		*fault = cause;
		return r;
	}
	if (graph_needs_instance(launch->graph))
		return refuse_replay(launch, reason, &cause, fault);
	launch->session->engine->graph_replays[reason]++;
	return graph_replay(launch, slots, fault);
}

int graph_launch(struct session *session, struct queue *queue,
		 const Sycl__V1__CommandGroup *message, const struct group *slots,
		 struct backend_fault *fault)
{
	struct graph_launch launch = {.session = session, .queue = queue, .message = message};
	const Sycl__V1__GraphLaunch *named = message->graph_launch;
	if (!(session->features & FEATURE_GRAPHS))
		return session_violation(
			session, "a graph is launched, but the session did not agree on graphs");
	int r = object_get(session, named->graph, OBJECT_GRAPH, &launch.graph, fault);
	if (r == 0)
		r = check_launch(session, queue, launch.graph, named, fault);
	if (r == 0 && message->n_requirements)
		r = fault_set(fault, STATUS_INVALID,
			      "a launch of a graph requires nothing: its nodes do");
	if (r == 0)
		r = graph_launch_gather(&launch, fault);
	return r == 0 ? launch_or_replay(&launch, slots, fault) : r;
}
