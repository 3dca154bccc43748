/* What is behind each kind of handle. */
#ifndef SYCL_CLIENT_OBJECTS_H
#define SYCL_CLIENT_OBJECTS_H

#include "connection/connection.h"
#include "connection/handles.h"
#include "connection/queue_line.h"

#include "syclclient.h"
#include "syclclient/native.h"

#define INDEX_UNRESOLVED UINT32_MAX

struct graph;

struct platform {
	struct object object;
	_Atomic uint32_t index; /* in the topology; INDEX_UNRESOLVED: the connection's own, before
				   anybody asked */
};

struct device {
	struct object object;
	uint32_t index; /* in the topology; of a sub-device another one than any that lives has */
	const Sycl__V1__DeviceFacts *facts; /* the topology's, or own_facts */
	struct platform *platform;
	struct context *
		implicit_context; /* weak; of queues made without a context. Under the state lock */
	struct device *parent;    /* of a sub-device, held, as what follows is; else NULL */
	struct remote remote;
	Sycl__V1__DeviceFacts *own_facts; /* which `facts` are then */
};

struct context {
	struct object object;
	struct remote remote;
	struct platform *platform;
	uint32_t device_count;
	struct device **devices;
	bool is_native;                    /* over the application's own context */
	sycl_async_handler *async_handler; /* of queues that have none of their own */
	void *async_user_data;
};

struct queue {
	struct object object;
	struct queue_line *line;
	struct context *context;
	struct device *device;
	_Atomic(struct graph *) recording; /* that records it, weak: changes under the graph lock;
					      NULL: it executes */
	_Atomic(struct handler *)
		spare; /* memory of a handler that has ended, for the next one; or NULL */
	bool checks_native;
	atomic_bool is_lent; /* its native queue, where that is checked */
};

struct host_block {
	struct object object; /* of no connection */
	void *memory;
	uint64_t size_bytes;
	sycl_free_function *free_memory;
	void *context;
};

/*
 * A buffer, or a part or a view of one (`root`): the service knows roots only, whose id parts have
 * too, so that it can be named by any of them. What is said of use, writing back and host accessors
 * is kept in the root.
 */
struct buffer {
	struct object object;
	struct remote remote;  /* of a root */
	struct buffer *root;   /* whose bytes these are, held; NULL: a root */
	struct buffer *family; /* the one that ends with the last of its parts, held; NULL: itself.
				  Of parts without bytes not root */
	uint64_t origin_bytes; /* in the root */
	bool is_part;          /* a sub-buffer, or a view of one: orders by its own range */
	uint64_t size_bytes, element_bytes;
	sycl_range range;        /* in elements */
	void *address;           /* its shared memory; NULL for 0 bytes */
	_Atomic uint32_t owners; /* of a family: buffers and parts in the caller's hands */
	sycl_host_memory kind;
	void *host;               /* that is written back to: borrowed, or of the block */
	struct host_block *block; /* held */
	void *use_mutex;          /* pthread_mutex_t, the caller's; NULL: none */
	_Atomic(void *) final_data;
	_Atomic uint32_t final_data_set; /* 1: final_data replaces host, also when it is NULL */
	_Atomic uint32_t write_back;     /* 0: cancelled */
	_Atomic uint32_t used;           /* a command group was submitted that requires it */
	_Atomic uint32_t modified;       /* ... or a host accessor was made that writes */
	_Atomic uint32_t host_accessors; /* held now */
	_Atomic uint32_t graphs;         /* that can be changed, and use it (L11) */
	_Atomic uint32_t pages; /* enum own_pages: where the first contents are; changes under the
				   state lock */
	bool is_temporary; /* of graphs: without memory of its own, `address` is NULL; of a root */
	sycl_share_kind share;         /* how it can be exported, or was imported */
	uint32_t share_device;         /* where it lives then: the service's number */
	struct bridge_import *imports; /* of a root, where it is open in contexts of the program's
					  (bridge_memory.c); under open_lock */
	void (*close_imports)(struct buffer *root); /* NULL: there are none */
	uint32_t image_format; /* of an image, which has a handle of its own kind: `range` counts
				  pixels; else 0 */
	bool image_layered;    /* ... its first dimension counts layers */
};

struct image {
	struct buffer buffer;
};

static inline struct buffer *buffer_root(struct buffer *buffer)
{
	return buffer->root ? buffer->root : buffer;
}

/* What the host, or a device, is asked for; see HostAccess in proto/command.proto. */
struct host_access {
	struct remote remote;
	uint32_t slot, value;
};

struct host_image {
	struct object object;
	struct host_access access;
	struct buffer *image;
	uint32_t mode;
};

struct host_accessor {
	struct object object;
	struct host_access access;
	struct buffer *buffer;
	void *pointer;
};

/* What a bundle in the input state holds; shared by the bundles that were joined from it. */
struct bundle_source {
	_Atomic uint32_t references;
	uint32_t kind; /* Sycl__V1__SourceKind */
	size_t size_bytes;
	char bytes[];
};

/* One object of the service: a source compiled, or a program, for one device. Without users of its
 * own. */
struct bundle_image {
	struct object object;
	struct remote remote;
	struct context *context;
	struct device *device;
	char *log;    /* NULL: none */
	char **names; /* of its kernels */
	uint32_t name_count;
	bool names_left_out; /* there are more */
	uint64_t native; /* the application's program, as it is; 0: built here, or linked of several
			  */
	pthread_mutex_t variables_lock;   /* held for a round trip: each name is asked for once */
	struct usm_allocation *variables; /* that were asked for; the image's */
};

struct bundle {
	struct object object;
	sycl_bundle_state state;
	struct context *context;
	struct device **devices; /* held */
	uint32_t device_count;
	struct bundle_source **sources; /* of an input */
	uint32_t source_count;
	struct bundle_image **images; /* held; of the others */
	uint32_t image_count;
	char *log;            /* of all images; NULL: none */
	const char **kernels; /* names, the images', without repetition */
	uint32_t kernel_count;
};

struct kernel_argument {
	uint32_t kind; /* Sycl__V1__ArgumentKind */
	uint32_t size_bytes;
	uint32_t address; /* sycl_address_space */
	bool is_const;
	char *type_name, *name; /* NULL: not known */
};

/* For one device. The one that the caller has holds those for the bundle's other devices. */
struct kernel {
	struct object object;
	struct remote remote;
	struct bundle *bundle;      /* held; NULL in one that another kernel holds */
	struct bundle_image *image; /* held */
	struct kernel **others;
	uint32_t other_count;
	char *name;
	struct kernel_argument *arguments;
	uint32_t argument_count;
	uint64_t max_work_group_size, preferred_multiple, private_mem_bytes, local_mem_bytes;
	uint64_t required_work_group_size[3]; /* 0: none */
	uint64_t max_global_size[3];          /* of a built-in kernel; 0: unknown */
	uint64_t max_local_mem_bytes;
	uint32_t registers, sub_group_size, is_native;
	uint32_t shape;   /* where the last known one that it was sent with stands (shapes.h), 0:
			     none; under the submit lock */
	bool has_presets; /* the application's own: arguments that are not given are as they have
			     been set */
};

struct event {
	struct object object;
	struct queue_line *line; /* held */
	uint64_t group;
	uint32_t slot, value;
	bool own_slot; /* of an out-of-order queue's group */
	bool untimed;  /* of a launch of a graph without times */
	/* Of a recorded group: which graph, and its node there from 0. Never changes. 0: of a group
	 * that was sent. */
	uint64_t graph;
	uint32_t node;
	/* What it depends on, references, while the program can ask for it. Under the state lock,
	 * but for a look at whether. */
	_Atomic(struct event **) waits;
	uint32_t wait_count;
	/*
	 * Native events, held: those that it was made of, set before it is handed out; or the one
	 * that was asked for of a command, set once under the state lock (event_native.c).
	 */
	struct shared_event **natives;
	_Atomic uint32_t native_count;
};

struct command_group {
	struct object object;
	struct handler *handler; /* a reference; never changes any more */
};

struct shared_event {
	struct object object;
	struct remote remote;
	uint32_t device; /* the service's number of it */
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
};

struct handler;

/* A pinned object, unpinned at the end of the block, whatever happens. */
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

DEFINE_PIN(platform, sycl_platform, HANDLE_PLATFORM)
DEFINE_PIN(device, sycl_device, HANDLE_DEVICE)
DEFINE_PIN(context, sycl_context, HANDLE_CONTEXT)
DEFINE_PIN(queue, sycl_queue, HANDLE_QUEUE)
DEFINE_PIN(buffer, sycl_buffer, HANDLE_BUFFER)
DEFINE_PIN(host_block, sycl_host_block, HANDLE_HOST_BLOCK)
DEFINE_PIN(host_accessor, sycl_host_accessor, HANDLE_HOST_ACCESSOR)
DEFINE_PIN(image, sycl_image, HANDLE_IMAGE)
DEFINE_PIN(host_image, sycl_host_image, HANDLE_HOST_IMAGE)
DEFINE_PIN(bundle, sycl_kernel_bundle, HANDLE_BUNDLE)
DEFINE_PIN(kernel, sycl_kernel, HANDLE_KERNEL)
DEFINE_PIN(handler, sycl_handler, HANDLE_HANDLER)
DEFINE_PIN(event, sycl_event, HANDLE_EVENT)
DEFINE_PIN(shared_event, sycl_shared_event, HANDLE_SHARED_EVENT)
DEFINE_PIN(command_group, sycl_command_group, HANDLE_COMMAND_GROUP)

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

/* calloc of an object that holds its connection; NULL with the detail set. */
void *object_new(size_t bytes, struct connection *connection);
/* Undo object_new for an object that never got a handle, or the end of destroy. */
void object_delete(struct object *object);

/* The answer of an info query: `value` may be NULL, `bytes_out` too. */
sycl_result info_give(const void *source, size_t source_bytes, size_t bytes, void *value,
		      size_t *bytes_out);
sycl_result info_give_text(const char *text, size_t bytes, void *value, size_t *bytes_out);

/* platform.c. `index`: in the topology, or INDEX_UNRESOLVED. NULL: no memory. */
struct platform *platform_new(struct connection *connection, uint32_t index);
/* device.c. NULL: no memory. */
struct device *device_new(struct connection *connection, uint32_t index,
			  const Sycl__V1__DeviceFacts *facts);
/* platform.c, device.c: the object at that place of the topology. A reference for the caller. */
sycl_result platform_at(struct connection *connection, uint32_t index,
			struct platform **platform_out);
sycl_result device_at(struct connection *connection, uint32_t index, struct device **device_out);
/* sub_device.c: the application's own part of `parent`. One user reference. */
sycl_result sub_device_take(struct device *parent, sycl_backend backend, uint64_t native,
			    sycl_device *device_out);
/* The service's number of the device that it is, or is a part of. */
uint32_t device_root_number(const struct device *device);

/* context.c: of pinned devices of one platform; `announce` tells the service (NULL: ContextCreate).
 * One user reference. */
typedef sycl_result context_announce(struct context *context, void *what);
sycl_result context_make(uint32_t count, struct device *const *devices, context_announce *announce,
			 void *what, struct context **context_out);
/* queue.c: the same. Takes over the reference of the context. */
typedef sycl_result queue_announce(const struct queue *queue, void *what);
sycl_result queue_make(struct context *context, struct device *device,
		       const struct sycl_queue_options *options, queue_announce *announce,
		       void *what, sycl_queue *queue_out);
/* shared_event.c: one with a name that the service does not know yet. One user reference. */
sycl_result shared_event_new(struct connection *connection, uint32_t device,
			     struct shared_event **event_out);
/* event_native.c: how many native events are behind it; that of a command is made when it is first
 * asked for. A round trip then. */
uint32_t event_natives(struct event *event);

/* context.c: shared by the queues of a device that were made without one; a reference for the
 * caller. */
sycl_result context_implicit(struct device *device, struct context **context_out);
bool context_has(const struct context *context, const struct device *device);

/* event.c: holds the line. NULL with the detail set. */
struct event *event_new(struct connection *connection, struct queue_line *line);
sycl_result event_finish(struct event *event, uint64_t deadline_ns);

/* SYCL_ERROR_INVALID of a recorded event: nothing that was sent stands behind it (L4). */
sycl_result event_check_sent(const struct event *event);
/* Has its slot reached its value? */
bool event_is_complete(const struct event *event);

/* queue.c: until what it was given is complete. Reports failures as sycl_queue_wait does. */
sycl_result queue_wait_until(struct queue *queue, uint64_t deadline_ns);
/* Until the slot has reached the value. */
sycl_result queue_line_wait(struct connection *connection, struct queue_line *line, uint32_t slot,
			    uint32_t value, uint64_t deadline_ns);

/*
 * host_access.c: ask for bytes of a buffer for the host, without waiting. The remote holds them
 * from the grant on until it is released, which host_access_end does.
 */
sycl_result host_access_ask(struct buffer *buffer, uint32_t mode, uint64_t offset_bytes,
			    uint64_t size_bytes, struct host_access *access);
/* Of a root, not of all of it: it orders by these bytes, too, as a sub-buffer's does. */
sycl_result host_access_ask_part(struct buffer *buffer, uint32_t mode,
				 const struct arena_range *bytes, struct host_access *access);
/*
 * Wait until the engine has answered every access asked for so far as far as it can without waiting
 * for a device: what it grants at once is settled, what it refuses has failed.
 */
sycl_result host_access_answered(struct connection *connection);
/* Granted, refused or failed: nothing is left to wait for. */
bool host_access_settled(struct buffer *buffer, const struct host_access *access);
/* Granted, and neither refused nor failed. */
bool host_access_granted(struct buffer *buffer, const struct host_access *access);
/* Wait until it is settled; 0: granted. */
sycl_result host_access_wait(struct buffer *buffer, struct host_access *access,
			     uint64_t deadline_ns);
/* Also before it was granted: then groups do not wait for it any more. */
void host_access_end(struct connection *connection, struct host_access *access);

/* kernel.c: the kernel as that device runs it; NULL: its bundle has it not for that device. */
struct kernel *kernel_on(struct kernel *kernel, const struct device *device);

/* buffer_parts.c: SYCL_ERROR_INVALID where a graph that can still be changed uses the buffer (L11).
 */
sycl_result buffer_check_graphs(struct buffer *buffer);
/* buffer_parts.c: may a group on this device use it? C14 */
sycl_result buffer_check_origin(const struct buffer *buffer, const struct device *device);

#endif
