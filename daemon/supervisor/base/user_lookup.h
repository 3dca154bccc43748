/*
 * Queries the user database without making the service wait. A few threads run the queries; they
 * are the supervisor's only threads. They start when there is a query, end when there is none, and
 * block all signals. Many slow look-ups of unknown uids leave threads for other users. A thread
 * that hangs in the database is abandoned, and the service can end despite it.
 */
#ifndef SYCLD_SUPERVISOR_USER_LOOKUP_H
#define SYCLD_SUPERVISOR_USER_LOOKUP_H

#include "base/user_question.h"

#include <uv.h>

enum { USER_LOOKUP_THREADS = 16, USER_LOOKUPS_MAX = 512 };

struct user_lookup;

/* Called on the loop's thread, never from within user_lookup_begin, and not after user_lookup_drop.
 */
typedef void user_lookup_answered(void *context, const struct user_answer *answer);

/* Once in a process. 0 or a negative errno. */
int user_lookups_open(uv_loop_t *loop);

/* Stops the delivery of results. The loop must run once more. */
void user_lookups_close(void);

/* 0, or a negative errno. -EAGAIN: the queue is full, for all uids or for that uid's block
 * (user_lookup.c). -ECHILD: no thread can be started, and none runs. Does not block. */
int user_lookup_begin(const struct user_question *question, user_lookup_answered *answered,
		      void *context, struct user_lookup **lookup_out);

/* Prevents the delivery of the result. Accepts NULL, returns NULL. */
struct user_lookup *user_lookup_drop(struct user_lookup *lookup);

#endif
