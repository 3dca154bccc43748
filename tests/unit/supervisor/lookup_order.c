/*
 * The order of look-ups while the user database is slow for invented uids, such as those of a user
 * with subordinate uids. Here it answers about uids from SLOW on when the gate opens, which is
 * after each test. A uid that is answered before that has waited for none of them.
 */
#include "base/user_lookup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { SLOW = 1000000000, BLOCK = 65536, USER = 2, FLOOD = 600, BLOCKS = 40 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the next two */
static pthread_cond_t gate = PTHREAD_COND_INITIALIZER;
static bool is_open;
static uv_loop_t loop;
static unsigned slow_begun, slow_answered;
static unsigned released; /* of block SLOW, before the gate opens; `mutex` guards it, too */

void user_question_answer(const struct user_question *question, struct user_answer *answer_out)
{
	memset(answer_out, 0, sizeof(*answer_out));
	(void)pthread_mutex_lock(&mutex);
	bool is_slow = question->uid >= SLOW && !question->was_found;
	while (is_slow && !is_open && (question->uid >= SLOW + BLOCK || released == 0))
		(void)pthread_cond_wait(&gate, &mutex);
	if (is_slow && !is_open)
		released--;
	(void)pthread_mutex_unlock(&mutex);
}

static void on_slow_answered(void *context, const struct user_answer *answer)
{
	(void)context;
	(void)answer;
	slow_answered++;
}

static void on_fast_answered(void *context, const struct user_answer *answer)
{
	bool *is_answered = context;
	(void)answer;
	*is_answered = true;
}

static void open_lookups(void)
{
	cr_assert(eq(int, uv_loop_init(&loop), 0));
	cr_assert(eq(int, user_lookups_open(&loop), 0));
}

static unsigned wakes; /* of the loop: an answer is ready at each */
static bool turns_are_long;

int __real_uv_async_send(uv_async_t *async);
int __wrap_uv_async_send(uv_async_t *async);
uint64_t __wrap_uv_now(const uv_loop_t *of);

int __wrap_uv_async_send(uv_async_t *async)
{
	(void)__atomic_add_fetch(&wakes, 1, __ATOMIC_SEQ_CST);
	return __real_uv_async_send(async);
}

uint64_t __wrap_uv_now(const uv_loop_t *of)
{
	(void)of;
	return turns_are_long ? 0 : UINT64_MAX / 2;
}

/* All look-ups that were begun are answered. */
static void close_lookups(void)
{
	(void)pthread_mutex_lock(&mutex);
	is_open = true;
	(void)pthread_cond_broadcast(&gate);
	(void)pthread_mutex_unlock(&mutex);
	while (slow_answered < slow_begun)
		(void)uv_run(&loop, UV_RUN_ONCE);
	user_lookups_close();
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_assert(eq(int, uv_loop_close(&loop), 0));
}

TestSuite(lookup_order, .init = open_lookups, .fini = close_lookups, .timeout = 20);

static int begin_slow(uid_t uid)
{
	struct user_question question = {.uid = uid};
	struct user_lookup *lookup;
	int r = user_lookup_begin(&question, on_slow_answered, NULL, &lookup);
	slow_begun += r == 0;
	return r;
}

static void begin_flood(unsigned blocks)
{
	for (unsigned i = 0; i < FLOOD; i++)
		(void)begin_slow(SLOW + i % blocks * BLOCK + i / blocks);
	cr_assert(gt(uint, slow_begun, USER_LOOKUP_THREADS));
}

/* The uid is answered while none of the flood is. */
static void must_not_wait(uid_t uid, bool was_found)
{
	bool is_answered = false;
	unsigned before = slow_answered;
	struct user_question question = {.uid = uid, .was_found = was_found};
	struct user_lookup *lookup;
	cr_assert(eq(int, user_lookup_begin(&question, on_fast_answered, &is_answered, &lookup), 0),
		  "uid %lu has no place", (unsigned long)uid);
	while (!is_answered)
		(void)uv_run(&loop, UV_RUN_ONCE);
	cr_expect(eq(uint, slow_answered, before));
}

static void lookup_order_let_continue(unsigned count)
{
	unsigned wanted = slow_answered + count;
	(void)pthread_mutex_lock(&mutex);
	released = count;
	(void)pthread_cond_broadcast(&gate);
	(void)pthread_mutex_unlock(&mutex);
	while (slow_answered < wanted)
		(void)uv_run(&loop, UV_RUN_ONCE);
}

Test(lookup_order, a_new_user_does_not_wait_for_made_up_uids)
{
	begin_flood(1);
	must_not_wait(USER, false);
	must_not_wait(SLOW - BLOCK, false);
}

Test(lookup_order, a_user_that_was_found_once_does_not_wait_for_uids_near_its_own)
{
	begin_flood(1);
	must_not_wait(SLOW + FLOOD, true);
}

Test(lookup_order, made_up_uids_of_many_blocks_leave_threads_for_users)
{
	begin_flood(BLOCKS);
	must_not_wait(USER, false);
	must_not_wait(SLOW + FLOOD, true);
}

Test(lookup_order, made_up_uids_of_one_block_do_not_take_all_places)
{
	unsigned tried = 0;
	while (begin_slow(SLOW + tried) == 0) {
		cr_assert(lt(uint, tried, USER_LOOKUPS_MAX));
		tried++;
	}
	cr_expect(lt(uint, slow_begun, USER_LOOKUPS_MAX / 2u));
	cr_expect(eq(int, begin_slow(SLOW + BLOCK), 0));
}

/* Each end of a look-up of the first block makes room for one of that block and for one of any. */
Test(lookup_order, a_user_gets_the_thread_that_the_end_of_another_look_up_leaves)
{
	for (uid_t i = 0; i < 6; i++)
		cr_assert(eq(int, begin_slow(SLOW + i), 0));
	for (uid_t i = 0; i < 40; i++)
		cr_assert(eq(int, begin_slow(SLOW + BLOCK + i), 0));
	for (uid_t i = 0; i < 40; i++)
		cr_assert(eq(int, begin_slow(SLOW + 100 + i), 0));
	for (unsigned i = 0; i < 5; i++)
		lookup_order_let_continue(1);
	must_not_wait(USER, false);
	must_not_wait(USER + 1, false);
}

/* Each may start an engine. */
Test(lookup_order, a_turn_of_the_loop_that_takes_long_handles_one_answer)
{
	enum { COUNT = 4 };
	for (unsigned i = 0; i < COUNT; i++) {
		int r = begin_slow(SLOW + i);
		cr_assert(zero(int, r));
	}
	(void)pthread_mutex_lock(&mutex);
	released = COUNT;
	(void)pthread_cond_broadcast(&gate);
	(void)pthread_mutex_unlock(&mutex);
	while (__atomic_load_n(&wakes, __ATOMIC_SEQ_CST) < COUNT)
		(void)sched_yield();
	turns_are_long = true;
	for (unsigned i = 1; i <= COUNT; i++) {
		(void)uv_run(&loop, UV_RUN_NOWAIT);
		cr_expect(eq(uint, slow_answered, i));
	}
	turns_are_long = false;
}
