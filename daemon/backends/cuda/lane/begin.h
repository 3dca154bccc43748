/*
 * When a timed command began, told while it runs: then the event in front of it has happened. Who
 * asks leaves word; the device's thread, which looks for ends anyway, asks the driver, as that may
 * have a lock that a load holds for long.
 */
#ifndef SYCL_BACKENDS_CUDA_BEGIN_H
#define SYCL_BACKENDS_CUDA_BEGIN_H

#include "cuda/lane/lane.h"

/* Of the lane's first command, if somebody asks for its beginning. */
void cuda_begin_look(struct backend_device *device, struct cuda_lane_state *state);

#endif
