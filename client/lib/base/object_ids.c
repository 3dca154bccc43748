#include "base/object_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { IDS_MORE_LEAST = 64 };

int object_ids_init(struct object_ids *ids, uint32_t capacity)
{
	*ids = (struct object_ids){.capacity = capacity};
	ids->entries = calloc(capacity ? capacity : 1, sizeof(*ids->entries));
	return ids->entries ? 0 : -ENOMEM;
}

void object_ids_fini(struct object_ids *ids)
{
	free(ids->entries);
	*ids = (struct object_ids){.capacity = 0};
}

/* By half at a time, as a limit may be far above what the program needs. */
int object_ids_grow(struct object_ids *ids, uint32_t most)
{
	if (ids->capacity >= most)
		return -EDQUOT;
	uint32_t more = ids->capacity / 2 + IDS_MORE_LEAST;
	uint32_t capacity = more < most - ids->capacity ? ids->capacity + more : most;
	struct id_entry *entries = reallocarray(ids->entries, capacity, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	memset(entries + ids->capacity, 0, (capacity - ids->capacity) * sizeof(*entries));
	ids->entries = entries;
	ids->capacity = capacity;
	return 0;
}

int object_ids_take(struct object_ids *ids, enum object_type type, struct remote *owner,
		    struct id_entry **entry_out)
{
	uint32_t index = 0;
	if (ids->free_first) {
		index = ids->free_first - 1;
		ids->free_first = ids->entries[index].next_free;
		if (!ids->free_first)
			ids->free_last = 0;
	} else if (ids->used < ids->capacity) {
		index = ids->used++;
	} else {
		return -EDQUOT;
	}
	uint32_t generation = (ids->entries[index].generation + 1) & 0xffffff;
	if (generation == 0)
		generation = 1;
	ids->entries[index] = (struct id_entry){.id = object_id_make(type, generation, index),
						.owner = owner,
						.slot = NO_SLOT,
						.generation = generation};
	owner->id = ids->entries[index].id;
	*entry_out = &ids->entries[index];
	return 0;
}

struct id_entry *object_ids_find(struct object_ids *ids, uint64_t id)
{
	uint32_t index = object_id_index(id);
	if (id == 0 || index >= ids->used || ids->entries[index].id != id)
		return NULL;
	return &ids->entries[index];
}

void object_ids_give(struct object_ids *ids, struct id_entry *entry)
{
	uint32_t index = (uint32_t)(entry - ids->entries);
	*entry = (struct id_entry){.generation = entry->generation, .slot = NO_SLOT};
	/* First in, first out: a stale id stays stale for long. */
	if (ids->free_last)
		ids->entries[ids->free_last - 1].next_free = index + 1;
	else
		ids->free_first = index + 1;
	ids->free_last = index + 1;
}
