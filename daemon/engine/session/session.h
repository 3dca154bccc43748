/*
 * One client. Front thread only; nothing here blocks.
 *
 *   HANDSHAKE --hello--> OPEN --hang-up, pidfd, violation, stop--> CLOSING --its work has ended--> gone
 *       |                                                             ^
 *       +------------- wrong version, garbage, 10 s ------------------+
 *
 * In CLOSING the socket is closed already, nothing is read or told any more; work that runs ends,
 * then its objects and arenas go, then the session. Nobody waits for that. What had not begun runs
 * too, unless nobody wants it (enum session_rest).
 */
#ifndef SYCL_ENGINE_SESSION_H
#define SYCL_ENGINE_SESSION_H

#include "command.pb-c.h"
#include "process/state.h"
#include "base/fault.h"
#include "base/object_table.h"
#include "session/objects.h"
#include "base/outbox.h"
#include "base/read_ahead.h"
#include "ring.h"
#include "session/grants.h"
#include "status.h"
#include "base/usm_table.h"

#include <unistd.h>

#define SESSION_REASON_BYTES   256
#define SESSION_RECORDS_ALONE  128u  /* for each turn */
#define SESSION_RECORDS_SHARED 32u   /* where there are neighbours: they wait for each other's */
#define SESSION_RECORD_BYTES   1024u /* a record counts once more for each so many bytes */
/* Replies that found no room; beyond it the session closes. All groups that the default limit
 * allows may fail at once. */
#define SESSION_WAITING_BYTES_MAX (256u << 20)
/* What the scheduler holds for the groups and host accesses of a session: so much for each group
 * that it may have. */
#define SESSION_WORK_BYTES_PER_GROUP 4096u
#define SESSION_WORK_BYTES_MIN       (16u << 20)
#define SESSION_PROFILES_MAX         (1u << 20)
#define SESSION_GONE_QUEUES_MAX      256u

enum session_state { SESSION_HANDSHAKE, SESSION_OPEN, SESSION_CLOSING };

/* What becomes of groups that have been read and are on no device when the session ends. The later
 * one counts. */
enum session_rest {
	SESSION_REST_RUNS,    /* closing is no order to stop: what was submitted runs (D15, D16) */
	SESSION_REST_UNSEEN,  /* its process has ended: what nobody else can find out about is
				 dropped */
	SESSION_REST_DROPPED, /* somebody wants it to stop: all of it is */
};

struct session_usage {
	uint64_t groups_submitted, groups_completed, groups_failed, groups_resubmitted;
	uint64_t device_ns, bytes_to_device, bytes_to_host;
	uint64_t buffer_bytes, arena_bytes; /* held now */
};

/* A released queue of which groups had failed: an event of it may still be named. */
struct gone_queue {
	uint64_t id;
	struct failure_list failures;
};

struct session {
	struct engine *engine;
	enum session_state state;
	struct session_peer peer;
	char command[NAME_BYTES_MAX + 1];
	uint64_t start_ns;

	int socket, pidfd, bell;
	uv_poll_t socket_poll, pid_poll;
	uv_timer_t hello_timer;
	uint32_t handles; /* open ones */
	struct outbox outbox;

	struct memory_region *ring;
	struct ring_header *header;
	struct ring_reader submit;
	struct ring_writer replies;
	struct completion_slot *slots;
	uint64_t record;     /* number of the record at hand */
	struct list waiting; /* replies and slot writes that found no room, in order */
	uint64_t waiting_bytes;
	bool more;              /* the last turn left records in the submit ring */
	uint32_t turn_left;     /* records that this turn may still read */
	uint64_t unburst_queue; /* its groups up to this number were refused as a burst: they come
				   one by one */
	uint64_t unburst_to;
	struct read_ahead ahead;

	uint64_t features;                /* agreed on */
	struct shape *shapes[SHAPES_MAX]; /* by their numbers; NULL: not defined */
	struct object_table objects;
	struct session_limits limits;
	uint32_t asked_class, asked_weight; /* enum SessionClass; what it has of that is by its
					       limits: session_rank */
	uint32_t own_limits;   /* bit per limit that is this session's alone: what is said of all
				  leaves it */
	bool paused;           /* not read, until an operator lets it go on */
	struct arena **arenas; /* arena_room */
	uint64_t arena_room;   /* the most arenas that it has been allowed */
	struct session_usage usage;
	struct sched_account *work; /* what its tasks hold */
	uint64_t groups_open;
	struct list open_groups; /* in the order in which they came: group.session_link */
	uint64_t group_count;    /* tasks of groups, ever */
	struct usm_table usm;
	struct list usm_frees;    /* released, and groups on their way may use it; in the order of
				     `after` */
	uint32_t host_tasks_open; /* submitted, and the client has not said that they are over */
	struct list held_tasks;   /* host tasks that the client runs: group.held_link */
	struct list held_nodes;   /* the same of launches of graphs: graph_node_run.held_link */
	uint64_t graph_bytes;     /* of executable graphs */
	uint64_t temporary_count; /* temporaries of graphs that were ever made */
	uint64_t graph_releases;  /* of objects that graphs name: graph_whole.h */
	struct graph *awaited;    /* it is not read until this graph is made; NULL: it is */
	uint8_t *deferred;        /* the record that has come to it, to be run then; NULL: none */
	uint32_t deferred_bytes;
	uint32_t record_cost;         /* of the record at hand, beyond one */
	struct session_grants grants; /* descriptors that came before the records that name them */
	struct list sub_devices;      /* whose objects there are: sub_device.link */
	uint32_t shared_buffers, shared_events, exports_open;
	uint32_t occupancy_open; /* questions that are not answered */
	uint32_t natives_open;   /* and those about native handles */
	uint32_t builds_running;
	uint64_t object_bytes; /* of compiled bundles */
	uint64_t profile_budget;
	struct gone_queue *gone; /* a ring of the latest SESSION_GONE_QUEUES_MAX */
	uint32_t gone_count, gone_next;

	struct list link; /* of engine.sessions */
	struct list hot_link, notify_link, doomed_link;
	enum session_rest rest;
	uint64_t orphan_ns;  /* when its client's process ended, or an operator ended it; 0: neither
			      */
	bool is_cut_off;     /* its end is not its client's doing, who may still read what it shares
				with the engine */
	bool awaits_process; /* CLOSING, and pid_poll is open: if the process ends first, less of it
				runs */
	int32_t close_status;
	char reason[SESSION_REASON_BYTES];
};

/* session.c */
/* Takes both descriptors, also on failure. `refusal` not NULL: it is told so, and closed. */
int session_create(struct engine *engine, int socket, int pidfd, const struct session_peer *peer,
		   const char *refusal);
/* From now on; what it has already stays. -ENOMEM. */
int session_change_limits(struct session *session, const struct session_limits *limits);
/* Its class (enum SessionClass) and weight now: what it asked for, but no better than its limits
 * allow. */
void session_rank(const struct session *session, uint32_t *class_out, uint32_t *weight_out);
/* One of the two may have become another. */
void session_apply_rank(struct session *session);
/* Close it at the end of this turn, for this reason (the first one counts). */
__attribute__((cold, format(printf, 3, 4))) void
session_fail(struct session *session, int32_t status, const char *format, ...);
/*
 * The same where the end is the engine's or an operator's doing: while the client's process lives
 * it keeps what it shares with the engine, as a program may be about to read its results.
 */
__attribute__((cold, format(printf, 3, 4))) void
session_cut_off(struct session *session, int32_t status, const char *format, ...);
/* Of what it has submitted no more is to run than that: when it closes, or now if it is closing. */
void session_drop_rest(struct session *session, enum session_rest rest);
/* As session_fail, for what breaks the protocol's rules. An expression with value -EPROTO. */
#define session_violation(session, ...)                                                            \
	(session_fail(session, STATUS_CONNECTION_LOST, __VA_ARGS__), -EPROTO)
void session_close(struct session *session);
/* Call after something that a closing session waits for has ended: the session may be gone
 * afterwards. */
void session_step(struct session *session);
void session_watch_socket(struct session *session);

/* session_handshake.c: one datagram may be readable. False: none was. */
bool session_receive(struct session *session);

/* session_memory.c: the ring memory, mapped and laid out; the bell. */
int session_memory_create(struct session *session, uint64_t features);

/* session_ring.c */
/*
 * Read and run some records. `shared`: there are neighbours, that wait for each other's. How many
 * records it was, large ones counted as several.
 */
uint32_t session_turn(struct session *session, bool shared);
/* It is not read now, and its sleep flag is not set: somebody has to look whether it goes on
 * (engine.held). */
bool session_is_held(struct session *session);
/* Nothing to do: set the sleep flags; of one that is held, put it into the engine's list. False:
 * something came meanwhile. */
bool session_sleep(struct session *session);
/* It comes before those that are hot already, behind others that were not: who slept has less to
 * say than who never does. */
void session_make_hot(struct session *session);
/* Put a reply into the ring, or behind what waits for room. Nothing happens when the session is
 * closing. */
void session_reply(struct session *session, const Sycl__V1__Reply *reply);
/* Wake the client if it sleeps. */
void session_wake_client(struct session *session);
void session_notify(struct session *session);
void session_drop_waiting(struct session *session);

/* session_slots.c */
/* Is it a slot? Otherwise a violation. */
int session_check_slot(struct session *session, uint32_t slot);
/* In order with the replies: a failure's reply is in the ring before its slot tells of it. */
void session_write_slot(struct session *session, uint32_t slot, uint32_t sequence, uint32_t status);
void session_store_slot(struct session *session, uint32_t slot, uint32_t sequence, uint32_t status);

/* Is the client this very process (embedded, tests)? Then it sees whatever the engine does. */
static inline bool session_in_process(const struct session *session)
{
	return session->peer.pid == getpid();
}

/* session_arena.c */
struct arena {
	struct session *session;
	uint32_t index;
	uint32_t users;     /* buffers, USM, and copies that are not complete */
	bool is_placed;     /* where the client has it too */
	bool is_left;       /* to a client that is cut off, with what is in it */
	struct list graphs; /* that name it: graph_arena.link */
	struct memory_region *region;
	struct sched_host *host; /* known to the devices, or NULL */
};
void session_arenas_free(struct session *session);
/* Make it known to the devices, if it is not. 0 or -ENOMEM. */
int session_arena_register(struct arena *arena);
/* Look up a range of at least `size_bytes`, its offset a multiple of `alignment`. 0, or 1 with a
 * fault. */
int session_arena_range(struct session *session, const Sycl__V1__ArenaRange *range,
			uint64_t size_bytes, uint64_t alignment, struct arena **arena_out,
			void **address_out, struct backend_fault *fault);

/* replies.c */
/* Done, with nothing to say. */
void reply_done(struct session *session, uint64_t number);
void reply_status(struct session *session, uint64_t number, uint64_t object,
		  const struct backend_fault *fault);
void reply_object_failed(struct session *session, uint64_t object,
			 const struct backend_fault *fault);
void reply_group_failed(struct session *session, uint64_t queue, uint64_t group,
			const struct backend_fault *fault);
void reply_released(struct session *session, uint64_t object);
/* `fault` in the shape of a message, which points into it; the backend is the object's, if there is
 * such an object. */
void status_fill(const struct session *session, Sycl__V1__Status *status, uint64_t object,
		 const struct backend_fault *fault);

/* session_usage.c */
void session_usage_fill(const struct session *session, Sycl__V1__Usage *usage);
/* Of each device, SESSION_DEVICES_TOLD at most; how many. They point into what `session->work` goes
 * on to count with. */
uint32_t session_devices_fill(const struct session *session, Sycl__V1__DeviceUsage *rows);

/* commands_objects.c: a device of a context, opened. 0; 1 with a fault; negative: a violation. */
struct context_device {
	struct context *context;
	struct scheduler_device *device;
	const struct backend_device_facts *facts;
	const struct backend_ops *ops;
};
int context_device(struct session *session, uint64_t id, uint32_t device,
		   struct context_device *out, struct backend_fault *fault);
/* As above of a device alone, which must have these features (BACKEND_FEATURE_*): 0, or 1 with a
 * fault. */
int feature_device(struct session *session, uint32_t device, uint32_t features,
		   struct context_device *out, struct backend_fault *fault);
/* commands_share.c: which feature a kind of sharing needs; what a shared buffer counts as. 0, or 1
 * with a fault. */
int share_kind_feature(uint32_t kind, uint32_t *feature_out, struct backend_fault *fault);
int share_admit(struct session *session, uint64_t size_bytes, uint64_t *charged_out,
		struct backend_fault *fault);
/* Memory on a device at once, which its own thread makes; NULL: another one does. 0, or 1 with a
 * fault. */
int device_admit(struct session *session, const struct scheduler_device *device,
		 uint64_t size_bytes, struct backend_fault *fault);
/* A buffer's limit and its place in an arena (none for 0 bytes): 0, or 1 with a fault. */
int buffer_admit(struct session *session, uint64_t charged_bytes, uint64_t size_bytes,
		 const Sycl__V1__ArenaRange *range, struct arena **arena_out, void **host_out,
		 struct backend_fault *fault);
/* It has its memory: from now on it holds what buffer_admit allowed it. */
void buffer_settle(struct buffer *buffer, uint64_t charged_bytes, uint64_t size_bytes,
		   struct arena *arena);

/*
 * commands_sub_device.c: a sub-device by its number, also one that is released and that contexts
 * hold; NULL: this session has none. What is known of a device, or of a sub-device of this session;
 * NULL: there is none.
 */
struct sub_device *session_sub_device(const struct session *session, uint32_t number);
const struct scheduler_device_info *session_device_info(const struct session *session,
							uint32_t number);
/* The sub-devices among a new context's devices are held. -ENOMEM. */
int context_hold_sub_devices(struct session *session, struct context *context);
/* commands_objects.c: do these fit one context? 0, or 1 with a fault. */
int context_check_devices(struct session *session, const uint32_t *list, size_t list_count,
			  struct backend_fault *fault);
/* A new context has these devices. -ENOMEM. */
int context_set_devices(struct context *context, const uint32_t *list, size_t count);
/* A queue is of this context and device. */
void queue_settle(struct queue *queue, const struct context_device *found, uint32_t device_index);
/* commands_image.c: a description, as a client wrote it. 0, or 1 with a fault. */
int image_read(uint32_t format, bool is_layered, size_t dimensions, const uint64_t *size,
	       struct backend_image *image_out, uint64_t *bytes_out, struct backend_fault *fault);
/* commands_native.c: may this session have the vendor's handles? It is the process that the engine
 * runs in. */
bool session_has_natives(const struct session *session);

/* commands_usm.c: what may have become free because groups have ended. */
void session_usm_go_on(struct session *session);

/* commands.c: run one decoded record. Negative: the session has been told to close. */
int session_command(struct session *session, const Sycl__V1__Command *command);

/* commands_*.c: as session_command. What fails is answered or told; it is no reason to return
 * anything but 0. */
int command_release(struct session *session, const Sycl__V1__Release *message);
int command_arena_create(struct session *session, const Sycl__V1__ArenaCreate *message);
int command_arena_destroy(struct session *session, const Sycl__V1__ArenaDestroy *message);
int command_discover(struct session *session);
int command_context_create(struct session *session, const Sycl__V1__ContextCreate *message);
int command_sub_devices_create(struct session *session, const Sycl__V1__SubDevicesCreate *message);
int command_queue_create(struct session *session, const Sycl__V1__QueueCreate *message);
int command_buffer_create(struct session *session, const Sycl__V1__BufferCreate *message);
int command_image_create(struct session *session, const Sycl__V1__ImageCreate *message);
int command_bundle_build(struct session *session, const Sycl__V1__BundleBuild *message);
int command_bundle_link(struct session *session, const Sycl__V1__BundleLink *message);
int command_kernel_create(struct session *session, const Sycl__V1__KernelCreate *message);
int command_group(struct session *session, const Sycl__V1__CommandGroup *message);
/* What a burst has beside the message of its first group. */
struct group_burst {
	uint32_t count;        /* groups, their numbers one behind the other */
	const uint8_t *values; /* of those behind the first: task_request.launch */
	uint32_t value_bytes;
};
/* 1: it cannot be taken as one, and nothing has happened: each group by itself. */
int command_burst(struct session *session, const Sycl__V1__CommandGroup *message,
		  const struct group_burst *burst);
/*
 * commands_resubmit.c: keep the group's shape; it is not run. A group by its shape: a RESUBMIT
 * record's payload, copied; with it those behind it in the ring that make a burst with it. How many
 * groups that was, or negative.
 */
int command_define_shape(struct session *session, const Sycl__V1__CommandGroup *message);
int command_resubmit(struct session *session, const void *bytes, uint32_t count);
void session_shapes_free(struct session *session);
/* commands_graph.c */
int command_graph_create(struct session *session, const Sycl__V1__GraphCreate *message);
int command_graph_node(struct session *session, const Sycl__V1__GraphNode *message);
int command_graph_edges(struct session *session, const Sycl__V1__GraphEdges *message);
int command_graph_finish(struct session *session, const Sycl__V1__GraphFinish *message);
int command_graph_update(struct session *session, const Sycl__V1__GraphUpdate *message);
/* commands_window.c */
int command_queue_window(struct session *session, const Sycl__V1__QueueWindow *message);
/* The window of the queue, if its memory is still there. False: it has none. */
bool queue_l2_find(struct session *session, const struct queue *queue,
		   struct backend_l2_window *window_out);
/* The queue ends. */
void queue_l2_end(struct queue *queue);
int command_graph_switch(struct session *session, const Sycl__V1__GraphSwitch *message);
int command_host_access(struct session *session, const Sycl__V1__HostAccess *message);
int command_host_task_done(struct session *session, const Sycl__V1__HostTaskDone *message);
int command_usage_query(struct session *session);
/* 0: a queue that is known, released or not. 1: gone, and what was kept with it; failed or beyond
 * the limit. Negative: a violation. */
int command_find_queue(struct session *session, uint64_t id, struct queue **queue_out,
		       struct backend_fault *fault);
int command_profile_query(struct session *session, const Sycl__V1__ProfileQuery *message);
int command_ping(struct session *session);
int command_native_describe(struct session *session, const Sycl__V1__NativeDescribe *message);
int command_native_get(struct session *session, const Sycl__V1__NativeGet *message);
int command_native_make(struct session *session, const Sycl__V1__NativeMake *message);
int command_occupancy_query(struct session *session, const Sycl__V1__OccupancyQuery *message);
int command_buffer_export(struct session *session, const Sycl__V1__BufferExport *message);
int command_buffer_import(struct session *session, const Sycl__V1__BufferImport *message);
int command_shared_event_create(struct session *session,
				const Sycl__V1__SharedEventCreate *message);
int command_usm_allocate(struct session *session, const Sycl__V1__UsmAllocate *message);
int command_usm_free(struct session *session, const Sycl__V1__UsmFree *message);
int command_shared_event_open(struct session *session, const Sycl__V1__SharedEventOpen *message);

#endif
