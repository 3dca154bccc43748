/* TG16: what a trace costs the programs that run meanwhile. */
#include "gpu/client.h"
#include "gpu/compare.h"
#include "gpu/subjects.h"
#include "harness/statistics.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>

enum { WINDOW_MS = 200, WARM_UP_MS = 100, QUICK_MS = 20 | GPU_SUBJECT_QUICK };
enum { TRIPS = 5000, WARM_UP_TRIPS = 500, QUICK_TRIPS = 50 };

/* Microseconds of the median round trip. */
static int gpu_traced_measure_trips(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_client *client = state;
	double *samples = malloc(count * sizeof(*samples));
	int r = samples ? 0 : -ENOMEM;
	for (uint64_t i = 0; i < count && r == 0; i++) {
		uint64_t start = clock_now_ns();
		r = gpu_client_submit(client, client->add, 1, GPU_DATA_WORDS) &&
				    gpu_client_wait(client)
			    ? 0
			    : -EIO;
		samples[i] = (double)(clock_now_ns() - start) / 1000;
	}
	if (r == 0) {
		statistics_sort(samples, count);
		values_out[0] = statistics_percentile(samples, count, 0.5);
		r = gpu_client_verify(client) ? 0 : -EIO;
	}
	free(samples);
	return r;
}

/* One kind of work, on a service without a trace, with one, and with exact times. */
struct traced_work {
	struct agent_subject client;
	enum gpu_sum sum;
	uint64_t count, warm_up, quick;
	const char *names[2], *unit, *notes[2];
};

static const struct traced_work works[] = {
	{{subject_gpu_client_open, gpu_traced_measure_trips, subject_gpu_client_close},
	 GPU_SUM_FIRST,
	 TRIPS,
	 WARM_UP_TRIPS,
	 QUICK_TRIPS,
	 {"TG16.trip", "TG16.exact.trip"},
	 "us",
	 {"a small kernel, median; baseline: no trace", "exact times; baseline: no trace"}},
	{{subject_gpu_client_open, subject_gpu_client_add, subject_gpu_client_close},
	 GPU_SUM_RATE,
	 WINDOW_MS,
	 WARM_UP_MS,
	 QUICK_MS,
	 {"TG16.rate", "TG16.exact.rate"},
	 "kernels/s",
	 {"small kernels of one client; baseline: no trace", "exact times; baseline: no trace"}},
	{{subject_gpu_client_open, subject_gpu_client_spin, subject_gpu_client_close},
	 GPU_SUM_RATE,
	 WINDOW_MS,
	 WARM_UP_MS,
	 QUICK_MS,
	 {"TG16.spin", "TG16.exact.spin"},
	 "kernels/s",
	 {"kernels of 20 us of one client; baseline: no trace", "exact times; baseline: no trace"}},
};

static int measure_work(struct bench *bench, const struct traced_work *work,
			struct gpu_compared *compared)
{
	static const enum gpu_side sides[2] = {GPU_SIDE_TRACED, GPU_SIDE_EXACT};
	const struct gpu_comparison comparison = {
		.client = &work->client,
		.direct = &work->client,
		.agents = 1,
		.sum = work->sum,
		.count = bench->quick ? work->quick : work->count,
		.warm_up = bench->quick ? work->quick : work->warm_up,
		.sides = 1u << GPU_SIDE_SERVICE | GPU_SIDES_OF_TRACES};
	int r = gpu_compare(bench, &comparison, compared);
	for (unsigned i = 0; i < 2 && r == 0; i++)
		gpu_report(bench, compared, 0, sides[i], GPU_SIDE_SERVICE,
			   (struct bench_result){.name = work->names[i],
						 .unit = work->unit,
						 .bound = BENCH_NO_TARGET,
						 .note = work->notes[i]});
	return r;
}

int row_gpu_traced(struct bench *bench)
{
	if (!gpu_row_possible(bench, "TG16", 1))
		return 0;
	struct gpu_compared *compared = malloc(sizeof(*compared));
	int r = compared ? 0 : -ENOMEM;
	for (unsigned i = 0; i < sizeof(works) / sizeof(*works) && r == 0; i++)
		r = measure_work(bench, &works[i], compared);
	free(compared);
	return r;
}
