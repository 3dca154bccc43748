/* M6: lines of a build log as the user counts them, whatever a compiler counts. */
#include "opencl/driver/log.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void renumbered(const char *log, unsigned long before, const char *expected)
{
	char text[256];
	(void)snprintf(text, sizeof(text), "%s", log);
	opencl_log_renumber(text, before);
	cr_assert_str_eq(text, expected);
}

Test(opencl_log, M6_lines_are_the_users_own)
{
	renumbered("<kernel>:873:11: error: no\n  x = y;\n<kernel>:900:1: error\n", 870,
		   "kernel:3:11: error: no\n  x = y;\nkernel:30:1: error\n");
	renumbered("<kernel>:4294967296:1: x", 1, "kernel:4294967295:1: x");
}

Test(opencl_log, M6_what_is_no_line_of_the_users_stays)
{
	static const char *const logs[] = {"",
					   "kernel:3:1: error",
					   "<kernel>:12:1: in what goes before",
					   "<kernel>:",
					   "<kernel>:99",
					   "<kernel>:-1:3",
					   "<kernel>:871",
					   "<kernel",
					   "<kernel>:x<kernel>:"};
	for (size_t i = 0; i < sizeof(logs) / sizeof(*logs); i++)
		renumbered(logs[i], 870, logs[i]);
}
