/*
 * The command groups of one queue that are not complete, and the queue's low-water mark. That is
 * the highest number such that every group up to it is complete. Numbers count from 1 without a
 * gap. Memory grows with the number of open groups, not with all that were submitted. Front thread.
 *
 *   numbers   1 2 3 4 5 6 7
 *   open          3   5           -> mark 2, last 7: groups 1, 2, 4, 6 and 7 are complete
 *
 * A burst of groups has one entry for all its numbers.
 */
#ifndef SYCL_ENGINE_GROUP_WINDOW_H
#define SYCL_ENGINE_GROUP_WINDOW_H

#include "base/intrusive_list.h"

#include <stdint.h>

#define GROUP_WINDOW_FIRST_BUCKETS 8u
#define GROUP_BURST_MAX            16u

/* Part of the caller's struct for a group. */
struct window_entry {
	struct list order; /* by number */
	struct window_entry *bucket_next;
	uint64_t number; /* for a burst the last number */
	uint32_t count;  /* numbers that the entry stands for */
};

struct group_window {
	struct list open;      /* oldest first */
	uint64_t last;         /* the latest number taken */
	uint32_t count;        /* open groups; a burst counts as one */
	uint32_t bursts;       /* open bursts */
	uint32_t bucket_count; /* a power of two */
	struct window_entry **buckets;
	struct window_entry *first_buckets[GROUP_WINDOW_FIRST_BUCKETS];
};

void group_window_init(struct group_window *window);
void group_window_fini(struct group_window *window);

/* Take the next number for a group that is complete already. */
void group_window_skip(struct group_window *window);
/* Take the next number for this group and hold it open. */
void group_window_open(struct group_window *window, struct window_entry *entry);
/* Take the next `count` numbers, GROUP_BURST_MAX at most. */
void group_window_open_burst(struct group_window *window, struct window_entry *entry,
			     uint32_t count);
void group_window_close(struct group_window *window, struct window_entry *entry);
/* Returns the open group of that number, the burst that has the number, or NULL. */
struct window_entry *group_window_find(const struct group_window *window, uint64_t number);
uint64_t group_window_mark(const struct group_window *window);

#endif
