/* The driver of a device loses the process: which task gets which report, and when. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "flight_page.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

static struct harness h;

static void loss_open_devices(uint32_t features)
{
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = features});
	harness_start(&h, 3);
}

static void setup_loss(void)
{
	loss_open_devices(0);
}

static void loss_setup_polled(void)
{
	loss_open_devices(BACKEND_FEATURE_POLLED | BACKEND_FEATURE_LOADER |
			  BACKEND_FEATURE_COPY_LANES);
}

TestSuite(loss, .timeout = 20, .init = setup_loss);
TestSuite(loss_polled, .timeout = 20, .init = loss_setup_polled);

/* The kernel is made before, so that everything is sent in the order in which it is submitted. */
static void loss_make_kernels(uint32_t device)
{
	(void)harness_kernel(&h, device, "hold");
	(void)harness_kernel(&h, device, "noop");
	(void)harness_kernel(&h, device, "lose_process");
	cr_assert(harness_settle(&h));
}

static struct task *send_launch(uint32_t device, const char *kernel, uint64_t session,
				uint32_t home_lane, struct task **after, struct probe *probe)
{
	struct launch one = {
		.device = device,
		.kernel = kernel,
		.session = session,
		.group = 1,
		.home_lane = home_lane,
		.has_value = strcmp(kernel, "hold") == 0,
		.value = 1,
		.after = after,
		.after_count = after ? 1 : 0,
	};
	return harness_launch(&h, &one, probe);
}

static void expect_lost(const struct probe *probe)
{
	cr_assert(harness_wait(&h, probe));
	cr_expect(eq(i32, probe->fault.status, STATUS_DEVICE_LOST), "%s", probe->fault.text);
	cr_expect(probe->fault.process_lost);
	cr_expect(eq(u32, probe->calls, 1));
	cr_expect(gt(u64, probe->order, h.process_lost.order));
}

static bool on_page(uint64_t session)
{
	const struct flight_page *page = h.flight;
	for (uint32_t i = 0; i < FLIGHT_ENTRIES; i++)
		if (atomic_load(&page->entries[i].session) == session)
			return true;
	return false;
}

/* One device runs a command, another one too, and a third has commands that wait for it: sessions 1
 * to 6. */
static void lose_at_a_kernel(void)
{
	struct probe good, offender, behind, other, other_behind, waits;
	loss_make_kernels(0);
	loss_make_kernels(1);
	send_launch(0, "noop", 9, 1, NULL, &good);
	cr_assert(harness_wait(&h, &good));
	struct task *held = send_launch(1, "hold", 4, 1, NULL, &other);
	send_launch(1, "noop", 5, 1, &held, &other_behind);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(1, 1, HARNESS_TIMEOUT_NS));
	fake_device_gate_close(0);
	struct task *first = send_launch(0, "lose_process", 1, 1, NULL, &offender);
	send_launch(0, "noop", 2, 1, NULL, &behind);
	send_launch(0, "noop", 3, 2, &first, &waits);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 2, HARNESS_TIMEOUT_NS));
	fake_device_gate_open(0);
	cr_assert(harness_wait(&h, &h.process_lost));
	/* No failure has been reported yet. */
	cr_expect(not(offender.done));
	cr_expect(not(other.done));
	cr_expect(eq(i32, h.process_lost.fault.status, STATUS_DEVICE_LOST));
	cr_expect(strstr(h.process_lost.fault.text, "lost the process") != NULL);
	cr_expect(on_page(1));
	cr_expect(not(on_page(2)));
	cr_expect(not(on_page(3)));
	cr_expect(on_page(4));
	cr_expect(not(on_page(5)));
	cr_expect(not(on_page(9)));
	expect_lost(&offender);
	expect_lost(&behind);
	expect_lost(&waits);
	expect_lost(&other);
	expect_lost(&other_behind);
	/* Later tasks fail at once. */
	struct probe late;
	send_launch(1, "noop", 6, 0, NULL, &late);
	expect_lost(&late);
	cr_expect(not(on_page(6)));
	cr_expect(eq(u32, h.process_lost.calls, 1));
	harness_expect_stopped(&h);
}

Test(loss, F12_the_page_names_who_may_have_been_running_before_anybody_is_told)
{
	lose_at_a_kernel();
}

Test(loss_polled, F12_the_page_names_who_may_have_been_running_before_anybody_is_told)
{
	lose_at_a_kernel();
}

Test(loss_polled, every_task_is_told_once)
{
	static struct probe probes[600];
	loss_make_kernels(0);
	loss_make_kernels(1);
	loss_make_kernels(2);
	cr_assert(eq(int, fake_lose_process(FAKE_COMPLETION, 1, 50, "an illegal address"), 0));
	for (uint32_t i = 0; i < 600; i++) {
		send_launch(i % 3, "noop", i + 1, 0, NULL, &probes[i]);
		if (i % 50 == 0)
			scheduler_flush(h.scheduler);
	}
	cr_assert(harness_settle(&h));
	uint32_t lost = 0;
	for (uint32_t i = 0; i < 600; i++) {
		cr_expect(eq(u32, probes[i].calls, 1));
		if (probes[i].fault.status == 0)
			continue;
		cr_expect(eq(i32, probes[i].fault.status, STATUS_DEVICE_LOST));
		cr_expect(gt(u64, probes[i].order, h.process_lost.order));
		lost++;
	}
	cr_expect(ge(u32, lost, 100));
	cr_expect(eq(u32, h.process_lost.calls, 1));
	cr_expect(eq(i32, h.process_lost.fault.native_code, -77));
	harness_expect_stopped(&h);
}

Test(loss_polled, lost_by_what_the_loader_does)
{
	struct probe held, made = {.done = false};
	struct sched_kernel *kernel;
	loss_make_kernels(0);
	send_launch(0, "hold", 1, 0, NULL, &held);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	cr_assert(eq(int, fake_lose_process(FAKE_KERNEL_CREATE, 0, 0, "lost while loading"), 0));
	cr_assert(eq(int, sched_kernel_create(h.scheduler, h.programs[0], "fail", &made, &kernel),
		     0));
	expect_lost(&held);
	cr_assert(harness_wait(&h, &made));
	cr_expect(eq(i32, made.fault.status, STATUS_DEVICE_LOST));
	cr_expect(eq(u32, h.process_lost.calls, 1));
	cr_expect(on_page(1));
	sched_kernel_release(kernel);
	harness_expect_stopped(&h);
}

Test(loss, lost_with_nothing_in_flight)
{
	struct probe made = {.done = false};
	struct sched_kernel *kernel;
	loss_make_kernels(0);
	cr_assert(eq(int, fake_lose_process(FAKE_KERNEL_CREATE, 0, 0, "lost while loading"), 0));
	cr_assert(eq(int, sched_kernel_create(h.scheduler, h.programs[0], "fail", &made, &kernel),
		     0));
	cr_assert(harness_wait(&h, &h.process_lost));
	cr_assert(harness_wait(&h, &made));
	cr_expect(gt(u64, made.order, h.process_lost.order));
	sched_kernel_release(kernel);
	harness_expect_stopped(&h);
}

Test(loss, a_device_alone_is_lost_without_the_process)
{
	struct probe offender, other;
	send_launch(0, "lose_device", 1, 0, NULL, &offender);
	send_launch(1, "noop", 2, 0, NULL, &other);
	cr_assert(harness_wait(&h, &offender));
	cr_assert(harness_wait(&h, &other));
	cr_expect(eq(i32, offender.fault.status, STATUS_DEVICE_LOST));
	cr_expect(eq(i32, other.fault.status, 0));
	cr_expect(not(h.process_lost.done));
	cr_expect(not(on_page(1)));
	harness_expect_stopped(&h);
}
