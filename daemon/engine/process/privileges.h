/*
 * How an engine takes its tenant's ids and gives up privileges that it does not need, for good.
 * That is before any thread exists. In a standby engine libraries have threads by then. The C
 * library changes the ids of all of them; the rest was given up before (engine_privileges_standby).
 * engine_privileges_check verifies it.
 */
#ifndef SYCL_ENGINE_ENGINE_PRIVILEGES_H
#define SYCL_ENGINE_ENGINE_PRIVILEGES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Become this user, with its groups, no capability in any set, not traceable, and no way back
 * (which is tried). Needs to be root. 0 or a negative errno; after a failure the process must end.
 * Reads the user and group database.
 */
int engine_privileges_drop(uid_t uid, gid_t gid);

/* Common to every engine: no core files, no privileges gained by exec, the first process to be
 * killed when memory runs out. As above. */
int engine_privileges_limit(void);

/* What an engine may lock where CUDA is not used: the kernel's own default. */
#define ENGINE_LOCKED_BYTES (8ull << 20)

/*
 * Memory that this process may lock: `bytes` at most, unless `devices` (/dev) has files of NVIDIA's
 * driver. That pins as much as its users request. 0 or a negative errno.
 */
int engine_privileges_limit_locked(const char *devices, uint64_t bytes);

/*
 * For an engine without a user, before it loads a library. As engine_privileges_limit, but the
 * kernel kills this engine even before others when memory runs out. `change_user`: the engine will
 * become another user, and keeps only the capabilities that this takes.
 */
int engine_privileges_standby(bool change_user);

/*
 * After engine_privileges_drop in a process with threads. Checks that each thread has this user's
 * ids, can gain no privileges, and has no capability; if uid is 0, only this thread. Checks that
 * this user may open every device file that was opened before. -EPERM, or -EACCES for a file: the
 * process must end. `what_out`: which thread or file, for the log. Reads /proc.
 */
int engine_privileges_check(uid_t uid, gid_t gid, char what_out[PATH_MAX]);

#endif
