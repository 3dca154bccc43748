/* Orders of operators and their answers, with a stand-in engine. */
#include "supervisor/harness.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct service service;

static void clean_orders(void)
{
	service_free(&service);
}

TestSuite(supervisor_orders, .fini = clean_orders, .timeout = 60);

static void launch_service(void)
{
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	const char *arguments[] = {"--config", path, NULL};
	service_start(&service, arguments);
}

static void start_orders_with(const char *manner, const char *configuration)
{
	service_prepare(&service, manner);
	char path[HARNESS_PATH_BYTES * 2];
	(void)snprintf(path, sizeof(path), "%s/c.conf", service.folder);
	write_file(path, configuration);
	launch_service();
}

/* Gives an order of up to four words. */
static void service_orders_give_order(const char *a, const char *b, const char *c, const char *d,
				      const char *e)
{
	const char *arguments[] = {
		SYCLCTL_PROGRAM, "--runtime-dir", service.runtime, a, b, c, d, e, NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_assert(eq(int, outcome.status, 0), "%s: %s", a, outcome.error);
	outcome_free(&outcome);
}

static const char *own_uid(void)
{
	static char text[16];
	(void)snprintf(text, sizeof(text), "%lu", (unsigned long)getuid());
	return text;
}

static int open_socket(void)
{
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	return socket;
}

static void must_be_shown_as(const char *state)
{
	json_t *status = ctl_json(&service, "status");
	json_t *session = json_array_get(json_object_get(status, "sessions"), 0);
	cr_expect(eq(str, (char *)(uintptr_t)json_string_value(json_object_get(session, "state")),
		     (char *)(uintptr_t)state));
	json_decref(status);
}

Test(supervisor_orders, a_paused_session_is_shown_as_paused)
{
	start_orders_with("double", "");
	int socket = open_socket();
	must_be_shown_as("open");
	service_orders_give_order("pause", "--all", NULL, NULL, NULL);
	must_be_shown_as("paused");
	service_orders_give_order("resume", "--all", NULL, NULL, NULL);
	must_be_shown_as("open");
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

static void must_answer(const char *sentence, const char *a, const char *b, const char *c,
			const char *d, const char *e)
{
	const char *arguments[] = {
		SYCLCTL_PROGRAM, "--runtime-dir", service.runtime, a, b, c, d, e, NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_assert(eq(int, outcome.status, 0), "%s: %s", a, outcome.error);
	cr_expect(eq(str, outcome.out, (char *)(uintptr_t)sentence));
	outcome_free(&outcome);
}

Test(supervisor_orders, what_came_of_an_order_is_said_plainly)
{
	char text[160];
	const char *uid = own_uid();
	start_orders_with("double", "");
	must_answer("nothing to do: no session was open\n", "pause", "--all", NULL, NULL, NULL);
	int socket = open_socket();
	must_be_shown_as("open");
	must_answer("paused: 1 session\n", "pause", "--all", NULL, NULL, NULL);
	must_answer("resumed: 1 session\nnew sessions are accepted\n", "resume", "--all", NULL,
		    NULL, NULL);
	must_answer("drained: no new session is accepted until 'syclctl resume --all'\n", "drain",
		    "--all", NULL, NULL, NULL);
	/* The open session was not paused. */
	must_answer("new sessions are accepted\n", "resume", "--all", NULL, NULL, NULL);
	must_answer("share_max is changed to 60 %\n", "limit", "share_max=60", "--all", NULL, NULL);
	must_answer("share_max is not ordered any more\n", "limit", "share_max=default", "--all",
		    NULL, NULL);
	must_answer("builds is changed to 2, for 1 open session too\n", "limit", "builds=2",
		    "--all", NULL, NULL);
	(void)snprintf(text, sizeof(text),
		       "buffer_bytes of %s is changed to 4.0 MiB, for 1 open session too\n",
		       own_user_text());
	must_answer(text, "limit", "buffer_bytes=4M", "--uid", uid, NULL);
	(void)snprintf(
		text, sizeof(text),
		"drained: no new session of %s is accepted until 'syclctl resume --uid %s'\n",
		own_user_text(), uid);
	must_answer(text, "drain", "--user", uid, NULL, NULL);
	(void)snprintf(text, sizeof(text), "killed: 1 session of %s\n", own_user_text());
	must_answer(text, "kill", "--uid", uid, NULL, NULL);
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

static void must_be_logged(const char *format, const char *uid)
{
	char line[256];
	(void)snprintf(line, sizeof(line), format, uid, uid);
	cr_expect(eq(u32, service_log_count(&service, line), 1u), "%s", line);
}

Test(supervisor_orders, an_order_its_user_and_its_reason_are_one_line_of_the_log)
{
	const char *uid = own_uid();
	start_orders_with("double", "");
	int socket = open_socket();
	must_be_shown_as("open");
	json_t *sessions = ctl_json(&service, "sessions"),
	       *list = json_is_array(sessions) ? sessions : json_object_get(sessions, "sessions");
	char id[24], line[128];
	(void)snprintf(
		id, sizeof(id), "%lld",
		(long long)json_integer_value(json_object_get(json_array_get(list, 0), "id")));
	json_decref(sessions);
	service_orders_give_order("pause", "--all", "--reason", "a measurement", NULL);
	service_orders_give_order("resume", "--all", NULL, NULL, NULL);
	service_orders_give_order("drain", "--uid", uid, "--reason",
				  "an upgrade\nof what is there");
	service_orders_give_order("kill", id, "--reason", "too greedy", NULL);
	const char *refused[] = {SYCLCTL_PROGRAM,
				 "--runtime-dir",
				 service.runtime,
				 "limit",
				 "weight\n\033[=5",
				 "--all",
				 NULL};
	struct outcome outcome = run_program(0, refused);
	cr_expect(ne(ptr, strstr(outcome.error, "limit: 'weight??['. Did you mean 'weight'?\n"),
		     NULL),
		  "%s", outcome.error);
	outcome_free(&outcome);
	must_be_logged("order: uid %s: pause for everybody; reason: a measurement\n", uid);
	must_be_logged("order: uid %s: resume for everybody\n", uid);
	must_be_logged(
		"order: uid %s: limit weight??[=5 for everybody; error: there is no such limit: "
		"'weight??['. Did you mean 'weight'?\n",
		uid);
	must_be_logged("order: uid %s: drain for uid %s; reason: an upgrade?of what is there\n",
		       uid);
	(void)snprintf(line, sizeof(line), "order: uid %s: kill for session %s (uid %s, pid %ld, ",
		       uid, id, uid, (long)getpid());
	cr_expect(eq(u32, service_log_count(&service, line), 1u), "%s", line);
	cr_expect(eq(u32, service_log_count(&service, "); reason: too greedy\n"), 1u));
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* An order of this test; true if the log names the operator beside the uid. */
static bool operator_is_named(void *line)
{
	char text[4096];
	bool found = false;
	service_orders_give_order("resume", "--all", NULL, NULL, NULL);
	FILE *log = fopen(service.log, "re");
	cr_assert(ne(ptr, log, NULL));
	while (!found && fgets(text, sizeof(text), log))
		found = strstr(text, line) != NULL;
	(void)fclose(log);
	return found;
}

/* The name comes from a look-up that no order waits for. */
Test(supervisor_orders, the_log_names_the_operator)
{
	const struct passwd *entry = getpwuid(geteuid());
	char line[128];
	if (!entry)
		cr_skip_test("this user has no name");
	(void)snprintf(line, sizeof(line), "order: uid %s (%s): resume for everybody\n", own_uid(),
		       entry->pw_name);
	start_orders_with("double", "");
	cr_expect(wait_until(operator_is_named, line), "%s", line);
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool is_drained(const char *list)
{
	json_t *status = ctl_json(&service, "status");
	json_t *object = json_object_get(status, list);
	bool drained = json_is_true(json_object_get(
		json_is_array(object) ? json_array_get(object, 0) : object, "drained"));
	json_decref(status);
	return drained;
}

static void must_be_kept_out(void)
{
	CLEANUP(free_pointer) char *refused = client_refused(&service);
	cr_assert(ne(ptr, refused, NULL), "nobody new is let in");
	cr_expect(ne(ptr, strstr(refused, "accepts no new sessions"), NULL), "%s", refused);
}

/* It is shown and kept until it is taken back, even if the service is killed or stopped. */
static void drain_and_restart(const char *list, const char *whose, const char *uid)
{
	start_orders_with("double", "");
	cr_expect(not(is_drained(list)));
	service_orders_give_order("drain", whose, uid, NULL, NULL);
	cr_expect(is_drained(list));
	must_be_kept_out();
	for (unsigned i = 0; i < 2; i++) {
		(void)kill(service.pid, i ? SIGTERM : SIGKILL);
		(void)service_wait(&service);
		launch_service();
		cr_expect(is_drained(list), "also after a restart");
		cr_expect(ge(u32,
			     service_log_count(&service, "order: still drained: no new session "),
			     1u));
		must_be_kept_out();
	}
	service_orders_give_order("resume", whose, uid, NULL, NULL);
	cr_expect(not(is_drained(list)));
	int socket = open_socket();
	close_fd(&socket);
	(void)kill(service.pid, SIGKILL);
	(void)service_wait(&service);
	launch_service();
	socket = open_socket();
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(supervisor_orders, a_drained_service_is_shown_and_stays_drained_when_it_restarts)
{
	drain_and_restart("service", "--all", NULL);
}

Test(supervisor_orders, a_drained_user_is_shown_and_stays_drained_when_the_service_restarts)
{
	drain_and_restart("tenants", "--uid", own_uid());
}

/* One user is connected and one never was. This also holds for the next service. */
Test(supervisor_orders, to_resume_all_takes_back_what_was_said_of_users)
{
	start_orders_with("double", "");
	service_orders_give_order("drain", "--uid", own_uid(), NULL, NULL);
	service_orders_give_order("drain", "--uid", "4242", NULL, NULL);
	service_orders_give_order("drain", "--all", NULL, NULL, NULL);
	must_be_kept_out();
	service_orders_give_order("resume", "--all", NULL, NULL, NULL);
	int socket = open_socket();
	close_fd(&socket);
	(void)kill(service.pid, SIGKILL);
	(void)service_wait(&service);
	launch_service();
	cr_expect(not(is_drained("tenants")));
	cr_expect(eq(u32, service_log_count(&service, "order: still drained"), 0u));
	socket = open_socket();
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(supervisor_orders, a_damaged_file_of_orders_admits_no_session)
{
	char path[HARNESS_PATH_BYTES * 2];
	start_orders_with("double", "");
	service_orders_give_order("drain", "--all", NULL, NULL, NULL);
	(void)kill(service.pid, SIGKILL);
	(void)service_wait(&service);
	(void)snprintf(path, sizeof(path), "%s/orders", service.runtime);
	cr_assert(eq(int, truncate(path, 3), 0));
	launch_service();
	must_be_kept_out();
	service_orders_give_order("resume", "--all", NULL, NULL, NULL);
	int socket = open_socket();
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

static void must_hold(const json_t *limits, const char *name, bool of_user, json_int_t value,
		      const char *from)
{
	for (size_t i = 0; i < json_array_size(limits); i++) {
		const json_t *limit = json_array_get(limits, i);
		if (strcmp(json_string_value(json_object_get(limit, "name")), name) != 0 ||
		    json_is_integer(json_object_get(limit, "uid")) != of_user)
			continue;
		cr_expect(eq(long, (long)json_integer_value(json_object_get(limit, "value")),
			     (long)value),
			  "%s", name);
		cr_expect(eq(str,
			     (char *)(uintptr_t)json_string_value(json_object_get(limit, "from")),
			     (char *)(uintptr_t)from),
			  "%s", name);
		return;
	}
	cr_expect(false, "%s is not shown", name);
}

Test(supervisor_orders, the_limits_that_hold_are_shown_with_their_origin)
{
	start_orders_with("double", "[service]\nsessions_per_tenant = 9\n[limits]\narenas = 7\n");
	service_orders_give_order("limit", "weight=5", "--uid", own_uid(), NULL);
	service_orders_give_order("limit", "builds=2", "--all", NULL, NULL);
	service_orders_give_order("limit", "share_max=40", "--uid", own_uid(), NULL);
	json_t *answer = ctl_json(&service, "limits");
	cr_assert(ne(ptr, answer, NULL));
	const json_t *limits = json_object_get(answer, "limits");
	must_hold(limits, "arenas", false, 7, "sycld.conf");
	must_hold(limits, "sessions_per_tenant", false, 9, "sycld.conf");
	must_hold(limits, "builds", false, 2, "order");
	must_hold(limits, "source_bytes", false, 8 << 20, "default");
	must_hold(limits, "group_seconds", false, 0, "default");
	must_hold(limits, "orphan_seconds", false, 30, "default");
	must_hold(limits, "weight", true, 5, "order");
	must_hold(limits, "share_max", true, 40, "order");
	json_decref(answer);
	const char *arguments[] = {SYCLCTL_PROGRAM, "--runtime-dir", service.runtime, "limits",
				   NULL};
	struct outcome outcome = run_program(0, arguments);
	cr_expect(eq(int, outcome.status, 0));
	cr_expect(ne(ptr, strstr(outcome.out, "arenas"), NULL), "%s", outcome.out);
	cr_expect(ne(ptr, strstr(outcome.out, "order of "), NULL), "%s", outcome.out);
	outcome_free(&outcome);
	cr_assert(eq(int, service_stop(&service), 0));
}

/* Returns the value of a limit of that session only; 0: none is shown. */
static json_int_t limit_of_session(const char *name, json_int_t session)
{
	json_t *answer = ctl_json(&service, "limits");
	const json_t *limits = json_object_get(answer, "limits");
	json_int_t value = 0;
	for (size_t i = 0; i < json_array_size(limits); i++) {
		const json_t *limit = json_array_get(limits, i);
		if (strcmp(json_string_value(json_object_get(limit, "name")), name) == 0 &&
		    json_integer_value(json_object_get(limit, "session")) == session)
			value = json_integer_value(json_object_get(limit, "value"));
	}
	json_decref(answer);
	return value;
}

Test(supervisor_orders, the_limits_of_one_session_are_shown_until_they_are_taken_back)
{
	start_orders_with("double", "");
	int first = open_socket(), second = open_socket();
	json_t *status = ctl_json(&service, "status");
	json_int_t id = json_integer_value(
		json_object_get(json_array_get(json_object_get(status, "sessions"), 0), "id"));
	char text[24];
	(void)snprintf(text, sizeof(text), "%lld", (long long)id);
	json_decref(status);
	cr_assert(id > 0);
	service_orders_give_order("limit", "buffer_bytes=4096", text, NULL, NULL);
	service_orders_give_order("limit", "weight=7", text, NULL, NULL);
	cr_expect(eq(long, (long)limit_of_session("buffer_bytes", id), 4096));
	service_orders_give_order("limit", "weight=default", text, NULL, NULL);
	cr_expect(eq(long, (long)limit_of_session("weight", id), 0));
	/* A limit of all users does not change that of a single session. */
	service_orders_give_order("limit", "buffer_bytes=8192", "--all", NULL, NULL);
	cr_expect(eq(long, (long)limit_of_session("buffer_bytes", id), 4096));
	service_orders_give_order("limit", "buffer_bytes=default", text, NULL, NULL);
	cr_expect(eq(long, (long)limit_of_session("buffer_bytes", id), 0));
	close_fd(&first);
	close_fd(&second);
	cr_assert(eq(int, service_stop(&service), 0));
}

static bool engine_is_gone(void *context)
{
	return kill(*(const pid_t *)context, 0) < 0;
}

static void kill_and_look(const char *manner, bool is_order_answered)
{
	start_orders_with(manner, "");
	int socket = -1;
	CLEANUP(free_pointer) char *facts = client_open(&service, &socket);
	cr_assert(ne(ptr, facts, NULL));
	pid_t engine = (pid_t)fact(facts, "pid=");
	const char *uid = own_uid();
	service_orders_give_order("kill", "--uid", uid, "--reason", "the machine is needed");
	Sycl__V1__Packet *packet = client_receive(socket);
	cr_expect(eq(int, packet != NULL, is_order_answered));
	if (packet) {
		cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_ERROR));
		cr_expect(ne(ptr, strstr(packet->error->text, "the machine is needed"), NULL), "%s",
			  packet->error->text);
	}
	packet_free(packet);
	cr_expect(wait_until(engine_is_gone, &engine));
	close_fd(&socket);
	socket = open_socket();
	close_fd(&socket);
	cr_assert(eq(int, service_stop(&service), 0));
}

Test(supervisor_orders, clients_of_a_killed_engine_get_the_reason)
{
	kill_and_look("double", true);
}

Test(supervisor_orders, an_engine_that_does_not_tell_the_reason_is_killed_all_the_same)
{
	kill_and_look("stubborn", false);
}

Test(supervisor_orders, version_says_the_same_share_mode_as_status)
{
	start_orders_with("double", "[shares]\nmode = exclusive\n");
	json_t *status = ctl_json(&service, "status"), *version = ctl_json(&service, "version");
	json_t *one = json_object_get(json_object_get(status, "service"), "share_mode");
	json_t *other = json_object_get(json_object_get(version, "service"), "share_mode");
	cr_expect(eq(str, (char *)(uintptr_t)json_string_value(one), "exclusive"));
	cr_expect(json_equal(one, other));
	json_decref(status);
	json_decref(version);
	cr_assert(eq(int, service_stop(&service), 0));
}
