/* What the environment switches off in a service is off in its engines. */
#include "processes.h"

#include "clock.h"

#include <stdlib.h>

TestSuite(processes_switches, .timeout = 280);

/* Of the one engine there is. */
static json_int_t claimed(const struct private_service *service, const char *what)
{
	json_t *status = private_service_status(service);
	json_t *tenant = json_array_get(json_object_get(status, "tenants"), 0);
	json_t *value = json_object_get(tenant, what);
	cr_assert(json_is_integer(value), "status does not tell of %s", what);
	json_int_t number = json_integer_value(value);
	json_decref(status);
	return number;
}

static void make_trips(struct child *worker, const struct private_service *service)
{
	*worker = (struct child)CHILD_INIT;
	worker_start(worker, service, "trips", "--count", "300");
	worker_finish(worker);
}

/* Whether one goes that way depends on whether the device's thread rests already; sooner or later one does. */
Test(processes_switches, TC1_the_front_thread_sends_launches_itself)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct child worker, stays = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&stays, service, "steps", NULL, NULL);
	worker_expect(&stays, "session", line);
	uint64_t deadline = clock_deadline_ns(SOON);
	do
		make_trips(&worker, service);
	while (claimed(service, "inline_launches") == 0 && clock_now_ns() < deadline);
	cr_assert_gt(claimed(service, "inline_launches"), 0);
	child_end(&stays);
}

Test(processes_switches, it_does_not_where_that_is_switched_off)
{
	cr_assert_eq(setenv("SYCLD_INLINE", "0", 1), 0);
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct child worker, stays = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&stays, service, "steps", NULL, NULL);
	worker_expect(&stays, "session", line);
	for (int i = 0; i < 3; i++)
		make_trips(&worker, service);
	cr_assert_eq(claimed(service, "inline_launches"), 0);
	cr_assert_eq(claimed(service, "inline_completions"), 0);
	child_end(&stays);
}
