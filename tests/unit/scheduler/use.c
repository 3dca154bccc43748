/* An account's use of each device: commands, time, bytes, failures, spills, and how long commands
 * waited to be sent. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>

enum { GATE = 1, WORDS = 1024, MANY = 600, ROOM = 4 };

#define MS_NS 1000000ull

static struct harness h;
static struct sched_account *one, *other;
static struct probe probes[MANY];
static _Atomic uint64_t its_time = 1000000000000;

static uint64_t use_clock_ns(void)
{
	return atomic_load(&its_time);
}

TestSuite(use, .timeout = 60);

static void begin_use(bool spills)
{
	struct scheduler_config config = {
		.processors = 2, .never_fair_queue = true, .clock_ns = use_clock_ns};
	config.spills = spills;
	config.spill_least_bytes = spills ? 1 : 0;
	fake_reset();
	for (uint32_t device = 0; device < 2; device++)
		fake_device_options(device,
				    (struct fake_device_options){
					    .preferred_lanes = 1,
					    .units = 4,
					    .memory_bytes = spills ? ROOM * WORDS * 4ull : 0});
	harness_start_with(&h, 2, &config);
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &one)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &other)));
	(void)harness_kernel(&h, 0, "hold");
	(void)harness_kernel(&h, 0, "increment_u32");
	(void)harness_kernel(&h, 1, "increment_u32");
	cr_assert(harness_settle(&h));
}

static void finish_use(void)
{
	cr_assert(harness_settle(&h));
	one = sched_account_drop(one);
	other = sched_account_drop(other);
	harness_expect_stopped(&h);
}

/* The account's use of that device; all 0: none. */
static struct sched_used used_of(struct sched_account *account, uint32_t device)
{
	struct sched_device_use use;
	for (uint32_t i = 0; sched_account_use(account, i, &use); i++)
		if (use.backend == BACKEND_KIND_FAKE && use.index == device)
			return *use.used;
	return (struct sched_used){.commands = 0};
}

static uint64_t delays_of(struct sched_account *account, uint32_t device)
{
	struct sched_used used = used_of(account, device);
	return delay_total(&used.delays);
}

static void use_hold_gate(struct sched_account *account, struct probe *probe)
{
	struct launch launch = {
		.kernel = "hold", .has_value = true, .value = GATE, .items = 1, .home_lane = 1};
	h.account = account;
	(void)harness_launch(&h, &launch, probe);
	h.account = NULL;
}

static void increment_as(struct sched_account *account, uint32_t device, struct words *words,
			 struct probe *probe)
{
	const struct use use = {.words = words, .mode = ACCESS_MODE_READ_WRITE};
	h.account = account;
	(void)harness_launch(
		&h,
		&(struct launch){
			.device = device, .kernel = "increment_u32", .uses = &use, .use_count = 1},
		probe);
	h.account = NULL;
}

static uint64_t recent_of(struct sched_account *account)
{
	struct delay_histogram delays;
	sched_account_recent_delays(account, use_clock_ns(), &delays);
	return delay_total(&delays);
}

static void increment_times(struct words *words, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		increment_as(one, 0, words, &probes[i]);
		cr_assert(harness_settle(&h));
	}
}

/* An operator asks how long commands wait now, not how long they waited in the first hour. */
Test(use, recent_delays_are_those_of_the_last_minute)
{
	begin_use(false);
	struct words words;
	harness_words(&h, &words, WORDS, true, 0);
	cr_assert(zero(u64, recent_of(one)));
	increment_times(&words, 3);
	cr_assert(eq(u64, recent_of(one), 3));
	atomic_fetch_add(&its_time, 30000 * MS_NS);
	harness_turn(&h);
	increment_times(&words, 2);
	cr_assert(eq(u64, recent_of(one), 5));
	atomic_fetch_add(&its_time, 31000 * MS_NS);
	cr_assert(eq(u64, recent_of(one), 2), "the first three are a minute old");
	atomic_fetch_add(&its_time, 30000 * MS_NS);
	cr_assert(zero(u64, recent_of(one)), "it has rested for a minute");
	cr_assert(eq(u64, delays_of(one, 0), 5));
	harness_turn(&h);
	increment_times(&words, 1);
	cr_assert(eq(u64, recent_of(one), 1));
	/* More often than copies are kept. */
	for (unsigned i = 0; i < 10; i++) {
		atomic_fetch_add(&its_time, 16000 * MS_NS);
		harness_turn(&h);
		increment_times(&words, 1);
	}
	cr_assert(eq(u64, recent_of(one), 4), "48 seconds, and the one that has just been sent");
	harness_words_free(&h, &words);
	finish_use();
}

/* Commands that find room do not wait. The others wait as long as the device stands still, by the
 * clock of the turns. */
Test(use, a_delay_is_from_when_a_command_could_go_until_it_was_sent)
{
	begin_use(false);
	for (uint32_t i = 0; i < MANY; i++)
		use_hold_gate(one, &probes[i]);
	harness_turn(&h);
	uint64_t sent = delays_of(one, 0);
	cr_assert(gt(u64, sent, 0));
	cr_assert(lt(u64, sent, MANY), "the device takes all at once: nothing waits");
	atomic_fetch_add(&its_time, 7 * MS_NS);
	fake_gate_open(GATE);
	cr_assert(harness_settle(&h));
	struct sched_used used = used_of(one, 0);
	cr_assert(eq(u64, used.commands, MANY));
	cr_assert(eq(u64, used.failed, 0));
	cr_assert(eq(u64, delay_total(&used.delays), MANY));
	cr_assert(eq(u64, used.delays.counts[0], sent));
	cr_assert(eq(u64, used.delays.counts[delay_bucket(7 * MS_NS)], MANY - sent));
	cr_assert(eq(u64, delays_of(other, 0), 0), "it has sent nothing");
	finish_use();
}

/* A command behind another one of its session on another device does not count as waiting, because
 * it cannot be sent. */
Test(use, a_dependency_is_no_delay)
{
	struct words x;
	struct probe first, second;
	begin_use(false);
	harness_words(&h, &x, WORDS, true, 0);
	const struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	h.account = one;
	(void)harness_hold(&h, 0, GATE, &use, 1, &first);
	increment_as(one, 1, &x, &second);
	harness_turn(&h);
	atomic_fetch_add(&its_time, 9 * MS_NS);
	harness_turn(&h);
	fake_gate_open(GATE);
	cr_assert(harness_wait(&h, &second));
	struct sched_used used = used_of(one, 1);
	cr_assert(eq(u64, used.commands, 1));
	cr_assert(eq(u64, used.delays.counts[0], 1));
	harness_words_free(&h, &x);
	finish_use();
}

Test(use, each_account_and_device_has_its_own_figures)
{
	struct words x, y;
	struct probe probe;
	begin_use(false);
	harness_words(&h, &x, WORDS, true, 0);
	harness_words(&h, &y, WORDS, true, 0);
	for (int i = 0; i < 3; i++) {
		increment_as(one, 0, &x, &probe);
		cr_assert(harness_wait(&h, &probe));
	}
	increment_as(other, 1, &y, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_assert(eq(u64, used_of(one, 0).commands, 3));
	cr_assert(eq(u64, used_of(one, 0).bytes_to_device, WORDS * 4));
	cr_assert(gt(u64, used_of(one, 0).device_ns, 0));
	cr_assert(eq(u64, used_of(one, 1).commands, 0));
	cr_assert(eq(u64, used_of(other, 0).commands, 0));
	cr_assert(eq(u64, used_of(other, 1).commands, 1));
	cr_assert(eq(u64, used_of(other, 1).bytes_to_device, WORDS * 4));
	/* On the way to another device the contents move to the host. The first device does that
	 * work, for the second session. */
	increment_as(one, 1, &x, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_assert(eq(u64, used_of(one, 1).commands, 1));
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	finish_use();
}

Test(use, failures_are_counted_where_they_happened_and_once)
{
	struct probe first, second;
	begin_use(false);
	(void)fake_fail(FAKE_SUBMIT, 0, 0, 1, STATUS_RUNTIME, false, "refused");
	struct launch launch = {
		.kernel = "hold", .has_value = true, .value = GATE, .items = 1, .home_lane = 1};
	fake_gate_open(GATE);
	h.account = one;
	struct task *task = harness_launch(&h, &launch, &first);
	launch.after = &task;
	launch.after_count = 1;
	(void)harness_launch(&h, &launch, &second);
	h.account = NULL;
	cr_assert(harness_wait(&h, &second));
	cr_assert(ne(i32, second.fault.status, STATUS_SUCCESS));
	struct sched_used used = used_of(one, 0);
	cr_assert(eq(u64, used.failed, 1));
	cr_assert(eq(u64, used.commands, 1));
	finish_use();
}

/* This includes memory that still exists, and memory that was freed. */
Test(use, what_was_spilled_is_its_owners)
{
	struct words words[ROOM + 2];
	struct probe probe;
	begin_use(true);
	for (uint32_t i = 0; i < ROOM + 2; i++) {
		harness_words(&h, &words[i], WORDS, true, i);
		sched_buffer_charge(words[i].buffer, i < ROOM ? one : other);
	}
	for (uint32_t i = 0; i < ROOM + 2; i++) {
		increment_as(i < ROOM ? one : other, 0, &words[i], &probe);
		cr_assert(harness_wait(&h, &probe));
		cr_assert(eq(i32, probe.fault.status, STATUS_SUCCESS));
	}
	struct scheduler_spill all;
	scheduler_device_spill(h.scheduler, 0, &all);
	cr_assert(ge(u64, all.spills, 2));
	uint64_t spills = used_of(one, 0).spills + used_of(other, 0).spills;
	cr_assert(gt(u64, used_of(one, 0).spills, 0));
	cr_assert(eq(u64, spills, all.spills));
	cr_assert(eq(u64, used_of(one, 0).spills + used_of(other, 0).spills, spills),
		  "it was counted twice");
	cr_assert(eq(u64, used_of(one, 0).spilled_bytes + used_of(other, 0).spilled_bytes,
		     all.spilled_bytes));
	for (uint32_t i = 0; i < ROOM + 2; i++)
		harness_words_free(&h, &words[i]);
	cr_assert(harness_settle(&h));
	cr_assert(ge(u64, used_of(one, 0).spills, spills - used_of(other, 0).spills));
	finish_use();
}

/* A session that divides a device uses the device: commands on the parts are in its row, and the
 * parts have no row. */
Test(use, J2_what_a_sub_device_does_is_counted_for_the_whole)
{
	struct words x;
	struct probe probe;
	struct sched_device_use use;
	struct scheduler_device *parts[2];
	struct backend_fault fault;
	uint32_t counts[] = {1, 3}, count = 0, rows = 0;
	const struct backend_division division = {
		.partition = BACKEND_PARTITION_BY_COUNTS, .counts = counts, .count = 2};
	begin_use(false);
	cr_assert(zero(int, scheduler_sub_devices_create(h.scheduler, 1, &division, 2, parts,
							 &count, &fault)));
	cr_assert(eq(u32, count, 2));
	harness_words(&h, &x, WORDS, true, 0);
	/* The harness's third device is the part. */
	h.devices[2] = parts[1];
	(void)harness_kernel(&h, 2, "increment_u32");
	increment_as(one, 2, &x, &probe);
	cr_assert(harness_wait(&h, &probe));
	increment_as(one, 1, &x, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_assert(eq(u64, used_of(one, 1).commands, 2));
	cr_assert(eq(u64, delays_of(one, 1), 2));
	while (sched_account_use(one, rows, &use))
		rows++;
	cr_assert(eq(u32, rows, 1));
	harness_words_free(&h, &x);
	scheduler_device_release(parts[0]);
	scheduler_device_release(parts[1]);
	finish_use();
}
