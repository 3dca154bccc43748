/* Medians, percentiles and spread of samples. */
#ifndef SYCL_BENCH_STATISTICS_H
#define SYCL_BENCH_STATISTICS_H

#include <stddef.h>

/* Sorts `samples` in place. */
void statistics_sort(double *samples, size_t count);
/* Returns a percentile of sorted samples, by nearest rank; `fraction` from 0 to 1; NAN for none. */
double statistics_percentile(const double *sorted, size_t count, double fraction);
/* Returns the middle one, or the mean of the two in the middle. The samples do not change. NAN for
 * none or no memory. */
double statistics_median(const double *samples, size_t count);
/* (largest - smallest) / median; NAN for fewer than two samples or a median of 0. */
double statistics_spread(const double *samples, size_t count);

#endif
