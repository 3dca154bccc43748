/* As each_fails.c, with the assertions of <criterion/criterion.h>. */
#include <criterion/criterion.h>

static int one = 1;

Test(each_fails_plain, condition)
{
	cr_assert(one > 1, "%d", one);
}

Test(each_fails_plain, condition_expected)
{
	cr_expect(!one);
}

Test(each_fails_plain, not )
{
	cr_assert_not(one);
}

Test(each_fails_plain, null)
{
	cr_assert_null(&one);
}

Test(each_fails_plain, not_null)
{
	cr_expect_not_null(NULL);
}

Test(each_fails_plain, equal)
{
	cr_assert_eq(one, 2);
}

Test(each_fails_plain, unequal)
{
	cr_assert_neq(one, 1);
}

Test(each_fails_plain, less)
{
	cr_assert_lt(one, 1);
}

Test(each_fails_plain, less_or_equal)
{
	cr_assert_leq(one, 0);
}

Test(each_fails_plain, greater)
{
	cr_assert_gt(one, 1);
}

Test(each_fails_plain, greater_or_equal)
{
	cr_assert_geq(one, 2);
}
