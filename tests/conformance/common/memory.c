/* Memory, and the commands that move bytes. */
#include "targets/target.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES 10007u /* odd on purpose */

TestSuite(memory, .timeout = 120);

static void memory_list_fill_counting(unsigned char *bytes, size_t count, unsigned seed)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = (unsigned char)(i * 7 + seed);
}

Test(memory, written_bytes_are_read_back_at_odd_places)
{
	struct fixture fixture = {.wake_fd = -1};
	static unsigned char sent[BYTES], got[BYTES];

	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, BYTES, NULL);
	memory_list_fill_counting(sent, BYTES, 1);
	fixture_write(&fixture, memory, 0, sent, BYTES);
	fixture_read(&fixture, memory, 0, got, BYTES);
	cr_assert_arr_eq(sent, got, BYTES);

	unsigned char piece[13];
	memset(piece, 0xee, sizeof(piece));
	fixture_write(&fixture, memory, 3001, piece, sizeof(piece));
	memcpy(sent + 3001, piece, sizeof(piece));
	fixture_read(&fixture, memory, 1, got, BYTES - 1);
	cr_assert_arr_eq(sent + 1, got, BYTES - 1);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
}

Test(memory, C19_copies_between_and_inside_memories)
{
	struct fixture fixture = {.wake_fd = -1};
	static unsigned char sent[BYTES], got[BYTES];

	fixture_open(&fixture, 0);
	struct backend_memory *a = fixture_memory(&fixture, BYTES, NULL),
			      *b = fixture_memory(&fixture, BYTES, NULL);
	memory_list_fill_counting(sent, BYTES, 5);
	fixture_write(&fixture, a, 0, sent, BYTES);
	struct backend_command copy = {
		.kind = BACKEND_COMMAND_COPY,
		.copy = {.source = a,
			 .destination = b,
			 .source_offset_bytes = 17,
			 .destination_offset_bytes = 1001,
			 .size_bytes = 777},
	};
	fixture_wait(&fixture, 1, fixture_submit(&fixture, 1, &copy));
	fixture_read(&fixture, b, 1001, got, 777);
	cr_assert_arr_eq(sent + 17, got, 777);

	copy.copy.destination = a;
	copy.copy.destination_offset_bytes = 5000;
	fixture_wait(&fixture, 1, fixture_submit(&fixture, 1, &copy));
	fixture_read(&fixture, a, 0, got, BYTES);
	memcpy(sent + 5000, sent + 17, 777);
	cr_assert_arr_eq(sent, got, BYTES);
	fixture.ops->memory_free(a);
	fixture.ops->memory_free(b);
	fixture_close(&fixture);
}

/* Every pattern size that the protocol allows, at an unaligned offset. */
Test(memory, D20_fills_with_patterns_of_1_to_128_bytes)
{
	struct fixture fixture = {.wake_fd = -1};
	enum { ROOM = 128 * 40 + 64 };
	static unsigned char expected[ROOM], got[ROOM], pattern[128];

	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, ROOM, NULL);
	for (size_t size = 1; size <= 128; size++) {
		uint64_t offset = size % 3 ? 0 : 7;
		memory_list_fill_counting(pattern, size, (unsigned)size);
		memset(expected, 0x11, ROOM);
		fixture_write(&fixture, memory, 0, expected, ROOM);
		const struct backend_command fill = {
			.kind = BACKEND_COMMAND_FILL,
			.fill = {.memory = memory,
				 .offset_bytes = offset,
				 .size_bytes = size * 37,
				 .pattern = pattern,
				 .pattern_bytes = size},
		};
		uint64_t sequence = fixture_submit(&fixture, 0, &fill);
		memset(pattern, 0, sizeof(pattern)); /* it was copied at submission */
		fixture_wait(&fixture, 0, sequence);
		memory_list_fill_counting(pattern, size, (unsigned)size);
		for (size_t i = 0; i < size * 37; i++)
			expected[offset + i] = pattern[i % size];
		fixture_read(&fixture, memory, 0, got, ROOM);
		cr_assert_arr_eq(expected, got, ROOM, "pattern of %zu bytes", size);
	}
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
}

/* Larger than any block that a backend may work in. */
Test(memory, large_fills_with_an_odd_pattern)
{
	struct fixture fixture = {.wake_fd = -1};
	enum { ROOM = 3 * 100003 };
	unsigned char *got = malloc(ROOM);
	const unsigned char pattern[3] = {1, 2, 3};

	cr_assert_not_null(got);
	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, ROOM, NULL);
	const struct backend_command fill = {
		.kind = BACKEND_COMMAND_FILL,
		.fill = {.memory = memory,
			 .size_bytes = ROOM,
			 .pattern = pattern,
			 .pattern_bytes = 3},
	};
	fixture_wait(&fixture, 2, fixture_submit(&fixture, 2, &fill));
	fixture_read(&fixture, memory, 0, got, ROOM);
	for (size_t i = 0; i < ROOM; i++)
		cr_assert_eq(got[i], i % 3 + 1);
	free(got);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
}

Test(memory, more_than_there_is_gives_a_clear_error)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_memory *memory = NULL;
	struct backend_fault fault = {0};

	fixture_open(&fixture, 0);
	cr_assert_lt(fixture.ops->memory_create(fixture.device, UINT64_MAX / 2, NULL,
						BACKEND_EXPORT_NONE, &memory, &fault),
		     0);
	cr_assert_null(memory);
	cr_assert_eq(fault.status, -9, "%d", fault.status); /* memory_allocation */
	fixture_close(&fixture);
}

static char *shared_pages(size_t bytes, int *fd_out)
{
	int fd = memfd_create("conformance", MFD_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, (off_t)bytes), 0);
	char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(pages, MAP_FAILED);
	*fd_out = fd;
	return pages;
}

/* On a device with unified memory a kernel writes the host's pages directly, so another process
 * reads the result, too. */
Test(memory, D7_unified_memory_is_written_in_place)
{
	struct fixture fixture = {.wake_fd = -1};
	enum { COUNT = 4096 };
	int fd = -1;

	if (!fixture_open_unified(&fixture))
		return; /* a device with separate memory does not write to the host's */
	uint32_t *pages = (uint32_t *)(void *)shared_pages(COUNT * sizeof(uint32_t), &fd);
	struct backend_memory *memory = fixture_memory(&fixture, COUNT * sizeof(uint32_t), pages);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	for (uint32_t i = 0; i < COUNT; i++)
		pages[i] = i;
	const struct backend_argument argument = global_argument(memory);
	const uint64_t global = COUNT;
	const struct backend_command command = launch_command(kernel, 1, &global, &argument, 1);
	fixture_wait(&fixture, 0, fixture_submit(&fixture, 0, &command));
	for (uint32_t i = 0; i < COUNT; i++)
		cr_assert_eq(pages[i], i + 1);

	pid_t child = fork();
	if (child == 0) {
		const uint32_t *there =
			mmap(NULL, COUNT * sizeof(uint32_t), PROT_READ, MAP_SHARED, fd, 0);
		_exit(there != MAP_FAILED && there[0] == 1 && there[COUNT - 1] == COUNT ? 0 : 1);
	}
	int status = -1;
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);

	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	(void)munmap(pages, COUNT * sizeof(uint32_t));
	(void)close(fd);
	fixture_close(&fixture);
}
