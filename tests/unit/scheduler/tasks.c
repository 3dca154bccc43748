/* Host tasks: held from their turn on until their end is reported. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct harness h;

static void setup_tasks(void)
{
	harness_start(&h, 3);
}

TestSuite(sched_tasks, .timeout = 20, .init = setup_tasks);

static struct task *host_task(struct words *words, uint32_t mode, struct task *after,
			      struct probe *probe)
{
	struct task_requirement requirement = {.buffer = words ? words->buffer : NULL,
					       .mode = mode};
	if (words)
		requirement.size_bytes = words->count * sizeof(uint32_t);
	struct task_request request = {
		.device = h.devices[1],
		.what = "host task",
		.requirements = &requirement,
		.requirement_count = words ? 1 : 0,
		.after = &after,
		.after_count = after ? 1 : 0,
		.action = TASK_HOST,
	};
	return harness_submit(&h, &request, probe);
}

/* Its turn has come, and it does not end. */
static void expect_held(const struct probe *probe)
{
	cr_assert(harness_wait(&h, probe));
	cr_assert(eq(u32, probe->calls, 1));
	cr_assert(eq(i32, probe->fault.status, 0), "%s", probe->fault.text);
	cr_assert(task_held(probe->task));
	cr_assert(task_running(probe->task));
}

static void tasks_await_device_turn(void)
{
	struct probe probe;
	struct launch launch = {.device = 2, .kernel = "noop"};
	(void)harness_launch(&h, &launch, &probe);
	cr_assert(harness_wait(&h, &probe));
}

static struct task *tasks_fill_words(uint32_t device, struct words *words, uint32_t value,
				     struct probe *probe)
{
	struct use use = {.words = words, .mode = ACCESS_MODE_READ_WRITE};
	struct launch launch = {.device = device,
				.kernel = "fill_u32",
				.uses = &use,
				.use_count = 1,
				.has_value = true,
				.value = value};
	return harness_launch(&h, &launch, probe);
}

Test(sched_tasks, K1_K2_K4_it_has_the_data_on_the_host_and_holds_those_behind_it)
{
	struct words x, y;
	struct probe writer, task, after, beside;
	harness_words(&h, &x, 8, true, 0);
	harness_words(&h, &y, 8, true, 0);
	(void)tasks_fill_words(0, &x, 5, &writer);
	struct task *held = host_task(&x, ACCESS_MODE_READ_WRITE, NULL, &task);
	(void)tasks_fill_words(2, &x, 9, &after);
	expect_held(&task);
	for (int i = 0; i < 8; i++)
		cr_expect(eq(u32, x.host[i], 5),
			  "the device's contents were not brought to the host");
	/* Tasks that share nothing with it continue. */
	(void)tasks_fill_words(0, &y, 1, &beside);
	cr_assert(harness_wait(&h, &beside));
	tasks_await_device_turn();
	cr_expect(not(after.done));
	for (int i = 0; i < 8; i++)
		x.host[i] = 6;
	host_task_end(held, NULL);
	cr_assert(harness_wait(&h, &after));
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, task.calls, 2));
	cr_expect(eq(i32, task.outcome.fault.status, 0));
	cr_expect(le(u64, task.outcome.submit_ns, task.outcome.start_ns));
	cr_expect(le(u64, task.outcome.start_ns, task.outcome.end_ns));
	/* The host's contents were moved to the device on which the next task ran. */
	struct probe read;
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &read);
	cr_assert(harness_wait(&h, &read));
	for (int i = 0; i < 8; i++)
		cr_expect(eq(u32, x.host[i], 9));
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(sched_tasks, K1_D6_readers_run_beside_it_and_host_accesses_keep_it_waiting)
{
	struct words x;
	struct probe reading, reader, access, waiting;
	harness_words(&h, &x, 8, true, 3);
	struct task *held = host_task(&x, ACCESS_MODE_READ, NULL, &reading);
	expect_held(&reading);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ, .unused = true};
	struct launch launch = {.device = 0, .kernel = "noop", .uses = &use, .use_count = 1};
	(void)harness_launch(&h, &launch, &reader);
	cr_assert(harness_wait(&h, &reader)); /* two readers are not ordered */
	struct task *host = harness_host(&h, &x, ACCESS_MODE_READ, &access);
	cr_assert(harness_wait(&h, &access));
	(void)host_task(&x, ACCESS_MODE_READ, NULL, &waiting);
	tasks_await_device_turn();
	cr_expect(not(waiting.done), "no group on the buffer runs while the host holds it");
	host_access_release(host);
	expect_held(&waiting);
	host_task_end(waiting.task, NULL);
	host_task_end(held, NULL);
	cr_assert(harness_settle(&h));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(sched_tasks, K3_M9_its_failure_is_its_own_and_a_cause_for_others)
{
	struct words x;
	struct probe task, after, named, ordered;
	harness_words(&h, &x, 8, true, 0);
	struct task *held = host_task(&x, ACCESS_MODE_READ_WRITE, NULL, &task);
	(void)tasks_fill_words(0, &x, 1, &after);
	struct task *behind = host_task(NULL, 0, held, &named);
	expect_held(&task);
	struct backend_fault fault = {.status = STATUS_ACCESSOR, .text = "it said so"};
	host_task_end(held, &fault);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, task.calls, 2));
	cr_expect(eq(i32, task.outcome.fault.status, STATUS_ACCESSOR));
	cr_expect(eq(int, strcmp(task.outcome.fault.text, "it said so"), 0), "%s",
		  task.outcome.fault.text);
	cr_expect(eq(i32, after.outcome.fault.status, STATUS_DEPENDENCY_FAILED));
	cr_expect(ne(ptr, strstr(after.outcome.fault.text, "it said so"), NULL), "%s",
		  after.outcome.fault.text);
	/* A task that fails before its turn is reported once and never held. */
	cr_expect(eq(i32, named.outcome.fault.status, STATUS_DEPENDENCY_FAILED));
	cr_expect(eq(u32, named.calls, 1));
	cr_expect(eq(ptr, (void *)behind, (void *)named.task));
	/* The contents are lost for later tasks, too. */
	(void)host_task(&x, ACCESS_MODE_READ, NULL, &ordered);
	cr_assert(harness_settle(&h));
	cr_expect(eq(i32, ordered.outcome.fault.status, STATUS_DEPENDENCY_FAILED));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

/* The dump shows it as held; a query changes nothing (B3). */
Test(sched_tasks, B3_a_held_one_is_seen_and_looking_changes_nothing)
{
	struct words x;
	struct probe task, after;
	harness_words(&h, &x, 8, true, 0);
	struct task *held = host_task(&x, ACCESS_MODE_WRITE, NULL, &task);
	(void)tasks_fill_words(0, &x, 1, &after);
	expect_held(&task);
	char *first = scheduler_dump(h.scheduler);
	cr_assert(ne(ptr, first, NULL));
	cr_expect(ne(ptr, strstr(first, "host task: after; held"), NULL), "%s", first);
	for (int i = 0; i < 1000; i++) {
		char *again = scheduler_dump(h.scheduler);
		cr_assert(eq(int, strcmp(first, again), 0));
		cr_assert(task_running(held));
		cr_assert(not(task_running(after.task)));
		harness_turn(&h);
		free(again);
	}
	free(first);
	host_task_end(held, NULL);
	cr_assert(harness_settle(&h));
	cr_expect(eq(i32, after.outcome.fault.status, 0));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

static void setup_features(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	harness_start(&h, 3);
}

TestSuite(sched_tasks_shared, .timeout = 20, .init = setup_features);

/* Its writes to shared contents arrive before it ends, because its owner may notify another process
 * then. */
Test(sched_tasks_shared, K2_F10_shared_contents_are_home_before_it_is_over)
{
	struct words x;
	struct probe task;
	harness_words_shared(&h, &x, 8, true, 4, 1, BACKEND_EXPORT_VMM);
	struct task *held = host_task(&x, ACCESS_MODE_READ_WRITE, NULL, &task);
	expect_held(&task);
	struct fake_counters before, after;
	fake_counters(1, &before);
	fake_device_gate_close(1);
	for (int i = 0; i < 8; i++)
		x.host[i] = 12;
	host_task_end(held, NULL);
	tasks_await_device_turn();
	cr_expect(eq(u32, task.calls, 1), "it is over, but its contents are not home");
	fake_device_gate_open(1);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, task.calls, 2));
	fake_counters(1, &after);
	cr_expect(eq(u64, after.writes, before.writes + 1));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}
