#include "base/group_window.h"

#include <stdlib.h>

void group_window_init(struct group_window *window)
{
	*window = (struct group_window){.bucket_count = GROUP_WINDOW_FIRST_BUCKETS};
	window->buckets = window->first_buckets;
	list_init(&window->open);
}

void group_window_fini(struct group_window *window)
{
	if (window->buckets != window->first_buckets)
		free(window->buckets);
	group_window_init(window);
}

static struct window_entry **window_bucket_of(const struct group_window *window, uint64_t number)
{
	/* If all groups are bursts of one length, the last bits of all numbers are equal. */
	return &window->buckets[(number ^ number >> 4) & (window->bucket_count - 1)];
}

/* Numbers are consecutive, so each bucket holds about one group. Without memory for more buckets
 * the chains only get longer. */
static void grow_group_window(struct group_window *window)
{
	uint32_t bucket_count = window->bucket_count * 2;
	struct window_entry **buckets = calloc(bucket_count, sizeof(struct window_entry *));
	if (!buckets)
		return;
	if (window->buckets != window->first_buckets)
		free(window->buckets);
	window->buckets = buckets;
	window->bucket_count = bucket_count;
	for (struct list *link = window->open.next; link != &window->open; link = link->next) {
		struct window_entry *entry = list_entry(link, struct window_entry, order);
		struct window_entry **bucket = window_bucket_of(window, entry->number);
		entry->bucket_next = *bucket;
		*bucket = entry;
	}
}

void group_window_skip(struct group_window *window)
{
	window->last++;
}

void group_window_open(struct group_window *window, struct window_entry *entry)
{
	group_window_open_burst(window, entry, 1);
}

void group_window_open_burst(struct group_window *window, struct window_entry *entry,
			     uint32_t count)
{
	if (window->count >= window->bucket_count)
		grow_group_window(window);
	window->last += count;
	window->bursts += count > 1;
	entry->number = window->last;
	entry->count = count;
	struct window_entry **bucket = window_bucket_of(window, entry->number);
	entry->bucket_next = *bucket;
	*bucket = entry;
	list_push_back(&window->open, &entry->order);
	window->count++;
}

void group_window_close(struct group_window *window, struct window_entry *entry)
{
	struct window_entry **place = window_bucket_of(window, entry->number);
	while (*place != entry)
		place = &(*place)->bucket_next;
	*place = entry->bucket_next;
	list_remove(&entry->order);
	window->count--;
	window->bursts -= entry->count > 1;
}

static struct window_entry *find_last_group(const struct group_window *window, uint64_t number)
{
	struct window_entry *entry = *window_bucket_of(window, number);
	while (entry && entry->number != number)
		entry = entry->bucket_next;
	return entry;
}

struct window_entry *group_window_find(const struct group_window *window, uint64_t number)
{
	struct window_entry *entry = find_last_group(window, number);
	/* A burst is found by its last number. If the group is in a burst, that is the number of
	 * the next open group. */
	for (uint32_t i = 1;
	     !entry && window->bursts > 0 && i < GROUP_BURST_MAX && i <= window->last - number; i++)
		entry = find_last_group(window, number + i);
	return entry && entry->number - entry->count < number ? entry : NULL;
}

uint64_t group_window_mark(const struct group_window *window)
{
	if (list_empty(&window->open))
		return window->last;
	const struct window_entry *first =
		list_entry(window->open.next, struct window_entry, order);
	return first->number - first->count;
}
