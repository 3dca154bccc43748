/*
 * Clients that connect, work and disconnect, or are killed, on the double of NVIDIA's driver. It
 * counts the objects in the engine: memory, streams, events, modules. After any number of clients
 * the counts are those after the first few (N6).
 */
#include "processes/fake_service.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

TestSuite(processes_cuda_cycles, .timeout = 240);

static struct fake_service fake = FAKE_SERVICE_INIT;

static void teardown_cycles(void)
{
	fake_service_end(&fake);
}

/*
 * Lanes, their events and the graphs of their chains are made on demand, up to limits, and kept. On
 * a busy machine more are in use at a time: 65 events more than before were observed. One lost with
 * each client would be twice the allowed number.
 */
static const struct {
	const char *name;
	bool is_kept;
} things[] = {{"allocations", false}, {"host_allocations", false},
	      {"registered", false},  {"vmm_handles", false},
	      {"mappings", false},    {"reservations", false},
	      {"modules", false},     {"contexts", false},
	      {"pools", false},       {"arrays", false},
	      {"textures", false},    {"surfaces", false},
	      {"streams", true},      {"events", true},
	      {"graphs", true},       {"graph_execs", true}};
enum {
	THINGS = sizeof(things) / sizeof(*things),
	KILLS = 60,
	CYCLES = 300,
	KEPT_MORE = (KILLS + CYCLES) / 2
};

struct alive {
	pid_t engine;
	long long most[THINGS], now[THINGS];
};

static bool cuda_cycles_is_back(void *context)
{
	struct alive *alive = context;
	bool back = true;
	for (int i = 0; i < THINGS; i++) {
		char line[64];
		(void)snprintf(line, sizeof(line), "count %s", things[i].name);
		alive->now[i] = fake_service_say(&fake, alive->engine, line);
		back = back &&
		       alive->now[i] <= alive->most[i] + (things[i].is_kept ? KEPT_MORE : 0);
	}
	return back;
}

static void cycles(const char *count)
{
	struct child worker = CHILD_INIT;
	worker_start(&worker, fake.service, "cycles", "--count", count);
	worker_finish(&worker);
}

static void kill_some(int count)
{
	for (int i = 0; i < count; i++) {
		struct child worker = CHILD_INIT;
		char line[LINE_BYTES], seed[16];
		(void)snprintf(seed, sizeof(seed), "%d", i + 1);
		worker_start(&worker, fake.service, "churn", "--seed", seed);
		worker_expect(&worker, "ready", line);
		(void)poll(NULL, 0, i % 10); /* at any point of its work */
		child_end(&worker);
	}
}

/* The largest counts without clients in a few rounds: pools and lanes grow with the first
 * clients. */
static void take_base(struct alive *alive)
{
	enum { ROUNDS = 3, FEW = 8 };
	*alive = (struct alive){.engine = 0};
	for (int round = 0; round < ROUNDS; round++) {
		kill_some(FEW);
		cycles("20");
		cr_assert(private_service_wait_sessions(fake.service, 0, SOON));
		alive->engine = processes_engine(fake.service);
		(void)cuda_cycles_is_back(alive);
		for (int i = 0; i < THINGS; i++)
			if (alive->now[i] > alive->most[i])
				alive->most[i] = alive->now[i];
	}
}

Test(processes_cuda_cycles, N6_N4_what_the_driver_holds_does_not_grow_with_clients,
     .fini = teardown_cycles)
{
	struct alive alive;
	char count[16];
	(void)snprintf(count, sizeof(count), "%d", CYCLES);
	fake_service_start(&fake, "", "nvrtc = " NVRTC_LIBRARY "\n[service]\nstandby = no\n",
			   false);
	take_base(&alive);
	cr_assert_gt(fake_service_say(&fake, alive.engine, "count launches"), 0,
		     "the engine does not use this driver");
	kill_some(KILLS);
	cycles(count);
	cr_assert(private_service_wait_sessions(fake.service, 0, SOON));
	cr_assert_eq(processes_engine(fake.service), alive.engine);
	bool back = wait_until(cuda_cycles_is_back, &alive, SECONDS_NS(60));
	for (int i = 0; i < THINGS; i++)
		cr_log_info("%s: at most %lld, and now %lld", things[i].name, alive.most[i],
			    alive.now[i]);
	cr_assert(back, "something has become more");
	cr_assert_eq(fake_service_say(&fake, alive.engine, "count misuse"), 0);
}
