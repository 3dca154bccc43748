/*
 * The functions of higher folders that a session calls. command/ runs its records and ends its
 * objects, graph/ makes graphs, process/ has the bells and the deadlines. There is one table for
 * each engine, filled in process/engine.c. Front thread.
 */
#ifndef SYCL_ENGINE_SESSION_HOOKS_H
#define SYCL_ENGINE_SESSION_HOOKS_H

#include "command.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct backend_fault;
struct bundle;
struct engine;
struct object;
struct session;

/* A type of objects; `release` and `end` may be NULL. */
struct object_kind {
	size_t bytes;
	/* Called when the client has released the object, and other references are left. */
	void (*release)(struct object *object);
	/* Called after the last reference: frees the object's contents, and ends its charges.
	 * Returns a parent whose reference ends with it, or NULL. */
	struct object *(*end)(struct object *object);
};

struct session_hooks {
	const struct object_kind *object_kinds; /* indexed by enum object_type */
	/* Runs one decoded record. Negative: the session will close. */
	int (*run_command)(struct session *session, const Sycl__V1__Command *command);
	/* Runs the payload of a RESUBMIT record, and later records that form a burst with it.
	 * Returns the number of groups, or a negative value. */
	int (*run_resubmit)(struct session *session, const void *bytes, uint32_t count);
	/*
	 * True if this command group must wait for a graph that a device builds (session.awaited).
	 */
	bool (*awaits_graph)(struct session *session, const Sycl__V1__CommandGroup *message);
	/* A launch of a kernel of this bundle, with so many dimensions, comes: starts the build of
	 * what the program lacks for it. 0; 1 and a fault: it failed before, or cannot start. */
	int (*needs_dimensions)(struct bundle *bundle, uint32_t dimensions,
				struct backend_fault *fault);
	/* The session ends: builds for which no launch waits are stopped. */
	void (*end_late_builds)(struct session *session);
	/* The client has disconnected: its open and later host tasks fail. */
	void (*abandon_host_tasks)(struct session *session);
	/* Called at the end of an arena, which no open work uses. */
	void (*arena_ended)(struct arena *arena);
	/* After a write to the eventfd `bell` the session is hot. 0 or a negative errno. */
	int (*add_bell)(struct engine *engine, int bell, struct session *session);
	void (*remove_bell)(struct engine *engine, int bell);
	/* Called when a limit has changed, or a session has come or lost its client. */
	void (*review_deadlines)(struct engine *engine);
};

#endif
