/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast Fourier transform of complex numbers, by Stockham's method. Each pass reads one buffer
 * and writes the other, in such an order that the last result is sorted. It is checked in three
 * ways: by the same method on the CPU, by the defining sum at some frequencies, and by the inverse
 * transform.
 */
#include "program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static const char source[] =
	"/* Pass with transforms of length `length` done before; `sign` -1: forward. Numbers are pairs. */\n"
	"SYCL_KERNEL void pass(SYCL_GLOBAL(const float) from, SYCL_GLOBAL(float) to, uint n, uint length, float sign)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), half_n = n / 2u;\n"
	"	uint k = i & (length - 1u), block = i - k;\n"
	"	float angle = sign * 3.14159265358979f * (float)k / (float)length;\n"
	"	float c = sycl_cos(angle), s = sycl_sin(angle);\n"
	"	float ar = from[2u * i], ai = from[2u * i + 1u];\n"
	"	float br = from[2u * (i + half_n)], bi = from[2u * (i + half_n) + 1u];\n"
	"	float tr = br * c - bi * s, ti = br * s + bi * c;\n"
	"	uint o = 2u * block + k;\n"
	"	to[2u * o] = ar + tr;\n"
	"	to[2u * o + 1u] = ai + ti;\n"
	"	to[2u * (o + length)] = ar - tr;\n"
	"	to[2u * (o + length) + 1u] = ai - ti;\n"
	"}\n";

/* Transforms `data` (n pairs) in place. */
static void transform(const struct program_run *run, sycl_kernel kernel, float *data, uint32_t n,
		      float sign)
{
	const uint64_t bytes = 2ull * n * sizeof(float);
	sycl_buffer from = program_buffer(run, data, bytes, SYCL_HOST_CONST),
		    to = program_scratch(run, bytes);
	for (uint32_t length = 1; length < n; length *= 2) {
		program_launch(run, kernel, sycl_range1(n / 2), READS(from), WRITES(to), VALUE(n),
			       VALUE(length), VALUE(sign));
		sycl_buffer other = from;
		from = to;
		to = other;
	}
	program_read(run, from, data, bytes);
	program_finish(run, from);
	program_finish(run, to);
}

/* Computes one frequency by the definition. */
static void frequency_on_cpu(const float *data, uint32_t n, uint32_t frequency, double *sum)
{
	sum[0] = sum[1] = 0;
	for (uint32_t i = 0; i < n; i++) {
		double angle = -2 * pi * (double)((uint64_t)frequency * i % n) / n, c = cos(angle),
		       s = sin(angle);
		const float *at = data + (size_t)2 * i;
		sum[0] += (double)at[0] * c - (double)at[1] * s;
		sum[1] += (double)at[0] * s + (double)at[1] * c;
	}
}

static void pass_on_cpu(const double *from, double *to, uint32_t n, uint32_t length, double sign)
{
	for (uint32_t k = 0; k < length; k++) {
		const double c = cos(pi * k / length), s = sign * sin(pi * k / length);
		for (uint32_t i = k; i < n / 2; i += length) {
			const double *p = from + (size_t)2 * i, *q = p + n;
			const double tr = q[0] * c - q[1] * s, ti = q[0] * s + q[1] * c;
			double *o = to + (size_t)2 * (2 * (i - k) + k);
			o[0] = p[0] + tr;
			o[1] = p[1] + ti;
			o[(size_t)2 * length] = p[0] - tr;
			o[(size_t)2 * length + 1] = p[1] - ti;
		}
	}
}

/* As transform, on the CPU. */
static void transform_on_cpu(const struct program_run *run, double *data, uint32_t n, double sign)
{
	double *other = program_allocate(run, 2 * (size_t)n, sizeof(*other)), *from = data,
	       *to = other;
	for (uint32_t length = 1; length < n; length *= 2) {
		pass_on_cpu(from, to, n, length, sign);
		double *written = to;
		to = from;
		from = written;
	}
	if (from == other)
		memcpy(data, other, 2 * (size_t)n * sizeof(*data));
	free(other);
}

#define FREQUENCIES 64u

/* Checks some frequencies against the definition. */
static bool check_frequencies(const struct program_run *run, const float *signal, const float *data,
			      uint32_t n)
{
	const uint32_t count = n < FREQUENCIES ? n : FREQUENCIES;
	float got[2 * FREQUENCIES];
	double expected[2 * FREQUENCIES];
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t frequency = ((uint32_t)((uint64_t)i * n / count) + (i & 1)) % n;
		frequency_on_cpu(signal, n, frequency, expected + (size_t)2 * i);
		memcpy(got + (size_t)2 * i, data + (size_t)2 * frequency, 2 * sizeof(*got));
	}
	return program_near(run, "frequencies", got, expected, (size_t)2 * count, 1e-3);
}

static bool run_fft(struct program_run *run)
{
	uint32_t n = 2;
	while (2 * n <= run->edge)
		n *= 2;
	float *signal = program_floats(run, 2 * (size_t)n),
	      *data = program_allocate(run, 2 * (size_t)n, sizeof(*data));
	memcpy(data, signal, 2 * (size_t)n * sizeof(*data));
	sycl_kernel kernel = program_kernel(run, source, "pass");
	transform(run, kernel, data, n, -1.0f);
	double *expected = program_allocate(run, 2 * (size_t)n, sizeof(*expected));
	for (size_t i = 0; i < 2 * (size_t)n; i++)
		expected[i] = (double)signal[i];
	program_on_cpu(run);
	transform_on_cpu(run, expected, n, -1);
	bool right = program_near(run, "the transform", data, expected, 2 * (size_t)n, 1e-3);
	right = check_frequencies(run, signal, data, n) && right;

	transform(run, kernel, data, n, 1.0f);
	program_on_cpu(run);
	transform_on_cpu(run, expected, n, 1);
	right = program_near(run, "there and back", data, expected, 2 * (size_t)n, 1e-4) && right;
	for (size_t i = 0; i < 2 * (size_t)n; i++) {
		expected[i] = (double)signal[i];
		data[i] /= (float)n;
	}
	right = program_near(run, "the signal", data, expected, 2 * (size_t)n, 1e-4) && right;
	(void)sycl_kernel_release(kernel);
	free(expected);
	free(signal);
	free(data);
	return right;
}

const struct program programs_fft[] = {
	{"fft", "the fast Fourier transform, there and back", {64, 65536, 4194304}, run_fft},
	{NULL, NULL, {0}, NULL},
};
