/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callbacks of events. Those of a user event are called by the thread that decides it. All others
 * are called by one thread, which starts with the first callback and stays. It also ends the
 * objects whose destructors have to wait for commands.
 */
#include "queue/queue.h"

#include <signal.h>
#include <stdlib.h>

/* How long the thread waits before it looks for new callbacks, and for how many events at most. */
enum { TURN_NS = 1000000, EVENTS_MAX = 64 };

/* Guards the lists of new callbacks and ends, and whether there is a thread. */
static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t watch_changed = PTHREAD_COND_INITIALIZER;
static struct event_callback *added;
static struct late_end *added_ends;
static bool has_thread;

/* What the thread has taken over; its own. A callback may end the thread, so what is being called
 * is in no list, and all else is in one of them. */
static struct event_callback *pending;
static struct late_end *pending_ends;

static void callback_free(void *of)
{
	struct event_callback *callback = of;
	object_unuse(&callback->event->head);
	free(callback);
}

void callback_call(struct event_callback *callback, cl_int status)
{
	pthread_cleanup_push(callback_free, callback);
	callback->function(callback->event, status < 0 ? status : callback->status,
			   callback->user_data);
	pthread_cleanup_pop(1);
}

/* Calls those whose time has come. */
static void call_due(void)
{
	struct event_callback **at = &pending;
	while (*at) {
		struct event_callback *callback = *at;
		cl_int status = event_status(callback->event);
		if (status > callback->status) {
			at = &callback->next;
			continue;
		}
		*at = callback->next;
		callback_call(callback, status);
	}
}

static void append(struct event_callback **list, struct event_callback *more)
{
	while (*list)
		list = &(*list)->next;
	*list = more;
}

static void wait_for_any(const struct event_callback *list)
{
	sycl_event events[EVENTS_MAX];
	uint32_t count = 0, index = 0;
	for (; list && count < EVENTS_MAX; list = list->next)
		events[count++] = list->event->sycl;
	(void)sycl_event_wait_any(count, events, TURN_NS, &index);
}

static void append_ends(struct late_end **list, struct late_end *more)
{
	while (*list)
		list = &(*list)->next;
	*list = more;
}

/* Ends what can be. Only the first may take time. */
static void end_due(uint64_t most_ns)
{
	struct late_end **at = &pending_ends;
	while (*at) {
		struct late_end *end = *at;
		*at = end->next;
		if (!end->try_end(end->owner, most_ns)) {
			end->next = *at;
			*at = end;
			at = &end->next;
		}
		most_ns = 0;
	}
}

static void *watch(void *unused);

/* The thread takes no signal of the program. */
static bool start_locked(void)
{
	sigset_t all, old;
	pthread_t thread;
	if (has_thread)
		return true;
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	has_thread = pthread_create(&thread, NULL, watch, NULL) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (has_thread)
		(void)pthread_detach(thread);
	return has_thread;
}

/* A callback has ended the thread: another one goes on. */
static void watch_ended(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&watch_lock);
	has_thread = false;
	if (pending || added || pending_ends || added_ends)
		(void)start_locked();
	pthread_mutex_unlock(&watch_lock);
}

static void *watch(void *unused)
{
	pthread_cleanup_push(watch_ended, NULL);
	for (;;) {
		pthread_mutex_lock(&watch_lock);
		while (!pending && !added && !pending_ends && !added_ends)
			pthread_cond_wait(&watch_changed, &watch_lock);
		append(&pending, added);
		append_ends(&pending_ends, added_ends);
		added = NULL;
		added_ends = NULL;
		pthread_mutex_unlock(&watch_lock);
		call_due();
		end_due(pending ? 0 : TURN_NS);
		if (pending)
			wait_for_any(pending);
	}
	pthread_cleanup_pop(1);
	return unused;
}

/* A user event that is not decided keeps its callbacks itself. */
static bool keep_for_user(struct event_callback *callback)
{
	cl_event event = callback->event;
	bool is_kept = false;
	if (event->queue || callback->status != CL_COMPLETE)
		return false;
	pthread_mutex_lock(&event->lock);
	if (event->is_open) {
		append(&event->waiting, callback);
		is_kept = true;
	}
	pthread_mutex_unlock(&event->lock);
	return is_kept;
}

cl_int callback_watch(struct event_callback *callback)
{
	if (keep_for_user(callback))
		return CL_SUCCESS;
	pthread_mutex_lock(&watch_lock);
	bool runs = start_locked();
	if (runs) {
		append(&added, callback);
		pthread_cond_signal(&watch_changed);
	}
	pthread_mutex_unlock(&watch_lock);
	if (runs)
		return CL_SUCCESS;
	object_unuse(&callback->event->head);
	free(callback);
	return CL_OUT_OF_RESOURCES;
}

bool callback_end_later(struct late_end *end)
{
	pthread_mutex_lock(&watch_lock);
	bool runs = start_locked();
	if (runs) {
		end->next = NULL;
		append_ends(&added_ends, end);
		pthread_cond_signal(&watch_changed);
	}
	pthread_mutex_unlock(&watch_lock);
	return runs;
}
