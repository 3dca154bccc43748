/* TC3: the cost of ordering a command group, how it depends on their number, and the memory that
 * remains. */
#include "harness/bench.h"
#include "harness/agent.h"
#include "harness/plot.h"
#include "harness/statistics.h"
#include "simulator/schedule_drive.h"

#include "cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPEN = 1024, SIZES = 5, FEW_RUNS = 3, FRONT = 0, WALL, DEVICE, OPENED, GROWN };

/* The target of the row is for this number. */
static const uint64_t sizes[SIZES] = {1000, 10000, 100000, 1000000, 10000000};

struct measured {
	double front_us[SIZES], wall_us[SIZES], device_us[SIZES];
	double open_bytes, grown_bytes[SIZES]; /* of an open group; remaining, for each group */
	double runs[BENCH_RUNS_MAX];           /* front_us of the reported size */
	unsigned run_count;
};

static int subject_open(const char *argument, void **state_out)
{
	for (int shape = 0; shape < SCHEDULE_SHAPES; shape++) {
		if (strcmp(argument, schedule_shape_name((enum schedule_shape)shape)) != 0)
			continue;
		*state_out = (void *)(uintptr_t)(shape + 1);
		return 0;
	}
	return -EINVAL;
}

static int subject_measure(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct schedule_result result;
	int r = schedule_drive((enum schedule_shape)((uintptr_t)state - 1), count, OPEN, &result);
	if (r < 0) {
		bench_complain("the scheduler alone: %s", strerror(-r));
		return r;
	}
	values_out[FRONT] = result.front_ns / 1000;
	values_out[WALL] = result.wall_ns / 1000;
	values_out[DEVICE] = result.device_ns / 1000;
	values_out[OPENED] = result.open_bytes;
	values_out[GROWN] = result.grown_bytes;
	return 0;
}

static void subject_close(void *state)
{
	(void)state;
}

static const struct agent_subject subject = {subject_open, subject_measure, subject_close};

static unsigned size_count(const struct bench *bench)
{
	return bench->quick ? 2 : SIZES;
}

/* The last but one: the last one is measured once. */
static unsigned size_shown(const struct bench *bench)
{
	return bench->quick ? 1 : SIZES - 2;
}

static unsigned runs_of(const struct bench *bench, unsigned size)
{
	if (bench->quick || size < SIZES - 2)
		return bench->runs;
	if (size == SIZES - 1)
		return 1;
	return bench->runs < FEW_RUNS ? bench->runs : FEW_RUNS;
}

static int measure_size(const struct bench *bench, struct agent *agent, unsigned size,
			struct measured *measured)
{
	double values[AGENT_VALUES] = {0}, front[BENCH_RUNS_MAX], wall[BENCH_RUNS_MAX],
	       device[BENCH_RUNS_MAX];
	unsigned runs = runs_of(bench, size);
	for (unsigned run = 0; run < runs; run++) {
		int r = agent_measure(agent, sizes[size], values);
		if (r < 0)
			return r;
		front[run] = values[FRONT];
		wall[run] = values[WALL];
		device[run] = values[DEVICE];
		measured->open_bytes = fmax(measured->open_bytes, values[OPENED]);
	}
	measured->front_us[size] = statistics_median(front, runs);
	measured->wall_us[size] = statistics_median(wall, runs);
	measured->device_us[size] = statistics_median(device, runs);
	measured->grown_bytes[size] = values[GROWN] / (double)sizes[size];
	if (size == size_shown(bench)) {
		memcpy(measured->runs, front, runs * sizeof(*front));
		measured->run_count = runs;
	}
	return 0;
}

static int measure_shape(const struct bench *bench, enum schedule_shape shape,
			 struct measured *measured)
{
	struct agent agent = AGENT_INIT;
	int r = agent_start(&subject, schedule_shape_name(shape), &agent);
	for (unsigned size = 0; size < size_count(bench) && r == 0; size++)
		r = measure_size(bench, &agent, size, measured);
	agent_end(&agent);
	return r;
}

static void report_shape(struct bench *bench, enum schedule_shape shape,
			 const struct measured *measured)
{
	char name[BENCH_NAME_BYTES], note[BENCH_NOTE_BYTES];
	unsigned shown = size_shown(bench);
	(void)snprintf(name, sizeof(name), "TC3.%s", schedule_shape_name(shape));
	(void)snprintf(note, sizeof(note),
		       "front thread's time; wall %.2f us, device's thread %.2f us",
		       measured->wall_us[shown], measured->device_us[shown]);
	struct bench_result result = {.name = name,
				      .unit = "us",
				      .bound = BENCH_VALUE_AT_MOST,
				      .target = 0.5,
				      .note = note};
	/* The others use whole buffers; there is no target for parts. */
	if (shape == SCHEDULE_PARTS)
		result.bound = BENCH_NO_TARGET;
	bench_summarise(measured->runs, NULL, measured->run_count, &result);
	bench_report(bench, &result);
}

static void bench_schedule_report_one(struct bench *bench, const char *name, const char *unit,
				      double value, enum bench_bound bound, double target,
				      const char *note)
{
	struct bench_result result = {
		.name = name, .unit = unit, .bound = bound, .target = target, .note = note};
	bench_summarise(&value, NULL, 1, &result);
	bench_report(bench, &result);
}

/* Reports the worst of the values that all shapes have. */
static void report_worst(struct bench *bench, const struct measured *measured)
{
	double flat = 0, grown = 0, open = 0;
	for (int shape = 0; shape < SCHEDULE_SHAPES; shape++) {
		double least = INFINITY, most = 0;
		for (unsigned size = 0; size < size_count(bench); size++) {
			least = fmin(least, measured[shape].front_us[size]);
			most = fmax(most, measured[shape].front_us[size]);
		}
		flat = fmax(flat, most / least);
		grown = fmax(grown, measured[shape].grown_bytes[size_count(bench) - 1]);
		open = fmax(open, measured[shape].open_bytes);
	}
	bench_schedule_report_one(bench, "TC3.flat", "times", flat, BENCH_VALUE_AT_MOST, 1.25,
				  "slowest by fastest of all numbers of groups");
	bench_schedule_report_one(bench, "TC3.growth", "B/group", grown, BENCH_VALUE_AT_MOST, 0.01,
				  "heap left by the longest run");
	bench_schedule_report_one(bench, "TC3.open", "B/group", open, BENCH_NO_TARGET, 0,
				  "heap of a group while it is open");
}

static int draw_schedule(const struct bench *bench, const char *path, struct plot *plot,
			 const struct measured *measured, bool is_time)
{
	plot->x_name = "groups";
	plot->curves = SCHEDULE_SHAPES;
	for (unsigned shape = 0; shape < SCHEDULE_SHAPES; shape++) {
		struct plot_curve *curve = &plot->curve[shape];
		curve->name = schedule_shape_name((enum schedule_shape)shape);
		curve->points = size_count(bench);
		for (unsigned size = 0; size < curve->points; size++) {
			curve->x[size] = (double)sizes[size];
			/* Memory that was in use before and has been freed since makes the
			 * difference negative. */
			curve->y[size] = is_time ? measured[shape].front_us[size]
						 : fmax(measured[shape].grown_bytes[size], 0);
		}
	}
	if (plot_write(plot, path))
		return 0;
	bench_complain("cannot write %s", path);
	return -EIO;
}

static int draw_time(const struct bench *bench, const struct measured *measured)
{
	struct plot plot = {.title = "scheduling alone: time of one group of 3 requirements",
			    .y_name = "us",
			    .y_line = 0.5};
	return draw_schedule(bench, bench->curve, &plot, measured, true);
}

/* Beside the other one: tc3.png, tc3-memory.png. */
static int draw_memory(const struct bench *bench, const struct measured *measured)
{
	struct plot plot = {.title = "scheduling alone: heap left behind for each group",
			    .y_name = "bytes",
			    .y_line = 0.01};
	const char *dot = strrchr(bench->curve, '.'), *slash = strrchr(bench->curve, '/');
	CLEANUP(free_pointer) char *path = NULL;
	int stem = dot && (!slash || dot > slash) ? (int)(dot - bench->curve)
						  : (int)strlen(bench->curve);
	if (asprintf(&path, "%.*s-memory%s", stem, bench->curve, bench->curve + stem) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return draw_schedule(bench, path, &plot, measured, false);
}

int row_schedule(struct bench *bench)
{
	static struct measured measured[SCHEDULE_SHAPES];
	memset(measured, 0, sizeof(measured));
	for (int shape = 0; shape < SCHEDULE_SHAPES; shape++) {
		int r = measure_shape(bench, (enum schedule_shape)shape, &measured[shape]);
		if (r < 0) {
			bench_complain("the measurement failed: %s", strerror(-r));
			return r;
		}
		report_shape(bench, (enum schedule_shape)shape, &measured[shape]);
	}
	report_worst(bench, measured);
	if (!bench->curve)
		return 0;
	int r = draw_time(bench, measured);
	return r < 0 ? r : draw_memory(bench, measured);
}
