/*
 * Windows of memory that the second-level cache keeps (R6). A window is an attribute of a single
 * launch, because lanes are shared. The part of the cache that is reserved for windows belongs to
 * the whole context. Device thread.
 */
#ifndef SYCL_BACKENDS_CUDA_L2_H
#define SYCL_BACKENDS_CUDA_L2_H

#include "cuda/lane/lane.h"

/* A context takes at most this part of the cache that a device can reserve: other processes use the
 * cache, too. */
#define CUDA_L2_SHARE 2u

void cuda_l2_window(const struct backend_l2_window *window, CUlaunchAttribute *attribute_out);
/* True if a part of the cache must be reserved or returned in the next quiet moment. */
bool cuda_l2_is_due(const struct backend_device *device);
/* Called in a quiet moment: nothing is in flight. */
void cuda_l2_step(struct backend_device *device);

#endif
