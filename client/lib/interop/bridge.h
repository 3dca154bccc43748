/*
 * The bridge of native commands through a service (S8). The program has a CUDA context of its own.
 * In it the program opens the memory of buffers that can be exported. To the engine such a command
 * is a host task whose data stays on the device. Its function is called where host tasks are
 * (host_tasks.h), when all that it depends on is complete, or on its way on the device. In the
 * latter case its stream waits for an event of the engine's first (bridge_events.c). What it sends
 * to a stream of the program is waited for by a thread of the connection, which then reports
 * to the engine. So a command that takes long holds up no thread that waits for something else.
 */
#ifndef SYCL_CLIENT_BRIDGE_H
#define SYCL_CLIENT_BRIDGE_H

#include "base/error.h"
#include "base/cuda_driver.h"
#include "base/object_ids.h"
#include "connection/replies.h"

#include <pthread.h>
#include <stdbool.h>

struct bridge_call;
struct bridge_graph;
struct buffer;
struct connection;
struct device;
struct handler;
struct host_task;
struct sycl_shared_memory;

/*
 * A process has eight queues to a GPU (CUDA_DEVICE_MAX_CONNECTIONS) for all streams with work, the
 * program's own among them. If more have work, some share a queue. Work behind a stream that waits
 * for the service then waits as well. So these are seven together.
 */
#define BRIDGE_STREAMS 5u
#define BRIDGE_EVENTS  2u

enum bridge_event_state {
	BRIDGE_EVENT_NONE,
	BRIDGE_EVENT_NEW,   /* a thread is about to request it from the service */
	BRIDGE_EVENT_ASKED, /* `pending` gets the answer */
	BRIDGE_EVENT_OPEN,
	BRIDGE_EVENT_BAD, /* the event could not be made or opened, and is not tried again */
};

/* An event of the engine, opened in a context of the program. */
struct bridge_event {
	enum bridge_event_state state; /* under the bridge's lock, as `users`: commands that name it
					  and are not over */
	uint32_t users;
	struct remote remote;
	cuda_event event;
	/* Under the state lock. */
	struct pending pending;
	struct cuda_ipc_event handle;
	bool has_handle;
};

/* A context of the program that native commands were made for; of a connection, as long as that
 * lives. */
struct bridge_context {
	struct bridge_context *next;
	cuda_context context;
	unsigned long long
		id; /* a handle may come again for another context; 0: the driver does not say */
	cuda_device device;
	bool is_left;     /* released: the program may have destroyed it */
	bool is_retained; /* the primary one, which then stays */
	bool is_stuck;    /* something in it waits for a service that has ended: nothing is closed
			     there. Under the bridge's lock */
	struct bridge_import *imports; /* imports that are open in the context; under open_lock */
	struct bridge_graph *graphs;   /* nodes of executable graphs; under the bridge's lock */
	/* Under the bridge's lock: how many commands use each. */
	struct {
		cuda_stream stream; /* NULL: not made yet */
		uint32_t users;
	} streams[BRIDGE_STREAMS +
		  BRIDGE_EVENTS];      /* behind those for anything one for each event */
	struct connection *connection; /* whose it is: weak */
	bool has_events;
	uint32_t service_device; /* the service's number of the events' device */
	struct bridge_event events[BRIDGE_EVENTS];
};

/* bridge_tasks.c */
extern const struct host_task_bridge bridge_for_host_tasks;

/* The bridge of a connection. */
struct bridge {
	pthread_mutex_t lock; /* contexts, streams and events; held while the driver makes a stream
				 or opens an event */
	pthread_mutex_t
		open_lock; /* one buffer is opened at a time; held until the service has answered */
	struct bridge_context *contexts;
	_Atomic uint32_t commands; /* that may use one of them */
	/* bridge_calls.c, under a lock of its own: */
	pthread_cond_t work;
	pthread_t thread;
	bool has_thread, stop;
	struct bridge_call *first, *last; /* sent, and not reported yet */
};
void bridge_init(struct bridge *bridge);
/* There is no handle of the connection any more: if there is no command either, releases the
 * contexts, which the program may destroy then. */
void bridge_leave_unused(struct bridge *bridge);
/* bridge_calls.c: ends the bridge's thread, or lets it end itself if it is the caller. No command
 * is under way: each holds the connection. */
void bridge_stop(struct bridge *bridge);
/* Behind bridge_stop. */
void bridge_fini(struct bridge *bridge);

/*
 * The context for native commands of that device: the one that is current on this thread, else the
 * primary one. The first time the driver starts, and a primary context is made that there was not.
 *
 * @return SYCL_ERROR_FEATURE_NOT_SUPPORTED: the service, the device or this program cannot.
 * SYCL_ERROR_INVALID: the current context is of another device.
 */
sycl_result bridge_context_find(struct connection *connection, const struct device *device,
				struct bridge_context **context_out);
/* The number of that device in this program's driver. */
sycl_result bridge_device_find(const struct connection *connection, const struct device *device,
			       cuda_device *device_out);

/*
 * With the context current: one that few use, counted until it is given back. With `event` the one
 * that is for what waits for that event: nothing else is ever behind it.
 */
sycl_result bridge_stream_take(struct bridge *bridge, struct bridge_context *context,
			       const struct bridge_event *event, uint32_t *stream_out);
void bridge_stream_give(struct bridge *bridge, struct bridge_context *context, uint32_t stream);

/* On any thread: one of them, for a host task that waits for what it sends itself. */
sycl_result bridge_stream_lend(struct bridge *bridge, struct bridge_context *context,
			       cuda_stream *stream_out);

/*
 * bridge_events.c. An event for a command that is about to be submitted; NULL: none, and the
 * command begins when all that it depends on is complete. Waits for nothing: the first commands of
 * a context have none, as the service has not answered yet.
 */
struct bridge_event *bridge_event_take(struct bridge_context *context, const struct device *device);
void bridge_event_give(struct bridge *bridge, struct bridge_event *event);
uint64_t bridge_event_id(const struct bridge_event *event);
/* The context is current and nothing in it is stuck: closes what is open. With the bridge's lock.
 */
void bridge_events_leave(struct bridge_context *context);
/* Was it left stuck? Then its memory stays open in this process until that ends. */
bool bridge_is_stuck(struct bridge *bridge, const struct bridge_context *context);

/*
 * bridge_memory.c, with the context current: where a root's memory is. A round trip the first time
 * in each context; then it stays open as long as the buffer.
 */
struct bridge_import;
sycl_result bridge_memory_find(struct bridge_context *context, struct buffer *root,
			       cuda_address *address_out);
/* The same from any thread. */
sycl_result bridge_memory_get(struct bridge_context *context, struct buffer *root,
			      uint64_t *address_out);
/* The addresses of all that the handler requires; 0 for a buffer of no bytes. The context is
 * current. */
sycl_result bridge_open_memories(const struct handler *handler, uint64_t *memories);
/*
 * Closes all memory that is open in the context. If the context still exists, it is current. With
 * open_lock.
 */
void bridge_memory_leave(struct bridge_context *context, bool is_there);

/*
 * bridge_graphs.c: a native command as a node of one executable graph. May there be such nodes, or
 * native host tasks, in a graph? SYCL_ERROR_FEATURE_NOT_SUPPORTED
 */
sycl_result bridge_graph_check(const struct handler *handler);
/* Calls the function, on this thread, and keeps what it has added to a graph. What the function
 * fails with. Without locks. */
sycl_result bridge_graph_make(const struct handler *handler, struct bridge_graph **graph_out);
/* NULL is fine, also of the next. */
struct bridge_graph *bridge_graph_hold(struct bridge_graph *graph);
/* The last one destroys it; no launch of it is under way then. */
void bridge_graph_drop(struct bridge_graph *graph);
/* With the context current. */
cuda_result bridge_graph_launch(const struct bridge_graph *graph, cuda_stream stream);
/*
 * Frees all graphs that were made in the context. If the context still exists, it is current. With
 * the bridge's lock.
 */
void bridge_graphs_leave(struct bridge_context *context, bool is_there);

/*
 * bridge_calls.c: calls the function of a native command, or launches what it has made if it is a
 * node. `later_out` not NULL: what it has sent is not complete; then bridge_call_later is to be
 * called, else the task is over with the result.
 */
sycl_result bridge_call(struct host_task *task, struct bridge_call **later_out);
/* The function has ended with this result. The bridge ends the task when the work is complete. */
void bridge_call_later(struct bridge_call *call, sycl_result status, const struct failure *why);

#endif
