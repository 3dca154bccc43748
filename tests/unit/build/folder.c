/* A build has a folder of its own as long as it takes, and so has every other build that requests
 * one. */
#include "build/internal.h"
#include "build/support.h"
#include "private_folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PREFIX "kept-apart"

TestSuite(folder, .timeout = 120);

/* The action of another process between two calls of the tested code. It happens once. */
static void (*when_made)(const char *path), (*when_locked)(void);

char *mkdtemp(char *template)
{
	char *(*real)(char *) = (char *(*)(char *))dlsym(RTLD_NEXT, "mkdtemp");
	void (*then)(const char *) = when_made;
	char *made = real(template);

	when_made = NULL;
	if (made && then)
		then(made);
	return made;
}

int flock(int fd, int operation)
{
	int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
	void (*before)(void) = when_locked;

	when_locked = NULL;
	if (before)
		before();
	return real(fd, operation);
}

/* Leaves a folder as a killed process does. */
static void leave(struct private_folder *folder)
{
	free(folder->path);
	(void)close(folder->lock);
	*folder = PRIVATE_FOLDER_NONE;
}

/* Returns how many entries begin with this text, and the path of the last. */
static unsigned entries(const char *folder, const char *start, char path_out[512])
{
	unsigned count = 0;

	DIR *listing = opendir(folder);
	for (struct dirent *entry; listing && (entry = readdir(listing));) {
		if (entry->d_name[0] == '.' || strncmp(entry->d_name, start, strlen(start)) != 0)
			continue;
		if (path_out)
			(void)snprintf(path_out, 512, "%s/%s", folder, entry->d_name);
		count++;
	}
	if (listing)
		(void)closedir(listing);
	return count;
}

static bool is_there(const char *path)
{
	struct stat status;
	return lstat(path, &status) == 0;
}

static void put_file(const char *folder, const char *name, char path_out[512])
{
	(void)snprintf(path_out, 512, "%s/%s", folder, name);
	int fd = open(path_out, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert(ge(int, fd, 0));
	(void)close(fd);
}

Test(folder, goes_with_all_that_is_in_it_and_nothing_else)
{
	struct build_bench bench;
	struct private_folder one, other;
	struct stat status;
	char path[512], outside[512], inner[256], link[300];

	bench_open(&bench);
	put_file(bench.directory, "outside", outside);
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &one), 0));
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &other), 0));
	cr_assert(ne(str, one.path, other.path));
	cr_assert(eq(int, stat(one.path, &status), 0));
	cr_assert(eq(u32, status.st_mode & 07777, 0700));

	(void)snprintf(inner, sizeof(inner), "%s/inner", one.path);
	cr_assert(eq(int, mkdir(inner, 0700), 0));
	put_file(inner, "file", path);
	(void)snprintf(link, sizeof(link), "%s/link", inner);
	cr_assert(eq(int, symlink(bench.directory, link), 0));
	private_folder_remove(&one);
	cr_assert(not(is_there(inner)));
	cr_assert(is_there(outside), "what a link leads to stays");
	cr_assert(is_there(other.path), "another's stays");
	private_folder_remove(&other);
	cr_assert(eq(u32, entries(bench.directory, PREFIX, NULL), 0));
	private_folder_remove(&other); /* removing it again has no effect */
	bench_close(&bench);
}

/* A killed process cannot clean up. */
Test(folder, left_by_a_killed_process_goes_with_the_next)
{
	struct build_bench bench;
	struct private_folder held, next;
	char path[512], longer[512], public[300];
	int ready[2];
	size_t length;

	bench_open(&bench);
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &held), 0));
	cr_assert(eq(int, pipe2(ready, O_CLOEXEC), 0));
	pid_t child = fork();
	if (child == 0) {
		struct private_folder left;
		if (private_folder_make(bench.directory, PREFIX, &left) < 0)
			_exit(1);
		put_file(left.path, "file", path);
		(void)!write(ready[1], "x", 1);
		for (;;)
			(void)pause();
	}
	char byte;
	cr_assert(eq(int, (int)read(ready[0], &byte, 1), 1));
	cr_assert(eq(u32, entries(bench.directory, PREFIX, NULL), 2));
	put_file(bench.directory, PREFIX "-a-longer-name", longer);
	length = strlen(held.path) - strlen("public");
	(void)snprintf(public, sizeof(public), "%.*spublic", (int)length, held.path);
	cr_assert(eq(int, mkdir(public, 0700), 0));
	cr_assert(eq(int, chmod(public, 0755), 0));

	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &next), 0));
	cr_assert(eq(u32, entries(bench.directory, PREFIX, NULL), 5), "it lives: its folder stays");
	private_folder_remove(&next);
	cr_assert(eq(int, kill(child, SIGKILL), 0));
	cr_assert(eq(int, waitpid(child, NULL, 0), child));
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &next), 0));
	cr_assert(is_there(next.path) && is_there(held.path) && is_there(longer) &&
		  is_there(public));
	cr_assert(eq(u32, entries(bench.directory, PREFIX, NULL), 4),
		  "that of the killed one is gone");
	private_folder_remove(&next);
	private_folder_remove(&held);
	bench_close(&bench);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

/* A parent with set-group-ID passes it on. */
Test(folder, left_in_a_parent_of_a_group_goes_too)
{
	struct build_bench bench;
	struct private_folder left, next;

	bench_open(&bench);
	cr_assert(eq(int, chmod(bench.directory, 02700), 0));
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &left), 0));
	leave(&left);
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &next), 0));
	cr_assert(eq(u32, entries(bench.directory, PREFIX, NULL), 1));
	private_folder_remove(&next);
	bench_close(&bench);
}

/* On a file system that machines share, each machine may have its own locks. */
Test(folder, of_another_machine_stays_until_it_is_old)
{
	struct build_bench bench;
	struct private_folder next;
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_NOW}};
	char other[300];

	bench_open(&bench);
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &next), 0));
	/* Only the machine in its name differs. */
	(void)snprintf(other, sizeof(other), "%s", next.path);
	char *machine = other + strlen(bench.directory) + strlen("/" PREFIX "-");
	cr_assert(eq(sz, strcspn(machine, "-"), 8));
	memcpy(machine, strncmp(machine, "0badcafe", 8) == 0 ? "00000001" : "0badcafe", 8);
	cr_assert(eq(int, mkdir(other, 0700), 0));
	private_folder_remove(&next);
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &next), 0));
	cr_assert(is_there(other), "somebody may be using it");
	private_folder_remove(&next);

	struct stat status;
	cr_assert(eq(int, stat(other, &status), 0));
	times[1] = (struct timespec){.tv_sec = status.st_mtim.tv_sec - 31 * 24 * 3600};
	cr_assert(eq(int, utimensat(AT_FDCWD, other, times, 0), 0));
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &next), 0));
	cr_assert(not(is_there(other)));
	private_folder_remove(&next);
	bench_close(&bench);
}

static int held_for_ever = -1;

static void hold_folder_lock(const char *path)
{
	held_for_ever = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)flock(held_for_ever, LOCK_EX);
}

/* Another process of this user may do so: it could delay every build of an engine. */
Test(folder, that_somebody_else_locks_first_is_not_waited_for, .timeout = 20)
{
	struct build_bench bench;
	struct private_folder folder;

	bench_open(&bench);
	when_made = hold_folder_lock;
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &folder), 0));
	cr_assert(ge(int, held_for_ever, 0));
	cr_assert(eq(u32, entries(bench.directory, PREFIX, NULL), 1),
		  "the one that is held was given up");
	private_folder_remove(&folder);
	(void)close(held_for_ever);
	bench_close(&bench);
}

static char name_of_left[512], name_of_held[512];

static void give_name_away(void)
{
	(void)rmdir(name_of_left);
	(void)rename(name_of_held, name_of_left);
}

Test(folder, that_has_the_name_of_one_that_was_left_stays)
{
	struct build_bench bench;
	struct private_folder left, held, next;
	char path[512];

	bench_open(&bench);
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &left), 0));
	(void)snprintf(name_of_left, sizeof(name_of_left), "%s", left.path);
	/* Its name is not one of those that are looked for. */
	cr_assert(eq(int, private_folder_make(bench.directory, "other", &held), 0));
	(void)snprintf(name_of_held, sizeof(name_of_held), "%s", held.path);
	put_file(held.path, "file", path);
	leave(&left);
	when_locked = give_name_away;
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &next), 0));
	cr_assert(eq(u32, entries(name_of_left, "file", NULL), 1), "somebody else's by now");
	private_folder_remove(&next);
	bench_close(&bench);
	leave(&held);
}

Test(folder, that_cannot_be_made_is_an_error)
{
	struct private_folder none = PRIVATE_FOLDER_NONE;

	cr_assert(eq(int, private_folder_make("/nonexistent", PREFIX, &none), -ENOENT));
	cr_assert(none.path == NULL && none.lock == -1);
	private_folder_remove(&none);
}

/* PoCL packs the files that it reads back from its cache. Meanwhile no other build may write
 * there. */
Test(folder, a_compiler_writes_to_one_of_its_own_that_goes_with_it)
{
	struct build_bench bench;
	struct built running, next;
	char source[256], folder[512] = "", made[600];

	bench_open(&bench);
	(void)snprintf(source, sizeof(source),
		       "#build keep made\n#build touch %s/started\n#build hang\n", bench.directory);
	bench_submit(&bench, source, 0, 0, &running);
	(void)uv_run(&bench.loop, UV_RUN_NOWAIT);
	bench_wait_file(&bench, "started");
	bench_build(&bench, "#build keep made\nfill_u32\n", &next);
	cr_assert(eq(int, next.status, 0), "%s", next.text);
	built_free(&next);
	cr_assert(eq(u32, entries(bench.cache, "sycld-compiler-", folder), 1),
		  "the ended one's is gone");
	(void)snprintf(made, sizeof(made), "%s/made", folder);
	cr_assert(is_there(made), "the compiler got its path");
	(void)snprintf(made, sizeof(made), "%s/made", bench.cache);
	cr_assert(not(is_there(made)), "and of no other");

	/* A killed helper cannot clean up; the next one does. */
	cr_assert(eq(int, kill(bench.service->helper, SIGKILL), 0));
	bench_wait(&bench, &running);
	built_free(&running);
	bench_reopen(&bench);
	/* A warm process begins with the second build, and cleans up after earlier ones. */
	bench_build(&bench, "#build keep made\ncopy_u32\n", &next);
	cr_assert(eq(int, next.status, 0), "%s", next.text);
	built_free(&next);
	bench_build(&bench, "#build keep made\n#build log again\ncopy_u32\n", &next);
	cr_assert(eq(int, next.status, 0), "%s", next.text);
	built_free(&next);
	bench.service = build_service_free(bench.service);
	cr_assert(eq(u32, entries(bench.cache, "sycld-compiler-", NULL), 0));
	cr_assert(eq(u32, entries(bench.cache, "", NULL), 1), "what stays is what was built");
	cr_assert(eq(int, build_service_fork(&bench.service), 0));
	cr_assert(eq(int, build_service_attach(bench.service, &bench.loop, bench.cache), 0));
	bench_close(&bench);
}

/* There are so many that removing them takes longer than checking them. */
Test(folder, of_a_compiler_is_gone_when_its_answer_is_there)
{
	enum { FILES = 3000, LINE = 24 };
	static char source[FILES * LINE + 16];
	struct build_bench bench;
	struct built built;
	size_t length = 0;

	bench_open(&bench);
	for (int i = 0; i < FILES; i++)
		length += (size_t)snprintf(source + length, sizeof(source) - length,
					   "#build keep made%d\n", i);
	(void)snprintf(source + length, sizeof(source) - length, "fill_u32\n");
	bench_build(&bench, source, &built);
	cr_assert(eq(int, built.status, 0), "%s", built.text);
	cr_assert(eq(u32, entries(bench.cache, "sycld-compiler-", NULL), 0));
	built_free(&built);
	bench_close(&bench);
}
