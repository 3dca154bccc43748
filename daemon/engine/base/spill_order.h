/*
 * Which memory of a device is spilled next (pure; one thread).
 *
 * Whoever has memory on the device is a holder, and its part is what an equal division among all
 * holders gives. Room for a holder is made, in this order, from
 *
 *   1. holders that have more than their part, itself among them;
 *   2. its own;
 *   3. anybody's, where the first two have nothing that will become free.
 *
 * So who keeps to its part is not pushed out by one that does not, but what nobody can have
 * otherwise is not kept from anybody either.
 *
 * Within a step goes first what is needed last. What commands that wait in line will use is known.
 * Of the rest it is expected that it will be used again after as many commands as lay between its
 * last two uses: what is gone over again and again, in one order, is needed last when it was used
 * just now. What was used once, or not again for twice as long, is not expected any more: it goes
 * before all others, the least recently used first.
 *
 * Each holder has a queue. A use only notes counts; the queue is put in order when room is needed:
 * what was used since it was put there goes to the end. So a use costs two stores, and a choice as
 * many steps as there were memories used since the last one, at most SPILL_LOOKS of a holder.
 * Compared are SPILL_NEAR from each end of a queue.
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
	struct list link;            /* of its holder's queue */
	struct spill_holder *holder; /* NULL: it is in no queue */
	uint64_t bytes;
	uint64_t used, placed; /* spill_order.now at the last use; and when it was put where it is;
				  0: never used */
	uint64_t every;        /* commands from the use before to the last one; 0: there was none */
	uint64_t line, position; /* spill_order.line; and where the first stands there that will use
				    it, from 1 on */
	uint64_t again;          /* spill_order.line, if another one there will use it, too */
	uint64_t mark;           /* spill_order.mark: in use; + 1: not to be chosen */
};

struct spill_order {
	struct list holders;
	uint32_t holder_count;
	uint64_t bytes;
	uint64_t clock, now;   /* counts commands; of the one at hand */
	uint64_t line, length; /* which line it is; of so many commands */
	bool is_better_soon;   /* what was chosen last stands in line, and something that is in use
				  does not; */
	bool is_later_soon;    /* or is needed before something that is in use */
	uint64_t mark;
};

void spill_order_init(struct spill_order *order);
/* Nothing happens, and it is never chosen, if there is no memory for a new holder. */
void spill_order_enter(struct spill_order *order, struct spill_entry *entry, const void *owner,
		       uint64_t bytes);
void spill_order_leave(struct spill_order *order, struct spill_entry *entry);

/* The command at hand uses it. It was the first of those in line who will. */
static inline void spill_order_use(const struct spill_order *order, struct spill_entry *entry)
{
	if (entry->line == order->line && entry->again != order->line)
		entry->line = 0;
	if (entry->used >= order->now)
		return;
	entry->every = entry->used ? order->now - entry->used : 0;
	entry->used = order->now;
}

/* A new line: all that was known of an earlier one is void. Then, for each in it: spill_order_next,
 * and what it will use. */
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

/* New marks: all earlier ones are void. */
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

/* Has anybody but `owner` memory there? */
bool spill_order_has_others(const struct spill_order *order, const void *owner);
/* For `owner`. NULL: there is none; `waits_out`: but some that is in use would be. */
struct spill_entry *spill_order_choose(struct spill_order *order, const void *owner,
				       bool *waits_out);
/* For `owner`, who does not need it yet: nothing that stands in line up to `position`, and none of
 * those who keep to their part. */
struct spill_entry *spill_order_choose_ahead(struct spill_order *order, const void *owner,
					     uint64_t position);

#endif
