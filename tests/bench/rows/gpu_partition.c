/*
 * TG9: a short kernel of the latency class beside a client that fills the GPU with long ones. The
 * figures are its latency compared with that alone, and the rate that the other client keeps. The
 * baselines are separate processes, in time slices and under MPS.
 */
#include "harness/mps.h"
#include "harness/pictures.h"
#include "harness/statistics.h"
#include "gpu/client.h"
#include "gpu/compare.h"
#include "gpu/direct.h"
#include "gpu/place.h"
#include "gpu/subjects.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MULTIPROCESSORS = 8, /* set apart */
	SHORT_US = 50,
	SHORT_BLOCKS = 64,
	LONG_US = 500,
	LONG_BLOCKS = 132 * 32, /* as many as an H200 runs at one time */
	QUEUES = 4, /* of the long ones: when one kernel leaves room at its end, the next queue's
		       begins */
	LONG_BATCH = 4, /* in each, before it is waited for */
	PAUSE_NS = 500000,
	WINDOW_MS = 2000,
	WARM_MS = 500,
	QUICK_MS = 10,
	QUICK = GPU_SUBJECT_QUICK,
	SAMPLES_MAX = 1 << 16
};

/* The values that only one of the two answers. */
enum { P50, P99, RATE };

struct several_clients {
	struct gpu_client of[QUEUES];
};

struct several_direct {
	struct gpu_direct of[QUEUES];
};

/* The calls that differ between a client and a separate process. */
struct side_calls {
	void *(*queue)(void *state, unsigned index);
	bool (*launch)(void *state, unsigned blocks, uint32_t cycles);
	bool (*wait)(void *state);
	bool (*verify)(void *state);
};

static void *client_queue(void *state, unsigned index)
{
	return &((struct several_clients *)state)->of[index];
}

static void *direct_queue(void *state, unsigned index)
{
	return &((struct several_direct *)state)->of[index];
}

static bool gpu_partition_client_launch(void *state, unsigned blocks, uint32_t cycles)
{
	struct gpu_client *client = state;
	return gpu_client_submit(client, client->crowd, blocks, cycles);
}

static bool gpu_partition_client_wait(void *state)
{
	return gpu_client_wait(state);
}

static bool gpu_partition_client_verify(void *state)
{
	return gpu_client_verify(state);
}

static bool gpu_partition_direct_launch(void *state, unsigned blocks, uint32_t cycles)
{
	struct gpu_direct *direct = state;
	return gpu_direct_launch(direct, direct->crowd, blocks, cycles);
}

static bool gpu_partition_direct_wait(void *state)
{
	return gpu_direct_wait(state);
}

static bool gpu_partition_direct_verify(void *state)
{
	return gpu_direct_verify(state);
}

static const struct side_calls client_calls = {client_queue, gpu_partition_client_launch,
					       gpu_partition_client_wait,
					       gpu_partition_client_verify};
static const struct side_calls direct_calls = {direct_queue, gpu_partition_direct_launch,
					       gpu_partition_direct_wait,
					       gpu_partition_direct_verify};

/* Runs one kernel, waits for it, then pauses, for that many ms. Returns microseconds. */
static int measure_short(const struct side_calls *calls, void *state, uint64_t count,
			 double values_out[AGENT_VALUES])
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	const uint32_t cycles = count & QUICK ? 0 : SHORT_US * GPU_CYCLES_PER_US;
	const unsigned blocks = count & QUICK ? 1 : SHORT_BLOCKS;
	const uint64_t end = clock_now_ns() + (count & ~(uint64_t)QUICK) * 1000000;
	double *samples = malloc(SAMPLES_MAX * sizeof(*samples));
	size_t done = 0;
	bool good = samples != NULL;
	while (good && done < SAMPLES_MAX && (done == 0 || clock_now_ns() < end)) {
		uint64_t start = clock_now_ns();
		good = calls->launch(state, blocks, cycles) && calls->wait(state);
		samples[done++] = (double)(clock_now_ns() - start) / 1000;
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	good = good && calls->verify(state);
	if (good) {
		statistics_sort(samples, done);
		values_out[P50] = statistics_percentile(samples, done, 0.5);
		values_out[P99] = statistics_percentile(samples, done, 0.99);
	}
	free(samples);
	return good ? 0 : -EIO;
}

/* Keeps the GPU full; returns kernels a second. */
static int measure_long(const struct side_calls *calls, void *state, uint64_t count,
			double values_out[AGENT_VALUES])
{
	const uint32_t cycles = count & QUICK ? 0 : LONG_US * GPU_CYCLES_PER_US;
	const unsigned blocks = count & QUICK ? 2 : LONG_BLOCKS;
	const uint64_t start = clock_now_ns(), end = start + (count & ~(uint64_t)QUICK) * 1000000;
	uint64_t done = 0;
	bool good = true;
	for (unsigned next = 0; good && (done == 0 || clock_now_ns() < end);
	     next = (next + 1) % QUEUES) {
		void *queue = calls->queue(state, next);
		good = calls->wait(queue);
		for (int i = 0; i < LONG_BATCH && good; i++)
			good = calls->launch(queue, blocks, cycles);
		done += LONG_BATCH;
	}
	for (unsigned i = 0; i < QUEUES && good; i++)
		good = calls->wait(calls->queue(state, i));
	values_out[RATE] = (double)done * 1e9 / (double)(clock_now_ns() - start);
	for (unsigned i = 0; i < QUEUES && good; i++)
		good = calls->verify(calls->queue(state, i));
	return good ? 0 : -EIO;
}

static int client_short(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	return measure_short(&client_calls, state, count, values_out);
}

static int client_long(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	return measure_long(&client_calls, state, count, values_out);
}

static int direct_short(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	return measure_short(&direct_calls, state, count, values_out);
}

static int direct_long(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	return measure_long(&direct_calls, state, count, values_out);
}

static int gpu_partition_open_latency(const char *place, void **state_out)
{
	(void)setenv("SYCLD_CLASS", "latency", 1);
	return subject_gpu_client_open(place, state_out);
}

static int gpu_partition_open_best_effort(const char *place, void **state_out)
{
	struct several_clients *clients = calloc(1, sizeof(*clients));
	if (!clients)
		return -ENOMEM;
	*state_out = clients;
	(void)setenv("SYCLD_CLASS", "best-effort", 1);
	bool good = gpu_client_open(&clients->of[0], place);
	for (unsigned i = 1; i < QUEUES && good; i++)
		good = gpu_client_open_beside(&clients->of[i], &clients->of[0]);
	return good ? 0 : -EIO;
}

static void close_best_effort(void *state)
{
	struct several_clients *clients = state;
	for (unsigned i = QUEUES; i-- > 0;)
		gpu_client_close(&clients->of[i]);
	free(clients);
}

static int open_streams(const char *place, void **state_out)
{
	struct several_direct *direct = calloc(1, sizeof(*direct));
	if (!direct)
		return -ENOMEM;
	*state_out = direct;
	bool good = gpu_direct_open(&direct->of[0], place);
	for (unsigned i = 1; i < QUEUES && good; i++)
		good = gpu_direct_open_beside(&direct->of[i], &direct->of[0]);
	return good ? 0 : -EIO;
}

static void close_streams(void *state)
{
	struct several_direct *direct = state;
	for (unsigned i = QUEUES; i-- > 0;)
		gpu_direct_close(&direct->of[i]);
	free(direct);
}

static const struct agent_subject latency = {gpu_partition_open_latency, client_short,
					     subject_gpu_client_close};
static const struct agent_subject best_effort = {gpu_partition_open_best_effort, client_long,
						 close_best_effort};
static const struct agent_subject process_short = {subject_gpu_direct_open, direct_short,
						   subject_gpu_direct_close};
static const struct agent_subject process_long = {open_streams, direct_long, close_streams};

struct pair {
	struct private_service *service;
	struct mps *mps;
	struct agent quick, busy;
};

static void gpu_partition_pair_end(struct pair *pair)
{
	agent_end(&pair->quick);
	agent_end(&pair->busy);
	pair->mps = mps_free(pair->mps);
	pair->service = private_service_free(pair->service);
}

struct figures {
	double alone[BENCH_RUNS_MAX], beside[BENCH_RUNS_MAX];        /* p99 of the short one */
	double middle_alone[BENCH_RUNS_MAX], middle[BENCH_RUNS_MAX]; /* its p50 */
	double whole[BENCH_RUNS_MAX], kept[BENCH_RUNS_MAX];          /* rates of the long one */
	double set_apart; /* multiprocessors, as the service reports them */
};

/* Measures the long one alone before there is a latency session, then the short one alone and both
 * together, in turn. */
static int measure_pair(const struct bench *bench, struct pair *pair,
			const struct agent_subject *quick, const struct agent_subject *busy,
			const char *place, struct figures *figures)
{
	const uint64_t window = bench->quick ? QUICK_MS | QUICK : WINDOW_MS,
		       warm = bench->quick ? window : WARM_MS;
	double values[AGENT_VALUES];
	int r = agent_start(busy, place, &pair->busy);
	if (r == 0)
		r = agent_measure(&pair->busy, warm, values);
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		r = agent_measure(&pair->busy, window, values);
		figures->whole[run] = values[RATE];
	}
	if (r == 0)
		r = agent_start(quick, place, &pair->quick);
	if (r == 0)
		r = agent_measure(&pair->quick, warm, values);
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		r = agent_measure(&pair->quick, window, values);
		figures->alone[run] = values[P99];
		figures->middle_alone[run] = values[P50];
		if (r == 0)
			r = agent_request(&pair->busy, window);
		if (r == 0)
			r = agent_measure(&pair->quick, window, values);
		figures->beside[run] = values[P99];
		figures->middle[run] = values[P50];
		if (r == 0)
			r = agent_answer(&pair->busy, values);
		figures->kept[run] = values[RATE];
	}
	figures->set_apart =
		pair->service ? gpu_engine_number(pair->service, NULL, "latency_units") : 0;
	return r;
}

static int gpu_partition_measure_side(const struct bench *bench, enum gpu_side side,
				      struct figures *figures)
{
	CLEANUP(gpu_partition_pair_end)
	struct pair pair = {.quick = AGENT_INIT, .busy = AGENT_INIT};
	const bool is_client = side == GPU_SIDE_SERVICE;
	struct gpu_place place = {.with = GPU_NOBODY};
	char text[GPU_PLACE_BYTES], option[64];
	int r = 0;
	(void)snprintf(option, sizeof(option), "latency_multiprocessors = %d\n", MULTIPROCESSORS);
	if (is_client)
		r = gpu_service_with(option, false, &pair.service);
	else if (side == GPU_SIDE_MPS)
		r = mps_start(false, &pair.mps);
	if (r < 0)
		return r;
	if (is_client)
		(void)snprintf(place.with, sizeof(place.with), "%s", pair.service->endpoint);
	else if (side == GPU_SIDE_MPS)
		(void)snprintf(place.with, sizeof(place.with), "%s", pair.mps->pipes);
	gpu_place_write(&place, text);
	return measure_pair(bench, &pair, is_client ? &latency : &process_short,
			    is_client ? &best_effort : &process_long, text, figures);
}

/* If there are no names, those of the sides are used. */
struct form {
	enum gpu_side side;
	const char *p50, *p99, *kept, *note, *point;
};

static void report_partition(struct bench *bench, const struct form *form,
			     const struct figures *figures, struct bench_point *point_out)
{
	const bool bounded = form->side == GPU_SIDE_SERVICE;
	struct bench_result p50 = {
		.name = form->p50, .unit = "us", .bound = BENCH_NO_TARGET, .note = "alone"};
	struct bench_result p99 = {
		.name = form->p99, .unit = "us", .target = 1.10, .note = form->note};
	struct bench_result kept = {.name = form->kept, .unit = "kernels/s", .target = 0.85};
	p99.bound = bounded ? BENCH_RATIO_AT_MOST : BENCH_NO_TARGET;
	kept.bound = bounded ? BENCH_RATIO_AT_LEAST : BENCH_NO_TARGET;
	bench_summarise(figures->middle, figures->middle_alone, bench->runs, &p50);
	bench_report(bench, &p50);
	bench_summarise(figures->beside, figures->alone, bench->runs, &p99);
	bench_report(bench, &p99);
	bench_summarise(figures->kept, figures->whole, bench->runs, &kept);
	bench_report(bench, &kept);
	if (bounded)
		gpu_report_set_apart(bench, "TG9.set_apart", figures->set_apart);
	*point_out = (struct bench_point){form->point, p99.ratio, kept.ratio};
}

int row_gpu_partition(struct bench *bench)
{
	static const struct form sides[] = {
		{GPU_SIDE_SERVICE, "TG9.p50", "TG9.p99", "TG9.kept",
		 "8 multiprocessors reserved; baseline: alone", "service"},
		{GPU_SIDE_DIRECT, "TG9.processes.p50", "TG9.processes.p99", "TG9.processes.kept",
		 "time slices; baseline: alone", "time slices"},
		{GPU_SIDE_MPS, "TG9.mps.p50", "TG9.mps.p99", "TG9.mps.kept", "MPS; baseline: alone",
		 "mps"},
	};
	enum { SIDES = sizeof(sides) / sizeof(*sides) };
	struct bench_point points[SIDES] = {{.name = NULL}};
	if (!gpu_row_possible(bench, "TG9", 1))
		return 0;
	for (size_t i = 0; i < SIDES; i++) {
		struct figures figures = {.alone = {0}};
		if (sides[i].side == GPU_SIDE_MPS && !mps_installed()) {
			bench_skip(bench, sides[i].p99, "MPS is not installed");
			continue;
		}
		int r = gpu_partition_measure_side(bench, sides[i].side, &figures);
		if (r < 0 && sides[i].side == GPU_SIDE_MPS) {
			bench_skip(bench, sides[i].p99, "MPS does not work");
			continue;
		}
		if (r < 0) {
			bench_complain("the measurement failed: %s", strerror(-r));
			return r;
		}
		report_partition(bench, &sides[i], &figures, &points[i]);
	}
	return bench_picture_points(bench, "TG9", points, SIDES, "a short kernel beside long ones",
				    "p99, times alone", "what the long ones keep of their rate",
				    0.85);
}
