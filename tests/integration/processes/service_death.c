/* The supervisor is killed, and the library starts services by itself. */
#include "processes/common.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(processes_service_death, .timeout = 240);

/* A folder for services that the library starts by itself. The fixture handles it as a service that
 * this test did not start. */
struct autostart {
	struct private_service view;
	char folder[64], runtime_variable[96], cache_variable[96];
	const char *environment[3];
};

static void autostart_begin(struct autostart *a)
{
	if (access("/run/sycld/session.sock", F_OK) == 0)
		cr_skip_test("SKIPPED: a system service runs here, so the library starts none");
	*a = (struct autostart){.view = {.sycld = CHILD_INIT}, .folder = "/tmp/sycld-auto.XXXXXX"};
	cr_assert_not_null(mkdtemp(a->folder));
	(void)snprintf(a->runtime_variable, sizeof(a->runtime_variable), "XDG_RUNTIME_DIR=%s",
		       a->folder);
	(void)snprintf(a->cache_variable, sizeof(a->cache_variable), "XDG_CACHE_HOME=%s/cache",
		       a->folder);
	(void)snprintf(a->view.runtime, sizeof(a->view.runtime), "%.60s/sycld", a->folder);
	a->environment[0] = a->runtime_variable;
	a->environment[1] = a->cache_variable;
}

static pid_t autostart_pid(const struct autostart *a)
{
	json_t *status = private_service_status(&a->view);
	pid_t pid = (pid_t)json_integer_value(
		json_object_get(json_object_get(status, "service"), "pid"));
	json_decref(status);
	return pid;
}

static void autostart_end(const struct autostart *a)
{
	pid_t pid = autostart_pid(a);
	if (pid > 0) {
		(void)kill(pid, SIGTERM);
		cr_expect(wait_until(processes_gone, &pid, SOON),
			  "the service does not end at SIGTERM");
	}
	const char *argv[] = {"/bin/rm", "-rf", a->folder, NULL};
	struct child child = CHILD_INIT;
	if (child_start(argv, NULL, &child) == 0)
		(void)child_wait(&child, SOON);
	child_end(&child);
}

static void start_autostart_worker(struct child *worker, const struct autostart *a,
				   const char *command, const char *count)
{
	const char *const arguments[] = {"--count", count, NULL};
	worker_start_with(worker, a->environment, NULL, command, arguments);
}

Test(processes_service_death, N5_running_sessions_finish_and_new_ones_start_another_service)
{
	struct autostart a;
	autostart_begin(&a);
	struct child old = CHILD_INIT, new = CHILD_INIT;
	char line[LINE_BYTES];
	start_autostart_worker(&old, &a, "steps", "40");
	worker_expect(&old, "ready", line);
	pid_t first = autostart_pid(&a);
	cr_assert_gt(first, 0);
	cr_assert_eq(kill(first, SIGKILL), 0);
	cr_assert(wait_until(processes_gone, &first, SOON));

	start_autostart_worker(&new, &a, "mix", "60");
	worker_finish(&new);
	pid_t second = autostart_pid(&a);
	cr_expect_gt(second, 0);
	cr_expect_neq(second, first);
	cr_assert_eq(child_say(&old, "go on"), 0);
	worker_expect(&old, "done", line);
	worker_finish(&old);
	autostart_end(&a);
}

/* The socket's listener was the first of the two itself. So the kernel reports it as its own peer,
 * and yet the engine is another process. */
Test(processes_service_death, G14_who_started_the_service_has_the_usm_of_a_client)
{
	struct autostart a;
	autostart_begin(&a);
	for (int i = 0; i < 2; i++) {
		struct child worker = CHILD_INIT;
		start_autostart_worker(&worker, &a, "usm", "2");
		worker_finish(&worker);
	}
	autostart_end(&a);
}

Test(processes_service_death, ten_processes_that_start_together_start_one_service)
{
	enum { CLIENTS = 10 };
	struct autostart a;
	autostart_begin(&a);
	struct child workers[CLIENTS];
	char line[LINE_BYTES];
	for (int i = 0; i < CLIENTS; i++)
		start_autostart_worker(&workers[i], &a, "open", "1");
	for (int i = 0; i < CLIENTS; i++)
		worker_expect(&workers[i], "waiting", line);
	for (int i = 0; i < CLIENTS; i++)
		cr_assert_eq(child_say(&workers[i], "now"), 0);
	for (int i = 0; i < CLIENTS; i++)
		worker_expect(&workers[i], "worked", line);
	/* If two services had started, the one that status reaches would not have all sessions. */
	cr_expect_eq(private_service_sessions(&a.view), CLIENTS);
	for (int i = 0; i < CLIENTS; i++)
		worker_finish(&workers[i]);
	cr_expect(private_service_wait_sessions(&a.view, 0, SOON));
	autostart_end(&a);
}

Test(processes_service_death, a_service_that_is_not_there_is_an_error_at_once)
{
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start_with(&worker, NULL, "unix:/nonexistent/session.sock", "mix", NULL);
	cr_assert_eq(child_expect(&worker, "FAIL sycl_platform_open", line, sizeof(line), SOON), 0);
	cr_expect(strstr(line, "/nonexistent/session.sock"), "the socket is not named: %s", line);
	cr_assert_eq(child_wait(&worker, SOON), 1);
	child_end(&worker);
}
