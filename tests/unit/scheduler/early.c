/* Host tasks with an early event. They are reported when all their predecessors are in flight on
 * their device, and are held until those have ended. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct harness h;
static struct probe made;
static struct sched_event *event;
static struct words x;

static void setup_early(void)
{
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	harness_start(&h, 3);
	cr_assert(eq(int, sched_event_create(h.scheduler, h.devices[0], &made, &event), 0));
	cr_assert(harness_wait(&h, &made));
	cr_assert(eq(i32, made.fault.status, 0), "%s", made.fault.text);
	harness_words_shared(&h, &x, 8, true, 1, 0, BACKEND_EXPORT_VMM);
}

TestSuite(sched_early, .timeout = 20, .init = setup_early);

static void finish_early(void)
{
	harness_words_free(&h, &x);
	sched_event_release(event);
	harness_expect_stopped(&h);
}

static struct task *early_submit_native(struct words *words, struct task *after,
					struct probe *probe)
{
	struct task_requirement requirement = {.buffer = words ? words->buffer : NULL,
					       .mode = ACCESS_MODE_READ_WRITE};
	if (words)
		requirement.size_bytes = words->count * sizeof(uint32_t);
	struct task_request request = {
		.device = h.devices[0],
		.what = "native",
		.requirements = &requirement,
		.requirement_count = words ? 1 : 0,
		.after = &after,
		.after_count = after ? 1 : 0,
		.action = TASK_HOST,
		.on_device = true,
		.early = event,
	};
	return harness_submit(&h, &request, probe);
}

static struct task *early_hold_words(uint32_t gate, struct words *words, struct probe *probe)
{
	return harness_hold(&h, 0, gate,
			    &(struct use){.words = words, .mode = ACCESS_MODE_READ_WRITE}, 1,
			    probe);
}

static struct task *early_fill_words(struct words *words, uint32_t value, struct probe *probe)
{
	struct use use = {.words = words, .mode = ACCESS_MODE_READ_WRITE};
	struct launch launch = {.device = 0,
				.kernel = "fill_u32",
				.uses = &use,
				.use_count = 1,
				.has_value = true,
				.value = value};
	return harness_launch(&h, &launch, probe);
}

/* Waits for a command of its own on that device: commands that could be sent there before have been
 * sent. */
static void early_await_device_turn(uint32_t device)
{
	struct probe probe;
	struct launch launch = {.device = device, .kernel = "noop"};
	(void)harness_launch(&h, &launch, &probe);
	cr_assert(harness_wait(&h, &probe));
}

static void await_early(const struct probe *probe)
{
	for (int i = 0; i < 1000 && !probe->early; i++)
		early_await_device_turn(0);
	cr_assert(eq(u32, probe->early, 1));
}

static uint64_t happened(void)
{
	return fake_event_happened(made.handle);
}

Test(sched_early, K7_K8_it_is_told_while_what_it_needs_still_runs_and_its_event_happens_after_that)
{
	struct probe running, task, behind;
	(void)early_hold_words(1, &x, &running);
	struct task *early = early_submit_native(&x, NULL, &task);
	(void)early_fill_words(&x, 7, &behind);
	await_early(&task);
	cr_expect(eq(u64, happened(), 0), "its event comes behind the kernel");
	cr_expect(not(task.done));
	cr_expect(not(running.done));
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &running));
	early_await_device_turn(0);
	early_await_device_turn(1);
	cr_expect(eq(u64, happened(), 1));
	cr_expect(eq(u32, task.calls, 0),
		  "a task that was reported early is not reported early again");
	cr_expect(not(behind.done),
		  "what comes behind it waits for its end, also on the same device");
	cr_expect(task_running(early));
	host_task_end(early, NULL);
	cr_assert(harness_wait(&h, &task));
	cr_assert(harness_wait(&h, &behind));
	cr_expect(eq(u32, task.calls, 1));
	cr_expect(eq(i32, task.outcome.fault.status, 0), "%s", task.outcome.fault.text);
	finish_early();
}

Test(sched_early, K9_its_end_may_come_before_that_of_what_it_depends_on)
{
	struct probe running, task, behind;
	(void)early_hold_words(1, &x, &running);
	struct task *early = early_submit_native(&x, NULL, &task);
	(void)early_fill_words(&x, 7, &behind);
	await_early(&task);
	host_task_end(early, NULL);
	early_await_device_turn(0);
	cr_expect(not(task.done));
	cr_expect(not(behind.done));
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &behind));
	cr_expect(task.done);
	cr_expect(eq(u32, task.calls, 1));
	cr_expect(eq(i32, task.outcome.fault.status, 0), "%s", task.outcome.fault.text);
	finish_early();
}

Test(sched_early, K1_with_nothing_to_wait_for_it_is_a_host_task_like_any_other)
{
	struct probe task;
	early_await_device_turn(0);
	struct task *held = early_submit_native(NULL, NULL, &task);
	cr_assert(harness_wait(&h, &task));
	cr_expect(task_held(held));
	cr_expect(eq(u32, task.early, 0));
	host_task_end(held, NULL);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, happened(), 0));
	finish_early();
}

/* A device cannot wait for a task that is on none of its lanes: another device's kernel, or another
 * session's host task. */
Test(sched_early, K8_behind_what_runs_elsewhere_it_waits_until_that_is_over)
{
	struct probe other, task, first;
	struct task *elsewhere = harness_hold(&h, 1, 2, NULL, 0, &other);
	struct task *held = early_submit_native(NULL, elsewhere, &task);
	early_await_device_turn(0);
	early_await_device_turn(0);
	cr_expect(eq(u32, task.early, 0));
	cr_expect(not(task.done));
	fake_gate_open(2);
	cr_assert(harness_wait(&h, &task));
	cr_expect(task_held(held));
	cr_expect(eq(u32, task.early, 0));
	/* A kernel is behind the held task, and another task is behind that: it is reported when
	 * the kernel has been sent. */
	struct probe running, second;
	struct task *launched = harness_hold(
		&h, 0, 3, &(struct use){.words = &x, .mode = ACCESS_MODE_READ_WRITE}, 1, &running);
	struct task *early = early_submit_native(&x, launched, &second);
	(void)early_submit_native(NULL, held, &first);
	early_await_device_turn(0);
	host_task_end(held, NULL);
	await_early(&second);
	host_task_end(early, NULL);
	cr_assert(harness_wait(&h, &first));
	cr_expect(eq(u32, first.early, 0));
	host_task_end(first.task, NULL);
	fake_gate_open(3);
	cr_assert(harness_settle(&h));
	cr_expect(eq(i32, second.outcome.fault.status, 0), "%s", second.outcome.fault.text);
	finish_early();
}

Test(sched_early, K6_an_event_is_for_one_of_them_at_a_time)
{
	struct probe running, task, second, also;
	struct words y;
	harness_words_shared(&h, &y, 8, true, 1, 0, BACKEND_EXPORT_VMM);
	(void)early_hold_words(1, &x, &running);
	struct task *early = early_submit_native(&x, NULL, &task);
	await_early(&task);
	(void)early_hold_words(2, &y, &also);
	struct task *late = early_submit_native(&y, NULL, &second);
	early_await_device_turn(0);
	early_await_device_turn(0);
	cr_expect(eq(u32, second.early, 0), "a wait for the event would be for its record");
	fake_gate_open(2);
	cr_assert(harness_wait(&h, &second));
	cr_expect(task_held(late));
	host_task_end(late, NULL);
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &running));
	host_task_end(early, NULL);
	cr_assert(harness_settle(&h));
	/* Now it is free. */
	struct probe third, again;
	fake_gate_close(1);
	(void)early_hold_words(1, &x, &third);
	early = early_submit_native(&x, NULL, &again);
	await_early(&again);
	fake_gate_open(1);
	host_task_end(early, NULL);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, happened(), 2));
	harness_words_free(&h, &y);
	finish_early();
}

/* The task ran on undefined contents. It fails with the cause when its client has finished with the
 * memory. */
Test(sched_early, M9_what_it_depends_on_fails_after_it_was_told)
{
	struct probe running, task, behind;
	(void)early_hold_words(1, &x, &running);
	struct task *early = early_submit_native(&x, NULL, &task);
	(void)early_fill_words(&x, 7, &behind);
	await_early(&task);
	cr_assert(eq(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_RUNTIME, false, "a bad day"),
		     0));
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &running));
	cr_assert(eq(i32, running.outcome.fault.status, STATUS_RUNTIME));
	early_await_device_turn(1);
	early_await_device_turn(1);
	cr_expect(not(task.done), "its memory is in use");
	cr_expect(not(behind.done));
	struct backend_fault of_garbage = {.status = STATUS_INVALID, .text = "garbage"};
	host_task_end(early, &of_garbage);
	cr_assert(harness_wait(&h, &behind));
	cr_expect(eq(i32, task.outcome.fault.status, STATUS_DEPENDENCY_FAILED));
	cr_expect(ne(ptr, strstr(task.outcome.fault.text, "a bad day"), NULL), "%s",
		  task.outcome.fault.text);
	cr_expect(eq(i32, behind.outcome.fault.status, STATUS_DEPENDENCY_FAILED));
	finish_early();
}

Test(sched_early, M9_what_it_depends_on_fails_after_it_has_ended)
{
	struct probe running, task;
	(void)early_hold_words(1, &x, &running);
	struct task *early = early_submit_native(&x, NULL, &task);
	await_early(&task);
	host_task_end(early, NULL);
	cr_assert(eq(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_RUNTIME, false, "a bad day"),
		     0));
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &task));
	cr_expect(eq(i32, task.outcome.fault.status, STATUS_DEPENDENCY_FAILED));
	cr_expect(ne(ptr, strstr(task.outcome.fault.text, "a bad day"), NULL), "%s",
		  task.outcome.fault.text);
	finish_early();
}

Test(sched_early, K3_its_own_failure_is_told_when_it_is_over)
{
	struct probe running, task, behind;
	(void)early_hold_words(1, &x, &running);
	struct task *early = early_submit_native(&x, NULL, &task);
	(void)early_fill_words(&x, 7, &behind);
	await_early(&task);
	struct backend_fault fault = {.status = STATUS_ND_RANGE, .text = "of its own"};
	host_task_end(early, &fault);
	early_await_device_turn(0);
	cr_expect(not(task.done));
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &behind));
	cr_expect(eq(i32, task.outcome.fault.status, STATUS_ND_RANGE));
	cr_expect(eq(i32, running.outcome.fault.status, 0));
	cr_expect(eq(i32, behind.outcome.fault.status, STATUS_DEPENDENCY_FAILED));
	finish_early();
}

Test(sched_early, M9_a_record_that_is_refused_tells_nobody_early)
{
	struct probe running, task;
	struct task *kernel = early_hold_words(1, &x, &running);
	for (int i = 0; i < 1000 && !task_running(kernel); i++)
		early_await_device_turn(0);
	cr_assert(task_running(kernel));
	early_await_device_turn(0); /* by now it has been submitted */
	cr_assert(eq(
		int,
		fake_fail(FAKE_SUBMIT, 0, 0, 1, STATUS_MEMORY_ALLOCATION, false, "no room for it"),
		0));
	(void)early_submit_native(&x, NULL, &task);
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &task));
	cr_expect(eq(u32, task.early, 0));
	cr_expect(eq(i32, task.outcome.fault.status, STATUS_MEMORY_ALLOCATION), "%s",
		  task.outcome.fault.text);
	finish_early();
}
