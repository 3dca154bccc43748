/* Work beside a device's lanes, if its memory is not the host's: with the layer of
 * tests/support/opencl_discrete. */
#include "targets/target.h"

#include "status.h"

#include <criterion/criterion.h>
#include <errno.h>

TestSuite(opencl_aside, .timeout = 240);

enum { PAGE = 4096 };

/* It takes some seconds of one processor. */
static const char source[] = "__kernel void slow(__global uint *word, uint rounds) {\n"
			     "	uint x = word[0];\n"
			     "	for (uint i = 0; i < rounds; i++)\n"
			     "		for (uint j = 0; j < 1000; j++)\n"
			     "			x = x * 1664525u + (x >> 3) + i;\n"
			     "	word[0] = x;\n"
			     "}\n";

struct busy {
	struct fixture fixture;
	struct backend_program *program;
	struct backend_kernel *kernel;
	struct backend_memory *word, *tall;
	uint64_t sequence;
};

static uint64_t send_busy_kernel(struct busy *busy, uint32_t rounds)
{
	const uint64_t one = 1;
	const struct backend_argument arguments[] = {global_argument(busy->word),
						     value_argument(&rounds, sizeof(rounds))};
	const struct backend_command command = launch_command(busy->kernel, 1, &one, arguments, 2);

	return fixture_submit(&busy->fixture, 0, &command);
}

/* Starts a kernel that uses existing USM. */
static void begin_busy(struct busy *busy, void **usm_out)
{
	struct fixture *fixture = &busy->fixture;
	struct backend_fault fault = {0};
	const uint32_t zero = 0;

	fixture_open(fixture, 0);
	if (fixture->facts->host_unified_memory ||
	    !(fixture->facts->features & BACKEND_FEATURE_USM))
		cr_skip_test("the device's memory is the host's, or there is no USM");
	busy->program = fixture_build(fixture, BACKEND_SOURCE_OPENCL_C, source, "");
	cr_assert_eq(fixture->ops->kernel_create(busy->program, "slow", &busy->kernel, &fault), 0,
		     "%s", fault.text);
	busy->word = fixture_memory(fixture, PAGE, NULL);
	fixture_write(fixture, busy->word, 0, &zero, sizeof(zero));
	fixture_wait(fixture, 0, send_busy_kernel(busy, 1)); /* after this it is compiled */
	cr_assert_eq(fixture->ops->usm_alloc(fixture->device, BACKEND_USM_DEVICE, PAGE, 0, usm_out,
					     &fault),
		     0, "%s", fault.text);
	busy->sequence = send_busy_kernel(busy, 600000);
	fixture->ops->flush(fixture->device);
}

static void still_runs(struct busy *busy)
{
	struct backend_completion completion;

	cr_assert_eq(busy->fixture.ops->progress(busy->fixture.device, &completion, 1), 0,
		     "the kernel was waited for");
}

static void end_busy(struct busy *busy)
{
	struct fixture *fixture = &busy->fixture;

	fixture->ops->memory_free(busy->word);
	fixture->ops->kernel_free(busy->kernel);
	fixture->ops->program_free(busy->program);
	fixture_close(fixture);
}

Test(opencl_aside, F8_memory_is_made_beside_a_kernel_that_freed_usm_waits_for)
{
	struct busy busy = {.fixture = {.wake_fd = -1}};
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};
	void *usm = NULL;

	begin_busy(&busy, &usm);
	busy.fixture.ops->usm_free(busy.fixture.device, BACKEND_USM_DEVICE, usm);
	cr_assert_eq(busy.fixture.ops->memory_create(busy.fixture.device, PAGE, NULL,
						     BACKEND_EXPORT_NONE, &memory, &fault),
		     0, "%s", fault.text);
	still_runs(&busy);
	fixture_wait(&busy.fixture, 0, busy.sequence);
	busy.fixture.ops->memory_free(memory);
	end_busy(&busy);
}

Test(opencl_aside, F8_what_was_freed_and_waits_is_bounded)
{
	struct busy busy = {.fixture = {.wake_fd = -1}};
	struct backend_fault fault = {0};
	void *usm = NULL;
	uint32_t had = 0;

	begin_busy(&busy, &usm);
	const struct backend_ops *ops = busy.fixture.ops;
	struct backend_device *device = busy.fixture.device;
	const uint64_t piece = busy.fixture.facts->global_mem_bytes / 64;
	ops->usm_free(device, BACKEND_USM_DEVICE, usm);
	for (; had < 32 && ops->usm_alloc(device, BACKEND_USM_DEVICE, piece, 0, &usm, &fault) == 0;
	     had++)
		ops->usm_free(device, BACKEND_USM_DEVICE, usm);
	still_runs(&busy);
	cr_assert_leq(had, 5, "%u times a 64th of the device's memory", had);
	cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION, "%s", fault.text);
	fixture_wait(&busy.fixture, 0, busy.sequence);
	cr_assert_eq(ops->usm_alloc(device, BACKEND_USM_DEVICE, piece, 0, &usm, &fault), 0, "%s",
		     fault.text);
	ops->usm_free(device, BACKEND_USM_DEVICE, usm);
	end_busy(&busy);
}

/* The layer ends a program that frees memory while commands are in flight. */
Test(opencl_aside, F8_memory_is_freed_when_nothing_is_in_flight)
{
	struct busy busy = {.fixture = {.wake_fd = -1}};
	void *usm = NULL;

	begin_busy(&busy, &usm);
	const struct backend_ops *ops = busy.fixture.ops;
	struct backend_device *device = busy.fixture.device;
	cr_expect(!ops->quiet_wanted(device));
	ops->memory_free(fixture_memory(&busy.fixture, PAGE, NULL));
	ops->usm_free(device, BACKEND_USM_DEVICE, usm);
	cr_expect(!ops->quiet_wanted(device), "for so little nothing is held back");
	still_runs(&busy);
	fixture_wait(&busy.fixture, 0, busy.sequence);
	cr_expect(ops->quiet_wanted(device));
	ops->quiet(device);
	cr_expect(!ops->quiet_wanted(device));
	end_busy(&busy);
}

Test(opencl_aside, F8_images_are_freed_when_nothing_is_in_flight)
{
	const struct backend_image image = {
		.format = BACKEND_IMAGE_R8G8B8A8_UNORM, .dimensions = 2, .size = {16, 16}};
	struct busy busy = {.fixture = {.wake_fd = -1}};
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};
	void *usm = NULL;

	begin_busy(&busy, &usm);
	const struct backend_ops *ops = busy.fixture.ops;
	struct backend_device *device = busy.fixture.device;
	cr_assert_eq(ops->image_create(device, &image, &memory, &fault), 0, "%s", fault.text);
	ops->memory_free(memory);
	still_runs(&busy);
	fixture_wait(&busy.fixture, 0, busy.sequence);
	cr_expect(ops->quiet_wanted(device));
	ops->usm_free(device, BACKEND_USM_DEVICE, usm);
	cr_expect(!ops->quiet_wanted(device), "a later one has found the moment");
	end_busy(&busy);
}

/* A box inside of one memory that is copied through another one, if there is room for it. */
static uint64_t send_box(struct busy *busy, struct backend_memory *memory)
{
	const struct backend_rect rect = {.width_bytes = 4,
					  .rows = 3,
					  .slices = 2,
					  .source_row_pitch = 16,
					  .source_slice_pitch = 64,
					  .destination_row_pitch = 4,
					  .destination_slice_pitch = 12};
	const struct backend_command copy = {.kind = BACKEND_COMMAND_COPY,
					     .copy = {.source = memory,
						      .destination = memory,
						      .destination_offset_bytes = 2048,
						      .size_bytes = 24,
						      .rect = &rect}};
	return fixture_submit(&busy->fixture, 1, &copy);
}

/* A box with many rows needs the other memory: a command for each row would take too long. */
static void expect_tall_box_refused(struct busy *busy)
{
	const uint64_t rows = 1000000;
	const struct backend_rect rect = {.width_bytes = 1,
					  .rows = rows,
					  .slices = 1,
					  .source_row_pitch = 2,
					  .source_slice_pitch = 2 * rows,
					  .destination_row_pitch = 1,
					  .destination_slice_pitch = rows};
	const struct backend_command copy = {.kind = BACKEND_COMMAND_COPY,
					     .copy = {.source = busy->tall,
						      .destination = busy->tall,
						      .destination_offset_bytes = 2 * rows,
						      .size_bytes = rows,
						      .rect = &rect}};
	const struct backend_fault fault = fixture_submit_fails(&busy->fixture, 1, &copy);
	cr_expect_eq(fault.status, STATUS_MEMORY_ALLOCATION, "%s", fault.text);
}

static void expect_box(struct busy *busy, struct backend_memory *memory)
{
	unsigned char got[24];

	fixture_read(&busy->fixture, memory, 2048, got, sizeof(got));
	for (unsigned i = 0; i < sizeof(got); i++)
		cr_expect_eq(got[i], i / 12 * 64 + i / 4 % 3 * 16 + i % 4, "byte %u", i);
}

/* Frees pieces of a 64th of the device's memory. */
static uint32_t free_until_refused(struct busy *busy, uint32_t most, int *error_out)
{
	const uint64_t piece = busy->fixture.facts->global_mem_bytes / 64;
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};
	uint32_t had = 0;

	while (had < most && (*error_out = busy->fixture.ops->memory_create(
				      busy->fixture.device, piece, NULL, BACKEND_EXPORT_NONE,
				      &memory, &fault)) == 0) {
		busy->fixture.ops->memory_free(memory);
		had++;
	}
	return had;
}

Test(opencl_aside, F8_TG15_there_is_room_after_a_quiet_moment)
{
	unsigned char bytes[2048];
	struct busy busy = {.fixture = {.wake_fd = -1}};
	void *usm = NULL;
	int error = 0;

	begin_busy(&busy, &usm);
	const struct backend_ops *ops = busy.fixture.ops;
	struct backend_device *device = busy.fixture.device;
	struct backend_memory *memory = fixture_memory(&busy.fixture, PAGE, NULL);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	fixture_write(&busy.fixture, memory, 0, bytes, sizeof(bytes));
	busy.tall = fixture_memory(&busy.fixture, 3000000, NULL);
	(void)send_box(&busy, memory);
	const uint32_t had = free_until_refused(&busy, 32, &error);
	cr_assert_leq(had, 5, "%u times a 64th of the device's memory", had);
	cr_assert_eq(error, -EAGAIN);
	const uint64_t without_room = send_box(&busy, memory);
	expect_tall_box_refused(&busy);
	cr_expect(ops->quiet_wanted(device));
	fixture_wait(&busy.fixture, 0, busy.sequence);
	fixture_wait(&busy.fixture, 1, without_room);
	ops->quiet(device);
	cr_expect_geq(free_until_refused(&busy, 32, &error), 32);
	expect_box(&busy, memory);
	ops->usm_free(device, BACKEND_USM_DEVICE, usm);
	ops->memory_free(memory);
	ops->memory_free(busy.tall);
	end_busy(&busy);
}
