/* Kernels: programs, facts, arguments, ranges. */
#include "targets/target.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 3000u

TestSuite(launch, .timeout = 120);

Test(launch, programs_tell_their_kernels)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	char *names = NULL;
	unsigned count = 0, found = 0;

	fixture_open(&fixture, 0);
	fixture.ops->kernel_free(fixture_kernel(&fixture, "mix_u32"));
	cr_assert_eq(fixture.ops->program_kernels(fixture.program, &names, &fault), 0);
	for (const char *name = names; *name; name += strlen(name) + 1) {
		count++;
		found += strcmp(name, "mix_u32") == 0 || strcmp(name, "fill_u32") == 0;
	}
	cr_assert_eq(count, 6);
	cr_assert_eq(found, 2);
	free(names);
	fixture_close(&fixture);
}

Test(launch, kernels_tell_their_arguments)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_kernel_facts facts = {0};

	fixture_open(&fixture, 0);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "mix_u32");
	fixture.ops->kernel_facts(kernel, &facts);
	cr_assert_eq(facts.argument_count, 3);
	cr_assert_eq(facts.arguments[0].kind, BACKEND_ARGUMENT_GLOBAL);
	cr_assert_eq(facts.arguments[1].kind, BACKEND_ARGUMENT_GLOBAL);
	cr_assert_eq(facts.arguments[2].kind, BACKEND_ARGUMENT_VALUE);
	cr_assert_eq(facts.arguments[2].size_bytes, 4);
	cr_assert_gt(facts.max_work_group_size, 0);
	cr_assert_eq(facts.required_work_group_size[2], 0);
	fixture.ops->kernel_free(kernel);
	fixture_close(&fixture);
}

/* Kernels of two sessions, whose program the device may load only once. Each has its own arguments
 * and its own end. */
Test(launch, programs_that_are_equal_do_not_mix)
{
	enum { LOADS = 3 };
	struct fixture fixture = {.wake_fd = -1};
	static uint32_t got[COUNT];
	struct backend_fault fault = {0};
	struct backend_program *programs[LOADS];
	struct backend_kernel *kernels[LOADS];
	struct backend_memory *memories[LOADS];
	uint64_t sequences[LOADS];
	const uint64_t global = COUNT;
	void *binary = NULL;
	size_t bytes = 0;

	fixture_open(&fixture, 0);
	fixture_binary(&fixture, conformance_target.source_kind, conformance_target.source, "",
		       &binary, &bytes);
	for (uint32_t i = 0; i < LOADS; i++) {
		cr_assert_eq(fixture.ops->program_load(fixture.device, binary, bytes, &programs[i],
						       &fault),
			     0);
		cr_assert_eq(
			fixture.ops->kernel_create(programs[i], "fill_u32", &kernels[i], &fault),
			0);
		memories[i] = fixture_memory(&fixture, sizeof(got), NULL);
	}
	memset(binary, 0, bytes); /* the backend keeps a copy */
	free(binary);
	for (uint32_t i = 0; i < LOADS; i++) {
		const uint32_t value = 100 + i;
		const struct backend_argument arguments[] = {global_argument(memories[i]),
							     value_argument(&value, sizeof(value))};
		const struct backend_command command =
			launch_command(kernels[i], 1, &global, arguments, 2);
		sequences[i] = fixture_submit(&fixture, i, &command);
	}
	/* First one is freed, which the others may share, and then another, while sent launches
	 * run. */
	for (uint32_t i = 0; i + 1 < LOADS; i++)
		fixture.ops->program_free(programs[i]);
	for (uint32_t i = 0; i < LOADS; i++) {
		fixture_wait(&fixture, i, sequences[i]);
		if (i + 1 < LOADS)
			fixture.ops->kernel_free(kernels[i]);
		fixture_read(&fixture, memories[i], 0, got, sizeof(got));
		for (uint32_t j = 0; j < COUNT; j++)
			cr_assert_eq(got[j], 100 + i);
		fixture.ops->memory_free(memories[i]);
	}
	struct backend_kernel *late = NULL;
	cr_assert_eq(fixture.ops->kernel_create(programs[LOADS - 1], "copy_u32", &late, &fault), 0,
		     "%s", fault.text);
	fixture.ops->kernel_free(late);
	fixture.ops->kernel_free(kernels[LOADS - 1]);
	fixture.ops->program_free(programs[LOADS - 1]);
	fixture_close(&fixture);
}

/* They are freed in the other order: a kernel keeps what it needs of its program. */
Test(launch, D16_a_kernel_outlives_its_program)
{
	struct fixture fixture = {.wake_fd = -1};
	static uint32_t got[COUNT];
	const uint32_t value = 77;
	const uint64_t global = COUNT;

	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, sizeof(got), NULL);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "fill_u32");
	fixture.ops->program_free(fixture.program);
	fixture.program = NULL;
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&value, sizeof(value))};
	const struct backend_command command = launch_command(kernel, 1, &global, arguments, 2);
	fixture_wait(&fixture, 0, fixture_submit(&fixture, 0, &command));
	fixture_read(&fixture, memory, 0, got, sizeof(got));
	for (uint32_t i = 0; i < COUNT; i++)
		cr_assert_eq(got[i], 77);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
}

Test(launch, E21_arguments_are_captured_at_submit)
{
	struct fixture fixture = {.wake_fd = -1};
	static uint32_t got[COUNT], zeros[COUNT];
	const uint64_t global = COUNT;
	uint32_t value = 1;

	fixture_open(&fixture, 0);
	struct backend_memory *dst = fixture_memory(&fixture, sizeof(got), NULL);
	struct backend_memory *src = fixture_memory(&fixture, sizeof(got), NULL);
	fixture_write(&fixture, dst, 0, zeros, sizeof(zeros));
	fixture_write(&fixture, src, 0, zeros, sizeof(zeros));
	struct backend_kernel *kernel = fixture_kernel(&fixture, "mix_u32");
	const struct backend_argument arguments[] = {global_argument(dst), global_argument(src),
						     value_argument(&value, sizeof(value))};
	const struct backend_command command = launch_command(kernel, 1, &global, arguments, 3);
	uint64_t sequence = 0;
	uint32_t expected = 0;
	for (uint32_t i = 0; i < 10; i++) {
		value = i + 1;
		sequence = fixture_submit(&fixture, 0, &command);
		expected = expected * 31 + value;
	}
	value = 999;
	fixture_wait(&fixture, 0, sequence);
	fixture_read(&fixture, dst, 0, got, sizeof(got));
	for (uint32_t i = 0; i < COUNT; i++)
		cr_assert_eq(got[i], expected);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(dst);
	fixture.ops->memory_free(src);
	fixture_close(&fixture);
}

static void expect_linear_ids(struct fixture *fixture, struct backend_kernel *kernel,
			      uint32_t dimensions, const uint64_t *global)
{
	uint64_t count = 1;
	for (uint32_t i = 0; i < dimensions; i++)
		count *= global[i];
	uint32_t *got = calloc(count, sizeof(*got));
	cr_assert_not_null(got);
	struct backend_memory *memory = fixture_memory(fixture, count * sizeof(*got), NULL);
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command =
		launch_command(kernel, dimensions, global, &argument, 1);
	fixture_wait(fixture, 0, fixture_submit(fixture, 0, &command));
	fixture_read(fixture, memory, 0, got, count * sizeof(*got));
	for (uint64_t i = 0; i < count; i++)
		cr_assert_eq(got[i], i, "%u dimensions, item %llu", dimensions,
			     (unsigned long long)i);
	free(got);
	fixture->ops->memory_free(memory);
}

Test(launch, E1_C18_linear_ids_in_1_2_and_3_dimensions)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "linear_id_u32");
	expect_linear_ids(&fixture, kernel, 1, (const uint64_t[]){1000});
	expect_linear_ids(&fixture, kernel, 2, (const uint64_t[]){5, 200});
	expect_linear_ids(&fixture, kernel, 3, (const uint64_t[]){3, 7, 50});
	fixture.ops->kernel_free(kernel);
	fixture_close(&fixture);
}

Test(launch, E11_one_work_item)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "linear_id_u32");
	expect_linear_ids(&fixture, kernel, 1, (const uint64_t[]){1});
	fixture.ops->kernel_free(kernel);
	fixture_close(&fixture);
}

/* A ranged accessor's pointer may begin anywhere. */
Test(launch, C21_an_argument_begins_inside_its_memory)
{
	struct fixture fixture = {.wake_fd = -1};
	enum { ROOM = 8192, PART = 100 };
	uint32_t *host = NULL;
	const uint32_t value = 0xabcd;
	const uint64_t global = PART, offsets[] = {1024, 4096, 4, 1028};

	if (!fixture_open_unified(&fixture))
		fixture_open(&fixture, 0);
	cr_assert_eq(posix_memalign((void **)&host, 4096, ROOM), 0);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "fill_u32");
	for (unsigned n = 0; n < 4; n++) {
		uint64_t align = fixture.facts->mem_base_addr_align_bits / 8;
		if (!fixture.facts->host_unified_memory && align && offsets[n] % align)
			continue; /* such a device may refuse an unaligned offset */
		memset(host, 0, ROOM);
		struct backend_memory *memory = fixture_memory(&fixture, ROOM, host);
		fixture_write(&fixture, memory, 0, host, ROOM);
		struct backend_argument arguments[] = {global_argument(memory),
						       value_argument(&value, sizeof(value))};
		arguments[0].global.offset_bytes = offsets[n];
		const struct backend_command command =
			launch_command(kernel, 1, &global, arguments, 2);
		fixture_wait(&fixture, 0, fixture_submit(&fixture, 0, &command));
		fixture_read(&fixture, memory, 0, host, ROOM);
		for (uint64_t i = 0; i < ROOM / 4; i++) {
			bool inside = i >= offsets[n] / 4 && i < offsets[n] / 4 + PART;
			cr_assert_eq(host[i], inside ? value : 0, "offset %llu, word %llu",
				     (unsigned long long)offsets[n], (unsigned long long)i);
		}
		fixture.ops->memory_free(memory);
	}
	fixture.ops->kernel_free(kernel);
	free(host);
	fixture_close(&fixture);
}

Test(launch, A26_host_and_device_have_one_byte_order)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint32_t value = 0x01020304;
	const uint64_t global = 1;
	unsigned char bytes[4] = {0};

	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, 4, NULL);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "fill_u32");
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&value, sizeof(value))};
	const struct backend_command command = launch_command(kernel, 1, &global, arguments, 2);
	fixture_wait(&fixture, 0, fixture_submit(&fixture, 0, &command));
	fixture_read(&fixture, memory, 0, bytes, 4);
	cr_assert_eq(memcmp(bytes, &value, 4), 0);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
}

/* In parts: all of it runs, and nothing twice. Only for kernels that report that they can be
 * split. */
Test(launch, parts_of_a_launch_are_all_of_it)
{
	static const uint64_t ranges[][3] = {{2999, 1, 1}, {7, 11, 13}, {1, 40, 3}, {97, 5, 3}};
	static uint32_t got[COUNT];
	struct fixture fixture = {.wake_fd = -1};
	struct backend_kernel_facts facts = {0};

	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, sizeof(got), NULL);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	const struct backend_argument argument = global_argument(memory);
	fixture.ops->kernel_facts(kernel, &facts);
	for (size_t i = 0; facts.splits && i < sizeof(ranges) / sizeof(*ranges); i++)
		for (uint32_t of = 1; of < 12; of += 5) {
			uint64_t items = ranges[i][0] * ranges[i][1] * ranges[i][2];
			memset(got, 0, sizeof(got));
			fixture_write(&fixture, memory, 0, got, sizeof(got));
			for (uint32_t first = 0; first < of; first++) {
				struct backend_command command =
					launch_command(kernel, 3, ranges[i], &argument, 1);
				command.launch.part = (struct backend_part){first, first + 1, of};
				fixture_wait(&fixture, 0, fixture_submit(&fixture, 0, &command));
			}
			fixture_read(&fixture, memory, 0, got, sizeof(got));
			for (uint32_t at = 0; at < COUNT; at++)
				cr_assert_eq(got[at], at < items, "item %u of %u parts: %u times",
					     at, of, got[at]);
		}
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
}
