/* Common parts of the files of random_threads. */
#ifndef SYCL_TESTS_RANDOM_THREADS_INTERNAL_H
#define SYCL_TESTS_RANDOM_THREADS_INTERNAL_H

#include "library/portable_engine.h"
#include "library/random_threads.h"
#include "library/threads_history.h"

#include <pthread.h>
#include <stdatomic.h>

#include "syclclient/usm.h"

enum {
	SHARED_QUEUES = 4,
	QUILTS = 2,
	STRIPE_WORDS = 256, /* words of a quilt that one thread uses */
	STRIPE_BYTES = STRIPE_WORDS * 4,
	SNAPSHOTS = 4,
	BATON_WORDS = 64,
	NOTES = 8,
	LOG_BYTES = HISTORY_LOG_WORDS * 4,
};

/* A queue with the kernels of its context. */
struct place {
	sycl_queue queue;
	sycl_kernel fill, increment, copy, append;
};

/* A copy of a log that a group makes, and the name of that group. */
struct snapshot {
	sycl_buffer buffer;
	uint32_t name, log;
};

/* A part of a quilt that only one thread uses, in its order: a serial model is enough. */
struct stripe {
	sycl_buffer sub; /* NULL: it is named by its range */
	uint32_t words[STRIPE_WORDS];
	bool lost;
};

struct worker {
	pthread_t thread;
	uint32_t number, steps;
	uint64_t random;
	struct place own;                /* a queue that only this thread uses */
	sycl_buffer alias[HISTORY_LOGS]; /* all of each log, as a sub-buffer */
	struct snapshot snapshots[SNAPSHOTS];
	struct stripe stripes[QUILTS];
	uint32_t follows; /* a step of another thread that precedes the next one */
	bool holds; /* it has a host accessor: others may wait for that, so it must not wait for
		       them */
	uint64_t groups, failures, checks;
};

/* The message of one thread to the others: its group has been submitted, and this is its event. */
struct note {
	sycl_event event;
	uint32_t name; /* of its step; 0: it was none */
	bool fails;
};

struct threads_world {
	sycl_platform platform;
	struct place places[SHARED_QUEUES];
	sycl_buffer logs[HISTORY_LOGS], quilts[QUILTS];
	struct history history;
	uint32_t found[HISTORY_LOGS][HISTORY_LOG_WORDS];
	struct worker workers[HISTORY_THREADS];

	pthread_mutex_t lock; /* of the notes */
	struct note notes[NOTES];

	pthread_mutex_t baton_lock; /* held during submission: its order is the model's */
	uint32_t *baton;            /* NULL: the devices have no such memory */
	uint32_t baton_words[BATON_WORDS];
	sycl_event baton_last;
};

extern struct threads_world threads_world;

#define NEED(call) threads_need((call), #call, __FILE__, __LINE__)
#define CHECK(condition, ...)                                                                      \
	do {                                                                                       \
		if (!(condition))                                                                  \
			threads_fail(__FILE__, __LINE__, __VA_ARGS__);                             \
	} while (0)

void threads_need(sycl_result result, const char *what, const char *file, int line);
_Noreturn void threads_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

uint32_t threads_next(struct worker *worker, uint32_t below);
/* Any queue: a shared one or the thread's own. */
const struct place *threads_place(struct worker *worker);

/* A group that is being built. `lives`: it must not depend on a group that fails. */
struct threads_group {
	sycl_handler handler;
	const struct place *place;
	bool fails;
};
struct threads_group threads_begin(struct worker *worker, bool lives);
/* Submits it; `name`: its step, 0 for none. Sometimes it waits, or notifies the others. */
void threads_submit(struct worker *worker, struct threads_group *group, uint32_t name);
/* Checks that the event has the outcome of the model. */
void threads_check_event(struct worker *worker, sycl_event event, bool fails);
/* Adds a step to the history, behind the steps that other threads reported to this one. */
uint32_t threads_step(struct worker *worker);

/* random_threads_logs.c: one step on logs that all threads use. */
void threads_do_log(struct worker *worker);
/* Checks all open snapshots at the end. */
void threads_end_snapshots(struct worker *worker);
/* random_threads_stripes.c: one group on the thread's own stripes and memory. */
void threads_do_stripe(struct worker *worker);
void threads_end_stripes(struct worker *worker);
void threads_do_baton(struct worker *worker);

#endif
