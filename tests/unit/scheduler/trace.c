/*
 * The records of a trace on commands that return from a device: their session, when they could be
 * sent, and how long they took. A trace has no other records, keeps a limited number, and ends. The
 * time is the fake device's.
 */
#include "scheduler/harness.h"

#include "fair_queue/fair_queue.h"
#include "access_mode.h"
#include "status.h"
#include "base/trace_ring.h"
#include "scheduler/dispatch/trace.h"
#include "scheduler/state/scheduler.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

enum { US = 1000, MS = 1000 * US, ROOM = 64, ITEMS = 32768, FIRST = 11, SECOND = 12 };

static struct harness h;
static struct sched_account *first, *second;
static struct probe probes[ROOM];
static struct trace_record records[ROOM];

static void setup_trace(bool estimates)
{
	struct scheduler_config config = {
		.processors = 2, .clock_ns = fake_clock_now_ns, .slice_ns = 500 * US};
	fake_clock(1000 * MS, 1);
	for (uint32_t device = 0; device < 2; device++)
		fake_device_options(device, (struct fake_device_options){.preferred_lanes = 1,
									 .estimates = estimates});
	harness_start_with(&h, 2, &config);
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &first)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &second)));
	cr_assert(zero(int, sched_account_rank(second, FAIR_QUEUE_BEST_EFFORT, 7)));
	for (uint32_t device = 0; device < 2; device++) {
		(void)harness_kernel(&h, device, "take");
		(void)harness_kernel(&h, device, "take_and_fail");
	}
	cr_assert(harness_settle(&h));
}

TestSuite(trace_ring, .timeout = 10);
TestSuite(sched_trace, .timeout = 60);

static void finish_trace(void)
{
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	first = sched_account_drop(first);
	second = sched_account_drop(second);
	const char *left = harness_stop(&h);
	fake_clock(0, 0);
	cr_assert(left == NULL, "%s", left);
}

static void submit_to(uint32_t device, struct sched_account *account, const char *kernel,
		      uint32_t us, struct probe *probe)
{
	struct launch launch = {.device = device,
				.kernel = kernel,
				.has_value = true,
				.value = us * US,
				.items = us,
				.home_lane = 1,
				.session = account == first ? FIRST : SECOND};
	h.account = account;
	(void)harness_launch(&h, &launch, probe);
	h.account = NULL;
}

static void submit_take(struct sched_account *account, uint32_t us, struct probe *probe)
{
	submit_to(0, account, "take", us, probe);
	cr_assert(harness_settle(&h));
}

/* Runs turns until that many are in flight on a device. */
static void turn_until_sent(uint32_t count)
{
	for (uint32_t sent = 0; sent < count;) {
		harness_turn(&h);
		char *text = scheduler_dump(h.scheduler);
		sent = 0;
		for (const char *at = text; (at = strstr(at, "; sent")); at++)
			sent++;
		free(text);
	}
}

static uint32_t take_trace(uint32_t most, struct scheduler_trace *facts_out)
{
	return scheduler_trace_take(h.scheduler, records, most, facts_out);
}

static void begin_trace_with(uint32_t room, enum trace_times times)
{
	const struct scheduler_trace_terms terms = {
		.backend = BACKEND_KIND_FAKE, .index = 0, .room = room, .times = times};
	cr_assert(zero(int, scheduler_trace_begin(h.scheduler, &terms)));
}

static void begin_trace(uint32_t room)
{
	begin_trace_with(room, TRACE_TIMES_USUAL);
}

/* --------------------------------- where they are kept ---------------------------------- */

static void trace_test_note(struct trace_ring *ring, uint64_t session)
{
	trace_ring_note(ring, &(struct trace_entry){.record.session = session});
}

static uint32_t take_some(struct trace_ring *ring, uint32_t most)
{
	uint32_t count = 0;
	for (; count < most && trace_ring_first(ring); count++) {
		records[count] = trace_ring_first(ring)->record;
		trace_ring_remove_first(ring);
	}
	return count;
}

Test(trace_ring, what_is_full_keeps_what_it_has_and_counts_the_rest)
{
	struct trace_ring ring;
	cr_assert(zero(int, trace_ring_init(&ring, 4)));
	for (uint64_t i = 1; i <= 7; i++)
		trace_test_note(&ring, i);
	cr_expect(eq(u64, ring.noted, 7));
	cr_assert(eq(u32, take_some(&ring, ROOM), 4));
	for (uint32_t i = 0; i < 4; i++)
		cr_expect(eq(u64, records[i].session, i + 1));
	cr_expect(eq(u32, take_some(&ring, ROOM), 0));
	trace_test_note(&ring, 8);
	cr_assert(eq(u32, take_some(&ring, ROOM), 1));
	cr_expect(eq(u64, records[0].session, 8));
	cr_expect(eq(u64, ring.noted, 8));
	trace_ring_fini(&ring);
	cr_expect(eq(ptr, ring.records, NULL));
	trace_ring_fini(&ring);
}

Test(trace_ring, they_come_out_in_order_wherever_they_lie)
{
	struct trace_ring ring;
	uint64_t in = 0, out = 0;
	cr_assert(zero(int, trace_ring_init(&ring, 5)));
	for (uint32_t round = 0; round < 100; round++) {
		for (uint32_t i = 0; i < 1 + round % 5; i++)
			if (ring.count < ring.room)
				trace_test_note(&ring, ++in);
		uint32_t count = take_some(&ring, 1 + round % 3);
		for (uint32_t i = 0; i < count; i++)
			cr_assert(eq(u64, records[i].session, ++out));
	}
	cr_expect(eq(u64, out + ring.count, in));
	cr_expect(gt(u64, out, 100));
	trace_ring_fini(&ring);
}

/* ------------------------------------- the records -------------------------------------- */

Test(sched_trace, a_group_is_noted_with_whose_it_was_when_it_came_and_what_it_took)
{
	struct scheduler_trace facts;
	setup_trace(false);
	submit_take(first, 10, &probes[0]); /* there was no trace yet */
	begin_trace(ROOM);
	uint64_t before_ns = fake_clock_now_ns();
	submit_take(first, 50, &probes[0]);
	submit_take(second, 70, &probes[1]);
	submit_take(first, 50, &probes[2]);
	cr_assert(eq(u32, take_trace(ROOM, &facts), 3));
	cr_expect(eq(u64, facts.noted, 3));
	cr_expect(eq(u32, facts.left, 0));
	static const uint64_t sessions[] = {FIRST, SECOND, FIRST}, us[] = {50, 70, 50};
	for (uint32_t i = 0; i < 3; i++) {
		const struct trace_record *record = &records[i];
		cr_expect(eq(u64, record->session, sessions[i]));
		cr_expect(eq(u32, record->weight, sessions[i] == FIRST ? FAIR_QUEUE_WEIGHT : 7));
		cr_expect(eq(int, record->session_class,
			     sessions[i] == FIRST ? FAIR_QUEUE_NORMAL : FAIR_QUEUE_BEST_EFFORT));
		cr_expect(eq(int, record->known, TRACE_MEASURED));
		cr_expect(ge(u64, record->at_ns, i ? records[i - 1].end_ns : before_ns),
			  "not before it could be sent");
		cr_expect(ge(u64, record->start_ns, record->at_ns));
		cr_expect(eq(u64, record->end_ns - record->start_ns, record->takes_ns));
		cr_expect(ge(u64, record->takes_ns, us[i] * US));
		cr_expect(lt(u64, record->takes_ns, us[i] * US + US));
	}
	cr_expect(ne(u64, records[0].shape, 0));
	cr_expect(eq(u64, records[0].shape, records[2].shape));
	cr_expect(ne(u64, records[0].shape, records[1].shape));
	finish_trace();
}

Test(sched_trace, only_what_took_that_devices_time_for_somebody_is_noted)
{
	struct scheduler_trace facts;
	setup_trace(false);
	begin_trace(ROOM);
	submit_to(1, first, "take", 30, &probes[0]);
	submit_to(0, NULL, "take", 30, &probes[1]);
	h.account = first;
	struct task_request nothing = {
		.device = h.devices[0], .action = TASK_BARRIER, .account = first};
	(void)harness_submit(&h, &nothing, &probes[3]);
	h.account = NULL;
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, take_trace(ROOM, &facts), 0));
	cr_expect(eq(u64, facts.noted, 0));
	submit_take(first, 30, &probes[4]);
	cr_expect(eq(u32, take_trace(ROOM, &facts), 1));
	finish_trace();
}

Test(sched_trace, what_failed_there_took_its_time_too)
{
	struct scheduler_trace facts;
	setup_trace(false);
	begin_trace(ROOM);
	submit_to(0, first, "take_and_fail", 30, &probes[0]);
	cr_assert(harness_settle(&h));
	cr_assert(eq(i32, probes[0].fault.status, STATUS_KERNEL));
	cr_assert(eq(u32, take_trace(ROOM, &facts), 1));
	cr_expect(ge(u64, records[0].takes_ns, 30 * US));
	cr_expect(eq(u32, records[0].flags, TRACE_FLAG_FAILED));
	finish_trace();
}

static struct launch launch_after(struct task **after, uint32_t count)
{
	return (struct launch){.kernel = "take",
			       .has_value = true,
			       .value = 30 * US,
			       .items = 30,
			       .after = after,
			       .after_count = count,
			       .home_lane = 1,
			       .session = FIRST,
			       .group = 40 + count};
}

/* Numbers of the predecessors, whether they were over before the group was sent or not. */
Test(sched_trace, a_group_names_what_it_had_to_wait_for)
{
	struct scheduler_trace facts;
	struct task *tasks[5];
	setup_trace(false);
	begin_trace(ROOM);
	fake_device_gate_close(0);
	h.account = first;
	for (uint32_t i = 0; i < 5; i++) {
		struct launch launch = launch_after(tasks, i);
		tasks[i] = harness_launch(&h, &launch, &probes[i]);
	}
	h.account = NULL;
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	cr_assert(eq(u32, take_trace(ROOM, &facts), 5));
	for (uint32_t i = 0; i < 5; i++) {
		cr_expect(eq(u32, records[i].after_count, i));
		cr_expect(eq(u64, records[i].group, 40 + i));
		cr_expect(eq(u32, records[i].launches, 1));
		cr_expect(eq(u32, records[i].flags, 0));
		cr_expect(ge(u64, records[i].sent_ns, records[i].at_ns));
		cr_expect(gt(u64, records[i].task, i ? records[i - 1].task : 0));
		for (uint32_t k = 0; k < TRACE_AFTER_MOST; k++) {
			bool is_one = false;
			for (uint32_t before = 0; before < i; before++)
				is_one |= records[i].after[k] == records[before].task;
			cr_expect(eq(int, is_one || (k >= i && records[i].after[k] == 0), 1),
				  "record %u, %u", i, k);
		}
	}
	finish_trace();
}

Test(sched_trace, moves_are_noted_and_a_group_waits_for_them)
{
	struct scheduler_trace facts;
	struct words words;
	setup_trace(false);
	(void)harness_kernel(&h, 0, "increment_u32");
	harness_words(&h, &words, 16, true, 1);
	struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	struct launch launch = {.kernel = "increment_u32",
				.uses = &use,
				.use_count = 1,
				.home_lane = 1,
				.session = FIRST};
	begin_trace(ROOM);
	h.account = first;
	(void)harness_launch(&h, &launch, &probes[0]);
	h.account = NULL;
	cr_assert(harness_settle(&h));
	cr_assert(eq(u32, take_trace(ROOM, &facts), 2));
	cr_expect(eq(u32, records[0].flags, TRACE_FLAG_MOVE));
	cr_expect(eq(u64, records[0].session, FIRST));
	cr_expect(eq(u32, records[1].flags, 0));
	cr_expect(eq(u64, records[1].after[0], records[0].task));
	harness_words_free(&h, &words);
	finish_trace();
}

/* The device reports how long some of them took, and its backend estimates the others. */
Test(sched_trace, what_was_not_timed_is_taken_for_what_its_like_took)
{
	struct scheduler_trace facts;
	uint32_t ways[TRACE_KNOWN_WAYS] = {0};
	setup_trace(true);
	for (uint32_t i = 0; i < 8;
	     i++) { /* there are two, so the fair queue decides, and has some timed */
		submit_take(first, 40, &probes[0]);
		submit_take(second, 90, &probes[1]);
	}
	begin_trace(ROOM);
	for (uint32_t i = 0; i < 8; i++) {
		submit_take(first, 40, &probes[0]);
		submit_take(second, 90, &probes[1]);
	}
	submit_take(first, 77, &probes[0]); /* a new shape: the first few are timed */
	cr_assert(eq(u32, take_trace(ROOM, &facts), 17));
	for (uint32_t i = 0; i < 17; i++) {
		ways[records[i].known]++;
		cr_expect(gt(u64, records[i].takes_ns, 0));
		if (records[i].known == TRACE_ESTIMATED)
			cr_expect(lt(u64, records[i].takes_ns,
				     (records[i].session == FIRST ? 41 : 91) * US));
	}
	cr_expect(gt(u32, ways[TRACE_ESTIMATED], 8));
	cr_expect(gt(u32, ways[TRACE_MEASURED], 0));
	finish_trace();
}

Test(sched_trace, with_exact_times_the_device_times_every_command)
{
	struct scheduler_trace facts;
	setup_trace(true);
	for (uint32_t i = 0; i < 16; i++)
		submit_take(first, 40, &probes[0]); /* more are not sampled */
	begin_trace_with(ROOM, TRACE_TIMES_EVENTS);
	for (uint32_t i = 0; i < 8; i++)
		submit_take(first, 40, &probes[0]);
	submit_to(1, first, "take", 40, &probes[1]);
	cr_assert(harness_settle(&h));
	cr_assert(eq(u32, take_trace(ROOM, &facts), 8));
	for (uint32_t i = 0; i < 8; i++)
		cr_expect(eq(int, records[i].known, TRACE_MEASURED));
	/* A stopped trace costs nothing more. */
	scheduler_trace_stop(h.scheduler);
	struct fake_log_entry entry;
	cr_assert(zero(int, fake_log_start(1)));
	submit_take(first, 40, &probes[0]);
	cr_assert(eq(u32, fake_log_read(&entry, 1), 1));
	cr_expect(not(entry.timed));
	finish_trace();
}

static void expect_refined(uint64_t start, uint64_t end, uint64_t start_then, uint64_t end_then)
{
	struct trace_record record = {.start_ns = 10000 * US,
				      .end_ns = 10100 * US,
				      .takes_ns = 100 * US,
				      .known = TRACE_MEASURED};
	bool is_known = sched_trace_refine(&record, start, end);
	cr_expect(eq(int, is_known, start_then != 0), "%llu to %llu", (unsigned long long)start,
		  (unsigned long long)end);
	cr_expect(eq(int, record.known, is_known ? TRACE_PROFILED : TRACE_MEASURED));
	cr_expect(eq(u64, record.start_ns, is_known ? start_then : 10000 * US));
	cr_expect(eq(u64, record.end_ns, is_known ? end_then : 10100 * US));
	cr_expect(eq(u64, record.takes_ns, record.end_ns - record.start_ns));
}

Test(sched_trace, a_kernels_own_times_lie_within_its_command)
{
	expect_refined(10010 * US, 10090 * US, 10010 * US, 10090 * US);
	expect_refined(10000 * US, 10100 * US, 10000 * US, 10100 * US);
	/* The clocks differ by a little. */
	expect_refined(9990 * US, 10040 * US, 10000 * US, 10050 * US);
	expect_refined(10080 * US, 10120 * US, 10060 * US, 10100 * US);
	/* The times are of something else. */
	expect_refined(10000 * US, 10100 * US + 1, 0, 0);
	expect_refined(8990 * US, 8999 * US, 0, 0);
	expect_refined(11090 * US, 11100 * US + 1, 0, 0);
	expect_refined(10, 20, 0, 0);
	expect_refined(UINT64_MAX - 10, UINT64_MAX - 5, 0, 0);
}

Test(sched_trace, a_launch_in_parts_is_one_group_and_takes_what_its_parts_took)
{
	struct scheduler_trace facts;
	struct scheduler_counters counters;
	struct launch launch = {.kernel = "take",
				.has_value = true,
				.value = 4 * MS,
				.items = ITEMS,
				.home_lane = 1,
				.session = SECOND,
				.shares_home = true,
				.splittable = true};
	setup_trace(true);
	submit_take(first, 10, &probes[1]);
	h.account = second;
	(void)harness_launch(&h, &launch, &probes[0]);
	cr_assert(harness_settle(&h));
	h.account = NULL;
	submit_take(first, 10, &probes[1]);
	begin_trace(ROOM);
	h.account = second;
	(void)harness_launch(&h, &launch, &probes[0]);
	h.account = NULL;
	cr_assert(harness_settle(&h));
	scheduler_counters(h.scheduler, &counters);
	cr_assert(gt(u64, counters.split_parts, 1), "it was not split");
	cr_assert(eq(u32, take_trace(ROOM, &facts), 1));
	cr_expect(ge(u64, records[0].takes_ns, 4 * MS));
	cr_expect(lt(u64, records[0].takes_ns, 5 * MS));
	cr_expect(ge(u64, records[0].end_ns - records[0].start_ns, records[0].takes_ns));
	finish_trace();
}

/* --------------------------------------- its end ---------------------------------------- */

Test(sched_trace, what_finds_no_room_is_counted)
{
	struct scheduler_trace facts;
	setup_trace(false);
	begin_trace(4);
	for (uint32_t i = 0; i < 6; i++)
		submit_take(first, 10 + i, &probes[i]);
	cr_expect(eq(u32, take_trace(3, &facts), 3));
	cr_expect(eq(u64, facts.noted, 6));
	cr_expect(eq(u32, facts.left, 1));
	cr_expect(eq(u32, take_trace(ROOM, &facts), 1));
	cr_expect(eq(u32, facts.left, 0));
	finish_trace();
}

Test(sched_trace, once_it_is_stopped_nothing_is_noted_and_what_goes_on_is_counted)
{
	struct scheduler_trace facts;
	setup_trace(false);
	fake_device_gate_close(0);
	submit_to(0, first, "take", 30, &probes[0]);
	turn_until_sent(1);
	fake_clock(fake_clock_now_ns() + MS, 1);
	begin_trace(ROOM);
	harness_turn(&h);
	submit_to(0, first, "take", 30, &probes[1]);
	submit_to(0, second, "take", 30, &probes[2]);
	turn_until_sent(3);
	cr_expect(eq(u32, take_trace(ROOM, &facts), 0));
	cr_expect(eq(u64, facts.open, 0), "it goes on");
	scheduler_trace_stop(h.scheduler);
	cr_expect(eq(u32, take_trace(ROOM, &facts), 0));
	cr_expect(eq(u64, facts.open, 2), "the first could be sent before it began");
	fake_device_gate_open(0);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, take_trace(ROOM, &facts), 0));
	cr_expect(eq(u64, facts.noted, 0));
	finish_trace();
}

Test(sched_trace, it_ends_and_another_begins_with_nothing)
{
	struct scheduler_trace facts;
	setup_trace(false);
	scheduler_trace_end(h.scheduler);
	begin_trace(ROOM);
	submit_take(first, 30, &probes[0]);
	begin_trace(ROOM);
	cr_expect(eq(u32, take_trace(ROOM, &facts), 0));
	submit_take(first, 30, &probes[0]);
	cr_expect(eq(u32, take_trace(ROOM, &facts), 1));
	scheduler_trace_end(h.scheduler);
	submit_take(first, 30, &probes[0]);
	cr_expect(eq(u32, take_trace(ROOM, &facts), 0));
	cr_expect(eq(u64, facts.noted, 0));
	begin_trace(ROOM); /* a trace that exists when the scheduler ends is freed with it */
	finish_trace();
}

static struct backend_ops profiling_ops;
static bool has_profile_ended, has_ended_in_time;

static void end_profile(void)
{
	has_profile_ended = true;
}

static void close_profiled(struct backend *backend)
{
	has_ended_in_time = has_profile_ended;
	backend_fake_ops.close(backend);
}

/* An engine may end while a trace is taken. */
Test(sched_trace, a_library_for_tools_ends_before_its_backend)
{
	setup_trace(false);
	profiling_ops = backend_fake_ops;
	profiling_ops.profile_end = end_profile;
	profiling_ops.close = close_profiled;
	begin_trace_with(ROOM, TRACE_TIMES_EVENTS);
	h.scheduler->trace->profiler = &profiling_ops;
	for (uint32_t i = 0; i < h.scheduler->backend_count; i++)
		if (h.scheduler->backends[i].ops == &backend_fake_ops)
			h.scheduler->backends[i].ops = &profiling_ops;
	finish_trace();
	cr_expect(has_ended_in_time);
}
