#include "base/arena_ranges.h"

#include "protocol_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t round_to_alignment(uint64_t bytes)
{
	return (bytes + ARENA_ALIGNMENT_BYTES - 1) & ~(uint64_t)(ARENA_ALIGNMENT_BYTES - 1);
}

int arena_ranges_init(struct arena_ranges *ranges, uint64_t size_bytes)
{
	*ranges = (struct arena_ranges){.size_bytes = size_bytes, .free_capacity = 8};
	ranges->free = calloc(ranges->free_capacity, sizeof(*ranges->free));
	if (!ranges->free)
		return -ENOMEM;
	ranges->free[0] = (struct arena_extent){0, size_bytes};
	ranges->free_count = 1;
	return 0;
}

void arena_ranges_fini(struct arena_ranges *ranges)
{
	free(ranges->free);
	*ranges = (struct arena_ranges){.size_bytes = 0};
}

/* With n pieces taken there are at most n + 1 free ones. With room for these, giving back never
 * allocates. */
static int ranges_reserve_pieces(struct arena_ranges *ranges)
{
	if (ranges->taken + 2 <= ranges->free_capacity)
		return 0;
	size_t capacity = ranges->free_capacity * 2;
	struct arena_extent *more = realloc(ranges->free, capacity * sizeof(*more));
	if (!more)
		return -ENOMEM;
	ranges->free = more;
	ranges->free_capacity = capacity;
	return 0;
}

int arena_ranges_take(struct arena_ranges *ranges, uint64_t size_bytes, uint64_t *offset_out)
{
	if (size_bytes == 0 || size_bytes > ranges->size_bytes)
		return -ENOSPC;
	uint64_t bytes = round_to_alignment(size_bytes);
	size_t i = 0;
	while (i < ranges->free_count && ranges->free[i].size_bytes < bytes)
		i++;
	if (i == ranges->free_count)
		return -ENOSPC;
	int r = ranges_reserve_pieces(ranges);
	if (r < 0)
		return r;
	struct arena_extent *extent = &ranges->free[i];
	*offset_out = extent->offset_bytes;
	extent->offset_bytes += bytes;
	extent->size_bytes -= bytes;
	if (extent->size_bytes == 0) {
		ranges->free_count--;
		memmove(extent, extent + 1, (ranges->free_count - i) * sizeof(*extent));
	}
	ranges->taken++;
	return 0;
}

void arena_ranges_give(struct arena_ranges *ranges, uint64_t offset_bytes, uint64_t size_bytes)
{
	uint64_t bytes = round_to_alignment(size_bytes);
	size_t low = 0, high = ranges->free_count;
	while (low < high) { /* finds the first free piece behind the offset */
		size_t middle = low + (high - low) / 2;
		if (ranges->free[middle].offset_bytes < offset_bytes)
			low = middle + 1;
		else
			high = middle;
	}
	struct arena_extent *before = low > 0 ? &ranges->free[low - 1] : NULL;
	struct arena_extent *after = low < ranges->free_count ? &ranges->free[low] : NULL;
	int joins_before = before && before->offset_bytes + before->size_bytes == offset_bytes;
	int joins_after = after && offset_bytes + bytes == after->offset_bytes;
	if (joins_before && joins_after) {
		before->size_bytes += bytes + after->size_bytes;
		ranges->free_count--;
		memmove(after, after + 1, (ranges->free_count - low) * sizeof(*after));
	} else if (joins_before) {
		before->size_bytes += bytes;
	} else if (joins_after) {
		after->offset_bytes = offset_bytes;
		after->size_bytes += bytes;
	} else {
		memmove(&ranges->free[low + 1], &ranges->free[low],
			(ranges->free_count - low) * sizeof(*ranges->free));
		ranges->free[low] = (struct arena_extent){offset_bytes, bytes};
		ranges->free_count++;
	}
	ranges->taken--;
}
