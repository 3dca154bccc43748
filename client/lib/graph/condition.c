/* IF and WHILE nodes: actions of command groups that become nodes of graphs (R4). */
#include "graph/executable_graph.h"

#include "access_mode.h"
#include "device_features.h"
#include "protocol_limits.h"
#include "usm/usm.h"

#include <inttypes.h>

#define WORD_BYTES 4u

/* True if a device cannot run the handler alone, as a node of its driver's graph. */
static bool needs_more_than_the_device(const struct handler *handler)
{
	switch (handler->action) {
	case HANDLER_ACTION_HOST_TASK:
	case HANDLER_ACTION_UPDATE:
	case HANDLER_ACTION_RECORD_EVENT:
	case HANDLER_ACTION_WAIT_EVENT:
		return true;
	default:
		return false;
	}
}

sycl_result graph_check_conditions(const struct executable_graph *graph)
{
	if (graph->condition_count == 0)
		return SYCL_SUCCESS;
	if (graph->flags & SYCL_GRAPH_UPDATABLE)
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "a graph with IF or WHILE nodes cannot be updated");
	for (uint32_t i = 0; i < graph->count; i++) {
		if (graph->nodes[i].handler && needs_more_than_the_device(graph->nodes[i].handler))
			return error_set(
				SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				"a graph with IF or WHILE nodes has no host tasks, copies from memory of the program, updates of the "
				"host or shared events");
	}
	return SYCL_SUCCESS;
}

/*
 * Checks a node of a body. A word in a device's memory decides how often the device runs the body.
 */
static sycl_result check_body_node(const struct executable_node *node)
{
	const struct handler *handler = node->handler;
	if (!handler)
		return SYCL_SUCCESS;
	if (needs_more_than_the_device(handler) || handler->action == HANDLER_ACTION_NATIVE ||
	    handler->host_is_usm)
		return error_set(
			SYCL_ERROR_INVALID,
			"the body of a condition has host tasks, updates, shared events, native commands or copies of the program's memory");
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		struct buffer *buffer = handler_requirement_at(handler, i)->buffer;
		if (buffer_root(buffer)->is_temporary)
			return error_set_object(
				SYCL_ERROR_FEATURE_NOT_SUPPORTED, buffer->remote.id,
				"a temporary of graphs cannot be used in the body of a condition");
	}
	return SYCL_SUCCESS;
}

/* Nodes of an executable graph and their depths never change; their handlers do, by updates. */
static sycl_result check_body(struct executable_graph *body)
{
	struct connection *c = body->object.connection;
	sycl_result result = SYCL_SUCCESS;
	if (body->count == 0)
		return error_set_object(SYCL_ERROR_INVALID, body->remote.id,
					"the body of a condition has no nodes");
	(void)pthread_mutex_lock(&c->graph_lock);
	for (uint32_t i = 0; i < body->count && !result; i++) {
		result = check_body_node(&body->nodes[i]);
		if (!result && body->nodes[i].depth + 1 > GRAPH_DEPTH_MAX)
			result = error_set(SYCL_ERROR_QUOTA,
					   "bodies of conditions may be nested %u deep",
					   GRAPH_DEPTH_MAX);
	}
	(void)pthread_mutex_unlock(&c->graph_lock);
	return result;
}

static sycl_result condition_check(const struct handler *handler, sycl_graph_condition_type type,
				   struct executable_graph *body)
{
	const struct device *device = handler->queue->device;
	sycl_result result = handler_check_no_action(handler);
	if (result)
		return result;
	if (type != SYCL_GRAPH_CONDITION_IF && type != SYCL_GRAPH_CONDITION_WHILE)
		return error_set(SYCL_ERROR_INVALID, "%d is no type of condition", (int)type);
	if (!handler->object.connection->has_graph_condition)
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "the service is too old: it has no IF and WHILE nodes");
	if (!(device->facts->features & DEVICE_FEATURE_GRAPH_CONDITION))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED, "%s has no IF and WHILE nodes",
				 device->facts->name);
	result = graph_check_launchable(handler, body);
	return result ? result : check_body(body);
}

static void condition_set(struct handler *handler, sycl_graph_condition_type type,
			  struct executable_graph *body)
{
	handler->action = HANDLER_ACTION_CONDITION;
	handler->repeats = type == SYCL_GRAPH_CONDITION_WHILE;
	handler->graph = body;
	handler->graph_remote = &body->remote;
	object_ref(&body->object);
}

SYCL_API sycl_result sycl_handler_graph_conditional(sycl_handler handle,
						    sycl_graph_condition_type type,
						    sycl_buffer buffer_handle,
						    uint64_t offset_bytes,
						    sycl_executable_graph body_handle)
{
	PIN(handler, handler, handle);
	PIN(buffer, buffer, buffer_handle);
	PIN(executable_graph, body, body_handle);
	const struct handler_demand demand = {.buffer = buffer,
					      .mode = ACCESS_MODE_READ,
					      .offset_bytes = offset_bytes,
					      .size_bytes = WORD_BYTES};
	uint32_t requirement = 0;
	sycl_result result = condition_check(handler, type, body);
	if (!result && (buffer->origin_bytes + offset_bytes) % WORD_BYTES != 0)
		result = error_set_object(
			SYCL_ERROR_INVALID, buffer->remote.id,
			"a condition's word lies at a multiple of %u bytes, not at %" PRIu64,
			WORD_BYTES, offset_bytes);
	if (!result && buffer_root(buffer)->is_temporary)
		result = error_set_object(SYCL_ERROR_FEATURE_NOT_SUPPORTED, buffer->remote.id,
					  "a condition's word cannot be in a temporary of graphs");
	if (!result)
		result = handler_check_demand(handler, &demand);
	if (!result)
		result = handler_require(handler, &demand, &requirement);
	if (result)
		return result;
	condition_set(handler, type, body);
	handler->source = requirement;
	handler->source_offset_bytes = offset_bytes;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_graph_conditional_usm(sycl_handler handle,
							sycl_graph_condition_type type,
							const void *pointer,
							sycl_executable_graph body_handle)
{
	PIN(handler, handler, handle);
	PIN(executable_graph, body, body_handle);
	sycl_result result = condition_check(handler, type, body);
	if (!result && (!pointer || (uintptr_t)pointer % WORD_BYTES != 0))
		result = error_set(SYCL_ERROR_INVALID,
				   "a condition's word lies at a multiple of %u bytes, not at %p",
				   WORD_BYTES, pointer);
	if (!result)
		result = usm_check_word(handler, pointer, WORD_BYTES, "a condition");
	if (result)
		return result;
	condition_set(handler, type, body);
	handler->usm.source = pointer;
	return SYCL_SUCCESS;
}
