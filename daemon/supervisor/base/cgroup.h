/* The control group of a client, for accounts. */
#ifndef SYCLD_SUPERVISOR_CGROUP_H
#define SYCLD_SUPERVISOR_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

enum { CGROUP_BYTES = 256 };

/*
 * Parses the text of /proc/PID/cgroup and returns the path of version 2 ("0::/user.slice/..."),
 * printable. Of a path that is too long, it returns the last part, behind "...". "": the text has
 * no such path.
 */
void cgroup_parse(const char *text, char out[CGROUP_BYTES]);

/* The same, but of a path that is too long, it returns the first part: the path of a group that
 * contains the process. */
void cgroup_parse_outer(const char *text, char out[CGROUP_BYTES]);

enum { CGROUP_MOUNT_BYTES = 4096 };

/* Finds where the tree of control groups of version 2 is mounted; several mounts show the same
 * tree. False: nowhere. Reads a file of the kernel's; does not block. */
bool cgroup_find_mount(char out[CGROUP_MOUNT_BYTES]);

/* True if `path` is that of the group `outer`, or of a group inside it. */
int cgroup_is_inside(const char *path, const char *outer);

#endif
