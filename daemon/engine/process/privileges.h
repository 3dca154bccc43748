/*
 * How an engine becomes its tenant and gives up what it does not need, for good. Before any thread
 * exists, but for a standby engine, where libraries have threads by then: the C library changes the
 * ids of all of them, and what it does not change was given up before (engine_privileges_standby);
 * engine_privileges_check looks.
 */
#ifndef SYCL_ENGINE_ENGINE_PRIVILEGES_H
#define SYCL_ENGINE_ENGINE_PRIVILEGES_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Become this user, with its groups, no capability in any set, not traceable, and no way back
 * (which is tried). Needs to be root. 0 or a negative errno; after a failure the process must end.
 * Reads the user and group database.
 */
int engine_privileges_drop(uid_t uid, gid_t gid);

/* What every engine does: no core files, nothing gained by exec, first to go when memory runs out.
 * As above. */
int engine_privileges_limit(void);

/*
 * Memory that this process may lock: 8 MiB at most, unless `devices` (/dev) has files of NVIDIA's
 * driver, which pins as much as its users ask for. 0 or a negative errno.
 */
int engine_privileges_limit_locked(const char *devices);

/*
 * An engine without a user, before it loads a library: engine_privileges_limit, but goes even
 * before the others when memory runs out. `change_user`: it will become another user, and keeps of
 * its capabilities only those that this takes.
 */
int engine_privileges_standby(bool change_user);

/*
 * After engine_privileges_drop in a process with threads: each of them is this user, cannot gain
 * anything, and has no capability (unless uid is 0: then this thread has none); and every device
 * file that was opened before is one that this user may open. -EPERM, of a file -EACCES: not so;
 * the process must end. `what_out`: which thread or file, for people. Reads /proc.
 */
int engine_privileges_check(uid_t uid, gid_t gid, char what_out[PATH_MAX]);

#endif
