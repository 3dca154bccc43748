/*
 * One session with an engine: its socket, its rings, its ids, slots and arenas.
 *
 * Locks, in the order in which they are taken: graph_lock, arenas.grow_lock, import_lock,
 * submit_lock, copiers.start_lock, state_lock. None is held while a thread sleeps, except
 * submit_lock (and grow_lock) while the submit ring has no room: the engine makes room whatever its
 * devices do; and import_lock until the engine has opened what is imported. The state lock is a
 * condition variable's, so whoever waits for something of the session sleeps in connection_wait.
 */
#ifndef SYCL_CLIENT_CONNECTION_H
#define SYCL_CLIENT_CONNECTION_H

#include "connection/arenas.h"
#include "connection/async_errors.h"
#include "interop/bridge.h"
#include "connection/copiers.h"
#include "embedded_entry.h"
#include "flight_page.h"
#include "host_task/host_tasks.h"
#include "interop/native_commands.h"
#include "base/object_ids.h"
#include "packet.h"
#include "connection/replies.h"
#include "ring.h"
#include "base/shapes.h"
#include "base/slots.h"
#include "usm/usm.h"
#include "session.pb-c.h"

#include <pthread.h>

struct topology;
struct page_copy;
struct graph;
struct platform;
struct device;

/* Somebody waits for the descriptor of an exported buffer. Lives on the waiter's stack. */
struct pending_grant {
	uint64_t buffer;
	int descriptor; /* -1: not yet */
	struct pending_grant *next;
};

struct connection_limits {
	uint32_t objects, arenas, groups_in_flight;
	uint64_t arena_bytes, buffer_bytes, source_bytes;
};

struct connection {
	_Atomic uint32_t refs;
	_Atomic uint32_t handles;   /* of its objects, in the caller's hands */
	_Atomic uint32_t published; /* see connection_publish */
	int socket, bell;
	uint64_t session;
	struct connection_limits limits;
	char *endpoint; /* what was connected to, for people */
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
	uint32_t records_unchecked; /* since the socket was last asked whether the peer lives */
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
	struct usm_state usm;
	struct host_tasks host_tasks;
	struct native_calls native_calls;
	struct bridge bridge;
	struct graph *graphs;          /* weak, under the graph lock */
	uint64_t graph_number;         /* of the latest */
	struct page_copy *page_copies; /* that copy and helper threads may take part in */
	pthread_cond_t pages_changed;  /* another thread is through with one; a buffer's contents
					  have come (own_pages.c) */
	uint32_t copy_threads; /* copy_threads_wanted's; written once, when the connection is opened
				*/
	_Atomic uint32_t copy_quota; /* processors_quota's; 0: nobody has asked yet */
	struct copiers copiers;
	struct async_errors async_errors;
	struct queue_line *orphans; /* closed queues with failures that were not passed to their
				       handlers yet */
	bool polling; /* a thread sleeps on the socket, or reads from it: the others wait for it */
	uint32_t sleepers;
	uint32_t prepared;    /* event loops that will poll the descriptor themselves */
	int loop_fd, kick_fd; /* made on demand: what an event loop polls, and what makes it look */
	_Atomic int32_t lost; /* a sycl_result; set once, after lost_why */
	struct failure lost_why;

	struct decode_arena packet_arena; /* whoever has set `polling` */

	_Atomic(struct topology *) topology;
	struct platform *root;       /* weak, as the next two: the handles hold the connection */
	struct platform **platforms; /* as many as the topology has */
	struct device **devices;

	_Atomic uint64_t spin_ns; /* how long a wait spins before it sleeps: spin_pace.h */
	uint64_t spin_most_ns;    /* and at most; from the welcome on the session's class' */
	bool may_spin;

	uint32_t session_class, weight; /* as the service gave them */
	bool has_graphs, has_natives, has_temporaries, has_early, has_native_nodes,
		has_graph_switch, has_graph_condition; /* agreed on */
	bool in_process; /* the engine is in this process: embedded, and in tests */
	void *engine;    /* embedded */
	embedded_stop *engine_stop;
};

/* connection.c: open, handshake, close */
struct open_request {
	const char *endpoint; /* NULL, "unix:PATH" or "embedded:" */
	const char *name;
	uint64_t deadline_ns;
	uint32_t helper_threads, copy_threads; /* the latter: copy_threads_wanted's */
	uint32_t session_class, weight;        /* 0: the environment's, or the service's default */
};
sycl_result connection_open(const struct open_request *request, struct connection **connection_out);
void connection_ref(struct connection *connection);
void connection_unref(struct connection *connection);

/*
 * The service orders what threads of this program do to memory that is mapped twice. Neither the
 * language nor ThreadSanitizer can follow that order. So a thread publishes at the end of a host
 * task or a host access, and observes when the service has told it that its turn has come.
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
/* Of one that is lost: the code, with its detail set. */
sycl_result connection_tell(struct connection *connection);
/* 0, or what connection_tell says. Any thread, no lock. */
static inline sycl_result connection_check(struct connection *connection)
{
	bool lost = atomic_load_explicit(&connection->lost, memory_order_acquire) != 0;
	return __builtin_expect(lost, 0) ? connection_tell(connection) : SYCL_SUCCESS;
}

/* connection_handshake.c. -ECONNRESET as *retry_out: the peer went away before it answered. */
sycl_result connection_handshake(struct connection *connection, const struct open_request *request,
				 bool *went_away_out);

/* Does it have the form "unix:PATH" or "embedded:"? Whether a service listens there is another
 * question. */
bool connection_endpoint_is_valid(const char *endpoint);

/* connection_start.c: a socket to the system's service, or the user's, which is started if need be.
 */
sycl_result connection_find_service(uint64_t deadline_ns, int *socket_out, char **endpoint_out);
sycl_result connection_connect_path(const char *path, uint64_t deadline_ns, int *socket_out);

/* connection_embedded.c */
sycl_result connection_embedded(struct connection *connection);
void connection_embedded_end(struct connection *connection);

/* connection_ring.c. Packs the command into the ring and rings the bell. Waits for room, never for
 * the device. */
sycl_result connection_send(struct connection *connection, const Sycl__V1__Command *command);
/* As above with the submit lock held. */
sycl_result connection_write(struct connection *connection, const Sycl__V1__Command *command);
/* Room for a RESUBMIT record of so many bytes, to be filled and committed; the submit lock is held
 * until then. */
sycl_result connection_reserve_resubmit(struct connection *connection, uint32_t bytes,
					void **payload_out);
void connection_commit(struct connection *connection);
/* Send it; the answer goes to `pending`, which stays until then or until the connection is over. */
sycl_result connection_ask(struct connection *connection, const Sycl__V1__Command *command,
			   struct pending *pending);
/* Send and wait for the answer; the answer's failure is the result. */
sycl_result connection_request(struct connection *connection, const Sycl__V1__Command *command,
			       struct pending *pending, uint64_t deadline_ns);

/* connection_wait.c */
typedef bool wait_ready(struct connection *connection, void *context);
/* How to wait. RUNS: for what the program itself waits for, without any lock: host tasks run
 * meanwhile (host_tasks.h). */
enum { WAIT_SPINS = 1, WAIT_RUNS = 2 };
/*
 * Wait until ready() says so (called with the state lock held, or with no lock while spinning where
 * `how` says WAIT_SPINS), the deadline (CLOCK_MONOTONIC) has passed (SYCL_ERROR_TIMEOUT) or the
 * session has ended. Without locks, or with submit_lock.
 */
sycl_result connection_wait(struct connection *connection, wait_ready *ready, void *context,
			    unsigned how, uint64_t deadline_ns);
/* Run the host tasks whose turn has come, and hand out what late failures there are. Without locks.
 */
void connection_run_ready(struct connection *connection);
/* Read what the socket has, without waiting. The state lock is held. */
void connection_read_socket(struct connection *connection);
/* Has the peer hung up? Any thread; no lock held or submit_lock. */
void connection_probe(struct connection *connection);
bool spinning_is_wise(void);

/* remote.c: objects of the engine */
sycl_result remote_name(struct connection *connection, enum object_type type,
			struct remote *remote);
/* Its id was never sent. */
void remote_forget(struct connection *connection, struct remote *remote);
/* Sends Release; what the entry holds comes back with Released. */
void remote_release(struct connection *connection, struct remote *remote);
/* Of one that has failed: the code, with its detail set. */
sycl_result remote_tell(struct remote *remote);
/* 0, or what remote_tell says. In the way of every group, several times. */
static inline sycl_result remote_check(struct remote *remote)
{
	bool failed = atomic_load_explicit(&remote->failed, memory_order_acquire) != 0;
	return __builtin_expect(failed, 0) ? remote_tell(remote) : SYCL_SUCCESS;
}

#endif
