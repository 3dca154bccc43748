#include "connection/copiers.h"

#include "base/own_thread.h"

#include "clock.h"

#include <errno.h>

/* The program's fault handler may run on this stack. Untouched pages cost no memory. */
#define STACK_BYTES ((size_t)256 << 10)

void copiers_init(struct copiers *copiers, pthread_mutex_t *lock, copiers_work *work, void *context)
{
	*copiers = (struct copiers){
		.lock = lock, .work = work, .context = context, .idle_ns = COPIERS_IDLE_NS};
	pthread_condattr_t monotonic;
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&copiers->wake, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	(void)pthread_mutex_init(&copiers->start_lock, NULL);
	for (uint32_t i = 0; i < COPIERS_MAX; i++)
		copiers->threads[i].copiers = copiers;
}

void copiers_wake(struct copiers *copiers, uint32_t count)
{
	for (uint32_t i = 0; i < count && i < copiers->resting; i++)
		(void)pthread_cond_signal(&copiers->wake);
}

/* Returns false if the copier has idled for idle_ns. With the lock. */
static bool copier_wait_for_work(struct copiers *copiers)
{
	uint64_t end_ns = clock_deadline_ns(copiers->idle_ns);
	const struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000ull),
				     .tv_nsec = (long)(end_ns % 1000000000ull)};
	copiers->resting++;
	int r = pthread_cond_timedwait(&copiers->wake, copiers->lock, &end);
	copiers->resting--;
	return r != ETIMEDOUT;
}

static void *copier_run(void *argument)
{
	struct copier *copier = argument;
	struct copiers *copiers = copier->copiers;
	(void)pthread_setname_np(pthread_self(), "sycl-copy");
	(void)pthread_mutex_lock(copiers->lock);
	bool rested = true;
	while (!copiers->stop) {
		if (copiers->work(copiers->context))
			rested = true;
		else if (rested)
			rested = copier_wait_for_work(copiers);
		else
			break; /* no work has come at the last moment */
	}
	copiers->running--;
	copier->state = COPIER_ENDED;
	(void)pthread_mutex_unlock(copiers->lock);
	return NULL;
}

/* With the start lock, or when no copier can be started any more. False: the copier still runs, and
 * `only_ended` was set. */
static bool copier_join(struct copiers *copiers, struct copier *copier, bool only_ended)
{
	(void)pthread_mutex_lock(copiers->lock);
	bool there = copier->state != COPIER_NONE, runs = copier->state == COPIER_RUNS;
	(void)pthread_mutex_unlock(copiers->lock);
	if (runs && only_ended)
		return false;
	if (there)
		(void)pthread_join(copier->thread, NULL);
	copier->state = COPIER_NONE; /* no other thread uses the copier any more */
	return true;
}

/* With the start lock. */
static bool copier_start(struct copiers *copiers, struct copier *copier)
{
	(void)pthread_mutex_lock(copiers->lock);
	copier->state = COPIER_RUNS;
	copiers->running++;
	(void)pthread_mutex_unlock(copiers->lock);
	if (own_thread_start(&copier->thread, STACK_BYTES, copier_run, copier) == 0)
		return true;
	(void)pthread_mutex_lock(copiers->lock);
	copier->state = COPIER_NONE;
	copiers->running--;
	(void)pthread_mutex_unlock(copiers->lock);
	return false;
}

/* Without locks. */
static uint32_t count_running(struct copiers *copiers)
{
	(void)pthread_mutex_lock(copiers->lock);
	uint32_t running = copiers->running;
	(void)pthread_mutex_unlock(copiers->lock);
	return running;
}

void copiers_start(struct copiers *copiers, uint32_t count)
{
	if (count == 0 || count_running(copiers) >= count)
		return;
	(void)pthread_mutex_lock(&copiers->start_lock);
	bool good = true;
	for (uint32_t i = 0; i < COPIERS_MAX && good && count_running(copiers) < count; i++)
		if (copier_join(copiers, &copiers->threads[i], true))
			good = copier_start(copiers, &copiers->threads[i]);
	(void)pthread_mutex_unlock(&copiers->start_lock);
}

void copiers_fini(struct copiers *copiers)
{
	(void)pthread_mutex_lock(copiers->lock);
	copiers->stop = true;
	(void)pthread_cond_broadcast(&copiers->wake);
	(void)pthread_mutex_unlock(copiers->lock);
	for (uint32_t i = 0; i < COPIERS_MAX; i++)
		copier_join(copiers, &copiers->threads[i], false);
	(void)pthread_cond_destroy(&copiers->wake);
	(void)pthread_mutex_destroy(&copiers->start_lock);
}
