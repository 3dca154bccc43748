/* When the use of devices was sampled lately (present.h). */
#ifndef SYCL_ENGINE_SCHED_SAMPLES_H
#define SYCL_ENGINE_SCHED_SAMPLES_H

#include <stdint.h>

#define SCHED_SAMPLES 8u

struct sched_samples {
	uint64_t due_ns;               /* no sample is taken before; 0: none was taken yet */
	uint64_t at_ns[SCHED_SAMPLES]; /* 0: unused. A ring: */
	uint32_t next;                 /* index of the next sample */
	uint32_t base;                 /* index of the sample with which a report compares */
	uint64_t report_ns;            /* time of the latest report; 0: there was none */
};

#endif
