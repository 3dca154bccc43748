/*
 * The life of a command group after it was checked: submitted as a task, completed or refused, and
 * reported to the client. Front thread.
 */
#ifndef SYCL_ENGINE_GROUP_H
#define SYCL_ENGINE_GROUP_H

#include "session/session.h"

struct group_scratch;

/* The functions that differ for a launch of a graph (graph/), which may be many tasks. Any may be
 * NULL. */
struct group_graph_ops {
	/* The tasks that followers of the group wait for, as group_check_dependencies adds one
	 * task. `request` NULL: only the order counts. -ENOMEM. */
	int (*add_dependencies)(struct group *group, struct group_scratch *scratch,
				struct task_request *request);
	/* No task of the group waits for a native event any more. */
	void (*end_event_waits)(const struct group *group, const struct backend_fault *fault);
	/* The group is complete. */
	void (*done)(struct group *group);
};

/* The group's task was submitted. It takes the queue's next `count` numbers. */
void group_open(struct session *session, struct queue *queue, struct group *group, uint32_t count);
void group_done(struct group *group, const struct task_outcome *outcome);
/* Writes the group's slots: complete, with success (status 0) or not (1). A host task that has not
 * had its turn will never have it. */
void group_write_slots(struct session *session, const struct group *group, uint32_t status);
/* A group that never became a task takes its number and fails. */
void group_refuse(struct queue *queue, const struct group *slots,
		  const struct backend_fault *fault);

/* host.c: the turn of a host task has come. */
void host_task_granted(struct group *group);
/* host.c: the early event of a host task has happened. It was recorded behind all that the task
 * depends on. */
void host_task_early(struct group *group);
/* The client has disconnected: its open and later host tasks fail. */
void host_tasks_abandon(struct session *session);
/* The client has run the host task; `fault` NULL: with success. */
void host_task_finished(struct group *group, const struct backend_fault *fault);

#endif
