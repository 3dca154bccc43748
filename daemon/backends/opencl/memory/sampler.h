/*
 * Samplers, one of each kind per device: there are twenty, and arguments of many launches name the
 * same ones. Core SYCL's meaning (S2): clamp gives the border colour. What SYCL leaves undefined is
 * settled as CUDA's specification does (G6): repeat and mirrored_repeat with coordinates that are
 * not normalised, and `none`, are as clamp.
 */
#ifndef SYCL_BACKENDS_OPENCL_SAMPLER_H
#define SYCL_BACKENDS_OPENCL_SAMPLER_H

#include "opencl/driver/objects.h"

/* The device's, good until it is closed. Device thread. */
int opencl_sampler_get(struct backend_device *device, const struct backend_sampler *sampler,
		       cl_sampler *sampler_out, struct backend_fault *fault_out);
/* At device_close. */
void opencl_samplers_close(struct backend_device *device);

#endif
