/* Limits of a process' control group (version 2) and of the groups above it. */
#ifndef SYCL_SHARED_CONTROL_GROUP_H
#define SYCL_SHARED_CONTROL_GROUP_H

#include <stdint.h>

/* A limit as read from a file's text; UINT64_MAX: no limit, or text that cannot be parsed. */
typedef uint64_t control_group_parse_function(const char *text);

/* The least limit that `parse` finds in the files of that name; UINT64_MAX: no group has a limit.
 * Reads files of the kernel, some microseconds each. */
uint64_t control_group_least(const char *name, control_group_parse_function *parse);
/* The same for the group that `membership` (as /proc/self/cgroup) names, below the folder `root`;
 * for tests. */
uint64_t control_group_least_of(const char *root, const char *membership, const char *name,
				control_group_parse_function *parse);

/* Parses the text of a file memory.max: bytes, or "max". */
uint64_t control_group_parse_bytes(const char *text);

#endif
