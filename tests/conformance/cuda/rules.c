/* Rules of the CUDA backend that show only in calls of the driver: which streams, which contexts,
 * which waits. */
#include "cuda/double.h"
#include "cuda/device/device.h"
#include "cuda/program/pace.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* This makes chains long, whatever time this machine took for earlier launches. */
static const struct cuda_pace short_and_known = {.period_ns = 1000, .items = UINT64_MAX};

#define COUNT 1000u

TestSuite(cuda_rules, .timeout = 60);

static struct fake_cuda_record records[DOUBLE_RECORDS];

static struct backend_command transfer(enum backend_command_kind kind,
				       struct backend_memory *memory, void *host, uint64_t size)
{
	return (struct backend_command){
		.kind = kind, .transfer = {.memory = memory, .size_bytes = size, .host = host}};
}

/* Returns on which streams kernels of that name ran, as bits. */
static uint64_t streams_of(const char *name)
{
	size_t count = double_records(records);
	uint64_t streams = 0;

	for (size_t i = 0; i < count; i++)
		if (records[i].kind == FAKE_CUDA_LAUNCH && strcmp(records[i].text, name) == 0)
			streams |= UINT64_C(1) << (records[i].stream & 63);
	return streams;
}

/* Single launches and chains, copies between them, waits for another lane: a lane uses only one
 * stream. */
Test(cuda_rules, F1_a_lane_is_one_stream)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint32_t value = 3;
	const uint64_t global = COUNT;
	uint32_t *words = calloc(COUNT, sizeof(*words));
	uint64_t sequence = 0, other = 0;

	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, COUNT * 4, NULL);
	struct backend_memory *beside = fixture_memory(&fixture, COUNT * 4, NULL);
	struct backend_kernel *increment = fixture_kernel(&fixture, "increment_u32");
	struct backend_kernel *fill = fixture_kernel(&fixture, "fill_u32");
	const struct backend_argument mine[] = {global_argument(memory)};
	const struct backend_argument theirs[] = {global_argument(beside),
						  value_argument(&value, 4)};
	const struct backend_command work = launch_command(increment, 1, &global, mine, 1);
	const struct backend_command foreign = launch_command(fill, 1, &global, theirs, 2);
	const struct backend_command write =
		transfer(BACKEND_COMMAND_WRITE, memory, words, COUNT * 4);
	const struct backend_command read =
		transfer(BACKEND_COMMAND_READ, memory, words, COUNT * 4);

	(void)fixture_submit(&fixture, 0, &write);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i <= round; i++)
			sequence = fixture_submit(&fixture, 0, &work);
		other = fixture_submit(&fixture, 1, &foreign);
		sequence = fixture_submit_after(&fixture, 0, &work, 1, other);
		if (round % 3 == 0)
			sequence = fixture_submit(&fixture, 0, &read);
		fixture.ops->flush(fixture.device);
	}
	fixture_wait(&fixture, 0, sequence);
	fixture_read(&fixture, memory, 0, words, COUNT * 4);
	for (uint32_t i = 0; i < COUNT; i++)
		cr_assert_eq(words[i], 230);
	cr_assert_eq(__builtin_popcountll(streams_of("increment_u32")), 1);
	cr_assert_eq(__builtin_popcountll(streams_of("fill_u32")), 1);
	cr_assert_neq(streams_of("increment_u32"), streams_of("fill_u32"));
	fixture.ops->kernel_free(increment);
	fixture.ops->kernel_free(fill);
	fixture.ops->memory_free(memory);
	fixture.ops->memory_free(beside);
	fixture_close(&fixture);
	double_check(true);
	free(words);
}

Test(cuda_rules, F3_a_thousand_lanes_one_after_the_other_share_few_streams)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};

	fixture_open(&fixture, 0);
	uint64_t before = double_count("streams_created");
	for (unsigned i = 0; i < 1000; i++) {
		struct backend_lane *lane = NULL;
		cr_assert_eq(fixture.ops->lane_create(fixture.device, BACKEND_LANE_COMPUTE, &lane,
						      &fault),
			     0, "%s", fault.text);
		fixture.ops->lane_free(lane);
	}
	cr_assert_leq(double_count("streams_created") - before, fixture.facts->preferred_lanes + 4);
	fixture_close(&fixture);
	double_check(true);
}

/* Another client's kernel is long. Memory that it does not use is allocated and freed, filled,
 * copied and read back. */
Test(cuda_rules, F7_F8_nobody_waits_for_the_kernel_of_another)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint32_t value = 7;
	const uint64_t global = COUNT;
	static uint32_t words[COUNT];

	fixture_open(&fixture, 0);
	struct backend_memory *long_memory = fixture_memory(&fixture, COUNT * 4, NULL);
	struct backend_kernel *fill = fixture_kernel(&fixture, "fill_u32");
	struct backend_kernel *increment = fixture_kernel(&fixture, "increment_u32");
	const struct backend_argument long_arguments[] = {global_argument(long_memory),
							  value_argument(&value, 4)};
	const struct backend_command long_launch =
		launch_command(fill, 1, &global, long_arguments, 2);

	double_command("gate close fill_u32 1");
	uint64_t held = fixture_submit(&fixture, 1, &long_launch);
	fixture.ops->flush(fixture.device);
	double_wait("held fill_u32", 1);
	uint64_t syncs = double_count("implicit_sync");
	for (uint32_t i = 0; i < 1000; i++) {
		struct backend_memory *memory = fixture_memory(&fixture, COUNT * 4, NULL);
		const struct backend_argument arguments[] = {global_argument(memory)};
		const struct backend_command launch =
			launch_command(increment, 1, &global, arguments, 1);
		const struct backend_command set = {.kind = BACKEND_COMMAND_FILL,
						    .fill = {.memory = memory,
							     .size_bytes = COUNT * 4,
							     .pattern = &i,
							     .pattern_bytes = 4}};
		(void)fixture_submit(&fixture, 0, &set);
		(void)fixture_submit(&fixture, 0, &launch);
		if (i % 50 == 0) {
			fixture_read(&fixture, memory, 0, words, sizeof(words));
			cr_assert_eq(words[COUNT - 1], i + 1);
		} else {
			fixture_wait(&fixture, 0, fixture_submit(&fixture, 0, &launch));
		}
		fixture.ops->memory_free(memory);
	}
	cr_assert_eq(double_count("implicit_sync"), syncs);
	cr_assert_eq(double_count("held fill_u32"), 1);
	double_command("gate open fill_u32");
	fixture_wait(&fixture, 1, held);
	fixture_read(&fixture, long_memory, 0, words, sizeof(words));
	cr_assert_eq(words[0], 7);
	fixture.ops->kernel_free(fill);
	fixture.ops->kernel_free(increment);
	fixture.ops->memory_free(long_memory);
	fixture_close(&fixture);
	double_check(true);
}

/* Memory is freed while a command that uses it waits behind the held kernel. It is released when
 * that has ended, and not before. */
Test(cuda_rules, F7_memory_is_freed_in_order)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint32_t value = 7;
	const uint64_t global = COUNT;

	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, COUNT * 4, NULL);
	struct backend_kernel *fill = fixture_kernel(&fixture, "fill_u32");
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&value, 4)};
	const struct backend_command launch = launch_command(fill, 1, &global, arguments, 2);
	for (unsigned i = 0; i < 200; i++) {
		struct backend_memory *more = fixture_memory(&fixture, COUNT * 4, NULL);
		const struct backend_argument use[] = {global_argument(more),
						       value_argument(&value, 4)};
		const struct backend_command on_more = launch_command(fill, 1, &global, use, 2);
		(void)fixture_submit(&fixture, i % TEST_LANES, &launch);
		fixture_wait(&fixture, i % TEST_LANES,
			     fixture_submit(&fixture, i % TEST_LANES, &on_more));
		fixture.ops->memory_free(more);
	}
	fixture.ops->kernel_free(fill);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
	double_check(true);
}

Test(cuda_rules, F11_functions_are_loaded_before_they_are_launched)
{
	struct fixture fixture = {.wake_fd = -1};
	static const char *const names[] = {"fill_u32", "linear_id_u32", "increment_u32",
					    "add_u32",  "copy_u32",      "mix_u32"};
	const uint64_t global = COUNT;
	const uint32_t value = 1;

	fixture_open(&fixture, 0);
	uint64_t at_opening =
		double_count("lazy_loads"); /* when nothing else runs for which it could wait */
	struct backend_memory *memory = fixture_memory(&fixture, COUNT * 4, NULL);
	const struct backend_argument to = global_argument(memory),
				      number = value_argument(&value, 4);
	const struct backend_argument lists[][3] = {{to, number}, {to},     {to},
						    {to, to},     {to, to}, {to, to, number}};
	for (unsigned i = 0; i < 6; i++) {
		struct backend_kernel *kernel = fixture_kernel(&fixture, names[i]);
		struct backend_kernel_facts facts;
		fixture.ops->kernel_facts(kernel, &facts);
		const struct backend_command launch =
			launch_command(kernel, 1, &global, lists[i], facts.argument_count);
		fixture_wait(&fixture, 0, fixture_submit(&fixture, 0, &launch));
		fixture.ops->kernel_free(kernel);
	}
	cr_assert_eq(double_count("launches") > 0, true);
	cr_assert_eq(double_count("lazy_loads"), at_opening);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
	double_check(true);
}

/* Listing devices opens none of them; opening one leaves the others unopened. */
Test(cuda_rules, A17_a_device_that_nobody_uses_has_no_context)
{
	struct fixture fixture = {.wake_fd = -1};

	double_command("devices 3");
	fixture_open_backend(&fixture);
	cr_assert_eq(fixture.topology.device_count, 3);
	cr_assert_eq(double_count("contexts_created"), 0);
	fixture_open(&fixture, 1);
	cr_assert_eq(double_count("contexts_created"), 1);
	fixture_close(&fixture);
	cr_assert_eq(double_count("contexts"), 0);
	double_check(true);
}

Test(cuda_rules, opening_and_closing_leaves_nothing)
{
	for (unsigned round = 0; round < 3; round++) {
		struct fixture fixture = {.wake_fd = -1};
		fixture_open(&fixture, 0);
		fixture.ops->kernel_free(fixture_kernel(&fixture, "fill_u32"));
		fixture.ops->memory_free(fixture_memory(&fixture, 1 << 20, NULL));
		fixture_close(&fixture);
		double_check(true);
	}
}

/* Variables that would change what every kernel does are removed before the driver reads them. */
Test(cuda_rules, a_hostile_environment_does_not_reach_the_driver)
{
	struct fixture fixture = {.wake_fd = -1};
	const struct fake_cuda_control *fake = cuda_double();

	(void)setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	(void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
	(void)setenv("CUDA_FORCE_PTX_JIT", "1", 1);
	(void)setenv("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1", 1);
	(void)setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	(void)setenv("CUDA_CACHE_DISABLE", "0", 1);
	(void)setenv("CUDA_CACHE_PATH", "/tmp/somebody-elses", 1);
	fixture_open(&fixture, 0);
	cr_assert_null(fake->environment("CUDA_LAUNCH_BLOCKING"));
	cr_assert_null(fake->environment("CUDA_FORCE_PTX_JIT"));
	cr_assert_null(fake->environment("CUDA_ENABLE_COREDUMP_ON_EXCEPTION"));
	cr_assert_str_eq(fake->environment("CUDA_DEVICE_MAX_CONNECTIONS"), "32");
	const char *path = fake->environment("CUDA_CACHE_PATH");
	cr_assert(!path || strcmp(path, "/tmp/somebody-elses") != 0);
	fixture_close(&fixture);
	double_check(true);
}

/*
 * Kernels are made and freed, and their templates stay. The driver never gets a function of an
 * unloaded module through them, and no module stays only because of a template.
 */
Test(cuda_rules, F11_a_module_goes_when_no_template_names_it_any_more)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint64_t global = COUNT;
	const uint32_t value = 3;
	uint64_t at_opening = 0;

	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, COUNT * 4, NULL);
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&value, sizeof(value))};
	at_opening = double_count("modules");
	for (uint32_t round = 0; round < 6; round++) {
		struct backend_program *program = fixture_build(
			&fixture, conformance_target.source_kind, conformance_target.source, "");
		struct backend_kernel *fill = NULL, *increment = NULL;
		struct backend_fault fault = {0};
		uint64_t sequence = 0;
		/* The one of the round before was unloaded when this one was loaded. */
		cr_assert_eq(double_count("modules"), at_opening + 1);
		cr_assert_eq(fixture.ops->kernel_create(program, "fill_u32", &fill, &fault), 0,
			     "%s", fault.text);
		cr_assert_eq(
			fixture.ops->kernel_create(program, "increment_u32", &increment, &fault), 0,
			"%s", fault.text);
		*cuda_kernel_pace(fill) = *cuda_kernel_pace(increment) = short_and_known;
		const struct backend_command first = launch_command(fill, 1, &global, arguments, 2),
					     second = launch_command(increment, 1, &global,
								     arguments, 1);
		/* Chains of several lengths, on two lanes. */
		for (uint32_t i = 0; i < 1 + round * 7; i++) {
			(void)fixture_submit(&fixture, 1 + i % 2, &first);
			sequence = fixture_submit(&fixture, 1, &second);
		}
		/* It is freed before, after or while the last of them runs. */
		if (round % 3 == 0)
			fixture.ops->kernel_free(fill);
		fixture_wait(&fixture, 1, sequence);
		fixture_wait(
			&fixture, 2,
			fixture_submit(&fixture, 2,
				       &(struct backend_command){.kind = BACKEND_COMMAND_NOP}));
		if (round % 3 != 0)
			fixture.ops->kernel_free(fill);
		fixture.ops->kernel_free(increment);
		fixture.ops->program_free(program);
	}
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
	double_check(true);
}
