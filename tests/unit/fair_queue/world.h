/*
 * An invented device, clients and a clock for tests of fair queueing. The device runs groups in the
 * order of the decisions, `side_by_side` at a time. Clients keep a number of groups waiting or on
 * the device.
 *
 * With `whole` groups fill a GPU: one runs at a time. Lanes take turns in the order in which their
 * next group became the first. The device's time of a group is how long it was its lane's first,
 * including everything that ran of other lanes meanwhile. Only groups with exact times are timed.
 */
#ifndef SYCL_TEST_GATE_WORLD_H
#define SYCL_TEST_GATE_WORLD_H

#include "fair_queue/fair_queue.h"

enum { WORLD_CLIENTS = 16, WORLD_GROUPS = 4096 };

#define WORLD_US 1000ull
#define WORLD_MS 1000000ull

struct world_group {
	struct fair_queue_group group; /* first */
	struct world_client *client;
	uint64_t takes_ns, end_ns; /* end 0: it has not begun */
	uint64_t first_ns;         /* since when it is its lane's first; 0: it is not yet */
	bool used;
	struct world_group *next; /* on the device */
};

struct world_client {
	struct fair_queue_session session;
	uint64_t shape, takes_ns, memory_bytes;
	uint64_t every_ns; /* the time between groups; 0: the next comes when one has ended */
	uint32_t depth, lane, lanes; /* its groups go to that many lanes in turn */
	bool is_exact;               /* its groups' times are exact */
	uint64_t from_ns, until_ns;  /* when it requests work */
	uint64_t next_ns;            /* time of the next one */
	uint32_t open;
	uint64_t asked;
	/* measured */
	uint64_t ran_ns, count,
		longest_ns; /* device's time, groups that ended, the longest from arrival to end */
	uint64_t first_ns;  /* its first group's decision */
};

struct world {
	struct fair_queue queue;
	uint64_t now_ns;
	uint32_t side_by_side, running, client_count;
	bool whole;
	bool yields; /* groups of best effort begin only where none of another class waits */
	struct world_group *first, *last; /* sent, in order */
	struct world_client clients[WORLD_CLIENTS];
	struct world_group groups[WORLD_GROUPS];
	uint64_t longest_in_flight_ns, most_promised_bytes; /* measured */
	void (*check)(const struct world *world);           /* after each step; NULL: nothing */
};

/* Makes a new one; the one before is freed. */
struct world *world_create(const struct fair_queue_config *config);
/* Makes a client that submits from the start, for ever, on its own lane, with exact times. Change
 * the members that must differ. */
struct world_client *world_client(struct world *world, enum fair_queue_class class, uint32_t weight,
				  uint64_t takes_ns, uint32_t depth);
void world_run(struct world *world, uint64_t until_ns);
/* Starts new counts. */
void world_forget(struct world *world);
/* Returns this client's part of all clients' device time, permille. */
uint32_t world_part(const struct world *world, const struct world_client *client);

#endif
