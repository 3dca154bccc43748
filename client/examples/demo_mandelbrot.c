/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the Mandelbrot set, tile by tile, into a PNG. Every tile has its own buffer and command
 * group, so tiles are independent of each other. The kernel computes in fixed point. So the picture
 * is the same to the last bit on every device, and the CPU can check it exactly.
 */
#include "demo.h"
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TILE        128u /* pixels, each way */
#define ITERATIONS  3000u
#define FRACTION    28  /* bits behind the point */
#define WINDOW      6u  /* tiles in flight at the same time */
#define CHECK_EVERY 16u /* the CPU checks every 16th row */

/* The view: width 2.6 around (-0.65, 0). */
#define FIXED(x)   ((int64_t)((x) * (double)(1 << FRACTION)))
#define VIEW_LEFT  FIXED(-1.95)
#define VIEW_WIDTH FIXED(2.6)

static const char source[] =
	"SYCL_KERNEL void mandelbrot(SYCL_GLOBAL(uint) out, uint first_x, uint first_y, uint iterations, long left,\n"
	"                            long top, long step)\n"
	"{\n"
	"	uint row = (uint)sycl_global_id(0), column = (uint)sycl_global_id(1);\n"
	"	long cr = left + step * (long)(first_x + column), ci = top + step * (long)(first_y + row);\n"
	"	long zr = 0, zi = 0;\n"
	"	uint n = 0;\n"
	"	for (; n < iterations; n++) {\n"
	"		long rr = (zr * zr) >> 28, ii = (zi * zi) >> 28;\n"
	"		if (rr + ii > (4l << 28))\n"
	"			break;\n"
	"		zi = ((zr * zi) >> 27) + ci;\n"
	"		zr = rr - ii + cr;\n"
	"	}\n"
	"	out[row * (uint)sycl_global_range(1) + column] = n;\n"
	"}\n";

struct picture {
	uint32_t width, height;
	int64_t step, top;
	uint32_t *counts; /* iterations, height * width */
};

static uint32_t iterate(const struct picture *picture, uint32_t x, uint32_t y)
{
	int64_t cr = VIEW_LEFT + picture->step * x, ci = picture->top + picture->step * y;
	int64_t zr = 0, zi = 0;
	uint32_t n = 0;
	for (; n < ITERATIONS; n++) {
		int64_t rr = (zr * zr) >> FRACTION, ii = (zi * zi) >> FRACTION;
		if (rr + ii > ((int64_t)4 << FRACTION))
			break;
		zi = ((zr * zi) >> (FRACTION - 1)) + ci;
		zr = rr - ii + cr;
	}
	return n;
}

static void submit_tile(const struct demo *demo, const struct picture *picture, sycl_kernel kernel,
			sycl_buffer buffer, uint32_t x, uint32_t y)
{
	const uint32_t iterations = ITERATIONS;
	const int64_t left = VIEW_LEFT;
	sycl_handler handler;
	demo_check(demo, sycl_handler_begin(demo->queue, &handler), "handler");
	demo_check(demo, sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE_NO_INIT),
		   "accessor");
	demo_check(demo, sycl_handler_set_value(handler, 1, sizeof(x), &x), "argument");
	demo_check(demo, sycl_handler_set_value(handler, 2, sizeof(y), &y), "argument");
	demo_check(demo, sycl_handler_set_value(handler, 3, sizeof(iterations), &iterations),
		   "argument");
	demo_check(demo, sycl_handler_set_value(handler, 4, sizeof(left), &left), "argument");
	demo_check(demo, sycl_handler_set_value(handler, 5, sizeof(picture->top), &picture->top),
		   "argument");
	demo_check(demo, sycl_handler_set_value(handler, 6, sizeof(picture->step), &picture->step),
		   "argument");
	demo_check(demo,
		   sycl_handler_parallel_for_nd(handler, kernel, sycl_range2(TILE, TILE),
						sycl_range2(8, 8)),
		   "range");
	demo_check(demo, sycl_queue_submit(demo->queue, handler, NULL), "submit");
}

/* Waits until the tile's command group is done and takes the result. */
static void collect_tile(const struct demo *demo, struct picture *picture, sycl_buffer buffer,
			 uint32_t x, uint32_t y)
{
	sycl_host_accessor accessor;
	void *address = NULL;
	demo_check(demo, sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor),
		   "a tile failed");
	demo_check(demo, sycl_host_accessor_get_pointer(accessor, &address), "accessor");
	const uint32_t *tile = address;
	for (uint32_t row = 0; row < TILE; row++)
		memcpy(picture->counts + (size_t)(y + row) * picture->width + x,
		       tile + (size_t)row * TILE, TILE * sizeof(*tile));
	(void)sycl_host_accessor_release(accessor);
	(void)sycl_buffer_release(buffer);
}

static void begin_tile(const struct demo *demo, const struct picture *picture, sycl_kernel kernel,
		       uint32_t tile, sycl_buffer *buffer_out)
{
	const uint32_t columns = picture->width / TILE;
	demo_check(demo,
		   sycl_buffer_create(demo->platform, NULL,
				      (uint64_t)TILE * TILE * sizeof(uint32_t), SYCL_HOST_NONE,
				      buffer_out),
		   "buffer");
	submit_tile(demo, picture, kernel, *buffer_out, tile % columns * TILE,
		    tile / columns * TILE);
}

/* A few tiles are in flight at a time. They keep the device busy, and still leave turns to other
 * programs. */
static void mandelbrot_compute(const struct demo *demo, struct picture *picture)
{
	sycl_kernel kernel;
	sycl_buffer under_way[WINDOW];
	demo_check(demo, sycl_kernel_from_source(demo->queue, source, "mandelbrot", &kernel),
		   "the kernel");

	const uint32_t columns = picture->width / TILE, tiles = columns * (picture->height / TILE);
	for (uint32_t i = 0; i < WINDOW && i < tiles; i++)
		begin_tile(demo, picture, kernel, i, &under_way[i]);
	for (uint32_t i = 0; i < tiles; i++) {
		char text[64];
		collect_tile(demo, picture, under_way[i % WINDOW], i % columns * TILE,
			     i / columns * TILE);
		if (i + WINDOW < tiles)
			begin_tile(demo, picture, kernel, i + WINDOW, &under_way[i % WINDOW]);
		(void)snprintf(text, sizeof(text), "tile %u of %u", i + 1, tiles);
		if ((i + 1) % (tiles / 10 + 1) == 0)
			demo_progress(demo, (i + 1) * 90 / tiles, text);
	}
	(void)sycl_kernel_release(kernel);
}

static bool mandelbrot_verify(const struct picture *picture)
{
	for (uint32_t y = 0; y < picture->height; y += CHECK_EVERY)
		for (uint32_t x = 0; x < picture->width; x++)
			if (picture->counts[(size_t)y * picture->width + x] !=
			    iterate(picture, x, y))
				return false;
	return true;
}

/* Black inside the set. Outside, a ramp from deep blue to gold, which repeats more slowly as counts
 * grow. */
static void colour(uint32_t count, uint8_t rgb[3])
{
	static const uint8_t stops[5][3] = {
		{4, 8, 48}, {24, 88, 176}, {232, 244, 255}, {255, 176, 24}, {72, 8, 24},
	};
	if (count >= ITERATIONS) {
		memset(rgb, 0, 3);
		return;
	}
	uint32_t position = 0; /* 16 steps for each doubling of the count */
	for (uint32_t c = count + 1; c > 1; c >>= 1)
		position += 16;
	uint32_t octave = 1u << (position / 16);
	position += (count + 1 - octave) * 16 / octave;
	uint32_t stop = position / 32 % 5, part = position % 32;
	for (int i = 0; i < 3; i++)
		rgb[i] =
			(uint8_t)((stops[stop][i] * (32 - part) + stops[(stop + 1) % 5][i] * part) /
				  32);
}

static bool write_picture(const struct picture *picture, const char *path)
{
	size_t count = (size_t)picture->width * picture->height;
	uint8_t *pixels = count ? malloc(count * 3) : NULL;
	if (!pixels)
		return false;
	for (size_t i = 0; i < count; i++)
		colour(picture->counts[i], pixels + i * 3);
	bool written = picture_write(path, picture->width, picture->height, pixels);
	free(pixels);
	return written;
}

int main(int argc, char **argv)
{
	struct demo demo;
	demo_begin(&demo, "demo_mandelbrot", argc, argv);
	const char *path = demo.output ? demo.output : "mandelbrot.png";
	struct picture picture = {.width = (demo.size ? demo.size : 1536) / TILE * TILE};
	if (picture.width == 0)
		picture.width = TILE;
	picture.height = (picture.width * 7 / 8 + TILE - 1) / TILE * TILE;
	picture.step = VIEW_WIDTH / picture.width;
	picture.top = -picture.step * (picture.height / 2);
	picture.counts =
		demo_allocate(&demo, (size_t)picture.width * picture.height, sizeof(uint32_t));

	mandelbrot_compute(&demo, &picture);
	demo_progress(&demo, 92, "checking every 16th row on the CPU");
	bool verified = mandelbrot_verify(&picture);
	bool written = write_picture(&picture, path);
	if (!written)
		(void)fprintf(stderr, "demo_mandelbrot: cannot write %s\n", path);
	free(picture.counts);
	return demo_end(&demo, verified && written, written ? path : NULL);
}
