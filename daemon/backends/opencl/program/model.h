/* Facts of a device: memory orders and scopes (G10), images, sub-groups and identity. A fact that
 * the driver does not report is 0. */
#ifndef SYCL_BACKENDS_OPENCL_MODEL_H
#define SYCL_BACKENDS_OPENCL_MODEL_H

#include "backend.h"
#include "opencl/driver/library.h"

/* Needs facts->extensions and image_support. The only allocated fact is bus_id, which is malloc'ed.
 * -ENOMEM. */
int opencl_model_fill(const struct opencl_library *cl, cl_device_id device,
		      struct backend_device_facts *facts);

/*
 * Converts CL_DEVICE_ATOMIC_*_CAPABILITIES to enum backend_memory_order and backend_memory_scope. A
 * driver older than OpenCL 3.0 gives 0, which means relaxed, within a work-group. Every device has
 * that.
 */
uint32_t opencl_memory_orders(uint64_t capabilities);
uint32_t opencl_memory_scopes(uint64_t capabilities);

/*
 * Needs facts->extensions, and max_sub_groups and independent_progress from the driver. If the
 * driver does not list the sizes of sub-groups, all facts of sub-groups become 0, and the portable
 * form refuses them (E17).
 */
void opencl_sub_groups_fill(const struct opencl_library *cl, cl_device_id device,
			    struct backend_device_facts *facts);

#endif
