/* Samples of how much time of devices was used, for public/present.h. */
#ifndef SYCL_ENGINE_SCHED_ADMISSION_PRESENT_H
#define SYCL_ENGINE_SCHED_ADMISSION_PRESENT_H

#include <stdint.h>

struct scheduler;

/* A sample is due. Call before the turn takes what came back. `before_ns`: time of the turn before,
 * since which nothing was charged. */
__attribute__((cold)) void sched_present_sample(struct scheduler *scheduler, uint64_t before_ns);

#endif
