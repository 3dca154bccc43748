/* The work of the measuring processes of TR7 and TR8 (agent.h): a part is a program of the
 * suite. */
#ifndef SYCL_BENCH_REAL_SUITE_MEASURE_H
#define SYCL_BENCH_REAL_SUITE_MEASURE_H

#include "real/measure.h"

/* Applies to processes that start from now on. */
void suite_choose(enum real_scale scale);

/* Each program is opened when it is first measured, and closed when the next one is open. If a
 * program has a wrong result or cannot be opened, the first value of its answer is NaN. Otherwise
 * the answers are those of real_times and real_rates. */
extern const struct agent_subject suite_times[REAL_BODIES], suite_rates[REAL_BODIES];

#endif
