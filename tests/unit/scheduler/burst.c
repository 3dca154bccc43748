/* Launches that are one task: each has its values, in order. Failures, and tasks that depend on one
 * of the launches. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "scheduler/task/burst.h"
#include "scheduler/state/program.h"
#include "scheduler/state/task.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

static struct harness h;

/* Device 0 sends them one by one, device 1 as one command. */
static void setup_burst(void)
{
	fake_device_options(1, (struct fake_device_options){.bursts = true});
	harness_start(&h, 2);
}

TestSuite(burst, .timeout = 30, .init = setup_burst);

static void finish_burst(void)
{
	cr_assert(harness_settle(&h));
	harness_expect_stopped(&h);
}

/* fill_even_u32 over all of the buffer, once with each value. */
static struct task *fill_burst(uint32_t device, struct words *words, uint32_t mode,
			       const uint32_t *values, uint32_t count, struct probe *probe)
{
	struct use use = {.words = words, .mode = mode};
	return harness_launch(&h,
			      &(struct launch){.device = device,
					       .kernel = "fill_even_u32",
					       .uses = &use,
					       .use_count = 1,
					       .has_value = true,
					       .value = values[0],
					       .home_lane = 1,
					       .burst = count,
					       .values = values + 1,
					       .session = 5,
					       .group = 70},
			      probe);
}

static void burst_expect_launches(const struct probe *probe, const int32_t *statuses)
{
	cr_assert(harness_wait(&h, probe));
	for (uint32_t i = 0; i < probe->launches; i++)
		cr_expect(eq(i32, probe->launch_faults[i].status, statuses[i]), "launch %u: %s", i,
			  probe->launch_faults[i].text);
}

static uint32_t burst_first_word(struct words *words)
{
	struct probe probe;
	struct task *access = harness_host(&h, words, ACCESS_MODE_READ, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_assert(eq(i32, probe.fault.status, 0), "%s", probe.fault.text);
	uint32_t word = words->host[0];
	host_access_release(access);
	return word;
}

Test(burst, TG2_each_launch_has_its_own_values_and_comes_behind_the_one_before)
{
	for (uint32_t device = 0; device < 2; device++) {
		struct words x, y;
		struct probe probe, mixed;
		struct fake_counters counters;
		harness_words(&h, &x, 8, true, 1);
		harness_words(&h, &y, 8, true, 3);
		uint32_t values[SCHED_BURST_MAX], expected = 1;
		for (uint32_t i = 0; i < SCHED_BURST_MAX; i++) {
			values[i] = 1000 + i * 7;
			expected = expected * 31 + 3 + values[i];
		}
		const struct use uses[] = {{.words = &x, .mode = ACCESS_MODE_READ_WRITE},
					   {.words = &y, .mode = ACCESS_MODE_READ}};
		fake_counters(device, &counters);
		uint64_t before = counters.launches;
		(void)harness_launch(&h,
				     &(struct launch){.device = device,
						      .kernel = "mix_u32",
						      .uses = uses,
						      .use_count = 2,
						      .has_value = true,
						      .value = values[0],
						      .burst = SCHED_BURST_MAX,
						      .values = values + 1},
				     &mixed);
		cr_assert(eq(u32, burst_first_word(&x), expected));
		(void)fill_burst(device, &x, ACCESS_MODE_WRITE_NO_INIT, (const uint32_t[]){2, 4, 6},
				 3, &probe);
		cr_assert(eq(u32, burst_first_word(&x), 6));
		fake_counters(device, &counters);
		cr_assert(eq(u64, counters.launches - before, SCHED_BURST_MAX + 3));
		cr_assert(eq(u32, mixed.calls, 1));
		harness_words_free(&h, &x);
		harness_words_free(&h, &y);
	}
	struct scheduler_counters counters;
	scheduler_counters(h.scheduler, &counters);
	cr_assert(eq(u64, counters.bursts, 4));
	cr_assert(eq(u64, counters.burst_launches, 2 * (SCHED_BURST_MAX + 3)));
	cr_assert(eq(u64, counters.tasks_done, counters.tasks_submitted));
	cr_assert(eq(u64, counters.tasks_submitted, counters.burst_launches + 4),
		  "four accesses of the host");
	finish_burst();
}

Test(burst, M9_the_launch_that_fails_is_named_and_those_that_need_it_fail_of_it)
{
	for (uint32_t device = 0; device < 2; device++) {
		struct words x;
		struct probe burst, reader;
		harness_words(&h, &x, 8, true, 1);
		(void)fill_burst(device, &x, ACCESS_MODE_READ_WRITE,
				 (const uint32_t[]){2, 4, 5, 6, 7, 8}, 6, &burst);
		(void)fill_burst(device, &x, ACCESS_MODE_READ_WRITE, (const uint32_t[]){2}, 1,
				 &reader);
		burst_expect_launches(&burst, (const int32_t[]){0, 0, STATUS_KERNEL,
								STATUS_DEPENDENCY_FAILED,
								STATUS_DEPENDENCY_FAILED,
								STATUS_DEPENDENCY_FAILED});
		cr_expect(ne(ptr, strstr(burst.launch_faults[2].text, "5 is odd"), NULL));
		cr_expect(ne(ptr, strstr(burst.launch_faults[4].text, "5 is odd"), NULL), "%s",
			  burst.launch_faults[4].text);
		cr_assert(harness_wait(&h, &reader));
		cr_expect(eq(i32, reader.fault.status, STATUS_DEPENDENCY_FAILED));
		harness_words_free(&h, &x);
	}
	finish_burst();
}

Test(burst, M9_launches_that_need_nothing_of_each_other_fail_by_themselves)
{
	for (uint32_t device = 0; device < 2; device++) {
		struct words x;
		struct probe burst;
		harness_words(&h, &x, 8, true, 1);
		(void)fill_burst(device, &x, ACCESS_MODE_WRITE_NO_INIT,
				 (const uint32_t[]){2, 3, 4, 5, 6}, 5, &burst);
		cr_assert(eq(u32, burst_first_word(&x), 6), "the last one has written");
		burst_expect_launches(&burst,
				      (const int32_t[]){0, STATUS_KERNEL, 0, STATUS_KERNEL, 0});
		cr_expect(ne(ptr, strstr(burst.launch_faults[3].text, "is odd"), NULL));
		cr_expect(eq(i32, burst.fault.status, STATUS_KERNEL));
		harness_words_free(&h, &x);
	}
	finish_burst();
}

/* Eight words. The third command from now on is refused (a move counts), and no command runs until
 * the device's gate is opened. */
static void refuse_one(struct words *x)
{
	harness_words(&h, x, 8, true, 1);
	(void)harness_kernel(&h, 0, "fill_even_u32");
	(void)harness_kernel(&h, 0, "noop");
	cr_assert(harness_settle(&h));
	cr_assert(eq(int,
		     fake_fail(FAKE_SUBMIT, 0, 2, 1, STATUS_MEMORY_ALLOCATION, false, "no room"),
		     0));
	fake_device_gate_close(0);
}

/* If one launch cannot be sent, the others are, unless they need it. A task that waits for the end
 * of all waits for them. */
Test(burst, M9_a_launch_that_is_not_sent_fails_alone)
{
	struct words x;
	struct probe burst, behind;
	refuse_one(&x);
	struct task *task = fill_burst(0, &x, ACCESS_MODE_WRITE_NO_INIT,
				       (const uint32_t[]){2, 4, 6, 8}, 4, &burst);
	(void)harness_launch(
		&h,
		&(struct launch){.device = 0,
				 .kernel = "noop",
				 .home_lane = 2,
				 .after = &task,
				 .after_count = 1,
				 .after_launches = (const uint32_t[]){task_launch_bit(task, 3)}},
		&behind);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	harness_turn(&h);
	cr_expect(not(behind.done), "what it waits for has not run");
	fake_device_gate_open(0);
	burst_expect_launches(&burst, (const int32_t[]){0, 0, STATUS_MEMORY_ALLOCATION, 0});
	cr_assert(harness_wait(&h, &behind));
	cr_expect(eq(i32, behind.fault.status, 0), "%s", behind.fault.text);
	cr_expect(eq(u32, burst_first_word(&x), 8));
	harness_words_free(&h, &x);
	finish_burst();
}

/* The end of a burst is not sent. Commands on other lanes still wait for the launches that were
 * sent. */
Test(burst, M9_others_wait_for_what_was_sent_of_a_burst_whose_end_was_not)
{
	struct words x;
	struct probe burst, after;
	refuse_one(&x);
	(void)fill_burst(0, &x, ACCESS_MODE_READ_WRITE, (const uint32_t[]){2, 4, 6, 8}, 4, &burst);
	const struct use use = {.words = &x, .mode = ACCESS_MODE_WRITE_NO_INIT, .unused = true};
	(void)harness_launch(&h,
			     &(struct launch){.device = 0,
					      .kernel = "noop",
					      .uses = &use,
					      .use_count = 1,
					      .home_lane = 2},
			     &after);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	harness_turn(&h);
	cr_expect(not(after.done), "the first launch writes there still");
	fake_device_gate_open(0);
	burst_expect_launches(&burst, (const int32_t[]){0, STATUS_MEMORY_ALLOCATION,
							STATUS_DEPENDENCY_FAILED,
							STATUS_DEPENDENCY_FAILED});
	cr_assert(harness_wait(&h, &after));
	cr_expect(eq(i32, after.fault.status, 0), "%s", after.fault.text);
	harness_words_free(&h, &x);
	finish_burst();
}

/* A task that depends on the event of one launch fails if that launch does, whether or not the
 * failure was reported before. */
Test(burst, M6_an_event_is_that_of_one_launch)
{
	for (uint32_t device = 0; device < 2; device++) {
		for (uint32_t named = 0; named < 5; named++) {
			struct words x;
			struct probe burst, after;
			harness_words(&h, &x, 8, true, 1);
			bool is_chained = named % 2;
			fake_device_gate_close(device);
			struct task *task = fill_burst(
				device, &x,
				is_chained ? ACCESS_MODE_READ_WRITE : ACCESS_MODE_WRITE_NO_INIT,
				(const uint32_t[]){2, 4, 5, 6, 8}, 5, &burst);
			(void)harness_launch(
				&h,
				&(struct launch){
					.device = 0,
					.kernel = "noop",
					.after = &task,
					.after_count = 1,
					.after_launches =
						(const uint32_t[]){task_launch_bit(task, named)}},
				&after);
			scheduler_flush(h.scheduler);
			fake_device_gate_open(device);
			cr_assert(harness_wait(&h, &after));
			bool fails = named == 2 || (is_chained && named > 2);
			cr_expect(eq(i32, after.fault.status, fails ? STATUS_DEPENDENCY_FAILED : 0),
				  "launch %u: %s", named, after.fault.text);
			cr_assert(harness_wait(&h, &burst));
			harness_words_free(&h, &x);
		}
	}
	finish_burst();
}

/* Launches that have completed before the loss keep their results; the others are lost. */
Test(burst, F12_launches_that_were_over_before_their_device_was_lost_have_succeeded)
{
	struct words x;
	struct probe burst, lost;
	harness_words(&h, &x, 8, true, 1);
	(void)fill_burst(0, &x, ACCESS_MODE_READ_WRITE, (const uint32_t[]){2, 4}, 2, &burst);
	cr_assert(harness_wait(&h, &burst));
	cr_assert(
		eq(int, fake_fail(FAKE_COMPLETION, 0, 2, 1, STATUS_DEVICE_LOST, true, "gone"), 0));
	(void)fill_burst(0, &x, ACCESS_MODE_READ_WRITE, (const uint32_t[]){2, 4, 6, 8}, 4, &lost);
	cr_assert(harness_wait(&h, &lost));
	cr_expect(eq(i32, lost.fault.status, STATUS_DEVICE_LOST));
	bool has_failed = false;
	for (uint32_t i = 0; i < 4; i++) {
		int32_t status = lost.launch_faults[i].status;
		cr_expect(status == STATUS_DEVICE_LOST || status == 0, "launch %u: %d, %s", i,
			  status, lost.launch_faults[i].text);
		cr_expect(not(has_failed && status == 0),
			  "launch %u succeeded behind one that did not", i);
		has_failed |= status != 0;
	}
	cr_expect(eq(i32, lost.launch_faults[2].status, STATUS_DEVICE_LOST));
	harness_words_free(&h, &x);
	finish_burst();
}

/* The length of a burst follows from the time of the kernel's launches. So the first launch of a
 * burst does not wait long for the last. */
Test(burst, TG1_a_kernel_goes_alone_until_it_is_known_to_be_short)
{
	struct words x;
	struct probe probe;
	harness_words(&h, &x, 8, true, 1);
	const struct sched_kernel *kernel = harness_kernel(&h, 0, "fill_even_u32");
	cr_assert(eq(u32, sched_kernel_burst(kernel), 1), "nothing is known");
	static const struct {
		uint64_t took_ns;
		uint32_t least, most;
	} steps[] = {{1000, SCHED_BURST_MAX, SCHED_BURST_MAX},
		     {40000, 2, SCHED_BURST_MAX - 1},
		     {5000000, 1, 1}};
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		/* The device's clock advances by this between a command's start and its end. */
		fake_clock(1000000000ull * (i + 1), steps[i].took_ns);
		for (uint32_t k = 0; k < 12; k++) {
			(void)fill_burst(0, &x, ACCESS_MODE_READ_WRITE, (const uint32_t[]){2}, 1,
					 &probe);
			cr_assert(harness_wait(&h, &probe));
		}
		cr_expect(ge(u32, sched_kernel_burst(kernel), steps[i].least));
		cr_expect(le(u32, sched_kernel_burst(kernel), steps[i].most));
	}
	fake_clock(0, 0);
	harness_words_free(&h, &x);
	finish_burst();
}

/* The engine of many clients finds ends late. A kernel is not longer for that. */
Test(burst, TR5_an_end_that_was_found_late_does_not_make_a_kernel_long)
{
	static const struct {
		uint64_t took_ns, late_ns, expected_ns;
	} steps[] = {{50000, 50000, 50000}, /* the first is all that is known */
		     {9000, 8000, 19250},   /* it took no longer than that */
		     {90000, 78750, 18250}, /* from 11.25 to 90 us: a little shorter */
		     {90000, 59750, 24250}, /* at least 30.25 us */
		     {90000, 200000, 21219}};
	struct sched_kernel *kernel = calloc(1, sizeof(*kernel));
	struct task *task = calloc(1, sizeof(*task));
	cr_assert(kernel && task);
	task->command.backend.kind = BACKEND_COMMAND_LAUNCH;
	task->command.kernel = kernel;
	task->command.start_ns = 1;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		task->command.end_ns = 1 + steps[i].took_ns;
		task->command.late_ns = steps[i].late_ns;
		sched_burst_update(task);
		cr_expect(eq(u64, kernel->period_ns, steps[i].expected_ns), "step %zu", i);
	}
	free(task);
	free(kernel);
	finish_burst();
}

/* Only the end of a burst is reported. After a burst that took long, the kernel's launches are
 * taken one by one for a while. */
Test(burst, B18_a_kernel_whose_burst_took_long_goes_without_for_a_while)
{
	struct sched_kernel *kernel = calloc(1, sizeof(*kernel));
	struct task *task = calloc(1, sizeof(*task));
	struct task_burst burst = {.count = 4};
	cr_assert(kernel && task);
	task->command.backend.kind = BACKEND_COMMAND_LAUNCH;
	task->command.kernel = kernel;
	task->command.start_ns = 1;
	for (uint32_t expected = 64; expected <= 256; expected *= 2) {
		kernel->period_ns = 1000;
		cr_assert(gt(u32, sched_kernel_burst(kernel), 1));
		task->command.burst = &burst;
		task->command.end_ns = 1 + UINT64_C(1000000000);
		sched_burst_update(task);
		task->command.burst = NULL;
		task->command.end_ns = 1 + 1000;
		for (uint32_t i = 0; i < expected; i++) {
			cr_assert(eq(u32, sched_kernel_burst(kernel), 1), "launch %u of %u", i,
				  expected);
			sched_burst_update(task);
		}
	}
	free(task);
	free(kernel);
	finish_burst();
}
