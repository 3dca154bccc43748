/*
 * TC1.stages and TC2.stages: the parts of a command group's time, from time stamps that library and
 * engine take at each hand-over (shared/stage_clock.h). TG1.stages and TG2.stages: the same on a
 * GPU. Only in a build that has them.
 */
#include "harness/bench.h"

#include "stage_clock.h"

#ifndef SYCLD_STAGES

int row_stages(struct bench *bench)
{
	bench_skip(bench, "TC1.stages",
		   "this build has no time stamps inside: configure one with -DSYCLD_STAGES=ON");
	return 0;
}

int row_gpu_stages(struct bench *bench)
{
	bench_skip(bench, "TG1.stages",
		   "this build has no time stamps inside: configure one with -DSYCLD_STAGES=ON");
	return 0;
}

#else

#include "harness/agent.h"
#include "harness/client.h"
#include "harness/statistics.h"
#include "harness/subjects.h"
#include "harness/wrapped.h"
#include "gpu/client.h"
#include "gpu/compare.h"
#include "gpu/place.h"
#include "gpu/subjects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "SYCLD_STAGES_FILE"

/* One part of the path: its two stamps, and what happens between them. */
static const struct part {
	const char *name;
	enum stage from, to;
	const char *note;
} parts[] = {
	{"marshal", STAGE_BEGUN, STAGE_WRITTEN, "client: handler, checks, record"},
	{"bell", STAGE_WRITTEN, STAGE_RUNG, "client: waking the engine if it sleeps; within ring"},
	{"ring", STAGE_WRITTEN, STAGE_TAKEN, "until the front thread has the record"},
	{"decode", STAGE_TAKEN, STAGE_DECODED, "front thread: shape, objects, checks"},
	{"dependency", STAGE_DECODED, STAGE_ORDERED, "front thread: task, order, lane"},
	{"handover", STAGE_ORDERED, STAGE_ARRIVED, "until the device's thread has it"},
	{"launch", STAGE_ARRIVED, STAGE_LAUNCHED, "device thread: the vendor's enqueue"},
	{"device", STAGE_LAUNCHED, STAGE_COMPLETED, "the vendor's flush and threads, the kernel"},
	{"completion", STAGE_COMPLETED, STAGE_REPORTED, "until the front thread writes the slot"},
	{"wake", STAGE_REPORTED, STAGE_RETURNED, "until the client's wait has returned"},
	{"whole", STAGE_BEGUN, STAGE_RETURNED, "all of it, with the stamps"},
};

enum {
	PARTS = sizeof(parts) / sizeof(*parts),
	VALUES = 2 * PARTS,
	STAMP = VALUES,
	STAMPS_TIMED = 1000
};
_Static_assert((int)STAMP < (int)AGENT_VALUES, "an answer holds them all");

/* In a stream only the end of each group is observed: the parts after the slot do not belong to
 * it. */
static bool is_of_stream(const struct part *part)
{
	return part->to != STAGE_RETURNED;
}

/* The submitted kernel: an empty one on the processor, or a small one on a GPU. */
struct kind {
	int (*open)(const char *place, void **client_out);
	void (*close)(void *client);
	bool (*submit)(void *client), (*wait)(void *client);
	uint64_t groups; /* that opening has submitted */
};

static bool cpu_submit(void *client)
{
	return client_submit(client);
}

static bool cpu_wait(void *client)
{
	return client_wait(client);
}

static bool gpu_submit(void *opened)
{
	struct gpu_client *client = opened;
	return gpu_client_submit(client, client->add, 1, GPU_DATA_WORDS);
}

static bool gpu_wait(void *client)
{
	return gpu_client_wait(client);
}

static const struct kind on_cpu = {subject_client_open, subject_client_close, cpu_submit, cpu_wait,
				   0};
static const struct kind on_gpu = {subject_gpu_client_open, subject_gpu_client_close, gpu_submit,
				   gpu_wait, 1};

struct state {
	const struct kind *kind;
	void *client;
	uint64_t groups; /* submitted so far, which is the last one's number */
	double samples[STAGE_GROUPS];
};

static int open_state(const struct kind *kind, const char *place, void **state_out)
{
	struct state *state = calloc(1, sizeof(*state));
	if (!state)
		return -ENOMEM;
	*state_out = state;
	state->kind = kind;
	state->groups = kind->groups;
	int r = kind->open(place, &state->client);
	return r == 0 && !stage_times() ? -ENOENT : r;
}

static int open_on_cpu(const char *endpoint, void **state_out)
{
	return open_state(&on_cpu, endpoint, state_out);
}

static int open_on_gpu(const char *place, void **state_out)
{
	return open_state(&on_gpu, place, state_out);
}

static void close_state(void *opened)
{
	struct state *state = opened;
	if (state->client)
		state->kind->close(state->client);
	free(state);
}

/* Groups that lack a stamp are left out: the first two, whose shape was not known yet.
 * Microseconds. */
static size_t collect(struct state *state, const struct part *part, uint64_t first, uint64_t last)
{
	const struct stage_times *times = stage_times();
	size_t count = 0;
	for (uint64_t group = first; group <= last; group++) {
		uint64_t from = times->at_ns[part->from][group % STAGE_GROUPS];
		uint64_t to = times->at_ns[part->to][group % STAGE_GROUPS];
		if (from && to)
			state->samples[count++] = ((double)to - (double)from) / 1000;
	}
	return count;
}

/* The cost of one stamp, which is in every part. Microseconds; group 0 does not exist. */
static double stamp_cost(void)
{
	uint64_t start = clock_now_ns();
	for (int i = 0; i < STAMPS_TIMED; i++)
		STAGE_MARK(0, STAGE_BEGUN);
	return (double)(clock_now_ns() - start) / 1000 / STAMPS_TIMED;
}

static int evaluate(struct state *state, uint64_t count, bool stream,
		    double values_out[AGENT_VALUES])
{
	for (size_t p = 0; p < PARTS; p++) {
		if (stream && !is_of_stream(&parts[p]))
			continue;
		size_t samples =
			collect(state, &parts[p], state->groups - count + 1, state->groups);
		if (samples == 0 && count > 2) {
			bench_complain("no time stamps of %s", parts[p].name);
			return -ENODATA;
		}
		statistics_sort(state->samples, samples);
		values_out[2 * p] = statistics_percentile(state->samples, samples, 0.5);
		values_out[2 * p + 1] = statistics_percentile(state->samples, samples, 0.99);
	}
	values_out[STAMP] = stamp_cost();
	return 0;
}

static bool submit_marked(struct state *state)
{
	STAGE_MARK(++state->groups, STAGE_BEGUN);
	return state->kind->submit(state->client);
}

static int measure_round_trips(void *opened, uint64_t count, double values_out[AGENT_VALUES])
{
	struct state *state = opened;
	for (uint64_t i = 0; i < count; i++) {
		if (!submit_marked(state) || !state->kind->wait(state->client))
			return -EIO;
		STAGE_MARK(state->groups, STAGE_RETURNED);
	}
	return evaluate(state, count, false, values_out);
}

static int measure_stream(void *opened, uint64_t count, double values_out[AGENT_VALUES])
{
	struct state *state = opened;
	for (uint64_t i = 0; i < count; i++)
		if (!submit_marked(state))
			return -EIO;
	return state->kind->wait(state->client) ? evaluate(state, count, true, values_out) : -EIO;
}

static const struct agent_subject round_trips = {open_on_cpu, measure_round_trips, close_state};
static const struct agent_subject stream = {open_on_cpu, measure_stream, close_state};
static const struct agent_subject gpu_round_trips = {open_on_gpu, measure_round_trips, close_state};
static const struct agent_subject gpu_stream = {open_on_gpu, measure_stream, close_state};

struct variant {
	const char *name;
	const struct agent_subject *subject;
	uint64_t count;
	bool streams, gpu;
};

static void report_stages(struct bench *bench, const struct variant *variant,
			  double (*values)[BENCH_RUNS_MAX])
{
	static const char *const percentiles[] = {"p50", "p99"};
	for (size_t i = 0; i < VALUES; i++) {
		char name[BENCH_NAME_BYTES];
		const struct part *part = &parts[i / 2];
		if (variant->streams && !is_of_stream(part))
			continue;
		(void)snprintf(name, sizeof(name), "%s.%s.%s", variant->name, part->name,
			       percentiles[i % 2]);
		struct bench_result result = {
			.name = name, .unit = "us", .note = i % 2 == 0 ? part->note : NULL};
		bench_summarise(values[i], NULL, bench->runs, &result);
		bench_report(bench, &result);
	}
	char name[BENCH_NAME_BYTES];
	(void)snprintf(name, sizeof(name), "%s.stamp", variant->name);
	struct bench_result result = {.name = name,
				      .unit = "us",
				      .note = "cost of one time stamp, which is in each part"};
	bench_summarise(values[STAMP], NULL, bench->runs, &result);
	bench_report(bench, &result);
}

/* The first device, for the measuring process. */
static void gpu_place_of(const char *endpoint, char text_out[GPU_PLACE_BYTES])
{
	struct gpu_place place = {.device = 0};
	(void)snprintf(place.with, sizeof(place.with), "%s", endpoint);
	gpu_place_write(&place, text_out);
}

static int bench_stages_run_variant(struct bench *bench, const struct variant *variant)
{
	CLEANUP(bench_wrapped_cleanup) struct bench_wrapped *wrapped = NULL;
	CLEANUP(agent_end) struct agent agent = AGENT_INIT;
	CLEANUP(free_pointer)
	double(*values)[BENCH_RUNS_MAX] = calloc(AGENT_VALUES, sizeof(*values));
	double answer[AGENT_VALUES];
	char where[GPU_PLACE_BYTES];
	int r = values ? bench_wrapped_start(sizeof(struct stage_times), VARIABLE, NULL, false,
					     &wrapped)
		       : -ENOMEM;
	if (r == 0) {
		r = setenv(VARIABLE, wrapped->file, 1) < 0 ? -errno : 0;
		if (r == 0 && variant->gpu)
			gpu_place_of(wrapped->service->endpoint, where);
		if (r == 0)
			r = agent_start(variant->subject,
					variant->gpu ? where : wrapped->service->endpoint, &agent);
		(void)unsetenv(VARIABLE);
	}
	if (r == 0)
		r = agent_measure(&agent, variant->count / 10, answer);
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		r = agent_measure(&agent, variant->count, answer);
		for (size_t i = 0; i <= STAMP && r == 0; i++)
			values[i][run] = answer[i];
	}
	if (r == 0)
		report_stages(bench, variant, values);
	else
		bench_complain("the measurement failed: %s", strerror(-r));
	return r;
}

int row_stages(struct bench *bench)
{
	const struct variant pinned = {"TC1.stages.pinned", &round_trips, bench->quick ? 50 : 20000,
				       .gpu = false};
	const struct variant unpinned = {"TC1.stages.unpinned", &round_trips,
					 bench->quick ? 50 : 20000, .gpu = false};
	const struct variant streamed = {"TC2.stages", &stream, bench->quick ? 200 : 30000,
					 .streams = true};
	int r = bench_pin();
	if (r == 0)
		r = bench_stages_run_variant(bench, &pinned);
	bench_unpin();
	if (r == 0)
		r = bench_stages_run_variant(bench, &unpinned);
	return r == 0 ? bench_stages_run_variant(bench, &streamed) : r;
}

int row_gpu_stages(struct bench *bench)
{
	const struct variant waited = {"TG1.stages", &gpu_round_trips, bench->quick ? 50 : 20000,
				       .gpu = true};
	const struct variant streamed = {"TG2.stages", &gpu_stream, bench->quick ? 200 : 30000,
					 .streams = true, .gpu = true};
	if (!gpu_row_possible(bench, "TG1.stages", 1))
		return 0;
	if (gpu_library()) {
		bench_skip(bench, "TG1.stages",
			   "these engines load no other CUDA library than the system's");
		return 0;
	}
	int r = bench_stages_run_variant(bench, &waited);
	return r == 0 ? bench_stages_run_variant(bench, &streamed) : r;
}

#endif
