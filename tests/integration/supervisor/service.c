/* sycld itself: how it starts and stops, its configuration and its folder. */
#include "supervisor/harness.h"

#include "cleanup.h"
#include "packet_socket.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct service service;

static void prepare_service(void)
{
	service_prepare(&service, "double");
}

static void clean_service(void)
{
	service_free(&service);
}

TestSuite(service, .init = prepare_service, .fini = clean_service, .timeout = 60);

static bool is_file(const char *name)
{
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/%s", service.runtime, name);
	return access(path, F_OK) == 0;
}

static bool no_sessions(void *context)
{
	(void)context;
	return ctl_session_count(&service) == 0;
}

Test(service, serves_a_session_and_forgets_it_when_it_ends)
{
	service_start(&service, NULL);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(eq(int, ctl_session_count(&service), 1));
	close_fd(&socket);
	cr_assert(wait_until(no_sessions, NULL));
	cr_assert(eq(int, service_stop(&service), 0));
}

/* The reader of its standard error pauses. Here it never reads at all, and the pipe is full from
 * the first line on. */
Test(service, a_reader_of_the_log_that_pauses_delays_no_one)
{
	char block[4096] = "";
	cr_assert(eq(int, mkfifo(service.log, 0666), 0));
	CLEANUP(close_fd) int reader = open(service.log, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	cr_assert(ge(int, reader, 0));
	service_start(&service, NULL);
	while (write(reader, block, sizeof(block)) > 0)
		continue;
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(eq(int, ctl_session_count(&service), 1));
	close_fd(&socket);
	cr_assert(wait_until(no_sessions, NULL));
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(service, the_engine_gets_a_clean_environment_and_no_foreign_descriptor)
{
	(void)setenv("SECRET_TOKEN", "1", 1);
	(void)setenv("LD_LIBRARY_PATH", "/nowhere", 1);
	(void)setenv("POCL_DEVICES", "none", 1);
	int stray = open("/dev/null", O_RDONLY);
	cr_assert(gt(int, stray, 2));
	service_start(&service, NULL);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(eq(ptr, strstr(facts, "SECRET_TOKEN"), NULL));
	cr_assert(eq(ptr, strstr(facts, "LD_LIBRARY_PATH"), NULL));
	cr_assert(eq(ptr, strstr(facts, "NOTIFY_SOCKET"), NULL));
	cr_assert(ne(ptr, strstr(facts, "POCL_DEVICES"), NULL));
	cr_assert(ne(ptr, strstr(facts, "fds=0,1,2,3,"), NULL));
	cr_assert(eq(str, strstr(facts, "fds=") + strlen("fds=0,1,2,3,"), ""));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* The variables of PoCL are passed on, however many there are. */
Test(service, the_engine_starts_with_many_variables)
{
	enum { VARIABLES = 100 };
	char name[32], last[40];
	for (int i = 1; i <= VARIABLES; i++) {
		(void)snprintf(name, sizeof(name), "POCL_TEST_%d", i);
		cr_assert(zero(int, setenv(name, "1", 1)));
	}
	(void)snprintf(last, sizeof(last), "%s,", name);
	service_start(&service, NULL);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(ne(ptr, strstr(facts, last), NULL));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(service, terminates_cleanly_and_takes_its_engine_along)
{
	service_start(&service, NULL);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	pid_t engine = (pid_t)fact(facts, "pid=");
	(void)kill(service.pid, SIGTERM);
	cr_assert(service_wait_notify(&service, "STOPPING=1"));
	/* New sessions are refused, while the open session may end in its own time. */
	int late = -1;
	cr_assert(eq(int, packet_socket_connect(service.session, &late), -ENOENT));
	cr_assert(eq(int, kill(service.pid, 0), 0));
	close_fd(&socket);
	int status = service_wait(&service);
	cr_assert(eq(int, status, 0));
	cr_assert(eq(int, kill(engine, 0), -1));
	cr_assert(not(is_file("session.sock")));
	cr_assert(not(is_file("status.sock")));
	cr_assert(not(is_file("admin.sock")));
}

Test(service, sessions_that_do_not_end_are_ended_within_the_bound)
{
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/c", service.folder);
	write_file(path, "[service]\ndrain_seconds = 1\n");
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(eq(int, service_stop(&service), 0));
	Sycl__V1__Packet *packet = client_receive(socket);
	cr_assert(eq(ptr, packet, NULL), "the session has hung up");
	close_fd(&socket);
}

Test(service, engines_are_left_to_their_sessions_where_that_is_configured)
{
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/c", service.folder);
	write_file(path, "[service]\nengines_at_stop = leave\n");
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(eq(int, service_stop(&service), 0));
	cr_assert(eq(long, send(socket, "ping", 4, MSG_NOSIGNAL), 4));
	Sycl__V1__Packet *packet = client_receive(socket);
	cr_assert(ne(ptr, packet, NULL));
	cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_WAKE));
	packet_free(packet);
	close_fd(&socket);
}

/* Calls exec with a descriptor, as the service manager passes it. */
static void launch_activated(int listener)
{
	service.pid = fork();
	cr_assert(ge(int, service.pid, 0));
	if (service.pid)
		return;
	char number[32];
	(void)snprintf(number, sizeof(number), "%ld", (long)getpid());
	(void)setenv("LISTEN_PID", number, 1);
	(void)setenv("LISTEN_FDS", "1", 1);
	(void)setenv("NOTIFY_SOCKET", service.notify, 1);
	(void)setenv("WATCHDOG_USEC", "200000", 1);
	(void)setenv("HOME", service.folder, 1);
	(void)unsetenv("WATCHDOG_PID");
	if (dup2(listener, 3) < 0 || (listener == 3 && fcntl(3, F_SETFD, 0) < 0))
		_exit(126);
	(void)execl(SYCLD_PROGRAM, SYCLD_PROGRAM, "--runtime-dir", service.runtime, "--engine",
		    service.engine, (char *)NULL);
	_exit(127);
}

Test(service, socket_activation_and_notifications)
{
	cr_assert(eq(int, mkdir(service.runtime, 0755), 0));
	int listener = -1;
	cr_assert(eq(int, packet_socket_listen(service.session, 0666, 16, &listener), 0));
	/* The client waits in the queue before there is a service, as with a socket unit. */
	int early = client_connect(&service);
	cr_assert(ge(int, early, 0));
	launch_activated(listener);
	cr_assert(service_wait_ready(&service));
	Sycl__V1__Packet *packet = client_receive(early);
	cr_assert(ne(ptr, packet, NULL));
	cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_WELCOME));
	packet_free(packet);
	cr_assert(service_wait_notify(&service, "STATUS=sessions: 1, engines: 1"));
	cr_assert(service_wait_notify(&service, "WATCHDOG=1"));
	cr_assert(service_wait_notify(&service, "WATCHDOG=1"));
	close_fd(&early);
	(void)kill(service.pid, SIGTERM);
	cr_assert(service_wait_notify(&service, "STOPPING=1"));
	cr_assert(eq(int, service_wait(&service), 0));
	/* The socket is the manager's: it stays, and takes the next connections. */
	cr_assert(is_file("session.sock"));
	int late = client_connect(&service);
	cr_assert(ge(int, late, 0));
	close_fd(&late);
	close_fd(&listener);
}

Test(service, refuses_a_passed_descriptor_that_is_no_listening_socket)
{
	const char *arguments[] = {"--listen-fd", "2", NULL};
	service_launch(&service, arguments);
	int status = service_wait(&service);
	cr_assert(eq(int, WEXITSTATUS(status), 2));
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	service.pid = fork();
	cr_assert(ge(int, service.pid, 0));
	if (service.pid == 0) {
		(void)dup2(null, 7);
		(void)execl(SYCLD_PROGRAM, SYCLD_PROGRAM, "--runtime-dir", service.runtime,
			    "--listen-fd", "7", (char *)NULL);
		_exit(127);
	}
	status = service_wait(&service);
	cr_assert(eq(int, WEXITSTATUS(status), 1));
	close_fd(&null);
}

Test(service, of_ten_started_at_once_one_serves)
{
	enum { STARTERS = 10 };
	pid_t pids[STARTERS];
	for (int i = 0; i < STARTERS; i++) {
		service_launch(&service, NULL);
		pids[i] = service.pid;
	}
	service.pid = 0;
	cr_assert(service_wait_ready(&service));
	int busy = 0;
	for (int i = 0; i < STARTERS - 1; i++) {
		int status = 0;
		pid_t ended = wait(&status);
		cr_assert(gt(int, ended, 0));
		busy += WIFEXITED(status) && WEXITSTATUS(status) == 75;
		for (int p = 0; p < STARTERS; p++)
			if (pids[p] == ended)
				pids[p] = 0;
	}
	cr_assert(eq(int, busy, STARTERS - 1));
	for (int p = 0; p < STARTERS; p++)
		if (pids[p])
			service.pid = pids[p];
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	json_t *status = ctl_json(&service, "status");
	cr_assert(ne(ptr, status, NULL));
	cr_assert(eq(
		int,
		(int)json_integer_value(json_object_get(json_object_get(status, "service"), "pid")),
		service.pid));
	json_decref(status);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(service, a_switch_that_is_neither_0_nor_1_is_warned_of)
{
	cr_assert(zero(int, setenv("SYCLD_WINDOW", "off\033[2J", 1)));
	cr_assert(zero(int, setenv("SYCLD_INLINE", "0", 1)));
	cr_assert(zero(int, setenv("SYCLD_SPILL", "yes", 1)));
	service_start(&service, NULL);
	cr_expect(eq(u32,
		     service_log_count(
			     &service,
			     "SYCLD_WINDOW is neither 0 nor 1 in the environment: it stays on"),
		     1));
	cr_expect(eq(u32,
		     service_log_count(
			     &service,
			     "SYCLD_SPILL is neither 0 nor 1 in the environment: it stays off"),
		     1));
	cr_expect(zero(u32, service_log_count(&service, "SYCLD_INLINE is neither")));
	cr_expect(zero(u32, service_log_count(&service, "\033")));
	cr_assert(zero(int, service_stop(&service)));
}

/* The library's steps to start a service: lock, bind, pass both on, detach the child. */
static int start_detached(int lock, int listener)
{
	pid_t pid = fork();
	cr_assert(ge(int, pid, 0));
	if (pid == 0) {
		int high_lock = fcntl(lock, F_DUPFD, 100);
		int high_listener = fcntl(listener, F_DUPFD, 100);
		(void)setenv("HOME", service.folder, 1);
		(void)setenv("SYCLD_DEBUG", "*:debug", 1);
		(void)unsetenv("NOTIFY_SOCKET");
		if (dup2(high_listener, 3) < 0 || dup2(high_lock, 4) < 0)
			_exit(126);
		(void)execl(SYCLD_PROGRAM, SYCLD_PROGRAM, "--user", "--runtime-dir",
			    service.runtime, "--engine", service.engine, "--listen-fd", "3",
			    "--detach", "--exit-idle", "1", (char *)NULL);
		_exit(127);
	}
	int status = 0;
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	return status;
}

static bool lock_is_free(void *context)
{
	const char *path = context;
	CLEANUP(close_fd) int fd = open(path, O_RDWR | O_CLOEXEC);
	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

Test(service, detached_it_holds_the_lock_serves_and_ends_when_idle)
{
	cr_assert(eq(int, mkdir(service.runtime, 0700), 0));
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/lock", service.runtime);
	int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert(eq(int, flock(lock, LOCK_EX | LOCK_NB), 0));
	int listener = -1;
	cr_assert(eq(int, packet_socket_listen(service.session, 0600, 16, &listener), 0));
	cr_assert(eq(int, start_detached(lock, listener), 0));
	close_fd(&lock);
	close_fd(&listener);
	cr_assert(not(lock_is_free(path)), "the service holds the lock that it was given");

	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	json_t *status = ctl_json(&service, "status");
	cr_assert(ne(ptr, status, NULL));
	const char *mode =
		json_string_value(json_object_get(json_object_get(status, "service"), "mode"));
	cr_assert(eq(str, (char *)(uintptr_t)mode, "user"));
	json_decref(status);
	cr_assert(is_file("sycld.log"));
	cr_assert(not(lock_is_free(path)), "a session keeps it");
	close_fd(&socket);
	cr_assert(wait_until(lock_is_free, path));
	cr_assert(not(is_file("session.sock")));
	cr_assert(not(is_file("status.sock")));
}

Test(service, a_killed_one_leaves_engines_and_sessions_and_the_next_one_starts)
{
	service_start(&service, NULL);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	(void)kill(service.pid, SIGKILL);
	int status = service_wait(&service);
	cr_assert(eq(int, WTERMSIG(status), SIGKILL));
	/* The session still gets answers. */
	for (int i = 0; i < 3; i++) {
		cr_assert(eq(long, send(socket, "ping", 4, MSG_NOSIGNAL), 4));
		Sycl__V1__Packet *packet = client_receive(socket);
		cr_assert(ne(ptr, packet, NULL));
		cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_WAKE));
		packet_free(packet);
	}
	service_start(&service, NULL);
	int second = -1;
	CLEANUP(free_pointer) char *other = client_open(&service, &second);
	cr_assert(ne(ptr, other, NULL));
	cr_assert(ne(long, fact(other, "pid="), fact(facts, "pid=")));
	close_fd(&second);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(service, configuration_errors_name_file_and_line)
{
	static const struct {
		const char *text;
		const char *line;
		const char *what;
	} cases[] = {
		{"[service]\nengine_idle_seconds = soon\n", ":2: ", "engine_idle_seconds needs"},
		{"\n\n[server]\nengines = 1\n", ":4: ", "no such section"},
		{"[service]\nengine = 1\n", ":2: ", "no such key"},
		{"[limits]\nbuffer_bytes = 1X\n", ":2: ", "buffer_bytes needs"},
		{"[limits]\nobjects = 1\nobjects = 2\n", ":3: ", "twice"},
		{"[limits]\nspeed = 1\n", ":2: ", "no such limit"},
		{"[isolation]\nisolation = process\n", ":2: ", "tenant or session"},
		{"[isolation]\nfilter = none\n",
		 ":2: ", "filter needs strict, full or basic, not 'none'"},
		{"[service]\nunknown_users = yes\n",
		 ":2: ", "unknown_users needs share or refuse, not 'yes'"},
		{"engines = 1\n", ":1: ", "before the first"},
		{"[shares]\nmode = alternating\n",
		 ":2: ", "needs concurrent or exclusive, not 'alternating'"},
		{"[shares]\nmode = exclusive\nmode = exclusive\n", ":3: ", "mode: is given twice"},
		{"[shares]\ndefault = 20-10\n", ":2: ", "needs MIN or MIN-MAX"},
		{"[shares]\ndefault = 0-0\n", ":2: ", "needs MIN or MIN-MAX"},
		{"[shares]\ndefault = 101\n", ":2: ", "not '101'"},
		{"[shares]\ndefault = 10-\n", ":2: ", "not '10-'"},
		{"[shares]\ndefault = -10\n", ":2: ", "not '-10'"},
		{"[shares]\ndefault = 1\n\ndefault = 1\n", ":4: ", "twice"},
		{"[shares]\nuid.x = 1\n", ":2: ", "is none of"},
		{"[shares]\nuser. = 1\n", ":2: ", "is none of"},
		{"[shares]\nroot = 1\n", ":2: ", "is none of"},
		{"[shares]\nuid.7 = 1\nuser.u = 1\nuid.07 = 1\n", ":4: ", "twice"},
		{"[shares]\ngroup.g = 1\nuser.g = 1\ngroup.g = 1\n", ":4: ", "twice"},
		{"[service]\nwhat is this\n", ":2: ", "neither"},
	};
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/bad.conf", service.folder);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		write_file(path, cases[i].text);
		const char *arguments[] = {
			SYCLD_PROGRAM, "--runtime-dir", service.runtime, "--config", path, NULL};
		struct outcome outcome = run_program(0, arguments);
		char where[HARNESS_PATH_BYTES * 3];
		(void)snprintf(where, sizeof(where), "%s%s", path, cases[i].line);
		cr_assert(eq(int, outcome.status, 78), "case %zu", i);
		cr_assert(ne(ptr, strstr(outcome.error, where), NULL), "case %zu: %s", i,
			  outcome.error);
		cr_assert(ne(ptr, strstr(outcome.error, cases[i].what), NULL), "case %zu: %s", i,
			  outcome.error);
		outcome_free(&outcome);
	}
	const char *missing[] = {SYCLD_PROGRAM, "--runtime-dir", service.runtime,
				 "--config",    "/nonexistent",  NULL};
	struct outcome outcome = run_program(0, missing);
	cr_assert(eq(int, outcome.status, 78));
	outcome_free(&outcome);
}

static bool was_read_again(void *context)
{
	return service_log_count(&service, context) > 0;
}

Test(service, reload_changes_limits_for_new_sessions_and_survives_nonsense)
{
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path, "[service]\nsessions_per_tenant = 1\n");
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
	int first = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &first);
	cr_assert(ne(ptr, facts, NULL));
	CLEANUP(free_pointer) char *refused = client_refused(&service);
	cr_assert(ne(ptr, refused, NULL));
	cr_assert(ne(ptr, strstr(refused, "as many sessions"), NULL), "%s", refused);

	write_file(path, "[service]\nsessions_per_tenant = none\n");
	(void)kill(service.pid, SIGHUP);
	cr_assert(
		wait_until(was_read_again, (void *)(uintptr_t) "the previous configuration stays"));
	CLEANUP(free_pointer) char *still = client_refused(&service);
	cr_assert(ne(ptr, still, NULL));

	write_file(path, "[service]\nsessions_per_tenant = 2\n");
	(void)kill(service.pid, SIGHUP);
	cr_assert(wait_until(was_read_again, (void *)(uintptr_t) "read again"));
	int second = -1;
	CLEANUP(free_pointer) char *other = client_open(&service, &second);
	cr_assert(ne(ptr, other, NULL));
	close_fd(&first);
	close_fd(&second);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Expects the exit status and error message of a service that must not start. */
static void must_refuse_folder(const char *why)
{
	const char *arguments[] = {SYCLD_PROGRAM, "--runtime-dir", service.runtime, NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_assert(eq(int, outcome.status, 1));
	cr_assert(ne(ptr, strstr(outcome.error, why), NULL), "%s", outcome.error);
	outcome_free(&outcome);
}

Test(service, refuses_a_folder_that_is_a_symbolic_link)
{
	char real[HARNESS_PATH_BYTES * 2];
	(void)snprintf(real, sizeof(real), "%s/real", service.folder);
	cr_assert(eq(int, mkdir(real, 0700), 0));
	cr_assert(eq(int, symlink(real, service.runtime), 0));
	must_refuse_folder("symbolic link");
}

Test(service, refuses_a_folder_that_others_can_write)
{
	cr_assert(eq(int, mkdir(service.runtime, 0700), 0));
	cr_assert(eq(int, chmod(service.runtime, 0777), 0));
	must_refuse_folder("writable for others");
	cr_assert(eq(int, chmod(service.runtime, 0700), 0));
	cr_assert(eq(int, chmod(service.folder, 0777), 0));
	must_refuse_folder("writable for others");
}

Test(service, does_not_replace_what_is_no_socket)
{
	cr_assert(eq(int, mkdir(service.runtime, 0700), 0));
	write_file(service.session, "precious");
	must_refuse_folder("cannot listen");
	cr_assert(is_file("session.sock"));
}

Test(service, wrong_usage_exits_2_and_help_0)
{
	const char *wrong[] = {SYCLD_PROGRAM, "--exit-idle", "never", NULL};
	struct outcome outcome = run_program(0, wrong);
	cr_assert(eq(int, outcome.status, 2));
	cr_assert(ne(ptr, strstr(outcome.error, "--exit-idle"), NULL));
	outcome_free(&outcome);
	static const char *const words[][2] = {
		{"--chekc", "'--chekc'. Did you mean '--check'?\n"},
		{"--colour", "'--colour'. Try 'sycld --help'.\n"},
		{"--config", "sycld: '--config' needs a value. Try"},
		{"--user=5", "sycld: '--user' takes no value. Try"},
		{"-xy", "no such option: '-x'. Try"},
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *unknown[] = {SYCLD_PROGRAM, words[i][0], NULL};
		outcome = run_program(0, unknown);
		cr_expect(eq(int, outcome.status, 2));
		cr_expect(ne(ptr, strstr(outcome.error, words[i][1]), NULL), "%s", outcome.error);
		outcome_free(&outcome);
	}
	const char *help[] = {SYCLD_PROGRAM, "--help", NULL};
	outcome = run_program(0, help);
	cr_assert(eq(int, outcome.status, 0));
	cr_assert(ne(ptr, strstr(outcome.out, "--listen-fd"), NULL));
	outcome_free(&outcome);
}

static bool names_were_sent(void *text)
{
	return service_log_count(&service, text) > 0;
}

/* Most likely the name is misspelt. It is reported at the start and at a reload, and is an error in
 * requests. */
Test(service, unknown_names_in_shares_are_reported)
{
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path,
		   "[shares]\nuser.root = 10\nuser.no-such-user = 10\ngroup.no-such-group = 5\n");
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
	cr_assert(
		wait_until(names_were_sent,
			   (char *)(uintptr_t) "no share: user.no-such-user, group.no-such-group"));
	write_file(path, "[shares]\nuser.nor-this-one = 10\n");
	cr_assert(eq(int, kill(service.pid, SIGHUP), 0));
	cr_assert(wait_until(names_were_sent, (char *)(uintptr_t) "no share: user.nor-this-one"));
	const char *check[] = {SYCLD_PROGRAM, "--check-config", "--config", path, NULL};
	struct outcome outcome = run_program(0, check);
	cr_expect(eq(int, outcome.status, 78));
	cr_expect(
		ne(ptr, strstr(outcome.error, "not in the user database: user.nor-this-one"), NULL),
		"%s", outcome.error);
	outcome_free(&outcome);
	write_file(path, "[shares]\nuser.root = 10\nuid.4000000000 = 5\n");
	outcome = run_program(0, check);
	cr_expect(zero(int, outcome.status), "%s", outcome.error);
	outcome_free(&outcome);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	close_fd(&socket);
	cr_expect(zero(uint, service_log_count(&service, "cannot be looked up")),
		  "nothing is wrong with who is known");
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool can_have_namespaces(void)
{
	pid_t pid = fork();
	int status = 1;
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) < 0);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* In that namespace all users have one uid, also the one of this test. */
Test(service, a_user_outside_its_user_namespace_is_refused)
{
	if (!can_have_namespaces())
		cr_skip_test("there are no user namespaces here");
	service.in_namespace = true;
	service_start(&service, NULL);
	CLEANUP(free_pointer) char *why = client_refused(&service);
	cr_assert(ne(ptr, why, NULL), "somebody was served");
	cr_expect(ne(ptr, strstr(why, "stands for every user"), NULL), "%s", why);
	cr_assert(eq(int, service_stop(&service), 0));
}
