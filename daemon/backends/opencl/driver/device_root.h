/* The device of enumerate that a device is, or is a part of. */
#ifndef SYCL_BACKENDS_OPENCL_DEVICE_ROOT_H
#define SYCL_BACKENDS_OPENCL_DEVICE_ROOT_H

#include "opencl/driver/objects.h"

/* The index of that device; device_count: there is none. */
uint32_t opencl_device_root(const struct backend *backend, cl_device_id id);

#endif
