/* The two sides of the GPU rows, as processes: a client of the service, and a process with its own
 * context. */
#ifndef SYCL_BENCH_GPU_SUBJECTS_H
#define SYCL_BENCH_GPU_SUBJECTS_H

#include "harness/agent.h"

/* open and close of an agent_subject. For the argument see place.h; the state is a gpu_client or a
 * gpu_direct. */
int subject_gpu_client_open(const char *place, void **state_out);
/* A client that copies only with its own thread. */
int subject_gpu_client_open_alone(const char *place, void **state_out);
void subject_gpu_client_close(void *state);
int subject_gpu_direct_open(const char *place, void **state_out);
void subject_gpu_direct_close(void *state);

/*
 * measure of subjects whose rates are added. It keeps the queue full for `count` ms, waits for the
 * rest, and checks that each kernel ran once. Answers GPU_ANSWER_*.
 */
int subject_gpu_client_add(void *state, uint64_t count, double values_out[AGENT_VALUES]);
int subject_gpu_direct_add(void *state, uint64_t count, double values_out[AGENT_VALUES]);
/* The same with kernels of one block that take 20 us; with this bit in `count`, a moment. */
enum { GPU_SUBJECT_QUICK = 1 << 20 };
int subject_gpu_client_spin(void *state, uint64_t count, double values_out[AGENT_VALUES]);
int subject_gpu_direct_spin(void *state, uint64_t count, double values_out[AGENT_VALUES]);

#endif
