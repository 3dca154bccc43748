/* The number of commands that one session may have on a device beside others, and the order of
 * turns (TC8). No test measures time. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

/* As in internal.h, which tests do not include. */
enum { WINDOW = 16, LANE_LEAST = 2, LANE_DEPTH = 96, LANES = 4, MANY = 2000 };

/* Gates: of the flood, of its first command, of the quiet session. */
enum { GATE_FLOOD = 1, GATE_FIRST = 2, GATE_QUIET = 3 };

static struct harness h;
static struct sched_account *flood, *quiet, *third;
static struct probe probes[MANY], held, asked;

static void setup_flow_with(uint32_t lanes, const struct scheduler_config *config)
{
	fake_device_options(0, (struct fake_device_options){.preferred_lanes = lanes,
							    .features = BACKEND_FEATURE_INLINE});
	harness_start_with(&h, 1, config);
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &flood)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &quiet)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &third)));
	/* It is made before it is used, so its launches need no turn of the front thread. */
	(void)harness_kernel(&h, 0, "hold");
	cr_assert(harness_settle(&h));
}

static void setup_flow(void)
{
	setup_flow_with(LANES,
			&(struct scheduler_config){.processors = 2, .never_fair_queue = true});
}

static void flow_setup_one_lane(void)
{
	setup_flow_with(1, &(struct scheduler_config){.processors = 2, .never_fair_queue = true});
}

TestSuite(flow_off, .timeout = 30);
TestSuite(flow, .timeout = 30, .init = setup_flow);
TestSuite(flow_one_lane, .timeout = 30, .init = flow_setup_one_lane);

static void open_gates(void)
{
	fake_gate_open(GATE_FLOOD);
	fake_gate_open(GATE_FIRST);
	fake_gate_open(GATE_QUIET);
}

static void finish_flow(void)
{
	open_gates();
	cr_assert(harness_settle(&h));
	flood = sched_account_drop(flood);
	quiet = sched_account_drop(quiet);
	third = sched_account_drop(third);
	harness_expect_stopped(&h);
}

/* Submits a command of that session that ends when the gate is opened. `home_lane` 0: any. */
static void flow_submit_gated(struct sched_account *session, uint32_t gate, uint32_t home_lane,
			      struct probe *probe)
{
	struct launch launch = {.device = 0,
				.kernel = "hold",
				.has_value = true,
				.value = gate,
				.items = 1,
				.home_lane = home_lane};
	h.account = session;
	(void)harness_launch(&h, &launch, probe);
	h.account = NULL;
}

static void submit_flood(uint32_t count, uint32_t home_lane)
{
	for (uint32_t i = 0; i < count; i++)
		flow_submit_gated(flood, GATE_FLOOD, home_lane, &probes[i]);
}

static uint32_t count_done(uint32_t count)
{
	uint32_t done = 0;
	for (uint32_t i = 0; i < count; i++)
		done += probes[i].done;
	return done;
}

static void expect_all_good(uint32_t count)
{
	open_gates();
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(eq(u32, probes[i].calls, 1), "command %u", i);
		cr_assert(zero(i32, probes[i].fault.status), "command %u: %s", i,
			  probes[i].fault.text);
	}
}

Test(flow, a_session_that_is_alone_fills_its_lanes)
{
	submit_flood(MANY, 0);
	cr_expect(eq(u32, harness_count_sent(&h), LANES * LANE_DEPTH));
	expect_all_good(MANY);
	finish_flow();
}

/* Commands in one lane delay no other lane here, and many cost little more than one. So a window
 * would have no benefit. */
Test(flow_one_lane, a_device_whose_lanes_go_side_by_side_has_no_windows)
{
	harness_expect_stopped(&h);
	fake_device_options(0,
			    (struct fake_device_options){.features = BACKEND_FEATURE_SIDE_BY_SIDE,
							 .preferred_lanes = 2});
	harness_start_with(&h, 1, &(struct scheduler_config){.never_fair_queue = true});
	(void)harness_kernel(&h, 0, "hold");
	cr_assert(harness_settle(&h));
	flow_submit_gated(quiet, GATE_QUIET, 2, &held);
	submit_flood(MANY, 1);
	cr_expect(eq(u32, harness_count_sent(&h), 1 + LANE_DEPTH));
	expect_all_good(MANY);
	finish_flow();
}

Test(flow, TC8_beside_another_session_a_flood_has_a_window_on_the_device)
{
	flow_submit_gated(quiet, GATE_QUIET, 4, &held);
	for (uint32_t i = 0; i < MANY; i++)
		flow_submit_gated(flood, GATE_FLOOD, 1 + i % 2, &probes[i]);
	cr_expect(ge(u32, harness_count_sent(&h), 1 + WINDOW));
	cr_expect(le(u32, harness_count_sent(&h), 1 + WINDOW + 2 * LANE_LEAST));

	/* The next one is sent at once, and is reported before those of the flood. */
	uint32_t before = harness_count_sent(&h);
	flow_submit_gated(quiet, GATE_QUIET, 4, &asked);
	cr_expect(eq(u32, harness_count_sent(&h), before + 1));
	fake_gate_open(GATE_QUIET);
	cr_assert(harness_wait(&h, &asked));
	cr_expect(zero(u32, count_done(MANY)));
	expect_all_good(MANY);
	finish_flow();
}

Test(flow, TC8_a_flood_that_goes_to_any_lane_has_the_window_too)
{
	flow_submit_gated(quiet, GATE_QUIET, 0, &held);
	submit_flood(MANY, 0);
	cr_expect(ge(u32, harness_count_sent(&h), 1 + WINDOW));
	cr_expect(le(u32, harness_count_sent(&h), 1 + WINDOW + LANES * LANE_LEAST));
	expect_all_good(MANY);
	finish_flow();
}

/* A launch that the front thread has sent counts as one of the session's commands on the device. */
Test(flow, TC8_what_the_front_has_sent_itself_is_part_of_the_window)
{
	struct scheduler_counters counters;
	fake_gate_open(GATE_FIRST);
	do {
		flow_submit_gated(flood, GATE_FIRST, 1, &held);
		cr_assert(harness_wait(&h, &held));
		scheduler_counters(h.scheduler, &counters);
	} while (counters.inline_launches == 0);
	fake_gate_close(GATE_FIRST);
	uint64_t before = counters.inline_launches;
	do {
		fake_gate_open(GATE_FIRST);
		cr_assert(harness_settle(&h));
		fake_gate_close(GATE_FIRST);
		flow_submit_gated(flood, GATE_FIRST, 1, &held);
		scheduler_flush(h.scheduler);
		scheduler_counters(h.scheduler, &counters);
	} while (counters.inline_launches == before);
	flow_submit_gated(quiet, GATE_QUIET, 4, &asked);
	for (uint32_t i = 0; i < MANY; i++)
		flow_submit_gated(flood, GATE_FLOOD, 2, &probes[i]);
	cr_expect(eq(u32, harness_count_sent(&h), 1 + WINDOW));
	expect_all_good(MANY);
	finish_flow();
}

Test(flow_off, a_window_can_be_switched_off)
{
	setup_flow_with(LANES, &(struct scheduler_config){.processors = 2,
							  .never_window = true,
							  .never_fair_queue = true});
	flow_submit_gated(quiet, GATE_QUIET, 4, &held);
	submit_flood(MANY, 1);
	cr_expect(eq(u32, harness_count_sent(&h), 1 + LANE_DEPTH));
	expect_all_good(MANY);
	finish_flow();
}

Test(flow_one_lane, TC8_a_quiet_sessions_command_has_no_more_than_a_window_before_it_in_its_lane)
{
	flow_submit_gated(quiet, GATE_QUIET, 1, &held);
	submit_flood(MANY, 1);
	cr_expect(eq(u32, harness_count_sent(&h), 1 + WINDOW));
	fake_gate_open(GATE_FLOOD);
	flow_submit_gated(quiet, GATE_QUIET, 1, &asked);
	fake_gate_open(GATE_QUIET);
	cr_assert(harness_wait(&h, &asked));
	/* The commands before it, and those that returned in the same turn or followed
	 * meanwhile. */
	for (uint32_t i = WINDOW; i < MANY; i++)
		if (probes[i].done)
			cr_assert(gt(u64, probes[i].order, asked.order),
				  "command %u was reported first", i);
	expect_all_good(MANY);
	finish_flow();
}

Test(flow_one_lane, TC8_room_in_a_full_lane_is_the_quiet_sessions_first)
{
	flow_submit_gated(flood, GATE_FIRST, 1, &held);
	submit_flood(MANY, 1);
	cr_expect(eq(u32, harness_count_sent(&h), LANE_DEPTH));
	/* Far more commands of the flood waited before it. */
	flow_submit_gated(quiet, GATE_QUIET, 1, &asked);
	cr_expect(eq(u32, harness_count_sent(&h), LANE_DEPTH));
	fake_gate_open(GATE_FIRST);
	cr_assert(harness_wait(&h, &held));
	cr_expect(eq(u32, harness_count_sent(&h), LANE_DEPTH));
	cr_expect(not(asked.done));
	open_gates();
	cr_assert(harness_wait(&h, &asked));
	for (uint32_t i = LANE_DEPTH; i < MANY; i++)
		if (probes[i].done)
			cr_assert(gt(u64, probes[i].order, asked.order),
				  "command %u was reported first", i);
	expect_all_good(MANY);
	finish_flow();
}

Test(flow_one_lane, TC8_sessions_that_wait_for_room_get_it_in_turn)
{
	static struct probe others[2][4];
	submit_flood(MANY, 1);
	for (uint32_t i = 0; i < 4; i++)
		flow_submit_gated(quiet, GATE_FLOOD, 1, &others[0][i]);
	for (uint32_t i = 0; i < 4; i++)
		flow_submit_gated(third, GATE_FLOOD, 1, &others[1][i]);
	fake_gate_open(GATE_FLOOD);
	cr_assert(harness_settle(&h));
	/* The sessions take turns, though all commands of the one came before those of the
	 * other. */
	for (uint32_t i = 0; i + 1 < 4; i++) {
		cr_expect(gt(u64, others[1][i].order, others[0][i].order), "%u", i);
		cr_expect(gt(u64, others[0][i + 1].order, others[1][i].order), "%u", i);
	}
	for (uint32_t i = LANE_DEPTH + WINDOW; i < MANY; i++)
		cr_assert(gt(u64, probes[i].order, others[1][3].order),
			  "command %u was reported first", i);
	expect_all_good(MANY);
	finish_flow();
}

/* A user with a flood from many sessions has as many turns, and takes none from another user. */
Test(flow_one_lane, TC8_hundreds_of_sessions_that_wait_get_room_in_turn)
{
	enum { SESSIONS = 300, EACH = 6 };
	static struct sched_account *sessions[SESSIONS];
	static struct probe crowd[SESSIONS][EACH], quiets[EACH];
	flow_submit_gated(third, GATE_FIRST, 1, &held);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		cr_assert(zero(int, sched_account_create(UINT64_MAX, &sessions[i])));
		for (uint32_t k = 0; k < EACH; k++)
			flow_submit_gated(sessions[i], GATE_FLOOD, 1, &crowd[i][k]);
	}
	for (uint32_t k = 0; k < EACH; k++)
		flow_submit_gated(quiet, GATE_QUIET, 1, &quiets[k]);
	cr_expect(eq(u32, harness_count_sent(&h), LANE_DEPTH));
	open_gates();
	cr_assert(harness_settle(&h));
	/* First the commands that were sent before any had to wait, and then one of each session in
	 * turn. */
	for (uint32_t k = 0; k < EACH; k++) {
		uint32_t before = 0;
		for (uint32_t i = 0; i < SESSIONS; i++)
			for (uint32_t m = 0; m < EACH; m++)
				before += crowd[i][m].order < quiets[k].order;
		cr_expect(le(u32, before, LANE_DEPTH + (k + 1) * SESSIONS),
			  "command %u of the quiet session had %u before it", k, before);
	}
	for (uint32_t i = 0; i < SESSIONS; i++) {
		for (uint32_t k = 0; k < EACH; k++)
			cr_assert(eq(u32, crowd[i][k].calls, 1));
		sessions[i] = sched_account_drop(sessions[i]);
	}
	finish_flow();
}

Test(flow, F8_a_lane_that_stands_still_does_not_keep_a_session_from_its_others)
{
	flow_submit_gated(quiet, GATE_QUIET, 4, &held);
	submit_flood(2 * WINDOW, 1);
	cr_expect(eq(u32, harness_count_sent(&h), 1 + WINDOW));
	/* None of its commands ends. Beyond the window it still continues in another lane. */
	flow_submit_gated(flood, GATE_FIRST, 2, &asked);
	cr_expect(eq(u32, harness_count_sent(&h), 2 + WINDOW));
	fake_gate_open(GATE_FIRST);
	cr_assert(harness_wait(&h, &asked));
	cr_expect(zero(u32, count_done(2 * WINDOW)));
	expect_all_good(2 * WINDOW);
	finish_flow();
}

Test(flow, F1_an_in_order_chain_runs_in_order_through_a_window)
{
	struct words x;
	(void)harness_kernel(&h, 0, "increment_u32");
	cr_assert(harness_settle(&h));
	harness_words(&h, &x, 1, true, 1);
	flow_submit_gated(quiet, GATE_QUIET, 4, &held);
	h.account = flood;
	for (uint32_t i = 0; i < MANY; i++) {
		struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
		struct launch launch = {.device = 0,
					.kernel = "increment_u32",
					.uses = &use,
					.use_count = 1,
					.home_lane = 1};
		(void)harness_launch(&h, &launch, &probes[i]);
	}
	h.account = NULL;
	cr_expect(le(u32, harness_count_sent(&h), 1 + WINDOW + 1));
	cr_assert(harness_wait(&h, &probes[MANY - 1]));
	for (uint32_t i = 1; i < MANY; i++)
		cr_assert(gt(u64, probes[i].order, probes[i - 1].order));
	fake_gate_open(GATE_QUIET);
	harness_words_free(&h, &x);
	expect_all_good(MANY);
	finish_flow();
}

Test(flow, what_waits_for_its_turn_is_told_when_the_device_is_lost)
{
	flow_submit_gated(quiet, GATE_QUIET, 0, &held);
	submit_flood(MANY, 0);
	flow_submit_gated(third, GATE_FLOOD, 1, &asked);
	cr_assert(zero(int, fake_fail(FAKE_SUBMIT, 0, 0, 1, STATUS_DEVICE_LOST, true, "gone")));
	flow_submit_gated(quiet, GATE_QUIET, 0, &asked);
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < MANY; i++) {
		cr_assert(eq(u32, probes[i].calls, 1), "command %u", i);
		cr_assert(eq(i32, probes[i].fault.status, STATUS_DEVICE_LOST), "command %u", i);
	}
	finish_flow();
}
