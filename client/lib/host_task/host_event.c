/*
 * Events that the program signals. Each is a host task whose function is not called before the
 * signal: the engine grants the task its turn, and groups that depend on it wait until the library
 * reports its end.
 */
#include "host_task/host_tasks.h"

#include "connection/connection.h"

/* With the state lock: the task of this group, or NULL: it was signalled, or never was one. */
static struct host_task *find_gated(struct connection *c, const struct queue_line *line,
				    uint64_t group)
{
	for (struct host_task *task = c->host_tasks->first; task; task = task->next)
		if (task->gate && task->line == line && task->group == group)
			return task;
	return NULL;
}

struct turn {
	const struct queue_line *line;
	uint64_t group;
};

/* With the state lock. True also if another thread has taken the task. */
static bool has_come(struct connection *c, void *context)
{
	const struct turn *turn = context;
	const struct host_task *task = find_gated(c, turn->line, turn->group);
	return !task || host_task_has_turn(c, task);
}

sycl_result host_event_signal(struct connection *c, const struct queue_line *line, uint64_t group,
			      sycl_result outcome)
{
	struct turn turn = {.line = line, .group = group};
	(void)pthread_mutex_lock(&c->state_lock);
	struct host_task *task = find_gated(c, line, group);
	bool is_first =
		task && atomic_load_explicit(task->gate, memory_order_relaxed) == HOST_EVENT_OPEN;
	if (is_first)
		atomic_store_explicit(task->gate, outcome, memory_order_release);
	(void)pthread_mutex_unlock(&c->state_lock);
	if (!is_first)
		return error_set(SYCL_ERROR_INVALID,
				 "the event is none of the program's, or was signalled before");
	/* Its turn comes as soon as the service has read the group: it waits for nothing else. */
	sycl_result result = connection_wait(c, has_come, &turn, 0, UINT64_MAX);
	if (result)
		return result;
	(void)pthread_mutex_lock(&c->state_lock);
	task = host_tasks_take_gated(c, line, group);
	(void)pthread_mutex_unlock(&c->state_lock);
	if (task)
		host_task_run(c, task);
	return SYCL_SUCCESS;
}

sycl_result host_event_outcome(sycl_host_task task, void *gate)
{
	(void)task;
	_Atomic int32_t *decision = gate;
	return (sycl_result)atomic_load_explicit(decision, memory_order_acquire);
}
