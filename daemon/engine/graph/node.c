/* The nodes of a launch come to their end, and host tasks among them to their turn. */
#include "graph/run.h"
#include "group/group.h"
#include "session/session.h"

/* Keeps the first failure, but prefers one that does not come from another node's failure. */
static void outcome_keep_fault(struct task_outcome *all, const struct backend_fault *fault)
{
	if (!fault->status)
		return;
	if (!all->fault.status || (all->fault.status == STATUS_DEPENDENCY_FAILED &&
				   fault->status != STATUS_DEPENDENCY_FAILED))
		all->fault = *fault;
}

/* The outcome of a launch is from the first start to the last end (L10). */
static void outcome_add_node(struct task_outcome *all, const struct task_outcome *one)
{
	outcome_keep_fault(all, &one->fault);
	if (one->start_ns && (!all->start_ns || one->start_ns < all->start_ns))
		all->start_ns = one->start_ns;
	if (one->end_ns > all->end_ns)
		all->end_ns = one->end_ns;
	all->estimated |= one->estimated && one->start_ns != 0;
	all->device_ns += one->device_ns;
	all->bytes_to_device += one->bytes_to_device;
	all->bytes_to_host += one->bytes_to_host;
}

static void finish_run(struct graph_run *run)
{
	struct graph *graph = run->graph;
	struct group *group = run->group;
	struct task_outcome outcome = run->outcome;
	if (graph->last == group)
		graph->last = NULL;
	graph->object.session->groups_open -= graph->node_count;
	group->run = NULL;
	group->graph_ops = NULL;
	if (graph->spare || graph->object.released)
		free(run);
	else
		graph->spare = run;
	group_done(group, &outcome);
	object_unref(&graph->object);
}

static void finish_node(struct graph_node_run *node, const struct task_outcome *outcome)
{
	struct graph_run *run = node->run;
	struct session *session = run->graph->object.session;
	node->task = NULL;
	if (node->is_host_task && !node->held) {
		session->host_tasks_open--;
		session_write_slot(session, node->host_slot, node->host_slot_value, 1);
	}
	if (node->arena)
		node->arena->users--;
	outcome_add_node(&run->outcome, outcome);
	if (--run->left == 0)
		finish_run(run);
}

void graph_node_end(struct graph_node_run *node, const struct backend_fault *fault)
{
	list_remove(&node->held_link);
	node->run->graph->object.session->host_tasks_open--;
	host_task_end(node->task, fault);
}

static void abandon_node(struct graph_node_run *node)
{
	struct backend_fault fault;
	(void)fault_set(&fault, STATUS_CONNECTION_LOST,
			"the process that was to run a host task has ended");
	graph_node_end(node, &fault);
}

void graph_nodes_abandon(struct session *session)
{
	while (!list_empty(&session->held_nodes))
		abandon_node(
			list_entry(session->held_nodes.next, struct graph_node_run, held_link));
}

static void hand_over_node(struct graph_node_run *node)
{
	struct session *session = node->run->graph->object.session;
	node->held = true;
	list_push_back(&session->held_nodes, &node->held_link);
	if (session->state == SESSION_CLOSING)
		abandon_node(node);
	else
		session_write_slot(session, node->host_slot, node->host_slot_value, 0);
}

struct session *graph_node_task_changed(struct graph_node_run *node, struct task *task,
					const struct task_outcome *outcome)
{
	struct session *session = node->run->graph->object.session;
	if (node->is_host_task && !outcome->fault.status && task_held(task))
		hand_over_node(node);
	else
		finish_node(node, outcome);
	return session;
}

struct graph_node_run *graph_run_held(const struct graph_run *run, uint32_t node)
{
	if (node == 0 || node > run->graph->node_count)
		return NULL;
	const struct graph_node_run *found = &run->nodes[node - 1];
	bool held = found->task && found->held && !list_empty(&found->held_link);
	return held ? (struct graph_node_run *)(uintptr_t)found : NULL;
}
