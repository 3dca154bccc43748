#include "connection/async_errors.h"

#include "connection/client_objects.h"

#include <stdlib.h>

struct async_error {
	struct async_error *next;
	struct failure failure;
};

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

static struct async_errors async_errors_take_all(struct connection *c)
{
	(void)pthread_mutex_lock(&c->state_lock);
	struct async_errors taken = c->async_errors;
	c->async_errors = (struct async_errors){.count = 0};
	(void)pthread_mutex_unlock(&c->state_lock);
	return taken;
}

SYCL_API sycl_result sycl_platform_throw_asynchronous(sycl_platform handle,
						      sycl_async_handler *handler, void *user_data)
{
	PIN(platform, platform, handle);
	if (!handler)
		return error_set(SYCL_ERROR_INVALID, "handler is NULL");
	CLEANUP(async_errors_fini)
	struct async_errors errors = async_errors_take_all(platform->object.connection);
	if (errors.count == 0)
		return SYCL_SUCCESS;
	struct sycl_async_error *list = calloc(errors.count, sizeof(*list));
	if (!list)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory for %u errors",
				 errors.count);
	uint32_t count = 0;
	for (const struct async_error *error = errors.first; error; error = error->next)
		list[count++] = (struct sycl_async_error){.result = error->failure.code,
							  .native_code = error->failure.native_code,
							  .backend = error->failure.backend,
							  .text = error->failure.text};
	handler(count, list, user_data);
	free(list);
	return SYCL_SUCCESS;
}
