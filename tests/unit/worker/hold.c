/*
 * Lanes whose driver's queue is full (worker/task/hold.h). Their commands wait on the device's
 * thread, with their successors, and other lanes continue (F8). No test measures time.
 */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"
#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"

#include "access_mode.h"
#include "base/mailbox.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

enum { ROOM = 4, MANY = 60, WORDS = 16, GATE = 1 };

static struct harness h;
static struct sched_account *session, *other;
static struct probe probes[MANY], held, asked;

static void begin_hold(uint64_t memory_bytes, const struct scheduler_config *config)
{
	fake_device_options(0, (struct fake_device_options){.preferred_lanes = 4,
							    .lane_room = ROOM,
							    .memory_bytes = memory_bytes,
							    .features = BACKEND_FEATURE_INLINE});
	harness_start_with(&h, 1, config);
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &session)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &other)));
	(void)harness_kernel(&h, 0, "hold");
	(void)harness_kernel(&h, 0, "increment_u32");
	(void)harness_kernel(&h, 0, "lose_device");
	cr_assert(harness_settle(&h));
}

static void setup_hold(void)
{
	begin_hold(0, &(struct scheduler_config){.processors = 2, .never_fair_queue = true});
}

/* The clock stands still, so a slow machine ends no wait. */
static uint64_t stopped_clock(void)
{
	return 1000000000000;
}

/* The device has room for one buffer. */
static void setup_hold_spill(void)
{
	begin_hold(WORDS * sizeof(uint32_t), &(struct scheduler_config){.processors = 2,
									.never_fair_queue = true,
									.spills = true,
									.spill_least_bytes = 1,
									.clock_ns = stopped_clock});
}

TestSuite(hold, .timeout = 60, .init = setup_hold);
TestSuite(hold_spill, .timeout = 60, .init = setup_hold_spill);

static void finish_hold(void)
{
	fake_gate_open(GATE);
	cr_assert(harness_settle(&h));
	session = sched_account_drop(session);
	other = sched_account_drop(other);
	harness_expect_stopped(&h);
}

static void hold_submit_gated(struct sched_account *account, uint32_t home_lane,
			      struct probe *probe)
{
	struct launch launch = {.device = 0,
				.kernel = "hold",
				.has_value = true,
				.value = GATE,
				.items = 1,
				.home_lane = home_lane};
	h.account = account;
	(void)harness_launch(&h, &launch, probe);
	h.account = NULL;
}

static void hold_submit_increment(struct words *words, uint32_t home_lane, struct probe *probe)
{
	const struct use use = {.words = words, .mode = ACCESS_MODE_READ_WRITE};
	struct launch launch = {.device = 0,
				.kernel = "increment_u32",
				.uses = &use,
				.use_count = 1,
				.home_lane = home_lane};
	h.account = other;
	(void)harness_launch(&h, &launch, probe);
	h.account = NULL;
}

static void expect_good(const struct probe *probe)
{
	cr_assert(eq(u32, probe->calls, 1));
	cr_assert(zero(i32, probe->fault.status), "%s", probe->fault.text);
}

Test(hold, F8_a_full_lane_holds_back_its_own_commands_alone)
{
	struct words words;
	harness_words(&h, &words, WORDS, true, 0);
	for (uint32_t i = 0; i < MANY; i++)
		hold_submit_gated(session, 1, &probes[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	/* Another session's commands are sent and end meanwhile. */
	for (uint32_t i = 0; i < 3 * ROOM; i++) {
		asked = (struct probe){.done = false};
		hold_submit_increment(&words, 2, &asked);
		cr_assert(harness_wait(&h, &asked));
		expect_good(&asked);
	}
	for (uint32_t i = 0; i < MANY; i++)
		cr_assert(not(probes[i].done));
	cr_assert(zero(u64, fake_counters_of(0).lane_overruns));
	fake_gate_open(GATE);
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < MANY; i++)
		expect_good(&probes[i]);
	cr_assert(zero(u64, fake_counters_of(0).lane_overruns));
	harness_words_free(&h, &words);
	finish_hold();
}

/* Each is the successor of the one before, on another lane; the first ones are held. */
Test(hold, what_comes_behind_a_command_that_is_held_waits_with_it)
{
	struct words words;
	harness_words(&h, &words, WORDS, true, 100);
	hold_submit_increment(&words, 2, &held); /* the contents are there, on an idle lane */
	cr_assert(harness_wait(&h, &held));
	for (uint32_t i = 0; i < MANY; i++)
		hold_submit_gated(session, 1, &probes[i]);
	struct probe chain[MANY];
	memset(chain, 0, sizeof(chain));
	for (uint32_t i = 0; i < MANY; i++)
		hold_submit_increment(&words, 1 + i % 3, &chain[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	fake_gate_open(GATE);
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < MANY; i++) {
		expect_good(&chain[i]);
		cr_assert(i == 0 || chain[i].order > chain[i - 1].order);
	}
	struct task *access = harness_host(&h, &words, ACCESS_MODE_READ, &asked);
	harness_expect_success(&h, &asked);
	for (uint32_t i = 0; i < WORDS; i++)
		cr_assert(eq(u32, words.host[i], 100 + i + MANY + 1));
	host_access_release(access);
	cr_assert(zero(u64, fake_counters_of(0).lane_overruns));
	harness_words_free(&h, &words);
	finish_hold();
}

/* More than a mailbox has room for. */
static void fail_often(void)
{
	const struct launch fails = {.device = 0, .kernel = "fail", .items = 1, .home_lane = 2};
	for (uint32_t i = 0; i < SCHED_MAILBOX_SLOTS + MANY; i++) {
		asked = (struct probe){.done = false};
		(void)harness_launch(&h, &fails, &asked);
		cr_assert(harness_wait(&h, &asked), "%u", i);
		cr_assert(eq(i32, asked.fault.status, STATUS_KERNEL));
	}
}

/* Each failure is stored on the device's thread until a message reports that the front thread has
 * it. */
Test(hold, F8_failures_are_forgotten_while_commands_are_held)
{
	(void)harness_kernel(&h, 0, "fail");
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < MANY; i++)
		hold_submit_gated(session, 1, &probes[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	fail_often();
	cr_assert(not(probes[0].done));
	finish_hold();
}

Test(hold_spill, TG15_F8_failures_are_forgotten_while_a_command_waits_for_memory)
{
	struct words one, two;
	struct probe user;
	harness_words(&h, &one, WORDS, true, 0);
	harness_words(&h, &two, WORDS, true, 0);
	(void)harness_kernel(&h, 0, "fail");
	cr_assert(harness_settle(&h));
	hold_submit_gated(session, 1, &probes[0]);
	hold_submit_increment(&one, 1, &user); /* its memory is in use */
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	hold_submit_increment(&two, 3, &held);
	scheduler_flush(h.scheduler);
	fail_often();
	cr_assert(not(held.done));
	fake_gate_open(GATE);
	cr_assert(harness_wait(&h, &held));
	expect_good(&held);
	cr_assert(harness_settle(&h));
	harness_words_free(&h, &one);
	harness_words_free(&h, &two);
	finish_hold();
}

Test(hold_spill, TG15_F8_a_full_lane_holds_back_its_own_commands_alone_where_memory_is_spilled)
{
	for (uint32_t i = 0; i < MANY; i++)
		hold_submit_gated(session, 1, &probes[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	struct words words;
	harness_words(&h, &words, WORDS, true, 0);
	hold_submit_increment(&words, 2, &asked);
	cr_assert(harness_wait(&h, &asked));
	expect_good(&asked);
	cr_assert(not(probes[0].done));
	cr_assert(zero(u64, fake_counters_of(0).lane_overruns));
	fake_gate_open(GATE);
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < MANY; i++)
		expect_good(&probes[i]);
	cr_assert(zero(u64, fake_counters_of(0).lane_overruns));
	harness_words_free(&h, &words);
	finish_hold();
}

/* However many commands one client has there, only the first of its lane is tried when those of
 * others complete. */
Test(hold, F8_what_is_held_in_one_lane_costs_others_no_more_than_its_first_command)
{
	enum { ROUNDS = 12 };
	struct words words;
	harness_words(&h, &words, WORDS, true, 0);
	hold_submit_increment(&words, 2, &asked); /* the contents are there */
	cr_assert(harness_wait(&h, &asked));
	for (uint32_t i = 0; i < MANY; i++)
		hold_submit_gated(session, 1, &probes[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		asked = (struct probe){.done = false};
		hold_submit_increment(&words, 2, &asked);
		cr_assert(harness_wait(&h, &asked));
	}
	const struct worker_hold *hold = &h.scheduler->devices[0]->worker.hold;
	cr_assert(gt(u32, hold->count, 2 * ROOM));
	cr_expect(ge(u64, hold->tries, 1u));
	cr_expect(le(u64, hold->tries, 2 * (ROUNDS + ROOM)), "%lu tries",
		  (unsigned long)hold->tries);
	harness_words_free(&h, &words);
	finish_hold();
}

/* Its predecessor fails meanwhile. The failure is stored when it is tried again. */
Test(hold, a_command_that_is_held_fails_with_what_it_needs)
{
	struct words words;
	harness_words(&h, &words, WORDS, true, 0);
	const struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	const struct launch fails = {
		.device = 0, .kernel = "fail", .uses = &use, .use_count = 1, .home_lane = 2};
	(void)harness_kernel(&h, 0, "fail");
	hold_submit_increment(&words, 2, &asked);
	cr_assert(harness_wait(&h, &asked));
	for (uint32_t i = 0; i < MANY; i++)
		hold_submit_gated(session, 1, &probes[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	(void)harness_launch(&h, &fails, &asked);
	hold_submit_increment(&words, 1, &held);
	scheduler_flush(h.scheduler);
	cr_assert(harness_wait(&h, &asked));
	cr_assert(eq(i32, asked.fault.status, STATUS_KERNEL));
	fake_gate_open(GATE);
	cr_assert(harness_settle(&h));
	cr_assert(eq(u32, held.calls, 1));
	cr_assert(ne(i32, held.fault.status, STATUS_SUCCESS));
	for (uint32_t i = 0; i < MANY; i++)
		expect_good(&probes[i]);
	harness_words_free(&h, &words);
	finish_hold();
}

/* When it was refused, its waits had been sent already. So it is in flight until those have ended
 * (M9). */
Test(hold, M9_what_needs_a_command_that_is_refused_behind_its_waits_does_not_run)
{
	struct words words, apart;
	harness_words(&h, &words, WORDS, true, 7);
	harness_words(&h, &apart, WORDS, true, 7);
	const struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	const struct launch refused = {
		.device = 0, .kernel = "refuse", .uses = &use, .use_count = 1, .home_lane = 1};
	(void)harness_kernel(&h, 0, "refuse");
	cr_assert(zero(int, fake_log_start(64)));
	hold_submit_increment(&words, 2, &asked);
	cr_assert(harness_wait(&h, &asked));
	asked = (struct probe){.done = false};
	hold_submit_gated(session, 1, &probes[0]);
	(void)harness_launch(&h, &refused, &asked);
	hold_submit_increment(&words, 2, &held);
	/* When this one has ended, the device's thread has had all three. */
	hold_submit_increment(&apart, 3, &probes[1]);
	cr_assert(harness_wait(&h, &probes[1]));
	cr_assert(not(asked.done));
	fake_gate_open(GATE);
	cr_assert(harness_settle(&h));
	cr_assert(eq(i32, asked.fault.status, STATUS_KERNEL));
	cr_assert(eq(str, asked.fault.text, "the kernel failed"));
	cr_assert(eq(u32, held.calls, 1));
	cr_assert(ne(i32, held.fault.status, STATUS_SUCCESS));
	struct fake_log_entry log[64];
	uint32_t count = fake_log_read(log, 64), ran = 0;
	for (uint32_t i = 0; i < count; i++)
		ran += strcmp(log[i].what, "increment_u32") == 0;
	cr_assert(eq(u32, ran, 2), "the first one, and the one that needs nothing of them");
	expect_good(&probes[0]);
	expect_good(&probes[1]);
	harness_words_free(&h, &apart);
	harness_words_free(&h, &words);
	finish_hold();
}

Test(hold, N4_commands_of_a_session_that_ends_are_skipped_while_they_are_held)
{
	for (uint32_t i = 0; i < MANY; i++)
		hold_submit_gated(session, 1, &probes[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	const struct backend_fault ended = {.status = STATUS_CONNECTION_LOST, .text = "ended"};
	(void)scheduler_drop(h.scheduler, session, SCHEDULER_DROP_ALL, &ended);
	/* The last one was held, and is reported while the gate is closed. */
	cr_assert(harness_wait(&h, &probes[MANY - 1]));
	cr_assert(not(probes[0].done));
	cr_assert(eq(i32, probes[MANY - 1].fault.status, STATUS_CONNECTION_LOST));
	finish_hold();
}

Test(hold, M10_commands_that_are_held_fail_when_the_device_is_lost)
{
	const struct launch loses = {
		.device = 0, .kernel = "lose_device", .items = 1, .home_lane = 2};
	for (uint32_t i = 0; i < MANY; i++)
		hold_submit_gated(session, 1, &probes[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	(void)harness_launch(&h, &loses, &asked);
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < MANY; i++) {
		cr_assert(eq(u32, probes[i].calls, 1));
		cr_assert(eq(i32, probes[i].fault.status, STATUS_DEVICE_LOST));
	}
	finish_hold();
}
