/* Checks the action of a command group, by its kind. Makes faults of the scheduler's refusals. */
#include "group/check.h"
#include "session/session.h"

#include <string.h>

static int refuse_graph_condition(struct session *session, const struct queue *queue,
				  const Sycl__V1__CommandGroup *group, struct task_request *request,
				  struct backend_fault *fault)
{
	(void)queue;
	(void)group;
	(void)request;
	(void)fault;
	return session_violation(session, "an IF or WHILE node outside of a graph");
}

/* The function for each kind of action. */
static int (*const checks[])(struct session *, const struct queue *, const Sycl__V1__CommandGroup *,
			     struct task_request *, struct backend_fault *) = {
	[SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH] = group_check_launch,
	[SYCL__V1__COMMAND_GROUP__ACTION_COPY] = group_check_copy,
	[SYCL__V1__COMMAND_GROUP__ACTION_FILL] = group_check_fill,
	[SYCL__V1__COMMAND_GROUP__ACTION_HOST_UPDATE] = group_check_host_update,
	[SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK] = group_check_host_task,
	[SYCL__V1__COMMAND_GROUP__ACTION_USM_COPY] = group_check_usm_copy,
	[SYCL__V1__COMMAND_GROUP__ACTION_USM_FILL] = group_check_usm_fill,
	[SYCL__V1__COMMAND_GROUP__ACTION_USM_PREFETCH] = group_check_usm_prefetch,
	[SYCL__V1__COMMAND_GROUP__ACTION_USM_ADVISE] = group_check_usm_advise,
	[SYCL__V1__COMMAND_GROUP__ACTION_NATIVE] = group_check_native_command,
	[SYCL__V1__COMMAND_GROUP__ACTION_RECORD_EVENT] = group_check_event,
	[SYCL__V1__COMMAND_GROUP__ACTION_WAIT_EVENT] = group_check_event,
	[SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION] = refuse_graph_condition,
};

int group_check_action(struct session *session, const struct queue *queue,
		       const Sycl__V1__CommandGroup *group, struct task_request *request,
		       struct backend_fault *fault)
{
	size_t kind = (size_t)group->action_case;
	if (kind < sizeof(checks) / sizeof(*checks) && checks[kind])
		return checks[kind](session, queue, group, request, fault);
	/* The action has no entry here, or a later version added it and it looks like no action. */
	if (kind != SYCL__V1__COMMAND_GROUP__ACTION__NOT_SET || group->base.n_unknown_fields)
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "this version has no such command group");
	request->action = TASK_BARRIER;
	request->what = "barrier";
	return 0;
}

int group_submit_fault(int error, const char *what, struct backend_fault *fault)
{
	if (error == -EDQUOT)
		return fault_set(
			fault, STATUS_QUOTA,
			"%s needs more memory than there is for a session's work in flight", what);
	if (error == -ENOSPC)
		return fault_set(
			fault, STATUS_QUOTA,
			"%s needs more memory on the device than this session, or all of this user's, may have",
			what);
	if (error == -E2BIG)
		return fault_set(fault, STATUS_QUOTA, "%s names too many parts of buffers", what);
	return fault_set(fault, STATUS_MEMORY_ALLOCATION, "%s could not be submitted: %s", what,
			 strerror(-error));
}
