/* Clients that end with SIGKILL at any moment, and clients that connect and disconnect: nothing of
 * them stays. */
#include "processes/common.h"

#include "amount.h"
#include "gpu/driver.h"
#include "processes/programs/lines.h"

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

/* The client's forked child keeps the socket and all memory. The session must end although the
 * socket is not closed. */
static void expect_session_ends(const struct private_service *service, pid_t child)
{
	cr_assert(process_exists(child),
		  "the forked child must be alive for this to mean something");
	cr_assert(private_service_wait_sessions(service, 0, SOON), "a session outlives its client");
	cr_assert(process_exists(child));
	(void)kill(child, SIGKILL);
}

/* Every third client is killed before it reports that it works, at any point of its start and its
 * connection. */
static void kill_one(const struct private_service *service, struct points *points, int number)
{
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES], seed[16];
	bool forked = number % 5 == 0, early = !forked && number % 3 == 0;
	(void)snprintf(seed, sizeof(seed), "%d", number + 1);
	const char *const arguments[] = {"--seed", seed, forked ? "--fork-child" : NULL, NULL};
	worker_start_with(&worker, NULL, service->endpoint, "churn", arguments);
	pid_t child = 0;
	if (forked) {
		worker_expect(&worker, "child ", line);
		child = (pid_t)strtol(line + strlen("child "), NULL, 10);
	}
	if (!early)
		worker_expect(&worker, "ready", line);
	/* The moment is random, as it is when a user or the kernel kills a process. */
	(void)poll(NULL, 0, (int)next_random(points, early ? 12 : 25));
	child_end(&worker);
	points->forked += forked;
	points->early += early;
	if (child > 0)
		expect_session_ends(service, child);
}

/* The memory of the first GPU, measured by this process's own context. Without a GPU nothing is
 * measured. */
struct gpu {
	struct gpu_driver driver;
	bool is_there;
	size_t free_bytes; /* at the beginning */
};

static size_t gpu_free_bytes(const struct gpu *gpu)
{
	size_t free_now = 0, total = 0;
	cr_assert_eq(gpu->driver.memory_information(&free_now, &total), 0);
	return free_now;
}

static void gpu_begin(struct gpu *gpu)
{
	struct gpu_context *context = NULL;
	int count = 0;
	*gpu = (struct gpu){.is_there = false};
	gpu->is_there = gpu_driver_open(&gpu->driver, NULL, false) &&
			gpu->driver.device_count(&count) == 0 && count > 0;
	if (!gpu->is_there)
		return;
	cr_assert_eq(gpu->driver.context_retain(&context, 0), 0);
	cr_assert_eq(gpu->driver.context_use(context), 0);
	gpu->free_bytes = gpu_free_bytes(gpu);
}

static bool gpu_is_back(void *context)
{
	enum { SLACK_BYTES = 64 << 20 }; /* pools keep blocks */
	const struct gpu *gpu = context;
	return gpu_free_bytes(gpu) + SLACK_BYTES >= gpu->free_bytes;
}

static void gpu_expect(struct gpu *gpu)
{
	if (!gpu->is_there)
		return;
	bool back = wait_until(gpu_is_back, gpu, SECONDS_NS(20));
	cr_log_info("GPU: %zu MiB free -> %zu", gpu->free_bytes >> 20, gpu_free_bytes(gpu) >> 20);
	cr_assert(back, "%zu MiB of the GPU were free, and now %zu", gpu->free_bytes >> 20,
		  gpu_free_bytes(gpu) >> 20);
	(void)gpu->driver.context_release(0);
}

static void run_mix(const struct private_service *service)
{
	worker_mix_once(service, 2);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
}

/* With SYCLD_LONG ten thousand. */
Test(processes_client_death, N4_N6_clients_killed_at_random_points_leave_nothing, .timeout = 3600)
{
	enum { WARM_UP = 20 };
	const int kills = getenv("SYCLD_LONG") ? 10000 : 100;
	struct gpu gpu;
	/* With a GPU a standby engine starts some time after the first work and uses some of its
	 * memory. */
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	worker_mix_once(service, 1);
	struct points points = {.state = 20240917};
	for (int i = 0; i < WARM_UP; i++)
		kill_one(service, &points, i);
	struct footprint base = footprint_settle(service, run_mix);
	gpu_begin(&gpu);

	for (int i = 0; i < kills; i++)
		kill_one(service, &points, i);
	amount_say((uint64_t)kills, "kills");
	cr_assert_geq(points.forked, kills / 5);
	cr_assert_geq(points.early, kills / 5);
	cr_assert(private_service_wait_sessions(service, 0, SOON),
		  "status still shows a killed client");
	worker_mix_once(service, 3);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	cr_assert_eq(processes_engine(service), base.pid, "the engine did not survive");
	footprint_expect_flat(&base, (uint64_t)kills);
	gpu_expect(&gpu);
}

static void kill_blocked(const struct private_service *service)
{
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&worker, service, "blocked", NULL, NULL);
	worker_expect(&worker, "ready", line);
	child_end(&worker);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
}

Test(processes_client_death, D8_a_client_killed_while_it_holds_a_host_accessor_leaves_nothing)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	worker_mix_once(service, 1);
	struct footprint base = footprint_settle(service, kill_blocked);
	kill_blocked(service);
	footprint_expect(&base);
	worker_mix_once(service, 2);
}

static void kill_in_host_task(const struct private_service *service)
{
	struct child worker = CHILD_INIT, other = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&other, service, "task", NULL, NULL);
	worker_expect(&other, "ready", line);
	worker_start(&worker, service, "task", NULL, NULL);
	worker_expect(&worker, "ready", line);
	worker_mix_once(service, 2); /* while both of them are in one operation */
	child_end(&worker);
	cr_assert(private_service_wait_sessions(service, 1, SOON));
	worker_mix_once(service, 3);
	/* The other one finishes all of its own. */
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(child_say(&other, "go on"), 0);
		worker_expect(&other, "ready", line);
	}
	cr_assert_eq(child_say(&other, "go on"), 0);
	worker_finish(&other);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
}

Test(processes_client_death, K5_N4_a_client_killed_in_a_host_task_fails_only_its_own)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(NULL, false);
	struct footprint base = footprint_settle(service, kill_in_host_task);
	kill_in_host_task(service);
	footprint_expect(&base);
}

/* The time limit grows with the number of cycles: so many get the time that one test usually
 * has. */
static void run_cycles(const struct private_service *service, const char *count)
{
	struct child worker = CHILD_INIT;
	char line[LINE_BYTES];
	worker_start(&worker, service, "cycles", "--count", count);
	for (uint64_t left = strtoull(count, NULL, 10); left >= WORKER_CYCLES_TOLD;
	     left -= WORKER_CYCLES_TOLD)
		worker_expect(&worker, "cycles", line);
	worker_finish(&worker);
	cr_assert(private_service_wait_sessions(service, 0, SOON));
}

static void run_fifty_cycles(const struct private_service *service)
{
	run_cycles(service, "50");
}

/* With SYCLD_LONG ten thousand. The client itself checks its descriptors, mappings and memory. */
Test(processes_client_death, N6_a_thousand_connections_in_a_row_stay_flat, .timeout = 1200)
{
	/* With a GPU a standby engine starts some time after the first work, and sycld has two
	 * descriptors for it. */
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service("[service]\nstandby = no\n", false);
	struct gpu gpu;
	struct footprint base = footprint_settle(service, run_fifty_cycles);
	struct footprint sycld = footprint_take(service->sycld.pid);
	const char *count = getenv("SYCLD_LONG") ? "10000" : "1000";
	gpu_begin(&gpu);
	run_cycles(service, count);
	amount_say(strtoull(count, NULL, 10), "connections one after the other");
	footprint_expect_flat(&base, strtoull(count, NULL, 10));
	footprint_expect_flat(&sycld, strtoull(count, NULL, 10));
	gpu_expect(&gpu);
}
