#include "command/command.h"

static int refuse_unknown(struct session *session)
{
	struct backend_fault fault;
	(void)fault_set(&fault, STATUS_FEATURE_NOT_SUPPORTED, "this version knows no such request");
	reply_status(session, session->record, 0, &fault);
	return 0;
}

/* What is of a driver, or of another process too. */
static int run_share_command(struct session *session, const Sycl__V1__Command *command)
{
	switch (command->body_case) {
	case SYCL__V1__COMMAND__BODY_NATIVE_DESCRIBE:
		return command_native_describe(session, command->native_describe);
	case SYCL__V1__COMMAND__BODY_NATIVE_GET:
		return command_native_get(session, command->native_get);
	case SYCL__V1__COMMAND__BODY_NATIVE_MAKE:
		return command_native_make(session, command->native_make);
	case SYCL__V1__COMMAND__BODY_BUFFER_EXPORT:
		return command_buffer_export(session, command->buffer_export);
	case SYCL__V1__COMMAND__BODY_BUFFER_IMPORT:
		return command_buffer_import(session, command->buffer_import);
	case SYCL__V1__COMMAND__BODY_SHARED_EVENT_CREATE:
		return command_shared_event_create(session, command->shared_event_create);
	case SYCL__V1__COMMAND__BODY_SHARED_EVENT_OPEN:
		return command_shared_event_open(session, command->shared_event_open);
	default:
		return refuse_unknown(session);
	}
}

static int run_graph_command(struct session *session, const Sycl__V1__Command *command)
{
	switch (command->body_case) {
	case SYCL__V1__COMMAND__BODY_GRAPH_CREATE:
		return command_graph_create(session, command->graph_create);
	case SYCL__V1__COMMAND__BODY_GRAPH_NODE:
		return command_graph_node(session, command->graph_node);
	case SYCL__V1__COMMAND__BODY_GRAPH_EDGES:
		return command_graph_edges(session, command->graph_edges);
	case SYCL__V1__COMMAND__BODY_GRAPH_FINISH:
		return command_graph_finish(session, command->graph_finish);
	case SYCL__V1__COMMAND__BODY_GRAPH_UPDATE:
		return command_graph_update(session, command->graph_update);
	case SYCL__V1__COMMAND__BODY_GRAPH_SWITCH:
		return command_graph_switch(session, command->graph_switch);
	default:
		return run_share_command(session, command);
	}
}

int session_command(struct session *session, const Sycl__V1__Command *command)
{
	switch (command->body_case) {
	case SYCL__V1__COMMAND__BODY_RELEASE:
		return command_release(session, command->release);
	case SYCL__V1__COMMAND__BODY_ARENA_CREATE:
		return command_arena_create(session, command->arena_create);
	case SYCL__V1__COMMAND__BODY_ARENA_DESTROY:
		return command_arena_destroy(session, command->arena_destroy);
	case SYCL__V1__COMMAND__BODY_DISCOVER:
		return command_discover(session);
	case SYCL__V1__COMMAND__BODY_CONTEXT_CREATE:
		return command_context_create(session, command->context_create);
	case SYCL__V1__COMMAND__BODY_SUB_DEVICES_CREATE:
		return command_sub_devices_create(session, command->sub_devices_create);
	case SYCL__V1__COMMAND__BODY_QUEUE_CREATE:
		return command_queue_create(session, command->queue_create);
	case SYCL__V1__COMMAND__BODY_QUEUE_WINDOW:
		return command_queue_window(session, command->queue_window);
	case SYCL__V1__COMMAND__BODY_BUFFER_CREATE:
		return command_buffer_create(session, command->buffer_create);
	case SYCL__V1__COMMAND__BODY_IMAGE_CREATE:
		return command_image_create(session, command->image_create);
	case SYCL__V1__COMMAND__BODY_BUNDLE_BUILD:
		return command_bundle_build(session, command->bundle_build);
	case SYCL__V1__COMMAND__BODY_BUNDLE_LINK:
		return command_bundle_link(session, command->bundle_link);
	case SYCL__V1__COMMAND__BODY_KERNEL_CREATE:
		return command_kernel_create(session, command->kernel_create);
	case SYCL__V1__COMMAND__BODY_COMMAND_GROUP:
		return command_group(session, command->command_group);
	case SYCL__V1__COMMAND__BODY_HOST_ACCESS:
		return command_host_access(session, command->host_access);
	case SYCL__V1__COMMAND__BODY_HOST_TASK_DONE:
		return command_host_task_done(session, command->host_task_done);
	case SYCL__V1__COMMAND__BODY_USM_ALLOCATE:
		return command_usm_allocate(session, command->usm_allocate);
	case SYCL__V1__COMMAND__BODY_USM_FREE:
		return command_usm_free(session, command->usm_free);
	case SYCL__V1__COMMAND__BODY_USAGE_QUERY:
		return command_usage_query(session);
	case SYCL__V1__COMMAND__BODY_PROFILE_QUERY:
		return command_profile_query(session, command->profile_query);
	case SYCL__V1__COMMAND__BODY_PING:
		return command_ping(session);
	case SYCL__V1__COMMAND__BODY_OCCUPANCY_QUERY:
		return command_occupancy_query(session, command->occupancy_query);
	default:
		return run_graph_command(session, command);
	}
}
