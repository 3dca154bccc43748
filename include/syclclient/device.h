/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file device.h Devices: what they are, and how to choose one. The rules for all functions are
 * at the top of result.h.
 */
#ifndef SYCLCLIENT_DEVICE_H
#define SYCLCLIENT_DEVICE_H

#include "result.h"

SYCL_BEGIN_DECLS

/** Kinds of devices. ALL is for lists only. */
typedef enum sycl_device_type {
	SYCL_DEVICE_TYPE_ALL = 0,
	SYCL_DEVICE_TYPE_CPU = 1,
	SYCL_DEVICE_TYPE_GPU = 2,
	SYCL_DEVICE_TYPE_ACCELERATOR = 3,
	SYCL_DEVICE_TYPE_CUSTOM = 4
} sycl_device_type;

/** Features of a device. */
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

/** Queries of a device, each with the type of its answer. */
typedef enum sycl_device_info {
	SYCL_DEVICE_INFO_TYPE = 1,                           /**< uint32_t, enum sycl_device_type */
	SYCL_DEVICE_INFO_VENDOR_ID = 2,                      /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS = 3,              /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_WORK_ITEM_DIMENSIONS = 4,       /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_WORK_ITEM_SIZES = 5,            /**< uint64_t[3], SYCL's order */
	SYCL_DEVICE_INFO_MAX_WORK_GROUP_SIZE = 6,            /**< uint64_t */
	SYCL_DEVICE_INFO_MAX_CLOCK_FREQUENCY_MHZ = 7,        /**< uint32_t */
	SYCL_DEVICE_INFO_ADDRESS_BITS = 8,                   /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_MEM_ALLOC_BYTES = 9,            /**< uint64_t */
	SYCL_DEVICE_INFO_GLOBAL_MEM_BYTES = 10,              /**< uint64_t */
	SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_BYTES = 11,        /**< uint64_t */
	SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_LINE_BYTES = 12,   /**< uint32_t */
	SYCL_DEVICE_INFO_LOCAL_MEM_BYTES = 13,               /**< uint64_t */
	SYCL_DEVICE_INFO_MAX_CONSTANT_BUFFER_BYTES = 14,     /**< uint64_t */
	SYCL_DEVICE_INFO_MEM_BASE_ADDR_ALIGN_BITS = 15,      /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_PARAMETER_BYTES = 16,           /**< uint64_t */
	SYCL_DEVICE_INFO_PROFILING_TIMER_RESOLUTION_NS = 17, /**< uint64_t */
	SYCL_DEVICE_INFO_NAME = 18,                          /**< char[] */
	SYCL_DEVICE_INFO_VENDOR = 19,                        /**< char[] */
	SYCL_DEVICE_INFO_VERSION = 20,                       /**< char[] */
	SYCL_DEVICE_INFO_DRIVER_VERSION = 21,                /**< char[] */
	SYCL_DEVICE_INFO_EXTENSIONS = 22,                    /**< char[] */
	SYCL_DEVICE_INFO_BUILTIN_KERNELS = 23,               /**< char[], separated by semicolons */
	SYCL_DEVICE_INFO_HOST_UNIFIED_MEMORY = 24,           /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_IS_LITTLE_ENDIAN = 25,              /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_IS_AVAILABLE = 26,                  /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_SUB_GROUP_SIZES = 27,               /**< uint32_t[] */
	SYCL_DEVICE_INFO_ERROR_CORRECTION = 28,              /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_PRINTF_BUFFER_BYTES = 29,           /**< uint64_t */
	/** uint64_t[7]: char short int long float double half */
	SYCL_DEVICE_INFO_PREFERRED_VECTOR_WIDTHS = 30,
	SYCL_DEVICE_INFO_NATIVE_VECTOR_WIDTHS = 31, /**< uint64_t[7] */
	/** uint32_t[3]: half single double; bits of enum sycl_fp_config */
	SYCL_DEVICE_INFO_FP_CONFIG = 32,
	SYCL_DEVICE_INFO_ASPECTS = 33, /**< uint64_t, bit n: aspect n */
	SYCL_DEVICE_INFO_BACKEND = 34, /**< uint32_t, enum sycl_backend */
	/** uint32_t, bits of enum sycl_memory_order */
	SYCL_DEVICE_INFO_ATOMIC_MEMORY_ORDERS = 35,
	/** uint32_t, bits of enum sycl_memory_scope */
	SYCL_DEVICE_INFO_ATOMIC_MEMORY_SCOPES = 36,
	SYCL_DEVICE_INFO_ATOMIC_FENCE_ORDERS = 37, /**< uint32_t, bits of enum sycl_memory_order */
	SYCL_DEVICE_INFO_ATOMIC_FENCE_SCOPES = 38, /**< uint32_t, bits of enum sycl_memory_scope */
	SYCL_DEVICE_INFO_MAX_NUM_SUB_GROUPS = 39,  /**< uint32_t, of a work-group; 0: not known */
	SYCL_DEVICE_INFO_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS = 40, /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_UUID = 41,        /**< uint8_t[16], the driver's; all 0: not known */
	SYCL_DEVICE_INFO_PCI_ADDRESS = 42, /**< char[], "0000:1B:00.0"; "": not known */
	/** char[], a special mode: "MIG 1g.18gb", "MPS client"; else "" */
	SYCL_DEVICE_INFO_MODE = 43,
	SYCL_DEVICE_INFO_UNAVAILABLE_REASON = 44, /**< char[], "" when available */
	/** uint32_t, 0 or 1; 0: so are all up to MAX_SAMPLERS */
	SYCL_DEVICE_INFO_IMAGE_SUPPORT = 45,
	SYCL_DEVICE_INFO_MAX_READ_IMAGE_ARGS = 46,   /**< uint32_t */
	SYCL_DEVICE_INFO_MAX_WRITE_IMAGE_ARGS = 47,  /**< uint32_t */
	SYCL_DEVICE_INFO_IMAGE2D_MAX_WIDTH = 48,     /**< uint64_t */
	SYCL_DEVICE_INFO_IMAGE2D_MAX_HEIGHT = 49,    /**< uint64_t */
	SYCL_DEVICE_INFO_IMAGE3D_MAX_WIDTH = 50,     /**< uint64_t */
	SYCL_DEVICE_INFO_IMAGE3D_MAX_HEIGHT = 51,    /**< uint64_t */
	SYCL_DEVICE_INFO_IMAGE3D_MAX_DEPTH = 52,     /**< uint64_t */
	SYCL_DEVICE_INFO_IMAGE_MAX_BUFFER_SIZE = 53, /**< uint64_t, elements */
	SYCL_DEVICE_INFO_MAX_SAMPLERS = 54,          /**< uint32_t */
	/** uint32_t, enum sycl_global_mem_cache_type */
	SYCL_DEVICE_INFO_GLOBAL_MEM_CACHE_TYPE = 55,
	SYCL_DEVICE_INFO_LOCAL_MEM_TYPE = 56,    /**< uint32_t, enum sycl_local_mem_type */
	SYCL_DEVICE_INFO_MAX_CONSTANT_ARGS = 57, /**< uint32_t */
	/** uint32_t, bits: 1 kernels, 2 native kernels */
	SYCL_DEVICE_INFO_EXECUTION_CAPABILITIES = 58,
	SYCL_DEVICE_INFO_IS_COMPILER_AVAILABLE = 59,       /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_IS_LINKER_AVAILABLE = 60,         /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_QUEUE_PROFILING = 61,             /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_PROFILE = 62,                     /**< char[] */
	SYCL_DEVICE_INFO_BACKEND_VERSION = 63,             /**< char[], the platform's version */
	SYCL_DEVICE_INFO_PREFERRED_INTEROP_USER_SYNC = 64, /**< uint32_t, 0 or 1 */
	SYCL_DEVICE_INFO_PARTITION_MAX_SUB_DEVICES = 65,   /**< uint32_t */
	/** uint32_t[], enum sycl_partition_property */
	SYCL_DEVICE_INFO_PARTITION_PROPERTIES = 66,
	/** uint32_t[], enum sycl_partition_affinity_domain */
	SYCL_DEVICE_INFO_PARTITION_AFFINITY_DOMAINS = 67,
	/** uint32_t, of a sub-device; 0: it is no sub-device */
	SYCL_DEVICE_INFO_PARTITION_TYPE_PROPERTY = 68,
	/** uint32_t, the domain of a sub-device; 0: none */
	SYCL_DEVICE_INFO_PARTITION_TYPE_AFFINITY_DOMAIN = 69,
	/** uint64_t, of a layer; 0: no layered images, as for the next two */
	SYCL_DEVICE_INFO_IMAGE_LAYERED_MAX_WIDTH = 70,
	/** uint64_t, of a layer of two dimensions */
	SYCL_DEVICE_INFO_IMAGE_LAYERED_MAX_HEIGHT = 71,
	SYCL_DEVICE_INFO_IMAGE_MAX_LAYERS = 72, /**< uint64_t, layers of an image */
	/** uint64_t, largest window of sycl_queue_set_l2_window; 0: none */
	SYCL_DEVICE_INFO_L2_WINDOW_BYTES = 73,
	/**
	 * uint32_t, 0 or 1: shared USM moves to the device that uses it (usm.h). Through a service:
	 * 0.
	 */
	SYCL_DEVICE_INFO_USM_SHARED_MIGRATES = 74,
	/** uint32_t, images that a kernel may both read and write; 0: none */
	SYCL_DEVICE_INFO_MAX_READ_WRITE_IMAGE_ARGS = 75,
	/** uint32_t, pixels: rows of views of buffers begin at multiples; 0: views have one
	   dimension */
	SYCL_DEVICE_INFO_IMAGE_VIEW_PITCH_PIXELS = 76,
	/** uint32_t, pixels: views of two dimensions begin at multiples */
	SYCL_DEVICE_INFO_IMAGE_VIEW_BASE_PIXELS = 77,
	/** char[], what SYCL_SOURCE_SPIRV may be: "SPIR-V_1.0 SPIR-V_1.1"; "": none */
	SYCL_DEVICE_INFO_IL_VERSION = 78
} sycl_device_info;

/** Ways to divide a device into sub-devices. */
typedef enum sycl_partition_property {
	SYCL_PARTITION_NONE = 0,
	SYCL_PARTITION_EQUALLY = 1,   /**< equal numbers of compute units; the rest is left out */
	SYCL_PARTITION_BY_COUNTS = 2, /**< given numbers of compute units */
	SYCL_PARTITION_BY_AFFINITY_DOMAIN = 3 /**< by what the compute units share */
} sycl_partition_property;

/** Caches and memory that the compute units of a sub-device share. */
typedef enum sycl_partition_affinity_domain {
	SYCL_PARTITION_AFFINITY_NOT_APPLICABLE = 0,
	SYCL_PARTITION_AFFINITY_NUMA = 1,
	SYCL_PARTITION_AFFINITY_L4_CACHE = 2,
	SYCL_PARTITION_AFFINITY_L3_CACHE = 3,
	SYCL_PARTITION_AFFINITY_L2_CACHE = 4,
	SYCL_PARTITION_AFFINITY_L1_CACHE = 5,
	SYCL_PARTITION_AFFINITY_NEXT_PARTITIONABLE = 6 /**< the first of these that is possible */
} sycl_partition_affinity_domain;

/** Abilities of a floating-point type: bits of FP_CONFIG. 0: the device does not have the type. */
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

/** Memory scopes, as bits. On local memory, scopes wider than WORK_GROUP act as WORK_GROUP. */
typedef enum sycl_memory_scope {
	SYCL_MEMORY_SCOPE_WORK_ITEM = 1,
	SYCL_MEMORY_SCOPE_SUB_GROUP = 2,
	SYCL_MEMORY_SCOPE_WORK_GROUP = 4,
	SYCL_MEMORY_SCOPE_DEVICE = 8,
	SYCL_MEMORY_SCOPE_SYSTEM = 16
} sycl_memory_scope;

/** How a device caches global memory. */
typedef enum sycl_global_mem_cache_type {
	SYCL_GLOBAL_MEM_CACHE_NONE = 0,
	SYCL_GLOBAL_MEM_CACHE_READ_ONLY = 1,
	SYCL_GLOBAL_MEM_CACHE_READ_WRITE = 2
} sycl_global_mem_cache_type;

/** Kinds of local memory of a device. */
typedef enum sycl_local_mem_type {
	SYCL_LOCAL_MEM_NONE = 0,
	SYCL_LOCAL_MEM_LOCAL = 1, /**< its own memory */
	SYCL_LOCAL_MEM_GLOBAL = 2 /**< a part of global memory */
} sycl_local_mem_type;

/**
 * List the devices of one type of this platform. A round trip the first time, as
 * sycl_platform_get_platforms.
 *
 * @param type              SYCL_DEVICE_TYPE_ALL for all types.
 * @param capacity          Room in devices_out; 0: only count.
 * @param[out] devices_out  Up to `capacity` handles, each to be released by the caller. NULL if
 *                          capacity is 0.
 * @param[out] count_out    How many devices there are, also beyond `capacity`. May be NULL if
 *                          devices_out is given.
 * @retval SYCL_ERROR_INVALID   No such type, or an output is missing.
 * @retval SYCL_ERROR_PLATFORM  The service has no platform at all.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_devices(sycl_platform platform, sycl_device_type type,
					       uint32_t capacity, sycl_device *devices_out,
					       uint32_t *count_out);
/**
 * List the devices of all platforms of the connection. Otherwise as sycl_platform_get_devices.
 *
 * @param platform  Any platform of the connection.
 * @since 0.1
 *
 * @example
 *	sycl_device devices[8];
 *	uint32_t count = 0;
 *	result = sycl_device_get_devices(platform, SYCL_DEVICE_TYPE_GPU, 8, devices, &count);
 *	for (uint32_t i = 0; result == SYCL_SUCCESS && i < count && i < 8; i++) {
 *		char name[128];
 *		if (sycl_device_get_info(devices[i], SYCL_DEVICE_INFO_NAME, 128, name, NULL) == 0)
 *			printf("%s\n", name);
 *		(void)sycl_device_release(devices[i]);
 *	}
 */
SYCL_API sycl_result sycl_device_get_devices(sycl_platform platform, sycl_device_type type,
					     uint32_t capacity, sycl_device *devices_out,
					     uint32_t *count_out);
/**
 * Divide a device into sub-devices, each with some of its compute units. A sub-device can be used
 * wherever a device can: for contexts, queues, queries and so on. No list of devices contains it.
 * Blocks for a round trip.
 *
 * Compute units are not reserved: commands on the whole device also use those of its sub-devices.
 * For shares and accounts, a command on a sub-device counts as a command on the whole device. Only
 * OpenCL devices can be divided, in the ways that SYCL_DEVICE_INFO_PARTITION_PROPERTIES lists. CUDA
 * devices cannot.
 *
 * @param device            May be a sub-device.
 * @param property          How to divide; it decides what `values` are. EQUALLY: one value, the
 *                          compute units of every sub-device. BY_COUNTS: one value for each
 *                          sub-device, its compute units; values of 0 are skipped.
 *                          BY_AFFINITY_DOMAIN: one value, of enum sycl_partition_affinity_domain.
 * @param value_count       How many values, 1 to 64.
 * @param values            Read during the call.
 * @param capacity          Room in devices_out; 0: only count.
 * @param[out] devices_out  All sub-devices, each to be released by the caller. NULL if capacity is
 *                          0.
 * @param[out] count_out    How many sub-devices there are; also set if capacity is too small.
 * @retval SYCL_ERROR_INVALID                No such property or domain; more compute units or
 *                                           sub-devices than the device has; capacity is not 0 and
 *                                           too small.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device cannot be divided in this way.
 * @retval SYCL_ERROR_QUOTA                  The session has 16 sub-devices already. A released one
 *                                           counts while a context of it lives.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_create_sub_devices(sycl_device device,
						    sycl_partition_property property,
						    uint32_t value_count, const uint32_t *values,
						    uint32_t capacity, sycl_device *devices_out,
						    uint32_t *count_out);
/**
 * Get the device that a sub-device is a part of. Never blocks.
 *
 * @param[out] parent_out  The caller releases it. It equals other handles of that device.
 * @retval SYCL_ERROR_INVALID  The device is no sub-device.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_parent(sycl_device device, sycl_device *parent_out);

/** Take one more reference. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_device_retain(sycl_device device);
/**
 * Release one reference. Queues and contexts keep what they need. Never waits for a device.
 * @since 0.1
 *
 * @example
 *	sycl_device gpu = NULL;
 *	sycl_queue made = NULL;
 *	result = sycl_device_select(platform, sycl_gpu_selector, NULL, &gpu);
 *	if (result == SYCL_SUCCESS) {
 *		result = sycl_queue_create(NULL, gpu, NULL, &made);
 *		(void)sycl_device_release(gpu); // the queue keeps what it needs
 *	}
 */
SYCL_API sycl_result sycl_device_release(sycl_device device);
/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_reference_count(sycl_device device, uint32_t *count_out);

/**
 * Get the platform of a device. Never blocks.
 *
 * @param[out] platform_out  The caller releases it. It equals other handles of that platform.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_platform(sycl_device device, sycl_platform *platform_out);

/**
 * Query a device. Never blocks: all answers came with the list of devices.
 *
 * @param info            Which query.
 * @param bytes           Size of `value`.
 * @param[out] value      The answer, text with its final 0. NULL: only the size is returned.
 * @param[out] bytes_out  The answer's size. May be NULL if `value` is given.
 * @retval SYCL_ERROR_INVALID  No such query, or `value` is too small.
 * @since 0.1
 *
 * @example
 *	uint64_t size = 0;
 *	result = sycl_device_get_info(device, SYCL_DEVICE_INFO_GLOBAL_MEM_BYTES, sizeof(size),
 *				      &size, NULL);
 */
SYCL_API sycl_result sycl_device_get_info(sycl_device device, sycl_device_info info, size_t bytes,
					  void *value, size_t *bytes_out);
/**
 * Query a device for something that only its backend defines. Neither the CUDA backend nor the
 * OpenCL backend defines such a query, so every number is an error. Never blocks.
 *
 * @param info       A number of the backend.
 * @param bytes      Size of `value`.
 * @param value      The answer. NULL: only the size is returned.
 * @param bytes_out  The answer's size. May be NULL if `value` is given.
 * @retval SYCL_ERROR_INVALID  No such query.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_get_backend_info(sycl_device device, uint32_t info, size_t bytes,
						  void *value, size_t *bytes_out);
/**
 * Query whether a device has an aspect. Never blocks.
 *
 * @param aspect        Which aspect.
 * @param[out] has_out  1 or 0.
 * @retval SYCL_ERROR_INVALID  No such aspect.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_has(sycl_device device, sycl_aspect aspect, uint32_t *has_out);

/**
 * A function that scores a device. A negative score means: never choose it. The library calls it on
 * the thread that selects. The handle is borrowed; retain it to keep it.
 */
typedef int32_t sycl_device_selector(sycl_device device, void *user_data);
/**
 * Choose the device with the highest score, of all platforms of the connection. Of equal scores any
 * device may be chosen. A round trip the first time.
 *
 * @param platform         Any platform of the connection.
 * @param selector         NULL: sycl_default_selector. Called once for each device, before this
 *                         returns.
 * @param user_data        Passed to the selector.
 * @param[out] device_out  The caller releases it.
 * @retval SYCL_ERROR_RUNTIME  There is no device, or every score is negative.
 * @since 0.1
 *
 * @example
 *	sycl_device gpu = NULL;
 *	if (sycl_device_select(platform, sycl_gpu_selector, NULL, &gpu) == SYCL_ERROR_RUNTIME)
 *		printf("no GPU\n");
 */
SYCL_API sycl_result sycl_device_select(sycl_platform platform, sycl_device_selector *selector,
					void *user_data, sycl_device *device_out);

/**
 * Choose a device that has all of some aspects and none of others: the best of these by the default
 * score. With two empty lists it is the default device. Otherwise as sycl_device_select.
 *
 * @param required_count  How many aspects `required` has.
 * @param required        Aspects that the device must have. NULL if required_count is 0.
 * @param denied_count    How many aspects `denied` has.
 * @param denied          Aspects that the device must not have. NULL if denied_count is 0.
 * @retval SYCL_ERROR_INVALID  No such aspect.
 * @since 0.1
 */
SYCL_API sycl_result sycl_device_select_by_aspects(sycl_platform platform, uint32_t required_count,
						   const sycl_aspect *required,
						   uint32_t denied_count, const sycl_aspect *denied,
						   sycl_device *device_out);

/**
 * Score every device that is available: GPUs first, then accelerators, then CPUs. Never blocks.
 *
 * @param unused  Not used.
 * @return A score. Negative: not this device, also for an invalid handle.
 * @since 0.1
 */
SYCL_API int32_t sycl_default_selector(sycl_device device, void *unused);
/**
 * Score CPUs only. Never blocks.
 *
 * @param unused  Not used.
 * @return As sycl_default_selector.
 * @since 0.1
 */
SYCL_API int32_t sycl_cpu_selector(sycl_device device, void *unused);
/**
 * Score GPUs only. Never blocks.
 *
 * @param unused  Not used.
 * @return As sycl_default_selector.
 * @since 0.1
 */
SYCL_API int32_t sycl_gpu_selector(sycl_device device, void *unused);
/**
 * Score accelerators only. Never blocks.
 *
 * @param unused  Not used.
 * @return As sycl_default_selector.
 * @since 0.1
 */
SYCL_API int32_t sycl_accelerator_selector(sycl_device device, void *unused);

SYCL_END_DECLS
#endif
