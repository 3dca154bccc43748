#include "base/user_lookup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/queue.h>

struct user_lookup {
	STAILQ_ENTRY(user_lookup)
	link; /* link in `asked` or `answered`; in no list while a thread works on it */
	struct user_question question;
	struct user_answer answer;
	user_lookup_answered *call; /* NULL: the lookup was dropped */
	void *context;
};

STAILQ_HEAD(user_lookup_list, user_lookup);

/* Shared with threads that may outlive the service's state, so it lives as long as the process. */
static struct {
	pthread_mutex_t mutex; /* guards everything but `wake` */
	struct user_lookup_list asked, answered;
	unsigned threads, count; /* `count` includes look-ups in a thread, and answers that were not
				    delivered yet */
	bool is_open;
	uv_async_t wake;
} lookups = {
	.mutex = PTHREAD_MUTEX_INITIALIZER,
	.asked = STAILQ_HEAD_INITIALIZER(lookups.asked),
	.answered = STAILQ_HEAD_INITIALIZER(lookups.answered),
};

/* The next look-up. NULL: there is none, and the thread is not counted any more. */
static struct user_lookup *lookups_take_next(void)
{
	(void)pthread_mutex_lock(&lookups.mutex);
	struct user_lookup *lookup = STAILQ_FIRST(&lookups.asked);
	if (lookup)
		STAILQ_REMOVE_HEAD(&lookups.asked, link);
	else
		lookups.threads--;
	(void)pthread_mutex_unlock(&lookups.mutex);
	return lookup;
}

static void lookups_wake_loop(struct user_lookup *lookup)
{
	(void)pthread_mutex_lock(&lookups.mutex);
	STAILQ_INSERT_TAIL(&lookups.answered, lookup, link);
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

/* Signals are for the loop's thread: one that has to interrupt a wait there must not be delivered
 * here. */
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
	struct user_lookup *lookup = STAILQ_FIRST(&lookups.answered);
	if (lookup) {
		STAILQ_REMOVE_HEAD(&lookups.answered, link);
		lookups.count--;
	}
	(void)pthread_mutex_unlock(&lookups.mutex);
	return lookup;
}

static void on_lookups_answered(uv_async_t *wake)
{
	struct user_lookup *lookup;
	(void)wake;
	while ((lookup = lookups_take_answered())) {
		if (lookup->call)
			lookup->call(lookup->context, &lookup->answer);
		free(lookup);
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
	while ((lookup = STAILQ_FIRST(list))) {
		STAILQ_REMOVE_HEAD(list, link);
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

int user_lookup_begin(const struct user_question *question, user_lookup_answered *answered,
		      void *context, struct user_lookup **lookup_out)
{
	struct user_lookup *lookup = calloc(1, sizeof(*lookup));
	if (!lookup)
		return -ENOMEM;
	lookup->question = *question;
	lookup->call = answered;
	lookup->context = context;
	(void)pthread_mutex_lock(&lookups.mutex);
	int r = lookups.is_open && lookups.count < USER_LOOKUPS_MAX ? 0 : -EAGAIN;
	if (r == 0 && lookups.threads < USER_LOOKUP_THREADS && lookup_thread_start() == 0)
		lookups.threads++;
	if (r == 0 && lookups.threads == 0)
		r = -ECHILD;
	if (r == 0) {
		STAILQ_INSERT_TAIL(&lookups.asked, lookup, link);
		lookups.count++;
	}
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
