/*
 * One service follows another that was killed or that has handed over. Engines that continue return
 * to it, and those that misbehave then are left alone.
 */
#include "supervisor/succession_fixture.h"

#include "cleanup.h"
#include "packet_socket.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

TestSuite(succession, .fini = clean_succession, .timeout = 240);

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

static void succession_give_order(const char *order, const char *a, const char *b)
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
	succession_give_order("pause", "1", NULL);
	succession_give_order("drain", "--uid", uid);
	succession_give_order("drain", "--all", NULL);
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
	succession_give_order("resume", "--all", NULL);
	json_t *status = ctl_json(&service, "status");
	cr_expect(json_is_null(json_object_get(
		json_array_get(json_object_get(status, "sessions"), 0), "paused_by")));
	json_decref(status);
	close_fd(&first.socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

struct limit_shown {
	json_int_t value; /* 0: not shown for this session */
	unsigned long by;
};

/* What `syclctl limits` shows of session 1 only. */
static struct limit_shown read_session_limit(const char *name)
{
	json_t *answer = ctl_json(&service, "limits");
	const json_t *limits = json_object_get(answer, "limits");
	struct limit_shown shown = {.value = 0};
	for (size_t i = 0; i < json_array_size(limits); i++) {
		const json_t *limit = json_array_get(limits, i);
		if (json_integer_value(json_object_get(limit, "session")) != 1 ||
		    strcmp(json_string_value(json_object_get(limit, "name")), name) != 0)
			continue;
		cr_assert(zero(int, (int)shown.value), "%s is shown twice", name);
		shown.value = json_integer_value(json_object_get(limit, "value"));
		shown.by = must_be_by_this_user(limit, "ordered_by");
	}
	json_decref(answer);
	return shown;
}

static bool has_session_limit(void *name)
{
	return read_session_limit(name).value != 0;
}

Test(succession, N6_the_limits_of_a_single_session_are_shown_by_the_next_services)
{
	static const int ways[] = {SIGKILL, SIGUSR2};
	static char weight[] = "weight";
	service_prepare(&service, "returns");
	service_start(&service, NULL);
	struct client first = open_known_client();
	succession_give_order("limit", "weight=7", "1");
	succession_give_order("limit", "buffer_bytes=4096", "1");
	succession_give_order("limit", "buffer_bytes=default", "1");
	struct limit_shown before = read_session_limit(weight);
	cr_assert(eq(long, (long)before.value, 7));
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		end_service(ways[i]);
		service_start(&service, NULL);
		cr_assert(wait_until(has_session_limit, weight));
		struct limit_shown after = read_session_limit(weight);
		cr_expect(eq(long, (long)after.value, 7));
		cr_expect(eq(u64, after.by, before.by));
		cr_expect(zero(long, (long)read_session_limit("buffer_bytes").value));
	}
	/* What was revoked is not restored. */
	succession_give_order("limit", "weight=default", "1");
	end_service(SIGKILL);
	service_start(&service, NULL);
	cr_assert(wait_until(has_one_session, NULL));
	cr_expect(zero(long, (long)read_session_limit(weight).value));
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

/* An upgrade is for sessions that come after it. */
Test(succession, an_engine_of_another_release_keeps_its_sessions_and_gets_no_new_one)
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

/* Connects to the socket to which engines return. 0: it was closed without a message. */
static int connect_as_engine(void)
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

static void connect_as_user(uid_t uid)
{
	pid_t pid = fork();
	int status = -1;
	if (pid == 0) {
		gid_t gid = uid;
		if (uid != geteuid() && (setgroups(1, &gid) < 0 || setresgid(gid, gid, gid) < 0 ||
					 setresuid(uid, uid, uid) < 0))
			_exit(3);
		_exit(connect_as_engine());
	}
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	cr_assert(eq(int, status, 0), "uid %u", uid);
}

Test(succession, another_process_than_the_engine_cannot_return)
{
	service_prepare(&service, "double");
	service_start(&service, NULL);
	struct client first = open_known_client();
	end_service(SIGKILL);
	service_start(&service, NULL);
	/* The service waits for that engine. Meanwhile other processes connect: one of its user,
	 * and, in a service for all users, one of another user. */
	connect_as_user(geteuid());
	if (geteuid() == 0)
		connect_as_user(NOBODY);
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
Test(succession, output_of_an_engine_that_returned_is_logged_again)
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

enum { ENGINES = 8 };

/* Returns how often the file of engines was replaced. Equal events in a row would be one: between
 * them the new file is created. */
static unsigned count_writes(int watch)
{
	char bytes[8192] __attribute__((aligned(8)));
	unsigned writes = 0;
	ssize_t count;
	while ((count = read(watch, bytes, sizeof(bytes))) > 0)
		for (ssize_t at = 0; at < count;) {
			const struct inotify_event *event =
				(const struct inotify_event *)(void *)(bytes + at);
			writes += event->mask & IN_MOVED_TO && !strcmp(event->name, "engines");
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	return writes;
}

static bool have_all_ended(void *unused)
{
	(void)unused;
	return service_log_count(&service, "by signal 9") >= ENGINES;
}

/* The service is stopped while they end, so it finds all ends in one turn of its loop. */
Test(succession, the_file_is_written_once_for_engines_that_end_together)
{
	char path[PATH_MAX];
	struct client clients[ENGINES];
	service_prepare(&service, "returns");
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path, "[isolation]\nisolation = session\n");
	const char *options[] = {"--config", path, NULL};
	service_start(&service, options);
	for (int i = 0; i < ENGINES; i++)
		clients[i] = open_known_client();
	CLEANUP(close_fd) int watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	cr_assert(ge(int, inotify_add_watch(watch, service.runtime, IN_CREATE | IN_MOVED_TO), 0));
	cr_assert(eq(int, kill(service.pid, SIGSTOP), 0));
	for (int i = 0; i < ENGINES; i++) {
		CLEANUP(close_fd) int engine = pidfd_open((pid_t)clients[i].engine, 0);
		struct pollfd ended = {.fd = engine, .events = POLLIN};
		cr_assert(eq(int, kill((pid_t)clients[i].engine, SIGKILL), 0));
		cr_assert(eq(int, poll(&ended, 1, -1), 1));
	}
	cr_assert(eq(int, kill(service.pid, SIGCONT), 0));
	cr_assert(wait_until(have_all_ended, NULL));
	unsigned writes = count_writes(watch);
	cr_expect(lt(uint, writes, (unsigned)ENGINES));
	for (int i = 0; i < ENGINES; i++)
		close_fd(&clients[i].socket);
	cr_assert(eq(int, service_stop(&service), 0));
}
