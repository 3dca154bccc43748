/* The uid that stands for all users that a user namespace does not have. */
#include "base/user_namespace.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <unistd.h>

TestSuite(supervisor_user_namespace, .timeout = 20);

enum { PATH_BYTES = 64 };

static void file_with(char path[PATH_BYTES], const char *text)
{
	(void)snprintf(path, PATH_BYTES, "/tmp/sycld-namespace-XXXXXX");
	int fd = mkstemp(path);
	cr_assert(ge(int, fd, 0));
	cr_assert(ge(int, dprintf(fd, "%s", text), 0));
	(void)close(fd);
}

Test(supervisor_user_namespace, outsiders_are_one_uid_unless_all_uids_are_there)
{
	static const struct {
		const char *map, *overflow;
		uid_t outsiders;
	} cases[] = {
		{"         0          0 4294967295\n", "65534\n", (uid_t)-1},
		{"         0       1000          1\n", "65534\n", 65534},
		{"         0       1000          1\n         1     100000      65536\n", "65534\n",
		 65534},
		{"         0     100000      65536\n", "4711\n", 4711},
		{"      1000       1000          1\n", "65534\n", 65534},
		{"", "65534\n", 65534},
		{"what?", "", 65534},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char map[PATH_BYTES], overflow[PATH_BYTES];
		file_with(map, cases[i].map);
		file_with(overflow, cases[i].overflow);
		cr_expect(eq(u32, user_namespace_outsiders(map, overflow), cases[i].outsiders),
			  "case %zu", i);
		(void)unlink(map);
		(void)unlink(overflow);
	}
	cr_expect(eq(u32, user_namespace_outsiders("/nonexistent/map", "/nonexistent/overflow"),
		     65534));
}
