/* The threads of a device: polled ones, loaders. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"
#include "worker/threads_setup.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

static struct harness h;

static void worker_threads_setup_polled(void)
{
	threads_open_devices(&h, FAKE_FEATURES_ALL, 2);
}

static void setup_spinning(void)
{
	threads_open_devices(&h, FAKE_FEATURES_ALL, 16);
}

TestSuite(polled, .timeout = 20, .init = worker_threads_setup_polled);
TestSuite(polled_spinning, .timeout = 20, .init = setup_spinning);
TestSuite(loader, .timeout = 20, .init = worker_threads_setup_polled);
TestSuite(threads, .timeout = 20);

/* Commands end without waking a thread, but the thread polls. With nothing in flight it does not
 * poll. */
static void poll_and_rest(void)
{
	static struct probe probes[300];
	struct probe held;
	for (uint32_t i = 0; i < 300; i++)
		threads_launch(&h, 0, "noop", &probes[i]);
	(void)harness_hold(&h, 0, 1, NULL, 0, &held);
	cr_assert(harness_wait(&h, &probes[299]));
	cr_expect(not(held.done));
	fake_gate_open(1);
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < 300; i++)
		harness_expect_success(&h, &probes[i]);
	harness_expect_success(&h, &held);
	uint64_t asked = fake_counters_of(0).progresses;
	cr_expect(gt(u64, asked, 0));
	/* Far longer than the longest step: the other device runs a thousand commands one after the
	 * other. */
	for (uint32_t i = 0; i < 1000; i++) {
		threads_launch(&h, 1, "noop", &probes[0]);
		cr_assert(harness_wait(&h, &probes[0]));
	}
	cr_expect(eq(u64, fake_counters_of(0).progresses, asked));
	harness_expect_stopped(&h);
}

Test(polled, a_device_that_wakes_nobody_is_asked_while_something_is_in_flight)
{
	poll_and_rest();
}

Test(polled_spinning, a_device_that_wakes_nobody_is_asked_while_something_is_in_flight)
{
	poll_and_rest();
}

Test(polled, mail_ends_a_rest_at_once)
{
	struct probe held, later;
	threads_make_kernel(&h, "hold");
	(void)harness_hold(&h, 0, 1, NULL, 0, &held);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	/* The thread sleeps in steps by now; new commands are sent and reported. */
	for (uint32_t i = 0; i < 50; i++) {
		threads_launch(&h, 0, "noop", &later);
		harness_expect_success(&h, &later);
	}
	fake_gate_open(1);
	harness_expect_success(&h, &held);
	harness_expect_stopped(&h);
}

Test(polled, the_front_is_not_woken_while_it_is_awake)
{
	struct probe probe, warm;
	threads_launch(&h, 0, "noop", &warm);
	harness_expect_success(&h, &warm);
	scheduler_progress(h.scheduler);
	scheduler_awake(h.scheduler);
	uint32_t wakes = h.wakes;
	threads_launch(&h, 0, "noop", &probe);
	scheduler_flush(h.scheduler);
	while (!probe.done)
		scheduler_progress(h.scheduler);
	cr_expect(eq(u32, h.wakes, wakes));
	/* A command is due: the thread does not sleep before that. */
	struct task_request request = {.device = h.devices[0], .what = "barrier"};
	(void)harness_submit(&h, &request, &probe);
	scheduler_flush(h.scheduler);
	cr_expect(not(scheduler_sleep(h.scheduler)));
	scheduler_progress(h.scheduler);
	cr_expect(probe.done);
	cr_expect(scheduler_sleep(h.scheduler));
	/* If it sleeps it is woken. */
	wakes = h.wakes;
	threads_launch(&h, 0, "noop", &probe);
	harness_expect_success(&h, &probe);
	cr_expect(gt(u32, h.wakes, wakes));
	harness_expect_stopped(&h);
}

/* A second program on the device, with one kernel. */
static struct sched_program *load_second_program(const char *text, struct probe *probe)
{
	void *binary;
	size_t bytes;
	char *log;
	struct backend_fault fault;
	struct sched_program *program;
	*probe = (struct probe){.done = false};
	cr_assert(eq(int,
		     backend_fake_ops.build(NULL, 0, BACKEND_SOURCE_BUILTIN, text, strlen(text), "",
					    &binary, &bytes, &log, &fault),
		     0));
	cr_assert(eq(int,
		     sched_program_load(h.scheduler, h.devices[0], binary, bytes, probe, &program),
		     0));
	free(binary);
	return program;
}

Test(loader, F11_launches_go_on_while_a_program_is_loaded)
{
	struct probe before, loaded, made, during, waits;
	struct sched_kernel *kernel;
	threads_launch(&h, 0, "noop", &before);
	harness_expect_success(&h, &before);
	fake_load_gate_close(0);
	struct sched_program *program = load_second_program("noop\n", &loaded);
	made = (struct probe){.done = false};
	cr_assert(eq(int, sched_kernel_create(h.scheduler, program, "noop", &made, &kernel), 0));
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_loading(0, 1, HARNESS_TIMEOUT_NS));

	struct task_request request = {
		.device = h.devices[0], .what = "noop", .action = TASK_LAUNCH};
	request.launch.kernel = kernel;
	request.launch.dimensions = 1;
	request.launch.global[0] = 1;
	(void)harness_submit(&h, &request, &waits);
	for (uint32_t i = 0; i < 20; i++) {
		threads_launch(&h, 0, "noop", &during);
		harness_expect_success(&h, &during);
	}
	cr_expect(not(loaded.done));
	cr_expect(not(waits.done));
	fake_load_gate_open(0);
	harness_expect_success(&h, &waits);
	harness_expect_success(&h, &made);
	harness_expect_success(&h, &loaded);
	sched_kernel_release(kernel);
	sched_program_release(program);
	harness_expect_stopped(&h);
}

Test(threads, F11_where_a_load_stops_everything_it_waits_and_launches_go_on)
{
	struct probe held, loaded, during;
	threads_open_devices(&h, FAKE_FEATURES_ALL | BACKEND_FEATURE_QUIET_LOAD, 2);
	threads_make_kernel(&h, "hold");
	threads_make_kernel(&h, "noop");
	uint64_t loads = fake_counters_of(0).calls[FAKE_PROGRAM_LOAD];
	(void)harness_hold(&h, 0, 1, NULL, 0, &held);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	struct sched_program *program = load_second_program("noop\n", &loaded);
	for (uint32_t i = 0; i < 200; i++) {
		threads_launch(&h, 0, "noop", &during);
		harness_expect_success(&h, &during);
	}
	cr_expect(not(loaded.done));
	cr_expect(eq(u64, fake_counters_of(0).calls[FAKE_PROGRAM_LOAD], loads));
	fake_gate_open(1);
	harness_expect_success(&h, &loaded);
	harness_expect_success(&h, &held);
	sched_program_release(program);
	harness_expect_stopped(&h);
}

Test(loader, M9_a_launch_that_waits_for_a_kernel_fails_with_it)
{
	struct probe loaded, made, waits, behind;
	struct sched_kernel *kernel;
	struct words x;
	harness_words(&h, &x, 4, true, 0);
	fake_load_gate_close(0);
	struct sched_program *program = load_second_program("noop\n", &loaded);
	made = (struct probe){.done = false};
	cr_assert(eq(int, sched_kernel_create(h.scheduler, program, "nothing", &made, &kernel), 0));
	struct task_requirement requirement = {
		.buffer = x.buffer, .mode = ACCESS_MODE_READ_WRITE, .size_bytes = 16};
	struct task_request request = {
		.device = h.devices[0],
		.what = "nothing",
		.action = TASK_LAUNCH,
		.requirements = &requirement,
		.requirement_count = 1,
	};
	request.launch.kernel = kernel;
	request.launch.dimensions = 1;
	request.launch.global[0] = 1;
	(void)harness_submit(&h, &request, &waits);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE, .unused = true};
	(void)harness_launch(&h, &(struct launch){.kernel = "noop", .uses = &use, .use_count = 1},
			     &behind);
	fake_load_gate_open(0);
	cr_assert(harness_wait(&h, &behind));
	cr_expect(eq(i32, behind.fault.status, STATUS_DEPENDENCY_FAILED));
	cr_assert(harness_wait(&h, &waits));
	cr_expect(ne(i32, waits.fault.status, 0));
	cr_expect(strstr(waits.fault.text, "nothing") != NULL, "%s", waits.fault.text);
	cr_assert(harness_wait(&h, &made));
	sched_kernel_release(kernel);
	sched_program_release(program);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(loader, occupancy_is_told)
{
	const uint64_t none[3] = {0, 0, 0}, some[3] = {128, 0, 0}, many[3] = {2048, 0, 0};
	struct probe probes[3] = {{.done = false}};
	struct sched_kernel *kernel = harness_kernel(&h, 0, "noop");
	cr_assert(eq(int, sched_kernel_occupancy(kernel, none, 0, &probes[0]), 0));
	cr_assert(eq(int, sched_kernel_occupancy(kernel, some, 1024, &probes[1]), 0));
	cr_assert(eq(int, sched_kernel_occupancy(kernel, many, 0, &probes[2]), 0));
	harness_expect_success(&h, &probes[1]);
	harness_expect_success(&h, &probes[0]);
	cr_expect(eq(u32, probes[0].occupancy.suggested_group_size, 256));
	cr_expect(eq(u32, probes[1].occupancy.groups_per_compute_unit, 16));
	cr_assert(harness_wait(&h, &probes[2]));
	cr_expect(eq(i32, probes[2].fault.status, STATUS_ND_RANGE));
	harness_expect_stopped(&h);
}

Test(threads, occupancy_without_the_feature_says_so)
{
	const uint64_t some[3] = {128, 0, 0};
	struct probe probe = {.done = false};
	harness_start(&h, 1);
	cr_assert(
		eq(int, sched_kernel_occupancy(harness_kernel(&h, 0, "noop"), some, 0, &probe), 0));
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(i32, probe.fault.status, STATUS_FEATURE_NOT_SUPPORTED));
	harness_expect_stopped(&h);
}

Test(threads, only_timed_groups_ask_for_exact_times)
{
	static struct fake_log_entry log[8];
	struct probe timed, other;
	fake_device_options(0, (struct fake_device_options){.estimates = true});
	harness_start(&h, 1);
	cr_assert(eq(int, fake_log_start(8), 0));
	(void)harness_launch(&h, &(struct launch){.kernel = "noop", .timed = true}, &timed);
	harness_expect_success(&h, &timed);
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &other);
	harness_expect_success(&h, &other);
	cr_assert(eq(u32, fake_log_read(log, 8), 2));
	cr_expect(log[0].timed);
	cr_expect(not(log[1].timed));
	cr_expect(not(timed.outcome.estimated));
	cr_expect(other.outcome.estimated);
	/* They count for accounts. */
	cr_expect(gt(u64, other.outcome.end_ns, 0));
	harness_expect_stopped(&h);
}

Test(threads, options_reach_their_backend_only)
{
	static const char *const other[] = {"cuda:lanes=3", "fakes:x=1", NULL}, *const mine[] = {
											"fake:x=1",
											NULL};
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, device_count;
	harness_start_with(&h, 1, &(struct scheduler_config){.backend_options = other});
	harness_expect_stopped(&h);
	harness_start_with(&h, 0, &(struct scheduler_config){.backend_options = mine});
	cr_assert(eq(int,
		     scheduler_discover(h.scheduler, &platforms, &platform_count, &devices,
					&device_count),
		     0));
	cr_expect(eq(u32, device_count, 0));
	cr_assert(eq(u32, platform_count, 1));
	cr_expect(strstr(platforms[0].facts->unavailable_reason, "x=1") != NULL);
	harness_expect_stopped(&h);
}
