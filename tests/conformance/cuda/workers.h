/*
 * A device that two threads use, one for commands and one for entries that backend.h marks
 * "loader". It does not use Criterion, because the race program has it, too. An error is kept for
 * the caller to report.
 */
#ifndef SYCL_TESTS_CONFORMANCE_CUDA_WORKERS_H
#define SYCL_TESTS_CONFORMANCE_CUDA_WORKERS_H

#include "backend.h"

#include <pthread.h>

#define WORKER_WORDS 512u

struct worker {
	pthread_t commands, loads;
	const struct backend_ops *ops;
	struct backend *backend;
	uint32_t index, rounds;
	struct backend_device *device; /* set by the thread for commands */
	pthread_barrier_t opened, loaded;
	const void *binary;
	size_t binary_bytes;
	_Atomic(const char *) failed; /* the first error; NULL: none */
	char text[BACKEND_TEXT_BYTES];
};

struct worker_objects {
	struct backend_lane *lane;
	struct backend_memory *memory;
	struct backend_program *program;
	struct backend_kernel *kernel;
};

/* Two threads that open the device, work on it, and close it. */
int worker_start(struct worker *worker);
void worker_join(struct worker *worker);

/* The same without threads, for an open device. False: `failed` has the error. */
bool worker_make(struct worker *worker, struct worker_objects *objects);
void worker_drop(struct worker *worker, struct worker_objects *objects);
bool worker_round(struct worker *worker, struct worker_objects *objects, uint64_t *sequence,
		  uint32_t value);

#endif
