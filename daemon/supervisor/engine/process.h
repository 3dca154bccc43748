/* Starts the program of an engine. */
#ifndef SYCLD_SUPERVISOR_ENGINE_PROCESS_H
#define SYCLD_SUPERVISOR_ENGINE_PROCESS_H

#include "base/configuration.h"

#include <stdbool.h>
#include <sys/types.h>

struct engine_launch {
	const char *program;
	const char *cache_directory; /* NULL: none */
	/* A folder in which a standby without a user may make its own; NULL: the one for temporary
	 * files. */
	const char *scratch_directory;
	/* Bit n: the engine opens its device n at once. The set is a claim of an earlier engine. */
	uint64_t warm_devices;
	/* The engine serves the user of this service: its HOME is that user's HOME. */
	bool user_mode;
	bool standby; /* the engine has no user yet */
	bool drop; /* the engine changes to uid and gid by itself; a standby receives these later */
	uid_t uid;
	gid_t gid;
	/* The folder in which CUDA looks for MPS; NULL: as in the service's environment. */
	const char *mps_folder;
	const struct configuration *configuration;
	/* Devices that sessions may use; NULL, or not given: all. */
	const struct configuration_devices *devices;
};

/* A child of this process, and its descriptors. */
struct engine_process {
	pid_t pid;
	int pidfd;
	int control; /* non-blocking */
	int log;     /* the engine's standard error (engine/log.h) */
};

#define ENGINE_PROCESS_NONE                                                                        \
	{                                                                                          \
		.pid = -1, .pidfd = -1, .control = -1, .log = -1                                   \
	}

/*
 * Starts the engine with a clean environment and in a new session. Its standard output and error
 * are one socket, and descriptor 3 is the control socket; it has no others. The caller owns the
 * descriptors, which are CLOEXEC. 0 or a negative errno.
 */
int engine_process_start(const struct engine_launch *launch, struct engine_process *process_out);

/* Sends SIGKILL, waits for the end, which a driver may delay, and closes the descriptors. For a
 * process that is not polled yet. A refused kill is logged, and the end not waited for. */
void engine_process_kill(struct engine_process *process);

/* Finds sycl-engine: `given`, else next to this program, else in its tree (../libexec/sycld), else
 * the installed one. 0 or a negative errno. */
int engine_program_find(const char *given, char *path_out, size_t size);

#endif
