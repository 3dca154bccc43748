#include "real/suite/measure.h"

#include "real/suite/suite.h"
#include "gpu/place.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct suite {
	const struct layer_body *body;
	char where[GPU_PLACE_BYTES];
	unsigned part; /* SUITE_PROGRAMS: none */
	bool failed;
	struct real *real;
	double samples[REAL_SAMPLES_MAX];
};

static enum real_scale scale;

void suite_choose(enum real_scale chosen)
{
	scale = chosen;
}

static int suite_open(const struct layer_body *body, const char *where, void **state_out)
{
	struct suite *suite = calloc(1, sizeof(*suite));
	if (!suite)
		return -ENOMEM;
	suite->body = body;
	suite->part = SUITE_PROGRAMS;
	(void)snprintf(suite->where, sizeof(suite->where), "%s", where);
	*state_out = suite;
	return 0;
}

static void suite_close(void *state)
{
	struct suite *suite = state;
	if (suite->real)
		real_close(suite->real);
	free(suite);
}

/* The last program is closed after the next one is open, so that a context of the driver stays. */
static bool suite_turn_to(struct suite *suite, unsigned part)
{
	struct real *last = suite->real;
	void *opened = NULL;
	if (part >= SUITE_PROGRAMS)
		return false;
	if (part != suite->part) {
		const int r = real_open(suite_programs[part].program, scale, suite->body,
					suite->where, &opened);
		suite->part = part;
		suite->failed = r < 0;
		suite->real = opened;
		if (last)
			real_close(last);
	}
	return !suite->failed;
}

static void fail_program(struct suite *suite)
{
	suite->failed = true;
	(void)real_wrong("%s cannot be measured", suite_programs[suite->part].name);
}

static int measure_times(void *state, uint64_t request, double values_out[AGENT_VALUES])
{
	struct suite *suite = state;
	const uint64_t most = request & UINT32_MAX;
	bool good = suite_turn_to(suite, (unsigned)(request >> AGENT_PART_SHIFT)) &&
		    real_measure_variant(suite->real, suite->real->program->variants, most,
					 suite->samples, values_out) &&
		    (!suite->real->program->verify || suite->real->program->verify(suite->real));
	if (!good) {
		fail_program(suite);
		values_out[0] = NAN;
	}
	return 0;
}

static int suite_measure_rate(void *state, uint64_t request, double values_out[AGENT_VALUES])
{
	struct suite *suite = state;
	bool good = suite_turn_to(suite, (unsigned)(request >> AGENT_PART_SHIFT)) &&
		    real_measure_rate(suite->real, request & UINT32_MAX, values_out) == 0;
	if (!good) {
		fail_program(suite);
		values_out[0] = NAN;
	}
	return 0;
}

static int suite_measure_open_service(const char *where, void **state_out)
{
	return suite_open(&layer_service, where, state_out);
}

static int suite_measure_open_service_gpu(const char *where, void **state_out)
{
	return suite_open(&layer_service_gpu, where, state_out);
}

static int suite_measure_open_opencl(const char *where, void **state_out)
{
	return suite_open(&layer_opencl, where, state_out);
}

static int suite_measure_open_cuda(const char *where, void **state_out)
{
	return suite_open(&layer_cuda, where, state_out);
}

#define SUBJECTS(measure_function)                                                                 \
	{                                                                                          \
		[REAL_SERVICE] = {suite_measure_open_service, (measure_function), suite_close},    \
		[REAL_SERVICE_GPU] = {suite_measure_open_service_gpu, (measure_function),          \
				      suite_close},                                                \
		[REAL_OPENCL] = {suite_measure_open_opencl, (measure_function), suite_close},      \
		[REAL_CUDA] = {suite_measure_open_cuda, (measure_function), suite_close},          \
	}

const struct agent_subject suite_times[REAL_BODIES] = SUBJECTS(measure_times);
const struct agent_subject suite_rates[REAL_BODIES] = SUBJECTS(suite_measure_rate);
