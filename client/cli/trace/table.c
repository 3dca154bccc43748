#include "trace/table.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

enum { ROOM_FIRST = 256 };

struct entry {
	uint64_t first, second;
	uint32_t number;
	bool is_used;
};

struct trace_table {
	struct entry *entries;
	uint32_t room, count; /* room: a power of two, at least twice the count */
	uint64_t key[2];
};

static int table_begin(struct trace_table *table)
{
	table->room = ROOM_FIRST;
	table->entries = calloc(ROOM_FIRST, sizeof(*table->entries));
	if (table->entries &&
	    getrandom(table->key, sizeof(table->key), 0) == (ssize_t)sizeof(table->key))
		return 0;
	free(table->entries);
	return -ENOMEM;
}

struct trace_table *trace_table_new(void)
{
	struct trace_table *table = calloc(1, sizeof(*table));
	if (table && table_begin(table) == 0)
		return table;
	free(table);
	return NULL;
}

struct trace_table *trace_table_free(struct trace_table *table)
{
	if (table)
		free(table->entries);
	free(table);
	return NULL;
}

static uint64_t hash_rotate(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

static void hash_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = hash_rotate(v[1], 13) ^ v[0];
	v[3] = hash_rotate(v[3], 16) ^ v[2];
	v[0] = hash_rotate(v[0], 32) + v[3];
	v[2] += v[1];
	v[3] = hash_rotate(v[3], 21) ^ v[0];
	v[1] = hash_rotate(v[1], 17) ^ v[2];
	v[2] = hash_rotate(v[2], 32);
}

/* SipHash-1-3 with a secret key. Engines choose the entries, and could make all of them collide if
 * they could compute the hash. */
static uint64_t pair_hash(const uint64_t key[2], uint64_t first, uint64_t second)
{
	const uint64_t words[] = {first, second, 16ull << 56};
	uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
			 key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
	for (unsigned i = 0; i < 3; i++) {
		v[3] ^= words[i];
		hash_round(v);
		v[0] ^= words[i];
	}
	v[2] ^= 0xff;
	for (unsigned i = 0; i < 3; i++)
		hash_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static struct entry *find_entry(const struct trace_table *table, uint64_t first, uint64_t second)
{
	uint32_t at = (uint32_t)pair_hash(table->key, first, second) & (table->room - 1);
	while (table->entries[at].is_used &&
	       (table->entries[at].first != first || table->entries[at].second != second))
		at = (at + 1) & (table->room - 1);
	return &table->entries[at];
}

bool trace_table_has(const struct trace_table *table, uint64_t first, uint64_t second)
{
	return find_entry(table, first, second)->is_used;
}

static int trace_table_grow(struct trace_table *table)
{
	struct trace_table larger = *table;
	larger.room = 2 * table->room;
	larger.entries = calloc(larger.room, sizeof(*larger.entries));
	if (!larger.entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->room; i++)
		if (table->entries[i].is_used)
			*find_entry(&larger, table->entries[i].first, table->entries[i].second) =
				table->entries[i];
	free(table->entries);
	*table = larger;
	return 0;
}

int trace_table_number(struct trace_table *table, uint64_t first, uint64_t second, uint32_t next,
		       uint32_t *number_out)
{
	struct entry *entry = find_entry(table, first, second);
	if (!entry->is_used && 2 * (table->count + 1) > table->room) {
		if (trace_table_grow(table) < 0)
			return -ENOMEM;
		entry = find_entry(table, first, second);
	}
	if (!entry->is_used) {
		*entry = (struct entry){first, second, next, true};
		table->count++;
	}
	*number_out = entry->number;
	return 0;
}
