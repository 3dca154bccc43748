#include "base/interval_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST 8u
/* Kept by a map that is one interval again, as the map is likely to be cut again. */
#define CAPACITY_KEPT 64u

void interval_map_init(struct interval_map *map, struct interval *whole, uint64_t size_bytes)
{
	*whole = (struct interval){.end = size_bytes};
	*map = (struct interval_map){.count = 1,
				     .capacity = 1,
				     .table = &map->only,
				     .only = {.begin = 0, .interval = whole}};
}

static void drop_table(struct interval_map *map)
{
	if (map->table == &map->only)
		return;
	free(map->table);
	map->table = &map->only;
	map->capacity = 1;
}

void interval_map_fini(struct interval_map *map, const struct interval_ops *ops, void *context)
{
	while (map->count > 1)
		ops->give(context, map->table[--map->count].interval);
	drop_table(map);
}

int interval_map_reserve(struct interval_map *map, uint32_t more)
{
	if (more <= map->capacity - map->count)
		return 0;
	if (more > UINT32_MAX / 4 || map->count > UINT32_MAX / 4)
		return -ENOMEM;
	uint32_t capacity = map->capacity < CAPACITY_FIRST ? CAPACITY_FIRST : map->capacity;
	while (capacity < map->count + more)
		capacity *= 2;
	bool inside = map->table == &map->only;
	struct interval_slot *table =
		realloc(inside ? NULL : map->table, capacity * sizeof(*table));
	if (!table)
		return -ENOMEM;
	if (inside)
		table[0] = map->only;
	map->table = table;
	map->capacity = capacity;
	return 0;
}

uint32_t interval_map_find(const struct interval_map *map, uint64_t at)
{
	/* The first interval begins at 0, so at least one interval begins at or before `at`. */
	uint32_t low = 0, high = map->count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (map->table[middle].begin <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct interval_run interval_map_search(const struct interval_map *map,
					const struct interval *range)
{
	struct interval_run run = {.first = interval_map_find(map, range->begin)};
	run.end = run.first;
	if (interval_empty(range) || map->table[run.first].interval->end <= range->begin)
		return run;
	while (run.end < map->count && map->table[run.end].begin < range->end)
		run.end++;
	return run;
}

bool interval_map_is_one(const struct interval_map *map, const struct interval *range)
{
	uint32_t index = interval_map_find(map, range->begin);
	if (map->table[index].begin != range->begin)
		return false;
	/* The table has each interval's end, except for the last one: the intervals themselves are
	 * seldom in a cache. */
	return (index + 1 < map->count ? map->table[index + 1].begin
				       : map->table[index].interval->end) == range->end;
}

void interval_map_cut(struct interval_map *map, uint32_t index, uint64_t at,
		      const struct interval_ops *ops, void *context)
{
	struct interval *lower = map->table[index].interval, *upper = ops->take(context);
	*upper = (struct interval){.begin = at, .end = lower->end};
	lower->end = at;
	ops->copy(context, upper, lower);
	struct interval_slot *next = &map->table[index + 1];
	memmove(next + 1, next, (map->count - index - 1) * sizeof(*next));
	*next = (struct interval_slot){.begin = at, .interval = upper};
	map->count++;
}

void interval_map_join(struct interval_map *map, struct interval_run run,
		       const struct interval_ops *ops, void *context)
{
	uint32_t kept = run.first > 0 ? run.first - 1 : 0, next = kept + 1;
	uint32_t end = run.end < map->count ? run.end + 1 : map->count;
	while (next < end) {
		struct interval *lower = map->table[kept].interval;
		struct interval_slot upper = map->table[next++];
		if (ops->equal(lower, upper.interval)) {
			lower->end = upper.interval->end;
			ops->give(context, upper.interval);
		} else {
			map->table[++kept] = upper;
		}
	}
	uint32_t gone = next - kept - 1;
	if (gone == 0)
		return;
	memmove(&map->table[kept + 1], &map->table[next],
		(map->count - next) * sizeof(map->table[0]));
	map->count -= gone;
	if (map->count == 1 && map->capacity > CAPACITY_KEPT)
		drop_table(map);
}
