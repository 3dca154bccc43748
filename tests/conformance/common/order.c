/* Lanes, waits between them, completions. */
#include "targets/target.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <string.h>

#define COUNT 2048u

TestSuite(order, .timeout = 120);

static void fill_with(struct fixture *fixture, struct backend_memory *memory, uint32_t value)
{
	static uint32_t words[COUNT];
	for (uint32_t i = 0; i < COUNT; i++)
		words[i] = value;
	fixture_write(fixture, memory, 0, words, sizeof(words));
}

static uint32_t read_word(struct fixture *fixture, struct backend_memory *memory, uint32_t index)
{
	uint32_t word = 0;
	fixture_read(fixture, memory, index * 4ull, &word, 4);
	return word;
}

Test(order, commands_of_a_lane_run_in_order)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint64_t global = COUNT;
	uint32_t value = 0, expected = 3;
	uint64_t sequence = 0;

	fixture_open(&fixture, 0);
	struct backend_memory *dst = fixture_memory(&fixture, COUNT * 4, NULL),
			      *src = fixture_memory(&fixture, COUNT * 4, NULL);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "mix_u32");
	fill_with(&fixture, dst, expected);
	fill_with(&fixture, src, 5);
	for (uint32_t i = 0; i < 200; i++) {
		value = i;
		const struct backend_argument arguments[] = {global_argument(dst),
							     global_argument(src),
							     value_argument(&value, sizeof(value))};
		const struct backend_command command =
			launch_command(kernel, 1, &global, arguments, 3);
		sequence = fixture_submit(&fixture, 1, &command);
		expected = expected * 31 + 5 + value;
	}
	fixture_wait(&fixture, 1, sequence);
	cr_assert_eq(read_word(&fixture, dst, 0), expected);
	cr_assert_eq(read_word(&fixture, dst, COUNT - 1), expected);
	/* They are reported in order, each once. */
	cr_assert_eq(fixture.lanes[1].seen_count, 200);
	for (size_t i = 0; i < 200; i++)
		cr_assert_eq(fixture.lanes[1].seen[i].sequence, i + 1);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(dst);
	fixture.ops->memory_free(src);
	fixture_close(&fixture);
}

/* A chain over all lanes is only right if every wait between lanes works. */
Test(order, B9_B19_waits_order_commands_of_different_lanes)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint64_t global = COUNT;
	uint32_t expected = 1;
	uint64_t last = 0;
	uint32_t last_lane = 0;

	fixture_open(&fixture, 0);
	struct backend_memory *dst = fixture_memory(&fixture, COUNT * 4, NULL),
			      *src = fixture_memory(&fixture, COUNT * 4, NULL);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "mix_u32");
	fill_with(&fixture, dst, expected);
	fill_with(&fixture, src, 9);
	for (uint32_t i = 0; i < 300; i++) {
		const struct backend_argument arguments[] = {
			global_argument(dst), global_argument(src), value_argument(&i, sizeof(i))};
		const struct backend_command command =
			launch_command(kernel, 1, &global, arguments, 3);
		uint32_t lane = (i * 7 + i / 5) % TEST_LANES;
		last = last ? fixture_submit_after(&fixture, lane, &command, last_lane, last)
			    : fixture_submit(&fixture, lane, &command);
		last_lane = lane;
		expected = expected * 31 + 9 + i;
		if (i % 50 == 49)
			fixture.ops->flush(fixture.device);
	}
	fixture_wait(&fixture, last_lane, last);
	cr_assert_eq(read_word(&fixture, dst, 1), expected);
	cr_assert_eq(read_word(&fixture, dst, COUNT - 1), expected);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(dst);
	fixture.ops->memory_free(src);
	fixture_close(&fixture);
}

Test(order, a_wait_for_what_is_complete_already_does_not_wait)
{
	struct fixture fixture = {.wake_fd = -1};
	const struct backend_command nop = {.kind = BACKEND_COMMAND_NOP};

	fixture_open(&fixture, 0);
	uint64_t first = fixture_submit(&fixture, 1, &nop);
	fixture_wait(&fixture, 1, first);
	uint64_t second = fixture_submit(&fixture, 1, &nop);
	fixture_wait(&fixture, 1, second);
	fixture_wait(&fixture, 2, fixture_submit_after(&fixture, 2, &nop, 1, first));
	fixture_wait(&fixture, 2, fixture_submit_after(&fixture, 2, &nop, 1, second));
	fixture_close(&fixture);
}

Test(order, H3_H4_times_lie_between_submission_and_completion)
{
	struct fixture fixture = {.wake_fd = -1};
	static uint64_t before[500];
	const uint64_t global = COUNT;
	uint64_t sequence = 0, last_start = 0;

	fixture_open(&fixture, 0);
	struct backend_memory *dst = fixture_memory(&fixture, COUNT * 4, NULL);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	const struct backend_argument argument = global_argument(dst);
	const struct backend_command command = launch_command(kernel, 1, &global, &argument, 1);
	fill_with(&fixture, dst, 0);
	for (uint32_t i = 0; i < 500; i++) {
		before[i] = clock_now_ns();
		sequence = fixture_submit(&fixture, 3, &command);
	}
	fixture_wait(&fixture, 3, sequence);
	uint64_t after = clock_now_ns();
	for (uint32_t i = 0; i < 500; i++) {
		const struct backend_completion *seen = &fixture.lanes[3].seen[i];
		cr_assert_geq(seen->start_ns, before[i]);
		cr_assert_geq(seen->end_ns, seen->start_ns);
		cr_assert_leq(seen->end_ns, after);
		cr_assert_geq(seen->start_ns, last_start);
		last_start = seen->start_ns;
	}
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(dst);
	fixture_close(&fixture);
}

/*
 * The device is polled repeatedly without waiting, so a command may end between any two queries of
 * the driver. Its times are reported all the same.
 */
Test(order, H3_times_are_told_of_what_ends_while_it_is_asked)
{
	struct fixture fixture = {.wake_fd = -1};
	const uint64_t global = 1;
	uint64_t last_start = 0;

	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, 64, NULL);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command = launch_command(kernel, 1, &global, &argument, 1);
	for (uint32_t i = 0; i < 2000; i++) {
		struct backend_completion completion = {.sequence = 0};
		uint64_t before = clock_now_ns(), deadline = clock_deadline_ns(60000000000ull);
		uint64_t sequence = fixture_submit(&fixture, 1, &command);
		fixture.ops->flush(fixture.device);
		while (fixture.ops->progress(fixture.device, &completion, 1) == 0)
			cr_assert_lt(clock_now_ns(), deadline);
		cr_assert_eq(completion.sequence, sequence);
		cr_assert_geq(completion.start_ns, before, "command %u: start %llu, sent at %llu",
			      i, (unsigned long long)completion.start_ns,
			      (unsigned long long)before);
		cr_assert_geq(completion.start_ns, last_start);
		cr_assert_geq(completion.end_ns, completion.start_ns);
		cr_assert_leq(completion.end_ns, clock_now_ns());
		last_start = completion.start_ns;
	}
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
}

static uint64_t run_many(struct fixture *fixture, struct backend_kernel *kernel,
			 struct backend_memory *memory, uint32_t count)
{
	const uint64_t global = 1;
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command = launch_command(kernel, 1, &global, &argument, 1);
	uint64_t sequence = 0;

	for (uint32_t i = 0; i < count; i++) {
		sequence = fixture_submit(fixture, 0, &command);
		if (i % 100 == 99) {
			fixture_wait(fixture, 0, sequence);
			fixture->lanes[0].seen_count = 0;
		}
	}
	return sequence;
}

/* Events and records of commands are freed when they are reported: memory in use is the same after
 * the second ten thousand. */
Test(order, H13_ten_thousand_submits_leave_nothing_behind)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, 64, NULL);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	uint32_t zero = 0;
	fixture_write(&fixture, memory, 0, &zero, 4);
	(void)run_many(&fixture, kernel, memory, 10000);
	size_t before = 0, after = SIZE_MAX;
	uint32_t rounds = 1;
	/* A driver's thread may allocate memory for its first command. A leak of each command would
	 * show in each round. */
	for (; rounds < 9 && after > before + (64u << 10); rounds++) {
		before = mallinfo2().uordblks;
		(void)run_many(&fixture, kernel, memory, 10000);
		after = mallinfo2().uordblks;
	}
	cr_assert_eq(read_word(&fixture, memory, 0), 10000 * rounds);
	cr_assert_leq(after, before + (64u << 10), "%zu bytes before, %zu after", before, after);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
}

/* With room for a few at a time, all are reported. */
Test(order, progress_returns_no_more_than_requested_and_loses_nothing)
{
	struct fixture fixture = {.wake_fd = -1};
	const struct backend_command nop = {.kind = BACKEND_COMMAND_NOP};
	struct backend_completion completions[3];
	uint64_t expected = 1;

	fixture_open(&fixture, 0);
	for (int i = 0; i < 10; i++)
		(void)fixture_submit(&fixture, 2, &nop);
	fixture.ops->flush(fixture.device);
	uint64_t deadline = clock_deadline_ns(60000000000ull);
	while (expected <= 10) {
		uint32_t count = fixture.ops->progress(fixture.device, completions, 3);
		cr_assert_leq(count, 3);
		for (uint32_t i = 0; i < count; i++) {
			cr_assert_eq(completions[i].lane, fixture.lanes[2].lane);
			cr_assert_eq(completions[i].sequence, expected++);
		}
		cr_assert_lt(clock_now_ns(), deadline);
	}
	fixture_close(&fixture);
}
