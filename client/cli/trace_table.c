#include "trace_table.h"

#include <errno.h>
#include <stdlib.h>

enum { ROOM_FIRST = 256 };

struct entry {
	uint64_t first, second;
	uint32_t number;
	bool is_used;
};

struct trace_table {
	struct entry *entries;
	uint32_t room, count; /* room: a power of two, at least twice the count */
};

struct trace_table *trace_table_new(void)
{
	struct trace_table *table = calloc(1, sizeof(*table));
	struct entry *entries = calloc(ROOM_FIRST, sizeof(*entries));
	if (!table || !entries) {
		free(table);
		free(entries);
		return NULL;
	}
	*table = (struct trace_table){ .entries = entries, .room = ROOM_FIRST };
	return table;
}

struct trace_table *trace_table_free(struct trace_table *table)
{
	if (table)
		free(table->entries);
	free(table);
	return NULL;
}

static struct entry *find(const struct trace_table *table, uint64_t first, uint64_t second)
{
	uint64_t hash = (first * 0x9e3779b97f4a7c15u ^ second) * 0x9e3779b97f4a7c15u;
	uint32_t at = (uint32_t)(hash >> 32) & (table->room - 1);
	while (table->entries[at].is_used && (table->entries[at].first != first || table->entries[at].second != second))
		at = (at + 1) & (table->room - 1);
	return &table->entries[at];
}

bool trace_table_has(const struct trace_table *table, uint64_t first, uint64_t second)
{
	return find(table, first, second)->is_used;
}

static int grow(struct trace_table *table)
{
	struct trace_table larger = { .room = 2 * table->room, .count = table->count };
	larger.entries = calloc(larger.room, sizeof(*larger.entries));
	if (!larger.entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->room; i++)
		if (table->entries[i].is_used)
			*find(&larger, table->entries[i].first, table->entries[i].second) = table->entries[i];
	free(table->entries);
	*table = larger;
	return 0;
}

int trace_table_number(struct trace_table *table, uint64_t first, uint64_t second, uint32_t next, uint32_t *number_out)
{
	struct entry *entry = find(table, first, second);
	if (!entry->is_used && 2 * (table->count + 1) > table->room) {
		if (grow(table) < 0)
			return -ENOMEM;
		entry = find(table, first, second);
	}
	if (!entry->is_used) {
		*entry = (struct entry){ first, second, next, true };
		table->count++;
	}
	*number_out = entry->number;
	return 0;
}
