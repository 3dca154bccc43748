/*
 * Which memory of a device is spilled next (pure; one thread).
 *
 * Whoever has memory on the device is a holder, and its part is what an equal division among all holders gives. Room for a holder is
 * made, in this order, from
 *
 *   1. holders that have more than their part, itself among them;
 *   2. its own;
 *   3. anybody's, where the first two have nothing that will become free.
 *
 * Within a step the least recently used goes first. So who keeps to its part is not pushed out by one that does not, but what nobody
 * can have otherwise is not kept from anybody either.
 *
 * Each holder has a queue. A use only notes a count; the queue is put in order when room is needed: what was used since it was put
 * there goes to the end. So a use costs a store, and a choice as many steps as there were memories used since the last one, at most
 * SPILL_LOOKS of a holder.
 */
#ifndef SYCL_ENGINE_SPILL_ORDER_H
#define SYCL_ENGINE_SPILL_ORDER_H

#include "intrusive_list.h"

#include <stdbool.h>
#include <stdint.h>

#define SPILL_LOOKS 8192u

struct spill_holder;

struct spill_entry {
	struct list link;            /* of its holder's queue */
	struct spill_holder *holder; /* NULL: it is in no queue */
	uint64_t bytes;
	uint64_t used, placed; /* spill_order.clock at the last use; and when it was put where it is */
	uint64_t mark;         /* spill_order.mark: in use; + 1: not to be chosen */
};

struct spill_order {
	struct list holders;
	uint32_t holder_count;
	uint64_t bytes;
	uint64_t clock; /* counts commands */
	uint64_t mark;
};

void spill_order_init(struct spill_order *order);
/* Nothing happens, and it is never chosen, if there is no memory for a new holder. */
void spill_order_enter(struct spill_order *order, struct spill_entry *entry, const void *owner, uint64_t bytes);
void spill_order_leave(struct spill_order *order, struct spill_entry *entry);

/* New marks: all earlier ones are void. */
static inline void spill_order_unmark(struct spill_order *order)
{
	order->mark += 2;
}

static inline void spill_order_mark_in_use(const struct spill_order *order, struct spill_entry *entry)
{
	entry->mark = order->mark;
}

static inline void spill_order_mark_kept(const struct spill_order *order, struct spill_entry *entry)
{
	entry->mark = order->mark + 1;
}

/* For `owner`. NULL: there is none; `waits_out`: but some that is in use would be. */
struct spill_entry *spill_order_choose(struct spill_order *order, const void *owner, bool *waits_out);

#endif
