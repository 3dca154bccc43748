/* The table in which the checking mode looks for races: the text that kernels get, compiled as C.
 * The work-items of all groups take turns at each atomic operation, fence and read of the table, as
 * on a GPU. Those of a warp go on together behind each access. */
#include "portable_check.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/types.h>
#include <ucontext.h>

TestSuite(portable_races, .timeout = 60);

static void take_turns(void);

static uint compare_exchange(uint *word, uint expected, uint desired)
{
	take_turns();
	const uint was = *word;
	if (was == expected)
		*word = desired;
	return was;
}

static void races_store_word(uint *word, uint value)
{
	take_turns();
	*word = value;
}

#define SYCL_CHECKS_
#define SYCL_GLOBAL(type) type *
#define SYCL_INLINE_      static inline
#define SYCL_NO_INLINE_   static
#define sycl_atomic_compare_exchange(word, expected, desired)                                      \
	compare_exchange(word, expected, desired)
#define sycl_atomic_store(word, value) races_store_word(word, value)
#define sycl_fence()                   take_turns()
#define SYCL_CHECK_STEP_()             take_turns()
#include "prelude/portable_races.inc"
#line 41 "portable_races.c"

enum { WARP = 32, STACK_BYTES = 32768, TILE = 0x1000, BUFFER = 0x100000 };

struct item {
	struct sycl_check_here_ here;
	uint number, items, group; /* from 0 */
	ucontext_t context;
	char *stack;
	bool has_ended;
};

static struct launch {
	void (*kernel)(struct item *item);
	struct item *items, *now;
	uint count, *arrived; /* of each group, at barriers */
	uint *behind;         /* of each warp, behind accesses */
	ucontext_t scheduler;
	uint races, lines[2];
	bool goes_on; /* behind a race */
} launch;

static void take_turns(void)
{
	swapcontext(&launch.now->context, &launch.scheduler);
}

/* Waits for the others of `items`, who count in the same word. */
static void races_wait_for_items(uint *arrived, uint items)
{
	const uint all = ++*arrived, wanted = (all + items - 1) / items * items;

	while (*arrived < wanted)
		take_turns();
}

static void barrier(struct item *item)
{
	races_wait_for_items(&launch.arrived[item->group], item->items);
	item->here.epoch++;
}

static void race_is_found(struct item *item, uint line, ulong other)
{
	launch.races++;
	launch.lines[0] = line;
	launch.lines[1] = (uint)(other >> 16) & 0xffffffu;
	if (!launch.goes_on)
		item->here.check[0] = 1;
}

static void accesses(struct item *item, ulong place, uint line, uint how)
{
	ulong other = 0;

	if (sycl_check_race_(&item->here, place, line, how | SYCL_CHECK_RACES_, &other))
		race_is_found(item, line, other);
}

/* For an access of all work-items of a group, which is a part of a warp or whole warps. */
static void all_access(struct item *item, ulong place, uint line, uint how)
{
	accesses(item, place, line, how);
	races_wait_for_items(&launch.behind[item->group * item->items + item->number / WARP],
			     item->items < WARP ? item->items : WARP);
}

static void run_item(void)
{
	launch.kernel(launch.now);
	launch.now->has_ended = true;
	take_turns();
}

static void start_items(ulong *check, uint items)
{
	for (uint i = 0; i < launch.count; i++) {
		struct item *item = &launch.items[i];
		*item = (struct item){.number = i % items,
				      .items = items,
				      .group = i / items,
				      .stack = malloc(STACK_BYTES)};
		cr_assert_not_null(item->stack);
		item->here.check = check;
		item->here.number = item->number + 1;
		item->here.group = item->group + 1;
		(void)getcontext(&item->context);
		item->context.uc_stack.ss_sp = item->stack;
		item->context.uc_stack.ss_size = STACK_BYTES;
		makecontext(&item->context, run_item, 0);
	}
}

/* Returns the number of races. `slots`: of the table; 0: as many as the engine would make. */
static uint run(void (*kernel)(struct item *item), uint groups, uint items, uint64_t slots)
{
	const uint64_t global = (uint64_t)groups * items;

	if (slots == 0)
		slots = portable_check_slot_count(&global, 1);
	ulong *check = calloc(PORTABLE_CHECK_WORDS + slots * PORTABLE_CHECK_SLOT_BYTES / 8, 8);
	launch.count = groups * items;
	launch.items = calloc(launch.count, sizeof(*launch.items));
	launch.arrived = calloc(groups, sizeof(*launch.arrived));
	launch.behind = calloc(launch.count, sizeof(*launch.behind));
	cr_assert(check && launch.items && launch.arrived && launch.behind);
	check[PORTABLE_CHECK_SLOTS] = slots;
	check[PORTABLE_CHECK_KEEPS] = portable_check_keeps(global, slots, 0);
	launch.kernel = kernel;
	launch.races = 0;
	start_items(check, items);
	for (uint left = launch.count; left > 0;) {
		left = 0;
		for (uint i = 0; i < launch.count; i++) {
			launch.now = &launch.items[i];
			if (!launch.now->has_ended)
				swapcontext(&launch.scheduler, &launch.now->context);
			left += !launch.now->has_ended;
		}
	}
	for (uint i = 0; i < launch.count; i++)
		free(launch.items[i].stack);
	free(launch.items);
	free(launch.arrived);
	free(launch.behind);
	free(check);
	return launch.races;
}

static ulong own_element(const struct item *item)
{
	return BUFFER + 4ul * (item->group * item->items + item->number);
}

static void turn(struct item *item)
{
	all_access(item, own_element(item), 4, SYCL_CHECK_READS_);
	all_access(item, TILE + 4ul * item->number, 4, SYCL_CHECK_WRITES_);
	all_access(item, TILE + 4ul * (item->items - 1 - item->number), 5, SYCL_CHECK_READS_);
	all_access(item, own_element(item), 5, SYCL_CHECK_WRITES_);
}

static void right_turn(struct item *item)
{
	for (uint i = 0; i < 3; i++) {
		all_access(item, own_element(item), 11, SYCL_CHECK_READS_);
		all_access(item, TILE + 4ul * item->number, 11, SYCL_CHECK_WRITES_);
		barrier(item);
		all_access(item, TILE + 4ul * (item->items - 1 - item->number), 13,
			   SYCL_CHECK_READS_);
		all_access(item, own_element(item), 13, SYCL_CHECK_WRITES_);
		barrier(item);
	}
}

/* All read one element, then one of them writes it. */
static void late(struct item *item)
{
	all_access(item, TILE, 42, SYCL_CHECK_READS_);
	if (item->number == 2)
		accesses(item, TILE, 44, SYCL_CHECK_WRITES_);
}

/* All change one element of a buffer. */
static void sum(struct item *item)
{
	all_access(item, BUFFER, 19, SYCL_CHECK_READS_ | SYCL_CHECK_WRITES_);
}

/* One writes, and all change the element atomically. */
static void mixed(struct item *item)
{
	if (item->number == 0)
		accesses(item, TILE, 36, SYCL_CHECK_WRITES_);
	all_access(item, TILE, 37, SYCL_CHECK_READS_ | SYCL_CHECK_WRITES_ | SYCL_CHECK_ATOMIC_);
}

/* Like `late`, with atomic accesses, which do not race with each other. */
static void counted(struct item *item)
{
	all_access(item, TILE, 1, SYCL_CHECK_READS_ | SYCL_CHECK_WRITES_ | SYCL_CHECK_ATOMIC_);
	if (item->number == 2)
		accesses(item, TILE, 2, SYCL_CHECK_WRITES_);
}

static void counts(struct item *item)
{
	for (uint i = 0; i < 3; i++)
		all_access(item, TILE, 1,
			   SYCL_CHECK_READS_ | SYCL_CHECK_WRITES_ | SYCL_CHECK_ATOMIC_);
}

/* Memory of the work-group has one address in all groups, which may run at one time. */
Test(portable_races, an_element_of_each_group_has_its_own_accesses)
{
	cr_expect_neq(run(turn, 4, 16, 0), 0);
	cr_expect_eq(launch.lines[0] + launch.lines[1], 4 + 5);
	cr_expect_neq(run(late, 4, 16, 0), 0);
	cr_expect_eq(launch.lines[0] + launch.lines[1], 42 + 44);
	cr_expect_neq(run(counted, 4, 16, 0), 0);
	cr_expect_neq(run(sum, 4, 16, 0), 0);
	cr_expect_neq(run(mixed, 4, 16, 0), 0);
	cr_expect_neq(run(turn, 64, 32, 0), 0);
	cr_expect_neq(run(late, 64, 32, 0), 0);
}

/* Of each element: a table for few launches forgets little. */
Test(portable_races, most_races_of_a_small_launch_are_found)
{
	launch.goes_on = true;
	cr_expect_gt(run(turn, 16, 16, 0), 16 * 16 * 3 / 4);
}

/* The others read the slot while the first one writes into it. */
Test(portable_races, writes_of_a_warp_to_one_element_are_found)
{
	for (uint items = 2; items <= 64; items *= 2)
		cr_expect_neq(run(sum, 1, items, 0), 0, "%u", items);
}

/* All work-items want one lock at one time. */
Test(portable_races, a_full_group_at_one_element_loses_no_race)
{
	cr_expect_neq(run(late, 1, 1024, 0), 0);
	cr_expect_neq(run(late, 2, 1024, 0), 0);
	cr_expect_neq(run(counted, 1, 1024, 0), 0);
}

/* With more work-items than slots, most elements have no slot. If each took one, fewer would be
 * kept until their next access. */
Test(portable_races, some_races_of_a_large_launch_are_found)
{
	launch.goes_on = true;
	cr_expect_gt(run(turn, 64, 32, 128), 40);
	cr_expect_gt(run(turn, 64, 32, 512), 160);
	cr_expect_gt(run(late, 64, 32, 128), 8);
}

Test(portable_races, no_right_kernel_races)
{
	cr_expect_eq(run(right_turn, 4, 16, 0), 0);
	cr_expect_eq(run(right_turn, 64, 32, 0), 0);
	cr_expect_eq(run(right_turn, 64, 32, 128), 0);
	cr_expect_eq(run(counts, 2, 256, 0), 0);
}
