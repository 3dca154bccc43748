/* The running commands, the recent use of a device, and the reason why a command waits. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { GATE = 1, WORDS = 64 };

#define MS_NS    1000000ull
#define START_NS 1000000000000ull

static struct harness h;
static struct sched_account *one, *other;
static _Atomic uint64_t its_time = START_NS;

static uint64_t present_clock_ns(void)
{
	return atomic_load(&its_time);
}

static void begin_present(void)
{
	const struct scheduler_config config = {
		.processors = 2, .never_fair_queue = true, .clock_ns = present_clock_ns};
	fake_reset();
	fake_device_options(0, (struct fake_device_options){.preferred_lanes = 1, .units = 4});
	harness_start_with(&h, 1, &config);
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &one)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &other)));
	(void)harness_kernel(&h, 0, "hold");
	cr_assert(harness_settle(&h));
}

static void finish_present(void)
{
	fake_gate_open(GATE);
	cr_assert(harness_settle(&h));
	one = sched_account_drop(one);
	other = sched_account_drop(other);
	harness_expect_stopped(&h);
}

TestSuite(present, .timeout = 60, .init = begin_present, .fini = finish_present);

static struct task *hold_as(struct sched_account *account, struct probe *probe)
{
	const struct launch launch = {.kernel = "hold",
				      .has_value = true,
				      .value = GATE,
				      .items = 1,
				      .home_lane = 1,
				      .session = 5,
				      .group = 71};
	h.account = account;
	struct task *task = harness_launch(&h, &launch, probe);
	h.account = NULL;
	harness_turn(&h);
	return task;
}

/* Runs turns, as another session's work would. */
static void let_pass(uint64_t ms)
{
	for (uint64_t i = 0; i < ms; i += 50) {
		atomic_fetch_add(&its_time, 50 * MS_NS);
		harness_turn(&h);
	}
}

static struct sched_device_use use_of(struct sched_account *account)
{
	static const struct sched_used none;
	struct sched_device_use use = {.used = &none};
	(void)sched_account_use(account, 0, &use);
	return use;
}

Test(present, a_kernel_that_runs_counts_while_it_runs)
{
	static struct probe probe; /* it ends after the test */
	struct sched_running running;
	struct sched_device_present device;
	let_pass(2000);
	(void)hold_as(one, &probe);
	cr_assert(eq(u64, use_of(one).used->device_ns, 0));
	let_pass(500);
	cr_assert(ge(u64, scheduler_present_begin(h.scheduler), 1000 * MS_NS));
	cr_expect(zero(u64, use_of(one).used->device_ns), "it is charged when it ends");
	cr_expect(ge(u32, use_of(one).used_permille, 400), "half of the last second, about");
	cr_expect(le(u32, use_of(one).used_permille, 500));
	let_pass(2000);
	(void)scheduler_present_begin(h.scheduler);
	cr_expect(eq(u32, use_of(one).used_permille, 1000));
	cr_assert(sched_account_running(h.scheduler, one, &running));
	cr_expect(eq(str, (char *)(uintptr_t)running.what, "hold"));
	cr_expect(eq(u64, running.group, 71));
	cr_expect(eq(u64, present_clock_ns() - running.since_ns, 2500 * MS_NS));
	cr_expect(eq(u64, running.used_ns, 2500 * MS_NS));
	cr_assert(scheduler_device_present(h.scheduler, 0, &device));
	cr_expect(eq(u32, device.busy_permille, 1000));
	cr_expect(eq(u32, device.commands, 1));
	cr_expect(not(sched_account_running(h.scheduler, other, &running)));
}

/* A device that sleeps counts as idle, whatever it did before. */
Test(present, an_idle_second_is_idle)
{
	static struct probe probe; /* it ends after the test */
	struct sched_device_present device;
	(void)hold_as(one, &probe);
	let_pass(1000);
	(void)scheduler_present_begin(h.scheduler);
	cr_expect(gt(u32, use_of(one).used_permille, 900));
	fake_gate_open(GATE);
	cr_assert(harness_wait(&h, &probe));
	uint64_t before_ns = use_of(one).used->device_ns;
	atomic_fetch_add(&its_time, 5000 * MS_NS);
	harness_turn(&h);
	(void)scheduler_present_begin(h.scheduler);
	cr_expect(eq(u64, use_of(one).used->device_ns, before_ns));
	cr_expect(eq(u32, use_of(one).used_permille, 0));
	cr_assert(scheduler_device_present(h.scheduler, 0, &device));
	cr_expect(eq(u32, device.busy_permille, 0));
}

/* A use that a report has shown is not counted again afterwards, and is counted in the time before
 * it. */
Test(present, a_report_does_not_change_the_next_one)
{
	static struct probe probe; /* it ends after the test */
	(void)hold_as(one, &probe);
	let_pass(2000);
	for (int times = 0; times < 3; times++) {
		atomic_fetch_add(&its_time, 1100 * MS_NS);
		(void)scheduler_present_begin(h.scheduler);
		cr_expect(ge(u32, use_of(one).used_permille, 990));
		atomic_fetch_add(&its_time, 77 * MS_NS);
		harness_turn(&h);
		(void)scheduler_present_begin(h.scheduler);
		cr_expect(ge(u32, use_of(one).used_permille, 990));
	}
}

/* The device starts the command 5 s after it was sent, as if it waited for another process's
 * work. */
static uint64_t charged_for_late_start(bool with_reports)
{
	static struct probe probe; /* it ends after the test */
	uint64_t before_ns = use_of(one).used->device_ns;
	fake_clock(present_clock_ns() + 5000 * MS_NS, 100 * MS_NS);
	probe = (struct probe){.calls = 0};
	(void)hold_as(one, &probe);
	for (int times = 0; times < 4; times++) {
		let_pass(1000);
		if (with_reports)
			(void)scheduler_present_begin(h.scheduler);
	}
	fake_gate_open(GATE);
	cr_assert(harness_wait(&h, &probe));
	fake_clock(0, 0);
	fake_gate_close(GATE);
	let_pass(5000);
	return use_of(one).used->device_ns - before_ns;
}

Test(present, reports_do_not_change_what_a_command_is_charged)
{
	uint64_t without_ns = charged_for_late_start(false);
	cr_expect(gt(u64, without_ns, 0));
	cr_expect(eq(u64, charged_for_late_start(true), without_ns));
}

/* The reason is that of the first command. */
Test(present, a_task_waits_for_what_is_in_front_of_it)
{
	static struct probe first, second, access; /* they end after the test */
	struct words words;
	struct sched_running running;
	harness_words(&h, &words, WORDS, true, 0);
	(void)hold_as(one, &first);
	struct task *behind = hold_as(other, &second);
	(void)scheduler_present_begin(h.scheduler);
	cr_expect(not(sched_account_running(h.scheduler, other, &running)),
		  "the device runs the first one");
	cr_expect(eq(int, (int)task_waits_for(behind), SCHED_WAIT_DEVICE));
	struct task *holder = harness_host(&h, &words, ACCESS_MODE_READ_WRITE, &access);
	cr_assert(harness_wait(&h, &access));
	const struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	struct probe third;
	struct task *held = harness_hold(&h, 0, GATE, &use, 1, &third);
	harness_turn(&h);
	cr_expect(eq(int, (int)task_waits_for(held), SCHED_WAIT_HOST));
	host_access_release(holder);
	fake_gate_open(GATE);
	cr_assert(harness_wait(&h, &third));
	harness_words_free(&h, &words);
}
