/* Has a process with threads and open files become a user completely? The tests run in children,
 * because there is no way back. */
#include "process/privileges.h"

#include "cleanup.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(engine_privileges, .timeout = 20);

enum { SOME_UID = 54321, NO_DEVICE = 99 };

static void needs_root(void)
{
	if (geteuid() != 0)
		cr_skip_test("SKIPPED: only root can become another user");
}

/* Runs `child` in a separate process and returns its result. */
static int privileges_in_child(int (*child)(void))
{
	int status = 0;
	pid_t pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0)
		_exit(-child() & 0xff);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void *stay(void *unused)
{
	while (!unused)
		(void)pause();
	return NULL;
}

static int start_thread(void)
{
	pthread_t thread;
	return -pthread_create(&thread, NULL, stay, NULL);
}

static int become(void)
{
	char what[PATH_MAX] = "";
	int r = engine_privileges_drop(SOME_UID, SOME_UID);
	if (r == 0)
		r = engine_privileges_check(SOME_UID, SOME_UID, what);
	/* The error names the obstacle, which can only be a device here. */
	return r == -EACCES && strncmp(what, "/dev/", 5) != 0 ? -EINVAL : r;
}

/* Does this as a standby does. */
static int with_threads(void)
{
	int r = engine_privileges_standby(true);
	for (int i = 0; i < 3 && r == 0; i++)
		r = start_thread();
	return r < 0 ? r : become();
}

Test(engine_privileges, all_threads_become_the_user, .init = needs_root)
{
	cr_assert_eq(privileges_in_child(with_threads), 0);
}

static int with_an_early_thread(void)
{
	int r = start_thread();
	if (r == 0)
		r = engine_privileges_standby(true);
	return r < 0 ? r : become();
}

/* An earlier thread could gain privileges by executing a program. */
Test(engine_privileges, a_thread_that_was_there_before_is_noticed, .init = needs_root)
{
	cr_assert_eq(privileges_in_child(with_an_early_thread), -EPERM);
}

static int as_somebody_else(void)
{
	char what[PATH_MAX] = "";
	int r = with_threads();
	return r < 0 ? r : engine_privileges_check(SOME_UID + 1, SOME_UID, what);
}

Test(engine_privileges, another_user_is_noticed, .init = needs_root)
{
	cr_assert_eq(privileges_in_child(as_somebody_else), -EPERM);
}

/* Returns the first device file that only root may open; -1: there is none. */
static int open_private_device(void)
{
	static const char *const devices[] = {"/dev/fuse", "/dev/net/tun", "/dev/loop-control",
					      "/dev/vhost-net"};
	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
		struct stat facts;
		if (stat(devices[i], &facts) < 0 || facts.st_mode & 006)
			continue;
		int fd = open(devices[i], O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static int with_a_private_device(void)
{
	return open_private_device() < 0 ? -NO_DEVICE : with_threads();
}

/* An operator who allows a GPU to some users only has set the mode of its file. */
Test(engine_privileges, a_device_that_the_user_may_not_open_is_noticed, .init = needs_root)
{
	int r = privileges_in_child(with_a_private_device);
	if (r == -NO_DEVICE)
		cr_skip_test("SKIPPED: this machine has no device file that root alone may open");
	cr_assert_eq(r, -EACCES);
}

static int with_a_public_device(void)
{
	int fd = open("/dev/ptmx", O_RDWR | O_CLOEXEC | O_NOCTTY);
	return fd < 0 ? -NO_DEVICE : with_threads();
}

Test(engine_privileges, a_device_of_everybodys_is_no_trouble, .init = needs_root)
{
	int r = privileges_in_child(with_a_public_device);
	if (r == -NO_DEVICE)
		cr_skip_test("SKIPPED: /dev/ptmx cannot be opened here");
	cr_assert_eq(r, 0);
}

static char devices[] = "/tmp/sycld-unit-devices-XXXXXX";

/* Far below the limit that users have by default, because only some may raise it. */
enum { CANNOT_SET = -200, BEFORE_KIB = 64, MOST_KIB = 32 };

/* Returns the KiB that can be locked then, subtracted from the base. */
static int locked_kib(void)
{
	struct rlimit limit = {(rlim_t)BEFORE_KIB << 10, (rlim_t)BEFORE_KIB << 10};
	if (setrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return CANNOT_SET;
	if (engine_privileges_limit_locked(devices, (uint64_t)MOST_KIB << 10) < 0 ||
	    getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur != limit.rlim_max)
		return -1;
	return -(int)(limit.rlim_max >> 10);
}

static void make_devices(const char *name)
{
	char path[sizeof(devices) + 32];
	cr_assert(mkdtemp(devices));
	(void)snprintf(path, sizeof(path), "%s/%s", devices, name);
	FILE *file = fopen(path, "we");
	cr_assert(file);
	(void)fclose(file);
}

static void remove_devices(const char *name)
{
	char path[sizeof(devices) + 32];
	(void)snprintf(path, sizeof(path), "%s/%s", devices, name);
	(void)unlink(path);
	(void)rmdir(devices);
}

Test(engine_privileges, without_nvidias_driver_little_memory_can_be_locked)
{
	make_devices("null");
	int result = privileges_in_child(locked_kib);
	remove_devices("null");
	if (result == CANNOT_SET)
		cr_skip_test("SKIPPED: this user's limit is low already");
	cr_assert_eq(result, -MOST_KIB);
	cr_assert_eq(ENGINE_LOCKED_BYTES, 8u << 20);
}

/* The engine pins memory that its users request. */
Test(engine_privileges, with_nvidias_driver_the_limit_stays)
{
	make_devices("nvidiactl");
	int result = privileges_in_child(locked_kib);
	remove_devices("nvidiactl");
	if (result == CANNOT_SET)
		cr_skip_test("SKIPPED: this user's limit is low already");
	cr_assert_eq(result, -BEFORE_KIB);
}
