/* A build has a folder of its own, for as long as it takes; so have others that ask for one. */
#include "build_internal.h"
#include "build_support.h"
#include "private_folder.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PREFIX "kept-apart"

TestSuite(folder, .timeout = 120);

/* How many entries begin so; the path of the last. */
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
	private_folder_remove(&other); /* twice is none */
	bench_close(&bench);
}

/* One that was killed cannot clean up. */
Test(folder, left_by_a_killed_process_goes_with_the_next)
{
	struct build_bench bench;
	struct private_folder held, next;
	char path[512], longer[512], public[300];
	int ready[2];

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
	(void)snprintf(public, sizeof(public), "%s/" PREFIX "-public", bench.directory);
	cr_assert(eq(int, mkdir(public, 0700), 0));
	cr_assert(eq(int, chmod(public, 0755), 0));

	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &next), 0));
	cr_assert(eq(u32, entries(bench.directory, PREFIX, NULL), 5), "it lives: its folder stays");
	private_folder_remove(&next);
	cr_assert(eq(int, kill(child, SIGKILL), 0));
	cr_assert(eq(int, waitpid(child, NULL, 0), child));
	cr_assert(eq(int, private_folder_make(bench.directory, PREFIX, &next), 0));
	cr_assert(is_there(next.path) && is_there(held.path) && is_there(longer) && is_there(public));
	cr_assert(eq(u32, entries(bench.directory, PREFIX, NULL), 4), "that of the killed one is gone");
	private_folder_remove(&next);
	private_folder_remove(&held);
	bench_close(&bench);
	(void)close(ready[0]);
	(void)close(ready[1]);
}

Test(folder, that_cannot_be_made_is_an_error)
{
	struct private_folder none = PRIVATE_FOLDER_NONE;

	cr_assert(eq(int, private_folder_make("/nonexistent", PREFIX, &none), -ENOENT));
	cr_assert(none.path == NULL && none.lock == -1);
	private_folder_remove(&none);
}

/* PoCL packs what it reads back from its cache: nobody else may write there meanwhile. */
Test(folder, a_compiler_writes_to_one_of_its_own_that_goes_with_it)
{
	struct build_bench bench;
	struct built running, next;
	char source[256], folder[512] = "", made[600];

	bench_open(&bench);
	(void)snprintf(source, sizeof(source), "#build keep made\n#build touch %s/started\n#build hang\n",
		       bench.directory);
	bench_submit(&bench, source, 0, 0, &running);
	(void)uv_run(&bench.loop, UV_RUN_NOWAIT);
	bench_wait_file(&bench, "started");
	bench_build(&bench, "#build keep made\nfill_u32\n", &next);
	cr_assert(eq(int, next.status, 0), "%s", next.text);
	built_free(&next);
	cr_assert(eq(u32, entries(bench.cache, "sycld-compiler-", folder), 1), "the ended one's is gone");
	(void)snprintf(made, sizeof(made), "%s/made", folder);
	cr_assert(is_there(made), "the compiler was told of it");
	(void)snprintf(made, sizeof(made), "%s/made", bench.cache);
	cr_assert(not(is_there(made)), "and of no other");

	/* A helper that is killed cannot clean up; the next does. */
	cr_assert(eq(int, kill(bench.service->helper, SIGKILL), 0));
	bench_wait(&bench, &running);
	built_free(&running);
	bench_reopen(&bench);
	bench_build(&bench, "#build keep made\ncopy_u32\n", &next);
	cr_assert(eq(int, next.status, 0), "%s", next.text);
	built_free(&next);
	bench.service = build_service_free(bench.service);
	cr_assert(eq(u32, entries(bench.cache, "sycld-compiler-", NULL), 0));
	cr_assert(eq(u32, entries(bench.cache, "", NULL), 1), "what stays is what was built");
	cr_assert(eq(int, build_service_fork(&bench.service), 0));
	cr_assert(eq(int, build_service_attach(bench.service, &bench.loop, bench.cache), 0));
	bench_close(&bench);
}
