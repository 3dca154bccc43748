/*
 * TR3, requests to a block of a transformer: tokens in, 14 kernels, as many tokens out. The next
 * request comes at once, or after a pause. There is also a form with two blocks, so 28 kernels. The
 * weights are constant, and there are a few different inputs.
 */
#include "real/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	GROUP = 64,
	TOKENS = 16,
	WIDTH_GPU = 256, /* 16 KiB in and out */
	WIDTH_PROCESSOR = 64,
	WIDTH_TINY = 4,
	INPUTS = 4,
	LAUNCHES = 14,
	BLOCKS = 2,                     /* at most */
	FLOATS = TOKENS * WIDTH_GPU * 2 /* of the largest */
};
enum { NORM, MULTIPLY, SCORES, SOFTMAX, ADD, RELU };

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void normalise(SYCL_GLOBAL(const float) x, SYCL_GLOBAL(float) out, uint width)\n"
	"{\n"
	"	SYCL_LOCAL_ARRAY(float, sums, 64);\n"
	"	SYCL_LOCAL_ARRAY(float, squares, 64);\n"
	"	uint l = (uint)sycl_local_id(0), row = (uint)sycl_group_id(0) * width;\n"
	"	float sum = 0.0f, square = 0.0f;\n"
	"	for (uint i = l; i < width; i += 64u) {\n"
	"		sum += x[row + i];\n"
	"		square += x[row + i] * x[row + i];\n"
	"	}\n"
	"	sums[l] = sum;\n"
	"	squares[l] = square;\n"
	"	sycl_group_barrier();\n"
	"	for (uint step = 32u; step > 0u; step /= 2u) {\n"
	"		if (l < step) {\n"
	"			sums[l] += sums[l + step];\n"
	"			squares[l] += squares[l + step];\n"
	"		}\n"
	"		sycl_group_barrier();\n"
	"	}\n"
	"	float mean = sums[0] / (float)width;\n"
	"	float scale = 1.0f / sqrt(squares[0] / (float)width - mean * mean + 1e-5f);\n"
	"	for (uint i = l; i < width; i += 64u)\n"
	"		out[row + i] = (x[row + i] - mean) * scale;\n"
	"}\n"
	"SYCL_KERNEL void multiply(SYCL_GLOBAL(const float) a, SYCL_GLOBAL(const float) w,\n"
	"	SYCL_GLOBAL(float) out, uint inner, uint width, uint count)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), row = i / width, column = i % width;\n"
	"	float sum = 0.0f;\n"
	"	if (i >= count)\n		return;\n"
	"	for (uint k = 0u; k < inner; k++)\n"
	"		sum += a[row * inner + k] * w[k * width + column];\n"
	"	out[i] = sum;\n"
	"}\n"
	"SYCL_KERNEL void scores(SYCL_GLOBAL(const float) q, SYCL_GLOBAL(const float) k,\n"
	"	SYCL_GLOBAL(float) out, uint width, uint tokens)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), row = i / tokens, column = i % tokens;\n"
	"	float sum = 0.0f;\n"
	"	for (uint j = 0u; j < width; j++)\n"
	"		sum += q[row * width + j] * k[column * width + j];\n"
	"	out[i] = sum / sqrt((float)width);\n"
	"}\n"
	"SYCL_KERNEL void softmax(SYCL_GLOBAL(float) s, uint tokens)\n"
	"{\n"
	"	uint row = (uint)sycl_global_id(0) * tokens;\n"
	"	float most = s[row], sum = 0.0f;\n"
	"	for (uint i = 1u; i < tokens; i++)\n"
	"		most = s[row + i] > most ? s[row + i] : most;\n"
	"	for (uint i = 0u; i < tokens; i++) {\n"
	"		s[row + i] = exp(s[row + i] - most);\n"
	"		sum += s[row + i];\n"
	"	}\n"
	"	for (uint i = 0u; i < tokens; i++)\n"
	"		s[row + i] /= sum;\n"
	"}\n"
	"SYCL_KERNEL void add(SYCL_GLOBAL(const float) a, SYCL_GLOBAL(const float) b, SYCL_GLOBAL(float) out)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	out[i] = a[i] + b[i];\n"
	"}\n"
	"SYCL_KERNEL void relu(SYCL_GLOBAL(float) a)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	a[i] = a[i] > 0.0f ? a[i] : 0.0f;\n"
	"}\n";
/* clang-format on */

enum { X, N, Q, K, V, S, M, O, Y, N2, F, H, OUT, OUT2, WQ, WK, WV, WO, W1, W2, BUFFERS };

/* b: a second block follows the first one. */
#define RESTED(variant_name, milliseconds, as_graph, second)                                       \
	{                                                                                          \
		.name = (variant_name), .rest_ns = (milliseconds)*1000000ull, .a = (as_graph),     \
		.b = (second), .target_p50 = 1.0, .target_p99 = 1.1                                \
	}

static const struct real_variant variants[] = {
	{.name = "launches", .target_p50 = 0.70},
	RESTED("launches.rest1", 1, 0, 0),
	RESTED("launches.rest10", 10, 0, 0),
	RESTED("launches.rest100", 100, 0, 0),
	{.name = "graph", .a = 1, .target_p50 = 0.90},
	RESTED("graph.rest1", 1, 1, 0),
	RESTED("graph.rest10", 10, 1, 0),
	RESTED("graph.rest100", 100, 1, 0),
	{.name = "launches28", .b = 1, .target_p50 = 0.70},
	RESTED("launches28.rest1", 1, 0, 1),
	RESTED("launches28.rest10", 10, 0, 1),
	{.name = "graph28", .a = 1, .b = 1, .target_p50 = 0.90},
	RESTED("graph28.rest1", 1, 1, 1),
	RESTED("graph28.rest10", 10, 1, 1),
	{.name = NULL},
};

struct requests {
	uint32_t width;
	unsigned buffers[BUFFERS], graphs[BLOCKS], input;
	float *in[INPUTS], *out, *weights[BUFFERS]; /* of the host */
	float expected[BLOCKS][INPUTS][TOKENS * WIDTH_GPU];
};

/* Pseudo-random numbers between -1 and 1. */
static void fill_numbers(float *numbers, uint32_t count, uint32_t seed, float scale)
{
	for (uint32_t i = 0; i < count; i++) {
		seed = seed * 1664525u + 1013904223u;
		numbers[i] = scale * ((float)(seed >> 8) / 8388608.0f - 1);
	}
}

static uint32_t requests_floats_of(const struct requests *requests, int buffer)
{
	const uint32_t width = requests->width;
	if (buffer == S)
		return TOKENS * TOKENS;
	if (buffer == F)
		return TOKENS * width * 2;
	if (buffer < WQ)
		return TOKENS * width;
	return buffer >= W1 ? width * width * 2 : width * width;
}

static struct layer_launch launch_of_multiply(const struct requests *requests, int a, int w,
					      int out, uint32_t inner)
{
	const unsigned *b = requests->buffers;
	const uint32_t count = requests_floats_of(requests, out), width = count / TOKENS;
	return (struct layer_launch){MULTIPLY, (count + GROUP - 1) / GROUP * GROUP,
				     GROUP,    3,
				     3,        {b[a], b[w], b[out]},
				     4,        {inner, width, count}};
}

static bool launch_block(struct real *real, int in, int out)
{
	const struct requests *requests = real->own;
	const unsigned *b = requests->buffers;
	const uint32_t width = requests->width, all = TOKENS * width;
	const struct layer_launch launches[LAUNCHES] = {
		{NORM, TOKENS * GROUP, GROUP, 2, 1, {b[in], b[N]}, 2, {width}},
		launch_of_multiply(requests, N, WQ, Q, width),
		launch_of_multiply(requests, N, WK, K, width),
		launch_of_multiply(requests, N, WV, V, width),
		{SCORES, TOKENS * TOKENS, GROUP, 3, 2, {b[Q], b[K], b[S]}, 4, {width, TOKENS}},
		{SOFTMAX, TOKENS, TOKENS, 1, 1, {b[S]}, 1, {TOKENS}},
		launch_of_multiply(requests, S, V, M, TOKENS),
		launch_of_multiply(requests, M, WO, O, width),
		{ADD, all, GROUP, 3, 0, {b[in], b[O], b[Y]}, 4, {0}},
		{NORM, TOKENS * GROUP, GROUP, 2, 1, {b[Y], b[N2]}, 2, {width}},
		launch_of_multiply(requests, N2, W1, F, width),
		{RELU, all * 2, GROUP, 1, 0, {b[F]}, 1, {0}},
		launch_of_multiply(requests, F, W2, H, width * 2),
		{ADD, all, GROUP, 3, 0, {b[Y], b[H], b[out]}, 4, {0}},
	};
	bool good = true;
	for (int i = 0; i < LAUNCHES && good; i++)
		good = real->body->launch(real->layer, &launches[i]);
	return good;
}

static bool launch_blocks(struct real *real, unsigned second)
{
	return launch_block(real, X, OUT) && (!second || launch_block(real, OUT, OUT2));
}

/* ----------------------------- the same on the host ----------------------------------- */

static void host_norm(const float *x, float *out, uint32_t width)
{
	for (int t = 0; t < TOKENS; t++, x += width, out += width) {
		double sum = 0, square = 0;
		for (uint32_t i = 0; i < width; i++) {
			sum += x[i];
			square += (double)x[i] * x[i];
		}
		const double mean = sum / width, rest = square / width - mean * mean + 1e-5;
		for (uint32_t i = 0; i < width; i++)
			out[i] = (float)((x[i] - mean) / sqrt(rest));
	}
}

static void host_multiply(const float *a, const float *w, float *out, uint32_t inner,
			  uint32_t width)
{
	for (uint32_t i = 0; i < TOKENS * width; i++) {
		double sum = 0;
		for (uint32_t k = 0; k < inner; k++)
			sum += (double)a[i / width * inner + k] * w[k * width + i % width];
		out[i] = (float)sum;
	}
}

static void host_attend(const float *q, const float *k, const float *v, float *out, uint32_t width)
{
	float weights[TOKENS * TOKENS];
	for (int row = 0; row < TOKENS; row++) {
		double sum = 0;
		float *w = &weights[row * TOKENS];
		for (int column = 0; column < TOKENS; column++) {
			double score = 0;
			for (uint32_t j = 0; j < width; j++)
				score += (double)q[(uint32_t)row * width + j] *
					 k[(uint32_t)column * width + j];
			w[column] = (float)exp(score / sqrt(width));
			sum += w[column];
		}
		for (int column = 0; column < TOKENS; column++)
			w[column] = (float)(w[column] / sum);
	}
	host_multiply(weights, v, out, TOKENS, width);
}

static void host_block(const struct requests *requests, const float *x, float *out)
{
	static float n[FLOATS], q[FLOATS], k[FLOATS], v[FLOATS], m[FLOATS], y[FLOATS];
	const uint32_t width = requests->width, all = TOKENS * width;
	float *const *w = requests->weights;
	host_norm(x, n, width);
	host_multiply(n, w[WQ], q, width, width);
	host_multiply(n, w[WK], k, width, width);
	host_multiply(n, w[WV], v, width, width);
	host_attend(q, k, v, m, width);
	host_multiply(m, w[WO], q, width, width);
	for (uint32_t i = 0; i < all; i++)
		y[i] = x[i] + q[i];
	host_norm(y, n, width);
	host_multiply(n, w[W1], m, width, width * 2);
	for (uint32_t i = 0; i < all * 2; i++)
		m[i] = m[i] > 0 ? m[i] : 0;
	host_multiply(m, w[W2], q, width * 2, width);
	for (uint32_t i = 0; i < all; i++)
		out[i] = y[i] + q[i];
}

static bool open_weights(struct real *real)
{
	struct requests *requests = real->own;
	bool good = true;
	for (int i = 0; i < BUFFERS && good; i++) {
		const uint32_t count = requests_floats_of(requests, i);
		good = real->body->alloc(real->layer, count * sizeof(float), &requests->buffers[i]);
		if (i < WQ || !good)
			continue;
		requests->weights[i] = real->body->host(real->layer, count * sizeof(float));
		if (!requests->weights[i])
			return false;
		fill_numbers(requests->weights[i], count, (uint32_t)i,
			     1 / sqrtf((float)requests->width));
		good = real->body->write(real->layer, requests->buffers[i], requests->weights[i],
					 count * sizeof(float));
	}
	return good && real->body->sync(real->layer);
}

static bool open_requests(struct real *real)
{
	static const uint32_t widths[] = {[REAL_TINY] = WIDTH_TINY,
					  [REAL_PROCESSOR] = WIDTH_PROCESSOR,
					  [REAL_GPU] = WIDTH_GPU};
	struct requests *requests = real->own;
	requests->width = widths[real->scale];
	const uint32_t all = TOKENS * requests->width;
	requests->out = real->body->host(real->layer, all * sizeof(float));
	bool good = requests->out && open_weights(real);
	for (unsigned i = 0; i < INPUTS && good; i++) {
		requests->in[i] = real->body->host(real->layer, all * sizeof(float));
		if (!requests->in[i])
			return false;
		fill_numbers(requests->in[i], all, 100 + i, 1);
		host_block(requests, requests->in[i], requests->expected[0][i]);
		host_block(requests, requests->expected[0][i], requests->expected[1][i]);
	}
	for (unsigned second = 0; second < BLOCKS && good; second++)
		good = real->body->record_begin(real->layer) && launch_blocks(real, second) &&
		       real->body->record_end(real->layer, &requests->graphs[second]);
	return good;
}

static bool requests_step(struct real *real, const struct real_variant *variant)
{
	struct requests *requests = real->own;
	const uint64_t bytes = TOKENS * requests->width * sizeof(float);
	return real->body->write(real->layer, requests->buffers[X],
				 requests->in[requests->input % INPUTS], bytes) &&
	       (variant->a ? real->body->graph(real->layer, requests->graphs[variant->b])
			   : launch_blocks(real, variant->b)) &&
	       real->body->read(real->layer, requests->buffers[variant->b ? OUT2 : OUT],
				requests->out, bytes);
}

static bool requests_check(struct real *real, const struct real_variant *variant)
{
	struct requests *requests = real->own;
	const float *expected = requests->expected[variant->b][requests->input++ % INPUTS];
	for (uint32_t i = 0; i < TOKENS * requests->width; i++)
		if (!(fabsf(requests->out[i] - expected[i]) <= 2e-3f))
			return real_wrong("%s: number %u is %g instead of %g", variant->name, i,
					  requests->out[i], expected[i]);
	return true;
}

const struct real_program real_requests = {
	.source = {text, {"normalise", "multiply", "scores", "softmax", "add", "relu"}},
	.own_bytes = sizeof(struct requests),
	.variants = variants,
	.open = open_requests,
	.check = requests_check,
	.step = requests_step,
};
