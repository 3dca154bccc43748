/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file result.h Results, and the detail of the last failure.
 *
 * Rules for every function of this library, unless its comment says otherwise:
 *
 * - A function returns 0 or a negative code. Outputs are the last parameters; a failure leaves them
 *   untouched. A call never returns the asynchronous failure of unrelated earlier work.
 * - Any thread may call any function at any time. Only a sycl_handler belongs to one thread at a
 *   time.
 * - A handle that is NULL, released, of another type or invalid gives SYCL_ERROR_INVALID_HANDLE. A
 *   handle that the process inherited by fork() gives SYCL_ERROR_FORKED.
 * - An output that is NULL gives SYCL_ERROR_INVALID, unless the comment says what NULL means.
 * - When the service has ended, calls return SYCL_ERROR_CONNECTION_LOST or SYCL_ERROR_DEVICE_LOST.
 *   The detail names the command group that caused it, if that is known.
 * - A kernel can break its device by an illegal address, a failed assertion or a trap. That ends
 *   every session of the same user's engine: each wait and each later call returns
 *   SYCL_ERROR_DEVICE_LOST. The detail has the vendor's code and sentence. It says whether the
 *   command group was of this session or of another one, and names several if several were running.
 *   A new connection works at once. Other users are not affected.
 * - The library never prints, exits, aborts or raises SIGPIPE. It starts helper and copy threads
 *   (struct sycl_open_options), and one thread for each connection that sends native commands
 *   through a service (native_command.h). It starts no other threads. With "embedded:" the engine
 *   has threads of its own.
 * - A function blocks only if its comment says so. "A round trip" waits for the service, never for
 *   a device.
 */
#ifndef SYCLCLIENT_RESULT_H
#define SYCLCLIENT_RESULT_H

#include "types.h"

SYCL_BEGIN_DECLS

/** 0, or one of the negative codes below. */
typedef int32_t sycl_result;

enum {
	SYCL_SUCCESS = 0,
	SYCL_ERROR_RUNTIME = -1,  /**< a failure at run time; the detail says which */
	SYCL_ERROR_KERNEL = -2,   /**< a kernel failed, or no kernel has that name */
	SYCL_ERROR_ACCESSOR = -3, /**< an accessor does not allow this use */
	/** ranges that do not fit each other, the kernel or the device */
	SYCL_ERROR_ND_RANGE = -4,
	/** a native event ended with an error, or the service has a fault */
	SYCL_ERROR_EVENT = -5,
	/** an argument is missing, superfluous, or of another kind or size */
	SYCL_ERROR_KERNEL_ARGUMENT = -6,
	SYCL_ERROR_BUILD = -7,   /**< the source does not compile; see sycl_get_build_log */
	SYCL_ERROR_INVALID = -8, /**< the call does not allow this parameter or this state */
	/** no memory in this process, the service or the device */
	SYCL_ERROR_MEMORY_ALLOCATION = -9,
	SYCL_ERROR_PLATFORM = -10,  /**< no platform, or the engine is not installed */
	SYCL_ERROR_PROFILING = -11, /**< the times of the command group are no longer kept */
	SYCL_ERROR_FEATURE_NOT_SUPPORTED = -12, /**< this device or system cannot do it */
	SYCL_ERROR_KERNEL_NOT_SUPPORTED = -13,  /**< this kernel cannot run on that device */
	SYCL_ERROR_BACKEND_MISMATCH = -14, /**< the object belongs to another backend (native.h) */
	/** no service, or it ended the session; open a new connection */
	SYCL_ERROR_CONNECTION_LOST = -32,
	/** a device failed, or the engine ended; open a new connection */
	SYCL_ERROR_DEVICE_LOST = -33,
	SYCL_ERROR_QUOTA = -34,          /**< the session has reached a limit */
	SYCL_ERROR_TIMEOUT = -35,        /**< not in time; nothing has changed */
	SYCL_ERROR_VERSION = -36,        /**< library and service have no common protocol version */
	SYCL_ERROR_INVALID_HANDLE = -37, /**< NULL, released, of another type, or no handle */
	/** a command group did not run, as one that it depends on failed */
	SYCL_ERROR_DEPENDENCY_FAILED = -38,
	SYCL_ERROR_FORKED = -39 /**< the handle belongs to the parent process */
};

/** The detail of the calling thread's last failed call. Start from SYCL_ERROR_DETAIL_INIT. */
struct sycl_error_detail {
	uint32_t struct_bytes; /**< sizeof(struct sycl_error_detail) */
	sycl_result result;
	uint64_t object;     /**< the id of the object in its session, for logs; 0 if none */
	uint32_t backend;    /**< enum sycl_backend, 0 if none */
	int32_t native_code; /**< the vendor's code; 0 (CL_SUCCESS, CUDA_SUCCESS) if none */
	const char *text;    /**< a sentence, valid until this thread's next failing call */
};
#define SYCL_ERROR_DETAIL_INIT                                                                     \
	{                                                                                          \
		sizeof(struct sycl_error_detail), 0, 0, 0, 0, ""                                   \
	}

/**
 * Get the detail of the calling thread's last failed call. A successful call does not clear it.
 * Never blocks.
 *
 * @param[in,out] detail  With struct_bytes set; the call fills the rest. The text belongs to the
 *                        library.
 * @retval SYCL_ERROR_INVALID  NULL, or wrong struct_bytes. The thread's last failure stays.
 * @since 0.1
 *
 * @example
 *	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
 *	if (sycl_queue_wait(queue) != SYCL_SUCCESS && sycl_get_last_error(&detail) == SYCL_SUCCESS)
 *		printf("%s: %s (vendor's code %d)\n", sycl_result_name(detail.result), detail.text,
 *		       (int)detail.native_code);
 */
SYCL_API sycl_result sycl_get_last_error(struct sycl_error_detail *detail);

/**
 * Get the sentence of the last failure. Never blocks.
 *
 * @return The sentence, valid until this thread's next failing call; "" if no call of this thread
 *         has failed.
 * @since 0.1
 *
 * @example
 *	result = sycl_queue_wait(queue);
 *	if (result != SYCL_SUCCESS)
 *		fprintf(stderr, "%s: %s\n", sycl_result_name(result), sycl_get_last_error_text());
 */
SYCL_API const char *sycl_get_last_error_text(void);

/**
 * Get a code's name, such as "SYCL_ERROR_QUOTA". Never blocks.
 *
 * @param result  Any number.
 * @return A static string; "SYCL_ERROR_UNKNOWN" for a number that is no code.
 * @since 0.1
 */
SYCL_API const char *sycl_result_name(sycl_result result);

/**
 * Get the version of the loaded library, such as "0.1.0". The version of the headers is in
 * SYCL_VERSION_MAJOR, SYCL_VERSION_MINOR and SYCL_VERSION_PATCH. Never blocks.
 *
 * @return A static string.
 * @since 0.1
 */
SYCL_API const char *sycl_get_version(void);

SYCL_END_DECLS
#endif
