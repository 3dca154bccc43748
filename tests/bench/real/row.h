/* What rows of real programs share. */
#ifndef SYCL_BENCH_REAL_ROW_H
#define SYCL_BENCH_REAL_ROW_H

#include "harness/bench.h"

/* Is there what the row needs on --device? Otherwise reports that it is skipped, and why. */
bool real_row_possible(struct bench *bench, const char *row);

#endif
