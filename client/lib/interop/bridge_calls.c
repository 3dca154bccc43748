/*
 * Native commands through a service, from the call of the function to the end of the work that it
 * sent.
 *
 * called --sent--> listed --the stream reaches its end--> noted --reported--> over
 *                      \--the driver reports that it never will, or the service has ended--> abandoned, reported
 *
 * The driver's own thread notes. The thread of the connection reports, because reporting may wait.
 * Both have a reference to the call, because the driver may note an abandoned call late or never.
 */
#include "interop/bridge.h"

#include "handler/handler.h"
#include "native_scope.h"
#include "base/fork_guard.h"
#include "base/own_thread.h"
#include "host_task/host_tasks.h"
#include "interop/native_commands.h"

#include "clock.h"

#include <stdlib.h>
#include <time.h>

/* Period of queries of calls that were not noted, because only a query detects a failure of the
 * context. */
#define LOOK_NS  100000000ull
#define ALONE_NS 200000 /* the same if the bridge has no thread for it */

struct bridge_call {
	struct bridge_call *next;
	struct bridge *bridge;
	struct connection *connection;
	struct host_task *task; /* holds the connection */
	struct bridge_context *context;
	uint32_t stream;
	/*
	 * Mode of the thread, while the library calls the driver on it (cuda_driver_exchange_mode).
	 */
	int mode;
	cuda_event event; /* an event behind all work that the call sent */
	sycl_result status;
	struct failure why;
	/* Under the notes' lock. */
	uint32_t holds;
	bool noted, abandoned;
};

/* The lock of the notes of all connections, because a note may come after its connection has ended.
 * It is held only for a few accesses. */
static pthread_mutex_t notes_lock = PTHREAD_MUTEX_INITIALIZER;

/* Set on a bridge's thread that has ended its own connection, whose memory is freed. */
static _Thread_local bool ended_own_connection;

/* With the lock. */
static void call_drop(struct bridge_call *call)
{
	if (--call->holds == 0)
		free(call);
}

/* Runs on a thread of the driver, so it may call no function of the driver. */
static void call_note_complete(void *argument)
{
	struct bridge_call *call = argument;
	(void)pthread_mutex_lock(&notes_lock);
	if (!call->abandoned) {
		call->noted = true;
		(void)pthread_cond_signal(&call->bridge->work);
	}
	call_drop(call);
	(void)pthread_mutex_unlock(&notes_lock);
}

/* ------------------------------------- the function ------------------------------------- */

/* Puts an event, which reports the result, and a note behind the sent commands. */
static cuda_result call_mark_end(const struct cuda_driver *cuda, struct bridge_call *call)
{
	cuda_stream stream = call->context->streams[call->stream].stream;
	cuda_result result = cuda->cuEventCreate(&call->event, CUDA_EVENT_DISABLE_TIMING);
	if (result != CUDA_OK) {
		call->event = NULL;
		return result;
	}
	result = cuda->cuEventRecord(call->event, stream);
	if (result == CUDA_OK)
		result = cuda->cuLaunchHostFunc(stream, call_note_complete, call);
	return result;
}

static sycl_result bridge_call_function(struct bridge_call *call, const struct handler *handler,
					const uint64_t *memories, cuda_stream stream)
{
	const struct cuda_driver *cuda = cuda_driver_get();
	const struct backend_native_scope scope = {
		.device = (uint64_t)call->context->device,
		.context = (uintptr_t)call->context->context,
		.queue = (uintptr_t)stream,
		.memories = memories,
		.memory_count = handler->requirements.count,
	};
	cuda_driver_exchange_mode(cuda, &call->mode);
	sycl_result result = native_call_here(handler, &scope);
	cuda_driver_exchange_mode(cuda, &call->mode);
	return result;
}

/* Launches a node, whose function was called when the graph was finalized. */
static sycl_result call_launch_node(const struct bridge_call *call, cuda_stream stream)
{
	cuda_result result = bridge_graph_launch(call->task->graph, stream);
	return result == CUDA_OK
		       ? SYCL_SUCCESS
		       : cuda_driver_error(result,
					   "what a native command has made is not launched");
}

/* With the context current. *sent_out: the driver has a reference to the call as well. */
static sycl_result call_run(struct bridge_call *call, const struct handler *handler,
			    const uint64_t *memories, bool *sent_out)
{
	const struct cuda_driver *cuda = cuda_driver_get();
	const struct bridge_event *early = call->task->is_early ? call->task->early : NULL;
	sycl_result result = bridge_stream_take(call->bridge, call->context, early, &call->stream);
	if (result)
		return result;
	cuda_stream stream = call->context->streams[call->stream].stream;
	cuda_result waits = early ? cuda->cuStreamWaitEvent(stream, early->event, 0) : CUDA_OK;
	if (waits != CUDA_OK) {
		bridge_stream_give(call->bridge, call->context, call->stream);
		return cuda_driver_error(waits,
					 "a native command's stream takes no wait for the service");
	}
	result = call->task->graph ? call_launch_node(call, stream)
				   : bridge_call_function(call, handler, memories, stream);
	call->holds = 2;
	cuda_result marked = call_mark_end(cuda, call);
	if (marked == CUDA_OK) {
		*sent_out = true;
		return result;
	}
	/* Without the event, only this call can wait for the work. */
	(void)cuda->cuStreamSynchronize(stream);
	if (call->event)
		(void)cuda->cuEventDestroy_v2(call->event);
	bridge_stream_give(call->bridge, call->context, call->stream);
	return result ? result
		      : cuda_driver_error(marked, "a native command's stream takes no event");
}

static sycl_result call_enter_context(struct bridge_call *call, const struct handler *handler,
				      uint64_t *memories, bool *sent_out)
{
	const struct cuda_driver *cuda = cuda_driver_get();
	cuda_context popped = NULL;
	cuda_result entered = cuda->cuCtxPushCurrent_v2(handler->bridge->context);
	if (entered != CUDA_OK)
		return cuda_driver_error(
			entered, "the CUDA context of a native command cannot be made current");
	call->mode = CUDA_CAPTURE_RELAXED;
	cuda_driver_exchange_mode(cuda, &call->mode);
	/* The memories of a node stay open as long as its graph, which holds the buffers. */
	sycl_result result =
		call->task->graph ? SYCL_SUCCESS : bridge_open_memories(handler, memories);
	if (!result)
		result = call_run(call, handler, memories, sent_out);
	cuda_driver_exchange_mode(cuda, &call->mode);
	(void)cuda->cuCtxPopCurrent_v2(&popped);
	return result;
}

sycl_result bridge_call(struct host_task *task, struct bridge_call **later_out)
{
	const struct handler *handler = task->handler;
	struct connection *c = handler->object.connection;
	struct bridge_call *call = calloc(1, sizeof(*call));
	uint64_t *memories = calloc(handler->requirements.count + 1, sizeof(*memories));
	bool sent = false;
	sycl_result result = SYCL_SUCCESS;
	if (call && memories) {
		call->bridge = c->bridge;
		call->connection = c;
		call->task = task;
		call->context = handler->bridge;
		result = call_enter_context(call, handler, memories, &sent);
	} else {
		result = error_no_memory();
	}
	free(memories);
	if (sent)
		*later_out = call;
	else
		free(call);
	return result;
}

/* ------------------------------------ end of a call ------------------------------------- */

/* The driver's result of the work; CUDA_NOT_READY: the work has not ended. */
static cuda_result call_query_event(const struct cuda_driver *cuda, const struct bridge_call *call)
{
	cuda_context popped = NULL;
	int mode = CUDA_CAPTURE_RELAXED;
	cuda_result result = cuda->cuCtxPushCurrent_v2(call->context->context);
	if (result != CUDA_OK)
		return result;
	cuda_driver_exchange_mode(cuda, &mode);
	result = cuda->cuEventQuery(call->event);
	cuda_driver_exchange_mode(cuda, &mode);
	(void)cuda->cuCtxPopCurrent_v2(&popped);
	return result;
}

/* The call is in no list any more. The caller holds the connection by another reference. */
static void call_finish(struct bridge_call *call, cuda_result how)
{
	struct host_task *task = call->task;
	sycl_result status = call->status;
	struct failure why = call->why;
	if (how != CUDA_OK && how != CUDA_NOT_READY && !status) {
		status = cuda_driver_error(how, "what a native command sent has failed");
		error_get(&why);
	}
	int mode = CUDA_CAPTURE_RELAXED;
	cuda_driver_exchange_mode(cuda_driver_get(), &mode);
	(void)cuda_driver_get()->cuEventDestroy_v2(call->event);
	cuda_driver_exchange_mode(cuda_driver_get(), &mode);
	bridge_stream_give(call->bridge, call->context, call->stream);
	struct connection *c = call->connection;
	(void)pthread_mutex_lock(&notes_lock);
	call->abandoned = true;
	call_drop(call);
	(void)pthread_mutex_unlock(&notes_lock);
	host_task_over(c, task, status, &why);
}

/*
 * True if the stream waits for an event that only the service can record, and the service has
 * ended. The driver's documents do not define what happens to the event then. So the stream, and
 * all open objects of its context, are left unchanged.
 */
static bool call_is_stuck(struct bridge_call *call)
{
	struct connection *c = call->connection;
	if (!call->task->is_early)
		return false;
	connection_probe(c);
	if (!atomic_load_explicit(&c->lost, memory_order_acquire))
		return false;
	(void)pthread_mutex_lock(&call->bridge->lock);
	call->context->is_stuck = true;
	(void)pthread_mutex_unlock(&call->bridge->lock);
	if (!call->status) {
		call->status = connection_check(c);
		error_get(&call->why);
	}
	return true;
}

/* True if the call is over and finished: it is noted, or the driver reports it as over or failed. A
 * note may come late or never, behind work of the program's own functions. */
static bool call_settle(struct bridge_call *call)
{
	(void)pthread_mutex_lock(&notes_lock);
	bool noted = call->noted;
	(void)pthread_mutex_unlock(&notes_lock);
	cuda_result how = call_query_event(cuda_driver_get(), call);
	if (!noted && how == CUDA_NOT_READY && !call_is_stuck(call))
		return false;
	call_finish(call, how);
	return true;
}

/* With the notes' lock. Takes the calls to check: the noted ones, or with `all` every call. */
static struct bridge_call *calls_take(struct bridge *bridge, bool all)
{
	struct bridge_call *taken = NULL, **taken_end = &taken, **at = &bridge->first;
	bridge->last = NULL;
	while (*at) {
		struct bridge_call *call = *at;
		if (all || call->noted) {
			*at = call->next;
			*taken_end = call;
			taken_end = &call->next;
		} else {
			bridge->last = call;
			at = &call->next;
		}
	}
	*taken_end = NULL;
	return taken;
}

/* With the lock. */
static void calls_append(struct bridge *bridge, struct bridge_call *call)
{
	call->next = NULL;
	if (bridge->last)
		bridge->last->next = call;
	else
		bridge->first = call;
	bridge->last = call;
}

/* With the lock. */
static bool bridge_call_has_noted(const struct bridge *bridge)
{
	for (const struct bridge_call *call = bridge->first; call; call = call->next)
		if (call->noted)
			return true;
	return false;
}

/* With the lock. Waits for a noted call, or the end. True: it is time to check all calls. */
static bool calls_wait(struct bridge *bridge)
{
	uint64_t until_ns = clock_now_ns() + LOOK_NS;
	while (!bridge->stop && !bridge_call_has_noted(bridge)) {
		if (!bridge->first) {
			(void)pthread_cond_wait(&bridge->work, &notes_lock);
			until_ns = clock_now_ns() + LOOK_NS;
			continue;
		}
		struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000ull),
					 .tv_nsec = (long)(until_ns % 1000000000ull)};
		(void)pthread_cond_timedwait(&bridge->work, &notes_lock, &until);
		if (clock_now_ns() >= until_ns)
			return true;
	}
	return false;
}

static void *finish_calls(void *argument)
{
	struct connection *c = argument;
	struct bridge *bridge = c->bridge;
	(void)pthread_mutex_lock(&notes_lock);
	while (!bridge->stop) {
		struct bridge_call *call = calls_take(bridge, calls_wait(bridge));
		if (!call)
			continue;
		connection_ref(c); /* the connection is alive: the calls hold it */
		(void)pthread_mutex_unlock(&notes_lock);
		struct bridge_call *left = NULL;
		while (call) {
			struct bridge_call *next = call->next;
			if (!call_settle(call)) {
				call->next = left;
				left = call;
			}
			call = next;
		}
		(void)pthread_mutex_lock(&notes_lock);
		while (left) {
			struct bridge_call *next = left->next;
			calls_append(bridge, left);
			left = next;
		}
		(void)pthread_mutex_unlock(&notes_lock);
		connection_unref(c);
		if (ended_own_connection)
			return NULL;
		(void)pthread_mutex_lock(&notes_lock);
	}
	(void)pthread_mutex_unlock(&notes_lock);
	return NULL;
}

void bridge_call_later(struct bridge_call *call, sycl_result status, const struct failure *why)
{
	struct bridge *bridge = call->bridge;
	call->status = status;
	call->why = *why;
	(void)pthread_mutex_lock(&notes_lock);
	if (!bridge->has_thread)
		bridge->has_thread =
			own_thread_start(&bridge->thread, 0, finish_calls, call->connection) == 0;
	if (bridge->has_thread) {
		calls_append(bridge, call);
		(void)pthread_cond_signal(&bridge->work);
		(void)pthread_mutex_unlock(&notes_lock);
		return;
	}
	(void)pthread_mutex_unlock(&notes_lock);
	/* Without a thread of the bridge, this thread waits. */
	while (!call_settle(call))
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = ALONE_NS},
				      NULL);
}

static void bridge_forget_after_fork(void)
{
	/* In the child, the thread that held it does not exist. */
	(void)pthread_mutex_init(&notes_lock, NULL);
}

__attribute__((constructor)) static void bridge_register_forget(void)
{
	fork_guard_forget_with(bridge_forget_after_fork);
}

void bridge_stop(struct bridge *bridge)
{
	if (!bridge->contexts)
		return; /* nothing was ever sent, so there is no thread, and no note will come */
	(void)pthread_mutex_lock(&notes_lock);
	bool has_thread = bridge->has_thread;
	bridge->stop = true;
	(void)pthread_cond_broadcast(&bridge->work);
	(void)pthread_mutex_unlock(&notes_lock);
	if (!has_thread)
		return;
	if (pthread_equal(bridge->thread, pthread_self())) {
		ended_own_connection = true;
		(void)pthread_detach(bridge->thread);
	} else {
		(void)pthread_join(bridge->thread, NULL);
	}
}
