/*
 * The connection's host tasks: submitted, waiting for their turn, or running. The engine writes a
 * slot when the turn of a task has come. Then a thread that waits on the connection runs the task,
 * or a helper thread does (helpers.h).
 *
 * The connection's list holds a host task until a thread takes it off. The task holds its handler,
 * which holds all that the task needs, also the connection. So the list is dropped with the last
 * handle of the connection, unless helpers run its tasks.
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

/* The functions by which host tasks with native handles use the bridge (interop/bridge.h). */
struct host_task_bridge {
	/* The task may use a context of the program from now on. */
	void (*enter)(struct connection *connection);
	/* Releases the bridge's objects of the task. */
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
	/* One of the list or the thread that runs the task, one of the submitting thread. */
	_Atomic uint32_t refs;
	struct handler *handler; /* a reference; NULL: the task has run */
	sycl_host_task_function *function;
	void *user_data;
	bool is_native;
	struct queue_line *line; /* held */
	uint64_t group;
	uint32_t node; /* node of a graph's launch, from 1; 0: the group itself */
	uint32_t slot, value;
	bool listed; /* in the list: under the state lock */
	/* The task is counted as one that may use a context of the program (bridge.h). */
	bool bridged;
	/* The function is called before all predecessors are complete, and work that it sends waits
	 * for the event. NULL: the function is never called early. */
	bool is_early;
	struct bridge_event *early;
	/* Of an event that the program signals: its outcome, or HOST_EVENT_OPEN. It is user_data.
	 * NULL: an ordinary task. */
	_Atomic int32_t *gate;
	/* A reference, for a native command that is a node: its launches send this graph. NULL: the
	 * function is called. */
	struct bridge_graph *graph;
};

/* An event that the program signals has no outcome yet: no sycl_result is positive. */
#define HOST_EVENT_OPEN 1

/* The host tasks of a connection; under its state lock. */
struct host_tasks {
	const struct host_task_bridge *bridge; /* never changes */
	struct host_task *first, *last;        /* submitted, not begun */
	uint32_t count;                        /* tasks that are not over */
};

/* Makes a host task for a group of this line. SYCL_ERROR_QUOTA: too many, or no slot. Without
 * locks, like all functions here that name no lock. */
sycl_result host_task_new(struct connection *connection, const struct host_task_plan *plan,
			  struct queue_line *line, struct host_task **task_out);
/* Puts the task into the list, before the record is sent: its turn may come before the sender
 * continues. With the submit lock. */
void host_task_list(struct connection *connection, struct host_task *task, uint64_t group);
/* Called when the submission is over. `sent` false: the engine will never write the task's slot. */
void host_task_settle(struct connection *connection, struct host_task *task, bool sent);

/* True if this thread may run host tasks of the connection. */
bool host_tasks_run_here(const struct connection *connection);
/* Takes a task that is ready, or can never run; NULL: none. With the state lock. */
struct host_task *host_tasks_take(struct connection *connection);
/* Calls the function, unless the task's turn never comes, and reports to the engine. For a native
 * command the bridge reports, when its work is complete. Afterwards the caller must not use the
 * task. */
void host_task_run(struct connection *connection, struct host_task *task);
/* Ends a task that has run: reports to the engine, `why` with a status. Afterwards the task may be
 * freed, and perhaps the connection. */
void host_task_over(struct connection *connection, struct host_task *task, sycl_result status,
		    const struct failure *why);
/* True if the turn of a task has come. With the state lock. */
bool host_tasks_ready(struct connection *connection);

/* True if the engine has granted the task its turn, and the program its signal if it needs one. */
bool host_task_has_turn(const struct connection *connection, const struct host_task *task);
/* With the state lock: takes the task of an event off the list if its turn has come; NULL:
 * another thread has taken it. */
struct host_task *host_tasks_take_gated(struct connection *connection,
					const struct queue_line *line, uint64_t group);

/* host_event.c: the function of the task of an event that the program signals. */
sycl_result host_event_outcome(sycl_host_task task, void *gate);
/* Signals the event of this group. Waits until the engine has read the group. SYCL_ERROR_INVALID:
 * it was signalled, or never was such an event. Without locks. */
sycl_result host_event_signal(struct connection *connection, const struct queue_line *line,
			      uint64_t group, sycl_result outcome);

/* Called after each wait that may have run tasks (struct wait_tasks). */
void host_tasks_after_wait(struct connection *connection, bool is_over, bool closed_queues);
/* Called when a handle was released or a wait has ended. Drops the tasks if that was the last one.
 * The caller holds the connection by another reference. */
void host_tasks_drop_unreachable(struct connection *connection);

/* The host task that this thread runs; NULL with the detail set: no such host task. */
const struct handler *host_task_handler(sycl_host_task task);

/* True if this thread runs that group, or with `all` one up to it. Then the thread cannot wait for
 * it. */
bool host_task_is_here(const struct queue_line *line, uint64_t group, bool all);

#endif
