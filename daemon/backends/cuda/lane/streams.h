/* Streams and events that are used again: making one costs more than using it, and destroying one
 * may wait. */
#ifndef SYCL_BACKENDS_CUDA_STREAMS_H
#define SYCL_BACKENDS_CUDA_STREAMS_H

#include "cuda/lane/lane.h"

/* The properties that all streams of the device have. At device_open, with the context current. */
int cuda_streams_open(struct backend_device *device, struct backend_fault *fault_out);
/* Destroys what is in the pools. */
void cuda_streams_close(struct backend_device *device);

static inline int cuda_stream_priority(const struct cuda_lanes *lanes, enum backend_lane_kind kind)
{
	return kind == BACKEND_LANE_LATENCY ? lanes->latency_priority : lanes->priority;
}

/* A stream of its own that never waits for the default stream, with its kind's priority. Device
 * thread. */
int cuda_stream_take(struct backend_device *device, enum backend_lane_kind kind,
		     CUstream *stream_out, struct backend_fault *fault_out);
/* Idle; its attributes become those of a new one. */
void cuda_stream_give(struct backend_device *device, enum backend_lane_kind kind, CUstream stream);

#endif
