/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file buffer.h Buffers, their parts, their host memory, and host accessors. The rules for all functions are at the top
 * of result.h.
 */
#ifndef SYCLCLIENT_BUFFER_H
#define SYCLCLIENT_BUFFER_H

#include "async.h"

SYCL_BEGIN_DECLS

/** What the host memory of a buffer is. */
typedef enum sycl_host_memory {
	SYCL_HOST_NONE = 0,     /**< there is none: `host` is NULL */
	SYCL_HOST_BORROWED = 1, /**< the caller's until release; written back at release if a device wrote */
	SYCL_HOST_CONST = 2,    /**< read once, never written back: constant data, or a copied range */
	SYCL_HOST_SHARED = 3,   /**< a sycl_host_block; written back if anybody else still holds it */
	SYCL_HOST_OWNED = 4     /**< given away: read once, then freed by a function that comes with it */
} sycl_host_memory;

/** All bytes from the offset on. */
#define SYCL_REST_BYTES UINT64_MAX

/** Frees memory that was given away. Called once, on a thread that is in a call of this library. */
typedef void sycl_free_function(void *memory, void *context);

/**
 * Make a buffer, usable with every queue of the connection. Blocks only for a round trip when the session's
 * shared memory must grow; otherwise one-way: what the service finds wrong later is told by the calls that use the
 * buffer.
 *
 * @param platform         Any platform of the connection.
 * @param host             The first contents; NULL with SYCL_HOST_NONE: the contents are undefined then. Copied during
 *                         the call. But SYCL_HOST_BORROWED memory of 8 MiB and more may be copied later: during the first
 *                         call that submits a group that uses the buffer, makes a host accessor on it, or releases or
 *                         detaches it for the last time. Until then the program must not change it, and until the last
 *                         release it is the library's.
 * @param size_bytes       Any size, 0 also.
 * @param kind             What happens to `host` later. SHARED and OWNED need more words: sycl_buffer_create_with.
 * @param[out] buffer_out  The caller's: sycl_buffer_release.
 * @retval SYCL_ERROR_INVALID  host and kind contradict each other.
 * @retval SYCL_ERROR_QUOTA    More objects, buffer bytes or shared memory than the session may have.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_create(sycl_platform platform, void *host, uint64_t size_bytes, sycl_host_memory kind,
					sycl_buffer *buffer_out);

/** All that can be said of a new buffer. Start from SYCL_BUFFER_OPTIONS_INIT. */
struct sycl_buffer_options {
	uint32_t struct_bytes;   /**< sizeof(struct sycl_buffer_options) */
	sycl_host_memory kind;
	uint64_t size_bytes;
	void *host;              /**< the first contents; NULL with NONE and SHARED */
	sycl_host_block block;   /**< of SHARED: at least size_bytes; held by the buffer until its last release */
	sycl_free_function *free_host; /**< of OWNED: gets `host`; NULL: free() */
	void *free_context;      /**< handed to it */
	/**
	 * A pthread_mutex_t, ready, process-shared if other processes use the memory; NULL: none. The library holds it
	 * while it reads or writes the host memory itself: here while the first contents are copied, and at the last release
	 * while they are written back, after all groups are complete. It is never held while anything is waited for but itself.
	 * Good until the last release. A robust one whose owner died is made consistent.
	 */
	void *use_mutex;
};
#define SYCL_BUFFER_OPTIONS_INIT { sizeof(struct sycl_buffer_options), SYCL_HOST_NONE, 0, 0, 0, 0, 0, 0 }

/**
 * As sycl_buffer_create, with all kinds of host memory. Blocks as that does, and until the mutex is free.
 *
 * Memory of kind OWNED is the library's from the call's success on: it is freed as soon as it is not needed any more,
 * which is before this returns. If the call fails, it stays the caller's.
 *
 * @param options  Not NULL.
 * @retval SYCL_ERROR_INVALID         Wrong struct_bytes; members that contradict each other or the kind; a block that is
 *                                    smaller than the buffer; a mutex that cannot be locked.
 * @retval SYCL_ERROR_INVALID_HANDLE  SHARED without a block.
 * @return Otherwise as sycl_buffer_create.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_create_with(sycl_platform platform, const struct sycl_buffer_options *options,
					     sycl_buffer *buffer_out);

/**
 * Make a temporary of graphs: what kernels of a graph hand to each other, and nobody else wants. It has no host memory and no memory of
 * its own on a device: each executable graph that uses it has some for it, on its device, as long as the graph is there, so two graphs with
 * the same temporary do not wait for each other, and their launches see nothing of each other's.
 *
 * Its contents are undefined when a launch begins. So what a node needs of it nodes before must have written, with
 * SYCL_ACCESS_WRITE_NO_INIT, SYCL_ACCESS_READ_WRITE_NO_INIT, a fill or a copy: sycl_graph_finalize refuses the graph otherwise. What an update
 * of nodes makes of that is not looked at; then contents that nothing has written are undefined.
 *
 * Kernels, fills, copies between buffers and native commands of graphs may use it, and parts and views of it (sycl_buffer_create_sub,
 * sycl_buffer_reinterpret). A command group that is no node, a host task, a copy from or to the program's memory and an update of the host
 * get SYCL_ERROR_INVALID when they are submitted or added, and a host accessor when it is made. It cannot be exported, has no native handle
 * outside of native commands, and is never written back. Never blocks.
 *
 * @param platform         Any platform of the connection.
 * @param size_bytes       Any size, 0 also. It counts to the session's limit of buffer bytes; what graphs have for it counts to the
 *                         limits of memory on devices (SYCL_ERROR_QUOTA of the launch).
 * @param[out] buffer_out  The caller's: sycl_buffer_release. Graphs that use it keep it.
 * @retval SYCL_ERROR_QUOTA                  More objects or buffer bytes than the session may have.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The service is older than this call.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_create_temporary(sycl_platform platform, uint64_t size_bytes, sycl_buffer *buffer_out);

/**
 * A counted block of memory that a buffer and the program share. It belongs to no connection. Never blocks.
 *
 * @param memory          Of size_bytes, given away if the call succeeds; NULL: the library allocates it, filled with 0.
 * @param size_bytes      Not 0.
 * @param free_memory     Called with `memory` when neither the program nor a buffer holds the block; NULL: free().
 * @param context         Handed to free_memory.
 * @param[out] block_out  The caller's: sycl_host_block_release.
 * @retval SYCL_ERROR_INVALID            0 bytes; free_memory or context without memory.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION  No memory in this process.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_block_create(void *memory, uint64_t size_bytes, sycl_free_function *free_memory,
					    void *context, sycl_host_block *block_out);
/** One more reference: who holds one wants what buffers write back. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_host_block_retain(sycl_host_block block);
/** End one reference. Without any, the memory lives until the last buffer over it is released. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_host_block_release(sycl_host_block block);
/** The memory, good as long as the block is held. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_host_block_get_pointer(sycl_host_block block, void **pointer_out);
/** The caller's references now, without those of buffers. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_host_block_get_reference_count(sycl_host_block block, uint32_t *count_out);

/**
 * A part of a buffer that can be used wherever a buffer can: a sub-buffer. What distinguishes it from a ranged accessor:
 * it orders by its own range, so groups on parts that do not overlap may run at one time. It shares the
 * bytes and keeps the buffer: the buffer ends with the last release of it and of all of its parts. Never blocks.
 *
 * @param buffer        No sub-buffer itself.
 * @param offset_bytes  Any; but a group refuses a sub-buffer whose offset is no multiple of its device's
 *                      SYCL_DEVICE_INFO_MEM_BASE_ADDR_ALIGN_BITS with SYCL_ERROR_INVALID.
 * @param size_bytes    May be 0: it has no bytes, and orders with nothing.
 * @param[out] sub_out  The caller's: sycl_buffer_release.
 * @retval SYCL_ERROR_INVALID  A part of a part; outside of the buffer.
 * @return The buffer's own error, if the service could not make it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_create_sub(sycl_buffer buffer, uint64_t offset_bytes, uint64_t size_bytes,
					    sycl_buffer *sub_out);

/**
 * The same bytes as an array of other elements: a view. In every respect it is the buffer, or the sub-buffer, that
 * it was made of: its contents, its order and its end are the same. What it brings is its shape, for
 * sycl_handler_copy_elements and sycl_buffer_get_shape. Never blocks.
 *
 * @param element_bytes  Of one element.
 * @param range          Elements, row-major: the last dimension varies fastest.
 * @param[out] view_out  The caller's: sycl_buffer_release.
 * @retval SYCL_ERROR_INVALID  Not 1 to 3 dimensions; the elements are not exactly as many bytes as the buffer has.
 * @return The buffer's own error, if the service could not make it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_reinterpret(sycl_buffer buffer, uint64_t element_bytes, sycl_range range,
					     sycl_buffer *view_out);

/**
 * A buffer's elements: those of sycl_buffer_reinterpret, otherwise as many of 1 byte as it has bytes. Never blocks.
 *
 * @param[out] element_bytes_out  May be NULL.
 * @param[out] range_out          May be NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_get_shape(sycl_buffer buffer, uint64_t *element_bytes_out, sycl_range *range_out);

/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_buffer_retain(sycl_buffer buffer);

/**
 * End one reference. What the last one - of the buffer, its parts and its views - does depends on the host memory:
 *
 * | kind | waits for the groups | copies back |
 * | --- | --- | --- |
 * | SYCL_HOST_BORROWED | all that use the buffer | if a group or a host accessor could write |
 * | SYCL_HOST_SHARED | as BORROWED, if anybody else holds the block at this moment | as BORROWED |
 * | SYCL_HOST_NONE, SYCL_HOST_CONST, SYCL_HOST_OWNED | no | no |
 *
 * After sycl_buffer_set_write_back(buffer, 0) or sycl_buffer_set_final_data(buffer, NULL) it neither waits nor copies.
 * After sycl_buffer_set_final_data with memory it waits, and copies the contents there in any case. A buffer that no
 * group has used is not waited for. Where it does not wait it never blocks, and running groups keep what they need.
 *
 * A failure of the last release is its result, and also an error of the connection: sycl_platform_throw_asynchronous.
 *
 * @retval SYCL_ERROR_INVALID  It would have to wait while the buffer has host accessors; it is still the caller's.
 * @return Any other failure, such as a group's that wrote the buffer: the buffer is released, the host memory
 * unchanged; but if the device or the service is lost while 8 MiB or more are on their way back, a part of them may be
 * there.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_release(sycl_buffer buffer);

/**
 * End one reference; if it is the last one, nothing is waited for and nothing is written back, whatever the kind of host
 * memory: it is the caller's again at once, with the contents that it has. Never waits for a device; 8 MiB and more of
 * SYCL_HOST_BORROWED memory that nobody has used yet are copied first (sycl_buffer_create).
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_detach(sycl_buffer buffer);

/**
 * As sycl_buffer_release, waiting at most timeout_ns (CLOCK_MONOTONIC).
 *
 * @retval SYCL_ERROR_TIMEOUT  The buffer is still the caller's.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_release_for(sycl_buffer buffer, uint64_t timeout_ns);

/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_buffer_get_reference_count(sycl_buffer buffer, uint32_t *count_out);

/** The size in bytes, as given at creation. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_buffer_get_size(sycl_buffer buffer, uint64_t *size_bytes_out);

/**
 * Whether the last release may write back at all. Never blocks.
 *
 * @param write_back  1, as at creation, or 0: nothing is written back, and release does not wait.
 * @retval SYCL_ERROR_INVALID  Another number; a sub-buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_set_write_back(sycl_buffer buffer, uint32_t write_back);

/**
 * Where the contents go at the last release, instead of the host memory given at creation. Never blocks.
 *
 * @param final_data  Room for the whole buffer, the caller's, good until the last release; NULL: nowhere.
 * @retval SYCL_ERROR_INVALID  A sub-buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_set_final_data(sycl_buffer buffer, void *final_data);

/**
 * Access from the host. Blocks until the groups on the buffer allow it: for reading, those that write it; for
 * writing, all of them; groups on other buffers are not waited for. Groups that are submitted meanwhile wait
 * until it is released. Several for reading may exist at a time.
 *
 * @param mode               With a no-init mode the contents are undefined, and nothing is moved.
 * @param[out] accessor_out  The caller's: sycl_host_accessor_release. It keeps the buffer alive.
 * @retval SYCL_ERROR_INVALID            No such mode.
 * @retval SYCL_ERROR_DEPENDENCY_FAILED  A group that writes the buffer failed: there are no contents to see.
 * @retval SYCL_ERROR_QUOTA              The session has as many objects or completion slots as it may.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_create(sycl_buffer buffer, sycl_access_mode mode,
					       sycl_host_accessor *accessor_out);

/**
 * As sycl_host_accessor_create, at most timeout_ns (CLOCK_MONOTONIC); 0 asks without waiting for a device.
 *
 * @retval SYCL_ERROR_TIMEOUT  Not yet; nothing is held, no group waits for it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_create_for(sycl_buffer buffer, sycl_access_mode mode, uint64_t timeout_ns,
						   sycl_host_accessor *accessor_out);

/**
 * As sycl_host_accessor_create_for, of a part. It waits for and holds up the same groups as one of the whole buffer - of a sub-buffer: of the whole sub-buffer - but only this part is brought to the host, and only this part may be
 * touched.
 *
 * @param size_bytes  SYCL_REST_BYTES: all from the offset on.
 * @param timeout_ns  SYCL_FOREVER_NS: no limit.
 * @retval SYCL_ERROR_INVALID  Also: the part lies outside of the buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_create_ranged(sycl_buffer buffer, sycl_access_mode mode, uint64_t offset_bytes,
						      uint64_t size_bytes, uint64_t timeout_ns,
						      sycl_host_accessor *accessor_out);

/**
 * As sycl_host_accessor_create_ranged, but returns at once: the accessor has taken its place in the order, so groups that
 * are submitted from now on wait for it, and it waits for those before. Until sycl_host_accessor_wait, or
 * sycl_host_accessor_is_ready, says that it is ready it has no pointer. Released before that, it is withdrawn. Never
 * waits for a device; the first use of large SYCL_HOST_BORROWED memory takes as long as its copy (sycl_buffer_create).
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_create_async(sycl_buffer buffer, sycl_access_mode mode, uint64_t offset_bytes,
						     uint64_t size_bytes, sycl_host_accessor *accessor_out);

/**
 * Wait until the accessor is ready. Blocks until the groups before it allow it; at once if it is ready.
 *
 * @return 0, or why it will never be ready, as sycl_host_accessor_create; it is still to be released then.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_wait(sycl_host_accessor accessor);
/**
 * As sycl_host_accessor_wait, at most timeout_ns (CLOCK_MONOTONIC); 0 asks without waiting for a device.
 *
 * @retval SYCL_ERROR_TIMEOUT  Not yet; it keeps its place.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_wait_for(sycl_host_accessor accessor, uint64_t timeout_ns);
/**
 * Is it known to be ready, or to have failed? Looks at shared memory only. Never blocks.
 *
 * @param[out] ready_out  1: sycl_host_accessor_wait returns at once.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_is_ready(sycl_host_accessor accessor, uint32_t *ready_out);

/**
 * The contents: of a ranged accessor its part's first byte. Never blocks.
 *
 * @param[out] pointer_out  Valid until the accessor's last release; not necessarily the pointer given at creation
 *                         . To be written only with a mode that writes. For an empty buffer not NULL, but
 *                          nothing may be touched.
 * @retval SYCL_ERROR_INVALID  An asynchronous accessor that is not ready.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_get_pointer(sycl_host_accessor accessor, void **pointer_out);
/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_host_accessor_retain(sycl_host_accessor accessor);
/**
 * End one reference; with the last one the groups that wait for it may run, and see what was written. Never
 * blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_release(sycl_host_accessor accessor);
/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_host_accessor_get_reference_count(sycl_host_accessor accessor, uint32_t *count_out);

SYCL_END_DECLS
#endif
