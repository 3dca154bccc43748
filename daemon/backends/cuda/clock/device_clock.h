/* The times of a device's events on the host's clock. */
#ifndef SYCL_BACKENDS_CUDA_DEVICE_CLOCK_H
#define SYCL_BACKENDS_CUDA_DEVICE_CLOCK_H

#include "cuda/driver/context.h"

/* clock/clock.c: CLOCK_MONOTONIC of two timing events that have both happened, to +-0.5 us relative
 * to each other, however long the service runs (H8). Device thread. */
int cuda_clock_open(struct backend_device *device,
		    struct backend_fault *fault_out); /* Called at device_open; takes up to 3 ms. */
void cuda_clock_close(struct backend_device *device);
/*
 * Call before the start event of a timed command is recorded: keeps a base near. Four times a
 * second some 30 us, 50 at most, otherwise a reading of the host's clock.
 */
int cuda_clock_prepare(struct backend_device *device, struct backend_fault *fault_out);
/* -EAGAIN: not both have happened yet. */
int cuda_clock_times(struct backend_device *device, CUevent start, CUevent end,
		     uint64_t *start_ns_out, uint64_t *end_ns_out, struct backend_fault *fault_out);

#endif
