/*
 * TG12.runaway: one tenant's kernel runs past its deadline while another tenant works. The figures
 * are how long after the deadline the first tenant's next kernel is complete, and whether the other
 * tenant is lost. The kernel ends by itself after RUN_SECONDS, whatever happens.
 */
#include "harness/client.h"
#include "gpu/compare.h"
#include "gpu/load.h"
#include "gpu/place.h"
#include "gpu/subjects.h"

#include "clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum {
	RUN_SECONDS = 20,
	DEADLINE_SECONDS = 2,
	QUICK_DEADLINE_SECONDS = 1,
	BEFORE_MS = 200,
	AFTER_MS = 1500
};

/* ---------------------------- the client that owns the kernel ---------------------------- */

struct guilty {
	struct load_client load;
	sycl_kernel runaway;
};

/* The process answers with the time of its launch, whether it failed, and when that was reported.
 * The first request asks whether it has started. */
enum { BEGUN_NS, HAS_FAILED, TOLD_NS };
enum { ASK_IF_THERE, ASK };

static int guilty_open(const char *place, void **state_out)
{
	struct guilty *guilty = calloc(1, sizeof(*guilty));
	if (!guilty)
		return -ENOMEM;
	*state_out = guilty;
	return load_client_begin(&guilty->load, place) &&
			       client_good(sycl_kernel_create(guilty->load.bundle,
							      LOAD_KERNEL_RUNAWAY,
							      &guilty->runaway),
					   LOAD_KERNEL_RUNAWAY)
		       ? 0
		       : -EIO;
}

static void guilty_close(void *state)
{
	struct guilty *guilty = state;
	if (guilty->runaway)
		(void)sycl_kernel_release(guilty->runaway);
	load_client_end(&guilty->load);
	free(guilty);
}

static int run_away(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct guilty *guilty = state;
	if (count == ASK_IF_THERE)
		return 0;
	values_out[BEGUN_NS] = (double)clock_now_ns();
	if (!gpu_client_submit(&guilty->load.client, guilty->runaway, 1, RUN_SECONDS))
		return -EIO;
	values_out[HAS_FAILED] = sycl_queue_wait(guilty->load.client.queue) != 0;
	values_out[TOLD_NS] = (double)clock_now_ns();
	return 0;
}

/* The tenant's next process, with one small kernel. */
enum { DONE_NS };

static int work_again(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct gpu_client *client = state;
	(void)count;
	if (!gpu_client_submit(client, client->add, 1, GPU_DATA_WORDS) || !gpu_client_wait(client))
		return -EIO;
	values_out[DONE_NS] = (double)clock_now_ns();
	return gpu_client_verify(client) ? 0 : -EIO;
}

static const struct agent_subject guilty_subject = {guilty_open, run_away, guilty_close};
static const struct agent_subject again_subject = {subject_gpu_client_open, work_again,
						   subject_gpu_client_close};
static const struct agent_subject bystander_subject = {
	subject_gpu_client_open, subject_gpu_client_add, subject_gpu_client_close};

/* -------------------------------------- measuring --------------------------------------- */

struct scene {
	struct private_service *service;
	struct agent guilty, bystander;
	char place[GPU_PLACE_BYTES], bystander_place[GPU_PLACE_BYTES];
	uint64_t deadline_ms;
	bool has_bystander;
	unsigned lost;
	double again_ms[BENCH_RUNS_MAX],
		notified_ms[BENCH_RUNS_MAX]; /* both from the deadline on */
};

static void scene_end(struct scene *scene)
{
	agent_end(&scene->guilty);
	agent_end(&scene->bystander);
	scene->service = private_service_free(scene->service);
}

/* Starts a new process each time, until one works, but no longer than the kernel could occupy the
 * GPU. */
static int until_works(const struct scene *scene, double values_out[AGENT_VALUES])
{
	const uint64_t end = clock_now_ns() + SECONDS_NS(RUN_SECONDS + 10);
	int r = -ETIMEDOUT;
	while (r < 0 && clock_now_ns() < end) {
		struct agent agent = AGENT_INIT;
		r = agent_start(&again_subject, scene->place, &agent);
		if (r == 0)
			r = agent_measure(&agent, 0, values_out);
		agent_end(&agent);
	}
	return r;
}

/* Both exist, and so does a standby engine, as on a node after a second or two of work. */
static int start_bystander_and_standby(struct scene *scene)
{
	double ignored[AGENT_VALUES];
	int r = 0;
	if (scene->has_bystander && scene->bystander.pid == 0)
		r = agent_start(&bystander_subject, scene->bystander_place, &scene->bystander);
	if (r == 0 && scene->has_bystander)
		r = agent_measure(&scene->bystander, 1, ignored);
	if (r == 0)
		r = agent_start(&guilty_subject, scene->place, &scene->guilty);
	if (r == 0)
		r = agent_measure(&scene->guilty, ASK_IF_THERE, ignored);
	if (r == 0)
		gpu_settle(scene->service);
	return r;
}

static int one_runaway(struct scene *scene, unsigned run)
{
	double guilty[AGENT_VALUES] = {0}, again[AGENT_VALUES] = {0}, ignored[AGENT_VALUES];
	int r = start_bystander_and_standby(scene);
	if (r == 0 && scene->has_bystander)
		r = agent_request(&scene->bystander, BEFORE_MS + scene->deadline_ms + AFTER_MS);
	if (r < 0)
		return r;
	/* The measured kernel exceeds its deadline during another user's work. */
	(void)poll(NULL, 0, BEFORE_MS);
	r = agent_measure(&scene->guilty, ASK, guilty);
	agent_end(&scene->guilty);
	if (r == 0 && !(guilty[HAS_FAILED] > 0)) {
		bench_complain("the kernel was not stopped");
		r = -EIO;
	}
	if (r == 0)
		r = until_works(scene, again);
	scene->notified_ms[run] =
		(guilty[TOLD_NS] - guilty[BEGUN_NS]) / 1e6 - (double)scene->deadline_ms;
	scene->again_ms[run] =
		(again[DONE_NS] - guilty[BEGUN_NS]) / 1e6 - (double)scene->deadline_ms;
	if (scene->has_bystander && agent_answer(&scene->bystander, ignored) < 0) {
		scene->lost++;
		agent_end(&scene->bystander);
	}
	return r;
}

static int open_scene(const struct bench *bench, struct scene *scene)
{
	const unsigned seconds = bench->quick ? QUICK_DEADLINE_SECONDS : DEADLINE_SECONDS;
	struct gpu_place place = {.device = 0};
	char lines[64];
	*scene = (struct scene){.guilty = AGENT_INIT, .bystander = AGENT_INIT};
	scene->has_bystander = gpu_users();
	scene->deadline_ms = seconds * UINT64_C(1000);
	(void)snprintf(lines, sizeof(lines), "[limits]\ngroup_seconds = %u\n", seconds);
	int r = gpu_service_with(lines, scene->has_bystander, &scene->service);
	if (r < 0)
		return r;
	(void)snprintf(place.with, sizeof(place.with), "%s", scene->service->endpoint);
	gpu_place_write(&place, scene->place);
	place.uid = GPU_OTHER_UID;
	gpu_place_write(&place, scene->bystander_place);
	return 0;
}

static void report_runaway(struct bench *bench, const struct scene *scene)
{
	struct bench_result notified = {.name = "TG12.runaway.told",
					.unit = "ms",
					.note = "of that, until the owner gets the error"};
	struct bench_result again = {.name = "TG12.runaway",
				     .unit = "ms",
				     .bound = BENCH_VALUE_AT_MOST,
				     .target = 2000,
				     .note = "from a kernel's deadline to its user's next kernel"};
	struct bench_result lost = {.name = "TG12.runaway.lost",
				    .unit = "bystanders",
				    .bound = BENCH_VALUE_AT_MOST,
				    .target = 0,
				    .value = scene->lost,
				    .baseline = NAN,
				    .ratio = NAN,
				    .spread = NAN,
				    .runs = bench->runs,
				    .note = "of another user"};
	bench_summarise(scene->again_ms, NULL, bench->runs, &again);
	bench_report(bench, &again);
	bench_summarise(scene->notified_ms, NULL, bench->runs, &notified);
	bench_report(bench, &notified);
	if (scene->has_bystander)
		bench_report(bench, &lost);
	else
		bench_skip(
			bench, lost.name,
			"this row runs a second user: it needs root and a library that others can read");
}

int row_gpu_runaway(struct bench *bench)
{
	struct scene scene;
	if (!gpu_row_possible(bench, "TG12.runaway", 1))
		return 0;
	int r = open_scene(bench, &scene);
	for (unsigned run = 0; run < bench->runs && r == 0; run++)
		r = one_runaway(&scene, run);
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	else
		report_runaway(bench, &scene);
	scene_end(&scene);
	return r;
}
