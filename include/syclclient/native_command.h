/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file native_command.h Native commands: a function of this program as the action of a command group, which sends
 * work of the vendor's own to the group's queue (SYCL's extension sycl_ext_codeplay_enqueue_native_command).
 *
 * A vendor's handle means nothing in another process. So a queue has one of these bridges, or none, as
 * sycl_queue_get_native_bridge tells:
 *
 * - SYCL_NATIVE_BRIDGE_IN_PROCESS: the engine runs in this process ("embedded:"). Handles are the engine's own.
 * - SYCL_NATIVE_BRIDGE_IPC: CUDA through a service. Handles are this program's own; see below.
 *
 * The function is called exactly once for each submission, or never, if its group fails before; through a service also if the
 * connection ends before its turn. The call may come before sycl_handler_submit returns or after it, and before what the group
 * depends on is complete: it only sends. What it sends to the native queue starts when all of that is complete, wherever it
 * runs, and the group is complete when all that it sent is. So other threads, streams and queues may take part, if the native queue waits for
 * them before the function returns.
 *
 * Who calls it: in process a thread of the engine's, on which the device's work of the whole program is sent. So the function
 *
 * - must not block nor wait for the device: everything else waits meanwhile;
 * - may call the vendor's library and the functions sycl_interop_... of this header, and no other function of this
 *   library;
 * - may use the queue that it is given, and no other queue of this library;
 * - must leave the native queue so that more can be sent to it: not capturing, for one;
 * - must not throw C++ exceptions nor leave by longjmp.
 *
 * The context is current on that thread, where the vendor has such a thing.
 *
 * Through a service (SYCL_NATIVE_BRIDGE_IPC) the same holds, and beside it:
 *
 * - The context is this program's: the one that is current on the thread that calls sycl_handler_native_command, or where there
 *   is none the primary one of the queue's GPU, which is then made if need be. It must live until the last handle of the connection is
 *   released and its native commands are complete; a primary one is retained until then. The native queue is a stream that the library makes in it.
 * - Buffers are those of sycl_buffer_create_exportable (share.h), of either kind, that live on the queue's device. Each is opened
 *   in the context when a function first needs it, in one round trip, and closed when the buffer ends, which with
 *   SYCL_SHARE_CUDA_IPC waits for what runs in this program's context. USM means nothing in that context.
 * - The function is called where host tasks are (host_task.h): by helper threads, or by whoever waits on the connection, when all
 *   that the group depends on is complete, or earlier: when all of it is on its way on the queue's device. Then the native queue waits
 *   for an event of the service's first. If something of that fails after the call, so does the group, with
 *   SYCL_ERROR_DEPENDENCY_FAILED, and what the function sent worked on garbage. If the service ends meanwhile, the native queue may wait for ever: the
 *   group is lost like any other, and the library leaves the queue, and memory that is open in that context, as they are.
 *   Without helper threads nothing is called while nobody waits. A thread of the library's
 *   then waits for the work; the function's thread does not. Until that is complete the command counts as a host task: sycl_handler_submit
 *   also has SYCL_ERROR_QUOTA.
 * - The driver is loaded when this is first used: libcuda.so.1, or what SYCLD_CUDA_LIBRARY names. An error of the context fails
 *   the group with the driver's code, and nobody else's.
 * - The service neither sees nor schedules the work: it is no part of a session's share of the device.
 *
 * As a node of a graph (graph.h), the function is called by sycl_graph_finalize, once for each executable graph and not by its launches. sycl_interop_get_native_graph gives a graph to add nodes to, which is empty on CUDA, and on OpenCL the command buffer
 * itself; what it adds comes behind the node's predecessors and before its successors. The native queue is one of the
 * library's own, idle, for capturing into that graph and nothing else: on CUDA cuStreamBeginCaptureToGraph, and the capture is
 * ended before the function returns. What it adds must be good for as many launches as there will be. For devices with
 * SYCL_ASPECT_EXT_ONEAPI_LIMITED_GRAPH. Functions are not called again by updates, which leave the node as it is. In process, an update that the
 * driver cannot make in place fails the launch that brings it.
 *
 * Through a service, too, and there
 *
 * - the function is called on the thread that calls sycl_graph_finalize, in the context that was chosen when the command was built;
 * - the graph is this program's own and has nothing of the rest. What the function has added is made executable once, and destroyed
 *   when the executable graph has gone and none of its launches runs; the addresses of the node's buffers hold until then;
 * - each launch of the executable graph sends it, without a call of the function, once all that the node depends on is complete, never
 *   earlier: from where host tasks are run, so without helper threads somebody must wait. Until it is complete the node counts as a host
 *   task. The service launches such a graph node by node;
 * - recording or adding the command gives SYCL_ERROR_FEATURE_NOT_SUPPORTED where the service is older than this, or this program's
 *   driver than CUDA 12.3.
 */
#ifndef SYCLCLIENT_NATIVE_COMMAND_H
#define SYCLCLIENT_NATIVE_COMMAND_H

#include "host_task.h"

SYCL_BEGIN_DECLS

/** Native commands are there, also as nodes of graphs. */
#define SYCL_EXT_ONEAPI_ENQUEUE_NATIVE_COMMAND 2

/** Whose handles a queue's native commands get; equal numbers in every version. @since 0.1 */
typedef enum sycl_native_bridge {
	SYCL_NATIVE_BRIDGE_NONE = 0,       /**< it takes no native commands */
	SYCL_NATIVE_BRIDGE_IN_PROCESS = 1, /**< the engine's own, which is in this process */
	SYCL_NATIVE_BRIDGE_IPC = 2         /**< this program's own, over memory that the service shares with it */
} sycl_native_bridge;

/**
 * Which bridge the queue has for native commands. Blocks the first time while this program's driver starts; never waits for
 * a device's work.
 *
 * @param[out] bridge_out  SYCL_NATIVE_BRIDGE_NONE also where this program has no driver or does not see the GPU:
 *                         sycl_handler_native_command says why. In process, a device may still lack them.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_get_native_bridge(sycl_queue queue, sycl_native_bridge *bridge_out);

/** What a function that is called now may ask for; no object, not counted. */
typedef struct sycl_interop_handle_s *sycl_interop_handle;

/**
 * A native command's function.
 *
 * @param interop    Good during the call, on this thread.
 * @param user_data  As given.
 * @return 0, or a failure: the group fails with it then, when what was sent before is complete, and what depends on
 * it with SYCL_ERROR_DEPENDENCY_FAILED.
 */
typedef sycl_result sycl_native_command_function(sycl_interop_handle interop, void *user_data);

/**
 * The action: a function that sends work of the vendor's own. Its buffers are required as a kernel's are, by
 * sycl_handler_set_accessor and sycl_handler_set_ranged_accessor; the index of each is for
 * sycl_interop_get_native_memory. Never blocks in process; through a service the first time while this program's driver
 * starts, or makes a context.
 *
 * @param user_data  Handed to the function, and at the end to `destroy`.
 * @param destroy    NULL: nothing is done. Called once, when nobody has any more use of the user data, on any thread,
 *                   also the engine's; so it may call no function of this library, unlike that of a host task. Not
 *                   called if this call fails.
 * @retval SYCL_ERROR_INVALID                There is an action already; function is NULL; through a service: the CUDA context of
 *                                           this thread is of another device than the queue's.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  Through a service: the queue's backend is not CUDA; this program has no driver, or
 *                                           does not see the GPU; the service is older than this.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION      No memory; through a service also none for a context.
 * @return The group fails with SYCL_ERROR_FEATURE_NOT_SUPPORTED if its device takes none. Through a service
 * sycl_handler_submit and sycl_graph_add also refuse with that a buffer that cannot be exported, or lies on another device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_native_command(sycl_handler handler, sycl_native_command_function *function,
						 void *user_data, sycl_user_data_destroy *destroy);

/**
 * Whose handles the others of this header give. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID_HANDLE  No handle of a function that this thread is in.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_backend(sycl_interop_handle interop, sycl_backend *backend_out);

/**
 * The device that the group runs on: a CUdevice, a cl_device_id. Never blocks.
 *
 * @param[out] native_out  The vendor's handle as a number; not to be released.
 * @retval SYCL_ERROR_INVALID_HANDLE  No handle of a function that this thread is in.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_native_device(sycl_interop_handle interop, uint64_t *native_out);

/**
 * The context in which the group's memory and queue are, as sycl_interop_get_native_device: a CUcontext, a cl_context.
 * Never blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_native_context(sycl_interop_handle interop, uint64_t *native_out);

/**
 * What to send work to, as sycl_interop_get_native_device: a CUstream, a cl_command_queue. Good during the call: the
 * next group of the same queue may get another one. Never blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_native_queue(sycl_interop_handle interop, uint64_t *native_out);

/**
 * The memory of an accessor: a CUdeviceptr, a cl_mem. Never blocks.
 *
 * @param index                  As given to sycl_handler_set_accessor.
 * @param[out] native_out        Of the buffer's memory on this device, as sycl_interop_get_native_device; 0 for a
 *                               buffer of no bytes. The group's work may use it until it is complete, as the
 *                               accessor's mode says.
 * @param[out] offset_bytes_out  Where the accessor's first byte lies in it.
 * @retval SYCL_ERROR_INVALID    There is no accessor of that index.
 * @return Also SYCL_ERROR_INVALID_HANDLE as the others.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_native_memory(sycl_interop_handle interop, uint32_t index, uint64_t *native_out,
						    uint64_t *offset_bytes_out);

/**
 * Is the command a node of a graph that is being finalized? Never blocks.
 *
 * @param[out] has_out  1 or 0.
 * @retval SYCL_ERROR_INVALID_HANDLE  No handle of a function that this thread is in.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_has_graph(sycl_interop_handle interop, uint32_t *has_out);

/**
 * The graph to add nodes to: a CUgraph, a cl_command_buffer_khr. Good during the call. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  There is none: sycl_interop_has_graph says so.
 * @return Also SYCL_ERROR_INVALID_HANDLE as the others.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_native_graph(sycl_interop_handle interop, uint64_t *native_out);

SYCL_END_DECLS
#endif
