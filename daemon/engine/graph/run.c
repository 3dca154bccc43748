#include "graph/run.h"

#include "clock.h"
#include "graph/launch.h"
#include "graph/temporary.h"
#include "graph/instance.h"
#include "group/check.h"
#include "group/group.h"
#include "session/session.h"

#include <string.h>

#define VISITS_PER_RECORD 64u /* parts of buffers; so many are as much work as a small record */

/* Checks the limits of a launch with a task for each node. */
static int check_node_limits(const struct graph_launch *launch, struct backend_fault *fault)
{
	const struct session *session = launch->session;
	const struct graph *graph = launch->graph;
	uint64_t most = session->limits.groups_in_flight;
	/*
	 * Each of the graph's first nodes waits for each of these commands, all within one record.
	 */
	if ((uint64_t)session->engine->scratch.before_count * graph->root_count > GRAPH_JOINS_MAX)
		return fault_set(fault, STATUS_QUOTA,
				 "%u nodes of a graph would wait for %u commands each",
				 graph->root_count, session->engine->scratch.before_count);
	if (session->groups_open > most || graph->node_count + 1 > most - session->groups_open)
		return fault_set(
			fault, STATUS_QUOTA,
			"%llu command groups and nodes are in flight, and %u more are not allowed",
			(unsigned long long)session->groups_open, graph->node_count + 1);
	if (graph->host_count > HOST_TASKS_MAX - session->host_tasks_open)
		return fault_set(fault, STATUS_QUOTA,
				 "a session may have at most %u host tasks that are not over",
				 HOST_TASKS_MAX);
	return 0;
}

/* The tasks that followers of the launch wait for. -ENOMEM. */
static int add_end_tasks(const struct graph_run *run, struct group_scratch *scratch)
{
	/* The end may complete before nodes that it comes behind. Then the tasks of those nodes are
	 * added. */
	if (run->end < run->count && run->nodes[run->end].task)
		return group_scratch_after(scratch, run->nodes[run->end].task);
	for (uint32_t i = 0; i < run->count; i++) {
		if (run->nodes[i].task && group_scratch_after(scratch, run->nodes[i].task) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_dependencies(struct group *group, struct group_scratch *scratch,
			    struct task_request *request)
{
	struct graph_run *run = group->run;
	if (request && run->outcome.fault.status) {
		scratch->dependency = run->outcome.fault;
		request->failed_dependency = &scratch->dependency;
	}
	/* Adds the tasks once, however often the launch is named: they may be as many as the
	 * graph's nodes. */
	if (run->gathered == scratch->gathering)
		return 0;
	run->gathered = scratch->gathering;
	return add_end_tasks(run, scratch);
}

static void replay_end_event_waits(const struct group *group, const struct backend_fault *fault)
{
	for (uint32_t i = 0; i < group->run->submitted; i++)
		if (group->run->nodes[i].task)
			task_end_event_wait(group->run->nodes[i].task, fault);
}

static const struct group_graph_ops replay_ops = {
	.add_dependencies = add_dependencies,
	.end_event_waits = replay_end_event_waits,
};

int graph_launch_gather(struct graph_launch *launch, struct backend_fault *fault)
{
	struct group_scratch *scratch = &launch->session->engine->scratch;
	struct task_request request = {
		.action = TASK_LAUNCH}; /* anything but a barrier, which has a meaning of its own */
	int r = group_check_dependencies(launch->session, launch->queue, launch->message, &request,
					 fault);
	if (r != 0)
		return r;
	const struct group *last = launch->graph->last;
	uint32_t events = request.after_count - request.after_order_count;
	if (last && last->run && last->run->gathered != scratch->gathering &&
	    add_end_tasks(last->run, scratch) < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for dependencies");
	if (last && !last->run && group_scratch_after(scratch, last->task) < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for dependencies");
	if (request.failed_dependency) {
		launch->dependency = *request.failed_dependency;
		launch->failed_dependency = &launch->dependency;
	}
	if (group_scratch_keep_before(scratch, events) < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for dependencies");
	return 0;
}

static struct graph_run *graph_run_take(struct graph *graph)
{
	uint32_t count = graph->node_count + (graph->sink_count != 1);
	size_t bytes = sizeof(struct graph_run) + count * sizeof(struct graph_node_run);
	struct graph_run *run = graph->spare ? graph->spare : malloc(bytes);
	if (!run)
		return NULL;
	graph->spare = NULL;
	memset(run, 0, bytes);
	run->graph = graph;
	run->count = count;
	run->end = count;
	for (uint32_t i = 0; i < count; i++) {
		run->nodes[i].work.kind = WORK_GRAPH_NODE;
		run->nodes[i].run = run;
		list_init(&run->nodes[i].held_link);
	}
	return run;
}

/* Keeps the memory for the next launch, unless other memory is kept already, or the graph was
 * released. */
static void graph_run_give(struct graph_run *run)
{
	struct graph *graph = run->graph;
	if (graph->spare || graph->object.released)
		free(run);
	else
		graph->spare = run;
}

/* Sets the tasks that a node comes behind. */
static int run_put_predecessors(const struct graph_launch *launch, const uint32_t *nodes,
				uint32_t count, struct task_request *request)
{
	struct group_scratch *scratch = &launch->session->engine->scratch;
	scratch->after_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (group_scratch_after(scratch, launch->run->nodes[nodes[i]].task) < 0)
			return -ENOMEM;
	}
	request->after_order_count = 0;
	if (count == 0) {
		if (group_scratch_put_before(scratch, &request->after_order_count) < 0)
			return -ENOMEM;
		request->failed_dependency = launch->failed_dependency;
	}
	request->after = scratch->after;
	request->after_launches = scratch->after_launches;
	request->after_count = scratch->after_count;
	return 0;
}

static struct task_request node_request(const struct graph_launch *launch,
					struct graph_node_run *node)
{
	return (struct task_request){
		.device = launch->queue->device,
		/* A launch on a queue over a native one goes there; on other queues nodes may run
		 * side by side. */
		.home_lane = launch->queue->has_native_lane ? launch->queue->home_lane : 0,
		.owner = &node->work,
		.timed = launch->queue->profiling && launch->graph->profiling,
		.account = launch->session->work,
		.flight_session = launch->session->peer.session,
		.flight_queue = launch->message->queue,
		.flight_group = launch->message->group,
	};
}

static int submit_task(struct graph_launch *launch, uint32_t index,
		       const struct task_request *request, struct backend_fault *fault)
{
	struct graph_node_run *node = &launch->run->nodes[index];
	int r = task_submit(launch->session->engine->scheduler, request, &node->task);
	if (r < 0)
		return group_submit_fault(r, "a graph's node", fault);
	launch->run->submitted++;
	launch->run->left++;
	return 0;
}

static int submit_node(struct graph_launch *launch, uint32_t index, struct backend_fault *fault)
{
	struct session *session = launch->session;
	const struct graph_node *node = &launch->graph->nodes[index];
	struct graph_node_run *node_run = &launch->run->nodes[index];
	struct task_request request = node_request(launch, node_run);
	request.is_awaited =
		!node->has_successor && (launch->message->has_event || launch->message->wants_slot);
	session->engine->scratch.arena = NULL;
	int r = 0;
	if (node->is_disabled) {
		request.action = TASK_BARRIER;
		request.what = "disabled node";
	} else {
		r = graph_check_requirements(launch->graph, node->group, &request, fault);
	}
	if (r == 0 && !node->is_disabled)
		r = group_check_action(session, launch->queue, node->group, &request, fault);
	if (r != 0)
		return r;
	if (run_put_predecessors(launch, graph_after(launch->graph, index), node->edge_count,
				 &request) < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for dependencies");
	r = submit_task(launch, index, &request, fault);
	if (r != 0)
		return r;
	node_run->arena = session->engine->scratch.arena;
	if (node_run->arena)
		node_run->arena->users++;
	if (node->is_host_task) {
		node_run->is_host_task = true;
		session->host_tasks_open++;
	}
	return 0;
}

/* If the graph has no single last node, submits a barrier behind all nodes. */
static int run_submit_end(struct graph_launch *launch, struct backend_fault *fault)
{
	struct graph_run *run = launch->run;
	struct group_scratch *scratch = &launch->session->engine->scratch;
	uint32_t index = launch->graph->node_count;
	if (launch->graph->sink_count == 1) {
		run->end = launch->graph->sink;
		return 0;
	}
	struct task_request request = node_request(launch, &run->nodes[index]);
	request.action = TASK_BARRIER;
	request.what = "end of a graph";
	if (run_put_predecessors(launch, NULL, 0, &request) < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for dependencies");
	if (launch->graph->sink_count > 0) {
		request.failed_dependency = NULL;
		request.after_order_count = 0;
		scratch->after_count = 0;
		for (uint32_t i = 0; i < launch->graph->node_count; i++) {
			if (!launch->graph->nodes[i].has_successor &&
			    group_scratch_after(scratch, run->nodes[i].task) < 0)
				return fault_set(fault, STATUS_MEMORY_ALLOCATION,
						 "the engine has no memory for dependencies");
		}
		request.after = scratch->after;
		request.after_launches = scratch->after_launches;
		request.after_count = scratch->after_count;
	}
	int r = submit_task(launch, index, &request, fault);
	if (r == 0)
		run->end = index;
	return r;
}

static void put_host_slots(struct graph_run *run, const Sycl__V1__GraphLaunch *message)
{
	size_t next = 0;
	for (uint32_t i = 0; i < run->graph->node_count; i++) {
		if (!run->graph->nodes[i].is_host_task)
			continue;
		run->nodes[i].host_slot = message->host_tasks[next]->slot;
		run->nodes[i].host_slot_value = message->host_tasks[next]->slot_value;
		next++;
	}
}

/* Host tasks whose node never became a task fail: they will never be requested to run. */
static void refuse_host_tasks(const struct graph_run *run)
{
	for (uint32_t i = 0; i < run->graph->node_count; i++) {
		const struct graph_node_run *node = &run->nodes[i];
		if (run->graph->nodes[i].is_host_task && !node->is_host_task)
			session_write_slot(run->graph->object.session, node->host_slot,
					   node->host_slot_value, 1);
	}
}

/* Opens the group of a launch of which some tasks were submitted. */
static void replay_open_group(struct graph_launch *launch, struct group *group)
{
	struct session *session = launch->session;
	struct queue *queue = launch->queue;
	struct graph_run *run = launch->run;
	run->group = group;
	group->run = run;
	group->graph_ops = &replay_ops;
	group_window_open(&queue->window, &group->entry);
	(void)object_ref(&queue->object);
	(void)object_ref(&launch->graph->object);
	session->groups_open += 1 + launch->graph->node_count;
	session->record_cost += launch->graph->node_count + launch->graph->requirement_count;
	group->session_number = ++session->group_count;
	list_push_back(&session->open_groups, &group->session_link);
	if (session->engine->scratch.waits_for_all)
		queue->barrier = &group->entry;
	launch->graph->last = group;
}

/* Limits the parts of buffers that the nodes use, since no other session is served meanwhile. */
static int check_visits(const struct graph_launch *launch, uint64_t before,
			struct backend_fault *fault)
{
	struct session *session = launch->session;
	uint64_t visits = scheduler_visits(session->engine->scheduler) - before;
	if (visits <= GRAPH_VISITS_MAX)
		return 0;
	return fault_set(fault, STATUS_QUOTA,
			 "the nodes of one launch of a graph use more than %u parts of buffers",
			 GRAPH_VISITS_MAX);
}

static int submit_nodes(struct graph_launch *launch, struct backend_fault *fault)
{
	uint64_t before = scheduler_visits(launch->session->engine->scheduler);
	int r = 0;
	for (uint32_t i = 0; i < launch->graph->node_count && r == 0; i++) {
		r = submit_node(launch, i, fault);
		if (r == 0)
			r = check_visits(launch, before, fault);
	}
	launch->session->record_cost +=
		(uint32_t)((scheduler_visits(launch->session->engine->scheduler) - before) /
			   VISITS_PER_RECORD);
	return r == 0 ? run_submit_end(launch, fault) : r;
}

int graph_replay(struct graph_launch *launch, const struct group *slots,
		 struct backend_fault *fault)
{
	struct session *session = launch->session;
	int r = check_node_limits(launch, fault);
	if (r != 0)
		return r;
	struct group *group = pool_take(&session->engine->groups);
	launch->run = graph_run_take(launch->graph);
	if (!group || !launch->run) {
		if (group)
			pool_give(&session->engine->groups, group);
		if (launch->run)
			graph_run_give(launch->run);
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for a graph's launch");
	}
	struct graph_run *run = launch->run;
	*group = *slots;
	group->work.kind = WORK_GROUP;
	list_init(&group->held_link);
	group->queue = launch->queue;
	group->submit_ns = launch->queue->profiling ? clock_now_ns() : 0;
	put_host_slots(run, launch->message->graph_launch);
	r = submit_nodes(launch, fault);
	if (run->submitted == 0) {
		pool_give(&session->engine->groups, group);
		graph_run_give(run);
		return r;
	}
	if (r != 0)
		refuse_host_tasks(run);
	/* Nodes are submitted in order: the first `submitted` of them are in flight. */
	if (r > 0)
		graph_poison_nodes(session, launch->graph, run->submitted, fault);
	replay_open_group(launch, group);
	if (r > 0)
		run->outcome.fault = *fault;
	else if (r < 0)
		(void)fault_set(&run->outcome.fault, STATUS_CONNECTION_LOST,
				"the session violated the protocol");
	return r > 0 ? 0 : r;
}

bool graph_run_running(const struct graph_run *run)
{
	if (run->left < run->submitted)
		return true;
	for (uint32_t i = 0; i < run->count; i++) {
		if (run->nodes[i].task && task_running(run->nodes[i].task))
			return true;
	}
	return false;
}
