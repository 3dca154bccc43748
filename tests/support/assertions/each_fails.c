/* Each test has one assertion that must fail. Every other test relies on this. */
#include <criterion/new/assert.h>

#include <math.h>

static const char *none;

Test(each_fails, plain)
{
	bool yes = false;
	cr_assert(yes);
}

Test(each_fails, plain_expected, .description = "goes on, and has failed")
{
	bool yes = false;
	cr_expect(yes, "words with a %d and a %s", 5, "%s");
}

Test(each_fails, not )
{
	bool yes = true;
	cr_assert(not(yes));
}

Test(each_fails, whole_numbers)
{
	cr_assert(eq(int, -1, 1));
}

Test(each_fails, whole_numbers_are_brought_to_their_type)
{
	uint64_t wide = 1ull << 32;
	cr_assert(ne(u32, wide, 0));
}

Test(each_fails, whole_numbers_have_a_sign)
{
	cr_assert(gt(i64, -1, 0));
}

Test(each_fails, natural_numbers_have_none)
{
	cr_assert(lt(u64, -1, 0));
}

Test(each_fails, an_order_that_is_not_strict)
{
	cr_assert(le(sz, 2, 1));
}

Test(each_fails, an_order_that_is_strict)
{
	cr_assert(lt(uint, 2, 2));
}

Test(each_fails, zero)
{
	cr_assert(zero(long, 1L << 40));
}

Test(each_fails, what_is_no_number_is_not_itself)
{
	cr_assert(eq(dbl, NAN, NAN));
}

Test(each_fails, addresses)
{
	cr_assert(ne(ptr, none, NULL));
}

Test(each_fails, strings)
{
	cr_assert(eq(str, "one", "One"));
}

Test(each_fails, a_string_and_none)
{
	cr_assert(eq(str, none, ""));
}

Test(each_fails, bytes)
{
	cr_assert(eq(mem, ((struct cr_mem){"abc", 3}), ((struct cr_mem){"abd", 3})));
}

Test(each_fails, bytes_and_fewer_of_them)
{
	cr_assert(eq(mem, ((struct cr_mem){"abc", 3}), ((struct cr_mem){"abc", 2})));
}

Test(each_fails, never_here)
{
	cr_fatal("here");
}
