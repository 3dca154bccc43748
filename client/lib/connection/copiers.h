/*
 * Copy threads: threads of the library that take part in large copies (memory/page_copy.h),
 * and in nothing else. A copy starts them. Without work they rest on a condition variable, and end
 * after some seconds of that. They hold no reference and never wait for an answer of the engine. So
 * they end at once when the connection does, and are never the ones to end it.
 */
#ifndef SYCL_CLIENT_COPIERS_H
#define SYCL_CLIENT_COPIERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define COPIERS_MAX     16u
#define COPIERS_IDLE_NS 5000000000ull

/* Called with the lock, which is let go meanwhile. False: there is nothing to be done now, and the
 * lock was kept. */
typedef bool copiers_work(void *context);

struct copiers {
	pthread_mutex_t *lock; /* the connection's state lock */
	copiers_work *work;
	void *context;
	uint64_t idle_ns;           /* how long one rests before it ends */
	pthread_mutex_t start_lock; /* before `lock`: one thread starts and joins */
	/* Under the lock. */
	pthread_cond_t wake;
	uint32_t running, resting;
	bool stop;
	struct copier {
		struct copiers *copiers;
		pthread_t thread;                                      /* under the start lock */
		enum { COPIER_NONE, COPIER_RUNS, COPIER_ENDED } state; /* ended: to be joined */
	} threads[COPIERS_MAX];
};

void copiers_init(struct copiers *copiers, pthread_mutex_t *lock, copiers_work *work,
		  void *context);
/* Waits until all have ended, and none is started any more. Not by one of them. */
void copiers_fini(struct copiers *copiers);

/* There shall be so many, up to COPIERS_MAX, as far as they can be started: microseconds for each.
 * Without locks. */
void copiers_start(struct copiers *copiers, uint32_t count);
/* There is something for so many of them. With the lock. */
void copiers_wake(struct copiers *copiers, uint32_t count);

#endif
