/* Events. A record makes a mark, which the stream sets. A wait for the event is for its last
 * mark. */
#include "fake.h"

#include "fake_shared_event.h"

#include <stdlib.h>

static void mark_drop(struct fake_mark *mark)
{
	if (mark && --mark->references == 0)
		free(mark);
}

struct mark_op {
	struct fake_op op;
	struct fake_mark *mark;
	struct fake_shared_event *shared;
	uint64_t shared_number;
};

static void record_run(struct fake_op *base, struct CUstream_st *stream)
{
	struct mark_op *op = (struct mark_op *)base;

	fake_lock();
	op->mark->gpu_ns = fake_gpu_now(stream->device);
	op->mark->done = true;
	if (op->shared)
		fake_shared_event_set(op->shared, op->shared_number);
	fake_unlock();
}

static void await_run(struct fake_op *base, struct CUstream_st *stream)
{
	struct mark_op *op = (struct mark_op *)base;

	(void)stream;
	fake_lock();
	while (op->mark && !op->mark->done && !fake.sticky)
		fake_wait_changed();
	fake_unlock();
	if (op->shared)
		fake_shared_event_await(op->shared, op->shared_number);
}

static void mark_op_drop(struct fake_op *base)
{
	struct mark_op *op = (struct mark_op *)base;

	mark_drop(op->mark);
	fake_shared_event_unref(op->shared);
}

CUresult cuEventCreate(CUevent *event_out, unsigned flags)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	if (!event_out || (flags & ~7u))
		return CUDA_ERROR_INVALID_VALUE;
	if ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING))
		return CUDA_ERROR_INVALID_VALUE;
	struct CUevent_st *event = calloc(1, sizeof(*event));
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->device = fake_current()->device;
	event->flags = flags;
	if (flags & CU_EVENT_INTERPROCESS) {
		event->shared =
			fake_shared_event_make(event->shared_name, sizeof(event->shared_name));
		event->shared_owner = true;
		if (!event->shared) {
			free(event);
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
	}
	fake_handle_add(FAKE_EVENT, event);
	fake_number_add("events", 1);
	fake_number_add("events_created", 1);
	*event_out = event;
	return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!event || !fake_handle_alive(FAKE_EVENT, event))
		return CUDA_ERROR_INVALID_HANDLE;
	mark_drop(event->mark);
	if (event->shared_owner)
		fake_shared_event_unlink(event->shared_name);
	fake_shared_event_unref(event->shared);
	fake_handle_retire(FAKE_EVENT, event);
	fake_number_add("events", -1);
	return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream handle)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream || !event || !fake_handle_alive(FAKE_EVENT, event))
		return CUDA_ERROR_INVALID_HANDLE;
	if (stream->device != event->device) {
		fake_misuse("an event of device %d is recorded on a stream of device %d",
			    event->device, stream->device);
		return CUDA_ERROR_INVALID_HANDLE;
	}
	struct fake_mark *mark = calloc(1, sizeof(*mark));
	struct mark_op *op = calloc(1, sizeof(*op));
	if (!mark || !op) {
		free(mark);
		free(op);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	mark->references = 2;
	mark_drop(event->mark);
	event->mark = mark;
	*op = (struct mark_op){.op = {.name = "record", .run = record_run, .drop = mark_op_drop},
			       .mark = mark};
	if (event->shared) {
		op->shared = fake_shared_event_ref(event->shared);
		op->shared_number = fake_shared_event_begin(event->shared);
	}
	fake_stream_add(stream, &op->op);
	return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
	(void)flags;
	return cuEventRecord(event, stream);
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned flags)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream || !event || !fake_handle_alive(FAKE_EVENT, event))
		return CUDA_ERROR_INVALID_HANDLE;
	if (flags > 1)
		return CUDA_ERROR_INVALID_VALUE;
	if (!event->mark && !event->shared)
		return CUDA_SUCCESS;
	struct mark_op *op = calloc(1, sizeof(*op));
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*op = (struct mark_op){
		.op = {.name = "wait", .may_wait = true, .run = await_run, .drop = mark_op_drop},
		.mark = event->mark};
	if (event->mark)
		event->mark->references++;
	if (event->shared) {
		op->shared = fake_shared_event_ref(event->shared);
		op->shared_number = fake_shared_event_last(event->shared);
	}
	fake_stream_add(stream, &op->op);
	return CUDA_SUCCESS;
}

static bool event_done(const struct CUevent_st *event)
{
	if (event->shared)
		return fake_shared_event_done(event->shared);
	return !event->mark || event->mark->done;
}

CUresult cuEventQuery(CUevent event)
{
	ENTER(NEED_INIT | UNSAFE);
	LOCKED();
	if (!event || !fake_handle_alive(FAKE_EVENT, event))
		return CUDA_ERROR_INVALID_HANDLE;
	return event_done(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!event || !fake_handle_alive(FAKE_EVENT, event))
		return CUDA_ERROR_INVALID_HANDLE;
	if (event->shared) {
		struct fake_shared_event *shared = fake_shared_event_ref(event->shared);
		uint64_t number = fake_shared_event_last(shared);
		fake_unlock();
		fake_shared_event_await(shared, number);
		fake_lock();
		fake_shared_event_unref(shared);
		return (CUresult)fake.sticky;
	}
	struct fake_mark *mark = event->mark;
	if (!mark)
		return CUDA_SUCCESS;
	mark->references++;
	while (!mark->done && !fake.sticky)
		fake_wait_changed();
	mark_drop(mark);
	return (CUresult)fake.sticky;
}

/* Returns milliseconds as a float, as the real driver does: 24 bits for any distance of the two. */
CUresult cuEventElapsedTime(float *milliseconds_out, CUevent start, CUevent end)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!fake_handle_alive(FAKE_EVENT, start) || !fake_handle_alive(FAKE_EVENT, end))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!start->mark || !end->mark || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) ||
	    start->device != end->device) {
		fake_misuse("the time between two events was requested, but one has no time");
		return CUDA_ERROR_INVALID_HANDLE;
	}
	if (!start->mark->done || !end->mark->done)
		return CUDA_ERROR_NOT_READY;
	uint64_t tick = fake.event_tick_ns ? fake.event_tick_ns : 1;
	int64_t from = (int64_t)(start->mark->gpu_ns / tick * tick),
		to = (int64_t)(end->mark->gpu_ns / tick * tick);
	*milliseconds_out = (float)((double)(to - from) / 1e6);
	return CUDA_SUCCESS;
}

/* Entries of drivers before 12.8 that this driver still exports. */
CUresult fake_elapsed_time_old(float *milliseconds_out, CUevent start, CUevent end);

CUresult fake_elapsed_time_old(float *milliseconds_out, CUevent start, CUevent end)
{
	return cuEventElapsedTime(milliseconds_out, start, end);
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle_out, CUevent event)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!handle_out || !fake_handle_alive(FAKE_EVENT, event) || !event->shared_owner)
		return CUDA_ERROR_INVALID_HANDLE;
	fake_shared_event_name(event->shared_name, handle_out->reserved);
	return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(CUevent *event_out, CUipcEventHandle handle)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct CUevent_st *event = calloc(1, sizeof(*event));
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	event->shared = fake_shared_event_open(handle.reserved);
	if (!event->shared) {
		free(event);
		return CUDA_ERROR_INVALID_VALUE;
	}
	event->device = fake_current()->device;
	event->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
	fake_handle_add(FAKE_EVENT, event);
	fake_number_add("events", 1);
	*event_out = event;
	return CUDA_SUCCESS;
}
