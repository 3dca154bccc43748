/*
 * Groups that each fill the device, beside others: the reported time of one includes the time of
 * the others meanwhile. Shares hold all the same. Measuring the true time costs little, and does
 * not delay sessions that must not wait.
 */
#include "fair_queue/world.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(gate_company, .timeout = 20);

enum { POINTS_1 = 10 /* of permille */, SETTLE_MS = 400 };

static struct world *whole_world(void)
{
	struct fair_queue_config config;
	fair_queue_config_init(&config);
	struct world *world = world_create(&config);
	world->whole = true;
	return world;
}

struct load {
	uint32_t count, depth;
	uint32_t weights[4], us[4];
};

/* Each client's part of a second, after a while, is that of its weight. */
static void expect_shares(const struct load *load)
{
	struct world *world = whole_world();
	uint32_t all = 0;
	for (uint32_t i = 0; i < load->count; i++) {
		struct world_client *client =
			world_client(world, FAIR_QUEUE_NORMAL, load->weights[i],
				     load->us[i] * WORLD_US, load->depth);
		client->from_ns = 1 + i * 7 * WORLD_MS;
		all += load->weights[i];
	}
	world_run(world, SETTLE_MS * WORLD_MS);
	for (uint64_t second = 1; second <= 3; second++) {
		world_forget(world);
		world_run(world, SETTLE_MS * WORLD_MS + second * 1000 * WORLD_MS);
		for (uint32_t i = 0; i < load->count; i++) {
			uint32_t part = world_part(world, &world->clients[i]),
				 wanted = load->weights[i] * 1000 / all;
			cr_expect(part + POINTS_1 >= wanted && part <= wanted + POINTS_1,
				  "%u, not %u, of %u us in second %lu", part, wanted, load->us[i],
				  second);
		}
	}
}

Test(gate_company, TG11_weights_75_25_are_shares_of_kernels_that_fill_the_device)
{
	expect_shares(
		&(struct load){.count = 2, .depth = 32, .weights = {75, 25}, .us = {200, 500}});
}

Test(gate_company, TG11_weights_60_30_10_are_shares_of_kernels_that_fill_the_device)
{
	expect_shares(&(struct load){
		.count = 3, .depth = 32, .weights = {60, 30, 10}, .us = {200, 500, 900}});
}

Test(gate_company, TG11_and_of_graphs_of_four)
{
	expect_shares(&(struct load){
		.count = 3, .depth = 8, .weights = {60, 30, 10}, .us = {800, 2000, 3600}});
}

Test(gate_company, TG11_equal_weights_are_equal_shares_of_short_and_long)
{
	expect_shares(
		&(struct load){.count = 2, .depth = 256, .weights = {100, 100}, .us = {20, 500}});
}

Test(gate_company, TG11_the_weights_of_short_ones_beside_a_long_one)
{
	expect_shares(&(struct load){
		.count = 4, .depth = 128, .weights = {50, 50, 100, 200}, .us = {20, 500, 100, 30}});
}

Test(gate_company, TG11_who_was_away_for_a_while_has_its_part_again_in_10_ms)
{
	struct world *world = whole_world();
	struct world_client *guest = world_client(world, FAIR_QUEUE_NORMAL, 75, 200 * WORLD_US, 32);
	(void)world_client(world, FAIR_QUEUE_NORMAL, 25, 500 * WORLD_US, 32);
	for (uint32_t i = 0; i < 5; i++) {
		guest->until_ns = world->now_ns + 400 * WORLD_MS;
		world_run(world, guest->until_ns + 200 * WORLD_MS);
		guest->until_ns = UINT64_MAX;
		world_run(world, world->now_ns + 10 * WORLD_MS);
		world_forget(world);
		world_run(world, world->now_ns + 20 * WORLD_MS);
		cr_expect(ge(u32, world_part(world, guest), 712), "%u", world_part(world, guest));
	}
}

Test(gate_company, one_whose_kernels_become_longer_pays_for_that)
{
	struct world *world = whole_world();
	struct world_client *one = world_client(world, FAIR_QUEUE_NORMAL, 100, 200 * WORLD_US, 32);
	struct world_client *two = world_client(world, FAIR_QUEUE_NORMAL, 100, 500 * WORLD_US, 32);
	world_run(world, 3000 * WORLD_MS);
	one->takes_ns = 1000 * WORLD_US;
	world_run(world, 6000 * WORLD_MS);
	world_forget(world);
	world_run(world, 7000 * WORLD_MS);
	cr_expect(ge(u32, world_part(world, two), 480), "%u", world_part(world, two));
	cr_expect(le(u32, world_part(world, two), 520), "%u", world_part(world, two));
}

/* ------------------------------------ the cost ------------------------------------- */

static uint64_t probes_ns;
static const struct fair_queue_group *last_probe;

static void count_probes(const struct world *world)
{
	for (const struct world_group *group = world->first; group; group = group->next) {
		if (!group->group.probe || &group->group == last_probe)
			continue;
		cr_assert(eq(u32, world->queue.in_flight, 1), "it has the device to itself");
		probes_ns += group->takes_ns;
		last_probe = &group->group;
	}
	if (world->queue.probe.state != FAIR_QUEUE_PROBE_RUNS)
		last_probe = NULL;
}

Test(gate_company, little_of_the_time_goes_to_finding_out)
{
	struct world *world = whole_world();
	world->whole = false;
	world->side_by_side = 8;
	world->check = count_probes;
	for (uint32_t i = 0; i < 8; i++)
		(void)world_client(world, FAIR_QUEUE_NORMAL, 100, (100 + 10 * i) * WORLD_US, 32);
	world_run(world, 1000 * WORLD_MS);
	cr_expect(gt(u64, probes_ns, 0));
	cr_expect(le(u64, probes_ns, (4 + 1000 / 128 + 1) * WORLD_MS), "%lu", probes_ns);
	uint64_t ran_ns = 0;
	for (uint32_t i = 0; i < 8; i++)
		ran_ns += world->clients[i].ran_ns;
	cr_expect(ge(u64, ran_ns, 8 * 970 * WORLD_MS), "%lu", ran_ns);
}

static void check_that_none_is_made(const struct world *world)
{
	cr_assert(eq(int, (int)world->queue.probe.state, (int)FAIR_QUEUE_PROBE_NONE));
}

/* Small kernels behave like this: beside each other each takes as long as alone. */
Test(gate_company, TG4_nothing_is_held_back_for_it_where_all_are_short)
{
	struct fair_queue_config config;
	fair_queue_config_init(&config);
	struct world *world = world_create(&config);
	world->side_by_side = 8;
	world->check = check_that_none_is_made;
	for (int i = 0; i < 8; i++)
		(void)world_client(world, FAIR_QUEUE_NORMAL, FAIR_QUEUE_WEIGHT, 20 * WORLD_US, 64);
	world_run(world, 300 * WORLD_MS);
	uint64_t ran_ns = 0;
	for (uint32_t i = 0; i < world->client_count; i++)
		ran_ns += world->clients[i].ran_ns;
	cr_expect(ge(u64, ran_ns, 8 * 298 * WORLD_MS));
}

enum { COMERS = 6, COMERS_AT_ONCE = 2 };

static struct world_client *comers[COMERS];
static uint32_t last_comer;

/* Whenever the device has fewer than two groups of theirs, the next client sends one. */
static void let_one_come(const struct world *world)
{
	uint32_t open = 0;
	(void)world;
	for (uint32_t i = 0; i < COMERS; i++) {
		open += comers[i]->open;
		comers[i]->depth = 0;
	}
	for (; open < COMERS_AT_ONCE; open++) {
		struct world_client *next = comers[++last_comer % COMERS];
		next->depth = next->open + 1;
	}
}

/* A session that came while the device was drained for another one goes first. Then the device is
 * not drained again at once. */
Test(gate_company, sessions_that_come_and_go_take_the_device_from_no_other)
{
	struct world *world = whole_world();
	struct world_client *steady =
		world_client(world, FAIR_QUEUE_NORMAL, 100, 500 * WORLD_US, 32);
	(void)world_client(world, FAIR_QUEUE_NORMAL, 100, 500 * WORLD_US, 32);
	(void)world_client(world, FAIR_QUEUE_NORMAL, 100, 20 * WORLD_US, 8);
	for (uint32_t i = 0; i < COMERS; i++)
		comers[i] = world_client(world, FAIR_QUEUE_NORMAL, 100, 40 * WORLD_US, 0);
	world->check = let_one_come;
	world_run(world, 2000 * WORLD_MS);
	world_forget(world);
	world_run(world, 2500 * WORLD_MS);
	cr_expect(ge(u64, steady->ran_ns, 150 * WORLD_MS), "%lu", steady->ran_ns);
}

Test(gate_company, nothing_is_held_back_for_it_where_a_latency_session_is)
{
	struct world *world = whole_world();
	world->check = count_probes;
	struct world_client *quick = world_client(world, FAIR_QUEUE_LATENCY, 100, 50 * WORLD_US, 1);
	quick->every_ns = 3 * WORLD_MS;
	(void)world_client(world, FAIR_QUEUE_NORMAL, 100, 200 * WORLD_US, 32);
	(void)world_client(world, FAIR_QUEUE_NORMAL, 100, 500 * WORLD_US, 32);
	world_run(world, 1000 * WORLD_MS);
	cr_expect(zero(u64, probes_ns));
}

Test(gate_company, what_ran_beside_strangers_was_not_alone)
{
	struct world *world = whole_world();
	struct world_client *client =
		world_client(world, FAIR_QUEUE_NORMAL, 100, 100 * WORLD_US, 0);
	struct fair_queue_group group = {.shape = 5}, *decided[1];
	const struct {
		uint32_t more, less;
	} steps[] = {{1, 0}, {0, 1}, {0, 0}};
	for (uint32_t i = 0; i < 3; i++) {
		struct fair_queue_decisions decisions = {.groups = decided, .room = 1};
		cr_assert(zero(int, fair_queue_arrive(&client->session, &group, world->now_ns)));
		fair_queue_step(&world->queue, world->now_ns, &decisions);
		cr_assert(eq(u32, decisions.count, 1));
		fair_queue_bypassing(&world->queue, steps[i].more, 0, world->now_ns);
		world->now_ns += 100 * WORLD_US;
		fair_queue_bypassing(&world->queue, 0, steps[i].less, world->now_ns);
		world->now_ns += 100 * WORLD_US;
		fair_queue_end(&group, world->now_ns, 200 * WORLD_US);
		cr_expect(eq(int, fair_queue_estimate_is_alone(&world->queue.estimates, 5), i == 2),
			  "%u", i);
	}
	cr_expect(eq(u64, fair_queue_estimate_ns(&world->queue.estimates, 5), 200 * WORLD_US));
}
