/* USM in the scheduler: addresses order nothing, and memory exists before a kernel can need it. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>
#include <sys/mman.h>

static struct harness h;

enum { WORDS = 64, BYTES = WORDS * (int)sizeof(uint32_t), PAGES = 8192 };

static void setup_usm_with(uint32_t features)
{
	fake_reset();
	for (uint32_t i = 0; i < 2; i++)
		fake_device_options(i, (struct fake_device_options){.features = features});
	harness_start(&h, 2);
}

static void setup_usm(void)
{
	setup_usm_with(FAKE_FEATURES_ALL);
}

static void finish_usm(void)
{
	struct fake_counters counters;
	harness_expect_stopped(&h);
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_assert(eq(u32, counters.usms, 0));
	cr_assert(eq(u64, counters.usm_bytes, 0));
}

TestSuite(sched_usm, .timeout = 20);

struct memory {
	struct sched_usm *usm;
	uint32_t *words;
};

static struct memory sched_usm_allocate_usm(enum backend_usm_kind kind)
{
	struct memory memory = {NULL, NULL};
	struct probe ready = {.done = false};
	cr_assert(
		eq(int, sched_usm_allocate(h.devices[0], kind, BYTES, 0, &ready, &memory.usm), 0));
	scheduler_flush(h.scheduler);
	cr_assert(harness_wait(&h, &ready));
	cr_assert(eq(i32, ready.fault.status, 0), "%s", ready.fault.text);
	memory.words = ready.address;
	return memory;
}

static struct task *launch_on_usm(const char *name, void *pointer, uint32_t value,
				  struct task **after, uint32_t after_count, struct probe *probe)
{
	const struct task_argument arguments[] = {
		{.kind = BACKEND_ARGUMENT_GLOBAL, .is_usm = true, .usm = pointer},
		{.kind = BACKEND_ARGUMENT_VALUE, .bytes = &value, .size_bytes = sizeof(value)},
	};
	struct task_request request = {
		.device = h.devices[0],
		.what = name,
		.action = TASK_LAUNCH,
		.after = after,
		.after_count = after_count,
		.launch = {.kernel = harness_kernel(&h, 0, name),
			   .dimensions = 1,
			   .global = {WORDS},
			   .arguments = arguments,
			   .argument_count = strcmp(name, "fill_u32") == 0 ? 2 : 1},
	};
	return harness_submit(&h, &request, probe);
}

Test(sched_usm, B26_one_pointer_makes_no_edge_and_an_event_does)
{
	struct probe a, b, c;
	setup_usm();
	struct memory memory = sched_usm_allocate_usm(BACKEND_USM_DEVICE);
	(void)harness_kernel(&h, 0, "fill_u32");
	(void)harness_kernel(&h, 0, "increment_u32");
	cr_assert(harness_settle(&h));
	fake_device_gate_close(0);
	struct task *first = launch_on_usm("fill_u32", memory.words, 7, NULL, 0, &a);
	unsigned number = harness_number(&h);
	(void)launch_on_usm("fill_u32", memory.words, 9, NULL, 0, &b);
	cr_expect(not(harness_edge(&h, number, number + 1)));
	cr_expect(not(harness_edge(&h, number + 1, number)));
	(void)launch_on_usm("increment_u32", memory.words, 0, &first, 1, &c);
	cr_expect(harness_edge(&h, number, number + 2));
	cr_expect(not(harness_edge(&h, number + 1, number + 2)));
	fake_device_gate_open(0);
	harness_expect_success(&h, &a);
	harness_expect_success(&h, &b);
	harness_expect_success(&h, &c);
	/* The increment came behind the first fill; the place of the second one is undefined. */
	cr_expect(memory.words[3] == 8 || memory.words[3] == 9 || memory.words[3] == 10);
	sched_usm_release(memory.usm);
	finish_usm();
}

Test(sched_usm, commands_move_and_fill_in_the_order_of_events)
{
	struct probe a, b, c;
	setup_usm();
	struct memory from = sched_usm_allocate_usm(BACKEND_USM_SHARED),
		      to = sched_usm_allocate_usm(BACKEND_USM_DEVICE);
	static uint32_t host[WORDS];
	uint32_t pattern[3] = {1, 2, 3};
	struct task_request fill = {.device = h.devices[0],
				    .action = TASK_USM_FILL,
				    .usm = {.destination = from.words,
					    .size_bytes = BYTES - BYTES % (int)sizeof(pattern),
					    .pattern = pattern,
					    .pattern_bytes = sizeof(pattern)}};
	struct task *filled = harness_submit(&h, &fill, &a);
	memset(pattern, 0, sizeof(pattern)); /* copied */
	struct task_request copy = {
		.device = h.devices[0],
		.action = TASK_USM_COPY,
		.after = &filled,
		.after_count = 1,
		.usm = {.destination = to.words, .source = from.words, .size_bytes = BYTES}};
	struct task *copied = harness_submit(&h, &copy, &b);
	struct task_request out = {.device = h.devices[0],
				   .action = TASK_USM_COPY,
				   .after = &copied,
				   .after_count = 1,
				   .usm = {.destination = host,
					   .source = to.words,
					   .host_destination = true,
					   .size_bytes = BYTES}};
	(void)harness_submit(&h, &out, &c);
	harness_expect_success(&h, &a);
	harness_expect_success(&h, &b);
	harness_expect_success(&h, &c);
	for (uint32_t i = 0; i < WORDS - 1; i++)
		cr_assert(eq(u32, host[i], i % 3 + 1));
	sched_usm_release(from.usm);
	sched_usm_release(to.usm);
	finish_usm();
}

Test(sched_usm, an_allocation_that_cannot_be_had_is_told)
{
	struct sched_usm *usm = NULL;
	struct probe ready = {.done = false};
	setup_usm();
	cr_assert(eq(int,
		     fake_fail(FAKE_USM_ALLOC, 0, 0, 1, STATUS_MEMORY_ALLOCATION, false, "no more"),
		     0));
	cr_assert(eq(int,
		     sched_usm_allocate(h.devices[0], BACKEND_USM_DEVICE, BYTES, 0, &ready, &usm),
		     0));
	scheduler_flush(h.scheduler);
	cr_assert(harness_wait(&h, &ready));
	cr_assert(eq(ptr, ready.address, NULL));
	cr_assert(eq(i32, ready.fault.status, STATUS_MEMORY_ALLOCATION));
	sched_usm_release(usm);
	finish_usm();
}

Test(sched_usm, a_device_without_it_says_so)
{
	struct sched_usm *usm = NULL;
	struct probe ready = {.done = false};
	setup_usm_with(FAKE_FEATURES_ALL & ~(uint32_t)BACKEND_FEATURE_USM);
	cr_assert(eq(int,
		     sched_usm_allocate(h.devices[0], BACKEND_USM_DEVICE, BYTES, 0, &ready, &usm),
		     0));
	scheduler_flush(h.scheduler);
	cr_assert(harness_wait(&h, &ready));
	cr_assert(eq(ptr, ready.address, NULL));
	cr_assert(eq(i32, ready.fault.status, STATUS_FEATURE_NOT_SUPPORTED));
	sched_usm_release(usm);
	finish_usm();
}

static void unmapped(void *owner)
{
	*(bool *)owner = true;
}

static void *pages(void)
{
	void *mapped =
		mmap(NULL, PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert(mapped != MAP_FAILED);
	return mapped;
}

static void unregister(struct sched_host *host, void *memory)
{
	bool gone = false;
	scheduler_host_unregister(host, unmapped, &gone);
	scheduler_flush(h.scheduler);
	cr_assert(harness_settle(&h));
	cr_assert(gone);
	(void)munmap(memory, PAGES);
}

Test(sched_usm, registered_memory_is_waited_for)
{
	struct sched_host *host = NULL;
	struct probe ready = {.done = false}, all = {.done = false};
	setup_usm();
	cr_assert(harness_settle(&h));
	void *memory = pages();
	fake_load_gate_close(1);
	cr_assert(eq(int, scheduler_host_register(h.scheduler, memory, PAGES, &host), 0));
	cr_assert(eq(int, scheduler_host_await(host, 3, &all), 0));
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_loading(1, 1, HARNESS_TIMEOUT_NS));
	/* The first device alone does not wait for the second. */
	int r = scheduler_host_await(host, 1, &ready);
	cr_assert(ge(int, r, 0));
	if (r == 0)
		cr_assert(harness_wait(&h, &ready));
	harness_turn(&h);
	cr_assert(not(all.done));
	fake_load_gate_open(1);
	cr_assert(harness_wait(&h, &all));
	cr_assert(eq(i32, all.fault.status, 0));
	cr_assert(eq(int, scheduler_host_await(host, 3, &all), 1));
	cr_assert(eq(u32, all.calls, 1));
	unregister(host, memory);
	finish_usm();
}

Test(sched_usm, memory_that_cannot_be_registered_is_told_and_tried_again)
{
	struct sched_host *host = NULL;
	struct probe ready = {.done = false}, again = {.done = false};
	setup_usm();
	cr_assert(harness_settle(&h));
	void *memory = pages();
	cr_assert(eq(int,
		     fake_fail(FAKE_HOST_REGISTER, 0, 0, 1, STATUS_MEMORY_ALLOCATION, false,
			       "pinned enough"),
		     0));
	cr_assert(eq(int, scheduler_host_register(h.scheduler, memory, PAGES, &host), 0));
	cr_assert(eq(int, scheduler_host_await(host, 3, &ready), 0));
	scheduler_flush(h.scheduler);
	cr_assert(harness_wait(&h, &ready));
	cr_assert(eq(i32, ready.fault.status, STATUS_MEMORY_ALLOCATION));
	cr_assert(eq(int, scheduler_host_await(host, 3, &again), 0));
	scheduler_flush(h.scheduler);
	cr_assert(harness_wait(&h, &again));
	cr_assert(eq(i32, again.fault.status, 0), "%s", again.fault.text);
	unregister(host, memory);
	finish_usm();
}

Test(sched_usm, devices_that_need_no_registration_are_not_waited_for)
{
	struct sched_host *host = NULL;
	struct probe ready = {.done = false};
	setup_usm_with(BACKEND_FEATURE_USM | BACKEND_FEATURE_HOST_ADDRESS);
	void *memory = pages();
	cr_assert(eq(int, scheduler_host_register(h.scheduler, memory, PAGES, &host), 0));
	cr_assert(eq(int, scheduler_host_await(host, UINT64_MAX, &ready), 1));
	/* They do not have a second thread either. */
	struct memory allocated = sched_usm_allocate_usm(BACKEND_USM_HOST);
	allocated.words[0] = 1;
	sched_usm_release(allocated.usm);
	unregister(host, memory);
	finish_usm();
}

/* The kernel finds its pointer inside of other memory, so no argument names that memory. */
Test(sched_usm, E24_a_kernel_follows_pointers_in_memory)
{
	struct node {
		uint64_t next;
		uint32_t value, unused;
	};
	struct probe done;
	setup_usm();
	struct memory list = sched_usm_allocate_usm(BACKEND_USM_SHARED),
		      sum = sched_usm_allocate_usm(BACKEND_USM_SHARED);
	struct node *nodes = (struct node *)(void *)list.words;
	for (uint32_t i = 0; i < 5; i++)
		nodes[i] = (struct node){i < 4 ? (uintptr_t)&nodes[i + 1] : 0, i + 1, 0};
	sum.words[0] = 100;
	const struct task_argument arguments[] = {
		{.kind = BACKEND_ARGUMENT_GLOBAL, .is_usm = true, .usm = sum.words},
		{.kind = BACKEND_ARGUMENT_GLOBAL, .is_usm = true, .usm = list.words},
	};
	struct task_request request = {
		.device = h.devices[0],
		.action = TASK_LAUNCH,
		.launch = {.kernel = harness_kernel(&h, 0, "sum_list_u32"),
			   .dimensions = 1,
			   .global = {1},
			   .arguments = arguments,
			   .argument_count = 2},
	};
	(void)harness_submit(&h, &request, &done);
	harness_expect_success(&h, &done);
	cr_assert(eq(u32, sum.words[0], 115));
	nodes[4].next = 0x1000;
	(void)harness_submit(&h, &request, &done);
	cr_assert(harness_wait(&h, &done));
	cr_assert(eq(i32, done.fault.status, STATUS_KERNEL));
	sched_usm_release(list.usm);
	sched_usm_release(sum.usm);
	finish_usm();
}
