/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file usm.h Unified shared memory: allocations that kernels reach by their address. The rules for all functions are
 * at the top of result.h.
 *
 * - Device USM is memory of one device. Its address is the device's: this program hands it to kernels and copies,
 *   computes with it, and cannot touch what it leads to (a program that does is ended by the kernel, as with any bad
 *   pointer).
 * - Host USM lies in host memory; kernels of all devices of its context reach it at the same address as this program.
 * - Shared USM belongs to this program and one device. Kernels of the context's other devices reach it too.
 *
 * Which of them a device has is told by its aspects. In a program that is a client of a service, shared USM is pinned
 * host memory that the service's engine shares with it, as host USM is: every access of either side goes to the same
 * pages, which never move: prefetch and advice are taken, checked and ordered there, and have no effect. A kernel that
 * goes through much of it more than once is faster on device USM, with copies. With "embedded:" it is the backend's own,
 * which may move to whoever uses it; there prefetch and advice are the backend's too (on CUDA: managed memory).
 * SYCL_DEVICE_INFO_USM_SHARED_MIGRATES tells which of the two it is. So the aspects may differ between the two.
 *
 * Nothing is ordered by addresses: two command groups that use the same allocation run in any order, or at one
 * time, unless one depends on the other's event, requires the same buffer, or follows it in an in-order queue. What one
 * side wrote is seen by the other when it has waited for that group's event.
 *
 * An allocation belongs to one context: queues of another one refuse it, and so does every function here.
 * Allocations are no objects; they end with sycl_free, or with the connection, whose last handle must not be released
 * before this program has stopped using them. A forked child does not have them: touching host or shared USM there ends
 * it.
 *
 * Many small allocations of host and shared USM share pages. Contents of new memory are undefined.
 */
#ifndef SYCLCLIENT_USM_H
#define SYCLCLIENT_USM_H

#include "handler.h"

SYCL_BEGIN_DECLS

/** What a pointer is. */
typedef enum sycl_usm_kind {
	SYCL_USM_UNKNOWN = 0, /**< no USM of the context */
	SYCL_USM_DEVICE = 1,
	SYCL_USM_HOST = 2,
	SYCL_USM_SHARED = 3
} sycl_usm_kind;

/** Hints about shared USM. Those without HOST are about the queue's device, the others about the host. */
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

/** What is known of an allocation. Start from SYCL_USM_INFO_INIT. 24 bytes, no padding. */
struct sycl_usm_info {
	uint32_t struct_bytes; /**< sizeof(struct sycl_usm_info), so it can grow */
	uint32_t kind;         /**< enum sycl_usm_kind */
	uint64_t size_bytes;   /**< as asked for */
	void *base;            /**< as given out */
};
#define SYCL_USM_INFO_INIT { sizeof(struct sycl_usm_info), 0, 0, 0 }

/**
 * Device USM on the queue's device and in its context. Blocks for a round trip, and until the device has allocated;
 * never for a kernel. The pointer is good in every command group that is submitted later.
 *
 * @param size_bytes        0: *pointer_out is NULL, and it is a success.
 * @param alignment_bytes   A power of two up to 4096; 0: enough for every type.
 * @param[out] pointer_out  To be freed by sycl_free or sycl_usm_free.
 * @retval SYCL_ERROR_INVALID                No such alignment.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no USM of this kind.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION      The device, or the host, has not so much left.
 * @retval SYCL_ERROR_QUOTA                  More bytes (of buffers and USM together) or objects than allowed.
 * @since 0.1
 */
SYCL_API sycl_result sycl_malloc_device(sycl_queue queue, uint64_t size_bytes, uint64_t alignment_bytes,
					void **pointer_out);
/** As sycl_malloc_device: host USM in the queue's context. @since 0.1 */
SYCL_API sycl_result sycl_malloc_host(sycl_queue queue, uint64_t size_bytes, uint64_t alignment_bytes,
				      void **pointer_out);
/** As sycl_malloc_device: shared USM. @since 0.1 */
SYCL_API sycl_result sycl_malloc_shared(sycl_queue queue, uint64_t size_bytes, uint64_t alignment_bytes,
					void **pointer_out);
/**
 * As sycl_malloc_device, for a context.
 *
 * @param device  One of the context's; NULL, or any of them, for host USM, which belongs to none.
 * @param kind    Not SYCL_USM_UNKNOWN.
 * @retval SYCL_ERROR_INVALID  Also: no such kind; the device is not one of the context's.
 * @since 0.1
 */
SYCL_API sycl_result sycl_usm_malloc(sycl_context context, sycl_device device, sycl_usm_kind kind, uint64_t size_bytes,
				     uint64_t alignment_bytes, void **pointer_out);

/**
 * Free an allocation of the queue's context. Never waits: the memory itself goes when all command groups of the
 * connection that were submitted before are complete, so those may use it, also through pointers that nobody sees. From
 * now on it is refused wherever it is named, and this program must not touch it any more.
 *
 * @param pointer  As given out; NULL does nothing.
 * @retval SYCL_ERROR_INVALID  No allocation of this context begins there, or not any more.
 * @since 0.1
 */
SYCL_API sycl_result sycl_free(sycl_queue queue, void *pointer);
/** As sycl_free, by the context. @since 0.1 */
SYCL_API sycl_result sycl_usm_free(sycl_context context, void *pointer);

/**
 * What the pointer is: into an allocation of this context, or SYCL_USM_UNKNOWN, also for NULL. Never blocks.
 * @since 0.1
 */
SYCL_API sycl_result sycl_usm_get_pointer_type(sycl_context context, const void *pointer, sycl_usm_kind *kind_out);
/**
 * The device of device and shared USM; of host USM the context's first. Never blocks.
 *
 * @param[out] device_out  The caller's to release.
 * @retval SYCL_ERROR_INVALID  No USM of this context.
 * @since 0.1
 */
SYCL_API sycl_result sycl_usm_get_pointer_device(sycl_context context, const void *pointer, sycl_device *device_out);
/**
 * All that is known of the allocation that a pointer leads into. Never blocks.
 *
 * @param[in,out] info  With struct_bytes set; the rest is filled.
 * @retval SYCL_ERROR_INVALID  No USM of this context; wrong struct_bytes.
 * @since 0.1
 */
SYCL_API sycl_result sycl_usm_get_pointer_info(sycl_context context, const void *pointer, struct sycl_usm_info *info);

/**
 * Give the kernel a pointer as argument `index`, where it takes a pointer to global memory. It may lead anywhere
 * into an allocation. Pointers that lie inside of values (sycl_handler_set_value) or of USM work as well, and nobody
 * checks them; kernels in the portable form take structures with ulong in place of such a pointer, and cast it.
 * Never blocks.
 *
 * @param pointer  NULL is allowed.
 * @retval SYCL_ERROR_INVALID          Not into an allocation of the queue's context; device USM of another one.
 * @retval SYCL_ERROR_KERNEL_ARGUMENT  No kernel has that many arguments.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_set_usm(sycl_handler handler, uint32_t index, const void *pointer);

/**
 * The action: copy bytes. Each end is USM of the queue's context, of any kind and device, or else this program's own
 * memory, which neither end may overlap. Never blocks.
 *
 * The program's memory is copied by this library, through memory shared with the engine that counts to the session's
 * limit until the copy is complete. It is read when the group is submitted, unless host tasks or other copies to the
 * program's memory are on their way, which may write it: then, and whenever it is written, that happens as in a host
 * task, in turn (host_task.h: a connection without helper threads does so when it is waited on).
 *
 * @param size_bytes  0 moves nothing, and no pointer is looked at.
 * @retval SYCL_ERROR_INVALID  There is an action already; an end is NULL, begins in an allocation and reaches beyond
 *                             it, or belongs to another context; source and destination overlap.
 * @return sycl_handler_submit also has SYCL_ERROR_QUOTA: the session has no shared memory left for the program's bytes,
 * or 1024 host tasks of the connection are not over. It blocks for a round trip where more shared memory is to be had.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_memcpy(sycl_handler handler, void *destination, const void *source,
					 uint64_t size_bytes);
/**
 * The action: set every byte of USM to `value` (its lowest 8 bits). Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  There is an action already; not inside of one allocation of the queue's context; device
 *                             USM of another device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_memset(sycl_handler handler, void *pointer, int value, uint64_t size_bytes);
/**
 * The action: fill USM with a pattern. Never blocks.
 *
 * @param size_bytes  A multiple of pattern_bytes; 0 moves nothing.
 * @param pattern     1 to 128 bytes, copied now.
 * @retval SYCL_ERROR_INVALID  As sycl_handler_memset; also: a pattern or a size that does not fit.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_usm_fill(sycl_handler handler, void *pointer, uint64_t size_bytes,
					   const void *pattern, size_t pattern_bytes);
/**
 * The action: shared USM will be used on the queue's device. A hint: where nothing moves
 * (SYCL_DEVICE_INFO_USM_SHARED_MIGRATES), as through a service, it is taken and has no effect. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  There is an action already; not inside of one allocation of shared USM of the queue's
 *                             context.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_prefetch(sycl_handler handler, const void *pointer, uint64_t size_bytes);
/**
 * The action: a hint about shared USM. Where nothing moves (SYCL_DEVICE_INFO_USM_SHARED_MIGRATES), as through a
 * service, it is taken and has no effect. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  There is an action already; not inside of one allocation of shared USM of the queue's
 *                             context; no such advice.
 * @since 0.1
 */
SYCL_API sycl_result sycl_handler_mem_advise(sycl_handler handler, const void *pointer, uint64_t size_bytes,
					     sycl_mem_advice advice);

/**
 * sycl_handler_memcpy as a command group that depends on `event_count` events (0: `events` may be NULL). `event_out`
 * may be NULL. Errors and blocking: as there, as sycl_handler_depends_on and as sycl_handler_submit. @since 0.1
 */
SYCL_API sycl_result sycl_queue_memcpy(sycl_queue queue, void *destination, const void *source, uint64_t size_bytes,
				       uint32_t event_count, const sycl_event *events, sycl_event *event_out);
/** sycl_handler_memset as a command group, as sycl_queue_memcpy. @since 0.1 */
SYCL_API sycl_result sycl_queue_memset(sycl_queue queue, void *pointer, int value, uint64_t size_bytes,
				       uint32_t event_count, const sycl_event *events, sycl_event *event_out);
/** sycl_handler_usm_fill as a command group, as sycl_queue_memcpy. @since 0.1 */
SYCL_API sycl_result sycl_queue_usm_fill(sycl_queue queue, void *pointer, uint64_t size_bytes, const void *pattern,
					 size_t pattern_bytes, uint32_t event_count, const sycl_event *events,
					 sycl_event *event_out);
/** sycl_handler_prefetch as a command group, as sycl_queue_memcpy. @since 0.1 */
SYCL_API sycl_result sycl_queue_prefetch(sycl_queue queue, const void *pointer, uint64_t size_bytes,
					 uint32_t event_count, const sycl_event *events, sycl_event *event_out);
/** sycl_handler_mem_advise as a command group, as sycl_queue_memcpy. @since 0.1 */
SYCL_API sycl_result sycl_queue_mem_advise(sycl_queue queue, const void *pointer, uint64_t size_bytes,
					   sycl_mem_advice advice, uint32_t event_count, const sycl_event *events,
					   sycl_event *event_out);

SYCL_END_DECLS
#endif
