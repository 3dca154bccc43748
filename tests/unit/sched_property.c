/* Random command groups against a serial model. */
#include "sched_model.h"

#include <criterion/criterion.h>

TestSuite(property, .timeout = 60);

static void check(uint64_t first, uint64_t last, uint32_t tasks)
{
	for (uint64_t seed = first; seed <= last; seed++) {
		const char *wrong = model_run(seed, tasks);
		cr_assert(wrong == NULL, "%s", wrong);
	}
}

Test(property, B4_B6_B25_C12_D7_M9_random_groups_equal_a_serial_model)
{
	check(1, 40, 200);
}

Test(property, B25_M9_a_few_thousand_groups)
{
	check(101, 106, 4000);
}
