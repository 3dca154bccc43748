/*
 * TR5: several solvers at one time, each a process. They are clients of the service, or processes
 * that have the device by themselves, under MPS and in time slices. Without a GPU, beside plain
 * OpenCL.
 */
#include "gpu/compare.h"
#include "real/measure.h"
#include "real/row.h"

#include <errno.h>
#include <linux/limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct crowd {
	const char *name;
	const struct real_program *program;
	double target_mps; /* the rate, by that of processes under MPS */
};

static const double target_processes = 25;

static void report_crowd(struct bench *bench, const struct gpu_compared *compared,
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
		.client = &real_rates[REAL_SERVICE_GPU],
		.direct = &real_rates[REAL_CUDA],
		.sides = 1u << GPU_SIDE_SERVICE | 1u << GPU_SIDE_DIRECT | 1u << GPU_SIDE_MPS,
		.agents = clients,
		.count = bench->quick ? 10 : 500,
		.warm_up = bench->quick ? 1 : 100,
		.sum = GPU_SUM_RATE};
	struct gpu_compared *compared = malloc(sizeof(*compared));
	real_choose(crowd->program, bench->quick ? REAL_TINY : REAL_GPU);
	int r = compared ? gpu_compare(bench, &comparison, compared) : -ENOMEM;
	if (r == 0)
		report_crowd(bench, compared, crowd, clients);
	free(compared);
	return r;
}

/* Without a GPU: clients of a service beside as many processes with plain OpenCL. */
enum side { SERVICE, PLAIN, SIDES };
enum { CROWD_MAX = 8 };

struct processor_crowd {
	struct private_service *service;
	struct agent agents[SIDES][CROWD_MAX];
};

static void processor_crowd_end(struct processor_crowd *crowd)
{
	for (int side = 0; side < SIDES; side++)
		for (int i = 0; i < CROWD_MAX; i++)
			agent_end(&crowd->agents[side][i]);
	crowd->service = private_service_free(crowd->service);
}

static int start_processor_crowd(struct processor_crowd *crowd, unsigned clients)
{
	char cache[PATH_MAX];
	int r = bench_service(&crowd->service);
	if (r == 0)
		r = bench_direct_cache(cache, sizeof(cache));
	for (unsigned i = 0; i < clients && r == 0; i++) {
		r = agent_start(&real_rates[REAL_SERVICE], crowd->service->endpoint,
				&crowd->agents[SERVICE][i]);
		if (r == 0)
			r = agent_start(&real_rates[REAL_OPENCL], cache, &crowd->agents[PLAIN][i]);
	}
	return r;
}

/* Iterations a second of all, from the first one's start to the last one's end. */
static int measure_crowd(struct agent *agents, unsigned clients, uint64_t milliseconds,
			 double *rate_out)
{
	double answer[AGENT_VALUES], count = 0, start = INFINITY, end = 0;
	int r = 0;
	for (unsigned i = 0; i < clients && r == 0; i++)
		r = agent_request(&agents[i], milliseconds);
	for (unsigned i = 0; i < clients && r == 0; i++) {
		r = agent_answer(&agents[i], answer);
		count += answer[GPU_ANSWER_COUNT];
		start = fmin(start, answer[GPU_ANSWER_START]);
		end = fmax(end, answer[GPU_ANSWER_END]);
	}
	*rate_out = count * 1e9 / (end - start);
	return r;
}

static int run_processor_crowd(struct bench *bench, const struct crowd *wanted, unsigned clients)
{
	CLEANUP(processor_crowd_end) struct processor_crowd crowd = {.service = NULL};
	double rates[SIDES][BENCH_RUNS_MAX], ignored = 0;
	char name[BENCH_NAME_BYTES];
	for (int side = 0; side < SIDES; side++)
		for (int i = 0; i < CROWD_MAX; i++)
			crowd.agents[side][i] = (struct agent)AGENT_INIT;
	real_choose(wanted->program, bench->quick ? REAL_TINY : REAL_PROCESSOR);
	int r = start_processor_crowd(&crowd, clients);
	for (unsigned side = 0; side < SIDES && r == 0; side++)
		r = measure_crowd(crowd.agents[side], clients, 1, &ignored);
	for (unsigned run = 0; run < bench->runs; run++)
		for (unsigned i = 0; i < SIDES && r == 0; i++) {
			const unsigned side = (run + i) % SIDES;
			r = measure_crowd(crowd.agents[side], clients, bench->quick ? 5 : 500,
					  &rates[side][run]);
		}
	(void)snprintf(name, sizeof(name), "TR5.cpu.%s%u.processes", wanted->name, clients);
	struct bench_result result = {
		.name = name, .unit = "iterations/s", .note = "of all clients"};
	if (r == 0) {
		bench_summarise(rates[SERVICE], rates[PLAIN], bench->runs, &result);
		bench_report(bench, &result);
	}
	return r;
}

int row_clients(struct bench *bench)
{
	static const struct crowd crowds[] = {{"launches", &real_solver_launches, 1.5},
					      {"graph", &real_solver_graph, 1.0}};
	static const unsigned clients[] = {8, 32};
	const bool is_gpu = strcmp(bench->device, "gpu") == 0;
	int r = 0;
	if (!real_row_possible(bench, "TR5"))
		return 0;
	for (unsigned i = 0; i < 2 && r == 0; i++) {
		if (!is_gpu)
			r = run_processor_crowd(bench, &crowds[i], bench->quick ? 2 : CROWD_MAX);
		for (unsigned j = 0; is_gpu && j < (bench->quick ? 1u : 2u) && r == 0; j++)
			r = run_crowd(bench, &crowds[i], bench->quick ? 2 : clients[j]);
	}
	return r;
}
