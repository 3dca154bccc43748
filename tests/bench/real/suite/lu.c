/* A matrix divided into a lower and an upper triangle: two small kernels for each column. */
#include "real/suite/suite.h"

#include <math.h>
#include <stdlib.h>

enum { GROUP = 64, COPY = 0, DIVIDE, UPDATE };

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void copy(SYCL_GLOBAL(const float) in, SYCL_GLOBAL(float) m)\n"
	"{\n"
	"	m[(uint)sycl_global_id(0)] = in[(uint)sycl_global_id(0)];\n"
	"}\n"
	"SYCL_KERNEL void divide(SYCL_GLOBAL(float) m, uint n, uint k)\n"
	"{\n"
	"	uint row = (uint)sycl_global_id(0) + k + 1u;\n"
	"	if (row < n)\n		m[row * n + k] /= m[k * n + k];\n"
	"}\n"
	"SYCL_KERNEL void update(SYCL_GLOBAL(float) m, uint n, uint k)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), left = n - k - 1u, row = k + 1u + i / left, column = k + 1u + i % left;\n"
	"	if (row < n)\n		m[row * n + column] -= m[row * n + k] * m[k * n + column];\n"
	"}\n";
/* clang-format on */

struct lu {
	uint32_t side;
	unsigned source, matrix;
	float *in, *read;
};

static bool open_lu(struct real *real)
{
	static const uint32_t sizes[] = {[REAL_TINY] = 8, [REAL_PROCESSOR] = 32, [REAL_GPU] = 256};
	struct lu *lu = real->own;
	const uint32_t side = sizes[real->scale], bytes = side * side * sizeof(float);
	lu->side = side;
	lu->in = malloc(bytes);
	lu->read = real->body->host(real->layer, bytes);
	if (!lu->in || !lu->read)
		return false;
	suite_numbers(lu->in, side * side, 5);
	/* This makes pivoting unnecessary. */
	for (uint32_t i = 0; i < side; i++)
		lu->in[i * side + i] = 2.0f * (float)side;
	return suite_alloc(real, bytes, lu->in, &lu->source) &&
	       suite_alloc(real, bytes, NULL, &lu->matrix);
}

static bool lu_step(struct real *real, const struct real_variant *variant)
{
	const struct lu *lu = real->own;
	const uint32_t side = lu->side;
	bool good = suite_launch(real, COPY, side * side, GROUP, 2,
				 BUFFERS_OF(lu->source, lu->matrix), NO_WORDS);
	(void)variant;
	for (uint32_t k = 0, left = side - 1; left > 0 && good; k++, left--)
		good = suite_launch(real, DIVIDE, left, GROUP, 1, BUFFERS_OF(lu->matrix),
				    WORDS_OF(side, k)) &&
		       suite_launch(real, UPDATE, left * left, GROUP, 1, BUFFERS_OF(lu->matrix),
				    WORDS_OF(side, k));
	return good &&
	       real->body->read(real->layer, lu->matrix, lu->read, side * side * sizeof(float));
}

/* The product of both triangles is the matrix. */
static bool lu_verify(struct real *real)
{
	const struct lu *lu = real->own;
	const uint32_t side = lu->side;
	for (uint32_t i = 0; i < side * side; i++) {
		const uint32_t row = i / side, column = i % side;
		double sum = row <= column ? lu->read[i] : 0;
		for (uint32_t k = 0; k < row && k <= column; k++)
			sum += (double)lu->read[row * side + k] * lu->read[k * side + column];
		if (!(fabs(sum - lu->in[i]) <= 1e-5 * side))
			return real_wrong("row %u, column %u: %g instead of %g", row, column, sum,
					  (double)lu->in[i]);
	}
	return true;
}

const struct real_program suite_lu = {
	.source = {text, {"copy", "divide", "update"}},
	.own_bytes = sizeof(struct lu),
	.variants = suite_variant,
	.open = open_lu,
	.step = lu_step,
	.verify = lu_verify,
};
