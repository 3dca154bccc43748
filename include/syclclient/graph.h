/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file graph.h Command graphs: command groups that are recorded once, or added by hand, and then
 * launched together many times. Each launch is one command group. They follow SYCL's extension
 * sycl_ext_oneapi_graph. The rules for all functions are at the top of result.h.
 *
 * A sycl_graph can change: queues record commands into it, or a program adds handlers as nodes.
 * sycl_graph_finalize makes a sycl_executable_graph of its present state. The executable graph
 * keeps everything that it needs, and its edges never change. A launch is complete when all nodes
 * are. A node that fails fails its successors and the launch, with its own cause. Launches of one
 * executable graph run one after the other, on any queues.
 *
 * Four things order nodes. Accessors and requirements do, as between command groups. So do events
 * of the same graph that a group depends on, the order of a recorded in-order queue, and edges made
 * by hand. A command group is evaluated once, when it is recorded, with its values, ranges and
 * memory of that time.
 */
#ifndef SYCLCLIENT_GRAPH_H
#define SYCLCLIENT_GRAPH_H

#include "handler.h"

SYCL_BEGIN_DECLS

/** A graph that can be changed. */
typedef struct sycl_graph_handle *sycl_graph;
/** A graph that can be launched. */
typedef struct sycl_executable_graph_handle *sycl_executable_graph;
/**
 * A node of a graph: its number, from 1, in the order of addition. 0: none. Nodes are never
 * removed.
 */
typedef uint32_t sycl_graph_node;

/** Bits of sycl_graph_properties. */
enum {
	/**
	 * The program keeps every buffer of the graph until the graph and its executable graphs
	 * have ended. Without this bit the graph keeps them.
	 */
	SYCL_GRAPH_ASSUME_BUFFER_OUTLIVES_GRAPH = 1
};

/** Properties of a graph. Start from SYCL_GRAPH_PROPERTIES_INIT. */
struct sycl_graph_properties {
	uint32_t struct_bytes; /**< sizeof(struct sycl_graph_properties) */
	uint32_t flags;        /**< SYCL_GRAPH_... */
};
#define SYCL_GRAPH_PROPERTIES_INIT                                                                 \
	{                                                                                          \
		sizeof(struct sycl_graph_properties), 0                                            \
	}

/** Bits of sycl_graph_finalize_properties. */
enum {
	SYCL_GRAPH_UPDATABLE = 1,       /**< its nodes can be updated */
	SYCL_GRAPH_ENABLE_PROFILING = 2 /**< launches on queues with profiling have times */
};

/** Properties of an executable graph. Start from SYCL_GRAPH_FINALIZE_PROPERTIES_INIT. */
struct sycl_graph_finalize_properties {
	uint32_t struct_bytes; /**< sizeof(struct sycl_graph_finalize_properties) */
	uint32_t flags;        /**< SYCL_GRAPH_UPDATABLE, SYCL_GRAPH_ENABLE_PROFILING */
};
#define SYCL_GRAPH_FINALIZE_PROPERTIES_INIT                                                        \
	{                                                                                          \
		sizeof(struct sycl_graph_finalize_properties), 0                                   \
	}

/** States of a queue: whether submitted groups run or are recorded. */
typedef enum sycl_queue_state {
	SYCL_QUEUE_EXECUTING = 0,
	SYCL_QUEUE_RECORDING = 1
} sycl_queue_state;

/** Types of nodes. */
typedef enum sycl_graph_node_type {
	SYCL_GRAPH_NODE_EMPTY = 0, /**< it only orders */
	SYCL_GRAPH_NODE_SUBGRAPH = 1,
	SYCL_GRAPH_NODE_KERNEL = 2,
	SYCL_GRAPH_NODE_MEMCPY = 3, /**< a copy of any kind; an update of the host */
	SYCL_GRAPH_NODE_MEMSET = 4, /**< a fill, of a buffer or of USM */
	SYCL_GRAPH_NODE_PREFETCH = 5,
	SYCL_GRAPH_NODE_MEMADVISE = 6,
	SYCL_GRAPH_NODE_BARRIER = 7, /**< a recorded sycl_queue_barrier */
	SYCL_GRAPH_NODE_HOST_TASK = 8,
	SYCL_GRAPH_NODE_EVENT = 9, /**< records a shared event or waits for one */
	SYCL_GRAPH_NODE_NATIVE_COMMAND = 10,
	SYCL_GRAPH_NODE_CONDITIONAL = 11 /**< IF or WHILE: runs another graph under a condition */
} sycl_graph_node_type;

/**
 * Make a graph of command groups for one device. Never blocks.
 *
 * @param context         The context.
 * @param device          One of the context's.
 * @param properties      NULL: none.
 * @param[out] graph_out  The caller releases it with sycl_graph_release.
 * @retval SYCL_ERROR_INVALID                The context has no such device; wrong struct_bytes or
 *                                           flags.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The service is older than graphs.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_create(sycl_context context, sycl_device device,
				       const struct sycl_graph_properties *properties,
				       sycl_graph *graph_out);
/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_graph_retain(sycl_graph graph);
/**
 * Release one reference. The last one ends its recordings. Its executable graphs stay. Never
 * blocks.
 * @since 0.1
 *
 * @example
 *	sycl_executable_graph executable = NULL;
 *	result = sycl_graph_finalize(graph, NULL, &executable);
 *	(void)sycl_graph_release(graph); // the executable graph stays
 */
SYCL_API sycl_result sycl_graph_release(sycl_graph graph);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_get_reference_count(sycl_graph graph, uint32_t *count_out);
/**
 * Get the context of a graph. Never blocks.
 *
 * @param[out] context_out  The caller releases it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_get_context(sycl_graph graph, sycl_context *context_out);
/**
 * Get the device of a graph. Never blocks.
 *
 * @param[out] device_out  The caller releases it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_get_device(sycl_graph graph, sycl_device *device_out);

/**
 * Begin to record queues: from now on, groups submitted to them become nodes of the graph and are
 * not executed. A queue that this graph records already stays so. The call succeeds for all of
 * them, or for none. Never blocks.
 *
 * Recording extends to another queue of the same context and device when a group there depends on
 * an event of the recording. Events of recorded groups stand for nodes: groups of the same graph
 * can depend on them. Waiting for such an event, or a query of its state or times, is
 * SYCL_ERROR_INVALID. So is a wait on a recorded queue, and a group that depends on an event
 * outside of the graph.
 *
 * A graph cannot record a buffer that is written back to host memory: the submission gets
 * SYCL_ERROR_INVALID. Copies between USM and the program's own memory get
 * SYCL_ERROR_FEATURE_NOT_SUPPORTED: use host tasks or host USM. A copy from the program's memory to
 * a buffer reads that memory at each launch, so it must stay valid. Between a buffer and host USM
 * the device copies. When a host task for native
 * handles begins, its predecessors have ended, and nothing else is ordered before it. Through a
 * service neither it nor a native command can be recorded (native_command.h):
 * SYCL_ERROR_FEATURE_NOT_SUPPORTED.
 *
 * While a graph uses a buffer, a host accessor on it is SYCL_ERROR_INVALID. Release the graph
 * first; its executable graphs allow host accessors.
 *
 * @param count   How many queues.
 * @param queues  Queues of the graph's context and device.
 * @retval SYCL_ERROR_INVALID  A queue of another context or device, or one that another graph
 *                             records.
 * @since 0.1
 *
 * @example
 *	sycl_executable_graph executable = NULL;
 *	const sycl_range range = sycl_range1(1000);
 *	result = sycl_graph_begin_recording(graph, 1, &queue);
 *	if (result == SYCL_SUCCESS)
 *		result = SYCL_LAUNCH(queue, kernel, range, NULL, SYCL_READ_WRITE(buffer));
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_graph_end_recording(graph, 1, &queue);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_graph_finalize(graph, NULL, &executable);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_queue_graph(queue, executable, 0, NULL, NULL);
 */
SYCL_API sycl_result sycl_graph_begin_recording(sycl_graph graph, uint32_t count,
						const sycl_queue *queues);
/**
 * End the recording of queues: they execute again. A queue that no graph records is no error. Never
 * blocks.
 *
 * @param count   0: all queues that the graph records.
 * @param queues  The queues; NULL if count is 0.
 * @retval SYCL_ERROR_INVALID  Another graph records one of them. Nothing has changed.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_end_recording(sycl_graph graph, uint32_t count,
					      const sycl_queue *queues);
/**
 * Get the state of a queue: does a graph record it? Never blocks.
 *
 * @param[out] state_out  The state.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_get_state(sycl_queue queue, sycl_queue_state *state_out);

/**
 * Add a command group as a node, and end its handler, also on failure. The handler must have been
 * begun on a queue of the graph's context and device. That queue need not be recorded, and gets
 * nothing. The node comes after the given predecessors, and after the nodes that its accessors and
 * events require. A handler without content is an empty node. Never blocks.
 *
 * @param graph          The graph.
 * @param handler        Must not be used after this call.
 * @param count          How many predecessors.
 * @param predecessors   Nodes of the graph; NULL if count is 0.
 * @param[out] node_out  The new node; may be NULL.
 * @retval SYCL_ERROR_INVALID  Another context or device; no such node; a buffer or an event that
 *                             sycl_graph_begin_recording does not allow.
 * @retval SYCL_ERROR_QUOTA    More nodes or edges than a graph may have.
 * @return Otherwise what sycl_queue_submit returns for wrong arguments.
 * @since 0.1
 *
 * @example
 *	sycl_graph_node first = 0;
 *	result = sycl_graph_add(graph, handler, 0, NULL, &first);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_handler_begin(queue, &handler);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_handler_copy_to_host(handler, buffer, 0, pointer, bytes);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_graph_add(graph, handler, 1, &first, NULL);
 */
SYCL_API sycl_result sycl_graph_add(sycl_graph graph, sycl_handler handler, uint32_t count,
				    const sycl_graph_node *predecessors, sycl_graph_node *node_out);
/** Add a node that only orders. Otherwise as sycl_graph_add. @since 0.1 */
SYCL_API sycl_result sycl_graph_add_empty(sycl_graph graph, uint32_t count,
					  const sycl_graph_node *predecessors,
					  sycl_graph_node *node_out);
/**
 * Make an edge: `successor` comes after `predecessor`. An edge that exists already is no error.
 * Never blocks.
 *
 * @param predecessor  A node of the graph.
 * @param successor    Another node of the graph.
 * @retval SYCL_ERROR_INVALID  No such node, both are the same, or the edge would make a cycle.
 *                             Nothing has changed.
 * @retval SYCL_ERROR_QUOTA    More edges than a graph may have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_make_edge(sycl_graph graph, sycl_graph_node predecessor,
					  sycl_graph_node successor);
/**
 * Get the number of nodes. They are 1 to this number. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_get_node_count(sycl_graph graph, uint32_t *count_out);
/**
 * Get the type of a node. Never blocks.
 *
 * @param node           The node.
 * @param[out] type_out  The type.
 * @retval SYCL_ERROR_INVALID  No such node.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_get_type(sycl_graph graph, sycl_graph_node node,
					      sycl_graph_node_type *type_out);
/**
 * List the direct predecessors of a node. Never blocks.
 *
 * @param node            The node.
 * @param capacity        Room in nodes_out; 0: only count.
 * @param[out] nodes_out  Up to `capacity` nodes. NULL if capacity is 0.
 * @param[out] count_out  How many there are, also beyond `capacity`.
 * @retval SYCL_ERROR_INVALID  No such node.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_get_predecessors(sycl_graph graph, sycl_graph_node node,
						      uint32_t capacity, sycl_graph_node *nodes_out,
						      uint32_t *count_out);
/** List the direct successors of a node. As sycl_graph_node_get_predecessors. @since 0.1 */
SYCL_API sycl_result sycl_graph_node_get_successors(sycl_graph graph, sycl_graph_node node,
						    uint32_t capacity, sycl_graph_node *nodes_out,
						    uint32_t *count_out);
/**
 * Get the node of a recorded event. Never blocks.
 *
 * @param event          An event of a group that this graph recorded.
 * @param[out] node_out  The node.
 * @retval SYCL_ERROR_INVALID  An event of another graph, or of none.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_from_event(sycl_graph graph, sycl_event event,
						sycl_graph_node *node_out);

/**
 * Make an executable graph of the graph's present state. The library sends it to the service once,
 * in this call. A graph can be finalized many times. Never waits for a device. The functions of its
 * native commands are called before this returns, each once. An embedded engine calls them on its
 * own thread; with a service, this thread calls them.
 *
 * @param graph           The graph; it stays as it is.
 * @param properties      NULL: none.
 * @param[out] graph_out  The caller releases it with sycl_executable_graph_release. It keeps what
 *                        its nodes use.
 * @retval SYCL_ERROR_INVALID                Wrong struct_bytes or flags; a node reads a part of a
 *                                           temporary that no earlier node has written
 *                                           (sycl_buffer_create_temporary).
 * @retval SYCL_ERROR_QUOTA                  More nodes, those of sub-graphs included, than a graph
 *                                           may have; more objects than the session may have.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  It has conditional nodes, and also something that such
 *                                           a graph cannot have (sycl_handler_graph_conditional).
 *                                           It has native commands, and the device lacks
 *                                           SYCL_ASPECT_EXT_ONEAPI_LIMITED_GRAPH, or its driver
 *                                           cannot take the whole graph.
 * @return A native command's failure.
 * @since 0.1
 *
 * @example
 *	sycl_graph steps = NULL;
 *	sycl_executable_graph executable = NULL;
 *	result = sycl_graph_create(NULL, device, NULL, &steps);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_graph_add(steps, handler, 0, NULL, NULL);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_graph_finalize(steps, NULL, &executable);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_queue_graph(queue, executable, 0, NULL, NULL);
 */
SYCL_API sycl_result sycl_graph_finalize(sycl_graph graph,
					 const struct sycl_graph_finalize_properties *properties,
					 sycl_executable_graph *graph_out);
/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_executable_graph_retain(sycl_executable_graph graph);
/**
 * Release one reference. Launches continue. Never waits for a device.
 * @since 0.1
 *
 * @example
 *	sycl_executable_graph executable = NULL;
 *	result = sycl_graph_finalize(graph, NULL, &executable);
 *	if (result == SYCL_SUCCESS) {
 *		result = sycl_queue_graph(queue, executable, 0, NULL, NULL);
 *		(void)sycl_executable_graph_release(executable); // the launch continues
 *	}
 */
SYCL_API sycl_result sycl_executable_graph_release(sycl_executable_graph graph);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_executable_graph_get_reference_count(sycl_executable_graph graph,
							       uint32_t *count_out);
/**
 * Query whether the nodes of an executable graph can be updated. Never blocks.
 *
 * @param[out] updatable_out  1 or 0.
 * @since 0.1
 */
SYCL_API sycl_result sycl_executable_graph_is_updatable(sycl_executable_graph graph,
							uint32_t *updatable_out);

/**
 * Set the action: launch a graph. The group may depend on events and has an event of its own. On a
 * queue that is recorded, or as a node of another graph, it is a sub-graph: its nodes become nodes
 * of that graph. Its nodes require what they need, so the group itself requires no buffers. Never
 * blocks.
 *
 * On a queue with profiling the event of a launch has times if the graph was finalized with
 * SYCL_GRAPH_ENABLE_PROFILING. They are the first start and the last end of its nodes. Otherwise a
 * request for them is SYCL_ERROR_INVALID.
 *
 * @param graph  The executable graph.
 * @retval SYCL_ERROR_INVALID  The group has an action already; a graph for another context or
 *                             device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_graph(sycl_handler handler, sycl_executable_graph graph);
/**
 * Submit a command group that launches a graph. Blocks as sycl_queue_submit: never for a device.
 *
 * @param queue           Of the graph's context and device.
 * @param graph           The executable graph.
 * @param count           How many events the launch depends on.
 * @param depends_on      The events; NULL if count is 0.
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @return As sycl_handler_graph, sycl_handler_depends_on and sycl_queue_submit.
 * @since 0.1
 *
 * @example
 *	sycl_executable_graph executable = NULL;
 *	result = sycl_graph_finalize(graph, NULL, &executable);
 *	for (int i = 0; result == SYCL_SUCCESS && i < 100; i++)
 *		result = sycl_queue_graph(queue, executable, 0, NULL, NULL);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_queue_wait(queue);
 */
SYCL_API sycl_result sycl_queue_graph(sycl_queue queue, sycl_executable_graph graph, uint32_t count,
				      const sycl_event *depends_on, sycl_event *event_out);

/** When a conditional node runs its body. */
typedef enum sycl_graph_condition_type {
	SYCL_GRAPH_CONDITION_IF = 1,   /**< once, if the word is not 0 */
	SYCL_GRAPH_CONDITION_WHILE = 2 /**< repeatedly while the word is not 0, so perhaps never */
} sycl_graph_condition_type;

/**
 * Set the action: run another graph, the body, under a condition. The group must become a node: it
 * must be recorded, or added with sycl_graph_add. It cannot be submitted by itself. Never blocks.
 *
 * The condition is a word of 32 bits in a buffer, true if it is not 0. The device reads it when
 * every predecessor of the node has ended. For a WHILE node it reads it again after each run of the
 * body. Kernels, fills and copies of either graph write the word. The host is not involved, so a
 * loop needs no round trip.
 *
 * The node keeps a reference to the body, so the caller may release it. sycl_graph_finalize copies
 * the body's nodes; later updates of the body change nothing. For the order of nodes, the node
 * reads the word and does all that the body does, whether the body runs or not. Its successors wait
 * for the last run. Memory that a skipped body would have written keeps its contents. A body may
 * have conditional nodes of its own, up to 8 levels.
 *
 * A graph with conditional nodes is always launched as one. So it cannot have host tasks, copies
 * between buffers and the program's memory that is no host USM, updates of the host or shared
 * events. It cannot be finalized with SYCL_GRAPH_UPDATABLE, and its temporaries lie in ordinary
 * device memory. A WHILE node whose word never becomes 0 is ended like an endless kernel
 * (`group_seconds` in sycld.conf(5)).
 *
 * @param type          IF or WHILE.
 * @param buffer        Contains the word; no temporary. The group gets a read access to it. The
 *                      node keeps a reference.
 * @param offset_bytes  Where the word begins, from the beginning of this buffer. It must be a
 *                      multiple of 4; in a sub-buffer that counts from the beginning of its
 *                      root.
 * @param body          A graph of the queue's context and device with at least one node. Its nodes
 *                      may be kernels, fills, copies between buffers and USM, hints, empty nodes
 *                      and conditional nodes. None may use a temporary.
 * @retval SYCL_ERROR_INVALID                The group has an action already; no such type; the word
 *                                           lies outside of the buffer or not at a multiple of 4;
 *                                           the body is of another context or device, has no nodes,
 *                                           or has nodes of other kinds. From sycl_queue_submit: no
 *                                           graph records the queue.
 * @retval SYCL_ERROR_QUOTA                  More than 8 levels of bodies.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device lacks SYCL_ASPECT_EXT_GRAPH_CONDITIONS; the
 *                                           service is older; the word or the body uses a
 *                                           temporary. From sycl_graph_finalize:
 *                                           SYCL_GRAPH_UPDATABLE was given, or the graph has nodes
 *                                           that it cannot have (above). From the event of a
 *                                           launch: the driver refuses the graph.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_graph_conditional(sycl_handler handler,
						    sycl_graph_condition_type type,
						    sycl_buffer buffer, uint64_t offset_bytes,
						    sycl_executable_graph body);
/**
 * Set the action: run the body under a condition whose word is in USM that the queue's device can
 * read. USM orders nothing: add an edge from each node that writes the word to this one. Never
 * blocks. Otherwise as sycl_handler_graph_conditional.
 *
 * @param pointer  The word, inside an allocation of USM of the queue's context, at a multiple of 4.
 *                 It must live as long as the graph is launched.
 * @return As sycl_handler_graph_conditional.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_graph_conditional_usm(sycl_handler handler,
							sycl_graph_condition_type type,
							const void *pointer,
							sycl_executable_graph body);

/**
 * Give a node that launches a kernel another value as an argument. Executable graphs that were made
 * before do not change, until sycl_executable_graph_update. Never blocks.
 *
 * @param node        The node.
 * @param index       The argument's number, from 0.
 * @param size_bytes  The size of the value.
 * @param value       Copied now.
 * @retval SYCL_ERROR_INVALID  No such node, or it launches no kernel.
 * @return Otherwise as sycl_handler_set_value and sycl_queue_submit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_set_value(sycl_graph graph, sycl_graph_node node,
					       uint32_t index, size_t size_bytes,
					       const void *value);
/**
 * Give a node another pointer into USM as an argument. As sycl_graph_node_set_value and
 * sycl_handler_set_usm.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_set_usm(sycl_graph graph, sycl_graph_node node, uint32_t index,
					     const void *pointer);
/**
 * Give a node another accessor as an argument. Edges stay as they are. The existing edges, and the
 * other buffer's own use at the time of the launch, must give the order that it needs. As
 * sycl_graph_node_set_value and sycl_handler_set_accessor.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_set_accessor(sycl_graph graph, sycl_graph_node node,
						  uint32_t index, sycl_buffer buffer,
						  sycl_access_mode mode);
/**
 * Give a node that launches a kernel another range. The kind of range and its dimensions stay. As
 * sycl_graph_node_set_value, and sycl_handler_parallel_for or sycl_handler_parallel_for_nd.
 *
 * @param global  All work-items.
 * @param local   The work-items of one work-group; NULL for a basic range.
 * @retval SYCL_ERROR_INVALID  Another kind of range, or other dimensions.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_update_range(sycl_graph graph, sycl_graph_node node,
						  const sycl_range *global,
						  const sycl_range *local);
/**
 * Update nodes of an executable graph: they take the present arguments and ranges of the same nodes
 * of its graph, from the next launch on. Earlier launches do not change. The call updates all
 * nodes, or none. Blocks as sycl_queue_submit: never for a device.
 *
 * @param executable  The executable graph.
 * @param graph       The graph that it was made from.
 * @param count       How many nodes.
 * @param nodes       Nodes of the graph.
 * @retval SYCL_ERROR_INVALID  It was not finalized with SYCL_GRAPH_UPDATABLE; it was made from
 *                             another graph; a node that it does not have, or that launches no
 *                             kernel.
 * @since 0.1
 */
SYCL_API sycl_result sycl_executable_graph_update(sycl_executable_graph executable,
						  sycl_graph graph, uint32_t count,
						  const sycl_graph_node *nodes);
/**
 * Update all nodes of an executable graph. From the next launch on they use the kernels' arguments
 * and ranges of a graph with the same structure. That graph needs as many nodes of the same types,
 * with the same edges, in the same order, and the same kernels. Blocks as sycl_queue_submit: never
 * for a device.
 *
 * @param executable  The executable graph.
 * @param graph       The other graph.
 * @retval SYCL_ERROR_INVALID  It was not finalized with SYCL_GRAPH_UPDATABLE; the other graph has
 *                             another structure. Nothing has changed.
 * @since 0.1
 */
SYCL_API sycl_result sycl_executable_graph_update_whole(sycl_executable_graph executable,
							sycl_graph graph);

/**
 * Enable or disable a node of an executable graph, from its next launch on. All nodes are enabled
 * at first. A disabled node does nothing, but its successors still wait for its predecessors.
 * Memory that it would have written keeps its contents. A temporary that only it would have written
 * has undefined contents. Earlier launches do not change. A disabled node can be updated; the
 * update counts when it is enabled again. On CUDA the driver skips the node where it can. Elsewhere
 * the graph is built again or launched node by node. Blocks as sycl_queue_submit does: never for a
 * device.
 *
 * @param executable  The executable graph.
 * @param graph       The graph that it was finalized from.
 * @param node        A node of that graph that launches a kernel, copies or fills; not a node of a
 *                    sub-graph.
 * @param enabled     0 disables the node, any other value enables it.
 * @retval SYCL_ERROR_INVALID                The executable graph was not finalized with
 *                                           SYCL_GRAPH_UPDATABLE, or from another graph; there is
 *                                           no such node, or it is of another type.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The service is older than this call.
 * @since 0.1
 */
SYCL_API sycl_result sycl_executable_graph_set_node_enabled(sycl_executable_graph executable,
							    sycl_graph graph, sycl_graph_node node,
							    int enabled);
/**
 * Query whether a node of an executable graph is enabled. Works for any executable graph. Never
 * blocks. Otherwise as sycl_executable_graph_set_node_enabled.
 *
 * @param[out] enabled_out  1: later launches run it. 0: they do not.
 * @since 0.1
 */
SYCL_API sycl_result sycl_executable_graph_is_node_enabled(sycl_executable_graph executable,
							   sycl_graph graph, sycl_graph_node node,
							   uint32_t *enabled_out);

SYCL_END_DECLS
#endif
