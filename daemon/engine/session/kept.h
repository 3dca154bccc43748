/*
 * Stretches that a session sends again and again, apart from values. The engine knows how each
 * ends, so it takes all of its records together, by a task that it has kept (scheduler's
 * public/kept.h). What it knows holds as long as the shapes and the objects that they name are the
 * same. Front thread.
 */
#ifndef SYCL_ENGINE_SESSION_KEPT_H
#define SYCL_ENGINE_SESSION_KEPT_H

#include "base/group_window.h"

#include <stdbool.h>
#include <stdint.h>

#define SESSION_KEPT_MOST 16u /* by the number of the first shape */

struct queue;
struct sched_kept;
struct session;

/* Groups of these shapes follow each other in one queue. */
struct session_row {
	uint32_t count;
	uint32_t shapes[GROUP_BURST_MAX];
};

struct session_kept {
	struct session_row row;
	uint32_t generations[GROUP_BURST_MAX];
	uint32_t value_bytes[GROUP_BURST_MAX]; /* the rest of each record is its values */
	uint64_t ring_bytes;                   /* of all records in the ring */
	struct queue *queue;
	/* True if another record has always come behind the last group: then the groups are taken
	 * when that is there, too. */
	bool is_followed;
	bool is_used; /* since another stretch wanted this place */
	/* In a row: how often the groups did not come, and how often no record came behind them. */
	uint32_t misses, unfollowed;
	struct sched_kept *task;
};

/* What a session has of them; all zero at its beginning. */
struct session_kepts {
	struct session_kept *list[SESSION_KEPT_MOST];
	uint32_t count;
	uint32_t graphs; /* that have a kept task (graph/instance_kept.c) */
	/* The groups since the last other record, and how often the same ones came in a row. */
	struct session_row row, last_row;
	const struct queue *row_queue;
	uint64_t row_group; /* the latest of them */
	uint32_t row_times;
	/* So many rows are not learnt, after one did not come as expected too often; and how many
	 * after the next such one. */
	uint32_t rest, rest_next;
	bool row_is_over;   /* more groups than a stretch has, or than may be told together */
	bool row_has_event; /* the program has the event of the latest of them */
	/* The engine waits for the rest of a stretch whose first record is at this place. Before
	 * the ring has so many bytes behind it, or until then, there is nothing to look at. */
	uint64_t wait_place, wait_since_ns, wait_bytes, wait_until_ns;
};

/* Shapes or objects have changed: nothing that was kept holds. */
void session_kept_forget(struct session *session);

#endif
