/* Kernels in OpenCL C: an image and a sampler are two arguments (E23). */
#include "images/support.h"

#include "status.h"

TestSuite(image_opencl, .timeout = 60);

static const char source[] =
	"__kernel void pick(__read_only image2d_t image, sampler_t how, __global float *to) {\n"
	"  float4 v = read_imagef(image, how, (float2)(-3.5f, 0.5f));\n"
	"  to[0] = v.x; to[1] = v.w;\n"
	"}\n"
	"__kernel void change(__write_only image2d_t image) {\n"
	"  write_imagef(image, (int2)(get_global_id(0), get_global_id(1)), (float4)(0, 1, 0, 1));\n"
	"}\n";

static void open_c(struct images *images, const char *kernel)
{
	images_open(images, NULL, NULL);
	images->program = fixture_build(&images->fixture, BACKEND_SOURCE_OPENCL_C, source, "");
	images_use(images, kernel);
}

Test(image_opencl, E23_G5_an_image_and_a_sampler_are_two_arguments)
{
	const uint64_t size[] = {1, 2}, one[] = {1};
	const uint8_t pixels[] = {255, 0, 0, 255, 0, 0, 0, 255};
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_R8G8B8A8_UNORM, 2, size);
	float got[2] = {0};

	open_c(&images, "pick");
	struct backend_kernel_facts facts;
	images.fixture.ops->kernel_facts(images.kernel, &facts);
	cr_assert_eq(facts.argument_count, 3);
	cr_assert_eq(facts.arguments[0].kind, BACKEND_ARGUMENT_IMAGE);
	cr_assert(facts.arguments[0].is_const);
	cr_assert_eq(facts.arguments[1].kind, BACKEND_ARGUMENT_SAMPLER);
	struct backend_memory *memory = images_make(&images, &image);
	struct backend_memory *to = fixture_memory(&images.fixture, sizeof(got), NULL);
	images_write(&images, memory, &image, pixels);
	/* Left of the image: its edge, or the border's colour. */
	for (int clamp = 0; clamp <= 1; clamp++) {
		const struct backend_argument sampler = {
			.kind = BACKEND_ARGUMENT_SAMPLER,
			.image = {.sampler = {.addressing =
						      clamp ? BACKEND_ADDRESSING_CLAMP
							    : BACKEND_ADDRESSING_CLAMP_TO_EDGE}}};
		const struct backend_argument arguments[] = {images_argument(memory, false),
							     sampler, global_argument(to)};
		images_launch(&images, 1, one, arguments, 3);
		fixture_read(&images.fixture, to, 0, got, sizeof(got));
		cr_assert_float_eq(got[0], clamp ? 0 : 1, 0);
		cr_assert_float_eq(got[1], clamp ? 0 : 1, 0);
	}
	images.fixture.ops->memory_free(memory);
	images.fixture.ops->memory_free(to);
	images_close(&images);
}

Test(image_opencl, E23_what_belongs_together_is_not_taken_apart_or_put_together)
{
	const uint64_t size[] = {2, 2};
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_R8G8B8A8_UNORM, 2, size);
	const struct backend_sampler sampler = {.addressing = BACKEND_ADDRESSING_CLAMP};

	open_c(&images, "pick");
	struct backend_memory *memory = images_make(&images, &image);
	struct backend_memory *to = fixture_memory(&images.fixture, 8, NULL);
	const struct backend_argument alone = {.kind = BACKEND_ARGUMENT_SAMPLER,
					       .image = {.sampler = sampler}};
	const struct backend_argument both[] = {images_sampled(memory, sampler), alone,
						global_argument(to)};
	const struct backend_argument swapped[] = {alone, images_argument(memory, false),
						   global_argument(to)};
	const struct backend_argument value[] = {images_argument(memory, false),
						 value_argument(&sampler, 8), global_argument(to)};
	images_launch_fails(&images, both, 3, STATUS_KERNEL_ARGUMENT);
	images_launch_fails(&images, swapped, 3, STATUS_KERNEL_ARGUMENT);
	images_launch_fails(&images, value, 3, STATUS_KERNEL_ARGUMENT);
	struct backend_argument unknown = alone;
	unknown.image.sampler.addressing = (enum backend_addressing)6;
	const struct backend_argument no_mode[] = {images_argument(memory, false), unknown,
						   global_argument(to)};
	images_launch_fails(&images, no_mode, 3, STATUS_INVALID);
	images.fixture.ops->memory_free(memory);
	images.fixture.ops->memory_free(to);
	images_close(&images);
}

Test(image_opencl, E14_an_image_that_is_written)
{
	const uint64_t size[] = {2, 3};
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_R8G8B8A8_UNORM, 2, size);
	uint8_t got[24] = {0};

	open_c(&images, "change");
	struct backend_memory *memory = images_make(&images, &image);
	const struct backend_argument reads = images_argument(memory, false),
				      writes = images_argument(memory, true);
	images_launch_fails(&images, &reads, 1, STATUS_KERNEL_ARGUMENT);
	images_launch(&images, 2, size, &writes, 1);
	images_read(&images, memory, &image, got);
	for (int i = 0; i < 24; i++)
		cr_assert_eq(got[i], i % 2 ? 255 : 0);
	images.fixture.ops->memory_free(memory);
	images_close(&images);
}
