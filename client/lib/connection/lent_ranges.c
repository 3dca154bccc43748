#include "connection/lent_ranges.h"

#include "connection/connection.h"
#include "connection/queue_line.h"

#include <stdlib.h>

sycl_result lent_range_new(struct connection *c, uint64_t size_bytes, struct lent_range **range_out)
{
	struct lent_range *range = calloc(1, sizeof(*range));
	if (!range)
		return error_no_memory();
	sycl_result result = arenas_take(c, size_bytes, &range->range, &range->address);
	if (result) {
		free(range);
		return result;
	}
	*range_out = range;
	return SYCL_SUCCESS;
}

void lent_range_drop(struct connection *c, struct lent_range *range)
{
	if (!range)
		return;
	(void)pthread_mutex_lock(&c->state_lock);
	arenas_give(&c->arenas, &range->range);
	(void)pthread_mutex_unlock(&c->state_lock);
	free(range);
}

void lent_range_commit(struct connection *c, struct queue_line *line, struct lent_range *range,
		       uint64_t group)
{
	range->group = (uint32_t)group;
	(void)pthread_mutex_lock(&c->state_lock);
	*(line->lent.last ? line->lent.last : &line->lent.first) = range;
	line->lent.last = &range->next;
	atomic_fetch_add_explicit(&line->lent.count, 1, memory_order_relaxed);
	(void)pthread_mutex_unlock(&c->state_lock);
}

/* With the state lock. */
static bool lent_ranges_free_complete(struct connection *c, struct queue_line *line, bool all)
{
	bool any = false;
	uint32_t mark =
		atomic_load_explicit(&c->slot_memory[line->slot].sequence, memory_order_acquire);
	while (line->lent.first && (all || sequence_reached(mark, line->lent.first->group))) {
		struct lent_range *range = line->lent.first;
		line->lent.first = range->next;
		if (!range->next)
			line->lent.last = NULL;
		arenas_give(&c->arenas, &range->range);
		free(range);
		atomic_fetch_sub_explicit(&line->lent.count, 1, memory_order_relaxed);
		any = true;
	}
	return any;
}

void lent_ranges_settle(struct connection *c, struct queue_line *line)
{
	if (atomic_load_explicit(&line->lent.count, memory_order_relaxed) == 0)
		return;
	(void)pthread_mutex_lock(&c->state_lock);
	bool any = lent_ranges_free_complete(c, line, false);
	(void)pthread_mutex_unlock(&c->state_lock);
	if (any)
		arenas_trim(c);
}

bool lent_ranges_settle_all(struct connection *c)
{
	bool any = false;
	for (uint32_t i = 0; i < c->ids.used; i++)
		if (c->ids.entries[i].line)
			any = lent_ranges_free_complete(c, c->ids.entries[i].line, false) || any;
	return any;
}

void lent_ranges_end(struct connection *c, struct queue_line *line)
{
	(void)lent_ranges_free_complete(c, line, true);
}

void lent_ranges_fini(struct lent_ranges *ranges)
{
	while (ranges->first) {
		struct lent_range *range = ranges->first;
		ranges->first = range->next;
		free(range);
	}
	ranges->last = NULL;
}
