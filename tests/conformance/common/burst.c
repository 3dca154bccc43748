/* Several launches as one command, if the backend supports that. */
#include "targets/target.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define COUNT  100u
#define STRIDE 16u
#define MOST   16u

TestSuite(bursts, .timeout = 120);

struct block {
	_Alignas(16) unsigned char bytes[MOST][STRIDE];
};

static void put_value(struct block *block, uint32_t index, uint32_t value)
{
	memcpy(block->bytes[index], &value, sizeof(value));
}

/* Returns 0 and its sequence, or the error. */
static int submit_launches(struct fixture *fixture, uint32_t lane,
			   const struct backend_command *command, uint32_t count,
			   uint64_t *sequence_out)
{
	struct backend_fault fault = {.status = 0};
	struct test_lane *to = &fixture->lanes[lane];
	uint64_t sequence = to->next_sequence + count - 1;

	int result = fixture->ops->submit_burst(to->lane, command, count, STRIDE, NULL, 0, sequence,
						&fault);
	if (result < 0)
		return result;
	to->next_sequence = sequence + 1;
	*sequence_out = sequence;
	return 0;
}

/* Bursts of every length, between single launches of the same and of another kernel. Each launch
 * has its own values, which are copied at once. */
Test(bursts, E21_TG2_each_launch_of_a_burst_runs_once_in_order_with_its_own_values)
{
	struct fixture fixture = {.wake_fd = -1};
	static uint32_t got[COUNT], zeros[COUNT];
	const uint64_t global = COUNT;
	struct block block;
	uint32_t single = 0, expected = 0, taken = 0;
	uint64_t sequence = 0;

	fixture_open(&fixture, 0);
	if (!fixture.ops->submit_burst) {
		fixture_close(&fixture);
		cr_skip_test("this backend takes no bursts");
	}
	struct backend_memory *dst = fixture_memory(&fixture, sizeof(got), NULL),
			      *src = fixture_memory(&fixture, sizeof(got), NULL);
	fixture_write(&fixture, dst, 0, zeros, sizeof(zeros));
	fixture_write(&fixture, src, 0, zeros, sizeof(zeros));
	struct backend_kernel *mix = fixture_kernel(&fixture, "mix_u32"),
			      *increment = fixture_kernel(&fixture, "increment_u32");
	const struct backend_argument arguments[] = {global_argument(dst), global_argument(src),
						     value_argument(block.bytes[0],
								    sizeof(uint32_t))},
				      alone[] = {arguments[0], arguments[1],
						 value_argument(&single, sizeof(single))};
	const struct backend_command burst = launch_command(mix, 1, &global, arguments, 3),
				     other = launch_command(increment, 1, &global, arguments, 1),
				     one = launch_command(mix, 1, &global, alone, 3);
	for (uint32_t round = 0; round < 120; round++) {
		uint32_t count = 2u << round % 4;
		for (uint32_t i = 0; i < count; i++)
			put_value(&block, i, round * 100 + i);
		int result = submit_launches(&fixture, 0, &burst, count, &sequence);
		cr_assert(result == 0 || result == -EAGAIN, "%d", result);
		for (uint32_t i = 0; i < count && result == 0; i++)
			expected = expected * 31 + round * 100 + i;
		taken += result == 0;
		memset(&block, 0xee, sizeof(block));
		for (uint32_t i = 0; i < round % 3; i++) {
			single = round + i;
			sequence = fixture_submit(&fixture, 0, i == 0 ? &other : &one);
			expected = i == 0 ? expected + 1 : expected * 31 + single;
		}
		if (round % 11 == 0 && sequence != 0)
			fixture_wait(&fixture, 0, sequence);
	}
	cr_assert_gt(taken, 0);
	fixture_wait(&fixture, 0, sequence);
	fixture_read(&fixture, dst, 0, got, sizeof(got));
	for (uint32_t i = 0; i < COUNT; i++)
		cr_assert_eq(got[i], expected, "word %u after %u bursts", i, taken);
	fixture.ops->kernel_free(mix);
	fixture.ops->kernel_free(increment);
	fixture.ops->memory_free(dst);
	fixture.ops->memory_free(src);
	fixture_close(&fixture);
}

/* Others wait for its last launch. */
Test(bursts, F2_another_lane_waits_for_all_of_a_burst)
{
	struct fixture fixture = {.wake_fd = -1};
	static uint32_t got[COUNT], zeros[COUNT];
	const uint64_t global = COUNT;
	struct block block;

	fixture_open(&fixture, 0);
	if (!fixture.ops->submit_burst) {
		fixture_close(&fixture);
		cr_skip_test("this backend takes no bursts");
	}
	struct backend_memory *dst = fixture_memory(&fixture, sizeof(got), NULL),
			      *copy = fixture_memory(&fixture, sizeof(got), NULL);
	fixture_write(&fixture, dst, 0, zeros, sizeof(zeros));
	struct backend_kernel *fill = fixture_kernel(&fixture, "fill_u32");
	const struct backend_argument arguments[] = {
		global_argument(dst), value_argument(block.bytes[0], sizeof(uint32_t))};
	const struct backend_command burst = launch_command(fill, 1, &global, arguments, 2),
				     move = {.kind = BACKEND_COMMAND_COPY,
					     .copy = {.source = dst,
						      .destination = copy,
						      .size_bytes = sizeof(got)}};
	for (uint32_t round = 1; round <= 40; round++) {
		uint64_t sequence;
		for (uint32_t i = 0; i < 8; i++)
			put_value(&block, i, round * 10 + i);
		if (submit_launches(&fixture, 0, &burst, 8, &sequence) < 0)
			break;
		fixture_wait(&fixture, 1, fixture_submit_after(&fixture, 1, &move, 0, sequence));
		fixture_read(&fixture, copy, 0, got, sizeof(got));
		for (uint32_t i = 0; i < COUNT; i++)
			cr_assert_eq(got[i], round * 10 + 7, "word %u", i);
		fixture_wait(&fixture, 0, sequence);
	}
	fixture.ops->kernel_free(fill);
	fixture.ops->memory_free(dst);
	fixture.ops->memory_free(copy);
	fixture_close(&fixture);
}
