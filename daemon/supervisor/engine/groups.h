/*
 * Control groups (version 2) for tenants and engines, inside the service's own where that was
 * delegated to it (Delegate= in the unit):
 *
 *   sycld.service/service           this process
 *   sycld.service/uid-1000          limits of the user, as configured
 *   sycld.service/uid-1000/engine-4711   an engine and whatever its code starts: ended as a whole
 *
 * A name says which engine it is, so that the next service finds it again. Everywhere else nothing
 * of this happens: orphans.h.
 */
#ifndef SYCLD_SUPERVISOR_ENGINE_GROUPS_H
#define SYCLD_SUPERVISOR_ENGINE_GROUPS_H

#include "base/configuration.h"

#include <stdbool.h>
#include <sys/types.h>

struct engine_groups {
	int base; /* the service's own group; -1: not to be used */
	bool has_limits;
};

#define ENGINE_GROUPS_NONE                                                                         \
	{                                                                                          \
		.base = -1                                                                         \
	}

/* Look for it and move this process out of the way. Logs what is not as configured; engines run
 * without it as well. */
void engine_groups_open(struct engine_groups *groups, const struct configuration *configuration);
void engine_groups_close(struct engine_groups *groups);

/*
 * Put an engine into its group, with the processes that it has started itself: before it runs
 * anything of its tenant's. What the configuration says of users holds from then on, for all of the
 * user's engines.
 */
void engine_groups_take(const struct engine_groups *groups,
			const struct configuration *configuration, uid_t uid, pid_t pid);

/* End all that is in it. */
void engine_groups_kill(const struct engine_groups *groups, uid_t uid, pid_t pid);

/* End what is in groups of engines that `is_engine` does not know, and remove groups in which
 * nothing is left. */
void engine_groups_tidy(const struct engine_groups *groups,
			bool (*is_engine)(const void *context, pid_t pid), const void *context);

#endif
