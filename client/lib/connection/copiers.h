/*
 * Copy threads are threads of the library that take part in large copies (memory/page_copy.h) only.
 * A copy starts them. Idle copy threads wait on a condition variable, and end after some seconds.
 * They hold no reference and never wait for an answer of the engine. So they end at once with their
 * connection, and never release its last reference.
 */
#ifndef SYCL_CLIENT_COPIERS_H
#define SYCL_CLIENT_COPIERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define COPIERS_MAX     16u
#define COPIERS_IDLE_NS 5000000000ull

/* Called with the lock, which is released meanwhile. False: there is no work now, and the lock was
 * kept. */
typedef bool copiers_work(void *context);

struct copiers {
	pthread_mutex_t *lock; /* the connection's state lock */
	copiers_work *work;
	void *context;
	uint64_t idle_ns;           /* idle time after which a copy thread ends */
	pthread_mutex_t start_lock; /* taken before `lock`; one thread at a time starts and joins */
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
/* Waits until all copy threads have ended, and prevents new ones. No copy thread may call it. */
void copiers_fini(struct copiers *copiers);

/* Starts copy threads up to that number and COPIERS_MAX, as far as the system allows. Takes
 * microseconds for each. Without locks. */
void copiers_start(struct copiers *copiers, uint32_t count);
/* Wakes so many copy threads, because there is work. With the lock. */
void copiers_wake(struct copiers *copiers, uint32_t count);

#endif
