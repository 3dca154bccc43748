/*
 * The supervisor's writes into a user's control group. They go to plain files with the kernel's
 * names, because not every machine has the controllers. tests/integration/supervisor/groups.c tests
 * real groups.
 */
#include "engine/groups.h"

#include "cleanup.h"
#include "base/log.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USER = 1000, ENGINE = 4711, PATH_BYTES = 128 };

static const char *const user_files[] = {"pids.max",   "memory.max",     "memory.oom.group",
					 "cpu.weight", "memory.current", "memory.swap.current"};
static const char *const engine_files[] = {"cgroup.procs", "cgroup.kill"};
static char base[] = "/tmp/sycld-unit-groups-XXXXXX";
static struct engine_groups groups = ENGINE_GROUPS_NONE;
static unsigned warnings;
static bool is_removed; /* the removal of the user's folder was requested */

/* The linker replaces the C library's function by it. */
int __real_unlinkat(int folder, const char *path, int flags);
int __wrap_unlinkat(int folder, const char *path, int flags);
int __wrap_poll(struct pollfd *descriptors, nfds_t count, int timeout_ms);

int __wrap_unlinkat(int folder, const char *path, int flags)
{
	is_removed |= flags & AT_REMOVEDIR && strcmp(path, "uid-1000") == 0;
	return __real_unlinkat(folder, path, flags);
}

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

static void engine_groups_remove_folders(void)
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
	(void)unlinkat(groups.base, "pids.max", 0);
	(void)unlinkat(groups.base, "memory.max", 0);
	(void)unlinkat(groups.base, "cgroup.subtree_control", 0);
	(void)rmdir(base);
	close_fd(&groups.base);
}

TestSuite(engine_groups, .init = make_group_folders, .fini = engine_groups_remove_folders,
	  .timeout = 20);

static void take_engine(const struct configuration *configuration)
{
	const struct engine_groups_process process = {ENGINE, -1, true};
	engine_groups_take(&groups, configuration, USER, &process);
}

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
	take_engine(&configuration);
	expect_text("uid-1000/pids.max", "300");
	expect_text("uid-1000/memory.max", "1073741824");
	expect_text("uid-1000/memory.oom.group", "1");
	expect_text("uid-1000/cpu.weight", "50");
	expect_text("uid-1000/engine-4711/cgroup.procs", "4711");
	cr_expect(eq(uint, warnings, 0));
}

/* The group may be left from an engine that had limits. */
Test(engine_groups, without_limits_an_engine_has_a_group_all_the_same)
{
	const struct configuration configuration = {.user_processes = 0};
	take_engine(&configuration);
	expect_text("uid-1000/pids.max", "max");
	expect_text("uid-1000/memory.max", "max");
	expect_text("uid-1000/memory.oom.group", "0");
	expect_text("uid-1000/cpu.weight", "100");
	expect_text("uid-1000/engine-4711/cgroup.procs", "4711");
}

static unsigned polls, ended_from; /* the process has ended from this poll on; 0: it has not */

int __wrap_poll(struct pollfd *descriptors, nfds_t count, int timeout_ms)
{
	(void)descriptors;
	(void)count;
	(void)timeout_ms;
	return ended_from && ++polls >= ended_from;
}

static void take_returned_engine(unsigned poll)
{
	const struct configuration configuration = {.user_processes = 0};
	const struct engine_groups_process process = {ENGINE, -1, false};
	ended_from = poll;
	engine_groups_take(&groups, &configuration, USER, &process);
}

/* Then another process may have its number. */
Test(engine_groups, an_engine_that_has_ended_is_not_put_into_a_group)
{
	take_returned_engine(1);
	expect_text("uid-1000/engine-4711/cgroup.procs", "");
	cr_expect(eq(uint, warnings, 1));
}

/* All that is in an engine's group ends with it. */
Test(engine_groups, what_may_have_the_number_of_an_ended_engine_does_not_stay_in_its_group)
{
	cr_assert(zero(int, mkdirat(groups.base, "service", 0755)));
	make_file("service", "cgroup.procs");
	take_returned_engine(2);
	expect_text("service/cgroup.procs", "4711");
	cr_expect(eq(uint, warnings, 1));
	(void)unlinkat(groups.base, "service/cgroup.procs", 0);
	(void)unlinkat(groups.base, "service", AT_REMOVEDIR);
}

enum { CHILDREN = 20, NUMBERS_BYTES = 1024 };

/* Lets this process be an engine with children. Returns the size of all numbers that were written
 * to its group, whose file is a pipe: a plain file has only the last. Outputs: the sizes of the
 * number of the engine, and of all numbers. */
static size_t count_taken_bytes(bool is_child, size_t *own_bytes_out, size_t *all_bytes_out)
{
	const struct configuration configuration = {.user_processes = 0};
	const struct engine_groups_process process = {getpid(), -1, is_child};
	char path[PATH_BYTES], text[NUMBERS_BYTES];
	pid_t children[CHILDREN];
	*own_bytes_out = (size_t)snprintf(text, sizeof(text), "%ld", (long)getpid());
	*all_bytes_out = *own_bytes_out;
	(void)snprintf(path, sizeof(path), "uid-1000/engine-%ld", (long)getpid());
	cr_assert(zero(int, mkdirat(groups.base, path, 0755)));
	(void)snprintf(path, sizeof(path), "uid-1000/engine-%ld/cgroup.procs", (long)getpid());
	cr_assert(zero(int, mkfifoat(groups.base, path, 0600)));
	CLEANUP(close_fd) int pipe = openat(groups.base, path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	cr_assert(ge(int, pipe, 0));
	for (int i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0)
			for (;;)
				(void)pause();
	}
	engine_groups_take(&groups, &configuration, USER, &process);
	for (int i = 0; i < CHILDREN; i++) {
		*all_bytes_out += (size_t)snprintf(text, sizeof(text), "%ld", (long)children[i]);
		(void)kill(children[i], SIGKILL);
		(void)waitpid(children[i], NULL, 0);
	}
	ssize_t count = read(pipe, text, sizeof(text));
	(void)unlinkat(groups.base, path, 0);
	(void)snprintf(path, sizeof(path), "uid-1000/engine-%ld", (long)getpid());
	(void)unlinkat(groups.base, path, AT_REMOVEDIR);
	cr_assert(gt(long, count, 0));
	return (size_t)count;
}

Test(engine_groups, an_engine_is_taken_with_few_children)
{
	size_t own = 0, all = 0, taken = count_taken_bytes(true, &own, &all);
	cr_expect(gt(sz, taken, own), "no child is taken");
	cr_expect(lt(sz, taken, all));
}

/* It runs its tenant's code, which may have chosen the numbers. */
Test(engine_groups, an_engine_that_returns_is_taken_without_its_children)
{
	size_t own = 0, all = 0, taken = count_taken_bytes(false, &own, &all);
	cr_expect(eq(sz, taken, own));
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

static void engine_groups_write_text(const char *path, const char *text)
{
	CLEANUP(close_fd)
	int fd = openat(groups.base, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert(ge(int, fd, 0), "%s", path);
	cr_assert(eq(long, write(fd, text, strlen(text)), (long)strlen(text)));
}

/* The files of a real group are removed with it. Here they would keep the folder, so the order
 * matters. */
static bool is_removed_by_tidy(void)
{
	const pid_t none = 0;
	is_removed = false;
	engine_groups_tidy(&groups, is_that_one, &none);
	return is_removed;
}

/* Its memory is not asked for either: that takes time, and many users may have engines. */
Test(engine_groups, the_group_of_a_user_with_an_engine_is_not_removed)
{
	const pid_t engine = ENGINE;
	is_removed = false;
	engine_groups_tidy(&groups, is_that_one, &engine);
	cr_expect(not(is_removed));
}

Test(engine_groups, a_user_s_group_stays_while_memory_is_charged_to_it)
{
	engine_groups_write_text("uid-1000/memory.current", "209715200\n");
	cr_expect(not(is_removed_by_tidy()));
	engine_groups_write_text("uid-1000/memory.current", "0\n");
	engine_groups_write_text("uid-1000/memory.swap.current", "209715200\n");
	cr_expect(not(is_removed_by_tidy()));
	engine_groups_write_text("uid-1000/memory.current", "4096\n");
	engine_groups_write_text("uid-1000/memory.swap.current", "0\n");
	cr_expect(is_removed_by_tidy());
}

/* As the kernel reports it when an idle engine has ended that was the first to read its libraries.
 */
Test(engine_groups, a_user_s_group_goes_though_files_are_cached_for_it)
{
	engine_groups_write_text("uid-1000/memory.current", "118919168\n");
	engine_groups_write_text("uid-1000/memory.stat",
				 "anon 0\nfile 118784000\nkernel 135168\nshmem 209715200\n");
	cr_expect(not(is_removed_by_tidy()));
	engine_groups_write_text("uid-1000/memory.stat",
				 "anon 0\nfile 118784000\nkernel 135168\nshmem 0\n");
	cr_expect(is_removed_by_tidy());
}

static void make_groups(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char path[PATH_BYTES];
		(void)snprintf(path, sizeof(path), "uid-%u", 200000 + i);
		cr_assert(eq(int, mkdirat(groups.base, path, 0755), 0));
	}
}

/* One user with many uids. Each cleanup removes empty groups. */
Test(engine_groups, of_very_many_groups_those_with_little_memory_go)
{
	engine_groups_write_text("uid-1000/memory.current", "1048576\n");
	make_groups(100);
	cr_expect(not(is_removed_by_tidy()));
	make_groups(600);
	cr_expect(is_removed_by_tidy());
	make_groups(600);
	engine_groups_write_text("uid-1000/memory.current", "209715200\n");
	cr_expect(not(is_removed_by_tidy()));
}

Test(engine_groups, a_user_s_group_goes_where_memory_is_not_counted)
{
	cr_expect(is_removed_by_tidy());
}

Test(engine_groups, the_next_engine_is_bound_by_a_group_that_stayed)
{
	const struct configuration configuration = {.user_memory_bytes = 1u << 30};
	engine_groups_write_text("uid-1000/memory.current", "209715200\n");
	cr_assert(not(is_removed_by_tidy()));
	take_engine(&configuration);
	expect_text("uid-1000/memory.max", "1073741824");
	expect_text("uid-1000/memory.current", "209715200\n");
}

/* The controller does not exist any more, so nothing is counted there. */
Test(engine_groups, a_stopped_service_leaves_no_group_for_its_memory)
{
	engine_groups_write_text("cgroup.subtree_control", "");
	engine_groups_write_text("uid-1000/memory.current", "209715200\n");
	struct engine_groups other = {.base = dup(groups.base), .has_limits = true};
	is_removed = false;
	engine_groups_close(&other);
	cr_expect(is_removed);
}

static uint64_t default_processes(const char *of_the_service)
{
	engine_groups_write_text("pids.max", of_the_service);
	groups.processes = 7;
	engine_groups_set_defaults(&groups, true);
	return groups.processes;
}

Test(engine_groups, a_user_has_a_quarter_of_the_service_s_processes)
{
	const struct configuration none = {.user_processes = 0};
	cr_expect(eq(u64, default_processes("max\n"), 0u));
	cr_expect(eq(u64, default_processes("400000\n"), 100000u));
	take_engine(&none);
	expect_text("uid-1000/pids.max", "100000");
	const struct configuration some = {.user_processes = 300};
	take_engine(&some);
	/* A shorter text leaves the rest of a plain file unchanged. */
	expect_text("uid-1000/pids.max", "300000");
}

Test(engine_groups, the_only_user_of_a_service_has_all_its_processes)
{
	(void)default_processes("400000\n");
	engine_groups_set_defaults(&groups, false);
	cr_expect(eq(u64, groups.processes, 0u));
}

/* An engine needs threads for each processor and for its build helper. */
Test(engine_groups, a_quarter_of_few_processes_does_not_stop_an_engine)
{
	uint64_t least = default_processes("100\n");
	cr_expect(ge(u64, least, 64u + 2u));
	cr_expect(eq(u64, default_processes("8\n"), least));
}

static uint64_t default_memory(const char *of_the_service)
{
	engine_groups_write_text("memory.max", of_the_service);
	groups.memory_bytes = 7;
	engine_groups_set_defaults(&groups, true);
	return groups.memory_bytes;
}

Test(engine_groups, a_user_leaves_a_quarter_of_the_service_s_memory_to_others)
{
	const struct configuration none = {.user_processes = 0};
	cr_expect(eq(u64, default_memory("max\n"), 0u));
	cr_expect(eq(u64, default_memory("8589934592\n"), 6442450944u));
	take_engine(&none);
	expect_text("uid-1000/memory.max", "6442450944");
	expect_text("uid-1000/memory.oom.group", "1");
	const struct configuration some = {.user_memory_bytes = 9663676416};
	take_engine(&some);
	expect_text("uid-1000/memory.max", "9663676416");
	engine_groups_set_defaults(&groups, false);
	cr_expect(eq(u64, groups.memory_bytes, 0u));
}
