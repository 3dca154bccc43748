/* Memory that is kept for later use: as much as was needed recently, and no more for long. */
#include "base/pool.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

enum { FEW = 16, BYTES = 48, BURST = 300, BURST_LARGE = 100 * FEW };

#define SECOND 1000000000ull

static struct pool pool;
static void *taken[BURST_LARGE];

static void setup_pool(void)
{
	pool_init(&pool, BYTES, 16, FEW);
}

static void finish_pool(void)
{
	cr_assert(eq(u32, pool.used, 0));
	pool_fini(&pool);
	cr_assert(eq(u32, pool.spare, 0));
}

TestSuite(pool, .timeout = 20, .init = setup_pool);

static void take_blocks(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		taken[i] = pool_take(&pool);
		cr_assert(ne(ptr, taken[i], NULL));
		memset(taken[i], (int)i, BYTES);
	}
}

static void give_blocks(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		pool_give(&pool, taken[i]);
}

static void burst(uint32_t count)
{
	take_blocks(count);
	give_blocks(count);
}

static void rest(uint64_t now_ns)
{
	for (int calls = 0; pool_trim_idle(&pool, now_ns); calls++)
		cr_assert(lt(int, calls, 2 + BURST_LARGE / (int)POOL_TRIM_AT_ONCE));
}

Test(pool, TC4_a_few_are_kept_in_any_case)
{
	burst(FEW);
	rest(SECOND);
	cr_expect(eq(u32, pool.spare, FEW));
	cr_expect(not(pool_is_large(&pool)));
	/* The block that was returned last is taken first, because it is in the cache. */
	void *last = taken[FEW - 1];
	cr_expect(eq(ptr, pool_take(&pool), last));
	pool_give(&pool, last);
	finish_pool();
}

Test(pool, TC4_as_many_are_kept_as_were_in_use_at_a_time)
{
	burst(BURST);
	cr_expect(eq(u32, pool.spare, BURST));
	burst(BURST / 2);
	burst(BURST);
	cr_expect(eq(u32, pool.spare, BURST));
	finish_pool();
}

Test(pool, TC7_after_one_burst_nothing_is_kept_but_the_few)
{
	burst(BURST);
	rest(SECOND);
	cr_expect(eq(u32, pool.spare, FEW));
	finish_pool();
}

Test(pool, TC4_what_is_needed_again_and_again_is_kept)
{
	burst(BURST);
	rest(SECOND);
	burst(BURST);
	rest(2 * SECOND);
	cr_expect(eq(u32, pool.spare, BURST));
	for (uint64_t i = 0; i < 100; i++) {
		take_blocks(BURST);
		cr_assert(eq(u32, pool.spare, 0), "round %lu", i);
		give_blocks(BURST);
		rest(2 * SECOND + i * SECOND / 4);
		cr_assert(eq(u32, pool.spare, BURST), "round %lu", i);
	}
	finish_pool();
}

Test(pool, TC4_small_work_between_bursts_does_not_lose_it)
{
	for (uint64_t i = 0; i < 5; i++) {
		burst(BURST);
		rest(i * SECOND);
		for (int trip = 0; trip < 1000; trip++) {
			burst(1);
			rest(i * SECOND);
		}
	}
	cr_expect(eq(u32, pool.spare, BURST));
	finish_pool();
}

Test(pool, TC7_it_falls_when_bursts_come_no_more)
{
	for (uint64_t i = 1; i <= 3; i++) {
		burst(BURST);
		rest(i * SECOND);
	}
	cr_expect(eq(u32, pool.spare, BURST));
	burst(1);
	rest(3 * SECOND + POOL_WINDOW_NS);
	burst(1);
	rest(3 * SECOND + 2 * POOL_WINDOW_NS);
	cr_expect(eq(u32, pool.spare, FEW));
	cr_expect(not(pool_is_large(&pool)));
	finish_pool();
}

Test(pool, TC7_it_falls_at_once_after_a_long_silence)
{
	for (uint64_t i = 1; i <= 3; i++) {
		burst(BURST);
		rest(i * SECOND);
	}
	burst(1);
	rest(3 * SECOND + 3 * POOL_WINDOW_NS);
	cr_expect(eq(u32, pool.spare, FEW));
	finish_pool();
}

Test(pool, TC7_it_falls_without_any_rest)
{
	burst(BURST);
	/* The pool is never idle, and there are never more than a few at a time. */
	for (uint32_t i = 0; i < 2 * POOL_WINDOW_RETURNS + BURST; i++)
		burst(1);
	/* Chunks are freed one after the other, as blocks come back. */
	cr_expect(eq(u32, pool.spare, FEW));
	finish_pool();
}

Test(pool, TC4_waiting_for_what_is_in_use_is_no_rest)
{
	take_blocks(BURST);
	give_blocks(BURST / 2);
	cr_expect(not(pool_trim_idle(&pool, SECOND)));
	cr_expect(eq(u32, pool.spare, BURST / 2));
	for (uint32_t i = BURST / 2; i < BURST; i++)
		pool_give(&pool, taken[i]);
	finish_pool();
}

Test(pool, TC7_a_few_that_stay_in_use_keep_nothing_else)
{
	take_blocks(BURST);
	for (uint32_t i = 5; i < BURST; i++)
		pool_give(&pool, taken[i]);
	rest(SECOND);
	cr_expect(eq(u32, pool.spare + pool.used, FEW));
	give_blocks(5);
	finish_pool();
}

Test(pool, there_is_a_bound_for_what_rests)
{
	for (uint64_t i = 1; i <= 3; i++) {
		burst(BURST_LARGE);
		cr_expect(eq(u32, pool.spare, BURST_LARGE));
		rest(i * SECOND);
	}
	cr_expect(eq(u32, pool.spare, POOL_IDLE_FACTOR * FEW));
	finish_pool();
}

Test(pool, TC8_a_rest_is_short)
{
	burst(BURST_LARGE);
	uint32_t before = pool.spare;
	cr_expect(pool_trim_idle(&pool, SECOND));
	cr_expect(eq(u32, pool.spare, before - POOL_TRIM_AT_ONCE));
	rest(SECOND);
	cr_expect(eq(u32, pool.spare, FEW));
	finish_pool();
}

Test(pool, what_was_reserved_and_not_taken_goes)
{
	cr_assert(eq(int, pool_reserve(&pool, BURST_LARGE), 0));
	cr_expect(eq(u32, pool.spare, BURST_LARGE));
	pool_trim(&pool);
	cr_expect(eq(u32, pool.spare, POOL_RESERVE_FACTOR * FEW));
	/* If it is reserved repeatedly, it stays. */
	for (uint64_t i = 1; i <= 3; i++) {
		cr_assert(eq(int, pool_reserve(&pool, 2 * FEW), 0));
		pool_trim(&pool);
		rest(i * SECOND);
	}
	cr_expect(eq(u32, pool.spare, 2 * FEW));
	finish_pool();
}

Test(pool, TC4_objects_are_aligned_and_do_not_overlap)
{
	struct pool wide;
	pool_init(&wide, 100, 64, 4);
	unsigned char *objects[8];
	for (int i = 0; i < 8; i++) {
		objects[i] = pool_take(&wide);
		cr_assert(eq(u64, (uintptr_t)objects[i] % 64, 0));
		memset(objects[i], i, 100);
	}
	for (int i = 0; i < 8; i++)
		for (int at = 0; at < 100; at++)
			cr_assert(eq(int, objects[i][at], i));
	for (int i = 0; i < 8; i++)
		pool_give(&wide, objects[i]);
	pool_fini(&wide);
}
