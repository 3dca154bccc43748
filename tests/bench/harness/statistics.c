#include "harness/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int statistics_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

void statistics_sort(double *samples, size_t count)
{
	if (count > 0) /* otherwise there may be no array */
		qsort(samples, count, sizeof(*samples), statistics_compare);
}

double statistics_percentile(const double *sorted, size_t count, double fraction)
{
	if (count == 0)
		return NAN;
	double rank = ceil(fraction * (double)count);
	size_t index = rank < 1 ? 0 : (size_t)rank - 1;
	return sorted[index < count ? index : count - 1];
}

double statistics_median(const double *samples, size_t count)
{
	double *sorted = count ? malloc(count * sizeof(*sorted)) : NULL;
	if (!sorted)
		return NAN;
	memcpy(sorted, samples, count * sizeof(*sorted));
	statistics_sort(sorted, count);
	double median =
		count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
	free(sorted);
	return median;
}

double statistics_spread(const double *samples, size_t count)
{
	double median = statistics_median(samples, count);
	if (count < 2 || !(fabs(median) > 0))
		return NAN;
	double least = samples[0], most = samples[0];
	for (size_t i = 1; i < count; i++) {
		least = fmin(least, samples[i]);
		most = fmax(most, samples[i]);
	}
	return (most - least) / fabs(median);
}
