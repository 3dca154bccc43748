/* Records of several shapes that the engine takes together as a stretch: their results are those of
 * groups that come alone. */
#include "protocol/groups_fixture.h"
#include "resubmit.h"

#include <string.h>

enum { WRITES = 1, PASSES_ON = 2, GENERATION = 3 };

/* A record of either shape; only records of WRITES use `value`. */
struct again {
	struct resubmit_record head;
	uint32_t value;
};

/* The device's clock reports short kernels. */
static void start_with_shapes(void)
{
	groups_start_timed(0, false);
	fake_clock(1000000000, 1000);
	struct build build;
	build_begin(&build);
	build_require(&build, BUFFER, ACCESS_MODE_WRITE_NO_INIT);
	build_accessor(&build, 0);
	build_value(&build, 2);
	build_launch(&build, EVEN, 1024);
	build.group.shape = WRITES;
	build.group.shape_generation = GENERATION;
	(void)build_submit(&build, true);
	build_begin(&build);
	build_require(&build, BUFFER, ACCESS_MODE_READ);
	build_require(&build, OTHER, ACCESS_MODE_WRITE_NO_INIT);
	build_accessor(&build, 1);
	build_accessor(&build, 0);
	build_launch(&build, COPY, 1024);
	build.group.shape = PASSES_ON;
	build.group.shape_generation = GENERATION;
	(void)build_submit(&build, true);
	cr_assert(eq(u32, groups_wait(true), 0));
}

static struct again groups_stretches_make_record(uint32_t shape, uint32_t value)
{
	return (struct again){.head = {.shape = shape,
				       .generation = GENERATION,
				       .group = groups_number(true),
				       .rest_bytes = shape == WRITES ? 4 : 0},
			      .value = value};
}

static void send_record(const struct again *record, bool silent)
{
	client->silent = silent;
	(void)raw_send_bytes(client, RING_RECORD_RESUBMIT, record,
			     sizeof(record->head) + record->head.rest_bytes % 8);
}

/* BUFFER gets the value, and OTHER gets it from there. Both records are in the ring before the
 * engine wakes. Returns the number of the first. */
static uint64_t send_both(uint32_t value, bool silent)
{
	const struct again first = groups_stretches_make_record(WRITES, value),
			   second = groups_stretches_make_record(PASSES_ON, 0);
	send_record(&first, true);
	send_record(&second, silent);
	return first.head.group;
}

Test(groups, TR5_groups_of_several_shapes_that_come_together_count_as_many)
{
	enum { ROUNDS = 20, PAIRS = 5 };
	start_with_shapes();
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	const uint64_t before = counters.launches;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < PAIRS; i++)
			(void)send_both(2 * (round * PAIRS + i), i + 1 < PAIRS);
		expect_words(OTHER, 2 * (round * PAIRS + PAIRS - 1), 40 + round);
	}
	cr_assert(eq(u32, groups_wait(true), 0));
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(eq(u64, counters.launches - before, 2 * ROUNDS * PAIRS));
	const Sycl__V1__Usage usage = groups_usage();
	cr_expect(eq(u64, usage.groups_submitted, 2 * ROUNDS * PAIRS + 2));
	cr_expect(eq(u64, usage.groups_completed, 2 * ROUNDS * PAIRS + 2));
	cr_expect(eq(u64, usage.groups_resubmitted, 2 * ROUNDS * PAIRS));
	groups_stop();
}

/* Repeats until the engine has estimates of both kernels, and until a refusal of an earlier stretch
 * has passed. */
static void send_waiting(uint32_t value)
{
	for (uint32_t i = 0; i < 100; i++) {
		(void)send_both(value, false);
		cr_assert(eq(u32, groups_wait(true), 0));
	}
}

Test(groups, M9_each_of_several_shapes_has_its_own_failure)
{
	start_with_shapes();
	send_waiting(2);
	const uint64_t first = send_both(7, false);
	expect_failed(groups_queue(true), first, STATUS_KERNEL, "7 is odd");
	expect_failed(groups_queue(true), first + 1, STATUS_DEPENDENCY_FAILED, "7 is odd");
	expect_poisoned(BUFFER, 40);
	expect_poisoned(OTHER, 41);
	(void)send_both(8, false);
	expect_words(OTHER, 8, 42);
	expect_words(BUFFER, 8, 43);
	groups_stop();
}

/* The group before the wrong record runs. The record closes the session, as it does alone. */
Test(groups, a_record_of_another_shape_that_is_wrong_closes_the_session)
{
	static const struct wrong_record wrong[] = {
		{.group = 1, .words = "came where"},
		{.group = -1, .words = "came where"},
		{.shape = 1, .words = "is not defined"},
		{.shape = -2, .words = "is not the number of a shape"},
		{.shape = 1000, .words = "is not the number of a shape"},
		{.generation = 1, .words = "is not defined"},
		{.rest = 4, .words = "does not fit shape"},
		{.rest = 8, .words = "does not fit shape"},
		{.flags = 4, .words = "does not fit shape"},
		{.slot = 1, .words = "does not fit shape"},
		{.flags = RESUBMIT_WANTS_SLOT, .slot = COMPLETION_SLOTS, .words = "slot"},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		start_with_shapes();
		const struct again first = groups_stretches_make_record(WRITES, 4);
		struct again second = groups_stretches_make_record(PASSES_ON, 0);
		wrong_record_apply(&wrong[i], &second.head);
		send_record(&first, true);
		send_record(&second, false);
		groups_expect_closed(wrong[i].words);
	}
}

/* The second group names a buffer that was released meanwhile, which no group may. */
Test(groups, a_shape_whose_buffer_was_released_closes_the_session)
{
	start_with_shapes();
	(void)send_both(2, false);
	cr_assert(eq(u32, groups_wait(true), 0));
	(void)raw_release(client, raw_id(OBJECT_BUFFER, OTHER));
	(void)send_both(6, false);
	groups_expect_closed("no buffer");
}
