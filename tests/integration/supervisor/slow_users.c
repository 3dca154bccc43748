/*
 * A user database that does not answer, which can happen if it is on a network. A user whose lookup
 * hangs waits, and nothing else does. Here this user is looked up because [shares] has a name in
 * it.
 */
#include "supervisor/harness.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct service service;
static char gate[HARNESS_PATH_BYTES * 2];

static void clean_slow_users(void)
{
	service_free(&service);
}

TestSuite(slow_users, .fini = clean_slow_users, .timeout = 60);

static void start_slow_with(const char *configuration)
{
	char path[HARNESS_PATH_BYTES * 2];
	service_prepare(&service, "double");
	(void)snprintf(gate, sizeof(gate), "%s/gate", service.folder);
	cr_assert(eq(int, mkfifo(gate, 0666), 0));
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path, configuration);
	const char *arguments[] = {"--config", path, NULL};
	service_start_slow(&service, arguments, SLOW_USER_DATABASE, geteuid(), gate);
}

/* From now on the database answers. */
static int let_it_answer(void)
{
	int fd = open(gate, O_RDWR | O_CLOEXEC);
	cr_assert(ge(int, fd, 0));
	return fd;
}

/* Returns the order for the only session, which the caller drops. */
static json_t *only_session(void)
{
	json_t *status = ctl_json(&service, "status");
	cr_assert(ne(ptr, status, NULL), "nobody answers");
	json_t *sessions = json_object_get(status, "sessions");
	cr_assert(eq(sz, json_array_size(sessions), 1u));
	json_t *session = json_incref(json_array_get(sessions, 0));
	json_decref(status);
	return session;
}

static bool one_waits(void *unused)
{
	(void)unused;
	return ctl_session_count(&service) == 1;
}

static bool none_is_there(void *unused)
{
	(void)unused;
	return ctl_session_count(&service) == 0;
}

static int connect_and_wait(void)
{
	int socket = client_connect(&service);
	cr_assert(ge(int, socket, 0));
	cr_assert(wait_until(one_waits, NULL));
	return socket;
}

static char *refusal_of(int socket)
{
	Sycl__V1__Packet *packet = client_receive(socket);
	char *text = packet && packet->body_case == SYCL__V1__PACKET__BODY_ERROR
			     ? strdup(packet->error->text)
			     : strdup("");
	packet_free(packet);
	return text;
}

#define NAMED "[shares]\nuser.somebody = 10\n"

Test(slow_users, the_service_answers_while_a_lookup_of_a_user_waits)
{
	start_slow_with(NAMED);
	int socket = connect_and_wait();
	json_t *session = only_session();
	cr_expect(eq(str, (char *)(uintptr_t)json_string_value(json_object_get(session, "state")),
		     (char *)(uintptr_t) "waiting"));
	cr_expect(zero(long, (long)json_integer_value(json_object_get(session, "engine_pid"))),
		  "it has no engine yet");
	json_decref(session);
	CLEANUP(close_fd) __attribute__((unused)) int opened = let_it_answer();
	Sycl__V1__Packet *packet = client_receive(socket);
	cr_assert(ne(ptr, packet, NULL));
	cr_expect(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_WELCOME));
	packet_free(packet);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(slow_users, the_service_ends_while_the_user_database_does_not_answer)
{
	start_slow_with(NAMED);
	int socket = connect_and_wait();
	cr_assert(eq(int, service_stop(&service), 0));
	CLEANUP(free_pointer) char *why = refusal_of(socket);
	cr_expect(ne(ptr, strstr(why, "stopping"), NULL), "%s", why);
	close_fd(&socket);
}

Test(slow_users, a_session_that_waits_too_long_gets_the_reason)
{
	start_slow_with("[service]\nengine_start_seconds = 1\n" NAMED);
	int socket = client_connect(&service);
	CLEANUP(free_pointer) char *why = refusal_of(socket);
	cr_expect(ne(ptr, strstr(why, "user database does not answer"), NULL), "%s", why);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(slow_users, a_client_that_hangs_up_meanwhile_is_forgotten)
{
	start_slow_with(NAMED);
	int socket = connect_and_wait();
	close_fd(&socket);
	cr_assert(wait_until(none_is_there, NULL));
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(slow_users, an_operator_can_end_a_session_that_waits)
{
	char number[32];
	start_slow_with(NAMED);
	int socket = connect_and_wait();
	json_t *session = only_session();
	(void)snprintf(number, sizeof(number), "%lld",
		       (long long)json_integer_value(json_object_get(session, "id")));
	json_decref(session);
	const char *arguments[] = {SYCLCTL_PROGRAM, "kill",          number,
				   "--runtime-dir", service.runtime, NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_expect(zero(int, outcome.status), "%s", outcome.error);
	outcome_free(&outcome);
	CLEANUP(free_pointer) char *why = refusal_of(socket);
	cr_expect(ne(ptr, strstr(why, "ended by the operator"), NULL), "%s", why);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* A user that lists devices may never have connected before. */
Test(slow_users, devices_are_listed_once_the_user_is_known)
{
	start_slow_with(NAMED);
	CLEANUP(close_fd) __attribute__((unused)) int opened = let_it_answer();
	const char *arguments[] = {SYCLCTL_PROGRAM, "devices",       "--json",
				   "--runtime-dir", service.runtime, NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_expect(zero(int, outcome.status), "%s", outcome.error);
	cr_expect(gt(uint, service_log_count(&service, "engine: started pid"), 0u));
	outcome_free(&outcome);
	cr_assert(eq(int, service_stop(&service), 0));
}
