/*
 * An engine whose user got other devices keeps its sessions and gets no new ones, also under the
 * next service. An engine with its user's devices keeps getting them.
 */
#include "supervisor/harness.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct service service;
static char path[HARNESS_PATH_BYTES * 2];

static void prepare_retired(void)
{
	service_prepare(&service, "returns");
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
}

static void clean_retired(void)
{
	service_free(&service);
}

TestSuite(supervisor_retired, .init = prepare_retired, .fini = clean_retired, .timeout = 60);

static void configure(const char *devices)
{
	char text[128];
	(void)snprintf(text, sizeof(text), "[uid %lu]\n%s%s\n", (unsigned long)geteuid(),
		       devices ? "devices = " : "", devices ? devices : "");
	write_file(path, text);
}

static void retired_start(void)
{
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
}

/* The next service begins as after a crash: the last one has had no time to write anything. */
static void restart(void)
{
	(void)kill(service.pid, SIGKILL);
	(void)service_wait(&service);
	retired_start();
}

/* Returns the number of the session's engine. */
static long open_session(int *socket_out)
{
	CLEANUP(free_pointer) char *facts = client_open(&service, socket_out);
	cr_assert(ne(ptr, facts, NULL));
	return fact(facts, "pid=");
}

static void must_answer(int socket)
{
	cr_assert(eq(long, send(socket, "ping", 4, MSG_NOSIGNAL), 4));
	Sycl__V1__Packet *packet = client_receive(socket);
	cr_assert(ne(ptr, packet, NULL));
	packet_free(packet);
}

static bool was_left(void *unused)
{
	(void)unused;
	return service_log_count(&service, "takes no new sessions") > 0;
}

static bool retired_is_back(void *unused)
{
	(void)unused;
	return service_log_count(&service, "is back; sessions: 1") > 0;
}

static void must_say(const char *a, const char *b, const char *c, const char *text)
{
	const char *arguments[] = {
		SYCLCTL_PROGRAM, a, "--runtime-dir", service.runtime, b, c, NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_assert(zero(int, outcome.status), "%s: %s", a, outcome.error);
	cr_expect(ne(ptr, strstr(outcome.out, text), NULL), "no '%s' in: %s", text, outcome.out);
	outcome_free(&outcome);
}

/* Only this engine has a device. */
static void must_be_shown_as_retired(void)
{
	json_t *status = ctl_json(&service, "status");
	cr_expect(json_is_true(
		json_object_get(json_array_get(json_object_get(status, "devices"), 0), "retired")));
	json_decref(status);
	must_say("status", NULL, NULL, "health: healthy; 1 engine gets no new sessions\n");
	must_say("status", NULL, NULL, "gets no new sessions: its user got other devices\n");
	must_say("devices", NULL, NULL, "only engines that get no new sessions have it\n");
}

static void must_show(long engine, const char *state)
{
	json_t *status = ctl_json(&service, "status"), *row;
	size_t i;
	bool is_shown = false;
	json_array_foreach(json_object_get(status, "tenants"), i, row)
	{
		if (json_integer_value(json_object_get(row, "engine_pid")) != engine)
			continue;
		is_shown = true;
		cr_expect(eq(str,
			     (char *)(uintptr_t)json_string_value(json_object_get(row, "state")),
			     (char *)(uintptr_t)state));
		cr_expect(eq(long, (long)json_integer_value(json_object_get(row, "sessions")), 1));
		const char *why = json_string_value(json_object_get(row, "retired"));
		cr_expect(eq(str, (char *)(uintptr_t)(why ? why : "none"),
			     (char *)(uintptr_t) "devices"));
	}
	cr_expect(is_shown, "no engine %ld", engine);
	json_decref(status);
}

/* The first engine was started with `before`; the user has `after` when the service ends. */
static void new_session_must_get_another_engine(const char *before, const char *after)
{
	int old = -1, new = -1;
	configure(before);
	retired_start();
	long engine = open_session(&old);
	json_decref(ctl_json(&service, "devices")); /* it lists its devices */
	configure(after);
	cr_assert(zero(int, kill(service.pid, SIGHUP)));
	cr_assert(wait_until(was_left, NULL));
	must_show(engine, "ready");
	must_be_shown_as_retired();
	restart();
	cr_assert(wait_until(retired_is_back, NULL));
	must_show(engine, "ready");
	cr_expect(ne(long, open_session(&new), engine));
	must_answer(old);
	close_fd(&old);
	close_fd(&new);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(supervisor_retired, an_engine_with_devices_that_were_taken_back_gets_no_session_afterwards)
{
	new_session_must_get_another_engine(NULL, "cuda:0");
}

Test(supervisor_retired, an_engine_with_other_devices_gets_no_session_afterwards)
{
	new_session_must_get_another_engine("cuda:1", "cuda:0");
}

Test(supervisor_retired, an_engine_with_fewer_devices_gets_no_session_afterwards)
{
	new_session_must_get_another_engine("cuda:1", NULL);
}

/* The configuration has changed between the two services. */
Test(supervisor_retired, an_engine_is_left_if_the_next_service_gives_its_user_other_devices)
{
	int old = -1, new = -1;
	configure("cuda:1");
	retired_start();
	long engine = open_session(&old);
	configure(NULL);
	restart();
	cr_assert(wait_until(was_left, NULL));
	cr_expect(ne(long, open_session(&new), engine));
	must_answer(old);
	close_fd(&old);
	close_fd(&new);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(supervisor_retired, an_engine_with_its_users_devices_gets_sessions_under_the_next_service)
{
	int old = -1, new = -1;
	configure("cuda:1");
	retired_start();
	long engine = open_session(&old);
	restart();
	cr_expect(eq(long, open_session(&new), engine));
	cr_expect(zero(uint, service_log_count(&service, "takes no new sessions")));
	must_answer(old);
	close_fd(&old);
	close_fd(&new);
	cr_assert(eq(int, service_stop(&service), 0));
}
