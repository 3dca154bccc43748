/* Copy threads without a connection: how they are started, woken and ended, and how many there
 * are. */
#include "connection/copiers.h"
#include "connection/copy_threads.h"

#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_copiers, .timeout = 60);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct copiers copiers;
static uint32_t pieces;      /* of work; under the lock */
static sem_t at_work, go_on; /* which thread has taken a piece; whether it may continue */

/* A thread that takes a piece waits until it may go on. */
static bool take_piece(void *context)
{
	(void)context;
	if (pieces == 0)
		return false;
	pieces--;
	(void)pthread_mutex_unlock(&lock);
	(void)sem_post(&at_work);
	(void)sem_wait(&go_on);
	(void)pthread_mutex_lock(&lock);
	return true;
}

static void begin_copiers(void)
{
	(void)sem_init(&at_work, 0, 0);
	(void)sem_init(&go_on, 0, 0);
	copiers_init(&copiers, &lock, take_piece, NULL);
}

static void add_pieces(uint32_t count)
{
	(void)pthread_mutex_lock(&lock);
	pieces += count;
	copiers_wake(&copiers, count);
	(void)pthread_mutex_unlock(&lock);
}

static uint32_t running(bool resting)
{
	(void)pthread_mutex_lock(&lock);
	uint32_t count = resting ? copiers.resting : copiers.running;
	(void)pthread_mutex_unlock(&lock);
	return count;
}

static void times(sem_t *semaphore, uint32_t count, int (*call)(sem_t *))
{
	for (uint32_t i = 0; i < count; i++)
		cr_assert(zero(int, call(semaphore)));
}

Test(client_copiers, as_many_work_at_once_as_were_started_and_the_same_ones_again)
{
	begin_copiers();
	copiers_start(&copiers, 3);
	copiers_start(&copiers, 2);
	cr_assert(eq(u32, running(false), 3));
	for (int i = 0; i < 3; i++) {
		add_pieces(3);
		times(&at_work, 3, sem_wait);
		times(&go_on, 3, sem_post);
	}
	copiers_start(&copiers, 3);
	cr_assert(eq(u32, running(false), 3));
	copiers_fini(&copiers);
}

Test(client_copiers, a_copy_thread_that_rests_too_long_ends_and_another_is_started)
{
	begin_copiers();
	copiers.idle_ns = 1;
	for (int i = 0; i < 20; i++) {
		copiers_start(&copiers, COPIERS_MAX);
		while (running(false) > 0)
			(void)sched_yield();
	}
	add_pieces(2);
	copiers_start(&copiers, 2);
	times(&at_work, 2, sem_wait);
	times(&go_on, 2, sem_post);
	copiers_fini(&copiers);
}

Test(client_copiers, none_is_left_when_they_are_ended_resting_or_not)
{
	begin_copiers();
	copiers_fini(&copiers); /* never started */
	for (uint32_t count = 1; count <= COPIERS_MAX; count++) {
		copiers_init(&copiers, &lock, take_piece, NULL);
		copiers_start(&copiers, count);
		while (count % 2 && running(true) < count)
			(void)sched_yield();
		copiers_fini(&copiers);
		cr_assert(eq(u32, copiers.running, 0));
	}
}

static sigset_t seen_mask;
static char seen_name[16];

static bool look_at_thread(void *context)
{
	bool first = pieces == 1;
	(void)context;
	if (first) {
		(void)pthread_sigmask(SIG_BLOCK, NULL, &seen_mask);
		(void)pthread_getname_np(pthread_self(), seen_name, sizeof(seen_name));
		pieces = 0;
		(void)sem_post(&at_work);
	}
	return first;
}

Test(client_copiers, signals_are_the_programs_but_for_faults_of_the_thread_itself)
{
	sigset_t mine;
	begin_copiers();
	copiers.work = look_at_thread;
	add_pieces(1);
	copiers_start(&copiers, 1);
	times(&at_work, 1, sem_wait);
	copiers_fini(&copiers);
	cr_expect(eq(str, seen_name, "sycl-copy"));
	static const int blocked[] = {SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGUSR1, SIGPIPE, SIGPROF};
	for (size_t i = 0; i < sizeof(blocked) / sizeof(*blocked); i++)
		cr_expect(eq(int, sigismember(&seen_mask, blocked[i]), 1));
	cr_expect(zero(int, sigismember(&seen_mask, SIGSEGV)));
	cr_expect(zero(int, sigismember(&seen_mask, SIGBUS)));
	(void)pthread_sigmask(SIG_BLOCK, NULL, &mine);
	cr_expect(zero(int, sigismember(&mine, SIGUSR1)), "the starting thread has its mask again");
}

Test(client_copiers, fewer_than_four_processors_have_none_and_none_has_more_than_four)
{
	static const uint32_t expected[] = {0, 0, 0, 0, 2, 2, 3, 3, 4, 4};
	for (uint32_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		cr_expect(eq(u32, copy_threads_for(i), expected[i]), "%u processors", i);
	cr_expect(eq(u32, copy_threads_for(UINT32_MAX), 4));
}

Test(client_copiers, the_programs_word_comes_before_the_environments)
{
	uint32_t wanted = 77;
	cr_assert(zero(int, unsetenv("SYCLD_COPY_THREADS")));
	cr_expect(zero(int, copy_threads_wanted(0, &wanted)));
	cr_expect(eq(u32, wanted, COPY_THREADS_BY_PROCESSORS));
	static const char *const bad[] = {
		"17", "-1", "+1", "3x", " 3", "four", "99999999999999999999"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cr_assert(zero(int, setenv("SYCLD_COPY_THREADS", bad[i], 1)));
		wanted = 77;
		cr_expect(eq(int, copy_threads_wanted(0, &wanted), SYCL_ERROR_INVALID), "%s",
			  bad[i]);
		cr_expect(ne(ptr, strstr(sycl_get_last_error_text(), "SYCLD_COPY_THREADS"), NULL));
		cr_expect(zero(int, copy_threads_wanted(5, &wanted)));
		cr_expect(eq(u32, wanted, 5));
		cr_expect(zero(int, copy_threads_wanted(SYCL_COPY_THREADS_NONE, &wanted)));
		cr_expect(zero(u32, wanted));
	}
	cr_expect(eq(int, copy_threads_wanted(COPIERS_MAX + 1, &wanted), SYCL_ERROR_INVALID));
	static const char *const good[] = {"0", "16", ""};
	static const uint32_t meant[] = {0, 16, COPY_THREADS_BY_PROCESSORS};
	for (size_t i = 0; i < 3; i++) {
		cr_assert(zero(int, setenv("SYCLD_COPY_THREADS", good[i], 1)));
		cr_expect(zero(int, copy_threads_wanted(0, &wanted)));
		cr_expect(eq(u32, wanted, meant[i]));
	}
}
