#include "graph/run.h"

#include "clock.h"
#include "graph/temporary.h"
#include "graph/instance.h"
#include "group/check.h"
#include "group/group.h"
#include "session/session.h"

#include <string.h>

#define VISITS_PER_RECORD                                                                          \
	64u /* of parts of buffers: so many are as much work as a small record                     \
	     */

/* The state of a launch that is being submitted. */
struct launch {
	struct session *session;
	struct queue *queue;
	struct graph *graph;
	struct graph_run *run;
	const Sycl__V1__CommandGroup *message;
	struct backend_fault dependency;
	const struct backend_fault *failed_dependency; /* NULL, or `dependency` */
};

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

/* As a task for each node. */
static int check_node_limits(const struct launch *launch, struct backend_fault *fault)
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
				 "a session may have %u host tasks that are not over",
				 HOST_TASKS_MAX);
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

/* The tasks that followers of the launch wait for. -ENOMEM. */
static int add_end_tasks(const struct graph_run *run, struct group_scratch *scratch)
{
	/* The end may complete before nodes that it is behind: then these are left. */
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
	/* However often it is named: it may stand for as many tasks as a graph has nodes. */
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

/*
 * The dependencies of the whole launch: events, the queue, and the launch before (L9), which passes
 * no failure on. Into scratch.before.
 */
static int replay_gather_before(struct launch *launch, struct backend_fault *fault)
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

static struct graph_run *take_run(struct graph *graph)
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

/* For the next launch, unless there is memory for it already, or this was the last. */
static void give_run(struct graph_run *run)
{
	struct graph *graph = run->graph;
	if (graph->spare || graph->object.released)
		free(run);
	else
		graph->spare = run;
}

/* The tasks that a node comes behind. */
static int put_after(const struct launch *launch, const uint32_t *nodes, uint32_t count,
		     struct task_request *request)
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

static struct task_request node_request(const struct launch *launch, struct graph_node_run *node)
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

static int submit_task(struct launch *launch, uint32_t index, const struct task_request *request,
		       struct backend_fault *fault)
{
	struct graph_node_run *node = &launch->run->nodes[index];
	int r = task_submit(launch->session->engine->scheduler, request, &node->task);
	if (r < 0)
		return group_submit_fault(r, "a graph's node", fault);
	launch->run->submitted++;
	launch->run->left++;
	return 0;
}

static int submit_node(struct launch *launch, uint32_t index, struct backend_fault *fault)
{
	struct session *session = launch->session;
	const struct graph_node *node = &launch->graph->nodes[index];
	struct graph_node_run *node_run = &launch->run->nodes[index];
	struct task_request request = node_request(launch, node_run);
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
	if (put_after(launch, graph_after(launch->graph, index), node->edge_count, &request) < 0)
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

/* Where several nodes are last, or none: what is behind all of them. */
static int submit_end(struct launch *launch, struct backend_fault *fault)
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
	if (put_after(launch, NULL, 0, &request) < 0)
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

/* Some of it is on its way. */
static void replay_open_group(struct launch *launch, struct group *group)
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

/* A limit on parts of buffers that its nodes use: no other session is served meanwhile. */
static int check_visits(const struct launch *launch, uint64_t before, struct backend_fault *fault)
{
	struct session *session = launch->session;
	uint64_t visits = scheduler_visits(session->engine->scheduler) - before;
	if (visits <= GRAPH_VISITS_MAX)
		return 0;
	return fault_set(fault, STATUS_QUOTA,
			 "the nodes of one launch of a graph use more than %u parts of buffers",
			 GRAPH_VISITS_MAX);
}

static int submit_nodes(struct launch *launch, struct backend_fault *fault)
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
	return r == 0 ? submit_end(launch, fault) : r;
}

static int run_graph(struct launch *launch, const struct group *slots, struct backend_fault *fault)
{
	struct session *session = launch->session;
	struct group *group = pool_take(&session->engine->groups);
	launch->run = take_run(launch->graph);
	if (!group || !launch->run) {
		if (group)
			pool_give(&session->engine->groups, group);
		if (launch->run)
			give_run(launch->run);
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
	int r = submit_nodes(launch, fault);
	if (run->submitted == 0) {
		pool_give(&session->engine->groups, group);
		give_run(run);
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
				"the session broke the protocol's rules");
	return r > 0 ? 0 : r;
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
		return "one of its nodes is refused";
	default:
		return "its device's driver does not take it";
	}
}

/* The graph cannot be launched node by node. `cause`: why not as one, if that is known. */
static int refuse_replay(const struct launch *launch, enum graph_replay_reason reason,
			 const struct backend_fault *cause, struct backend_fault *fault)
{
	if (launch->graph->native_count > 0)
		return fault_set(
			fault, STATUS_FEATURE_NOT_SUPPORTED,
			"a graph with native commands is launched as one, on one native queue at a time, with what it "
			"was made with");
	if (cause->status) {
		*fault = *cause;
		return 1;
	}
	return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
			 "a graph with IF or WHILE nodes is launched as one, and %s",
			 replay_reason_text(reason));
}

/* As one where that can be, else node by node. */
static int launch_or_replay(struct launch *launch, const struct group *slots,
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
	r = check_node_limits(launch, fault);
	return r == 0 ? run_graph(launch, slots, fault) : r;
}

int graph_launch(struct session *session, struct queue *queue,
		 const Sycl__V1__CommandGroup *message, const struct group *slots,
		 struct backend_fault *fault)
{
	struct launch launch = {.session = session, .queue = queue, .message = message};
	const Sycl__V1__GraphLaunch *named = message->graph_launch;
	if (!(session->features & FEATURE_GRAPHS))
		return session_violation(session,
					 "a graph is launched, and graphs were not agreed on");
	int r = object_get(session, named->graph, OBJECT_GRAPH, &launch.graph, fault);
	if (r == 0)
		r = check_launch(session, queue, launch.graph, named, fault);
	if (r == 0 && message->n_requirements)
		r = fault_set(fault, STATUS_INVALID,
			      "a launch of a graph requires nothing: its nodes do");
	if (r == 0)
		r = replay_gather_before(&launch, fault);
	return r == 0 ? launch_or_replay(&launch, slots, fault) : r;
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
