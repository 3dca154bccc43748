#include "base/pool.h"

#include <errno.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__clang__)
#include <sanitizer/asan_interface.h> /* empty where there is no AddressSanitizer */
#else
#define ASAN_POISON_MEMORY_REGION(address, bytes)   ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

/*
 * All but the link is poisoned: LeakSanitizer does not read poisoned memory, and would report the
 * next spare as a leak.
 */
static void hide_spare(const struct pool *pool, struct pool_spare *spare)
{
	ASAN_POISON_MEMORY_REGION(spare + 1, pool->bytes - sizeof(*spare));
}

static void show_spare(const struct pool *pool, struct pool_spare *spare)
{
	ASAN_UNPOISON_MEMORY_REGION(spare, pool->bytes);
}

void pool_init(struct pool *pool, size_t bytes, size_t alignment, uint32_t few)
{
	*pool = (struct pool){.limit = few,
			      .few = few,
			      .bytes = (bytes + alignment - 1) & ~(alignment - 1),
			      .alignment = alignment};
}

static void keep_spare(struct pool *pool, void *object)
{
	struct pool_spare *spare = object;
	spare->next = pool->first;
	hide_spare(pool, spare);
	pool->first = spare;
	pool->spare++;
}

static struct pool_spare *take_spare(struct pool *pool)
{
	struct pool_spare *spare = pool->first;
	show_spare(pool, spare);
	pool->first = spare->next;
	pool->spare--;
	return spare;
}

static void *allocate_piece(const struct pool *pool)
{
	return pool->alignment > _Alignof(max_align_t) ? aligned_alloc(pool->alignment, pool->bytes)
						       : malloc(pool->bytes);
}

/* Frees `most` at most. */
static void trim_spares(struct pool *pool, uint32_t count, uint32_t most)
{
	for (; most > 0 && pool->spare > 0 && pool->spare + pool->used > count; most--)
		free(take_spare(pool));
}

void pool_fini(struct pool *pool)
{
	while (pool->spare > 0)
		free(take_spare(pool));
}

static void pool_note_need(struct pool *pool, uint32_t count)
{
	if (count <= pool->peak)
		return;
	pool->peak = count;
	if (count > pool->limit)
		pool->limit = count;
}

void *pool_take_slowly(struct pool *pool)
{
	void *object = pool->spare > 0 ? take_spare(pool) : allocate_piece(pool);
	if (object)
		pool_note_need(pool, ++pool->used);
	return object;
}

/* Ends the window between two idle periods. */
static void pool_note_peak(struct pool *pool)
{
	struct pool_window *window = &pool->windows[0];
	if (pool->peak > window->most) {
		window->again = window->most;
		window->most = pool->peak;
	} else if (pool->peak > window->again) {
		window->again = pool->peak;
	}
	pool->peak = pool->used;
}

static uint32_t pool_larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t pool_smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void end_need_window(struct pool *pool)
{
	pool->windows[1] = pool->windows[0];
	pool->windows[0] = (struct pool_window){0, 0};
	pool->returns = 0;
	pool->limit = pool_larger(pool_larger(pool->windows[1].most, pool->peak), pool->few);
}

void pool_give_slowly(struct pool *pool, void *object)
{
	if (++pool->returns >= POOL_WINDOW_RETURNS) {
		pool_note_peak(pool);
		end_need_window(pool);
	}
	/* Objects that come back are freed one by one until the pool is down to the recent need. */
	if (pool->spare + pool->used > pool->limit && pool->spare >= pool->few)
		free(object);
	else
		keep_spare(pool, object);
	pool->used--;
}

int pool_reserve_slowly(struct pool *pool, uint32_t count)
{
	while (pool->spare < count) {
		void *object = allocate_piece(pool);
		if (!object)
			return -ENOMEM;
		keep_spare(pool, object);
	}
	/* A caller that reserved so many objects may do so again. */
	pool_note_need(pool, pool->used + pool_smaller(count, POOL_RESERVE_FACTOR * pool->few));
	return 0;
}

void pool_trim_slowly(struct pool *pool)
{
	trim_spares(pool, pool_larger(pool->limit, pool->used + POOL_RESERVE_FACTOR * pool->few),
		    UINT32_MAX);
}

/*
 * The highest count of both windows that was needed more than once. A quarter of it counts as
 * another need, because the open part of a stream varies with the speed of both ends.
 */
static uint32_t count_needed_again(const struct pool *pool)
{
	const struct pool_window *now = &pool->windows[0], *before = &pool->windows[1];
	uint32_t second = pool_larger(pool_smaller(now->most, before->most),
				      pool_larger(now->again, before->again));
	return second > UINT32_MAX / POOL_ALIKE
		       ? second
		       : pool_smaller(pool_larger(now->most, before->most), POOL_ALIKE * second);
}

bool pool_trim_idle(struct pool *pool, uint64_t now_ns)
{
	/* While most objects are in use, the thread is not idle: it waits for devices. */
	if (!pool_is_large(pool) || pool->used > pool->limit / 4)
		return false;
	uint64_t age_ns = now_ns - pool->window_ns;
	if (age_ns >= POOL_WINDOW_NS) {
		end_need_window(pool);
		if (age_ns >= 2 * POOL_WINDOW_NS)
			end_need_window(pool);
		pool->window_ns = now_ns;
	}
	pool_note_peak(pool); /* the peak of the new window, if one has just begun */
	uint32_t count = pool_smaller(pool_larger(count_needed_again(pool), pool->few),
				      POOL_IDLE_FACTOR * pool->few);
	trim_spares(pool, count, POOL_TRIM_AT_ONCE);
	return pool->spare > 0 && pool->spare + pool->used > count;
}
