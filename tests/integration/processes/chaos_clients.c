/* The clients of the chaos test (processes/programs/chaos.c). */
#include "processes/chaos.h"

#include <errno.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const chaos_did_names[CHAOS_DID] = {
	"rounds",           "graphs made",   "launches of graphs",       "updates of graphs",
	"pieces looked at", "rounds of USM", "rounds of native commands"};

/* Native commands get the engines' driver by another name. It reads only these lines, and it has no
 * socket. */
void chaos_give_clients_a_driver(const char *lines)
{
	char path[PATH_MAX], library[PATH_MAX];
	(void)snprintf(path, sizeof(path), "%s/client", chaos.fake.folder);
	cr_assert(mkdir(path, 0755) == 0 && chmod(path, 0755) == 0, "%s: %s", path,
		  strerror(errno));
	(void)snprintf(library, sizeof(library), "%s/libcuda.so.1", chaos.fake.folder);
	(void)snprintf(path, sizeof(path), "%s/client/libcuda.so.1", chaos.fake.folder);
	cr_assert_eq(link(library, path), 0, "%s: %s", path, strerror(errno));
	(void)snprintf(path, sizeof(path), "%s/client/fake_cuda.conf", chaos.fake.folder);
	FILE *file = fopen(path, "we");
	cr_assert(file && fprintf(file, "%s\n", lines) > 0 && fclose(file) == 0 &&
			  chmod(path, 0644) == 0,
		  "%s: %s", path, strerror(errno));
}

void chaos_start_client(struct child *client)
{
	char seed[16], uid[16], driver[CHAOS_TEXT_BYTES + sizeof(chaos.fake.folder)];
	(void)snprintf(seed, sizeof(seed), "%u", ++chaos.started);
	(void)snprintf(uid, sizeof(uid), "%u", CHAOS_FIRST_UID + chaos.started % CHAOS_USERS);
	const char *const arguments[] = {"--seed", seed, geteuid() == 0 ? "--uid" : NULL, uid,
					 NULL};
	(void)snprintf(driver, sizeof(driver), "SYCLD_CUDA_LIBRARY=%s/client/libcuda.so.1",
		       chaos.fake.folder);
	/* Half of the clients get it: with it there is no device USM
	 * (processes/programs/chaos_usm.c). */
	const char *const environment[] = {chaos.started % 2 ? driver : NULL, NULL};
	*client = (struct child)CHILD_INIT;
	worker_start_with(client, environment, chaos.fake.service->endpoint, "chaos", arguments);
}

/* Parses "did NUMBER rounds NUMBER graphs ...", in the order of chaos_did_names. Returns false for
 * other lines. */
static bool note_what_was_done(const char *line)
{
	unsigned long long did[CHAOS_DID];
	int count = sscanf(
		line,
		"did %llu rounds %llu graphs %llu launches %llu updates %llu pieces %llu usm %llu native",
		&did[CHAOS_ROUNDS], &did[CHAOS_GRAPHS], &did[CHAOS_LAUNCHES], &did[CHAOS_UPDATES],
		&did[CHAOS_PIECES], &did[CHAOS_USM], &did[CHAOS_NATIVE]);
	for (int i = 0; i < CHAOS_DID && count == CHAOS_DID; i++)
		chaos.did[i] += did[i];
	return count == CHAOS_DID;
}

/* Returns true for lines about progress. Every other line that a client prints without an order
 * reports an error. */
static bool goes_on(const char *line)
{
	return strcmp(line, "ready") == 0 || note_what_was_done(line);
}

void chaos_listen_to(struct child *client)
{
	char line[LINE_BYTES];
	while (child_read_line(client, line, sizeof(line), 0) == 1)
		if (!goes_on(line)) {
			private_service_print_log(chaos.fake.service);
			cr_assert(false, "a client: %s", line);
		}
}

/* Reads the next line of a client, except those about progress. */
static void expect_said(struct child *client, const char *beginning, char line[LINE_BYTES])
{
	int r = 0;
	do
		r = child_read_line(client, line, LINE_BYTES, SOON);
	while (r == 1 && goes_on(line));
	if (r != 1 || strncmp(line, beginning, strlen(beginning)) != 0)
		private_service_print_log(chaos.fake.service);
	cr_assert(r == 1 && strncmp(line, beginning, strlen(beginning)) == 0,
		  "%d: '%s' instead of '%s'", r, r == 1 ? line : "", beginning);
}

static void say_to_all(const char *word)
{
	for (unsigned i = 0; i < CHAOS_CLIENTS; i++)
		cr_assert_eq(child_say(&chaos.clients[i], word), 0, "a client is gone");
}

static void expect_all_said(const char *word)
{
	char line[LINE_BYTES];
	for (unsigned i = 0; i < CHAOS_CLIENTS; i++)
		expect_said(&chaos.clients[i], word, line);
}

/* Engines are noted while all clients have their sessions: reports of spills end with sessions. */
static void expect_work(void)
{
	cr_assert(private_service_wait_sessions(chaos.fake.service, 0, SOON),
		  "a session outlives its client's part in it");
	say_to_all("work");
	expect_all_said("worked");
	(void)chaos_random_engine();
	say_to_all("enough");
	expect_all_said("quiet");
}

/*
 * Sessions may have more on a device than it has room for. So first all sessions end. Then clients
 * begin with little memory, on the existing engines. Then they use more than there is, on engines
 * that have spilling configured: not every earlier engine had.
 */
void chaos_expect_calm_clients(void)
{
	json_int_t spills[2], returns[2];
	char line[LINE_BYTES];
	say_to_all("quiet");
	expect_all_said("quiet");
	expect_work();
	(void)chaos_count_descriptors();
	chaos_count_spills(&spills[0], &returns[0]);
	expect_work();
	chaos_count_spills(&spills[1], &returns[1]);
	cr_expect(spills[1] > spills[0] && returns[1] > returns[0], "there was room for all");
	for (unsigned i = 0; i < CHAOS_CLIENTS; i++) {
		expect_said(&chaos.clients[i], "ok ", line);
		cr_log_info("%s", line);
		cr_assert_eq(child_wait(&chaos.clients[i], SOON), 0);
		child_end(&chaos.clients[i]);
	}
}
