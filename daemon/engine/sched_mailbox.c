/* Sleeping and waking of a device's thread. */
#include "sched_mailbox.h"

int sched_sleeper_init(struct sched_sleeper *sleeper)
{
	int result = pthread_mutex_init(&sleeper->lock, NULL);
	if (result != 0)
		return -result;
	result = pthread_cond_init(&sleeper->woken, NULL);
	if (result != 0)
		(void)pthread_mutex_destroy(&sleeper->lock);
	return -result;
}

void sched_sleeper_fini(struct sched_sleeper *sleeper)
{
	(void)pthread_cond_destroy(&sleeper->woken);
	(void)pthread_mutex_destroy(&sleeper->lock);
}

void sched_sleeper_prepare(struct sched_sleeper *sleeper)
{
	atomic_store(&sleeper->sleeps, 1);
}

void sched_sleeper_cancel(struct sched_sleeper *sleeper)
{
	atomic_store(&sleeper->sleeps, 0);
}

void sched_sleeper_sleep(struct sched_sleeper *sleeper)
{
	(void)pthread_mutex_lock(&sleeper->lock);
	while (!sleeper->signalled)
		(void)pthread_cond_wait(&sleeper->woken, &sleeper->lock);
	sleeper->signalled = false;
	(void)pthread_mutex_unlock(&sleeper->lock);
}

bool sched_sleeper_wake(struct sched_sleeper *sleeper)
{
	if (atomic_load(&sleeper->sleeps) == 0 || atomic_exchange(&sleeper->sleeps, 0) == 0)
		return false;
	(void)pthread_mutex_lock(&sleeper->lock);
	sleeper->signalled = true;
	(void)pthread_cond_signal(&sleeper->woken);
	(void)pthread_mutex_unlock(&sleeper->lock);
	return true;
}
