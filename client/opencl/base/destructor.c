/* SPDX-License-Identifier: Apache-2.0 */
#include "base/destructor.h"

#include <stdlib.h>
#include <string.h>

struct destructor {
	struct destructor *next;
	void (*function)(void);
	void *user_data;
};

cl_int destructor_add(pthread_mutex_t *lock, struct destructor **list, const void *function,
		      void *user_data)
{
	struct destructor *destructor = calloc(1, sizeof(*destructor));
	if (!destructor)
		return CL_OUT_OF_HOST_MEMORY;
	memcpy(&destructor->function, function, sizeof(destructor->function));
	destructor->user_data = user_data;
	pthread_mutex_lock(lock);
	destructor->next = *list;
	*list = destructor;
	pthread_mutex_unlock(lock);
	return CL_SUCCESS;
}

bool destructor_take(struct destructor **list, void *function_out, void **user_data_out)
{
	struct destructor *latest = *list;
	if (!latest)
		return false;
	*list = latest->next;
	memcpy(function_out, &latest->function, sizeof(latest->function));
	*user_data_out = latest->user_data;
	free(latest);
	return true;
}
