#include "base/user_lookup.h"

#include "base/turn.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/queue.h>

/*
 * The database may take long for each uid, and a user with subordinate uids can connect as any of
 * them. In plain order of arrival, one such user would delay all others. So look-ups are grouped by
 * blocks of uids, as large as useradd assigns to a user. A block gets another thread only while it
 * has fewer threads than are still free. The same rule applies to places in the queue. So one block
 * never has more than half, and the next three blocks still get some.
 *
 * A part is reserved for uids that no user can choose: those that an earlier look-up has found, and
 * those of block 0, in which systems have users and no subordinate uids. They count as one block
 * without its own bound.
 */
enum { BLOCK_BITS = 16, BLOCK_OF_USERS = 0, PART_OF_USERS = 4 };

struct user_lookup {
	TAILQ_ENTRY(user_lookup) link; /* in one of the lists */
	uint32_t block;
	struct user_question question;
	struct user_answer answer;
	user_lookup_answered *call; /* NULL: the lookup was dropped */
	void *context;
};

TAILQ_HEAD(user_lookup_list, user_lookup);

/* Shared with threads that may outlive the service's state, so it exists as long as the process. */
static struct {
	pthread_mutex_t mutex; /* guards everything but `wake` */
	struct user_lookup_list asked, working, answered;
	unsigned threads, count; /* `count`: of all three lists */
	bool is_open;
	uv_async_t wake;
} lookups = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.asked = TAILQ_HEAD_INITIALIZER(lookups.asked),
	.working = TAILQ_HEAD_INITIALIZER(lookups.working),
	.answered = TAILQ_HEAD_INITIALIZER(lookups.answered),
};

static uint32_t user_question_block(const struct user_question *question)
{
	bool is_of_users = question->was_found || question->is_of_names;
	return is_of_users ? BLOCK_OF_USERS : question->uid >> BLOCK_BITS;
}

/* A block's use of threads or places, and that of all bounded blocks. */
struct block_use {
	unsigned own, all;
};

static void block_use_add(struct block_use *use, const struct user_lookup_list *list,
			  uint32_t block)
{
	const struct user_lookup *lookup;
	TAILQ_FOREACH (lookup, list, link) {
		use->own += lookup->block == block;
		use->all += lookup->block != BLOCK_OF_USERS;
	}
}

static bool block_may_have_more(uint32_t block, const struct block_use *use, unsigned most)
{
	unsigned part = most - most / PART_OF_USERS;
	return block == BLOCK_OF_USERS || use->own + use->all < part;
}

static bool block_may_have_thread(uint32_t block)
{
	struct block_use use = {0, 0};
	block_use_add(&use, &lookups.working, block);
	return block_may_have_more(block, &use, USER_LOOKUP_THREADS);
}

static bool block_may_have_place(uint32_t block)
{
	struct block_use use = {0, 0};
	block_use_add(&use, &lookups.asked, block);
	block_use_add(&use, &lookups.working, block);
	return lookups.count < USER_LOOKUPS_MAX &&
	       block_may_have_more(block, &use, USER_LOOKUPS_MAX);
}

/* Returns the oldest look-up that may have a thread; NULL: none. */
static struct user_lookup *lookups_find_next(void)
{
	struct user_lookup *lookup;
	TAILQ_FOREACH (lookup, &lookups.asked, link)
		if (block_may_have_thread(lookup->block))
			return lookup;
	return NULL;
}

static int lookup_thread_start(void);

/* Starts one more thread if a look-up may have one. The mutex is held. */
static void lookups_add_thread(void)
{
	if (lookups.threads < USER_LOOKUP_THREADS && lookups_find_next() &&
	    lookup_thread_start() == 0)
		lookups.threads++;
}

/*
 * Returns the next look-up. NULL: there is none, and the thread is not counted any more. The end of
 * one look-up can allow two others: one of the same block, and one of any block. So each thread
 * that takes a look-up starts the next thread.
 */
static struct user_lookup *lookups_take_next(void)
{
	(void)pthread_mutex_lock(&lookups.mutex);
	struct user_lookup *lookup = lookups_find_next();
	if (lookup) {
		TAILQ_REMOVE(&lookups.asked, lookup, link);
		TAILQ_INSERT_TAIL(&lookups.working, lookup, link);
		lookups_add_thread();
	} else {
		lookups.threads--;
	}
	(void)pthread_mutex_unlock(&lookups.mutex);
	return lookup;
}

static void lookups_wake_loop(struct user_lookup *lookup)
{
	(void)pthread_mutex_lock(&lookups.mutex);
	TAILQ_REMOVE(&lookups.working, lookup, link);
	TAILQ_INSERT_TAIL(&lookups.answered, lookup, link);
	if (lookups.is_open)
		(void)uv_async_send(&lookups.wake);
	(void)pthread_mutex_unlock(&lookups.mutex);
}

static void *lookup_thread_run(void *unused)
{
	struct user_lookup *lookup;
	(void)unused;
	while ((lookup = lookups_take_next())) {
		user_question_answer(&lookup->question, &lookup->answer);
		lookups_wake_loop(lookup);
	}
	return NULL;
}

/* Starts the thread with all signals blocked. A signal that must interrupt a wait of the loop's
 * thread must not be delivered here. */
static int lookup_thread_start(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	(void)sigfillset(&all);
	int r = pthread_attr_init(&attributes);
	if (r != 0)
		return -r;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&thread, &attributes, lookup_thread_run, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	return -r;
}

static struct user_lookup *lookups_take_answered(void)
{
	(void)pthread_mutex_lock(&lookups.mutex);
	struct user_lookup *lookup = TAILQ_FIRST(&lookups.answered);
	if (lookup) {
		TAILQ_REMOVE(&lookups.answered, lookup, link);
		lookups.count--;
	}
	(void)pthread_mutex_unlock(&lookups.mutex);
	return lookup;
}

static void on_lookups_answered(uv_async_t *wake)
{
	struct user_lookup *lookup;
	while ((lookup = lookups_take_answered())) {
		if (lookup->call)
			lookup->call(lookup->context, &lookup->answer);
		free(lookup);
		/* An answer may start an engine. */
		if (turn_is_long(wake->loop)) {
			(void)uv_async_send(wake);
			return;
		}
	}
}

int user_lookups_open(uv_loop_t *loop)
{
	int r = uv_async_init(loop, &lookups.wake, on_lookups_answered);
	if (r < 0)
		return r;
	(void)pthread_mutex_lock(&lookups.mutex);
	lookups.is_open = true;
	(void)pthread_mutex_unlock(&lookups.mutex);
	return 0;
}

static void lookup_list_free(struct user_lookup_list *list)
{
	struct user_lookup *lookup;
	while ((lookup = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, lookup, link);
		lookups.count--;
		free(lookup);
	}
}

void user_lookups_close(void)
{
	(void)pthread_mutex_lock(&lookups.mutex);
	bool was_open = lookups.is_open;
	lookups.is_open = false;
	lookup_list_free(&lookups.asked);
	lookup_list_free(&lookups.answered);
	(void)pthread_mutex_unlock(&lookups.mutex);
	if (was_open)
		uv_close((uv_handle_t *)&lookups.wake, NULL);
}

static int lookups_add(struct user_lookup *lookup)
{
	TAILQ_INSERT_TAIL(&lookups.asked, lookup, link);
	lookups.count++;
	lookups_add_thread();
	if (lookups.threads > 0)
		return 0;
	TAILQ_REMOVE(&lookups.asked, lookup, link);
	lookups.count--;
	return -ECHILD;
}

int user_lookup_begin(const struct user_question *question, user_lookup_answered *answered,
		      void *context, struct user_lookup **lookup_out)
{
	struct user_lookup *lookup = calloc(1, sizeof(*lookup));
	if (!lookup)
		return -ENOMEM;
	lookup->question = *question;
	lookup->call = answered;
	lookup->context = context;
	lookup->block = user_question_block(question);
	(void)pthread_mutex_lock(&lookups.mutex);
	int r = lookups.is_open && block_may_have_place(lookup->block) ? 0 : -EAGAIN;
	if (r == 0)
		r = lookups_add(lookup);
	(void)pthread_mutex_unlock(&lookups.mutex);
	if (r < 0)
		free(lookup);
	else
		*lookup_out = lookup;
	return r;
}

struct user_lookup *user_lookup_drop(struct user_lookup *lookup)
{
	if (lookup)
		lookup->call = NULL; /* only the loop's thread uses `call` */
	return NULL;
}
