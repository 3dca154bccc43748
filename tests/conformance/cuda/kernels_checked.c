/*
 * Kernels of the checking mode: what the engine does not see through the public functions. Direct
 * completions, the bounds of memory and of launches in flight, and launches that the driver
 * refuses.
 */
#include "cuda/double.h"
#include "cuda/kernels_run.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>

enum {
	WORDS = 16,
	WORDS_BYTES = WORDS * 4,
	IN_FLIGHT_MOST = 256, /* lane/check.c */
	BURST_MOST = 16,
	TABLES_MOST = 32, /* of 1 MiB each */
	LANE = 1
};

TestSuite(cuda_checked, .timeout = 240);

static const char source[] =
	"SYCL_KERNEL void set(SYCL_GLOBAL(uint) x, uint value) { x[sycl_global_id(0)] = value; }\n"
	"SYCL_KERNEL void race(SYCL_GLOBAL(uint) x, uint value) { x[0] += value; }\n"
	"SYCL_KERNEL void plain(uint value) { }\n";

struct checked {
	struct run run;
	struct backend_memory *memory;
	struct backend_argument arguments[2];
	uint64_t global;
	uint32_t value;
};

static void checked_open(struct checked *checked, const char *name)
{
	run_open(&checked->run, BACKEND_SOURCE_PORTABLE, source, "--sycl-check", name);
	checked->memory = run_memory(&checked->run, NULL, WORDS_BYTES);
	checked->global = WORDS;
	checked->value = 7;
	checked->arguments[0] = global_argument(checked->memory);
	checked->arguments[1] = value_argument(&checked->value, sizeof(checked->value));
}

static void checked_close(struct checked *checked)
{
	checked->run.fixture.ops->memory_free(checked->memory);
	run_close(&checked->run);
}

/* A launch whose accessor has so many words. */
static struct backend_command launch_with(struct checked *checked, uint64_t words)
{
	checked->arguments[0].global.reach = words * 4 << 3 | ACCESS_MODE_READ_WRITE;
	return launch_command(checked->run.kernel, 1, &checked->global, checked->arguments, 2);
}

static uint64_t submit(struct checked *checked, uint32_t lane, uint64_t words,
		       const struct backend_direct_completion *completion)
{
	struct fixture *fixture = &checked->run.fixture;
	const struct backend_command command = launch_with(checked, words);
	const uint64_t sequence = fixture->lanes[lane].next_sequence++;
	struct backend_fault fault = {0};

	cr_assert_eq(fixture->ops->submit(fixture->lanes[lane].lane, &command, NULL, 0, sequence,
					  completion, &fault),
		     0, "%s", fault.text);
	return sequence;
}

Test(cuda_checked, a_kernel_has_the_arguments_of_its_source_with_their_names)
{
	struct backend_kernel_facts facts;
	struct checked checked;

	checked_open(&checked, "set");
	checked.run.fixture.ops->kernel_facts(checked.run.kernel, &facts);
	cr_expect_eq(facts.argument_count, 2);
	cr_expect_eq(facts.arguments[0].kind, BACKEND_ARGUMENT_GLOBAL);
	cr_expect_str_eq(facts.arguments[0].name, "x");
	cr_expect_not(facts.splits, "a part would begin with the fill of the whole range");
	/* A kernel without pointers has no checks. */
	struct backend_kernel *plain = run_kernel(&checked.run, "plain");
	checked.run.fixture.ops->kernel_facts(plain, &facts);
	cr_expect_eq(facts.argument_count, 1);
	cr_expect(facts.splits);
	checked.run.fixture.ops->kernel_free(plain);
	checked_close(&checked);
}

Test(cuda_checked, a_direct_completion_is_written_only_if_nothing_is_wrong)
{
	struct backend_host *host = NULL;
	struct backend_fault fault = {0};
	struct checked checked;

	checked_open(&checked, "set");
	struct fixture *fixture = &checked.run.fixture;
	volatile uint32_t *slots =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq((const void *)slots, MAP_FAILED);
	cr_assert_eq(
		fixture->ops->host_register(fixture->device, (void *)slots, 4096, &host, &fault), 0,
		"%s", fault.text);
	for (uint32_t i = 0; i < 2; i++) {
		const struct backend_direct_completion completion = {
			.host = host, .offset_bytes = i * 4ull, .value = 5};
		const uint64_t sequence = submit(&checked, LANE, WORDS - i, &completion);
		const struct backend_completion ended = fixture_finish(fixture, LANE, sequence);
		cr_expect_eq(ended.fault.status, i ? STATUS_KERNEL : STATUS_SUCCESS);
		cr_expect_str_eq(ended.fault.text,
				 i ? "kernel set, line 1, work-item 15: x[15] is outside of the "
				     "accessor's 15 elements"
				   : "");
		cr_expect_eq(slots[i], i ? 0 : 5);
	}
	fixture->ops->host_unregister(host);
	cr_assert_eq(munmap((void *)slots, 4096), 0);
	checked_close(&checked);
}

/* Each in flight has pinned words. The engine holds launches back when there are few, because it
 * looks once for all launches of a burst. */
Test(cuda_checked, launches_in_flight_are_bounded)
{
	struct backend_fault fault = {0};
	uint64_t last[TEST_LANES] = {0};
	struct checked checked;

	checked_open(&checked, "set");
	struct fixture *fixture = &checked.run.fixture;
	for (uint32_t i = 0; i < IN_FLIGHT_MOST; i++) {
		cr_assert_eq(fixture->ops->has_room(fixture->lanes[2].lane, NULL, 0),
			     i + BURST_MOST <= IN_FLIGHT_MOST, "%u are in flight", i);
		last[i % 2] = submit(&checked, i % 2, WORDS, NULL);
	}
	cr_expect_not(fixture->ops->has_room(fixture->lanes[2].lane, NULL, 0));
	const struct backend_command command = launch_with(&checked, WORDS);
	cr_expect_lt(
		fixture->ops->submit(fixture->lanes[2].lane, &command, NULL, 0, 1, NULL, &fault),
		0);
	cr_expect_eq(fault.status, STATUS_QUOTA, "%s", fault.text);
	for (uint32_t lane = 0; lane < 2; lane++)
		fixture_wait(fixture, lane, last[lane]);
	cr_expect(fixture->ops->has_room(fixture->lanes[2].lane, NULL, 0));
	fixture_wait(fixture, 2, submit(&checked, 2, WORDS, NULL));
	checked_close(&checked);
}

/* Launches the race on a lane of the test's own. Returns the status of its completion. */
static int32_t race_on(struct checked *checked, struct backend_lane *lane)
{
	struct fixture *fixture = &checked->run.fixture;
	struct backend_command command = launch_with(checked, WORDS);
	struct backend_completion completion;
	struct backend_fault fault = {0};

	command.launch.local[0] = WORDS;
	cr_assert_eq(fixture->ops->submit(lane, &command, NULL, 0, 1, NULL, &fault), 0, "%s",
		     fault.text);
	fixture->ops->flush(fixture->device);
	while (fixture->ops->progress(fixture->device, &completion, 1) == 0)
		;
	cr_assert_eq(completion.lane, lane);
	return completion.fault.status;
}

/* Tables are in nobody's limits. A lane that gets none looks for no race, and all else works. */
Test(cuda_checked, memory_of_tables_is_bounded)
{
	struct backend_lane *lanes[TABLES_MOST + 2] = {NULL};
	struct backend_fault fault = {0};
	struct checked checked;

	checked_open(&checked, "race");
	const struct backend_ops *ops = checked.run.fixture.ops;
	uint32_t found = 0;
	for (uint32_t i = 0; i < TABLES_MOST + 2; i++) {
		cr_assert_eq(ops->lane_create(checked.run.fixture.device, BACKEND_LANE_COMPUTE,
					      &lanes[i], &fault),
			     0, "%s", fault.text);
		found += race_on(&checked, lanes[i]) == STATUS_KERNEL;
	}
	cr_expect_eq(found, TABLES_MOST);
	ops->lane_free(lanes[0]);
	cr_assert_eq(ops->lane_create(checked.run.fixture.device, BACKEND_LANE_COMPUTE, &lanes[0],
				      &fault),
		     0, "%s", fault.text);
	cr_expect_eq(race_on(&checked, lanes[0]), STATUS_KERNEL,
		     "a freed lane gave its table back");
	for (uint32_t i = 0; i < TABLES_MOST + 2; i++)
		ops->lane_free(lanes[i]);
	checked_close(&checked);
}

/* The launch needs only the block then. */
Test(cuda_checked, without_memory_for_a_table_no_race_is_looked_for)
{
	struct backend_lane *lanes[2] = {NULL};
	struct backend_fault fault = {0};
	struct checked checked;

	if (run_is_real())
		cr_skip_test("only the double fails on request");
	checked_open(&checked, "race");
	const struct backend_ops *ops = checked.run.fixture.ops;
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(ops->lane_create(checked.run.fixture.device, BACKEND_LANE_COMPUTE,
					      &lanes[i], &fault),
			     0, "%s", fault.text);
		if (i == 0)
			double_command("fail cuMemAllocFromPoolAsync 1 2 2"); /* tried twice */
		cr_expect_eq(race_on(&checked, lanes[i]), i == 0 ? STATUS_SUCCESS : STATUS_KERNEL);
	}
	for (uint32_t i = 0; i < 2; i++)
		ops->lane_free(lanes[i]);
	checked_close(&checked);
}

/* Whatever is refused: the launch fails, and what it used is used again. */
Test(cuda_checked, a_refused_launch_leaves_nothing_behind)
{
	static const char *const calls[] = {"cuMemcpyHtoDAsync", "cuMemsetD32Async",
					    "cuLaunchKernel", "cuMemcpyDtoHAsync"};
	struct checked checked;

	if (run_is_real())
		cr_skip_test("only the double fails on request");
	checked_open(&checked, "set");
	struct fixture *fixture = &checked.run.fixture;
	for (uint32_t i = 0; i < IN_FLIGHT_MOST + 8; i++) {
		const struct backend_command command = launch_with(&checked, WORDS);
		struct backend_fault fault = {0};
		double_command("fail cuMemAllocFromPoolAsync 1 2 4"); /* each is tried twice */
		cr_assert_lt(fixture->ops->submit(fixture->lanes[LANE].lane, &command, NULL, 0, 1,
						  NULL, &fault),
			     0);
		cr_assert_eq(fault.status, STATUS_MEMORY_ALLOCATION, "%s", fault.text);
		double_command("forget");
	}
	for (uint32_t i = 0; i < IN_FLIGHT_MOST + 8; i++) {
		const struct backend_command command = launch_with(&checked, WORDS);
		const uint64_t sequence = fixture->lanes[LANE].next_sequence++;
		struct backend_fault fault = {0};
		double_command("fail %s 1 1", calls[i % 4]);
		int error = fixture->ops->submit(fixture->lanes[LANE].lane, &command, NULL, 0,
						 sequence, NULL, &fault);
		cr_assert_eq(error, 0, "%s: %s", calls[i % 4], fault.text);
		const struct backend_completion ended = fixture_finish(fixture, LANE, sequence);
		cr_assert_neq(ended.fault.status, STATUS_SUCCESS, "%s", calls[i % 4]);
		double_command("forget");
	}
	fixture_wait(fixture, LANE, submit(&checked, LANE, WORDS, NULL));
	checked_close(&checked);
}

/* Neither that range nor what lies behind it is written. */
Test(cuda_checked, a_range_shorter_than_an_element_stays_as_it_is)
{
	uint32_t words[WORDS] = {0};
	struct checked checked;

	checked_open(&checked, "set");
	struct fixture *fixture = &checked.run.fixture;
	checked.global = 1;
	for (uint64_t bytes = 0; bytes < sizeof(*words); bytes++) {
		struct backend_fault fault = {0};
		struct backend_command command = launch_with(&checked, 0);
		checked.arguments[0].global.reach = bytes << 3 | ACCESS_MODE_READ_WRITE;
		const uint64_t sequence = fixture->lanes[LANE].next_sequence++;
		cr_assert_eq(fixture->ops->submit(fixture->lanes[LANE].lane, &command, NULL, 0,
						  sequence, NULL, &fault),
			     0, "%s", fault.text);
		const struct backend_completion ended = fixture_finish(fixture, LANE, sequence);
		cr_expect_eq(ended.fault.status, STATUS_KERNEL);
		fixture_read(fixture, checked.memory, 0, words, WORDS_BYTES);
		cr_expect_eq(words[0], 0, "with %u bytes", (unsigned)bytes);
	}
	checked_close(&checked);
}
