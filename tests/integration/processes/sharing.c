/* Many clients of one service: their results, and the effect of one client that behaves badly on
 * the others. */
#include "processes/common.h"

#include <signal.h>
#include <stdio.h>

TestSuite(processes_sharing, .timeout = 240);

Test(processes_sharing, eight_clients_at_once_have_correct_results)
{
	enum { CLIENTS = 8 };
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct child workers[CLIENTS];
	for (int i = 0; i < CLIENTS; i++) {
		char seed[16];
		(void)snprintf(seed, sizeof(seed), "%d", i + 1);
		const char *const arguments[] = {"--seed", seed, "--count", "400", NULL};
		worker_start_with(&workers[i], NULL, service->endpoint, "mix", arguments);
	}
	for (int i = 0; i < CLIENTS; i++)
		worker_finish(&workers[i]);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
}

Test(processes_sharing, a_session_that_reads_no_answers_delays_no_other)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&worker, service, "undrained", NULL, NULL);
	worker_expect(&worker, "full", line);
	worker_mix_once(service, 1);

	/* It is stopped as well: nothing that is sent to it is read. */
	cr_assert_eq(kill(worker.pid, SIGSTOP), 0);
	worker_mix_once(service, 2);
	cr_assert_eq(private_service_sessions(service), 1,
		     "the session that reads nothing is still there");
	cr_assert_eq(kill(worker.pid, SIGCONT), 0);

	/* Once it reads, nothing is missing. */
	cr_assert_eq(child_say(&worker, "read"), 0);
	worker_finish(&worker);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
}

static void kill_undrained(const struct private_service *service)
{
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&worker, service, "undrained", NULL, NULL);
	worker_expect(&worker, "full", line);
	child_end(&worker);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
}

Test(processes_sharing, N4_a_session_that_reads_no_answers_can_be_killed)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	worker_mix_once(service, 1);
	struct footprint base = footprint_settle(service, kill_undrained);
	kill_undrained(service);
	footprint_expect(&base);
	worker_mix_once(service, 2);
}

Test(processes_sharing, a_client_stopped_in_the_middle_delays_no_other_and_continues)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&worker, service, "count", "--count", "40000");
	worker_expect(&worker, "quarter", line);
	cr_assert_eq(kill(worker.pid, SIGSTOP), 0);
	worker_mix_once(service, 1);
	worker_mix_once(service, 2);
	cr_assert_eq(kill(worker.pid, SIGCONT), 0);
	worker_finish(&worker);
}

Test(processes_sharing,
     B16_more_groups_than_a_session_may_have_in_flight_are_refused_and_all_others_run)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service =
		processes_service("[limits]\ngroups_in_flight = 64\n", false);
	struct child worker = CHILD_INIT;
	worker_start(&worker, service, "count", "--count", "5000");
	worker_finish(&worker);
}
