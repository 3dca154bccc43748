/* Images in the scheduler. They are opaque on every device, so each device is a separate place, and
 * they are always used as a whole. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

/* Devices 0 and 1 can access each other's memory; 2 shares the host's; 3 has no images. */
enum { PLAIN, PEER, UNIFIED, WITHOUT, DEVICES };
enum { WIDTH = 8, HEIGHT = 4, BYTES = WIDTH * HEIGHT * 4 };

static struct harness h;

static void setup_images(void)
{
	const uint32_t images =
		BACKEND_FEATURE_PEER | BACKEND_FEATURE_EXPORT_VMM | BACKEND_FEATURE_IMAGE;
	fake_reset();
	cr_assert(eq(int, fake_devices(DEVICES), 0));
	fake_device_options(PLAIN, (struct fake_device_options){.features = images});
	fake_device_options(PEER, (struct fake_device_options){.features = images});
	fake_device_options(UNIFIED, (struct fake_device_options){.features = BACKEND_FEATURE_IMAGE,
								  .unified = true});
	fake_device_options(WITHOUT, (struct fake_device_options){.features = 0});
	harness_start(&h, DEVICES);
}

TestSuite(sched_images, .timeout = 20, .init = setup_images);

/* Sets all bytes to `value`, if there is one. */
static void images_make_image(struct words *image, bool initialised, uint8_t value)
{
	const struct backend_image description = {
		.format = BACKEND_IMAGE_R8G8B8A8_UNORM, .dimensions = 2, .size = {HEIGHT, WIDTH}};
	*image = (struct words){.count = BYTES / 4, .host = malloc(BYTES)};
	cr_assert(image->host != NULL);
	memset(image->host, value, BYTES);
	cr_assert(eq(int,
		     sched_buffer_create_image(h.scheduler, &description, BYTES, image->host,
					       initialised, &image->freed, &image->buffer),
		     0));
}

struct image_use {
	struct words *image;
	uint32_t mode;
};

static struct task *submit_image_kernel(uint32_t device, const char *kernel, struct image_use first,
					struct image_use second, int value, struct probe *probe)
{
	const struct image_use uses[] = {first, second};
	struct task_requirement requirements[2];
	struct task_argument arguments[3];
	uint32_t number = (uint32_t)value, count = second.image ? 2 : 1, argument_count = count;
	for (uint32_t i = 0; i < count; i++) {
		requirements[i] = (struct task_requirement){
			.buffer = uses[i].image->buffer, .mode = uses[i].mode, .size_bytes = BYTES};
		arguments[i] = (struct task_argument){.kind = BACKEND_ARGUMENT_IMAGE,
						      .requirement = i,
						      .writes = access_mode_writes(uses[i].mode)};
	}
	if (value >= 0)
		arguments[argument_count++] = (struct task_argument){.kind = BACKEND_ARGUMENT_VALUE,
								     .bytes = &number,
								     .size_bytes = sizeof(number)};
	struct task_request request = {
		.device = h.devices[device],
		.what = kernel,
		.action = TASK_LAUNCH,
		.requirements = requirements,
		.requirement_count = count,
		.launch = {.kernel = harness_kernel(&h, device, kernel),
			   .dimensions = 1,
			   .global = {1},
			   .arguments = arguments,
			   .argument_count = argument_count},
	};
	return harness_submit(&h, &request, probe);
}

static void images_fill_image(uint32_t device, struct words *image, uint32_t mode, int value)
{
	struct probe probe;
	(void)submit_image_kernel(device, "fill_image", (struct image_use){image, mode},
				  (struct image_use){NULL, 0}, value, &probe);
	harness_expect_success(&h, &probe);
}

/* Each byte becomes itself * 31 + the byte of `other` + `value`. */
static void images_launch_mix(uint32_t device, struct words *image, struct words *other, int value)
{
	struct probe probe;
	(void)submit_image_kernel(device, "mix_image",
				  (struct image_use){image, ACCESS_MODE_READ_WRITE},
				  (struct image_use){other, ACCESS_MODE_READ}, value, &probe);
	harness_expect_success(&h, &probe);
}

static void images_expect_bytes(struct words *image, uint8_t value)
{
	struct probe probe;
	struct task *access = harness_host(&h, image, ACCESS_MODE_READ, &probe);
	harness_expect_success(&h, &probe);
	const uint8_t *bytes = (const uint8_t *)image->host;
	for (uint32_t i = 0; i < BYTES; i++)
		cr_expect(eq(u8, bytes[i], value), "byte %u", i);
	host_access_release(access);
}

static void expect_moved(uint32_t device, uint64_t written, uint64_t read)
{
	cr_expect(eq(u64, fake_counters_of(device).bytes_written, written), "device %u", device);
	cr_expect(eq(u64, fake_counters_of(device).bytes_read, read), "device %u", device);
}

/* A buffer of the same device would be used in place. */
Test(sched_images, G4_a_device_with_the_hosts_memory_has_images_of_its_own)
{
	struct words x, y;
	images_make_image(&x, true, 3);
	images_make_image(&y, true, 5);
	images_launch_mix(UNIFIED, &x, &y, 1);
	expect_moved(UNIFIED, (uint64_t)2 * BYTES, 0);
	images_expect_bytes(&x, 3 * 31 + 5 + 1);
	expect_moved(UNIFIED, (uint64_t)2 * BYTES, BYTES);
	/* An image that was only read is still valid on both sides. */
	images_launch_mix(UNIFIED, &x, &y, 2);
	images_expect_bytes(&y, 5);
	expect_moved(UNIFIED, (uint64_t)2 * BYTES, BYTES);
	images_expect_bytes(&x, (uint8_t)(99 * 31 + 5 + 2));
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(sched_images, between_devices_an_image_goes_by_the_host_and_never_past_it)
{
	struct words x, y;
	images_make_image(&x, true, 7);
	images_make_image(&y, true, 2);
	images_fill_image(PLAIN, &x, ACCESS_MODE_WRITE_NO_INIT, 9);
	images_launch_mix(PEER, &x, &y, 0);
	cr_expect(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).peer_copies, 0));
	expect_moved(PLAIN, 0, BYTES);
	expect_moved(PEER, (uint64_t)2 * BYTES, 0);
	images_launch_mix(UNIFIED, &x, &y, 0);
	expect_moved(PEER, (uint64_t)2 * BYTES, BYTES);
	expect_moved(UNIFIED, (uint64_t)2 * BYTES, 0);
	images_expect_bytes(&x, (uint8_t)((9 * 31 + 2) * 31 + 2));
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(sched_images, C6_C7_what_is_written_anew_is_not_brought)
{
	struct words fresh, known;
	images_make_image(&fresh, false, 0);
	images_make_image(&known, true, 7);
	images_fill_image(PLAIN, &known, ACCESS_MODE_WRITE_NO_INIT, 4);
	images_fill_image(PLAIN, &fresh, ACCESS_MODE_WRITE, 6);
	expect_moved(PLAIN, 0, 0);
	images_expect_bytes(&known, 4);
	images_expect_bytes(&fresh, 6);
	harness_words_free(&h, &fresh);
	harness_words_free(&h, &known);
	harness_expect_stopped(&h);
}

Test(sched_images, B8_users_of_an_image_wait_for_its_writer)
{
	struct words x, y;
	struct probe a, b, c, d;
	images_make_image(&x, true, 1);
	images_make_image(&y, true, 2);
	for (uint32_t i = 0; i < 2; i++)
		(void)harness_kernel(&h, i, "fill_image"),
			(void)harness_kernel(&h, i, "copy_image");
	cr_assert(harness_settle(&h));
	fake_device_gate_close(PLAIN);
	fake_device_gate_close(PEER);
	const struct image_use nothing = {NULL, 0};
	(void)submit_image_kernel(PLAIN, "fill_image",
				  (struct image_use){&x, ACCESS_MODE_WRITE_NO_INIT}, nothing, 8,
				  &a);
	unsigned first = harness_number(&h);
	(void)submit_image_kernel(PLAIN, "copy_image",
				  (struct image_use){&y, ACCESS_MODE_WRITE_NO_INIT},
				  (struct image_use){&x, ACCESS_MODE_READ}, -1, &b);
	unsigned second = harness_number(&h);
	(void)submit_image_kernel(PEER, "fill_image",
				  (struct image_use){&x, ACCESS_MODE_WRITE_NO_INIT}, nothing, 3,
				  &c);
	unsigned third = harness_number(&h);
	(void)submit_image_kernel(PEER, "fill_image",
				  (struct image_use){&y, ACCESS_MODE_WRITE_NO_INIT}, nothing, 4,
				  &d);
	unsigned fourth = harness_number(&h);
	cr_expect(harness_edge(&h, first, second));
	cr_expect(harness_edge(&h, second, third));
	cr_expect(harness_edge(&h, second, fourth));
	cr_expect(not(harness_edge(&h, third, fourth)));
	fake_device_gate_open(PLAIN);
	fake_device_gate_open(PEER);
	harness_expect_success(&h, &d);
	harness_expect_success(&h, &c);
	images_expect_bytes(&x, 3);
	images_expect_bytes(&y, 4);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(sched_images, C20_images_that_are_alike_are_copied_on_the_device)
{
	struct words x, y;
	struct probe probe;
	images_make_image(&x, true, 1);
	images_make_image(&y, false, 0);
	images_fill_image(PLAIN, &x, ACCESS_MODE_WRITE_NO_INIT, 8);
	const struct task_requirement requirements[] = {
		{.buffer = x.buffer, .mode = ACCESS_MODE_READ, .size_bytes = BYTES},
		{.buffer = y.buffer, .mode = ACCESS_MODE_WRITE_NO_INIT, .size_bytes = BYTES},
	};
	struct task_request request = {
		.device = h.devices[PLAIN],
		.what = "copy",
		.action = TASK_COPY,
		.requirements = requirements,
		.requirement_count = 2,
		.copy = {.source = 0, .destination = 1, .size_bytes = BYTES},
	};
	(void)harness_submit(&h, &request, &probe);
	harness_expect_success(&h, &probe);
	expect_moved(PLAIN, 0, 0);
	cr_expect(eq(u64, fake_counters_of(PLAIN).copies, 1));
	images_expect_bytes(&y, 8);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(sched_images, G4_a_device_without_images_says_so_and_the_image_lives_on)
{
	struct words x;
	struct probe probe;
	images_make_image(&x, true, 7);
	(void)submit_image_kernel(WITHOUT, "fill_image",
				  (struct image_use){&x, ACCESS_MODE_READ_WRITE},
				  (struct image_use){NULL, 0}, 1, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(i32, probe.fault.status, STATUS_FEATURE_NOT_SUPPORTED), "%s",
		  probe.fault.text);
	/* The image that the failed task was to write is lost, until it is written anew. */
	images_fill_image(PLAIN, &x, ACCESS_MODE_WRITE_NO_INIT, 2);
	images_expect_bytes(&x, 2);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(sched_images, G5_S1_a_sampler_comes_with_its_image_and_by_itself)
{
	const struct backend_sampler sampler = {
		.addressing = BACKEND_ADDRESSING_REPEAT, .normalised = true, .linear = true};
	const uint32_t expected = (uint32_t)BACKEND_ADDRESSING_REPEAT | 1u << 8 | 1u << 9;
	const char *const kernels[] = {"sampler_of_image", "sampler_u32"};
	for (uint32_t i = 0; i < 2; i++) {
		struct words x, out;
		struct probe probe;
		images_make_image(&x, true, 7);
		harness_words(&h, &out, 1, false, 0);
		const struct task_requirement requirements[] = {
			{.buffer = out.buffer, .mode = ACCESS_MODE_WRITE_NO_INIT, .size_bytes = 4},
			{.buffer = x.buffer, .mode = ACCESS_MODE_READ, .size_bytes = BYTES},
		};
		const struct task_argument arguments[] = {
			{.kind = BACKEND_ARGUMENT_GLOBAL, .requirement = 0},
			i == 0 ? (struct task_argument){.kind = BACKEND_ARGUMENT_IMAGE,
							.requirement = 1,
							.sampled = true,
							.sampler = sampler}
			       : (struct task_argument){.kind = BACKEND_ARGUMENT_SAMPLER,
							.sampler = sampler},
		};
		struct task_request request = {
			.device = h.devices[PLAIN],
			.what = kernels[i],
			.action = TASK_LAUNCH,
			.requirements = requirements,
			.requirement_count = 2,
			.launch = {.kernel = harness_kernel(&h, PLAIN, kernels[i]),
				   .dimensions = 1,
				   .global = {1},
				   .arguments = arguments,
				   .argument_count = 2},
		};
		(void)harness_submit(&h, &request, &probe);
		harness_expect_success(&h, &probe);
		struct task *access = harness_host(&h, &out, ACCESS_MODE_READ, &probe);
		harness_expect_success(&h, &probe);
		cr_expect(eq(u32, out.host[0], expected), "%s", kernels[i]);
		host_access_release(access);
		harness_words_free(&h, &x);
		harness_words_free(&h, &out);
	}
	harness_expect_stopped(&h);
}
