/* A command group that is being built: memory of its own, no I/O until submit. One thread at a
 * time. */
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
	uint32_t modes[HANDLER_TARGETS]; /* indexed by sycl_target; 0: nothing was requested */
	uint64_t begin, end;             /* bytes of `buffer`; the union of what was requested */
};

struct handler_demand {
	struct buffer *buffer;
	struct buffer **pinned; /* the caller's reference, which a new requirement takes over: NULL
				   then. NULL: it gets one of its own */
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
	HANDLER_ARGUMENT_HOST, /* a host task's accessor: no argument of a kernel */
};

struct handler_argument {
	enum handler_argument_kind kind;
	uint32_t requirement;  /* of an accessor or an image */
	uint64_t offset_bytes; /* of an accessor; of a value: into handler.values; of USM the
				  address */
	uint64_t size_bytes;   /* of a value or of local memory */
	bool has_sampler;      /* a sampler, or an image with one */
	bool normalised, linear;
	uint8_t addressing; /* addressing of the sampler */
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
	HANDLER_ACTION_CONDITION, /* of nodes of graphs alone */
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
	struct object object; /* its connection is that of the queue */
	struct queue *queue;  /* a reference */
	struct handler_list requirements, arguments, depends_on, values; /* values: bytes */
	/* For a step of what the program submitted as one group: the group. The step's event
	 * depends on the group's events (H12). */
	const struct handler *step_of;
	/* The argument of sycl_queue_launch while that call runs; else NULL. */
	const struct sycl_launch *launch;

	enum handler_action action;
	uint32_t argument_kinds;  /* bits 1 << kind of all that was ever set: what is not here need
				     not be looked for */
	uint32_t arguments_given; /* how many of the list are set */
	struct kernel *kernel;    /* for the queue's device; kernel_given itself, or held by it */
	struct kernel *kernel_given; /* a reference: has those for other devices */
	uint32_t dimensions;
	uint64_t global[3], local[3];
	bool is_nd, is_empty, cooperative,
		splittable;             /* one behind the other: shape.c takes them as one word */
	bool early;                     /* R5 */
	sycl_range cluster;             /* dimensions 0: none */
	sycl_range offset;              /* of global ids; dimensions 0: none */
	struct shared_event *event;     /* a reference */
	struct executable_graph *graph; /* a reference, by its object; of a condition its body */
	struct remote *graph_remote;    /* the graph's; NULL without one */
	bool repeats; /* of a condition: WHILE. Its word is at usm.source, or NULL: at
			 source_offset_bytes of `source` */
	sycl_host_task_function *host_function;
	sycl_user_data_destroy *destroy_user_data; /* called when the handler ends */
	void *user_data;
	bool on_device; /* a host task for native handles: what it requires stays with the queue's
			   device */
	struct native_action *native;  /* a reference */
	struct bridge_context *bridge; /* through a service, of what uses native handles: a host
					  task in any case; else NULL. The connection's */
	bool after_all;                /* a barrier: everything submitted to the queue before */
	uint32_t source, destination;  /* indices of requirements: copy, fill (destination), update
					  (source) */
	uint64_t source_offset_bytes, destination_offset_bytes;
	uint64_t size_bytes; /* of a fill */
	struct copy_box box; /* of a copy, simple */
	/* The program's end of a copy, NULL: there is none. A source is read at each submission.
	 * But with host_is_usm the device reads or writes it when the group runs. */
	const void *host_source;
	void *host_destination; /* with host_is_usm alone */
	bool host_is_usm;
	uint8_t pattern[FILL_PATTERN_BYTES_MAX];
	uint32_t pattern_bytes;
	struct {
		void *destination; /* of all; what follows is a copy's */
		const void *source;
		bool program_destination, program_source; /* no USM, but the program's own memory */
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

/* False: none of its arguments is of one of these kinds, bits 1 << kind. True: maybe one is. */
static inline bool handler_may_have(const struct handler *handler, uint32_t kinds)
{
	return (handler->argument_kinds & kinds) != 0;
}

static inline struct handler_dependency *handler_dependency_at(const struct handler *handler,
							       uint32_t i)
{
	return (struct handler_dependency *)handler->depends_on.items + i;
}

/* requirements.c. Merges with what is required of the buffer already (bitwise OR); the
 * index for accessors. */
/* Checks a part: of the same connection, inside of the buffer, with an origin that fits the
 * device. */
sycl_result handler_check_demand(const struct handler *handler,
				 const struct handler_demand *demand);
sycl_result handler_require(struct handler *handler, const struct handler_demand *demand,
			    uint32_t *index_out);
sycl_result handler_add_requirement(struct handler *handler, struct buffer *buffer, uint32_t mode,
				    uint64_t offset_bytes, uint64_t size_bytes,
				    uint32_t *index_out);
/* May all sub-buffers be used on that device? C14 */
sycl_result handler_check_origins(const struct handler *handler, const struct device *device);
/* handler.c. Without a handle and without holding the queue, which the caller does until
 * handler_fini. */
void handler_init(struct handler *handler, struct queue *queue);
void handler_fini(struct handler *handler);
/* A copy of what was built, as an object without users; not of a host task. */
sycl_result handler_clone(const struct handler *handler, struct handler **clone_out);
/* copies.c. A host task that does what a copy from the program's memory does, for a graph:
 * read at each launch. */
sycl_result handler_copy_as_task(const struct handler *handler, struct handler **task_out);
/* With a handle of its own. */
sycl_result handler_new(struct queue *queue, struct handler **handler_out);
/* handler.c. Room for `more` items. `fixed`: where the list begins, inside of the handler. */
sycl_result handler_list_grow(struct handler_list *list, const void *fixed, size_t item_bytes,
			      uint32_t more);
/* The same, without a call where there is room. */
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
/* The bodies of the public functions of these names (handler.c; usm_actions.c). */
sycl_result handler_set_value(struct handler *handler, uint32_t index, uint64_t size_bytes,
			      const void *value);
sycl_result handler_set_local(struct handler *handler, uint32_t index, uint64_t size_bytes);
sycl_result handler_set_usm(struct handler *handler, uint32_t index, const void *pointer);
sycl_result handler_add_dependency(struct handler *handler, struct event *event);
/* actions.c. `local` NULL: a basic range. On success the handler takes over the caller's
 * reference of the kernel, and *pinned is NULL. */
sycl_result handler_set_launch(struct handler *handler, struct kernel **pinned,
			       const sycl_range *global, const sycl_range *local);
/* One action for each group. */
sycl_result handler_check_no_action(const struct handler *handler);

/* check.c: the checks that SYCL requires at the call. */
sycl_result handler_check_range(const struct handler *handler, const struct kernel *kernel,
				const sycl_range *global, const sycl_range *local);
sycl_result handler_check_arguments(const struct handler *handler);
/* Can its buffers be in the memory of the queue's device at one time, if nothing else is? (M7) */
sycl_result handler_check_memory(const struct handler *handler);
/* Checks a launch that is not plain: does it have work-groups, do the clusters divide them, does
 * the offset fit? */
sycl_result handler_check_properties(const struct handler *handler);

/* host_task.c: a host task that runs the handler's function, for a group of this line. */
sycl_result handler_host_task_new(struct handler *handler, struct queue_line *line,
				  struct host_task **task_out);

/* Does the queue take it? `plain_buffers`: the caller has found no failed buffer. */
sycl_result handler_validate(const struct handler *handler, bool plain_buffers);

/* Checks the objects that a handler names, as they are now, because an object may have been freed
 * since it was set. Takes the state lock. */
sycl_result usm_check(const struct handler *handler);
/* The first byte of the program's end of a copy, with host_is_usm. */
static inline void *handler_host_end(const struct handler *handler)
{
	return handler->host_source
		       ? (uint8_t *)(uintptr_t)handler->host_source + handler->source_offset_bytes
		       : (uint8_t *)handler->host_destination + handler->destination_offset_bytes;
}
/* Bytes that a node of a graph reads, on the queue's device. `what`: for people. */
sycl_result usm_check_word(const struct handler *handler, const void *pointer, uint64_t size_bytes,
			   const char *what);

/* A copy from or to memory of the program, which goes by way of shared memory. */
static inline bool handler_is_staged(const struct handler *handler)
{
	return handler->action == HANDLER_ACTION_USM_COPY && !handler->usm.range &&
	       !handler->is_empty &&
	       (handler->usm.program_destination || handler->usm.program_source);
}

struct command_group {
	struct object object;
	struct handler *handler; /* a reference; never changes any more */
};

DEFINE_PIN(handler, sycl_handler, HANDLE_HANDLER)
DEFINE_PIN(command_group, sycl_command_group, HANDLE_COMMAND_GROUP)

#endif
