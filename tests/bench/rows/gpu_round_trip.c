/* TG1: a small command group with real arguments, submitted and waited for, against a launch and a
 * synchronisation. */
#include "harness/pictures.h"
#include "harness/statistics.h"
#include "gpu/client.h"
#include "gpu/compare.h"
#include "gpu/direct.h"
#include "gpu/subjects.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>

enum { P50, P99 };

/* For the plot, of all runs but the warm-up. */
static struct bench_samples *client_samples, *direct_samples;

static bool gpu_round_trip_client_once(void *state)
{
	struct gpu_client *client = state;
	return gpu_client_submit(client, client->add, 1, GPU_DATA_WORDS) && gpu_client_wait(client);
}

static bool gpu_round_trip_direct_once(void *state)
{
	struct gpu_direct *direct = state;
	return gpu_direct_launch(direct, direct->add, 1, GPU_DATA_WORDS) && gpu_direct_wait(direct);
}

/* Microseconds. */
static int gpu_round_trip_measure_trips(bool (*once)(void *state), void *state, uint64_t count,
					struct bench_samples *kept, double values_out[AGENT_VALUES])
{
	double *samples = malloc(count * sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	int r = 0;
	for (uint64_t i = 0; i < count && r == 0; i++) {
		uint64_t start = clock_now_ns();
		r = once(state) ? 0 : -EIO;
		samples[i] = (double)(clock_now_ns() - start) / 1000;
	}
	statistics_sort(samples, count);
	values_out[P50] = statistics_percentile(samples, count, 0.5);
	values_out[P99] = statistics_percentile(samples, count, 0.99);
	bench_samples_keep(kept, samples, r == 0 ? count : 0);
	free(samples);
	return r;
}

static int gpu_round_trip_measure_client_trips(void *state, uint64_t count,
					       double values_out[AGENT_VALUES])
{
	int r = gpu_round_trip_measure_trips(gpu_round_trip_client_once, state, count,
					     client_samples, values_out);
	return r == 0 && !gpu_client_verify(state) ? -EIO : r;
}

static int gpu_round_trip_measure_direct_trips(void *state, uint64_t count,
					       double values_out[AGENT_VALUES])
{
	int r = gpu_round_trip_measure_trips(gpu_round_trip_direct_once, state, count,
					     direct_samples, values_out);
	return r == 0 && !gpu_direct_verify(state) ? -EIO : r;
}

static const struct agent_subject client = {
	subject_gpu_client_open, gpu_round_trip_measure_client_trips, subject_gpu_client_close};
static const struct agent_subject direct = {
	subject_gpu_direct_open, gpu_round_trip_measure_direct_trips, subject_gpu_direct_close};

int row_gpu_round_trip(struct bench *bench)
{
	const struct gpu_comparison comparison = {
		.client = &client,
		.direct = &direct,
		.agents = 1,
		.sum = GPU_SUM_FIRST,
		.sides = 1u << GPU_SIDE_SERVICE | 1u << GPU_SIDE_DIRECT,
		.count = bench->quick ? 50 : 20000,
		.warm_up = bench->quick ? 10 : 2000,
	};
	if (!gpu_row_possible(bench, "TG1", 1))
		return 0;
	struct gpu_compared *compared = malloc(sizeof(*compared));
	client_samples = bench_samples_create(bench, comparison.warm_up, comparison.count);
	direct_samples = bench_samples_create(bench, comparison.warm_up, comparison.count);
	int r = compared ? gpu_compare(bench, &comparison, compared) : -ENOMEM;
	if (r == 0) {
		gpu_report(bench, compared, P50, GPU_SIDE_SERVICE, GPU_SIDE_DIRECT,
			   (struct bench_result){
				   .name = "TG1.p50",
				   .unit = "us",
				   .bound = BENCH_RATIO_AT_MOST,
				   .target = 0.80,
				   .note = "baseline: cuLaunchKernel, cuStreamSynchronize"});
		gpu_report(bench, compared, P99, GPU_SIDE_SERVICE, GPU_SIDE_DIRECT,
			   (struct bench_result){.name = "TG1.p99",
						 .unit = "us",
						 .bound = BENCH_RATIO_AT_MOST,
						 .target = 0.70});
		r = bench_picture_samples(bench, "TG1", "round trip of a small kernel on a gpu",
					  client_samples, direct_samples);
	}
	client_samples = bench_samples_free(client_samples);
	direct_samples = bench_samples_free(direct_samples);
	free(compared);
	return r;
}
