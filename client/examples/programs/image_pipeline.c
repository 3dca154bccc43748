/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A picture is blurred (a Gaussian in two passes), and its edges are found (Sobel's operator on its
 * brightness). A sampler scales the edges down. All steps are submitted at once, and the images
 * order them. The picture has 8 bits for each channel, and the steps between use floats. So
 * everything but the sampler's interpolation can be compared closely.
 */
#include "program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHANNELS 4u
#define TAPS     5u

/*
 * GPUs interpolate with weights of 8 fractional bits in each of two dimensions. So a result may be
 * off by 2/256 of the largest difference between its pixels. No value here is negative, so no
 * difference exceeds the largest value.
 */
#define FILTER_PART (2.0 / 256.0)
/* The bound for values around 1, because devices round in another order. */
#define ROUNDING 1e-4

static const char source[] =
	"SYCL_DEVICE_DATA float taps[5] = { 0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f };\n"
	"/* The sampler gives the nearest pixel also outside of the picture. */\n"
	"SYCL_KERNEL void blur(SYCL_IMAGE_SAMPLED_2D(from), SYCL_IMAGE_WRITE_2D(to), int down, int right)\n"
	"{\n"
	"	int y = (int)sycl_global_id(0), x = (int)sycl_global_id(SYCL_DIMENSIONS - 1);\n"
	"	float4 sum = sycl_float4(0.0f, 0.0f, 0.0f, 0.0f);\n"
	"	for (int k = -2; k <= 2; k++)\n"
	"		sum += taps[k + 2] * sycl_image_sample_float_2d(from, (float)(y + k * down) + 0.5f,\n"
	"		                                                (float)(x + k * right) + 0.5f);\n"
	"	sycl_image_write_float_2d(to, y, x, sum);\n"
	"}\n"
	"/* Pixels at whole places: an image that is not sampled must not be read outside. */\n"
	"SYCL_KERNEL void edges(SYCL_IMAGE_READ_2D(from), SYCL_IMAGE_WRITE_2D(to))\n"
	"{\n"
	"	int rows = (int)sycl_image_range_2d(from, 0), columns = (int)sycl_image_range_2d(from, 1);\n"
	"	int y = (int)sycl_global_id(0), x = (int)sycl_global_id(SYCL_DIMENSIONS - 1);\n"
	"	float down = 0.0f, right = 0.0f;\n"
	"	for (int i = -1; i <= 1; i++)\n"
	"		for (int j = -1; j <= 1; j++) {\n"
	"			float4 v = sycl_image_read_float_2d(from, sycl_max(0, sycl_min(rows - 1, y + i)),\n"
	"			                                    sycl_max(0, sycl_min(columns - 1, x + j)));\n"
	"			float light = 0.299f * v.x + 0.587f * v.y + 0.114f * v.z;\n"
	"			down += (float)(i * (2 - j * j)) * light;\n"
	"			right += (float)(j * (2 - i * i)) * light;\n"
	"		}\n"
	"	sycl_image_write_float_2d(to, y, x, sycl_float4(down, right, sycl_sqrt(down * down + right * right), 1.0f));\n"
	"}\n"
	"/* The middle of each pixel as a part of the picture; the sampler mixes the four pixels around it. */\n"
	"SYCL_KERNEL void resize(SYCL_IMAGE_SAMPLED_2D(from), SYCL_IMAGE_WRITE_2D(to))\n"
	"{\n"
	"	int y = (int)sycl_global_id(0), x = (int)sycl_global_id(SYCL_DIMENSIONS - 1);\n"
	"	float i = ((float)y + 0.5f) / (float)sycl_image_range_2d(to, 0);\n"
	"	float j = ((float)x + 0.5f) / (float)sycl_image_range_2d(to, 1);\n"
	"	float size = sycl_image_sample_float_2d(from, i, j).z;\n"
	"	sycl_image_write_float_2d(to, y, x, sycl_float4(size, size, size, 1.0f));\n"
	"}\n";

struct size {
	uint32_t rows, columns;
};

static size_t values_of(struct size size)
{
	return (size_t)size.rows * size.columns * CHANNELS;
}

static sycl_image image_of(const struct program_run *run, sycl_image_format format,
			   struct size size, void *host, sycl_host_memory kind)
{
	sycl_image image;
	program_check(run,
		      sycl_image_create(run->platform, format, sycl_range2(size.rows, size.columns),
					host, kind, &image),
		      "an image");
	return image;
}

/* True if the device has both formats that this program uses. */
static bool device_has_image_formats(const struct program_run *run)
{
	uint32_t formats[16], count;
	bool bytes = false, floats = false;
	sycl_device device;
	program_check(run, sycl_queue_get_device(run->queue, &device), "the device");
	program_check(run, sycl_device_get_image_formats(device, 16, formats, &count),
		      "its formats of images");
	(void)sycl_device_release(device);
	for (uint32_t i = 0; i < count && i < 16; i++) {
		bytes |= formats[i] == SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM;
		floats |= formats[i] == SYCL_IMAGE_FORMAT_R32G32B32A32_SFLOAT;
	}
	return bytes && floats;
}

/* Discs of all colours, covered with some grain. */
static uint8_t *make_picture(struct program_run *run, struct size size)
{
	uint8_t *picture = program_allocate(run, values_of(size), 1);
	const float step = (float)size.rows / 3.0f;
	for (uint32_t y = 0; y < size.rows; y++)
		for (uint32_t x = 0; x < size.columns; x++) {
			uint8_t *pixel = picture + ((size_t)y * size.columns + x) * CHANNELS;
			const uint32_t down = (uint32_t)((float)y / step),
				       right = (uint32_t)((float)x / step);
			const float dy = (float)y / step - (float)down - 0.5f,
				    dx = (float)x / step - (float)right - 0.5f;
			const uint32_t disc = dy * dy + dx * dx < 0.15f ? 1 + down * 3 + right : 0;
			for (uint32_t c = 0; c < 3; c++)
				pixel[c] = (uint8_t)((disc * (67 + 31 * c)) % 230 +
						     (program_random(run) >> 8) % 24);
			pixel[3] = 255;
		}
	return picture;
}

/* Clamps a coordinate to the picture. */
static uint32_t nearest_coordinate(int64_t at, uint32_t count)
{
	return at < 0 ? 0 : at >= (int64_t)count ? count - 1 : (uint32_t)at;
}

static void blur_on_cpu(struct size size, const double *from, double *to, int64_t down,
			int64_t right)
{
	static const double taps[TAPS] = {0.0625, 0.25, 0.375, 0.25, 0.0625};
	for (uint32_t y = 0; y < size.rows; y++)
		for (uint32_t x = 0; x < size.columns; x++) {
			double *sum = to + ((size_t)y * size.columns + x) * CHANNELS;
			memset(sum, 0, CHANNELS * sizeof(*sum));
			for (int64_t k = -2; k <= 2; k++) {
				const size_t row = nearest_coordinate(y + k * down, size.rows),
					     column = nearest_coordinate(x + k * right,
									 size.columns);
				const double *pixel =
					from + (row * size.columns + column) * CHANNELS;
				for (uint32_t c = 0; c < CHANNELS; c++)
					sum[c] += taps[k + 2] * pixel[c];
			}
		}
}

static void edges_on_cpu(struct size size, const double *from, double *to)
{
	for (uint32_t y = 0; y < size.rows; y++)
		for (uint32_t x = 0; x < size.columns; x++) {
			double down = 0, right = 0,
			       *pixel = to + ((size_t)y * size.columns + x) * CHANNELS;
			for (int i = -1; i <= 1; i++)
				for (int j = -1; j <= 1; j++) {
					const size_t row =
						nearest_coordinate((int64_t)y + i, size.rows);
					const double *v =
						from +
						(row * size.columns +
						 nearest_coordinate((int64_t)x + j, size.columns)) *
							CHANNELS;
					const double light =
						0.299 * v[0] + 0.587 * v[1] + 0.114 * v[2];
					down += i * (2 - j * j) * light;
					right += j * (2 - i * i) * light;
				}
			pixel[0] = down;
			pixel[1] = right;
			pixel[2] = sqrt(down * down + right * right);
			pixel[3] = 1;
		}
}

/* Finds the two pixels of an axis around a coordinate, and its distance from the first one. */
static double pixel_between(double at, uint32_t count, uint32_t *first_out, uint32_t *second_out)
{
	const double place = at * count - 0.5, first = floor(place);
	*first_out = nearest_coordinate((int64_t)first, count);
	*second_out = nearest_coordinate((int64_t)first + 1, count);
	return place - first;
}

static void resize_on_cpu(struct size from_size, const double *from, struct size to_size,
			  double *to)
{
	for (uint32_t y = 0; y < to_size.rows; y++)
		for (uint32_t x = 0; x < to_size.columns; x++) {
			uint32_t top, bottom, left, right;
			const double v = pixel_between((y + 0.5) / to_size.rows, from_size.rows,
						       &top, &bottom);
			const double u = pixel_between((x + 0.5) / to_size.columns,
						       from_size.columns, &left, &right);
			const double *upper = from + (size_t)top * from_size.columns * CHANNELS + 2;
			const double *lower =
				from + (size_t)bottom * from_size.columns * CHANNELS + 2;
			const double above = (1 - u) * upper[(size_t)left * CHANNELS] +
					     u * upper[(size_t)right * CHANNELS];
			const double below = (1 - u) * lower[(size_t)left * CHANNELS] +
					     u * lower[(size_t)right * CHANNELS];
			double *pixel = to + ((size_t)y * to_size.columns + x) * CHANNELS;
			pixel[0] = pixel[1] = pixel[2] = (1 - v) * above + v * below;
			pixel[3] = 1;
		}
}

static double root_mean_square(const double *values, size_t count)
{
	double square = 0;
	for (size_t i = 0; i < count; i++)
		square += values[i] * values[i];
	return sqrt(square / (double)count);
}

/* Compares an image of floats, each value to within `allowed`, and releases the image. */
static bool check_image(const struct program_run *run, const char *what, sycl_image image,
			struct size size, const double *expected, double allowed)
{
	const size_t count = values_of(size);
	sycl_host_image accessor;
	void *pixels;
	(void)program_at(run, PROGRAM_ON_DEVICE);
	program_check(run, sycl_host_image_create(image, SYCL_ACCESS_READ, &accessor), what);
	program_check(run, sycl_host_image_get_pointer(accessor, &pixels), what);
	bool right = program_near(run, what, pixels, expected, count,
				  allowed / root_mean_square(expected, count));
	program_check(run, sycl_host_image_release(accessor), what);
	program_check(run, sycl_image_release(image), what);
	return right;
}

/* blurred, edges and small are the images after each step. */
static void submit_all(const struct program_run *run, const uint8_t *picture, struct size size,
		       struct size small, sycl_image results_out[3])
{
	const sycl_image_format format = SYCL_IMAGE_FORMAT_R32G32B32A32_SFLOAT;
	const sycl_range all = sycl_range2(size.rows, size.columns);
	const sycl_sampler pixel =
		sycl_sampler_create(SYCL_ADDRESSING_CLAMP_TO_EDGE, SYCL_COORDINATE_UNNORMALIZED,
				    SYCL_FILTERING_NEAREST);
	const sycl_sampler mix = sycl_sampler_create(
		SYCL_ADDRESSING_CLAMP_TO_EDGE, SYCL_COORDINATE_NORMALIZED, SYCL_FILTERING_LINEAR);
	const int32_t no = 0, yes = 1;
	sycl_kernel blur = program_kernel(run, source, "blur"),
		    edges = program_kernel(run, source, "edges");
	sycl_kernel resize = program_kernel(run, source, "resize");
	/* The picture is copied at this call, so its memory need not be writable. */
	sycl_image input = image_of(run, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM, size,
				    (void *)(uintptr_t)picture, SYCL_HOST_CONST);
	sycl_image half = image_of(run, format, size, NULL, SYCL_HOST_NONE);
	for (uint32_t i = 0; i < 3; i++)
		results_out[i] = image_of(run, format, i == 2 ? small : size, NULL, SYCL_HOST_NONE);

	program_launch(run, blur, all, SAMPLES(input, pixel), WRITES_IMAGE(half), VALUE(no),
		       VALUE(yes));
	program_launch(run, blur, all, SAMPLES(half, pixel), WRITES_IMAGE(results_out[0]),
		       VALUE(yes), VALUE(no));
	program_launch(run, edges, all, READS_IMAGE(results_out[0]), WRITES_IMAGE(results_out[1]));
	program_launch(run, resize, sycl_range2(small.rows, small.columns),
		       SAMPLES(results_out[1], mix), WRITES_IMAGE(results_out[2]));
	program_check(run, sycl_image_release(half), "the end of an image");
	program_check(run, sycl_image_release(input), "the end of an image");
	(void)sycl_kernel_release(blur);
	(void)sycl_kernel_release(edges);
	(void)sycl_kernel_release(resize);
}

static bool run_pipeline(struct program_run *run)
{
	if (!device_has_image_formats(run)) {
		run->skipped = "the device has no images of these formats";
		return false;
	}
	const struct size size = {run->edge * 3 / 4, run->edge},
			  small = {size.rows * 3 / 5, size.columns * 2 / 5};
	const size_t count = values_of(size);
	sycl_image results[3];
	uint8_t *picture = make_picture(run, size);
	submit_all(run, picture, size, small, results);

	double *a = program_allocate(run, count, sizeof(*a)),
	       *b = program_allocate(run, count, sizeof(*b));
	for (size_t i = 0; i < count; i++)
		a[i] = picture[i] / 255.0;
	program_on_cpu(run);
	blur_on_cpu(size, a, b, 0, 1);
	blur_on_cpu(size, b, a, 1, 0);
	bool right = check_image(run, "the blurred picture", results[0], size, a, ROUNDING);
	program_on_cpu(run);
	edges_on_cpu(size, a, b);
	right = check_image(run, "its edges", results[1], size, b, 4 * ROUNDING) && right;
	double largest = 0;
	for (size_t i = 2; i < count; i += CHANNELS)
		largest = fmax(largest, b[i]);
	program_on_cpu(run);
	resize_on_cpu(size, b, small, a);
	right = check_image(run, "the small picture", results[2], small, a,
			    largest * FILTER_PART + 4 * ROUNDING) &&
		right;
	free(a);
	free(b);
	free(picture);
	return right;
}

const struct program programs_image_pipeline[] = {
	{"image-pipeline",
	 "blur, edges and resizing with images and samplers",
	 {24, 512, 2048},
	 run_pipeline},
	{NULL, NULL, {0}, NULL},
};
