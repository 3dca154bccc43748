/* The common part of all kinds of objects: memory, pins, answers to queries. The folder of each
 * kind declares its structure. */
#ifndef SYCL_CLIENT_OBJECTS_H
#define SYCL_CLIENT_OBJECTS_H

#include "connection/connection.h"
#include "connection/handles.h"

/* Pins an object, and unpins it at the end of the block on every path. */
#define DEFINE_PIN(type, handle_type, handle_kind)                                                 \
	static inline sycl_result type##_pin(handle_type handle, struct type **out)                \
	{                                                                                          \
		struct object *object = NULL;                                                      \
		sycl_result result = handle_pin(handle, handle_kind, &object);                     \
		if (!result)                                                                       \
			*out = (void *)object;                                                     \
		return result;                                                                     \
	}                                                                                          \
	static inline void type##_unpin(struct type **pinned)                                      \
	{                                                                                          \
		if (*pinned)                                                                       \
			object_unref((struct object *)*pinned);                                    \
	}

/* Declares `variable`, pinned for the rest of the block; returns from the function when the handle
 * is not good. */
#define PIN(type, variable, handle)                                                                \
	CLEANUP(type##_unpin) struct type *(variable) = NULL;                                      \
	do {                                                                                       \
		sycl_result pinned_ = type##_pin((handle), &(variable));                           \
		if (pinned_)                                                                       \
			return pinned_;                                                            \
	} while (0)

/* Outputs must be given. */
#define REQUIRE_OUTPUT(pointer)                                                                    \
	do {                                                                                       \
		if (!(pointer))                                                                    \
			return error_set(SYCL_ERROR_INVALID, "%s is NULL", #pointer);              \
	} while (0)

/* Allocates a zeroed object that holds its connection; NULL with the detail set. */
void *object_new(size_t bytes, struct connection *connection);
/* Undoes object_new for an object that never got a handle, or at the end of destroy. */
void object_delete(struct object *object);

/* Answers an info query: `value` may be NULL, `bytes_out` too. */
sycl_result info_give(const void *source, size_t source_bytes, size_t bytes, void *value,
		      size_t *bytes_out);
sycl_result info_give_text(const char *text, size_t bytes, void *value, size_t *bytes_out);

#endif
