#include "command/command.h"
#include "command/kept.h"

static int run_command_group(struct session *session, const Sycl__V1__Command *command)
{
	return command_group(session, command->command_group, NULL);
}

/* The function for each kind of request. */
static int (*const handlers[])(struct session *, const Sycl__V1__Command *) = {
	[SYCL__V1__COMMAND__BODY_RELEASE] = command_release,
	[SYCL__V1__COMMAND__BODY_ARENA_CREATE] = command_arena_create,
	[SYCL__V1__COMMAND__BODY_ARENA_DESTROY] = command_arena_destroy,
	[SYCL__V1__COMMAND__BODY_DISCOVER] = command_discover,
	[SYCL__V1__COMMAND__BODY_CONTEXT_CREATE] = command_context_create,
	[SYCL__V1__COMMAND__BODY_SUB_DEVICES_CREATE] = command_sub_devices_create,
	[SYCL__V1__COMMAND__BODY_QUEUE_CREATE] = command_queue_create,
	[SYCL__V1__COMMAND__BODY_QUEUE_WINDOW] = command_queue_window,
	[SYCL__V1__COMMAND__BODY_BUFFER_CREATE] = command_buffer_create,
	[SYCL__V1__COMMAND__BODY_IMAGE_CREATE] = command_image_create,
	[SYCL__V1__COMMAND__BODY_BUNDLE_BUILD] = command_bundle_build,
	[SYCL__V1__COMMAND__BODY_BUNDLE_LINK] = command_bundle_link,
	[SYCL__V1__COMMAND__BODY_KERNEL_CREATE] = command_kernel_create,
	[SYCL__V1__COMMAND__BODY_COMMAND_GROUP] = run_command_group,
	[SYCL__V1__COMMAND__BODY_HOST_ACCESS] = command_host_access,
	[SYCL__V1__COMMAND__BODY_HOST_TASK_DONE] = command_host_task_done,
	[SYCL__V1__COMMAND__BODY_USM_ALLOCATE] = command_usm_allocate,
	[SYCL__V1__COMMAND__BODY_USM_FREE] = command_usm_free,
	[SYCL__V1__COMMAND__BODY_USAGE_QUERY] = command_usage_query,
	[SYCL__V1__COMMAND__BODY_PROFILE_QUERY] = command_profile_query,
	[SYCL__V1__COMMAND__BODY_PING] = command_ping,
	[SYCL__V1__COMMAND__BODY_OCCUPANCY_QUERY] = command_occupancy_query,
	[SYCL__V1__COMMAND__BODY_GRAPH_CREATE] = command_graph_create,
	[SYCL__V1__COMMAND__BODY_GRAPH_NODE] = command_graph_node,
	[SYCL__V1__COMMAND__BODY_GRAPH_EDGES] = command_graph_edges,
	[SYCL__V1__COMMAND__BODY_GRAPH_FINISH] = command_graph_finish,
	[SYCL__V1__COMMAND__BODY_GRAPH_UPDATE] = command_graph_update,
	[SYCL__V1__COMMAND__BODY_GRAPH_SWITCH] = command_graph_switch,
	[SYCL__V1__COMMAND__BODY_NATIVE_DESCRIBE] = command_native_describe,
	[SYCL__V1__COMMAND__BODY_NATIVE_GET] = command_native_get,
	[SYCL__V1__COMMAND__BODY_NATIVE_MAKE] = command_native_make,
	[SYCL__V1__COMMAND__BODY_BUFFER_EXPORT] = command_buffer_export,
	[SYCL__V1__COMMAND__BODY_BUFFER_IMPORT] = command_buffer_import,
	[SYCL__V1__COMMAND__BODY_SHARED_EVENT_CREATE] = command_shared_event_create,
	[SYCL__V1__COMMAND__BODY_SHARED_EVENT_OPEN] = command_shared_event_open,
};

static int refuse_unknown(struct session *session)
{
	struct backend_fault fault;
	(void)fault_set(&fault, STATUS_FEATURE_NOT_SUPPORTED, "this version has no such request");
	reply_status(session, session->record, 0, &fault);
	return 0;
}

int session_command(struct session *session, const Sycl__V1__Command *command)
{
	size_t kind = (size_t)command->body_case;
	command_kept_end_row(session);
	if (kind >= sizeof(handlers) / sizeof(*handlers) || !handlers[kind])
		return refuse_unknown(session);
	return handlers[kind](session, command);
}
