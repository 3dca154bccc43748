/*
 * TR7, TR8: programs of fourteen kinds, each alone, and each by eight clients at one time. The
 * baseline is the same with CUDA's driver API (eight processes: under MPS), or with plain OpenCL. A
 * program with a wrong result is no measurement, and the row fails; the others are measured.
 */
#include "real/row.h"

#include "harness/compare.h"
#include "gpu/compare.h"
#include "real/crowd.h"
#include "real/suite/measure.h"
#include "real/suite/suite.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* On a processor, --quick has only the first programs: nearly all of its time is the driver's
 * compiler. On a GPU a quick run has all. */
enum { QUICK_PROGRAMS = 5 };

enum { CLIENTS = 8, CLIENTS_QUICK = 2, RATE_MS = 200, RATE_WARM_MS = 20, TIMES_WARM = 20 };

/* For each program: p50 and p99 in us, or steps a second and nothing. */
struct pair {
	double service[2][BENCH_RUNS_MAX], plain[2][BENCH_RUNS_MAX];
};

struct told {
	const char *row;
	bool is_gpu, is_rate;
	const char *plain; /* the baseline, as it is in the name */
	double target, target_mean;
};

static bool is_measured(const double *values, unsigned runs)
{
	for (unsigned run = 0; run < runs; run++)
		if (!isfinite(values[run]) || !(values[run] > 0))
			return false;
	return true;
}

static void report_line(struct bench *bench, const struct told *told, const char *program,
			const char *what, const double *service, const double *plain, double target)
{
	char name[BENCH_NAME_BYTES];
	const enum bench_bound bound = told->is_rate ? BENCH_RATIO_AT_LEAST : BENCH_RATIO_AT_MOST;
	struct bench_result result = {
		.name = name,
		.unit = told->is_rate ? "steps/s" : "us",
		.bound = told->is_gpu && target > 0 ? bound : BENCH_NO_TARGET,
		.target = target,
		.note = strcmp(program, "mean") == 0 ? "geometric mean of the above" : NULL};
	(void)snprintf(name, sizeof(name), "%s%s.%s.%s", told->row, told->is_gpu ? "" : ".cpu",
		       program, what);
	bench_summarise(service, plain, bench->runs, &result);
	bench_report(bench, &result);
}

/* The logarithms of all programs are added. */
static void mean_add(const struct pair *pair, unsigned runs, struct pair *mean)
{
	for (unsigned run = 0; run < runs; run++) {
		mean->service[0][run] += log(pair->service[0][run]);
		mean->plain[0][run] += log(pair->plain[0][run]);
	}
}

/* -EIO: a program was wrong. */
static int suite_row_report_all(struct bench *bench, const struct told *told,
				const struct pair *pairs, unsigned programs)
{
	const char *what = told->is_rate ? told->plain : "p50";
	struct pair mean = {{{0}}, {{0}}};
	unsigned measured = 0;
	for (unsigned i = 0; i < programs; i++) {
		const struct pair *pair = &pairs[i];
		const char *program = suite_programs[i].name;
		if (!is_measured(pair->service[0], bench->runs) ||
		    !is_measured(pair->plain[0], bench->runs)) {
			bench_complain("%s: %s failed", told->row, program);
			continue;
		}
		report_line(bench, told, program, what, pair->service[0], pair->plain[0],
			    told->target);
		if (!told->is_rate)
			report_line(bench, told, program, "p99", pair->service[1], pair->plain[1],
				    0);
		mean_add(pair, bench->runs, &mean);
		measured++;
	}
	for (unsigned run = 0; run < bench->runs && measured; run++) {
		mean.service[0][run] = exp(mean.service[0][run] / measured);
		mean.plain[0][run] = exp(mean.plain[0][run] / measured);
	}
	if (measured)
		report_line(bench, told, "mean", what, mean.service[0], mean.plain[0],
			    told->target_mean);
	return measured == programs ? 0 : -EIO;
}

static void take_pair(double (*service)[BENCH_RUNS_MAX], double (*plain)[BENCH_RUNS_MAX],
		      struct pair *pair_out)
{
	memcpy(pair_out->service, service, sizeof(pair_out->service));
	memcpy(pair_out->plain, plain, sizeof(pair_out->plain));
}

static int times_on_processor(const struct bench *bench, unsigned programs, struct pair *pairs)
{
	const struct comparison comparison = {.service = &suite_times[REAL_SERVICE],
					      .direct = &suite_times[REAL_OPENCL],
					      .count = bench->quick ? REAL_SAMPLES_LEAST
								    : REAL_SAMPLES_MAX,
					      .warm_up = bench->quick ? 1 : TIMES_WARM};
	struct compared *compared = calloc(SUITE_PROGRAMS, sizeof(*compared));
	int r = compared ? bench_compare_parts(bench, &comparison, programs, compared) : -ENOMEM;
	for (unsigned i = 0; i < programs && r == 0; i++)
		take_pair(compared[i].service, compared[i].direct, &pairs[i]);
	free(compared);
	return r;
}

static int rates_on_processor(const struct bench *bench, unsigned programs, struct pair *pairs)
{
	const struct crowd_comparison comparison = {.service = &suite_rates[REAL_SERVICE],
						    .plain = &suite_rates[REAL_OPENCL],
						    .clients =
							    bench->quick ? CLIENTS_QUICK : CLIENTS,
						    .parts = programs,
						    .count = bench->quick ? 1 : RATE_MS,
						    .warm_up = bench->quick ? 1 : RATE_WARM_MS};
	struct crowd_rates *rates = calloc(SUITE_PROGRAMS, sizeof(*rates));
	int r = rates ? crowd_compare(bench, &comparison, rates) : -ENOMEM;
	for (unsigned i = 0; i < programs && r == 0; i++) {
		memcpy(pairs[i].service[0], rates[i].rates[CROWD_SERVICE],
		       sizeof(pairs[i].service[0]));
		memcpy(pairs[i].plain[0], rates[i].rates[CROWD_PLAIN], sizeof(pairs[i].plain[0]));
	}
	free(rates);
	return r;
}

/* `programs`: their number. The baseline is `side`; *there_out is false if it is not available. */
static int compare_on_gpu(const struct bench *bench, const struct gpu_comparison *comparison,
			  enum gpu_side side, struct pair *pairs, bool *there_out)
{
	struct gpu_compared *compared = calloc(SUITE_PROGRAMS, sizeof(*compared));
	int r = compared ? gpu_compare_parts(bench, comparison, SUITE_PROGRAMS, compared) : -ENOMEM;
	*there_out = r == 0 && compared->sides & 1u << side;
	for (unsigned i = 0; i < SUITE_PROGRAMS && r == 0; i++)
		take_pair(compared[i].values[GPU_SIDE_SERVICE], compared[i].values[side],
			  &pairs[i]);
	free(compared);
	return r;
}

static int times_on_gpu(const struct bench *bench, struct pair *pairs, bool *there_out)
{
	const struct gpu_comparison comparison = {
		.client = &suite_times[REAL_SERVICE_GPU],
		.direct = &suite_times[REAL_CUDA],
		.sides = 1u << GPU_SIDE_SERVICE | 1u << GPU_SIDE_DIRECT,
		.agents = 1,
		.count = bench->quick ? REAL_SAMPLES_LEAST : REAL_SAMPLES_MAX,
		.warm_up = bench->quick ? 1 : TIMES_WARM,
		.sum = GPU_SUM_FIRST};
	return compare_on_gpu(bench, &comparison, GPU_SIDE_DIRECT, pairs, there_out);
}

static int rates_on_gpu(const struct bench *bench, struct pair *pairs, bool *there_out)
{
	const struct gpu_comparison comparison = {.client = &suite_rates[REAL_SERVICE_GPU],
						  .direct = &suite_rates[REAL_CUDA],
						  .sides = 1u << GPU_SIDE_SERVICE |
							   1u << GPU_SIDE_MPS,
						  .agents = bench->quick ? CLIENTS_QUICK : CLIENTS,
						  .count = bench->quick ? 1 : RATE_MS,
						  .warm_up = bench->quick ? 1 : RATE_WARM_MS,
						  .sum = GPU_SUM_RATE};
	return compare_on_gpu(bench, &comparison, GPU_SIDE_MPS, pairs, there_out);
}

static int run_suite(struct bench *bench, struct told told)
{
	if (!real_row_possible(bench, told.row))
		return 0;
	struct pair *pairs = calloc(SUITE_PROGRAMS, sizeof(*pairs));
	bool there = true;
	int r = pairs ? 0 : -ENOMEM;
	told.is_gpu = strcmp(bench->device, "gpu") == 0;
	const unsigned programs = bench->quick && !told.is_gpu ? QUICK_PROGRAMS : SUITE_PROGRAMS;
	suite_choose(bench->quick ? REAL_TINY : told.is_gpu ? REAL_GPU : REAL_PROCESSOR);
	if (r == 0 && told.is_gpu)
		r = told.is_rate ? rates_on_gpu(bench, pairs, &there)
				 : times_on_gpu(bench, pairs, &there);
	else if (r == 0)
		r = told.is_rate ? rates_on_processor(bench, programs, pairs)
				 : times_on_processor(bench, programs, pairs);
	if (!told.is_gpu)
		told.plain = "processes";
	if (r == 0 && !there)
		bench_skip(bench, "TR8.mps", "MPS is not installed, or does not work");
	else if (r == 0)
		r = suite_row_report_all(bench, &told, pairs, programs);
	free(pairs);
	return r;
}

int row_suite(struct bench *bench)
{
	return run_suite(bench, (struct told){.row = "TR7", .target = 1.0, .target_mean = 0.85});
}

int row_suite_clients(struct bench *bench)
{
	return run_suite(bench, (struct told){.row = "TR8",
					      .is_rate = true,
					      .plain = "mps",
					      .target = 1.0,
					      .target_mean = 1.25});
}
