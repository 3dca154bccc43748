/* Which memory of a full device is spilled first. This tests only the order, without a device. */
#include "base/spill_order.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

struct world {
	struct spill_order order;
	struct spill_entry entries[8];
};

static void enter(struct world *world, uint32_t entry, uint64_t owner, uint64_t bytes)
{
	world->order.now = ++world->order.clock;
	spill_order_enter(&world->order, &world->entries[entry], (const void *)(uintptr_t)owner,
			  bytes);
}

static void use_entry(struct world *world, uint32_t entry)
{
	world->order.now = ++world->order.clock;
	spill_order_use(&world->order, &world->entries[entry]);
}

static int choose(struct world *world, uint64_t owner, bool *waits)
{
	const struct spill_entry *entry =
		spill_order_choose(&world->order, (const void *)(uintptr_t)owner, waits);
	return entry ? (int)(entry - world->entries) : -1;
}

static void spill_order_remove_all(struct world *world)
{
	for (uint32_t i = 0; i < 8; i++)
		spill_order_leave(&world->order, &world->entries[i]);
	cr_expect(eq(u32, world->order.holder_count, 0));
	cr_expect(eq(u64, world->order.bytes, 0));
}

Test(spill, TG15_of_one_holder_the_least_recently_used)
{
	struct world world = {.entries = {{.bytes = 0}}};
	bool waits;
	spill_order_init(&world.order);
	for (uint32_t i = 0; i < 8; i++)
		enter(&world, i, 1, 10);
	static const uint32_t used[] = {3, 0, 7, 5, 0, 1, 2, 4, 6};
	static const int expected[] = {3, 7, 5, 0, 1, 2, 4, 6, -1};
	for (uint32_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		use_entry(&world, used[i]);
	world.order.clock += 1000; /* none of them is expected to be used again */
	for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		int chosen = choose(&world, 1, &waits);
		cr_assert(eq(int, chosen, expected[i]));
		cr_expect(not(waits));
		if (chosen >= 0)
			spill_order_leave(&world.order, &world.entries[chosen]);
	}
	spill_order_remove_all(&world);
}

Test(spill, TG15_first_of_those_with_more_than_their_part_then_ones_own_then_anybodys)
{
	struct world world = {.entries = {{.bytes = 0}}};
	bool waits;
	spill_order_init(&world.order);
	enter(&world, 0, 1, 30);
	enter(&world, 1, 2, 20);
	enter(&world, 2, 2, 30);
	use_entry(&world, 1);
	use_entry(&world, 2);
	world.order.clock += 1000;
	/* The part is 40. The second session has more, though the first's memory was unused for
	 * longer. */
	cr_expect(eq(int, choose(&world, 1, &waits), 1));
	spill_order_leave(&world.order, &world.entries[1]);
	/* Each has 30, so a session spills its own memory. */
	cr_expect(eq(int, choose(&world, 2, &waits), 2));
	cr_expect(eq(int, choose(&world, 1, &waits), 0));
	/* That memory is in use: it is waited for, and no other session has to give memory. */
	spill_order_unmark(&world.order);
	spill_order_mark_in_use(&world.order, &world.entries[0]);
	cr_expect(eq(int, choose(&world, 1, &waits), -1));
	cr_expect(waits);
	/* No memory will become free, so memory of any session is taken. */
	spill_order_mark_kept(&world.order, &world.entries[0]);
	cr_expect(eq(int, choose(&world, 1, &waits), 2));
	/* A third session has a part, too. */
	spill_order_unmark(&world.order);
	cr_expect(eq(int, choose(&world, 3, &waits), 0));
	spill_order_remove_all(&world);
}

/* Three are used repeatedly, in one order: the one that was used last is needed last. One that was
 * used only once is spilled before. */
Test(spill, TG15_what_is_used_again_and_again_goes_when_it_is_needed_last)
{
	struct world world = {.entries = {{.bytes = 0}}};
	bool waits;
	spill_order_init(&world.order);
	for (uint32_t i = 0; i < 4; i++)
		enter(&world, i, 1, 10);
	for (uint32_t i = 0; i < 6; i++)
		use_entry(&world, i % 3);
	cr_expect(eq(int, choose(&world, 1, &waits), 3));
	spill_order_leave(&world.order, &world.entries[3]);
	cr_expect(eq(int, choose(&world, 1, &waits), 2));
	use_entry(&world, 0);
	cr_expect(eq(int, choose(&world, 1, &waits), 0));
	/* The memory was unused for so long that no use is expected any more: it counts as used
	 * once. */
	for (uint32_t i = 0; i < 20; i++)
		use_entry(&world, 1 + i % 2);
	cr_expect(eq(int, choose(&world, 1, &waits), 0));
	spill_order_remove_all(&world);
}

Test(spill, TG15_what_stands_in_line_goes_last_and_nobodys_ahead_of_those_who_need_it_sooner)
{
	struct world world = {.entries = {{.bytes = 0}}};
	bool waits;
	spill_order_init(&world.order);
	for (uint32_t i = 0; i < 4; i++)
		enter(&world, i, 1, 10);
	static const uint32_t line[] = {2, 0, 2, 3, 1, 0};
	spill_order_line(&world.order);
	for (uint32_t i = 0; i < 6; i++) {
		spill_order_next(&world.order);
		spill_order_expect(&world.order, &world.entries[line[i]]);
	}
	cr_expect(eq(int, choose(&world, 1, &waits), 1),
		  "the fifth is the last that is needed first");
	cr_expect(eq(ptr, spill_order_choose_ahead(&world.order, (void *)1, 4), &world.entries[1]));
	cr_expect(eq(ptr, spill_order_choose_ahead(&world.order, (void *)1, 5), NULL));
	/* In a new line the least recently used of all is spilled. */
	spill_order_line(&world.order);
	cr_expect(eq(int, choose(&world, 1, &waits), 0));
	/* Memory of a session within its part is not spilled ahead of time for another session. */
	cr_expect(eq(ptr, spill_order_choose_ahead(&world.order, (void *)2, 1), &world.entries[0]),
		  "40 is more than 20");
	enter(&world, 4, 2, 40);
	cr_expect(eq(ptr, spill_order_choose_ahead(&world.order, (void *)3, 1), &world.entries[0]),
		  "40 is more than 26");
	enter(&world, 5, 3, 1000);
	cr_expect(eq(ptr, spill_order_choose_ahead(&world.order, (void *)3, 1), &world.entries[5]));
	spill_order_leave(&world.order, &world.entries[5]);
	spill_order_remove_all(&world);
}
