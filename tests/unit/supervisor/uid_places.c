/* Who gets a place of a bounded number. */
#include "base/uid_places.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { MOST = 64, MOST_OF_UID = 8, BLOCK = 65536 };

static struct uid_place taken[2 * MOST];
static unsigned taken_count;

static bool take(uid_t uid, bool is_known, bool is_operator)
{
	const struct uid_place wanted = {uid, uid_block(uid, is_known), is_operator};
	struct uid_places places = {.all = 0};
	for (unsigned i = 0; i < taken_count; i++)
		uid_places_count(&places, &taken[i], &wanted);
	if (!uid_places_have_room(&places, &wanted, MOST, MOST_OF_UID))
		return false;
	cr_assert(lt(uint, taken_count, 2u * MOST));
	taken[taken_count++] = wanted;
	return true;
}

/* Each uid from `first` on takes what it gets. Returns how many places that are. */
static unsigned take_all(uid_t first, uid_t uids)
{
	unsigned before = taken_count;
	for (uid_t i = 0; i < uids; i++)
		while (take(first + i, false, false))
			;
	return taken_count - before;
}

Test(uid_places, a_uid_has_few_places)
{
	cr_expect(eq(uint, take_all(1000, 1), (unsigned)MOST_OF_UID));
}

Test(uid_places, a_block_of_unknown_uids_has_a_part_and_leaves_some_to_the_next)
{
	cr_expect(eq(uint, take_all(10 * BLOCK, 100), 24u));
	cr_expect(eq(uint, take_all(20 * BLOCK, 100), 12u));
	cr_expect(eq(uint, take_all(30 * BLOCK, 100), 6u));
	cr_expect(eq(uint, take_all(1000, 2), 2u * MOST_OF_UID));
}

Test(uid_places, a_user_that_is_known_is_not_bounded_with_a_block)
{
	(void)take_all(10 * BLOCK, 100);
	cr_expect(not(take(10 * BLOCK + 200, false, false)));
	cr_expect(take(10 * BLOCK + 200, true, false));
}

/* Subordinate uids of an operator have the operators' group. */
Test(uid_places, operators_have_places_of_their_own_and_not_without_end)
{
	unsigned count = 0;
	for (uid_t uid = 10 * BLOCK; uid < 10 * BLOCK + MOST; uid++)
		count += take(uid, false, true);
	cr_expect(eq(uint, count, (unsigned)MOST));
	cr_expect(not(take(20 * BLOCK, false, true)));
	cr_expect(take(1000, false, false));
}

Test(uid_places, an_operator_has_a_place_when_all_are_taken_and_takes_none)
{
	(void)take_all(1000, 100);
	cr_expect(eq(uint, taken_count, (unsigned)MOST));
	cr_expect(not(take(2000, false, false)));
	for (int i = 0; i < MOST_OF_UID; i++)
		cr_expect(take(2000, false, true));
	cr_expect(not(take(2000, false, true)));
	/* One of an ordinary user becomes free, and another user gets it. */
	taken[0] = taken[--taken_count];
	cr_expect(take(3000, false, false));
}
