/*
 * Many users on one service, as root: users who make themselves many (subordinate uids) take nothing from the others, neither
 * figures nor engines. A plain program: 77 when it is not root.
 */
#include "supervisor_harness.h"

#include "cleanup.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Far from those that systems give to users and services. */
enum { UID_FIRST = 1500000000, SKIPPED = 77, FILES = 4096 };

static unsigned failures;
static struct service service;

#define CHECK(condition)                                                                                     \
	do {                                                                                                 \
		if (!(condition)) {                                                                          \
			(void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);        \
			failures++;                                                                          \
		}                                                                                            \
	} while (0)

static void be(uid_t uid)
{
	if (setresuid(uid, uid, 0) < 0)
		abort();
}

/* A session of that user; -1: refused, and `why_out` (or NULL) says why, to be freed. */
static int open_as(uid_t uid, char **why_out)
{
	int socket = -1;
	be(uid);
	CLEANUP(free_pointer) char *facts = why_out ? NULL : client_open(&service, &socket);
	if (why_out)
		*why_out = client_refused(&service);
	be(0);
	return socket;
}

static void start_with(const char *configuration)
{
	char path[HARNESS_PATH_BYTES * 2];
	service_prepare(&service, "double");
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path, configuration);
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
}

static void end(void)
{
	CHECK(service_stop(&service) == 0);
	service_free(&service);
}

/* Of a user's row, or -1 where there is none. */
static json_int_t ended_sessions(uid_t uid)
{
	json_t *answer = ctl_json(&service, "accounts"), *row;
	json_int_t ended = -1;
	size_t i;
	json_array_foreach(json_object_get(answer, "accounts"), i, row)
		if (json_integer_value(json_object_get(row, "uid")) == uid)
			ended = json_integer_value(json_object_get(row, "sessions_ended"));
	json_decref(answer);
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

static void one_session(uid_t uid)
{
	int socket = open_as(uid, NULL);
	CHECK(socket >= 0);
	close_fd(&socket);
}

static void who_is_refused_leaves_nothing_behind(void)
{
	enum { CROWD = 1100 };
	start_with("[service]\nengines = 1\nengine_idle_seconds = 0\n");
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
	end();
}

/* The sum stays what it was, over a restart as well, and who has a name keeps a row. */
static void who_was_served_is_counted_for_ever(void)
{
	enum { CROWD = 300, OWN_ROWS = 256 };
	const struct passwd *named = getpwnam("daemon");
	start_with("[service]\nengine_idle_seconds = 0\n");
	if (named)
		one_session(named->pw_uid);
	for (uid_t i = 0; i < CROWD; i++)
		one_session(UID_FIRST + i);
	CHECK(wait_until(all_have_ended, NULL));
	for (int restarted = 0; restarted < 2; restarted++) {
		CHECK(!named || ended_sessions(named->pw_uid) == 1);
		CHECK(ended_sessions(UID_FIRST) == -1);
		CHECK(ended_sessions(UID_FIRST + CROWD - 1) == 1);
		json_int_t together = ended_sessions((uid_t)-1), alone = 0;
		for (uid_t i = 0; i < CROWD; i++)
			alone += ended_sessions(UID_FIRST + i) == 1;
		CHECK(together >= CROWD - OWN_ROWS && together + alone == CROWD);
		if (!restarted) {
			CHECK(service_stop(&service) == 0);
			service_start(&service, NULL);
		}
	}
	end();
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
	who_was_served_is_counted_for_ever();
	if (failures)
		(void)fprintf(stderr, "%u failures\n", failures);
	return failures ? 1 : 0;
}
