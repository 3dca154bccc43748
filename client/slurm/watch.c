#include "watch.h"

#include "group.h"
#include "order.h"

#include <slurm/spank.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS 500000000l

/* A service that is away is tried again after 1, 2, 4 ... 32 looks. */
enum { FAILURES_COUNTED = 5 };

/* The lock guards all other members. Nothing is taken inside it. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t ends;
	pthread_t thread;
	bool is_running, is_ending;
	struct settings settings;
	uint32_t job;
	pid_t *pids;
	unsigned count;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .ends = PTHREAD_COND_INITIALIZER};

/* In which state the service has the job. An order that failed may have been carried out or not:
 * its program is a descendant of slurmstepd, which Slurm's signals to the job may stop. */
enum at_service { AT_SERVICE_RUNNING, AT_SERVICE_SUSPENDED, AT_SERVICE_UNCERTAIN };

struct report {
	enum at_service state;
	unsigned failures, looks_left; /* until the next try */
	char cause[CAUSE_BYTES];       /* of the last failure that was logged */
};

/* Every step of a job watches its own tasks. They are suspended and resumed together, so the last
 * order of each is the same. But tasks may be killed while the job is suspended: a step that has
 * none left follows those of other steps, and if there are none it leaves the job resumed for a
 * later step. Called with the lock. */
static bool report_is_suspended(const struct report *report)
{
	enum tasks_state tasks = group_tasks_state(watch.pids, watch.count);
	if (tasks == TASKS_ENDED)
		return report->state != AT_SERVICE_RUNNING &&
		       group_has_suspended(&watch.settings, watch.job);
	return tasks == TASKS_SUSPENDED;
}

static void report_send(struct report *report, bool suspended)
{
	char cause[CAUSE_BYTES];
	const char *act = suspended ? "suspend" : "resume";
	if (order_job(&watch.settings, act, watch.job, cause)) {
		*report = (struct report){.state = suspended ? AT_SERVICE_SUSPENDED
							     : AT_SERVICE_RUNNING};
		return;
	}
	if (strcmp(cause, report->cause) != 0)
		slurm_error("sycld: job %lu: %s: %s", (unsigned long)watch.job, act, cause);
	(void)snprintf(report->cause, sizeof(report->cause), "%s", cause);
	report->state = AT_SERVICE_UNCERTAIN;
	report->looks_left = 1u << report->failures;
	report->failures += report->failures < FAILURES_COUNTED;
}

/* True if an order is to be sent now. */
static bool report_is_due(struct report *report, bool suspended)
{
	if (report->state == (suspended ? AT_SERVICE_SUSPENDED : AT_SERVICE_RUNNING))
		return false;
	if (report->looks_left == 0)
		return true;
	report->looks_left--;
	return false;
}

static void *watch_run(void *context)
{
	struct report report = {.state = AT_SERVICE_RUNNING};
	(void)context;
	(void)pthread_mutex_lock(&watch.lock);
	while (!watch.is_ending) {
		struct timespec until;
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000l;
		until.tv_nsec %= 1000000000l;
		(void)pthread_cond_timedwait(&watch.ends, &watch.lock, &until);
		bool suspended = report_is_suspended(&report);
		if (watch.is_ending || !report_is_due(&report, suspended))
			continue;
		(void)pthread_mutex_unlock(&watch.lock);
		report_send(&report, suspended);
		(void)pthread_mutex_lock(&watch.lock);
	}
	/* The tasks may have ended since the last look. */
	bool resumes = report.state != AT_SERVICE_RUNNING && !report_is_suspended(&report);
	(void)pthread_mutex_unlock(&watch.lock);
	if (resumes)
		report_send(&report, false);
	return NULL;
}

/* slurmstepd handles signals on threads of its own. */
static int watch_start(void)
{
	sigset_t all, before;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = -pthread_create(&watch.thread, NULL, watch_run, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

int watch_task(const struct settings *settings, uint32_t job, pid_t pid)
{
	int r = 0;
	(void)pthread_mutex_lock(&watch.lock);
	pid_t *pids = realloc(watch.pids, (watch.count + 1) * sizeof(*pids));
	if (pids) {
		watch.pids = pids;
		watch.pids[watch.count++] = pid;
		watch.settings = *settings;
		watch.job = job;
		if (!watch.is_running) {
			r = watch_start();
			watch.is_running = r == 0;
		}
	}
	(void)pthread_mutex_unlock(&watch.lock);
	return pids ? r : -ENOMEM;
}

void watch_end(void)
{
	(void)pthread_mutex_lock(&watch.lock);
	bool was_running = watch.is_running;
	watch.is_ending = true;
	(void)pthread_cond_signal(&watch.ends);
	(void)pthread_mutex_unlock(&watch.lock);
	if (was_running)
		(void)pthread_join(watch.thread, NULL);
	free(watch.pids);
	watch.pids = NULL;
	watch.count = 0;
	watch.is_running = false;
}
