/* USM: the kinds that a device supports, pointers as arguments, and the commands on addresses. */
#include "targets/target.h"

#include "status.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 70001u /* odd, and larger than a block that a backend may use */
#define KINDS 3u
#define COUNT 3000u

TestSuite(usm, .timeout = 120);

static const enum backend_usm_kind kinds[KINDS] = {BACKEND_USM_DEVICE, BACKEND_USM_HOST,
						   BACKEND_USM_SHARED};

/* NULL: the device lacks that kind. */
static unsigned char *usm_list_allocate_usm(struct fixture *fixture, enum backend_usm_kind kind,
					    uint64_t size_bytes, uint64_t alignment)
{
	struct backend_fault fault = {0};
	void *pointer = NULL;

	if (!(fixture->facts->features & BACKEND_FEATURE_USM))
		return NULL;
	int error = fixture->ops->usm_alloc(fixture->device, kind, size_bytes, alignment, &pointer,
					    &fault);
	if (error == -ENOTSUP) {
		cr_assert_eq(fault.status, STATUS_FEATURE_NOT_SUPPORTED);
		return NULL;
	}
	cr_assert_eq(error, 0, "%s", fault.text);
	cr_assert_not_null(pointer);
	return pointer;
}

static void usm_list_free_usm(struct fixture *fixture, enum backend_usm_kind kind, void *pointer)
{
	if (pointer)
		fixture->ops->usm_free(fixture->device, kind, pointer);
}

static void copy_usm(struct fixture *fixture, void *to, const void *from, uint64_t size_bytes,
		     bool host_to, bool host_from)
{
	const struct backend_command command = {
		.kind = BACKEND_COMMAND_USM_COPY,
		.usm = {.destination = to,
			.source = from,
			.host_destination = host_to,
			.host_source = host_from,
			.size_bytes = size_bytes},
	};
	fixture_wait(fixture, 0, fixture_submit(fixture, 0, &command));
}

static void usm_list_fill_counting(unsigned char *bytes, size_t count, unsigned seed)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 256 + seed);
}

Test(usm, every_kind_at_every_alignment)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	for (size_t k = 0; k < KINDS; k++) {
		for (uint64_t alignment = 1; alignment <= 4096; alignment *= 2) {
			unsigned char *a = usm_list_allocate_usm(&fixture, kinds[k], 100,
								 alignment),
				      *b = usm_list_allocate_usm(&fixture, kinds[k], 100,
								 alignment);
			cr_assert(!a || a + 100 <= b || b + 100 <= a);
			cr_assert_eq((uintptr_t)a % alignment, 0);
			cr_assert_eq((uintptr_t)b % alignment, 0);
			usm_list_free_usm(&fixture, kinds[k], a);
			usm_list_free_usm(&fixture, kinds[k], b);
		}
	}
	fixture_close(&fixture);
}

Test(usm, what_cannot_be_had_is_refused)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	void *pointer = NULL;

	fixture_open(&fixture, 0);
	if (fixture.facts->features & BACKEND_FEATURE_USM) {
		cr_assert_lt(fixture.ops->usm_alloc(fixture.device, BACKEND_USM_DEVICE, 0, 0,
						    &pointer, &fault),
			     0);
		cr_assert_lt(fixture.ops->usm_alloc(fixture.device, BACKEND_USM_DEVICE, 64, 3,
						    &pointer, &fault),
			     0);
		cr_assert_lt(fixture.ops->usm_alloc(fixture.device, BACKEND_USM_DEVICE,
						    UINT64_MAX / 2, 0, &pointer, &fault),
			     0);
		cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION);
		cr_assert_null(pointer);
		fixture.ops->usm_free(fixture.device, BACKEND_USM_DEVICE, NULL);
	}
	fixture_close(&fixture);
}

/* Through host memory that was not registered, from kind to kind, at odd offsets. */
Test(usm, copies_between_all_kinds_and_host_memory)
{
	static unsigned char sent[BYTES], got[BYTES];
	struct fixture fixture = {.wake_fd = -1};
	unsigned char *places[KINDS];

	fixture_open(&fixture, 0);
	for (size_t k = 0; k < KINDS; k++)
		places[k] = usm_list_allocate_usm(&fixture, kinds[k], BYTES, 0);
	for (unsigned i = 0; i < KINDS * KINDS; i++) {
		unsigned char *from = places[i / KINDS], *to = places[i % KINDS];
		if (!from || !to || from == to)
			continue;
		usm_list_fill_counting(sent, BYTES, i);
		memset(got, 0, BYTES);
		copy_usm(&fixture, from, sent, BYTES, false, true);
		copy_usm(&fixture, to + 5, from + 2, BYTES - 5, false, false);
		copy_usm(&fixture, got, to + 5, BYTES - 5, true, false);
		cr_assert_arr_eq(got, sent + 2, BYTES - 5, "from %u to %u", i / KINDS, i % KINDS);
		cr_assert_eq(got[BYTES - 5], 0);
	}
	for (size_t k = 0; k < KINDS; k++)
		usm_list_free_usm(&fixture, kinds[k], places[k]);
	fixture_close(&fixture);
}

static void check_usm_fill(struct fixture *fixture, unsigned char *to, uint64_t size_bytes,
			   size_t pattern_bytes)
{
	static unsigned char got[BYTES];
	unsigned char pattern[128];

	usm_list_fill_counting(pattern, pattern_bytes, (unsigned)pattern_bytes);
	const struct backend_command command = {
		.kind = BACKEND_COMMAND_USM_FILL,
		.usm = {.destination = to,
			.size_bytes = size_bytes,
			.pattern = pattern,
			.pattern_bytes = pattern_bytes},
	};
	uint64_t sequence = fixture_submit(fixture, 0, &command);
	memset(pattern, 0, sizeof(pattern)); /* it was copied at submission */
	fixture_wait(fixture, 0, sequence);
	copy_usm(fixture, got, to, size_bytes, true, false);
	usm_list_fill_counting(pattern, pattern_bytes, (unsigned)pattern_bytes);
	for (size_t i = 0; i < size_bytes; i++)
		cr_assert_eq(got[i], pattern[i % pattern_bytes], "pattern of %zu, byte %zu",
			     pattern_bytes, i);
}

Test(usm, fills_with_patterns_of_1_to_128_bytes)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	for (size_t k = 0; k < KINDS; k++) {
		unsigned char *memory = usm_list_allocate_usm(&fixture, kinds[k], BYTES, 0);
		for (size_t size = 1; memory && size <= 128; size++)
			check_usm_fill(&fixture, memory + size % 3 * 7, size * 37, size);
		for (size_t size = 1; memory && size <= 128; size = size * 2 + 1)
			check_usm_fill(&fixture, memory + k, BYTES - k, size);
		usm_list_free_usm(&fixture, kinds[k], memory);
	}
	fixture_close(&fixture);
}

/* A pointer into an allocation, and one to its beginning, beside the memory of a buffer. */
Test(usm, kernels_take_pointers)
{
	static uint32_t got[COUNT];
	struct fixture fixture = {.wake_fd = -1};
	const uint64_t global = COUNT;

	fixture_open(&fixture, 0);
	struct backend_kernel *add = fixture_kernel(&fixture, "add_u32");
	struct backend_memory *plain = fixture_memory(&fixture, sizeof(got), NULL);
	for (uint32_t i = 0; i < COUNT; i++)
		got[i] = i * 3;
	fixture_write(&fixture, plain, 0, got, sizeof(got));
	for (size_t k = 0; k < KINDS; k++) {
		unsigned char *memory =
			usm_list_allocate_usm(&fixture, kinds[k], sizeof(got) * 2, 0);
		if (!memory)
			continue;
		memset(got, 0, sizeof(got));
		got[COUNT - 1] = 10;
		copy_usm(&fixture, memory, got, sizeof(got), false, true);
		copy_usm(&fixture, memory + sizeof(got), got, sizeof(got), false, true);
		const struct backend_argument first[] = {
			{.kind = BACKEND_ARGUMENT_GLOBAL, .global = {.usm = memory + sizeof(got)}},
			global_argument(plain),
		};
		const struct backend_argument second[] = {
			{.kind = BACKEND_ARGUMENT_GLOBAL, .global = {.usm = memory}},
			first[0],
		};
		struct backend_command command = launch_command(add, 1, &global, first, 2);
		(void)fixture_submit(&fixture, 0, &command);
		command.launch.arguments = second;
		fixture_wait(&fixture, 0, fixture_submit(&fixture, 0, &command));
		copy_usm(&fixture, got, memory, sizeof(got), true, false);
		for (uint32_t i = 0; i < COUNT; i++)
			cr_assert_eq(got[i], i * 3 + (i == COUNT - 1 ? 20 : 0),
				     "kind %zu, element %u", k, i);
		usm_list_free_usm(&fixture, kinds[k], memory);
	}
	fixture.ops->memory_free(plain);
	fixture.ops->kernel_free(add);
	fixture_close(&fixture);
}

/* Memory is used and freed repeatedly: addresses of freed memory in a kernel must not matter. */
Test(usm, kernels_outlive_the_memory_that_they_used)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint64_t global = 64;

	fixture_open(&fixture, 0);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "linear_id_u32");
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t got[64] = {0};
		unsigned char *memory = usm_list_allocate_usm(&fixture, BACKEND_USM_DEVICE,
							      sizeof(got) * (1 + i % 5), 0);
		if (!memory)
			break;
		const struct backend_argument argument = {.kind = BACKEND_ARGUMENT_GLOBAL,
							  .global = {.usm = memory}};
		const struct backend_command command =
			launch_command(kernel, 1, &global, &argument, 1);
		fixture_wait(&fixture, 1, fixture_submit(&fixture, 1, &command));
		copy_usm(&fixture, got, memory, sizeof(got), true, false);
		for (uint32_t j = 0; j < 64; j++)
			cr_assert_eq(got[j], j);
		usm_list_free_usm(&fixture, BACKEND_USM_DEVICE, memory);
	}
	/* This also holds when there is none at all. */
	struct backend_memory *plain = fixture_memory(&fixture, global * 4, NULL);
	const struct backend_argument last = global_argument(plain);
	const struct backend_command command = launch_command(kernel, 1, &global, &last, 1);
	fixture_wait(&fixture, 1, fixture_submit(&fixture, 1, &command));
	fixture.ops->memory_free(plain);
	fixture.ops->kernel_free(kernel);
	fixture_close(&fixture);
}

/* At submission, or when it runs. */
static void expect_usm_refused(struct fixture *fixture, const struct backend_command *command)
{
	struct backend_fault fault = {0};
	uint64_t sequence = fixture->lanes[0].next_sequence++;

	if (fixture->ops->submit(fixture->lanes[0].lane, command, NULL, 0, sequence, NULL,
				 &fault) == 0)
		fault = fixture_finish(fixture, 0, sequence).fault;
	cr_assert_eq(fault.status, STATUS_INVALID, "command %d, advice %d: %d %s",
		     (int)command->kind, (int)command->usm.advice, fault.status, fault.text);
	cr_assert_neq(fault.text[0], '\0');
}

static struct backend_command hint(enum backend_command_kind kind, void *memory,
				   enum backend_advice advice)
{
	return (struct backend_command){
		.kind = kind,
		.usm = {.destination = memory, .size_bytes = 4096, .advice = advice},
	};
}

Test(usm, G1_shared_usm_takes_prefetch_and_all_ten_advices)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_command command;

	fixture_open(&fixture, 0);
	unsigned char *memory = usm_list_allocate_usm(&fixture, BACKEND_USM_SHARED, 65536, 4096);
	for (int i = BACKEND_ADVICE_SET_READ_MOSTLY;
	     memory && i <= BACKEND_ADVICE_UNSET_ACCESSED_BY_HOST; i++) {
		command = hint(BACKEND_COMMAND_USM_ADVISE, memory + 4096, (enum backend_advice)i);
		fixture_wait(&fixture, 0, fixture_submit(&fixture, 0, &command));
	}
	command = hint(BACKEND_COMMAND_USM_PREFETCH, memory, 0);
	if (memory)
		fixture_wait(&fixture, 0, fixture_submit(&fixture, 0, &command));
	usm_list_free_usm(&fixture, BACKEND_USM_SHARED, memory);
	fixture_close(&fixture);
}

Test(usm, G2_only_shared_usm_takes_advice_and_prefetch)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_command command;

	fixture_open(&fixture, 0);
	for (size_t k = 0; k < 2; k++) {
		unsigned char *memory = usm_list_allocate_usm(&fixture, kinds[k], 65536, 4096);
		for (int i = BACKEND_ADVICE_SET_READ_MOSTLY;
		     memory && i <= BACKEND_ADVICE_UNSET_ACCESSED_BY_HOST; i++) {
			command = hint(BACKEND_COMMAND_USM_ADVISE, memory, (enum backend_advice)i);
			expect_usm_refused(&fixture, &command);
		}
		command = hint(BACKEND_COMMAND_USM_PREFETCH, memory, 0);
		if (memory)
			expect_usm_refused(&fixture, &command);
		usm_list_free_usm(&fixture, kinds[k], memory);
	}
	fixture_close(&fixture);
}

Test(usm, G3_other_advice_is_an_error)
{
	static const int others[] = {0, 11, 12, 100, -1, INT32_MAX, INT32_MIN};
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	unsigned char *memory = usm_list_allocate_usm(&fixture, BACKEND_USM_SHARED, 65536, 4096);
	for (size_t i = 0; memory && i < sizeof(others) / sizeof(*others); i++) {
		const struct backend_command command =
			hint(BACKEND_COMMAND_USM_ADVISE, memory, (enum backend_advice)others[i]);
		expect_usm_refused(&fixture, &command);
	}
	usm_list_free_usm(&fixture, BACKEND_USM_SHARED, memory);
	fixture_close(&fixture);
}
