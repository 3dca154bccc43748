/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cl_khr_command_buffer, version 0.9.0: a command buffer is a graph of the library, and its sync
 * points are numbers of nodes. The functions are found by name only. So they have names of their
 * own here, and later headers with other parameters do no harm.
 */
#include "command_buffer/command_buffer.h"

#include "kernel/kernel.h"

#include <CL/cl_ext.h>
#include <stdlib.h>
#include <string.h>

#define FIND_COMMAND_BUFFER(h) ((cl_command_buffer_khr)object_find((h), OBJECT_COMMAND_BUFFER))

struct _cl_command_buffer_khr {
	struct object head;
	cl_command_queue queue;
	cl_command_buffer_flags_khr flags;
	cl_command_buffer_properties_khr properties[3];
	size_t properties_bytes;
	pthread_mutex_t lock; /* guards what follows */
	sycl_graph graph;     /* NULL: finalized */
	sycl_executable_graph executable;
	sycl_graph_node node_count;
	sycl_graph_node before; /* each new node comes after it; 0: none */
	sycl_event latest;      /* of the latest launch, or NULL */
};

static void command_buffer_destroy(struct object *object)
{
	cl_command_buffer_khr buffer = (cl_command_buffer_khr)object;
	if (buffer->graph)
		(void)sycl_graph_release(buffer->graph);
	if (buffer->executable)
		(void)sycl_executable_graph_release(buffer->executable);
	if (buffer->latest)
		(void)sycl_event_release(buffer->latest);
	pthread_mutex_destroy(&buffer->lock);
	object_unuse(&buffer->queue->head);
	free(buffer);
}

static cl_int read_flags(cl_command_buffer_khr buffer, const cl_command_buffer_properties_khr *list)
{
	size_t at = 0;
	for (; list && list[at]; at += 2) {
		if (at > 0 || list[at] != CL_COMMAND_BUFFER_FLAGS_KHR ||
		    list[at + 1] &
			    ~(cl_command_buffer_flags_khr)CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR)
			return CL_INVALID_VALUE;
		buffer->flags = list[at + 1];
	}
	buffer->properties_bytes = list ? (at + 1) * sizeof(*list) : 0;
	if (list)
		memcpy(buffer->properties, list, buffer->properties_bytes);
	return CL_SUCCESS;
}

static cl_command_buffer_khr CL_API_CALL
command_buffer_create(cl_uint count, const cl_command_queue *queues,
		      const cl_command_buffer_properties_khr *properties, cl_int *code_out)
{
	if (count != 1 || !queues)
		return made(NULL, CL_INVALID_VALUE, code_out);
	cl_command_queue queue = FIND_QUEUE(queues[0]);
	if (!queue)
		return made(NULL, CL_INVALID_COMMAND_QUEUE, code_out);
	cl_command_buffer_khr buffer = calloc(1, sizeof(*buffer));
	if (!buffer)
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	cl_int code = read_flags(buffer, properties);
	if (code == CL_SUCCESS)
		code = code_of(sycl_graph_create(queue->context->sycl, queue->device->sycl, NULL,
						 &buffer->graph));
	if (code != CL_SUCCESS) {
		free(buffer);
		return made(NULL, code, code_out);
	}
	buffer->queue = queue;
	pthread_mutex_init(&buffer->lock, NULL);
	object_use(&queue->head);
	object_publish(&buffer->head, OBJECT_COMMAND_BUFFER, command_buffer_destroy);
	return made(buffer, CL_SUCCESS, code_out);
}

static cl_int CL_API_CALL command_buffer_retain(cl_command_buffer_khr buffer)
{
	return object_retain(buffer, OBJECT_COMMAND_BUFFER) ? CL_SUCCESS
							    : CL_INVALID_COMMAND_BUFFER_KHR;
}

static cl_int CL_API_CALL command_buffer_release(cl_command_buffer_khr buffer)
{
	return object_release(buffer, OBJECT_COMMAND_BUFFER) ? CL_SUCCESS
							     : CL_INVALID_COMMAND_BUFFER_KHR;
}

static cl_int CL_API_CALL command_buffer_finalize(cl_command_buffer_khr handle)
{
	struct sycl_graph_finalize_properties properties = SYCL_GRAPH_FINALIZE_PROPERTIES_INIT;
	cl_command_buffer_khr buffer = FIND_COMMAND_BUFFER(handle);
	cl_int code = CL_INVALID_OPERATION;
	if (!buffer)
		return CL_INVALID_COMMAND_BUFFER_KHR;
	if (buffer->queue->flags & CL_QUEUE_PROFILING_ENABLE)
		properties.flags = SYCL_GRAPH_ENABLE_PROFILING;
	pthread_mutex_lock(&buffer->lock);
	if (buffer->graph) {
		code = code_of(
			sycl_graph_finalize(buffer->graph, &properties, &buffer->executable));
		if (code == CL_SUCCESS) {
			(void)sycl_graph_release(buffer->graph);
			buffer->graph = NULL;
		}
	}
	pthread_mutex_unlock(&buffer->lock);
	return code;
}

/* What all calls that record a command are passed, and the group in the making. */
struct recording {
	cl_command_buffer_khr buffer;
	cl_uint count;
	const cl_sync_point_khr *points;
	cl_sync_point_khr *point_out;
	sycl_handler handler;
	bool holds_up; /* later commands come after it, also those of an out-of-order queue */
};

static cl_int check_points(const struct recording *recording)
{
	if ((recording->count == 0) != (recording->points == NULL))
		return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
	for (cl_uint i = 0; i < recording->count; i++)
		if (recording->points[i] == 0 ||
		    recording->points[i] > recording->buffer->node_count)
			return CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
	return CL_SUCCESS;
}

/* Checks what all commands share, and locks the buffer. Ended by record_end in any case. */
static cl_int record_begin(struct recording *recording, cl_command_buffer_khr handle,
			   cl_command_queue queue, const cl_mutable_command_khr *mutable_out)
{
	cl_command_buffer_khr buffer = FIND_COMMAND_BUFFER(handle);
	if (!buffer)
		return CL_INVALID_COMMAND_BUFFER_KHR;
	if (queue) /* a buffer has one, and the call may not name it */
		return CL_INVALID_COMMAND_QUEUE;
	if (mutable_out)
		return CL_INVALID_VALUE;
	recording->buffer = buffer;
	pthread_mutex_lock(&buffer->lock);
	cl_int code = buffer->graph ? check_points(recording) : CL_INVALID_OPERATION;
	if (code == CL_SUCCESS)
		code = code_of(sycl_handler_begin(buffer->queue->sycl, &recording->handler));
	return code;
}

/* Adds the group, after its sync points and what the queue's order asks for. */
static cl_int record_node(const struct recording *recording, sycl_graph_node *node_out)
{
	cl_command_buffer_khr buffer = recording->buffer;
	uint32_t count = 0;
	sycl_graph_node *after = malloc(((size_t)recording->count + 1) * sizeof(*after));
	if (!after) {
		(void)sycl_handler_discard(recording->handler);
		return CL_OUT_OF_HOST_MEMORY;
	}
	for (cl_uint i = 0; i < recording->count; i++)
		after[count++] = recording->points[i];
	if (buffer->before)
		after[count++] = buffer->before;
	sycl_result r = sycl_graph_add(buffer->graph, recording->handler, count,
				       count ? after : NULL, node_out);
	free(after);
	return code_of(r);
}

static cl_int record_end(struct recording *recording, cl_int code)
{
	cl_command_buffer_khr buffer = recording->buffer;
	sycl_graph_node node = 0;
	if (!buffer)
		return code;
	if (code == CL_SUCCESS)
		code = record_node(recording, &node);
	else if (recording->handler)
		(void)sycl_handler_discard(recording->handler);
	if (code == CL_SUCCESS) {
		buffer->node_count = node;
		if (recording->holds_up ||
		    !(buffer->queue->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
			buffer->before = node;
		if (recording->point_out)
			*recording->point_out = node;
	}
	pthread_mutex_unlock(&buffer->lock);
	return code;
}

/* An empty node after all others, or after the sync points. Later nodes come after it. */
static cl_int CL_API_CALL command_buffer_barrier(cl_command_buffer_khr handle,
						 cl_command_queue queue, cl_uint count,
						 const cl_sync_point_khr *points,
						 cl_sync_point_khr *point_out,
						 cl_mutable_command_khr *mutable_out)
{
	struct recording recording = {NULL, count, points, point_out, NULL, false};
	cl_int code = record_begin(&recording, handle, queue, mutable_out);
	if (code != CL_SUCCESS)
		return record_end(&recording, code);
	const sycl_graph_node nodes = recording.buffer->node_count;
	cl_sync_point_khr *all = NULL;
	recording.holds_up = true;
	if (count == 0 && nodes > 0) {
		all = malloc(nodes * sizeof(*all));
		code = all ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
		for (sycl_graph_node i = 0; all && i < nodes; i++)
			all[i] = i + 1;
		recording.count = all ? nodes : 0;
		recording.points = all;
	}
	code = record_end(&recording, code);
	free(all);
	return code;
}

static cl_int CL_API_CALL command_buffer_copy(cl_command_buffer_khr handle, cl_command_queue queue,
					      cl_mem from, cl_mem to, size_t from_offset,
					      size_t to_offset, size_t bytes, cl_uint count,
					      const cl_sync_point_khr *points,
					      cl_sync_point_khr *point_out,
					      cl_mutable_command_khr *mutable_out)
{
	struct recording recording = {NULL, count, points, point_out, NULL, false};
	cl_int code = record_begin(&recording, handle, queue, mutable_out);
	if (code == CL_SUCCESS)
		code = copy_check(recording.buffer->queue, from, to, from_offset, to_offset, bytes);
	if (code == CL_SUCCESS)
		code = code_of(
			buffer_copy(recording.handler, from, from_offset, to, to_offset, bytes));
	return record_end(&recording, code);
}

static cl_int CL_API_CALL
command_buffer_copy_rect(cl_command_buffer_khr handle, cl_command_queue queue, cl_mem from,
			 cl_mem to, const size_t *from_origin, const size_t *to_origin,
			 const size_t *region, size_t from_row, size_t from_slice, size_t to_row,
			 size_t to_slice, cl_uint count, const cl_sync_point_khr *points,
			 cl_sync_point_khr *point_out, cl_mutable_command_khr *mutable_out)
{
	struct sycl_copy_rect box = SYCL_COPY_RECT_INIT;
	struct recording recording = {NULL, count, points, point_out, NULL, false};
	const struct rect_pitches pitches = {from_origin, to_origin, region,  from_row,
					     from_slice,  to_row,    to_slice};
	cl_int code = record_begin(&recording, handle, queue, mutable_out);
	if (code == CL_SUCCESS)
		code = rect_check_copy(recording.buffer->queue, from, to, &pitches, &box);
	if (code == CL_SUCCESS)
		code = code_of(buffer_copy_rect(recording.handler, from, to, &box));
	return record_end(&recording, code);
}

static cl_int CL_API_CALL command_buffer_fill(cl_command_buffer_khr handle, cl_command_queue queue,
					      cl_mem memory, const void *pattern,
					      size_t pattern_bytes, size_t offset, size_t bytes,
					      cl_uint count, const cl_sync_point_khr *points,
					      cl_sync_point_khr *point_out,
					      cl_mutable_command_khr *mutable_out)
{
	struct recording recording = {NULL, count, points, point_out, NULL, false};
	cl_int code = record_begin(&recording, handle, queue, mutable_out);
	if (code == CL_SUCCESS)
		code = fill_check(recording.buffer->queue, memory, pattern, pattern_bytes, offset,
				  bytes);
	if (code == CL_SUCCESS)
		code = code_of(buffer_fill(recording.handler, memory, offset, bytes, pattern,
					   pattern_bytes));
	return record_end(&recording, code);
}

static cl_int CL_API_CALL
command_buffer_launch(cl_command_buffer_khr handle, cl_command_queue queue,
		      const cl_ndrange_kernel_command_properties_khr *properties, cl_kernel kernel,
		      cl_uint dimensions, const size_t *offset, const size_t *global,
		      const size_t *local, cl_uint count, const cl_sync_point_khr *points,
		      cl_sync_point_khr *point_out, cl_mutable_command_khr *mutable_out)
{
	struct recording recording = {NULL, count, points, point_out, NULL, false};
	const struct ranges ranges = {dimensions, offset, global, local};
	if (properties && properties[0] != 0) /* there are none */
		return CL_INVALID_VALUE;
	cl_int code = record_begin(&recording, handle, queue, mutable_out);
	if (code == CL_SUCCESS)
		code = launch_fill(recording.buffer->queue, kernel, &ranges, recording.handler);
	return record_end(&recording, code);
}

static bool is_pending_locked(cl_command_buffer_khr buffer)
{
	return buffer->latest && sycl_event_wait_for(buffer->latest, 0) == SYCL_ERROR_TIMEOUT;
}

/* A wait that takes any time runs host tasks, so functions of the program, which may ask for the
 * state of this buffer: not with the lock. */
static void let_tasks_run(cl_command_buffer_khr buffer)
{
	sycl_event latest = NULL;
	pthread_mutex_lock(&buffer->lock);
	if (buffer->latest && sycl_event_retain(buffer->latest) == SYCL_SUCCESS)
		latest = buffer->latest;
	pthread_mutex_unlock(&buffer->lock);
	if (!latest)
		return;
	(void)sycl_event_wait_for(latest, 1);
	(void)sycl_event_release(latest);
}

/* The queue of a launch: the buffer's, or one that is like it. */
static cl_int choose_queue(cl_command_buffer_khr buffer, cl_uint count,
			   const cl_command_queue *queues, cl_command_queue *queue_out)
{
	*queue_out = buffer->queue;
	if ((count == 0) != (queues == NULL) || count > 1)
		return CL_INVALID_VALUE;
	if (count == 0)
		return CL_SUCCESS;
	cl_command_queue queue = FIND_QUEUE(queues[0]);
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	if (queue->context != buffer->queue->context)
		return CL_INVALID_CONTEXT;
	if (queue->device != buffer->queue->device || queue->flags != buffer->queue->flags)
		return CL_INCOMPATIBLE_COMMAND_QUEUE_KHR;
	*queue_out = queue;
	return CL_SUCCESS;
}

static cl_int enqueue_locked(cl_command_buffer_khr buffer, cl_command_queue queue, cl_uint count,
			     const cl_event *events, cl_event *event_out)
{
	struct command command;
	sycl_event launched = NULL;
	if (!buffer->executable)
		return CL_INVALID_OPERATION;
	if (!(buffer->flags & CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR) && is_pending_locked(buffer))
		return CL_INVALID_OPERATION;
	cl_int code = command_begin(&command, queue, CL_COMMAND_COMMAND_BUFFER_KHR, count, events,
				    event_out);
	if (code != CL_SUCCESS)
		return code;
	sycl_result r = sycl_handler_graph(command.handler, buffer->executable);
	code = command_submit(&command, r, false, &launched);
	if (code != CL_SUCCESS)
		return code;
	if (buffer->latest)
		(void)sycl_event_release(buffer->latest);
	buffer->latest = launched;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL command_buffer_enqueue(cl_uint queue_count, cl_command_queue *queues,
						 cl_command_buffer_khr handle, cl_uint count,
						 const cl_event *events, cl_event *event_out)
{
	cl_command_buffer_khr buffer = FIND_COMMAND_BUFFER(handle);
	cl_command_queue queue = NULL;
	if (!buffer)
		return CL_INVALID_COMMAND_BUFFER_KHR;
	cl_int code = choose_queue(buffer, queue_count, queues, &queue);
	if (code != CL_SUCCESS)
		return code;
	let_tasks_run(buffer);
	pthread_mutex_lock(&buffer->lock);
	code = enqueue_locked(buffer, queue, count, events, event_out);
	pthread_mutex_unlock(&buffer->lock);
	return code;
}

static cl_command_buffer_state_khr command_buffer_state(cl_command_buffer_khr buffer)
{
	cl_command_buffer_state_khr state = CL_COMMAND_BUFFER_STATE_RECORDING_KHR;
	let_tasks_run(buffer);
	pthread_mutex_lock(&buffer->lock);
	if (buffer->executable)
		state = is_pending_locked(buffer) ? CL_COMMAND_BUFFER_STATE_PENDING_KHR
						  : CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR;
	pthread_mutex_unlock(&buffer->lock);
	return state;
}

static cl_int CL_API_CALL command_buffer_get_info(cl_command_buffer_khr handle,
						  cl_command_buffer_info_khr what, size_t size,
						  void *value, size_t *bytes_out)
{
	cl_command_buffer_khr buffer = FIND_COMMAND_BUFFER(handle);
	if (!buffer)
		return CL_INVALID_COMMAND_BUFFER_KHR;
	switch (what) {
	case CL_COMMAND_BUFFER_NUM_QUEUES_KHR:
		return answer_uint(ANSWER, 1);
	case CL_COMMAND_BUFFER_QUEUES_KHR:
		return answer_handle(ANSWER, buffer->queue);
	case CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR:
		return answer_uint(ANSWER, object_references(&buffer->head));
	case CL_COMMAND_BUFFER_STATE_KHR:
		return answer_uint(ANSWER, command_buffer_state(buffer));
	case CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR:
		return answer_bytes(ANSWER, buffer->properties, buffer->properties_bytes);
	default:
		return CL_INVALID_VALUE;
	}
}

#define NAMED(name, function)                                                                      \
	{                                                                                          \
		name, (void (*)(void))(function)                                                   \
	}

/* Without those of images: no device reports image support. */
static const struct {
	const char *name;
	void (*function)(void);
} named[] = {
	NAMED("clCreateCommandBufferKHR", command_buffer_create),
	NAMED("clFinalizeCommandBufferKHR", command_buffer_finalize),
	NAMED("clRetainCommandBufferKHR", command_buffer_retain),
	NAMED("clReleaseCommandBufferKHR", command_buffer_release),
	NAMED("clEnqueueCommandBufferKHR", command_buffer_enqueue),
	NAMED("clCommandBarrierWithWaitListKHR", command_buffer_barrier),
	NAMED("clCommandCopyBufferKHR", command_buffer_copy),
	NAMED("clCommandCopyBufferRectKHR", command_buffer_copy_rect),
	NAMED("clCommandFillBufferKHR", command_buffer_fill),
	NAMED("clCommandNDRangeKernelKHR", command_buffer_launch),
	NAMED("clGetCommandBufferInfoKHR", command_buffer_get_info),
};

void *command_buffer_function(const char *name)
{
	void *address = NULL;
	for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
		if (strcmp(named[i].name, name) == 0)
			memcpy(&address, &named[i].function, sizeof(address));
	return address;
}
