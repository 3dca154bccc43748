/*
 * TR10: the cost of the project's own code, on a double of NVIDIA's driver that completes
 * everything at once and runs no kernel. The figures are the round trip of a small command group,
 * and each further one of a solver's iteration. The baseline is the shortest possible path of a
 * daemon (gpu/minimal_daemon.h), on the same double. own_cost_several.c adds clients. It needs no
 * GPU.
 */
#include "harness/agent.h"
#include "harness/counters.h"
#include "harness/pictures.h"
#include "harness/statistics.h"
#include "gpu/compare.h"
#include "gpu/cost_client.h"
#include "gpu/instant_double.h"
#include "gpu/minimal_daemon.h"
#include "gpu/place.h"
#include "rows/own_cost.h"

#include "clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	TRIP = OWN_COST_TRIP,
	ITERATION = OWN_COST_ITERATION,
	GRAPH = OWN_COST_GRAPH,
	MODES = OWN_COST_MODES,
	MODE_BITS = OWN_COST_MODE_BITS
};
enum {
	P50 = OWN_COST_P50,
	P99 = OWN_COST_P99,
	DONE = OWN_COST_DONE,
	PROCESS = OWN_COST_PROCESS /* of the baseline, the process that has the driver */
};
enum { GROUPS_OF_ITERATION = COST_KERNELS + 1 };

static const char *const mode_names[MODES] = {"trip", "iteration", "graph"};
/* The command groups of each. */
static const unsigned mode_groups[MODES] = {1, GROUPS_OF_ITERATION, 2};

static bool own_cost_client_once(void *state, unsigned mode)
{
	struct cost_client *client = state;
	uint32_t word = 0;
	if (mode == TRIP)
		return cost_client_launch(client, &cost_one) && cost_client_wait(client);
	bool good = mode != GRAPH || cost_client_graph(client);
	for (int i = 0; mode != GRAPH && i < COST_KERNELS && good; i++)
		good = cost_client_launch(client, &cost_all[i]);
	return good && cost_client_read(client, COST_READ_BUFFER, &word) && word == COST_WORD;
}

static bool daemon_once(void *state, unsigned mode)
{
	struct minimal_daemon *daemon = state;
	if (mode == TRIP) {
		minimal_daemon_launch(daemon, &cost_one);
		minimal_daemon_wait(daemon);
		return true;
	}
	for (int i = 0; i < COST_KERNELS; i++)
		minimal_daemon_launch(daemon, &cost_all[i]);
	return minimal_daemon_read(daemon, COST_READ_BUFFER) == COST_WORD;
}

/* On a busy machine one may take milliseconds. */
static const uint64_t longest_ns = 400000000;

/* Microseconds. */
static int measure_once_each(bool (*once)(void *state, unsigned mode), void *state, uint64_t asked,
			     double values_out[AGENT_VALUES])
{
	const uint64_t most = asked >> MODE_BITS, begun = clock_now_ns();
	const unsigned mode = asked & ((1u << MODE_BITS) - 1);
	double *samples = malloc(most * sizeof(*samples));
	bool good = samples != NULL;
	uint64_t count = 0, now = begun;
	while (good && count < most && now - begun < longest_ns) {
		const uint64_t start = now;
		good = once(state, mode);
		now = clock_now_ns();
		samples[count++] = (double)(now - start) / 1000;
	}
	if (good) {
		statistics_sort(samples, count);
		values_out[P50] = statistics_percentile(samples, count, 0.5);
		values_out[P99] = statistics_percentile(samples, count, 0.99);
		values_out[DONE] = (double)count;
		values_out[OWN_COST_NS] = (double)(now - begun);
	}
	free(samples);
	return good ? 0 : -EIO;
}

static int own_cost_client_open(const char *place, void **state_out)
{
	struct cost_client *client = calloc(1, sizeof(*client));
	*state_out = client;
	return client && cost_client_open(client, place) ? 0 : -EIO;
}

static int own_cost_client_measure(void *state, uint64_t asked, double values_out[AGENT_VALUES])
{
	return measure_once_each(own_cost_client_once, state, asked, values_out);
}

static void own_cost_client_close(void *state)
{
	cost_client_close(state);
	free(state);
}

static int daemon_open(const char *place, void **state_out)
{
	struct minimal_daemon *daemon = calloc(1, sizeof(*daemon));
	*state_out = daemon;
	return daemon && minimal_daemon_open(daemon, place) ? 0 : -EIO;
}

static int daemon_measure(void *state, uint64_t asked, double values_out[AGENT_VALUES])
{
	const struct minimal_daemon *daemon = state;
	values_out[PROCESS] = daemon->pid;
	return measure_once_each(daemon_once, state, asked, values_out);
}

static void daemon_close(void *state)
{
	minimal_daemon_close(state);
	free(state);
}

static const struct agent_subject client_subject = {own_cost_client_open, own_cost_client_measure,
						    own_cost_client_close};
static const struct agent_subject daemon_subject = {daemon_open, daemon_measure, daemon_close};

enum side { SERVICE, MINIMAL, SIDES };
enum process { CLIENT, ENGINE, PROCESSES };

struct cost {
	struct instant_double made;
	struct private_service *service;
	struct agent agents[SIDES];
	pid_t engines[SIDES]; /* the processes that have the driver */
	char place[GPU_PLACE_BYTES];
	uint64_t counts[MODES];
	double values[SIDES][MODES][2][BENCH_RUNS_MAX];
};

static void cost_end(struct cost *cost)
{
	for (int side = 0; side < SIDES; side++)
		agent_end(&cost->agents[side]);
	cost->service = private_service_free(cost->service);
	instant_double_close(&cost->made);
}

/* Kernels do nothing here. So the test can only verify that each was launched. */
static int ask_side(struct cost *cost, enum side side, unsigned mode,
		    double values_out[AGENT_VALUES])
{
	const pid_t engine = cost->engines[side];
	const int64_t before = engine ? instant_double_launches(&cost->made, engine) : 0;
	int r = agent_measure(&cost->agents[side], cost->counts[mode] << MODE_BITS | mode,
			      values_out);
	const int64_t after = engine ? instant_double_launches(&cost->made, engine) : 0;
	const double wanted = values_out[DONE] * (mode == TRIP ? 1 : COST_KERNELS);
	if (r < 0 || !engine)
		return r;
	if (before < 0 || (double)(after - before) != wanted) {
		bench_complain("%lld kernels were launched instead of %.0f",
			       (long long)(after - before), wanted);
		return -EIO;
	}
	return 0;
}

static int start_sides(struct cost *cost)
{
	struct gpu_place place = {.device = 0};
	double values[AGENT_VALUES] = {0};
	int r = gpu_service(false, &cost->service);
	if (r < 0)
		return r;
	(void)snprintf(place.with, sizeof(place.with), "%s", cost->service->endpoint);
	gpu_place_write(&place, cost->place);
	r = agent_start(&client_subject, cost->place, &cost->agents[SERVICE]);
	if (r == 0)
		r = agent_start(&daemon_subject, cost->place, &cost->agents[MINIMAL]);
	for (unsigned mode = 0; mode < MODES && r == 0; mode++)
		r = ask_side(cost, SERVICE, mode, values);
	for (unsigned mode = 0; mode < MODES && r == 0; mode++)
		r = ask_side(cost, MINIMAL, mode, values);
	cost->engines[MINIMAL] = (pid_t)values[PROCESS];
	cost->engines[SERVICE] = private_service_engine(cost->service, (int64_t)getuid());
	if (r == 0 && (cost->engines[SERVICE] <= 0 || cost->engines[MINIMAL] <= 0))
		r = -ESRCH;
	if (r == 0)
		gpu_settle(cost->service);
	return r;
}

static int measure_runs(const struct bench *bench, struct cost *cost)
{
	int r = 0;
	for (unsigned run = 0; run < bench->runs; run++)
		for (unsigned mode = 0; mode < MODES; mode++)
			for (unsigned i = 0; i < SIDES && r == 0; i++) {
				const enum side side = (i + run) % SIDES;
				double values[AGENT_VALUES] = {0};
				r = ask_side(cost, side, mode, values);
				cost->values[side][mode][P50][run] = values[P50];
				cost->values[side][mode][P99][run] = values[P99];
			}
	return r;
}

/* The time of an iteration beyond that of a usual round trip, divided by its further groups. */
static void further_groups(const struct cost *cost, enum side side, int percentile, unsigned runs,
			   double values_out[BENCH_RUNS_MAX])
{
	for (unsigned run = 0; run < runs; run++)
		values_out[run] = (cost->values[side][ITERATION][percentile][run] -
				   cost->values[side][TRIP][P50][run]) /
				  (GROUPS_OF_ITERATION - 1);
}

static void tell_group(struct bench *bench, const struct cost *cost, int percentile)
{
	double values[SIDES][BENCH_RUNS_MAX];
	struct bench_result result = {.name = percentile == P50 ? "TR10.group.p50"
								: "TR10.group.p99",
				      .unit = "us",
				      .note = "each further group of an iteration"};
	for (int side = 0; side < SIDES; side++)
		further_groups(cost, (enum side)side, percentile, bench->runs, values[side]);
	result.bound = percentile == P50 ? BENCH_VALUE_AT_MOST : BENCH_NO_TARGET;
	result.target = 0.5;
	bench_summarise(values[SERVICE], values[MINIMAL], bench->runs, &result);
	bench_report(bench, &result);
}

static void tell_times(struct bench *bench, const struct cost *cost)
{
	static const char *const notes[MODES] = {"one group with one buffer, until it is complete",
						 "5 kernels over 6 buffers, and a read of 4 B",
						 "the same kernels as a graph, and the read"};
	for (int mode = 0; mode < MODES; mode++)
		for (int percentile = P50; percentile <= P99; percentile++) {
			char name[BENCH_NAME_BYTES];
			(void)snprintf(name, sizeof(name), "TR10.%s.%s", mode_names[mode],
				       percentile == P50 ? "p50" : "p99");
			struct bench_result result = {
				.name = name, .unit = "us", .note = notes[mode]};
			if (mode == TRIP && percentile == P50) {
				result.bound = BENCH_VALUE_AT_MOST;
				result.target = 1.0;
			}
			bench_summarise(cost->values[SERVICE][mode][percentile],
					cost->values[MINIMAL][mode][percentile], bench->runs,
					&result);
			bench_report(bench, &result);
		}
	for (int percentile = P50; percentile <= P99; percentile++)
		tell_group(bench, cost, percentile);
}

/* Counts both processes of a side while it runs that many once more; for each command group. */
static int count_side(struct cost *cost, enum side side, unsigned mode,
		      double values_out[PROCESSES][COUNTERS])
{
	CLEANUP(counters_cleanup)
	struct counters *client = counters_start(cost->agents[side].pid);
	CLEANUP(counters_cleanup) struct counters *engine = counters_start(cost->engines[side]);
	double values[AGENT_VALUES] = {0};
	if (!client || !engine)
		return -ENOMEM;
	int r = ask_side(cost, side, mode, values);
	counters_read(client, values_out[CLIENT]);
	counters_read(engine, values_out[ENGINE]);
	const double groups = values[DONE] * mode_groups[mode];
	for (int process = 0; process < PROCESSES; process++)
		for (int counter = 0; counter < COUNTERS; counter++)
			if (values_out[process][counter] >= 0)
				values_out[process][counter] /= groups;
	return r;
}

static void tell_counter(struct bench *bench, unsigned mode, int process, int counter,
			 const double values[SIDES])
{
	static const char *const processes[PROCESSES] = {"client", "engine"};
	static const struct {
		const char *name, *unit;
		double divisor;
	} counters[COUNTERS] = {
		[COUNTER_INSTRUCTIONS] = {"instructions", "per group", 1},
		[COUNTER_CACHE_MISSES] = {"cache_misses", "per group", 1},
		[COUNTER_PROCESSOR_NS] = {"processor", "us per group", 1000},
		[COUNTER_SWITCHES] = {"switches", "per group", 1},
	};
	char name[BENCH_NAME_BYTES];
	(void)snprintf(name, sizeof(name), "TR10.%s.%s.%s", mode_names[mode], processes[process],
		       counters[counter].name);
	if (values[SERVICE] < 0 || values[MINIMAL] < 0) {
		bench_skip(bench, name, "not measured here: the kernel has no such counter");
		return;
	}
	const double value = values[SERVICE] / counters[counter].divisor,
		     baseline = values[MINIMAL] / counters[counter].divisor;
	struct bench_result result = {.name = name,
				      .unit = counters[counter].unit,
				      .value = value,
				      .baseline = baseline,
				      .ratio = baseline > 0 ? value / baseline : NAN,
				      .spread = NAN,
				      .runs = 1};
	bench_report(bench, &result);
}

static int tell_counters(struct bench *bench, struct cost *cost)
{
	int r = 0;
	for (unsigned mode = 0; mode < MODES && r == 0; mode++) {
		double counted[SIDES][PROCESSES][COUNTERS];
		for (int side = 0; side < SIDES && r == 0; side++)
			r = count_side(cost, (enum side)side, mode, counted[side]);
		for (int process = 0; process < PROCESSES && r == 0; process++)
			for (int counter = 0; counter < COUNTERS; counter++) {
				const double values[SIDES] = {counted[SERVICE][process][counter],
							      counted[MINIMAL][process][counter]};
				tell_counter(bench, mode, process, counter, values);
			}
	}
	return r;
}

enum { CALLS = 5 };
static const struct {
	const char *function, *name;
} calls[CALLS] = {
	{"call cuGraphLaunch", "graph_launches"},
	{"call cuLaunchKernel", "kernel_launches"},
	{"call cuGraphExecKernelNodeSetParams", "kernels_set"},
	{"call cuGraphExecMemsetNodeSetParams", "words_set"},
	{"call cuStreamWriteValue32", "words_written"},
};

static double calls_so_far(const struct cost *cost, int call)
{
	return (double)instant_double_count(&cost->made, cost->engines[SERVICE],
					    calls[call].function);
}

/* Reports how often the engine calls the driver in a round trip, or in an iteration. */
static int tell_mode_calls(struct bench *bench, struct cost *cost, unsigned mode)
{
	double values[AGENT_VALUES] = {0}, before[CALLS];
	for (int i = 0; i < CALLS; i++)
		before[i] = calls_so_far(cost, i);
	int r = ask_side(cost, SERVICE, mode, values);
	for (int i = 0; i < CALLS && r == 0; i++) {
		char name[BENCH_NAME_BYTES];
		(void)snprintf(name, sizeof(name), "TR10.%s.driver.%s", mode_names[mode],
			       calls[i].name);
		const struct bench_result result = {
			.name = name,
			.unit = mode == TRIP ? "per round trip" : "per iteration",
			.value = (calls_so_far(cost, i) - before[i]) / values[DONE],
			.baseline = NAN,
			.ratio = NAN,
			.spread = NAN,
			.runs = 1,
		};
		bench_report(bench, &result);
	}
	return r;
}

static int tell_calls(struct bench *bench, struct cost *cost)
{
	int r = 0;
	for (unsigned mode = 0; mode < MODES && r == 0; mode++)
		r = tell_mode_calls(bench, cost, mode);
	return r;
}

static int measure_own_cost(struct bench *bench, struct cost *cost)
{
	int r = start_sides(cost);
	if (r == 0)
		r = measure_runs(bench, cost);
	if (r == 0)
		tell_times(bench, cost);
	if (r == 0)
		r = tell_counters(bench, cost);
	if (r == 0)
		r = tell_calls(bench, cost);
	const struct own_cost_engine engine = {&cost->made, cost->engines[SERVICE]};
	return r == 0 ? own_cost_several(bench, &client_subject, cost->place,
					 &cost->agents[SERVICE], &engine)
		      : r;
}

int row_own_cost(struct bench *bench)
{
	const char *library = gpu_library();
	struct cost *cost = calloc(1, sizeof(*cost));
	int r = cost ? instant_double_open(&cost->made) : -ENOMEM;
	if (r == -ENOENT) {
		free(cost);
		bench_skip(bench, "TR10", "this build has no double of NVIDIA's driver");
		return 0;
	}
	for (int side = 0; cost && side < SIDES; side++)
		cost->agents[side] = (struct agent)AGENT_INIT;
	if (r == 0) {
		cost->counts[TRIP] = bench->quick ? 50 : 20000;
		cost->counts[ITERATION] = cost->counts[GRAPH] = bench->quick ? 20 : 10000;
		gpu_use_library(cost->made.library);
		r = measure_own_cost(bench, cost);
		gpu_use_library(library);
	}
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	if (cost)
		cost_end(cost);
	free(cost);
	return r;
}
