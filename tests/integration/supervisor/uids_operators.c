/*
 * Users who may give orders: members of the configured admin_group, and no others. A plain program,
 * which must run as root: 77 without.
 */
#include "supervisor/harness.h"

#include "cleanup.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UID_FIRST = 64001, UID_LAST = 64900, SKIPPED = 77, LINE_BYTES = 256 };

static unsigned failures;
static struct service service;
static char ctl[HARNESS_PATH_BYTES];
static uid_t somebody;
static gid_t admins, observers; /* real groups */
static char session[24];        /* of root */

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,           \
				      #condition);                                                 \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

/* Runs `syclctl WORDS...` as a user in that group. Returns true if it succeeds. If not, it prints
 * the reason. */
static bool may(uid_t uid, gid_t group, const char *const words[4])
{
	const char *arguments[8] = {ctl, "--runtime-dir", service.runtime};
	for (int i = 0; i < 4; i++)
		arguments[3 + i] = words[i];
	struct outcome outcome = run_program_in_group(uid, group, arguments);
	bool done = outcome.status == 0;
	CHECK(done ||
	      (outcome.status == 1 &&
	       strstr(outcome.error, "only root and members of the administrators' group")));
	outcome_free(&outcome);
	return done;
}

#define MAY(uid, group, ...) may(uid, group, (const char *const[4]){__VA_ARGS__})

/* Returns true if a new session of root is accepted. If not, checks the reason. */
static bool is_let_in(const char *reason)
{
	CLEANUP(close_fd) int socket = client_connect(&service);
	Sycl__V1__Packet *packet = client_receive(socket);
	bool let_in = packet && packet->body_case == SYCL__V1__PACKET__BODY_WELCOME;
	CHECK(let_in || (packet && packet->body_case == SYCL__V1__PACKET__BODY_ERROR &&
			 strstr(packet->error->text, reason)));
	packet_free(packet);
	return let_in;
}

/* The reason may come first. */
static bool hangs_up(int socket)
{
	Sycl__V1__Packet *packet = client_receive(socket);
	bool has_reason = packet != NULL;
	packet_free(packet);
	packet = has_reason ? client_receive(socket) : NULL;
	bool ended = packet == NULL;
	packet_free(packet);
	return ended;
}

static bool only_one_is_open(void *unused)
{
	(void)unused;
	return ctl_session_count(&service) == 1;
}

/* Returns how often a line of the log that begins with this text names them as the operator. */
static unsigned ordered(const char *what)
{
	char line[LINE_BYTES];
	(void)snprintf(line, sizeof(line), "order: uid %lu: %s", (unsigned long)somebody, what);
	return service_log_count(&service, line);
}

static void who_is_no_member_orders_nothing(gid_t group)
{
	char own[24];
	(void)snprintf(own, sizeof(own), "%lu", (unsigned long)somebody);
	static const char *const verbs[] = {"pause", "resume", "drain", "kill"};
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		CHECK(!MAY(somebody, group, verbs[i], session));
		CHECK(!MAY(somebody, group, verbs[i], "--uid", "0"));
		CHECK(!MAY(somebody, group, verbs[i], "--uid", own));
		CHECK(!MAY(somebody, group, verbs[i], "--all"));
	}
	static const char *const limits[] = {"buffer_bytes=4K", "sessions_per_tenant=1",
					     "share_max=10"};
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		CHECK(!MAY(somebody, group, "limit", limits[i], session));
		CHECK(!MAY(somebody, group, "limit", limits[i], "--uid=0"));
		CHECK(!MAY(somebody, group, "limit", limits[i], "--all"));
		(void)snprintf(own, sizeof(own), "--uid=%lu", (unsigned long)somebody);
		CHECK(!MAY(somebody, group, "limit", limits[i], own));
	}
	CHECK(!MAY(somebody, group, "trace", "/dev/null", "--device=fake:0", "--seconds=1"));
	CHECK(service_log_count(&service, "order: uid") == 0);
	CHECK(service_log_count(&service, "trace: ") == 0);
	CHECK(is_let_in(""));
	CHECK(wait_until(only_one_is_open, NULL));
}

static void a_member_orders_and_it_is_done(int socket)
{
	char line[LINE_BYTES];
	CHECK(MAY(somebody, admins, "drain", "--uid", "0"));
	CHECK(!is_let_in("accepts no new sessions"));
	CHECK(MAY(somebody, admins, "resume", "--uid", "0"));
	CHECK(is_let_in(""));
	CHECK(MAY(somebody, admins, "pause", session));
	CHECK(wait_until(only_one_is_open, NULL));
	CHECK(MAY(somebody, admins, "limit", "sessions_per_tenant=1", "--uid=0"));
	CHECK(!is_let_in("as many sessions as one may have"));
	CHECK(MAY(somebody, admins, "limit", "sessions_per_tenant=default", "--uid=0"));
	CHECK(is_let_in(""));
	CHECK(MAY(somebody, admins, "limit", "buffer_bytes=64K", session));
	CHECK(MAY(somebody, admins, "limit", "share_max=60", "--all"));
	CHECK(MAY(somebody, admins, "kill", "--uid", "0"));
	CHECK(hangs_up(socket));

	/* The log's line: the operator, the order, and the name and value of a limit. */
	CHECK(ordered("drain for uid 0\n") == 1);
	CHECK(ordered("resume for uid 0\n") == 1);
	(void)snprintf(line, sizeof(line), "pause for session %s (uid 0, pid ", session);
	CHECK(ordered(line) == 1);
	CHECK(ordered("limit sessions_per_tenant=1 for uid 0\n") == 1);
	CHECK(ordered("limit sessions_per_tenant=default for uid 0\n") == 1);
	(void)snprintf(line, sizeof(line), "limit buffer_bytes=65536 for session %s (uid 0, pid ",
		       session);
	CHECK(ordered(line) == 1);
	CHECK(ordered("limit share_max=60 for everybody\n") == 1);
	CHECK(ordered("kill for uid 0\n") == 1);
}

/* The stand-in engine has nothing to report. */
static void a_member_may_take_a_trace(void)
{
	char line[LINE_BYTES];
	const char *arguments[] = {ctl,         "--runtime-dir",   service.runtime, "trace",
				   "/dev/null", "--device=fake:0", "--seconds=1",   NULL};
	struct outcome outcome = run_program_in_group(somebody, admins, arguments);
	CHECK(outcome.status == 1 && strstr(outcome.error, "nothing was sent to fake:0"));
	outcome_free(&outcome);
	(void)snprintf(line, sizeof(line), "trace: 1 of backend 3, device 0, for uid %lu\n",
		       (unsigned long)somebody);
	CHECK(service_log_count(&service, line) == 1);
}

/* A name is any text, and a log has lines. */
static void a_limit_cannot_write_lines_of_its_own(void)
{
	const char *const order[4] = {"limit", "x\norder: uid 0: kill\033[2J=5", "--uid=0"};
	const char *arguments[8] = {ctl,      "--runtime-dir", service.runtime,
				    order[0], order[1],        order[2]};
	struct outcome outcome = run_program_in_group(somebody, admins, arguments);
	CHECK(outcome.status == 1 && strstr(outcome.error, "no such limit"));
	outcome_free(&outcome);
	CHECK(ordered("limit x?order: uid 0: kill?[2J=5 for uid 0; error: there is no such limit: 'syclctl limits' lists them\n") ==
	      1);
}

/* Finds two groups of this machine, neither of them root's, and the first one's name. */
static bool find_groups(char name[64], char observing[64])
{
	const struct group *entry;
	int found = 0;
	setgrent();
	while (found < 2 && (entry = getgrent())) {
		if (entry->gr_gid == 0 || strlen(entry->gr_name) >= 64 || entry->gr_gid == admins)
			continue;
		if (found++ == 0) {
			admins = entry->gr_gid;
			(void)snprintf(name, 64, "%s", entry->gr_name);
		} else {
			observers = entry->gr_gid;
			(void)snprintf(observing, 64, "%s", entry->gr_name);
		}
	}
	endgrent();
	return found == 2;
}

/* Returns how many sessions `syclctl sessions` shows to a user in that group. */
static int sees_sessions(uid_t uid, gid_t group)
{
	struct outcome outcome =
		run_program_in_group(uid, group,
				     (const char *const[]){ctl, "--runtime-dir", service.runtime,
							   "sessions", "--json", NULL});
	json_t *answer = json_loads(outcome.out, 0, NULL);
	int count = answer ? (int)json_array_size(json_object_get(answer, "sessions")) : -1;
	json_decref(answer);
	outcome_free(&outcome);
	return count;
}

static void start_operators_service(const char *group, const char *observing)
{
	char path[HARNESS_PATH_BYTES * 2];
	char text[256];
	service_prepare(&service, "double");
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	(void)snprintf(text, sizeof(text), "[service]\nadmin_group = %s\nobserver_group = %s\n",
		       group, observing);
	write_file(path, text);
	const char *arguments[] = {"--config", path, NULL};
	service.as_unit = true;
	/* Both groups have many members. */
	(void)setenv("SYCLD_TEST_LONG_GROUPS", "1", 1);
	service_start_slow(&service, arguments, SLOW_USER_DATABASE, UID_LAST, "");
	/* The build's folder may be closed to others. */
	char command[HARNESS_PATH_BYTES * 4];
	(void)snprintf(ctl, sizeof(ctl), "%.200s/syclctl", service.folder);
	(void)snprintf(command, sizeof(command), "cp %s %s && chmod 0755 %s", SYCLCTL_PROGRAM, ctl,
		       ctl);
	struct outcome copied =
		run_program(0, (const char *const[]){"/bin/sh", "-c", command, NULL});
	CHECK(copied.status == 0);
	outcome_free(&copied);
}

static void must_be_closed_to_others(void)
{
	char path[HARNESS_PATH_BYTES * 2];
	struct stat facts;
	(void)snprintf(path, sizeof(path), "%s/admin.sock", service.runtime);
	CHECK(stat(path, &facts) == 0 && facts.st_uid == 0 && facts.st_gid == admins &&
	      (facts.st_mode & 0777u) == 0660);
}

int main(void)
{
	char group[64], observing[64];
	if (geteuid() != 0) {
		(void)fputs("skipped: only root can become other users\n", stderr);
		return SKIPPED;
	}
	if (!find_groups(group, observing)) {
		(void)fputs("there are no two groups but root's here\n", stderr);
		return 1;
	}
	somebody = UID_FIRST;
	while (somebody < UID_LAST && getpwuid(somebody))
		somebody++;
	start_operators_service(group, observing);
	must_be_closed_to_others();
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	CHECK(facts != NULL);
	json_t *status = ctl_json(&service, "status");
	json_t *first = json_array_get(json_object_get(status, "sessions"), 0);
	(void)snprintf(session, sizeof(session), "%lld",
		       (long long)json_integer_value(json_object_get(first, "id")));
	json_decref(status);

	who_is_no_member_orders_nothing(somebody);
	who_is_no_member_orders_nothing(observers);
	CHECK(sees_sessions(somebody, observers) == 1);
	CHECK(sees_sessions(somebody, somebody) == 0);
	a_member_may_take_a_trace();
	a_member_orders_and_it_is_done(socket);
	a_limit_cannot_write_lines_of_its_own();
	close_fd(&socket);
	CHECK(service_stop(&service) == 0);
	service_free(&service);
	if (failures)
		(void)fprintf(stderr, "%u failures\n", failures);
	return failures ? 1 : 0;
}
