/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file device.h Devices, what they are, choosing one. The rules for all functions are at the top of
 * result.h.
 */
#ifndef SYCLCLIENT_DEVICE_H
#define SYCLCLIENT_DEVICE_H

#include "result.h"

SYCL_BEGIN_DECLS

/** Kinds of devices; ALL is for lists only. */
typedef enum sycl_device_type {
	SYCL_DEVICE_TYPE_ALL = 0,
	SYCL_DEVICE_TYPE_CPU = 1,
	SYCL_DEVICE_TYPE_GPU = 2,
	SYCL_DEVICE_TYPE_ACCELERATOR = 3,
	SYCL_DEVICE_TYPE_CUSTOM = 4
} sycl_device_type;

/** What a device can do. */
typedef enum sycl_aspect {
	SYCL_ASPECT_CPU = 0,
	SYCL_ASPECT_GPU = 1,
	SYCL_ASPECT_ACCELERATOR = 2,
	SYCL_ASPECT_CUSTOM = 3,
	SYCL_ASPECT_EMULATED = 4,
	SYCL_ASPECT_HOST_DEBUGGABLE = 5,
	SYCL_ASPECT_FP16 = 6,
	SYCL_ASPECT_FP64 = 7,
	SYCL_ASPECT_ATOMIC64 = 8,
	SYCL_ASPECT_IMAGE = 9,
	SYCL_ASPECT_ONLINE_COMPILER = 10,
	SYCL_ASPECT_ONLINE_LINKER = 11,
	SYCL_ASPECT_QUEUE_PROFILING = 12,
	SYCL_ASPECT_USM_DEVICE_ALLOCATIONS = 13,
	SYCL_ASPECT_USM_HOST_ALLOCATIONS = 14,
	SYCL_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS = 15,
	SYCL_ASPECT_USM_SHARED_ALLOCATIONS = 16,
	SYCL_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS = 17,
	SYCL_ASPECT_USM_SYSTEM_ALLOCATIONS = 18,
	SYCL_ASPECT_EXT_ONEAPI_LIMITED_GRAPH = 19,
	SYCL_ASPECT_EXT_GRAPH_CONDITIONS = 20 /**< graphs have IF and WHILE nodes (graph.h) */
} sycl_aspect;

/** What can be asked of a device; the type of the answer behind each. */
typedef enum sycl_device_info {
	SYCL_DEVICE_INFO_TYPE = 1,              /**< uint32_t, enum sycl_device_type */
	SYCL_DEVICE_INFO_VENDOR_ID = 2,         /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS = 3, /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_WORK_ITEM_DIMENSIONS = 4, /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_WORK_ITEM_SIZES = 5, /**< uint64_t[3], SYCL's order */
	SYCL_DEVICE_INFO_MAX_WORK_GROUP_SIZE = 6, /**< uint64_t */
	SYCL_DEVICE_INFO_MAX_CLOCK_FREQUENCY_MHZ = 7, /**< uint32_t */
	SYCL_DEVICE_INFO_ADDRESS_BITS = 8,      /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_MEM_ALLOC_BYTES = 9, /**< uint64_t */
	SYCL_DEVICE_INFO_GLOBAL_MEM_BYTES = 10, /**< uint64_t */
	SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_BYTES = 11, /**< uint64_t */
	SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_LINE_BYTES = 12, /**< uint32_t */
	SYCL_DEVICE_INFO_LOCAL_MEM_BYTES = 13,  /**< uint64_t */
	SYCL_DEVICE_INFO_MAX_CONSTANT_BUFFER_BYTES = 14, /**< uint64_t */
	SYCL_DEVICE_INFO_MEM_BASE_ADDR_ALIGN_BITS = 15, /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_PARAMETER_BYTES = 16, /**< uint64_t */
	SYCL_DEVICE_INFO_PROFILING_TIMER_RESOLUTION_NS = 17, /**< uint64_t */
	SYCL_DEVICE_INFO_NAME = 18,             /**< char[] */
	SYCL_DEVICE_INFO_VENDOR = 19,           /**< char[] */
	SYCL_DEVICE_INFO_VERSION = 20,          /**< char[] */
	SYCL_DEVICE_INFO_DRIVER_VERSION = 21,   /**< char[] */
	SYCL_DEVICE_INFO_EXTENSIONS = 22,       /**< char[] */
	SYCL_DEVICE_INFO_BUILTIN_KERNELS = 23,  /**< char[], separated by semicolons */
	SYCL_DEVICE_INFO_HOST_UNIFIED_MEMORY = 24, /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_IS_LITTLE_ENDIAN = 25, /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_IS_AVAILABLE = 26,     /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_SUB_GROUP_SIZES = 27,  /**< uint32_t[] */
	SYCL_DEVICE_INFO_ERROR_CORRECTION = 28, /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_PRINTF_BUFFER_BYTES = 29, /**< uint64_t */
	SYCL_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS = 30, /**< uint64_t[7]: char short int long float double half */
	SYCL_DEVICE_INFO_NATIVE_VECTOR_WIDTHS = 31, /**< uint64_t[7] */
	SYCL_DEVICE_INFO_FP_CONFIG = 32,        /**< uint32_t[3]: half single double; bits of enum sycl_fp_config */
	SYCL_DEVICE_INFO_ASPECTS = 33,          /**< uint64_t, bit n: aspect n */
	SYCL_DEVICE_INFO_BACKEND = 34,          /**< uint32_t, enum sycl_backend */
	SYCL_DEVICE_INFO_ATOMIC_MEMORY_ORDERS = 35, /**< uint32_t, bits of enum sycl_memory_order */
	SYCL_DEVICE_INFO_ATOMIC_MEMORY_SCOPES = 36, /**< uint32_t, bits of enum sycl_memory_scope */
	SYCL_DEVICE_INFO_ATOMIC_FENCE_ORDERS = 37, /**< uint32_t, bits of enum sycl_memory_order */
	SYCL_DEVICE_INFO_ATOMIC_FENCE_SCOPES = 38, /**< uint32_t, bits of enum sycl_memory_scope */
	SYCL_DEVICE_INFO_MAX_NUM_SUB_GROUPS = 39, /**< uint32_t, of a work-group; 0: the device tells none */
	SYCL_DEVICE_INFO_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS = 40, /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_UUID = 41,             /**< uint8_t[16], the driver's; all 0: it tells none */
	SYCL_DEVICE_INFO_PCI_ADDRESS = 42,      /**< char[], "0000:1B:00.0"; "": it tells none */
	SYCL_DEVICE_INFO_MODE = 43,             /**< char[], what is unusual: "MIG 1g.18gb", "MPS client"; mostly "" */
	SYCL_DEVICE_INFO_UNAVAILABLE_REASON = 44, /**< char[], "" when available */
	SYCL_DEVICE_INFO_IMAGE_SUPPORT = 45,    /**< uint32_t, 0 or 1; 0: the answers up to MAX_SAMPLERS are 0 */
	SYCL_DEVICE_INFO_MAX_READ_IMAGE_ARGS = 46, /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_WRITE_IMAGE_ARGS = 47, /**< uint32_t */
	SYCL_DEVICE_INFO_IMAGE2D_MAX_WIDTH = 48, /**< uint64_t */
	SYCL_DEVICE_INFO_IMAGE2D_MAX_HEIGHT = 49, /**< uint64_t */
	SYCL_DEVICE_INFO_IMAGE3D_MAX_WIDTH = 50, /**< uint64_t */
	SYCL_DEVICE_INFO_IMAGE3D_MAX_HEIGHT = 51, /**< uint64_t */
	SYCL_DEVICE_INFO_IMAGE3D_MAX_DEPTH = 52, /**< uint64_t */
	SYCL_DEVICE_INFO_IMAGE_MAX_BUFFER_SIZE = 53, /**< uint64_t, elements */
	SYCL_DEVICE_INFO_MAX_SAMPLERS = 54,     /**< uint32_t */
	SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_TYPE = 55, /**< uint32_t, enum sycl_global_mem_cache_type */
	SYCL_DEVICE_INFO_LOCAL_MEM_TYPE = 56,   /**< uint32_t, enum sycl_local_mem_type */
	SYCL_DEVICE_INFO_MAX_CONSTANT_ARGS = 57, /**< uint32_t */
	SYCL_DEVICE_INFO_EXECUTION_CAPABILITIES = 58, /**< uint32_t, bits: 1 kernels, 2 native kernels */
	SYCL_DEVICE_INFO_IS_COMPILER_AVAILABLE = 59, /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_IS_LINKER_AVAILABLE = 60, /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_QUEUE_PROFILING = 61,  /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_PROFILE = 62,          /**< char[] */
	SYCL_DEVICE_INFO_BACKEND_VERSION = 63,  /**< char[], the platform's version */
	SYCL_DEVICE_INFO_PREFERRED_INTEROP_USER_SYNC = 64, /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_PARTITION_MAX_SUB_DEVICES = 65, /**< uint32_t */
	SYCL_DEVICE_INFO_PARTITION_PROPERTIES = 66, /**< uint32_t[], enum sycl_partition_property: how it can be divided */
	SYCL_DEVICE_INFO_PARTITION_AFFINITY_DOMAINS = 67, /**< uint32_t[], enum sycl_partition_affinity_domain */
	SYCL_DEVICE_INFO_PARTITION_TYPE_PROPERTY = 68, /**< uint32_t, how a sub-device was made; 0: it is none */
	SYCL_DEVICE_INFO_PARTITION_TYPE_AFFINITY_DOMAIN = 69, /**< uint32_t, by which domain; 0: by none */
	SYCL_DEVICE_INFO_IMAGE_LAYERED_MAX_WIDTH = 70, /**< uint64_t, of a layer; this and the next two: 0 without layered images */
	SYCL_DEVICE_INFO_IMAGE_LAYERED_MAX_HEIGHT = 71, /**< uint64_t, of a layer of two dimensions */
	SYCL_DEVICE_INFO_IMAGE_MAX_LAYERS = 72, /**< uint64_t, layers of an image */
	SYCL_DEVICE_INFO_L2_WINDOW_BYTES = 73,  /**< uint64_t, the largest window of a queue (sycl_queue_set_l2_window); 0: none */
	SYCL_DEVICE_INFO_USM_SHARED_MIGRATES = 74 /**< uint32_t, 0 or 1: shared USM moves to the device that uses it (usm.h); 0 through a service */
} sycl_device_info;

/** Ways to divide a device into sub-devices. */
typedef enum sycl_partition_property {
	SYCL_PARTITION_NONE = 0,
	SYCL_PARTITION_EQUALLY = 1,           /**< of so many compute units each; units that are left over are in none */
	SYCL_PARTITION_BY_COUNTS = 2,         /**< of these numbers of compute units */
	SYCL_PARTITION_BY_AFFINITY_DOMAIN = 3 /**< by what their compute units share */
} sycl_partition_property;

/** What the compute units of a sub-device share. */
typedef enum sycl_partition_affinity_domain {
	SYCL_PARTITION_AFFINITY_NOT_APPLICABLE = 0,
	SYCL_PARTITION_AFFINITY_NUMA = 1,
	SYCL_PARTITION_AFFINITY_L4_CACHE = 2,
	SYCL_PARTITION_AFFINITY_L3_CACHE = 3,
	SYCL_PARTITION_AFFINITY_L2_CACHE = 4,
	SYCL_PARTITION_AFFINITY_L1_CACHE = 5,
	SYCL_PARTITION_AFFINITY_NEXT_PARTITIONABLE = 6 /**< the first of these by which the device can be divided */
} sycl_partition_affinity_domain;

/** What a floating-point type can do, as bits of FP_CONFIG; 0: the device has not that type. */
typedef enum sycl_fp_config {
	SYCL_FP_DENORM = 1,
	SYCL_FP_INF_NAN = 2,
	SYCL_FP_ROUND_TO_NEAREST = 4,
	SYCL_FP_ROUND_TO_ZERO = 8,
	SYCL_FP_ROUND_TO_INF = 16,
	SYCL_FP_FMA = 32,
	SYCL_FP_SOFT_FLOAT = 64,
	SYCL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT = 128
} sycl_fp_config;

/** Memory orders, as bits. */
typedef enum sycl_memory_order {
	SYCL_MEMORY_ORDER_RELAXED = 1,
	SYCL_MEMORY_ORDER_ACQUIRE = 2,
	SYCL_MEMORY_ORDER_RELEASE = 4,
	SYCL_MEMORY_ORDER_ACQ_REL = 8,
	SYCL_MEMORY_ORDER_SEQ_CST = 16
} sycl_memory_order;

/** Memory scopes, as bits. On local memory a wider one than WORK_GROUP acts as WORK_GROUP. */
typedef enum sycl_memory_scope {
	SYCL_MEMORY_SCOPE_WORK_ITEM = 1,
	SYCL_MEMORY_SCOPE_SUB_GROUP = 2,
	SYCL_MEMORY_SCOPE_WORK_GROUP = 4,
	SYCL_MEMORY_SCOPE_DEVICE = 8,
	SYCL_MEMORY_SCOPE_SYSTEM = 16
} sycl_memory_scope;

typedef enum sycl_global_mem_cache_type {
	SYCL_GLOBAL_MEM_CACHE_NONE = 0,
	SYCL_GLOBAL_MEM_CACHE_READ_ONLY = 1,
	SYCL_GLOBAL_MEM_CACHE_READ_WRITE = 2
} sycl_global_mem_cache_type;

typedef enum sycl_local_mem_type {
	SYCL_LOCAL_MEM_NONE = 0,
	SYCL_LOCAL_MEM_LOCAL = 1, /**< of its own */
	SYCL_LOCAL_MEM_GLOBAL = 2 /**< a part of global memory */
} sycl_local_mem_type;

/**
 * Devices of one type, of this platform only. A round trip the first time, as sycl_platform_get_platforms.
 *
 * @param type              SYCL_DEVICE_TYPE_ALL for every one.
 * @param capacity          How many handles devices_out has room for; 0: only count.
 * @param[out] devices_out  Up to `capacity` handles, each the caller's to release; NULL when capacity is 0.
 * @param[out] count_out    How many there are, also beyond `capacity`; NULL if devices_out is given.
 * @retval SYCL_ERROR_INVALID   No such type, or an output is missing.
 * @retval SYCL_ERROR_PLATFORM  The service has no platform at all.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_devices(sycl_platform platform, sycl_device_type type, uint32_t capacity,
					       sycl_device *devices_out, uint32_t *count_out);
/**
 * Devices of all platforms of the connection. Otherwise as sycl_platform_get_devices.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_devices(sycl_platform platform, sycl_device_type type, uint32_t capacity,
					     sycl_device *devices_out, uint32_t *count_out);
/**
 * Divide a device into sub-devices, each with some of its compute units. A sub-device can be used wherever a device can: for
 * contexts, queues, queries and so on. It is in no list of devices. Blocks for a round trip.
 *
 * Compute units are not reserved: commands on the whole device use those of its sub-devices too. For shares and accounts a command on a
 * sub-device counts as one on the whole device. Only OpenCL devices can be divided, in the ways that
 * SYCL_DEVICE_INFO_PARTITION_PROPERTIES lists; CUDA devices cannot.
 *
 * @param device            May be a sub-device.
 * @param property          How to divide; says what `values` are. EQUALLY: one value, the compute units of every sub-device. BY_COUNTS: one
 *                          value for each sub-device, its compute units; values of 0 are skipped. BY_AFFINITY_DOMAIN: one value, of
 *                          enum sycl_partition_affinity_domain.
 * @param value_count       How many values, 1 to 64.
 * @param values            Read during the call.
 * @param capacity          How many handles devices_out has room for; 0: only count.
 * @param[out] devices_out  All sub-devices, each released by the caller with sycl_device_release; untouched on failure. NULL when capacity is 0.
 * @param[out] count_out    How many sub-devices there are; also set when capacity is too small.
 * @retval SYCL_ERROR_INVALID  No such property or domain; more compute units or sub-devices than the device has; capacity is not 0 and too small.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device cannot be divided in this way.
 * @retval SYCL_ERROR_QUOTA    A session has 16 sub-devices already. One that was released counts while a context of it lives.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_create_sub_devices(sycl_device device, sycl_partition_property property,
						    uint32_t value_count, const uint32_t *values, uint32_t capacity,
						    sycl_device *devices_out, uint32_t *count_out);
/**
 * The device that a sub-device is a part of. Never blocks.
 *
 * @param[out] parent_out  Released by the caller with sycl_device_release; equal to other handles for that device.
 * @retval SYCL_ERROR_INVALID  It is no sub-device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_parent(sycl_device device, sycl_device *parent_out);

/** One more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_device_retain(sycl_device device);
/** End one reference; queues and contexts keep what they need. Never waits for a device. @since 0.1 */
SYCL_API sycl_result sycl_device_release(sycl_device device);
/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_device_get_reference_count(sycl_device device, uint32_t *count_out);

/**
 * The platform of a device. Never blocks.
 *
 * @param[out] platform_out  The caller's to release; the same handle as anybody else holds for it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_platform(sycl_device device, sycl_platform *platform_out);

/**
 * Ask a device something. Never blocks: all answers came with the list of devices.
 *
 * @param bytes           Size of `value`.
 * @param[out] value      The answer, text with its final 0; NULL to ask only for the size.
 * @param[out] bytes_out  The answer's size; may be NULL if `value` is given.
 * @retval SYCL_ERROR_INVALID  No such info, or `value` is too small.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_info(sycl_device device, sycl_device_info info, size_t bytes, void *value,
					  size_t *bytes_out);
/**
 * Ask a device something that only its backend knows. Neither the CUDA backend nor the OpenCL one defines anything of
 * the kind, so every number is an error. Never blocks.
 *
 * @param info       A number of the backend's.
 * @param bytes      Size of `value`.
 * @param value      The answer; NULL to ask only for the size.
 * @param bytes_out  The answer's size; may be NULL if `value` is given.
 * @retval SYCL_ERROR_INVALID  No such info.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_backend_info(sycl_device device, uint32_t info, size_t bytes, void *value,
						  size_t *bytes_out);
/**
 * Does a device have an aspect? Never blocks.
 *
 * @param[out] has_out  1 or 0.
 * @retval SYCL_ERROR_INVALID  No such aspect.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_has(sycl_device device, sycl_aspect aspect, uint32_t *has_out);

/**
 * A score; negative: never choose it. Called on the thread that selects; the handle is borrowed: retain it to
 * keep it.
 */
typedef int32_t sycl_device_selector(sycl_device device, void *user_data);
/**
 * The device with the highest score, of all platforms of the connection; of equals any one. A round trip the
 * first time.
 *
 * @param selector        NULL: sycl_default_selector. Called once for each device, before this returns.
 * @param user_data       Handed to the selector.
 * @param[out] device_out The caller's to release.
 * @retval SYCL_ERROR_RUNTIME  There is no device, or every score is negative.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_select(sycl_platform platform, sycl_device_selector *selector, void *user_data,
					sycl_device *device_out);

/**
 * A device that has all of some aspects and none of others, the best of them by the default score. With two empty
 * lists: the default device. Otherwise as sycl_device_select.
 *
 * @param required  required_count aspects; NULL when that is 0.
 * @param denied    denied_count aspects; NULL when that is 0.
 * @retval SYCL_ERROR_INVALID  No such aspect.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_select_by_aspects(sycl_platform platform, uint32_t required_count,
						   const sycl_aspect *required, uint32_t denied_count,
						   const sycl_aspect *denied, sycl_device *device_out);

/**
 * Every device that is available: GPUs first, then accelerators, then CPUs. Never blocks.
 *
 * @return A score; negative: not this device, also for a handle of no device.
 * @since 0.1
 */
SYCL_API int32_t sycl_default_selector(sycl_device device, void *unused);
/**
 * CPUs only. Never blocks.
 *
 * @return As sycl_default_selector.
 * @since 0.1
 */
SYCL_API int32_t sycl_cpu_selector(sycl_device device, void *unused);
/**
 * GPUs only. Never blocks.
 *
 * @return As sycl_default_selector.
 * @since 0.1
 */
SYCL_API int32_t sycl_gpu_selector(sycl_device device, void *unused);
/**
 * Accelerators only. Never blocks.
 *
 * @return As sycl_default_selector.
 * @since 0.1
 */
SYCL_API int32_t sycl_accelerator_selector(sycl_device device, void *unused);

SYCL_END_DECLS
#endif
