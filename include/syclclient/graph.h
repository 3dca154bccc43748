/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file graph.h Command graphs: command groups that are recorded once, or added by hand, and then launched together as
 * often as wanted, each time as one command group. After SYCL's extension sycl_ext_oneapi_graph. The rules for all
 * functions are at the top of result.h.
 *
 * A sycl_graph can be changed: commands are recorded into it from queues, or handlers added to it as nodes. Finalizing
 * makes a sycl_executable_graph of what it is then, which keeps everything that it needs and whose edges never change. A launch of it is complete when all nodes are; a node that fails fails those behind it and the launch, with
 * its own cause. Launches of one executable graph run one after the other, on whichever queues.
 *
 * What comes behind what inside of a graph: accessors and requirements, as between command groups; events of
 * the same graph that a group depends on; the order of an in-order queue that is recorded; edges that were made
 * by hand. A command group is evaluated when it is recorded, once: its values, ranges and memory are those of that
 * time.
 */
#ifndef SYCLCLIENT_GRAPH_H
#define SYCLCLIENT_GRAPH_H

#include "handler.h"

SYCL_BEGIN_DECLS

/** A graph that can be changed. */
typedef struct sycl_graph_handle *sycl_graph;
/** A graph that can be launched. */
typedef struct sycl_executable_graph_handle *sycl_executable_graph;
/** A node of a graph, as the graph counts them: from 1, in the order in which they came. 0 is none. Nodes never go. */
typedef uint32_t sycl_graph_node;

/** Bits of sycl_graph_properties. */
enum {
	/**
	 * The program keeps every buffer that it uses in the graph until the graph and what was made of it have gone.
	 * Without it the graph keeps them itself.
	 */
	SYCL_GRAPH_ASSUME_BUFFER_OUTLIVES_GRAPH = 1
};

/** What a graph is. Start from SYCL_GRAPH_PROPERTIES_INIT. */
struct sycl_graph_properties {
	uint32_t struct_bytes; /**< sizeof(struct sycl_graph_properties) */
	uint32_t flags;        /**< SYCL_GRAPH_... */
};
#define SYCL_GRAPH_PROPERTIES_INIT { sizeof(struct sycl_graph_properties), 0 }

/** Bits of sycl_graph_finalize_properties. */
enum {
	SYCL_GRAPH_UPDATABLE = 1,       /**< its nodes can get other arguments and ranges */
	SYCL_GRAPH_ENABLE_PROFILING = 2 /**< launches on queues with profiling have times */
};

/** What an executable graph can do. Start from SYCL_GRAPH_FINALIZE_PROPERTIES_INIT. */
struct sycl_graph_finalize_properties {
	uint32_t struct_bytes; /**< sizeof(struct sycl_graph_finalize_properties) */
	uint32_t flags;        /**< SYCL_GRAPH_UPDATABLE, SYCL_GRAPH_ENABLE_PROFILING */
};
#define SYCL_GRAPH_FINALIZE_PROPERTIES_INIT { sizeof(struct sycl_graph_finalize_properties), 0 }

/** What a queue does with what is submitted. */
typedef enum sycl_queue_state {
	SYCL_QUEUE_EXECUTING = 0,
	SYCL_QUEUE_RECORDING = 1
} sycl_queue_state;

/** What a node does. */
typedef enum sycl_graph_node_type {
	SYCL_GRAPH_NODE_EMPTY = 0,    /**< nothing: it only orders */
	SYCL_GRAPH_NODE_SUBGRAPH = 1,
	SYCL_GRAPH_NODE_KERNEL = 2,
	SYCL_GRAPH_NODE_MEMCPY = 3,   /**< a copy, of whatever kind; an update of the host */
	SYCL_GRAPH_NODE_MEMSET = 4,   /**< a fill, of a buffer or of USM */
	SYCL_GRAPH_NODE_PREFETCH = 5,
	SYCL_GRAPH_NODE_MEMADVISE = 6,
	SYCL_GRAPH_NODE_BARRIER = 7,  /**< a queue's, recorded */
	SYCL_GRAPH_NODE_HOST_TASK = 8,
	SYCL_GRAPH_NODE_EVENT = 9,    /**< a shared event is recorded or waited for */
	SYCL_GRAPH_NODE_NATIVE_COMMAND = 10,
	SYCL_GRAPH_NODE_CONDITIONAL = 11 /**< IF or WHILE: runs another graph under a condition */
} sycl_graph_node_type;

/**
 * A graph of command groups for one device. Never blocks.
 *
 * @param device         One of the context's.
 * @param properties     NULL: none.
 * @param[out] graph_out The caller's: sycl_graph_release.
 * @retval SYCL_ERROR_INVALID                The context has no such device; wrong struct_bytes or flags.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The service is an older one, without graphs.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_create(sycl_context context, sycl_device device,
				       const struct sycl_graph_properties *properties, sycl_graph *graph_out);
/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_graph_retain(sycl_graph graph);
/**
 * End one reference. The last one ends its recordings; executable graphs made of it live on. Never blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_release(sycl_graph graph);
/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_graph_get_reference_count(sycl_graph graph, uint32_t *count_out);
/** Its context. The caller's reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_graph_get_context(sycl_graph graph, sycl_context *context_out);
/** Its device. The caller's reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_graph_get_device(sycl_graph graph, sycl_device *device_out);

/**
 * From now on what is submitted to these queues becomes nodes of the graph and is not executed. A queue that
 * is recorded by this graph already stays so. All of them, or none. Never blocks.
 *
 * Another queue of the same context and device, to which a group is submitted that depends on an event of a recording,
 * is recorded, too, from that group on. Events of what is recorded stand for nodes: groups of the same graph can
 * depend on them; waiting for one, asking for its state or its times is SYCL_ERROR_INVALID, and so is a wait on a
 * queue that is recorded, or a group that depends on an event of another graph or of none.
 *
 * What a graph cannot record is SYCL_ERROR_INVALID when it is submitted: a buffer that is written back to host memory. Copies between USM and memory of the program's own are SYCL_ERROR_FEATURE_NOT_SUPPORTED: use host tasks for
 * these, or USM of the host. A copy from the program's memory to a buffer reads that memory at each
 * launch: it must stay. A host task for native handles has what its node comes behind done when it begins, and nothing else. Through a
 * service neither it nor a native command can be recorded (native_command.h): SYCL_ERROR_FEATURE_NOT_SUPPORTED.
 *
 * As long as a graph uses a buffer, a host accessor on it is SYCL_ERROR_INVALID: release the graph first. Its
 * executable graphs do not forbid it.
 *
 * @retval SYCL_ERROR_INVALID  A queue of another context or device, or one that another graph records.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_begin_recording(sycl_graph graph, uint32_t count, const sycl_queue *queues);
/**
 * These queues execute again. `count` 0: all that the graph records. A queue that is not recorded by it is no error if
 * it executes. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  Another graph records one of them. Nothing has changed.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_end_recording(sycl_graph graph, uint32_t count, const sycl_queue *queues);
/** Is the queue recorded? A sycl_queue_state. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_queue_get_state(sycl_queue queue, sycl_queue_state *state_out);

/**
 * Add a command group as a node, and end its handler, also on failure. The handler was begun on a queue of the graph's
 * context and device, which need not be recorded and gets nothing. It comes behind the predecessors, and what it needs
 * by its accessors and by the events that it depends on. A handler without anything is an empty node. Never blocks.
 *
 * @param count          How many predecessors there are; `predecessors` may be NULL if 0.
 * @param[out] node_out  May be NULL.
 * @retval SYCL_ERROR_INVALID  Another context or device; no such node; what sycl_graph_begin_recording says of buffers
 * and events.
 * @retval SYCL_ERROR_QUOTA    More nodes or edges than a graph may have.
 * @return Otherwise what sycl_handler_submit returns for arguments that are wrong.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_add(sycl_graph graph, sycl_handler handler, uint32_t count,
				    const sycl_graph_node *predecessors, sycl_graph_node *node_out);
/** A node that only orders. As sycl_graph_add. @since 0.1 */
SYCL_API sycl_result sycl_graph_add_empty(sycl_graph graph, uint32_t count, const sycl_graph_node *predecessors,
					  sycl_graph_node *node_out);
/**
 * `successor` comes behind `predecessor`. One that is there already is no error. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  No such node, both are one, or it would make a cycle: nothing has changed.
 * @retval SYCL_ERROR_QUOTA    More edges than a graph may have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_make_edge(sycl_graph graph, sycl_graph_node predecessor, sycl_graph_node successor);
/** How many nodes it has: they are 1 to this. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_graph_get_node_count(sycl_graph graph, uint32_t *count_out);
/** What a node is. SYCL_ERROR_INVALID: no such node. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_graph_node_get_type(sycl_graph graph, sycl_graph_node node, sycl_graph_node_type *type_out);
/**
 * What a node comes behind, directly. `nodes_out` may be NULL if `capacity` is 0; `count_out`: how many there are,
 * which may be more than were written. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  No such node.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_get_predecessors(sycl_graph graph, sycl_graph_node node, uint32_t capacity,
						      sycl_graph_node *nodes_out, uint32_t *count_out);
/** What comes behind it. As sycl_graph_node_get_predecessors. @since 0.1 */
SYCL_API sycl_result sycl_graph_node_get_successors(sycl_graph graph, sycl_graph_node node, uint32_t capacity,
						    sycl_graph_node *nodes_out, uint32_t *count_out);
/**
 * The node of a recorded event. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  An event of another graph, or of none.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_from_event(sycl_graph graph, sycl_event event, sycl_graph_node *node_out);

/**
 * An executable graph of what the graph is now. It is sent to the service once, here; as often as wanted. Never waits
 * for a device. The functions of native commands in it are called before this returns, each once: in process on a thread of the engine's, through a service on this one.
 *
 * @param properties      NULL: none.
 * @param[out] graph_out  The caller's: sycl_executable_graph_release. It keeps what its nodes use.
 * @retval SYCL_ERROR_INVALID  Wrong struct_bytes or flags; a node needs what none before it has written of a temporary
 *                             (sycl_buffer_create_temporary).
 * @retval SYCL_ERROR_QUOTA    More nodes, with those of sub-graphs, than a graph may have; more objects than the
 * session may have.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  It has conditional nodes, and also something that a graph with those cannot have
 *                                           (sycl_handler_graph_conditional). It has native commands, and the device lacks SYCL_ASPECT_EXT_ONEAPI_LIMITED_GRAPH
 *                                          , or its driver cannot take all of the graph.
 * @return A native command's failure.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_finalize(sycl_graph graph, const struct sycl_graph_finalize_properties *properties,
					 sycl_executable_graph *graph_out);
/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_executable_graph_retain(sycl_executable_graph graph);
/** End one reference; what was launched goes on. Never waits for a device. @since 0.1 */
SYCL_API sycl_result sycl_executable_graph_release(sycl_executable_graph graph);
/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_executable_graph_get_reference_count(sycl_executable_graph graph, uint32_t *count_out);
/** 1: its nodes can be updated. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_executable_graph_is_updatable(sycl_executable_graph graph, uint32_t *updatable_out);

/**
 * Launch a graph, as the action of a command group: with events that it depends on, and an event of its own. On
 * a queue that is recorded, or added to a graph, it is a sub-graph: its nodes become nodes of that graph. Its
 * nodes require what they need, so the group itself requires no buffers. Never blocks.
 *
 * The event of a launch on a queue with profiling has times if the graph was finalized with
 * SYCL_GRAPH_ENABLE_PROFILING: the first start and the last end of its nodes. Without it asking for them is
 * SYCL_ERROR_INVALID.
 *
 * @retval SYCL_ERROR_INVALID  The handler has its action already; a graph for another context or device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_graph(sycl_handler handler, sycl_executable_graph graph);
/**
 * sycl_handler_graph as a command group that depends on some events. Blocks as sycl_handler_submit: never for a device.
 *
 * @param count           How many events there are; `depends_on` may be NULL if 0.
 * @param[out] event_out  The caller's to release; NULL: no event is made.
 * @return As sycl_handler_graph, sycl_handler_depends_on and sycl_handler_submit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_graph(sycl_queue queue, sycl_executable_graph graph, uint32_t count,
				      const sycl_event *depends_on, sycl_event *event_out);

/** When a conditional node runs its body. */
typedef enum sycl_graph_condition_type {
	SYCL_GRAPH_CONDITION_IF = 1,   /**< once, if the word is not 0 */
	SYCL_GRAPH_CONDITION_WHILE = 2 /**< again and again while the word is not 0; not at all if it is 0 at first */
} sycl_graph_condition_type;

/**
 * The action of a command group: a node of a graph that runs another graph, its body, under a condition. The group must be
 * recorded, or added to a graph with sycl_graph_add; it cannot be submitted by itself.
 *
 * The condition is a word of 32 bits in a buffer, true if it is not 0. The device reads it when every predecessor of the node has ended;
 * for a WHILE node it reads it again after each run of the body. Kernels, fills and copies of either graph write the word. The host is not
 * involved, so a loop costs no round trip.
 *
 * The node keeps a reference to the body, so the caller may release it. sycl_graph_finalize copies the body's nodes; a later update of
 * the body changes nothing. For ordering, the node reads the word and
 * does all that the body does, whether the body runs or not; successors of the node wait for the last run. Memory that a skipped body
 * would have written keeps its contents. A body may have conditional nodes of its own, up to 8 levels.
 *
 * A graph with conditional nodes is always launched as one. So it cannot have host tasks, copies from memory of the program, updates
 * of the host or shared events; it cannot be finalized with SYCL_GRAPH_UPDATABLE; and its temporaries lie in ordinary device memory. A WHILE
 * whose word never becomes 0 is ended like an endless kernel (`group_seconds` in sycld.conf(5)). Never blocks.
 *
 * @param buffer        Holds the word; not a temporary. The group gets a read access to it. The node keeps a reference.
 * @param offset_bytes  Where the word begins, from the beginning of this buffer; a multiple of 4, in a sub-buffer from the beginning of its root.
 * @param body          A graph of the queue's context and device with at least one node. Its nodes may be kernels, fills, copies between
 *                      buffers and USM, hints, empty nodes and conditional nodes; none may use a temporary.
 * @retval SYCL_ERROR_INVALID  The handler already has an action; `type` is none; the word lies outside of the buffer or not at a multiple
 *                             of 4; the body is of another context or device, has no nodes, or has nodes of other kinds. From
 *                             sycl_handler_submit: the queue is not being recorded.
 * @retval SYCL_ERROR_QUOTA    More than 8 levels of bodies.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device lacks SYCL_ASPECT_EXT_GRAPH_CONDITIONS; the service is an older one; the word or
 *                                           the body uses a temporary. From sycl_graph_finalize: SYCL_GRAPH_UPDATABLE was given, or the graph has nodes
 *                                           that it cannot have (above). From the event of a launch: the driver refuses the graph.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_graph_conditional(sycl_handler handler, sycl_graph_condition_type type, sycl_buffer buffer,
						    uint64_t offset_bytes, sycl_executable_graph body);
/**
 * sycl_handler_graph_conditional with the word in USM that the queue's device can read. Nothing is ordered by USM: add an edge from each
 * node that writes the word to this one. Never blocks.
 *
 * @param pointer  The word: inside an allocation of USM of the queue's context, at a multiple of 4. It must live as long as the graph is launched.
 * @return As sycl_handler_graph_conditional.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_graph_conditional_usm(sycl_handler handler, sycl_graph_condition_type type, const void *pointer,
							sycl_executable_graph body);

/**
 * A node that launches a kernel gets another value as an argument. Executable graphs that were made before do not
 * change, until sycl_executable_graph_update. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  No such node, or it launches no kernel.
 * @return Otherwise as sycl_handler_set_value and sycl_handler_submit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_set_value(sycl_graph graph, sycl_graph_node node, uint32_t index,
					       size_t size_bytes, const void *value);
/** The same with USM: the pointer itself. As sycl_graph_node_set_value and sycl_handler_set_usm. @since 0.1 */
SYCL_API sycl_result sycl_graph_node_set_usm(sycl_graph graph, sycl_graph_node node, uint32_t index,
					     const void *pointer);
/**
 * The same with an accessor. Edges stay as they are: order that the other buffer needs comes from what is there, and
 * from its own use at the time of the launch. As sycl_graph_node_set_value and sycl_handler_set_accessor.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_set_accessor(sycl_graph graph, sycl_graph_node node, uint32_t index,
						  sycl_buffer buffer, sycl_access_mode mode);
/**
 * A node that launches a kernel gets another range. `local` NULL: a basic range. As sycl_graph_node_set_value, and
 * sycl_handler_parallel_for or sycl_handler_parallel_for_nd. The kind of range and its dimensions stay.
 *
 * @retval SYCL_ERROR_INVALID  Another kind of range, or other dimensions.
 * @since 0.1
 */
SYCL_API sycl_result sycl_graph_node_update_range(sycl_graph graph, sycl_graph_node node, const sycl_range *global,
						  const sycl_range *local);
/**
 * An executable graph takes over what some nodes of the graph that it was made of are now. From its next launch on;
 * what was launched before does not change. All, or none. Blocks as
 * sycl_handler_submit: never for a device.
 *
 * @retval SYCL_ERROR_INVALID  It was not finalized with SYCL_GRAPH_UPDATABLE; it was made of another graph; a node
 * that it
 *                             has not, or that launches no kernel.
 * @since 0.1
 */
SYCL_API sycl_result sycl_executable_graph_update(sycl_executable_graph executable, sycl_graph graph, uint32_t count,
						  const sycl_graph_node *nodes);
/**
 * An executable graph takes over the kernels' arguments and ranges of another graph that is alike: as many nodes of
 * the same types with the same edges, in the same order, and the same kernels. From its next launch on. All, or none.
 * Blocks as sycl_handler_submit: never for a device.
 *
 * @retval SYCL_ERROR_INVALID  It was not finalized with SYCL_GRAPH_UPDATABLE; the other graph is not alike.
 * @since 0.1
 */
SYCL_API sycl_result sycl_executable_graph_update_whole(sycl_executable_graph executable, sycl_graph graph);

/**
 * Disable or enable a node of an executable graph, from its next launch on. All nodes are enabled at first. A disabled node does
 * nothing, but its successors still wait for its predecessors. Memory that it would have written keeps its contents; a temporary that only
 * it would have written has undefined contents. Launches that were submitted before do not change. A disabled node can be updated; the update
 * counts when it is enabled again. On CUDA the driver skips the node where it can; elsewhere the graph is built again or launched node
 * by node. Blocks as sycl_handler_submit does: never for a device.
 *
 * @param graph    The graph that the executable graph was finalized from.
 * @param node     A node of that graph that launches a kernel, copies or fills; not a node of a sub-graph.
 * @param enabled  0 disables the node, any other value enables it.
 * @retval SYCL_ERROR_INVALID  The executable graph was not finalized with SYCL_GRAPH_UPDATABLE, or from another graph; there is no such node,
 *                             or it is of another type.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The service is an older one.
 * @since 0.1
 */
SYCL_API sycl_result sycl_executable_graph_set_node_enabled(sycl_executable_graph executable, sycl_graph graph,
							    sycl_graph_node node, int enabled);
/**
 * Is a node enabled? 1: later launches run it; 0: they do not. Errors as sycl_executable_graph_set_node_enabled, but any executable
 * graph may be asked. Never blocks. @since 0.1
 */
SYCL_API sycl_result sycl_executable_graph_is_node_enabled(sycl_executable_graph executable, sycl_graph graph,
							   sycl_graph_node node, uint32_t *enabled_out);

SYCL_END_DECLS
#endif
