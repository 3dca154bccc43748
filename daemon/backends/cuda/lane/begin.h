/*
 * When a timed command began, while it runs: then the event in front of it has happened. A request
 * is left in the lane. The device's thread, which polls for ends anyway, queries the driver, as a
 * load may hold one of the driver's locks for long.
 */
#ifndef SYCL_BACKENDS_CUDA_BEGIN_H
#define SYCL_BACKENDS_CUDA_BEGIN_H

#include "cuda/lane/lane.h"

/* Handles the request for the lane's first command, if there is one. */
void cuda_begin_poll(struct backend_device *device, struct cuda_lane_state *state);

#endif
