/* See spill_order.h. */
#include "base/spill_order.h"

#include <stdlib.h>

#define NEVER UINT64_MAX

struct spill_holder {
	struct list link; /* link in the order's list */
	struct list queue;
	const void *owner;
	uint64_t bytes;
};

enum step { OF_THOSE_WITH_MORE, OF_ITS_OWN, OF_ANYBODY };

void spill_order_init(struct spill_order *order)
{
	*order = (struct spill_order){.mark = 2, .line = 1};
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

bool spill_order_has_others(const struct spill_order *order, const void *owner)
{
	return order->holder_count > (find_holder(order, owner) ? 1u : 0u);
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

/* Moves the entry behind those that were used before it. If that place is far from the end, the
 * entry goes SPILL_NEAR places from the end. */
static void heap_place_of(struct spill_holder *holder, struct spill_entry *entry)
{
	entry->placed = entry->used;
	list_remove(&entry->link);
	const struct list *before = holder->queue.previous;
	for (uint32_t i = 0; i < SPILL_NEAR && before != &holder->queue; i++) {
		if (list_entry(before, struct spill_entry, link)->placed <= entry->used)
			break;
		before = before->previous;
	}
	list_push_back(before->next, &entry->link);
}

void spill_order_enter(struct spill_order *order, struct spill_entry *entry, const void *owner,
		       uint64_t bytes)
{
	struct spill_holder *holder = find_holder(order, owner);
	if (!holder)
		holder = make_holder(order, owner);
	entry->holder = holder;
	entry->bytes = bytes;
	if (entry->used == 0)
		entry->used = order->now;
	if (!holder)
		return;
	list_push_back(&holder->queue, &entry->link);
	heap_place_of(holder, entry);
	holder->bytes += bytes;
	order->bytes += bytes;
}

/* Moves entries that were used since they were placed away from the front of the queue. */
static void put_in_order(struct spill_holder *holder)
{
	uint32_t good = 0;
	struct list *next, *link = holder->queue.next;
	for (uint32_t looks = 0; link != &holder->queue && looks < SPILL_LOOKS && good < SPILL_NEAR;
	     link = next, looks++) {
		struct spill_entry *entry = list_entry(link, struct spill_entry, link);
		next = link->next;
		if (entry->used == entry->placed)
			good++;
		else
			heap_place_of(holder, entry);
	}
}

/* In how many commands the entry will be used next, as an estimate from its past uses. */
static uint64_t spill_order_next_use(const struct spill_order *order,
				     const struct spill_entry *entry)
{
	uint64_t age = order->clock - entry->used;
	if (entry->line == order->line)
		return entry->position;
	if (entry->every == 0 || age / 2 > entry->every)
		return NEVER;
	uint64_t left = entry->every > age ? entry->every - age : 0;
	return left > order->length ? left : order->length + 1;
}

struct search {
	const struct spill_order *order;
	uint64_t beyond; /* entries whose next use is within so many commands are not chosen */
	bool waits, is_any_free_soon;
	uint64_t latest_in_use; /* latest next use of the memory that is in use */
	struct spill_entry *best;
	uint64_t best_next;
};

static void note_in_use(struct search *search, const struct spill_entry *entry)
{
	uint64_t next = spill_order_next_use(search->order, entry);
	search->waits = true;
	search->is_any_free_soon |= entry->line != search->order->line;
	if (next > search->latest_in_use)
		search->latest_in_use = next;
}

/* True: the entry may be chosen. */
static bool compare_uses(struct search *search, struct spill_entry *entry)
{
	if (entry->mark == search->order->mark)
		note_in_use(search, entry);
	if (entry->mark >= search->order->mark)
		return false;
	uint64_t next = spill_order_next_use(search->order, entry);
	if (next <= search->beyond)
		return true;
	if (!search->best || next > search->best_next ||
	    (next == search->best_next && entry->used < search->best->used)) {
		search->best = entry;
		search->best_next = next;
	}
	return true;
}

/* Searches the queue of one holder for the entry that is needed last. */
static void search_user(struct search *search, struct spill_holder *holder)
{
	uint32_t found = 0, looks = 0;
	put_in_order(holder);
	for (struct list *link = holder->queue.next;
	     link != &holder->queue && found < SPILL_NEAR && looks < SPILL_LOOKS;
	     link = link->next, looks++)
		found += compare_uses(search, list_entry(link, struct spill_entry, link));
	if (found < SPILL_NEAR)
		return;
	found = looks = 0;
	for (struct list *link = holder->queue.previous;
	     link != &holder->queue && found < SPILL_NEAR && looks < SPILL_LOOKS;
	     link = link->previous, looks++)
		found += compare_uses(search, list_entry(link, struct spill_entry, link));
}

static void search_users(struct spill_order *order, const void *owner, enum step last,
			 struct search *search)
{
	uint64_t parts = order->holder_count + (find_holder(order, owner) ? 0u : 1u);
	for (enum step step = OF_THOSE_WITH_MORE; step <= last && !search->best; step++) {
		if (step == OF_ANYBODY && search->waits)
			return;
		for (struct list *link = order->holders.next; link != &order->holders;
		     link = link->next) {
			struct spill_holder *holder = list_entry(link, struct spill_holder, link);
			if (step == OF_THOSE_WITH_MORE && holder->bytes <= order->bytes / parts)
				continue;
			if (step == OF_ITS_OWN && holder->owner != owner)
				continue;
			search_user(search, holder);
		}
	}
}

static void choose_entry(struct spill_order *order, const void *owner, enum step last,
			 struct search *search)
{
	search_users(order, owner, last, search);
	order->is_better_soon =
		search->best && search->best->line == order->line && search->is_any_free_soon;
	order->is_later_soon = search->best && search->latest_in_use > search->best_next;
}

struct spill_entry *spill_order_choose(struct spill_order *order, const void *owner,
				       bool *waits_out)
{
	struct search search = {.order = order};
	choose_entry(order, owner, OF_ANYBODY, &search);
	*waits_out = search.waits;
	return search.best;
}

struct spill_entry *spill_order_choose_ahead(struct spill_order *order, const void *owner,
					     uint64_t position)
{
	struct search search = {.order = order, .beyond = position};
	choose_entry(order, owner, OF_ITS_OWN, &search);
	return search.best;
}
