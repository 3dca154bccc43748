/*
 * The connection's host tasks: submitted, waiting for their turn, running. The engine writes a slot
 * when the turn of a task has come. A thread that waits on the connection then runs it, or a helper
 * thread does (helpers.h).
 *
 * A host task is held by the connection's list until a thread takes it off, and holds its
 * handler, which holds what it needs. That also keeps the connection: so the list is dropped with
 * the last handle of the connection, unless helpers run what is in it.
 */
#ifndef SYCL_CLIENT_HOST_TASKS_H
#define SYCL_CLIENT_HOST_TASKS_H

#include "syclclient.h"

#include <stdbool.h>
#include <stdint.h>

struct bridge_call;
struct connection;
struct failure;
struct handler;
struct host_task;
struct queue_line;

/* How host tasks that use native handles take part in the bridge (interop/bridge.h). */
struct host_task_bridge {
	/* The task may use a context of the program from now on. */
	void (*enter)(struct connection *connection);
	/* Takes back what the task has of the bridge. */
	void (*leave)(struct connection *connection, struct host_task *task);
	void (*drop_graph)(struct host_task *task);
	sycl_result (*call)(struct host_task *task, struct bridge_call **later_out);
	void (*call_later)(struct bridge_call *call, sycl_result status, const struct failure *why);
	/* No handle of the connection is left. */
	void (*last_handle)(struct connection *connection);
};

/* The parts of a host task. */
struct host_task_plan {
	struct handler *handler; /* begins with its object */
	sycl_host_task_function *function;
	void *user_data;
	bool is_native;  /* a native command: the bridge calls its function */
	bool is_bridged; /* may use a context of the program */
};

struct host_task {
	struct host_task *next;
	_Atomic uint32_t refs;   /* the list or the thread that runs it; the submitting thread */
	struct handler *handler; /* a reference; NULL: it has run */
	sycl_host_task_function *function;
	void *user_data;
	bool is_native;
	struct queue_line *line; /* held */
	uint64_t group;
	uint32_t node; /* node of a graph's launch, from 1; 0: the group itself */
	uint32_t slot, value;
	bool listed;  /* in the list: under the state lock */
	bool bridged; /* counted as one that may use a context of the program's (bridge.h) */
	/* Its function is called before all that it depends on is complete, and what that sends
	 * comes behind the event. NULL: it never is. */
	bool is_early;
	struct bridge_event *early;
	struct bridge_graph *graph; /* a reference; of a native command that is a node: what its
				       launches send. NULL: its function is called */
};

/* The host tasks of a connection; under its state lock. */
struct host_tasks {
	const struct host_task_bridge *bridge; /* never changes */
	struct host_task *first, *last;        /* submitted, not begun */
	uint32_t count;                        /* tasks that are not over */
};

/* For a group of this line. SYCL_ERROR_QUOTA: too many, or no slot. Without locks, as all that say
 * nothing of locks. */
sycl_result host_task_new(struct connection *connection, const struct host_task_plan *plan,
			  struct queue_line *line, struct host_task **task_out);
/* Into the list, before the record is sent: its turn may come before the sender goes on. With the
 * submit lock. */
void host_task_list(struct connection *connection, struct host_task *task, uint64_t group);
/* Its submission is over. `sent` false: the engine will never write its slot. */
void host_task_settle(struct connection *connection, struct host_task *task, bool sent);

/* May this thread run host tasks of the connection? */
bool host_tasks_run_here(const struct connection *connection);
/* A task whose turn has come, or never comes; NULL: none. With the state lock. */
struct host_task *host_tasks_take(struct connection *connection);
/*
 * Calls the function, unless its turn never comes, and reports to the engine; of a native command
 * the bridge reports, when its work is complete. The task is gone afterwards.
 */
void host_task_run(struct connection *connection, struct host_task *task);
/* Ends a task that has run: reports to the engine, `why` with a status. The task is gone
 * afterwards, and perhaps the connection. */
void host_task_over(struct connection *connection, struct host_task *task, sycl_result status,
		    const struct failure *why);
/* Is there one whose turn has come? With the state lock. */
bool host_tasks_ready(struct connection *connection);

/* Behind each wait that may have run some (struct wait_tasks). */
void host_tasks_after_wait(struct connection *connection, bool is_over, bool closed_queues);
/* A handle was released, or a wait is over: was it the last one? The caller holds the connection by
 * other means. */
void host_tasks_drop_unreachable(struct connection *connection);

/* The host task that this thread runs; NULL with the detail set: no such host task. */
const struct handler *host_task_handler(sycl_host_task task);

/* Does this thread run that group, or one up to it with `all`? Then it cannot wait for it. */
bool host_task_is_here(const struct queue_line *line, uint64_t group, bool all);

#endif
