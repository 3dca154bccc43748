/*
 * Everything at once, at random: clients, engines and the service are killed or stopped for a moment, a GPU vanishes, memory
 * runs out, limits change, sessions are paused and ended by operators. Then all is calm, and everything must be as it was:
 * each client works, nothing is left of what was there, and no client has ever seen a wrong result (worker_chaos.c).
 */
#include "fake_service.h"

#include "amount.h"
#include "clock.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * As long as SYCLD_CHAOS_SECONDS says: half an hour with SYCLD_LONG, and otherwise as long as everybody's run can spare. It begins before
 * all other tests (processes.cmake) and leaves the processors to them: engines that are killed and come again take what they can get.
 */
enum {
	NICENESS = 10,
	SHORT_SECONDS = SANITIZED ? 60 : 300,
	LONG_SECONDS = 1800,
	CLIENTS = 5,
	USERS = 3,
	FIRST_UID = 65530,
	ENGINES_MAX = 4096,
	TEXT_BYTES = 96
};

static const char configuration[] = "[service]\nengine_idle_seconds = 1\n[limits]\ngroup_seconds = 20\n";

/* Minutes are enough for numbers of processes to come again. */
struct seen_engine {
	pid_t pid;
	uint64_t start;
};

struct chaos {
	struct fake_service fake;
	struct child clients[CLIENTS];
	uint64_t random;
	unsigned started;
	struct seen_engine engines[ENGINES_MAX]; /* all that were ever seen; of each number the last one */
	unsigned engine_count;
};

static struct chaos chaos = {.fake = FAKE_SERVICE_INIT};

static uint32_t next_random(uint32_t bound)
{
	chaos.random = chaos.random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((chaos.random >> 33) % bound);
}

static void rest_a_moment(uint32_t most_ms)
{
	/* The moments are random on purpose; nothing is waited for. */
	(void)poll(NULL, 0, (int)next_random(most_ms));
}

/* --- who is there --------------------------------------------------------------------------------------------------- */

static void note_engine(pid_t pid)
{
	const struct seen_engine seen = {pid, pid > 0 ? process_start(pid) : 0};
	unsigned i = 0;
	while (i < chaos.engine_count && chaos.engines[i].pid != pid)
		i++;
	/* One that has ended just now need not be looked for. */
	if (seen.start == 0 || i == ENGINES_MAX)
		return;
	chaos.engines[i] = seen;
	if (i == chaos.engine_count)
		chaos.engine_count++;
}

static bool is_gone(void *engine)
{
	const struct seen_engine *seen = engine;
	return !process_exists(seen->pid) || process_start(seen->pid) != seen->start;
}

/* The integer `name` of a random entry of a list of the status; 0: there is none. All engines are noted. */
static json_int_t random_entry(const char *list, const char *name)
{
	json_t *status = private_service_status(chaos.fake.service);
	const json_t *entries = json_object_get(status, list), *tenants = json_object_get(status, "tenants");
	size_t count = json_array_size(entries);
	json_int_t found = 0;
	if (count > 0)
		found = json_integer_value(
			json_object_get(json_array_get(entries, next_random((uint32_t)count)), name));
	for (size_t i = 0; i < json_array_size(tenants); i++)
		note_engine((pid_t)json_integer_value(json_object_get(json_array_get(tenants, i), "engine_pid")));
	json_decref(status);
	return found;
}

static pid_t random_engine(void)
{
	return (pid_t)random_entry("tenants", "engine_pid");
}

static void session_text(char text[TEXT_BYTES])
{
	(void)snprintf(text, TEXT_BYTES, "%lld", (long long)random_entry("sessions", "id"));
}

static void start_client(struct child *client)
{
	char seed[16], uid[16];
	(void)snprintf(seed, sizeof(seed), "%u", ++chaos.started);
	(void)snprintf(uid, sizeof(uid), "%u", FIRST_UID + chaos.started % USERS);
	const char *const arguments[] = {"--seed", seed, geteuid() == 0 ? "--uid" : NULL, uid, NULL};
	*client = (struct child)CHILD_INIT;
	worker_start_with(client, NULL, chaos.fake.service->endpoint, "chaos", arguments);
}

/* What a client says on its own is that something is wrong. */
static void listen_to(struct child *client)
{
	char line[LINE_BYTES];
	while (child_read_line(client, line, sizeof(line), 0) == 1)
		if (strcmp(line, "ready") != 0) {
			private_service_print_log(chaos.fake.service);
			cr_assert(false, "a client: %s", line);
		}
}

/* --- what happens --------------------------------------------------------------------------------------------------- */

static void kill_client(void)
{
	struct child *client = &chaos.clients[next_random(CLIENTS)];
	listen_to(client);
	child_end(client);
	start_client(client);
}

static void kill_engine(void)
{
	pid_t engine = random_engine();
	if (engine > 0)
		(void)kill(engine, SIGKILL);
}

static void stop_engine(void)
{
	pid_t engine = random_engine();
	if (engine <= 0)
		return;
	(void)kill(engine, SIGSTOP);
	rest_a_moment(300);
	(void)kill(engine, SIGCONT);
}

/* Every engine that was ever seen is gone, or the service knows it: none goes on beside it. */
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
			known = json_integer_value(json_object_get(tenant, "engine_pid")) == chaos.engines[i].pid &&
				state && strcmp(state, "not answering") != 0;
		}
		if (!known && !is_gone(&chaos.engines[i]))
			*(pid_t *)context = chaos.engines[i].pid;
	}
	json_decref(status);
	return *(pid_t *)context == 0;
}

/* Half of the times it hands over. */
static void replace_service(void)
{
	pid_t left = 0;
	bool hands_over = next_random(2);
	(void)random_engine();
	(void)kill(chaos.fake.service->sycld.pid, hands_over ? SIGUSR2 : SIGKILL);
	if (hands_over)
		cr_assert_eq(child_wait(&chaos.fake.service->sycld, SOON), 0, "the service does not hand over");
	cr_assert_eq(private_service_restart(chaos.fake.service), 0, "the service does not start again");
	if (!wait_until(all_are_known, &left, SOON)) {
		private_service_print_log(chaos.fake.service);
		cr_assert(false, "engine %d goes on without the next service", (int)left);
	}
}

static void read_configuration_again(void)
{
	(void)kill(chaos.fake.service->sycld.pid, SIGHUP);
}

/* 0, or a negative errno: the engine has no driver (yet), or has not taken what was said before. */
static int tell_engine(pid_t engine, const char *line)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/%ld.socket", chaos.fake.folder, (long)engine);
	ssize_t sent = sendto(chaos.fake.socket, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT,
			      (const struct sockaddr *)&address, sizeof(address));
	return sent < 0 ? -errno : 0;
}

/* Without waiting for an answer: the engine may be ending. Answers that came are thrown away. */
static void tell_driver(const char *line)
{
	char answer[64];
	(void)tell_engine(random_engine(), line);
	while (recv(chaos.fake.socket, answer, sizeof(answer), MSG_DONTWAIT) > 0)
		;
}

static void lose_gpu(void)
{
	static const char *const ways[] = {"command lose 719", "command lose 999", "command fault_launch 2 700",
					   "command fault_launch 5 710", "command fault_launch 3 214"};
	tell_driver(ways[next_random(sizeof(ways) / sizeof(*ways))]);
}

static void take_memory(void)
{
	static const char *const ways[] = {"command fail cuMemAllocFromPoolAsync 1 2 3",
					   "command fail cuMemAllocAsync 1 2 3",
					   "command fail cuMemCreate 1 2 2",
					   "command fail cuMemHostRegister 1 2 2",
					   "command fail cuMemHostAlloc 1 2 2",
					   "command fail cuEventCreate 1 2 4"};
	tell_driver(ways[next_random(sizeof(ways) / sizeof(*ways))]);
}

/* An order may come too late for whom it is of. */
static void give_order(const char *verb, const char *first, const char *second, const char *third)
{
	const char *const words[ORDER_WORDS_MAX] = {verb, first, second, third};
	char answer[ANSWER_BYTES];
	(void)processes_order(chaos.fake.service, words, answer);
}

static void limit_for_a_while(void)
{
	static const char *const limits[][2] = {{"buffer_bytes=4K", "buffer_bytes=default"},
						{"groups_in_flight=3", "groups_in_flight=default"},
						{"tenant_arena_bytes=1", "tenant_arena_bytes=default"},
						{"sessions_per_tenant=1", "sessions_per_tenant=default"},
						{"objects=4", "objects=default"},
						{"device_bytes=8K", "device_bytes=default"}};
	unsigned which = next_random(sizeof(limits) / sizeof(*limits));
	char uid[TEXT_BYTES];
	(void)snprintf(uid, sizeof(uid), "%u", geteuid() == 0 ? FIRST_UID + next_random(USERS) : (unsigned)geteuid());
	give_order("limit", limits[which][0], "--uid", uid);
	rest_a_moment(200);
	give_order("limit", limits[which][1], "--uid", uid);
}

static void pause_a_while(void)
{
	char session[TEXT_BYTES];
	session_text(session);
	give_order("pause", session, NULL, NULL);
	rest_a_moment(200);
	give_order("resume", session, NULL, NULL);
}

static void drain_a_while(void)
{
	give_order("drain", "--all", NULL, NULL);
	rest_a_moment(200);
	give_order("resume", "--all", NULL, NULL);
}

static void end_session(void)
{
	char session[TEXT_BYTES];
	session_text(session);
	give_order("kill", session, "--reason", "chaos");
}

static const struct happening {
	const char *name;
	void (*happens)(void);
	unsigned weight;
} happenings[] = {
	{"clients killed", kill_client, 8},
	{"engines killed", kill_engine, 5},
	{"engines stopped", stop_engine, 3},
	{"services replaced", replace_service, 2},
	{"configuration read", read_configuration_again, 2},
	{"GPUs lost", lose_gpu, 5},
	{"out of memory", take_memory, 8},
	{"limits", limit_for_a_while, 6},
	{"pauses", pause_a_while, 3},
	{"drains", drain_a_while, 2},
	{"sessions ended", end_session, 4},
};

enum { HAPPENINGS = sizeof(happenings) / sizeof(*happenings) };

/* To find a cause: with SYCLD_CHAOS_ONLY nothing happens but what it names. */
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
	unsigned at = next_random(sum);
	for (; at >= weight_of(which); which++)
		at -= weight_of(which);
	happenings[which].happens();
	counts[which]++;
	for (unsigned i = 0; i < CLIENTS; i++)
		listen_to(&chaos.clients[i]);
	rest_a_moment(150);
}

/* --- what is left --------------------------------------------------------------------------------------------------- */

/* Nobody is there: no engine, no standby. What the service has open then. */
static bool is_alone(void *descriptors_out)
{
	json_t *status = private_service_status(chaos.fake.service);
	const json_t *tenants = json_object_get(status, "tenants");
	const json_t *standby = json_object_get(json_object_get(status, "service"), "standby");
	bool alone = json_is_null(standby);
	for (size_t i = 0; i < json_array_size(tenants); i++)
		alone &= json_integer_value(json_object_get(json_array_get(tenants, i), "engine_pid")) == 0;
	json_decref(status);
	if (alone)
		*(int *)descriptors_out = process_count_descriptors(chaos.fake.service->sycld.pid);
	return alone;
}

struct open_files {
	int before, now;
};

/* At any one moment it may still have the connection of who asked just now. */
static bool has_no_more_open(void *context)
{
	struct open_files *files = context;
	return is_alone(&files->now) && files->now <= files->before;
}

/* But for what it keeps of what was used, which is there some time after the first client came. */
static unsigned files_of_the_service(void)
{
	DIR *folder = opendir(chaos.fake.service->runtime);
	const struct dirent *entry;
	unsigned count = 0;
	cr_assert(folder != NULL);
	while ((entry = readdir(folder)) != NULL)
		count += strncmp(entry->d_name, "accounts", strlen("accounts")) != 0;
	(void)closedir(folder);
	return count;
}

/* What a driver answers to what is no command: -EINVAL. */
#define NOT_UNDERSTOOD "-22"

struct told {
	struct seen_engine engine;
	unsigned said; /* of what it is to be told */
	bool answered;
};

/* Nobody has asked anything of a driver that is not there yet. */
static void say_the_rest(struct told *told)
{
	/* It answers in order, and to nothing else like the last one. */
	static const char *const lines[] = {"command calm", "is that done?"};
	int result = 0;
	while (result == 0 && told->said < sizeof(lines) / sizeof(*lines)) {
		result = tell_engine(told->engine.pid, lines[told->said]);
		told->said += result == 0;
	}
	told->answered = result == -ENOENT || result == -ECONNREFUSED;
}

static bool has_answered(void *context)
{
	struct told *told = context;
	say_the_rest(told);
	struct sockaddr_un from = {.sun_family = AF_UNIX};
	socklen_t from_bytes = sizeof(from);
	char answer[64], name[32];
	(void)snprintf(name, sizeof(name), "/%ld.socket", (long)told->engine.pid);
	/* Not one that came late, of an engine that was asked before, nor of this one to what it was told before. */
	ssize_t got = 0;
	while (!told->answered && (got = recvfrom(chaos.fake.socket, answer, sizeof(answer) - 1, MSG_DONTWAIT,
						  (struct sockaddr *)&from, &from_bytes)) > 0) {
		answer[got] = 0;
		told->answered = strstr(from.sun_path, name) != NULL && strcmp(answer, NOT_UNDERSTOOD) == 0;
		from = (struct sockaddr_un){.sun_family = AF_UNIX};
		from_bytes = sizeof(from);
	}
	return told->answered || is_gone(&told->engine);
}

/* A failure that was asked for and has not come yet would come when all is calm. */
static void calm_drivers(void)
{
	char answer[64];
	(void)random_engine(); /* notes them all */
	while (recv(chaos.fake.socket, answer, sizeof(answer), MSG_DONTWAIT) > 0)
		;
	for (unsigned i = 0; i < chaos.engine_count; i++) {
		struct told told = {.engine = chaos.engines[i]};
		cr_assert(wait_until(has_answered, &told, SOON), "the driver of engine %d does not answer", (int)told.engine.pid);
	}
}

static void expect_calm(void)
{
	char line[LINE_BYTES];
	calm_drivers();
	for (unsigned i = 0; i < CLIENTS; i++)
		cr_assert_eq(child_say(&chaos.clients[i], "calm"), 0, "a client is gone");
	for (unsigned i = 0; i < CLIENTS; i++) {
		struct child *client = &chaos.clients[i];
		int r = 0;
		do
			r = child_read_line(client, line, sizeof(line), SOON);
		while (r == 1 && strcmp(line, "ready") == 0);
		if (r != 1 || strncmp(line, "ok ", 3) != 0)
			private_service_print_log(chaos.fake.service);
		cr_assert(r == 1 && strncmp(line, "ok ", 3) == 0, "%d: '%s'", r, line);
		cr_log_info("%s", line);
		cr_assert_eq(child_wait(client, SOON), 0);
		child_end(client);
	}
}

static void expect_nothing_left(int descriptors, unsigned files)
{
	int now = -1;
	struct open_files open_now = {.before = descriptors, .now = -1};
	cr_assert(private_service_wait_sessions(chaos.fake.service, 0, SOON), "a session outlives its client");
	cr_assert(wait_until(is_alone, &now, SOON), "an engine outlives its sessions");
	for (unsigned i = 0; i < chaos.engine_count; i++)
		cr_assert(wait_until(is_gone, &chaos.engines[i], SOON), "engine %d is still there",
			  (int)chaos.engines[i].pid);
	cr_assert(wait_until(has_no_more_open, &open_now, SOON), "descriptors of the service: %d before, %d now", descriptors,
		  open_now.now);
	cr_assert_leq(files_of_the_service(), files);
}

static unsigned seconds_to_run(void)
{
	const char *told = getenv("SYCLD_CHAOS_SECONDS");
	if (told)
		return (unsigned)strtoul(told, NULL, 10);
	return getenv("SYCLD_LONG") ? LONG_SECONDS : SHORT_SECONDS;
}

TestSuite(processes_chaos, .timeout = LONG_SECONDS + 600);

Test(processes_chaos, M10_N4_N5_N6_after_everything_that_can_happen_all_is_as_it_was)
{
	unsigned counts[HAPPENINGS] = {0};
	const char *seed = getenv("SYCLD_CHAOS_SEED");
	int descriptors = -1;
	chaos.random = seed ? strtoull(seed, NULL, 10) : clock_now_ns();
	cr_log_info("SYCLD_CHAOS_SEED=%llu", (unsigned long long)chaos.random);
	errno = 0;
	cr_assert(nice(NICENESS) != -1 || errno == 0, "nice: %s", strerror(errno));
	fake_service_start(&chaos.fake, "devices 2", configuration, geteuid() == 0);
	chaos.fake.service->faults = true;
	cr_assert(wait_until(is_alone, &descriptors, SOON));
	unsigned files = files_of_the_service();
	for (unsigned i = 0; i < CLIENTS; i++)
		start_client(&chaos.clients[i]);

	const unsigned seconds = seconds_to_run();
	uint64_t happened = 0;
	uint64_t end_ns = clock_deadline_ns(SECONDS_NS(seconds));
	while (clock_now_ns() < end_ns)
		let_something_happen(counts);
	expect_calm();
	for (unsigned i = 0; i < HAPPENINGS; i++) {
		cr_log_info("%u %s", counts[i], happenings[i].name);
		happened += counts[i];
	}
	expect_nothing_left(descriptors, files);
	amount_say(happened, "happenings");
	amount_say(seconds, "seconds");
	fake_service_end(&chaos.fake);
}
