/*
 * A session: one client. Front thread only; nothing here blocks.
 *
 *   HANDSHAKE --hello--> OPEN --hang-up, pidfd, violation, stop--> CLOSING --its work has ended--> gone
 *       |                                                             ^
 *       +------------- wrong version, garbage, 10 s ------------------+
 *
 * In CLOSING the socket is closed already, and nothing is read or sent any more. Running work ends,
 * then objects and arenas are freed, then the session; the client waits for none of that. Work that
 * had not begun runs too, unless enum close_policy excludes it.
 */
#ifndef SYCL_ENGINE_SESSION_H
#define SYCL_ENGINE_SESSION_H

#include "command.pb-c.h"
#include "base/fault.h"
#include "flat_message.h"
#include "base/object_table.h"
#include "session/engine_state.h"
#include "session/objects.h"
#include "base/outbox.h"
#include "base/read_ahead.h"
#include "ring.h"
#include "session/grants.h"
#include "status.h"
#include "session/usm_table.h"

#include <unistd.h>

#define SESSION_REASON_BYTES   256
#define SESSION_RECORDS_ALONE  128u  /* records of each turn */
#define SESSION_RECORDS_SHARED 32u   /* records of a turn if other sessions wait for theirs */
#define SESSION_RECORD_BYTES   1024u /* a record counts once more for each so many bytes */
/* Replies that wait for room; with more the session closes. All groups that the default limit
 * allows may fail at once. */
#define SESSION_WAITING_BYTES_MAX (256u << 20)
/* The scheduler's memory for groups and host accesses of a session, for each group in flight. */
#define SESSION_WORK_BYTES_PER_GROUP 4096u
#define SESSION_WORK_BYTES_MIN       (16u << 20)
#define SESSION_PROFILES_MAX         (1u << 20)
#define SESSION_GONE_QUEUES_MAX      256u

enum session_state { SESSION_HANDSHAKE, SESSION_OPEN, SESSION_CLOSING };

/* How groups end that were read and are on no device when the session ends. A later one replaces an
 * earlier one. */
enum close_policy {
	CLOSE_DRAIN,        /* closing is no order to stop: what was submitted runs (D15, D16) */
	CLOSE_DROP_PRIVATE, /* the process has ended: groups whose effect no other process can see
			       are dropped */
	CLOSE_DROP_ALL,     /* an operator or a lost device ended the session */
};

struct session_usage {
	uint64_t groups_submitted, groups_completed, groups_failed, groups_resubmitted;
	uint64_t device_ns, bytes_to_device, bytes_to_host;
	uint64_t buffer_bytes, arena_bytes; /* held now */
};

/* A released queue with failed groups: a record may still name its events. */
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
	uint64_t read_ns; /* when records of it were read last */
	uint32_t spin_ns; /* the value that the header's client_spin_ns has */

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
	struct list waiting; /* replies and slot writes that did not fit into the ring, in order */
	uint64_t waiting_bytes;
	bool has_more_records;  /* the last turn left records in the submit ring */
	uint32_t turn_left;     /* records that this turn may still read */
	uint64_t unburst_queue; /* up to unburst_to its groups run one by one: as a burst they were
				   refused */
	uint64_t unburst_to;
	uint32_t stretches_rest; /* stretches that are not tried, because one was refused */
	struct read_ahead ahead;

	uint64_t features;                /* agreed on */
	struct shape *shapes[SHAPES_MAX]; /* indexed by their numbers; NULL: not defined */
	/* Results of checks of those shapes; NULL: none yet. */
	struct group_checked *checked[SHAPES_MAX];
	uint64_t objects_changed; /* counts failures and releases of objects that groups name, and
				     what else their checks depend on (group/checked.h) */
	struct object_table objects;
	struct session_limits limits;
	uint32_t requested_class,
		requested_weight; /* enum SessionClass; limits may lower both: session_rank */
	uint32_t own_limits;   /* bit per limit that an operator set for this session alone: orders
				  for all sessions skip it */
	bool paused;           /* records are not read until an operator resumes the session */
	struct arena **arenas; /* arena_room */
	uint64_t arena_room;   /* the most arenas that it has been allowed */
	struct session_usage usage;
	struct sched_account *work; /* the account of the session's tasks */
	uint64_t groups_open;
	struct list open_groups; /* in the order in which they came: group.session_link */
	uint64_t group_count;    /* tasks of groups, ever */
	struct usm_table usm;
	struct list usm_frees;    /* released, and groups on their way may use it; in the order of
				     `after` */
	uint32_t host_tasks_open; /* submitted; HostTaskDone has not come yet */
	struct list held_tasks;   /* host tasks that the client runs: group.held_link */
	struct list held_nodes;   /* the same of launches of graphs: graph_node_run.held_link */
	uint64_t graph_bytes;     /* memory of executable graphs */
	uint64_t temporary_count; /* temporaries of graphs that were ever made */
	uint64_t graph_releases;  /* of objects that graphs name: graph/instance.h */
	struct graph *awaited;    /* no record is read until this graph is built; NULL: all are */
	uint8_t *deferred;        /* the record that launches it, run afterwards; NULL: none */
	uint32_t deferred_bytes;
	uint32_t record_cost;         /* work of the record at hand, in records, beyond one */
	struct session_grants grants; /* descriptors that came before the records that name them */
	struct list sub_devices;      /* whose objects there are: sub_device.link */
	uint32_t shared_buffers, shared_events, exports_open;
	uint32_t occupancy_open; /* occupancy queries without a reply yet */
	uint32_t natives_open;   /* native queries without a reply yet */
	uint32_t builds_running;
	uint64_t object_bytes; /* memory of compiled bundles */
	uint64_t profile_budget;
	struct gone_queue *gone; /* a ring of the latest SESSION_GONE_QUEUES_MAX */
	uint32_t gone_count, gone_next;

	struct list link; /* link in engine.sessions */
	struct list hot_link, notify_link, doomed_link;
	bool notify_any; /* since the last session_wake_client: NOTIFY_ANY */
	enum close_policy close_policy;
	uint64_t orphan_ns; /* when the client's process or an operator ended it; 0: neither did
			     */
	bool is_cut_off;    /* the engine or an operator ended it: the client may still read what it
			       shares with the engine */
	bool awaits_process; /* CLOSING, and pid_poll is open: if the process ends first, private
				work is dropped */
	int32_t close_status;
	char reason[SESSION_REASON_BYTES];
};

/* rank.c */
/* The scheduler's limit for the tasks of a session with these limits. */
uint64_t session_work_bytes(const struct session_limits *limits);
/* New limits hold from now on; what the session has already stays. -ENOMEM. */
int session_change_limits(struct session *session, const struct session_limits *limits);
/* Class (enum SessionClass) and weight now: as the client requested, but no better than the limits
 * allow. */
void session_rank(const struct session *session, uint32_t *class_out, uint32_t *weight_out);
/* Call when class or weight may have changed. */
void session_apply_rank(struct session *session);

/* fail.c */
/* Close it at the end of this turn, for this reason (the first one counts). */
__attribute__((cold, format(printf, 3, 4))) void
session_fail(struct session *session, int32_t status, const char *format, ...);
/*
 * As session_fail, when the engine or an operator ends the session. While the client's process
 * lives it keeps the memory that it shares with the engine, as a program may be about to read its
 * results.
 */
__attribute__((cold, format(printf, 3, 4))) void
session_cut_off(struct session *session, int32_t status, const char *format, ...);
/* As session_fail, for a violation of the protocol. An expression with value -EPROTO. */
#define session_violation(session, ...)                                                            \
	(session_fail(session, STATUS_CONNECTION_LOST, __VA_ARGS__), -EPROTO)

/* session.c */
/* Takes both descriptors, also on failure. `refusal` not NULL: the reason to close it at once. */
int session_create(struct engine *engine, int socket, int pidfd, const struct session_peer *peer,
		   const char *refusal);
/* Applies when the session closes, or now if it is closing. An earlier policy is ignored. */
void session_set_close_policy(struct session *session, enum close_policy policy);
void session_close(struct session *session);
/* Call after the end of anything that a closing session waits for: the session may be freed
 * afterwards. */
void session_step(struct session *session);
void session_watch_socket(struct session *session);

/* handshake.c: one datagram may be readable. False: none was. */
bool session_receive(struct session *session);

/* memory.c: the ring memory, mapped and laid out; the bell. */
int session_memory_create(struct session *session, uint64_t features);

/* ring.c */
/*
 * Read and run some records. `shared`: other sessions wait for their turns. Returns the number of
 * records, large ones counted as several.
 */
uint32_t session_turn(struct session *session, bool shared);
/* The session is not read now, and its sleep flag is not set: the turn checks whether it may go on
 * (engine.held). */
bool session_is_held(struct session *session);
/* The session has no records: set the sleep flags; a held one goes into the engine's list. False: a
 * record came meanwhile. */
bool session_sleep(struct session *session);
/* The session comes before sessions that are hot already and behind others that slept. A session
 * that slept has fewer records than one that never does. */
void session_make_hot(struct session *session);
/* Put a reply into the ring, or behind replies that wait for room. A closing session ignores it. */
void session_reply(struct session *session, const Sycl__V1__Reply *reply);
/* The same for a reply that the library takes when it comes upon it, as no wait ends with it. */
void session_reply_flat(struct session *session, const struct flat_message *reply);
/* Wakes the client if it sleeps and what it waits for may have come. */
void session_wake_client(struct session *session);
/* A reply or a slot was written: at the end of the turn session_wake_client follows. */
enum notify_kind {
	NOTIFY_IF_AWAITED, /* wakes only a client that waits for this slot, or for any */
	NOTIFY_ANY         /* whatever the client waits for */
};
void session_notify(struct session *session, enum notify_kind kind);
void session_drop_waiting(struct session *session);

/* slots.c */
/* Is it a slot? Otherwise a violation. */
int session_check_slot(struct session *session, uint32_t slot);
/* In order with the replies: a failure's reply is in the ring before its slot is written. */
void session_write_slot(struct session *session, uint32_t slot, uint32_t sequence, uint32_t status);
void session_store_slot(struct session *session, uint32_t slot, uint32_t sequence, uint32_t status);

/* Is the client this very process (embedded, tests)? */
static inline bool session_in_process(const struct session *session)
{
	return session->peer.pid == getpid();
}

/* May this session have the vendor's handles? It is the process that the engine runs in. */
static inline bool session_has_natives(const struct session *session)
{
	return session->engine->options.in_application && session_in_process(session);
}

/* arena.c */
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
int command_arena_create(struct session *session, const Sycl__V1__Command *command);
int command_arena_destroy(struct session *session, const Sycl__V1__Command *command);
void session_arenas_free(struct session *session);
/* Make it known to the devices, if it is not. 0 or -ENOMEM. */
int session_arena_register(struct arena *arena);
/* Look up a range of at least `size_bytes`, its offset a multiple of `alignment`. 0, or 1 with a
 * fault. */
int session_arena_range(struct session *session, const Sycl__V1__ArenaRange *range,
			uint64_t size_bytes, uint64_t alignment, struct arena **arena_out,
			void **address_out, struct backend_fault *fault);

/* replies.c */
/* Success, without a result. */
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

/* usm.c: gives back what the allocation holds. */
void usm_give_back(struct usm *usm);
/* Frees released allocations that no open group can use any more. */
void session_usm_go_on(struct session *session);

/* usage.c */
void session_usage_fill(const struct session *session, Sycl__V1__Usage *usage);
/* The use of each device, SESSION_DEVICES_REPORTED at most; returns how many. They point into
 * memory in which `session->work` goes on to count. */
uint32_t session_devices_fill(const struct session *session, Sycl__V1__DeviceUsage *rows);

/* devices.c: makes the scheduler discover its devices; 0, or 1 with a fault. */
int session_discover(struct session *session, struct backend_fault *fault);
/* A device of a context, opened. 0; 1 with a fault; negative: a violation. */
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
/*
 * devices.c: a sub-device by its number, also one that is released and that contexts
 * hold; NULL: this session has none. What is known of a device, or of a sub-device of this session;
 * NULL: there is none.
 */
struct sub_device *session_sub_device(const struct session *session, uint32_t number);
const struct scheduler_device_info *session_device_info(const struct session *session,
							uint32_t number);
#endif
