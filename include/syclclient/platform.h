/* SPDX-License-Identifier: Apache-2.0 */
/** @file platform.h Connecting, platforms. */
#ifndef SYCLCLIENT_PLATFORM_H
#define SYCLCLIENT_PLATFORM_H

#include "result.h"

SYCL_BEGIN_DECLS

/** Options of sycl_platform_open_with. */
struct sycl_open_options {
	uint32_t struct_bytes;
	uint32_t reserved;
	uint64_t timeout_ns; /**< longest wait for a service that starts; 0: 10 s */
	const char *name;    /**< what syclctl shows for this session; NULL: the program's name */
};
#define SYCL_OPEN_OPTIONS_INIT { sizeof(struct sycl_open_options), 0, 0, 0 }

/**
 * Connect to a service. `endpoint`: NULL (the system service, else this user's, else start this user's), "unix:PATH", "embedded:".
 * The platform stands for the connection; it is the platform of the default device where there is one.
 * Blocks for a round trip, or until a service has started.
 */
SYCL_API sycl_result sycl_platform_open(const char *endpoint, sycl_platform *platform_out);
SYCL_API sycl_result sycl_platform_open_with(const char *endpoint, const struct sycl_open_options *options,
					     sycl_platform *platform_out);
SYCL_API sycl_result sycl_platform_retain(sycl_platform platform);
SYCL_API sycl_result sycl_platform_release(sycl_platform platform);

/** All platforms of the connection: writes at most `capacity` handles (each retained for the caller), tells how many there are. */
SYCL_API sycl_result sycl_platform_get_platforms(sycl_platform platform, uint32_t capacity, sycl_platform *platforms_out,
						 uint32_t *count_out);

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
	SYCL_PLATFORM_INFO_ENDPOINT = 10   /**< char[], what was connected to: "unix:/run/..." or "embedded:" */
} sycl_platform_info;
/** OpenCL's form of a query: `value` may be NULL; `bytes_out` may be NULL and gets the size needed. */
SYCL_API sycl_result sycl_platform_get_info(sycl_platform platform, sycl_platform_info info, size_t bytes, void *value,
					    size_t *bytes_out);

/** What this connection's session has used so far. */
struct sycl_usage {
	uint32_t struct_bytes;
	uint32_t reserved;
	uint64_t groups_submitted;
	uint64_t groups_completed;
	uint64_t groups_failed;
	uint64_t device_ns;       /**< time on devices of completed command groups, ns */
	uint64_t bytes_to_device;
	uint64_t bytes_to_host;
	uint64_t buffer_bytes;    /**< held now */
	uint64_t arena_bytes;     /**< held now */
};
#define SYCL_USAGE_INIT { sizeof(struct sycl_usage), 0, 0, 0, 0, 0, 0, 0, 0, 0 }
/** A round trip. */
SYCL_API sycl_result sycl_platform_get_usage(sycl_platform platform, struct sycl_usage *usage_out);

/** Event loops: as Wayland's. A descriptor to poll for reading; dispatch handles what has arrived and never blocks. */
SYCL_API sycl_result sycl_platform_get_fd(sycl_platform platform, int *fd_out);
SYCL_API sycl_result sycl_platform_prepare_read(sycl_platform platform);
SYCL_API sycl_result sycl_platform_cancel_read(sycl_platform platform);
SYCL_API sycl_result sycl_platform_dispatch(sycl_platform platform);

SYCL_END_DECLS
#endif
