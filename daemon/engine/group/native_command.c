/*
 * Native commands: functions of the application in whose process this engine runs. Functions of
 * other processes would be numbers without a meaning.
 */
#include "group/check.h"
#include "session/session.h"

#include <assert.h>
#include <string.h>

/* The client's own code, at an address of this process. */
static backend_native_function *native_command_function(const Sycl__V1__NativeCommand *native)
{
	backend_native_function *function = NULL;
	const uintptr_t address = (uintptr_t)native->function;
	static_assert(sizeof(function) == sizeof(address), "a function has an address");
	memcpy(&function, &address, sizeof(function));
	return function;
}

static void *native_context_of(const Sycl__V1__NativeCommand *native)
{
	return (void *)(uintptr_t)native->context; /* NOLINT(performance-no-int-to-ptr) */
}

static int check_native_command(const struct session *session, const struct queue *queue,
				const Sycl__V1__NativeCommand *native, uint32_t feature,
				struct task_request *request, struct backend_fault *fault)
{
	if (!session_has_natives(session))
		return fault_set(
			fault, STATUS_FEATURE_NOT_SUPPORTED,
			"a native command needs an engine in the application's own process");
	if (!native->function)
		return fault_set(fault, STATUS_INVALID, "the native command has no function");
	if (!(queue->facts->features & feature))
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "this device takes no native commands%s",
				 feature == BACKEND_FEATURE_GRAPH_NATIVE ? " in graphs" : "");
	request->action = TASK_NATIVE;
	request->what = "native command";
	request->native.function = native_command_function(native);
	request->native.context = native_context_of(native);
	return 0;
}

int group_check_native_command(struct session *session, const struct queue *queue,
			       const Sycl__V1__CommandGroup *group, struct task_request *request,
			       struct backend_fault *fault)
{
	return check_native_command(session, queue, group->native, BACKEND_FEATURE_NATIVE, request,
				    fault);
}

int group_check_native_node(struct session *session, const struct queue *queue,
			    const Sycl__V1__CommandGroup *group, struct task_request *request,
			    struct backend_fault *fault)
{
	return check_native_command(session, queue, group->native, BACKEND_FEATURE_GRAPH_NATIVE,
				    request, fault);
}

void group_native_command_refused(const struct session *session,
				  const Sycl__V1__CommandGroup *message)
{
	if (message->action_case == SYCL__V1__COMMAND_GROUP__ACTION_NATIVE &&
	    session_has_natives(session) && message->native->function)
		(void)native_command_function(message->native)(native_context_of(message->native),
							       NULL);
}
