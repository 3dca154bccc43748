/*
 * The functions above a session that it calls. command/ runs its records and ends its objects,
 * graph/ makes graphs, process/ has the bells and the deadlines. One table for each engine, filled
 * in process/engine.c. Front thread.
 */
#ifndef SYCL_ENGINE_SESSION_HOOKS_H
#define SYCL_ENGINE_SESSION_HOOKS_H

#include "command.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct engine;
struct object;
struct session;

/* A type of objects; `release` and `end` may be NULL. */
struct object_kind {
	size_t bytes;
	/* The client's interest ends; references are left. */
	void (*release)(struct object *object);
	/* The last reference was released: free what the object has, and end its charges. Returns a
	 * parent whose reference ends with it, or NULL. */
	struct object *(*end)(struct object *object);
};

struct session_hooks {
	const struct object_kind *object_kinds; /* indexed by enum object_type */
	/* Run one decoded record. Negative: the session will close. */
	int (*run_command)(struct session *session, const Sycl__V1__Command *command);
	/* Run the payload of a RESUBMIT record, and records behind it that make a burst with it.
	 * How many groups that was, or negative. */
	int (*run_resubmit)(struct session *session, const void *bytes, uint32_t count);
	/* Must this command group wait for a graph that a device builds (session.awaited)? */
	bool (*awaits_graph)(struct session *session, const Sycl__V1__CommandGroup *message);
	/* The client has disconnected: its open and later work fails. */
	void (*abandon_host_tasks)(struct session *session);
	/* The arena ends; nothing that is open uses it. */
	void (*arena_ended)(struct arena *arena);
	/* A write to the eventfd `bell` makes the session hot. 0 or a negative errno. */
	int (*add_bell)(struct engine *engine, int bell, struct session *session);
	void (*remove_bell)(struct engine *engine, int bell);
	/* A limit has changed, a session has come, or has lost its client. */
	void (*review_deadlines)(struct engine *engine);
};

#endif
