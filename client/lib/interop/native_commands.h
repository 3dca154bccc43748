/*
 * Native commands: the program's function on its way through the engine, which is in this process,
 * and back. The data of a call is copied when it is submitted, because the function runs on a
 * thread of the engine. No object of the connection may end on that thread. The connection could
 * end with such an object, and its end waits for the engine.
 */
#ifndef SYCL_CLIENT_NATIVE_COMMANDS_H
#define SYCL_CLIENT_NATIVE_COMMANDS_H

#include "handler/native_action.h"

#include <pthread.h>
#include <stdbool.h>

struct connection;
struct handler;

/* Calls of a connection that the engine has and has not completed. Their lock is held for no other
 * purpose. */
struct native_calls {
	pthread_mutex_t lock;
	struct native_call *first;
};
void native_calls_init(struct native_calls *calls);
/* The engine has ended: releases the calls that the engine never read from the ring. */
void native_calls_fini(struct native_calls *calls);

/* Makes the call of one submission of the handler. SYCL_ERROR_MEMORY_ALLOCATION. */
struct native_call;
sycl_result native_call_new(struct connection *connection, const struct handler *handler,
			    struct native_call **call_out);
/* Calls the handler's function on this thread, with the handles of the scope. It is for a command
 * whose turn has come in the program itself (bridge.h). Returns the function's result. */
struct backend_native_scope;
sycl_result native_call_here(const struct handler *handler,
			     const struct backend_native_scope *scope);
/* Ends a command that was not sent. Accepts NULL. */
void native_call_discard(struct native_call *call);
/* The call's address, as the message has it. */
uint64_t native_call_context(const struct native_call *call);

#endif
