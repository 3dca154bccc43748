/*
 * Windows of memory that the second-level cache keeps (R6): an attribute of single launches, so
 * that lanes, which are shared, stay what they are; and the part of the cache that is set aside for
 * what persists, which is the whole context's. Device thread.
 */
#ifndef SYCL_BACKENDS_CUDA_L2_H
#define SYCL_BACKENDS_CUDA_L2_H

#include "cuda/lane/lane.h"

/* One context takes at most this part of what a device can set aside: others' processes have the
 * cache, too. */
#define CUDA_L2_SHARE 2u

void cuda_l2_window(const struct backend_l2_window *window, CUlaunchAttribute *attribute_out);
/* Is there something to set aside, or to give back, in the next quiet moment? */
bool cuda_l2_is_due(const struct backend_device *device);
/* A quiet moment: nothing is in flight. */
void cuda_l2_step(struct backend_device *device);

#endif
