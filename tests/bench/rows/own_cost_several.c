/*
 * TR10 with several clients: the iterations of all of them, and the engine's cost of each command
 * group. The baseline is one client of the same service.
 */
#include "gpu/cost_kernels.h"
#include "harness/counters.h"
#include "rows/own_cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { CLIENTS = 8, GROUPS = COST_KERNELS + 1 };

struct measured {
	double rate; /* iterations/s */
	double groups;
	double engine[COUNTERS];
};

static int own_cost_several_measure_clients(struct agent *const *agents, unsigned count,
					    pid_t engine, uint64_t iterations,
					    struct measured *measured_out)
{
	const uint64_t asked = iterations << OWN_COST_MODE_BITS | OWN_COST_ITERATION;
	CLEANUP(counters_cleanup) struct counters *counters = counters_start(engine);
	unsigned sent = 0;
	int r = counters ? 0 : -ENOMEM;
	*measured_out = (struct measured){.rate = 0};
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
		measured_out->groups += values[OWN_COST_DONE] * GROUPS;
	}
	if (r == 0)
		counters_read(counters, measured_out->engine);
	return r;
}

static void report_rates(struct bench *bench, const double *rates, const double *alone)
{
	struct bench_result result = {.name = "TR10.eight.rate",
				      .unit = "iterations/s",
				      .note = "eight clients together; baseline: one"};
	bench_summarise(rates, alone, bench->runs, &result);
	bench_report(bench, &result);
}

static void report_counter(struct bench *bench, enum counter counter,
			   const struct measured measured[2])
{
	static const struct {
		const char *name, *unit;
		double divisor;
	} counters[COUNTERS] = {
		[COUNTER_INSTRUCTIONS] = {"TR10.eight.engine.instructions", "per group", 1},
		[COUNTER_CACHE_MISSES] = {"TR10.eight.engine.cache_misses", "per group", 1},
		[COUNTER_PROCESSOR_NS] = {"TR10.eight.engine.processor", "us per group", 1000},
		[COUNTER_SWITCHES] = {"TR10.eight.engine.switches", "per group", 1},
	};
	const char *name = counters[counter].name;
	if (measured[0].engine[counter] < 0 || measured[1].engine[counter] < 0) {
		bench_skip(bench, name, "not measured here: the kernel has no such counter");
		return;
	}
	double each[2];
	for (int i = 0; i < 2; i++)
		each[i] = measured[i].engine[counter] / measured[i].groups /
			  counters[counter].divisor;
	bench_report(bench, &(struct bench_result){.name = name,
						   .unit = counters[counter].unit,
						   .value = each[0],
						   .baseline = each[1],
						   .ratio = each[1] > 0 ? each[0] / each[1] : NAN,
						   .spread = NAN,
						   .runs = 1,
						   .note = "eight clients; baseline: one"});
}

static int measure_runs(struct bench *bench, struct agent *const *agents, pid_t engine)
{
	const uint64_t iterations = bench->quick ? 20 : 100000;
	double rates[BENCH_RUNS_MAX], alone[BENCH_RUNS_MAX];
	struct measured last[2];
	int r = 0;
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		r = own_cost_several_measure_clients(agents, CLIENTS, engine, iterations, &last[0]);
		if (r == 0)
			r = own_cost_several_measure_clients(agents, 1, engine, iterations,
							     &last[1]);
		rates[run] = last[0].rate;
		alone[run] = last[1].rate;
	}
	if (r < 0)
		return r;
	report_rates(bench, rates, alone);
	for (int counter = 0; counter < COUNTERS; counter++)
		report_counter(bench, (enum counter)counter, last);
	return 0;
}

int own_cost_several(struct bench *bench, const struct agent_subject *subject, const char *place,
		     struct agent *alone, pid_t engine)
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
	if (r == 0)
		r = own_cost_several_measure_clients(agents, CLIENTS, engine, 20, &warm_up);
	if (r == 0)
		r = measure_runs(bench, agents, engine);
	for (int i = 0; i < CLIENTS - 1; i++)
		agent_end(&others[i]);
	return r;
}
