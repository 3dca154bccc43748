/* Contention: which user is alone on a resource. */
#include "base/contention.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(contention, .timeout = 10);

static const char one, two, three;

Test(contention, nobody_has_rivals_where_nobody_else_was)
{
	struct contention contention = {0};
	cr_expect(not(contention_has_others(&contention, &one, 5)));
	contention_note(&contention, &one, 5);
	contention_note(&contention, &one, 6);
	cr_expect(not(contention_has_others(&contention, &one, 6)));
	cr_expect(contention_has_others(&contention, &two, 6));
}

Test(contention, who_has_been_there_lately_is_one_until_it_is_long_ago)
{
	struct contention contention = {0};
	contention_note(&contention, &two, 1000);
	for (uint64_t now = 1000; now < 1000 + CONTENTION_REMEMBERED_NS;
	     now += CONTENTION_REMEMBERED_NS / 10) {
		contention_note(&contention, &one, now);
		cr_expect(contention_has_others(&contention, &one, now));
	}
	cr_expect(contention_has_others(&contention, &one, 999 + CONTENTION_REMEMBERED_NS));
	cr_expect(not(contention_has_others(&contention, &one, 1000 + CONTENTION_REMEMBERED_NS)));
}

Test(contention, of_three_the_latest_other_one_counts)
{
	struct contention contention = {0};
	contention_note(&contention, &two, 0);
	contention_note(&contention, &three, CONTENTION_REMEMBERED_NS);
	contention_note(&contention, &one, CONTENTION_REMEMBERED_NS + 1);
	cr_expect(contention_has_others(&contention, &one, 2 * CONTENTION_REMEMBERED_NS - 1));
	cr_expect(not(contention_has_others(&contention, &one, 2 * CONTENTION_REMEMBERED_NS)));
	/* A user that returns does not contend with itself. */
	contention_note(&contention, &three, CONTENTION_REMEMBERED_NS + 2);
	contention_note(&contention, &one, CONTENTION_REMEMBERED_NS + 3);
	contention_note(&contention, &one, 4 * CONTENTION_REMEMBERED_NS);
	cr_expect(not(contention_has_others(&contention, &one, 4 * CONTENTION_REMEMBERED_NS)));
}
