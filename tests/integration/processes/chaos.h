/* Common parts of the chaos test: chaos.c has the test. */
#ifndef SYCL_TESTS_PROCESSES_CHAOS_H
#define SYCL_TESTS_PROCESSES_CHAOS_H

#include "processes/fake_service.h"

/* Users that there are, where there may be several (root). */
enum {
	CHAOS_CLIENTS = 5,
	CHAOS_USERS = 3,
	CHAOS_FIRST_UID = 65530,
	CHAOS_ENGINES_MAX = 4096,
	CHAOS_TEXT_BYTES = 96
};

/* Minutes are enough for numbers of processes to come again. */
struct chaos_engine {
	pid_t pid;
	uint64_t start;
	json_int_t spills, returns; /* that it has reported */
};

/* The work that clients report (processes/programs/chaos.c). */
enum {
	CHAOS_ROUNDS,
	CHAOS_GRAPHS,
	CHAOS_LAUNCHES,
	CHAOS_UPDATES,
	CHAOS_PIECES,
	CHAOS_USM,
	CHAOS_NATIVE,
	CHAOS_DID
};

struct chaos {
	struct fake_service fake;
	struct child clients[CHAOS_CLIENTS];
	uint64_t random;
	unsigned started;
	struct chaos_engine engines[CHAOS_ENGINES_MAX]; /* all that were ever seen; of each number
							   the last one */
	unsigned engine_count;
	json_int_t spills, returns; /* of engines whose numbers have come again */
	uint64_t did[CHAOS_DID];
};
extern struct chaos chaos;

uint32_t chaos_random(uint32_t bound);
/* One of the users, as text. */
void chaos_random_uid(char text[CHAOS_TEXT_BYTES]);

/* ----------------- chaos_engines.c: engines and their drivers ----------------- */

/* The integer `name` of a random entry of a list of the status; 0: there is none. All engines are
 * noted. */
json_int_t chaos_random_entry(const char *list, const char *name);
pid_t chaos_random_engine(void);
/* Condition of wait_until for a struct chaos_engine. */
bool chaos_is_gone(void *engine);
/* The reports of all engines until now: memory that went to the host, and that came back. */
void chaos_count_spills(json_int_t *spills_out, json_int_t *returns_out);
/* 0, or a negative errno: the engine has no driver (yet), or has not taken what was said before. */
int chaos_send_line(pid_t engine, const char *line);
/* Those that have come. Fails the test when one reports that the driver was used wrongly. */
void chaos_read_answers(void);
/* A failure that was requested and has not come yet would come when all is calm. */
void chaos_calm_drivers(void);

/* ------------------- chaos_clients.c: what they do and say -------------------- */

/* Once, before the first. `lines`: for the double of the driver in each. */
void chaos_give_clients_a_driver(const char *lines);
void chaos_start_client(struct child *client);
/* All that it has said. Fails the test when that is that something is wrong. */
void chaos_listen_to(struct child *client);
extern const char *const chaos_did_names[CHAOS_DID];
/* All end their sessions, then all work as if nothing had happened, with little memory and with
 * more than there is, and end. */
void chaos_expect_calm_clients(void);

/* ------------------ chaos_settings.c: what operators change ------------------- */

/* An order may come too late for its session: whether it was executed. */
bool chaos_order(const char *verb, const char *first, const char *second, const char *third);
/* The configuration of the service at first, and when all is calm again. */
extern const char chaos_configuration[];
/* Another one, at random, which the service reads: shares, classes, weights, whether full devices
 * spill. */
void chaos_configure(void);
/* A share, class or weight of a user or of everybody is ordered, or taken back. It stays until that
 * or a change of services. */
void chaos_order_shares(void);
/* All of that as at first. */
void chaos_settle(void);

/* ----------------- chaos_left.c: what is there when nobody is ----------------- */

/* Waits until there is no engine; what the service has open then. */
int chaos_count_descriptors(void);
/* But for what it keeps of what was used, which is there some time after the first client came. */
unsigned chaos_count_files(void);
void chaos_expect_nothing_left(int descriptors, unsigned files);
/* No process has ended in a way that nothing here leads to, or has said that something is wrong
 * with it. */
void chaos_expect_no_complaints(void);

#endif
