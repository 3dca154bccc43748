/*
 * A session: one client. Front thread only; nothing here blocks.
 *
 *   HANDSHAKE --hello--> OPEN --hang-up, pidfd, violation, stop--> CLOSING --its work has ended--> gone
 *       |                                                             ^
 *       +------------- wrong version, garbage, 10 s ------------------+
 *
 * In CLOSING the socket is closed, and nothing is read or sent. Running work ends, then objects and
 * arenas are freed, then the session. The client does not wait for that. Work that had not begun
 * runs too, unless enum close_policy excludes it.
 */
#ifndef SYCL_ENGINE_SESSION_H
#define SYCL_ENGINE_SESSION_H

#include "command.pb-c.h"
#include "base/fault.h"
#include "flat_message.h"
#include "base/object_table.h"
#include "session/kept.h"
#include "session/engine_state.h"
#include "session/objects.h"
#include "base/outbox.h"
#include "base/read_ahead.h"
#include "ring.h"
#include "session/grants.h"
#include "status.h"
#include "session/usm_table.h"
#include "wake.h"

#include <unistd.h>

#define SESSION_REASON_BYTES   256
#define SESSION_RECORDS_ALONE  128u  /* records of each turn */
#define SESSION_RECORDS_SHARED 32u   /* records of a turn if other sessions wait for theirs */
#define SESSION_RECORD_BYTES   1024u /* a record counts once more for each so many bytes */
/* Bytes of replies that wait for room; with more the session closes. All groups that the default
 * limit allows may fail at once. */
#define SESSION_WAITING_BYTES_MAX (256u << 20)
/* The scheduler's memory for groups and host accesses of a session, for each group in flight. */
#define SESSION_WORK_BYTES_PER_GROUP 4096u
#define SESSION_WORK_BYTES_MIN       (16u << 20)
#define SESSION_PROFILES_MAX         (1u << 20)
#define SESSION_GONE_QUEUES_MAX      256u

enum session_state { SESSION_HANDSHAKE, SESSION_OPEN, SESSION_CLOSING };

/* What happens at a session's end to groups that were read but are on no device. A later policy
 * replaces an earlier one. */
enum close_policy {
	CLOSE_DRAIN, /* they run: the end of a session does not cancel its work (D15, D16) */
	/* The process has ended: groups without an effect on other processes are dropped. */
	CLOSE_DROP_PRIVATE,
	CLOSE_DROP_ALL, /* an operator or a lost device ended the session */
};

struct session_usage {
	uint64_t groups_submitted, groups_completed, groups_failed, groups_resubmitted;
	uint64_t device_ns, bytes_to_device, bytes_to_host;
	uint64_t buffer_bytes, arena_bytes; /* held now */
};

/* A released queue with failed groups. Records may still name its events. */
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
	uint64_t read_ns; /* when its records were last read */
	uint32_t spin_ns; /* the last value written to the header's client_spin_ns */

	int socket, pidfd, bell;
	uv_poll_t socket_poll, pid_poll;
	uv_timer_t hello_timer;
	uint32_t handles; /* number of open handles */
	struct outbox outbox;

	struct memory_region *ring;
	struct ring_header *header;
	struct ring_reader submit;
	struct ring_writer replies;
	struct completion_slot *slots;
	uint64_t record;       /* number of the current record */
	uint64_t record_place; /* its place in the submit ring */
	struct list waiting; /* replies and slot writes that did not fit into the ring, in order */
	uint64_t waiting_bytes;
	bool has_more_records; /* the last turn left records in the submit ring */
	uint32_t turn_left;    /* records that this turn may still read */
	/* This queue's groups up to unburst_to run one by one, because they were refused as a
	 * burst. */
	uint64_t unburst_queue;
	uint64_t unburst_to;
	uint32_t stretches_rest; /* number of stretches that are not tried, after one was refused */
	struct session_kepts kepts;
	struct read_ahead ahead;

	uint64_t features;                /* features that both sides agreed on */
	struct shape *shapes[SHAPES_MAX]; /* indexed by their numbers; NULL: not defined */
	/* Results of checks of those shapes; NULL: none yet. */
	struct group_checked *checked[SHAPES_MAX];
	/* Counts failures and releases of objects that groups name, and other changes that affect
	 * their checks (group/checked.h). */
	uint64_t objects_changed;
	struct object_table objects;
	struct session_limits limits;
	uint32_t requested_class,
		requested_weight; /* enum SessionClass; limits may lower both: session_rank */
	/* One bit for each limit that an operator has set for this session only. Orders for all
	 * sessions skip it. */
	uint32_t own_limits;
	bool paused;           /* records are not read until an operator resumes the session */
	struct arena **arenas; /* array of arena_room entries */
	uint64_t arena_room;   /* largest number of arenas that it was ever allowed */
	struct session_usage usage;
	struct sched_account *work; /* the account of the session's tasks */
	uint64_t groups_open;
	struct list open_groups; /* in order of arrival: group.session_link */
	uint64_t group_count;    /* number of groups' tasks so far */
	struct usm_table usm;
	/* Released allocations that open groups may still use, in the order of `after`. */
	struct list usm_frees;
	uint32_t host_tasks_open; /* submitted host tasks without a HostTaskDone yet */
	struct list held_tasks;   /* host tasks that the client runs: group.held_link */
	struct list held_nodes;   /* the same for launches of graphs: graph_node_run.held_link */
	uint64_t graph_bytes;     /* memory of executable graphs */
	uint64_t temporary_count; /* number of graphs' temporaries so far */
	/* Number of released objects that graphs named: graph/instance.h. */
	uint64_t graph_releases;
	struct graph *awaited; /* records wait until this graph is built; NULL: none is awaited */
	uint8_t *deferred;     /* the record that launches it, run afterwards; NULL: none */
	uint32_t deferred_bytes;
	uint32_t record_cost; /* additional cost of the current record, in records */
	/* Descriptors that arrived before the records that name them. */
	struct session_grants grants;
	struct list sub_devices; /* sub-devices with objects: sub_device.link */
	uint32_t shared_buffers, shared_events, exports_open;
	uint32_t occupancy_open; /* occupancy queries without a reply yet */
	uint32_t natives_open;   /* native queries without a reply yet */
	uint32_t builds_running;
	uint64_t object_bytes;   /* memory of compiled bundles, and of sources for late builds */
	struct list late_builds; /* command/late.c: late_build.link */
	uint64_t profile_budget;
	struct gone_queue *gone; /* a ring of the latest SESSION_GONE_QUEUES_MAX queues */
	uint32_t gone_count, gone_next;

	struct list link; /* link in engine.sessions */
	struct list hot_link, notify_link, doomed_link;
	bool notify_any; /* since the last session_wake_client: NOTIFY_ANY */
	enum close_policy close_policy;
	/*
	 * When the client's process ended, or an operator ended the session; 0: neither happened.
	 */
	uint64_t orphan_ns;
	/* The engine or an operator ended the session. The client may still read the memory that it
	 * shares with the engine. */
	bool is_cut_off;
	bool awaits_process; /* CLOSING, and pid_poll is open: if the process ends first, private
				work is dropped */
	int32_t close_status;
	char reason[SESSION_REASON_BYTES];
};

/* An object that groups may name has changed, so checks that were made before do not hold. */
static inline void session_objects_change(struct session *session)
{
	session->objects_changed++;
	if (session->kepts.count > 0)
		session_kept_forget(session);
}

/* rank.c */
/* Returns the scheduler's limit for the tasks of a session with these limits. */
uint64_t session_work_bytes(const struct session_limits *limits);
/* Writes the limits that the library checks, too, into the ring's header, if there is one. */
void session_show_limits(const struct session *session);
/* Applies new limits from now on; existing objects stay. -ENOMEM. */
int session_change_limits(struct session *session, const struct session_limits *limits);
/* Returns the present class (enum SessionClass) and weight: as the client requested, but within the
 * limits. */
void session_rank(const struct session *session, uint32_t *class_out, uint32_t *weight_out);
/* Call when class or weight may have changed. */
void session_apply_rank(struct session *session);

/* fail.c */
/* Closes the session at the end of this turn. The first reason is kept. */
__attribute__((cold, format(printf, 3, 4))) void
session_fail(struct session *session, int32_t status, const char *format, ...);
/*
 * As session_fail, when the engine or an operator ends the session. While the client's process
 * exists, it keeps the memory that it shares with the engine. The program may be about to read its
 * results.
 */
__attribute__((cold, format(printf, 3, 4))) void
session_cut_off(struct session *session, int32_t status, const char *format, ...);
/* As session_fail, for a violation of the protocol. An expression with value -EPROTO. */
#define session_violation(session, ...)                                                            \
	(session_fail(session, STATUS_CONNECTION_LOST, __VA_ARGS__), -EPROTO)

/* session.c */
/* Takes both descriptors, also on failure. `refusal` not NULL: the reason for closing the session
 * at once. */
int session_create(struct engine *engine, int socket, int pidfd, const struct session_peer *peer,
		   const char *refusal);
/* Applies when the session closes, or now if it is closing. An earlier policy is ignored. */
void session_set_close_policy(struct session *session, enum close_policy policy);
void session_close(struct session *session);
/* Called when work of a closing session has ended. The session may be freed afterwards. */
void session_step(struct session *session);
void session_watch_socket(struct session *session);

/* handshake.c: reads a datagram if there is one. False: there was none. */
bool session_receive(struct session *session);

/* memory.c: the ring memory, mapped and initialised; the bell. */
int session_memory_create(struct session *session, uint64_t features);

/* ring.c */
/* Reads and runs some records. `shared`: other sessions wait for their turns. Returns the number of
 * records; large ones count several times. */
uint32_t session_turn(struct session *session, bool shared);
/* True if the session has a part of a stretch, and the rest is about to come (session/kept.h). The
 * client may write anything there: this only says when it is worth looking again. */
static inline bool session_awaits_rest(const struct session *session)
{
	const struct session_kepts *kepts = &session->kepts;
	return kepts->wait_since_ns != 0 && kepts->wait_place == session->submit.tail &&
	       session->engine->now_ns < kepts->wait_until_ns &&
	       atomic_load_explicit(session->submit.head_word, memory_order_relaxed) -
			       kepts->wait_place <
		       kepts->wait_bytes;
}
/* True if session_turn would find nothing to do. A turn polls every hot session. */
static inline bool session_has_nothing(const struct session *session)
{
	if (session_awaits_rest(session))
		return true;
	return !ring_reader_has_more(&session->submit) && !session->has_more_records &&
	       list_empty(&session->waiting) && !session->deferred &&
	       !wake_flag_is_set(&session->header->engine_sleeps);
}
/* True if the session is not read now although its sleep flag is not set. The turn checks when it
 * may continue (engine.held). */
bool session_is_held(struct session *session);
/* Called for a session without records: sets the sleep flags, and puts a held session into the
 * engine's list. False: a record has arrived meanwhile. */
bool session_sleep(struct session *session);
/* Puts the session before those that are already hot, and behind others that slept. A session that
 * slept has fewer records than one that never sleeps. */
void session_make_hot(struct session *session);
/* Puts a reply into the ring, or behind replies that wait for room. A closing session ignores the
 * call. */
void session_reply(struct session *session, const Sycl__V1__Reply *reply);
/* As session_reply, for a reply that ends no wait. The library handles it with the next other
 * reply. */
void session_reply_flat(struct session *session, const struct flat_message *reply);
/* Wakes the client if it sleeps and an event that it awaits may have occurred. */
void session_wake_client(struct session *session);
/*
 * Called after a reply or a slot was written. session_wake_client follows at the end of the turn.
 */
enum notify_kind {
	NOTIFY_IF_AWAITED, /* wakes the client only if it waits for this slot, or for any */
	NOTIFY_ANY         /* wakes the client, whatever it waits for */
};
void session_notify(struct session *session, enum notify_kind kind);
void session_drop_waiting(struct session *session);

/* slots.c */
/* Checks that the slot exists. Otherwise this is a violation. */
int session_check_slot(struct session *session, uint32_t slot);
/* Keeps the order with replies: a failure's reply is in the ring before its slot is written. */
void session_write_slot(struct session *session, uint32_t slot, uint32_t sequence, uint32_t status);
void session_store_slot(struct session *session, uint32_t slot, uint32_t sequence, uint32_t status);

/* True if the client is this process (embedded, tests). */
static inline bool session_in_process(const struct session *session)
{
	return session->peer.pid == getpid();
}

/*
 * True if this session may have the vendor's handles, because it belongs to the engine's process.
 */
static inline bool session_has_natives(const struct session *session)
{
	return session->engine->options.in_application && session_in_process(session);
}

/* arena.c */
struct arena {
	struct session *session;
	uint32_t index;
	uint32_t users;     /* number of buffers, USM allocations, and incomplete copies */
	bool is_placed;     /* mapped at the client's address */
	bool is_left;       /* stays with a cut-off client, with its contents */
	struct list graphs; /* graphs that name it: graph_arena.link */
	struct memory_region *region;
	struct sched_host *host; /* known to the devices, or NULL */
};
int command_arena_create(struct session *session, const Sycl__V1__Command *command);
int command_arena_destroy(struct session *session, const Sycl__V1__Command *command);
void session_arenas_free(struct session *session);
/* Registers the memory with the devices, if it is not registered. 0 or -ENOMEM. */
int session_arena_register(struct arena *arena);
/* Looks up a range of at least `size_bytes`, whose offset is a multiple of `alignment`. 0, or 1
 * with a fault. */
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
/* What kernels have printed; a session without FEATURE_OUTPUT gets nothing. */
void reply_output(struct session *session, const char *text, size_t bytes, bool is_cut);
void reply_released(struct session *session, uint64_t object);
/* Puts `fault` into a message, which points into it. The backend is the object's, if there is such
 * an object. */
void status_fill(const struct session *session, Sycl__V1__Status *status, uint64_t object,
		 const struct backend_fault *fault);

/* usm.c: gives back the allocation's memory and charges. */
void usm_give_back(struct usm *usm);
/* Frees released allocations that no open group can use any more. */
void session_usm_go_on(struct session *session);

/* usage.c */
void session_usage_fill(const struct session *session, Sycl__V1__Usage *usage);
/* Fills in the use of each device, SESSION_DEVICES_REPORTED at most, and returns their number. They
 * point into `session->work`, which counts on. */
uint32_t session_devices_fill(const struct session *session, Sycl__V1__DeviceUsage *rows);

/* devices.c: makes the scheduler discover its devices; 0, or 1 with a fault. */
int session_discover(struct session *session, struct backend_fault *fault);
/* Opens a device of a context. 0; 1 with a fault; negative: a violation. */
struct context_device {
	struct context *context;
	struct scheduler_device *device;
	const struct backend_device_facts *facts;
	const struct backend_ops *ops;
};
int context_device(struct session *session, uint64_t id, uint32_t device,
		   struct context_device *out, struct backend_fault *fault);
/* As context_device, for a device without a context. It must have these features
 * (BACKEND_FEATURE_*). 0, or 1 with a fault. */
int feature_device(struct session *session, uint32_t device, uint32_t features,
		   struct context_device *out, struct backend_fault *fault);
/*
 * devices.c. session_sub_device: a sub-device by its number, also a released one that contexts
 * hold; NULL: this session has none. session_device_info: the facts of a device, or of a sub-device
 * of this session; NULL: there is none.
 */
struct sub_device *session_sub_device(const struct session *session, uint32_t number);
const struct scheduler_device_info *session_device_info(const struct session *session,
							uint32_t number);
#endif
