#include "usm/allocations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16u

int64_t usm_allocations_before(const struct usm_state *usm, uint64_t address)
{
	uint32_t low = 0, high = usm->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (usm->table[middle]->address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return (int64_t)low - 1;
}

static int usm_table_reserve(struct usm_state *usm)
{
	if (usm->count < usm->capacity)
		return 0;
	uint32_t capacity = usm->capacity ? usm->capacity * 2 : FIRST_CAPACITY;
	struct usm_allocation **table =
		realloc((void *)usm->table, capacity * sizeof(struct usm_allocation *));
	if (!table)
		return -ENOMEM;
	usm->table = table;
	usm->capacity = capacity;
	return 0;
}

int usm_allocations_insert(struct usm_state *usm, struct usm_allocation *allocation)
{
	uint32_t at = (uint32_t)(usm_allocations_before(usm, allocation->address) + 1);
	const struct usm_allocation *before = at > 0 ? usm->table[at - 1] : NULL;
	const struct usm_allocation *after = at < usm->count ? usm->table[at] : NULL;
	if (allocation->real_bytes > UINT64_MAX - allocation->address ||
	    (before && allocation->address - before->address < before->real_bytes) ||
	    (after && after->address - allocation->address < allocation->real_bytes))
		return -EEXIST;
	if (usm_table_reserve(usm) < 0)
		return -ENOMEM;
	memmove((void *)&usm->table[at + 1], (void *)&usm->table[at],
		(usm->count - at) * sizeof(struct usm_allocation *));
	usm->table[at] = allocation;
	usm->count++;
	return 0;
}

void usm_allocations_remove(struct usm_state *usm, const struct usm_allocation *allocation)
{
	int64_t at = usm_allocations_before(usm, allocation->address);
	if (at < 0 || usm->table[at] != allocation)
		return;
	usm->count--;
	memmove((void *)&usm->table[at], (void *)&usm->table[at + 1],
		(usm->count - (uint32_t)at) * sizeof(struct usm_allocation *));
}

struct usm_allocation *usm_allocations_find(const struct usm_state *usm, uint64_t context,
					    uint64_t address, uint64_t size_bytes)
{
	int64_t at = usm_allocations_before(usm, address);
	struct usm_allocation *allocation = at >= 0 ? usm->table[at] : NULL;
	if (!allocation || allocation->freed || (context && allocation->context != context))
		return NULL;
	uint64_t offset = address - allocation->address;
	return offset < allocation->size_bytes && size_bytes <= allocation->size_bytes - offset
		       ? allocation
		       : NULL;
}
