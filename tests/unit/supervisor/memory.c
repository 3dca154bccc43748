/* Which engines give device memory back, and how much: what each keeps, and what a claim can
 * gain. */
#include "division/memory.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>

TestSuite(memory, .timeout = 60);

#define CAPACITY 64000u /* so that parts of a thousandth are whole */

/* All of it could be spilled, and the user has no configured share. */
static struct memory_party party(uint64_t user, uint64_t held_bytes)
{
	return (struct memory_party){.user = user,
				     .most = 1000,
				     .capacity_bytes = CAPACITY,
				     .held_bytes = held_bytes,
				     .spillable_bytes = held_bytes};
}

Test(memory, TG15_one_above_its_part_gives_as_much_as_is_needed)
{
	struct memory_party parties[] = {party(1, 60000), party(2, 0)};
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 5000), 5000u));
	cr_expect(eq(u64, parties[0].give_bytes, 5000u));
	cr_expect(eq(u64, parties[1].give_bytes, 0u));
}

Test(memory, TG15_a_small_need_is_served_by_a_step_so_that_the_next_ones_find_room)
{
	struct memory_party parties[] = {party(1, 60000), party(2, 0)};
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 1), CAPACITY / MEMORY_STEP_PART));
}

Test(memory, TG15_nobody_gives_what_is_its_part)
{
	struct memory_party parties[] = {party(1, 33000), party(2, 20000)};
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 5000), 1000u));
	parties[0] = party(1, 32000);
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 5000), 0u));
}

Test(memory, TG15_one_that_asks_above_its_part_gets_nothing)
{
	struct memory_party parties[] = {party(1, 60000), party(2, 30000)};
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 2001), 0u));
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 2000), 2000u));
}

Test(memory, TG15_nor_does_a_step_take_it_above_its_part)
{
	struct memory_party parties[] = {party(1, 60000), party(2, 31500)};
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 1), 500u));
}

Test(memory, TG15_the_one_with_most_above_its_part_gives_first)
{
	struct memory_party parties[] = {party(1, 26000), party(2, 36000), party(3, 0)};
	cr_expect(eq(u64, memory_divide(parties, 3, 2, 16000), 16000u));
	/* Parts are of 21,333 bytes, rounded down to thousandths. */
	cr_expect(eq(u64, parties[1].give_bytes, 36000u - 64u * 333u));
	cr_expect(eq(u64, parties[0].give_bytes, 16000u - parties[1].give_bytes));
}

Test(memory, TG15_shares_are_parts_of_memory_too)
{
	struct memory_party parties[] = {party(1, 60000), party(2, 0)};
	parties[0].least = 750;
	parties[1].least = 250;
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 16000), 12000u));
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 16001), 0u), "its own part is a quarter");
	parties[0].least = parties[1].least = 0;
	parties[1].most = 100;
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 6400), 2400u));
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 6401), 0u), "it may have a tenth");
}

Test(memory, TG15_users_without_memory_there_have_no_part)
{
	struct memory_party parties[] = {party(1, 60000), party(2, 0), party(3, 0), party(4, 0)};
	cr_expect(eq(u64, memory_divide(parties, 4, 1, 30000), 28000u));
}

Test(memory, TG15_more_engines_are_no_more_of_the_device)
{
	struct memory_party parties[] = {party(1, 20000), party(1, 12000), party(1, 0),
					 party(2, 32000)};
	/* User 1 has its half. Its third engine gets the memory that its other engines have above a
	 * third of that. */
	cr_expect(eq(u64, memory_divide(parties, 4, 2, 9000), 9000u));
	cr_expect(eq(u64, parties[3].give_bytes, 0u));
	cr_expect(eq(u64, parties[0].give_bytes, 9000u));
	/* One engine of user 1 is below its own part. Yet user 2 gets only memory above the
	 * half. */
	parties[0] = party(1, 33000);
	parties[1] = party(1, 1000);
	parties[3] = party(2, 0);
	cr_expect(eq(u64, memory_divide(parties, 4, 3, 30000), 2000u));
}

Test(memory, TG15_what_cannot_be_spilled_is_not_asked_for)
{
	struct memory_party parties[] = {party(1, 60000), party(2, 0)};
	parties[0].spillable_bytes = 700;
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 5000), 700u));
}

Test(memory, TG15_a_false_claim_of_the_device_takes_nothing_from_others)
{
	struct memory_party parties[] = {party(1, 33000), party(2, 0), party(3, 0)};
	parties[1].capacity_bytes = 1000; /* of the engine that requests: parts would be small */
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 9000), 1000u));
	parties[1].capacity_bytes =
		MEMORY_BYTES_MAX; /* of the other one: its own part would be large */
	cr_expect(eq(u64, memory_divide(parties, 2, 1, 33000), 0u));
	/* A third one without memory makes no part smaller. */
	parties[2].capacity_bytes = MEMORY_BYTES_MAX;
	cr_expect(eq(u64, memory_divide(parties, 3, 1, 9000), 1000u));
}

/* Whatever is claimed, every other user keeps that user's part by its own claims. */
Test(memory, TG15_no_claims_take_a_user_below_its_part)
{
	enum { PARTIES = 6, ROUNDS = 20000 };
	srand(15);
	for (int round = 0; round < ROUNDS; round++) {
		struct memory_party parties[PARTIES];
		uint64_t held[PARTIES / 2] = {0}, given[PARTIES / 2] = {0}, sum = 0;
		uint32_t asker = (uint32_t)rand() % PARTIES, holders = 0;
		for (uint32_t i = 0; i < PARTIES; i++) {
			parties[i] = party(i / 2, (uint64_t)(rand() % 4 * (rand() % 20000)));
			if (i == asker || rand() % 8 == 0)
				parties[i].capacity_bytes = (uint64_t)rand() << (rand() % 20);
			held[i / 2] += parties[i].held_bytes;
		}
		for (uint32_t user = 0; user < PARTIES / 2; user++)
			holders += held[user] > 0 || user == asker / 2;
		uint64_t all = memory_divide(parties, PARTIES, asker, 1 + (uint64_t)rand() % 9000);
		for (uint32_t i = 0; i < PARTIES; i++) {
			cr_assert(le(u64, parties[i].give_bytes, parties[i].spillable_bytes));
			given[i / 2] += parties[i].give_bytes;
			sum += parties[i].give_bytes;
			uint64_t part = parties[i].capacity_bytes / 1000 * (1000 / holders);
			if (i / 2 != asker / 2 && parties[i].give_bytes > 0)
				cr_assert(ge(u64, held[i / 2] - given[i / 2], part), "round %d",
					  round);
		}
		cr_assert(eq(u64, parties[asker].give_bytes, 0u));
		cr_assert(eq(u64, sum, all));
	}
}
