/* TC1: submission of an empty kernel and the wait for it, compared with enqueue and clFinish. */
#include "harness/client.h"
#include "harness/compare.h"
#include "harness/direct.h"
#include "harness/pictures.h"
#include "harness/statistics.h"
#include "harness/subjects.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>

enum { P50, P99 };

/* For the plot, of all runs but the warm-up. */
static struct bench_samples *client_samples, *direct_samples;

static bool bench_round_trip_client_once(void *state)
{
	return client_submit(state) && client_wait(state);
}

static bool bench_round_trip_direct_once(void *state)
{
	return direct_enqueue(state) && direct_finish(state);
}

/* Microseconds. */
static int bench_round_trip_measure_trips(bool (*once)(void *state), void *state, uint64_t count,
					  struct bench_samples *kept,
					  double values_out[AGENT_VALUES])
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

static int bench_round_trip_measure_client_trips(void *state, uint64_t count,
						 double values_out[AGENT_VALUES])
{
	return bench_round_trip_measure_trips(bench_round_trip_client_once, state, count,
					      client_samples, values_out);
}

static int bench_round_trip_measure_direct_trips(void *state, uint64_t count,
						 double values_out[AGENT_VALUES])
{
	return bench_round_trip_measure_trips(bench_round_trip_direct_once, state, count,
					      direct_samples, values_out);
}

static const struct agent_subject client_subject = {
	subject_client_open, bench_round_trip_measure_client_trips, subject_client_close};
static const struct agent_subject direct_subject = {
	subject_direct_open, bench_round_trip_measure_direct_trips, subject_direct_close};

static void report_round_trip(struct bench *bench, const struct compared *compared, int value,
			      const char *name, const char *note)
{
	struct bench_result result = {.name = name, .unit = "us", .target = 1.25, .note = note};
	/* The target is for the median; the tail is reported beside it. */
	result.bound = value == P50 ? BENCH_RATIO_AT_MOST : BENCH_NO_TARGET;
	bench_summarise(compared->service[value], compared->direct[value], compared->runs, &result);
	bench_report(bench, &result);
}

static int bench_round_trip_run_variant(struct bench *bench, const char *names[2],
					const char *where, const char *note)
{
	struct comparison comparison = {.service = &client_subject,
					.direct = &direct_subject,
					.count = bench->quick ? 50 : 20000,
					.warm_up = bench->quick ? 10 : 2000};
	struct compared *compared = malloc(sizeof(*compared));
	if (!compared)
		return -ENOMEM;
	client_samples = bench_samples_create(bench, comparison.warm_up, comparison.count);
	direct_samples = bench_samples_create(bench, comparison.warm_up, comparison.count);
	int r = bench_compare(bench, &comparison, compared);
	for (int value = P50; value <= P99 && r == 0; value++)
		report_round_trip(bench, compared, value, names[value], note);
	if (r == 0)
		r = bench_picture_samples(bench, where, "round trip of an empty kernel",
					  client_samples, direct_samples);
	client_samples = bench_samples_free(client_samples);
	direct_samples = bench_samples_free(direct_samples);
	free(compared);
	return r;
}

int row_round_trip(struct bench *bench)
{
	const char *pinned[] = {"TC1.pinned.p50", "TC1.pinned.p99"};
	const char *unpinned[] = {"TC1.unpinned.p50", "TC1.unpinned.p99"};
	int r = bench_pin();
	if (r == 0)
		r = bench_round_trip_run_variant(bench, pinned, "TC1.pinned",
						 "everything on one processor");
	bench_unpin();
	return r == 0 ? bench_round_trip_run_variant(bench, unpinned, "TC1.unpinned",
						     "all processors")
		      : r;
}
