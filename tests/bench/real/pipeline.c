#include "real/pipeline.h"

#include "harness/statistics.h"
#include "real/frames.h"

#include "clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A stage that waits longer than this waits for one that has failed. */
enum { WAIT_SECONDS = 20, OPEN_SECONDS = 200, SPIN_NS = 50000, SAMPLES_MAX = 1 << 16 };
/* One in this many output frames is compared as a whole, the others in one word. */
enum { COMPARED_WHOLE = 16 };
enum { ENDED = 1, FRAME = 2 }; /* of a count of frames: the flag, and one frame */

/* The progress of a stage, for which others wait. */
struct progress {
	_Alignas(64) _Atomic uint32_t count;
	_Atomic uint32_t sleepers;
};

struct pipeline {
	unsigned stages;
	enum real_scale scale;
	struct progress handed[PIPELINE_STAGES], opened[PIPELINE_STAGES];
	_Atomic uint64_t begun_ns[PIPELINE_DEPTH];
	struct layer_shared shared[PIPELINE_STAGES][FRAMES_SIZES][PIPELINE_DEPTH];
};

/* One process. Its kernels are first to last; buffers of other kernels are not used. */
struct stage {
	struct pipeline *pipeline;
	const struct layer_body *body;
	void *layer;
	unsigned number, first, last;
	unsigned buffers[FRAMES_SIZES][PIPELINE_DEPTH][FRAMES_BUFFERS];
	uint32_t *in[FRAMES_SIZES][FRAMES_INPUTS], *expected[FRAMES_SIZES][FRAMES_INPUTS];
	uint32_t *out;
	double *samples;
};

static struct {
	struct pipeline *pipeline;
	unsigned stage;
} chosen;

struct pipeline *pipeline_create(unsigned stages, enum real_scale scale)
{
	struct pipeline *pipeline = mmap(NULL, sizeof(*pipeline), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (pipeline == MAP_FAILED)
		return NULL;
	pipeline->stages = stages;
	pipeline->scale = scale;
	return pipeline;
}

struct pipeline *pipeline_free(struct pipeline *pipeline)
{
	if (pipeline)
		(void)munmap(pipeline, sizeof(*pipeline));
	return NULL;
}

void pipeline_begin(struct pipeline *pipeline)
{
	for (unsigned i = 0; i < PIPELINE_STAGES; i++)
		atomic_store(&pipeline->handed[i].count, 0);
}

void pipeline_choose(struct pipeline *pipeline, unsigned stage)
{
	chosen.pipeline = pipeline;
	chosen.stage = stage;
}

/* ----------------------------- one stage waits for another ---------------------------- */

static void progress_set(struct progress *progress, uint32_t count)
{
	atomic_store(&progress->count, count);
	if (atomic_load(&progress->sleepers))
		(void)syscall(SYS_futex, &progress->count, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void progress_sleep(struct progress *progress, uint32_t seen)
{
	const struct timespec second = {.tv_sec = 1};
	(void)atomic_fetch_add(&progress->sleepers, 1);
	(void)syscall(SYS_futex, &progress->count, FUTEX_WAIT, seen, &second, NULL, 0);
	(void)atomic_fetch_sub(&progress->sleepers, 1);
}

/* Waits until the count differs from `seen`, which is returned if that takes too long. */
static uint32_t progress_wait(struct progress *progress, uint32_t seen, unsigned seconds)
{
	static long processors;
	const uint64_t begun = clock_now_ns(), longest = begun + seconds * 1000000000ull;
	if (processors == 0)
		processors = sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t spun = processors > 4 ? begun + SPIN_NS : begun;
	uint32_t count = atomic_load(&progress->count);
	for (; count == seen; count = atomic_load(&progress->count)) {
		const uint64_t now = clock_now_ns();
		if (now >= longest)
			break;
		if (now >= spun)
			progress_sleep(progress, seen);
	}
	return count;
}

/* ------------------------------------- opening ---------------------------------------- */

static bool is_last(const struct stage *stage)
{
	return stage->number + 1 == stage->pipeline->stages;
}

static bool open_hosts(struct stage *stage, unsigned size)
{
	const uint32_t side = frames_side(stage->pipeline->scale, size);
	for (unsigned i = 0; i < FRAMES_INPUTS; i++) {
		uint32_t *in = stage->number == 0 ? stage->body->host(stage->layer, side * side * 4)
						  : malloc(side * side * 4);
		uint32_t *expected = malloc(side * side);
		stage->in[size][i] = in;
		stage->expected[size][i] = expected;
		if (!in || !expected)
			return false;
		frames_fill(in, i, side);
		if (is_last(stage))
			frames_expect(in, expected, side);
	}
	return true;
}

/* It opens its input, shares its output, and the rest is its own. */
static bool open_buffers(struct stage *stage, unsigned size, unsigned slot)
{
	struct pipeline *pipeline = stage->pipeline;
	const uint32_t side = frames_side(pipeline->scale, size);
	unsigned *buffers = stage->buffers[size][slot];
	bool good = true;
	for (unsigned i = stage->first; i <= stage->last + 1 && good; i++) {
		if (i == stage->first && stage->number > 0)
			good = stage->body->open_shared(
				stage->layer, &pipeline->shared[stage->number - 1][size][slot],
				&buffers[i]);
		else if (i == stage->last + 1 && !is_last(stage))
			good = stage->body->share(stage->layer, side * side * 4, &buffers[i],
						  &pipeline->shared[stage->number][size][slot]);
		else
			good = stage->body->alloc(stage->layer, side * side * 4, &buffers[i]);
	}
	return good;
}

static bool pipeline_stage_open(struct stage *stage, const char *where)
{
	struct progress *opened = stage->pipeline->opened;
	bool good = stage->body->open(where, &frames_source, &stage->layer);
	stage->samples = calloc(SAMPLES_MAX, sizeof(*stage->samples));
	good = good && stage->samples;
	if (good && is_last(stage))
		good = (stage->out = stage->body->host(stage->layer,
						       FRAMES_SIDE_MAX * FRAMES_SIDE_MAX)) != NULL;
	if (good && stage->number > 0)
		good = progress_wait(&opened[stage->number - 1], 0, OPEN_SECONDS) == FRAME;
	for (unsigned size = 0; size < FRAMES_SIZES && good; size++) {
		good = open_hosts(stage, size);
		for (unsigned slot = 0; slot < PIPELINE_DEPTH && good; slot++)
			good = open_buffers(stage, size, slot);
	}
	progress_set(&opened[stage->number], good ? FRAME : ENDED);
	return good;
}

static void pipeline_stage_close(void *state)
{
	struct stage *stage = state;
	stage->body->close(stage->layer);
	for (unsigned size = 0; size < FRAMES_SIZES; size++)
		for (unsigned i = 0; i < FRAMES_INPUTS; i++) {
			if (stage->number > 0)
				free(stage->in[size][i]);
			free(stage->expected[size][i]);
		}
	free(stage->samples);
	free(stage);
}

static int stage_start(const struct layer_body *body, const char *where, void **state_out)
{
	/* The kernels of each process, by the number of processes. */
	static const unsigned firsts[PIPELINE_STAGES][PIPELINE_STAGES + 1] = {
		{0, 3}, {0, 2, 3}, {0, 1, 2, 3}};
	struct stage *stage = calloc(1, sizeof(*stage));
	if (!stage)
		return -ENOMEM;
	const unsigned *first = firsts[chosen.pipeline->stages - 1];
	stage->pipeline = chosen.pipeline;
	stage->body = body;
	stage->number = chosen.stage;
	stage->first = first[stage->number];
	stage->last = first[stage->number + 1] - 1;
	*state_out = stage;
	return pipeline_stage_open(stage, where) ? 0 : -EIO;
}

static int start_service(const char *where, void **state_out)
{
	return stage_start(&layer_service_gpu, where, state_out);
}

static int start_cuda(const char *where, void **state_out)
{
	return stage_start(&layer_cuda, where, state_out);
}

/* ------------------------------------- measuring -------------------------------------- */

uint64_t pipeline_request(unsigned size, unsigned depth, unsigned milliseconds)
{
	return (uint64_t)size << 40 | (uint64_t)depth << 32 | milliseconds;
}

static bool frame_is_right(const struct stage *stage, unsigned size, uint32_t frame)
{
	const uint32_t side = frames_side(stage->pipeline->scale, size), words = side * side / 4;
	const uint32_t *expected = stage->expected[size][frame % FRAMES_INPUTS];
	const bool whole = frame % COMPARED_WHOLE < FRAMES_INPUTS;
	const uint32_t first = whole ? 0 : frame % words, count = whole ? words : 1;
	for (uint32_t i = first; i < first + count; i++)
		if (stage->out[i] != expected[i])
			return real_wrong("frame %u of %u: pixel %u is %u instead of %u", frame,
					  side, i, stage->out[i], expected[i]);
	return true;
}

/* Copies the frame in, or takes it from the stage before; runs the kernels; copies it out, or hands
 * it to the next stage. */
static bool run_frame(struct stage *stage, unsigned size, uint32_t frame)
{
	const struct layer_body *body = stage->body;
	const unsigned *b = stage->buffers[size][frame % PIPELINE_DEPTH];
	const uint32_t side = frames_side(stage->pipeline->scale, size), pixels = side * side;
	bool good = stage->number == 0
			    ? body->write(stage->layer, b[FRAMES_IN],
					  stage->in[size][frame % FRAMES_INPUTS], pixels * 4)
			    : body->take(stage->layer, b[stage->first]);
	for (unsigned kernel = stage->first; kernel <= stage->last && good; kernel++) {
		const struct layer_launch launch = frames_launch(kernel, b, side);
		good = body->launch(stage->layer, &launch);
	}
	if (!good)
		return false;
	return is_last(stage) ? body->read(stage->layer, b[FRAMES_OUT], stage->out, pixels)
			      : body->hand_on(stage->layer, b[stage->last + 1]);
}

/* The first stage waits for room, others for their frame. False: there is no further one. */
static bool wait_for_frame(struct stage *stage, uint32_t frame, unsigned depth, uint64_t end_ns,
			   bool *good)
{
	struct pipeline *pipeline = stage->pipeline;
	const bool is_first = stage->number == 0;
	struct progress *before =
		&pipeline->handed[(is_first ? pipeline->stages : stage->number) - 1];
	if (is_first && clock_now_ns() >= end_ns && frame > 0)
		return false;
	for (;;) {
		const uint32_t seen = atomic_load(&before->count),
			       limit = seen / FRAME + (is_first ? depth : 0);
		if (frame < limit)
			return true;
		if (seen & ENDED)
			return false;
		if (progress_wait(before, seen, WAIT_SECONDS) == seen) {
			*good = real_wrong("stage %u: frame %u did not come", stage->number, frame);
			return false;
		}
	}
}

static int stage_measure(void *state, uint64_t request, double values_out[AGENT_VALUES])
{
	struct stage *stage = state;
	struct pipeline *pipeline = stage->pipeline;
	const unsigned size = (unsigned)(request >> 40), depth = request >> 32 & 255;
	const uint64_t start = clock_now_ns(), end = start + (request & UINT32_MAX) * 1000000;
	uint32_t frame = 0, kept = 0;
	bool good = true;
	while (good && wait_for_frame(stage, frame, depth, end, &good)) {
		_Atomic uint64_t *begun = &pipeline->begun_ns[frame % PIPELINE_DEPTH];
		if (stage->number == 0)
			atomic_store(begun, clock_now_ns());
		good = run_frame(stage, size, frame);
		if (good && is_last(stage)) {
			const double us = (double)(clock_now_ns() - atomic_load(begun)) / 1000;
			good = frame_is_right(stage, size, frame);
			if (kept < SAMPLES_MAX)
				stage->samples[kept++] = us;
		}
		frame++;
		if (good)
			progress_set(&pipeline->handed[stage->number], frame * FRAME);
	}
	if (!is_last(stage))
		progress_set(&pipeline->handed[stage->number], frame * FRAME | ENDED);
	statistics_sort(stage->samples, kept);
	values_out[PIPELINE_RATE] = frame * 1e9 / (double)(clock_now_ns() - start);
	values_out[PIPELINE_P50] = statistics_percentile(stage->samples, kept, 0.5);
	values_out[PIPELINE_P99] = statistics_percentile(stage->samples, kept, 0.99);
	return good ? 0 : -EIO;
}

const struct agent_subject pipeline_stages[PIPELINE_BODIES] = {
	[PIPELINE_SERVICE] = {start_service, stage_measure, pipeline_stage_close},
	[PIPELINE_CUDA] = {start_cuda, stage_measure, pipeline_stage_close},
};
