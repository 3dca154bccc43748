/*
 * Many disturbances at random moments. Clients, engines and the service are killed or stopped for a
 * moment, a GPU fails, memory runs out. Limits, shares and classes change, and operators pause and
 * end sessions. Devices are too small for the memory of all clients. Then the disturbances stop,
 * and the state must be as at the start. Each client works, nothing is left, and no client ever got
 * a wrong result (processes/programs/chaos.c).
 */
#include "processes/chaos.h"

#include "amount.h"
#include "clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * The time is SYCLD_CHAOS_SECONDS: half an hour with SYCLD_LONG, otherwise as long as every test
 * run can afford. It begins before all other tests (processes.cmake) with a low priority: engines
 * that are killed and started again use only free processor time.
 */
enum {
	NICENESS = 10,
	SHORT_SECONDS = SANITIZED ? 50 : 120, /* and some seconds after the disturbances */
	LONG_SECONDS = 1800,
	ENOUGH_SECONDS = 100 /* for everything that clients do */
};

/* Each device has room for 16 MiB of buffers beside the memory that is kept for kernels. That is
 * less than a client may have, and more than all clients have at the end. */
#define DRIVER "set print_misuse 1\ndevices 2\nmemory 285212672"

struct chaos chaos = {.fake = FAKE_SERVICE_INIT};

uint32_t chaos_random(uint32_t bound)
{
	chaos.random = chaos.random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((chaos.random >> 33) % bound);
}

void chaos_random_uid(char text[CHAOS_TEXT_BYTES])
{
	(void)snprintf(text, CHAOS_TEXT_BYTES, "%u",
		       geteuid() == 0 ? CHAOS_FIRST_UID + chaos_random(CHAOS_USERS)
				      : (unsigned)geteuid());
}

static void rest_a_moment(uint32_t most_ms)
{
	/* The moments are random on purpose; this waits for nothing. */
	(void)poll(NULL, 0, (int)chaos_random(most_ms));
}

/* ------------------------------------ disturbances -------------------------------------- */

static void session_text(char text[CHAOS_TEXT_BYTES])
{
	(void)snprintf(text, CHAOS_TEXT_BYTES, "%lld",
		       (long long)chaos_random_entry("sessions", "id"));
}

static void kill_client(void)
{
	struct child *client = &chaos.clients[chaos_random(CHAOS_CLIENTS)];
	chaos_listen_to(client);
	child_end(client);
	chaos_start_client(client);
}

static void kill_engine(void)
{
	pid_t engine = chaos_random_engine();
	if (engine > 0)
		(void)kill(engine, SIGKILL);
}

static void stop_a_while(pid_t process)
{
	if (process <= 0)
		return;
	(void)kill(process, SIGSTOP);
	rest_a_moment(300);
	(void)kill(process, SIGCONT);
}

static void stop_engine(void)
{
	stop_a_while(chaos_random_engine());
}

/* Stops a client during work that only the client can end, such as a host task or a command of its
 * own. */
static void stop_client(void)
{
	stop_a_while(chaos.clients[chaos_random(CHAOS_CLIENTS)].pid);
}

/* Returns true if the service lists every earlier engine or the engine has ended: none runs outside
 * of the service. */
static bool all_are_known(void *context)
{
	json_t *status = private_service_status(chaos.fake.service);
	const json_t *tenants = json_object_get(status, "tenants");
	*(pid_t *)context = 0;
	for (unsigned i = 0; i < chaos.engine_count; i++) {
		bool known = false;
		for (size_t t = 0; t < json_array_size(tenants) && !known; t++) {
			const json_t *tenant = json_array_get(tenants, t);
			const char *state = json_string_value(json_object_get(tenant, "state"));
			known = json_integer_value(json_object_get(tenant, "engine_pid")) ==
					chaos.engines[i].pid &&
				state && strcmp(state, "not answering") != 0;
		}
		if (!known && !chaos_is_gone(&chaos.engines[i]))
			*(pid_t *)context = chaos.engines[i].pid;
	}
	json_decref(status);
	return *(pid_t *)context == 0;
}

/* Half of the times the service hands over. */
static void replace_service(void)
{
	pid_t left = 0;
	bool hands_over = chaos_random(2);
	(void)chaos_random_engine();
	(void)kill(chaos.fake.service->sycld.pid, hands_over ? SIGUSR2 : SIGKILL);
	if (hands_over)
		cr_assert_eq(child_wait(&chaos.fake.service->sycld, SOON), 0,
			     "the service does not hand over");
	cr_assert_eq(private_service_restart(chaos.fake.service), 0,
		     "the service does not start again");
	if (!wait_until(all_are_known, &left, SOON)) {
		private_service_print_log(chaos.fake.service);
		cr_assert(false, "engine %d goes on without the next service", (int)left);
	}
}

/* This does not wait for an answer: the engine may be ending. */
static void set_up_driver(const char *line)
{
	pid_t engine = chaos_random_engine();
	(void)chaos_send_line(engine, "count misuse");
	(void)chaos_send_line(engine, line);
	chaos_read_answers();
}

static void lose_gpu(void)
{
	static const char *const ways[] = {
		"command lose 719", "command lose 999", "command fault_launch 2 700",
		"command fault_launch 5 710", "command fault_launch 3 214"};
	set_up_driver(ways[chaos_random(sizeof(ways) / sizeof(*ways))]);
}

static void take_memory(void)
{
	static const char *const ways[] = {"command fail cuMemAllocFromPoolAsync 1 2 3",
					   "command fail cuMemAllocAsync 1 2 3",
					   "command fail cuMemCreate 1 2 2",
					   "command fail cuMemHostRegister 1 2 2",
					   "command fail cuMemHostAlloc 1 2 2",
					   "command fail cuEventCreate 1 2 4",
					   "command fail cuGraphInstantiateWithFlags 1 2 1",
					   "command fail cuGraphLaunch 2 2 1",
					   "command fail cuMemcpyDtoHAsync 3 2 1",
					   "command fail cuMemcpyHtoDAsync 3 2 1"};
	set_up_driver(ways[chaos_random(sizeof(ways) / sizeof(*ways))]);
}

/* Streams wait for no reason, and copies take as long as on a device. So more work is in flight at
 * each disturbance. */
static void slow_driver(void)
{
	char line[CHAOS_TEXT_BYTES];
	if (chaos_random(2))
		(void)snprintf(line, sizeof(line), "command set lazy %u",
			       chaos_random(3) ? 1 + chaos_random(1000000) : 0);
	else
		(void)snprintf(line, sizeof(line), "command set copy_ns_per_mib %u",
			       chaos_random(3) ? chaos_random(2000000) : 0);
	set_up_driver(line);
}

static void chaos_test_give_order(const char *verb, const char *first, const char *second,
				  const char *third)
{
	(void)chaos_order(verb, first, second, third);
}

static void limit_for_a_while(void)
{
	static const char *const limits[][2] = {
		{"buffer_bytes=4K", "buffer_bytes=default"},
		{"groups_in_flight=3", "groups_in_flight=default"},
		{"tenant_arena_bytes=1", "tenant_arena_bytes=default"},
		{"sessions_per_tenant=1", "sessions_per_tenant=default"},
		{"objects=4", "objects=default"},
		{"device_bytes=8K", "device_bytes=default"}};
	unsigned which = chaos_random(sizeof(limits) / sizeof(*limits));
	char uid[CHAOS_TEXT_BYTES];
	chaos_random_uid(uid);
	chaos_test_give_order("limit", limits[which][0], "--uid", uid);
	rest_a_moment(200);
	chaos_test_give_order("limit", limits[which][1], "--uid", uid);
}

static void pause_a_while(void)
{
	char session[CHAOS_TEXT_BYTES];
	session_text(session);
	chaos_test_give_order("pause", session, NULL, NULL);
	rest_a_moment(200);
	chaos_test_give_order("resume", session, NULL, NULL);
}

static void drain_a_while(void)
{
	chaos_test_give_order("drain", "--all", NULL, NULL);
	rest_a_moment(200);
	chaos_test_give_order("resume", "--all", NULL, NULL);
}

static void end_session(void)
{
	char session[CHAOS_TEXT_BYTES];
	session_text(session);
	chaos_test_give_order("kill", session, "--reason", "chaos");
}

static const struct happening {
	const char *name;
	void (*happens)(void);
	unsigned weight;
} happenings[] = {
	{"clients killed", kill_client, 8},
	{"engines killed", kill_engine, 5},
	{"engines stopped", stop_engine, 3},
	{"clients stopped", stop_client, 2},
	{"services replaced", replace_service, 2},
	{"configurations read", chaos_configure, 3},
	{"shares and classes ordered", chaos_order_shares, 4},
	{"GPUs lost", lose_gpu, 5},
	{"out of memory", take_memory, 8},
	{"drivers slowed", slow_driver, 5},
	{"limits", limit_for_a_while, 6},
	{"pauses", pause_a_while, 3},
	{"drains", drain_a_while, 2},
	{"sessions ended", end_session, 4},
};

enum { HAPPENINGS = sizeof(happenings) / sizeof(*happenings) };

/* For finding a cause: with SYCLD_CHAOS_ONLY only the disturbances that it names happen. */
static unsigned weight_of(unsigned which)
{
	const char *only = getenv("SYCLD_CHAOS_ONLY");
	return !only || strstr(only, happenings[which].name) ? happenings[which].weight : 0;
}

static void let_something_happen(unsigned counts[HAPPENINGS])
{
	unsigned sum = 0, which = 0;
	for (unsigned i = 0; i < HAPPENINGS; i++)
		sum += weight_of(i);
	cr_assert_gt(sum, 0, "SYCLD_CHAOS_ONLY names nothing that happens");
	unsigned at = chaos_random(sum);
	for (; at >= weight_of(which); which++)
		at -= weight_of(which);
	happenings[which].happens();
	counts[which]++;
	for (unsigned i = 0; i < CHAOS_CLIENTS; i++)
		chaos_listen_to(&chaos.clients[i]);
	rest_a_moment(150);
}

static unsigned seconds_to_run(void)
{
	const char *setting = getenv("SYCLD_CHAOS_SECONDS");
	if (setting)
		return (unsigned)strtoul(setting, NULL, 10);
	return getenv("SYCLD_LONG") ? LONG_SECONDS : SHORT_SECONDS;
}

static void say_amounts(const unsigned counts[HAPPENINGS], unsigned seconds)
{
	uint64_t happened = 0;
	json_int_t spills, returns;
	for (unsigned i = 0; i < HAPPENINGS; i++)
		happened += counts[i];
	amount_say(happened, "happenings");
	amount_say(seconds, "seconds");
	for (unsigned i = 0; i < HAPPENINGS; i++)
		amount_say(counts[i], happenings[i].name);
	chaos_count_spills(&spills, &returns);
	amount_say((uint64_t)spills, "spills");
	amount_say((uint64_t)returns, "returns");
	for (unsigned i = 0; i < CHAOS_DID; i++)
		amount_say(chaos.did[i], chaos_did_names[i]);
}

/* Checks that each kind of disturbance has happened. Otherwise the test would not show what its
 * name claims. */
static void expect_all_was_done(unsigned seconds)
{
	for (unsigned i = 0; i < CHAOS_DID && seconds >= ENOUGH_SECONDS; i++)
		cr_expect_gt(chaos.did[i], 0, "no %s", chaos_did_names[i]);
}

TestSuite(processes_chaos, .timeout = LONG_SECONDS + 600);

Test(processes_chaos, M10_N4_N5_N6_after_everything_that_can_happen_all_is_as_it_was)
{
	unsigned counts[HAPPENINGS] = {0};
	const char *seed = getenv("SYCLD_CHAOS_SEED");
	chaos.random = seed ? strtoull(seed, NULL, 10) : clock_now_ns();
	cr_log_info("SYCLD_CHAOS_SEED=%llu", (unsigned long long)chaos.random);
	errno = 0;
	cr_assert(nice(NICENESS) != -1 || errno == 0, "nice: %s", strerror(errno));
	fake_service_start(&chaos.fake, DRIVER, chaos_configuration, geteuid() == 0);
	chaos_give_clients_a_driver(DRIVER);
	const int descriptors = chaos_count_descriptors();
	const unsigned files = chaos_count_files();
	for (unsigned i = 0; i < CHAOS_CLIENTS; i++)
		chaos_start_client(&chaos.clients[i]);

	const unsigned seconds = seconds_to_run();
	uint64_t end_ns = clock_deadline_ns(SECONDS_NS(seconds));
	while (clock_now_ns() < end_ns)
		let_something_happen(counts);
	chaos_calm_drivers();
	chaos_settle();
	chaos_expect_calm_clients();
	chaos_expect_nothing_left(descriptors, files);
	say_amounts(counts, seconds);
	expect_all_was_done(seconds);
	chaos_expect_no_complaints();
	fake_service_end(&chaos.fake);
}
