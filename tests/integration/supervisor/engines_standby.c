/* The standby: started when a device is in use, adopted by the next user who needs an engine. */
#include "supervisor/engines_fixture.h"

#include "cleanup.h"
#include "packet_socket.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

Test(engines, the_standby_becomes_the_next_engine)
{
	start_engines_with("double", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_assert(eq(long, fact(facts, "prepared="), -1));
	engine_open_device(socket);
	long first = standby_pid();
	cr_assert(ne(long, first, fact(facts, "pid=")));
	lose_engine(socket);
	close_fd(&socket);
	CLEANUP(free_pointer) char *again = client_open(&service, &socket);
	cr_assert(ne(ptr, again, NULL));
	cr_assert(eq(long, fact(again, "pid="), first));
	cr_assert(eq(long, fact(again, "prepared="), 1));
	cr_assert(eq(long, fact(again, "warm="), 5));
	engine_open_device(socket);
	long second = standby_pid();
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

Test(engines, the_standby_gets_a_message_when_more_devices_are_used)
{
	start_engines_with("double", "");
	int socket = -1, other = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	engine_open_device(socket);
	long pid = standby_pid();
	engine_open_device(socket);
	await_log("is ready", 2);
	cr_assert(eq(long, standby_pid(), pid));
	engine_send(socket, "crash");
	cr_assert(eq(ptr, client_receive(socket), NULL));
	CLEANUP(free_pointer) char *again = client_open(&service, &other);
	cr_assert(ne(ptr, again, NULL));
	cr_assert(eq(long, fact(again, "pid="), pid));
	cr_assert(eq(long, fact(again, "prepared="), 3));
	close_fd(&socket);
	close_fd(&other);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Returns true if the last "started pid" of an engine is before the line about the standby's
 * end. */
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
Test(engines, a_standby_that_does_not_become_an_engine_costs_no_connection)
{
	const char *const modes[] = {"unwilling", "undecided"};
	for (int hangs = 0; hangs < 2; hangs++) {
		start_engines_with(modes[hangs], "");
		int socket = -1;
		CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
		cr_assert(ne(ptr, facts, NULL));
		engine_open_device(socket);
		long pid = standby_pid();
		engine_send(socket, "crash");
		cr_assert(eq(ptr, client_receive(socket), NULL));
		close_fd(&socket);
		CLEANUP(free_pointer) char *again = client_open(&service, &socket);
		cr_assert(ne(ptr, again, NULL));
		cr_assert(ne(long, fact(again, "pid="), pid));
		cr_assert(eq(long, fact(again, "prepared="), -1), "it is a standby again");
		await_log("the standby did not become an engine", 1);
		/* SIGKILL may wait for a driver; a client that connects does not wait. */
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
	engine_send(socket, "crash");
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

/* Otherwise a user who may not use a GPU could repeatedly take the standby from users who may. */
Test(engines, a_standby_is_offered_once_to_a_user_who_may_not_have_its_devices)
{
	start_engines_with("forbidden", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	engine_open_device(socket);
	(void)standby_pid();
	for (int i = 0; i < 2; i++) {
		engine_send(socket, "crash");
		cr_assert(eq(ptr, client_receive(socket), NULL));
		close_fd(&socket);
		CLEANUP(free_pointer) char *again = client_open(&service, &socket);
		cr_assert(ne(ptr, again, NULL));
		cr_assert(eq(long, fact(again, "prepared="), -1));
		engine_open_device(socket);
		(void)standby_pid();
	}
	cr_assert(eq(uint, service_log_count(&service, "engine: adopted pid"), 1u));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Opens as a user other than the service's: SO_PEERCRED has the effective one. */
static char *open_as(uid_t uid, int *socket_out)
{
	cr_assert(zero(int, seteuid(uid)));
	char *facts = client_open(&service, socket_out);
	cr_assert(zero(int, seteuid(0)));
	return facts;
}

/* Once adopted, it is a process of that user, who may kill it. If that happened three times in a
 * row, no user would have a standby for minutes. */
Test(engines, M10_a_user_can_spoil_one_standby_and_not_those_of_others)
{
	enum { SOMEBODY = 4242 };
	if (geteuid() != 0)
		cr_skip_test("several users need root");
	start_engines_with("unwilling", "");
	int holder = -1, socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &holder);
	cr_assert(ne(ptr, facts, NULL));
	engine_open_device(holder);
	for (int i = 0; i < 4; i++) {
		(void)standby_pid();
		CLEANUP(free_pointer) char *theirs = open_as(SOMEBODY, &socket);
		cr_assert(ne(ptr, theirs, NULL), "round %d", i);
		engine_send(socket, "crash");
		cr_assert(eq(ptr, client_receive(socket), NULL));
		close_fd(&socket);
	}
	(void)standby_pid();
	cr_assert(eq(uint, service_log_count(&service, "engine: adopted pid"), 1u));
	cr_assert(eq(uint, service_log_count(&service, "the next one is started in some minutes"),
		     0u));
	close_fd(&holder);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Users with these uids spoil a standby each, one after the other. */
static void spoil_standbys(uid_t first, int *holder_out, int *sockets, int count)
{
	start_engines_with("unwilling", "");
	CLEANUP(free_pointer) char *facts = client_open(&service, holder_out);
	cr_assert(ne(ptr, facts, NULL));
	engine_open_device(*holder_out);
	for (int i = 0; i < count; i++) {
		(void)standby_pid();
		CLEANUP(free_pointer) char *theirs = open_as(first + (uid_t)i, &sockets[i]);
		cr_assert(ne(ptr, theirs, NULL), "user %d", i);
	}
}

static void end_spoiled(int *holder, int *sockets, int count)
{
	for (int i = 0; i < count; i++)
		close_fd(&sockets[i]);
	close_fd(holder);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* A user may have subordinate uids, and each of them counts as another user. */
Test(engines, M10_several_users_in_a_row_that_spoil_a_standby_stop_it_for_nobody_else)
{
	enum { FIRST_UID = 4242, UIDS = 4 };
	if (geteuid() != 0)
		cr_skip_test("several users need root");
	int holder = -1, sockets[UIDS];
	spoil_standbys(FIRST_UID, &holder, sockets, UIDS);
	(void)standby_pid();
	cr_assert(eq(uint, service_log_count(&service, "engine: adopted pid"), (unsigned)UIDS));
	end_spoiled(&holder, sockets, UIDS);
}

/* Nobody has several uids of the user database. So the cause may be the machine's, and to start one
 * after the other would help nobody. */
Test(engines, a_standby_that_fails_for_several_known_users_is_started_less_often)
{
	enum { FIRST_UID = 1, UIDS = 3 };
	if (geteuid() != 0)
		cr_skip_test("several users need root");
	for (uid_t uid = FIRST_UID; uid < FIRST_UID + UIDS; uid++)
		if (!getpwuid(uid))
			cr_skip_test("the user database lacks a system user");
	int holder = -1, sockets[UIDS];
	spoil_standbys(FIRST_UID, &holder, sockets, UIDS);
	await_log("the next one is started in some minutes", 1);
	end_spoiled(&holder, sockets, UIDS);
}

Test(engines, a_standby_that_dies_at_once_is_not_started_for_ever)
{
	start_engines_with("unable", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	engine_open_device(socket);
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
	engine_open_device(socket);
	await_log("none of the devices can be prepared", 1);
	engine_send(socket, "crash");
	cr_assert(eq(ptr, client_receive(socket), NULL));
	close_fd(&socket);
	CLEANUP(free_pointer) char *again = client_open(&service, &socket);
	cr_assert(ne(ptr, again, NULL));
	engine_open_device(socket);
	/* The same devices are not tried again until the configuration is read, which may have
	 * changed that. */
	cr_assert(eq(int, kill(service.pid, SIGHUP), 0));
	await_log("none of the devices can be prepared", 2);
	cr_assert(eq(uint, service_log_count(&service, "standby: started pid"), 2u));
	/* Other devices are tried. */
	engine_open_device(socket);
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
	engine_open_device(socket);
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
	engine_open_device(socket);
	pid_t before = (pid_t)standby_pid();
	cr_assert(eq(int, kill(service.pid, SIGHUP), 0));
	cr_assert(wait_until(process_is_gone, &before));
	cr_assert(ne(long, standby_pid(), (long)before));
	before = (pid_t)standby_pid();
	write_file(path, "[service]\nstandby = no\n");
	cr_assert(eq(int, kill(service.pid, SIGHUP), 0));
	cr_assert(wait_until(process_is_gone, &before));
	engine_open_device(socket);
	cr_assert(eq(uint, service_log_count(&service, "standby: started pid"), 2u));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}
