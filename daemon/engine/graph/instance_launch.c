/* A launch of an instance: one task, with the requirements of all nodes together. */
#include "graph/instance_internal.h"

#include "clock.h"
#include "group/check.h"
#include "group/group.h"
#include "scheduler/public/kept.h"
#include "session/session.h"

#include <stdio.h>

/* Chooses the lane. Launches in flight are all on one lane. */
static bool instance_choose_lane(struct graph_instance *instance, const struct queue *queue)
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

/* True if a requirement needs lost contents: a launch as one task would fail as a whole. */
static bool request_needs_lost_contents(const struct task_request *request)
{
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		if (sched_requirement_is_lost(&request->requirements[i]))
			return true;
	}
	return false;
}

/* A launch as one task has completed. The graph may be freed afterwards. */
static void instance_launch_end(struct group *group)
{
	struct graph *graph = group->graph;
	if (graph->last == group)
		graph->last = NULL;
	graph->instance->open--;
	graph->instance->former_open -= group->graph_making != graph->instance->making;
	for (uint32_t i = 0; group->graph_arenas && i < group->graph_arenas->count; i++)
		group->graph_arenas->list[i].arena->users--;
	graph_arenas_drop(group->graph_arenas);
	object_unref(&graph->object);
}

static const struct group_graph_ops instance_ops = {.done = instance_launch_end};

static void instance_open_group(const struct graph_instance_launch *launch, struct group *group)
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

/* NULL: there is no memory. */
static struct group *instance_take_group(const struct graph_instance_launch *launch)
{
	struct group *group = pool_take(&launch->session->engine->groups);
	if (!group)
		return NULL;
	*group = *launch->slots;
	group->work.kind = WORK_GROUP;
	list_init(&group->held_link);
	group->queue = launch->queue;
	group->submit_ns = launch->queue->profiling ? clock_now_ns() : 0;
	return group;
}

static bool launch_is_awaited(const struct graph_instance_launch *launch)
{
	return launch->message->has_event || launch->message->wants_slot;
}

/* Nothing has happened if it is false. */
static bool instance_submit_kept(const struct graph_instance_launch *launch)
{
	struct session *session = launch->session;
	const struct graph_instance *instance = launch->graph->instance;
	if (!instance->kept || session->engine->scratch.before_count > 0 ||
	    !sched_kept_is_ready(instance->kept))
		return false;
	struct group *group = instance_take_group(launch);
	if (!group)
		return false;
	const struct task_kept_request request = {.owner = &group->work,
						  .account = session->work,
						  .flight_group = launch->message->group,
						  .home_lane = instance->home_lane,
						  .is_awaited = launch_is_awaited(launch)};
	if (task_submit_kept(instance->kept, &request, &group->task) < 0) {
		pool_give(&session->engine->groups, group);
		return false;
	}
	instance_open_group(launch, group);
	return true;
}

/* `keeps`: the task is kept for the next launch. */
static int instance_launch_submit(const struct graph_instance_launch *launch,
				  struct task_request *request, bool keeps,
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
	struct group *group = instance_take_group(launch);
	if (!group)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for a graph's launch");
	request->owner = &group->work;
	int r = task_submit(session->engine->scheduler, request, &group->task);
	if (r < 0) {
		pool_give(&session->engine->groups, group);
		return group_submit_fault(r, "a graph's launch", fault);
	}
	if (keeps)
		graph_instance_keep(launch, group->task);
	instance_open_group(launch, group);
	return 0;
}

/* The instance may be launched now, apart from what it requires. Results as of
 * graph_instance_launch; `changes` go with the launch. */
static int instance_check_ready(const struct graph_instance_launch *launch,
				struct sched_graph_node **changes,
				enum graph_replay_reason *reason_out, struct backend_fault *fault)
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
	if (!instance_choose_lane(instance, queue))
		return GRAPH_LAUNCH_REPLAY;
	*reason_out = GRAPH_REPLAY_CHANGE;
	if (instance->arena_is_freed || sched_graph_is_broken(instance->sched) ||
	    graph_instance_has_unsupported(queue, graph))
		return GRAPH_LAUNCH_REPLAY;
	*reason_out = GRAPH_REPLAY_NODE;
	int r = 0;
	if (instance->order_stale)
		r = graph_instance_recompute_order(session, queue, graph, fault);
	else if (instance->releases != session->graph_releases)
		r = graph_nodes_check(session, queue, graph, NULL, fault);
	if (r == 0)
		instance->releases = session->graph_releases;
	else if (r == NODES_REORDERED)
		*reason_out = GRAPH_REPLAY_CHANGE;
	if (r == 0 && instance->changed_count > 0)
		r = graph_instance_send_changes(session, queue, graph, changes, fault);
	return r <= 0 ? r : GRAPH_LAUNCH_REPLAY; /* the replay reports which node it is */
}

static int launch_ready(const struct graph_instance_launch *launch,
			struct sched_graph_node **changes, enum graph_replay_reason *reason_out,
			struct backend_fault *fault)
{
	struct session *session = launch->session;
	struct queue *queue = launch->queue;
	struct graph *graph = launch->graph;
	struct graph_instance *instance = graph->instance;
	struct task_request request = {.device = NULL};
	int r = instance_check_ready(launch, changes, reason_out, fault);
	if (r != 0)
		return r;
	const bool keeps = !*changes && graph_instance_may_keep(launch);
	if (keeps && instance_submit_kept(launch))
		return 0;
	r = put_requirements(session, &instance->order, &request, fault);
	if (r != 0)
		return r < 0 ? r : GRAPH_LAUNCH_REPLAY;
	*reason_out = GRAPH_REPLAY_CONTENTS;
	if (!graph_needs_instance(graph) && !launch->failed_dependency &&
	    request_needs_lost_contents(&request))
		return GRAPH_LAUNCH_REPLAY;
	char what[32];
	(void)snprintf(what, sizeof(what), "graph of %u nodes", graph->node_count);
	request.device = queue->device;
	request.home_lane = instance->home_lane;
	request.action = TASK_GRAPH;
	request.what = what;
	request.timed = queue->profiling && graph->profiling;
	request.is_awaited = launch_is_awaited(launch);
	request.account = session->work;
	request.flight_session = session->peer.session;
	request.flight_queue = launch->message->queue;
	request.flight_group = launch->message->group;
	request.failed_dependency = launch->failed_dependency;
	request.graph.graph = instance->sched;
	request.graph.changes = *changes;
	return instance_launch_submit(launch, &request, keeps, fault);
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
