/* The supervisor with engines: good ones, and those that misbehave in each way that it must
 * survive. */
#include "supervisor/harness.h"

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

static struct service service;

static void clean_engines(void)
{
	service_free(&service);
}

TestSuite(engines, .fini = clean_engines, .timeout = 60);

static void start_engines_with(const char *manner, const char *configuration)
{
	service_prepare(&service, manner);
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path, configuration);
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
}

static void must_be_refused_with(const char *why)
{
	CLEANUP(free_pointer) char *text = client_refused(&service);
	cr_assert(ne(ptr, text, NULL));
	cr_assert(ne(ptr, strstr(text, why), NULL), "'%s' says nothing of '%s'", text, why);
}

/* Field of the only tenant, of `syclctl status`. */
static json_t *tenant_field(json_t *status, const char *name)
{
	json_t *tenants = json_object_get(status, "tenants");
	cr_assert(eq(sz, json_array_size(tenants), 1u));
	return json_object_get(json_array_get(tenants, 0), name);
}

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

/* A kernel on the CPU may do this: it is native code of its user. */
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

/* Ended processes keep no process number: an engine's code can make so many that the machine has
 * none left. */
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
	/* Three at once, then one a second or slower: a hundred clients cannot have started a
	 * hundred. */
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

Test(engines, one_that_is_never_ready_is_ended_and_its_clients_are_told)
{
	start_engines_with("unready", "[service]\nengine_start_seconds = 1\n");
	must_be_refused_with("not ready in time");
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_sends_garbage_is_ended)
{
	start_engines_with("garbage", "");
	must_be_refused_with("what is no message");
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

/* `syclctl trace` of nothing: there is no file then. What it says; to be freed. */
static char *trace_nothing(void)
{
	const char *arguments[] = {SYCLCTL_PROGRAM, "--runtime-dir",   service.runtime, "trace",
				   "/dev/null",     "--device=fake:0", "--seconds=1",   NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_expect(eq(int, outcome.status, 1));
	free(outcome.out);
	return outcome.error;
}

Test(engines, one_that_tells_more_of_a_trace_than_it_was_asked_for_is_ended)
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

/* The end of the text: an engine's log has no more than it has room for. */
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

/* The modes of the double, and what the log says of each. A trace may come without a request. */
Test(engines, one_whose_report_cannot_be_is_ended)
{
	char *const modes[][2] = {
		{"endless", "its report has too many parts"},
		{"crowd", "claims more than there can be"},
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
	/* Often enough to have more requests open than an engine gets. */
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

Test(engines, one_that_does_not_end_when_told_is_killed)
{
	start_engines_with("stubborn", "[service]\ndrain_seconds = 0\n");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(eq(int, service_stop(&service), 0));
	cr_assert(eq(int, kill((pid_t)fact(facts, "pid="), 0), -1));
	close_fd(&socket);
}

static void crash_and_look(const char *how, const char *logged, const char *shown)
{
	int socket = -1;
	int bystander = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	CLEANUP(free_pointer) char *other = client_open(&service, &bystander);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(ne(ptr, other, NULL));
	cr_assert(eq(long, send(socket, how, strlen(how), MSG_NOSIGNAL), (long)strlen(how)));
	cr_assert(eq(ptr, client_receive(socket), NULL));
	cr_assert(eq(ptr, client_receive(bystander), NULL));
	close_fd(&socket);
	close_fd(&bystander);

	/* The next connection works, and nothing is left of the dead one's sessions. */
	CLEANUP(free_pointer) char *again = client_open(&service, &socket);
	cr_assert(ne(ptr, again, NULL));
	cr_assert(ne(long, fact(again, "pid="), fact(facts, "pid=")));
	json_t *status = ctl_json(&service, "status");
	cr_assert(ne(ptr, status, NULL));
	cr_assert(eq(sz, json_array_size(json_object_get(status, "sessions")), 1u));
	const char *failure = json_string_value(tenant_field(status, "last_failure"));
	cr_assert(ne(ptr, (void *)(uintptr_t)failure, NULL));
	cr_assert(ne(ptr, strstr(failure, shown), NULL), "%s", failure);
	json_decref(status);
	cr_assert(gt(uint, service_log_count(&service, logged), 0u));
	close_fd(&socket);
}

Test(engines, N5_after_a_crash_the_offender_is_named_and_the_next_connection_works)
{
	start_engines_with("double", "");
	crash_and_look("crash", "offender: 'doomed_kernel', group 40 of session 1",
		       "doomed_kernel");
	crash_and_look("crash2", "suspect: 'doomed_kernel', group 47", "2 command groups");
	cr_assert(eq(int, service_stop(&service), 0));
}

static void lose_engine(int socket)
{
	cr_assert(eq(long, send(socket, "lose", 4, MSG_NOSIGNAL), 4l));
	cr_assert(eq(ptr, client_receive(socket), NULL));
}

/* Where `text` with that number stands in the log, -1: nowhere. */
static long log_place(const char *format, long number)
{
	char text[64], line[1024];
	long place = -1, at = 0;
	(void)snprintf(text, sizeof(text), format, number);
	FILE *log = fopen(service.log, "re");
	cr_assert(ne(ptr, log, NULL));
	while (place < 0 && fgets(line, sizeof(line), log)) {
		place = strstr(line, text) ? at : -1;
		at++;
	}
	(void)fclose(log);
	return place;
}

static bool is_gone(void *pid)
{
	return kill(*(pid_t *)pid, 0) < 0;
}

/* Its driver keeps it for long: the next one is there before, and has its devices open. */
Test(engines, one_whose_device_failed_is_replaced_before_it_is_gone)
{
	start_engines_with("double", "");
	int socket = -1, bystander = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	CLEANUP(free_pointer) char *other = client_open(&service, &bystander);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(ne(ptr, other, NULL));
	cr_assert(eq(long, fact(facts, "warm="), 0));
	lose_engine(socket);
	cr_assert(eq(ptr, client_receive(bystander), NULL));
	close_fd(&socket);
	close_fd(&bystander);
	CLEANUP(free_pointer) char *again = client_open(&service, &socket);
	cr_assert(ne(ptr, again, NULL));
	cr_assert(eq(long, fact(again, "warm="), 5));
	pid_t before = (pid_t)fact(facts, "pid=");
	cr_assert(wait_until(is_gone, &before));
	long started = log_place("started pid %ld for", fact(again, "pid=")),
	     let_go = log_place("ending pid %ld of", before);
	char ended[64];
	(void)snprintf(ended, sizeof(ended), "pid %%ld of uid %lu ended itself",
		       (unsigned long)geteuid());
	long end_logged = log_place(ended, before);
	cr_assert(ge(long, started, 0));
	cr_assert(gt(long, end_logged, started));
	cr_assert(gt(long, let_go, end_logged),
		  "its end was logged when its process had ended, and not at its hang-up");
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
	cr_assert(eq(uint, service_log_count(&service, "ended itself: the device failed"), 1u));
	cr_assert(eq(uint, service_log_count(&service, "offender: 'doomed_kernel', group 40"), 1u));
}

/* Its process does not take the place of the next one. */
Test(engines, one_whose_device_failed_counts_for_no_limit)
{
	start_engines_with("double", "[service]\nengines = 1\n");
	long before = 0;
	for (int i = 0; i < 2; i++) {
		int socket = -1;
		CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
		cr_assert(ne(ptr, facts, NULL), "nobody is served beside what is left of %ld",
			  before);
		cr_assert(ne(long, fact(facts, "pid="), before));
		before = fact(facts, "pid=");
		if (i == 0)
			lose_engine(socket);
		close_fd(&socket);
	}
	cr_assert(eq(int, service_stop(&service), 0));
}

/* One engine of a user is held, the last one. */
Test(engines, of_two_whose_device_failed_the_first_is_let_go)
{
	start_engines_with("double", "");
	long pids[3];
	for (int i = 0; i < 3; i++) {
		int socket = -1;
		CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
		cr_assert(ne(ptr, facts, NULL));
		pids[i] = fact(facts, "pid=");
		if (i < 2)
			lose_engine(socket);
		close_fd(&socket);
	}
	cr_assert(ge(long, log_place("ending pid %ld of", pids[0]), 0));
	cr_assert(lt(long, log_place("ending pid %ld of", pids[0]),
		     log_place("started pid %ld for", pids[2])));
	cr_assert(eq(int, service_stop(&service), 0));
	for (int i = 0; i < 3; i++) {
		pid_t pid = (pid_t)pids[i];
		cr_assert(is_gone(&pid), "the service left %ld behind", pids[i]);
	}
}

/* The service that watches it ends, and the next one has no record of it. */
Test(engines, one_whose_device_failed_is_not_handed_over)
{
	start_engines_with("double", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	pid_t before = (pid_t)fact(facts, "pid=");
	lose_engine(socket);
	close_fd(&socket);
	CLEANUP(free_pointer) char *next = client_open(&service, &socket);
	cr_assert(ne(ptr, next, NULL));
	close_fd(&socket);
	cr_assert(eq(int, kill(service.pid, SIGUSR2), 0));
	cr_assert(eq(int, service_wait(&service), 0));
	cr_assert(wait_until(is_gone, &before), "it goes on without a service");
}

static unsigned count_engines(void)
{
	char path[64];
	unsigned count = 0;
	int pid;
	(void)snprintf(path, sizeof(path), "/proc/%ld/task/%ld/children", (long)service.pid,
		       (long)service.pid);
	FILE *children = fopen(path, "re");
	cr_assert(ne(ptr, children, NULL));
	while (fscanf(children, "%d", &pid) == 1)
		count++;
	(void)fclose(children);
	return count;
}

static bool is_served(void *unused)
{
	(void)unused;
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	close_fd(&socket);
	return facts != NULL;
}

/* A user whose engines fail faster than they end gets no more of them for a while, and the limit of
 * other users is untouched. */
Test(engines, those_that_fail_and_stay_are_limited)
{
	enum { ENGINES_STAYING = 16, ROUNDS = 60 };
	start_engines_with("double", "");
	for (int i = 0; i < ROUNDS; i++) {
		int socket = -1;
		CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
		if (facts)
			lose_engine(socket);
		close_fd(&socket);
		cr_assert(le(uint, count_engines(), ENGINES_STAYING + 1u));
		if (!facts)
			break;
	}
	cr_assert(wait_until(is_served, NULL), "it is not served again");
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, N5_a_killed_one_is_replaced)
{
	start_engines_with("double", "");
	for (int i = 0; i < 5; i++) {
		int socket = -1;
		CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
		cr_assert(ne(ptr, facts, NULL));
		(void)kill((pid_t)fact(facts, "pid="), SIGKILL);
		cr_assert(eq(ptr, client_receive(socket), NULL));
		close_fd(&socket);
	}
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, more_clients_than_a_tenant_may_have_are_refused_and_the_others_are_not)
{
	start_engines_with("double", "[service]\nsessions_per_tenant = 3\n");
	int sockets[3];
	for (int i = 0; i < 3; i++) {
		CLEANUP(free_pointer) char *facts = client_open(&service, &sockets[i]);
		cr_assert(ne(ptr, facts, NULL));
	}
	must_be_refused_with("as many sessions as one may have (3)");
	cr_assert(eq(int, ctl_session_count(&service), 3));
	for (int i = 0; i < 3; i++)
		close_fd(&sockets[i]);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* A refusal is read although the client has sent, and goes on sending, without reading. */
Test(engines, a_refusal_reaches_a_client_that_has_sent_much)
{
	start_engines_with("exits", "");
	for (int round = 0; round < 20; round++) {
		int socket = client_connect(&service);
		cr_assert(ge(int, socket, 0));
		while (send(socket, "more", 4, MSG_NOSIGNAL | MSG_DONTWAIT) == 4)
			;
		Sycl__V1__Packet *packet = client_receive(socket);
		cr_assert(ne(ptr, packet, NULL), "round %d", round);
		cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_ERROR));
		packet_free(packet);
		close_fd(&socket);
	}
	cr_assert(eq(int, service_stop(&service), 0));
}

static void limit_descriptors(rlim_t limit)
{
	struct rlimit files = {.rlim_cur = limit, .rlim_max = 4096};
	cr_assert(eq(int, prlimit(service.pid, RLIMIT_NOFILE, &files, NULL), 0));
}

Test(engines, without_descriptors_clients_are_refused_and_it_recovers)
{
	enum { CLIENTS = 60 };
	start_engines_with("unready", "[service]\nengine_start_seconds = 3\n");
	limit_descriptors(80);
	int sockets[CLIENTS];
	/* They wait for an engine, so their descriptors stay with the supervisor: more than it has.
	 */
	for (int i = 0; i < CLIENTS; i++)
		sockets[i] = client_connect(&service);
	int refused = 0;
	for (int i = 0; i < CLIENTS; i++) {
		Sycl__V1__Packet *packet = client_receive(sockets[i]);
		cr_assert(ne(ptr, packet, NULL), "client %d", i);
		cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_ERROR));
		refused += strstr(packet->error->text, "no descriptors left") != NULL;
		packet_free(packet);
		close_fd(&sockets[i]);
	}
	cr_assert(gt(int, refused, 0));
	/* The service pauses after each refusal, so it did not spin while the clients waited. */
	cr_assert(lt(uint, service_log_count(&service, "no descriptors left"), 200u));
	limit_descriptors(4096);
	must_be_refused_with("not ready in time");
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool devices_in(const char *verb, size_t count)
{
	json_t *answer = ctl_json(&service, verb);
	cr_assert(ne(ptr, answer, NULL));
	bool equal = json_array_size(json_object_get(answer, "devices")) == count;
	json_decref(answer);
	return equal;
}

Test(engines, A17_A20_nothing_is_discovered_until_somebody_asks_for_devices)
{
	start_engines_with("double", "");
	cr_assert(devices_in("status", 0));
	cr_assert(eq(uint, service_log_count(&service, "engine: started pid"), 0u));
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(devices_in("status", 0));
	cr_assert(devices_in("devices", 1));
	cr_assert(devices_in("status", 1));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, devices_starts_the_askers_engine)
{
	start_engines_with("double", "");
	cr_assert(devices_in("devices", 1));
	cr_assert(eq(uint, service_log_count(&service, "engine: started pid"), 1u));
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, devices_says_why_when_the_engine_cannot_start)
{
	start_engines_with("exits", "");
	const char *arguments[] = {SYCLCTL_PROGRAM, "devices", "--runtime-dir", service.runtime,
				   NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_assert(eq(int, outcome.status, 1));
	cr_assert(ne(ptr, strstr(outcome.error, "could not start"), NULL), "%s", outcome.error);
	outcome_free(&outcome);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* The standby: started when a device is in use, adopted by whoever needs an engine next. */

static void send_engine(int socket, const char *order)
{
	cr_assert(eq(long, send(socket, order, strlen(order), MSG_NOSIGNAL), (long)strlen(order)));
}

/* Wait for the answer: by then the engine has sent the ordered messages. */
static void open_device(int socket)
{
	send_engine(socket, "open");
	Sycl__V1__Packet *packet = client_receive(socket);
	cr_assert(ne(ptr, packet, NULL));
	packet_free(packet);
}

static bool standby_is_ready(void *pid)
{
	json_t *status = ctl_json(&service, "status");
	json_t *standby = json_object_get(json_object_get(status, "service"), "standby");
	const char *state = json_string_value(json_object_get(standby, "state"));
	*(long *)pid = state && !strcmp(state, "ready")
			       ? (long)json_integer_value(json_object_get(standby, "pid"))
			       : 0;
	json_decref(status);
	return *(long *)pid > 0;
}

static long standby(void)
{
	long pid = 0;
	cr_assert(wait_until(standby_is_ready, &pid), "no standby comes");
	return pid;
}

struct logged {
	const char *text;
	unsigned times;
};

static bool is_logged(void *context)
{
	const struct logged *logged = context;
	return service_log_count(&service, logged->text) >= logged->times;
}

static void await_log(const char *text, unsigned times)
{
	struct logged logged = {text, times};
	cr_assert(wait_until(is_logged, &logged), "'%s' is not logged %u times", text, times);
}

Test(engines, the_standby_becomes_the_next_engine)
{
	start_engines_with("double", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(eq(long, fact(facts, "prepared="), -1));
	open_device(socket);
	long first = standby();
	cr_assert(ne(long, first, fact(facts, "pid=")));
	lose_engine(socket);
	close_fd(&socket);
	CLEANUP(free_pointer) char *again = client_open(&service, &socket);
	cr_assert(ne(ptr, again, NULL));
	cr_assert(eq(long, fact(again, "pid="), first));
	cr_assert(eq(long, fact(again, "prepared="), 1));
	cr_assert(eq(long, fact(again, "warm="), 5));
	open_device(socket);
	long second = standby();
	cr_assert(ne(long, second, first));
	/* The standby belongs to no tenant. */
	json_t *status = ctl_json(&service, "status");
	json_t *row;
	size_t i;
	json_array_foreach(json_object_get(status, "tenants"), i, row) cr_assert(
		ne(long, (long)json_integer_value(json_object_get(row, "engine_pid")), second));
	json_decref(status);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
	cr_assert(eq(uint, service_log_count(&service, "standby: pid"), 3u), "ready, ready, ended");
}

Test(engines, the_standby_is_told_when_more_devices_are_used)
{
	start_engines_with("double", "");
	int socket = -1, other = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	open_device(socket);
	long pid = standby();
	open_device(socket);
	await_log("is ready", 2);
	cr_assert(eq(long, standby(), pid));
	send_engine(socket, "crash");
	cr_assert(eq(ptr, client_receive(socket), NULL));
	CLEANUP(free_pointer) char *again = client_open(&service, &other);
	cr_assert(ne(ptr, again, NULL));
	cr_assert(eq(long, fact(again, "pid="), pid));
	cr_assert(eq(long, fact(again, "prepared="), 3));
	close_fd(&socket);
	close_fd(&other);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Is the last "started pid" of an engine before the line on the standby's end? */
static bool is_started_before_its_end(void)
{
	char line[512];
	unsigned at = 0, started = 0, ended = 0;
	FILE *file = fopen(service.log, "re");
	while (file && fgets(line, sizeof(line), file)) {
		at++;
		if (strstr(line, "engine: started pid"))
			started = at;
		if (strstr(line, "the standby did not become an engine"))
			ended = at;
	}
	if (file)
		(void)fclose(file);
	return started > 0 && started < ended;
}

/* It refuses, or it hangs. */
Test(engines, a_standby_that_does_not_become_an_engine_costs_nobody_a_connection)
{
	const char *const modes[] = {"unwilling", "undecided"};
	for (int hangs = 0; hangs < 2; hangs++) {
		start_engines_with(modes[hangs], "");
		int socket = -1;
		CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
		cr_assert(ne(ptr, facts, NULL));
		open_device(socket);
		long pid = standby();
		send_engine(socket, "crash");
		cr_assert(eq(ptr, client_receive(socket), NULL));
		close_fd(&socket);
		CLEANUP(free_pointer) char *again = client_open(&service, &socket);
		cr_assert(ne(ptr, again, NULL));
		cr_assert(ne(long, fact(again, "pid="), pid));
		cr_assert(eq(long, fact(again, "prepared="), -1), "it is a standby again");
		await_log("the standby did not become an engine", 1);
		/* SIGKILL may wait for a driver; a client that connects does not. */
		cr_assert(hangs == 0 || is_started_before_its_end());
		close_fd(&socket);
		cr_assert(eq(int, service_stop(&service), 0));
	}
}

static bool has_many_sessions(void *context)
{
	return ctl_session_count(&service) == *(const int *)context;
}

/* Under load a client may be stopped between its connect and its hello. */
Test(engines, a_client_that_sends_its_hello_after_the_end_of_its_engine_is_served_by_the_next)
{
	start_engines_with("double", "");
	int socket = -1, late = client_connect_silently(&service), sessions = 2, left = 1;
	cr_assert(ge(int, late, 0));
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL), "a silent client keeps nobody waiting");
	cr_assert(wait_until(has_many_sessions, &sessions));
	send_engine(socket, "crash");
	cr_assert(eq(ptr, client_receive(socket), NULL));
	close_fd(&socket);
	await_log("was killed by signal", 1);
	cr_assert(wait_until(has_many_sessions, &left), "%d sessions", ctl_session_count(&service));
	client_send_hello(late);
	Sycl__V1__Packet *packet = client_receive(late);
	cr_assert(ne(ptr, packet, NULL));
	cr_assert(eq(int, packet->body_case, SYCL__V1__PACKET__BODY_WELCOME));
	cr_assert(ne(long, fact(packet->welcome->service_version, "pid="), fact(facts, "pid=")));
	packet_free(packet);
	close_fd(&late);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Else whoever may not use a GPU could take the standby, again and again, from those who may. */
Test(engines, a_standby_is_offered_once_to_who_may_not_have_its_devices)
{
	start_engines_with("forbidden", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	open_device(socket);
	(void)standby();
	for (int i = 0; i < 2; i++) {
		send_engine(socket, "crash");
		cr_assert(eq(ptr, client_receive(socket), NULL));
		close_fd(&socket);
		CLEANUP(free_pointer) char *again = client_open(&service, &socket);
		cr_assert(ne(ptr, again, NULL));
		cr_assert(eq(long, fact(again, "prepared="), -1));
		open_device(socket);
		(void)standby();
	}
	cr_assert(eq(uint, service_log_count(&service, "engine: adopted pid"), 1u));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* As a user who is not the service's: SO_PEERCRED has the effective one. */
static char *open_as(uid_t uid, int *socket_out)
{
	cr_assert(zero(int, seteuid(uid)));
	char *facts = client_open(&service, socket_out);
	cr_assert(zero(int, seteuid(0)));
	return facts;
}

/* Adopted, it is a process of that user, who may kill it: three times in a row nobody would have
 * one for minutes. */
Test(engines, M10_a_user_can_spoil_one_standby_and_not_those_of_others)
{
	enum { SOMEBODY = 4242 };
	if (geteuid() != 0)
		cr_skip_test("several users need root");
	start_engines_with("unwilling", "");
	int holder = -1, socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &holder);
	cr_assert(ne(ptr, facts, NULL));
	open_device(holder);
	for (int i = 0; i < 4; i++) {
		(void)standby();
		CLEANUP(free_pointer) char *theirs = open_as(SOMEBODY, &socket);
		cr_assert(ne(ptr, theirs, NULL), "round %d", i);
		send_engine(socket, "crash");
		cr_assert(eq(ptr, client_receive(socket), NULL));
		close_fd(&socket);
	}
	(void)standby();
	cr_assert(eq(uint, service_log_count(&service, "engine: adopted pid"), 1u));
	cr_assert(eq(uint, service_log_count(&service, "the next one is started in some minutes"),
		     0u));
	close_fd(&holder);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, a_standby_that_dies_at_once_is_not_started_for_ever)
{
	start_engines_with("unable", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	open_device(socket);
	await_log("the next one is started in some minutes", 1);
	cr_assert(eq(uint, service_log_count(&service, "standby: started pid"), 3u));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, a_standby_that_has_nothing_to_prepare_is_not_started_again)
{
	start_engines_with("useless", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	open_device(socket);
	await_log("none of the devices can be prepared", 1);
	send_engine(socket, "crash");
	cr_assert(eq(ptr, client_receive(socket), NULL));
	close_fd(&socket);
	CLEANUP(free_pointer) char *again = client_open(&service, &socket);
	cr_assert(ne(ptr, again, NULL));
	open_device(socket);
	/* The same ones are not tried again, until the configuration is read: it may have been
	 * changed so that they can. */
	cr_assert(eq(int, kill(service.pid, SIGHUP), 0));
	await_log("none of the devices can be prepared", 2);
	cr_assert(eq(uint, service_log_count(&service, "standby: started pid"), 2u));
	/* Others are. */
	open_device(socket);
	await_log("none of the devices can be prepared", 3);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, a_standby_of_another_version_is_not_used)
{
	start_engines_with("outdated", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	open_device(socket);
	await_log("of another version than this service", 1);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, a_new_configuration_makes_a_new_standby_or_none)
{
	start_engines_with("double", "");
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	open_device(socket);
	pid_t before = (pid_t)standby();
	cr_assert(eq(int, kill(service.pid, SIGHUP), 0));
	cr_assert(wait_until(is_gone, &before));
	cr_assert(ne(long, standby(), (long)before));
	before = (pid_t)standby();
	write_file(path, "[service]\nstandby = no\n");
	cr_assert(eq(int, kill(service.pid, SIGHUP), 0));
	cr_assert(wait_until(is_gone, &before));
	open_device(socket);
	cr_assert(eq(uint, service_log_count(&service, "standby: started pid"), 2u));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_says_again_and_again_what_it_has_open_is_ended)
{
	start_engines_with("double", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	send_engine(socket, "reopen");
	cr_assert(eq(ptr, client_receive(socket), NULL));
	await_log("it sends messages that were not requested", 1);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

static void one_that_wants_too_often(const char *configuration)
{
	start_engines_with("double", configuration);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	send_engine(socket, "want");
	cr_assert(eq(ptr, client_receive(socket), NULL));
	await_log("it sends messages that were not requested", 1);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_says_again_and_again_that_it_wants_a_device_is_ended)
{
	one_that_wants_too_often("[shares]\ndefault = 10\n");
}

Test(engines, so_is_one_that_says_so_where_nothing_is_divided)
{
	one_that_wants_too_often("");
}

static void expect_wake(int socket, const char *order)
{
	send_engine(socket, order);
	Sycl__V1__Packet *packet = client_receive(socket);
	cr_assert(ne(ptr, packet, NULL), "after '%s' the engine is gone", order);
	cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_WAKE));
	packet_free(packet);
}

/* False: the engine takes no more messages. */
static bool order_limit(const char *limit)
{
	char uid[16];
	(void)snprintf(uid, sizeof(uid), "%lu", (unsigned long)geteuid());
	const char *arguments[] = {SYCLCTL_PROGRAM, "limit",         limit, "--uid", uid,
				   "--runtime-dir", service.runtime, NULL};
	struct outcome outcome = run_program(0, arguments);
	bool taken = outcome.status == 0;
	if (!taken)
		cr_assert(ne(ptr, strstr(outcome.error, "does not take messages"), NULL), "%s",
			  outcome.error);
	outcome_free(&outcome);
	return taken;
}

Test(engines, one_that_takes_no_messages_for_a_while_has_its_share_when_it_does)
{
	enum { MESSAGES_MOST = 5000 };
	start_engines_with("double", "");
	int socket = -1, messages = 0;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	pid_t pid = (pid_t)fact(facts, "pid=");
	cr_assert(eq(int, kill(pid, SIGSTOP), 0));
	while (messages++ < MESSAGES_MOST && order_limit("buffer_bytes=4K"))
		;
	cr_assert(lt(int, messages, MESSAGES_MOST));
	cr_assert(order_limit("share_max=10"));
	await_log("devices' time is not divided for pid", 1);
	cr_assert(eq(int, kill(pid, SIGCONT), 0));
	await_log("by now", 1);
	/* The engine has the pages of its share. */
	expect_wake(socket, "lie");
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Whatever it claims: the service looks at it again and again, and answers. */
static void one_that_claims_everything(const char *configuration)
{
	start_engines_with("double", configuration);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	expect_wake(socket, "harm");
	expect_wake(socket, "lie");
	for (int i = 0; i < 3; i++) {
		json_t *status = ctl_json(&service, "status");
		json_t *shares = json_object_get(status, "shares");
		cr_expect(eq(sz, json_array_size(shares), 16u),
			  "no more than that are shown of one engine");
		const json_t *row = json_array_get(shares, 0);
		cr_expect(le(i64, json_integer_value(json_object_get(row, "granted_permille")),
			     1000));
		cr_expect(eq(i64, json_integer_value(json_object_get(row, "min_percent")), 10));
		json_decref(status);
	}
	expect_wake(socket, "ping");
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, what_one_claims_of_devices_time_harms_nobody)
{
	one_that_claims_everything("[shares]\ndefault = 10\n");
}

Test(engines, nor_does_it_where_users_take_turns)
{
	one_that_claims_everything("[shares]\nmode = exclusive\ndefault = 10-90\n");
}

/* A search for devices is not work that waits. */
Test(engines, listing_devices_leaves_the_standby_for_others)
{
	start_engines_with("double", "[isolation]\nisolation = session\n");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	open_device(socket);
	long pid = standby();
	cr_assert(devices_in("devices", 1));
	cr_assert(eq(long, standby(), pid));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Two engines of one user, each with a session; what `syclctl devices` says. */
static json_t *devices_of_two(const char *manner)
{
	start_engines_with(manner, "[isolation]\nisolation = session\n");
	int sockets[2];
	for (unsigned i = 0; i < 2; i++) {
		CLEANUP(free_pointer) char *facts = client_open(&service, &sockets[i]);
		cr_assert(ne(ptr, facts, NULL));
	}
	json_t *status = ctl_json(&service, "status");
	cr_assert(ne(ptr, status, NULL));
	json_t *devices = json_incref(json_object_get(status, "devices"));
	json_decref(status);
	close_fd(&sockets[0]);
	close_fd(&sockets[1]);
	return devices;
}

Test(engines, what_two_of_them_say_alike_of_a_device_is_shown_once)
{
	json_t *devices = devices_of_two("knower");
	cr_expect(eq(sz, json_array_size(devices), 1u));
	cr_expect(json_is_false(json_object_get(json_array_get(devices, 0), "disputed")));
	json_decref(devices);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, what_one_of_them_says_of_a_device_is_not_shown_as_the_others_claim)
{
	json_t *devices = devices_of_two("liar");
	cr_expect(eq(sz, json_array_size(devices), 2u),
		  "the same device, of the same name, with other facts");
	for (size_t i = 0; i < json_array_size(devices); i++) {
		json_t *device = json_array_get(devices, i);
		cr_expect(json_is_true(json_object_get(device, "disputed")));
		cr_expect(eq(sz, json_array_size(json_object_get(device, "uids")), 1u),
			  "whose claim it is");
	}
	json_decref(devices);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* The most memory that the service has had, KiB. */
static long peak_kib(void)
{
	char path[64], line[256];
	long peak = -1;
	(void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)service.pid);
	FILE *file = fopen(path, "re");
	cr_assert(ne(ptr, file, NULL));
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "VmHWM:", 6))
			peak = strtol(line + 6, NULL, 10);
	(void)fclose(file);
	return peak;
}

Test(engines, what_one_of_them_claims_of_sessions_that_are_not_there_costs_no_memory)
{
	start_engines_with("weighty", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	long before = peak_kib();
	cr_assert(eq(int, ctl_session_count(&service), 1));
	cr_expect(lt(long, peak_kib() - before, 8192), "KiB more");
	json_t *status = ctl_json(&service, "status");
	cr_expect(json_is_true(json_object_get(
		json_array_get(json_object_get(status, "sessions"), 0), "reported")));
	json_decref(status);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* The engine answers this message with a Wake, if it lives. */
static void send_and_await_wake(int socket, const char *what)
{
	cr_assert(eq(long, send(socket, what, strlen(what), MSG_NOSIGNAL), (long)strlen(what)));
	Sycl__V1__Packet *packet = client_receive(socket);
	cr_assert(ne(ptr, packet, NULL));
	packet_free(packet);
}

Test(engines, what_one_writes_to_its_standard_error_is_in_the_log_with_whose_it_is)
{
	start_engines_with("double", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	send_and_await_wake(socket, "speak");
	char line[128];
	(void)snprintf(line, sizeof(line), "engine: pid %ld of uid %lu says: a ",
		       fact(facts, "pid="), (unsigned long)getuid());
	await_log(line, 1);
	cr_expect(eq(uint, service_log_count(&service, "\033"), 0u), "made printable");
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_writes_without_end_fills_no_log_and_is_not_held_up)
{
	start_engines_with("double", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	send_and_await_wake(socket, "shout");
	await_log("writes more than the log keeps", 1);
	/* 5.6 MB were said. A line counts for more than it says: 352 go into a window. */
	cr_expect(lt(uint, service_log_count(&service, "one of very many lines"), 1000u));
	cr_assert(eq(int, ctl_session_count(&service), 1));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_aborts_by_an_assertion_blames_no_command_group)
{
	start_engines_with("double", "");
	crash_and_look("abort", "says: clEnqueue.c:12: f: Assertion `found->ref_count > 0' failed.",
		       "aborted by itself: clEnqueue.c:12");
	cr_expect(eq(uint, service_log_count(&service, "suspect"), 0u));
	cr_expect(eq(uint, service_log_count(&service, "command groups were in flight"), 0u));
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_the_c_library_aborts_has_its_words_in_the_reason)
{
	start_engines_with("double", "");
	crash_and_look("heap", "(Aborted) after the line: free(): invalid pointer",
		       "after the line: free(): invalid pointer; offender: ");
	cr_assert(eq(int, service_stop(&service), 0));
}
