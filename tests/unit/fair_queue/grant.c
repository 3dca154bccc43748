/* The limit for all sessions of a fair queue together, with long commands. It holds however long a
 * command is. */
#include "fair_queue/world.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(fair_queue_grant, .timeout = 60);

enum { TENTH = 100, ROUND = 20 };

static struct world *limited_world(void)
{
	struct fair_queue_config config;
	fair_queue_config_init(&config);
	struct world *world = world_create(&config);
	fair_queue_set_grant(&world->queue, TENTH, 0);
	return world;
}

/* Long groups take at most a tenth of the time, plus the last of them. */
static void expect_a_tenth(uint64_t takes_ns, uint32_t depth, bool is_exact)
{
	struct world *world = limited_world();
	struct world_client *client =
		world_client(world, FAIR_QUEUE_NORMAL, FAIR_QUEUE_WEIGHT, takes_ns, depth);
	client->is_exact = is_exact;
	world_run(world, 80 * takes_ns);
	cr_expect(le(u64, client->count, 8 + depth), "%lu of 80", client->count);
	cr_expect(ge(u64, client->count, 7), "%lu of 80", client->count);
}

Test(fair_queue_grant, groups_of_2_s_do_not_exceed_the_limit)
{
	expect_a_tenth(2000 * WORLD_MS, 1, true);
}

Test(fair_queue_grant, groups_of_5_s_do_not_exceed_the_limit)
{
	expect_a_tenth(5000 * WORLD_MS, 2, true);
}

Test(fair_queue_grant, groups_of_20_s_do_not_exceed_the_limit)
{
	expect_a_tenth(20000 * WORLD_MS, 1, true);
}

Test(fair_queue_grant, nor_do_those_whose_device_does_not_tell)
{
	expect_a_tenth(5000 * WORLD_MS, 1, false);
}

/* Runs the sessions one after the other, and returns their time. */
static uint64_t run_decided(struct fair_queue_group **groups, uint32_t count, uint64_t takes_ns,
			    uint64_t *now_ns)
{
	for (uint32_t i = 0; i < count; i++) {
		*now_ns += takes_ns;
		fair_queue_end(groups[i], *now_ns, takes_ns);
	}
	return count * takes_ns;
}

/* Each round has a new session with groups that have no estimate. */
static void expect_a_tenth_of_fresh_sessions(uint64_t takes_ns)
{
	static struct fair_queue_group groups[ROUND];
	struct fair_queue_group *decided[ROUND];
	struct fair_queue_session session;
	struct world *world = limited_world();
	uint64_t now_ns = 0, ran_ns = 0;
	for (int round = 0; round < 10; round++) {
		uint32_t ran = 0;
		/* A debt of a second is paid, and the largest credit is saved: enough for all of
		 * them, as long as there is no estimate. */
		now_ns += 10020 * WORLD_MS;
		cr_assert(zero(int, fair_queue_session_init(&world->queue, &session,
							    FAIR_QUEUE_NORMAL, FAIR_QUEUE_WEIGHT)));
		for (uint32_t i = 0; i < ROUND; i++) {
			groups[i] = (struct fair_queue_group){.lane = 1};
			cr_assert(zero(int, fair_queue_arrive(&session, &groups[i], now_ns)));
		}
		while (ran < ROUND) {
			struct fair_queue_decisions decisions = {.groups = decided, .room = ROUND};
			fair_queue_step(&world->queue, now_ns, &decisions);
			ran_ns += run_decided(decided, decisions.count, takes_ns, &now_ns);
			ran += decisions.count;
			if (decisions.count == 0)
				now_ns = decisions.again_ns;
		}
		fair_queue_session_fini(&session);
	}
	/* The next groups are sent when the debt is paid, so the last round is too many. */
	cr_expect(le(u64, ran_ns - ROUND * takes_ns, now_ns * 11 / 100), "%lu of %lu", ran_ns,
		  now_ns);
}

Test(fair_queue_grant, fresh_sessions_of_unknown_groups_of_100_ms_do_not_exceed_the_limit)
{
	expect_a_tenth_of_fresh_sessions(100 * WORLD_MS);
}

Test(fair_queue_grant, fresh_sessions_of_unknown_groups_of_500_ms_do_not_exceed_the_limit)
{
	expect_a_tenth_of_fresh_sessions(500 * WORLD_MS);
}

Test(fair_queue_grant, a_group_that_runs_longer_than_predicted_is_paid_for_while_it_runs)
{
	struct world *world = limited_world();
	struct world_client *longer =
		world_client(world, FAIR_QUEUE_NORMAL, FAIR_QUEUE_WEIGHT, 20000 * WORLD_MS, 1);
	struct world_client *shorter =
		world_client(world, FAIR_QUEUE_NORMAL, FAIR_QUEUE_WEIGHT, WORLD_MS, 4);
	world->side_by_side = 2;
	shorter->from_ns = 1000 * WORLD_MS;
	world_run(world, 15000 * WORLD_MS);
	cr_expect(zero(u64, longer->count));
	/* The long group may delay it, so one is admitted from time to time. */
	cr_expect(ge(u64, shorter->count, 10), "%lu", shorter->count);
	cr_expect(le(u64, shorter->count, 16), "%lu", shorter->count);
}

Test(fair_queue_grant, what_ran_before_there_was_a_limit_is_nobodys_debt)
{
	struct world *world = limited_world();
	struct world_client *client =
		world_client(world, FAIR_QUEUE_NORMAL, FAIR_QUEUE_WEIGHT, 10000 * WORLD_MS, 1);
	fair_queue_set_grant(&world->queue, FAIR_QUEUE_FREE, 0);
	world_run(world, 9000 * WORLD_MS);
	fair_queue_set_grant(&world->queue, TENTH, world->now_ns);
	/* The first group takes a second, which ten seconds pay for. */
	world_run(world, 18000 * WORLD_MS);
	cr_expect(zero(u32, world->queue.in_flight));
	world_run(world, 20500 * WORLD_MS);
	cr_expect(eq(u32, world->queue.in_flight, 1));
	cr_expect(eq(u64, client->count, 1));
}

/* Times that a device invents, and times that passed while a hundred short groups ran side by side
 * before. */
Test(fair_queue_grant, a_device_that_tells_of_a_year_costs_what_has_passed)
{
	struct world *world = limited_world();
	struct fair_queue_session session;
	struct fair_queue_group group = {.lane = 1}, *decided;
	struct fair_queue_decisions decisions = {.groups = &decided, .room = 1};
	cr_assert(zero(int, fair_queue_session_init(&world->queue, &session, FAIR_QUEUE_NORMAL,
						    FAIR_QUEUE_WEIGHT)));
	cr_assert(zero(int, fair_queue_arrive(&session, &group, 20 * WORLD_MS)));
	fair_queue_step(&world->queue, 20 * WORLD_MS, &decisions);
	cr_assert(eq(u32, decisions.count, 1));
	fair_queue_end(&group, 30 * WORLD_MS, 31536000000 * WORLD_MS);
	cr_expect(ge(i64, world->queue.grant.left_ns, -25 * (int64_t)WORLD_MS), "%ld",
		  world->queue.grant.left_ns);
}

Test(fair_queue_grant, many_short_groups_side_by_side_make_no_long_one_cheap)
{
	struct world *world = limited_world();
	struct world_client *shorter =
		world_client(world, FAIR_QUEUE_NORMAL, FAIR_QUEUE_WEIGHT, 200 * WORLD_US, 32);
	struct world_client *longer =
		world_client(world, FAIR_QUEUE_NORMAL, FAIR_QUEUE_WEIGHT, 5000 * WORLD_MS, 1);
	fair_queue_set_grant(&world->queue, FAIR_QUEUE_FREE, 0);
	world->side_by_side = shorter->lanes = 16;
	shorter->until_ns = 200 * WORLD_MS;
	longer->from_ns = 300 * WORLD_MS;
	longer->until_ns = 400 * WORLD_MS;
	world_run(world, 300 * WORLD_MS);
	fair_queue_set_grant(&world->queue, TENTH, world->now_ns);
	cr_expect(le(u32, world->queue.overlap.part, 200), "%u", world->queue.overlap.part);
	uint64_t used_ns = world->queue.grant.used_ns;
	world_run(world, 6000 * WORLD_MS);
	cr_expect(eq(u64, longer->count, 1));
	cr_expect(ge(u64, world->queue.grant.used_ns - used_ns, 4900 * WORLD_MS), "%lu",
		  world->queue.grant.used_ns - used_ns);
}
