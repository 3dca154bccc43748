/*
 * Samplers, one of each kind per device: there are twenty, and arguments of many launches name the
 * same ones. They follow core SYCL (S2): clamp gives the border colour. Cases that SYCL leaves
 * undefined follow CUDA's specification (G6): repeat and mirrored_repeat with coordinates that are
 * not normalised, and `none`, are as clamp.
 */
#ifndef SYCL_BACKENDS_OPENCL_SAMPLER_H
#define SYCL_BACKENDS_OPENCL_SAMPLER_H

#include "opencl/driver/objects.h"

/* Gets a sampler of the device, which is valid until the device is closed. Device thread. */
int opencl_sampler_get(struct backend_device *device, const struct backend_sampler *sampler,
		       cl_sampler *sampler_out, struct backend_fault *fault_out);
/* At device_close. */
void opencl_samplers_close(struct backend_device *device);

#endif
