#include "admin/jobs_watch.h"

#include "admin/jobs_file.h"
#include "base/log.h"
#include "engine/job_end.h"
#include "service/supervisor.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_MS = 2000, WHY_BYTES = CGROUP_BYTES + 64 };

static void jobs_save(const struct supervisor *supervisor)
{
	int r = jobs_file_save(supervisor);
	if (r < 0)
		log_warning("job", "the file of jobs cannot be written: %s", strerror(-r));
}

/* A look is one question to the kernel for each job; nothing is read. */
static void on_jobs_timer(uv_timer_t *timer)
{
	struct supervisor *supervisor = timer->data;
	struct job *job, *next;
	unsigned before = supervisor->jobs.count;
	for (job = TAILQ_FIRST(&supervisor->jobs.list); job; job = next) {
		char why[WHY_BYTES];
		next = TAILQ_NEXT(job, link);
		if (job_group_exists(supervisor, job))
			continue;
		(void)snprintf(why, sizeof(why), "job %llu has ended: its control group is gone",
			       (unsigned long long)job->number);
		log_info("job", "%s", why);
		(void)job_end(supervisor, job, why);
	}
	if (supervisor->jobs.count != before)
		jobs_save(supervisor);
	if (supervisor->jobs.count == 0)
		(void)uv_timer_stop(timer);
}

void jobs_watch_init(struct supervisor *supervisor)
{
	(void)uv_timer_init(&supervisor->loop, &supervisor->job_watch->timer);
	supervisor->job_watch->timer.data = supervisor;
}

void jobs_watch_start(struct supervisor *supervisor)
{
	if (supervisor->jobs.count > 0 &&
	    !uv_is_active((const uv_handle_t *)&supervisor->job_watch->timer))
		(void)uv_timer_start(&supervisor->job_watch->timer, on_jobs_timer, LOOK_MS,
				     LOOK_MS);
}
