/* A discrete Fourier transform of complex numbers, by Stockham: a kernel for each power of two. */
#include "real/suite/suite.h"

#include <math.h>
#include <stdlib.h>

enum { GROUP = 64, HEAD_BYTES = 512, BUTTERFLY = 0 };
enum { SOURCE, FIRST, SECOND, ROOTS, BUFFERS };

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void butterfly(SYCL_GLOBAL(const float) in, SYCL_GLOBAL(const float) roots,\n"
	"	SYCL_GLOBAL(float) out, uint half_count, uint m)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), k = i % m, other = i + half_count, at = 2u * i - k;\n"
	"	float c = roots[2u * (i - k)], s = roots[2u * (i - k) + 1u];\n"
	"	float x = in[2u * i], y = in[2u * i + 1u], u = in[2u * other], v = in[2u * other + 1u];\n"
	"	out[2u * at] = x + u;\n"
	"	out[2u * at + 1u] = y + v;\n"
	"	out[2u * (at + m)] = c * (x - u) - s * (y - v);\n"
	"	out[2u * (at + m) + 1u] = c * (y - v) + s * (x - u);\n"
	"}\n";
/* clang-format on */

struct fft {
	uint32_t count; /* of complex numbers */
	unsigned buffers[BUFFERS], result;
	double *expected;
	float *head;
};

static void host_butterflies(const double *in, double *out, uint32_t half, uint32_t m)
{
	for (uint32_t i = 0; i < half; i++) {
		const uint32_t k = i % m, other = i + half, at = 2 * i - k;
		const double angle = -M_PI * (i - k) / half, c = cos(angle), s = sin(angle);
		const double x = in[2 * i], y = in[2 * i + 1], u = in[2 * other],
			     v = in[2 * other + 1];
		out[2 * at] = x + u;
		out[2 * at + 1] = y + v;
		out[2 * (at + m)] = c * (x - u) - s * (y - v);
		out[2 * (at + m) + 1] = c * (y - v) + s * (x - u);
	}
}

/* The result is in one of the two arrays, which is returned; the other one is freed. */
static double *host_transform(double *first, double *second, uint32_t count)
{
	for (uint32_t m = 1; m < count; m *= 2) {
		double *const result = second;
		host_butterflies(first, second, count / 2, m);
		second = first;
		first = result;
	}
	free(second);
	return first;
}

static bool open_fft(struct real *real)
{
	static const uint32_t sizes[] = {
		[REAL_TINY] = 2 * GROUP, [REAL_PROCESSOR] = 1 << 12, [REAL_GPU] = 1 << 18};
	struct fft *fft = real->own;
	const uint32_t count = sizes[real->scale], bytes = count * 2 * sizeof(float);
	float *numbers = malloc(bytes), *roots = malloc(bytes / 2);
	double *a = calloc(count, 2 * sizeof(*a)), *b = calloc(count, 2 * sizeof(*b));
	fft->count = count;
	fft->head = real->body->host(real->layer, HEAD_BYTES);
	bool good = numbers && roots && a && b && fft->head;
	if (good) {
		suite_numbers(numbers, count * 2, 3);
		for (uint32_t i = 0; i < count * 2; i++)
			a[i] = numbers[i];
		for (uint32_t i = 0; i < count / 2; i++) {
			roots[2 * i] = (float)cos(-2 * M_PI * i / count);
			roots[2 * i + 1] = (float)sin(-2 * M_PI * i / count);
		}
		fft->expected = host_transform(a, b, count);
		good = suite_alloc(real, bytes, numbers, &fft->buffers[SOURCE]) &&
		       suite_alloc(real, bytes / 2, roots, &fft->buffers[ROOTS]) &&
		       suite_alloc(real, bytes, NULL, &fft->buffers[FIRST]) &&
		       suite_alloc(real, bytes, NULL, &fft->buffers[SECOND]);
	} else {
		free(a);
		free(b);
	}
	free(numbers);
	free(roots);
	return good;
}

static bool fft_step(struct real *real, const struct real_variant *variant)
{
	struct fft *fft = real->own;
	const unsigned *b = fft->buffers;
	unsigned in = b[SOURCE], out = b[FIRST];
	bool good = true;
	(void)variant;
	for (uint32_t m = 1; m < fft->count && good; m *= 2) {
		good = suite_launch(real, BUTTERFLY, fft->count / 2, GROUP, 4,
				    BUFFERS_OF(in, b[ROOTS], out), WORDS_OF(fft->count / 2, m));
		in = out;
		out = out == b[FIRST] ? b[SECOND] : b[FIRST];
	}
	fft->result = in;
	return good && real->body->read(real->layer, in, fft->head, HEAD_BYTES);
}

static bool fft_verify(struct real *real)
{
	const struct fft *fft = real->own;
	return suite_compare_numbers(real, fft->result, fft->expected, fft->count * 2,
				     1e-4 * sqrt(fft->count));
}

const struct real_program suite_fft = {
	.source = {text, {"butterfly"}},
	.own_bytes = sizeof(struct fft),
	.variants = suite_variant,
	.open = open_fft,
	.step = fft_step,
	.verify = fft_verify,
};
