/* The bridge's functions for host tasks. */
#include "interop/bridge.h"

#include "connection/connection.h"
#include "host_task/host_tasks.h"

static void bridge_enter_task(struct connection *c)
{
	atomic_fetch_add_explicit(&c->bridge->commands, 1, memory_order_relaxed);
}

static void bridge_drop_task_graph(struct host_task *task)
{
	bridge_graph_drop(task->graph);
	task->graph = NULL;
}

static void bridge_leave_task(struct connection *c, struct host_task *task)
{
	if (task->early)
		bridge_event_give(c->bridge, task->early);
	task->early = NULL;
	bridge_drop_task_graph(task);
	if (task->bridged)
		atomic_fetch_sub_explicit(&c->bridge->commands, 1, memory_order_release);
	task->bridged = false;
}

static void bridge_last_handle(struct connection *c)
{
	bridge_leave_unused(c->bridge);
}

const struct host_task_bridge bridge_for_host_tasks = {
	.enter = bridge_enter_task,
	.leave = bridge_leave_task,
	.drop_graph = bridge_drop_task_graph,
	.call = bridge_call,
	.call_later = bridge_call_later,
	.last_handle = bridge_last_handle,
};
