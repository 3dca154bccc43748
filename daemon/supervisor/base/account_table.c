#include "base/account_table.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Numbers of rows and of slots are powers of two. At most half of the slots are in use. */
enum { CAPACITY_FIRST = 8, SLOTS_PER_ROW = 2 };

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
	if (sums->memory_peak_bytes < more->memory_peak_bytes)
		sums->memory_peak_bytes = more->memory_peak_bytes;
	delay_add(&sums->delays, 0, more->delays.counts, DELAY_BUCKETS);
}

static bool keys_are_equal(const struct account_key *one, const struct account_key *other)
{
	return one->uid == other->uid && one->backend == other->backend &&
	       one->index == other->index && one->session == other->session &&
	       one->job == other->job && strcmp(one->cgroup, other->cgroup) == 0;
}

static uint64_t key_hash(const struct account_table *table, const struct account_key *key)
{
	enum { NUMBERS = 4, CGROUP_WORDS = CGROUP_BYTES / sizeof(uint64_t) };
	static_assert(CGROUP_BYTES % sizeof(uint64_t) == 0, "a control group is whole words");
	uint64_t words[NUMBERS + CGROUP_WORDS] = {
		key->uid, (uint64_t)key->backend << 32 | key->index, key->session, key->job};
	size_t length = strnlen(key->cgroup, sizeof(key->cgroup));
	memcpy(&words[NUMBERS], key->cgroup, length);
	return siphash_words(table->secret, words,
			     NUMBERS + (length + sizeof(uint64_t) - 1) / sizeof(uint64_t));
}

static uint32_t slot_mask(const struct account_table *table)
{
	return table->capacity * SLOTS_PER_ROW - 1;
}

/* Returns the slot of the key's row, or the free slot for it. The table has slots. */
static uint32_t slot_of_key(struct account_table *table, const struct account_key *key,
			    uint64_t hash)
{
	const uint32_t mask = slot_mask(table);
	uint32_t slot = (uint32_t)hash & mask;
	for (; table->slots[slot]; slot = (slot + 1) & mask) {
		uint32_t at = table->slots[slot] - 1;
		table->probes++;
		if (table->hashes[at] == hash && keys_are_equal(&table->rows[at].key, key))
			break;
	}
	return slot;
}

static uint32_t slot_of_row(const struct account_table *table, uint32_t at)
{
	const uint32_t mask = slot_mask(table);
	uint32_t slot = (uint32_t)table->hashes[at] & mask;
	while (table->slots[slot] != at + 1)
		slot = (slot + 1) & mask;
	return slot;
}

static void slots_add_row(struct account_table *table, uint32_t at)
{
	const uint32_t mask = slot_mask(table);
	uint32_t slot = (uint32_t)table->hashes[at] & mask;
	while (table->slots[slot])
		slot = (slot + 1) & mask;
	table->slots[slot] = at + 1;
}

/* Rows behind the free slot move to it, unless that is before the first slot for their hash. */
static void slots_remove(struct account_table *table, uint32_t hole)
{
	const uint32_t mask = slot_mask(table);
	for (uint32_t next = (hole + 1) & mask; table->slots[next]; next = (next + 1) & mask) {
		uint32_t home = (uint32_t)table->hashes[table->slots[next] - 1] & mask;
		if (((next - home) & mask) < ((next - hole) & mask))
			continue;
		table->slots[hole] = table->slots[next];
		hole = next;
	}
	table->slots[hole] = 0;
}

struct account_row *account_table_find(struct account_table *table, const struct account_key *key)
{
	if (table->count == 0)
		return NULL;
	uint32_t at = table->slots[slot_of_key(table, key, key_hash(table, key))];
	if (at == 0)
		return NULL;
	table->rows[at - 1].used = ++table->uses;
	return &table->rows[at - 1];
}

static bool account_table_grow(struct account_table *table)
{
	uint32_t capacity = table->capacity ? table->capacity * 2 : CAPACITY_FIRST;
	if (!table->capacity &&
	    getrandom(table->secret, sizeof(table->secret), 0) != (ssize_t)sizeof(table->secret))
		return false;
	struct account_row *rows = realloc(table->rows, capacity * sizeof(*rows));
	if (rows)
		table->rows = rows;
	uint64_t *hashes = realloc(table->hashes, capacity * sizeof(*hashes));
	if (hashes)
		table->hashes = hashes;
	uint32_t *slots = calloc((size_t)capacity * SLOTS_PER_ROW, sizeof(*slots));
	if (!rows || !hashes || !slots) {
		free(slots);
		return false;
	}
	free(table->slots);
	table->slots = slots;
	table->capacity = capacity;
	for (uint32_t i = 0; i < table->count; i++)
		slots_add_row(table, i);
	return true;
}

static void account_table_remove_row(struct account_table *table, struct account_row *row)
{
	uint32_t last = table->count - 1;
	uint32_t at = (uint32_t)(row - table->rows);
	slots_remove(table, slot_of_row(table, at));
	if (at != last) {
		table->slots[slot_of_row(table, last)] = at + 1;
		table->rows[at] = table->rows[last];
		table->hashes[at] = table->hashes[last];
	}
	table->count = last;
}

static void account_table_rename_row(struct account_table *table, struct account_row *row,
				     const struct account_key *key)
{
	uint32_t at = (uint32_t)(row - table->rows);
	slots_remove(table, slot_of_row(table, at));
	row->key = *key;
	table->hashes[at] = key_hash(table, key);
	slots_add_row(table, at);
}

static struct account_row *account_table_oldest_of_group(struct account_table *table)
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
		struct account_row *oldest = account_table_oldest_of_group(table);
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
			account_table_rename_row(table, oldest, &key);
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
	if (table->count >= most) {
		if (!account_table_make_room(table, most))
			return NULL;
		/* The requested row may have become the merged one. */
		row = account_table_find(table, key);
		if (row)
			return row;
	}
	if (table->count == table->capacity && !account_table_grow(table))
		return NULL;
	table->hashes[table->count] = key_hash(table, key);
	slots_add_row(table, table->count);
	row = &table->rows[table->count++];
	*row = (struct account_row){.key = *key, .used = ++table->uses};
	return row;
}

void account_table_fini(struct account_table *table)
{
	free(table->rows);
	free(table->hashes);
	free(table->slots);
	*table = (struct account_table){.rows = NULL};
}
