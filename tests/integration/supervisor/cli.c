/* syclctl, and the sockets that it uses. */
#include "supervisor/harness.h"

#include "admin.pb-c.h"
#include "cleanup.h"
#include "protocol_limits.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static struct service service;

static void prepare_cli(void)
{
	service_prepare(&service, "double");
	(void)setenv("TERM", "xterm", 1);
}

static void clean_cli(void)
{
	service_free(&service);
}

TestSuite(cli, .init = prepare_cli, .fini = clean_cli, .timeout = 60);

static struct outcome ctl(const char *verb, const char *option)
{
	const char *arguments[] = {SYCLCTL_PROGRAM, verb,   "--runtime-dir",
				   service.runtime, option, NULL};
	return run_program(0, arguments);
}

static unsigned line_count(const char *text)
{
	unsigned count = 0;
	for (; *text; text++)
		count += *text == '\n';
	return count;
}

Test(cli, without_a_service_one_sentence_and_exit_3)
{
	static const char *const verbs[] = {"status", "devices", "sessions", "accounts", "version"};
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		struct outcome outcome = ctl(verbs[i], NULL);
		cr_assert(eq(int, outcome.status, 3), "%s", verbs[i]);
		cr_assert(ne(ptr, strstr(outcome.error, "no service runs"), NULL), "%s",
			  outcome.error);
		cr_assert(eq(ptr, strstr(outcome.error, "sycld.socket"), NULL));
		cr_assert(eq(uint, line_count(outcome.error), 1u));
		outcome_free(&outcome);
	}
	/* A service that was killed leaves its sockets. */
	service_start(&service, NULL);
	(void)kill(service.pid, SIGKILL);
	(void)service_wait(&service);
	struct outcome outcome = ctl("status", NULL);
	cr_assert(eq(int, outcome.status, 3));
	cr_expect(ne(ptr, strstr(outcome.error, "if sycld.socket is active"), NULL), "%s",
		  outcome.error);
	outcome_free(&outcome);
}

Test(cli, wrong_usage_exits_2_and_help_lists_every_verb)
{
	static const char *const wrong[][3] = {
		{SYCLCTL_PROGRAM, NULL, NULL},
		{SYCLCTL_PROGRAM, "dance", NULL},
		{SYCLCTL_PROGRAM, "status", "--colour"},
		{SYCLCTL_PROGRAM, "status", "devices"},
		{SYCLCTL_PROGRAM, "status", "--by=uid"},
		{SYCLCTL_PROGRAM, "sessions", "--device=cuda"},
		{SYCLCTL_PROGRAM, "sessions", "--uid=0"},
		{SYCLCTL_PROGRAM, "accounts", "--all"},
		{SYCLCTL_PROGRAM, "accounts", "--reason=none"},
		{SYCLCTL_PROGRAM, "accounts", "--by="},
		{SYCLCTL_PROGRAM, "accounts", "--by=uid,"},
		{SYCLCTL_PROGRAM, "accounts", "--by=users"},
		{SYCLCTL_PROGRAM, "accounts", "--uid=no such name"},
		{SYCLCTL_PROGRAM, "accounts", "--uid=4294967295"},
		{SYCLCTL_PROGRAM, "accounts", "--device=cuda"},
		{SYCLCTL_PROGRAM, "accounts", "--device=cuda:64"},
		{SYCLCTL_PROGRAM, "accounts", "--device=:1"},
		{SYCLCTL_PROGRAM, "accounts", "--device=abacus:1"},
		{SYCLCTL_PROGRAM, "accounts", "--cgroup=user.slice"},
	};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *arguments[] = {wrong[i][0], wrong[i][1], wrong[i][2], NULL};
		struct outcome outcome = run_program(0, arguments);
		cr_assert(eq(int, outcome.status, 2), "case %zu", i);
		cr_assert(eq(str, outcome.out, ""));
		cr_assert(ne(str, outcome.error, ""));
		outcome_free(&outcome);
	}
	const char *arguments[] = {SYCLCTL_PROGRAM, "help", NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_assert(eq(int, outcome.status, 0));
	static const char *const verbs[] = {"status",  "devices", "sessions", "accounts",
					    "version", "help",    "--json"};
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		cr_assert(ne(ptr, strstr(outcome.out, verbs[i]), NULL), "%s", verbs[i]);
	outcome_free(&outcome);
}

static void must_have(const json_t *object, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cr_assert(ne(ptr, json_object_get(object, names[i]), NULL), "no '%s'", names[i]);
}

Test(cli, status_json_is_one_object_with_all_that_is_promised)
{
	static const char *const top[] = {"service", "devices", "tenants", "sessions"};
	static const char *const tenant_names[] = {"uid", "engine_pid", "state", "since",
						   "descriptors"};
	static const char *const session_names[] = {
		"id",
		"uid",
		"pid",
		"command",
		"queues",
		"command_groups_submitted",
		"command_groups_completed",
		"bytes_held",
		"since",
		"command_groups_resubmitted",
	};
	service_start(&service, NULL);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	json_t *status = ctl_json(&service, "status");
	must_have(status, top, 4);
	const json_t *tenant = json_array_get(json_object_get(status, "tenants"), 0);
	must_have(tenant, tenant_names, 5);
	cr_assert(eq(long, (long)json_integer_value(json_object_get(tenant, "engine_pid")),
		     fact(facts, "pid=")));
	cr_assert(eq(long, (long)json_integer_value(json_object_get(tenant, "uid")),
		     (long)geteuid()));
	cr_assert(eq(str, (char *)(uintptr_t)json_string_value(json_object_get(tenant, "state")),
		     "ready"));
	const json_t *session = json_array_get(json_object_get(status, "sessions"), 0);
	must_have(session, session_names, 10);
	cr_assert(eq(long, (long)json_integer_value(json_object_get(session, "pid")),
		     (long)getpid()));
	cr_assert(eq(long, (long)json_integer_value(json_object_get(session, "queues")), 3L));
	cr_assert(eq(long,
		     (long)json_integer_value(json_object_get(session, "command_groups_submitted")),
		     12L));
	cr_assert(eq(long,
		     (long)json_integer_value(json_object_get(session, "command_groups_completed")),
		     11L));
	cr_assert(
		eq(long,
		   (long)json_integer_value(json_object_get(session, "command_groups_resubmitted")),
		   7L));
	cr_assert(
		eq(long, (long)json_integer_value(json_object_get(session, "bytes_held")), 4096L));
	json_decref(status);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(cli, text_is_for_people_without_colours_or_anything_hostile)
{
	service_start(&service, NULL);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	struct outcome devices = ctl("devices", NULL);
	cr_assert(eq(int, devices.status, 0));
	cr_assert(ne(ptr, strstr(devices.out, "Double ?]0;owned? Device"), NULL), "%s",
		  devices.out);
	outcome_free(&devices);
	struct outcome outcome = ctl("status", NULL);
	cr_assert(eq(int, outcome.status, 0));
	cr_assert(ne(ptr, strstr(outcome.out, "double?[31mclient?"), NULL), "%s", outcome.out);
	cr_assert(ne(ptr, strstr(outcome.out, "4.0 KiB"), NULL), "%s", outcome.out);
	cr_assert(ne(ptr, strstr(outcome.out, "11/12"), NULL), "%s", outcome.out);
	for (const char *at = outcome.out; *at; at++)
		if (*at != '\n')
			cr_assert(ge(int, (unsigned char)*at, 0x20));
	outcome_free(&outcome);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(cli, every_verb_has_a_json_form_that_parses)
{
	static const char *const verbs[] = {"status", "devices", "sessions", "accounts", "version"};
	service_start(&service, NULL);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		json_t *parsed = ctl_json(&service, verbs[i]);
		cr_assert(ne(ptr, parsed, NULL), "%s", verbs[i]);
		cr_assert(eq(int, (int)json_typeof(parsed), JSON_OBJECT), "%s", verbs[i]);
		json_decref(parsed);
	}
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(cli, a_full_output_is_an_error)
{
	service_start(&service, NULL);
	char command[HARNESS_PATH_BYTES * 4];
	(void)snprintf(command, sizeof(command), "%s status --runtime-dir %s > /dev/full",
		       SYCLCTL_PROGRAM, service.runtime);
	const char *arguments[] = {"/bin/sh", "-c", command, NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_assert(eq(int, outcome.status, 1));
	outcome_free(&outcome);
	cr_assert(eq(int, service_stop(&service), 0));
}

static void send_raw(const char *bytes, size_t count)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%.80s/status.sock",
		       service.runtime);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert(eq(int, connect(fd, (struct sockaddr *)&address, sizeof(address)), 0));
	(void)send(fd, bytes, count, MSG_NOSIGNAL);
	(void)close(fd);
}

/* The service's answer to these bytes as a request. */
static Sycl__V1__AdminReply *send_admin_bytes(const void *bytes, size_t count)
{
	char url[HARNESS_PATH_BYTES * 2];
	(void)snprintf(url, sizeof(url), "ipc://%s/status.sock", service.runtime);
	nng_socket socket;
	cr_assert(eq(int, nng_req0_open(&socket), 0));
	cr_assert(eq(int, nng_socket_set_ms(socket, NNG_OPT_RECVTIMEO, HARNESS_DEADLINE_MS), 0));
	cr_assert(eq(int, nng_dial(socket, url, NULL, 0), 0));
	cr_assert(eq(int, nng_send(socket, (void *)(uintptr_t)bytes, count, 0), 0));
	nng_msg *message = NULL;
	cr_assert(eq(int, nng_recvmsg(socket, &message, 0), 0));
	Sycl__V1__AdminReply *reply =
		sycl__v1__admin_reply__unpack(NULL, nng_msg_len(message), nng_msg_body(message));
	nng_msg_free(message);
	(void)nng_close(socket);
	return reply;
}

static void must_answer_error(const void *bytes, size_t count, int code)
{
	Sycl__V1__AdminReply *reply = send_admin_bytes(bytes, count);
	cr_assert(ne(ptr, reply, NULL));
	cr_assert(ne(ptr, reply->error, NULL));
	cr_assert(eq(int, reply->error->code, code));
	sycl__v1__admin_reply__free_unpacked(reply, NULL);
}

Test(cli, garbage_on_the_status_socket_is_answered_or_dropped_without_harm)
{
	service_start(&service, NULL);
	char noise[5000];
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(i * 31 + 7);
	send_raw(noise, 1);
	send_raw(noise, sizeof(noise));
	/* A greeting of the right protocol, then a message that claims 2^62 bytes. */
	static const char greeting[] = "\0SP\0\0\x30\0\0\x01\x40\0\0\0\0\0\0\0junk";
	send_raw(greeting, sizeof(greeting));
	must_answer_error("\xff\xff\xff", 3, STATUS_INVALID);
	must_answer_error("\x08", 1, STATUS_INVALID);

	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	uint8_t packed[64];
	request.protocol = 9u << 16;
	must_answer_error(packed, sycl__v1__admin_request__pack(&request, packed), STATUS_VERSION);
	request.protocol = PROTOCOL_VERSION;
	must_answer_error(packed, sycl__v1__admin_request__pack(&request, packed), STATUS_INVALID);

	cr_assert(eq(int, ctl_session_count(&service), 0));
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(cli, sockets_have_the_modes_of_the_users_who_may_query)
{
	static const struct {
		const char *name;
		mode_t mode;
	} sockets[] = {{"session.sock", 0666}, {"status.sock", 0666}, {"admin.sock", 0660}};
	service_start(&service, NULL);
	for (size_t i = 0; i < sizeof(sockets) / sizeof(*sockets); i++) {
		char path[HARNESS_PATH_BYTES * 2];
		struct stat facts;
		(void)snprintf(path, sizeof(path), "%s/%s", service.runtime, sockets[i].name);
		cr_assert(eq(int, stat(path, &facts), 0));
		cr_assert(eq(uint, facts.st_mode & 0777u, sockets[i].mode), "%s", sockets[i].name);
	}
	cr_assert(eq(int, service_stop(&service), 0));
}

static uint64_t service_cli_now_ms(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* These are fewer clients than an engine can have requests without a reply. */
enum { ASKERS = 3, ROUNDS = 150, WINDOW_MS = 100, FREELY = 16 };

static void open_askers(nng_socket *sockets_out)
{
	char url[HARNESS_PATH_BYTES * 2];
	(void)snprintf(url, sizeof(url), "ipc://%s/status.sock", service.runtime);
	for (unsigned i = 0; i < ASKERS; i++) {
		nng_socket *socket = &sockets_out[i];
		cr_assert(eq(int, nng_req0_open(socket), 0));
		cr_assert(eq(int,
			     nng_socket_set_ms(*socket, NNG_OPT_RECVTIMEO, HARNESS_DEADLINE_MS),
			     0));
		cr_assert(eq(int, nng_dial(*socket, url, NULL, 0), 0));
	}
}

/* Returns the number of requests that the engine had received when it reported; it counts them as
 * `copies`. */
static uint64_t receive_count(nng_socket socket)
{
	nng_msg *message = NULL;
	cr_assert(eq(int, nng_recvmsg(socket, &message, 0), 0));
	Sycl__V1__AdminReply *reply =
		sycl__v1__admin_reply__unpack(NULL, nng_msg_len(message), nng_msg_body(message));
	nng_msg_free(message);
	cr_assert(ne(ptr, reply, NULL));
	cr_assert(eq(sz, reply->n_engines, 1u));
	cr_assert(reply->engines[0]->reported, "an answer that is reused is one, too");
	uint64_t count = reply->engines[0]->copies;
	sycl__v1__admin_reply__free_unpacked(reply, NULL);
	return count;
}

/* All of them send a request before the first one reads its answer, repeatedly. Returns the highest
 * count. */
static uint64_t ask_often(const nng_socket *sockets, unsigned rounds)
{
	uint8_t packed[64];
	uint64_t most = 0;
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	Sycl__V1__StatusQuery query = SYCL__V1__STATUS_QUERY__INIT;
	request.protocol = PROTOCOL_VERSION;
	request.body_case = SYCL__V1__ADMIN_REQUEST__BODY_STATUS;
	request.status = &query;
	size_t size = sycl__v1__admin_request__pack(&request, packed);
	for (unsigned round = 0; round < rounds; round++) {
		for (unsigned i = 0; i < ASKERS; i++)
			cr_assert(eq(int, nng_send(sockets[i], packed, size, 0), 0));
		for (unsigned i = 0; i < ASKERS; i++) {
			uint64_t count = receive_count(sockets[i]);
			most = count > most ? count : most;
		}
	}
	return most;
}

/*
 * The engine may get so many requests in each window that has begun. The longer the requests take,
 * the more windows begin, until all of them may be passed on. Then this shows nothing, and is
 * repeated. On a machine that is always so slow it shows nothing at all.
 */
Test(cli, many_queries_share_one_request_to_an_engine, .timeout = 200)
{
	nng_socket sockets[ASKERS];
	bool shows = false;
	service_start(&service, NULL);
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	open_askers(sockets);
	for (unsigned times = 0; times < 40 && !shows; times++) {
		uint64_t before = ask_often(sockets, 1), begun_ms = service_cli_now_ms();
		uint64_t asked = ask_often(sockets, ROUNDS) - before;
		uint64_t windows = (service_cli_now_ms() - begun_ms) / WINDOW_MS + 2;
		uint64_t allowed = windows * (FREELY + 1) + ASKERS;
		shows = allowed < ROUNDS * ASKERS;
		if (shows)
			cr_expect(le(u64, asked, allowed));
	}
	for (unsigned i = 0; i < ASKERS; i++)
		(void)nng_close(sockets[i]);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
	if (!shows)
		cr_skip_test("the machine is too slow to show it");
}
