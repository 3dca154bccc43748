/*
 * One session with an engine: its socket, its rings, its ids, slots and arenas.
 *
 * Locks, in the order in which they are taken: graph_lock, arenas.grow_lock, import_lock,
 * submit_lock, copiers.start_lock, state_lock. None is held while a thread sleeps, with two
 * exceptions. submit_lock (and grow_lock) are held while the submit ring has no room: the engine
 * makes room whatever its devices do. import_lock is held until the engine has opened what is
 * imported. The state lock is a condition variable's, so a thread that waits for something of the
 * session sleeps in connection_wait.
 */
#ifndef SYCL_CLIENT_CONNECTION_H
#define SYCL_CLIENT_CONNECTION_H

#include "connection/arenas.h"
#include "connection/async_errors.h"
#include "connection/copiers.h"
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

/* A thread waits for the descriptor of an exported buffer. Lives on its stack. */
struct pending_grant {
	uint64_t buffer;
	int descriptor; /* -1: not yet */
	struct pending_grant *next;
};

struct connection_limits {
	uint32_t objects, arenas, groups_in_flight;
	uint64_t arena_bytes, buffer_bytes, source_bytes;
};

/*
 * The program's host tasks, which waiting threads run meanwhile. A wait reaches them by these
 * functions only. With the state lock, unless noted otherwise.
 */
struct wait_tasks {
	/* May the calling thread run them? With the lock or without it. */
	bool (*may_run)(const struct connection *connection);
	/* Has the turn of one come? */
	bool (*ready)(struct connection *connection);
	/* Takes one whose turn has come off the list; NULL: there is none. */
	struct host_task *(*take)(struct connection *connection);
	/* Runs the task, which ends with that. Without locks. */
	void (*run)(struct connection *connection, struct host_task *task);
	/* After a wait, without locks. `is_over`: the session has ended. `closed_queues`: some have
	 * failures to be passed on. */
	void (*after_wait)(struct connection *connection, bool is_over, bool closed_queues);
};

/* The functions of the folders above that a connection calls. One table for all connections
 * (open/client.c). */
struct connection_hooks {
	/* The last reference is gone: ends the connection, and frees it. */
	void (*end)(struct connection *connection);
	/* No object of the connection is in the caller's hands. The caller holds the connection by
	 * other means. */
	void (*last_handle)(struct connection *connection);
	struct wait_tasks tasks;
	/* Large copies in which helper threads may take part: are there some (with the state lock),
	 * and take part in them (without). */
	bool (*has_copies)(struct connection *connection);
	void (*help_copies)(struct connection *connection);
	/* Receivers of messages that come unasked, by the reply's case. */
	reply_receiver *receivers[REPLY_KINDS];
};

struct connection {
	const struct connection_hooks *hooks;
	_Atomic uint32_t refs;
	_Atomic uint32_t handles;   /* handles of its objects that the caller has */
	_Atomic uint32_t published; /* see connection_publish */
	int socket, bell;
	uint64_t session;
	struct connection_limits limits;
	char *endpoint; /* address of the service, for people to read */
	struct memory_region *ring, *flight;
	struct ring_header *header; /* shared; hostile */
	struct completion_slot *slot_memory;

	pthread_mutex_t
		graph_lock; /* graphs, and which of them records which queue (command_graph.h) */
	pthread_mutex_t import_lock; /* one buffer at a time */
	pthread_mutex_t submit_lock;
	struct ring_writer writer;
	uint64_t records;                  /* written so far, from 1 */
	_Atomic(const void *) next_record; /* ring_writer_next(), for those without the lock; NULL:
					      there was none yet */
	uint32_t records_unchecked;        /* since the socket was last checked for a hang-up */
	struct shapes shapes;

	pthread_mutex_t state_lock;
	pthread_cond_t changed; /* replies, a datagram or the end have come */
	struct ring_reader reader;
	uint8_t *record; /* PACKET_BYTES_MAX: the reply that is being read */
	struct decode_arena reply_arena;
	struct pending *pending;
	struct pending_grant *grants;
	struct object_ids ids;
	struct slots slots;
	struct arenas arenas;
	/* State of the rooms above, which lies beside the connection (open/client.h). */
	struct usm_state *usm;
	struct host_tasks *host_tasks;
	struct native_calls *native_calls;
	struct bridge *bridge;
	uint32_t tasks_listed;         /* host tasks that have not begun */
	uint32_t waits_with_tasks;     /* threads in waits that run host tasks */
	struct helpers *helpers;       /* NULL: none; written once, when the connection is opened */
	struct graph *graphs;          /* weak, under the graph lock */
	uint64_t graph_number;         /* number of the latest graph */
	struct page_copy *page_copies; /* that copy and helper threads may take part in */
	pthread_cond_t pages_changed;  /* another thread is through with one; a buffer's contents
					  have come (own_pages.c) */
	uint32_t copy_threads; /* copy_threads_wanted's; written once, when the connection is opened
				*/
	_Atomic uint32_t copy_quota; /* processors_quota's; 0: not read yet */
	struct copiers copiers;
	struct async_errors async_errors;
	struct queue_line *closed_queues; /* closed queues with failures that were not passed to
				       their handlers yet */
	bool polling; /* a thread sleeps on the socket, or reads from it: the others wait for it */
	uint32_t sleepers;
	uint32_t prepared;    /* event loops that will poll the descriptor themselves */
	int loop_fd, kick_fd; /* made on demand: an event loop polls loop_fd; kick_fd wakes it */
	_Atomic int32_t lost; /* a sycl_result; set once, after lost_why */
	struct failure lost_why;

	struct decode_arena packet_arena; /* used by the thread that has set `polling` */

	_Atomic(struct topology *) topology;
	struct platform *root;       /* weak, as the next two: the handles hold the connection */
	struct platform **platforms; /* as many as the topology has */
	struct device **devices;

	_Atomic uint64_t spin_ns; /* how long a wait spins before it sleeps: spin_pace.h */
	uint64_t spin_most_ns;    /* longest time to poll if the engine gives no hint */
	_Atomic uint64_t
		crowded_until_ns; /* a thread lost its processor: until then no hint counts */
	bool may_spin, may_spin_long;

	uint32_t session_class, weight; /* as the service gave them */
	bool has_graphs, has_natives, has_temporaries, has_early, has_native_nodes,
		has_graph_switch, has_graph_condition, has_usm_ends; /* agreed on */
	bool takes_repeats;                                          /* SYCLD_REPEAT */
	bool in_process; /* the engine is in this process: embedded, and in tests */
	void *engine;    /* embedded */
	embedded_stop *engine_stop;
};

struct open_request {
	const char *endpoint; /* NULL, "unix:PATH" or "embedded:" */
	const char *name;
	uint64_t deadline_ns;
	uint32_t helper_threads, copy_threads; /* the latter: copy_threads_wanted's */
	uint32_t session_class, weight;        /* 0: the environment's, or the service's default */
};
/* connection.c: its own part of the memory, zeroed before. -ENOMEM: connection_fini all the same.
 */
int connection_init(struct connection *connection);
/* Behind the parts that use rings and slots. */
void connection_fini(struct connection *connection);
void connection_ref(struct connection *connection);
void connection_unref(struct connection *connection);
/* open.c: connects, and greets the service. *is_gone_out: the service ended between connecting
 * and answering, so another attempt makes sense. */
sycl_result connection_connect(struct connection *connection, const struct open_request *request,
			       bool *is_gone_out);

/* A handle of one of its objects was released: was it the last one? */
static inline void connection_handle_released(struct connection *connection)
{
	if (atomic_load_explicit(&connection->handles, memory_order_acquire) == 0)
		connection->hooks->last_handle(connection);
}

/*
 * The service orders what threads of this program do to memory that is mapped twice. Neither the
 * language nor ThreadSanitizer can follow that order. So a thread publishes at the end of a host
 * task or a host access, and observes when the service has granted its turn.
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
/* The code of a lost connection, with its detail set. */
sycl_result connection_loss(struct connection *connection);
/* 0, or what connection_loss says. Any thread, no lock. */
static inline sycl_result connection_check(struct connection *connection)
{
	bool lost = atomic_load_explicit(&connection->lost, memory_order_acquire) != 0;
	return __builtin_expect(lost, 0) ? connection_loss(connection) : SYCL_SUCCESS;
}

/* handshake.c. *is_gone_out: the peer hung up before it replied. */
sycl_result connection_handshake(struct connection *connection, const struct open_request *request,
				 bool *is_gone_out);

/* Does it have the form "unix:PATH" or "embedded:"? Whether a service listens there is another
 * question. */
bool connection_endpoint_is_valid(const char *endpoint);

/* start.c: a socket to the system's service, or the user's, which is started if need be.
 */
sycl_result connection_find_service(uint64_t deadline_ns, int *socket_out, char **endpoint_out);
sycl_result connection_connect_path(const char *path, uint64_t deadline_ns, int *socket_out);

/* embedded.c */
sycl_result connection_embedded(struct connection *connection);
void connection_embedded_end(struct connection *connection);

/* ring.c. Packs the command into the ring and rings the bell. Waits for room, never for
 * the device. */
sycl_result connection_send(struct connection *connection, const Sycl__V1__Command *command);
/* The same for a frequent one, without protobuf-c. */
sycl_result connection_send_flat(struct connection *connection, const struct flat_message *command);
/* The same with the submit lock held. */
sycl_result connection_write(struct connection *connection, const Sycl__V1__Command *command);
/* Room for a RESUBMIT record of so many bytes, to be filled and committed; the submit lock is held
 * until then. */
sycl_result connection_reserve_resubmit(struct connection *connection, uint32_t bytes,
					void **payload_out);
void connection_commit(struct connection *connection);
/*
 * Until the thread that has the submit lock has written its record: it may use an object without a
 * reference whose handle was good when it took the lock (submit/repeat.h). Called when such an
 * object ends, before its memory is freed. Without locks.
 */
void connection_await_writer(struct connection *connection);
/* Sends the command; its answer goes to `pending`, which stays valid until the answer has come or
 * the connection is over. */
sycl_result connection_send_request(struct connection *connection, const Sycl__V1__Command *command,
				    struct pending *pending);
/* Sends the command and waits for its answer, whose failure is the result. */
sycl_result connection_request(struct connection *connection, const Sycl__V1__Command *command,
			       struct pending *pending, uint64_t deadline_ns);

/* wait.c */
typedef bool wait_ready(struct connection *connection, void *context);
/* How to wait. RUNS: for what the program itself waits for, without any lock: host tasks run
 * meanwhile (struct wait_tasks). */
enum { WAIT_SPINS = 1, WAIT_RUNS = 2 };
/*
 * Waits until ready() returns true, the deadline (CLOCK_MONOTONIC) has passed (SYCL_ERROR_TIMEOUT)
 * or the session has ended. ready() is called with the state lock; with WAIT_SPINS also without
 * any, while the thread spins. Without locks, or with submit_lock.
 */
sycl_result connection_wait(struct connection *connection, wait_ready *ready, void *context,
			    unsigned how, uint64_t deadline_ns);
/* The same, with WAIT_SPINS and WAIT_RUNS, for a completion slot that reaches a sequence, or a
 * failure. While the thread sleeps, the engine does not wake it for other slots. */
sycl_result connection_wait_slot(struct connection *connection, wait_ready *ready, void *context,
				 uint32_t slot, uint32_t sequence, uint64_t deadline_ns);
/* From now on the engine wakes the client for everything, also threads that sleep already. With the
 * state lock. */
void connection_await_any(struct connection *connection);
/* Run the host tasks whose turn has come, and hand out what late failures there are. Without locks.
 */
void connection_run_ready(struct connection *connection);

/* socket.c: read what the socket has, without waiting. The state lock is held. */
void connection_read_socket(struct connection *connection);
/* The same up to the first Wake, behind which there is nothing as a rule. */
void connection_read_until_wake(struct connection *connection);
/* Has the peer hung up? Any thread; no lock held or submit_lock. */
void connection_probe(struct connection *connection);

/* remote.c: objects of the engine */
sycl_result remote_name(struct connection *connection, enum object_type type,
			struct remote *remote);
/* Takes back a name whose id was never sent. */
void remote_forget(struct connection *connection, struct remote *remote);
/* Sends Release; what the entry holds comes back with Released. */
void remote_release(struct connection *connection, struct remote *remote);
/* Receivers of replies: the engine has freed an object; the service could not make one. */
void remote_receive_released(struct connection *connection, const Sycl__V1__Reply *reply);
void remote_receive_failed(struct connection *connection, const Sycl__V1__Reply *reply);
/* The code of a failed object, with its detail set. */
sycl_result remote_failure(struct remote *remote);
/* 0, or what remote_failure says. In the way of every group, several times. */
static inline sycl_result remote_check(struct remote *remote)
{
	bool failed = atomic_load_explicit(&remote->failed, memory_order_acquire) != 0;
	return __builtin_expect(failed, 0) ? remote_failure(remote) : SYCL_SUCCESS;
}

#endif
