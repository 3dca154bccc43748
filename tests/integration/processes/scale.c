/*
 * Nearly as many clients at one time as a user may have by default. A tenth of them works, and some
 * misbehave. Each client is a connection with its own session; ten programs have a hundred of them
 * each.
 */
#include "processes/common.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

TestSuite(processes_scale, .timeout = 280);

enum { PROGRAMS = 10, CLIENTS = 1000, EACH = CLIENTS / PROGRAMS };

/* An engine has three for each client. sycld lets connections that are not open yet have half of
 * its own. */
enum { DESCRIPTORS = 4 * CLIENTS };

static void need_descriptors(void)
{
	struct rlimit limit;
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_max < DESCRIPTORS)
		cr_skip_test("a process may have %llu descriptors here; a thousand clients take %d",
			     (unsigned long long)limit.rlim_max, (int)DESCRIPTORS);
}

static void start_crowd(const struct private_service *service, struct child *programs, int count)
{
	char line[LINE_BYTES], each[16], seed[16];
	(void)snprintf(each, sizeof(each), "%d", EACH);
	for (int i = 0; i < count; i++) {
		(void)snprintf(seed, sizeof(seed), "%d", i + 1);
		const char *const arguments[] = {"--count", each, "--seed", seed, NULL};
		programs[i] = (struct child)CHILD_INIT;
		worker_start_with(&programs[i], NULL, service->endpoint, "crowd", arguments);
	}
	for (int i = 0; i < count; i++)
		worker_expect(&programs[i], "joined", line);
}

static void let_all(struct child *programs, int count, const char *reach)
{
	char line[LINE_BYTES];
	for (int i = 0; i < count; i++)
		cr_assert_eq(child_say(&programs[i], "go on"), 0);
	for (int i = 0; i < count; i++)
		worker_expect(&programs[i], reach, line);
}

static void end_crowd(struct child *programs, int count)
{
	for (int i = 0; i < count; i++)
		cr_assert_eq(child_say(&programs[i], "go on"), 0);
	for (int i = 0; i < count; i++)
		worker_finish(&programs[i]);
}

/* One client sends as fast as it can, one has filled both rings and reads nothing, one is stopped
 * during its work. */
static void start_rude(const struct private_service *service, struct child rude[3])
{
	char line[LINE_BYTES];
	for (int i = 0; i < 3; i++) {
		rude[i] = (struct child)CHILD_INIT;
		worker_start(&rude[i], service, i == 1 ? "undrained" : "churn", NULL, NULL);
		worker_expect(&rude[i], i == 1 ? "full" : "ready", line);
	}
	cr_assert_eq(kill(rude[2].pid, SIGSTOP), 0);
}

Test(processes_scale, N4_N6_a_thousand_clients_a_hundred_at_work_and_rude_ones_leave_nothing)
{
	need_descriptors();
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct child programs[PROGRAMS], rude[3];
	start_crowd(service, programs, 1);
	start_rude(service, rude);
	let_all(programs, 1, "worked");
	end_crowd(programs, 1);
	for (int i = 0; i < 3; i++)
		child_end(&rude[i]);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	struct footprint engine = footprint_take(processes_engine(service));
	struct footprint sycld = footprint_take(service->sycld.pid);

	start_crowd(service, programs, PROGRAMS);
	cr_assert_eq(private_service_sessions(service), CLIENTS);
	cr_assert_geq(process_count_descriptors(engine.pid), engine.descriptors + 3 * CLIENTS,
		      "they are not its own");
	start_rude(service, rude);
	let_all(programs, PROGRAMS, "worked");
	/* No session was closed to make room. */
	cr_assert_eq(private_service_sessions(service), CLIENTS + 3);
	end_crowd(programs, PROGRAMS);
	cr_assert_eq(private_service_sessions(service), 3);
	for (int i = 0; i < 3; i++)
		child_end(&rude[i]);
	cr_assert(private_service_wait_sessions(service, 0, SOON), "status still shows a client");
	worker_mix_once(service, 1);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	cr_assert_eq(processes_engine(service), engine.pid, "the engine did not survive");
	footprint_expect(&engine);
	footprint_expect(&sycld);
}

/* As after the failure of a device: the engine takes a while to answer, and all clients connect at
 * once. */
Test(processes_scale, N5_a_thousand_that_connect_at_once_are_all_welcome)
{
	need_descriptors();
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct child storm = CHILD_INIT;
	char line[LINE_BYTES], count[16];
	worker_mix_once(service, 1);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	struct footprint engine = footprint_take(processes_engine(service));
	struct footprint sycld = footprint_take(service->sycld.pid);
	cr_assert_eq(kill(engine.pid, SIGSTOP), 0);
	(void)snprintf(count, sizeof(count), "%d", CLIENTS);
	worker_start(&storm, service, "storm", "--count", count);
	worker_expect(&storm, "greeted", line);
	/* The supervisor has all of them, and the engine has answered none. The engine continues
	 * before the test can fail, so that it ends. */
	bool all = private_service_wait_sessions(service, CLIENTS, SECONDS_NS(30));
	cr_assert_eq(kill(engine.pid, SIGCONT), 0);
	cr_assert(all, "some were refused");
	cr_assert_eq(child_say(&storm, "go on"), 0);
	worker_expect(&storm, "welcome", line);
	worker_finish(&storm);
	cr_assert(private_service_wait_sessions(service, 0, SOON), "status still shows a client");
	cr_assert_eq(processes_engine(service), engine.pid, "the engine did not survive");
	footprint_expect(&engine);
	footprint_expect(&sycld);
}
