/* A command group that is being built. It has its own memory, and does no I/O before submit. One
 * thread at a time. */
#ifndef SYCL_CLIENT_HANDLER_H
#define SYCL_CLIENT_HANDLER_H

#include "kernel/kernel.h"
#include "memory/buffer.h"
#include "queue/queue.h"
#include "copy_box.h"

#define HANDLER_TARGETS 3u

struct executable_graph;

struct handler_requirement {
	struct buffer *buffer;           /* a reference */
	uint32_t mode;                   /* modes of all targets together */
	uint32_t modes[HANDLER_TARGETS]; /* indexed by sycl_target; 0: no access requested */
	uint64_t begin, end;             /* bytes of `buffer`: the union of the requested ranges */
};

struct handler_demand {
	struct buffer *buffer;
	/* The caller's reference. A new requirement takes it over and sets it to NULL. If this is
	 * NULL, the requirement takes a new reference. */
	struct buffer **pinned;
	uint32_t mode;
	sycl_target target;
	uint64_t offset_bytes, size_bytes;
};

enum handler_argument_kind {
	HANDLER_ARGUMENT_UNSET = 0,
	HANDLER_ARGUMENT_ACCESSOR,
	HANDLER_ARGUMENT_VALUE,
	HANDLER_ARGUMENT_LOCAL,
	HANDLER_ARGUMENT_USM,
	HANDLER_ARGUMENT_IMAGE,
	HANDLER_ARGUMENT_SAMPLER,
	HANDLER_ARGUMENT_HOST, /* an accessor of a host task, which is no argument of a kernel */
};

struct handler_argument {
	enum handler_argument_kind kind;
	uint32_t requirement; /* for an accessor or an image */
	/* For an accessor; for a value: the offset in handler.values; for USM: the address. */
	uint64_t offset_bytes;
	uint64_t size_bytes; /* for a value or local memory */
	bool has_sampler;    /* a sampler, or an image with one */
	bool normalised, linear;
	uint8_t addressing; /* addressing of the sampler */
	/* For an image: `requirement` is a buffer, and a struct handler_view is at this offset of
	 * handler.values, unless it is 0. */
	uint32_t view_end; /* the offset of its end */
};

/* A buffer as an image. */
struct handler_view {
	uint32_t format, dimensions;
	uint64_t size[2], offset_bytes, row_pitch; /* SYCL's order */
};

enum handler_action {
	HANDLER_ACTION_NONE = 0,
	HANDLER_ACTION_LAUNCH,
	HANDLER_ACTION_COPY,
	HANDLER_ACTION_FILL,
	HANDLER_ACTION_UPDATE,
	HANDLER_ACTION_RECORD_EVENT,
	HANDLER_ACTION_WAIT_EVENT,
	HANDLER_ACTION_HOST_TASK,
	HANDLER_ACTION_USM_COPY,
	HANDLER_ACTION_USM_FILL,
	HANDLER_ACTION_USM_PREFETCH,
	HANDLER_ACTION_USM_ADVISE,
	HANDLER_ACTION_NATIVE,
	HANDLER_ACTION_GRAPH,
	HANDLER_ACTION_CONDITION, /* only for nodes of graphs */
};

#define HANDLER_INLINE_REQUIREMENTS 8
#define HANDLER_INLINE_ARGUMENTS    16
#define HANDLER_INLINE_VALUES       256

/* A growing array that begins inside the handler, so that a usual group allocates no memory. */
struct handler_list {
	void *items;
	uint32_t count, capacity;
};

struct handler {
	struct object object; /* has the queue's connection */
	struct queue *queue;  /* a reference */
	struct handler_list requirements, arguments, depends_on, values; /* values: bytes */
	/* Set if this handler is one step of a group that the program submitted: that group. The
	 * step's event depends on the group's events (H12). */
	const struct handler *step_of;
	/* The argument of sycl_queue_launch while that call runs; else NULL. */
	const struct sycl_launch *launch;

	enum handler_action action;
	/* Bits 1 << kind of all arguments that were ever set. Checks skip kinds without a bit. */
	uint32_t argument_kinds;
	uint32_t arguments_given; /* number of arguments in the list that are set */
	/* For the queue's device; it is kernel_given, or kernel_given holds it. */
	struct kernel *kernel;
	struct kernel *kernel_given; /* a reference; holds the kernels for other devices */
	uint32_t dimensions;
	uint64_t global[3], local[3];
	bool is_nd, is_empty, cooperative,
		splittable;             /* adjacent, because shape.c reads them as one word */
	bool early;                     /* R5 */
	sycl_range cluster;             /* dimensions 0: no clusters */
	sycl_range offset;              /* offset of global ids; dimensions 0: no offset */
	struct shared_event *event;     /* a reference */
	struct executable_graph *graph; /* A reference, by its object. For a condition: its body. */
	struct remote *graph_remote;    /* the graph's; NULL without a graph */
	/* For a condition: a WHILE. Its word is at usm.source; or, if that is NULL, at
	 * source_offset_bytes of `source`. */
	bool repeats;
	sycl_host_task_function *host_function;
	sycl_user_data_destroy *destroy_user_data; /* called when the handler ends */
	void *user_data;
	/* A host task for native handles: its requirements stay on the queue's device. */
	bool on_device;
	struct native_action *native; /* a reference */
	/* Belongs to the connection. Set for groups that use native handles through a service,
	 * which includes all host tasks there; else NULL. */
	struct bridge_context *bridge;
	bool after_all; /* A barrier: waits for all earlier groups of the queue. */
	/* Indices of requirements: for a copy, a fill (destination) and an update (source). */
	uint32_t source, destination;
	uint64_t source_offset_bytes, destination_offset_bytes;
	uint64_t size_bytes; /* for a fill */
	struct copy_box box; /* for a copy, in simple form */
	/* A copy or fill of a part of an image, with these ends as images. Pixels; the column
	 * first. */
	bool image_part, image_is_source, image_is_destination;
	uint64_t image_size[3], image_source_origin[3], image_destination_origin[3];
	/* The program's end of a copy; NULL: none. The source is read at each submission. With
	 * host_is_usm, the device reads or writes the memory when the group runs. */
	const void *host_source;
	void *host_destination; /* used with host_is_usm only */
	bool host_is_usm;
	uint8_t pattern[FILL_PATTERN_BYTES_MAX];
	uint32_t pattern_bytes;
	struct {
		void *destination; /* for all USM actions; the next members are for copies */
		const void *source;
		/* Shared memory instead of the program's end; NULL: usm_staging.c takes a range. */
		bool program_destination, program_source;
		const struct arena_range
			*range; /* stands for the program's end; NULL: usm_staging.c takes one */
		uint32_t advice;
	} usm;

	struct handler_requirement inline_requirements[HANDLER_INLINE_REQUIREMENTS];
	struct handler_argument inline_arguments[HANDLER_INLINE_ARGUMENTS];
	uint8_t inline_values[HANDLER_INLINE_VALUES];
};

struct handler_dependency {
	struct event *event; /* a reference */
};

static inline struct handler_requirement *handler_requirement_at(const struct handler *handler,
								 uint32_t i)
{
	return (struct handler_requirement *)handler->requirements.items + i;
}

static inline struct handler_argument *handler_argument_at(const struct handler *handler,
							   uint32_t i)
{
	return (struct handler_argument *)handler->arguments.items + i;
}

/* False: no argument is of these kinds (bits 1 << kind). True: one may be. */
static inline bool handler_may_have(const struct handler *handler, uint32_t kinds)
{
	return (handler->argument_kinds & kinds) != 0;
}

static inline struct handler_dependency *handler_dependency_at(const struct handler *handler,
							       uint32_t i)
{
	return (struct handler_dependency *)handler->depends_on.items + i;
}

/* Checks a part: it must be of the same connection, inside the buffer, and its origin must fit the
 * device. */
/* requirements.c. Merges the demand with earlier requirements of the buffer (bitwise OR), and
 * returns the index for accessors. */
sycl_result handler_check_demand(const struct handler *handler,
				 const struct handler_demand *demand);
sycl_result handler_require(struct handler *handler, const struct handler_demand *demand,
			    uint32_t *index_out);
sycl_result handler_add_requirement(struct handler *handler, struct buffer *buffer, uint32_t mode,
				    uint64_t offset_bytes, uint64_t size_bytes,
				    uint32_t *index_out);
/* Checks whether all sub-buffers can be used on that device (C14). */
sycl_result handler_check_origins(const struct handler *handler, const struct device *device);
/* handler.c. Initializes a handler that has no handle. The caller holds a reference to the queue
 * until handler_fini. */
void handler_init(struct handler *handler, struct queue *queue);
void handler_fini(struct handler *handler);
/* Copies a built handler into an object without users. Host tasks cannot be copied. */
sycl_result handler_clone(const struct handler *handler, struct handler **clone_out);
/* copies.c. Turns a copy from the program's memory into a host task for a graph, which reads the
 * memory at each launch. */
sycl_result handler_copy_as_task(const struct handler *handler, struct handler **task_out);
/* copies.c: sets the action to a host task that copies so to the program's memory. */
sycl_result handler_set_copy_out(struct handler *handler, const void *source, void *destination,
				 const struct copy_box *box);
/* Makes a handler with a handle. */
sycl_result handler_new(struct queue *queue, struct handler **handler_out);
/* handler.c. Makes room for `more` items. `fixed`: the first items' place inside the handler. */
sycl_result handler_list_grow(struct handler_list *list, const void *fixed, size_t item_bytes,
			      uint32_t more);
/* As handler_list_grow, without a call if there is room. */
static inline sycl_result handler_list_room(struct handler_list *list, const void *fixed,
					    size_t item_bytes, uint32_t more)
{
	return list->count + more <= list->capacity
		       ? SYCL_SUCCESS
		       : handler_list_grow(list, fixed, item_bytes, more);
}
sycl_result handler_set_argument(struct handler *handler, uint32_t index,
				 struct handler_argument argument);
/*
 * `kind`: HANDLER_ARGUMENT_ACCESSOR, or HANDLER_ARGUMENT_HOST for an accessor of a host task. An
 * error unless the range lies inside the buffer. If the handler takes over the caller's reference
 * of the buffer, *pinned is NULL afterwards. Otherwise the caller keeps it.
 */
sycl_result handler_set_accessor(struct handler *handler, enum handler_argument_kind kind,
				 uint32_t index, struct buffer **pinned, sycl_access_mode mode,
				 uint64_t offset_bytes, uint64_t size_bytes);
/* The bodies of the public functions with these names (handler.c; usm_actions.c). */
sycl_result handler_set_value(struct handler *handler, uint32_t index, uint64_t size_bytes,
			      const void *value);
sycl_result handler_set_local(struct handler *handler, uint32_t index, uint64_t size_bytes);
sycl_result handler_set_usm(struct handler *handler, uint32_t index, const void *pointer);
sycl_result handler_add_dependency(struct handler *handler, struct event *event);
/* actions.c. `local` NULL: a basic range. On success the handler takes over the caller's reference
 * of the kernel, and *pinned is NULL. */
sycl_result handler_set_launch(struct handler *handler, struct kernel **pinned,
			       const sycl_range *global, const sycl_range *local);
/* Checks that the group has no action yet, because each group has one. */
sycl_result handler_check_no_action(const struct handler *handler);

/* check.c: the checks that SYCL requires at the call. */
sycl_result handler_check_range(const struct handler *handler, const struct kernel *kernel,
				const sycl_range *global, const sycl_range *local);
/* Checks a launch that is not plain: it must have work-groups, the clusters must divide them, and
 * the offset must fit. */
sycl_result handler_check_properties(const struct handler *handler);

/* host_task.c: makes a host task that runs the handler's function, for a group of this line. */
sycl_result handler_host_task_new(struct handler *handler, struct queue_line *line,
				  struct host_task **task_out);

/* Checks whether the queue can run the group. `plain_buffers`: the caller has checked that no
 * buffer has failed. */
sycl_result handler_validate(const struct handler *handler, bool plain_buffers);

/* Checks the present state of the objects that a handler names, because they may have been freed
 * since they were set. Takes the state lock. */
sycl_result usm_check(const struct handler *handler);
/* The first byte of the program's end of a copy, with host_is_usm. */
static inline void *handler_host_end(const struct handler *handler)
{
	return handler->host_source
		       ? (uint8_t *)(uintptr_t)handler->host_source + handler->source_offset_bytes
		       : (uint8_t *)handler->host_destination + handler->destination_offset_bytes;
}
/* Checks bytes that a node of a graph reads on the queue's device. `what`: the name in errors. */
sycl_result usm_check_word(const struct handler *handler, const void *pointer, uint64_t size_bytes,
			   const char *what);

/* True for a copy from or to the program's memory, which uses shared memory in between. */
static inline bool handler_is_staged(const struct handler *handler)
{
	return handler->action == HANDLER_ACTION_USM_COPY && !handler->usm.range &&
	       !handler->is_empty &&
	       (handler->usm.program_destination || handler->usm.program_source);
}

struct command_group {
	struct object object;
	struct handler *handler; /* a reference; does not change any more */
};

DEFINE_PIN(handler, sycl_handler, HANDLE_HANDLER)
DEFINE_PIN(command_group, sycl_command_group, HANDLE_COMMAND_GROUP)

#endif
