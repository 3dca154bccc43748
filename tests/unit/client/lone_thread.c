/* Counts that are plain words while there is one thread. They give the results of locked ones, and
 * no count is lost once there are two threads. */
#include "base/lone_thread.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <pthread.h>

enum { ROUNDS = 200000 };

TestSuite(client_lone_thread, .timeout = 60);

Test(client_lone_thread, words_and_counts_answer_as_locked_ones_do)
{
	_Atomic uint64_t word = UINT64_MAX;
	_Atomic uint32_t count = 7;
	cr_assert(eq(u64, word_add(&word, 2, memory_order_relaxed), UINT64_MAX));
	cr_assert(eq(u64, word_add(&word, -1ull, memory_order_acq_rel), 1));
	cr_assert(eq(u64, word, 0));
	cr_assert(eq(u32, count_add(&count, -1u, memory_order_acq_rel), 7));
	cr_assert(eq(u32, count, 6));
}

Test(client_lone_thread, a_word_is_replaced_only_where_it_is_what_was_expected)
{
	_Atomic uint64_t word = 5;
	_Atomic uint32_t count = 5;
	uint64_t expected = 4;
	uint32_t counted = 4;
	cr_assert(
		not(word_replace(&word, &expected, 9, memory_order_acquire, memory_order_acquire)));
	cr_assert(not(
		count_replace(&count, &counted, 9, memory_order_acquire, memory_order_acquire)));
	cr_assert(eq(u64, expected, 5));
	cr_assert(eq(u32, counted, 5));
	cr_assert(eq(u64, word, 5));
	cr_assert(eq(u32, count, 5));
	while (!word_replace(&word, &expected, 9, memory_order_acquire, memory_order_acquire)) {
	}
	while (!count_replace(&count, &counted, 9, memory_order_acquire, memory_order_acquire)) {
	}
	cr_assert(eq(u64, word, 9));
	cr_assert(eq(u32, count, 9));
}

struct shared {
	_Atomic uint64_t added, replaced;
	_Atomic uint32_t counted, exchanged;
	pthread_barrier_t both_here;
	_Atomic uint32_t
		alone; /* how often the process seemed to have one thread although there were two */
};

static void *count_in_thread(void *context)
{
	struct shared *shared = context;
	(void)pthread_barrier_wait(&shared->both_here);
	atomic_fetch_add(&shared->alone, thread_is_alone());
	(void)pthread_barrier_wait(&shared->both_here);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		(void)word_add(&shared->added, 1, memory_order_relaxed);
		(void)count_add(&shared->counted, 1, memory_order_relaxed);
		uint64_t word = atomic_load(&shared->replaced);
		while (!word_replace(&shared->replaced, &word, word + 1, memory_order_relaxed,
				     memory_order_relaxed)) {
		}
		uint32_t count = atomic_load(&shared->exchanged);
		while (!count_replace(&shared->exchanged, &count, count + 1, memory_order_relaxed,
				      memory_order_relaxed)) {
		}
	}
	return NULL;
}

Test(client_lone_thread, nothing_is_lost_between_two_threads)
{
	struct shared shared = {.added = 0};
	pthread_t other;
	cr_assert(eq(int, pthread_barrier_init(&shared.both_here, NULL, 2), 0));
	cr_assert(eq(int, pthread_create(&other, NULL, count_in_thread, &shared), 0));
	(void)count_in_thread(&shared);
	(void)pthread_join(other, NULL);
	(void)pthread_barrier_destroy(&shared.both_here);
	cr_assert(eq(u32, shared.alone, 0));
	cr_assert(eq(u64, shared.added, 2ull * ROUNDS));
	cr_assert(eq(u64, shared.replaced, 2ull * ROUNDS));
	cr_assert(eq(u32, shared.counted, 2u * ROUNDS));
	cr_assert(eq(u32, shared.exchanged, 2u * ROUNDS));
}
