/* Launches of several kernels that are one task: their order and values, failures, tasks that
 * depend on one of them, and when they are not accepted as one. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "clock.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "scheduler/task/pool.h"
#include "status.h"
#include "worker/task/burst.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <string.h>

#define WORDS 8u
#define GATE  7u
enum { A, B, C, BUFFERS };

static struct harness h;
static struct words words[BUFFERS];

/* All buffers and kernels are on the device. */
static void setup_stretch(void)
{
	struct probe probe;
	harness_start(&h, 1);
	for (uint32_t i = 0; i < BUFFERS; i++) {
		harness_words(&h, &words[i], WORDS, true, i);
		const struct use use = {.words = &words[i], .mode = ACCESS_MODE_READ_WRITE};
		(void)harness_launch(&h,
				     &(struct launch){.kernel = "fill_even_u32",
						      .uses = &use,
						      .use_count = 1,
						      .has_value = true,
						      .value = 2 * i},
				     &probe);
		cr_assert(harness_wait(&h, &probe));
	}
	const struct use uses[] = {{.words = &words[A], .mode = ACCESS_MODE_READ_WRITE},
				   {.words = &words[B], .mode = ACCESS_MODE_READ}};
	(void)harness_launch(&h,
			     &(struct launch){.kernel = "mix_u32",
					      .uses = uses,
					      .use_count = 2,
					      .has_value = true,
					      .value = 1},
			     &probe);
	cr_assert(harness_wait(&h, &probe));
}

TestSuite(stretch, .timeout = 30, .init = setup_stretch);

static void finish_stretch(void)
{
	for (uint32_t i = 0; i < BUFFERS; i++)
		harness_words_free(&h, &words[i]);
	cr_assert(harness_settle(&h));
	harness_expect_stopped(&h);
}

/*
 * Three launches: A becomes 10; B = B * 31 + A + 7; C = C * 31 + B + 9. Each but the first needs
 * the result of the one before. Returns the result of task_submit. `second`: the kernel of the
 * second launch, NULL: as above; "hold" has only a value, the gate.
 */
static int submit_stretch_of(uint32_t first_mode, const char *second, struct probe *probe,
			     struct task **task_out)
{
	static const uint32_t values[] = {10, GATE, 9};
	static const uint8_t indexes[][2] = {{A, 0}, {B, A}, {C, B}};
	const struct task_requirement requirements[BUFFERS] = {
		{.buffer = words[A].buffer, .mode = first_mode, .last_writer = 0},
		{.buffer = words[B].buffer, .mode = ACCESS_MODE_READ_WRITE, .last_writer = 1},
		{.buffer = words[C].buffer, .mode = ACCESS_MODE_READ_WRITE, .last_writer = 2}};
	struct task_argument arguments[] = {
		{.kind = BACKEND_ARGUMENT_GLOBAL, .requirement = 0},
		{.kind = BACKEND_ARGUMENT_GLOBAL, .requirement = 1},
		{.kind = BACKEND_ARGUMENT_VALUE, .size_bytes = sizeof(uint32_t)}};
	struct task_argument fill_arguments[] = {arguments[0], arguments[2]};
	const struct task_launch fill = {.kernel = harness_kernel(&h, 0, "fill_even_u32"),
					 .dimensions = 1,
					 .global = {WORDS},
					 .arguments = fill_arguments,
					 .argument_count = 2},
				 mix = {.kernel = harness_kernel(&h, 0, "mix_u32"),
					.dimensions = 1,
					.global = {WORDS},
					.arguments = arguments,
					.argument_count = 3};
	const bool holds = second && strcmp(second, "hold") == 0;
	const struct task_launch other = {
		.kernel = harness_kernel(&h, 0, second ? second : "mix_u32"),
		.dimensions = 1,
		.global = {holds ? 1 : WORDS},
		.arguments = holds ? &arguments[2] : arguments,
		.argument_count = holds ? 1 : 3};
	struct task_member members[3];
	struct task_requirement all[BUFFERS];
	for (uint32_t i = 0; i < 3; i++) {
		members[i] = (struct task_member){.launch = i == 0   ? &fill
							    : i == 1 ? &other
								     : &mix,
						  .requirements = indexes[i],
						  .values = (const uint8_t *)&values[i]};
		all[i] = requirements[i];
		all[i].size_bytes = WORDS * sizeof(uint32_t);
		all[i].late = all[i].is_later = i > 0;
	}
	struct task_request request = {
		.device = h.devices[0],
		.owner = probe,
		.what = "fill_even_u32",
		.home_lane = 1,
		.flight_session = 5,
		.flight_group = 70,
		.account = h.account,
		.requirements = all,
		.requirement_count = BUFFERS,
		.action = TASK_LAUNCH,
		.launch = {.kernel = fill.kernel, .count = 3, .members = members}};
	*probe = (struct probe){.launches = 3};
	return task_submit(h.scheduler, &request, task_out);
}

static int submit_stretch(uint32_t first_mode, struct probe *probe, struct task **task_out)
{
	return submit_stretch_of(first_mode, NULL, probe, task_out);
}

static struct task *expect_stretch(struct probe *probe)
{
	struct task *task = NULL;
	cr_assert(eq(int, submit_stretch(ACCESS_MODE_WRITE_NO_INIT, probe, &task), 0));
	return task;
}

static void stretch_expect_launches(const struct probe *probe, int32_t first, int32_t second,
				    int32_t third)
{
	const int32_t statuses[] = {first, second, third};
	cr_assert(harness_wait(&h, probe));
	cr_expect(eq(u32, probe->calls, 1));
	for (uint32_t i = 0; i < 3; i++)
		cr_expect(eq(i32, probe->launch_faults[i].status, statuses[i]), "launch %u: %s", i,
			  probe->launch_faults[i].text);
}

/* The host's result: the status, and the word if that is 0. */
static void expect_word(uint32_t buffer, int32_t status, uint32_t expected)
{
	struct probe probe;
	struct task *access = harness_host(&h, &words[buffer], ACCESS_MODE_READ, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(i32, probe.fault.status, status), "buffer %u: %s", buffer, probe.fault.text);
	if (probe.fault.status)
		return;
	if (status == 0)
		cr_expect(eq(u32, words[buffer].host[0], expected), "buffer %u", buffer);
	host_access_release(access);
}

/* Submits a launch that needs only this buffer and writes nothing. */
static void read_behind(uint32_t buffer, struct probe *probe)
{
	const struct use use = {.words = &words[buffer], .mode = ACCESS_MODE_READ, .unused = true};
	(void)harness_launch(
		&h,
		&(struct launch){.kernel = "noop", .uses = &use, .use_count = 1, .home_lane = 1},
		probe);
}

Test(stretch, TR5_launches_of_several_kernels_come_in_order_with_their_values)
{
	struct probe probe;
	struct scheduler_counters before, after;
	scheduler_counters(h.scheduler, &before);
	(void)expect_stretch(&probe);
	stretch_expect_launches(&probe, 0, 0, 0);
	const uint32_t b = 2 * 31 + 10 + 7;
	expect_word(A, 0, 10);
	expect_word(B, 0, b);
	expect_word(C, 0, 4 * 31 + b + 9);
	scheduler_counters(h.scheduler, &after);
	cr_expect(eq(u64, after.stretches - before.stretches, 1));
	cr_expect(eq(u64, after.stretch_launches - before.stretch_launches, 3));
	cr_expect(eq(u64, after.tasks_done, after.tasks_submitted));
	finish_stretch();
}

/* The task behind it needs the buffer of one launch. It fails if that launch or one before has
 * failed, whether it is submitted before or after the failure. */
/* One is made for each iteration of a solver. */
Test(stretch, TR5_memory_of_tasks_is_kept_for_the_next_ones)
{
	static const struct {
		size_t bytes;
		uint32_t kept;
	} sizes[] = {{0, 1},
		     {SCHED_STORAGE_BYTES, 1},
		     {SCHED_STORAGE_BYTES + 1, 1},
		     {SCHED_BURST_STORAGE_BYTES, 1},
		     {SCHED_BURST_STORAGE_BYTES + 1, 1},
		     {SCHED_STRETCH_STORAGE_BYTES, 1},
		     {SCHED_STRETCH_STORAGE_BYTES + 1, 0}};
	const struct scheduler *scheduler = h.scheduler;
	const uint64_t in_use = scheduler->pool_bytes;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct task *task = sched_take_task(h.scheduler, sizes[i].bytes);
		const uint32_t before = scheduler->tasks.spare + scheduler->bursts.spare +
					scheduler->stretches.spare;
		cr_assert(ne(ptr, task, NULL));
		cr_assert(ge(u64, task->storage_bytes, sizes[i].bytes));
		memset(task->storage, 1, sizes[i].bytes);
		sched_give_task(h.scheduler, task);
		cr_expect(eq(u32,
			     scheduler->tasks.spare + scheduler->bursts.spare +
				     scheduler->stretches.spare,
			     before + sizes[i].kept),
			  "%zu bytes", sizes[i].bytes);
		cr_expect(eq(u64, scheduler->pool_bytes, in_use));
	}
	finish_stretch();
}

Test(stretch, M9_what_earlier_launches_have_written_is_good)
{
	static const enum fake_entry entries[] = {FAKE_COMPLETION, FAKE_SUBMIT};
	for (uint32_t failed = 0; failed < 3; failed++) {
		for (uint32_t way = 0; way < 4; way++) {
			const bool is_late = way % 2;
			const enum fake_entry entry = entries[way / 2];
			struct probe probe, readers[BUFFERS];
			int32_t statuses[3];
			for (uint32_t i = 0; i < 3; i++)
				statuses[i] = i < failed    ? 0
					      : i == failed ? STATUS_KERNEL
							    : STATUS_DEPENDENCY_FAILED;
			cr_assert(harness_settle(&h));
			cr_assert(
				eq(int,
				   fake_fail(entry, 0, failed, 1, STATUS_KERNEL, false, "scripted"),
				   0));
			fake_device_gate_close(0);
			(void)expect_stretch(&probe);
			for (uint32_t i = 0; i < BUFFERS && !is_late; i++)
				read_behind(i, &readers[i]);
			scheduler_flush(h.scheduler);
			fake_device_gate_open(0);
			stretch_expect_launches(&probe, statuses[0], statuses[1], statuses[2]);
			for (uint32_t i = 0; i < BUFFERS && is_late; i++)
				read_behind(i, &readers[i]);
			for (uint32_t i = 0; i < BUFFERS; i++) {
				const int32_t status = i < failed ? 0 : STATUS_DEPENDENCY_FAILED;
				cr_assert(harness_wait(&h, &readers[i]));
				cr_expect(eq(i32, readers[i].fault.status, status),
					  "reader %u, failed %u, way %u: %s", i, failed, way,
					  readers[i].fault.text);
				expect_word(i, status, i == A ? 10 : 10 * 31 + 10 + 7);
				/* The buffer is valid again, for the next round. */
				const struct use use = {.words = &words[i],
							.mode = ACCESS_MODE_WRITE_NO_INIT};
				struct probe again;
				(void)harness_launch(&h,
						     &(struct launch){.kernel = "fill_even_u32",
								      .uses = &use,
								      .use_count = 1,
								      .has_value = true,
								      .value = 10},
						     &again);
				cr_assert(harness_wait(&h, &again));
			}
		}
	}
	finish_stretch();
}

static void expect_readers(const struct probe *readers)
{
	for (uint32_t i = 0; i < BUFFERS; i++) {
		cr_assert(harness_wait(&h, &readers[i]));
		cr_expect(eq(i32, readers[i].fault.status, i == A ? 0 : STATUS_DEPENDENCY_FAILED),
			  "reader %u: %s", i, readers[i].fault.text);
	}
}

/* The device's thread has had that many launches back; the front thread runs no turn. */
static void wait_for_launches(const struct task *task, uint32_t launches)
{
	const uint64_t until_ns = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (burst_over(task->command.burst) < launches)
		cr_assert(lt(u64, clock_now_ns(), until_ns));
}

/* A later launch fails with the one that failed by itself. */
Test(stretch, M9_a_launch_has_failed_from_the_first_failure_on)
{
	struct task_burst burst = {.count = 3, .failed = 1u << 1, .refused = 1};
	struct task_command command = {.burst = &burst};
	for (uint32_t launches = 1; launches < 8; launches++) {
		cr_expect(eq(int, worker_stretch_has_failed(&command, launches), launches > 1));
		cr_expect(eq(int, worker_stretch_will_fail(&command, launches), launches > 1));
	}
	command.skipped = true;
	cr_expect(worker_stretch_has_failed(&command, 1));
	finish_stretch();
}

/* A task that needs only an earlier launch runs. */
Test(stretch, M9_what_is_sent_between_a_failure_and_its_report_depends_on_its_own_launch)
{
	struct probe probe, readers[BUFFERS];
	(void)harness_kernel(&h, 0, "noop");
	cr_assert(
		eq(int, fake_fail(FAKE_COMPLETION, 0, 1, 1, STATUS_KERNEL, false, "scripted"), 0));
	const struct task *task = expect_stretch(&probe);
	scheduler_flush(h.scheduler);
	wait_for_launches(task, 3);
	for (uint32_t i = 0; i < BUFFERS; i++)
		read_behind(i, &readers[i]);
	stretch_expect_launches(&probe, 0, STATUS_KERNEL, STATUS_DEPENDENCY_FAILED);
	expect_readers(readers);
	finish_stretch();
}

/* The driver has accepted the second launch, and will report its failure. */
Test(stretch, M9_what_is_behind_a_launch_that_was_refused_depends_on_its_own_launch)
{
	struct probe probe, readers[BUFFERS];
	struct task *task;
	(void)harness_launch(&h, &(struct launch){.kernel = "refuse"}, &probe);
	cr_assert(harness_wait(&h, &probe));
	fake_device_gate_close(0);
	cr_assert(
		eq(int, submit_stretch_of(ACCESS_MODE_WRITE_NO_INIT, "refuse", &probe, &task), 0));
	for (uint32_t i = 0; i < BUFFERS; i++)
		read_behind(i, &readers[i]);
	scheduler_flush(h.scheduler);
	fake_device_gate_open(0);
	stretch_expect_launches(&probe, 0, STATUS_KERNEL, STATUS_DEPENDENCY_FAILED);
	expect_readers(readers);
	finish_stretch();
}

/* The driver refuses the second launch. Tasks that need it or the third must not run on the old
 * contents while the first is in flight. */
Test(stretch, M9_what_needs_a_launch_that_was_not_taken_does_not_run)
{
	struct probe probe, readers[BUFFERS];
	(void)harness_kernel(&h, 0, "noop");
	cr_assert(harness_settle(&h));
	cr_assert(eq(int, fake_fail(FAKE_SUBMIT, 0, 1, 1, STATUS_KERNEL, false, "scripted"), 0));
	const uint64_t before = fake_counters_of(0).launches;
	fake_device_gate_close(0);
	(void)expect_stretch(&probe);
	for (uint32_t i = 0; i < BUFFERS; i++)
		read_behind(i, &readers[i]);
	scheduler_flush(h.scheduler);
	fake_device_gate_open(0);
	stretch_expect_launches(&probe, 0, STATUS_KERNEL, STATUS_DEPENDENCY_FAILED);
	expect_readers(readers);
	/* The first launch, and the task that needs it. */
	cr_expect(eq(u64, fake_counters_of(0).launches - before, 2));
	finish_stretch();
}

static uint64_t one_ms(void *context, uint64_t session)
{
	(void)context;
	return session == 5 ? 1000000 : 0;
}

Test(stretch, R4_a_deadline_names_the_launch_that_runs)
{
	struct probe probe;
	struct task *task;
	struct scheduler_overdue overdue;
	fake_gate_open(GATE);
	(void)harness_hold(&h, 0, GATE, NULL, 0, &probe);
	cr_assert(harness_wait(&h, &probe));
	fake_gate_close(GATE);
	cr_assert(eq(int, submit_stretch_of(ACCESS_MODE_WRITE_NO_INIT, "hold", &probe, &task), 0));
	scheduler_flush(h.scheduler);
	wait_for_launches(task, 1);
	cr_expect(not(scheduler_overdue(h.scheduler, 1000000, one_ms, NULL, &overdue)));
	cr_assert(scheduler_overdue(h.scheduler, 3000000, one_ms, NULL, &overdue));
	cr_expect(eq(u64, overdue.group, 71));
	cr_expect(eq(str, (char *)overdue.what, "hold"));
	fake_gate_open(GATE);
	stretch_expect_launches(&probe, 0, 0, 0);
	finish_stretch();
}

/* Tasks behind the events of launches are sent to the device before these have run. */
Test(stretch, M6_an_event_is_that_of_one_launch)
{
	struct probe probe, after[3];
	cr_assert(
		eq(int, fake_fail(FAKE_COMPLETION, 0, 1, 1, STATUS_KERNEL, false, "scripted"), 0));
	fake_device_gate_close(0);
	struct task *task = expect_stretch(&probe);
	for (uint32_t i = 0; i < 3; i++)
		(void)harness_launch(
			&h,
			&(struct launch){.kernel = "noop",
					 .after = &task,
					 .after_count = 1,
					 .after_launches =
						 (const uint32_t[]){task_launch_bit(task, i)}},
			&after[i]);
	scheduler_flush(h.scheduler);
	fake_device_gate_open(0);
	stretch_expect_launches(&probe, 0, STATUS_KERNEL, STATUS_DEPENDENCY_FAILED);
	for (uint32_t i = 0; i < 3; i++) {
		cr_assert(harness_wait(&h, &after[i]));
		cr_expect(eq(i32, after[i].fault.status, i < 1 ? 0 : STATUS_DEPENDENCY_FAILED),
			  "launch %u", i);
	}
	finish_stretch();
}

/* An open launch writes a buffer that only the second launch needs. If it failed, the first would
 * have to run all the same. */
Test(stretch, M9_it_is_none_where_a_later_launch_may_fail_of_something_else)
{
	struct probe open, probe;
	struct task *task;
	const struct use use = {.words = &words[B], .mode = ACCESS_MODE_READ_WRITE};
	fake_device_gate_close(0);
	(void)harness_launch(&h,
			     &(struct launch){.kernel = "fill_even_u32",
					      .uses = &use,
					      .use_count = 1,
					      .has_value = true,
					      .value = 4},
			     &open);
	cr_expect(eq(int, submit_stretch(ACCESS_MODE_WRITE_NO_INIT, &probe, &task), -EINVAL));
	fake_device_gate_open(0);
	cr_assert(harness_wait(&h, &open));
	cr_expect(eq(u32, probe.calls, 0));
	(void)expect_stretch(&probe);
	stretch_expect_launches(&probe, 0, 0, 0);
	finish_stretch();
}

/* The stretch before writes all of that, and this one's first launch needs its last. */
Test(stretch, TR5_it_may_come_behind_another_one)
{
	struct probe first, second, third;
	struct task *task;
	fake_device_gate_close(0);
	(void)expect_stretch(&first);
	cr_expect(eq(int, submit_stretch(ACCESS_MODE_WRITE_NO_INIT, &third, &task), -EINVAL),
		  "its first launch does not need the open one");
	/* A needs the first launch of the open one, B its second. */
	cr_expect(eq(int, submit_stretch(ACCESS_MODE_READ_WRITE, &second, &task), -EINVAL));
	fake_device_gate_open(0);
	stretch_expect_launches(&first, 0, 0, 0);
	cr_assert(eq(int, submit_stretch(ACCESS_MODE_READ_WRITE, &second, &task), 0));
	stretch_expect_launches(&second, 0, 0, 0);
	finish_stretch();
}

/* The program may release the accessor only when the first launch has ended. */
Test(stretch, D6_it_is_none_where_a_later_launch_waits_for_a_host_accessor)
{
	static const uint32_t modes[] = {ACCESS_MODE_READ, ACCESS_MODE_READ_WRITE};
	for (uint32_t buffer = A; buffer < BUFFERS; buffer++)
		for (uint32_t i = 0; i < 2; i++) {
			struct probe held, probe;
			struct task *task;
			struct task *access = harness_host(&h, &words[buffer], modes[i], &held);
			cr_assert(harness_wait(&h, &held));
			int result = submit_stretch(ACCESS_MODE_WRITE_NO_INIT, &probe, &task);
			cr_expect(eq(int, result, buffer == A ? 0 : -EINVAL), "buffer %u, mode %u",
				  buffer, modes[i]);
			host_access_release(access);
			if (result == 0)
				stretch_expect_launches(&probe, 0, 0, 0);
			cr_assert(harness_settle(&h));
		}
	finish_stretch();
}

/* Another queue's kernel reads a buffer that only a later launch writes. */
Test(stretch, F8_it_is_none_where_a_later_launch_waits_for_another_reader)
{
	struct probe reader, probe;
	struct task *task;
	fake_device_gate_close(0);
	read_behind(C, &reader);
	cr_expect(eq(int, submit_stretch(ACCESS_MODE_WRITE_NO_INIT, &probe, &task), -EINVAL));
	fake_device_gate_open(0);
	cr_assert(harness_wait(&h, &reader));
	(void)expect_stretch(&probe);
	stretch_expect_launches(&probe, 0, 0, 0);
	finish_stretch();
}
