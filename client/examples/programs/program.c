/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void program_check(const struct program_run *run, sycl_result result, const char *what)
{
	if (result == SYCL_SUCCESS)
		return;
	(void)fprintf(stderr, "%s: %s: %s: %s\n", run->name, what, sycl_result_name(result),
		      sycl_get_last_error_text());
	if (result == SYCL_ERROR_BUILD)
		(void)fprintf(stderr, "%s\n", sycl_get_build_log());
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

enum program_part program_at(const struct program_run *run, enum program_part part)
{
	struct program_times *times = run->times;
	const enum program_part before = times->part;
	if (part == before)
		return before;
	const uint64_t now = now_ns();
	times->spent_ns[before] += now - times->since_ns;
	times->since_ns = now;
	times->part = part;
	return before;
}

void program_on_cpu(const struct program_run *run)
{
	program_devices_wait(run);
	(void)program_at(run, PROGRAM_ON_CPU);
}

void *program_allocate(const struct program_run *run, size_t count, size_t element_bytes)
{
	void *memory = calloc(count ? count : 1, element_bytes);
	if (!memory) {
		(void)fprintf(stderr, "%s: out of memory\n", run->name);
		exit(1);
	}
	return memory;
}

uint32_t program_random(struct program_run *run)
{
	/* Xorshift: every number but 0, once around. */
	uint32_t x = run->random;
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	run->random = x;
	return x;
}

float program_uniform(struct program_run *run)
{
	return (float)(program_random(run) >> 8) / 16777216.0f;
}

float *program_floats(struct program_run *run, size_t count)
{
	float *values = program_allocate(run, count, sizeof(*values));
	for (size_t i = 0; i < count; i++)
		values[i] = 2.0f * program_uniform(run) - 1.0f;
	return values;
}

sycl_buffer program_buffer(const struct program_run *run, void *host, uint64_t bytes,
			   sycl_host_memory kind)
{
	sycl_buffer buffer;
	program_check(run, sycl_buffer_create(run->platform, host, bytes, kind, &buffer),
		      "a buffer");
	return buffer;
}

sycl_buffer program_scratch(const struct program_run *run, uint64_t bytes)
{
	return program_buffer(run, NULL, bytes, SYCL_HOST_NONE);
}

void program_read(const struct program_run *run, sycl_buffer buffer, void *to, uint64_t bytes)
{
	sycl_host_accessor accessor;
	void *contents = NULL;
	const enum program_part before = program_at(run, PROGRAM_ON_DEVICE);
	program_check(run, sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor),
		      "reading a result");
	program_check(run, sycl_host_accessor_get_pointer(accessor, &contents), "reading a result");
	memcpy(to, contents, bytes);
	program_check(run, sycl_host_accessor_release(accessor), "reading a result");
	if (before != PROGRAM_ON_DEVICE)
		(void)program_at(run, PROGRAM_ELSEWHERE);
}

void program_finish(const struct program_run *run, sycl_buffer buffer)
{
	program_check(run, sycl_buffer_release(buffer), "the end of a buffer");
}

static void set_argument(const struct program_run *run, sycl_handler handler, uint32_t index,
			 const struct program_argument *argument)
{
	sycl_result result;
	if (argument->kind == PROGRAM_ACCESSOR)
		result =
			sycl_handler_set_accessor(handler, index, argument->buffer, argument->mode);
	else if (argument->kind == PROGRAM_VALUE)
		result = sycl_handler_set_value(handler, index, argument->bytes, argument->value);
	else if (argument->kind == PROGRAM_IMAGE)
		result = sycl_handler_set_image(handler, index, argument->image, argument->mode);
	else if (argument->kind == PROGRAM_SAMPLED)
		result = sycl_handler_set_sampled_image(handler, index, argument->image,
							argument->sampler);
	else
		result = sycl_handler_set_local(handler, index, argument->bytes);
	program_check(run, result, "an argument");
}

void program_launch_nd(const struct program_run *run, sycl_kernel kernel, sycl_range global,
		       sycl_range local, const struct program_argument *arguments, uint32_t count)
{
	sycl_handler handler;
	sycl_queue queue = program_next_queue(run, &kernel);
	(void)program_at(run, PROGRAM_ON_DEVICE);
	program_check(run, sycl_handler_begin(queue, &handler), "a command group");
	for (uint32_t i = 0; i < count; i++)
		set_argument(run, handler, i, &arguments[i]);
	sycl_result result = local.dimensions
				     ? sycl_handler_parallel_for_nd(handler, kernel, global, local)
				     : sycl_handler_parallel_for(handler, kernel, global);
	program_check(run, result, "a range");
	program_check(run, sycl_queue_submit(queue, handler, NULL), "submit");
}

bool program_near(const struct program_run *run, const char *what, const float *got,
		  const double *expected, size_t count, double part)
{
	double square = 0;
	(void)program_at(run, PROGRAM_ELSEWHERE);
	for (size_t i = 0; i < count; i++)
		square += expected[i] * expected[i];
	const double bound = part * sqrt(square / (double)(count ? count : 1));
	for (size_t i = 0; i < count; i++) {
		/* Written so that a NaN counts as wrong. */
		if (!(fabs((double)got[i] - expected[i]) <= bound)) {
			(void)fprintf(
				stderr, "%s: %s: element %zu of %zu is %.9g, not %.9g (to %.2g)\n",
				run->name, what, i, count, (double)got[i], expected[i], bound);
			return false;
		}
	}
	return true;
}

bool program_same(const struct program_run *run, const char *what, const uint32_t *got,
		  const uint32_t *expected, size_t count)
{
	(void)program_at(run, PROGRAM_ELSEWHERE);
	for (size_t i = 0; i < count; i++) {
		if (got[i] != expected[i]) {
			(void)fprintf(stderr,
				      "%s: %s: element %zu of %zu is %" PRIu32 ", not %" PRIu32
				      "\n",
				      run->name, what, i, count, got[i], expected[i]);
			return false;
		}
	}
	return true;
}
