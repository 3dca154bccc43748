/*
 * A range of bytes that is cut into intervals, each with a value of the owner's: at first one for
 * the whole. An interval is the beginning of a struct that also holds the value (`struct { struct
 * interval interval; ... }`); the owner keeps those. So a map itself allocates only a table, and
 * only for two intervals or more.
 *
 * To set the value of some bytes: cut at both ends, set the value of each interval in between,
 * join. Cutting changes the value of no byte. Only interval_map_reserve can fail. Two ranges
 * overlap when they share a byte, so an empty one overlaps nothing (C10).
 *
 * Not synchronised. Nothing here blocks. A search takes log(count) steps; a cut or a join moves at
 * most count entries of the table. An index is good until the next cut or join.
 */
#ifndef SYCL_ENGINE_INTERVAL_MAP_H
#define SYCL_ENGINE_INTERVAL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes [begin, end). */
struct interval {
	uint64_t begin, end;
};

struct interval_slot {
	uint64_t begin; /* equal to the interval's, so that a search reads only the table */
	struct interval *interval;
};

struct interval_map {
	uint32_t count, capacity;
	struct interval_slot *table; /* in order, without gaps; &only while one slot is enough */
	struct interval_slot only;   /* always the first slot */
};

struct interval_ops {
	/* Returns one of the intervals that the owner has reserved, so this cannot fail. The map
	 * sets the bounds. */
	struct interval *(*take)(void *context);
	/* The interval has left the map: the callee drops the interval and its value. */
	void (*give)(void *context, struct interval *interval);
	/* `upper` is new and was the upper part of `lower`: the callee gives `upper` the same
	 * value. */
	void (*copy)(void *context, struct interval *upper, struct interval *lower);
	/* True if neighbours have the same value, so that they may become one interval. */
	bool (*equal)(const struct interval *lower, const struct interval *upper);
};

static inline bool interval_empty(const struct interval *interval)
{
	return interval->begin >= interval->end;
}

static inline bool interval_overlap(const struct interval *a, const struct interval *b)
{
	return a->begin < b->end && b->begin < a->end && !interval_empty(a) && !interval_empty(b);
}

/* `whole` becomes the only interval; the map sets its bounds; size_bytes > 0. `whole` stays the
 * first interval while the map exists. The map must not be moved. */
void interval_map_init(struct interval_map *map, struct interval *whole, uint64_t size_bytes);
/* Gives all intervals but the first, and frees the table. */
void interval_map_fini(struct interval_map *map, const struct interval_ops *ops, void *context);

/* Room in the table for `more` intervals. -ENOMEM: nothing has changed. */
int interval_map_reserve(struct interval_map *map, uint32_t more);

/* The index of the interval that has this byte. For a byte beyond the end: the last interval. */
uint32_t interval_map_find(const struct interval_map *map, uint64_t at);

static inline struct interval *interval_map_get(const struct interval_map *map, uint32_t index)
{
	return map->table[index].interval;
}

/* [first, end) are the indices of the intervals that overlap the range. An empty range overlaps
 * none. */
struct interval_run {
	uint32_t first, end;
};
struct interval_run interval_map_search(const struct interval_map *map,
					const struct interval *range);

static inline struct interval_run interval_map_run(const struct interval_map *map,
						   const struct interval *range)
{
	if (map->count > 1)
		return interval_map_search(map, range);
	return (struct interval_run){.end = interval_overlap(map->only.interval, range)};
}

/* True if the range is already one of the intervals, so that no cut and no join is needed. */
bool interval_map_is_one(const struct interval_map *map, const struct interval *range);

/* True if the byte lies inside the interval and not at its beginning, so that a cut there divides
 * the interval. */
static inline bool interval_map_divides(const struct interval_map *map, uint32_t index, uint64_t at)
{
	const struct interval *interval = map->table[index].interval;
	return interval->begin < at && at < interval->end;
}

/* Divides the interval of this index, so that another one begins at `at`. The caller has reserved
 * room in the table and an interval at the owner. */
void interval_map_cut(struct interval_map *map, uint32_t index, uint64_t at,
		      const struct interval_ops *ops, void *context);
/* Joins neighbours of equal value: the intervals of the run, and the two beside the run. */
void interval_map_join(struct interval_map *map, struct interval_run run,
		       const struct interval_ops *ops, void *context);

#endif
