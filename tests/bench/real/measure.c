#include "real/measure.h"

#include "harness/bench.h"
#include "harness/statistics.h"
#include "gpu/compare.h"

#include "clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

_Static_assert((int)REAL_ANSWERS *(int)REAL_VARIANTS <= (int)AGENT_VALUES, "room for all of them");

static const uint64_t longest_ns = 250000000, longest_rested_ns = 600000000;

/* The program that processes run if they start now. */
static const struct real_program *program;
static enum real_scale scale;

void real_choose(const struct real_program *chosen, enum real_scale chosen_scale)
{
	program = chosen;
	scale = chosen_scale;
}

bool real_wrong(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	(void)vfprintf(stderr, format, arguments);
	va_end(arguments);
	(void)fputc('\n', stderr);
	return false;
}

void real_close(void *state)
{
	struct real *real = state;
	real->body->close(real->layer);
	free(real->own);
	free(real);
}

int real_open(const struct real_program *opened, enum real_scale opened_scale,
	      const struct layer_body *body, const char *where, void **state_out)
{
	struct real *real = calloc(1, sizeof(*real));
	void *own = calloc(1, opened->own_bytes);
	if (!real || !own) {
		free(real);
		free(own);
		return -ENOMEM;
	}
	*real = (struct real){.program = opened, .body = body, .scale = opened_scale, .own = own};
	*state_out = real;
	return body->open(where, &opened->source, &real->layer) && opened->open(real) ? 0 : -EIO;
}

static int open_chosen(const struct layer_body *body, const char *where, void **state_out)
{
	return real_open(program, scale, body, where, state_out);
}

static int real_measure_open_service(const char *where, void **state_out)
{
	return open_chosen(&layer_service, where, state_out);
}

static int real_measure_open_service_gpu(const char *where, void **state_out)
{
	return open_chosen(&layer_service_gpu, where, state_out);
}

static int real_measure_open_opencl(const char *where, void **state_out)
{
	return open_chosen(&layer_opencl, where, state_out);
}

static int real_measure_open_driver(const char *endpoint, void **state_out)
{
	int r = bench_use_driver(endpoint);
	return r == 0 ? open_chosen(&layer_opencl, endpoint, state_out) : r;
}

static int real_measure_open_cuda(const char *where, void **state_out)
{
	return open_chosen(&layer_cuda, where, state_out);
}

/* The pause is a part of the measured case: how a step is after a pause. It is short if nothing is
 * measured. */
static void rest_before_step(const struct real *real, uint64_t wanted_ns)
{
	const uint64_t ns = real->scale == REAL_TINY && wanted_ns ? 100000 : wanted_ns;
	const struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000u),
				       .tv_nsec = (long)(ns % 1000000000u)};
	if (ns)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

static bool time_step(struct real *real, const struct real_variant *variant, double *us_out)
{
	if (real->program->prepare && !real->program->prepare(real, variant))
		return false;
	rest_before_step(real, variant->rest_ns);
	const uint64_t start = clock_now_ns();
	const bool good = real->program->step(real, variant);
	*us_out = (double)(clock_now_ns() - start) / 1000;
	return good && (!real->program->check || real->program->check(real, variant));
}

bool real_measure_variant(struct real *real, const struct real_variant *variant, uint64_t most,
			  double *samples, double values_out[REAL_ANSWERS])
{
	const uint64_t begun = clock_now_ns(),
		       longest = variant->rest_ns ? longest_rested_ns : longest_ns;
	uint64_t count = 0;
	double sum = 0;
	bool good = true;
	while (good && count < most &&
	       (count < REAL_SAMPLES_LEAST || clock_now_ns() - begun < longest)) {
		good = time_step(real, variant, &samples[count]);
		sum += samples[count++];
	}
	statistics_sort(samples, count);
	values_out[REAL_P50] = statistics_percentile(samples, count, 0.5);
	values_out[REAL_P99] = statistics_percentile(samples, count, 0.99);
	values_out[REAL_MEAN] = sum / (double)count;
	return good;
}

static int real_measure(void *state, uint64_t most, double values_out[AGENT_VALUES])
{
	struct real *real = state;
	const struct real_variant *variants = real->program->variants;
	double *samples = calloc(most, sizeof(*samples));
	bool good = samples != NULL;
	for (unsigned i = 0; variants[i].name && good; i++)
		good = real_measure_variant(real, &variants[i], most, samples,
					    &values_out[(size_t)i * REAL_ANSWERS]);
	free(samples);
	if (good && real->program->verify)
		good = real->program->verify(real);
	return good ? 0 : -EIO;
}

int real_measure_rate(void *state, uint64_t milliseconds, double values_out[AGENT_VALUES])
{
	struct real *real = state;
	const uint64_t start = clock_now_ns(), end = start + milliseconds * 1000000;
	uint64_t count = 0;
	double us = 0;
	bool good = true;
	for (; good && clock_now_ns() < end; count++)
		good = time_step(real, real->program->variants, &us);
	values_out[GPU_ANSWER_COUNT] = (double)count;
	values_out[GPU_ANSWER_START] = (double)start;
	values_out[GPU_ANSWER_END] = (double)clock_now_ns();
	if (good && real->program->verify)
		good = real->program->verify(real);
	return good ? 0 : -EIO;
}

#define SUBJECTS(measure_function)                                                                 \
	{                                                                                          \
		[REAL_SERVICE] = {real_measure_open_service, (measure_function), real_close},      \
		[REAL_SERVICE_GPU] = {real_measure_open_service_gpu, (measure_function),           \
				      real_close},                                                 \
		[REAL_OPENCL] = {real_measure_open_opencl, (measure_function), real_close},        \
		[REAL_DRIVER] = {real_measure_open_driver, (measure_function), real_close},        \
		[REAL_CUDA] = {real_measure_open_cuda, (measure_function), real_close},            \
	}

const struct agent_subject real_times[REAL_BODIES] = SUBJECTS(real_measure);
const struct agent_subject real_rates[REAL_BODIES] = SUBJECTS(real_measure_rate);
