/* Engines whose device failed, engines that end, a user's limits, and lists of devices. */
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

/* Returns where `text` with that number is in the log, -1 if it is not there. */
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

/* Its driver keeps its process for long. The next engine exists before that ends, and has its
 * devices open. */
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
	cr_assert(wait_until(process_is_gone, &before));
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

/* Only one engine of a user is kept, the last one. */
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
		cr_assert(process_is_gone(&pid), "the service left %ld behind", pids[i]);
	}
}

/* The service that waits for it ends, and the next one has no record of it. */
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
	cr_assert(wait_until(process_is_gone, &before), "it goes on without a service");
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

/* A user's engines may fail faster than they end. Then the user gets no more of them for a while;
 * other users have their own limit. */
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

/* The refusal is read although the client has sent data, and continues to send without reading. */
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
	/* The clients wait for an engine, so their descriptors stay with the supervisor: more than
	 * it has. */
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

Test(engines, devices_has_the_reason_when_the_engine_cannot_start)
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
