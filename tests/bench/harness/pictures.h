/*
 * Plots of distributions, one for each row with samples (--pictures FOLDER). They show the share of
 * samples up to each size, with the service's and the baseline's curves in one plot.
 */
#ifndef SYCL_BENCH_BENCH_PICTURE_H
#define SYCL_BENCH_BENCH_PICTURE_H

#include "harness/bench.h"

#include <stddef.h>

/* Values that a measuring process leaves for syclbench, in shared memory. */
struct bench_samples {
	size_t skip, room, count;
	double values[];
};

/*
 * Makes room for `runs` times `count` of them, after `skip` of a warm-up, which are not kept.
 * Without --pictures, or without memory for them, it returns NULL. Call it before the processes
 * that fill it are forked.
 */
struct bench_samples *bench_samples_create(const struct bench *bench, uint64_t skip,
					   uint64_t count);
/* Samples that do not fit are left out. `samples` may be NULL: then nothing is kept. */
void bench_samples_keep(struct bench_samples *samples, const double *values, size_t count);
/* Accepts NULL; returns it. */
struct bench_samples *bench_samples_free(struct bench_samples *samples);

struct bench_distribution {
	const char *name; /* small letters, as plot.h draws them */
	const double *values;
	size_t count;
};

/*
 * Writes FOLDER/NAME.png, or nothing without --pictures. Distributions without a value are left
 * out. Returns 0, or a negative errno after a message.
 */
int bench_picture(const struct bench *bench, const char *name, const char *title, const char *unit,
		  const struct bench_distribution *distributions, unsigned count);
/* The same of two sides' samples; NULL ones are left out. */
int bench_picture_samples(const struct bench *bench, const char *name, const char *title,
			  const struct bench_samples *service, const struct bench_samples *direct);

/* Keeps the ratio of a program's time (TR rows, p50; for a rate, its inverse) as a bar of the plot
 * below. */
void bench_bar_keep(const struct bench_result *result);
/* Writes FOLDER/programs.png with all bars, or nothing without --pictures or bars. */
int bench_picture_bars(const struct bench *bench);

/* One side of a comparison, as a point. */
struct bench_point {
	const char *name;
	double x, y; /* above 0; without a number it is left out */
};

/* Writes FOLDER/NAME.png with a point for each side, x logarithmic, and a horizontal line at the
 * target, `y_line`. */
int bench_picture_points(const struct bench *bench, const char *name,
			 const struct bench_point *points, unsigned count, const char *title,
			 const char *x_name, const char *y_name, double y_line);

#endif
