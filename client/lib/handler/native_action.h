/* The function of a native command, which its handler and submissions share. */
#ifndef SYCL_CLIENT_NATIVE_ACTION_H
#define SYCL_CLIENT_NATIVE_ACTION_H

#include "syclclient/native_command.h"

#include <stdint.h>

/* The function that a handler calls. All submissions of the handler share it. Any thread. */
struct native_action {
	_Atomic uint32_t references;
	sycl_native_command_function *function;
	void *user_data;
	sycl_user_data_destroy *destroy;
	uint64_t entry; /* the address that an engine in this process calls */
};
/* NULL is fine. */
void native_action_hold(struct native_action *action);
/* Drops a reference; the last one calls `destroy`. Accepts NULL. */
void native_action_drop(struct native_action *action);

#endif
