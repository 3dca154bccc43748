/*
 * TG10: requests of a few short kernels beside a training. The requests arrive at random times and
 * take half of the time. The training is a stream of longer kernels that fills the GPU. The figures
 * are the latency of a request compared with that alone, and the work of both together. The
 * baselines are separate processes, in time slices, under MPS, and under MPS with its two
 * priorities. Kernels are an amount of work, not a time.
 */
#include "harness/arrivals.h"
#include "harness/mps.h"
#include "harness/pictures.h"
#include "harness/statistics.h"
#include "gpu/compare.h"
#include "gpu/load.h"
#include "gpu/place.h"

#include "clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum {
	MULTIPROCESSORS = 8, /* set apart for requests */
	REQUEST_KERNELS = 4,
	REQUEST_US = 50,
	REQUEST_BLOCKS = 16,
	TRAIN_US = 2000,
	TRAIN_WAVES = 15, /* as many blocks as the GPU holds, this often */
	TRAIN_BATCH = 8,  /* before they are waited for */
	WINDOW_MS = 800,
	ALONE_MS = 300,
	WARM_MS = 300,
	QUICK_MS = 10,
	LATE_MS = 500, /* after the window, requests that still wait are dropped */
	MS_MASK = (1 << 20) - 1,
	GAP_SHIFT = 32,
	SAMPLES_MAX = 1 << 16,
	LOAD_PERCENT = 50,
	SEED = 20261
};

/* The values that only one of the two answers. */
enum { P50, P99, RATE, MEAN_NS };
/* The answers of the calibration. */
enum { ROUNDS, PROCESSORS };

/* Set before the processes that use it are forked. */
static struct {
	unsigned train_blocks, request_blocks;
	uint32_t train_rounds, request_rounds;
} sizes;

/* --------------------------------------- requests --------------------------------------- */

static bool one_request(const struct load_calls *calls, void *load)
{
	bool good = true;
	for (int i = 0; i < REQUEST_KERNELS && good; i++)
		good = calls->launch(load, sizes.request_blocks, sizes.request_rounds);
	return good && calls->wait(load);
}

/* One after the other: how long each takes by itself. */
static bool serve_closed(const struct load_calls *calls, void *load, uint64_t window_ns,
			 double values_out[AGENT_VALUES])
{
	uint64_t start = clock_now_ns(), done = 0;
	bool good = true;
	while (good && (done == 0 || clock_now_ns() < start + window_ns)) {
		good = one_request(calls, load);
		done++;
	}
	values_out[MEAN_NS] = (double)(clock_now_ns() - start) / (double)done;
	return good;
}

/* Requests are served as they come; the latency is from the arrival on. */
static bool serve_open(const struct load_calls *calls, void *load, uint64_t window_ns,
		       double gap_ns, double *samples, double values_out[AGENT_VALUES])
{
	const uint64_t start = clock_now_ns() + 1000000, end = start + window_ns;
	const uint64_t given_up = end + (uint64_t)LATE_MS * 1000000;
	uint64_t random = SEED, arrival = start, last = start;
	size_t done = 0, came = 0;
	bool good = true;
	while (good && came < SAMPLES_MAX && (came == 0 || arrival < end)) {
		if (came == 0 || clock_now_ns() < given_up) {
			arrivals_wait_until_ns(arrival);
			good = one_request(calls, load);
			done++;
			last = clock_now_ns();
		}
		samples[came++] = (double)(clock_now_ns() - arrival) / 1000;
		arrival += arrivals_next_gap_ns(&random, gap_ns);
	}
	statistics_sort(samples, came);
	values_out[P50] = statistics_percentile(samples, came, 0.5);
	values_out[P99] = statistics_percentile(samples, came, 0.99);
	/* Requests that came late in the window belong to it; time beyond the window counts as a
	 * loss. */
	values_out[RATE] = (double)done * 1e9 / fmax((double)(last - start), (double)window_ns);
	return good;
}

/* `count`: milliseconds, and above GAP_SHIFT the mean time between requests in ns; 0: one after the
 * other. */
static int serve_requests(const struct load_calls *calls, void *load, uint64_t count,
			  double values_out[AGENT_VALUES])
{
	const uint64_t window_ns = (count & MS_MASK) * 1000000, gap_ns = count >> GAP_SHIFT;
	double *samples = malloc(SAMPLES_MAX * sizeof(*samples));
	(void)prctl(PR_SET_TIMERSLACK, 1UL);
	bool good = samples && (gap_ns > 0 ? serve_open(calls, load, window_ns, (double)gap_ns,
							samples, values_out)
					   : serve_closed(calls, load, window_ns, values_out));
	free(samples);
	return good && calls->verify(load) ? 0 : -EIO;
}

static int client_serve(void *load, uint64_t count, double values_out[AGENT_VALUES])
{
	return serve_requests(&load_client_calls, load, count, values_out);
}

static int direct_serve(void *load, uint64_t count, double values_out[AGENT_VALUES])
{
	return serve_requests(&load_direct_calls, load, count, values_out);
}

/* --------------------------------------- training --------------------------------------- */

/* Keeps the GPU full; returns kernels a second. */
static int train(const struct load_calls *calls, void *load, uint64_t count,
		 double values_out[AGENT_VALUES])
{
	const uint64_t start = clock_now_ns(), end = start + (count & MS_MASK) * 1000000;
	uint64_t done = 0;
	bool good = true;
	while (good && (done == 0 || clock_now_ns() < end)) {
		for (int i = 0; i < TRAIN_BATCH && good; i++)
			good = calls->launch(load, sizes.train_blocks, sizes.train_rounds);
		good = good && calls->wait(load);
		done += TRAIN_BATCH;
	}
	values_out[RATE] = (double)done * 1e9 / (double)(clock_now_ns() - start);
	return good && calls->verify(load) ? 0 : -EIO;
}

static int client_train(void *load, uint64_t count, double values_out[AGENT_VALUES])
{
	return train(&load_client_calls, load, count, values_out);
}

static int direct_train(void *load, uint64_t count, double values_out[AGENT_VALUES])
{
	return train(&load_direct_calls, load, count, values_out);
}

/* ------------------------------------ participants -------------------------------------- */

static int gpu_mixed_open_latency(const char *place, void **load_out)
{
	(void)setenv("SYCLD_CLASS", "latency", 1);
	return load_client_open(place, load_out);
}

static int gpu_mixed_open_best_effort(const char *place, void **load_out)
{
	(void)setenv("SYCLD_CLASS", "best-effort", 1);
	return load_client_open(place, load_out);
}

/* MPS has two priorities: 0, normal, and 1, below it. It reads them when the context is made. */
static int open_normal(const char *place, void **load_out)
{
	(void)setenv("CUDA_MPS_CLIENT_PRIORITY", "0", 1);
	return load_direct_open(place, load_out);
}

static int open_below_normal(const char *place, void **load_out)
{
	(void)setenv("CUDA_MPS_CLIENT_PRIORITY", "1", 1);
	return load_direct_open(place, load_out);
}

struct side {
	const char *p50, *p99, *sum, *kept, *note, *point;
	struct agent_subject serves, trains;
	bool is_service, is_mps;
};

static const struct side sides[] = {
	{"TG10.p50",
	 "TG10.p99",
	 "TG10.sum",
	 "TG10.kept",
	 "latency class with its own multiprocessors; baseline: alone",
	 "service",
	 {gpu_mixed_open_latency, client_serve, load_client_close},
	 {gpu_mixed_open_best_effort, client_train, load_client_close},
	 true,
	 false},
	{"TG10.processes.p50",
	 "TG10.processes.p99",
	 "TG10.processes.sum",
	 "TG10.processes.kept",
	 "time slices; baseline: alone",
	 "time slices",
	 {load_direct_open, direct_serve, load_direct_close},
	 {load_direct_open, direct_train, load_direct_close},
	 false,
	 false},
	{"TG10.mps.p50",
	 "TG10.mps.p99",
	 "TG10.mps.sum",
	 "TG10.mps.kept",
	 "MPS; baseline: alone",
	 "mps",
	 {load_direct_open, direct_serve, load_direct_close},
	 {load_direct_open, direct_train, load_direct_close},
	 false,
	 true},
	{"TG10.mps_priority.p50",
	 "TG10.mps_priority.p99",
	 "TG10.mps_priority.sum",
	 "TG10.mps_priority.kept",
	 "MPS, the training at low priority; baseline: alone",
	 "mps, prio",
	 {open_normal, direct_serve, load_direct_close},
	 {open_below_normal, direct_train, load_direct_close},
	 false,
	 true},
};

enum { SIDES = sizeof(sides) / sizeof(*sides) };

struct pair {
	struct private_service *service;
	struct mps *mps;
	struct agent serves, trains;
};

static void gpu_mixed_pair_end(struct pair *pair)
{
	agent_end(&pair->serves);
	agent_end(&pair->trains);
	pair->mps = mps_free(pair->mps);
	pair->service = private_service_free(pair->service);
}

/* ---------------------------------------- sizes ----------------------------------------- */

/* `count`: blocks, and above GAP_SHIFT the wanted nanoseconds; 0: only the multiprocessors. */
static int direct_calibrate(void *load, uint64_t count, double values_out[AGENT_VALUES])
{
	values_out[PROCESSORS] = load_multiprocessors(load);
	if (count == 0)
		return values_out[PROCESSORS] > 0 ? 0 : -EIO;
	values_out[ROUNDS] =
		load_calibrate(&load_direct_calls, load, (unsigned)(count & UINT32_MAX),
			       count >> GAP_SHIFT, WARM_MS);
	return values_out[ROUNDS] > 0 ? 0 : -EIO;
}

/* In a separate process: that many blocks for that long. */
static int calibrate(unsigned blocks, unsigned wanted_us, double values_out[AGENT_VALUES])
{
	static const struct agent_subject subject = {load_direct_open, direct_calibrate,
						     load_direct_close};
	struct gpu_place place = {.with = GPU_NOBODY};
	struct agent agent = AGENT_INIT;
	char text[GPU_PLACE_BYTES];
	gpu_place_write(&place, text);
	int r = agent_start(&subject, text, &agent);
	if (r == 0)
		r = agent_measure(&agent, (uint64_t)wanted_us * 1000 << GAP_SHIFT | blocks,
				  values_out);
	agent_end(&agent);
	return r;
}

static int find_sizes(const struct bench *bench)
{
	double values[AGENT_VALUES] = {0};
	int r = calibrate(0, 0, values);
	sizes.request_blocks = bench->quick ? 1 : REQUEST_BLOCKS;
	sizes.train_blocks =
		bench->quick ? 2 : (unsigned)values[PROCESSORS] * LOAD_BLOCKS_HELD * TRAIN_WAVES;
	sizes.request_rounds = sizes.train_rounds = 1;
	if (r < 0 || bench->quick)
		return r;
	r = calibrate(sizes.request_blocks, REQUEST_US, values);
	sizes.request_rounds = (uint32_t)values[ROUNDS];
	if (r == 0)
		r = calibrate(sizes.train_blocks, TRAIN_US, values);
	sizes.train_rounds = (uint32_t)values[ROUNDS];
	return r;
}

/* -------------------------------------- measuring --------------------------------------- */

struct figures {
	double alone[BENCH_RUNS_MAX], beside[BENCH_RUNS_MAX]; /* p99 of requests */
	double middle[BENCH_RUNS_MAX];                        /* their p50 beside */
	double asked[BENCH_RUNS_MAX],
		served[BENCH_RUNS_MAX]; /* requests a second, alone and beside */
	double whole[BENCH_RUNS_MAX], kept[BENCH_RUNS_MAX]; /* of the training */
	double sum[BENCH_RUNS_MAX];
	double set_apart; /* multiprocessors, as the service reports them */
};

static int measure_both(const struct bench *bench, struct pair *pair, uint64_t gap_ns,
			struct figures *figures)
{
	const uint64_t window = bench->quick ? QUICK_MS : WINDOW_MS,
		       requests = gap_ns << GAP_SHIFT | window;
	double served[AGENT_VALUES] = {0}, trained[AGENT_VALUES] = {0};
	int r = 0;
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		r = agent_measure(&pair->serves, requests, served);
		figures->alone[run] = served[P99];
		figures->asked[run] = served[RATE];
		if (r == 0)
			r = agent_request(&pair->trains, window);
		if (r == 0)
			r = agent_measure(&pair->serves, requests, served);
		if (r == 0)
			r = agent_answer(&pair->trains, trained);
		if (r < 0)
			break;
		figures->beside[run] = served[P99];
		figures->middle[run] = served[P50];
		figures->served[run] = served[RATE];
		figures->kept[run] = trained[RATE];
		figures->sum[run] =
			served[RATE] / figures->asked[run] + trained[RATE] / figures->whole[run];
	}
	return r;
}

/* Measures the training alone before there is a latency session, then requests alone and both
 * together, in turn. */
static int measure_pair(const struct bench *bench, const struct side *side, struct pair *pair,
			const char *place, struct figures *figures)
{
	const uint64_t alone = bench->quick ? QUICK_MS : ALONE_MS,
		       warm = bench->quick ? alone : WARM_MS;
	double values[AGENT_VALUES] = {0};
	int r = agent_start(&side->trains, place, &pair->trains);
	if (r == 0)
		r = agent_measure(&pair->trains, warm, values);
	/* Otherwise the start of a standby could fall into the measurement. */
	if (r == 0 && pair->service)
		gpu_settle(pair->service);
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		r = agent_measure(&pair->trains, alone, values);
		figures->whole[run] = values[RATE];
	}
	if (r == 0)
		r = agent_start(&side->serves, place, &pair->serves);
	/* This is done twice: multiprocessors are set apart at the first moment in which nothing
	 * runs. */
	for (int i = 0; i < 2 && r == 0; i++)
		r = agent_measure(&pair->serves, warm, values);
	double gap_ns = fmin(values[MEAN_NS] * 100 / LOAD_PERCENT, UINT32_MAX);
	if (r == 0)
		r = measure_both(bench, pair, (uint64_t)fmax(gap_ns, 1), figures);
	figures->set_apart =
		pair->service ? gpu_engine_number(pair->service, NULL, "latency_units") : 0;
	return r;
}

static int gpu_mixed_measure_side(const struct bench *bench, const struct side *side,
				  struct figures *figures)
{
	CLEANUP(gpu_mixed_pair_end) struct pair pair = {.serves = AGENT_INIT, .trains = AGENT_INIT};
	struct gpu_place place = {.with = GPU_NOBODY};
	char text[GPU_PLACE_BYTES], option[64];
	int r = 0;
	(void)snprintf(option, sizeof(option), "latency_multiprocessors = %d\n", MULTIPROCESSORS);
	if (side->is_service)
		r = gpu_service_with(option, false, &pair.service);
	else if (side->is_mps)
		r = mps_start(false, &pair.mps);
	if (r < 0)
		return r;
	if (pair.service)
		(void)snprintf(place.with, sizeof(place.with), "%s", pair.service->endpoint);
	else if (pair.mps)
		(void)snprintf(place.with, sizeof(place.with), "%s", pair.mps->pipes);
	gpu_place_write(&place, text);
	return measure_pair(bench, side, &pair, text, figures);
}

/* -------------------------------------- reporting --------------------------------------- */

static void report_mixed(struct bench *bench, const struct side *side,
			 const struct figures *figures, struct bench_point *point_out)
{
	struct bench_result p50 = {
		.name = side->p50, .unit = "us", .note = "from the arrival of a request"};
	struct bench_result p99 = {
		.name = side->p99, .unit = "us", .target = 1.10, .note = side->note};
	struct bench_result sum = {.name = side->sum,
				   .unit = "of alone",
				   .target = 1.5,
				   .note = "sum of both rates, each by the rate alone"};
	struct bench_result kept = {.name = side->kept,
				    .unit = "kernels/s",
				    .note = "of the training; baseline: alone"};
	if (side->is_service) {
		p99.bound = BENCH_RATIO_AT_MOST;
		sum.bound = BENCH_VALUE_AT_LEAST;
	}
	bench_summarise(figures->middle, NULL, bench->runs, &p50);
	bench_report(bench, &p50);
	bench_summarise(figures->beside, figures->alone, bench->runs, &p99);
	bench_report(bench, &p99);
	bench_summarise(figures->sum, NULL, bench->runs, &sum);
	bench_report(bench, &sum);
	bench_summarise(figures->kept, figures->whole, bench->runs, &kept);
	bench_report(bench, &kept);
	if (side->is_service)
		gpu_report_set_apart(bench, "TG10.set_apart", figures->set_apart);
	*point_out = (struct bench_point){side->point, p99.ratio, sum.value};
}

int row_gpu_mixed(struct bench *bench)
{
	struct bench_point points[SIDES] = {{.name = NULL}};
	if (!gpu_row_possible(bench, "TG10", 1))
		return 0;
	bool has_mps = mps_installed();
	int r = find_sizes(bench);
	for (unsigned i = 0; i < SIDES && r == 0; i++) {
		static struct figures figures;
		if (sides[i].is_mps && !has_mps) {
			bench_skip(bench, sides[i].p99, "MPS is not installed, or does not work");
			continue;
		}
		r = gpu_mixed_measure_side(bench, &sides[i], &figures);
		if (r == 0) {
			report_mixed(bench, &sides[i], &figures, &points[i]);
		} else if (sides[i].is_mps) {
			bench_skip(bench, sides[i].p99, "MPS does not work");
			has_mps = false;
			r = 0;
		}
	}
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	return r < 0 ? r
		     : bench_picture_points(bench, "TG10", points, SIDES,
					    "requests beside a training", "p99, times alone",
					    "both rates by their rates alone, summed", 1.5);
}
