/* A service is killed or hands over, and another one follows: engines, sessions and their work
 * stay. */
#include "processes/client.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(processes_adoption, .timeout = 280);

static const uint64_t small_bytes = 4096, large_bytes = 1 << 20;

/* Makes a buffer of that many bytes and fills it on the device. */
static sycl_result fill_one_buffer(struct client *client, uint64_t bytes)
{
	const uint32_t pattern = 7;
	sycl_buffer buffer;
	sycl_result r = sycl_buffer_create(client->platform, NULL, bytes, SYCL_HOST_NONE, &buffer);
	if (r < 0)
		return r;
	r = sycl_queue_fill(client->queue, buffer, 0, bytes, &pattern, sizeof(pattern), NULL);
	if (r == 0)
		r = sycl_queue_wait_for(client->queue, SOON);
	(void)sycl_buffer_release(buffer);
	return r;
}

static void replace_service(struct private_service *service, int signal)
{
	pid_t old = service->sycld.pid;
	cr_assert_eq(kill(old, signal), 0);
	int status = child_wait(&service->sycld, SOON);
	cr_assert_eq(status, signal == SIGKILL ? 128 + SIGKILL : 0, "sycld ended with status %d",
		     status);
	cr_assert_eq(private_service_restart(service), 0);
}

struct known {
	const struct private_service *service;
	pid_t engine;
	json_int_t sessions;
};

/* Returns true if the only engine is this one, it is ready, and it has that many sessions. */
static bool is_known(void *context)
{
	const struct known *known = context;
	json_t *status = private_service_status(known->service);
	const json_t *tenants = json_object_get(status, "tenants"),
		     *tenant = json_array_get(tenants, 0);
	const char *state = json_string_value(json_object_get(tenant, "state"));
	bool is = json_array_size(tenants) == 1 && state && strcmp(state, "ready") == 0 &&
		  json_integer_value(json_object_get(tenant, "engine_pid")) == known->engine &&
		  json_integer_value(json_object_get(tenant, "sessions")) == known->sessions;
	json_decref(status);
	return is;
}

static void expect_known(const struct private_service *service, pid_t engine, json_int_t sessions)
{
	struct known known = {service, engine, sessions};
	if (!wait_until(is_known, &known, SOON)) {
		private_service_print_log(service);
		cr_assert(false, "engine %d with %d sessions is not known", (int)engine,
			  (int)sessions);
	}
}

static void session_number(const struct private_service *service, size_t index, char text[24])
{
	json_t *status = private_service_status(service),
	       *sessions = json_object_get(status, "sessions");
	json_int_t id = json_integer_value(json_object_get(json_array_get(sessions, index), "id"));
	(void)snprintf(text, 24, "%lld", (long long)id);
	json_decref(status);
}

static const char *user(void)
{
	static char text[24];
	(void)snprintf(text, sizeof(text), "%u", (unsigned)geteuid());
	return text;
}

Test(processes_adoption,
     N5_a_session_in_the_middle_of_its_work_and_a_new_one_share_the_engine_with_the_next_service)
{
	static const int ways[] = {SIGKILL, SIGUSR2};
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct child old = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&old, service, "steps", "--count", "40");
	worker_expect(&old, "ready", line);
	pid_t engine = processes_engine(service);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		/* The client works while the service is replaced, on buffers that it made before.
		 * Its results are correct. */
		cr_assert_eq(child_say(&old, "go on"), 0);
		replace_service(service, ways[i]);
		worker_expect(&old, "done", line);
		expect_known(service, engine, 1);
		struct client new = client_open(service);
		cr_assert_eq(fill_one_buffer(&new, large_bytes), 0);
		expect_known(service, engine, 2);
		client_close(&new);
		expect_known(service, engine, 1);
	}
	worker_finish(&old);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
}

/* A plain stop leaves them only if it is configured. */
Test(processes_adoption, N5_a_stop_that_leaves_engines_leaves_them_to_the_next_service)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[service]\nengines_at_stop = leave\n", false);
	struct client old = client_open(service);
	cr_assert_eq(fill_one_buffer(&old, large_bytes), 0);
	pid_t engine = processes_engine(service);
	replace_service(service, SIGTERM);
	expect_known(service, engine, 1);
	cr_assert_eq(fill_one_buffer(&old, large_bytes), 0);
	/* The engines that came back are left as well. Otherwise this service would end them at its
	 * end. */
	replace_service(service, SIGTERM);
	expect_known(service, engine, 1);
	client_close(&old);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
}

struct owners {
	const struct private_service *service;
	pid_t engines[2];
};

static const int64_t uids[] = {65534, 65533};

static bool have_their_engines(void *context)
{
	const struct owners *owners = context;
	for (int i = 0; i < 2; i++)
		if (private_service_engine(owners->service, uids[i]) != owners->engines[i])
			return false;
	return private_service_sessions(owners->service) == 2;
}

Test(processes_adoption, N5_each_users_engine_comes_back_to_its_user)
{
	const char *const one[] = {"--uid", "65534", "--count", "40", NULL};
	const char *const other[] = {"--uid", "65533", "--count", "40", NULL};
	if (geteuid() != 0)
		cr_skip_test("SKIPPED: two users need root; run the tests as root to see this one");
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, true);
	struct child workers[2] = {CHILD_INIT, CHILD_INIT};
	struct owners owners = {.service = service};
	char line[LINE_BYTES];
	worker_start_with(&workers[0], NULL, service->endpoint, "steps", one);
	worker_start_with(&workers[1], NULL, service->endpoint, "steps", other);
	for (int i = 0; i < 2; i++) {
		worker_expect(&workers[i], "ready", line);
		owners.engines[i] = private_service_engine(service, uids[i]);
	}
	replace_service(service, SIGKILL);
	cr_assert(wait_until(have_their_engines, &owners, SOON));
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(child_say(&workers[i], "go on"), 0);
		worker_expect(&workers[i], "done", line);
		worker_finish(&workers[i]);
	}
	cr_assert(private_service_wait_sessions(service, 0, SOON));
}

Test(processes_adoption, N4_orders_reach_sessions_of_an_earlier_service)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct client old = client_open(service);
	char number[24];
	cr_assert_eq(fill_one_buffer(&old, large_bytes), 0);
	pid_t engine = processes_engine(service);
	replace_service(service, SIGKILL);
	expect_known(service, engine, 1);

	LIMIT(service, "buffer_bytes=4K", "--uid", user());
	cr_expect_lt(fill_one_buffer(&old, large_bytes), 0);
	cr_expect_eq(fill_one_buffer(&old, small_bytes), 0);
	LIMIT(service, "buffer_bytes=default", "--uid", user());
	cr_expect_eq(fill_one_buffer(&old, large_bytes), 0);

	session_number(service, 0, number);
	struct client new = client_open(service);
	ORDER(service, "kill", number);
	cr_assert(private_service_wait_sessions(service, 1, SOON));
	cr_expect_eq(fill_one_buffer(&old, large_bytes), SYCL_ERROR_CONNECTION_LOST);
	cr_expect_eq(fill_one_buffer(&new, large_bytes), 0);
	ORDER(service, "kill", "--uid", user());
	cr_assert(wait_until(processes_gone, &engine, SOON));
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	client_close(&old);
	client_close(&new);
}

/* This service allows less than an earlier one. */
Test(processes_adoption, N4_limits_of_the_next_service_hold)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("", false);
	struct client old = client_open(service);
	cr_assert_eq(fill_one_buffer(&old, large_bytes), 0);
	pid_t engine = processes_engine(service);
	FILE *file = fopen(service->configuration, "we");
	cr_assert(file && fputs("[limits]\nbuffer_bytes = 4K\n", file) >= 0 && fclose(file) == 0);
	replace_service(service, SIGKILL);
	expect_known(service, engine, 1);
	cr_assert_lt(fill_one_buffer(&old, large_bytes), 0);
	cr_assert_eq(fill_one_buffer(&old, small_bytes), 0);
	client_close(&old);
}

static bool failure_names(void *context)
{
	json_t *status = private_service_status(context);
	const json_t *tenant = json_array_get(json_object_get(status, "tenants"), 0);
	const char *failure = json_string_value(json_object_get(tenant, "last_failure"));
	bool names = failure && strstr(failure, "'endless'");
	json_decref(status);
	return names;
}

Test(processes_adoption,
     N5_the_death_of_an_engine_of_an_earlier_service_is_seen_and_its_offender_is_named)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct child endless = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&endless, service, "endless", NULL, NULL);
	worker_expect(&endless, "ready", line);
	pid_t engine = processes_engine(service);
	replace_service(service, SIGKILL);
	expect_known(service, engine, 1);
	cr_assert_eq(kill(engine, SIGKILL), 0);
	worker_expect(&endless, "result ", line);
	cr_expect(strstr(line, "SYCL_ERROR_DEVICE_LOST"), "%s", line);
	worker_finish(&endless);
	cr_assert(wait_until(failure_names, service, SOON),
		  "the service does not say what was running");
	worker_mix_once(service, 1);
	cr_assert_neq(processes_engine(service), engine);
}

/* Returns an integer of the only account. */
static json_int_t used(const struct private_service *service, const char *name)
{
	json_t *status = private_service_status(service);
	const json_t *accounts = json_object_get(status, "accounts");
	cr_assert_eq(json_array_size(accounts), 1);
	json_int_t value = json_integer_value(json_object_get(json_array_get(accounts, 0), name));
	json_decref(status);
	return value;
}

struct wanted_use {
	const struct private_service *service;
	json_int_t sessions, groups;
};

static bool has_used(void *context)
{
	const struct wanted_use *wanted = context;
	return used(wanted->service, "sessions_ended") == wanted->sessions &&
	       used(wanted->service, "command_groups_completed") == wanted->groups;
}

/* Sessions of several engines and services. One engine crashed and one service was killed. */
Test(processes_adoption, what_a_user_has_used_is_counted_over_engines_and_services)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct client one = client_open(service), two = client_open(service);
	struct wanted_use wanted = {service, 0, 3};
	cr_assert_eq(fill_one_buffer(&one, large_bytes), 0);
	cr_assert_eq(fill_one_buffer(&two, large_bytes), 0);
	cr_assert_eq(fill_one_buffer(&two, large_bytes), 0);
	cr_assert(wait_until(has_used, &wanted, SOON), "what goes on does not count");
	client_close(&one);
	wanted.sessions = 1;
	cr_assert(wait_until(has_used, &wanted, SOON), "what is over does not count once");

	/* The engine crashes after its report; the crash is in the reply to that. */
	cr_assert_eq(kill(processes_engine(service), SIGKILL), 0);
	wanted.sessions = 2;
	cr_assert(wait_until(has_used, &wanted, SOON),
		  "what a crashed engine had reported does not count");
	cr_assert_eq(used(service, "engines_failed"), 1);
	client_close(&two);

	struct client three = client_open(service);
	cr_assert_eq(fill_one_buffer(&three, large_bytes), 0);
	replace_service(service, SIGUSR2);
	wanted.groups = 4;
	cr_assert(wait_until(has_used, &wanted, SOON), "it does not go on with the next service");
	cr_assert_eq(fill_one_buffer(&three, large_bytes), 0);
	client_close(&three);
	wanted.sessions = 3;
	wanted.groups = 5;
	cr_assert(wait_until(has_used, &wanted, SOON),
		  "a session of two services does not count once");
	cr_assert_eq(used(service, "engines_failed"), 1);
	cr_assert_gt(used(service, "device_ns"), 0);
}

/* Returns the figures of `syclctl accounts`, of the only row with that option; -1: there is no such
 * row. */
static json_int_t added_up(const struct private_service *service, const char *option,
			   const char *name)
{
	char program[256], text[4096];
	struct child child = CHILD_INIT;
	cr_assert_eq(build_path("bin", "syclctl", program, sizeof(program)), 0);
	const char *argv[] = {
		program, "--runtime-dir", service->runtime, "accounts", "--json", option, NULL};
	cr_assert_eq(child_start(argv, NULL, &child), 0);
	ssize_t length = child_read_all(&child, text, sizeof(text), SOON);
	cr_assert_eq(child_wait(&child, SOON), 0);
	child_end(&child);
	json_t *answer = length < 0 ? NULL : json_loads(text, 0, NULL);
	const json_t *accounts = json_object_get(answer, "accounts");
	json_int_t value =
		json_array_size(accounts) == 1
			? json_integer_value(json_object_get(json_array_get(accounts, 0), name))
			: -1;
	json_decref(answer);
	return value;
}

struct wanted_sum {
	const struct private_service *service;
	const char *option, *name;
	json_int_t value;
};

static bool is_added_up(void *context)
{
	const struct wanted_sum *wanted = context;
	return added_up(wanted->service, wanted->option, wanted->name) == wanted->value;
}

static void expect_sum(const struct private_service *service, const char *option, const char *name,
		       json_int_t value)
{
	struct wanted_sum wanted = {service, option, name, value};
	cr_assert(wait_until(is_added_up, &wanted, SOON), "%s with %s: %lld", name, option,
		  (long long)added_up(service, option, name));
}

/* The engine itself measures each command and its delay, with its device. */
Test(processes_adoption,
     what_devices_did_and_how_long_it_waited_is_counted_over_engines_and_services)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct client one = client_open(service), two = client_open(service);
	for (int i = 0; i < 5; i++)
		cr_assert_eq(fill_one_buffer(&one, large_bytes), 0);
	cr_assert_eq(fill_one_buffer(&two, large_bytes), 0);
	expect_sum(service, "--by=device", "commands", 6);
	expect_sum(service, "--by=device", "delays", 6);
	cr_assert_gt(added_up(service, "--by=cgroup", "device_ns"), 0);
	client_close(&one);
	expect_sum(service, "--by=uid", "sessions_ended", 1);
	expect_sum(service, "--by=session", "commands", 1);
	cr_assert_eq(kill(processes_engine(service), SIGKILL), 0);
	expect_sum(service, "--by=uid", "sessions_ended", 2);
	expect_sum(service, "--by=device", "delays", 6);
	client_close(&two);
	struct client three = client_open(service);
	cr_assert_eq(fill_one_buffer(&three, large_bytes), 0);
	replace_service(service, SIGUSR2);
	expect_sum(service, "--by=device,cgroup", "commands", 7);
	client_close(&three);
	expect_sum(service, "--by=device,cgroup", "sessions_ended", 3);
	expect_sum(service, "--by=device,cgroup", "delays", 7);
	cr_assert_gt(added_up(service, "--by=device", "delay_p99_ns"), 0);
}

Test(processes_adoption, N6_an_engine_that_came_back_ends_when_nobody_needs_it)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[service]\nengine_idle_seconds = 1\n", false);
	struct client old = client_open(service);
	cr_assert_eq(fill_one_buffer(&old, large_bytes), 0);
	pid_t engine = processes_engine(service);
	replace_service(service, SIGKILL);
	expect_known(service, engine, 1);
	client_close(&old);
	cr_assert(wait_until(processes_gone, &engine, SOON));
}

/* Without sessions the engine does not come back. */
Test(processes_adoption, N6_an_engine_without_sessions_ends_with_its_service)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	worker_mix_once(service, 1);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	pid_t engine = processes_engine(service);
	replace_service(service, SIGKILL);
	cr_assert(wait_until(processes_gone, &engine, SOON));
	worker_mix_once(service, 2);
}
