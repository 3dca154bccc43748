/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file platform.h Connections and platforms. The rules for all functions are at the top of
 * result.h.
 */
#ifndef SYCLCLIENT_PLATFORM_H
#define SYCLCLIENT_PLATFORM_H

#include "result.h"

SYCL_BEGIN_DECLS

/**
 * The class of a session: whose command groups go first where several sessions of one user need one
 * device. Sessions of the same class share the device's time by their weights. Time that one
 * session does not use goes to the others.
 */
typedef enum sycl_session_class {
	SYCL_SESSION_CLASS_DEFAULT = 0, /**< SYCLD_CLASS of the environment, else normal */
	/**
	 * Before all others. While such a session exists, the others leave little on the device.
	 */
	SYCL_SESSION_CLASS_LATENCY = 1,
	SYCL_SESSION_CLASS_NORMAL = 2,
	/** what the others leave, and a small share in any case */
	SYCL_SESSION_CLASS_BEST_EFFORT = 3
} sycl_session_class;

/** Options of sycl_platform_open_with. Start from SYCL_OPEN_OPTIONS_INIT. */
struct sycl_open_options {
	uint32_t struct_bytes; /**< sizeof(struct sycl_open_options) */
	/**
	 * Threads of the library that run host tasks (host_task.h) and copy host memory as copy
	 * threads do; at most 64. 0: none, and waits run host tasks.
	 */
	uint32_t helper_threads;
	uint64_t timeout_ns; /**< longest wait for a service that starts and answers; 0: 10 s */
	const char *name;    /**< what syclctl shows for this session; NULL: the program's name */
	/**
	 * enum sycl_session_class. The service may allow less; then it gives the best class that it
	 * allows.
	 */
	uint32_t session_class;
	/** 1 to 1000; the service may allow less. 0: SYCLD_WEIGHT of the environment, else 100. */
	uint32_t weight;
	/**
	 * Copy threads. The library starts them when a buffer has 8 MiB of host memory or more.
	 * They copy parts of it beside the thread that makes, first uses or releases the buffer.
	 * They run no function of the program and handle no signal. They end with the connection,
	 * or after 5 seconds without a copy. Where one cannot be started, the connection has fewer.
	 *
	 * The number is up to 16, helper threads included, or SYCL_COPY_THREADS_NONE. 0:
	 * SYCLD_COPY_THREADS of the environment (0 to 16). If that is not set, half the processors
	 * that the calling thread may use, at most 4; with fewer than 4 processors, none.
	 */
	uint32_t copy_threads;
	/**
	 * 1: portable sources are built with checks, and launches of their kernels report wrong
	 * accesses (sycld-portable-kernels(7)). 0: only if SYCLD_CHECK of the environment is 1.
	 */
	uint32_t check;
};
#define SYCL_OPEN_OPTIONS_INIT                                                                     \
	{                                                                                          \
		sizeof(struct sycl_open_options), 0, 0, 0, 0, 0, 0, 0                              \
	}
/**
 * A value of sycl_open_options.copy_threads: only helper threads copy. A connection with native
 * commands through a service (native_command.h) still has one thread for these.
 */
#define SYCL_COPY_THREADS_NONE 0xffffffffu

/**
 * Connect to a service. Blocks for a round trip, or until a service has started. Opens no device.
 *
 * The platform stands for the connection. It is the platform of the default device if there is one.
 * The connection ends with the last release of this handle and of everything made through it. With
 * an embedded engine that release waits until the engine has ended.
 *
 * @param endpoint  "unix:PATH": the service that listens there. "embedded:": an engine inside this
 *                  process, with threads of its own. NULL: what SYCLD_ENDPOINT of the environment
 *                  says. If that is empty or not set: the system's service (/run/sycld), else this
 *                  user's service, which is started if it does not run. The library only connects
 *                  to a service of root or of this user.
 * @param[out] platform_out  The caller releases it with sycl_platform_release.
 * @retval SYCL_ERROR_INVALID          An endpoint of another form, as the argument or in the
 *                                     environment; platform_out is NULL.
 * @retval SYCL_ERROR_CONNECTION_LOST  No service answers and none could be started, or it refused.
 * @retval SYCL_ERROR_TIMEOUT          No answer in 10 s.
 * @retval SYCL_ERROR_VERSION The service has another version of the protocol.
 * @retval SYCL_ERROR_QUOTA            The service has as many sessions as it may have.
 * @retval SYCL_ERROR_PLATFORM         "embedded:": libsyclengine.so is not next to this library.
 * @since 0.1
 *
 * @example
 *	sycl_platform opened = NULL;
 *	if (sycl_platform_open(NULL, &opened) != SYCL_SUCCESS)
 *		fprintf(stderr, "no service: %s\n", sycl_get_last_error_text());
 */
SYCL_API sycl_result sycl_platform_open(const char *endpoint, sycl_platform *platform_out);

/**
 * Connect to a service, with options. Otherwise as sycl_platform_open.
 *
 * @param options  NULL for the defaults; read during the call. Earlier versions of the structure,
 *                 without copy_threads or without session_class, are allowed.
 * @retval SYCL_ERROR_INVALID            Also: struct_bytes is wrong; more than 64 helper threads or
 *                                       16 copy threads; an invalid class, weight or number of copy
 *                                       threads, here or in the environment; reserved is not 0.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION  Also: a helper thread could not be started.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_open_with(const char *endpoint,
					     const struct sycl_open_options *options,
					     sycl_platform *platform_out);

/** Take one more reference; each needs its own release. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_platform_retain(sycl_platform platform);

/**
 * Release one reference. The last one of a connection closes it: submitted work continues, and its
 * results are dropped. Never waits for a service. Closing an embedded engine waits for its running
 * command groups. Host tasks that have not begun are dropped with the last handle, unless the
 * connection has helper threads (host_task.h).
 * @since 0.1
 *
 * @example
 *	sycl_platform opened = NULL;
 *	sycl_queue made = NULL;
 *	result = sycl_platform_open(NULL, &opened);
 *	if (result == SYCL_SUCCESS) {
 *		result = sycl_queue_create_default(opened, &made);
 *		(void)sycl_platform_release(opened); // the queue keeps the connection open
 *	}
 */
SYCL_API sycl_result sycl_platform_release(sycl_platform platform);

/**
 * Get the number of references that the caller holds, for tests. Never blocks.
 *
 * @param[out] count_out  The number.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_reference_count(sycl_platform platform, uint32_t *count_out);

/**
 * List all platforms of the connection, also those that are built in but not available. A round
 * trip the first time, which may take seconds while vendor libraries load.
 *
 * @param capacity            Room in platforms_out; 0: only count.
 * @param[out] platforms_out  Up to `capacity` handles, each to be released by the caller. NULL if
 *                            capacity is 0.
 * @param[out] count_out      How many platforms there are, also beyond `capacity`. May be NULL if
 *                            platforms_out is given.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_platforms(sycl_platform platform, uint32_t capacity,
						 sycl_platform *platforms_out, uint32_t *count_out);

/** Queries of a platform, each with the type of its answer. */
typedef enum sycl_platform_info {
	SYCL_PLATFORM_INFO_NAME = 1,               /**< char[] */
	SYCL_PLATFORM_INFO_VENDOR = 2,             /**< char[] */
	SYCL_PLATFORM_INFO_VERSION = 3,            /**< char[] */
	SYCL_PLATFORM_INFO_PROFILE = 4,            /**< char[] */
	SYCL_PLATFORM_INFO_EXTENSIONS = 5,         /**< char[], separated by blanks */
	SYCL_PLATFORM_INFO_BACKEND = 6,            /**< uint32_t, enum sycl_backend */
	SYCL_PLATFORM_INFO_AVAILABLE = 7,          /**< uint32_t, 0 or 1 */
	SYCL_PLATFORM_INFO_UNAVAILABLE_REASON = 8, /**< char[], "" when available */
	/** uint64_t, this connection's session number in syclctl */
	SYCL_PLATFORM_INFO_SESSION = 9,
	/** char[], of this connection: "unix:/run/..." or "embedded:" */
	SYCL_PLATFORM_INFO_ENDPOINT = 10,
	/** uint32_t, enum sycl_session_class that the service gave */
	SYCL_PLATFORM_INFO_CLASS = 11,
	SYCL_PLATFORM_INFO_WEIGHT = 12 /**< uint32_t, the weight that the service gave */
} sycl_platform_info;

/**
 * Query a platform. A round trip the first time; SESSION, ENDPOINT, CLASS and WEIGHT never block.
 *
 * @param info            Which query.
 * @param bytes           Size of `value`.
 * @param[out] value      The answer, text with its final 0. NULL: only the size is returned.
 * @param[out] bytes_out  The answer's size. May be NULL if `value` is given.
 * @retval SYCL_ERROR_INVALID   No such query, or `value` is too small.
 * @retval SYCL_ERROR_PLATFORM  The service has no platform at all.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_info(sycl_platform platform, sycl_platform_info info,
					    size_t bytes, void *value, size_t *bytes_out);
/** As sycl_device_get_backend_info (device.h): always an error. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_platform_get_backend_info(sycl_platform platform, uint32_t info,
						    size_t bytes, void *value, size_t *bytes_out);

/** The use of devices by this connection's session so far. Start from SYCL_USAGE_INIT. */
struct sycl_usage {
	uint32_t struct_bytes; /**< sizeof(struct sycl_usage) */
	uint32_t reserved;     /**< must be 0 */
	uint64_t groups_submitted;
	uint64_t groups_completed;
	uint64_t groups_failed;
	uint64_t device_ns; /**< device time of completed groups; overlapping groups count once */
	uint64_t bytes_to_device;
	uint64_t bytes_to_host;
	uint64_t buffer_bytes;       /**< held now */
	uint64_t arena_bytes;        /**< held now */
	uint64_t groups_resubmitted; /**< submitted groups whose shape the service already had */
};
#define SYCL_USAGE_INIT                                                                            \
	{                                                                                          \
		sizeof(struct sycl_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                            \
	}

/**
 * Get what this session has used so far. A round trip.
 *
 * @param[in,out] usage_out  With struct_bytes set; the call fills the rest. The earlier size,
 *                           without groups_resubmitted, is allowed.
 * @retval SYCL_ERROR_INVALID  Wrong struct_bytes or reserved.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_usage(sycl_platform platform, struct sycl_usage *usage_out);

/**
 * Get a descriptor for the program's own event loop. Poll it for reading, and for nothing else.
 * Never blocks.
 *
 * One turn of a loop: call sycl_platform_prepare_read, then look for the awaited result
 * (sycl_event_wait_for with 0 ns). If it is not there, poll. Then call sycl_platform_dispatch. If
 * the loop does not poll after all, it calls sycl_platform_cancel_read. Other threads may wait
 * meanwhile.
 *
 * @param[out] fd_out  Belongs to the library and is valid while the connection lives. Never read or
 *                     close it.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_fd(sycl_platform platform, int *fd_out);

/**
 * Prepare to poll: from now on each event makes the descriptor readable. Earlier events may not.
 * sycl_platform_dispatch or sycl_platform_cancel_read ends this state. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  The program has not called sycl_platform_get_fd.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_prepare_read(sycl_platform platform);

/** End what sycl_platform_prepare_read began, without a poll. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_platform_cancel_read(sycl_platform platform);

/**
 * Process what has arrived, and end what sycl_platform_prepare_read began. A program may call it at
 * any time. Never waits. Unless the connection has helper threads, it also runs the host tasks that
 * are ready (host_task.h), and returns when they have returned.
 *
 * @retval SYCL_ERROR_CONNECTION_LOST, SYCL_ERROR_DEVICE_LOST  The session has ended.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_dispatch(sycl_platform platform);

SYCL_END_DECLS
#endif
