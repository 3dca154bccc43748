/*
 * TR1 to TR5 and TR9: real programs through the service, and the same programs with CUDA's driver
 * API (--device gpu) or with plain OpenCL, by turns. A wrong result is no measurement.
 */
#include "real/program.h"

#include "harness/compare.h"
#include "harness/statistics.h"
#include "gpu/compare.h"

#include "clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a process answers of each variant. */
enum { P50, P99, MEAN, ANSWERS };
_Static_assert((int)ANSWERS *(int)REAL_VARIANTS <= (int)AGENT_VALUES, "room for all of them");

enum { SAMPLES_MAX = 20000, SAMPLES_LEAST = 3 };
static const uint64_t longest_ns = 250000000, longest_rested_ns = 600000000;

/* What the processes that start now are to run. */
static const struct real_program *program;
static enum real_scale scale;

bool real_wrong(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void)fputc('\n', stderr);
	return false;
}

/* ----------------------------- in the measuring process ------------------------------- */

static void real_close(void *state)
{
	struct real *real = state;
	real->body->close(real->layer);
	free(real->own);
	free(real);
}

static int real_open(const struct layer_body *body, const char *where, void **state_out)
{
	struct real *real = calloc(1, sizeof(*real));
	void *own = calloc(1, program->own_bytes);
	if (!real || !own) {
		free(real);
		free(own);
		return -ENOMEM;
	}
	*real = (struct real){.program = program, .body = body, .scale = scale, .own = own};
	*state_out = real;
	return body->open(where, &program->source, &real->layer) && program->open(real) ? 0 : -EIO;
}

static int open_service(const char *where, void **state_out)
{
	return real_open(&layer_service, where, state_out);
}

static int open_service_gpu(const char *where, void **state_out)
{
	return real_open(&layer_service_gpu, where, state_out);
}

static int open_opencl(const char *where, void **state_out)
{
	return real_open(&layer_opencl, where, state_out);
}

static int open_cuda(const char *where, void **state_out)
{
	return real_open(&layer_cuda, where, state_out);
}

/* Part of what is measured: how it is after a rest. */
static void rest_before_step(uint64_t ns)
{
	const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000u),
				       .tv_nsec = (long)(ns % 1000000000u)};
	if (ns)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

static bool time_step(struct real *real, const struct real_variant *variant, double *us_out)
{
	if (real->program->prepare && !real->program->prepare(real, variant))
		return false;
	rest_before_step(variant->rest_ns);
	const uint64_t start = clock_now_ns();
	const bool good = real->program->step(real, variant);
	*us_out = (double)(clock_now_ns() - start) / 1000;
	return good && (!real->program->check || real->program->check(real, variant));
}

static bool measure_variant(struct real *real, const struct real_variant *variant, uint64_t most,
			    double *samples, double values_out[ANSWERS])
{
	const uint64_t begun = clock_now_ns(),
		       longest = variant->rest_ns ? longest_rested_ns : longest_ns;
	uint64_t count = 0;
	double sum = 0;
	bool good = true;
	while (good && count < most &&
	       (count < SAMPLES_LEAST || clock_now_ns() - begun < longest)) {
		good = time_step(real, variant, &samples[count]);
		sum += samples[count++];
	}
	statistics_sort(samples, count);
	values_out[P50] = statistics_percentile(samples, count, 0.5);
	values_out[P99] = statistics_percentile(samples, count, 0.99);
	values_out[MEAN] = sum / (double)count;
	return good;
}

static int real_measure(void *state, uint64_t most, double values_out[AGENT_VALUES])
{
	struct real *real = state;
	const struct real_variant *variants = real->program->variants;
	double *samples = calloc(most, sizeof(*samples));
	bool good = samples != NULL;
	for (unsigned i = 0; variants[i].name && good; i++)
		good = measure_variant(real, &variants[i], most, samples,
				       &values_out[(size_t)i * ANSWERS]);
	free(samples);
	if (good && real->program->verify)
		good = real->program->verify(real);
	return good ? 0 : -EIO;
}

/* As often as it goes, for so many milliseconds. */
static int real_measure_rate(void *state, uint64_t milliseconds, double values_out[AGENT_VALUES])
{
	struct real *real = state;
	const uint64_t start = clock_now_ns(), end = start + milliseconds * 1000000;
	uint64_t count = 0;
	double us = 0;
	bool good = true;
	for (; good && clock_now_ns() < end; count++)
		good = time_step(real, real->program->variants, &us);
	values_out[GPU_ANSWER_COUNT] = (double)count;
	values_out[GPU_ANSWER_START] = (double)start;
	values_out[GPU_ANSWER_END] = (double)clock_now_ns();
	return good && real->program->verify(real) ? 0 : -EIO;
}

static const struct agent_subject service_subject = {open_service, real_measure, real_close};
static const struct agent_subject service_gpu_subject = {open_service_gpu, real_measure,
							 real_close};
static const struct agent_subject opencl_subject = {open_opencl, real_measure, real_close};
static const struct agent_subject cuda_subject = {open_cuda, real_measure, real_close};

static const struct agent_subject rate_service = {open_service_gpu, real_measure_rate, real_close};
static const struct agent_subject rate_cuda = {open_cuda, real_measure_rate, real_close};

/* ----------------------------- the rows ------------------------------------------------ */

struct row {
	const char *name;
	const struct real_program *program;
	bool is_rate; /* told in frames a second */
	bool has_mean;
};

enum side { SERVICE, PLAIN, SIDES };

struct outcome {
	unsigned runs;
	bool is_gpu;
	double values[SIDES][AGENT_VALUES][BENCH_RUNS_MAX];
};

static int compare_processor(const struct bench *bench, struct outcome *outcome)
{
	const struct comparison comparison = {&service_subject, &opencl_subject,
					      bench->quick ? SAMPLES_LEAST : SAMPLES_MAX,
					      SAMPLES_LEAST};
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
		.client = &service_gpu_subject,
		.direct = &cuda_subject,
		.sides = 1u << GPU_SIDE_SERVICE | 1u << GPU_SIDE_DIRECT,
		.agents = 1,
		.count = bench->quick ? SAMPLES_LEAST : SAMPLES_MAX,
		.warm_up = SAMPLES_LEAST,
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

static void tell_percentile(struct bench *bench, const struct row *row,
			    const struct outcome *outcome, unsigned variant, int answer)
{
	const struct real_variant *told = &row->program->variants[variant];
	const double target = answer == P50 ? told->target_p50 : told->target_p99;
	const unsigned value = variant * ANSWERS + (unsigned)answer;
	char name[BENCH_NAME_BYTES];
	struct bench_result result = {.name = name,
				      .unit = "us",
				      .bound = outcome->is_gpu && target > 0 ? BENCH_RATIO_AT_MOST
									     : BENCH_NO_TARGET,
				      .target = target};
	name_result(row, outcome, told->name, answer == P50 ? "p50" : "p99", name);
	bench_summarise(outcome->values[SERVICE][value], outcome->values[PLAIN][value],
			outcome->runs, &result);
	bench_report(bench, &result);
}

/* Frames a second. */
static void tell_rate(struct bench *bench, const struct row *row, const struct outcome *outcome,
		      unsigned variant)
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
				1e6 / outcome->values[side][variant * ANSWERS + MEAN][run];
	name_result(row, outcome, told->name, "", name);
	bench_summarise(rates[SERVICE], rates[PLAIN], outcome->runs, &result);
	bench_report(bench, &result);
}

/* The geometric mean of all variants, whose ratio is that of the ratios. */
static void tell_mean(struct bench *bench, const struct row *row, const struct outcome *outcome)
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
				sum += log(outcome->values[side][count * ANSWERS + P50][run]);
			means[side][run] = exp(sum / count);
		}
	name_result(row, outcome, "mean", "p50", name);
	bench_summarise(means[SERVICE], means[PLAIN], outcome->runs, &result);
	bench_report(bench, &result);
}

static void tell_all(struct bench *bench, const struct row *row, const struct outcome *outcome)
{
	for (unsigned i = 0; row->program->variants[i].name; i++) {
		if (row->is_rate) {
			tell_rate(bench, row, outcome, i);
			continue;
		}
		tell_percentile(bench, row, outcome, i, P50);
		tell_percentile(bench, row, outcome, i, P99);
	}
	if (row->has_mean)
		tell_mean(bench, row, outcome);
}

/* Both sides compile the program's source. Another process looks: the library is large. */
static bool has_compiler(void)
{
	int status = -1;
	const pid_t child = fork();
	if (child == 0)
		_exit(!dlopen("libnvrtc.so.13", RTLD_NOW) && !dlopen("libnvrtc.so.12", RTLD_NOW));
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool is_possible(struct bench *bench, const struct row *row, bool is_gpu)
{
	if (!is_gpu)
		return true;
	if (!gpu_row_possible(bench, row->name, 1))
		return false;
	if (has_compiler())
		return true;
	bench_skip(bench, row->name, "no compiler of CUDA sources here (libnvrtc.so.13 or .12)");
	return false;
}

static int run_row(struct bench *bench, const struct row *row)
{
	const bool is_gpu = strcmp(bench->device, "gpu") == 0;
	if (!is_possible(bench, row, is_gpu))
		return 0;
	struct outcome *outcome = calloc(1, sizeof(*outcome));
	if (!outcome)
		return -ENOMEM;
	program = row->program;
	scale = bench->quick ? REAL_TINY : is_gpu ? REAL_GPU : REAL_PROCESSOR;
	outcome->runs = bench->runs;
	outcome->is_gpu = is_gpu;
	int r = is_gpu ? compare_gpu(bench, outcome) : compare_processor(bench, outcome);
	if (r == 0)
		tell_all(bench, row, outcome);
	free(outcome);
	return r;
}

int row_solver(struct bench *bench)
{
	static const struct row row = {.name = "TR1", .program = &real_solver_launches};
	return run_row(bench, &row);
}

int row_solver_graph(struct bench *bench)
{
	static const struct row row = {.name = "TR2", .program = &real_solver_graph};
	return run_row(bench, &row);
}

int row_requests(struct bench *bench)
{
	static const struct row row = {.name = "TR3", .program = &real_requests};
	return run_row(bench, &row);
}

int row_ladder(struct bench *bench)
{
	static const struct row row = {.name = "TR4", .program = &real_ladder, .has_mean = true};
	return run_row(bench, &row);
}

int row_frames(struct bench *bench)
{
	static const struct row row = {.name = "TR9", .program = &real_frames, .is_rate = true};
	return run_row(bench, &row);
}

/* ----------------------------- several clients at one time ----------------------------- */

struct crowd {
	const char *name;
	const struct real_program *program;
	double target_mps; /* the rate, by that of processes under MPS */
};

static const double target_processes = 25;

static void tell_crowd(struct bench *bench, const struct gpu_compared *compared,
		       const struct crowd *crowd, unsigned clients)
{
	char name[BENCH_NAME_BYTES];
	const struct bench_result result = {.name = name,
					    .unit = "iterations/s",
					    .bound = BENCH_RATIO_AT_LEAST,
					    .target = crowd->target_mps,
					    .note = "of all clients"};
	struct bench_result sliced = result;
	(void)snprintf(name, sizeof(name), "TR5.%s%u.mps", crowd->name, clients);
	gpu_report(bench, compared, 0, GPU_SIDE_SERVICE, GPU_SIDE_MPS, result);
	(void)snprintf(name, sizeof(name), "TR5.%s%u.processes", crowd->name, clients);
	sliced.target = target_processes;
	gpu_report(bench, compared, 0, GPU_SIDE_SERVICE, GPU_SIDE_DIRECT, sliced);
}

static int run_crowd(struct bench *bench, const struct crowd *crowd, unsigned clients)
{
	const struct gpu_comparison comparison = {
		.client = &rate_service,
		.direct = &rate_cuda,
		.sides = 1u << GPU_SIDE_SERVICE | 1u << GPU_SIDE_DIRECT | 1u << GPU_SIDE_MPS,
		.agents = clients,
		.count = bench->quick ? 10 : 500,
		.warm_up = bench->quick ? 1 : 100,
		.sum = GPU_SUM_RATE};
	struct gpu_compared *compared = malloc(sizeof(*compared));
	program = crowd->program;
	scale = bench->quick ? REAL_TINY : REAL_GPU;
	int r = compared ? gpu_compare(bench, &comparison, compared) : -ENOMEM;
	if (r == 0)
		tell_crowd(bench, compared, crowd, clients);
	free(compared);
	return r;
}

int row_clients(struct bench *bench)
{
	static const struct row row = {.name = "TR5"};
	static const struct crowd crowds[] = {{"launches", &real_solver_launches, 1.5},
					      {"graph", &real_solver_graph, 1.0}};
	static const unsigned clients[] = {8, 32}, quick[] = {2};
	int r = 0;
	if (strcmp(bench->device, "gpu") != 0) {
		bench_skip(bench, row.name, "needs a GPU (--device gpu)");
		return 0;
	}
	if (!is_possible(bench, &row, true))
		return 0;
	for (unsigned i = 0; i < 2 && r == 0; i++)
		for (unsigned j = 0; j < (bench->quick ? 1u : 2u) && r == 0; j++)
			r = run_crowd(bench, &crowds[i], bench->quick ? quick[j] : clients[j]);
	return r;
}
