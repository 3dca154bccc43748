/* Which control group a client is in, for accounts. */
#ifndef SYCLD_SUPERVISOR_CGROUP_H
#define SYCLD_SUPERVISOR_CGROUP_H

#include <stddef.h>

enum { CGROUP_BYTES = 256 };

/*
 * From the text of /proc/PID/cgroup: the path of version 2 ("0::/user.slice/..."), printable. Of a
 * path that is too long, the last part, behind "...". "": the text names none.
 */
void cgroup_parse(const char *text, char out[CGROUP_BYTES]);

/* Is `path` that of the group `outer`, or of a group inside it? */
int cgroup_is_inside(const char *path, const char *outer);

#endif
