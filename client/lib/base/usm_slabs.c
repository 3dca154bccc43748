#include "base/usm_slabs.h"

#include <stdlib.h>

static uint32_t class_piece_bytes(uint32_t class_index)
{
	return USM_PIECE_LEAST << class_index;
}

bool usm_slabs_class(uint64_t size_bytes, uint64_t alignment_bytes, uint32_t *class_out)
{
	uint64_t wanted = size_bytes > alignment_bytes ? size_bytes : alignment_bytes;
	uint32_t class_index = 0;
	while (class_index < USM_PIECE_CLASSES && class_piece_bytes(class_index) < wanted)
		class_index++;
	*class_out = class_index;
	return class_index < USM_PIECE_CLASSES;
}

static void slabs_link(struct usm_slabs *slabs, struct usm_slab *slab)
{
	struct usm_slab **first = &slabs->with_room[slab->class_index];
	slab->previous = NULL;
	slab->next = *first;
	if (*first)
		(*first)->previous = slab;
	*first = slab;
}

static void slabs_unlink(struct usm_slabs *slabs, struct usm_slab *slab)
{
	if (slab->previous)
		slab->previous->next = slab->next;
	else
		slabs->with_room[slab->class_index] = slab->next;
	if (slab->next)
		slab->next->previous = slab->previous;
}

static uint32_t piece_count(const struct usm_slab *slab)
{
	return USM_SLAB_BYTES / class_piece_bytes(slab->class_index);
}

void *usm_slabs_take(struct usm_slabs *slabs, uint32_t class_index, struct usm_slab **slab_out)
{
	struct usm_slab *slab = slabs->with_room[class_index];
	if (!slab)
		return NULL;
	uint32_t word = 0;
	while (slab->free[word] == 0)
		word++;
	uint32_t bit = (uint32_t)__builtin_ctzll(slab->free[word]);
	slab->free[word] &= ~(1ull << bit);
	if (++slab->taken == piece_count(slab))
		slabs_unlink(slabs, slab);
	*slab_out = slab;
	return slab->begin + (size_t)(word * 64 + bit) * class_piece_bytes(class_index);
}

struct usm_slab *usm_slabs_add(struct usm_slabs *slabs, uint32_t class_index,
			       const struct arena_range *range, void *begin)
{
	struct usm_slab *slab = calloc(1, sizeof(*slab));
	if (!slab)
		return NULL;
	slab->range = *range;
	slab->begin = begin;
	slab->class_index = class_index;
	for (uint32_t i = 0; i < piece_count(slab); i++)
		slab->free[i / 64] |= 1ull << i % 64;
	slabs_link(slabs, slab);
	return slab;
}

bool usm_slabs_give(struct usm_slabs *slabs, struct usm_slab *slab, void *piece)
{
	uint32_t index = (uint32_t)((size_t)((char *)piece - slab->begin) /
				    class_piece_bytes(slab->class_index));
	if (slab->taken == piece_count(slab))
		slabs_link(slabs, slab);
	slab->free[index / 64] |= 1ull << index % 64;
	if (--slab->taken > 0)
		return false;
	slabs_unlink(slabs, slab);
	return true;
}
