#include "control_group.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/unit-control-group.XXXXXX";

static void path_of(const char *name, char path_out[PATH_MAX])
{
	(void)snprintf(path_out, PATH_MAX, "%s%s", root, name);
}

static void write_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	path_of(name, path);
	FILE *file = fopen(path, "w");
	cr_assert(file != NULL);
	cr_assert(ge(int, fputs(text, file), 0));
	cr_assert(zero(int, fclose(file)));
}

static uint64_t least_of(const char *membership)
{
	char path[PATH_MAX];
	write_file("/membership", membership);
	path_of("/membership", path);
	return control_group_least_of(root, path, "memory.max", control_group_parse_bytes);
}

/* A group may lack the file, if the group above has not enabled it. Then the groups with the file
 * limit it. */
Test(control_group, TG15_the_least_of_a_group_and_those_above_it)
{
	char path[PATH_MAX];
	const char *const folders[] = {"/a", "/a/b", "/a/b/c"};
	cr_assert(mkdtemp(root) != NULL);
	for (size_t i = 0; i < 3; i++) {
		path_of(folders[i], path);
		cr_assert(zero(int, mkdir(path, 0700)));
	}
	write_file("/a/memory.max", "4096\n");
	write_file("/a/b/memory.max", "max\n");
	cr_expect(eq(u64, least_of("0::/a/b/c\n"), 4096));
	cr_expect(eq(u64, least_of("1:name=systemd:/\n0::/a/b\n"), 4096));
	write_file("/a/b/memory.max", "1024\n");
	cr_expect(eq(u64, least_of("0::/a/b/c\n"), 1024));
	cr_expect(eq(u64, least_of("0::/a\n"), 4096));
	cr_expect(eq(u64, least_of("0::/\n"), UINT64_MAX));
	cr_expect(eq(u64, least_of("4:memory:/a\n"), UINT64_MAX), "version 1 has other files");
	write_file("/memory.max", "512\n");
	cr_expect(eq(u64, least_of("0::/a/b/c\n"), 512));
	const char *const files[] = {"/memory.max", "/a/b/memory.max", "/a/memory.max",
				     "/membership"};
	for (size_t i = 0; i < 4; i++) {
		path_of(files[i], path);
		cr_assert(zero(int, unlink(path)));
	}
	for (size_t i = 3; i > 0; i--) {
		path_of(folders[i - 1], path);
		cr_assert(zero(int, rmdir(path)));
	}
	cr_assert(zero(int, rmdir(root)));
}

Test(control_group, TG15_bytes_of_a_limit)
{
	cr_expect(eq(u64, control_group_parse_bytes("max\n"), UINT64_MAX));
	cr_expect(eq(u64, control_group_parse_bytes(""), UINT64_MAX));
	cr_expect(eq(u64, control_group_parse_bytes("-1\n"), UINT64_MAX));
	cr_expect(eq(u64, control_group_parse_bytes("99999999999999999999\n"), UINT64_MAX));
	cr_expect(eq(u64, control_group_parse_bytes("0\n"), 0));
	cr_expect(eq(u64, control_group_parse_bytes("8589934592\n"), 8589934592u));
}
