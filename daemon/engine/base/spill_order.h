/*
 * Eviction order: which memory of a device is spilled next (pure; one thread).
 *
 * Each session with memory on the device is a holder. Its part is an equal share of the device.
 * Room for a holder is made, in this order, from
 *
 *   1. holders that have more than their part, itself among them;
 *   2. its own memory;
 *   3. any memory, where the first two have none that will become free.
 *
 * So a holder within its part is not pushed out by one beyond it, unless there is no other way.
 *
 * Within a step the memory that is needed last goes first. The use by commands in line is known.
 * Any other memory is expected to be used again after as many commands as lay between its latest
 * two uses. In a loop over many memories, the one used just now is needed last. Memory that was
 * used once, or not again for twice as long, is not expected any more. It goes before all others,
 * least recently used first.
 *
 * Each holder has a queue. A use only notes counts; the queue is sorted when room is needed, by
 * moving memories that were used to its end. So a use costs two stores. A choice visits the
 * memories that were used since the latest one, SPILL_LOOKS at most of a holder. It compares
 * SPILL_NEAR from each end of a queue.
 */
#ifndef SYCL_ENGINE_SPILL_ORDER_H
#define SYCL_ENGINE_SPILL_ORDER_H

#include "base/intrusive_list.h"

#include <stdbool.h>
#include <stdint.h>

#define SPILL_LOOKS 8192u
#define SPILL_NEAR  64u

struct spill_holder;

struct spill_entry {
	struct list link;            /* link in its holder's queue */
	struct spill_holder *holder; /* NULL: the entry is in no queue */
	uint64_t bytes;
	/* used: spill_order.now at the last use, 0: never used; placed: `used` when the entry was
	 * put at its place. */
	uint64_t used, placed;
	uint64_t every; /* commands between the latest two uses; 0: there was one use at most */
	/* spill_order.line, and the place in line of the first command that will use the entry,
	 * from 1 on. */
	uint64_t line, position;
	uint64_t again; /* spill_order.line, if a second command in line will use the entry */
	uint64_t mark;  /* spill_order.mark: in use; spill_order.mark + 1: not to be chosen */
};

struct spill_order {
	struct list holders;
	uint32_t holder_count;
	uint64_t bytes;
	uint64_t clock, now;   /* clock counts commands; now: the count of the current command */
	uint64_t line, length; /* number of the current line, and the commands in line */
	bool is_better_soon;   /* the entry chosen last is in line, and an entry in use is not */
	bool is_later_soon;    /* the entry chosen last is needed before an entry in use */
	uint64_t mark;
};

void spill_order_init(struct spill_order *order);
/* Without memory for a new holder the entry stays outside of the order and is never chosen. */
void spill_order_enter(struct spill_order *order, struct spill_entry *entry, const void *owner,
		       uint64_t bytes);
void spill_order_leave(struct spill_order *order, struct spill_entry *entry);

/* The current command uses the entry. That command was the first user in line. */
static inline void spill_order_use(const struct spill_order *order, struct spill_entry *entry)
{
	if (entry->line == order->line && entry->again != order->line)
		entry->line = 0;
	if (entry->used >= order->now)
		return;
	entry->every = entry->used ? order->now - entry->used : 0;
	entry->used = order->now;
}

/* Begins a new line; the earlier line is void. Then, for each command, call spill_order_next, and
 * spill_order_expect for its memories. */
static inline void spill_order_line(struct spill_order *order)
{
	order->line++;
	order->length = 0;
}

static inline void spill_order_next(struct spill_order *order)
{
	order->length++;
}

static inline void spill_order_expect(const struct spill_order *order, struct spill_entry *entry)
{
	if (entry->line == order->line) {
		if (entry->position != order->length)
			entry->again = order->line;
		return;
	}
	entry->line = order->line;
	entry->position = order->length;
}

/* Makes all earlier marks void. */
static inline void spill_order_unmark(struct spill_order *order)
{
	order->mark += 2;
}

static inline void spill_order_mark_in_use(const struct spill_order *order,
					   struct spill_entry *entry)
{
	entry->mark = order->mark;
}

static inline void spill_order_mark_kept(const struct spill_order *order, struct spill_entry *entry)
{
	entry->mark = order->mark + 1;
}

/* True if a holder other than `owner` has memory there. */
bool spill_order_has_others(const struct spill_order *order, const void *owner);
/* Chooses an entry to spill for `owner`. NULL: there is none. Sets `waits_out` if memory in use
 * could be chosen once its use ends. */
struct spill_entry *spill_order_choose(struct spill_order *order, const void *owner,
				       bool *waits_out);
/* As spill_order_choose, for an `owner` that does not need the memory yet. Chooses no memory that
 * is in line up to `position`, and none of holders within their part. */
struct spill_entry *spill_order_choose_ahead(struct spill_order *order, const void *owner,
					     uint64_t position);

#endif
