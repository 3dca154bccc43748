/* Images and samplers of the OpenCL driver. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

TestSuite(images, .init = with_driver, .fini = without_driver, .timeout = 240);

enum { WIDTH = 13, HEIGHT = 7, DEPTH = 3 };

static const cl_image_format rgba8 = {CL_RGBA, CL_UNSIGNED_INT8};
static const cl_image_format red_float = {CL_R, CL_FLOAT};

static cl_mem image_of(const cl_image_format *format, cl_mem_object_type type, size_t height,
		       size_t depth, size_t layers, const void *host)
{
	const cl_image_desc description = {.image_type = type,
					   .image_width = WIDTH,
					   .image_height = height,
					   .image_depth = depth,
					   .image_array_size = layers};
	cl_int code = 0;
	cl_mem image = clCreateImage(cl_context_made, host ? CL_MEM_COPY_HOST_PTR : 0, format,
				     &description, (void *)(uintptr_t)host, &code);
	CL(code);
	return image;
}

static void fill_bytes(unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = (unsigned char)(i * 7 + 3);
}

Test(images, the_device_reports_images_and_their_formats)
{
	cl_bool has = CL_FALSE;
	cl_uint count = 0, few = 0;
	cl_image_format formats[256];
	const cl_image_format blue_first = {CL_BGRA, CL_UNORM_INT8};
	const cl_image_format red = {CL_R, CL_UNSIGNED_INT8};
	bool has_rgba = false, has_bgra = false, has_red = false;
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_IMAGE_SUPPORT, sizeof(has), &has, NULL));
	cr_assert(eq(u32, has, CL_TRUE));
	CL(clGetSupportedImageFormats(cl_context_made, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D,
				      256, formats, &count));
	cr_assert(gt(u32, count, 11));
	for (cl_uint i = 0; i < count; i++) {
		has_rgba |= memcmp(&formats[i], &rgba8, sizeof(rgba8)) == 0;
		has_bgra |= memcmp(&formats[i], &blue_first, sizeof(blue_first)) == 0;
		has_red |= memcmp(&formats[i], &red, sizeof(red)) == 0;
		cr_assert(ne(u32, formats[i].image_channel_order, CL_DEPTH_STENCIL));
	}
	cr_assert(has_red);
	cr_assert(has_rgba);
	cr_assert(has_bgra);
	CL(clGetSupportedImageFormats(cl_context_made, 0, CL_MEM_OBJECT_IMAGE3D, 0, NULL, &few));
	cr_assert(gt(u32, few, 0));
	REFUSES(clGetSupportedImageFormats(cl_context_made, 0, CL_MEM_OBJECT_BUFFER, 0, NULL, &few),
		CL_INVALID_VALUE);
}

/* Writes and reads a part with gaps between rows; the rest stays. */
static void check_part(cl_mem_object_type type, size_t height, size_t depth, size_t layers,
		       const size_t *origin, const size_t *region)
{
	static unsigned char all[WIDTH * HEIGHT * DEPTH * 4], part[2048], back[2048],
		read[sizeof(all)];
	const size_t zero[3] = {0, 0, 0},
		     rows = layers && !height ? layers
			    : height          ? height
					      : 1,
		     slices = depth              ? depth
			      : height && layers ? layers
						 : 1,
		     whole[3] = {WIDTH, rows, slices}, row = 64,
		     slice = type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? row : row * region[1];
	bool has_slices = slices > 1 || type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
	fill_bytes(all, sizeof(all));
	memset(part, 0xee, sizeof(part));
	cl_mem image = image_of(&rgba8, type, height, depth, layers, all);
	CL(clEnqueueWriteImage(cl_queue, image, CL_FALSE, origin, region, row,
			       has_slices ? slice : 0, part, 0, NULL, NULL));
	CL(clEnqueueReadImage(cl_queue, image, CL_TRUE, zero, whole, 0, 0, read, 0, NULL, NULL));
	for (size_t z = 0; z < slices; z++)
		for (size_t y = 0; y < rows; y++)
			for (size_t x = 0; x < WIDTH; x++) {
				size_t at = ((z * rows + y) * WIDTH + x) * 4;
				bool inside = x >= origin[0] && x < origin[0] + region[0] &&
					      y >= origin[1] && y < origin[1] + region[1] &&
					      z >= origin[2] && z < origin[2] + region[2];
				cr_assert(eq(u8, read[at], inside ? 0xee : all[at]),
					  "%zu, %zu, %zu", x, y, z);
			}
	memset(back, 0, sizeof(back));
	CL(clEnqueueReadImage(cl_queue, image, CL_TRUE, origin, region, row, has_slices ? slice : 0,
			      back, 0, NULL, NULL));
	cr_assert(eq(u8, back[0], 0xee));
	cr_assert(eq(u8, back[region[0] * 4], 0)); /* a gap */
	CL(clReleaseMemObject(image));
}

Test(images, R10_parts_of_all_types_are_written_and_read)
{
	const size_t line[3] = {2, 0, 0}, line_size[3] = {5, 1, 1}, flat[3] = {2, 3, 0},
		     flat_size[3] = {5, 2, 1}, deep[3] = {2, 3, 1}, deep_size[3] = {5, 2, 2},
		     layer[3] = {2, 1, 0}, layer_size[3] = {5, 2, 1};
	check_part(CL_MEM_OBJECT_IMAGE1D, 0, 0, 0, line, line_size);
	check_part(CL_MEM_OBJECT_IMAGE2D, HEIGHT, 0, 0, flat, flat_size);
	check_part(CL_MEM_OBJECT_IMAGE3D, HEIGHT, DEPTH, 0, deep, deep_size);
	check_part(CL_MEM_OBJECT_IMAGE1D_ARRAY, 0, 0, 5, layer, layer_size);
	check_part(CL_MEM_OBJECT_IMAGE2D_ARRAY, HEIGHT, 0, DEPTH, deep, deep_size);
}

static const char source[] =
	"__kernel void twice(read_only image2d_t from, write_only image2d_t to, sampler_t s) {\n"
	"  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
	"  write_imageui(to, at, read_imageui(from, s, at + (int2)(1, 0)) * 2); }\n"
	"__kernel void line(read_only image1d_buffer_t from, __global float *to) {\n"
	"  int i = get_global_id(0); to[i] = read_imagef(from, i).x + 1; }\n";

Test(images, kernels_read_and_write_images_with_samplers)
{
	static unsigned char all[WIDTH * HEIGHT * 4], out[sizeof(all)];
	const size_t zero[3] = {0, 0, 0}, whole[3] = {WIDTH, HEIGHT, 1}, range[2] = {WIDTH, HEIGHT};
	cl_int code = 0;
	fill_bytes(all, sizeof(all));
	cl_mem from = image_of(&rgba8, CL_MEM_OBJECT_IMAGE2D, HEIGHT, 0, 0, all),
	       to = image_of(&rgba8, CL_MEM_OBJECT_IMAGE2D, HEIGHT, 0, 0, NULL);
	cl_sampler sampler = clCreateSampler(cl_context_made, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE,
					     CL_FILTER_NEAREST, &code);
	CL(code);
	cl_kernel twice = kernel_of(source, "twice");
	REFUSES(clSetKernelArg(twice, 0, sizeof(sampler), &sampler), CL_INVALID_MEM_OBJECT);
	REFUSES(clSetKernelArg(twice, 2, sizeof(from), &from), CL_INVALID_SAMPLER);
	CL(clSetKernelArg(twice, 0, sizeof(from), &from));
	CL(clSetKernelArg(twice, 1, sizeof(to), &to));
	CL(clSetKernelArg(twice, 2, sizeof(sampler), &sampler));
	CL(clReleaseSampler(sampler)); /* the kernel has its values */
	CL(clEnqueueNDRangeKernel(cl_queue, twice, 2, NULL, range, NULL, 0, NULL, NULL));
	CL(clEnqueueReadImage(cl_queue, to, CL_TRUE, zero, whole, 0, 0, out, 0, NULL, NULL));
	for (size_t y = 0; y < HEIGHT; y++)
		for (size_t x = 0; x < WIDTH; x++) {
			size_t next = x + 1 < WIDTH ? x + 1 : x;
			unsigned twofold = all[(y * WIDTH + next) * 4] * 2u;
			cr_assert(eq(u8, out[(y * WIDTH + x) * 4],
				     (unsigned char)(twofold > 255 ? 255 : twofold)));
		}
	CL(clReleaseKernel(twice));
	CL(clReleaseMemObject(from));
	CL(clReleaseMemObject(to));
}

Test(images, R10_an_image_of_a_buffer_has_the_buffers_bytes)
{
	static float values[WORDS], out[WORDS];
	cl_int code = 0;
	const size_t range = 100, zero[3] = {0, 0, 0}, whole[3] = {100, 1, 1};
	for (int i = 0; i < WORDS; i++)
		values[i] = (float)i;
	cl_mem buffer = buffer_of((const cl_uint *)(const void *)values), to = buffer_of(NULL);
	cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
				     .image_width = 100,
				     .mem_object = buffer};
	cl_mem view = clCreateImage(cl_context_made, 0, &red_float, &description, NULL, &code);
	CL(code);
	cl_kernel line = kernel_of(source, "line");
	CL(clSetKernelArg(line, 0, sizeof(view), &view));
	CL(clSetKernelArg(line, 1, sizeof(to), &to));
	CL(clEnqueueNDRangeKernel(cl_queue, line, 1, NULL, &range, NULL, 0, NULL, NULL));
	CL(clEnqueueReadBuffer(cl_queue, to, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
	for (int i = 0; i < 100; i++)
		cr_assert(eq(flt, out[i], (float)i + 1));
	CL(clEnqueueReadImage(cl_queue, view, CL_TRUE, zero, whole, 0, 0, out, 0, NULL, NULL));
	cr_assert(eq(flt, out[99], 99.0f));
	description.image_width = WORDS + 1;
	(void)clCreateImage(cl_context_made, 0, &red_float, &description, NULL, &code);
	cr_assert(eq(int, code, CL_INVALID_IMAGE_SIZE));
	CL(clReleaseKernel(line));
	CL(clReleaseMemObject(view));
	CL(clReleaseMemObject(buffer));
	CL(clReleaseMemObject(to));
}

/* In each of some formats, the same bytes as in an image of its own. */
Test(images, a_part_of_an_image_of_a_buffer_is_filled)
{
	static const cl_image_format formats[] = {{CL_R, CL_FLOAT},
						  {CL_RGBA, CL_UNORM_INT8},
						  {CL_BGRA, CL_UNORM_INT8},
						  {CL_RGBA, CL_HALF_FLOAT}};
	enum { PIXELS = 9000, BYTES = PIXELS * 8 };
	static unsigned char bytes[BYTES], all[BYTES], one[16];
	const float colour[4] = {0.2f, 0.4f, 0.6f, 0.8f};
	const size_t zero[3] = {0, 0, 0}, single[3] = {1, 1, 1}, origin[3] = {100, 0, 0},
		     region[3] = {8500, 1, 1};
	cl_int code = 0;
	fill_bytes(bytes, sizeof(bytes));
	for (size_t f = 0; f < sizeof(formats) / sizeof(*formats); f++) {
		cl_mem buffer =
			clCreateBuffer(cl_context_made, CL_MEM_COPY_HOST_PTR, BYTES, bytes, &code);
		CL(code);
		const cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER,
						   .image_width = PIXELS,
						   .mem_object = buffer};
		cl_mem view =
			clCreateImage(cl_context_made, 0, &formats[f], &description, NULL, &code);
		CL(code);
		cl_mem image = image_of(&formats[f], CL_MEM_OBJECT_IMAGE2D, HEIGHT, 0, 0, NULL);
		size_t pixel = 0;
		CL(clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof(pixel), &pixel, NULL));
		CL(clEnqueueFillImage(cl_queue, image, colour, zero, single, 0, NULL, NULL));
		CL(clEnqueueReadImage(cl_queue, image, CL_TRUE, zero, single, 0, 0, one, 0, NULL,
				      NULL));
		CL(clEnqueueFillImage(cl_queue, view, colour, origin, region, 0, NULL, NULL));
		CL(clEnqueueReadBuffer(cl_queue, buffer, CL_TRUE, 0, BYTES, all, 0, NULL, NULL));
		for (size_t i = 0; i < PIXELS; i++)
			cr_assert(eq(int,
				     memcmp(&all[i * pixel],
					    i >= 100 && i < 8600 ? one : &bytes[i * pixel], pixel),
				     0),
				  "format %zu, pixel %zu", f, i);
		CL(clReleaseMemObject(image));
		CL(clReleaseMemObject(view));
		CL(clReleaseMemObject(buffer));
	}
}

Test(images, R10_fills_copies_and_maps_are_of_parts)
{
	static unsigned char all[WIDTH * HEIGHT * 4];
	const cl_uint colour[4] = {9, 8, 7, 6};
	const size_t origin[3] = {4, 2, 0}, region[3] = {3, 2, 1}, zero[3] = {0, 0, 0};
	size_t row = 0;
	cl_int code = 0;
	cl_mem one = image_of(&rgba8, CL_MEM_OBJECT_IMAGE2D, HEIGHT, 0, 0, all),
	       two = image_of(&rgba8, CL_MEM_OBJECT_IMAGE2D, HEIGHT, 0, 0, all),
	       buffer = buffer_of(NULL);
	static cl_uint words[WORDS];
	CL(clEnqueueFillImage(cl_queue, one, colour, origin, region, 0, NULL, NULL));
	CL(clEnqueueCopyImage(cl_queue, one, two, origin, zero, region, 0, NULL, NULL));
	CL(clEnqueueCopyImageToBuffer(cl_queue, two, buffer, zero, region, 8, 0, NULL, NULL));
	read_words(buffer, words);
	for (int i = 0; i < 6; i++)
		cr_assert(eq(u32, words[2 + i], 0x06070809));
	unsigned char *mapped =
		clEnqueueMapImage(cl_queue, two, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, zero, region,
				  &row, NULL, 0, NULL, NULL, &code);
	CL(code);
	cr_assert(eq(sz, row, WIDTH * 4));
	cr_assert(eq(u8, mapped[row + 4], 9));
	mapped[row + 4] = 77;
	CL(clEnqueueUnmapMemObject(cl_queue, two, mapped, 0, NULL, NULL));
	CL(clEnqueueCopyImageToBuffer(cl_queue, two, buffer, zero, region, 0, 0, NULL, NULL));
	read_words(buffer, words);
	cr_assert(eq(u32, words[4], 0x0607084d));
	CL(clEnqueueCopyBufferToImage(cl_queue, buffer, one, 0, zero, region, 0, NULL, NULL));
	CL(clEnqueueReadImage(cl_queue, one, CL_TRUE, zero, region, 0, 0, words, 0, NULL, NULL));
	cr_assert(eq(u32, words[4], 0x0607084d));
	REFUSES(clEnqueueCopyImage(cl_queue, one, one, zero, zero, region, 0, NULL, NULL),
		CL_MEM_COPY_OVERLAP);
	CL(clReleaseMemObject(one));
	CL(clReleaseMemObject(two));
	CL(clReleaseMemObject(buffer));
}

/* Commands follow each other: the write sends what the read brings, though neither was awaited. */
/* Where the contents lie is the service's matter, so they only stay. */
Test(images, a_migration_takes_images_and_buffers)
{
	unsigned char bytes[WIDTH * HEIGHT * 4], got[sizeof(bytes)];
	const size_t origin[3] = {0}, region[3] = {WIDTH, HEIGHT, 1};
	cl_event event = NULL;
	cl_command_type type = 0;
	fill_bytes(bytes, sizeof(bytes));
	cl_mem image = image_of(&rgba8, CL_MEM_OBJECT_IMAGE2D, HEIGHT, 1, 1, bytes);
	const cl_mem both[2] = {image, buffer_of(NULL)};
	CL(clEnqueueMigrateMemObjects(cl_queue, 2, both, CL_MIGRATE_MEM_OBJECT_HOST, 0, NULL,
				      &event));
	CL(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL));
	cr_assert(eq(u32, type, CL_COMMAND_MIGRATE_MEM_OBJECTS));
	CL(clWaitForEvents(1, &event));
	CL(clEnqueueReadImage(cl_queue, image, CL_TRUE, origin, region, 0, 0, got, 0, NULL, NULL));
	cr_assert(memcmp(got, bytes, sizeof(bytes)) == 0);
	CL(clReleaseEvent(event));
	CL(clReleaseMemObject(both[1]));
	CL(clReleaseMemObject(image));
	REFUSES(clEnqueueMigrateMemObjects(cl_queue, 1, both, 0, 0, NULL, NULL),
		CL_INVALID_MEM_OBJECT);
}

Test(images, R11_a_write_sends_what_an_earlier_read_brings)
{
	static unsigned char all[WIDTH * HEIGHT * 4], between[sizeof(all)], out[sizeof(all)];
	const size_t zero[3] = {0, 0, 0}, whole[3] = {WIDTH, HEIGHT, 1};
	fill_bytes(all, sizeof(all));
	cl_mem from = image_of(&rgba8, CL_MEM_OBJECT_IMAGE2D, HEIGHT, 0, 0, all),
	       to = image_of(&rgba8, CL_MEM_OBJECT_IMAGE2D, HEIGHT, 0, 0, NULL);
	CL(clEnqueueReadImage(cl_queue, from, CL_FALSE, zero, whole, 0, 0, between, 0, NULL, NULL));
	CL(clEnqueueWriteImage(cl_queue, to, CL_FALSE, zero, whole, 0, 0, between, 0, NULL, NULL));
	CL(clEnqueueReadImage(cl_queue, to, CL_TRUE, zero, whole, 0, 0, out, 0, NULL, NULL));
	cr_assert(eq(int, memcmp(out, all, sizeof(all)), 0));
	CL(clReleaseMemObject(from));
	CL(clReleaseMemObject(to));
}

Test(images, what_is_no_image_or_no_part_is_refused)
{
	static unsigned char all[WIDTH * HEIGHT * 4];
	const size_t zero[3] = {0, 0, 0}, wide[3] = {WIDTH + 1, 1, 1}, none[3] = {1, 0, 1},
		     far[3] = {WIDTH, 0, 0}, one[3] = {1, 1, 1};
	cl_image_format wrong = {CL_RGB, CL_UNSIGNED_INT8};
	cl_image_desc description = {
		.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = WIDTH, .image_height = HEIGHT};
	cl_int code = 0;
	cl_mem image = image_of(&rgba8, CL_MEM_OBJECT_IMAGE2D, HEIGHT, 0, 0, NULL);
	REFUSES(clEnqueueReadImage(cl_queue, image, CL_TRUE, zero, wide, 0, 0, all, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(clEnqueueReadImage(cl_queue, image, CL_TRUE, zero, none, 0, 0, all, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(clEnqueueWriteImage(cl_queue, image, CL_TRUE, far, one, 0, 0, all, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(clEnqueueReadImage(cl_queue, image, CL_TRUE, zero, one, 3, 0, all, 0, NULL, NULL),
		CL_INVALID_VALUE);
	REFUSES(clEnqueueReadBuffer(cl_queue, image, CL_TRUE, 0, 4, all, 0, NULL, NULL),
		CL_INVALID_MEM_OBJECT);
	(void)clCreateImage(cl_context_made, 0, &wrong, &description, NULL, &code);
	cr_assert(eq(int, code, CL_IMAGE_FORMAT_NOT_SUPPORTED));
	wrong.image_channel_order = 0x9999;
	(void)clCreateImage(cl_context_made, 0, &wrong, &description, NULL, &code);
	cr_assert(eq(int, code, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR));
	description.image_width = 1u << 30;
	(void)clCreateImage(cl_context_made, 0, &rgba8, &description, NULL, &code);
	cr_assert(eq(int, code, CL_INVALID_IMAGE_SIZE));
	description.image_width = 0;
	(void)clCreateImage(cl_context_made, 0, &rgba8, &description, NULL, &code);
	cr_assert(eq(int, code, CL_INVALID_IMAGE_DESCRIPTOR));
	/* The program's rows are farther apart than its memory can be large. */
	description = (cl_image_desc){.image_type = CL_MEM_OBJECT_IMAGE1D,
				      .image_width = WIDTH,
				      .image_row_pitch = SIZE_MAX - 3};
	(void)clCreateImage(cl_context_made, CL_MEM_COPY_HOST_PTR, &rgba8, &description, all,
			    &code);
	cr_assert(eq(int, code, CL_INVALID_IMAGE_DESCRIPTOR));
	(void)clCreateSampler(cl_context_made, CL_FALSE, 7, CL_FILTER_NEAREST, &code);
	cr_assert(eq(int, code, CL_INVALID_VALUE));
	CL(clReleaseMemObject(image));
}

/* PoCL 3 has none, and says so by an alignment of 0. */
Test(images, a_2d_image_of_a_buffer_needs_a_device_that_has_them)
{
	cl_uint pixels = 0;
	cl_int code = 0;
	cl_mem buffer = buffer_of(NULL);
	const cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE2D,
					   .image_width = 4,
					   .image_height = 2,
					   .mem_object = buffer};
	CL(clGetDeviceInfo(cl_device, CL_DEVICE_IMAGE_PITCH_ALIGNMENT, sizeof(pixels), &pixels,
			   NULL));
	cl_mem image = clCreateImage(cl_context_made, 0, &rgba8, &description, NULL, &code);
	cr_assert(eq(int, code, pixels > 0 ? CL_SUCCESS : CL_INVALID_OPERATION));
	if (image)
		CL(clReleaseMemObject(image));
	CL(clReleaseMemObject(buffer));
}
