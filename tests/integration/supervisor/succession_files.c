/*
 * The files that one service leaves for the next are trusted only as far as they can be checked,
 * and are written again when they could not be.
 */
#include "supervisor/succession_fixture.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(succession_files, .fini = clean_succession, .timeout = 240);

static void truncate_it(const char *path)
{
	cr_assert(eq(int, truncate(path, 70), 0));
}

static void empty_it(const char *path)
{
	cr_assert(eq(int, truncate(path, 0), 0));
}

static void lengthen_it(const char *path)
{
	cr_assert(eq(int, truncate(path, 1 << 24), 0));
}

static void write_garbage(const char *path)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	for (int i = 0; i < 4096; i++)
		cr_assert(eq(long, write(fd, &(char){(char)(i * 7 + 3)}, 1), 1));
	close_fd(&fd);
}

static void change_byte(const char *path, off_t where)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	char byte = 0;
	cr_assert(eq(long, pread(fd, &byte, 1, where), 1));
	byte ^= 0x10;
	cr_assert(eq(long, pwrite(fd, &byte, 1, where), 1));
	close_fd(&fd);
}

static void change_format(const char *path)
{
	change_byte(path, 8);
}

static void change_count(const char *path)
{
	change_byte(path, 48);
}

static void change_pid(const char *path)
{
	change_byte(path, 60);
}

static void let_others_write(const char *path)
{
	cr_assert(eq(int, chmod(path, 0606), 0));
}

static void make_it_a_link(const char *path)
{
	char other[PATH_MOST + 8];
	(void)snprintf(other, sizeof(other), "%s.other", path);
	cr_assert(eq(int, rename(path, other), 0));
	cr_assert(eq(int, symlink(other, path), 0));
}

static void make_it_a_folder(const char *path)
{
	cr_assert(eq(int, unlink(path), 0));
	cr_assert(eq(int, mkdir(path, 0700), 0));
}

/* It has the proofs of both, and the service was told that one is closed. */
Test(succession_files, a_session_that_was_closed_does_not_come_back)
{
	service_prepare(&service, "collector");
	service_start(&service, NULL);
	struct client first = open_known_client(), second = open_known_client();
	cr_assert(eq(long, second.engine, first.engine));
	close_fd(&second.socket);
	cr_assert(wait_until(has_one_session, NULL));
	end_service(SIGKILL);
	service_start(&service, NULL);
	struct client next = open_known_client();
	cr_expect(ne(long, next.engine, first.engine));
	cr_expect(eq(int, ctl_session_count(&service), 1));
	cr_expect(
		eq(uint, service_log_count(&service, "names a session that it does not have"), 1));
	must_answer(&first);
	must_answer(&next);
	close_fd(&first.socket);
	close_fd(&next.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Its engine was killed while no service ran. */
Test(succession_files, sessions_of_an_engine_that_ended_leave_the_list)
{
	char path[PATH_MOST];
	struct stat facts;
	uint64_t entries[32] = {0};
	service_prepare(&service, "returns");
	service_start(&service, NULL);
	struct client first = open_known_client();
	end_service(SIGKILL);
	cr_assert(eq(int, kill((pid_t)first.engine, SIGKILL), 0));
	cr_assert(eq(ptr, client_receive(first.socket), NULL));
	service_start(&service, NULL);
	file_path("sessions", path);
	cr_assert(eq(int, stat(path, &facts), 0));
	cr_assert(gt(long, (long)facts.st_size, 16l), "it had a session");
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert(ge(long, read(fd, entries, sizeof(entries)), 32l));
	cr_expect(zero(u64, entries[2]));
	close_fd(&first.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Then proofs alone count, as with the file of an earlier release. */
Test(succession_files, engines_come_back_without_the_list_of_open_sessions)
{
	static void (*const ways[])(const char *) = {truncate_it, empty_it, write_garbage,
						     make_it_a_link};
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		char path[PATH_MOST];
		service_prepare(&service, "returns");
		service_start(&service, NULL);
		struct client first = open_known_client();
		end_service(SIGKILL);
		file_path("sessions", path);
		ways[i](path);
		service_start(&service, NULL);
		struct client next = open_known_client();
		cr_assert(eq(long, next.engine, first.engine), "case %zu", i);
		cr_assert(eq(uint, service_log_count(&service, "that were closed may return"), 1),
			  "case %zu", i);
		must_answer(&first);
		/* The list is whole again. */
		end_service(SIGKILL);
		service_start(&service, NULL);
		must_answer(&next);
		cr_assert(wait_until(has_two_sessions, NULL));
		cr_assert(eq(uint, service_log_count(&service, "that were closed may return"), 1),
			  "case %zu", i);
		close_fd(&first.socket);
		close_fd(&next.socket);
		cr_assert(eq(int, service_stop(&service), 0));
		if (i + 1 < sizeof(ways) / sizeof(*ways))
			service_free(&service);
	}
}

static json_int_t only_session(void)
{
	json_t *status = ctl_json(&service, "status");
	const json_t *sessions = json_object_get(status, "sessions");
	cr_assert(eq(sz, json_array_size(sessions), 1));
	json_int_t number = json_integer_value(json_object_get(json_array_get(sessions, 0), "id"));
	json_decref(status);
	return number;
}

static void must_be_kept(const char *why)
{
	char bad[PATH_MOST];
	struct stat facts;
	file_path("engines.bad", bad);
	cr_assert(eq(int, lstat(bad, &facts), 0), "%s", why);
}

/* Then the engine continues by itself as if there were no file, and the service works. */
Test(succession_files,
     what_was_left_in_the_folder_is_refused_when_it_is_damaged_or_others_could_write_it)
{
	static const struct {
		void (*spoil)(const char *path);
		const char *why;
	} cases[] = {
		{truncate_it, "is not used (it is damaged)"},
		{empty_it, "is not used (it is damaged)"},
		{lengthen_it, "is not used (it is damaged)"},
		{write_garbage, "is not used (it is damaged)"},
		{change_format, "is not used (it is of another release)"},
		{change_count, "is not used (it is damaged)"},
		{change_pid, "is not used (it is damaged)"},
		{let_others_write, "is not used (it is not this user's alone)"},
		{make_it_a_link, "is not used (it is not this user's alone)"},
		{make_it_a_folder, "is not used (it is not this user's alone)"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[PATH_MOST];
		service_prepare(&service, "returns");
		service_start(&service, NULL);
		struct client first = open_known_client();
		end_service(SIGKILL);
		file_path("engines", path);
		cases[i].spoil(path);
		service_start(&service, NULL);
		struct client next = open_known_client();
		cr_assert(ne(long, next.engine, first.engine), "case %zu", i);
		must_answer(&first);
		must_answer(&next);
		cr_assert(eq(uint, service_log_count(&service, cases[i].why), 1), "case %zu", i);
		cr_assert(gt(long, (long)only_session(), 1l << 32),
			  "case %zu: a number may be given twice", i);
		must_be_kept(cases[i].why);
		close_fd(&first.socket);
		close_fd(&next.socket);
		cr_assert(eq(int, service_stop(&service), 0));
		if (i + 1 < sizeof(cases) / sizeof(*cases))
			service_free(&service);
	}
}

static bool has_an_engine(void *path)
{
	struct stat facts;
	return stat(path, &facts) == 0 && facts.st_size >= 56 + 56;
}

/* A folder is in the place of the file that it writes first. So the test needs neither another user
 * nor a full disk. */
Test(succession_files, what_could_not_be_written_is_written_later_and_no_number_is_given_twice)
{
	char path[PATH_MOST], blocked[PATH_MOST];
	json_int_t numbers[2];
	service_prepare(&service, "returns");
	service_start(&service, NULL);
	file_path("engines", path);
	file_path("engines.new", blocked);
	for (int i = 0; i < 2; i++) {
		cr_assert(eq(int, mkdir(blocked, 0700), 0));
		struct client lost = open_known_client();
		numbers[i] = only_session();
		end_service(SIGKILL);
		close_fd(&lost.socket);
		cr_assert(eq(int, rmdir(blocked), 0));
		service_start(&service, NULL);
	}
	cr_assert(ne(long, (long)numbers[0], (long)numbers[1]));
	cr_assert(eq(int, mkdir(blocked, 0700), 0));
	struct client first = open_known_client();
	cr_assert(ne(long, (long)only_session(), (long)numbers[0]));
	cr_assert(ne(long, (long)only_session(), (long)numbers[1]));
	cr_assert(not(has_an_engine(path)));
	cr_assert(eq(int, rmdir(blocked), 0));
	cr_assert(wait_until(has_an_engine, path), "it is not tried again");
	end_service(SIGKILL);
	service_start(&service, NULL);
	struct client next = open_known_client();
	cr_assert(eq(long, next.engine, first.engine));
	must_answer(&first);
	close_fd(&first.socket);
	close_fd(&next.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* From here on, opening the former service's files fails for a while: only they are opened with
 * these flags. */
static void fail_to_open(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(steps) / sizeof(*steps), steps};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(77);
}

Test(succession_files,
     a_service_that_cannot_read_now_what_was_left_does_not_begin_and_the_next_one_does)
{
	int status = -1;
	service_prepare(&service, "returns");
	service_start(&service, NULL);
	struct client first = open_known_client();
	end_service(SIGKILL);
	pid_t pid = fork();
	if (pid == 0) {
		fail_to_open();
		service_launch(&service, NULL);
		int ended = service_wait(&service);
		_exit(WIFEXITED(ended) ? WEXITSTATUS(ended) : 99);
	}
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		cr_skip_test("SKIPPED: system calls cannot be filtered here");
	cr_assert(eq(int, status, EXIT_FAILURE << 8));
	cr_assert(eq(uint, service_log_count(&service, "cannot be read: Too many open files"), 1));
	service_start(&service, NULL);
	struct client next = open_known_client();
	cr_assert(eq(long, next.engine, first.engine));
	must_answer(&first);
	must_answer(&next);
	close_fd(&first.socket);
	close_fd(&next.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}
