/* Fair queueing, with a fake clock: shares, lending, classes, windows, overdue groups. */
#include "fair_queue/world.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>

TestSuite(queue, .timeout = 10);

enum { POINTS_2 = 20 }; /* of permille */

static struct world *plain_world(void)
{
	struct fair_queue_config config;
	fair_queue_config_init(&config);
	return world_create(&config);
}

static bool is_near(uint32_t part, uint32_t wanted)
{
	return part + POINTS_2 >= wanted && part <= wanted + POINTS_2;
}

Test(queue, TG11_weights_75_25_are_shares_in_each_second)
{
	struct world *world = plain_world();
	struct world_client *large = world_client(world, FAIR_QUEUE_NORMAL, 75, 300 * WORLD_US, 64);
	struct world_client *small = world_client(world, FAIR_QUEUE_NORMAL, 25, 20 * WORLD_US, 512);
	for (uint64_t second = 1; second <= 5; second++) {
		world_forget(world);
		world_run(world, second * 1000 * WORLD_MS);
		cr_expect(is_near(world_part(world, large), 750), "%u in second %lu",
			  world_part(world, large), second);
		cr_expect(is_near(world_part(world, small), 250));
	}
}

Test(queue, TG11_weights_60_30_10_are_shares_whatever_the_kernels_take)
{
	struct world *world = plain_world();
	struct world_client *first = world_client(world, FAIR_QUEUE_NORMAL, 60, 7 * WORLD_US, 512);
	struct world_client *second =
		world_client(world, FAIR_QUEUE_NORMAL, 30, 950 * WORLD_US, 16);
	struct world_client *third = world_client(world, FAIR_QUEUE_NORMAL, 10, 90 * WORLD_US, 64);
	world_run(world, 1000 * WORLD_MS);
	cr_expect(is_near(world_part(world, first), 600), "%u", world_part(world, first));
	cr_expect(is_near(world_part(world, second), 300), "%u", world_part(world, second));
	cr_expect(is_near(world_part(world, third), 100), "%u", world_part(world, third));
}

Test(queue, TG11_shares_hold_beside_each_other_on_the_device)
{
	struct world *world = plain_world();
	world->side_by_side = 8;
	struct world_client *large =
		world_client(world, FAIR_QUEUE_NORMAL, 75, 20 * WORLD_US, 1024);
	struct world_client *small =
		world_client(world, FAIR_QUEUE_NORMAL, 25, 200 * WORLD_US, 256);
	large->lanes = small->lanes = 16;
	small->lane = 20;
	world_run(world, 1000 * WORLD_MS);
	cr_expect(is_near(world_part(world, large), 750), "%u", world_part(world, large));
	/* Eight run at a time: each was charged an eighth of the time that it took. */
	cr_expect(lt(u32, world->queue.overlap.part, 140), "%u", world->queue.overlap.part);
	uint64_t charged = world->clients[0].session.used_ns + world->clients[1].session.used_ns;
	cr_expect(gt(u64, charged, 900 * WORLD_MS));
	cr_expect(lt(u64, charged, 1100 * WORLD_MS));
}

Test(queue, TG11_an_idle_share_is_lent_and_back_within_10_ms)
{
	struct world *world = plain_world();
	struct world_client *busy = world_client(world, FAIR_QUEUE_NORMAL, 25, 500 * WORLD_US, 64);
	struct world_client *guest = world_client(world, FAIR_QUEUE_NORMAL, 75, 500 * WORLD_US, 64);
	guest->from_ns = 1000 * WORLD_MS;
	world_run(world, guest->from_ns);
	cr_expect(ge(u64, busy->ran_ns, 990 * WORLD_MS), "all of it while the other is idle");
	world_run(world, guest->from_ns + 10 * WORLD_MS);
	cr_expect(lt(u64, guest->first_ns, guest->from_ns + 3 * WORLD_MS));
	world_forget(world);
	world_run(world, guest->from_ns + 210 * WORLD_MS);
	cr_expect(is_near(world_part(world, guest), 750), "%u", world_part(world, guest));
}

Test(queue, what_was_not_used_is_not_saved_up)
{
	struct world *world = plain_world();
	struct world_client *steady =
		world_client(world, FAIR_QUEUE_NORMAL, 100, 100 * WORLD_US, 64);
	struct world_client *late = world_client(world, FAIR_QUEUE_NORMAL, 100, 100 * WORLD_US, 64);
	late->until_ns = 10 * WORLD_MS;
	world_run(world, 1000 * WORLD_MS);
	late->until_ns = UINT64_MAX;
	world_forget(world);
	world_run(world, 1020 * WORLD_MS);
	cr_expect(ge(u32, world_part(world, steady), 400), "a second of absence is no credit: %u",
		  world_part(world, steady));
}

Test(queue, TG9_a_latency_command_waits_for_no_deep_queue)
{
	struct world *world = plain_world();
	struct world_client *quick = world_client(world, FAIR_QUEUE_LATENCY, 100, 50 * WORLD_US, 1);
	struct world_client *flood =
		world_client(world, FAIR_QUEUE_BEST_EFFORT, 100, 60 * WORLD_US, 1024);
	quick->every_ns = 1 * WORLD_MS + 7 * WORLD_US;
	world_run(world, 100 * WORLD_MS);
	world_forget(world);
	world_run(world, 1100 * WORLD_MS);
	/* Its own time, the narrow window, and the group that began before, when the window was
	 * full. */
	cr_expect(le(u64, quick->longest_ns, (50 + 100 + 60) * WORLD_US), "%lu", quick->longest_ns);
	cr_expect(ge(u64, quick->count, 900));
	cr_expect(ge(u64, flood->ran_ns, 940 * WORLD_MS), "and the device is never idle: %lu",
		  flood->ran_ns);
}

/* Four long groups fill a window. The narrow one has room for a second when the first is about to
 * end. */
Test(queue, TG9_where_the_latency_class_is_apart_the_others_fill_their_windows)
{
	struct world *world = plain_world();
	struct world_client *quick = world_client(world, FAIR_QUEUE_LATENCY, 100, 50 * WORLD_US, 1);
	(void)world_client(world, FAIR_QUEUE_BEST_EFFORT, 100, 500 * WORLD_US, 64);
	const struct fair_queue_load *load = &world->queue.classes[FAIR_QUEUE_BEST_EFFORT].own;
	quick->every_ns = 1 * WORLD_MS + 7 * WORLD_US;
	world_run(world, 100 * WORLD_MS);
	cr_expect(le(u32, load->count, 2));
	fair_queue_set_apart(&world->queue, true);
	world_run(world, 200 * WORLD_MS);
	cr_expect(eq(u32, load->count, 4));
	fair_queue_set_apart(&world->queue, false);
	world_run(world, 300 * WORLD_MS);
	cr_expect(le(u32, load->count, 2));
}

Test(queue, TG9_it_is_not_surprised_after_a_long_rest)
{
	struct world *world = plain_world();
	struct world_client *quick = world_client(world, FAIR_QUEUE_LATENCY, 100, 50 * WORLD_US, 1);
	(void)world_client(world, FAIR_QUEUE_BEST_EFFORT, 100, 60 * WORLD_US, 1024);
	quick->every_ns = 700 * WORLD_MS;
	quick->from_ns = 100 * WORLD_MS;
	world_run(world, 10000 * WORLD_MS);
	cr_expect(ge(u64, quick->count, 10));
	cr_expect(le(u64, quick->longest_ns, (50 + 100 + 60) * WORLD_US), "%lu", quick->longest_ns);
}

Test(queue, the_classes_below_have_their_least_part)
{
	struct world *world = plain_world();
	struct world_client *greedy =
		world_client(world, FAIR_QUEUE_LATENCY, 100, 100 * WORLD_US, 256);
	struct world_client *normal =
		world_client(world, FAIR_QUEUE_NORMAL, 100, 100 * WORLD_US, 256);
	struct world_client *last =
		world_client(world, FAIR_QUEUE_BEST_EFFORT, 1, 100 * WORLD_US, 256);
	world_run(world, 5000 * WORLD_MS);
	cr_expect(is_near(world_part(world, normal), 100), "%u", world_part(world, normal));
	cr_expect(ge(u32, world_part(world, last), 15), "%u", world_part(world, last));
	cr_expect(ge(u32, world_part(world, greedy), 850), "%u", world_part(world, greedy));
}

Test(queue, TG10_below_it_nothing_is_sent_while_it_keeps_the_device_busy)
{
	struct world *world = plain_world();
	struct world_client *quick =
		world_client(world, FAIR_QUEUE_LATENCY, 100, 500 * WORLD_US, 4);
	struct world_client *flood =
		world_client(world, FAIR_QUEUE_BEST_EFFORT, 100, 300 * WORLD_US, 64);
	world_run(world, 100 * WORLD_MS);
	world_forget(world);
	world_run(world, 2100 * WORLD_MS);
	/* The lanes of the sessions take turns on the device: every group on it runs. */
	cr_expect(ge(u32, world_part(world, quick), 970), "%u", world_part(world, quick));
	cr_expect(ge(u32, world_part(world, flood), 15), "%u", world_part(world, flood));
	quick->until_ns = 2200 * WORLD_MS;
	world_run(world, 2300 * WORLD_MS);
	world_forget(world);
	world_run(world, 3300 * WORLD_MS);
	cr_expect(ge(u64, flood->ran_ns, 990 * WORLD_MS), "and all of it where it rests: %lu",
		  flood->ran_ns);
}

static void window_is_kept(const struct world *world)
{
	const struct fair_queue_config *config = &world->queue.config;
	const struct fair_queue_class_state *normal = &world->queue.classes[FAIR_QUEUE_NORMAL];
	cr_assert(le(u64, normal->own.weight_ns, config->window_ns + 300 * WORLD_US));
	cr_assert(le(u64, world->queue.all.weight_ns, config->window_ns + 300 * WORLD_US));
}

Test(queue, no_more_than_a_window_is_on_the_device)
{
	struct world *world = plain_world();
	world->check = window_is_kept;
	for (uint32_t i = 0; i < 12; i++)
		(void)world_client(world, FAIR_QUEUE_NORMAL, 1 + i * 40, (20 + i * 25) * WORLD_US,
				   200);
	world_run(world, 300 * WORLD_MS);
	cr_expect(ge(u64, world->longest_in_flight_ns, world->queue.config.window_ns / 2),
		  "and it is used");
}

Test(queue, the_device_never_runs_dry_of_long_groups)
{
	struct world *world = plain_world();
	struct world_client *flood =
		world_client(world, FAIR_QUEUE_BEST_EFFORT, 100, 900 * WORLD_US, 8);
	struct world_client *quick = world_client(world, FAIR_QUEUE_LATENCY, 100, 10 * WORLD_US, 1);
	quick->every_ns = 5 * WORLD_MS;
	world_run(world, 50 * WORLD_MS);
	world_forget(world);
	world_run(world, 1050 * WORLD_MS);
	cr_expect(ge(u64, flood->ran_ns + quick->ran_ns, 998 * WORLD_MS), "%lu",
		  flood->ran_ns + quick->ran_ns);
	cr_expect(le(u64, quick->longest_ns, (10 + 2 * 900) * WORLD_US), "%lu", quick->longest_ns);
}

Test(queue, an_overdue_group_delays_no_other_for_ever)
{
	struct world *world = plain_world();
	world->side_by_side = 4;
	struct world_client *stuck = world_client(world, FAIR_QUEUE_NORMAL, 100, 50 * WORLD_US, 1);
	struct world_client *other = world_client(world, FAIR_QUEUE_NORMAL, 100, 50 * WORLD_US, 4);
	world_run(world, 10 * WORLD_MS);
	/* A group with an estimate of 50 us takes ten seconds. The groups behind it fill its
	 * session's window and more. */
	stuck->takes_ns = 10000 * WORLD_MS;
	stuck->depth = 100;
	world_run(world, 20 * WORLD_MS);
	world_forget(world);
	world_run(world, 1020 * WORLD_MS);
	cr_expect(ge(u64, other->count, 4), "%lu", other->count);
}

Test(queue, a_group_longer_than_predicted_leaves_a_debt)
{
	struct world *world = plain_world();
	struct world_client *sly = world_client(world, FAIR_QUEUE_NORMAL, 100, 10 * WORLD_US, 256);
	struct world_client *other =
		world_client(world, FAIR_QUEUE_NORMAL, 100, 100 * WORLD_US, 256);
	world_run(world, 100 * WORLD_MS);
	sly->takes_ns = 2 * WORLD_MS;
	/* The groups that were sent because of their short estimate run, 200 of them. Then the
	 * other session gets as much. */
	world_run(world, 1500 * WORLD_MS);
	cr_expect(ge(u64, other->ran_ns, 600 * WORLD_MS), "%lu", other->ran_ns);
	world_forget(world);
	world_run(world, 2500 * WORLD_MS);
	cr_expect(is_near(world_part(world, other), 500), "%u", world_part(world, other));
}

Test(queue, what_was_saved_for_a_long_group_is_not_spent_on_others)
{
	struct world *world = plain_world();
	struct world_client *one = world_client(world, FAIR_QUEUE_NORMAL, 100, 100 * WORLD_US, 64);
	struct world_client *two = world_client(world, FAIR_QUEUE_NORMAL, 100, 100 * WORLD_US, 64);
	/* Its estimate is half a second, which is wrong. */
	fair_queue_estimate_update(&world->queue.estimates, two->shape, 500 * WORLD_MS, true);
	world_run(world, 1500 * WORLD_MS);
	world_forget(world);
	world_run(world, 1600 * WORLD_MS);
	cr_expect(is_near(world_part(world, one), 500), "%u", world_part(world, one));
	cr_expect(ge(u64, two->count, 400));
}

Test(queue, times_that_nobody_measured_are_told_by_when_groups_come_back)
{
	struct world *world = plain_world();
	struct world_client *large = world_client(world, FAIR_QUEUE_NORMAL, 100, 400 * WORLD_US, 4);
	large->is_exact = false;
	world_run(world, 200 * WORLD_MS);
	uint64_t known_ns = fair_queue_estimate_ns(&world->queue.estimates, large->shape);
	cr_expect(ge(u64, known_ns, 390 * WORLD_US), "%lu", known_ns);
	cr_expect(le(u64, known_ns, 410 * WORLD_US), "%lu", known_ns);
	cr_expect(not(fair_queue_estimate_is_exact(&world->queue.estimates, large->shape)));
}

static void memory_is_kept(const struct world *world)
{
	uint64_t in_flight = 0;
	for (uint32_t i = 0; i < WORLD_GROUPS; i++)
		if (world->groups[i].used && world->groups[i].group.in_flight)
			in_flight += world->groups[i].group.memory_bytes;
	cr_assert(le(u64, in_flight, world->queue.promised_bytes));
	cr_assert(le(u64, world->queue.promised_bytes, world->queue.config.memory_bytes));
}

Test(queue, memory_is_never_promised_twice_and_large_groups_get_it_too)
{
	struct fair_queue_config config;
	fair_queue_config_init(&config);
	config.memory_bytes = 1000;
	struct world *world = world_create(&config);
	world->side_by_side = 8;
	world->check = memory_is_kept;
	struct world_client *small = world_client(world, FAIR_QUEUE_NORMAL, 100, 40 * WORLD_US, 32);
	struct world_client *large = world_client(world, FAIR_QUEUE_NORMAL, 100, 40 * WORLD_US, 4);
	struct world_client *none = world_client(world, FAIR_QUEUE_NORMAL, 100, 40 * WORLD_US, 4);
	small->memory_bytes = 300;
	large->memory_bytes = 900;
	world_run(world, 200 * WORLD_MS);
	cr_expect(ge(u64, world->most_promised_bytes, 900));
	cr_expect(ge(u64, small->count, 500));
	cr_expect(ge(u64, large->count, 500), "%lu", large->count);
	cr_expect(ge(u64, none->count, 2000), "who needs none waits for none: %lu", none->count);
	struct fair_queue_group impossible = {.memory_bytes = 1001};
	cr_expect(eq(int, fair_queue_arrive(&small->session, &impossible, world->now_ns), -E2BIG));
}

Test(queue, what_is_given_up_is_never_decided)
{
	struct fair_queue_config config;
	fair_queue_config_init(&config);
	config.memory_bytes = 100;
	struct world *world = world_create(&config);
	struct fair_queue_session one, two;
	struct fair_queue_group groups[4] = {{.memory_bytes = 80},
					     {.memory_bytes = 80},
					     {.memory_bytes = 10},
					     {.memory_bytes = 80}};
	struct fair_queue_group *decided[8];
	struct fair_queue_decisions decisions = {.groups = decided, .room = 8};
	cr_assert(eq(int, fair_queue_session_init(&world->queue, &one, FAIR_QUEUE_NORMAL, 100), 0));
	cr_assert(eq(int, fair_queue_session_init(&world->queue, &two, FAIR_QUEUE_NORMAL, 100), 0));
	for (uint32_t i = 0; i < 3; i++)
		cr_assert(eq(int, fair_queue_arrive(&one, &groups[i], 10), 0));
	cr_assert(eq(int, fair_queue_arrive(&two, &groups[3], 10), 0));
	fair_queue_step(&world->queue, 10, &decisions);
	cr_expect(eq(u32, decisions.count, 1));
	cr_expect(eq(ptr, decided[0], &groups[0]));
	/* The first of the line, one behind it, and then the first that was behind both. */
	fair_queue_cancel(&groups[1]);
	fair_queue_cancel(&groups[2]);
	fair_queue_step(&world->queue, 20, &decisions);
	cr_expect(eq(u32, decisions.count, 1));
	fair_queue_end(&groups[0], 30, 5);
	fair_queue_step(&world->queue, 30, &decisions);
	cr_assert(eq(u32, decisions.count, 2));
	cr_expect(eq(ptr, decided[1], &groups[3]));
	fair_queue_end(&groups[3], 40, 5);
	cr_expect(eq(u32, world->queue.waiting + world->queue.in_flight, 0));
	cr_expect(eq(u64, world->queue.promised_bytes, 0));
	fair_queue_session_fini(&one);
	fair_queue_session_fini(&two);
}

Test(queue, class_and_weight_change_while_it_runs)
{
	struct world *world = plain_world();
	struct world_client *one = world_client(world, FAIR_QUEUE_NORMAL, 100, 100 * WORLD_US, 64);
	struct world_client *two = world_client(world, FAIR_QUEUE_NORMAL, 100, 100 * WORLD_US, 64);
	world_run(world, 100 * WORLD_MS);
	cr_assert(eq(int, fair_queue_session_change(&one->session, FAIR_QUEUE_NORMAL, 300), 0));
	world_forget(world);
	world_run(world, 1100 * WORLD_MS);
	cr_expect(is_near(world_part(world, one), 750), "%u", world_part(world, one));
	cr_assert(eq(int, fair_queue_session_change(&two->session, FAIR_QUEUE_LATENCY, 100), 0));
	world_forget(world);
	world_run(world, 2100 * WORLD_MS);
	cr_expect(is_near(world_part(world, two), 900), "%u", world_part(world, two));
	cr_expect(
		eq(int, fair_queue_session_change(&two->session, FAIR_QUEUE_LATENCY, 0), -EINVAL));
	cr_expect(
		eq(int, fair_queue_session_change(&two->session, FAIR_QUEUE_CLASSES, 1), -EINVAL));
	cr_expect(eq(int,
		     fair_queue_session_change(&two->session, FAIR_QUEUE_LATENCY,
					       FAIR_QUEUE_WEIGHT_MOST + 1),
		     -EINVAL));
}

Test(queue, the_clock_going_back_is_no_time)
{
	struct world *world = plain_world();
	struct world_client *one = world_client(world, FAIR_QUEUE_NORMAL, 100, 100 * WORLD_US, 0);
	struct fair_queue_group group = {.shape = 5}, *decided[1];
	struct fair_queue_decisions decisions = {.groups = decided, .room = 1};
	cr_assert(eq(int, fair_queue_arrive(&one->session, &group, 1000), 0));
	fair_queue_step(&world->queue, 900, &decisions);
	cr_assert(eq(u32, decisions.count, 1));
	fair_queue_end(&group, 800, 0);
	cr_expect(eq(u64, world->queue.now_ns, 1000));
}

Test(queue, with_nothing_to_do_it_asks_for_nothing)
{
	struct world *world = plain_world();
	struct fair_queue_decisions decisions = {.room = 0};
	fair_queue_step(&world->queue, 5, &decisions);
	cr_expect(eq(u32, decisions.count, 0));
	struct fair_queue_group *decided[1];
	decisions = (struct fair_queue_decisions){.groups = decided, .room = 1};
	fair_queue_step(&world->queue, 6, &decisions);
	cr_expect(eq(u64, decisions.again_ns, UINT64_MAX));
}

Test(queue, a_lane_or_a_configuration_that_is_none_is_refused)
{
	struct world *world = plain_world();
	struct world_client *one = world_client(world, FAIR_QUEUE_NORMAL, 100, 100 * WORLD_US, 0);
	struct fair_queue_group group = {.lane = FAIR_QUEUE_LANES};
	cr_expect(eq(int, fair_queue_arrive(&one->session, &group, 1), -EINVAL));
	struct fair_queue_config config;
	struct fair_queue queue;
	fair_queue_config_init(&config);
	config.least[FAIR_QUEUE_NORMAL] = 990;
	cr_expect(eq(int, fair_queue_init(&queue, &config), -EINVAL));
	fair_queue_config_init(&config);
	config.window_ns = 0;
	cr_expect(eq(int, fair_queue_init(&queue, &config), -EINVAL));
	fair_queue_config_init(&config);
	config.quantum_ns = UINT64_MAX;
	cr_expect(eq(int, fair_queue_init(&queue, &config), -EINVAL));
}

/* ---------------------- one group at a time, as in in-order queues ---------------------- */

enum { SHORT_NS = 20 * WORLD_US };

static struct fair_queue one_gate;
static struct fair_queue_session one_sessions[2];

static void one_gate_setup(uint32_t first_weight, uint32_t second_weight)
{
	struct fair_queue_config config;
	fair_queue_config_init(&config);
	config.guess_ns = SHORT_NS;
	cr_assert(zero(int, fair_queue_init(&one_gate, &config)));
	cr_assert(zero(int, fair_queue_session_init(&one_gate, &one_sessions[0], FAIR_QUEUE_NORMAL,
						    first_weight)));
	cr_assert(zero(int, fair_queue_session_init(&one_gate, &one_sessions[1], FAIR_QUEUE_NORMAL,
						    second_weight)));
}

/* NULL: no group may go. */
static struct fair_queue_group *next_one(uint64_t now_ns)
{
	struct fair_queue_group *group = NULL;
	struct fair_queue_decisions decisions = {.groups = &group, .room = 1};
	fair_queue_step(&one_gate, now_ns, &decisions);
	return decisions.count ? group : NULL;
}

Test(queue, TG11_whose_next_group_comes_when_the_one_before_it_is_sent_has_its_share)
{
	struct fair_queue_group groups[2] = {{.shape = 1}, {.shape = 1}};
	uint64_t now_ns = 1000 * WORLD_MS;
	uint32_t sent[2] = {0, 0};
	one_gate_setup(300, 100);
	for (uint32_t i = 0; i < 2; i++)
		cr_assert(zero(int, fair_queue_arrive(&one_sessions[i], &groups[i], now_ns)));
	for (uint32_t i = 0; i < 4000; i++) {
		struct fair_queue_group *group = next_one(now_ns);
		cr_assert(ne(ptr, group, NULL));
		now_ns += SHORT_NS;
		fair_queue_end(group, now_ns, SHORT_NS);
		sent[group - groups]++;
		/* The group comes before the next decision. */
		cr_assert(
			zero(int, fair_queue_arrive(&one_sessions[group - groups], group, now_ns)));
	}
	cr_expect(is_near(sent[0] / 4, 750), "%u", sent[0]);
}

Test(queue, an_admitted_group_that_did_not_run_is_not_charged)
{
	struct fair_queue_group group = {.shape = 1};
	uint64_t now_ns = 1000 * WORLD_MS;
	one_gate_setup(100, 100);
	for (uint32_t i = 0; i < 100; i++) {
		cr_assert(zero(int, fair_queue_arrive(&one_sessions[0], &group, now_ns)));
		cr_assert(eq(ptr, next_one(now_ns), &group));
		fair_queue_return(&group, now_ns);
	}
	cr_expect(zero(u64, one_sessions[0].used_ns));
	cr_expect(zero(u64, one_sessions[0].ended));
	cr_expect(zero(u32, one_gate.in_flight));
	cr_expect(zero(u64, one_gate.all.weight_ns));
	cr_expect(ge(i64, one_sessions[0].deficit_ns, 0));
}

Test(queue, TC8_who_has_had_no_turn_goes_beside_a_full_window)
{
	static struct fair_queue_group flood[300];
	struct fair_queue_group asked = {.shape = 1};
	uint64_t now_ns = 1000 * WORLD_MS;
	one_gate_setup(100, 100);
	for (uint32_t i = 0; i < 300; i++)
		cr_assert(zero(int, fair_queue_arrive(&one_sessions[0], &flood[i], now_ns)));
	while (next_one(now_ns))
		;
	cr_assert(gt(u32, one_gate.waiting, 0));
	cr_assert(zero(int, fair_queue_arrive(&one_sessions[1], &asked, now_ns)));
	cr_expect(eq(ptr, next_one(now_ns), &asked));
	cr_expect(eq(ptr, next_one(now_ns), NULL), "and the flood does not");
}

/* A session whose turn it was has no waiting groups any more, and there was no call since. It does
 * not delay others. */
Test(queue, TC8_who_goes_beside_does_not_wait_for_one_who_has_left)
{
	static struct fair_queue_group flood[300], left, asked;
	uint64_t now_ns = 1000 * WORLD_MS;
	one_gate_setup(100, 100);
	struct fair_queue_session third = {.queue = NULL};
	cr_assert(zero(int, fair_queue_session_init(&one_gate, &third, FAIR_QUEUE_NORMAL, 100)));
	for (uint32_t i = 0; i < 300; i++)
		cr_assert(zero(int, fair_queue_arrive(&one_sessions[0], &flood[i], now_ns)));
	while (next_one(now_ns))
		;
	left = asked = (struct fair_queue_group){.shape = 1};
	cr_assert(zero(int, fair_queue_arrive(&third, &asked, now_ns)));
	cr_assert(zero(int, fair_queue_arrive(&one_sessions[1], &left, now_ns)));
	/* With room for one decision, the session keeps its turn for a next group, which never
	 * comes. */
	cr_assert(eq(ptr, next_one(now_ns), &left));
	cr_expect(eq(ptr, next_one(now_ns), &asked));
	cr_expect(eq(ptr, next_one(now_ns), NULL), "and the flood does not");
}
