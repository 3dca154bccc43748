/* Parts of buffers: where contents are moved, by the copy counters of devices with poisoned
 * memories; and failures. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

#define WORDS 64u

static struct harness h;

static void setup_places(void)
{
	harness_start(&h, 3);
}

static void parts_places_setup_peers(void)
{
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(
			i, (struct fake_device_options){.features = BACKEND_FEATURE_PEER |
								    BACKEND_FEATURE_EXPORT_VMM});
	harness_start(&h, 3);
}

TestSuite(places, .timeout = 20, .init = setup_places);
TestSuite(places_peers, .timeout = 20, .init = parts_places_setup_peers);

static void parts_places_expect_status(const struct probe *probe, int32_t status)
{
	cr_assert(harness_wait(&h, probe));
	cr_expect(eq(i32, probe->fault.status, status), "%s", probe->fault.text);
	cr_expect(eq(u32, probe->calls, 1));
}

static struct use places_use_of_part(struct words *words, uint32_t first, uint32_t end,
				     uint32_t mode)
{
	return (struct use){.words = words,
			    .mode = mode,
			    .first = first,
			    .count = end - first,
			    .sub_buffer = true};
}

/* As `part`, but ordered as the whole buffer. */
static struct use parts_places_ranged(struct words *words, uint32_t first, uint32_t end,
				      uint32_t mode)
{
	return (struct use){.words = words, .mode = mode, .first = first, .count = end - first};
}

static void submit_part(uint32_t device, const char *kernel, struct use use, struct probe *probe)
{
	struct launch launch = {.device = device, .kernel = kernel, .uses = &use, .use_count = 1};
	launch.has_value = strcmp(kernel, "fill_u32") == 0;
	launch.value = 77;
	(void)harness_launch(&h, &launch, probe);
}

static struct task_outcome run_part(uint32_t device, const char *kernel, struct use use)
{
	struct probe probe;
	submit_part(device, kernel, use, &probe);
	parts_places_expect_status(&probe, 0);
	return probe.outcome;
}

static void parts_places_expect_bytes(uint32_t device, uint64_t written, uint64_t read)
{
	cr_expect(eq(u64, fake_counters_of(device).bytes_written, written), "device %u", device);
	cr_expect(eq(u64, fake_counters_of(device).bytes_read, read), "device %u", device);
}

/* All words on the host: they count from 100, plus one for each increment; 77 where they were
 * filled. */
static void parts_places_expect_contents(struct words *words, uint32_t (*expected)(uint32_t index))
{
	struct probe probe;
	struct task *access = harness_host(&h, words, ACCESS_MODE_READ, &probe);
	parts_places_expect_status(&probe, 0);
	for (uint32_t i = 0; i < words->count; i++)
		cr_expect(eq(u32, words->host[i], expected(i)), "word %u", i);
	host_access_release(access);
}

static uint32_t filled_16_to_32(uint32_t index)
{
	return index >= 16 && index < 32 ? 77 : 101 + index;
}

Test(places, C7_a_no_init_write_of_a_part_elsewhere_moves_nothing_and_keeps_the_rest)
{
	struct words x;
	harness_words(&h, &x, WORDS, true, 100);
	(void)run_part(0, "increment_u32",
		       parts_places_ranged(&x, 0, WORDS, ACCESS_MODE_READ_WRITE));
	parts_places_expect_bytes(0, 256, 0);
	(void)run_part(1, "fill_u32", parts_places_ranged(&x, 16, 32, ACCESS_MODE_WRITE_NO_INIT));
	parts_places_expect_bytes(1, 0, 0);
	parts_places_expect_bytes(0, 256, 0);
	/* The other words are still valid on device 0. */
	(void)run_part(0, "noop", parts_places_ranged(&x, 0, 16, ACCESS_MODE_READ));
	(void)run_part(0, "noop", parts_places_ranged(&x, 32, WORDS, ACCESS_MODE_READ));
	parts_places_expect_bytes(0, 256, 0);
	parts_places_expect_contents(&x, filled_16_to_32);
	parts_places_expect_bytes(0, 256, 48 * 4);
	parts_places_expect_bytes(1, 0, 16 * 4);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(places, C6_C7_so_does_a_read_write_one_and_one_of_a_sub_buffer)
{
	struct words x;
	harness_words(&h, &x, WORDS, true, 100);
	(void)run_part(0, "increment_u32",
		       parts_places_ranged(&x, 0, WORDS, ACCESS_MODE_READ_WRITE));
	(void)run_part(1, "fill_u32",
		       places_use_of_part(&x, 16, 24, ACCESS_MODE_READ_WRITE_NO_INIT));
	(void)run_part(2, "fill_u32", places_use_of_part(&x, 24, 32, ACCESS_MODE_WRITE_NO_INIT));
	parts_places_expect_bytes(1, 0, 0);
	parts_places_expect_bytes(2, 0, 0);
	parts_places_expect_contents(&x, filled_16_to_32);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(places, C7_a_host_access_without_init_of_a_part_keeps_the_rest)
{
	struct words x;
	struct probe probe;
	harness_words(&h, &x, WORDS, true, 100);
	(void)run_part(0, "increment_u32",
		       parts_places_ranged(&x, 0, WORDS, ACCESS_MODE_READ_WRITE));
	struct task *access = harness_host_part(&h, &x, ACCESS_MODE_WRITE_NO_INIT, 16, 16, &probe);
	parts_places_expect_status(&probe, 0);
	for (uint32_t i = 16; i < 32; i++)
		x.host[i] = 77;
	host_access_release(access);
	parts_places_expect_bytes(0, 256, 0);
	parts_places_expect_contents(&x, filled_16_to_32);
	parts_places_expect_bytes(0, 256, 48 * 4);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

static uint32_t once(uint32_t index)
{
	return 101 + index;
}

static uint32_t twice(uint32_t index)
{
	return 102 + index;
}

Test(places, C12_two_parts_on_two_devices_are_one_buffer)
{
	struct words x;
	struct probe a, b;
	harness_words(&h, &x, WORDS, true, 100);
	submit_part(0, "increment_u32", places_use_of_part(&x, 0, 32, ACCESS_MODE_READ_WRITE), &a);
	submit_part(1, "increment_u32", places_use_of_part(&x, 32, 64, ACCESS_MODE_READ_WRITE), &b);
	parts_places_expect_contents(&x, once);
	parts_places_expect_status(&a, 0);
	parts_places_expect_status(&b, 0);
	parts_places_expect_bytes(0, 128, 128);
	parts_places_expect_bytes(1, 128, 128);
	/* A group on the whole on one of them needs only the other's half. */
	(void)run_part(0, "increment_u32",
		       parts_places_ranged(&x, 0, WORDS, ACCESS_MODE_READ_WRITE));
	parts_places_expect_bytes(0, 256, 128);
	parts_places_expect_bytes(1, 128, 128);
	parts_places_expect_contents(&x, twice);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(places, B24_readers_of_parts_move_what_they_read_and_once)
{
	struct words x;
	harness_words(&h, &x, WORDS, true, 100);
	(void)run_part(0, "noop", places_use_of_part(&x, 8, 24, ACCESS_MODE_READ));
	(void)run_part(0, "noop", places_use_of_part(&x, 8, 24, ACCESS_MODE_READ));
	(void)run_part(0, "noop", places_use_of_part(&x, 12, 20, ACCESS_MODE_READ));
	parts_places_expect_bytes(0, 16 * 4, 0);
	cr_expect(eq(u64, fake_counters_of(0).writes, 1));
	/* The missing parts of a wider range are on both sides of the present one. */
	(void)run_part(0, "noop", parts_places_ranged(&x, 4, 28, ACCESS_MODE_READ));
	parts_places_expect_bytes(0, 24 * 4, 0);
	(void)run_part(1, "noop", places_use_of_part(&x, 20, 28, ACCESS_MODE_READ));
	parts_places_expect_bytes(1, 8 * 4, 0);
	/* Nothing was written, so nothing moves back. */
	struct probe probe;
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ_WRITE, &probe);
	parts_places_expect_status(&probe, 0);
	host_access_release(access);
	parts_places_expect_bytes(0, 24 * 4, 0);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(places, D7_only_what_the_host_wrote_is_moved_again)
{
	struct words x;
	struct probe probe;
	harness_words(&h, &x, WORDS, true, 100);
	(void)run_part(0, "increment_u32",
		       parts_places_ranged(&x, 0, WORDS, ACCESS_MODE_READ_WRITE));
	struct task *access = harness_host_part(&h, &x, ACCESS_MODE_READ_WRITE, 10, 4, &probe);
	parts_places_expect_status(&probe, 0);
	parts_places_expect_bytes(0, 256, 4 * 4);
	for (uint32_t i = 10; i < 14; i++)
		x.host[i]--;
	host_access_release(access);
	(void)run_part(0, "increment_u32", places_use_of_part(&x, 10, 14, ACCESS_MODE_READ_WRITE));
	parts_places_expect_bytes(0, 256 + 4 * 4, 4 * 4);
	parts_places_expect_contents(&x, once);
	parts_places_expect_bytes(0, 256 + 4 * 4, 256 + 4 * 4);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(places, D11_D20_a_host_update_of_a_part_moves_that_part)
{
	struct words x;
	struct probe probe;
	harness_words(&h, &x, WORDS, true, 100);
	(void)run_part(0, "increment_u32",
		       parts_places_ranged(&x, 0, WORDS, ACCESS_MODE_READ_WRITE));
	struct task_requirement requirement = {
		.buffer = x.buffer, .mode = ACCESS_MODE_READ, .offset_bytes = 64, .size_bytes = 32};
	struct task_request request = {
		.device = h.devices[0],
		.what = "update",
		.requirements = &requirement,
		.requirement_count = 1,
		.action = TASK_HOST_UPDATE,
	};
	(void)harness_submit(&h, &request, &probe);
	parts_places_expect_status(&probe, 0);
	cr_expect(eq(u64, probe.outcome.bytes_to_host, 32));
	cr_expect(eq(u32, x.host[16], 117));
	cr_expect(eq(u32, x.host[23], 124));
	cr_expect(eq(u32, x.host[24], 124), "as at first");
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(places_peers, C12_F6_parts_go_from_device_to_device_in_one_copy_each)
{
	struct words x;
	harness_words(&h, &x, WORDS, true, 100);
	(void)run_part(0, "increment_u32", places_use_of_part(&x, 0, 32, ACCESS_MODE_READ_WRITE));
	(void)run_part(1, "increment_u32", places_use_of_part(&x, 32, 64, ACCESS_MODE_READ_WRITE));
	(void)run_part(1, "increment_u32", places_use_of_part(&x, 16, 48, ACCESS_MODE_READ_WRITE));
	cr_expect(eq(u64, fake_counters_of(1).bytes_peer, 16 * 4));
	cr_expect(eq(u64, fake_counters_of(0).bytes_peer, 0));
	struct probe probe;
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &probe);
	parts_places_expect_status(&probe, 0);
	for (uint32_t i = 0; i < WORDS; i++)
		cr_expect(eq(u32, x.host[i], 101 + i + (i >= 16 && i < 48)), "word %u", i);
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(places_peers, F10_of_shared_contents_only_what_was_written_goes_home)
{
	struct words x;
	struct probe probe;
	harness_words_shared(&h, &x, WORDS, true, 100, 1, BACKEND_EXPORT_VMM);
	cr_assert(harness_settle(&h));
	uint64_t before = fake_counters_of(1).bytes_peer;
	(void)run_part(0, "fill_u32", places_use_of_part(&x, 16, 24, ACCESS_MODE_WRITE_NO_INIT));
	cr_expect(eq(u64, fake_counters_of(1).bytes_peer, before + 8 * 4));
	(void)run_part(0, "increment_u32", places_use_of_part(&x, 24, 32, ACCESS_MODE_READ_WRITE));
	cr_expect(eq(u64, fake_counters_of(0).bytes_peer, 8 * 4));
	cr_expect(eq(u64, fake_counters_of(1).bytes_peer, before + 16 * 4));
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &probe);
	parts_places_expect_status(&probe, 0);
	for (uint32_t i = 0; i < WORDS; i++)
		cr_expect(
			eq(u32, x.host[i], i >= 16 && i < 24 ? 77 : 100 + i + (i >= 24 && i < 32)),
			"word %u", i);
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(places_peers, F10_a_copy_of_shared_contents_lasts_while_somebody_uses_that_part)
{
	struct words x;
	struct probe held;
	harness_words_shared(&h, &x, WORDS, true, 100, 1, BACKEND_EXPORT_VMM);
	struct use use = places_use_of_part(&x, 16, 24, ACCESS_MODE_READ);
	(void)harness_hold(&h, 0, 1, &use, 1, &held);
	(void)run_part(0, "noop", places_use_of_part(&x, 18, 20, ACCESS_MODE_READ));
	(void)run_part(0, "noop", use);
	cr_expect(eq(u64, fake_counters_of(0).bytes_peer, 8 * 4), "it is in use");
	(void)run_part(0, "noop", places_use_of_part(&x, 24, 32, ACCESS_MODE_READ));
	(void)run_part(0, "noop", places_use_of_part(&x, 24, 32, ACCESS_MODE_READ));
	cr_expect(eq(u64, fake_counters_of(0).bytes_peer, 24 * 4), "each fetched it anew");
	fake_gate_open(1);
	parts_places_expect_status(&held, 0);
	(void)run_part(0, "noop", use);
	cr_expect(eq(u64, fake_counters_of(0).bytes_peer, 32 * 4), "nobody had it any more");
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

/* Contents that were moved for a group stay until it has run: a task that would move them away
 * waits for it. */
Test(places, B5_what_was_brought_stays_until_the_group_has_run)
{
	struct words x, y;
	struct probe gate, ready, writer, host;
	harness_words(&h, &x, WORDS, true, 100);
	harness_words(&h, &y, WORDS, true, 0);
	struct task *before = harness_hold(&h, 0, 1, NULL, 0, &gate);
	struct use uses[2] = {parts_places_ranged(&y, 0, WORDS, ACCESS_MODE_WRITE_NO_INIT),
			      parts_places_ranged(&x, 0, WORDS, ACCESS_MODE_READ)};
	struct launch launch = {.device = 0,
				.kernel = "copy_u32",
				.uses = uses,
				.use_count = 2,
				.after = &before,
				.after_count = 1};
	(void)harness_launch(&h, &launch, &ready);
	/* The contents are there. Then other tasks need the buffer, on another device and on the
	 * host. */
	scheduler_flush(h.scheduler);
	for (uint32_t i = 0; fake_counters_of(0).writes < 1 || i < 4; i++) {
		struct probe other;
		(void)harness_launch(&h, &(struct launch){.device = 2, .kernel = "noop"}, &other);
		parts_places_expect_status(&other, 0);
	}
	submit_part(1, "fill_u32", parts_places_ranged(&x, 0, WORDS, ACCESS_MODE_WRITE_NO_INIT),
		    &writer);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ_WRITE, &host);
	cr_expect(not(writer.done));
	fake_gate_open(1);
	parts_places_expect_status(&ready, 0);
	parts_places_expect_status(&writer, 0);
	parts_places_expect_status(&host, 0);
	cr_expect(lt(u64, ready.order, writer.order));
	cr_expect(eq(u64, fake_counters_of(0).writes, 1));
	host_access_release(access);
	struct task *look_at = harness_host(&h, &y, ACCESS_MODE_READ, &host);
	parts_places_expect_status(&host, 0);
	for (uint32_t i = 0; i < WORDS; i++)
		cr_expect(eq(u32, y.host[i], 100 + i));
	host_access_release(look_at);
	harness_words_free(&h, &x);
	harness_words_free(&h, &y);
	harness_expect_stopped(&h);
}

/* One part needs the old contents, the other does not; they overlap. */
Test(places, C1_C6_modes_of_one_group_are_united_where_its_parts_overlap)
{
	struct words x;
	struct probe probe;
	harness_words(&h, &x, WORDS, true, 100);
	struct use uses[2] = {places_use_of_part(&x, 16, 32, ACCESS_MODE_WRITE_NO_INIT),
			      places_use_of_part(&x, 24, 40, ACCESS_MODE_READ)};
	struct launch launch = {
		.device = 0, .kernel = "add_u32", .uses = uses, .use_count = 2, .items = 8};
	uses[0] = places_use_of_part(&x, 16, 32, ACCESS_MODE_WRITE_NO_INIT);
	/* x[24 + i] += x[24 + i] through the overlap. */
	uses[0].first = 24;
	uses[0].count = 8;
	struct use three[3] = {uses[0], uses[1],
			       places_use_of_part(&x, 16, 24, ACCESS_MODE_WRITE_NO_INIT)};
	three[2].unused = true;
	launch.uses = three;
	launch.use_count = 3;
	(void)harness_launch(&h, &launch, &probe);
	parts_places_expect_status(&probe, 0);
	/* [24, 32) in one, [32, 40) in another; nothing of [16, 24). */
	parts_places_expect_bytes(0, 16 * 4, 0);
	struct task *access = harness_host_part(&h, &x, ACCESS_MODE_READ, 24, 16, &probe);
	parts_places_expect_status(&probe, 0);
	for (uint32_t i = 24; i < 40; i++)
		cr_expect(eq(u32, x.host[i], i < 32 ? 2 * (100 + i) : 100 + i), "word %u", i);
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

Test(places, D20_a_copy_between_two_parts_of_one_buffer)
{
	struct words x;
	struct probe probe;
	harness_words(&h, &x, WORDS, true, 100);
	struct task_requirement requirements[2] = {
		{.buffer = x.buffer,
		 .mode = ACCESS_MODE_READ,
		 .offset_bytes = 0,
		 .size_bytes = 64,
		 .order_offset_bytes = 0,
		 .order_size_bytes = 128},
		{.buffer = x.buffer,
		 .mode = ACCESS_MODE_WRITE_NO_INIT,
		 .offset_bytes = 128,
		 .size_bytes = 64,
		 .order_offset_bytes = 128,
		 .order_size_bytes = 128},
	};
	struct task_request request = {
		.device = h.devices[1],
		.what = "copy",
		.requirements = requirements,
		.requirement_count = 2,
		.action = TASK_COPY,
		.copy = {.source = 0,
			 .destination = 1,
			 .destination_offset_bytes = 128,
			 .size_bytes = 64},
	};
	(void)harness_submit(&h, &request, &probe);
	parts_places_expect_status(&probe, 0);
	parts_places_expect_bytes(1, 64, 0);
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &probe);
	parts_places_expect_status(&probe, 0);
	for (uint32_t i = 0; i < WORDS; i++)
		cr_expect(eq(u32, x.host[i], i >= 32 && i < 48 ? 100 + i - 32 : 100 + i), "word %u",
			  i);
	host_access_release(access);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

static void expect_host(struct words *words, uint32_t first, uint32_t end, int32_t status)
{
	struct probe probe;
	struct task *access =
		harness_host_part(&h, words, ACCESS_MODE_READ, first, end - first, &probe);
	parts_places_expect_status(&probe, status);
	if (status == 0)
		host_access_release(access);
}

/* `late`: the others are submitted after its failure has been reported. */
static void fail_in_part(bool late)
{
	struct words x;
	struct probe failing, on_it, beside, healing;
	harness_words(&h, &x, WORDS, true, 100);
	struct use use = parts_places_ranged(&x, 16, 32, ACCESS_MODE_READ_WRITE);
	use.unused = true;
	fake_gate_close(1);
	struct probe gate;
	struct task *before = harness_hold(&h, 0, 1, NULL, 0, &gate);
	(void)harness_launch(&h,
			     &(struct launch){.kernel = "fail",
					      .uses = &use,
					      .use_count = 1,
					      .after = &before,
					      .after_count = 1},
			     &failing);
	if (late) {
		fake_gate_open(1);
		parts_places_expect_status(&failing, STATUS_KERNEL);
	}
	submit_part(1, "increment_u32", parts_places_ranged(&x, 31, 40, ACCESS_MODE_READ_WRITE),
		    &on_it);
	submit_part(0, "increment_u32", parts_places_ranged(&x, 0, 16, ACCESS_MODE_READ_WRITE),
		    &beside);
	submit_part(1, "fill_u32", places_use_of_part(&x, 20, 24, ACCESS_MODE_WRITE_NO_INIT),
		    &healing);
	fake_gate_open(1);
	parts_places_expect_status(&failing, STATUS_KERNEL);
	parts_places_expect_status(&on_it, STATUS_DEPENDENCY_FAILED);
	parts_places_expect_status(&beside, 0);
	parts_places_expect_status(&healing, 0);
	expect_host(&x, 0, 16, 0);
	expect_host(&x, 16, 20, STATUS_DEPENDENCY_FAILED);
	expect_host(&x, 20, 24, 0);
	expect_host(&x, 24, 31, STATUS_DEPENDENCY_FAILED);
	expect_host(&x, 31, 40, STATUS_DEPENDENCY_FAILED);
	expect_host(&x, 40, 64, 0);
	cr_expect(eq(u32, x.host[15], 116));
	cr_expect(eq(u32, x.host[23], 77));
	/* A write of the whole makes the whole valid again. */
	(void)run_part(2, "fill_u32", parts_places_ranged(&x, 0, WORDS, ACCESS_MODE_WRITE_NO_INIT));
	expect_host(&x, 0, 64, 0);
	harness_words_free(&h, &x);
}

Test(places, M9_a_failure_spoils_what_was_to_be_written_and_no_more)
{
	fail_in_part(false);
	fail_in_part(true);
	harness_expect_stopped(&h);
}

Test(places, M9_a_failed_move_of_a_part_fails_who_needs_it)
{
	struct words x;
	struct probe a, b;
	harness_words(&h, &x, WORDS, true, 100);
	cr_assert(eq(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_RUNTIME, false, "no way in"),
		     0));
	submit_part(0, "increment_u32", places_use_of_part(&x, 0, 8, ACCESS_MODE_READ_WRITE), &a);
	parts_places_expect_status(&a, STATUS_RUNTIME);
	submit_part(0, "increment_u32", places_use_of_part(&x, 8, 16, ACCESS_MODE_READ_WRITE), &b);
	parts_places_expect_status(&b, 0);
	expect_host(&x, 0, 8, STATUS_DEPENDENCY_FAILED);
	expect_host(&x, 8, 64, 0);
	cr_expect(eq(u32, x.host[15], 116));
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

/* A part moves through three devices and the host. Each reads what the one before has written. */
Test(places, B25_a_part_goes_round_and_the_rest_stays)
{
	struct words x;
	harness_words(&h, &x, WORDS, true, 100);
	for (uint32_t round = 0; round < 4; round++)
		for (uint32_t device = 0; device < 3; device++)
			(void)run_part(device, "increment_u32",
				       places_use_of_part(&x, 20, 30, ACCESS_MODE_READ_WRITE));
	struct probe probe;
	struct task *access = harness_host(&h, &x, ACCESS_MODE_READ, &probe);
	parts_places_expect_status(&probe, 0);
	for (uint32_t i = 0; i < WORDS; i++)
		cr_expect(eq(u32, x.host[i], 100 + i + (i >= 20 && i < 30 ? 12 : 0)), "word %u", i);
	host_access_release(access);
	parts_places_expect_bytes(0, 4 * 40, 4 * 40);
	parts_places_expect_bytes(2, 4 * 40, 4 * 40);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}
