/* Converts /proc/PID/cgroup to a path that can be shown, whatever name its owner has chosen. */
#include "base/cgroup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <string.h>

TestSuite(cgroup, .timeout = 10);

Test(cgroup, the_path_of_version_2_is_found_among_the_others)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{"0::/user.slice/user-1000.slice\n", "/user.slice/user-1000.slice"},
		{"0::/\n", "/"},
		{"0::/system.slice/a b.service", "/system.slice/a b.service"},
		{"12:pids:/one\n1:name=systemd:/two\n0::/three\n", "/three"},
		{"10::/ten\n0::/none\n", "/none"},
		{"0::/a:b::c\n", "/a:b::c"},
		{"0::/user.slice/app\\x2dfoo.scope\n", "/user.slice/app\\x2dfoo.scope"},
		{"0::/gone (deleted)\n", "/gone (deleted)"},
		{"0::/../outside\n", "/../outside"},
		{"", ""},
		{"\n\n", ""},
		{"0:", ""},
		{"0::", ""},
		{"0::\n", ""},
		{"0::relative\n", ""},
		{"4:memory:/only/version/1\n", ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[CGROUP_BYTES];
		memset(path, 'x', sizeof(path));
		cgroup_parse(cases[i].text, path);
		cr_expect(eq(str, path, (char *)(uintptr_t)cases[i].path), "case %zu", i);
	}
}

Test(cgroup, what_is_not_printable_is_not_shown)
{
	char path[CGROUP_BYTES];
	cgroup_parse("0::/a\033[31mred\007x\x7fy/b\xff.\xc3_\xe2\x80\xae_caf\xc3\xa9\n", path);
	cr_assert(eq(str, path, (char *)(uintptr_t) "/a?[31mred?x?y/b?.?_???_caf\xc3\xa9"));
}

/* The last part is more specific than the first; no character is cut. */
Test(cgroup, a_long_one_is_cut_to_its_last_part)
{
	for (size_t length = CGROUP_BYTES - 8; length < 3000;
	     length += length < CGROUP_BYTES + 40 ? 1 : 61) {
		char text[4096] = "0::/", path[CGROUP_BYTES];
		size_t at = strlen(text);
		for (; at < length; at += 2)
			memcpy(text + at, "\xc3\xa9", 2);
		(void)snprintf(text + at, sizeof(text) - at, "/end.scope\n");
		memset(path, 'x', sizeof(path));
		cgroup_parse(text, path);
		size_t size = strlen(path), whole = strlen(text) - 4;
		cr_assert(lt(sz, size, CGROUP_BYTES));
		cr_assert(eq(str, path + size - 10, (char *)(uintptr_t) "/end.scope"));
		if (whole < CGROUP_BYTES)
			cr_assert(eq(sz, size, whole));
		else
			cr_assert(eq(int, memcmp(path, "...\xc3", 4), 0), "%s", path);
	}
}

/* It is longer than any of the kernel's. No more is read than there is room for. */
Test(cgroup, one_that_cannot_be_is_not_known)
{
	static char text[20000];
	char path[CGROUP_BYTES];
	memset(text, 'a', sizeof(text) - 1);
	memcpy(text, "0::/", 4);
	cgroup_parse(text, path);
	cr_assert(eq(str, path, (char *)(uintptr_t) ""));
}

Test(cgroup, a_group_is_inside_itself_and_those_above_it)
{
	cr_assert(eq(int, cgroup_is_inside("/a/b", "/a/b"), 1));
	cr_assert(eq(int, cgroup_is_inside("/a/b", "/a"), 1));
	cr_assert(eq(int, cgroup_is_inside("/a/b", "/a/"), 1));
	cr_assert(eq(int, cgroup_is_inside("/a/b", "/"), 1));
	cr_assert(zero(int, cgroup_is_inside("/a/bc", "/a/b")));
	cr_assert(zero(int, cgroup_is_inside("/a", "/a/b")));
	cr_assert(zero(int, cgroup_is_inside("", "/a")));
}
