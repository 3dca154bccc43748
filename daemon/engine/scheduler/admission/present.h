/* Samples the use of devices' time, for public/present.h. */
#ifndef SYCL_ENGINE_SCHED_ADMISSION_PRESENT_H
#define SYCL_ENGINE_SCHED_ADMISSION_PRESENT_H

#include <stdint.h>

struct scheduler;

/* Called when a sample is due, before the turn takes returned commands. `before_ns`: the time of
 * the previous turn; nothing was charged since. */
__attribute__((cold)) void sched_present_sample(struct scheduler *scheduler, uint64_t before_ns);

#endif
