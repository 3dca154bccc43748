#include "base/object_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void object_table_init(struct object_table *table, uint32_t limit)
{
	*table = (struct object_table){.limit = limit};
}

void object_table_fini(struct object_table *table)
{
	free(table->entries);
	*table = (struct object_table){.limit = 0};
}

static int grow_object_table(struct object_table *table, uint32_t index)
{
	uint64_t capacity = table->capacity ? table->capacity : 64;
	while (capacity <= index)
		capacity *= 2;
	if (capacity > table->limit)
		capacity = table->limit;
	struct object_entry *entries = realloc(table->entries, capacity * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	memset(entries + table->capacity, 0, (capacity - table->capacity) * sizeof(*entries));
	table->entries = entries;
	table->capacity = (uint32_t)capacity;
	return 0;
}

int object_table_insert(struct object_table *table, uint64_t id, enum object_type type,
			struct object *object)
{
	uint32_t index = object_id_index(id), generation = object_id_generation(id);
	if (object_id_type(id) != type || type <= OBJECT_NONE || type >= OBJECT_TYPE_COUNT ||
	    generation == 0)
		return -EPROTO;
	if (index >= table->limit)
		return -EDQUOT;
	if (index >= table->capacity) {
		int r = grow_object_table(table, index);
		if (r < 0)
			return r;
	}
	struct object_entry *entry = &table->entries[index];
	if (entry->object || generation <= entry->generation)
		return -EPROTO;
	*entry = (struct object_entry){.object = object, .generation = generation, .type = type};
	table->count++;
	table->counts[type]++;
	return 0;
}

static struct object_entry *object_entry_of(const struct object_table *table, uint64_t id)
{
	uint32_t index = object_id_index(id);
	if (index >= table->capacity)
		return NULL;
	struct object_entry *entry = &table->entries[index];
	if (!entry->object || entry->generation != object_id_generation(id) ||
	    entry->type != object_id_type(id))
		return NULL;
	return entry;
}

struct object *object_table_find(const struct object_table *table, uint64_t id)
{
	const struct object_entry *entry = object_entry_of(table, id);
	return entry ? entry->object : NULL;
}

struct object *object_table_at(const struct object_table *table, uint32_t index)
{
	return index < table->capacity ? table->entries[index].object : NULL;
}

bool object_table_gone(const struct object_table *table, uint64_t id)
{
	uint32_t index = object_id_index(id), generation = object_id_generation(id);
	if (index >= table->capacity || generation == 0)
		return false;
	const struct object_entry *entry = &table->entries[index];
	return generation < entry->generation ||
	       (generation == entry->generation && !entry->object);
}

void object_table_remove(struct object_table *table, uint64_t id)
{
	struct object_entry *entry = object_entry_of(table, id);
	if (!entry)
		return;
	table->count--;
	table->counts[entry->type]--;
	entry->object = NULL;
}
