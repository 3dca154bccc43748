/*
 * The bridge of native commands through a service (S8): the program has a CUDA context of its own, in which it opens the
 * memory of buffers that can be exported. To the engine such a command is a host task whose data stays on the device. Its
 * function is called where host tasks are (host_tasks.h), when all that it depends on is complete; what it sends to a
 * stream of the program's own is waited for by a thread of the connection, which then tells the engine. So a command that
 * takes long holds up nobody who waits for something else.
 */
#ifndef SYCL_CLIENT_BRIDGE_H
#define SYCL_CLIENT_BRIDGE_H

#include "client_error.h"
#include "cuda_driver.h"

#include <pthread.h>
#include <stdbool.h>

struct bridge_call;
struct buffer;
struct connection;
struct device;
struct handler;
struct host_task;
struct sycl_shared_memory;

#define BRIDGE_STREAMS 8u

/* A context of the program's that native commands were made for; of a connection, as long as that lives. */
struct bridge_context {
	struct bridge_context *next;
	cuda_context context;
	unsigned long long id; /* a handle may come again for another context; 0: the driver does not tell */
	cuda_device device;
	bool is_left;                  /* let go of: the program may have destroyed it */
	bool is_retained;              /* the primary one, which then stays */
	struct bridge_import *imports; /* what is open in it; under open_lock */
	/* Under the bridge's lock: how many commands use each. */
	struct {
		cuda_stream stream; /* NULL: not made yet */
		uint32_t users;
	} streams[BRIDGE_STREAMS];
};

/* Of a connection. */
struct bridge {
	pthread_mutex_t lock;      /* contexts and streams; held while the driver makes a stream */
	pthread_mutex_t open_lock; /* one buffer is opened at a time; held until the service has answered */
	struct bridge_context *contexts;
	_Atomic uint32_t commands; /* that may use one of them */
	/* bridge_calls.c, under a lock of its own: */
	pthread_cond_t work;
	pthread_t thread;
	bool has_thread, stop;
	struct bridge_call *first, *last; /* sent, and not told yet */
};
void bridge_init(struct bridge *bridge);
/* There is no handle of the connection any more: if there is no command either, lets go of contexts, which the program may destroy then. */
void bridge_look(struct bridge *bridge);
/* bridge_calls.c: ends the bridge's thread, or lets it end itself if it is the caller. No command is under way: each holds the connection. */
void bridge_stop(struct bridge *bridge);
/* In a child, before anything else is done there. */
void bridge_forget_after_fork(void);
/* Behind bridge_stop. */
void bridge_fini(struct bridge *bridge);

/*
 * The context for native commands of that device: the one that is current on this thread, else the primary one. The first time
 * the driver starts, and a primary context is made that there was not.
 *
 * @return SYCL_ERROR_FEATURE_NOT_SUPPORTED: the service, the device or this program cannot. SYCL_ERROR_INVALID: the
 * current context is of another device.
 */
sycl_result bridge_context_find(struct connection *connection, const struct device *device,
				struct bridge_context **context_out);
/* What this program's driver calls that device. */
sycl_result bridge_device_find(const struct connection *connection, const struct device *device,
			       cuda_device *device_out);
/* May all that the handler requires be opened? SYCL_ERROR_FEATURE_NOT_SUPPORTED */
sycl_result bridge_check(const struct handler *handler);

/* With the context current: one that few use, counted until it is given back. */
sycl_result bridge_stream_take(struct bridge *bridge, struct bridge_context *context, uint32_t *stream_out);
void bridge_stream_give(struct bridge *bridge, struct bridge_context *context, uint32_t stream);

/* On any thread: one of them, for a host task that waits for what it sends itself. */
sycl_result bridge_stream_lend(struct bridge *bridge, struct bridge_context *context, cuda_stream *stream_out);

/*
 * bridge_memory.c, with the context current: where a root's memory is. A round trip the first time in each context; then
 * it stays open as long as the buffer.
 */
struct bridge_import;
sycl_result bridge_memory_find(struct bridge_context *context, struct buffer *root, cuda_address *address_out);
/* The same from any thread. */
sycl_result bridge_memory_get(struct bridge_context *context, struct buffer *root, uint64_t *address_out);
void bridge_memory_close(struct buffer *root);
/* All that is open in the context, which is current if it is still there. With open_lock. */
void bridge_memory_leave(struct bridge_context *context, bool is_there);

/*
 * bridge_calls.c: calls the function of a native command. `later_out` not NULL: what it has sent is not complete; then
 * bridge_call_later is to be called, else the task is over with the result.
 */
sycl_result bridge_call(struct host_task *task, struct bridge_call **later_out);
/* The function has ended so. The task is over when its work is: the bridge sees to it. */
void bridge_call_later(struct bridge_call *call, sycl_result status, const struct failure *why);

#endif
