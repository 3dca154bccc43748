/* The action of a command group, by its kind; and what the scheduler refuses. */
#include "group/check.h"
#include "session/session.h"

#include <string.h>

int group_check_action(struct session *session, const struct queue *queue,
		       const Sycl__V1__CommandGroup *message, struct task_request *request,
		       struct backend_fault *fault)
{
	switch (message->action_case) {
	case SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH:
		return group_check_launch(session, queue, message->launch, request, fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_COPY:
		return group_check_copy(session, queue, message->copy, request, fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_FILL:
		return group_check_fill(session, message->fill, request, fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_HOST_UPDATE:
		return group_check_host_update(session, message->host_update, request, fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK:
		return group_check_host_task(session, queue, message->host_task, request, fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_COPY:
		return group_check_usm_copy(session, queue, message->usm_copy, request, fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_FILL:
		return group_check_usm_fill(session, queue, message->usm_fill, request, fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_PREFETCH:
		return group_check_usm_prefetch(session, queue, message->usm_prefetch, request,
						fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_USM_ADVISE:
		return group_check_usm_advise(session, queue, message->usm_advise, request, fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_NATIVE:
		return group_check_native_command(session, queue, message->native,
						  BACKEND_FEATURE_NATIVE, request, fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_RECORD_EVENT:
		return group_check_event(session, queue, message->record_event, TASK_EVENT_RECORD,
					 request, fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_WAIT_EVENT:
		return group_check_event(session, queue, message->wait_event, TASK_EVENT_WAIT,
					 request, fault);
	case SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION:
		return session_violation(session, "an IF or WHILE node in no graph");
	default:
		break;
	}
	/* An action that a later version added would look like none. */
	if (message->base.n_unknown_fields)
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "this version knows no such command group");
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
