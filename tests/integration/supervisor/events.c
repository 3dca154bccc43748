/* `syclctl events`: what happened and for which user, and events as they come. */
#include "supervisor/harness.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 1 << 16 };

static struct service service;

static void prepare_events(void)
{
	service_prepare(&service, "double");
	service_start(&service, NULL);
}

static void clean_events(void)
{
	service_free(&service);
}

TestSuite(supervisor_events, .init = prepare_events, .fini = clean_events, .timeout = 60);

static struct outcome events(const char *option)
{
	const char *arguments[] = {SYCLCTL_PROGRAM,
				   "--runtime-dir",
				   service.runtime,
				   "events",
				   "--once",
				   option,
				   NULL};
	return run_program(0, arguments);
}

static bool has_event(void *words)
{
	struct outcome outcome = events(NULL);
	bool has = outcome.status == 0 && strstr(outcome.out, words);
	outcome_free(&outcome);
	return has;
}

static void must_come(const char *words)
{
	cr_expect(wait_until(has_event, (char *)(uintptr_t)words), "%s", words);
}

static void service_events_give_order(const char *a, const char *b, const char *c)
{
	const char *arguments[] = {
		SYCLCTL_PROGRAM, "--runtime-dir", service.runtime, a, b, c, NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_assert(zero(int, outcome.status), "%s: %s", a, outcome.error);
	outcome_free(&outcome);
}

Test(supervisor_events, engines_sessions_orders_and_faults_are_events)
{
	int socket = -1;
	char blamed[96];
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	must_come(" engine-started  ");
	must_come("  started pid ");
	(void)snprintf(blamed, sizeof(blamed), "session-opened  %-14s  1 open: pid ",
		       own_user_text());
	must_come(blamed);
	service_events_give_order("limit", "builds=3", "--all");
	(void)snprintf(blamed, sizeof(blamed), "order           %-14s  uid %u", "-", geteuid());
	must_come(blamed);
	must_come("limit builds=3 for everybody");
	cr_assert(gt(long, (long)send(socket, "crash", strlen("crash"), MSG_NOSIGNAL), 0));
	must_come("fault           ");
	(void)snprintf(blamed, sizeof(blamed),
		       " of uid %u: offender: 'doomed_kernel', group 40 of session 1", geteuid());
	must_come(blamed);
	must_come("engine-ended    ");
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool has_two_spills(void *unused)
{
	struct outcome outcome = events(NULL);
	const char *first = strstr(outcome.out, "cuda:1 is full");
	bool has = first && strstr(first + 1, "cuda:1 is full");
	(void)unused;
	outcome_free(&outcome);
	return has;
}

/* The second report of "spill" names no device, and session 99 is no session of the engine. */
Test(supervisor_events, TG15_spills_are_events)
{
	int socket = -1;
	char line[200];
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(gt(long, (long)send(socket, "spill 1", 7, MSG_NOSIGNAL), 0));
	(void)snprintf(line, sizeof(line), "spill           %-14s  pid ", own_user_text());
	must_come(line);
	(void)snprintf(
		line, sizeof(line),
		" of uid %u: cuda:1 is full: 12 times memory was spilled to the host, 3.0 MiB "
		"so far; 5 times it came back, 1.0 MiB",
		geteuid());
	must_come(line);
	cr_assert(gt(long, (long)send(socket, "spill 99", 8, MSG_NOSIGNAL), 0));
	cr_expect(wait_until(has_two_spills, NULL));
	struct outcome outcome = events("--json");
	cr_expect(ne(ptr, strstr(outcome.out, "\"session\":1,"), NULL), "%s", outcome.out);
	cr_expect(eq(ptr, strstr(outcome.out, "\"session\":99"), NULL), "%s", outcome.out);
	cr_expect(eq(ptr, strstr(outcome.out, "cuda:4294967295"), NULL), "%s", outcome.out);
	outcome_free(&outcome);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Returns the first line with these words, as JSON. */
static json_t *event_with(const char *text, const char *words)
{
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t length = strcspn(line, "\n");
		json_t *event = json_loadb(line, length, 0, NULL);
		cr_assert(ne(ptr, event, NULL), "a line is no JSON: %s", line);
		if (memmem(line, length, words, strlen(words)))
			return event;
		json_decref(event);
	}
	cr_assert(false, "no event has %s", words);
	return NULL;
}

static void must_be(const json_t *event, const char *key, const char *value)
{
	cr_expect_str_eq(json_string_value(json_object_get(event, key)), value);
}

Test(supervisor_events, each_line_of_json_is_one_event_with_its_fields)
{
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(gt(long, (long)send(socket, "crash", strlen("crash"), MSG_NOSIGNAL), 0));
	must_come("offender: ");
	struct outcome outcome = events("--json");
	cr_assert(zero(int, outcome.status), "%s", outcome.error);
	json_t *fault = event_with(outcome.out, "offender");
	must_be(fault, "kind", "fault");
	must_be(fault, "kernel", "doomed_kernel");
	cr_expect(eq(long, (long)json_integer_value(json_object_get(fault, "session")), 1));
	cr_expect(
		eq(long, (long)json_integer_value(json_object_get(fault, "uid")), (long)geteuid()));
	json_decref(fault);
	json_t *started = event_with(outcome.out, "engine-started");
	cr_expect(json_is_null(json_object_get(started, "session")));
	cr_expect(json_is_null(json_object_get(started, "kernel")));
	json_decref(started);
	outcome_free(&outcome);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Reads until the words have arrived. */
static void read_until(int fd, const char *words)
{
	static char text[OUTPUT_BYTES];
	static size_t used;
	while (!strstr(text, words)) {
		struct pollfd asked = {.fd = fd, .events = POLLIN};
		cr_assert(eq(int, poll(&asked, 1, HARNESS_DEADLINE_MS), 1), "%s is not in: %s",
			  words, text);
		ssize_t count = read(fd, text + used, sizeof(text) - used - 1);
		cr_assert(gt(long, (long)count, 0), "%s", text);
		used += (size_t)count;
		text[used] = '\0';
	}
}

Test(supervisor_events, events_are_followed_as_they_come_and_over_a_restart)
{
	int pair[2];
	cr_assert(zero(int, pipe2(pair, O_CLOEXEC)));
	service_events_give_order("limit", "builds=3", "--all");
	pid_t pid = fork();
	if (pid == 0) {
		(void)dup2(pair[1], STDOUT_FILENO);
		(void)execl(SYCLCTL_PROGRAM, SYCLCTL_PROGRAM, "--runtime-dir", service.runtime,
			    "events", (char *)NULL);
		_exit(127);
	}
	close_fd(&pair[1]);
	read_until(pair[0], "builds=3");
	service_events_give_order("limit", "builds=4", "--all");
	read_until(pair[0], "builds=4");
	(void)kill(service.pid, SIGTERM);
	(void)service_wait(&service);
	service_start(&service, NULL);
	service_events_give_order("limit", "builds=5", "--all");
	read_until(pair[0], "builds=5");
	(void)kill(pid, SIGTERM);
	(void)waitpid(pid, NULL, 0);
	close_fd(&pair[0]);
	cr_assert(eq(int, service_stop(&service), 0));
}
