/* What syclctl shows of the present: running work, paused sessions and drained users, filters, and
 * the claims of a hostile engine. */
#include "supervisor/harness.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct service service;
static int client = -1;

static void clean_present(void)
{
	close_fd(&client);
	cr_assert(eq(int, service_stop(&service), 0));
	service_free(&service);
}

TestSuite(present, .fini = clean_present, .timeout = 60);

static void begin_present(const char *manner)
{
	service_prepare(&service, manner);
	service_start(&service, NULL);
	CLEANUP(free_pointer) char *facts = client_open(&service, &client);
	cr_assert(ne(ptr, facts, NULL));
}

static struct outcome ctl(const char *a, const char *b, const char *c)
{
	const char *arguments[] = {
		SYCLCTL_PROGRAM, a, "--runtime-dir", service.runtime, b, c, NULL};
	return run_program(0, arguments);
}

static void must_show(const char *a, const char *b, const char *c, const char *text)
{
	struct outcome outcome = ctl(a, b, c);
	cr_assert(eq(int, outcome.status, 0), "%s: %s", a, outcome.error);
	cr_expect(ne(ptr, strstr(outcome.out, text), NULL), "no '%s' in: %s", text, outcome.out);
	outcome_free(&outcome);
}

static void must_hide(const char *a, const char *b, const char *c, const char *text)
{
	struct outcome outcome = ctl(a, b, c);
	cr_assert(eq(int, outcome.status, 0), "%s: %s", a, outcome.error);
	cr_expect(eq(ptr, strstr(outcome.out, text), NULL), "'%s' in: %s", text, outcome.out);
	outcome_free(&outcome);
}

static json_t *first_of(json_t *status, const char *list)
{
	json_t *first = json_array_get(json_object_get(status, list), 0);
	cr_assert(ne(ptr, first, NULL), "%s is empty", list);
	return first;
}

static const char *own_name(void)
{
	const struct passwd *entry = getpwuid(geteuid());
	return entry ? entry->pw_name : "";
}

Test(present, N6_what_runs_now_is_shown_with_names)
{
	begin_present("double");
	json_t *status = ctl_json(&service, "status");
	const json_t *session = first_of(status, "sessions");
	const json_t *now = json_object_get(session, "present");
	cr_assert(eq(str, (char *)(uintptr_t)json_string_value(json_object_get(now, "running")),
		     "double_kernel"));
	cr_expect(eq(long, (long)json_integer_value(json_object_get(now, "queued")), 6L));
	cr_expect(eq(long, (long)json_integer_value(json_object_get(now, "used_permille")), 250L));
	const json_t *device = first_of(status, "devices_now");
	cr_expect(
		eq(long, (long)json_integer_value(json_object_get(device, "busy_permille")), 250L));
	const json_t *sensors = json_object_get(device, "sensors");
	cr_expect(eq(long,
		     (long)json_integer_value(json_object_get(sensors, "temperature_celsius")),
		     61L));
	cr_expect(eq(long,
		     (long)json_integer_value(json_object_get(sensors, "utilisation_percent")),
		     42L));
	cr_expect(eq(long,
		     (long)json_integer_value(json_object_get(sensors, "sm_occupancy_permille")),
		     137L));
	cr_expect(json_is_null(json_object_get(sensors, "unavailable")));
	const char *user = json_string_value(json_object_get(session, "user"));
	cr_expect(eq(str, (char *)(uintptr_t)(user ? user : ""), (char *)(uintptr_t)own_name()));
	json_decref(status);
	must_show("status", NULL, NULL, "health: healthy\n");
	must_show("sessions", NULL, NULL, "running");
	must_show("sessions", NULL, NULL, "double_kernel");
	must_show("show", "session", "1", "double_kernel");
}

static void filter_must_be(const char *name)
{
	json_t *status = ctl_json(&service, "status");
	const json_t *tenant = first_of(status, "tenants");
	cr_expect(eq(str, (char *)(uintptr_t)json_string_value(json_object_get(tenant, "filter")),
		     (char *)(uintptr_t)name));
	cr_expect(json_is_null(json_object_get(tenant, "retired")));
	json_decref(status);
}

Test(present, the_filter_of_system_calls_is_shown_with_the_reason_if_it_is_not_strict)
{
	static const struct {
		const char *manner, *name, *health, *line;
	} cases[] = {
		{"double", "strict", "health: healthy\n", "strict"},
		{"rested", "basic-driver",
		 "health: healthy; no strict filter in 1 engine: a driver needs processes\n",
		 "  filter basic-driver: processes are not forbidden, because"},
		{"waiter", "none", "has no filter of system calls\n",
		 "  filter none: the kernel has no filters"},
		{"braggart", "unknown", "health: ", "unknown"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin_present(cases[i].manner);
		filter_must_be(cases[i].name);
		must_show("status", NULL, NULL, cases[i].health);
		must_show("status", NULL, NULL, cases[i].line);
		must_show("show", "user", own_name(), cases[i].line);
		if (i + 1 < sizeof(cases) / sizeof(*cases))
			clean_present();
	}
}

/* The service shows what an engine reports of the last minute, not the sums of the session's life.
 */
Test(present, N6_waits_are_of_the_last_minute)
{
	begin_present("double");
	json_t *status = ctl_json(&service, "status");
	const json_t *session = first_of(status, "sessions");
	cr_expect(eq(long, (long)json_integer_value(json_object_get(session, "delays")), 7L));
	cr_expect(eq(long, (long)json_integer_value(json_object_get(session, "delay_p50_ns")),
		     2000000L));
	cr_expect(eq(long, (long)json_integer_value(json_object_get(session, "delay_p99_ns")),
		     3000000L));
	json_decref(status);
	must_show("sessions", NULL, NULL, "WAIT P50/1m");
	must_show("sessions", NULL, NULL, "2.0 ms");
	must_show("accounts", NULL, NULL, "1.2 ms");
}

Test(present, N6_a_session_that_rested_shows_no_waits)
{
	begin_present("rested");
	must_show("sessions", NULL, NULL, "double_kernel");
	must_hide("sessions", NULL, NULL, "2.0 ms");
}

/* Returns where the text is in the output. */
static size_t place_of(const struct outcome *outcome, const char *text)
{
	const char *found = strstr(outcome->out, text);
	cr_assert(ne(ptr, (void *)(uintptr_t)found, NULL), "no '%s' in: %s", text, outcome->out);
	return (size_t)(found - outcome->out);
}

/* The question is why this user waits, so the answer comes before accounts and limits. */
Test(present, N6_of_a_user_the_sessions_come_first_with_the_reason)
{
	static const char reason[] = "waits for its turn: another session of this user has the "
				     "device (cuda:1)\n";
	static const char *const order[] = {"waiting: turn",   reason,       "\nEngines\n",
					    "\nUsed so far\n", "\nLimits\n", "groups_in_flight",
					    "\nDetails\n"};
	char user[16];
	begin_present("waiter");
	(void)snprintf(user, sizeof(user), "%u", (unsigned)geteuid());
	struct outcome outcome = ctl("show", "user", user);
	cr_assert(eq(int, outcome.status, 0), "%s", outcome.error);
	cr_expect(zero(sz, place_of(&outcome, "Sessions\n")));
	for (size_t i = 1; i < sizeof(order) / sizeof(*order); i++)
		cr_expect(place_of(&outcome, order[i - 1]) < place_of(&outcome, order[i]), "%s",
			  order[i]);
	cr_expect(eq(ptr, strstr(outcome.out, "next connection"), NULL), "%s", outcome.out);
	outcome_free(&outcome);
	outcome = ctl("show", "session", "1");
	cr_expect(place_of(&outcome, "waits for its turn") < place_of(&outcome, "\nDetails\n"));
	outcome_free(&outcome);
	outcome = ctl("show", "device", "cuda:1");
	cr_expect(place_of(&outcome, "waits for its turn") < place_of(&outcome, "busy_permille"));
	outcome_free(&outcome);
}

Test(present, N6_the_json_of_a_user_has_its_limits)
{
	char user[16];
	begin_present("double");
	(void)snprintf(user, sizeof(user), "%u", (unsigned)geteuid());
	const char *arguments[] = {SYCLCTL_PROGRAM, "show",          "user",          user,
				   "--json",        "--runtime-dir", service.runtime, NULL};
	struct outcome outcome = run_program(0, arguments);
	json_t *shown = json_loads(outcome.out, 0, NULL);
	cr_assert(ne(ptr, shown, NULL), "%s%s", outcome.out, outcome.error);
	cr_expect(eq(sz, json_array_size(json_object_get(shown, "sessions")), 1));
	const char *name = json_string_value(json_object_get(first_of(shown, "limits"), "name"));
	cr_expect(ne(ptr, (void *)(uintptr_t)name, NULL));
	json_decref(shown);
	outcome_free(&outcome);
}

Test(present, N6_a_filter_leaves_the_rest_out)
{
	char other[32];
	begin_present("double");
	(void)snprintf(other, sizeof(other), "--user=%u", (unsigned)geteuid() + 1);
	must_show("sessions", "--session=1", NULL, "double_kernel");
	must_show("sessions", "--device=cuda:1", NULL, "  cuda:1  double_kernel");
	must_hide("sessions", "--session=2", NULL, "double_kernel");
	must_hide("sessions", "--device=cuda:0", NULL, "double_kernel");
	must_hide("sessions", other, NULL, "double_kernel");
	struct outcome outcome = ctl("show", "user", other + strlen("--user="));
	cr_expect(eq(int, outcome.status, 0), "%s", outcome.error);
	cr_expect(ne(ptr, strstr(outcome.out, "Sessions\n  none\n\nLimits\n"), NULL), "%s",
		  outcome.out);
	cr_expect(eq(ptr, strstr(outcome.out, "Details"), NULL), "%s", outcome.out);
	/* An operator gets all sections. */
	cr_expect(eq(ptr, strstr(outcome.out, "from the user's next connection on.\n"), NULL), "%s",
		  outcome.out);
	outcome_free(&outcome);
	outcome = ctl("sessions", "--user=no such user", NULL);
	cr_expect(eq(int, outcome.status, 2));
	cr_expect(ne(ptr, strstr(outcome.error, "there is no such user: 'no such user'"), NULL));
	outcome_free(&outcome);
	outcome = ctl("sessions", "--group=no such group", NULL);
	cr_expect(ne(ptr, strstr(outcome.error, "there is no such group: 'no such group'"), NULL));
	outcome_free(&outcome);
	outcome = ctl("show", "session", "99");
	cr_expect(eq(int, outcome.status, 1));
	cr_expect(eq(str, outcome.error, "syclctl: the service has no such session\n"));
	outcome_free(&outcome);
}

Test(present, N6_who_has_paused_and_drained_is_named)
{
	char text[96];
	begin_present("double");
	struct outcome paused = ctl("pause", "--all", NULL);
	outcome_free(&paused);
	(void)snprintf(text, sizeof(text), "paused by %s", own_name());
	must_show("sessions", NULL, NULL, text);
	must_show("status", NULL, NULL, "health: 1 session is paused\n");
	struct outcome resumed = ctl("resume", "--all", NULL);
	outcome_free(&resumed);
	must_hide("sessions", NULL, NULL, "paused");
	struct outcome drained = ctl("drain", "--all", NULL);
	outcome_free(&drained);
	must_show("status", NULL, NULL, "health: no new session is accepted\n");
	json_t *status = ctl_json(&service, "status");
	const json_t *by = json_object_get(json_object_get(status, "service"), "drained_by");
	cr_assert(json_is_object(by));
	cr_expect(eq(long, (long)json_integer_value(json_object_get(by, "uid")), (long)geteuid()));
	json_decref(status);
}

/* An activity and a device that do not exist, more than the whole of a device, a name with commands
 * for a terminal, devices without end. */
Test(present, N6_hostile_claims_about_the_present_have_bounds)
{
	begin_present("braggart");
	json_t *status = ctl_json(&service, "status");
	const json_t *session = first_of(status, "sessions");
	const json_t *now = json_object_get(session, "present");
	const char *running = json_string_value(json_object_get(now, "running"));
	cr_assert(ne(ptr, (void *)(uintptr_t)running, NULL));
	cr_expect(lt(sz, strlen(running), 40));
	cr_expect(eq(ptr, strchr(running, '\033'), NULL));
	cr_expect(eq(long, (long)json_integer_value(json_object_get(now, "used_permille")), 1000L));
	cr_expect(json_is_null(json_object_get(now, "backend")));
	cr_expect(le(dbl, json_real_value(json_object_get(now, "running_seconds")),
		     json_real_value(json_object_get(session, "age_seconds"))));
	const json_t *devices = json_object_get(status, "devices_now");
	const json_t *sensors = json_object_get(json_array_get(devices, 0), "sensors");
	cr_expect(eq(long,
		     (long)json_integer_value(json_object_get(sensors, "utilisation_percent")),
		     100L));
	cr_expect(eq(long,
		     (long)json_integer_value(json_object_get(sensors, "sm_occupancy_permille")),
		     1000L));
	cr_expect(eq(str,
		     (char *)(uintptr_t)json_string_value(json_object_get(sensors, "unavailable")),
		     "?[2J no sensor"));
	cr_expect(le(sz, json_array_size(devices), 64));
	size_t index;
	const json_t *device;
	json_array_foreach(devices, index, device) cr_expect(eq(
		long, (long)json_integer_value(json_object_get(device, "busy_permille")), 1000L));
	json_decref(status);
	/* A device beyond the largest number. */
	json_t *known = ctl_json(&service, "devices");
	cr_expect(eq(sz, json_array_size(json_object_get(known, "devices")), 1));
	json_decref(known);
}
