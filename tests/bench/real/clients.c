/*
 * TR5: several solvers at one time, each in a process. They are clients of the service, or
 * processes that use the device directly, under MPS and in time slices. Without a GPU they are
 * compared with plain OpenCL.
 */
#include "gpu/compare.h"
#include "real/crowd.h"
#include "real/measure.h"
#include "real/row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct crowd {
	const char *name;
	const struct real_program *program;
	double target_mps; /* the rate relative to that of processes under MPS */
};

/* Iterations of each client until the service has learnt the solver: about a thousand with eight.
 */
enum { WARM_UP = 1500 };

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
		.warm_up = bench->quick ? 1 : WARM_UP,
		.sum = GPU_SUM_RATE,
		.is_apart = true};
	struct gpu_compared *compared = malloc(sizeof(*compared));
	real_choose(crowd->program, bench->quick ? REAL_TINY : REAL_GPU);
	int r = compared ? gpu_compare(bench, &comparison, compared) : -ENOMEM;
	if (r == 0)
		report_crowd(bench, compared, crowd, clients);
	free(compared);
	return r;
}

static int run_processor_crowd(struct bench *bench, const struct crowd *wanted, unsigned clients)
{
	const struct crowd_comparison comparison = {.service = &real_rates[REAL_SERVICE],
						    .plain = &real_rates[REAL_OPENCL],
						    .clients = clients,
						    .parts = 1,
						    .count = bench->quick ? 5 : 500,
						    .warm_up = 1};
	struct crowd_rates rates;
	char name[BENCH_NAME_BYTES];
	real_choose(wanted->program, bench->quick ? REAL_TINY : REAL_PROCESSOR);
	int r = crowd_compare(bench, &comparison, &rates);
	(void)snprintf(name, sizeof(name), "TR5.cpu.%s%u.processes", wanted->name, clients);
	struct bench_result result = {
		.name = name, .unit = "iterations/s", .note = "of all clients"};
	if (r == 0) {
		bench_summarise(rates.rates[CROWD_SERVICE], rates.rates[CROWD_PLAIN], bench->runs,
				&result);
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
