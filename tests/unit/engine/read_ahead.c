/* How far a session is read ahead of its devices, with invented times (TC8). */
#include "base/read_ahead.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define START 5000000000ull

TestSuite(read_ahead, .timeout = 20);

static bool holds(struct read_ahead *ahead, uint64_t open, uint64_t now_ns)
{
	return read_ahead_holds(ahead, open, true, now_ns);
}

Test(read_ahead, TC8_with_enough_open_it_is_held_until_a_quarter_has_gone)
{
	struct read_ahead ahead = {.most = READ_AHEAD_ALONE};
	cr_expect(not(holds(&ahead, READ_AHEAD_ALONE - 1, START)));
	cr_expect(holds(&ahead, READ_AHEAD_ALONE, START));
	cr_expect(holds(&ahead, READ_AHEAD_ALONE - 1, START + 1000));
	cr_expect(holds(&ahead, READ_AHEAD_ALONE * 3 / 4, START + 2000));
	cr_expect(not(holds(&ahead, READ_AHEAD_ALONE * 3 / 4 - 1, START + 3000)));
	cr_expect(not(holds(&ahead, READ_AHEAD_ALONE - 1, START + 4000)),
		  "it is not held any more");
}

Test(read_ahead, TC8_beside_others_it_has_less)
{
	struct read_ahead ahead = {.most = READ_AHEAD_ALONE};
	cr_expect(not(holds(&ahead, READ_AHEAD_SHARED, START)));
	ahead.most = READ_AHEAD_SHARED;
	cr_expect(holds(&ahead, READ_AHEAD_SHARED, START));
}

/* Open groups may wait for groups behind them in the ring. */
Test(read_ahead, B30_with_nothing_on_a_device_it_is_never_held)
{
	struct read_ahead ahead = {.most = READ_AHEAD_ALONE};
	cr_expect(not(read_ahead_holds(&ahead, 1000000, false, START)));
	cr_expect(holds(&ahead, 1000000, START));
	cr_expect(not(read_ahead_holds(&ahead, 1000000, false, START + 1)));
}

Test(read_ahead, a_hold_ends_by_itself_and_does_not_come_again_soon)
{
	struct read_ahead ahead = {.most = READ_AHEAD_ALONE};
	cr_expect(holds(&ahead, READ_AHEAD_ALONE, START));
	cr_expect(holds(&ahead, READ_AHEAD_ALONE, START + READ_AHEAD_HELD_NS - 1));
	const uint64_t end = START + READ_AHEAD_HELD_NS;
	cr_expect(not(holds(&ahead, READ_AHEAD_ALONE, end)));
	cr_expect(not(holds(&ahead, 1000000, end + READ_AHEAD_FREE_NS - 1)));
	cr_expect(holds(&ahead, 1000000, end + READ_AHEAD_FREE_NS));
}
