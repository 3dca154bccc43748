/* Orders to the service, by `syclctl job`, each with a deadline. */
#ifndef SYCLD_SPANK_ORDER_H
#define SYCLD_SPANK_ORDER_H

#include "facts.h"
#include "settings.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A job of Slurm on this node. */
struct job_place {
	uint32_t job;
	uid_t uid;
	const char *cgroup; /* as the kernel names it: "/sycld-jobs/job_12" */
};

/* Begins the job. Blocks until the deadline at most. False: `cause_out` has the reason. */
bool order_begin(const struct settings *settings, const struct facts *facts,
		 const struct job_place *place, char cause_out[CAUSE_BYTES]);

/* `act`: "end", "suspend" or "resume". As above. */
bool order_job(const struct settings *settings, const char *act, uint32_t job,
	       char cause_out[CAUSE_BYTES]);

#endif
