#include "session/usm_table.h"

#include "base/range_check.h"
#include "session/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16u

void usm_table_fini(struct usm_table *table)
{
	free((void *)table->items);
	*table = (struct usm_table){.items = NULL};
}

/* Returns the place of the first allocation behind the address. */
static uint32_t usm_place_of(const struct usm_table *table, uint64_t address)
{
	uint32_t low = 0, high = table->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (table->items[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int table_reserve(struct usm_table *table)
{
	if (table->count < table->capacity)
		return 0;
	uint32_t capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY;
	struct usm **items = realloc((void *)table->items, capacity * sizeof(struct usm *));
	if (!items)
		return -ENOMEM;
	table->items = items;
	table->capacity = capacity;
	return 0;
}

int usm_table_insert(struct usm_table *table, struct usm *usm)
{
	uint32_t at = usm_place_of(table, usm->address);
	const struct usm *before = at > 0 ? table->items[at - 1] : NULL;
	const struct usm *after = at < table->count ? table->items[at] : NULL;
	if (usm->size_bytes > UINT64_MAX - usm->address ||
	    (before && usm->address - before->address < before->size_bytes) ||
	    (after && after->address - usm->address < usm->size_bytes))
		return -EEXIST;
	if (table_reserve(table) < 0)
		return -ENOMEM;
	memmove((void *)&table->items[at + 1], (void *)&table->items[at],
		(table->count - at) * sizeof(struct usm *));
	table->items[at] = usm;
	table->count++;
	return 0;
}

void usm_table_remove(struct usm_table *table, const struct usm *usm)
{
	uint32_t at = usm_place_of(table, usm->address);
	if (at == 0 || table->items[at - 1] != usm)
		return;
	memmove((void *)&table->items[at - 1], (void *)&table->items[at],
		(table->count - at) * sizeof(struct usm *));
	table->count--;
}

struct usm *usm_table_find(const struct usm_table *table, uint64_t address, uint64_t size_bytes)
{
	uint32_t at = usm_place_of(table, address);
	struct usm *usm = at > 0 ? table->items[at - 1] : NULL;
	if (!usm || address - usm->address >= usm->size_bytes ||
	    !range_inside(address - usm->address, size_bytes, usm->size_bytes))
		return NULL;
	return usm;
}
