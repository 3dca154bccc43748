/* Streams. Each has a queue and a thread. So streams run beside each other, and each in order. */
#include "fake.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A stream polls the memory that it waits on, because the driver gets no notification of a
 * change. */
#define POLL_NS 200000

/* The number of operations that a stream takes before a call waits for the device: of all kinds,
 * and of host functions. */
#define QUEUE_OPERATIONS 1022u
#define QUEUE_HOST_CALLS 55u

/* Paces of lazy streams. */
#define LAZY_AT_ONCE 1u
#define LAZY_LATE    2u /* a random time later */
#define LAZY_LAST                                                                                  \
	3u /* when nothing else has happened for a while; a caller that did not wait for it has    \
	      gone on by then */
#define LATE_NS  100000u
#define QUIET_NS 200000u
#define LAST_NS  4000000u

void fake_wait_changed(void)
{
	(void)pthread_cond_wait(&fake.changed, &fake.lock);
}

static uint64_t stream_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static unsigned stream_random_below(unsigned sides)
{
	fake.lazy = (fake.lazy * 6364136223846793005u + 1442695040888963407u) |
		    1u; /* never 0: that is "off" */
	return (unsigned)((fake.lazy >> 33) % sides);
}

static void wait_some(long ns)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ns;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	(void)pthread_cond_timedwait(&fake.changed, &fake.lock, &until);
}

static void wait_polling(void)
{
	wait_some(POLL_NS);
}

void fake_dawdle(struct CUstream_st *stream)
{
	uint64_t since = stream_now_ns();

	if (!fake.lazy)
		return;
	if (!stream->pace || stream_random_below(8) == 0)
		stream->pace = LAZY_AT_ONCE + stream_random_below(3);
	uint64_t late_ns = stream->pace == LAZY_LATE ? stream_random_below(LATE_NS) : 0;
	for (uint64_t now = since; !fake.sticky && now - since < LAST_NS; now = stream_now_ns()) {
		uint64_t moved = fake.moved_ns > since ? fake.moved_ns : since;
		if (stream->pace == LAZY_LAST ? now - moved >= QUIET_NS : now - since >= late_ns)
			break;
		wait_some(stream->pace == LAZY_LAST ? QUIET_NS / 2 : LATE_NS / 4);
	}
}

static void op_end(struct CUstream_st *stream, struct fake_op *op)
{
	if (op->kernel) {
		stream->kernels--;
		fake.kernels_running--;
	}
	stream->host_calls -= op->calls_host;
	if (op->drop)
		op->drop(op);
	free(op);
	stream->completed++;
	fake.moved_ns = stream_now_ns();
	(void)pthread_cond_broadcast(&fake.changed);
}

/* Freed when its work is complete; cuStreamDestroy does not wait for that. */
static void stream_free(struct CUstream_st *stream)
{
	struct CUstream_st **link = &fake.streams;

	while (*link != stream)
		link = &(*link)->next;
	*link = stream->next;
	(void)pthread_cond_destroy(&stream->work);
	fake_handle_retire(FAKE_STREAM, stream);
}

static void wait_for_stalls(const struct CUstream_st *own);

static void *stream_thread(void *argument)
{
	struct CUstream_st *stream = argument;

	fake_lock();
	for (;;) {
		/* With `set instant` the thread that sends may run an operation itself. */
		while (stream->running || (!stream->head && !stream->destroyed))
			(void)pthread_cond_wait(&stream->work, &fake.lock);
		struct fake_op *op = stream->head;
		if (!op)
			break;
		stream->head = op->next;
		if (!stream->head)
			stream->tail = &stream->head;
		if (op->kernel)
			wait_for_stalls(stream);
		stream->running = true;
		fake_dawdle(stream);
		if (fake_gate_passes(op->name)) {
			fake_unlock();
			op->run(op, stream);
			fake_lock();
		}
		stream->running = false;
		op_end(stream, op);
	}
	stream_free(stream);
	fake_unlock();
	return NULL;
}

/* Threads of the double take no signals, which belong to the program under test. */
static bool stream_start(struct CUstream_st *stream)
{
	sigset_t all, before;
	pthread_attr_t attributes;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	int error = pthread_create(&stream->thread, &attributes, stream_thread, stream);
	(void)pthread_attr_destroy(&attributes);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error == 0;
}

bool fake_stream_is_instant(const struct CUstream_st *stream)
{
	return fake.instant && !fake.sticky && stream->completed == stream->submitted;
}

static void stream_run_at_once(struct CUstream_st *stream, struct fake_op *op)
{
	stream->submitted++;
	stream->running = true;
	fake_unlock();
	op->run(op, stream);
	fake_lock();
	stream->running = false;
	op_end(stream, op);
	if (stream->started)
		(void)pthread_cond_signal(&stream->work);
}

/*
 * The real driver's call waits here until the stream has room (measured: H100). The double counts
 * it and goes on. So a test that requires that no call waits needs no second thread.
 */
static void count_full_queue(const struct CUstream_st *stream, const struct fake_op *op)
{
	if (stream->submitted - stream->completed >= QUEUE_OPERATIONS)
		fake_number_add("full_queues", 1);
	if (op->calls_host && stream->host_calls >= QUEUE_HOST_CALLS)
		fake_number_add("full_host_queues", 1);
}

void fake_stream_add(struct CUstream_st *stream, struct fake_op *op)
{
	op->next = NULL;
	if (fake_stream_is_instant(stream) && !op->may_wait) {
		stream->kernels += op->kernel;
		fake.kernels_running += op->kernel;
		stream_run_at_once(stream, op);
		return;
	}
	count_full_queue(stream, op);
	*stream->tail = op;
	stream->tail = &op->next;
	stream->submitted++;
	stream->host_calls += op->calls_host;
	stream->ends_with_kernel = false;
	fake.moved_ns = stream_now_ns();
	if (op->kernel) {
		stream->kernels++;
		fake.kernels_running++;
	}
	if (!stream->started) {
		stream->started = true;
		if (!stream_start(stream)) {
			(void)fprintf(stderr, "fake_cuda: no thread for a stream\n");
			abort();
		}
	}
	(void)pthread_cond_signal(&stream->work);
	if (fake.launch_blocking)
		fake_stream_wait(stream, stream->submitted);
}

void fake_stream_wait(struct CUstream_st *stream, uint64_t target)
{
	while (stream->completed < target && !fake.sticky)
		fake_wait_changed();
}

/* The stream may be destroyed meanwhile: then its work is complete. */
static struct CUstream_st *stream_numbered(int number)
{
	for (struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
		if (stream->number == number)
			return stream;
	return NULL;
}

void fake_device_wait(int device)
{
	struct {
		int number;
		uint64_t target;
	} *list = NULL;
	size_t count = 0;

	for (struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
		count++;
	list = calloc(count + 1, sizeof(*list));
	if (!list)
		abort();
	count = 0;
	for (struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
		if (device < 0 || stream->device == device) {
			list[count].number = stream->number;
			list[count++].target = stream->submitted;
		}
	for (size_t i = 0; i < count; i++)
		for (const struct CUstream_st *stream = stream_numbered(list[i].number);
		     stream && stream->completed < list[i].target && !fake.sticky;
		     stream = stream_numbered(list[i].number))
			fake_wait_changed();
	free(list);
}

void fake_launch_hold(void)
{
	while (fake.holding && !fake.sticky)
		fake_wait_changed();
}

void fake_streams_stall(int device)
{
	for (struct CUstream_st *stream = fake.streams; stream; stream = stream->next)
		if (stream->device == device && stream->running && stream->kernels)
			stream->stall_target = stream->completed + 1;
}

/* A kernel waits for those that ran when a function was loaded. */
static void wait_for_stalls(const struct CUstream_st *own)
{
	for (const struct CUstream_st *stream = fake.streams; stream;) {
		bool stalls = stream != own && stream->device == own->device &&
			      stream->completed < stream->stall_target;
		if (!stalls || fake.sticky) {
			stream = stream->next;
			continue;
		}
		fake_wait_changed();
		stream = fake.streams; /* the list may have changed */
	}
}

struct CUstream_st *fake_stream_make(struct CUctx_st *context, unsigned flags, int priority)
{
	struct CUstream_st *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->number = ++fake.stream_numbers;
	stream->device = context->device;
	stream->context = context;
	stream->flags = flags;
	stream->priority = priority;
	stream->tail = &stream->head;
	(void)pthread_cond_init(&stream->work, NULL);
	stream->next = fake.streams;
	fake.streams = stream;
	fake_handle_add(FAKE_STREAM, stream);
	return stream;
}

struct CUstream_st *fake_stream_use(CUstream stream)
{
	struct CUctx_st *context = fake_current();

	if (stream == NULL || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD) {
		fake_record(&(struct fake_cuda_record){.kind = FAKE_CUDA_NULL_STREAM});
		if (context && !context->null_stream)
			context->null_stream = fake_stream_make(context, 0, 0);
		return context ? context->null_stream : NULL;
	}
	if (!fake_handle_alive(FAKE_STREAM, stream))
		return NULL;
	if (stream->destroyed) {
		fake_misuse("stream %d is used after it was destroyed", stream->number);
		return NULL;
	}
	if (stream->green && stream->green->ended) {
		fake_misuse("stream %d is used after its green context was destroyed",
			    stream->number);
		return NULL;
	}
	if (stream->capture)
		fake_capture_break(stream);
	if (context && context != stream->context)
		fake_misuse("stream %d belongs to another context than the current one",
			    stream->number);
	return stream;
}

static CUresult create_stream(CUstream *stream_out, unsigned flags, int priority)
{
	LOCKED();
	if (!stream_out || (flags & ~1u))
		return CUDA_ERROR_INVALID_VALUE;
	if (!(flags & CU_STREAM_NON_BLOCKING))
		fake_misuse("a stream may not wait for stream 0");
	struct CUstream_st *stream = fake_stream_make(fake_current(), flags, priority);
	if (!stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	fake_number_add("streams", 1);
	fake_number_add("streams_created", 1);
	*stream_out = stream;
	return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream_out, unsigned flags)
{
	ENTER(NEED_CONTEXT);
	return create_stream(stream_out, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream *stream_out, unsigned flags, int priority)
{
	ENTER(NEED_CONTEXT);
	if (priority > 0)
		priority = 0;
	return create_stream(stream_out, flags, priority < -5 ? -5 : priority);
}

CUresult cuStreamDestroy(CUstream handle)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!handle || !fake_handle_alive(FAKE_STREAM, handle) || handle->destroyed)
		return CUDA_ERROR_INVALID_HANDLE;
	if (handle->capture)
		fake_misuse("stream %d is destroyed while it captures", handle->number);
	if (handle->attributes_set)
		fake_misuse("stream %d is destroyed while attributes are set", handle->number);
	fake_number_add("streams", -1);
	handle->destroyed = true;
	if (handle->started)
		(void)pthread_cond_signal(&handle->work);
	else
		stream_free(handle);
	return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream handle)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	return stream->completed == stream->submitted ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamSynchronize(CUstream handle)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	fake_stream_wait(stream, stream->submitted);
	return (CUresult)fake.sticky;
}

CUresult cuStreamGetPriority(CUstream handle, int *priority_out)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	*priority_out = stream->priority;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned *flags_out)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	*flags_out = stream->flags;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id_out)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	*id_out = (unsigned long long)stream->number;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *context_out)
{
	ENTER(NEED_INIT);
	LOCKED();
	if (!handle || !context_out || !fake_handle_alive(FAKE_STREAM, handle) || handle->destroyed)
		return CUDA_ERROR_INVALID_HANDLE;
	*context_out = handle->context;
	return CUDA_SUCCESS;
}

/* The default attributes are those of a stream that was not changed. Copying from such a stream
 * resets them. */
CUresult cuStreamSetAttribute(CUstream handle, CUstreamAttrID attribute,
			      const CUstreamAttrValue *value)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream || !value)
		return CUDA_ERROR_INVALID_HANDLE;
	if (attribute == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
		stream->attributes_set = value->accessPolicyWindow.num_bytes != 0;
	return CUDA_SUCCESS;
}

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute,
			      CUstreamAttrValue *value_out)
{
	ENTER(NEED_INIT);
	LOCKED();
	const struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream || !value_out)
		return CUDA_ERROR_INVALID_HANDLE;
	memset(value_out, 0, sizeof(*value_out));
	if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
		value_out->priority = stream->priority;
	return CUDA_SUCCESS;
}

CUresult cuStreamCopyAttributes(CUstream destination, CUstream source)
{
	ENTER(NEED_INIT);
	LOCKED();
	struct CUstream_st *to = fake_stream_use(destination), *from = fake_stream_use(source);
	if (!to || !from)
		return CUDA_ERROR_INVALID_HANDLE;
	to->attributes_set = from->attributes_set;
	return CUDA_SUCCESS;
}

struct value_op {
	struct fake_op op;
	CUdeviceptr address;
	uint64_t value;
	unsigned flags;
	bool wide;
};

static void *value_place(const struct value_op *op)
{
	struct fake_range *range = fake_range_find(op->address, op->wide ? 8 : 4);

	if (!range) {
		fake_make_sticky(CUDA_ERROR_ILLEGAL_ADDRESS);
		return NULL;
	}
	return fake_range_bytes(range, op->address);
}

/* A reader that gets the value also gets everything that the stream did before. */
static void value_write(const struct value_op *op)
{
	void *place = value_place(op);

	if (place && op->wide)
		atomic_store((_Atomic uint64_t *)place, op->value);
	else if (place)
		atomic_store((_Atomic uint32_t *)place, (uint32_t)op->value);
}

static void write_run(struct fake_op *base, struct CUstream_st *stream)
{
	(void)stream;
	fake_lock();
	value_write((struct value_op *)base);
	fake_unlock();
}

static bool value_reached(const struct value_op *op, uint64_t now)
{
	uint64_t value = op->value;

	switch (op->flags & 3u) {
	case CU_STREAM_WAIT_VALUE_GEQ:
		return op->wide ? (int64_t)(now - value) >= 0
				: (int32_t)((uint32_t)now - (uint32_t)value) >= 0;
	case CU_STREAM_WAIT_VALUE_EQ:
		return now == value;
	case CU_STREAM_WAIT_VALUE_AND:
		return (now & value) != 0;
	default:
		return ~(now | value) != 0;
	}
}

static void wait_run(struct fake_op *base, struct CUstream_st *stream)
{
	struct value_op *op = (struct value_op *)base;

	(void)stream;
	fake_lock();
	while (!fake.sticky) {
		void *place = value_place(op);
		if (!place || value_reached(op, op->wide ? atomic_load((_Atomic uint64_t *)place)
							 : atomic_load((_Atomic uint32_t *)place)))
			break;
		wait_polling();
	}
	fake_unlock();
}

static CUresult value_add(CUstream handle, CUdeviceptr address, uint64_t value, unsigned flags,
			  bool wide, bool write)
{
	LOCKED();
	struct CUstream_st *stream = fake_stream_use(handle);
	if (!stream)
		return CUDA_ERROR_INVALID_HANDLE;
	if (address % (wide ? 8 : 4)) {
		fake_misuse("the word at 0x%llx is not aligned", address);
		return CUDA_ERROR_INVALID_VALUE;
	}
	const struct fake_range *range = fake_range_find(address, wide ? 8 : 4);
	if (!range || range->freed) {
		fake_misuse("the word at 0x%llx is not in memory of the driver", address);
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (write && fake_stream_is_instant(stream)) {
		const struct value_op now = {.address = address, .value = value, .wide = wide};
		value_write(&now);
		return CUDA_SUCCESS;
	}
	struct value_op *op = calloc(1, sizeof(*op));
	if (!op)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*op = (struct value_op){.op = {.name = write ? "write_value" : "wait_value",
				       .may_wait = !write,
				       .run = write ? write_run : wait_run},
				.address = address,
				.value = value,
				.flags = flags,
				.wide = wide};
	fake_stream_add(stream, &op->op);
	return CUDA_SUCCESS;
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value,
			      unsigned flags)
{
	ENTER(NEED_INIT);
	return value_add(stream, address, value, flags, false, true);
}

CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value,
			      unsigned flags)
{
	ENTER(NEED_INIT);
	return value_add(stream, address, value, flags, true, true);
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags)
{
	ENTER(NEED_INIT);
	return value_add(stream, address, value, flags, false, false);
}

CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags)
{
	ENTER(NEED_INIT);
	return value_add(stream, address, value, flags, true, false);
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams *parameters,
			    unsigned flags)
{
	ENTER(NEED_INIT);
	CUresult result = CUDA_SUCCESS;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
		const CUstreamBatchMemOpParams *one = &parameters[i];
		switch (one->operation) {
		case CU_STREAM_MEM_OP_WRITE_VALUE_32:
			result = value_add(stream, one->writeValue.address, one->writeValue.value,
					   one->writeValue.flags, false, true);
			break;
		case CU_STREAM_MEM_OP_WRITE_VALUE_64:
			result = value_add(stream, one->writeValue.address, one->writeValue.value64,
					   one->writeValue.flags, true, true);
			break;
		case CU_STREAM_MEM_OP_WAIT_VALUE_32:
			result = value_add(stream, one->waitValue.address, one->waitValue.value,
					   one->waitValue.flags, false, false);
			break;
		case CU_STREAM_MEM_OP_WAIT_VALUE_64:
			result = value_add(stream, one->waitValue.address, one->waitValue.value64,
					   one->waitValue.flags, true, false);
			break;
		default:
			result = CUDA_ERROR_NOT_SUPPORTED;
		}
	}
	return result;
}
