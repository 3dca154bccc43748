#include "processors.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <sched.h>
#include <stdlib.h>

/* The tests' setting for another machine does not apply here. */
static void forget_environment(void)
{
	(void)unsetenv(PROCESSORS_VARIABLE);
}

TestSuite(processors, .init = forget_environment);

Test(processors, processors_are_those_that_the_calling_thread_may_run_on)
{
	cpu_set_t all, one;
	cr_assert(zero(int, sched_getaffinity(0, sizeof(all), &all)));
	cr_expect(eq(u32, processors_allowed(), (uint32_t)CPU_COUNT(&all)));
	int first = 0;
	while (!CPU_ISSET(first, &all))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	cr_assert(zero(int, sched_setaffinity(0, sizeof(one), &one)));
	cr_expect(eq(u32, processors_allowed(), 1));
	cr_expect(eq(u32, processors_here(), 1), "whatever its control group has");
}

Test(processors, a_control_groups_share_of_the_processors)
{
	static const struct {
		const char *text;
		uint32_t processors;
	} cases[] = {
		{"max 100000\n", UINT32_MAX}, {"200000 100000\n", 2},
		{"250000 100000\n", 2},       {"50000 100000\n", 1},
		{"1600000 100000\n", 16},     {"", UINT32_MAX},
		{"400000\n", UINT32_MAX},     {"4 0\n", UINT32_MAX},
		{"max", UINT32_MAX},          {"18446744073709551615 1\n", UINT32_MAX},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect(eq(u32, processors_parse_quota(cases[i].text), cases[i].processors), "%s",
			  cases[i].text);
}

Test(processors, there_is_at_least_one_and_never_more_than_either_gives)
{
	cr_expect(ge(u32, processors_quota(), 1));
	cr_expect(ge(u32, processors_here(), 1));
	cr_expect(le(u32, processors_here(), processors_allowed()));
	cr_expect(le(u32, processors_here(), processors_quota()));
}

Test(processors, what_the_environment_says_counts_if_it_is_a_number)
{
	static const char *const bad[] = {
		"", "0", "-1", " 3", "3 ", "4097", "99999999999999999999", "two"};
	uint32_t count = 77, here = processors_here();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cr_expect(not(processors_parse(bad[i], &count)), "'%s'", bad[i]);
		cr_assert(zero(int, setenv(PROCESSORS_VARIABLE, bad[i], 1)));
		cr_expect(eq(u32, processors_here(), here), "'%s'", bad[i]);
	}
	cr_expect(eq(u32, count, 77));
	cr_assert(zero(int, setenv(PROCESSORS_VARIABLE, "16", 1)));
	cr_expect(eq(u32, processors_here(), 16));
	cr_expect(processors_parse("4096", &count));
	cr_expect(eq(u32, count, 4096));
}
