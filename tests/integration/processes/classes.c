/* Classes and weights of sessions: how they are requested, limited by the service, changed by
 * operators and shown. Also the decisions of gates. */
#include "processes/common.h"

#include "clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(processes_classes, .timeout = 280);

static void ranked(struct child *worker, const struct private_service *service, const char *class,
		   const char *weight, const char *const *words)
{
	char class_text[64], weight_text[64];
	(void)snprintf(class_text, sizeof(class_text), "SYCLD_CLASS=%s", class);
	(void)snprintf(weight_text, sizeof(weight_text), "SYCLD_WEIGHT=%s", weight);
	const char *const environment[] = {class_text, weight_text, NULL};
	*worker = (struct child)CHILD_INIT;
	worker_start_with(worker, environment, service->endpoint, words[0], words + 1);
}

static void sleeper(struct child *worker, const struct private_service *service, const char *class,
		    const char *weight)
{
	static const char *const words[] = {"steps", NULL};
	char line[LINE_BYTES];
	ranked(worker, service, class, weight, words);
	worker_expect(worker, "session", line);
}

/* Checks the rank of the session with that number. */
static void expect_rank(const struct private_service *service, size_t index, const char *class,
			json_int_t weight)
{
	json_t *status = private_service_status(service);
	json_t *session = json_array_get(json_object_get(status, "sessions"), index);
	cr_expect_str_eq(json_string_value(json_object_get(session, "class")), class);
	cr_expect_eq(json_integer_value(json_object_get(session, "weight")), weight);
	json_decref(status);
}

static json_int_t session_number(const struct private_service *service, size_t index)
{
	json_t *status = private_service_status(service);
	json_int_t id = json_integer_value(
		json_object_get(json_array_get(json_object_get(status, "sessions"), index), "id"));
	json_decref(status);
	return id;
}

static json_int_t gate_count(const struct private_service *service, const char *what)
{
	json_t *status = private_service_status(service);
	json_t *tenant = json_array_get(json_object_get(status, "tenants"), 0);
	json_t *value = json_object_get(json_object_get(tenant, "gate"), what);
	cr_assert(json_is_integer(value), "status does not show %s", what);
	json_int_t number = json_integer_value(value);
	json_decref(status);
	return number;
}

/* `syclctl limit ASSIGNMENT SESSION`. */
static void limit(const struct private_service *service, const char *assignment, json_int_t session)
{
	char number[24], answer[ANSWER_BYTES];
	(void)snprintf(number, sizeof(number), "%lld", (long long)session);
	const char *const words[ORDER_WORDS_MAX] = {"limit", assignment, number};
	cr_assert_eq(processes_order(service, words, answer), 0, "%s", answer);
}

Test(processes_classes, a_class_is_requested_shown_and_changed_while_the_session_lives)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct child quick, plain, last;
	sleeper(&quick, service, "latency", "300");
	sleeper(&plain, service, "", "");
	sleeper(&last, service, "best-effort", "7");
	expect_rank(service, 0, "latency", 300);
	expect_rank(service, 1, "normal", 100);
	expect_rank(service, 2, "best-effort", 7);

	limit(service, "best_class=2", session_number(service, 0));
	limit(service, "weight=50", session_number(service, 0));
	expect_rank(service, 0, "normal", 50);
	expect_rank(service, 1, "normal", 100);
	limit(service, "best_class=default", session_number(service, 0));
	limit(service, "weight=default", session_number(service, 0));
	expect_rank(service, 0, "latency", 300);
	limit(service, "best_class=1", session_number(service, 2));
	expect_rank(service, 2, "best-effort", 7);
	child_end(&quick);
	child_end(&plain);
	child_end(&last);
}

Test(processes_classes, no_better_class_is_had_than_the_service_allows)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(
		"[service]\nstandby = no\n[limits]\nbest_class = 2\nweight = 200\n", false);
	struct child quick, last;
	sleeper(&quick, service, "latency", "1000");
	sleeper(&last, service, "best-effort", "150");
	expect_rank(service, 0, "normal", 200);
	expect_rank(service, 1, "best-effort", 150);
	child_end(&quick);
	child_end(&last);
}

/* Whether both have work at one time depends on which is faster. If it is repeated, sooner or later
 * they do. */
Test(processes_classes,
     TG10_two_processes_of_two_classes_go_through_the_gate_and_all_they_do_is_right)
{
	static const char *const stream[] = {"stream", "--count", "2000", NULL}, *const trips[] = {
											 "trips",
											 "--count",
											 "300",
											 NULL};
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct child stays, flood, quick;
	sleeper(&stays, service, "normal", "100");
	uint64_t deadline = clock_deadline_ns(SOON);
	do {
		ranked(&flood, service, "best-effort", "100", stream);
		ranked(&quick, service, "latency", "100", trips);
		worker_finish(&flood);
		worker_finish(&quick);
	} while (gate_count(service, "admitted") == 0 && clock_now_ns() < deadline);
	cr_expect_gt(gate_count(service, "admitted"), 0);
	cr_expect_leq(gate_count(service, "held"), gate_count(service, "admitted"));
	cr_expect_eq(gate_count(service, "waiting"), 0);
	child_end(&stays);
}

Test(processes_classes, it_is_not_where_that_is_switched_off)
{
	static const char *const stream[] = {"stream", "--count", "2000", NULL}, *const trips[] = {
											 "trips",
											 "--count",
											 "300",
											 NULL};
	cr_assert_eq(setenv("SYCLD_GATE", "0", 1), 0);
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct child stays, flood, quick;
	sleeper(&stays, service, "normal", "100");
	ranked(&flood, service, "best-effort", "100", stream);
	ranked(&quick, service, "latency", "100", trips);
	worker_finish(&flood);
	worker_finish(&quick);
	cr_expect_eq(gate_count(service, "admitted"), 0);
	cr_expect_gt(gate_count(service, "bypassed"), 0);
	child_end(&stays);
}
