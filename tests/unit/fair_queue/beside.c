/* Best effort beside other classes, on lanes that the device serves after the others. */
#include "fair_queue/world.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(queue_beside, .timeout = 10);

enum { SLOTS = 8, NORMAL = 6, BEST_EFFORT = 4, LONG_NS = 400 * WORLD_US };

static struct world *yielding_world(bool has_beside)
{
	struct fair_queue_config config;
	fair_queue_config_init(&config);
	config.has_beside = has_beside;
	struct world *world = world_create(&config);
	world->side_by_side = SLOTS;
	world->yields = true;
	return world;
}

/* A few requests, clients whose next short group comes at once, and others of long groups. */
static void make_mix(struct world *world)
{
	struct world_client *quick = world_client(world, FAIR_QUEUE_LATENCY, 100, 50 * WORLD_US, 1);
	quick->every_ns = 10 * WORLD_MS + 7 * WORLD_US;
	for (uint32_t i = 0; i < NORMAL; i++)
		(void)world_client(world, FAIR_QUEUE_NORMAL, 100, 70 * WORLD_US, 4);
	for (uint32_t i = 0; i < BEST_EFFORT; i++)
		(void)world_client(world, FAIR_QUEUE_BEST_EFFORT, 100, LONG_NS, 4);
}

static uint64_t ran_ns(const struct world *world, enum fair_queue_class class)
{
	uint64_t sum_ns = 0;
	for (uint32_t i = 0; i < world->client_count; i++)
		if (world->clients[i].session.class == class)
			sum_ns += world->clients[i].ran_ns;
	return sum_ns;
}

/* With a second before, in which times are learnt. */
static void run_second(struct world *world)
{
	const uint64_t begin_ns = world->now_ns;
	world_run(world, begin_ns + 1000 * WORLD_MS);
	world_forget(world);
	world_run(world, begin_ns + 2000 * WORLD_MS);
}

Test(queue_beside, TR6_best_effort_has_what_other_classes_leave_idle)
{
	struct world *world = yielding_world(false);
	make_mix(world);
	run_second(world);
	const uint64_t gaps_ns = ran_ns(world, FAIR_QUEUE_BEST_EFFORT),
		       normal_ns = ran_ns(world, FAIR_QUEUE_NORMAL);
	cr_expect(lt(u64, gaps_ns, 500 * WORLD_MS), "%lu", gaps_ns);

	world = yielding_world(true);
	make_mix(world);
	run_second(world);
	/* Six of eight places are the normal class's own, nearly all the time. */
	cr_expect(ge(u64, ran_ns(world, FAIR_QUEUE_BEST_EFFORT), 1900 * WORLD_MS), "%lu",
		  ran_ns(world, FAIR_QUEUE_BEST_EFFORT));
	cr_expect(ge(u64, ran_ns(world, FAIR_QUEUE_NORMAL), normal_ns / 2), "%lu beside %lu",
		  ran_ns(world, FAIR_QUEUE_NORMAL), normal_ns);
	/* A request waits for no more than a long group, of which some place is always near the
	 * end.
	 */
	cr_expect(le(u64, world->clients[0].longest_ns, 50 * WORLD_US + LONG_NS), "%lu",
		  world->clients[0].longest_ns);
}

Test(queue_beside, TR6_a_normal_session_does_not_wait_for_best_effort_in_flight)
{
	struct world *world = yielding_world(true);
	(void)world_client(world, FAIR_QUEUE_LATENCY, 100, 50 * WORLD_US, 0);
	(void)world_client(world, FAIR_QUEUE_BEST_EFFORT, 100, LONG_NS, 64);
	struct world_client *normal = world_client(world, FAIR_QUEUE_NORMAL, 100, 20 * WORLD_US, 1);
	normal->every_ns = 1 * WORLD_MS + 7 * WORLD_US;
	run_second(world);
	cr_expect(eq(u64, normal->longest_ns, 20 * WORLD_US), "%lu", normal->longest_ns);
	cr_expect(ge(u64, ran_ns(world, FAIR_QUEUE_BEST_EFFORT), 990 * WORLD_MS));
}

/* The device itself never comes to best effort. */
Test(queue_beside, TG11_best_effort_has_its_least_part_on_lanes_that_yield)
{
	struct world *world = yielding_world(true);
	world->side_by_side = 1;
	struct world_client *greedy =
		world_client(world, FAIR_QUEUE_LATENCY, 100, 100 * WORLD_US, 256);
	struct world_client *last =
		world_client(world, FAIR_QUEUE_BEST_EFFORT, 100, 100 * WORLD_US, 256);
	world_run(world, 1000 * WORLD_MS);
	world_forget(world);
	world_run(world, 6000 * WORLD_MS);
	cr_expect(ge(u32, world_part(world, last), 15), "%u", world_part(world, last));
	cr_expect(ge(u32, world_part(world, greedy), 900), "%u", world_part(world, greedy));
}

/* Nothing happens for more than a second, as one long group runs. */
Test(queue_beside, TR6_a_long_group_of_best_effort_holds_nobody_back)
{
	struct world *world = yielding_world(true);
	struct world_client *quick = world_client(world, FAIR_QUEUE_LATENCY, 100, 50 * WORLD_US, 1);
	(void)world_client(world, FAIR_QUEUE_BEST_EFFORT, 100, 3000 * WORLD_MS, 2);
	quick->every_ns = 1500 * WORLD_MS + 7 * WORLD_US;
	world_run(world, 60000 * WORLD_MS);
	cr_expect(gt(u64, quick->longest_ns, 0));
	cr_expect(le(u64, quick->longest_ns, 50 * WORLD_US), "%lu", quick->longest_ns);
}

Test(queue_beside, TG11_weights_are_shares_beside_other_classes)
{
	struct world *world = yielding_world(true);
	for (uint32_t i = 0; i < NORMAL; i++)
		(void)world_client(world, FAIR_QUEUE_NORMAL, 100, 70 * WORLD_US, 1);
	struct world_client *large =
		world_client(world, FAIR_QUEUE_BEST_EFFORT, 75, 300 * WORLD_US, 64);
	struct world_client *small =
		world_client(world, FAIR_QUEUE_BEST_EFFORT, 25, 100 * WORLD_US, 256);
	large->lanes = small->lanes = 8;
	small->lane = 20;
	run_second(world);
	const uint64_t permille = large->ran_ns * 1000 / (large->ran_ns + small->ran_ns);
	cr_expect(ge(u64, permille, 730), "%lu", permille);
	cr_expect(le(u64, permille, 770), "%lu", permille);
}
