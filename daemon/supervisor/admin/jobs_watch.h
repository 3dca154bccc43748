/* Drops jobs whose control group is gone, so that nobody ends them. */
#ifndef SYCLD_SUPERVISOR_JOBS_WATCH_H
#define SYCLD_SUPERVISOR_JOBS_WATCH_H

#include <uv.h>

struct supervisor;

struct job_watch {
	uv_timer_t timer; /* runs while there are jobs */
};

void jobs_watch_init(struct supervisor *supervisor);
/* Called when there are jobs. */
void jobs_watch_start(struct supervisor *supervisor);

#endif
