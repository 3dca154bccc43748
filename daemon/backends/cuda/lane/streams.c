#include "cuda/lane/streams.h"

#include "cuda/lane/lane.h"

#include <errno.h>

int cuda_streams_open(struct backend_device *device, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_lanes *lanes = device->lanes;
	int least = 0, greatest = 0;

	CUresult result = cu->cuCtxGetStreamPriorityRange(&least, &greatest);
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out,
				  "cannot query the streams' priorities");
	/*
	 * Greater priorities have smaller numbers; the least priority is the driver's default. The
	 * backend's own streams have the greatest. If there is a priority in between, lanes share
	 * no queue to the device with these streams. Where best effort runs beside others, other
	 * lanes are above the least priority.
	 */
	lanes->least_priority = lanes->priority = least;
	lanes->latency_priority = greatest + 1 < least ? greatest + 1 : greatest;
	if (device->backend->settings.best_effort_beside && lanes->latency_priority < least - 1)
		lanes->priority = least - 1;
	result = cu->cuStreamCreateWithPriority(&lanes->model, CU_STREAM_NON_BLOCKING,
						lanes->priority);
	if (result != CUDA_SUCCESS) {
		lanes->model = NULL;
		return cuda_fault(device, cu, result, fault_out, "cannot make a stream");
	}
	(void)pthread_mutex_init(&lanes->events_lock, NULL);
	return 0;
}

static void destroy_events(const struct cuda_library *cu, struct cuda_event_pool *pool)
{
	while (pool->count > 0)
		(void)cu->cuEventDestroy(pool->events[--pool->count]);
}

void cuda_streams_close(struct backend_device *device)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_lanes *lanes = device->lanes;

	if (!lanes->model)
		return;
	for (uint32_t kind = 0; kind < CUDA_LANE_KINDS; kind++) {
		struct cuda_stream_pool *pool = &lanes->pools[kind];
		while (pool->count > 0)
			(void)cu->cuStreamDestroy(pool->streams[--pool->count]);
	}
	destroy_events(cu, &lanes->plain_events);
	destroy_events(cu, &lanes->timing_events);
	(void)cu->cuStreamDestroy(lanes->model);
	lanes->model = NULL;
	(void)pthread_mutex_destroy(&lanes->events_lock);
}

int cuda_stream_take(struct backend_device *device, enum backend_lane_kind kind,
		     CUstream *stream_out, struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_lanes *lanes = device->lanes;
	struct cuda_stream_pool *pool = &lanes->pools[kind];

	if (pool->count > 0) {
		*stream_out = pool->streams[--pool->count];
		return 0;
	}
	CUresult result = cu->cuStreamCreateWithPriority(stream_out, CU_STREAM_NON_BLOCKING,
							 cuda_stream_priority(lanes, kind));
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cu, result, fault_out, "cannot make a stream");
	return 0;
}

void cuda_stream_give(struct backend_device *device, enum backend_lane_kind kind, CUstream stream)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_stream_pool *pool = &device->lanes->pools[kind];
	/* The stream gets the model's priority with the other attributes. */
	bool is_pooled = cuda_stream_priority(device->lanes, kind) == device->lanes->priority;

	/* A stream keeps its attributes (windows of the cache, sync policy), and its next user must
	 * not inherit them. */
	if (is_pooled && pool->count < CUDA_POOLED_STREAMS_MAX && !cuda_lost(device) &&
	    cu->cuStreamCopyAttributes(stream, device->lanes->model) == CUDA_SUCCESS)
		pool->streams[pool->count++] = stream;
	else
		(void)cu->cuStreamDestroy(stream); /* returns at once, even if work still ran */
}

int cuda_event_take(struct backend_device *device, bool timed, CUevent *event_out,
		    struct backend_fault *fault_out)
{
	const struct cuda_library *cu = &device->backend->library;
	struct cuda_lanes *lanes = device->lanes;
	struct cuda_event_pool *pool = timed ? &lanes->timing_events : &lanes->plain_events;
	CUevent event = NULL;

	(void)pthread_mutex_lock(&lanes->events_lock);
	if (pool->count > 0)
		event = pool->events[--pool->count];
	(void)pthread_mutex_unlock(&lanes->events_lock);
	if (!event) {
		CUresult result = cu->cuEventCreate(
			&event, timed ? CU_EVENT_BLOCKING_SYNC
				      : CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING);
		if (result != CUDA_SUCCESS)
			return cuda_fault(device, cu, result, fault_out, "cannot make an event");
	}
	*event_out = event;
	return 0;
}

void cuda_event_give(struct backend_device *device, bool timed, CUevent event)
{
	struct cuda_lanes *lanes = device->lanes;
	struct cuda_event_pool *pool = timed ? &lanes->timing_events : &lanes->plain_events;

	if (!event)
		return;
	(void)pthread_mutex_lock(&lanes->events_lock);
	bool is_kept = pool->count < CUDA_POOLED_EVENTS_MAX;
	if (is_kept)
		pool->events[pool->count++] = event;
	(void)pthread_mutex_unlock(&lanes->events_lock);
	if (!is_kept)
		(void)device->backend->library.cuEventDestroy(event);
}
