/*
 * Handles are not addresses. The pointer's bits are the depth of forks (3), the type (5), the
 * generation (24) and an index (32) into a table of this process. So every value can be looked up
 * safely. A stale, foreign or mistyped handle is refused. Addresses of user memory have 0 in their
 * top byte, which is not a type, so they are refused too.
 *
 * An object has user references, which the program owns, and references, which the library owns.
 * Children and running calls have one each, and all user references together have one. A handle is
 * valid while there are user references. The object exists while there are references. So a queue
 * keeps its context after the program has released its own reference. A later get_context makes the
 * same handle valid again (N3).
 *
 * All functions may be called from any thread. None blocks, except for a short lock in create and
 * destroy.
 */
#ifndef SYCL_CLIENT_HANDLES_H
#define SYCL_CLIENT_HANDLES_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum handle_type {
	HANDLE_NONE = 0,
	HANDLE_PLATFORM = 1,
	HANDLE_DEVICE = 2,
	HANDLE_CONTEXT = 3,
	HANDLE_QUEUE = 4,
	HANDLE_BUFFER = 5,
	HANDLE_HOST_ACCESSOR = 6,
	HANDLE_BUNDLE = 7,
	HANDLE_KERNEL = 8,
	HANDLE_HANDLER = 9,
	HANDLE_EVENT = 10,
	HANDLE_SHARED_EVENT = 11,
	HANDLE_COMMAND_GROUP = 12,
	HANDLE_IMAGE = 13,
	HANDLE_HOST_IMAGE = 14,
	HANDLE_HOST_BLOCK = 15,
	HANDLE_GRAPH = 16,
	HANDLE_EXECUTABLE_GRAPH = 17,
	HANDLE_TYPE_COUNT
};

struct connection;
struct handle_entry;

/* First member of every structure that has a handle. */
struct object {
	struct connection *connection; /* the object holds a reference */
	/* Called without locks when no references are left: undoes the creation and frees the
	 * object. */
	void (*destroy)(struct object *object);
	struct handle_entry *entry;
	uint32_t index;
	uint32_t type;
};

/*
 * Gives the object a handle with one user reference. 0 or -ENOMEM (destroy is then never called).
 */
int handle_create(struct object *object, enum handle_type type, void (*destroy)(struct object *));

/* Called for a new object: its user reference becomes a reference of the library. */
void object_keep(struct object *object);

/* Returns the handle's value for the program, without a new user reference: see object_give. */
void *handle_of(const struct object *object);

/* Takes a reference for the duration of a call. SYCL_ERROR_INVALID_HANDLE or SYCL_ERROR_FORKED,
 * with a detail. */
sycl_result handle_pin(const void *handle, enum handle_type type, struct object **object_out);

/* Does handle_pin and object_take at once. *counted_out: the last user reference was taken, and the
 * connection still counts the handle. The caller then takes that count back. */
sycl_result handle_pin_taken(const void *handle, enum handle_type type, struct object **object_out,
			     bool *counted_out);

/*
 * Returns the object of a handle whose entry is known, without a reference. NULL: the handle is no
 * longer valid, or handle_pin would refuse it. The caller prevents the end of objects of this type
 * meanwhile, and has checked for a fork.
 */
struct object *handle_look(const struct handle_entry *entry, const void *handle,
			   enum handle_type type);

/* References of the library. object_try_ref: false if no reference is left; the caller then holds
 * the memory by other means. */
void object_ref(struct object *object);
bool object_try_ref(struct object *object);
void object_unref(struct object *object);

/* Adds a user reference for the caller, who has pinned the object. QUOTA beyond about a million. */
sycl_result object_give(struct object *object);

/* Drops one of the program's user references. INVALID_HANDLE: there is none. The caller has pinned
 * the object. */
sycl_result object_take(struct object *object);

/* As object_take, unless it is the last user reference: then returns false without a change. */
bool object_take_unless_last(struct object *object);

/* Returns the number of user references, for get_reference_count. */
uint32_t object_users(const struct object *object);

/* Generic bodies of the public functions. */
sycl_result handle_retain(const void *handle, enum handle_type type);
sycl_result handle_release(const void *handle, enum handle_type type);
sycl_result handle_get_reference_count(const void *handle, enum handle_type type,
				       uint32_t *count_out);

#endif
