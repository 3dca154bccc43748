/* Parts of buffers: the order of tasks. parts_places.c tests where the contents are. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

#define WORDS 32u

static struct harness h;
static struct words x;

/* The buffers have no contents, so nothing is moved, and the numbers are those of the groups. */
static void setup_parts(void)
{
	harness_start(&h, 3);
	harness_words(&h, &x, WORDS, false, 0);
}

TestSuite(parts, .timeout = 20, .init = setup_parts);

static void finish_parts(void)
{
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

/* Waits until everything that can run has run. */
static void parts_await_device_turn(void)
{
	struct probe probe;
	(void)harness_launch(&h, &(struct launch){.device = 2, .kernel = "noop"}, &probe);
	harness_expect_success(&h, &probe);
}

static struct use sub_buffer(uint32_t first, uint32_t end, uint32_t mode)
{
	return (struct use){.words = &x,
			    .mode = mode,
			    .first = first,
			    .count = end - first,
			    .sub_buffer = true};
}

static struct use parts_ranged(uint32_t first, uint32_t end, uint32_t mode)
{
	return (struct use){.words = &x, .mode = mode, .first = first, .count = end - first};
}

/* Returns the number of a group that waits at a gate. */
static unsigned hold_part(uint32_t device, uint32_t gate, struct use use, struct probe *probe)
{
	(void)harness_hold(&h, device, gate, &use, 1, probe);
	return harness_number(&h);
}

Test(parts, C8_C9_groups_on_parts_wait_where_they_overlap)
{
	struct probe a, b, c;
	unsigned first = hold_part(0, 1, sub_buffer(0, 10, ACCESS_MODE_READ_WRITE), &a);
	unsigned second = hold_part(0, 2, sub_buffer(10, 20, ACCESS_MODE_READ_WRITE), &b);
	unsigned third = hold_part(0, 3, sub_buffer(5, 15, ACCESS_MODE_READ_WRITE), &c);
	cr_expect(not(harness_edge(&h, first, second)));
	cr_expect(harness_edge(&h, first, third));
	cr_expect(harness_edge(&h, second, third));
	/* The first two run at the same time. */
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 2, HARNESS_TIMEOUT_NS));
	fake_gate_open(3);
	fake_gate_open(2);
	harness_expect_success(&h, &b);
	cr_expect(not(c.done));
	fake_gate_open(1);
	harness_expect_success(&h, &a);
	harness_expect_success(&h, &c);
	finish_parts();
}

Test(parts, C9_on_two_devices_at_the_same_time)
{
	struct probe a, b;
	(void)hold_part(0, 1, sub_buffer(0, 16, ACCESS_MODE_READ_WRITE), &a);
	(void)hold_part(1, 1, sub_buffer(16, 32, ACCESS_MODE_READ_WRITE), &b);
	scheduler_flush(h.scheduler);
	cr_expect(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	cr_expect(fake_wait_started(1, 1, HARNESS_TIMEOUT_NS));
	fake_gate_open(1);
	harness_expect_success(&h, &a);
	harness_expect_success(&h, &b);
	finish_parts();
}

static void check_overlap(uint32_t first, uint32_t end, bool overlap)
{
	struct probe a, b;
	fake_gate_close(1);
	unsigned one = hold_part(0, 1, sub_buffer(10, 20, ACCESS_MODE_READ_WRITE), &a);
	unsigned other = hold_part(0, 1, sub_buffer(first, end, ACCESS_MODE_WRITE_NO_INIT), &b);
	cr_expect(eq(int, harness_edge(&h, one, other), overlap), "[%u, %u)", first, end);
	fake_gate_open(1);
	harness_expect_success(&h, &a);
	harness_expect_success(&h, &b);
}

Test(parts, C10_the_overlap_is_exact)
{
	check_overlap(10, 20, true); /* equal */
	check_overlap(12, 15, true); /* contained */
	check_overlap(8, 22, true);  /* containing */
	check_overlap(15, 25, true);
	check_overlap(5, 15, true);
	check_overlap(5, 11, true);
	check_overlap(19, 21, true);
	check_overlap(20, 30, false); /* touching */
	check_overlap(5, 10, false);
	check_overlap(0, 1, false);
	check_overlap(31, 32, false);
	finish_parts();
}

Test(parts, C11_a_part_and_the_whole_overlap)
{
	struct probe probes[4];
	unsigned part = hold_part(0, 1, sub_buffer(4, 8, ACCESS_MODE_READ_WRITE), &probes[0]);
	unsigned whole =
		hold_part(0, 1, parts_ranged(0, WORDS, ACCESS_MODE_READ_WRITE), &probes[1]);
	unsigned again = hold_part(0, 1, sub_buffer(20, 24, ACCESS_MODE_READ), &probes[2]);
	unsigned last = hold_part(0, 1, sub_buffer(24, 28, ACCESS_MODE_READ_WRITE), &probes[3]);
	cr_expect(harness_edge(&h, part, whole));
	cr_expect(harness_edge(&h, whole, again));
	cr_expect(harness_edge(&h, whole, last));
	cr_expect(not(harness_edge(&h, again, last)));
	fake_gate_open(1);
	for (uint32_t i = 0; i < 4; i++)
		harness_expect_success(&h, &probes[i]);
	finish_parts();
}

Test(parts, C21_ranged_accessors_of_one_buffer_overlap_and_such_sub_buffers_do_not)
{
	struct probe probes[4];
	unsigned first = hold_part(0, 1, parts_ranged(0, 5, ACCESS_MODE_READ_WRITE), &probes[0]);
	unsigned second = hold_part(0, 1, parts_ranged(5, 10, ACCESS_MODE_READ_WRITE), &probes[1]);
	cr_expect(harness_edge(&h, first, second));
	fake_gate_open(1);
	harness_expect_success(&h, &probes[0]);
	harness_expect_success(&h, &probes[1]);
	fake_gate_close(1);
	unsigned third = hold_part(0, 1, sub_buffer(0, 5, ACCESS_MODE_READ_WRITE), &probes[2]);
	unsigned fourth = hold_part(0, 1, sub_buffer(5, 10, ACCESS_MODE_READ_WRITE), &probes[3]);
	cr_expect(not(harness_edge(&h, third, fourth)));
	fake_gate_open(1);
	harness_expect_success(&h, &probes[2]);
	harness_expect_success(&h, &probes[3]);
	finish_parts();
}

Test(parts, C21_readers_of_another_range_wait_for_the_writer_each)
{
	struct probe probes[3];
	unsigned writer = hold_part(0, 1, parts_ranged(0, 5, ACCESS_MODE_READ_WRITE), &probes[0]);
	unsigned first = hold_part(0, 1, parts_ranged(5, 10, ACCESS_MODE_READ), &probes[1]);
	unsigned second = hold_part(0, 1, parts_ranged(5, 10, ACCESS_MODE_READ), &probes[2]);
	cr_expect(harness_edge(&h, writer, first));
	cr_expect(harness_edge(&h, writer, second));
	cr_expect(not(harness_edge(&h, first, second)));
	fake_gate_open(1);
	for (uint32_t i = 0; i < 3; i++)
		harness_expect_success(&h, &probes[i]);
	finish_parts();
}

static const uint32_t modes[5] = {ACCESS_MODE_READ, ACCESS_MODE_WRITE, ACCESS_MODE_READ_WRITE,
				  ACCESS_MODE_WRITE_NO_INIT, ACCESS_MODE_READ_WRITE_NO_INIT};

Test(parts, B11_B12_every_pair_of_modes_where_parts_overlap_and_none_where_they_do_not)
{
	for (uint32_t i = 0; i < 25; i++) {
		struct probe probes[3];
		uint32_t first = modes[i / 5], second = modes[i % 5];
		fake_gate_close(1);
		unsigned a = hold_part(0, 1, sub_buffer(0, 10, first), &probes[0]);
		unsigned b = hold_part(0, 1, sub_buffer(8, 20, second), &probes[1]);
		unsigned c = hold_part(0, 1, sub_buffer(20, 30, second), &probes[2]);
		bool readers = first == ACCESS_MODE_READ && second == ACCESS_MODE_READ;
		cr_expect(eq(int, harness_edge(&h, a, b), !readers), "modes %u, %u", first, second);
		cr_expect(not(harness_edge(&h, a, c)));
		cr_expect(not(harness_edge(&h, b, c)));
		fake_gate_open(1);
		for (uint32_t p = 0; p < 3; p++)
			harness_expect_success(&h, &probes[p]);
	}
	finish_parts();
}

Test(parts, B12_a_writer_of_a_part_leaves_the_readers_of_the_rest)
{
	struct probe probes[4];
	unsigned reader = hold_part(0, 1, sub_buffer(0, 20, ACCESS_MODE_READ), &probes[0]);
	unsigned writer = hold_part(0, 1, sub_buffer(10, 15, ACCESS_MODE_READ_WRITE), &probes[1]);
	unsigned beside = hold_part(0, 1, sub_buffer(15, 18, ACCESS_MODE_READ_WRITE), &probes[2]);
	unsigned behind = hold_part(0, 1, sub_buffer(12, 14, ACCESS_MODE_READ_WRITE), &probes[3]);
	cr_expect(harness_edge(&h, reader, writer));
	cr_expect(harness_edge(&h, reader, beside));
	cr_expect(not(harness_edge(&h, writer, beside)));
	cr_expect(harness_edge(&h, writer, behind));
	cr_expect(not(harness_edge(&h, reader, behind)), "the writer stands between");
	fake_gate_open(1);
	for (uint32_t i = 0; i < 4; i++)
		harness_expect_success(&h, &probes[i]);
	finish_parts();
}

Test(parts, B12_what_a_reader_in_between_waits_for_is_no_edge_of_its_own)
{
	struct probe probes[3];
	unsigned writer =
		hold_part(0, 1, parts_ranged(0, WORDS, ACCESS_MODE_WRITE_NO_INIT), &probes[0]);
	unsigned reader = hold_part(0, 1, parts_ranged(0, WORDS, ACCESS_MODE_READ), &probes[1]);
	unsigned second =
		hold_part(0, 1, parts_ranged(0, WORDS, ACCESS_MODE_WRITE_NO_INIT), &probes[2]);
	cr_expect(harness_edge(&h, writer, reader));
	cr_expect(harness_edge(&h, reader, second));
	cr_expect(not(harness_edge(&h, writer, second)));
	fake_gate_open(1);
	for (uint32_t i = 0; i < 3; i++) {
		harness_expect_success(&h, &probes[i]);
		cr_expect(eq(u64, probes[i].order, probes[0].order + i));
	}
	finish_parts();
}

Test(parts, B7_a_group_with_several_parts_waits_for_each_of_them_and_never_for_itself)
{
	struct probe a, b, c, d;
	unsigned first = hold_part(0, 1, sub_buffer(0, 4, ACCESS_MODE_READ_WRITE), &a);
	unsigned second = hold_part(1, 1, sub_buffer(8, 12, ACCESS_MODE_READ_WRITE), &b);
	const struct use uses[] = {
		sub_buffer(2, 6, ACCESS_MODE_READ), sub_buffer(10, 14, ACCESS_MODE_READ_WRITE),
		sub_buffer(4, 12, ACCESS_MODE_READ), sub_buffer(10, 14, ACCESS_MODE_READ)};
	(void)harness_hold(&h, 2, 1, uses, 4, &c);
	unsigned third = harness_number(&h);
	unsigned fourth = hold_part(0, 1, sub_buffer(13, 20, ACCESS_MODE_READ), &d);
	cr_expect(harness_edge(&h, first, third));
	cr_expect(harness_edge(&h, second, third));
	cr_expect(not(harness_edge(&h, third, third)));
	cr_expect(harness_edge(&h, third, fourth));
	fake_gate_open(1);
	harness_expect_success(&h, &a);
	harness_expect_success(&h, &b);
	harness_expect_success(&h, &c);
	harness_expect_success(&h, &d);
	finish_parts();
}

Test(parts, D3_D6_a_host_access_holds_up_groups_on_its_part_only)
{
	struct probe held, second, beside, on_it, whole;
	struct task *access = harness_host_part(&h, &x, ACCESS_MODE_READ, 0, 16, &held);
	struct task *other = harness_host_part(&h, &x, ACCESS_MODE_READ, 8, 16, &second);
	harness_expect_success(&h, &held);
	harness_expect_success(&h, &second);
	fake_gate_open(1);
	(void)hold_part(0, 1, sub_buffer(24, 32, ACCESS_MODE_READ_WRITE), &beside);
	harness_expect_success(&h, &beside);
	(void)hold_part(0, 1, sub_buffer(14, 18, ACCESS_MODE_READ), &on_it);
	(void)hold_part(0, 1, parts_ranged(30, 31, ACCESS_MODE_READ), &whole);
	parts_await_device_turn();
	cr_expect(not(on_it.done), "even a group that reads, while a read access is held");
	cr_expect(not(whole.done));
	host_access_release(access);
	parts_await_device_turn();
	cr_expect(not(on_it.done));
	host_access_release(other);
	harness_expect_success(&h, &on_it);
	harness_expect_success(&h, &whole);
	finish_parts();
}

Test(parts, D1_a_host_access_waits_for_writers_of_its_part_only)
{
	struct probe writer, reader, beside, overlapping, writing;
	(void)hold_part(0, 1, sub_buffer(0, 8, ACCESS_MODE_READ_WRITE), &writer);
	(void)hold_part(0, 2, sub_buffer(8, 16, ACCESS_MODE_READ), &reader);
	struct task *first = harness_host_part(&h, &x, ACCESS_MODE_READ, 8, 24, &beside);
	harness_expect_success(&h, &beside);
	host_access_release(first);
	struct task *second = harness_host_part(&h, &x, ACCESS_MODE_READ, 7, 2, &overlapping);
	struct task *third = harness_host_part(&h, &x, ACCESS_MODE_WRITE_NO_INIT, 15, 1, &writing);
	parts_await_device_turn();
	cr_expect(not(overlapping.done));
	cr_expect(not(writing.done), "a writing one waits for readers too");
	fake_gate_open(1);
	harness_expect_success(&h, &overlapping);
	fake_gate_open(2);
	harness_expect_success(&h, &writing);
	host_access_release(second);
	host_access_release(third);
	harness_expect_success(&h, &writer);
	harness_expect_success(&h, &reader);
	finish_parts();
}

Test(parts, C9_the_dump_shows_the_ranges)
{
	struct probe a;
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE, .first = 2, .count = 3};
	(void)hold_part(0, 1, use, &a);
	char *text = scheduler_dump(h.scheduler);
	cr_expect(ne(ptr, strstr(text, "; buffer 1 write [8, 20) orders [0, 128)\n"), NULL), "%s",
		  text);
	free(text);
	fake_gate_open(1);
	harness_expect_success(&h, &a);
	finish_parts();
}

Test(parts, B26_the_same_usm_pointer_makes_no_edge)
{
	struct probe probes[2];
	uint32_t memory = 0;
	struct task_argument argument = {
		.kind = BACKEND_ARGUMENT_GLOBAL, .is_usm = true, .usm = &memory};
	struct task_request request = {
		.device = h.devices[0],
		.what = "noop",
		.action = TASK_LAUNCH,
		.launch = {.kernel = harness_kernel(&h, 0, "noop"),
			   .dimensions = 1,
			   .global = {1},
			   .arguments = &argument,
			   .argument_count = 1},
	};
	fake_device_gate_close(0);
	(void)harness_submit(&h, &request, &probes[0]);
	unsigned first = harness_number(&h);
	(void)harness_submit(&h, &request, &probes[1]);
	cr_expect(not(harness_edge(&h, first, first + 1)));
	/* An event orders them. */
	request.after = &probes[1].task;
	request.after_count = 1;
	struct probe last;
	(void)harness_submit(&h, &request, &last);
	cr_expect(harness_edge(&h, first + 1, first + 2));
	fake_device_gate_open(0);
	harness_expect_success(&h, &last);
	harness_expect_success(&h, &probes[0]);
	finish_parts();
}

/*
 * Far more parts than are tracked separately. All of them are open at once, and then groups read
 * the whole. Parts that are too many to track are ordered more strictly, and nothing is lost.
 */
Test(parts, C9_C12_more_parts_than_are_kept_apart, .timeout = 40)
{
	enum { PARTS = 5000, READERS = 20 };
	static struct probe writers[PARTS], readers[READERS], last;
	struct words big;
	harness_words(&h, &big, PARTS * 2, true, 7);
	for (uint32_t i = 0; i < PARTS; i++) {
		struct use use = {.words = &big,
				  .mode = ACCESS_MODE_READ_WRITE,
				  .first = 2 * i,
				  .count = 1,
				  .sub_buffer = true};
		struct launch launch = {
			.device = i % 2, .kernel = "increment_u32", .uses = &use, .use_count = 1};
		(void)harness_launch(&h, &launch, &writers[i]);
	}
	for (uint32_t i = 0; i < READERS; i++) {
		struct use use = {.words = &big, .mode = ACCESS_MODE_READ};
		(void)harness_hold(&h, i % 3, 1, &use, 1, &readers[i]);
	}
	struct use use = {.words = &big,
			  .mode = ACCESS_MODE_READ_WRITE,
			  .first = 100,
			  .count = 2,
			  .sub_buffer = true};
	struct launch launch = {
		.device = 2, .kernel = "increment_u32", .uses = &use, .use_count = 1};
	(void)harness_launch(&h, &launch, &last);
	fake_gate_open(1);
	harness_expect_success(&h, &last);
	for (uint32_t i = 0; i < PARTS; i++)
		harness_expect_success(&h, &writers[i]);
	for (uint32_t i = 0; i < READERS; i++) {
		harness_expect_success(&h, &readers[i]);
		cr_expect(lt(u64, readers[i].order, last.order));
	}
	struct probe host;
	struct task *access = harness_host(&h, &big, ACCESS_MODE_READ, &host);
	harness_expect_success(&h, &host);
	for (uint32_t i = 0; i < 2 * PARTS; i++)
		cr_assert(eq(u32, big.host[i], 7 + i + (i % 2 == 0) + (i == 100 || i == 101)),
			  "word %u", i);
	host_access_release(access);
	harness_words_free(&h, &big);
	finish_parts();
}
