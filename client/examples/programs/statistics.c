/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Covariance, correlation and the orthonormal basis of a set of columns by Gram and Schmidt (after
 * the algorithms of the PolyBench suite). The data matrix has a row for each point and a column for
 * each variable.
 */
#include "program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char source[] =
	"SYCL_KERNEL void means(SYCL_GLOBAL(const float) data, SYCL_GLOBAL(float) mean, uint points, uint variables)\n"
	"{\n"
	"	uint j = (uint)sycl_global_id(0);\n"
	"	float sum = 0.0f;\n"
	"	for (uint i = 0; i < points; i++)\n"
	"		sum += data[i * variables + j];\n"
	"	mean[j] = sum / (float)points;\n"
	"}\n"
	"SYCL_KERNEL void deviations(SYCL_GLOBAL(const float) data, SYCL_GLOBAL(const float) mean,\n"
	"                            SYCL_GLOBAL(float) deviation, uint points, uint variables)\n"
	"{\n"
	"	uint j = (uint)sycl_global_id(0);\n"
	"	float sum = 0.0f;\n"
	"	for (uint i = 0; i < points; i++) {\n"
	"		float d = data[i * variables + j] - mean[j];\n"
	"		sum += d * d;\n"
	"	}\n"
	"	deviation[j] = sycl_sqrt(sum / (float)points);\n"
	"}\n"
	"/* data - mean, divided by the deviation if `scaled` */\n"
	"SYCL_KERNEL void centre(SYCL_GLOBAL(float) data, SYCL_GLOBAL(const float) mean, SYCL_GLOBAL(const float) deviation,\n"
	"                        uint scaled)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), j = (uint)sycl_global_id(1), n = (uint)sycl_global_range(1);\n"
	"	float centred = data[i * n + j] - mean[j];\n"
	"	data[i * n + j] = scaled ? centred / deviation[j] : centred;\n"
	"}\n"
	"SYCL_KERNEL void products(SYCL_GLOBAL(const float) data, SYCL_GLOBAL(float) out, uint points, float divisor)\n"
	"{\n"
	"	uint a = (uint)sycl_global_id(0), b = (uint)sycl_global_id(1), n = (uint)sycl_global_range(1);\n"
	"	float sum = 0.0f;\n"
	"	for (uint i = 0; i < points; i++)\n"
	"		sum += data[i * n + a] * data[i * n + b];\n"
	"	out[a * n + b] = sum / divisor;\n"
	"}\n"
	"/* r[k][k] = |column k of a|; one work-item */\n"
	"SYCL_KERNEL void column_length(SYCL_GLOBAL(const float) a, SYCL_GLOBAL(float) r, uint n, uint k)\n"
	"{\n"
	"	float sum = 0.0f;\n"
	"	for (uint i = 0; i < n; i++)\n"
	"		sum += a[i * n + k] * a[i * n + k];\n"
	"	r[k * n + k] = sycl_sqrt(sum);\n"
	"}\n"
	"SYCL_KERNEL void normalise(SYCL_GLOBAL(const float) a, SYCL_GLOBAL(const float) r, SYCL_GLOBAL(float) q, uint n, uint k)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	q[i * n + k] = a[i * n + k] / r[k * n + k];\n"
	"}\n"
	"/* Takes what column k of q has of each later column out of it. */\n"
	"SYCL_KERNEL void take_out(SYCL_GLOBAL(float) a, SYCL_GLOBAL(float) r, SYCL_GLOBAL(const float) q, uint n, uint k)\n"
	"{\n"
	"	uint j = k + 1 + (uint)sycl_global_id(0);\n"
	"	float sum = 0.0f;\n"
	"	for (uint i = 0; i < n; i++)\n"
	"		sum += q[i * n + k] * a[i * n + j];\n"
	"	r[k * n + j] = sum;\n"
	"	for (uint i = 0; i < n; i++)\n"
	"		a[i * n + j] -= q[i * n + k] * sum;\n"
	"}\n";

/* Covariances, or with `scaled` correlations, of the columns. */
static double *on_cpu(const struct program_run *run, const float *data, uint32_t points, uint32_t n,
		      bool scaled)
{
	double *centred = program_allocate(run, (size_t)points * n, sizeof(*centred));
	for (uint32_t j = 0; j < n; j++) {
		double mean = 0, square = 0;
		for (uint32_t i = 0; i < points; i++)
			mean += (double)data[(size_t)i * n + j] / points;
		for (uint32_t i = 0; i < points; i++) {
			double d = centred[(size_t)i * n + j] =
				(double)data[(size_t)i * n + j] - mean;
			square += d * d;
		}
		for (uint32_t i = 0; scaled && i < points; i++)
			centred[(size_t)i * n + j] /= sqrt(square / points);
	}
	double *expected = program_allocate(run, (size_t)n * n, sizeof(*expected));
	for (uint32_t i = 0; i < points; i++)
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				expected[(size_t)a * n + b] += centred[(size_t)i * n + a] *
							       centred[(size_t)i * n + b] /
							       (scaled ? points : points - 1);
	free(centred);
	return expected;
}

static void submit_histogram(const struct program_run *run, sycl_buffer data, sycl_buffer out,
			     uint32_t points, uint32_t n, bool scaled)
{
	const uint32_t scale = scaled;
	const float divisor = (float)(scaled ? points : points - 1);
	sycl_kernel means = program_kernel(run, source, "means"),
		    deviations = program_kernel(run, source, "deviations");
	sycl_kernel centre = program_kernel(run, source, "centre"),
		    products = program_kernel(run, source, "products");
	sycl_buffer mean = program_scratch(run, n * sizeof(float)),
		    deviation = program_scratch(run, n * sizeof(float));
	program_launch(run, means, sycl_range1(n), READS(data), WRITES(mean), VALUE(points),
		       VALUE(n));
	program_launch(run, deviations, sycl_range1(n), READS(data), READS(mean), WRITES(deviation),
		       VALUE(points), VALUE(n));
	program_launch(run, centre, sycl_range2(points, n), UPDATES(data), READS(mean),
		       READS(deviation), VALUE(scale));
	program_launch(run, products, sycl_range2(n, n), READS(data), WRITES(out), VALUE(points),
		       VALUE(divisor));
	program_finish(run, mean);
	program_finish(run, deviation);
	(void)sycl_kernel_release(means);
	(void)sycl_kernel_release(deviations);
	(void)sycl_kernel_release(centre);
	(void)sycl_kernel_release(products);
}

static bool run_statistics(struct program_run *run, bool scaled)
{
	const uint32_t n = run->edge, points = 2 * n;
	const size_t bytes = (size_t)points * n * sizeof(float), result = (size_t)n * n;
	float *values = program_floats(run, (size_t)points * n),
	      *got = program_allocate(run, result, sizeof(*got));
	sycl_buffer data = program_buffer(run, values, bytes, SYCL_HOST_CONST),
		    out = program_scratch(run, result * sizeof(float));
	submit_histogram(run, data, out, points, n, scaled);
	program_read(run, out, got, result * sizeof(float));

	program_on_cpu(run);
	double *expected = on_cpu(run, values, points, n, scaled);
	bool right = program_near(run, scaled ? "correlations" : "covariances", got, expected,
				  result, 1e-4);
	free(expected);
	free(got);
	free(values);
	program_finish(run, data);
	program_finish(run, out);
	return right;
}

static bool run_covariance(struct program_run *run)
{
	return run_statistics(run, false);
}

static bool run_correlation(struct program_run *run)
{
	return run_statistics(run, true);
}

/* Dependent steps: three small kernels for each column. */
static void submit_basis(const struct program_run *run, uint32_t n, sycl_buffer a, sycl_buffer r,
			 sycl_buffer q)
{
	sycl_kernel length = program_kernel(run, source, "column_length"),
		    normalise = program_kernel(run, source, "normalise");
	sycl_kernel removal = program_kernel(run, source, "take_out");
	for (uint32_t k = 0; k < n; k++) {
		program_launch(run, length, sycl_range1(1), READS(a), UPDATES(r), VALUE(n),
			       VALUE(k));
		program_launch(run, normalise, sycl_range1(n), READS(a), READS(r), UPDATES(q),
			       VALUE(n), VALUE(k));
		/* The range is empty for the last column. */
		program_launch(run, removal, sycl_range1(n - 1 - k), UPDATES(a), UPDATES(r),
			       READS(q), VALUE(n), VALUE(k));
	}
	(void)sycl_kernel_release(length);
	(void)sycl_kernel_release(normalise);
	(void)sycl_kernel_release(removal);
}

/* a becomes the remainder. */
static void basis_on_cpu(uint32_t n, double *a, double *r, double *q)
{
	for (uint32_t k = 0; k < n; k++) {
		double square = 0, *of_k = r + (size_t)k * n;
		for (uint32_t i = 0; i < n; i++)
			square += a[(size_t)i * n + k] * a[(size_t)i * n + k];
		of_k[k] = sqrt(square);
		for (uint32_t i = 0; i < n; i++)
			q[(size_t)i * n + k] = a[(size_t)i * n + k] / of_k[k];
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = k + 1; j < n; j++)
				of_k[j] += q[(size_t)i * n + k] * a[(size_t)i * n + j];
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = k + 1; j < n; j++)
				a[(size_t)i * n + j] -= q[(size_t)i * n + k] * of_k[j];
	}
}

/* Compares q and r with the CPU's results. */
static bool check_basis(const struct program_run *run, uint32_t n, const float *values,
			const float *got_r, const float *got_q)
{
	const size_t count = (size_t)n * n;
	double *a = program_allocate(run, count, sizeof(*a)),
	       *r = program_allocate(run, count, sizeof(*r));
	double *q = program_allocate(run, count, sizeof(*q));
	for (size_t i = 0; i < count; i++)
		a[i] = (double)values[i];
	program_on_cpu(run);
	basis_on_cpu(n, a, r, q);
	bool right = program_near(run, "q", got_q, q, count, 1e-3);
	right = program_near(run, "r", got_r, r, count, 1e-3) && right;
	free(a);
	free(r);
	free(q);
	return right;
}

/* Also checks the definition of a QR decomposition: columns of q are orthonormal, and q r is the
 * matrix. */
static bool run_gramschmidt(struct program_run *run)
{
	const uint32_t n = run->edge;
	const size_t count = (size_t)n * n, bytes = count * sizeof(float);
	float *values = program_floats(run, count),
	      *zero = program_allocate(run, count, sizeof(*zero));
	/* A strong diagonal keeps the columns far from linear dependence. */
	for (uint32_t i = 0; i < n; i++)
		values[(size_t)i * n + i] += (float)n;
	sycl_buffer a = program_buffer(run, values, bytes, SYCL_HOST_CONST);
	sycl_buffer r = program_buffer(run, zero, bytes, SYCL_HOST_CONST),
		    q = program_buffer(run, zero, bytes, SYCL_HOST_CONST);
	submit_basis(run, n, a, r, q);
	float *got_r = program_allocate(run, count, sizeof(*got_r)),
	      *got_q = program_allocate(run, count, sizeof(*got_q));
	program_read(run, r, got_r, bytes);
	program_read(run, q, got_q, bytes);
	bool right = check_basis(run, n, values, got_r, got_q);

	float *product = program_allocate(run, count, sizeof(*product)),
	      *square = program_allocate(run, count, sizeof(*square));
	double *expected = program_allocate(run, count, sizeof(*expected)),
	       *unit = program_allocate(run, count, sizeof(*unit));
	for (uint32_t i = 0; i < n; i++) {
		unit[(size_t)i * n + i] = 1;
		for (uint32_t j = 0; j < n; j++) {
			double qr = 0, qq = 0;
			for (uint32_t k = 0; k < n; k++) {
				qr += (double)got_q[(size_t)i * n + k] *
				      (double)got_r[(size_t)k * n + j];
				qq += (double)got_q[(size_t)k * n + i] *
				      (double)got_q[(size_t)k * n + j];
			}
			product[(size_t)i * n + j] = (float)qr;
			square[(size_t)i * n + j] = (float)qq;
			expected[(size_t)i * n + j] = (double)values[(size_t)i * n + j];
		}
	}
	right = program_near(run, "q r", product, expected, count, 1e-4) && right;
	right = program_near(run, "q^T q", square, unit, count, 1e-3) && right;
	program_finish(run, a);
	program_finish(run, r);
	program_finish(run, q);
	free(values), free(zero), free(got_r), free(got_q), free(product), free(square),
		free(expected), free(unit);
	return right;
}

const struct program programs_statistics[] = {
	{"covariance", "covariances of the columns of a matrix", {10, 112, 384}, run_covariance},
	{"correlation", "correlations of the columns of a matrix", {10, 112, 384}, run_correlation},
	{"gramschmidt", "an orthonormal basis, column by column", {8, 96, 320}, run_gramschmidt},
	{NULL, NULL, {0}, NULL},
};
