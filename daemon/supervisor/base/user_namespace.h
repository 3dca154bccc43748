/*
 * In a user namespace that does not have all uids, the kernel shows every process of a uid that is
 * missing there as one and the same, the overflow uid. Nobody can tell such users apart, so none of
 * them may be served.
 */
#ifndef SYCLD_SUPERVISOR_USER_NAMESPACE_H
#define SYCLD_SUPERVISOR_USER_NAMESPACE_H

#include <sys/types.h>

#define USER_NAMESPACE_MAP      "/proc/self/uid_map"
#define USER_NAMESPACE_OVERFLOW "/proc/sys/kernel/overflowuid"

/*
 * The uid that stands for all who are outside, by what these two files of the kernel say;
 * (uid_t)-1, which is nobody's: every uid is there as itself. What cannot be read or understood
 * counts as a namespace that lacks some, and as the kernel's usual 65534.
 */
uid_t user_namespace_outsiders(const char *map_path, const char *overflow_path);

#endif
