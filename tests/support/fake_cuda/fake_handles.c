/* The valid handles. The memory of a retired one is kept for a while, so that a late use is found
 * and reads no freed memory. */
#include "fake.h"

#include <stdlib.h>

#define RETIRED 8192u

struct entry {
	const void *handle; /* NULL: free; GONE: free, but used before */
	enum fake_handle kind;
};

#define GONE ((const void *)1)

static struct entry *table;
static size_t table_size, table_filled; /* power of two; GONE counts as filled */
static void *retired[RETIRED];
static size_t retired_next;

static const char *const kinds[] = {"nothing",     "context",          "stream",         "event",
				    "memory pool", "module",           "function",       "graph",
				    "graph node",  "executable graph", "VMM allocation", "library",
				    "array",       "texture",          "surface"};

static size_t handles_hash(const void *handle)
{
	return (size_t)(((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
}

static struct entry *find_entry(const void *handle)
{
	if (!table_size)
		return NULL;
	for (size_t i = handles_hash(handle);; i++) {
		struct entry *entry = &table[i & (table_size - 1)];
		if (!entry->handle)
			return NULL;
		if (entry->handle == handle)
			return entry;
	}
}

static void put_entry(const void *handle, enum fake_handle kind)
{
	size_t i = handles_hash(handle);

	while (table[i & (table_size - 1)].handle)
		i++;
	table[i & (table_size - 1)] = (struct entry){handle, kind};
	table_filled++;
}

static void handles_grow(void)
{
	struct entry *old = table;
	size_t old_size = table_size, alive = 0;

	for (size_t i = 0; i < old_size; i++)
		alive += old[i].handle && old[i].handle != GONE;
	table_size = 256;
	while (table_size < alive * 4)
		table_size *= 2;
	table = calloc(table_size, sizeof(*table));
	if (!table)
		abort();
	table_filled = 0;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].handle && old[i].handle != GONE)
			put_entry(old[i].handle, old[i].kind);
	free(old);
}

void fake_handle_add(enum fake_handle kind, void *handle)
{
	if (table_filled * 2 >= table_size)
		handles_grow();
	put_entry(handle, kind);
}

bool fake_handle_alive(enum fake_handle kind, const void *handle)
{
	const struct entry *entry = handle ? find_entry(handle) : NULL;

	if (entry && entry->kind == kind)
		return true;
	fake_misuse("%p is no %s, or was destroyed", handle, kinds[kind]);
	return false;
}

void fake_handle_retire(enum fake_handle kind, void *handle)
{
	struct entry *entry = find_entry(handle);

	if (!entry || entry->kind != kind)
		return;
	entry->handle = GONE;
	free(retired[retired_next]);
	retired[retired_next] = handle;
	retired_next = (retired_next + 1) % RETIRED;
}
