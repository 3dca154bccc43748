/* Sessions that are not open yet: whatever their users do with engines, they keep no descriptor of
 * the service for long. */
#include "supervisor/harness.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct service service;

static void clean_unsettled(void)
{
	service_free(&service);
}

TestSuite(unsettled, .fini = clean_unsettled, .timeout = 150);

static void start_unsettled_with(const char *manner, const char *configuration)
{
	service_prepare(&service, manner);
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path, configuration);
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
}

static int count_descriptors(void)
{
	char path[64];
	int count = 0;
	(void)snprintf(path, sizeof(path), "/proc/%ld/fd", (long)service.pid);
	DIR *folder = opendir(path);
	cr_assert(ne(ptr, folder, NULL));
	while (readdir(folder))
		count++;
	(void)closedir(folder);
	return count;
}

static bool has_descriptors(void *context)
{
	return count_descriptors() <= *(const int *)context;
}

static bool accepted(void *context)
{
	return service_log_count(&service, " from uid ") == *(const unsigned *)context;
}

/* Connects that many times as that user, and waits to be ended. */
static pid_t connect_as(uid_t uid, unsigned count)
{
	pid_t pid = fork();
	cr_assert(ge(int, pid, 0));
	if (pid > 0)
		return pid;
	if (uid != getuid() && setresuid(uid, uid, uid) < 0)
		_exit(1);
	for (unsigned i = 0; i < count; i++)
		if (client_connect(&service) < 0)
			_exit(2);
	for (;;)
		(void)pause();
}

/* Their process ends when the service has accepted them; the hellos stay with the engine. `before`:
 * the number of earlier sessions. */
static void connect_and_end(unsigned count, unsigned before)
{
	unsigned all = before + count;
	pid_t pid = connect_as(getuid(), count);
	cr_assert(wait_until(accepted, &all));
	(void)kill(pid, SIGKILL);
	cr_assert(eq(int, waitpid(pid, NULL, 0), pid));
}

Test(unsettled, a_stopped_engine_keeps_no_descriptors_of_processes_that_have_ended)
{
	start_unsettled_with("double", "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	pid_t engine = (pid_t)fact(facts, "pid=");
	cr_assert(eq(int, ctl_session_count(&service), 1));
	int before = count_descriptors();
	cr_assert(eq(int, kill(engine, SIGSTOP), 0));
	connect_and_end(20, 1);
	cr_expect(wait_until(has_descriptors, &before), "%d descriptors, %d before",
		  count_descriptors(), before);
	cr_assert(eq(int, kill(engine, SIGCONT), 0));
	CLEANUP(free_pointer) char *again = client_open(&service, &socket);
	cr_assert(ne(ptr, again, NULL), "the engine goes on");
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool has_no_session(void *context)
{
	(void)context;
	return ctl_session_count(&service) == 0;
}

Test(unsettled, a_process_that_ends_while_its_engine_starts_leaves_no_session)
{
	start_unsettled_with("unready", "[service]\nengine_start_seconds = 86400\n");
	connect_and_end(3, 0);
	cr_assert(wait_until(has_no_session, NULL));
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool has_phase(void *context)
{
	json_t *status = ctl_json(&service, "status");
	json_t *sessions = json_object_get(status, "sessions");
	bool found = false;
	for (size_t i = 0; i < json_array_size(sessions); i++)
		found |= !strcmp(
			json_string_value(json_object_get(json_array_get(sessions, i), "state")),
			context);
	json_decref(status);
	return found;
}

static bool has_one_session(void *context)
{
	(void)context;
	return ctl_session_count(&service) == 1;
}

Test(unsettled,
     an_engine_that_does_not_open_a_session_in_time_keeps_no_descriptors_and_the_client_is_told)
{
	start_unsettled_with("double", "[service]\nhandshake_seconds = 1\n");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	pid_t engine = (pid_t)fact(facts, "pid=");
	cr_assert(eq(int, ctl_session_count(&service), 1));
	int before = count_descriptors();
	cr_assert(eq(int, kill(engine, SIGSTOP), 0));
	CLEANUP(free_pointer) char *refused = client_refused(&service);
	cr_assert(ne(ptr, refused, NULL));
	cr_expect(ne(ptr, strstr(refused, "does not take the session in time"), NULL), "%s",
		  refused);
	cr_expect(wait_until(has_descriptors, &before));
	char over[] = "over";
	cr_expect(has_phase(over), "it is shown as over");
	cr_assert(eq(int, kill(engine, SIGCONT), 0));
	cr_expect(wait_until(has_one_session, NULL), "the engine has looked at it, and it is gone");
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(unsettled, all_together_take_half_of_the_descriptors_and_the_one_with_most_makes_room)
{
	enum { OF_ONE = 256, FIRST_UID = 20001 };
	if (geteuid() != 0)
		cr_skip_test("only root has clients of several users");
	start_unsettled_with("unready", "[service]\nengine_start_seconds = 86400\n");
	struct rlimit files = {.rlim_cur = 2048, .rlim_max = 4096};
	cr_assert(eq(int, prlimit(service.pid, RLIMIT_NOFILE, &files, NULL), 0));
	pid_t many[2];
	for (unsigned i = 0; i < 2; i++) {
		unsigned all = (i + 1) * OF_ONE;
		many[i] = connect_as(FIRST_UID + i, OF_ONE);
		cr_assert(wait_until(accepted, &all));
	}
	unsigned all = 2 * OF_ONE + 1;
	pid_t newcomer = connect_as(FIRST_UID + 2, 1);
	cr_assert(wait_until(accepted, &all));
	cr_expect(eq(int, ctl_session_count(&service), 2 * OF_ONE), "one went, one came");
	cr_expect(
		eq(uint, service_log_count(&service, "has no room for so many that connect"), 1u));
	cr_expect(eq(uint, service_log_count(&service, "is refused"), 0u));
	(void)kill(newcomer, SIGKILL);
	for (unsigned i = 0; i < 2; i++)
		(void)kill(many[i], SIGKILL);
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool has_no_engine(void *context)
{
	(void)context;
	json_t *status = ctl_json(&service, "status");
	json_t *rows = json_object_get(status, "tenants");
	unsigned count = 0;
	for (size_t i = 0; i < json_array_size(rows); i++)
		count += json_integer_value(
				 json_object_get(json_array_get(rows, i), "engine_pid")) != 0;
	json_decref(status);
	return count == 0;
}

Test(unsettled, a_client_that_sends_nothing_keeps_no_place_of_an_engine_of_its_own)
{
	start_unsettled_with("double", "[service]\nhandshake_seconds = 1\nengine_idle_seconds = "
				       "86400\n[isolation]\nisolation = session\n");
	int silent = client_connect_silently(&service);
	cr_assert(ge(int, silent, 0));
	Sycl__V1__Packet *packet = client_receive(silent);
	cr_assert(ne(ptr, packet, NULL), "it is told that it is given up");
	packet_free(packet);
	cr_expect(wait_until(has_no_engine, NULL));
	(void)close(silent);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(unsettled, a_client_that_connects_and_sends_nothing_is_ended)
{
	start_unsettled_with("double", "[service]\nhandshake_seconds = 1\n");
	int silent = client_connect_silently(&service);
	cr_assert(ge(int, silent, 0));
	Sycl__V1__Packet *packet = client_receive(silent);
	cr_assert(ne(ptr, packet, NULL));
	cr_assert(eq(int, packet->body_case, SYCL__V1__PACKET__BODY_ERROR));
	cr_assert(ne(ptr, strstr(packet->error->text, "no hello in time"), NULL), "%s",
		  packet->error->text);
	packet_free(packet);
	cr_assert(wait_until(has_no_session, NULL));
	(void)close(silent);
	cr_assert(eq(int, service_stop(&service), 0));
}
