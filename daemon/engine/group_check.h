/*
 * From a decoded command group to a task request: every id, index, mode, size and count is checked here, whatever the
 * library has checked. Front thread.
 */
#ifndef SYCL_ENGINE_GROUP_CHECK_H
#define SYCL_ENGINE_GROUP_CHECK_H

#include "command.pb-c.h"
#include "protocol_limits.h"
#include "scheduler.h"

struct session;
struct queue;
struct arena;
struct buffer;

/* Where a request is put together: one per engine, used by one command group at a time. */
struct group_scratch {
	struct task_requirement *requirements; /* REQUIREMENTS_MAX */
	struct buffer **buffers;               /* of the requirements */
	struct task_argument *arguments;       /* KERNEL_ARGUMENTS_MAX */
	struct task **after;                   /* grows */
	uint32_t after_count, after_capacity;
	struct backend_fault dependency; /* of an event that had failed */
	struct backend_launch_properties properties;
	struct arena *arena;             /* that a copy reads or writes, or NULL */
	bool waits_for_all;              /* a barrier: it stands for every group of its queue before it */
};

int group_scratch_init(struct group_scratch *scratch);
void group_scratch_fini(struct group_scratch *scratch);
/* -ENOMEM */
int group_scratch_after(struct group_scratch *scratch, struct task *task);

/*
 * These return 0; 1 with a fault when the group is refused; a negative errno when the session has been told to close.
 */
int group_check_requirements(struct session *session, const Sycl__V1__CommandGroup *message,
			     struct task_request *request, struct backend_fault *fault);
int group_check_dependencies(struct session *session, const struct queue *queue, const Sycl__V1__CommandGroup *message,
			     struct task_request *request, struct backend_fault *fault);
int group_check_launch(struct session *session, const struct queue *queue, const Sycl__V1__Launch *launch,
		       struct task_request *request, struct backend_fault *fault);
int group_check_copy(struct session *session, const Sycl__V1__Copy *copy, struct task_request *request,
		     struct backend_fault *fault);
int group_check_fill(struct session *session, const Sycl__V1__Fill *fill, struct task_request *request,
		     struct backend_fault *fault);
int group_check_host_update(struct session *session, const Sycl__V1__HostUpdate *update, struct task_request *request,
			    struct backend_fault *fault);
/* `action`: TASK_EVENT_RECORD or TASK_EVENT_WAIT. */
int group_check_event(struct session *session, const struct queue *queue, const Sycl__V1__SharedEventAction *message,
		      enum task_action action, struct task_request *request, struct backend_fault *fault);

#endif
