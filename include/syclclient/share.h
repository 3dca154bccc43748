/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file share.h Buffers and events that other processes can use. The rules for all functions are at the top of
 * result.h.
 *
 * A buffer that shall be shared says so when it is made. It then lives on one device for good: it is never moved, never
 * spilled to host memory, and nothing else lies in the device's memory granules (usually 2 MiB) that it occupies, so
 * whoever maps it sees no byte of a neighbour. sycl_buffer_export tells what another process needs:
 *
 * - SYCL_SHARE_VMM: a descriptor. It travels over a Unix socket (SCM_RIGHTS) and gives access to whoever holds it.
 * - SYCL_SHARE_CUDA_IPC: 64 bytes, as of cuIpcGetMemHandle. They are a name and no secret, so they are for processes of
 *   one uid only: an engine serves one uid, and has that uid's rights. The memory goes with the last buffer, whoever
 *   else has it open: keep one until the others have closed it.
 *
 * Importers are of three kinds:
 * - Another connection of the same user to the same service. It gets the very same buffer: accesses of both are ordered
 *   as those of one program are, on all queues, in the order in which the service takes them: what one connection knows
 *   to be running or complete comes before what the other one submits then. One command group may name the memory once.
 *   The memory lives until the last of them is released; how the others end, also by a signal, makes no difference.
 * - A connection of another user, who got the descriptor of SYCL_SHARE_VMM from whoever held it: that is the grant, there is no
 *   other way to the memory. The guest reads and writes the buffer and sees nothing else of the granter's; its engine is
 *   another process, so the two are as the next kind, and what it has imported it cannot export again. A grant cannot be
 *   taken back: the memory lives until the last of them has let go of it, whoever else has ended, also by a signal; each pays
 *   for it in its own session.
 * - Any other program, such as a CUDA program that maps the descriptor. Nothing orders the two by itself: use shared
 *   events, or anything else that both sides understand. The other way round the same holds: sycl_buffer_import also
 *   takes memory that such a program has exported.
 *
 * What other processes see is what lies in the device's memory: all that command groups on the buffer's device have
 * written once they are complete. What a host accessor wrote, or a group on another device, is brought there at once;
 * it is there when the next group on the buffer's device is complete, or an empty group that requires the buffer with
 * SYCL_ACCESS_READ_WRITE. What others wrote is seen by every command group and every host accessor that comes after it:
 * of a shared buffer no copy is kept elsewhere. The release writes back only what this connection's own groups and host
 * accessors could write (buffer.h): for what others wrote, use a host accessor.
 */
#ifndef SYCLCLIENT_SHARE_H
#define SYCLCLIENT_SHARE_H

#include "buffer.h"

SYCL_BEGIN_DECLS

/** How a buffer can be shared; equal numbers in every version. */
typedef enum sycl_share_kind {
	SYCL_SHARE_NONE = 0,
	SYCL_SHARE_VMM = 1,     /**< by a descriptor */
	SYCL_SHARE_CUDA_IPC = 2 /**< by a handle of 64 bytes, among processes of one uid */
} sycl_share_kind;

#define SYCL_SHARE_HANDLE_BYTES 64

/** What another process needs to open a buffer. Start from SYCL_SHARED_MEMORY_INIT. 96 bytes, no padding. */
struct sycl_shared_memory {
	uint32_t struct_bytes; /**< sizeof(struct sycl_shared_memory), so it can grow */
	uint32_t kind;         /**< enum sycl_share_kind */
	int32_t descriptor;    /**< SYCL_SHARE_VMM: CLOEXEC, to be closed by whoever got it; otherwise -1 */
	uint32_t reserved;     /**< must be 0 */
	uint64_t size_bytes;   /**< of the buffer */
	uint64_t mapped_bytes; /**< of the memory behind it, whole granules: what an importer maps */
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES]; /**< SYCL_SHARE_CUDA_IPC: a CUipcMemHandle; otherwise 0 */
};
#define SYCL_SHARED_MEMORY_INIT { sizeof(struct sycl_shared_memory), 0, -1, 0, 0, 0, { 0 } }

/**
 * As sycl_buffer_create, for a buffer that can be exported. It lives on `device` for good; queues of other
 * devices may use it where the service can bring it there.
 *
 * @param device           Where it lives. The buffer does not keep the handle.
 * @param host             As in sycl_buffer_create.
 * @param size_bytes       Not 0.
 * @param share            Not SYCL_SHARE_NONE.
 * @param[out] buffer_out  The caller's: sycl_buffer_release.
 * @retval SYCL_ERROR_INVALID                host and kind contradict each other; no such kind of sharing; 0 bytes.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device cannot share memory like this.
 * @retval SYCL_ERROR_QUOTA                  More objects, buffer bytes or shared memory than the session may have.
 * @return What the service finds wrong later, such as that the device has no memory, is told by the calls that use the
 * buffer. Blocks as sycl_buffer_create.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_create_exportable(sycl_device device, void *host, uint64_t size_bytes,
						   sycl_host_memory kind, sycl_share_kind share,
						   sycl_buffer *buffer_out);

/**
 * What another process needs to open the buffer. Blocks until the command groups that were submitted before have
 * written it, so that others find what they wrote. May be called several times, also on a buffer that was imported from
 * another connection of the service.
 *
 * @param[in,out] shared  With struct_bytes set; the rest is filled. The descriptor is the caller's to close, at any
 *                        time: the memory lives while the buffer or any descriptor or mapping of it does.
 * @retval SYCL_ERROR_INVALID            Wrong struct_bytes; a buffer made without sharing, or imported from another
 *                                       program.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION  The device has no memory for the buffer.
 * @retval SYCL_ERROR_RUNTIME            The service may have no more descriptors.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_export(sycl_buffer buffer, struct sycl_shared_memory *shared);

/**
 * As sycl_buffer_export, waiting at most timeout_ns (CLOCK_MONOTONIC).
 *
 * @retval SYCL_ERROR_TIMEOUT  Nothing was exported; `shared` is as it was.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_export_for(sycl_buffer buffer, uint64_t timeout_ns,
					    struct sycl_shared_memory *shared);

/**
 * A buffer over memory that was exported: by this or another connection of the same user (then it is that buffer), or
 * by any program that made it with its own means. A round trip.
 *
 * @param device           Where the memory is to be used. The buffer does not keep the handle.
 * @param shared           As the exporter told it. The descriptor stays the caller's. For memory of a program that is
 *                         no client, size_bytes is at most mapped_bytes, which is what that program exported.
 * @param[out] buffer_out  The caller's: sycl_buffer_release. Has no host memory of its own: nothing is written back,
 *                         unless sycl_buffer_set_final_data says where.
 * @retval SYCL_ERROR_INVALID                Wrong struct_bytes, kind or reserved; sizes that are not the exporter's; a
 *                                           descriptor that is no memory, or a handle of no memory, of this device.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device cannot share memory like this.
 * @retval SYCL_ERROR_QUOTA                  More objects, buffer bytes or shared memory than the session may have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_import(sycl_device device, const struct sycl_shared_memory *shared,
					sycl_buffer *buffer_out);

/**
 * An event that several processes can record and wait for, on a device. What happened before it was recorded has
 * happened, and its writes are seen, after it was waited for. Keep it until the others have closed it. A round trip.
 *
 * @param device          Where it is recorded. The event does not keep the handle.
 * @param[out] event_out  The caller's: sycl_shared_event_release.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no such events.
 * @retval SYCL_ERROR_QUOTA                  The session has as many objects as it may.
 * @since 0.1
 */
SYCL_API sycl_result sycl_shared_event_create(sycl_device device, sycl_shared_event *event_out);

/**
 * An event that another connection, or another program, has made. A round trip.
 *
 * @param device          Where it was made. The event does not keep the handle.
 * @param handle          SYCL_SHARE_HANDLE_BYTES bytes, read during the call: of sycl_shared_event_get_handle, or a
 *                        CUipcEventHandle.
 * @param[out] event_out  The caller's: sycl_shared_event_release.
 * @retval SYCL_ERROR_INVALID                A handle of no event.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no such events.
 * @retval SYCL_ERROR_QUOTA                  The session has as many objects as it may.
 * @since 0.1
 */
SYCL_API sycl_result sycl_shared_event_open(sycl_device device, const uint8_t *handle, sycl_shared_event *event_out);

/**
 * What another process needs to open the event: a name and no secret, for processes of one uid. Never blocks.
 *
 * @param[out] handle_out  Room for SYCL_SHARE_HANDLE_BYTES bytes; a CUipcEventHandle on CUDA.
 * @since 0.1
 */
SYCL_API sycl_result sycl_shared_event_get_handle(sycl_shared_event event, uint8_t *handle_out);
/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_shared_event_retain(sycl_shared_event event);
/** End one reference; groups that were submitted with it keep what they need. Never waits for a device. @since 0.1 */
SYCL_API sycl_result sycl_shared_event_release(sycl_shared_event event);
/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_shared_event_get_reference_count(sycl_shared_event event, uint32_t *count_out);

SYCL_END_DECLS
#endif
