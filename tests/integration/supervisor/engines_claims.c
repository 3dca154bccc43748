/* Engines that report too often, make false claims, or write without end. */
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

Test(engines, an_engine_that_reports_open_devices_too_often_is_ended)
{
	start_engines_with("double", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	engine_send(socket, "reopen");
	cr_assert(eq(ptr, client_receive(socket), NULL));
	await_log("it sends messages that were not requested", 1);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, TG15_an_engine_that_reports_spills_too_often_is_ended)
{
	start_engines_with("double", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	engine_send(socket, "overflow");
	await_log("it sends messages that were not requested", 1);
	cr_expect(le(uint, service_log_count(&service, "cuda:0 is full"), 16u));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

static void one_that_wants_too_often(const char *configuration)
{
	start_engines_with("double", configuration);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	engine_send(socket, "want");
	cr_assert(eq(ptr, client_receive(socket), NULL));
	await_log("it sends messages that were not requested", 1);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, an_engine_that_requests_a_device_too_often_is_ended)
{
	one_that_wants_too_often("[shares]\ndefault = 10\n");
}

Test(engines, so_is_one_that_says_so_where_nothing_is_divided)
{
	one_that_wants_too_often("");
}

static void expect_wake(int socket, const char *order)
{
	engine_send(socket, order);
	Sycl__V1__Packet *packet = client_receive(socket);
	cr_assert(ne(ptr, packet, NULL), "after '%s' the engine is gone", order);
	cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_WAKE));
	packet_free(packet);
}

/* Returns false if the engine takes no more messages. */
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
	await_log("now takes part in the division", 1);
	/* The engine has the pages of its share. */
	expect_wake(socket, "lie");
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Whatever it claims, the service continues to read its page and to answer. */
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

Test(engines, an_engines_claims_of_device_time_harm_no_other)
{
	one_that_claims_everything("[shares]\ndefault = 10\n");
}

Test(engines, nor_does_it_where_users_take_turns)
{
	one_that_claims_everything("[shares]\nmode = exclusive\ndefault = 10-90\n");
}

/* A search for devices does not count as work that waits. */
Test(engines, listing_devices_leaves_the_standby_for_others)
{
	start_engines_with("double", "[isolation]\nisolation = session\n");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	engine_open_device(socket);
	long pid = standby_pid();
	cr_assert(devices_in("devices", 1));
	cr_assert(eq(long, standby_pid(), pid));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Two engines of one user, each with a session. Returns the output of `syclctl devices`. */
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

Test(engines, one_engines_claim_of_a_device_is_not_shown_as_anothers)
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

/* The service's peak of memory, KiB. */
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

Test(engines, one_whose_two_reports_have_no_end_in_turn_is_ended)
{
	start_engines_with("juggler", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	/* The first request is not answered until the second one. */
	for (int i = 0; i < 2; i++)
		(void)ctl_session_count(&service);
	await_log("its report has too many parts", 1);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* If the engine runs, it answers this message with a Wake. */
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
	/* 5.6 MB were written. A line counts for more than its text: 352 fit into a window. */
	cr_expect(lt(uint, service_log_count(&service, "one of very many lines"), 1000u));
	cr_assert(eq(int, ctl_session_count(&service), 1));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_aborts_by_an_assertion_blames_no_command_group)
{
	start_engines_with("double", "");
	crash_and_check("abort",
			"says: clEnqueue.c:12: f: Assertion `found->ref_count > 0' failed.",
			"aborted by itself: clEnqueue.c:12");
	cr_expect(eq(uint, service_log_count(&service, "suspect"), 0u));
	cr_expect(eq(uint, service_log_count(&service, "command groups were in flight"), 0u));
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(engines, one_that_the_c_library_aborts_has_its_words_in_the_reason)
{
	start_engines_with("double", "");
	crash_and_check("heap", "(Aborted) after the line: free(): invalid pointer",
			"after the line: free(): invalid pointer; offender: ");
	cr_assert(eq(int, service_stop(&service), 0));
}

/* As an engine that cannot forbid processes. */
Test(engines, one_that_ends_itself_for_a_reason_blames_no_command)
{
	start_engines_with("double", "");
	crash_and_check("give up", "aborted by itself: it cannot be safe", "it cannot be safe");
	cr_assert(zero(uint, service_log_count(&service, "doomed_kernel")));
	cr_assert(eq(int, service_stop(&service), 0));
}
