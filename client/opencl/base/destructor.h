/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the program that are called when an object ends. The last one is called first. */
#ifndef SYCL_OPENCL_DESTRUCTOR_H
#define SYCL_OPENCL_DESTRUCTOR_H

#include "base/object.h"

#include <pthread.h>

struct destructor;

/* Copies the function pointer at `function`, whatever its type is. The lock guards the list. */
cl_int destructor_add(pthread_mutex_t *lock, struct destructor **list, const void *function,
		      void *user_data);
/* Takes the latest one off the list, which nobody else uses any more, and copies its function
 * pointer to `function_out`. False: there is none. */
bool destructor_take(struct destructor **list, void *function_out, void **user_data_out);

#endif
