/* Opening and closing a device; lanes, memories: backend_ops' entries of the same names. */
#ifndef SYCL_BACKENDS_OPENCL_DEVICE_H
#define SYCL_BACKENDS_OPENCL_DEVICE_H

#include "opencl/driver/objects.h"

int opencl_device_open(struct backend *backend, uint32_t device, backend_wake *wake, void *token,
		       struct backend_device **device_out, struct backend_fault *fault_out);
/* Opens a device in a context of the application. */
int opencl_native_device_open(struct backend *backend, uint32_t index, uint64_t native_context,
			      backend_wake *wake, void *token, struct backend_device **device_out,
			      struct backend_fault *fault_out);
void opencl_device_close(struct backend_device *device);

int opencl_memory_create(struct backend_device *device, uint64_t size_bytes, void *host,
			 enum backend_export_kind export_kind, struct backend_memory **memory_out,
			 struct backend_fault *fault_out);
void opencl_memory_free(struct backend_memory *memory);

#endif
