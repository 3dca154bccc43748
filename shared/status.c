#include "status.h"

#include <errno.h>

const char *status_name(int code)
{
	switch (code) {
	case STATUS_SUCCESS:
		return "SUCCESS";
	case STATUS_RUNTIME:
		return "RUNTIME";
	case STATUS_KERNEL:
		return "KERNEL";
	case STATUS_ACCESSOR:
		return "ACCESSOR";
	case STATUS_ND_RANGE:
		return "ND_RANGE";
	case STATUS_EVENT:
		return "EVENT";
	case STATUS_KERNEL_ARGUMENT:
		return "KERNEL_ARGUMENT";
	case STATUS_BUILD:
		return "BUILD";
	case STATUS_INVALID:
		return "INVALID";
	case STATUS_MEMORY_ALLOCATION:
		return "MEMORY_ALLOCATION";
	case STATUS_PLATFORM:
		return "PLATFORM";
	case STATUS_PROFILING:
		return "PROFILING";
	case STATUS_FEATURE_NOT_SUPPORTED:
		return "FEATURE_NOT_SUPPORTED";
	case STATUS_KERNEL_NOT_SUPPORTED:
		return "KERNEL_NOT_SUPPORTED";
	case STATUS_BACKEND_MISMATCH:
		return "BACKEND_MISMATCH";
	case STATUS_CONNECTION_LOST:
		return "CONNECTION_LOST";
	case STATUS_DEVICE_LOST:
		return "DEVICE_LOST";
	case STATUS_QUOTA:
		return "QUOTA";
	case STATUS_TIMEOUT:
		return "TIMEOUT";
	case STATUS_VERSION:
		return "VERSION";
	case STATUS_INVALID_HANDLE:
		return "INVALID_HANDLE";
	case STATUS_DEPENDENCY_FAILED:
		return "DEPENDENCY_FAILED";
	case STATUS_FORKED:
		return "FORKED";
	default:
		return "UNKNOWN";
	}
}

enum sycl_status status_from_errno(int negative_errno)
{
	switch (negative_errno) {
	case 0:
		return STATUS_SUCCESS;
	case -ENOMEM:
		return STATUS_MEMORY_ALLOCATION;
	case -EDQUOT:
	case -EMFILE:
	case -ENFILE:
		return STATUS_QUOTA;
	case -ETIMEDOUT:
		return STATUS_TIMEOUT;
	case -EPROTONOSUPPORT:
		return STATUS_VERSION;
	case -EPIPE:
	case -ECONNRESET:
	case -ECONNREFUSED:
	case -ENOTCONN:
		return STATUS_CONNECTION_LOST;
	case -EBADF:
		return STATUS_INVALID_HANDLE;
	case -ENODEV:
	case -EIO:
		return STATUS_DEVICE_LOST;
	case -EOPNOTSUPP:
		return STATUS_FEATURE_NOT_SUPPORTED;
	case -EINVAL:
	case -ERANGE:
	case -EMSGSIZE:
		return STATUS_INVALID;
	default:
		return STATUS_RUNTIME;
	}
}
