/*
 * A native command's function (K6 - K12), as the three see it that hand it on in an application's
 * own process: the client library, whose function it is, the engine, and the backend, which calls
 * it.
 */
#ifndef SYCL_SHARED_NATIVE_SCOPE_H
#define SYCL_SHARED_NATIVE_SCOPE_H

#include <stdint.h>

/*
 * What the function gets; good during the call. The context is current in the calling thread.
 * Handles are the vendor's, as numbers: see enum backend_native_kind.
 */
struct backend_native_scope {
	uint64_t device, context, queue;
	uint64_t graph; /* to add to, where the command is a graph's node; 0: none */
	const uint64_t
		*memories; /* of the command's `memories`, in their order; 0: one of no bytes */
	uint32_t memory_count;
};

/*
 * 0, or anything else: the command fails, with that status if it is one of status.h, and what was
 * sent before is still waited for. A backend calls it with a scope, once. An engine calls it
 * exactly once for each command that it was sent: through the backend, or, when it is certain that
 * it never will be, with NULL, so that what `context` points to can end.
 */
typedef int backend_native_function(void *context, const struct backend_native_scope *scope);

#endif
