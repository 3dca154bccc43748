/* TG2, TG3, TG4: how many kernels a GPU runs for one client, and for eight. */
#include "gpu/compare.h"
#include "gpu/subjects.h"

#include <errno.h>
#include <stdlib.h>

enum { CROWD = 8, WINDOW_MS = 400, WARM_UP_MS = 100, QUICK_MS = 20 | GPU_SUBJECT_QUICK };

static const struct agent_subject client_add = {subject_gpu_client_open, subject_gpu_client_add,
						subject_gpu_client_close};
static const struct agent_subject direct_add = {subject_gpu_direct_open, subject_gpu_direct_add,
						subject_gpu_direct_close};
static const struct agent_subject client_spin = {subject_gpu_client_open, subject_gpu_client_spin,
						 subject_gpu_client_close};
static const struct agent_subject direct_spin = {subject_gpu_direct_open, subject_gpu_direct_spin,
						 subject_gpu_direct_close};

/* One result of a row: a side, its baseline, and the target. */
struct rate_row {
	const char *name;
	enum gpu_side side, baseline;
	enum bench_bound bound;
	double target;
	const char *note;
};

static int gpu_rate_measure_rate(struct bench *bench, const char *row,
				 struct gpu_comparison *comparison, const struct rate_row *rate_row,
				 unsigned count)
{
	if (!gpu_row_possible(bench, row, 1))
		return 0;
	struct gpu_compared *compared = malloc(sizeof(*compared));
	comparison->sum = GPU_SUM_RATE;
	comparison->count = bench->quick ? QUICK_MS : WINDOW_MS;
	comparison->warm_up = bench->quick ? QUICK_MS : WARM_UP_MS;
	int r = compared ? gpu_compare(bench, comparison, compared) : -ENOMEM;
	for (unsigned i = 0; i < count && r == 0; i++)
		gpu_report(bench, compared, 0, rate_row[i].side, rate_row[i].baseline,
			   (struct bench_result){.name = rate_row[i].name,
						 .unit = "kernels/s",
						 .bound = rate_row[i].bound,
						 .target = rate_row[i].target,
						 .note = rate_row[i].note});
	free(compared);
	return r;
}

int row_gpu_stream(struct bench *bench)
{
	static const struct rate_row rate_row[] = {
		{"TG2.rate", GPU_SIDE_SERVICE, GPU_SIDE_DIRECT, BENCH_RATIO_AT_LEAST, 4,
		 "one client; baseline: one process"},
	};
	struct gpu_comparison comparison = {.client = &client_add,
					    .direct = &direct_add,
					    .agents = 1,
					    .sides =
						    1u << GPU_SIDE_SERVICE | 1u << GPU_SIDE_DIRECT};
	return gpu_rate_measure_rate(bench, "TG2", &comparison, rate_row, 1);
}

int row_gpu_small(struct bench *bench)
{
	static const struct rate_row rate_row[] = {
		{"TG3.mps", GPU_SIDE_SERVICE, GPU_SIDE_MPS, BENCH_RATIO_AT_LEAST, 2.5,
		 "eight clients; baseline: eight processes under MPS"},
		{"TG3.processes", GPU_SIDE_SERVICE, GPU_SIDE_DIRECT, BENCH_NO_TARGET, 0,
		 "baseline: eight processes without MPS"},
		{"TG3.two_users", GPU_SIDE_TWO_USERS, GPU_SIDE_SERVICE, BENCH_NO_TARGET, 0,
		 "two users with four clients each; baseline: eight clients of one user"},
		{"TG3.mps_users", GPU_SIDE_MPS_USERS, GPU_SIDE_SERVICE, BENCH_RATIO_AT_LEAST, 0.9,
		 "the same, their engines share an MPS server"},
	};
	struct gpu_comparison comparison = {.client = &client_add,
					    .direct = &direct_add,
					    .agents = CROWD,
					    .sides = GPU_SIDES_WAYS};
	return gpu_rate_measure_rate(bench, "TG3", &comparison, rate_row, 4);
}

int row_gpu_spin(struct bench *bench)
{
	static const struct rate_row rate_row[] = {
		{"TG4.mps", GPU_SIDE_SERVICE, GPU_SIDE_MPS, BENCH_RATIO_AT_LEAST, 1.0,
		 "eight clients; baseline: eight processes under MPS"},
		{"TG4.processes", GPU_SIDE_SERVICE, GPU_SIDE_DIRECT, BENCH_RATIO_AT_LEAST, 7.5,
		 "baseline: eight processes without MPS"},
		{"TG4.two_users", GPU_SIDE_TWO_USERS, GPU_SIDE_SERVICE, BENCH_NO_TARGET, 0,
		 "two users with four clients each; baseline: eight clients of one user"},
		{"TG4.mps_users", GPU_SIDE_MPS_USERS, GPU_SIDE_SERVICE, BENCH_RATIO_AT_LEAST, 0.9,
		 "the same, their engines share an MPS server"},
	};
	struct gpu_comparison comparison = {.client = &client_spin,
					    .direct = &direct_spin,
					    .agents = CROWD,
					    .sides = GPU_SIDES_WAYS};
	return gpu_rate_measure_rate(bench, "TG4", &comparison, rate_row, 4);
}
