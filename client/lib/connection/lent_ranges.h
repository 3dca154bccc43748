/*
 * Shared memory with copies of the program's bytes, from which command groups read. A queue's line
 * lists the ranges in the order of its groups. It gives a range back when the groups up to that
 * point are complete.
 */
#ifndef SYCL_CLIENT_LENT_RANGES_H
#define SYCL_CLIENT_LENT_RANGES_H

#include "base/arena_ranges.h"
#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>

struct connection;
struct queue_line;

struct lent_range {
	struct lent_range *next;
	struct arena_range range;
	void *address;
	uint32_t group; /* number of the group, as the line's slot counts */
};

/* The ranges of a line; under the state lock. */
struct lent_ranges {
	struct lent_range *first, **last; /* `last` NULL: no range was lent yet */
	_Atomic uint32_t count;           /* may be read without the lock */
};

/*
 * Takes room for size_bytes > 0; may take a round trip. Without locks, unless a function notes one.
 */
sycl_result lent_range_new(struct connection *connection, uint64_t size_bytes,
			   struct lent_range **range_out);
/* Gives back a range that no group uses; accepts NULL. */
void lent_range_drop(struct connection *connection, struct lent_range *range);
/* Adds the range to the line after the group was sent. With the submit lock. */
void lent_range_commit(struct connection *connection, struct queue_line *line,
		       struct lent_range *range, uint64_t group);

/* Gives back ranges that groups have read, and arenas that are empty afterwards. */
void lent_ranges_settle(struct connection *connection, struct queue_line *line);
/* As lent_ranges_settle, for all lines, without the arenas. True: a range was given back. With the
 * state lock. */
bool lent_ranges_settle_all(struct connection *connection);
/* Gives back all ranges of a line whose groups are complete. With the state lock. */
void lent_ranges_end(struct connection *connection, struct queue_line *line);
/* Frees the memory of the list only, at the end of the connection. */
void lent_ranges_fini(struct lent_ranges *ranges);

#endif
