/*
 * The objects of a session. The client has a reference until it releases the object. Each child,
 * and each piece of work that needs the object, has one too. The last release frees the object, and
 * the client receives Released. An object that could not be made stays in the table as failed,
 * because further requests may already name it. They fail with its cause. Front thread.
 */
#ifndef SYCL_ENGINE_OBJECTS_H
#define SYCL_ENGINE_OBJECTS_H

#include "base/failure_list.h"
#include "base/group_window.h"
#include "base/intrusive_list.h"
#include "protocol_limits.h"
#include "object_id.h"
#include "base/profile_ring.h"
#include "scheduler/public/scheduler.h"

struct session;
struct engine;
struct arena;
struct build_job;
struct shared_memory;
struct event_share;
struct graph_run;
struct graph_arenas;
struct group_graph_ops;
struct graph;

struct object {
	struct session *session;
	uint64_t id;
	enum object_type type;
	uint32_t backend; /* the protocol's Backend of its device; 0: none, or unknown */
	uint32_t references;
	bool released; /* the client has released its reference */
	bool silent;   /* the end is not reported, because the client has used the index again */
	bool failed;
	bool in_graph; /* an instance of a graph names it, so its release is counted */
	/* Fault of a failed object; NULL: there was no memory for it. */
	struct backend_fault *fault;
};

struct context {
	struct object object;
	uint32_t *devices; /* indices of the scheduler */
	uint32_t device_count;
	/* Those devices in the application's context; NULL: the context is the engine's own. */
	struct scheduler_device **natives;
	/* Held; an entry is NULL for a full device; the array is NULL without sub-devices. */
	struct sub_device **sub_devices;
};

/* A part of a device. Its number is valid until the client has released it and its contexts have
 * ended. */
struct sub_device {
	struct object object;
	struct scheduler_device *device;
	uint32_t number;
	struct list link; /* link in session.sub_devices */
};

/* A queue's window of memory that the second-level cache keeps (R6). */
struct queue_l2 {
	struct backend_l2_window window; /* size_bytes 0: none */
	uint64_t usm;                    /* id of the allocation that contains it */
};

struct queue {
	struct object object;
	struct context *context; /* NULL in a failed object, as are the fields below */
	struct scheduler_device *device;
	const struct backend_device_facts *facts;
	uint32_t device_index;
	uint32_t home_lane;   /* home lane of an in-order queue */
	bool has_native_lane; /* no other queue uses home_lane */
	bool lane_is_known;   /* the application has its native handle, and may send to it */
	bool in_order, profiling;
	uint32_t slot;
	struct group_window window;
	struct queue_l2 l2;
	struct failure_list failures;
	struct profile_ring profiles;
	/* The latest barrier while it is open. It stands for all groups before it. */
	struct window_entry *barrier;
	bool slot_status; /* a group has failed */
};

struct buffer {
	struct object object;
	struct sched_buffer *sched;
	struct arena *arena; /* NULL: 0 bytes, or a temporary */
	uint64_t size_bytes;
	struct backend_image image; /* dimensions 0: a plain buffer */
	uint64_t charged_bytes;     /* counted against the session's limit */
	uint64_t stamp;             /* number of the latest group that has named it */
	uint64_t order_stamp; /* the latest graph_order that contains it, and its place there */
	uint32_t order_place;
	/* Memory that buffers of other sessions share; NULL: none, or no longer. */
	struct shared_memory *shared;
	struct list shared_link; /* link in shared->buffers */
	bool is_shared;          /* counted among the session's shared buffers */
	uint64_t number;         /* the import that awaits a reply; 0: none */
	/* For temporaries of graphs (graph/temporary.h): a number that is never used again; `sched`
	 * is NULL. 0: no temporary. */
	uint64_t temporary;
};

struct shared_event {
	struct object object;
	struct event_share *share; /* NULL in a failed object */
	struct list link;          /* link in share->events */
	uint64_t number;           /* the request that awaits a reply; 0: none */
	bool is_counted;           /* counted among the session's shared events */
	struct context *context;   /* context of a native object, held; else NULL */
};

/* In the session's table from the assignment of its address until it is freed. */
struct usm {
	struct object object;
	struct context *context; /* NULL in a failed object */
	/* The bundle whose variable it is, held, and its context with it; NULL: an allocation. */
	struct bundle *bundle;
	enum backend_usm_kind kind;
	uint32_t device_index; /* host USM: of the context's first */
	struct scheduler_device *device;
	uint64_t address, size_bytes, charged_bytes,
		device_bytes;    /* device_bytes: charged, for memory of a device */
	struct arena *arena;     /* the arena that contains it; NULL: the backend's memory */
	struct sched_usm *sched; /* NULL: the memory is an arena's */
	bool is_listed, ready;
	uint64_t number; /* number of the request that awaits a reply */
	/*
	 * After its release it is freed when the session's groups up to this number are complete.
	 */
	uint64_t after;
	struct list link; /* link in session.usm_frees */
};

enum bundle_state { BUNDLE_BUILDING, BUNDLE_LOADING, BUNDLE_READY, BUNDLE_OBJECT };

struct bundle {
	struct object object;
	struct context *context;
	struct scheduler_device *device;
	uint32_t device_index;
	enum bundle_state state;
	uint64_t number; /* number of the request that awaits a reply */
	struct build_job *job;
	struct sched_program *program;
	char *log;
	bool from_cache;
	uint64_t build_ns;
	bool compile_only;
	bool is_native_object; /* made of native programs, and not executable */
	/* The numbers of dimensions that were built first (command/late.c), as bits; 0: all. */
	uint32_t dimensions;
	/* Bytes of an object for the linker, or options and source for late builds; charged to the
	 * session; NULL: none. */
	void *bytes;
	size_t byte_count;
};

struct kernel {
	struct object object;
	struct bundle *bundle;
	struct sched_kernel *sched;
	struct backend_kernel_facts facts;
	bool ready;
	uint64_t number; /* number of the request that awaits a reply */
	char *name;
};

/* The owner of a task of the scheduler; the first member of its struct. */
enum work_kind { WORK_GROUP, WORK_HOST_ACCESS, WORK_GRAPH_NODE };
struct work {
	enum work_kind kind;
};

struct group {
	struct work work;
	bool wants_slot;
	uint32_t slot, slot_value;
	/* Held: its dependencies are complete, or it is sent early, and the client runs it. */
	bool is_host_task, held;
	/* Reports to the client that the host task may run, or never will. */
	uint32_t host_slot, host_slot_value;
	struct list held_link; /* link in session.held_tasks */
	/* Start of a held task, or one that was reported while it ran; else 0. */
	uint64_t start_ns;
	struct queue *queue;
	/* NULL: a launch of a graph node by node, or a group that is being made. */
	struct task *task;
	const struct group_graph_ops *graph_ops; /* for a launch of a graph, else NULL */
	struct graph_run *run; /* for a launch of a graph node by node (graph/run.h), else NULL */
	struct graph *graph;   /* for a launch of a whole graph (graph/instance.h), else NULL */
	/* For such a launch: arenas that it copies from or to, or NULL. */
	struct graph_arenas *graph_arenas;
	uint32_t graph_making;    /* for such a launch: number of the instance */
	struct arena *arena;      /* arena that it copies from or to, or NULL */
	struct list session_link; /* link in session.open_groups */
	uint64_t session_number;
	uint64_t submit_ns; /* CLOCK_MONOTONIC; 0: its queue records no times */
	/* Its count: for a burst, the number of groups in this struct. */
	struct window_entry entry;
};

struct host_accessor {
	struct object object;
	struct work work;
	struct buffer *buffer; /* NULL in a failed object */
	struct task *task;     /* NULL when the access is over */
	bool granted;
	uint32_t slot, slot_value;
};

/* Makes an object of that type, empty except for its head. 0; 1: refused, and the client gets the
 * reason (`number`: the record that awaits a reply, 0: none); negative: a violation. */
int object_new(struct session *session, uint64_t id, enum object_type type, uint64_t number,
	       void *object_out);
/* Turns the object into a failed one. Keeps the reason, and reports it as object_new does. */
void object_fail(struct object *object, uint64_t number, const struct backend_fault *fault);
/* 0: the object is valid. 1: it has failed; fault is the cause. Negative: there is no such object,
 * a violation. */
int object_get(struct session *session, uint64_t id, enum object_type type, void *object_out,
	       struct backend_fault *fault);
struct object *object_ref(struct object *object);
/* The object may be freed afterwards. */
void object_unref(struct object *object);
/* The client has released the object. */
void object_release(struct object *object);
/* Releases every object of a closing session. */
void objects_release_all(struct session *session);

#endif
