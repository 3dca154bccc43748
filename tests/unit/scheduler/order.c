/* The order of tasks: edges, order, lanes. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

static struct harness h;

static void setup_order(void)
{
	harness_start(&h, 3);
}

TestSuite(order, .timeout = 20, .init = setup_order);

static const uint32_t modes[5] = {ACCESS_MODE_READ, ACCESS_MODE_WRITE, ACCESS_MODE_READ_WRITE,
				  ACCESS_MODE_WRITE_NO_INIT, ACCESS_MODE_READ_WRITE_NO_INIT};

static struct task *sched_order_hold_words(uint32_t device, uint32_t gate, struct words *words,
					   uint32_t mode, struct probe *probe)
{
	return harness_hold(&h, device, gate, &(struct use){.words = words, .mode = mode}, 1,
			    probe);
}

/* One pair of modes; buffers without contents need no moves. */
static void check_pair(uint32_t first, uint32_t second)
{
	struct probe a, b;
	struct words x;
	fake_gate_close(HARNESS_GATE);
	harness_words(&h, &x, 16, false, 0);
	(void)sched_order_hold_words(0, HARNESS_GATE, &x, first, &a);
	unsigned number = harness_number(&h);
	(void)sched_order_hold_words(0, HARNESS_GATE, &x, second, &b);
	bool readers = first == ACCESS_MODE_READ && second == ACCESS_MODE_READ;
	cr_expect(eq(int, harness_edge(&h, number, number + 1), !readers), "modes %u, %u", first,
		  second);
	cr_expect(not(harness_edge(&h, number + 1, number)));
	fake_gate_open(HARNESS_GATE);
	harness_expect_success(&h, &a);
	harness_expect_success(&h, &b);
	harness_words_free(&h, &x);
}

Test(order, B11_B12_edge_for_every_pair_of_modes_but_two_readers)
{
	for (uint32_t first = 0; first < 5; first++)
		for (uint32_t second = 0; second < 5; second++)
			check_pair(modes[first], modes[second]);
	harness_expect_stopped(&h);
}

/* a(x), b(y), c(x, y) on the given devices: c starts after both have ended. */
static void three_groups(const uint32_t *devices)
{
	struct probe a, b, c;
	struct words x, y;
	struct fake_log_entry log[16];
	cr_assert(eq(int, fake_log_start(16), 0));
	harness_words(&h, &x, 16, false, 0);
	harness_words(&h, &y, 16, false, 0);
	(void)sched_order_hold_words(devices[0], 1, &x, ACCESS_MODE_READ_WRITE, &a);
	(void)sched_order_hold_words(devices[1], 2, &y, ACCESS_MODE_READ_WRITE, &b);
	struct use both[] = {{.words = &x, .mode = ACCESS_MODE_READ_WRITE, .unused = true},
			     {.words = &y, .mode = ACCESS_MODE_READ_WRITE, .unused = true}};
	struct launch launch = {
		.device = devices[2], .kernel = "noop", .uses = both, .use_count = 2};
	(void)harness_launch(&h, &launch, &c);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(FAKE_ANY_DEVICE, 2, HARNESS_TIMEOUT_NS));
	fake_gate_open(2);
	harness_expect_success(&h, &b);
	cr_expect(not(c.done));
	fake_gate_open(1);
	harness_expect_success(&h, &a);
	harness_expect_success(&h, &c);
	uint32_t count = fake_log_read(log, 16);
	cr_assert(ge(u32, count, 3));
	const struct fake_log_entry *last = &log[count - 1];
	cr_expect(eq(str, (char *)last->what, "noop"));
	for (uint32_t i = 0; i + 1 < count; i++)
		if (strcmp(log[i].what, "hold") == 0)
			cr_expect(gt(u64, last->start_order, log[i].end_order));
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(order, B7_intersecting_groups_of_one_device_run_in_order_of_submission)
{
	three_groups((uint32_t[]){0, 0, 0});
}

Test(order, B9_the_same_order_on_three_devices)
{
	three_groups((uint32_t[]){0, 1, 2});
}

Test(order, B8_independent_groups_run_together)
{
	struct probe a, b;
	struct words x, y;
	harness_words(&h, &x, 16, false, 0);
	harness_words(&h, &y, 16, false, 0);
	(void)sched_order_hold_words(0, 1, &x, ACCESS_MODE_READ_WRITE, &a);
	(void)sched_order_hold_words(0, 1, &y, ACCESS_MODE_READ_WRITE, &b);
	scheduler_flush(h.scheduler);
	/* Both have started while neither can end. */
	cr_assert(fake_wait_started(0, 2, HARNESS_TIMEOUT_NS));
	cr_expect(not(a.done));
	cr_expect(not(b.done));
	fake_gate_open(1);
	harness_expect_success(&h, &a);
	harness_expect_success(&h, &b);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(order, B13_a_requirement_that_is_no_argument_orders_too)
{
	struct probe a, b;
	struct words x;
	harness_words(&h, &x, 4, true, 10);
	(void)sched_order_hold_words(0, 1, &x, ACCESS_MODE_READ_WRITE, &a);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ, .unused = true};
	(void)harness_launch(
		&h, &(struct launch){.device = 0, .kernel = "noop", .uses = &use, .use_count = 1},
		&b);
	cr_expect(harness_edge(&h, harness_number(&h) - 1, harness_number(&h)));
	fake_gate_open(1);
	harness_expect_success(&h, &b);
	harness_expect_success(&h, &a);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(order, B14_the_order_of_requirements_is_irrelevant)
{
	static const uint32_t permutations[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
						    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	struct probe before[3], after[6];
	struct words words[3];
	for (uint32_t i = 0; i < 3; i++) {
		harness_words(&h, &words[i], 8, false, 0);
		(void)sched_order_hold_words(0, 1, &words[i],
					     i == 1 ? ACCESS_MODE_READ : ACCESS_MODE_READ_WRITE,
					     &before[i]);
	}
	unsigned number = harness_number(&h);
	for (uint32_t p = 0; p < 6; p++) {
		struct use uses[3];
		for (uint32_t i = 0; i < 3; i++)
			uses[i] = (struct use){.words = &words[permutations[p][i]],
					       .mode = ACCESS_MODE_READ};
		(void)harness_hold(&h, 0, 1, uses, 3, &after[p]);
		unsigned mine = number + 1 + p;
		cr_expect(harness_edge(&h, number - 2, mine));
		cr_expect(not(harness_edge(&h, number - 1, mine)), "two readers");
		cr_expect(harness_edge(&h, number, mine));
	}
	fake_gate_open(1);
	for (uint32_t p = 0; p < 6; p++)
		harness_expect_success(&h, &after[p]);
	for (uint32_t i = 0; i < 3; i++)
		harness_words_free(&h, &words[i]);
	harness_expect_stopped(&h);
}

Test(order, B3_looking_at_what_waits_changes_nothing)
{
	struct probe a, b;
	struct words x;
	harness_words(&h, &x, 8, false, 0);
	(void)sched_order_hold_words(0, 1, &x, ACCESS_MODE_READ_WRITE, &a);
	(void)sched_order_hold_words(1, 1, &x, ACCESS_MODE_READ_WRITE, &b);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	/* The kernels are made by now, so only the two tasks can change. */
	char *first = scheduler_dump(h.scheduler);
	for (uint32_t i = 0; i < 1000; i++) {
		scheduler_flush(h.scheduler);
		char *again = scheduler_dump(h.scheduler);
		cr_assert(eq(str, again, first));
		free(again);
	}
	cr_expect(task_running(a.task));
	cr_expect(not(task_running(b.task)));
	free(first);
	fake_gate_open(1);
	harness_expect_success(&h, &b);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(order, B16_a_thousand_submissions_return_while_the_first_is_held)
{
	static struct probe probes[1000];
	struct words x;
	struct fake_counters counters;
	harness_words(&h, &x, 4, true, 0);
	(void)sched_order_hold_words(0, 1, &x, ACCESS_MODE_READ_WRITE, &probes[0]);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	for (uint32_t i = 1; i < 1000; i++)
		(void)harness_launch(&h,
				     &(struct launch){.device = 0,
						      .kernel = "increment_u32",
						      .uses = &use,
						      .use_count = 1},
				     &probes[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 2, HARNESS_TIMEOUT_NS)); /* the move, the first */
	fake_counters(0, &counters);
	cr_expect(eq(u64, counters.launches, 0));
	fake_gate_open(1);
	for (uint32_t i = 0; i < 1000; i++) {
		harness_expect_success(&h, &probes[i]);
		cr_assert(eq(u64, probes[i].order, probes[0].order + i));
	}
	struct probe host;
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &host);
	harness_expect_success(&h, &host);
	cr_expect(eq(u32, x.host[3], 3 + 999));
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

static void empty_range(const uint64_t global[3])
{
	struct probe before, empty, after;
	struct words x;
	harness_words(&h, &x, 8, true, 5);
	(void)sched_order_hold_words(0, 1, &x, ACCESS_MODE_READ_WRITE, &before);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	struct launch launch = {.device = 0,
				.kernel = "increment_u32",
				.uses = &use,
				.use_count = 1,
				.global = global};
	(void)harness_launch(&h, &launch, &empty);
	launch.global = NULL;
	(void)harness_launch(&h, &launch, &after);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 2, HARNESS_TIMEOUT_NS));
	harness_turn(&h);
	cr_expect(not(empty.done));
	fake_gate_open(1);
	harness_expect_success(&h, &after);
	harness_expect_success(&h, &empty);
	cr_expect(lt(u64, before.order, empty.order));
	cr_expect(lt(u64, empty.order, after.order));
	cr_expect(eq(u64, empty.outcome.start_ns, 0));
	struct probe host;
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &host);
	harness_expect_success(&h, &host);
	for (uint32_t i = 0; i < 8; i++)
		cr_expect(eq(u32, x.host[i], 5 + i + 1));
	host_access_release(access);
	harness_words_free(&h, &x);
}

Test(order, B22_B23_E5_an_empty_range_runs_nothing_after_its_predecessors)
{
	empty_range((uint64_t[3]){0, 1, 1});
	fake_gate_close(1);
	harness_expect_stopped(&h);
}

Test(order, B22_B23_any_dimension_may_be_empty)
{
	empty_range((uint64_t[3]){8, 0, 8});
	harness_expect_stopped(&h);
}

Test(order, B22_B23_the_last_dimension_too)
{
	empty_range((uint64_t[3]){4, 4, 0});
	harness_expect_stopped(&h);
}

Test(order, B23_copies_and_fills_of_nothing_are_ordered_and_run_nothing)
{
	struct probe before, copy, fill;
	struct words x;
	uint32_t pattern = 7;
	harness_words(&h, &x, 8, false, 0);
	(void)sched_order_hold_words(0, 1, &x, ACCESS_MODE_READ_WRITE, &before);
	struct task_requirement requirement = {.buffer = x.buffer, .mode = ACCESS_MODE_WRITE};
	struct task_request request = {
		.device = h.devices[0],
		.requirements = &requirement,
		.requirement_count = 1,
		.action = TASK_COPY,
		.copy = {.source = -1, .destination = 0, .host = &pattern},
	};
	(void)harness_submit(&h, &request, &copy);
	request.action = TASK_FILL;
	request.fill.pattern = &pattern;
	request.fill.pattern_bytes = 4;
	(void)harness_submit(&h, &request, &fill);
	harness_turn(&h);
	cr_expect(not(copy.done));
	fake_gate_open(1);
	harness_expect_success(&h, &fill);
	harness_expect_success(&h, &copy);
	struct fake_counters counters;
	fake_counters(0, &counters);
	cr_expect(eq(u64, counters.writes + counters.fills, 0));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(order, B19_a_barrier_waits_for_the_tasks_that_it_names_on_any_device)
{
	struct probe a, b, barrier, later;
	struct task *after[2];
	after[0] = harness_hold(&h, 0, 1, NULL, 0, &a);
	after[1] = harness_hold(&h, 1, 2, NULL, 0, &b);
	struct task_request request = {
		.device = h.devices[2], .what = "barrier", .after = after, .after_count = 2};
	struct task *both = harness_submit(&h, &request, &barrier);
	struct launch launch = {.device = 2, .kernel = "noop", .after = &both, .after_count = 1};
	(void)harness_launch(&h, &launch, &later);
	fake_gate_open(1);
	harness_expect_success(&h, &a);
	cr_expect(not(barrier.done));
	cr_expect(not(later.done));
	fake_gate_open(2);
	harness_expect_success(&h, &later);
	harness_expect_success(&h, &barrier);
	cr_expect(lt(u64, b.order, barrier.order));
	cr_expect(lt(u64, barrier.order, later.order));
	harness_expect_stopped(&h);
}

Test(order, B19_a_task_may_be_named_until_its_callback_came)
{
	struct probe first, second;
	struct task_request request = {.device = h.devices[0], .what = "barrier"};
	struct task *done = harness_submit(&h, &request, &first);
	/* The task is complete, and not reported yet. */
	request.after = &done;
	request.after_count = 1;
	cr_expect(not(first.done));
	(void)harness_submit(&h, &request, &second);
	harness_expect_success(&h, &second);
	harness_expect_success(&h, &first);
	harness_expect_stopped(&h);
}

Test(order, a_chain_stays_on_one_lane_and_is_sent_ahead)
{
	struct probe probes[6];
	struct fake_log_entry log[16];
	struct words x;
	harness_words(&h, &x, 4, false, 0);
	cr_assert(eq(int, fake_log_start(16), 0));
	for (uint32_t i = 0; i < 6; i++)
		(void)sched_order_hold_words(0, 1, &x, ACCESS_MODE_READ_WRITE, &probes[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	/* They need no turn of the front thread between them: all are on the device. */
	fake_gate_open(1);
	cr_expect(fake_wait_ended(0, 6, HARNESS_TIMEOUT_NS));
	harness_expect_success(&h, &probes[5]);
	cr_assert(eq(u32, fake_log_read(log, 16), 6));
	for (uint32_t i = 0; i < 6; i++) {
		cr_expect(eq(u32, log[i].lane, 0));
		cr_expect(eq(u64, log[i].sequence, i + 1));
	}
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(order, lanes_of_one_device_wait_for_each_other_on_the_device)
{
	struct probe a, b, c, d;
	struct words x, y;
	harness_words(&h, &x, 4, false, 0);
	harness_words(&h, &y, 4, false, 0);
	(void)sched_order_hold_words(0, 1, &x, ACCESS_MODE_READ_WRITE, &a);
	(void)sched_order_hold_words(0, 2, &y, ACCESS_MODE_READ_WRITE, &b);
	struct use both[] = {{.words = &x, .mode = ACCESS_MODE_READ},
			     {.words = &y, .mode = ACCESS_MODE_READ}};
	(void)harness_hold(&h, 0, 3, both, 2, &c);
	(void)sched_order_hold_words(0, 3, &x, ACCESS_MODE_READ_WRITE, &d);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 2, HARNESS_TIMEOUT_NS));
	fake_gate_open(3);
	fake_gate_open(2);
	cr_assert(fake_wait_ended(0, 1, HARNESS_TIMEOUT_NS));
	fake_gate_open(1);
	/* The front thread has run no turn since: only the device has worked. */
	cr_expect(fake_wait_ended(0, 4, HARNESS_TIMEOUT_NS));
	harness_expect_success(&h, &d);
	harness_expect_success(&h, &c);
	harness_expect_success(&h, &a);
	harness_expect_success(&h, &b);
	cr_expect(lt(u64, c.order, d.order));
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

enum { READERS = 5 };

/* A held writer on one lane, and readers behind it on another one. */
static void write_and_read(struct words *x, uint32_t gate, struct probe *writer,
			   struct probe readers[READERS])
{
	const struct use uses[] = {{.words = x, .mode = ACCESS_MODE_READ_WRITE, .unused = true},
				   {.words = x, .mode = ACCESS_MODE_READ}};
	(void)harness_launch(&h,
			     &(struct launch){.kernel = "hold",
					      .uses = &uses[0],
					      .use_count = 1,
					      .has_value = true,
					      .value = gate,
					      .items = 1,
					      .home_lane = 1},
			     writer);
	for (uint32_t i = 0; i < READERS; i++)
		(void)harness_launch(&h,
				     &(struct launch){.kernel = "noop",
						      .uses = &uses[1],
						      .use_count = 1,
						      .items = 1,
						      .home_lane = 2},
				     &readers[i]);
	scheduler_flush(h.scheduler);
}

/* Tasks behind the first come after it, and so after its predecessors. */
Test(order, a_lane_waits_once_for_what_several_on_it_come_after)
{
	struct probe writers[2], readers[2][READERS];
	struct words x;
	struct fake_counters counters;
	harness_words(&h, &x, 4, false, 0);
	(void)harness_kernel(&h, 0, "hold");
	(void)harness_kernel(&h, 0, "noop");
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < 2; i++) {
		write_and_read(&x, i + 1, &writers[i], readers[i]);
		cr_assert(fake_wait_started(0, i * (READERS + 1) + 1, HARNESS_TIMEOUT_NS));
		fake_gate_open(i + 1);
		for (uint32_t k = 0; k < READERS; k++) {
			harness_expect_success(&h, &readers[i][k]);
			cr_expect(lt(u64, writers[i].order, readers[i][k].order));
		}
		fake_counters(0, &counters);
		cr_expect(le(u64, counters.lane_waits, 2 * i + 1), "one each way");
	}
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(order, B12_a_writer_waits_for_more_readers_than_can_be_sent_ahead)
{
	static struct probe readers[500];
	struct probe writer;
	struct words x;
	harness_words(&h, &x, 4, false, 0);
	for (uint32_t i = 0; i < 500; i++)
		(void)sched_order_hold_words(i % 3, 1, &x, ACCESS_MODE_READ, &readers[i]);
	(void)sched_order_hold_words(0, 1, &x, ACCESS_MODE_READ_WRITE, &writer);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 8, HARNESS_TIMEOUT_NS)); /* one on each lane */
	cr_expect(not(writer.done));
	fake_gate_open(1);
	harness_expect_success(&h, &writer);
	for (uint32_t i = 0; i < 500; i++) {
		harness_expect_success(&h, &readers[i]);
		cr_expect(lt(u64, readers[i].order, writer.order));
	}
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(order, more_independent_tasks_than_all_lanes_hold)
{
	static struct probe probes[3000];
	for (uint32_t i = 0; i < 3000; i++)
		(void)harness_hold(&h, 1, 1, NULL, 0, &probes[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(1, 8, HARNESS_TIMEOUT_NS));
	fake_gate_open(1);
	cr_assert(harness_settle(&h));
	for (uint32_t i = 0; i < 3000; i++)
		harness_expect_success(&h, &probes[i]);
	harness_expect_stopped(&h);
}

Test(order, E1_three_dimensions_and_offsets_arrive)
{
	struct probe ids, host;
	struct words x;
	harness_words(&h, &x, 24, false, 0);
	struct task_requirement requirement = {
		.buffer = x.buffer, .mode = ACCESS_MODE_WRITE_NO_INIT, .size_bytes = 96};
	struct task_argument argument = {.kind = BACKEND_ARGUMENT_GLOBAL};
	struct task_request request = {
		.device = h.devices[0],
		.what = "linear_id_u32",
		.requirements = &requirement,
		.requirement_count = 1,
		.action = TASK_LAUNCH,
		.launch = {.kernel = harness_kernel(&h, 0, "linear_id_u32"),
			   .dimensions = 3,
			   .global = {2, 3, 4},
			   .offset = {1, 0, 0},
			   .arguments = &argument,
			   .argument_count = 1},
	};
	(void)harness_submit(&h, &request, &ids);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &host);
	harness_expect_success(&h, &host);
	for (uint32_t i = 0; i < 24; i++)
		cr_expect(eq(u32, x.host[i], 12 + i));
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

static uint64_t whole_launches(void)
{
	return harness_counters(&h).whole_launches;
}

/* Submits launches with these uses and waits. Returns how many took the short path of whole.h. */
static uint64_t short_ways(uint32_t device, const struct use *uses, uint32_t use_count)
{
	struct probe probe;
	const uint64_t before = whole_launches();
	(void)harness_hold(&h, device, 1, uses, use_count, &probe);
	harness_expect_success(&h, &probe);
	return whole_launches() - before;
}

Test(order, B11_C10_D1_repeated_launches_on_whole_buffers_go_the_short_way)
{
	struct probe access;
	struct words x, y;
	fake_gate_open(1);
	harness_words(&h, &x, 16, true, 0);
	harness_words(&h, &y, 16, true, 0);
	const struct use writes = {.words = &x, .mode = ACCESS_MODE_READ_WRITE},
			 reads = {.words = &x, .mode = ACCESS_MODE_READ},
			 overwrites = {.words = &y, .mode = ACCESS_MODE_WRITE_NO_INIT},
			 part = {.words = &x, .mode = ACCESS_MODE_READ, .first = 4, .count = 4};
	const struct use both[] = {writes, overwrites}, twice[] = {writes, reads};

	cr_expect(eq(u64, short_ways(0, &writes, 1), 0), "the first one brings the contents");
	cr_expect(eq(u64, short_ways(0, &writes, 1), 1));
	cr_expect(eq(u64, short_ways(0, &reads, 1), 1));
	cr_expect(eq(u64, short_ways(0, both, 2), 1), "nothing is brought to be overwritten");
	cr_expect(eq(u64, short_ways(0, twice, 2), 0), "a buffer twice");
	cr_expect(eq(u64, short_ways(0, &part, 1), 0));

	/* A read of a part on the host divides the contents, and leaves them valid. */
	struct task *task = harness_host_part(&h, &x, ACCESS_MODE_READ, 0, 1, &access);
	harness_expect_success(&h, &access);
	host_access_release(task);
	cr_expect(eq(u64, short_ways(0, &writes, 1), 1));
	task = harness_host(&h, &x, ACCESS_MODE_READ_WRITE, &access);
	harness_expect_success(&h, &access);
	host_access_release(task);
	cr_expect(eq(u64, short_ways(0, &writes, 1), 0), "the host has written");
	cr_expect(eq(u64, short_ways(0, &writes, 1), 1));
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(order_set_up, SYCLD_EXPRESS_no_launch_goes_the_short_way_where_it_is_switched_off)
{
	struct words x;
	harness_start_with(&h, 1, &(struct scheduler_config){.never_whole = true});
	fake_gate_open(1);
	harness_words(&h, &x, 16, true, 0);
	const struct use writes = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	for (int i = 0; i < 3; i++)
		cr_expect(eq(u64, short_ways(0, &writes, 1), 0));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}
