/*
 * A native command's function (K6 - K12) in an application's own process. The client library passes
 * it to the engine, the engine to the backend, and the backend calls it.
 */
#ifndef SYCL_SHARED_NATIVE_SCOPE_H
#define SYCL_SHARED_NATIVE_SCOPE_H

#include <stdint.h>

/*
 * The function's argument, valid during the call. The context is current in the calling thread.
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
 * Returns 0, or any other value if the command fails: a status of status.h is used as it is. Work
 * that was sent before is still waited for. A backend calls it once, with a scope. An engine calls
 * it exactly once for each command that it received. It calls through the backend, or with NULL if
 * the backend will never call it, so that `context` can be freed.
 */
typedef int backend_native_function(void *context, const struct backend_native_scope *scope);

#endif
