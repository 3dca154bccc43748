/* Launches that the front thread itself sends, to a device whose thread is idle. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "clock.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define TRIES 200u

static struct harness h;

static void inline_open_devices(uint32_t features, const struct scheduler_config *config)
{
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = features,
								    .preferred_lanes = 1});
	harness_start_with(&h, 3, config);
}

static void inline_setup_inline(void)
{
	inline_open_devices(BACKEND_FEATURE_INLINE | BACKEND_FEATURE_LOADER,
			    &(struct scheduler_config){.processors = 2});
}

TestSuite(inline_launch, .timeout = 20, .init = inline_setup_inline);
TestSuite(inline_device, .timeout = 20);

static void inline_run_launch(const struct launch *launch)
{
	struct probe probe;
	(void)harness_launch(&h, launch, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(i32, probe.fault.status, 0), "%s", probe.fault.text);
	cr_expect(eq(u32, probe.calls, 1));
}

/* Launches until the front thread has sent one. The device's thread may not be idle yet when the
 * next one comes, but sooner or later it is. */
static bool run_until_inline(const struct launch *launch)
{
	uint64_t before = harness_counters(&h).inline_launches,
		 deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (harness_counters(&h).inline_launches == before && clock_now_ns() < deadline)
		inline_run_launch(launch);
	return harness_counters(&h).inline_launches > before;
}

/* Sends a launch inline. It is neither reported nor polled yet. */
static bool send_inline(const struct launch *launch, struct probe *probe)
{
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	do {
		uint64_t before = harness_counters(&h).inline_launches;
		(void)harness_launch(&h, launch, probe);
		scheduler_flush(h.scheduler);
		if (harness_counters(&h).inline_launches > before)
			return true;
		fake_gate_open(HARNESS_GATE);
		cr_assert(harness_wait(&h, probe));
		fake_gate_close(HARNESS_GATE);
	} while (clock_now_ns() < deadline);
	return false;
}

static const struct launch hold = {
	.kernel = "hold", .has_value = true, .value = HARNESS_GATE, .items = 1};

Test(inline_launch, what_came_back_before_is_sent_and_completed_by_the_front)
{
	struct words x;
	harness_words(&h, &x, 64, true, 0);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	struct launch launch = {.kernel = "increment_u32", .uses = &use, .use_count = 1};
	inline_run_launch(&launch);
	cr_expect(eq(u64, harness_counters(&h).inline_launches, 0));
	cr_expect(run_until_inline(&launch));
	struct fake_counters fake;
	fake_counters(0, &fake);
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (harness_counters(&h).inline_completions == 0 && clock_now_ns() < deadline)
		cr_assert(run_until_inline(&launch));
	cr_expect(gt(u64, harness_counters(&h).inline_completions, 0));
	fake_counters(0, &fake);
	struct probe probe;
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &probe);
	cr_assert(harness_wait(&h, &probe));
	for (uint32_t i = 0; i < 64; i++)
		cr_expect(eq(u32, x.host[i], (uint32_t)fake.launches + i));
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

/* Drivers compile, load and allocate at the first use. */
Test(inline_launch, F11_nothing_is_sent_so_for_the_first_time)
{
	for (uint32_t i = 1; i <= TRIES; i++)
		inline_run_launch(&(struct launch){.kernel = "noop", .items = i});
	for (uint64_t i = 1; i <= TRIES; i++)
		inline_run_launch(
			&(struct launch){.kernel = "noop", .global = (uint64_t[3]){1, i, 2}});
	cr_expect(eq(u64, harness_counters(&h).inline_launches, 0));
	/* The range is the same, and the memory is new each time. */
	for (uint32_t i = 0; i < TRIES; i++) {
		struct words x;
		harness_words(&h, &x, 4, true, 0);
		struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
		inline_run_launch(
			&(struct launch){.kernel = "linear_id_u32", .uses = &use, .use_count = 1});
		harness_words_free(&h, &x);
	}
	cr_expect(eq(u64, harness_counters(&h).inline_launches, 0));
	harness_expect_stopped(&h);
}

/* A product of matrices is launched with several sizes in turn, repeatedly. */
Test(inline_launch, TR3_what_is_launched_with_a_few_ranges_in_turn_is_sent_by_the_front)
{
	const struct launch one = {.kernel = "noop", .items = 1},
			    two = {.kernel = "noop", .items = 2},
			    three = {.kernel = "noop", .items = 3};
	uint64_t before = 0, deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	unsigned in_turn = 0;
	while (in_turn < 3 && clock_now_ns() < deadline) {
		inline_run_launch(&one);
		inline_run_launch(&two);
		before = harness_counters(&h).inline_launches;
		inline_run_launch(&three);
		in_turn += harness_counters(&h).inline_launches > before;
	}
	cr_expect(eq(u32, in_turn, 3));
	harness_expect_stopped(&h);
}

/* Drivers keep only a limited amount of what they have compiled and loaded. */
Test(inline_launch, F11_nothing_is_sent_so_that_the_driver_may_have_put_away)
{
	const struct launch noop = {.kernel = "noop"};
	struct words x;
	harness_words(&h, &x, 4, true, 0);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	const struct launch old = {.kernel = "increment_u32", .uses = &use, .use_count = 1};
	uint64_t items = 0;
	for (uint32_t i = 0; i < 20; i++) {
		inline_run_launch(&old);
		for (uint32_t k = 0; k < 33; k++)
			inline_run_launch(&(struct launch){.kernel = "noop", .items = ++items});
	}
	cr_expect(eq(u64, harness_counters(&h).inline_launches, 0));
	/* Fewer other launches, and launches that are old themselves, do not matter. */
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (harness_counters(&h).inline_launches == 0 && clock_now_ns() < deadline) {
		for (uint32_t k = 0; k < 8; k++)
			inline_run_launch(&(struct launch){.kernel = "noop", .items = ++items});
		inline_run_launch(&old);
	}
	cr_expect(gt(u64, harness_counters(&h).inline_launches, 0));
	for (uint32_t i = 0; i < 40; i++)
		inline_run_launch(&noop);
	uint64_t before = harness_counters(&h).inline_launches;
	while (harness_counters(&h).inline_launches == before && clock_now_ns() < deadline)
		inline_run_launch(&old);
	cr_expect(gt(u64, harness_counters(&h).inline_launches, before));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

enum { FEW = 5, MANY = 20, REQUEST = 28, FULL = 60, IN_FLIGHT_MOST = 32 };

static void launch_at_once(uint32_t count, struct probe *probes)
{
	const struct launch noop = {.kernel = "noop"};
	for (uint32_t i = 0; i < count; i++)
		(void)harness_launch(&h, &noop, &probes[i]);
	scheduler_flush(h.scheduler);
}

static void wait_for_all(uint32_t count, struct probe *probes)
{
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(harness_wait(&h, &probes[i]));
		cr_expect(eq(u32, probes[i].calls, 1));
	}
}

Test(inline_launch, many_at_a_time_are_the_threads)
{
	struct probe probes[MANY];
	inline_run_launch(&(struct launch){.kernel = "noop"});
	for (uint32_t i = 0; i < TRIES; i++) {
		launch_at_once(MANY, probes);
		wait_for_all(MANY, probes);
	}
	cr_expect(eq(u64, harness_counters(&h).inline_launches, 0));
	harness_expect_stopped(&h);
}

/* A launch that the front thread has sent runs, and blocks its lane. */
static void begin_with_a_held_one(struct probe *held)
{
	fake_gate_open(HARNESS_GATE);
	inline_run_launch(&hold);
	inline_run_launch(&(struct launch){.kernel = "noop"});
	fake_gate_close(HARNESS_GATE);
	cr_assert(send_inline(&hold, held));
}

static void end_with_a_held_one(struct probe *held, uint32_t count, struct probe *probes)
{
	cr_expect(not(held->done));
	fake_gate_open(HARNESS_GATE);
	/* Whichever thread took the completions, none is lost between the two. */
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, held->calls, 1));
	for (uint32_t i = 0; i < count; i++)
		cr_expect(eq(u32, probes[i].calls, 1));
}

/* The device's thread may still own the device when a launch comes. Then that thread sends it and
 * those behind it. */
static bool the_next_are_sent_by_the_front(void)
{
	struct probe held, probes[MANY];
	begin_with_a_held_one(&held);
	uint64_t before = harness_counters(&h).inline_launches;
	for (uint32_t i = 0; i < MANY; i++)
		launch_at_once(1, &probes[i]);
	uint64_t sent = harness_counters(&h).inline_launches - before;
	end_with_a_held_one(&held, MANY, probes);
	return sent == MANY;
}

static void expect_the_next_by_the_front(void)
{
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	bool are_sent = false;
	while (!are_sent && clock_now_ns() < deadline)
		are_sent = the_next_are_sent_by_the_front();
	cr_expect(are_sent);
	harness_expect_stopped(&h);
}

/* While a launch of the front thread runs, `count` more come at a time, and another one. The
 * device's thread sends all but `most` at most. */
static void expect_many_by_the_thread(uint32_t count, uint32_t most)
{
	struct probe held, probes[FULL + 1];
	begin_with_a_held_one(&held);
	uint64_t before = harness_counters(&h).inline_launches;
	launch_at_once(count, probes);
	launch_at_once(1, &probes[count]);
	cr_expect(le(u64, harness_counters(&h).inline_launches - before, most));
	h.polls = false; /* the front thread would poll anyway; now the device's thread takes all of
			    them */
	end_with_a_held_one(&held, count + 1, probes);
	harness_expect_stopped(&h);
}

/* A driver may have no room for more, and wait for the held launch. */
static void expect_no_more_than_drivers_queue(void)
{
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS), most = 0;
	while (most < IN_FLIGHT_MOST - 1 && clock_now_ns() < deadline) {
		struct probe held, probes[FULL];
		begin_with_a_held_one(&held);
		uint64_t before = harness_counters(&h).inline_launches;
		for (uint32_t i = 0; i < FULL; i++)
			launch_at_once(1, &probes[i]);
		most = harness_counters(&h).inline_launches - before;
		cr_assert(le(u64, most, IN_FLIGHT_MOST - 1));
		end_with_a_held_one(&held, FULL, probes);
	}
	cr_expect(eq(u64, most, IN_FLIGHT_MOST - 1));
	harness_expect_stopped(&h);
}

/* It may wake once for both. Then only its thread polls for the end of the first one. */
Test(inline_launch, B18_a_device_that_wakes_gets_two_by_its_thread)
{
	struct probe probes[2], held, next;
	inline_run_launch(&(struct launch){.kernel = "noop"});
	for (uint32_t i = 0; i < TRIES; i++) {
		launch_at_once(2, probes);
		wait_for_all(2, probes);
	}
	cr_expect(eq(u64, harness_counters(&h).inline_launches, 0));
	begin_with_a_held_one(&held);
	uint64_t before = harness_counters(&h).inline_launches;
	launch_at_once(1, &next);
	cr_expect(eq(u64, harness_counters(&h).inline_launches, before));
	end_with_a_held_one(&held, 1, &next);
	harness_expect_stopped(&h);
}

Test(inline_launch, a_device_that_works_gets_many_by_its_thread)
{
	expect_many_by_the_thread(MANY, 0);
}

/* Small copies of a kind that succeeded here before; not large ones. */
static void inline_read_words(struct words *words, uint32_t flags)
{
	struct probe probe;
	struct task *access = harness_host(&h, words, flags, &probe);
	cr_assert(harness_wait(&h, &probe));
	host_access_release(access);
}

static uint64_t sent_inline_in_rounds(struct words *words)
{
	struct use use = {.words = words, .mode = ACCESS_MODE_READ_WRITE};
	const struct launch launch = {.kernel = "increment_u32", .uses = &use, .use_count = 1};
	inline_run_launch(&launch);
	inline_read_words(words, ACCESS_MODE_READ);
	uint64_t launches = 0, before = harness_counters(&h).inline_launches;
	for (uint32_t i = 0; i < TRIES; i++) {
		uint64_t at = harness_counters(&h).inline_launches;
		inline_run_launch(&launch);
		launches += harness_counters(&h).inline_launches - at;
		inline_read_words(words, ACCESS_MODE_READ);
	}
	return harness_counters(&h).inline_launches - before - launches;
}

/* On a busy machine the device's thread may not be idle in all rounds of a try. */
Test(inline_launch, TR4_small_reads_are_sent_by_the_front)
{
	struct words x;
	harness_words(&h, &x, 64, true, 0);
	const uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS / 8);
	uint64_t sent = 0;
	while (sent == 0 && clock_now_ns() < deadline)
		sent = sent_inline_in_rounds(&x);
	cr_expect(gt(u64, sent, 0));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(inline_launch, large_reads_are_the_threads)
{
	struct words x;
	harness_words(&h, &x, 65536, true, 0);
	cr_expect(eq(u64, sent_inline_in_rounds(&x), 0));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

static uint64_t fills_sent_inline(uint32_t pattern_bytes)
{
	static const uint8_t pattern[128] = {1, 2, 3};
	struct words x;
	harness_words(&h, &x, 128, true, 0);
	struct task_requirement requirement = {
		.buffer = x.buffer, .mode = ACCESS_MODE_WRITE, .size_bytes = 512};
	struct task_request request = {
		.device = h.devices[0],
		.requirements = &requirement,
		.requirement_count = 1,
		.action = TASK_FILL,
		.fill = {.size_bytes = 512, .pattern = pattern, .pattern_bytes = pattern_bytes}};
	uint64_t before = harness_counters(&h).inline_launches;
	for (uint32_t i = 0; i < TRIES; i++) {
		struct probe probe;
		(void)harness_submit(&h, &request, &probe);
		cr_assert(harness_wait(&h, &probe));
		cr_expect(eq(i32, probe.fault.status, 0), "%s", probe.fault.text);
	}
	harness_words_free(&h, &x);
	return harness_counters(&h).inline_launches - before;
}

/* CUDA's driver needs a call for each byte of a pattern. */
Test(inline_launch, F8_fills_with_long_patterns_are_the_threads)
{
	/* The device's thread may not become idle between two of them. */
	const uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS / 8);
	uint64_t sent = 0;
	while (sent == 0 && clock_now_ns() < deadline)
		sent = fills_sent_inline(4);
	cr_expect(gt(u64, sent, 0));
	cr_expect(eq(u64, fills_sent_inline(128), 0));
	harness_expect_stopped(&h);
}

Test(inline_launch, F11_nothing_is_sent_so_while_something_loads)
{
	const struct launch noop = {.kernel = "noop"};
	inline_run_launch(&noop);
	cr_assert(run_until_inline(&noop));
	fake_load_gate_close(1);
	(void)harness_kernel(&h, 1, "noop");
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_loading(1, 1, HARNESS_TIMEOUT_NS));
	uint64_t before = harness_counters(&h).inline_launches;
	for (uint32_t i = 0; i < TRIES; i++)
		inline_run_launch(&noop);
	cr_expect(eq(u64, harness_counters(&h).inline_launches, before));
	fake_load_gate_open(1);
	cr_assert(harness_settle(&h));
	cr_expect(run_until_inline(&noop));
	harness_expect_stopped(&h);
}

Test(inline_launch, what_needs_more_than_a_launch_is_the_threads)
{
	const struct backend_launch_properties plain = {.cooperative = false};
	const struct launch noop = {.kernel = "noop"};
	inline_run_launch(&noop);
	for (uint32_t i = 0; i < TRIES; i++) {
		inline_run_launch(&(struct launch){.kernel = "noop", .timed = true});
		inline_run_launch(&(struct launch){.kernel = "noop", .properties = &plain});
	}
	cr_expect(eq(u64, harness_counters(&h).inline_launches, 0));
	harness_expect_stopped(&h);
}

Test(inline_launch, one_that_is_refused_is_told)
{
	const struct launch noop = {.kernel = "noop"};
	struct probe probe;
	inline_run_launch(&noop);
	uint64_t before = harness_counters(&h).inline_launches;
	/* Repeats until the device's thread was idle when a launch came. */
	for (uint32_t i = 0; harness_counters(&h).inline_launches == before && i < 50; i++) {
		cr_assert(eq(int,
			     fake_fail(FAKE_SUBMIT, 0, 0, TRIES, STATUS_KERNEL_ARGUMENT, false,
				       "not this one"),
			     0));
		for (uint32_t k = 0; k < TRIES; k++) {
			(void)harness_launch(&h, &noop, &probe);
			cr_assert(harness_wait(&h, &probe));
			cr_assert(eq(i32, probe.fault.status, STATUS_KERNEL_ARGUMENT));
			/* The device's thread has dropped the failure, and nothing is in flight. */
			cr_assert(harness_settle(&h));
		}
	}
	cr_expect(gt(u64, harness_counters(&h).inline_launches, before));
	inline_run_launch(&noop);
	harness_expect_stopped(&h);
}

Test(inline_launch, a_device_that_is_lost_then_is_lost)
{
	const struct launch noop = {.kernel = "noop"};
	struct probe probe;
	inline_run_launch(&noop);
	cr_assert(run_until_inline(&noop));
	cr_assert(eq(int, fake_fail(FAKE_SUBMIT, 0, 0, 1, STATUS_DEVICE_LOST, true, "gone"), 0));
	for (uint32_t i = 0; i < 20; i++) {
		(void)harness_launch(&h, &noop, &probe);
		cr_assert(harness_wait(&h, &probe));
		cr_expect(eq(i32, probe.fault.status, STATUS_DEVICE_LOST));
		cr_expect(eq(u32, probe.calls, 1));
	}
	inline_run_launch(&(struct launch){.device = 1, .kernel = "noop"});
	harness_expect_stopped(&h);
}

Test(inline_launch, a_device_that_is_lost_later_is_lost)
{
	struct probe probe;
	fake_gate_open(HARNESS_GATE);
	inline_run_launch(&hold);
	fake_gate_close(HARNESS_GATE);
	cr_assert(send_inline(&hold, &probe));
	cr_assert(
		eq(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_DEVICE_LOST, true, "gone"), 0));
	fake_gate_open(HARNESS_GATE);
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(i32, probe.fault.status, STATUS_DEVICE_LOST));
	cr_expect(eq(u32, probe.calls, 1));
	harness_expect_stopped(&h);
}

/* Another session's command runs beside one that the front thread has sent, however long that
 * takes. */
Test(inline_device, TC8_one_that_runs_long_holds_up_no_other_session)
{
	const struct launch noop = {.kernel = "noop", .home_lane = 2};
	struct launch first = hold;
	struct probe held;
	first.home_lane = 1;
	fake_device_options(0, (struct fake_device_options){.features = BACKEND_FEATURE_INLINE,
							    .preferred_lanes = 2});
	harness_start_with(&h, 1, &(struct scheduler_config){.processors = 2});
	struct sched_account *long_one, *other;
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &long_one)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &other)));
	fake_gate_open(HARNESS_GATE);
	inline_run_launch(&first);
	inline_run_launch(&noop);
	fake_gate_close(HARNESS_GATE);
	h.account = long_one;
	cr_assert(send_inline(&first, &held));
	h.account = other;
	for (uint32_t i = 0; i < TRIES; i++)
		inline_run_launch(&noop);
	h.account = NULL;
	cr_expect(not(held.done));
	/* Its session ends meanwhile. */
	long_one = sched_account_drop(long_one);
	fake_gate_open(HARNESS_GATE);
	cr_assert(harness_wait(&h, &held));
	other = sched_account_drop(other);
	harness_expect_stopped(&h);
}

Test(inline_device, one_that_must_be_asked_is_asked_by_its_thread)
{
	const struct launch noop = {.kernel = "noop"};
	inline_open_devices(FAKE_FEATURES_ALL, &(struct scheduler_config){.processors = 2});
	inline_run_launch(&noop);
	for (uint32_t i = 0; i < 50; i++)
		cr_assert(run_until_inline(&noop));
	cr_expect(eq(u64, harness_counters(&h).inline_completions, 0));
	harness_expect_stopped(&h);
}

/* If there are processors for it, the device's thread sleeps all the time. */
Test(inline_device, one_that_must_be_asked_is_asked_by_a_front_that_looks_anyway)
{
	const struct launch noop = {.kernel = "noop"};
	inline_open_devices(FAKE_FEATURES_ALL,
			    &(struct scheduler_config){.processors = 4, .front_polls = true});
	inline_run_launch(&noop);
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (harness_counters(&h).inline_completions < 50 && clock_now_ns() < deadline)
		inline_run_launch(&noop);
	cr_expect(ge(u64, harness_counters(&h).inline_completions, 50));
	harness_expect_stopped(&h);
}

/* The front thread stops polling after a while. */
Test(inline_device, one_that_must_be_asked_is_asked_by_its_thread_once_the_front_sleeps)
{
	struct probe probe;
	inline_open_devices(FAKE_FEATURES_ALL,
			    &(struct scheduler_config){.processors = 4, .front_polls = true});
	fake_gate_open(HARNESS_GATE);
	inline_run_launch(&hold);
	fake_gate_close(HARNESS_GATE);
	for (int i = 0; i < 20; i++) {
		cr_assert(send_inline(&hold, &probe));
		scheduler_awake(h.scheduler);
		(void)scheduler_progress(h.scheduler);
		while (!scheduler_sleep(h.scheduler))
			(void)scheduler_progress(h.scheduler);
		uint64_t before = harness_counters(&h).inline_completions;
		h.polls = false;
		fake_gate_open(HARNESS_GATE);
		cr_assert(harness_wait(&h, &probe));
		fake_gate_close(HARNESS_GATE);
		h.polls = true;
		cr_expect(eq(u64, harness_counters(&h).inline_completions, before));
	}
	fake_gate_open(HARNESS_GATE);
	harness_expect_stopped(&h);
}

static void open_polled(void)
{
	inline_open_devices(FAKE_FEATURES_ALL,
			    &(struct scheduler_config){.processors = 4, .front_polls = true});
}

Test(inline_device, TR3_a_few_at_a_time_are_sent_by_the_front)
{
	struct probe probes[FEW];
	open_polled();
	inline_run_launch(&(struct launch){.kernel = "noop"});
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (harness_counters(&h).inline_launches == 0 && clock_now_ns() < deadline) {
		launch_at_once(FEW, probes);
		wait_for_all(FEW, probes);
	}
	cr_expect(eq(u64, harness_counters(&h).inline_launches, FEW));
	harness_expect_stopped(&h);
}

Test(inline_device, TR1_one_that_the_front_polls_gets_the_next_one_by_it)
{
	open_polled();
	expect_the_next_by_the_front();
}

Test(inline_device, F8_one_that_the_front_polls_gets_no_more_than_drivers_queue)
{
	open_polled();
	expect_no_more_than_drivers_queue();
}

Test(inline_device, one_that_the_front_polls_gets_many_by_its_thread)
{
	open_polled();
	expect_many_by_the_thread(FULL, IN_FLIGHT_MOST - 1);
}

/* A request of many small kernels, after a rest in which the device's thread fell asleep. */
Test(inline_device, TR3_more_than_one_flush_sends_wake_no_thread)
{
	struct probe probes[REQUEST];
	struct scheduler_counters before, after = {.inline_launches = 0};
	open_polled();
	inline_run_launch(&(struct launch){.kernel = "noop"});
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	bool are_sent = false;
	while (!are_sent && clock_now_ns() < deadline) {
		before = harness_counters(&h);
		launch_at_once(REQUEST, probes);
		after = harness_counters(&h);
		wait_for_all(REQUEST, probes);
		are_sent = after.inline_launches - before.inline_launches == REQUEST;
	}
	cr_expect(are_sent);
	cr_expect(eq(u64, after.device_wakes, before.device_wakes));
	harness_expect_stopped(&h);
}

/* With a processor for each thread, the device's thread sends while the front thread reads. */
Test(inline_device, TR5_beside_other_clients_the_thread_gets_the_next_one)
{
	struct probe held, next;
	open_polled();
	scheduler_set_clients(h.scheduler, 2);
	begin_with_a_held_one(&held);
	uint64_t before = harness_counters(&h).inline_launches;
	launch_at_once(1, &next);
	cr_expect(eq(u64, harness_counters(&h).inline_launches, before));
	end_with_a_held_one(&held, 1, &next);
	harness_expect_stopped(&h);
}

Test(inline_device, TR5_beside_other_clients_the_front_sends_the_next_one_if_it_is_to)
{
	inline_open_devices(FAKE_FEATURES_ALL, &(struct scheduler_config){.processors = 4,
									  .front_polls = true,
									  .always_inline = true});
	scheduler_set_clients(h.scheduler, 2);
	expect_the_next_by_the_front();
}

Test(inline_device, F11_one_that_is_asked_by_the_front_loads_beside)
{
	const struct launch noop = {.kernel = "noop"};
	inline_open_devices(FAKE_FEATURES_ALL | BACKEND_FEATURE_QUIET_LOAD,
			    &(struct scheduler_config){.processors = 4, .front_polls = true});
	inline_run_launch(&noop);
	for (int i = 0; i < 8; i++) {
		static const char *const names[] = {"increment_u32", "linear_id_u32"};
		cr_assert(run_until_inline(&noop));
		(void)harness_kernel(&h, 1 + (uint32_t)i / 2 % 2, names[i % 2]);
		cr_assert(harness_settle(&h));
	}
	harness_expect_stopped(&h);
}

static void inline_expect_none(void)
{
	const struct launch noop = {.kernel = "noop"};
	for (uint32_t i = 0; i < TRIES; i++)
		inline_run_launch(&noop);
	cr_expect(eq(u64, harness_counters(&h).inline_launches, 0));
	cr_expect(eq(u64, harness_counters(&h).inline_completions, 0));
	harness_expect_stopped(&h);
}

Test(inline_device, one_that_does_not_allow_it_is_left_alone)
{
	inline_open_devices(FAKE_FEATURES_ALL & ~(uint32_t)BACKEND_FEATURE_INLINE,
			    &(struct scheduler_config){.processors = 2});
	inline_expect_none();
}

Test(inline_device, it_can_be_switched_off)
{
	inline_open_devices(BACKEND_FEATURE_INLINE,
			    &(struct scheduler_config){.processors = 2, .never_inline = true});
	inline_expect_none();
}
