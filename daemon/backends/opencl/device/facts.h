/* Collects all facts of a device. */
#ifndef SYCL_BACKENDS_OPENCL_DEVICE_FACTS_H
#define SYCL_BACKENDS_OPENCL_DEVICE_FACTS_H

#include "opencl/driver/library.h"

/* `folder` keeps what is slow to ask; NULL: nothing is kept. 0, or -ENOMEM and empty facts. */
int opencl_device_facts_fill(const struct opencl_library *cl, cl_device_id device,
			     uint32_t platform, const struct backend_platform_facts *platform_facts,
			     const char *folder, struct backend_device_facts *facts_out);
void opencl_device_facts_free(struct backend_device_facts *facts);

#endif
