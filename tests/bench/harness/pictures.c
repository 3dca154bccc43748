#include "harness/pictures.h"

#include "harness/plot.h"
#include "harness/statistics.h"

#include "cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <linux/limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static size_t bytes_for(size_t room)
{
	return sizeof(struct bench_samples) + room * sizeof(double);
}

struct bench_samples *bench_samples_create(const struct bench *bench, uint64_t skip, uint64_t count)
{
	size_t room = count * bench->runs;
	if (!bench->pictures)
		return NULL;
	struct bench_samples *samples = mmap(NULL, bytes_for(room), PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (samples == MAP_FAILED)
		return NULL;
	samples->skip = skip;
	samples->room = room;
	return samples;
}

void bench_samples_keep(struct bench_samples *samples, const double *values, size_t count)
{
	for (size_t i = 0; samples && i < count && samples->count < samples->room; i++) {
		if (samples->skip)
			samples->skip--;
		else
			samples->values[samples->count++] = values[i];
	}
}

struct bench_samples *bench_samples_free(struct bench_samples *samples)
{
	if (samples)
		(void)munmap(samples, bytes_for(samples->room));
	return NULL;
}

/* Makes the folder, too. */
static int picture_path(const struct bench *bench, const char *name, char *path_out, size_t size)
{
	if (mkdir(bench->pictures, 0777) < 0 && errno != EEXIST) {
		bench_complain("cannot create %s: %s", bench->pictures, strerror(errno));
		return -EIO;
	}
	int length = snprintf(path_out, size, "%s/%s.png", bench->pictures, name);
	return length < 0 || (size_t)length >= size ? -ENAMETOOLONG : 0;
}

static struct plot_bar bars[PLOT_BARS_MAX];
static unsigned bar_count;

static bool pictures_ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text), wanted = strlen(end);
	return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* The name omits what all bars of the plot have in common, and what would make it too long. */
static void name_bar(const char *result, char name_out[PLOT_BAR_NAME_BYTES])
{
	static const char *const ends[] = {".p50", ".processes"};
	(void)snprintf(name_out, PLOT_BAR_NAME_BYTES, "%s", result);
	for (int i = 0; i < 2; i++)
		if (pictures_ends_with(name_out, ends[i]))
			name_out[strlen(name_out) - strlen(ends[i])] = '\0';
	/* All bars of one plot are of one kind of device. */
	char *kind = strstr(name_out, ".cpu");
	if (kind)
		memmove(kind, kind + 4, strlen(kind + 4) + 1);
	for (char *at = name_out; *at; at++)
		*at = (char)tolower(*at);
}

void bench_bar_keep(const struct bench_result *result)
{
	const bool is_rate = pictures_ends_with(result->unit, "s/s");
	/* On a GPU, time slices are far behind all others. */
	const bool is_sliced =
		!strstr(result->name, ".cpu") && (pictures_ends_with(result->name, ".processes") ||
						  pictures_ends_with(result->name, ".by_hand"));
	const bool is_program =
		strncmp(result->name, "TR", 2) == 0 && strncmp(result->name, "TR10", 4) != 0;
	if (!is_program || bar_count == PLOT_BARS_MAX || !isfinite(result->ratio) ||
	    !(result->ratio > 0) || is_sliced ||
	    !(is_rate || pictures_ends_with(result->name, ".p50")))
		return;
	struct plot_bar *bar = &bars[bar_count++];
	name_bar(result->name, bar->name);
	bar->value = is_rate ? 1 / result->ratio : result->ratio;
}

int bench_picture_bars(const struct bench *bench)
{
	char path[PATH_MAX];
	if (!bench->pictures || bar_count == 0)
		return 0;
	int r = picture_path(bench, "programs", path, sizeof(path));
	if (r == 0 &&
	    !plot_write_bars("time of programs through the service relative to that without it",
			     bars, bar_count, path)) {
		bench_complain("cannot write %s", path);
		r = -EIO;
	}
	return r;
}

/* The percentage of samples up to that size. A time of 0 has no place on a logarithmic axis. */
static int add_curve(struct plot *plot, const struct bench_distribution *distribution)
{
	CLEANUP(free_pointer) double *sorted = malloc(distribution->count * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, distribution->values, distribution->count * sizeof(*sorted));
	statistics_sort(sorted, distribution->count);
	struct plot_curve *curve = &plot->curve[plot->curves++];
	curve->name = distribution->name;
	for (unsigned i = 1; i <= PLOT_POINTS_MAX; i++) {
		/* The last few of a thousand samples would make the axis longer than all others
		 * together. */
		double fraction = 0.999 * i / PLOT_POINTS_MAX;
		double value = statistics_percentile(sorted, distribution->count, fraction);
		if (value > 0) {
			curve->x[curve->points] = value;
			curve->y[curve->points++] = 100 * fraction;
		}
	}
	return 0;
}

static int write_picture(const struct bench *bench, const char *name, const struct plot *plot)
{
	char path[PATH_MAX];
	int r = picture_path(bench, name, path, sizeof(path));
	if (r < 0 || plot_write(plot, path))
		return r;
	bench_complain("cannot write %s", path);
	return -EIO;
}

int bench_picture(const struct bench *bench, const char *name, const char *title, const char *unit,
		  const struct bench_distribution *distributions, unsigned count)
{
	if (!bench->pictures)
		return 0;
	CLEANUP(free_pointer) struct plot *plot = calloc(1, sizeof(*plot));
	int r = plot ? 0 : -ENOMEM;
	if (r < 0)
		return r;
	plot->title = title;
	plot->x_name = unit;
	plot->y_name = "percent of the samples up to this value";
	plot->smooth = true;
	for (unsigned i = 0; i < count && r == 0; i++)
		if (distributions[i].count > 0 && plot->curves < PLOT_CURVES_MAX)
			r = add_curve(plot, &distributions[i]);
	return r == 0 ? write_picture(bench, name, plot) : r;
}

int bench_picture_points(const struct bench *bench, const char *name,
			 const struct bench_point *points, unsigned count, const char *title,
			 const char *x_name, const char *y_name, double y_line)
{
	if (!bench->pictures)
		return 0;
	CLEANUP(free_pointer) struct plot *plot = calloc(1, sizeof(*plot));
	if (!plot)
		return -ENOMEM;
	plot->title = title;
	plot->x_name = x_name;
	plot->y_name = y_name;
	plot->y_line = y_line;
	for (unsigned i = 0; i < count; i++) {
		if (!(points[i].x > 0) || !(points[i].y > 0) || !isfinite(points[i].x) ||
		    !isfinite(points[i].y) || plot->curves == PLOT_CURVES_MAX)
			continue;
		struct plot_curve *curve = &plot->curve[plot->curves++];
		*curve = (struct plot_curve){.name = points[i].name, .points = 1};
		curve->x[0] = points[i].x;
		curve->y[0] = points[i].y;
	}
	return write_picture(bench, name, plot);
}

int bench_picture_samples(const struct bench *bench, const char *name, const char *title,
			  const struct bench_samples *service, const struct bench_samples *direct)
{
	struct bench_distribution distributions[2];
	unsigned count = 0;
	if (service)
		distributions[count++] =
			(struct bench_distribution){"service", service->values, service->count};
	if (direct)
		distributions[count++] =
			(struct bench_distribution){"direct", direct->values, direct->count};
	return count ? bench_picture(bench, name, title, "us", distributions, count) : 0;
}
