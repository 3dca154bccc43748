/* See spill_order.h. */
#include "spill_order.h"

#include <stdlib.h>

#define NEAR 64u

struct spill_holder {
	struct list link; /* of the order */
	struct list queue;
	const void *owner;
	uint64_t bytes;
};

enum step { OF_THOSE_WITH_MORE, OF_ITS_OWN, OF_ANYBODY, STEPS };

void spill_order_init(struct spill_order *order)
{
	*order = (struct spill_order){.mark = 2};
	list_init(&order->holders);
}

static struct spill_holder *find_holder(const struct spill_order *order, const void *owner)
{
	for (struct list *link = order->holders.next; link != &order->holders; link = link->next) {
		struct spill_holder *holder = list_entry(link, struct spill_holder, link);
		if (holder->owner == owner)
			return holder;
	}
	return NULL;
}

static struct spill_holder *make_holder(struct spill_order *order, const void *owner)
{
	struct spill_holder *holder = calloc(1, sizeof(*holder));
	if (!holder)
		return NULL;
	holder->owner = owner;
	list_init(&holder->queue);
	list_push_back(&order->holders, &holder->link);
	order->holder_count++;
	return holder;
}

void spill_order_enter(struct spill_order *order, struct spill_entry *entry, const void *owner, uint64_t bytes)
{
	struct spill_holder *holder = find_holder(order, owner);
	if (!holder)
		holder = make_holder(order, owner);
	entry->holder = holder;
	entry->bytes = bytes;
	entry->used = entry->placed = order->clock;
	if (!holder)
		return;
	list_push_back(&holder->queue, &entry->link);
	holder->bytes += bytes;
	order->bytes += bytes;
}

void spill_order_leave(struct spill_order *order, struct spill_entry *entry)
{
	struct spill_holder *holder = entry->holder;
	if (!holder)
		return;
	list_remove(&entry->link);
	entry->holder = NULL;
	holder->bytes -= entry->bytes;
	order->bytes -= entry->bytes;
	if (!list_empty(&holder->queue))
		return;
	list_remove(&holder->link);
	order->holder_count--;
	free(holder);
}

/* Behind what was used before it; where that is far from the end, not far from there. */
static void place(struct spill_holder *holder, struct spill_entry *entry)
{
	entry->placed = entry->used;
	list_remove(&entry->link);
	const struct list *before = holder->queue.previous;
	for (uint32_t i = 0; i < NEAR && before != &holder->queue; i++) {
		if (list_entry(before, struct spill_entry, link)->placed <= entry->used)
			break;
		before = before->previous;
	}
	list_push_back(before->next, &entry->link);
}

/* The least recently used of its queue that may be chosen. */
static struct spill_entry *first_of(const struct spill_order *order, struct spill_holder *holder, bool *waits)
{
	uint32_t looks = 0;
	bool has_placed;
	do {
		struct list *next, *link = holder->queue.next;
		for (has_placed = false; link != &holder->queue && looks < SPILL_LOOKS; link = next, looks++) {
			struct spill_entry *entry = list_entry(link, struct spill_entry, link);
			next = link->next;
			*waits |= entry->mark == order->mark;
			if (entry->mark >= order->mark)
				continue;
			/* Others may have been put before it. */
			if (entry->used == entry->placed && has_placed)
				break;
			if (entry->used == entry->placed)
				return entry;
			place(holder, entry);
			has_placed = true;
		}
	} while (has_placed && looks < SPILL_LOOKS);
	return NULL;
}

struct spill_entry *spill_order_choose(struct spill_order *order, const void *owner, bool *waits_out)
{
	uint64_t parts = order->holder_count + (find_holder(order, owner) ? 0u : 1u);
	struct spill_entry *best = NULL;
	bool waits = false;
	for (enum step step = OF_THOSE_WITH_MORE; step < STEPS && !best && !(step == OF_ANYBODY && waits); step++) {
		for (struct list *link = order->holders.next; link != &order->holders; link = link->next) {
			struct spill_holder *holder = list_entry(link, struct spill_holder, link);
			if (step == OF_THOSE_WITH_MORE && holder->bytes <= order->bytes / parts)
				continue;
			if (step == OF_ITS_OWN && holder->owner != owner)
				continue;
			struct spill_entry *entry = first_of(order, holder, &waits);
			if (entry && (!best || entry->used < best->used))
				best = entry;
		}
	}
	*waits_out = waits;
	return best;
}
