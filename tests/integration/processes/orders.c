/*
 * Orders of operators: sessions end, pause and go on, new sessions are refused, limits change. All
 * this happens while the service runs. An order for one session does not affect the others.
 */
#include "processes/client.h"

#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(processes_orders, .timeout = 280);

static const uint64_t small_bytes = 4096, large_bytes = 1 << 20;

static char last_words[512];

/* Keeps the text of a failure before a later one replaces it. */
static void orders_keep_failure_text(sycl_result r)
{
	if (r < 0)
		(void)snprintf(last_words, sizeof(last_words), "%s", sycl_get_last_error_text());
}

/* Makes a buffer of that many bytes and fills it on the device. */
static sycl_result fill_one_buffer(struct client *client, uint64_t bytes, uint64_t timeout_ns)
{
	const uint32_t pattern = 7;
	sycl_buffer buffer;
	sycl_result r = sycl_buffer_create(client->platform, NULL, bytes, SYCL_HOST_NONE, &buffer);
	orders_keep_failure_text(r);
	if (r < 0)
		return r;
	r = sycl_queue_fill(client->queue, buffer, 0, bytes, &pattern, sizeof(pattern), NULL);
	if (r == 0)
		r = sycl_queue_wait_for(client->queue, timeout_ns);
	orders_keep_failure_text(r);
	(void)sycl_buffer_release(buffer);
	return r;
}

#define REFUSED(service, status, why, ...)                                                         \
	do {                                                                                       \
		char answer_[ANSWER_BYTES];                                                        \
		const char *const words_[ORDER_WORDS_MAX] = {__VA_ARGS__};                         \
		cr_assert_eq(processes_order(service, words_, answer_), status, "%s", answer_);    \
		cr_assert(strstr(answer_, why), "%s", answer_);                                    \
	} while (0)

/* Numbers of the current sessions, oldest first. */
static void numbers(const struct private_service *service, char list[][24], size_t count)
{
	json_t *status = private_service_status(service),
	       *sessions = json_object_get(status, "sessions");
	cr_assert_eq(json_array_size(sessions), count);
	for (size_t i = 0; i < count; i++) {
		json_int_t id =
			json_integer_value(json_object_get(json_array_get(sessions, i), "id"));
		(void)snprintf(list[i], sizeof(list[i]), "%lld", (long long)id);
	}
	json_decref(status);
}

static const char *user(void)
{
	static char text[24];
	(void)snprintf(text, sizeof(text), "%u", (unsigned)geteuid());
	return text;
}

Test(processes_orders, N4_a_killed_session_is_told_why_and_others_go_on)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	char ids[2][24];
	struct client victim = client_open(service), other = client_open(service);
	cr_assert_eq(fill_one_buffer(&victim, large_bytes, SOON), 0);
	numbers(service, ids, 2);
	ORDER(service, "kill", ids[0], "--reason", "too greedy");
	cr_assert(private_service_wait_sessions(service, 1, SOON));
	cr_expect_eq(fill_one_buffer(&victim, large_bytes, SOON), SYCL_ERROR_CONNECTION_LOST);
	cr_expect(strstr(last_words, "ended by the operator: too greedy"), "%s", last_words);
	cr_expect_eq(fill_one_buffer(&other, large_bytes, SOON), 0);
	REFUSED(service, 1, "there is no session", "kill", ids[0]);
	client_close(&victim);
	client_close(&other);
}

/* Returns how many commands its engine has sent to devices, with a decision or without. */
static json_int_t sent(const struct private_service *service)
{
	json_t *status = private_service_status(service), *gate = NULL;
	const json_t *tenants = json_object_get(status, "tenants");
	for (size_t i = 0; i < json_array_size(tenants) && !gate; i++)
		gate = json_object_get(json_array_get(tenants, i), "gate");
	cr_assert(gate, "status does not show gates");
	json_int_t count = json_integer_value(json_object_get(gate, "bypassed")) +
			   json_integer_value(json_object_get(gate, "admitted"));
	cr_expect_eq(json_integer_value(json_object_get(gate, "waiting")), 0);
	json_decref(status);
	return count;
}

/* Each takes some milliseconds, one after the other. `events`: one for each, or NULL. */
static void submit_long(const struct client *client, sycl_buffer buffer, uint32_t count,
			sycl_event *events)
{
	static const char source[] =
		"SYCL_KERNEL void spin(SYCL_GLOBAL(uint) x, uint n)\n"
		"{ uint v = x[0]; for (uint i = 0; i < n; i++) v = v * 1664525u + 1013904223u; x[0] = v; }";
	const uint32_t n = 4000000;
	sycl_kernel kernel;
	cr_assert_eq(sycl_kernel_from_source(client->queue, source, "spin", &kernel), 0, "%s",
		     sycl_get_build_log());
	for (uint32_t i = 0; i < count; i++) {
		sycl_handler handler;
		sycl_result r = sycl_handler_begin(client->queue, &handler);
		if (r == 0)
			r = sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE);
		if (r == 0)
			r = sycl_handler_set_value(handler, 1, sizeof(n), &n);
		if (r == 0)
			r = sycl_handler_single_task(handler, kernel);
		if (r == 0)
			r = sycl_handler_submit(handler, events ? &events[i] : NULL);
		cr_assert_eq(r, 0, "%s", sycl_get_last_error_text());
	}
	(void)sycl_kernel_release(kernel);
}

/* This is repeated as often as it takes: on a busy machine the order may come late. */
Test(processes_orders, N4_of_a_killed_session_nothing_more_is_begun)
{
	enum { GROUPS = 1000, ROUNDS = 5 };
	static uint32_t zero[16];
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct client other = client_open(service);
	cr_assert_eq(fill_one_buffer(&other, small_bytes, SOON), 0);
	json_int_t ran = GROUPS;
	for (int i = 0; i < ROUNDS && ran >= GROUPS; i++) {
		char ids[2][24];
		sycl_buffer buffer;
		struct client victim = client_open(service);
		cr_assert_eq(sycl_buffer_create(victim.platform, zero, sizeof(zero),
						SYCL_HOST_CONST, &buffer),
			     0);
		json_int_t before = sent(service);
		submit_long(&victim, buffer, GROUPS, NULL);
		numbers(service, ids, 2);
		ORDER(service, "kill", ids[1]);
		cr_expect_eq(fill_one_buffer(&other, small_bytes, SOON), 0);
		cr_assert(private_service_wait_sessions(service, 1, SOON));
		ran = sent(service) - before;
		(void)sycl_buffer_release(buffer);
		client_close(&victim);
	}
	cr_expect_lt(ran, GROUPS);
	cr_expect_eq(fill_one_buffer(&other, small_bytes, SOON), 0);
	client_close(&other);
}

Test(processes_orders, N4_a_users_engine_is_killed_and_the_next_one_serves)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct client one = client_open(service), two = client_open(service);
	pid_t before = processes_engine(service);
	ORDER(service, "kill", "--uid", user());
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	cr_expect_neq(fill_one_buffer(&one, small_bytes, SOON), 0);
	cr_expect_neq(fill_one_buffer(&two, small_bytes, SOON), 0);
	struct client next = client_open(service);
	cr_expect_eq(fill_one_buffer(&next, small_bytes, SOON), 0);
	cr_expect_neq(processes_engine(service), before);
	client_close(&one);
	client_close(&two);
	client_close(&next);
}

/* The kernel that runs is not at fault. */
Test(processes_orders, N4_clients_of_a_killed_engine_get_the_reason_while_a_kernel_runs)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct child endless = CHILD_INIT, blocked = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&endless, service, "endless", NULL, NULL);
	worker_expect(&endless, "ready", line);
	worker_start(&blocked, service, "blocked", NULL, NULL);
	worker_expect(&blocked, "ready", line);
	ORDER(service, "kill", "--uid", user(), "--reason", "the machine is needed");
	worker_expect(&blocked, "result ", line);
	cr_expect(strstr(line, "the machine is needed"), "%s", line);
	cr_expect_not(strstr(line, "endless"), "%s", line);
	worker_expect(&endless, "result ", line);
	cr_expect(strstr(line, "the machine is needed"), "%s", line);
	worker_finish(&blocked);
	worker_finish(&endless);
}

Test(processes_orders, a_paused_session_rests_and_others_go_on)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	char ids[2][24];
	struct client paused = client_open(service), other = client_open(service);
	cr_assert_eq(fill_one_buffer(&paused, small_bytes, SOON), 0);
	numbers(service, ids, 2);
	ORDER(service, "pause", ids[0]);
	sycl_buffer buffer;
	const uint32_t pattern = 3;
	cr_assert_eq(
		sycl_buffer_create(paused.platform, NULL, small_bytes, SYCL_HOST_NONE, &buffer), 0);
	cr_assert_eq(sycl_queue_fill(paused.queue, buffer, 0, small_bytes, &pattern,
				     sizeof(pattern), NULL),
		     0);
	cr_expect_eq(fill_one_buffer(&other, small_bytes, SOON), 0);
	/* The other session's work came later and is complete. */
	cr_expect_eq(sycl_queue_wait_for(paused.queue, 0), SYCL_ERROR_TIMEOUT);
	ORDER(service, "resume", ids[0]);
	cr_expect_eq(sycl_queue_wait_for(paused.queue, SOON), 0);
	(void)sycl_buffer_release(buffer);
	ORDER(service, "pause", "--all");
	ORDER(service, "resume", "--uid", user());
	cr_expect_eq(fill_one_buffer(&paused, small_bytes, SOON), 0);
	cr_expect_eq(fill_one_buffer(&other, small_bytes, SOON), 0);
	client_close(&paused);
	client_close(&other);
}

/*
 * The engine has read all groups when the order comes. Those that it has sent end, and no other is
 * sent. Repeated as often as it takes: on a busy machine all may be sent before the order comes.
 */
Test(processes_orders, of_a_paused_session_nothing_more_is_sent)
{
	enum { GROUPS = 400, ROUNDS = 5 };
	static uint32_t zero[16];
	static sycl_event events[GROUPS];
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct client client = client_open(service);
	cr_assert_eq(fill_one_buffer(&client, small_bytes, SOON), 0);
	json_int_t at_pause = GROUPS;
	for (int i = 0; i < ROUNDS && at_pause >= GROUPS; i++) {
		sycl_buffer buffer;
		cr_assert_eq(sycl_buffer_create(client.platform, zero, sizeof(zero),
						SYCL_HOST_CONST, &buffer),
			     0);
		const json_int_t before = sent(service);
		submit_long(&client, buffer, GROUPS, events);
		ORDER(service, "pause", "--all");
		at_pause = sent(service) - before;
		if (at_pause > 0)
			cr_expect_eq(sycl_event_wait_for(events[at_pause - 1], SOON), 0);
		cr_expect_eq(sent(service) - before, at_pause);
		if (at_pause < GROUPS)
			cr_expect_eq(sycl_event_wait_for(events[at_pause], 0), SYCL_ERROR_TIMEOUT);
		ORDER(service, "resume", "--all");
		cr_expect_eq(sycl_queue_wait_for(client.queue, SOON), 0);
		cr_expect_eq(sent(service) - before, GROUPS);
		for (uint32_t event = 0; event < GROUPS; event++)
			(void)sycl_event_release(events[event]);
		(void)sycl_buffer_release(buffer);
	}
	cr_expect_lt(at_pause, GROUPS);
	client_close(&client);
}

Test(processes_orders, while_drained_no_session_opens_and_open_ones_continue)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct client there = client_open(service);
	sycl_platform none = NULL;
	const char *const whose[][2] = {{"--all", NULL}, {"--uid", user()}};
	for (int i = 0; i < 2; i++) {
		ORDER(service, "drain", whose[i][0], whose[i][1]);
		cr_expect_neq(sycl_platform_open(service->endpoint, &none), 0);
		cr_expect(strstr(sycl_get_last_error_text(), "accepts no new sessions"), "%s",
			  sycl_get_last_error_text());
		cr_expect_eq(fill_one_buffer(&there, small_bytes, SOON), 0);
		ORDER(service, "resume", whose[i][0], whose[i][1]);
		struct client next = client_open(service);
		cr_expect_eq(fill_one_buffer(&next, small_bytes, SOON), 0);
		client_close(&next);
	}
	client_close(&there);
}

/* A limit is sent only to the sessions that it applies to. */
Test(processes_orders, a_limit_changes_for_one_session_for_a_user_and_back)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	char ids[2][24];
	struct client one = client_open(service), two = client_open(service);
	cr_assert_eq(fill_one_buffer(&one, large_bytes, SOON), 0);
	numbers(service, ids, 2);
	LIMIT(service, "buffer_bytes=64K", ids[0]);
	cr_expect_eq(fill_one_buffer(&one, large_bytes, SOON), SYCL_ERROR_QUOTA);
	cr_expect_eq(fill_one_buffer(&one, small_bytes, SOON), 0);
	cr_expect_eq(fill_one_buffer(&two, large_bytes, SOON), 0);

	LIMIT(service, "buffer_bytes=512K", "--uid", user());
	cr_expect_eq(fill_one_buffer(&two, large_bytes, SOON), SYCL_ERROR_QUOTA);
	struct client three = client_open(service);
	cr_expect_neq(fill_one_buffer(&three, large_bytes, SOON), 0);
	LIMIT(service, "buffer_bytes=default", "--uid", user());
	cr_expect_eq(fill_one_buffer(&two, large_bytes, SOON), 0);
	cr_expect_eq(fill_one_buffer(&one, large_bytes, SOON), SYCL_ERROR_QUOTA,
		     "that was said of it alone");
	LIMIT(service, "buffer_bytes=default", ids[0]);
	cr_expect_eq(fill_one_buffer(&one, large_bytes, SOON), 0);
	client_close(&one);
	client_close(&two);
	client_close(&three);
}

/* A kernel never ends, and its session is named. */
Test(processes_orders, past_a_deadline_the_engine_ends_the_group_is_named_and_the_user_works_again)
{
	static const char source[] =
		"SYCL_KERNEL void endless(SYCL_GLOBAL(uint) y) { for (;;) y[0] += 1u; }";
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[service]\nstandby = no\n[limits]\ngroup_seconds = 5\n", false);
	struct client runaway = client_open(service);
	pid_t before = processes_engine(service);
	sycl_buffer buffer;
	sycl_kernel kernel;
	sycl_handler handler;
	cr_assert_eq(fill_one_buffer(&runaway, large_bytes, SOON), 0);
	cr_assert_eq(
		sycl_buffer_create(runaway.platform, NULL, small_bytes, SYCL_HOST_NONE, &buffer),
		0);
	cr_assert_eq(sycl_kernel_from_source(runaway.queue, source, "endless", &kernel), 0, "%s",
		     sycl_get_last_error_text());
	cr_assert_eq(sycl_handler_begin(runaway.queue, &handler), 0);
	cr_assert_eq(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE), 0);
	cr_assert_eq(sycl_handler_single_task(handler, kernel), 0);
	cr_assert_eq(sycl_handler_submit(handler, NULL), 0);
	cr_expect_eq(sycl_queue_wait_for(runaway.queue, SOON), SYCL_ERROR_DEVICE_LOST);
	cr_expect(strstr(sycl_get_last_error_text(), "deadline of 5 s"), "%s",
		  sycl_get_last_error_text());
	cr_expect(strstr(sycl_get_last_error_text(), "endless"), "%s", sycl_get_last_error_text());
	struct client next = client_open(service);
	cr_expect_eq(fill_one_buffer(&next, large_bytes, SOON), 0);
	cr_expect_neq(processes_engine(service), before);
	(void)sycl_kernel_release(kernel);
	(void)sycl_buffer_release(buffer);
	client_close(&runaway);
	client_close(&next);
}

Test(processes_orders, what_makes_no_sense_is_said)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct client client = client_open(service);
	char ids[1][24];
	numbers(service, ids, 1);
	REFUSED(service, 2, "name the sessions of the order once", "kill");
	REFUSED(service, 2, "name the sessions of the order once", "kill", ids[0], "--all");
	REFUSED(service, 2, "a session is a number", "kill", "me");
	REFUSED(service, 2, "there is no such user: 'no such name'", "pause", "--uid",
		"no such name");
	REFUSED(service, 2, "NAME=VALUE", "limit", "share_max=101%", "--uid", "root");
	REFUSED(service, 2, "NAME=VALUE", "limit", "objects=20%", ids[0]);
	REFUSED(service, 2, "NAME=VALUE", "limit", "objects", ids[0]);
	REFUSED(service, 2, "NAME=VALUE", "limit", "objects=many", ids[0]);
	REFUSED(service, 2, "'status' does not take --all", "status", "--all");
	REFUSED(service, 1, "the sessions to end must be named", "kill", "--all");
	REFUSED(service, 1, "no such limit: 'syclctl limits' lists them", "limit", "joy=1", ids[0]);
	REFUSED(service, 1, "limit: 'weihgt'. Did you mean 'weight'?", "limit", "weihgt=1", ids[0]);
	REFUSED(service, 2, "'shar_max'. Did you mean 'share_max'?", "limit", "shar_max=20%",
		"--all");
	REFUSED(service, 1, "at most", "limit", "builds=2000", ids[0]);
	REFUSED(service, 1, "is a limit of users", "limit", "tenant_arena_bytes=5", ids[0]);
	REFUSED(service, 1, "is a limit of users", "limit", "sessions_per_tenant=5", ids[0]);
	REFUSED(service, 1, "from 1 to", "limit", "sessions_per_tenant=3001", "--all");
	REFUSED(service, 1, "not drained", "drain", ids[0]);
	cr_expect_eq(fill_one_buffer(&client, large_bytes, SOON), 0);
	client_close(&client);
}
