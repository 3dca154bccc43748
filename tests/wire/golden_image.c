/*
 * Images and samplers (command.proto), as version 0.1 sends them. If a test here fails, old peers break: add a field,
 * never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_image, .timeout = 10);

static const uint8_t command_with_image_create_v0_1[] = {
	0xa2, 0x01, 0x1b, /* image_create: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* image = 0x300000100000002 */
		0x10, 0x09, /* format = 9 */
		0x1a, 0x04, 0x08, 0xac, 0x02, 0x03, /* size = 8, 300, 3, packed */
		0x22, 0x05, /* range: */
			0x08, 0x01, /* arena = 1 */
			0x10, 0x80, 0x40, /* offset_bytes = 8192 */
		0x28, 0x01, /* initialised = true */
};

Test(golden_image, command_with_image_create_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__ImageCreate image_create = SYCL__V1__IMAGE_CREATE__INIT;
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	uint64_t size[] = {8, 300, 3};
	message.body_case = SYCL__V1__COMMAND__BODY_IMAGE_CREATE;
	image_create.image = 0x300000100000002ull;
	image_create.format = 9;
	image_create.n_size = 3;
	image_create.size = size;
	range.arena = 1;
	range.offset_bytes = 8192;
	image_create.range = &range;
	image_create.initialised = true;
	message.image_create = &image_create;
	assert_golden(&message.base, BYTES_OF(command_with_image_create_v0_1));
}

static const uint8_t unsampled_argument_v0_1[] = {
	0x32, 0x02, /* image: */
		0x08, 0x03, /* requirement = 3 */
};

static const uint8_t sampled_argument_v0_1[] = {
	0x32, 0x04, /* image: */
		0x08, 0x03, /* requirement = 3 */
		0x10, 0x01, /* sampled = true */
	0x42, 0x06, /* sampler: */
		0x08, 0x02, /* addressing = 2 */
		0x10, 0x01, /* normalised = true */
		0x18, 0x01, /* linear = true */
};

static const uint8_t sampler_argument_v0_1[] = {
	0x38, 0x01, /* is_sampler = true */
	0x42, 0x02, /* sampler: */
		0x08, 0x04, /* addressing = 4 */
};

Test(golden_image, argument_bytes_never_change)
{
	Sycl__V1__Argument message = SYCL__V1__ARGUMENT__INIT;
	Sycl__V1__ImageArgument image = SYCL__V1__IMAGE_ARGUMENT__INIT;
	Sycl__V1__SamplerArgument sampler = SYCL__V1__SAMPLER_ARGUMENT__INIT;
	message.value_case = SYCL__V1__ARGUMENT__VALUE_IMAGE;
	message.image = &image;
	image.requirement = 3;
	assert_golden(&message.base, BYTES_OF(unsampled_argument_v0_1));
	image.sampled = true;
	message.sampler = &sampler;
	sampler.addressing = 2;
	sampler.normalised = true;
	sampler.linear = true;
	assert_golden(&message.base, BYTES_OF(sampled_argument_v0_1));
	message.value_case = SYCL__V1__ARGUMENT__VALUE_IS_SAMPLER;
	message.is_sampler = true;
	sampler = (Sycl__V1__SamplerArgument)SYCL__V1__SAMPLER_ARGUMENT__INIT;
	sampler.addressing = 4;
	assert_golden(&message.base, BYTES_OF(sampler_argument_v0_1));
}

static const uint8_t device_facts_with_image_formats_v0_1[] = {
	0x08, 0x02, /* device = 2 */
	0xa2, 0x03, 0x06, 0x80, 0x80, 0x01, 0x80, 0x80, 0x02, /* image_sizes = 16384, 32768, packed */
	0xc8, 0x03, 0xff, 0x0f, /* image_formats = 2047 */
};

Test(golden_image, device_facts_with_image_formats_bytes_never_change)
{
	Sycl__V1__DeviceFacts message = SYCL__V1__DEVICE_FACTS__INIT;
	uint64_t sizes[] = {16384, 32768};
	message.device = 2;
	message.n_image_sizes = 2;
	message.image_sizes = sizes;
	message.image_formats = 2047;
	assert_golden(&message.base, BYTES_OF(device_facts_with_image_formats_v0_1));
}

/* Layered images (R8). */
static const uint8_t command_with_layered_image_create_v0_1[] = {
	0xa2, 0x01, 0x14, /* image_create: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* image = 0x300000100000002 */
		0x10, 0x09, /* format = 9 */
		0x1a, 0x04, 0x08, 0xac, 0x02, 0x03, /* size = 8, 300, 3, packed */
		0x30, 0x01, /* layered = true */
};

Test(golden_image, command_with_layered_image_create_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__ImageCreate image_create = SYCL__V1__IMAGE_CREATE__INIT;
	uint64_t size[] = {8, 300, 3};
	message.body_case = SYCL__V1__COMMAND__BODY_IMAGE_CREATE;
	image_create.image = 0x300000100000002ull;
	image_create.format = 9;
	image_create.n_size = 3;
	image_create.size = size;
	image_create.layered = true;
	message.image_create = &image_create;
	assert_golden(&message.base, BYTES_OF(command_with_layered_image_create_v0_1));
}

static const uint8_t device_facts_with_layered_sizes_v0_1[] = {
	0x08, 0x02, /* device = 2 */
	0xd2, 0x03, 0x08, 0x80, 0x80, 0x01, 0x80, 0x80, 0x02, 0x80, 0x10, /* image_layered_sizes = 16384, 32768, 2048, packed */
};

Test(golden_image, device_facts_with_layered_sizes_bytes_never_change)
{
	Sycl__V1__DeviceFacts message = SYCL__V1__DEVICE_FACTS__INIT;
	uint64_t sizes[] = {16384, 32768, 2048};
	message.device = 2;
	message.n_image_layered_sizes = 3;
	message.image_layered_sizes = sizes;
	assert_golden(&message.base, BYTES_OF(device_facts_with_layered_sizes_v0_1));
}
