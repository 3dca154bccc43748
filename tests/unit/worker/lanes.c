/* The lanes of a device: which command runs on which. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"
#include "worker/threads_setup.h"

#include "access_mode.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

static struct harness h;

static void worker_lanes_set_up(void)
{
	threads_open_devices(&h, FAKE_FEATURES_ALL, 2);
}

TestSuite(lanes, .timeout = 20, .init = worker_lanes_set_up);

/* Reads all entries, by lane. */
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

/* Both of one queue follow each other. The other queue has the same home lane, and its commands go
 * to an idle lane. */
Test(lanes, F8_queues_that_share_a_home_do_not_wait_for_each_other)
{
	static struct fake_log_entry log[16];
	struct probe held, follower, other;
	const uint32_t gate = 1;
	threads_make_kernel(&h, "hold");
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
	/* In the order of ends: the other one, the held one, its follower. */
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
	threads_make_kernel(&h, "hold");
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

/* It begins early behind the launch before it on the lane, if it depends on that, and both are of
 * one session. */
Test(lanes, R5_a_launch_begins_early_behind_a_launch_of_its_session_alone)
{
	static struct fake_log_entry log[16];
	static const struct backend_launch_properties early = {.early = true, .early_after = 99};
	struct sched_account *first = NULL, *other = NULL;
	struct probe probes[6];
	struct words x;
	threads_make_kernel(&h, "increment_u32");
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
