/*
 * Handles are no addresses. The pointer's bits are depth of forks (3), type (5), generation (24)
 * and index (32) into a table of this process. So any value at all can be looked up safely; a
 * stale, foreign or mistyped one is refused. An address of user memory has its top byte 0, which is
 * no type, and is refused at once.
 *
 * An object has user references (what the caller owns) and references (the library's: children,
 * running calls; one for all user references together). A handle is good while there are user
 * references; the object lives while there are references. So a queue keeps its context alive
 * though the caller has released its own reference, and a later get_context revives the same handle
 * (N3).
 *
 * Threads: everything here may be called from any thread; nothing blocks but a short lock in create
 * and destroy.
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

/* First member of everything that has a handle. */
struct object {
	struct connection *connection;          /* a reference of its own */
	void (*destroy)(struct object *object); /* the last reference is gone: undo, free; called
						   without locks */
	struct handle_entry *entry;
	uint32_t index;
	uint32_t type;
};

/* Gives the object a handle with one user reference. 0 or -ENOMEM (then destroy is never called).
 */
int handle_create(struct object *object, enum handle_type type, void (*destroy)(struct object *));

/* Called for a new object: its user reference becomes a reference of the library's. */
void object_keep(struct object *object);

/* The handle's value, to hand out. Does not count: see object_give. */
void *handle_of(const struct object *object);

/* A reference for the length of a call. SYCL_ERROR_INVALID_HANDLE or SYCL_ERROR_FORKED, with a
 * detail. */
sycl_result handle_pin(const void *handle, enum handle_type type, struct object **object_out);

/*
 * handle_pin and object_take in one. *counted_out: it was the last one of the users' references,
 * and the connection still counts its handle: the caller takes that back.
 */
sycl_result handle_pin_taken(const void *handle, enum handle_type type, struct object **object_out,
			     bool *counted_out);

/*
 * The object of a handle whose entry is known, without a reference. NULL: the handle is not good
 * any more, or handle_pin would refuse it. The caller prevents that objects of this type end
 * meanwhile, and has checked for a fork.
 */
struct object *handle_look(const struct handle_entry *entry, const void *handle,
			   enum handle_type type);

/* References of the library's. try: false when the last one is gone already (memory must be held by
 * other means). */
void object_ref(struct object *object);
bool object_try_ref(struct object *object);
void object_unref(struct object *object);

/* One more user reference, for the caller; the library holds one. QUOTA beyond about a million. */
sycl_result object_give(struct object *object);

/* Take a user reference from its owner. INVALID_HANDLE when there is none. The caller has
 * pinned the object. */
sycl_result object_take(struct object *object);

/* As object_take, but only if it is not the last one: false then, and nothing changed. */
bool object_take_unless_last(struct object *object);

/* User references now; for get_reference_count. */
uint32_t object_users(const struct object *object);

/* "queue", "buffer" ... */
const char *handle_type_name(enum handle_type type);

/* Generic bodies of the public functions. */
sycl_result handle_retain(const void *handle, enum handle_type type);
sycl_result handle_release(const void *handle, enum handle_type type);
sycl_result handle_get_reference_count(const void *handle, enum handle_type type,
				       uint32_t *count_out);

#endif
