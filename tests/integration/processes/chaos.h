/* Common parts of the chaos test, which chaos.c defines. */
#ifndef SYCL_TESTS_PROCESSES_CHAOS_H
#define SYCL_TESTS_PROCESSES_CHAOS_H

#include "processes/fake_service.h"

/* The number of users if there can be several (root). */
enum {
	CHAOS_CLIENTS = 5,
	CHAOS_USERS = 3,
	CHAOS_FIRST_UID = 65530,
	CHAOS_ENGINES_MAX = 4096,
	CHAOS_TEXT_BYTES = 96
};

/* In minutes a process number may be used again, so an engine is a number and a start time. */
struct chaos_engine {
	pid_t pid;
	uint64_t start;
	json_int_t spills, returns; /* as it has reported */
};

/* The kinds of work that clients report (processes/programs/chaos.c). */
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
	struct chaos_engine engines[CHAOS_ENGINES_MAX]; /* all engines so far; for each number only
							   the last one */
	unsigned engine_count;
	json_int_t spills, returns; /* of engines whose numbers are used again */
	uint64_t did[CHAOS_DID];
};
extern struct chaos chaos;

uint32_t chaos_random(uint32_t bound);
/* Chooses one of the users, as text. */
void chaos_random_uid(char text[CHAOS_TEXT_BYTES]);

/* ----------------- chaos_engines.c: engines and their drivers ----------------- */

/* Returns the integer `name` of a random entry of a list in the status; 0: the list is empty. All
 * engines are noted. */
json_int_t chaos_random_entry(const char *list, const char *name);
pid_t chaos_random_engine(void);
/* Condition of wait_until for a struct chaos_engine. */
bool chaos_is_gone(void *engine);
/* The sums that all engines have reported so far: memory that moved to the host, and that moved
 * back. */
void chaos_count_spills(json_int_t *spills_out, json_int_t *returns_out);
/* Returns 0 or a negative errno: the engine has no driver (yet), or has not read earlier lines. */
int chaos_send_line(pid_t engine, const char *line);
/* Reads the answers that have arrived. Fails the test if one reports that the driver was used
 * wrongly. */
void chaos_read_answers(void);
/* Withdraws requested failures that have not happened yet, so that none happens at the end. */
void chaos_calm_drivers(void);

/* ------------------ chaos_clients.c: their work and their reports ------------------ */

/* Called once, before the first client. `lines`: for the double of the driver in each. */
void chaos_give_clients_a_driver(const char *lines);
void chaos_start_client(struct child *client);
/* Reads all that it has printed. Fails the test if that reports an error. */
void chaos_listen_to(struct child *client);
extern const char *const chaos_did_names[CHAOS_DID];
/* All clients end their sessions. Then all work without disturbances, with little memory and with
 * more than there is, and end. */
void chaos_expect_calm_clients(void);

/* ------------------ chaos_settings.c: what operators change ------------------- */

/* Gives an order, which may come too late for its session. Returns whether it was executed. */
bool chaos_order(const char *verb, const char *first, const char *second, const char *third);
/* The configuration of the service at the start and at the end. */
extern const char chaos_configuration[];
/* Makes the service read another configuration, at random: shares, classes, weights, whether full
 * devices spill. */
void chaos_configure(void);
/* Orders a share, class or weight of a user or of all users, or takes it back. An order holds until
 * it is taken back or the service is replaced. */
void chaos_order_shares(void);
/* Restores all of that. */
void chaos_settle(void);

/* -------------------- chaos_left.c: the state without clients -------------------- */

/* Waits until there is no engine. Returns how many descriptors the service then has open. */
int chaos_count_descriptors(void);
/* Counts files, except those of accounts, which exist some time after the first client. */
unsigned chaos_count_files(void);
void chaos_expect_nothing_left(int descriptors, unsigned files);
/* Checks that no process has ended in a way that the disturbances cannot cause, or has reported an
 * error of its own. */
void chaos_expect_no_complaints(void);

#endif
