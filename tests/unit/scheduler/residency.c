/* Where the contents are, and what is moved, by the copy counters of devices with poisoned
 * memory. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

static struct harness h;

static void setup_residency(void)
{
	harness_start(&h, 3);
}

TestSuite(residency, .timeout = 20, .init = setup_residency);

/* Runs a kernel over one buffer, or two, to its end. */
static struct task_outcome residency_run_on_words(uint32_t device, const char *kernel,
						  struct use first, struct words *second)
{
	struct probe probe;
	struct use uses[2] = {first, {.words = second, .mode = ACCESS_MODE_READ}};
	struct launch launch = {
		.device = device, .kernel = kernel, .uses = uses, .use_count = second ? 2 : 1};
	if (strcmp(kernel, "fill_u32") == 0 || strcmp(kernel, "mix_u32") == 0) {
		launch.has_value = true;
		launch.value = 77;
	}
	(void)harness_launch(&h, &launch, &probe);
	harness_expect_success(&h, &probe);
	return probe.outcome;
}

static struct use residency_use_of_whole(struct words *words, uint32_t mode)
{
	return (struct use){.words = words, .mode = mode};
}

static void expect_moves(uint32_t device, uint64_t writes, uint64_t reads)
{
	struct fake_counters counters;
	fake_counters(device, &counters);
	cr_expect(eq(u64, counters.writes, writes), "device %u", device);
	cr_expect(eq(u64, counters.reads, reads), "device %u", device);
}

static void residency_expect_contents(struct words *words, uint32_t (*expected)(uint32_t index))
{
	struct probe probe;
	struct task *access = harness_host(&h, words, ACCESS_MODE_READ, &probe);
	harness_expect_success(&h, &probe);
	for (uint32_t i = 0; i < words->count; i++)
		cr_expect(eq(u32, words->host[i], expected(i)), "word %u", i);
	host_access_release(access);
}

static uint32_t counted_from_100(uint32_t index)
{
	return 100 + index;
}

static uint32_t counted_and_one(uint32_t index)
{
	return 101 + index;
}

static uint32_t counted_and_two(uint32_t index)
{
	return 102 + index;
}

static uint32_t seventy_seven(uint32_t index)
{
	(void)index;
	return 77;
}

Test(residency, B24_two_readers_on_two_devices_move_to_each_once_and_nothing_back)
{
	struct words x, out;
	harness_words(&h, &x, 64, true, 100);
	harness_words(&h, &out, 64, false, 0);
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t device = 0; device < 2; device++)
			(void)residency_run_on_words(
				device, "copy_u32",
				residency_use_of_whole(&out, ACCESS_MODE_WRITE_NO_INIT), &x);
	expect_moves(0, 1, 0);
	expect_moves(1, 1, 0);
	residency_expect_contents(&out, counted_from_100);
	residency_expect_contents(&x, counted_from_100);
	expect_moves(0, 1, 0);
	expect_moves(1, 1, 1);
	harness_words_free(&h, &x);
	harness_words_free(&h, &out);
	harness_expect_stopped(&h);
}

Test(residency, C6_a_no_init_write_moves_nothing)
{
	struct words x;
	harness_words(&h, &x, 64, true, 100);
	(void)residency_run_on_words(0, "fill_u32",
				     residency_use_of_whole(&x, ACCESS_MODE_WRITE_NO_INIT), NULL);
	(void)residency_run_on_words(
		1, "fill_u32", residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE_NO_INIT), NULL);
	expect_moves(FAKE_ANY_DEVICE, 0, 0);
	residency_expect_contents(&x, seventy_seven);
	expect_moves(1, 0, 1);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

static uint32_t residency_expected_word(uint32_t index)
{
	return index >= 16 && index < 32 ? 77 : 101 + index;
}

Test(residency, C7_a_no_init_write_of_a_part_keeps_the_rest)
{
	struct words x;
	harness_words(&h, &x, 64, true, 100);
	(void)residency_run_on_words(0, "increment_u32",
				     residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	struct use range = {
		.words = &x, .mode = ACCESS_MODE_WRITE_NO_INIT, .first = 16, .count = 16};
	(void)residency_run_on_words(1, "fill_u32", range, NULL);
	residency_expect_contents(&x, residency_expected_word);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(residency, C5_only_what_was_written_goes_back)
{
	struct words x, out;
	harness_words(&h, &x, 64, true, 100);
	harness_words(&h, &out, 64, false, 0);
	(void)residency_run_on_words(0, "copy_u32",
				     residency_use_of_whole(&out, ACCESS_MODE_WRITE_NO_INIT), &x);
	cr_expect(eq(u32, out.host[0], 0xeeeeeeee), "not before somebody asks for it");
	residency_expect_contents(&out, counted_from_100);
	residency_expect_contents(&x, counted_from_100);
	expect_moves(0, 1, 1);
	harness_words_free(&h, &x);
	harness_words_free(&h, &out);
	harness_expect_stopped(&h);
}

Test(residency, D11_D20_a_host_update_moves_only_what_a_device_modified)
{
	struct words x;
	struct probe probe;
	harness_words(&h, &x, 64, true, 100);
	struct task_requirement requirement = {
		.buffer = x.buffer, .mode = ACCESS_MODE_READ, .size_bytes = 256};
	struct task_request request = {
		.device = h.devices[0],
		.what = "update",
		.requirements = &requirement,
		.requirement_count = 1,
		.action = TASK_HOST_UPDATE,
	};
	(void)harness_submit(&h, &request, &probe);
	harness_expect_success(&h, &probe);
	expect_moves(FAKE_ANY_DEVICE, 0, 0);
	(void)residency_run_on_words(0, "increment_u32",
				     residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	(void)harness_submit(&h, &request, &probe);
	harness_expect_success(&h, &probe);
	cr_expect(eq(u64, probe.outcome.bytes_to_host, 256));
	cr_expect(eq(u32, x.host[5], 106));
	(void)harness_submit(&h, &request, &probe);
	harness_expect_success(&h, &probe);
	expect_moves(0, 1, 1);
	/* The device's copy is still valid. */
	(void)residency_run_on_words(0, "increment_u32",
				     residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	expect_moves(0, 1, 1);
	residency_expect_contents(&x, counted_and_two);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(residency, B25_contents_go_from_device_to_device_by_way_of_the_host)
{
	struct words x;
	harness_words(&h, &x, 64, true, 99);
	(void)residency_run_on_words(0, "increment_u32",
				     residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	struct task_outcome outcome = residency_run_on_words(
		1, "increment_u32", residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	cr_expect(eq(u64, outcome.bytes_to_device, 256));
	cr_expect(eq(u64, outcome.bytes_to_host, 256));
	expect_moves(0, 1, 1);
	expect_moves(1, 1, 0);
	residency_expect_contents(&x, counted_and_one);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(residency, D7_what_a_host_access_writes_is_seen_on_every_device)
{
	struct words x, out;
	struct probe probe;
	harness_words(&h, &x, 64, true, 0);
	harness_words(&h, &out, 64, false, 0);
	(void)residency_run_on_words(0, "increment_u32",
				     residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ_WRITE, &probe);
	harness_expect_success(&h, &probe);
	for (uint32_t i = 0; i < 64; i++)
		x.host[i] += 99;
	host_access_release(access);
	for (uint32_t device = 0; device < 3; device++) {
		(void)residency_run_on_words(
			device, "copy_u32", residency_use_of_whole(&out, ACCESS_MODE_WRITE_NO_INIT),
			&x);
		residency_expect_contents(&out, counted_from_100);
	}
	harness_words_free(&h, &x);
	harness_words_free(&h, &out);
	harness_expect_stopped(&h);
}

Test(residency, C16_a_buffer_of_no_bytes_has_no_memory_and_orders)
{
	struct words x;
	struct probe a, b;
	harness_words(&h, &x, 0, true, 0);
	struct use use = {.words = &x, .mode = ACCESS_MODE_READ_WRITE};
	(void)harness_hold(&h, 0, 1, &use, 1, &a);
	(void)harness_launch(
		&h,
		&(struct launch){
			.device = 1, .kernel = "noop", .uses = &use, .use_count = 1, .items = 1},
		&b);
	cr_expect(harness_edge(&h, 1, 2));
	fake_gate_open(1);
	harness_expect_success(&h, &b);
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(eq(u64, counters.calls[FAKE_MEMORY_CREATE], 0));
	struct probe host;
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &host);
	harness_expect_success(&h, &host);
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(residency, a_buffer_without_contents_is_not_moved_before_it_is_written)
{
	struct words x;
	harness_words(&h, &x, 64, false, 0);
	(void)residency_run_on_words(0, "increment_u32",
				     residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	expect_moves(FAKE_ANY_DEVICE, 0, 0);
	/* Undefined contents are the same everywhere from the first use on. */
	(void)residency_run_on_words(1, "increment_u32",
				     residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	expect_moves(0, 0, 1);
	expect_moves(1, 1, 0);
	struct probe probe;
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &probe);
	harness_expect_success(&h, &probe);
	cr_expect(eq(u32, x.host[0], 0xa5a5a5a5u + 2));
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(residency, copies_and_fills_between_buffers_and_host_memory)
{
	struct words x, y;
	struct probe probe;
	uint32_t in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0};
	uint32_t pattern[2] = {0xaaaa, 0xbbbb};
	harness_words(&h, &x, 16, true, 0);
	harness_words(&h, &y, 16, true, 1000);
	struct task_requirement requirements[2] = {
		{.buffer = x.buffer, .mode = ACCESS_MODE_READ_WRITE, .size_bytes = 64},
		{.buffer = y.buffer, .mode = ACCESS_MODE_READ_WRITE, .size_bytes = 64},
	};
	struct task_request request = {
		.device = h.devices[1], .requirements = requirements, .requirement_count = 2};
	request.action = TASK_COPY;
	request.copy.source = -1;
	request.copy.destination = 0;
	request.copy.host = in;
	request.copy.destination_offset_bytes = 16;
	request.copy.size_bytes = 32;
	(void)harness_submit(&h, &request, &probe);
	request.copy.source = 0;
	request.copy.destination = 1;
	request.copy.source_offset_bytes = 16;
	request.copy.destination_offset_bytes = 0;
	(void)harness_submit(&h, &request, &probe);
	request.action = TASK_FILL;
	request.fill.requirement = 1;
	request.fill.offset_bytes = 48;
	request.fill.size_bytes = 16;
	request.fill.pattern = pattern;
	request.fill.pattern_bytes = 8;
	(void)harness_submit(&h, &request, &probe);
	pattern[0] = 0; /* copied at submission */
	request.action = TASK_COPY;
	request.copy.source = 1;
	request.copy.destination = -1;
	request.copy.host = out;
	request.copy.source_offset_bytes = 0;
	(void)harness_submit(&h, &request, &probe);
	harness_expect_good(&h, &probe);
	cr_expect(eq(u64, probe.outcome.bytes_to_host, 32));
	cr_expect(eq(int, memcmp(in, out, sizeof(in)), 0));
	struct task *access = harness_host(&h, &y, ACCESS_MODE_READ, &probe);
	harness_expect_success(&h, &probe);
	cr_expect(eq(u32, y.host[8], 1008));
	cr_expect(eq(u32, y.host[12], 0xaaaa));
	cr_expect(eq(u32, y.host[15], 0xbbbb));
	host_access_release(access);
	struct fake_counters counters;
	fake_counters(1, &counters);
	cr_expect(eq(u64, counters.copies, 1));
	cr_expect(eq(u64, counters.fills, 1));
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

Test(unified, devices_with_unified_memory_work_in_place_and_copy_nothing, .timeout = 20)
{
	for (uint32_t device = 0; device < 2; device++)
		fake_device_options(device, (struct fake_device_options){.unified = true});
	harness_start(&h, 3);
	struct words x;
	harness_words(&h, &x, 64, true, 98);
	(void)residency_run_on_words(0, "increment_u32",
				     residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	(void)residency_run_on_words(1, "increment_u32",
				     residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	residency_expect_contents(&x, counted_from_100);
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	cr_expect(eq(u64, counters.writes + counters.reads + counters.copies, 0));
	cr_expect(eq(u64, counters.memory_bytes, 0));
	/* The same with a buffer with memory of its own. */
	struct task_outcome outcome = residency_run_on_words(
		2, "increment_u32", residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	cr_expect(eq(u64, outcome.bytes_to_device, 256));
	outcome = residency_run_on_words(0, "increment_u32",
					 residency_use_of_whole(&x, ACCESS_MODE_READ_WRITE), NULL);
	cr_expect(eq(u64, outcome.bytes_to_host, 256));
	residency_expect_contents(&x, counted_and_two);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}
