/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of a matrix with vectors (after the algorithms of the PolyBench suite): atax, bicg, mvt,
 * gesummv. They do few operations for each byte, so they measure memory. One kernel walks rows,
 * another one columns.
 */
#include "program.h"

#include <stdlib.h>

static const char source[] =
	"/* y = first * A x + second * y, a work-item for each row */\n"
	"SYCL_KERNEL void rows(SYCL_GLOBAL(const float) a, SYCL_GLOBAL(const float) x, SYCL_GLOBAL(float) y, uint n,\n"
	"                      float first, float second)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	float sum = 0.0f;\n"
	"	for (uint j = 0; j < n; j++)\n"
	"		sum += a[i * n + j] * x[j];\n"
	"	y[i] = first * sum + (second == 0.0f ? 0.0f : second * y[i]);\n"
	"}\n"
	"/* y = A^T x + second * y, a work-item for each column: neighbours read neighbouring words */\n"
	"SYCL_KERNEL void columns(SYCL_GLOBAL(const float) a, SYCL_GLOBAL(const float) x, SYCL_GLOBAL(float) y, uint n,\n"
	"                         float second)\n"
	"{\n"
	"	uint j = (uint)sycl_global_id(0);\n"
	"	float sum = 0.0f;\n"
	"	for (uint i = 0; i < n; i++)\n"
	"		sum += a[i * n + j] * x[i];\n"
	"	y[j] = sum + (second == 0.0f ? 0.0f : second * y[j]);\n"
	"}\n";

static const float none = 0.0f, one = 1.0f;

/* A matrix, two vectors, two results, and the kernels. */
struct task {
	uint32_t n;
	float *matrix, *x1, *x2;
	sycl_buffer a, v1, v2;
	sycl_kernel rows, columns;
};

static void task_begin(struct program_run *run, struct task *task)
{
	const uint32_t n = task->n = run->edge;
	task->matrix = program_floats(run, (size_t)n * n);
	task->x1 = program_floats(run, n);
	task->x2 = program_floats(run, n);
	task->a =
		program_buffer(run, task->matrix, (uint64_t)n * n * sizeof(float), SYCL_HOST_CONST);
	task->v1 = program_buffer(run, task->x1, n * sizeof(float), SYCL_HOST_CONST);
	task->v2 = program_buffer(run, task->x2, n * sizeof(float), SYCL_HOST_CONST);
	task->rows = program_kernel(run, source, "rows");
	task->columns = program_kernel(run, source, "columns");
}

static void task_end(const struct program_run *run, struct task *task)
{
	program_finish(run, task->a);
	program_finish(run, task->v1);
	program_finish(run, task->v2);
	(void)sycl_kernel_release(task->rows);
	(void)sycl_kernel_release(task->columns);
	free(task->matrix);
	free(task->x1);
	free(task->x2);
}

static void multiply_rows(const struct program_run *run, const struct task *task, sycl_buffer a,
			  sycl_buffer x, sycl_buffer y, float first, float second)
{
	program_launch(run, task->rows, sycl_range1(task->n), READS(a), READS(x), UPDATES(y),
		       VALUE(task->n), VALUE(first), VALUE(second));
}

static void multiply_columns(const struct program_run *run, const struct task *task, sycl_buffer x,
			     sycl_buffer y, float second)
{
	program_launch(run, task->columns, sycl_range1(task->n), READS(task->a), READS(x),
		       UPDATES(y), VALUE(task->n), VALUE(second));
}

static void rows_on_cpu(uint32_t n, const float *matrix, const double *x, double factor, double *y)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			y[i] += factor * (double)matrix[(size_t)i * n + j] * x[j];
}

static void columns_on_cpu(uint32_t n, const float *matrix, const double *x, double *y)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			y[j] += (double)matrix[(size_t)i * n + j] * x[i];
}

static double *vector_doubles(const struct program_run *run, const float *values, uint32_t n)
{
	double *doubles = program_allocate(run, n, sizeof(*doubles));
	for (uint32_t i = 0; values && i < n; i++)
		doubles[i] = (double)values[i];
	return doubles;
}

static bool check_vector(const struct program_run *run, const char *what, sycl_buffer result,
			 double *expected)
{
	float *got = program_allocate(run, run->edge, sizeof(*got));
	program_read(run, result, got, run->edge * sizeof(*got));
	bool right = program_near(run, what, got, expected, run->edge, 1e-4);
	free(got);
	free(expected);
	program_finish(run, result);
	return right;
}

/* A^T (A x) */
static bool run_atax(struct program_run *run)
{
	struct task task;
	task_begin(run, &task);
	const uint64_t bytes = task.n * sizeof(float);
	sycl_buffer between = program_scratch(run, bytes), y = program_scratch(run, bytes);
	multiply_rows(run, &task, task.a, task.v1, between, one, none);
	multiply_columns(run, &task, between, y, none);

	program_on_cpu(run);
	double *x = vector_doubles(run, task.x1, task.n), *ax = vector_doubles(run, NULL, task.n),
	       *expected = vector_doubles(run, NULL, task.n);
	rows_on_cpu(task.n, task.matrix, x, 1, ax);
	columns_on_cpu(task.n, task.matrix, ax, expected);
	bool right = check_vector(run, "A^T A x", y, expected);
	free(x);
	free(ax);
	program_finish(run, between);
	task_end(run, &task);
	return right;
}

/* q = A p and s = A^T r, which do not depend on each other. */
static bool run_bicg(struct program_run *run)
{
	struct task task;
	task_begin(run, &task);
	const uint64_t bytes = task.n * sizeof(float);
	sycl_buffer q = program_scratch(run, bytes), s = program_scratch(run, bytes);
	multiply_rows(run, &task, task.a, task.v1, q, one, none);
	multiply_columns(run, &task, task.v2, s, none);

	program_on_cpu(run);
	double *p = vector_doubles(run, task.x1, task.n), *r = vector_doubles(run, task.x2, task.n);
	double *expected_q = vector_doubles(run, NULL, task.n),
	       *expected_s = vector_doubles(run, NULL, task.n);
	rows_on_cpu(task.n, task.matrix, p, 1, expected_q);
	columns_on_cpu(task.n, task.matrix, r, expected_s);
	bool right = check_vector(run, "A p", q, expected_q);
	right = check_vector(run, "A^T r", s, expected_s) && right;
	free(p);
	free(r);
	task_end(run, &task);
	return right;
}

/* x1 += A y1 and x2 += A^T y2 */
static bool run_mvt(struct program_run *run)
{
	struct task task;
	task_begin(run, &task);
	const uint64_t bytes = task.n * sizeof(float);
	float *start1 = program_floats(run, task.n), *start2 = program_floats(run, task.n);
	sycl_buffer x1 = program_buffer(run, start1, bytes, SYCL_HOST_CONST);
	sycl_buffer x2 = program_buffer(run, start2, bytes, SYCL_HOST_CONST);
	multiply_rows(run, &task, task.a, task.v1, x1, one, one);
	multiply_columns(run, &task, task.v2, x2, one);

	program_on_cpu(run);
	double *y1 = vector_doubles(run, task.x1, task.n),
	       *y2 = vector_doubles(run, task.x2, task.n);
	double *expected1 = vector_doubles(run, start1, task.n),
	       *expected2 = vector_doubles(run, start2, task.n);
	rows_on_cpu(task.n, task.matrix, y1, 1, expected1);
	columns_on_cpu(task.n, task.matrix, y2, expected2);
	bool right = check_vector(run, "x1", x1, expected1);
	right = check_vector(run, "x2", x2, expected2) && right;
	free(y1);
	free(y2);
	free(start1);
	free(start2);
	task_end(run, &task);
	return right;
}

/* y = alpha A x + beta B x */
static bool run_gesummv(struct program_run *run)
{
	const float alpha = 1.5f, beta = 1.2f;
	struct task task;
	task_begin(run, &task);
	const uint32_t n = task.n;
	float *other = program_floats(run, (size_t)n * n);
	sycl_buffer b =
		program_buffer(run, other, (uint64_t)n * n * sizeof(float), SYCL_HOST_CONST);
	sycl_buffer y = program_scratch(run, n * sizeof(float));
	multiply_rows(run, &task, task.a, task.v1, y, alpha, none);
	multiply_rows(run, &task, b, task.v1, y, beta, one);

	program_on_cpu(run);
	double *x = vector_doubles(run, task.x1, n), *expected = vector_doubles(run, NULL, n);
	rows_on_cpu(n, task.matrix, x, (double)alpha, expected);
	rows_on_cpu(n, other, x, (double)beta, expected);
	bool right = check_vector(run, "alpha A x + beta B x", y, expected);
	free(x);
	free(other);
	program_finish(run, b);
	task_end(run, &task);
	return right;
}

const struct program programs_vectors[] = {
	{"atax", "A^T A x", {24, 1024, 4096}, run_atax},
	{"bicg", "A p and A^T r, which may run together", {24, 1024, 4096}, run_bicg},
	{"mvt", "x1 += A y1, x2 += A^T y2", {24, 1024, 4096}, run_mvt},
	{"gesummv", "alpha A x + beta B x", {24, 1024, 4096}, run_gesummv},
	{NULL, NULL, {0}, NULL},
};
