/*
 * TR1 to TR4 and TR9: real programs through the service. They alternate with the same programs with
 * CUDA's driver API (--device gpu) or with plain OpenCL. TR11: the same programs in plain OpenCL by
 * the driver, beside the service's own. A wrong result is no measurement.
 */
#include "real/row.h"

#include "harness/compare.h"
#include "gpu/compare.h"
#include "real/measure.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct row {
	const char *name;
	const struct real_program *program;
	bool is_rate; /* reported in frames a second */
	bool has_mean;
	bool by_driver; /* TR11 */
};

enum side { SERVICE, PLAIN, SIDES };

struct outcome {
	unsigned runs;
	bool is_gpu;
	double values[SIDES][AGENT_VALUES][BENCH_RUNS_MAX];
};

static int compare_processor(const struct bench *bench, const struct row *row,
			     struct outcome *outcome)
{
	const struct comparison comparison = {
		.service = &real_times[row->by_driver ? REAL_DRIVER : REAL_SERVICE],
		.direct = &real_times[row->by_driver ? REAL_SERVICE : REAL_OPENCL],
		.count = bench->quick ? REAL_SAMPLES_LEAST : REAL_SAMPLES_MAX,
		.warm_up = REAL_SAMPLES_LEAST,
		.both_come_in = row->by_driver};
	struct compared *compared = malloc(sizeof(*compared));
	int r = compared ? bench_compare(bench, &comparison, compared) : -ENOMEM;
	if (r == 0) {
		memcpy(outcome->values[SERVICE], compared->service, sizeof(compared->service));
		memcpy(outcome->values[PLAIN], compared->direct, sizeof(compared->direct));
	}
	free(compared);
	return r;
}

static int compare_gpu(const struct bench *bench, struct outcome *outcome)
{
	const struct gpu_comparison comparison = {
		.client = &real_times[REAL_SERVICE_GPU],
		.direct = &real_times[REAL_CUDA],
		.sides = 1u << GPU_SIDE_SERVICE | 1u << GPU_SIDE_DIRECT,
		.agents = 1,
		.count = bench->quick ? REAL_SAMPLES_LEAST : REAL_SAMPLES_MAX,
		.warm_up = REAL_SAMPLES_LEAST,
		.sum = GPU_SUM_FIRST};
	struct gpu_compared *compared = malloc(sizeof(*compared));
	int r = compared ? gpu_compare(bench, &comparison, compared) : -ENOMEM;
	if (r == 0) {
		memcpy(outcome->values[SERVICE], compared->values[GPU_SIDE_SERVICE],
		       sizeof(outcome->values[SERVICE]));
		memcpy(outcome->values[PLAIN], compared->values[GPU_SIDE_DIRECT],
		       sizeof(outcome->values[PLAIN]));
	}
	free(compared);
	return r;
}

static void name_result(const struct row *row, const struct outcome *outcome, const char *variant,
			const char *what, char name_out[BENCH_NAME_BYTES])
{
	(void)snprintf(name_out, BENCH_NAME_BYTES, "%s%s%s%.24s%s%s", row->name,
		       outcome->is_gpu ? "" : ".cpu", *variant ? "." : "", variant,
		       *what ? "." : "", what);
}

/* The plain OpenCL of a program is to be within a tenth of the service's own body. It has no
 * graphs: a graph is sent launch by launch there, so those variants only have figures. */
static void set_driver_target(const struct row *row, const char *variant,
			      struct bench_result *result)
{
	if (!row->by_driver || strstr(variant, "graph"))
		return;
	result->bound = row->is_rate ? BENCH_RATIO_AT_LEAST : BENCH_RATIO_AT_MOST;
	result->target = row->is_rate ? 0.9 : 1.1;
}

static void report_percentile(struct bench *bench, const struct row *row,
			      const struct outcome *outcome, unsigned variant, int answer)
{
	const struct real_variant *told = &row->program->variants[variant];
	const double target = answer == REAL_P50 ? told->target_p50 : told->target_p99;
	const unsigned value = variant * REAL_ANSWERS + (unsigned)answer;
	char name[BENCH_NAME_BYTES];
	struct bench_result result = {.name = name,
				      .unit = "us",
				      .bound = outcome->is_gpu && target > 0 ? BENCH_RATIO_AT_MOST
									     : BENCH_NO_TARGET,
				      .target = target};
	if (answer == REAL_P50)
		set_driver_target(row, told->name, &result);
	name_result(row, outcome, told->name, answer == REAL_P50 ? "p50" : "p99", name);
	bench_summarise(outcome->values[SERVICE][value], outcome->values[PLAIN][value],
			outcome->runs, &result);
	bench_report(bench, &result);
}

/* Frames a second. */
static void real_row_report_rate(struct bench *bench, const struct row *row,
				 const struct outcome *outcome, unsigned variant)
{
	const struct real_variant *told = &row->program->variants[variant];
	double rates[SIDES][BENCH_RUNS_MAX];
	char name[BENCH_NAME_BYTES];
	struct bench_result result = {.name = name,
				      .unit = "frames/s",
				      .bound = outcome->is_gpu ? BENCH_RATIO_AT_LEAST
							       : BENCH_NO_TARGET,
				      .target = told->target_p50};
	for (int side = 0; side < SIDES; side++)
		for (unsigned run = 0; run < outcome->runs; run++)
			rates[side][run] =
				1e6 /
				outcome->values[side][variant * REAL_ANSWERS + REAL_MEAN][run];
	set_driver_target(row, told->name, &result);
	name_result(row, outcome, told->name, "", name);
	bench_summarise(rates[SERVICE], rates[PLAIN], outcome->runs, &result);
	bench_report(bench, &result);
}

/* Reports the geometric mean of all variants. Its ratio is that of the ratios. */
static void report_mean(struct bench *bench, const struct row *row, const struct outcome *outcome)
{
	double means[SIDES][BENCH_RUNS_MAX];
	char name[BENCH_NAME_BYTES];
	struct bench_result result = {.name = name,
				      .unit = "us",
				      .bound = outcome->is_gpu ? BENCH_RATIO_AT_MOST
							       : BENCH_NO_TARGET,
				      .target = 0.75,
				      .note = "geometric mean of the above"};
	for (int side = 0; side < SIDES; side++)
		for (unsigned run = 0; run < outcome->runs; run++) {
			unsigned count = 0;
			double sum = 0;
			for (; row->program->variants[count].name; count++)
				sum += log(outcome->values[side][count * REAL_ANSWERS + REAL_P50]
							  [run]);
			means[side][run] = exp(sum / count);
		}
	name_result(row, outcome, "mean", "p50", name);
	bench_summarise(means[SERVICE], means[PLAIN], outcome->runs, &result);
	bench_report(bench, &result);
}

static void real_row_report_all(struct bench *bench, const struct row *row,
				const struct outcome *outcome)
{
	for (unsigned i = 0; row->program->variants[i].name; i++) {
		if (row->is_rate) {
			real_row_report_rate(bench, row, outcome, i);
			continue;
		}
		report_percentile(bench, row, outcome, i, REAL_P50);
		report_percentile(bench, row, outcome, i, REAL_P99);
	}
	if (row->has_mean)
		report_mean(bench, row, outcome);
}

/* Both sides compile the program's source. Another process checks this, because the library is
 * large. */
static bool has_compiler(void)
{
	int status = -1;
	const pid_t child = fork();
	if (child == 0)
		_exit(!dlopen("libnvrtc.so.13", RTLD_NOW) && !dlopen("libnvrtc.so.12", RTLD_NOW));
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool real_row_possible(struct bench *bench, const char *row)
{
	if (strcmp(bench->device, "gpu") != 0)
		return true;
	if (!gpu_row_possible(bench, row, 1))
		return false;
	if (has_compiler())
		return true;
	bench_skip(bench, row,
		   "this machine has no compiler of CUDA sources (libnvrtc.so.13 or .12)");
	return false;
}

static int real_row_run_row(struct bench *bench, const struct row *row)
{
	const bool is_gpu = strcmp(bench->device, "gpu") == 0;
	if (!real_row_possible(bench, row->name))
		return 0;
	struct outcome *outcome = calloc(1, sizeof(*outcome));
	if (!outcome)
		return -ENOMEM;
	real_choose(row->program, bench->quick ? REAL_TINY : is_gpu ? REAL_GPU : REAL_PROCESSOR);
	outcome->runs = bench->runs;
	outcome->is_gpu = is_gpu;
	int r = is_gpu ? compare_gpu(bench, outcome) : compare_processor(bench, row, outcome);
	if (r == 0)
		real_row_report_all(bench, row, outcome);
	free(outcome);
	return r;
}

int row_solver(struct bench *bench)
{
	static const struct row row = {.name = "TR1", .program = &real_solver_launches};
	return real_row_run_row(bench, &row);
}

int row_solver_graph(struct bench *bench)
{
	static const struct row row = {.name = "TR2", .program = &real_solver_graph};
	return real_row_run_row(bench, &row);
}

int row_requests(struct bench *bench)
{
	static const struct row row = {.name = "TR3", .program = &real_requests};
	return real_row_run_row(bench, &row);
}

int row_ladder(struct bench *bench)
{
	static const struct row row = {.name = "TR4", .program = &real_ladder, .has_mean = true};
	return real_row_run_row(bench, &row);
}

int row_frames(struct bench *bench)
{
	static const struct row row = {.name = "TR9", .program = &real_frames, .is_rate = true};
	return real_row_run_row(bench, &row);
}

int row_driver(struct bench *bench)
{
	static const struct row driver_rows[] = {
		{.name = "TR11.solver", .program = &real_solver_launches, .by_driver = true},
		{.name = "TR11.requests", .program = &real_requests, .by_driver = true},
		{.name = "TR11.ladder",
		 .program = &real_ladder,
		 .has_mean = true,
		 .by_driver = true},
		{.name = "TR11.frames",
		 .program = &real_frames,
		 .is_rate = true,
		 .by_driver = true},
	};
	int r = 0;
	if (strcmp(bench->device, "gpu") == 0 || !bench_has_driver()) {
		bench_skip(bench, "TR11",
			   "needs the OpenCL driver, and is measured on a processor");
		return 0;
	}
	for (size_t i = 0; i < sizeof(driver_rows) / sizeof(*driver_rows) && r == 0; i++)
		r = real_row_run_row(bench, &driver_rows[i]);
	return r;
}
