/*
 * A node for tests of how a device's time is divided. It has engines with a fair queue each, the
 * division of their claims, and one device. The device runs their groups in the order of arrival,
 * one after the other. All of it, and the clock, is invented.
 */
#ifndef SYCL_TEST_DIVISION_NODE_H
#define SYCL_TEST_DIVISION_NODE_H

#include "division/division.h"
#include "fair_queue/fair_queue.h"

enum { NODE_ENGINES = 8, NODE_DEPTH = 64, NODE_QUEUE = 1024 };

#define NODE_US 1000ull
#define NODE_MS 1000000ull

struct node_engine {
	struct fair_queue gate;
	struct fair_queue_session session;
	struct fair_queue_group groups[NODE_DEPTH];
	bool used[NODE_DEPTH];
	uint64_t user, takes_ns;
	uint32_t least, most, depth; /* this many are open at a time */
	uint64_t from_ns, until_ns;  /* when it has work */
	uint64_t every_ns, next_ns;  /* 0: at once when there is room */
	bool lies;    /* it always claims to need and run something, and never sends anything */
	bool stopped; /* it does nothing any more: its last claims stay */
	bool gone;
	/* its page */
	uint64_t busy_ns, busy_since_ns, beat;
	uint32_t running;
	struct division_party party;
	uint64_t again_ns;
	/* measured */
	uint64_t ran_ns, count, first_ns;
	uint64_t beside_ns; /* exclusive: it ran while others had commands on the device */
};

struct node {
	uint64_t now_ns, look_ns, next_look_ns;
	struct division division;
	struct node_engine engines[NODE_ENGINES];
	uint32_t count;
	struct {
		struct node_engine *engine;
		uint32_t group;
	} queue[NODE_QUEUE];
	uint32_t first, queued;
	uint64_t end_ns; /* of the first; 0: not begun */
};

/* The one before is freed. */
struct node *node_create(enum division_mode mode);
/* Permille. It has work for ever, from the start. Engines of one user follow each other. */
struct node_engine *node_engine(struct node *node, uint64_t user, uint32_t least, uint32_t most,
				uint64_t takes_ns, uint32_t depth);
void node_run(struct node *node, uint64_t until_ns);
/* Starts new counts. */
void node_forget(struct node *node);

#endif
