/* Changes arguments and ranges of nodes, and updates executable graphs with them (L13). */
#include "graph/executable_graph.h"

#include "access_mode.h"
#include "memory/own_pages.h"

#include <stdlib.h>
#include <string.h>

/* With the lock. Checks that the node launches a kernel. */
static sycl_result check_kernel_node(const struct graph *graph, sycl_graph_node node)
{
	sycl_result result = graph_check_node(graph, node);
	if (result || graph->items[node - 1].type == SYCL_GRAPH_NODE_KERNEL)
		return result;
	return error_set(SYCL_ERROR_INVALID,
			 "node %u launches no kernel: only those can be updated", node);
}

/* Copies a node's present state into a handler of the caller, because others may hold the node's
 * handler. */
static sycl_result copy_node(struct graph *graph, sycl_graph_node node, struct handler **copy_out)
{
	struct connection *c = graph->object.connection;
	struct handler *handler = NULL;
	(void)pthread_mutex_lock(&c->graph_lock);
	sycl_result result = check_kernel_node(graph, node);
	if (!result) {
		handler = graph->items[node - 1].handler;
		object_ref(&handler->object);
	}
	(void)pthread_mutex_unlock(&c->graph_lock);
	if (result)
		return result;
	result = handler_clone(handler, copy_out);
	object_unref(&handler->object);
	return result;
}

/* Replaces the node's handler by the copy, and takes the copy in any case. */
static sycl_result node_replace_handler(struct graph *graph, sycl_graph_node node,
					struct handler *copy, sycl_result built)
{
	struct connection *c = graph->object.connection;
	struct handler *gone = copy;
	struct failure why;
	error_get(&why);
	if (!built) {
		built = handler_validate(copy, false);
		if (!built)
			built = graph_check_buffers(copy);
		if (built)
			error_get(&why);
	}
	if (!built) {
		(void)pthread_mutex_lock(&c->graph_lock);
		gone = graph->items[node - 1].handler;
		graph->items[node - 1].handler = copy;
		(void)pthread_mutex_unlock(&c->graph_lock);
	}
	object_unref(&gone->object);
	return built ? error_set_failure(&why) : SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_graph_node_set_value(sycl_graph handle, sycl_graph_node node,
					       uint32_t index, size_t size_bytes, const void *value)
{
	PIN(graph, graph, handle);
	struct handler *copy = NULL;
	sycl_result result = copy_node(graph, node, &copy);
	return result ? result
		      : node_replace_handler(graph, node, copy,
					     handler_set_value(copy, index, size_bytes, value));
}

SYCL_API sycl_result sycl_graph_node_set_usm(sycl_graph handle, sycl_graph_node node,
					     uint32_t index, const void *pointer)
{
	PIN(graph, graph, handle);
	struct handler *copy = NULL;
	sycl_result result = copy_node(graph, node, &copy);
	return result ? result
		      : node_replace_handler(graph, node, copy,
					     handler_set_usm(copy, index, pointer));
}

/* The number of accessors that name the requirement. */
static uint32_t buffer_users_in_graph(const struct handler *handler, uint32_t requirement)
{
	uint32_t users = 0;
	for (uint32_t i = 0; i < handler->arguments.count; i++) {
		const struct handler_argument *argument = handler_argument_at(handler, i);
		users += argument->kind == HANDLER_ARGUMENT_ACCESSOR &&
			 argument->requirement == requirement;
	}
	return users;
}

/* Removes a requirement that no argument names any more. The last requirement takes its place. */
static void change_take_out(struct handler *handler, uint32_t requirement)
{
	uint32_t last = --handler->requirements.count;
	struct handler_requirement *gone = handler_requirement_at(handler, requirement);
	object_unref(&gone->buffer->object); /* the node's own handler holds it, too */
	*gone = *handler_requirement_at(handler, last);
	for (uint32_t i = 0; i < handler->arguments.count; i++) {
		struct handler_argument *argument = handler_argument_at(handler, i);
		bool names = argument->kind == HANDLER_ARGUMENT_ACCESSOR ||
			     argument->kind == HANDLER_ARGUMENT_IMAGE;
		if (names && argument->requirement == last)
			argument->requirement = requirement;
	}
}

static sycl_result node_set_accessor(struct handler *copy, uint32_t index, struct buffer **pinned,
				     sycl_access_mode mode)
{
	if (index >= copy->arguments.count ||
	    handler_argument_at(copy, index)->kind != HANDLER_ARGUMENT_ACCESSOR)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u of the node is no accessor", index);
	uint32_t before = handler_argument_at(copy, index)->requirement;
	sycl_result result = handler_set_accessor(copy, HANDLER_ARGUMENT_ACCESSOR, index, pinned,
						  mode, 0, (*pinned)->size_bytes);
	if (!result && buffer_users_in_graph(copy, before) == 0)
		change_take_out(copy, before);
	return result;
}

SYCL_API sycl_result sycl_graph_node_set_accessor(sycl_graph handle, sycl_graph_node node,
						  uint32_t index, sycl_buffer buffer_handle,
						  sycl_access_mode mode)
{
	PIN(graph, graph, handle);
	PIN(buffer, buffer, buffer_handle);
	struct handler *copy = NULL;
	sycl_result result = copy_node(graph, node, &copy);
	return result ? result
		      : node_replace_handler(graph, node, copy,
					     node_set_accessor(copy, index, &buffer, mode));
}

static sycl_result set_range(struct handler *copy, const sycl_range *global,
			     const sycl_range *local)
{
	if (copy->is_nd != (local != NULL) || copy->dimensions != global->dimensions)
		return error_set(SYCL_ERROR_INVALID,
				 "the kind of a node's range and its dimensions stay as they are");
	sycl_result result = handler_check_range(copy, copy->kernel, global, local);
	if (result)
		return result;
	copy->is_empty = false;
	for (uint32_t i = 0; i < global->dimensions; i++) {
		copy->global[i] = global->size[i];
		copy->local[i] = local ? local->size[i] : 0;
		copy->is_empty = copy->is_empty || global->size[i] == 0;
	}
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_graph_node_update_range(sycl_graph handle, sycl_graph_node node,
						  const sycl_range *global, const sycl_range *local)
{
	PIN(graph, graph, handle);
	if (!global)
		return error_set(SYCL_ERROR_INVALID, "the global range is NULL");
	struct handler *copy = NULL;
	sycl_result result = copy_node(graph, node, &copy);
	return result ? result
		      : node_replace_handler(graph, node, copy, set_range(copy, global, local));
}

/* Nodes of an executable graph that change together. The handlers are first the new ones, then the
 * former ones. References. */
struct change {
	struct handler **handlers;
	uint32_t *places;
	uint32_t count;
};

static void change_fini(struct change *change)
{
	for (uint32_t i = 0; i < change->count; i++)
		object_unref(&change->handlers[i]->object);
	free((void *)change->handlers);
	free(change->places);
}

static sycl_result change_init(struct change *change, uint32_t count)
{
	change->handlers = malloc((count ? count : 1) * sizeof(struct handler *));
	change->places = malloc((count ? count : 1) * sizeof(*change->places));
	if (!change->handlers || !change->places)
		return error_no_memory();
	return SYCL_SUCCESS;
}

static void change_add(struct change *change, uint32_t place, struct handler *handler)
{
	object_ref(&handler->object);
	change->places[change->count] = place;
	change->handlers[change->count++] = handler;
}

static sycl_result send_update(const struct executable_graph *graph, uint32_t place,
			       const struct handler *handler)
{
	CLEANUP(group_messages_fini) struct group_messages messages;
	messages.block = messages.small;
	messages.lent = NULL;
	sycl_result result = graph_node_message(&messages, handler);
	if (result)
		return result;
	Sycl__V1__GraphUpdate update = SYCL__V1__GRAPH_UPDATE__INIT;
	update.graph = graph->remote.id;
	update.node = place;
	update.group = &messages.group;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_UPDATE;
	command.graph_update = &update;
	return connection_send(graph->object.connection, &command);
}

static void change_settle_buffers(const struct change *change)
{
	for (uint32_t n = 0; n < change->count; n++) {
		for (uint32_t i = 0; i < change->handlers[n]->requirements.count; i++) {
			const struct handler_requirement *requirement =
				handler_requirement_at(change->handlers[n], i);
			struct buffer *root = buffer_root(requirement->buffer);
			own_pages_settle(root);
			atomic_store_explicit(&root->used, 1, memory_order_relaxed);
			if (access_mode_writes(requirement->mode))
				atomic_store_explicit(&root->modified, 1, memory_order_relaxed);
		}
	}
}

/* Afterwards `change` has the former handlers, for the caller to release. */
static sycl_result change_apply(struct executable_graph *graph, struct change *change)
{
	struct connection *c = graph->object.connection;
	sycl_result result = remote_check(&graph->remote);
	if (result)
		return result;
	change_settle_buffers(change);
	(void)pthread_mutex_lock(&c->graph_lock);
	for (uint32_t i = 0; i < change->count && !result; i++) {
		struct handler *handler = change->handlers[i];
		result = send_update(graph, change->places[i], handler);
		if (result)
			break;
		change->handlers[i] = graph->nodes[change->places[i]].handler;
		graph->nodes[change->places[i]].handler = handler;
	}
	(void)pthread_mutex_unlock(&c->graph_lock);
	return result;
}

static sycl_result check_updatable(const struct executable_graph *executable,
				   const struct graph *graph)
{
	if (!(executable->flags & SYCL_GRAPH_UPDATABLE))
		return error_set_object(SYCL_ERROR_INVALID, executable->remote.id,
					"the graph was finalized without SYCL_GRAPH_UPDATABLE");
	if (executable->object.connection != graph->object.connection)
		return error_set(SYCL_ERROR_INVALID, "the graphs belong to different connections");
	return SYCL_SUCCESS;
}

static sycl_result gather_nodes(const struct executable_graph *executable,
				const struct graph *graph, uint32_t count,
				const sycl_graph_node *nodes, struct change *change)
{
	if (executable->origin != graph->number)
		return error_set(SYCL_ERROR_INVALID,
				 "the executable graph was made from another graph");
	for (uint32_t i = 0; i < count; i++) {
		sycl_result result = check_kernel_node(graph, nodes[i]);
		if (!result && nodes[i] > executable->place_count)
			result = error_set(SYCL_ERROR_INVALID,
					   "node %u was added after the executable graph was made",
					   nodes[i]);
		if (result)
			return result;
		change_add(change, executable->place[nodes[i] - 1],
			   graph->items[nodes[i] - 1].handler);
	}
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_executable_graph_update(sycl_executable_graph executable_handle,
						  sycl_graph handle, uint32_t count,
						  const sycl_graph_node *nodes)
{
	PIN(executable_graph, executable, executable_handle);
	PIN(graph, graph, handle);
	struct connection *c = graph->object.connection;
	if (count > 0 && !nodes)
		return error_set(SYCL_ERROR_INVALID, "a list of %u nodes is NULL", count);
	sycl_result result = check_updatable(executable, graph);
	CLEANUP(change_fini) struct change change = {.count = 0};
	if (!result)
		result = change_init(&change, count);
	if (result)
		return result;
	(void)pthread_mutex_lock(&c->graph_lock);
	result = gather_nodes(executable, graph, count, nodes, &change);
	(void)pthread_mutex_unlock(&c->graph_lock);
	return result ? result : change_apply(executable, &change);
}

/* With the lock. Checks that both graphs have the same nodes, edges and kernels, and gathers the
 * launches of the other one in `change`. */
static sycl_result gather_alike(const struct executable_graph *executable,
				const struct executable_graph *other, struct change *change)
{
	bool alike =
		executable->count == other->count && executable->edge_count == other->edge_count &&
		(other->edge_count == 0 || memcmp(executable->edges, other->edges,
						  other->edge_count * sizeof(*other->edges)) == 0);
	for (uint32_t i = 0; alike && i < other->count; i++) {
		const struct handler *mine = executable->nodes[i].handler;
		struct handler *theirs = other->nodes[i].handler;
		alike = executable->nodes[i].edge_count == other->nodes[i].edge_count &&
			!mine == !theirs;
		if (!alike || !mine)
			continue;
		/* Through a service a native command is a host task, too. */
		alike = mine->action == theirs->action && mine->kernel == theirs->kernel &&
			!mine->native == !theirs->native;
		if (alike && mine->action == HANDLER_ACTION_LAUNCH)
			change_add(change, i, theirs);
	}
	return alike ? SYCL_SUCCESS
		     : error_set(SYCL_ERROR_INVALID, "the graph has other nodes, edges or kernels");
}

SYCL_API sycl_result sycl_executable_graph_update_whole(sycl_executable_graph executable_handle,
							sycl_graph handle)
{
	PIN(executable_graph, executable, executable_handle);
	PIN(graph, graph, handle);
	struct connection *c = graph->object.connection;
	sycl_result result = check_updatable(executable, graph);
	CLEANUP(change_fini) struct change change = {.count = 0};
	if (!result)
		result = change_init(&change, executable->count);
	if (result)
		return result;
	/* The parts of an executable graph, without an object of the service. */
	struct executable_graph other = {.origin = graph->number};
	(void)pthread_mutex_lock(&c->graph_lock);
	result = graph_flatten(graph, &other);
	if (!result)
		result = gather_alike(executable, &other, &change);
	(void)pthread_mutex_unlock(&c->graph_lock);
	struct failure why;
	error_get(&why);
	graph_flattened_fini(&other);
	return result ? error_set_failure(&why) : change_apply(executable, &change);
}
