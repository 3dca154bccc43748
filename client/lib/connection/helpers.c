#include "connection/helpers.h"

#include "connection/connection.h"

#include "base/own_thread.h"

#include <stdlib.h>

struct helpers {
	struct connection *connection;
	pthread_cond_t work; /* used with the connection's state lock */
	bool stop;
	uint32_t count;
	pthread_t threads[];
};

/* Set by a helper that has ended its own connection, whose memory is freed. */
static _Thread_local bool is_helper, ended_own_connection;

bool helpers_is_one(void)
{
	return is_helper;
}

uint32_t helpers_count(const struct helpers *helpers)
{
	return helpers ? helpers->count : 0;
}

void helpers_wake(struct helpers *helpers)
{
	if (helpers)
		(void)pthread_cond_signal(&helpers->work);
}

void helpers_wake_all(struct helpers *helpers)
{
	if (helpers)
		(void)pthread_cond_broadcast(&helpers->work);
}

/* Used with the state lock. */
static bool nothing_left(struct connection *c, void *context)
{
	(void)context;
	return c->tasks_listed == 0;
}

static void *helper_run(void *argument)
{
	struct helpers *helpers = argument;
	struct connection *c = helpers->connection;
	is_helper = true;
	(void)pthread_mutex_lock(&c->state_lock);
	while (!helpers->stop) {
		bool copies = c->hooks->has_copies(c);
		if (!copies && c->tasks_listed == 0) {
			(void)pthread_cond_wait(&helpers->work, &c->state_lock);
			continue;
		}
		/* A host task or a copy holds a reference, so the connection exists. */
		connection_ref(c);
		(void)pthread_mutex_unlock(&c->state_lock);
		if (copies)
			c->hooks->help_copies(c);
		else
			(void)connection_wait(c, nothing_left, NULL, WAIT_RUNS, UINT64_MAX);
		connection_unref(c);
		if (ended_own_connection)
			return NULL;
		(void)pthread_mutex_lock(&c->state_lock);
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	return NULL;
}

sycl_result helpers_start(struct connection *c, uint32_t count)
{
	struct helpers *helpers = calloc(1, sizeof(*helpers) + count * sizeof(pthread_t));
	if (!helpers)
		return error_no_memory();
	helpers->connection = c;
	(void)pthread_cond_init(&helpers->work, NULL);
	int r = 0;
	while (r == 0 && helpers->count < count) {
		r = own_thread_start(&helpers->threads[helpers->count], 0, helper_run, helpers);
		helpers->count += r == 0;
	}
	if (r != 0) {
		(void)helpers_stop(c, helpers);
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION,
				 "helper thread %u cannot be started: error %d", helpers->count, r);
	}
	c->helpers = helpers;
	return SYCL_SUCCESS;
}

struct helpers *helpers_stop(struct connection *c, struct helpers *helpers)
{
	if (!helpers)
		return NULL;
	(void)pthread_mutex_lock(&c->state_lock);
	helpers->stop = true;
	(void)pthread_cond_broadcast(&helpers->work);
	(void)pthread_mutex_unlock(&c->state_lock);
	for (uint32_t i = 0; i < helpers->count; i++) {
		if (pthread_equal(helpers->threads[i], pthread_self())) {
			ended_own_connection = true;
			(void)pthread_detach(helpers->threads[i]);
		} else {
			(void)pthread_join(helpers->threads[i], NULL);
		}
	}
	(void)pthread_cond_destroy(&helpers->work);
	free(helpers);
	return NULL;
}
