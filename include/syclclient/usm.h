/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file usm.h Unified shared memory: allocations that kernels reach by their address. The
 * rules for all functions are at the top of result.h.
 *
 * - Device USM is memory of one device. Its address belongs to the device. The program passes it to
 *   kernels and copies and computes with it, but cannot access the memory. An access ends the
 *   program by a signal, as any bad pointer does.
 * - Host USM lies in host memory. Kernels of all devices of its context reach it at the same
 *   address as the program.
 * - Shared USM belongs to the program and one device. Kernels of the context's other devices reach
 *   it too.
 *
 * A device's aspects say which kinds it has. Through a service, shared USM is pinned host memory
 * that the engine shares with the program, as host USM is. Both sides access the same pages, which
 * never move. Prefetch and advice are checked and ordered there, and have no effect. A kernel that
 * reads much of it more than once is faster on device USM, with copies. With "embedded:" shared USM
 * is the backend's own and may move to the side that uses it. Prefetch and advice are then the
 * backend's too (on CUDA: managed memory). SYCL_DEVICE_INFO_USM_SHARED_MIGRATES says which of the
 * two applies. So the aspects may differ between the two.
 *
 * Addresses order nothing. Two command groups that use the same allocation run in any order, or at
 * one time. To order them, let one depend on the other's event, require the same buffer, or use an
 * in-order queue. After a wait for a group's event each side reads what the other wrote.
 *
 * An allocation belongs to one context. Queues of another one refuse it, and so does every function
 * here. Allocations are no objects. They end with sycl_free, or with the connection; so do not
 * release its last handle before the program has stopped using them. A forked child does not have
 * them: an access to host or shared USM there ends it.
 *
 * Many small allocations of host and shared USM share pages. The contents of new memory are
 * undefined.
 */
#ifndef SYCLCLIENT_USM_H
#define SYCLCLIENT_USM_H

#include "handler.h"

SYCL_BEGIN_DECLS

/** Kinds of USM. */
typedef enum sycl_usm_kind {
	SYCL_USM_UNKNOWN = 0, /**< no USM of the context */
	SYCL_USM_DEVICE = 1,
	SYCL_USM_HOST = 2,
	SYCL_USM_SHARED = 3
} sycl_usm_kind;

/** Hints about shared USM. Those without HOST concern the queue's device, the others the host. */
typedef enum sycl_mem_advice {
	SYCL_MEM_ADVICE_SET_READ_MOSTLY = 1,
	SYCL_MEM_ADVICE_UNSET_READ_MOSTLY = 2,
	SYCL_MEM_ADVICE_SET_PREFERRED_LOCATION = 3,
	SYCL_MEM_ADVICE_UNSET_PREFERRED_LOCATION = 4,
	SYCL_MEM_ADVICE_SET_ACCESSED_BY = 5,
	SYCL_MEM_ADVICE_UNSET_ACCESSED_BY = 6,
	SYCL_MEM_ADVICE_SET_PREFERRED_LOCATION_HOST = 7,
	SYCL_MEM_ADVICE_UNSET_PREFERRED_LOCATION_HOST = 8,
	SYCL_MEM_ADVICE_SET_ACCESSED_BY_HOST = 9,
	SYCL_MEM_ADVICE_UNSET_ACCESSED_BY_HOST = 10
} sycl_mem_advice;

/** An allocation. Start from SYCL_USM_INFO_INIT. 24 bytes, no padding. */
struct sycl_usm_info {
	uint32_t struct_bytes; /**< sizeof(struct sycl_usm_info), so it can grow */
	uint32_t kind;         /**< enum sycl_usm_kind */
	uint64_t size_bytes;   /**< as requested */
	void *base;            /**< its first byte */
};
#define SYCL_USM_INFO_INIT                                                                         \
	{                                                                                          \
		sizeof(struct sycl_usm_info), 0, 0, 0                                              \
	}

/**
 * Allocate device USM on the queue's device, in its context. Blocks for a round trip, and until the
 * device has allocated; never for a kernel. The pointer is valid in every command group that is
 * submitted later.
 *
 * @param queue             Its device and context.
 * @param size_bytes        0: *pointer_out is NULL, and the call succeeds.
 * @param alignment_bytes   A power of two up to 4096; 0: enough for every type.
 * @param[out] pointer_out  The caller frees it with sycl_free or sycl_usm_free.
 * @retval SYCL_ERROR_INVALID                No such alignment.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no USM of this kind.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION      The device, or the host, has not enough memory left.
 * @retval SYCL_ERROR_QUOTA                  More objects, or more bytes of buffers and USM
 *                                           together, than allowed.
 * @since 0.1
 *
 * @example
 *	void *numbers = NULL;
 *	result = sycl_malloc_device(queue, 1 << 20, 0, &numbers);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_queue_memset(queue, numbers, 0, 1 << 20, 0, NULL, NULL);
 *	(void)sycl_free(queue, numbers); // after the fill
 */
SYCL_API sycl_result sycl_malloc_device(sycl_queue queue, uint64_t size_bytes,
					uint64_t alignment_bytes, void **pointer_out);
/** Allocate host USM in the queue's context. Otherwise as sycl_malloc_device. @since 0.1 */
SYCL_API sycl_result sycl_malloc_host(sycl_queue queue, uint64_t size_bytes,
				      uint64_t alignment_bytes, void **pointer_out);
/** Allocate shared USM. Otherwise as sycl_malloc_device. @since 0.1 */
SYCL_API sycl_result sycl_malloc_shared(sycl_queue queue, uint64_t size_bytes,
					uint64_t alignment_bytes, void **pointer_out);
/**
 * Allocate USM in a context. Otherwise as sycl_malloc_device.
 *
 * @param device  One of the context's. For host USM, which belongs to no device, NULL or any of
 *                them.
 * @param kind    Not SYCL_USM_UNKNOWN.
 * @retval SYCL_ERROR_INVALID  Also: no such kind; the device is not one of the context's.
 * @since 0.1
 */
SYCL_API sycl_result sycl_usm_malloc(sycl_context context, sycl_device device, sycl_usm_kind kind,
				     uint64_t size_bytes, uint64_t alignment_bytes,
				     void **pointer_out);

/**
 * Free an allocation of the queue's context. Never waits. The memory itself is freed when all
 * earlier command groups of the connection are complete. So these may use it, also through pointers
 * that the library does not have. From now on calls refuse it, and the program must not touch it.
 *
 * @param queue    Any queue of the context.
 * @param pointer  The first byte of an allocation; NULL does nothing.
 * @retval SYCL_ERROR_INVALID  No allocation of this context begins there.
 * @since 0.1
 */
SYCL_API sycl_result sycl_free(sycl_queue queue, void *pointer);
/** Free an allocation of a context. Otherwise as sycl_free. @since 0.1 */
SYCL_API sycl_result sycl_usm_free(sycl_context context, void *pointer);

/**
 * Get the kind of a pointer. Never blocks.
 *
 * @param pointer        Into an allocation, or anywhere else.
 * @param[out] kind_out  SYCL_USM_UNKNOWN if it is not in an allocation of this context, also for
 *                       NULL.
 * @since 0.1
 */
SYCL_API sycl_result sycl_usm_get_pointer_type(sycl_context context, const void *pointer,
					       sycl_usm_kind *kind_out);
/**
 * Get the device of device or shared USM; for host USM the context's first device. Never blocks.
 *
 * @param pointer          Into an allocation.
 * @param[out] device_out  The caller releases it.
 * @retval SYCL_ERROR_INVALID  No USM of this context.
 * @since 0.1
 */
SYCL_API sycl_result sycl_usm_get_pointer_device(sycl_context context, const void *pointer,
						 sycl_device *device_out);
/**
 * Get the kind, the size and the beginning of an allocation. Never blocks.
 *
 * @param pointer       Into an allocation.
 * @param[in,out] info  With struct_bytes set; the call fills the rest.
 * @retval SYCL_ERROR_INVALID  No USM of this context; wrong struct_bytes.
 * @since 0.1
 */
SYCL_API sycl_result sycl_usm_get_pointer_info(sycl_context context, const void *pointer,
					       struct sycl_usm_info *info);

/**
 * Give the kernel a pointer into USM as argument `index`, a pointer to global memory. It may point
 * anywhere into an allocation. Pointers inside values (sycl_handler_set_value) or inside USM work
 * as well, but are not checked. Kernels in the portable form declare such a pointer in a structure
 * as ulong, and cast it. Never blocks.
 *
 * @param index    The argument's number, from 0.
 * @param pointer  NULL is allowed.
 * @retval SYCL_ERROR_INVALID          Not into an allocation of the queue's context; device USM of
 *                                     another device.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT  No kernel has that many arguments.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_usm(sycl_handler handler, uint32_t index,
					  const void *pointer);

/**
 * Set the action: copy bytes. Each end is USM of the queue's context, of any kind and device, or
 * else this program's own memory. The ends must not overlap. Never blocks.
 *
 * The library copies the program's memory through memory that it shares with the engine. That
 * counts against the session's limit until the copy is complete. The library reads the program's
 * memory when the group is submitted. But if pending host tasks or copies may write the program's
 * memory, it reads it in turn, as a host task. It also writes the program's memory as a host task
 * (host_task.h). A connection without helper threads does that during waits.
 *
 * @param destination  Where to write.
 * @param source       Where to read.
 * @param size_bytes   0 moves nothing, and the pointers are ignored.
 * @retval SYCL_ERROR_INVALID  The group has an action already; an end is NULL, reaches beyond its
 *                             allocation, or belongs to another context; source and destination
 *                             overlap.
 * @return sycl_queue_submit also has SYCL_ERROR_QUOTA: no shared memory is left for the program's
 *         bytes, or 1024 host tasks of the connection have not ended. It blocks for a round trip if
 *         it needs more shared memory.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_memcpy(sycl_handler handler, void *destination,
					 const void *source, uint64_t size_bytes);
/**
 * Set the action: set every byte of USM to `value`. Never blocks.
 *
 * @param pointer     Where to begin.
 * @param value       Its lowest 8 bits are used.
 * @param size_bytes  How many bytes.
 * @retval SYCL_ERROR_INVALID  The group has an action already; not inside one allocation of the
 *                             queue's context; device USM of another device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_memset(sycl_handler handler, void *pointer, int value,
					 uint64_t size_bytes);
/**
 * Set the action: fill USM with a pattern. Never blocks.
 *
 * @param pointer        Where to begin.
 * @param size_bytes     A multiple of pattern_bytes; 0 moves nothing.
 * @param pattern        Copied now.
 * @param pattern_bytes  1 to 128.
 * @retval SYCL_ERROR_INVALID  As sycl_handler_memset; also: a pattern or a size that does not fit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_usm_fill(sycl_handler handler, void *pointer, uint64_t size_bytes,
					   const void *pattern, size_t pattern_bytes);
/**
 * Set the action: a hint that the queue's device will use shared USM. Through a service, where
 * nothing moves (SYCL_DEVICE_INFO_USM_SHARED_MIGRATES), it has no effect. Never blocks.
 *
 * @param pointer     Where the range begins.
 * @param size_bytes  How many bytes.
 * @retval SYCL_ERROR_INVALID  The group has an action already; not inside one allocation of shared
 *                             USM of the queue's context.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_prefetch(sycl_handler handler, const void *pointer,
					   uint64_t size_bytes);
/**
 * Set the action: a hint about shared USM. Through a service, where nothing moves
 * (SYCL_DEVICE_INFO_USM_SHARED_MIGRATES), it has no effect. Never blocks.
 *
 * @param pointer     Where the range begins.
 * @param size_bytes  How many bytes.
 * @param advice      The hint.
 * @retval SYCL_ERROR_INVALID  The group has an action already; not inside one allocation of shared
 *                             USM of the queue's context; no such advice.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_mem_advise(sycl_handler handler, const void *pointer,
					     uint64_t size_bytes, sycl_mem_advice advice);

/**
 * Submit a command group that copies bytes. Errors and blocking are those of sycl_handler_memcpy,
 * sycl_handler_depends_on and sycl_queue_submit.
 *
 * @param destination     Where to write.
 * @param source          Where to read.
 * @param size_bytes      How many bytes.
 * @param event_count     How many events the group depends on.
 * @param events          The events; NULL if event_count is 0.
 * @param[out] event_out  The caller releases it. NULL: no event is made.
 * @since 0.1
 *
 * @example
 *	float numbers[100];
 *	sycl_event copied = NULL;
 *	result = sycl_queue_memcpy(queue, numbers, pointer, sizeof(numbers), 0, NULL, &copied);
 *	if (result == SYCL_SUCCESS)
 *		result = sycl_event_wait(copied); // now the bytes are there
 */
SYCL_API sycl_result sycl_queue_memcpy(sycl_queue queue, void *destination, const void *source,
				       uint64_t size_bytes, uint32_t event_count,
				       const sycl_event *events, sycl_event *event_out);
/**
 * Submit a command group that sets every byte of USM to a value. As sycl_handler_memset and
 * sycl_queue_memcpy.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_memset(sycl_queue queue, void *pointer, int value,
				       uint64_t size_bytes, uint32_t event_count,
				       const sycl_event *events, sycl_event *event_out);
/**
 * Submit a command group that fills USM with a pattern. As sycl_handler_usm_fill and
 * sycl_queue_memcpy.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_usm_fill(sycl_queue queue, void *pointer, uint64_t size_bytes,
					 const void *pattern, size_t pattern_bytes,
					 uint32_t event_count, const sycl_event *events,
					 sycl_event *event_out);
/**
 * Submit a command group that is a hint to move shared USM. As sycl_handler_prefetch and
 * sycl_queue_memcpy.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_prefetch(sycl_queue queue, const void *pointer, uint64_t size_bytes,
					 uint32_t event_count, const sycl_event *events,
					 sycl_event *event_out);
/**
 * Submit a command group that is a hint about shared USM. As sycl_handler_mem_advise and
 * sycl_queue_memcpy.
 * @since 0.1
 */
SYCL_API sycl_result sycl_queue_mem_advise(sycl_queue queue, const void *pointer,
					   uint64_t size_bytes, sycl_mem_advice advice,
					   uint32_t event_count, const sycl_event *events,
					   sycl_event *event_out);

SYCL_END_DECLS
#endif
