/* The fake backend's own functions of images, on which tests of the scheduler rely. */
#include "images/support.h"

#include "status.h"

TestSuite(image_fake, .timeout = 20);

static void images_fake_use_kernel(struct images *images, const char *kernel)
{
	if (images->kernel)
		images->fixture.ops->kernel_free(images->kernel);
	images->kernel = fixture_kernel(&images->fixture, kernel);
}

Test(image_fake, E14_images_and_samplers_reach_the_functions)
{
	const uint64_t size[] = {3, 5}, one[] = {1};
	const uint32_t value = 7;
	struct images images;
	struct backend_image image = images_describe(BACKEND_IMAGE_R8G8B8A8_UINT, 2, size);
	uint8_t got[60] = {0};
	uint32_t code = 0;

	images_open(&images, NULL, NULL);
	struct backend_memory *a = images_make(&images, &image), *b = images_make(&images, &image);
	struct backend_memory *to = fixture_memory(&images.fixture, 4, NULL);
	const struct backend_argument a_writes = images_argument(a, true),
				      b_writes = images_argument(b, true);
	const struct backend_argument a_reads = images_argument(a, false);
	const struct backend_argument fill[] = {a_writes, value_argument(&value, 4)};
	const struct backend_argument copy[] = {b_writes, a_reads};
	const struct backend_argument mix[] = {b_writes, a_reads, value_argument(&value, 4)};
	images_fake_use_kernel(&images, "fill_image");
	images_launch(&images, 1, one, fill, 2);
	images_fake_use_kernel(&images, "copy_image");
	images_launch(&images, 1, one, copy, 2);
	images_fake_use_kernel(&images, "mix_image");
	images_launch(&images, 1, one, mix, 3);
	images_read(&images, b, &image, got);
	for (int i = 0; i < 60; i++)
		cr_assert_eq(got[i], 7 * 31 + 7 + 7);
	const struct backend_sampler sampler = {
		.addressing = BACKEND_ADDRESSING_REPEAT, .normalised = true, .linear = true};
	const struct backend_argument sampled[] = {global_argument(to), images_sampled(a, sampler)};
	images_fake_use_kernel(&images, "sampler_of_image");
	images_launch(&images, 1, one, sampled, 2);
	fixture_read(&images.fixture, to, 0, &code, sizeof(code));
	cr_assert_eq(code, (uint32_t)BACKEND_ADDRESSING_REPEAT | 3u << 8);
	/* Images that do not fit are refused. */
	const struct backend_argument unsampled[] = {global_argument(to), a_reads},
				      pointer[] = {global_argument(a), fill[1]};
	const struct backend_argument reads[] = {a_reads, fill[1]};
	images_launch_fails(&images, unsampled, 2, STATUS_KERNEL_ARGUMENT);
	images_fake_use_kernel(&images, "fill_image");
	images_launch_fails(&images, reads, 2, STATUS_KERNEL_ARGUMENT);
	images_fake_use_kernel(&images, "fill_u32");
	images_launch_fails(&images, pointer, 2, STATUS_KERNEL_ARGUMENT);
	images.fixture.ops->memory_free(a);
	images.fixture.ops->memory_free(b);
	images.fixture.ops->memory_free(to);
	images_close(&images);
}
