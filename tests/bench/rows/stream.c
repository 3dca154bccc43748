/* TC2: an in-order stream of empty kernels; only the last one is waited for. */
#include "harness/client.h"
#include "harness/compare.h"
#include "harness/direct.h"
#include "harness/subjects.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>

/* Kernels per second. */
static double rate(uint64_t count, uint64_t start_ns)
{
	return (double)count * 1e9 / (double)(clock_now_ns() - start_ns);
}

static int measure_client_stream(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	uint64_t start = clock_now_ns();
	for (uint64_t i = 0; i < count; i++)
		if (!client_submit(state))
			return -EIO;
	if (!client_wait(state))
		return -EIO;
	values_out[0] = rate(count, start);
	return 0;
}

static int measure_direct_stream(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	uint64_t start = clock_now_ns();
	for (uint64_t i = 0; i < count; i++)
		if (!direct_enqueue(state))
			return -EIO;
	if (!direct_finish(state))
		return -EIO;
	values_out[0] = rate(count, start);
	return 0;
}

static const struct agent_subject client_subject = {subject_client_open, measure_client_stream,
						    subject_client_close};
static const struct agent_subject direct_subject = {subject_direct_open, measure_direct_stream,
						    subject_direct_close};

int row_stream(struct bench *bench)
{
	struct comparison comparison = {.service = &client_subject,
					.direct = &direct_subject,
					.count = bench->quick ? 200 : 100000,
					.warm_up = bench->quick ? 50 : 5000};
	struct bench_result result = {.name = "TC2.rate",
				      .unit = "kernels/s",
				      .bound = BENCH_RATIO_AT_LEAST,
				      .target = 0.9,
				      .note = "one in-order stream, one wait at the end"};
	struct compared *compared = malloc(sizeof(*compared));
	if (!compared)
		return -ENOMEM;
	int r = bench_compare(bench, &comparison, compared);
	if (r == 0) {
		bench_summarise(compared->service[0], compared->direct[0], compared->runs, &result);
		bench_report(bench, &result);
	}
	free(compared);
	return r;
}
