/* Questions to devices about native handles, between native.c and native_make.c.
 * Front thread. */
#ifndef SYCL_ENGINE_COMMANDS_NATIVE_H
#define SYCL_ENGINE_COMMANDS_NATIVE_H

#include "session/objects.h"

struct native_request;

/* Replies to the present record when all queries have replies. `makes`: the object is new, and
 * fails with them. NULL with a fault. */
struct native_request *native_request_new(struct session *session, struct object *object,
					  bool makes, struct backend_fault *fault);
/* Called after so many queries were sent, to each of which on_native gets the reply. Without any,
 * the request ends now. `error`: the reason why some were not sent, or 0. */
void native_request_sent(struct native_request *request, uint32_t questions, int error);

#endif
