/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file native_command.h Native commands: a function of this program as the action of a command
 * group. The function sends work through the vendor's interface to the group's queue. They follow
 * SYCL's extension sycl_ext_codeplay_enqueue_native_command.
 *
 * A vendor's handle is valid in one process only. So a queue has one of these bridges, or none, as
 * sycl_queue_get_native_bridge says:
 *
 * - SYCL_NATIVE_BRIDGE_IN_PROCESS: the engine runs in this process ("embedded:"). Handles are the
 *   engine's own.
 * - SYCL_NATIVE_BRIDGE_IPC: CUDA through a service. Handles are this program's own; see below.
 *
 * For each submission the library calls the function exactly once; or never, if its group fails
 * before. Through a service it is not called either if the connection ends before its turn. The
 * call may come before or after sycl_queue_submit returns, and before the group's dependencies are
 * complete: the function only sends. Its work on the native queue starts when all dependencies are
 * complete, on any device. The group is complete when all this work is. So other threads, streams
 * and queues may take part, if the native queue waits for them before the function returns.
 *
 * In process a thread of the engine calls the function. That thread sends the device's work of the
 * whole program. So the function
 *
 * - must not block nor wait for the device: everything else waits meanwhile;
 * - may call the vendor's library and the functions sycl_interop_... of this header, and no other
 *   function of this library;
 * - may use the queue that it gets, and no other queue of this library;
 * - must leave the native queue ready for more work; for example, not capturing;
 * - must not throw C++ exceptions or leave by longjmp.
 *
 * The context is current on that thread, if the vendor has current contexts.
 *
 * Through a service (SYCL_NATIVE_BRIDGE_IPC) the same rules hold, and these:
 *
 * - The context is this program's: the one that is current on the thread that calls
 *   sycl_handler_native_command. If there is none, it is the primary one of the queue's GPU, which
 *   is made if necessary. It must live until the last handle of the connection is released and its
 *   native commands are complete. A primary context is retained until then. The native queue is a
 *   stream that the library makes in it.
 * - Buffers are those of sycl_buffer_create_exportable (share.h), of either kind, that live on the
 *   queue's device. Each is opened in the context when a function first needs it, in one round
 *   trip. It is closed when the buffer ends; with SYCL_SHARE_CUDA_IPC that waits for work in this
 *   program's context. USM is not valid in that context.
 * - The function is called where host tasks are (host_task.h): by helper threads, or by a thread
 *   that waits on the connection. That happens when all dependencies of the group are complete, or
 *   earlier: when all of them have been sent to the queue's device. Then the native queue first
 *   waits for an event of the service. If a dependency fails after the call, the group fails with
 *   SYCL_ERROR_DEPENDENCY_FAILED, and the function's work has used undefined data. If the service
 *   ends meanwhile, the native queue may wait for ever. Then the group is lost like any other, and
 *   the library leaves the queue, and memory that is open in that context, as they are.
 * - Without helper threads no function is called unless a thread waits. A thread of the library
 *   waits for the work; the function's thread does not. Until the work is complete the command
 *   counts as a host task: sycl_queue_submit also has SYCL_ERROR_QUOTA.
 * - The driver is loaded at the first use: libcuda.so.1, or the library that SYCLD_CUDA_LIBRARY
 *   names. An error of the context fails this group, with the driver's code, and no other group.
 * - The service neither receives nor schedules the work. It does not count in a session's share of
 *   the device.
 *
 * As a node of a graph (graph.h), the function is called by sycl_graph_finalize, once for each
 * executable graph, and not by its launches. sycl_interop_get_native_graph returns a graph to which
 * it adds nodes. On CUDA that graph is empty; on OpenCL it is the command buffer itself. The added
 * nodes come after the node's predecessors and before its successors. The native queue is one of
 * the library, idle, only for capturing into that graph: on CUDA by
 * cuStreamBeginCaptureToGraph. The function ends the capture before it returns. The added nodes
 * must be valid for every launch. The device needs SYCL_ASPECT_EXT_ONEAPI_LIMITED_GRAPH. Updates do
 * not call functions again and leave the node as it is. In process, an update that the driver
 * cannot make in place fails the next launch.
 *
 * Nodes also work through a service, and there
 *
 * - the function is called on the thread that calls sycl_graph_finalize, in the context that was
 *   chosen when the command was built;
 * - the graph is this program's own and has nothing of the rest. The library makes the added nodes
 *   executable once. It destroys them when the executable graph has ended and none of its launches
 *   runs. The addresses of the node's buffers stay the same until then;
 * - each launch sends it, without a call of the function, once all dependencies of the node are
 *   complete, never earlier. Host tasks' threads do that, so without helper threads a thread must
 *   wait. Until it is complete the node counts as a host task. The service launches such a graph
 *   node by node;
 * - recording or adding the command gives SYCL_ERROR_FEATURE_NOT_SUPPORTED if the service is older
 *   than this, or this program's driver older than CUDA 12.3.
 */
#ifndef SYCLCLIENT_NATIVE_COMMAND_H
#define SYCLCLIENT_NATIVE_COMMAND_H

#include "host_task.h"

SYCL_BEGIN_DECLS

/** The version of native commands; 2: also as nodes of graphs. */
#define SYCL_EXT_ONEAPI_ENQUEUE_NATIVE_COMMAND 2

/** Bridges of native commands. The numbers stay the same in every version. @since 0.1 */
typedef enum sycl_native_bridge {
	SYCL_NATIVE_BRIDGE_NONE = 0,       /**< no native commands */
	SYCL_NATIVE_BRIDGE_IN_PROCESS = 1, /**< handles of the engine, which is in this process */
	SYCL_NATIVE_BRIDGE_IPC = 2         /**< handles of this program, over shared memory */
} sycl_native_bridge;

/**
 * Get the bridge that the queue has for native commands. Blocks the first time while this program's
 * driver starts. Never waits for work of a device.
 *
 * @param[out] bridge_out  SYCL_NATIVE_BRIDGE_NONE also if this program has no driver or its driver
 *                         does not have the GPU; sycl_handler_native_command then gives the reason.
 *                         In process, a device may still lack native commands.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_get_native_bridge(sycl_queue queue, sycl_native_bridge *bridge_out);

/** The handle of a running native command. It is no object and has no reference count. */
typedef struct sycl_interop_handle_s *sycl_interop_handle;

/**
 * The function of a native command.
 *
 * @param interop    Valid during the call, on this thread.
 * @param user_data  As given.
 * @return 0, or a failure. The group fails with it when the work sent before is complete. Groups
 *         that depend on it fail with SYCL_ERROR_DEPENDENCY_FAILED.
 */
typedef sycl_result sycl_native_command_function(sycl_interop_handle interop, void *user_data);

/**
 * Set the action: a function that sends the vendor's own work. The group requires its buffers as a
 * kernel's are required, by sycl_handler_set_accessor and sycl_handler_set_ranged_accessor. The
 * index of each is for sycl_interop_get_native_memory. Never blocks in process. Through a service
 * it blocks the first time while this program's driver starts or makes a context.
 *
 * @param function   Not NULL.
 * @param user_data  Passed to the function, and at the end to `destroy`.
 * @param destroy    NULL: nothing is done. Called once, after the last use of the user data, on any
 *                   thread, also the engine's. So it may call no function of this library, unlike
 *                   that of a host task. Not called if this call fails.
 * @retval SYCL_ERROR_INVALID                The group has an action already; function is NULL;
 *                                           through a service: the CUDA context of this thread
 *                                           belongs to another device than the queue.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  Through a service: the queue's backend is not CUDA;
 *                                           this program has no driver, or its driver does not have
 *                                           the GPU; the service is older than this.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION      No memory; through a service also no memory for a
 *                                           context.
 * @return The group fails with SYCL_ERROR_FEATURE_NOT_SUPPORTED if its device has no native
 *         commands. Through a service, sycl_queue_submit and sycl_graph_add refuse with that code a
 *         buffer that cannot be exported, or that lies on another device.
 * @since 0.1
 *
 * @example
 *	extern int library_clear(uint64_t stream, uint64_t address, uint64_t bytes);
 *	static sycl_result clear(sycl_interop_handle interop, void *user_data)
 *	{
 *		uint64_t stream = 0, memory = 0, offset = 0;
 *		sycl_result r = sycl_interop_get_native_queue(interop, &stream);
 *		if (r == SYCL_SUCCESS)
 *			r = sycl_interop_get_native_memory(interop, 0, &memory, &offset);
 *		if (r == SYCL_SUCCESS && library_clear(stream, memory + offset, 4096) != 0)
 *			r = SYCL_ERROR_RUNTIME;
 *		return r;
 *	}
 *
 *	result = sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_handler_native_command(handler, clear, NULL, NULL);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_queue_submit(queue, handler, NULL);
 */
SYCL_API sycl_result sycl_handler_native_command(sycl_handler handler,
						 sycl_native_command_function *function,
						 void *user_data, sycl_user_data_destroy *destroy);

/**
 * Get the backend whose handles the other calls of this header return. Never blocks.
 *
 * @param[out] backend_out  The backend.
 * @retval SYCL_ERROR_INVALID_HANDLE  No handle of a function that this thread runs.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_backend(sycl_interop_handle interop,
					      sycl_backend *backend_out);

/**
 * Get the device that the group runs on: a CUdevice, a cl_device_id. Never blocks.
 *
 * @param[out] native_out  The vendor's handle as a number. Do not release it.
 * @retval SYCL_ERROR_INVALID_HANDLE  No handle of a function that this thread runs.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_native_device(sycl_interop_handle interop,
						    uint64_t *native_out);

/**
 * Get the context of the group's memory and queue: a CUcontext, a cl_context. Never blocks.
 * Otherwise as sycl_interop_get_native_device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_native_context(sycl_interop_handle interop,
						     uint64_t *native_out);

/**
 * Get the queue to send work to: a CUstream, a cl_command_queue. It is valid during the call: the
 * next group of the same queue may get another one. Never blocks. Otherwise as
 * sycl_interop_get_native_device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_native_queue(sycl_interop_handle interop,
						   uint64_t *native_out);

/**
 * Get the memory of an accessor: a CUdeviceptr, a cl_mem. Never blocks.
 *
 * @param index                  As given to sycl_handler_set_accessor.
 * @param[out] native_out        The buffer's memory on this device, as
 *                               sycl_interop_get_native_device; 0 for a buffer of no bytes. The
 *                               group's work may use it until it is complete, as the accessor's
 *                               mode says.
 * @param[out] offset_bytes_out  Where the accessor's first byte lies in it.
 * @retval SYCL_ERROR_INVALID  There is no accessor of that index.
 * @return Also SYCL_ERROR_INVALID_HANDLE as the others.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_native_memory(sycl_interop_handle interop, uint32_t index,
						    uint64_t *native_out,
						    uint64_t *offset_bytes_out);

/**
 * Query whether the command is a node of a graph that is being finalized. Never blocks.
 *
 * @param[out] has_out  1 or 0.
 * @retval SYCL_ERROR_INVALID_HANDLE  No handle of a function that this thread runs.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_has_graph(sycl_interop_handle interop, uint32_t *has_out);

/**
 * Get the graph to which the function adds nodes: a CUgraph, a cl_command_buffer_khr. It is valid
 * during the call. Never blocks.
 *
 * @param[out] native_out  The vendor's handle as a number. Do not release it.
 * @retval SYCL_ERROR_INVALID  There is none: sycl_interop_has_graph says so.
 * @return Also SYCL_ERROR_INVALID_HANDLE as the others.
 * @since 0.1
 */
SYCL_API sycl_result sycl_interop_get_native_graph(sycl_interop_handle interop,
						   uint64_t *native_out);

SYCL_END_DECLS
#endif
