/* The arena allocator against a map with one cell for each granule. */
#include "base/arena_ranges.h"

#include "protocol_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_arena_ranges, .timeout = 20);

enum { GRANULE = ARENA_ALIGNMENT_BYTES, GRANULES = 97, PIECES = 64, STEPS = 200000 };

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint32_t arena_ranges_random_below(uint32_t bound)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % bound;
}

struct piece {
	uint64_t offset, bytes;
};

static uint8_t map[GRANULES];

static uint64_t granules_of(uint64_t bytes)
{
	return (bytes + GRANULE - 1) / GRANULE;
}

/* Returns where first fit must put it; GRANULES if there is no room. */
static uint64_t expected_place(uint64_t granules)
{
	for (uint64_t at = 0; at + granules <= GRANULES; at++) {
		uint64_t free_run = 0;
		while (free_run < granules && !map[at + free_run])
			free_run++;
		if (free_run == granules)
			return at;
	}
	return GRANULES;
}

static size_t free_runs(void)
{
	size_t runs = 0;
	for (int i = 0; i < GRANULES; i++)
		runs += !map[i] && (i == 0 || map[i - 1]);
	return runs;
}

Test(client_arena_ranges, equals_a_map_of_granules)
{
	struct arena_ranges ranges;
	cr_assert(eq(int, arena_ranges_init(&ranges, (uint64_t)GRANULES * GRANULE), 0));
	struct piece pieces[PIECES];
	uint32_t count = 0;
	for (int step = 0; step < STEPS; step++) {
		if (count < PIECES && arena_ranges_random_below(2)) {
			uint64_t bytes = 1 + arena_ranges_random_below(12 * GRANULE);
			uint64_t place = expected_place(granules_of(bytes));
			uint64_t offset = 12345;
			int r = arena_ranges_take(&ranges, bytes, &offset);
			cr_assert(eq(int, r, place == GRANULES ? -ENOSPC : 0));
			if (r < 0) {
				cr_assert(eq(u64, offset, 12345), "untouched on failure");
				continue;
			}
			cr_assert(eq(u64, offset, place * GRANULE));
			memset(map + place, 1, granules_of(bytes));
			pieces[count++] = (struct piece){offset, bytes};
		} else if (count > 0) {
			uint32_t which = arena_ranges_random_below(count);
			arena_ranges_give(&ranges, pieces[which].offset, pieces[which].bytes);
			memset(map + pieces[which].offset / GRANULE, 0,
			       granules_of(pieces[which].bytes));
			pieces[which] = pieces[--count];
		}
		cr_assert(eq(sz, ranges.free_count, free_runs()), "neighbours are joined");
		cr_assert(eq(sz, ranges.taken, count));
	}
	while (count-- > 0)
		arena_ranges_give(&ranges, pieces[count].offset, pieces[count].bytes);
	cr_assert(eq(sz, ranges.free_count, 1));
	cr_assert(eq(u64, ranges.free[0].size_bytes, (uint64_t)GRANULES * GRANULE));
	arena_ranges_fini(&ranges);
}

Test(client_arena_ranges, refuses_nothing_and_too_much)
{
	struct arena_ranges ranges;
	uint64_t offset = 0;
	cr_assert(eq(int, arena_ranges_init(&ranges, GRANULE), 0));
	cr_assert(eq(int, arena_ranges_take(&ranges, 0, &offset), -ENOSPC));
	cr_assert(eq(int, arena_ranges_take(&ranges, GRANULE + 1, &offset), -ENOSPC));
	cr_assert(eq(int, arena_ranges_take(&ranges, UINT64_MAX, &offset), -ENOSPC));
	cr_assert(eq(int, arena_ranges_take(&ranges, GRANULE, &offset), 0));
	cr_assert(eq(int, arena_ranges_take(&ranges, 1, &offset), -ENOSPC));
	arena_ranges_fini(&ranges);
}
