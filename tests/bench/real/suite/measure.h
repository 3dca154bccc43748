/* What the measuring processes of TR7 and TR8 do (agent.h): a part is a program of the suite. */
#ifndef SYCL_BENCH_REAL_SUITE_MEASURE_H
#define SYCL_BENCH_REAL_SUITE_MEASURE_H

#include "real/measure.h"

/* For the processes that start from now on. */
void suite_choose(enum real_scale scale);

/* Each program is opened when it is measured first, and closed when the next one is open. One that
 * is wrong, or cannot be opened, answers with a first value that is no number. The answers are
 * otherwise those of real_times and real_rates. */
extern const struct agent_subject suite_times[REAL_BODIES], suite_rates[REAL_BODIES];

#endif
