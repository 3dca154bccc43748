/* Who is alone, and who is not. */
#include "base/rivals.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(rivals, .timeout = 10);

static const char one, two, three;

Test(rivals, nobody_has_rivals_where_nobody_else_was)
{
	struct rivals rivals = {0};
	cr_expect(not(rivals_has_others(&rivals, &one, 5)));
	rivals_note(&rivals, &one, 5);
	rivals_note(&rivals, &one, 6);
	cr_expect(not(rivals_has_others(&rivals, &one, 6)));
	cr_expect(rivals_has_others(&rivals, &two, 6));
}

Test(rivals, who_has_been_there_lately_is_one_until_it_is_long_ago)
{
	struct rivals rivals = {0};
	rivals_note(&rivals, &two, 1000);
	for (uint64_t now = 1000; now < 1000 + RIVALS_REMEMBERED_NS;
	     now += RIVALS_REMEMBERED_NS / 10) {
		rivals_note(&rivals, &one, now);
		cr_expect(rivals_has_others(&rivals, &one, now));
	}
	cr_expect(rivals_has_others(&rivals, &one, 999 + RIVALS_REMEMBERED_NS));
	cr_expect(not(rivals_has_others(&rivals, &one, 1000 + RIVALS_REMEMBERED_NS)));
}

Test(rivals, of_three_the_latest_other_one_counts)
{
	struct rivals rivals = {0};
	rivals_note(&rivals, &two, 0);
	rivals_note(&rivals, &three, RIVALS_REMEMBERED_NS);
	rivals_note(&rivals, &one, RIVALS_REMEMBERED_NS + 1);
	cr_expect(rivals_has_others(&rivals, &one, 2 * RIVALS_REMEMBERED_NS - 1));
	cr_expect(not(rivals_has_others(&rivals, &one, 2 * RIVALS_REMEMBERED_NS)));
	/* Whoever comes back does not make itself its own rival. */
	rivals_note(&rivals, &three, RIVALS_REMEMBERED_NS + 2);
	rivals_note(&rivals, &one, RIVALS_REMEMBERED_NS + 3);
	rivals_note(&rivals, &one, 4 * RIVALS_REMEMBERED_NS);
	cr_expect(not(rivals_has_others(&rivals, &one, 4 * RIVALS_REMEMBERED_NS)));
}
