/* A command group that is being built: memory of its own, no I/O until submit. One thread at a time. */
#ifndef SYCL_CLIENT_HANDLER_H
#define SYCL_CLIENT_HANDLER_H

#include "client_objects.h"

struct handler_requirement {
	struct buffer *buffer; /* a reference */
	uint32_t mode;
	uint64_t begin, end; /* bytes; the union of what was asked for */
};

enum handler_argument_kind {
	HANDLER_ARGUMENT_UNSET = 0,
	HANDLER_ARGUMENT_ACCESSOR,
	HANDLER_ARGUMENT_VALUE,
	HANDLER_ARGUMENT_LOCAL,
};

struct handler_argument {
	enum handler_argument_kind kind;
	uint32_t requirement;  /* of an accessor */
	uint64_t offset_bytes; /* of an accessor; of a value: into handler.values */
	uint64_t size_bytes;   /* of a value or of local memory */
};

enum handler_action {
	HANDLER_ACTION_NONE = 0,
	HANDLER_ACTION_LAUNCH,
	HANDLER_ACTION_COPY,
	HANDLER_ACTION_FILL,
	HANDLER_ACTION_UPDATE,
	HANDLER_ACTION_RECORD_EVENT,
	HANDLER_ACTION_WAIT_EVENT,
};

#define HANDLER_INLINE_REQUIREMENTS 8
#define HANDLER_INLINE_ARGUMENTS    16
#define HANDLER_INLINE_VALUES       256

/* A growing array that begins in the handler itself: a usual group allocates nothing. */
struct handler_list {
	void *items;
	uint32_t count, capacity;
};

struct handler {
	struct object object;
	struct queue *queue;
	struct handler_list requirements, arguments, depends_on, values; /* values: bytes */

	enum handler_action action;
	struct kernel *kernel; /* a reference */
	uint32_t dimensions;
	uint64_t global[3], local[3];
	bool is_nd, is_empty, cooperative;
	sycl_range cluster;           /* dimensions 0: none */
	struct shared_event *event;   /* a reference */
	bool after_all;               /* a barrier: everything submitted to the queue before */
	uint32_t source, destination; /* indices of requirements: copy, fill (destination), update (source) */
	uint64_t source_offset_bytes, destination_offset_bytes, size_bytes;
	uint8_t pattern[FILL_PATTERN_BYTES_MAX];
	uint32_t pattern_bytes;

	struct handler_requirement inline_requirements[HANDLER_INLINE_REQUIREMENTS];
	struct handler_argument inline_arguments[HANDLER_INLINE_ARGUMENTS];
	uint8_t inline_values[HANDLER_INLINE_VALUES];
};

struct handler_dependency {
	struct queue_line *line; /* held */
	uint64_t group;
};

static inline struct handler_requirement *handler_requirement_at(const struct handler *handler, uint32_t i)
{
	return (struct handler_requirement *)handler->requirements.items + i;
}

static inline struct handler_argument *handler_argument_at(const struct handler *handler, uint32_t i)
{
	return (struct handler_argument *)handler->arguments.items + i;
}

static inline struct handler_dependency *handler_dependency_at(const struct handler *handler, uint32_t i)
{
	return (struct handler_dependency *)handler->depends_on.items + i;
}

/* handler.c. Merges with what is required of the buffer already (bitwise OR); the index for accessors. */
sycl_result handler_add_requirement(struct handler *handler, struct buffer *buffer, uint32_t mode,
				    uint64_t offset_bytes, uint64_t size_bytes, uint32_t *index_out);
/* One action for each group. */
sycl_result handler_check_no_action(const struct handler *handler);

/* handler_check.c: what SYCL wants to know at the call. */
sycl_result handler_check_range(const struct handler *handler, const struct kernel *kernel, const sycl_range *global,
				const sycl_range *local);
sycl_result handler_check_arguments(const struct handler *handler);
/* Of a launch that is not plain: does it have work-groups, and do the clusters divide them? */
sycl_result handler_check_properties(const struct handler *handler);

/* handler_submit.c. `event_out` may be NULL. */
sycl_result handler_send(struct handler *handler, sycl_event *event_out);

#endif
