/*
 * TR10 with several clients: the iterations of all of them, and the engine's cost of each command
 * group. The baseline is one client of the same service.
 */
#include "gpu/cost_kernels.h"
#include "gpu/instant_double.h"
#include "harness/counters.h"
#include "rows/own_cost.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CLIENTS = 8, CALLS = 5 };

static const struct {
	enum own_cost_mode mode;
	const char *name, *note;
	unsigned groups; /* of an iteration */
} kinds[] = {
	{OWN_COST_ITERATION, "TR10.eight", "eight clients; baseline: one", COST_KERNELS + 1},
	{OWN_COST_GRAPH, "TR10.eight.graph", "eight clients with graphs; baseline: one", 2},
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static const struct {
	const char *function, *name;
} calls[CALLS] = {
	{"call cuGraphLaunch", "graph_launches"},
	{"call cuGraphExecKernelNodeSetParams", "kernels_set"},
	{"call cuGraphExecMemsetNodeSetParams", "words_set"},
	{"call cuStreamWriteValue32", "words_written"},
	{"call cuStreamWaitEvent", "waits"},
};

struct measured {
	double rate; /* iterations/s */
	double iterations;
	double engine[COUNTERS];
	double calls[CALLS];
};

/* Adds the numbers of calls so far, times `factor`. */
static void add_calls(const struct own_cost_engine *engine, double factor, double calls_out[CALLS])
{
	for (int i = 0; i < CALLS; i++)
		calls_out[i] += factor * (double)instant_double_count(engine->made, engine->pid,
								      calls[i].function);
}

static int own_cost_several_measure_clients(struct agent *const *agents, unsigned count,
					    const struct own_cost_engine *engine,
					    enum own_cost_mode mode, uint64_t iterations,
					    struct measured *measured_out)
{
	const uint64_t asked = iterations << OWN_COST_MODE_BITS | mode;
	CLEANUP(counters_cleanup) struct counters *counters = counters_start(engine->pid);
	unsigned sent = 0;
	int r = counters ? 0 : -ENOMEM;
	*measured_out = (struct measured){.rate = 0};
	add_calls(engine, -1, measured_out->calls);
	while (sent < count && r == 0) {
		r = agent_request(agents[sent], asked);
		sent += r == 0;
	}
	for (unsigned i = 0; i < sent; i++) {
		double values[AGENT_VALUES] = {0};
		const int answer = agent_answer(agents[i], values);
		r = r < 0 ? r : answer;
		if (answer < 0 || values[OWN_COST_NS] <= 0)
			continue;
		measured_out->rate += values[OWN_COST_DONE] * 1e9 / values[OWN_COST_NS];
		measured_out->iterations += values[OWN_COST_DONE];
	}
	if (r == 0)
		counters_read(counters, measured_out->engine);
	add_calls(engine, 1, measured_out->calls);
	return r;
}

static void report_rates(struct bench *bench, int kind, const double *rates, const double *alone)
{
	char name[BENCH_NAME_BYTES];
	struct bench_result result = {
		.name = name, .unit = "iterations/s", .note = kinds[kind].note};
	(void)snprintf(name, sizeof(name), "%s.rate", kinds[kind].name);
	bench_summarise(rates, alone, bench->runs, &result);
	bench_report(bench, &result);
}

static void report_value(struct bench *bench, int kind, const char *what, const char *unit,
			 const double each[2])
{
	char name[BENCH_NAME_BYTES];
	(void)snprintf(name, sizeof(name), "%s.%s", kinds[kind].name, what);
	bench_report(bench, &(struct bench_result){.name = name,
						   .unit = unit,
						   .value = each[0],
						   .baseline = each[1],
						   .ratio = each[1] > 0 ? each[0] / each[1] : NAN,
						   .spread = NAN,
						   .runs = 1,
						   .note = kinds[kind].note});
}

static void report_counter(struct bench *bench, int kind, enum counter counter,
			   const struct measured measured[2])
{
	static const struct {
		const char *name, *unit;
		double divisor;
	} counters[COUNTERS] = {
		[COUNTER_INSTRUCTIONS] = {"engine.instructions", "per group", 1},
		[COUNTER_CACHE_MISSES] = {"engine.cache_misses", "per group", 1},
		[COUNTER_PROCESSOR_NS] = {"engine.processor", "us per group", 1000},
		[COUNTER_SWITCHES] = {"engine.switches", "per group", 1},
	};
	char name[BENCH_NAME_BYTES];
	double each[2];
	(void)snprintf(name, sizeof(name), "%s.%s", kinds[kind].name, counters[counter].name);
	if (measured[0].engine[counter] < 0 || measured[1].engine[counter] < 0) {
		bench_skip(bench, name, "not measured here: the kernel has no such counter");
		return;
	}
	for (int i = 0; i < 2; i++)
		each[i] = measured[i].engine[counter] /
			  (measured[i].iterations * kinds[kind].groups) / counters[counter].divisor;
	report_value(bench, kind, counters[counter].name, counters[counter].unit, each);
}

static void report_calls(struct bench *bench, int kind, const struct measured measured[2])
{
	for (int call = 0; call < CALLS; call++) {
		char what[BENCH_NAME_BYTES];
		double each[2];
		for (int i = 0; i < 2; i++)
			each[i] = measured[i].calls[call] / measured[i].iterations;
		(void)snprintf(what, sizeof(what), "driver.%s", calls[call].name);
		report_value(bench, kind, what, "per iteration", each);
	}
}

static int measure_runs(struct bench *bench, int kind, struct agent *const *agents,
			const struct own_cost_engine *engine)
{
	const uint64_t iterations = bench->quick ? 20 : 100000;
	double rates[BENCH_RUNS_MAX], alone[BENCH_RUNS_MAX];
	struct measured last[2];
	int r = 0;
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		for (int i = 0; i < 2 && r == 0; i++)
			r = own_cost_several_measure_clients(agents, i == 0 ? CLIENTS : 1, engine,
							     kinds[kind].mode, iterations,
							     &last[i]);
		rates[run] = last[0].rate;
		alone[run] = last[1].rate;
	}
	if (r < 0)
		return r;
	report_rates(bench, kind, rates, alone);
	for (int counter = 0; counter < COUNTERS; counter++)
		report_counter(bench, kind, (enum counter)counter, last);
	report_calls(bench, kind, last);
	return 0;
}

int own_cost_several(struct bench *bench, const struct agent_subject *subject, const char *place,
		     struct agent *alone, const struct own_cost_engine *engine)
{
	struct agent others[CLIENTS - 1], *agents[CLIENTS] = {alone};
	struct measured warm_up;
	int r = 0;
	for (int i = 0; i < CLIENTS - 1; i++) {
		others[i] = (struct agent)AGENT_INIT;
		agents[i + 1] = &others[i];
	}
	for (int i = 0; i < CLIENTS - 1 && r == 0; i++)
		r = agent_start(subject, place, &others[i]);
	for (int kind = 0; kind < KINDS && r == 0; kind++) {
		r = own_cost_several_measure_clients(agents, CLIENTS, engine, kinds[kind].mode, 20,
						     &warm_up);
		if (r == 0)
			r = measure_runs(bench, kind, agents, engine);
	}
	for (int i = 0; i < CLIENTS - 1; i++)
		agent_end(&others[i]);
	return r;
}
