/* SPDX-License-Identifier: Apache-2.0 */
/** @file result.h Results and the detail behind them (M11). */
#ifndef SYCLCLIENT_RESULT_H
#define SYCLCLIENT_RESULT_H

#include "types.h"

SYCL_BEGIN_DECLS

/** 0, or one of the negative codes below. */
typedef int32_t sycl_result;

enum {
	SYCL_SUCCESS = 0,
	SYCL_ERROR_RUNTIME = -1,
	SYCL_ERROR_KERNEL = -2,
	SYCL_ERROR_ACCESSOR = -3,
	SYCL_ERROR_ND_RANGE = -4,
	SYCL_ERROR_EVENT = -5,
	SYCL_ERROR_KERNEL_ARGUMENT = -6,
	SYCL_ERROR_BUILD = -7,
	SYCL_ERROR_INVALID = -8,
	SYCL_ERROR_MEMORY_ALLOCATION = -9,
	SYCL_ERROR_PLATFORM = -10,
	SYCL_ERROR_PROFILING = -11,
	SYCL_ERROR_FEATURE_NOT_SUPPORTED = -12,
	SYCL_ERROR_KERNEL_NOT_SUPPORTED = -13,
	SYCL_ERROR_BACKEND_MISMATCH = -14,
	SYCL_ERROR_CONNECTION_LOST = -32,
	SYCL_ERROR_DEVICE_LOST = -33,
	SYCL_ERROR_QUOTA = -34,
	SYCL_ERROR_TIMEOUT = -35,
	SYCL_ERROR_VERSION = -36,
	SYCL_ERROR_INVALID_HANDLE = -37,
	SYCL_ERROR_DEPENDENCY_FAILED = -38,
	SYCL_ERROR_FORKED = -39
};

/** What is known of the calling thread's last failed call. */
struct sycl_error_detail {
	uint32_t struct_bytes; /**< sizeof(struct sycl_error_detail) */
	sycl_result result;
	uint64_t object;       /**< the object's id as syclctl shows it, 0 if none */
	uint32_t backend;      /**< enum sycl_backend, 0 if none */
	int32_t native_code;   /**< the vendor's code; 0 (CL_SUCCESS, CUDA_SUCCESS) if none (I11, J16) */
	const char *text;      /**< one sentence; the library's, good until this thread's next failing call */
};
#define SYCL_ERROR_DETAIL_INIT { sizeof(struct sycl_error_detail), 0, 0, 0, 0, "" }

/** Fill `detail` with the calling thread's last failure. Never blocks. @retval SYCL_ERROR_INVALID wrong struct_bytes. */
SYCL_API sycl_result sycl_get_last_error(struct sycl_error_detail *detail);

/** The sentence alone; "" when nothing failed on this thread. */
SYCL_API const char *sycl_get_last_error_text(void);

/** A code's name, e.g. "SYCL_ERROR_QUOTA"; static. */
SYCL_API const char *sycl_result_name(sycl_result result);

SYCL_END_DECLS
#endif
