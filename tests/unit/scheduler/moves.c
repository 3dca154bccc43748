/*
 * Small moves of registered memory go to the lanes of kernels. They come behind the kernel that
 * writes their source, while it runs, and before the one that reads their target. Others go to
 * separate lanes and wait for kernels on the front thread.
 */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "clock.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { LANES = 4, LIMIT_WORDS = 256, LOG = 64 };

static struct harness h;
static struct sched_host *everything;
static uint32_t released;

/* All memory of this process is registered. */
static void setup_moves(void)
{
	fake_device_options(0, (struct fake_device_options){
				       .preferred_lanes = LANES,
				       .lane_copy_bytes = LIMIT_WORDS * sizeof(uint32_t),
				       .features = BACKEND_FEATURE_COPY_LANES |
						   BACKEND_FEATURE_HOST_REGISTER |
						   BACKEND_FEATURE_LOADER,
			       });
	harness_start_with(&h, 1, &(struct scheduler_config){.processors = 2});
	cr_assert(zero(int, scheduler_host_register(h.scheduler, NULL, UINT64_MAX, &everything)));
	cr_assert(harness_settle(&h));
	(void)harness_kernel(&h, 0, "hold");
	(void)harness_kernel(&h, 0, "increment_u32");
	cr_assert(harness_settle(&h));
	cr_assert(zero(int, fake_log_start(LOG)));
}

TestSuite(small_moves, .timeout = 60, .init = setup_moves);

static void count_release(void *owner)
{
	(void)owner;
	released++;
}

static void forget_registration(void)
{
	scheduler_host_unregister(everything, count_release, NULL);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, released, 1));
}

static void finish_moves(void)
{
	if (released == 0)
		forget_registration();
	harness_expect_stopped(&h);
}

/* Runs turns until the device has that many commands, running or not. */
static bool has_sent(uint64_t count)
{
	const uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (fake_counters_of(0).calls[FAKE_SUBMIT] < count && clock_now_ns() < deadline)
		harness_turn(&h);
	return fake_counters_of(0).calls[FAKE_SUBMIT] == count;
}

/* Runs enough turns to send everything that the front thread may send. */
static uint64_t sent_after_turns(void)
{
	for (int i = 0; i < 100; i++)
		harness_turn(&h);
	return fake_counters_of(0).calls[FAKE_SUBMIT];
}

static struct task *moves_increment(struct words *words, uint32_t home_lane, struct probe *probe)
{
	struct use use = {.words = words, .mode = ACCESS_MODE_READ_WRITE};
	return harness_launch(&h,
			      &(struct launch){.kernel = "increment_u32",
					       .uses = &use,
					       .use_count = 1,
					       .home_lane = home_lane},
			      probe);
}

static struct fake_log_entry entry_of(enum backend_command_kind kind)
{
	static struct fake_log_entry entries[LOG];
	const uint32_t count = fake_log_read(entries, LOG);
	for (uint32_t i = 0; i < count; i++)
		if (entries[i].kind == kind)
			return entries[i];
	cr_assert(false, "no such command has ended");
	return entries[0];
}

/* A kernel that writes on the device and waits at the gate. */
static void hold_writer(struct words *words, struct probe *probe)
{
	struct use use = {.words = words, .mode = ACCESS_MODE_READ_WRITE};
	(void)harness_hold(&h, 0, HARNESS_GATE, &use, 1, probe);
}

Test(small_moves, D1_TR4_a_read_is_on_its_way_while_its_kernel_runs)
{
	struct words x;
	struct probe probe, held, granted;
	harness_words(&h, &x, LIMIT_WORDS, true, 5);
	(void)moves_increment(&x, 0, &probe);
	harness_expect_success(&h, &probe);
	const uint64_t before = fake_counters_of(0).calls[FAKE_SUBMIT];
	hold_writer(&x, &held);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &granted);
	cr_expect(has_sent(before + 2));
	cr_expect(not(granted.done));
	fake_gate_open(HARNESS_GATE);
	harness_expect_success(&h, &held);
	cr_assert(harness_wait(&h, &granted));
	cr_expect(eq(u32, x.host[7], 5 + 7 + 1));
	host_access_release(access);
	const struct fake_log_entry read = entry_of(BACKEND_COMMAND_READ);
	cr_expect(eq(int, (int)read.lane_kind, BACKEND_LANE_COMPUTE));
	cr_expect(zero(u64, fake_counters_of(0).lane_waits));
	harness_words_free(&h, &x);
	finish_moves();
}

Test(small_moves, TR4_a_write_goes_to_the_lane_of_its_launch)
{
	struct words x, y;
	struct probe probes[2];
	harness_words(&h, &x, LIMIT_WORDS, true, 1);
	harness_words(&h, &y, LIMIT_WORDS, true, 2);
	(void)moves_increment(&x, 3, &probes[0]);
	(void)moves_increment(&y, 0, &probes[1]); /* of a queue without a lane */
	harness_expect_success(&h, &probes[0]);
	harness_expect_success(&h, &probes[1]);
	const struct fake_log_entry write = entry_of(BACKEND_COMMAND_WRITE);
	cr_expect(eq(int, (int)write.lane_kind, BACKEND_LANE_COMPUTE));
	cr_expect(zero(u64, fake_counters_of(0).lane_waits));
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	finish_moves();
}

enum { HOME = 2, OTHER_GATE = 1, STEP_NS = 1000 };

static struct task *launch_at_home(const char *kernel, uint32_t gate, struct words *words,
				   struct probe *probe)
{
	struct use use = {.words = words, .mode = ACCESS_MODE_READ_WRITE, .unused = true};
	return harness_launch(&h,
			      &(struct launch){.kernel = kernel,
					       .uses = &use,
					       .use_count = 1,
					       .has_value = true,
					       .value = gate,
					       .items = 1,
					       .home_lane = HOME},
			      probe);
}

/* `first` writes x and is held. Behind it on its lane is a kernel that took `took_ns` before. */
static struct task *read_beside(struct words *x, struct words *y, uint64_t took_ns,
				struct probe probes[3])
{
	fake_clock(1000000, took_ns);
	(void)moves_increment(y, HOME, &probes[1]);
	harness_expect_success(&h, &probes[1]);
	(void)moves_increment(x, HOME, &probes[0]);
	harness_expect_success(&h, &probes[0]);
	const uint64_t before = fake_counters_of(0).calls[FAKE_SUBMIT];
	(void)launch_at_home("hold", HARNESS_GATE, x, &probes[0]);
	(void)moves_increment(y, HOME, &probes[1]);
	cr_assert(has_sent(before + 2));
	struct task *access = harness_host(&h, x, ACCESS_MODE_READ, &probes[2]);
	cr_assert(has_sent(before + 3));
	return access;
}

static void read_waits_for_lanes(uint64_t took_ns, uint64_t lanes)
{
	struct words x, y;
	struct probe probes[3];
	harness_words(&h, &x, 16, true, 5);
	harness_words(&h, &y, 16, true, 5);
	struct task *access = read_beside(&x, &y, took_ns, probes);
	fake_gate_open(HARNESS_GATE);
	harness_expect_success(&h, &probes[0]);
	harness_expect_success(&h, &probes[1]);
	cr_assert(harness_wait(&h, &probes[2]));
	/* Waits are counted at the end of a submission, which has ended now. */
	cr_expect(eq(u64, fake_counters_of(0).lane_waits, lanes));
	cr_expect(eq(u32, x.host[0], 5 + 1));
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	finish_moves();
}

Test(small_moves, TR1_a_read_stays_on_its_lane_where_what_follows_its_kernel_is_short)
{
	read_waits_for_lanes(STEP_NS, 0);
}

Test(small_moves, TR1_a_read_leaves_its_lane_where_what_follows_its_kernel_is_long)
{
	read_waits_for_lanes(1000 * STEP_NS, 1);
}

/* The kernel behind the read's predecessor has never ended before, so it has no estimate. */
Test(small_moves, F8_a_read_passes_a_kernel_that_follows_its_own)
{
	struct words x;
	struct probe probe, held[2], granted;
	harness_words(&h, &x, 16, true, 5);
	(void)moves_increment(&x, HOME, &probe);
	harness_expect_success(&h, &probe);
	const uint64_t before = fake_counters_of(0).calls[FAKE_SUBMIT];
	(void)launch_at_home("hold", HARNESS_GATE, &x, &held[0]);
	(void)harness_launch(&h,
			     &(struct launch){.kernel = "hold",
					      .has_value = true,
					      .value = OTHER_GATE,
					      .items = 1,
					      .home_lane = HOME},
			     &held[1]);
	cr_assert(has_sent(before + 2));
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &granted);
	cr_assert(has_sent(before + 3));
	fake_gate_open(HARNESS_GATE);
	cr_assert(harness_wait(&h, &granted));
	cr_expect(not(held[1].done));
	host_access_release(access);
	fake_gate_open(OTHER_GATE);
	harness_expect_success(&h, &held[0]);
	harness_expect_success(&h, &held[1]);
	harness_words_free(&h, &x);
	finish_moves();
}

/* The kernel behind the read's predecessor is short, but waits for a kernel on another lane that
 * may never end. */
Test(small_moves, F8_a_read_passes_a_short_kernel_that_waits_for_another_lane)
{
	struct words x, y;
	struct probe probe, held[3], granted;
	fake_clock(1000000, STEP_NS);
	harness_words(&h, &x, 16, true, 5);
	harness_words(&h, &y, 16, true, 5);
	(void)moves_increment(&x, HOME, &probe);
	harness_expect_success(&h, &probe);
	(void)moves_increment(&y, HOME, &probe);
	harness_expect_success(&h, &probe);
	const uint64_t before = fake_counters_of(0).calls[FAKE_SUBMIT];
	const struct use y_unused = {.words = &y, .mode = ACCESS_MODE_READ_WRITE, .unused = true};
	const struct use both[] = {{.words = &y, .mode = ACCESS_MODE_READ_WRITE},
				   {.words = &x, .mode = ACCESS_MODE_READ, .unused = true}};
	(void)launch_at_home("hold", HARNESS_GATE, &x, &held[0]);
	(void)harness_launch(&h,
			     &(struct launch){.kernel = "hold",
					      .uses = &y_unused,
					      .use_count = 1,
					      .has_value = true,
					      .value = OTHER_GATE,
					      .items = 1,
					      .home_lane = HOME + 1},
			     &held[1]);
	(void)harness_launch(
		&h,
		&(struct launch){
			.kernel = "increment_u32", .uses = both, .use_count = 2, .home_lane = HOME},
		&held[2]);
	cr_assert(has_sent(before + 3));
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &granted);
	cr_assert(has_sent(before + 4));
	fake_gate_open(HARNESS_GATE);
	cr_assert(harness_wait(&h, &granted));
	cr_expect(not(held[2].done));
	host_access_release(access);
	fake_gate_open(OTHER_GATE);
	for (int i = 0; i < 3; i++)
		harness_expect_success(&h, &held[i]);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	finish_moves();
}

/* A read without predecessors is not put behind kernels that may never end. */
Test(small_moves, F8_a_read_that_waits_for_nothing_passes_kernels_on_every_lane)
{
	struct words x;
	struct probe probe, granted, held[LANES];
	harness_words(&h, &x, 16, true, 5);
	(void)moves_increment(&x, 0, &probe);
	harness_expect_success(&h, &probe);
	const uint64_t before = fake_counters_of(0).calls[FAKE_SUBMIT];
	for (uint32_t i = 0; i < LANES; i++)
		(void)harness_hold(&h, 0, HARNESS_GATE, NULL, 0, &held[i]);
	cr_assert(has_sent(before + LANES));
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &granted);
	cr_assert(harness_wait(&h, &granted));
	cr_expect(not(held[0].done));
	cr_expect(eq(u32, x.host[0], 6));
	host_access_release(access);
	fake_gate_open(HARNESS_GATE);
	for (uint32_t i = 0; i < LANES; i++)
		harness_expect_success(&h, &held[i]);
	harness_words_free(&h, &x);
	finish_moves();
}

/* Otherwise it would wait on the lane of all copies, or occupy the backend's own memory
 * meanwhile. */
static void read_waits_here(uint32_t count)
{
	struct words x;
	struct probe probe, held, granted;
	harness_words(&h, &x, count, true, 5);
	(void)moves_increment(&x, 0, &probe);
	harness_expect_success(&h, &probe);
	const uint64_t before = fake_counters_of(0).calls[FAKE_SUBMIT];
	hold_writer(&x, &held);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &granted);
	cr_expect(has_sent(before + 1));
	cr_expect(eq(u64, sent_after_turns(), before + 1));
	fake_gate_open(HARNESS_GATE);
	harness_expect_success(&h, &held);
	cr_assert(harness_wait(&h, &granted));
	host_access_release(access);
	const struct fake_log_entry read = entry_of(BACKEND_COMMAND_READ);
	cr_expect(eq(int, (int)read.lane_kind, BACKEND_LANE_COPY_OUT));
	harness_words_free(&h, &x);
	finish_moves();
}

Test(small_moves, F8_a_read_that_is_not_small_waits_for_its_kernel_here)
{
	read_waits_here(LIMIT_WORDS + 1);
}

Test(small_moves, F8_a_read_to_memory_that_is_not_registered_waits_for_its_kernel_here)
{
	forget_registration();
	read_waits_here(LIMIT_WORDS);
}

/* The kernel in front of it fails. Its access gets the reason, though the read was sent. */
Test(small_moves, M9_a_read_behind_a_kernel_that_fails_grants_nothing)
{
	struct words x;
	struct probe probe, held, granted;
	harness_words(&h, &x, 16, true, 5);
	(void)moves_increment(&x, 0, &probe);
	harness_expect_success(&h, &probe);
	const uint64_t before = fake_counters_of(0).calls[FAKE_SUBMIT];
	hold_writer(&x, &held);
	(void)harness_host(&h, &x, ACCESS_MODE_READ, &granted);
	cr_assert(has_sent(before + 2));
	cr_assert(zero(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_RUNTIME, false, "burnt")));
	fake_gate_open(HARNESS_GATE);
	cr_assert(harness_wait(&h, &held));
	cr_assert(harness_wait(&h, &granted));
	cr_expect(eq(i32, held.fault.status, STATUS_RUNTIME));
	cr_expect(ne(i32, granted.fault.status, 0));
	harness_words_free(&h, &x);
	finish_moves();
}
