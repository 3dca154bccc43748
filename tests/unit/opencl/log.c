/* M6: lines of a build log are numbered as in the user's source, whatever a compiler counts. */
#include "build_log.h"
#include "opencl/driver/log.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
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

static void shown(const char *log, const char *source, const char *expected)
{
	char *text = build_log_show_lines(log, source, strlen(source));
	cr_assert_not_null(text);
	cr_assert_str_eq(text, expected);
	free(text);
}

Test(opencl_log, M6_a_message_is_followed_by_its_line_and_a_caret)
{
	static const char source[] = "first\n\ty = \xc3\xa4 + x;\nsycl_own_mix(z)";

	shown("error: kernel:2:11: no x\nDevice failed", source,
	      "error: kernel:2:11: no x\n  \ty = \xc3\xa4 + x;\n  \t        ^\nDevice failed\n");
	shown("kernel:1:6: end\n", source, "kernel:1:6: end\n  first\n       ^\n");
	/* The prefix is removed from the whole log later. */
	shown("kernel:3:14: z", source, "kernel:3:14: z\n  sycl_own_mix(z)\n      ^\n");
}

Test(opencl_log, M6_messages_may_be_in_any_order)
{
	shown("kernel:3:1: c\nkernel:3:2: c\nkernel:4:1: none\nkernel:1:1: a\nkernel:2:1: b\n",
	      "a\nb\nc\n",
	      "kernel:3:1: c\n  c\n  ^\nkernel:3:2: c\n  c\n   ^\nkernel:4:1: none\n"
	      "kernel:1:1: a\n  a\n  ^\nkernel:2:1: b\n  b\n  ^\n");
}

/* Each message is about a line that begins far behind the beginning of the source. */
Test(opencl_log, M6_a_long_log_of_a_long_source_is_read_once, .timeout = 10)
{
	enum { LINES = 2000000, MESSAGES = 20000 };
	static char source[LINES];
	char *log = NULL;
	size_t bytes = 0;

	memset(source, '\n', sizeof(source));
	FILE *out = open_memstream(&log, &bytes);
	cr_assert_not_null(out);
	for (unsigned i = LINES - MESSAGES; i < LINES; i++)
		(void)fprintf(out, "kernel:%u:1: x\n", i);
	cr_assert_eq(fclose(out), 0);
	char *text = build_log_show_lines(log, source, sizeof(source));
	cr_assert_not_null(text);
	cr_assert_eq(strlen(text), bytes + MESSAGES * strlen("  \n  ^\n"));
	free(text);
	free(log);
}

Test(opencl_log, M6_other_messages_stay)
{
	static const char *const logs[] = {"",
					   "kernel:4:1: no such line\n",
					   "kernel:1:8: no such column\n",
					   "kernel:1:99999999999999999999: neither\n",
					   "kernel:0:1: x\n",
					   "kernel:1:0: x\n",
					   "kernel:1: x\n",
					   "kernel:\n",
					   "prelude_kernel:1:1: x\n",
					   "kernel:1:1: shown already\n  first\n  ^~~~\n"};

	for (size_t i = 0; i < sizeof(logs) / sizeof(*logs); i++)
		shown(logs[i], "first\nsecond\n", logs[i]);
}
