/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file share.h Buffers and events that other processes can use. The rules for all functions
 * are at the top of result.h.
 *
 * A buffer must be created for sharing, or it cannot be shared. It lives on one device for good: it
 * never moves and is never spilled to host memory. Nothing else uses the device's memory granules
 * (usually 2 MiB) that it occupies, so a process that maps it gets no other data.
 * sycl_buffer_export returns what another process needs:
 *
 * - SYCL_SHARE_VMM: a descriptor. It can be sent over a Unix socket (SCM_RIGHTS), and gives access
 *   to every process that holds it.
 * - SYCL_SHARE_CUDA_IPC: 64 bytes, as from cuIpcGetMemHandle. They are a name and no secret, so
 *   they are for processes of one uid only. An engine serves one uid and has that uid's rights. The
 *   memory ends with the last buffer, even if another process has it open: keep a buffer until the
 *   others have closed it.
 *
 * Importers are of three kinds:
 *
 * - Another connection of the same user to the same service. It gets the same buffer. The service
 *   orders accesses of both as those of one program, on all queues, in the order in which they
 *   arrive. What is known on one connection to be running or complete comes before what the other
 *   one submits afterwards. One command group may name the memory once. The memory lives until the
 *   last of them is released, also if the others end by a signal.
 * - A connection of another user that received the descriptor of SYCL_SHARE_VMM. Passing the
 *   descriptor is the grant; there is no other way to the memory. The guest reads and writes the
 *   buffer and can reach no other memory of its owner. Its engine is another process, so the two
 *   are ordered as in the next case. It cannot export what it has imported. A grant cannot be
 *   withdrawn. The memory lives until the last process has released it, also if others end by a
 *   signal. Each session is charged for it.
 * - Any other program, such as a CUDA program that maps the descriptor. Nothing orders the two: use
 *   shared events, or other means that both sides have. In the other direction, sycl_buffer_import
 *   also takes memory that such a program has exported.
 *
 * Other processes read what is in the device's memory: everything that command groups on the
 * buffer's device have written when they are complete. Writes of a host accessor, or of a group on
 * another device, are brought there at once. They are there when the next group on the buffer's
 * device is complete, also an empty group that requires the buffer with SYCL_ACCESS_READ_WRITE.
 * Each later command group and host accessor reads what others wrote, as no copy of a shared buffer
 * is kept elsewhere. The release writes back only what this connection's own groups and host
 * accessors could write (buffer.h). For what others wrote, use a host accessor.
 */
#ifndef SYCLCLIENT_SHARE_H
#define SYCLCLIENT_SHARE_H

#include "buffer.h"

SYCL_BEGIN_DECLS

/** Ways to share a buffer. The numbers stay the same in every version. */
typedef enum sycl_share_kind {
	SYCL_SHARE_NONE = 0,
	SYCL_SHARE_VMM = 1,     /**< by a descriptor */
	SYCL_SHARE_CUDA_IPC = 2 /**< by a handle of 64 bytes, among processes of one uid */
} sycl_share_kind;

#define SYCL_SHARE_HANDLE_BYTES 64

/**
 * The name by which another process opens a buffer. Start from SYCL_SHARED_MEMORY_INIT. 96 bytes,
 * no padding.
 */
struct sycl_shared_memory {
	uint32_t struct_bytes; /**< sizeof(struct sycl_shared_memory), so it can grow */
	uint32_t kind;         /**< enum sycl_share_kind */
	int32_t descriptor;    /**< SYCL_SHARE_VMM: CLOEXEC, closed by its receiver; otherwise -1 */
	uint32_t reserved;     /**< must be 0 */
	uint64_t size_bytes;   /**< of the buffer */
	uint64_t mapped_bytes; /**< of its memory, in whole granules: what an importer maps */
	/** SYCL_SHARE_CUDA_IPC: a CUipcMemHandle; otherwise 0 */
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
};
#define SYCL_SHARED_MEMORY_INIT                                                                    \
	{                                                                                          \
		sizeof(struct sycl_shared_memory), 0, -1, 0, 0, 0,                                 \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

/**
 * Make a buffer that can be exported. It lives on `device` for good. Queues of other devices may
 * use it if the service can bring it there. Blocks as sycl_buffer_create.
 *
 * @param device           Where it lives. The buffer does not keep the handle.
 * @param host             As in sycl_buffer_create.
 * @param size_bytes       Not 0.
 * @param kind             As in sycl_buffer_create.
 * @param share            Not SYCL_SHARE_NONE.
 * @param[out] buffer_out  The caller releases it with sycl_buffer_release.
 * @retval SYCL_ERROR_INVALID                host and kind contradict each other; no such kind of
 *                                           sharing; 0 bytes.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device cannot share memory in this way.
 * @retval SYCL_ERROR_QUOTA                  More objects, buffer bytes or shared memory than the
 *                                           session may have.
 * @return Calls that use the buffer report what the service finds wrong later, such as that the
 *         device has no memory.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_create_exportable(sycl_device device, void *host,
						   uint64_t size_bytes, sycl_host_memory kind,
						   sycl_share_kind share, sycl_buffer *buffer_out);

/**
 * Export a buffer: get what another process needs to open it. Blocks until earlier command groups
 * have written it, so that others find their results. May be called several times, also on a buffer
 * that was imported from another connection of the service.
 *
 * @param[in,out] shared  With struct_bytes set; the call fills the rest. The caller may close the
 *                        descriptor at any time: the memory lives while the buffer, or any
 *                        descriptor or mapping of it, does.
 * @retval SYCL_ERROR_INVALID            Wrong struct_bytes; a buffer made without sharing, or
 *                                       imported from another program.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION  The device has no memory for the buffer.
 * @retval SYCL_ERROR_RUNTIME            The service cannot have more descriptors.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_export(sycl_buffer buffer, struct sycl_shared_memory *shared);

/**
 * Export a buffer, with a limit on the wait. Otherwise as sycl_buffer_export.
 *
 * @param timeout_ns  Longest wait, ns of CLOCK_MONOTONIC.
 * @retval SYCL_ERROR_TIMEOUT  Nothing was exported; `shared` is as it was.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_export_for(sycl_buffer buffer, uint64_t timeout_ns,
					    struct sycl_shared_memory *shared);

/**
 * Import a buffer over exported memory. If this or another connection of the same user exported it,
 * it is that buffer. Any other program may have exported it by its own means. A round trip.
 *
 * @param device           Where the memory will be used. The buffer does not keep the handle.
 * @param shared           As the exporter filled it. The descriptor stays the caller's. For memory
 *                         of a program that is no client, size_bytes is at most mapped_bytes, which
 *                         is what that program exported.
 * @param[out] buffer_out  The caller releases it with sycl_buffer_release. It has no host memory:
 *                         nothing is written back, unless sycl_buffer_set_final_data names a place.
 * @retval SYCL_ERROR_INVALID                Wrong struct_bytes, kind or reserved; sizes that are
 *                                           not the exporter's; a descriptor or a handle that is no
 *                                           memory of this device.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device cannot share memory in this way.
 * @retval SYCL_ERROR_QUOTA                  More objects, buffer bytes or shared memory than the
 *                                           session may have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_import(sycl_device device, const struct sycl_shared_memory *shared,
					sycl_buffer *buffer_out);

/**
 * Make an event that several processes can record and wait for, on a device. After a wait for it,
 * everything before its record has happened, and its writes are visible. Keep it until the others
 * have closed it. A round trip.
 *
 * @param device          Where it is recorded. The event does not keep the handle.
 * @param[out] event_out  The caller releases it with sycl_shared_event_release.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no such events.
 * @retval SYCL_ERROR_QUOTA                  The session has as many objects as it may have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_shared_event_create(sycl_device device, sycl_shared_event *event_out);

/**
 * Open an event that another connection or another program has made. A round trip.
 *
 * @param device          Where it was made. The event does not keep the handle.
 * @param handle          SYCL_SHARE_HANDLE_BYTES bytes, read during the call: of
 *                        sycl_shared_event_get_handle, or a CUipcEventHandle.
 * @param[out] event_out  The caller releases it with sycl_shared_event_release.
 * @retval SYCL_ERROR_INVALID                A handle of no event.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no such events.
 * @retval SYCL_ERROR_QUOTA                  The session has as many objects as it may have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_shared_event_open(sycl_device device, const uint8_t *handle,
					    sycl_shared_event *event_out);

/**
 * Get what another process needs to open the event: a name and no secret, for processes of one uid.
 * Never blocks.
 *
 * @param[out] handle_out  Room for SYCL_SHARE_HANDLE_BYTES bytes; a CUipcEventHandle on CUDA.
 * @since 0.1
 */
SYCL_API sycl_result sycl_shared_event_get_handle(sycl_shared_event event, uint8_t *handle_out);
/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_shared_event_retain(sycl_shared_event event);
/**
 * Release one reference. Groups that were submitted with it keep what they need. Never waits for a
 * device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_shared_event_release(sycl_shared_event event);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_shared_event_get_reference_count(sycl_shared_event event,
							   uint32_t *count_out);

SYCL_END_DECLS
#endif
