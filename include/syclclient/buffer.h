/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file buffer.h Buffers, their parts, their host memory, and host accessors. The rules for all
 * functions are at the top of result.h.
 */
#ifndef SYCLCLIENT_BUFFER_H
#define SYCLCLIENT_BUFFER_H

#include "async.h"

SYCL_BEGIN_DECLS

/** Kinds of host memory of a buffer: its owner, and its use after the call. */
typedef enum sycl_host_memory {
	SYCL_HOST_NONE = 0,     /**< there is none: `host` is NULL */
	SYCL_HOST_BORROWED = 1, /**< the caller's; written back at release if a device wrote */
	SYCL_HOST_CONST = 2,    /**< read once, never written back */
	/** a sycl_host_block; written back if anything else still holds it */
	SYCL_HOST_SHARED = 3,
	SYCL_HOST_OWNED = 4 /**< given to the library: read once, then freed by a given function */
} sycl_host_memory;

/** All bytes from the offset on. */
#define SYCL_REST_BYTES UINT64_MAX

/**
 * Frees memory that was given to the library. Called once, on a thread that is in a call of this
 * library.
 */
typedef void sycl_free_function(void *memory, void *context);

/**
 * Make a buffer, usable with every queue of the connection. Blocks for a round trip only if the
 * session's shared memory must grow. Otherwise one-way: calls that use the buffer report what the
 * service finds wrong later.
 *
 * @param platform         Any platform of the connection.
 * @param host The first contents, copied during the call. NULL with SYCL_HOST_NONE: the contents
 *                         are undefined. SYCL_HOST_BORROWED memory of 8 MiB or more may be copied
 *                         later. The first call that needs it copies it: a submission with the
 *                         buffer, a host accessor on it, its last release or its last detach. The
 *                         program must not change the memory before that. Until the last release it
 *                         belongs to the library.
 * @param size_bytes       Any size, also 0.
 * @param kind             What happens to `host` later. SHARED and OWNED need
 *                         sycl_buffer_create_with.
 * @param[out] buffer_out  The caller releases it with sycl_buffer_release.
 * @retval SYCL_ERROR_INVALID  host and kind contradict each other.
 * @retval SYCL_ERROR_QUOTA    More objects, buffer bytes or shared memory than the session may
 *                             have.
 * @since 0.1
 *
 * @example
 *	float numbers[1000] = {0};
 *	sycl_buffer made = NULL;
 *	result = sycl_buffer_create(platform, numbers, sizeof(numbers), SYCL_HOST_BORROWED, &made);
 *	// ... command groups that use it ...
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_buffer_release(made); // waits, and writes back
 */
SYCL_API sycl_result sycl_buffer_create(sycl_platform platform, void *host, uint64_t size_bytes,
					sycl_host_memory kind, sycl_buffer *buffer_out);

/** Options of sycl_buffer_create_with. Start from SYCL_BUFFER_OPTIONS_INIT. */
struct sycl_buffer_options {
	uint32_t struct_bytes; /**< sizeof(struct sycl_buffer_options) */
	sycl_host_memory kind;
	uint64_t size_bytes;
	void *host;                    /**< the first contents; NULL with NONE and SHARED */
	sycl_host_block block;         /**< of SHARED: at least size_bytes; the buffer holds it */
	sycl_free_function *free_host; /**< of OWNED: gets `host`; NULL: free() */
	void *free_context;            /**< passed to free_host */
	/**
	 * An initialised pthread_mutex_t, process-shared if other processes use the memory; NULL:
	 * none. The library holds it while it reads or writes the host memory itself. That is for
	 * the copy of the first contents, and for the write-back of the last release. That
	 * write-back begins when all groups are complete. The library never holds it while it waits
	 * for anything else. It must stay valid until the last release. A robust mutex whose owner
	 * died is made consistent.
	 */
	void *use_mutex;
};
#define SYCL_BUFFER_OPTIONS_INIT                                                                   \
	{                                                                                          \
		sizeof(struct sycl_buffer_options), SYCL_HOST_NONE, 0, 0, 0, 0, 0, 0               \
	}

/**
 * Make a buffer with any kind of host memory. Otherwise as sycl_buffer_create; also blocks until
 * the mutex is free.
 *
 * Memory of kind OWNED belongs to the library when the call has succeeded. The library frees it as
 * soon as it is not needed, before this returns. If the call fails, the memory stays the caller's.
 *
 * @param options  Not NULL.
 * @retval SYCL_ERROR_INVALID         Wrong struct_bytes; members that contradict each other or the
 *                                    kind; a block that is smaller than the buffer; a mutex that
 *                                    cannot be locked.
 * @retval SYCL_ERROR_INVALID_HANDLE  SHARED without a block.
 * @return Otherwise as sycl_buffer_create.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_create_with(sycl_platform platform,
					     const struct sycl_buffer_options *options,
					     sycl_buffer *buffer_out);

/**
 * Make a temporary of graphs: memory for data that kernels of a graph pass to each other and that
 * the program does not need. It has no host memory, and no memory of its own on a device. Each
 * executable graph that uses it has memory for it on its device, as long as the graph exists. So
 * two graphs with the same temporary do not wait for each other, and their launches do not share
 * its contents. Never blocks.
 *
 * Its contents are undefined when a launch begins. Earlier nodes must have written what a node
 * reads, with SYCL_ACCESS_WRITE_NO_INIT, SYCL_ACCESS_READ_WRITE_NO_INIT, a fill or a copy.
 * Otherwise sycl_graph_finalize refuses the graph. Updates of nodes are not checked for this; what
 * nothing has written is undefined.
 *
 * Kernels, fills, copies between buffers and native commands of graphs may use it, and parts and
 * views of it (sycl_buffer_create_sub, sycl_buffer_reinterpret). Other uses return
 * SYCL_ERROR_INVALID: command groups outside of graphs, host tasks, host accessors, updates of the
 * host, and copies from or to the program's memory. It cannot be exported, has no native handle
 * outside of native commands, and is never written back.
 *
 * @param platform         Any platform of the connection.
 * @param size_bytes       Any size, also 0. It counts against the session's limit of buffer bytes.
 *                         Its memory in graphs counts against the limits of device memory
 *                         (SYCL_ERROR_QUOTA of the launch).
 * @param[out] buffer_out  The caller releases it with sycl_buffer_release. Graphs that use it keep
 *                         it.
 * @retval SYCL_ERROR_QUOTA                  More objects or buffer bytes than the session may have.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The service is older than this call.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_create_temporary(sycl_platform platform, uint64_t size_bytes,
						  sycl_buffer *buffer_out);

/**
 * Make a counted block of memory that buffers and the program share. It belongs to no connection.
 * Never blocks.
 *
 * @param memory          Of size_bytes; it belongs to the block if the call succeeds. NULL: the
 *                        library allocates it, filled with 0.
 * @param size_bytes      Not 0.
 * @param free_memory     Called with `memory` when neither the program nor a buffer holds the
 *                        block; NULL: free().
 * @param context         Passed to free_memory.
 * @param[out] block_out  The caller releases it with sycl_host_block_release.
 * @retval SYCL_ERROR_INVALID            0 bytes; free_memory or context without memory.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION  No memory in this process.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_block_create(void *memory, uint64_t size_bytes,
					    sycl_free_function *free_memory, void *context,
					    sycl_host_block *block_out);
/** Take one more reference. Buffers write back to a block that has one. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_host_block_retain(sycl_host_block block);
/**
 * Release one reference. After the last one, the memory lives until the last buffer over it is
 * released. Never blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_block_release(sycl_host_block block);
/**
 * Get the memory of a block. Never blocks.
 *
 * @param[out] pointer_out  Valid while the block is held.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_block_get_pointer(sycl_host_block block, void **pointer_out);
/**
 * Get the number of references that the caller holds, without those of buffers. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_block_get_reference_count(sycl_host_block block,
							 uint32_t *count_out);

/**
 * Make a sub-buffer: a part of a buffer that can be used wherever a buffer can. Unlike a ranged
 * accessor it orders by its own range, so groups on parts that do not overlap may run at one time.
 * It shares the bytes of the buffer. The buffer ends with the last release of it and of all its
 * parts. Never blocks.
 *
 * @param buffer        No sub-buffer itself.
 * @param offset_bytes  Any. But a group refuses a sub-buffer with SYCL_ERROR_INVALID if its offset
 *                      is not a multiple of its device's SYCL_DEVICE_INFO_MEM_BASE_ADDR_ALIGN_BITS.
 * @param size_bytes    May be 0: it has no bytes and orders nothing.
 * @param[out] sub_out  The caller releases it with sycl_buffer_release.
 * @retval SYCL_ERROR_INVALID  A part of a part; outside of the buffer.
 * @return The buffer's own error, if the service could not make it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_create_sub(sycl_buffer buffer, uint64_t offset_bytes,
					    uint64_t size_bytes, sycl_buffer *sub_out);

/**
 * Make a view: the same bytes as an array of other elements. In every respect it is the buffer, or
 * the sub-buffer, that it was made of: with its contents, its order and its end. It adds a shape,
 * for sycl_handler_copy_elements and sycl_buffer_get_shape. Never blocks.
 *
 * @param element_bytes  Size of one element.
 * @param range          Elements, row-major: the last dimension varies fastest.
 * @param[out] view_out  The caller releases it with sycl_buffer_release.
 * @retval SYCL_ERROR_INVALID  Not 1 to 3 dimensions; the elements do not have exactly as many bytes
 *                             as the buffer.
 * @return The buffer's own error, if the service could not make it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_reinterpret(sycl_buffer buffer, uint64_t element_bytes,
					     sycl_range range, sycl_buffer *view_out);

/**
 * Get a buffer's elements: those of sycl_buffer_reinterpret, otherwise one for each byte. Never
 * blocks.
 *
 * @param[out] element_bytes_out  May be NULL.
 * @param[out] range_out          May be NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_get_shape(sycl_buffer buffer, uint64_t *element_bytes_out,
					   sycl_range *range_out);

/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_buffer_retain(sycl_buffer buffer);

/**
 * Release one reference. The effect of the last one, of the buffer, its parts and its views,
 * depends on the host memory:
 *
 * | kind | waits for the groups | copies back |
 * | --- | --- | --- |
 * | SYCL_HOST_BORROWED | all that use the buffer | if a group or a host accessor could write |
 * | SYCL_HOST_SHARED | as BORROWED, if anything else holds the block at this moment | as BORROWED |
 * | SYCL_HOST_NONE, SYCL_HOST_CONST, SYCL_HOST_OWNED | no | no |
 *
 * After sycl_buffer_set_write_back(buffer, 0) or sycl_buffer_set_final_data(buffer, NULL) it
 * neither waits nor copies. After sycl_buffer_set_final_data with memory it waits, and always
 * copies the contents there. It does not wait for a buffer that no group has used. Where it does
 * not wait it never blocks, and running groups keep what they need.
 *
 * A failure of the last release is its result, and also an error of the connection:
 * sycl_platform_throw_asynchronous.
 *
 * @retval SYCL_ERROR_INVALID  It would have to wait while the buffer has host accessors. The buffer
 *                             is still the caller's.
 * @return Any other failure, such as that of a group that wrote the buffer: the buffer is released,
 *         the host memory unchanged. But if the device or the service is lost during the copy of 8
 *         MiB or more, a part may have been copied.
 * @since 0.1
 *
 * @example
 *	result = sycl_buffer_release(buffer); // the contents are in the host memory now
 *	if (result != SYCL_SUCCESS)
 *		fprintf(stderr, "not written back: %s\n", sycl_get_last_error_text());
 */
SYCL_API sycl_result sycl_buffer_release(sycl_buffer buffer);

/**
 * Release one reference without waiting. If it is the last one, nothing is written back, whatever
 * the kind of host memory. The memory is the caller's again at once, with its present contents.
 * Never waits for a device. SYCL_HOST_BORROWED memory of 8 MiB or more that no call has used yet is
 * copied first (sycl_buffer_create).
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_detach(sycl_buffer buffer);

/**
 * Release one reference as sycl_buffer_release does, with a limit on the wait.
 *
 * @param timeout_ns  Longest wait, ns of CLOCK_MONOTONIC.
 * @retval SYCL_ERROR_TIMEOUT  The buffer is still the caller's.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_release_for(sycl_buffer buffer, uint64_t timeout_ns);

/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_get_reference_count(sycl_buffer buffer, uint32_t *count_out);

/**
 * Get the size in bytes, as given at creation. Never blocks.
 *
 * @param[out] size_bytes_out  The size.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_get_size(sycl_buffer buffer, uint64_t *size_bytes_out);

/**
 * Set whether the last release may write back. Never blocks.
 *
 * @param write_back  1, as at creation. 0: nothing is written back, and release does not wait.
 * @retval SYCL_ERROR_INVALID  Another number; a sub-buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_set_write_back(sycl_buffer buffer, uint32_t write_back);

/**
 * Set where the last release writes the contents, instead of the host memory given at creation.
 * Never blocks.
 *
 * @param final_data  Room for the whole buffer; the caller's, valid until the last release. NULL:
 *                    nowhere.
 * @retval SYCL_ERROR_INVALID  A sub-buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_buffer_set_final_data(sycl_buffer buffer, void *final_data);

/**
 * Access a buffer from the host. Blocks until the groups on the buffer allow it: for reading, those
 * that write it; for writing, all of them. It does not wait for groups on other buffers. Groups
 * that are submitted later wait until it is released. Several accessors for reading may exist at a
 * time.
 *
 * @param mode               With a no-init mode the contents are undefined, and nothing is moved.
 * @param[out] accessor_out  The caller releases it with sycl_host_accessor_release. It keeps the
 *                           buffer alive.
 * @retval SYCL_ERROR_INVALID            No such mode.
 * @retval SYCL_ERROR_DEPENDENCY_FAILED  A group that writes the buffer failed, so there are no
 *                                       contents.
 * @retval SYCL_ERROR_QUOTA              The session has as many objects or completion slots as it
 *                                       may have.
 * @since 0.1
 *
 * @example
 *	sycl_host_accessor accessor = NULL;
 *	void *contents = NULL;
 *	result = sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor);
 *	if (result == SYCL_SUCCESS) {
 *		result = sycl_host_accessor_get_pointer(accessor, &contents);
 *		// ... read `contents` ...
 *		(void)sycl_host_accessor_release(accessor);
 *	}
 */
SYCL_API sycl_result sycl_host_accessor_create(sycl_buffer buffer, sycl_access_mode mode,
					       sycl_host_accessor *accessor_out);

/**
 * Access a buffer from the host, with a limit on the wait. Otherwise as sycl_host_accessor_create.
 *
 * @param timeout_ns  Longest wait, ns of CLOCK_MONOTONIC. 0: do not wait for a device.
 * @retval SYCL_ERROR_TIMEOUT  Not in time. No accessor exists, and no group waits for it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_create_for(sycl_buffer buffer, sycl_access_mode mode,
						   uint64_t timeout_ns,
						   sycl_host_accessor *accessor_out);

/**
 * Access a part of a buffer from the host. It waits for and holds up the same groups as an accessor
 * on the whole buffer, or on the whole sub-buffer. But only the part is brought to the host, and
 * the program may touch only the part. Otherwise as sycl_host_accessor_create_for.
 *
 * @param offset_bytes  Where the part begins in the buffer.
 * @param size_bytes    SYCL_REST_BYTES: everything from the offset on.
 * @param timeout_ns    Longest wait, ns of CLOCK_MONOTONIC. SYCL_FOREVER_NS: no limit.
 * @retval SYCL_ERROR_INVALID  Also: the part lies outside of the buffer.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_create_ranged(sycl_buffer buffer, sycl_access_mode mode,
						      uint64_t offset_bytes, uint64_t size_bytes,
						      uint64_t timeout_ns,
						      sycl_host_accessor *accessor_out);

/**
 * Request access from the host without waiting. The accessor takes its place in the order: groups
 * that are submitted from now on wait for it, and it waits for the earlier ones. It has no pointer
 * until sycl_host_accessor_wait or sycl_host_accessor_is_ready reports that it is ready. Releasing
 * it before that withdraws it. Never waits for a device. The first use of large SYCL_HOST_BORROWED
 * memory takes as long as its copy (sycl_buffer_create). Otherwise as
 * sycl_host_accessor_create_ranged.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_create_async(sycl_buffer buffer, sycl_access_mode mode,
						     uint64_t offset_bytes, uint64_t size_bytes,
						     sycl_host_accessor *accessor_out);

/**
 * Wait until the accessor is ready. Blocks until the earlier groups allow it; returns at once if it
 * is ready.
 *
 * @return 0, or why it will never be ready, as sycl_host_accessor_create. It must still be
 *         released.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_wait(sycl_host_accessor accessor);
/**
 * Wait as sycl_host_accessor_wait does, with a limit.
 *
 * @param timeout_ns  Longest wait, ns of CLOCK_MONOTONIC. 0: do not wait for a device.
 * @retval SYCL_ERROR_TIMEOUT  Not in time; the accessor keeps its place.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_wait_for(sycl_host_accessor accessor, uint64_t timeout_ns);
/**
 * Query whether an accessor is ready or has failed. Reads shared memory only. Never blocks.
 *
 * @param[out] ready_out  1: sycl_host_accessor_wait returns at once.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_is_ready(sycl_host_accessor accessor, uint32_t *ready_out);

/**
 * Get the contents: the first byte of the buffer, or of a ranged accessor's part. Never blocks.
 *
 * @param[out] pointer_out  Valid until the accessor's last release. It may differ from the pointer
 *                          given at creation. Write there only with a mode that writes. For an
 *                          empty buffer it is not NULL, but nothing may be touched.
 * @retval SYCL_ERROR_INVALID  An asynchronous accessor that is not ready.
 * @since 0.1
 *
 * @example
 *	sycl_host_accessor accessor = NULL;
 *	void *contents = NULL;
 *	result = sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor);
 *	if (result == SYCL_SUCCESS) {
 *		result = sycl_host_accessor_get_pointer(accessor, &contents);
 *		if (result == SYCL_SUCCESS)
 *			printf("%g\n", (double)((const float *)contents)[0]);
 *		(void)sycl_host_accessor_release(accessor);
 *	}
 */
SYCL_API sycl_result sycl_host_accessor_get_pointer(sycl_host_accessor accessor,
						    void **pointer_out);
/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_host_accessor_retain(sycl_host_accessor accessor);
/**
 * Release one reference. After the last one, groups that wait for it may run, and read what was
 * written. Never blocks.
 * @since 0.1
 *
 * @example
 *	sycl_host_accessor accessor = NULL;
 *	void *contents = NULL;
 *	result = sycl_host_accessor_create(buffer, SYCL_ACCESS_WRITE, &accessor);
 *	if (result == SYCL_SUCCESS) {
 *		result = sycl_host_accessor_get_pointer(accessor, &contents);
 *		if (result == SYCL_SUCCESS)
 *			memset(contents, 0, bytes);
 *		(void)sycl_host_accessor_release(accessor); // groups may use the buffer again
 *	}
 */
SYCL_API sycl_result sycl_host_accessor_release(sycl_host_accessor accessor);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_host_accessor_get_reference_count(sycl_host_accessor accessor,
							    uint32_t *count_out);

SYCL_END_DECLS
#endif
