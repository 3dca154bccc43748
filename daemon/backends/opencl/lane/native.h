/*
 * OpenCL's own objects, given and taken (002). An object that is taken is retained, and released
 * with the object that was made of it (J2). For an object that is given, the caller gets a
 * reference (J4). A wrong handle is refused if OpenCL detects it; otherwise the result is
 * undefined, as everywhere in OpenCL. backend_ops' entries.
 */
#ifndef SYCL_BACKENDS_OPENCL_NATIVE_H
#define SYCL_BACKENDS_OPENCL_NATIVE_H

#include "opencl/driver/objects.h"

int opencl_native_devices(struct backend *backend, enum backend_native_kind kind, uint64_t native,
			  uint64_t *devices_out, struct backend_fault *fault_out);
int opencl_native_describe(struct backend *backend, enum backend_native_kind kind, uint64_t native,
			   uint64_t context, struct backend_native_facts *facts_out,
			   struct backend_fault *fault_out);
int opencl_native_get(struct backend_device *device, enum backend_native_kind kind, void *object,
		      uint64_t *native_out, struct backend_fault *fault_out);
int opencl_native_make(struct backend_device *device, enum backend_native_kind kind,
		       uint64_t native, void **object_out, uint64_t *size_out,
		       struct backend_fault *fault_out);

#endif
