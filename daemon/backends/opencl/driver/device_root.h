/* Which of the devices of enumerate a device is, or is a part of. */
#ifndef SYCL_BACKENDS_OPENCL_DEVICE_ROOT_H
#define SYCL_BACKENDS_OPENCL_DEVICE_ROOT_H

#include "opencl/driver/objects.h"

/* Its index; device_count: of none of these. */
uint32_t opencl_device_root(const struct backend *backend, cl_device_id id);

#endif
