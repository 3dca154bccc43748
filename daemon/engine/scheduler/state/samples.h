/* Times of the recent samples of devices' use (present.h). */
#ifndef SYCL_ENGINE_SCHED_SAMPLES_H
#define SYCL_ENGINE_SCHED_SAMPLES_H

#include <stdint.h>

#define SCHED_SAMPLES 8u

struct sched_samples {
	uint64_t due_ns;               /* earliest time of the next sample; 0: none was taken yet */
	uint64_t at_ns[SCHED_SAMPLES]; /* a ring; 0: unused */
	uint32_t next;                 /* index of the next sample */
	uint32_t base;                 /* index of the sample with which a report compares */
	uint64_t report_ns;            /* time of the latest report; 0: there was none */
};

#endif
