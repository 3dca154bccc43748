/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, commands and their events. */
#ifndef SYCL_OPENCL_QUEUE_H
#define SYCL_OPENCL_QUEUE_H

#include "device/device.h"

#define FIND_QUEUE(h) ((cl_command_queue)object_find((h), OBJECT_QUEUE))
#define FIND_EVENT(h) ((cl_event)object_find((h), OBJECT_EVENT))

struct _cl_command_queue {
	struct object head;
	cl_context context;
	cl_device_id device;
	sycl_queue sycl;
	cl_command_queue_properties flags;
	cl_queue_properties properties[8];
	size_t properties_bytes;
	cl_command_queue next; /* in the context's list; guarded by the context's lock */
	pthread_mutex_t lock;  /* guards barrier */
	sycl_event barrier;    /* the latest one of an out-of-order queue, or NULL */
};

struct event_callback {
	struct event_callback *next;
	cl_event event;
	cl_int status;
	void(CL_CALLBACK *function)(cl_event, cl_int, void *);
	void *user_data;
};

struct _cl_event {
	struct object head;
	cl_context context;
	cl_command_queue queue; /* NULL: a user event */
	cl_command_type type;
	sycl_event sycl;
	cl_ulong queued_ns;
	bool is_open;          /* a user event that is not decided; guarded by lock */
	_Atomic cl_int status; /* of a user event; of others the final one, once it is known */
	pthread_mutex_t lock;  /* guards callbacks */
	struct event_callback *waiting; /* of a user event */
};

/* command.c: what all commands share. */
struct command {
	cl_command_queue queue;
	cl_command_type type;
	cl_ulong queued_ns;
	sycl_handler handler;
	cl_event *event_out;
};
/* Checks the queue and the wait list, and begins a handler that depends on it. Ended by
 * command_submit or command_drop. */
cl_int command_begin(struct command *command, cl_command_queue queue, cl_command_type type,
		     cl_uint count, const cl_event *events, cl_event *event_out);
void command_drop(struct command *command);
/* Sends it if `result` is success, and makes the event. With `blocking` it waits. The event of the
 * library is also returned to `sycl_out`, if that is not NULL. */
cl_int command_submit(struct command *command, sycl_result result, bool blocking,
		      sycl_event *sycl_out);
cl_int wait_list_check(cl_context context, cl_uint count, const cl_event *events);
/* Makes an event of the driver over one of the library, whose reference it takes. */
cl_int event_make(cl_command_queue queue, cl_command_type type, sycl_event sycl, cl_ulong queued_ns,
		  cl_event *event_out);
cl_ulong now_ns(void);
/* The time at which a command was asked for, if anybody can ask for that. */
cl_ulong command_time(cl_command_queue queue, const cl_event *event_out);
cl_event event_new(cl_context context, cl_command_queue queue, cl_command_type type);
/* The status of an event: CL_QUEUED to CL_COMPLETE, or an error. */
cl_int event_status(cl_event event);

/* queue.c: waits for all commands of all queues of the context. */
void queue_wait_all(cl_context context);

/* printed.c: what kernels have printed goes to standard output. After a wait. */
void printed_pass_on(cl_context context);

/* user_event.c: the end of a user event that nobody has decided counts as a failure. */
void user_event_end(cl_event event);

/* callback.c: passes the callback on to the thread, which is started if there is none. */
cl_int callback_watch(struct event_callback *callback);
/* An object that ends when its commands have. `try_end` waits for them so long at most, then ends
 * the object with this in it, and returns true. False: they have not ended. */
struct late_end {
	struct late_end *next;
	void *owner;
	bool (*try_end)(void *owner, uint64_t most_ns);
};
/* The thread of the callbacks tries again and again. False: there is no thread. */
bool callback_end_later(struct late_end *end);
void callback_call(struct event_callback *callback, cl_int status);

#endif
