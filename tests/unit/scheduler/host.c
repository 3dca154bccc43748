/* Host accesses. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct harness h;

static void setup_host(void)
{
	harness_start(&h, 3);
}

TestSuite(host_access, .timeout = 20, .init = setup_host);

/* Everything that does not wait for a gate has run: a barrier behind `after`, or behind nothing,
 * has returned. */
static void host_await_device_turn(void)
{
	struct probe probe;
	struct launch launch = {.device = 2, .kernel = "noop"};
	(void)harness_launch(&h, &launch, &probe);
	harness_expect_success(&h, &probe);
}

static struct task *host_hold_words(uint32_t gate, struct words *words, uint32_t mode,
				    struct probe *probe)
{
	return harness_hold(&h, 0, gate, &(struct use){.words = words, .mode = mode}, 1, probe);
}

Test(host_access, D1_it_waits_for_writers_and_a_writing_one_for_readers_too)
{
	struct words x, y;
	struct probe writer, reader, read, write, second;
	harness_words(&h, &x, 8, true, 0);
	harness_words(&h, &y, 8, true, 0);
	(void)host_hold_words(1, &x, ACCESS_MODE_READ_WRITE, &writer);
	struct task *reading = harness_host(&h, &x, ACCESS_MODE_READ, &read);
	host_await_device_turn();
	cr_expect(not(read.done));
	fake_gate_open(1);
	harness_expect_success(&h, &read);
	cr_expect(writer.done);

	(void)host_hold_words(2, &y, ACCESS_MODE_READ, &reader);
	struct task *also_reading = harness_host(&h, &y, ACCESS_MODE_READ, &second);
	harness_expect_success(&h, &second);
	cr_expect(not(reader.done));
	host_access_release(also_reading);
	struct task *writing = harness_host(&h, &y, ACCESS_MODE_WRITE, &write);
	host_await_device_turn();
	cr_expect(not(write.done));
	fake_gate_open(2);
	harness_expect_success(&h, &write);
	cr_expect(reader.done);
	host_access_release(reading);
	host_access_release(writing);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(host_access, D2_it_does_not_wait_for_other_buffers)
{
	struct words x, y;
	struct probe other, read;
	harness_words(&h, &x, 8, true, 0);
	harness_words(&h, &y, 8, true, 0);
	(void)host_hold_words(1, &x, ACCESS_MODE_READ_WRITE, &other);
	struct task *access = harness_host(&h, &y, ACCESS_MODE_READ_WRITE, &read);
	harness_expect_success(&h, &read);
	cr_expect(not(other.done));
	host_access_release(access);
	fake_gate_open(1);
	harness_expect_success(&h, &other);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

static void groups_wait_while_held(uint32_t host_mode, uint32_t group_mode)
{
	struct words x;
	struct probe held, group;
	harness_words(&h, &x, 8, true, 0);
	struct task *access = harness_host(&h, &x, host_mode, &held);
	harness_expect_success(&h, &held);
	struct use use = {.words = &x, .mode = group_mode, .unused = true};
	(void)harness_launch(&h, &(struct launch){.kernel = "noop", .uses = &use, .use_count = 1},
			     &group);
	host_await_device_turn();
	cr_expect(not(group.done), "modes %u, %u", host_mode, group_mode);
	cr_expect(not(task_running(group.task)));
	host_access_release(access);
	harness_expect_success(&h, &group);
	harness_words_free(&h, &x);
}

Test(host_access, D3_D6_no_group_on_the_buffer_runs_while_it_is_held)
{
	groups_wait_while_held(ACCESS_MODE_READ_WRITE, ACCESS_MODE_READ_WRITE);
	groups_wait_while_held(ACCESS_MODE_READ_WRITE, ACCESS_MODE_READ);
	groups_wait_while_held(ACCESS_MODE_READ, ACCESS_MODE_READ_WRITE);
	groups_wait_while_held(ACCESS_MODE_READ, ACCESS_MODE_READ);
	groups_wait_while_held(ACCESS_MODE_READ, ACCESS_MODE_WRITE_NO_INIT);
	harness_expect_stopped(&h);
}

Test(host_access, D4_a_group_on_two_buffers_waits_for_the_access_and_for_the_kernel)
{
	struct words x, y;
	struct probe held, kernel, both;
	harness_words(&h, &x, 8, true, 0);
	harness_words(&h, &y, 8, true, 0);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_WRITE, &held);
	harness_expect_success(&h, &held);
	(void)host_hold_words(1, &y, ACCESS_MODE_READ_WRITE, &kernel);
	struct use uses[] = {{.words = &x, .mode = ACCESS_MODE_READ, .unused = true},
			     {.words = &y, .mode = ACCESS_MODE_READ, .unused = true}};
	(void)harness_launch(
		&h, &(struct launch){.device = 1, .kernel = "noop", .uses = uses, .use_count = 2},
		&both);
	host_access_release(access);
	host_await_device_turn();
	cr_expect(not(both.done));
	fake_gate_open(1);
	harness_expect_success(&h, &both);
	harness_expect_success(&h, &kernel);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(host_access, D6_accesses_for_reading_coexist_and_a_writing_one_excludes)
{
	struct words x;
	struct probe first, second, writing, third;
	harness_words(&h, &x, 8, true, 0);
	struct task *a = harness_host(&h, &x, ACCESS_MODE_READ, &first);
	struct task *b = harness_host(&h, &x, ACCESS_MODE_READ, &second);
	harness_expect_success(&h, &first);
	harness_expect_success(&h, &second);
	struct task *c = harness_host(&h, &x, ACCESS_MODE_READ_WRITE, &writing);
	struct task *d = harness_host(&h, &x, ACCESS_MODE_READ, &third);
	host_access_release(a);
	host_await_device_turn();
	cr_expect(not(writing.done));
	host_access_release(b);
	harness_expect_success(&h, &writing);
	host_await_device_turn();
	cr_expect(not(third.done));
	host_access_release(c);
	harness_expect_success(&h, &third);
	host_access_release(d);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(host_access, D3_a_new_reader_does_not_wait_for_a_waiting_group)
{
	struct words x;
	struct probe first, group, second;
	harness_words(&h, &x, 8, true, 0);
	struct task *a = harness_host(&h, &x, ACCESS_MODE_READ, &first);
	harness_expect_success(&h, &first);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ, .unused = true};
	(void)harness_launch(&h, &(struct launch){.kernel = "noop", .uses = &use, .use_count = 1},
			     &group);
	struct task *b = harness_host(&h, &x, ACCESS_MODE_READ, &second);
	harness_expect_success(&h, &second);
	cr_expect(not(group.done));
	host_access_release(a);
	harness_expect_success(&h, &group);
	host_access_release(b);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(host_access, C6_without_init_it_waits_but_moves_nothing)
{
	struct words x;
	struct probe writer, held;
	struct fake_counters counters;
	harness_words(&h, &x, 8, true, 0);
	(void)host_hold_words(1, &x, ACCESS_MODE_READ_WRITE, &writer);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_WRITE_NO_INIT, &held);
	host_await_device_turn();
	cr_expect(not(held.done));
	fake_gate_open(1);
	harness_expect_success(&h, &held);
	fake_counters(0, &counters);
	cr_expect(eq(u64, counters.reads, 0));
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(host_access, released_before_it_is_granted_it_is_never_granted_and_keeps_the_order)
{
	struct words x;
	struct probe writer, access, later;
	harness_words(&h, &x, 8, true, 40);
	(void)host_hold_words(1, &x, ACCESS_MODE_READ_WRITE, &writer);
	struct task *task = harness_host(&h, &x, ACCESS_MODE_READ_WRITE, &access);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	(void)harness_launch(
		&h,
		&(struct launch){
			.device = 1, .kernel = "increment_u32", .uses = &use, .use_count = 1},
		&later);
	host_access_release(task);
	cr_assert(harness_wait(&h, &access));
	cr_expect(eq(i32, access.fault.status, STATUS_RUNTIME));
	cr_expect(not(writer.done));
	host_await_device_turn();
	cr_expect(not(later.done), "it still waits for the writer before the access");
	fake_gate_open(1);
	harness_expect_success(&h, &later);
	cr_expect(eq(u32, access.calls, 1));
	struct probe read;
	struct task *reading = harness_host(&h, &x, ACCESS_MODE_READ, &read);
	harness_expect_success(&h, &read);
	cr_expect(eq(u32, x.host[0], 41), "the access that never was has changed nothing");
	host_access_release(reading);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(host_access, released_between_the_grant_and_the_callback)
{
	struct words x;
	struct probe access, later;
	harness_words(&h, &x, 8, true, 0);
	/* There is nothing to wait for: granted at once, but not reported yet. */
	struct task *task = harness_host(&h, &x, ACCESS_MODE_READ_WRITE, &access);
	cr_expect(not(access.done));
	host_access_release(task);
	cr_assert(harness_wait(&h, &access));
	cr_expect(eq(i32, access.fault.status, STATUS_RUNTIME));
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ};
	(void)harness_hold(&h, 0, 1, &use, 1, &later);
	fake_gate_open(1);
	harness_expect_success(&h, &later);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

/* The move of the second half comes back from the device after the group's failure. A program that
 * copies out of several accesses must know of the loss before it is granted any of them. */
Test(host_access, D17_M9_behind_a_move_it_is_refused_before_others_are_granted)
{
	struct words x;
	struct probe gate, failing, granted, refused;
	harness_words(&h, &x, 8, true, 0);
	const struct use whole = {.words = &x, .mode = ACCESS_MODE_READ_WRITE, .unused = true};
	(void)host_hold_words(1, &x, ACCESS_MODE_READ_WRITE, &gate);
	(void)harness_launch(&h, &(struct launch){.kernel = "fail", .uses = &whole, .use_count = 1},
			     &failing);
	struct task *write = harness_host_part(&h, &x, ACCESS_MODE_WRITE_NO_INIT, 0, 4, &granted);
	(void)harness_host_part(&h, &x, ACCESS_MODE_READ, 4, 4, &refused);
	fake_gate_open(1);
	harness_expect_success(&h, &granted);
	cr_expect(refused.done);
	cr_expect(lt(u64, refused.order, granted.order));
	cr_expect(eq(i32, refused.fault.status, STATUS_DEPENDENCY_FAILED), "%s",
		  refused.fault.text);
	host_access_release(write);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u32, refused.calls, 1));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

/* Each part's author fails by itself, the last part's first. Their moves come back together. There
 * are 33,000 to 35,000 looks; 63,000 to 113,000 if each move has all the others looked at. */
Test(host_access, M9_failing_moves_of_one_access_are_looked_at_a_few_times_each)
{
	enum { MANY = 800, STEPS = 75 };
	static struct probe failing[MANY];
	struct words x;
	struct probe gate, refused;
	harness_words(&h, &x, MANY, true, 0);
	(void)host_hold_words(1, &x, ACCESS_MODE_READ_WRITE, &gate);
	for (uint32_t i = MANY; i-- > 0;) {
		const struct use part = {.words = &x,
					 .mode = ACCESS_MODE_READ_WRITE,
					 .first = i,
					 .count = 1,
					 .unused = true,
					 .sub_buffer = true};
		(void)harness_launch(
			&h,
			&(struct launch){
				.kernel = "fail", .uses = &part, .use_count = 1, .home_lane = 1},
			&failing[i]);
	}
	(void)harness_host(&h, &x, ACCESS_MODE_READ, &refused);
	const uint64_t before = scheduler_visits(h.scheduler);
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &refused));
	cr_expect(eq(i32, refused.fault.status, STATUS_DEPENDENCY_FAILED));
	cr_assert(harness_settle(&h));
	cr_expect(lt(u64, scheduler_visits(h.scheduler) - before, UINT64_C(1) * MANY * STEPS));
	cr_expect(eq(u32, refused.calls, 1));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}
