/* Why something failed. */
#ifndef SYCL_ENGINE_SCHED_CAUSE_H
#define SYCL_ENGINE_SCHED_CAUSE_H

#include "backend.h"

#include <stdint.h>

/* The cause of a failure, shared by all tasks that failed for that cause. Counted on the front
 * thread. */
struct sched_cause {
	uint32_t references;
	struct backend_fault fault;
};

/*
 * cause.c. Any thread may create; references belong to the front. Never NULL: one cause
 * stands for "no memory".
 */
__attribute__((cold)) struct sched_cause *sched_cause_create(const struct backend_fault *fault);
struct sched_cause *sched_cause_hold(struct sched_cause *cause);
void sched_cause_drop(struct sched_cause *cause);
/* The fault for tasks that depend on a failed one: DEPENDENCY_FAILED with the first cause. */
void sched_cause_derive(const struct sched_cause *cause, struct backend_fault *fault_out);
/* Fill in a status where a backend gave none. */
__attribute__((cold)) void sched_fault_complete(struct backend_fault *fault, int negative_errno);

#endif
