#include "base/account_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY_FIRST = 8 };

void account_sum(uint64_t *sum, uint64_t more)
{
	*sum = more > UINT64_MAX - *sum ? UINT64_MAX : *sum + more;
}

void account_sums_add(struct account_sums *sums, const struct account_sums *more)
{
	account_sum(&sums->sessions, more->sessions);
	account_sum(&sums->faults, more->faults);
	account_sum(&sums->commands, more->commands);
	account_sum(&sums->failed, more->failed);
	account_sum(&sums->device_ns, more->device_ns);
	account_sum(&sums->bytes_to_device, more->bytes_to_device);
	account_sum(&sums->bytes_to_host, more->bytes_to_host);
	account_sum(&sums->spills, more->spills);
	account_sum(&sums->spilled_bytes, more->spilled_bytes);
	delay_add(&sums->delays, 0, more->delays.counts, DELAY_BUCKETS);
}

static bool keys_are_equal(const struct account_key *one, const struct account_key *other)
{
	return one->uid == other->uid && one->backend == other->backend &&
	       one->index == other->index && one->session == other->session &&
	       strcmp(one->cgroup, other->cgroup) == 0;
}

static uint64_t key_hash_mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 0x100000001b3ull;
}

static uint64_t key_hash(const struct account_key *key)
{
	uint64_t hash = key_hash_mix(
		key_hash_mix(
			key_hash_mix(key_hash_mix(0xcbf29ce484222325ull, key->uid), key->backend),
			key->index),
		key->session);
	for (const char *at = key->cgroup; *at; at++)
		hash = key_hash_mix(hash, (unsigned char)*at);
	return hash;
}

struct account_row *account_table_find(struct account_table *table, const struct account_key *key)
{
	uint64_t hash = key_hash(key);
	for (uint32_t i = 0; i < table->count; i++)
		if (table->hashes[i] == hash && keys_are_equal(&table->rows[i].key, key)) {
			table->rows[i].used = ++table->uses;
			return &table->rows[i];
		}
	return NULL;
}

static bool account_table_grow(struct account_table *table)
{
	uint32_t capacity = table->capacity ? table->capacity * 2 : CAPACITY_FIRST;
	struct account_row *rows = realloc(table->rows, capacity * sizeof(*rows));
	if (rows)
		table->rows = rows;
	uint64_t *hashes = realloc(table->hashes, capacity * sizeof(*hashes));
	if (hashes)
		table->hashes = hashes;
	if (!rows || !hashes)
		return false;
	table->capacity = capacity;
	return true;
}

static void account_table_remove_row(struct account_table *table, struct account_row *row)
{
	uint32_t last = --table->count;
	uint32_t at = (uint32_t)(row - table->rows);
	if (at == last)
		return;
	table->rows[at] = table->rows[last];
	table->hashes[at] = table->hashes[last];
}

static struct account_row *oldest_of_a_group(struct account_table *table)
{
	struct account_row *oldest = NULL;
	for (uint32_t i = 0; i < table->count; i++) {
		struct account_row *row = &table->rows[i];
		if (strcmp(row->key.cgroup, ACCOUNT_OTHERS) != 0 &&
		    (!oldest || row->used < oldest->used))
			oldest = row;
	}
	return oldest;
}

/* Each iteration removes one row of a group, so the loop ends. */
static bool account_table_make_room(struct account_table *table, uint32_t most)
{
	while (table->count >= most) {
		struct account_row *oldest = oldest_of_a_group(table);
		if (!oldest)
			return false;
		struct account_key key = oldest->key;
		memset(key.cgroup, 0, sizeof(key.cgroup));
		memcpy(key.cgroup, ACCOUNT_OTHERS, sizeof(ACCOUNT_OTHERS));
		struct account_row *others = account_table_find(table, &key);
		if (others) {
			account_sums_add(&others->sums, &oldest->sums);
			account_table_remove_row(table, oldest);
		} else {
			oldest->key = key;
			table->hashes[oldest - table->rows] = key_hash(&key);
		}
	}
	return true;
}

struct account_row *account_table_get(struct account_table *table, const struct account_key *key,
				      uint32_t most)
{
	struct account_row *row = account_table_find(table, key);
	if (row)
		return row;
	if (!account_table_make_room(table, most))
		return NULL;
	/* The requested row may have become the merged one. */
	row = account_table_find(table, key);
	if (row)
		return row;
	if (table->count == table->capacity && !account_table_grow(table))
		return NULL;
	table->hashes[table->count] = key_hash(key);
	row = &table->rows[table->count++];
	*row = (struct account_row){.key = *key, .used = ++table->uses};
	return row;
}

void account_table_fini(struct account_table *table)
{
	free(table->rows);
	free(table->hashes);
	*table = (struct account_table){.rows = NULL};
}
