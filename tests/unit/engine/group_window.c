#include "base/group_window.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

TestSuite(group_window, .timeout = 20);

Test(group_window, B21_the_mark_follows_the_oldest_open_group)
{
	struct group_window window;
	struct window_entry groups[7];
	group_window_init(&window);
	cr_assert(eq(u64, group_window_mark(&window), 0));
	for (int i = 0; i < 7; i++)
		group_window_open(&window, &groups[i]);
	cr_assert(eq(u64, window.last, 7));
	cr_assert(eq(u64, group_window_mark(&window), 0));
	group_window_close(&window, &groups[1]);
	cr_assert(eq(u64, group_window_mark(&window), 0), "group 1 is open");
	group_window_close(&window, &groups[0]);
	cr_assert(eq(u64, group_window_mark(&window), 2));
	group_window_close(&window, &groups[6]);
	group_window_close(&window, &groups[3]);
	cr_assert(eq(u64, group_window_mark(&window), 2));
	group_window_close(&window, &groups[2]);
	cr_assert(eq(u64, group_window_mark(&window), 4));
	group_window_close(&window, &groups[5]);
	group_window_close(&window, &groups[4]);
	cr_assert(eq(u64, group_window_mark(&window), 7));
	group_window_fini(&window);
}

Test(group_window, a_refused_group_takes_its_number)
{
	struct group_window window;
	struct window_entry open;
	group_window_init(&window);
	group_window_skip(&window);
	cr_assert(eq(u64, group_window_mark(&window), 1));
	group_window_open(&window, &open);
	group_window_skip(&window);
	cr_assert(eq(u64, open.number, 2));
	cr_assert(eq(u64, group_window_mark(&window), 1));
	group_window_close(&window, &open);
	cr_assert(eq(u64, group_window_mark(&window), 3));
	group_window_fini(&window);
}

Test(group_window, agrees_with_a_plain_model)
{
	enum { GROUPS = 3000 };
	static struct window_entry groups[GROUPS];
	static bool open[GROUPS];
	struct group_window window;
	group_window_init(&window);
	uint32_t seed = 1, made = 0, left = 0;
	for (int step = 0; step < 20000; step++) {
		seed = seed * 1664525u + 1013904223u;
		if (made < GROUPS && (seed >> 16) % 3 != 0) {
			group_window_open(&window, &groups[made]);
			cr_assert(eq(u64, groups[made].number, made + 1));
			open[made++] = true;
			left++;
		} else if (made > 0) {
			uint32_t which = (seed >> 8) % made;
			if (open[which]) {
				group_window_close(&window, &groups[which]);
				open[which] = false;
				left--;
			}
		}
		uint64_t mark = 0;
		while (mark < made && !open[mark])
			mark++;
		cr_assert(eq(u64, group_window_mark(&window), mark));
		cr_assert(eq(u32, window.count, left));
		uint32_t probe = seed % (GROUPS + 10);
		struct window_entry *expected = probe < made && open[probe] ? &groups[probe] : NULL;
		cr_assert(eq(ptr, group_window_find(&window, probe + 1), expected));
	}
	cr_assert(gt(u32, window.bucket_count, GROUP_WINDOW_FIRST_BUCKETS));
	group_window_fini(&window);
}

Test(group_window, TG2_a_burst_is_one_entry_for_all_its_numbers)
{
	enum { ENTRIES = 600, NUMBERS = ENTRIES * GROUP_BURST_MAX };
	static struct window_entry entries[ENTRIES];
	static struct window_entry *of[NUMBERS + 40]; /* by number; NULL: complete */
	struct group_window window;
	group_window_init(&window);
	uint32_t seed = 7, made = 0;
	uint64_t last = 0;
	for (int step = 0; step < 6000; step++) {
		seed = seed * 1664525u + 1013904223u;
		if (made < ENTRIES && (seed >> 16) % 3 != 0) {
			uint32_t count = (seed >> 20) % 2 ? GROUP_BURST_MAX
							  : 1 + (seed >> 24) % GROUP_BURST_MAX;
			group_window_open_burst(&window, &entries[made], count);
			for (uint32_t i = 0; i < count; i++)
				of[++last] = &entries[made];
			cr_assert(eq(u64, entries[made].number, last));
			made++;
		} else if (made > 0) {
			struct window_entry *entry = &entries[(seed >> 8) % made];
			if (of[entry->number] == entry) {
				group_window_close(&window, entry);
				for (uint32_t i = 0; i < entry->count; i++)
					of[entry->number - i] = NULL;
			}
		}
		uint64_t mark = 0;
		while (mark < last && !of[mark + 1])
			mark++;
		cr_assert(eq(u64, group_window_mark(&window), mark));
		cr_assert(eq(u64, window.last, last));
		uint64_t probe = 1 + (seed >> 4) % (last + 20);
		cr_assert(eq(ptr, group_window_find(&window, probe),
			     probe <= last ? of[probe] : NULL));
	}
	group_window_fini(&window);
}
