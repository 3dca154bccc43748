/* The threads of a device: polled ones, loaders, lanes, host memory that is registered. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

static struct harness h;

static void open_devices(uint32_t features, uint32_t lanes, const struct scheduler_config *config)
{
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = features,
								    .preferred_lanes = lanes});
	harness_start_with(&h, 3, config);
}

static void setup_polled(void)
{
	open_devices(FAKE_FEATURES_ALL, 4, &(struct scheduler_config){.processors = 2});
}

static void setup_spinning(void)
{
	open_devices(FAKE_FEATURES_ALL, 4, &(struct scheduler_config){.processors = 16});
}

TestSuite(polled, .timeout = 20, .init = setup_polled);
TestSuite(polled_spinning, .timeout = 20, .init = setup_spinning);
TestSuite(loader, .timeout = 20, .init = setup_polled);
TestSuite(lanes, .timeout = 20, .init = setup_polled);
TestSuite(host_memory, .timeout = 20, .init = setup_polled);
TestSuite(threads, .timeout = 20);

static void launch_kernel(uint32_t device, const char *kernel, struct probe *probe)
{
	(void)harness_launch(&h, &(struct launch){.device = device, .kernel = kernel}, probe);
}

/* Made before it is used, so that its launches need no turn of the front. */
static void make_kernel(const char *name)
{
	(void)harness_kernel(&h, 0, name);
	cr_assert(harness_settle(&h));
}

/* Commands end and nobody is woken for it; but the thread polls. With nothing in flight it does not
 * poll. */
static void poll_and_rest(void)
{
	static struct probe probes[300];
	struct probe held;
	for (uint32_t i = 0; i < 300; i++)
		launch_kernel(0, "noop", &probes[i]);
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
	/* Far longer than the longest step: the other device does a thousand things one after the
	 * other. */
	for (uint32_t i = 0; i < 1000; i++) {
		launch_kernel(1, "noop", &probes[0]);
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
	make_kernel("hold");
	(void)harness_hold(&h, 0, 1, NULL, 0, &held);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	/* The thread rests in steps by now; new commands are sent and reported. */
	for (uint32_t i = 0; i < 50; i++) {
		launch_kernel(0, "noop", &later);
		harness_expect_success(&h, &later);
	}
	fake_gate_open(1);
	harness_expect_success(&h, &held);
	harness_expect_stopped(&h);
}

Test(polled, the_front_is_not_woken_while_it_is_awake)
{
	struct probe probe, warm;
	launch_kernel(0, "noop", &warm);
	harness_expect_success(&h, &warm);
	scheduler_progress(h.scheduler);
	scheduler_awake(h.scheduler);
	uint32_t wakes = h.wakes;
	launch_kernel(0, "noop", &probe);
	scheduler_flush(h.scheduler);
	while (!probe.done)
		scheduler_progress(h.scheduler);
	cr_expect(eq(u32, h.wakes, wakes));
	/* Something is due: no sleep before that. */
	struct task_request request = {.device = h.devices[0], .what = "barrier"};
	(void)harness_submit(&h, &request, &probe);
	scheduler_flush(h.scheduler);
	cr_expect(not(scheduler_sleep(h.scheduler)));
	scheduler_progress(h.scheduler);
	cr_expect(probe.done);
	cr_expect(scheduler_sleep(h.scheduler));
	/* Asleep it is woken. */
	wakes = h.wakes;
	launch_kernel(0, "noop", &probe);
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
	launch_kernel(0, "noop", &before);
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
		launch_kernel(0, "noop", &during);
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
	open_devices(FAKE_FEATURES_ALL | BACKEND_FEATURE_QUIET_LOAD, 4,
		     &(struct scheduler_config){.processors = 2});
	make_kernel("hold");
	make_kernel("noop");
	uint64_t loads = fake_counters_of(0).calls[FAKE_PROGRAM_LOAD];
	(void)harness_hold(&h, 0, 1, NULL, 0, &held);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	struct sched_program *program = load_second_program("noop\n", &loaded);
	for (uint32_t i = 0; i < 200; i++) {
		launch_kernel(0, "noop", &during);
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

/* Everything that was done, by lane. */
static uint32_t read_log(struct fake_log_entry *log, uint32_t capacity)
{
	uint32_t count = fake_log_read(log, capacity);
	cr_assert(le(u32, count, capacity));
	return count;
}

Test(lanes, F1_an_in_order_queue_has_one_lane)
{
	static struct fake_log_entry log[64];
	struct probe probes[12];
	struct words x[3];
	uint32_t home = scheduler_home_lane(h.devices[0]);
	for (uint32_t i = 0; i < 3; i++)
		harness_words(&h, &x[i], 16, true, 0);
	cr_assert(eq(int, fake_log_start(64), 0));
	struct task *before = NULL;
	for (uint32_t i = 0; i < 12; i++) {
		struct use use = {.words = &x[i % 3], .mode = ACCESS_MODE_READ_WRITE};
		struct launch one = {
			.kernel = "increment_u32",
			.uses = &use,
			.use_count = 1,
			.home_lane = home,
			.after = &before,
			.after_count = i > 0,
		};
		before = harness_launch(&h, &one, &probes[i]);
	}
	cr_assert(harness_settle(&h));
	uint32_t launches = 0, lane = UINT32_MAX;
	for (uint32_t i = 0, count = read_log(log, 64); i < count; i++) {
		if (log[i].kind != BACKEND_COMMAND_LAUNCH)
			continue;
		cr_expect(lane == UINT32_MAX || log[i].lane == lane);
		lane = log[i].lane;
		launches++;
	}
	cr_expect(eq(u32, launches, 12));
	for (uint32_t i = 0; i < 3; i++)
		harness_words_free(&h, &x[i]);
	harness_expect_stopped(&h);
}

/* Both of one queue go behind each other; another queue's, whose home it is, too, goes where nobody
 * is. */
Test(lanes, F8_queues_that_share_a_home_do_not_wait_for_each_other)
{
	static struct fake_log_entry log[16];
	struct probe held, follower, other;
	const uint32_t gate = 1;
	make_kernel("hold");
	cr_assert(eq(int, fake_log_start(16), 0));
	struct launch one = {.kernel = "hold",
			     .has_value = true,
			     .value = gate,
			     .items = 1,
			     .home_lane = 2,
			     .shares_home = true};
	struct task *first = harness_launch(&h, &one, &held);
	struct launch next = {.kernel = "noop",
			      .home_lane = 2,
			      .shares_home = true,
			      .after = &first,
			      .after_count = 1};
	(void)harness_launch(&h, &next, &follower);
	struct launch third = {.kernel = "noop", .home_lane = 2, .shares_home = true};
	(void)harness_launch(&h, &third, &other);
	harness_expect_success(&h, &other);
	cr_expect(not(held.done));
	fake_gate_open(gate);
	harness_expect_success(&h, &held);
	harness_expect_success(&h, &follower);
	cr_assert(eq(u32, read_log(log, 16), 3));
	/* As they ended: the other one, the held one, its follower. */
	cr_expect(ne(u32, log[0].lane, log[1].lane));
	cr_expect(eq(u32, log[1].lane, log[2].lane));
	harness_expect_stopped(&h);
}

Test(lanes, F3_a_thousand_queues_use_as_many_lanes_as_the_device_likes)
{
	static struct probe probes[1000];
	for (uint32_t i = 0; i < 1000; i++) {
		struct launch one = {.kernel = "noop",
				     .home_lane = scheduler_home_lane(h.devices[0])};
		(void)harness_launch(&h, &one, &probes[i]);
	}
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, fake_counters_of(0).lanes, 4));
	harness_expect_stopped(&h);
}

Test(lanes, F2_independent_groups_without_a_home_run_side_by_side)
{
	struct probe probes[4];
	make_kernel("hold");
	for (uint32_t i = 0; i < 4; i++)
		(void)harness_hold(&h, 0, 1, NULL, 0, &probes[i]);
	scheduler_flush(h.scheduler);
	cr_expect(fake_wait_started(0, 4, HARNESS_TIMEOUT_NS));
	fake_gate_open(1);
	for (uint32_t i = 0; i < 4; i++)
		harness_expect_success(&h, &probes[i]);
	harness_expect_stopped(&h);
}

static enum backend_lane_kind lane_of(enum backend_command_kind kind)
{
	static struct fake_log_entry log[64];
	for (uint32_t i = 0, count = read_log(log, 64); i < count; i++)
		if (log[i].kind == kind)
			return log[i].lane_kind;
	cr_fatal("no such command");
	return BACKEND_LANE_COMPUTE;
}

Test(lanes, moves_run_on_lanes_for_copies)
{
	struct probe probe, host;
	struct words x;
	harness_words(&h, &x, 16, true, 5);
	cr_assert(eq(int, fake_log_start(64), 0));
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	struct launch one = {
		.kernel = "increment_u32", .uses = &use, .use_count = 1, .home_lane = 1};
	(void)harness_launch(&h, &one, &probe);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &host);
	harness_expect_success(&h, &host);
	cr_expect(eq(u32, x.host[3], 9));
	host_access_release(access);
	cr_expect(eq(int, (int)lane_of(BACKEND_COMMAND_WRITE), BACKEND_LANE_COPY_IN));
	cr_expect(eq(int, (int)lane_of(BACKEND_COMMAND_READ), BACKEND_LANE_COPY_OUT));
	cr_expect(eq(int, (int)lane_of(BACKEND_COMMAND_LAUNCH), BACKEND_LANE_COMPUTE));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

static void copy_in(struct words *words, uint32_t *host, uint32_t home_lane, struct probe *probe)
{
	struct task_requirement requirement = {
		.buffer = words->buffer,
		.mode = ACCESS_MODE_WRITE_NO_INIT,
		.size_bytes = words->count * sizeof(uint32_t),
	};
	struct task_request request = {
		.device = h.devices[0],
		.what = "copy",
		.home_lane = home_lane,
		.requirements = &requirement,
		.requirement_count = 1,
		.action = TASK_COPY,
	};
	request.copy.source = -1;
	request.copy.host = host;
	request.copy.size_bytes = requirement.size_bytes;
	(void)harness_submit(&h, &request, probe);
}

Test(lanes, F1_a_transfer_of_an_in_order_queue_stays_on_its_lane)
{
	uint32_t host[16] = {1, 2, 3};
	struct probe first, second;
	struct words x;
	harness_words(&h, &x, 16, false, 0);
	cr_assert(eq(int, fake_log_start(64), 0));
	copy_in(&x, host, scheduler_home_lane(h.devices[0]), &first);
	harness_expect_success(&h, &first);
	cr_expect(eq(int, (int)lane_of(BACKEND_COMMAND_WRITE), BACKEND_LANE_COMPUTE));
	cr_assert(eq(int, fake_log_start(64), 0));
	copy_in(&x, host, 0, &second);
	harness_expect_success(&h, &second);
	cr_expect(eq(int, (int)lane_of(BACKEND_COMMAND_WRITE), BACKEND_LANE_COPY_IN));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(lanes, launch_properties_arrive)
{
	static struct fake_log_entry log[8];
	const struct backend_launch_properties properties = {.cooperative = true,
							     .cluster = {1, 2, 4}};
	struct probe probe, plain;
	cr_assert(eq(int, fake_log_start(8), 0));
	(void)harness_launch(&h, &(struct launch){.kernel = "noop", .properties = &properties},
			     &probe);
	harness_expect_success(&h, &probe);
	(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &plain);
	harness_expect_success(&h, &plain);
	cr_assert(eq(u32, read_log(log, 8), 2));
	cr_expect(log[0].cooperative);
	cr_expect(eq(u32, log[0].cluster[2], 4));
	cr_expect(not(log[1].cooperative));
	harness_expect_stopped(&h);
}

/* The launch before on the lane, if that is one that it depends on, of its own session. */
Test(lanes, R5_a_launch_begins_early_behind_a_launch_of_its_session_alone)
{
	static struct fake_log_entry log[16];
	static const struct backend_launch_properties early = {.early = true, .early_after = 99};
	struct sched_account *first = NULL, *other = NULL;
	struct probe probes[6];
	struct words x;
	make_kernel("increment_u32");
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &first)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &other)));
	harness_words(&h, &x, 16, true, 5);
	cr_assert(eq(int, fake_log_start(16), 0));
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	h.account = first;
	(void)harness_hold(&h, 0, 1, &use, 1, &probes[0]);
	const struct launch next = {.kernel = "increment_u32",
				    .uses = &use,
				    .use_count = 1,
				    .home_lane = 1,
				    .properties = &early};
	struct launch plain = next;
	plain.properties = NULL;
	(void)harness_launch(&h, &plain, &probes[1]);
	(void)harness_launch(&h, &next, &probes[2]);
	h.account = other;
	(void)harness_launch(&h, &next, &probes[3]); /* behind another session's */
	const struct launch apart = {.kernel = "noop", .home_lane = 1, .properties = &early};
	(void)harness_launch(&h, &apart, &probes[4]); /* it depends on nothing */
	(void)harness_launch(&h, &(struct launch){.kernel = "noop", .home_lane = 1}, &probes[5]);
	scheduler_flush(h.scheduler);
	fake_gate_open(1);
	for (uint32_t i = 0; i < 6; i++)
		harness_expect_success(&h, &probes[i]);
	h.account = NULL;
	uint64_t behind = 0;
	uint32_t count = read_log(log, 16), named = 0;
	for (uint32_t i = 0; i < count; i++) {
		named += log[i].early_after != 0;
		for (uint32_t k = 0; log[i].early_after != 0 && k < i; k++)
			if (log[k].lane == log[i].lane && log[k].sequence == log[i].early_after)
				behind += strcmp(log[k].what, "increment_u32") == 0 &&
					  log[i].sequence == log[k].sequence + 1;
	}
	cr_expect(eq(u32, named, 1));
	cr_expect(eq(u64, behind, 1));
	harness_words_free(&h, &x);
	first = sched_account_drop(first);
	other = sched_account_drop(other);
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
	cr_assert(eq(u32, read_log(log, 8), 2));
	cr_expect(log[0].timed);
	cr_expect(not(log[1].timed));
	cr_expect(not(timed.outcome.estimated));
	cr_expect(other.outcome.estimated);
	/* For accounts they count. */
	cr_expect(gt(u64, other.outcome.end_ns, 0));
	harness_expect_stopped(&h);
}

struct released {
	uint32_t calls;
};

static void release(void *owner)
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
	scheduler_host_unregister(host, release, &released);
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
	scheduler_host_unregister(host, release, &released);
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
	scheduler_host_unregister(host, release, &released);
	for (uint32_t i = 0; i < 10; i++) {
		struct probe probe;
		launch_kernel(0, "noop", &probe);
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
	scheduler_host_unregister(host, release, &released);
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
	scheduler_host_unregister(host, release, &released);
	cr_expect(eq(u32, released.calls, 1));
	scheduler_host_unregister(NULL, release, &released);
	cr_expect(eq(u32, released.calls, 2));
	harness_expect_stopped(&h);
}

Test(threads, host_memory_is_released_when_the_scheduler_is_freed)
{
	static _Alignas(PAGE) uint8_t memory[PAGE];
	struct released released = {0};
	open_devices(FAKE_FEATURES_ALL, 0, &(struct scheduler_config){.processors = 2});
	struct sched_host *host = register_page(memory);
	scheduler_host_unregister(host, release, &released);
	h.scheduler = scheduler_free(h.scheduler);
	cr_expect(eq(u32, released.calls, 1));
	cr_expect(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).hosts, 0));
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
