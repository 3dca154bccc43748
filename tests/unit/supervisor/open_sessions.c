/* The list of open sessions that a service leaves for the next one. */
#include "service/open_sessions.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY = 1000, ENGINE = 70, OTHER = 71 };

static int write_error; /* 0: writes do not fail */

ssize_t __wrap_pwrite(int fd, const void *buffer, size_t size, off_t at);
ssize_t __real_pwrite(int fd, const void *buffer, size_t size, off_t at);

ssize_t __wrap_pwrite(int fd, const void *buffer, size_t size, off_t at)
{
	errno = write_error;
	return write_error ? -1 : __real_pwrite(fd, buffer, size, at);
}

static char folder_path[] = "/tmp/sycld-sessions-XXXXXX";
static int folder = -1;
static struct open_sessions sessions;

static void open_list(void)
{
	cr_assert(ne(ptr, mkdtemp(folder_path), NULL));
	folder = open(folder_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert(ge(int, folder, 0));
	cr_assert(zero(int, open_sessions_create(folder, &sessions)));
}

static void close_list(void)
{
	open_sessions_close(&sessions);
	(void)unlinkat(folder, "sessions", 0);
	close_fd(&folder);
	(void)rmdir(folder_path);
}

TestSuite(open_sessions, .init = open_list, .fini = close_list, .timeout = 20);

static void add(uint64_t session, uint32_t engine)
{
	cr_assert(zero(int, open_sessions_add(&sessions, session, engine)));
}

/* The service is killed: nothing is done at its end. The next one reads the file. */
static void follow(void)
{
	uint32_t mark = sessions.mark;
	open_sessions_close(&sessions);
	cr_assert(zero(int, open_sessions_load(folder, mark, &sessions)));
}

static void expect_has(uint64_t session, uint32_t engine, bool has)
{
	cr_expect(eq(int, open_sessions_has(&sessions, session, engine), has), "session %llu",
		  (unsigned long long)session);
}

Test(open_sessions, each_change_is_in_the_file)
{
	add(1, ENGINE);
	add(2, ENGINE);
	add(3, OTHER);
	cr_assert(zero(int, open_sessions_remove(&sessions, 2)));
	cr_assert(zero(int, open_sessions_remove(&sessions, 9)));
	follow();
	expect_has(1, ENGINE, true);
	expect_has(1, OTHER, false);
	expect_has(2, ENGINE, false);
	expect_has(3, OTHER, true);
	/* Another engine gets it, because its own died before it had read anything. */
	add(1, OTHER);
	follow();
	expect_has(1, ENGINE, false);
	expect_has(1, OTHER, true);
}

Test(open_sessions, places_are_used_again)
{
	struct stat facts;
	for (uint64_t i = 1; i <= MANY; i++)
		add(i, ENGINE);
	for (uint64_t i = 1; i <= MANY; i++)
		expect_has(i, ENGINE, true);
	follow();
	for (uint64_t i = 1; i <= 4000; i++) {
		expect_has(i, ENGINE, true);
		cr_assert(zero(int, open_sessions_remove(&sessions, i)));
		expect_has(i, ENGINE, false);
		add(i + MANY, ENGINE);
	}
	cr_assert(zero(int, fstat(sessions.file, &facts)));
	cr_expect(le(u64, (uint64_t)facts.st_size, 16400u));
}

static bool is_of_other(void *context, uint64_t session, uint32_t engine)
{
	(void)context;
	(void)session;
	return engine == OTHER;
}

Test(open_sessions, those_of_an_engine_can_be_removed)
{
	for (uint64_t i = 1; i <= MANY; i++)
		add(i, i % 3 ? ENGINE : OTHER);
	cr_assert(zero(int, open_sessions_filter(&sessions, is_of_other, NULL)));
	follow();
	for (uint64_t i = 1; i <= MANY; i++)
		expect_has(i, i % 3 ? ENGINE : OTHER, i % 3 == 0);
}

Test(open_sessions, what_cannot_be_written_is_not_in_the_list)
{
	add(1, ENGINE);
	write_error = ENOSPC;
	cr_expect(eq(int, open_sessions_add(&sessions, 2, ENGINE), -ENOSPC));
	cr_expect(eq(int, open_sessions_remove(&sessions, 1), -ENOSPC));
	expect_has(1, ENGINE, true);
	expect_has(2, ENGINE, false);
	write_error = 0;
	add(2, ENGINE);
	cr_expect(zero(int, open_sessions_remove(&sessions, 1)));
	follow();
	expect_has(1, ENGINE, false);
	expect_has(2, ENGINE, true);
}

static int load_changed(off_t at, uint8_t byte)
{
	struct open_sessions other = {.file = -1};
	int file = openat(folder, "sessions", O_WRONLY | O_CLOEXEC);
	cr_assert(eq(long, __real_pwrite(file, &byte, 1, at), 1));
	close_fd(&file);
	int r = open_sessions_load(folder, sessions.mark, &other);
	cr_expect(not(other.is_open));
	return r;
}

Test(open_sessions, one_that_is_not_valid_is_not_used_until_it_is_again)
{
	struct open_sessions other;
	add(1, ENGINE);
	cr_assert(zero(int, open_sessions_set_valid(&sessions, false)));
	cr_expect(eq(int, open_sessions_load(folder, sessions.mark, &other), -EBADMSG));
	cr_expect(eq(int, open_sessions_load(folder, 0, &other), -EBADMSG));
	add(2, ENGINE);
	write_error = EIO;
	cr_expect(eq(int, open_sessions_set_valid(&sessions, true), -EIO));
	write_error = 0;
	cr_assert(zero(int, open_sessions_set_valid(&sessions, true)));
	follow();
	cr_expect(open_sessions_has(&sessions, 1, ENGINE));
	cr_expect(open_sessions_has(&sessions, 2, ENGINE));
}

Test(open_sessions, another_file_is_not_taken_for_it)
{
	struct open_sessions other = {.file = -1};
	add(1, ENGINE);
	add(2, ENGINE);
	cr_expect(eq(int, open_sessions_load(folder, sessions.mark + 1, &other), -EBADMSG));
	cr_expect(eq(int, load_changed(16 + 16, 1), -EBADMSG), "a number is there twice");
	cr_expect(eq(int, load_changed(16 + 32, 0), -EBADMSG), "a piece of an entry");
	cr_expect(eq(int, load_changed(0, 0), -EBADMSG), "the magic number");
	cr_assert(zero(int, fchmodat(folder, "sessions", 0644, 0)));
	cr_expect(eq(int, open_sessions_load(folder, sessions.mark, &other), -EPERM));
	cr_assert(zero(int, unlinkat(folder, "sessions", 0)));
	cr_expect(eq(int, open_sessions_load(folder, sessions.mark, &other), -ENOENT));
}
