/* Similar records that the engine takes together as a burst: their results are those of single
 * ones. */
#include "cleanup.h"
#include "protocol/groups_fixture.h"
#include "resubmit.h"

#include <string.h>

enum { SHAPE = 1, GENERATION = 3, BURST = 16 };

struct again {
	struct resubmit_record head;
	uint32_t value;
};

/* The device's clock reports short kernels, so bursts have their largest size. */
static void start_with_short_kernels(uint32_t groups_in_flight)
{
	groups_start_timed(groups_in_flight, false);
	fake_clock(1000000000, 1000);
}

/* Launches fill_even_u32 in the in-order queue, which defines its shape. After that the engine has
 * an estimate of its time. */
static void groups_bursts_define(uint32_t mode)
{
	struct build build;
	build_begin(&build);
	build_require(&build, BUFFER, mode);
	build_accessor(&build, 0);
	build_value(&build, 2);
	build_launch(&build, EVEN, 1024);
	build.group.shape = SHAPE;
	build.group.shape_generation = GENERATION;
	(void)build_submit(&build, true);
	(void)groups_wait(true);
}

static struct again groups_bursts_make_record(uint32_t value)
{
	return (struct again){.head = {.shape = SHAPE,
				       .generation = GENERATION,
				       .group = groups_number(true),
				       .rest_bytes = 4},
			      .value = value};
}

static void send_resubmit(const struct again *record)
{
	(void)raw_send_bytes(client, RING_RECORD_RESUBMIT, record,
			     sizeof(record->head) + sizeof(record->value));
}

/* All records are in the ring before the last of them wakes the engine. */
static uint64_t send_all(const uint32_t *values, uint32_t count)
{
	uint64_t first = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct again record = groups_bursts_make_record(values[i]);
		first = first ? first : record.head.group;
		client->silent = i + 1 < count;
		send_resubmit(&record);
	}
	return first;
}

Test(groups, TG2_groups_that_come_together_run_one_by_one_and_count_as_many)
{
	enum { ROUNDS = 12, MANY = 45 };
	start_with_short_kernels(0);
	groups_bursts_define(ACCESS_MODE_READ_WRITE);
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	uint64_t before = counters.launches;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t values[MANY];
		for (uint32_t i = 0; i < MANY; i++)
			values[i] = (round * MANY + i + 1) * 2;
		(void)send_all(values, MANY);
		cr_assert(eq(u32, groups_wait(true), 0));
		expect_words(BUFFER, values[MANY - 1], 40 + round);
	}
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u64, counters.launches - before, ROUNDS * MANY));
	Sycl__V1__Usage usage = groups_usage();
	cr_assert(eq(u64, usage.groups_submitted, ROUNDS * MANY + 1));
	cr_assert(eq(u64, usage.groups_completed, ROUNDS * MANY + 1));
	cr_assert(eq(u64, usage.groups_resubmitted, ROUNDS * MANY));
	groups_stop();
}

Test(groups, M9_of_groups_that_came_together_each_has_its_own_failure)
{
	start_with_short_kernels(0);
	groups_bursts_define(ACCESS_MODE_READ_WRITE);
	uint32_t values[BURST];
	for (uint32_t i = 0; i < BURST; i++)
		values[i] = 4;
	values[5] = 7;
	uint64_t first = send_all(values, BURST);
	expect_failed(groups_queue(true), first + 5, STATUS_KERNEL, "7 is odd");
	for (uint32_t i = 6; i < BURST; i++)
		expect_failed(groups_queue(true), first + i, STATUS_DEPENDENCY_FAILED, "7 is odd");
	cr_assert(eq(u32, groups_wait(true), 1));
	Sycl__V1__Usage usage = groups_usage();
	cr_assert(eq(u64, usage.groups_failed, BURST - 5));
	cr_assert(eq(u64, usage.groups_completed, 1 + 5));
	groups_stop();
}

Test(groups, M9_groups_that_need_nothing_of_each_other_fail_alone_though_they_came_together)
{
	start_with_short_kernels(0);
	groups_bursts_define(ACCESS_WRITE_BIT);
	uint32_t values[BURST];
	for (uint32_t i = 0; i < BURST; i++)
		values[i] = i == 3 || i == 9 ? i : 100;
	uint64_t first = send_all(values, BURST);
	expect_failed(groups_queue(true), first + 3, STATUS_KERNEL, "3 is odd");
	expect_failed(groups_queue(true), first + 9, STATUS_KERNEL, "9 is odd");
	expect_words(BUFFER, 100, 40);
	groups_stop();
}

/* The events belong to groups that wait, that are on the device, and that have ended. */
Test(groups, M6_the_event_of_one_of_them_is_its_own)
{
	enum { GATE = 3, BAD = 6 };
	for (uint32_t late = 0; late < 2; late++) {
		start_with_short_kernels(0);
		groups_bursts_define(ACCESS_WRITE_BIT);
		if (!late) {
			struct build hold;
			build_hold(&hold, GATE);
			build_require(&hold, BUFFER, ACCESS_MODE_READ_WRITE);
			(void)build_submit(&hold, true);
		}
		uint32_t values[BURST];
		for (uint32_t i = 0; i < BURST; i++)
			values[i] = i == BAD ? 1 : 8;
		uint64_t first = send_all(values, BURST);
		if (late)
			(void)groups_wait(true);
		uint64_t numbers[BURST];
		for (uint32_t i = 0; i < BURST; i++) {
			struct build build;
			build_begin(&build);
			build_launch(&build, NOOP, 1);
			build_depend(&build, groups_queue(true), first + i);
			numbers[i] = build_submit(&build, false);
		}
		fake_gate_open(GATE);
		expect_failed(groups_queue(true), first + BAD, STATUS_KERNEL, "1 is odd");
		expect_failed(groups_queue(false), numbers[BAD], STATUS_DEPENDENCY_FAILED,
			      "1 is odd");
		(void)groups_wait(false);
		cr_assert(eq(u64, groups_usage().groups_failed, 2), "nobody else depends on it");
		groups_stop();
	}
}

Test(groups, B16_groups_that_come_together_have_the_limits_of_those_that_come_alone)
{
	enum { MOST = 10, MANY = 24, GATE = 4 };
	start_with_short_kernels(MOST);
	groups_bursts_define(ACCESS_MODE_READ_WRITE);
	struct build hold;
	build_hold(&hold, GATE);
	build_require(&hold, BUFFER, ACCESS_MODE_READ_WRITE);
	(void)build_submit(&hold, true);
	uint32_t values[MANY];
	for (uint32_t i = 0; i < MANY; i++)
		values[i] = 2 * (i + 1);
	uint64_t first = send_all(values, MANY);
	/* The held kernel is one of them. */
	for (uint32_t i = MOST - 1; i < MANY; i++)
		expect_failed(groups_queue(true), first + i, STATUS_QUOTA, "in flight");
	fake_gate_open(GATE);
	(void)groups_wait(true);
	expect_poisoned(BUFFER, 40); /* M9 */
	build_fill(&hold, BUFFER, 0);
	hold.requirements[0].mode = ACCESS_MODE_WRITE_NO_INIT;
	(void)build_submit(&hold, true);
	(void)groups_wait(true);
	(void)send_all(values, MOST);
	(void)groups_wait(true);
	expect_words(BUFFER, values[MOST - 1], 41);
	groups_stop();
}

/* The groups before the wrong record run. The record closes the session, as it does alone. */
Test(groups, a_record_among_others_that_is_wrong_closes_the_session)
{
	static const struct wrong_record wrong[] = {
		{.group = 1, .words = "came where"},
		{.group = -1, .words = "came where"},
		{.shape = 1, .words = "is not defined"},
		{.shape = 1000, .words = "is not the number of a shape"},
		{.generation = 1, .words = "is not defined"},
		{.rest = 4, .words = "does not fit shape"},
		{.flags = 4, .words = "does not fit shape"},
		{.slot = 1, .words = "does not fit shape"},
		{.flags = RESUBMIT_WANTS_SLOT, .slot = COMPLETION_SLOTS, .words = "slot"},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		start_with_short_kernels(0);
		groups_bursts_define(ACCESS_MODE_READ_WRITE);
		for (uint32_t k = 0; k < BURST; k++) {
			struct again record = groups_bursts_make_record(2 * k);
			if (k == 9)
				wrong_record_apply(&wrong[i], &record.head);
			client->silent = k + 1 < BURST;
			send_resubmit(&record);
		}
		groups_expect_closed(wrong[i].words);
	}
}

/* The program may wait for that group alone. Those behind it are as short by all that is known, and
 * one of them does not end. */
Test(groups, B18_H9_a_group_whose_event_the_program_has_is_the_last_of_a_burst)
{
	enum { OPEN = 5, SHUT = 6 };
	for (uint32_t last = 0; last < BURST; last++) {
		struct build build;
		start_with_short_kernels(0);
		fake_gate_open(OPEN);
		fake_gate_close(SHUT);
		build_hold(&build, OPEN);
		build_require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
		build.group.shape = SHAPE;
		build.group.shape_generation = GENERATION;
		(void)build_submit(&build, true);
		(void)groups_wait(true);
		uint64_t awaited = 0;
		for (uint32_t i = 0; i < BURST; i++) {
			struct again record = groups_bursts_make_record(i <= last ? OPEN : SHUT);
			record.head.flags = i == last ? RESUBMIT_HAS_EVENT : 0;
			awaited = i == last ? record.head.group : awaited;
			client->silent = i + 1 < BURST;
			send_resubmit(&record);
		}
		cr_assert(eq(u32, raw_wait_slot(client, ORDERED_SLOT, (uint32_t)awaited), 0));
		fake_gate_open(SHUT);
		cr_assert(eq(u32, groups_wait(true), 0));
		groups_stop();
	}
}

/* If one of them has a slot, the slot is written when that group has ended. */
Test(groups, H1_a_slot_among_groups_that_come_together_is_written)
{
	start_with_short_kernels(0);
	groups_bursts_define(ACCESS_MODE_READ_WRITE);
	for (uint32_t i = 0; i < 3 * BURST; i++) {
		struct again record = groups_bursts_make_record(2 * i);
		if (i % 7 == 3) {
			record.head.flags = RESUBMIT_WANTS_SLOT;
			record.head.slot = EVENT_SLOT + i;
			record.head.slot_value = 9 + i;
		}
		client->silent = i + 1 < 3 * BURST;
		send_resubmit(&record);
	}
	for (uint32_t i = 3; i < 3 * BURST; i += 7)
		cr_assert(eq(u32, raw_wait_slot(client, EVENT_SLOT + i, 9 + i), 0));
	cr_assert(eq(u32, groups_wait(true), 0));
	groups_stop();
}
