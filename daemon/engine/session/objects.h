/*
 * The objects of a session. Each has references: one of the client until it releases the object,
 * one of each child and of each piece of work that needs it. The last release frees the object, and
 * the client gets Released. An object that could not be made stays in the table as failed, because
 * requests that name it may be on their way. They fail with its cause. Front thread.
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
	uint32_t backend; /* proto's Backend of what it runs on; 0: none, or not known */
	uint32_t references;
	bool released; /* the client has released its reference */
	bool silent;   /* the end is not reported, because the client has used the index again */
	bool failed;
	bool in_graph; /* the instance of a graph names it: its release is counted */
	/* Fault of a failed object; NULL: there was no memory for it. */
	struct backend_fault *fault;
};

struct context {
	struct object object;
	uint32_t *devices; /* indices of the scheduler */
	uint32_t device_count;
	/* Those devices in the application's context; NULL: the context is the engine's own. */
	struct scheduler_device **natives;
	struct sub_device *
		*sub_devices; /* held; NULL for a full device; the array NULL: there are none */
};

/* A part of a device. Its number is valid until the client has released it and contexts of it have
 * ended. */
struct sub_device {
	struct object object;
	struct scheduler_device *device;
	uint32_t number;
	struct list link; /* link in session.sub_devices */
};

/* A queue's window of memory that the second-level cache treats specially (R6). */
struct queue_l2 {
	struct backend_l2_window window; /* size_bytes 0: none */
	uint64_t usm;                    /* id of the allocation in which it lies */
};

struct queue {
	struct object object;
	struct context *context; /* NULL in a failed object, as are the fields below */
	struct scheduler_device *device;
	const struct backend_device_facts *facts;
	uint32_t device_index;
	uint32_t home_lane;   /* home lane of an in-order queue */
	bool has_native_lane; /* home_lane is this queue's own */
	bool lane_is_known; /* the application has been given its native handle, and may send to it
			     */
	bool in_order, profiling;
	uint32_t slot;
	struct group_window window;
	struct queue_l2 l2;
	struct failure_list failures;
	struct profile_ring profiles;
	struct window_entry
		*barrier; /* the latest barrier, while open: it stands for all groups before it */
	bool slot_status; /* a group has failed */
};

struct buffer {
	struct object object;
	struct sched_buffer *sched;
	struct arena *arena; /* NULL: 0 bytes, or a temporary */
	uint64_t size_bytes;
	struct backend_image image; /* dimensions 0: a plain buffer */
	uint64_t charged_bytes;     /* to the session's limit */
	uint64_t stamp;             /* the latest group that has named it */
	uint64_t order_stamp;       /* the latest graph_order that has it, and where */
	uint32_t order_place;
	struct shared_memory *shared; /* what it shares with buffers of other sessions; NULL:
					 nothing, or no more */
	struct list shared_link;      /* link in shared->buffers */
	bool is_shared;               /* counts as a shared one of its session */
	uint64_t number;              /* the import to reply to; 0: none */
	uint64_t temporary; /* of graphs (graph/temporary.h): never used again; `sched` is NULL. 0:
			       it is none */
};

struct shared_event {
	struct object object;
	struct event_share *share; /* NULL in a failed object */
	struct list link;          /* link in share->events */
	uint64_t number;           /* the request to reply to; 0: none is left */
	bool is_counted;           /* as a shared one of its session */
	struct context *context;   /* context of a native object, held; else NULL */
};

/* In the session's table from the time when it has its address until it is freed. */
struct usm {
	struct object object;
	struct context *context; /* NULL in a failed object */
	struct bundle *bundle;   /* whose variable it is, held, and its context with it; NULL: an
				    allocation */
	enum backend_usm_kind kind;
	uint32_t device_index; /* host USM: of the context's first */
	struct scheduler_device *device;
	uint64_t address, size_bytes, charged_bytes,
		device_bytes;    /* device_bytes: charged, of a device's memory */
	struct arena *arena;     /* in which it lies; NULL: the backend's */
	struct sched_usm *sched; /* NULL: an arena's */
	bool is_listed, ready;
	uint64_t number;  /* number of the request that is replied to */
	uint64_t after;   /* a released one is freed when the session's groups up to this one are
			     complete */
	struct list link; /* link in session.usm_frees */
};

enum bundle_state { BUNDLE_BUILDING, BUNDLE_LOADING, BUNDLE_READY, BUNDLE_OBJECT };

struct bundle {
	struct object object;
	struct context *context;
	struct scheduler_device *device;
	uint32_t device_index;
	enum bundle_state state;
	uint64_t number; /* number of the request that is replied to */
	struct build_job *job;
	struct sched_program *program;
	char *log;
	bool from_cache;
	uint64_t build_ns;
	bool compile_only;
	bool is_native_object; /* of native programs, and not executable */
	void *bytes; /* bytes of an object for the linker, charged to the session; NULL: none */
	size_t byte_count;
};

struct kernel {
	struct object object;
	struct bundle *bundle;
	struct sched_kernel *sched;
	struct backend_kernel_facts facts;
	bool ready;
	uint64_t number; /* number of the request that is replied to */
	char name[NAME_BYTES_MAX + 1];
};

/* The owner of a task of the scheduler; the first member of the struct that it is in. */
enum work_kind { WORK_GROUP, WORK_HOST_ACCESS, WORK_GRAPH_NODE };
struct work {
	enum work_kind kind;
};

struct group {
	struct work work;
	bool wants_slot;
	uint32_t slot, slot_value;
	bool is_host_task, held; /* held: its turn has come, or comes early; the client runs it */
	uint32_t host_slot,
		host_slot_value; /* reports to the client that its turn has come, or never will */
	struct list held_link;   /* link in session.held_tasks */
	uint64_t start_ns; /* of a held one, and of one whose start was reported while it ran; else
			      0 */
	struct queue *queue;
	struct task *task; /* NULL: a launch of a graph node by node, or being made */
	const struct group_graph_ops *graph_ops; /* of a launch of a graph, else NULL */
	struct graph_run *run; /* of a launch of a graph (graph/run.h), else NULL */
	struct graph *graph;   /* of a launch of a graph as one (graph/instance.h), else NULL */
	struct graph_arenas *graph_arenas; /* the same: what it copies from or to, or NULL */
	uint32_t graph_making;             /* the same: which making of it */
	struct arena *arena;               /* that it copies from or to, or NULL */
	struct list session_link;          /* link in session.open_groups */
	uint64_t session_number;
	uint64_t submit_ns; /* CLOCK_MONOTONIC; 0: its queue keeps no times */
	struct window_entry
		entry; /* its count: of a burst, more than one group in this one struct */
};

struct host_accessor {
	struct object object;
	struct work work;
	struct buffer *buffer; /* NULL in a failed object */
	struct task *task;     /* NULL when the access is over */
	bool granted;
	uint32_t slot, slot_value;
};

/*
 * Make an object of that type, empty but for its head. 0; 1: refused, and the client has the reason
 * (`number`: the record to reply to, 0: none); negative: a violation.
 */
int object_new(struct session *session, uint64_t id, enum object_type type, uint64_t number,
	       void *object_out);
/* The object could not be made after all: keeps the reason, and reports it as object_new does. */
void object_fail(struct object *object, uint64_t number, const struct backend_fault *fault);
/* 0: a living object. 1: one that failed, with its cause. Negative: no such object, a violation. */
int object_get(struct session *session, uint64_t id, enum object_type type, void *object_out,
	       struct backend_fault *fault);
struct object *object_ref(struct object *object);
/* The object may be freed afterwards. */
void object_unref(struct object *object);
/* The client's interest ends. */
void object_release(struct object *object);
/* Release every object of a closing session. */
void objects_release_all(struct session *session);

#endif
