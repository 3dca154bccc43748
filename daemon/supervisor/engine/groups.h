/*
 * Control groups (version 2) for tenants and engines, inside the service's own group if that was
 * delegated to it (Delegate= in the unit):
 *
 *   sycld.service/service           this process
 *   sycld.service/uid-1000          limits of the user, as configured
 *   sycld.service/uid-1000/engine-4711   an engine and its child processes, which end together
 *
 * A name identifies the engine, so that the next service finds it again. Without delegation there
 * are no groups: orphans.h.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_GROUPS_H
#define SYCLD_SUPERVISOR_ENGINE_GROUPS_H

#include "base/configuration.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct engine_groups {
	int base; /* the service's own group; -1: not to be used */
	bool has_limits;
	/* The users divide the processors evenly, unless weights are configured. */
	bool serves_many;
	/* Defaults for users without configured ones; 0: no limit. */
	uint64_t processes, memory_bytes;
};

#define ENGINE_GROUPS_NONE                                                                         \
	{                                                                                          \
		.base = -1                                                                         \
	}

/* Finds the service's group, and moves this process into a group below it. Logs deviations from the
 * configuration; engines also run without groups. */
void engine_groups_open(struct engine_groups *groups, const struct configuration *configuration,
			bool serves_many);
void engine_groups_close(struct engine_groups *groups);

/* Sets a part of the service's own limits as default for each user; called by engine_groups_open.
 * If the service has no limits, or does not serve many users, there are no defaults. */
void engine_groups_set_defaults(struct engine_groups *groups, bool serves_many);

/* An engine's process. */
struct engine_groups_process {
	pid_t pid;
	int pidfd;     /* borrowed */
	bool is_child; /* a child of this process, so no other process gets its number */
};

/*
 * Puts an engine into its group. From then on the configured limits apply to all of the user's
 * engines. A child that does not yet run its tenant's code is put there with the processes that it
 * has started. Another engine's processes stay where they are: they are in the group of the engine,
 * and the engine could have chosen their numbers.
 */
void engine_groups_take(const struct engine_groups *groups,
			const struct configuration *configuration, uid_t uid,
			const struct engine_groups_process *process);

/* Ends all processes in the engine's group. 0 or a negative errno: there is no group, or the kernel
 * is older than 5.14, where a group cannot be ended. */
int engine_groups_kill(const struct engine_groups *groups, uid_t uid, pid_t pid);

/*
 * Ends processes in groups of engines for which `is_engine` is false, and removes empty groups. It
 * keeps a user's group to which memory is still charged, because that counts against the user's
 * next engine.
 */
void engine_groups_tidy(const struct engine_groups *groups,
			bool (*is_engine)(const void *context, pid_t pid), const void *context);

#endif
