#include "cuda/driver/ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cuda_ranges_open(struct cuda_ranges *ranges)
{
	*ranges = (struct cuda_ranges){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void cuda_ranges_close(struct cuda_ranges *ranges)
{
	free(ranges->ranges);
	(void)pthread_mutex_destroy(&ranges->lock);
	ranges->ranges = NULL;
	ranges->count = ranges->capacity = 0;
}

/* Returns the number of ranges that begin at or below this address. */
static size_t count_up_to(const struct cuda_ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (ranges->ranges[middle].first <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int grow_ranges(struct cuda_ranges *ranges)
{
	size_t capacity = ranges->capacity ? ranges->capacity * 2 : 16;

	if (ranges->count < ranges->capacity)
		return 0;
	struct cuda_range *more = reallocarray(ranges->ranges, capacity, sizeof(*more));
	if (!more)
		return -ENOMEM;
	ranges->ranges = more;
	ranges->capacity = capacity;
	return 0;
}

static int insert_range(struct cuda_ranges *ranges, const struct cuda_range *range)
{
	size_t place = count_up_to(ranges, range->first);

	if (place > 0 && ranges->ranges[place - 1].last >= range->first)
		return -EEXIST;
	if (place < ranges->count && ranges->ranges[place].first <= range->last)
		return -EEXIST;
	int error = grow_ranges(ranges);
	if (error < 0)
		return error;
	memmove(&ranges->ranges[place + 1], &ranges->ranges[place],
		(ranges->count - place) * sizeof(*range));
	ranges->ranges[place] = *range;
	ranges->count++;
	return 0;
}

int cuda_ranges_add(struct cuda_ranges *ranges, uint64_t address, uint64_t size_bytes, void *item)
{
	if (size_bytes == 0 || size_bytes - 1 > UINT64_MAX - address)
		return -EINVAL;
	const struct cuda_range range = {
		.first = address, .last = address + (size_bytes - 1), .item = item};

	(void)pthread_mutex_lock(&ranges->lock);
	int error = insert_range(ranges, &range);
	(void)pthread_mutex_unlock(&ranges->lock);
	return error;
}

void *cuda_ranges_remove(struct cuda_ranges *ranges, uint64_t address)
{
	void *item = NULL;

	(void)pthread_mutex_lock(&ranges->lock);
	size_t place = count_up_to(ranges, address);
	if (place > 0 && ranges->ranges[place - 1].first == address) {
		item = ranges->ranges[place - 1].item;
		memmove(&ranges->ranges[place - 1], &ranges->ranges[place],
			(ranges->count - place) * sizeof(*ranges->ranges));
		ranges->count--;
	}
	(void)pthread_mutex_unlock(&ranges->lock);
	return item;
}

void *cuda_ranges_find(struct cuda_ranges *ranges, uint64_t address, uint64_t size_bytes)
{
	void *item = NULL;

	(void)pthread_mutex_lock(&ranges->lock);
	size_t place = count_up_to(ranges, address);
	if (place > 0) {
		const struct cuda_range *range = &ranges->ranges[place - 1];
		if (address <= range->last &&
		    (size_bytes == 0 || size_bytes - 1 <= range->last - address))
			item = range->item;
	}
	(void)pthread_mutex_unlock(&ranges->lock);
	return item;
}
