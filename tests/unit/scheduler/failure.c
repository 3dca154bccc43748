/* Failures: which tasks fail together, which do not, and the state of a device or a buffer
 * afterwards. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

static struct harness h;

static void setup_failure(void)
{
	harness_start(&h, 3);
}

TestSuite(failure, .timeout = 20, .init = setup_failure);
/* The failures are set before anything is opened. */
TestSuite(failure_at_start, .timeout = 20);

static void failure_expect_status(const struct probe *probe, int32_t status, const char *text)
{
	cr_assert(harness_wait(&h, probe));
	cr_expect(eq(i32, probe->fault.status, status), "%s", probe->fault.text);
	if (text)
		cr_expect(strstr(probe->fault.text, text) != NULL, "\"%s\" is not in \"%s\"", text,
			  probe->fault.text);
	cr_expect(eq(u32, probe->calls, 1));
}

static void kernel_on(uint32_t device, const char *kernel, struct words *words, uint32_t mode,
		      struct probe *probe)
{
	struct use use = {.words = words,
			  .mode = mode,
			  .unused = strcmp(kernel, "increment_u32") != 0 &&
				    strcmp(kernel, "fill_u32") != 0};
	struct launch launch = {.device = device, .kernel = kernel, .uses = &use, .use_count = 1};
	launch.has_value = strcmp(kernel, "fill_u32") == 0;
	launch.value = 5;
	(void)harness_launch(&h, &launch, probe);
}

static uint64_t launches(void)
{
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	return counters.launches;
}

/* The first task of a chain fails. The others are on the given devices, and are submitted before or
 * after that. */
static void failure_run_chain(uint32_t second, uint32_t third, bool late)
{
	struct words x;
	struct probe gate, a, b, c;
	harness_words(&h, &x, 8, true, 0);
	fake_gate_close(1);
	(void)harness_hold(&h, 0, 1, &(struct use){.words = &x, .mode = ACCESS_MODE_READ_WRITE}, 1,
			   &gate);
	kernel_on(0, "fail", &x, ACCESS_MODE_READ_WRITE, &a);
	if (late) {
		fake_gate_open(1);
		failure_expect_status(&a, STATUS_KERNEL, "the kernel failed");
	}
	kernel_on(second, "increment_u32", &x, ACCESS_MODE_READ_WRITE, &b);
	kernel_on(third, "increment_u32", &x, ACCESS_MODE_READ, &c);
	fake_gate_open(1);
	failure_expect_status(&c, STATUS_DEPENDENCY_FAILED, "the kernel failed");
	failure_expect_status(&b, STATUS_DEPENDENCY_FAILED, "the kernel failed");
	failure_expect_status(&a, STATUS_KERNEL, "the kernel failed");
	failure_expect_status(&gate, 0, NULL);
	struct probe host;
	(void)harness_host(&h, &x, ACCESS_MODE_READ, &host);
	failure_expect_status(&host, STATUS_DEPENDENCY_FAILED, "the kernel failed");
	harness_words_free(&h, &x);
}

Test(failure, M9_a_chain_sent_ahead_on_one_device_fails_with_the_cause)
{
	failure_run_chain(0, 0, false);
	harness_expect_stopped(&h);
}

Test(failure, M9_a_chain_over_devices_fails_and_runs_nothing)
{
	failure_run_chain(1, 2, false);
	struct fake_counters counters;
	fake_counters(1, &counters);
	cr_expect(eq(u64, counters.launches + counters.writes, 0));
	harness_expect_stopped(&h);
}

Test(failure, M9_what_is_submitted_after_the_failure_fares_the_same)
{
	failure_run_chain(0, 1, true);
	cr_expect(eq(u64, launches(), 1));
	harness_expect_stopped(&h);
}

Test(failure, M9_a_command_that_could_not_be_sent_stops_those_behind_it_in_the_mailbox)
{
	static struct probe probes[50];
	struct words x;
	harness_words(&h, &x, 8, false, 0);
	(void)harness_kernel(&h, 0, "increment_u32");
	cr_assert(harness_settle(&h));
	cr_assert(eq(int, fake_fail(FAKE_SUBMIT, 0, 1, 1, STATUS_ND_RANGE, false, "no such range"),
		     0));
	for (uint32_t i = 0; i < 50; i++)
		kernel_on(0, "increment_u32", &x, ACCESS_MODE_READ_WRITE, &probes[i]);
	failure_expect_status(&probes[49], STATUS_DEPENDENCY_FAILED, "no such range");
	failure_expect_status(&probes[0], 0, NULL);
	failure_expect_status(&probes[1], STATUS_ND_RANGE, "no such range");
	for (uint32_t i = 2; i < 50; i++)
		failure_expect_status(&probes[i], STATUS_DEPENDENCY_FAILED, "no such range");
	cr_expect(eq(u64, launches(), 1));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(failure, M9_what_fails_of_the_garbage_that_it_ran_on_tells_the_first_cause)
{
	struct words x;
	struct probe gate, a, b;
	harness_words(&h, &x, 8, false, 0);
	(void)harness_hold(&h, 0, 1, &(struct use){.words = &x, .mode = ACCESS_MODE_READ_WRITE}, 1,
			   &gate);
	cr_assert(eq(int, fake_fail(FAKE_COMPLETION, 0, 1, 1, STATUS_RUNTIME, false, "first"), 0));
	cr_assert(eq(int, fake_fail(FAKE_COMPLETION, 0, 2, 1, STATUS_RUNTIME, false, "second"), 0));
	kernel_on(0, "noop", &x, ACCESS_MODE_READ_WRITE, &a);
	kernel_on(0, "noop", &x, ACCESS_MODE_READ_WRITE, &b);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	fake_gate_open(1);
	/* Both have returned to the front thread before it handles them. */
	cr_assert(fake_wait_ended(0, 3, HARNESS_TIMEOUT_NS));
	failure_expect_status(&b, STATUS_DEPENDENCY_FAILED, "first");
	failure_expect_status(&a, STATUS_RUNTIME, "first");
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(failure, M9_those_that_wait_for_room_in_a_lane_fail_too_when_nothing_is_left_in_any_lane)
{
	static struct probe failing, filling[767], waiting[1000];
	(void)harness_kernel(&h, 0, "noop");
	(void)harness_kernel(&h, 0, "fail");
	cr_assert(harness_settle(&h));
	fake_device_gate_close(0);
	struct task *first = harness_launch(&h, &(struct launch){.kernel = "fail"}, &failing);
	for (uint32_t i = 0; i < 767; i++)
		(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &filling[i]);
	for (uint32_t i = 0; i < 1000; i++)
		(void)harness_launch(
			&h, &(struct launch){.kernel = "noop", .after = &first, .after_count = 1},
			&waiting[i]);
	scheduler_flush(h.scheduler);
	fake_device_gate_open(0);
	/* Every lane is empty before the front thread handles them. */
	cr_assert(fake_wait_ended(0, 768, HARNESS_TIMEOUT_NS));
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < 1000; i++)
		failure_expect_status(&waiting[i], STATUS_DEPENDENCY_FAILED, "the kernel failed");
	cr_expect(eq(u64, launches(), 767));
	harness_expect_stopped(&h);
}

Test(failure, M9_the_native_code_travels_with_the_cause)
{
	struct words x;
	struct probe a, b;
	harness_words(&h, &x, 8, false, 0);
	cr_assert(eq(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_KERNEL, false, "broken"), 0));
	kernel_on(0, "noop", &x, ACCESS_MODE_READ_WRITE, &a);
	kernel_on(0, "noop", &x, ACCESS_MODE_READ, &b);
	failure_expect_status(&b, STATUS_DEPENDENCY_FAILED, "broken");
	cr_expect(eq(i32, a.fault.native_code, -77));
	cr_expect(eq(i32, b.fault.native_code, -77));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(failure, M9_events_pass_a_failure_on_and_past_failures_are_given)
{
	struct probe failing, held, dependant, past;
	struct task *after[2];
	after[0] = harness_launch(&h, &(struct launch){.kernel = "fail"}, &failing);
	after[1] = harness_hold(&h, 0, 1, NULL, 0, &held);
	struct launch launch = {.device = 1, .kernel = "noop", .after = after, .after_count = 2};
	(void)harness_launch(&h, &launch, &dependant);
	failure_expect_status(&failing, STATUS_KERNEL, NULL);
	cr_expect(not(dependant.done), "it is ordered behind the other one");
	struct task_request request = {
		.device = h.devices[0],
		.failed_dependency = &failing.fault,
		.action = TASK_LAUNCH,
		.launch = {.kernel = harness_kernel(&h, 0, "noop"),
			   .dimensions = 1,
			   .global = {1, 1, 1}},
	};
	(void)harness_submit(&h, &request, &past);
	failure_expect_status(&past, STATUS_DEPENDENCY_FAILED, "the kernel failed");
	fake_gate_open(1);
	failure_expect_status(&dependant, STATUS_DEPENDENCY_FAILED, "the kernel failed");
	failure_expect_status(&held, 0, NULL);
	cr_expect(eq(u64, launches(), 1));
	harness_expect_stopped(&h);
}

Test(failure, M9_what_is_only_ordered_behind_a_failure_runs)
{
	struct words x;
	struct probe reader, writer, failing, healing, host;
	harness_words(&h, &x, 8, true, 10);
	kernel_on(0, "fail", &x, ACCESS_MODE_READ, &reader);
	kernel_on(0, "increment_u32", &x, ACCESS_MODE_READ_WRITE, &writer);
	failure_expect_status(&writer, 0, NULL);
	failure_expect_status(&reader, STATUS_KERNEL, NULL);
	kernel_on(0, "fail", &x, ACCESS_MODE_READ_WRITE, &failing);
	kernel_on(1, "fill_u32", &x, ACCESS_MODE_WRITE_NO_INIT, &healing);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &host);
	failure_expect_status(&host, 0, NULL);
	failure_expect_status(&failing, STATUS_KERNEL, NULL);
	failure_expect_status(&healing, 0, NULL);
	cr_expect(eq(u32, x.host[7], 5));
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(failure, M9_a_host_access_without_init_heals)
{
	struct words x;
	struct probe failing, host, reader;
	harness_words(&h, &x, 8, true, 10);
	kernel_on(0, "fail", &x, ACCESS_MODE_READ_WRITE, &failing);
	failure_expect_status(&failing, STATUS_KERNEL, NULL);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_WRITE_NO_INIT, &host);
	failure_expect_status(&host, 0, NULL);
	host_access_release(access);
	kernel_on(0, "increment_u32", &x, ACCESS_MODE_READ_WRITE, &reader);
	failure_expect_status(&reader, 0, NULL);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(failure, M6_a_memory_that_cannot_be_made_fails_that_task_only)
{
	struct words x, y;
	struct probe a, b, c;
	harness_words(&h, &x, 8, false, 0);
	harness_words(&h, &y, 8, false, 0);
	cr_assert(
		eq(int,
		   fake_fail(FAKE_MEMORY_CREATE, 0, 0, 1, STATUS_MEMORY_ALLOCATION, false, "full"),
		   0));
	kernel_on(0, "increment_u32", &x, ACCESS_MODE_READ, &a);
	kernel_on(0, "increment_u32", &y, ACCESS_MODE_READ_WRITE, &b);
	kernel_on(0, "increment_u32", &x, ACCESS_MODE_READ_WRITE, &c);
	failure_expect_status(&a, STATUS_MEMORY_ALLOCATION, "full");
	failure_expect_status(&b, 0, NULL);
	failure_expect_status(&c, 0, NULL);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(failure, M6_a_move_that_fails_fails_its_reader_and_the_next_one_moves_again)
{
	struct words x;
	struct probe a, b, host;
	harness_words(&h, &x, 8, true, 3);
	cr_assert(eq(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_RUNTIME, false, "bus error"),
		     0));
	kernel_on(0, "increment_u32", &x, ACCESS_MODE_READ, &a);
	failure_expect_status(&a, STATUS_RUNTIME, "bus error");
	kernel_on(0, "increment_u32", &x, ACCESS_MODE_READ_WRITE, &b);
	failure_expect_status(&b, 0, NULL);
	/* The move back fails: the access is refused, and the contents are still on the device. */
	cr_assert(eq(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_RUNTIME, false, "bus error"),
		     0));
	(void)harness_host(&h, &x, ACCESS_MODE_READ, &host);
	failure_expect_status(&host, STATUS_RUNTIME, "bus error");
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &host);
	failure_expect_status(&host, 0, NULL);
	cr_expect(eq(u32, x.host[0], 4));
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(failure, M6_a_lane_that_cannot_be_made_fails_that_task_only)
{
	struct probe a, b;
	cr_assert(eq(int, fake_fail(FAKE_LANE_CREATE, 0, 0, 1, 0, false, ""), 0));
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &a);
	failure_expect_status(&a, STATUS_RUNTIME, "the driver refused");
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &b);
	failure_expect_status(&b, 0, NULL);
	harness_expect_stopped(&h);
}

Test(failure, M6_a_program_or_kernel_that_cannot_be_made_fails_what_uses_it)
{
	struct probe program, kernel, task;
	struct sched_program *sched_program;
	struct sched_kernel *sched_kernel;
	memset(&program, 0, sizeof(program));
	memset(&kernel, 0, sizeof(kernel));
	cr_assert(eq(int,
		     sched_program_load(h.scheduler, h.devices[0], "rubbish", 7, &program,
					&sched_program),
		     0));
	cr_assert(
		eq(int,
		   sched_kernel_create(h.scheduler, sched_program, "noop", &kernel, &sched_kernel),
		   0));
	struct task_request request = {
		.device = h.devices[0],
		.action = TASK_LAUNCH,
		.launch = {.kernel = sched_kernel, .dimensions = 1, .global = {1, 1, 1}},
	};
	(void)harness_submit(&h, &request, &task);
	failure_expect_status(&program, STATUS_INVALID, "not a binary");
	failure_expect_status(&kernel, STATUS_INVALID, "not a binary");
	failure_expect_status(&task, STATUS_INVALID, "not a binary");
	sched_kernel_release(sched_kernel);
	sched_program_release(sched_program);

	(void)harness_kernel(&h, 0, "noop");
	memset(&kernel, 0, sizeof(kernel));
	cr_assert(eq(
		int,
		sched_kernel_create(h.scheduler, h.programs[0], "no such", &kernel, &sched_kernel),
		0));
	failure_expect_status(&kernel, STATUS_KERNEL, "no such");
	cr_expect(eq(u32, kernel.argument_count, UINT32_MAX));
	sched_kernel_release(sched_kernel);
	harness_expect_stopped(&h);
}

Test(failure, M6_a_program_without_names_is_loaded)
{
	cr_assert(eq(int,
		     fake_fail(FAKE_PROGRAM_KERNELS, 0, 0, 1, STATUS_RUNTIME, false, "no names"),
		     0));
	(void)harness_kernel(&h, 0, "noop");
	cr_assert(harness_settle(&h));
	cr_expect(eq(i32, h.scratch[0].fault.status + h.scratch[1].fault.status, 0));
	cr_expect(eq(str, h.scratch[0].names, ""));
	harness_expect_stopped(&h);
}

Test(failure, M9_a_lost_device_fails_each_of_its_tasks_once_and_no_other)
{
	struct probe held[5], waiting[5];
	struct words x;
	struct probe losing, other, late, reader;
	harness_words(&h, &x, 8, true, 0);
	kernel_on(0, "increment_u32", &x, ACCESS_MODE_READ_WRITE, &late);
	failure_expect_status(&late, 0, NULL);
	for (uint32_t i = 0; i < 5; i++)
		(void)harness_hold(&h, 0, 1, NULL, 0, &held[i]);
	for (uint32_t i = 0; i < 5; i++)
		(void)harness_launch(&h,
				     &(struct launch){.kernel = "noop",
						      .after = &held[i].task,
						      .after_count = 1},
				     &waiting[i]);
	(void)harness_launch(
		&h, &(struct launch){.kernel = "lose_device", .session = 9, .group = 1}, &losing);
	(void)harness_launch(&h, &(struct launch){.device = 1, .kernel = "noop"}, &other);
	failure_expect_status(&losing, STATUS_DEVICE_LOST, "lost");
	failure_expect_status(&other, 0, NULL);
	for (uint32_t i = 0; i < 5; i++) {
		failure_expect_status(&held[i], STATUS_DEVICE_LOST, "lost");
		failure_expect_status(&waiting[i], STATUS_DEVICE_LOST, "lost");
	}
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &late);
	failure_expect_status(&late, STATUS_DEVICE_LOST, "lost");
	/* Only the lost device had the contents. */
	kernel_on(1, "increment_u32", &x, ACCESS_MODE_READ, &reader);
	failure_expect_status(&reader, STATUS_DEVICE_LOST, "lost");
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(failure, a_device_lost_at_submission)
{
	struct probe held, losing, late;
	(void)harness_hold(&h, 0, 1, NULL, 0, &held);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	cr_assert(eq(int, fake_fail(FAKE_SUBMIT, 0, 0, 1, STATUS_RUNTIME, true, "fell off the bus"),
		     0));
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &losing);
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &late);
	failure_expect_status(&losing, STATUS_DEVICE_LOST, "fell off the bus");
	failure_expect_status(&held, STATUS_DEVICE_LOST, "fell off the bus");
	failure_expect_status(&late, STATUS_DEVICE_LOST, "fell off the bus");
	harness_expect_stopped(&h);
}

Test(failure_at_start, M6_a_device_that_cannot_be_opened_fails_its_tasks_with_its_own_words)
{
	struct probe task, other;
	cr_assert(eq(int, fake_fail(FAKE_DEVICE_OPEN, 0, 0, 1, 0, false, "in use by another"), 0));
	harness_start(&h, 2);
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &task);
	(void)harness_launch(&h, &(struct launch){.device = 1, .kernel = "noop"}, &other);
	failure_expect_status(&task, STATUS_DEVICE_LOST, "in use by another");
	failure_expect_status(&other, 0, NULL);
	harness_expect_stopped(&h);
}

/* Commands that are sent meanwhile wait for that. */
Test(failure_at_start, M6_a_device_is_opened_when_memory_is_short_for_a_moment)
{
	struct probe task;
	struct fake_counters counters;
	cr_assert(eq(
		int,
		fake_fail(FAKE_DEVICE_OPEN, 0, 0, 4, STATUS_MEMORY_ALLOCATION, false, "no memory"),
		0));
	harness_start(&h, 1);
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &task);
	failure_expect_status(&task, 0, NULL);
	fake_counters(0, &counters);
	cr_expect(eq(u64, counters.calls[FAKE_DEVICE_OPEN], 5));
	harness_expect_stopped(&h);
}

/* A program on a device has failed to load there. */
static void forget_program(uint32_t device)
{
	for (int i = 0; i < 16 && h.kernels[device][i].kernel; i++) {
		sched_kernel_release(h.kernels[device][i].kernel);
		h.kernels[device][i].kernel = NULL;
	}
	sched_program_release(h.programs[device]);
	h.programs[device] = NULL;
}

/* The shortage lasts longer. Then the sent commands have failed, and the device works once there is
 * memory. That includes programs, which the loader loads. */
Test(failure_at_start, M6_a_device_that_could_not_be_opened_for_memory_is_opened_later)
{
	enum { AT_ONCE = 7 };
	struct probe task, other, later;
	struct fake_counters counters;
	fake_device_options(0, (struct fake_device_options){.features = BACKEND_FEATURE_LOADER});
	cr_assert(eq(int,
		     fake_fail(FAKE_DEVICE_OPEN, 0, 0, AT_ONCE + 1, STATUS_MEMORY_ALLOCATION, false,
			       "no memory"),
		     0));
	harness_start(&h, 2);
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &task);
	(void)harness_launch(&h, &(struct launch){.device = 1, .kernel = "noop"}, &other);
	failure_expect_status(&task, STATUS_MEMORY_ALLOCATION, "no memory");
	failure_expect_status(&other, 0, NULL);
	do {
		scheduler_flush(h.scheduler);
		fake_counters(0, &counters);
	} while (counters.devices == 0);
	cr_expect(eq(u64, counters.calls[FAKE_DEVICE_OPEN], AT_ONCE + 2));
	do {
		forget_program(0);
		later = (struct probe){.done = false};
		(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &later);
		cr_assert(harness_wait(&h, &later));
	} while (later.fault.status ==
		 STATUS_MEMORY_ALLOCATION); /* it is opened, and the report follows */
	failure_expect_status(&later, 0, NULL);
	harness_expect_stopped(&h);
}

/* The first command fails while the device cannot be opened. The second one is sent when it can be,
 * before the front thread has that failure. */
Test(failure_at_start, M9_what_failed_before_a_device_was_opened_stops_what_comes_behind_it)
{
	enum { AT_ONCE = 7, BYTES = 32 };
	static uint32_t out[BYTES / 4];
	struct fake_counters counters;
	struct words x;
	struct probe filled, copied;
	uint32_t pattern = 7;
	cr_assert(eq(int,
		     fake_fail(FAKE_DEVICE_OPEN, 0, 0, AT_ONCE + 1, STATUS_MEMORY_ALLOCATION, false,
			       "no memory"),
		     0));
	harness_start(&h, 1);
	harness_words(&h, &x, BYTES / 4, false, 0);
	do
		fake_counters(0, &counters);
	while (counters.calls[FAKE_DEVICE_OPEN] < AT_ONCE);
	struct task_requirement requirement = {
		.buffer = x.buffer, .mode = ACCESS_MODE_WRITE, .size_bytes = BYTES};
	struct task_request request = {
		.device = h.devices[0],
		.requirements = &requirement,
		.requirement_count = 1,
		.action = TASK_FILL,
		.fill = {.size_bytes = BYTES,
			 .pattern = &pattern,
			 .pattern_bytes = sizeof(pattern)},
		.what = "fill",
	};
	(void)harness_submit(&h, &request, &filled);
	scheduler_flush(h.scheduler);
	do
		fake_counters(0, &counters);
	while (counters.devices == 0);
	requirement.mode = ACCESS_MODE_READ;
	request = (struct task_request){
		.device = h.devices[0],
		.requirements = &requirement,
		.requirement_count = 1,
		.action = TASK_COPY,
		.copy = {.source = 0, .destination = -1, .host = out, .size_bytes = BYTES},
		.what = "copy",
	};
	(void)harness_submit(&h, &request, &copied);
	scheduler_flush(h.scheduler);
	failure_expect_status(&filled, STATUS_MEMORY_ALLOCATION, "no memory");
	failure_expect_status(&copied, STATUS_DEPENDENCY_FAILED, NULL);
	fake_counters(0, &counters);
	cr_expect(eq(u64, counters.reads, 0), "it ran on what nobody had written");
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

/* Host memory that could not be registered before is registered now, so transfers have their usual
 * speed. */
Test(failure_at_start, M6_a_device_that_is_opened_later_registers_what_is_there)
{
	enum { AT_ONCE = 7, BYTES = 4096 };
	struct fake_counters counters;
	struct sched_host *host = NULL;
	void *memory = aligned_alloc(BYTES, BYTES);
	fake_device_options(
		0, (struct fake_device_options){.features = BACKEND_FEATURE_LOADER |
							    BACKEND_FEATURE_HOST_REGISTER});
	cr_assert(eq(int,
		     fake_fail(FAKE_DEVICE_OPEN, 0, 0, AT_ONCE + 1, STATUS_MEMORY_ALLOCATION, false,
			       "no memory"),
		     0));
	harness_start(&h, 1);
	cr_assert(zero(int, scheduler_host_register(h.scheduler, memory, BYTES, &host)));
	cr_assert(harness_settle(&h));
	do
		fake_counters(0, &counters);
	while (counters.devices == 0);
	cr_expect(eq(u32, counters.hosts, 0));
	do {
		scheduler_devices_opened(h.scheduler, 1);
		cr_assert(harness_settle(&h));
		fake_counters(0, &counters);
	} while (counters.hosts == 0); /* it is opened, and the report follows */
	scheduler_devices_opened(h.scheduler, 1);
	cr_assert(harness_settle(&h));
	fake_counters(0, &counters);
	cr_expect(eq(u32, counters.hosts, 1), "once");
	scheduler_host_unregister(host, free, memory);
	harness_expect_stopped(&h);
}

/* No command waits for memory that will not be available. */
Test(failure_at_start, M6_a_device_that_cannot_be_opened_for_another_reason_is_not_tried_again)
{
	struct probe task;
	struct fake_counters counters;
	cr_assert(eq(int,
		     fake_fail(FAKE_DEVICE_OPEN, 0, 0, 1, STATUS_DEVICE_LOST, false,
			       "in use by another"),
		     0));
	harness_start(&h, 1);
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &task);
	failure_expect_status(&task, STATUS_DEVICE_LOST, "in use by another");
	fake_counters(0, &counters);
	cr_expect(eq(u64, counters.calls[FAKE_DEVICE_OPEN], 1));
	harness_expect_stopped(&h);
}

Test(failure_at_start, M6_an_engine_ends_while_its_device_waits_for_memory)
{
	cr_assert(eq(int,
		     fake_fail(FAKE_DEVICE_OPEN, 0, 0, 1000, STATUS_MEMORY_ALLOCATION, false,
			       "no memory"),
		     0));
	harness_start(&h, 1);
	harness_expect_stopped(&h);
}

static void expect_unavailable(enum fake_entry entry)
{
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	struct scheduler_device *device;
	uint32_t platform_count, device_count;
	cr_assert(eq(
		int,
		fake_fail(entry, FAKE_ANY_DEVICE, 0, 1, STATUS_PLATFORM, false, "no driver today"),
		0));
	harness_start(&h, 0);
	cr_expect(not(scheduler_discovered(h.scheduler)));
	cr_assert(eq(int,
		     scheduler_discover(h.scheduler, &platforms, &platform_count, &devices,
					&device_count),
		     0));
	cr_expect(scheduler_discovered(h.scheduler));
	cr_expect(eq(u32, device_count, 0));
	cr_assert(eq(u32, platform_count, 1));
	cr_expect(not(platforms[0].facts->available));
	cr_expect(eq(str, platforms[0].facts->name, "fake"));
	cr_expect(eq(str, platforms[0].facts->unavailable_reason, "no driver today"));
	cr_expect(lt(int, scheduler_device(h.scheduler, 0, &device), 0));
	harness_expect_stopped(&h);
}

Test(failure_at_start, A4_a_backend_that_cannot_be_opened_is_active_and_not_available)
{
	expect_unavailable(FAKE_OPEN);
}

Test(failure_at_start, A4_nor_one_that_cannot_be_enumerated)
{
	expect_unavailable(FAKE_ENUMERATE);
}

/* A command that cannot be sent never begins, and its predecessor continues. A command that follows
 * only the unsent one waits for that predecessor. */
Test(failure, M9_who_comes_behind_what_never_began_comes_behind_what_that_waited_for)
{
	struct words x;
	struct probe reader, failed, writer;
	struct fake_counters before, now;
	harness_words(&h, &x, 8, true, 0);
	(void)harness_kernel(&h, 0, "hold");
	(void)harness_kernel(&h, 0, "fill_u32");
	cr_assert(harness_settle(&h));
	fake_gate_close(1);
	const struct use read = {.words = &x, .mode = ACCESS_MODE_READ, .unused = true},
			 write = {.words = &x, .mode = ACCESS_MODE_WRITE_NO_INIT};
	struct launch launch = {.device = 0,
				.kernel = "hold",
				.uses = &read,
				.use_count = 1,
				.has_value = true,
				.value = 1,
				.items = 1,
				.home_lane = 1};
	fake_counters(0, &before);
	(void)harness_launch(&h, &launch, &reader);
	scheduler_flush(h.scheduler);
	/* With the move of its contents. */
	do {
		harness_turn(&h);
		fake_counters(0, &now);
	} while (now.calls[FAKE_SUBMIT] < before.calls[FAKE_SUBMIT] + 2);
	cr_assert(fake_wait_started(0, now.calls[FAKE_SUBMIT], HARNESS_TIMEOUT_NS));
	fake_counters(0, &before);
	cr_assert(zero(
		int, fake_fail(FAKE_SUBMIT, 0, 0, 1, STATUS_MEMORY_ALLOCATION, false, "no room")));
	launch = (struct launch){.device = 0,
				 .kernel = "fill_u32",
				 .uses = &write,
				 .use_count = 1,
				 .has_value = true,
				 .value = 5,
				 .home_lane = 2};
	(void)harness_launch(&h, &launch, &failed);
	launch.home_lane = 3;
	(void)harness_launch(&h, &launch, &writer);
	scheduler_flush(h.scheduler);
	do
		fake_counters(0, &now);
	while (now.lane_waits == before.lane_waits &&
	       !fake_wait_started(0, before.calls[FAKE_SUBMIT] + 1, 0));
	cr_expect(gt(u64, now.lane_waits, before.lane_waits),
		  "it writes what another one still reads");
	fake_gate_open(1);
	failure_expect_status(&reader, STATUS_SUCCESS, NULL);
	failure_expect_status(&failed, STATUS_MEMORY_ALLOCATION, "no room");
	failure_expect_status(&writer, STATUS_SUCCESS, NULL);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}
