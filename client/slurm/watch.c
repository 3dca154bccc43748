#include "watch.h"

#include "group.h"
#include "order.h"

#include <slurm/spank.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS 500000000l

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

/* Every step of a job watches its own tasks. They are suspended and resumed together, so the last
 * order of each is the same. */
static void watch_report(bool suspended)
{
	char cause[CAUSE_BYTES];
	const char *act = suspended ? "suspend" : "resume";
	if (!order_job(&watch.settings, act, watch.job, cause))
		slurm_error("sycld: job %lu: %s: %s", (unsigned long)watch.job, act, cause);
}

static void *watch_run(void *context)
{
	bool was_suspended = false;
	(void)context;
	(void)pthread_mutex_lock(&watch.lock);
	while (!watch.is_ending) {
		struct timespec until;
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000l;
		until.tv_nsec %= 1000000000l;
		(void)pthread_cond_timedwait(&watch.ends, &watch.lock, &until);
		bool suspended = group_is_suspended(watch.pids, watch.count);
		if (watch.is_ending || suspended == was_suspended)
			continue;
		was_suspended = suspended;
		(void)pthread_mutex_unlock(&watch.lock);
		watch_report(suspended);
		(void)pthread_mutex_lock(&watch.lock);
	}
	(void)pthread_mutex_unlock(&watch.lock);
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
