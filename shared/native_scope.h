/* A native command's function (K6 - K12) in an application's own process. The client library passes
 * the function to the engine, the engine to the backend, and the backend calls it. */
#ifndef SYCL_SHARED_NATIVE_SCOPE_H
#define SYCL_SHARED_NATIVE_SCOPE_H

#include <stdint.h>

/*
 * The function's argument, valid during the call. The context is current in the calling thread.
 * Handles are the vendor's, as numbers: see enum backend_native_kind.
 */
struct backend_native_scope {
	uint64_t device, context, queue;
	/* For a command that is a graph's node: the graph to which it adds; 0: none. */
	uint64_t graph;
	/* The addresses of the command's `memories`, in their order; 0: a memory of no bytes. */
	const uint64_t *memories;
	uint32_t memory_count;
};

/*
 * Returns 0, or another value if the command fails. A status of status.h is used unchanged. Work
 * that was sent before is still waited for. A backend calls the function once, with a scope. An
 * engine calls it exactly once for each command that it received, through the backend. If the
 * backend will never call it, the engine calls it with NULL, so that `context` can be freed.
 */
typedef int backend_native_function(void *context, const struct backend_native_scope *scope);

#endif
