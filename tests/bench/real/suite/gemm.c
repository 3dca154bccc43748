/* A product of two square matrices, by tiles in local memory; and several larger ones in a row. */
#include "real/suite/suite.h"

#include <math.h>
#include <stdlib.h>

enum { TILE = 16, GROUP = TILE * TILE, MULTIPLY = 0 };
enum { A, B, C, BUFFERS };

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void multiply(SYCL_GLOBAL(const float) a, SYCL_GLOBAL(const float) b, SYCL_GLOBAL(float) c, uint n)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(float, ta, 256);\n"
	"	SYCL_LOCAL_ARRAY(float, tb, 256);\n"
	"	uint l = (uint)sycl_local_id(0), g = (uint)sycl_group_id(0), x = l % 16u, y = l / 16u, tiles = n / 16u;\n"
	"	uint row = g / tiles * 16u + y, column = g % tiles * 16u + x;\n"
	"	float sum = 0.0f;\n"
	"	for (uint t = 0u; t < n; t += 16u) {\n"
	"		ta[l] = a[row * n + t + x];\n"
	"		tb[l] = b[(t + y) * n + column];\n"
	"		sycl_group_barrier();\n"
	"		for (uint k = 0u; k < 16u; k++)\n"
	"			sum += ta[y * 16u + k] * tb[k * 16u + x];\n"
	"		sycl_group_barrier();\n"
	"	}\n"
	"	c[row * n + column] = sum;\n"
	"}\n";
/* clang-format on */

struct gemm {
	uint32_t side;
	unsigned buffers[BUFFERS];
	float *matrices[2], *read;
	double *vector, *expected; /* a vector, and its product with the matrix */
};

static void host_apply(const float *matrix, const double *vector, double *out, uint32_t side)
{
	for (uint32_t row = 0; row < side; row++) {
		out[row] = 0;
		for (uint32_t column = 0; column < side; column++)
			out[row] += (double)matrix[row * side + column] * vector[column];
	}
}

static bool open_gemm(struct real *real)
{
	static const uint32_t sizes[] = {
		[REAL_TINY] = TILE, [REAL_PROCESSOR] = 64, [REAL_GPU] = 512};
	struct gemm *gemm = real->own;
	const uint32_t side = sizes[real->scale] * real->program->variants->b,
		       bytes = side * side * sizeof(float);
	double *between = calloc(side, sizeof(*between));
	gemm->side = side;
	gemm->read = real->body->host(real->layer, bytes);
	gemm->vector = calloc(side, sizeof(double));
	gemm->expected = calloc(side, sizeof(double));
	bool good = between && gemm->read && gemm->vector && gemm->expected;
	for (unsigned i = A; i < C && good; i++) {
		gemm->matrices[i] = malloc(bytes);
		good = gemm->matrices[i] != NULL;
		if (good)
			suite_numbers(gemm->matrices[i], side * side, 10 + i);
		good = good && suite_alloc(real, bytes, gemm->matrices[i], &gemm->buffers[i]);
	}
	if (good) {
		for (uint32_t i = 0; i < side; i++)
			gemm->vector[i] = i % 7 - 3.0;
		host_apply(gemm->matrices[B], gemm->vector, between, side);
		host_apply(gemm->matrices[A], between, gemm->expected, side);
		good = suite_alloc(real, bytes, NULL, &gemm->buffers[C]);
	}
	free(between);
	return good;
}

static bool gemm_step(struct real *real, const struct real_variant *variant)
{
	const struct gemm *gemm = real->own;
	const uint32_t all = gemm->side * gemm->side;
	bool good = true;
	for (unsigned i = 0; i < variant->a && good; i++)
		good = suite_launch(
			real, MULTIPLY, all, GROUP, 4,
			BUFFERS_OF(gemm->buffers[A], gemm->buffers[B], gemm->buffers[C]),
			WORDS_OF(gemm->side));
	return good &&
	       real->body->read(real->layer, gemm->buffers[C], gemm->read, all * sizeof(float));
}

/* Every element of the product affects its product with a vector. */
static bool gemm_verify(struct real *real)
{
	const struct gemm *gemm = real->own;
	double *got = calloc(gemm->side, sizeof(*got));
	bool good = got != NULL;
	if (good)
		host_apply(gemm->read, gemm->vector, got, gemm->side);
	for (uint32_t i = 0; i < gemm->side && good; i++)
		good = fabs(got[i] - gemm->expected[i]) <= 1e-4 * gemm->side ||
		       real_wrong("row %u makes %g instead of %g", i, got[i], gemm->expected[i]);
	free(got);
	return good;
}

static const struct real_variant once[] = {{.name = "", .a = 1, .b = 1}, {.name = NULL}};
static const struct real_variant four_times[] = {{.name = "", .a = 4, .b = 2}, {.name = NULL}};

#define GEMM(variants_of)                                                                          \
	{                                                                                          \
		.source = {text, {"multiply"}}, .own_bytes = sizeof(struct gemm),                  \
		.variants = (variants_of), .open = open_gemm, .step = gemm_step,                   \
		.verify = gemm_verify                                                              \
	}

const struct real_program suite_gemm = GEMM(once);
const struct real_program suite_heavy = GEMM(four_times);
