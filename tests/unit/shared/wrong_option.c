/* The error about a wrong option. */
#include "wrong_option.h"

#include <getopt.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(wrong_option, .timeout = 10);

static const struct option options[] = {
	{"listen", required_argument, NULL, 1},
	{"help", no_argument, NULL, 2},
	{NULL, 0, NULL, 0},
};

static void must_say(const char *argument, int letter, bool suggests, const char *expected)
{
	char text[WRONG_OPTION_BYTES];
	cr_expect(eq(int, wrong_option(options, argument, letter, text), suggests));
	cr_expect(eq(str, text, (char *)(uintptr_t)expected));
}

Test(wrong_option, a_near_one_is_suggested)
{
	must_say("--lisen=none", 0, true,
		 "no such option: '--lisen=none'. Did you mean '--listen'?");
	must_say("--colour", 0, false, "no such option: '--colour'");
}

Test(wrong_option, a_right_one_has_the_wrong_value)
{
	must_say("--listen", 1, false, "'--listen' needs a value");
	must_say("--help=5", 2, false, "'--help' takes no value");
}

/* getopt_long still has "-xy" before it, and the argument before that. */
Test(wrong_option, a_letter_is_named_alone)
{
	must_say("--help", 'x', false, "no such option: '-x'");
	must_say("--help", -61, false, "no such option: '-?'");
	must_say("--help", 0x7f, false, "no such option: '-?'");
	must_say("-", ' ', false, "no such option: '- '");
}

Test(wrong_option, a_long_argument_is_cut)
{
	char argument[1000], text[WRONG_OPTION_BYTES];
	memset(argument, 'x', sizeof(argument));
	memcpy(argument, "--", 2);
	argument[sizeof(argument) - 1] = '\0';
	cr_expect(eq(int, wrong_option(options, argument, 0, text), 0));
	cr_expect(lt(sz, strlen(text), 100));
}
