/*
 * A standby engine: a process that was started ahead, with vendors' drivers loaded and devices'
 * contexts made, and without a user. It receives messages of the supervisor only (control.proto),
 * and becomes one user's engine, once. Before that it does only what belongs to no user
 * (backend_ops.preload); afterwards it does all else as any engine.
 *
 *   [standby_wait: StandbyPrepare -> devices -> StandbyReady] -> EngineAdopt
 *   -> [standby_become] -> as any engine
 */
#ifndef SYCL_ENGINE_STANDBY_H
#define SYCL_ENGINE_STANDBY_H

#include "build/service.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct standby_settings {
	int control;                        /* the supervisor's socket */
	bool change_user;                   /* the user will be another one than the engine's own */
	const char *const *backend_options; /* as engine_options */
	const char *cache_directory; /* the own user's folder; NULL: none, or not known yet */
	/* The parent folder in which it may make a folder of its own; only its user may write
	 * there. NULL: the folder for temporary files. */
	const char *scratch_directory;
};

/* The user that gets the engine. */
struct standby_adoption {
	bool change_user;
	uid_t uid;
	gid_t gid;
	uint64_t open_devices;          /* engine_options.warm_devices */
	char cache_directory[PATH_MAX]; /* "": none */
};

/*
 * Forks the build helper, which waits for its user as well; prepares devices on request; blocks. 1:
 * it was adopted, and its devices work; the build service is the caller's. 0: the supervisor has
 * ended, or does not need it. -EOPNOTSUPP: none of the devices can be prepared. Any other negative
 * errno: a failure, reported on stderr. Then, as with 0, the process must end at once, without
 * freeing anything. Before any thread exists. TERM ends the process.
 */
int standby_wait(const struct standby_settings *settings, struct standby_adoption *adoption_out,
		 struct build_service **builds_out);

/*
 * Take the user's ids, in the helper too, with everything as in an engine that was started for the
 * user. Main thread, while the libraries' own threads are idle. 0 or a negative errno: then the
 * process must end at once; -EACCES: this user may not open a prepared device. `what_out`: the
 * cause, for the log. May query the user database.
 */
int standby_become(const struct standby_adoption *adoption, struct build_service *builds,
		   char what_out[PATH_MAX]);

#endif
