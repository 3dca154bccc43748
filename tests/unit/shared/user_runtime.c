/* Where a user's own service has its folder, also if another user has taken its name before. */
#include "user_runtime.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 256

static char base[] = "/tmp/sycld-runtime-XXXXXX", shared[64], home[64], in_shared[PATH_BYTES],
	    at_home[PATH_BYTES], found[PATH_BYTES];

static void setup_runtime_folders(void)
{
	cr_assert(ne(ptr, mkdtemp(base), NULL));
	(void)snprintf(shared, sizeof(shared), "%s/shared", base);
	(void)snprintf(home, sizeof(home), "%s/home", base);
	(void)snprintf(in_shared, sizeof(in_shared), "%s/sycld-%lu", shared,
		       (unsigned long)geteuid());
	(void)snprintf(at_home, sizeof(at_home), "%s/.local/state/sycld", home);
	cr_assert(eq(int, mkdir(shared, 0700), 0));
	cr_assert(eq(int, mkdir(home, 0700), 0));
	(void)unsetenv("XDG_RUNTIME_DIR");
	(void)unsetenv("XDG_STATE_HOME");
	(void)setenv("HOME", home, 1);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

static void teardown_runtime_folders(void)
{
	(void)nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void must_find(const char *path)
{
	cr_assert(eq(int, user_runtime_path(shared, found, sizeof(found)), 0));
	cr_expect(eq(str, found, (char *)(uintptr_t)path));
}

static void must_make(const char *path)
{
	struct stat facts;
	cr_assert(eq(int, user_runtime_make(shared, found, sizeof(found)), 0));
	cr_expect(eq(str, found, (char *)(uintptr_t)path));
	cr_assert(eq(int, lstat(path, &facts), 0));
	cr_expect(eq(u32, facts.st_mode & 0777, 0700));
	must_find(path);
}

TestSuite(user_runtime, .init = setup_runtime_folders, .fini = teardown_runtime_folders);

Test(user_runtime, the_shared_folder_serves_where_there_is_no_runtime_folder)
{
	must_find(in_shared);
	must_make(in_shared);
}

Test(user_runtime, the_runtime_folder_goes_before_all)
{
	char path[PATH_BYTES];
	(void)setenv("XDG_RUNTIME_DIR", home, 1);
	(void)snprintf(path, sizeof(path), "%s/sycld", home);
	must_make(path);
	(void)setenv("XDG_RUNTIME_DIR", "/nonexistent/run", 1);
	must_make(in_shared);
}

/* Another user makes the name first, as a link, a file or (as root) a folder. This user can work
 * all the same. */
Test(user_runtime, a_name_that_is_taken_leads_to_a_folder_of_the_users_own)
{
	cr_assert(eq(int, symlink(home, in_shared), 0));
	must_find(at_home);
	must_make(at_home);
	cr_assert(eq(int, unlink(in_shared), 0));
	must_find(at_home); /* the other user has removed it: running services are still found */
	cr_assert(eq(int, rmdir(at_home), 0));
	int fd = open(in_shared, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	cr_assert(ge(int, fd, 0));
	(void)close(fd);
	must_make(at_home);
	cr_assert(eq(int, unlink(in_shared), 0));
	if (geteuid() != 0)
		return;
	cr_assert(eq(int, rmdir(at_home), 0));
	cr_assert(eq(int, mkdir(in_shared, 0777), 0));
	cr_assert(eq(int, chown(in_shared, 4242, 4242), 0));
	must_make(at_home);
}

Test(user_runtime, what_runs_in_the_shared_folder_is_found_there)
{
	must_make(in_shared);
	must_find(in_shared);
	(void)setenv("XDG_STATE_HOME", home, 1);
	must_find(in_shared);
}

Test(user_runtime, the_state_folder_goes_before_the_usual_one)
{
	char path[PATH_BYTES];
	cr_assert(eq(int, symlink("nowhere", in_shared), 0));
	(void)setenv("XDG_STATE_HOME", home, 1);
	(void)snprintf(path, sizeof(path), "%s/sycld", home);
	must_make(path);
}

Test(user_runtime, without_a_home_the_place_that_is_taken_is_named)
{
	cr_assert(eq(int, symlink("nowhere", in_shared), 0));
	(void)unsetenv("HOME");
	cr_assert(eq(int, user_runtime_make(shared, found, sizeof(found)), 0));
	cr_expect(eq(str, found, in_shared));
	(void)setenv("HOME", "not/absolute", 1);
	must_find(in_shared);
}

Test(user_runtime, a_home_that_cannot_be_written_is_reported)
{
	cr_assert(eq(int, symlink("nowhere", in_shared), 0));
	(void)setenv("HOME", "/proc/nonexistent", 1);
	cr_assert(eq(int, user_runtime_make(shared, found, sizeof(found)), -ENOENT));
	cr_expect(ne(ptr, strstr(found, "/proc/nonexistent"), NULL));
}

Test(user_runtime, a_path_that_is_too_long_is_refused)
{
	char small[8];
	cr_assert(eq(int, user_runtime_path(shared, small, sizeof(small)), -ENAMETOOLONG));
}
