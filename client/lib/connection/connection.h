/*
 * One session with an engine: its socket, its rings, its ids, slots and arenas.
 *
 * Locks, in the order in which they are taken: graph_lock, arenas.grow_lock, import_lock,
 * submit_lock, copiers.start_lock, state_lock. No lock is held while a thread sleeps, with two
 * exceptions. submit_lock (and grow_lock) are held while the submit ring has no room; the engine
 * makes room whatever its devices do. import_lock is held until the engine has opened the imported
 * buffer. The condition variable belongs to the state lock. So a thread that waits for an event of
 * the session sleeps in connection_wait.
 */
#ifndef SYCL_CLIENT_CONNECTION_H
#define SYCL_CLIENT_CONNECTION_H

#include "connection/arenas.h"
#include "connection/async_errors.h"
#include "connection/copiers.h"
#include "connection/printed.h"
#include "embedded_entry.h"
#include "flat_message.h"
#include "flight_page.h"
#include "base/object_ids.h"
#include "packet.h"
#include "connection/replies.h"
#include "ring.h"
#include "base/shapes.h"
#include "base/slots.h"
#include "session.pb-c.h"

#include <pthread.h>

struct bridge;
struct device;
struct graph;
struct helpers;
struct host_task;
struct host_tasks;
struct native_calls;
struct page_copy;
struct platform;
struct topology;
struct usm_state;

/* Made by a thread that waits for the descriptor of an exported buffer, on its stack. */
struct pending_grant {
	uint64_t buffer;
	int descriptor; /* -1: not yet received */
	struct pending_grant *next;
};

#define OBJECTS_MOST (1u << 24) /* of a session: what ids have room for */

/* As in the handshake; limits.h has the present ones. */
struct connection_limits {
	uint32_t objects, arenas, groups_in_flight;
	uint64_t arena_bytes, buffer_bytes, source_bytes;
};

/* The program's host tasks. A thread that waits runs them meanwhile, and reaches them only by these
 * functions. With the state lock, unless noted otherwise. */
struct wait_tasks {
	/* True if the calling thread may run host tasks. With the lock or without it. */
	bool (*may_run)(const struct connection *connection);
	/* True if a host task is ready to run. */
	bool (*ready)(struct connection *connection);
	/* Takes a ready task off the list; NULL: there is none. */
	struct host_task *(*take)(struct connection *connection);
	/* Runs the task and frees it. Without locks. */
	void (*run)(struct connection *connection, struct host_task *task);
	/* Called after a wait, without locks. `is_over`: the session has ended. `closed_queues`:
	 * some of them have failures for their handlers. */
	void (*after_wait)(struct connection *connection, bool is_over, bool closed_queues);
};

/* Functions of higher folders that a connection calls. One table serves all connections
 * (open/client.c). */
struct connection_hooks {
	/* Called without references: ends the connection and frees it. */
	void (*end)(struct connection *connection);
	/* Called when the program holds no handle of the connection's objects. The caller holds the
	 * connection by other means. */
	void (*last_handle)(struct connection *connection);
	struct wait_tasks tasks;
	/* Large copies in which helper threads may take part. has_copies: true if there are some
	 * (with the state lock). help_copies: takes part in them (without). */
	bool (*has_copies)(struct connection *connection);
	void (*help_copies)(struct connection *connection);
	/* Receivers of messages that answer no request, by the reply's case. */
	reply_receiver *receivers[REPLY_KINDS];
};

struct connection {
	const struct connection_hooks *hooks;
	_Atomic uint32_t refs;
	_Atomic uint32_t handles;   /* handles of its objects that the program has */
	_Atomic uint32_t published; /* see connection_publish */
	int socket, bell;
	uint64_t session;
	struct connection_limits limits;
	char *endpoint; /* address of the service, for error texts */
	struct memory_region *ring, *flight;
	struct ring_header *header; /* shared; hostile */
	struct completion_slot *slot_memory;

	/* Guards graphs, and which graph records which queue (command_graph.h). */
	pthread_mutex_t graph_lock;
	pthread_mutex_t import_lock; /* held for one buffer at a time */
	pthread_mutex_t submit_lock;
	struct ring_writer writer;
	uint64_t records; /* number of records written so far */
	/* ring_writer_next(), for threads without the lock; NULL: before the first record. */
	_Atomic(const void *) next_record;
	/* Records written since the socket was last checked for a hang-up. */
	uint32_t records_unchecked;
	struct shapes shapes;

	pthread_mutex_t state_lock;
	pthread_cond_t changed; /* replies, a datagram or the end have come */
	struct ring_reader reader;
	uint8_t *record; /* PACKET_BYTES_MAX bytes for the reply that is being read */
	struct decode_arena reply_arena;
	struct pending *pending;
	struct pending_grant *grants;
	struct object_ids ids;
	struct slots slots;
	struct arenas arenas;
	/* State of higher folders, allocated beside the connection (open/client.h). */
	struct usm_state *usm;
	struct host_tasks *host_tasks;
	struct native_calls *native_calls;
	struct bridge *bridge;
	uint32_t tasks_listed;     /* host tasks that have not begun */
	uint32_t waits_with_tasks; /* threads that wait and run host tasks */
	struct helpers *helpers; /* NULL: no helpers; written once, when the connection is opened */
	struct graph *graphs;    /* weak, under the graph lock */
	uint64_t graph_number;   /* number of the latest graph */
	struct page_copy *page_copies; /* copies in which copy threads and helpers may take part */
	/* Signalled when a thread has finished its part of a copy, or a buffer's contents have
	 * arrived (own_pages.c). */
	pthread_cond_t pages_changed;
	uint32_t copy_threads; /* copy_threads_wanted's; written once, when the connection is opened
				*/
	/* Portable sources are built with checks; written once, when the connection is opened. */
	bool check;
	_Atomic uint32_t copy_quota; /* processors_quota's; 0: not read yet */
	struct copiers copiers;
	struct async_errors async_errors;
	struct printed printed;
	_Atomic bool has_printed; /* hint without the lock */
	/* Closed queues with failures that their handlers have not received yet. */
	struct queue_line *closed_queues;
	/* A thread sleeps on the socket or reads from it; the others wait for that thread. */
	bool polling;
	uint32_t sleepers;
	uint32_t prepared; /* event loops that poll the descriptor themselves */
	/* Made on demand. An event loop polls loop_fd; kick_fd wakes the loop. */
	int loop_fd, kick_fd;
	_Atomic int32_t lost; /* a sycl_result; set once, after lost_why */
	struct failure lost_why;

	struct decode_arena packet_arena; /* used by the thread that has set `polling` */

	_Atomic(struct topology *) topology;
	struct platform *root; /* weak, as the next two, because the handles hold the connection */
	struct platform **platforms; /* one for each platform of the topology */
	struct device **devices;

	_Atomic uint64_t spin_ns; /* time that a wait spins before it sleeps: spin_pace.h */
	uint64_t spin_most_ns;    /* longest time to poll if the engine gives no hint */
	/* Set when a thread has lost its processor: until then the engine's hint is ignored. */
	_Atomic uint64_t crowded_until_ns;
	bool may_spin, may_spin_long;

	uint32_t session_class, weight; /* as the service assigned them */
	/* Features that both sides agreed on. */
	bool has_graphs, has_natives, has_temporaries, has_early, has_native_nodes,
		has_graph_switch, has_graph_condition, has_usm_ends;
	bool takes_repeats; /* SYCLD_REPEAT */
	bool takes_events;  /* the engine has feature bit 10 */
	bool in_process;    /* the engine is in this process, as with "embedded:" and in tests */
	void *engine;       /* the embedded engine, or NULL */
	embedded_stop *engine_stop;
};

struct open_request {
	const char *endpoint; /* NULL, "unix:PATH" or "embedded:" */
	const char *name;
	uint64_t deadline_ns;
	uint32_t helper_threads, copy_threads; /* copy_threads: the result of copy_threads_wanted */
	/* 0: the value of the environment, or the service's default. */
	uint32_t session_class, weight;
	bool check;
};
/* connection.c: initialises its own part of the zeroed memory. -ENOMEM: the caller must still call
 * connection_fini. */
int connection_init(struct connection *connection);
/* Called after the parts that use rings and slots have ended. */
void connection_fini(struct connection *connection);
void connection_ref(struct connection *connection);
void connection_unref(struct connection *connection);
/* open.c: connects and sends the first message. *is_gone_out: the service ended before it answered,
 * so another attempt makes sense. */
sycl_result connection_connect(struct connection *connection, const struct open_request *request,
			       bool *is_gone_out);

/*
 * Called when a handle of the connection's objects was released, which may have been the last one.
 */
static inline void connection_handle_released(struct connection *connection)
{
	if (atomic_load_explicit(&connection->handles, memory_order_acquire) == 0)
		connection->hooks->last_handle(connection);
}

/*
 * Some memory is mapped twice, and the service orders the accesses of this program's threads to it.
 * Neither the language nor ThreadSanitizer can follow that order. So a thread publishes at the end
 * of a host task or a host access. It observes when the service has granted its turn.
 */
static inline void connection_publish(struct connection *connection)
{
	(void)atomic_fetch_add_explicit(&connection->published, 1, memory_order_acq_rel);
}

static inline void connection_observe(struct connection *connection)
{
	(void)atomic_load_explicit(&connection->published, memory_order_acquire);
}

/* Latch why the session ended; the first reason stays. With the state lock held. */
void connection_lose(struct connection *connection, sycl_result code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void connection_lose_with(struct connection *connection, const struct failure *why);
/* Returns the code of a lost connection, with its detail set. */
sycl_result connection_loss(struct connection *connection);
/* Returns 0, or the result of connection_loss. Any thread, no lock. */
static inline sycl_result connection_check(struct connection *connection)
{
	bool lost = atomic_load_explicit(&connection->lost, memory_order_acquire) != 0;
	return __builtin_expect(lost, 0) ? connection_loss(connection) : SYCL_SUCCESS;
}

/* handshake.c. *is_gone_out: the service hung up before it replied. */
sycl_result connection_handshake(struct connection *connection, const struct open_request *request,
				 bool *is_gone_out);

/* True for the forms "unix:PATH" and "embedded:", whether a service listens there or not. */
bool connection_endpoint_is_valid(const char *endpoint);

/* start.c: returns a socket to the system's service, or to the user's, which is started if
 * necessary. */
sycl_result connection_find_service(uint64_t deadline_ns, int *socket_out, char **endpoint_out);
sycl_result connection_connect_path(const char *path, uint64_t deadline_ns, int *socket_out);

/* embedded.c */
sycl_result connection_embedded(struct connection *connection);
void connection_embedded_end(struct connection *connection);

/* ring.c. Packs the command into the ring and rings the bell. Waits for room, never for
 * the device. */
sycl_result connection_send(struct connection *connection, const Sycl__V1__Command *command);
/* As connection_send, for frequent messages, without protobuf-c. */
sycl_result connection_send_flat(struct connection *connection, const struct flat_message *command);
/* As connection_send, with the submit lock held. */
sycl_result connection_write(struct connection *connection, const Sycl__V1__Command *command);
/* Reserves a RESUBMIT record of so many bytes, which the caller fills and commits. The submit lock
 * is held until then. */
sycl_result connection_reserve_resubmit(struct connection *connection, uint32_t bytes,
					void **payload_out);
void connection_commit(struct connection *connection);
/*
 * Waits until the holder of the submit lock has written its record. The holder may use an object
 * without a reference, if its handle was good when the lock was taken (submit/repeat.h). Called
 * when such an object ends, before its memory is freed. Without locks.
 */
void connection_await_writer(struct connection *connection);
/* Sends the command. `pending` receives the answer, and stays valid until then or until the
 * connection has ended. */
sycl_result connection_send_request(struct connection *connection, const Sycl__V1__Command *command,
				    struct pending *pending);
/* Sends the command and waits for its answer. A failure in the answer is the result. */
sycl_result connection_request(struct connection *connection, const Sycl__V1__Command *command,
			       struct pending *pending, uint64_t deadline_ns);

/* wait.c */
typedef bool wait_ready(struct connection *connection, void *context);
/* How to wait. WAIT_RUNS: the wait is the program's own and holds no lock, so it runs host tasks
 * meanwhile (struct wait_tasks). */
enum { WAIT_SPINS = 1, WAIT_RUNS = 2 };
/*
 * Waits until ready() returns true, the deadline (CLOCK_MONOTONIC) has passed (SYCL_ERROR_TIMEOUT)
 * or the session has ended. ready() is called with the state lock; with WAIT_SPINS also without
 * any, while the thread spins. Without locks, or with submit_lock.
 */
sycl_result connection_wait(struct connection *connection, wait_ready *ready, void *context,
			    unsigned how, uint64_t deadline_ns);
/* As connection_wait, with WAIT_SPINS and WAIT_RUNS, until a completion slot reaches a sequence or
 * a failure. While the thread sleeps, the engine does not wake it for other slots. */
sycl_result connection_wait_slot(struct connection *connection, wait_ready *ready, void *context,
				 uint32_t slot, uint32_t sequence, uint64_t deadline_ns);
/* From now on the engine wakes the client for every event. This includes threads that already
 * sleep. With the state lock. */
void connection_await_any(struct connection *connection);
/* Runs the ready host tasks, and passes late failures to their handlers. Without locks. */
void connection_run_ready(struct connection *connection);

/* socket.c: reads all available messages, without waiting. The state lock is held. */
void connection_read_socket(struct connection *connection);
/* Reads up to the first Wake, which is usually the last message. */
void connection_read_until_wake(struct connection *connection);
/* Checks whether the service has hung up. Any thread; no lock held or submit_lock. */
void connection_probe(struct connection *connection);

/* remote.c: objects of the engine */
sycl_result remote_name(struct connection *connection, enum object_type type,
			struct remote *remote);
/* Frees a name whose id was never sent. */
void remote_forget(struct connection *connection, struct remote *remote);
/* Sends Release. The reply Released frees the entry's slot and id. */
void remote_release(struct connection *connection, struct remote *remote);
/* Receivers of two replies: the engine has freed an object; the service could not make one. */
void remote_receive_released(struct connection *connection, const Sycl__V1__Reply *reply);
void remote_receive_failed(struct connection *connection, const Sycl__V1__Reply *reply);
/* Returns the code of a failed object, with its detail set. */
sycl_result remote_failure(struct remote *remote);
/* Returns 0, or the result of remote_failure. Called several times for each command group. */
static inline sycl_result remote_check(struct remote *remote)
{
	bool failed = atomic_load_explicit(&remote->failed, memory_order_acquire) != 0;
	return __builtin_expect(failed, 0) ? remote_failure(remote) : SYCL_SUCCESS;
}

#endif
