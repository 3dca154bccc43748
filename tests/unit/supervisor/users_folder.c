/* How a folder that belongs to another user is made. Only root can do that. */
#include "base/runtime_directory.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWNER = 64123, GROUP = 64124 };

static char parent[] = "/tmp/sycld-users-XXXXXX";
static char path[sizeof(parent) + sizeof("/64123")];

static void make_parent(void)
{
	if (geteuid() != 0)
		cr_skip_test("only root makes folders of others");
	cr_assert(mkdtemp(parent) != NULL);
	cr_assert(zero(int, chmod(parent, 0755)));
	(void)snprintf(path, sizeof(path), "%s/%d", parent, OWNER);
}

static void remove_parent(void)
{
	(void)rmdir(path);
	(void)rmdir(parent);
}

TestSuite(users_folder, .timeout = 20, .init = make_parent, .fini = remove_parent);

static mode_t mode_of(const char *of)
{
	struct stat facts;
	cr_assert(zero(int, stat(of, &facts)));
	return facts.st_mode & 07777;
}

Test(users_folder, it_is_the_users_alone_and_this_thread_is_root_again)
{
	struct stat facts;
	CLEANUP(close_fd) int fd = directory_open_private(path, OWNER, GROUP);
	cr_assert(ge(int, fd, 0), "%d", fd);
	cr_assert(zero(int, fstat(fd, &facts)));
	cr_expect(eq(u32, facts.st_uid, OWNER));
	cr_expect(eq(u32, facts.st_gid, GROUP));
	cr_expect(eq(u32, facts.st_mode & 07777, 0700));
	cr_expect(eq(u32, mode_of(parent), 0755));
	cr_expect(zero(int, setfsuid((uid_t)-1)));
	cr_expect(zero(int, setfsgid((gid_t)-1)));
}

/* Each engine's start opens it. A service that is killed meanwhile would leave the parent open. */
Test(users_folder, the_parent_stays_closed_where_the_folder_exists)
{
	char event[4096];
	CLEANUP(close_fd) int first = directory_open_private(path, OWNER, GROUP);
	cr_assert(ge(int, first, 0), "%d", first);
	CLEANUP(close_fd) int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	cr_assert(ge(int, inotify_add_watch(watch, parent, IN_ATTRIB), 0));
	CLEANUP(close_fd) int again = directory_open_private(path, OWNER, GROUP);
	cr_expect(ge(int, again, 0), "%d", again);
	cr_expect(eq(int, (int)read(watch, event, sizeof(event)), -1), "its mode was changed");
	cr_expect(eq(int, errno, EAGAIN));
}
