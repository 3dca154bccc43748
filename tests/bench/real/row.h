/* Functions that rows of real programs share. */
#ifndef SYCL_BENCH_REAL_ROW_H
#define SYCL_BENCH_REAL_ROW_H

#include "harness/bench.h"

/* Returns true if --device has what the row needs. Otherwise reports that it is skipped, and
 * why. */
bool real_row_possible(struct bench *bench, const char *row);

#endif
