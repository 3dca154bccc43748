/* The cause of an engine's death, and the command group that may be at fault. */
#ifndef SYCLD_SUPERVISOR_ENGINE_DEATH_H
#define SYCLD_SUPERVISOR_ENGINE_DEATH_H

#include "service/tenant.h"

#include <stdbool.h>

struct engine;

struct engine_death {
	bool abnormal; /* the end was not requested, and the exit status was not 0 */
	/* The session of the only command in flight, by the flight page; 0: unknown. */
	uint64_t offender;
	char text[TENANT_FAILURE_BYTES]; /* such as "exited with status 1" or "was killed by signal
					    11 (...); offender: ..." */
};

/* Describes and logs an engine's death. Called while the engine still has its sessions and its
 * flight page. */
void engine_death_describe(struct engine *engine, int wait_status, struct engine_death *death_out);

#endif
