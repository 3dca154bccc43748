/* In a user namespace without all uids, the kernel reports every process of a missing uid under the
 * overflow uid. Such users cannot be distinguished, so none of them may be served. */
#ifndef SYCLD_SUPERVISOR_USER_NAMESPACE_H
#define SYCLD_SUPERVISOR_USER_NAMESPACE_H

#include <sys/types.h>

#define USER_NAMESPACE_MAP      "/proc/self/uid_map"
#define USER_NAMESPACE_OVERFLOW "/proc/sys/kernel/overflowuid"

/*
 * Returns the uid that stands for all missing ones, by these two files of the kernel. (uid_t)-1,
 * which no user has: no uid is missing. A file that cannot be read or parsed counts as a namespace
 * that lacks some uids, and as the kernel's usual 65534.
 */
uid_t user_namespace_outsiders(const char *map_path, const char *overflow_path);

#endif
