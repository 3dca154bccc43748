/*
 * Keeps freed objects of one size for reuse, so that a steady stream allocates nothing.
 *
 * A pool never keeps more objects than were in use at one time recently: in this window or the one
 * before. A window ends after ten seconds, or after a million returned objects. An amount that was
 * needed only once is freed as soon as the thread is idle (pool_trim_idle). Memory for a burst is
 * kept while such bursts come again, not after a single one. A few objects are kept in any case.
 *
 * The pool has no clock and no timer: its owner calls pool_trim_idle before it sleeps. When a
 * repeated load stops for good, up to POOL_IDLE_FACTOR times the few remain until the owner runs
 * again.
 *
 * One thread. Under AddressSanitizer spare objects are poisoned.
 */
#ifndef SYCL_ENGINE_POOL_H
#define SYCL_ENGINE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define POOL_WINDOW_NS      10000000000ull
#define POOL_WINDOW_RETURNS (1u << 20)
/* While the owner is idle, a pool keeps at most `few` times this many objects. */
#define POOL_IDLE_FACTOR 48u
#define POOL_ALIKE       4u /* counts that differ by no more than this factor are alike */
#define POOL_RESERVE_FACTOR                                                                        \
	8u /* of `few`: most that is kept of what was reserved and not taken                       \
	    */
/* Objects that one call of pool_trim_idle frees; takes some 50 to 150 us. */
#define POOL_TRIM_AT_ONCE 512u

#if defined(__SANITIZE_ADDRESS__)
#define POOL_POISONS true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_POISONS true
#endif
#endif
#ifndef POOL_POISONS
#define POOL_POISONS false
#endif

/* The first word of a spare object. */
struct pool_spare {
	struct pool_spare *next;
};

/* The two highest peaks of use, each between two times at which the owner was idle. */
struct pool_window {
	uint32_t most, again;
};

struct pool {
	struct pool_spare *first;
	uint32_t spare, used;
	/* While spare and used objects are more than this, an object that comes back is freed. */
	uint32_t limit;
	uint32_t peak; /* the most in use since the last rest; at most `limit` */
	uint32_t few;
	uint32_t returns; /* objects that came back in this window */
	size_t bytes, alignment;
	struct pool_window windows[2]; /* this window and the previous one */
	uint64_t window_ns;            /* when this window began */
};

/* `alignment`: a power of two. `bytes`: at least those of a pointer. `few`: how many are kept in
 * any case. */
void pool_init(struct pool *pool, size_t bytes, size_t alignment, uint32_t few);
/* Frees the spare objects. Objects in use are the caller's, which may free() them. */
void pool_fini(struct pool *pool);
/*
 * The caller is about to sleep. Gives back what was not needed lately if most of what was in use
 * has come back, a part at a time. True: there is more, call again soon. `now_ns`: CLOCK_MONOTONIC.
 */
bool pool_trim_idle(struct pool *pool, uint64_t now_ns);

/* The slow paths of the inline functions below. */
void *pool_take_slowly(struct pool *pool);
void pool_give_slowly(struct pool *pool, void *object);
int pool_reserve_slowly(struct pool *pool, uint32_t count);
void pool_trim_slowly(struct pool *pool);

/* Contents are of no meaning. NULL: no memory. */
static inline void *pool_take(struct pool *pool)
{
	struct pool_spare *spare = pool->first;
	if (POOL_POISONS || !spare || pool->used >= pool->peak)
		return pool_take_slowly(pool);
	pool->first = spare->next;
	pool->spare--;
	pool->used++;
	return spare;
}

static inline void pool_give(struct pool *pool, void *object)
{
	struct pool_spare *spare = object;
	if (POOL_POISONS || pool->returns + 1 >= POOL_WINDOW_RETURNS ||
	    pool->spare + pool->used > pool->limit) {
		pool_give_slowly(pool, object);
		return;
	}
	pool->returns++;
	spare->next = pool->first;
	pool->first = spare;
	pool->spare++;
	pool->used--;
}

/* Makes sure that `count` calls of pool_take cannot fail. 0 or -ENOMEM. */
static inline int pool_reserve(struct pool *pool, uint32_t count)
{
	if (count <= pool->spare && count <= pool->peak - pool->used)
		return 0;
	return pool_reserve_slowly(pool, count);
}

/* Called when the caller did not take all that it had reserved. */
static inline void pool_trim(struct pool *pool)
{
	if (pool->spare > POOL_RESERVE_FACTOR * pool->few)
		pool_trim_slowly(pool);
}

/* True if pool_trim_idle may have work. */
static inline bool pool_is_large(const struct pool *pool)
{
	return pool->limit > pool->few;
}

#endif
