#include "connection/async_errors.h"

#include "connection/connection.h"

#include <stdlib.h>

void async_errors_add(struct connection *c, const struct failure *failure)
{
	struct async_error *error = malloc(sizeof(*error));
	if (!error)
		return;
	*error = (struct async_error){.failure = *failure};
	(void)pthread_mutex_lock(&c->state_lock);
	struct async_errors *errors = &c->async_errors;
	bool fits = errors->count < ASYNC_ERRORS_MAX;
	if (fits) {
		*(errors->last ? errors->last : &errors->first) = error;
		errors->last = &error->next;
		errors->count++;
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	if (!fits)
		free(error);
}

void async_errors_fini(struct async_errors *errors)
{
	while (errors->first) {
		struct async_error *error = errors->first;
		errors->first = error->next;
		free(error);
	}
	*errors = (struct async_errors){.count = 0};
}

struct async_errors async_errors_take_all(struct connection *c)
{
	(void)pthread_mutex_lock(&c->state_lock);
	struct async_errors taken = c->async_errors;
	c->async_errors = (struct async_errors){.count = 0};
	(void)pthread_mutex_unlock(&c->state_lock);
	return taken;
}
