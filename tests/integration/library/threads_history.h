/*
 * The steps of several threads on a few logs at one time, and a check that one order of all steps
 * explains the results.
 *
 * A log is a buffer of words: the number of entries, and the entries. Each entry is the name of the
 * step that wrote it. So the logs show the order of the writers, and the number of entries that a
 * reader found shows its place. A service may take steps of several threads in any order. But there
 * must be one order of all steps on all logs. In it each thread's own steps keep their order. A
 * submission that a thread has observed comes before that thread's later ones.
 */
#ifndef SYCL_TESTS_THREADS_HISTORY_H
#define SYCL_TESTS_THREADS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HISTORY_THREADS = 4,
	HISTORY_STEPS = 256, /* of a thread */
	HISTORY_LOGS = 3,
	HISTORY_LOG_WORDS = HISTORY_THREADS * HISTORY_STEPS + 1,
};

struct history_step {
	bool writes[HISTORY_LOGS];
	bool reads[HISTORY_LOGS];
	uint32_t seen[HISTORY_LOGS]; /* entries that were there when it read */
	uint64_t hash[HISTORY_LOGS]; /* hash of these entries */
	uint32_t follows;            /* a step of another thread that had been submitted; 0: none */
};

/* Each thread accesses only its own steps until all have ended. */
struct history {
	uint32_t counts[HISTORY_THREADS];
	struct history_step steps[HISTORY_THREADS][HISTORY_STEPS];
};

/* The name of a thread's next step: never 0. */
uint32_t history_next(struct history *history, uint32_t thread);
struct history_step *history_at(struct history *history, uint32_t name);
/* Records the contents that a step found in a log. The log was 0 behind its entries at first.
 * Returns NULL or the error. */
const char *history_read(struct history_step *step, uint32_t which,
			 const uint32_t found[HISTORY_LOG_WORDS]);
/* Checks all logs at the end. Returns NULL if there is such an order, otherwise the error. */
const char *history_check(struct history *history,
			  const uint32_t logs[HISTORY_LOGS][HISTORY_LOG_WORDS]);

#endif
