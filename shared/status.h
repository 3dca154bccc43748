/*
 * The codes that travel in Status.code and in completion slots. They equal the public sycl_result
 * values (client/ asserts it). Inside, functions return 0 or a negative errno; a status is what a
 * client receives.
 */
#ifndef SYCL_SHARED_STATUS_H
#define SYCL_SHARED_STATUS_H

enum sycl_status {
	STATUS_SUCCESS = 0,
	/* sycl::errc (M11) */
	STATUS_RUNTIME = -1,
	STATUS_KERNEL = -2,
	STATUS_ACCESSOR = -3,
	STATUS_ND_RANGE = -4,
	STATUS_EVENT = -5,
	STATUS_KERNEL_ARGUMENT = -6,
	STATUS_BUILD = -7,
	STATUS_INVALID = -8,
	STATUS_MEMORY_ALLOCATION = -9,
	STATUS_PLATFORM = -10,
	STATUS_PROFILING = -11,
	STATUS_FEATURE_NOT_SUPPORTED = -12,
	STATUS_KERNEL_NOT_SUPPORTED = -13,
	STATUS_BACKEND_MISMATCH = -14,
	/* codes of this service alone */
	STATUS_CONNECTION_LOST = -32,
	STATUS_DEVICE_LOST = -33,
	STATUS_QUOTA = -34,
	STATUS_TIMEOUT = -35,
	STATUS_VERSION = -36,
	STATUS_INVALID_HANDLE = -37,
	STATUS_DEPENDENCY_FAILED = -38,
	STATUS_FORKED = -39,
};

/* The name as in the public header without its prefix, e.g. "QUOTA"; "UNKNOWN" for other codes.
 * Static. */
const char *status_name(int code);

/* The status that fits a negative errno best: -ENOMEM to MEMORY_ALLOCATION, -EDQUOT to QUOTA, ...
 */
enum sycl_status status_from_errno(int negative_errno);

#endif
