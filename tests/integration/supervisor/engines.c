/* The supervisor with engines: correct ones, and ones that misbehave in each way that it must
 * survive. */
#include "supervisor/engines_fixture.h"

#include "cleanup.h"
#include "packet_socket.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void clean_engines(void)
{
	service_free(&service);
}

TestSuite(engines, .fini = clean_engines, .timeout = 60);

Test(engines, one_serves_all_sessions_of_a_tenant)
{
	start_engines_with("double", "");
	int sockets[8];
	long pid = 0;
	for (int i = 0; i < 8; i++) {
		CLEANUP(free_pointer) char *facts = client_open(&service, &sockets[i]);
		cr_assert(ne(ptr, facts, NULL));
		if (i == 0)
			pid = fact(facts, "pid=");
		cr_assert(eq(long, fact(facts, "pid="), pid));
	}
	cr_assert(eq(int, ctl_session_count(&service), 8));
	for (int i = 0; i < 8; i++)
		close_fd(&sockets[i]);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* A kernel on the CPU can do this: it is native code of its user. */
static void breed(int *socket_out, long *child_out, long *grandchild_out)
{
	CLEANUP(free_pointer) char *facts = client_open(&service, socket_out);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(eq(long, send(*socket_out, "breed", 5, MSG_NOSIGNAL), 5));
	Sycl__V1__Packet *packet = client_receive(*socket_out);
	cr_assert(ne(ptr, packet, NULL));
	*child_out = fact(packet->welcome->service_version, "child=");
	*grandchild_out = fact(packet->welcome->service_version, "grandchild=");
	packet_free(packet);
	cr_assert(gt(long, *child_out, 0));
	cr_assert(gt(long, *grandchild_out, 0));
	cr_assert(eq(int, kill((pid_t)*child_out, 0), 0));
	cr_assert(eq(int, kill((pid_t)*grandchild_out, 0), 0));
}

static bool process_has_ended(void *context)
{
	const long *pid = context;
	return kill((pid_t)*pid, 0) < 0;
}

Test(engines, what_an_engine_started_ends_with_it)
{
	start_engines_with("double", "");
	int socket = -1;
	long child = 0, grandchild = 0;
	breed(&socket, &child, &grandchild);
	cr_assert(eq(long, send(socket, "crash", 5, MSG_NOSIGNAL), 5));
	cr_assert(wait_until(process_has_ended, &child));
	cr_assert(wait_until(process_has_ended, &grandchild));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Ended processes use up no process numbers. Otherwise an engine's code could make so many that the
 * machine has none left. */
Test(engines, what_an_engine_started_and_has_ended_is_gone_while_the_engine_lives)
{
	start_engines_with("double", "");
	int socket = -1;
	long child = 0, grandchild = 0;
	breed(&socket, &child, &grandchild);
	cr_assert(eq(int, kill((pid_t)child, SIGKILL), 0));
	cr_assert(eq(int, kill((pid_t)grandchild, SIGKILL), 0));
	cr_assert(wait_until(process_has_ended, &grandchild));
	cr_assert(eq(int, ctl_session_count(&service), 1));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, what_an_engine_started_ends_with_the_service)
{
	start_engines_with("double", "");
	int socket = -1;
	long child = 0, grandchild = 0;
	breed(&socket, &child, &grandchild);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
	cr_assert(process_has_ended(&child));
	cr_assert(process_has_ended(&grandchild));
}

Test(engines, with_session_isolation_each_session_has_its_own)
{
	start_engines_with("double", "[isolation]\nisolation = session\n");
	int first = -1;
	int second = -1;
	CLEANUP(free_pointer) char *one = client_open(&service, &first);
	CLEANUP(free_pointer) char *two = client_open(&service, &second);
	cr_assert(ne(ptr, one, NULL));
	cr_assert(ne(ptr, two, NULL));
	cr_assert(ne(long, fact(one, "pid="), fact(two, "pid=")));
	close_fd(&first);
	close_fd(&second);
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool engine_is_gone(void *context)
{
	json_t *status = ctl_json(&service, "status");
	(void)context;
	cr_assert(ne(ptr, status, NULL));
	bool gone = json_integer_value(tenant_field(status, "engine_pid")) == 0;
	json_decref(status);
	return gone;
}

Test(engines, an_idle_one_is_stopped_and_the_next_connection_starts_another)
{
	start_engines_with("double", "[service]\nengine_idle_seconds = 0\n");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	close_fd(&socket);
	cr_assert(wait_until(engine_is_gone, NULL));
	CLEANUP(free_pointer) char *again = client_open(&service, &socket);
	cr_assert(ne(ptr, again, NULL));
	cr_assert(ne(long, fact(again, "pid="), fact(facts, "pid=")));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_dies_at_once_gives_a_clear_error_and_is_not_started_for_ever)
{
	start_engines_with("exits", "");
	must_be_refused_with("exited with status 7");
	for (int i = 0; i < 100; i++) {
		CLEANUP(free_pointer) char *text = client_refused(&service);
		cr_assert(ne(ptr, text, NULL));
	}
	must_be_refused_with("the next is started in");
	/* Three start at once, then one a second at most. So a hundred clients cannot have started
	 * a hundred. */
	cr_assert(lt(uint, service_log_count(&service, "engine: started pid"), 20u));
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_cannot_be_executed_gives_a_clear_error)
{
	start_engines_with("double", "");
	cr_assert(eq(int, unlink(service.engine), 0));
	must_be_refused_with("could not be executed");
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, an_engine_that_is_never_ready_is_ended_and_its_clients_get_the_reason)
{
	start_engines_with("unready", "[service]\nengine_start_seconds = 1\n");
	must_be_refused_with("not ready in time");
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_sends_garbage_is_ended)
{
	start_engines_with("garbage", "");
	must_be_refused_with("it sends invalid messages");
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool flood_ended(void *context)
{
	(void)context;
	return service_log_count(&service, "it sends messages that were not requested") > 0;
}

Test(engines, one_that_floods_the_supervisor_is_ended)
{
	start_engines_with("flood", "");
	int socket = client_connect(&service);
	cr_assert(wait_until(flood_ended, NULL));
	Sycl__V1__Packet *packet = client_receive(socket);
	if (packet)
		cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_ERROR));
	packet_free(packet);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Runs `syclctl trace` without a file. Returns its output, which the caller frees. */
static char *trace_nothing(void)
{
	const char *arguments[] = {SYCLCTL_PROGRAM, "--runtime-dir",   service.runtime, "trace",
				   "/dev/null",     "--device=fake:0", "--seconds=1",   NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_expect(eq(int, outcome.status, 1));
	free(outcome.out);
	return outcome.error;
}

Test(engines, an_engine_that_sends_more_of_a_trace_than_requested_is_ended)
{
	start_engines_with("teller", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	CLEANUP(free_pointer) char *said = trace_nothing();
	cr_expect(ne(ptr, strstr(said, "nothing was sent to fake:0"), NULL), "%s", said);
	cr_assert(gt(uint, service_log_count(&service, "more of a trace than was requested"), 0u));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* An engine's log has only what fits, so the end of the text is compared. */
static void expect_trace_ends(const char *manner)
{
	start_engines_with(manner, "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	CLEANUP(free_pointer) char *said = trace_nothing();
	cr_expect(ne(ptr, strstr(said, "nothing was sent to fake:0"), NULL), "%s", said);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_always_has_more_of_a_trace_does_not_keep_it_from_ending)
{
	expect_trace_ends("hoarder");
}

Test(engines, one_that_has_more_of_a_trace_and_gives_nothing_does_not_keep_it_from_ending)
{
	expect_trace_ends("promiser");
}

static bool has_logged(void *sentence)
{
	return service_log_count(&service, sentence) > 0;
}

/* The manners of the double, and the log's line about each. A trace may come without a request. */
Test(engines, one_whose_report_cannot_be_is_ended)
{
	char *const modes[][2] = {
		{"endless", "its report has too many parts"},
		{"crowd", "claims more than is possible"},
		{"chatter", "more of a trace than was requested"},
	};
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		start_engines_with(modes[i][0], "");
		int socket = -1;
		CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
		cr_assert(ne(ptr, facts, NULL));
		(void)ctl_session_count(&service);
		cr_assert(wait_until(has_logged, modes[i][1]), "%s", modes[i][0]);
		close_fd(&socket);
		cr_assert(eq(int, service_stop(&service), 0));
	}
}

Test(engines, one_that_does_not_answer_holds_up_no_trace_for_ever)
{
	start_engines_with("silent", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	CLEANUP(free_pointer) char *said = trace_nothing();
	cr_expect(ne(ptr, strstr(said, "nothing was sent to fake:0"), NULL), "%s", said);
	CLEANUP(free_pointer) char *again = trace_nothing();
	cr_expect(ne(ptr, strstr(again, "nothing was sent to fake:0"), NULL),
		  "the one before is over: %s", again);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_does_not_answer_is_shown_so_with_what_is_known)
{
	start_engines_with("silent", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	/* This is often enough to exceed the number of open requests of an engine. */
	for (int i = 0; i < 6; i++) {
		json_t *status = ctl_json(&service, "status");
		cr_assert(ne(ptr, status, NULL));
		cr_assert(eq(str,
			     (char *)(uintptr_t)json_string_value(tenant_field(status, "state")),
			     "not answering"));
		cr_assert(eq(sz, json_array_size(json_object_get(status, "sessions")), 1u));
		json_decref(status);
	}
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, an_engine_that_does_not_end_on_request_is_killed)
{
	start_engines_with("stubborn", "[service]\ndrain_seconds = 0\n");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(eq(int, service_stop(&service), 0));
	cr_assert(eq(int, kill((pid_t)fact(facts, "pid="), 0), -1));
	close_fd(&socket);
}

Test(engines, N5_after_a_crash_the_offender_is_named_and_the_next_connection_works)
{
	start_engines_with("double", "");
	crash_and_check("crash", "offender: 'doomed_kernel', group 40 of session 1",
			"doomed_kernel");
	crash_and_check("crash2", "suspect: 'doomed_kernel', group 47", "2 command groups");
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Its page is its user's own claim: it may name a session of any other user. */
Test(engines, N5_an_engine_cannot_blame_a_session_of_another_one)
{
	start_engines_with("double", "[isolation]\nisolation = session\n");
	int other = -1, own = -1;
	CLEANUP(free_pointer) char *first = client_open(&service, &other);
	CLEANUP(free_pointer) char *second = client_open(&service, &own);
	cr_assert(ne(ptr, first, NULL));
	cr_assert(ne(ptr, second, NULL));
	cr_assert(ne(long, fact(first, "pid="), fact(second, "pid=")));
	cr_assert(eq(long, send(own, "frame", 5, MSG_NOSIGNAL), 5));
	await_log("offender: 'doomed_kernel', group 40, with another engine's session", 1);
	cr_expect(eq(uint, service_log_count(&service, "of session 1 ("), 0u));
	close_fd(&other);
	close_fd(&own);
	cr_assert(eq(int, service_stop(&service), 0));
}
