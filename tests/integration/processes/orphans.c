/* Commands that run on when their session has ended. No client waits for them, and only the end of
 * the engine ends them. */
#include "processes/client.h"

#include <stdio.h>
#include <string.h>

TestSuite(processes_orphans, .timeout = 240);

static bool tells_the_deadline(void *service)
{
	return private_service_has_logged(
		service, "ended itself: endless still runs 1 s after its session has ended");
}

/* No client waits for it, and no device can end it. */
Test(processes_orphans, N4_an_endless_kernel_does_not_outlive_its_client)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[limits]\norphan_seconds = 1\n", false);
	struct child endless = CHILD_INIT, blocked = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&blocked, service, "blocked", NULL, NULL);
	worker_expect(&blocked, "ready", line);
	worker_start(&endless, service, "endless", NULL, NULL);
	worker_expect(&endless, "ready", line);
	pid_t engine = processes_engine(service);
	child_end(&endless);
	cr_assert(wait_until(processes_gone, &engine, SOON), "the kernel still runs");
	worker_expect(&blocked, "result ", line);
	cr_expect(strstr(line, "SYCL_ERROR_DEVICE_LOST"), "%s", line);
	cr_expect(strstr(line, "endless"), "it is not named: %s", line);
	cr_expect(wait_until(tells_the_deadline, service, SOON),
		  "the log does not say that a deadline had passed");
	cr_expect_not(private_service_has_logged(service, "device failed"), "no device failed");
	worker_finish(&blocked);
	worker_mix_once(service, 1);
}

/* The number of the only session. */
static bool is_shown_as_ended(void *context)
{
	json_t *status = private_service_status(context),
	       *session = json_array_get(json_object_get(status, "sessions"), 0);
	const char *state = json_string_value(json_object_get(session, "state"));
	bool ended = state && strcmp(state, "ended, still running") == 0;
	json_decref(status);
	return ended;
}

static json_int_t only_session(const struct private_service *service)
{
	json_t *status = private_service_status(service),
	       *session = json_array_get(json_object_get(status, "sessions"), 0);
	json_int_t id = json_integer_value(json_object_get(session, "id"));
	json_decref(status);
	return id;
}

Test(processes_orphans, N4_a_session_whose_command_goes_on_after_its_client_is_shown_as_ended)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[limits]\norphan_seconds = 3600\n", false);
	struct child endless = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&endless, service, "endless", NULL, NULL);
	worker_expect(&endless, "ready", line);
	cr_expect_not(is_shown_as_ended(service));
	child_end(&endless);
	cr_assert(wait_until(is_shown_as_ended, service, SOON), "it is not shown as ended");
}

Test(processes_orphans, N4_a_killed_session_whose_command_goes_on_is_shown_as_ended)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[limits]\norphan_seconds = 3600\n", false);
	struct child endless = CHILD_INIT;
	char line[LINE_BYTES], id[24];
	worker_start(&endless, service, "endless", NULL, NULL);
	worker_expect(&endless, "ready", line);
	(void)snprintf(id, sizeof(id), "%lld", (long long)only_session(service));
	ORDER(service, "kill", id);
	cr_assert(wait_until(is_shown_as_ended, service, SOON), "it is not shown as ended");
	child_end(&endless);
}

/* Its client may stay alive. */
Test(processes_orphans, N4_an_endless_kernel_does_not_outlive_its_killed_session)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[limits]\norphan_seconds = 1\n", false);
	struct child endless = CHILD_INIT;
	char line[LINE_BYTES], id[24];
	worker_start(&endless, service, "endless", NULL, NULL);
	worker_expect(&endless, "ready", line);
	pid_t engine = processes_engine(service);
	(void)snprintf(id, sizeof(id), "%lld", (long long)only_session(service));
	ORDER(service, "kill", id);
	cr_assert(wait_until(processes_gone, &engine, SOON), "the kernel still runs");
	child_end(&endless);
	worker_mix_once(service, 1);
}
