#include "images/support.h"

void images_open(struct images *images, const char *source, const char *kernel)
{
	*images = (struct images){.fixture = {.wake_fd = -1}};
	fixture_open(&images->fixture, 0);
	cr_assert(images->fixture.facts->features & BACKEND_FEATURE_IMAGE,
		  "the device has no images");
	if (!source)
		return;
	images->program = fixture_build(&images->fixture, BACKEND_SOURCE_PORTABLE, source, "");
	images_use(images, kernel);
}

void images_use(struct images *images, const char *kernel)
{
	struct backend_fault fault = {0};

	if (images->kernel)
		images->fixture.ops->kernel_free(images->kernel);
	images->kernel = NULL;
	cr_assert_eq(images->fixture.ops->kernel_create(images->program, kernel, &images->kernel,
							&fault),
		     0, "%s", fault.text);
}

void images_close(struct images *images)
{
	if (images->kernel)
		images->fixture.ops->kernel_free(images->kernel);
	if (images->program)
		images->fixture.ops->program_free(images->program);
	fixture_close(&images->fixture);
}

struct backend_image images_describe(enum backend_image_format format, uint32_t dimensions,
				     const uint64_t *size)
{
	struct backend_image image = {.format = format, .dimensions = dimensions};

	memcpy(image.size, size, dimensions * sizeof(*size));
	return image;
}

struct backend_memory *images_make(struct images *images, const struct backend_image *image)
{
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;

	cr_assert_eq(
		images->fixture.ops->image_create(images->fixture.device, image, &memory, &fault),
		0, "%s", fault.text);
	return memory;
}

uint64_t images_bytes(const struct backend_image *image)
{
	uint64_t bytes = 0;

	cr_assert_eq(image_bytes(image->format, image->is_layered, image->dimensions, image->size,
				 &bytes),
		     0);
	return bytes;
}

static void transfer(struct images *images, enum backend_command_kind kind,
		     struct backend_memory *memory, const struct backend_image *image, void *bytes)
{
	const struct backend_command command = {
		.kind = kind,
		.transfer = {.memory = memory, .size_bytes = images_bytes(image), .host = bytes}};

	fixture_wait(&images->fixture, 0, fixture_submit(&images->fixture, 0, &command));
}

void images_write(struct images *images, struct backend_memory *memory,
		  const struct backend_image *image, const void *bytes)
{
	transfer(images, BACKEND_COMMAND_WRITE, memory, image, (void *)(uintptr_t)bytes);
}

void images_read(struct images *images, struct backend_memory *memory,
		 const struct backend_image *image, void *bytes)
{
	transfer(images, BACKEND_COMMAND_READ, memory, image, bytes);
}

void *images_noise(uint64_t bytes, uint32_t seed)
{
	uint8_t *noise = malloc(bytes);

	cr_assert_not_null(noise);
	for (uint64_t i = 0; i < bytes; i++) {
		seed = seed * 1664525u + 1013904223u;
		noise[i] = (uint8_t)(seed >> 24);
	}
	return noise;
}

struct backend_argument images_argument(struct backend_memory *memory, bool writes)
{
	return (struct backend_argument){.kind = BACKEND_ARGUMENT_IMAGE,
					 .image = {.memory = memory, .writes = writes}};
}

struct backend_argument images_sampled(struct backend_memory *memory,
				       struct backend_sampler sampler)
{
	return (struct backend_argument){
		.kind = BACKEND_ARGUMENT_IMAGE,
		.image = {.memory = memory, .sampled = true, .sampler = sampler}};
}

void images_launch(struct images *images, uint32_t dimensions, const uint64_t *global,
		   const struct backend_argument *arguments, uint32_t count)
{
	struct backend_command command =
		launch_command(images->kernel, dimensions, global, arguments, count);

	fixture_wait(&images->fixture, 0, fixture_submit(&images->fixture, 0, &command));
}

void images_launch_fails(struct images *images, const struct backend_argument *arguments,
			 uint32_t count, int32_t status)
{
	const uint64_t one[] = {1};
	struct backend_command command = launch_command(images->kernel, 1, one, arguments, count);

	struct backend_fault fault = fixture_submit_fails(&images->fixture, 0, &command);
	cr_assert_eq(fault.status, status, "%d: %s", fault.status, fault.text);
}
