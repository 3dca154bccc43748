/* Why an engine died, and which command group may be to blame. */
#ifndef SYCLD_SUPERVISOR_ENGINE_DEATH_H
#define SYCLD_SUPERVISOR_ENGINE_DEATH_H

#include "service/tenant.h"

#include <stdbool.h>

struct engine;

struct engine_death {
	bool abnormal;     /* the end was not requested, and was no exit with status 0 */
	uint64_t offender; /* the session of the only command in flight, by its flight page; 0: not
			      known */
	char text[TENANT_FAILURE_BYTES]; /* such as "exited with status 1" or "was killed by signal
					    11 (...); offender: ..." */
};

/*
 * Describes and logs an engine's death. Call it while the engine still has its sessions and its
 * flight page.
 */
void engine_death_describe(struct engine *engine, int wait_status, struct engine_death *death_out);

#endif
