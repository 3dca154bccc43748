/* Stretches that a session sends again and again, which the engine takes as a whole: their results
 * are those of groups that come alone, and anything unexpected is found as always. */
#include "protocol/groups_fixture.h"
#include "processors.h"
#include "resubmit.h"
#include "switches.h"

#include <stdlib.h>
#include <string.h>

enum {
	KEPT_WRITES = 1,
	KEPT_PASSES_ON = 2,
	KEPT_HOLDS = 3,
	KEPT_ADDS = 4,
	KEPT_WRITES_OTHER = 5,
	KEPT_GENERATION = 3,
	ROUNDS = 20
};

/* A record of a shape; those of KEPT_PASSES_ON and KEPT_ADDS have no `value`. */
struct kept_record {
	struct resubmit_record head;
	uint32_t value;
};

static void define_passes_on(bool ordered, uint32_t from, uint32_t to)
{
	struct build build;
	build_begin(&build);
	build_require(&build, from, ACCESS_MODE_READ);
	build_require(&build, to, ACCESS_MODE_WRITE_NO_INIT);
	build_accessor(&build, 1);
	build_accessor(&build, 0);
	build_launch(&build, COPY, 1024);
	build.group.shape = KEPT_PASSES_ON;
	build.group.shape_generation = KEPT_GENERATION;
	(void)build_submit(&build, ordered);
	cr_assert(eq(u32, groups_wait(ordered), 0));
}

static void define_writes(bool ordered, uint32_t shape, uint32_t buffer)
{
	struct build build;
	build_begin(&build);
	build_require(&build, buffer, ACCESS_MODE_WRITE_NO_INIT);
	build_accessor(&build, 0);
	build_value(&build, 2);
	build_launch(&build, EVEN, 1024);
	build.group.shape = shape;
	build.group.shape_generation = KEPT_GENERATION;
	(void)build_submit(&build, ordered);
}

/* The device's clock reports short kernels, and a stretch is kept as soon as it comes again. */
static void start_keeping_in(bool ordered)
{
	cr_assert(eq(int, setenv(SWITCH_KEEP_ALL, "1", 1), 0));
	groups_start_timed(0, false);
	fake_clock(1000000000, 1000);
	define_writes(ordered, KEPT_WRITES, BUFFER);
	define_passes_on(ordered, BUFFER, OTHER);
}

static void start_keeping(void)
{
	start_keeping_in(true);
}

static struct kept_record kept_record_in(bool ordered, uint32_t shape, uint32_t value)
{
	return (struct kept_record){
		.head = {.shape = shape,
			 .generation = KEPT_GENERATION,
			 .group = groups_number(ordered),
			 .rest_bytes = shape == KEPT_PASSES_ON || shape == KEPT_ADDS ? 0 : 4},
		.value = value};
}

static struct kept_record kept_record_of(uint32_t shape, uint32_t value)
{
	return kept_record_in(true, shape, value);
}

static void send_kept_record(const struct kept_record *record, bool silent)
{
	client->silent = silent;
	(void)raw_send_bytes(client, RING_RECORD_RESUBMIT, record,
			     sizeof(record->head) + record->head.rest_bytes % 8);
}

/* BUFFER gets the value, and OTHER gets it from there. Returns the number of the first group. */
static uint64_t send_pair(uint32_t value)
{
	const struct kept_record first = kept_record_of(KEPT_WRITES, value),
				 second = kept_record_of(KEPT_PASSES_ON, 0);
	send_kept_record(&first, true);
	send_kept_record(&second, false);
	return first.head.group;
}

static uint32_t access_number;

static void expect_rounds(uint32_t rounds)
{
	for (uint32_t i = 0; i < rounds; i++) {
		(void)send_pair(2 * i);
		expect_words(OTHER, 2 * i, 40 + access_number++);
	}
}

Test(groups, TR5_a_stretch_that_is_kept_has_its_values_each_time)
{
	start_keeping();
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	const uint64_t before = counters.launches;
	expect_rounds(ROUNDS);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(eq(u64, counters.launches - before, UINT64_C(2) * ROUNDS));
	const Sycl__V1__Usage usage = groups_usage();
	cr_expect(eq(u64, usage.groups_submitted, UINT64_C(2) * ROUNDS + 2));
	cr_expect(eq(u64, usage.groups_completed, UINT64_C(2) * ROUNDS + 2));
	cr_expect(eq(u64, usage.groups_resubmitted, UINT64_C(2) * ROUNDS));
	cr_expect(eq(u32, groups_kept_rows(), 1));
	groups_stop();
	cr_expect(gt(u64, groups_kept_launches(), 0));
}

/* Afterwards it is learnt anew. */
Test(groups, M9_each_group_of_a_kept_stretch_has_its_own_failure)
{
	start_keeping();
	for (uint32_t i = 0; i < 3; i++) {
		expect_rounds(ROUNDS);
		const uint64_t first = send_pair(7);
		expect_failed(groups_queue(true), first, STATUS_KERNEL, "7 is odd");
		expect_failed(groups_queue(true), first + 1, STATUS_DEPENDENCY_FAILED, "7 is odd");
		expect_poisoned(OTHER, 40 + access_number++);
	}
	expect_rounds(ROUNDS);
	groups_stop();
}

Test(groups, a_wrong_record_of_a_kept_stretch_closes_the_session)
{
	static const struct wrong_record wrong[] = {
		{.group = 1, .words = "came where"},
		{.shape = 1, .words = "is not defined"},
		{.shape = 1000, .words = "is not the number of a shape"},
		{.generation = 1, .words = "is not defined"},
		{.rest = 8, .words = "does not fit shape"},
		{.flags = 4, .words = "does not fit shape"},
		{.slot = 1, .words = "does not fit shape"},
		{.flags = RESUBMIT_WANTS_SLOT, .slot = COMPLETION_SLOTS, .words = "slot"},
	};
	for (size_t i = 0; i < 2 * sizeof(wrong) / sizeof(*wrong); i++) {
		const size_t at = i / 2;
		start_keeping();
		access_number = 0;
		expect_rounds(ROUNDS);
		struct kept_record records[] = {kept_record_of(KEPT_WRITES, 4),
						kept_record_of(KEPT_PASSES_ON, 0)};
		struct resubmit_record *head = &records[i % 2].head;
		wrong_record_apply(&wrong[at], head);
		/* The first may also be another shape's, as long as it is a good record. */
		if (i % 2 == 0 && wrong[at].shape == 1)
			head->rest_bytes = 4;
		send_kept_record(&records[0], true);
		send_kept_record(&records[1], false);
		groups_expect_closed(i % 2 == 0 && wrong[at].shape == 1 ? "does not fit shape"
									: wrong[at].words);
	}
}

Test(groups, a_kept_stretch_whose_buffer_was_released_closes_the_session)
{
	start_keeping();
	expect_rounds(ROUNDS);
	(void)raw_release(client, raw_id(OBJECT_BUFFER, OTHER));
	(void)send_pair(6);
	groups_expect_closed("no buffer");
}

/* One of its shapes stands for another group then. */
Test(groups, a_shape_that_is_defined_again_is_kept_no_longer)
{
	start_keeping();
	expect_rounds(ROUNDS);
	define_passes_on(true, OTHER, BUFFER);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		(void)send_pair(200 + 2 * i);
		expect_words(BUFFER, 2 * (ROUNDS - 1), 40 + access_number++);
	}
	groups_stop();
}

/* Groups of an out-of-order queue are no stretch, so nothing is expected of them. */
Test(groups, B2_TR5_groups_of_an_out_of_order_queue_are_not_kept_together)
{
	start_keeping_in(false);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const struct kept_record first = kept_record_in(false, KEPT_WRITES, 2 * i),
					 second = kept_record_in(false, KEPT_PASSES_ON, 0);
		send_kept_record(&first, true);
		send_kept_record(&second, false);
		expect_words(OTHER, 2 * i, 40 + access_number++);
	}
	cr_expect(eq(u32, groups_kept_rows(), 0));
	cr_expect(eq(u64, groups_counters().kept_launches, 0));
	groups_stop();
}

/* Some groups of it come, and the others do not; a record of another kind comes in between. */
Test(groups, a_stretch_that_comes_in_part_is_run_in_part)
{
	start_keeping();
	for (uint32_t i = 0; i < ROUNDS; i++) {
		expect_rounds(3);
		const struct kept_record first = kept_record_of(KEPT_WRITES, 300 + 2 * i);
		send_kept_record(&first, false);
		expect_words(BUFFER, 300 + 2 * i, 40 + access_number++);
		expect_words(OTHER, 4, 40 + access_number++);
		const struct kept_record second = kept_record_of(KEPT_PASSES_ON, 0);
		send_kept_record(&second, false);
		expect_words(OTHER, 300 + 2 * i, 40 + access_number++);
	}
	groups_stop();
}

static void define_adds(void)
{
	struct build build;
	build_begin(&build);
	build_require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	build_accessor(&build, 0);
	build_launch(&build, INCREMENT, 1024);
	build.group.shape = KEPT_ADDS;
	build.group.shape_generation = KEPT_GENERATION;
	(void)build_submit(&build, true);
	cr_assert(eq(u32, groups_wait(true), 0));
}

/* BUFFER gets the value and one. */
static void expect_sum(uint32_t value)
{
	const struct kept_record first = kept_record_of(KEPT_WRITES, value),
				 second = kept_record_of(KEPT_ADDS, 0);
	send_kept_record(&first, true);
	send_kept_record(&second, false);
	expect_words(BUFFER, value + 1, 40 + access_number++);
}

/* It has as many groups, and only the first is the same. At some time it comes when another is to
 * be kept and has not come again yet. */
Test(groups, TR5_a_stretch_that_begins_like_another_is_not_kept_for_it)
{
	for (uint32_t rounds = 1; rounds < 5; rounds++) {
		start_keeping();
		access_number = 0;
		define_adds();
		expect_sum(500);
		expect_rounds(rounds);
		expect_sum(600);
		expect_rounds(3);
		groups_stop();
	}
}

/* Nothing is behind a stretch before its results are there. Groups that need nothing of each other
 * are no stretch. */
Test(groups, groups_that_are_no_stretch_are_not_waited_for)
{
	cr_assert(eq(int, setenv(PROCESSORS_VARIABLE, "4", 1), 0));
	for (uint32_t shape = KEPT_PASSES_ON; shape <= KEPT_WRITES_OTHER;
	     shape += KEPT_WRITES_OTHER - KEPT_PASSES_ON) {
		start_keeping();
		define_writes(true, KEPT_WRITES_OTHER, OTHER);
		for (uint32_t i = 0; i < ROUNDS; i++) {
			const struct kept_record first = kept_record_of(KEPT_WRITES, 2 * i),
						 second = kept_record_of(shape, 2 * i);
			send_kept_record(&first, true);
			send_kept_record(&second, false);
			cr_assert(eq(u32, groups_wait(true), 0));
			raw_round_trip(client);
		}
		groups_stop();
		cr_expect(eq(int, groups_kept_waits() > 0, shape == KEPT_PASSES_ON), "shape %u",
			  shape);
	}
}

/* Each time the host has written before, so the task that is kept is not used. */
Test(groups, a_stretch_with_nothing_behind_it_is_not_waited_for_for_ever)
{
	enum { MANY = 60 };
	cr_assert(eq(int, setenv(PROCESSORS_VARIABLE, "4", 1), 0));
	start_keeping();
	for (uint32_t i = 0; i < MANY; i++) {
		const uint32_t once = 40 + i;
		(void)send_pair(2 * i);
		cr_assert(eq(u32, groups_wait(true), 0));
		groups_access(once, BUFFER, ACCESS_MODE_WRITE_NO_INIT, once);
		cr_assert(eq(u32, raw_wait_slot(client, once, 1), 0));
		(void)raw_release(client, raw_id(OBJECT_HOST_ACCESSOR, once));
	}
	groups_stop();
	cr_expect(gt(u64, groups_kept_waits(), 0));
	cr_expect(lt(u64, groups_kept_waits(), MANY / 2));
}

enum { OPEN = 5, SHUT = 6 }; /* gates */

static void start_holding(void)
{
	start_keeping();
	fake_gate_open(OPEN);
	struct build build;
	build_hold(&build, OPEN);
	build_require(&build, BUFFER, ACCESS_MODE_READ_WRITE);
	build.group.shape = KEPT_HOLDS;
	build.group.shape_generation = KEPT_GENERATION;
	(void)build_submit(&build, true);
	cr_assert(eq(u32, groups_wait(true), 0));
}

/* The last of its groups waits for a gate, by its value. Returns the number of the first. */
static uint64_t send_held_pair(uint32_t value, uint32_t gate, bool has_event, bool last_has_event)
{
	struct kept_record first = kept_record_of(KEPT_WRITES, value),
			   last = kept_record_of(KEPT_HOLDS, gate);
	first.head.flags = has_event ? RESUBMIT_HAS_EVENT : 0;
	last.head.flags = last_has_event ? RESUBMIT_HAS_EVENT : 0;
	send_kept_record(&first, true);
	send_kept_record(&last, false);
	return first.head.group;
}

/* The program may wait for that group alone. The one behind it was always short, and does not end
 * now. */
Test(groups, B18_H9_a_group_whose_event_the_program_has_is_the_last_of_a_kept_stretch)
{
	start_holding();
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < ROUNDS; i++) {
			(void)send_held_pair(2 * i, OPEN, round > 0, i % 2);
			expect_words(BUFFER, 2 * i, 40 + access_number++);
		}
		fake_gate_close(SHUT);
		const uint64_t awaited = send_held_pair(6, SHUT, true, true);
		cr_assert(eq(u32, raw_wait_slot(client, ORDERED_SLOT, (uint32_t)awaited), 0));
		fake_gate_open(SHUT);
		cr_assert(eq(u32, groups_wait(true), 0));
	}
	groups_stop();
}

/* It is in flight, or the session has ended first. */
Test(groups, what_a_kept_stretch_names_is_released_while_it_runs)
{
	for (uint32_t ends = 0; ends < 2; ends++) {
		start_holding();
		access_number = 0;
		for (uint32_t i = 0; i < ROUNDS; i++) {
			(void)send_held_pair(2 * i, OPEN, false, false);
			expect_words(BUFFER, 2 * i, 40 + access_number++);
		}
		fake_gate_close(SHUT);
		(void)send_held_pair(6, SHUT, false, false);
		if (ends) {
			close_fd(&client->socket);
			fake_gate_open(SHUT);
			const Sycl__V1__Usage usage = groups_gone();
			cr_expect(eq(u64, usage.buffer_bytes, 0));
			continue;
		}
		(void)raw_release(client, raw_id(OBJECT_BUFFER, BUFFER));
		(void)raw_release(client, raw_id(OBJECT_BUFFER, OTHER));
		(void)raw_release(client, raw_id(OBJECT_KERNEL, FIRST_KERNEL + EVEN));
		(void)raw_release(client, raw_id(OBJECT_KERNEL, FIRST_KERNEL + HOLD));
		(void)raw_release(client, raw_id(OBJECT_BUNDLE, BUNDLE));
		raw_round_trip(client);
		fake_gate_open(SHUT);
		cr_assert(eq(u32, groups_wait(true), 0));
		groups_stop();
		cr_expect(gt(u64, groups_kept_launches(), 0));
	}
}
