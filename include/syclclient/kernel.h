/* SPDX-License-Identifier: Apache-2.0 */
/** @file kernel.h Kernels and kernel bundles from sources and binaries. The rules for all functions are at the top of result.h. */
#ifndef SYCLCLIENT_KERNEL_H
#define SYCLCLIENT_KERNEL_H

#include "queue.h"

SYCL_BEGIN_DECLS

/** What a source is written in. */
typedef enum sycl_source_language {
	SYCL_SOURCE_OPENCL_C = 1, /**< for devices of the OpenCL backend */
	SYCL_SOURCE_PORTABLE = 2, /**< C with the words below: the same source for every backend */
	SYCL_SOURCE_BUILTIN = 3,  /**< the device's built-in kernels, names separated by semicolons (A28) */
	SYCL_SOURCE_PTX = 4,      /**< for devices of the CUDA backend */
	SYCL_SOURCE_CUDA_CPP = 6  /**< for devices of the CUDA backend, compiled by NVRTC */
} sycl_source_language;

/*
 * The words of a portable source, in short; share/doc/sycld/portable-kernels.md has them all, with types and mathematics:
 *
 *	SYCL_KERNEL void name(...)                   a kernel
 *	SYCL_GLOBAL(type), SYCL_CONSTANT(type)       a pointer, an accessor's argument; read only: SYCL_GLOBAL(const type)
 *	SYCL_LOCAL(type)                             a pointer, sycl_handler_set_local's argument
 *	any other type                               sycl_handler_set_value's argument
 *	sycl_global_id(d), sycl_global_range(d)      ulong, in SYCL's order of dimensions; also sycl_local_ and sycl_group_
 *	sycl_group_barrier()                         for all work-items of a group
 *	sycl_atomic_add(pointer, value), ...         on int and uint; gives the value before
 *	sycl_sqrt(x), sycl_min(a, b), ...            mathematics
 */

/*
 * Native kernels, from CUDA C++, PTX or a binary, compute their ids themselves, from CUDA's registers. For them:
 *
 * - Dimensions are reversed: SYCL's last one is x. sycl_handler_parallel_for_nd is CUDA's launch with blocks of `local`
 *   threads; sycl_handler_parallel_for chooses blocks that divide the range, so no thread is beyond it.
 * - Argument `index` is the parameter of that number: an accessor for a pointer to global memory, a value for anything
 *   else, of the parameter's size. Of a 64-bit parameter that may be a pointer nobody knows more: it takes either.
 * - Local memory is also a 64-bit parameter, set by sycl_handler_set_local. In PTX it gets the address (of shared
 *   memory where it says .ptr .shared, else a generic one). In CUDA C++ declare it as unsigned long and use the
 *   kernel's `extern __shared__` array, in which these arguments lie, one behind the other in multiples of 16 bytes.
 * - A kernel's name is as the source has it, "space::scale"; the symbol does as well. Instances of templates are
 *   asked for by the option '--sycl-kernel=scale<float>', and "scale<float>" is the name.
 * - Options for CUDA C++ are NVRTC's, separated by blanks, with quotes as in a shell. Without one for the
 *   architecture the device's own is compiled for. Kernels that launch kernels are refused.
 */

/**
 * Build a source for the queue's device and context (J19). Blocks for a round trip and the compiler's time.
 *
 * Each program in PTX or CUDA C++ has variables of its own.
 *
 * @param source           Text, ended by 0; read during the call.
 * @param options          The compiler's, e.g. "-DN=4"; NULL: none. PTX takes none.
 * @param[out] bundle_out  The caller's: sycl_kernel_bundle_release.
 * @retval SYCL_ERROR_BUILD                  It does not compile, or took too long: the compiler's words are in
 *                                           sycl_get_build_log.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no compiler, or not for this language; on CUDA: NVRTC is not
 *                                           installed where the service runs.
 * @retval SYCL_ERROR_INVALID                No such language; source is NULL; options for PTX.
 * @retval SYCL_ERROR_QUOTA                  The source is too long, or too many builds run at once.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_from_source(sycl_queue queue, sycl_source_language language, const char *source,
						    const char *options, sycl_kernel_bundle *bundle_out);
/**
 * A bundle from what a compiler made before: a cubin or a fatbin, for devices of the CUDA backend. Blocks for a round
 * trip.
 *
 * @param bytes            Read during the call.
 * @param[out] bundle_out  The caller's: sycl_kernel_bundle_release.
 * @retval SYCL_ERROR_BUILD                  Neither of the two, cut off, or nothing in it runs on the device.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device takes no binaries.
 * @retval SYCL_ERROR_INVALID                bytes is NULL, or there are none.
 * @retval SYCL_ERROR_QUOTA                  More bytes than a source may have, or too many builds run at once.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_from_binary(sycl_queue queue, const void *bytes, uint64_t size_bytes,
						    sycl_kernel_bundle *bundle_out);
/** One more reference (N1). Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_bundle_retain(sycl_kernel_bundle bundle);
/** End one reference; its kernels keep what they need. Never waits for a device (D15). @since 0.1 */
SYCL_API sycl_result sycl_kernel_bundle_release(sycl_kernel_bundle bundle);
/** The caller's references now, for tests (N1). Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_bundle_get_reference_count(sycl_kernel_bundle bundle, uint32_t *count_out);

/**
 * The compiler's words about a bundle that was built, e.g. warnings. Never blocks.
 *
 * @param[out] log_out  The library's, good while the bundle lives; "" if there are none.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_get_log(sycl_kernel_bundle bundle, const char **log_out);

/**
 * The compiler's words of the calling thread's last failed build; "" if the last one did not fail. Never blocks.
 *
 * @return The library's, good until this thread builds again or ends.
 * @since 0.1
 */
SYCL_API const char *sycl_get_build_log(void);

/**
 * One kernel of a bundle. A round trip: what the service knows of its arguments is checked at each submission from
 * then on.
 *
 * @param name             1 to 255 bytes; copied.
 * @param[out] kernel_out  The caller's to release; it keeps the bundle alive.
 * @retval SYCL_ERROR_INVALID  No name.
 * @retval SYCL_ERROR_KERNEL   The bundle has no kernel of that name.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_create(sycl_kernel_bundle bundle, const char *name, sycl_kernel *kernel_out);
/**
 * A portable source and one kernel of it: sycl_kernel_bundle_from_source and sycl_kernel_create in one, with their
 * errors and their blocking.
 *
 * @param[out] kernel_out  The caller's to release.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_from_source(sycl_queue queue, const char *source, const char *name,
					     sycl_kernel *kernel_out);
/** One more reference (N1). Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_retain(sycl_kernel kernel);
/** End one reference; running work keeps what it needs (D16). Never waits for a device (D15). @since 0.1 */
SYCL_API sycl_result sycl_kernel_release(sycl_kernel kernel);
/** The caller's references now, for tests (N1). Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_get_reference_count(sycl_kernel kernel, uint32_t *count_out);

/** What can be asked of a kernel; the type of the answer behind each. */
typedef enum sycl_kernel_info {
	SYCL_KERNEL_INFO_NAME = 1,                /**< char[] */
	SYCL_KERNEL_INFO_NUM_ARGS = 2,            /**< uint32_t */
	SYCL_KERNEL_INFO_WORK_GROUP_SIZE = 3,     /**< uint64_t, the largest for this kernel on its device */
	SYCL_KERNEL_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 4, /**< uint64_t */
	SYCL_KERNEL_INFO_PRIVATE_MEM_BYTES = 5,   /**< uint64_t */
	SYCL_KERNEL_INFO_LOCAL_MEM_BYTES = 6,     /**< uint64_t */
	SYCL_KERNEL_INFO_COMPILE_WORK_GROUP_SIZE = 7, /**< uint64_t[3], SYCL's order; 0: none */
	SYCL_KERNEL_INFO_MAX_LOCAL_MEM_BYTES = 8, /**< uint64_t, that a launch may ask for beside the kernel's own */
	SYCL_KERNEL_INFO_REGISTERS = 9,           /**< uint32_t, of a work-item; 0: not known */
	SYCL_KERNEL_INFO_MAX_SUB_GROUP_SIZE = 10, /**< uint32_t; 0: not known */
	SYCL_KERNEL_INFO_IS_NATIVE = 11           /**< uint32_t, 1: it computes its ids itself: "Native kernels" */
} sycl_kernel_info;

/**
 * Ask a kernel something. Never blocks: all answers came with sycl_kernel_create. Parameters and errors as
 * sycl_device_get_info.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_info(sycl_kernel kernel, sycl_kernel_info info, size_t bytes, void *value,
					  size_t *bytes_out);

/** As sycl_device_get_backend_info: always an error (A16). Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_kernel_get_backend_info(sycl_kernel kernel, uint32_t info, size_t bytes, void *value,
						  size_t *bytes_out);

/** How much of a device a kernel can have at one time. */
typedef struct sycl_occupancy {
	uint32_t struct_bytes;            /**< sizeof(struct sycl_occupancy), so it can grow */
	uint32_t groups_per_compute_unit; /**< resident at one time */
	uint32_t max_cooperative_groups;  /**< of one cooperative launch; 0: none */
	uint32_t max_cluster_groups;      /**< work-groups of one cluster; 0: none */
	uint32_t suggested_group_size;    /**< work-items of a work-group that fills the device best */
	uint32_t reserved;                /**< 0 */
} sycl_occupancy;
#define SYCL_OCCUPANCY_INIT { sizeof(sycl_occupancy), 0, 0, 0, 0, 0 }

/**
 * Ask how work-groups of a size would lie on the device. Blocks for a round trip.
 *
 * @param local                  Of a work-group; dimensions 0: only suggested_group_size is asked for.
 * @param local_mem_bytes        What its arguments of local memory have together.
 * @param[in,out] occupancy_out  Start from SYCL_OCCUPANCY_INIT.
 * @retval SYCL_ERROR_ND_RANGE               No such range, or larger than the kernel takes.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION      More local memory than the kernel can have.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device does not tell.
 * @retval SYCL_ERROR_INVALID                struct_bytes is not right.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_occupancy(sycl_kernel kernel, sycl_range local, uint64_t local_mem_bytes,
					       sycl_occupancy *occupancy_out);

SYCL_END_DECLS
#endif
