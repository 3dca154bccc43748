/* Host memory that is registered on devices. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"
#include "worker/threads_setup.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct harness h;

static void host_memory_set_up(void)
{
	threads_open_devices(&h, FAKE_FEATURES_ALL, 2);
}

TestSuite(host_memory, .timeout = 20, .init = host_memory_set_up);

struct released {
	uint32_t calls;
};

static void host_memory_count_release(void *owner)
{
	((struct released *)owner)->calls++;
}

#define PAGE 4096u

static struct sched_host *register_page(void *memory)
{
	struct sched_host *host;
	cr_assert(eq(int, scheduler_host_register(h.scheduler, memory, PAGE, &host), 0));
	return host;
}

static uint32_t registrations(void)
{
	struct scheduler_counters counters;
	scheduler_counters(h.scheduler, &counters);
	return counters.host_registrations;
}

Test(host_memory, every_device_registers_it_and_transfers_find_it)
{
	struct released released = {0};
	struct probe probe;
	struct words x;
	harness_words(&h, &x, PAGE / 4, true, 0);
	struct sched_host *host = register_page(x.host);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, registrations(), 3));
	cr_expect(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).hosts, 3));
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	(void)harness_launch(
		&h, &(struct launch){.kernel = "increment_u32", .uses = &use, .use_count = 1},
		&probe);
	harness_expect_success(&h, &probe);
	cr_expect(eq(u64, fake_counters_of(0).registered_transfers, 1));
	scheduler_host_unregister(host, host_memory_count_release, &released);
	cr_expect(eq(u32, released.calls, 0));
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, released.calls, 1));
	cr_expect(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).hosts, 0));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(host_memory, a_device_that_is_opened_later_registers_it_too)
{
	static _Alignas(PAGE) uint8_t memory[PAGE];
	struct released released = {0};
	harness_expect_stopped(&h);
	harness_start(&h, 1);
	struct sched_host *host = register_page(memory);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, registrations(), 1));
	cr_assert(eq(int, scheduler_device(h.scheduler, 2, &h.devices[2]), 0));
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, registrations(), 2));
	scheduler_host_unregister(host, host_memory_count_release, &released);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, released.calls, 1));
	harness_expect_stopped(&h);
}

Test(host_memory, it_stays_until_a_registration_that_is_on_its_way_is_undone)
{
	static _Alignas(PAGE) uint8_t memory[PAGE];
	struct released released = {0};
	fake_load_gate_close(1);
	struct sched_host *host = register_page(memory);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_loading(1, 1, HARNESS_TIMEOUT_NS));
	scheduler_host_unregister(host, host_memory_count_release, &released);
	for (uint32_t i = 0; i < 10; i++) {
		struct probe probe;
		threads_launch(&h, 0, "noop", &probe);
		harness_expect_success(&h, &probe);
	}
	cr_expect(eq(u32, released.calls, 0));
	fake_load_gate_open(1);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, released.calls, 1));
	cr_expect(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).hosts, 0));
	harness_expect_stopped(&h);
}

Test(host_memory, a_device_that_cannot_register_it_works_without)
{
	struct released released = {0};
	struct probe probe;
	struct words x;
	cr_assert(eq(
		int,
		fake_fail(FAKE_HOST_REGISTER, 0, 0, 1, STATUS_MEMORY_ALLOCATION, false, "no pages"),
		0));
	harness_words(&h, &x, PAGE / 4, true, 0);
	struct sched_host *host = register_page(x.host);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, registrations(), 2));
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	(void)harness_launch(
		&h, &(struct launch){.kernel = "increment_u32", .uses = &use, .use_count = 1},
		&probe);
	harness_expect_success(&h, &probe);
	cr_expect(eq(u64, fake_counters_of(0).registered_transfers, 0));
	scheduler_host_unregister(host, host_memory_count_release, &released);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, released.calls, 1));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(threads, host_memory_that_nobody_registers_is_released_at_once)
{
	static _Alignas(PAGE) uint8_t memory[PAGE];
	struct released released = {0};
	harness_start(&h, 1);
	struct sched_host *host = register_page(memory);
	scheduler_host_unregister(host, host_memory_count_release, &released);
	cr_expect(eq(u32, released.calls, 1));
	scheduler_host_unregister(NULL, host_memory_count_release, &released);
	cr_expect(eq(u32, released.calls, 2));
	harness_expect_stopped(&h);
}

Test(threads, host_memory_is_released_when_the_scheduler_is_freed)
{
	static _Alignas(PAGE) uint8_t memory[PAGE];
	struct released released = {0};
	threads_open_devices_with(&h, FAKE_FEATURES_ALL, 0, 2);
	struct sched_host *host = register_page(memory);
	scheduler_host_unregister(host, host_memory_count_release, &released);
	h.scheduler = scheduler_free(h.scheduler);
	cr_expect(eq(u32, released.calls, 1));
	cr_expect(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).hosts, 0));
}
