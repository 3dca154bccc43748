/* Queues, events, and events that are shared with other processes. */
#ifndef SYCL_CLIENT_QUEUE_H
#define SYCL_CLIENT_QUEUE_H

#include "connection/queue_line.h"
#include "platform/platform.h"

struct graph;
struct handler;
struct repeat;

#define QUEUE_REPEATS 32u /* a power of two */

struct queue {
	struct object object;
	struct queue_line *line;
	struct context *context;
	struct device *device;
	/* Weak: the graph that records the queue; changes under the graph lock; NULL: the queue
	 * executes. */
	_Atomic(struct graph *) recording;
	_Atomic(struct handler *)
		spare; /* memory of a handler that has ended, for the next handler; or NULL */
	/* Launches that may come again (submit/repeat.h), one block of memory each: under the
	 * submit lock. */
	struct repeat *repeats[QUEUE_REPEATS];
	atomic_bool has_repeats;
	bool checks_native;
	atomic_bool is_lent; /* the program has the native queue, where that is checked */
};

struct event {
	struct object object;
	struct queue_line *line; /* held */
	uint64_t group;
	uint32_t slot, value;
	bool own_slot; /* the slot is that of a group in an out-of-order queue */
	bool untimed;  /* the group is a launch of a graph without times */
	bool is_host;  /* the program signals it (sycl_event_create_host) */
	/* For a recorded group: the graph, and the group's node there from 0. Never changes. 0: the
	 * group was sent. */
	uint64_t graph;
	uint32_t node;
	/*
	 * References to the events that this event depends on, while the program can query them.
	 * Under the state lock. Without the lock a thread may only compare the pointer with NULL.
	 */
	_Atomic(struct event **) waits;
	uint32_t wait_count;
	/*
	 * Native events, held. An event made of native events has these, set before it is handed
	 * out. That of a command has the one that was requested, set once under the state lock
	 * (event_native.c).
	 */
	struct shared_event **natives;
	_Atomic uint32_t native_count;
};

struct shared_event {
	struct object object;
	struct remote remote;
	uint32_t device; /* the service's number of the device */
	uint8_t handle[SYCL_SHARE_HANDLE_BYTES];
};

DEFINE_PIN(queue, sycl_queue, HANDLE_QUEUE)
DEFINE_PIN(event, sycl_event, HANDLE_EVENT)
DEFINE_PIN(shared_event, sycl_shared_event, HANDLE_SHARED_EVENT)

/* queue.c: `announce` notifies the service (NULL: QueueCreate). One user reference. Takes over the
 * reference of the context. */
typedef sycl_result queue_announce(const struct queue *queue, void *what);
sycl_result queue_make(struct context *context, struct device *device,
		       const struct sycl_queue_options *options, queue_announce *announce,
		       void *what, sycl_queue *queue_out);
/* shared_event.c: an event with a name that the service does not have yet. One user reference. */
sycl_result shared_event_new(struct connection *connection, uint32_t device,
			     struct shared_event **event_out);

/* event.c: holds the line. NULL with the detail set. */
struct event *event_new(struct connection *connection, struct queue_line *line);
sycl_result event_finish(struct event *event, uint64_t deadline_ns);

/* SYCL_ERROR_INVALID for a recorded event, as no group was sent for it (L4). */
sycl_result event_check_sent(const struct event *event);
/* True if the event's slot has reached its value. */
bool event_is_complete(const struct event *event);

/*
 * queue.c: waits until all submitted groups are complete. Reports failures as sycl_queue_wait does.
 */
sycl_result queue_wait_until(struct queue *queue, uint64_t deadline_ns);
/* Waits until the slot has reached the value. */
sycl_result queue_line_wait(struct connection *connection, struct queue_line *line, uint32_t slot,
			    uint32_t value, uint64_t deadline_ns);

#endif
