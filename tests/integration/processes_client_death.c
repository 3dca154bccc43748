/* Clients that end with SIGKILL, wherever they are, and clients that come and go: nothing of them stays. */
#include "processes.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(processes_client_death, .timeout = 280);

struct points {
	uint32_t state;
	int forked, early;
};

static uint32_t next_random(struct points *points, uint32_t bound)
{
	points->state = points->state * 1664525u + 1013904223u;
	return (points->state >> 8) % bound;
}

/* The client's forked child keeps the socket and all memory: the session must end though nobody hung up. */
static void expect_session_ends(const struct private_service *service, pid_t child)
{
	cr_assert(process_exists(child), "the forked child must be alive for this to mean something");
	cr_assert(private_service_wait_sessions(service, 0, SOON), "a session outlives its client");
	cr_assert(process_exists(child));
	(void)kill(child, SIGKILL);
}

/* Every third is killed before it says that it works, at any point of its start and its connection. */
static void kill_one(const struct private_service *service, struct points *points, int number)
{
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES], seed[16];
	bool forked = number % 5 == 0, early = !forked && number % 3 == 0;
	(void)snprintf(seed, sizeof(seed), "%d", number + 1);
	const char *const arguments[] = { "--seed", seed, forked ? "--fork-child" : NULL, NULL };
	worker_start_with(&worker, NULL, service->endpoint, "churn", arguments);
	pid_t child = 0;
	if (forked) {
		worker_expect(&worker, "child ", line);
		child = (pid_t)strtol(line + strlen("child "), NULL, 10);
	}
	if (!early)
		worker_expect(&worker, "ready", line);
	/* The point is random in time, which is what a kill by hand or by the kernel is. */
	(void)poll(NULL, 0, (int)next_random(points, early ? 12 : 25));
	child_end(&worker);
	points->forked += forked;
	points->early += early;
	if (child > 0)
		expect_session_ends(service, child);
}

Test(processes_client_death, N4_N6_a_hundred_clients_killed_at_random_points_leave_nothing)
{
	enum { WARM_UP = 20, KILLS = 100 };
	CLEANUP(private_service_cleanup) struct private_service *service = processes_service(NULL, false);
	worker_mix_once(service, 1);
	struct points points = { .state = 20240917 };
	for (int i = 0; i < WARM_UP; i++)
		kill_one(service, &points, i);
	worker_mix_once(service, 2);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	struct footprint base = footprint_take(processes_engine(service));

	for (int i = 0; i < KILLS; i++)
		kill_one(service, &points, i);
	cr_assert_geq(points.forked, KILLS / 5);
	cr_assert_geq(points.early, KILLS / 5);
	cr_assert(private_service_wait_sessions(service, 0, SOON), "status still shows a killed client");
	worker_mix_once(service, 3);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	cr_assert_eq(processes_engine(service), base.pid, "the engine did not survive");
	footprint_expect(&base);
}

Test(processes_client_death, D8_a_client_killed_while_it_holds_a_host_accessor_leaves_nothing)
{
	CLEANUP(private_service_cleanup) struct private_service *service = processes_service(NULL, false);
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	worker_mix_once(service, 1);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	struct footprint base = footprint_take(processes_engine(service));
	worker_start(&worker, service, "blocked", NULL, NULL);
	worker_expect(&worker, "ready", line);
	child_end(&worker);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	footprint_expect(&base);
	worker_mix_once(service, 2);
}

Test(processes_client_death, K5_N4_a_client_killed_in_a_host_task_fails_only_its_own)
{
	CLEANUP(private_service_cleanup) struct private_service *service = processes_service(NULL, false);
	struct child worker = CHILD_INIT, other = CHILD_INIT;
	char line[LINE_BYTES];
	worker_mix_once(service, 1);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	struct footprint base = footprint_take(processes_engine(service));
	worker_start(&other, service, "task", NULL, NULL);
	worker_expect(&other, "ready", line);
	worker_start(&worker, service, "task", NULL, NULL);
	worker_expect(&worker, "ready", line);
	worker_mix_once(service, 2); /* while both of them are in one */
	child_end(&worker);
	cr_assert(private_service_wait_sessions(service, 1, SOON));
	worker_mix_once(service, 3);
	/* The other one goes on, through all of its own. */
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(child_say(&other, "go on"), 0);
		worker_expect(&other, "ready", line);
	}
	cr_assert_eq(child_say(&other, "go on"), 0);
	worker_finish(&other);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	footprint_expect(&base);
}

static void run_cycles(const struct private_service *service, const char *count)
{
	struct child worker = CHILD_INIT;
	worker_start(&worker, service, "cycles", "--count", count);
	worker_finish(&worker);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
}

/* With SYCLD_LONG ten thousand. The client looks at its own descriptors, mappings and memory itself. */
Test(processes_client_death, N6_a_thousand_connections_in_a_row_stay_flat, .timeout = 1200)
{
	/* Where there is a GPU a standby engine comes some time after the first work, and sycld has two descriptors for it. */
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	run_cycles(service, "50");
	struct footprint base = footprint_take(processes_engine(service));
	struct footprint sycld = footprint_take(service->sycld.pid);
	run_cycles(service, getenv("SYCLD_LONG") ? "10000" : "1000");
	footprint_expect(&base);
	footprint_expect(&sycld);
}
