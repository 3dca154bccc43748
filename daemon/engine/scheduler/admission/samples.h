/* Values for the window of the latest report, computed from the samples. */
#ifndef SYCL_ENGINE_SCHED_ADMISSION_SAMPLES_H
#define SYCL_ENGINE_SCHED_ADMISSION_SAMPLES_H

#include "scheduler/state/samples.h"

#include <stdint.h>

/* Returns the window's length: from the report's base sample to the report. 0: there is no
 * sample. */
static inline uint64_t sched_samples_window_ns(const struct sched_samples *samples)
{
	uint64_t at_ns = samples->at_ns[samples->base];
	return at_ns > 0 && samples->report_ns > at_ns ? samples->report_ns - at_ns : 0;
}

/* Returns the used part of that window. */
static inline uint32_t sched_samples_permille(const struct sched_samples *samples, uint64_t used_ns)
{
	uint64_t length_ns = sched_samples_window_ns(samples);
	if (length_ns == 0)
		return 0;
	return used_ns < length_ns ? (uint32_t)(used_ns * 1000u / length_ns) : 1000u;
}

/* Returns 0 if the sum is below the sample: a new flow begins with 0. */
static inline uint64_t sched_since_sample(uint64_t now, uint64_t sampled)
{
	return now > sampled ? now - sampled : 0;
}

#endif
