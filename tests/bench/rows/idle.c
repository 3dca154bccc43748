/*
 * TC7: the cost of a service without clients, and of a client that does nothing. Clients here have
 * connected, made a queue and a kernel, and run it once.
 */
#include "harness/bench.h"
#include "harness/processes.h"
#include "harness/statistics.h"

#include "clock.h"

#include <errno.h>
#include <linux/limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS_MAX = 50 };

struct idle {
	struct bench *bench;
	struct private_service *service;
	struct process_group group;
	struct child clients[CLIENTS_MAX];
	unsigned count;
};

static void idle_end(struct idle *idle)
{
	for (unsigned i = 0; i < idle->count; i++)
		child_end(&idle->clients[i]);
	idle->service = private_service_free(idle->service);
}

static int start_client(const struct idle *idle, struct child *client)
{
	char program[PATH_MAX];
	int r = build_path("tests", "idle_client", program, sizeof(program));
	const char *argv[] = {program, idle->service->endpoint, NULL};
	return r == 0 ? child_start(argv, NULL, client) : r;
}

/* Reads the next "memory N" of a client, bytes. */
static int read_memory(struct child *client, double *bytes_out)
{
	char line[256];
	int r = child_expect(client, "memory ", line, sizeof(line), SECONDS_NS(60));
	if (r < 0) {
		bench_complain("an idle client did not reply: %s", line);
		return r;
	}
	*bytes_out = strtod(line + strlen("memory "), NULL);
	return 0;
}

static int read_child_memory(struct child *client, double *bytes_out)
{
	int r = child_say(client, "go on");
	return r < 0 ? r : read_memory(client, bytes_out);
}

/* One client connects and ends first. It starts the engine and its devices, whose cost does not
 * belong to another client. */
static int start_idle_service(struct idle *idle)
{
	double ignored;
	struct child first = CHILD_INIT;
	int r = bench_service(&idle->service);
	if (r == 0)
		r = start_client(idle, &first);
	if (r == 0)
		r = read_memory(&first, &ignored);
	if (r == 0)
		r = read_child_memory(&first, &ignored);
	child_end(&first);
	unsigned wanted = idle->bench->quick ? 4 : CLIENTS_MAX;
	for (; idle->count < wanted && r == 0; idle->count += r == 0)
		r = start_client(idle, &idle->clients[idle->count]);
	if (r == 0 && !private_service_wait_sessions(idle->service, 0, SECONDS_NS(10)))
		r = -ETIMEDOUT;
	if (r == 0)
		process_group_find(idle->service->sycld.pid, &idle->group);
	/* The engine is one of them; otherwise there is nothing to measure. */
	return r == 0 && idle->group.count < 2 ? -ESRCH : r;
}

static void bench_idle_report_one(struct idle *idle, const char *name, const char *unit,
				  double value, double target, const char *note)
{
	struct bench_result result = {.name = name, .unit = unit, .target = target, .note = note};
	result.bound = target > 0 ? BENCH_VALUE_AT_MOST : BENCH_NO_TARGET;
	bench_summarise(&value, NULL, 1, &result);
	bench_report(idle->bench, &result);
}

/* All exist before any connects, and all are connected when they are measured again, so shared
 * pages are divided equally. */
static int bench_idle_measure_clients(struct idle *idle, double *growth_out)
{
	double before[CLIENTS_MAX] = {0}, after[CLIENTS_MAX] = {0};
	int r = 0;
	for (unsigned i = 0; i < idle->count && r == 0; i++)
		r = read_memory(&idle->clients[i], &before[i]);
	for (unsigned i = 0; i < idle->count && r == 0; i++)
		r = read_child_memory(&idle->clients[i], &after[i]);
	for (unsigned i = 0; i < idle->count && r == 0; i++)
		r = read_child_memory(&idle->clients[i], &after[i]);
	for (unsigned i = 0; i < idle->count; i++)
		after[i] -= before[i];
	if (r == 0)
		*growth_out = statistics_median(after, idle->count);
	return r;
}

static int measure_memory(struct idle *idle)
{
	double client = 0;
	int64_t service_before = process_group_memory_bytes(&idle->group);
	int r = bench_idle_measure_clients(idle, &client);
	if (r < 0)
		return r;
	int64_t service_after = process_group_memory_bytes(&idle->group);
	double service = (double)(service_after - service_before) / 1024 / idle->count;
	client /= 1024;
	bench_idle_report_one(idle, "TC7.memory", "KiB/client", service + client, 256,
			      "sum of the next two rows, without pages of files");
	bench_idle_report_one(idle, "TC7.memory.service", "KiB/client", service, 0,
			      "growth of sycld and its engine");
	bench_idle_report_one(idle, "TC7.memory.client", "KiB/client", client, 0,
			      "growth of the client's process");
	return 0;
}

/* Measures in as many pieces as there are runs, with the clients connected. */
static int measure_rest(struct idle *idle)
{
	double cpu[BENCH_RUNS_MAX], wakes[BENCH_RUNS_MAX];
	unsigned runs = idle->bench->runs;
	int piece_ms = (int)(idle->bench->idle_seconds * 1000 / runs);
	for (unsigned run = 0; run < runs; run++) {
		uint64_t start_ns = clock_now_ns(), cpu_before = process_group_cpu_ns(&idle->group);
		uint64_t wakes_before = process_group_wakes(&idle->group);
		/* No process starts without using some: this kernel does not report it. */
		if (cpu_before == 0 || wakes_before == 0)
			return -ENOTSUP;
		(void)poll(NULL, 0, piece_ms > 0 ? piece_ms : 1);
		double seconds = (double)(clock_now_ns() - start_ns) / 1e9;
		cpu[run] = (double)(process_group_cpu_ns(&idle->group) - cpu_before) / 1e6 * 60 /
			   seconds;
		wakes[run] = (double)(process_group_wakes(&idle->group) - wakes_before) / seconds;
	}
	struct bench_result result = {.name = "TC7.cpu",
				      .unit = "ms/min",
				      .bound = BENCH_VALUE_AT_MOST,
				      .target = 1,
				      .note = "sycld and engine, all clients connected and idle"};
	bench_summarise(cpu, NULL, runs, &result);
	bench_report(idle->bench, &result);
	result = (struct bench_result){.name = "TC7.wakes",
				       .unit = "1/s",
				       .bound = BENCH_VALUE_AT_MOST,
				       .target = 1,
				       .note = "voluntary context switches of all their threads"};
	bench_summarise(wakes, NULL, runs, &result);
	bench_report(idle->bench, &result);
	return 0;
}

int row_idle(struct bench *bench)
{
	CLEANUP(idle_end) struct idle idle = {.bench = bench};
	int r = start_idle_service(&idle);
	if (r == 0)
		r = measure_memory(&idle);
	if (r == 0)
		r = measure_rest(&idle);
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	return r;
}
