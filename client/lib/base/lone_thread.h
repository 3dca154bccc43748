/*
 * Counts that threads share, at the cost of plain words while the process has one thread. A locked
 * operation costs several nanoseconds, even if no other thread can interfere. The C library reports
 * whether there is another thread, as it does for its own mutexes. Each operation reads that
 * report. This thread starts no other one between the report and the store. Stores of ended threads
 * are visible, because a word is loaded only after the report. Not for words that another process
 * or a signal handler accesses.
 */
#ifndef SYCL_CLIENT_LONE_THREAD_H
#define SYCL_CLIENT_LONE_THREAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define LONE_THREAD_IS_KNOWN
#endif
#endif

static inline bool thread_is_alone(void)
{
#ifdef LONE_THREAD_IS_KNOWN
	return __libc_single_threaded;
#else
	return false;
#endif
}

/* As atomic_fetch_add_explicit; a negative number is added as its complement. */
static inline uint64_t word_add(_Atomic uint64_t *word, uint64_t value, memory_order order)
{
	if (!thread_is_alone())
		return atomic_fetch_add_explicit(word, value, order);
	uint64_t before = atomic_load_explicit(word, memory_order_acquire);
	atomic_store_explicit(word, before + value, memory_order_relaxed);
	return before;
}

static inline uint32_t count_add(_Atomic uint32_t *count, uint32_t value, memory_order order)
{
	if (!thread_is_alone())
		return atomic_fetch_add_explicit(count, value, order);
	uint32_t before = atomic_load_explicit(count, memory_order_acquire);
	atomic_store_explicit(count, before + value, memory_order_relaxed);
	return before;
}

/* As atomic_compare_exchange_weak_explicit; `otherwise` is the memory order on failure. */
static inline bool word_replace(_Atomic uint64_t *word, uint64_t *expected, uint64_t wanted,
				memory_order order, memory_order otherwise)
{
	if (!thread_is_alone())
		return atomic_compare_exchange_weak_explicit(word, expected, wanted, order,
							     otherwise);
	uint64_t present = atomic_load_explicit(word, memory_order_acquire);
	if (present == *expected)
		atomic_store_explicit(word, wanted, memory_order_relaxed);
	bool is_same = present == *expected;
	*expected = present;
	return is_same;
}

static inline bool count_replace(_Atomic uint32_t *count, uint32_t *expected, uint32_t wanted,
				 memory_order order, memory_order otherwise)
{
	if (!thread_is_alone())
		return atomic_compare_exchange_weak_explicit(count, expected, wanted, order,
							     otherwise);
	uint32_t present = atomic_load_explicit(count, memory_order_acquire);
	if (present == *expected)
		atomic_store_explicit(count, wanted, memory_order_relaxed);
	bool is_same = present == *expected;
	*expected = present;
	return is_same;
}

#endif
