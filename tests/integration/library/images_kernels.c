/* Kernels that read, sample and write images, on real devices. The host computes the same pixels
 * for comparison. */
#include "library/portable.h"

#include <math.h>
#include <string.h>

TestSuite(image_programs, .timeout = 120, .init = portable_begin, .fini = portable_end);

static sycl_kernel images_kernels_kernel_of(const char *source, const char *name)
{
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_from_source(queue, source, name, &kernel));
	return kernel;
}

static uint32_t noise(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 24;
}

static sycl_host_image images_kernels_host_of(sycl_image image, sycl_access_mode mode)
{
	sycl_host_image accessor = NULL;
	MUST(sycl_host_image_create(image, mode, &accessor));
	return accessor;
}

/* A sampler with a linear filter makes a picture smaller. The host computes the same; a value of 8
 * bits may differ by one. */
Test(image_programs, C20_E14_G5_a_picture_is_resized_by_a_sampler)
{
	enum { ROWS = 31, COLUMNS = 45, SMALL_ROWS = 13, SMALL_COLUMNS = 20 };
	static const char source[] =
		"SYCL_KERNEL void resize(SYCL_IMAGE_SAMPLED_2D(from), SYCL_IMAGE_WRITE_2D(to))\n"
		"{\n"
		"	float i = ((float)sycl_global_id(0) + 0.5f) / (float)sycl_image_range_2d(to, 0);\n"
		"	float j = ((float)sycl_global_id(SYCL_DIMENSIONS - 1) + 0.5f) / (float)sycl_image_range_2d(to, "
		"1);\n"
		"	sycl_image_write_float_2d(to, sycl_global_id(0), sycl_global_id(SYCL_DIMENSIONS - 1),\n"
		"				  sycl_image_sample_float_2d(from, i, j));\n"
		"}\n";
	uint8_t pixels[ROWS * COLUMNS * 4], small[SMALL_ROWS * SMALL_COLUMNS * 4];
	sycl_image from = NULL, to = NULL;
	sycl_handler handler = NULL;
	uint32_t seed = 7;
	const sycl_sampler sampler = sycl_sampler_create(
		SYCL_ADDRESSING_CLAMP_TO_EDGE, SYCL_COORDINATE_NORMALIZED, SYCL_FILTERING_LINEAR);
	for (size_t i = 0; i < sizeof(pixels); i++)
		pixels[i] = (uint8_t)noise(&seed);
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM,
			       sycl_range2(ROWS, COLUMNS), pixels, SYCL_HOST_CONST, &from));
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_B8G8R8A8_UNORM,
			       sycl_range2(SMALL_ROWS, SMALL_COLUMNS), small, SYCL_HOST_BORROWED,
			       &to));
	sycl_kernel kernel = images_kernels_kernel_of(source, "resize");
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_sampled_image(handler, 0, from, &sampler));
	MUST(sycl_handler_set_image(handler, 1, to, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range2(SMALL_ROWS, SMALL_COLUMNS)));
	MUST(sycl_handler_submit(handler, NULL));
	sycl_host_image expected = images_kernels_host_of(from, SYCL_ACCESS_READ),
			got = images_kernels_host_of(to, SYCL_ACCESS_READ);
	for (uint64_t i = 0; i < SMALL_ROWS; i++)
		for (uint64_t j = 0; j < SMALL_COLUMNS; j++) {
			const float at[] = {((float)i + 0.5f) / SMALL_ROWS,
					    ((float)j + 0.5f) / SMALL_COLUMNS};
			const uint64_t index[] = {i, j};
			float a[4], b[4];
			MUST(sycl_host_image_sample_float(expected, &sampler, at, a));
			MUST(sycl_host_image_read_float(got, index, b));
			for (int c = 0; c < 4; c++)
				cr_assert(fabsf(a[c] - b[c]) < 3.0f / 255.0f, "%lu %lu: %g, not %g",
					  (unsigned long)i, (unsigned long)j, (double)b[c],
					  (double)a[c]);
		}
	MUST(sycl_host_image_release(expected));
	MUST(sycl_host_image_release(got));
	MUST(sycl_image_release(from));
	MUST(sycl_image_release(to)); /* and into `small` */
	uint32_t sum = 0;
	for (size_t i = 0; i < sizeof(small); i++)
		sum += small[i];
	cr_assert(gt(u32, sum, 0));
	MUST(sycl_kernel_release(kernel));
}

/* Three dimensions, read and written in one chain of groups. The value of each pixel is its
 * position. */
Test(image_programs, C20_E3_a_volume_keeps_its_orientation)
{
	enum { A = 3, B = 4, C = 5 };
	static const char source[] =
		"SYCL_KERNEL void mark(SYCL_IMAGE_WRITE_3D(to))\n"
		"{\n"
		"	int i = (int)sycl_global_id(0), j = 0, k = 0;\n"
		"#if SYCL_DIMENSIONS == 3\n"
		"	j = (int)sycl_global_id(1), k = (int)sycl_global_id(2);\n"
		"#endif\n"
		"	sycl_image_write_int_3d(to, i, j, k, sycl_int4(i, j, k, -i * 100 - j * 10 - k));\n"
		"}\n"
		"SYCL_KERNEL void turn(SYCL_IMAGE_READ_3D(from), SYCL_IMAGE_WRITE_3D(to))\n"
		"{\n"
		"	int i = (int)sycl_global_id(0), j = 0, k = 0;\n"
		"#if SYCL_DIMENSIONS == 3\n"
		"	j = (int)sycl_global_id(1), k = (int)sycl_global_id(2);\n"
		"#endif\n"
		"	sycl_image_write_int_3d(to, k, i, j, sycl_image_read_int_3d(from, i, j, k));\n"
		"}\n";
	sycl_image a = NULL, b = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R16G16B16A16_SINT, sycl_range3(A, B, C),
			       NULL, SYCL_HOST_NONE, &a));
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R32B32G32A32_SINT, sycl_range3(C, A, B),
			       NULL, SYCL_HOST_NONE, &b));
	sycl_kernel mark = images_kernels_kernel_of(source, "mark"),
		    turn = images_kernels_kernel_of(source, "turn");
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_image(handler, 0, a, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_parallel_for(handler, mark, sycl_range3(A, B, C)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_image(handler, 0, a, SYCL_ACCESS_READ));
	MUST(sycl_handler_set_image(handler, 1, b, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_parallel_for(handler, turn, sycl_range3(A, B, C)));
	MUST(sycl_handler_submit(handler, NULL));
	sycl_host_image accessor = images_kernels_host_of(b, SYCL_ACCESS_READ);
	void *bytes = NULL;
	MUST(sycl_host_image_get_pointer(accessor, &bytes));
	for (int k = 0; k < C; k++)
		for (int i = 0; i < A; i++)
			for (int j = 0; j < B; j++) {
				const int32_t *pixel =
					(const int32_t *)bytes + 4 * ((k * A + i) * B + j);
				cr_assert(pixel[0] == i && pixel[1] == j && pixel[2] == k &&
						  pixel[3] == -i * 100 - j * 10 - k,
					  "%d %d %d", i, j, k);
			}
	MUST(sycl_host_image_release(accessor));
	MUST(sycl_image_release(a));
	MUST(sycl_image_release(b));
	MUST(sycl_kernel_release(mark));
	MUST(sycl_kernel_release(turn));
}

/* Samples outside of the image in every addressing mode. The device must give the values of the
 * host's table. */
Test(image_programs, G5_G6_S2_samplers_reach_the_device)
{
	enum { POINTS = 16 };
	static const char source[] =
		"SYCL_KERNEL void sample(SYCL_IMAGE_SAMPLED_1D(image), SYCL_GLOBAL(const float) "
		"at, SYCL_GLOBAL(float) to)\n"
		"{\n"
		"	ulong i = sycl_global_id(0);\n"
		"	to[i] = sycl_image_sample_float_1d(image, at[i]).y;\n"
		"}\n";
	float pixels[8][4], at[POINTS], got[POINTS];
	uint32_t seed = 3;
	sycl_image image = NULL;
	sycl_buffer places = NULL, results = NULL;
	for (int i = 0; i < 32; i++)
		pixels[i / 4][i % 4] = (float)noise(&seed) / 255.0f;
	for (int i = 0; i < POINTS; i++)
		at[i] = -2.07f + 0.31f * (float)i;
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R32G32B32A32_SFLOAT, sycl_range1(8),
			       pixels, SYCL_HOST_CONST, &image));
	MUST(sycl_buffer_create(platform, at, sizeof(at), SYCL_HOST_CONST, &places));
	MUST(sycl_buffer_create(platform, NULL, sizeof(got), SYCL_HOST_NONE, &results));
	sycl_kernel kernel = images_kernels_kernel_of(source, "sample");
	for (int mode = 0; mode < 5 * 4; mode++) {
		sycl_handler handler = NULL;
		sycl_host_accessor accessor = NULL;
		void *pointer = NULL;
		const sycl_sampler sampler =
			sycl_sampler_create((sycl_addressing_mode)(mode / 4 + 1),
					    (sycl_coordinate_normalization_mode)(mode & 1),
					    (sycl_filtering_mode)(mode >> 1 & 1));
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_sampled_image(handler, 0, image, &sampler));
		MUST(sycl_handler_set_accessor(handler, 1, places, SYCL_ACCESS_READ));
		MUST(sycl_handler_set_accessor(handler, 2, results, SYCL_ACCESS_WRITE_NO_INIT));
		MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(POINTS)));
		MUST(sycl_handler_submit(handler, NULL));
		MUST(sycl_host_accessor_create(results, SYCL_ACCESS_READ, &accessor));
		MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
		memcpy(got, pointer, sizeof(got));
		MUST(sycl_host_accessor_release(accessor));
		sycl_host_image expected = images_kernels_host_of(image, SYCL_ACCESS_READ);
		for (int i = 0; i < POINTS; i++) {
			float value[4];
			MUST(sycl_host_image_sample_float(expected, &sampler, &at[i], value));
			cr_assert(fabsf(value[1] - got[i]) < 1.0f / 128.0f,
				  "sampler %d at %g: %g, not %g", mode, (double)at[i],
				  (double)got[i], (double)value[1]);
		}
		MUST(sycl_host_image_release(expected));
	}
	MUST(sycl_buffer_release(places));
	MUST(sycl_buffer_release(results));
	MUST(sycl_image_release(image));
	MUST(sycl_kernel_release(kernel));
}

/* Each layer is written, sampled between its four pixels, and read. It must contain only its own
 * values. */
Test(image_programs, R8_layers_are_written_sampled_and_read)
{
	enum { LAYERS = 4, ITEMS = LAYERS * 4 };
	static const char source[] =
		"SYCL_KERNEL void mark(SYCL_IMAGE_WRITE_2D_LAYERED(to))\n"
		"{\n"
		"	int id = (int)sycl_global_id(0), layer = id / 4;\n"
		"	float value = (float)(layer * 100 + id % 4);\n"
		"	sycl_image_write_float_2d_layered(to, layer, id / 2 % 2, id % 2, sycl_float4(value, 0, 0, 1));\n"
		"}\n"
		"SYCL_KERNEL void pick(SYCL_IMAGE_SAMPLED_2D_LAYERED(from), SYCL_GLOBAL(float) to)\n"
		"{\n"
		"	int layer = (int)sycl_global_id(0);\n"
		"	to[layer] = sycl_image_sample_float_2d_layered(from, layer, 0.5f, 0.5f).x;\n"
		"}\n";
	struct sycl_image_options options = SYCL_IMAGE_OPTIONS_INIT;
	const sycl_sampler sampler = sycl_sampler_create(
		SYCL_ADDRESSING_CLAMP, SYCL_COORDINATE_NORMALIZED, SYCL_FILTERING_LINEAR);
	float got[LAYERS] = {0};
	sycl_image image = NULL;
	sycl_buffer buffer = NULL;
	sycl_handler handler = NULL;
	options.format = SYCL_IMAGE_FORMAT_R32G32B32A32_SFLOAT;
	options.range = sycl_range3(LAYERS, 2, 2);
	options.layered = 1;
	MUST(sycl_image_create_with(platform, &options, &image));
	MUST(sycl_buffer_create(platform, got, sizeof(got), SYCL_HOST_BORROWED, &buffer));
	sycl_kernel mark = images_kernels_kernel_of(source, "mark"),
		    pick = images_kernels_kernel_of(source, "pick");
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_image(handler, 0, image, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_parallel_for(handler, mark, sycl_range1(ITEMS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_sampled_image(handler, 0, image, &sampler));
	MUST(sycl_handler_set_accessor(handler, 1, buffer, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_parallel_for(handler, pick, sycl_range1(LAYERS)));
	MUST(sycl_handler_submit(handler, NULL));
	sycl_host_image accessor = images_kernels_host_of(image, SYCL_ACCESS_READ);
	for (uint64_t i = 0; i < ITEMS; i++) {
		const uint64_t index[] = {i / 4, i / 2 % 2, i % 2};
		float value[4];
		MUST(sycl_host_image_read_float(accessor, index, value));
		cr_assert(value[0] == (float)(i / 4 * 100 + i % 4), "%lu: %g", (unsigned long)i,
			  (double)value[0]);
	}
	MUST(sycl_host_image_release(accessor));
	MUST(sycl_buffer_release(buffer));
	for (int i = 0; i < LAYERS; i++)
		cr_assert(fabsf(got[i] - ((float)i * 100 + 1.5f)) < 0.02f, "layer %d: %g", i,
			  (double)got[i]);
	MUST(sycl_image_release(image));
	MUST(sycl_kernel_release(mark));
	MUST(sycl_kernel_release(pick));
}

/* In OpenCL C an image and a sampler are two arguments. */
Test(image_programs, E23_opencl_c_takes_image_and_sampler_apart)
{
	static const char source[] =
		"__kernel void pick(__read_only image2d_t image, sampler_t how, __global float *to)\n"
		"{ to[0] = read_imagef(image, how, (float2)(-3.5f, 0.5f)).x; }\n";
	const uint8_t pixels[] = {255, 0, 0, 255, 0, 0, 0, 255};
	sycl_device device = NULL;
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel kernel = NULL;
	sycl_image image = NULL;
	sycl_buffer buffer = NULL;
	uint32_t backend = 0;
	MUST(sycl_queue_get_device(queue, &device));
	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend), &backend,
				  NULL));
	if (backend != SYCL_BACKEND_KIND_OPENCL) {
		MUST(sycl_device_release(device));
		cr_skip_test("OpenCL C is for OpenCL devices");
	}
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_OPENCL_C, source, "", &bundle));
	MUST(sycl_kernel_create(bundle, "pick", &kernel));
	MUST(sycl_image_create(platform, SYCL_IMAGE_FORMAT_R8G8B8A8_UNORM, sycl_range2(1, 2),
			       (void *)(uintptr_t)pixels, SYCL_HOST_CONST, &image));
	MUST(sycl_buffer_create(platform, NULL, sizeof(float), SYCL_HOST_NONE, &buffer));
	for (int clamp = 0; clamp <= 1; clamp++) {
		sycl_handler handler = NULL;
		sycl_host_accessor accessor = NULL;
		void *pointer = NULL;
		const sycl_sampler sampler = sycl_sampler_create(
			clamp ? SYCL_ADDRESSING_CLAMP : SYCL_ADDRESSING_CLAMP_TO_EDGE,
			SYCL_COORDINATE_UNNORMALIZED, SYCL_FILTERING_NEAREST);
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_image(handler, 0, image, SYCL_ACCESS_READ));
		MUST(sycl_handler_set_sampler(handler, 1, &sampler));
		MUST(sycl_handler_set_accessor(handler, 2, buffer, SYCL_ACCESS_WRITE_NO_INIT));
		MUST(sycl_handler_single_task(handler, kernel));
		MUST(sycl_handler_submit(handler, NULL));
		MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
		MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
		const float picked = *(const float *)pointer;
		cr_assert(picked == (clamp ? 0.0f : 1.0f));
		MUST(sycl_host_accessor_release(accessor));
	}
	MUST(sycl_image_release(image));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_device_release(device));
}
