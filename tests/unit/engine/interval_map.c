/* Ranges of bytes and their values. tests/fuzz/interval_map.c compares with one value for each
 * byte. */
#include "base/interval_map.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>

TestSuite(intervals, .timeout = 10);

enum { BYTES = 100, NODES = 16 };

struct node {
	struct interval interval;
	int value;
};

static struct interval_map map;
static struct node first, nodes[NODES];
static uint32_t taken, given;

static struct interval *take_node(void *context)
{
	(void)context;
	cr_assert(lt(u32, taken, NODES));
	return &nodes[taken++].interval;
}

static void give_node(void *context, struct interval *interval)
{
	(void)context;
	(void)interval;
	given++;
}

static struct node *node_of(struct interval *interval)
{
	return (struct node *)(void *)interval;
}

static void copy_value(void *context, struct interval *upper, struct interval *lower)
{
	(void)context;
	node_of(upper)->value = node_of(lower)->value;
}

static bool equal(const struct interval *lower, const struct interval *upper)
{
	return ((const struct node *)(const void *)lower)->value ==
	       ((const struct node *)(const void *)upper)->value;
}

static const struct interval_ops ops = {
	.take = take_node, .give = give_node, .copy = copy_value, .equal = equal};

static void begin_map(void)
{
	taken = given = 0;
	first = (struct node){.value = 0};
	interval_map_init(&map, &first.interval, BYTES);
}

static void cut(uint64_t at)
{
	uint32_t index = interval_map_find(&map, at);
	if (!interval_map_divides(&map, index, at))
		return;
	cr_assert(eq(int, interval_map_reserve(&map, 1), 0));
	interval_map_cut(&map, index, at, &ops, NULL);
}

static void interval_map_set_range(uint64_t from, uint64_t to, int value)
{
	const struct interval range = {.begin = from, .end = to};
	cut(from);
	cut(to);
	struct interval_run run = interval_map_run(&map, &range);
	for (uint32_t i = run.first; i < run.end; i++)
		node_of(interval_map_get(&map, i))->value = value;
	interval_map_join(&map, interval_map_run(&map, &range), &ops, NULL);
}

/* Compares all of them, as begin, end, value, begin, end, value ... */
static void expect_intervals(uint32_t count, const uint64_t (*expected)[3])
{
	cr_assert(eq(u32, map.count, count));
	for (uint32_t i = 0; i < count; i++) {
		const struct interval *interval = interval_map_get(&map, i);
		cr_expect(eq(u64, interval->begin, expected[i][0]), "%u", i);
		cr_expect(eq(u64, interval->end, expected[i][1]), "%u", i);
		cr_expect(eq(int, node_of(interval_map_get(&map, i))->value, (int)expected[i][2]),
			  "%u", i);
	}
}

#define EXPECT(...)                                                                                \
	do {                                                                                       \
		static const uint64_t expected[][3] = {__VA_ARGS__};                               \
		expect_intervals(sizeof(expected) / sizeof(expected[0]), expected);                \
	} while (0)

Test(intervals, one_interval_needs_no_table)
{
	begin_map();
	EXPECT({0, 100, 0});
	interval_map_set_range(0, 100, 3);
	EXPECT({0, 100, 3});
	cr_expect(eq(ptr, map.table, &map.only));
	cr_expect(eq(u32, taken, 0));
	interval_map_fini(&map, &ops, NULL);
}

Test(intervals, C10_ranges_overlap_when_they_share_a_byte)
{
	static const struct {
		struct interval a, b;
		bool overlap;
	} cases[] = {
		{{10, 20}, {10, 20}, true}, /* equal */
		{{10, 20}, {12, 15}, true}, /* contained */
		{{12, 15}, {10, 20}, true}, /* containing */
		{{10, 20}, {15, 25}, true},
		{{10, 20}, {19, 20}, true},
		{{10, 20}, {20, 30}, false}, /* touching */
		{{10, 20}, {0, 10}, false},
		{{10, 20}, {40, 50}, false},
		{{10, 20}, {15, 15}, false}, /* empty */
		{{10, 20}, {10, 10}, false},
		{{15, 15}, {15, 15}, false},
		{{0, UINT64_MAX}, {UINT64_MAX - 1, UINT64_MAX}, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect(eq(int, interval_overlap(&cases[i].a, &cases[i].b), cases[i].overlap),
			  "%zu", i);
		cr_expect(eq(int, interval_overlap(&cases[i].b, &cases[i].a), cases[i].overlap),
			  "%zu", i);
	}
}

Test(intervals, a_part_is_cut_out_and_overwritten)
{
	begin_map();
	interval_map_set_range(20, 40, 1);
	EXPECT({0, 20, 0}, {20, 40, 1}, {40, 100, 0});
	interval_map_set_range(30, 60, 2);
	EXPECT({0, 20, 0}, {20, 30, 1}, {30, 60, 2}, {60, 100, 0});
	interval_map_set_range(25, 26, 2);
	EXPECT({0, 20, 0}, {20, 25, 1}, {25, 26, 2}, {26, 30, 1}, {30, 60, 2}, {60, 100, 0});
	interval_map_set_range(10, 90, 0);
	EXPECT({0, 100, 0});
	cr_expect(eq(u32, taken, given));
	interval_map_fini(&map, &ops, NULL);
}

Test(intervals, equal_neighbours_become_one_also_outside_the_range)
{
	begin_map();
	interval_map_set_range(0, 10, 1);
	interval_map_set_range(20, 30, 1);
	interval_map_set_range(10, 20, 1);
	EXPECT({0, 30, 1}, {30, 100, 0});
	interval_map_set_range(30, 100, 1);
	EXPECT({0, 100, 1});
	interval_map_fini(&map, &ops, NULL);
}

static void expect_run(uint64_t from, uint64_t to, uint32_t run_first, uint32_t run_end)
{
	const struct interval range = {.begin = from, .end = to};
	struct interval_run run = interval_map_run(&map, &range);
	cr_expect(eq(u32, run.end - run.first, run_end - run_first), "[%u, %u)", (unsigned)from,
		  (unsigned)to);
	if (run_end > run_first)
		cr_expect(eq(u32, run.first, run_first), "[%u, %u)", (unsigned)from, (unsigned)to);
}

Test(intervals, C10_only_those_that_share_a_byte_are_visited)
{
	begin_map();
	interval_map_set_range(20, 40, 1);
	interval_map_set_range(40, 60, 2);
	expect_run(20, 40, 1, 2);
	expect_run(19, 40, 0, 2);
	expect_run(20, 41, 1, 3);
	expect_run(40, 41, 2, 3);
	expect_run(39, 40, 1, 2);
	expect_run(0, 100, 0, 4);
	expect_run(40, 40, 0, 0);
	expect_run(100, 200, 0, 0);
	expect_run(99, 200, 3, 4);
	cr_expect(interval_map_is_one(&map, &(struct interval){20, 40}));
	cr_expect(interval_map_is_one(&map, &(struct interval){60, 100}));
	cr_expect(not(interval_map_is_one(&map, &(struct interval){20, 41})));
	cr_expect(not(interval_map_is_one(&map, &(struct interval){20, 60})));
	cr_expect(not(interval_map_is_one(&map, &(struct interval){21, 40})));
	cr_expect(not(interval_map_is_one(&map, &(struct interval){60, 200})));
	interval_map_fini(&map, &ops, NULL);
	cr_expect(eq(u32, given, 3));
}

Test(intervals, a_cut_changes_no_value_and_is_not_made_at_a_bound)
{
	begin_map();
	interval_map_set_range(0, 50, 4);
	cut(25);
	EXPECT({0, 25, 4}, {25, 50, 4}, {50, 100, 0});
	cut(25);
	cut(0);
	cut(100);
	cut(500);
	cr_expect(eq(u32, map.count, 3));
	interval_map_fini(&map, &ops, NULL);
	EXPECT({0, 25, 4});
}

Test(intervals, what_cannot_be_reserved_changes_nothing)
{
	begin_map();
	interval_map_set_range(20, 40, 1);
	cr_expect(eq(int, interval_map_reserve(&map, UINT32_MAX), -ENOMEM));
	EXPECT({0, 20, 0}, {20, 40, 1}, {40, 100, 0});
	interval_map_fini(&map, &ops, NULL);
}
