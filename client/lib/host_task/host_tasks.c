#include "host_task/host_tasks.h"

#include "connection/connection.h"
#include "connection/handles.h"
#include "connection/queue_line.h"
#include "connection/helpers.h"

#include <stdio.h>
#include <stdlib.h>

/*
 * The host tasks that this thread runs, innermost first: a wait inside a host task may run others.
 */
struct host_call {
	const struct host_task *task;
	struct host_call *outer;
};
static _Thread_local struct host_call *running;

sycl_result host_task_new(struct connection *c, const struct host_task_plan *plan,
			  struct queue_line *line, struct host_task **task_out)
{
	struct host_task *task = calloc(1, sizeof(*task));
	if (!task)
		return error_no_memory();
	(void)pthread_mutex_lock(&c->state_lock);
	bool room = c->host_tasks->count < HOST_TASKS_MAX;
	int r = room ? slots_take(&c->slots, &task->slot, &task->value) : -EDQUOT;
	c->host_tasks->count += r == 0;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (r < 0) {
		free(task);
		return room ? error_set(SYCL_ERROR_QUOTA, "all %u completion slots are in use",
					c->slots.count)
			    : error_set(
				      SYCL_ERROR_QUOTA,
				      "%u host tasks of the connection have not ended; no more are allowed",
				      HOST_TASKS_MAX);
	}
	task->refs = 1;
	task->bridged = plan->is_bridged;
	if (task->bridged)
		c->host_tasks->bridge->enter(c);
	task->handler = plan->handler;
	task->function = plan->function;
	task->user_data = plan->user_data;
	task->is_native = plan->is_native;
	task->gate = plan->function == host_event_outcome ? plan->user_data : NULL;
	object_ref((struct object *)task->handler);
	task->line = line;
	queue_line_hold(line);
	*task_out = task;
	return SYCL_SUCCESS;
}

static void host_task_leave_bridge(struct connection *c, struct host_task *task)
{
	if (task->bridged || task->early || task->graph)
		c->host_tasks->bridge->leave(c, task);
}

static void host_task_unref(struct connection *c, struct host_task *task)
{
	if (atomic_fetch_sub_explicit(&task->refs, 1, memory_order_acq_rel) != 1)
		return;
	host_task_leave_bridge(c, task);
	(void)pthread_mutex_lock(&c->state_lock);
	/* If the task was sent and never had its turn, the slot's value may still arrive. */
	slots_give(&c->slots, task->slot);
	c->host_tasks->count--;
	(void)pthread_mutex_unlock(&c->state_lock);
	queue_line_drop(c, task->line);
	struct object *handler = (struct object *)task->handler;
	free(task);
	if (handler)
		object_unref(handler); /* the connection may end with its handler */
}

void host_task_list(struct connection *c, struct host_task *task, uint64_t group)
{
	struct host_tasks *tasks = c->host_tasks;
	task->group = group;
	atomic_fetch_add_explicit(&task->refs, 1, memory_order_relaxed);
	(void)pthread_mutex_lock(&c->state_lock);
	task->listed = true;
	c->tasks_listed++;
	connection_await_any(c); /* the task's turn may come while a thread sleeps */
	if (tasks->last)
		tasks->last->next = task;
	else
		tasks->first = task;
	tasks->last = task;
	helpers_wake(c->helpers);
	(void)pthread_mutex_unlock(&c->state_lock);
}

/* With the state lock. `previous`: NULL for the first task. */
static void host_task_unlist(struct connection *c, struct host_task *previous,
			     struct host_task *task)
{
	struct host_tasks *tasks = c->host_tasks;
	if (previous)
		previous->next = task->next;
	else
		tasks->first = task->next;
	if (tasks->last == task)
		tasks->last = previous;
	task->next = NULL;
	task->listed = false;
	c->tasks_listed--;
}

void host_task_settle(struct connection *c, struct host_task *task, bool sent)
{
	bool was_listed = false;
	if (!sent) {
		(void)pthread_mutex_lock(&c->state_lock);
		struct host_task *previous = NULL;
		for (struct host_task *other = c->host_tasks->first; other && task->listed;
		     other = other->next) {
			if (other == task) {
				host_task_unlist(c, previous, task);
				was_listed = true;
				break;
			}
			previous = other;
		}
		/* With this value the slot is settled when it is given back. */
		atomic_store_explicit(&c->slot_memory[task->slot].sequence, task->value,
				      memory_order_relaxed);
		(void)pthread_mutex_unlock(&c->state_lock);
	}
	if (was_listed)
		host_task_unref(c, task);
	host_task_unref(c, task);
}

bool host_tasks_run_here(const struct connection *c)
{
	return !c->helpers || running || helpers_is_one();
}

bool host_task_has_turn(const struct connection *c, const struct host_task *task)
{
	if (task->gate && atomic_load_explicit(task->gate, memory_order_acquire) == HOST_EVENT_OPEN)
		return false;
	uint32_t sequence =
		atomic_load_explicit(&c->slot_memory[task->slot].sequence, memory_order_acquire);
	return sequence_reached(sequence, task->value);
}

bool host_tasks_ready(struct connection *c)
{
	for (const struct host_task *task = c->host_tasks->first; task; task = task->next) {
		if (host_task_has_turn(c, task))
			return true;
	}
	return false;
}

struct host_task *host_tasks_take(struct connection *c)
{
	struct host_task *previous = NULL;
	for (struct host_task *task = c->host_tasks->first; task; task = task->next) {
		if (host_task_has_turn(c, task)) {
			host_task_unlist(c, previous, task);
			/* Helpers that wait for a turn have no task left to wait for. */
			if (!c->host_tasks->first && c->helpers)
				(void)pthread_cond_broadcast(&c->changed);
			return task;
		}
		previous = task;
	}
	return NULL;
}

struct host_task *host_tasks_take_gated(struct connection *c, const struct queue_line *line,
					uint64_t group)
{
	struct host_task *previous = NULL;
	for (struct host_task *task = c->host_tasks->first; task; task = task->next) {
		if (task->gate && task->line == line && task->group == group) {
			if (!host_task_has_turn(c, task))
				return NULL;
			host_task_unlist(c, previous, task);
			return task;
		}
		previous = task;
	}
	return NULL;
}

static void host_task_send_done(struct connection *c, const struct host_task *task,
				sycl_result status, const struct failure *why)
{
	Sycl__V1__HostTaskDone done = SYCL__V1__HOST_TASK_DONE__INIT;
	done.queue = task->line->remote.id;
	done.group = task->group;
	done.node = task->node;
	char text[FAILURE_TEXT_BYTES];
	if (status) {
		done.status = status < 0 ? status : SYCL_ERROR_RUNTIME;
		if (why->code == status)
			(void)snprintf(text, sizeof(text), "%s", why->text);
		else
			(void)snprintf(text, sizeof(text), "a host task returned %s (%d)",
				       sycl_result_name(status), (int)status);
		done.text = text;
	}
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_TASK_DONE;
	command.host_task_done = &done;
	(void)connection_send(c, &command); /* a session that has ended needs no answer */
}

void host_task_over(struct connection *c, struct host_task *task, sycl_result status,
		    const struct failure *why)
{
	/* The task's objects are released first. So a thread that waits for the group finds them
	 * released. The handler may hold the connection. */
	connection_ref(c);
	if (task->graph) /* before memory that the graph names is closed */
		c->host_tasks->bridge->drop_graph(task);
	object_unref((struct object *)task->handler);
	task->handler = NULL;
	host_task_leave_bridge(c, task);
	connection_publish(c);
	host_task_send_done(c, task, status, why);
	host_task_unref(c, task);
	connection_unref(c);
}

/* *later_out: the work that the task sent has not ended, and the bridge ends the task. */
static sycl_result host_task_call_function(struct connection *c, struct host_task *task,
					   sycl_host_task handle, struct bridge_call **later_out)
{
	if (task->is_native)
		return c->host_tasks->bridge->call(task, later_out);
	return task->function(handle, task->user_data);
}

/* Its turn has come, or never does. If the service has ended, a task behind an event of it need not
 * wait. */
static bool host_task_may_run(struct connection *c, struct host_task *task)
{
	uint32_t status =
		atomic_load_explicit(&c->slot_memory[task->slot].status, memory_order_acquire);
	if (status == 0)
		return true;
	if (status != SLOT_STATUS_EARLY || !task->early)
		return false;
	connection_probe(c);
	task->is_early = atomic_load_explicit(&c->lost, memory_order_acquire) == 0;
	return task->is_early;
}

void host_task_run(struct connection *c, struct host_task *task)
{
	/* If the function fails, or the release of the task's objects, the waiting call does not
	 * fail. */
	struct failure before, why;
	error_get(&before);
	if (host_task_may_run(c, task)) {
		struct host_call call = {.task = task, .outer = running};
		error_note_failure(&(struct failure){.code = SYCL_SUCCESS});
		running = &call;
		connection_observe(c);
		struct bridge_call *later = NULL;
		sycl_result status =
			host_task_call_function(c, task, (sycl_host_task)(void *)&call, &later);
		running = call.outer;
		error_get(&why);
		if (later)
			c->host_tasks->bridge->call_later(later, status, &why);
		else
			host_task_over(c, task, status, &why);
	} else {
		host_task_unref(c, task);
	}
	error_note_failure(&before);
}

/* Ends the host tasks that have not begun. */
static void host_tasks_drop(struct connection *c)
{
	(void)pthread_mutex_lock(&c->state_lock);
	struct host_task *task = c->host_tasks->first;
	for (struct host_task *each = task; each; each = each->next)
		each->listed = false;
	c->host_tasks->first = c->host_tasks->last = NULL;
	c->tasks_listed = 0;
	if (c->helpers)
		(void)pthread_cond_broadcast(&c->changed);
	(void)pthread_mutex_unlock(&c->state_lock);
	while (task) {
		struct host_task *next = task->next;
		host_task_unref(c, task);
		task = next;
	}
}

void host_tasks_drop_unreachable(struct connection *c)
{
	if (atomic_load_explicit(&c->handles, memory_order_acquire) > 0)
		return;
	c->host_tasks->bridge->last_handle(c);
	if (c->helpers)
		return;
	(void)pthread_mutex_lock(&c->state_lock);
	/* A waiting thread still runs the tasks, and checks again afterwards. */
	bool unneeded = c->host_tasks->first && c->waits_with_tasks == 0;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (unneeded)
		host_tasks_drop(c);
}

void host_tasks_after_wait(struct connection *c, bool is_over, bool closed_queues)
{
	if (is_over)
		host_tasks_drop(c);
	if (closed_queues)
		queue_lines_throw_closed(c);
	host_tasks_drop_unreachable(c);
}

bool host_task_is_here(const struct queue_line *line, uint64_t group, bool all)
{
	for (const struct host_call *call = running; call; call = call->outer) {
		if (call->task->line == line &&
		    (all ? call->task->group <= group : call->task->group == group))
			return true;
	}
	return false;
}

const struct handler *host_task_handler(sycl_host_task handle)
{
	const struct host_call *call = running;
	while (call && (const void *)call != (const void *)handle)
		call = call->outer;
	if (!call)
		(void)error_set(SYCL_ERROR_INVALID_HANDLE, "this thread runs no such host task");
	return call ? call->task->handler : NULL;
}
