/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heat spreads over a plate: 1,000 steps of a five-point stencil, each on the result of the one
 * before. All steps are submitted at once, and the accessors order them. The CPU computes the same
 * steps, and the results are compared.
 */
#include "demo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 1000u
#define EVERY 100u /* one event for each hundred steps, to show progress */

static const char source[] =
	"SYCL_KERNEL void diffuse(SYCL_GLOBAL(const float) from, SYCL_GLOBAL(float) to, float rate)\n"
	"{\n"
	"	ulong row = sycl_global_id(0), column = sycl_global_id(1);\n"
	"	ulong rows = sycl_global_range(0), columns = sycl_global_range(1), i = row * columns + column;\n"
	"	float here = from[i], there = here;\n"
	"	if (row > 0 && row + 1 < rows && column > 0 && column + 1 < columns)\n"
	"		there = here + rate * (from[i - 1] + from[i + 1] + from[i - columns] + from[i + columns]\n"
	"				       - 4.0f * here);\n"
	"	to[i] = there;\n"
	"}\n";

static const float rate = 0.2f;

/* Cold, with a hot edge and a hot square. */
static void heat_up(float *plate, uint32_t n)
{
	memset(plate, 0, (size_t)n * n * sizeof(*plate));
	for (uint32_t i = 0; i < n; i++)
		plate[i] = 100.0f;
	for (uint32_t row = n / 2; row < n / 2 + n / 8; row++)
		for (uint32_t column = n / 3; column < n / 3 + n / 8; column++)
			plate[(size_t)row * n + column] = 400.0f;
}

static void submit_heat_step(const struct demo *demo, sycl_kernel kernel, uint32_t n,
			     sycl_buffer from, sycl_buffer to, sycl_event *event_out)
{
	sycl_handler handler;
	demo_check(demo, sycl_handler_begin(demo->queue, &handler), "handler");
	demo_check(demo, sycl_handler_set_accessor(handler, 0, from, SYCL_ACCESS_READ), "accessor");
	demo_check(demo, sycl_handler_set_accessor(handler, 1, to, SYCL_ACCESS_WRITE_NO_INIT),
		   "accessor");
	demo_check(demo, sycl_handler_set_value(handler, 2, sizeof(rate), &rate), "argument");
	demo_check(demo, sycl_handler_parallel_for(handler, kernel, sycl_range2(n, n)), "range");
	demo_check(demo, sycl_queue_submit(demo->queue, handler, event_out), "submit");
}

static void heat_compute(const struct demo *demo, float *plate, uint32_t n)
{
	const uint64_t bytes = (uint64_t)n * n * sizeof(float);
	sycl_kernel kernel;
	sycl_buffer plates[2];
	sycl_event events[STEPS / EVERY];
	demo_check(demo, sycl_kernel_from_source(demo->queue, source, "diffuse", &kernel),
		   "the kernel");
	demo_check(demo,
		   sycl_buffer_create(demo->platform, plate, bytes, SYCL_HOST_BORROWED, &plates[0]),
		   "buffer");
	demo_check(demo,
		   sycl_buffer_create(demo->platform, NULL, bytes, SYCL_HOST_NONE, &plates[1]),
		   "buffer");

	_Static_assert(STEPS % 2 == 0, "the result must end in the first buffer");
	for (uint32_t i = 0; i < STEPS; i++)
		submit_heat_step(demo, kernel, n, plates[i % 2], plates[(i + 1) % 2],
				 (i + 1) % EVERY == 0 ? &events[i / EVERY] : NULL);
	for (uint32_t i = 0; i < STEPS / EVERY; i++) {
		char text[64];
		demo_check(demo, sycl_event_wait(events[i]), "a step failed");
		(void)sycl_event_release(events[i]);
		(void)snprintf(text, sizeof(text), "step %u of %u", (i + 1) * EVERY, STEPS);
		demo_progress(demo, (i + 1) * 80 / (STEPS / EVERY), text);
	}
	(void)sycl_kernel_release(kernel);
	(void)sycl_buffer_release(plates[1]);
	/* Waits, and writes the result back to the plate. */
	demo_check(demo, sycl_buffer_release(plates[0]), "write-back");
}

static void step_on_cpu(const float *from, float *to, uint32_t n)
{
	memcpy(to, from, (size_t)n * n * sizeof(*to));
	for (uint32_t row = 1; row + 1 < n; row++)
		for (uint32_t column = 1; column + 1 < n; column++) {
			const float *p = from + (size_t)row * n + column;
			to[(size_t)row * n + column] =
				p[0] +
				rate * (p[-1] + p[1] + p[-(ptrdiff_t)n] + p[n] - 4.0f * p[0]);
		}
}

/* Diffusion damps rounding differences, so they stay far below a thousandth of a degree. */
static bool heat_verify(const struct demo *demo, const float *plate, uint32_t n)
{
	const size_t count = (size_t)n * n;
	float *a = demo_allocate(demo, count, sizeof(float)),
	      *b = demo_allocate(demo, count, sizeof(float));
	heat_up(a, n);
	for (uint32_t i = 0; i < STEPS; i += 2) {
		step_on_cpu(a, b, n);
		step_on_cpu(b, a, n);
	}
	bool equal = true;
	for (size_t i = 0; i < count && equal; i++)
		equal = fabsf(a[i] - plate[i]) <= 1e-3f; /* false for a NaN */
	free(a);
	free(b);
	return equal;
}

int main(int argc, char **argv)
{
	struct demo demo;
	demo_begin(&demo, "demo_heat", argc, argv);
	const uint32_t n = demo.size ? demo.size : 1024;
	float *plate = demo_allocate(&demo, (size_t)n * n, sizeof(float));
	heat_up(plate, n);

	heat_compute(&demo, plate, n);
	demo_progress(&demo, 85, "checking all 1,000 steps on the CPU");
	bool verified = heat_verify(&demo, plate, n);
	free(plate);
	return demo_end(&demo, verified, NULL);
}
