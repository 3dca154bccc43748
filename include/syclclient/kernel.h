/* SPDX-License-Identifier: Apache-2.0 */
/** @file kernel.h Kernels and kernel bundles from source. */
#ifndef SYCLCLIENT_KERNEL_H
#define SYCLCLIENT_KERNEL_H

#include "queue.h"

SYCL_BEGIN_DECLS

typedef enum sycl_source_language {
	SYCL_SOURCE_OPENCL_C = 1,
	SYCL_SOURCE_PORTABLE = 2, /**< C with the portable prelude: the same source for every backend */
	SYCL_SOURCE_BUILTIN = 3   /**< the device's built-in kernels, names separated by semicolons (A28) */
} sycl_source_language;

/** Build for the queue's device. A round trip and the compiler's time. @retval SYCL_ERROR_BUILD see sycl_get_build_log. */
SYCL_API sycl_result sycl_kernel_bundle_from_source(sycl_queue queue, sycl_source_language language, const char *source,
						    const char *options, sycl_kernel_bundle *bundle_out);
SYCL_API sycl_result sycl_kernel_bundle_retain(sycl_kernel_bundle bundle);
SYCL_API sycl_result sycl_kernel_bundle_release(sycl_kernel_bundle bundle);
/** The compiler's words of a bundle; the library's, good while the bundle lives. */
SYCL_API sycl_result sycl_kernel_bundle_get_log(sycl_kernel_bundle bundle, const char **log_out);
/** The compiler's words of the calling thread's last failed build; "" if none. */
SYCL_API const char *sycl_get_build_log(void);

SYCL_API sycl_result sycl_kernel_create(sycl_kernel_bundle bundle, const char *name, sycl_kernel *kernel_out);
/** Portable source and one kernel of it. */
SYCL_API sycl_result sycl_kernel_from_source(sycl_queue queue, const char *source, const char *name,
					     sycl_kernel *kernel_out);
SYCL_API sycl_result sycl_kernel_retain(sycl_kernel kernel);
SYCL_API sycl_result sycl_kernel_release(sycl_kernel kernel);

typedef enum sycl_kernel_info {
	SYCL_KERNEL_INFO_NAME = 1,                /**< char[] */
	SYCL_KERNEL_INFO_NUM_ARGS = 2,            /**< uint32_t */
	SYCL_KERNEL_INFO_WORK_GROUP_SIZE = 3,     /**< uint64_t, the largest for this kernel on its device */
	SYCL_KERNEL_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE = 4, /**< uint64_t */
	SYCL_KERNEL_INFO_PRIVATE_MEM_BYTES = 5,   /**< uint64_t */
	SYCL_KERNEL_INFO_LOCAL_MEM_BYTES = 6,     /**< uint64_t */
	SYCL_KERNEL_INFO_COMPILE_WORK_GROUP_SIZE = 7 /**< uint64_t[3], SYCL's order; 0: none */
} sycl_kernel_info;
SYCL_API sycl_result sycl_kernel_get_info(sycl_kernel kernel, sycl_kernel_info info, size_t bytes, void *value,
					  size_t *bytes_out);

SYCL_END_DECLS
#endif
