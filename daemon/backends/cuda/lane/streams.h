/* Streams and events that are used again: making one costs more than using it, and destroying one
 * may block. */
#ifndef SYCL_BACKENDS_CUDA_STREAMS_H
#define SYCL_BACKENDS_CUDA_STREAMS_H

#include "cuda/lane/lane.h"

/* Finds the properties that all streams of the device have. At device_open, with the context
 * current. */
int cuda_streams_open(struct backend_device *device, struct backend_fault *fault_out);
/* Destroys the streams and events in the pools. */
void cuda_streams_close(struct backend_device *device);

static inline int cuda_stream_priority(const struct cuda_lanes *lanes, enum backend_lane_kind kind)
{
	return kind == BACKEND_LANE_LATENCY  ? lanes->latency_priority
	       : kind == BACKEND_LANE_BESIDE ? lanes->least_priority
					     : lanes->priority;
}

/* Takes a stream that never waits for the default stream, with the priority of its kind. Device
 * thread. */
int cuda_stream_take(struct backend_device *device, enum backend_lane_kind kind,
		     CUstream *stream_out, struct backend_fault *fault_out);
/* The stream must be idle. Its attributes become those of a new stream. */
void cuda_stream_give(struct backend_device *device, enum backend_lane_kind kind, CUstream stream);

#endif
