/* Settings of users and groups: checked, in force, shown with their place in the file, and kept. */
#include "supervisor/harness.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_BYTES = 1024, LINE_BYTES = 8192 };

static struct service service;
static char path[HARNESS_PATH_BYTES * 2];

static void prepare_settings(void)
{
	service_prepare(&service, "double");
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
}

static void clean_settings(void)
{
	service_free(&service);
}

TestSuite(supervisor_settings, .init = prepare_settings, .fini = clean_settings, .timeout = 60);

static const char *own_name(void)
{
	const struct passwd *entry = getpwuid(geteuid());
	return entry ? entry->pw_name : NULL;
}

static const char *own_uid(void)
{
	static char text[16];
	(void)snprintf(text, sizeof(text), "%lu", (unsigned long)geteuid());
	return text;
}

static void settings_start(void)
{
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
}

static void must_end(const char *a, const char *b, const char *c, int status, const char *words)
{
	const char *arguments[] = {SYCLD_PROGRAM, a, b, c, NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_expect(eq(int, outcome.status, status), "%s: %s", a, outcome.error);
	cr_expect(ne(ptr, strstr(outcome.error, words), NULL), "'%s' is not in: %s", words,
		  outcome.error);
	outcome_free(&outcome);
}

Test(supervisor_settings, a_check_reports_errors_and_warnings_by_its_status)
{
	write_file(path, "[service]\nstandby = perhaps\n[limits]\nbuilds = no\n");
	must_end("--check", path, NULL, 78, ":2: standby needs yes or no");
	must_end("--check", "--config", path, 78, ":4: builds needs a number");
	write_file(path, "[user no-such-user]\nbuilds = 2\n[shares]\nuid.1 = 60\nuid.2 = 60\n");
	must_end("--check", path, NULL, 0,
		 "warning: these names are not in the user database: user.no-such-user");
	must_end("--check", path, NULL, 0, "add up to 120 %");
	must_end("--check-config", "--config", path, 78, "add up to 120 %");
	write_file(path, "[user no-such-user]\nshare = 2\n[group no-such-group]\nbuilds = 2\n");
	must_end("--check", path, NULL, 0,
		 "user database: user.no-such-user, group.no-such-group\n");
	write_file(path, "[limits]\nbuilds = 2\n");
	must_end("--check", path, NULL, 0, "");
	must_end("--check", "/no/such/file", NULL, 78, "/no/such/file: No such file");
}

static bool line_is_in_log(void *words)
{
	return service_log_count(&service, words) > 0;
}

Test(supervisor_settings, a_reload_with_errors_reports_them_all_and_changes_nothing)
{
	write_file(path, "[limits]\nbuilds = 3\n");
	settings_start();
	write_file(path, "[limits]\nbuilds = none\nweight = 0\n");
	cr_assert(zero(int, kill(service.pid, SIGHUP)));
	cr_assert(
		wait_until(line_is_in_log, (char *)(uintptr_t) "the previous configuration stays"));
	cr_expect(eq(uint, service_log_count(&service, ":2: builds needs"), 1u));
	cr_expect(eq(uint, service_log_count(&service, ":3: weight needs"), 1u));
	const char *arguments[] = {SYCLCTL_PROGRAM, "--runtime-dir", service.runtime, "limits",
				   NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_expect(ne(ptr, strstr(outcome.out, "c.conf:2"), NULL), "%s", outcome.out);
	outcome_free(&outcome);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* A row of `syclctl limits`, as "VALUE from FROM" or "VALUE from FILE:LINE"; "": there is none. */
static const char *row_of(const char *name, bool of_user)
{
	static char text[TEXT_BYTES];
	json_t *answer = ctl_json(&service, "limits");
	const json_t *limits = json_object_get(answer, "limits");
	*text = '\0';
	for (size_t i = 0; i < json_array_size(limits); i++) {
		const json_t *row = json_array_get(limits, i);
		const char *origin = json_string_value(json_object_get(row, "origin"));
		const char *words = json_string_value(json_object_get(row, "text"));
		char number[32];
		if (strcmp(json_string_value(json_object_get(row, "name")), name) != 0 ||
		    json_is_integer(json_object_get(row, "uid")) != of_user)
			continue;
		(void)snprintf(number, sizeof(number), "%lld",
			       json_integer_value(json_object_get(row, "value")));
		(void)snprintf(text, sizeof(text), "%s from %s", words && *words ? words : number,
			       origin && *origin ? origin
						 : json_string_value(json_object_get(row, "from")));
	}
	json_decref(answer);
	return text;
}

static void must_show(const char *name, bool of_user, const char *expected)
{
	const char *row = row_of(name, of_user);
	cr_expect(eq(int, strcmp(row, expected), 0), "%s: '%s', not '%s'", name, row, expected);
}

static void give_limit(const char *assignment, const char *whose, const char *uid)
{
	const char *arguments[] = {SYCLCTL_PROGRAM,
				   "--runtime-dir",
				   service.runtime,
				   "limit",
				   assignment,
				   whose,
				   uid,
				   NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_assert(zero(int, outcome.status), "%s: %s", assignment, outcome.error);
	outcome_free(&outcome);
}

Test(supervisor_settings, the_limit_that_is_nearest_to_the_user_holds_and_its_place_is_shown)
{
	char text[TEXT_BYTES];
	int socket = -1;
	if (!own_name())
		cr_skip_test("this user has no name");
	(void)snprintf(
		text, sizeof(text),
		"[limits]\nbuilds = 2\nweight = 50\n[user %s]\nbuilds = 5\ndevices = cuda:1\n"
		"sessions_per_tenant = 7\n[uid 4000000000]\nweight = 9\n",
		own_name());
	write_file(path, text);
	settings_start();
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	must_show("builds", false, "2 from c.conf:2");
	must_show("builds", true, "5 from c.conf:5");
	/* Of the other user, who has not connected. */
	must_show("weight", true, "9 from c.conf:9");
	must_show("devices", false, "all from default");
	must_show("devices", true, "cuda:1 from c.conf:6");
	must_show("sessions_per_tenant", true, "7 from c.conf:7");
	/* An order for all users does not reach a user with a section; an order for that user
	 * does. */
	give_limit("builds=8", "--all", NULL);
	must_show("builds", false, "8 from order");
	must_show("builds", true, "5 from c.conf:5");
	give_limit("builds=9", "--uid", own_uid());
	must_show("builds", true, "9 from order");
	give_limit("builds=default", "--uid", own_uid());
	must_show("builds", true, "5 from c.conf:5");
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* True if a line of `syclctl ...` has both texts. */
static bool line_has(const char *verb, const char *kind, const char *user, const char *one,
		     const char *other)
{
	const char *arguments[] = {
		SYCLCTL_PROGRAM, "--runtime-dir", service.runtime, verb, kind, user, NULL};
	struct outcome outcome = run_program(0, arguments);
	bool found = false;
	cr_expect(zero(int, outcome.status), "%s: %s", verb, outcome.error);
	for (char *at = outcome.out, *line; (line = strsep(&at, "\n"));)
		found |= strstr(line, one) && strstr(line, other);
	outcome_free(&outcome);
	return found;
}

static bool limit_is_listed(const char *one, const char *other)
{
	return line_has("limits", NULL, NULL, one, other);
}

Test(supervisor_settings, sections_are_listed_before_their_users_connect)
{
	char text[TEXT_BYTES], user[TEXT_BYTES / 2];
	int socket = -1;
	if (!own_name())
		cr_skip_test("this user has no name");
	(void)snprintf(user, sizeof(user), "user %s", own_name());
	(void)snprintf(text, sizeof(text),
		       "[%s]\nbuilds = 5\ndevices = cuda:1\nshare = 20-70\n[uid 4000000000]\n"
		       "weight = 9\n[group no-such-group]\nsessions_per_tenant = 3\nmps = yes\n"
		       "[shares]\nuser.nobody = 10-30\n",
		       user);
	write_file(path, text);
	settings_start();
	cr_expect(limit_is_listed(user, " 5  c.conf:2"));
	cr_expect(limit_is_listed(user, "cuda:1  c.conf:3"));
	cr_expect(limit_is_listed(user, " 70  c.conf:4"));
	cr_expect(limit_is_listed("4000000000", " 9  c.conf:6"));
	cr_expect(limit_is_listed("group no-such-group", " 3  c.conf:8"));
	cr_expect(limit_is_listed("group no-such-group", "yes  c.conf:9"));
	cr_expect(limit_is_listed("user nobody", " 10  c.conf:11"));
	cr_expect(line_has("show", "user", own_name(), "builds", " 5  c.conf:2"));
	cr_expect(not(line_has("show", "user", "4000000000", "builds", "c.conf:2")));
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	/* Now in the rows of the user, and only there. */
	cr_expect(not(limit_is_listed(user, "c.conf")));
	must_show("builds", true, "5 from c.conf:2");
	must_show("share_max", true, "70 from c.conf:4");
	cr_expect(limit_is_listed("user nobody", " 30  c.conf:11"));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(supervisor_settings, an_ordered_limit_names_who_gave_it_and_when)
{
	char by[TEXT_BYTES];
	write_file(path, "[limits]\nbuilds = 2\n");
	settings_start();
	give_limit("builds=8", "--all", NULL);
	give_limit("weight=11", "--uid", own_uid());
	give_limit("share_max=40", "--uid", "4000000000");
	give_limit("sessions_per_tenant=5", "--all", NULL);
	(void)snprintf(by, sizeof(by), own_name() ? "order of %s(%s), 20" : "order of %.0s%s, 20",
		       own_name() ? own_name() : "", own_uid());
	/* Also after the service has started again. */
	for (int i = 0; i < 2; i++) {
		cr_expect(limit_is_listed("builds ", by));
		cr_expect(limit_is_listed("weight ", by));
		cr_expect(limit_is_listed("share_max ", by));
		cr_expect(limit_is_listed("sessions_per_tenant ", by));
		cr_assert(eq(int, service_stop(&service), 0));
		if (i == 0)
			settings_start();
	}
}

Test(supervisor_settings, ordered_limits_outlive_a_reload_and_the_service)
{
	write_file(path, "[limits]\nbuilds = 2\n");
	settings_start();
	give_limit("builds=8", "--all", NULL);
	give_limit("weight=11", "--uid", own_uid());
	give_limit("share_max=40", "--uid", "4000000000");
	give_limit("sessions_per_tenant=5", "--all", NULL);
	write_file(path, "[limits]\nbuilds = 3\n# read again\n");
	cr_assert(zero(int, kill(service.pid, SIGHUP)));
	cr_assert(service_wait_ready(&service), "the reload is done");
	must_show("builds", false, "8 from order");
	cr_assert(eq(int, service_stop(&service), 0));
	settings_start();
	must_show("builds", false, "8 from order");
	must_show("sessions_per_tenant", false, "5 from order");
	must_show("weight", true, "11 from order");
	must_show("share_max", true, "40 from order");
	give_limit("builds=default", "--all", NULL);
	must_show("builds", false, "3 from c.conf:2");
	cr_assert(eq(int, service_stop(&service), 0));
	settings_start();
	must_show("builds", false, "3 from c.conf:2");
	must_show("weight", true, "11 from order");
	cr_assert(eq(int, service_stop(&service), 0));
}

static int drain(const char *timeout)
{
	const char *arguments[] = {SYCLCTL_PROGRAM, "--runtime-dir", service.runtime, "drain",
				   "--all",         "--wait",        timeout,         NULL};
	struct outcome outcome = run_program(0, arguments);
	int status = outcome.status;
	outcome_free(&outcome);
	return status;
}

static bool is_drained(void *unused)
{
	(void)unused;
	return service_log_count(&service, "drain for everybody") > 0;
}

Test(supervisor_settings, a_drain_that_waits_ends_with_the_last_session)
{
	int socket = -1, status = 0;
	write_file(path, "");
	settings_start();
	cr_expect(zero(int, drain("--timeout=60")), "no session is left");
	const char *resume[] = {SYCLCTL_PROGRAM, "--runtime-dir", service.runtime,
				"resume",        "--all",         NULL};
	struct outcome outcome = run_program(0, resume);
	outcome_free(&outcome);
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	cr_expect(eq(int, drain("--timeout=1"), 4), "the session is still there");
	/* Without a time-out it waits until the engine ends. */
	pid_t pid = fork();
	if (pid == 0) {
		close_fd(&socket);
		_exit(drain(NULL));
	}
	cr_assert(wait_until(is_drained, NULL));
	cr_expect(zero(int, waitpid(pid, &status, WNOHANG)), "it waits");
	close_fd(&socket);
	cr_assert(eq(int, waitpid(pid, &status, 0), pid));
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Returns the words of the engine's command line, with a space between them. */
static const char *words_of_engine(const char *facts)
{
	static char words[LINE_BYTES];
	char name[64];
	(void)snprintf(name, sizeof(name), "/proc/%ld/cmdline", fact(facts, "pid="));
	CLEANUP(close_fd) int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t count = read(fd, words, sizeof(words) - 1);
	cr_assert(gt(long, (long)count, 0));
	for (ssize_t i = 0; i + 1 < count; i++)
		words[i] = words[i] ? words[i] : ' ';
	words[count] = '\0';
	return words;
}

static void must_be_started_with(const char *facts, const char *devices)
{
	cr_assert(ne(ptr, (void *)(uintptr_t)facts, NULL));
	const char *words = words_of_engine(facts);
	cr_expect(eq(int, strstr(words, devices) != NULL, 1), "'%s' is not in: %s", devices, words);
}

static bool engine_was_left(void *unused)
{
	(void)unused;
	return service_log_count(&service, "takes no new sessions") > 0;
}

Test(supervisor_settings, a_user_with_other_devices_gets_an_engine_with_these)
{
	char text[TEXT_BYTES];
	int one = -1, two = -1;
	(void)snprintf(text, sizeof(text), "[uid %s]\ndevices = cuda:1, opencl:*\n", own_uid());
	write_file(path, text);
	settings_start();
	CLEANUP(free_pointer) char *first = client_open(&service, &one);
	must_be_started_with(first, "--devices=1:ffffffffffffffff --devices=2:2 --devices=3:0");
	/* The open session keeps its engine; new ones get another. */
	(void)snprintf(text, sizeof(text), "[uid %s]\ndevices = cuda:0\n", own_uid());
	write_file(path, text);
	cr_assert(zero(int, kill(service.pid, SIGHUP)));
	cr_assert(wait_until(engine_was_left, NULL));
	CLEANUP(free_pointer) char *second = client_open(&service, &two);
	must_be_started_with(second, "--devices=1:0 --devices=2:1 --devices=3:0");
	cr_expect(ne(long, fact(first, "pid="), fact(second, "pid=")));
	must_be_started_with(first, "--devices=2:2");
	close_fd(&one);
	close_fd(&two);
	cr_assert(eq(int, service_stop(&service), 0));
}
