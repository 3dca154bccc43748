/* How an engine becomes its tenant and gives up what it does not need, for good. Before any thread exists. */
#ifndef SYCL_ENGINE_ENGINE_PRIVILEGES_H
#define SYCL_ENGINE_ENGINE_PRIVILEGES_H

#include <sys/types.h>

/*
 * Become this user, with its groups, no capability, not traceable, and no way back (which is tried). Needs to be root.
 * 0 or a negative errno; after a failure the process must end. Reads the user and group database.
 */
int engine_privileges_drop(uid_t uid, gid_t gid);

/* What every engine does: no core files, nothing gained by exec, first to go when memory runs out. As above. */
int engine_privileges_limit(void);

#endif
