/* What is behind each kind of handle. */
#ifndef SYCL_CLIENT_OBJECTS_H
#define SYCL_CLIENT_OBJECTS_H

#include "connection.h"
#include "handles.h"
#include "queue_line.h"

#include "syclclient.h"

#define INDEX_UNRESOLVED UINT32_MAX

struct platform {
	struct object object;
	_Atomic uint32_t index; /* in the topology; INDEX_UNRESOLVED: the connection's own, before anybody asked */
};

struct device {
	struct object object;
	uint32_t index;
	const Sycl__V1__DeviceFacts *facts; /* the topology's */
	struct platform *platform;
	struct context *implicit_context; /* weak; of queues made without a context. Under the state lock */
};

struct context {
	struct object object;
	struct remote remote;
	struct platform *platform;
	uint32_t device_count;
	struct device **devices;
};

struct queue {
	struct object object;
	struct queue_line *line;
	struct context *context;
	struct device *device;
};

struct buffer {
	struct object object;
	struct remote remote;
	uint64_t size_bytes;
	void *address; /* its shared memory; NULL for 0 bytes */
	sycl_host_memory kind;
	void *host; /* of a borrowed one */
	_Atomic(void *) final_data;
	_Atomic uint32_t final_data_set; /* 1: final_data replaces host, also when it is NULL */
	_Atomic uint32_t write_back;     /* 0: cancelled */
	_Atomic uint32_t used;           /* a command group was submitted that requires it */
	_Atomic uint32_t modified;       /* ... or a host accessor was made that writes */
	_Atomic uint32_t host_accessors; /* held now */
	sycl_share_kind share;           /* how it can be exported, or was imported */
};

struct host_accessor {
	struct object object;
	struct remote remote;
	struct buffer *buffer;
};

struct bundle {
	struct object object;
	struct remote remote;
	struct context *context;
	struct device *device;
	char *log;
};

struct kernel_argument {
	uint32_t kind; /* Sycl__V1__ArgumentKind */
	uint32_t size_bytes;
};

struct kernel {
	struct object object;
	struct remote remote;
	struct bundle *bundle;
	char *name;
	struct kernel_argument *arguments;
	uint32_t argument_count;
	uint64_t max_work_group_size, preferred_multiple, private_mem_bytes, local_mem_bytes;
	uint64_t required_work_group_size[3]; /* 0: none */
	uint64_t max_local_mem_bytes;
	uint32_t registers, sub_group_size, is_native;
};

struct event {
	struct object object;
	struct queue_line *line; /* held */
	uint64_t group;
	uint32_t slot, value;
	bool own_slot; /* of an out-of-order queue's group */
};

struct shared_event {
	struct object object;
	struct remote remote;
	uint32_t device; /* the service's number of it */
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
};

struct handler;

/* A pinned object, unpinned at the end of the block, whatever happens. */
#define DEFINE_PIN(type, handle_type, handle_kind)                                                                     \
	static inline sycl_result type##_pin(handle_type handle, struct type **out)                                    \
	{                                                                                                              \
		struct object *object = NULL;                                                                          \
		sycl_result result = handle_pin(handle, handle_kind, &object);                                         \
		if (!result)                                                                                           \
			*out = (void *)object;                                                                         \
		return result;                                                                                         \
	}                                                                                                              \
	static inline void type##_unpin(struct type **pinned)                                                          \
	{                                                                                                              \
		if (*pinned)                                                                                           \
			object_unref((struct object *)*pinned);                                                        \
	}

DEFINE_PIN(platform, sycl_platform, HANDLE_PLATFORM)
DEFINE_PIN(device, sycl_device, HANDLE_DEVICE)
DEFINE_PIN(context, sycl_context, HANDLE_CONTEXT)
DEFINE_PIN(queue, sycl_queue, HANDLE_QUEUE)
DEFINE_PIN(buffer, sycl_buffer, HANDLE_BUFFER)
DEFINE_PIN(host_accessor, sycl_host_accessor, HANDLE_HOST_ACCESSOR)
DEFINE_PIN(bundle, sycl_kernel_bundle, HANDLE_BUNDLE)
DEFINE_PIN(kernel, sycl_kernel, HANDLE_KERNEL)
DEFINE_PIN(handler, sycl_handler, HANDLE_HANDLER)
DEFINE_PIN(event, sycl_event, HANDLE_EVENT)
DEFINE_PIN(shared_event, sycl_shared_event, HANDLE_SHARED_EVENT)

/* Declares `variable`, pinned for the rest of the block; returns from the function when the handle is not good. */
#define PIN(type, variable, handle)                                                                                    \
	CLEANUP(type##_unpin) struct type *(variable) = NULL;                                                          \
	do {                                                                                                           \
		sycl_result pinned_ = type##_pin((handle), &(variable));                                               \
		if (pinned_)                                                                                           \
			return pinned_;                                                                                \
	} while (0)

/* Outputs must be given. */
#define REQUIRE_OUTPUT(pointer)                                                                                        \
	do {                                                                                                           \
		if (!(pointer))                                                                                        \
			return error_set(SYCL_ERROR_INVALID, "%s is NULL", #pointer);                                  \
	} while (0)

/* calloc of an object that holds its connection; NULL with the detail set. */
void *object_new(size_t bytes, struct connection *connection);
/* Undo object_new for an object that never got a handle, or the end of destroy. */
void object_delete(struct object *object);

/* The answer of an info query: `value` may be NULL, `bytes_out` too. */
sycl_result info_give(const void *source, size_t source_bytes, size_t bytes, void *value, size_t *bytes_out);
sycl_result info_give_text(const char *text, size_t bytes, void *value, size_t *bytes_out);

/* platform.c, device.c: made by topology.c only, with the state lock held. */
struct platform *platform_new(struct connection *connection, uint32_t index);
struct device *device_new(struct connection *connection, uint32_t index, const Sycl__V1__DeviceFacts *facts);

/* context.c: shared by the queues of a device that were made without one; a reference for the caller. */
sycl_result context_implicit(struct device *device, struct context **context_out);
bool context_has(const struct context *context, const struct device *device);

/* event.c: holds the line. NULL with the detail set. */
struct event *event_new(struct connection *connection, struct queue_line *line);
sycl_result event_finish(struct event *event, uint64_t deadline_ns);

/* queue.c: until the groups up to `group` are complete. */
sycl_result queue_line_wait(struct connection *connection, struct queue_line *line, uint32_t slot, uint32_t value,
			    uint64_t deadline_ns);

/* host_accessor.c: waits for the host's turn; the accessor's remote holds it until released. */
sycl_result host_access_begin(struct buffer *buffer, uint32_t mode, uint64_t deadline_ns, struct remote *accessor);

#endif
