/*
 * Control groups (version 2) for tenants and engines, inside the service's own where that was
 * delegated to it (Delegate= in the unit):
 *
 *   sycld.service/service           this process
 *   sycld.service/uid-1000          limits of the user, as configured
 *   sycld.service/uid-1000/engine-4711   an engine and whatever its code starts: ended as a whole
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
	uint64_t processes, memory_bytes; /* of a user for whom none are configured; 0: no limit */
};

#define ENGINE_GROUPS_NONE                                                                         \
	{                                                                                          \
		.base = -1                                                                         \
	}

/* Find the service's group, and move this process into a group below it. Logs what is not as
 * configured; engines run without groups as well. */
void engine_groups_open(struct engine_groups *groups, const struct configuration *configuration,
			bool serves_many);
void engine_groups_close(struct engine_groups *groups);

/* A part of the service's own limits for each user; engine_groups_open calls it. Where the service
 * has none, or does not serve many users, users have none. */
void engine_groups_set_defaults(struct engine_groups *groups, bool serves_many);

/*
 * Put an engine into its group, with the processes that it has started itself, before it runs its
 * tenant's code. The configured limits of users hold from then on, for all of the user's engines.
 */
void engine_groups_take(const struct engine_groups *groups,
			const struct configuration *configuration, uid_t uid, pid_t pid);

/* End all processes in the engine's group. */
void engine_groups_kill(const struct engine_groups *groups, uid_t uid, pid_t pid);

/* End processes in groups of engines for which `is_engine` is false, and remove empty groups, but
 * not a user's to which memory is still charged: that counts against the user's next engine. */
void engine_groups_tidy(const struct engine_groups *groups,
			bool (*is_engine)(const void *context, pid_t pid), const void *context);

#endif
