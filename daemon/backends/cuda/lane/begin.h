/*
 * When a timed command began, while it runs: then the event in front of it has happened. A question
 * is left in the lane; the device's thread, which looks for ends anyway, asks the driver, as that
 * may have a lock that a load holds for long.
 */
#ifndef SYCL_BACKENDS_CUDA_BEGIN_H
#define SYCL_BACKENDS_CUDA_BEGIN_H

#include "cuda/lane/lane.h"

/* Answer it for the lane's first command, if there is one. */
void cuda_begin_poll(struct backend_device *device, struct cuda_lane_state *state);

#endif
