/* How a device's time is divided among users, with a fake clock: the guarantees, and the users who
 * cannot take time from others. */
#include "supervisor/division_node.h"

#include "division/parts.h"
#include "division/slots.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(division, .timeout = 240);

#define SECOND_NS (1000 * NODE_MS)

/* Returns true if the time is that percentage of `of_ns`, within 2 points. */
static bool is_near(uint64_t ran_ns, uint64_t points, uint64_t of_ns)
{
	uint64_t wanted_ns = of_ns * points / 100, slack_ns = of_ns * 2 / 100;
	return ran_ns + slack_ns >= wanted_ns && ran_ns <= wanted_ns + slack_ns;
}

static void expect_shares(struct node *node, const uint64_t *points)
{
	for (uint64_t second = 1; second <= 3; second++) {
		node_run(node, 100 * NODE_MS + (second - 1) * SECOND_NS);
		node_forget(node);
		node_run(node, 100 * NODE_MS + second * SECOND_NS);
		for (uint32_t i = 0; i < node->count; i++)
			cr_expect(is_near(node->engines[i].ran_ns, points[i], SECOND_NS),
				  "engine %u in second %lu: %lu", i, second,
				  node->engines[i].ran_ns);
	}
}

Test(division, TG11_75_25_are_shares_in_each_second)
{
	struct node *node = node_create(DIVISION_CONCURRENT);
	(void)node_engine(node, 1, 750, 1000, 300 * NODE_US, 32);
	(void)node_engine(node, 2, 250, 1000, 20 * NODE_US, 64);
	expect_shares(node, (const uint64_t[]){75, 25});
}

Test(division, TG11_60_30_10_are_shares_whatever_the_kernels_take)
{
	struct node *node = node_create(DIVISION_CONCURRENT);
	(void)node_engine(node, 1, 600, 1000, 15 * NODE_US, 64);
	(void)node_engine(node, 2, 300, 1000, 950 * NODE_US, 16);
	(void)node_engine(node, 3, 100, 1000, 90 * NODE_US, 64);
	expect_shares(node, (const uint64_t[]){60, 30, 10});
}

Test(division, a_users_engines_have_one_share_together)
{
	struct node *node = node_create(DIVISION_CONCURRENT);
	(void)node_engine(node, 1, 500, 1000, 100 * NODE_US, 32);
	(void)node_engine(node, 1, 500, 1000, 100 * NODE_US, 32);
	(void)node_engine(node, 2, 500, 1000, 100 * NODE_US, 32);
	expect_shares(node, (const uint64_t[]){25, 25, 50});
}

Test(division, users_without_configured_shares_have_equal_parts)
{
	struct node *node = node_create(DIVISION_CONCURRENT);
	for (uint64_t user = 1; user <= 4; user++)
		(void)node_engine(node, user, 0, 1000, user * 100 * NODE_US, 32);
	expect_shares(node, (const uint64_t[]){25, 25, 25, 25});
}

Test(division, the_maximum_is_never_exceeded_even_by_a_user_alone)
{
	struct node *node = node_create(DIVISION_CONCURRENT);
	struct node_engine *alone = node_engine(node, 1, 0, 400, 100 * NODE_US, 32);
	node_engine(node, 2, 0, 1000, 100 * NODE_US, 32)->from_ns = UINT64_MAX;
	for (uint64_t second = 1; second <= 3; second++) {
		node_forget(node);
		node_run(node, second * SECOND_NS);
		cr_expect(is_near(alone->ran_ns, 40, SECOND_NS), "%lu", alone->ran_ns);
	}
}

Test(division, the_least_is_kept_beside_many)
{
	struct node *node = node_create(DIVISION_CONCURRENT);
	struct node_engine *one = node_engine(node, 1, 500, 1000, 200 * NODE_US, 32);
	for (uint64_t user = 2; user <= 8; user++)
		(void)node_engine(node, user, 0, 1000, 50 * NODE_US, 64);
	node_run(node, 100 * NODE_MS);
	node_forget(node);
	node_run(node, 1100 * NODE_MS);
	cr_expect(ge(u64, one->ran_ns, 480 * NODE_MS), "%lu", one->ran_ns);
	for (uint32_t i = 1; i < 8; i++)
		cr_expect(ge(u64, node->engines[i].ran_ns, 50 * NODE_MS),
			  "nobody starves: %u has %lu", i, node->engines[i].ran_ns);
}

static void lent_and_back(enum division_mode mode)
{
	struct node *node = node_create(mode);
	struct node_engine *busy = node_engine(node, 1, 250, 1000, 500 * NODE_US, 32);
	struct node_engine *guest = node_engine(node, 2, 750, 1000, 500 * NODE_US, 32);
	guest->from_ns = SECOND_NS + 3 * NODE_MS;
	node_run(node, guest->from_ns);
	cr_expect(ge(u64, busy->ran_ns, 970 * NODE_MS), "all of it while the other is idle: %lu",
		  busy->ran_ns);
	node_run(node, guest->from_ns + 10 * NODE_MS);
	cr_expect(gt(u64, guest->ran_ns, 0), "it runs within 10 ms");
	node_forget(node);
	node_run(node, guest->from_ns + 410 * NODE_MS);
	cr_expect(ge(u64, guest->ran_ns, 280 * NODE_MS), "and has its share from then on: %lu",
		  guest->ran_ns);
	guest->until_ns = guest->from_ns;
	node_run(node, guest->from_ns + 500 * NODE_MS);
	node_forget(node);
	node_run(node, guest->from_ns + 1500 * NODE_MS);
	cr_expect(ge(u64, busy->ran_ns, 970 * NODE_MS), "and it is lent again: %lu", busy->ran_ns);
}

Test(division, TG11_an_idle_share_is_lent_and_back_within_10_ms)
{
	lent_and_back(DIVISION_CONCURRENT);
}

Test(division, TG11_also_where_users_take_turns)
{
	lent_and_back(DIVISION_EXCLUSIVE);
}

Test(division, a_user_who_uses_little_lends_the_rest)
{
	struct node *node = node_create(DIVISION_CONCURRENT);
	struct node_engine *busy = node_engine(node, 1, 250, 1000, 200 * NODE_US, 32);
	struct node_engine *little = node_engine(node, 2, 750, 1000, 100 * NODE_US, 1);
	little->every_ns = 10 * NODE_MS;
	node_run(node, 100 * NODE_MS);
	node_forget(node);
	node_run(node, 1100 * NODE_MS);
	cr_expect(ge(u64, busy->ran_ns, 650 * NODE_MS), "%lu", busy->ran_ns);
	cr_expect(ge(u64, little->count, 95), "%lu", little->count);
}

Test(division, who_says_to_want_what_it_does_not_use_costs_its_own_share)
{
	struct node *node = node_create(DIVISION_CONCURRENT);
	struct node_engine *honest = node_engine(node, 1, 600, 1000, 200 * NODE_US, 32);
	struct node_engine *liar = node_engine(node, 2, 400, 1000, 200 * NODE_US, 32);
	liar->lies = true;
	node_run(node, 100 * NODE_MS);
	node_forget(node);
	node_run(node, 1100 * NODE_MS);
	cr_expect(ge(u64, honest->ran_ns, 580 * NODE_MS), "%lu", honest->ran_ns);
}

Test(division, who_is_stopped_or_dead_costs_nothing)
{
	struct node *node = node_create(DIVISION_CONCURRENT);
	struct node_engine *lives = node_engine(node, 1, 100, 1000, 200 * NODE_US, 32);
	struct node_engine *stopped = node_engine(node, 2, 400, 1000, 200 * NODE_US, 32);
	struct node_engine *dead = node_engine(node, 3, 500, 1000, 200 * NODE_US, 32);
	node_run(node, 100 * NODE_MS);
	stopped->stopped = true;
	dead->gone = true;
	node_run(node, 200 * NODE_MS);
	node_forget(node);
	node_run(node, 1200 * NODE_MS);
	cr_expect(ge(u64, lives->ran_ns, 980 * NODE_MS), "%lu", lives->ran_ns);
}

Test(division, TG11_turns_are_shares_and_nobody_runs_beside_another)
{
	struct node *node = node_create(DIVISION_EXCLUSIVE);
	(void)node_engine(node, 1, 600, 1000, 15 * NODE_US, 64);
	(void)node_engine(node, 2, 300, 1000, 950 * NODE_US, 16);
	(void)node_engine(node, 3, 100, 1000, 90 * NODE_US, 64);
	node_run(node, 200 * NODE_MS);
	node_forget(node);
	node_run(node, 4200 * NODE_MS);
	uint64_t all_ns = 0;
	for (uint32_t i = 0; i < 3; i++) {
		all_ns += node->engines[i].ran_ns;
		cr_expect(zero(u64, node->engines[i].beside_ns), "engine %u: %lu", i,
			  node->engines[i].beside_ns);
	}
	/* At each change a tick and the contents of a window are lost. */
	cr_expect(ge(u64, all_ns, 3300 * NODE_MS), "%lu", all_ns);
	const uint64_t points[] = {60, 30, 10};
	for (uint32_t i = 0; i < 3; i++)
		cr_expect(is_near(node->engines[i].ran_ns, points[i], all_ns),
			  "engine %u: %lu of %lu", i, node->engines[i].ran_ns, all_ns);
}

Test(division, in_turns_the_most_is_not_exceeded_either)
{
	struct node *node = node_create(DIVISION_EXCLUSIVE);
	struct node_engine *alone = node_engine(node, 1, 0, 400, 100 * NODE_US, 32);
	node_run(node, 100 * NODE_MS);
	node_forget(node);
	node_run(node, 2100 * NODE_MS);
	cr_expect(le(u64, alone->ran_ns, 840 * NODE_MS), "%lu", alone->ran_ns);
	cr_expect(ge(u64, alone->ran_ns, 700 * NODE_MS), "%lu", alone->ran_ns);
}

Test(division, in_turns_a_kernel_that_takes_longer_than_its_turn_is_paid_for)
{
	struct node *node = node_create(DIVISION_EXCLUSIVE);
	struct node_engine *small = node_engine(node, 1, 500, 1000, 100 * NODE_US, 32);
	struct node_engine *large = node_engine(node, 2, 500, 1000, 45 * NODE_MS, 2);
	node_run(node, 500 * NODE_MS);
	node_forget(node);
	node_run(node, 4500 * NODE_MS);
	cr_expect(zero(u64, large->beside_ns + small->beside_ns));
	cr_expect(ge(u64, small->ran_ns, 1700 * NODE_MS), "%lu", small->ran_ns);
	cr_expect(ge(u64, large->ran_ns, 1700 * NODE_MS), "%lu", large->ran_ns);
}

Test(division, in_turns_a_liar_and_who_is_stopped_cost_no_more_than_their_shares)
{
	struct node *node = node_create(DIVISION_EXCLUSIVE);
	struct node_engine *honest = node_engine(node, 1, 500, 1000, 200 * NODE_US, 32);
	struct node_engine *liar = node_engine(node, 2, 500, 1000, 200 * NODE_US, 32);
	struct node_engine *stopped = node_engine(node, 3, 0, 1000, 200 * NODE_US, 32);
	liar->lies = true;
	node_run(node, 100 * NODE_MS);
	stopped->stopped = true;
	node_run(node, 2000 * NODE_MS);
	node_forget(node);
	node_run(node, 12000 * NODE_MS);
	cr_expect(ge(u64, honest->ran_ns, 4300 * NODE_MS), "%lu", honest->ran_ns);
}

/* ----------------------- users that stop themselves, where users take turns
 * ----------------------- */

/* The first user's engine has a running command and is stopped; the second user's engine waits and
 * is honest. */
struct stop {
	struct division division;
	struct division_party parties[2];
	uint64_t now_ns, had_ns; /* the time that the second had since the last query */
};

static void stop_run(struct stop *stop, uint64_t until_ns, bool stopped, bool runs)
{
	stop->had_ns = 0;
	for (; stop->now_ns < until_ns; stop->now_ns += NODE_MS) {
		bool has_it = stop->parties[1].granted > 0;
		stop->had_ns += has_it ? NODE_MS : 0;
		struct division_claim *claim = &stop->parties[0].claim;
		*claim = (struct division_claim){.busy_ns = stop->now_ns,
						 .beat = claim->beat + !stopped,
						 .wants = true,
						 .running = runs || stop->parties[0].granted > 0};
		stop->parties[1].claim =
			(struct division_claim){.busy_ns = stop->now_ns,
						.beat = stop->now_ns,
						.wants = stop->now_ns > 20 * NODE_MS,
						.running = has_it};
		division_step(&stop->division, stop->parties, 2, stop->now_ns, 50 * NODE_MS);
	}
}

static struct stop stop_begun(void)
{
	struct stop stop = {.division = {.mode = DIVISION_EXCLUSIVE},
			    .parties = {{.user = 1, .most = 1000}, {.user = 2, .most = 1000}},
			    .now_ns = NODE_MS};
	stop_run(&stop, 20 * NODE_MS, false, true);
	cr_assert(eq(u32, stop.parties[0].granted, DIVISION_WHOLE));
	return stop;
}

Test(division, in_turns_who_stops_itself_is_waited_for_and_pays)
{
	struct stop stop = stop_begun();
	stop_run(&stop, 400 * NODE_MS, true, true);
	cr_expect(zero(u64, stop.had_ns), "nobody runs beside it: %lu", stop.had_ns);
	cr_expect(le(i64, stop.parties[0].credit_ns, -150 * (int64_t)NODE_MS), "%ld",
		  stop.parties[0].credit_ns);
	/* The party continues, and its credit has ended: first the other one gets the same
	 * amount. */
	stop_run(&stop, 401 * NODE_MS, false, false);
	stop_run(&stop, 700 * NODE_MS, false, false);
	cr_expect(ge(u64, stop.had_ns, 200 * NODE_MS), "%lu", stop.had_ns);
}

Test(division, in_turns_who_stops_itself_for_longer_than_is_waited_pays_for_all_of_it)
{
	struct stop stop = stop_begun();
	stop_run(&stop, 5020 * NODE_MS, true, true);
	cr_expect(ge(u64, stop.had_ns, 4400 * NODE_MS), "it is waited for half a second: %lu",
		  stop.had_ns);
	cr_expect(le(u64, stop.had_ns, 4600 * NODE_MS), "%lu", stop.had_ns);
	cr_expect(le(i64, stop.parties[0].credit_ns, -2000 * (int64_t)NODE_MS), "%ld",
		  stop.parties[0].credit_ns);
	stop_run(&stop, 5220 * NODE_MS, false, false);
	stop_run(&stop, 5420 * NODE_MS, false, false);
	cr_expect(ge(u64, stop.had_ns, 198 * NODE_MS), "%lu", stop.had_ns);
}

Test(division, in_turns_the_most_is_not_exceeded_by_what_takes_long)
{
	struct division division = {.mode = DIVISION_EXCLUSIVE};
	struct division_party party = {.user = 1, .most = 100};
	for (uint64_t now_ns = NODE_MS; now_ns <= 10000 * NODE_MS; now_ns += NODE_MS) {
		party.claim = (struct division_claim){.busy_ns = now_ns,
						      .beat = now_ns,
						      .wants = true,
						      .running = now_ns > NODE_MS};
		division_step(&division, &party, 1, now_ns, 50 * NODE_MS);
	}
	cr_expect(zero(u32, party.granted));
	/* Ten seconds, of which a tenth is its own. */
	cr_expect(le(i64, party.credit_ns, -8900 * (int64_t)NODE_MS), "%ld", party.credit_ns);
	cr_expect(ge(i64, party.credit_ns, -9100 * (int64_t)NODE_MS), "%ld", party.credit_ns);
}

Test(division, in_turns_an_engine_that_is_new_has_its_users_debts)
{
	struct division division = {.mode = DIVISION_EXCLUSIVE, .now_ns = NODE_MS};
	struct division_party parties[] = {
		{.user = 1, .most = 1000, .claim = {.wants = true, .beat = 1}},
		{.user = 1,
		 .most = 1000,
		 .credit_ns = -100 * (int64_t)NODE_MS,
		 .claim = {.wants = true, .beat = 1}}};
	division_step(&division, parties, 2, 2 * NODE_MS, 50 * NODE_MS);
	cr_expect(le(i64, parties[0].credit_ns, -90 * (int64_t)NODE_MS), "%ld",
		  parties[0].credit_ns);
	cr_expect(eq(i64, parties[0].credit_ns, parties[1].credit_ns));
}

/* Two users who have work for so many permille of the time, after a while. */
static void divide_between(struct division_party parties[2], const uint64_t permille[2])
{
	struct division division = {.mode = DIVISION_CONCURRENT};
	for (uint64_t step = 1; step <= 100; step++) {
		for (uint32_t i = 0; i < 2; i++)
			parties[i].claim =
				(struct division_claim){.busy_ns = step * 2 * NODE_US * permille[i],
							.beat = step,
							.wants = true,
							.running = true};
		division_step(&division, parties, 2, step * 2 * NODE_MS, 50 * NODE_MS);
	}
}

Test(division, who_uses_little_may_use_its_share_at_once)
{
	struct division_party parties[2] = {{.user = 1, .least = 100, .most = 1000},
					    {.user = 2, .least = 300, .most = 1000}};
	divide_between(parties, (const uint64_t[]){1000, 50});
	cr_expect(ge(u32, parties[0].granted, 900), "what it does not use is lent: %u",
		  parties[0].granted);
	cr_expect(ge(u32, parties[1].granted, 300), "though it is lent: %u", parties[1].granted);
}

Test(division, what_nobody_wants_is_whoever_comes_firsts)
{
	struct division_party parties[2] = {{.user = 1, .least = 100, .most = 1000},
					    {.user = 2, .least = 100, .most = 600}};
	divide_between(parties, (const uint64_t[]){300, 300});
	cr_expect(ge(u32, parties[0].granted, 650), "%u", parties[0].granted);
	cr_expect(eq(u32, parties[1].granted, 600), "%u", parties[1].granted);
}

/* --------------------------------------- devices ---------------------------------------- */

Test(division, an_engine_takes_part_in_what_it_uses_and_in_no_more_devices_than_it_may)
{
	struct division_slots slots = {.count = 0};
	uint32_t count = 0;
	cr_expect(
		division_slots_admit(&slots, (const uint32_t[SHARE_BACKENDS]){0, 3, 0, 1u << 31}));
	cr_expect(eq(u32, slots.count, 3));
	cr_expect(division_slots_have(&slots, share_slot(1, 0)) &&
		  division_slots_have(&slots, share_slot(3, 31)));
	cr_expect(not(division_slots_have(&slots, share_slot(1, 2))));
	for (int i = 0; i < 2; i++)
		cr_expect(not(division_slots_admit(
			&slots, (const uint32_t[SHARE_BACKENDS]){~0u, ~0u, ~0u, ~0u})));
	for (uint32_t slot = 0; slot < SHARE_SLOTS; slot++)
		count += division_slots_have(&slots, slot);
	cr_expect(eq(u32, count, DIVISION_SLOTS_OF_ENGINE));
	cr_expect(division_slots_have(&slots, share_slot(3, 31)), "what it had it keeps");
	/* Nothing has changed, so there is still room for everything. */
	cr_expect(division_slots_admit(&slots, slots.devices));
}

/* ---------------------------------------- parts ----------------------------------------- */

Test(division, parts_are_least_and_then_equal)
{
	struct division_part parts[] = {{.least = 500, .most = 1000},
					{.least = 0, .most = 1000},
					{.least = 100, .most = 150}};
	division_parts(parts, 3);
	cr_expect(eq(u32, parts[2].part, 150));
	cr_expect(ge(u32, parts[0].part, 669));
	cr_expect(ge(u32, parts[1].part, 179));
	cr_expect(eq(u32, parts[0].part + parts[1].part + parts[2].part, 1000));
}

Test(division, more_than_the_whole_becomes_less_for_all)
{
	struct division_part parts[] = {{.least = 900, .most = 1000},
					{.least = 900, .most = 1000},
					{.least = 0, .most = 1000}};
	division_parts(parts, 3);
	/* The remainder of the division is one permille. */
	cr_expect(le(u32, parts[0].part, parts[1].part + 1));
	cr_expect(ge(u32, parts[0].part, parts[1].part));
	cr_expect(ge(u32, parts[2].part, 5));
	cr_expect(le(u32, parts[0].part + parts[1].part + parts[2].part, 1000));
}

static uint32_t division_random_below(uint64_t *seed, uint32_t bound)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((*seed >> 33) % bound);
}

Test(division,
     parts_of_any_wishes_are_never_more_than_the_whole_and_leave_nothing_that_somebody_would_take)
{
	uint64_t seed = 1;
	for (int round = 0; round < 20000; round++) {
		struct division_part parts[16];
		uint32_t count = 1 + division_random_below(&seed, 16), sum = 0, least = 0;
		bool some_take_more = false;
		for (uint32_t i = 0; i < count; i++) {
			parts[i].most = division_random_below(&seed, 4)
						? 1 + division_random_below(&seed, 1000)
						: 0;
			parts[i].least = division_random_below(&seed, parts[i].most + 1) /
					 (1 + division_random_below(&seed, 8));
			least += parts[i].least > DIVISION_LEAST ? parts[i].least : DIVISION_LEAST;
		}
		division_parts(parts, count);
		for (uint32_t i = 0; i < count; i++) {
			sum += parts[i].part;
			some_take_more |= parts[i].part < parts[i].most;
			cr_assert(le(u32, parts[i].part, parts[i].most));
			cr_assert(least > DIVISION_WHOLE || parts[i].part >= parts[i].least);
			cr_assert(parts[i].most < DIVISION_LEAST || parts[i].part > 0);
		}
		cr_assert(le(u32, sum, DIVISION_WHOLE));
		cr_assert(sum == DIVISION_WHOLE || !some_take_more);
	}
}

/* Engines with arbitrary claims: numbers that jump, go back or contradict each other, and parties
 * that appear and disappear. */
Test(division, whatever_is_claimed_an_honest_user_is_granted_its_share)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		uint64_t random = seed, now_ns = 1000;
		struct division division = {.mode = seed % 2 ? DIVISION_CONCURRENT
							     : DIVISION_EXCLUSIVE};
		struct division_party parties[8] = {{.user = 1, .least = 400, .most = 1000}};
		uint64_t granted_ns = 0, begun_ns = 0;
		for (int step = 0; step < 20000; step++) {
			uint32_t count = 1 + division_random_below(&random, 8);
			uint64_t passed_ns = 1 + division_random_below(&random, 4000000);
			granted_ns += parties[0].granted * passed_ns / DIVISION_WHOLE;
			if (step == 2000) {
				granted_ns = 0;
				begun_ns = now_ns;
			}
			now_ns += passed_ns;
			parties[0].claim = (struct division_claim){.busy_ns = now_ns,
								   .beat = (uint64_t)step,
								   .wants = true,
								   .running = step & 1};
			for (uint32_t i = 1; i < count; i++) {
				struct division_party *party = &parties[i];
				bool new = division_random_below(&random, 200) == 0;
				if (new)
					*party = (struct division_party){.seen_ns = 0};
				party->user = 2 + i / 2;
				party->least = 100;
				party->most = 500 + 100 * i / 2 * 2;
				party->most =
					party->most > DIVISION_WHOLE ? DIVISION_WHOLE : party->most;
				party->claim = (struct division_claim){
					.busy_ns =
						(uint64_t)division_random_below(&random, 1u << 30)
						<< division_random_below(&random, 34),
					.beat = division_random_below(&random, 2),
					.wants = division_random_below(&random, 2),
					.running = division_random_below(&random, 2)};
			}
			division_step(&division, parties, count, now_ns, 50000000);
			for (uint32_t i = 0; i < count; i++)
				cr_assert(parties[i].granted <= DIVISION_WHOLE &&
					  (division.mode == DIVISION_EXCLUSIVE ||
					   parties[i].granted <= parties[i].most));
		}
		uint64_t part = granted_ns * DIVISION_WHOLE / (now_ns - begun_ns);
		/* The parties change one after the other. The waiting time at each change is
		 * charged to none. */
		cr_expect(ge(u64, part, division.mode == DIVISION_CONCURRENT ? 395 : 250),
			  "seed %lu: %lu", seed, part);
	}
}
