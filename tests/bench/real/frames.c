/* TR9, frames: each is copied in from the host, blurred, its edges found and its size halved, and
 * copied out. One frame at a time. */
#include "real/frames.h"

#include "real/program.h"

#include <stdlib.h>

enum { GROUP = 64, SIDES = FRAMES_SIZES, INPUTS = FRAMES_INPUTS };
enum { SIDE_TINY = 16 };

/* clang-format off */
static const char text[] =
	"SYCL_KERNEL void blur(SYCL_GLOBAL(const uint) in, SYCL_GLOBAL(uint) out, uint side)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), x = i % side, y = i / side, sum = 0u;\n"
	"	uint left = x > 0u ? x - 1u : x, right = x + 1u < side ? x + 1u : x;\n"
	"	uint above = y > 0u ? y - 1u : y, below = y + 1u < side ? y + 1u : y;\n"
	"	sum += in[above * side + left] + in[above * side + x] + in[above * side + right];\n"
	"	sum += in[y * side + left] + in[i] + in[y * side + right];\n"
	"	sum += in[below * side + left] + in[below * side + x] + in[below * side + right];\n"
	"	out[i] = sum / 9u;\n"
	"}\n"
	"SYCL_KERNEL void edges(SYCL_GLOBAL(const uint) in, SYCL_GLOBAL(uint) out, uint side)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), x = i % side, y = i / side;\n"
	"	uint right = in[x + 1u < side ? i + 1u : i], below = in[y + 1u < side ? i + side : i];\n"
	"	uint steep = (right > in[i] ? right - in[i] : in[i] - right) + (below > in[i] ? below - in[i] : in[i] - below);\n"
	"	out[i] = steep < 255u ? steep : 255u;\n"
	"}\n"
	"SYCL_KERNEL void half_size(SYCL_GLOBAL(const uint) in, SYCL_GLOBAL(uint) out, uint side)\n"
	"{\n"
	"	uint i = (uint)sycl_global_id(0), x = i % (side / 2u) * 2u, y = i / (side / 2u) * 2u;\n"
	"	out[i] = (in[y * side + x] + in[y * side + x + 1u] + in[(y + 1u) * side + x] + in[(y + 1u) * side + x + 1u]) / 4u;\n"
	"}\n";
/* clang-format on */

const struct layer_source frames_source = {text, {"blur", "edges", "half_size"}};

static const struct real_variant variants[] = {
	{.name = "128", .a = 128, .b = 0, .target_p50 = 1.0},
	{.name = "512", .a = 512, .b = 1, .target_p50 = 1.0},
	{.name = "1024", .a = 1024, .b = 2, .target_p50 = 1.0},
	{.name = NULL},
};

struct frames {
	unsigned buffers[SIDES][FRAMES_BUFFERS], input;
	uint32_t *in[SIDES][INPUTS], *out; /* of the host */
	uint32_t *expected[SIDES][INPUTS];
};

uint32_t frames_side(enum real_scale scale, unsigned size)
{
	return scale == REAL_TINY ? SIDE_TINY : variants[size].a;
}

const char *frames_size_name(unsigned size)
{
	return variants[size].name;
}

static uint32_t side_of(const struct real *real, const struct real_variant *variant)
{
	return frames_side(real->scale, variant->b);
}

/* ----------------------------- the same on the host ----------------------------------- */

static uint32_t pixel_at(const uint32_t *in, uint32_t side, long x, long y)
{
	x = x < 0 ? 0 : x >= (long)side ? (long)side - 1 : x;
	y = y < 0 ? 0 : y >= (long)side ? (long)side - 1 : y;
	return in[(uint32_t)y * side + (uint32_t)x];
}

static void host_blur(const uint32_t *in, uint32_t *out, uint32_t side)
{
	for (uint32_t i = 0; i < side * side; i++) {
		uint32_t sum = 0;
		for (long dy = -1; dy <= 1; dy++)
			for (long dx = -1; dx <= 1; dx++)
				sum += pixel_at(in, side, (long)(i % side) + dx,
						(long)(i / side) + dy);
		out[i] = sum / 9;
	}
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

static void host_edges(const uint32_t *in, uint32_t *out, uint32_t side)
{
	for (uint32_t i = 0; i < side * side; i++) {
		const long x = i % side, y = i / side;
		const uint32_t steep = distance(pixel_at(in, side, x + 1, y), in[i]) +
				       distance(pixel_at(in, side, x, y + 1), in[i]);
		out[i] = steep < 255 ? steep : 255;
	}
}

static void host_half(const uint32_t *in, uint32_t *out, uint32_t side)
{
	for (uint32_t i = 0; i < side * side / 4; i++) {
		const long x = i % (side / 2) * 2, y = i / (side / 2) * 2;
		out[i] = (pixel_at(in, side, x, y) + pixel_at(in, side, x + 1, y) +
			  pixel_at(in, side, x, y + 1) + pixel_at(in, side, x + 1, y + 1)) /
			 4;
	}
}

void frames_fill(uint32_t *in, unsigned number, uint32_t side)
{
	for (uint32_t pixel = 0, seed = number + 1; pixel < side * side; pixel++) {
		seed = seed * 1664525u + 1013904223u;
		in[pixel] = seed >> 24;
	}
}

void frames_expect(const uint32_t *in, uint32_t *expected_out, uint32_t side)
{
	static uint32_t blurred[FRAMES_SIDE_MAX * FRAMES_SIDE_MAX],
		outlined[FRAMES_SIDE_MAX * FRAMES_SIDE_MAX];
	host_blur(in, blurred, side);
	host_edges(blurred, outlined, side);
	host_half(outlined, expected_out, side);
}

struct layer_launch frames_launch(enum frames_kernel kernel, const unsigned buffers[FRAMES_BUFFERS],
				  uint32_t side)
{
	const uint32_t pixels = side * side;
	return (struct layer_launch){(unsigned)kernel,
				     kernel == FRAMES_HALF ? pixels / 4 : pixels,
				     GROUP,
				     2,
				     1,
				     {buffers[kernel], buffers[kernel + 1]},
				     2,
				     {side}};
}

static bool open_inputs(struct real *real, unsigned number, uint32_t side)
{
	struct frames *frames = real->own;
	for (unsigned i = 0; i < INPUTS; i++) {
		uint32_t *in = real->body->host(real->layer, side * side * 4);
		uint32_t *expected = malloc(side * side);
		frames->in[number][i] = in;
		frames->expected[number][i] = expected;
		if (!in || !expected)
			return false;
		frames_fill(in, i, side);
		frames_expect(in, expected, side);
	}
	return true;
}

static bool open_frames(struct real *real)
{
	struct frames *frames = real->own;
	frames->out = real->body->host(real->layer, FRAMES_SIDE_MAX * FRAMES_SIDE_MAX);
	bool good = frames->out != NULL;
	for (unsigned i = 0; i < SIDES && good; i++) {
		const uint32_t side = frames_side(real->scale, i);
		good = open_inputs(real, i, side);
		for (int buffer = 0; buffer < FRAMES_BUFFERS && good; buffer++)
			good = real->body->alloc(real->layer, side * side * 4,
						 &frames->buffers[i][buffer]);
	}
	return good;
}

static bool frames_step(struct real *real, const struct real_variant *variant)
{
	struct frames *frames = real->own;
	const unsigned *b = frames->buffers[variant->b];
	const uint32_t side = side_of(real, variant), pixels = side * side;
	bool good = real->body->write(real->layer, b[FRAMES_IN],
				      frames->in[variant->b][frames->input % INPUTS], pixels * 4);
	for (unsigned kernel = 0; kernel < FRAMES_KERNELS && good; kernel++) {
		const struct layer_launch launch = frames_launch(kernel, b, side);
		good = real->body->launch(real->layer, &launch);
	}
	return good && real->body->read(real->layer, b[FRAMES_OUT], frames->out, pixels);
}

static bool frames_check(struct real *real, const struct real_variant *variant)
{
	struct frames *frames = real->own;
	const uint32_t side = side_of(real, variant);
	const uint32_t *expected = frames->expected[variant->b][frames->input++ % INPUTS];
	for (uint32_t i = 0; i < side * side / 4; i++)
		if (frames->out[i] != expected[i])
			return real_wrong("frames of %u: pixel %u is %u instead of %u", side, i,
					  frames->out[i], expected[i]);
	return true;
}

const struct real_program real_frames = {
	.source = {text, {"blur", "edges", "half_size"}},
	.own_bytes = sizeof(struct frames),
	.variants = variants,
	.open = open_frames,
	.check = frames_check,
	.step = frames_step,
};
