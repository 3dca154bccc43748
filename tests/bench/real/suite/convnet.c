/* A small network on pictures: two convolutions, each followed by halving the size, and a dense
 * layer. */
#include "real/suite/suite.h"

#include <math.h>
#include <stdlib.h>

enum { GROUP = 64, COLOURS = 3, FIRST = 8, SECOND = 16, CLASSES = 10 };
enum { CONVOLVE, POOL, DENSE };
enum { PICTURES, WEIGHTS1, MAPS1, HALVES1, WEIGHTS2, MAPS2, HALVES2, WEIGHTS3, OUT, BUFFERS };

/* The borders are zeros; negative results become zero. */
/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void convolve(SYCL_GLOBAL(const float) in, SYCL_GLOBAL(const float) w, SYCL_GLOBAL(float) out,\n"
	"	uint side, uint ins, uint outs, uint count)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), x = i % side, y = i / side % side, map = i / (side * side);\n"
	"	uint picture = map / outs, weights = map % outs * ins * 9u;\n"
	"	float sum = 0.0f;\n"
	"	if (i >= count)\n		return;\n"
	"	for (uint c = 0u; c < ins; c++)\n"
	"		for (uint k = 0u; k < 9u; k++) {\n"
	"			uint u = x + k % 3u - 1u, v = y + k / 3u - 1u;\n"
	"			if (u < side && v < side)\n"
	"				sum += w[weights + c * 9u + k] * in[((picture * ins + c) * side + v) * side + u];\n"
	"		}\n"
	"	out[i] = sum > 0.0f ? sum : 0.0f;\n"
	"}\n"
	"SYCL_KERNEL void pool(SYCL_GLOBAL(const float) in, SYCL_GLOBAL(float) out, uint half_side, uint count)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), x = i % half_side, row = i / half_side, at = row * 4u * half_side + 2u * x;\n"
	"	float most = 0.0f;\n"
	"	if (i >= count)\n		return;\n"
	"	for (uint k = 0u; k < 4u; k++) {\n"
	"		float here = in[at + k % 2u + k / 2u * 2u * half_side];\n"
	"		most = here > most ? here : most;\n"
	"	}\n"
	"	out[i] = most;\n"
	"}\n"
	"SYCL_KERNEL void dense(SYCL_GLOBAL(const float) in, SYCL_GLOBAL(const float) w, SYCL_GLOBAL(float) out,\n"
	"	uint ins, uint outs, uint count)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0);\n"
	"	float sum = 0.0f;\n"
	"	if (i >= count)\n		return;\n"
	"	for (uint k = 0u; k < ins; k++)\n"
	"		sum += w[i % outs * ins + k] * in[i / outs * ins + k];\n"
	"	out[i] = sum;\n"
	"}\n";
/* clang-format on */

struct convnet {
	uint32_t side, pictures;
	unsigned buffers[BUFFERS];
	float *in, *read;
	double *expected;
};

static uint32_t convnet_floats_of(const struct convnet *net, int buffer)
{
	const uint32_t pixels = net->side * net->side, pictures = net->pictures;
	const uint32_t counts[BUFFERS] = {[PICTURES] = pictures * COLOURS * pixels,
					  [WEIGHTS1] = FIRST * COLOURS * 9,
					  [MAPS1] = pictures * FIRST * pixels,
					  [HALVES1] = pictures * FIRST * pixels / 4,
					  [WEIGHTS2] = SECOND * FIRST * 9,
					  [MAPS2] = pictures * SECOND * pixels / 4,
					  [HALVES2] = pictures * SECOND * pixels / 16,
					  [WEIGHTS3] = CLASSES * SECOND * pixels / 16,
					  [OUT] = pictures * CLASSES};
	return counts[buffer];
}

/* ----------------------------- the same on the host ----------------------------------- */

static void host_convolve(const double *in, const double *w, double *out, uint32_t side,
			  uint32_t ins, uint32_t outs, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t x = i % side, y = i / side % side, map = i / (side * side);
		double sum = 0;
		for (uint32_t k = 0; k < ins * 9; k++) {
			const uint32_t u = x + k % 3 - 1, v = y + k % 9 / 3 - 1,
				       plane = map / outs * ins + k / 9;
			if (u < side && v < side)
				sum += w[map % outs * ins * 9 + k] *
				       in[(plane * side + v) * side + u];
		}
		out[i] = fmax(sum, 0);
	}
}

static void host_pool(const double *in, double *out, uint32_t half, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const double *at = &in[i / half * 4 * half + 2 * (i % half)];
		out[i] = fmax(fmax(at[0], at[1]), fmax(at[2 * half], at[2 * half + 1]));
	}
}

static void host_dense(const double *in, const double *w, double *out, uint32_t ins, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		out[i] = 0;
		for (uint32_t k = 0; k < ins; k++)
			out[i] += w[i % CLASSES * ins + k] * in[i / CLASSES * ins + k];
	}
}

static void host_net(const struct convnet *net, double *const *b)
{
	const uint32_t side = net->side;
	host_convolve(b[PICTURES], b[WEIGHTS1], b[MAPS1], side, COLOURS, FIRST,
		      convnet_floats_of(net, MAPS1));
	host_pool(b[MAPS1], b[HALVES1], side / 2, convnet_floats_of(net, HALVES1));
	host_convolve(b[HALVES1], b[WEIGHTS2], b[MAPS2], side / 2, FIRST, SECOND,
		      convnet_floats_of(net, MAPS2));
	host_pool(b[MAPS2], b[HALVES2], side / 4, convnet_floats_of(net, HALVES2));
	host_dense(b[HALVES2], b[WEIGHTS3], b[OUT], SECOND * side * side / 16,
		   convnet_floats_of(net, OUT));
}

/* Pictures and weights have contents. They are kept on the host, in double precision, too. */
static bool open_buffer(struct real *real, int buffer, double **host_out)
{
	struct convnet *net = real->own;
	const uint32_t count = convnet_floats_of(net, buffer), bytes = count * sizeof(float);
	float *contents = real->body->host(real->layer, bytes);
	double *numbers = calloc(count, sizeof(*numbers));
	*host_out = numbers;
	if (!contents || !numbers)
		return false;
	suite_numbers(contents, count, 20 + (uint32_t)buffer);
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = contents[i];
	if (buffer == PICTURES)
		net->in = contents;
	if (buffer == OUT)
		net->read = contents;
	return suite_alloc(real, bytes, contents, &net->buffers[buffer]);
}

static bool open_convnet(struct real *real)
{
	static const uint32_t sides[] = {[REAL_TINY] = 4, [REAL_PROCESSOR] = 16, [REAL_GPU] = 32};
	struct convnet *net = real->own;
	double *host[BUFFERS] = {NULL};
	bool good = true;
	net->side = sides[real->scale];
	net->pictures = real->scale == REAL_GPU ? 8 : 1;
	for (int i = 0; i < BUFFERS && good; i++)
		good = open_buffer(real, i, &host[i]);
	if (good)
		host_net(net, host);
	net->expected = host[OUT];
	for (int i = 0; i < OUT; i++)
		free(host[i]);
	return good;
}

static bool convnet_step(struct real *real, const struct real_variant *variant)
{
	const struct convnet *net = real->own;
	const unsigned *b = net->buffers;
	const uint32_t side = net->side, maps1 = convnet_floats_of(net, MAPS1),
		       halves1 = convnet_floats_of(net, HALVES1),
		       maps2 = convnet_floats_of(net, MAPS2),
		       halves2 = convnet_floats_of(net, HALVES2),
		       outs = convnet_floats_of(net, OUT);
	(void)variant;
	return real->body->write(real->layer, b[PICTURES], net->in,
				 convnet_floats_of(net, PICTURES) * sizeof(float)) &&
	       suite_launch(real, CONVOLVE, maps1, GROUP, 4,
			    BUFFERS_OF(b[PICTURES], b[WEIGHTS1], b[MAPS1]),
			    WORDS_OF(side, COLOURS, FIRST, maps1)) &&
	       suite_launch(real, POOL, halves1, GROUP, 2, BUFFERS_OF(b[MAPS1], b[HALVES1]),
			    WORDS_OF(side / 2, halves1)) &&
	       suite_launch(real, CONVOLVE, maps2, GROUP, 4,
			    BUFFERS_OF(b[HALVES1], b[WEIGHTS2], b[MAPS2]),
			    WORDS_OF(side / 2, FIRST, SECOND, maps2)) &&
	       suite_launch(real, POOL, halves2, GROUP, 2, BUFFERS_OF(b[MAPS2], b[HALVES2]),
			    WORDS_OF(side / 4, halves2)) &&
	       suite_launch(real, DENSE, outs, GROUP, 4,
			    BUFFERS_OF(b[HALVES2], b[WEIGHTS3], b[OUT]),
			    WORDS_OF(SECOND * side * side / 16, CLASSES, outs)) &&
	       real->body->read(real->layer, b[OUT], net->read, outs * sizeof(float));
}

static bool convnet_check(struct real *real, const struct real_variant *variant)
{
	const struct convnet *net = real->own;
	(void)variant;
	for (uint32_t i = 0; i < convnet_floats_of(net, OUT); i++)
		if (!(fabs(net->read[i] - net->expected[i]) <= 1e-4 * (1 + fabs(net->expected[i]))))
			return real_wrong("class %u of picture %u: %g instead of %g", i % CLASSES,
					  i / CLASSES, (double)net->read[i], net->expected[i]);
	return true;
}

const struct real_program suite_convnet = {
	.source = {text, {"convolve", "pool", "dense"}},
	.own_bytes = sizeof(struct convnet),
	.variants = suite_variant,
	.open = open_convnet,
	.step = convnet_step,
	.check = convnet_check,
};
