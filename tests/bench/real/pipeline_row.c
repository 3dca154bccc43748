/*
 * TR9 with the frames' kernels in two and three processes that share buffers on the device. They
 * are clients of the service. The baselines are one process with CUDA's driver API, and as many
 * processes that exchange CUDA's handles for memory and events, in time slices and under MPS.
 */
#include "harness/mps.h"
#include "gpu/compare.h"
#include "gpu/place.h"
#include "real/frames.h"
#include "real/pipeline.h"
#include "real/row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_MS = 150, WARM_MS = 50, QUICK_MS = 5 };
enum side { SERVICE, ONE, BY_HAND, BY_HAND_MPS, SIDES };
/* Frames in flight: as many as there is room for, or one at a time. */
enum depth { MANY, SINGLE, DEPTHS };

struct line {
	struct pipeline *pipeline;
	struct agent agents[PIPELINE_STAGES];
	unsigned stages;
	bool is_there;
};

struct lines {
	struct private_service *service;
	struct mps *mps;
	struct line sides[SIDES];
};

struct figures {
	double rate[BENCH_RUNS_MAX], p50[BENCH_RUNS_MAX], p99[BENCH_RUNS_MAX];
};

struct measured {
	struct figures all[SIDES][FRAMES_SIZES][DEPTHS];
};

/* MPS waits for its clients, so they end first. */
static void lines_end(struct lines *lines)
{
	for (int side = 0; side < SIDES; side++) {
		struct line *line = &lines->sides[side];
		for (unsigned i = 0; i < PIPELINE_STAGES; i++)
			agent_end(&line->agents[i]);
		line->pipeline = pipeline_free(line->pipeline);
	}
	lines->mps = mps_free(lines->mps);
	lines->service = private_service_free(lines->service);
}

static int line_measure(struct line *line, unsigned size, unsigned depth, unsigned milliseconds,
			double values_out[AGENT_VALUES])
{
	const uint64_t request = pipeline_request(size, depth, milliseconds);
	int r = 0;
	pipeline_begin(line->pipeline);
	for (unsigned i = 0; i < line->stages && r == 0; i++)
		r = agent_request(&line->agents[i], request);
	for (unsigned i = 0; i < line->stages && r == 0; i++)
		r = agent_answer(&line->agents[i], values_out); /* the last one's values are kept */
	return r;
}

/* It is warm when this returns. */
static int line_start(struct line *line, enum pipeline_body body, unsigned stages, const char *with,
		      bool quick)
{
	struct gpu_place place = {.device = 0};
	char text[GPU_PLACE_BYTES];
	double ignored[AGENT_VALUES];
	int r = 0;
	(void)snprintf(place.with, sizeof(place.with), "%s", with);
	gpu_place_write(&place, text);
	line->stages = stages;
	line->pipeline = pipeline_create(stages, quick ? REAL_TINY : REAL_GPU);
	if (!line->pipeline)
		return -ENOMEM;
	for (unsigned i = 0; i < stages && r == 0; i++) {
		pipeline_choose(line->pipeline, i);
		r = agent_start(&pipeline_stages[body], text, &line->agents[i]);
	}
	for (unsigned size = 0; size < FRAMES_SIZES && r == 0; size++)
		r = line_measure(line, size, PIPELINE_DEPTH, quick ? 1 : WARM_MS, ignored);
	line->is_there = r == 0;
	return r;
}

/* Without MPS, and without handles of memory between processes, the row continues. */
static int lines_start(struct lines *lines, unsigned stages, bool quick)
{
	int r = gpu_service(false, &lines->service);
	if (r == 0)
		r = line_start(&lines->sides[SERVICE], PIPELINE_SERVICE, stages,
			       lines->service->endpoint, quick);
	if (r == 0)
		r = line_start(&lines->sides[ONE], PIPELINE_CUDA, 1, GPU_NOBODY, quick);
	if (r == 0 &&
	    line_start(&lines->sides[BY_HAND], PIPELINE_CUDA, stages, GPU_NOBODY, quick) < 0)
		bench_complain("processes cannot share memory by hand here");
	if (r == 0 && mps_installed() &&
	    (mps_start(false, &lines->mps) < 0 ||
	     line_start(&lines->sides[BY_HAND_MPS], PIPELINE_CUDA, stages, lines->mps->pipes,
			quick) < 0))
		bench_complain("without MPS");
	if (r == 0)
		gpu_settle(lines->service);
	return r;
}

static int measure_all(const struct bench *bench, struct lines *lines, struct measured *measured)
{
	static const unsigned frames[DEPTHS] = {PIPELINE_DEPTH, 1};
	const unsigned window = bench->quick ? QUICK_MS : WINDOW_MS;
	const unsigned measurements = bench->runs * FRAMES_SIZES * DEPTHS * SIDES;
	int r = 0;
	for (unsigned i = 0; i < measurements && r == 0; i++) {
		const unsigned run = i / (FRAMES_SIZES * DEPTHS * SIDES), side = (i + run) % SIDES,
			       depth = i / SIDES % DEPTHS,
			       size = i / (SIDES * DEPTHS) % FRAMES_SIZES;
		struct figures *figures = &measured->all[side][size][depth];
		double values[AGENT_VALUES] = {0};
		if (!lines->sides[side].is_there)
			continue;
		r = line_measure(&lines->sides[side], size, frames[depth], window, values);
		figures->rate[run] = values[PIPELINE_RATE];
		figures->p50[run] = values[PIPELINE_P50];
		figures->p99[run] = values[PIPELINE_P99];
	}
	return r;
}

static void pipeline_row_report_rate(struct bench *bench, const struct lines *lines,
				     const struct measured *measured, unsigned size,
				     enum side beside, const char *name_of, double target)
{
	static const char *const notes[SIDES] = {[ONE] = "baseline: one process",
						 [BY_HAND] = "baseline: cuIpc handles, time slices",
						 [BY_HAND_MPS] =
							 "baseline: cuIpc handles, under MPS"};
	char name[BENCH_NAME_BYTES];
	struct bench_result result = {.name = name,
				      .unit = "frames/s",
				      .bound = target > 0 ? BENCH_RATIO_AT_LEAST : BENCH_NO_TARGET,
				      .target = target,
				      .note = notes[beside]};
	(void)snprintf(name, sizeof(name), "TR9.%u.%s%s", lines->sides[SERVICE].stages,
		       frames_size_name(size), name_of);
	if (!lines->sides[beside].is_there) {
		bench_skip(bench, name,
			   beside == BY_HAND_MPS ? "MPS is not installed, or does not work"
						 : "processes cannot share memory by hand here");
		return;
	}
	bench_summarise(measured->all[SERVICE][size][MANY].rate,
			measured->all[beside][size][MANY].rate, bench->runs, &result);
	bench_report(bench, &result);
}

static void report_latency(struct bench *bench, const struct lines *lines,
			   const struct measured *measured, unsigned size)
{
	const struct figures *service = &measured->all[SERVICE][size][SINGLE],
			     *one = &measured->all[ONE][size][SINGLE];
	char name[BENCH_NAME_BYTES];
	struct bench_result result = {
		.name = name, .unit = "us", .note = "one frame at a time; baseline: one process"};
	(void)snprintf(name, sizeof(name), "TR9.%u.%s.p50", lines->sides[SERVICE].stages,
		       frames_size_name(size));
	bench_summarise(service->p50, one->p50, bench->runs, &result);
	bench_report(bench, &result);
	(void)snprintf(name, sizeof(name), "TR9.%u.%s.p99", lines->sides[SERVICE].stages,
		       frames_size_name(size));
	bench_summarise(service->p99, one->p99, bench->runs, &result);
	bench_report(bench, &result);
}

static int run_processes(struct bench *bench, unsigned stages)
{
	CLEANUP(lines_end) struct lines lines = {.service = NULL};
	for (int side = 0; side < SIDES; side++)
		for (int i = 0; i < PIPELINE_STAGES; i++)
			lines.sides[side].agents[i] = (struct agent)AGENT_INIT;
	struct measured *measured = calloc(1, sizeof(*measured));
	int r = measured ? lines_start(&lines, stages, bench->quick) : -ENOMEM;
	if (r == 0)
		r = measure_all(bench, &lines, measured);
	for (unsigned size = 0; size < FRAMES_SIZES && r == 0; size++) {
		pipeline_row_report_rate(bench, &lines, measured, size, ONE, "",
					 stages == 3 ? 1.25 : 1.0);
		pipeline_row_report_rate(bench, &lines, measured, size, BY_HAND, ".by_hand", 0);
		pipeline_row_report_rate(bench, &lines, measured, size, BY_HAND_MPS, ".mps", 0);
		report_latency(bench, &lines, measured, size);
	}
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	free(measured);
	return r;
}

int row_frames_shared(struct bench *bench)
{
	if (strcmp(bench->device, "gpu") != 0) {
		bench_skip(bench, "TR9.processes", "this row needs a GPU (--device gpu)");
		return 0;
	}
	if (!real_row_possible(bench, "TR9.processes"))
		return 0;
	int r = run_processes(bench, 2);
	return r == 0 ? run_processes(bench, 3) : r;
}
