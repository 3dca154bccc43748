/*
 * Shared memory that command groups read from: copies of the program's bytes. A queue's line lists
 * them in the order of its groups and gives them back when the groups up to there are complete.
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
	uint32_t group; /* as the line's slot counts */
};

/* The ranges of the line; under the state lock. */
struct lent_ranges {
	struct lent_range *first, **last; /* `last` NULL: none was ever lent */
	_Atomic uint32_t count;           /* may be read without the lock */
};

/* Room for size_bytes > 0; it may take a round trip. Without locks, as all that say nothing. */
sycl_result lent_range_new(struct connection *connection, uint64_t size_bytes,
			   struct lent_range **range_out);
/* No group has it; accepts NULL. */
void lent_range_drop(struct connection *connection, struct lent_range *range);
/* The group was sent. With the submit lock. */
void lent_range_commit(struct connection *connection, struct queue_line *line,
		       struct lent_range *range, uint64_t group);

/* Give back what is read, and arenas that are empty then. */
void lent_ranges_settle(struct connection *connection, struct queue_line *line);
/* The same for all lines, without the arenas. With the state lock. True: something was given
 * back. */
bool lent_ranges_settle_all(struct connection *connection);
/* Give back all ranges of a line whose groups are complete. With the state lock. */
void lent_ranges_end(struct connection *connection, struct queue_line *line);
/* The memory of the list alone, at the end of the connection. */
void lent_ranges_fini(struct lent_ranges *ranges);

#endif
