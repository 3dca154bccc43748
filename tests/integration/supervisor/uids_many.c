/*
 * Many users on one service, as root. A user can have many uids (subordinate uids). They take
 * nothing from other users, neither figures nor engines. A plain program: 77 without root.
 */
#include "supervisor/harness.h"

#include "admin.pb-c.h"
#include "cleanup.h"
#include "protocol_limits.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Far from uids that systems give to users and services. */
enum { UID_FIRST = 1500000000, USER_OF_BLOCK_0 = 64001, SKIPPED = 77, FILES = 4096 };

static unsigned failures;
static struct service service;

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,           \
				      #condition);                                                 \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

static void be(uid_t uid)
{
	if (setresuid(uid, uid, 0) < 0)
		abort();
}

/* Opens a session of that user. -1: refused; then `why_out` (or NULL) is the reason, which the
 * caller frees. */
static int open_as(uid_t uid, char **why_out)
{
	int socket = -1;
	be(uid);
	CLEANUP(free_pointer)
	__attribute__((unused)) char *facts = why_out ? NULL : client_open(&service, &socket);
	if (why_out)
		*why_out = client_refused(&service);
	be(0);
	return socket;
}

static void start_many_with(const char *configuration)
{
	char path[HARNESS_PATH_BYTES * 2];
	service_prepare(&service, "double");
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path, configuration);
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
}

static void end_many(void)
{
	CHECK(service_stop(&service) == 0);
	service_free(&service);
}

/* Returns the number of ended sessions in a user's row of that answer; -1: there is no row. */
static json_int_t ended_of(const json_t *accounts, uid_t uid)
{
	json_t *row;
	json_int_t ended = -1;
	size_t i;
	json_array_foreach(json_object_get(accounts, "accounts"), i,
			   row) if (json_integer_value(json_object_get(row, "uid")) == uid) ended =
		json_integer_value(json_object_get(row, "sessions_ended"));
	return ended;
}

static json_int_t ended_sessions(uid_t uid)
{
	json_t *accounts = ctl_json(&service, "accounts");
	json_int_t ended = ended_of(accounts, uid);
	json_decref(accounts);
	return ended;
}

static size_t tenant_count(void)
{
	json_t *status = ctl_json(&service, "status");
	size_t count = json_array_size(json_object_get(status, "tenants"));
	json_decref(status);
	return count;
}

static bool all_have_ended(void *unused)
{
	(void)unused;
	return ctl_session_count(&service) == 0;
}

/* Opens and closes a session. A refusal is printed. */
static void one_session(uid_t uid)
{
	be(uid);
	CLEANUP(close_fd) int socket = client_connect(&service);
	Sycl__V1__Packet *packet = socket >= 0 ? client_receive(socket) : NULL;
	be(0); /* not before: the service may compare the uid with that of the process */
	CHECK(packet && packet->body_case == SYCL__V1__PACKET__BODY_WELCOME);
	if (packet && packet->body_case == SYCL__V1__PACKET__BODY_ERROR)
		(void)fprintf(stderr, "uid %lu is refused: %s\n", (unsigned long)uid,
			      packet->error->text);
	packet_free(packet);
}

static void who_is_refused_leaves_nothing_behind(void)
{
	enum { CROWD = 1100 };
	start_many_with("[service]\nengines = 1\nengine_idle_seconds = 0\n");
	one_session(UID_FIRST);
	CHECK(wait_until(all_have_ended, NULL));
	int held = open_as(0, NULL);
	CHECK(held >= 0 && tenant_count() == 2 && ended_sessions(UID_FIRST) == 1);
	for (uid_t i = 1; i <= CROWD; i++) {
		char *why = NULL;
		(void)open_as(UID_FIRST + i, &why);
		CHECK(why && strstr(why, "engines"));
		free(why);
	}
	CHECK(tenant_count() == 2);
	CHECK(ended_sessions(UID_FIRST) == 1);
	close_fd(&held);
	end_many();
}

/* At once, before their uids have been looked up. */
static void who_comes_while_nobody_is_let_in_leaves_nothing_behind(void)
{
	enum { CROWD = 20 };
	start_many_with("[service]\nengine_idle_seconds = 0\n");
	const char *drain[] = {SYCLCTL_PROGRAM, "--runtime-dir", service.runtime,
			       "drain",         "--all",         NULL};
	struct outcome outcome = run_program(0, drain);
	CHECK(outcome.status == 0);
	outcome_free(&outcome);
	for (uid_t i = 0; i < CROWD; i++) {
		char *why = NULL;
		(void)open_as(UID_FIRST + i, &why);
		CHECK(why && strstr(why, "accepts no new sessions"));
		free(why);
	}
	CHECK(tenant_count() == 0);
	end_many();
}

/* The sum is unchanged, also after a restart, and a user with a name keeps a row. */
static void who_was_served_is_counted_for_ever(void)
{
	enum { CROWD = 300, OWN_ROWS = 256 };
	const struct passwd *named = getpwnam("daemon");
	start_many_with("[service]\nengine_idle_seconds = 0\n");
	if (named)
		one_session(named->pw_uid);
	for (uid_t i = 0; i < CROWD; i++)
		one_session(UID_FIRST + i);
	CHECK(wait_until(all_have_ended, NULL));
	for (int restarted = 0; restarted < 2; restarted++) {
		/* One request answers for all of them, because a process for each user takes most
		 * of the test. */
		json_t *accounts = ctl_json(&service, "accounts");
		CHECK(!named || ended_of(accounts, named->pw_uid) == 1);
		CHECK(ended_of(accounts, UID_FIRST) == -1);
		CHECK(ended_of(accounts, UID_FIRST + CROWD - 1) == 1);
		json_int_t together = ended_of(accounts, (uid_t)-1), alone = 0;
		for (uid_t i = 0; i < CROWD; i++)
			alone += ended_of(accounts, UID_FIRST + i) == 1;
		json_decref(accounts);
		CHECK(together >= CROWD - OWN_ROWS && together + alone == CROWD);
		if (!restarted) {
			CHECK(service_stop(&service) == 0);
			service_start(&service, NULL);
		}
	}
	end_many();
}

static bool one_waits(void *unused)
{
	(void)unused;
	return ctl_session_count(&service) == 1;
}

/* Uids from UID_FIRST on are looked up when the gate opens. */
static void start_many_slow(const char *count, char *gate_out, size_t gate_bytes)
{
	service_prepare(&service, "double");
	(void)snprintf(gate_out, gate_bytes, "%s/gate", service.folder);
	if (mkfifo(gate_out, 0600) < 0)
		abort();
	(void)setenv("SYCLD_TEST_SLOW_UIDS", count, 1);
	service_start_slow(&service, NULL, SLOW_USER_DATABASE, UID_FIRST, gate_out);
}

static void who_is_looked_up_slowly_delays_nobody_else(void)
{
	char gate[HARNESS_PATH_BYTES * 2];
	start_many_slow("1", gate, sizeof(gate));
	be(UID_FIRST);
	int slow = client_connect(&service);
	be(0);
	CHECK(wait_until(one_waits, NULL));
	for (uid_t i = 1; i <= 20; i++)
		one_session(UID_FIRST + i);
	CLEANUP(close_fd) int opened = open(gate, O_RDWR | O_CLOEXEC);
	Sycl__V1__Packet *packet = client_receive(slow);
	CHECK(opened >= 0 && packet && packet->body_case == SYCL__V1__PACKET__BODY_WELCOME);
	packet_free(packet);
	close_fd(&slow);
	end_many();
}

/* Both new users get a session while none of the crowd has: the gate stays closed. */
static void made_up_uids_that_are_looked_up_slowly_delay_no_newcomer(uid_t named)
{
	enum { CROWD = 300, BLOCK = 65536 };
	char gate[HARNESS_PATH_BYTES * 2];
	int sockets[CROWD];
	start_many_slow("300", gate, sizeof(gate));
	for (uid_t i = 0; i < CROWD; i++) {
		be(UID_FIRST + i);
		sockets[i] = client_connect(&service);
		be(0);
	}
	one_session(named);
	one_session(UID_FIRST + 2 * BLOCK);
	for (int i = 0; i < CROWD; i++)
		close_fd(&sockets[i]);
	end_many();
}

static void must_be_refused(uid_t uid, const char *words)
{
	char *why = NULL;
	(void)open_as(uid, &why);
	CHECK(why && strstr(why, words));
	if (why && !strstr(why, words))
		(void)fprintf(stderr, "uid %lu is refused: %s\n", (unsigned long)uid, why);
	free(why);
}

/* Returns the engine of that user; 0: there is none. */
static json_int_t uids_many_engine_of(uid_t uid)
{
	json_t *status = ctl_json(&service, "status"), *row;
	json_int_t pid = 0;
	size_t i;
	json_array_foreach(json_object_get(status, "tenants"), i,
			   row) if (json_integer_value(json_object_get(row, "uid")) == uid &&
				    json_integer_value(json_object_get(row, "engine_pid"))) pid =
		json_integer_value(json_object_get(row, "engine_pid"));
	json_decref(status);
	return pid;
}

/* Each user with a name has a quarter, and all users without a name have one together. */
static void no_user_has_more_than_a_quarter(uid_t named)
{
	int sockets[5];
	start_many_with("[service]\nengines = 8\n[isolation]\nisolation = session\n");
	sockets[0] = open_as(named, NULL);
	sockets[1] = open_as(named, NULL);
	must_be_refused(named, "this user has as many engines as one may (2 of 8)");
	sockets[2] = open_as(UID_FIRST, NULL);
	sockets[3] = open_as(UID_FIRST + 1, NULL);
	must_be_refused(UID_FIRST + 2, "together, as many engines as they may (2 of 8)");
	sockets[4] = open_as(0, NULL);
	for (int i = 0; i < 5; i++) {
		CHECK(sockets[i] >= 0);
		close_fd(&sockets[i]);
	}
	end_many();
}

static bool has_no_session(void *context)
{
	uid_t uid = *(const uid_t *)context;
	return ended_sessions(uid) > 0;
}

/* Opens a session, and leaves its engine without work. */
static void leave_idle(uid_t uid)
{
	one_session(uid);
	CHECK(wait_until(has_no_session, &uid));
}

static void who_comes_to_a_full_service_has_the_place_of_who_is_idle_longest(uid_t one, uid_t two)
{
	start_many_with("[service]\nengines = 2\nengine_idle_seconds = 3600\n");
	leave_idle(one);
	leave_idle(two);
	json_int_t kept = uids_many_engine_of(two);
	CHECK(uids_many_engine_of(one) > 0 && kept > 0);
	int held = open_as(0, NULL);
	CHECK(held >= 0);
	CHECK(uids_many_engine_of(one) == 0 && uids_many_engine_of(two) == kept);
	int busy = open_as(two, NULL);
	CHECK(busy >= 0 && uids_many_engine_of(two) == kept);
	must_be_refused(one, "as many engines as it may (2)");
	close_fd(&busy);
	close_fd(&held);
	end_many();
}

/* Uids without users take each other's places, and no user's. */
static void who_is_many_has_one_part(uid_t named)
{
	start_many_with("[service]\nengines = 8\nengine_idle_seconds = 3600\n");
	leave_idle(named);
	json_int_t kept = uids_many_engine_of(named);
	for (uid_t i = 0; i < 20; i++)
		leave_idle(UID_FIRST + i);
	CHECK(kept > 0 && uids_many_engine_of(named) == kept);
	unsigned count = 0;
	for (uid_t i = 0; i < 20; i++)
		count += uids_many_engine_of(UID_FIRST + i) > 0;
	CHECK(count == 2);
	end_many();
}

static void who_is_not_known_can_be_refused(uid_t named)
{
	start_many_with("[service]\nunknown_users = refuse\n");
	must_be_refused(UID_FIRST, "uid 1500000000 is not in the user database");
	one_session(named);
	one_session(0);
	end_many();
}

enum { GREETING_BYTES = 8, HEADER_BYTES = 4, PREFIX_BYTES = 9, REQUEST_BYTES = 256 };

/* Connects to status.sock as that user. -1: hung up. */
static int open_status_as(uid_t uid)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint8_t greeting[GREETING_BYTES];
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%.80s/status.sock",
		       service.runtime);
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	be(uid);
	int r = connect(fd, (const struct sockaddr *)&address, sizeof(address));
	be(0);
	CHECK(r == 0);
	/* The service greets whom it does not hang up on. */
	return recv(fd, greeting, sizeof(greeting), MSG_WAITALL) == GREETING_BYTES ? take_fd(&fd)
										   : -1;
}

static void request_devices(int fd, bool discover)
{
	static const uint8_t greeting[GREETING_BYTES] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
	uint8_t bytes[GREETING_BYTES + PREFIX_BYTES + HEADER_BYTES + REQUEST_BYTES] = {0};
	Sycl__V1__DevicesQuery devices = SYCL__V1__DEVICES_QUERY__INIT;
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	devices.discover = discover;
	request.protocol = PROTOCOL_MAJOR << 16;
	request.body_case = SYCL__V1__ADMIN_REQUEST__BODY_DEVICES;
	request.devices = &devices;
	uint8_t *prefix = bytes + GREETING_BYTES, *header = prefix + PREFIX_BYTES;
	memcpy(bytes, greeting, sizeof(greeting));
	size_t size = sycl__v1__admin_request__get_packed_size(&request);
	if (size > REQUEST_BYTES)
		abort();
	prefix[0] = 1;
	prefix[PREFIX_BYTES - 1] = (uint8_t)(size + HEADER_BYTES);
	header[0] = 0x80;
	(void)sycl__v1__admin_request__pack(&request, header + HEADER_BYTES);
	size += (size_t)(header + HEADER_BYTES - bytes);
	CHECK(send(fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size);
}

/* Returns true if the answer is no refusal. */
static bool is_answered(int fd)
{
	uint8_t bytes[REQUEST_BYTES * 16];
	ssize_t count = recv(fd, bytes, sizeof(bytes), 0);
	ssize_t head = PREFIX_BYTES + HEADER_BYTES;
	return count >= head &&
	       !memmem(bytes, (size_t)count, "too many questions", strlen("too many questions"));
}

/* Uids of one block, each with as many connections as a uid may have. */
static void who_is_many_leaves_room_at_the_status_socket(uid_t named)
{
	enum { UIDS = 16, EACH = 16 };
	int sockets[UIDS * EACH], accepted = 0;
	start_many_with("");
	for (int i = 0; i < UIDS * EACH; i++) {
		sockets[i] = open_status_as(UID_FIRST + (uid_t)(i / EACH));
		accepted += sockets[i] >= 0;
	}
	CHECK(accepted >= EACH && accepted < UIDS * EACH / 2);
	CLEANUP(close_fd) int other = open_status_as(named);
	CLEANUP(close_fd) int newcomer = open_status_as(UID_FIRST + 2 * 65536);
	CHECK(other >= 0);
	CHECK(newcomer >= 0);
	for (int i = 0; i < UIDS * EACH; i++)
		close_fd(&sockets[i]);
	end_many();
}

/* A user of the observers' group connects when users have taken all places. */
static void an_observer_has_a_place_when_all_are_taken(const struct group *observers)
{
	enum { UIDS = 17, EACH = 16, ALL = 256 };
	char configuration[HARNESS_PATH_BYTES];
	int sockets[UIDS * EACH], accepted = 0;
	(void)snprintf(configuration, sizeof(configuration), "[service]\nobserver_group = %s\n",
		       observers->gr_name);
	start_many_with(configuration);
	for (int i = 0; i < UIDS * EACH; i++) {
		sockets[i] = open_status_as(USER_OF_BLOCK_0 + (uid_t)(i / EACH));
		accepted += sockets[i] >= 0;
	}
	CHECK(accepted == ALL);
	CHECK(setgroups(1, &observers->gr_gid) == 0);
	CLEANUP(close_fd) int observer = open_status_as(USER_OF_BLOCK_0 + UIDS);
	CHECK(setgroups(0, NULL) == 0);
	CHECK(observer >= 0);
	for (int i = 0; i < UIDS * EACH; i++)
		close_fd(&sockets[i]);
	end_many();
}

/* Their engines do not become ready, so the requests stay open. */
static void who_is_many_leaves_room_for_questions(uid_t named)
{
	enum { UIDS = 8, EACH = 8 };
	int sockets[UIDS * EACH];
	service_prepare(&service, "unready");
	service_start(&service, NULL);
	for (int i = 0; i < UIDS * EACH; i++) {
		sockets[i] = open_status_as(UID_FIRST + (uid_t)(i / EACH));
		CHECK(sockets[i] >= 0);
		request_devices(sockets[i], true);
	}
	CLEANUP(close_fd) int other = open_status_as(named);
	request_devices(other, false);
	CHECK(is_answered(other));
	for (int i = 0; i < UIDS * EACH; i++)
		close_fd(&sockets[i]);
	end_many();
}

int main(void)
{
	struct rlimit files = {FILES, FILES};
	if (geteuid() != 0) {
		(void)fputs("skipped: only root can become other users\n", stderr);
		return SKIPPED;
	}
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		abort();
	who_is_refused_leaves_nothing_behind();
	who_comes_while_nobody_is_let_in_leaves_nothing_behind();
	who_was_served_is_counted_for_ever();
	who_is_looked_up_slowly_delays_nobody_else();
	who_is_many_leaves_room_at_the_status_socket(USER_OF_BLOCK_0);
	who_is_many_leaves_room_for_questions(USER_OF_BLOCK_0);
	const struct group *group = getgrnam("daemon");
	if (group)
		an_observer_has_a_place_when_all_are_taken(group);
	const struct passwd *one = getpwnam("daemon"), *two;
	uid_t named = one ? one->pw_uid : 0;
	two = getpwnam("bin");
	if (named && two) {
		made_up_uids_that_are_looked_up_slowly_delay_no_newcomer(named);
		no_user_has_more_than_a_quarter(named);
		who_comes_to_a_full_service_has_the_place_of_who_is_idle_longest(named,
										 two->pw_uid);
		who_is_many_has_one_part(named);
		who_is_not_known_can_be_refused(named);
	} else {
		(void)fputs(
			"left out: engines of users with names, as there is no user daemon or bin\n",
			stderr);
	}
	if (failures)
		(void)fprintf(stderr, "%u failures\n", failures);
	return failures ? 1 : 0;
}
