/*
 * The supervisor's writes into a user's control group: over plain files with the names that the
 * kernel has, as not every machine has the controllers. tests/integration/supervisor/groups.c is
 * about real groups.
 */
#include "engine/groups.h"

#include "cleanup.h"
#include "base/log.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { USER = 1000, ENGINE = 4711, PATH_BYTES = 128 };

static const char *const user_files[] = {"pids.max", "memory.max", "memory.oom.group",
					 "cpu.weight"};
static const char *const engine_files[] = {"cgroup.procs", "cgroup.kill"};
static char base[] = "/tmp/sycld-unit-groups-XXXXXX";
static struct engine_groups groups = ENGINE_GROUPS_NONE;
static unsigned warnings;

void log_write(enum log_level level, const char *topic, const char *format, ...)
{
	(void)topic;
	(void)format;
	warnings += level == LOG_LEVEL_WARNING;
}

static void make_file(const char *folder, const char *name)
{
	char path[PATH_BYTES];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	CLEANUP(close_fd)
	int fd = openat(groups.base, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	cr_assert(ge(int, fd, 0));
}

static void make_group_folders(void)
{
	cr_assert(ne(ptr, mkdtemp(base), NULL));
	groups.base = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert(ge(int, groups.base, 0));
	cr_assert(eq(int, mkdirat(groups.base, "uid-1000", 0755), 0));
	cr_assert(eq(int, mkdirat(groups.base, "uid-1000/engine-4711", 0755), 0));
	for (size_t i = 0; i < sizeof(user_files) / sizeof(*user_files); i++)
		make_file("uid-1000", user_files[i]);
	for (size_t i = 0; i < sizeof(engine_files) / sizeof(*engine_files); i++)
		make_file("uid-1000/engine-4711", engine_files[i]);
}

static void clear(void)
{
	char path[PATH_BYTES];
	for (size_t i = 0; i < sizeof(engine_files) / sizeof(*engine_files); i++) {
		(void)snprintf(path, sizeof(path), "uid-1000/engine-4711/%s", engine_files[i]);
		(void)unlinkat(groups.base, path, 0);
	}
	for (size_t i = 0; i < sizeof(user_files) / sizeof(*user_files); i++) {
		(void)snprintf(path, sizeof(path), "uid-1000/%s", user_files[i]);
		(void)unlinkat(groups.base, path, 0);
	}
	(void)unlinkat(groups.base, "uid-1000/engine-4711", AT_REMOVEDIR);
	(void)unlinkat(groups.base, "uid-1000", AT_REMOVEDIR);
	(void)rmdir(base);
	close_fd(&groups.base);
}

TestSuite(engine_groups, .init = make_group_folders, .fini = clear, .timeout = 20);

static void expect_text(const char *path, const char *wanted)
{
	char text[64] = "";
	CLEANUP(close_fd) int fd = openat(groups.base, path, O_RDONLY | O_CLOEXEC);
	cr_assert(ge(int, fd, 0), "%s", path);
	cr_assert(ge(long, read(fd, text, sizeof(text) - 1), 0));
	cr_expect(eq(str, text, (char *)(uintptr_t)wanted), "%s", path);
}

Test(engine_groups, a_user_has_the_limits_that_are_configured)
{
	const struct configuration configuration = {
		.user_processes = 300, .user_memory_bytes = 1u << 30, .user_cpu_weight = 50};
	engine_groups_take(&groups, &configuration, USER, ENGINE);
	expect_text("uid-1000/pids.max", "300");
	expect_text("uid-1000/memory.max", "1073741824");
	expect_text("uid-1000/memory.oom.group", "1");
	expect_text("uid-1000/cpu.weight", "50");
	expect_text("uid-1000/engine-4711/cgroup.procs", "4711");
	cr_expect(eq(uint, warnings, 0));
}

Test(engine_groups, without_limits_an_engine_has_a_group_all_the_same)
{
	const struct configuration configuration = {.user_processes = 0};
	engine_groups_take(&groups, &configuration, USER, ENGINE);
	for (size_t i = 0; i < sizeof(user_files) / sizeof(*user_files); i++) {
		char path[PATH_BYTES];
		(void)snprintf(path, sizeof(path), "uid-1000/%s", user_files[i]);
		expect_text(path, "");
	}
	expect_text("uid-1000/engine-4711/cgroup.procs", "4711");
}

Test(engine_groups, an_engine_is_ended_with_all_that_is_in_its_group)
{
	engine_groups_kill(&groups, USER, ENGINE);
	expect_text("uid-1000/engine-4711/cgroup.kill", "1");
}

static bool is_that_one(const void *context, pid_t pid)
{
	return *(const pid_t *)context == pid;
}

Test(engine_groups, only_groups_of_engines_that_have_gone_are_ended)
{
	pid_t engine = ENGINE;
	engine_groups_tidy(&groups, is_that_one, &engine);
	expect_text("uid-1000/engine-4711/cgroup.kill", "");
	engine = ENGINE + 1;
	engine_groups_tidy(&groups, is_that_one, &engine);
	expect_text("uid-1000/engine-4711/cgroup.kill", "1");
}
