/*
 * Random command groups from several threads of one program at once, on queues, buffers and memory
 * that they share. It is plain C over portable_engine.h, so that it runs under ThreadSanitizer,
 * too. A failed check ends the program with a sentence.
 */
#ifndef SYCL_TESTS_RANDOM_THREADS_H
#define SYCL_TESTS_RANDOM_THREADS_H

#include <stdint.h>

struct random_threads_result {
	uint64_t groups, failures, checks;
};

/* Runs at least so many groups, by all threads together, on an engine that was started
 * (portable_engine_start). */
void random_threads_run(uint64_t seed, uint64_t groups, uint32_t helper_threads,
			struct random_threads_result *result_out);

#endif
