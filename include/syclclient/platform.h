/* SPDX-License-Identifier: Apache-2.0 */
/** @file platform.h Connecting, platforms. The rules for all functions are at the top of result.h. */
#ifndef SYCLCLIENT_PLATFORM_H
#define SYCLCLIENT_PLATFORM_H

#include "result.h"

SYCL_BEGIN_DECLS

/**
 * Whose command groups go first where several sessions of one user want one device (001: order between queues without a common
 * object is the implementation's). Of a class, each has a part of the device's time by its weight; what one does not use the others have.
 */
typedef enum sycl_session_class {
	SYCL_SESSION_CLASS_DEFAULT = 0,    /**< what SYCLD_CLASS says in the environment, else normal */
	SYCL_SESSION_CLASS_LATENCY = 1,    /**< before all others; these leave little on the device while such a session exists */
	SYCL_SESSION_CLASS_NORMAL = 2,
	SYCL_SESSION_CLASS_BEST_EFFORT = 3 /**< what the others leave, and a small part in any case */
} sycl_session_class;

/** Options of sycl_platform_open_with. Start from SYCL_OPEN_OPTIONS_INIT. */
struct sycl_open_options {
	uint32_t struct_bytes; /**< sizeof(struct sycl_open_options) */
	/**
	 * Threads of the library that run host tasks (host_task.h), and copy parts of host memory as copy threads do; at most 64.
	 * 0: none, waits run host tasks.
	 */
	uint32_t helper_threads;
	uint64_t timeout_ns; /**< longest wait for a service that starts and answers; 0: 10 s */
	const char *name;    /**< what syclctl shows for this session; NULL: the program's name */
	uint32_t session_class; /**< enum sycl_session_class; better than the service allows is taken for the best that it allows */
	uint32_t weight;     /**< 1 to 1000, or less as the service allows; 0: what SYCLD_WEIGHT says in the environment, else 100 */
	/**
	 * Threads that the library may start when a buffer has 8 MiB of host memory or more: they copy parts of it beside the thread
	 * that makes, first uses or releases the buffer. They run no function of the program's, handle no signal, and end
	 * with the connection, or when there was nothing to copy for 5 seconds; where one cannot be started there are fewer. Up to 16,
	 * helper threads included, or SYCL_COPY_THREADS_NONE. 0: what SYCLD_COPY_THREADS says in the environment (0 to 16); else, where
	 * the calling thread may run on 4 processors or more, half as many as these, but 4 at most.
	 */
	uint32_t copy_threads;
	uint32_t reserved; /**< 0 */
};
#define SYCL_OPEN_OPTIONS_INIT { sizeof(struct sycl_open_options), 0, 0, 0, 0, 0, 0, 0 }
/** No threads for copies but the helper threads: sycl_open_options.copy_threads. Native commands through a service (native_command.h) have one all the same. */
#define SYCL_COPY_THREADS_NONE 0xffffffffu

/**
 * Connect to a service. Blocks for a round trip, or until a service has started; asks no device anything.
 *
 * The platform stands for the connection; it is the platform of the default device where there is one. The connection
 * ends when this handle and everything made through it is released. An embedded engine is then waited for.
 *
 * @param endpoint  NULL: what SYCLD_ENDPOINT says in the environment; where that is not set or empty,
 *                  the system's service (/run/sycld), else this user's, else this user's is started;
 *                  "unix:PATH": the one that listens there; "embedded:": an engine inside this process, with threads
 *                  of its own. Only a server of root or of this user is talked to.
 * @param[out] platform_out  The caller's: sycl_platform_release.
 * @retval SYCL_ERROR_INVALID          Another kind of endpoint, here or in the environment, or platform_out is NULL.
 * @retval SYCL_ERROR_CONNECTION_LOST  No service answers and none could be started, or it refused.
 * @retval SYCL_ERROR_TIMEOUT          No answer in 10 s.
 * @retval SYCL_ERROR_VERSION          It speaks another protocol.
 * @retval SYCL_ERROR_QUOTA            It has as many sessions as it may.
 * @retval SYCL_ERROR_PLATFORM         "embedded:": libsyclengine.so is not next to this library.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_open(const char *endpoint, sycl_platform *platform_out);

/**
 * As sycl_platform_open, with options.
 *
 * @param options  NULL for the defaults; read during the call. Also of the sizes without copy_threads
 *                 and without session_class.
 * @retval SYCL_ERROR_INVALID            Also: struct_bytes is wrong; more than 64 helper or 16 copy threads; no such class, weight or
 *                                       number of copy threads, here or in the environment; reserved is not 0.
 * @retval SYCL_ERROR_MEMORY_ALLOCATION  Also: a helper thread could not be started.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_open_with(const char *endpoint, const struct sycl_open_options *options,
					     sycl_platform *platform_out);

/** One more reference; each is ended by a release. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_platform_retain(sycl_platform platform);

/**
 * End one reference. The last one of a connection closes it: work that was submitted goes on, its results are dropped.
 * Never waits for a service; closing an embedded engine waits for its running command groups. Host tasks that have not
 * begun are dropped with the last handle, unless the connection has helper threads (host_task.h).
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_release(sycl_platform platform);

/** The caller's references now, for tests. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_platform_get_reference_count(sycl_platform platform, uint32_t *count_out);

/**
 * All platforms of the connection, those that are built in but not available as well. A round trip the first
 * time, which may take the seconds that vendor libraries need to load.
 *
 * @param capacity            How many handles platforms_out has room for; 0: only count.
 * @param[out] platforms_out  Up to `capacity` handles, each the caller's to release; NULL when capacity is 0.
 * @param[out] count_out      How many there are, also beyond `capacity`; NULL if platforms_out is given.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_platforms(sycl_platform platform, uint32_t capacity,
						 sycl_platform *platforms_out, uint32_t *count_out);

/** What can be asked of a platform; the type of the answer behind each. */
typedef enum sycl_platform_info {
	SYCL_PLATFORM_INFO_NAME = 1,       /**< char[] */
	SYCL_PLATFORM_INFO_VENDOR = 2,     /**< char[] */
	SYCL_PLATFORM_INFO_VERSION = 3,    /**< char[] */
	SYCL_PLATFORM_INFO_PROFILE = 4,    /**< char[] */
	SYCL_PLATFORM_INFO_EXTENSIONS = 5, /**< char[], separated by blanks */
	SYCL_PLATFORM_INFO_BACKEND = 6,    /**< uint32_t, enum sycl_backend */
	SYCL_PLATFORM_INFO_AVAILABLE = 7,  /**< uint32_t, 0 or 1 */
	SYCL_PLATFORM_INFO_UNAVAILABLE_REASON = 8, /**< char[], "" when available */
	SYCL_PLATFORM_INFO_SESSION = 9,    /**< uint64_t, this connection's session number as syclctl shows it */
	SYCL_PLATFORM_INFO_ENDPOINT = 10,  /**< char[], what was connected to: "unix:/run/..." or "embedded:" */
	SYCL_PLATFORM_INFO_CLASS = 11,     /**< uint32_t, enum sycl_session_class: what the service gave when it was connected to */
	SYCL_PLATFORM_INFO_WEIGHT = 12     /**< uint32_t, the same */
} sycl_platform_info;

/**
 * Ask a platform something. A round trip the first time; SESSION, ENDPOINT, CLASS and WEIGHT never block.
 *
 * @param bytes           Size of `value`.
 * @param[out] value      The answer, text with its final 0; NULL to ask only for the size.
 * @param[out] bytes_out  The answer's size; may be NULL if `value` is given.
 * @retval SYCL_ERROR_INVALID   No such info, or `value` is too small.
 * @retval SYCL_ERROR_PLATFORM  The service has no platform at all.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_info(sycl_platform platform, sycl_platform_info info, size_t bytes, void *value,
					    size_t *bytes_out);
/** As sycl_device_get_backend_info (device.h): always an error. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_platform_get_backend_info(sycl_platform platform, uint32_t info, size_t bytes, void *value,
						    size_t *bytes_out);

/** What this connection's session has used so far. Start from SYCL_USAGE_INIT. */
struct sycl_usage {
	uint32_t struct_bytes;    /**< sizeof(struct sycl_usage) */
	uint32_t reserved;        /**< must be 0 */
	uint64_t groups_submitted;
	uint64_t groups_completed;
	uint64_t groups_failed;
	uint64_t device_ns;       /**< of completed command groups, ns; an instant in which several ran counts once */
	uint64_t bytes_to_device;
	uint64_t bytes_to_host;
	uint64_t buffer_bytes;    /**< held now */
	uint64_t arena_bytes;     /**< held now */
	uint64_t groups_resubmitted; /**< of those submitted: of a shape that the service knew already */
};
#define SYCL_USAGE_INIT { sizeof(struct sycl_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * What this session has used so far. A round trip.
 *
 * @param[in,out] usage_out  The caller's, with struct_bytes set; also of the size without groups_resubmitted.
 * @retval SYCL_ERROR_INVALID  Wrong struct_bytes or reserved.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_usage(sycl_platform platform, struct sycl_usage *usage_out);

/**
 * A descriptor for the program's own event loop, to be polled for reading and for nothing else. Never blocks.
 *
 * The turn of a loop: sycl_platform_prepare_read; look at what is waited for (sycl_event_wait_for with 0 ns); if it
 * is not there, poll; then sycl_platform_dispatch. Without polling after all: sycl_platform_cancel_read. Works beside
 * threads that wait.
 *
 * @param[out] fd_out  The library's, good while the connection lives; never to be read or closed.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_get_fd(sycl_platform platform, int *fd_out);

/**
 * From now on whatever happens makes the descriptor readable; what happened before may not. Ended by dispatch or
 * cancel. Never blocks.
 *
 * @retval SYCL_ERROR_INVALID  The descriptor was never asked for.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_prepare_read(sycl_platform platform);

/** End what sycl_platform_prepare_read began, without having polled. Never blocks. @since 0.1 */
SYCL_API sycl_result sycl_platform_cancel_read(sycl_platform platform);

/**
 * Handle what has arrived, and end what sycl_platform_prepare_read began. May be called at any time. Never waits; takes as
 * long as the host tasks do whose turn has come: they run here, unless the connection has helper threads (host_task.h).
 *
 * @retval SYCL_ERROR_CONNECTION_LOST, SYCL_ERROR_DEVICE_LOST  The session has ended.
 * @since 0.1
 */
SYCL_API sycl_result sycl_platform_dispatch(sycl_platform platform);

SYCL_END_DECLS
#endif
