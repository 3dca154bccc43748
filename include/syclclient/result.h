/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file result.h Results and the detail behind them.
 *
 * Rules for every function of this library, unless its comment says otherwise:
 * - It returns 0 or a negative code; outputs are the last parameters, untouched on failure. What a call returned as an
 *   asynchronous failure of earlier work is never mixed into an unrelated call.
 * - It may be called from any thread at any time; only a sycl_handler is used by one thread at a time.
 * - A handle that is NULL, stale, of another type or no handle at all gives SYCL_ERROR_INVALID_HANDLE; one that
 *   was inherited by fork() gives SYCL_ERROR_FORKED.
 * - An output that is NULL gives SYCL_ERROR_INVALID, unless the comment says what NULL means.
 * - Once the service is gone, SYCL_ERROR_CONNECTION_LOST or SYCL_ERROR_DEVICE_LOST; the detail says which command group
 *   was at fault, as far as that is known.
 * - A kernel that breaks its device (an illegal address, an assertion, a trap) ends every session of the same user's engine:
 *   each wait and each later call returns SYCL_ERROR_DEVICE_LOST. The detail has the vendor's code, its sentence, and
 *   whose command group it was: one of "this session", or another session's; several when several were running.
 *   A new connection works at once. Other users notice nothing.
 * - It never prints, exits, aborts or raises SIGPIPE. It starts no threads but helper and copy threads (struct sycl_open_options), and
 *   one for each connection with native commands through a service (native_command.h); "embedded:" runs the engine's own threads.
 * - It blocks only where its comment says so. "A round trip" waits for the service, never for a device.
 */
#ifndef SYCLCLIENT_RESULT_H
#define SYCLCLIENT_RESULT_H

#include "types.h"

SYCL_BEGIN_DECLS

/** 0, or one of the negative codes below. */
typedef int32_t sycl_result;

enum {
	SYCL_SUCCESS = 0,
	SYCL_ERROR_RUNTIME = -1,          /**< something failed at run time: the detail says what */
	SYCL_ERROR_KERNEL = -2,           /**< a kernel failed, or there is none of that name */
	SYCL_ERROR_ACCESSOR = -3,         /**< an accessor cannot be used like this */
	SYCL_ERROR_ND_RANGE = -4,         /**< ranges that do not fit each other, the kernel or the device */
	SYCL_ERROR_EVENT = -5,            /**< SYCL's errc::event: a native event of the application's that ended with an error, or a fault of the service's own */
	SYCL_ERROR_KERNEL_ARGUMENT = -6,  /**< an argument is missing, too many, of another kind or size */
	SYCL_ERROR_BUILD = -7,            /**< the source does not compile: sycl_get_build_log */
	SYCL_ERROR_INVALID = -8,          /**< a parameter or a state that the call does not allow */
	SYCL_ERROR_MEMORY_ALLOCATION = -9, /**< no memory, in this process, the service or the device */
	SYCL_ERROR_PLATFORM = -10,        /**< no platform, or the engine is not installed */
	SYCL_ERROR_PROFILING = -11,       /**< the times of a command group are not known any more */
	SYCL_ERROR_FEATURE_NOT_SUPPORTED = -12, /**< this device or system cannot do that */
	SYCL_ERROR_KERNEL_NOT_SUPPORTED = -13, /**< this kernel cannot run on that device */
	SYCL_ERROR_BACKEND_MISMATCH = -14, /**< the object is of another backend than what is asked of it (native.h) */
	SYCL_ERROR_CONNECTION_LOST = -32, /**< no service, or it ended the session: open a new connection */
	SYCL_ERROR_DEVICE_LOST = -33,     /**< a device failed, or the engine died with work in flight: open a new connection */
	SYCL_ERROR_QUOTA = -34,           /**< more than this session may have */
	SYCL_ERROR_TIMEOUT = -35,         /**< it did not happen in time; nothing has changed */
	SYCL_ERROR_VERSION = -36,         /**< library and service do not understand each other */
	SYCL_ERROR_INVALID_HANDLE = -37,  /**< NULL, released, of another type, or no handle */
	SYCL_ERROR_DEPENDENCY_FAILED = -38, /**< a command group did not run because one before it failed */
	SYCL_ERROR_FORKED = -39           /**< the handle belongs to the parent process */
};

/** What is known of the calling thread's last failed call. Start from SYCL_ERROR_DETAIL_INIT. */
struct sycl_error_detail {
	uint32_t struct_bytes; /**< sizeof(struct sycl_error_detail) */
	sycl_result result;
	uint64_t object;       /**< the id of the object in its session, 0 if none; for comparing and for logs */
	uint32_t backend;      /**< enum sycl_backend, 0 if none */
	int32_t native_code;   /**< the vendor's code; 0 (CL_SUCCESS, CUDA_SUCCESS) if none */
	const char *text;      /**< one sentence; the library's, good until this thread's next failing call */
};
#define SYCL_ERROR_DETAIL_INIT { sizeof(struct sycl_error_detail), 0, 0, 0, 0, "" }

/**
 * What is known of the calling thread's last failed call. A successful call does not clear it. Never blocks.
 *
 * @param detail  The caller's, with struct_bytes set; filled. Its text stays the library's.
 * @retval SYCL_ERROR_INVALID  NULL, or wrong struct_bytes; the thread's last failure stays what it was.
 * @since 0.1
 */
SYCL_API sycl_result sycl_get_last_error(struct sycl_error_detail *detail);

/**
 * The sentence alone; "" when nothing failed on this thread. Never blocks.
 *
 * @return The library's, good until this thread's next failing call.
 * @since 0.1
 */
SYCL_API const char *sycl_get_last_error_text(void);

/**
 * A code's name, e.g. "SYCL_ERROR_QUOTA"; "SYCL_ERROR_UNKNOWN" for a number that is none. Never blocks.
 *
 * @return A static string.
 * @since 0.1
 */
SYCL_API const char *sycl_result_name(sycl_result result);

/**
 * The version of the library that is loaded, e.g. "0.1.0"; the headers' is in SYCL_VERSION_MAJOR and so on. Never
 * blocks.
 *
 * @return A static string.
 * @since 0.1
 */
SYCL_API const char *sycl_get_version(void);

SYCL_END_DECLS
#endif
