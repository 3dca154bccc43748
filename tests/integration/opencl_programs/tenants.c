/*
 * A program that comes in by OpenCL's door is a tenant like any other: limits, classes, shares,
 * orders, a restart of the service; and users do not harm each other.
 */
#include "opencl_programs/common.h"

#include "clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(opencl_tenants, .timeout = 280);

enum { FIRST_UID = 64331, EACH = 4, CODE_MEM_OBJECT_ALLOCATION_FAILURE = -4 };

static const char *const work[] = {"work", NULL};

/* The session of that program in status. `status` keeps it. */
static json_t *session_of(const struct private_service *service, pid_t pid, json_t **status)
{
	size_t i;
	json_t *session;
	*status = private_service_status(service);
	json_array_foreach(json_object_get(*status, "sessions"), i, session)
	{
		if (json_integer_value(json_object_get(session, "pid")) == pid)
			return session;
	}
	cr_assert(false, "status shows no session of process %d", (int)pid);
	return NULL;
}

static json_int_t number_of(const struct private_service *service, pid_t pid)
{
	json_t *status;
	json_int_t id =
		json_integer_value(json_object_get(session_of(service, pid, &status), "id"));
	json_decref(status);
	return id;
}

Test(opencl_tenants, a_program_has_the_class_and_weight_of_its_environment)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	CLEANUP(vendors_remove) struct vendors vendors;
	struct child program;
	char endpoint[160], folder[160];
	vendors_make(&vendors);
	(void)snprintf(endpoint, sizeof(endpoint), "SYCLD_ENDPOINT=%s", service->endpoint);
	(void)snprintf(folder, sizeof(folder), "OCL_ICD_VENDORS=%s", vendors.through);
	const char *const environment[] = {endpoint, folder, "SYCLD_CLASS=best-effort",
					   "SYCLD_WEIGHT=7", NULL};
	program_start(&program, environment, work);
	program_expect(&program, "ready");
	json_t *status, *session = session_of(service, program.pid, &status);
	cr_expect_str_eq(json_string_value(json_object_get(session, "class")), "best-effort");
	cr_expect_eq(json_integer_value(json_object_get(session, "weight")), 7);
	json_decref(status);
	program_finish(&program);
}

Test(opencl_tenants, a_program_above_a_limit_is_refused_and_another_goes_on)
{
	static const char *const large[] = {"work", "--bytes", "4194304", NULL};
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[service]\nstandby = no\n[limits]\nbuffer_bytes = 1M\n", false);
	CLEANUP(vendors_remove) struct vendors vendors;
	struct child small, greedy;
	vendors_make(&vendors);
	program_start_at(&small, service, &vendors, work);
	program_expect(&small, "ready");
	program_start_at(&greedy, service, &vendors, large);
	cr_expect_eq(program_expect_failure(&greedy), CODE_MEM_OBJECT_ALLOCATION_FAILURE);
	program_finish(&small);
}

Test(opencl_tenants, a_killed_session_ends_its_program_only)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	CLEANUP(vendors_remove) struct vendors vendors;
	struct child victim, other;
	char id[24], answer[ANSWER_BYTES];
	vendors_make(&vendors);
	program_start_at(&victim, service, &vendors, work);
	program_start_at(&other, service, &vendors, work);
	program_expect(&victim, "ready");
	program_expect(&other, "ready");
	(void)snprintf(id, sizeof(id), "%lld", (long long)number_of(service, victim.pid));
	const char *const words[ORDER_WORDS_MAX] = {"kill", id};
	cr_assert_eq(processes_order(service, words, answer), 0, "%s", answer);
	(void)program_expect_failure(&victim);
	program_finish(&other);
}

Test(opencl_tenants, a_program_loses_nothing_when_the_service_is_killed_and_starts_again)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	CLEANUP(vendors_remove) struct vendors vendors;
	struct child program;
	vendors_make(&vendors);
	program_start_at(&program, service, &vendors, work);
	program_expect(&program, "ready");
	pid_t engine = processes_engine(service);
	cr_assert_eq(kill(service->sycld.pid, SIGKILL), 0);
	cr_assert_eq(child_wait(&service->sycld, SOON), 128 + SIGKILL);
	cr_assert_eq(private_service_restart(service), 0);
	cr_assert(private_service_wait_sessions(service, 1, SOON));
	cr_expect_eq(processes_engine(service), engine);
	program_finish(&program);
}

/* -------------------------------------- several users -------------------------------------- */

static struct private_service *service_for_users(const char *configuration)
{
	if (geteuid() != 0)
		cr_skip_test(
			"SKIPPED: several users need root; run the tests as root to see this one");
	return processes_service(configuration, true);
}

static void start_as(struct child *program, const struct private_service *service,
		     const struct vendors *vendors, const char *command, int user)
{
	char uid[16];
	(void)snprintf(uid, sizeof(uid), "%d", FIRST_UID + user);
	const char *const words[] = {command, "--uid", uid, NULL};
	program_start_at(program, service, vendors, words);
}

struct used {
	const struct private_service *service;
	int users;
};

/* Each user's share of the device is known, and time was counted for it. */
static bool all_have_used(void *context)
{
	const struct used *used = context;
	json_t *status = private_service_status(used->service), *row;
	int found = 0;
	size_t i;
	json_array_foreach(json_object_get(status, "shares"), i, row)
	{
		json_int_t user = json_integer_value(json_object_get(row, "uid")) - FIRST_UID;
		found += user >= 0 && user < used->users &&
			 json_integer_value(json_object_get(row, "min_percent")) ==
				 (user == 0 ? 75 : 25) &&
			 json_integer_value(json_object_get(row, "used_ns")) > 0;
	}
	json_decref(status);
	return found == used->users;
}

Test(opencl_tenants, what_programs_use_is_counted_for_their_users_shares)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = service_for_users(
		"[service]\nstandby = no\n[shares]\nuid.64331 = 75\nuid.64332 = 25\n");
	CLEANUP(vendors_remove) struct vendors vendors;
	struct child programs[2];
	vendors_make(&vendors);
	for (int i = 0; i < 2; i++)
		start_as(&programs[i], service, &vendors, "work", i);
	for (int i = 0; i < 2; i++)
		program_expect(&programs[i], "ready");
	struct used used = {service, 2};
	cr_expect(wait_until(all_have_used, &used, SOON));
	for (int i = 0; i < 2; i++)
		program_finish(&programs[i]);
}

/* One of the first user's programs sends without end and misuses handles; one of the second's is
 * killed in the middle of its work. */
Test(opencl_tenants, two_users_with_four_programs_each_finish_beside_a_wild_and_a_killed_one)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = service_for_users("[service]\nstandby = no\n");
	CLEANUP(vendors_remove) struct vendors vendors;
	struct child programs[2][EACH];
	vendors_make(&vendors);
	for (int i = 0; i < EACH; i++) {
		start_as(&programs[0][i], service, &vendors, i == 0 ? "wild" : "work", 0);
		start_as(&programs[1][i], service, &vendors, "work", 1);
	}
	for (int i = 0; i < EACH; i++) {
		program_expect(&programs[0][i], "ready");
		program_expect(&programs[1][i], "ready");
	}
	cr_assert(private_service_wait_sessions(service, 2 * EACH, SOON));
	child_end(&programs[1][0]); /* by SIGKILL */
	cr_assert(private_service_wait_sessions(service, 2 * EACH - 1, SOON));
	for (int user = 0; user < 2; user++)
		for (int i = 1; i < EACH; i++)
			program_finish(&programs[user][i]);
	cr_expect(process_exists(programs[0][0].pid), "the wild program has ended");
	child_end(&programs[0][0]);
	cr_expect(private_service_wait_sessions(service, 0, SOON));
}
