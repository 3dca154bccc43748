/*
 * One service follows another that was killed or that has handed over. Engines that continue return
 * to it, and those that misbehave then are left alone. Files in the folder are trusted only as far
 * as they can be checked.
 */
#include "supervisor/harness.h"

#include "cleanup.h"
#include "packet_socket.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_MOST = HARNESS_PATH_BYTES * 2, NOBODY = 65534 };

static struct service service;

static void clean_succession(void)
{
	service_free(&service);
}

TestSuite(succession, .fini = clean_succession, .timeout = 240);

struct client {
	int socket;
	long engine;
};

static struct client open_known_client(void)
{
	struct client client = {.socket = -1};
	CLEANUP(free_pointer) char *facts = client_open(&service, &client.socket);
	cr_assert(ne(ptr, facts, NULL));
	client.engine = fact(facts, "pid=");
	return client;
}

static void must_answer(const struct client *client)
{
	cr_assert(eq(long, send(client->socket, "ping", 4, MSG_NOSIGNAL), 4));
	Sycl__V1__Packet *packet = client_receive(client->socket);
	cr_assert(ne(ptr, packet, NULL));
	cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_WAKE));
	packet_free(packet);
}

static void end_service(int signal)
{
	(void)kill(service.pid, signal);
	int status = service_wait(&service);
	cr_assert(eq(int, WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
		     signal == SIGKILL ? signal : 0));
}

static bool has_one_session(void *unused)
{
	(void)unused;
	return ctl_session_count(&service) == 1;
}

static bool has_two_sessions(void *unused)
{
	(void)unused;
	return ctl_session_count(&service) == 2;
}

static void file_path(const char *name, char path[PATH_MOST])
{
	(void)snprintf(path, PATH_MOST, "%s/%s", service.runtime, name);
}

/* Its number, its age and its name are as before. The name that the engine reports is printable. */
static void must_know(const struct client *client, json_int_t number)
{
	json_t *status = ctl_json(&service, "status");
	const json_t *session = json_array_get(json_object_get(status, "sessions"), 0);
	cr_assert(eq(long, (long)json_integer_value(json_object_get(session, "engine_pid")),
		     client->engine));
	cr_assert(eq(long, (long)json_integer_value(json_object_get(session, "id")), (long)number));
	cr_assert(eq(long, (long)json_integer_value(json_object_get(session, "pid")),
		     (long)getpid()));
	json_decref(status);
}

Test(succession, N5_an_engine_and_its_sessions_come_back_to_the_next_service_and_the_one_after)
{
	static const int ways[] = {SIGKILL, SIGUSR2, SIGKILL};
	service_prepare(&service, "returns");
	service_start(&service, NULL);
	struct client first = open_known_client();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		end_service(ways[i]);
		must_answer(&first);
		service_start(&service, NULL);
		struct client next = open_known_client();
		cr_assert(eq(long, next.engine, first.engine),
			  "it is served by another engine after %zu restarts", i + 1);
		must_answer(&first);
		must_answer(&next);
		cr_assert(eq(int, ctl_session_count(&service), 2));
		must_know(&first, 1);
		close_fd(&next.socket);
		cr_assert(wait_until(has_one_session, NULL));
	}
	cr_assert(eq(uint, service_log_count(&service, "is back; sessions: 1"), 3));
	close_fd(&first.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

static void give_order(const char *order, const char *a, const char *b)
{
	const char *arguments[] = {
		SYCLCTL_PROGRAM, "--runtime-dir", service.runtime, order, a, b, NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_assert(zero(int, outcome.status), "%s: %s", order, outcome.error);
	outcome_free(&outcome);
}

/* Returns a sum over all that is known of the order, by this user. */
static unsigned long must_be_by_this_user(const json_t *of, const char *key)
{
	const json_t *by = json_object_get(of, key);
	cr_assert(json_is_object(by), "%s is not known", key);
	cr_expect(eq(long, (long)json_integer_value(json_object_get(by, "uid")), (long)geteuid()));
	char *text = json_dumps(by, JSON_COMPACT | JSON_SORT_KEYS);
	unsigned long sum = 0;
	for (const char *c = text; c && *c; c++)
		sum = sum * 31 + (unsigned char)*c;
	free(text);
	return sum;
}

struct origins {
	unsigned long service, user, session;
};

/* The engine reports that a session is paused, and the service has the name of the operator. */
static bool has_paused_session(void *unused)
{
	(void)unused;
	json_t *status = ctl_json(&service, "status");
	const json_t *session = json_array_get(json_object_get(status, "sessions"), 0);
	bool is_paused = json_is_object(json_object_get(session, "paused_by"));
	json_decref(status);
	return is_paused;
}

static struct origins read_origins(void)
{
	json_t *status = ctl_json(&service, "status");
	const json_t *tenant = json_array_get(json_object_get(status, "tenants"), 0);
	const json_t *session = json_array_get(json_object_get(status, "sessions"), 0);
	struct origins origins = {
		must_be_by_this_user(json_object_get(status, "service"), "drained_by"),
		must_be_by_this_user(tenant, "drained_by"),
		must_be_by_this_user(session, "paused_by"),
	};
	json_decref(status);
	return origins;
}

Test(succession, N6_who_has_paused_and_drained_is_known_to_the_next_services)
{
	static const int ways[] = {SIGKILL, SIGUSR2};
	char uid[16];
	(void)snprintf(uid, sizeof(uid), "%lu", (unsigned long)geteuid());
	service_prepare(&service, "returns");
	service_start(&service, NULL);
	struct client first = open_known_client();
	give_order("pause", "1", NULL);
	give_order("drain", "--uid", uid);
	give_order("drain", "--all", NULL);
	cr_assert(wait_until(has_paused_session, NULL));
	struct origins before = read_origins();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		end_service(ways[i]);
		service_start(&service, NULL);
		cr_assert(wait_until(has_paused_session, NULL));
		struct origins after = read_origins();
		cr_expect(eq(u64, after.service, before.service));
		cr_expect(eq(u64, after.user, before.user));
		cr_expect(eq(u64, after.session, before.session));
	}
	give_order("resume", "--all", NULL);
	json_t *status = ctl_json(&service, "status");
	cr_expect(json_is_null(json_object_get(
		json_array_get(json_object_get(status, "sessions"), 0), "paused_by")));
	json_decref(status);
	close_fd(&first.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(succession, the_end_of_a_session_and_of_the_engine_are_seen_by_the_next_service)
{
	service_prepare(&service, "returns");
	service_start(&service, NULL);
	struct client one = open_known_client(), two = open_known_client();
	end_service(SIGKILL);
	service_start(&service, NULL);
	cr_assert(wait_until(has_two_sessions, NULL));
	close_fd(&one.socket);
	cr_assert(wait_until(has_one_session, NULL));
	cr_assert(eq(long, send(two.socket, "crash", 5, MSG_NOSIGNAL), 5));
	cr_assert(eq(ptr, client_receive(two.socket), NULL));
	struct client three = open_known_client();
	cr_assert(ne(long, three.engine, one.engine));
	cr_assert(
		eq(uint,
		   service_log_count(&service, "offender: 'doomed_kernel', group 40 of session 2"),
		   1));
	close_fd(&two.socket);
	close_fd(&three.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* The engine of each manner continues with its sessions, and new sessions get another one. */
Test(succession, what_does_not_show_what_it_should_is_left_alone)
{
	static const struct {
		const char *manner, *why;
	} cases[] = {
		{"forger", "continues without this service: its token is wrong"},
		{"pretender",
		 "continues without this service: it names a session that it does not have"},
		{"doubler",
		 "continues without this service: it names a session that it does not have"},
		{"newer",
		 "continues without this service: it is of release 9.8.7 and speaks control protocol"},
		{"pageless", "continues without this service: its flight page is not valid"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		service_prepare(&service, cases[i].manner);
		service_start(&service, NULL);
		struct client first = open_known_client();
		end_service(SIGKILL);
		service_start(&service, NULL);
		struct client next = open_known_client();
		cr_assert(ne(long, next.engine, first.engine), "%s", cases[i].manner);
		must_answer(&first);
		must_answer(&next);
		cr_assert(eq(int, ctl_session_count(&service), 1), "%s", cases[i].manner);
		cr_assert(eq(uint, service_log_count(&service, cases[i].why), 1), "%s",
			  cases[i].manner);
		close_fd(&first.socket);
		close_fd(&next.socket);
		cr_assert(eq(int, service_stop(&service), 0));
		if (i + 1 < sizeof(cases) / sizeof(*cases))
			service_free(&service);
	}
}

static void truncate_it(const char *path);
static void empty_it(const char *path);
static void write_garbage(const char *path);
static void make_it_a_link(const char *path);

/* It has the proofs of both, and the service was told that one is closed. */
Test(succession, a_session_that_was_closed_does_not_come_back)
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
Test(succession, sessions_of_an_engine_that_ended_leave_the_list)
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
Test(succession, engines_come_back_without_the_list_of_open_sessions)
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

/* An upgrade is for sessions that come after it. */
Test(succession, one_of_another_release_keeps_whom_it_has_and_gets_nobody_new)
{
	service_prepare(&service, "older");
	service_start(&service, NULL);
	struct client first = open_known_client();
	end_service(SIGKILL);
	service_start(&service, NULL);
	/* So is a session that waited for it. */
	struct client next = open_known_client();
	cr_assert(ne(long, next.engine, first.engine));
	must_answer(&first);
	must_answer(&next);
	cr_assert(wait_until(has_two_sessions, NULL));
	close_fd(&first.socket);
	close_fd(&next.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(succession, one_that_comes_back_with_garbage_is_ended)
{
	service_prepare(&service, "mumbler");
	service_start(&service, NULL);
	struct client first = open_known_client();
	end_service(SIGKILL);
	service_start(&service, NULL);
	cr_assert(eq(ptr, client_receive(first.socket), NULL));
	struct client next = open_known_client();
	must_answer(&next);
	close_fd(&first.socket);
	close_fd(&next.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool log_says(void *text)
{
	return service_log_count(&service, text) > 0;
}

Test(succession, an_engine_that_ended_meanwhile_is_not_waited_for)
{
	service_prepare(&service, "returns");
	service_start(&service, NULL);
	struct client first = open_known_client();
	end_service(SIGKILL);
	cr_assert(eq(int, kill((pid_t)first.engine, SIGKILL), 0));
	cr_assert(eq(ptr, client_receive(first.socket), NULL));
	service_start(&service, NULL);
	struct client next = open_known_client();
	cr_assert(ne(long, next.engine, first.engine));
	/* The process may not have been a zombie yet when it was checked. Then its end is handled
	 * like any engine's. */
	cr_assert(log_says((void *)(uintptr_t) "has ended while no service ran") ||
		  log_says((void *)(uintptr_t) "an earlier service had started it"));
	close_fd(&first.socket);
	close_fd(&next.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(succession, one_that_begins_to_come_back_again_and_again_is_refused)
{
	service_prepare(&service, "waverer");
	service_start(&service, NULL);
	struct client first = open_known_client();
	end_service(SIGKILL);
	service_start(&service, NULL);
	cr_assert(wait_until(
		log_says,
		(void *)(uintptr_t) "continues without this service: it starts its return too often"));
	struct client next = open_known_client();
	cr_assert(ne(long, next.engine, first.engine));
	must_answer(&first);
	must_answer(&next);
	close_fd(&first.socket);
	close_fd(&next.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Engines that are late, refused, refused by an earlier service, and one that a signal does not end
 * at once. */
Test(succession, a_stop_ends_engines_that_did_not_come_back)
{
	static const struct {
		const char *manner, *log;
		int services;
		bool hangs;
	} cases[] = {
		{"double", "waiting for it", 1, false},
		{"newer", "continues without this service", 1, false},
		{"newer", "continues without this service", 2, false},
		{"double", "waiting for it", 1, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		service_prepare(&service, cases[i].manner);
		service_start(&service, NULL);
		struct client first = open_known_client();
		for (int k = 0; k < cases[i].services; k++) {
			end_service(SIGKILL);
			service_start(&service, NULL);
			cr_assert(wait_until(log_says, (void *)(uintptr_t)cases[i].log), "case %zu",
				  i);
		}
		must_answer(&first);
		if (cases[i].hangs) {
			cr_assert(eq(int, kill((pid_t)first.engine, SIGSTOP), 0));
			cr_assert(eq(int, kill(service.pid, SIGTERM), 0));
			cr_assert(wait_until(log_says,
					     (void *)(uintptr_t) "which has not come back"));
		}
		/* If an engine hangs, the service was ordered to stop already, and may not read a
		 * second order. */
		cr_assert(eq(int, cases[i].hangs ? service_wait(&service) : service_stop(&service),
			     0));
		cr_assert(eq(ptr, client_receive(first.socket), NULL), "case %zu", i);
		close_fd(&first.socket);
		if (i + 1 < sizeof(cases) / sizeof(*cases))
			service_free(&service);
	}
}

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
Test(succession, what_was_left_in_the_folder_is_refused_when_it_is_damaged_or_others_could_write_it)
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
Test(succession, what_could_not_be_written_is_written_later_and_no_number_is_given_twice)
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

Test(succession, a_service_that_cannot_read_now_what_was_left_does_not_begin_and_the_next_one_does)
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

/* Connects to the socket to which engines return. 0: it was closed without a message. */
static int try_to_come_back(void)
{
	char path[PATH_MOST], word[256];
	int socket = -1;
	file_path("engine.sock", path);
	if (packet_socket_connect(path, &socket) < 0)
		return 1;
	/* Messages that it sends before it is checked are not read. */
	(void)send(socket, "\x08\x01", 2, MSG_NOSIGNAL);
	ssize_t count = recv(socket, word, sizeof(word), 0);
	(void)close(socket);
	return count > 0 ? 2 : 0;
}

static void stranger(uid_t uid)
{
	pid_t pid = fork();
	int status = -1;
	if (pid == 0) {
		gid_t gid = uid;
		if (uid != geteuid() && (setgroups(1, &gid) < 0 || setresgid(gid, gid, gid) < 0 ||
					 setresuid(uid, uid, uid) < 0))
			_exit(3);
		_exit(try_to_come_back());
	}
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	cr_assert(eq(int, status, 0), "uid %u", uid);
}

Test(succession, whoever_is_not_the_engine_that_was_left_has_no_word)
{
	service_prepare(&service, "double");
	service_start(&service, NULL);
	struct client first = open_known_client();
	end_service(SIGKILL);
	service_start(&service, NULL);
	/* The service waits for that engine. Meanwhile other processes connect: one of its user,
	 * and, in a service for all users, one of another user. */
	stranger(geteuid());
	if (geteuid() == 0)
		stranger(NOBODY);
	must_answer(&first);
	close_fd(&first.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool has_spoken_again(void *unused)
{
	(void)unused;
	return service_log_count(&service, "says: a ") == 1;
}

/* While there is no reader, its output is lost, and it continues. */
Test(succession, an_engine_that_comes_back_is_heard_again)
{
	service_prepare(&service, "returns");
	service_start(&service, NULL);
	struct client client = open_known_client();
	end_service(SIGKILL);
	cr_assert(eq(long, send(client.socket, "speak", 5, MSG_NOSIGNAL), 5));
	Sycl__V1__Packet *packet = client_receive(client.socket);
	cr_assert(ne(ptr, packet, NULL));
	packet_free(packet);
	service_start(&service, NULL);
	cr_assert(wait_until(has_one_session, NULL));
	must_answer(&client);
	cr_expect(eq(uint, service_log_count(&service, "says: a "), 0u));
	cr_assert(eq(long, send(client.socket, "speak", 5, MSG_NOSIGNAL), 5));
	packet = client_receive(client.socket);
	cr_assert(ne(ptr, packet, NULL));
	packet_free(packet);
	cr_expect(wait_until(has_spoken_again, NULL));
	close_fd(&client.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}
