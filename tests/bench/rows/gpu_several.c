/* TG14: independent command groups on two and on four GPUs, with a client each, compared with
 * one. */
#include "gpu/compare.h"
#include "gpu/place.h"
#include "gpu/subjects.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ONE, TWO, FOUR, SIZES, GPUS_MAX = 4, WINDOW_MS = 400, QUICK_MS = 20 | GPU_SUBJECT_QUICK };

static const unsigned gpus_of[SIZES] = {1, 2, 4};

struct several {
	struct private_service *service;
	struct agent agents[GPUS_MAX];
	unsigned count;
};

static void several_end(struct several *several)
{
	for (unsigned i = 0; i < several->count; i++)
		agent_end(&several->agents[i]);
	several->service = private_service_free(several->service);
}

/* Returns kernels/s of the first `gpus` clients, all at one time. */
static int measure_gpus(struct several *several, unsigned gpus, uint64_t milliseconds,
			double *rate_out)
{
	double answers[AGENT_VALUES], kernels = 0, start = INFINITY, end = 0;
	int r = 0;
	for (unsigned i = 0; i < gpus && r == 0; i++)
		r = agent_request(&several->agents[i], milliseconds);
	for (unsigned i = 0; i < gpus && r == 0; i++) {
		r = agent_answer(&several->agents[i], answers);
		kernels += answers[GPU_ANSWER_COUNT];
		start = fmin(start, answers[GPU_ANSWER_START]);
		end = fmax(end, answers[GPU_ANSWER_END]);
	}
	if (r == 0)
		*rate_out = kernels * 1e9 / (end - start);
	return r;
}

static int start_several(struct several *several, const struct agent_subject *subject,
			 unsigned gpus)
{
	char text[GPU_PLACE_BYTES];
	int r = gpu_service(false, &several->service);
	for (; several->count < gpus && r == 0; several->count += r == 0) {
		struct gpu_place place = {.device = several->count};
		(void)snprintf(place.with, sizeof(place.with), "%s", several->service->endpoint);
		gpu_place_write(&place, text);
		r = agent_start(subject, text, &several->agents[several->count]);
	}
	return r;
}

/* The results for two and for four. */
struct form {
	const char *names[SIZES];
	bool bounded;
	const char *note;
};

static int run_kind(struct bench *bench, const struct agent_subject *subject,
		    const struct form *form)
{
	static const double targets[SIZES] = {[TWO] = 1.95, [FOUR] = 3.8};
	CLEANUP(several_end) struct several several = {.service = NULL};
	double rates[SIZES][BENCH_RUNS_MAX];
	const unsigned sizes = gpu_device_count() >= 4 ? SIZES : FOUR;
	const uint64_t milliseconds = bench->quick ? QUICK_MS : WINDOW_MS;
	int r = start_several(&several, subject, gpus_of[sizes - 1]);
	if (r == 0)
		r = measure_gpus(&several, gpus_of[sizes - 1], milliseconds, &rates[ONE][0]);
	if (r == 0)
		gpu_settle(several.service);
	for (unsigned run = 0; run < bench->runs && r == 0; run++)
		for (unsigned i = 0; i < sizes && r == 0; i++) {
			unsigned size = (run + i) % sizes;
			r = measure_gpus(&several, gpus_of[size], milliseconds, &rates[size][run]);
		}
	for (unsigned size = TWO; size < sizes && r == 0; size++) {
		struct bench_result result = {.name = form->names[size],
					      .unit = "kernels/s",
					      .note = form->note,
					      .target = targets[size]};
		result.bound = form->bounded ? BENCH_RATIO_AT_LEAST : BENCH_NO_TARGET;
		bench_summarise(rates[size], rates[ONE], bench->runs, &result);
		bench_report(bench, &result);
	}
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	return r;
}

int row_gpu_several(struct bench *bench)
{
	static const struct agent_subject spin = {subject_gpu_client_open, subject_gpu_client_spin,
						  subject_gpu_client_close};
	static const struct agent_subject add = {subject_gpu_client_open, subject_gpu_client_add,
						 subject_gpu_client_close};
	static const struct form form_spin = {
		{NULL, "TG14.two", "TG14.four"},
		true,
		"kernels of 20 us, a client for each GPU; baseline: one GPU"};
	static const struct form form_add = {
		{NULL, "TG14.two.small", "TG14.four.small"},
		false,
		"small kernels: the rate that the service itself can launch"};
	if (!gpu_row_possible(bench, "TG14", 2))
		return 0;
	int r = run_kind(bench, &spin, &form_spin);
	return r == 0 ? run_kind(bench, &add, &form_add) : r;
}
