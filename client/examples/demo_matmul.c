/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain of matrix products, X <- X * M, with tiles in local memory. Two buffers alternate, so
 * each product depends on the one before. The service derives that from the accessors. The CPU
 * computes the same chain, and the results are compared.
 */
#include "demo.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TILE     16u
#define PRODUCTS 64u

static const char source[] =
	"SYCL_KERNEL void multiply(SYCL_GLOBAL(const float) a, SYCL_GLOBAL(const float) b, SYCL_GLOBAL(float) c,\n"
	"                          SYCL_LOCAL(float) ta, SYCL_LOCAL(float) tb, uint n)\n"
	"{\n"
	"	uint row = (uint)sycl_global_id(0), column = (uint)sycl_global_id(1);\n"
	"	uint r = (uint)sycl_local_id(0), q = (uint)sycl_local_id(1), t = (uint)sycl_local_range(0);\n"
	"	float sum = 0.0f;\n"
	"	for (uint k = 0; k < n; k += t) {\n"
	"		ta[r * t + q] = a[row * n + k + q];\n"
	"		tb[r * t + q] = b[(k + r) * n + column];\n"
	"		sycl_group_barrier();\n"
	"		for (uint i = 0; i < t; i++)\n"
	"			sum += ta[r * t + i] * tb[i * t + q];\n"
	"		sycl_group_barrier();\n"
	"	}\n"
	"	c[row * n + column] = sum;\n"
	"}\n";

struct chain {
	uint32_t n;
	float *x, *m; /* n * n; x: the first factor, then the device's result */
};

/* Numbers of a fixed sequence, uniform in [-scale, scale). */
static void fill(float *values, size_t count, float scale, uint32_t seed)
{
	for (size_t i = 0; i < count; i++) {
		seed = seed * 1664525u + 1013904223u;
		values[i] = scale * ((float)(seed >> 8) / 8388608.0f - 1.0f);
	}
}

static void submit_product(const struct demo *demo, sycl_kernel kernel, uint32_t n, sycl_buffer a,
			   sycl_buffer b, sycl_buffer c, sycl_event *event_out)
{
	const uint64_t tile_bytes = sizeof(float) * TILE * TILE;
	sycl_result result = SYCL_LAUNCH_ND(
		demo->queue, kernel, sycl_range2(n, n), sycl_range2(TILE, TILE), event_out,
		SYCL_READ(a), SYCL_READ(b), sycl_launch_buffer(c, SYCL_ACCESS_WRITE_NO_INIT),
		sycl_launch_local(tile_bytes), sycl_launch_local(tile_bytes), SYCL_VALUE(n));
	demo_check(demo, result, "submit");
}

static void matmul_compute(const struct demo *demo, struct chain *chain)
{
	const uint64_t bytes = (uint64_t)chain->n * chain->n * sizeof(float);
	sycl_kernel kernel;
	sycl_buffer x[2], m;
	sycl_event events[PRODUCTS];
	demo_check(demo, sycl_kernel_from_source(demo->queue, source, "multiply", &kernel),
		   "the kernel");
	demo_check(demo,
		   sycl_buffer_create(demo->platform, chain->x, bytes, SYCL_HOST_BORROWED, &x[0]),
		   "buffer");
	demo_check(demo, sycl_buffer_create(demo->platform, NULL, bytes, SYCL_HOST_NONE, &x[1]),
		   "buffer");
	demo_check(demo, sycl_buffer_create(demo->platform, chain->m, bytes, SYCL_HOST_CONST, &m),
		   "buffer");

	/* An even number of products, so that the last result lies in the borrowed buffer. */
	_Static_assert(PRODUCTS % 2 == 0, "the result must end in the first buffer");
	for (uint32_t i = 0; i < PRODUCTS; i++)
		submit_product(demo, kernel, chain->n, x[i % 2], m, x[(i + 1) % 2], &events[i]);
	for (uint32_t i = 0; i < PRODUCTS; i++) {
		char text[64];
		demo_check(demo, sycl_event_wait(events[i]), "a product failed");
		(void)sycl_event_release(events[i]);
		(void)snprintf(text, sizeof(text), "product %u of %u", i + 1, PRODUCTS);
		if ((i + 1) % 8 == 0)
			demo_progress(demo, (i + 1) * 80 / PRODUCTS, text);
	}
	(void)sycl_kernel_release(kernel);
	(void)sycl_buffer_release(m);
	(void)sycl_buffer_release(x[1]);
	/* Waits, and writes the result back to chain->x. */
	demo_check(demo, sycl_buffer_release(x[0]), "write-back");
}

/* c = a * b, row by row. The inner loop follows rows of b, which a compiler can vectorise. */
static void multiply_on_cpu(uint32_t n, const float *a, const float *b, float *c)
{
	memset(c, 0, (size_t)n * n * sizeof(*c));
	for (uint32_t row = 0; row < n; row++)
		for (uint32_t k = 0; k < n; k++) {
			const float factor = a[(size_t)row * n + k];
			for (uint32_t column = 0; column < n; column++)
				c[(size_t)row * n + column] += factor * b[(size_t)k * n + column];
		}
}

/* The device rounds sums in another order. So the results may differ by a ten-thousandth of their
 * root mean square. */
static bool matmul_verify(const struct demo *demo, const struct chain *chain, float *expected)
{
	const size_t count = (size_t)chain->n * chain->n;
	float *next = demo_allocate(demo, count, sizeof(float));
	for (uint32_t i = 0; i < PRODUCTS; i++) {
		multiply_on_cpu(chain->n, expected, chain->m, next);
		memcpy(expected, next, count * sizeof(float));
	}
	free(next);
	double square = 0, worst = 0;
	for (size_t i = 0; i < count; i++) {
		double difference = fabs((double)expected[i] - (double)chain->x[i]);
		square += (double)expected[i] * (double)expected[i];
		/* Written so that a NaN counts as wrong. */
		if (!(difference <= worst))
			worst = difference;
	}
	double rms = sqrt(square / (double)count);
	return rms > 1e-6 && worst <= 1e-4 * rms;
}

int main(int argc, char **argv)
{
	struct demo demo;
	demo_begin(&demo, "demo_matmul", argc, argv);
	struct chain chain = {.n = (demo.size ? demo.size : 384) / TILE * TILE};
	const size_t count = (size_t)chain.n * chain.n;
	chain.x = demo_allocate(&demo, count, sizeof(float));
	chain.m = demo_allocate(&demo, count, sizeof(float));
	float *expected = demo_allocate(&demo, count, sizeof(float));
	fill(chain.x, count, 1.0f, 1);
	/* Entries of variance 1/n keep the products about as large as the first factor. */
	fill(chain.m, count, sqrtf(3.0f / (float)chain.n), 2);
	memcpy(expected, chain.x, count * sizeof(float));

	matmul_compute(&demo, &chain);
	demo_progress(&demo, 85, "checking the whole chain on the CPU");
	bool verified = matmul_verify(&demo, &chain, expected);
	free(chain.x);
	free(chain.m);
	free(expected);
	return demo_end(&demo, verified, NULL);
}
