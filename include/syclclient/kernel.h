/* SPDX-License-Identifier: Apache-2.0 */
/** @file kernel.h Kernels and kernel bundles from source. The rules for all functions are at the top of result.h. */
#ifndef SYCLCLIENT_KERNEL_H
#define SYCLCLIENT_KERNEL_H

#include "queue.h"

SYCL_BEGIN_DECLS

/** What a source is written in. */
typedef enum sycl_source_language {
	SYCL_SOURCE_OPENCL_C = 1, /**< for devices of the OpenCL backend */
	SYCL_SOURCE_PORTABLE = 2, /**< C with the words below: the same source for every backend */
	SYCL_SOURCE_BUILTIN = 3   /**< the device's built-in kernels, names separated by semicolons (A28) */
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

/**
 * Build a source for the queue's device and context (J19). Blocks for a round trip and the compiler's time.
 *
 * @param source           Text, ended by 0; read during the call.
 * @param options          The compiler's, e.g. "-DN=4"; NULL: none.
 * @param[out] bundle_out  The caller's: sycl_kernel_bundle_release.
 * @retval SYCL_ERROR_BUILD                  It does not compile, or took too long: the compiler's words are in
 *                                           sycl_get_build_log.
 * @retval SYCL_ERROR_FEATURE_NOT_SUPPORTED  The device has no compiler.
 * @retval SYCL_ERROR_INVALID                No such language; source is NULL.
 * @retval SYCL_ERROR_QUOTA                  The source is too long, or too many builds run at once.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_bundle_from_source(sycl_queue queue, sycl_source_language language, const char *source,
						    const char *options, sycl_kernel_bundle *bundle_out);
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
	SYCL_KERNEL_INFO_COMPILE_WORK_GROUP_SIZE = 7 /**< uint64_t[3], SYCL's order; 0: none */
} sycl_kernel_info;

/**
 * Ask a kernel something. Never blocks: all answers came with sycl_kernel_create. Parameters and errors as
 * sycl_device_get_info.
 * @since 0.1
 */
SYCL_API sycl_result sycl_kernel_get_info(sycl_kernel kernel, sycl_kernel_info info, size_t bytes, void *value,
					  size_t *bytes_out);

SYCL_END_DECLS
#endif
