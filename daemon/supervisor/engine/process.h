/* Starts the program of an engine. */
#ifndef SYCLD_SUPERVISOR_ENGINE_PROCESS_H
#define SYCLD_SUPERVISOR_ENGINE_PROCESS_H

#include "base/configuration.h"

#include <stdbool.h>
#include <sys/types.h>

struct engine_launch {
	const char *program;
	const char *cache_directory; /* NULL: none */
	uint64_t warm_devices; /* bit n: the engine opens its device n at once; the set is a claim
				  of an earlier engine */
	/* The engine serves the user of this service: its HOME is that user's HOME. */
	bool user_mode;
	bool standby; /* the engine has no user yet */
	bool drop; /* the engine changes to uid and gid by itself; a standby is sent these later */
	uid_t uid;
	gid_t gid;
	const struct configuration *configuration;
};

/* A child of this process, and its descriptors. */
struct engine_process {
	pid_t pid;
	int pidfd;
	int control; /* non-blocking */
	int log;     /* its standard error (engine/log.h) */
};

#define ENGINE_PROCESS_NONE                                                                        \
	{                                                                                          \
		.pid = -1, .pidfd = -1, .control = -1, .log = -1                                   \
	}

/*
 * Fork and exec with a clean environment and a session of its own. Standard output and error are
 * one socket of its own, and descriptor 3 is the control socket; it has no others. The descriptors
 * are the caller's, CLOEXEC. 0 or a negative errno.
 */
int engine_process_start(const struct engine_launch *launch, struct engine_process *process_out);

/* SIGKILL; waits for its end, which a driver may delay; closes the descriptors. For a process that
 * is not watched yet. */
void engine_process_kill(struct engine_process *process);

/*
 * Where sycl-engine is: `given`, else next to this program, else in its tree (../libexec/sycld),
 * else the installed one. 0 or a negative errno.
 */
int engine_program_find(const char *given, char *path_out, size_t size);

#endif
