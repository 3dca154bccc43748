/*
 * The bridge of native commands through a service (S8). The program has a CUDA context of its own.
 * In this context it opens the memory of buffers that can be exported. For the engine, a native
 * command is a host task whose data stays on the device. Its function is called where host tasks
 * are (host_tasks.h), when all its predecessors are complete, or on their way on the device. In the
 * latter case, its stream first waits for an event of the engine's (bridge_events.c). The function
 * sends work to a stream of the program. A thread of the connection waits for that work and then
 * reports to the engine. So a long command holds up no thread that waits for other events.
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
 * A process has eight queues to a GPU (CUDA_DEVICE_MAX_CONNECTIONS) for all streams with work, with
 * the program's own streams. If more streams have work, some share a queue. Then work behind a
 * stream that waits for the service waits as well. So these are seven together.
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
	/* Under the bridge's lock, like `users`, the number of unfinished commands that name the
	 * event. */
	enum bridge_event_state state;
	uint32_t users;
	struct remote remote;
	cuda_event event;
	/* Under the state lock. */
	struct pending pending;
	struct cuda_ipc_event handle;
	bool has_handle;
};

/* A context of the program for which native commands were made. It belongs to a connection, and
 * lives as long. */
struct bridge_context {
	struct bridge_context *next;
	cuda_context context;
	unsigned long long
		id; /* A handle may be used again for another context; 0: the driver gives no id. */
	cuda_device device;
	bool is_left;     /* released: the program may have destroyed it */
	bool is_retained; /* the context is the primary one, which is retained */
	/* Work in the context waits for a service that has ended, so no object there is closed.
	 * Under the bridge's lock. */
	bool is_stuck;
	struct bridge_import *imports; /* imports that are open in the context; under open_lock */
	struct bridge_graph *graphs;   /* nodes of executable graphs; under the bridge's lock */
	/* Under the bridge's lock: how many commands use each. */
	struct {
		cuda_stream stream; /* NULL: not made yet */
		uint32_t users;
	} streams[BRIDGE_STREAMS +
		  BRIDGE_EVENTS];      /* streams for all commands, then one for each event */
	struct connection *connection; /* the connection of the context; weak */
	bool has_events;
	uint32_t service_device; /* the service's number of the events' device */
	struct bridge_event events[BRIDGE_EVENTS];
};

/* bridge_tasks.c */
extern const struct host_task_bridge bridge_for_host_tasks;

/* The bridge of a connection. */
struct bridge {
	/* Guards contexts, streams and events. Held while the driver makes a stream or opens an
	 * event. */
	pthread_mutex_t lock;
	/* One buffer is opened at a time. Held until the service has answered. */
	pthread_mutex_t open_lock;
	struct bridge_context *contexts;
	_Atomic uint32_t commands; /* number of commands that may use a context */
	/* bridge_calls.c uses these under a lock of its own: */
	pthread_cond_t work;
	pthread_t thread;
	bool has_thread, stop;
	struct bridge_call *first, *last; /* calls that were sent and not reported yet */
};
void bridge_init(struct bridge *bridge);
/* Called when the connection has no handle any more. If it has no command either, releases the
 * contexts, which the program may then destroy. */
void bridge_leave_unused(struct bridge *bridge);
/* bridge_calls.c: ends the bridge's thread. If the caller is that thread, it ends itself later. No
 * command is in flight, because each command holds the connection. */
void bridge_stop(struct bridge *bridge);
/* Call after bridge_stop. */
void bridge_fini(struct bridge *bridge);

/*
 * The context for native commands of that device: the thread's current one, otherwise the primary
 * one. The first call starts the driver, and makes a primary context if there is none.
 *
 * @return SYCL_ERROR_FEATURE_NOT_SUPPORTED: the service, the device or this program has no bridge.
 * SYCL_ERROR_INVALID: the current context is of another device.
 */
sycl_result bridge_context_find(struct connection *connection, const struct device *device,
				struct bridge_context **context_out);
/* The number of that device in this program's driver. */
sycl_result bridge_device_find(const struct connection *connection, const struct device *device,
			       cuda_device *device_out);

/*
 * With the context current: takes a stream with few users, and counts the caller as one until it
 * gives the stream back. With `event`: the stream for commands that wait for this event. No other
 * command is ever behind it.
 */
sycl_result bridge_stream_take(struct bridge *bridge, struct bridge_context *context,
			       const struct bridge_event *event, uint32_t *stream_out);
void bridge_stream_give(struct bridge *bridge, struct bridge_context *context, uint32_t stream);

/* On any thread: lends a stream to a host task, which waits itself for the work that it sends. */
sycl_result bridge_stream_lend(struct bridge *bridge, struct bridge_context *context,
			       cuda_stream *stream_out);

/*
 * bridge_events.c: takes an event for a command that is about to be submitted. NULL: there is none,
 * and the command begins when all its predecessors are complete. Never waits. The first commands of
 * a context have no event, because the service has not answered yet.
 */
struct bridge_event *bridge_event_take(struct bridge_context *context, const struct device *device);
void bridge_event_give(struct bridge *bridge, struct bridge_event *event);
uint64_t bridge_event_id(const struct bridge_event *event);
/* The context is current and no work in it is stuck: closes all open events. With the bridge's
 * lock. */
void bridge_events_leave(struct bridge_context *context);
/*
 * True if work in the context was left stuck. Then its memory stays open until this process ends.
 */
bool bridge_is_stuck(struct bridge *bridge, const struct bridge_context *context);

struct bridge_import;
/* bridge_memory.c: finds the address of a root's memory, from any thread. The first call in each
 * context makes a round trip. Then the memory stays open as long as the buffer. */
sycl_result bridge_memory_get(struct bridge_context *context, struct buffer *root,
			      uint64_t *address_out);
/* Finds the addresses of all buffers that the handler requires; 0 for a buffer of no bytes. The
 * context is current. */
sycl_result bridge_open_memories(const struct handler *handler, uint64_t *memories);
/*
 * Closes all memory that is open in the context. If the context still exists, it is current. With
 * open_lock.
 */
void bridge_memory_leave(struct bridge_context *context, bool is_there);

/* bridge_graphs.c: a native command as a node of one executable graph. Checks whether a graph may
 * have such a node, or a native host task. SYCL_ERROR_FEATURE_NOT_SUPPORTED */
sycl_result bridge_graph_check(const struct handler *handler);
/* Calls the function on this thread, and keeps the nodes that it has added to a graph. Returns the
 * function's failure. Without locks. */
sycl_result bridge_graph_make(const struct handler *handler, struct bridge_graph **graph_out);
/* This and the next function accept NULL. */
struct bridge_graph *bridge_graph_hold(struct bridge_graph *graph);
/* The last drop destroys the graph. No launch of it is in flight then. */
void bridge_graph_drop(struct bridge_graph *graph);
/* With the context current. */
cuda_result bridge_graph_launch(const struct bridge_graph *graph, cuda_stream stream);
/*
 * Frees all graphs that were made in the context. If the context still exists, it is current. With
 * the bridge's lock.
 */
void bridge_graphs_leave(struct bridge_context *context, bool is_there);

/*
 * bridge_calls.c: calls the function of a native command, or launches the graph of a node.
 * *later_out not NULL: the work that was sent is not complete, and the caller must call
 * bridge_call_later. Otherwise the task is over with the result.
 */
sycl_result bridge_call(struct host_task *task, struct bridge_call **later_out);
/* Called when the function has ended with this result. The bridge ends the task when the work is
 * complete. */
void bridge_call_later(struct bridge_call *call, sycl_result status, const struct failure *why);

#endif
