/* Curves as a picture: a value against a count, the count on a logarithmic axis. */
#ifndef SYCL_BENCH_PLOT_H
#define SYCL_BENCH_PLOT_H

#include <stdbool.h>

enum { PLOT_CURVES_MAX = 6, PLOT_POINTS_MAX = 128 };

struct plot_curve {
	const char *name; /* small letters, digits and a few signs; others are left blank */
	unsigned points;
	double x[PLOT_POINTS_MAX], y[PLOT_POINTS_MAX]; /* x > 0, y >= 0 */
};

struct plot {
	const char *title, *x_name, *y_name;
	bool smooth;   /* a line without its points */
	double y_line; /* a value for comparison, drawn across; 0: none */
	unsigned curves;
	struct plot_curve curve[PLOT_CURVES_MAX];
};

/* The rules for names are those of curves. */
enum { PLOT_BARS_MAX = 128, PLOT_BAR_NAME_BYTES = 32 };

struct plot_bar {
	char name[PLOT_BAR_NAME_BYTES];
	double value; /* > 0 */
};

/* Writes a PNG of bars in two columns, with a line at 1. Bars longer than 2 are cut, and their
 * numbers show it. Otherwise as plot_write. */
bool plot_write_bars(const char *title, const struct plot_bar *bars, unsigned count,
		     const char *path);

/* Writes a PNG. False: it could not be written, or there is nothing to draw. */
bool plot_write(const struct plot *plot, const char *path);

#endif
