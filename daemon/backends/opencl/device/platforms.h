/* Finds platforms and devices, with all facts about them. */
#ifndef SYCL_BACKENDS_OPENCL_PLATFORMS_H
#define SYCL_BACKENDS_OPENCL_PLATFORMS_H

#include "opencl/driver/objects.h"

/* backend_ops' open, close, enumerate. */
void opencl_prepare(const struct backend_settings *settings);
int opencl_open(const struct backend_settings *settings, struct backend **backend_out,
		struct backend_fault *fault_out);
void opencl_close(struct backend *backend);
int opencl_enumerate(struct backend *backend, struct backend_topology *topology_out,
		     struct backend_fault *fault_out);

#endif
