/* Commands that go to a device before the flush, while more are submitted. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/device.h"
#include "scheduler/state/program.h"
#include "scheduler/state/scheduler.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct harness h;

TestSuite(send_early, .timeout = 20);

static void send_early_start(uint32_t features, const struct scheduler_config *config)
{
	fake_device_options(
		0, (struct fake_device_options){.features = features, .preferred_lanes = 1});
	harness_start_with(&h, 1, config);
	fake_gate_open(HARNESS_GATE);
}

static void finish(void)
{
	fake_gate_open(HARNESS_GATE);
	fake_clock(0, 0);
	harness_expect_stopped(&h);
}

static const struct launch hold = {
	.kernel = "hold", .has_value = true, .value = HARNESS_GATE, .items = 1};

/* From now on the estimate of that kernel's launches is this. */
static void expect_ns(uint64_t took_ns)
{
	struct probe probe;
	fake_clock(1000000000ull, took_ns);
	for (int i = 0; i < 8; i++) {
		(void)harness_launch(&h, &hold, &probe);
		cr_assert(harness_wait(&h, &probe));
	}
}

/* Checks how many are not sent yet, after each of the launches. */
static void expect_unsent(const uint32_t *unsent, uint32_t count)
{
	static struct probe probes[16];
	const struct scheduler_device *device = h.scheduler->devices[0];
	cr_assert(le(u32, count, 16));
	fake_gate_close(HARNESS_GATE);
	for (uint32_t i = 0; i < count; i++) {
		(void)harness_launch(&h, &hold, &probes[i]);
		scheduler_send_early(h.scheduler);
		cr_expect(eq(u32, device->port.unpublished, unsent[i]), "after launch %u", i + 1);
	}
	fake_gate_open(HARNESS_GATE);
	for (uint32_t i = 0; i < count; i++)
		cr_assert(harness_wait(&h, &probes[i]));
}

/* Two are 16 us of work for an idle device; the next ones are more each time. */
Test(send_early, TR3_an_idle_device_begins_while_more_is_submitted)
{
	send_early_start(FAKE_FEATURES_ALL, &(struct scheduler_config){.processors = 4});
	expect_ns(8000);
	expect_unsent((const uint32_t[]){1, 0, 1, 2, 3, 0, 1}, 7);
	/* The device was idle meanwhile. */
	expect_unsent((const uint32_t[]){1, 0, 1}, 3);
	finish();
}

/* A device with enough work leaves time to collect all of them. */
Test(send_early, TR3_a_busy_device_gets_what_is_submitted_together)
{
	send_early_start(FAKE_FEATURES_ALL, &(struct scheduler_config){.processors = 4});
	expect_ns(1000000000000);
	expect_unsent((const uint32_t[]){1, 0, 1, 2, 3, 4, 5, 6}, 8);
	finish();
}

Test(send_early, TR1_short_launches_are_collected)
{
	send_early_start(FAKE_FEATURES_ALL, &(struct scheduler_config){.processors = 4});
	expect_ns(3000);
	expect_unsent((const uint32_t[]){1, 2, 3, 4, 5, 6, 7, 8}, 8);
	finish();
}

Test(send_early, TR3_kernels_whose_time_is_not_known_are_collected)
{
	send_early_start(FAKE_FEATURES_ALL, &(struct scheduler_config){.processors = 4});
	expect_ns(0);
	expect_unsent((const uint32_t[]){1, 2, 3, 4}, 4);
	finish();
}

Test(send_early, TR3_it_can_be_switched_off)
{
	send_early_start(FAKE_FEATURES_ALL,
			 &(struct scheduler_config){.processors = 4, .never_early = true});
	expect_ns(8000);
	expect_unsent((const uint32_t[]){1, 2, 3, 4}, 4);
	finish();
}

/* For a device that takes a whole flush as one, nothing is sent early. */
Test(send_early, TR3_devices_that_are_not_polled_wait_for_the_flush)
{
	send_early_start(BACKEND_FEATURE_INLINE | BACKEND_FEATURE_LOADER,
			 &(struct scheduler_config){.processors = 4});
	expect_ns(8000);
	expect_unsent((const uint32_t[]){1, 2, 3, 4}, 4);
	finish();
}

/* What is not sent between two sessions, of one launch. */
static void expect_unsent_between(const struct scheduler_config *config, uint32_t unsent)
{
	struct probe probe;
	send_early_start(FAKE_FEATURES_ALL, config);
	expect_ns(0);
	fake_gate_close(HARNESS_GATE);
	(void)harness_launch(&h, &hold, &probe);
	scheduler_send_between(h.scheduler);
	cr_expect(eq(u32, h.scheduler->devices[0]->port.unpublished, unsent));
	fake_gate_open(HARNESS_GATE);
	cr_assert(harness_wait(&h, &probe));
	finish();
}

Test(send_early, TR5_what_a_session_has_submitted_does_not_wait_for_other_sessions)
{
	expect_unsent_between(&(struct scheduler_config){.processors = 4, .front_polls = true}, 0);
}

Test(send_early, TR5_without_a_processor_for_each_thread_it_waits_for_the_flush)
{
	expect_unsent_between(&(struct scheduler_config){.processors = 4}, 1);
}

Test(send_early, TR5_sending_between_sessions_can_be_switched_off)
{
	expect_unsent_between(&(struct scheduler_config){.processors = 4,
							 .front_polls = true,
							 .never_early = true},
			      1);
}
