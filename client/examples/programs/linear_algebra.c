/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices (after the algorithms of the PolyBench suite): gemm, 2mm, 3mm, syrk, syr2k,
 * doitgen. Matrices are square, of `edge` rows, in row order. Chains of products are ordered by
 * their accessors alone.
 */
#include "program.h"

#include <stdlib.h>

static const char source[] =
	"/* c = alpha * a b + beta * c */\n"
	"SYCL_KERNEL void multiply(SYCL_GLOBAL(const float) a, SYCL_GLOBAL(const float) b, SYCL_GLOBAL(float) c, uint n,\n"
	"                          float alpha, float beta)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), j = (uint)sycl_global_id(1);\n"
	"	float sum = 0.0f;\n"
	"	for (uint k = 0; k < n; k++)\n"
	"		sum += a[i * n + k] * b[k * n + j];\n"
	"	c[i * n + j] = alpha * sum + (beta == 0.0f ? 0.0f : beta * c[i * n + j]);\n"
	"}\n"
	"/* The lower triangle of c = alpha * (a b^T + b a^T) / 2 + beta * c; with b = a that is a a^T. */\n"
	"SYCL_KERNEL void rank_update(SYCL_GLOBAL(const float) a, SYCL_GLOBAL(const float) b, SYCL_GLOBAL(float) c,\n"
	"                             uint n, float alpha, float beta)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), j = (uint)sycl_global_id(1);\n"
	"	if (j > i)\n"
	"		return;\n"
	"	float sum = 0.0f;\n"
	"	for (uint k = 0; k < n; k++)\n"
	"		sum += a[i * n + k] * b[j * n + k] + b[i * n + k] * a[j * n + k];\n"
	"	c[i * n + j] = 0.5f * alpha * sum + beta * c[i * n + j];\n"
	"}\n"
	"/* out[r][q][p] = sum over s of a[r][q][s] * c4[s][p] */\n"
	"SYCL_KERNEL void contract(SYCL_GLOBAL(const float) a, SYCL_GLOBAL(const float) c4, SYCL_GLOBAL(float) out, uint n)\n"
	"{\n"
	"	uint r = (uint)sycl_global_id(0), q = (uint)sycl_global_id(1), p = (uint)sycl_global_id(2);\n"
	"	uint row = (r * (uint)sycl_global_range(1) + q) * n;\n"
	"	float sum = 0.0f;\n"
	"	for (uint s = 0; s < n; s++)\n"
	"		sum += a[row + s] * c4[s * n + p];\n"
	"	out[row + p] = sum;\n"
	"}\n";

static const float alpha = 1.5f, beta = 1.2f, none = 0.0f, one = 1.0f;

static void product_on_cpu(uint32_t n, double factor, const double *a, const double *b, double *sum)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			for (uint32_t j = 0; j < n; j++)
				sum[(size_t)i * n + j] +=
					factor * a[(size_t)i * n + k] * b[(size_t)k * n + j];
}

static double *as_doubles(const struct program_run *run, const float *values, size_t count,
			  double factor)
{
	double *doubles = program_allocate(run, count, sizeof(*doubles));
	for (size_t i = 0; i < count; i++)
		doubles[i] = factor * (double)values[i];
	return doubles;
}

#define MATRICES_MAX 4u

/* Up to four matrices of random numbers, as buffers and for the CPU. */
struct matrices {
	uint32_t n, count;
	uint64_t bytes;
	float *values[MATRICES_MAX];
	double *doubles[MATRICES_MAX];
	sycl_buffer buffers[MATRICES_MAX];
};

static void matrices_make(struct program_run *run, struct matrices *m, uint32_t count)
{
	m->n = run->edge;
	m->count = count;
	m->bytes = (uint64_t)m->n * m->n * sizeof(float);
	for (uint32_t i = 0; i < count; i++) {
		m->values[i] = program_floats(run, (size_t)m->n * m->n);
		m->doubles[i] = as_doubles(run, m->values[i], (size_t)m->n * m->n, 1);
		m->buffers[i] = program_buffer(run, m->values[i], m->bytes, SYCL_HOST_CONST);
	}
}

static void matrices_end(const struct program_run *run, struct matrices *m)
{
	for (uint32_t i = 0; i < m->count; i++) {
		program_finish(run, m->buffers[i]);
		free(m->values[i]);
		free(m->doubles[i]);
	}
}

static void multiply_by_device(const struct program_run *run, sycl_kernel kernel, uint32_t n,
			       sycl_buffer a, sycl_buffer b, sycl_buffer c, float first,
			       float second)
{
	program_launch(run, kernel, sycl_range2(n, n), READS(a), READS(b), UPDATES(c), VALUE(n),
		       VALUE(first), VALUE(second));
}

/* Compares a result buffer, and releases it. */
static bool check_matrix(const struct program_run *run, sycl_buffer result, const double *expected,
			 size_t count)
{
	float *got = program_allocate(run, count, sizeof(*got));
	program_read(run, result, got, count * sizeof(*got));
	bool right = program_near(run, "the result", got, expected, count, 1e-4);
	free(got);
	program_finish(run, result);
	return right;
}

/* c = alpha a b + beta c */
static bool run_gemm(struct program_run *run)
{
	struct matrices m;
	matrices_make(run, &m, 3);
	const size_t count = (size_t)m.n * m.n;
	sycl_kernel kernel = program_kernel(run, source, "multiply");
	sycl_buffer c = program_buffer(run, m.values[2], m.bytes, SYCL_HOST_CONST);
	multiply_by_device(run, kernel, m.n, m.buffers[0], m.buffers[1], c, alpha, beta);

	program_on_cpu(run);
	double *expected = as_doubles(run, m.values[2], count, (double)beta);
	product_on_cpu(m.n, (double)alpha, m.doubles[0], m.doubles[1], expected);
	bool right = check_matrix(run, c, expected, count);
	free(expected);
	(void)sycl_kernel_release(kernel);
	matrices_end(run, &m);
	return right;
}

/* d = (alpha a b) c + beta d */
static bool run_2mm(struct program_run *run)
{
	struct matrices m;
	matrices_make(run, &m, 4);
	const size_t count = (size_t)m.n * m.n;
	sycl_kernel kernel = program_kernel(run, source, "multiply");
	sycl_buffer between = program_scratch(run, m.bytes);
	sycl_buffer d = program_buffer(run, m.values[3], m.bytes, SYCL_HOST_CONST);
	multiply_by_device(run, kernel, m.n, m.buffers[0], m.buffers[1], between, alpha, none);
	multiply_by_device(run, kernel, m.n, between, m.buffers[2], d, one, beta);

	program_on_cpu(run);
	double *first = program_allocate(run, count, sizeof(*first));
	double *expected = as_doubles(run, m.values[3], count, (double)beta);
	product_on_cpu(m.n, (double)alpha, m.doubles[0], m.doubles[1], first);
	product_on_cpu(m.n, 1, first, m.doubles[2], expected);
	bool right = check_matrix(run, d, expected, count);
	free(first);
	free(expected);
	program_finish(run, between);
	(void)sycl_kernel_release(kernel);
	matrices_end(run, &m);
	return right;
}

/* g = (a b) (c d): the first two products may run at the same time. */
static bool run_3mm(struct program_run *run)
{
	struct matrices m;
	matrices_make(run, &m, 4);
	const size_t count = (size_t)m.n * m.n;
	sycl_kernel kernel = program_kernel(run, source, "multiply");
	sycl_buffer e = program_scratch(run, m.bytes), f = program_scratch(run, m.bytes),
		    g = program_scratch(run, m.bytes);
	multiply_by_device(run, kernel, m.n, m.buffers[0], m.buffers[1], e, one, none);
	multiply_by_device(run, kernel, m.n, m.buffers[2], m.buffers[3], f, one, none);
	multiply_by_device(run, kernel, m.n, e, f, g, one, none);

	program_on_cpu(run);
	double *first = program_allocate(run, count, sizeof(*first)),
	       *second = program_allocate(run, count, sizeof(*second));
	double *expected = program_allocate(run, count, sizeof(*expected));
	product_on_cpu(m.n, 1, m.doubles[0], m.doubles[1], first);
	product_on_cpu(m.n, 1, m.doubles[2], m.doubles[3], second);
	product_on_cpu(m.n, 1, first, second, expected);
	bool right = check_matrix(run, g, expected, count);
	free(first);
	free(second);
	free(expected);
	program_finish(run, e);
	program_finish(run, f);
	(void)sycl_kernel_release(kernel);
	matrices_end(run, &m);
	return right;
}

/* Computes the lower triangle; the upper one keeps its values. */
static bool rank_update(struct program_run *run, uint32_t second)
{
	struct matrices m;
	matrices_make(run, &m, 3);
	const uint32_t n = m.n;
	const size_t count = (size_t)n * n;
	sycl_kernel kernel = program_kernel(run, source, "rank_update");
	sycl_buffer c = program_buffer(run, m.values[2], m.bytes, SYCL_HOST_CONST);
	program_launch(run, kernel, sycl_range2(n, n), READS(m.buffers[0]),
		       READS(m.buffers[second]), UPDATES(c), VALUE(n), VALUE(alpha), VALUE(beta));

	const double *a = m.doubles[0], *b = m.doubles[second];
	program_on_cpu(run);
	double *expected = as_doubles(run, m.values[2], count, 1);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j <= i; j++) {
			double sum = 0;
			for (uint32_t k = 0; k < n; k++)
				sum += a[(size_t)i * n + k] * b[(size_t)j * n + k] +
				       b[(size_t)i * n + k] * a[(size_t)j * n + k];
			double *at = &expected[(size_t)i * n + j];
			*at = (double)beta * *at + (double)alpha * sum / 2;
		}
	bool right = check_matrix(run, c, expected, count);
	free(expected);
	(void)sycl_kernel_release(kernel);
	matrices_end(run, &m);
	return right;
}

static bool run_syrk(struct program_run *run)
{
	return rank_update(run, 0);
}

static bool run_syr2k(struct program_run *run)
{
	return rank_update(run, 1);
}

/* Every row of a cube times a matrix. */
static bool run_doitgen(struct program_run *run)
{
	const uint32_t n = run->edge, rows = n / 2;
	const size_t count = (size_t)rows * rows * n;
	float *cube = program_floats(run, count), *matrix = program_floats(run, (size_t)n * n);
	sycl_kernel kernel = program_kernel(run, source, "contract");
	sycl_buffer a = program_buffer(run, cube, count * sizeof(float), SYCL_HOST_CONST);
	sycl_buffer c4 =
		program_buffer(run, matrix, (uint64_t)n * n * sizeof(float), SYCL_HOST_CONST);
	sycl_buffer out = program_scratch(run, count * sizeof(float));
	program_launch(run, kernel, sycl_range3(rows, rows, n), READS(a), READS(c4), WRITES(out),
		       VALUE(n));

	program_on_cpu(run);
	double *expected = program_allocate(run, count, sizeof(*expected));
	for (size_t row = 0; row < (size_t)rows * rows; row++)
		for (uint32_t s = 0; s < n; s++)
			for (uint32_t p = 0; p < n; p++)
				expected[row * n + p] += (double)cube[row * n + s] *
							 (double)matrix[(size_t)s * n + p];
	bool right = check_matrix(run, out, expected, count);
	free(expected);
	program_finish(run, a);
	program_finish(run, c4);
	(void)sycl_kernel_release(kernel);
	free(cube);
	free(matrix);
	return right;
}

const struct program programs_linear_algebra[] = {
	{"gemm", "matrix product, alpha a b + beta c", {12, 128, 512}, run_gemm},
	{"2mm", "two products in a chain", {10, 112, 448}, run_2mm},
	{"3mm",
	 "three products: two that may run together, and one behind them",
	 {10, 112, 448},
	 run_3mm},
	{"syrk", "symmetric update of rank k", {12, 112, 448}, run_syrk},
	{"syr2k", "symmetric update of rank 2k", {12, 112, 448}, run_syr2k},
	{"doitgen", "a cube of rows times a matrix", {8, 64, 160}, run_doitgen},
	{NULL, NULL, {0}, NULL},
};
