/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps over a grid, each on the result of the one before. jacobi-2d and fdtd-2d are after the
 * algorithms of the PolyBench suite. hotspot, after the Rodinia suite, computes the temperature of
 * a chip from the power of its parts. All steps are submitted at once, and the accessors order
 * them.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 20u

static const char source[] =
	"SYCL_KERNEL void jacobi(SYCL_GLOBAL(const float) from, SYCL_GLOBAL(float) to)\n"
	"{\n"
	"	uint y = (uint)sycl_global_id(0), x = (uint)sycl_global_id(1), n = (uint)sycl_global_range(1), i = y * n + x;\n"
	"	if (y == 0 || x == 0 || y == n - 1 || x == n - 1)\n"
	"		to[i] = from[i];\n"
	"	else\n"
	"		to[i] = 0.2f * (from[i] + from[i - 1] + from[i + 1] + from[i - n] + from[i + n]);\n"
	"}\n"
	"/* The electric field from the magnetic one; the first row is the source. */\n"
	"SYCL_KERNEL void electric(SYCL_GLOBAL(float) ex, SYCL_GLOBAL(float) ey, SYCL_GLOBAL(const float) hz, float pulse)\n"
	"{\n"
	"	uint y = (uint)sycl_global_id(0), x = (uint)sycl_global_id(1), n = (uint)sycl_global_range(1), i = y * n + x;\n"
	"	ey[i] = y == 0 ? pulse : ey[i] - 0.5f * (hz[i] - hz[i - n]);\n"
	"	if (x > 0)\n"
	"		ex[i] -= 0.5f * (hz[i] - hz[i - 1]);\n"
	"}\n"
	"SYCL_KERNEL void magnetic(SYCL_GLOBAL(const float) ex, SYCL_GLOBAL(const float) ey, SYCL_GLOBAL(float) hz)\n"
	"{\n"
	"	uint y = (uint)sycl_global_id(0), x = (uint)sycl_global_id(1), n = (uint)sycl_global_range(1), i = y * n + x;\n"
	"	if (y < n - 1 && x < n - 1)\n"
	"		hz[i] -= 0.7f * (ex[i + 1] - ex[i] + ey[i + n] - ey[i]);\n"
	"}\n"
	"/* A point's neighbours outside of the chip are as warm as itself. */\n"
	"SYCL_KERNEL void hotspot(SYCL_GLOBAL(const float) from, SYCL_GLOBAL(const float) power, SYCL_GLOBAL(float) to,\n"
	"                         float lateral, float vertical, float ambient)\n"
	"{\n"
	"	uint y = (uint)sycl_global_id(0), x = (uint)sycl_global_id(1), n = (uint)sycl_global_range(1), i = y * n + x;\n"
	"	float t = from[i];\n"
	"	float north = y > 0 ? from[i - n] : t, south = y < n - 1 ? from[i + n] : t;\n"
	"	float west = x > 0 ? from[i - 1] : t, east = x < n - 1 ? from[i + 1] : t;\n"
	"	to[i] = t + power[i] + lateral * (north + south + west + east - 4.0f * t) + vertical * (ambient - t);\n"
	"}\n";

static void swap(sycl_buffer *a, sycl_buffer *b)
{
	sycl_buffer other = *a;
	*a = *b;
	*b = other;
}

/* Reads a result of edge * edge values, compares it, and releases the buffer. */
static bool check_grid(const struct program_run *run, const char *what, sycl_buffer result,
		       const double *expected)
{
	const size_t count = (size_t)run->edge * run->edge;
	float *got = program_allocate(run, count, sizeof(*got));
	program_read(run, result, got, count * sizeof(*got));
	bool right = program_near(run, what, got, expected, count, 1e-4);
	free(got);
	program_finish(run, result);
	return right;
}

static void jacobi_on_cpu(uint32_t n, const double *from, double *to)
{
	memcpy(to, from, (size_t)n * n * sizeof(*to));
	for (uint32_t y = 1; y + 1 < n; y++)
		for (uint32_t x = 1; x + 1 < n; x++) {
			const double *p = from + (size_t)y * n + x;
			to[(size_t)y * n + x] = (p[0] + p[-1] + p[1] + p[-(ptrdiff_t)n] + p[n]) / 5;
		}
}

static double *stencil_doubles(const struct program_run *run, const float *values, size_t count)
{
	double *doubles = program_allocate(run, count, sizeof(*doubles));
	for (size_t i = 0; i < count; i++)
		doubles[i] = (double)values[i];
	return doubles;
}

static bool run_jacobi(struct program_run *run)
{
	const uint32_t n = run->edge;
	const size_t count = (size_t)n * n;
	float *start = program_floats(run, count);
	sycl_kernel kernel = program_kernel(run, source, "jacobi");
	sycl_buffer from = program_buffer(run, start, count * sizeof(float), SYCL_HOST_CONST);
	sycl_buffer to = program_scratch(run, count * sizeof(float));
	for (uint32_t step = 0; step < STEPS; step++, swap(&from, &to))
		program_launch(run, kernel, sycl_range2(n, n), READS(from), WRITES(to));

	double *a = stencil_doubles(run, start, count),
	       *b = program_allocate(run, count, sizeof(*b));
	program_on_cpu(run);
	for (uint32_t step = 0; step < STEPS; step += 2) {
		jacobi_on_cpu(n, a, b);
		jacobi_on_cpu(n, b, a);
	}
	bool right = check_grid(run, "the grid", from, a);
	program_finish(run, to);
	(void)sycl_kernel_release(kernel);
	free(start);
	free(a);
	free(b);
	return right;
}

static void fields_on_cpu(uint32_t n, double *ex, double *ey, double *hz, double pulse)
{
	for (uint32_t y = 0; y < n; y++)
		for (uint32_t x = 0; x < n; x++) {
			size_t i = (size_t)y * n + x;
			ey[i] = y == 0 ? pulse : ey[i] - (hz[i] - hz[i - n]) / 2;
			if (x > 0)
				ex[i] -= (hz[i] - hz[i - 1]) / 2;
		}
	for (uint32_t y = 0; y + 1 < n; y++)
		for (uint32_t x = 0; x + 1 < n; x++) {
			size_t i = (size_t)y * n + x;
			hz[i] -= 0.7 * (ex[i + 1] - ex[i] + ey[i + n] - ey[i]);
		}
}

static bool run_fdtd(struct program_run *run)
{
	const uint32_t n = run->edge;
	const size_t count = (size_t)n * n;
	float *start[3];
	double *expected[3];
	sycl_buffer field[3]; /* ex, ey, hz */
	for (uint32_t i = 0; i < 3; i++) {
		start[i] = program_floats(run, count);
		expected[i] = stencil_doubles(run, start[i], count);
		field[i] = program_buffer(run, start[i], count * sizeof(float), SYCL_HOST_CONST);
	}
	sycl_kernel electric = program_kernel(run, source, "electric"),
		    magnetic = program_kernel(run, source, "magnetic");
	for (uint32_t step = 0; step < STEPS; step++) {
		const float pulse = (float)step / STEPS;
		program_launch(run, electric, sycl_range2(n, n), UPDATES(field[0]),
			       UPDATES(field[1]), READS(field[2]), VALUE(pulse));
		program_launch(run, magnetic, sycl_range2(n, n), READS(field[0]), READS(field[1]),
			       UPDATES(field[2]));
	}
	program_on_cpu(run);
	for (uint32_t step = 0; step < STEPS; step++)
		fields_on_cpu(n, expected[0], expected[1], expected[2],
			      (double)((float)step / STEPS));
	static const char *const names[] = {"ex", "ey", "hz"};
	bool right = true;
	for (uint32_t i = 0; i < 3; i++) {
		right = check_grid(run, names[i], field[i], expected[i]) && right;
		free(start[i]);
		free(expected[i]);
	}
	(void)sycl_kernel_release(electric);
	(void)sycl_kernel_release(magnetic);
	return right;
}

static void hotspot_on_cpu(uint32_t n, const double *from, const float *power, double *to,
			   double lateral, double vertical, double ambient)
{
	for (uint32_t y = 0; y < n; y++)
		for (uint32_t x = 0; x < n; x++) {
			size_t i = (size_t)y * n + x;
			double t = from[i], around = 0;
			around += y > 0 ? from[i - n] : t;
			around += y + 1 < n ? from[i + n] : t;
			around += x > 0 ? from[i - 1] : t;
			around += x + 1 < n ? from[i + 1] : t;
			to[i] = t + (double)power[i] + lateral * (around - 4 * t) +
				vertical * (ambient - t);
		}
}

static bool run_hotspot(struct program_run *run)
{
	const float lateral = 0.15f, vertical = 0.05f, ambient = 80.0f;
	const uint32_t n = run->edge;
	const size_t count = (size_t)n * n, bytes = count * sizeof(float);
	float *start = program_allocate(run, count, sizeof(*start)),
	      *watts = program_allocate(run, count, sizeof(*watts));
	for (size_t i = 0; i < count; i++) {
		start[i] = 320.0f + 10.0f * program_uniform(run);
		watts[i] = program_uniform(run);
	}
	sycl_kernel kernel = program_kernel(run, source, "hotspot");
	sycl_buffer from = program_buffer(run, start, bytes, SYCL_HOST_CONST),
		    to = program_scratch(run, bytes);
	sycl_buffer power = program_buffer(run, watts, bytes, SYCL_HOST_CONST);
	double *a = stencil_doubles(run, start, count),
	       *b = program_allocate(run, count, sizeof(*b));
	for (uint32_t step = 0; step < STEPS; step++, swap(&from, &to))
		program_launch(run, kernel, sycl_range2(n, n), READS(from), READS(power),
			       WRITES(to), VALUE(lateral), VALUE(vertical), VALUE(ambient));
	program_on_cpu(run);
	for (uint32_t step = 0; step < STEPS; step++) {
		hotspot_on_cpu(n, a, watts, b, (double)lateral, (double)vertical, (double)ambient);
		memcpy(a, b, count * sizeof(*a));
	}
	bool right = check_grid(run, "temperatures", from, a);
	program_finish(run, to);
	program_finish(run, power);
	(void)sycl_kernel_release(kernel);
	free(start);
	free(watts);
	free(a);
	free(b);
	return right;
}

const struct program programs_stencils[] = {
	{"jacobi-2d", "the mean of five neighbours, step by step", {16, 256, 2048}, run_jacobi},
	{"fdtd-2d", "electric and magnetic fields in turn", {16, 256, 2048}, run_fdtd},
	{"hotspot", "the temperature of a chip", {16, 256, 2048}, run_hotspot},
	{NULL, NULL, {0}, NULL},
};
