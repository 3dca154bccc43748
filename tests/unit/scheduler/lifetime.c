/* The times at which objects are opened, kept, freed and reported. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "clock.h"
#include "flight_page.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

static struct harness h;

static void setup_lifetime(void)
{
	harness_start(&h, 3);
}

TestSuite(lifetime, .timeout = 20, .init = setup_lifetime);
TestSuite(opening, .timeout = 20);

Test(opening, A17_A20_nothing_is_opened_or_asked_before_it_is_needed)
{
	struct fake_counters counters;
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, device_count;
	harness_start(&h, 0);
	scheduler_progress(h.scheduler);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(eq(u64, counters.calls[FAKE_OPEN], 0));
	for (uint32_t i = 0; i < 3; i++)
		cr_assert(eq(int,
			     scheduler_discover(h.scheduler, &platforms, &platform_count, &devices,
						&device_count),
			     0));
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(eq(u64, counters.calls[FAKE_OPEN], 1));
	cr_expect(eq(u64, counters.calls[FAKE_ENUMERATE], 1));
	cr_expect(eq(u64, counters.calls[FAKE_DEVICE_OPEN], 0));
	cr_expect(eq(u32, platform_count, 1));
	cr_assert(eq(u32, device_count, 3));
	cr_expect(eq(str, devices[2].facts->name, "Fake device 2"));
	cr_expect(eq(u32, devices[2].platform, 0));
	struct scheduler_device *first, *again;
	cr_assert(eq(int, scheduler_device(h.scheduler, 1, &first), 0));
	cr_assert(eq(int, scheduler_device(h.scheduler, 1, &again), 0));
	cr_expect(eq(ptr, first, again));
	cr_expect(lt(int, scheduler_device(h.scheduler, 3, &first), 0));
	harness_expect_stopped(&h);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(eq(u64, counters.calls[FAKE_DEVICE_OPEN], 1));
}

Test(opening, A1_a_platform_without_devices)
{
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, device_count;
	cr_assert(eq(int, fake_devices(0), 0));
	harness_start(&h, 0);
	cr_assert(eq(int,
		     scheduler_discover(h.scheduler, &platforms, &platform_count, &devices,
					&device_count),
		     0));
	cr_expect(eq(u32, platform_count, 1));
	cr_expect(eq(u32, device_count, 0));
	harness_expect_stopped(&h);
}

Test(opening, a_scheduler_that_did_nothing_is_freed)
{
	harness_start(&h, 0);
	cr_expect(scheduler_idle(h.scheduler));
	harness_expect_stopped(&h);
	cr_expect(eq(ptr, scheduler_free(NULL), NULL));
}

Test(lifetime, D10_D16_a_released_buffer_is_freed_after_its_last_use)
{
	struct words x;
	struct probe held, after;
	struct fake_counters counters;
	harness_words(&h, &x, 1024, true, 0);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	(void)harness_launch(
		&h, &(struct launch){.kernel = "increment_u32", .uses = &use, .use_count = 1},
		&after);
	harness_expect_success(&h, &after);
	(void)harness_hold(&h, 0, 1, &use, 1, &held);
	(void)harness_launch(
		&h,
		&(struct launch){
			.device = 1, .kernel = "increment_u32", .uses = &use, .use_count = 1},
		&after);
	sched_buffer_release(x.buffer);
	x.buffer = NULL;
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 3, HARNESS_TIMEOUT_NS)); /* move, increment, hold */
	harness_turn(&h);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(not(x.freed.done));
	cr_expect(eq(u64, counters.memory_bytes, 4096));
	fake_gate_open(1);
	harness_expect_success(&h, &after);
	harness_words_free(&h, &x);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(eq(u64, counters.memory_bytes, 0));
	harness_expect_stopped(&h);
}

Test(lifetime, D16_released_programs_and_kernels_live_while_they_are_used)
{
	struct probe held, again;
	struct fake_counters counters;
	(void)harness_hold(&h, 0, 1, NULL, 0, &held);
	struct sched_kernel *kernel = h.kernels[0][0].kernel;
	struct task_request request = {
		.device = h.devices[0],
		.action = TASK_BARRIER,
		.after = &held.task,
		.after_count = 1,
	};
	(void)harness_submit(&h, &request, &again);
	sched_kernel_release(kernel);
	sched_program_release(h.programs[0]);
	h.kernels[0][0].kernel = NULL;
	h.programs[0] = NULL;
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	harness_turn(&h);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(eq(u32, counters.kernels, 1));
	fake_gate_open(1);
	harness_expect_success(&h, &again);
	cr_assert(harness_settle(&h));
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(eq(u32, counters.kernels, 0));
	cr_expect(eq(u32, counters.programs, 0));
	harness_expect_stopped(&h);
}

Test(lifetime, D15_released_before_they_are_made_they_are_still_told_and_freed)
{
	static const char text[] = "noop\nhold\n";
	struct probe program_probe, kernel_probe;
	struct sched_program *program;
	struct sched_kernel *kernel;
	void *binary;
	size_t bytes;
	char *log;
	struct backend_fault fault;
	memset(&program_probe, 0, sizeof(program_probe));
	memset(&kernel_probe, 0, sizeof(kernel_probe));
	cr_assert(eq(int,
		     backend_fake_ops.build(NULL, 0, BACKEND_SOURCE_BUILTIN, text, sizeof(text) - 1,
					    "", &binary, &bytes, &log, &fault),
		     0));
	cr_assert(eq(int,
		     sched_program_load(h.scheduler, h.devices[0], binary, bytes, &program_probe,
					&program),
		     0));
	memset(binary, 0, bytes); /* it was copied */
	free(binary);
	cr_assert(eq(int, sched_kernel_create(h.scheduler, program, "hold", &kernel_probe, &kernel),
		     0));
	sched_program_release(program);
	sched_kernel_release(kernel);
	harness_expect_success(&h, &program_probe);
	harness_expect_success(&h, &kernel_probe);
	cr_expect(eq(str, program_probe.names, "noop hold"));
	cr_expect(eq(u32, kernel_probe.argument_count, 1));
	harness_expect_stopped(&h);
}

Test(lifetime, H3_H4_H7_times_and_bytes_of_a_task)
{
	struct words x;
	struct probe held, task;
	harness_words(&h, &x, 256, true, 0);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	uint64_t before = clock_now_ns();
	(void)harness_hold(&h, 0, 1, NULL, 0, &held);
	struct launch launch = {.device = 0,
				.kernel = "increment_u32",
				.uses = &use,
				.use_count = 1,
				.after = &held.task,
				.after_count = 1,
				.timed = true};
	(void)harness_launch(&h, &launch, &task);
	uint64_t submitted = clock_now_ns();
	fake_gate_open(1);
	harness_expect_success(&h, &task);
	const struct task_outcome *outcome = &task.outcome;
	cr_expect(ge(u64, outcome->submit_ns, before));
	cr_expect(le(u64, outcome->submit_ns, submitted));
	cr_expect(ge(u64, outcome->start_ns, held.outcome.end_ns));
	cr_expect(ge(u64, outcome->end_ns, outcome->start_ns));
	cr_expect(eq(u64, outcome->bytes_to_device, 1024));
	cr_expect(eq(u64, outcome->bytes_to_host, 0));
	cr_expect(ge(u64, held.outcome.start_ns, held.outcome.submit_ns));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(lifetime, H3_device_time_is_that_of_the_action_and_of_its_moves)
{
	struct words x;
	struct probe task;
	harness_words(&h, &x, 256, true, 0);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	/* Each reading is 10 later, so a command takes 10. */
	fake_clock(1000, 10);
	(void)harness_launch(
		&h, &(struct launch){.kernel = "increment_u32", .uses = &use, .use_count = 1},
		&task);
	harness_expect_success(&h, &task);
	cr_expect(eq(u64, task.outcome.device_ns, 20));
	cr_expect(eq(u64, task.outcome.start_ns, 1020));
	cr_expect(eq(u64, task.outcome.end_ns, 1030));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

/* Entries of the page, by group. */
static const struct flight_entry *flight(uint64_t session, uint64_t group)
{
	const struct flight_page *page = h.flight;
	for (uint32_t i = 0; i < FLIGHT_ENTRIES; i++)
		if (atomic_load(&page->entries[i].session) == session &&
		    page->entries[i].group == group)
			return &page->entries[i];
	return NULL;
}

Test(lifetime, N5_the_flight_page_names_what_is_on_a_device)
{
	struct probe held, behind;
	(void)harness_kernel(&h, 0, "hold");
	cr_assert(harness_settle(&h));
	uint32_t gate = 1;
	struct task_argument argument = {
		.kind = BACKEND_ARGUMENT_VALUE, .bytes = &gate, .size_bytes = 4};
	struct task_request request = {
		.device = h.devices[0],
		.what = "a kernel with a name that is longer than the page keeps",
		.flight_session = 4,
		.flight_queue = 5,
		.flight_group = 6,
		.action = TASK_LAUNCH,
		.launch = {.kernel = h.kernels[0][0].kernel,
			   .dimensions = 1,
			   .global = {1, 1, 1},
			   .arguments = &argument,
			   .argument_count = 1},
	};
	struct task *first = harness_submit(&h, &request, &held);
	struct launch launch = {.device = 1,
				.kernel = "noop",
				.after = &first,
				.after_count = 1,
				.session = 4,
				.group = 7};
	(void)harness_launch(&h, &launch, &behind);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	const struct flight_entry *entry = flight(4, 6);
	cr_assert(entry != NULL);
	cr_expect(eq(u64, entry->queue, 5));
	cr_expect(eq(str, (char *)entry->what, "a kernel with a name that is longer tha"));
	cr_expect(eq(ptr, (void *)flight(4, 7), NULL), "it waits and is on no device");
	fake_gate_open(1);
	harness_expect_success(&h, &behind);
	cr_expect(eq(ptr, (void *)flight(4, 6), NULL));
	harness_expect_stopped(&h);
}

Test(lifetime, N5_more_groups_in_flight_than_entries_are_counted)
{
	static struct probe probes[1200];
	const struct flight_page *page = h.flight;
	for (uint32_t i = 0; i < 1200; i++) {
		struct launch launch = {.device = i % 3,
					.kernel = "hold",
					.has_value = true,
					.value = 1,
					.session = 1,
					.group = i + 1};
		(void)harness_launch(&h, &launch, &probes[i]);
	}
	scheduler_flush(h.scheduler);
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (atomic_load(&page->more) != 1200 - FLIGHT_ENTRIES && clock_now_ns() < deadline)
		continue;
	cr_expect(eq(u64, atomic_load(&page->more), 1200 - FLIGHT_ENTRIES));
	fake_gate_open(1);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, atomic_load(&page->more), 0));
	harness_expect_stopped(&h);
}

Test(lifetime, an_idle_device_is_not_woken_and_asks_nothing)
{
	struct probe probe;
	struct fake_counters before, after;
	struct scheduler_counters counters;
	for (uint32_t device = 0; device < 3; device++) {
		(void)harness_launch(&h, &(struct launch){.device = device, .kernel = "noop"},
				     &probe);
		harness_expect_success(&h, &probe);
	}
	cr_assert(harness_settle(&h));
	fake_counters(1, &before);
	for (uint32_t i = 0; i < 2000; i++) {
		(void)harness_launch(&h, &(struct launch){.device = 0, .kernel = "noop"}, &probe);
		if (i % 500 == 0)
			harness_expect_good(&h, &probe);
	}
	cr_assert(harness_settle(&h));
	fake_counters(1, &after);
	cr_expect(eq(u64, after.progresses, before.progresses));
	cr_expect(eq(u64, after.flushes, before.flushes));
	scheduler_counters(h.scheduler, &counters);
	cr_expect(eq(u64, counters.tasks_submitted, counters.tasks_done));
	cr_expect(eq(u32, counters.tasks_open, 0));
	cr_expect(lt(u64, counters.device_wakes, 2000));
	harness_expect_stopped(&h);
}

Test(lifetime, N6_memory_is_back_at_its_base_after_many_tasks)
{
	struct fake_counters counters;
	for (uint32_t round = 0; round < 20; round++) {
		static struct probe probes[100];
		struct words x, y;
		harness_words(&h, &x, 64, true, round);
		harness_words(&h, &y, 64, false, 0);
		for (uint32_t i = 0; i < 100; i++) {
			struct use uses[] = {
				{.words = i % 2 ? &x : &y, .mode = ACCESS_MODE_READ_WRITE},
				{.words = i % 2 ? &y : &x, .mode = ACCESS_MODE_READ}};
			struct launch launch = {
				.device = i % 3, .kernel = "add_u32", .uses = uses, .use_count = 2};
			(void)harness_launch(&h, &launch, &probes[i]);
		}
		harness_words_free(&h, &x);
		harness_words_free(&h, &y);
		for (uint32_t i = 0; i < 100; i++)
			cr_assert(probes[i].done && probes[i].fault.status == 0);
		fake_counters(FAKE_ANY_DEVICE, &counters);
		cr_assert(eq(u32, counters.memories, 0));
	}
	struct scheduler_counters totals;
	scheduler_counters(h.scheduler, &totals);
	cr_expect(eq(u32, totals.buffers, 0));
	harness_expect_stopped(&h);
}
